"""Small models written straight as equations, so that the runtime is tested without the rest of the house."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

from mbfmu.runtime.equations import Equations
from mbfmu.runtime.parts import Parted
from mbfmu.runtime.variables import ScalarVariable

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
        held: int = 0,
        unknowns: int | None = None,
        derived: int = 0,
        iterations: int = 0,
    ) -> None:
        self.name, self.nv = name, v
        self.inputs, self.parameters = (*inputs, *(0.0,) * iterations), tuple(parameters)
        self.t = ca.SX.sym("t")
        self.x = ca.SX.sym("x", q + v + z)
        self.q, self.v, self.z = self.x[:q], self.x[q : q + v], self.x[q + v :]
        self.u = ca.SX.sym("u", len(self.inputs))
        self.s = self.u[len(self.inputs) - iterations :]
        self.p = ca.SX.sym("p", len(self.parameters))
        self.P = ca.SX.sym("P", len(self.parameters) + derived)
        self.m = ca.SX.sym("m", switches + held)
        self.m_before = ca.SX.sym("m_before", switches + held)
        self.switches = switches
        self.w = ca.SX.sym("w", v + multipliers)
        self.w_before = ca.SX.sym("w_before", v + multipliers)
        self.X = ca.SX.sym("X", q + v + z if unknowns is None else unknowns)
        self.dv = ca.SX.sym("dv", v)

    def equations(self, *, A: Any, b: Any, guess: Any, **others: Any) -> Equations:
        """Equations with A w = b; whatever is not given is empty, and every unknown without `fixed` may move."""
        r, c = others.pop("initial", NONE), others.pop("c", NONE)
        g, e = others.pop("g", NONE), others.pop("redundant", NONE)
        residuals = others.pop("iterations", NONE)
        at = [self.t, self.x, self.u, self.P, self.m]
        start = Parted.of(ca.SX(r), self.X)
        expressions: dict[str, tuple[list[Any], list[Any]]] = {
            "derived": ([self.p], [others.pop("derived", NONE)]),
            "guess": ([self.P], [guess]),
            "initial": ([self.t, self.X, self.u, self.P, self.m], [start.rows, start.jacobian]),
            "dynamics": (at, [A, b]),
            "derivatives": ([*at, self.w], [others.pop("derivatives", ca.vertcat(self.v, self.w[: self.nv]))]),
            "displacement": ([self.t, self.x, self.P, self.dv], [others.pop("displacement", self.dv)]),
            "constraints": (at, [g, c, ca.jacobian(c, self.v)]),
            "redundant": (at, [e]),
            "next_times": ([self.t, self.P, self.m], [others.pop("next_times", NONE)]),
            "crossings": ([*at, self.w], [others.pop("crossings", NONE)]),
            "held": ([self.P], [others.pop("held", NONE)]),
            "update": (
                [*at, self.w, self.m_before, self.w_before],
                [others.pop("update", NONE), others.pop("reset", self.x)],
            ),
            "delayed": ([*at, self.w], [others.pop("delayed", NONE)]),
            "delays": (at, [others.pop("delays", NONE), others.pop("longest", NONE)]),
            "iteration_guess": ([self.P], [others.pop("iteration_guess", NONE)]),
            "iterations": ([*at, self.w], [residuals, ca.jacobian(residuals, self.s)]),
            "variables": ([*at, self.w], [others.pop("y", NONE)]),
            "assertions": ([*at, self.w], [others.pop("assertions", NONE)]),
        }
        functions = {
            name: ca.Function(name, arguments, [ca.densify(ca.SX(result)) for result in results])
            for name, (arguments, results) in expressions.items()
        }
        nX, nw = self.X.numel(), self.w.numel()

        def named(what: str, rows: Any) -> tuple[str, ...]:
            return tuple(f"{what} {i + 1}" for i in range(ca.SX(rows).numel()))

        names = others.pop("equation_names", named("equation", r))
        defaults: dict[str, Any] = {
            "quaternions": (),
            "free": (),
            "fixed": (False,) * nX,
            "weights": (1.0,) * nX,
            "unknown_names": tuple(f"x{i}" for i in range(nX)),
            "equation_names": tuple(names[i] for i in start.order),
            "initial_parts": start.parts,
            "velocity_names": named("velocity", c),
            "redundant_names": named("dropped", e),
            "blocks": (tuple(range(nw)),) if nw else (),
            "time_switches": (False,) * self.switches,
            "assertion_messages": (),
            "stop_time": 1.0,
        }
        return Equations(
            name=self.name,
            functions=functions,
            parameters=self.parameters,
            inputs=self.inputs,
            start_time=0.0,
            tolerance=1e-8,
            **{**defaults, **others},
        )


def variable(name: str, store: str, index: int, **others: Any) -> ScalarVariable:
    """A continuous local Real, but for what is given."""
    values: dict[str, Any] = {"type": "Real", "causality": "local", "variability": "continuous", "start": None}
    values |= {"description": "", "initial": None}
    return ScalarVariable(name=name, store=store, index=index, **{**values, **others})  # type: ignore[arg-type]


def parameter(name: str, index: int, start: float, **others: Any) -> ScalarVariable:
    """A fixed parameter, but for what is given."""
    values = {"causality": "parameter", "variability": "fixed", "start": start, "start_index": index}
    return variable(name, "P", index, **{**values, **others})


def oscillator() -> tuple[Equations, tuple[ScalarVariable, ...]]:
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


def pendulum_beside_a_place() -> Equations:
    """That pendulum, and a place on a circle that has nothing to do with it: two parts of the start."""
    d = Draft("beside", q=2, v=2, z=3, multipliers=1, parameters=[0.6, -0.8, 0.0, 0.0, 1.0, 0.5])
    g, c, X = (ca.dot(d.q, d.q) - d.P[4] ** 2) / 2, ca.dot(d.q, d.v), d.X
    return d.equations(
        A=ca.blockcat([[ca.SX.eye(2), -d.q], [d.q.T, ca.SX(0)]]),
        b=ca.vertcat(0, -GRAVITY, -ca.dot(d.v, d.v)),
        guess=ca.vertcat(d.P[:4], d.P[5], 0.5, 0.7),
        g=g,
        c=c,
        derivatives=ca.vertcat(d.v, d.w[:2], 0, 0, 0),
        initial=ca.vertcat((ca.dot(X[:2], X[:2]) - d.P[4] ** 2) / 2, X[4] ** 2 + X[5] ** 2 - 1, ca.dot(X[:2], X[2:4])),
        fixed=(True, False, True, False, False, False, False),
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


def called_spring() -> Equations:
    """The same, with its gap and its force as calls; that of the force has the mode for its guard."""
    d = Draft("called spring", q=1, v=1, switches=1, parameters=[1.0, 0.0, 1000.0])
    mode, q, c = (ca.SX.sym(name) for name in ("mode", "q", "c"))
    force = ca.SX.binary(ca.OP_IF_ELSE_ZERO, mode, -c * ca.sin(q))
    called = ca.Function("force", [mode, q, c], [force], {"never_inline": True})
    gap = ca.Function("gap", [q], [-q - 0 * ca.cos(q)], {"never_inline": True})
    return d.equations(
        A=ca.SX(1),
        b=-GRAVITY + called(d.m[0], d.q, d.P[2]),
        guess=d.P[:2],
        fixed=(True, True),
        crossings=gap(d.q),
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
        next_times=d.P[0],
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


def everything() -> tuple[Equations, tuple[ScalarVariable, ...]]:
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

    def closure(q: Any) -> Any:
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
        next_times=ca.vertcat(d.P[3], d.P[6]),
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


def stiff_drive() -> Equations:
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


def iterated() -> tuple[Equations, tuple[ScalarVariable, ...]]:
    """A mass of 2 kg on springs that are told by cubics and know its acceleration, and a lag behind them.

    s0 + s0^3 = q + u; then s1 = tanh(a) / 2 + s0 / 5 and s2 + s2^3 = s1 + t. Damped by p[2] where s0 >= 0.
    """
    d = Draft("iterated", q=1, v=1, z=1, inputs=[0.0], parameters=[0.5, 0.0, 0.3], switches=1, iterations=3)
    s = d.s
    return d.equations(
        A=ca.SX(2),
        b=d.u[0] - 4 * s[0] + s[1] - d.m[0] * d.P[2] * d.v,
        guess=ca.vertcat(d.P[:2], 0),
        fixed=(True,) * 3,
        derivatives=ca.vertcat(d.v, d.w, s[2] - d.z),
        iterations=ca.vertcat(
            s[0] + s[0] ** 3 - d.q - d.u[0], s[1] - ca.tanh(d.w) / 2 - s[0] / 5, s[2] + s[2] ** 3 - s[1] - d.t
        ),
        iteration_guess=ca.SX.zeros(3),
        iteration_blocks=(1, 2),
        iteration_names=("spring.s", "mount.s", "lag.s"),
        iteration_nominals=(0.1, 1.0, 1.0),
        crossings=s[0],
        y=ca.vertcat(s[0] * s[1], d.m),
    ), (
        *(variable(f"{store}{i}", store, i) for store, n in (("x", 3), ("w", 1), ("y", 2)) for i in range(n)),
        *(variable(f"s{i}", "u", 1 + i, causality="output") for i in range(3)),
        variable("u", "u", 0, causality="input", start=0.0),
        parameter("damping", 2, 0.3, variability="tunable"),
    )


def still(name: str, unknowns: int, guess: Sequence[float], rows: Callable[[Any], Any], **others: Any) -> Equations:
    """Extra states that stay as they are, and the equations of their start."""
    d = Draft(name, z=unknowns, parameters=guess)
    return d.equations(
        A=ca.SX(0, 0), b=ca.SX(0, 1), guess=d.P, derivatives=ca.SX.zeros(unknowns), initial=rows(d.X), **others
    )


def circles() -> Equations:
    """Places on three circles, parts of a start: a guess weighs more, a circle is told twice, a place is half fixed.

    X[6] is in no equation.
    """

    def rows(X: Any) -> Any:
        def circle(k: int, radius: float) -> Any:
            return X[2 * k] ** 2 + X[2 * k + 1] ** 2 - radius**2

        return ca.vertcat(circle(1, 2), circle(0, 1), circle(2, 3), 2 * circle(1, 2))

    return still(
        "circles", 7, (0.3, 0.9, 2.0, 1.0, 1.0, 0.2, 0.7), rows, weights=(1, 3, 1, 1, 1, 1, 1),
        fixed=(False,) * 4 + (True, False, False),
    )  # fmt: skip
