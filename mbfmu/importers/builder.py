"""What fills an assembly: parts by class name and free name, connections, outputs, and notes to the user."""

from __future__ import annotations

import keyword
import re
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from mbfmu.importers.geometry import clean, plausible_inertia
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Connector, Reference
from mbfmu.modeling.registry import component_class


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


class Builder:
    """Fills an assembly with what a reader finds."""

    def __init__(self, name: str, description: str, into: Assembly | None = None) -> None:
        """`into`: an assembly of the user's own that takes the parts, in place of a new class called `name`."""
        if into is None:
            shown = re.sub(r"\W", "_", name, flags=re.ASCII) or "Model"
            shown = f"_{shown}" if shown[0].isdigit() or keyword.iskeyword(shown) else shown
            into = type(shown, (Assembly,), {"__doc__": description})()
        self.assembly = into
        self.names = Names([*dir(Assembly), *into.parts, *vars(into), "world"])
        self._notes: list[str] = []
        #: Modifiers that keep parts from being drawn by themselves, where the file has shapes of its own.
        self.unseen: dict[str, Any] = {}

    def add(self, name: str, class_name: str, **parameters: Any) -> Any:
        """A new part, of the class that the registry has under a Modelica name; `name` must be free (`names.new`)."""
        return self.assembly.add(name, component_class(class_name)(**parameters))

    def new(self, wanted: str, class_name: str, **parameters: Any) -> Any:
        """The same under a name that is still free, `wanted` or one like it."""
        return self.add(self.names.new(wanted), class_name, **parameters)

    def connect(self, a: Connector, b: Connector) -> None:
        """Connect two connectors."""
        self.assembly.connect(a, b)

    def show(self, part: Component, *variables: str) -> None:
        """Make variables of a part outputs."""
        for variable in variables:
            self.assembly.output(Reference(part, variable))

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

    def world(self, gravity: str, **parameters: Any) -> Connector:
        """The frame of the World: of the assembly's own one, or of a new one; `gravity` is what a note says of that."""
        world: Any = self.assembly.parts.get("world")
        if world is None:
            world = self.add("world", "MultiBody.World", **parameters)
            if gravity:
                self.note(f"gravity is {gravity} (parameter world.g)")
        frame: Connector = world.frame_b
        return frame

    def rigid(self, name: str, frame: Connector, r: np.ndarray, rotation: dict[str, Any] | None) -> Connector:
        """A frame that stands at `r` [m] from another and is turned by `rotation`, modifiers of a FixedRotation.

        Nothing is added where it stands in the same place.
        """
        at = clean(r)
        if rotation is None and not any(at):
            return frame
        kind = "FixedTranslation" if rotation is None else "FixedRotation"
        part = self.new(name, f"MultiBody.Parts.{kind}", r=at, **(rotation or {}), **self.unseen)
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
        part: Component = self.new(name, "MultiBody.Visualizers.FixedShape", shapeType=shape, **parameters)
        self.connect(frame, part.connector("frame_a"))
        return part
