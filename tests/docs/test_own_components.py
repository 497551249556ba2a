"""docs/own-components.md: its package, installed, in FMUs of both targets that move as the page's formulas say."""

from __future__ import annotations

import inspect
import os
import pathlib
import subprocess
import sys

import fmpy
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve
from scipy.special import ellipj

from mbfmu.components import Body, FixedTranslation, PointMass, Prismatic, Revolute, World, blocks, rotational
from mbfmu.export.build import build
from mbfmu.export.options import TARGETS
from mbfmu.modeling import Assembly, Start

#: Most lines that a component of the page may take, without imports.
FEW = 20

AT_REST = {"s": Start(0.0, fixed=True), "v": Start(0.0, fixed=True)}


@pytest.fixture(params=TARGETS)
def run(request: pytest.FixtureRequest, tmp_path: pathlib.Path):
    """Return a function that builds an FMU, runs it in FMPy and returns its outputs."""

    def simulated(assembly: Assembly, stop: float, points: int = 50) -> np.ndarray:
        file = build(assembly, tmp_path / "example.fmu", target=request.param, equations="interpreted")
        return fmpy.simulate_fmu(str(file), stop_time=stop, output_interval=stop / points, relative_tolerance=1e-8)

    return simulated


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_every_component_is_short():
    import workshop

    for name in workshop.__all__:
        body = inspect.getsource(getattr(workshop, name))
        assert len([line for line in body.splitlines() if line.strip()]) < FEW, name


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_the_spring_swings_as_an_elliptic_function(run):
    from workshop import HardeningSpring

    m, c, c3, far = 2.0, 8.0, 50.0, 0.6

    class Oscillator(Assembly):
        def __init__(self):
            self.world = World(gravityType="NoGravity")
            self.slide = Prismatic(s=Start(1 + far, fixed=True), v=Start(0.0, fixed=True))
            self.mass, self.spring = PointMass(m=m), HardeningSpring(c=c, c3=c3, s_unstretched=1.0)
            self.connect(self.world.frame_b, self.slide.frame_a)
            self.connect(self.slide.frame_b, self.mass.frame_a)
            self.connect(self.world.frame_b, self.spring.frame_a)
            self.connect(self.spring.frame_b, self.mass.frame_a)
            self.output(self.slide.s)

    result = run(Oscillator(), 5.0)
    p2 = (c + c3 * far**2) / m
    cn = ellipj(np.sqrt(p2) * result["time"], c3 * far**2 / (2 * m * p2))[1]
    np.testing.assert_allclose(result["slide.s"], 1 + far * cn, atol=2e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_drag_leads_to_the_terminal_speed(run):
    from workshop import Drag

    m, d, g = 0.5, 2.0, 9.81

    class Falling(Assembly):
        def __init__(self):
            self.world = World(g=g)
            self.slide, self.mass, self.drag = Prismatic(n=(0, -1, 0), **AT_REST), PointMass(m=m), Drag(d=d)
            self.connect(self.world.frame_b, self.slide.frame_a)
            self.connect(self.slide.frame_b, self.mass.frame_a)
            self.connect(self.world.frame_b, self.drag.frame_a)
            self.connect(self.mass.frame_a, self.drag.frame_b)
            self.output(self.slide.v)

    result = run(Falling(), 1.0)
    np.testing.assert_allclose(result["slide.v"], m * g / d * (1 - np.exp(-d / m * result["time"])), atol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_the_accelerometer_feels_turn_and_gravity(run):
    from workshop import Accelerometer

    w, r, g = 4.0, 0.3, 9.81

    class Carousel(Assembly):
        def __init__(self):
            self.world = World(g=g)
            self.hinge = Revolute(n=(0, 1, 0), phi=Start(0.0, fixed=True), w=Start(w, fixed=True))
            self.arm, self.body = FixedTranslation(r=(r, 0, 0)), Body(m=1.0, r_CM=(0, 0, 0))
            self.sensor = Accelerometer()
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.arm.frame_a)
            self.connect(self.arm.frame_b, self.body.frame_a)
            self.connect(self.arm.frame_b, self.sensor.frame_a)
            self.output(self.sensor.y)

    result = run(Carousel(), 1.0)
    for i, value in enumerate((-(w**2) * r, g, 0.0)):
        np.testing.assert_allclose(result[f"sensor.y[{i + 1}]"], value, atol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_the_geared_motor_accelerates_load_and_rotor(run):
    from workshop import GearedMotor

    J, ratio, load, torque = 2e-3, 7.0, 0.4, 0.05

    class Drive(Assembly):
        def __init__(self):
            self.motor = GearedMotor(J=J, ratio=ratio)
            self.load = rotational.Inertia(J=load, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
            self.connect(self.motor.flange, self.load.flange_a)
            self.input(self.motor.tau, start=torque)
            self.output(self.load.w)

    result = run(Drive(), 2.0)
    np.testing.assert_allclose(
        result["load.w"], ratio * torque / (load + ratio**2 * J) * result["time"], rtol=1e-6, atol=1e-9
    )


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_the_relay_swings_with_the_period_of_the_page(run):
    from workshop import Relay

    band, k = 0.2, 3.0

    class Level(Assembly):
        def __init__(self):
            self.relay, self.level = Relay(band=band), blocks.Integrator(k=k, y=Start(0.0, fixed=True))
            self.connect(self.relay.y, self.level.u)
            self.connect(self.level.y, self.relay.u)
            self.output(self.level.y)

    result = run(Level(), 1.0, points=100)
    phase = (k * result["time"] / band + 1) % 4 - 2  # off at the start, so x falls first
    np.testing.assert_allclose(result["level.y"], band * (np.abs(phase) - 1), atol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_the_digital_controller_follows_its_recurrence(run):
    from workshop import DigitalPI

    k, T, period, reference = 3.0, 0.5, 0.1, 2.0

    class Loop(Assembly):
        def __init__(self):
            self.control, self.plant = DigitalPI(k=k, T=T, period=period), blocks.Integrator()
            self.set_point, self.error = blocks.Constant(k=reference), blocks.Feedback()
            self.connect(self.set_point.y, self.error.u1)
            self.connect(self.plant.y, self.error.u2)
            self.connect(self.error.y, self.control.u)
            self.connect(self.control.y, self.plant.u)
            self.output(self.plant.y)
            self.output(self.control.y)

    result = run(Loop(), 2.0, points=40)
    x, integral, xs, ys = 0.0, 0.0, [], []
    for _ in range(21):
        error = reference - x
        integral += k * period / T * error
        xs.append(x)
        ys.append(k * error + integral)
        x += period * ys[-1]
    n = np.floor(result["time"] / period + 1e-9).astype(int)
    np.testing.assert_allclose(result["control.y"], np.array(ys)[n], atol=1e-9)
    np.testing.assert_allclose(
        result["plant.y"], np.array(xs)[n] + np.array(ys)[n] * (result["time"] - n * period), atol=1e-9
    )


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_the_belt_carries_a_sine_to_its_end(run):
    from workshop import Belt

    class Conveyor(Assembly):
        def __init__(self):
            self.belt, self.speed = Belt(L=2.0), blocks.Constant(k=1.6)
            self.flow = blocks.Sine(f=1 / (2 * np.pi))
            self.connect(self.speed.y, self.belt.v)
            self.connect(self.flow.y, self.belt.flow)
            self.output(self.belt.arriving, "arriving")

    result = run(Conveyor(), 5.0)
    np.testing.assert_allclose(result["arriving"], np.sin(np.maximum(result["time"] - 2.0 / 1.6, 0)), atol=1e-7)


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_a_tank_empties_as_torricelli_says(run):
    from workshop import Orifice, Tank

    class Emptying(Assembly):
        def __init__(self):
            self.tank, self.air = Tank(A=0.5, h=Start(2.0, fixed=True)), Tank(A=1e6, h=Start(0.0, fixed=True))
            self.orifice = Orifice(A=1e-3)
            self.connect(self.tank.port, self.orifice.port_a)
            self.connect(self.orifice.port_b, self.air.port)
            self.output(self.tank.h, "h")

    result = run(Emptying(), 300.0)
    root = np.sqrt(2.0) - 0.6 * 1e-3 / 0.5 * np.sqrt(9.81 / 2) * result["time"]
    np.testing.assert_allclose(result["h"], root**2, atol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("workshop")
def test_a_pump_lifts_through_orifices_in_a_row(run):
    """A buffer behind the pump, then two orifices with nothing between: flows and pressures on flat equations."""
    from workshop import Orifice, Pump, Tank, Volume

    dp_max, q_max, areas, K = 8e4, 2e-3, (1e-4, 2e-4), 0.6 * np.sqrt(2 / 1000)

    class Lifting(Assembly):
        def __init__(self):
            self.low, self.high = Tank(A=2.0, h=Start(1.0, fixed=True)), Tank(A=0.02, h=Start(0.5, fixed=True))
            self.pump, self.buffer = Pump(dp_max=dp_max, q_max=q_max), Volume(V=0.1, K=1e6, p=Start(0.0, fixed=True))
            self.intake, self.first, self.second = Orifice(A=3e-4), Orifice(A=areas[0]), Orifice(A=areas[1])
            self.connect(self.low.port, self.intake.port_a)
            self.connect(self.intake.port_b, self.pump.port_a)
            self.connect(self.pump.port_b, self.buffer.port)
            self.connect(self.buffer.port, self.first.port_a)
            self.connect(self.first.port_b, self.second.port_a)
            self.connect(self.second.port_b, self.high.port)
            for value, name in ((self.high.h, "h"), (self.buffer.p, "p"), (self.pump.q, "q")):
                self.output(value, name)

    def flow(area, dp):
        return K * area * dp / (dp**2 + 100.0) ** 0.25

    guess = np.array([5e3, 1e3, 1e-3])

    def solved(x):
        low, high, p = 9810 * x[0], 9810 * x[1], x[2]

        def gaps(s):
            inlet, middle, q = 1e4 * s[0], 1e4 * s[1], 1e-3 * s[2]
            return (
                1e3 * (flow(3e-4, low - inlet) - q),
                (p - inlet - dp_max * (1 - q * abs(q) / q_max**2)) / 1e4,
                1e3 * (flow(areas[0], p - middle) - flow(areas[1], middle - high)),
            )

        inlet, middle, q = fsolve(gaps, guess / (1e4, 1e4, 1e-3), xtol=1e-11) * (1e4, 1e4, 1e-3)
        guess[:] = inlet, middle, q
        return q, flow(areas[0], p - middle)

    def rates(_, x):
        pumped, lifted = solved(x)
        return [-pumped / 2.0, lifted / 0.02, 1e6 / 0.1 * (pumped - lifted)]

    result = run(Lifting(), 60.0)
    wanted = solve_ivp(rates, (0, 60), [1.0, 0.5, 0.0], "LSODA", t_eval=result["time"], rtol=1e-10, atol=1e-12).y
    np.testing.assert_allclose(result["h"], wanted[1], atol=1e-6)
    np.testing.assert_allclose(result["p"], wanted[2], atol=0.2)
    assert np.ptp(wanted[1]) > 1.0


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("target", TARGETS)
def test_an_assembly_file_finds_the_package_by_its_entry_point(workshop: pathlib.Path, tmp_path: pathlib.Path, target):
    installed = next(path for path in sys.path if pathlib.Path(path, "workshop").is_dir())
    environment = os.environ | {"PYTHONPATH": installed}

    def mbfmu(*arguments: str) -> str:
        command = [sys.executable, "-m", "mbfmu", *arguments]
        return subprocess.run(command, env=environment, cwd=workshop, capture_output=True, text=True, check=True).stdout

    assert "Screw joint" in mbfmu("list", "Screw")
    file = tmp_path / "jack.fmu"
    mbfmu("build", "jack.toml", "-o", str(file), "--target", target)
    result = fmpy.simulate_fmu(str(file), stop_time=1.0, output_interval=0.1)
    m, J, g, h = 2.0, 1e-3, 9.80665, 0.02 / (2 * np.pi)
    np.testing.assert_allclose(result["screw.w"], -m * g * h / (J + m * h**2) * result["time"], rtol=1e-6, atol=1e-9)
