"""What `mbfmu list CLASS` prints: how to import component classes, and what they declare."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.markup import escape

from mbfmu.cli.report import number
from mbfmu.errors import ModelError
from mbfmu.messages import suggestion
from mbfmu.modeling import Component, Start, required
from mbfmu.modeling.connectors import Port
from mbfmu.modeling.declarations import Declaration, Parameter, Variable
from mbfmu.modeling.registry import last
from mbfmu.printing import console, table


def has(name: str, classes: Mapping[str, type[Component]]) -> bool:
    """True where `of_name` finds a class."""
    return bool(_ending_in(name, classes))


def of_name(name: str, classes: Mapping[str, type[Component]]) -> dict[str, type[Component]]:
    """Return all classes of a name: `Revolute`, or with a part of the Modelica name or of its package before it.

    Raises:
        ModelError: There is none.
    """
    found = _ending_in(name, classes)
    if not found:
        hint = suggestion(name, {*classes, *map(last, classes)}, "mbfmu list")
        raise ModelError(f"{name}: no component class has this name; {hint}")
    return found


def _ending_in(name: str, classes: Mapping[str, type[Component]]) -> dict[str, type[Component]]:
    end = "." + name.removeprefix("Modelica.")
    found = {full: cls for full, cls in classes.items() if f".{full}".endswith(end)}
    if found or "." not in name:
        return found
    imported = "." + name.removeprefix("mbfmu.components.")  # as Python has it: rotational.Brake
    return {full: cls for full, cls in classes.items() if f".{import_path(cls)}.{cls.__name__}".endswith(imported)}


def show(found: Sequence[tuple[str, type[Component]]]) -> None:
    """Print what classes declare."""
    for full, cls in found:
        console.print(f"[bold]{escape(full)}[/bold]  from {import_path(cls)} import {cls.__name__}\n")
        console.print(escape(inspect.cleandoc(cls.__doc__ or "")) + "\n")
        console.print(declarations(cls))
        console.print()


def matches(words: str, gallery: Mapping[str, type], classes: Mapping[str, type[Component]]) -> list[tuple[str, type]]:
    """Return gallery assemblies and classes that have all the words in name or description, the nearest first."""
    wanted = words.lower().split()
    found = []
    for name, cls in [*gallery.items(), *classes.items()]:
        own, doc = last(name).lower(), inspect.cleandoc(cls.__doc__ or "").lower()
        first = doc.partition("\n")[0]
        texts = (" ".join([own, *other_words(name)]), name.lower(), first, doc)
        places = [_place(word, texts) for word in wanted]
        if None not in places:
            exact = wanted[0] in (own, *other_words(name))
            place = max(p for p in places if p is not None)
            found.append((not exact or "Examples" in name, place, len(own), name.count("."), name, cls))
    return [(name, cls) for *_, name, cls in sorted(found, key=lambda entry: entry[:-1])]


def _place(word: str, texts: Sequence[str]) -> int | None:
    """The first of some texts that has a word; with another word for the same thing it counts as a later one."""
    same = next((group for group in _SAME if word in group), ())
    found = [i for i, text in enumerate(texts) if _has(text, word, i)]
    found += [len(texts) + i for i, text in enumerate(texts) if any(_has(text, other, i) for other in same)]
    return next(iter(found), None)


def _has(text: str, word: str, place: int) -> bool:
    """Names, the first two texts, are written in one; elsewhere a word begins with what is looked for."""
    return word in text if place < 2 else re.search(rf"\b{re.escape(word)}", text) is not None


#: Words for one thing.
_SAME = (
    ("tyre", "tire", "wheel"),
    ("hinge", "revolute", "pivot"),
    ("motor", "electromotoric", "torque source", "servo"),
    ("pulley", "sheave", "drum", "gear"),
    ("rope", "cable", "wire"),
    ("slider", "prismatic", "guide"),
    ("shaft", "inertia", "rotor"),
    ("friction", "coulomb", "stiction"),
    ("stop", "backlash", "clearance"),
    ("shock absorber", "damper", "dashpot"),
)


def other_words(name: str) -> list[str]:
    """What else a class is looked for as."""
    return [word for end, words in _OTHER_WORDS.items() if name.endswith(end) for word in words.split()]


#: Words of other programs and of everyday use for classes whose names and descriptions have none of them.
_OTHER_WORDS = {
    "MultiBody.Joints.Revolute": "hinge pin rotary pivot",
    "MultiBody.Joints.RollingWheel": "tyre tire",
    "MultiBody.Parts.RollingWheel": "tyre tire",
    "MultiBody.Parts.RollingWheelSet": "tyre tire axle",
    "Basic.RotationalEMF": "motor generator",
    "Rotational.Sources.Torque": "motor actuator drive",
    "Translational.Sources.Force": "actuator drive",
    "Rotational.Components.IdealGearR2T": "pulley winch drum rack pinion screw ballscrew leadscrew spindle",
    "Rotational.Components.IdealGear": "pulley belt transmission",
    "FlexibleBodies.FiniteSegmentBeam": "rope cable chain",
    "Joints.Prismatic": "slider linear slide",
    "Joints.Cylindrical": "sleeve",
    "Joints.Universal": "cardan hooke",
    "Joints.Spherical": "ball socket",
    "Joints.FreeMotion": "free floating 6dof",
    "Parts.Body": "mass inertia rigid",
    "Contact.Contact": "collision impact touch",
    "Contact.RigidContact": "collision impact",
    "Contact.Plane": "floor ground wall",
    "Contact.HeightField": "floor terrain",
    "Components.ElastoGap": "bumper bump endstop limit",
    "Components.ElastoBacklash": "play",
    "Forces.SpringDamperParallel": "shock absorber strut suspension",
    "Components.SpringDamper": "shock absorber",
    "Forces.Damper": "shock absorber",
    "Components.OneWayClutch": "ratchet sprag",
    "Components.LossyGear": "worm",
    "Components.IdealPlanetary": "epicyclic differential",
    "FlexibleBodies.Beam": "truss bar",
    "Vehicle.Bushing": "rubber mount",
    "Vehicle.DoubleWishbone": "suspension axle",
    "Sensors.AngleSensor": "encoder resolver",
    "Translational.Sensors.AccSensor": "accelerometer",
    "Sensors.AbsoluteSensor": "imu gyroscope accelerometer",
    "Logical.Hysteresis": "relay",
    "Ideal.IdealClosingSwitch": "relay contactor",
    "Sources.ConstantVoltage": "battery supply",
    "Continuous.LimPID": "controller",
    "Components.Spring": "stiffness elastic",
    "Components.Damper": "viscous shock absorber",
}


def declared(cls: type[Component]) -> list[Declaration]:
    """Return a class's parameters, connectors and variables, in this order; those of animation are left out."""
    order = {"parameter": 0, "connector": 1, "variable": 2}
    kept = [d for d in cls.declarations.values() if not (isinstance(d, Parameter) and (d.final or d.animation))]
    return sorted(kept, key=lambda d: order[kind_of(d)])


def kind_of(declaration: Declaration) -> str:
    """Return parameter, connector or variable."""
    if isinstance(declaration, Parameter):
        return "parameter"
    return "connector" if isinstance(declaration, Port) else "variable"


def unit_of(declaration: Declaration) -> str:
    """Return the unit of what is declared, or nothing."""
    kind = getattr(declaration, "type", None)
    return (kind.unit or "") if kind else ""


def declarations(cls: type[Component]) -> Any:
    """Return a table of what a class declares."""
    result = table("", "name", "what", "default", "unit", "description", right=["default"], whole=["name"])
    for shown in declared(cls):
        start = default(shown) + (", fixed" if is_held(shown) else "")
        result.add_row(shown.name, what(shown), escape(start), unit_of(shown), escape(shown.doc))
    return result


def is_held(declaration: Declaration) -> bool:
    """Does the start value of a variable hold unless it is made a guess?"""
    return isinstance(declaration, Variable) and declaration.fixed is True


def what(declaration: Declaration) -> str:
    """Return how a declaration is called: parameter (fixed: changing it needs a rebuild), connector class, variable."""
    if isinstance(declaration, Parameter):
        return "parameter, fixed" if declaration.structural else "parameter"
    return type(declaration).__name__ if isinstance(declaration, Port) else "variable"


def default(declaration: Declaration) -> str:
    """Return a parameter's default or a variable's start value; nothing where a function computes it."""
    value = getattr(declaration, "start" if isinstance(declaration, Variable) else "default", None)
    value = value.value if isinstance(value, Start) else value
    if value is required:
        return "required"
    if value is None or callable(value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else ", ".join(number(v) for v in np.ravel(value))


def import_path(cls: type) -> str:
    """Return the shortest package from which a class can be imported."""
    names = cls.__module__.split(".")
    paths = (".".join(names[: i + 1]) for i in range(len(names)))
    return next(p for p in paths if getattr(sys.modules.get(p), cls.__name__, None) is cls)
