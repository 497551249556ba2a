"""Lanes: how many runs of a batch one thread makes at a time, a number of each in the vectors of the processor."""

from __future__ import annotations

import ctypes
import functools

from mbfmu.errors import ModelError
from mbfmu.runtime.build import library
from mbfmu.runtime.compilers import host_platform
from mbfmu.runtime.host import host_library

#: Numbers of lanes that there are on some processors: 8 with AVX-512, 4 with AVX2 and on others than x86.
LANES = (1, 4, 8)


@functools.cache
def _library() -> ctypes.CDLL | None:
    """The library, which is made with that of the runtime; None where it cannot be loaded."""
    host_library()
    try:
        found = ctypes.CDLL(str(library(host_platform(), "mbfmu-lanes")))
    except OSError:
        return None
    found.mbfmu_lane_kind.restype = ctypes.c_void_p
    return found


def most() -> int:
    """As many lanes as this processor has: 1, 4 or 8."""
    found = _library()
    return 1 if found is None else int(found.mbfmu_lanes())


def kind(lanes: int) -> int | None:
    """What makes trials of so many runs at once: an address for the runtime, None for one run at a time.

    Raises:
        ModelError: This processor has not so many lanes.
    """
    if lanes not in LANES or lanes > most():
        raise ModelError(f"{lanes} lanes: this machine has {', '.join(str(n) for n in LANES if n <= most())}")
    found = _library()
    return None if found is None else found.mbfmu_lane_kind(lanes)
