"""Sensors against an arm that turns about two axes, differentiated by hand and by SciPy's rotations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from wiring import run, wired

from mbfmu.components import (
    Body,
    Fixed,
    FixedRotation,
    FixedTranslation,
    PointMass,
    Prismatic,
    Revolute,
    World,
    blocks,
    forces,
    rotational,
    sensors,
)
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Component, Start

#: Speeds of the arm's two axes [rad/s], its start angle, and the place of its tip.
W1, W2, START, TIP = 0.8, -1.3, 0.4, np.array([0.5, 0.2, -0.3])
STOP = 1.5


def test_every_sensor_has_its_modelica_name():
    for name in sensors.__all__:
        assert getattr(sensors, name).modelica_name == f"MultiBody.Sensors.{name}"


def arm(sensor: Component, *connections: str, **parts: Component):
    """An arm on two hinges at constant speed: z (at W1), then x (at W2); frames `base` (before) and `tip` (after)."""
    given = {
        "world": World(gravityType="NoGravity"),
        "first": Revolute(n=(0, 0, 1), phi=Start(START, fixed=True), w=Start(W1, fixed=True), useAxisFlange=True),
        "second": Revolute(n=(1, 0, 0), phi=Start(0.0, fixed=True), w=Start(W2, fixed=True), useAxisFlange=True),
        "drive1": rotational.Inertia(J=1e6),
        "drive2": rotational.Inertia(J=1e6),
        "shoulder": FixedTranslation(r=(0.7, 0.0, 0.1)),
        "tip": FixedTranslation(r=TIP),
        "turned": FixedRotation(n=(0, 1, 0), angle=40),
        "sensor": sensor,
    }
    given |= parts
    return run(
        "world.frame_b - first.frame_a",
        "first.frame_b - shoulder.frame_a",
        "shoulder.frame_b - second.frame_a",
        "second.frame_b - tip.frame_a",
        "world.frame_b - turned.frame_a",
        "first.axis - drive1.flange_a",
        "second.axis - drive2.flange_a",
        *connections,
        stop=STOP,
        step=STOP / 30,
        **given,
    )


class Motion:
    """Position, velocity, acceleration, angular velocity and acceleration of the tip, resolved in the world frame."""

    def __init__(self, t):
        e, x = np.array([0.0, 0, 1]), np.tile([1.0, 0, 0], (len(t), 1))
        self.base = Rotation.from_rotvec(np.outer(START + W1 * t, e))
        self.R = self.base * Rotation.from_rotvec(np.outer(W2 * t, [1, 0, 0]))
        arm1, arm2 = self.base.apply([0.7, 0, 0.1]), self.R.apply(TIP)
        w1, self.w_rel = W1 * e, W2 * self.base.apply(x)
        self.w = w1 + self.w_rel
        self.z = np.cross(w1, self.w_rel)
        self.r, self.hinge = arm1 + arm2, arm1
        self.v = np.cross(w1, arm1) + np.cross(self.w, arm2)
        self.a = np.cross(w1, np.cross(w1, arm1)) + np.cross(self.z, arm2) + np.cross(self.w, np.cross(self.w, arm2))

    def frame(self, name):
        n = len(self.r)
        world = Rotation.from_rotvec(np.zeros((n, 3)))
        return {
            "world": world,
            "frame_resolve": Rotation.from_rotvec([0, np.deg2rad(40), 0]) * world,
            "tip": self.R,
            "base": self.base,
        }[name]


def vectors(result, name):
    return np.column_stack([result[f"{name}[{i}]"] for i in (1, 2, 3)])


ABSOLUTE = ("world", "frame_a", "frame_resolve")


def resolve_connection(*frames):
    return ["turned.frame_b - sensor.frame_resolve"] if "frame_resolve" in frames else []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frame", "after"), [*((frame, frame) for frame in ABSOLUTE), ("world", "frame_a"), ("frame_resolve", "world")]
)
def test_absolute_sensor(frame, after):
    """Derivatives, but for the angular velocity, may be resolved in another frame."""
    sensor = sensors.AbsoluteSensor(
        resolveInFrame=frame, resolveInFrameAfterDifferentiation=after, **{f"get_{n}": True for n in "rvawz"}
    )
    result = arm(sensor, "tip.frame_b - sensor.frame_a", *resolve_connection(frame, after))
    motion = Motion(result.time)
    for name in "rvawz":
        wanted = after if name in ("v", "a", "z") else frame
        expected = motion.frame("tip" if wanted == "frame_a" else wanted).inv().apply(getattr(motion, name))
        np.testing.assert_allclose(vectors(result, f"sensor.{name}"), expected, atol=2e-6, err_msg=name)
    np.testing.assert_allclose(vectors(result, "sensor.frame_a.f"), 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"), [("AbsolutePosition", "r"), ("AbsoluteVelocity", "v"), ("AbsoluteAngularVelocity", "w")]
)
@pytest.mark.parametrize("frame", ABSOLUTE)
def test_sensors_of_one_absolute_quantity(kind, name, frame):
    result = arm(
        getattr(sensors, kind)(resolveInFrame=frame), "tip.frame_b - sensor.frame_a", *resolve_connection(frame)
    )
    motion = Motion(result.time)
    into = motion.frame("tip" if frame == "frame_a" else frame).inv()
    np.testing.assert_allclose(vectors(result, f"sensor.{name}"), into.apply(getattr(motion, name)), atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("sequence", "name"), [((1, 2, 3), "XYZ"), ((3, 1, 3), "ZXZ"), ((3, 2, 1), "ZYX")])
@pytest.mark.parametrize("kind", ["AbsoluteAngles", "AbsoluteSensor"])
def test_absolute_angles(sequence, name, kind):
    sensor = getattr(sensors, kind)(sequence=sequence, **({"get_angles": True} if kind == "AbsoluteSensor" else {}))
    result = arm(sensor, "tip.frame_b - sensor.frame_a")
    found = Rotation.from_euler(name, vectors(result, "sensor.angles"))
    assert np.max((found.inv() * Motion(result.time).R).magnitude()) < 2e-6


@pytest.mark.slow
def test_guess_picks_one_of_two_solutions():
    """The hinge about z alone has the angles (0, 0, phi) and (pi, pi, phi - pi)."""
    near, far = (
        arm(sensors.AbsoluteAngles(guessAngle1=guess), "first.frame_b - sensor.frame_a") for guess in (0.0, 3.0)
    )
    np.testing.assert_allclose(near["sensor.angles[1]"], 0, atol=1e-9)
    np.testing.assert_allclose(np.abs(far["sensor.angles[1]"]), np.pi, atol=1e-9)
    np.testing.assert_allclose(near["sensor.angles[3]"], START + W1 * near.time, atol=1e-6)


# -- relative ----------------------------------------------------------------------------------------------------------

RELATIVE = ("world", "frame_a", "frame_b", "frame_resolve")
BETWEEN = ("first.frame_b - sensor.frame_a", "tip.frame_b - sensor.frame_b")


def relative_frame(motion, frame):
    return motion.frame({"frame_a": "base", "frame_b": "tip"}.get(frame, frame))


@pytest.mark.slow
@pytest.mark.parametrize("frame", RELATIVE)
def test_relative_position_and_angular_velocity(frame):
    for kind, name in (("RelativePosition", "r_rel"), ("RelativeAngularVelocity", "w_rel")):
        result = arm(getattr(sensors, kind)(resolveInFrame=frame), *BETWEEN, *resolve_connection(frame))
        motion = Motion(result.time)
        expected = relative_frame(motion, frame).inv().apply(getattr(motion, name.replace("r_rel", "r")))
        np.testing.assert_allclose(vectors(result, f"sensor.{name}"), expected, atol=2e-6, err_msg=kind)


@pytest.mark.slow
@pytest.mark.parametrize("frame", RELATIVE)
def test_relative_velocity_is_seen_from_frame_a(frame):
    """From the first hinge only the second one's motion is to be seen."""
    result = arm(sensors.RelativeVelocity(resolveInFrame=frame), *BETWEEN, *resolve_connection(frame))
    motion = Motion(result.time)
    seen = np.cross(motion.w_rel, motion.r - motion.hinge)
    np.testing.assert_allclose(
        vectors(result, "sensor.v_rel"), relative_frame(motion, frame).inv().apply(seen), atol=2e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frame", "after"),
    [*((frame, frame) for frame in RELATIVE), ("frame_a", "world"), ("frame_b", "frame_resolve"), ("world", "frame_b")],
)
def test_relative_sensor_differentiates_what_it_resolves(frame, after):
    """dr/dt, with r resolved in a frame that turns with W, is in the world frame what is left of v without W x r."""
    sensor = sensors.RelativeSensor(
        resolveInFrame=frame, resolveInFrameAfterDifferentiation=after, **{f"get_{n}_rel": True for n in "rvawz"}
    )
    result = arm(sensor, *BETWEEN, *resolve_connection(frame, after))
    motion = Motion(result.time)
    w1 = np.array([0, 0, W1])
    turning = {"frame_a": w1, "frame_b": motion.w}.get(frame, np.zeros(3))
    turning_rate = motion.z if frame == "frame_b" else np.zeros(3)
    velocity = motion.v - np.cross(turning, motion.r)
    acceleration = (motion.a - np.cross(turning_rate, motion.r) - np.cross(turning, motion.v)) - np.cross(
        turning, velocity
    )
    spin = motion.z - np.cross(turning, motion.w_rel)
    before, finally_ = relative_frame(motion, frame).inv(), relative_frame(motion, after).inv()
    for name, into, expected in (
        ("r_rel", before, motion.r),
        ("w_rel", before, motion.w_rel),
        ("v_rel", finally_, velocity),
        ("a_rel", finally_, acceleration),
        ("z_rel", finally_, spin),
    ):
        np.testing.assert_allclose(vectors(result, f"sensor.{name}"), into.apply(expected), atol=5e-6, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["RelativeAngles", "RelativeSensor"])
def test_relative_angles(kind):
    sensor = getattr(sensors, kind)(sequence=(3, 1, 2), **({"get_angles": True} if kind == "RelativeSensor" else {}))
    result = arm(sensor, *BETWEEN)
    motion = Motion(result.time)
    found = Rotation.from_euler("ZXY", vectors(result, "sensor.angles"))
    assert np.max((found.inv() * motion.base.inv() * motion.R).magnitude()) < 2e-6


def test_distance_and_its_derivative():
    result = arm(
        sensors.Distance(),
        "world.frame_b - sensor.frame_a",
        "tip.frame_b - sensor.frame_b",
        "sensor.distance - d.u",
        d=blocks.Der(),
    )
    motion = Motion(result.time)
    distance = np.linalg.norm(motion.r, axis=1)
    np.testing.assert_allclose(result["sensor.distance"], distance, atol=2e-6)
    np.testing.assert_allclose(result["d.y"], np.sum(motion.r * motion.v, axis=1) / distance, atol=2e-6)


@pytest.mark.slow
def test_distance_through_zero_stays_finite():
    result = run(
        "world.frame_b - slide.frame_a",
        "slide.frame_b - mass.frame_a",
        "world.frame_b - sensor.frame_a",
        "slide.frame_b - sensor.frame_b",
        "sensor.distance - d.u",
        stop=1.0,
        world=World(gravityType="NoGravity"),
        slide=Prismatic(s=Start(-0.5, fixed=True), v=Start(1.0, fixed=True)),
        mass=PointMass(m=1),
        sensor=sensors.Distance(s_small=1e-3),
        d=blocks.Der(),
    )
    s = result.time - 0.5
    np.testing.assert_allclose(result["sensor.distance"], np.abs(s), atol=1e-3)
    assert np.all(np.isfinite(result["d.y"]))
    assert result["sensor.distance"][np.argmin(np.abs(s))] == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["TransformAbsoluteVector", "TansformAbsoluteVector", "TransformRelativeVector", "TansformRelativeVector"]
)
def test_vectors_are_transformed(kind):
    relative = "Relative" in kind
    frames = BETWEEN if relative else ("tip.frame_b - sensor.frame_a",)
    names = ("frame_b", "frame_resolve") if relative else ("frame_a", "frame_resolve")
    result = arm(
        getattr(sensors, kind)(frame_r_in=names[0], frame_r_out=names[1]),
        *frames,
        "k.y - sensor.r_in",
        *resolve_connection(*names),
        k=blocks.Constant(k=(1, 2, 3)),
    )
    motion = Motion(result.time)
    expected = motion.frame("frame_resolve").inv().apply(motion.R.apply([1, 2, 3]))
    np.testing.assert_allclose(vectors(result, "sensor.r_out"), expected, atol=2e-6)


# -- cut forces --------------------------------------------------------------------------------------------------------

LOAD = {"m": 2.0, "r_CM": (0.3, -0.1, 0.2), "I_11": 0.2, "I_22": 0.3, "I_33": 0.25, "I_21": 0.02}


def load_at_tip(motion):
    """Force and torque (about the tip) that the body at the tip needs, resolved in the world frame; weight along -y."""
    tensor = np.diag([0.2, 0.3, 0.25]) + 0.02 * (np.eye(3)[[1, 0, 2]] - np.diag([0, 0, 1]))
    lever = motion.R.apply(LOAD["r_CM"])
    w, z = motion.R.inv().apply(motion.w), motion.R.inv().apply(motion.z)
    acceleration = motion.a + np.cross(motion.z, lever) + np.cross(motion.w, np.cross(motion.w, lever))
    force = LOAD["m"] * (acceleration + np.array([0, 9.80665, 0]))
    torque = motion.R.apply(z @ tensor + np.cross(w, w @ tensor)) + np.cross(lever, force)
    return force, torque


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "frame", "positive"),
    [
        *(("CutForceAndTorque", frame, positive) for frame in ABSOLUTE for positive in (True, False)),
        ("CutForce", "world", False),
        ("CutTorque", "frame_a", True),
    ],
)
def test_cut_forces(kind, frame, positive):
    """frame_a.f is the force that the arm exerts on what is beyond the sensor."""
    result = arm(
        getattr(sensors, kind)(resolveInFrame=frame, positiveSign=positive),
        "tip.frame_b - sensor.frame_a",
        "sensor.frame_b - body.frame_a",
        *resolve_connection(frame),
        world=World(),
        body=Body(**LOAD),
    )
    motion = Motion(result.time)
    into, sign = motion.frame("tip" if frame == "frame_a" else frame).inv(), 1 if positive else -1
    for name, expected in zip(("force", "torque"), load_at_tip(motion), strict=True):
        if name.title() in kind:
            np.testing.assert_allclose(vectors(result, f"sensor.{name}"), sign * into.apply(expected), atol=5e-4)
            assert np.ptp(expected) > 1


def test_power_into_a_body_is_the_rate_of_its_energy():
    result = arm(
        sensors.Power(),
        "tip.frame_b - sensor.frame_a",
        "sensor.frame_b - body.frame_a",
        "sensor.power - i.u",
        world=World(gravityType="NoGravity"),
        body=Body(**LOAD),
        i=blocks.Integrator(),
    )
    motion = Motion(result.time)
    force, torque = load_at_tip(motion)
    force -= LOAD["m"] * np.array([0, 9.80665, 0])
    torque -= np.cross(motion.R.apply(LOAD["r_CM"]), LOAD["m"] * np.array([0, 9.80665, 0]))
    power = np.sum(force * motion.v, axis=1) + np.sum(torque * motion.w, axis=1)
    np.testing.assert_allclose(result["sensor.power"], power, atol=1e-4)
    speed = motion.v + np.cross(motion.w, motion.R.apply(LOAD["r_CM"]))
    w = motion.R.inv().apply(motion.w)
    tensor = np.array([[0.2, 0.02, 0], [0.02, 0.3, 0], [0, 0, 0.25]])
    energy = np.sum(speed**2, axis=1) + np.einsum("ti,ij,tj->t", w, tensor, w) / 2
    np.testing.assert_allclose(result["i.y"], energy - energy[0], atol=1e-4)


@pytest.mark.slow
def test_a_sensor_in_a_row_changes_nothing():
    def pendulum(*between, **parts):
        return run(
            "world.frame_b - hinge.frame_a",
            *between,
            stop=1.0,
            world=World(),
            body=Body(m=1, r_CM=(0.5, 0, 0)),
            hinge=Revolute(phi=Start(0.3, fixed=True), w=Start(0.0, fixed=True)),
            **parts,
        )

    plain = pendulum("hinge.frame_b - body.frame_a")
    measured = pendulum(
        "hinge.frame_b - sensor.frame_b", "sensor.frame_a - body.frame_a", sensor=sensors.CutForceAndTorque()
    )
    np.testing.assert_allclose(measured["hinge.phi"], plain["hinge.phi"], atol=1e-9)


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: sensors.AbsoluteSensor(resolveInFrame="frame_resolve", get_r=True), "resolveInFrame"),
        (lambda: sensors.CutForce(resolveInFrame="frame_resolve"), "resolveInFrame"),
        (
            lambda: sensors.RelativeSensor(resolveInFrameAfterDifferentiation="frame_resolve", get_v_rel=True),
            "resolveInFrameAfterDifferentiation",
        ),
        (lambda: sensors.TransformAbsoluteVector(frame_r_out="frame_resolve"), "frame_r_out"),
    ],
)
def test_a_missing_frame_resolve_is_named(make, parameter):
    assembly = wired("world.frame_b - sensor.frame_a", world=World(), sensor=make(), end=Fixed())
    if "frame_b" in assembly.sensor.ports():
        assembly.connect(assembly.end.frame_b, assembly.sensor.frame_b)
    with pytest.raises(
        ModelError, match=rf"sensor\.frame_resolve: is not connected, but {parameter} = 'frame_resolve'"
    ):
        System.of(assembly)


def test_switched_off_signals_are_not_there():
    assembly = wired("world.frame_b - sensor.frame_a", world=World(), sensor=sensors.AbsoluteSensor(get_r=True))
    names = {v.name for v in System.of(assembly).variables}
    assert "sensor.r[1]" in names
    assert not any(name.startswith(("sensor.v[", "sensor.a[", "sensor.angles[")) for name in names)


# -- derivatives of cut forces


def loaded_pendulum(between: tuple[str, str], *measured: str, **parts: Component) -> tuple[tuple[str, ...], dict]:
    """A pendulum with a force (fixed to the world) behind a cut force sensor, whose output two Der follow."""
    given: dict[str, Component] = {
        "world": World(),
        "hinge": Revolute(phi=Start(0.3, fixed=True), w=Start(0.5, fixed=True)),
        "body": Body(m=2.0, r_CM=(0.5, 0, 0)),
        "rod": FixedTranslation(r=(1, 0, 0)),
        "source": blocks.Sine(amplitude=(3.0, 4.0, 5.0), f=(1.0, 0.5, 0.7), phase=0.3),
        "force": forces.WorldForce(resolveInFrame="world"),
        "cut": sensors.CutForce(),
        "der1": blocks.Der(),
        "der2": blocks.Der(),
    }
    connections = (
        "hinge.frame_b - body.frame_a",
        "hinge.frame_b - rod.frame_a",
        "source.y - force.force",
        "cut.force[0] - der1.u",
        f"{between[0]} - cut.frame_a",
        f"cut.frame_b - {between[1]}",
    )
    return connections + measured, given | parts


def test_der_of_a_cut_force_that_signals_give():
    """At the force alone: f = -T(phi) F(t), so that its second derivative knows the hinge's acceleration."""
    connections, parts = loaded_pendulum(
        ("rod.frame_b", "force.frame_b"), "world.frame_b - hinge.frame_a", "der1.y - der2.u"
    )
    result = run(*connections, step=1e-3, **parts)
    phi, force, t = result["hinge.phi"], result["cut.force[1]"], result.time
    turned = np.cos(phi) * result["source.y[1]"] + np.sin(phi) * result["source.y[2]"]
    np.testing.assert_allclose(force, -turned, atol=1e-8)
    for name, curve in (("der1.y", force), ("der2.y", result["der1.y"])):
        slope = (curve[2:] - curve[:-2]) / (t[2:] - t[:-2])
        np.testing.assert_allclose(result[name][1:-1], slope, atol=2e-4 * np.max(np.abs(slope)))


def test_der_of_a_cut_force_that_depends_on_accelerations_is_refused():
    connections, parts = loaded_pendulum(
        ("world.frame_b", "hinge.frame_a"), "rod.frame_b - force.frame_b", "der1.y - der2.u"
    )
    with pytest.raises(ModelError, match="derivative of this, which depends on accelerations"):
        System.of(wired(*connections, **parts))
