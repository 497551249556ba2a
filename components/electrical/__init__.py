"""Electrical circuits (Modelica.Electrical.Analog 4.1), and what couples them with mechanics and heat."""

from mbfmu.components.electrical import basic, ideal, interfaces, semiconductors, sensors, sources, switching
from mbfmu.components.electrical.basic import *  # noqa: F403
from mbfmu.components.electrical.ideal import *  # noqa: F403
from mbfmu.components.electrical.interfaces import NegativePin, Pin, PositivePin
from mbfmu.components.electrical.semiconductors import *  # noqa: F403
from mbfmu.components.electrical.sensors import *  # noqa: F403
from mbfmu.components.electrical.sources import *  # noqa: F403
from mbfmu.components.electrical.switching import *  # noqa: F403

__all__ = [
    "NegativePin",
    "Pin",
    "PositivePin",
    "interfaces",
    *basic.__all__,
    *ideal.__all__,
    *semiconductors.__all__,
    *sensors.__all__,
    *sources.__all__,
    *switching.__all__,
]
