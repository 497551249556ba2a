"""Joints (MultiBody.Joints), with their Modelica names.

`constraints` holds Joints.Constraints, whose classes are named like other joints, and `wheels` the joints of rolling
wheels, which are named like parts: `joints.constraints.Revolute`, `joints.RollingWheel`.
"""

from mbfmu.components.joints import constraints, wheels
from mbfmu.components.joints.assemblies import JointRRP, JointRRR, JointSSP, JointSSR, JointUPS, JointUSP, JointUSR
from mbfmu.components.joints.composite import Cylindrical, Planar, Universal
from mbfmu.components.joints.elementary import Prismatic, Revolute
from mbfmu.components.joints.free import FreeMotion, Spherical
from mbfmu.components.joints.gear import GearConstraint
from mbfmu.components.joints.planar_loop import RevolutePlanarLoopConstraint
from mbfmu.components.joints.rods import SphericalSpherical, UniversalSpherical
from mbfmu.components.joints.scalar_init import FreeMotionScalarInit
from mbfmu.components.joints.wheels import RollingWheel as RollingWheel
from mbfmu.components.joints.wheels import RollingWheelSet as RollingWheelSet

__all__ = [
    "Cylindrical",
    "FreeMotion",
    "FreeMotionScalarInit",
    "GearConstraint",
    "JointRRP",
    "JointRRR",
    "JointSSP",
    "JointSSR",
    "JointUPS",
    "JointUSP",
    "JointUSR",
    "Planar",
    "Prismatic",
    "Revolute",
    "RevolutePlanarLoopConstraint",
    "Spherical",
    "SphericalSpherical",
    "Universal",
    "UniversalSpherical",
    "constraints",
    "wheels",
]
