"""A model written straight as equations that has one of everything in the contract."""

from __future__ import annotations

import casadi as ca
from hand_made_models import GRAVITY, Draft, variable


def everything():
    """One of each: a constrained mass with a quaternion, an extra state, switches in state and time, a free parameter.

    A pendulum of two coordinates and one constraint, pushed by u and by a step in time, slowed where x > 0, beside a
    body that turns, and a lag; p = [x, y, length, step time, damping, free], the free parameter is the start of z.
    """
    d = Draft(
        "everything",
        q=6,
        v=5,
        z=1,
        multipliers=1,
        inputs=[0.0],
        parameters=[0.6, -0.8, 1.0, 0.25, 0.5, 0.0],
        switches=2,
        unknowns=13,
        derived=1,
    )

    def closure(q):
        return (ca.dot(q[:2], q[:2]) - d.P[2] ** 2) / 2

    g, c = closure(d.q), ca.dot(d.q[:2], d.v[:2])
    A = ca.SX(ca.diag([1, 1, 2, 2, 3, 0]))
    A[0:2, 5], A[5, 0:2] = -d.q[:2], d.q[:2].T
    push, spin, inertia = d.u + d.m[1] - d.m[0] * d.P[4] * d.v[0], d.v[2:5], ca.DM([2, 2, 3])
    b = ca.vertcat(push, -GRAVITY, -ca.cross(spin, inertia * spin), -ca.dot(d.v[:2], d.v[:2]))
    x, y, z, s = (d.q[i] for i in range(2, 6))
    rate = 0.5 * ca.blockcat([[s, -z, y], [z, s, -x], [-y, x, s], [-x, -y, -z]])
    return d.equations(
        A=A,
        b=b,
        guess=ca.vertcat(d.P[:2], 0, 0, 0, 1, 0, 0, 0.3, 0, 1, 0, d.P[5]),
        g=g,
        c=c,
        initial=ca.vertcat(closure(d.X[:2]), ca.dot(d.X[:2], d.X[6:8]), d.X[11] - d.X[12], d.X[12] - d.X[0]),
        fixed=(False, False, *(True,) * 4, False, False, *(True,) * 3, False, False),
        free=(5,),
        quaternions=(2,),
        derivatives=ca.vertcat(d.v[:2], rate @ spin, d.w[:5], 5 * (d.q[0] - d.z)),
        displacement=ca.vertcat(d.dv[:2], rate @ d.dv[2:5]),
        blocks=((0, 1, 5), (2,), (3,), (4,)),
        derived=2 * d.p[3],
        times=ca.vertcat(d.P[3], d.P[6]),
        crossings=ca.vertcat(d.q[0], d.t - d.P[3]),
        time_switches=(False, True),
        y=ca.vertcat(d.v[0] ** 2, d.m),
        assertions=d.P[2],
        assertion_messages=("the length must not be negative",),
    ), (
        *(variable(f"{store}{i}", store, i) for store, n in (("x", 12), ("w", 6), ("y", 3)) for i in range(n)),
        variable("u", "u", 0, causality="input", start=0.0),
        variable("damping", "P", 4, causality="parameter", variability="tunable", start=0.5, start_index=4),
        variable("free", "P", 5, start=0.0, start_index=5),
    )


def stiff_drive():
    """A motor (1 ms) drives a small rotor (10 us by its shaft's damping) and a large one (10 s by its bearing)."""
    d = Draft("stiff drive", q=2, v=2, z=1, inputs=[1.0], parameters=[1e-6, 0.1, 1.0, 0.1, 5.0], switches=1, unknowns=5)
    small, damping, large, friction, stiffness = (d.P[i] for i in range(5))
    shaft = damping * (d.v[0] - d.v[1]) + stiffness * ca.sin(d.q[0] - d.q[1])
    brake = d.m[0] * 0.5 * (d.v[1] - 2)
    return d.equations(
        A=ca.diag(ca.vertcat(small, large)),
        b=ca.vertcat(d.z - shaft, shaft - friction * d.v[1] - brake),
        guess=ca.SX.zeros(5),
        fixed=(True,) * 5,
        derivatives=ca.vertcat(d.v, d.w, (d.u * (1 + 0.5 * ca.sin(d.t)) - d.z) / 1e-3),
        crossings=d.v[1] - 2,
        blocks=((0,), (1,)),
        y=ca.vertcat(shaft, d.w[1] * d.v[1]),
        stop_time=20.0,
    )
