"""Joints (seed 001)."""

from mbfmu.components.joints import assemblies, constraints
from mbfmu.components.joints.composite import Cylindrical, Planar, Universal
from mbfmu.components.joints.elementary import Prismatic, Revolute
from mbfmu.components.joints.free import FreeMotion, Spherical
from mbfmu.components.joints.planar_loop import RevolutePlanarLoopConstraint
from mbfmu.components.joints.rods import SphericalSpherical, UniversalSpherical
from mbfmu.components.joints.scalar_init import FreeMotionScalarInit

__all__ = [
    "Cylindrical",
    "FreeMotion",
    "FreeMotionScalarInit",
    "Planar",
    "Prismatic",
    "Revolute",
    "RevolutePlanarLoopConstraint",
    "Spherical",
    "SphericalSpherical",
    "Universal",
    "UniversalSpherical",
    "assemblies",
    "constraints",
]
