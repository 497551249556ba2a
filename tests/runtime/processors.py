"""The gallery on another processor: python tests/runtime/processors.py [NAME ...] [--json FILE].

Runs libraries for aarch64 Linux under qemu, in co-simulation and model exchange, in a host of C, and those for x86-64
in the same host without it, and writes how far the outputs are apart. Needs ziglang, qemu-aarch64 and the C library of
such machines (on Debian `apt install qemu-user libc6-arm64-cross`).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from typing import Any

import fmpy
import numpy as np

from mbfmu.export.build import build
from mbfmu.runtime.build import headers
from mbfmu.runtime.compilers import find_zig

HERE = pathlib.Path(__file__).resolve().parent

#: Where Debian has the C library of aarch64.
SYSROOT = pathlib.Path("/usr/aarch64-linux-gnu")

#: What runs a program of a platform here.
RUNNERS: dict[str, tuple[str, ...]] = {"linux64": (), "aarch64-linux": ("qemu-aarch64", "-L", str(SYSROOT))}

#: Folders of libraries in FMI 3.0.
FOLDERS_3 = {"linux64": "x86_64-linux", "aarch64-linux": "aarch64-linux"}

#: Longest run, s, and instants that are compared: an emulated processor is some twenty times slower.
LONGEST, STEPS = 1.0, 20
#: Longest run of a model whose joints lock later, s: steps of fixed length do not pass that.
UNTIL = {"bevel_gear": 0.4}
#: Kinds of an FMU.
INTERFACES = ("co-simulation", "model exchange")


def missing() -> str:
    """What is not there of that which this takes; empty where all is."""
    for found, what in (
        (importlib.util.find_spec("ziglang"), "ziglang"),
        (shutil.which("qemu-aarch64"), "qemu-aarch64"),
        (SYSROOT.is_dir(), f"the C library of aarch64 in {SYSROOT}"),
    ):
        if not found:
            return f"{what} is not installed"
    return ""


def host(folder: pathlib.Path, platform: str) -> pathlib.Path:
    """Compile the host for a platform."""
    compiler = find_zig(platform)
    assert compiler is not None
    program = folder / f"host-{platform}"
    # A processor that multiplies and adds at once must not do so in the host, whose steps are part of what is compared
    command = [
        *compiler.command,
        *compiler.targets[0],
        "-O1",
        "-ffp-contract=off",
        "-I",
        str(headers()),
        "-o",
        str(program),
    ]
    subprocess.run([*command, str(HERE / "loading_host.c"), "-ldl"], check=True, capture_output=True)
    return program


def outputs(
    program: pathlib.Path,
    platform: str,
    fmu: pathlib.Path,
    folder: pathlib.Path,
    tolerance: float | None = None,
    interface: str = INTERFACES[0],
) -> np.ndarray:
    """Numeric outputs of an FMU at equal instants, a row each, by the host for a platform."""
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    description = fmpy.read_model_description(str(fmu))
    of_fmi_3 = description.fmiVersion != "2.0"
    shown = [v for v in description.modelVariables if v.causality == "output" and v.type in ("Real", "Float64")]
    if not shown:
        shown = [v for v in description.modelVariables if v.causality == "local" and v.type in ("Real", "Float64")][:99]
    count = sum(int(np.prod([d.start for d in v.dimensions])) for v in shown) if of_fmi_3 else len(shown)
    experiment = description.defaultExperiment
    stop = min(float(experiment.stopTime), UNTIL.get(fmu.stem, LONGEST))
    version, identifier = "3" if of_fmi_3 else "2", description.coSimulation.modelIdentifier
    if interface == "model exchange":
        if description.modelExchange is None:
            raise RuntimeError("not for model exchange")
        version += f":{_scalars(description, 'state')}:{_scalars(description, 'indicator')}"
    library = folder / "binaries" / (FOLDERS_3[platform] if of_fmi_3 else platform) / f"{identifier}.so"
    resources = f"{folder}/resources/" if of_fmi_3 else (folder / "resources").as_uri()
    words = [
        version, str(library), description.instantiationToken if of_fmi_3 else description.guid,
        resources, repr(tolerance or float(experiment.tolerance)), repr(stop / STEPS), str(STEPS), str(count),
        *(str(v.valueReference) for v in shown),
    ]  # fmt: skip
    run = subprocess.run([*RUNNERS[platform], str(program), *words], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"{fmu.name} on {platform} ends with {run.returncode}: {run.stderr.strip()[-300:]}")
    return np.array([[float(word) for word in line.split()] for line in run.stdout.splitlines()])


def _scalars(description: Any, kind: str) -> int:
    """How many states or event indicators a model has."""
    if description.fmiVersion == "2.0":
        return len(description.derivatives) if kind == "state" else int(description.numberOfEventIndicators)
    if kind == "state":
        variables = [unknown.variable for unknown in description.derivatives]
    else:
        variables = [unknown.variable for unknown in description.eventIndicators]
    return sum(int(np.prod([int(d.start) for d in variable.dimensions])) for variable in variables)


def difference(
    fmu: pathlib.Path, programs: dict[str, pathlib.Path], folder: pathlib.Path, interface: str = INTERFACES[0]
) -> float:
    """Largest difference of an output on the two processors, relative to its range."""
    one, other = (
        outputs(programs[platform], platform, fmu, folder / platform, interface=interface) for platform in RUNNERS
    )
    scale = np.maximum(np.ptp(one, axis=0), np.maximum(1e-3 * np.abs(one).max(axis=0), 1e-6))
    if one.shape != other.shape or not np.isfinite(one).all():
        raise RuntimeError(f"{fmu.name}: {one.shape} and {other.shape} values, or some that are no numbers")
    return float((np.abs(one - other) / scale).max())


def measure(name: str, programs: dict[str, pathlib.Path], kinds: Sequence[str]) -> dict[str, float | str]:
    """Differences of a gallery model by version of FMI and kind of equations, or why there is none."""
    from mbfmu import sources

    found: dict[str, float | str] = {}
    for fmi in (2, 3):
        for kind in kinds:
            with tempfile.TemporaryDirectory() as place:
                folder = pathlib.Path(place)
                path = build(
                    sources.load(name, ()), folder / f"{name}.fmu", fmi=fmi, equations=kind, platforms=list(RUNNERS)
                )
                for interface in INTERFACES:
                    key = f"FMI {fmi}.0, {kind}, {interface}"
                    try:
                        found[key] = difference(path, programs, folder, interface)
                    except RuntimeError as error:
                        found[key] = str(error)
    return found


def table(results: dict[str, dict[str, float | str]]) -> str:
    """The rows of docs/fmu.md, and below them what does not run."""
    kinds = sorted({kind for row in results.values() for kind in row})
    lines = ["| | largest difference | models |", "|---|---|---|"]
    for kind in kinds:
        cells = {name: row[kind] for name, row in sorted(results.items()) if kind in row}
        figures = {name: cell for name, cell in cells.items() if not isinstance(cell, str)}
        worst = max(figures, key=lambda name: figures[name])
        where = f" (`{worst}`)" if figures[worst] else ""
        lines.append(f"| {kind} | {figures[worst]:.0e}{where} | {len(figures)} of {len(cells)} |")
        lines += [f"{name}: {cell}" for name, cell in cells.items() if isinstance(cell, str)]
    return "\n".join(lines)


def main(*arguments: str) -> None:
    """Measure, and print the table."""
    from mbfmu.modeling.registry import assemblies

    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path("build/processors.json"))
    parser.add_argument("--equations", default="interpreted,compiled")
    given = parser.parse_args(arguments)
    if reason := missing():
        raise SystemExit(reason)
    results = json.loads(given.json.read_text(encoding="utf-8")) if given.json.is_file() else {}
    with tempfile.TemporaryDirectory() as folder:
        programs = {platform: host(pathlib.Path(folder), platform) for platform in RUNNERS}
        for name in given.names or sorted(assemblies()):
            row = measure(name, programs, given.equations.split(","))
            results[name] = {**results.get(name, {}), **row}
            print(name, row, file=sys.stderr, flush=True)
            given.json.parent.mkdir(parents=True, exist_ok=True)
            given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
