"""Heat transfer (Modelica.Thermal.HeatTransfer 4.0): where the losses of springs, dampers and friction can go.

`celsius` has the sources and sensors in degree Celsius.
"""

from mbfmu.components.thermal import celsius, components, interfaces, sensors, sources
from mbfmu.components.thermal.components import *  # noqa: F403
from mbfmu.components.thermal.interfaces import HeatPort_a, HeatPort_b
from mbfmu.components.thermal.sensors import *  # noqa: F403
from mbfmu.components.thermal.sources import *  # noqa: F403

__all__ = [
    "HeatPort_a",
    "HeatPort_b",
    "celsius",
    "interfaces",
    *components.__all__,
    *sensors.__all__,
    *sources.__all__,
]
