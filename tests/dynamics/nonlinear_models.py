"""Models with equations that have no closed solution, and how they move by equations written by hand, with SciPy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, root
from scipy.special import ellipj

from mbfmu.components import FixedTranslation, Revolute, World, blocks, electrical, rotational, translational
from mbfmu.components.translational.interfaces import PartialCompliant
from mbfmu.modeling import (
    Assembly,
    Component,
    NetworkPort,
    Parameter,
    Quantity,
    RealInput,
    RealOutput,
    Start,
    State,
    required,
)
from mbfmu.modeling import types as t

FIXED = Start(0.0, fixed=True)

#: Tolerances of SciPy's solvers.
TIGHT = {"rtol": 1e-11, "atol": 1e-12}

Columns = Mapping[str, np.ndarray]


def connect_all(assembly: Assembly, *connections: str) -> None:
    """Connections written as "source.p - r.p"."""
    for text in connections:
        ends = []
        for path in text.split(" - "):
            part, name = path.split(".")
            ends.append(getattr(getattr(assembly, part), name))
        assembly.connect(*ends)


# -- circuits


class Rectifier(Assembly):
    """A diode behind a resistor charges a capacitor, which a load empties."""

    tolerance = 1e-10
    stop_time = 0.04

    def __init__(self) -> None:
        self.source, self.r = electrical.SineVoltage(V=10.0, f=50.0), electrical.Resistor(R=10.0)
        self.more = electrical.SignalVoltage()
        self.d = electrical.Diode(Ids=1e-12, Vt=0.025, Maxexp=40.0, R=1e8)
        self.c, self.load = electrical.Capacitor(C=1e-4, v=FIXED), electrical.Resistor(R=1000.0)
        self.ground = electrical.Ground()
        connect_all(
            self, "source.p - r.p", "r.n - d.p", "d.n - c.p", "c.p - load.p", "c.n - load.n", "c.n - more.n",
            "more.p - source.n", "c.n - ground.p",
        )  # fmt: skip
        self.input(self.more.v, "u")
        self.output(self.c.v, "vc")
        self.output(self.d.v, "vd")
        self.output(self.d.i, "id")


def shockley(v: float, saturation: float = 1e-12, scale: float = 0.025) -> float:
    """Shockley's law, beside 100 MOhm."""
    return saturation * np.expm1(v / scale) + v / 1e8


def rectified(times: np.ndarray) -> Columns:
    """C dv/dt = i - v / 1000, where (V - v - vd) / 10 = i(vd)."""

    def drop(time: float, v: float) -> float:
        rest = 10 * np.sin(100 * np.pi * time) - v
        return brentq(lambda vd: (rest - vd) / 10 - shockley(vd), -25.0, 1.5, xtol=1e-16, rtol=1e-15)

    def rates(time: float, x: np.ndarray) -> list[float]:
        return [(shockley(drop(time, x[0])) - x[0] / 1000) / 1e-4]

    v = solve_ivp(rates, (0, times[-1]), [0.0], "BDF", t_eval=times, max_step=1e-4, **TIGHT).y[0]
    drops = np.array([drop(*each) for each in zip(times, v, strict=True)])
    return {"vc": v, "vd": drops, "id": np.array([shockley(each) for each in drops])}


class Clamp(Assembly):
    """Two diodes keep a voltage between two supplies; what it drives, an RC element, follows."""

    tolerance = 1e-10
    stop_time = 0.1

    def __init__(self) -> None:
        self.source, self.r = electrical.SineVoltage(V=12.0, f=20.0), electrical.Resistor(R=100.0)
        self.more = electrical.SignalCurrent()
        self.top, self.bottom = electrical.ConstantVoltage(V=5.0), electrical.ConstantVoltage(V=-2.0)
        self.up, self.down = (electrical.Diode(Ids=1e-10, Vt=0.03, Maxexp=40.0) for _ in range(2))
        self.s, self.c = electrical.Resistor(R=200.0), electrical.Capacitor(C=5e-5, v=FIXED)
        self.ground = electrical.Ground()
        connect_all(
            self, "source.p - r.p", "r.n - up.p", "up.n - top.p", "r.n - down.n", "down.p - bottom.p", "r.n - s.p",
            "s.n - c.p", "more.n - r.n", "more.p - ground.p", "source.n - ground.p", "top.n - ground.p",
            "bottom.n - ground.p", "c.n - ground.p",
        )  # fmt: skip
        self.input(self.more.i, "u")
        self.output(self.c.v, "vc")
        self.output(self.r.n.v, "v")
        self.output(self.up.i, "i")


def clamped(times: np.ndarray) -> Columns:
    """C dvc/dt = (v - vc) / 200, where (V - v) / 100 = i(v - 5) - i(-2 - v) + (v - vc) / 200."""

    def between(time: float, vc: float) -> float:
        V = 12 * np.sin(40 * np.pi * time)

        def gap(v: float) -> float:
            currents = shockley(v - 5, 1e-10, 0.03) - shockley(-2 - v, 1e-10, 0.03)
            return (V - v) / 100 - currents - (v - vc) / 200

        return brentq(gap, -3.0, 6.0, xtol=1e-15, rtol=1e-15)

    def rates(time: float, x: np.ndarray) -> list[float]:
        return [(between(time, x[0]) - x[0]) / 200 / 5e-5]

    vc = solve_ivp(rates, (0, times[-1]), [0.0], "BDF", t_eval=times, max_step=1e-4, **TIGHT).y[0]
    v = np.array([between(*each) for each in zip(times, vc, strict=True)])
    return {"vc": vc, "v": v, "i": np.array([shockley(each - 5, 1e-10, 0.03) for each in v])}


# -- a network of orifices


VolumeFlowRate = t.Type("VolumeFlowRate", unit="m3/s")


class Port(NetworkPort):
    """End of an orifice."""

    kind, title = "hydraulic", "port"
    potentials = (Quantity("p", t.Pressure, (), "Pressure"),)
    flows = (Quantity("q", VolumeFlowRate, (), "Volume flow rate into the component"),)
    potential_name, store, conductor = "pressure", "Vessel", "Orifice"


class Orifice(Component):
    """Flow that grows with the square root of the pressure, but for a finite slope at 0."""

    K = Parameter(t.Real, required, "Flow at 1 Pa", min=0)
    port_a, port_b = Port("One side"), Port("Other side")

    def equations(self) -> None:
        dp = self.port_a.p - self.port_b.p
        q = self.K * dp / (dp**2 + 1.0) ** 0.25
        self.port_a.q, self.port_b.q = q, -q


class Supply(Component):
    """Pressure that a signal gives."""

    u = RealInput("Pressure")
    port = Port("Port")

    def equations(self) -> None:
        self.port.p = self.u


class Vessel(Component):
    """Vessel whose pressure grows with what is in it."""

    C = Parameter(t.Real, required, "What it takes for 1 Pa", min=0, nonzero=True)
    port = Port("Port")
    p = State(t.Pressure, "Pressure", start=0.0, fixed=True)

    def equations(self) -> None:
        self.port.p = self.p
        self.der.p = self.port.q / self.C


#: Nodes of the network without a pressure of their own, and its orifices: a ring, chords, and a way in and out.
NODES = 20
ORIFICES = [
    *((i, (i + 1) % NODES) for i in range(NODES)),
    *((i, (7 * i + 3) % NODES) for i in range(0, NODES, 2)),
]
SIZES = 1e-3 * (1 + 0.5 * np.sin(np.arange(len(ORIFICES))))
#: Where the supply and the vessel are connected, and the size of those orifices.
INLET, OUTLET, WAYS = 0, 11, 2e-3


class Orifices(Assembly):
    """A supply that pulsates fills a vessel through a network of orifices."""

    tolerance = 1e-10
    stop_time = 1.5

    def __init__(self) -> None:
        self.signal, self.supply = blocks.Sine(offset=4e5, amplitude=2e5, f=1.0), Supply()
        self.sum = blocks.Add()
        self.vessel, self.inlet, self.outlet = Vessel(C=2e-6), Orifice(K=WAYS), Orifice(K=WAYS)
        self.orifices = [Orifice(K=float(K)) for K in SIZES]
        connect_all(self, "signal.y - sum.u1", "sum.y - supply.u")
        self.input(self.sum.u2, "u")
        ends: dict[int, list[Port]] = {i: [] for i in range(NODES)}
        for part, (a, b) in zip(self.orifices, ORIFICES, strict=True):
            ends[a].append(part.port_a)
            ends[b].append(part.port_b)
        ends[INLET].append(self.inlet.port_b)
        ends[OUTLET].append(self.outlet.port_a)
        self.connect(self.supply.port, self.inlet.port_a)
        self.connect(self.outlet.port_b, self.vessel.port)
        for ports in ends.values():
            for other in ports[1:]:
                self.connect(ports[0], other)
        self.output(self.vessel.p, "p")
        for number in (0, 5, 11, 17):
            self.output(ends[number][0].p, f"p{number}")


def flow(K: float | np.ndarray, dp: float | np.ndarray) -> float | np.ndarray:
    return K * dp / (dp**2 + 1.0) ** 0.25


def through_orifices(times: np.ndarray) -> Columns:
    """The nodes' balances by SciPy's `root` with its own differences, the vessel by LSODA."""
    a, b = np.array(ORIFICES).T
    guess = np.linspace(3e5, 1e5, NODES)

    def pressures(time: float, p: float) -> np.ndarray:
        supply = 4e5 + 2e5 * np.sin(2 * np.pi * time)

        def balance(nodes: np.ndarray) -> np.ndarray:
            q, sums = flow(SIZES, nodes[a] - nodes[b]), np.zeros(NODES)
            np.subtract.at(sums, a, q)
            np.add.at(sums, b, q)
            sums[INLET] += flow(WAYS, supply - nodes[INLET])
            sums[OUTLET] -= flow(WAYS, nodes[OUTLET] - p)
            return sums

        found = root(balance, guess, method="hybr", options={"xtol": 1e-13})
        assert np.abs(found.fun).max() < 1e-9, found.message
        guess[:] = found.x
        return found.x

    def rates(time: float, x: np.ndarray) -> list[float]:
        return [flow(WAYS, pressures(time, x[0])[OUTLET] - x[0]) / 2e-6]

    p = solve_ivp(rates, (0, times[-1]), [0.0], "LSODA", t_eval=times, rtol=1e-10, atol=1e-6).y[0]
    nodes = np.array([pressures(*each) for each in zip(times, p, strict=True)])
    return {"p": p, **{f"p{i}": nodes[:, i] for i in (0, 5, 11, 17)}}


# -- mechanics


class SinhSpring(PartialCompliant):
    """Spring with the force F sinh(s_rel / a)."""

    F = Parameter(t.Force, required, "Force")
    a = Parameter(t.Length, required, "Length")

    def force(self) -> ca.SX:
        return self.F * ca.sinh(self.s_rel / self.a)


class Springs(Assembly):
    """Two hardening springs in series pull a mass: together they are F sinh(s / (a1 + a2))."""

    tolerance = 1e-11
    stop_time = 3.0

    def __init__(self) -> None:
        self.wall, self.one, self.two = translational.Fixed(), SinhSpring(F=2.0, a=0.1), SinhSpring(F=2.0, a=0.3)
        self.mass = translational.Mass(m=1.5, s=Start(0.8, fixed=True), v=FIXED)
        self.push = translational.Force()
        self.connect(self.push.flange, self.mass.flange_b)
        self.input(self.push.f, "u")
        connect_all(self, "wall.flange - one.flange_a", "one.flange_b - two.flange_a", "two.flange_b - mass.flange_a")
        self.output(self.mass.s, "s")
        self.output(self.one.s_rel, "s1")
        self.output(self.two.f, "f")


def sprung(times: np.ndarray) -> Columns:
    """With q = s / a: q'' = -w^2 sinh q. As w^2 cosh q + q'^2 / 2 is constant, sinh(q / 2) = k sc-like: by ellipj."""
    a, w, q0 = 0.4, np.sqrt(2.0 / (1.5 * 0.4)), 0.8 / 0.4
    # tanh(q / 2) = tanh(q0 / 2) cd(u | m), with u = w cosh(q0 / 2) t, m = tanh(q0 / 2)^2
    m = np.tanh(q0 / 2) ** 2
    _, cn, dn, _ = ellipj(w * np.cosh(q0 / 2) * times, m)
    q = 2 * np.arctanh(np.tanh(q0 / 2) * cn / dn)
    return {"s": a * q, "s1": 0.1 * q, "f": 2.0 * np.sinh(q)}


#: Lengths of the four-bar.
CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.9, 0.7, 1.0


class FourBar(Assembly):
    """A four-bar of rods without mass, whose crank a signal drives: nothing of it is free."""

    tolerance = 1e-10
    stop_time = 2.0

    def __init__(self) -> None:
        x = (COUPLER**2 - ROCKER**2 + (GROUND - CRANK) ** 2) / (2 * (GROUND - CRANK))  # of C beyond B
        y = np.sqrt(COUPLER**2 - x**2)
        self.world = World(gravityType="NoGravity")
        self.a = Revolute(useAxisFlange=True)
        self.b, self.c, self.d = Revolute(), Revolute(), Revolute()
        self.crank, self.coupler = FixedTranslation(r=(CRANK, 0, 0)), FixedTranslation(r=(x, y, 0))
        self.rocker = FixedTranslation(r=(GROUND - CRANK - x, -y, 0))
        self.ground = FixedTranslation(r=(GROUND, 0, 0))
        self.source, self.drive = blocks.Ramp(height=6.0, duration=2.0), rotational.Position(exact=True)
        connect_all(
            self, "world.frame_b - a.frame_a", "a.frame_b - crank.frame_a", "crank.frame_b - b.frame_a",
            "b.frame_b - coupler.frame_a", "coupler.frame_b - c.frame_a", "c.frame_b - rocker.frame_a",
            "rocker.frame_b - d.frame_a", "world.frame_b - ground.frame_a", "ground.frame_b - d.frame_b",
            "source.y - drive.phi_ref", "drive.flange - a.axis",
        )  # fmt: skip
        self.output(self.a.phi, "crank.phi")
        self.output(self.b.phi, "b")
        self.output(self.d.phi, "d")


def linked(times: np.ndarray) -> Columns:
    """C on the two circles about B and D, on the side on which it began; the angles of both rods from there."""
    x0 = (COUPLER**2 - ROCKER**2 + (GROUND - CRANK) ** 2) / (2 * (GROUND - CRANK))
    y0 = np.sqrt(COUPLER**2 - x0**2)
    phi = 3.0 * times
    B = CRANK * np.exp(1j * phi)
    D = GROUND + 0j
    span = D - B
    far = np.abs(span)
    along = (far**2 + COUPLER**2 - ROCKER**2) / (2 * far)
    C = B + (along + 1j * np.sqrt(COUPLER**2 - along**2)) * span / far
    coupler, rocker = C - B, D - C
    turned = np.unwrap(np.angle(coupler)) - np.angle(x0 + 1j * y0)
    rocked = np.unwrap(np.angle(rocker)) - np.angle(GROUND - CRANK - x0 - 1j * y0)
    return {"crank.phi": phi, "b": turned - phi, "d": -rocked}


class Tanh(Component):
    """A torque that an acceleration strengthens, and an angle reverses."""

    u, phi, push = RealInput("Acceleration"), RealInput("Angle"), RealInput("Another torque")
    y = RealOutput("Torque")

    def equations(self) -> None:
        self.y = 0.8 * ca.tanh(self.u / 2) - 3.0 * self.phi + 0.5 * self.u + self.push


class FedBack(Assembly):
    """The acceleration of an inertia, through a law that is not linear, is the torque that turns it."""

    tolerance = 1e-10
    stop_time = 4.0

    def __init__(self) -> None:
        self.inertia = rotational.Inertia(J=2.0, phi=Start(1.0, fixed=True), w=FIXED)
        self.torque, self.law = rotational.Torque(), Tanh()
        self.acceleration, self.angle = rotational.AccSensor(), rotational.AngleSensor()
        connect_all(
            self, "torque.flange - inertia.flange_a", "inertia.flange_b - acceleration.flange",
            "inertia.flange_b - angle.flange", "acceleration.a - law.u", "angle.phi - law.phi", "law.y - torque.tau",
        )  # fmt: skip
        self.input(self.law.push, "u")
        self.output(self.inertia.phi, "phi")
        self.output(self.inertia.a, "a")


def fed_back(times: np.ndarray) -> Columns:
    """2 a = 0.8 tanh(a / 2) - 3 phi + a / 2."""

    def acceleration(phi: float) -> float:
        return brentq(lambda a: 1.5 * a - 0.8 * np.tanh(a / 2) + 3 * phi, -50.0, 50.0, xtol=1e-15, rtol=1e-15)

    options = {"t_eval": times, "rtol": 1e-12, "atol": 1e-13}
    phi = solve_ivp(lambda _, x: [x[1], acceleration(x[0])], (0, times[-1]), [1.0, 0.0], "DOP853", **options).y[0]
    return {"phi": phi, "a": np.array([acceleration(each) for each in phi])}


@dataclasses.dataclass(frozen=True)
class Model:
    """An assembly, and its outputs by hand."""

    make: type[Assembly]
    wanted: Callable[[np.ndarray], Columns]

    @property
    def stop(self) -> float:
        """How long it runs, s."""
        return self.make.stop_time


MODELS = {
    "rectifier": Model(Rectifier, rectified),
    "clamp": Model(Clamp, clamped),
    "orifices": Model(Orifices, through_orifices),
    "springs": Model(Springs, sprung),
    "four_bar": Model(FourBar, linked),
    "fed_back": Model(FedBack, fed_back),
}
