"""Forces and torques between frames (Modelica.Mechanics.MultiBody.Forces 4.0)."""

from mbfmu.components.forces.applied import (
    BasicForce,
    BasicTorque,
    BasicWorldForce,
    BasicWorldTorque,
    Force,
    ForceAndTorque,
    Torque,
    WorldForce,
    WorldForceAndTorque,
    WorldTorque,
)
from mbfmu.components.forces.line_forces import LineForceWithMass, LineForceWithTwoMasses, Spring
from mbfmu.components.forces.springs import Damper, SpringDamperParallel, SpringDamperSeries

__all__ = [
    "BasicForce",
    "BasicTorque",
    "BasicWorldForce",
    "BasicWorldTorque",
    "Damper",
    "Force",
    "ForceAndTorque",
    "LineForceWithMass",
    "LineForceWithTwoMasses",
    "Spring",
    "SpringDamperParallel",
    "SpringDamperSeries",
    "Torque",
    "WorldForce",
    "WorldForceAndTorque",
    "WorldTorque",
]
