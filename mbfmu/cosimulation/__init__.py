"""Co-simulation: FMUs that are connected flange by flange, and a master that steps them together."""

from mbfmu.cosimulation.flanges import ExposedFlange, exposed_flanges
from mbfmu.cosimulation.master import INPUTS, SCHEMES, cosimulate
from mbfmu.cosimulation.structure import Connection, SystemStructure

__all__ = [
    "INPUTS",
    "SCHEMES",
    "Connection",
    "ExposedFlange",
    "SystemStructure",
    "cosimulate",
    "exposed_flanges",
]
