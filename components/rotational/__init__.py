"""One-dimensional rotational mechanics (Modelica.Mechanics.Rotational 4.0)."""

from mbfmu.components.rotational.components import Damper, Fixed, Inertia, Spring, SpringDamper
from mbfmu.components.rotational.sources import Torque

__all__ = ["Damper", "Fixed", "Inertia", "Spring", "SpringDamper", "Torque"]
