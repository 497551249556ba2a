"""An assembly in the making: parts by class name and free name, connections, drives, and notes to the user."""

from __future__ import annotations

import keyword
import re
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Connector
from mbfmu.modeling.registry import component_class

#: Lengths and angles below this are none: origins that are given as 1e-17 would only add parts.
NEGLIGIBLE = 1e-14
#: What rounding of printed numbers leaves in an inertia tensor, relative to its largest moment.
NOISE = 1e-6
#: Stops begin this far beyond the limits [rad or m]: joints that start at a limit, as grippers do, touch nothing yet.
STOP_MARGIN = 1e-6


class ReaderWarning(UserWarning):
    """Something in a file that was read is probably wrong."""


class Names:
    """Names of a file -> names that Python and FMI allow, each used once."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self._taken = set(reserved)
        #: Kind and name in the file -> name in the assembly, where they differ.
        self.renamed: dict[tuple[str, str], str] = {}

    def new(self, wanted: str, kind: str = "", suffix: str = "") -> str:
        """A name like `wanted` that is still free, with `suffix` appended where it is taken.

        `kind` (`link`, `joint` ...) makes a change known to the user.
        """
        name = re.sub(r"\W", "_", wanted, flags=re.ASCII) or "_"
        if name[0].isdigit() or name.startswith("_"):
            name = f"{kind[:1] or 'n'}{'' if name.startswith('_') else '_'}{name}"
        if (name in self._taken or keyword.iskeyword(name)) and suffix:
            name += suffix
        free, count = name, 1
        while free in self._taken or keyword.iskeyword(free):
            count += 1
            free = f"{name}_{count}"
        self._taken.add(free)
        if kind and free != wanted:
            self.renamed[kind, wanted] = free
        return free


class Draft:
    """An assembly that a reader fills."""

    def __init__(self, name: str, description: str, into: Assembly | None = None) -> None:
        """`into`: an assembly of the user's own that takes the parts, in place of a new class called `name`."""
        if into is None:
            shown = re.sub(r"\W", "_", name, flags=re.ASCII) or "Model"
            shown = f"_{shown}" if shown[0].isdigit() or keyword.iskeyword(shown) else shown
            into = type(shown, (Assembly,), {"__doc__": description})()
        self.assembly = into
        self.names = Names([*dir(Assembly), *into.parts, *vars(into)])
        self._notes: list[str] = []
        #: Modifiers that keep parts from being drawn by themselves, where the file has shapes of its own.
        self.unseen: dict[str, Any] = {}

    def add(self, name: str, class_name: str, **parameters: Any) -> Any:
        """A new part, of the class that the registry has under a Modelica name; `name` must be free (`names.new`)."""
        return self.assembly.add(name, component_class(class_name)(**parameters))

    def connect(self, a: Connector, b: Connector) -> None:
        """Connect two connectors."""
        self.assembly.connect(a, b)

    def note(self, text: str) -> None:
        """Tell the user what a choice of the reader was."""
        self._notes.append(text)

    def warn(self, text: str) -> None:
        """Tell the user what is probably wrong in the file."""
        self._notes.append(f"warning: {text}")
        warnings.warn(text, ReaderWarning, stacklevel=2)

    def finish(self) -> Assembly:
        """The assembly with its notes."""
        renamed = [f"{kind} {old!r} is {new}" for (kind, old), new in self.names.renamed.items()]
        if renamed:
            self.note(f"renamed, for names of variables: {', '.join(renamed)}")
        self.assembly.notes = (*self.assembly.notes, *self._notes)
        return self.assembly

    # -- rigid parts

    def rigid(self, name: str, frame: Connector, r: np.ndarray, rotation: dict[str, Any] | None) -> Connector:
        """A frame that stands at `r` [m] from another and is turned by `rotation`, modifiers of a FixedRotation.

        Nothing is added where it stands in the same place.
        """
        at = tuple(0.0 if abs(v) < NEGLIGIBLE else float(v) for v in r)
        if rotation is None and not any(at):
            return frame
        if rotation is None:
            part = self.add(self.names.new(name), "MultiBody.Parts.FixedTranslation", r=at, **self.unseen)
        else:
            part = self.add(self.names.new(name), "MultiBody.Parts.FixedRotation", r=at, **rotation, **self.unseen)
        self.connect(frame, part.frame_a)
        result: Connector = part.frame_b
        return result

    def body(
        self, name: str, frame: Connector, mass: float, centre: np.ndarray, inertia: np.ndarray, where: str
    ) -> Any:
        """A Body with its origin in `frame`.

        Args:
            name: a free name.
            frame: the frame that it is fixed to.
            mass: kg.
            centre: centre of mass in that frame, m.
            inertia: tensor about the centre of mass along the frame's axes, (3, 3), kg.m2.
            where: how a warning calls it.
        """
        tensor = plausible_inertia(inertia, where, self.warn)
        with warnings.catch_warnings():  # the warning above names the element of the file
            warnings.simplefilter("ignore")
            body = self.add(
                name,
                "MultiBody.Parts.Body",
                m=float(mass),
                r_CM=tuple(map(float, centre)),
                I_11=tensor[0, 0],
                I_22=tensor[1, 1],
                I_33=tensor[2, 2],
                I_21=tensor[1, 0],
                I_31=tensor[2, 0],
                I_32=tensor[2, 1],
                **self.unseen,
            )
        self.connect(frame, body.frame_a)
        return body

    def shape(self, name: str, frame: Connector, shape: str, **parameters: Any) -> Component:
        """A shape that is drawn at a frame (Visualizers.FixedShape)."""
        if not any(parameters["r_shape"]):
            del parameters["r_shape"]
        part: Component = self.add(
            self.names.new(name), "MultiBody.Visualizers.FixedShape", shapeType=shape, **parameters
        )
        self.connect(frame, part.connector("frame_a"))
        return part


class Axis:
    """The axis flange of a Revolute or Prismatic joint, and what acts along it.

    The library has stops and friction for rotation only; at a Prismatic joint they stand behind an ideal gear of
    1 rad/m, so that their numbers are those of the translation.
    """

    def __init__(self, draft: Draft, joint: Any, name: str, rotates: bool) -> None:
        self.draft, self.joint, self.name, self.rotates = draft, joint, name, rotates
        self._turning: Connector | None = None

    @property
    def domain(self) -> str:
        """Package of the library with this axis's elements."""
        return "Rotational" if self.rotates else "Translational"

    @property
    def coordinate(self) -> str:
        """Name of the joint's position: phi or s."""
        return "phi" if self.rotates else "s"

    @property
    def speed(self) -> str:
        """Name of the joint's speed: w or v."""
        return "w" if self.rotates else "v"

    @property
    def effort(self) -> str:
        """Name of the torque or force: tau or f."""
        return "tau" if self.rotates else "f"

    def between(self, suffix: str, element: str, **parameters: Any) -> Any:
        """An element of this domain (`Components.Damper`) between the joint's support and its axis."""
        part = self.draft.add(self.draft.names.new(self.name + suffix), f"{self.domain}.{element}", **parameters)
        self.draft.connect(self.joint.support, part.flange_a)
        self.draft.connect(part.flange_b, self.joint.axis)
        return part

    def at(self, suffix: str, element: str, **parameters: Any) -> Any:
        """An element of this domain with one flange (`Sources.Torque`) at the axis; the joint takes its reaction."""
        part = self.draft.add(self.draft.names.new(self.name + suffix), f"{self.domain}.{element}", **parameters)
        self.draft.connect(part.connector("flange_a" if "flange_a" in part.ports() else "flange"), self.joint.axis)
        return part

    def turning(self) -> Connector:
        """A rotational flange that turns with the joint: its axis, or that of a gear of 1 rad/m."""
        if self.rotates:
            flange: Connector = self.joint.axis
            return flange
        if self._turning is None:
            gear = self.draft.add(
                self.draft.names.new(f"{self.name}_gear"), "Rotational.Components.IdealGearR2T", ratio=1.0
            )
            self.draft.connect(self.joint.axis, gear.flangeT)
            self._turning = gear.flangeR
        return self._turning

    def friction(self, effort: float) -> None:
        """Dry friction [N.m or N] that sticks."""
        bearing = self.draft.add(
            self.draft.names.new(f"{self.name}_friction"),
            "Rotational.Components.BearingFriction",
            tau_pos=((0.0, float(effort)),),
        )
        self.draft.connect(self.turning(), bearing.flange_a)

    def stop(self, lower: float, upper: float, stiffness: float, damping: float, kind: str = "ElastoBacklash") -> None:
        """Elastic stops at both ends of the range [rad or m]; stiffness and damping per rad or m.

        `kind` is the library's element: of an ElastoBacklash2 the whole damping acts from the first touch on.
        """
        ground = self.draft.add(self.draft.names.new(f"{self.name}_ground"), "Rotational.Components.Fixed")
        stop = self.draft.add(
            self.draft.names.new(f"{self.name}_stop"),
            f"Rotational.Components.{kind}",
            c=float(stiffness),
            d=float(damping),
            b=float(upper - lower + 2 * STOP_MARGIN),
            phi_rel0=float(upper + lower) / 2,
        )
        self.draft.connect(ground.flange, stop.flange_a)
        self.draft.connect(stop.flange_b, self.turning())

    def source(self, suffix: str = "_drive") -> Connector:
        """Signal input of a torque [N.m] or force [N] at the axis."""
        kind = "Sources.Torque" if self.rotates else "Sources.Force"
        source = self.at(suffix, kind)
        signal: Connector = source.connector(self.effort)
        return signal

    def feedback(
        self, suffix: str, gain: float, position_gain: float, speed_gain: float
    ) -> tuple[Connector, Connector]:
        """A controller, u -> gain u + position_gain position + speed_gain speed: its input and its output."""
        names, draft = self.draft.names, self.draft
        position = self.at(f"{suffix}_position", "Sensors.AngleSensor" if self.rotates else "Sensors.PositionSensor")
        speed = self.at(f"{suffix}_speed", "Sensors.SpeedSensor")
        control = draft.add(
            names.new(f"{self.name}{suffix}_control"),
            "Blocks.Math.Add3",
            k1=float(gain),
            k2=float(position_gain),
            k3=float(speed_gain),
        )
        draft.connect(position.connector(self.coordinate), control.u2)
        draft.connect(speed.connector(self.speed), control.u3)
        return control.u1, control.y

    def follow(self, leader: Axis, ratio: float, offset: float) -> None:
        """Hold this coordinate at ratio * leader's coordinate + offset, without loss.

        Raises:
            ModelError: the ratio is 0.
        """
        draft, names = self.draft, self.draft.names
        if ratio == 0:
            raise ModelError("a ratio of 0 ties nothing")
        if self.rotates == leader.rotates and ratio == 1 and offset == 0:
            draft.connect(leader.joint.axis, self.joint.axis)
            return
        end, start = self.turning(), leader.turning()
        if offset:
            disc = draft.add(names.new(f"{self.name}_offset"), "Rotational.Components.Disc", deltaPhi=float(offset))
            draft.connect(disc.flange_b, end)
            end = disc.flange_a
        if ratio == 1:
            draft.connect(start, end)
            return
        gear = draft.add(names.new(f"{self.name}_mimic"), "Rotational.Components.IdealGear", ratio=float(ratio))
        draft.connect(gear.flange_a, end)
        draft.connect(start, gear.flange_b)


def clean(vector: Iterable[float]) -> tuple[float, ...]:
    """A vector without the rounding of rotations by right angles."""
    return tuple(0.0 if abs(v) < NEGLIGIBLE else float(v) for v in vector)


def mesh_placement(origin: np.ndarray, R: np.ndarray, scale: Iterable[float]) -> dict[str, Any]:
    """Parameters of a shape that is a mesh file.

    Args:
        origin: of the mesh in the frame, m.
        R: takes vectors of the mesh to the frame, (3, 3).
        scale: of the mesh's axes. Of negative ones, which mirror, as many become a rotation as can; the rest is the
            sign of the length.
    """
    factors = np.array(list(scale), dtype=float)
    signs = np.where(factors < 0, -1.0, 1.0)
    mirror = float(np.prod(signs))
    R = R * (signs * (mirror, 1.0, 1.0))
    length, width, height = map(float, np.abs(factors))
    return {
        "r_shape": clean(origin),
        "lengthDirection": clean(R[:, 0]),
        "widthDirection": clean(R[:, 1]),
        "length": mirror * length,
        "width": width,
        "height": height,
        "extra": 1.0,
    }


def plausible_inertia(tensor: np.ndarray, where: str, warn: Any) -> np.ndarray:
    """An inertia tensor without negative moments of rounding; a warning where no distribution of mass has it.

    Raises:
        ModelError: a moment on the diagonal is negative by more than rounding.
    """
    tensor = (tensor + tensor.T) / 2
    if not np.all(np.isfinite(tensor)):
        raise ModelError(f"{where}: its moments of inertia are no finite numbers; correct it")
    moments = np.linalg.eigvalsh(tensor)
    largest = float(np.abs(moments).max())
    for i in range(3):
        if tensor[i, i] < 0:
            if tensor[i, i] < -NOISE * largest and tensor[i, i] < -1e-12:
                raise ModelError(
                    f"{where}: moment of inertia {tensor[i, i]:.4g} kg.m2 about axis {'xyz'[i]} is negative; correct it"
                )
            tensor[i, i] = 0.0
    if moments[0] < -NOISE * largest or moments[2] > (moments[0] + moments[1]) + NOISE * largest:
        warn(
            f"{where}: no distribution of mass has the principal moments of inertia "
            f"{', '.join(f'{v:.4g}' for v in moments)} kg.m2 (each is at most the sum of the others); taken as they are"
        )
    return tensor
