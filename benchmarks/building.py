"""What it takes to build an FMU, with nothing kept of earlier builds: CPU time, archive and code size."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
import zipfile
from collections.abc import Iterator, Sequence

import mbfmu
from benchmarks.chain import Chain
from mbfmu.dynamics import System
from mbfmu.export import native

SIZES = (5, 10, 20, 50, 100, 400)


def measure(folder: pathlib.Path, sizes: Sequence[int] = SIZES) -> Iterator[dict[str, float]]:
    """Yield one row per size: CPU times of derivation and of all the rest, s, and sizes in bytes."""
    with without_cache():
        yield from _measure(folder, sizes)


@contextlib.contextmanager
def without_cache() -> Iterator[None]:
    """Use no library of an earlier build."""
    kept = os.environ.get("MBFMU_CACHE")
    os.environ["MBFMU_CACHE"] = ""
    try:
        yield
    finally:
        if kept is None:
            del os.environ["MBFMU_CACHE"]
        else:
            os.environ["MBFMU_CACHE"] = kept


def _measure(folder: pathlib.Path, sizes: Sequence[int]) -> Iterator[dict[str, float]]:
    for n in sizes:
        begin = _cpu()
        system = System.of(Chain(n))
        derived = _cpu()
        file = mbfmu.build(system, folder / f"chain{n}.fmu", target="native")
        built = _cpu()
        with zipfile.ZipFile(file) as archive:
            library = next(member for member in archive.infolist() if member.filename.startswith("binaries/"))
        yield {
            "n": n,
            "derive": derived - begin,
            "build": built - derived,
            "archive": file.stat().st_size,
            "library": library.file_size,
            "code": _code_size(system),
        }


def _code_size(system: System) -> int:
    """Length of the generated equations in C."""
    with tempfile.TemporaryDirectory() as name:
        written = native.write_sources(system.equations, system.variables, "", pathlib.Path(name))
        return sum(file.stat().st_size for file in written.files if file.name.startswith("equations"))


def _cpu() -> float:
    """CPU time of this process and of the compilers that it called, s."""
    import resource

    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
