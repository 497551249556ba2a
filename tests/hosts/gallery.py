"""The gallery in other hosts: `python tests/hosts/gallery.py [NAME...]` prints how far they are from us.

All hosts that are found (`known_hosts.py`; `pip install "mbfmu[hosts]"` has some, others are on PATH) run FMUs of both
versions of FMI, in co-simulation and model exchange: the whole gallery, or models that are named, which may be any
source, such as `tests/dynamics/nonlinear_models.py:Rectifier`. Each run has a process of its own, so that a host that
crashes or goes on without end is one cell of the table. Results are written to FILE (default: build/hosts.json) after
each model, and joined with those that are there of other models; `--table` prints what is there without a run, and
`--host TEXT`, once or more, takes those hosts only whose title has the text in it.

The reference is `mbfmu.simulate` of tolerance 1e-11, without an FMU. FMUs have the tolerance 1e-10 as their own, so
that hosts that tell them none have it, too; integrators of importers get TOLERANCE or TOLERANCES. A difference is the
largest of an output at 201 instants of the run (5 s of it at most), relative to the output's range.

Without names, packages of powertrain and car in both versions of FMI follow, compared with our own master.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import fmpy
import known_hosts as hosts
import numpy as np
import wasm_units
from known_hosts import KINDS, Columns, Host, Unavailable

from mbfmu import sources
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.cosimulation.ssp import write_ssp
from mbfmu.dynamics.system import System
from mbfmu.errors import BuildError
from mbfmu.export.build import build
from mbfmu.fmi.variables import Interface
from mbfmu.modeling.registry import assemblies
from mbfmu.runtime import component
from mbfmu.simulation import simulate

#: Tolerance of importers that integrate themselves.
TOLERANCES = {"bevel_gear": 1e-9, "engine_v6": 1e-9, "point_gravity": 1e-9}
TOLERANCE = 1e-8

#: Tolerance of FMUs in co-simulation, and of the reference.
OWN, REFERENCE = 1e-10, 1e-11

#: What is chaotic is compared as long as our own runs of this tolerance and of REFERENCE agree within KNOWN: errors of
#: importers' integrators are about a hundred times as large as those of ours.
CHAOTIC, KNOWN = {"bevel_gear": 1e-7}, 1e-5

#: Length of the runs, s, and the number of points that are compared.
LONGEST, POINTS = 5.0, 200

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE.parents[1] / "build" / "hosts.json"


class Case:
    """A gallery model as FMUs of both versions, and its outputs by our own run."""

    def __init__(self, name: str, folder: pathlib.Path, *, wasm: bool = False) -> None:
        assembly = sources.load(name, ())
        assembly.tolerance = OWN
        system = System.of(assembly)
        self.name = name
        self._make = functools.partial(build, system, equations="interpreted")
        self._folder = folder
        self.fmus = {2: self._make(folder / "two.fmu"), 3: self._make(folder / "three.fmu", fmi=3, wasm=wasm)}
        self.description = fmpy.read_model_description(str(self.fmus[2]))
        self.outputs = [v.name for v in self.description.modelVariables if v.causality == "output" and v.type == "Real"]
        #: Switches are event indicators, or time events where they depend on the time alone.
        self.has_events = bool(system.equations.time_switches)
        described = fmpy.read_model_description(str(self.fmus[3]))
        interface = Interface(described)
        #: Outputs that are elements of arrays in FMI 3.0; are there states in arrays?
        self.array_outputs = {name for name in self.outputs if interface[name][0].indices}
        self.array_states = any(derivative.variable.shape for derivative in described.derivatives)
        end = min(float(self.description.defaultExperiment.stopTime), LONGEST)
        self.step = end / POINTS
        self.wanted = self._own(system, end, REFERENCE)
        #: Difference of a run of the FMUs' tolerance: what the reference is worth.
        self.uncertainty = self.difference(self._own(system, end, OWN))[0]
        if name in CHAOTIC:
            other = self._own(system, end, CHAOTIC[name])
            apart = (i for i in range(len(self.times)) if self.difference(other, slice(i, i + 1))[0] > KNOWN)
            self.wanted = {n: values[: next(apart, None)] for n, values in self.wanted.items()}
            self.uncertainty = self.difference(self._own(system, self.stop, OWN))[0]

    def _own(self, system: System, end: float, tolerance: float) -> Columns:
        return dict(simulate(system, end, interval=self.step, tolerance=tolerance).items())

    @functools.cached_property
    def lean(self) -> pathlib.Path:
        """FMI 3.0 without local variables, and so without texts and most arrays, which some importers do not take."""
        return self._make(self._folder / "lean.fmu", fmi=3, variables=self.outputs[0])

    @functools.cached_property
    def plain(self) -> pathlib.Path:
        """FMI 2.0 with the model's own tolerance."""
        path = self._folder / "plain.fmu"
        return build(sources.load(self.name, ()), path, equations="interpreted")

    @property
    def times(self) -> np.ndarray:
        """Instants that are compared."""
        return self.wanted["time"]

    @property
    def stop(self) -> float:
        """The last of them."""
        return float(self.times[-1])

    def until(self, stop: float) -> Case:
        """The same, of a shorter time."""
        part = copy.copy(self)
        count = int(np.searchsorted(self.times, stop + self.step / 1000))
        part.wanted = {name: values[:count] for name, values in self.wanted.items()}
        return part

    def tolerance(self, interface: str) -> float:
        """Tolerance that hosts are told."""
        return OWN if interface == "CoSimulation" else TOLERANCES.get(self.name, TOLERANCE)

    def difference(self, found: Columns, at: slice = slice(None)) -> tuple[float, str]:
        """Largest difference of an output to our own run, relative to its range, and the output.

        Columns may end before the run does; a first row of nan was not shown.

        Raises:
            RuntimeError: a value is no number, or there is no output.
        """
        worst = (-1.0, "")
        for name in filter(found.__contains__, self.outputs):
            values = self.wanted[name]
            scale = max(float(np.ptp(values)), 1e-3 * float(np.abs(values).max()), 1e-6)
            given = found[name][: len(values)]
            far = np.abs(given - values[: len(given)])[at] / scale
            shown = far[1:] if len(far) > 1 and np.isnan(far[0]) else far
            if not np.isfinite(shown).all():
                raise RuntimeError(f"{name} has values that are no numbers")
            worst = max(worst, (float(shown.max()), name))
        if worst[0] < 0:
            raise RuntimeError("it shows no output")
        return worst


def cell(case: Case, run: Callable[[Case], Columns]) -> dict[str, Any]:
    """A run, as the results have it: a difference and the output, or why there is none."""
    try:
        value, output = case.difference(run(case))
    except Unavailable as reason:
        return {"unavailable": str(reason)}
    except Exception as error:
        lines = str(error).strip().splitlines() or [repr(error)]
        return {"failed": lines[-1].strip()[:200]}
    return {"difference": value, "output": output}


def isolated(case: Case, run: Callable[[Case], Columns]) -> dict[str, Any]:
    """The same in a process of its own, without what hosts print."""

    def work() -> None:
        with pathlib.Path(os.devnull).open("w", encoding="utf-8") as nothing:
            for stream in (1, 2):
                os.dup2(nothing.fileno(), stream)
            there.send(cell(case, run))

    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    there.close()
    try:
        if not here.poll(hosts.PATIENCE):
            process.kill()
            return {"failed": f"takes more than {hosts.PATIENCE} s"}
        found: dict[str, Any] = here.recv()
        return found
    except EOFError:
        process.join()
        return {"failed": f"the process ends with {process.exitcode}"}
    finally:
        process.join()


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
    with hosts.load_ecos().EcosSimulation(ssp_path=str(file), step_size=PACKAGE_STEP) as simulation:
        simulation.init()
        simulation.step(round(PACKAGE_STOP / PACKAGE_STEP))
        values = [simulation.get_real(f"{element}::{name}") for element, name in PACKAGE_OUTPUTS]
        simulation.terminate()
    return values


def _shown(difference: float) -> str:
    return f"{difference:.0e}" if difference else "0"


def kind_title(kind: hosts.Kind) -> str:
    """`FMI 2.0, co-simulation`."""
    return f"FMI {kind[0]}.0, {wasm_units.KINDS[kind[1]].replace('model-', 'model ')}"


def summary(results: Mapping[str, Any]) -> str:
    """The table of docs/fmu.md: a row a host, the worst of all models for each kind; then what failed, and why."""
    lines = ["| host | " + " | ".join(map(kind_title, KINDS)) + " |", "|---" * (len(KINDS) + 1) + "|"]
    remarks = []
    models = results["models"]
    for host, about in results["hosts"].items():
        if about["version"] is None:
            remarks.append(f"- {host}: not found.")
            continue
        row = []
        for kind in map(kind_title, KINDS):
            cells = {name: model["cells"].get(host, {}).get(kind) for name, model in models.items()}
            found = {name: given for name, given in cells.items() if given}
            if not found:
                row.append(about["others"])
                continue
            good = {name: given["difference"] for name, given in found.items() if "difference" in given}
            text = "none"
            if good:
                worst = max(good, key=good.__getitem__)
                text = f"{_shown(good[worst])} (`{worst}`)"
            row.append(text if len(good) == len(models) else f"{text}; {len(good)} of {len(models)}")
            reasons: dict[str, list[str]] = {}
            for name, given in found.items():
                if "difference" not in given:
                    verb = "does not take" if "unavailable" in given else "fails at"
                    reasons.setdefault(f"{verb} {{}}: {given.get('unavailable') or given['failed']}", []).append(name)
            remarks += [
                f"- {host}, {kind}: {reason.replace('{}', ', '.join(f'`{n}`' for n in names), 1)}"
                for reason, names in reasons.items()
            ]
        lines.append(f"| {host} {about['version']} | " + " | ".join(row) + " |")
    return "\n".join([*lines, "", *remarks])


def by_model(results: Mapping[str, Any]) -> str:
    """The table of docs/co-simulation.md: co-simulation / model exchange of each model and host, of both versions."""
    found = [host for host, about in results["hosts"].items() if about["version"] is not None]
    lines = ["| model | reference | " + " | ".join(found) + " |", "|---" * (len(found) + 2) + "|"]
    for name, model in sorted(results["models"].items()):
        row = [_shown(model["uncertainty"])]
        for host in found:
            pair = []
            for interface in ("CoSimulation", "ModelExchange"):
                kinds = [kind_title(kind) for kind in KINDS if kind[1] == interface]
                cells = [model["cells"][host][kind] for kind in kinds if kind in model["cells"].get(host, ())]
                values = [given["difference"] for given in cells if "difference" in given]
                failed = any("failed" in given for given in cells)
                pair += ["fails" if failed else _shown(max(values)) if values else "-"] if cells else []
            row.append(" / ".join(pair))
        lines.append(f"| `{name}` | " + " | ".join(row) + " |")
    return "\n".join(lines)


def measure(name: str, found: list[Host], *, wasm: bool) -> dict[str, Any]:
    """Run a model in all hosts."""
    with tempfile.TemporaryDirectory() as folder:
        case = Case(name, pathlib.Path(folder), wasm=wasm)
        assert case.lean.is_file()  # made here, for all processes
        assert case.plain.is_file()
        cells: dict[str, dict[str, Any]] = {}
        for host in found:
            cells[host.title] = {}
            for kind, run in host.runs.items() if host.version is not None else ():
                if kind[1] == "ModelExchange" and case.description.modelExchange is None:
                    given = {"unavailable": "the FMU offers no model exchange"}
                else:
                    given = isolated(case, run)
                cells[host.title][kind_title(kind)] = given
        return {"stop": case.stop, "uncertainty": case.uncertainty, "cells": cells}


def main(*arguments: str) -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--host", action="append", default=[])
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args(arguments)
    results: dict[str, Any] = {"hosts": {}, "models": {}}
    if given.json.is_file():
        results = json.loads(given.json.read_text(encoding="utf-8"))
    with contextlib.ExitStack() as stack:
        place = None
        if not given.table:
            wasm = True
            try:
                component.ready_component()
                place = stack.enter_context(wasm_units.workplace())
            except BuildError as error:
                wasm = component.is_current()
                print(f"without Node.js: {error}", file=sys.stderr)
            found = hosts.hosts(place)
            if not wasm:
                found = [Host(h.title, None, {}, h.others) if "WebAssembly" in h.title else h for h in found]
            about = {host.title: {"version": host.version, "others": host.others} for host in found}
            if results["hosts"] != about:
                results = {"hosts": about, "models": {}}  # those of other hosts are not comparable
            for name in given.names or sorted(assemblies()):
                print(name, file=sys.stderr, flush=True)
                taken = [h for h in found if not given.host or any(text in h.title for text in given.host)]
                new = measure(name, taken, wasm=wasm)
                new["cells"] = {**results["models"].get(name, {}).get("cells", {}), **new["cells"]}
                results["models"][name] = new
                given.json.parent.mkdir(parents=True, exist_ok=True)
                given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(summary(results))
    print()
    print(by_model(results))
    if not given.names and not given.table:
        packages()


if __name__ == "__main__":
    main(*sys.argv[1:])
