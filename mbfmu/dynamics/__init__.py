"""From assembly to System: reading, structure, expressions, starting, solving, events, showing."""

from mbfmu.dynamics.system import System
from mbfmu.runtime.variables import ScalarVariable

__all__ = ["ScalarVariable", "System"]
