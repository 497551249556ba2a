"""A master with a fixed communication step: Jacobi or Gauss-Seidel, with held or extrapolated inputs.

What is continuous is followed as vectors of numbers. Whatever jumps, Reals that are discrete, Integers, Booleans and
Strings, is held, whatever is chosen for the others: a line through two values of a signal that jumps leads nowhere.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.cosimulation import loops
from mbfmu.cosimulation.structure import SystemStructure
from mbfmu.errors import SimulationError
from mbfmu.fmi.slave import Log, Slave, Values, open_slave
from mbfmu.fmi.variables import KINDS, Scalar, unit_of
from mbfmu.messages import suggestion
from mbfmu.runtime.arguments import check_callback
from mbfmu.runtime.result import Result
from mbfmu.runtime.run import checked_tolerance

#: Order of stepping: all at once with inputs of the step before, or one after the other with the newest inputs.
SCHEMES = ("jacobi", "gauss-seidel")
#: How inputs go on within a step: at their last value, along the line through the last two, or along the slope that
#: the FMU of the output tells.
INPUTS = ("hold", "secant", "tangent")

#: How often values that jump may be passed on at the start, until they stay, and how near numbers are then.
ROUNDS, NEAR = 20, 1e-9


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
    """Step coupled FMUs of FMI 2.0 and 3.0 together in FMPy: `result["engine.axis1.tau"]`.

    Where an FMU ends the run, the result ends with the last communication point that all have reached, and its `ended`
    says why.

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
        One of `INPUTS`, for continuous inputs; others are held. All but `hold` need FMUs that take input derivatives
        (FMI 2.0) or inputs in intermediate updates (FMI 3.0); `tangent` those that give output derivatives, too.
    tolerance
        Relative tolerance of the FMUs' own integrators; theirs where None.
    start_values
        Parameters, start values and inputs that are not connected, as `element.variable`; a list for an array.
    outputs
        Variables to record, as `element.variable`; the outputs of all FMUs where None. Arrays are recorded as their
        elements, and Booleans as 0 and 1.
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
    tolerance = None if tolerance is None else checked_tolerance(tolerance)
    check_callback(progress, "progress")
    stop = _stop_time(structure) if stop_time is None else stop_time
    times = _communication_points(start_time, stop, step)
    log = Log()
    with contextlib.ExitStack() as stack:
        slaves = {
            name: stack.enter_context(
                open_slave(name, path, structure.descriptions[name], structure.interfaces[name], inputs != "hold", log)
            )
            for name, path in structure.files.items()
        }
        master = _Master(structure, slaves, scheme, inputs)
        recorder = _Recorder(structure, slaves, outputs)
        values = _by_element(start_values or {}, slaves)
        for name, slave in slaves.items():
            slave.begin(start_time, stop, tolerance, values.get(name, {}))
        master.initialise()
        recorder.record()
        ended: str | None = None
        for count, (time, after) in enumerate(itertools.pairwise(times), start=1):
            ended = master.step(after - time)
            if ended is not None:
                break
            for slave in slaves.values():
                slave.time = after
            recorder.record()
            if progress:
                progress(count / (times.size - 1))
    return recorder.result(times, ended)


@dataclasses.dataclass(frozen=True)
class _Link:
    """An input that follows an output, one value each."""

    start_element: str
    start: Scalar
    end_element: str
    end: Scalar

    @property
    def continuous(self) -> bool:
        return self.start.continuous and self.end.continuous

    @property
    def name(self) -> str:
        return f"{self.end_element}.{self.end.name}"


class _Port:
    """Inputs and outputs of one slave among some links, and their places in the lists of these links."""

    def __init__(self, slave: Slave, links: Sequence[_Link]) -> None:
        self.of_u = [i for i, link in enumerate(links) if link.end_element == slave.name]
        self.of_y = [i for i, link in enumerate(links) if link.start_element == slave.name]
        self.inputs = Values([links[i].end for i in self.of_u])
        self.outputs = Values([links[i].start for i in self.of_y])


@dataclasses.dataclass(frozen=True)
class _Slot:
    """A slave with what is followed continuously, and what is held."""

    slave: Slave
    continuous: _Port
    held: _Port


class _Master:
    """State of the coupling: u and y are inputs and outputs of the continuous links, `held` the others' values."""

    def __init__(self, structure: SystemStructure, slaves: Mapping[str, Slave], scheme: str, inputs: str) -> None:
        self.sequential, self.inputs = scheme == "gauss-seidel", inputs
        links = [_Link(c.start_element, start, c.end_element, end) for c, start, end in structure.links()]
        self.links = [link for link in links if link.continuous]
        self.held_links = [link for link in links if not link.continuous]
        self.slots = [_Slot(s, _Port(s, self.links), _Port(s, self.held_links)) for s in slaves.values()]
        for slot in self.slots:
            self._check_capabilities(slot.slave, bool(slot.continuous.of_u), bool(slot.continuous.of_y))
        size = len(self.links)
        self.u, self.y, self.slopes, self.before = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
        self.held: list[Any] = [None] * len(self.held_links)
        #: Length of the step before; no line can be drawn before there was one.
        self.last: float | None = None

    def _check_capabilities(self, slave: Slave, takes: bool, gives: bool) -> None:
        able = slave.description.coSimulation
        if self.inputs != "hold" and takes and not slave.takes_slopes:
            raise SimulationError(
                f"{slave.name}: takes no input derivatives (canInterpolateInputs of FMI 2.0, "
                f"providesIntermediateUpdate of FMI 3.0), which inputs={self.inputs!r} needs; choose inputs='hold'"
            )
        if self.inputs == "tangent" and gives and not able.maxOutputDerivativeOrder:
            raise SimulationError(
                f"{slave.name}: gives no output derivatives (maxOutputDerivativeOrder), which inputs='tangent' needs; "
                "choose inputs='secant'"
            )

    # -- start

    def initialise(self) -> None:
        """Find inputs that agree with the outputs, and leave initialisation mode."""
        loop = loops.inputs_on_loops([self._dependencies(link) for link in self.links])
        names = [link.name for link in self.links]
        self.u = self._start()
        for _ in range(ROUNDS):
            self.u, jacobian = loops.consistent_inputs(self._outputs_of, self.u, loop, names)
            changed = self._pass_on_held()
            if not changed:
                break
        else:
            raise SimulationError(
                f"{changed[0].name}: no start in which the coupled FMUs agree was found, it keeps changing; put a "
                "delay or a hysteresis between them"
            )
        self.y = self._outputs_of(self.u)
        order = {slot.slave.name: place for place, slot in enumerate(self.slots)}
        ahead = np.array([[order[i.start_element] < order[i.end_element]] * len(names) for i in self.links], dtype=bool)
        # One after the other, slopes that an FMU tells stem from the line that its inputs were given.
        secant = self.inputs == "secant" or (self.sequential and self.inputs == "tangent")
        factor = loops.growth(jacobian, ahead if self.sequential else None, secant)
        if factor >= 1:
            raise SimulationError(
                f"{names[loop[0]]}: the coupling would grow by a factor of {factor:.3g} per step, however short the "
                f"steps (an algebraic loop through {', '.join(names[i] for i in loop)}). Let the side with the larger "
                "inertia take the torque, or end the other one in a spring and damper"
            )
        for slot in self.slots:
            slot.slave.finish_initialisation()
        if self.inputs == "tangent":
            self._ask_slopes()

    def _start(self) -> np.ndarray:
        """Inputs begin where the FMUs have them."""
        u = np.zeros(len(self.links))
        for slot in self.slots:
            u[slot.continuous.of_u] = slot.slave.get(slot.continuous.inputs)
        return u

    def _outputs_of(self, u: np.ndarray) -> np.ndarray:
        """Outputs in initialisation mode."""
        y = np.empty_like(u)
        for slot in self.slots:
            slot.slave.set(slot.continuous.inputs, u[slot.continuous.of_u])
        for slot in self.slots:
            y[slot.continuous.of_y] = slot.slave.get(slot.continuous.outputs)
        return y

    def _pass_on_held(self) -> list[_Link]:
        """Set the inputs that are held to the outputs in initialisation mode; returns the links that changed."""
        before = list(self.held)
        for slot in self.slots:
            self._read_held(slot)
        for slot in self.slots:
            self._set_held(slot)
        return [link for link, a, b in zip(self.held_links, before, self.held, strict=True) if not _equal(a, b)]

    def _dependencies(self, link: _Link) -> set[int]:
        """Return the links whose input the output of this one depends on directly."""
        for slot in self.slots:
            if slot.slave.name == link.start_element:
                known = loops.direct_inputs(slot.slave.description, link.start.variable.name)
                of_u = slot.continuous.of_u
                return {i for i in of_u if known is None or self.links[i].end.variable.name in known}
        return set()

    # -- steps

    def step(self, size: float) -> str | None:
        """One communication step; returns why the run ends within it, where an FMU ends it."""
        self._predict()
        outputs = self.y.copy()
        if not self.sequential:
            for slot in self.slots:
                self._set_inputs(slot)
            for slot in self.slots:
                slot.slave.step(size)
                if slot.slave.ended is not None:
                    return slot.slave.ended
            for slot in self.slots:
                self._read(slot, outputs)
        else:
            for slot in self.slots:
                self._set_inputs(slot)
                slot.slave.step(size)
                if slot.slave.ended is not None:
                    return slot.slave.ended
                self._read(slot, outputs)
                self._pass_on(slot.continuous, outputs, size)
        self.before, self.y, self.last = self.y, outputs, size
        self.u = self.y.copy()
        if self.inputs == "tangent":
            self._ask_slopes()
        return None

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

    def _set_inputs(self, slot: _Slot) -> None:
        slot.slave.set(slot.continuous.inputs, self.u[slot.continuous.of_u])
        if self.inputs != "hold":
            slot.slave.set_slopes(slot.continuous.inputs, self.slopes[slot.continuous.of_u])
        self._set_held(slot)

    def _set_held(self, slot: _Slot) -> None:
        slot.slave.set(slot.held.inputs, [self.held[i] for i in slot.held.of_u])

    def _read(self, slot: _Slot, outputs: np.ndarray) -> None:
        outputs[slot.continuous.of_y] = slot.slave.get(slot.continuous.outputs)
        self._read_held(slot)

    def _read_held(self, slot: _Slot) -> None:
        for i, value in zip(slot.held.of_y, slot.slave.get(slot.held.outputs), strict=True):
            self.held[i] = value

    def _ask_slopes(self) -> None:
        for slot in self.slots:
            self.slopes[slot.continuous.of_y] = slot.slave.slopes(slot.continuous.outputs)


def _equal(a: Any, b: Any) -> bool:
    return math.isclose(a, b, rel_tol=NEAR, abs_tol=NEAR) if isinstance(a, float) else bool(a == b)


class _Recorder:
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
        self._groups = {name: (slaves[name], Values(scalars)) for name, scalars in groups.items()}
        self._rows: list[dict[str, list[Any]]] = []

    def record(self) -> None:
        """Append the values of now."""
        self._rows.append({name: slave.get(values) for name, (slave, values) in self._groups.items()})

    def result(self, times: np.ndarray, ended: str | None) -> Result:
        """Time series of everything recorded, at the first of the times [n]."""
        times = times[: len(self._rows)]
        tables = {
            name: np.array([row[name] for row in self._rows], dtype=float).reshape(times.size, len(values))
            for name, (_, values) in self._groups.items()
        }
        series = {name: tables[element][:, i].copy() for name, (element, i) in self._places.items()}
        return Result(self.name, times, series, self._units, ended=ended, arrays=self._arrays)


def _check(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise SimulationError(f"{what} {value!r}: is unknown; {suggestion(value, known)}")


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
            raise SimulationError(f"{path}: there is no element {element!r}; {suggestion(element, slaves)}")
        found.setdefault(element, {})[name] = value
    return found
