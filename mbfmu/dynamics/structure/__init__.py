"""What is solved for what: the quantities of a system, the equation graph, and its blocks in order."""
