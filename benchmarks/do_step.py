"""What a communication step costs through FMPy: native, python and bare FMUs under the same calls."""

from __future__ import annotations

import math
import pathlib
import zipfile
from collections.abc import Callable
from typing import Any

import mbfmu
from benchmarks.timing import run_time
from benchmarks.unit import Unit
from mbfmu.fmus.double_pendulum import DoublePendulum
from mbfmu.runtime.build import headers
from mbfmu.runtime.compilers import host_platform, library_name, require_compiler

#: Distance of the communication points, s, and their number in one measured run.
STEP, STEPS = 0.01, 300

#: Runs that the least is taken of.
REPEATS = 60

#: Both rods hang straight down and stay there: the integrator's steps are so long that they hardly count.
AT_REST = {"revolute1.phi": -math.pi / 2}

BARE = pathlib.Path(__file__).with_name("bare_fmu")


def bare_fmu(folder: pathlib.Path) -> pathlib.Path:
    """Compile the FMU that does nothing."""
    name = library_name("bare", host_platform())
    source = folder / "bare.c"
    source.write_bytes((BARE / "bare.c").read_bytes())
    library = require_compiler().compile(source, name, headers())
    file = folder / "bare.fmu"
    with zipfile.ZipFile(file, "w") as archive:
        archive.write(BARE / "modelDescription.xml", "modelDescription.xml")
        archive.writestr(f"binaries/{host_platform()}/{name}", library)
    return file


def measure(folder: pathlib.Path, repeats: int = REPEATS) -> dict[str, float]:
    """Return CPU times of doStep and getReal of all outputs, s per communication step."""
    pendulum = DoublePendulum()
    native, python = (
        Unit(mbfmu.build(pendulum, folder / f"{target}.fmu", target=target), folder / target)
        for target in ("native", "python")
    )
    bare = Unit(bare_fmu(folder), folder / "bare")
    if len(bare.outputs) != len(native.outputs):
        raise ValueError(f"the bare FMU has {len(bare.outputs)} outputs, the pendulum {len(native.outputs)}")
    times = {
        "bare": _cycle(bare, repeats),
        "native": _cycle(native, repeats),
        "native_at_rest": _cycle(native, repeats, **AT_REST),
        "python": _cycle(python, repeats),
        "python_at_rest": _cycle(python, repeats, **AT_REST),
    }
    for unit in (native, python, bare):
        unit.close()
    return times


def _cycle(unit: Unit, repeats: int, **start_values: Any) -> float:
    do_step, get_real, outputs = unit.slave.doStep, unit.slave.getReal, unit.outputs

    def run() -> None:
        for i in range(STEPS):
            do_step(i * STEP, STEP)
            get_real(outputs)

    def prepare() -> Callable[[], None]:
        unit.start(**start_values)
        return run

    return run_time(prepare, repeats)[0] / STEPS
