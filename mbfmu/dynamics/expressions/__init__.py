"""What quantities are: expressions, made block by block in the order of the equation graph."""
