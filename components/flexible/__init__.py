"""Bodies that bend: beams, chains of segments for large deflections, bodies by shapes."""

from mbfmu.components.flexible.beam import *  # noqa: F403

__all__ = ["Beam"]
