"""What FMI is, whoever made the FMU: archives, descriptions, variables, libraries, rules, instances."""
