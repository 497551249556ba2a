"""A master with a fixed communication step: Jacobi or Gauss-Seidel, with held or extrapolated inputs."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.cosimulation import loops
from mbfmu.cosimulation.slave import Slave, open_slave
from mbfmu.cosimulation.structure import Connection, SystemStructure, unit_of
from mbfmu.errors import SimulationError
from mbfmu.modeling.component import near
from mbfmu.runtime.result import Result

#: Order of stepping: all at once with inputs of the step before, or one after the other with the newest inputs.
SCHEMES = ("jacobi", "gauss-seidel")
#: How inputs go on within a step: at their last value, along the line through the last two, or along the slope that
#: the FMU of the output tells.
INPUTS = ("hold", "secant", "tangent")


def cosimulate(
    structure: SystemStructure,
    *,
    step: float,
    stop_time: float | None = None,
    start_time: float = 0.0,
    scheme: str = "jacobi",
    inputs: str = "hold",
    tolerance: float | None = None,
    start_values: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Step coupled FMUs together in FMPy: `result["engine.axis1.tau"]`.

    The error of the coupling falls with the step as step^1 for `hold` and as step^2 for `secant` and `tangent`, in both
    schemes (M. Arnold, C. Clauss, T. Schierz: Error analysis and error estimates for co-simulation in FMI for model
    exchange and co-simulation V2.0, Archive of Mechanical Engineering 60 (2013), 75-94).

    Parameters
    ----------
    structure
        FMUs and connections.
    step
        Communication step, s; the last one is shorter where the run is no multiple of it.
    stop_time, start_time
        s; the stop time of the first FMU that names one where None, else 1.
    scheme
        One of `SCHEMES`. `gauss-seidel` steps the elements in the order of the structure.
    inputs
        One of `INPUTS`. All but `hold` need FMUs that take input derivatives; `tangent` those that give output
        derivatives, too.
    tolerance
        Relative tolerance of the FMUs' own integrators; theirs where None.
    start_values
        Parameters, start values and inputs that are not connected, as `element.variable`.
    outputs
        Real variables to record, as `element.variable`; the outputs of all FMUs where None.
    progress
        Called after every step with the fraction of the run that is done.

    Raises
    ------
    ModelError
        A variable does not exist.
    SimulationError
        An option is unknown, an FMU cannot do what it asks for, or the run stops; the message names FMU and time.
    """
    _check("scheme", scheme, SCHEMES)
    _check("inputs", inputs, INPUTS)
    stop = _stop_time(structure) if stop_time is None else stop_time
    times = _communication_points(start_time, stop, step)
    with contextlib.ExitStack() as stack:
        slaves = {
            name: stack.enter_context(open_slave(name, path, structure.descriptions[name]))
            for name, path in structure.files.items()
        }
        master = _Master(structure, slaves, scheme, inputs)
        recorder = _Recorder(structure, slaves, outputs)
        values = _by_element(start_values or {}, slaves)
        for name, slave in slaves.items():
            slave.begin(start_time, stop, tolerance, values.get(name, {}))
        master.initialise()
        recorder.record()
        for count, (time, after) in enumerate(itertools.pairwise(times), start=1):
            master.step(after - time)
            for slave in slaves.values():
                slave.time = after
            recorder.record()
            if progress:
                progress(count / (times.size - 1))
    return recorder.result(times)


@dataclasses.dataclass
class _Port:
    """The connected inputs and outputs of one slave: value references, and places in the vectors u and y."""

    slave: Slave
    inputs: list[int]
    of_u: list[int]
    outputs: list[int]
    of_y: list[int]


class _Master:
    """State of the coupling: u and y hold the input and the output of every connection."""

    def __init__(self, structure: SystemStructure, slaves: Mapping[str, Slave], scheme: str, inputs: str) -> None:
        self.connections, self.sequential, self.inputs = structure.connections, scheme == "gauss-seidel", inputs
        self.ports = []
        for name, slave in slaves.items():
            of_u = [i for i, c in enumerate(self.connections) if c.end_element == name]
            of_y = [i for i, c in enumerate(self.connections) if c.start_element == name]
            self._check_capabilities(slave, bool(of_u), bool(of_y))
            ends = slave.references([self.connections[i].end_connector for i in of_u])
            starts = slave.references([self.connections[i].start_connector for i in of_y])
            self.ports.append(_Port(slave, ends, of_u, starts, of_y))
        size = len(self.connections)
        self.u, self.y, self.slopes, self.before = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
        #: Length of the step before; no line can be drawn before there was one.
        self.last: float | None = None

    def _check_capabilities(self, slave: Slave, takes: bool, gives: bool) -> None:
        able = slave.description.coSimulation
        if self.inputs != "hold" and takes and not able.canInterpolateInputs:
            raise SimulationError(
                f"{slave.name}: takes no input derivatives (canInterpolateInputs), which inputs={self.inputs!r} needs; "
                "build it for the native target or choose inputs='hold'"
            )
        if self.inputs == "tangent" and gives and not able.maxOutputDerivativeOrder:
            raise SimulationError(
                f"{slave.name}: gives no output derivatives (maxOutputDerivativeOrder), which inputs='tangent' needs; "
                "build it for the native target or choose inputs='secant'"
            )

    # -- start

    def initialise(self) -> None:
        """Find inputs that agree with the outputs, and leave initialisation mode."""
        order = {port.slave.name: place for place, port in enumerate(self.ports)}
        loop = loops.inputs_on_loops([self._dependencies(c) for c in self.connections])
        names = [c.end for c in self.connections]
        self.u, jacobian = loops.consistent_inputs(self._outputs_of, self._start(), loop, names)
        self.y = self._outputs_of(self.u)
        ahead = np.array(
            [[order[i.start_element] < order[i.end_element]] * len(names) for i in self.connections], dtype=bool
        )
        # One after the other, slopes that an FMU tells stem from the line that its inputs were given.
        secant = self.inputs == "secant" or (self.sequential and self.inputs == "tangent")
        factor = loops.growth(jacobian, ahead if self.sequential else None, secant)
        if factor >= 1:
            raise SimulationError(
                f"{names[loop[0]]}: the coupling would grow by a factor of {factor:.3g} per step, however short the "
                f"steps (an algebraic loop through {', '.join(names[i] for i in loop)}). Let the side with the larger "
                "inertia take the torque, or end the other one in a spring and damper"
            )
        for port in self.ports:
            port.slave.finish_initialisation()
        if self.inputs == "tangent":
            self._ask_slopes()

    def _start(self) -> np.ndarray:
        """Inputs begin where the FMUs have them."""
        u = np.zeros(len(self.connections))
        for port in self.ports:
            u[port.of_u] = port.slave.get(port.inputs)
        return u

    def _outputs_of(self, u: np.ndarray) -> np.ndarray:
        """Outputs in initialisation mode."""
        y = np.empty_like(u)
        for port in self.ports:
            port.slave.set(port.inputs, u[port.of_u])
        for port in self.ports:
            y[port.of_y] = port.slave.get(port.outputs)
        return y

    def _dependencies(self, connection: Connection) -> set[int]:
        """Return the connections whose input the output of this one depends on directly."""
        for port in self.ports:
            if port.slave.name == connection.start_element:
                known = loops.direct_inputs(port.slave.description, connection.start_connector)
                return {i for i in port.of_u if known is None or self.connections[i].end_connector in known}
        return set()

    # -- steps

    def step(self, size: float) -> None:
        """One communication step."""
        self._predict()
        outputs = self.y.copy()
        if not self.sequential:
            for port in self.ports:
                self._set_inputs(port)
            for port in self.ports:
                port.slave.step(size)
            self._collect(outputs)
        else:
            for port in self.ports:
                self._set_inputs(port)
                port.slave.step(size)
                outputs[port.of_y] = port.slave.get(port.outputs)
                self._pass_on(port, outputs, size)
        self.before, self.y, self.last = self.y, outputs, size
        self.u = self.y.copy()
        if self.inputs == "tangent":
            self._ask_slopes()

    def _predict(self) -> None:
        """Slopes of the inputs for the step to come; those of `tangent` were asked for at the end of the last one."""
        if self.inputs == "secant" and self.last is not None:
            self.slopes = (self.y - self.before) / self.last

    def _pass_on(self, port: _Port, outputs: np.ndarray, size: float) -> None:
        """Give the slaves that follow in this step what this one has reached: held, or along the line to it."""
        if self.inputs == "hold":
            self.u[port.of_y] = outputs[port.of_y]
        else:
            self.slopes[port.of_y] = (outputs[port.of_y] - self.y[port.of_y]) / size

    def _set_inputs(self, port: _Port) -> None:
        port.slave.set(port.inputs, self.u[port.of_u])
        if self.inputs != "hold":
            port.slave.set_slopes(port.inputs, self.slopes[port.of_u])

    def _collect(self, outputs: np.ndarray) -> None:
        for port in self.ports:
            outputs[port.of_y] = port.slave.get(port.outputs)

    def _ask_slopes(self) -> None:
        for port in self.ports:
            self.slopes[port.of_y] = port.slave.slopes(port.outputs)


class _Recorder:
    """Values of the recorded variables at communication points."""

    def __init__(self, structure: SystemStructure, slaves: Mapping[str, Slave], outputs: Iterable[str] | None) -> None:
        if outputs is None:
            outputs = [
                f"{name}.{v.name}"
                for name, description in structure.descriptions.items()
                for v in description.modelVariables
                if v.causality == "output" and v.type == "Real"
            ]
        self.name, self.names = structure.name, list(outputs)
        self._units: dict[str, str] = {}
        groups: dict[str, list[str]] = {name: [] for name in slaves}
        for path in self.names:
            element, _, name = path.partition(".")
            variable = structure.variable(element, name)
            if variable.type != "Real":
                raise SimulationError(f"{path}: is no Real variable; only those are recorded")
            groups[element].append(name)
            unit = unit_of(variable)
            if unit:
                self._units[path] = unit
        self._groups = [(slaves[name], slaves[name].references(found)) for name, found in groups.items() if found]
        self._columns = [f"{name}.{short}" for name, found in groups.items() for short in found]
        self._rows: list[np.ndarray] = []

    def record(self) -> None:
        """Append the values of now."""
        values = [slave.get(references) for slave, references in self._groups]
        self._rows.append(np.concatenate(values) if values else np.empty(0))

    def result(self, times: np.ndarray) -> Result:
        """Time series of everything recorded."""
        table = np.array(self._rows).reshape(times.size, len(self._columns))
        series = dict(zip(self._columns, table.T.copy(), strict=True))
        return Result(self.name, times, {name: series[name] for name in self.names}, self._units)


def _check(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise SimulationError(f"{what} {value!r}: is unknown; {near(value, known)}")


def _stop_time(structure: SystemStructure) -> float:
    for description in structure.descriptions.values():
        experiment = description.defaultExperiment
        if experiment is not None and experiment.stopTime is not None:
            return float(experiment.stopTime)
    return 1.0


def _communication_points(start: float, stop: float, step: float) -> np.ndarray:
    """Multiples of the step from the start, without accumulated rounding, and the stop time itself."""
    if not (0 < step < math.inf and start < stop < math.inf):
        raise SimulationError(
            f"step {step:g} s from {start:g} s to {stop:g} s: the step must be positive and the stop after the start"
        )
    count = max(1, math.ceil((stop - start) / step * (1 - 1e-12)))
    return np.append(start + step * np.arange(count), stop)


def _by_element(values: Mapping[str, Any], slaves: Mapping[str, Slave]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        element, _, name = path.partition(".")
        if element not in slaves:
            raise SimulationError(f"{path}: there is no element {element!r}; {near(element, slaves)}")
        found.setdefault(element, {})[name] = value
    return found
