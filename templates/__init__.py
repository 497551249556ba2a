"""Files that an FMU is made from: the C runtime, the Python slave, documentation pages."""
