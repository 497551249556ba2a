"""Coupled FMUs at one instant: their links, and values on which all agree.

What is continuous is followed as vectors of numbers. Whatever jumps, Reals that are discrete, Integers, Booleans and
Strings, is held: a line through two values of a signal that jumps leads nowhere.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.cosimulation import loops
from mbfmu.cosimulation.flanges import exposed_flanges
from mbfmu.cosimulation.shafts import Shafts
from mbfmu.cosimulation.signals import DrivenInputs
from mbfmu.cosimulation.structure import SystemStructure
from mbfmu.errors import SimulationError
from mbfmu.fmi.slave import Slave, Values
from mbfmu.fmi.variables import Scalar, unit_of

#: How often values that jump may be passed on at the start, until they stay, and how near numbers are then.
ROUNDS, NEAR = 20, 1e-9
#: An output answers to its inputs where it moves by more than this part of what its derivative says.
ANSWER = 1e-3
#: Lengths of steps, as parts of those that are made, in which FMUs without derivatives are asked for their answers.
ASKED = (1e-3, 1.0)


@dataclasses.dataclass(frozen=True)
class Pair:
    """An input that follows an output, one value each."""

    start_element: str
    start: Scalar
    end_element: str
    end: Scalar
    #: The input is `factor` times the output and `offset`, where their units differ.
    factor: float = 1.0
    offset: float = 0.0

    @property
    def continuous(self) -> bool:
        """Do output and input change between events, too?"""
        return self.start.continuous and self.end.continuous

    @property
    def name(self) -> str:
        """`element.variable` of the input."""
        return f"{self.end_element}.{self.end.name}"

    @property
    def group(self) -> tuple[str, ...]:
        """Links with which this one shares its scale: those of one unit between the same two elements."""
        unit = unit_of(self.end.variable)
        return (*sorted((self.start_element, self.end_element)), unit or self.end.name)

    @property
    def nominal(self) -> float:
        """What FMI calls the nominal value of the input; 1 where it has none."""
        return nominal(self.end)


def nominal(scalar: Scalar) -> float:
    """What FMI calls the nominal value of a variable; 1 where it has none."""
    try:
        return abs(float(scalar.attribute("nominal") or 1.0)) or 1.0
    except ValueError:
        return 1.0


class Ends:
    """Inputs and outputs of one slave among some links, and their places in the lists of these links."""

    def __init__(self, slave: Slave, links: Sequence[Pair], extra: Sequence[Scalar] = ()) -> None:
        self.of_u = [i for i, link in enumerate(links) if link.end_element == slave.name]
        self.of_y = [i for i, link in enumerate(links) if link.start_element == slave.name]
        #: Inputs that follow links, and after them those that follow signals from outside.
        self.inputs = Values([*(links[i].end for i in self.of_u), *extra])
        self.outputs = Values([links[i].start for i in self.of_y])
        self.factor = np.array([links[i].factor for i in self.of_y])
        self.offset = np.array([links[i].offset for i in self.of_y])


@dataclasses.dataclass
class Slot:
    """A slave with what is followed continuously, and what is held."""

    slave: Slave
    continuous: Ends
    held: Ends
    #: Links whose inputs its outputs depend on directly, and which of its outputs do.
    direct: list[int] = dataclasses.field(default_factory=list)
    depending: list[int] = dataclasses.field(default_factory=list)
    #: Those of the latter that answer to no input without a step.
    silent: list[int] = dataclasses.field(default_factory=list)
    #: Length of a step in which they do, s, of a slave that gives no derivatives.
    asked: float | None = None
    #: What was set last of what is held.
    given: list[Any] | None = None

    @property
    def answers(self) -> bool:
        """Do some of its outputs answer to inputs at once?"""
        return len(self.silent) < len(self.depending) or not self.depending


class Coupling:
    """Slaves and links; `u` and `y` are inputs and outputs of the continuous links [n], `held` the others' values."""

    def __init__(
        self, structure: SystemStructure, slaves: Mapping[str, Slave], signals: DrivenInputs | None = None
    ) -> None:
        links = [
            Pair(c.start_element, start, c.end_element, end, *structure.conversion(c, start, end))
            for c, start, end in structure.links()
        ]
        self.links = [link for link in links if link.continuous]
        self.held_links = [link for link in links if not link.continuous]
        self.signals = signals or DrivenInputs.none(slaves)
        self.shafts = Shafts(structure, slaves)
        self.slots = [
            Slot(
                slave,
                Ends(slave, self.links, [*self.signals.continuous[name], *self.shafts.inputs[name]]),
                Ends(slave, self.held_links, self.signals.held[name]),
            )
            for name, slave in slaves.items()
        ]
        self.names = [link.name for link in self.links]
        self.u = np.zeros(len(self.links))
        self.held: list[Any] = [None] * len(self.held_links)
        dependent = [self._dependencies(link) for link in self.links]
        for slot in self.slots:
            slot.depending = [i for i in slot.continuous.of_y if dependent[i]]
            slot.direct = sorted(set().union(*(dependent[i] for i in slot.depending)))
        #: Inputs that depend on themselves at once; and whether any output depends on an input at once.
        self.loop = loops.inputs_on_loops(dependent)
        self._dependent = dependent
        self.direct = sorted({j for slot in self.slots for j in slot.direct})
        #: Inputs whose effects are followed at once: all of them where there is a loop, or a master asks for it.
        self.followed = self.direct if self.loop else []
        #: dy/du of the direct inputs, as it was found last.
        self.jacobian: np.ndarray | None = None
        #: What FMUs had at the end of their steps, [n] each: outputs, and their inputs.
        self._reached: tuple[np.ndarray, np.ndarray] | None = None
        #: Steps that were made to see how outputs answer.
        self.calls = 0
        self.time = 0.0
        #: Where the run ends, s, and how long first steps of each element are; empty where nobody may try steps.
        self.stop = math.inf
        self.sizes: Mapping[str, float] = {}
        self.rates = self._rates()

    def _dependencies(self, link: Pair) -> set[int]:
        """Return the links whose input the output of this one depends on directly."""
        slot = next(slot for slot in self.slots if slot.slave.name == link.start_element)
        known = loops.direct_inputs(slot.slave.description, link.start.variable.name)
        return {i for i in slot.continuous.of_u if known is None or self.links[i].end.variable.name in known}

    def loops(self, answering: bool = False) -> list[list[str]]:
        """Elements that algebraic loops join, those of each loop; with `answering`, of outputs that do answer now."""
        dependent = self._dependent
        if answering and self.jacobian is not None:
            answers = self.jacobian != 0
            dependent = [{j for j in known if answers[i, j]} for i, known in enumerate(dependent)]
        return [
            list(dict.fromkeys(self.links[i].end_element for i in group))
            for group in loops.joined(self.loop, dependent)
        ]

    @property
    def ended(self) -> str | None:
        """Why the run ends, where a slave has ended it."""
        return next((slot.slave.ended for slot in self.slots if slot.slave.ended is not None), None)

    # -- values

    def read(self, slot: Slot, outputs: np.ndarray) -> None:
        """Put the outputs of a slave into their places."""
        port = slot.continuous
        if port.of_y:
            outputs[port.of_y] = port.factor * np.array(slot.slave.get(port.outputs), dtype=float) + port.offset

    def read_held(self, slot: Slot) -> None:
        """Take over the outputs of a slave that jump."""
        for k, (i, value) in enumerate(zip(slot.held.of_y, slot.slave.get(slot.held.outputs), strict=True)):
            plain = slot.held.factor[k] == 1.0 and slot.held.offset[k] == 0.0
            self.held[i] = value if plain else slot.held.factor[k] * value + slot.held.offset[k]

    def set(self, slot: Slot, u: np.ndarray) -> None:
        """Set the continuous inputs of a slave, of u [n], and of signals as they are now."""
        driven = self.signals.now(slot.slave.name, self.time)
        torques = self.shafts.torques(slot.slave.name, 1.0)
        slot.slave.set(slot.continuous.inputs, [*u[slot.continuous.of_u], *driven, *torques])

    def _set_now(self, slot: Slot) -> None:
        self.set(slot, self.u)

    def set_held(self, slot: Slot) -> None:
        """Set the inputs of a slave that jump, where they have changed."""
        given = [*(self.held[i] for i in slot.held.of_u), *self.signals.jumps(slot.slave.name, self.time)]
        if given and given != slot.given and slot.slave.ended is None:
            slot.slave.set_discrete(slot.held.inputs, given)
            slot.given = given

    def outputs(self, slots: Sequence[Slot] | None = None, others: np.ndarray | None = None) -> np.ndarray:
        """Outputs as the slaves have them, [n]; with only some slots, those of the `others` [n]."""
        y = np.empty(len(self.links)) if others is None else others.copy()
        for slot in self.slots if slots is None else slots:
            self.read(slot, y)
        return y

    def outputs_of(self, u: np.ndarray, slots: Sequence[Slot] | None = None) -> np.ndarray:
        """Outputs with some inputs, at the instant that all are at; of slaves that do not answer as derivatives say.

        With only some slots, the outputs of others are what their inputs are.
        """
        some = self.slots if slots is None else slots
        for slot in some:
            if slot.answers:
                self.set(slot, u)
        y = self.outputs(some, u)
        if self._reached is not None and self.jacobian is not None:
            reached, given = self._reached
            rows = [i for slot in some for i in slot.silent]
            y[rows] = reached[rows] + self.jacobian[rows] @ (u - given)
        return y

    # -- agreement

    def initialise(self) -> None:
        """Find inputs that agree with the outputs, and leave initialisation mode."""
        for slot in self.slots:
            begin = slot.slave.get(slot.continuous.inputs)
            self.u[slot.continuous.of_u] = begin[: len(slot.continuous.of_u)]
        for _ in range(ROUNDS):
            self.settle()
            changed = self._pass_on_held()
            if not changed:
                break
        else:
            raise SimulationError(
                f"{changed[0].name}: no start in which the coupled FMUs agree was found, it keeps changing; put a "
                "delay or a hysteresis between them"
            )
        if self.followed and self.jacobian is None:
            self.jacobian = self._differentiate(self.u, self.outputs_of(self.u))
        if self.shafts.elements:
            joined = [slot for slot in self.slots if slot.slave.name in self.shafts.elements]
            self.shafts.start([slot.slave for slot in joined], lambda: list(map(self._set_now, joined)))
        for slot in self.slots:
            slot.slave.finish_initialisation()
        for slot in self.slots if self.jacobian is not None else ():
            self._ask_in_steps(slot)
        if any(slot.silent for slot in self.slots):
            self.reach(self.outputs(), self.u)
            self.settle()
        # Some FMUs have their first outputs only now.
        moved = np.abs(self.outputs() - self.u) > loops.ACCURACY * (1 + np.abs(self.u))
        if np.any(moved) or self._pass_on_held():
            self.handle_events()

    def settle(self, slots: Sequence[Slot] | None = None) -> None:
        """Find inputs on which outputs agree at the instant that all, or some slots, are at, and set them."""
        if not self.direct:
            self.u = self.outputs()
            for slot in self.slots:
                self.set(slot, self.u)
            return
        some = self.slots if slots is None else slots
        rows = [i for slot in some for i in slot.continuous.of_y]
        known = self.jacobian
        if known is not None and len(some) < len(self.slots):
            known = np.zeros_like(known)
            known[rows] = self.jacobian[rows]  # type: ignore[index]
        self.u, found = loops.consistent_inputs(
            functools.partial(self.outputs_of, slots=some), self.u, self.followed, self.names,
            jacobian_of=functools.partial(self._differentiate, slots=some), known=known,
        )  # fmt: skip
        if not self.followed:
            return
        if found is None or self.jacobian is None:
            self.jacobian = found
        else:
            self.jacobian[rows] = found[rows]

    def _differentiate(self, u: np.ndarray, y: np.ndarray, slots: Sequence[Slot] | None = None) -> np.ndarray:
        """dy/du in the columns of direct inputs, of all or some slots: derivatives of the FMUs, else differences."""
        result = np.zeros((u.size, u.size))
        for slot in self.slots if slots is None else slots:
            if not slot.direct:
                continue
            rows = slot.depending
            if slot.slave.differentiates:
                inputs = Values([self.links[j].end for j in slot.direct])
                outputs = Values([self.links[i].start for i in rows])
                factor = np.array([self.links[i].factor for i in rows])
                result[np.ix_(rows, slot.direct)] = factor[:, None] * slot.slave.derivatives(outputs, inputs)
            else:
                result[np.ix_(rows, slot.direct)] = self._by_differences(slot, u, y)
                if slot.asked is not None and self.time + 2 * slot.asked <= self.stop:
                    places = [rows.index(i) for i in slot.silent]
                    result[np.ix_(slot.silent, slot.direct)] = self._answers(slot, u, slot.asked)[0][places]
                elif self.jacobian is not None and slot.silent:  # as it was at the start
                    result[np.ix_(slot.silent, slot.direct)] = self.jacobian[np.ix_(slot.silent, slot.direct)]
        return result

    def _by_differences(self, slot: Slot, u: np.ndarray, y: np.ndarray) -> np.ndarray:
        result = np.zeros((len(slot.depending), len(slot.direct)))
        for k, j in enumerate(slot.direct):
            moved, reached = u.copy(), y.copy()
            moved[j] += loops.PERTURBATION * (1 + abs(u[j]))
            self.set(slot, moved)
            self.read(slot, reached)
            result[:, k] = (reached - y)[slot.depending] / (moved[j] - u[j])
        self.set(slot, u)
        return result

    def _by_steps(self, slot: Slot, u: np.ndarray, size: float) -> np.ndarray:
        """Differences of outputs after steps of a size [s] from now on, of a slave that goes back after each."""
        saved, outputs = slot.slave.save(), np.zeros(u.size)
        slot.slave.goes_back = True

        def after(u: np.ndarray) -> np.ndarray:
            slot.slave.restore(saved)
            self.set(slot, u)
            slot.slave.hold_inputs()
            slot.slave.step(size)
            self.calls += 1
            self.read(slot, outputs)
            return outputs[slot.depending]

        try:
            y, result = after(u), np.zeros((len(slot.depending), len(slot.direct)))
            for k, j in enumerate(slot.direct):
                moved = u.copy()
                moved[j] += loops.PERTURBATION * (1 + abs(u[j]))
                result[:, k] = (after(moved) - y) / (moved[j] - u[j])
        finally:
            slot.slave.restore(saved)
            slot.slave.forget(saved)
            self.set(slot, u)
        return result

    def _answers(self, slot: Slot, u: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray]:
        """What outputs answer directly, [depending, direct], and whether they do, [depending].

        What they answer through states grows with the length of the step [s]; what is left for none is direct.
        """
        single, double = self._by_steps(slot, u, size), self._by_steps(slot, u, 2 * size)
        whole, grown = np.abs(double).max(axis=1), np.abs(double - single).max(axis=1)
        return 2 * single - double, (whole > 0) & (grown < whole / 4)

    def _ask_in_steps(self, slot: Slot) -> None:
        """Find outputs that answer in steps only, of a slave that gives no derivatives but can go back."""
        able = slot.slave.description.coSimulation.canHandleVariableCommunicationStepSize and slot.slave.saves
        size = self.sizes.get(slot.slave.name, math.inf)
        if slot.slave.differentiates or not (able and slot.direct):
            return
        seen = np.abs(self._by_differences(slot, self.u, self.outputs())).max(axis=1)
        for part in ASKED:
            if seen.all() or self.time + 2 * part * size > self.stop:
                return
            direct, answered = self._answers(slot, self.u, part * size)
            told = answered & (seen == 0)
            if told.any():
                slot.asked = part * size
                slot.silent = [i for i, one in zip(slot.depending, told, strict=True) if one]
                assert self.jacobian is not None
                self.jacobian[np.ix_(slot.silent, slot.direct)] = direct[told]
                return

    def look_for_answers(self, slots: Sequence[Slot] | None = None) -> None:
        """Find the outputs that do not answer to inputs without a step, as FMUs need not; after the first step."""
        for slot in self.slots if slots is None else slots:
            if not slot.direct or self.jacobian is None or slot.asked is not None:
                continue
            u, y = self.u.copy(), self.outputs()
            self.set(slot, u)
            self.read(slot, y)
            expected = np.abs(self.jacobian[np.ix_(slot.depending, slot.direct)]).max(axis=1)
            seen = np.abs(self._by_differences(slot, u, y)).max(axis=1)
            slot.silent = [i for i, e, s in zip(slot.depending, expected, seen, strict=True) if e and s < ANSWER * e]
            if slot.silent:
                self._ask_in_steps(slot)

    def reach(
        self, outputs: np.ndarray, given: np.ndarray, again: bool = False, slots: Sequence[Slot] | None = None
    ) -> None:
        """Take over what steps have reached: outputs, and the inputs that slaves had then, [n] each.

        With `again` it is near what was reached before, and derivatives are kept.
        """
        some = self.slots if slots is None else slots
        self._reached = (outputs.copy(), given.copy())
        if not again and self.jacobian is not None and any(slot.silent for slot in some):
            rows = [i for slot in some for i in slot.continuous.of_y]
            self.jacobian[rows] = self._differentiate(given, outputs, some)[rows]

    def slopes(self, told: np.ndarray, slots: Sequence[Slot] | None = None) -> np.ndarray:
        """Slopes of the outputs, [n], NaN of FMUs that do not tell them; `told` are those of inputs that FMUs assume.

        Slopes agree, too, where effects are followed at once: y' is linear in u', and dy/du the factor.
        """
        result = np.full(len(self.links), math.nan)
        for slot in self.slots if slots is None else slots:
            port = slot.continuous
            if port.of_y and slot.slave.description.coSimulation.maxOutputDerivativeOrder:
                result[port.of_y] = port.factor * slot.slave.slopes(port.outputs)
        if not self.followed or self.jacobian is None:
            return result
        known = np.isfinite(result)
        jacobian = self.jacobian * known  # columns of slopes that nobody tells stay as they were told
        agreed = np.full(len(self.links), math.nan)
        rows = np.flatnonzero(known)
        part = jacobian[np.ix_(rows, rows)]
        right = result[rows] - part @ told[rows]
        for i, j in self.rates:  # known better than by an FMU whose inputs were not quite those of now
            if known[i]:
                place = int(np.searchsorted(rows, i))
                part[place], right[place] = 0.0, self.u[j]
        agreed[rows] = np.linalg.solve(np.eye(rows.size) - part, right)
        return agreed

    def _rates(self) -> list[tuple[int, int]]:
        """Pairs of links of which the second is the derivative of the first, as speed is of angle at a flange."""
        places = {(link.start_element, link.start.name): i for i, link in enumerate(self.links)}
        found = []
        for slot in self.slots:
            element = slot.slave.name
            variables = slot.slave.description.modelVariables
            pairs = [(v.derivative.name, v.name) for v in variables if getattr(v, "derivative", None) is not None]
            for flange in exposed_flanges(variables).values():
                names = [f"{flange.name}.{member}" for member in flange.motion]
                pairs += list(itertools.pairwise(names))
            for name, rate in dict(pairs).items():
                i, j = places.get((element, name)), places.get((element, rate))
                if (
                    i is not None
                    and j is not None
                    and all((self.links[k].factor, self.links[k].offset) == (1.0, 0.0) for k in (i, j))
                ):
                    found.append((i, j))
        return found

    def agreed(self) -> dict[tuple[str, str], float]:
        """Outputs on which all agree, by element and name, of slaves whose own are those of other inputs."""
        return {
            (link.start_element, link.start.name): (self.u[i] - link.offset) / link.factor
            for i in (i for slot in self.slots for i in slot.silent)
            for link in (self.links[i],)
        }

    def handle_events(self) -> None:
        """Let FMUs handle the events at which they are, and pass on what jumps; as often as it takes.

        An FMU may end the run there: see `ended`.
        """
        for _ in range(ROUNDS):
            for slot in self.slots:
                slot.slave.finish_event()
            self.settle()
            if not self._pass_on_held():
                return

    def _pass_on_held(self) -> list[Pair]:
        """Set the inputs that are held to the outputs; returns the links that changed."""
        before = list(self.held)
        for slot in self.slots:
            self.read_held(slot)
        for slot in self.slots:
            self.set_held(slot)
        return [link for link, a, b in zip(self.held_links, before, self.held, strict=True) if not equal(a, b)]


def equal(a: Any, b: Any) -> bool:
    """Are two values of links that jump the same?"""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=NEAR, abs_tol=NEAR)
    return bool(a == b)
