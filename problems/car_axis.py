"""A car's axle, a massless bar with a mass at each end, on two springs over a road that moves up and down at one side.

The left mass slides on a line across the car's base, whose right end follows the bumps: y = 0.1 m sin(10 t). All is in
the plane, and stiff springs beside small masses make it oscillate fast.
"""

from __future__ import annotations

import functools

import casadi as ca

from mbfmu.components import FixedTranslation, PointMass, Prismatic, Revolute, World, rotational
from mbfmu.components.forces import Spring
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Component, RealOutput, Start
from mbfmu.modeling import types as t
from problems.motion import motion
from problems.problem import Problem, Solution

TITLE = "Car axis"
SOURCE = (
    "problem caraxis of F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008); after "
    "S. Schneider's thesis, Universite de Geneve (1994)"
)
END = 3.0

#: Places [m] and speeds [m/s] of the left and right mass at 3 s, as published.
PUBLISHED = {
    "xl": 0.4934557842755629e-1,
    "yl": 0.4969894602303324,
    "xr": 0.1041742524885400e1,
    "yr": 0.3739110272652214,
    "vxl": -0.7705836840321485e-1,
    "vyl": 0.7446866596327776e-2,
    "vxr": 0.1755681574942899e-1,
    "vyr": 0.7703410437794031,
}


class Road(Component):
    """Angle by which the bumps turn the base."""

    modelica_name = "Problems.CarAxis.Road"

    y = RealOutput("Angle of the base", type=t.Angle)

    def equations(self) -> None:
        """The right end of the base, which is 1 m long, is 0.1 m sin(10 t) high."""
        self.y = ca.asin(0.1 * ca.sin(10 * self.time))


class CarAxis(Assembly):
    """Springs of 1 N/m and 0.5 m, masses of 0.5 g, gravity of 1 m/s2."""

    stop_time = END

    def __init__(self) -> None:
        self.world = World(g=1.0, axisLength=0.2)
        self.road, self.bumps = Road(), rotational.Position(exact=True)
        self.base = Revolute(useAxisFlange=True, cylinderLength=0.05, cylinderDiameter=0.05)
        self.length = FixedTranslation(r=(1, 0, 0), width=0.02)
        self.slide = Prismatic(
            n=(0, 1, 0), s=Start(0.5, fixed=True), v=Start(0.0, fixed=True), boxWidth=0.02, boxColor=(120, 120, 120)
        )
        self.hinge = Revolute(
            phi=Start(0.0, fixed=True), w=Start(-1.0, fixed=True), cylinderLength=0.05, cylinderDiameter=0.05
        )
        self.axle = FixedTranslation(r=(1, 0, 0), width=0.03)
        self.left, self.right = PointMass(m=5e-4), PointMass(m=5e-4)
        self.left_spring, self.right_spring = (
            Spring(c=1.0, s_unstretched=0.5, width=0.1, coilWidth=0.01) for _ in range(2)
        )
        self.connect(self.road.y, self.bumps.phi_ref)
        self.connect(self.bumps.flange, self.base.axis)
        self.connect(self.world.frame_b, self.base.frame_a)
        self.connect(self.base.frame_b, self.length.frame_a)
        self.connect(self.base.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.left.frame_a)
        self.connect(self.slide.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.axle.frame_a)
        self.connect(self.axle.frame_b, self.right.frame_a)
        self.connect(self.world.frame_b, self.left_spring.frame_a)
        self.connect(self.left_spring.frame_b, self.slide.frame_b)
        self.connect(self.length.frame_b, self.right_spring.frame_a)
        self.connect(self.right_spring.frame_b, self.axle.frame_b)
        self.output(self.slide.s)
        self.output(self.hinge.phi)


@functools.cache
def _system() -> System:
    return System.of(CarAxis())


#: Names of variables: `left.v_0` is the velocity of the left mass.
_VARIABLES = {
    "xl": "left.r_0[1]",
    "yl": "left.r_0[2]",
    "xr": "right.r_0[1]",
    "yr": "right.r_0[2]",
    "vxl": "left.v_0[1]",
    "vyl": "left.v_0[2]",
    "vxr": "right.v_0[1]",
    "vyr": "right.v_0[2]",
}


def solve(tolerance: float) -> Solution:
    """Places and speeds at the end."""
    found = motion(_system(), list(_VARIABLES.values()), (0.0, END), tolerance)
    values = {f"car-axis-{name}": found.values[variable][-1] for name, variable in _VARIABLES.items()}
    return Solution(values, found.seconds, found.evaluations)


def _quantity(name: str) -> str:
    side = "left" if name[-1] == "l" else "right"
    return f"{'speed along ' if name[0] == 'v' else ''}{name[-2]} of the {side} mass at {END:g} s"


PROBLEMS = tuple(
    Problem(
        f"car-axis-{name}", TITLE, SOURCE, _quantity(name), "m/s" if name[0] == "v" else "m", value, solve,
        1e-6 if name[0] == "v" else 1e-8, model=CarAxis,
    )
    for name, value in PUBLISHED.items()
)  # fmt: skip
