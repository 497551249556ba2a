"""Rigid parts: with mass, without, and those that couple 1-dim. drive trains to 3-dim. mechanics (MultiBody.Parts)."""

from mbfmu.components.parts.bodies import Body, BodyBox, BodyCylinder, BodyShape, PointMass
from mbfmu.components.parts.drive import BevelGear1D, Mounting1D, Rotor1D
from mbfmu.components.parts.fixed import Fixed, FixedRotation, FixedTranslation
from mbfmu.components.parts.wheels import RollingWheel, RollingWheelSet

__all__ = [
    "BevelGear1D",
    "Body",
    "BodyBox",
    "BodyCylinder",
    "BodyShape",
    "Fixed",
    "FixedRotation",
    "FixedTranslation",
    "Mounting1D",
    "PointMass",
    "RollingWheel",
    "RollingWheelSet",
    "Rotor1D",
]
