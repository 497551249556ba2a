"""Where the motion starts: loops closed with numbers, and the equations of initialisation."""
