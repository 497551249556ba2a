"""The runtime's library of this machine."""

from __future__ import annotations

import contextlib
import functools

from mbfmu.errors import BuildError
from mbfmu.runtime.build import build_libraries, is_current, library
from mbfmu.runtime.compilers import host_platform
from mbfmu.runtime.library import Library, RuntimeLibraryError


@functools.cache
def host_library() -> Library:
    """The library for this machine, as the installation has made it.

    One of other sources, as after a change in a checkout, or for another processor, as on a machine that the wheel has
    none for, is made anew where that can be done.

    Raises:
        BuildError: There is none, and none can be made.
    """
    platform = host_platform()
    path = library(platform)
    try:
        if is_current(platform):
            with contextlib.suppress(RuntimeLibraryError):
                return Library(path)
        build_libraries(platform)
        return Library(path)
    except (BuildError, RuntimeLibraryError) as error:
        raise BuildError(
            f"the runtime's library {path} is missing or belongs to another version, and cannot be made: {error}; "
            "install mbfmu again: python -m pip install --force-reinstall mbfmu"
        ) from error
