"""Connectors: where components meet (seed 002; Rotational, Translational and Blocks Interfaces of the library).

In a component class a connector is declared as an attribute (`frame_a = Frame_a("...")`); in an assembly under
construction the attribute is a `Connector`, to be given to `connect`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from mbfmu.modeling.declarations import Declaration, Shape
from mbfmu.modeling.types import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Force,
    HeatFlowRate,
    Orientation,
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


class Port(Declaration):
    """Declaration of a connector. Subclasses say of which kind, and which variables it has."""

    kind = ""
    potentials: tuple[Quantity, ...] = ()
    flows: tuple[Quantity, ...] = ()

    def __init__(
        self,
        doc: str = "",
        *,
        when: Callable[[Any], bool] | None = None,
        needed: bool = False,
        fades: bool = False,
    ) -> None:
        """`needed`: it must not stay open (the seeds' `assert(cardinality(frame) > 0)`). `fades`: an assembly may
        connect to it although `when` switches it off; the connection goes with it."""
        self.doc, self.when, self.needed, self.fades = doc or (self.__class__.__doc__ or ""), when, needed, fades


class Frame(Port):
    """Coordinate system fixed to the component with one cut-force and cut-torque."""

    kind = "frame"
    potentials = (
        Quantity(
            "r_0",
            Position,
            (3,),
            "Position vector from world frame to the connector frame origin, resolved in world frame",
        ),
        Quantity("R", Orientation, (), "Orientation object to rotate the world frame into the connector frame"),
    )
    flows = (
        Quantity("f", Force, (3,), "Cut-force resolved in connector frame"),
        Quantity("t", Torque, (3,), "Cut-torque resolved in connector frame"),
    )


class Frame_a(Frame):
    """Coordinate system fixed to the component with one cut-force and cut-torque (filled icon)."""


class Frame_b(Frame):
    """Coordinate system fixed to the component with one cut-force and cut-torque (non-filled icon)."""


class Frame_resolve(Frame):
    """Coordinate system in which a vector is resolved; it carries no load."""


class Flange(Port):
    """Base of one-dimensional mechanical connectors: a position, and a flow that is positive into the component."""

    #: Names and types of position and flow, and of what an FMU shows of their derivatives.
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


class RotationalFlange(Flange):
    """One-dimensional rotational flange."""

    kind = "rotational"
    position, flow = "phi", "tau"
    potentials = (Quantity("phi", Angle, (), "Absolute rotation angle of flange"),)
    flows = (Quantity("tau", Torque, (), "Cut torque in the flange"),)
    derivatives = (("w", AngularVelocity), ("a", AngularAcceleration))


class TranslationalFlange(Flange):
    """One-dimensional translational flange."""

    kind = "translational"
    position, flow = "s", "f"
    potentials = (Quantity("s", Position, (), "Absolute position of flange"),)
    flows = (Quantity("f", Force, (), "Cut force directed into flange"),)
    derivatives = (("v", Velocity), ("a", Acceleration))


class HeatPort(Port):
    """Thermal port: a temperature, and a heat flow that is positive into the component."""

    kind = "heat"
    potentials = (Quantity("T", Temperature, (), "Port temperature"),)
    flows = (
        Quantity(
            "Q_flow",
            HeatFlowRate,
            (),
            "Heat flow rate (positive if flowing from outside into the component)",
        ),
    )


class Signal(Port):
    """Base of signal connectors: a scalar, or a vector whose size may depend on the component."""

    kind = "signal"

    def __init__(
        self,
        doc: str = "",
        *,
        type: Type = Real,
        shape: int | Shape | Callable[[Any], Shape] = (),
        when: Callable[[Any], bool] | None = None,
    ) -> None:
        super().__init__(doc, when=when)
        self.type = type
        self._shape = (shape,) if isinstance(shape, int) else shape

    def shape(self, instance: Any) -> Shape:
        """Shape for this instance: () for a scalar."""
        return self._shape(instance) if callable(self._shape) else self._shape


class RealInput(Signal):
    """Real input signal."""


class RealOutput(Signal):
    """Real output signal."""


class Given(Signal):
    """A signal that the equations of a composite give to its own parts: assigned like an output, connected inside."""


class Connector:
    """A connector of a component in an assembly, or some elements of a signal connector.

    Indexing a vector signal gives single elements or slices, counted from 0 as Python does.
    """

    def __init__(self, owner: Any, port: Port, elements: tuple[int, ...] | None = None) -> None:
        self.owner, self.port, self.elements = owner, port, elements

    def __getitem__(self, index: int | slice) -> Connector:
        if not isinstance(self.port, Signal):
            raise TypeError(f"{self}: only signals have elements")
        shape = self.port.shape(self.owner)
        whole = self.elements if self.elements is not None else tuple(range(shape[0] if shape else 1))
        if isinstance(index, slice):
            return Connector(self.owner, self.port, whole[index])
        return Connector(self.owner, self.port, (whole[index],))

    def __getattr__(self, name: str) -> Any:
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
        return Reference(self.owner, f"{self.name}[{','.join(str(i + 1) for i in indices)}]")

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
