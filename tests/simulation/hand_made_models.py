"""Small models written straight as equations, so that the runtime is tested without the rest of the house."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from mbfmu.simulation import Equations
from mbfmu.simulation.interface import Record

NONE = ca.SX(0, 1)


class Draft:
    """Symbols of a model, and the equations that a test writes down with them."""

    def __init__(
        self,
        name: str,
        *,
        q: int = 0,
        v: int = 0,
        z: int = 0,
        inputs: Sequence[float] = (),
        parameters: Sequence[float] = (),
        multipliers: int = 0,
        switches: int = 0,
        unknowns: int | None = None,
        derived: int = 0,
    ) -> None:
        self.name, self.nq, self.nv, self.nz, self.nl, self.nm = name, q, v, z, multipliers, switches
        self.inputs, self.parameters = tuple(inputs), tuple(parameters)
        self.t = ca.SX.sym("t")
        self.x = ca.SX.sym("x", q + v + z)
        self.q, self.v, self.z = self.x[:q], self.x[q : q + v], self.x[q + v :]
        self.u = ca.SX.sym("u", len(self.inputs))
        self.p = ca.SX.sym("p", len(self.parameters))
        self.P = ca.SX.sym("P", len(self.parameters) + derived)
        self.m = ca.SX.sym("m", switches)
        self.w = ca.SX.sym("w", v + multipliers)
        self.X = ca.SX.sym("X", q + v + z if unknowns is None else unknowns)
        self.dv = ca.SX.sym("dv", v)

    def equations(self, *, A: Any, b: Any, guess: Any, **others: Any) -> Equations:
        """Equations with A w = b; whatever is not given is empty, and every unknown without `fixed` may move."""
        nx, nX = self.x.numel(), self.X.numel()
        r = others.get("initial", NONE)
        g, c, e = others.get("g", NONE), others.get("c", NONE), others.get("redundant", NONE)
        times, y = others.get("times", NONE), others.get("y", NONE)
        crossings, assertions = others.get("crossings", NONE), others.get("assertions", NONE)
        derived = others.get("derived", NONE)
        derivatives = others.get("derivatives", ca.vertcat(self.v, self.w[: self.nv]))
        displacement = others.get("displacement", self.dv)
        at = [self.t, self.x, self.u, self.P, self.m]
        expressions: dict[str, tuple[list[Any], list[Any]]] = {
            "derived": ([self.p], [derived]),
            "guess": ([self.P], [guess]),
            "initial": ([self.t, self.X, self.u, self.P, self.m], [r, ca.jacobian(r, self.X)]),
            "dynamics": (at, [A, b]),
            "derivatives": ([*at, self.w], [derivatives]),
            "displacement": ([self.t, self.x, self.P, self.dv], [displacement]),
            "constraints": (at, [g, c, ca.jacobian(c, self.v)]),
            "redundant": (at, [e]),
            "times": ([self.P], [times]),
            "crossings": ([*at, self.w], [crossings]),
            "variables": ([*at, self.w], [y]),
            "assertions": ([*at, self.w], [assertions]),
        }
        functions = {
            name: ca.Function(name, arguments, [ca.densify(ca.SX(result)) for result in results])
            for name, (arguments, results) in expressions.items()
        }
        sizes = {"ng": g, "ne": e, "nt": times, "ny": y, "nh": assertions, "nr": r, "nd": derived}
        nw = self.nv + self.nl
        names = others.get("unknown_names", tuple(f"x{i}" for i in range(nX)))
        return Equations(
            name=self.name,
            nq=self.nq,
            nv=self.nv,
            nz=self.nz,
            nu=len(self.inputs),
            npar=len(self.parameters),
            nl=self.nl,
            nm=self.nm,
            nX=nX,
            **{size: ca.SX(expression).numel() for size, expression in sizes.items()},
            quaternions=others.get("quaternions", ()),
            free=others.get("free", ()),
            initial_with_w=nX > nx + len(others.get("free", ())),
            fixed=others.get("fixed", (False,) * nX),
            weights=others.get("weights", (1.0,) * nX),
            unknown_names=names,
            equation_names=others.get("equation_names", tuple(f"equation {i + 1}" for i in range(ca.SX(r).numel()))),
            position_names=tuple(f"position {i + 1}" for i in range(ca.SX(g).numel())),
            velocity_names=tuple(f"velocity {i + 1}" for i in range(ca.SX(c).numel())),
            redundant_names=tuple(f"dropped {i + 1}" for i in range(ca.SX(e).numel())),
            blocks=others.get("blocks", (tuple(range(nw)),) if nw else ()),
            time_switches=others.get("time_switches", (False,) * self.nm),
            assertion_messages=others.get("assertion_messages", ()),
            parameters=self.parameters,
            inputs=self.inputs,
            start_time=0.0,
            stop_time=others.get("stop_time", 1.0),
            tolerance=1e-8,
            functions=functions,
        )


def variable(name: str, store: str, index: int, **others: Any) -> Record:
    """A continuous local Real, but for what is given."""
    values: dict[str, Any] = {"type": "Real", "causality": "local", "variability": "continuous", "start": None}
    values |= {"start_index": None, "min": None, "max": None, "structural": False}
    return Record(name=name, store=store, index=index, **{**values, **others})


def parameter(name: str, index: int, start: float, **others: Any) -> Record:
    """A fixed parameter, but for what is given."""
    values = {"causality": "parameter", "variability": "fixed", "start": start, "start_index": index}
    return variable(name, "P", index, **{**values, **others})


def oscillator() -> tuple[Equations, tuple[Record, ...]]:
    """m a = F - c s, with p = [m, c, s0, v0], u = [F], derived omega and the energy as y."""
    d = Draft("oscillator", q=1, v=1, inputs=[0.0], parameters=[2.0, 8.0, 0.1, 0.0], derived=1)
    mass, stiffness = d.P[0], d.P[1]
    equations = d.equations(
        A=mass,
        b=d.u - stiffness * d.q,
        guess=d.P[2:4],
        fixed=(True, True),
        derived=ca.sqrt(d.p[1] / d.p[0]),
        y=mass * d.v**2 / 2 + stiffness * d.q**2 / 2,
        assertions=mass - 1e-3,
        assertion_messages=("the mass must be positive",),
    )
    variables = (
        variable("time", "time", 0, causality="independent"),
        parameter("m", 0, 2.0, min=0.0),
        parameter("c", 1, 8.0, variability="tunable"),
        variable("omega", "P", 4, causality="calculatedParameter", variability="tunable"),
        variable("F", "u", 0, causality="input", start=0.0),
        variable("s", "x", 0, start=0.1, start_index=2),
        variable("v", "x", 1, start=0.0, start_index=3),
        variable("a", "w", 0, causality="output"),
        variable("energy", "y", 0),
        variable("axis", "constant", 0, type="Integer", variability="constant", start=3, structural=True),
        variable("on", "constant", 0, type="Boolean", variability="constant", start=True),
        variable("label", "constant", 0, type="String", variability="constant", start="spring"),
    )
    return equations, variables


GRAVITY = 9.80665


def point_pendulum(fixed: tuple[bool, bool, bool, bool] = (True, False, True, False)) -> Equations:
    """A unit mass at (x, y) on a massless rod of length p[4]: two coordinates, one constraint, one multiplier."""
    d = Draft("pendulum", q=2, v=2, multipliers=1, parameters=[0.6, -0.8, 0.0, 0.0, 1.0])

    def position(q: Any) -> Any:
        return (ca.dot(q, q) - d.P[4] ** 2) / 2

    g = position(d.q)
    c = ca.dot(d.q, d.v)
    A = ca.blockcat([[ca.SX.eye(2), -d.q], [d.q.T, ca.SX(0)]])
    b = ca.vertcat(0, -GRAVITY, -ca.dot(d.v, d.v))
    return d.equations(
        A=A,
        b=b,
        guess=d.P[:4],
        g=g,
        c=c,
        initial=ca.vertcat(position(d.X[:2]), ca.dot(d.X[:2], d.X[2:4])),
        fixed=fixed,
        unknown_names=("mass.x", "mass.y", "mass.vx", "mass.vy"),
        equation_names=("rod length", "rod speed"),
        stop_time=10.0,
    )


def bouncing_mass() -> Equations:
    """A unit mass that falls from 1 m on a spring of 1000 N/m, in contact while its height is not positive."""
    d = Draft("bouncing mass", q=1, v=1, switches=1, parameters=[1.0, 0.0, 1000.0])
    contact = d.m[0]
    return d.equations(
        A=ca.SX(1),
        b=-GRAVITY - contact * d.P[2] * d.q,
        guess=d.P[:2],
        fixed=(True, True),
        crossings=-d.q,
    )


def stepped_force() -> Equations:
    """A unit mass that a force of 1 N pushes from the time p[0] on."""
    d = Draft("stepped force", q=1, v=1, switches=1, parameters=[0.3])
    return d.equations(
        A=ca.SX(1),
        b=d.m[0],
        guess=ca.SX.zeros(2),
        fixed=(True, True),
        crossings=d.t - d.P[0],
        times=d.P[0],
        time_switches=(True,),
        y=d.m[0],
    )


def free_body() -> Equations:
    """A body with inertias p[:3] and no torque: quaternion (scalar last) and angular velocity in its own frame."""
    d = Draft("free body", q=4, v=3, parameters=[2.0, 2.0, 3.0, 0.4, 0.0, 1.5])
    inertia, w = d.P[:3], d.v
    x, y, z, s = d.q[0], d.q[1], d.q[2], d.q[3]
    rate = 0.5 * ca.blockcat([[s, -z, y], [z, s, -x], [-y, x, s], [-x, -y, -z]])
    return d.equations(
        A=ca.diag(inertia),
        b=-ca.cross(w, inertia * w),
        guess=ca.vertcat(0, 0, 0, 1, d.P[3:6]),
        fixed=(True,) * 7,
        quaternions=(0,),
        derivatives=ca.vertcat(rate @ w, d.w),
        displacement=rate @ d.dv,
        blocks=((0,), (1,), (2,)),
    )
