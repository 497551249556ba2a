"""One-dimensional translational mechanics (Modelica.Mechanics.Translational 4.1)."""

from mbfmu.components.translational import adaptors, components, friction, gears, sensors, sources, vehicle
from mbfmu.components.translational.adaptors import *  # noqa: F403
from mbfmu.components.translational.components import *  # noqa: F403
from mbfmu.components.translational.friction import *  # noqa: F403
from mbfmu.components.translational.gears import *  # noqa: F403
from mbfmu.components.translational.interfaces import InternalSupport
from mbfmu.components.translational.sensors import *  # noqa: F403
from mbfmu.components.translational.sources import *  # noqa: F403
from mbfmu.components.translational.vehicle import *  # noqa: F403

__all__ = [
    "InternalSupport",
    *adaptors.__all__,
    *components.__all__,
    *friction.__all__,
    *gears.__all__,
    *sensors.__all__,
    *sources.__all__,
    *vehicle.__all__,
]
