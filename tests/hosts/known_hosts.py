"""Hosts that run a case of the gallery: `hosts()` names all that are known, with versions where they are found."""

from __future__ import annotations

import csv
import ctypes
import dataclasses
import functools
import importlib.metadata
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import fmpy
import numpy as np
import wasm_units
from restarting_importer import Fmpy, Importer

if TYPE_CHECKING:
    from gallery import Case

#: What a host may take for a run, s.
PATIENCE = 900

#: Columns by the names of scalars, of the times of the case; a first row of nan was not shown.
Columns = dict[str, np.ndarray]

#: A version of FMI, and CoSimulation or ModelExchange.
Kind = tuple[int, str]
KINDS: tuple[Kind, ...] = ((2, "CoSimulation"), (2, "ModelExchange"), (3, "CoSimulation"), (3, "ModelExchange"))


class Unavailable(Exception):
    """A host does not take a model, by its own rules; the message says what of it."""


@dataclasses.dataclass(frozen=True)
class Host:
    """A host, what it runs, and why it does not run the rest."""

    title: str
    #: None where it is not found.
    version: str | None
    runs: dict[Kind, Callable[[Case], Columns]]
    #: What stands in place of the other kinds.
    others: str = "-"


def _package(name: str) -> str | None:
    """The version of a Python package, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _program(name: str, *options: str) -> str | None:
    """The version that a program prints, or None where it is not on PATH."""
    if not shutil.which(name):
        return None
    found = subprocess.run([name, *options], capture_output=True, text=True, check=False)
    number = re.search(r"\d+\.\d+(\.\w+)*", found.stdout + found.stderr)
    return number[0] if number else "of an unknown version"


def _rows(case: Case, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows at the times of the case; of several at an event, the first."""
    if times[-1] < case.times[-1] - case.step / 1000:
        raise RuntimeError(f"it ends at {times[-1]:g} s")
    return rows[np.searchsorted(times, case.times - case.step / 1000)]


def run_fmpy(case: Case, fmi: int, interface: str) -> Columns:
    """FMPy's own simulation, with CVode in model exchange; arrays are taken apart."""
    result = fmpy.simulate_fmu(
        str(case.fmus[fmi]), fmi_type=interface, stop_time=case.stop, output_interval=case.step,
        relative_tolerance=case.tolerance(interface), record_events=False, logger=lambda *_: None,
    )  # fmt: skip
    columns: Columns = {}
    for name in result.dtype.names[1:]:
        values = result[name]
        for index in np.ndindex(values.shape[1:]):
            suffix = f"[{','.join(str(i + 1) for i in index)}]" if index else ""
            columns[name + suffix] = _rows(case, result["time"], values[(slice(None), *index)])
    return columns


def run_importer(case: Case, fmi: int) -> Columns:
    """Model exchange in the importer around SciPy's BDF."""
    unit = Fmpy(case.fmus[fmi], case.outputs, case.tolerance("ModelExchange"))
    rows = Importer(unit, case.tolerance("ModelExchange")).run(case.times)
    unit.close()
    return dict(zip(case.outputs, rows.T, strict=True))


def run_libcosim(case: Case) -> Columns:
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
    rows = [[np.nan] * len(references)]  # it shows no values before its first step
    for _ in case.times[1:]:
        execution.step()
        rows.append(observer.last_real_values(slave, references))
    return dict(zip(case.outputs, np.array(rows).T, strict=True))


def load_ecos() -> Any:
    """Import ecospy, with the library of Intel's that its own needs."""
    for library in sorted(pathlib.Path(sysconfig.get_path("data"), "lib").glob("libtbb.so.??")):
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    import ecospy

    return ecospy


def run_ecos(case: Case, fmi: int) -> Columns:
    """Run in ecos; it tells the FMU no tolerance, and reads no arrays."""
    ecospy = load_ecos()
    structure = ecospy.EcosSimulationStructure()
    structure.add_model("slave", str(case.fmus[fmi]))
    scalars = [name for name in case.outputs if fmi == 2 or name not in case.array_outputs]
    if not scalars:
        raise Unavailable("outputs that are all arrays")
    rows = []
    with ecospy.EcosSimulation(structure=structure, step_size=case.step) as simulation:
        simulation.init()
        for i in range(len(case.times)):
            if i:
                simulation.step()
            rows.append([simulation.get_real(f"slave::{name}") for name in scalars])
        simulation.terminate()
    return dict(zip(scalars, np.array(rows).T, strict=True))


def run_fmusim(case: Case, fmi: int, interface: str) -> Columns:
    """Run the Reference-FMUs' simulator, with CVode in model exchange."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "out.csv")
        options: dict[str, Any] = {
            "interface-type": "cs" if interface == "CoSimulation" else "me", "stop-time": repr(case.stop),
            "tolerance": case.tolerance(interface), "output-interval": repr(case.step), "output-file": file,
            "solver": "cvode",
        }  # fmt: skip
        command = ["fmusim", *(text for key, value in options.items() for text in (f"--{key}", str(value)))]
        names = dict.fromkeys(name.partition("[")[0] if fmi == 3 else name for name in case.outputs)
        command += [text for name in names for text in ("--output-variable", name)]
        done = subprocess.run([*command, str(case.fmus[fmi])], check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr or done.stdout).strip() or f"it ends with {done.returncode}")
        with file.open(encoding="utf-8") as lines:
            heads = next(csv.reader(lines))
            rows = np.array([[float(v) for cell in row for v in cell.split()] for row in csv.reader(lines)])
    scalars = [
        name
        for head in heads[1:]
        for name in ([head] if head in case.outputs else [n for n in case.outputs if n.startswith(f"{head}[")])
    ]
    return dict(zip(scalars, _rows(case, rows[:, 0], rows[:, 1:]).T, strict=True))


def run_omsimulator(case: Case, fmi: int, interface: str) -> Columns:
    """Run in OMSimulator; in model exchange it integrates with CVODE. It takes scalars of FMI 3.0 only."""
    if fmi == 3 and (case.array_states or case.array_outputs):
        raise Unavailable("states or outputs that are arrays")
    if fmi == 3 and case.description.numberOfEventIndicators > 1:
        raise Unavailable("more than one event indicator, which are an array")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "OMSimulator", f"--mode={'cs' if interface == 'CoSimulation' else 'me'}", f"--stopTime={case.stop!r}",
            f"--stepSize={case.step!r}", f"--tolerance={case.tolerance(interface)}", "--resultFile=out.csv",
            f"--intervals={len(case.times)}", str(case.fmus[2] if fmi == 2 else case.lean),
        ]  # fmt: skip
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        file = pathlib.Path(folder, "out.csv")
        if done.returncode or not file.is_file():
            raise RuntimeError(next((line for line in done.stdout.splitlines() if "rror" in line), done.stdout))
        return _table(file, case, case.outputs)


def run_fmucheck(case: Case, interface: str) -> Columns:
    """Run in the compliance checker, which tells an FMU no tolerance; any warning or error of it is a failure.

    In model exchange it has Euler's method only, which gets a tenth of the run in 10,000 steps, and an FMU of the
    model's own tolerance, since assertions hold to 50 times that.
    """
    fine = interface == "ModelExchange"
    stop, step = (0.1 * case.stop, case.step / 500) if fine else (case.stop, case.step)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "out.csv")
        command = [
            "fmuCheck.linux64", "-k", "me" if fine else "cs", "-s", repr(stop), "-h", repr(step), "-n", "0",
            "-o", str(file), str(case.plain if fine else case.fmus[2]),
        ]  # fmt: skip
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        clean = ("\t0 warning(s) and error(s)", "\t0 Warning(s)", "\t0 Error(s)")
        if found.returncode or not all(line in found.stderr.splitlines() for line in clean):
            said = [line.strip() for line in found.stderr.splitlines()]
            bad = (line for line in said if line and not line.startswith("[INFO]") and "[" in line)
            raise RuntimeError(next(bad, found.stderr))
        part = case.until(stop) if fine else case
        return _table(file, part, case.outputs)


def _table(file: pathlib.Path, case: Case, names: list[str]) -> Columns:
    """Columns of a CSV file at the times of the case."""
    with file.open(encoding="utf-8") as lines:
        heads = next(csv.reader(lines, skipinitialspace=True))
        wanted = [0, *(heads.index(name) for name in names)]
        rows = np.array([[float(row[i]) for i in wanted] for row in csv.reader(lines, skipinitialspace=True)])
    return dict(zip(names, _rows(case, rows[:, 0], rows[:, 1:]).T, strict=True))


def run_casadi(case: Case, fmi: int) -> Columns:
    """Run in CasADi's importer with CVODES: models without events, which it does not handle."""
    import casadi

    if case.has_events:
        raise Unavailable("events")
    if fmi == 3 and (case.array_states or case.array_outputs):
        raise Unavailable("states or outputs that are arrays")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(case.fmus[2] if fmi == 2 else case.lean) as archive:
            archive.extractall(folder)
        dae = casadi.DaeBuilder("m", folder)
        f = dae.create("f", ["t", "x", "u"], ["ode", "y"])
        t, x, u = (casadi.MX.sym(name, f.size1_in(i)) for i, name in enumerate("txu"))
        ode, y = f(t, x, u)
        times, tolerance = case.times.tolist(), case.tolerance("ModelExchange")
        options = {"reltol": tolerance, "abstol": tolerance, "max_num_steps": 100_000}
        run = casadi.integrator("r", "cvodes", {"t": t, "x": x, "u": u, "ode": ode}, 0, times, options)
        states = run(x0=[case.wanted[name][0] for name in dae.x()], u=dae.start(dae.u()))["xf"]
        read = casadi.Function("y", [t, x, u], [y]).map(len(times))
        shown = np.array(read(casadi.DM(times).T, states, dae.start(dae.u())))
        return dict(zip(dae.y(), shown, strict=True))


def run_component(case: Case, interface: str, place: pathlib.Path | None = None) -> Columns:
    """Run the WebAssembly component in wasmtime or, with a workplace, in Node.js."""
    path, tolerance = case.fmus[3], case.tolerance(interface)
    guest: Any = wasm_units.InNode(path, interface, place) if place else wasm_units.in_wasmtime(path, interface)
    if interface == "CoSimulation":
        rows = wasm_units.Slave(guest, path, case.outputs, tolerance).run(case.times)
    else:
        rows = Importer(wasm_units.Model(guest, path, case.outputs, tolerance), tolerance).run(case.times)
    if place:
        guest.close()
    return dict(zip(case.outputs, rows.T, strict=True))


def hosts(place: pathlib.Path | None = None) -> list[Host]:
    """All hosts that are known; `place` is a workplace of Node.js (wasm_units.workplace)."""
    components = {kind: functools.partial(run_component, interface=kind[1]) for kind in KINDS[2:]}
    in_node = {kind: functools.partial(run_component, interface=kind[1], place=place) for kind in KINDS[2:]}
    return [
        Host("FMPy", _package("fmpy"), {k: functools.partial(run_fmpy, fmi=k[0], interface=k[1]) for k in KINDS}),
        Host(
            "importer around the BDF of SciPy",
            _package("scipy"),
            {k: functools.partial(run_importer, fmi=k[0]) for k in KINDS[1::2]},
            "model exchange only",
        ),
        Host(
            "fmusim",
            _program("fmusim", "--version"),
            {k: functools.partial(run_fmusim, fmi=k[0], interface=k[1]) for k in KINDS},
        ),
        Host(
            "FMU Compliance Checker",
            _program("fmuCheck.linux64"),
            {k: functools.partial(run_fmucheck, interface=k[1]) for k in KINDS[:2]},
            "no FMI 3.0",
        ),
        Host(
            "OMSimulator",
            _program("OMSimulator", "--version"),
            {k: functools.partial(run_omsimulator, fmi=k[0], interface=k[1]) for k in KINDS},
        ),
        Host(
            "CasADi",
            _package("casadi"),
            {k: functools.partial(run_casadi, fmi=k[0]) for k in KINDS[1::2]},
            "model exchange only",
        ),
        Host("libcosim, by libcosimpy", _package("libcosimpy"), {KINDS[0]: run_libcosim}, "FMI 2.0 co-simulation only"),
        Host(
            "ecos, by ecospy",
            _package("ecospy"),
            {k: functools.partial(run_ecos, fmi=k[0]) for k in KINDS[::2]},
            "co-simulation only",
        ),
        Host("wasmtime, WebAssembly", _package("wasmtime"), {k: components[k] for k in components}, "FMI 3.0 only"),
        Host(
            "Node.js, WebAssembly",
            _program("node", "--version") if place else None,
            {k: in_node[k] for k in in_node},
            "FMI 3.0 only",
        ),
    ]
