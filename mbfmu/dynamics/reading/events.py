"""Events in equations: values that are held between events, and what gives them new ones.

The vocabulary is Modelica's (`when`, `pre`, `sample`, `edge`, `change`, `initial`, `reinit`). An event is an
expression that is true while it is being handled: a condition that is true and was not before. All that the runtime
knows of it are held values and how they follow from those before (`update` in mbfmu/runtime/contract.py); a condition
as it was before, and the number of samples taken, are held values, too.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import casadi as ca
import numpy as np

from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.declarations import DiscreteState, Impulse, Variable
from mbfmu.modeling.truths import is_truth
from mbfmu.runtime.contract import RESTITUTIONS

#: Samples from 0 s to the first: with more, the instants of neighbours would be the same numbers.
MOST_INTERVALS = 1e12
#: Modes of a point: is it closed, what it gives way by, and the normal force at which it does not; with friction also
#: does it stick, the direction (3) in which it slides, and the friction (3) at which it does not give way.
MODES, MODES_OF_FRICTION = 3, 10


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happens at instants; `active` is true while it is being handled."""

    active: ca.SX
    #: Of an edge: the condition that becomes true, and what is 1 while it is.
    condition: ca.SX | None = None
    now: ca.SX | None = None

    def __and__(self, other: Event) -> Event:
        """Both at once."""
        return Event(ca.logic_and(self.active, other.active))

    def __or__(self, other: Event) -> Event:
        """One of them, or both."""
        return Event(ca.logic_or(self.active, other.active))

    def __invert__(self) -> Event:
        """Other events."""
        return Event(ca.logic_not(self.active))

    def __bool__(self) -> bool:
        """Nothing that Python can ask before there is a run: `and` would keep one of two events without a word."""
        raise TypeError("an event is neither true nor false before the run; write &, | and ~ for and, or and not")


@dataclasses.dataclass(frozen=True)
class HeldValue:
    """A value that is held between events: what it is before the start (None: its declared start value), and what it
    becomes at an event."""

    leaf: leaves.DiscreteState | leaves.Held | leaves.Pre
    start: ca.SX | None
    rule: ca.SX


@dataclasses.dataclass(frozen=True)
class Reset:
    """States that an event sets anew, by the name of their variable."""

    active: ca.SX
    name: str
    value: ca.SX


@dataclasses.dataclass(frozen=True)
class Modes:
    """What points do, as the runtime finds it at events.

    Attributes:
        closed: 1 while a point is kept closed, for each.
        gives: what a closed point gives way by [1/kg], times the force beyond `f_n` and `f_t`, so that points share
            what the motion does not tell, as the runtime has shared it at the event.
        f_n: normal force at the event of what is closed [N], for each.
        sticks: 1 while a closed point sticks, for each; empty without friction.
        direction: in which a point slides, or begins to, three elements each; empty without friction. Friction is that
            of the velocity with its part along the direction taken for 1000 `slow` times the length of the direction
            at least: of length 1, or more where steps or drift leave more of that velocity open. A point has stopped
            where that part is less than a tenth of this speed, backwards.
        f_t: friction at the event of what sticks [N], three elements each; empty without friction.
    """

    closed: ca.SX
    gives: ca.SX
    f_n: ca.SX
    sticks: ca.SX
    direction: ca.SX
    f_t: ca.SX


@dataclasses.dataclass(frozen=True)
class Impact:
    """Points at which speeds may jump, a row each, by the name of the impulses that let them."""

    name: str
    #: Name of the impulses of friction; None: there is none.
    friction: str | None
    #: One of `contract.RESTITUTIONS`.
    restitution: str
    #: What the equations give, by the names of results of `impacts` in mbfmu/runtime/contract.py; `sliding`,
    #: `sliding_rate` and `normal` have three elements for each point that rubs, or none.
    given: Mapping[str, ca.SX]
    #: Modes of each point, as the runtime finds them: as many as `modes_of_each`, one point after the other.
    modes: leaves.Held

    @property
    def count(self) -> int:
        """How many points."""
        return int(self.given["velocity"].numel())

    @property
    def modes_of_each(self) -> int:
        """How many modes a point has."""
        return MODES if self.friction is None else MODES_OF_FRICTION

    @property
    def parts(self) -> tuple[ca.SX, ...]:
        """All that the equations give."""
        return tuple(self.given.values())


class Noted(Protocol):
    """What is taken down of equations, as far as events ask for it (mbfmu.dynamics.reading.notes)."""

    component: Any

    @property
    def where(self) -> str:
        """How messages call the component."""
        ...

    def leaf(self, leaf: leaves.Leaf) -> ca.SX:
        """The local symbol of a leaf."""
        ...

    def column(self, value: Any, what: str) -> ca.SX:
        """A value that the equations give, as SX."""
        ...

    def check_bounds(self, condition: ca.SX, what: str) -> None:
        """Refuse comparisons with what is not finite."""
        ...

    def leaves_in(self, expression: ca.SX) -> list[tuple[leaves.Leaf, int, ca.SX]]:
        """Leaves of an expression."""
        ...

    def base(self, leaf: leaves.Leaf) -> str:
        """Base type of a leaf."""
        ...

    def is_boolean(self, symbol: ca.SX) -> bool:
        """True for the symbol of a leaf that is 1 or 0."""
        ...


class Clauses:
    """What the equations of a component say about events, as it is taken down."""

    def __init__(self, notes: Noted) -> None:
        self._notes = notes
        #: Expressions whose values before the event are read, by the number of their `Pre`.
        self.before: list[ca.SX] = []
        self.resets: list[Reset] = []
        self.impacts: list[Impact] = []
        self._given: dict[leaves.DiscreteState, list[tuple[ca.SX, ca.SX]]] = {}
        self._held: list[tuple[leaves.Held, ca.SX, ca.SX]] = []
        #: Which of what is held is 1 or 0, a condition.
        self.truths: set[leaves.Held] = set()
        self._started: Event | None = None
        self._start_time: ca.SX | None = None

    def pre(self, expression: Any) -> ca.SX:
        """The expression as it was before the event."""
        expression = self._notes.column(expression, "what pre() is asked of")
        if any(isinstance(leaf, leaves.Pre) for leaf, *_ in self._notes.leaves_in(expression)):
            raise ModelError(f"{self._notes.where}: pre() of what pre() gives; there is one value before an event")
        self.before.append(expression)
        return self._notes.leaf(leaves.Pre(len(self.before) - 1, expression.numel()))

    def held(self, start: Any, rule: Callable[[ca.SX], Any]) -> ca.SX:
        """A value that is held; `rule` gives what it becomes at an event, from what it was before."""
        begin = self._notes.column(start, "the start of a held value")
        changing = self._notes.leaves_in(begin)
        if changing:
            raise ModelError(
                f"{self._notes.where}: the start of a held value depends on {changing[0][0]}, which is known in a run "
                "only; give a number or parameters, and its value at self.initial"
            )
        leaf = leaves.Held(len(self._held), begin.numel())
        symbol = self._notes.leaf(leaf)
        self._held.append((leaf, begin, symbol))  # keeps the number, while the rule may make further ones
        value = self._notes.column(rule(self.pre(symbol)), "a held value")
        if value.numel() != begin.numel():
            raise ModelError(
                f"{self._notes.where}: a held value starts with {begin.numel()} elements and is given {value.numel()}"
            )
        self._held[leaf.index] = (leaf, begin, value)
        return symbol

    def truth(self, rule: Callable[[ca.SX], Any]) -> ca.SX:
        """A condition that is held, false before the start."""
        self.truths.add(leaves.Held(len(self._held)))
        return self.held(0.0, rule)

    def initial(self) -> Event:
        """The event of the start."""
        if self._started is None:
            started = self.held(0.0, lambda before: 1.0)
            self._started = Event(ca.logic_not(self.pre(started)))
        return self._started

    def start_time(self, time: ca.SX) -> ca.SX:
        """Time at which the run started, given the time."""
        if self._start_time is None:
            started = self.initial().active
            self._start_time = self.held(0.0, lambda before: ca.if_else(started, time, before))
        return self._start_time

    @property
    def of_start(self) -> frozenset[leaves.Leaf]:
        """The leaves that `start_time` consists of."""
        found = [] if self._start_time is None else self._notes.leaves_in(self._start_time)
        return frozenset(leaf for leaf, *_ in found)

    def give(self, leaf: leaves.DiscreteState, active: ca.SX, value: ca.SX) -> None:
        """A discrete state gets a value at an event; of several events at one instant the first one counts."""
        self._given.setdefault(leaf, []).append((active, value))

    def modes(self, count: int, each: int) -> tuple[leaves.Held, Modes]:
        """What points do, which the runtime finds at events (templates/runtime/impacts.c): `each` values for each."""
        leaf = leaves.Held(len(self._held), each * count)
        table = ca.reshape(self.held(ca.SX.zeros(leaf.size), lambda before: before), each, count)
        ends = (0, 1, 2, 3, 4, 7, 10)  # of each field
        rows = [table[first:last, :] if last <= each else ca.SX(0, 1) for first, last in itertools.pairwise(ends)]
        return leaf, Modes(*map(ca.vec, rows))

    def finished(self, elsewhere: ca.SX) -> tuple[HeldValue, ...]:
        """All that is held. `elsewhere` is all that the equations say beside events: what is read there of the values
        before is held, too, so that it changes after what it is read of."""
        found = []
        for declaration in self._notes.component.variables().values():
            leaf = declaration.leaf(self._notes.component) if isinstance(declaration, DiscreteState) else None
            if isinstance(leaf, leaves.DiscreteState):
                value = self.pre(self._notes.leaf(leaf))
                for active, given in reversed(self._given.get(leaf, [])):
                    value = ca.if_else(active, given, value)
                found.append(HeldValue(leaf, None, value))
        found += [HeldValue(*entry) for entry in self._held]
        read = {leaf for leaf, *_ in self._notes.leaves_in(elsewhere) if isinstance(leaf, leaves.Pre)}
        for leaf in sorted(read, key=lambda leaf: leaf.index):
            found.append(HeldValue(leaf, ca.SX.zeros(leaf.size), self._notes.leaf(leaf)))
        return tuple(found)


class Events:
    """Mixed into the scope of equations: the vocabulary of events."""

    _notes: Any

    @property
    def time(self) -> ca.SX:
        """Time [s]."""
        raise NotImplementedError

    def switch(self, expression: Any, then: Any, otherwise: Any) -> ca.SX:
        """`then` while expression >= 0, else `otherwise`."""
        raise NotImplementedError

    def require(self, expression: Any, message: str) -> None:
        """A condition must hold."""
        raise NotImplementedError

    def time_event(self, instant: Any) -> None:
        """Something happens at this instant."""
        raise NotImplementedError

    # -- events

    @property
    def initial(self) -> Event:
        """The start: what is given at this event holds while the equations of initialisation are solved."""
        return self._clauses.initial()

    @property
    def start_time(self) -> ca.SX:
        """Time at which the run started [s]."""
        return self._clauses.start_time(self.time)

    def edge(self, condition: Any) -> Event:
        """The condition becomes true; what is true from the start on does not."""
        self._refuse_constant(condition)
        now = self._condition(condition)
        known = self._clauses.held(1.0, lambda before: now)
        return Event(
            ca.logic_and(now, ca.logic_not(self.pre(known))), self._notes.column(condition, "a condition"), now
        )

    def change(self, value: Any) -> Event:
        """A discrete value (a condition or whole number) becomes another one."""
        self._refuse_constant(value)
        value = self._condition(value) if self._is_truth(value) else self._notes.column(value, "a value that changes")
        for leaf, *_ in self._notes.leaves_in(value):
            if not leaf.is_discrete and self._notes.base(leaf) == "Real":
                raise ModelError(
                    f"{self._notes.where}: change({value!s:.40}) asks of {leaf}, which moves between events, too; "
                    "give a condition, or a value that events change"
                )
        known = self._clauses.held(ca.SX.zeros(value.numel()), lambda before: value)
        differs = ca.sum1(self.pre(known) != value) > 0
        return Event(ca.logic_and(differs, ca.logic_not(self.initial.active)))

    def sample(self, start: Any, interval: Any) -> Event:
        """The instants start + i interval (i = 0, 1, ...), from the start of a run on.

        Both are numbers or parameters that stay as they are while the model runs; `start` may count from
        `self.start_time`. Where several have passed at once, with steps of a fixed length, the last one counts.

        Raises:
            ModelError: one of them changes while the model runs, or the interval is not positive. Of an interval that
                parameters give, a run says so when it starts.
        """
        start, interval = self._series(start, interval)
        passed = ca.floor((self.time - start) / interval + 1e-9)  # i of the last instant; rounding must not lose it
        waiting = ca.fmax(passed + 1 - (self.time <= start + passed * interval + 1e-9 * interval), 0)
        due = self._clauses.held(  # the number of instants that were; -1: not started yet
            -1.0, lambda before: ca.if_else(before < 0, waiting, ca.fmax(passed + 1, before))
        )
        self.time_event(start + interval * ca.fmax(passed + 1, 0))
        before = self.pre(due)
        return Event(ca.logic_and(before >= 0, passed + 1 > before))

    def active(self, event: Event) -> ca.SX:
        """1 while the event is being handled, else 0: a signal by which it becomes one of others."""
        return self._clauses.truth(lambda before: event.active)

    # -- what they do

    def when(self, *events: Any, **values: Any) -> None:
        """Give discrete states, by name, new values at any of some events; a condition stands for its becoming true.

        In the values, a discrete state is what it becomes at this event, and `self.pre(...)` what was before.
        """
        self._check_given(values, "when")
        active = self._any(events)
        for name, value in values.items():
            declaration = self._notes.component.declarations.get(name)
            leaf = declaration.leaf(self._notes.component) if isinstance(declaration, DiscreteState) else None
            if not isinstance(leaf, leaves.DiscreteState):
                raise ModelError(
                    f"{self._notes.where}: when(..., {name}=...) needs a declared DiscreteState {name!r}; "
                    "continuous states are set by reinit"
                )
            given = self._notes.column(value, name)
            if given.numel() not in (1, leaf.size):
                raise ModelError(
                    f"{self._notes.where}: when gives {name} {given.numel()} elements, declared are {leaf.size}"
                )
            self._clauses.give(leaf, active, given)

    def reinit(self, *events: Any, **values: Any) -> None:
        """Set continuous states anew at any of some events, by the names of their variables.

        Where a comparison is the event and what is set turns it back, as the speed of a ball at its floor, the run ends
        with an error when it does not get back any more: jumps that get ever smaller have no end.

        Raises:
            ModelError: a name is that of no declared variable, or a value is no number or expression.
        """
        self._check_given(values, "reinit")
        found = [self._event(event) for event in events]
        active = self._any(found)
        for event in found:
            self._require_return(event, ", ".join(values))
        for name, value in values.items():
            if not isinstance(self._notes.component.declarations.get(name), Variable):
                raise ModelError(f"{self._notes.where}: reinit(..., {name}=...) needs a declared variable {name!r}")
            self._clauses.resets.append(Reset(active, name, self._notes.column(value, name)))

    def impact(
        self,
        impulse: str,
        *,
        velocity: Any,
        touching: Any,
        slow: Any,
        restitution: Any = 0.0,
        hypothesis: str = "Newton",
        gap: Any = 0.0,
        rate: Any = 0.0,
        resting: Any = 0.0,
        friction: str | None = None,
        sliding: Any = None,
        sliding_rate: Any = None,
        normal: Any = None,
        mu_s: Any = 0.0,
        mu_k: Any = 0.0,
    ) -> Modes:
        """Let a declared Impulse jump at events, and all speeds of the model with it, as momentum is kept.

        In each row, while `touching` is 1, what approaches is struck: the jump is not negative, nor does it pull. Under
        Newton's hypothesis a row parts with `restitution` times the velocity with which it approached; under Poisson's
        it gets as much of the impulse of compression again; under Stronge's, restitution**2 of its work. Rows that
        touch at the same event are solved together (Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts,
        1996, chapter 8). With friction the impulse along the surfaces follows Coulomb's law all the while that the
        normal one grows, through sliding, sticking and sliding back (Stronge, Impact Mechanics, 2000; Uchida, Sherman
        and Delp, Proc. R. Soc. A 471 (2015) 20140859).

        Where `resting` is 1 a row does not approach, and may stay closed: the runtime finds which of these rows press
        each other, which of them stick, and in which direction others slide, such that no force pulls and friction is
        within its cone. The equations say by `effort` what follows from these modes for the derivatives of the
        impulses.

        Args:
            impulse: name of the Impulse, whose derivative is a force of the equations, positive where it separates.
            velocity: velocity along that force, positive where bodies part [m/s, rad/s]; in positions and speeds.
            touching: 1 where a row may be struck, else 0.
            slow: speed below which nothing is struck [m/s, rad/s].
            restitution: coefficient of restitution, 0 to 1, which may depend on the velocity before.
            hypothesis: what it says: "Newton", "Poisson" or "Stronge".
            gap: distance of what may stay closed [m, rad], with which it drifts and is drawn back: 0 while it is.
            rate: how the velocity grows [m/s2, rad/s2]: 0 while a row stays closed, positive where it opens; without
                what it gives way by.
            resting: 1 where a row may stay closed, else 0.
            friction: name of the Impulse along the surfaces, three elements for each row, resolved in world frame.
            sliding: velocity with which they slide [m/s], three elements each, across the normals.
            sliding_rate: how that grows [m/s2], 0 while they stick.
            normal: unit vectors along the impulses, three elements each.
            mu_s: coefficient of static friction, up to which they stick.
            mu_k: coefficient of sliding friction.

        Returns:
            What is closed, sticks and slides; arguments may be functions of it.
        """
        notes = self._notes
        if hypothesis not in RESTITUTIONS:
            raise ModelError(
                f"{notes.where}: impact(..., hypothesis={hypothesis!r}): expected one of {', '.join(RESTITUTIONS)}"
            )
        size = self._impulse(impulse)
        if friction is not None and self._impulse(friction) != 3 * size:
            raise ModelError(
                f"{notes.where}: impact(..., friction={friction!r}): it needs {3 * size} elements, three for each of "
                f"{impulse}"
            )
        leaf, modes = self._clauses.modes(size, MODES if friction is None else MODES_OF_FRICTION)
        along = 0 if friction is None else 3 * size
        columns: dict[str, tuple[Any, int]] = {
            "velocity": (velocity, size),
            "gap": (gap, size),
            "rate": (rate, size),
            "touching": (touching, size),
            "resting": (resting, size),
            "restitution": (restitution, size),
            "slow": (slow, size),
            "mu_s": (mu_s, size),
            "mu_k": (mu_k, size),
            "sliding": (sliding, along),
            "sliding_rate": (sliding_rate, along),
            "normal": (normal, along),
        }
        given = {}
        for name, (value, count) in columns.items():
            value = value(modes) if _is_function(value) else value
            part = notes.column(value, f"the {name} of an impact") if count else ca.SX(0, 1)
            if part.numel() not in (1, count) and count:
                raise ModelError(
                    f"{notes.where}: the {name} of an impact has {part.numel()} elements, {impulse} has {size}"
                )
            given[name] = part if part.numel() == count else ca.repmat(part, count, 1)
        self._clauses.impacts.append(Impact(impulse, friction, hypothesis, given, leaf))
        return modes

    def _impulse(self, name: str) -> int:
        """How many elements a declared Impulse has."""
        declaration = self._notes.component.declarations.get(name)
        leaf = declaration.leaf(self._notes.component) if isinstance(declaration, Impulse) else None
        if not isinstance(leaf, leaves.Speed):
            raise ModelError(f"{self._notes.where}: impact({name!r}, ...) needs a declared Impulse {name!r}")
        return leaf.size

    def terminate(self, *events: Any, message: str) -> None:
        """End the run, as it should, at any of some events; `message` stands in the log."""
        self._check_message(message, "terminate")
        self._notes.endings.append((0.5 - self.hold(*events, value=1.0), message))

    def hold(self, *events: Any, value: Any, start: Any = 0.0) -> ca.SX:
        """A value that changes at any of some events only: a discrete state without a name.

        `value` may be a function of what was held before.
        """
        active = self._any(events)

        def rule(before: ca.SX) -> ca.SX:
            new = self._notes.column(value(before) if _is_function(value) else value, "a held value")
            return ca.if_else(active, new, before)

        return self._clauses.held(start, rule)

    def kept(self, start: Any, rule: Callable[[ca.SX], Any]) -> ca.SX:
        """A value that any event may change: `rule` gives what it becomes, from what it was before."""
        return self._clauses.held(start, rule)

    def pre(self, expression: Any) -> ca.SX:
        """The expression as it was before the event; between events, and for what events alone change, the same."""
        return self._clauses.pre(expression)

    # -- helpers

    def _check_given(self, values: dict[str, Any], word: str) -> None:
        if not values:
            raise ModelError(f"{self._notes.where}: {word}(...) gives no value; add NAME=value, or leave it out")

    def _check_message(self, message: Any, word: str) -> None:
        if not isinstance(message, str) or not all(c in "\n\t" or c.isprintable() for c in message):
            raise ModelError(
                f"{self._notes.where}: the message {message!r:.60} of {word} is no readable text; say what happens"
            )

    def _series(self, start: Any, interval: Any) -> tuple[ca.SX, ca.SX]:
        """Start and interval of sampling, checked; the interval is positive where it is used."""
        where = f"{self._notes.where}: sample({start!s:.40}, {interval!s:.40})"
        for value, what in ((start, "start"), (interval, "interval")):
            if isinstance(value, bool | np.bool_):
                raise ModelError(f"{where}: its {what} is the truth {value}; give a time, in s")
        start, interval = (self._notes.column(value, "an instant of sampling") for value in (start, interval))
        for value, what, allowed in ((start, "start", self._clauses.of_start), (interval, "interval", frozenset())):
            if value.numel() != 1:
                raise ModelError(f"{where}: its {what} has {value.numel()} elements; give one number, in s")
            changing = [leaf for leaf, *_ in self._notes.leaves_in(value) if leaf not in allowed]
            changing += tunable_in(self._notes.component, value)
            self._notes.asked.is_personal |= not value.is_constant()  # what owners give to parameters counts
            if changing:
                raise ModelError(
                    f"{where}: its {what} depends on {changing[0]}, which changes while the model runs, and samples "
                    "would be lost; give a number or a parameter that is not tunable"
                )
            if is_truth(value, self._notes.is_boolean):
                raise ModelError(f"{where}: its {what} is a comparison; give a time, in s")
        too_far = (
            f"more than {MOST_INTERVALS:g} intervals from 0 s, so that instants cannot be told apart; give one that is "
            "nearer, or a longer interval"
        )
        if interval.is_constant():
            if not float(interval) > 0:
                raise ModelError(f"{where}: its interval is not positive; give the time between samples, in s")
            if start.is_constant():
                if abs(float(start)) > MOST_INTERVALS * float(interval):
                    raise ModelError(f"{where}: its start is {too_far}")
                return start, interval
        if not start.is_zero() and not self._notes.leaves_in(start):
            self.require(
                MOST_INTERVALS * ca.fmax(interval, 0) - ca.fabs(start),
                f"the start {start!s:.40} of sampling is {too_far}",
            )
        if interval.is_constant():
            return start, interval
        self.require(interval > 0, f"the interval {interval!s:.40} of sampling must be > 0 s")
        return start, ca.if_else(interval > 0, interval, 1)

    @property
    def _clauses(self) -> Clauses:
        found: Clauses = self._notes.clauses
        return found

    def _event(self, event: Any) -> Event:
        return event if isinstance(event, Event) else self.edge(event)

    def _require_return(self, event: Event, names: str) -> None:
        """Where a comparison is true after a jump, and goes back: it must not go further than at the jump."""
        condition, now = event.condition, event.now
        if condition is None or now is None or not condition.is_scalar() or condition.is_constant():
            return
        found = {leaf for leaf, *_ in self._notes.leaves_in(condition)}
        if condition.op() not in (ca.OP_LT, ca.OP_LE) or all(leaf.is_discrete for leaf in found):
            return
        if any(isinstance(leaf, leaves.Potential | leaves.NetworkVariable) for leaf in found):
            return  # whether these have derivatives shows in the system only
        beyond = condition.dep(1) - condition.dep(0)
        try:
            rate = self._notes.rate_of(beyond)
        except ModelError:  # of what has no derivative nobody knows where it goes
            return
        stage = self._clauses.held(  # 1 as the jump is made, 2 from then on as long as the condition is true
            0.0,
            lambda before: ca.if_else(event.active, 1, ca.if_else(before == 1, 2, ca.if_else(now > 0.5, before, 0))),
        )
        jumped = self.pre(stage) == 1
        depth = self._clauses.held(0.0, lambda before: ca.if_else(jumped, beyond, before))
        returns = self._clauses.held(0.0, lambda before: ca.if_else(jumped, rate <= 0, before))
        lost = [now > 0.5, stage > 1.5, returns > 0.5, beyond > 10 * depth + 1e-12]
        self.require(
            1 - lost[0] * lost[1] * lost[2] * lost[3],
            f"setting {names} anew does not bring {condition!s:.40} back any more: jumps that get ever smaller have no "
            "end; let them end in a mode of rest, or take a force of contact such as ElastoGap",
        )

    def _any(self, events: Any) -> ca.SX:
        if not events:
            raise ModelError(f"{self._notes.where}: no event is given; name one, as self.sample(start, interval)")
        found = [self._event(event).active for event in events]
        active = found[0]
        for other in found[1:]:
            active = ca.logic_or(active, other)
        return active

    def _is_truth(self, value: Any) -> bool:
        """True for what is 1 or 0, and never a number whose sign says something.

        Raises:
            ModelError: logic joins numbers.
        """
        if isinstance(value, ca.SX):
            self._refuse_logic_of_numbers(value)
        return isinstance(value, Event) or is_truth(value, self._notes.is_boolean)

    def _condition(self, condition: Any) -> ca.SX:
        """A condition as 1 or 0 that changes at events only: comparisons become switches, signals are true from 0.5."""
        if isinstance(condition, Event):
            raise ModelError(f"{self._notes.where}: an event is given where a condition is needed")
        known = self._is_truth(condition)
        condition = self._notes.column(condition, "a condition")
        for element in condition.elements():
            self._notes.check_bounds(element, "a condition")
        if not known and self._is_number(condition):
            raise ModelError(
                f"{self._notes.where}: a condition is the number {condition!s:.60}, whose sign says nothing here; "
                "give a comparison, such as self.u >= 1"
            )
        if condition.numel() != 1:
            raise ModelError(f"{self._notes.where}: a condition has {condition.numel()} elements; it is one truth")
        if all(leaf.is_discrete for leaf, *_ in self._notes.leaves_in(condition)):
            return condition >= 0.5
        if not known and not condition.is_symbolic():
            raise ModelError(
                f"{self._notes.where}: a condition is the number {condition!s:.60}, whose sign says nothing here; "
                "give a comparison, such as self.u >= 1"
            )
        return self._joined(condition)

    def _refuse_constant(self, condition: Any) -> None:
        """Refuse as an event what stays as it is."""
        known = isinstance(condition, bool | np.bool_ | int | float) or (
            isinstance(condition, ca.SX) and condition.is_constant() and condition.numel() == 1
        )
        if known and float(condition) in (0.0, 1.0):
            raise ModelError(
                f"{self._notes.where}: the event {condition!s:.40} never happens, since it does not change; give a "
                "condition that does, such as self.u >= 1, or self.initial for the start"
            )

    def _is_number(self, value: ca.SX) -> bool:
        """True for a constant but 0 and 1, and for the symbol of a Real that changes between events."""
        if not value.is_scalar():
            return False
        if value.is_constant():
            return float(value) not in (0.0, 1.0)
        found = [leaf for leaf, *_ in self._notes.leaves_in(value)] if value.is_symbolic() else []
        return any(not leaf.is_discrete and self._notes.base(leaf) == "Real" for leaf in found)

    def _refuse_logic_of_numbers(self, value: ca.SX) -> None:
        """Of 1 and 0 only logic makes sense: a number in it counts as true wherever it is not exactly 0."""
        waiting = [value] if value.is_scalar() else []
        while waiting:
            part = waiting.pop()
            if part.is_constant() or part.is_symbolic() or part.op() not in (ca.OP_NOT, ca.OP_AND, ca.OP_OR):
                continue
            operands = [part.dep(i) for i in range(part.n_dep())]
            for operand in operands:
                if self._is_number(operand):
                    raise ModelError(
                        f"{self._notes.where}: the condition {value!s:.60} joins the number {operand!s:.60}; give "
                        "comparisons, such as self.u >= 1"
                    )
            waiting += operands

    def _joined(self, condition: ca.SX) -> ca.SX:
        """What is made of comparisons, with a switch for each of them."""
        if all(leaf.is_discrete for leaf, *_ in self._notes.leaves_in(condition)):
            return condition >= 0.5
        operation = condition.op()
        parts = [condition.dep(i) for i in range(condition.n_dep())]
        if operation == ca.OP_LT:
            return 1 - self._located(parts[0] - parts[1])
        if operation == ca.OP_LE:
            return self._located(parts[1] - parts[0])
        if operation in (ca.OP_EQ, ca.OP_NE):
            same = self._same(parts[0], parts[1])
            return same if operation == ca.OP_EQ else ca.logic_not(same)
        if operation == ca.OP_NOT:
            return ca.logic_not(self._joined(parts[0]))
        if operation == ca.OP_SUB:
            return ca.logic_not(self._joined(parts[1]))
        if operation in (ca.OP_AND, ca.OP_MUL, ca.OP_FMIN, ca.OP_IF_ELSE_ZERO):
            return ca.logic_and(self._joined(parts[0]), self._joined(parts[1]))
        if operation in (ca.OP_OR, ca.OP_FMAX, ca.OP_ADD):
            return ca.logic_or(self._joined(parts[0]), self._joined(parts[1]))
        return self._located(condition - 0.5)

    def _same(self, one: ca.SX, other: ca.SX) -> ca.SX:
        """1 while two whole numbers, or two truths, are equal."""
        for leaf, *_ in self._notes.leaves_in(ca.vertcat(one, other)):
            if not (leaf.is_discrete or self._notes.base(leaf) in ("Integer", "Boolean")):
                raise ModelError(
                    f"{self._notes.where}: {one!s:.40} == {other!s:.40} compares what changes between events, "
                    f"{leaf}, and would be true for an instant that no step meets; use <, <=, > or >="
                )
        return self._located(0.5 - ca.fabs(one - other))

    def _located(self, expression: ca.SX) -> ca.SX:
        """1 while the expression is not negative; its crossing is found in time."""
        return self.switch(expression, 1.0, 0.0)


#: Operations that bend or jump.
_KINKED = (
    *(ca.OP_FABS, ca.OP_SIGN, ca.OP_COPYSIGN, ca.OP_FLOOR, ca.OP_CEIL, ca.OP_FMOD, ca.OP_FMIN, ca.OP_FMAX),
    *(ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR, ca.OP_IF_ELSE_ZERO),
)


def is_straight(expression: ca.SX, along: ca.SX) -> bool:
    """True where an expression is a straight line along a symbol, without kinks and jumps that its derivative hides."""
    if ca.depends_on(ca.jacobian(expression, along), along):
        return False
    function = ca.Function("line", [along], [expression], {"allow_free": True})
    moves = [False] * function.sz_w()
    for k in range(function.n_instructions()):
        operation, inputs = function.instruction_id(k), function.instruction_input(k)
        if operation == ca.OP_OUTPUT:
            continue
        moved = operation == ca.OP_INPUT or any(moves[place] for place in inputs)
        if moved and operation in _KINKED:
            return False
        moves[function.instruction_output(k)[0]] = moved
    return True


def tunable_in(component: Any, expression: ca.SX) -> list[str]:
    """Tunable parameters that an expression depends on, also where an owner gives them to a parameter."""
    if component is None or expression.is_constant():
        return []
    symbols = {symbol.element_hash() for symbol in ca.symvar(expression)}
    found: list[str] = []
    for name, symbol in list(component._symbols.items()):
        declaration = component.parameter(name)
        if declaration is None or symbols.isdisjoint(element.element_hash() for element in symbol.elements()):
            continue
        value = component.value(name)
        if isinstance(value, ca.SX):
            found += [*tunable_in(component, value), *tunable_in(component.part_of, value)]
        elif declaration.tunable:
            found.append(f"{component.where}.{name}")
    return found


def _is_function(value: Any) -> bool:
    return callable(value) and not hasattr(value, "is_symbolic")
