"""What an assembly says of one input of its FMU."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.modeling.connectors import Connector, Signal
from mbfmu.modeling.declarations import checked_numbers, truths_as_numbers
from mbfmu.modeling.types import Real, Type
from mbfmu.modeling.units import check as check_unit


@dataclasses.dataclass(frozen=True)
class AssemblyInput:
    """What `Assembly.input` was told of one input of the FMU.

    `target` is the signal connector that it feeds, of some arrays several. Numbers are in `unit`: that of the signal
    where it is None. A list has one for each element of an array.
    """

    target: Connector | tuple[Connector, ...]
    start: Any = 0.0
    min: float | Sequence[float] | None = None
    max: float | Sequence[float] | None = None
    unit: str | None = None

    @property
    def type(self) -> Type:
        """Type of the input: the signal's, in the unit that it is given in."""
        port = (self.target[0] if isinstance(self.target, tuple) else self.target).port
        assert isinstance(port, Signal)
        if self.unit is None or self.unit == port.type.unit:
            return port.type
        quantity = port.type.quantity if port.type.unit else None
        return dataclasses.replace(Real, unit=self.unit, quantity=quantity)


def check_input(name: str, given: AssemblyInput, size: int) -> None:
    """Refuse numbers of another size, bounds without room for the start value, and a unit that does not fit."""
    first = given.target[0] if isinstance(given.target, tuple) else given.target
    assert isinstance(first.port, Signal)
    own, found = first.port.type, {}
    for attribute, what in (("start", "start value"), ("min", "min"), ("max", "max")):
        value = getattr(given, attribute)
        if value is None:
            continue
        is_truth = own.base == "Boolean" and attribute == "start"
        checked_numbers(truths_as_numbers(value) if is_truth else value, f"input {name}: its {what} {value!r}")
        if isinstance(value, list | tuple | np.ndarray) and (
            len(value) != size or any(isinstance(part, list | tuple | np.ndarray) for part in value)
        ):
            raise ModelError(f"input {name}: its {what} {value!r} has {len(value)} numbers, expected {size}")
        found[attribute] = np.asarray(value, dtype=float)
    base: str = own.base
    if base == "Boolean" and (given.min is not None or given.max is not None or given.unit is not None):
        raise ModelError(f"input {name}: is Boolean, which has no bounds and no unit; leave them out")
    least, greatest = found.get("min", np.array(-np.inf)), found.get("max", np.array(np.inf))
    if np.any(least > greatest):
        raise ModelError(f"input {name}: its min {given.min!r} is above its max {given.max!r}; exchange them")
    if (given.min is not None or given.max is not None) and np.any(
        (found["start"] < least) | (found["start"] > greatest)
    ):
        bounds = f"min={given.min!r}, max={given.max!r}"
        raise ModelError(f"input {name}: its start value {given.start!r} is out of {bounds}; give start=...")
    if given.unit is not None:
        if not isinstance(given.unit, str) or base != "Real":
            wanted = "a text such as 'N.m'" if base == "Real" else f"none, for it is {base}"
            raise ModelError(f"input {name}: its unit is {given.unit!r:.60}; it takes {wanted}")
        try:
            check_unit(f"input {name}", given.unit, own.unit)
        except ModelError as error:
            if own.unit is None:
                raise
            raise ModelError(f"{error} Its signal has the unit {own.unit}.") from None
        if given.unit != own.unit and own.unit is not None and name == first.path:
            raise ModelError(
                f"input {name}: the signal of this name is in {own.unit}; an input in {given.unit} beside it needs a "
                "name of its own, name=..."
            )
