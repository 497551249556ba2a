"""Rotational mechanics against closed forms and against equations of motion written down by hand."""

from __future__ import annotations

import itertools
import math

import fmpy
import numpy as np
import pytest
import scipy.linalg
from drive_blocks import Wave
from scipy.integrate import solve_ivp
from wiring import run

import mbfmu
from mbfmu.components import blocks, rotational, translational
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError
from mbfmu.modeling import Assembly, Component, Start
from mbfmu.runtime.run import Run
from mbfmu.simulation import simulate


class Chain(Assembly):
    """Components in a row, each flange_b joined with the next flange_a; `flange` stands for both."""

    def __init__(self, **parts: Component) -> None:
        for name, part in parts.items():
            setattr(self, name, part)
        row = list(self.parts.values())
        for left, right in itertools.pairwise(row):
            self.connect(_flange(left, "flange_b"), _flange(right, "flange_a"))


def _flange(part: Component, name: str):
    return getattr(part, name) if name in part.ports() else part.flange


def at_rest(phi: float = 0.0) -> dict[str, Start]:
    return {"phi": Start(phi, fixed=True), "w": Start(0.0, fixed=True)}


def test_two_inertias_swing_at_their_eigenfrequency():
    J1, J2, c, twist = 0.4, 1.5, 90.0, 0.2
    chain = Chain(
        a=rotational.Inertia(J=J1, **at_rest()),
        spring=rotational.Spring(c=c),
        b=rotational.Inertia(J=J2, **at_rest(twist)),
    )
    result = simulate(chain, 3.0, tolerance=1e-11)
    omega = math.sqrt(c * (1 / J1 + 1 / J2))
    np.testing.assert_allclose(result["spring.phi_rel"], twist * np.cos(omega * result.time), atol=1e-9)
    mean = (J1 * result["a.phi"] + J2 * result["b.phi"]) / (J1 + J2)
    np.testing.assert_allclose(mean, twist * J2 / (J1 + J2), atol=1e-9)


def test_a_long_shaft_swings_in_its_modes():
    """Seven inertias and six springs against the eigenvectors of their matrices."""
    n, c = 7, 20.0
    parts: dict[str, Component] = {}
    for i in range(n):
        parts[f"inertia{i}"] = rotational.Inertia(J=1.0 + 0.1 * i, **at_rest(0.1 if i == 0 else 0.0))
        if i < n - 1:
            parts[f"spring{i}"] = rotational.Spring(c=c)
    result = simulate(Chain(**parts), 3.0, tolerance=1e-11)
    M, K = np.diag(1.0 + 0.1 * np.arange(n)), np.zeros((n, n))
    for i in range(n - 1):
        K[i : i + 2, i : i + 2] += c * np.array([[1, -1], [-1, 1]])
    squares, modes = scipy.linalg.eigh(K, M)
    swing = (modes[0] * M[0, 0] * 0.1)[:, None] * np.cos(np.sqrt(np.abs(squares))[:, None] * result.time)
    for i, expected in enumerate(modes @ swing):
        np.testing.assert_allclose(result[f"inertia{i}.phi"], expected, atol=1e-9)


def test_a_spring_and_a_damper_in_series():
    """Between them there is no inertia: their torques are equal, and the damper gives way to the spring."""
    c, d, J = 20.0, 2.0, 1.0
    chain = Chain(
        fixed=rotational.Fixed(),
        spring=rotational.Spring(c=c, phi_rel=Start(0.3, fixed=True)),
        damper=rotational.Damper(d=d),
        load=rotational.Inertia(J=J, **at_rest(0.5)),
    )
    result = simulate(chain, 2.0, tolerance=1e-10)
    exact = solve_ivp(
        lambda t, y: (y[1], -c * y[2] / J, y[1] - c * y[2] / d),
        (0, 2),
        (0.5, 0.0, 0.3),
        "DOP853",
        t_eval=result.time,
        rtol=1e-11,
        atol=1e-12,
    )
    np.testing.assert_allclose(result["load.phi"], exact.y[0], atol=1e-8)
    np.testing.assert_allclose(result["damper.tau"], c * exact.y[2], atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [3.0, -2.5, 0.1])
def test_a_gear_reduces_inertia_by_the_square_of_its_ratio(ratio):
    J1, J2, tau = 0.2, 5.0, 3.0
    chain = Chain(
        torque=rotational.ConstantTorque(tau_constant=tau),
        a=rotational.Inertia(J=J1, **at_rest()),
        gear=rotational.IdealGear(ratio=ratio),
        b=rotational.Inertia(J=J2),
    )
    result = simulate(chain, 1.0, tolerance=1e-9)
    expected = tau / (J1 + J2 / ratio**2)
    np.testing.assert_allclose(result["a.a"], expected, rtol=1e-12)
    np.testing.assert_allclose(result["b.phi"], expected * result.time**2 / 2 / ratio, atol=1e-9)
    np.testing.assert_allclose(result["gear.flange_b.tau"], -ratio * result["gear.flange_a.tau"], rtol=1e-12)


def test_a_housing_takes_the_difference_of_a_gears_torques():
    """Motor torque and housing on one shaft line: the total angular momentum stays at zero."""

    class Geared(Assembly):
        def __init__(self) -> None:
            self.signal = Wave(amplitude=2.0, omega=3.0, phase=0.4)
            self.torque = rotational.Torque(useSupport=True)
            self.motor = rotational.Inertia(J=0.3, **at_rest())
            self.gear = rotational.IdealGear(ratio=4.0, useSupport=True)
            self.load = rotational.Inertia(J=2.0)
            self.housing = rotational.Inertia(J=7.0, **at_rest())
            self.connect(self.signal.y, self.torque.tau)
            self.connect(self.torque.flange, self.motor.flange_a)
            self.connect(self.torque.support, self.housing.flange_a)
            self.connect(self.motor.flange_b, self.gear.flange_a)
            self.connect(self.gear.flange_b, self.load.flange_a)
            self.connect(self.gear.support, self.housing.flange_a)

    result = simulate(Geared(), 2.0, tolerance=1e-11)
    momentum = 0.3 * result["motor.w"] + 2.0 * result["load.w"] + 7.0 * result["housing.w"]
    np.testing.assert_allclose(momentum, 0.0, atol=1e-9)
    assert np.abs(result["housing.w"]).max() > 0.05
    np.testing.assert_allclose(
        result["gear.support.tau"], -result["gear.flange_a.tau"] - result["gear.flange_b.tau"], atol=1e-12
    )
    np.testing.assert_allclose(
        result["motor.w"] - result["housing.w"], 4.0 * (result["load.w"] - result["housing.w"]), atol=1e-12
    )


class Epicyclic(Assembly):
    """Planetary gear with one shaft held, one driven at constant speed and one loaded."""

    def __init__(self, held: str, driven: str, loaded: str, ratio: float) -> None:
        self.planetary = rotational.IdealPlanetary(ratio=ratio)
        self.fixed = rotational.Fixed()
        self.drive = rotational.ConstantSpeed(w_fixed=10.0, phi=Start(0.0, fixed=True))
        self.load = rotational.Inertia(J=0.7)
        self.damper = rotational.Damper(d=0.9)
        self.ground = rotational.Fixed()
        self.connect(self.fixed.flange, getattr(self.planetary, held))
        self.connect(self.drive.flange, getattr(self.planetary, driven))
        self.connect(self.load.flange_a, getattr(self.planetary, loaded))
        self.connect(self.load.flange_b, self.damper.flange_a)
        self.connect(self.damper.flange_b, self.ground.flange)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("held", "driven", "loaded", "quotient"),
    [
        ("ring", "sun", "carrier", lambda i: 1 / (1 + i)),
        ("carrier", "sun", "ring", lambda i: -1 / i),
        ("sun", "ring", "carrier", lambda i: i / (1 + i)),
        ("sun", "carrier", "ring", lambda i: (1 + i) / i),
    ],
)
def test_planetary_speeds_after_willis(held, driven, loaded, quotient):
    ratio = 2.4
    result = simulate(Epicyclic(held, driven, loaded, ratio), 0.5, tolerance=1e-9)
    speed = 10.0 * quotient(ratio)
    np.testing.assert_allclose(result["load.w"], speed, rtol=1e-10)
    sun = result["planetary.sun.tau"]
    np.testing.assert_allclose(result["planetary.ring.tau"], ratio * sun, rtol=1e-10)
    np.testing.assert_allclose(result["planetary.carrier.tau"], -(1 + ratio) * sun, rtol=1e-10)
    np.testing.assert_allclose(result[f"planetary.{loaded}.tau"], -0.9 * speed, rtol=1e-10)


#: Which shafts each of four planetary gears joins, as (sun, carrier, ring), and the gears' ratios.
JOINED = ((0, 1, 2), (0, 3, 4), (1, 3, 5), (2, 4, 5))
RATIOS = (2.0, 1.5, 3.0, 2.5)


class ClosedLoops(Assembly):
    """Six shafts and four planetary gears: three shafts leave one loop to close."""

    def __init__(self) -> None:
        self.shafts = [rotational.Inertia(J=0.1 * (i + 1)) for i in range(6)]
        self.gears = [rotational.IdealPlanetary(ratio=ratio) for ratio in RATIOS]
        self.torques = [rotational.ConstantTorque(tau_constant=0.3 - 0.2 * i) for i in range(6)]
        for shaft, torque in zip(self.shafts, self.torques, strict=True):
            self.connect(torque.flange, shaft.flange_b)
        for gear, joined in zip(self.gears, JOINED, strict=True):
            for connector, i in zip((gear.sun, gear.carrier, gear.ring), joined, strict=True):
                self.connect(connector, self.shafts[i].flange_a)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_planetary_gears_in_closed_loops():
    """Accelerations of the least motion that the gears leave (Gauss's principle, by a null space)."""
    G = np.zeros((4, 6))
    for row, joined, ratio in zip(G, JOINED, RATIOS, strict=True):
        row[list(joined)] = -1.0, 1.0 + ratio, -ratio
    J, tau = np.diag(0.1 * np.arange(1, 7)), 0.3 - 0.2 * np.arange(6)
    free = np.linalg.svd(G)[2][4:].T
    expected = free @ np.linalg.solve(free.T @ J @ free, free.T @ tau)
    system = System.of(ClosedLoops())
    assert system.equations.nl == 1, "three shafts propagate through three gears, the fourth closes a loop"
    result = simulate(system, 1.0, tolerance=1e-9)
    for i in range(6):
        np.testing.assert_allclose(result[f"shafts[{i + 1}].a"], expected[i], rtol=1e-9, atol=1e-9)


class Parallel(Assembly):
    """A gear beside a second path of two gears."""

    def __init__(self, ratio: float) -> None:
        self.torque = rotational.ConstantTorque(tau_constant=1.0)
        self.a = rotational.Inertia(J=1.0, **at_rest())
        self.gear = rotational.IdealGear(ratio=ratio)
        self.first, self.second = rotational.IdealGear(ratio=2.0), rotational.IdealGear(ratio=3.0)
        self.b = rotational.Inertia(J=36.0)
        self.connect(self.torque.flange, self.a.flange_a)
        self.connect(self.a.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.b.flange_a)
        self.connect(self.a.flange_b, self.first.flange_a)
        self.connect(self.first.flange_b, self.second.flange_a)
        self.connect(self.second.flange_b, self.b.flange_a)


def test_parallel_paths_of_one_ratio_share_the_load():
    system = System.of(Parallel(6.0))
    assert any("redundant" in line for line in system.structure)
    np.testing.assert_allclose(simulate(system, 1.0)["a.a"], 0.5, rtol=1e-12)


def test_parallel_paths_of_different_ratios_lock():
    result = simulate(Parallel(5.0), 1.0)
    np.testing.assert_allclose(result["a.phi"], 0.0, atol=1e-12)
    np.testing.assert_allclose(result["a.flange_b.tau"], -1.0, rtol=1e-12)


@pytest.mark.slow
def test_gears_in_a_row_pass_on_their_torques():
    """2 N.m on 1 kg.m2 in front of 36 kg.m2 behind ratios of 2 and 3: 1 rad/s2, and 1 N.m into the first gear."""
    model = Assembly()
    model.torque, model.a = rotational.ConstantTorque(tau_constant=2.0), rotational.Inertia(J=1.0, **at_rest())
    model.second, model.first = rotational.IdealGear(ratio=2.0), rotational.IdealGear(ratio=3.0)  # not in their order
    model.b = rotational.Inertia(J=36.0)
    model.connect(model.torque.flange, model.a.flange_a)
    model.connect(model.a.flange_b, model.second.flange_a)
    model.connect(model.second.flange_b, model.first.flange_a)
    model.connect(model.first.flange_b, model.b.flange_a)
    result = simulate(model, 1.0)
    expected = {
        "a.a": 1.0,
        "second.flange_a.tau": 1.0,
        "second.flange_b.tau": -2.0,
        "first.flange_a.tau": 2.0,
        "first.flange_b.tau": -6.0,
    }
    for name, value in expected.items():
        np.testing.assert_allclose(result[name], value, rtol=1e-12, err_msg=name)


@pytest.mark.slow
def test_a_ratio_of_zero_is_told_as_an_error_of_its_run():
    """And not as an end that the model wants."""
    with pytest.raises(InitializationError, match=r"assertion violated: gear\.ratio = 0: must not be 0"):
        simulate(Parallel(6.0), 1.0, start_values={"gear.ratio": 0.0})


def test_a_rack_carries_a_mass():
    """Torque on a pinion with r = 1/ratio: m s'' = tau ratio - J ratio^2 s''."""
    chain = Chain(
        torque=rotational.ConstantTorque(tau_constant=4.0),
        pinion=rotational.Inertia(J=0.02, **at_rest()),
    )
    chain.rack = rotational.IdealGearR2T(ratio=20.0)
    chain.mass = translational.Mass(m=3.0)
    chain.connect(chain.pinion.flange_b, chain.rack.flangeR)
    chain.connect(chain.rack.flangeT, chain.mass.flange_a)
    result = simulate(chain, 1.0, tolerance=1e-9)
    np.testing.assert_allclose(result["mass.a"], 4.0 * 20 / (3.0 + 0.02 * 400), rtol=1e-12)
    np.testing.assert_allclose(result["pinion.phi"], 20 * result["mass.s"], atol=1e-12)


def test_a_wheel_between_supports_pulls_both():
    """A rolling wheel whose two supports are free: equal and opposite flows at each pair."""

    class Wheel(Assembly):
        def __init__(self) -> None:
            self.wheel = rotational.IdealRollingWheel(radius=0.3, useSupportR=True, useSupportT=True)
            self.shaft, self.frame = rotational.Inertia(J=0.1, **at_rest()), rotational.Inertia(J=0.5, **at_rest())
            self.body = translational.Mass(m=2.0)
            self.ground = translational.Mass(m=6.0, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True))
            self.torque = rotational.ConstantTorque(tau_constant=1.0)
            for a, b in (
                (self.wheel.flangeR, self.shaft.flange_a),
                (self.wheel.supportR, self.frame.flange_a),
                (self.wheel.flangeT, self.body.flange_a),
                (self.wheel.supportT, self.ground.flange_a),
                (self.torque.flange, self.shaft.flange_b),
            ):
                self.connect(a, b)

    result = simulate(Wheel(), 1.0, tolerance=1e-9)
    np.testing.assert_allclose(2.0 * result["body.v"] + 6.0 * result["ground.v"], 0.0, atol=1e-9)
    np.testing.assert_allclose(0.1 * result["shaft.w"] + 0.5 * result["frame.w"], result.time, atol=1e-9)
    rolled = 0.3 * (result["shaft.w"] - result["frame.w"])
    np.testing.assert_allclose(result["body.v"] - result["ground.v"], rolled, atol=1e-9)
    assert rolled[-1] > 0.1


def backlash_torque(twist: float, speed: float, c: float, d: float, b: float) -> float:
    """Contact torque as the library's documentation gives it, in its own words."""
    if twist > b / 2:
        spring, damper = c * (twist - b / 2), d * speed
        return 0.0 if spring + damper <= 0 else spring + min(spring, damper)
    if twist < -b / 2:
        spring, damper = c * (twist + b / 2), d * speed
        return 0.0 if spring + damper >= 0 else spring + max(spring, damper)
    return 0.0


@pytest.mark.slow
@pytest.mark.parametrize("b", [0.1, 0.0])
def test_backlash(b):
    c, d, J = 400.0, 6.0, 0.5
    chain = Chain(
        fixed=rotational.Fixed(),
        backlash=rotational.ElastoBacklash(c=c, d=d, b=b),
        load=rotational.Inertia(J=J, phi=Start(0.2, fixed=True), w=Start(0.0, fixed=True)),
    )
    result = simulate(chain, 2.0, tolerance=1e-10)

    def law(phi, w):
        return backlash_torque(phi, w, c, d, b) if b else c * phi + d * w

    exact = solve_ivp(
        lambda t, y: (y[1], -law(*y) / J),
        (0, 2.0),
        (0.2, 0.0),
        t_eval=result.time,
        rtol=1e-10,
        atol=1e-12,
        max_step=1e-3,
    )
    np.testing.assert_allclose(result["load.phi"], exact.y[0], atol=1e-7)
    expected = [law(*y) for y in zip(result["load.phi"], result["load.w"], strict=True)]
    np.testing.assert_allclose(result["backlash.tau"], expected, atol=1e-6)


def driven(source: Component, signal: Component | None, **inertia: Start) -> Assembly:
    chain = Chain(source=source, load=rotational.Inertia(J=2.0, **inertia))
    if signal is not None:
        chain.signal = signal
        name = next(n for n in ("phi_ref", "w_ref", "a_ref", "tau") if n in source.ports())
        chain.connect(signal.y, getattr(source, name))
    return chain


def test_prescribed_motion_exact():
    omega = 3.0
    wave = {"amplitude": 0.5, "omega": omega, "offset": 0.1}
    position = simulate(driven(rotational.Position(exact=True), Wave(**wave)), 2.0, tolerance=1e-11)
    speed = simulate(driven(rotational.Speed(exact=True), Wave(**wave)), 2.0, tolerance=1e-11)
    acceleration = simulate(driven(rotational.Accelerate(), Wave(**wave)), 2.0, tolerance=1e-11)
    t = position.time
    level, rate = 0.1 + 0.5 * np.sin(omega * t), 0.5 * omega * np.cos(omega * t)
    integral = 0.1 * t + 0.5 / omega * (1 - np.cos(omega * t))
    np.testing.assert_allclose(position["load.phi"], level, atol=1e-12)
    np.testing.assert_allclose(position["source.flange.tau"], 2.0 * 0.5 * omega**2 * np.sin(omega * t), atol=1e-11)
    np.testing.assert_allclose(speed["load.phi"], integral, atol=1e-9)
    np.testing.assert_allclose(speed["load.a"], rate, atol=1e-12)
    np.testing.assert_allclose(acceleration["load.w"], integral, atol=1e-9)
    np.testing.assert_allclose(acceleration["load.a"], level, atol=1e-12)


class Touching(Assembly):
    """A wheel on a spring, phi = sin(t), whose turning point is just beyond a stiff stop."""

    stop_time = 6.0

    def __init__(self, depth: float) -> None:
        self.wheel = rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(1.0, fixed=True))
        self.spring, self.wall = rotational.Spring(c=1.0), rotational.Fixed()
        self.stop = rotational.ElastoBacklash(c=1e5, d=0.0, b=2 * (1 - depth))
        for part in (self.spring, self.stop):
            self.connect(self.wall.flange, part.flange_a)
            self.connect(part.flange_b, self.wheel.flange_a)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("depth", [1e-2, 1e-4])
def test_a_touch_within_one_step_is_seen(depth, tmp_path):
    """phi = sin(t) up to the stop at t1, a contact of (pi - 2 delta) / omega there, 2 t1 to the other stop, ..."""
    limit, omega = 1 - depth, math.sqrt(1.0 + 1e5)
    t1 = math.asin(limit)
    delta = math.atan(limit / omega / math.cos(t1))
    exact = math.sin(6.0 - 4 * t1 - 2 * (math.pi - 2 * delta) / omega)
    path = mbfmu.build(Touching(depth), tmp_path / "Touching.fmu", target="native", equations="interpreted")
    for tolerance, error in ((1e-4, 5e-3), (1e-6, 5e-4), (1e-8, 1e-5)):
        here = simulate(Touching(depth), 6.0, tolerance=tolerance, interval=6.0)["wheel.phi"][-1]
        there = fmpy.simulate_fmu(
            str(path), stop_time=6.0, output_interval=6.0, relative_tolerance=tolerance, output=["wheel.phi"]
        )["wheel.phi"][-1]
        assert here == pytest.approx(exact, abs=error)
        assert there == pytest.approx(exact, abs=error)


def test_speeds_that_change_sign_between_the_ends_of_a_backlash_are_no_events():
    """In the gap nothing limits the damping; rounding errors of a speed at rest would be events without end."""
    chain = Chain(
        fixed=rotational.Fixed(),
        backlash=rotational.ElastoBacklash(c=400.0, d=6.0, b=1.0),
        load=rotational.Inertia(J=1.0, phi=Start(0.2, fixed=True), w=Start(0.0, fixed=True)),
    )
    chain.spring = rotational.Spring(c=100.0)
    chain.connect(chain.fixed.flange, chain.spring.flange_a)
    chain.connect(chain.spring.flange_b, chain.load.flange_a)
    system = mbfmu.System.of(chain)
    one = Run(system.equations, system.variables, events=True)
    one.finish_initialisation()
    one.advance(5.0)
    assert not [text for _, text in one.log if "becomes" in text and "time 0" not in text]


class Rattling(Assembly):
    """Equal wheels that rattle between stops, each on its own: all their switches flip together."""

    stop_time = 2.0

    def __init__(self, n: int) -> None:
        self.wall = rotational.Fixed()
        self.gaps = [rotational.ElastoBacklash(c=1000.0, d=0.5, b=0.2) for _ in range(n)]
        self.wheels = [
            rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(5.0, fixed=True)) for _ in range(n)
        ]
        for gap, wheel in zip(self.gaps, self.wheels, strict=True):
            self.connect(self.wall.flange, gap.flange_a)
            self.connect(gap.flange_b, wheel.flange_a)


@pytest.mark.slow
@pytest.mark.campaign
def test_rattling_is_as_accurate_as_the_tolerance_asks(tmp_path):
    """27 contacts; the damping torque reaches its limits for half a millisecond at both ends of each."""
    steps = [
        solve_ivp(
            lambda t, y: (y[1], -backlash_torque(*y, 1000.0, 0.5, 0.2)),
            (0.0, 2.0),
            (0.0, 5.0),
            "DOP853",
            rtol=1e-12,
            atol=1e-12,
            max_step=longest,
        ).y[0][-1]
        for longest in (5e-4, 2.5e-4)
    ]
    assert steps[0] == pytest.approx(steps[1], abs=1e-7)
    for n in (1, 3):
        path = mbfmu.build(Rattling(n), tmp_path / "Rattling.fmu", target="native", equations="interpreted")
        names = [f"wheels[{i}].phi" for i in range(1, n + 1)]
        for tolerance, error in ((1e-8, 3e-5), (1e-10, 3e-7)):
            here = simulate(Rattling(n), 2.0, tolerance=tolerance, interval=0.01)
            there = fmpy.simulate_fmu(
                str(path), stop_time=2.0, relative_tolerance=tolerance, output_interval=0.01, output=names
            )
            for name in names:
                assert here[name][-1] == pytest.approx(steps[1], abs=error)
                assert there[name][-1] == pytest.approx(steps[1], abs=error)
                np.testing.assert_allclose(there[name], there[names[0]], atol=1e-12)
                np.testing.assert_allclose(here[name], here[names[0]], atol=1e-12)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("with_support", [False, True])
def test_filtered_position_is_a_bessel_filter_of_second_order(with_support):
    """Frequency response of w^2/(0.618 s^2 + 1.3617 w s + w^2), once the start has died down."""
    f_crit, omega = 5.0, 12.0
    source = rotational.Position(f_crit=f_crit, useSupport=with_support)
    chain = driven(source, Wave(omega=omega))
    if with_support:
        chain.housing = rotational.Fixed(phi0=0.25)
        chain.connect(chain.housing.flange, source.support)
    result = simulate(chain, 4.0, tolerance=1e-10)
    s, w = 1j * omega, 2 * math.pi * f_crit
    response = w**2 / (0.6180 * s**2 + 1.3617 * w * s + w**2)
    late = result.time > 2.0
    expected = np.imag(response * np.exp(s * result.time[late])) + (0.25 if with_support else 0.0)
    np.testing.assert_allclose(result["load.phi"][late], expected, atol=1e-8)
    np.testing.assert_allclose(result["source.w"], result["load.w"], atol=1e-12)


def test_filtered_speed_is_a_filter_of_first_order():
    f_crit, omega = 2.0, 8.0
    wave = Wave(omega=omega, offset=0.7)
    result = simulate(driven(rotational.Speed(f_crit=f_crit), wave), 4.0, tolerance=1e-10)
    assert result["load.w"][0] == pytest.approx(0.7, abs=1e-12)
    s, w = 1j * omega, 2 * math.pi * f_crit
    late = result.time > 3.0
    expected = 0.7 + np.imag(w / (s + w) * np.exp(s * result.time[late]))
    np.testing.assert_allclose(result["load.w"][late], expected, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("power", [1, 2])
def test_torque_that_depends_on_speed(power, same):
    """Free decay from positive and negative speed."""
    kind = {1: rotational.LinearSpeedDependentTorque, 2: rotational.QuadraticSpeedDependentTorque}[power]
    for start in (3.0, -3.0):
        source = kind(tau_nominal=-0.5, w_nominal=2.0, TorqueDirection=same)
        load = {"phi": Start(0.0, fixed=True), "w": Start(start, fixed=True)}
        result = simulate(driven(source, None, **load), 1.0, tolerance=1e-9)
        w = result["load.w"] / 2.0
        magnitude = np.abs(w) ** power
        expected = -0.5 * (magnitude if same else np.sign(w) * magnitude)
        np.testing.assert_allclose(2.0 * result["load.a"], expected, rtol=1e-10)
        np.testing.assert_allclose(result["source.tau"], expected, rtol=1e-10)


def test_torque_steps_at_its_instant():
    source = rotational.TorqueStep(stepTorque=4.0, offsetTorque=-1.0, startTime=0.37)
    result = simulate(driven(source, None, **at_rest()), 1.0, tolerance=1e-9)
    late = np.maximum(result.time - 0.37, 0.0)
    np.testing.assert_allclose(result["load.phi"], (-1.0 * result.time**2 + 4.0 * late**2) / 4, atol=1e-9)


def test_sensors_measure_what_passes():
    class Measured(Assembly):
        def __init__(self) -> None:
            self.signal = Wave(amplitude=1.5, omega=4.0, phase=0.2)
            self.source = rotational.Torque2()
            self.a = rotational.Inertia(J=0.5, phi=Start(0.3, fixed=True), w=Start(-0.2, fixed=True))
            self.torque, self.power = rotational.TorqueSensor(), rotational.PowerSensor()
            self.multi = rotational.MultiSensor()
            self.b = rotational.Inertia(J=1.5)
            self.c = rotational.Inertia(J=2.5, **at_rest())
            self.angle, self.speed = rotational.AngleSensor(), rotational.SpeedSensor()
            self.acceleration = rotational.AccSensor()
            self.angles, self.speeds = rotational.RelAngleSensor(), rotational.RelSpeedSensor()
            self.accelerations = rotational.RelAccSensor()
            row = [self.a, self.torque, self.power, self.multi, self.b]
            for left, right in itertools.pairwise(row):
                self.connect(left.flange_b, right.flange_a)
            self.connect(self.signal.y, self.source.tau)
            self.connect(self.source.flange_b, self.a.flange_a)
            self.connect(self.source.flange_a, self.c.flange_a)
            for sensor in (self.angle, self.speed, self.acceleration):
                self.connect(sensor.flange, self.b.flange_b)
            for sensor in (self.angles, self.speeds, self.accelerations):
                self.connect(sensor.flange_a, self.c.flange_b)
                self.connect(sensor.flange_b, self.b.flange_b)

    r = simulate(Measured(), 1.0, tolerance=1e-10)
    tau = 1.5 * np.sin(4.0 * r.time + 0.2)
    np.testing.assert_allclose(r["acceleration.a"], tau / 2.0, atol=1e-12)
    np.testing.assert_allclose(r["torque.tau"], 1.5 * tau / 2.0, atol=1e-12)
    np.testing.assert_allclose(r["multi.tau"], r["torque.tau"], atol=1e-12)
    np.testing.assert_allclose(r["accelerations.a_rel"], tau / 2.0 + tau / 2.5, atol=1e-12)
    speed = -0.2 + 1.5 / 8.0 * (np.cos(0.2) - np.cos(4.0 * r.time + 0.2))
    np.testing.assert_allclose(r["speed.w"], speed, atol=1e-9)
    np.testing.assert_allclose(r["multi.w"], speed, atol=1e-9)
    np.testing.assert_allclose(r["power.power"], r["torque.tau"] * speed, atol=1e-9)
    np.testing.assert_allclose(r["multi.power"], r["power.power"], atol=1e-12)
    np.testing.assert_allclose(r["angle.phi"], r["b.phi"], atol=1e-12)
    np.testing.assert_allclose(r["angles.phi_rel"], r["b.phi"] - r["c.phi"], atol=1e-12)
    np.testing.assert_allclose(r["speeds.w_rel"], r["b.w"] - r["c.w"], atol=1e-12)
    np.testing.assert_allclose(0.5 * r["a.w"] + 1.5 * r["b.w"] + 2.5 * r["c.w"], -0.4, atol=1e-9)


def test_start_values_of_a_relative_angle():
    chain = Chain(
        a=rotational.Inertia(J=1.0, phi=Start(0.4, fixed=True), w=Start(1.0, fixed=True)),
        spring=rotational.SpringDamper(c=10.0, d=1.0, phi_rel=Start(0.3, fixed=True), w_rel=Start(-2.0, fixed=True)),
        b=rotational.Inertia(J=1.0),
    )
    result = simulate(chain, 0.1)
    assert result["b.phi"][0] == pytest.approx(0.7, abs=1e-12)
    assert result["b.w"][0] == pytest.approx(-1.0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_the_energy_balance_closes():
    class Everything(Assembly):
        def __init__(self) -> None:
            self.signal = Wave(amplitude=3.0, omega=2.0)
            self.position = rotational.Position(f_crit=4.0)
            self.a = rotational.Inertia(J=0.4)
            self.coupling = rotational.SpringDamper(c=30.0, d=0.5)
            self.gear = rotational.IdealGear(ratio=2.0)
            self.b = rotational.Inertia(J=1.2, **at_rest())
            self.backlash = rotational.ElastoBacklash(c=200.0, d=3.0, b=0.05)
            self.c = rotational.Inertia(J=0.6, **at_rest())
            self.rack = rotational.IdealGearR2T(ratio=5.0)
            self.mass = translational.Mass(m=1.0)
            self.spring = translational.SpringDamper(c=4.0, d=0.3)
            self.wall = translational.Fixed()
            self.connect(self.signal.y, self.position.phi_ref)
            self.connect(self.position.flange, self.a.flange_a)
            row = [self.a, self.coupling, self.gear, self.b, self.backlash, self.c]
            for left, right in itertools.pairwise(row):
                self.connect(left.flange_b, right.flange_a)
            self.connect(self.c.flange_b, self.rack.flangeR)
            self.connect(self.rack.flangeT, self.mass.flange_a)
            self.connect(self.mass.flange_b, self.spring.flange_a)
            self.connect(self.spring.flange_b, self.wall.flange)

    result = simulate(System.of(Everything(), energy=True), 4.0, tolerance=1e-10)
    np.testing.assert_allclose(result["energy.balanceError"], 0.0, atol=1e-9)
    out = result["energy.outflow"]
    work = np.concatenate([[0.0], np.cumsum((out[1:] + out[:-1]) / 2 * np.diff(result.time))])
    total = result["energy.total"]
    assert np.ptp(total) > 1.0
    np.testing.assert_allclose(total - total[0], -work, atol=2e-3 * np.ptp(total))


class Mistake(Assembly):
    """An inertia on a gear, each as given."""

    def __init__(self, gear: Component, flange: str) -> None:
        self.gear = gear
        self.inertia = rotational.Inertia(J=1.0)
        self.connect(self.inertia.flange_a, getattr(gear, flange))


@pytest.mark.parametrize(
    ("gear", "flange", "message"),
    [
        (lambda: rotational.IdealGear(ratio=2.0, useSupport=True), "flange_a", r"gear\.support.*not connected"),
        (
            lambda: rotational.IdealRollingWheel(radius=1.0, useSupportT=True),
            "flangeR",
            r"gear\.supportT.*not conn",
        ),
        (lambda: rotational.ConstantTorque(tau_constant=1.0, useSupport=True), "flange", r"gear\.support.*not conn"),
        (
            lambda: rotational.Damper(d=1.0, useHeatPort=True),
            "flange_a",
            r"gear\.heatPort.*not connected; connect it, or switch it off",
        ),
    ],
)
def test_mistakes_are_named(gear, flange, message):
    with pytest.raises(ModelError, match=message):
        System.of(Mistake(gear(), flange))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rotational.IdealGear(), "ratio"),
        (lambda: rotational.IdealGear(ratio=0.0), "ratio = 0.*must not be 0"),
        (lambda: rotational.IdealPlanetary(ratio=0.0), "ratio = 0.*must not be 0"),
        (lambda: rotational.IdealGearR2T(ratio=0.0), "ratio = 0.*must not be 0"),
        (lambda: rotational.IdealRollingWheel(radius=0.0), "radius = 0.*must not be 0"),
        (lambda: rotational.Inertia(J=-1.0), r"J = -1.*must be >= 0"),
        (lambda: rotational.ElastoBacklash(c=0.0), "c = 0.*must be"),
        (lambda: rotational.Position(f_crit=0.0), "f_crit = 0.*must be"),
        (lambda: rotational.QuadraticSpeedDependentTorque(tau_nominal=1.0, w_nominal=0.0), "w_nominal = 0.*must be"),
    ],
)
def test_impossible_parameters_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_an_input_that_would_have_to_be_differentiated_is_named():
    chain = Chain(source=rotational.Position(exact=True), load=rotational.Inertia(J=1.0))
    chain.input(chain.source.phi_ref)
    with pytest.raises(ModelError, match=r"derivative of an FMU input; give .* exact=False.*filter"):
        System.of(chain)


def test_move_takes_speed_and_acceleration_from_its_signals():
    """The signals contradict one another on purpose: none of them is differentiated."""
    result = run(
        "signals.y - move.u",
        "move.flange - inertia.flange_a",
        signals=blocks.Constant(k=(0.5, 2.0, 3.0)),
        move=rotational.Move(),
        inertia=rotational.Inertia(J=4.0),
    )
    expected = {"inertia.phi": 0.5, "inertia.w": 2.0, "inertia.a": 3.0, "move.w": 2.0, "move.flange.tau": -12.0}
    for name, value in expected.items():
        np.testing.assert_allclose(result[name], value, rtol=1e-12, err_msg=name)
