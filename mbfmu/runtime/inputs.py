"""Inputs over time: arrays, functions, tables and CSV files become what the runtime follows."""

from __future__ import annotations

import csv
import os
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from mbfmu.arrays import Array
from mbfmu.errors import ModelError
from mbfmu.messages import unknown_variable
from mbfmu.modeling.units import conversion
from mbfmu.modeling.user_code import described
from mbfmu.runtime import arguments
from mbfmu.runtime.drive import Drive
from mbfmu.runtime.variables import ScalarVariable, wanted_instead

Interpolation = Literal["linear", "held"]

#: What `inputs=` takes: a CSV file; a table with a column or index `time` (pandas, xarray, a structured array); or
#: series by name: numbers, arrays parallel to the entry `time`, pairs (times, values), functions of time.
InputsLike = Any

#: `torque`, `torque [N.m]`, `f[1]`, `f[1] [N]`, `torque (N.m)`, `torque / N.m`
_HEADER = re.compile(r"^\s*(?P<name>[^\s\[(/]\S*?)\s*(?:\s\[(?P<a>[^\]]+)\]|\((?P<b>[^)]+)\)|\s/\s*(?P<c>\S+))?\s*$")


def drive_of(
    model: str,
    variables: Sequence[ScalarVariable],
    inputs: InputsLike,
    times: np.ndarray,
    interpolation: Interpolation = "linear",
) -> Drive:
    """Read inputs over time and check them against a model.

    Args:
        model: Its name, for messages.
        variables: Its variables.
        inputs: See `InputsLike`. Names are those of the input variables; a vector `f[1]`, `f[2]` ... may be given as
            `f` with an array [n, k]. An instant that stands twice is a jump: the second value holds from there on.
        times: Instants at which the run is recorded, s, [n]: functions are sampled there.
        interpolation: `linear` between the given instants, or `held` until the next one, as Booleans, Integers and
            discrete Reals are in any case. After the last one the last value holds.

    Raises:
        ModelError: A name is no input, a unit does not fit, instants do not ascend or begin after the start, values are
            missing (NaN), out of bounds, or none of the input's type: 2 of a Boolean, 0.5 of an Integer.
    """
    check_interpolation(model, interpolation)
    known = {v.name: v for v in variables if v.causality == "input"}
    series: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for header, at, values in _read(model, inputs, times):
        for name, unit, column in _elements(model, header, values, known):
            if name not in known:
                what = "there is no input" if known else "the model has no inputs: there is no input"
                raise ModelError(f"{model}: {unknown_variable(name, known).replace('there is no variable', what)}")
            if name in series:
                raise ModelError(f"{model}: the input '{name}' is given twice")
            converted = _converted(model, known[name], unit, np.array(column, dtype=float))
            series[name] = _checked(model, known[name], np.atleast_1d(at), converted, times[0])
    if not series:
        raise ModelError(f"{model}: no input is given; there are {', '.join(known) or 'none'}")
    return _merged(known, series, interpolation)


def check_interpolation(model: str, interpolation: Any) -> None:
    """Refuse what is no way to go from one instant to the next."""
    if interpolation not in ("linear", "held"):
        raise ModelError(f'{model}: the interpolation "{interpolation}" is unknown; there are linear, held')


def _read(model: str, inputs: InputsLike, times: np.ndarray) -> Iterator[tuple[str, Any, Any]]:
    """Header, instants and values [n] or [n, k] of each series that was given."""
    if isinstance(inputs, str | os.PathLike):
        inputs = read_csv(pathlib.Path(inputs))
    at = None
    if isinstance(inputs, np.ndarray) and inputs.dtype.names:
        inputs = {name: inputs[name] for name in inputs.dtype.names}
    elif hasattr(inputs, "data_vars"):  # an xarray.Dataset
        at = arguments.numbers(inputs.coords["time"], f"{model}: time") if "time" in inputs.coords else None
        units = {name: inputs[name].attrs.get("units") for name in inputs.data_vars}
        inputs = {f"{n} [{units[n]}]" if units[n] else n: np.asarray(inputs[n]) for n in inputs.data_vars}
    elif hasattr(inputs, "columns") and hasattr(inputs, "index"):  # a pandas.DataFrame
        if not any(_split(str(column))[0] == "time" for column in inputs.columns):
            at = arguments.numbers(inputs.index, f"{model}: the index of the table, its time")
        inputs = {str(column): np.asarray(inputs[column]) for column in inputs.columns}
    if not isinstance(inputs, Mapping):
        raise ModelError(
            f"{model}: inputs cannot be read from a {type(inputs).__name__}; give a CSV file, a mapping from names to "
            "series, a pandas DataFrame or an xarray Dataset"
        )
    rest = {}
    for header, values in inputs.items():
        name, unit = _split(str(header))
        if name == "time":
            if at is not None:
                raise ModelError(f"{model}: the time of the series is given twice, again as '{header}'; give it once")
            factor, offset = _factors(model, "time", unit, "s") if unit else (1.0, 0.0)
            at = factor * arguments.numbers(values, f"{model}: the series '{header}'") + offset
            if at.ndim != 1:
                raise ModelError(f"{model}: the series '{header}' has the shape {at.shape}; give a list of instants")
        else:
            rest[str(header)] = values
    for header, values in rest.items():
        what = f"{model}: the series '{header}'"
        if callable(values):
            yield header, times, _sampled(model, header, values, times)
        elif isinstance(values, tuple) and len(values) == 2 and np.ndim(values[0]) == 1:
            yield header, arguments.numbers(values[0], f"{what}: its instants"), arguments.numbers(values[1], what)
        elif np.ndim(values) == 0:
            yield header, times[:1], arguments.numbers([values], what)
        elif at is None:
            raise ModelError(f"{model}: the input '{header}' is an array, but there is no series 'time' beside it")
        else:
            yield header, at, arguments.numbers(values, what)


def read_csv(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Read a CSV file with a line of headers (comma, semicolon or tab) into arrays by header.

    Empty cells are NaN, `true` and `false` are 1 and 0.

    Raises:
        ModelError: The file cannot be read or is no text, a line has too few or too many cells, or a text that is no
            number; the message has its line.
    """
    try:
        return _read_csv(path)
    except (UnicodeDecodeError, csv.Error) as error:
        what = str(error).partition(":")[0].replace("unexpected end of data", "a quotation is never closed")
        raise ModelError(f"{path}: is no CSV file in UTF-8 ({what}); save it as one") from error
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}; check the path and its permissions") from error


def _read_csv(path: pathlib.Path) -> dict[str, np.ndarray]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        first = file.readline()
        delimiter = max(",;\t", key=first.count)
        headers = [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter, strict=True), [])]
        columns: list[list[float]] = [[] for _ in headers]
        for number, row in enumerate(csv.reader(file, delimiter=delimiter, strict=True), 2):
            if not row:
                continue
            if len(row) != len(headers):
                raise ModelError(f"{path}, line {number}: {len(row)} cells, but {len(headers)} headers")
            for header, column, cell in zip(headers, columns, row, strict=True):
                try:
                    column.append(_number(cell))
                except ValueError:
                    raise ModelError(f"{path}, line {number}: {cell!r} under '{header}' is no number") from None
    if len(set(headers)) < len(headers):
        raise ModelError(f"{path}: two columns have one name: {', '.join(headers)}")
    return {header: np.array(column) for header, column in zip(headers, columns, strict=True)}


def _number(cell: str) -> float:
    """Number in a cell: NaN where it is empty, 1 and 0 of `true` and `false`."""
    text = cell.strip().lower()
    words = {"": np.nan, "true": 1.0, "false": 0.0}
    return words[text] if text in words else arguments.number_in(text)


def series_of(
    model: str, variables: Sequence[ScalarVariable], data: InputsLike
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Measured series of any variables by name: instants and values [n], in the variables' units.

    Raises:
        ModelError: A name is unknown, or a unit does not fit.
    """
    known = {v.name: v for v in variables if v.type != "String"}
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for header, at, values in _read(model, data, np.zeros(1)):
        for name, unit, column in _elements(model, header, values, known):
            if name not in known:
                raise ModelError(f"{model}: {unknown_variable(name, known)}")
            series = _converted(model, known[name], unit, np.array(column, dtype=float))
            if series.size != np.size(at):
                raise ModelError(f"{model}: '{name}' has {series.size} values at {np.size(at)} instants")
            if (np.diff(at) < 0).any():
                raise ModelError(f"{model}: '{name}' goes back in time; sort its rows")
            lost = np.flatnonzero(~np.isfinite(at) & ~np.isnan(series) | np.isinf(series))
            if lost.size:
                row, value = lost[0], series[lost[0]]
                raise ModelError(
                    f"{model}: '{name}' is {value:g} at {np.atleast_1d(at)[row]:g} s in row {row + 1}; finite numbers "
                    "are expected, an empty cell or NaN is a gap"
                )
            found[name] = (np.asarray(at, dtype=float), series)
    return found


def _split(header: str) -> tuple[str, str | None]:
    """Name and unit of a header."""
    match = _HEADER.match(header)
    if match is None:
        return header.strip(), None
    return match["name"], match["a"] or match["b"] or match["c"]


def _elements(
    model: str, header: str, values: np.ndarray, known: Mapping[str, ScalarVariable]
) -> Iterator[tuple[str, str | None, np.ndarray]]:
    """The scalars among a series: itself, or the elements of an array, by rows."""
    name, unit = (header, None) if header in known else _split(header)
    if values.ndim < 2:
        yield name, unit, values
        return
    array = next((v.element.array for v in known.values() if v.element and v.variable == name), None)
    shape = array.shape if array else values.shape[1:2]  # scalars that are named one by one make a row, too
    if values.shape[1:] != shape:
        wanted = ", ".join(map(str, shape))
        raise ModelError(f"{model}: the series '{header}' has the shape {values.shape}; {name} takes [n, {wanted}]")
    columns = values.reshape(len(values), -1).T
    for element, column in zip(Array(name, shape).elements, columns, strict=True):
        yield element.name, unit, column


def _sampled(model: str, name: str, function: Callable[[float], Any], times: np.ndarray) -> np.ndarray:
    try:
        values = [function(float(t)) for t in times]
    except (Exception, SystemExit) as error:
        raise ModelError(f"{model}: the function for the input '{name}' fails: {described(error)}") from error
    return arguments.numbers(values, f"{model}: the function for the input '{name}'")


def _factors(model: str, name: str, given: str, wanted: str) -> tuple[float, float]:
    """Factor and offset from a unit to another."""
    try:
        return conversion(given, wanted)
    except ModelError:
        raise ModelError(f"{model}: '{name}' has the unit {wanted}; a series in {given} cannot be converted") from None


def _converted(model: str, variable: ScalarVariable, unit: str | None, values: np.ndarray) -> np.ndarray:
    if unit is None or unit == (variable.unit or "1"):
        return values
    if variable.unit is None and unit != "1":
        raise ModelError(
            f"{model}: '{variable.name}' has no unit that a series in {unit} could be converted to; give it one, "
            f"input(..., unit='m'), or leave [{unit}] out"
        )
    factor, offset = _factors(model, variable.name, unit, variable.unit or "1")
    return factor * values + offset


def _checked(
    model: str, variable: ScalarVariable, at: np.ndarray, values: np.ndarray, start: float
) -> tuple[np.ndarray, np.ndarray]:
    name = f"{model}: the input '{variable.name}'"
    if at.size != values.size:
        raise ModelError(f"{name} has {values.size} values at {at.size} instants")
    if not at.size:
        raise ModelError(f"{name} has no values")
    missing = np.flatnonzero(~np.isfinite(values) | ~np.isfinite(at))
    if missing.size:
        raise ModelError(
            f"{name} has {missing.size} gap{'s' if missing.size > 1 else ''}, the first in row {missing[0] + 1} "
            f"(time {at[missing[0]]:g} s); fill them or leave these rows out"
        )
    back = np.flatnonzero(np.diff(at) < 0)
    if back.size:
        raise ModelError(f"{name} goes back in time after {at[back[0]]:g} s; sort its rows")
    if at[0] > start + 1e-9 * max(1.0, abs(start)):
        raise ModelError(f"{name} begins at {at[0]:g} s, after the start at {start:g} s; give its value there")
    for value in np.unique(values) if variable.type != "Real" else ():
        wanted = wanted_instead(variable.type, float(value))
        if wanted:
            raise ModelError(f"{name} is {variable.type} and reaches {value:g}; it takes {wanted}")
    if variable.min is not None and values.min() < variable.min:
        raise ModelError(f"{name} reaches {values.min():g}; its smallest value is {variable.min!r}")
    if variable.max is not None and values.max() > variable.max:
        raise ModelError(f"{name} reaches {values.max():g}; its largest value is {variable.max!r}")
    return at, values


def _merged(
    known: Mapping[str, ScalarVariable],
    series: Mapping[str, tuple[np.ndarray, np.ndarray]],
    interpolation: Interpolation,
) -> Drive:
    """All series on the instants of any of them."""
    knots = np.unique(np.concatenate([at for at, _ in series.values()]))
    values, slopes = np.empty((knots.size, len(series))), np.zeros((knots.size, len(series)))
    for column, (name, (at, given)) in enumerate(series.items()):
        # of an instant that stands twice, the last value holds from there on
        row = np.clip(np.searchsorted(at, knots, side="right") - 1, 0, at.size - 1)
        moves = known[name].type == "Real" and known[name].variability != "discrete"
        if interpolation == "linear" and moves and at.size > 1:
            steps = np.diff(at)
            rise = np.append(np.divide(np.diff(given), steps, out=np.zeros_like(steps), where=steps > 0), 0.0)
            slopes[:, column] = np.where(knots < at[0], 0.0, rise[row])
        values[:, column] = given[row] + slopes[:, column] * np.maximum(knots - at[row], 0.0)
    return Drive(tuple(series), np.array([known[name].index for name in series]), knots, values, slopes)
