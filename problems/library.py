"""Examples and tests of the Modelica Standard Library against trajectories that its regression results give for them.

The trajectories are not part of this repository. They are read from ../shared/reference, or from the folder that the
environment variable MBFMU_REFERENCE names: a folder for each case, with its assembly and its trajectory. What is
compared is the greatest error of all signals of a case, each relative to its range. The trajectories themselves, most
of them of Dymola with DASSL at a tolerance of 1e-6, are right to 1e-5 to 1e-3.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import os
import pathlib
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np

from mbfmu import sources
from mbfmu.dynamics import System
from problems.motion import motion
from problems.problem import Problem, Solution

FOLDER = pathlib.Path(
    os.environ.get("MBFMU_REFERENCE") or pathlib.Path(__file__).resolve().parents[2] / "shared" / "reference"
)
#: Names of all cases that are there.
CASES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/model.toml")))
#: What the report says where there are none.
ABSENT = "" if CASES else "no reference trajectories: neither ../shared/reference nor MBFMU_REFERENCE has them"

TITLE = "Modelica Standard Library"
SOURCE = "Modelica Standard Library, 4.0.0-rc.1 and 4.1.0: models of its examples and tests, their regression results"


@dataclasses.dataclass(frozen=True)
class Case:
    """One reference case: `columns` by variable name, parallel to `times` [s]; `rel` is the error allowed."""

    source: str
    times: np.ndarray
    columns: dict[str, np.ndarray]
    rel: float
    tolerance: float

    def errors(self, motion: Mapping[str, np.ndarray]) -> dict[str, float]:
        """Greatest error of each signal, relative to the range of the reference."""
        found = {}
        for name, reference in self.columns.items():
            spread = float(np.ptp(reference))
            scale = spread if spread > 1e-6 else max(float(np.abs(reference).max()), 1e-3)
            found[name] = float(np.abs(motion[name] * self.sign(name, motion) - reference).max()) / scale
        return found

    def too_large(self, motion: Mapping[str, np.ndarray]) -> dict[str, float]:
        """Those errors that are not allowed."""
        return {name: error for name, error in self.errors(motion).items() if not error <= self.rel}

    def sign(self, name: str, motion: Mapping[str, np.ndarray]) -> np.ndarray | float:
        """Q and -Q are the same orientation: -1 where ours is on the other side than the reference's."""
        quaternion = re.fullmatch(r"(.*\.Q)\[[1-4]\]", name)
        parts = [f"{quaternion[1]}[{i}]" for i in (1, 2, 3, 4)] if quaternion else []
        if not parts or not all(part in self.columns for part in parts):
            return 1.0
        return np.where(sum(motion[part] * self.columns[part] for part in parts) < 0, -1.0, 1.0)


def read(folder: pathlib.Path) -> Case:
    """Read a case; where times repeat (an event), the first row counts."""
    spec: dict[str, Any] = tomllib.loads((folder / "model.toml").read_text("utf-8"))
    data = next(folder / name for name in ("trajectory.csv", "figures.csv") if (folder / name).exists())
    with data.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    table = table[np.concatenate(([True], np.diff(np.maximum.accumulate(table[:, 0])) > 0))]
    compare = spec.get("compare", {})
    table = table[table[:, 0] <= compare.get("until", np.inf)]
    return Case(
        source=spec.get("assembly", str(folder / "model.toml")),
        times=table[:, 0],
        columns={column: table[:, i] for i, column in enumerate(header) if i},
        rel=compare.get("rel", 1e-3),
        tolerance=min(1e-8, 0.1 * spec["experiment"].get("tolerance", 1e-6)),
    )


@functools.cache
def _case(name: str) -> Case:
    return read(FOLDER / name)


@functools.lru_cache(maxsize=1)  # its runs follow each other
def _system(name: str) -> System:
    return System.of(sources.load(_case(name).source))


def solve(name: str, tolerance: float) -> Solution:
    """Greatest error of a case."""
    case, system = _case(name), _system(name)
    found = motion(system, list(case.columns), case.times, tolerance)
    return Solution({f"library-{name}": max(case.errors(found.values).values())}, found.seconds, found.evaluations)


def _problem(name: str) -> Problem:
    case = _case(name)
    return Problem(
        f"library-{name}", TITLE, SOURCE, f"{name}: greatest error of {len(case.columns)} signals, relative to range",
        "1", 0.0, functools.partial(solve, name), case.rel, tolerance=case.tolerance,
        tolerances=(1e-4, 1e-6, case.tolerance),
    )  # fmt: skip


PROBLEMS = tuple(_problem(name) for name in CASES)
