"""What the runs of a sweep have in common, in a form that another process understands with mbfmu alone."""

from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import tempfile
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.errors import ModelError
from mbfmu.fmi.foreign import Foreign, ForeignBatch
from mbfmu.runtime.batch import Batch, Runs
from mbfmu.runtime.drive import Drive
from mbfmu.runtime.host import host_library
from mbfmu.runtime.library import Model, RuntimeLibraryError
from mbfmu.runtime.run import number_of, place
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.studies import reductions

#: Columns of some runs: arrays [runs] or [runs, times] by name; `message` is text, empty where a run succeeded.
Columns = dict[str, np.ndarray]

#: Recorded rows that a thread holds at a time have at most so many bytes.
BYTES = 8_000_000

_opening = threading.Lock()


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """A model, what is varied and set in its runs, and what is kept of them.

    Args:
        model: Its name.
        content: The model itself: the descriptor that our runtime reads, or an FMU.
        foreign: True for an FMU, which FMPy runs.
        varied, fixed: Variables that are set before each run: those that differ from run to run, and those that do not,
            with values.
        recorded: Variables that the reductions look at.
        kept: What is kept of them, as `reductions.parse` reads it.
        times: Recorded instants, s.
        drive: Inputs over time.
        tolerance: The model's own where None.
        functions: What may be compiled of our own model, in place of the descriptor's tapes.
    """

    model: str
    content: bytes
    foreign: bool
    varied: tuple[ScalarVariable, ...]
    fixed: tuple[tuple[ScalarVariable, float], ...]
    recorded: tuple[ScalarVariable, ...]
    kept: tuple[str, ...]
    times: np.ndarray
    drive: Drive | None
    tolerance: float | None
    functions: Mapping[str, ca.Function] = dataclasses.field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @property
    def identity(self) -> str:
        """A number that tells jobs apart."""
        found = hashlib.sha256(self.content)
        set_to = [(variable.name, value) for variable, value in self.fixed]
        names = [[variable.name for variable in some] for some in (self.varied, self.recorded)]
        found.update(repr((set_to, names, self.kept, self.tolerance)).encode() + self.times.tobytes())
        if self.drive is not None:
            for array in (self.drive.knots, self.drive.values, self.drive.slopes, self.drive.inputs):
                found.update(array.tobytes())
        return found.hexdigest()

    @property
    def batch(self) -> Batch | ForeignBatch:
        """What makes the runs, in this process; made once.

        Raises:
            ModelError: The model comes from another version of mbfmu.
        """
        with _opening:
            if "_batch" not in self.__dict__:
                self.__dict__["_batch"] = self._opened()
            return self.__dict__["_batch"]

    def _opened(self) -> Batch | ForeignBatch:
        settings = [*self.varied, *(variable for variable, _ in self.fixed)]
        if self.foreign:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model.fmu"  # its own name is anything
                path.write_bytes(self.content)
                fmu = Foreign(path)
            names, outputs = [v.name for v in settings], [v.name for v in self.recorded]
            return ForeignBatch(fmu, names, self.times, outputs, self.drive, self.tolerance)
        try:
            model = Model(host_library(), self.content, self.functions)
        except RuntimeLibraryError as error:
            raise ModelError(f"{self.model}: {error}; install the same version of mbfmu on all machines") from None
        places = np.array([place(v) for v in self.recorded], dtype=np.int32)
        return Batch(model, settings, self.times, places, self.drive, self.tolerance)

    def run(self, values: np.ndarray) -> Runs:
        """Make runs with the varied values [runs, names]; those out of bounds fail with a message."""
        refused = {}
        for column, variable in enumerate(self.varied):
            low = -np.inf if variable.min is None else variable.min
            high = np.inf if variable.max is None else variable.max
            for row in np.flatnonzero(~((values[:, column] >= low) & (values[:, column] <= high))):
                try:
                    number_of(variable, float(values[row, column]))
                except ModelError as error:
                    refused[int(row)] = str(error)
        good = np.array([row for row in range(values.shape[0]) if row not in refused], dtype=int)
        fixed = np.array([value for _, value in self.fixed])
        found = self.batch.run(np.hstack([values[good], np.tile(fixed, (good.size, 1))]))
        if not refused:
            return found
        rows = np.full((values.shape[0], *found.rows.shape[1:]), np.nan)
        rows[good] = found.rows
        texts = dict(zip(good.tolist(), found.messages, strict=True))
        return Runs(rows, tuple(refused.get(i) or texts.get(i, "") for i in range(values.shape[0])))

    def columns(self, values: np.ndarray) -> Columns:
        """What is kept of runs with the varied values [runs, names], and their messages."""
        length = max(1, BYTES // max(1, self.batch.bytes_per_run))
        some = [self._columns(values[at : at + length]) for at in range(0, max(1, values.shape[0]), length)]
        return {name: np.concatenate([one[name] for one in some]) for name in some[0]}

    def _columns(self, values: np.ndarray) -> Columns:
        found, columns = self.run(values), {}
        names = [variable.name for variable in self.recorded]
        bad = np.array([bool(text) for text in found.messages], dtype=bool)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # rows of NaN
            for text in self.kept:
                one = reductions.parse(text)
                rows = found.rows[:, :, names.index(one.name)]
                if one.reduce is None:
                    columns[text] = rows.copy()
                else:
                    columns[text] = np.where(bad, np.nan, one.reduce(self.times, rows))
        columns["message"] = texts(found.messages)
        return columns

    def seconds_per_run(self, values: np.ndarray) -> float:
        """How long a run with the values [1, names] takes, s."""
        self.run(values)
        begin = time.perf_counter()
        self.run(values)
        return time.perf_counter() - begin


def failed(kept: Sequence[str], times: np.ndarray, count: int, message: str) -> Columns:
    """Columns of failed runs: NaN and their message."""
    columns = {}
    for text in kept:
        whole = reductions.parse(text).reduce is None
        columns[text] = np.full((count, times.size) if whole else count, np.nan)
    return {**columns, "message": texts([message] * count)}


def texts(messages: Sequence[str]) -> np.ndarray:
    """Messages as an array of objects: text of a fixed width would make all runs pay for the longest."""
    found = np.empty(len(messages), dtype=object)
    found[:] = messages
    return found


def run_rows(jobs: Sequence[Job | str], which: np.ndarray, values: np.ndarray, empty: Columns) -> Columns:
    """Make the runs of a part; their job is a number of `which` [runs]; a job that is text fails with it.

    `empty` has the columns of no run.
    """
    found: Columns = {}
    for number in np.unique(which):
        rows, job = np.flatnonzero(which == number), jobs[number]
        if isinstance(job, str):
            some = {name: np.full((rows.size, *column.shape[1:]), np.nan) for name, column in empty.items()}
            some["message"] = texts([job] * rows.size)
        else:
            some = job.columns(values[rows])
        if rows.size == which.size:
            return some
        for name, column in some.items():
            if name not in found:
                found[name] = np.empty((which.size, *column.shape[1:]), dtype=column.dtype)
            found[name][rows] = column
    return found
