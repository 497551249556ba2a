"""What a published problem is: a quantity with its reference, and how it is computed at a tolerance."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from mbfmu.modeling import Assembly

Value = float | Sequence[float]
Origin = Literal["published", "closed form", "computed"]


@dataclasses.dataclass(frozen=True)
class Solution:
    """What one computation gives for all problems that share it.

    Attributes:
        values: A number or a list of numbers for each problem, by its id.
        seconds: CPU time of the run, without the derivation of the equations.
        evaluations: How often the right-hand side was evaluated; None where nothing is integrated.
    """

    values: Mapping[str, Value]
    seconds: float
    evaluations: int | None = None


@dataclasses.dataclass(frozen=True)
class Problem:
    """A quantity that has been published, or that follows from equations which share nothing with ours.

    Attributes:
        id: Short, stable name: topic and quantity, `andrews-beta`.
        title: The problem; those with the same title are one section of the report.
        source: Where problem and reference are from, so that a reader finds them.
        quantity, unit: What is compared; the unit is `1` for numbers.
        reference: A number, or a list of numbers in one unit.
        solve: Function of a tolerance that gives the `Solution`; problems of one model name the same function, which is
            called once for each tolerance.
        error: The greatest difference between ours and the reference that passes, in the unit.
        origin: `published`: the digits of the source. `closed form`: a formula of the source. `computed`: by equations
            in the module of the problem, written by hand and solved by other means than ours.
        tolerance: Of the run that has to pass.
        tolerances: Of the runs whose errors and costs are shown, that of the run that has to pass among them.
        model: Makes the assembly, for its picture.
    """

    id: str
    title: str
    source: str
    quantity: str
    unit: str
    reference: Value
    solve: Callable[[float], Solution] = dataclasses.field(repr=False)
    error: float
    origin: Origin = "published"
    tolerance: float = 1e-10
    tolerances: tuple[float, ...] = (1e-6, 1e-8, 1e-10)
    model: Callable[[], Assembly] | None = dataclasses.field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.tolerance not in self.tolerances:
            raise ValueError(f"{self.id}: the run at {self.tolerance:g} is not among {self.tolerances}")

    def solution(self, tolerance: float) -> Solution:
        """Result of the run at a tolerance, made once for all problems that share it."""
        return _solved(self.solve, tolerance)

    def ours(self, tolerance: float) -> Value:
        """Our value at a tolerance: a number, or a list of them."""
        return self.solution(tolerance).values[self.id]

    def difference(self, tolerance: float) -> float:
        """Greatest difference between our value at a tolerance and the reference, in the unit; NaN where ours is."""
        ours, reference = np.asarray(self.ours(tolerance), dtype=float), np.asarray(self.reference, dtype=float)
        if ours.shape != reference.shape:
            raise ValueError(f"{self.id}: ours has the shape {ours.shape}, the reference {reference.shape}")
        return float(np.abs(ours - reference).max())

    @property
    def passes(self) -> bool:
        """True where the run that has to pass does."""
        return self.difference(self.tolerance) <= self.error


@functools.cache
def _solved(solve: Callable[[float], Solution], tolerance: float) -> Solution:
    return solve(tolerance)
