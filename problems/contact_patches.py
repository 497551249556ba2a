"""Bodies that touch at many points: meshes on planes, boxes on boxes, a sphere in a bowl; ellipsoids and cylinders on
boxes and on each other."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from scipy import special

from mbfmu.components import World
from mbfmu.components.contact import Box, Contact, ConvexMesh, Cylinder, Ellipsoid, HeightField, Plane, Sphere
from mbfmu.components.parts import Body
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Component, Start
from problems.contact import COULOMB, G, Touching, crossing
from problems.motion import motion
from problems.problem import Problem, Solution

CONSERVED = "Conservation of energy: elastic forces that are gradients of what they store"


def free_body(
    m: float,
    moments: Sequence[float],
    r: Sequence[float],
    v: Sequence[float] = (0.0, 0.0, 0.0),
    w: Sequence[float] = (0.0, 0.0, 0.0),
    angles: Sequence[float] = (0.0, 0.0, 0.0),
) -> Body:
    """A body of a mass [kg] and moments of inertia [kg.m2], at a place [m] and with velocities [m/s, rad/s]."""
    I_11, I_22, I_33 = moments
    start = {"r_0": Start(tuple(r), fixed=True), "v_0": Start(tuple(v), fixed=True)}
    turned = {"angles_fixed": True, "angles_start": tuple(angles), "w_0_fixed": True, "w_0_start": tuple(w)}
    return Body(m=m, r_CM=(0, 0, 0), I_11=I_11, I_22=I_22, I_33=I_33, **start, **turned)


class Thrown(Assembly):
    """Two tumbling bodies without weight that meet."""

    def __init__(self, one: Component, other: Component) -> None:
        self.world = World(gravityType="NoGravity")
        self.body_a = free_body(1.0, (2e-3, 3e-3, 4e-3), (-0.3, 0.02, 0.03), (1.0, 0.0, 0.0), (3.0, 2.0, -5.0))
        self.body_b = free_body(2.0, (3e-3, 2e-3, 4e-3), (0, 0, 0), w=(1.0, -2.0, 3.0), angles=(0.3, 0.4, 0.5))
        self.a, self.b = one, other
        self.contact = Contact(geometry_a="a", geometry_b="b", c=1e6)
        self.connect(self.body_a.frame_a, self.a.frame_a)
        self.connect(self.body_b.frame_a, self.b.frame_a)


def energy_kept(problem: str, model: Callable[[], Assembly], tolerance: float) -> Solution:
    """Change of energy over that at the start, after bodies have met and parted."""
    run = motion(_system(model, True), ["energy.total", "contact.gap[1]"], np.linspace(0, 1, 501), tolerance)
    energy = run.values["energy.total"]
    assert run.values["contact.gap[1]"][-1] > 0.01 > 0 > run.values["contact.gap[1]"].min()
    return Solution({problem: float(energy[-1] / energy[0] - 1)}, run.seconds, run.evaluations)


def boxes() -> Thrown:
    """A box that hits another one, corner on edge."""
    return Thrown(Box(length=0.1), Box(length=0.15, width=0.1, height=0.08))


def ellipsoid_and_box() -> Thrown:
    """An ellipsoid that hits a box, on an edge."""
    return Thrown(
        Ellipsoid(length=0.2, width=0.1, height=0.06), Box(length=0.15, width=0.1, height=0.08, rounding=0.01)
    )


def ellipsoids() -> Thrown:
    """An ellipsoid that hits another one."""
    return Thrown(Ellipsoid(length=0.2, width=0.1, height=0.06), Ellipsoid(length=0.08, width=0.15, height=0.1))


def cylinder_and_box() -> Thrown:
    """A cylinder that hits a box."""
    return Thrown(Cylinder(radius=0.05, length=0.12), Box(length=0.15, width=0.1, height=0.08))


def cylinders() -> Thrown:
    """A disc that hits a rod."""
    return Thrown(Cylinder(radius=0.1, length=0.06), Cylinder(radius=0.04, length=0.2, n=(1, 1, 0)))


def ellipsoid_and_cylinder() -> Thrown:
    """An ellipsoid that hits a cylinder."""
    return Thrown(Ellipsoid(length=0.2, width=0.1, height=0.06), Cylinder(radius=0.05, length=0.12, rounding=0.01))


#: Corners of a prism: two regular polygons, of 12 corners each, at this radius, and half its height [m].
ROUND, HALF, CORNERS = 0.1, 0.03, 12


def prism(corners: int = CORNERS) -> ConvexMesh:
    """A prism that stands on its end."""
    at, up = 2 * np.pi * np.arange(corners) / corners, np.array([0, 0, HALF])
    ring = np.column_stack([ROUND * np.cos(at), ROUND * np.sin(at), 0 * at])
    return ConvexMesh(vertices=np.concatenate([ring + up, ring - up]))


def thrown_prism() -> Thrown:
    """A prism that hits the ground with a corner, and then others."""
    return Thrown(prism(), Plane(n=(-1, 0, 0)))


#: Spin of the prism [rad/s], friction, moment of inertia about its axis [kg.m2], stiffness of a corner [N/m], hard and
#: soft.
SPIN, MU, J, STIFF, SOFT = 10.0, 0.3, 0.005, 1e6, 1e3


def spinning_prism() -> Touching:
    """The prism on its end, turning about the vertical."""
    law = {"c": STIFF, "d": 100.0, "mu_k": MU, "c_t": 1e6}
    moments = (J / 2, J / 2, J)
    return Touching(prism(), law, I=moments, height=HALF - G / (CORNERS * STIFF), w=(0.0, 0.0, SPIN))


def solve_spin(tolerance: float) -> Solution:
    """Instant at which it no longer turns forward."""
    t = np.linspace(0, 0.3, 3001)
    run = motion(_system(spinning_prism), ["body.w_a[3]"], t, tolerance)
    return Solution({"contact-mesh-spin": crossing(t, run.values["body.w_a[3]"])}, run.seconds, run.evaluations)


def bouncing_prism() -> Touching:
    """The prism in the air just above its place at rest, without damping, so that it never leaves the ground."""
    return Touching(prism(), {"c": SOFT}, I=(J / 2, J / 2, J), height=HALF)


def solve_bounce(tolerance: float) -> Solution:
    """Height after some bounces, beside that at the start."""
    at = 10.25 * math.tau / math.sqrt(CORNERS * SOFT)
    run = motion(_system(bouncing_prism), ["body.r_0[3]"], [0.0, at], tolerance)
    found = HALF - float(run.values["body.r_0[3]"][-1])
    return Solution({"contact-mesh-bounce": found}, run.seconds, run.evaluations)


# -- a sphere rolls in a bowl

#: Radius of the bowl and the ball [m], angle at the start [rad].
BOWL, BALL, RAISED = 1.0, 0.1, 0.2
#: Grid of the bowl: points along either side, and the length of it [m].
POINTS, SIDE = 17, 0.5


class Bowl(HeightField):
    """A bowl that is part of a sphere."""

    def height(self, x: Any, y: Any) -> Any:
        """Height [m] above the lowest point."""
        return BOWL - ca.sqrt(BOWL**2 - x**2 - y**2)


def gridded() -> HeightField:
    """The same from a grid."""
    x = SIDE * np.linspace(-0.5, 0.5, POINTS)
    return HeightField(z=BOWL - np.sqrt(BOWL**2 - np.add.outer(x**2, x**2)), length=SIDE)


class Rolling(Assembly):
    """A ball that is let go in a bowl, and rolls."""

    def __init__(self, field: HeightField) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        moment, way = 0.4 * BALL**2, BOWL - BALL + G / STEEL
        place = (way * math.sin(RAISED), 0.0, BOWL - way * math.cos(RAISED))
        self.body = free_body(1.0, (moment,) * 3, place)
        self.ball, self.bowl = Sphere(radius=BALL), field
        self.contact = Contact(geometry_a="ball", geometry_b="bowl", c=STEEL, d=10.0, mu_k=1.0, c_t=STEEL)
        self.connect(self.body.frame_a, self.ball.frame_a)
        self.connect(self.world.frame_b, self.bowl.frame_a)


#: Stiffness of the ball [N/m].
STEEL = 1e8


def bowl_period() -> float:
    """Time of one oscillation [s]: a pendulum of the length 7/5 (R - r), however far it swings."""
    return 4 * math.sqrt(7 / 5 * (BOWL - BALL) / G) * float(special.ellipk(math.sin(RAISED / 2) ** 2))


def solve_bowl(problem: str, field: Callable[[], HeightField], tolerance: float) -> Solution:
    """Time from the first passage at the lowest point to the third."""
    t = np.linspace(0, 1.3 * bowl_period(), 1301)
    run = motion(_system(functools.partial(_rolling, field)), ["body.r_0[1]"], t, tolerance)
    x = run.values["body.r_0[1]"]
    first = crossing(t, x)
    return Solution(
        {problem: crossing(t, x, int(np.searchsorted(t, first + 0.6 * bowl_period()))) - first},
        run.seconds,
        run.evaluations,
    )


def _rolling(field: Callable[[], HeightField]) -> Assembly:
    return Rolling(field())


def _bowl() -> HeightField:
    return Bowl(length=SIDE)


# -- a stack

#: Sides of boxes [m].
SIDE_OF_BOX = 0.1


class Stack(Assembly):
    """Boxes of 1 kg on each other, each turned by 0.1 rad against the one below."""

    def __init__(self, count: int) -> None:
        self.world, self.ground = World(g=G, n=(0, 0, -1)), Plane()
        self.connect(self.world.frame_b, self.ground.frame_a)
        law = {"c": 1e6, "d": 100.0, "mu_k": 0.5, "c_t": 1e5}
        for i in range(count):
            place, moment = (0.0, 0.0, SIDE_OF_BOX * (i + 0.5)), SIDE_OF_BOX**2 / 6
            body = self.add(f"body{i}", free_body(1.0, (moment,) * 3, place, angles=(0.0, 0.0, 0.1 * i)))
            box = self.add(f"box{i}", Box(length=SIDE_OF_BOX))
            self.connect(body.frame_a, box.frame_a)
            self.add(f"contact{i}", Contact(geometry_a=f"box{i}", geometry_b=f"box{i - 1}" if i else "ground", **law))


#: Stacks by how many boxes they have.
STACKS = {"five": 5, "ten": 10}
_STACK = {name: functools.partial(Stack, count) for name, count in STACKS.items()}


def solve_stack(name: str, tolerance: float) -> Solution:
    """How far each box has gone from where it has come to rest after 2 s, and how far sideways from the start."""
    names = [f"body{i}.r_0[{k}]" for i in range(STACKS[name]) for k in (1, 2, 3)]
    run = motion(_system(_STACK[name]), names, [0.0, 2.0, 10.0], tolerance)
    places = np.array([run.values[name] for name in names]).reshape(-1, 3, 3)
    far = np.abs(places[:, :, 2] - places[:, :, 1]).max()
    sideways = np.abs(places[:, :2, 2] - places[:, :2, 0]).max()
    return Solution({f"contact-stack-of-{name}": [float(far), float(sideways)]}, run.seconds, run.evaluations)


@functools.cache
def _system(model: Callable[[], Assembly], energy: bool = False) -> System:
    return System.of(model(), energy=energy)


_COMMON: dict[str, Any] = {"origin": "closed form", "tolerance": 1e-8, "tolerances": (1e-6, 1e-8)}
_BOWL = "A sphere rolls in a bowl"
_PENDULUM = "Rolling without sliding: (R - r) phi'' = -5/7 g sin(phi), whose period is an elliptic integral"
_PRISM = "A prism of corners"

PROBLEMS = (
    Problem(
        "contact-box-on-box-energy",
        "Two boxes meet",
        CONSERVED,
        "change of energy over that at the start, of two tumbling boxes that hit each other, without damping",
        "1",
        0.0,
        functools.partial(energy_kept, "contact-box-on-box-energy", boxes),
        error=1e-6,
        model=boxes,
        **_COMMON,
    ),
    *(
        Problem(
            f"contact-{name}-energy",
            title,
            CONSERVED,
            f"change of energy over that at the start, of {what} without damping",
            "1",
            0.0,
            functools.partial(energy_kept, f"contact-{name}-energy", model),
            error=1e-6,
            model=model,
            **_COMMON,
        )
        for title, name, what, model in (
            ("Ellipsoids meet", "ellipsoid-on-box", "a tumbling ellipsoid that hits a box,", ellipsoid_and_box),
            ("Ellipsoids meet", "ellipsoids", "two tumbling ellipsoids that hit each other,", ellipsoids),
            ("Cylinders meet", "cylinder-on-box", "a tumbling cylinder that hits a box,", cylinder_and_box),
            ("Cylinders meet", "cylinders", "a tumbling disc that hits a rod,", cylinders),
            ("Cylinders meet", "ellipsoid-on-cylinder", "an ellipsoid that hits a cylinder,", ellipsoid_and_cylinder),
        )
    ),
    *(
        Problem(
            f"contact-stack-of-{name}",
            "A stack of boxes",
            "Bodies at rest stay at rest",
            f"ways of {name} boxes on each other from 2 s to 10 s, and sideways from the start",
            "m",
            [0.0, 0.0],
            functools.partial(solve_stack, name),
            error=1e-9,
            model=stack,
            **_COMMON | {"tolerance": 1e-6, "tolerances": (1e-6,)},
        )
        for name, stack in _STACK.items()
    ),
    Problem(
        "contact-mesh-energy",
        _PRISM,
        CONSERVED,
        f"change of energy over that at the start, of a tumbling mesh of {2 * CORNERS} corners that hits the ground",
        "1",
        0.0,
        functools.partial(energy_kept, "contact-mesh-energy", thrown_prism),
        error=1e-6,
        model=thrown_prism,
        **_COMMON,
    ),
    Problem(
        "contact-mesh-spin",
        _PRISM,
        COULOMB,
        f"end of a spin of {SPIN:g} rad/s on {CORNERS} corners, J w / (mu m g R)",
        "s",
        J * SPIN / (MU * G * ROUND),
        solve_spin,
        error=1e-5,
        model=spinning_prism,
        **_COMMON,
    ),
    Problem(
        "contact-mesh-bounce",
        _PRISM,
        "Mass on springs side by side, without damping",
        f"way down of a mesh on {CORNERS} corners of {SOFT:g} N/m each, after 10.25 oscillations, m g / (n c)",
        "m",
        G / (CORNERS * SOFT),
        solve_bounce,
        error=1e-8,
        model=bouncing_prism,
        **_COMMON,
    ),
    *(
        Problem(
            name,
            _BOWL,
            _PENDULUM,
            f"period of a ball of {BALL} m in a bowl of {BOWL:g} m, from {RAISED} rad, {how}",
            "s",
            bowl_period(),
            functools.partial(solve_bowl, name, field),
            error=error,
            model=functools.partial(_rolling, field),
            **_COMMON,
        )
        for name, how, field, error in (
            ("contact-bowl-function", "as a function", _bowl, 5e-6),
            ("contact-bowl-grid", f"as a grid of {POINTS} x {POINTS} heights", gridded, 1e-4),
        )
    ),
)
