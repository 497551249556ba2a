"""How mechanisms are described: components, declarations, connectors, assemblies, assembly files, registry."""

from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import (
    Connector,
    Flange,
    Frame,
    Frame_a,
    Frame_b,
    Frame_resolve,
    HeatPort,
    RealInput,
    RealOutput,
    RotationalFlange,
    TranslationalFlange,
)
from mbfmu.modeling.declarations import (
    Coordinate,
    Final,
    Multiplier,
    Parameter,
    Quaternion,
    Speed,
    Start,
    State,
    Variable,
    required,
)

__all__ = [
    "Assembly",
    "Component",
    "Connector",
    "Coordinate",
    "Final",
    "Flange",
    "Frame",
    "Frame_a",
    "Frame_b",
    "Frame_resolve",
    "HeatPort",
    "Multiplier",
    "Parameter",
    "Quaternion",
    "RealInput",
    "RealOutput",
    "RotationalFlange",
    "Speed",
    "Start",
    "State",
    "TranslationalFlange",
    "Variable",
    "required",
]
