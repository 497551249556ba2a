"""Redundant constraints of which none can be dropped: a pendulum with two rods, one times a factor that changes."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hand_made_models import GRAVITY, Draft, parameter, variable
from hosts import Failed

#: Of the rows of G.
SIZES = (1.0, 2.0)


def doubled_pendulum():
    """A unit mass at (x, y) on a rod of length 1: the constraints g = (x^2 + y^2 - 1) / 2 and (1 + x) g + offset."""
    d = Draft("pendulum", q=2, v=2, multipliers=2, parameters=[0.6, -0.8, 4.0, 3.0, 0.0])

    def rows(q, v):
        g, c, factor = (ca.dot(q, q) - 1) / 2, ca.dot(q, v), 1 + q[0]
        return ca.vertcat(g, factor * g + d.P[4] * q[1]), ca.vertcat(c, factor * c + v[0] * g + d.P[4] * v[1])

    g, c = rows(d.q, d.v)
    G = ca.jacobian(c, d.v)
    bend = ca.jacobian(c, d.q) @ d.v
    states, forces = [variable(f"x{i}", "x", i) for i in range(4)], [variable(f"w{i}", "w", i) for i in range(4)]
    equations = d.equations(
        A=ca.blockcat([[ca.SX.eye(2), -G.T], [G, ca.SX.zeros(2, 2)]]),
        b=ca.vertcat(0, -GRAVITY, -bend),
        guess=d.P[:4],
        g=g,
        c=c,
        initial=ca.vertcat(*rows(d.X[:2], d.X[2:4])),
        fixed=(False,) * 4,
        constraint_sizes=SIZES,
        redundancies=1,
        position_redundancies=1,
        stop_time=10.0,
    )
    return equations, (*states, *forces, parameter("offset", 4, 0.0))


def closed_form(x):
    """Accelerations and multipliers: the force along the rod, shared by least squares of sizes times multipliers."""
    force = GRAVITY * x[1] - x[2] ** 2 - x[3] ** 2
    shares = ca.vertcat(1 / SIZES[0] ** 2, (1 + x[0]) / SIZES[1] ** 2)
    shares /= 1 / SIZES[0] ** 2 + ((1 + x[0]) / SIZES[1]) ** 2
    return ca.vertcat(x[0] * force, x[1] * force - GRAVITY, shares * force)


@pytest.mark.slow
def test_multipliers_are_those_of_least_norm(fmu_library):
    """Also near x = -1, where one row vanishes, and where the other one would do alone."""
    slave, states, forces = fmu_library(doubled_pendulum).slave().start(), [], []
    for _ in range(100):
        slave.step(0.02)
        states.append(slave.get(*(f"x{i}" for i in range(4))))
        forces.append(slave.get(*(f"w{i}" for i in range(4))))
    found = np.array(states)
    np.testing.assert_allclose(forces, [np.array(closed_form(x)).ravel() for x in states], atol=1e-10)
    assert found[:, 0].min() < -0.99
    np.testing.assert_allclose((found[:, :2] ** 2).sum(axis=1), 1, atol=1e-12)
    energy = (found[:, 2:] ** 2).sum(axis=1) / 2 + GRAVITY * found[:, 1]
    np.testing.assert_allclose(energy, energy[0], atol=1e-6)


@pytest.mark.slow
def test_directional_derivatives_know_that_the_shares_change(fmu_library):
    slave = fmu_library(doubled_pendulum).slave().start()
    slave.step(0.3)
    x = np.array(slave.get(*(f"x{i}" for i in range(4))))
    turned = [-x[1], x[0], -x[3], x[2]]  # about the hinge, with its speed
    references = [slave.reference(f"x{i}") for i in range(4)]
    unknowns = [slave.reference(f"w{i}") for i in range(4)]
    found = slave.fmi.getDirectionalDerivative(unknowns, references, turned)
    at = ca.SX.sym("at", 4)
    slope = ca.Function("slope", [at], [ca.jtimes(closed_form(at), at, ca.DM(turned))])
    np.testing.assert_allclose(found, np.array(slope(x)).ravel(), atol=1e-7)


@pytest.mark.slow
def test_a_constraint_that_other_parameters_make_independent(library):
    """With an offset there are two rods, and nothing moves."""
    slave = library(doubled_pendulum).slave().enter(offset=0.5)
    with pytest.raises(Failed, match=r"1 of the constraints were redundant .* but 'velocity [12]' is not .*: rebuild"):
        slave.finish()
