"""Bodies that bend: beams, chains of segments for large deflections, bodies by shapes."""

from mbfmu.components.flexible import beam, modal_body, segments
from mbfmu.components.flexible.beam import *  # noqa: F403
from mbfmu.components.flexible.modal_body import *  # noqa: F403
from mbfmu.components.flexible.segments import *  # noqa: F403

__all__ = [*beam.__all__, *modal_body.__all__, *segments.__all__]
