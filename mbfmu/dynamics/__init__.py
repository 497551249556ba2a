"""From assembly to System: flatten, topology, sweeps, constraints, initialisation."""

from mbfmu.dynamics.system import System
from mbfmu.dynamics.variables import ScalarVariable

__all__ = ["ScalarVariable", "System"]
