"""Joints (seed 001)."""

from mbfmu.components.joints.elementary import Prismatic, Revolute
from mbfmu.components.joints.free import FreeMotion, Spherical

__all__ = ["FreeMotion", "Prismatic", "Revolute", "Spherical"]
