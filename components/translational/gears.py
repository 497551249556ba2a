"""Ideal gears between rotation and translation (Modelica.Mechanics.Translational.Components 4.1)."""

from __future__ import annotations

from mbfmu.components.rotational import gears


class IdealGearR2T(gears.IdealGearR2T):
    """Gearbox transforming rotational into translational motion."""

    modelica_name = "Translational.Components.IdealGearR2T"


class IdealRollingWheel(gears.IdealRollingWheel):
    """Simple 1-dim. model of an ideal rolling wheel without inertia."""

    modelica_name = "Translational.Components.IdealRollingWheel"


__all__ = ["IdealGearR2T", "IdealRollingWheel"]
