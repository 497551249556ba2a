"""What the model says: a flat network, its inputs, and what the equations of each component say."""
