"""FMUs of any tool, run by FMPy as if they were models of ours."""

from __future__ import annotations

import contextlib
import math
import pathlib
import shutil
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.errors import ModelError, SimulationError, ValidationError
from mbfmu.fmi.archive import unpack
from mbfmu.fmi.description import read_description
from mbfmu.fmi.following import Inputs, follow_in_model_exchange
from mbfmu.fmi.slave import AsksForNothing, Log, Values, open_unpacked
from mbfmu.fmi.variables import Interface, Scalar, scalars_of
from mbfmu.messages import not_recorded, unknown_variable
from mbfmu.runtime.batch import Runs
from mbfmu.runtime.drive import Drive
from mbfmu.runtime.inputs import check_interpolation, drive_of
from mbfmu.runtime.result import Result, arrays_of
from mbfmu.runtime.run import Value, checked_tolerance, time_grid
from mbfmu.runtime.variables import ScalarVariable

#: An FMU of unknown make may not bear threads.
_alone = threading.Lock()


#: An FMU that knows inputs at communication points only gets lines as stairs of so many steps in a recorded interval.
STAIRS = 16


class Foreign:
    """An FMU, unpacked for as long as this lives.

    Raises:
        ValidationError: The file is no FMU, or one whose names lead out of its folder.
    """

    #: Distance of recorded instants where nobody says: a part of the run.
    interval: float | None = None

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.description = read_description(path)
        self.name = str(self.description.modelName)
        self.start_time = self._of_experiment("startTime", 0.0)
        self.stop_time = self._of_experiment("stopTime", self.start_time + 1.0)
        self.folder = tempfile.mkdtemp(prefix="mbfmu-fmu-")
        self._clean = weakref.finalize(self, shutil.rmtree, self.folder, True)
        unpack(path, self.folder)
        #: Of FMI 3.0 those of arrays, too; `variables` are the same as ours.
        self.elements = {scalar.name: scalar for scalar in scalars_of(self.description)}
        self.variables = tuple(map(scalar_variable, self.elements.values()))
        self._interface = Interface(self.description)
        #: Whether it has turned out to ask for no inputs within steps, though it has intermediate updates.
        self._deaf = False

    def _of_experiment(self, name: str, default: float) -> float:
        text = getattr(self.description.defaultExperiment, name, None)
        try:
            value = default if text in (None, "") else float(str(text))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValidationError(f"{self.path}: {name} of its DefaultExperiment is {text!r}, no time; build it again.")
        return value

    def times(self, start: float | None, stop: float | None, step: float | None) -> np.ndarray:
        """Recorded instants, s; those of the FMU's default experiment where None.

        Raises:
            ModelError, SimulationError: The run has no length, or the step is impossible.
        """
        return time_grid(self, start, stop, step)

    def check_recorded(self, names: Sequence[str]) -> None:
        """Raise `ModelError` for a variable that does not exist, or is no number."""
        for name in names:
            if find(self, name).type == "String":
                kind = self.elements[name].variable.type
                raise ModelError(f"{self.name}: {not_recorded(name, kind)}")

    def simulate(
        self,
        times: np.ndarray,
        start_values: Mapping[str, Value],
        outputs: Sequence[str],
        signals: Drive | None = None,
        tolerance: float | None = None,
    ) -> Result:
        """Run to the times [n]; `signals` are inputs over time, of `signals_of`.

        Where the FMU ends the run, the result does, too, and its `ended` says why.

        Raises:
            SimulationError: The FMU fails, or cannot be run in this way.
        """
        if tolerance is not None:
            tolerance = checked_tolerance(tolerance, self.name)
        elif getattr(self.description.defaultExperiment, "tolerance", None):
            tolerance = self._of_experiment("tolerance", 0.0)
        drive = None if signals is None else signals.snapped(times)
        self.check_recorded(outputs)
        if self.description.coSimulation is None and self.description.modelExchange is None:
            raise SimulationError(
                f"{self.name}: is for scheduled execution only, which takes a host with tasks and a clock; use an FMU "
                "for co-simulation or model exchange"
            )
        if self.description.coSimulation is None or self.description.fmiVersion == "1.0":
            return self._by_fmpy(times, start_values, outputs, drive, tolerance)
        if not self._deaf:
            try:
                return self._in_steps(times, start_values, outputs, drive, tolerance)
            except AsksForNothing:
                self._deaf = True
        return self._in_steps(times, start_values, outputs, drive, tolerance)

    def _in_steps(
        self, times: np.ndarray, start_values: Mapping[str, Value], outputs: Sequence[str], drive: Drive | None,
        tolerance: float | None,
    ) -> Result:  # fmt: skip
        """Co-simulation in FMI 2.0 and 3.0."""
        wanted = Values([self._interface[name][0] for name in outputs])
        lines = drive is not None and bool(drive.slopes.any())
        opened = open_unpacked(self.name, self.path, self.folder, self.description, self._interface, lines)
        with contextlib.redirect_stdout(None), opened as slave:
            inputs = None if drive is None else Inputs(slave, drive, self._interface, slave.takes_slopes, self._deaf)
            points, recorded = self._communication_points(times, inputs)
            slave.begin(times[0], times[-1], tolerance, start_values)
            if inputs is not None:
                inputs.set_values(times[0])
            slave.finish_initialisation()
            instants, rows = [times[0]], [slave.get(wanted)]
            for begin, end, record in zip(points[:-1], points[1:], recorded[1:], strict=True):
                if inputs is not None:
                    inputs.follow(begin, end)
                slave.step(end - begin)
                if slave.ended is None:
                    slave.time = end
                if record or (slave.ended is not None and slave.time > instants[-1]):
                    instants.append(slave.time)
                    rows.append(slave.get(wanted))
                if slave.ended is not None:
                    break
            ended = slave.ended
        table = np.array(rows, dtype=float).reshape(len(rows), len(outputs))
        return self._result(np.array(instants), {n: table[:, k].copy() for k, n in enumerate(outputs)}, ended)

    def _communication_points(self, times: np.ndarray, inputs: Inputs | None) -> tuple[np.ndarray, np.ndarray]:
        """Instants [m] at which the FMU stops, s, and whether they are recorded: also those where inputs have knots."""
        able = self.description.coSimulation
        free, parts = bool(able.canHandleVariableCommunicationStepSize), 1
        points = times
        if inputs is not None and free:
            knots = inputs.drive.knots
            points = np.union1d(times, knots[(knots > times[0]) & (knots < times[-1])])
        if inputs is not None and inputs.stairs:
            least = float(getattr(able, "fixedInternalStepSize", None) or 0.0)
            length = float(times[1] - times[0])
            fitting = (n for n in range(STAIRS, 1, -2) if least <= 0.0 or _is_multiple(length / n, least, free))
            parts = inputs.parts = next(fitting, 1)
        lengths = np.diff(times)
        if not free and np.ptp(lengths) > 1e-6 * lengths[0]:
            raise SimulationError(
                f"{self.name}: takes steps of one length only (canHandleVariableCommunicationStepSize), and the run is "
                f"no multiple of {lengths[0]:g} s; choose another step"
            )
        recorded = np.isin(points, times)
        if parts == 1:
            return points, recorded
        finer = [points[:-1] + (points[1:] - points[:-1]) * part / parts for part in range(parts)]
        where = np.zeros((points.size - 1, parts), dtype=bool)
        where[:, 0] = recorded[:-1]
        return np.append(np.array(finer).T.ravel(), points[-1]), np.append(where.ravel(), recorded[-1])

    def _by_fmpy(
        self, times: np.ndarray, start_values: Mapping[str, Value], outputs: Sequence[str], drive: Drive | None,
        tolerance: float | None,
    ) -> Result:  # fmt: skip
        """Model exchange by FMPy with CVode, and FMI 1.0."""
        from fmpy import simulate_fmu

        log = Log()
        options: dict[str, Any] = {}
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.redirect_stdout(None))
            stack.enter_context(contextlib.chdir(pathlib.Path.cwd()))
            if self.description.fmiVersion == "1.0":
                if drive is not None and drive.slopes.any():
                    raise SimulationError(
                        f"{self.name}: is of FMI 1.0, where inputs go along no straight lines here; hold them "
                        "(--held), or use an FMU of FMI 2.0 or 3.0"
                    )
                options["input"] = None if drive is None else drive.table()
                options["start_values"] = dict(start_values)
                options["logger"] = lambda *line: log.note(line[-3], _octets(line[-1]))
            else:
                opened = open_unpacked(
                    self.name, self.path, self.folder, self.description, self._interface, kind="ModelExchange", log=log
                )
                slave = stack.enter_context(opened)
                slave.set_start_values(start_values)
                options["fmu_instance"] = slave.fmu
                if drive is not None:
                    inputs = Inputs(slave, drive, self._interface, takes_lines=True, deaf=False)
                    options["input"] = follow_in_model_exchange(slave, inputs, float(times[0]))
            try:
                rows = simulate_fmu(
                    self.folder,
                    model_description=self.description,
                    start_time=float(times[0]),
                    stop_time=float(times[-1]),
                    output_interval=float(times[1] - times[0]),
                    output=list(dict.fromkeys(self._holder(name) for name in outputs)),
                    relative_tolerance=tolerance,
                    **options,
                )
            except Exception as error:
                cause = log.problems[-1] if log.problems else error
                raise SimulationError(f"{self.name}: {cause}") from error
        at = np.asarray(rows["time"])
        near = 1e-9 * (times[-1] - times[0])
        # FMPy records events, too; of several rows of an instant the first is what the step before has reached.
        kept = np.searchsorted(at, times[times <= at[-1] + near] - near)
        ended = None
        if at[-1] < times[-1] - near:
            ended = f"{self.name} ends the run at {at[-1]:.9g} s" + "".join(f": {line}" for line in log.last)
            if log.ends_with_problem:  # FMPy ends its run alike where model exchange fails
                raise SimulationError(ended)
            kept = np.append(kept, at.size - 1) if at[kept[-1]] < at[-1] - near else kept
        return self._result(at[kept], {name: self._column(rows, name)[kept] for name in outputs}, ended)

    def _result(self, times: np.ndarray, series: Mapping[str, np.ndarray], ended: str | None) -> Result:
        shown = [v for v in self.variables if v.name in series]
        outputs = [v.name for v in shown if v.causality == "output"]
        units = {v.name: v.unit for v in shown if v.unit}
        return Result(self.name, times, series, units, outputs, ended, arrays_of(shown))

    def _holder(self, name: str) -> str:
        """Name of the FMU's variable in which a scalar is."""
        return str(self.elements[name].variable.name) if name in self.elements else name

    def _column(self, rows: np.ndarray, name: str) -> np.ndarray:
        values = np.asarray(rows[self._holder(name)], dtype=float)
        if name not in self.elements:
            return values
        return values.reshape(len(values), -1)[:, self.elements[name].place]


class ForeignBatch:
    """Runs of an FMU that differ in what is set before they start; has what `Batch` has."""

    def __init__(
        self, fmu: Foreign, names: Sequence[str], times: np.ndarray, outputs: Sequence[str], signals: Drive | None,
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
                for column, name in enumerate(self.outputs):
                    rows[number, : result.time.size, column] = result[name]
                messages.append(result.ended or "")
            except SimulationError as error:
                messages.append(str(error))
        return Runs(rows, tuple(messages))


def signals_of(fmu: Foreign, inputs: Any, times: np.ndarray, interpolation: Any) -> Drive | None:
    """Inputs over time, as `Foreign.simulate` follows them.

    Raises:
        ModelError: See `drive_of`.
    """
    check_interpolation(fmu.name, interpolation)
    return None if inputs is None else drive_of(fmu.name, fmu.variables, inputs, times, interpolation)


def _is_multiple(length: float, of: float, any_longer: bool) -> bool:
    """Can an FMU with internal steps of a length make steps of this one?"""
    count = length / of
    return count >= 1 - 1e-9 if any_longer else abs(count - round(count)) < 1e-6 and count > 0.5


def find(fmu: Foreign, name: str) -> ScalarVariable:
    """A variable of an FMU by name.

    Raises:
        ModelError: There is none of this name.
    """
    for variable in fmu.variables:
        if variable.name == name:
            return variable
    raise ModelError(f"{fmu.name}: {unknown_variable(name, (v.name for v in fmu.variables))}")


def _octets(message: Any) -> bytes:
    """A line of an FMU's log."""
    return message if isinstance(message, bytes) else str(message).encode()


def scalar_variable(scalar: Scalar) -> ScalarVariable:
    """A scalar of FMPy's as ours; it lives in the FMU, so that store and index mean nothing."""
    v = scalar.variable

    def bound(name: str) -> float | None:
        value = scalar.attribute(name)
        return None if value is None else float(value)

    return ScalarVariable(
        scalar.name, v.description or "", scalar.type, v.causality or "local", v.variability or "continuous", v.initial,
        scalar.start, "y", 0, unit=scalar.attribute("unit"), min=bound("min"), max=bound("max"), element=scalar.element,
    )  # fmt: skip
