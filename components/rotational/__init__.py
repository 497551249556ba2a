"""One-dimensional rotational mechanics (Modelica.Mechanics.Rotational 4.1)."""

from mbfmu.components.rotational import adaptors, components, friction, gears, lossy_gear, sensors, sources
from mbfmu.components.rotational.adaptors import *  # noqa: F403
from mbfmu.components.rotational.components import *  # noqa: F403
from mbfmu.components.rotational.friction import *  # noqa: F403
from mbfmu.components.rotational.gears import *  # noqa: F403
from mbfmu.components.rotational.interfaces import InternalSupport
from mbfmu.components.rotational.lossy_gear import *  # noqa: F403
from mbfmu.components.rotational.sensors import *  # noqa: F403
from mbfmu.components.rotational.sources import *  # noqa: F403

__all__ = [
    "InternalSupport",
    *adaptors.__all__,
    *components.__all__,
    *friction.__all__,
    *gears.__all__,
    *lossy_gear.__all__,
    *sensors.__all__,
    *sources.__all__,
]
