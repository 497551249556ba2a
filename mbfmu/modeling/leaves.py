"""What equations read and assign, as types: leaves and targets.

A *leaf* is what the equations of a component read and do not work out themselves: the motion of a frame, a coordinate,
a state, a signal. In equations it is a local symbol that knows its own time derivative; in a system of components it
is a formula. A *target* is what equations assign and others ask for: a variable, a load, a prescribed motion.

Connectors (mbfmu.modeling.connectors) and declared variables (mbfmu.modeling.declarations) say which leaves they are.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Protocol

import casadi as ca

from mbfmu.errors import ModelError
from mbfmu.frames import cross, skew
from mbfmu.frozen import quickly_made
from mbfmu.modeling.formulas import Formula
from mbfmu.modeling.names import joined


class LocalSymbols(Protocol):
    """What leaves may ask of the equations that they stand in (mbfmu.dynamics.reading.notes)."""

    @property
    def component(self) -> Any:
        """The component whose equations they are."""
        ...

    @property
    def where(self) -> str:
        """How messages call the component."""
        ...

    def leaf(self, leaf: Leaf) -> ca.SX:
        """The local symbol of a leaf."""
        ...

    def assigned(self, target: Target) -> ca.SX:
        """What the equations have assigned to a target; KeyError where they have not."""
        ...

    def rate_of(self, expression: Any) -> ca.SX:
        """Time derivative of an expression in leaves."""
        ...

    def assign(self, target: Target, value: Any) -> ca.SX:
        """Take down what the equations assign."""
        ...


class Quantities(Protocol):
    """What leaves may ask of the structure of a system (mbfmu.dynamics.structure): formulas, in global symbols."""

    @property
    def time(self) -> Formula:
        """Time [s]."""
        ...

    def frame_motion(self, path: str, connector: str, what: str) -> Formula:
        """Motion of a frame: r_0, T, v_0, w, a_0 or z."""
        ...

    def flange_position(self, path: str, connector: str, order: int) -> Formula:
        """Position of a flange, or its derivative."""
        ...

    def potential(self, path: str, connector: str, order: int = 0) -> Formula:
        """Potential of a connector at which flows balance, such as a temperature, or its derivative."""
        ...

    def coordinate(self, path: str, name: str, size: int, order: int) -> Formula:
        """A joint's coordinate, or its derivative."""
        ...

    def network_variable(self, path: str, name: str, order: int) -> Formula:
        """A variable of a component that is found together with the potentials of its network, or its derivative."""
        ...

    def unknown(self, path: str, leaf: Leaf) -> Formula:
        """A quaternion, speed, state, multiplier or mode of a component."""
        ...

    def signal(self, path: str, name: str, index: int, order: int = 0) -> Formula:
        """Element of a signal connector, or its derivative."""
        ...

    def implied(self, path: str, leaf: Implied) -> Formula:
        """What a component's condition implies."""
        ...

    def variable(self, path: str, name: str, order: int = 0) -> Formula:
        """A declared variable of a component, or its derivative."""
        ...

    def target(self, path: str, target: Target, order: int = 0) -> Formula:
        """What a component assigns to a target, or its derivative."""
        ...

    def inflow(self, path: str, connector: str, name: str, order: int = 0) -> Formula:
        """Flow into a component, or its derivative."""
        ...


class Target:
    """Base of what equations assign."""


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Value(Target):
    """A declared variable or an output signal."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclasses.dataclass(frozen=True)
class AngularVelocityOf(Target):
    """The angular velocity that belongs to a variable which is an orientation."""

    name: str

    def __str__(self) -> str:
        return f"{self.name}.w"


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Load(Target):
    """A flow through a connector: force, torque, heat flow."""

    connector: str
    name: str

    def __str__(self) -> str:
        return f"{self.connector}.{self.name}"


@dataclasses.dataclass(frozen=True)
class Prescribed(Target):
    """A potential of a connector that the component determines: a position, an orientation, a temperature."""

    connector: str
    name: str

    def __str__(self) -> str:
        return f"{self.connector}.{self.name}"


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Effort(Target):
    """A generalised force along a coordinate or speed of the component."""

    name: str

    def __str__(self) -> str:
        return self.name


class Leaf:
    """Base of what equations read. Leaves that are equal but for their size are one."""

    #: Constant between events: its derivative is zero.
    is_discrete = False

    @property
    def follows_from_states(self) -> bool:
        """True where time, states and what is held say what it is: it stands before anything is solved for."""
        return self.is_discrete

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of its symbol."""
        return (1,)

    def following(self) -> Leaf | None:
        """The leaf that is its time derivative, where there is one."""
        return None

    def rate(self, scope: LocalSymbols) -> Any:
        """Its time derivative in local symbols, None where there is none."""
        following = self.following()
        return None if following is None else scope.leaf(following)

    def formula(self, system: Quantities, path: str) -> Formula:
        """What it is in a system, for the component `path`."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Time(Leaf):
    """Time [s]."""

    follows_from_states = True

    def __str__(self) -> str:
        return "time"

    def rate(self, scope: LocalSymbols) -> Any:
        return ca.SX(1)

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.time


@dataclasses.dataclass(frozen=True)
class FrameMotion(Leaf):
    """Motion of a frame: r_0, v_0, a_0 resolved in the world frame; T; w, z resolved in the frame itself."""

    connector: str
    what: str

    def __str__(self) -> str:
        return f"{self.connector}.{self.what}"

    @property
    def shape(self) -> tuple[int, ...]:
        return (3, 3) if self.what == "T" else (3,)

    @property
    def follows_from_states(self) -> bool:
        return self.what not in ("a_0", "z")

    def following(self) -> Leaf | None:
        following = {"r_0": "v_0", "v_0": "a_0", "w": "z"}.get(self.what)
        return None if following is None else FrameMotion(self.connector, following)

    def rate(self, scope: LocalSymbols) -> Any:
        if self.what == "T":
            return -skew(scope.leaf(FrameMotion(self.connector, "w"))) @ scope.leaf(self)
        return super().rate(scope)

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.frame_motion(path, self.connector, self.what)


@dataclasses.dataclass(frozen=True)
class _WithOrder(Leaf):
    """A leaf that comes with derivatives: `order` says which it is."""

    #: Order of the last that there is; None where what stands behind it decides when it is asked.
    highest: ClassVar[int | None] = 2

    size: int = dataclasses.field(default=1, compare=False, kw_only=True)
    order: int = dataclasses.field(default=0, kw_only=True)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size,)

    def following(self) -> Leaf | None:
        return None if self.order == self.highest else dataclasses.replace(self, order=self.order + 1)


@dataclasses.dataclass(frozen=True)
class _Position(_WithOrder):
    """A position, its speed, its acceleration."""

    @property
    def follows_from_states(self) -> bool:
        return self.order < 2


@dataclasses.dataclass(frozen=True)
class FlangePosition(_Position):
    """Position of a flange, its speed, its acceleration."""

    connector: str

    def __str__(self) -> str:
        return self.connector + "'" * self.order

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.flange_position(path, self.connector, self.order)


@dataclasses.dataclass(frozen=True)
class Potential(_WithOrder):
    """Potential of a connector at which flows balance, such as a temperature, or its derivative."""

    highest = None

    connector: str

    def __str__(self) -> str:
        return self.connector + "'" * self.order

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.potential(path, self.connector, self.order)


@dataclasses.dataclass(frozen=True)
class NetworkVariable(_WithOrder):
    """A variable that is found together with the potentials of a network, such as the current of a voltage source."""

    highest = None

    name: str

    def __str__(self) -> str:
        return self.name + "'" * self.order

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.network_variable(path, self.name, self.order)


@dataclasses.dataclass(frozen=True)
class Flow(_WithOrder):
    """All that flows into a component through a connector; whether it has derivatives shows when they are asked for."""

    connector: str
    name: str

    def __str__(self) -> str:
        return f"{self.connector}.{self.name}" + "'" * self.order

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.inflow(path, self.connector, self.name, self.order)


@dataclasses.dataclass(frozen=True)
class Input(_WithOrder):
    """An input signal; how often it can be differentiated, its source decides."""

    highest = None

    name: str

    def __str__(self) -> str:
        return self.name + "'" * self.order

    def formula(self, system: Quantities, path: str) -> Formula:
        return Formula.stacked([system.signal(path, self.name, i, self.order) for i in range(self.size)])


@dataclasses.dataclass(frozen=True)
class AtPart(Leaf):
    """A leaf at a connector of a part, read by the equations of the composite that it belongs to."""

    part: str
    leaf: Leaf

    def __str__(self) -> str:
        return f"{self.part}.{self.leaf}"

    @property
    def follows_from_states(self) -> bool:
        return self.leaf.follows_from_states

    @property
    def shape(self) -> tuple[int, ...]:
        return self.leaf.shape

    def rate(self, scope: LocalSymbols) -> Any:
        return self.leaf.rate(PartSymbols(scope, self.part))

    def formula(self, system: Quantities, path: str) -> Formula:
        return self.leaf.formula(system, joined(path, self.part))


class PartSymbols:
    """Symbols at the connectors of a part, for the equations of the composite that it belongs to: they can be read."""

    def __init__(self, scope: LocalSymbols, name: str, part: Any = None) -> None:
        self._scope, self._name, self.component = scope, name, part

    @property
    def where(self) -> str:
        """How messages call the part."""
        return f"{self._scope.where}.{self._name}"

    def leaf(self, leaf: Leaf) -> ca.SX:
        """The local symbol of a leaf of the part."""
        return self._scope.leaf(AtPart(self._name, leaf))

    def assigned(self, target: Target) -> ca.SX:
        """Nothing: parts assign what is theirs."""
        raise KeyError(target)

    def rate_of(self, expression: Any) -> ca.SX:
        """Time derivative of an expression in leaves."""
        return self._scope.rate_of(expression)

    def assign(self, target: Target, value: Any) -> ca.SX:
        """Refused: what a part assigns is told by its own equations."""
        raise ModelError(f"{self.where}: equations of {self._scope.where} cannot assign {target} of a part; connect it")


@dataclasses.dataclass(frozen=True)
class PartVariable(_WithOrder):
    """A variable of a part, read by the equations of the composite that it belongs to."""

    part: str
    name: str

    def __str__(self) -> str:
        return f"{self.part}.{self.name}" + "'" * self.order

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.variable(joined(path, self.part), self.name, self.order)


@dataclasses.dataclass(frozen=True)
class Coordinate(_Position):
    """A coordinate of a joint, its speed, its acceleration."""

    name: str

    def __str__(self) -> str:
        return self.name + "'" * self.order

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.coordinate(path, self.name, self.size, self.order)


@dataclasses.dataclass(frozen=True)
class Read(_WithOrder):
    """What the equations of a component assign to a target, read by what it draws."""

    highest = None

    target: Target
    dimensions: tuple[int, ...] = dataclasses.field(compare=False)

    def __str__(self) -> str:
        return f"{self.target}" + "'" * self.order

    @property
    def shape(self) -> tuple[int, ...]:
        return self.dimensions

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.target(path, self.target, self.order)


@dataclasses.dataclass(frozen=True)
class _Unknown(Leaf):
    """A leaf that is an unknown of the system as it stands."""

    name: str
    size: int = dataclasses.field(default=1, compare=False)

    def __str__(self) -> str:
        return self.name

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size,)

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.unknown(path, self)


@dataclasses.dataclass(frozen=True)
class Quaternion(_Unknown):
    """Orientation coordinates: a unit quaternion, scalar last; `speed` is its angular velocity in the rotated frame."""

    follows_from_states = True

    size: int = dataclasses.field(default=4, compare=False)
    speed: str = dataclasses.field(default="", compare=False)

    def rate(self, scope: LocalSymbols) -> Any:
        return quaternion_rate(scope.leaf(self), scope.leaf(Speed(self.speed, 3)))


def quaternion_rate(Q: ca.SX, w: ca.SX) -> ca.SX:
    """dQ/dt = 1/2 [c I + skew(u); -u'] w for Q = [u; c] and w resolved in the rotated frame."""
    return 0.5 * ca.vertcat(Q[3] * w + cross(Q[:3], w), -ca.dot(Q[:3], w))


@dataclasses.dataclass(frozen=True)
class Speed(_Unknown):
    """Speeds that are not derivatives of coordinates."""

    follows_from_states = True

    def following(self) -> Leaf:
        return Acceleration(self.name, self.size)


@dataclasses.dataclass(frozen=True)
class Acceleration(_Unknown):
    """Derivatives of speeds."""

    def __str__(self) -> str:
        return f"{self.name}'"


@dataclasses.dataclass(frozen=True)
class State(_Unknown):
    """A state with a differential equation of its own."""

    follows_from_states = True

    def following(self) -> Leaf:
        return StateRate(self.name, self.size)


@dataclasses.dataclass(frozen=True)
class Multiplier(_Unknown):
    """A constraint force."""


@dataclasses.dataclass(frozen=True)
class StateRate(Leaf, Target):
    """Derivative of a state: what the equations assign to it, which can itself be differentiated."""

    name: str
    size: int = dataclasses.field(default=1, compare=False)

    def __str__(self) -> str:
        return f"{self.name}'"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size,)

    def rate(self, scope: LocalSymbols) -> Any:
        return scope.rate_of(scope.assigned(self))

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.target(path, self)


@dataclasses.dataclass(frozen=True)
class Stated(Leaf, Target):
    """An expression whose derivative the equations state beside it."""

    index: int

    def __str__(self) -> str:
        return f"value {self.index + 1} with a stated rate"

    def rate(self, scope: LocalSymbols) -> Any:
        return scope.assigned(StatedRate(self.index))

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.target(path, self)


@dataclasses.dataclass(frozen=True)
class StatedRate(Target):
    """The derivative that equations state for an expression."""

    index: int


@dataclasses.dataclass(frozen=True)
class _Numbered(Leaf):
    """Base of unknowns that have no name of their own but a number in the component."""

    label: ClassVar[str]

    index: int
    size: int = dataclasses.field(default=1, compare=False)

    def __str__(self) -> str:
        return f"{self.label}[{self.index + 1}]"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size,)

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.unknown(path, self)


@dataclasses.dataclass(frozen=True)
class Mode(_Numbered):
    """Mode of a switch, 0 or 1."""

    label = "switch"
    is_discrete = True


@dataclasses.dataclass(frozen=True)
class DiscreteState(_Unknown):
    """A variable that keeps its value between events."""

    is_discrete = True


@dataclasses.dataclass(frozen=True)
class Held(_Numbered):
    """A value without a name that is kept between events."""

    label = "held"
    is_discrete = True


@dataclasses.dataclass(frozen=True)
class Pre(_Numbered):
    """An expression as it was before the event that is being handled; between events its value is held."""

    label = "pre"
    is_discrete = True


@dataclasses.dataclass(frozen=True)
class Implied(_Numbered):
    """A signal that nothing computes: a condition elsewhere says what it is."""

    label = "implied"

    def formula(self, system: Quantities, path: str) -> Formula:
        return system.implied(path, self)


@dataclasses.dataclass(frozen=True)
class Delayed(_Numbered):
    """What a signal was some time ago."""

    label = "delay"
    follows_from_states = True
