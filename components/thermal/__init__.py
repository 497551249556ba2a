"""Heat transfer (Modelica.Thermal.HeatTransfer 4.1): where the losses of springs, dampers and friction can go.

`celsius`, `fahrenheit` and `rankine` have the sources and sensors in these degrees.
"""

from mbfmu.components.thermal import celsius, components, fahrenheit, interfaces, rankine, sensors, sources
from mbfmu.components.thermal.components import *  # noqa: F403
from mbfmu.components.thermal.interfaces import HeatPort_a, HeatPort_b
from mbfmu.components.thermal.sensors import *  # noqa: F403
from mbfmu.components.thermal.sources import *  # noqa: F403

__all__ = [
    "HeatPort_a",
    "HeatPort_b",
    "celsius",
    "fahrenheit",
    "interfaces",
    "rankine",
    *components.__all__,
    *sensors.__all__,
    *sources.__all__,
]
