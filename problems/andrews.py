"""Seven bodies in a plane on hinges without friction, three closed loops, driven by a constant torque.

Within 0.03 s the crank turns two and a half times, and the small bodies are thrown about at 1,400 rad/s. Angles and
names of points are those of the source.
"""

from __future__ import annotations

import dataclasses
import functools

from mbfmu.components import Body, Fixed, FixedTranslation, Revolute, World, rotational
from mbfmu.components.forces import Spring
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Problem, Solution

TITLE = "Andrews' squeezing mechanism"
SOURCE = (
    "W. Schiehlen (ed.), Multibody Systems Handbook, Springer 1990; E. Hairer, G. Wanner, Solving Ordinary "
    "Differential Equations II, section VII.7; reference solution: F. Mazzia, C. Magherini, Test Set for Initial "
    "Value Problem Solvers, release 2.4 (2008), problem andrews; also problem A03 of IFToMM's "
    "library of computational benchmarks"
)
END, TORQUE = 0.03, 0.033

#: Angles [rad] and their rates [rad/s] at the start (the rates are all 0) and, as published, at 0.03 s.
START = {
    "beta": -0.0617138900142764496358948458001,
    "theta": 0.0,
    "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609,
    "delta": 0.487364979543842550225598953530,
    "omega": -0.222668390165885884674473185609,
    "epsilon": 1.23054744454982119249735015568,
}
POSITIONS = {
    "beta": 0.1581077119629904e2,
    "theta": -0.1575637105984298e2,
    "gamma": 0.4082224013073101e-1,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 0.1048080741042263e1,
}
RATES = {
    "beta": 0.1139920302151208e4,
    "theta": -0.1424379294994111e4,
    "gamma": 0.1103291221937134e2,
    "phi": 0.1929337464421385e2,
    "delta": 0.5735699284790808,
    "omega": -0.1929337464421385e2,
    "epsilon": 0.3231791658026955,
}


class Squeezer(Assembly):
    """Andrews' squeezing mechanism, lying in the plane x, y without gravity."""

    stop_time = END

    def __init__(self) -> None:
        self.world = World(gravityType="NoGravity", axisLength=0.02, animateGravity=False)
        self.A, self.B, self.C = (
            Fixed(r=r, animation=False) for r in ((-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0), (0.014, 0.072, 0))
        )
        angles = {
            name: Revolute(
                phi=Start(start, fixed=name == "beta"),
                w=Start(0.0, fixed=name == "beta"),
                useAxisFlange=name == "beta",
                cylinderLength=0.004,
                cylinderDiameter=0.003,
            )
            for name, start in START.items()
        }
        self.beta, self.theta, self.gamma = angles["beta"], angles["theta"], angles["gamma"]
        self.phi, self.delta, self.omega, self.epsilon = (angles[name] for name in ("phi", "delta", "omega", "epsilon"))
        self.K1 = _body(0.04325, 2.194e-6, (0.00092, 0))
        self.K2 = _body(0.00365, 4.410e-7, (-0.0115, 0))
        self.K3 = _body(0.02373, 5.255e-6, (0.01043, -0.01874))
        self.K4 = _body(0.00706, 5.667e-7, (0, -(0.02 - 0.01421)))
        self.K5 = _body(0.07050, 1.169e-5, (0.02308, 0.00916))
        self.K6 = _body(0.00706, 5.667e-7, (0.02 - 0.01421, 0))
        self.K7 = _body(0.05498, 1.912e-5, (-0.00449, -0.01228))
        self.OF, self.FE = _rod(0.007, 0), _rod(-0.028, 0)
        self.BE, self.BD = _rod(0, -0.035), _rod(0.02, -0.018)
        self.AG, self.GE = _rod(0.04, 0), _rod(0, -0.02)
        self.AH, self.HE = _rod(0, -0.04), _rod(0.02, 0)
        self.at_E = [Revolute(cylinderLength=0.004, cylinderDiameter=0.003) for _ in range(3)]
        self.spring = Spring(c=4530, s_unstretched=0.07785, width=0.004, coilWidth=0.0004, numberOfWindings=12)
        self.drive = rotational.ConstantTorque(tau_constant=TORQUE)
        self.connect(self.drive.flange, self.beta.axis)
        for base, joint, body, rod in (
            (self.world.frame_b, self.beta, self.K1, self.OF),
            (self.OF.frame_b, self.theta, self.K2, self.FE),
            (self.B.frame_b, self.gamma, self.K3, self.BE),
            (self.A.frame_b, self.delta, self.K5, self.AG),
            (self.AG.frame_b, self.phi, self.K4, self.GE),
            (self.A.frame_b, self.epsilon, self.K7, self.AH),
            (self.AH.frame_b, self.omega, self.K6, self.HE),
        ):
            self.connect(base, joint.frame_a)
            self.connect(joint.frame_b, body.frame_a)
            self.connect(joint.frame_b, rod.frame_a)
        for hinge, rod in zip(self.at_E, (self.BE, self.GE, self.HE), strict=True):
            self.connect(self.FE.frame_b, hinge.frame_a)
            self.connect(hinge.frame_b, rod.frame_b)
        self.connect(self.gamma.frame_b, self.BD.frame_a)
        self.connect(self.C.frame_b, self.spring.frame_a)
        self.connect(self.BD.frame_b, self.spring.frame_b)
        for joint in angles.values():
            self.output(joint.phi)


def _body(m: float, inertia: float, center: tuple[float, float]) -> Body:
    """Mass [kg], moment about the centre [kg.m2], which lies at `center` [m]; what turns about z needs no others."""
    return Body(m=m, r_CM=(*center, 0), I_11=inertia, I_22=inertia, I_33=inertia, sphereDiameter=0.005)


def _rod(x: float, y: float) -> FixedTranslation:
    return FixedTranslation(r=(x, y, 0), width=0.002)


@functools.cache
def _system() -> System:
    return System.of(Squeezer(), energy=True)


def solve(tolerance: float) -> Solution:
    """Angles and rates at the end, and the energy gained until then without what the torque has done."""
    names = [*(f"{name}.{letter}" for letter in ("phi", "w") for name in START), "energy.total"]
    found = motion(_system(), names, (0.0, END), tolerance)
    values = {f"andrews-{name}": found.values[f"{name}.phi"][-1] for name in START}
    values |= {f"andrews-rate-{name}": found.values[f"{name}.w"][-1] for name in START}
    energy, beta = found.values["energy.total"], found.values["beta.phi"]
    values["andrews-energy"] = energy[-1] - energy[0] - TORQUE * (beta[-1] - beta[0])
    return Solution(values, found.seconds, found.evaluations)


def _problem(name: str, quantity: str, unit: str, reference: float, error: float) -> Problem:
    return Problem(
        name, TITLE, SOURCE, f"{quantity} at {END:g} s", unit, reference, solve, error, model=Squeezer, tolerance=1e-12,
        tolerances=(1e-6, 1e-9, 1e-12),
    )  # fmt: skip


PROBLEMS = (
    *(_problem(f"andrews-{name}", f"angle {name}", "rad", value, 1e-8) for name, value in POSITIONS.items()),
    dataclasses.replace(
        _problem("andrews-energy", "energy gained beyond the work of the torque,", "J", 0.0, 1e-9), origin="closed form"
    ),
    *(_problem(f"andrews-rate-{name}", f"rate of {name}", "rad/s", value, 1e-5) for name, value in RATES.items()),
)
