"""One-dimensional translational mechanics (Modelica.Mechanics.Translational 4.0)."""

from mbfmu.components.translational.components import Damper, Fixed, Mass, Rod, Spring, SpringDamper
from mbfmu.components.translational.sources import Force

__all__ = ["Damper", "Fixed", "Force", "Mass", "Rod", "Spring", "SpringDamper"]
