"""A master: communication steps of fixed length, or as long as a tolerance allows; Jacobi or Gauss-Seidel."""

from __future__ import annotations

import concurrent.futures
import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mbfmu.cosimulation.coupling import Coupling
from mbfmu.cosimulation.fixed import FixedSteps
from mbfmu.cosimulation.recording import Account, CoupledResult, Recorder
from mbfmu.cosimulation.signals import DrivenInputs
from mbfmu.cosimulation.structure import SystemStructure
from mbfmu.cosimulation.variable import FIRST, VariableSteps
from mbfmu.errors import SimulationError
from mbfmu.fmi.remote import open_remote
from mbfmu.fmi.slave import Log, Slave, open_slave
from mbfmu.messages import suggestion
from mbfmu.runtime import arguments
from mbfmu.runtime.run import checked_tolerance

#: Order of stepping: all at once with inputs of the step before, or one after the other with the newest inputs.
SCHEMES = ("jacobi", "gauss-seidel")
#: How inputs go on within a step: at their last value, along the line through the last two, or along the slope that
#: the FMU of the output tells; or the best of these that each FMU can.
INPUTS = ("hold", "secant", "tangent", "best")

#: Tolerance of variable steps where nobody says, and by how much those of the FMUs' integrators are tighter.
TOLERANCE, TIGHTER = 1e-5, 0.1
#: The largest one beside rigid shafts, whose torques follow from small differences of angles.
AT_SHAFTS = 1e-10


def cosimulate(
    structure: SystemStructure,
    *,
    step: float | None = None,
    steps: Mapping[str, float] | None = None,
    stop_time: float | None = None,
    start_time: float = 0.0,
    scheme: str = "jacobi",
    inputs: str | None = None,
    tolerance: float | None = None,
    longest: float | None = None,
    start_values: Mapping[str, Any] | None = None,
    signals: Any = None,
    interpolation: str = "linear",
    outputs: Sequence[str] | None = None,
    threads: int = 1,
    processes: bool = False,
    limit: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> CoupledResult:
    """Step coupled FMUs of FMI 2.0 and 3.0 together in FMPy: `result["engine.axis1.tau"]`.

    Where outputs and inputs form algebraic loops, as rigid couplings do, values on which all FMUs agree are found at
    the start and at every communication point, by Newton's method.

    Where an FMU ends the run, the result ends with the last communication point that all have reached, and its `ended`
    says why. Its `account` has numbers of steps, and what FMUs could not do.

    With a fixed step the error of the coupling falls as step^1 for `hold` and as step^2 for `secant` and `tangent`, in
    both schemes (M. Arnold, C. Clauss, T. Schierz: Error analysis and error estimates for co-simulation in FMI for
    model exchange and co-simulation V2.0, Archive of Mechanical Engineering 60 (2013), 75-94).

    Args:
        structure: FMUs and connections.
        step: Length of all communication steps, s; the last one is shorter where the run is no multiple of it. None
            lets the tolerance choose them: steps whose error is too large are taken back and made shorter, and end at
            events.
        steps: Own lengths of the communication steps of some elements, s, in place of `step`; of any ratio. Where steps
            begin together, the longest are made first, and others follow them between two known points. The result has
            the points of all.
        stop_time, start_time: s; the stop time of the first FMU that names one where None, else 1.
        scheme: One of `SCHEMES`. `gauss-seidel` steps the elements in the order of the structure.
        inputs: One of `INPUTS`, for continuous inputs; others are held. All but `hold` need FMUs that take input
            derivatives (FMI 2.0) or inputs in intermediate updates (FMI 3.0); `tangent` those that give output
            derivatives, too. With `best`, each FMU is told what it can take, and inputs of FMUs that take no lines are
            held at their means. None is `hold` with a fixed step, and `best` without.
        tolerance: With a fixed step the relative tolerance of the FMUs' own integrators; theirs where None. Without,
            what steps may add to the error of a coupled quantity, relative to its largest value so far; 1e-5 where
            None. The FMUs get a tenth of it.
        longest: Longest of the steps that a tolerance chooses, s; a 50th of the run where None.
        start_values: Parameters, start values and inputs that are not connected, as `element.variable`; a list for an
            array.
        signals, interpolation: Inputs over time that are not connected, `element.variable` each, as `inputs` and
            `interpolation` of `mbfmu.simulate`.
        outputs: Variables to record, as `element.variable`; the outputs of all FMUs where None. Arrays are recorded as
            their elements, and Booleans as 0 and 1.
        threads: How many FMUs may step at the same time, with `jacobi`; results do not depend on it.
        processes: Run each FMU in a process of its own: one that crashes is named, and takes nothing with it.
        limit: What a call of an FMU in its own process may take, s; any time where None.
        progress: Called after every step with the fraction of the run that is done.

    Raises:
        ModelError: A variable or element does not exist, or the step of one is no length.
        SimulationError: An option is unknown, an FMU cannot do what it asks for, or the run stops; the message names
            FMU and time.
    """
    _check("scheme", scheme, SCHEMES)
    if inputs is not None:
        _check("inputs", inputs, INPUTS)
    tolerance = None if tolerance is None else checked_tolerance(tolerance)
    if longest is not None and not 0 < longest < math.inf:
        raise SimulationError(f"longest = {longest:g} s: must be positive")
    if longest is not None and step is not None:
        raise SimulationError(f"longest = {longest:g} s: is for steps that a tolerance chooses; leave it or step out")
    processes = arguments.flag(processes, "processes")
    if limit is not None and not (processes and 0 < limit < math.inf):
        raise SimulationError(f"limit = {limit:g} s: is a positive time, for FMUs with processes=True")
    threads = arguments.whole(threads, "threads", 1)
    if threads > 1 and scheme == "gauss-seidel":
        raise SimulationError(
            f"threads = {threads}: with gauss-seidel FMUs step one after the other; choose scheme='jacobi'"
        )
    arguments.check_callback(progress, "progress")
    stop = _stop_time(structure) if stop_time is None else stop_time
    if step is not None:
        inputs = inputs or "hold"
        own = tolerance
    else:
        tolerance = TOLERANCE if tolerance is None else tolerance
        own = max(min(TIGHTER * tolerance, AT_SHAFTS if structure.shafts else 1), arguments.LEAST_TOLERANCE)
    _check_span(start_time, stop, step)
    own_steps = structure.own_steps(step, steps)
    driven = DrivenInputs.of(structure, signals, interpolation, start_time, stop)
    lines = inputs != "hold" or bool(structure.shafts)
    log, account = Log(), Account()
    with contextlib.ExitStack() as stack:
        slaves: dict[str, Any] = {
            name: stack.enter_context(
                open_remote(name, path, structure.descriptions[name], structure.interfaces[name], lines,
                            step is None, limit)
                if processes
                else open_slave(name, path, structure.descriptions[name], structure.interfaces[name],
                                lines, log, step is None)
            )
            for name, path in structure.files.items()
        }  # fmt: skip
        coupling = Coupling(structure, slaves, driven)
        coupling.time, coupling.stop = start_time, stop
        if step is None and tolerance is not None:
            coupling.shafts.bear(TIGHTER * tolerance)
        coupling.sizes = own_steps or dict.fromkeys(slaves, FIRST * (stop - start_time))
        options = (coupling, scheme == "gauss-seidel", account, stack.enter_context(_team(threads)))
        master = FixedSteps(*options, inputs or "hold", own_steps) if step is not None else VariableSteps(
            *options, None if inputs == "best" else inputs, tolerance or TOLERANCE, longest
        )  # fmt: skip
        recorder = Recorder(structure, slaves, outputs)
        values = _by_element(start_values or {}, slaves)
        for name, slave in slaves.items():
            slave.begin(start_time, stop, own, values.get(name, {}))
        coupling.initialise()
        master.begin()
        recorder.record(start_time, slaves, coupling.agreed())
        for time, slots in master.run(start_time, stop):
            recorder.record(time, [slot.slave.name for slot in slots], coupling.agreed())
            if progress:
                progress((min(slave.time for slave in slaves.values()) - start_time) / (stop - start_time))
    account.calls += coupling.calls
    return recorder.result(master.ended, account)


@contextlib.contextmanager
def _team(threads: int) -> Iterator[Callable[..., Any]]:
    """A function as `map`, whose calls may go on at the same time."""
    if threads == 1:
        yield map
        return
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        yield pool.map


def _check(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise SimulationError(f"{what} {value!r}: is unknown; {suggestion(value, known)}")


def _stop_time(structure: SystemStructure) -> float:
    for description in structure.descriptions.values():
        experiment = description.defaultExperiment
        if experiment is not None and experiment.stopTime is not None:
            return float(experiment.stopTime)
    return 1.0


def _check_span(start: float, stop: float, step: float | None) -> None:
    if step is None:
        if not start < stop < math.inf:
            raise SimulationError(f"from {start:g} s to {stop:g} s: the stop must be after the start")
    elif not (0 < step < math.inf and start < stop < math.inf):
        raise SimulationError(
            f"step {step:g} s from {start:g} s to {stop:g} s: the step must be positive and the stop after the start"
        )


def _by_element(values: Mapping[str, Any], slaves: Mapping[str, Slave]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        element, _, name = path.partition(".")
        if element not in slaves:
            raise SimulationError(f"{path}: there is no element {element!r}; {suggestion(element, slaves)}")
        found.setdefault(element, {})[name] = value
    return found
