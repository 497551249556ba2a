"""Utilities of the library's own examples that models name (Modelica.Mechanics.*.Examples.Utilities 4.1)."""

from mbfmu.components.examples import loops, rotational, translational

__all__ = ["loops", "rotational", "translational"]
