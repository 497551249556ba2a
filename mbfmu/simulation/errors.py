"""What can go wrong while a model runs; every message names the time or the variable, the cause and the remedy."""

from __future__ import annotations


class SimulationError(Exception):
    """Base of all errors of the runtime."""


class InitialisationError(SimulationError):
    """No consistent start was found."""


class StepError(SimulationError):
    """The integrator cannot go on."""


class ConsistencyError(SimulationError):
    """A constraint or an assertion of the model does not hold."""


class VariableError(SimulationError):
    """A variable is unknown or cannot be set to this value now."""
