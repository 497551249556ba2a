"""Sensors of absolute and relative motion, of cut forces and of power (Modelica.Mechanics.MultiBody.Sensors 4.0)."""

from mbfmu.components.sensors.absolute import (
    AbsoluteAngles,
    AbsoluteAngularVelocity,
    AbsolutePosition,
    AbsoluteSensor,
    AbsoluteVelocity,
    TansformAbsoluteVector,
    TransformAbsoluteVector,
)
from mbfmu.components.sensors.cut import CutForce, CutForceAndTorque, CutTorque, Power
from mbfmu.components.sensors.relative import (
    Distance,
    RelativeAngles,
    RelativeAngularVelocity,
    RelativePosition,
    RelativeSensor,
    RelativeVelocity,
    TansformRelativeVector,
    TransformRelativeVector,
)

__all__ = [
    "AbsoluteAngles",
    "AbsoluteAngularVelocity",
    "AbsolutePosition",
    "AbsoluteSensor",
    "AbsoluteVelocity",
    "CutForce",
    "CutForceAndTorque",
    "CutTorque",
    "Distance",
    "Power",
    "RelativeAngles",
    "RelativeAngularVelocity",
    "RelativePosition",
    "RelativeSensor",
    "RelativeVelocity",
    "TansformAbsoluteVector",
    "TansformRelativeVector",
    "TransformAbsoluteVector",
    "TransformRelativeVector",
]
