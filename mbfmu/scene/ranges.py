"""What sliders of a live page span: declared bounds, else what moves the machine by as much as can be seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from mbfmu.errors import MbfmuError, ModelError
from mbfmu.fmi.variables import Scalar
from mbfmu.modeling.units import conversion, parse

Range = tuple[float, float]
#: Values of the rates of states at the start, by what some inputs are set to.
Rates = Callable[[Mapping[str, float]], np.ndarray]

#: What a quantity that starts at 0 spans to both sides: half a turn, an arm's length, a fast walk, two turns a second.
_USUAL = {"rad": math.pi, "m": 1.0, "rad/s": 4 * math.pi, "m/s": 2.0}
#: An effort is to make this acceleration [rad/s2 or m/s2] of what it moves, where nothing has to be held.
_ACCELERATION = 2.0
#: An effort may reach so many times what holds the machine at its start.
_RESERVE = 2.0


def range_of(
    start: float,
    least: float | None = None,
    greatest: float | None = None,
    nominal: float | None = None,
    unit: str = "",
    is_signed: bool = True,
    effort: float | None = None,
) -> Range:
    """What a slider spans: the bounds, and where one is missing what suits the start value, unit and nominal value.

    Args:
        start: The value that it begins with.
        least: Declared bound, as `greatest`.
        greatest: The other one.
        nominal: Magnitude that is declared.
        unit: Of all of these.
        is_signed: True where a value of the other sign means something, as of inputs and positions.
        effort: For forces and torques: what it takes to move the machine (see `efforts`).
    """
    if least is not None and greatest is not None and least < greatest:
        return least, greatest
    if effort is not None:
        size = max(effort, abs(start))
    else:
        size = max(2 * abs(start), abs(nominal or 0.0), _usual(unit) if is_signed else 0.0) or 1.0
    low, high = (-size if is_signed or start < 0 else 0.0), (0.0 if start < 0 and not is_signed else size)
    low, high = (low if least is None else least), (high if greatest is None else greatest)
    if low >= high:
        return (high - 2 * size, high) if least is None else (low, low + 2 * size)
    return low, high


def _usual(unit: str) -> float:
    for known, size in _USUAL.items():
        try:
            factor, offset = conversion(known, unit)
        except ModelError:
            continue
        return factor * size + offset
    return 0.0


def efforts(inputs: Iterable[Scalar], units: Iterable[str], rates: Rates) -> dict[str, float]:
    """Forces and torques that move a machine visibly, by the names of its inputs.

    Each input is raised by 1 alone. Of the acceleration that answers most is known what 1 gives and what there is
    without: twice the effort that holds the machine, and as much as gives it 2 rad/s2 or 2 m/s2, is rounded to 1, 2 or
    5 times a power of ten.

    Args:
        inputs: The inputs of the FMU.
        units: Of the rates of its states, in their order.
        rates: What they are at the start.
    """
    found: dict[str, float] = {}
    forces = [one for one in inputs if _is_effort(one.attribute("unit") or "")]
    second = np.array([unit in ("rad/s2", "m/s2") for unit in units], dtype=bool)
    if not forces or not second.any():
        return found
    try:
        before = np.asarray(rates({}))[second]
        for one in forces:
            answer = np.asarray(rates({one.name: float(one.start or 0.0) + 1.0}))[second] - before
            most = int(np.argmax(np.abs(answer)))
            if np.isfinite(answer).all() and abs(answer[most]) > 0.0:
                needed = max(_RESERVE * abs(before[most]), _ACCELERATION) / abs(answer[most])
                found[one.name] = _rounded(needed)
    except MbfmuError:  # where it does not start with such a value, its declared bounds have to do
        pass
    return found


def _is_effort(unit: str) -> bool:
    try:
        return bool(unit) and parse(unit).exponents in (parse("N").exponents, parse("N.m").exponents)
    except ModelError:
        return False


def _rounded(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if value <= step * power * (1 + 1e-9))
