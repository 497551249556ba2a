"""The command line: which sections are measured, and where the results go."""

from __future__ import annotations

import argparse
import datetime
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

from benchmarks import batches, building, do_step, figure, forward_dynamics, loops, report, systems, work_precision
from benchmarks.peers import pinocchio

SECTIONS = ("do_step", "work_precision", "forward_dynamics", "loops", "batches", "building", "systems")
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
        systems.draw(results["systems"], arguments.figure.with_name("coupled_cost.png"))
        console.print(f"Figure: {arguments.figure.with_name('coupled_cost.png')}")
    return 0


def measured(section: str, console: Console) -> Any:
    """Return the results of one section."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as name, console.status(section) as status:
        folder = pathlib.Path(name)
        if section == "do_step":
            return do_step.measure(folder)
        if section == "batches":
            return _shown(section, batches.measure(), status)
        if section == "systems":
            return _shown(section, systems.measure(folder), status)
        if section == "building":
            return _shown(section, building.measure(folder), status)
        status.update("compiling Pinocchio's algorithms: some minutes, once")
        program = pinocchio.program(folder)
        status.update(section)
        if section == "loops":
            return _shown(section, loops.measure(folder, program=program), status)
        if section == "work_precision":
            runs = (work_precision.measure(m, folder, program=program) for m in work_precision.MECHANISMS)
            return _shown(section, runs, status)
        return {
            "sizes": _shown(section, forward_dynamics.measure(folder, program=program), status),
            "trees": _shown(section, forward_dynamics.measure_trees(folder, program), status),
            "call_overhead": forward_dynamics.python_call_overhead(),
        }


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
        "packages": {package: importlib.metadata.version(package) for package in PACKAGES},
    }
