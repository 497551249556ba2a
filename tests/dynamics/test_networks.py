"""Heat, torques and motions from outside; and a domain of its own, electrics, which is one class of connector."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbfmu.components import Body, FixedTranslation, World, blocks, electrical, rotational, sensors, thermal
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Component, HeatPort, Parameter, Start, State, Variable, required
from mbfmu.modeling import types as t
from mbfmu.modeling.connectors import NetworkPort, Quantity
from mbfmu.modeling.connectors import RotationalFlange as Flange
from mbfmu.runtime.variables import Terminal
from mbfmu.simulation import simulate
from tests.components.wiring import run


class Stored(Assembly):
    """A heat capacitor that is heated from outside, and cools through a conductor."""

    port = HeatPort("Heat from outside")

    def __init__(self) -> None:
        self.body = thermal.HeatCapacitor(C=4.0, T=Start(300.0, fixed=True))
        self.wall, self.room = thermal.ThermalConductor(G=2.0), thermal.FixedTemperature(T=290.0)
        self.connect(self.port, self.body.port)
        self.connect(self.body.port, self.wall.port_a)
        self.connect(self.wall.port_b, self.room.port)


def test_heat_from_outside_warms_what_stores_it() -> None:
    """C dT/dt = Q - G (T - room); the FMU shows T as an output and Q_flow as an input of the terminal `port`."""
    system = System.of(Stored())
    e = system.equations
    P = np.concatenate([e.parameters, np.array(e.functions["derived"](e.parameters)).ravel()])
    for Q in (0.0, 30.0, -7.0):
        rate = float(e.functions["derivatives"](0.0, [300.0], [Q], P, [], []))
        assert rate == pytest.approx((Q - 2.0 * 10.0) / 4.0, rel=1e-14)
    shown = {v.name: (v.causality, v.terminal) for v in system.variables if v.terminal is not None}
    kind = "Thermal.HeatTransfer.Interfaces.HeatPort"
    assert shown == {
        "port.Q_flow": ("input", Terminal("port", "Q_flow", True, kind)),
        "port.T": ("output", Terminal("port", "T", False, kind)),
    }


# -- electrics: all that it takes


class Pin(NetworkPort):
    """Electrical pin."""

    kind = title = "pin"
    potentials = (Quantity("v", t.Type("Voltage", unit="V"), (), "Potential at the pin"),)
    flows = (Quantity("i", t.Type("Current", unit="A"), (), "Current flowing into the pin"),)
    potential_name, flow_name, store, conductor = "potential", "currents", "Capacitor", "Resistor"


class TwoPins(Component):
    """Two pins with the same current through both."""

    p, n = Pin("Positive pin"), Pin("Negative pin")
    v = Variable(t.Type("Voltage", unit="V"), "Voltage between the pins")


class Ground(Component):
    """Potential 0."""

    p = Pin("Pin")

    def equations(self) -> None:
        self.p.v = 0.0


class Resistor(TwoPins):
    """Ohm's law."""

    R = Parameter(t.Type("Resistance", unit="Ohm"), required, "Resistance", nonzero=True)

    def equations(self) -> None:
        self.v = self.p.v - self.n.v
        self.p.i, self.n.i = self.v / self.R, -self.v / self.R


class Battery(TwoPins):
    """A voltage, whatever the current."""

    V = Parameter(t.Type("Voltage", unit="V"), required, "Voltage")

    def equations(self) -> None:
        self.v = self.p.v - self.n.v
        self.relation(self.v - self.V)


class Coil(TwoPins):
    """L di/dt = v."""

    L = Parameter(t.Type("Inductance", unit="H"), required, "Inductance", nonzero=True)
    i = State(t.Type("Current", unit="A"), "Current", start=0.0, fixed=True)

    def equations(self) -> None:
        self.v = self.p.v - self.n.v
        self.der.i = self.v / self.L
        self.p.i, self.n.i = self.i, -self.i


class EMF(TwoPins):
    """Voltage k w, torque k i: the current keeps the voltage, and turns the shaft."""

    k = Parameter(t.Type("TransformationCoefficient", unit="N.m/A"), required, "Transformation coefficient")
    flange = Flange("Shaft")

    def equations(self) -> None:
        self.v = self.p.v - self.n.v
        self.relation(self.v - self.k * self.der(self.flange.phi))
        self.flange.tau = -self.k * self.p.i


class Motor(Assembly):
    """A direct-current motor that drives an inertia."""

    tolerance = 1e-9

    def __init__(self) -> None:
        self.battery, self.ground = Battery(V=12.0), Ground()
        self.resistor, self.coil, self.emf = Resistor(R=0.5), Coil(L=0.02), EMF(k=0.3)
        self.load = rotational.Inertia(J=0.05, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.connect(self.battery.p, self.resistor.p)
        self.connect(self.resistor.n, self.coil.p)
        self.connect(self.coil.n, self.emf.p)
        self.connect(self.emf.n, self.battery.n)
        self.connect(self.battery.n, self.ground.p)
        self.connect(self.emf.flange, self.load.flange_a)


def test_a_domain_is_a_connector_and_its_components() -> None:
    """L di/dt = V - R i - k w, J dw/dt = k i: by the matrix exponential, that is by its eigenvalues."""
    result = simulate(Motor(), 0.5)
    A = np.array([[-0.5 / 0.02, -0.3 / 0.02], [0.3 / 0.05, 0.0]])
    steady = np.linalg.solve(A, [-12.0 / 0.02, 0.0])
    values, vectors = np.linalg.eig(A)
    weights = np.linalg.solve(vectors, -steady)
    expected = steady + np.real((weights * np.exp(np.outer(result.time, values))) @ vectors.T)
    np.testing.assert_allclose(result["coil.i"], expected[:, 0], atol=1e-5)
    np.testing.assert_allclose(result["load.w"], expected[:, 1], atol=1e-5)
    np.testing.assert_allclose(result["emf.flange.tau"], -0.3 * result["coil.i"], atol=1e-12)
    np.testing.assert_allclose(result["battery.p.i"], -result["coil.i"], atol=1e-9)
    np.testing.assert_allclose(result["ground.p.i"], 0.0, atol=1e-9)


def test_a_domain_of_ones_own_has_its_own_words() -> None:
    class Floating(Assembly):
        """A resistor without a ground."""

        def __init__(self) -> None:
            self.battery, self.resistor = Battery(V=1.0), Resistor(R=1.0)
            self.connect(self.battery.p, self.resistor.p)
            self.connect(self.battery.n, self.resistor.n)

    with pytest.raises(ModelError, match=r"nothing determines the potential of .*connect a Capacitor there"):
        System.of(Floating())
    with pytest.raises(ModelError, match=r"cannot connect .* \(pin\) with .* \(heat\)"):
        Assembly().connect(Resistor(R=1.0).p, thermal.HeatCapacitor(C=1.0).port)


# -- flanges of the assembly


class Turned(Assembly):
    """An inertia with a damper, turned from outside: by a torque, or by a motion."""

    def __init__(self, motion: bool) -> None:
        self.flange = Flange("Shaft", motion=motion)
        start = {} if motion else {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True)}
        self.load, self.bearing = rotational.Inertia(J=0.5, **start), rotational.Damper(d=2.0)
        self.housing = rotational.Fixed()
        self.connect(self.flange, self.load.flange_a)
        self.connect(self.load.flange_b, self.bearing.flange_a)
        self.connect(self.bearing.flange_b, self.housing.flange)


def values(system: System, x: list[float], u: dict[str, float]) -> dict[str, float]:
    """Values of all variables at rest of time, for states and inputs."""
    e = system.equations
    P = np.concatenate([e.parameters, np.array(e.functions["derived"](e.parameters)).ravel()])
    inputs = [u[v.name] for v in system.variables if v.causality == "input"]
    A, b = (np.array(part) for part in e.functions["dynamics"](0.0, x, inputs, P, []))
    w = np.linalg.solve(A, b).ravel() if e.nw else np.zeros(0)
    y = np.array(e.functions["variables"](0.0, x, inputs, P, [], w)).ravel()
    stores = {"x": x, "u": inputs, "w": w, "y": y}
    return {v.name: float(stores[v.store][v.index]) for v in system.variables if v.store in stores}


def test_a_torque_from_outside_turns_the_shaft_its_way() -> None:
    found = values(System.of(Turned(motion=False)), [-0.3, -4.0], {"flange.tau": 10.0})  # of the housing against it
    assert found["load.phi"] == 0.3
    assert found["load.a"] == pytest.approx((10.0 - 2.0 * 4.0) / 0.5)
    assert found["flange.a"] == found["load.a"]


def test_a_motion_from_outside_is_answered_by_the_torque_that_the_shaft_exerts() -> None:
    found = values(System.of(Turned(motion=True)), [], {"flange.phi": 0.3, "flange.w": 4.0, "flange.a": 3.0})
    assert found["flange.tau"] == pytest.approx(-(0.5 * 3.0 + 2.0 * 4.0))


@pytest.mark.parametrize("motion", [False, True])
def test_power_through_a_flange_of_one_s_own_is_torque_times_speed(motion: bool) -> None:
    """At 4 rad/s, of which the damper, 2 N.m.s/rad, takes 32 W."""
    u = {"flange.phi": 0.3, "flange.w": 4.0, "flange.a": 3.0} if motion else {"flange.tau": 10.0}
    found = values(System.of(Turned(motion=motion), energy=True), [] if motion else [-0.3, -4.0], u)
    torque = 0.5 * 3.0 + 2.0 * 4.0 if motion else 10.0
    assert found["energy.inflow"] == pytest.approx(torque * 4.0)
    assert found["energy.outflow"] == pytest.approx(32.0)
    assert found["energy.balanceError"] == pytest.approx(0.0, abs=1e-12)


def test_a_relation_holds_each_of_its_flanges_also_where_two_are_joined() -> None:
    """A planetary gear whose ring sits on its carrier turns as one piece; sun : carrier : ring = 1 : -(1 + r) : r."""

    class Locked(Assembly):
        """Sun from outside, an inertia on carrier and ring."""

        def __init__(self) -> None:
            self.flange = Flange("Sun")
            self.gear, self.load = rotational.IdealPlanetary(ratio=2.5), rotational.Inertia(J=0.5)
            self.connect(self.flange, self.gear.sun)
            self.connect(self.gear.carrier, self.gear.ring)
            self.connect(self.gear.ring, self.load.flange_a)

    found = values(System.of(Locked()), [0.3, 4.0], {"flange.tau": 10.0})
    torques = [found[f"gear.{name}.tau"] for name in ("sun", "carrier", "ring")]
    np.testing.assert_allclose(torques, [10.0, -35.0, 25.0], rtol=1e-12)
    assert found["load.a"] == pytest.approx(20.0)


# -- composites


class Decay(Component):
    """dx/dt = -x / T."""

    T = Parameter(t.Time, 2.0, "Time constant", nonzero=True)
    x = State(t.Real, "What decays", start=3.0, fixed=True)

    def equations(self) -> None:
        self.der.x = -self.x / self.T


class Watched(Component):
    """A composite that differentiates a state of its part, once and twice."""

    rate = Variable(t.Real, "Rate")
    second = Variable(t.Real, "Rate of the rate")

    def build(self) -> None:
        self.part = Decay()

    def equations(self) -> None:
        self.rate = self.der(self.part.x)
        self.second = self.der(self.rate)


def test_a_composite_differentiates_the_state_of_a_part() -> None:
    class Whole(Assembly):
        """One of them."""

        def __init__(self) -> None:
            self.watched = Watched()

    result = simulate(Whole(), 1.0)
    x = result["watched.part.x"]
    np.testing.assert_allclose(result["watched.rate"], -x / 2.0, rtol=1e-12)
    np.testing.assert_allclose(result["watched.second"], x / 4.0, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("sensor", ["AbsolutePosition", "AbsoluteVelocity"])
def test_a_voltage_that_follows_a_quaternion_has_its_derivative(sensor: str) -> None:
    """A quarter of a coordinate, or of a velocity, of a point on a ball that turns evenly about any axis."""
    w, point = np.array([0.6, -1.1, 1.7]), np.array([1.0, 0.5, -0.2])
    signal = {"AbsolutePosition": "r", "AbsoluteVelocity": "v"}[sensor]
    still = {"r_0": Start((0, 0, 0), fixed=True), "v_0": Start((0, 0, 0), fixed=True), "angles_fixed": True}
    result = run(
        "tip.frame_a - ball.frame_a", "tip.frame_b - sensor.frame_a", f"sensor.{signal}[1] - source.v",
        "source.p - r1.p", "r1.n - r2.p", "r2.n - source.n", "ground.p - source.n", "r2.p - meter.p",
        "r2.n - meter.n", "meter.v - der.u",
        stop=0.5, step=0.1, world=World(gravityType="NoGravity"), tip=FixedTranslation(r=point),
        ball=Body(m=1.0, r_CM=(0, 0, 0), I_11=0.1, I_22=0.1, I_33=0.1, w_0_start=w, w_0_fixed=True, **still),
        sensor=getattr(sensors, sensor)(resolveInFrame="world"), source=electrical.SignalVoltage(),
        r1=electrical.Resistor(R=3.0), r2=electrical.Resistor(R=1.0), ground=electrical.Ground(),
        meter=electrical.VoltageSensor(), der=blocks.Der(),
    )  # fmt: skip
    moved = [Rotation.from_rotvec(w * t).apply(point) for t in result.time]
    for _ in range(signal == "v"):
        moved = [np.cross(w, r) for r in moved]
    np.testing.assert_allclose(result["meter.v"], [r[1] / 4 for r in moved], atol=1e-8)
    np.testing.assert_allclose(result["der.y"], [np.cross(w, r)[1] / 4 for r in moved], atol=1e-8)
