"""The numeric runtime: runs `Equations` with NumPy, SciPy and CasADi.

It knows nothing of mechanics and imports nothing but these three and itself, because this folder is copied whole into
every Python-hosted FMU. `docs/architecture.md` defines what it is given and what it does.
"""

from .equations import Equations
from .errors import ConsistencyError, InitialisationError, SimulationError, StepError, VariableError
from .instance import Instance
from .integrator import METHODS
from .interface import Interface
from .result import Result
from .run import run

__all__ = [
    "METHODS",
    "ConsistencyError",
    "Equations",
    "InitialisationError",
    "Instance",
    "Interface",
    "Result",
    "SimulationError",
    "StepError",
    "VariableError",
    "run",
]
