"""What can be seen of a system: variables, energies, shapes, curves."""
