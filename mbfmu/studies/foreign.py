"""FMUs of any tool, run by FMPy as if they were models of ours."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.errors import ModelError, SimulationError
from mbfmu.runtime.batch import Runs
from mbfmu.runtime.elements import Element, elements_of
from mbfmu.runtime.result import Result, unknown
from mbfmu.runtime.run import INTERVALS, Value
from mbfmu.runtime.variables import ScalarVariable

#: An FMU of unknown make may not bear threads.
_alone = threading.Lock()


class Foreign:
    """An FMU, unpacked for as long as this lives.

    Raises
    ------
    ValidationError
        The file is no FMU.
    SimulationError
        It is for scheduled execution only.
    """

    def __init__(self, path: pathlib.Path) -> None:
        from fmpy import extract

        from mbfmu.validation import read

        self.path = path
        self.description = read(path)
        self.name = str(self.description.modelName)
        if self.description.coSimulation is None and self.description.modelExchange is None:
            raise SimulationError(
                f"{path}: is for scheduled execution only, by clocks that a host activates, and cannot be run here; "
                "export it for co-simulation or model exchange"
            )
        self.folder = tempfile.mkdtemp(prefix="mbfmu-fmu-")
        self._clean = weakref.finalize(self, shutil.rmtree, self.folder, True)
        extract(str(path), unzipdir=self.folder)
        #: Of FMI 3.0 those of arrays, too; `variables` are the same as ours.
        self.elements = {element.name: element for element in elements_of(self.description)}
        self.variables = tuple(map(_scalar, self.elements.values()))
        experiment = self.description.defaultExperiment
        self.start_time = float(getattr(experiment, "startTime", None) or 0.0)
        self.stop_time = float(getattr(experiment, "stopTime", None) or self.start_time + 1.0)

    def times(self, start: float | None, stop: float | None, step: float | None) -> np.ndarray:
        """Recorded instants, s; those of the FMU's default experiment where None.

        Raises
        ------
        SimulationError
            The run has no length.
        """
        first = self.start_time if start is None else start
        last = self.stop_time if stop is None else stop
        if not last > first:
            raise SimulationError(f"{self.name}: the run from {first:g} s to {last:g} s has no length")
        count = INTERVALS if step is None else max(1, round((last - first) / step))
        return np.linspace(first, last, count + 1)

    def simulate(
        self,
        times: np.ndarray,
        start_values: Mapping[str, Value],
        outputs: Sequence[str],
        signals: Any = None,
        tolerance: float | None = None,
    ) -> Result:
        """Run to the times [n], or to where the FMU ends the run; `signals` is what FMPy takes as input.

        Raises
        ------
        ModelError
            An output is no number.
        SimulationError
            The FMU fails.
        """
        from fmpy import simulate_fmu

        outputs = [find_number(self, name).name for name in outputs]
        slave = self.description.coSimulation
        lines: list[tuple[int, str]] = []
        try:
            with contextlib.redirect_stdout(None):
                rows = simulate_fmu(
                    self.folder,
                    model_description=self.description,
                    start_time=float(times[0]),
                    stop_time=float(times[-1]),
                    output_interval=float(times[1] - times[0]),
                    start_values=self._whole(start_values),
                    output=list(dict.fromkeys(self._holder(name) for name in outputs)),
                    input=signals,
                    relative_tolerance=tolerance,
                    early_return_allowed=bool(getattr(slave, "mightReturnEarlyFromDoStep", False)),
                    # Status and text stand at the same places from the end in both versions of FMI.
                    logger=lambda *arguments: lines.append((arguments[-3], _text(arguments[-1]))),
                )
        except Exception as error:
            # What fails after a failure, for FMPy may try again, tells less than what failed first.
            told = [(status, line) for status, line in lines if line.strip()]
            cause = next((line for status, line in told if status > 1), told[-1][1] if told else "")
            raise SimulationError(f"{self.name}: {cause or error}") from error
        units = {v.name: v.unit for v in self.variables if v.unit}
        at = np.asarray(rows["time"])
        result = Result(self.name, at, {name: self._column(rows, name) for name in outputs}, units)
        last = float(at[-1]) if at.size else float(times[0])
        if last < times[-1] - 1e-6 * (times[1] - times[0]):
            status, line = lines[-1] if lines else (0, "")
            result.end = f"the FMU ends the run at {last:.9g} s" + (f": {line}" if line.strip() else "")
            if slave is None and status > 0:  # FMPy ends its run alike where model exchange fails
                raise SimulationError(f"{self.name}: {result.end}")
        return result

    def _holder(self, name: str) -> str:
        """Name of the FMU's variable in which a scalar is."""
        return str(self.elements[name].variable.name) if name in self.elements else name

    def _column(self, rows: np.ndarray, name: str) -> np.ndarray:
        values = np.asarray(rows[self._holder(name)], dtype=float)
        place = self.elements[name].place if name in self.elements else None
        return values if place is None else values.reshape(len(values), -1)[:, place]

    def _whole(self, values: Mapping[str, Value]) -> dict[str, Any]:
        """Start values by the FMU's own variables: an array has its own where nothing else is given."""
        found: dict[str, Any] = {}
        for name, value in values.items():
            element = self.elements.get(name)
            if element is None or element.place is None:
                found[name] = value
                continue
            array = element.variable
            if array.name not in found:
                starts = [other.start for other in self.elements.values() if other.variable is array]
                if None in starts:
                    raise SimulationError(f"{self.name}: {array.name} has no start value; set none of its elements")
                found[array.name] = [float(start) for start in starts if start is not None]
            found[array.name][element.place] = value
        return {name: np.reshape(v, self._shape(name)) if isinstance(v, list) else v for name, v in found.items()}

    def _shape(self, array: str) -> tuple[int, ...]:
        (variable,) = (v for v in self.description.modelVariables if v.name == array)
        return tuple(variable.shape)


class ForeignBatch:
    """Runs of an FMU that differ in what is set before they start; has what `Batch` has."""

    def __init__(
        self, fmu: Foreign, names: Sequence[str], times: np.ndarray, outputs: Sequence[str], signals: Any,
        tolerance: float | None,
    ) -> None:  # fmt: skip
        self.fmu, self.names, self.times, self.outputs = fmu, list(names), times, list(outputs)
        self.signals, self.tolerance = signals, tolerance

    @property
    def bytes_per_run(self) -> int:
        """Memory of the recorded rows of one run."""
        return 8 * self.times.size * len(self.outputs)

    def run(self, values: np.ndarray) -> Runs:
        """Make runs with the given values [runs, names], one after the other, and no other FMU's meanwhile."""
        with _alone:
            return self._run(values)

    def _run(self, values: np.ndarray) -> Runs:
        rows = np.full((values.shape[0], self.times.size, len(self.outputs)), np.nan)
        messages = []
        for number, settings in enumerate(values):
            try:
                result = self.fmu.simulate(
                    self.times, dict(zip(self.names, settings.tolist(), strict=True)), self.outputs, self.signals,
                    self.tolerance,
                )  # fmt: skip
                if not result.end:
                    for column, name in enumerate(self.outputs):
                        rows[number, :, column] = result[name][: self.times.size]
                messages.append(result.end)
            except SimulationError as error:
                messages.append(str(error))
        return Runs(rows, tuple(messages))


def signals_of(fmu: Foreign, inputs: Any, times: np.ndarray, interpolation: Any) -> np.ndarray | None:
    """Inputs over time as the structured array that FMPy takes; a jump is two rows of one instant.

    Raises
    ------
    ModelError
        See `drive_of`.
    """
    if inputs is None:
        return None
    from mbfmu.studies.inputs import drive_of

    drive = drive_of(fmu.name, fmu.variables, inputs, times, interpolation)
    ends = drive.values[:-1] + drive.slopes[:-1] * np.diff(drive.knots)[:, None]
    rows = [(drive.knots[0], *drive.values[0])]
    for k in range(1, drive.knots.size):
        if not np.allclose(ends[k - 1], drive.values[k], rtol=1e-12, atol=0.0):
            rows.append((drive.knots[k], *ends[k - 1]))
        rows.append((drive.knots[k], *drive.values[k]))
    return np.array(rows, dtype=[("time", float), *((name, float) for name in drive.names)])


def find(fmu: Foreign, name: str) -> ScalarVariable:
    """A variable of an FMU by name.

    Raises
    ------
    ModelError
        There is none of this name.
    """
    for variable in fmu.variables:
        if variable.name == name:
            return variable
    raise ModelError(f"{fmu.name}: {unknown(name, (v.name for v in fmu.variables))}")


def find_number(fmu: Foreign, name: str) -> ScalarVariable:
    """A variable of an FMU by name, whose values can be recorded.

    Raises
    ------
    ModelError
        There is none of this name, or it is a text, binary data or a clock.
    """
    variable = find(fmu, name)
    if variable.type == "String":
        raise ModelError(f"{fmu.name}: {name} is of type {fmu.elements[name].variable.type}; only numbers are recorded")
    return variable


def _text(message: Any) -> str:
    """A line of an FMU's log."""
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)


#: Types of FMI 3.0 as those of 2.0.
_TYPES: dict[str, Any] = dict.fromkeys(("Float32", "Float64"), "Real")
_TYPES |= dict.fromkeys(("Int8", "UInt8", "Int16", "UInt16", "Int32"), "Integer")


def _scalar(element: Element) -> ScalarVariable:
    """A scalar of FMPy's as ours; it lives in the FMU, so that store and index mean nothing."""
    v = element.variable

    def bound(name: str) -> float | None:
        value = element.attribute(name)
        return None if value is None else float(value)

    return ScalarVariable(
        element.name, v.description or "", _TYPES.get(element.type, element.type), v.causality or "local",
        v.variability or "continuous", v.initial, element.start, "y", 0,
        unit=element.attribute("unit"), min=bound("min"), max=bound("max"),
    )  # fmt: skip
