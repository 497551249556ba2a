"""The command line: which sections are measured, and where the results go."""

from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import pathlib
import platform
import tempfile
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.status import Status

from benchmarks import figure, report

SECTIONS = (
    "do_step", "fixed_steps", "work_precision", "forward_dynamics", "loops", "contacts", "flexible", "batches",
    "building", "systems",
)  # fmt: skip
ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ("mbfmu", "casadi", "fmpy", "pin", "mujoco", "exudyn", "diffrax", "jax", "scipy", "numpy")


def main() -> int:
    """Run the sections, print their tables, save the results, and draw the figure where there is all of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ratios of mbfmu to its peers.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"some of {', '.join(SECTIONS)}; default: all")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build" / "benchmarks.json")
    parser.add_argument("--figure", type=pathlib.Path, default=ROOT / "docs" / "images" / "benchmarks.png")
    arguments = parser.parse_args()
    unknown = set(arguments.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")

    console = Console()
    console.width = max(console.width, 110)  # room for the tables where the output is a file
    results: dict[str, Any] = {"machine": machine()}
    for section in arguments.sections or SECTIONS:
        results[section] = measured(section, console)
    report.show(results, console)
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    arguments.results.write_text(json.dumps(results, indent=1), encoding="utf-8")
    console.print(f"Results: {arguments.results}")
    if {"forward_dynamics", "work_precision"} <= results.keys():
        figure.draw(results, arguments.figure)
        console.print(f"Figure: {arguments.figure}")
    if "systems" in results:
        _module("systems").draw(results["systems"], arguments.figure.with_name("coupled_cost.png"))
        console.print(f"Figure: {arguments.figure.with_name('coupled_cost.png')}")
    return 0


def measured(section: str, console: Console) -> Any:
    """Return the results of one section."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as name, console.status(section) as status:
        folder, module = pathlib.Path(name), _module(section)
        if section == "do_step":
            return module.measure(folder)
        if section == "batches":
            return _shown(section, module.measure(), status)
        if section in ("fixed_steps", "systems", "building", "contacts", "flexible"):
            return _shown(section, module.measure(folder), status)
        status.update("compiling Pinocchio's algorithms: some minutes, once")
        program = _module("peers.pinocchio").program(folder)
        status.update(section)
        if section == "loops":
            return _shown(section, module.measure(folder, program=program), status)
        if section == "work_precision":
            runs = (module.measure(m, folder, program=program) for m in module.MECHANISMS)
            return _shown(section, runs, status)
        return {
            "sizes": _shown(section, module.measure(folder, program=program), status),
            "trees": _shown(section, module.measure_trees(folder, program), status),
            "call_overhead": module.python_call_overhead(),
        }


def _module(name: str) -> Any:
    """A module of the benchmarks, which may need tools that others do without."""
    return importlib.import_module(f"benchmarks.{name}")


def _shown(section: str, rows: Iterable[dict[str, Any]], status: Status) -> list[dict[str, Any]]:
    """Return the rows; the status says which are done."""
    done = []
    for row in rows:
        done.append(row)
        name = row.get("title") or row.get("family", "n =")
        status.update(f"{section}: {name} {'' if row.get('title') else row['n']} is done")
    return done


def machine() -> dict[str, Any]:
    """What the results hold for."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "packages": {package: _version(package) for package in PACKAGES},
    }


def _version(package: str) -> str | None:
    """What is installed of a package; None where it is not."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
