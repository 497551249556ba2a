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
from typing import Any

from rich.console import Console

from benchmarks import building, do_step, figure, forward_dynamics, loops, report, work_precision

SECTIONS = ("do_step", "work_precision", "forward_dynamics", "loops", "building")
ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ("mbfmu", "casadi", "fmpy", "pin", "mujoco", "exudyn", "scipy", "numpy")


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
    return 0


def measured(section: str, console: Console) -> Any:
    """Return the results of one section."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as name, console.status(section) as status:
        folder = pathlib.Path(name)
        if section == "do_step":
            return do_step.measure(folder)
        if section == "work_precision":
            return [work_precision.measure(mechanism, folder) for mechanism in work_precision.MECHANISMS]
        rows: list[Any] = []
        module: Any = {"forward_dynamics": forward_dynamics, "loops": loops, "building": building}[section]
        for row in module.measure(folder):
            rows.append(row)
            status.update(f"{section}: {row.get('family', 'n')} {row['n']} is done")
        if section != "forward_dynamics":
            return rows
        return {"sizes": rows, "call_overhead": forward_dynamics.python_call_overhead()}


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
