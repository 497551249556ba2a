"""From assembly to System: flatten, topology, sweeps, constraints, initialisation."""

from mbfmu.dynamics.system import System
from mbfmu.runtime.variables import ScalarVariable

__all__ = ["ScalarVariable", "System"]
