"""Pinocchio: forward dynamics by aba; runs by SciPy's DOP853, loops closed by constraints with Baumgarte's terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import DOP853

from benchmarks.mechanisms import GRAVITY, Mechanism

#: Tolerances of the integrator (relative and absolute).
SETTINGS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)

#: Baumgarte's gains, 1/s2 and 1/s: both roots at -20/s. Ten times that costs steps and gains nothing here.
STIFFNESS, DAMPING = 400.0, 40.0

_JOINTS = {
    (False, 0): pin.JointModelRX,
    (False, 1): pin.JointModelRY,
    (False, 2): pin.JointModelRZ,
    (True, 0): pin.JointModelPX,
    (True, 1): pin.JointModelPY,
    (True, 2): pin.JointModelPZ,
}


def model(mechanism: Mechanism) -> Any:
    """Return the tree as a Pinocchio model with its fastest joint models: those aligned with an axis."""
    tree = pin.Model()
    tree.gravity.linear = np.array(GRAVITY)
    for link in mechanism.links:
        joint = _JOINTS[link.prismatic, link.axis.index(1.0)]()
        index = tree.addJoint(link.parent + 1, joint, pin.SE3(np.eye(3), np.array(link.origin)), link.name)
        body = pin.Inertia(link.mass, np.array(link.center), link.inertia)
        tree.appendBodyToJoint(index, body, pin.SE3.Identity())
    return tree


def forward_dynamics(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> Callable[[], np.ndarray]:
    """Return a call of aba at (q, v)."""
    tree = model(mechanism)
    data, tau, aba = tree.createData(), np.zeros(tree.nv), pin.aba
    return lambda: aba(tree, data, q, v, tau)


def accelerations(mechanism: Mechanism) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a = f(q, v) of a mechanism with or without loops."""
    tree = model(mechanism)
    data = tree.createData()
    damping = np.array([link.damping for link in mechanism.links])
    if not mechanism.closures:
        aba = pin.aba
        return lambda q, v: aba(tree, data, q, v, -damping * v)

    constraints = pin.StdVec_RigidConstraintModel()
    for closure in mechanism.closures:
        (one, other), (at_one, at_other) = closure.links, closure.points
        placements = [pin.SE3(np.eye(3), np.array(point)) for point in (at_one, at_other)]
        constraint = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            tree,
            one + 1,
            placements[0],
            other + 1,
            placements[1],
            pin.ReferenceFrame.LOCAL,
        )
        constraint.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(STIFFNESS, DAMPING))
        constraints.append(constraint)
    constraint_data = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        constraint_data.append(constraint.createData())
    pin.initConstraintDynamics(tree, data, constraints, constraint_data)
    # A planar loop leaves the third row of its point constraint redundant: the proximal iteration bears that.
    proximal = pin.ProximalSettings(1e-12, 1e-12, 1e-10, 20)
    solve = pin.constraintDynamics
    return lambda q, v: solve(tree, data, q, v, -damping * v, constraints, constraint_data, proximal)


def runs(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a tolerance, a run that ends with the coordinates at the stop time."""
    acceleration, n = accelerations(mechanism), len(q)
    start = np.concatenate([q, v])

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        return np.concatenate([state[n:], acceleration(state[:n], state[n:])])

    def run(tolerance: float) -> Callable[[], np.ndarray]:
        def integrate() -> np.ndarray:
            solver = DOP853(rate, 0.0, start, mechanism.stop_time, rtol=tolerance, atol=tolerance)
            while solver.status == "running":
                solver.step()
            return solver.y[:n]

        return integrate

    return run
