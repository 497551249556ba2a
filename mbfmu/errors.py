"""Errors that are meant for users: each message names the component or file, the value and the remedy.

Whatever a user can cause derives from `MbfmuError`; the command line prints its message without a traceback and exits
with code 2. Any other exception is a defect of mbfmu itself.
"""

from __future__ import annotations


class MbfmuError(Exception):
    """Base of all errors that a user can cause and mend."""


class ModelError(MbfmuError):
    """The assembly is wrong: a component, a parameter, a connection or a start value."""


class UnknownNameError(ModelError, KeyError):
    """A name that nothing has, where Python's mappings raise KeyError."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class InitializationError(MbfmuError):
    """No consistent start of the system was found, or start values contradict each other."""


class SimulationError(MbfmuError):
    """A run stopped before its end."""


class BuildError(MbfmuError):
    """The FMU cannot be made or written: compiler, platform, folder or option."""


class ValidationError(MbfmuError):
    """A file is not an FMU, or cannot be examined."""


class InitialConditionsWarning(UserWarning):
    """Start values that nobody gave, and that nothing determines, decide how a run begins."""


class NotFiniteWarning(UserWarning):
    """A variable that a run does not record is no finite number."""
