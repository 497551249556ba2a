"""Utilities of the library's own examples that models name (Modelica.Mechanics.*.Examples.Utilities 4.1)."""

from mbfmu.components.examples import loops, robot_r3, rotational, translational

__all__ = ["loops", "robot_r3", "rotational", "translational"]
