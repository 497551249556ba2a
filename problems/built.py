"""FMUs of problems that couple some."""

from __future__ import annotations

import functools
import pathlib
import tempfile

from mbfmu.export.build import build
from mbfmu.modeling import Assembly


@functools.cache
def fmu_of(cls: type[Assembly], equations: str = "auto") -> pathlib.Path:
    """The FMU of an assembly without arguments, kept while Python runs."""
    return build(cls(), pathlib.Path(_folder().name) / f"{cls.__module__}.{cls.__name__}.fmu", equations=equations)


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="mbfmu-problems-")
