"""Scope: where the equations of one elementary component are evaluated, in symbols of its own.

`self` in a component's `equations` is a scope: it has the methods of the component's class, and its declared names are
local symbols, called *leaves* - positions and speeds at its connectors, coordinates, states, multipliers, signals.
What the equations assign is recorded as *targets*, expressions in the leaves. Because every leaf knows its own time
derivative, `self.der(...)` costs what the component's own expression costs, however far from the root it sits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.errors import ModelError
from mbfmu.frames import Orientation, skew
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Flange, Frame, Given, HeatPort, Port, RealInput, RealOutput, Signal
from mbfmu.modeling.declarations import (
    Coordinate,
    Declaration,
    Multiplier,
    Parameter,
    Quaternion,
    Speed,
    State,
    Variable,
)

#: Names a leaf or a target of a component, e.g. ("frame", "frame_a", "r_0") or ("flow", "frame_b", "f").
Key = tuple[Any, ...]


def column(value: Any) -> ca.SX:
    """`value` (number, sequence, array, SX) as SX; sequences as columns."""
    if isinstance(value, ca.SX):
        return value
    if isinstance(value, list | tuple) and any(isinstance(v, ca.SX) for v in value):
        return ca.vertcat(ca.SX(0, 1), *value)
    return ca.SX(np.asarray(value, dtype=float))


@dataclasses.dataclass
class Constraint:
    """Rows that a set of multipliers enforces: of position (with its two derivatives) or of velocity."""

    multipliers: tuple[str, ...]
    position: ca.SX | None
    velocity: ca.SX
    acceleration: ca.SX
    name: str


@dataclasses.dataclass
class Record:
    """What the equations of one component say: leaves that they read, targets that they assign, and the rest."""

    component: Component
    leaves: dict[Key, ca.SX] = dataclasses.field(default_factory=dict)
    targets: dict[Key, ca.SX] = dataclasses.field(default_factory=dict)
    #: Expressions that relations keep at zero.
    relations: list[ca.SX] = dataclasses.field(default_factory=list)
    constraints: list[Constraint] = dataclasses.field(default_factory=list)
    #: (residual, name) of initial equations.
    initial: list[tuple[ca.SX, str]] = dataclasses.field(default_factory=list)
    #: (expression >= 0, message) of assertions.
    checks: list[tuple[ca.SX, str]] = dataclasses.field(default_factory=list)
    times: list[ca.SX] = dataclasses.field(default_factory=list)
    switches: list[ca.SX] = dataclasses.field(default_factory=list)
    #: Relative motion r, T, w of frame_b in frame_a with the derivatives v, a, z; None where there is none.
    motion: dict[str, ca.SX] | None = None
    energies: dict[str, ca.SX] = dataclasses.field(default_factory=dict)
    #: Element hash of a leaf's symbol -> (key, index, symbol).
    leaf_of: dict[int, tuple[Key, int, ca.SX]] = dataclasses.field(default_factory=dict)
    #: Time derivative of any expression in the leaves.
    derivative: Any = None

    def leaves_in(self, expression: ca.SX) -> list[tuple[Key, int, ca.SX]]:
        """Key, index and symbol of every leaf element that an expression contains; parameters are none."""
        hashes = (symbol.element_hash() for symbol in ca.symvar(expression))
        return [self.leaf_of[element] for element in hashes if element in self.leaf_of]


class Derivative:
    """`der(expression)` differentiates with respect to time; `der.x = ...` gives a state its equation."""

    _scope: Any

    def __init__(self, scope: Any) -> None:
        object.__setattr__(self, "_scope", scope)

    def __call__(self, expression: Any) -> Any:
        """Time derivative of an expression in the leaves."""
        return self._scope._derivative(expression)

    def __setattr__(self, name: str, value: Any) -> None:
        """Give the state `name` its derivative."""
        scope = self._scope
        declaration = scope._component.declarations.get(name)
        if not isinstance(declaration, State):
            raise ModelError(f"{scope._component.where}: der.{name} = ... needs a declared State {name!r}")
        size, given = declaration.size(scope._component), scope._assign(("state'", name), value).numel()
        if given != size:
            raise ModelError(
                f"{scope._component.where}: the equations give der.{name} {given} elements, declared are {size}"
            )


class FrameView:
    """A frame connector inside equations: read r_0, R, f, t; assign f and t, or (a root) r_0 and R."""

    def __init__(self, scope: Any, name: str) -> None:
        object.__setattr__(self, "_scope", scope)
        object.__setattr__(self, "_name", name)

    def __getattr__(self, name: str) -> Any:
        scope, connector = self._scope, self._name
        if name == "r_0":
            return scope._frame_leaf(connector, "r_0")
        if name == "R":
            return Orientation(scope._frame_leaf(connector, "T"), scope._frame_leaf(connector, "w"))
        if name in ("f", "t"):
            return scope._flow(connector, name, 3)
        raise AttributeError(f"{scope._component.where}.{connector} has no variable {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "R":
            self._scope._assign(("root", self._name, "T"), value.T)
            self._scope._assign(("root", self._name, "w"), value.w)
        elif name == "r_0":
            self._scope._assign(("root", self._name, "r_0"), value)
        elif name in ("f", "t"):
            self._scope._assign(("flow", self._name, name), value)
        else:
            raise AttributeError(f"{self._scope._component.where}.{self._name} has no variable {name!r}")


class FlangeView:
    """A flange inside equations: read and assign position (then it is prescribed) and flow."""

    def __init__(self, scope: Any, name: str, port: Flange) -> None:
        vars(self).update(_scope=scope, _name=name, _port=port)

    def __getattr__(self, name: str) -> Any:
        if name == self._port.position:
            return self._scope._motion_leaf("flange", self._name, 1)
        if name == self._port.flow:
            return self._scope._flow(self._name, name, 1)
        raise AttributeError(f"{self._scope._component.where}.{self._name} has no variable {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == self._port.position:
            self._scope._assign(("root", self._name), value)
        elif name == self._port.flow:
            self._scope._assign(("flow", self._name, name), value)
        else:
            raise AttributeError(f"{self._scope._component.where}.{self._name} has no variable {name!r}")


class HeatPortView:
    """A heat port inside equations: read T and Q_flow; assign Q_flow, or T where the component determines it."""

    def __init__(self, scope: Any, name: str) -> None:
        vars(self).update(_scope=scope, _name=name)

    def __getattr__(self, name: str) -> Any:
        if name == "T":
            return self._scope._leaf(("temperature", self._name))
        if name == "Q_flow":
            return self._scope._flow(self._name, name, 1)
        raise AttributeError(f"{self._scope._component.where}.{self._name} has no variable {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "T":
            self._scope._assign(("temperature", self._name), value)
        elif name == "Q_flow":
            self._scope._assign(("flow", self._name, name), value)
        else:
            raise AttributeError(f"{self._scope._component.where}.{self._name} has no variable {name!r}")


class PartView:
    """A part of a composite inside the composite's equations: its variables, connectors and parts can be read."""

    def __init__(self, scope: Any, name: str, part: Component) -> None:
        self._scope, self._name, self._part = scope, name, part

    def __getattr__(self, name: str) -> Any:
        part = self._part
        if name in part.parts:
            return PartView(self._scope, f"{self._name}.{name}", part.parts[name])
        declaration = part.ports().get(name) or part.declarations.get(name)
        if isinstance(declaration, Parameter):
            return part._read(declaration)
        if isinstance(declaration, Variable) or (isinstance(declaration, RealOutput) and not part.is_composite):
            return self._scope._part_leaf(self._name, name, int(np.prod(declaration.shape(part))))
        if not isinstance(declaration, Port):
            raise AttributeError(f"{part.where} ({type(part).__name__}) has no variable {name!r}")
        inside = _PartScope(self._scope, self._name, part)
        if isinstance(declaration, Signal):
            return inside._motion_leaf("input", name, int(np.prod(declaration.shape(part))))
        if isinstance(declaration, Frame):
            return FrameView(inside, name)
        return FlangeView(inside, name, declaration) if isinstance(declaration, Flange) else HeatPortView(inside, name)


class Scope:
    """Mixed into a component's class (see `evaluate`): leaves, targets and the vocabulary of equations."""

    _component: Component
    _rate_of: dict[Key, Callable[[], Any] | None]
    _record: Record
    _facts: dict[str, Any]

    def _start_scope(self, component: Component, facts: dict[str, Any]) -> None:
        vars(self).update(
            _component=component, _facts=facts, _record=Record(component), der=Derivative(self), _rate_of={}
        )

    # -- leaves

    def _leaf(self, key: Key, shape: tuple[int, ...] = (1,), rate: Callable[[], Any] | None = None) -> ca.SX:
        """The symbol of `key`, made on first use; `rate` gives its time derivative."""
        if key not in self._record.leaves:
            symbol = ca.SX.sym("_".join(map(str, key)), *shape)
            self._record.leaves[key] = symbol
            for i, element in enumerate(ca.vertsplit(ca.vec(symbol))):
                self._record.leaf_of[element.element_hash()] = (key, i, element)
            self._rate_of[key] = rate
        return self._record.leaves[key]

    def _frame_leaf(self, connector: str, what: str) -> ca.SX:
        def rate() -> Any:
            if what == "T":
                return -skew(self._frame_leaf(connector, "w")) @ self._frame_leaf(connector, "T")
            following = {"r_0": "v_0", "v_0": "a_0", "w": "z"}.get(what)
            return None if following is None else self._frame_leaf(connector, following)

        return self._leaf(("frame", connector, what), (3, 3) if what == "T" else (3,), rate)

    def _motion_leaf(self, kind: str, name: str, size: int, order: int = 0) -> ca.SX:
        """Leaves that come with derivatives: flange positions, coordinates, signals, each with its order."""

        def rate() -> Any:
            return None if order == 2 else self._motion_leaf(kind, name, size, order + 1)

        return self._leaf((kind, name, order), (size,), rate)

    def _part_leaf(self, part: str, name: str, size: int, order: int = 0) -> ca.SX:
        return self._leaf(
            ("part", part, name, order),
            (size,),
            lambda: None if order == 2 else self._part_leaf(part, name, size, order + 1),
        )

    def _flow(self, connector: str, name: str, size: int, order: int = 0) -> ca.SX:
        """Leaf of a flow; whether the system can give its derivatives shows when they are asked for."""
        return self._leaf(
            ("flow", connector, name, *([order] if order else [])),
            (size,),
            lambda: None if order == 2 else self._flow(connector, name, size, order + 1),
        )

    def _read(self, declaration: Declaration) -> Any:
        name = declaration.name
        component = self._component
        if not declaration.enabled(component):
            raise ModelError(f"{component.where}.{name} does not exist with the present parameters")
        if isinstance(declaration, Parameter):
            return component._read(declaration)
        if isinstance(declaration, Port):
            return self._port(name, declaration)
        assert isinstance(declaration, Variable)
        size, role = declaration.size(component), declaration.role(component)
        if issubclass(role, Coordinate):
            return self._motion_leaf("coordinate", name, size)
        if issubclass(role, Quaternion):
            assert isinstance(declaration, Quaternion)
            return self._leaf(("quaternion", name), (4,), lambda: self._quaternion_rate(declaration))
        if issubclass(role, Speed):
            return self._leaf(("speed", name, 0), (size,), lambda: self._leaf(("speed", name, 1), (size,)))
        if issubclass(role, State):
            return self._leaf(("state", name), (size,), lambda: self._state_rate(name, size))
        if issubclass(role, Multiplier):
            return self._leaf(("multiplier", name), (size,))
        if ("variable", name) not in self._record.targets:
            raise ModelError(
                f"{component.where}: the equations of {type(component).__name__} read {name} before they assign it"
            )
        return self._record.targets[("variable", name)]

    def _port(self, name: str, port: Port) -> Any:
        if isinstance(port, Frame):
            return FrameView(self, name)
        if isinstance(port, Flange):
            return FlangeView(self, name, port)
        if isinstance(port, HeatPort):
            return HeatPortView(self, name)
        if isinstance(port, RealOutput):
            if ("variable", name) not in self._record.targets:
                raise ModelError(f"{self._component.where}: the equations read the output {name} before they assign it")
            return self._record.targets[("variable", name)]
        assert isinstance(port, RealInput)
        shape = port.shape(self._component)
        return self._motion_leaf("input", name, shape[0] if shape else 1)

    def _part(self, name: str) -> PartView:
        return PartView(self, name, self._component.parts[name])

    def _state_rate(self, name: str, size: int) -> ca.SX:
        """Rate of a state, which can itself be differentiated as far as what the equations assign to it."""
        key = ("state'", name)
        return self._leaf(key, (size,), lambda: self._derivative(self._record.targets[key]))

    def _quaternion_rate(self, declaration: Quaternion) -> ca.SX:
        """dQ/dt = 1/2 [c I + skew(u); -u'] w for w resolved in the rotated frame (seed 004, Quaternions)."""
        Q = self._leaf(("quaternion", declaration.name), (4,))
        w = self._read(self._component.declarations[declaration.speed])
        return 0.5 * ca.vertcat(Q[3] * w + skew(Q[:3]) @ w, -ca.dot(Q[:3], w))

    @property
    def time(self) -> ca.SX:
        """Time [s]."""
        return self._leaf(("time",), (1,), lambda: ca.SX(1))

    @property
    def world(self) -> Any:
        """The World that this component sees, with its parameters and gravity_acceleration."""
        world = self._component._outer_world
        if world is None:
            raise ModelError(
                f"{self._component.where}: {type(self._component).__name__} needs a World in the assembly; "
                "add one, e.g. self.world = World()"
            )
        return world

    def is_connected(self, connector: str) -> bool:
        """True where something is connected to the connector."""
        return connector in self._facts["connected"]

    @property
    def is_root(self) -> bool:
        """True where the component's frame moves freely, so that its own motion variables are the states."""
        return bool(self._facts.get("is_root"))

    @property
    def holds_orientation(self) -> bool:
        """True where the component's variables give the orientation of an island that no joint ties to the ground."""
        return bool(self._facts.get("holds_orientation")) or self.is_root

    # -- targets

    def _write(self, declaration: Declaration, value: Any) -> None:
        name = declaration.name
        if isinstance(declaration, Parameter | RealInput) or not isinstance(declaration, Variable | RealOutput | Given):
            raise ModelError(f"{self._component.where}: equations cannot assign {name}")
        if isinstance(declaration, Variable) and declaration.role(self._component) is not Variable:
            raise ModelError(f"{self._component.where}: {name} is an unknown; equations cannot assign it")
        expression = self._assign(("variable", name), value.T if isinstance(value, Orientation) else value)
        size = int(np.prod(declaration.shape(self._component)))
        if expression.numel() != size and declaration.type.name != "Orientation":
            raise ModelError(
                f"{self._component.where}: the equations give {name} {expression.numel()} elements, declared are {size}"
            )
        if isinstance(value, Orientation):
            self._assign(("variable", name, "w"), value.w)

    def _assign(self, key: Key, value: Any) -> ca.SX:
        expression = column(value)
        self._record.targets[key] = expression
        return expression

    def _derivative(self, expression: Any) -> ca.SX:
        expression = column(expression)
        leaves, rates = [], []
        for key, index, element in self._record.leaves_in(expression):
            rate = self._rate_of[key]
            if key[0] == "mode":
                continue
            value = rate() if rate is not None else None
            if value is None:
                raise ModelError(
                    f"{self._component.where}: the equations of {type(self._component).__name__} "
                    f"differentiate {' '.join(map(str, key))}, which has no derivative here"
                )
            leaves.append(element)
            rates.append(ca.vec(value)[index])
        if not leaves:
            return ca.SX.zeros(*expression.shape)
        return ca.jtimes(expression, ca.vertcat(*leaves), ca.vertcat(*rates))

    # -- vocabulary

    def relative_motion(self, r_rel_a: Any, R_rel: Orientation) -> None:
        """frame_b moves relative to frame_a: position resolved in frame_a, orientation from frame_a to frame_b.

        Cut forces and torques follow: the joint itself takes no power, and each of its coordinates is driven by what
        its flanges and `effort` give.
        """
        r, T, w = column(r_rel_a), column(R_rel.T), column(R_rel.w)
        v, z = self._derivative(r), self._derivative(w)
        self._record.motion = {"r": r, "T": T, "w": w, "v": v, "a": self._derivative(v), "z": z}

    def effort(self, **forces: Any) -> None:
        """Generalised forces that act along coordinates or speeds of this component, by their names."""
        for name, value in forces.items():
            self._assign(("effort", name), value)

    def relation(self, expression: Any) -> None:
        """expression = 0: an ideal, workless relation between flange positions and coordinates, affine in each.

        The forces that keep it follow from the principle of virtual power. A relation between temperatures of heat
        ports is kept by a heat flow through them.
        """
        self._record.relations.append(column(expression))

    def constrain(self, *multipliers: str, position: Any = None, velocity: Any = None) -> None:
        """position = 0 (or velocity = 0) is kept by the named multipliers, which the equations use as forces."""
        if position is not None:
            position = column(position)
            velocity = self._derivative(position)
        velocity = column(velocity)
        self._record.constraints.append(
            Constraint(
                multipliers,
                position,
                velocity,
                self._derivative(velocity),
                f"constraint {len(self._record.constraints) + 1} ({', '.join(multipliers)})",
            )
        )

    def with_rate(self, value: Any, rate: Any) -> ca.SX:
        """`value`, a scalar whose time derivative is taken to be `rate` wherever it is differentiated."""
        key = ("stated", sum(k[0] == "stated" for k in self._record.leaves))
        self._assign(key, value)
        return self._leaf(key, (1,), lambda: column(rate))

    def initially(self, expression: Any, name: str = "initial equation") -> None:
        """expression = 0 holds at the start."""
        self._record.initial.append((column(expression), name))

    def require(self, expression: Any, message: str) -> None:
        """expression >= 0 must hold while the model runs; `message` says what is wrong and what to do."""
        self._record.checks.append((column(expression), message))

    def switch(self, expression: Any, then: Any, otherwise: Any) -> ca.SX:
        """`then` while expression >= 0, else `otherwise`: the crossing is located, the integrator restarts there.

        A switch with hysteresis gives a function for the expression: it gets the switch's present mode, 1 or 0.
        """
        index = len(self._record.switches)
        mode = self._leaf(("mode", index))
        if callable(expression) and not hasattr(expression, "is_symbolic"):
            expression = expression(mode)
        self._record.switches.append(column(expression))
        return ca.if_else(mode > 0.5, column(then), column(otherwise))

    def time_event(self, instant: Any) -> None:
        """Something jumps or kinks at this instant (a function of parameters): the integrator stops there."""
        self._record.times.append(column(instant))

    def energy(self, kinetic: Any = 0.0, potential: Any = 0.0, dissipated: Any = 0.0, supplied: Any = 0.0) -> None:
        """Energy that this component stores [J], the power that it turns into heat, and the power that a field without
        potential feeds into it [W]."""
        self._record.energies.update(
            kinetic=column(kinetic),
            potential=column(potential),
            dissipated=column(dissipated),
            supplied=column(supplied),
        )


class _PartScope:
    """Leaves at the connectors of a part, as the views of connectors ask a scope for them."""

    def __init__(self, scope: Any, name: str, part: Component) -> None:
        self._scope, self._name, self._component = scope, name, part

    def _leaf(self, key: Key, shape: tuple[int, ...] = (1,), rate: Callable[[], Any] | None = None) -> ca.SX:
        symbol: ca.SX = self._scope._leaf(("at", self._name, key), shape, rate)
        return symbol

    _frame_leaf: Any = Scope._frame_leaf
    _motion_leaf: Any = Scope._motion_leaf
    _flow: Any = Scope._flow


_scope_classes: dict[type, type] = {}


def evaluate(component: Component, facts: dict[str, Any]) -> Record:
    """Run the equations of an elementary component in a fresh scope and return what they say.

    Args:
        component: the component; it is not changed.
        facts: what only the topology knows: `connected` (set of connector names), `is_root`.
    """
    cls = type(component)
    if cls not in _scope_classes:
        _scope_classes[cls] = type(
            cls.__name__, (Scope, cls), {"_is_scope": True, "__setattr__": _set_in_scope, "__getattr__": _get_in_scope}
        )
    scope: Any = object.__new__(_scope_classes[cls])
    scope._start_scope(component, facts)
    equations = getattr(scope, "equations", None)
    if equations is None:
        raise ModelError(f"{component.where}: {cls.__name__} has neither equations() nor build()")
    equations()
    record: Record = scope._record
    record.derivative = scope._derivative
    return record


def _set_in_scope(self: Any, name: str, value: Any) -> None:
    if name in self._component.declarations:
        object.__setattr__(self, name, value)
    elif name in self._component.ports():
        self._write(self._component.ports()[name], value)
    elif name == "der":
        raise ModelError(f"{self._component.where}: der is reserved")
    else:
        raise ModelError(
            f"{self._component.where}: the equations of {type(self._component).__name__} assign "
            f"{name!r}, which is not declared; declare it as a Variable, or use a local name"
        )


def _get_in_scope(self: Any, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    component = self._component
    ports = component.ports()
    if name in ports:
        return self._port(name, ports[name])
    if name in component.parts:
        return PartView(self, name, component.parts[name])
    if name == "freeMotion" and self.is_root:
        return PartView(self, name, self._facts["is_root"])
    if name in vars(component):
        return vars(component)[name]
    raise AttributeError(f"{component.where} ({type(component).__name__}) has no {name!r}")
