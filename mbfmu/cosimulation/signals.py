"""Inputs of a system from outside, over time: `element.variable` by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mbfmu.cosimulation.structure import SystemStructure
from mbfmu.errors import ModelError
from mbfmu.fmi.foreign import scalar_variable
from mbfmu.fmi.variables import Scalar
from mbfmu.runtime.drive import Drive
from mbfmu.runtime.inputs import check_interpolation, drive_of


@dataclasses.dataclass
class DrivenInputs:
    """What drives inputs that are not connected: those that go along lines, and those that jump, by element."""

    continuous: Mapping[str, list[Scalar]]
    held: Mapping[str, list[Scalar]]
    drive: Drive | None = None
    #: Columns of the drive, parallel to the scalars.
    columns: Mapping[str, list[int]] = dataclasses.field(default_factory=dict)
    held_columns: Mapping[str, list[int]] = dataclasses.field(default_factory=dict)

    @classmethod
    def none(cls, elements: Iterable[str]) -> DrivenInputs:
        """Nothing is driven."""
        empty: dict[str, list[Scalar]] = {name: [] for name in elements}
        return cls(empty, empty)

    @classmethod
    def of(
        cls, structure: SystemStructure, given: Any, interpolation: Any, start_time: float, stop_time: float
    ) -> DrivenInputs:
        """Read inputs over time (see `mbfmu.runtime.inputs.InputsLike`); None gives none.

        Raises:
            ModelError: A name is no input, or follows an output already; what `drive_of` raises.
        """
        check_interpolation(structure.name, interpolation)
        if given is None:
            return cls.none(structure.files)
        targets = {
            f"{element}.{name}": [(element, scalars[0])]
            for element, interface in structure.interfaces.items()
            for name, scalars in interface.items()
            if len(scalars) == 1 and scalars[0].variable.causality == "input" and scalars[0].name == name
        }
        for alias, paths in structure.inputs.items():
            targets.setdefault(alias, [target for path in paths for target in targets.get(path, [])])
        times = np.linspace(start_time, stop_time, 501)
        variables = [
            dataclasses.replace(scalar_variable(known[0][1]), name=path, element=None)
            for path, known in targets.items()
            if known
        ]
        drive = drive_of(structure.name, variables, given, times, interpolation).snapped(times[[0, -1]])
        followed = {f"{c.end_element}.{end.name}": c.start for c, _, end in structure.links()}
        found: list[dict[str, list[Any]]] = [{name: [] for name in structure.files} for _ in range(4)]
        for column, path in enumerate(drive.names):
            for element, scalar in targets[path]:
                if f"{element}.{scalar.name}" in followed:
                    start = followed[f"{element}.{scalar.name}"]
                    raise ModelError(f"{path}: follows {start} already; leave it out of the inputs")
                followed[f"{element}.{scalar.name}"] = path
                jumps = not scalar.continuous
                found[int(jumps)][element].append(scalar)
                found[2 + int(jumps)][element].append(column)
        return cls(found[0], found[1], drive, found[2], found[3])

    def now(self, element: str, time: float) -> list[float]:
        """Values of the continuous inputs of an element from a time [s] on."""
        if self.drive is None:
            return []
        values: list[float] = self.drive.lines(time, time)[0][self.columns[element]].tolist()
        return values

    def along(self, element: str, begin: float, size: float, lines: bool) -> tuple[np.ndarray, np.ndarray]:
        """Where continuous inputs begin in a step, and their changes over it; the mean where they are held."""
        if self.drive is None:
            return np.zeros(0), np.zeros(0)
        columns = self.columns[element]
        first = self.drive.lines(begin, begin)[0][columns]
        last = self.drive.lines(begin + size, begin + size, until=True)[0][columns]
        return (first, last - first) if lines else ((first + last) / 2, np.zeros(len(columns)))

    def jumps(self, element: str, time: float) -> list[float]:
        """Values of the inputs of an element that jump, from a time [s] on."""
        if self.drive is None:
            return []
        values: list[float] = self.drive.lines(time, time)[0][self.held_columns[element]].tolist()
        return values

    def next_knot(self, time: float, nearest: float) -> float:
        """The first instant at which lines begin or values jump that is later than a time by more than `nearest`, s."""
        if self.drive is None:
            return float("inf")
        later = self.drive.knots[self.drive.knots > time + nearest]
        return float(later[0]) if later.size else float("inf")
