"""The command line: which problems are solved, and where the report goes."""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console

from mbfmu.errors import MbfmuError
from problems import report
from problems.problem import Problem
from problems.topics import chosen

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "build" / "validation"


def main(arguments: Sequence[str] | None = None) -> int:
    """Solve, write problems.json, the page and the PDF, and tell what does not agree; 1 where something does not."""
    parser = argparse.ArgumentParser(prog="python -m problems", description="Published problems, solved.")
    parser.add_argument("ids", nargs="*", metavar="ID", help="ids of problems, or topics (modules); default: all")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, help="where it is written")
    parser.add_argument("--no-pictures", action="store_true", help="leave out pictures and PDF, which take Chromium")
    parser.add_argument("--docs", action="store_true", help="write docs/validation.md and its pictures, too")
    parser.add_argument("--list", action="store_true", help="print ids and what they are, and solve nothing")
    options = parser.parse_args(arguments)
    try:
        wanted = chosen(options.ids)
    except KeyError as unknown:
        parser.error(f"no problem and no topic {unknown}; --list prints them")
    console = Console(soft_wrap=True, highlight=False)
    if options.list:
        for topic, listed in wanted.items():
            for problem in listed:
                console.print(f"{problem.id} ({topic}): {problem.title}, {problem.quantity}")
        return 0

    found: list[dict[str, Any]] = []
    with concurrent.futures.ProcessPoolExecutor(min(os.cpu_count() or 1, max(len(wanted), 1))) as pool:
        tasks = [pool.submit(solved, ids) for listed in wanted.values() for ids in _sharing(listed)]
        with console.status("solving") as status:
            for i, _ in enumerate(concurrent.futures.as_completed(tasks), 1):
                status.update(f"{i} of {len(tasks)} models are solved")
        for task in tasks:
            found += task.result()
    options.folder.mkdir(parents=True, exist_ok=True)
    data = options.folder / "problems.json"
    data.write_text(json.dumps(found, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    console.print(data)
    for written in report.write(found, options.folder, pictures=not options.no_pictures, say=console.print):
        console.print(written)
    if options.docs:
        console.print(report.write_docs(found, options.folder / "pictures", FOLDER.parents[1] / "docs"))
    failed = [entry for entry in found if not entry["passes"]]
    for entry in failed:
        why = entry["failure"] or f"differs by {entry['difference']:.2g} {entry['unit']}, not {entry['error']:.2g}"
        console.print(f"{entry['id']}: {why}")
    console.print(f"{len(found) - len(failed)} of {len(found)} agree with their references")
    return 1 if failed else 0


def _sharing(listed: Sequence[Problem]) -> list[list[str]]:
    """Ids of problems, those together that are solved by the same runs."""
    groups: dict[Any, list[str]] = {}
    for problem in listed:
        groups.setdefault(problem.solve, []).append(problem.id)
    return list(groups.values())


def solved(ids: Sequence[str]) -> list[dict[str, Any]]:
    """Entries of problems of one topic, ready for JSON; one that fails says why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of start values that a source leaves open
        return [entry(problem) for listed in chosen(ids).values() for problem in listed]


def entry(problem: Problem) -> dict[str, Any]:
    """What problems.json says of a problem."""
    found: dict[str, Any] = {
        "id": problem.id,
        "title": problem.title,
        "source": problem.source,
        "quantity": problem.quantity,
        "unit": problem.unit,
        "reference": _plain(problem.reference),
        "origin": problem.origin,
        "ours": None,
        "tolerance": problem.tolerance,
        "difference": None,
        "error": problem.error,
        "passes": False,
        "failure": None,
        "runs": [],
    }
    try:
        for tolerance in problem.tolerances:
            solution = problem.solution(tolerance)
            run = {
                "tolerance": tolerance,
                "ours": _plain(problem.ours(tolerance)),
                "difference": _plain(problem.difference(tolerance)),
                "evaluations": solution.evaluations,
                "seconds": solution.seconds,
            }
            found["runs"].append(run)
            if tolerance == problem.tolerance:
                found |= {"ours": run["ours"], "difference": run["difference"], "passes": problem.passes}
    except MbfmuError as error:
        found["failure"] = str(error)
    return found


def _plain(value: Any) -> Any:
    """Numbers and nested lists of numbers as JSON has them; what is not finite is null there."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(one) for one in value]
    return float(value) if math.isfinite(value) else None
