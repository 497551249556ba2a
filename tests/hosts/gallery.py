"""The gallery in other hosts: `python tests/hosts/gallery.py [NAME...]` prints differences to our own runs as a table.

Hosts are FMPy in both versions of FMI, an importer that restarts its integrator only where it is told to, libcosim and
ecos (`pip install libcosimpy ecospy tbb`), and fmusim where it is installed. One that is missing is left out.
Differences are relative to the range of an output, over the time in which our own runs of tolerances 1e-9 and 1e-10
agree within 1e-5: bevel_gear is chaotic.
"""

from __future__ import annotations

import ctypes
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from typing import Any

import fmpy
import numpy as np
from restarting_importer import Importer

from mbfmu import sources
from mbfmu.dynamics.system import System
from mbfmu.export.build import build
from mbfmu.modeling.registry import assemblies

#: Tolerance of importers that integrate themselves. Where branches of motion cross, as in planar_loop_release,
#: integrators that do not know it take ever smaller steps, the sooner the less they tolerate.
TOLERANCES = {"planar_loop_release": 1e-6, "bevel_gear": 1e-9, "engine_v6": 1e-9, "point_gravity": 1e-9}
TOLERANCE = 1e-8

#: Length of the runs, s, and the number of points that are compared.
LONGEST, POINTS = 5.0, 200

Columns = dict[str, np.ndarray]


class Case:
    """A gallery model as FMUs of both versions, and its outputs by our own runs."""

    def __init__(self, name: str, folder: pathlib.Path) -> None:
        system = System.of(sources.load(name, ()))
        self.name, self.fmus = name, {}
        for fmi in (2, 3):
            path = folder / f"{name}_{fmi}.fmu"
            self.fmus[fmi] = build(system, path, fmi=fmi, equations="interpreted")
        self.description = fmpy.read_model_description(str(self.fmus[2]))
        self.outputs = [v.name for v in self.description.modelVariables if v.causality == "output" and v.type == "Real"]
        self.stop = min(float(self.description.defaultExperiment.stopTime), LONGEST)
        self.step = self.stop / POINTS
        self.wanted = self.fmpy(2, "CoSimulation", 1e-10)
        other = self.fmpy(2, "CoSimulation", 1e-9)
        apart = [i for i in range(len(self.wanted["time"])) if self.difference(other, i, i + 1) > 1e-5]
        self.by_default = self.fmpy(2, "CoSimulation", None)
        self.known = apart[0] if apart else len(self.wanted["time"])

    def fmpy(self, fmi: int, interface: str, tolerance: float | None) -> Columns:
        """Run in FMPy, and take arrays apart."""
        result = fmpy.simulate_fmu(
            str(self.fmus[fmi]), fmi_type=interface, stop_time=self.stop, output_interval=self.step,
            relative_tolerance=tolerance, record_events=False, logger=lambda *_: None,
        )  # fmt: skip
        columns: Columns = {"time": result["time"]}
        for name in result.dtype.names[1:]:
            values = result[name]
            for index in np.ndindex(values.shape[1:]):
                suffix = f"[{','.join(str(i + 1) for i in index)}]" if index else ""
                columns[name + suffix] = values[(slice(None), *index)]
        return columns

    def importer(self, fmi: int) -> Columns:
        """Run model exchange in the importer that restarts when it is told to; scalars, so that of FMI 2.0 only."""
        run = Importer(self.fmus[fmi], self.outputs, TOLERANCES.get(self.name, TOLERANCE))
        rows = run.run(self.wanted["time"][: self.known])
        run.close()
        return dict(zip(self.outputs, rows.T, strict=True))

    def difference(self, found: Columns, first: int = 0, last: int | None = None, *, by_default: bool = False) -> float:
        """Largest difference of an output, relative to its range, to our own run, or to that by default."""
        last = self.known if last is None else last
        own = self.by_default if by_default else self.wanted
        worst = 0.0
        for name in self.outputs:
            values = self.wanted[name]
            scale = max(float(np.ptp(values)), 1e-3 * float(np.abs(values).max()), 1e-6)
            worst = max(worst, float(np.abs(found[name][first:last] - own[name][first:last]).max()) / scale)
        return worst

    def exchanged(self) -> bool:
        """Is it offered for model exchange?"""
        return self.description.modelExchange is not None


def libcosim(case: Case) -> Columns:
    """libcosim's fixed-step master, with the FMU as its only slave; it tells the FMU no tolerance."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    log_output_level(CosimLogLevel.WARNING)
    execution = CosimExecution.from_step_size(step_size=round(case.step * 1e9))
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(case.fmus[2]), instance_name="slave"))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer=observer)
    places = {v.name: v.valueReference for v in case.description.modelVariables if v.type == "Real"}
    references = [places[name] for name in case.outputs]
    rows = []
    for i in range(case.known):
        if i:
            execution.step()
            rows.append(observer.last_real_values(slave, references))
        else:
            rows.append([case.by_default[name][0] for name in case.outputs])  # it shows no values before its first step
    return dict(zip(case.outputs, np.array(rows).T, strict=True))


def load_ecos() -> Any:
    """Import ecospy, with the library of Intel's that its own needs."""
    for library in sorted(pathlib.Path(sysconfig.get_path("data"), "lib").glob("libtbb.so.??")):
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    import ecospy

    return ecospy


def ecos(case: Case) -> Columns:
    """Run in ecos; it tells the FMU no tolerance."""
    ecospy = load_ecos()
    structure = ecospy.EcosSimulationStructure()
    structure.add_model("slave", str(case.fmus[2]))
    rows = []
    with ecospy.EcosSimulation(structure=structure, step_size=case.step) as simulation:
        simulation.init()
        for i in range(case.known):
            if i:
                simulation.step()
            rows.append([simulation.get_real(f"slave::{name}") for name in case.outputs])
        simulation.terminate()
    return dict(zip(case.outputs, np.array(rows).T, strict=True))


def fmusim(case: Case, interface: str) -> Columns:
    """Run the Reference-FMUs' simulator, with CVode in model exchange."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "out.csv")
        command = ["fmusim", f"--interface-type={interface}", f"--stop-time={case.stop!r}", f"--tolerance={TOLERANCE}"]
        command += [f"--output-interval={case.step!r}", f"--output-file={file}", "--solver=cvode"]
        command += [f"--output-variable={name}" for name in case.outputs]
        subprocess.run([*command, str(case.fmus[2])], check=True, capture_output=True)
        rows = np.genfromtxt(file, delimiter=",", names=None, skip_header=1)
    return dict(zip(case.outputs, rows[:, 1:].T, strict=True))


def hosts() -> dict[str, Callable[[Case], Columns | None]]:
    """Runs by the title of their column; None where a model is not offered."""

    def exchange(run: Callable[[Case], Columns]) -> Callable[[Case], Columns | None]:
        return lambda case: run(case) if case.exchanged() else None

    found: dict[str, Callable[[Case], Columns | None]] = {
        "FMPy, FMI 3.0": lambda case: case.fmpy(3, "CoSimulation", 1e-10),
        "FMPy, CVode": exchange(lambda case: case.fmpy(2, "ModelExchange", TOLERANCES.get(case.name, TOLERANCE))),
        "restarts when told": exchange(lambda case: case.importer(2)),
    }
    if importlib.util.find_spec("libcosimpy"):
        found["libcosim"] = libcosim
    if importlib.util.find_spec("ecospy"):
        found["ecos"] = ecos
    if shutil.which("fmusim"):
        found["fmusim, co-simulation"] = lambda case: fmusim(case, "cs")
        found["fmusim, CVode"] = exchange(lambda case: fmusim(case, "me"))
    return found


#: These tell an FMU no tolerance: they are compared with our own run by default.
DEFAULT = (libcosim, ecos)


def _shown(difference: float) -> str:
    return f"{difference:.0e}" if difference else "0"


def main(*names: str) -> None:
    """Print the table."""
    runs = hosts()
    print("| model | " + " | ".join(runs) + " |")
    print("|---" * (len(runs) + 1) + "|", flush=True)
    for name in names or sorted(assemblies()):
        cells = []
        with tempfile.TemporaryDirectory() as folder:
            case = Case(name, pathlib.Path(folder))
            for run in runs.values():
                try:
                    result = run(case)
                    cells.append("-" if result is None else _shown(case.difference(result, by_default=run in DEFAULT)))
                except Exception as error:
                    cells.append(f"fails: {str(error).strip().splitlines()[-1][:60] if str(error) else repr(error)}")
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
