"""The gallery in other hosts: `python tests/hosts/gallery.py [NAME...]` prints differences to our own runs as a table.
A name may be any source, such as `tests/dynamics/nonlinear_models.py:Rectifier`.

Without names, packages of powertrain and car in both versions of FMI follow, compared with our own master.

Hosts are FMPy in both versions of FMI, an importer that restarts its integrator only where it is told to, libcosim and
ecos (`pip install libcosimpy ecospy tbb`), CasADi, and fmusim, fmuCheck and OMSimulator where they are on PATH. One
that is missing is left out.
Differences are relative to the range of an output; of bevel_gear, which is chaotic, over the time in which our own runs
of tolerances 1e-7 and 1e-10 agree within 1e-5.
"""

from __future__ import annotations

import csv
import ctypes
import functools
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable
from typing import Any

import fmpy
import numpy as np
from restarting_importer import Importer

from mbfmu import sources
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.cosimulation.ssp import write_ssp
from mbfmu.dynamics.system import System
from mbfmu.export.build import build
from mbfmu.modeling.registry import assemblies
from mbfmu.simulation import simulate

#: Tolerance of importers that integrate themselves.
TOLERANCES = {"bevel_gear": 1e-9, "engine_v6": 1e-9, "point_gravity": 1e-9}
TOLERANCE = 1e-8

#: What is chaotic is compared as long as our own runs of this tolerance and of 1e-10 agree within KNOWN: errors of
#: importers' integrators are about a hundred times as large as those of ours.
CHAOTIC, KNOWN = {"bevel_gear": 1e-7}, 1e-5

#: Length of the runs, s, and the number of points that are compared.
LONGEST, POINTS = 5.0, 200

#: What a host may take for a run, s.
PATIENCE = 300

Columns = dict[str, np.ndarray]


class Case:
    """A gallery model as FMUs of both versions, and its outputs by our own runs."""

    def __init__(self, name: str, folder: pathlib.Path) -> None:
        system = System.of(sources.load(name, ()))
        self.name, self.fmus = name, {}
        for fmi in (2, 3):
            path = folder / f"{system.name}_{fmi}.fmu"
            self.fmus[fmi] = build(system, path, fmi=fmi, equations="interpreted")
        self.description = fmpy.read_model_description(str(self.fmus[2]))
        self.outputs = [v.name for v in self.description.modelVariables if v.causality == "output" and v.type == "Real"]
        self.stop = min(float(self.description.defaultExperiment.stopTime), LONGEST)
        self.step = self.stop / POINTS
        self.system, self._first = system, None
        self.wanted = self.fmpy(2, "CoSimulation", 1e-10)
        self.by_default = self.fmpy(2, "CoSimulation", None)
        self.known = len(self.wanted["time"])
        if name in CHAOTIC:
            other = self.fmpy(2, "CoSimulation", CHAOTIC[name])
            apart = (i for i in range(self.known) if self.difference(other, i, i + 1) > KNOWN)
            self.known = next(apart, self.known)

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
        run = Importer(self.fmus[fmi], self.outputs, self.tolerance)
        rows = run.run(self.wanted["time"][: self.known])
        run.close()
        return dict(zip(self.outputs, rows.T, strict=True))

    def difference(self, found: Columns, first: int = 0, last: int | None = None, *, by_default: bool = False) -> float:
        """Largest difference of an output, relative to its range, to our own run, or to that by default."""
        last = self.known if last is None else last
        own = self.by_default if by_default else self.wanted
        worst = 0.0
        for name in filter(found.__contains__, self.outputs):
            values = self.wanted[name]
            scale = max(float(np.ptp(values)), 1e-3 * float(np.abs(values).max()), 1e-6)
            worst = max(worst, float(np.abs(found[name][first:last] - own[name][first:last]).max()) / scale)
        return worst

    @property
    def first(self) -> Columns:
        """All variables at the start."""
        if self._first is None:
            self._first = {n: v[0] for n, v in simulate(self.system, self.step, step=self.step).items()}
        return self._first

    @property
    def tolerance(self) -> float:
        """Tolerance of importers that integrate themselves."""
        return TOLERANCES.get(self.name, TOLERANCE)

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


def ecos(case: Case, fmi: int = 2) -> Columns:
    """Run in ecos; it tells the FMU no tolerance, and reads no arrays."""
    ecospy = load_ecos()
    structure = ecospy.EcosSimulationStructure()
    structure.add_model("slave", str(case.fmus[fmi]))
    scalars = [name for name in case.outputs if fmi == 2 or "[" not in name]
    rows = []
    with ecospy.EcosSimulation(structure=structure, step_size=case.step) as simulation:
        simulation.init()
        for i in range(case.known):
            if i:
                simulation.step()
            rows.append([simulation.get_real(f"slave::{name}") for name in scalars])
        simulation.terminate()
    return dict(zip(scalars, np.array(rows).T, strict=True))


def ecos_3(case: Case) -> Columns | None:
    """The same of FMI 3.0; None where all outputs are arrays."""
    return None if all("[" in name for name in case.outputs) else ecos(case, 3)


def fmusim(case: Case, fmi: int, interface: str) -> Columns:
    """Run the Reference-FMUs' simulator, with CVode in model exchange; rows of events are left out."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "out.csv")
        options: dict[str, Any] = {
            "interface-type": interface, "stop-time": repr(case.stop), "tolerance": case.tolerance,
            "output-interval": repr(case.step), "output-file": file, "solver": "cvode",
        }  # fmt: skip
        command = ["fmusim", *(text for key, value in options.items() for text in (f"--{key}", str(value)))]
        names = dict.fromkeys(name.partition("[")[0] if fmi == 3 else name for name in case.outputs)
        command += [text for name in names for text in ("--output-variable", name)]
        subprocess.run([*command, str(case.fmus[fmi])], check=True, capture_output=True, timeout=PATIENCE)
        with file.open(encoding="utf-8") as lines:
            heads = next(csv.reader(lines))
            rows = np.array([[float(v) for cell in row for v in cell.split()] for row in csv.reader(lines)])
    at = np.searchsorted(rows[:, 0], case.wanted["time"] - case.step / 1000)
    return {"time": case.wanted["time"], **_columns(heads[1:], rows[np.minimum(at, len(rows) - 1), 1:], case.outputs)}


def omsimulator(case: Case, fmi: int, interface: str) -> Columns:
    """Run in OMSimulator; in model exchange it integrates with CVODE."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "OMSimulator", f"--mode={interface}", f"--stopTime={case.stop!r}", f"--stepSize={case.step!r}",
            f"--tolerance={case.tolerance if interface == 'me' else 1e-10}", f"--intervals={POINTS + 1}",
            "--resultFile=out.csv", str(case.fmus[fmi]),
        ]  # fmt: skip
        found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return _read(pathlib.Path(folder, "out.csv"), case, found.stdout)


def fmucheck(case: Case) -> Columns:
    """Run in the compliance checker, which tells an FMU no tolerance; any warning or error of it is a failure."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "out.csv")
        command = ["fmuCheck.linux64", "-k", "cs", "-s", repr(case.stop), "-h", repr(case.step), "-n", "0", "-o"]
        found = subprocess.run(
            [*command, str(file), str(case.fmus[2])], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if found.returncode or found.stderr.count("0 Error(s)") != 1:
            raise RuntimeError(found.stderr)
        return _read(file, case, found.stderr)


def fmucheck_exchange(case: Case) -> Columns:
    """Let the checker integrate with Euler's method: what counts is that it finds nothing wrong."""
    command = ["fmuCheck.linux64", "-k", "me", "-s", repr(0.1 * case.stop), "-h", "1e-4", "-n", "1", str(case.fmus[2])]
    found = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if found.returncode or found.stderr.count("0 Error(s)") != 1:
        raise RuntimeError(found.stderr)
    return {}


def _read(file: pathlib.Path, case: Case, log: str) -> Columns:
    """The rows of a CSV file at the times of our own run."""
    if not file.is_file():
        raise RuntimeError(next((line for line in log.splitlines() if "rror" in line), log))
    with file.open(encoding="utf-8") as lines:
        heads = next(csv.reader(lines, skipinitialspace=True))
        rows = np.array([[float(cell) for cell in row] for row in csv.reader(lines, skipinitialspace=True)])
    at = np.minimum(np.searchsorted(rows[:, 0], case.wanted["time"] - case.step / 1000), len(rows) - 1)
    return {name: rows[at, heads.index(name)] for name in case.outputs if name in heads}


def casadi_integrator(case: Case) -> Columns:
    """Run in CasADi's importer with CVODES: models without switches, for it handles no events."""
    import casadi

    if case.description.numberOfEventIndicators:
        raise RuntimeError("CasADi handles no events")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(case.fmus[2]) as archive:
            archive.extractall(folder)
        dae = casadi.DaeBuilder("m", folder)
        f = dae.create("f", ["t", "x", "u"], ["ode", "y"])
        t, x, u = (casadi.MX.sym(name, f.size1_in(i)) for i, name in enumerate("txu"))
        ode, y = f(t, x, u)
        times = case.wanted["time"].tolist()
        options = {"reltol": case.tolerance, "abstol": case.tolerance, "max_num_steps": 100_000}
        run = casadi.integrator("r", "cvodes", {"t": t, "x": x, "u": u, "ode": ode}, 0, times, options)
        states = run(x0=[case.first[name] for name in dae.x()], u=dae.start(dae.u()))["xf"]
        read = casadi.Function("y", [t, x, u], [y]).map(len(times))
        shown = np.array(read(casadi.DM(times).T, states, dae.start(dae.u())))
        return dict(zip(dae.y(), shown, strict=True))


def _columns(heads: list[str], values: np.ndarray, outputs: list[str]) -> Columns:
    """Columns of a table by the names of scalars; arrays take as many as they have elements."""
    names = [
        name
        for head in heads
        for name in ([head] if head in outputs else [n for n in outputs if n.startswith(f"{head}[")])
    ]
    return dict(zip(names, values.T, strict=True))


#: Communication step and length of the packages' runs, s, and what is compared.
PACKAGE_STEP, PACKAGE_STOP = 1e-3, 0.5
PACKAGE_OUTPUTS = (("car", "x"), ("car", "axis1.phi"), ("powertrain", "engine.w"))


def packages() -> None:
    """Print how far the package of powertrain and car ends from where our own master, jacobi and hold, ends."""
    for fmi in (2, 3):
        with tempfile.TemporaryDirectory() as folder:
            files = {}
            for name in ("powertrain", "car"):
                system = System.of(sources.load(name, ()))
                files[name] = build(system, pathlib.Path(folder, f"{name}.fmu"), fmi=fmi, equations="interpreted")
            structure = SystemStructure.of(files)
            file = write_ssp(structure, pathlib.Path(folder, "small_car.ssp"))
            names = [".".join(end) for end in PACKAGE_OUTPUTS]
            own = cosimulate(structure, step=PACKAGE_STEP, stop_time=PACKAGE_STOP, outputs=names)
            for host, run in {"libcosim": package_in_libcosim, "ecos": package_in_ecos}.items():
                try:
                    found = run(file, structure)
                    worst = max(abs(x / own[n][-1] - 1) for n, x in zip(names, found, strict=True))
                    print(f"small_car.ssp of FMI {fmi}.0 in {host}: {_shown(worst)}", flush=True)
                except Exception as error:
                    print(f"small_car.ssp of FMI {fmi}.0 in {host}: fails: {error}", flush=True)


def package_in_libcosim(file: pathlib.Path, structure: SystemStructure) -> list[float]:
    """Values at the end of a run in libcosim."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimObserver import CosimObserver

    log_output_level(CosimLogLevel.WARNING)
    execution = CosimExecution.from_ssp_file(str(file), step_size=round(PACKAGE_STEP * 1e9))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer=observer)
    execution.step(round(PACKAGE_STOP / PACKAGE_STEP))
    values = []
    for element, name in PACKAGE_OUTPUTS:
        (scalar,) = structure.scalars(element, name)
        index = execution.slave_index_from_instance_name(element)
        values += observer.last_real_values(index, [scalar.variable.valueReference])
    return values


def package_in_ecos(file: pathlib.Path, structure: SystemStructure) -> list[float]:
    """Values at the end of a run in ecos."""
    with load_ecos().EcosSimulation(ssp_path=str(file), step_size=PACKAGE_STEP) as simulation:
        simulation.init()
        simulation.step(round(PACKAGE_STOP / PACKAGE_STEP))
        values = [simulation.get_real(f"{element}::{name}") for element, name in PACKAGE_OUTPUTS]
        simulation.terminate()
    return values


def hosts() -> dict[str, Callable[[Case], Columns | None]]:
    """Runs by the title of their column; None where a model is not offered."""

    def exchange(run: Callable[[Case], Columns]) -> Callable[[Case], Columns | None]:
        return lambda case: run(case) if case.exchanged() else None

    found: dict[str, Callable[[Case], Columns | None]] = {
        "FMPy, FMI 3.0": lambda case: case.fmpy(3, "CoSimulation", 1e-10),
        "FMPy, CVode": exchange(lambda case: case.fmpy(2, "ModelExchange", case.tolerance)),
        "restarts when told": exchange(lambda case: case.importer(2)),
    }
    if importlib.util.find_spec("libcosimpy"):
        found["libcosim"] = libcosim
    if importlib.util.find_spec("ecospy"):
        found["ecos"] = ecos
        found["ecos, FMI 3.0"] = ecos_3
    if shutil.which("fmusim"):
        for fmi in (2, 3):
            found[f"fmusim, FMI {fmi}.0"] = functools.partial(fmusim, fmi=fmi, interface="cs")
            found[f"fmusim, CVode, FMI {fmi}.0"] = exchange(functools.partial(fmusim, fmi=fmi, interface="me"))
    if shutil.which("OMSimulator"):
        for fmi in (2, 3):
            found[f"OMSimulator, FMI {fmi}.0"] = functools.partial(omsimulator, fmi=fmi, interface="cs")
            found[f"OMSimulator, CVODE, FMI {fmi}.0"] = exchange(
                functools.partial(omsimulator, fmi=fmi, interface="me")
            )
    if shutil.which("fmuCheck.linux64"):
        found["fmuCheck"] = fmucheck
        found["fmuCheck, model exchange"] = exchange(fmucheck_exchange)
    found["CasADi, CVODES"] = exchange(casadi_integrator)
    return found


#: These tell an FMU no tolerance: they are compared with our own run by default.
DEFAULT = (libcosim, ecos, ecos_3, fmucheck)


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
    if not names:
        packages()


if __name__ == "__main__":
    main(*sys.argv[1:])
