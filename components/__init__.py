"""The component library: world, parts, joints, forces, contact, sensors, 1-dim. mechanics, heat, electrics, blocks,
vehicles, visualizers, utilities of examples.

Names that occur once in the Modelica library can be imported from here; those of 1-dim. mechanics, heat, electrics and
blocks, which repeat (Fixed, Spring, Damper, Force ...), from their own packages: `from mbfmu.components import
rotational`.
"""

from mbfmu.components import (
    blocks,
    contact,
    electrical,
    examples,
    flexible,
    forces,
    interfaces,
    joints,
    parts,
    rotational,
    sensors,
    thermal,
    translational,
    vehicle,
    visualizers,
)
from mbfmu.components.flexible import *  # noqa: F403
from mbfmu.components.gravity import GravityPool
from mbfmu.components.joints import *  # noqa: F403
from mbfmu.components.parts import *  # noqa: F403
from mbfmu.components.world import World

__all__ = [
    "GravityPool",
    "World",
    "blocks",
    "contact",
    "electrical",
    "examples",
    "flexible",
    "forces",
    "interfaces",
    "joints",
    "parts",
    "rotational",
    "sensors",
    "thermal",
    "translational",
    "vehicle",
    "visualizers",
    *flexible.__all__,
    *joints.__all__,
    *parts.__all__,
]
