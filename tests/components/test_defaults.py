"""What nobody gives: defaults, starts, and sizes of what is drawn, as the Modelica library has them.

A default or bound that changes is another model for whoever did not give it: `python tests/components/test_defaults.py`
writes declared.csv anew, where such a change is to be seen.
"""

from __future__ import annotations

import csv
import pathlib
from typing import Any

import pytest

import mbfmu.components
from mbfmu import Assembly, Component
from mbfmu.components import World, forces, joints, parts
from mbfmu.modeling import required
from mbfmu.modeling.connectors import Port
from mbfmu.modeling.declarations import Coordinate, Parameter, Speed, State, Variable

DECLARED = pathlib.Path(__file__).with_name("declared.csv")
ROLES = ("structural", "final", "tunable", "nonzero", "animation")
PORT_ROLES = ("needed", "fades", "motion")


def _subclasses(kind: type) -> set[type]:
    return {kind}.union(*map(_subclasses, kind.__subclasses__()))


def _text(value: Any) -> str:
    """A value as it is declared: what functions give is told by what they are for, elsewhere."""
    if value is required or callable(value):
        return "required" if value is required else "computed"
    return "" if value is None else repr(value)


def declared() -> list[list[str]]:
    """Class and name of what is declared; defaults, bounds and roles of parameters, starts of variables, ports."""
    assert mbfmu.components.__all__, "importing it makes all classes"
    kinds = [kind for kind in _subclasses(Component) if kind.__module__.startswith("mbfmu.components.")]
    found = []
    for kind in kinds:
        where = f"{kind.__module__.removeprefix('mbfmu.components.')}.{kind.__qualname__}"
        for name, one in vars(kind).items():
            if isinstance(one, Parameter):
                roles = [role for role in ROLES if getattr(one, role)]
                found.append([where, name, *map(_text, (one.default, one.min, one.max)), " ".join(roles)])
            elif isinstance(one, Coordinate | Speed | State):
                found.append([where, name, _text(one.start), "", "", "fixed" if one.fixed else ""])
            elif isinstance(one, Port):
                roles = [role for role in PORT_ROLES if getattr(one, role, False)]
                found.append([where, name, type(one).__name__, "", "", " ".join(roles)])
    return sorted(found)


def test_defaults_and_bounds_are_those_of_before() -> None:
    with DECLARED.open(encoding="utf-8", newline="") as file:
        kept = set(map(tuple, csv.reader(file)))
    now = set(map(tuple, declared()))
    assert len(now) > 1000
    assert sorted(now - kept) == []
    assert sorted(kept - now) == []


def test_starts_are_zero_but_for_these() -> None:
    """Numbers only: those that follow from parameters are tested with their components."""
    assert mbfmu.components.__all__
    found = {
        (kind.__name__, name): declaration.start
        for kind in _subclasses(Component)
        if kind.__module__.startswith("mbfmu.components.")
        for name, declaration in vars(kind).items()
        if isinstance(declaration, Variable) and not (declaration.start is None or callable(declaration.start))
    }
    assert len(found) > 150
    assert {place: start for place, start in found.items() if start != 0} == {
        ("HeatCapacitor", "T"): 293.15,
        ("PartialIdealSwitch", "off"): 1.0,
        ("IdealSwitchWithArc", "off"): 1.0,
        ("IdealSwitchWithArc", "quenched"): 1.0,
    }


#: By the Modelica library's sentences, in a world of nominalLength = 0.8; a rod of 3, 4, 12 is 13 m long, its shape 10.
SIZES: dict[type[Component], tuple[dict[str, Any], dict[str, float]]] = {
    World: (
        {"nominalLength": 0.8},
        {
            "axisLength": 0.4,
            "axisDiameter": 0.01,
            "gravityArrowLength": 0.2,
            "gravityArrowDiameter": 0.01,
            "defaultAxisLength": 0.16,
            "defaultJointLength": 0.08,
            "defaultJointWidth": 0.04,
            "defaultForceLength": 0.08,
            "defaultForceWidth": 0.04,
            "defaultBodyDiameter": 0.8 / 9,
            "defaultArrowDiameter": 0.02,
        },
    ),
    parts.BodyShape: (
        {"m": 1.0, "r_CM": (0, 0, 0), "r": (9, 8, 12), "r_shape": (6, 4, 0)},
        {"length": 13.0, "width": 0.65, "height": 0.65, "sphereDiameter": 1.3},
    ),
    parts.BodyBox: ({"r": (9, 4, 12), "r_shape": (6, 0, 0)}, {"length": 13.0, "width": 0.65, "height": 0.65}),
    parts.BodyCylinder: ({"r": (3, 4, 12), "innerDiameter": 0.1}, {"length": 13.0, "diameter": 0.65}),
    parts.FixedTranslation: ({"r": (3, 4, 12)}, {"length": 13.0, "width": 0.65, "height": 0.65}),
    parts.Rotor1D: ({"J": 1.0}, {"cylinderLength": 0.16, "cylinderDiameter": 0.08}),
    joints.Revolute: ({}, {"cylinderLength": 0.08, "cylinderDiameter": 0.04}),
    joints.Prismatic: ({}, {"boxWidth": 0.04, "boxHeight": 0.04}),
    joints.Planar: (
        {},
        {"cylinderLength": 0.08, "cylinderDiameter": 0.04, "boxWidth": 0.012, "boxHeight": 0.012},
    ),
    joints.Spherical: ({}, {"sphereDiameter": 0.08}),
    joints.SphericalSpherical: ({"rodLength": 1.0}, {"sphereDiameter": 0.08, "rodDiameter": 0.04}),
    joints.UniversalSpherical: (
        {"rRod_ia": (1, 0, 0)},
        {
            "sphereDiameter": 0.08,
            "rodWidth": 0.04,
            "rodHeight": 0.04,
            "cylinderLength": 0.08,
            "cylinderDiameter": 0.04,
        },
    ),
    joints.JointUSR: ({"rRod1_ia": (1, 0, 0)}, {"sphereDiameter": 0.08, "rod1Diameter": 0.04, "rod2Diameter": 0.04}),
    joints.JointSSR: ({"rod1Length": 1.0}, {"sphereDiameter": 0.08, "rod1Diameter": 0.04, "rod2Diameter": 0.04}),
    joints.JointRRR: ({}, {"cylinderDiameter": 0.04, "rodDiameter": 0.044}),
    joints.constraints.Revolute: ({}, {"sphereDiameter": 0.08 / 3}),
    forces.Spring: ({"c": 1.0, "width": 0.5}, {"coilWidth": 0.05, "massDiameter": 0.36}),
    forces.Damper: ({"d": 1.0, "diameter_a": 0.5}, {"length_a": 0.08, "diameter_b": 0.3}),
    forces.LineForceWithTwoMasses: (
        {"m_a": 1.0, "m_b": 1.0, "L_a": 0.3, "L_b": 0.7},
        {"cylinderLength_a": 0.6, "cylinderLength_b": 1.4},
    ),
}


@pytest.mark.parametrize("kind", SIZES, ids=lambda kind: f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}")
def test_sizes_of_what_is_drawn_follow_from_each_other(kind: type[Component]) -> None:
    given, sizes = SIZES[kind]

    class Drawn(Assembly):
        def __init__(self) -> None:
            self.world = World(nominalLength=0.8)
            if kind is not World:
                self.part = kind(**given)

    drawn = Drawn()
    part = drawn.world if kind is World else drawn.part
    assert {name: part.evaluated(name) for name in sizes} == pytest.approx(sizes)


if __name__ == "__main__":
    with DECLARED.open("w", encoding="utf-8", newline="") as written:
        csv.writer(written, lineterminator="\n").writerows(declared())
