"""Bodies that bend: beams, chains of segments for large deflections, bodies by shapes."""

from mbfmu.components.flexible.beam import Beam
from mbfmu.components.flexible.modal_body import ModalBody
from mbfmu.components.flexible.segments import BeamSegment, FiniteSegmentBeam

__all__ = ["Beam", "BeamSegment", "FiniteSegmentBeam", "ModalBody"]
