"""Derivatives through contact, against differences and closed forms: implicit steps and studies live on them."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest
from test_contact_patches import CUBE

import mbfmu
from mbfmu.components import World
from mbfmu.components.contact import Box, Contact, ConvexMesh, HeightField, Plane, RigidContact, Sphere
from mbfmu.dynamics.system import System
from mbfmu.modeling import Assembly, Component
from mbfmu.runtime import columns
from mbfmu.runtime.columns import Columns
from mbfmu.runtime.tangents import tangents
from mbfmu.studies.points import point_of_run
from problems.contact import G, Touching
from problems.contact_patches import free_body
from problems.motion import motion

SIDE, HALF, PRESSED, C = 0.1, 0.05, 1e-4, 1e5
FRICTION = {"c": C, "d": 2.0, "mu_k": 0.3, "mu_s": 0.4, "v_S": 0.2, "c_t": 1e4}


class OnBox(Assembly):
    """A box that slides and turns on another one, of the world."""

    def __init__(self, shape: Component, ground: Component, top: float) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        place = (0.01, 0.02, top + HALF - PRESSED)
        self.body = free_body(1.0, (1e-3, 2e-3, 3e-3), place, (0.2, 0.1, -0.01), (0.1, 0.2, 0.5), (2e-4, 3e-4, 0.3))
        self.shape, self.ground = shape, ground
        self.connect(self.body.frame_a, self.shape.frame_a)
        self.connect(self.world.frame_b, self.ground.frame_a)
        self.contact = Contact(geometry_a="shape", geometry_b="ground", **FRICTION)


GROUNDS = {
    "mesh on plane": lambda: OnBox(ConvexMesh(vertices=CUBE), Plane(), 0.0),
    "mesh on field": lambda: OnBox(ConvexMesh(vertices=CUBE), HeightField(z=np.zeros((4, 4)), length=1.0), 0.0),
    "box on box": lambda: OnBox(Box(length=SIDE), Box(length=3 * SIDE, height=SIDE), HALF),
}


class Derivatives:
    """Rates of all states of a system, and their changes along a direction, at its start."""

    def __init__(self, system: System) -> None:
        self.e = system.equations
        _, self.x, self.u, self.P, self.m = point_of_run(system, 0.0, None)
        self.tangents = tangents(self.e, ())

    def accelerations(self, x: np.ndarray) -> np.ndarray:
        _, b = self.e.functions["dynamics"](0.0, x, self.u, self.P, self.m)
        return self._solved(x, b)

    def _solved(self, x: np.ndarray, b: ca.DM) -> np.ndarray:
        """What A gives for a right-hand side."""
        A, right = self.e.functions["dynamics"](0.0, x, self.u, self.P, self.m)[0], np.ravel(b)
        if self.e.explicit:
            return right
        if self.e.sparsity:
            rows, columns = np.array(self.e.sparsity).T
            matrix = np.zeros((right.size, right.size))
            matrix[rows, columns] = np.ravel(A)
            return np.linalg.solve(matrix, right)
        return np.linalg.solve(np.array(A), right)

    def rates(self, x: np.ndarray) -> np.ndarray:
        derivatives = self.e.functions["derivatives"]
        return np.ravel(derivatives(0.0, x, self.u, self.P, self.m, self.accelerations(x)[: self.e.nw]))

    def along(self, dx: np.ndarray) -> np.ndarray:
        W, nw = self.accelerations(self.x), self.e.nw
        at, du = (0.0, self.x, self.u, self.P, self.m), np.zeros(self.e.nu)
        dw = self._solved(self.x, self.tangents["dynamics_tangent"](*at, W, 0.0, dx, du))
        return np.ravel(self.tangents["derivatives_tangent"](*at, W[:nw], 0.0, dx, du, dw[:nw]))


@pytest.mark.slow
@pytest.mark.campaign("box on box")
@pytest.mark.parametrize("which", GROUNDS)
def test_directional_derivatives_are_those_of_differences(which: str) -> None:
    """Of accelerations and bristles by positions, speeds and bristles, while a patch presses and slides."""
    at = Derivatives(System.of(GROUNDS[which]()))
    assert at.m.max() == 1
    rng = np.random.default_rng(1)
    for _ in range(4):
        dx = rng.normal(size=at.x.size)
        sides = [at.rates(at.x + sign * 1e-8 * dx) for sign in (1, -1)]
        expected = (sides[0] - sides[1]) / 2e-8
        assert np.abs(expected[7:13]).max() > C / 10
        np.testing.assert_allclose(at.along(dx), expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


class Row(Assembly):
    """Balls that lie on a plane in a row, pressed into it by less than a tolerance, and close up."""

    def __init__(self, count: int, closing: float = 0.0) -> None:
        self.world, self.ground = World(g=G, n=(0, 0, -1)), Plane()
        self.connect(self.world.frame_b, self.ground.frame_a)
        for i in range(count):
            place = (0.201 * i, 0.0, 0.1 - SHALLOW)
            body = self.add(f"body{i}", free_body(1.0, (4e-3,) * 3, place, v=(-closing * i, 0, 0)))
            ball = self.add(f"ball{i}", Sphere(radius=0.1))
            self.connect(body.frame_a, ball.frame_a)
            law = {"c": STIFF, "d": 10.0}
            self.add(f"contact{i}", Contact(geometry_a=f"ball{i}", geometry_b="ground", **law))
            if i:
                self.add(f"beside{i}", Contact(geometry_a=f"ball{i}", geometry_b=f"ball{i - 1}", **law))


#: Stiffness [N/m] of balls in a row, and how deep they are in the ground [m]: at rest.
STIFF = 1e8
SHALLOW = G / STIFF


@pytest.mark.slow
@pytest.mark.campaign
def test_derivatives_are_exact_where_equations_of_many_bodies_share_code() -> None:
    """Surfaces at rest are pressed in by 1e-7 m, which differences over some 1e-6 m reach over."""
    system = System.of(Row(12))
    assert not system.equations.functions["dynamics"].is_a("SXFunction")
    at = Derivatives(system)
    states = {variable.name: variable.index for variable in system.variables if variable.store == "x"}
    for i in (0, 5, 11):
        along = np.zeros(at.x.size)
        along[states[f"body{i}.r_0[3]"]] = 1
        assert at.along(along)[states[f"body{i}.v_0[3]"]] == pytest.approx(-STIFF, rel=1e-6)


@pytest.mark.slow
def test_columns_that_share_no_row_give_the_same_jacobian(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ball knows its two neighbours: three balls have a group of columns each; steps are the same to the bit."""
    system = System.of(Row(6, closing=0.02))
    assert max(Columns.of(system.equations).groups) < 3 * 13
    check_columns(system)
    times, names = np.linspace(0, 0.2, 5), [f"body{i}.r_0[1]" for i in range(6)]
    implicit = dataclasses.replace(system, equations=dataclasses.replace(system.equations, solver="implicit"))
    grouped = motion(implicit, names, times, 1e-7)
    monkeypatch.setattr(columns, "FEW", 1000)
    one_by_one = motion(dataclasses.replace(implicit, equations=dataclasses.replace(implicit.equations, name="again")),
                        names, times, 1e-7)  # fmt: skip
    assert Columns.of(implicit.equations) == Columns()
    for name in names:
        np.testing.assert_array_equal(grouped.values[name], one_by_one.values[name])
    assert abs(grouped.values["body0.r_0[1]"][-1]) > 1e-4  # those behind have pushed it


class Rigid(Assembly):
    """Bodies beside each other, whose balls lie on a plane without giving way: accelerations and forces in one A."""

    def __init__(self, count: int) -> None:
        self.world, self.ground = World(g=G, n=(0, 0, -1)), Plane()
        self.connect(self.world.frame_b, self.ground.frame_a)
        for i in range(count):
            body = self.add(f"body{i}", free_body(1.0, (4e-3, 5e-3, 6e-3), (0.3 * i, 0.0, 0.1), w=(0.1, 0.2, 0.3)))
            ball = self.add(f"ball{i}", Sphere(radius=0.1, r=(1e-2, 0.0, 0.0)))
            self.connect(body.frame_a, ball.frame_a)
            self.add(f"contact{i}", RigidContact(geometry_a=f"ball{i}", geometry_b="ground"))


@pytest.mark.slow
def test_columns_of_a_sparse_system_hold_all_that_changes() -> None:
    system = System.of(Rigid(3))
    assert system.equations.sparsity
    check_columns(system)


def check_columns(system: System) -> None:
    """Columns of a group share no row, and each has the rows that change along it, wherever bodies are."""
    at, found = Derivatives(system), Columns.of(system.equations)
    rng = np.random.default_rng(3)
    at.x = at.x + 1e-3 * rng.normal(size=at.x.size)
    for group in range(max(found.groups) + 1):
        rows = [i for j, g in enumerate(found.groups) if g == group for i in _rows(found, j)]
        assert len(rows) == len(set(rows))
    for j in range(at.x.size):
        change = np.abs(at.along(np.eye(at.x.size)[j]))
        assert set(np.flatnonzero(change > 1e-12 * change.max())) <= set(_rows(found, j))


def _rows(found: Columns, column: int) -> tuple[int, ...]:
    return found.rows[found.starts[column] : found.starts[column + 1]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["box", "mesh"])
def test_a_body_is_found_at_rest_on_a_plane(name: str) -> None:
    """By Newton's method through its contact: it sinks in by m g over the stiffness of its corners."""
    shape = {"box": Box(length=SIDE), "mesh": ConvexMesh(vertices=CUBE)}[name]
    law = {"c": C, "mu_k": 0.3, "c_t": 1e5}
    rest = mbfmu.equilibrium(Touching(shape, law, I=(0.01, 0.02, 0.03), height=HALF - 1e-5))
    assert rest["body.r_0[3]"] == pytest.approx(HALF - G / (4 * C), abs=1e-12)
    assert rest["contact.f_a[3]"] == pytest.approx(G, rel=1e-9)
