"""What a co-simulation gives back: time series, and an account of the coupling."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mbfmu.cosimulation.structure import SystemStructure
from mbfmu.errors import SimulationError
from mbfmu.fmi.slave import Slave, Values
from mbfmu.fmi.variables import KINDS, Scalar, unit_of
from mbfmu.runtime.result import Result


@dataclasses.dataclass
class Account:
    """An account of a co-simulation."""

    #: Communication steps that were kept, those that were taken back, and calls of doStep in all.
    steps: int = 0
    rejected: int = 0
    calls: int = 0
    #: The shortest and the longest step that was kept, s.
    shortest: float = float("inf")
    longest: float = 0.0
    #: What a reader has to know: which FMUs could not do what was wanted, and what was done instead.
    notes: list[str] = dataclasses.field(default_factory=list)

    def kept(self, size: float) -> None:
        """Count a step [s] that was kept."""
        self.steps += 1
        self.shortest, self.longest = min(self.shortest, size), max(self.longest, size)

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def __str__(self) -> str:
        lengths = f", {self.shortest:.3g} to {self.longest:.3g} s long" if self.steps else ""
        return f"{self.steps} communication steps{lengths}, {self.rejected} taken back; {self.calls} calls of doStep"


class CoupledResult(Result):
    """Time series of a system: `result["engine.axis1.tau"]`; `account` says how it was stepped."""

    account: Account


class Recorder:
    """Values of the recorded variables at communication points."""

    def __init__(self, structure: SystemStructure, slaves: Mapping[str, Slave], outputs: Iterable[str] | None) -> None:
        if outputs is None:
            outputs = [
                f"{name}.{v.name}"
                for name, description in structure.descriptions.items()
                for v in description.modelVariables
                if v.causality == "output" and KINDS.get(v.type, "String") != "String"
            ]
        self.name = structure.name
        self._units: dict[str, str] = {}
        self._places: dict[str, tuple[str, int]] = {}
        self._arrays: dict[str, np.ndarray] = {}
        groups: dict[str, list[Scalar]] = {name: [] for name in slaves}
        for path in outputs:
            element, _, name = path.partition(".")
            for scalar in structure.scalars(element, name):
                column = f"{element}.{scalar.name}"
                if KINDS.get(scalar.variable.type, "String") == "String":
                    raise SimulationError(f"{path}: is of type {scalar.variable.type}; only numbers are recorded")
                self._places[column] = (element, len(groups[element]))
                groups[element].append(scalar)
                unit = unit_of(scalar.variable)
                if unit:
                    self._units[column] = unit
                array = scalar.element and scalar.element.array
                if array and f"{element}.{array.name}" not in self._arrays:
                    names = [f"{element}.{one.name}" for one in array.elements]
                    self._arrays[f"{element}.{array.name}"] = np.array(names).reshape(array.shape)
        self._outputs = [
            column for column, (element, i) in self._places.items() if groups[element][i].variable.causality == "output"
        ]
        self._groups = {name: (slaves[name], Values(scalars)) for name, scalars in groups.items()}
        self._times: dict[str, list[float]] = {name: [] for name in slaves}
        self._rows: dict[str, list[list[Any]]] = {name: [] for name in slaves}

    def record(self, time: float, names: Iterable[str], agreed: Mapping[tuple[str, str], float]) -> None:
        """Append the values that some elements have now, at a time [s].

        `agreed` are those on which FMUs agree, by element and name.
        """
        for name in names:
            slave, values = self._groups[name]
            row = slave.get(values)
            if agreed:
                row = [agreed.get((name, one.name), value) for one, value in zip(values.scalars, row, strict=True)]
            self._times[name].append(time)
            self._rows[name].append(row)

    def result(self, ended: str | None, account: Account) -> CoupledResult:
        """Time series of everything recorded, at all instants at which an element stood, up to where all have come.

        Between the points of an element with longer steps, what is continuous goes along lines, and the rest is held.
        """
        until = min(times[-1] for times in self._times.values())
        times = functools.reduce(np.union1d, [np.array(times) for times in self._times.values()])
        times = times[times <= until]
        tables = {name: self._table(name, times) for name in self._groups}
        series = {name: tables[element][:, i].copy() for name, (element, i) in self._places.items()}
        result = CoupledResult(self.name, times, series, self._units, self._outputs, ended, self._arrays)
        result.account = account
        return result

    def _table(self, name: str, times: np.ndarray) -> np.ndarray:
        """Values of an element at some times [n], [n, values]."""
        _, values = self._groups[name]
        own = np.array(self._times[name])
        table = np.array(self._rows[name], dtype=float).reshape(own.size, len(values))
        if np.array_equal(own[own <= times[-1]], times):
            return table[: times.size]
        before = table[np.searchsorted(own, times, side="right") - 1]
        columns = [
            np.interp(times, own, table[:, i]) if scalar.continuous else before[:, i]
            for i, scalar in enumerate(values.scalars)
        ]
        return np.array(columns).reshape(len(values), times.size).T
