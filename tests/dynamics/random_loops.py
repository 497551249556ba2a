"""Random models whose equations need each other, against plain Newton iterations on their flat equations.

`python tests/dynamics/random_loops.py [MODELS [FIRST]]` makes 1,000 in some minutes, and prints those that differ.

Each kind draws numbers first, and makes of them an assembly and its flat equations: NumPy functions that know nothing
of the assembly. It runs for a while; at some instants, all that the flat equations give for its states is compared.
All have one solution: sums of monotone laws, or contractions.
"""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable, Mapping

import casadi as ca
import numpy as np
from scipy.optimize import brentq

from mbfmu.components import blocks, electrical, rotational, thermal, translational
from mbfmu.components.translational.interfaces import PartialCompliant
from mbfmu.modeling import Assembly, Component, Parameter, Start, required
from mbfmu.modeling import types as t
from mbfmu.simulation import simulate

STOP, INSTANTS = 0.5, 4

#: What the flat equations say at a time and for some states; both by the names of variables.
Flat = Callable[[float, Mapping[str, float]], dict[str, float]]


def monotone_root(gradient: Callable, start: np.ndarray) -> np.ndarray:
    """Where a monotone function is 0: Newton's method, each step as long as the function goes on along it.

    Args:
        gradient: gives the function, the gradient of a convex one, and its Jacobian.
        start: where to begin.
    """
    x = np.array(start, float)
    for _ in range(500):
        r, J = gradient(x)
        step = np.linalg.solve(J, -r)
        if np.abs(step).max() <= 1e-14 * (1 + np.abs(x).max()):
            return x + step
        slope, part = r @ step, 1.0
        while part > 1e-12 and (gradient(x + part * step)[0] @ step) > 1e-3 * abs(slope) + 1e-13 * abs(r).max():
            part /= 2
        x = x + part * step
    raise ArithmeticError("the flat equations have not converged")


# -- circuits


def exponential(x: float, most: float) -> tuple[float, float]:
    """e^x and its slope, continued along its tangent."""
    e = np.exp(min(x, most))
    return (e * (1 + x - most), e) if x > most else (e, e)


def branch(kind: str, p: Mapping[str, float], v: float) -> tuple[float, float]:
    """Current through an element, and its slope."""
    if kind in ("Resistor", "Conductor"):
        G = 1 / p["R"] if kind == "Resistor" else p["G"]
        return G * v, G
    if kind == "Diode":
        e, de = exponential(v / p["Vt"], p["Maxexp"])
        return p["Ids"] * (e - 1) + v / p["R"], p["Ids"] * de / p["Vt"] + 1 / p["R"]
    if kind == "ZDiode":
        x, y = v / p["Vt"], -(v + p["Bv"]) / (p["Nbv"] * p["Vt"])
        e, de = exponential(x, p["Maxexp"])
        b, db = exponential(y, p["Maxexp"])
        if x > p["Maxexp"]:
            b = db = 0.0
        elif y > p["Maxexp"]:
            e = de = 0.0
        i = p["Ids"] * (e - 1) - p["Ibv"] * b + v / p["R"]
        return i, p["Ids"] * de / p["Vt"] + p["Ibv"] * db / (p["Nbv"] * p["Vt"]) + 1 / p["R"]
    raise ValueError(kind)


def circuit(draw: np.random.Generator) -> tuple[Assembly, Flat]:
    """Resistors, and a few diodes, as a tree of all nodes, more of both across it, sources, perhaps a capacitor."""
    nodes = int(draw.integers(3, 12))  # node 0 is the ground
    elements: list[tuple[str, dict[str, float], int, int]] = []

    def resistive() -> tuple[str, dict[str, float]]:
        size = float(10 ** draw.uniform(0, 4))
        return ("Resistor", {"R": size}) if draw.random() < 0.5 else ("Conductor", {"G": 1 / size})

    def diode() -> tuple[str, dict[str, float]]:
        law = {"Ids": 10 ** draw.uniform(-14, -6), "Vt": draw.uniform(0.02, 0.05), "R": 10 ** draw.uniform(4, 9)}
        if draw.random() < 0.6:
            kind, law = "Diode", law | {"Maxexp": draw.uniform(12, 40)}
        else:
            kind, law = "ZDiode", law | {"Maxexp": draw.uniform(12, 30), "Bv": draw.uniform(2, 8)}
            law |= {"Ibv": 10 ** draw.uniform(-3, 0), "Nbv": draw.uniform(0.6, 1.2)}
        return kind, {name: float(value) for name, value in law.items()}

    for node in range(1, nodes):
        elements.append((*(resistive() if draw.random() < 0.85 else diode()), int(draw.integers(node)), node))
    for _ in range(int(draw.integers(1, 12))):
        a, b = (int(i) for i in draw.choice(nodes, 2, replace=False))
        elements.append((*(resistive() if draw.random() < 0.2 else diode()), a, b))
    high = 10 ** draw.uniform(0.5, 2.5)
    order = [int(i) for i in draw.permutation(np.arange(1, nodes))]
    driven, held = order[: int(draw.integers(1, 3))], order[-1:] if draw.random() < 0.5 and nodes > 4 else []
    voltages = {node: (float(draw.uniform(-high, high)), float(draw.uniform(0, high))) for node in driven}
    currents = {int(draw.integers(1, nodes)): float(draw.normal() * 10 ** draw.uniform(-4, -1))}

    assembly = Assembly()
    assembly.ground, assembly.parts_ = electrical.Ground(), []
    ends: dict[int, list] = {node: [] for node in range(nodes)}
    ends[0].append(assembly.ground.p)

    def add(part: Component, a: int, b: int) -> Component:
        ends[a].append(part.p)
        ends[b].append(part.n)
        return part

    assembly.e = [add(getattr(electrical, kind)(**p), a, b) for kind, p, a, b in elements]
    assembly.s = [add(electrical.SineVoltage(offset=m, V=V, f=1.0), node, 0) for node, (m, V) in voltages.items()]
    assembly.i = [add(electrical.ConstantCurrent(I=i), 0, node) for node, i in currents.items()]
    assembly.c = [add(electrical.Capacitor(C=1e-3, v=Start(0.5, fixed=True)), node, 0) for node in held]
    for pins in ends.values():
        for pin in pins[1:]:
            assembly.connect(pins[0], pin)

    def flat(time: float, states: Mapping[str, float]) -> dict[str, float]:
        v = np.zeros(nodes)
        for node, (mean, V) in voltages.items():
            v[node] = mean + V * np.sin(2 * np.pi * time)
        for number, node in enumerate(held):
            v[node] = states[f"c[{number + 1}].v"]
        free = [node for node in range(1, nodes) if node not in voltages and node not in held]

        def balance(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            v[free] = x
            r, J = np.zeros(nodes), np.zeros((nodes, nodes))
            for kind, p, a, b in elements:
                i, g = branch(kind, p, v[a] - v[b])
                r[a] += i
                r[b] -= i
                J[a, a] += g
                J[b, b] += g
                J[a, b] -= g
                J[b, a] -= g
            for node, current in currents.items():
                r[node] -= current
            return r[free], J[np.ix_(free, free)]

        if free:
            v[free] = monotone_root(balance, np.zeros(len(free)))
        return {f"e[{number + 1}].v": v[a] - v[b] for number, (_, _, a, b) in enumerate(elements)}

    return assembly, flat


# -- heat


SIGMA = 5.670374419e-8


def heat(draw: np.random.Generator) -> tuple[Assembly, Flat]:
    """Conductors as a tree, radiation across it, given temperatures and heat flows, a mass at one node."""
    nodes = int(draw.integers(3, 8))
    links = [("Conductor", int(draw.integers(n)), n, float(10 ** draw.uniform(-2, 1))) for n in range(1, nodes)]
    for _ in range(int(draw.integers(1, 6))):
        a, b = (int(i) for i in draw.choice(nodes, 2, replace=False))
        links.append(("Radiation", a, b, float(10 ** draw.uniform(-2, 0.5))))
    source, mass = int(draw.integers(1, nodes - 1)), nodes - 1
    base, flow = float(draw.uniform(250, 350)), float(draw.uniform(0, 500))

    assembly = Assembly()
    assembly.base, assembly.flow = thermal.FixedTemperature(T=base), thermal.FixedHeatFlow(Q_flow=flow)
    assembly.mass = thermal.HeatCapacitor(C=5.0, T=Start(400.0, fixed=True))
    ends: dict[int, list] = {node: [] for node in range(nodes)}
    ends[0].append(assembly.base.port)
    ends[source].append(assembly.flow.port)
    ends[mass].append(assembly.mass.port)
    assembly.l = [
        thermal.ThermalConductor(G=size) if kind == "Conductor" else thermal.BodyRadiation(Gr=size)
        for kind, _, _, size in links
    ]
    for part, (_, a, b, _) in zip(assembly.l, links, strict=True):
        ends[a].append(part.port_a)
        ends[b].append(part.port_b)
    for ports in ends.values():
        for port in ports[1:]:
            assembly.connect(ports[0], port)

    def flat(time: float, states: Mapping[str, float]) -> dict[str, float]:
        T, free = np.zeros(nodes), list(range(1, nodes - 1))
        T[0], T[mass] = base, states["mass.T"]

        def balance(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            T[free] = x
            r, J = np.zeros(nodes), np.zeros((nodes, nodes))
            for kind, a, b, size in links:
                if kind == "Conductor":
                    q, da, db = size * (T[a] - T[b]), size, size
                else:
                    q = size * SIGMA * (T[a] ** 4 - T[b] ** 4)
                    da, db = 4 * size * SIGMA * T[a] ** 3, 4 * size * SIGMA * T[b] ** 3
                r[a] += q
                r[b] -= q
                J[a, a] += da
                J[b, b] += db
                J[a, b] -= db
                J[b, a] -= da
            r[source] -= flow
            return r[free], J[np.ix_(free, free)]

        x = np.full(len(free), 1e4)  # from above all: convex functions with one sign of slopes lead down to the root
        for _ in range(200):
            r, J = balance(x)
            step = np.linalg.solve(J, -r)
            x = x + step
            if np.abs(step).max() < 1e-11:
                break
        T[free] = x
        return {f"l[{number + 1}].port_b.T": T[b] for number, (_, _, b, _) in enumerate(links)}

    return assembly, flat


# -- signals


#: Laws of one signal, none steeper than 1, with their slopes.
LAWS: dict[str, tuple[Callable[[], Component], Callable, Callable]] = {
    "sin": (blocks.Sin, np.sin, np.cos),
    "tanh": (blocks.Tanh, np.tanh, lambda u: 1 / np.cosh(u) ** 2),
    "atan": (blocks.Atan, np.arctan, lambda u: 1 / (1 + u**2)),
    "limit": (lambda: blocks.Limiter(uMax=0.8), lambda u: np.clip(u, -0.8, 0.8), lambda u: 1.0 * (abs(u) < 0.8)),
    "gain": (lambda: blocks.Gain(k=-0.9), lambda u: -0.9 * u, lambda u: -0.9 + 0 * u),
}


def signals(draw: np.random.Generator) -> tuple[Assembly, Flat]:
    """y = f(A y + b s(t) + c x), some x' = y - x: sums and laws of the block library, A a contraction or all linear."""
    n = int(draw.integers(1, 8))
    names = [str(name) for name in draw.choice(list(LAWS), n)]
    A = draw.normal(size=(n, n)) * (draw.random((n, n)) < 0.6)
    A *= draw.uniform(0.3, 0.95) / max(np.abs(A).sum(axis=1).max(), 1e-3)
    if draw.random() < 0.2:
        names, A = ["gain"] * n, draw.normal(size=(n, n))
    b, c = draw.normal(size=n) * 2, draw.normal(size=n)
    nx = int(draw.integers(0, min(n, 3) + 1))

    assembly = Assembly()
    assembly.s = blocks.Sine(f=1.0, amplitude=2.0)
    assembly.f = [LAWS[name][0]() for name in names]
    assembly.x = [blocks.FirstOrder(T=1.0, y=Start(0.3, fixed=True)) for _ in range(nx)]
    rows = [([j for j in range(n) if A[i, j] != 0], [i] if i < nx else []) for i in range(n)]
    weights = [[float(x) for x in (*A[i, into], *c[own], b[i])] for i, (into, own) in enumerate(rows)]
    assembly.sums = [blocks.MultiSum(nu=len(each), k=each) for each in weights]
    for i, (into, own) in enumerate(rows):
        summed = [*(assembly.f[j].y for j in into), *(assembly.x[j].y for j in own), assembly.s.y]
        for place, y in enumerate(summed):
            assembly.connect(y, assembly.sums[i].u[place])
        assembly.connect(assembly.sums[i].y, assembly.f[i].u)
    for j in range(nx):
        assembly.connect(assembly.f[j].y, assembly.x[j].u)
    for j in range(n):
        assembly.output(assembly.f[j].y, f"y{j}")

    def flat(time: float, states: Mapping[str, float]) -> dict[str, float]:
        given = b * 2 * np.sin(2 * np.pi * time)
        given[:nx] += c[:nx] * [states[f"x[{j + 1}].y"] for j in range(nx)]
        is_linear = set(names) == {"gain"}

        def gap(y: np.ndarray) -> np.ndarray:
            return np.array([LAWS[name][1](u) for name, u in zip(names, A @ y + given, strict=True)]) - y

        y = np.zeros(n)
        for _ in range(300):
            slopes = np.array([LAWS[name][2](u) for name, u in zip(names, A @ y + given, strict=True)])
            step = np.linalg.solve(np.eye(n) - slopes[:, None] * A, gap(y))
            if np.abs(step).max() < 1e-15 * (1 + np.abs(y).max()):
                break
            # Where Newton's step leads astray, that of a contraction leads nearer.
            good = is_linear or np.abs(gap(y + step)).max() < np.abs(gap(y)).max()
            y = y + (step if good else gap(y))
        return {f"y{j}": y[j] for j in range(n)}

    return assembly, flat


# -- mechanics


class SinhSpring(PartialCompliant):
    """Spring with the force F sinh(s_rel / a)."""

    F = Parameter(t.Force, required, "Force")
    a = Parameter(t.Length, required, "Length")

    def force(self) -> ca.SX:
        return self.F * ca.sinh(self.s_rel / self.a)


def springs(draw: np.random.Generator) -> tuple[Assembly, Flat]:
    """Springs in series between a wall and a mass, with nothing that has mass between them."""
    n = int(draw.integers(2, 6))
    F, a = draw.uniform(0.5, 5, n), draw.uniform(0.1, 0.4, n)
    assembly = Assembly()
    assembly.wall = translational.Fixed()
    assembly.spring = [SinhSpring(F=float(f), a=float(each)) for f, each in zip(F, a, strict=True)]
    far = float(draw.uniform(0.5, 1.5) * a.sum())
    assembly.mass = translational.Mass(
        m=float(draw.uniform(0.5, 3)), s=Start(far, fixed=True), v=Start(0.0, fixed=True)
    )
    flanges = [assembly.wall.flange, *(x for s in assembly.spring for x in (s.flange_a, s.flange_b))]
    flanges.append(assembly.mass.flange_a)
    for one, other in zip(flanges[::2], flanges[1::2], strict=True):
        assembly.connect(one, other)

    def flat(time: float, states: Mapping[str, float]) -> dict[str, float]:
        s = states["mass.s"]
        top = 1.01 * float(F.max()) * np.sinh(abs(s) / a.min()) + 1.0
        force = brentq(lambda f: np.sum(a * np.arcsinh(f / F)) - s, -top, top, xtol=1e-15, rtol=1e-15)
        return {f"spring[{i + 1}].s_rel": a[i] * np.arcsinh(force / F[i]) for i in range(n)}

    return assembly, flat


def accelerations(draw: np.random.Generator) -> tuple[Assembly, Flat]:
    """J a = -c phi - d w + B tanh(C a): inertias whose measured accelerations are fed back, less than their inertia."""
    n = int(draw.integers(1, 5))
    J, c, d = draw.uniform(0.5, 4, n), draw.uniform(0.5, 5, n), draw.uniform(0, 1, n)
    B, C = draw.normal(size=(n, n)), draw.normal(size=(n, n))
    B *= 0.8 * J.min() / max(np.linalg.norm(B, 2) * np.linalg.norm(C, 2), 1e-6)
    assembly = Assembly()
    assembly.wall = rotational.Fixed()
    assembly.spring = [rotational.SpringDamper(c=float(x), d=float(y)) for x, y in zip(c, d, strict=True)]
    assembly.J = [
        rotational.Inertia(J=float(x), phi=Start(float(draw.normal()), fixed=True), w=Start(0.0, fixed=True)) for x in J
    ]
    assembly.sensor = [rotational.AccSensor() for _ in range(n)]
    assembly.torque = [rotational.Torque() for _ in range(n)]
    assembly.inner = [blocks.MultiSum(nu=n, k=[float(x) for x in C[i]]) for i in range(n)]
    assembly.law = [blocks.Tanh() for _ in range(n)]
    assembly.outer = [blocks.MultiSum(nu=n, k=[float(x) for x in B[i]]) for i in range(n)]
    for i in range(n):
        assembly.connect(assembly.wall.flange, assembly.spring[i].flange_a)
        assembly.connect(assembly.spring[i].flange_b, assembly.J[i].flange_a)
        assembly.connect(assembly.J[i].flange_b, assembly.sensor[i].flange)
        assembly.connect(assembly.torque[i].flange, assembly.J[i].flange_b)
        for j in range(n):
            assembly.connect(assembly.sensor[j].a, assembly.inner[i].u[j])
            assembly.connect(assembly.law[j].y, assembly.outer[i].u[j])
        assembly.connect(assembly.inner[i].y, assembly.law[i].u)
        assembly.connect(assembly.outer[i].y, assembly.torque[i].tau)

    def flat(time: float, states: Mapping[str, float]) -> dict[str, float]:
        phi, w = (np.array([states[f"J[{i + 1}].{name}"] for i in range(n)]) for name in ("phi", "w"))
        load, a = -c * phi - d * w, np.zeros(n)
        for _ in range(200):  # a contraction, with Newton's method for its end
            a = (load + B @ np.tanh(C @ a)) / J
        for _ in range(3):
            r = J * a - load - B @ np.tanh(C @ a)
            a = a - np.linalg.solve(np.diag(J) - B @ ((1 / np.cosh(C @ a) ** 2)[:, None] * C), r)
        return {f"J[{i + 1}].a": a[i] for i in range(n)}

    return assembly, flat


def drive(draw: np.random.Generator) -> tuple[Assembly, Flat]:
    """J a = k i - c phi + b tanh(a), V + g tanh(a) = R i + vd(i) + k w: it drives a motor behind a diode."""
    V, R, k = float(draw.uniform(1, 20)), float(10 ** draw.uniform(-1, 2)), float(draw.uniform(0.1, 2))
    J, c, saturation = float(draw.uniform(0.2, 3)), float(draw.uniform(0.5, 5)), float(10 ** draw.uniform(-12, -6))
    b = float(draw.uniform(-1, 1)) * 0.5 * J if draw.random() < 0.5 else 0.0
    g = float(draw.uniform(-1, 1)) * 0.9 * (J - abs(b)) * R / k
    assembly = Assembly()
    assembly.ground, assembly.source, assembly.r = (
        electrical.Ground(),
        electrical.SignalVoltage(),
        electrical.Resistor(R=R),
    )
    assembly.d = electrical.Diode(Ids=saturation, Vt=0.03, Maxexp=35.0, R=1e7)
    assembly.emf, assembly.wall = electrical.RotationalEMF(k=k), rotational.Fixed()
    phi, rest = Start(float(draw.normal()), fixed=True), Start(0.0, fixed=True)
    assembly.J, assembly.spring = rotational.Inertia(J=J, phi=phi, w=rest), rotational.Spring(c=c)
    assembly.sensor, assembly.law, assembly.sum = rotational.AccSensor(), blocks.Tanh(), blocks.Add(k1=g)
    assembly.supply, assembly.more, assembly.torque = blocks.Constant(k=V), blocks.Gain(k=b), rotational.Torque()
    for one, other in (
        (assembly.source.p, assembly.r.p), (assembly.r.n, assembly.d.p), (assembly.d.n, assembly.emf.p),
        (assembly.emf.n, assembly.source.n), (assembly.source.n, assembly.ground.p),
        (assembly.emf.flange, assembly.J.flange_a), (assembly.J.flange_b, assembly.sensor.flange),
        (assembly.wall.flange, assembly.spring.flange_a), (assembly.spring.flange_b, assembly.J.flange_b),
        (assembly.sensor.a, assembly.law.u), (assembly.law.y, assembly.sum.u1), (assembly.supply.y, assembly.sum.u2),
        (assembly.sum.y, assembly.source.v), (assembly.law.y, assembly.more.u), (assembly.more.y, assembly.torque.tau),
        (assembly.torque.flange, assembly.J.flange_b),
    ):  # fmt: skip
        assembly.connect(one, other)

    def flat(time: float, states: Mapping[str, float]) -> dict[str, float]:
        phi, w = states["J.phi"], states["J.w"]

        def conducted(v: float) -> float:
            return branch("Diode", {"Ids": saturation, "Vt": 0.03, "Maxexp": 35.0, "R": 1e7}, v)[0]

        def acceleration(v: float) -> float:
            load = k * conducted(v) - c * phi
            reach = (abs(load) + abs(b)) / J + 1.0
            return brentq(lambda a: J * a - b * np.tanh(a) - load, -reach, reach, xtol=1e-15, rtol=1e-15)

        def excess(v: float) -> float:
            return V + g * np.tanh(acceleration(v)) - R * conducted(v) - v - k * w

        v = brentq(excess, -1e3, 10.0, xtol=1e-15, rtol=1e-15)
        return {"d.v": v, "J.a": acceleration(v)}

    return assembly, flat


KINDS = {
    "circuit": circuit,
    "signals": signals,
    "heat": heat,
    "springs": springs,
    "accelerations": accelerations,
    "drive": drive,
}


def make(kind: str, seed: int) -> tuple[Assembly, Flat]:
    """A random model, and its flat equations."""
    return KINDS[kind](np.random.default_rng([sorted(KINDS).index(kind), seed]))


def worst_difference(kind: str, seed: int) -> float:
    """Largest difference of a run of a random model from its flat equations, beside the size of what they give.

    Raises:
        MbfmuError: the model is refused, or its run ends.
    """
    assembly, flat = make(kind, seed)
    result = simulate(assembly, STOP, interval=STOP / INSTANTS, tolerance=1e-8)
    worst = 0.0
    for row, time in enumerate(result.time):
        wanted = flat(float(time), _Row(result, row))
        scale = 1 + max(map(abs, wanted.values()))
        worst = max(worst, *(abs(result[name][row] - value) / scale for name, value in wanted.items()))
    return worst


class _Row(dict):
    """Values of one instant of a run, by the names of variables."""

    def __init__(self, result, row: int) -> None:
        self.result, self.row = result, row

    def __missing__(self, name: str) -> float:
        return float(self.result[name][self.row])


def main(count: int = 1000, first: int = 0) -> None:
    """Run random models, all kinds in turn, and say what came of them."""
    begin, found = clock.perf_counter(), {kind: [] for kind in KINDS}
    for number in range(first, first + count):
        kind = list(KINDS)[number % len(KINDS)]
        try:
            worst = worst_difference(kind, number)
        except Exception as error:
            worst = np.inf
            print(f"{kind} {number}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        else:
            if not worst < 1e-9:
                print(f"{kind} {number}: differs by {worst:.1e}", flush=True)
        found[kind].append(worst)
    for kind, values in found.items():
        good = sum(v < 1e-9 for v in values)
        agreed = max((v for v in values if v < 1e-9), default=np.nan)
        print(f"{kind}: {good} of {len(values)} agree, the worst of them to {agreed:.0e}")
    print(f"{clock.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
