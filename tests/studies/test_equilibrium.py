"""Rest positions against statics on paper."""

from __future__ import annotations

import dataclasses
import json

import fmpy
import numpy as np
import pytest
import scipy.optimize
from mechanisms import CartPole, Chain, G, Governor, Suspension

import mbfmu
from mbfmu import Start, cli
from mbfmu.components import (
    Body,
    Fixed,
    FixedTranslation,
    Revolute,
    RollingWheel,
    World,
    blocks,
    forces,
    rotational,
    thermal,
)
from mbfmu.errors import ModelError, SimulationError
from mbfmu.fmus.furuta_pendulum import FurutaPendulum
from mbfmu.fmus.pendulum import Pendulum
from mbfmu.fmus.vehicle import Vehicle
from mbfmu.studies import operating
from mbfmu.studies.equilibrium import _stability
from problems.bicycle import Bicycle


@pytest.mark.slow
def test_a_hanging_chain():
    links, length, span = 6, 0.25, 1.0
    middle = np.arange(links) - (links - 1) / 2
    # the horizontal force is the same in all links, the vertical one changes by a weight at each joint
    steepness = scipy.optimize.brentq(lambda k: length * (1 / np.hypot(1, k * middle)).sum() - span, 1e-3, 100)
    rest = mbfmu.equilibrium(mbfmu.System.of(Chain(links, length, span)), stable=True)
    angles = np.cumsum([rest[f"joints[{i + 1}].phi"] for i in range(links)])
    np.testing.assert_allclose(np.tan(angles), steepness * middle, atol=1e-8)
    assert rest.stability == "marginal"


@pytest.mark.slow
def test_a_loaded_suspension_stays_where_it_rests():
    system = mbfmu.System.of(Suspension())
    rest = mbfmu.equilibrium(system, start_values={"load": -600.0})
    assert rest["wheel.s"] == pytest.approx(-600.0 / 180000, rel=1e-9)
    assert rest["body.s"] == pytest.approx(-600.0 / 180000 - 600.0 / 20000, rel=1e-9)
    assert rest.stability == "stable"
    run = mbfmu.simulate(system, 10.0, start_values={**rest.start_values, "load": -600.0})
    for name in ("body.s", "wheel.s"):
        assert np.ptp(run[name]) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shaft.w", "hub.w_a[2]"])
def test_a_governor_at_its_speed(name):
    """Which goes by any of its names."""
    length, speed = 0.5, 7.0
    found = mbfmu.equilibrium(Governor(length), speeds={name: speed}, stable=True)
    assert np.cos(found["arm.phi"]) == pytest.approx(G / (speed**2 * length), rel=1e-9)
    assert found["shaft.w"] == pytest.approx(speed)


@pytest.mark.slow
def test_a_bicycle_at_constant_speed():
    """What counts turns of wheels goes on; it is no unknown that could be turned until it stops."""
    found = mbfmu.equilibrium(Bicycle(5.0, enforceStates=True), speeds={"front_axle.w": -5.0 / 0.35}, starts=1)
    assert found["frame.v_0[1]"] == pytest.approx(5.0)
    assert [found["rear.angles[3]"], found["head.phi"]] == pytest.approx([0.0, 0.0])
    moving = found.eigenvalues[np.abs(found.eigenvalues) > 1e-3]
    wanted = np.linalg.eigvals(Bicycle.equation(5.0))
    np.testing.assert_allclose(np.sort_complex(moving), np.sort_complex(wanted), rtol=1e-8)
    assert found.stability == "indifferent"


class MeasuredShaft(mbfmu.Assembly):
    """A shaft against a damper that warms a cooled store; its speed is filtered, and summed up."""

    def __init__(self):
        self.shaft = rotational.Inertia(J=1.0)
        self.drive = rotational.ConstantTorque(tau_constant=14.0)
        self.damper, self.wall = rotational.Damper(d=2.0, useHeatPort=True), rotational.Fixed()
        self.sensor, self.filter, self.sum = rotational.SpeedSensor(), blocks.FirstOrder(T=0.5), blocks.Integrator()
        self.store, self.air = thermal.HeatCapacitor(C=10.0, T=Start(300.0)), thermal.FixedTemperature(T=290.0)
        self.cooling = thermal.ThermalConductor(G=0.5)
        self.connect(self.wall.flange, self.damper.flange_a)
        self.connect(self.damper.flange_b, self.shaft.flange_a)
        self.connect(self.drive.flange, self.shaft.flange_b)
        self.connect(self.shaft.flange_b, self.sensor.flange)
        self.connect(self.sensor.w, self.filter.u)
        self.connect(self.sensor.w, self.sum.u)
        self.connect(self.damper.heatPort, self.store.port)
        self.connect(self.store.port, self.cooling.port_a)
        self.connect(self.cooling.port_b, self.air.port)


@pytest.mark.slow
def test_of_a_steady_motion_all_rests_but_what_only_counts():
    found = mbfmu.equilibrium(MeasuredShaft(), speeds={"damper.w_rel": 7.0})
    assert found["filter.y"] == pytest.approx(7.0)
    assert found["store.T"] == pytest.approx(290.0 + 2.0 * 7.0**2 / 0.5)


class LeaningWheel(mbfmu.Assembly):
    """A wheel stands still, leaning on two springs beside its rim."""

    def __init__(self, radius=0.3, mass=2.0):
        self.world = World(n=(0, 0, -1))
        self.wheel = RollingWheel(
            wheelRadius=radius, wheelMass=mass, wheel_I_axis=0.12, wheel_I_long=0.06, angles=Start((0.1, 0, 0.3))
        )
        self.top = FixedTranslation(r=(0, 0, radius))
        self.walls = [Fixed(r=(0.4 * side, 0.1, 0.5)) for side in (-1, 1)]
        self.springs = [forces.Spring(c=100.0, s_unstretched=0.3) for _ in self.walls]
        self.connect(self.wheel.frame_a, self.top.frame_a)
        for wall, spring in zip(self.walls, self.springs, strict=True):
            self.connect(wall.frame_b, spring.frame_a)
            self.connect(spring.frame_b, self.top.frame_b)


@pytest.mark.slow
def test_angles_of_a_wheel_are_those_of_the_orientation_in_which_it_rests():
    system = mbfmu.System.of(LeaningWheel())
    rest = mbfmu.equilibrium(system)
    lean = rest["wheel.angles[3]"]
    assert rest["top.frame_b.r_0[3]"] == pytest.approx(2 * 0.3 * np.cos(lean))
    assert abs(lean - 0.3) > 0.01
    run = mbfmu.simulate(system, 0.1, start_values=rest.start_values)
    assert np.abs(run["top.frame_b.r_0"] - run["top.frame_b.r_0"][0]).max() < 1e-9
    assert run["top.frame_b.r_0[3]"][0] == pytest.approx(rest["top.frame_b.r_0[3]"])


@pytest.mark.slow
@pytest.mark.campaign
def test_a_car_at_constant_speed():
    system = mbfmu.System.of(Vehicle())
    with pytest.raises(ModelError, match="a source moves or pushes it over time, and at 0 s it is under way"):
        mbfmu.equilibrium(system, starts=1)
    still = {"turn.amplitude": 0.0, "torque": 0.0}
    assert mbfmu.equilibrium(system, start_values=still).stability == "indifferent"
    with pytest.raises(ModelError, match=r"'rear\.der_theta[12]' still changes by .*inputs, hold a coordinate"):
        mbfmu.equilibrium(system, start_values={"turn.amplitude": 0.0}, starts=1)  # its engine pushes
    straight = mbfmu.equilibrium(system, start_values=still, speeds={"rear.der_theta1": 20.0})
    assert straight["front.der_theta2"] == pytest.approx(20.0)
    # in a curve all wheels turn about one centre, which lies on the line of the rear axle
    steer, radius, width, base = 0.2, 0.3, 1.2, 2.0
    curve = mbfmu.equilibrium(system, start_values={**still, "turn.offset": steer}, speeds={"rear.der_theta1": 20.0})
    rear, front = base / np.tan(steer), base / np.sin(steer)
    turning = 20.0 * radius / (rear - width / 2)
    wheels = [rear - width / 2, rear + width / 2, front - width / 2, front + width / 2]
    found = [curve[f"{axle}.der_theta{i}"] for axle in ("rear", "front") for i in (1, 2)]
    np.testing.assert_allclose(found, turning * np.array(wheels) / radius, rtol=1e-9)
    assert curve.residual < 1e-9
    assert curve.stability == "undetermined"


@pytest.mark.slow
def test_what_is_indifferent_is_named():
    rest = mbfmu.equilibrium(CartPole(), start_values={"hinge.phi": 0.6})
    assert rest.indifferent == (("slide.s",),)
    assert rest.stability == "indifferent"
    assert np.sin(rest["hinge.phi"]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.slow
def test_an_unstable_rest_is_told_as_such():
    assert mbfmu.equilibrium(FurutaPendulum()).stability == "unstable"
    assert np.cos(mbfmu.equilibrium(CartPole(phi=3.1))["hinge.phi"]) == pytest.approx(-1.0)
    assert np.cos(mbfmu.equilibrium(CartPole(phi=3.1), stable=True)["hinge.phi"]) == pytest.approx(1.0)


@pytest.mark.slow
def test_a_held_coordinate_stays():
    rest = mbfmu.equilibrium(CartPole(), start_values={"force": 5.0}, hold=["slide.s"])
    assert rest["slide.s"] == pytest.approx(0.3)
    with pytest.raises(ModelError, match=r"from 2 starts: 'slide.v' still changes by .* hold a coordinate"):
        mbfmu.equilibrium(CartPole(), start_values={"force": 5.0}, starts=2)
    with pytest.raises(ModelError, match=r"'force' is not among its coordinates: slide.s, hinge.phi"):
        mbfmu.equilibrium(CartPole(), hold=["force"])


class Driven(mbfmu.Assembly):
    """A pendulum of 1 kg and 0.5 m, at rest along x where its angle is 0, that a torque holds."""

    def __init__(self, phi=0.1):
        self.world = World()
        self.joint = Revolute(useAxisFlange=True, phi=Start(phi, fixed=True), w=Start(0.0, fixed=True))
        self.body = Body(m=1.0, r_CM=(0.5, 0, 0))
        self.drive = rotational.Torque(useSupport=True)
        self.connect(self.world.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.body.frame_a)
        self.connect(self.drive.flange, self.joint.axis)
        self.connect(self.drive.support, self.joint.support)
        self.input(self.drive.tau, "torque")


@pytest.mark.slow
def test_a_system_that_starts_at_a_rest_keeps_its_inputs():
    """Of the torque m g l cos(phi) = 2 N.m; without its start values the rest is told not to be where runs begin."""
    system = mbfmu.System.of(Driven())
    rest = mbfmu.equilibrium(system, start_values={"torque": 2.0}, stable=True)
    angle = -np.arccos(2.0 / (G * 0.5))
    assert np.cos(rest["joint.phi"]) == pytest.approx(np.cos(angle), rel=1e-9)
    assert np.sin(rest["joint.phi"]) == pytest.approx(np.sin(angle), rel=1e-9)
    starting = rest.starting(system)
    (torque,) = (v for v in starting.variables if v.name == "torque")
    assert torque.start == 2.0
    run = mbfmu.simulate(starting, 1.0)
    assert np.ptp(run["joint.phi"]) < 1e-8
    assert np.sin(run["joint.phi"][0]) == pytest.approx(np.sin(angle), rel=1e-9)
    lost = dataclasses.replace(rest, start_values={})
    with pytest.raises(
        ModelError, match=r"Driven: start values do not lead to the rest .*; joint\.phi would start els"
    ):
        lost.starting(system)


@pytest.mark.slow
def test_rests_that_are_all_unstable_are_told():
    """Upright, from the one start that is tried."""
    system = mbfmu.System.of(Driven(phi=np.pi / 2))
    assert mbfmu.equilibrium(system, starts=1).stability == "unstable"
    with pytest.raises(ModelError, match=r"^Driven: every rest that was found from 1 starts is unstable"):
        mbfmu.equilibrium(system, starts=1, stable=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("Mechanics.project", None, "from 5 starts: no consistent position was found; give other start values"),
        ("Mechanics.modes", SimulationError("switches"), "from 5 starts: no consistent position was found; give other"),
        ("derivatives", SimulationError("singular"), "from 5 starts: no consistent position was found; give other"),
        ("reduce", SimulationError("no rank"), "from 1 starts: no consistent position was found; give other"),
    ],
    ids=["no position", "no modes", "no derivatives", "no start"],
)
def test_where_no_start_leads_anywhere_that_is_told(monkeypatch, what, error, message):
    def fails(*_):
        if error is not None:
            raise error

    system = mbfmu.System.of(Driven())
    monkeypatch.setattr(f"mbfmu.studies.operating.{what}", fails)
    with pytest.raises(ModelError, match=rf"^Driven: no rest was found {message}"):
        mbfmu.equilibrium(system, starts=5)


@pytest.mark.slow
@pytest.mark.parametrize("failing", ["reduce", "Mechanics.project"])
def test_a_search_goes_round_what_it_cannot_do(monkeypatch, failing):
    """Of the 1.47 to the rest no more than 0.4 at once: steps become shorter."""
    owner = operating.Mechanics if "." in failing else operating
    name = failing.rpartition(".")[2]
    original, last, refused = getattr(owner, name), [0.1], []

    def near(*given):
        phi = given[2][0]
        if abs(phi - last[0]) > 0.4:
            refused.append(phi)
            if failing == "reduce":
                raise SimulationError("too far")
            return None
        if failing == "reduce":
            last[0] = phi
        found = original(*given)
        if failing != "reduce":
            last[0] = found[0]
        return found

    system = mbfmu.System.of(Driven())
    monkeypatch.setattr(owner, name, near)
    rest = mbfmu.equilibrium(system, starts=1)
    assert refused
    assert np.cos(rest["joint.phi"]) == pytest.approx(0.0, abs=1e-9)
    assert rest.starts == 1


@pytest.mark.slow
def test_a_source_that_is_under_way_is_told():
    """A constant one pushes, and is no reason."""
    for frequency, words in ((0.5, "a source moves or pushes it over time, and at 0 s"), (0.0, "give other start")):
        model = Driven()
        model.sine = blocks.Sine(amplitude=3.0, f=frequency, phase=1.2, offset=9.0)
        model.motor = rotational.Torque()
        model.connect(model.sine.y, model.motor.tau)
        model.connect(model.motor.flange, model.joint.axis)
        with pytest.raises(ModelError, match=rf"'joint\.w' still changes by .*; {words}"):
            mbfmu.equilibrium(model, starts=1)


class Spun(mbfmu.Assembly):
    """A disc that turns about y in a frame, which a spring holds that turns about x; nothing is heavy."""

    def __init__(self, I_33):
        self.world = World(g=0.0)
        self.hinge = Revolute(useAxisFlange=True, n=(1, 0, 0), phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.spring, self.wall = rotational.Spring(c=3.0), rotational.Fixed()
        self.spin = Revolute(n=(0, 1, 0), phi=Start(0.4, fixed=True), w=Start(5.0, fixed=True))
        self.disc = Body(m=1.0, r_CM=(0, 0, 0), I_11=0.3, I_22=0.5, I_33=I_33)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.spin.frame_a)
        self.connect(self.spin.frame_b, self.disc.frame_a)
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.hinge.axis)


@pytest.mark.slow
def test_a_steady_motion_along_which_the_linear_model_changes_is_of_no_known_stability():
    """The frame's inertia is 0.3 cos2 + 0.45 sin2 of the angle, which goes on; of a round disc it stays 0.3."""
    assert mbfmu.equilibrium(Spun(0.45), speeds={"spin.w": 5.0}).stability == "undetermined"
    steady = mbfmu.equilibrium(Spun(0.3), speeds={"spin.w": 5.0})
    assert steady.stability == "indifferent"
    assert sorted(steady.eigenvalues.imag) == pytest.approx([-np.sqrt(10.0), 0.0, np.sqrt(10.0)])
    assert (steady["spin.w"], steady["spin.phi"], steady.starts) == (5.0, 0.4, 1)


@pytest.mark.parametrize(
    ("values", "indifferent", "stability"),
    [
        ([], True, "stable"),
        ([-1.0, -2.0 + 3.0j, -2.0 - 3.0j], False, "stable"),
        ([-1.0, -2.0], True, "indifferent"),
        ([-1.0, 2e-6], True, "unstable"),
        ([-1.0, 9e-7], False, "indifferent"),
        ([-1.0, -9e-7], False, "indifferent"),
        ([-1.0, 1e-7 + 1e-3j, 1e-7 - 1e-3j], False, "marginal"),
        ([3000.0j, -3000.0j], False, "marginal"),
        ([-1e-10 + 1j, -1e-10 - 1j], False, "marginal"),
        ([-1e-7 + 1j, -1e-7 - 1j], False, "stable"),
        ([2e-3 + 1j, -4000.0], False, "marginal"),
        ([5e-3 + 1j, -4000.0], False, "unstable"),
    ],
)
def test_stability_is_that_of_eigenvalues_beside_the_largest(values, indifferent, stability):
    """Beside 1/s where all are smaller; those of a double zero are known to half the digits."""
    assert _stability(np.array(values), indifferent) == stability


@pytest.mark.slow
@pytest.mark.parametrize("name", ["joint.phi", "drive.phi", "joint.axis.phi"])
def test_a_coordinate_is_held_by_any_of_its_names(name):
    rest = mbfmu.equilibrium(Driven(), hold=[name])
    assert rest["joint.phi"] == pytest.approx(0.1)
    assert rest.stability == "stable"


@pytest.mark.slow
def test_an_fmu_that_starts_at_rest(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--start", "equilibrium", "--equations", "interpreted", "-o", "rest.fmu"]
    assert cli.main(["build", "pendulum", *options]) == 0
    result = fmpy.simulate_fmu("rest.fmu", stop_time=3.0, output=["rev.phi", "rev.w"])
    np.testing.assert_allclose(result["rev.phi"], -np.pi / 2, atol=1e-9)
    assert np.abs(result["rev.w"]).max() < 1e-9
    capsys.readouterr()
    assert cli.main(["build", "pendulum", "--start", "there"]) == 2
    assert "--start there: the one start that is found is equilibrium" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command(capsys):
    assert cli.main(["equilibrium", "pendulum", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stability"] == "stable"
    assert found["values"]["rev.phi"] == pytest.approx(mbfmu.equilibrium(Pendulum())["rev.phi"])
    assert found["values"]["rev.phi"] == pytest.approx(-np.pi / 2)
