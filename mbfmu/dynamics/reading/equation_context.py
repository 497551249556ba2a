"""Scope: where the equations of one elementary component are evaluated, in symbols of its own.

`self` in a component's `equations` is a scope: it has the methods of the component's class, and its declared names are
leaves (mbfmu.modeling.leaves), local symbols. What the equations assign is taken down as targets, expressions in the
leaves (notes.py).
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import column, elements
from mbfmu.dynamics.reading.behaviour import Constraint, Delay
from mbfmu.dynamics.reading.events import Events, is_straight
from mbfmu.dynamics.reading.notes import Derivative, Notes
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Frame, Frames, Given, Port, Signal, SignalOutput
from mbfmu.modeling.declarations import Coordinate, Declaration, Multiplier, Parameter, Speed, Variable
from mbfmu.modeling.leaves import (
    AngularVelocityOf,
    Delayed,
    DiscreteState,
    Effort,
    Held,
    Implied,
    Input,
    Mode,
    PartSymbols,
    PartVariable,
    Stated,
    StatedRate,
    Time,
    Value,
)
from mbfmu.modeling.truths import is_truth
from mbfmu.modeling.user_code import property_of
from mbfmu.runtime import sharing

#: From so many components of a class on, what they share is called: of fewer, it takes longer to compile than it saves.
CALLED = 20


class PartView:
    """A part of a composite inside the composite's equations: its variables, connectors and parts can be read."""

    def __init__(self, notes: Notes, name: str, part: Component) -> None:
        self._notes, self._name, self._part = notes, name, part
        notes.asked.is_personal = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
            return
        raise ModelError(
            f"{self._notes.where}: the equations of {type(self._notes.component).__name__} assign {self._name}.{name}, "
            f"which is for {self._part.title} to say; connect it, or modify it where it is made"
        )

    def __getattr__(self, name: str) -> Any:
        part = self._part
        if name in part.parts:
            return PartView(self._notes, f"{self._name}.{name}", part.parts[name])
        declaration = part.ports().get(name) or part.declarations.get(name)
        if isinstance(declaration, Parameter):
            return part._read(declaration)
        if isinstance(declaration, Variable) or (isinstance(declaration, SignalOutput) and not part.is_composite):
            return self._notes.leaf(PartVariable(self._name, name, size=math.prod(declaration.shape(part))))
        if not isinstance(declaration, Port):
            raise AttributeError(f"{part.where} ({type(part).__name__}) has no variable {name!r}")
        inside = PartSymbols(self._notes, self._name, part)
        if isinstance(declaration, Signal):
            return inside.leaf(Input(name, size=declaration.size(part)))
        return declaration.view(inside)


@dataclasses.dataclass(frozen=True)
class Facts:
    """What only the network and its topology know of a component."""

    #: Names of connectors that meet another component or the outside.
    connected: frozenset[str] = frozenset()
    #: The joint by which the component's frame moves freely, so that its own motion variables are the states.
    free_joint: Component | None = None
    #: True where its variables give the orientation of an island that no joint ties to the ground.
    holds_orientation: bool = False
    #: How many components of its class there are.
    alike: int = 1


class Scope(Events):
    """Mixed into a component's class (see `evaluate`): declared names as symbols, and the vocabulary of equations."""

    _notes: Notes
    _facts: Facts

    def _start_scope(self, facts: Facts, notes: Notes) -> None:
        vars(self).update(_facts=facts, _notes=notes, der=Derivative(notes))

    @property
    def _component(self) -> Component:
        """The component itself, of which anything may be asked."""
        self._notes.asked.is_personal = True
        return self._notes.component

    # -- declared names

    def _read(self, declaration: Declaration) -> Any:
        name, component = declaration.name, self._notes.component
        if not declaration.enabled(component):
            raise ModelError(f"{component.where}.{name} does not exist with the present parameters")
        if isinstance(declaration, Parameter):
            return self._notes.asked.parameter(component, declaration)
        if isinstance(declaration, Port):
            return declaration.view(self._notes)
        if isinstance(declaration, Frames):
            return [port.view(self._notes) for port in declaration.ports(component).values()]
        assert isinstance(declaration, Variable)
        leaf = declaration.leaf(component)
        if leaf is not None:
            return self._notes.leaf(leaf)
        try:
            return self._notes.assigned(Value(name))
        except KeyError:
            raise ModelError(
                f"{component.where}: the equations of {type(component).__name__} read {name} before they assign it"
            ) from None

    def _write(self, declaration: Declaration, value: Any) -> None:
        name, component = declaration.name, self._notes.component
        if not isinstance(declaration, Variable | SignalOutput | Given):
            raise ModelError(f"{component.where}: equations cannot assign {name}")
        if isinstance(declaration, Variable) and declaration.leaf(component) is not None:
            raise ModelError(f"{component.where}: {name} is an unknown; equations cannot assign it")
        if isinstance(value, Orientation):
            self._notes.assign(Value(name), value.T)
            self._notes.assign(AngularVelocityOf(name), value.w)
            return
        given, size = self._notes.assign(Value(name), value).numel(), math.prod(declaration.shape(component))
        if given != size:
            raise ModelError(f"{component.where}: the equations give {name} {given} elements, declared are {size}")

    def _part(self, name: str) -> PartView:
        return PartView(self._notes, name, self._notes.component.parts[name])

    # -- what is around the component

    @property
    def time(self) -> ca.SX:
        """Time [s]."""
        return self._notes.leaf(Time())

    @property
    def world(self) -> Any:
        """The World that this component sees, with its parameters and gravity_acceleration."""
        world = self._notes.component._outer_world
        if world is None:
            raise ModelError(
                f"{self._notes.where}: {type(self._notes.component).__name__} needs a World in the assembly; "
                "add one, e.g. self.world = World()"
            )
        return world

    def outer(self, name: str) -> Any:
        """The component around this one that stands as `name`, its class's `inner_name`; None where there is none."""
        return self._notes.component._outers.get(name)

    def is_connected(self, connector: str) -> bool:
        """True where something is connected to the connector."""
        return connector in self._facts.connected

    @property
    def is_root(self) -> bool:
        """True where the component's frame moves freely, so that its own motion variables are the states."""
        return self._facts.free_joint is not None

    @property
    def holds_orientation(self) -> bool:
        """True where the component's variables give the orientation of an island that no joint ties to the ground."""
        return self._facts.holds_orientation or self.is_root

    # -- vocabulary

    def relative_motion(self, r_rel_a: Any, R_rel: Orientation, frame: str | None = None) -> None:
        """A frame moves relative to the first: position resolved in the first, orientation from the first to it.

        Cut forces and torques follow: the component itself takes no power, and each of its coordinates is driven by
        what its flanges and `effort` give. Several frames, each with a statement of its own, may share coordinates.

        Args:
            r_rel_a: position, resolved in the first frame [m].
            R_rel: orientation.
            frame: the connector that moves; the second frame where none is named.
        """
        frames = [name for name, port in self._notes.component.ports().items() if isinstance(port, Frame)]
        if frame is None and len(frames) > 1:
            frame = frames[1]
        if frame not in frames[1:]:
            raise ModelError(
                f"{self._notes.where}: the equations of {type(self._notes.component).__name__} move {frame!r} relative "
                f"to the first frame; name one of its other frames, which are {', '.join(frames[1:]) or 'none'}"
            )
        self._notes.once(frame not in self._notes.motions, f"the relative motion of {frame} twice")
        r, T, w = column(r_rel_a), column(R_rel.T), column(R_rel.w)
        v, z = self._notes.rate_of(r), self._notes.rate_of(w)
        self._notes.motions[frame] = {"r": r, "T": T, "w": w, "v": v, "a": self._notes.rate_of(v), "z": z}

    def effort(self, **forces: Any) -> None:
        """Generalised forces that act along coordinates or speeds of this component, by their names."""
        for name, value in forces.items():
            if not isinstance(self._notes.component.declarations.get(name), Coordinate | Speed):
                raise ModelError(
                    f"{self._notes.where}: effort({name}=...) needs a declared Coordinate or Speed {name!r}, along "
                    "which it acts"
                )
            self._notes.assign(Effort(name), value)

    def relation(self, expression: Any) -> None:
        """expression = 0: an ideal, workless relation between flange positions and coordinates, affine in each.

        The forces that keep it follow from the principle of virtual power. A relation between temperatures of heat
        ports is kept by a heat flow through them.
        """
        self._notes.relations.append(self._notes.equation(expression, "a relation"))

    def constrain(self, *multipliers: str, position: Any = None, velocity: Any = None) -> None:
        """position = 0 (or velocity = 0) is kept by the named multipliers, which the equations use as forces."""
        for name in multipliers:
            if not isinstance(self._notes.component.declarations.get(name), Multiplier):
                raise ModelError(
                    f"{self._notes.where}: constrain({name!r}, ...) needs a declared Multiplier {name!r}, the "
                    "force that keeps it"
                )
        if position is not None:
            position = self._notes.equation(position, "a constraint")
            velocity = self._notes.rate_of(position)
        velocity = self._notes.equation(velocity, "a constraint")
        self._notes.constraints.append(
            Constraint(
                multipliers,
                position,
                velocity,
                self._notes.rate_of(velocity),
                f"constraint {len(self._notes.constraints) + 1} ({', '.join(multipliers)})",
            )
        )

    def implied(self, condition: Any) -> ca.SX:
        """A signal that nothing computes: what it has to be so that `condition`, an expression in other signals, is 0.

        The condition is differentiated until the signal has an effect on it; what it says of states is kept, too.
        """
        found = ca.SX(0, 1)
        for element in elements(self._notes.equation(condition, "what implies a signal")):
            found = ca.vertcat(found, self._notes.leaf(Implied(len(self._notes.conditions))))
            self._notes.conditions.append(element)
        return found

    def with_rate(self, value: Any, rate: Any) -> ca.SX:
        """`value`, a scalar whose time derivative is taken to be `rate` wherever it is differentiated."""
        for given in (value, rate):
            if self._notes.column(given, "a value with a rate").numel() != 1:
                raise ModelError(f"{self._notes.where}: with_rate({given!s:.40}) is of one value with one rate")
        stated = Stated(sum(isinstance(leaf, Stated) for leaf in self._notes.leaves))
        self._notes.assign(stated, value)
        self._notes.assign(StatedRate(stated.index), rate)
        return self._notes.leaf(stated)

    def initially(self, expression: Any, name: str = "initial equation") -> None:
        """expression = 0 holds at the start."""
        self._notes.initial.append((self._notes.equation(expression, name), name))

    def require(self, expression: Any, message: str) -> None:
        """A condition, or expression >= 0, must hold while the model runs.

        `message` says what is wrong and what to do; `{}` in it stands for how far the expression is below 0.
        """
        self._check_message(message, "require")
        column = self._notes.sign(expression, "a requirement")
        wholly = isinstance(expression, bool | np.bool_)
        margins = (e - 0.5 if wholly or is_truth(e, self._notes.is_boolean) else e for e in elements(column))
        self._notes.checks.append((ca.vertcat(ca.SX(0, 1), *margins), message))

    def switch(self, expression: Any, then: Any, otherwise: Any) -> ca.SX:
        """`then` while a condition holds, or expression >= 0, else `otherwise`.

        The crossing is located, the integrator restarts there. A condition is a comparison such as `self.u < 1`, what
        logic makes of such, or a Boolean. A switch with hysteresis gives a function for it: it gets the switch's
        present mode, 1 or 0.
        """
        if self._is_truth(expression):
            return ca.if_else(self._condition(expression) > 0.5, column(then), column(otherwise))
        index = len(self._notes.switches)
        mode = self._notes.leaf(Mode(index))
        if callable(expression) and not hasattr(expression, "is_symbolic"):
            expression = expression(mode)
            margin = 0.5 if self._is_truth(expression) else 0.0  # a truth that may depend on this very mode
            expression = self._notes.sign(expression, "the condition of a switch") - margin
        expression = self._notes.sign(expression, "the condition of a switch")
        if expression.numel() != 1:
            raise ModelError(
                f"{self._notes.where}: the condition of a switch has {expression.numel()} elements; it is one "
                "number, or one truth"
            )
        self._notes.switches.append(expression)
        self._notes.of_time.append(self._waits_for_instant(expression))
        return ca.if_else(mode > 0.5, column(then), column(otherwise))

    def shared(self, expression: Any, guard: Any = None) -> ca.SX:
        """A column of expressions as a call of a function, which all components have in common that say the same.

        What is long, and said by many, takes little time to build and little memory so; what few components of the
        class say is written out instead, and what knows accelerations, forces or signals: it may be solved for them,
        which a call does not show whether it is linear in. Where `guard` - a condition, or a value that is 0 or 1, such
        as that of a `switch` - is 0, all of them are 0, and a call is not made.
        """
        given = self._notes.column(expression, "what is shared")
        symbols = ca.symvar(given)
        apart = [symbol for symbol in symbols if symbol.element_hash() not in self._notes.leaf_of]
        guard = None if guard is None else self._notes.column(guard, "a guard")
        if guard is not None and guard.numel() != 1:
            raise ModelError(f"{self._notes.where}: a guard has {guard.numel()} elements; it is one number, 0 or 1")
        both = given if guard is None else ca.vertcat(ca.vec(given), guard)
        if self._facts.alike < CALLED or not all(leaf.follows_from_states for leaf, *_ in self._notes.leaves_in(both)):
            return given if guard is None else ca.if_else(guard, ca.densify(given), 0)
        return ca.reshape(sharing.shared(ca.vec(given), ca.vertcat(ca.SX(0, 1), *apart), guard), given.shape)

    def _waits_for_instant(self, expression: ca.SX) -> bool:
        """True where a switch changes at instants that are told before, or at events only.

        A straight line in time has one, which is told here. What jumps in time has a series of them, which the
        component tells. All else in time is located as what states decide is.
        """
        found = {leaf for leaf, *_ in self._notes.leaves_in(expression)}
        if not all(isinstance(leaf, Time | DiscreteState | Held) for leaf in found) or Time() not in found:
            return not found
        if not is_straight(expression, self.time):
            return found == {Time()} and any(ca.depends_on(instant, self.time) for instant in self._notes.times)
        instant = -ca.substitute(expression, self.time, 0) / ca.jacobian(expression, self.time)
        if not any(told.is_scalar() and ca.is_equal(told, instant, 4) for told in self._notes.times[-4:]):
            self.time_event(instant)
        return True

    def time_event(self, instant: Any) -> None:
        """Something jumps or kinks at this instant: the integrator stops there.

        An instant is a function of parameters and held values, and of time where it is the next of a series: those that
        lie after `self.time` count.
        """
        instant = self._notes.column(instant, "an instant")
        if any(is_truth(element, self._notes.is_boolean) for element in elements(instant)):
            raise ModelError(
                f"{self._notes.where}: an instant is the comparison {instant!s:.60}; give the time at which it is"
            )
        self._notes.times.append(instant)

    def delay(self, signal: Any, time: Any, longest: Any = None) -> ca.SX:
        """The signal as it was `time` seconds ago; what it was at the start, as long as the start is less ago.

        `time` is positive: a number, parameters, or an expression in the state of the model, which then never exceeds
        `longest`, a number or parameters. Jumps come through as jumps, at their instants where `time` is fixed.
        """
        signal = self._notes.column(signal, "a signal to delay")
        times = [self._notes.column(given, "a delay") for given in (time, time if longest is None else longest)]
        count = signal.numel()
        if any(given.numel() not in (1, count) for given in times):
            raise ModelError(f"{self._notes.where}: a delay takes one time, or one for each element of the signal")
        spread = [given if given.numel() == count else ca.repmat(given, count, 1) for given in times]
        if self._notes.leaves_in(spread[1]):
            raise ModelError(
                f"{self._notes.where}: a delay varies, and nothing says how long it may become; give "
                "delay(signal, time, longest) a number or a parameter"
            )
        leaf = Delayed(len(self._notes.delays), count)
        self._notes.delays.append(Delay(leaf, ca.vec(signal), *spread))
        return self._notes.leaf(leaf)

    def energy(self, kinetic: Any = 0.0, potential: Any = 0.0, dissipated: Any = 0.0, supplied: Any = 0.0) -> None:
        """Energy that this component stores [J], the power that it turns into heat, and the power that a field without
        potential feeds into it [W]; each of them once, in one call or several."""
        given = {"kinetic": kinetic, "potential": potential, "dissipated": dissipated, "supplied": supplied}
        for name, value in given.items():
            before = self._notes.energies.get(name, ca.SX.zeros(1))
            expression = self._notes.column(value, f"{name} energy")
            if expression.numel() != 1:
                raise ModelError(
                    f"{self._notes.where}: the {name} energy has {expression.numel()} elements; give their sum"
                )
            self._notes.once(before.is_zero() or expression.is_zero(), f"{name} energy twice")
            self._notes.energies[name] = before + expression

    def on_top(self, kinetic: Any, message: str) -> None:
        """Kinetic energy [J] that the equations of motion add to that of other components, where it may be negative.

        Where that of the whole system is, too, so that motions grow that ought to decay, a warning says `message`.
        """
        self._notes.on_top.append((self._notes.column(kinetic, "a kinetic energy"), message))


def open_scope(component: Component, facts: Facts, notes: Notes, kind: type[Scope] = Scope) -> Any:
    """A fresh scope of some kind that stands for the component and takes down in `notes`; the component stays as is."""
    cls = type(component)
    if kind not in cls._scope_classes:
        own = {name: cls.declarations[name] for name in cls.own_words}
        methods = {"_is_scope": True, "__setattr__": _set_in_scope, "__getattr__": _get_in_scope}
        cls._scope_classes[kind] = type(cls.__name__, (kind, cls), methods | own)
    scope: Any = object.__new__(cls._scope_classes[kind])
    scope._start_scope(facts, notes)
    return scope


def _set_in_scope(self: Any, name: str, value: Any) -> None:
    if name in self._notes.component.declarations:
        object.__setattr__(self, name, value)
    elif name in self._notes.component.ports():
        self._write(self._notes.component.ports()[name], value)
    elif name == "der":
        raise ModelError(f"{self._notes.where}: der is reserved")
    else:
        raise ModelError(
            f"{self._notes.where}: the equations of {type(self._notes.component).__name__} assign "
            f"{name!r}, which is not declared; declare it as a Variable, or use a local name"
        )


def _get_in_scope(self: Any, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    component = self._notes.component
    ports = component.ports()
    if name in ports:
        return ports[name].view(self._notes)
    if name in component.parts:
        return self._part(name)
    if name == "freeMotion" and self.is_root:
        return PartView(self._notes, name, self._facts.free_joint)
    if name in vars(component):
        return self._notes.asked.attribute(component, name)
    own = property_of(type(self), name)
    if own is not None:
        return own.__get__(self)  # for what it lacks itself
    raise AttributeError(f"{component.where} ({type(component).__name__}) has no {name!r}")
