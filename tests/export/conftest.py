"""A System made by hand: a mass on a spring, so that the export is tested without the rest of the house."""

from __future__ import annotations

from typing import Any

import casadi as ca
import pytest

from mbfmu.dynamics.system import System
from mbfmu.runtime.contract import REQUIRED
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable, Terminal

FLANGE = "Mechanics.Translational.Interfaces.Flange"


def make_equations() -> Equations:
    """m a = F - c s - d v with x = [s, v], u = [F], p = [m, c, d, s0, v0], d = [sqrt(c/m)], y = [E]; s <= 10 m."""
    t, x, u, m_, w = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("u"), ca.SX.sym("m", 0), ca.SX.sym("w")
    p, total, unknowns, dv = ca.SX.sym("p", 5), ca.SX.sym("P", 6), ca.SX.sym("X", 2), ca.SX.sym("dv")
    m_before, w_before = ca.SX.sym("m_before", 0), ca.SX.sym("w_before")
    none = ca.SX(0, 1)
    energy = total[0] * x[1] ** 2 / 2 + total[1] * x[0] ** 2 / 2
    outputs: dict[str, tuple[list[Any], list[Any]]] = {
        "derived": ([p], [ca.sqrt(p[1] / p[0])]),
        "guess": ([total], [total[3:5]]),
        "initial": ([t, unknowns, u, total, m_], [none, none]),
        "dynamics": ([t, x, u, total, m_], [total[0], u - total[1] * x[0] - total[2] * x[1]]),
        "derivatives": ([t, x, u, total, m_, w], [ca.vertcat(x[1], w)]),
        "displacement": ([t, x, total, dv], [dv]),
        "constraints": ([t, x, u, total, m_], [none, none, ca.SX(0, 1)]),
        "redundant": ([t, x, u, total, m_], [none]),
        "next_times": ([t, total, m_], [none]),
        "delayed": ([t, x, u, total, m_, w], [none]),
        "delays": ([t, x, u, total, m_], [none, none]),
        "crossings": ([t, x, u, total, m_, w], [none]),
        "held": ([total], [none]),
        "update": ([t, x, u, total, m_, w, m_before, w_before], [none, x]),
        "variables": ([t, x, u, total, m_, w], [energy]),
        "iteration_guess": ([total], [none]),
        "iterations": ([t, x, u, total, m_, w], [none, none]),
        "assertions": ([t, x, u, total, m_, w], [10 - x[0]]),
    }
    return Equations(
        name="Examples.Oscillator",
        quaternions=(),
        free=(),
        fixed=(True, False),
        given=(True, True),
        weights=(1.0, 1.0),
        unknown_names=("mass.s", "mass.v"),
        equation_names=(),
        velocity_names=(),
        redundant_names=(),
        blocks=((0,),),
        time_switches=(),
        assertion_messages=("the spring is torn",),
        parameters=(2.0, 8.0, 0.0, 0.1, 0.0),
        inputs=(0.0,),
        start_time=0.0,
        stop_time=3.0,
        tolerance=1e-6,
        functions={name: ca.Function(name, *outputs[name]) for name in REQUIRED},
    )


def make_variables() -> tuple[ScalarVariable, ...]:
    force = Terminal("flange", "f", flow=True, kind=FLANGE)

    def real(name: str, description: str, unit: str, store: Any, index: int, **others: Any) -> ScalarVariable:
        common: dict[str, Any] = {
            "causality": "local",
            "variability": "continuous",
            "initial": "calculated",
            "start": None,
        }
        return ScalarVariable(
            name=name, description=description, type="Real", unit=unit, store=store, index=index, **(common | others)
        )

    def constant(name: str, description: str, kind: Any, start: Any, **others: Any) -> ScalarVariable:
        common: dict[str, Any] = {"causality": "local", "structural": True}
        return ScalarVariable(
            name=name,
            description=description,
            type=kind,
            variability="constant",
            initial="exact",
            start=start,
            store="constant",
            index=0,
            **(common | others),
        )

    def parameter(name: str, description: str, unit: str, index: int, start: float, **others: Any) -> ScalarVariable:
        kind = {"causality": "parameter", "variability": "fixed", "initial": "exact", "min": 0.0}
        return real(name, description, unit, "P", index, start=start, start_index=index, **(kind | others))

    return (
        real("time", "Simulation time", "s", "time", 0, causality="independent", initial=None),
        parameter("mass.m", 'Mass "<1 t"', "kg", 0, 2.0, quantity="Mass"),
        parameter("spring.c", "Stiffness", "N/m", 1, 8.0),
        parameter("spring.d", "Damping", "N.s/m", 2, 0.0, max=float("inf")),
        real(
            "omega",
            "Natural frequency",
            "rad/s",
            "P",
            5,
            causality="calculatedParameter",
            variability="fixed",
            display_unit="rev/min",
        ),
        constant("mass.n[1]", "Axis", "Integer", 1),
        constant("mass.label", "Label", "String", "a < b"),
        constant("mass.animation", "Show", "Boolean", True),
        real("flange.f", "Force", "N", "u", 0, causality="input", initial=None, start=0.0, terminal=force),
        real("mass.s", "Position", "m", "x", 0, initial="exact", start=0.1, start_index=3),
        real(
            "mass.v",
            "Speed",
            "m/s",
            "x",
            1,
            initial="approx",
            start=0.0,
            start_index=4,
            derivative_of="mass.s",
            dependencies=(("mass.v", "constant"),),
        ),
        real(
            "mass.a",
            "Acceleration",
            "m/s2",
            "w",
            0,
            derivative_of="mass.v",
            dependencies=(("mass.v", "fixed"), ("flange.f", "fixed"), ("mass.s", "fixed")),
        ),
        real(
            "flange.s",
            "Position of the flange",
            "m",
            "x",
            0,
            causality="output",
            dependencies=(("mass.s", "constant"),),
            terminal=Terminal("flange", "s", kind=FLANGE),
        ),
        real("energy", "Energy", "J", "y", 0, causality="output"),
        constant("count", "Nothing that moves", "Integer", 3, causality="output", structural=False, dependencies=()),
    )


@pytest.fixture(scope="session")
def system() -> System:
    return System(
        name="Examples.Oscillator",
        description="A mass on a spring & damper",
        equations=make_equations(),
        variables=make_variables(),
        components=(
            ("world", "World", "Inertial frame"),
            ("spring", "SpringDamper", "Spring and damper in parallel"),
            ("mass", "Mass", "The mass that swings"),
        ),
        connections=(("world.frame_b", "spring.flange_a"), ("spring.flange_b", "mass.flange_a")),
        structure=(),
    )
