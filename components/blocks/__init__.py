"""Signal blocks: sources, mathematics, filters and controllers (Modelica.Blocks 4.1).

Names that Modelica keeps in subpackages stand side by side here: Modelica.Blocks.Sources.Sine is blocks.Sine. Those of
Discrete, MathBoolean and MathInteger, which repeat others, are in `discrete`, `math_boolean` and `math_integer`.
"""

from mbfmu.components.blocks import (
    continuous,
    discrete,
    discrete_sources,
    filters,
    logical,
    math,
    math_boolean,
    math_integer,
    noise,
    nonlinear,
    routing,
    sources,
    statistics,
    tables,
)
from mbfmu.components.blocks.continuous import *  # noqa: F403
from mbfmu.components.blocks.discrete_sources import *  # noqa: F403
from mbfmu.components.blocks.filters import *  # noqa: F403
from mbfmu.components.blocks.logical import *  # noqa: F403
from mbfmu.components.blocks.math import *  # noqa: F403
from mbfmu.components.blocks.noise import *  # noqa: F403
from mbfmu.components.blocks.nonlinear import *  # noqa: F403
from mbfmu.components.blocks.routing import *  # noqa: F403
from mbfmu.components.blocks.sources import *  # noqa: F403
from mbfmu.components.blocks.statistics import *  # noqa: F403
from mbfmu.components.blocks.tables import *  # noqa: F403

__all__ = [
    *continuous.__all__,
    "discrete",
    *discrete_sources.__all__,
    *filters.__all__,
    *logical.__all__,
    *math.__all__,
    "math_boolean",
    "math_integer",
    *noise.__all__,
    *nonlinear.__all__,
    *routing.__all__,
    *sources.__all__,
    *statistics.__all__,
    *tables.__all__,
]
