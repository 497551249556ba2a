"""Co-simulation: FMUs that are connected flange by flange, and a master that steps them together."""

from mbfmu.cosimulation.flanges import ExposedFlange, exposed_flanges
from mbfmu.cosimulation.master import INPUTS, SCHEMES, cosimulate
from mbfmu.cosimulation.package import Package, open_package
from mbfmu.cosimulation.recording import Account, CoupledResult
from mbfmu.cosimulation.structure import Connection, SystemStructure

__all__ = [
    "INPUTS",
    "SCHEMES",
    "Account",
    "Connection",
    "CoupledResult",
    "ExposedFlange",
    "Package",
    "SystemStructure",
    "cosimulate",
    "exposed_flanges",
    "open_package",
]
