"""One body on one joint, let go: the cases by which Project Chrono compares its joints with Adams.

A pendulum of 1 kg with its centre 2 m beside the joint falls for 5 s. Adams wrote its results with six or seven digits
(joints.csv has some of them), and agrees with ours to these, but where its steps were coarse: three runs of one and the
same plane motion, spherical-1, universal-1 and -2, are 7e-4 m from revolute-1, in Adams. Forces are compared by their
size. Left out are springs of length 0, which have no direction, and linear actuators.
"""

from __future__ import annotations

import csv
import functools
import math
import pathlib
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components import (
    Body,
    Cylindrical,
    Fixed,
    FixedRotation,
    FixedTranslation,
    Prismatic,
    Revolute,
    Spherical,
    SphericalSpherical,
    Universal,
    World,
    rotational,
)
from mbfmu.components.interfaces import PartialLineForce
from mbfmu.components.rotational.interfaces import PartialCompliant
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Component, Parameter, Start
from mbfmu.modeling import types as t
from problems.motion import motion
from problems.problem import Problem, Solution

SOURCE = (
    "Project Chrono (2016), unit tests of joints (utest_JOINT) against Adams: github.com/projectchrono/chrono, "
    "data/testing/joints"
)
DATA = pathlib.Path(__file__).with_name("joints.csv")
TIMES, AT = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0), "1, 2, 3, 4, 5"
G = 9.80665

Place = tuple[float, float, float]


class TorsionSpring(PartialCompliant):
    """Spring whose torque per angle grows with the angle: tau = (c + c2 |phi|) phi."""

    modelica_name = "Problems.Joints.TorsionSpring"

    c = Parameter(t.RotationalSpringConstant, 50.0, "Stiffness at rest")
    c2 = Parameter(t.Real, 10.0, "Growth of stiffness")

    def torque(self) -> ca.SX:
        """Torque of the spring."""
        return (self.c + self.c2 * ca.fabs(self.phi_rel)) * self.phi_rel


class StrongSpring(PartialLineForce):
    """Spring and damper: f = c x + c2 |x| x + d dx/dt."""

    modelica_name = "Problems.Joints.StrongSpring"

    c = Parameter(t.TranslationalSpringConstant, 100.0, "Stiffness at rest")
    c2 = Parameter(t.Real, 0.0, "Growth of stiffness")
    d = Parameter(t.TranslationalDampingConstant, 5.0, "Damping")
    s_unstretched = Parameter(t.Length, 2.0, "Unstretched length")

    def line_force(self) -> ca.SX:
        """Force that pulls the frames together."""
        x = self.s - self.s_unstretched
        return self.c * x + self.c2 * ca.fabs(x) * x + self.d * self.der(self.s)


class Falling(Assembly):
    """A body on a joint at a place, turned by an angle [deg] about an axis: what the joint carries, and where."""

    stop_time = TIMES[-1]

    def __init__(self, joint: Component, at: Place = (0, 0, 0), n: Place = (1, 0, 0), angle: float = 0.0) -> None:
        self.world = World(n=(0, 0, -1), g=G, axisLength=0.5)
        self.place = FixedRotation(r=at, n=n, angle=angle, animation=False)
        self.joint = joint
        arm = (0, 0, -2) if isinstance(joint, Universal) else (2, 0, 0)
        moments = {"I_11": 0.1, "I_22": 0.1, "I_33": 0.04} if isinstance(joint, Universal) else _MOMENTS
        self.arm = FixedTranslation(r=arm, width=0.1)
        self.body = Body(m=1.0, r_CM=(0, 0, 0), **moments, sphereDiameter=0.4)
        self.connect(self.world.frame_b, self.place.frame_a)
        self.connect(self.place.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.arm.frame_a)
        self.connect(self.arm.frame_b, self.body.frame_a)


class Sprung(Falling):
    """A body on a hinge with a torsion spring, in the horizontal plane y = 0 at the start."""

    def __init__(self, *springs: Component) -> None:
        super().__init__(_revolute(useAxisFlange=True), angle=-90)
        self.springs = list(springs)
        for spring in self.springs:
            self.connect(self.joint.support, spring.flange_a)
            self.connect(spring.flange_b, self.joint.axis)


class Held(Assembly):
    """A free body held at a point by a link without mass that ends on the ground."""

    stop_time = TIMES[-1]

    def __init__(self, joint: Component, ground: Place, point: Place, centre: Place, angle: float = 0.0) -> None:
        self.world = World(n=(0, 0, -1), g=G, axisLength=0.5)
        self.ground = Fixed(r=ground, animation=False)
        self.joint = joint
        turn = np.array([[math.cos(angle), math.sin(angle), 0], [-math.sin(angle), math.cos(angle), 0], [0, 0, 1]])
        self.arm = FixedTranslation(r=turn @ (np.array(centre) - point), width=0.1)
        self.body = Body(
            m=1.0, r_CM=(0, 0, 0), **_MOMENTS, sphereDiameter=0.4, enforceStates=True,
            r_0=Start(centre, fixed=True), v_0=Start(0.0, fixed=True), angles_fixed=True, w_0_fixed=True,
            angles_start=(0, 0, angle),
        )  # fmt: skip
        self.connect(self.ground.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.arm.frame_a)
        self.connect(self.arm.frame_b, self.body.frame_a)


class Crank(Assembly):
    """A body on a ball joint at the end of a massless crank of 2 m."""

    stop_time = TIMES[-1]

    def __init__(self, at: Place, angle: float) -> None:
        self.world = World(n=(0, 0, -1), g=G, axisLength=0.5)
        self.place = FixedRotation(r=at, n=(1, 0, 0), angle=angle, animation=False)
        self.back = FixedRotation(n=(1, 0, 0), angle=-angle, animation=False)
        self.hinge = _revolute()
        self.crank = FixedTranslation(r=(2, 0, 0), width=0.1)
        self.joint = Spherical(angles_fixed=True, w_rel_a_fixed=True)
        self.arm = FixedTranslation(r=(0, 2, 0), width=0.1)
        self.body = Body(m=1.0, r_CM=(0, 0, 0), I_11=0.1, I_22=0.04, I_33=0.1, sphereDiameter=0.4)
        self.connect(self.world.frame_b, self.place.frame_a)
        self.connect(self.place.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.back.frame_a)
        self.connect(self.back.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.arm.frame_a)
        self.connect(self.arm.frame_b, self.body.frame_a)


_MOMENTS = {"I_11": 0.04, "I_22": 0.1, "I_33": 0.1}


def _at_rest(*names: str) -> dict[str, Start]:
    return {name: Start(0.0, fixed=True) for name in names}


def _revolute(**more: Any) -> Revolute:
    return Revolute(n=(0, 0, 1), **_at_rest("phi", "w"), **more)


def _spherical() -> Spherical:
    return Spherical(angles_fixed=True, w_rel_a_fixed=True)


def _universal() -> Universal:
    return Universal(n_a=(1, 0, 0), n_b=(0, 1, 0), **_at_rest("phi_a", "phi_b", "w_a", "w_b"))


def _prismatic() -> Prismatic:
    return Prismatic(n=(0, 0, 1), **_at_rest("s", "v"))


def _cylindrical() -> Cylindrical:
    return Cylindrical(n=(0, 0, 1), **_at_rest("s", "v", "phi", "w"))


def _strong() -> StrongSpring:
    return StrongSpring(c=50.0, c2=10.0)


#: Cases that Adams ran with coarse steps.
COARSE = ("spherical-1", "universal-1", "universal-2")

#: What makes the assembly of a case.
CASES: dict[str, Callable[[], Assembly]] = {
    "revolute-1": lambda: Falling(_revolute(), angle=-90),
    "revolute-2": lambda: Falling(_revolute(), (1, 2, 3), angle=-45),
    "spherical-1": lambda: Falling(_spherical()),
    "spherical-2": lambda: Falling(_spherical(), (1, 2, 3), angle=-45),
    "universal-1": lambda: Falling(_universal(), angle=90),
    "universal-2": lambda: Falling(_universal(), n=(0, 1, 0), angle=90),
    "prismatic-1": lambda: Falling(_prismatic()),
    "prismatic-2": lambda: Falling(_prismatic(), (1, 2, 3), angle=-45),
    "prismatic-3": lambda: Falling(_prismatic(), (1, 2, 3), angle=-90),
    "cylindrical-1": lambda: Falling(_cylindrical()),
    "cylindrical-2": lambda: Falling(_cylindrical(), angle=-90),
    "cylindrical-3": lambda: Falling(_cylindrical(), (1, 2, 3), angle=-45),
    "distance-1": lambda: Held(SphericalSpherical(rodLength=2.0), (0, 0, 0), (0, 2, 0), (0, 2, 0)),
    "distance-2": lambda: Held(SphericalSpherical(rodLength=2.0), (1, 2, 3), (1, 4, 3), (-1, 4, 3)),
    "distance-3": lambda: Held(SphericalSpherical(rodLength=2.0), (0, 0, 0), (0, 2, 0), (0, 4, 0), -math.pi / 2),
    "revolute-spherical-1": lambda: Crank((0, 0, 0), 0.0),
    "revolute-spherical-2": lambda: Crank((1, 2, 3), -45.0),
    "torsion-spring-1": lambda: Sprung(rotational.Spring(c=200.0), rotational.Damper(d=10.0)),
    "torsion-spring-2": lambda: Sprung(TorsionSpring(), rotational.Damper(d=10.0)),
    "spring-2": lambda: Held(StrongSpring(), (0, 0, 0), (0, 2, 0), (0, 2, 0)),
    "spring-3": lambda: Held(_strong(), (1, 2, 3), (1, 4, 3), (-1, 4, 3)),
    "spring-4": lambda: Held(_strong(), (0, 0, 0), (0, 2, 0), (0, 4, 0), -math.pi / 2),
}


@functools.cache
def _system(case: str) -> System:
    return System.of(CASES[case]())


def solve(case: str, tolerance: float) -> Solution:
    """Places of the body's centre, and sizes of the force that the joint carries, at the instants."""
    places = [f"body.r_0[{i}]" for i in (1, 2, 3)]
    forces = [f"joint.frame_a.f[{i}]" for i in (1, 2, 3)]
    found = motion(_system(case), [*places, *forces], TIMES, tolerance)
    point = np.array([found.values[name][1:] for name in places]).T
    force = np.linalg.norm([found.values[name][1:] for name in forces], axis=0)
    values = {f"joint-{case}-position": point.ravel().tolist(), f"joint-{case}-force": force.tolist()}
    return Solution(values, found.seconds, found.evaluations)


def _problems() -> list[Problem]:
    rows: dict[str, list[dict[str, str]]] = {}
    with DATA.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["case"], []).append(row)
    found = []
    for case, lines in rows.items():
        common: dict[str, Any] = {
            "solve": functools.partial(solve, case),
            "model": CASES["distance-3"],
            "tolerance": 1e-8,
        }
        name = lines[0]["file"]
        point = [float(line[axis]) for line in lines for axis in "xyz"]
        title = "Joints of Project Chrono against Adams"
        found.append(
            Problem(
                f"joint-{case}-position", title, SOURCE, f"{name}: (x, y, z) of the body at {AT} s", "m", point,
                error=1e-3 if case in COARSE else 2e-4, **common,
            )
        )  # fmt: skip
        if lines[0]["fx"]:
            force = [math.hypot(*(float(line[name]) for name in ("fx", "fy", "fz"))) for line in lines]
            found.append(
                Problem(
                    f"joint-{case}-force", title, SOURCE, f"{name}: size of the joint's force at {AT} s", "N",
                    force, error=5e-3 if case in COARSE else 1e-3, **common,
                )
            )  # fmt: skip
    return found


PROBLEMS = tuple(_problems())
