from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca
import numpy as np
import pytest

from mbfmu.components import BodyShape, Revolute, World
from mbfmu.dynamics.system import System
from mbfmu.export.initial_dependencies import StartPatterns, initial_dependencies
from mbfmu.export.model_description import model_structure
from mbfmu.modeling import Assembly, Start
from mbfmu.runtime.parts import Part


def names(system: Any, equations: Any = None) -> dict[str, list[str]]:
    unknowns = model_structure(system.variables).initial_unknowns
    found = initial_dependencies(equations or system.equations, system.variables, unknowns)
    return {system.variables[i].name: [system.variables[j].name for j in knowns] for i, knowns in found.items()}


def test_outputs_and_calculated_parameters(system: Any) -> None:
    found = names(system)
    assert found["omega"] == ["mass.m", "spring.c"]
    # The state is its exact start value; the start value of the speed is a guess and so no known.
    assert found["flange.s"] == ["mass.s"]
    assert found["energy"] == ["mass.m", "spring.c", "mass.s"]
    assert "mass.a" not in found


def test_patterns_agree_with_what_numbers_do(system: Any) -> None:
    """Perturb every parameter and input, and look which accelerations and variables move."""
    e = system.equations

    def values(p: Any, u: Any, t: float) -> np.ndarray:
        total = ca.vertcat(p, e.functions["derived"](p))
        x = e.functions["guess"](total)[: e.nx]
        a, b = e.functions["dynamics"](t, x, u, total, ca.DM(0, 1))
        w = np.linalg.solve(np.array(a), np.array(b))
        y = e.functions["variables"](t, x, u, total, ca.DM(0, 1), w)
        return np.concatenate([np.array(total), np.array(x), w, np.array(y)]).ravel()

    p, u = np.array([2.0, 8.0, 0.3, 0.1, 0.7]), np.array([0.4])
    base = values(p, u, 0.0)
    moved = []
    for i in range(e.npar):
        moved.append(values(p + 1e-3 * np.eye(e.npar)[i], u, 0.0) != base)
    moved.append(values(p, u + 1e-3, 0.0) != base)
    moved.append(values(p, u, 1.0) != base)
    patterns = StartPatterns(e)
    rows = [row for store in ("P", "x", "w", "y") for row in patterns.rows(store)]
    bits = 1 << np.arange(len(moved))
    assert rows == (bits @ np.array(moved)).tolist()


def with_an_equation(equations: Any, known: tuple[int, ...] = (0, 1), **changes: Any) -> Any:
    """The same equations with one that initialisation solves, for some of its unknowns."""
    t, unknowns, u, total = ca.SX.sym("t"), ca.SX.sym("X", 2), ca.SX.sym("u"), ca.SX.sym("P", 6)
    residual = ca.sum1(unknowns[list(known)]) - total[3]
    slopes = ca.densify(ca.jacobian(residual, unknowns[list(known)])).T
    initial = ca.Function("initial", [t, unknowns, u, total, ca.SX(0, 1)], [residual, slopes])
    functions = {**equations.functions, "initial": initial}
    parts = (Part(1, known),)
    return dataclasses.replace(
        equations, functions=functions, equation_names=("start",), initial_parts=parts, **changes
    )


def test_what_is_solved_for_may_depend_on_everything(system: Any) -> None:
    solved = with_an_equation(system.equations, fixed=(False, False))
    assert set(names(system, solved)) == {"omega"}


def test_fixed_start_values_stay_exact_where_others_are_solved_for(system: Any) -> None:
    found = names(system, with_an_equation(system.equations))
    assert found["flange.s"] == ["mass.s"]
    assert "energy" not in found


def test_guesses_that_no_equation_knows_stay_what_they_are(system: Any) -> None:
    solved = with_an_equation(system.equations, (0,), fixed=(False, False))
    assert StartPatterns(solved).rows("x") == [None, StartPatterns(system.equations).row("x", 1)]


def test_free_parameters_may_depend_on_everything(system: Any) -> None:
    assert "omega" not in names(system, dataclasses.replace(system.equations, free=(1,)))


@pytest.mark.slow
def test_accelerations_of_long_chains_have_knowns_too() -> None:
    """The recursion gives them without a matrix: they depend on every mass and length, and on what is fixed."""

    class Chain(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.joints = [Revolute(phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True)) for _ in range(6)]
            self.bars = [BodyShape(m=1.0, r=(0.5, 0, 0), r_CM=(0.25, 0, 0)) for _ in range(6)]
            frame = self.world.frame_b
            for joint, link in zip(self.joints, self.bars, strict=True):
                self.connect(frame, joint.frame_a)
                self.connect(joint.frame_b, link.frame_a)
                frame = link.frame_b
            self.output(self.joints[0].a)

    system = System.of(Chain())
    assert system.equations.explicit
    found = names(system)
    assert {"bars[1].m", "bars[6].m", "joints[6].phi", "world.g"} <= set(found["joints[1].a"])
