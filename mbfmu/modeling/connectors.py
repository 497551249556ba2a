"""Connectors: where components meet, each kind a class with its variables and its behaviour.

In a component class a connector is declared as an attribute (`frame_a = Frame_a("...")`); in an assembly under
construction the attribute is a `Connector`, to be given to `connect`.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import casadi as ca
import numpy as np

from mbfmu.arrays import element_name
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation
from mbfmu.modeling import leaves, types
from mbfmu.modeling.declarations import Declaration, Shape, check_shape
from mbfmu.modeling.formulas import Formula
from mbfmu.modeling.types import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Current,
    Dimensionless,
    ElectricPotential,
    Force,
    HeatFlowRate,
    Position,
    Real,
    Temperature,
    Torque,
    Type,
    Velocity,
)


@dataclasses.dataclass(frozen=True)
class Quantity:
    """A variable of a connector: name, type, shape, sentence."""

    name: str
    type: Type
    shape: Shape
    doc: str


#: A quantity of a connector: name within the component, type, sentence, shape, formula of a column of values.
Shown = tuple[str, Type, str, Shape, Formula]


class Connections(leaves.Quantities, Protocol):
    """What a kind of connector may ask of the structure of the system that it is part of (mbfmu.dynamics.structure)."""

    def component(self, path: str) -> Any:
        """The component of a path."""
        ...

    def has_members(self, path: str, connector: str) -> bool:
        """True where an elementary component is connected: then potentials have values."""
        ...

    def orientation(self, path: str, connector: str) -> tuple[Formula, Formula]:
        """T [3x3] and w [3] of a frame."""
        ...

    def load(self, path: str, connector: str, name: str, size: int) -> Formula:
        """What an elementary component assigns to a flow; zero where it assigns nothing."""
        ...

    def wrench_at(self, path: str, connector: str, name: str) -> Formula:
        """Cut force (f) or torque (t) that a joint or rigid part takes up at one of its frames."""
        ...

    def reaction(self, path: str, connector: str) -> Formula:
        """Flow with which relations and prescribed motions of a component hold a flange."""
        ...

    def network_flow(self, path: str, connector: str) -> Formula:
        """Flow into an elementary component through a connector whose flows follow from potentials."""
        ...

    def outer_flow(self, path: str, connector: str, name: str) -> Formula | None:
        """Flow into a component or composite; None where it cannot be told."""
        ...

    def outside_flow(self, path: str, connector: str) -> Formula:
        """Flow out of the assembly through a flange whose motion comes from outside."""
        ...


class Port(Declaration):
    """Declaration of a connector. A subclass is a kind of connector: its variables, and how they behave.

    In equations (`read`, `write`) they are leaves and targets; in a system they have values (`inflow`, `shown`,
    `power`); where an assembly has such a connector itself, its FMU takes some from outside (`taken`) and gives the
    others. Flows are positive into the component, and add up to zero where connectors meet.
    """

    kind = ""
    #: Class of the Modelica library without `Modelica.`; "" where it has none.
    modelica_name = ""
    potentials: tuple[Quantity, ...] = ()
    flows: tuple[Quantity, ...] = ()
    #: How messages call it.
    title = "connector"

    def __init__(
        self,
        doc: str = "",
        *,
        when: Callable[[Any], bool] | None = None,
        needed: bool = False,
        fades: bool = False,
    ) -> None:
        """`needed`: it must not stay open (Modelica's `assert(cardinality(frame) > 0)`). `fades`: an assembly may
        connect to it although `when` switches it off; the connection goes with it."""
        self.doc, self.when, self.needed, self.fades = doc or (self.__class__.__doc__ or ""), when, needed, fades

    # -- inside equations

    def view(self, scope: leaves.LocalSymbols) -> Any:
        """What equations read of the attribute."""
        return View(self, scope)

    def read(self, scope: leaves.LocalSymbols, name: str) -> Any:
        """Value of one of its variables inside equations.

        Raises:
            KeyError: it has no such variable.
        """
        return scope.leaf(leaves.Flow(self.name, name, size=_size(self._flow(name))))

    def write(self, scope: leaves.LocalSymbols, name: str, value: Any) -> None:
        """Take down what equations assign to one of its variables.

        Raises:
            KeyError: it has no such variable.
        """
        scope.assign(leaves.Load(self.name, self._flow(name).name), value)

    def _flow(self, name: str) -> Quantity:
        return {q.name: q for q in self.flows}[name]

    # -- in a system

    def inflow(self, system: Connections, path: str, name: str) -> Formula:
        """All that flows into the elementary component `path` through it."""
        raise NotImplementedError

    def zero_flow(self, name: str) -> ca.SX:
        """No flow."""
        return ca.SX.zeros(_size(self._flow(name)))

    def shown(self, system: Connections, path: str) -> Iterator[Shown]:
        """Potentials and flows of the connector of the component `path`, as its FMU shows them."""
        if system.has_members(path, self.name):
            yield from self._potentials(system, path)
            yield from self._flows(system, path)

    def _potentials(self, system: Connections, path: str) -> Iterator[Shown]:
        return iter(())

    def _flows(self, system: Connections, path: str) -> Iterator[Shown]:
        for quantity in self.flows:
            value = system.outer_flow(path, self.name, quantity.name)
            if value is not None:
                yield f"{self.name}.{quantity.name}", quantity.type, quantity.doc, quantity.shape, value

    def power(self, system: Connections, path: str) -> Formula | None:
        """Mechanical power into the component [W]; None where there is none, or where it cannot be told."""
        return None

    # -- at the border of an FMU

    @property
    def taken(self) -> tuple[Quantity, ...]:
        """What the FMU takes from outside, where an assembly has this connector: a flow, or motions."""
        return ()

    @property
    def gives(self) -> bool:
        """True where what else the assembly's own connector shows is an output."""
        return bool(self.taken)


class View:
    """A connector inside equations: its variables are read and assigned."""

    def __init__(self, port: Port, scope: leaves.LocalSymbols) -> None:
        vars(self).update(_port=port, _scope=scope)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._port.read(self._scope, name)
        except KeyError:
            raise self._unknown(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            self._port.write(self._scope, name, value)
        except KeyError:
            raise self._unknown(name) from None

    def _unknown(self, name: str) -> AttributeError:
        return AttributeError(f"{self._scope.where}.{self._port.name} has no variable {name!r}")


def _sum(one: Formula, other: Formula) -> Formula:
    return Formula.combined(operator.add, one, other)


def _product(one: Formula, other: Formula) -> Formula:
    return Formula.combined(operator.mul, one, other)


def _size(quantity: Quantity) -> int:
    return math.prod(quantity.shape)


class Frame(Port):
    """Coordinate system fixed to the component with one cut-force and cut-torque."""

    kind = title = "frame"
    modelica_name = "Mechanics.MultiBody.Interfaces.Frame"
    potentials = (
        Quantity(
            "r_0",
            Position,
            (3,),
            "Position vector from world frame to the connector frame origin, resolved in world frame",
        ),
        Quantity("R", types.Orientation, (), "Orientation object to rotate the world frame into the connector frame"),
    )
    flows = (
        Quantity("f", Force, (3,), "Cut-force resolved in connector frame"),
        Quantity("t", Torque, (3,), "Cut-torque resolved in connector frame"),
    )

    def read(self, scope: leaves.LocalSymbols, name: str) -> Any:
        """Position r_0, orientation R, cut force f and cut torque t."""

        def motion(what: str) -> ca.SX:
            return scope.leaf(leaves.FrameMotion(self.name, what))

        if name == "r_0":
            return motion("r_0")
        return Orientation(motion("T"), motion("w")) if name == "R" else super().read(scope, name)

    def write(self, scope: leaves.LocalSymbols, name: str, value: Any) -> None:
        """Loads f and t; r_0 and R where the component prescribes the frame's motion."""
        if name == "R":
            scope.assign(leaves.Prescribed(self.name, "T"), value.T)
            scope.assign(leaves.Prescribed(self.name, "w"), value.w)
        elif name == "r_0":
            scope.assign(leaves.Prescribed(self.name, "r_0"), value)
        else:
            super().write(scope, name, value)

    def inflow(self, system: Connections, path: str, name: str) -> Formula:
        """What the component assigns, and what it takes up as a joint or rigid part."""
        return _sum(system.load(path, self.name, name, 3), system.wrench_at(path, self.name, name))

    def _potentials(self, system: Connections, path: str) -> Iterator[Shown]:
        position = self.potentials[0]
        T, w = system.orientation(path, self.name)
        yield (
            f"{self.name}.r_0",
            position.type,
            position.doc,
            (3,),
            system.frame_motion(path, self.name, "r_0"),
        )
        yield from shown_orientation(f"{self.name}.R", "of the connector frame", T, w)

    def power(self, system: Connections, path: str) -> Formula | None:
        """f . v + t . w."""
        if not system.has_members(path, self.name):
            return None
        f, t = (system.outer_flow(path, self.name, name) for name in ("f", "t"))
        if f is None or t is None:
            return None
        T, w = system.orientation(path, self.name)
        v = system.frame_motion(path, self.name, "v_0")
        return Formula.combined(lambda f, t, T, w, v: ca.dot(f, T @ v) + ca.dot(t, w), f, t, T, w, v)


def shown_orientation(name: str, doc: str, T: Formula, w: Formula) -> Iterator[Shown]:
    """The scalars of an orientation."""
    yield f"{name}.T", Dimensionless, f"Transformation matrix: {doc}", (3, 3), T
    yield f"{name}.w", AngularVelocity, f"Angular velocity: {doc}", (3,), w


class Frame_a(Frame):
    """Coordinate system fixed to the component with one cut-force and cut-torque (filled icon)."""


class Frame_b(Frame):
    """Coordinate system fixed to the component with one cut-force and cut-torque (non-filled icon)."""


class Frames(Declaration):
    """A vector of frames, whose number depends on the component: its elements are connectors `name[1]`, `name[2]` ...

    In an assembly the attribute is a list of connectors, in equations a list of what they are there.
    """

    def __init__(self, doc: str, *, size: Callable[[Any], int], when: Callable[[Any], bool] | None = None) -> None:
        """`size` is a function of the instance."""
        self.doc, self._size, self.when = doc, size, when
        self._made: list[Frame_b] = []

    def ports(self, instance: Any) -> dict[str, Frame_b]:
        """Its connectors, by name."""
        size = self._size(instance) if self.enabled(instance) else 0
        while len(self._made) < size:
            self._made.append(Frame_b(self.doc))
            self._made[-1].name = element_name(self.name, [len(self._made)])
        return {port.name: port for port in self._made[:size]}


class Frame_resolve(Frame):
    """Coordinate system in which a vector is resolved; it carries no load."""


def _words(type: Type) -> str:
    """Name of a type as people write it: `Angular velocity`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type.name).capitalize()


class Flange(Port):
    """Base of one-dimensional mechanical connectors: a position, and a flow that is positive into the component."""

    title = "flange"
    #: Names of position and flow, and names and types of what an FMU shows of the position's derivatives.
    position = ""
    flow = ""
    derivatives: tuple[tuple[str, Type], ...] = ()

    def __init__(
        self,
        doc: str = "",
        *,
        motion: bool = False,
        when: Callable[[Any], bool] | None = None,
        needed: bool = False,
    ) -> None:
        """`motion` says how an FMU offers the flange of a whole assembly: False takes the torque (force) and gives
        position, speed and acceleration; True takes these three and gives the torque that it exerts outwards."""
        super().__init__(doc, when=when, needed=needed)
        self.motion = motion

    def read(self, scope: leaves.LocalSymbols, name: str) -> Any:
        """Position and flow."""
        if name == self.position:
            return scope.leaf(leaves.FlangePosition(self.name))
        return super().read(scope, name)

    def write(self, scope: leaves.LocalSymbols, name: str, value: Any) -> None:
        """The flow; the position where the component prescribes it."""
        if name == self.position:
            scope.assign(leaves.Prescribed(self.name, name), value)
        else:
            super().write(scope, name, value)

    def inflow(self, system: Connections, path: str, name: str) -> Formula:
        """What the component assigns, and what its relations and prescribed positions need."""
        return _sum(system.load(path, self.name, name, 1), system.reaction(path, self.name))

    def shown(self, system: Connections, path: str) -> Iterator[Shown]:
        """Position and flow; what it gives, where it is the assembly's own."""
        if path or not system.has_members(path, self.name):
            yield from super().shown(system, path)
        elif self.motion:
            flow = self.flows[0]
            value = system.outside_flow(path, self.name)
            doc = f"{_words(flow.type)} exerted outwards by the flange"
            yield f"{self.name}.{flow.name}", flow.type, doc, (), value
        else:
            for order, quantity in enumerate(self._motions):
                value = system.flange_position(path, self.name, order)
                yield f"{self.name}.{quantity.name}", quantity.type, quantity.doc, (), value

    def _potentials(self, system: Connections, path: str) -> Iterator[Shown]:
        quantity = self.potentials[0]
        value = system.flange_position(path, self.name, 0)
        yield f"{self.name}.{self.position}", quantity.type, quantity.doc, (), value

    def power(self, system: Connections, path: str) -> Formula | None:
        """Flow times speed."""
        if not system.has_members(path, self.name):
            return None
        flow = system.outer_flow(path, self.name, self.flow)
        return None if flow is None else _product(flow, system.flange_position(path, self.name, 1))

    @property
    def _motions(self) -> tuple[Quantity, ...]:
        """Position, speed and acceleration."""
        return (
            *self.potentials,
            *(
                Quantity(name, type, (), f"Absolute {_words(type).lower()} of flange")
                for name, type in self.derivatives
            ),
        )

    @property
    def taken(self) -> tuple[Quantity, ...]:
        """Its flow, or position and two derivatives."""
        return self._motions if self.motion else self.flows


class RotationalFlange(Flange):
    """One-dimensional rotational flange."""

    kind = "rotational"
    modelica_name = "Mechanics.Rotational.Interfaces.Flange"
    position, flow = "phi", "tau"
    potentials = (Quantity("phi", Angle, (), "Absolute rotation angle of flange"),)
    flows = (Quantity("tau", Torque, (), "Cut torque in the flange"),)
    derivatives = (("w", AngularVelocity), ("a", AngularAcceleration))


class TranslationalFlange(Flange):
    """One-dimensional translational flange."""

    kind = "translational"
    modelica_name = "Mechanics.Translational.Interfaces.Flange"
    position, flow = "s", "f"
    potentials = (Quantity("s", Position, (), "Absolute position of flange"),)
    flows = (Quantity("f", Force, (), "Cut force directed into flange"),)
    derivatives = (("v", Velocity), ("a", Acceleration))


class NetworkPort(Port):
    """Base of connectors of networks: one potential, and one flow that follows from potentials.

    A component gives the flow, as a function of potentials, states and speeds, or it determines the potential, or it
    has a `relation` between potentials, which the flow through it keeps (mbfmu.dynamics.structure.networks). A subclass
    is all that a domain such as heat needs: its quantities, and names for messages.
    """

    #: How messages call potential and flows.
    potential_name = "potential"
    flow_name = "flows"
    #: Components that messages advise: one that keeps a potential, one that lies between two, others of that kind.
    store = "source of its potential"
    conductor = "conductor"
    or_else = ""

    def read(self, scope: leaves.LocalSymbols, name: str) -> Any:
        """Potential and flow."""
        if name == self.potentials[0].name:
            return scope.leaf(leaves.Potential(self.name))
        return super().read(scope, name)

    def write(self, scope: leaves.LocalSymbols, name: str, value: Any) -> None:
        """The flow; the potential where the component determines it."""
        if name == self.potentials[0].name:
            scope.assign(leaves.Prescribed(self.name, name), value)
        else:
            super().write(scope, name, value)

    def inflow(self, system: Connections, path: str, name: str) -> Formula:
        """As the network's balance gives it."""
        return system.network_flow(path, self.name)

    def _potentials(self, system: Connections, path: str) -> Iterator[Shown]:
        quantity = self.potentials[0]
        value = system.potential(path, self.name)
        yield f"{self.name}.{quantity.name}", quantity.type, quantity.doc, (), value

    def _flows(self, system: Connections, path: str) -> Iterator[Shown]:
        return super()._flows(system, path) if path else iter(())  # the assembly's own flow is an input

    @property
    def taken(self) -> tuple[Quantity, ...]:
        """Its flow."""
        return self.flows


class HeatPort(NetworkPort):
    """Thermal port: a temperature, and a heat flow that is positive into the component."""

    kind, title = "heat", "heat port"
    modelica_name = "Thermal.HeatTransfer.Interfaces.HeatPort"
    potentials = (Quantity("T", Temperature, (), "Port temperature"),)
    flows = (
        Quantity(
            "Q_flow",
            HeatFlowRate,
            (),
            "Heat flow rate (positive if flowing from outside into the component)",
        ),
    )
    potential_name, flow_name = "temperature", "heat flows"
    store, conductor, or_else = "HeatCapacitor", "ThermalConductor", " or a Convection"


class Pin(NetworkPort):
    """Pin of an electrical component: its potential, and the current that flows into the component."""

    kind = title = "pin"
    modelica_name = "Electrical.Analog.Interfaces.Pin"
    potentials = (Quantity("v", ElectricPotential, (), "Potential at the pin"),)
    flows = (Quantity("i", Current, (), "Current flowing into the pin"),)
    potential_name, flow_name = "potential", "currents"
    store, conductor = "Ground or a Capacitor", "Resistor"

    def power(self, system: Connections, path: str) -> Formula | None:
        """Potential times current."""
        if not system.has_members(path, self.name):
            return None
        current = system.outer_flow(path, self.name, "i")
        return None if current is None else _product(current, system.potential(path, self.name))


class Signal(Port):
    """Base of signal connectors: a scalar, or a vector whose size may depend on the component.

    In equations its value is a number: a whole one for an Integer, 1 or 0 for a Boolean.
    """

    kind = title = "signal"
    #: Type of those that name none.
    default_type: Type = Real
    #: Base types that it takes; signals of different ones are not connected.
    bases: tuple[types.Base, ...] = ("Real",)

    def __init__(
        self,
        doc: str = "",
        *,
        type: Type | None = None,
        shape: int | Shape | Callable[[Any], Shape] = (),
        when: Callable[[Any], bool] | None = None,
    ) -> None:
        """`type` tells the unit of a Real signal, say; its base type is that of the kind of connector.

        Raises:
            ModelError: a type of another base.
        """
        super().__init__(doc, when=when)
        check_shape(shape, f"the connector {doc!r:.60}")
        self.type = self.default_type if type is None else type
        if self.type.base not in self.bases:
            raise ModelError(
                f"{self.__class__.__name__} takes types of base {self.bases[0]}; {self.type.name} is {self.type.base}"
            )
        self._shape = (shape,) if isinstance(shape, int) else shape

    def shape(self, instance: Any) -> Shape:
        """Shape for this instance: () for a scalar."""
        return self._shape(instance) if callable(self._shape) else self._shape

    def size(self, instance: Any) -> int:
        """Number of elements for this instance."""
        return math.prod(self.shape(instance))

    def shown(self, system: Connections, path: str) -> Iterator[Shown]:
        """Its value."""
        component = system.component(path)
        value = Formula.stacked([system.signal(path, self.name, i) for i in range(self.size(component))])
        yield self.name, self.type, self.doc, self.shape(component), value


class SignalInput(Signal):
    """Base of input signals."""

    def __init__(
        self,
        doc: str = "",
        *,
        type: Type | None = None,
        shape: int | Shape | Callable[[Any], Shape] = (),
        when: Callable[[Any], bool] | None = None,
        start: Any | Callable[[Any], Any] = 0.0,
    ) -> None:
        """`start` is the value that an assembly's own input has until it is set: a number, or a list for a vector."""
        super().__init__(doc, type=type, shape=shape, when=when)
        self._start = start

    def start(self, instance: Any) -> Any:
        """Start value for this instance: a number, or one for each element."""
        return self._start(instance) if callable(self._start) else self._start

    def view(self, scope: leaves.LocalSymbols) -> Any:
        """Its value."""
        return scope.leaf(leaves.Input(self.name, size=self.size(scope.component)))

    def shown(self, system: Connections, path: str) -> Iterator[Shown]:
        """Its value; an assembly's own is an input of the FMU, which is shown as such."""
        return super().shown(system, path) if path else iter(())


class SignalOutput(Signal):
    """Base of output signals."""

    def view(self, scope: leaves.LocalSymbols) -> Any:
        """What the equations have assigned to it; a ModelError where they have not yet."""
        try:
            return scope.assigned(leaves.Value(self.name))
        except KeyError:
            raise ModelError(
                f"{scope.where}: the equations read the output {self.name} before they assign it"
            ) from None

    @property
    def gives(self) -> bool:
        """An assembly's own is an output of the FMU."""
        return True


class RealInput(SignalInput):
    """Real input signal."""


class RealOutput(SignalOutput):
    """Real output signal."""


class IntegerInput(SignalInput):
    """Integer input signal."""

    default_type, bases = types.Integer, ("Integer",)


class IntegerOutput(SignalOutput):
    """Integer output signal."""

    default_type, bases = types.Integer, ("Integer",)


class BooleanInput(SignalInput):
    """Boolean input signal."""

    default_type, bases = types.Boolean, ("Boolean",)


class BooleanOutput(SignalOutput):
    """Boolean output signal."""

    default_type, bases = types.Boolean, ("Boolean",)


#: Kinds of signal connectors by base type.
INPUTS: dict[str, type[SignalInput]] = {"Real": RealInput, "Integer": IntegerInput, "Boolean": BooleanInput}
OUTPUTS: dict[str, type[SignalOutput]] = {"Real": RealOutput, "Integer": IntegerOutput, "Boolean": BooleanOutput}


class Given(Signal):
    """A signal that the equations of a composite give to its own parts: assigned like an output, connected inside."""

    bases = ("Real", "Integer", "Boolean")


def conflict(source: tuple[str, Port], sink: tuple[str, Port], directed: bool = True) -> str:
    """Say why two signals, each with its name, cannot be connected: of different base types, as in Modelica; else "".

    `directed`: the one gives what the other takes, so that a block of the library fits between them.
    """
    (giving, a), (taking, b) = source, sink
    if not (isinstance(a, Signal) and isinstance(b, Signal)) or a.type.base == b.type.base:
        return ""
    given, taken = a.type.base, b.type.base
    block = f"put {'an' if given == 'Integer' else 'a'} {given}To{taken} between them"
    return f"cannot connect {giving} ({given}) with {taking} ({taken}); {block if directed else 'give both one type'}"


class Connector:
    """A connector of a component in an assembly, or some elements of a signal connector.

    Indexing a vector signal gives single elements or slices, counted from 0 as Python does.
    """

    def __init__(self, owner: Any, port: Port, elements: tuple[int, ...] | None = None) -> None:
        self.owner, self.port, self.elements = owner, port, elements

    def __getitem__(self, index: int | slice) -> Connector:
        if not isinstance(self.port, Signal):
            raise TypeError(f"{self}: only signals have elements")
        whole = self.places
        if isinstance(index, slice):
            chosen = whole[index]
            if not chosen:
                raise ModelError(f"{self.path}: has {len(whole)} elements, none in this slice")
            return Connector(self.owner, self.port, chosen)
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise ModelError(f"{self.path}[{index!r}]: an index is a whole number, counted from 0")
        if not -len(whole) <= index < len(whole):
            raise ModelError(f"{self.path}: has {len(whole)} elements, 0 to {len(whole) - 1}; there is no [{index}]")
        return Connector(self.owner, self.port, (whole[index],))

    def __iter__(self) -> Iterator[Connector]:
        """Its elements."""
        if not isinstance(self.port, Signal):
            raise TypeError(f"{self}: only signals have elements")
        return (self[k] for k in range(len(self.places)))

    @property
    def places(self) -> tuple[int, ...]:
        """Numbers of the elements of its signal that it stands for."""
        assert isinstance(self.port, Signal)
        return self.elements if self.elements is not None else tuple(range(self.port.size(self.owner)))

    def references(self) -> list[Reference]:
        """What it says of a signal: the whole, or each of the elements that it stands for."""
        name = self.port.name
        if self.elements is None or not isinstance(self.port, Signal):
            return [Reference(self.owner, name)]
        shape = self.port.shape(self.owner)
        if not shape:
            return [Reference(self.owner, name)]
        places = (np.unravel_index(k, shape, order="F") for k in self.elements)
        return [Reference(self.owner, element_name(name, (int(i) + 1 for i in place))) for place in places]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not {"owner", "port"} <= vars(self).keys():
            raise AttributeError(name)
        quantities = {q.name for q in (*self.port.potentials, *self.port.flows)}
        if name in quantities:
            return Reference(self.owner, f"{self.port.name}.{name}")
        raise AttributeError(f"connector {self.path} has no variable {name}; it has {', '.join(sorted(quantities))}")

    @property
    def path(self) -> str:
        """Dotted name from the outermost assembly."""
        return ".".join(filter(None, (self.owner.path, self.port.name)))

    def __repr__(self) -> str:
        return f"<{type(self.port).__name__} {self.path}>"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """A variable of a component, named from outside: what `Assembly.output` takes."""

    owner: Any
    name: str

    def __getitem__(self, index: int | tuple[int, ...]) -> Reference:
        """One element, counted from 0 as Python does: `body.r_0[0]` is Modelica's `body.r_0[1]`."""
        indices = index if isinstance(index, tuple) else (index,)
        for one in indices:
            if isinstance(one, bool) or not isinstance(one, int | np.integer) or one < 0:
                raise ModelError(
                    f"{self.path}[{one!r}]: an index is a whole number, counted from 0 at the front; name one element"
                )
        return Reference(self.owner, element_name(self.name, (i + 1 for i in indices)))

    def __getattr__(self, name: str) -> Reference:
        if name.startswith("_"):
            raise AttributeError(name)
        return Reference(self.owner, f"{self.name}.{name}")

    @property
    def path(self) -> str:
        """Dotted name from the outermost assembly."""
        return ".".join(filter(None, (self.owner.path, self.name)))

    def __repr__(self) -> str:
        return f"<variable {self.path}>"
