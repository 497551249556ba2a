"""Partial models: forces, joints and sensors of one's own, written against the contract of the Modelica library."""

from __future__ import annotations

import casadi as ca
import fmpy
import numpy as np
import pytest
from wiring import run, wired

from mbfmu.components import (
    Body,
    Fixed,
    FixedTranslation,
    PointMass,
    Prismatic,
    Revolute,
    World,
    blocks,
    forces,
    interfaces,
    rotational,
)
from mbfmu.components.blocks.discrete import DiscreteMIMOs
from mbfmu.components.blocks.interfaces import (
    BooleanSISO,
    IntegerSIBooleanSO,
    IntegerSignalSource,
    PartialBooleanMISO,
    SVcontrol,
)
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.export.build import build
from mbfmu.frames import null_rotation, planar_rotation
from mbfmu.modeling import Assembly, Coordinate, Parameter, Start, Variable
from mbfmu.modeling import types as t
from mbfmu.simulation import simulate


class ConstantXForce(interfaces.PartialForce):
    """The example of the Modelica library: 100 N along the x-axis of frame_b act on the part at frame_b."""

    def cut_force(self):
        return [-100, 0, 0], [0, 0, 0]


class StiffeningSpring(interfaces.PartialLineForce):
    """Spring that stiffens with the cube of its stretch."""

    c = Parameter(t.Real, 30.0, "Stiffness, N/m3")
    s_unstretched = Parameter(t.Length, 0.2, "Unstretched length")

    def line_force(self):
        stretch = self.s - self.s_unstretched
        self.energy(potential=self.c * stretch**4 / 4)
        return self.c * stretch**3


class Screw(interfaces.PartialElementaryJoint):
    """Joint that advances along z as it turns."""

    lead = Parameter(t.Length, 0.01, "Advance per turn")
    phi = Coordinate(t.Angle, "Angle", start=0.0)
    w = Variable(t.AngularVelocity, "= der(phi)")

    def equations(self):
        self.w = self.der(self.phi)
        advance = self.lead * self.phi / (2 * np.pi)
        self.relative_motion(ca.vertcat(0, 0, advance), planar_rotation((0, 0, 1), self.phi, self.w))


class Height(interfaces.PartialAbsoluteSensor):
    """Height above the ground, and its rate."""

    n_out = Parameter(t.Integer, 2, "Number of output signals")

    def measure(self):
        height = self.frame_a.r_0[1]
        return [height, self.der(height)]


class Gap(interfaces.PartialRelativeSensor):
    """Difference of two frames along x."""

    def measure(self):
        return self.frame_b.r_0[0] - self.frame_a.r_0[0]


# -- contracts ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_force_of_ones_own_acts_on_both_frames():
    """100 N along the body's x-axis, turned by 90 degrees: 50 m/s2 along y; the reaction turns the base."""
    result = run(
        "base.frame_b - force.frame_a",
        "body.frame_a - force.frame_b",
        "world.frame_b - hinge.frame_a",
        "hinge.frame_b - base.frame_a",
        "base.frame_b - flywheel.frame_a",
        stop=0.01,
        world=World(gravityType="NoGravity"),
        hinge=Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True)),
        base=FixedTranslation(r=(0.5, 0, 0)),
        flywheel=Body(m=0.0, r_CM=(0, 0, 0), I_33=4.0, I_11=4.0, I_22=4.0),
        force=ConstantXForce(),
        body=Body(
            m=2.0,
            r_CM=(0, 0, 0),
            angles_fixed=True,
            angles_start=(0, 0, np.pi / 2),
            r_0=Start((2, 0, 0), fixed=True),
            v_0=Start((0, 0, 0), fixed=True),
            w_0_fixed=True,
        ),
    )
    assert [result[f"body.a_0[{i}]"][0] for i in (1, 2, 3)] == pytest.approx([0, 50, 0], abs=1e-9)
    assert [result[f"force.r_rel_b[{i}]"][0] for i in (1, 2, 3)] == pytest.approx([0, -1.5, 0], abs=1e-9)
    assert result["hinge.a"][0] == pytest.approx(-100 * 2.0 / 4.0)  # the line of action is 2 m from the hinge


def test_a_line_force_of_ones_own_keeps_energy():
    result = run(
        "world.frame_b - slide.frame_a",
        "slide.frame_b - mass.frame_a",
        "world.frame_b - spring.frame_a",
        "spring.frame_b - mass.frame_a",
        world=World(gravityType="NoGravity"),
        spring=StiffeningSpring(c=3000),
        slide=Prismatic(s=Start(0.35, fixed=True), v=Start(0.0, fixed=True)),
        mass=PointMass(m=2.0),
        stop=3.0,
    )
    s, v = result["slide.s"], result["slide.v"]
    np.testing.assert_allclose(v**2 + 3000 * (s - 0.2) ** 4 / 4, 750 * 0.15**4, atol=1e-8)
    np.testing.assert_allclose(result["spring.f"], 3000 * (s - 0.2) ** 3, atol=1e-9)
    assert np.ptp(s) > 0.29


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_joint_of_ones_own_falls_as_energy_says():
    """A nut of inertia J on a vertical screw: (J (2 pi / lead)^2 + m) a = m g along the screw."""
    m, J, lead = 2.0, 1e-4, 0.05
    result = run(
        "world.frame_b - screw.frame_a",
        "screw.frame_b - nut.frame_a",
        world=World(n=(0, 0, 1)),
        screw=Screw(lead=lead, phi=Start(0.0, fixed=True)),
        stop=0.5,
        nut=Body(m=m, r_CM=(0, 0, 0), I_11=J, I_22=J, I_33=J),
    )
    acceleration = m * 9.80665 / (m + J * (2 * np.pi / lead) ** 2)
    np.testing.assert_allclose(result["nut.r_0[3]"], acceleration * result.time**2 / 2, atol=1e-8)


def test_sensors_of_ones_own():
    result = run(
        "world.frame_b - slide.frame_a",
        "slide.frame_b - mass.frame_a",
        "mass.frame_a - height.frame_a",
        "wall.frame_b - gap.frame_a",
        "mass.frame_a - gap.frame_b",
        world=World(),
        mass=PointMass(m=1.0),
        slide=Prismatic(n=(1, 1, 0), s=Start(0.0, fixed=True), v=Start(3.0, fixed=True)),
        wall=Fixed(r=(-1, 0, 0)),
        height=Height(),
        gap=Gap(),
    )
    along = 3 * result.time - 9.80665 / np.sqrt(2) * result.time**2 / 2
    np.testing.assert_allclose(result["height.y[1]"], along / np.sqrt(2), atol=1e-9)
    np.testing.assert_allclose(result["height.y[2]"], result["slide.v"] / np.sqrt(2), atol=1e-9)
    np.testing.assert_allclose(result["gap.y[1]"], 1 + along / np.sqrt(2), atol=1e-9)


@pytest.mark.slow
def test_components_of_ones_own_end_up_in_fmus(tmp_path):
    assembly = wired(
        "world.frame_b - slide.frame_a",
        "slide.frame_b - mass.frame_a",
        "world.frame_b - spring.frame_a",
        "spring.frame_b - mass.frame_a",
        "mass.frame_a - height.frame_a",
        world=World(),
        spring=StiffeningSpring(),
        height=Height(),
        mass=PointMass(m=2.0),
        slide=Prismatic(n=(0, 1, 0), s=Start(-1.2, fixed=True), v=Start(0.0, fixed=True)),
    )
    assembly.output(assembly.height.y, "height")
    path = build(assembly, tmp_path / "own.fmu", target="native")
    result = fmpy.simulate_fmu(str(path), stop_time=1.0, output_interval=0.1, relative_tolerance=1e-9)
    s, v = result["height[1]"], result["height[2]"]
    energy = v**2 + 30 * (-s - 0.2) ** 4 / 4 + 2 * 9.80665 * s
    np.testing.assert_allclose(energy, energy[0], atol=1e-5)
    assert np.ptp(s) > 0.2


@pytest.mark.parametrize(
    ("base", "method"),
    [
        ("PartialForce", "cut_force"),
        ("PartialLineForce", "line_force"),
        ("PartialAbsoluteSensor", "measure"),
        ("PartialRelativeSensor", "measure"),
    ],
)
def test_what_a_subclass_must_define(base, method):
    cls = type("Mine", (getattr(interfaces, base),), {})
    frames = ["a"] if base == "PartialAbsoluteSensor" else ["a", "b"]
    assembly = wired(
        *(f"end_{f}.frame_b - mine.frame_{f}" for f in frames),
        world=World(),
        mine=cls(),
        **{f"end_{f}": Fixed(r=(i, 0, 0)) for i, f in enumerate(frames)},
    )
    with pytest.raises(NotImplementedError, match=rf"Mine must define {method}"):
        System.of(assembly)


@pytest.mark.parametrize("frame", ["frame_a", "frame_b"])
def test_open_frames_are_refused(frame):
    other = {"frame_a": "frame_b", "frame_b": "frame_a"}[frame]
    with pytest.raises(ModelError, match=rf"force\.{frame}.*ConstantXForce is not connected"):
        System.of(wired(f"end.frame_b - force.{other}", world=World(), end=Fixed(), force=ConstantXForce()))


# -- connectors --------------------------------------------------------------------------------------------------------


def test_flange_with_bearing_leads_out_flange_and_frame():
    result = run(
        "shaft.flange_b - adaptor.flangeAndFrame.flange",
        "adaptor.flange - load.flange_a",
        "housing.frame_b - adaptor.flangeAndFrame.bearingFrame",
        "adaptor.frame - body.frame_a",
        "world.frame_b - hinge.frame_a",
        "hinge.frame_b - housing.frame_a",
        world=World(),
        adaptor=interfaces.FlangeWithBearingAdaptor(includeBearingConnector=True),
        shaft=rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(2.0, fixed=True)),
        load=rotational.Inertia(J=3.0),
        hinge=Revolute(phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True)),
        housing=FixedTranslation(r=(0, -1, 0)),
        body=Body(m=1.0, r_CM=(0, 0, 0), I_33=1e-9, I_11=1e-9, I_22=1e-9),
    )
    np.testing.assert_allclose(result["load.phi"], 2 * result.time, atol=1e-8)
    np.testing.assert_allclose(result["hinge.a"], -9.80665 * np.sin(result["hinge.phi"]), rtol=1e-6)
    without = wired(adaptor=interfaces.FlangeWithBearingAdaptor())
    assert set(without.adaptor.ports()) == {"flange"}


def test_zero_position_stands_at_the_origin():
    result = run("zero.frame_resolve - rod.frame_a", zero=interfaces.ZeroPosition(), rod=FixedTranslation(r=(1, 2, 3)))
    assert [result[f"rod.frame_b.r_0[{i}]"][0] for i in (1, 2, 3)] == [1, 2, 3]
    np.testing.assert_allclose(result["rod.frame_b.R.T[1,1]"], null_rotation().T[0, 0])


def test_visualizers_carry_no_load():
    class Dot(interfaces.PartialVisualizer):
        """A dot."""

    result = run("world.frame_b - dot.frame_a", world=World(), dot=Dot())
    np.testing.assert_array_equal(result["dot.frame_a.f[2]"], 0.0)


def test_guarded_length_has_finite_derivatives():
    r = ca.SX.sym("r", 3)
    length = interfaces.guarded_length(r, 1e-3)
    f = ca.Function("f", [r], [length, ca.jacobian(length, r)])
    value, slope = f([0, 0, 0])
    assert float(value) == pytest.approx(1e-3)
    assert np.all(np.isfinite(slope.full()))
    assert float(f([3, 0, 4])[0]) == pytest.approx(5.0)


def test_a_force_in_an_assembly_class():
    """What docs/own-components.md promises: declarations and equations are all that a component needs."""

    class Rig(Assembly):
        """A mass between two springs."""

        def __init__(self):
            self.world = World(gravityType="NoGravity")
            self.slide = Prismatic(s=Start(0.3, fixed=True), v=Start(0.0, fixed=True))
            self.mass = PointMass(m=1.0)
            self.near, self.far = StiffeningSpring(c=0.0), forces.Spring(c=4.0)
            self.end = Fixed(r=(1, 0, 0))
            for a, b in (
                (self.world.frame_b, self.slide.frame_a),
                (self.slide.frame_b, self.mass.frame_a),
                (self.world.frame_b, self.near.frame_a),
                (self.near.frame_b, self.mass.frame_a),
                (self.end.frame_b, self.far.frame_a),
                (self.far.frame_b, self.mass.frame_a),
            ):
                self.connect(a, b)

    result = simulate(Rig(), 0.7, tolerance=1e-9)
    np.testing.assert_allclose(result["slide.s"], 1 - 0.7 * np.cos(2 * result.time), atol=1e-7)


class Inverter(BooleanSISO):
    """A Boolean block of one's own."""

    def equations(self):
        self.y = ca.logic_not(self.u >= 0.5)


class Majority(PartialBooleanMISO):
    """True where most are."""

    def equations(self):
        self.y = ca.sum1(self.u >= 0.5) > self.nu / 2


class IsLarge(IntegerSIBooleanSO):
    """True from 2 on."""

    def equations(self):
        self.y = self.u >= 2


class Count(IntegerSignalSource):
    """Whole seconds since startTime, on top of the offset."""

    def equations(self):
        tick = self.sample(self.startTime, 1.0)
        self.y = self.offset + self.hold(tick, value=lambda before: before + 1)


class Sums(DiscreteMIMOs):
    """What each input adds up to, sample by sample."""

    def equations(self):
        self.y = self.hold(self.sampled(), value=lambda before: before + self.u, start=ca.DM.zeros(self.n))


class Law(SVcontrol):
    """A proportional controller."""

    def equations(self):
        self.y = 3 * (self.u_s - self.u_m)


def test_blocks_of_every_kind_of_signal_build_on_partial_ones():
    result = run(
        "pulse.y - inverter.u",
        "pulse.y - most.u[0]",
        "inverter.y - most.u[1]",
        "yes.y - most.u[2]",
        "count.y - large.u",
        "two.y - sums.u[0]",
        "ramp.y - sums.u[1]",
        "two.y - law.u_s",
        "ramp.y - law.u_m",
        stop=4.0,
        step=0.3,
        pulse=blocks.BooleanPulse(period=2.0),
        inverter=Inverter(),
        most=Majority(nu=3),
        yes=blocks.BooleanConstant(),
        count=Count(offset=-1, startTime=0.5),
        large=IsLarge(),
        two=blocks.Constant(k=2.0),
        ramp=blocks.Ramp(height=4.0, duration=4.0),
        sums=Sums(n=2, samplePeriod=1.0),
        law=Law(),
    )
    time = result.time
    assert set(result["most.y"]) == {1.0}
    np.testing.assert_array_equal(result["inverter.y"], np.floor(time + 1e-9) % 2)
    whole = np.floor(time - 0.5 + 1e-9) + 1
    np.testing.assert_array_equal(result["count.y"], whole - 1)
    np.testing.assert_array_equal(result["large.y"], whole >= 3)
    samples = np.floor(time + 1e-9)
    np.testing.assert_allclose(result["sums.y[1]"], 2 * (samples + 1))
    np.testing.assert_allclose(result["sums.y[2]"], samples * (samples + 1) / 2, atol=1e-9)
    np.testing.assert_allclose(result["law.y"], 3 * (2 - time), atol=1e-9)
