"""One FMU of a co-simulation: FMPy's calls, with errors that name the element and the time."""

from __future__ import annotations

import abc
import collections
import contextlib
import ctypes
import dataclasses
import math
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from mbfmu.errors import SimulationError
from mbfmu.fmi.archive import unpack
from mbfmu.fmi.variables import Interface, Scalar, is_continuous
from mbfmu.messages import suggestion

#: Steps that may return early without having gone on, one after the other.
_STUCK = 20
#: Rounds of an event iteration, after which it is taken for endless.
_ROUNDS = 100


@dataclasses.dataclass
class Log:
    """What an instance has logged: warnings and worse, and the last line of all."""

    problems: list[str] = dataclasses.field(default_factory=list)
    last: collections.deque[str] = dataclasses.field(default_factory=lambda: collections.deque(maxlen=1))

    def note(self, status: int, message: bytes) -> None:
        """Take a line."""
        text = message.decode("utf-8", "replace").strip()
        if text:
            self.last.append(text)
            if status > 0:
                self.problems.append(text)

    @property
    def ends_with_problem(self) -> bool:
        """True where the last line of all is a warning or worse."""
        return bool(self.problems and self.last) and self.last[-1] == self.problems[-1]


class AsksForNothing(SimulationError):
    """An FMU of FMI 3.0 takes no inputs in intermediate updates, though it has some."""


class Values:
    """Scalars of one FMU that are read or set together: what to call for them, and where their values go."""

    def __init__(self, scalars: Sequence[Scalar]) -> None:
        self.scalars = scalars
        #: By type of FMI: the variables, each once.
        self.variables: dict[str, list[Any]] = {}
        #: Parallel to `scalars`: the type, and the place among the values of all its variables.
        self.places: list[tuple[str, int]] = []
        sizes: dict[str, int] = {}
        begins: dict[int, int] = {}
        for scalar in scalars:
            variable = scalar.variable
            if id(variable) not in begins:
                begins[id(variable)] = sizes.get(variable.type, 0)
                sizes[variable.type] = begins[id(variable)] + math.prod(variable.shape or ())
                self.variables.setdefault(variable.type, []).append(variable)
            self.places.append((variable.type, begins[id(variable)] + scalar.place))
        self.sizes = sizes
        self.references = {
            type_: [int(variable.valueReference) for variable in found] for type_, found in self.variables.items()
        }

    def __len__(self) -> int:
        return len(self.scalars)


@dataclasses.dataclass(frozen=True)
class Saved:
    """A state of an instance: FMPy's, the time [s], and values of arrays as they were set."""

    state: Any
    time: float
    arrays: Mapping[str, list[Any]]


def _flat_places(values: Values) -> list[int]:
    """Places of scalars among all values of all types, one type after the other."""
    begins, total = {}, 0
    for type_, size in values.sizes.items():
        begins[type_] = total
        total += size
    return [begins[type_] + place for type_, place in values.places]


class Slave(abc.ABC):
    """An instance of an FMU; `time` [s] is where it stands. Make one with `open_slave`."""

    def __init__(self, name: str, description: Any, interface: Interface, fmu: Any, log: Log) -> None:
        self.name, self.description, self.interface = name, description, interface
        self.time = 0.0
        #: Why the FMU has ended the run at `time`, where it has.
        self.ended: str | None = None
        self._fmu, self._log = fmu, log
        #: Is it still to be initialised?
        self.before_start = True
        #: Where the step that is made ends, s.
        self._reached = 0.0
        #: May it be taken back to a state that was saved? Where nobody does, FMUs need not keep what that takes.
        self.goes_back = False
        #: Did the last step end early, at an event? It waits for `finish_event` then.
        self.at_event = False
        #: Values of arrays as they were set last.
        self._arrays: dict[str, list[Any]] = {}

    @property
    def fmu(self) -> Any:
        """FMPy's instance."""
        return self._fmu

    @property
    def saves(self) -> bool:
        """Can its state be saved and restored? FMPy calls the flags of both versions alike."""
        return bool(self.description.coSimulation.canGetAndSetFMUstate)

    @property
    def differentiates(self) -> bool:
        """Does it give directional derivatives?"""
        return bool(self.description.coSimulation.providesDirectionalDerivative)

    # -- what differs between the versions of FMI

    @property
    @abc.abstractmethod
    def takes_slopes(self) -> bool:
        """Can it be told derivatives of inputs?"""

    @abc.abstractmethod
    def begin(self, start_time: float, stop_time: float, tolerance: float | None, values: Mapping[str, Any]) -> None:
        """Set start values and the experiment, and enter initialisation mode."""

    @abc.abstractmethod
    def _caller(self, verb: str, type_: str) -> Callable[..., Any]:
        """FMPy's function to `get` or `set` values of a type."""

    @abc.abstractmethod
    def _got(self, type_: str, references: list[int], size: int) -> list[Any]:
        """Values of variables of one type."""

    @abc.abstractmethod
    def _slopes(self, references: list[int], size: int) -> Sequence[float]:
        """First derivatives of Real variables."""

    @abc.abstractmethod
    def _do_step(self, size: float) -> float | None:
        """Go on by `size` [s]; returns the time [s] at which the FMU has ended the run, where it has."""

    # -- what is common to them

    def set_start_values(self, values: Mapping[str, Any]) -> None:
        """Set parameters, start values and inputs by name; arrays take as many values as they have elements.

        Raises:
            SimulationError: There is no such variable, the value does not fit it, or the FMU refuses it.
        """
        for name, value in values.items():
            if name not in self.interface:
                raise SimulationError(f"{self.name}.{name}: no such variable; {suggestion(name, self.interface)}")
            scalars = self.interface[name]
            given = [value] if isinstance(value, str) else np.ravel(np.asarray(value, dtype=object)).tolist()
            if scalars[0].variable.causality == "structuralParameter":
                if given != [_number(scalars[0].start)]:
                    raise self._error(
                        f"{name} = {value}: sizes arrays, and is {scalars[0].start} as modelDescription.xml has it; "
                        "sizes are not changed, so leave it out"
                    )
                continue
            if len(given) != len(scalars):
                raise self._error(f"{name} takes {len(scalars)} values, got {len(given)}")
            self.set(Values(scalars), given, f"cannot set {name} = {value}")

    def finish_initialisation(self) -> None:
        """Leave initialisation mode."""
        self._call("cannot be initialised", self._fmu.exitInitializationMode)
        self.before_start = False

    def get(self, values: Values, finite: bool = True) -> list[Any]:
        """Read values.

        Raises:
            SimulationError: One of them is not `finite`, where it has to be: a diverged coupling.
        """
        got = self._read(values)
        found = [got[type_][place] for type_, place in values.places]
        for scalar, value in zip(values.scalars, found, strict=True) if finite else ():
            if isinstance(value, float) and not math.isfinite(value):
                raise self._error(f"{scalar.name} is not finite")
        return found

    def set(self, values: Values, given: Iterable[Any], failure: str = "refuses its inputs") -> None:
        """Set values, and leave other elements of their arrays as they are.

        Raises:
            SimulationError: A value has no equal in the type of its variable, or the FMU refuses it.
        """
        all_values: dict[str, list[Any]] = {type_: [None] * size for type_, size in values.sizes.items()}
        for scalar, (type_, place), value in zip(values.scalars, values.places, given, strict=True):
            all_values[type_][place] = self._converted(scalar, value)
        for type_, variables in values.variables.items():
            self._complete(variables, all_values[type_])
            self._call(failure, self._caller("set", type_), values.references[type_], all_values[type_])

    def _complete(self, variables: Sequence[Any], values: list[Any]) -> None:
        """Fill in elements of arrays that are not given: as they were set before, or start."""
        begin = 0
        for variable in variables:
            part = slice(begin, begin + math.prod(variable.shape or ()))
            begin = part.stop
            if not variable.shape:
                continue
            scalars = self.interface[variable.name]
            if None in values[part]:
                starts = variable.start.split() if isinstance(variable.start, str) else variable.start or []
                known = self._arrays.get(variable.name) or [
                    self._converted(scalar, _number(start)) for scalar, start in zip(scalars, starts, strict=False)
                ]
                if len(known) < len(scalars):
                    raise self._error(f"{variable.name} has no start values; set all of its elements together")
                values[part] = [old if new is None else new for old, new in zip(known, values[part], strict=True)]
            self._arrays[variable.name] = values[part]

    def slopes(self, values: Values) -> np.ndarray:
        """First time derivatives of Real outputs, [n]."""
        found = {
            type_: self._call("gives no slopes", self._slopes, references, values.sizes[type_])
            for type_, references in values.references.items()
        }
        return np.array([found[type_][place] for type_, place in values.places])

    def set_slopes(self, values: Values, slopes: np.ndarray) -> None:
        """Set the first time derivatives of Real inputs, of an FMU that takes them."""
        if len(values):
            (references,) = values.references.values()
            order = [1] * len(references)
            self._call("refuses slopes", self._fmu.setRealInputDerivatives, references, order, slopes.tolist())
            self._led = values if np.any(slopes) else None

    #: Inputs with slopes.
    _led: Values | None = None

    def hold_inputs(self) -> None:
        """Go along no lines any more: inputs keep their values over a step."""
        if self._led is not None:
            self.set_slopes(self._led, np.zeros(len(self._led)))

    def derivatives(self, outputs: Values, inputs: Values) -> np.ndarray:
        """Partial derivatives of Real outputs with respect to Real inputs at the instance's point, [outputs, inputs].

        Of an FMU that `differentiates`. Elements of arrays have theirs.
        """
        result = np.zeros((len(outputs), len(inputs)))
        unknowns = [reference for references in outputs.references.values() for reference in references]
        knowns = [reference for references in inputs.references.values() for reference in references]
        rows, columns = _flat_places(outputs), _flat_places(inputs)
        size = sum(outputs.sizes.values())
        for j, place in enumerate(columns):
            seed = [0.0] * sum(inputs.sizes.values())
            seed[place] = 1.0
            found = self._call("gives no derivatives", self._directional, unknowns, knowns, seed, size)
            result[:, j] = [found[row] for row in rows]
        return result

    @abc.abstractmethod
    def _directional(self, unknowns: list[int], knowns: list[int], seed: list[float], size: int) -> Sequence[float]:
        """Directional derivative of variables by value references."""

    def save(self) -> Saved:
        """The state of the instance, of an FMU that `saves`; `forget` frees it."""
        arrays = {name: list(values) for name, values in self._arrays.items()}
        return Saved(self._call("does not give its state", self._get_state), self.time, arrays)

    def restore(self, saved: Saved) -> None:
        """Go back to a state that was saved."""
        self._call("does not take its state back", self._set_state, saved.state)
        self.time, self.ended, self.at_event = saved.time, None, False
        self._arrays = {name: list(values) for name, values in saved.arrays.items()}

    def forget(self, saved: Saved) -> None:
        """Free a state that was saved."""
        self._call("does not free its state", self._free_state, saved.state)

    def _get_state(self) -> Any:
        return self._fmu.getFMUState()

    def _set_state(self, state: Any) -> None:
        self._fmu.setFMUState(state)

    def _free_state(self, state: Any) -> None:
        self._fmu.freeFMUState(state)

    def set_discrete(self, values: Values, given: Sequence[Any]) -> None:
        """Set inputs that jump."""
        self.set(values, given)

    def finish_event(self) -> None:
        """Handle an event at which a step has ended."""
        self.at_event = False

    def step(self, size: float) -> None:
        """Go on by `size` [s], or to where the FMU ends the run: then `ended` says why.

        An instance that ends steps at events (`events` of `open_slave`) may stop before: `time` says where.
        """
        self._reached = self.time + size
        end = self._call(f"cannot do the step of {size:g} s", self._do_step, size)
        if end is None:
            self.time = self._reached
            return
        self.time = end
        self.ended = f"{self.name} ends the run at {end:.9g} s" + "".join(f": {line}" for line in self._log.last)

    def _read(self, values: Values) -> dict[str, list[Any]]:
        """Values of all variables concerned, by type."""
        return {
            type_: self._call("gives no values", self._got, type_, references, values.sizes[type_])
            for type_, references in values.references.items()
        }

    def _converted(self, scalar: Scalar, value: Any) -> Any:
        """The value as the variable's type has it."""
        try:
            if scalar.kind == "Real":
                return float(value)
            if scalar.kind == "String":
                return str(value)
            number = int(value)
            if number == value and (scalar.kind != "Boolean" or number in (0, 1)):
                return bool(number) if scalar.kind == "Boolean" else number
        except (TypeError, ValueError, OverflowError):
            pass
        raise self._error(f"cannot set {scalar.name} = {value}: it is of type {scalar.variable.type}")

    def _call(self, failure: str, function: Callable[..., Any], *arguments: Any) -> Any:
        known = len(self._log.problems)
        try:
            return function(*arguments)
        except AsksForNothing:
            raise
        except Exception as error:
            said = self._log.problems[known:]
            raise self._error(f"{failure}: {said[-1] if said else error}") from error

    def _error(self, what: str) -> SimulationError:
        return SimulationError(f"{self.name} at t = {self.time:.9g} s: {what}")


class Slave2(Slave):
    """An instance of an FMU of FMI 2.0."""

    @property
    def takes_slopes(self) -> bool:
        """`canInterpolateInputs`."""
        return bool(self.description.coSimulation.canInterpolateInputs)

    def _directional(self, unknowns: list[int], knowns: list[int], seed: list[float], size: int) -> Sequence[float]:
        found: Sequence[float] = self._fmu.getDirectionalDerivative(unknowns, knowns, seed)
        return found

    def _get_state(self) -> Any:
        return self._fmu.getFMUstate()

    def _set_state(self, state: Any) -> None:
        self._fmu.setFMUstate(state)

    def _free_state(self, state: Any) -> None:
        self._fmu.freeFMUstate(state)

    def begin(self, start_time: float, stop_time: float, tolerance: float | None, values: Mapping[str, Any]) -> None:
        """Set up the experiment, which comes before values, and enter initialisation mode."""
        self.time = start_time
        self._call("cannot be set up", self._fmu.setupExperiment, tolerance, start_time, stop_time)
        self.set_start_values(values)
        self._call("cannot begin to initialise", self._fmu.enterInitializationMode)

    def _caller(self, verb: str, type_: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(self._fmu, verb + ("Integer" if type_ == "Enumeration" else type_))
        return function

    def _got(self, type_: str, references: list[int], size: int) -> list[Any]:
        found = self._caller("get", type_)(references)
        return [_native(type_, value) for value in found] if type_ in ("Boolean", "String") else list(found)

    def _slopes(self, references: list[int], size: int) -> Sequence[float]:
        found: Sequence[float] = self._fmu.getRealOutputDerivatives(references, [1] * len(references))
        return found

    def _do_step(self, size: float) -> float | None:
        """A step that ends the run is discarded, and the status `terminated` is set (FMI 2.0.4, section 4.2.2)."""
        from fmpy.fmi1 import FMICallException
        from fmpy.fmi2 import fmi2Discard, fmi2LastSuccessfulTime, fmi2Terminated

        try:
            self._fmu.doStep(self.time, size, 0 if self.goes_back else 1)
        except FMICallException as failure:
            if failure.status != fmi2Discard:
                raise
            try:
                ended = self._fmu.getBooleanStatus(fmi2Terminated)
                reached = float(self._fmu.getRealStatus(fmi2LastSuccessfulTime)) if ended else 0.0
            except FMICallException:  # not every FMU says why it discards a step
                ended, reached = False, 0.0
            if not ended:
                raise
            return reached
        return None


class Slave3(Slave):
    """An instance of an FMU of FMI 3.0. Without event mode, steps that return early are gone on with."""

    #: Do steps end at events, which `finish_event` handles?
    events = False

    #: The lines that inputs follow: which, their values and slopes, and the time [s] at which they begin.
    _lines: tuple[Values, np.ndarray, np.ndarray, float] | None = None
    #: Whether inputs were asked for in a step, and what went wrong then.
    _asked = False
    _failure: Exception | None = None

    @property
    def takes_slopes(self) -> bool:
        """Has it intermediate updates, which came in place of input derivatives? It may still ask for no inputs."""
        return bool(self.description.coSimulation.providesIntermediateUpdate)

    def _directional(self, unknowns: list[int], knowns: list[int], seed: list[float], size: int) -> Sequence[float]:
        found: Sequence[float] = self._fmu.getDirectionalDerivative(unknowns, knowns, seed, size)
        return found

    def finish_initialisation(self) -> None:
        """Leave initialisation mode and, in an instance that ends steps at events, the event mode that follows."""
        super().finish_initialisation()
        if self.events:
            self._update()

    def set_discrete(self, values: Values, given: Sequence[Any]) -> None:
        """Set inputs that jump, in event mode where there is one."""
        if not self.events or self.before_start:
            self.set(values, given)
        elif len(values):
            self._call("does not enter event mode", self._fmu.enterEventMode)
            self.set(values, given)
            self._update()

    def finish_event(self) -> None:
        """Handle the event at which the last step has ended."""
        if self.at_event:
            self._call("does not enter event mode", self._fmu.enterEventMode)
            self._update()
        self.at_event = False

    def _update(self) -> None:
        """Iterate in event mode until discrete states stay, and go on in step mode (FMI 3.0, section 2.3.5)."""
        for _ in range(_ROUNDS):
            again, ends, *_ = self._call("cannot handle an event", self._fmu.updateDiscreteStates)
            if ends:
                told = "".join(f": {line}" for line in self._log.last)
                self.ended = f"{self.name} ends the run at {self.time:.9g} s{told}"
                return
            if not again:
                self._call("does not return to steps", self._fmu.enterStepMode)
                return
        raise self._error("its event iteration does not end")

    def hold_inputs(self) -> None:
        """Go along no lines any more: inputs keep their values over a step."""
        self._lines = None

    def set_slopes(self, values: Values, slopes: np.ndarray) -> None:
        """Let Real inputs go on from their values along lines, of an FMU that asks for them."""
        if len(values):
            self._lines = (values, np.array(self.get(values)), slopes, self.time)

    def update(self, _environment: Any, time: float, requested: bool, *arguments: Any) -> None:
        """The FMU's call within a step: it takes inputs at a time [s], where it asks for them."""
        ends = arguments[-2]
        ends[0] = False
        if requested and self._lines is not None:
            values, begin, slopes, start = self._lines
            self._asked = True
            try:
                self.set(values, begin + slopes * (time - start))
            except Exception as error:  # raised where the step ends: there is C in between
                self._failure = error

    def begin(self, start_time: float, stop_time: float, tolerance: float | None, values: Mapping[str, Any]) -> None:
        """Set start values, and enter initialisation mode, which takes the experiment."""
        self.time = start_time
        self.set_start_values(values)
        begin = self._fmu.enterInitializationMode
        self._call("cannot begin to initialise", begin, tolerance, start_time, stop_time)

    def _caller(self, verb: str, type_: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(self._fmu, verb + ("Int64" if type_ == "Enumeration" else type_))
        return function

    def _got(self, type_: str, references: list[int], size: int) -> list[Any]:
        return [_native(type_, value) for value in self._caller("get", type_)(references, size)]

    def _slopes(self, references: list[int], size: int) -> Sequence[float]:
        # FMPy's getOutputDerivatives has room for scalars only.
        count = len(references)
        found = (ctypes.c_double * size)()
        self._fmu.fmi3GetOutputDerivatives(
            self._fmu.component, (ctypes.c_uint * count)(*references), count, (ctypes.c_int * count)(*[1] * count),
            found, size,
        )  # fmt: skip
        return list(found)

    def _do_step(self, size: float) -> float | None:
        end, now, stuck = self.time + size, self.time, 0
        while True:
            event, terminate, early, reached = self._fmu.doStep(now, end - now, not self.goes_back)
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure
            if terminate:
                return float(reached)
            if self.events and event:
                self.at_event = True
                self._reached = float(reached) if early else end
                return None
            if not early or not reached < end:
                break
            stuck = 0 if reached > now else stuck + 1
            if stuck > _STUCK:
                raise SimulationError(f"its steps return early at {reached:.9g} s and do not go on")
            now = reached
        if self._lines is not None and not self._asked:
            raise AsksForNothing(f"{self.name}: asks for no inputs in intermediate updates; choose inputs='hold'")
        return None


def _continuous_inputs(description: Any) -> list[Any]:
    """FMPy's variables that are inputs and change between events."""
    return [
        variable for variable in description.modelVariables if variable.causality == "input" and is_continuous(variable)
    ]


def _number(text: Any) -> Any:
    """A start value of modelDescription.xml."""
    if not isinstance(text, str):
        return text
    return text == "true" if text in ("true", "false") else float(text)


def _native(type_: str, value: Any) -> Any:
    """Python's value: FMPy gives Booleans of FMI 2.0 as numbers, and texts as bytes."""
    if type_ == "Boolean":
        return bool(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


@contextlib.contextmanager
def open_slave(
    name: str,
    path: pathlib.Path,
    description: Any,
    interface: Interface,
    lines: bool = False,
    log: Log | None = None,
    events: bool = False,
) -> Iterator[Slave]:
    """Yield an instance of an FMU, and free it afterwards.

    With `lines`, its inputs shall go on within steps. With `events`, steps of FMUs of FMI 3.0 that have event mode end
    at events. FMPy gives lines of FMI 2.0 to whom it was told of last: several
    FMUs share one `log`.

    Raises:
        SimulationError: The FMU is not one for co-simulation in FMI 2.0 or 3.0, or has no binary for this machine, or
            cannot be loaded.
    """
    with tempfile.TemporaryDirectory(prefix="mbfmu-") as folder:
        unpack(path, folder)
        with open_unpacked(name, path, folder, description, interface, lines, log=log, events=events) as slave:
            yield slave


@contextlib.contextmanager
def open_unpacked(
    name: str,
    path: pathlib.Path,
    folder: str,
    description: Any,
    interface: Interface,
    lines: bool = False,
    *,
    kind: Literal["CoSimulation", "ModelExchange"] = "CoSimulation",
    log: Log | None = None,
    events: bool = False,
) -> Iterator[Slave]:
    """Yield an instance of an FMU that is unpacked in a folder already; as `open_slave` else.

    One for model exchange makes no steps, but takes and gives values.
    """
    import fmpy
    from fmpy.simulation import instantiate_fmu

    of_fmi_3 = description.fmiVersion.startswith("3.")
    offered = description.coSimulation if kind == "CoSimulation" else description.modelExchange
    if not (of_fmi_3 or description.fmiVersion == "2.0") or offered is None:
        what = "co-simulation" if kind == "CoSimulation" else "model exchange"
        raise SimulationError(f"{name} ({path}): is no FMU for {what} in FMI 2.0 or 3.0; export it as one")
    if fmpy.platform not in fmpy.supported_platforms(folder):
        raise SimulationError(f"{name} ({path}): has no binary for {fmpy.platform}; build it for this platform")
    log = log or Log()

    def log_2(_environment: Any, _instance: bytes, status: int, _category: bytes, message: bytes) -> None:
        log.note(status, message)

    def log_3(_environment: Any, status: int, _category: bytes, message: bytes) -> None:
        log.note(status, message)

    slave: Slave | None = None

    def update(*arguments: Any) -> None:
        if isinstance(slave, Slave3):
            slave.update(*arguments)

    options: dict[str, Any] = {"early_return_allowed": True} if of_fmi_3 and kind == "CoSimulation" else {}
    events = bool(options) and events and bool(getattr(offered, "hasEventMode", False))
    if events:
        options["event_mode_used"] = True
    inputs = _continuous_inputs(description)
    if lines and of_fmi_3 and inputs and offered.providesIntermediateUpdate:
        required = [int(variable.valueReference) for variable in inputs]
        options |= {"intermediate_update": update, "required_intermediate_variables": required}

    try:
        # FMPy enters the folder of the binary, and stays there where it cannot be loaded.
        with contextlib.chdir(pathlib.Path.cwd()):
            logger = log_3 if of_fmi_3 else log_2
            fmu = instantiate_fmu(folder, description, kind, logger=logger, **options)
    except Exception as error:
        reason = log.problems[-1] if log.problems else error
        raise SimulationError(f"{name} ({path}): cannot be instantiated: {reason}") from error
    try:
        slave = (Slave3 if of_fmi_3 else Slave2)(name, description, interface, fmu, log)
        if isinstance(slave, Slave3):
            slave.events = events
        yield slave
    finally:
        fmu.freeInstance()
