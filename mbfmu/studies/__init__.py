"""What can be asked of a mechanism: inputs, linear models, rest positions, sweeps and fits, over the runtime."""
