"""Forces against closed forms, matrix exponentials and conservation laws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.linalg import expm
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
    translational,
)
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Component, Start
from mbfmu.simulation import simulate


def test_every_force_has_its_modelica_name():
    for name in forces.__all__:
        cls = getattr(forces, name)
        package = "MultiBody.Forces.Internal." if name.startswith("Basic") else "MultiBody.Forces."
        assert cls.modelica_name == package + name


def sliding(force: Component, *, m=2.0, s=0.7, v=0.0, gravity="NoGravity", stop=2.0, more=(), **parts):
    """A point mass on a slide along x, with a force between World and the mass."""
    return run(
        "world.frame_b - slide.frame_a",
        "slide.frame_b - mass.frame_a",
        "world.frame_b - force.frame_a",
        "force.frame_b - mass.frame_a",
        *more,
        stop=stop,
        world=World(gravityType=gravity),
        force=force,
        slide=Prismatic(s=Start(s, fixed=True), v=Start(v, fixed=True)),
        mass=PointMass(m=m),
        **parts,
    )


# -- springs and dampers -----------------------------------------------------------------------------------------------


def test_spring_swings_at_its_frequency():
    result = sliding(forces.Spring(c=50, s_unstretched=0.4))
    t = result.time
    s = 0.4 + 0.3 * np.cos(5 * t)
    np.testing.assert_allclose(result["slide.s"], s, atol=1e-8)
    np.testing.assert_allclose(result["force.f"], 50 * (s - 0.4), atol=1e-6)
    np.testing.assert_allclose(result["force.length"], s, atol=1e-8)
    np.testing.assert_allclose(result["force.frame_b.f[1]"], 50 * (s - 0.4), atol=1e-6)
    np.testing.assert_allclose(result["force.frame_a.f[1]"], -50 * (s - 0.4), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.0, 0.5, 0.8])
def test_mass_of_a_spring_swings_along(fraction):
    """A mass on the line at the fraction h moves with h of the speed: m + h^2 m_spring swing."""
    result = sliding(forces.Spring(c=50, s_unstretched=0.4, m=1.5, lengthFraction=fraction))
    omega = np.sqrt(50 / (2 + fraction**2 * 1.5))
    np.testing.assert_allclose(result["slide.s"], 0.4 + 0.3 * np.cos(omega * result.time), atol=1e-8)


def test_weight_of_a_spring_rests_on_both_ends():
    """Held at both ends, 3/4 of the weight of a mass at a quarter of the line rest on frame_a."""
    result = run(
        "world.frame_b - spring.frame_a",
        "end.frame_b - spring.frame_b",
        world=World(g=10.0),
        end=Fixed(r=(2, 0, 0)),
        spring=forces.Spring(c=1, s_unstretched=2, m=4, lengthFraction=0.25),
    )
    assert result["spring.frame_a.f[2]"][0] == pytest.approx(30.0)
    assert result["spring.frame_b.f[2]"][0] == pytest.approx(10.0)


def test_spring_without_length_is_a_harmonic_field():
    """Unstretched length 0: an ellipse around the fixed point, r = r0 cos wt + v0/w sin wt."""
    r0, v0 = np.array([0.5, 0.1, -0.2]), np.array([0.3, -1.0, 0.4])
    result = run(
        "world.frame_b - spring.frame_a",
        "mass.frame_a - spring.frame_b",
        stop=2.0,
        world=World(gravityType="NoGravity"),
        spring=forces.Spring(c=18),
        mass=PointMass(m=2, r_0=Start(r0, fixed=True), v_0=Start(v0, fixed=True)),
    )
    t = result.time[:, None]
    expected = r0 * np.cos(3 * t) + v0 / 3 * np.sin(3 * t)
    found = np.column_stack([result[f"mass.r_0[{i}]"] for i in (1, 2, 3)])
    np.testing.assert_allclose(found, expected, atol=1e-8)
    direction = np.column_stack([result[f"spring.e_rel_0[{i}]"] for i in (1, 2, 3)])
    np.testing.assert_allclose(direction, expected / np.linalg.norm(expected, axis=1)[:, None], atol=1e-7)


def test_damper_slows_down():
    result = sliding(forces.Damper(d=4), v=1.0)
    t = result.time
    np.testing.assert_allclose(result["slide.v"], np.exp(-2 * t), atol=1e-8)
    np.testing.assert_allclose(result["force.f"], 4 * np.exp(-2 * t), atol=1e-7)
    np.testing.assert_allclose(result["force.lossPower"], 4 * np.exp(-4 * t), atol=1e-7)


def test_spring_and_damper_in_parallel():
    result = sliding(forces.SpringDamperParallel(c=50, d=1.6, s_unstretched=0.4))
    t, decay = result.time, 0.4
    omega = np.sqrt(25 - decay**2)
    expected = 0.4 + 0.3 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    np.testing.assert_allclose(result["slide.s"], expected, atol=1e-8)


@pytest.mark.slow
def test_spring_and_damper_in_series():
    """A Maxwell element on a mass is linear in (s, v, s_damper): compared with the matrix exponential."""
    c, d, m, s0 = 30.0, 8.0, 2.0, 0.4
    result = sliding(forces.SpringDamperSeries(c=c, d=d, s_unstretched=s0, s_damper_start=0.05), m=m, s=0.7, v=0.2)
    matrix = np.array([[0, 1, 0, 0], [-c / m, 0, c / m, c * s0 / m], [c / d, 0, -c / d, -c * s0 / d], [0, 0, 0, 0]])
    expected = np.array([expm(matrix * t) @ [0.7, 0.2, 0.05, 1.0] for t in result.time])
    found = np.column_stack([result[n] for n in ("slide.s", "slide.v", "force.s_damper")])
    np.testing.assert_allclose(found, expected[:, :3], atol=1e-8)
    np.testing.assert_allclose(result["force.lossPower"], result["force.f"] ** 2 / d, atol=1e-9)


def test_a_series_without_damping_carries_nothing():
    result = sliding(forces.SpringDamperSeries(c=30.0, s_unstretched=0.4, s_damper_start=0.3), v=0.2)
    np.testing.assert_allclose(result["slide.s"], 0.7 + 0.2 * result.time, atol=1e-12)
    np.testing.assert_allclose(result["force.s_damper"], 0.3 + 0.2 * result.time, atol=1e-12)
    np.testing.assert_array_equal(result["force.f"], 0.0)


@pytest.mark.slow
def test_springs_meet_in_a_frame_without_mass():
    """Two springs in a row are one of stiffness c1 c2 / (c1 + c2), and share its stretch c2 : c1."""
    result = run(
        "world.frame_b - slide.frame_a",
        "slide.frame_b - mass.frame_a",
        "world.frame_b - a.frame_a",
        "a.frame_b - b.frame_a",
        "b.frame_b - mass.frame_a",
        world=World(gravityType="NoGravity"),
        a=forces.Spring(
            c=60, s_unstretched=0.1, fixedRotationAtFrame_b=True, lineForce={"r_node_b": Start((0.2, 0, 0))}
        ),
        b=forces.Spring(c=30, s_unstretched=0.3),
        slide=Prismatic(s=Start(0.7, fixed=True), v=Start(0.0, fixed=True)),
        mass=PointMass(m=2.0),
        stop=2.0,
    )
    s = 0.4 + 0.3 * np.cos(np.sqrt(10) * result.time)
    np.testing.assert_allclose(result["slide.s"], s, atol=1e-7)
    np.testing.assert_allclose(result["a.length"], 0.1 + (s - 0.4) / 3, atol=1e-7)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_damping_that_nobody_gives_is_zero_unless_start_values_ask_for_it():
    assert sliding(forces.SpringDamperParallel(c=50, s_unstretched=0.4), stop=0.1)["force.d"][0] == 0.0
    found = run(
        "world.frame_b - slide.frame_a",
        "slide.frame_b - mass.frame_a",
        "world.frame_b - force.frame_a",
        "force.frame_b - mass.frame_a",
        world=World(gravityType="NoGravity"),
        mass=PointMass(m=2.0),
        force=forces.SpringDamperParallel(c=50, s_unstretched=0.4),
        slide=Prismatic(s=Start(0.7, fixed=True), v=Start(1.0, fixed=True), a=Start(-10.0, fixed=True)),
    )
    assert found["force.d"][0] == pytest.approx(5.0)


# -- 1-dim. components on a line ---------------------------------------------------------------------------------------


def test_flanges_carry_what_is_between_them():
    line = (
        "line.flange_a - c.flange_a",
        "line.flange_b - c.flange_b",
        "line.flange_a - d.flange_a",
        "line.flange_b - d.flange_b",
    )
    both = run(
        "world.frame_b - slide.frame_a",
        "slide.frame_b - mass.frame_a",
        "world.frame_b - line.frame_a",
        "line.frame_b - mass.frame_a",
        *line,
        world=World(gravityType="NoGravity"),
        line=forces.LineForceWithMass(),
        c=translational.Spring(c=50, s_rel0=0.4),
        d=translational.Damper(d=1.6),
        mass=PointMass(m=2.0),
        slide=Prismatic(s=Start(0.7, fixed=True), v=Start(0.0, fixed=True)),
        stop=2.0,
    )
    one = sliding(forces.SpringDamperParallel(c=50, d=1.6, s_unstretched=0.4))
    np.testing.assert_allclose(both["slide.s"], one["slide.s"], atol=1e-9)
    np.testing.assert_allclose(both["line.flange_b.s"], both["slide.s"], atol=1e-12)


@pytest.mark.parametrize("end", ["flange_a", "flange_b"])
def test_open_flange_takes_up_the_opposite_force(end):
    """A force source at one flange acts on both frames; seen along the line, flange_b's pushes them apart."""
    result = run(
        "world.frame_b - slide.frame_a",
        "slide.frame_b - mass.frame_a",
        "world.frame_b - line.frame_a",
        "line.frame_b - mass.frame_a",
        f"line.{end} - source.flange",
        "k.y - source.f",
        world=World(gravityType="NoGravity"),
        line=forces.LineForceWithMass(),
        source=translational.Force(),
        k=blocks.Constant(k=6.0),
        mass=PointMass(m=2.0),
        stop=0.5,
        slide=Prismatic(s=Start(0.7, fixed=True), v=Start(0.0, fixed=True)),
    )
    sign = 1 if end == "flange_b" else -1
    np.testing.assert_allclose(result["slide.a"], sign * 3.0, atol=1e-9)
    np.testing.assert_allclose(result["line.frame_a.f[1]"], sign * 6.0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [forces.LineForceWithMass, forces.LineForceWithTwoMasses])
def test_a_line_without_masses_passes_both_flanges_on(kind):
    """Different forces at its ends: 3 N pull the left mass of 2 kg to the right, 5 N push the right one of 4 kg."""
    result = run(
        "world.frame_b - left.frame_a", "left.frame_b - a.frame_a", "world.frame_b - right.frame_a",
        "right.frame_b - b.frame_a", "a.frame_a - line.frame_a", "line.frame_b - b.frame_a",
        "fa.flange - line.flange_a", "fb.flange - line.flange_b",
        stop=0.1, step=0.1, world=World(gravityType="NoGravity"), line=kind(),
        left=Prismatic(s=Start(0.2, fixed=True), v=Start(0.0, fixed=True)),
        right=Prismatic(s=Start(1.5, fixed=True), v=Start(0.0, fixed=True)),
        a=PointMass(m=2.0, stateSelect="avoid"), b=PointMass(m=4.0, stateSelect="avoid"),
        fa=translational.ConstantForce(f_constant=3.0), fb=translational.ConstantForce(f_constant=5.0),
    )  # fmt: skip
    np.testing.assert_allclose([result["left.a"][0], result["right.a"][0]], [1.5, 1.25], rtol=1e-12)


def test_two_masses_on_a_free_line_keep_momentum_and_energy():
    """A dumbbell of two bodies and two masses on a springy line spins freely: momenta and energy stay."""
    m, m_a, m_b, L_a, L_b, c, s0 = 1.0, 0.5, 0.8, 0.2, 0.3, 40.0, 1.0
    r_b, v_b = np.array([1.2, 0.0, 0.1]), np.array([0.3, 1.0, -0.4])
    result = run(
        "a.frame_a - line.frame_a",
        "line.frame_b - b.frame_a",
        "line.flange_a - c.flange_a",
        "line.flange_b - c.flange_b",
        stop=1.5,
        world=World(gravityType="NoGravity"),
        c=translational.Spring(c=c, s_rel0=s0),
        line=forces.LineForceWithTwoMasses(m_a=m_a, m_b=m_b, L_a=L_a, L_b=L_b),
        a=PointMass(m=m, r_0=Start((0, 0, 0), fixed=True), v_0=Start((0, 0, 0), fixed=True)),
        b=PointMass(m=m, r_0=Start(r_b, fixed=True), v_0=Start(v_b, fixed=True)),
    )

    def vector(name):
        return np.column_stack([result[f"{name}[{i}]"] for i in (1, 2, 3)])

    ra, va, rb, vb = vector("a.r_0"), vector("a.v_0"), vector("b.r_0"), vector("b.v_0")
    line = rb - ra
    length = np.linalg.norm(line, axis=1)[:, None]
    e = line / length
    turning = (vb - va - e * np.sum((vb - va) * e, axis=1)[:, None]) / length
    positions = [ra, rb, ra + L_a * e, rb - L_b * e]
    speeds = [va, vb, va + L_a * turning, vb - L_b * turning]
    masses = [m, m, m_a, m_b]
    momentum = sum(k * v for k, v in zip(masses, speeds, strict=True))
    spin = sum(k * np.cross(r, v) for k, r, v in zip(masses, positions, speeds, strict=True))
    energy = (
        sum(k * np.sum(v**2, axis=1) / 2 for k, v in zip(masses, speeds, strict=True))
        + c * (length[:, 0] - s0) ** 2 / 2
    )
    for kept in (momentum, spin, energy):
        np.testing.assert_allclose(kept, np.broadcast_to(kept[0], kept.shape), atol=1e-7)
    assert np.ptp(length) > 0.05


@pytest.mark.slow
def test_masses_at_the_ends_of_a_line_are_masses_of_its_ends():
    def rig(line, m):
        return run(
            "world.frame_b - line.frame_a",
            "mass.frame_a - line.frame_b",
            "line.flange_a - c.flange_a",
            "line.flange_b - c.flange_b",
            world=World(),
            line=line,
            c=translational.Spring(c=50, s_rel0=0.4),
            mass=PointMass(m=m, r_0=Start((0.5, -0.2, 0.1), fixed=True), v_0=Start((0, 0.3, 1), fixed=True)),
        )

    plain = rig(forces.LineForceWithMass(), 2.0)
    for other in (
        rig(forces.LineForceWithTwoMasses(m_a=3.0, m_b=0.7), 1.3),
        rig(forces.LineForceWithMass(m=0.7, lengthFraction=1.0), 1.3),
    ):
        for i in (1, 2, 3):
            np.testing.assert_allclose(other[f"mass.r_0[{i}]"], plain[f"mass.r_0[{i}]"], atol=1e-8)


# -- forces that signals give ------------------------------------------------------------------------------------------

FORCE, TORQUE = np.array([3.0, -1.0, 2.0]), np.array([0.5, 0.7, -0.2])
#: Turns the world frame into the frame at the body, and into frame_resolve.
BODY, RESOLVE, BASE = (Rotation.from_rotvec(np.deg2rad(v)) for v in ([0, 0, 35], [60, 0, 0], [0, -50, 0]))
M, I = 2.0, np.diag([0.3, 0.5, 0.8])  # noqa: E741


def rig(force: Component, *signals: str, resolve: bool, base: bool):
    """A body at rest, turned by 35 degrees about z, with a force from a base turned by -50 degrees about y."""
    connections = ["ground.frame_b - force.frame_a"] if base else []
    connections += ["world.frame_b - turned.frame_a", "turned.frame_b - force.frame_resolve"] if resolve else []
    return run(
        *connections,
        "body.frame_a - force.frame_b",
        "world.frame_b - ground.frame_a",
        *(f"{name}_signal.y - force.{name}" for name in signals),
        stop=0.01,
        force=force,
        world=World(gravityType="NoGravity"),
        ground=FixedRotation(r=(0.4, 1.0, -0.3), n=(0, 1, 0), angle=-50),
        **({"turned": FixedRotation(n=(1, 0, 0), angle=60)} if resolve else {}),
        **{f"{name}_signal": blocks.Constant(k={"force": FORCE, "torque": TORQUE}[name]) for name in signals},
        body=Body(
            m=M,
            r_CM=(0, 0, 0),
            I_11=I[0, 0],
            I_22=I[1, 1],
            I_33=I[2, 2],
            angles_fixed=True,
            angles_start=(0, 0, np.deg2rad(35)),
            r_0=Start((0, 0, 0), fixed=True),
            v_0=Start((0, 0, 0), fixed=True),
            w_0_fixed=True,
        ),
    )


def in_world(frame, vector):
    return {"world": Rotation.identity(), "frame_a": BASE, "frame_b": BODY, "frame_resolve": RESOLVE}[frame].apply(
        vector
    )


def first(result, name):
    return np.array([result[f"{name}[{i}]"][0] for i in (1, 2, 3)])


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize(
    ("kind", "frame"),
    list(
        itertools.product(("WorldForce", "WorldTorque", "WorldForceAndTorque"), ("world", "frame_b", "frame_resolve"))
    ),
)
def test_external_forces(kind, frame):
    signals = [name for name in ("force", "torque") if name.title() in kind]
    result = rig(getattr(forces, kind)(resolveInFrame=frame), *signals, resolve=frame == "frame_resolve", base=False)
    force = in_world(frame, FORCE) if "force" in signals else np.zeros(3)
    torque = BODY.inv().apply(in_world(frame, TORQUE)) if "torque" in signals else np.zeros(3)
    np.testing.assert_allclose(first(result, "body.a_0"), force / M, atol=1e-12)
    np.testing.assert_allclose(first(result, "body.z_a"), np.linalg.solve(I, torque), atol=1e-12)


@pytest.mark.slow
@pytest.mark.campaign(keep=6)
@pytest.mark.parametrize(
    ("kind", "frame"),
    list(itertools.product(("Force", "Torque", "ForceAndTorque"), ("world", "frame_a", "frame_b", "frame_resolve"))),
)
def test_forces_between_frames_act_on_both(kind, frame):
    signals = [name for name in ("force", "torque") if name.title() in kind]
    result = rig(getattr(forces, kind)(resolveInFrame=frame), *signals, resolve=frame == "frame_resolve", base=True)
    force = in_world(frame, FORCE) if "force" in signals else np.zeros(3)
    torque = in_world(frame, TORQUE) if "torque" in signals else np.zeros(3)
    np.testing.assert_allclose(first(result, "body.a_0"), force / M, atol=1e-12)
    np.testing.assert_allclose(first(result, "body.z_a"), np.linalg.solve(I, BODY.inv().apply(torque)), atol=1e-12)
    reaction = torque + np.cross(-np.array([0.4, 1.0, -0.3]), force)  # about the origin of frame_a
    np.testing.assert_allclose(BASE.apply(first(result, "force.frame_a.f")), force, atol=1e-12)
    np.testing.assert_allclose(BASE.apply(first(result, "force.frame_a.t")), reaction, atol=1e-12)
    if "force" in signals:
        np.testing.assert_allclose(first(result, "force.basicForce.f_b_0"), -force, atol=1e-12)
        np.testing.assert_allclose(first(result, "force.basicForce.r_0"), [-0.4, -1.0, 0.3], atol=1e-12)
    else:
        np.testing.assert_allclose(first(result, "force.basicTorque.t_b_0"), -torque, atol=1e-12)


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "missing"),
    [("Force", "frame_resolve"), ("WorldTorque", "frame_resolve"), ("Force", "frame_a"), ("ForceAndTorque", "frame_b")],
)
def test_open_frames_are_named(kind, missing):
    resolve = "frame_resolve" if missing == "frame_resolve" else "world"
    force = getattr(forces, kind)(resolveInFrame=resolve)
    frames = [name for name in ("frame_a", "frame_b") if name in force.ports() and name != missing]
    assembly = wired(
        *(f"body.frame_a - force.{name}" for name in frames),
        "k.y - force.force" if kind != "WorldTorque" else "k.y - force.torque",
        world=World(),
        force=force,
        body=Body(m=1, r_CM=(0, 0, 0)),
        k=blocks.Constant(k=(1, 0, 0)),
    )
    if kind == "ForceAndTorque":
        assembly.connect(assembly.k.y, assembly.force.torque)
    with pytest.raises(ModelError, match=rf"force\.{missing}.*is not connected"):
        System.of(assembly)


def test_signals_of_wrong_size_are_refused():
    with pytest.raises(ModelError, match=r"k\.y \(2 elements\).*force\.force \(3 elements\)"):
        System.of(
            wired(
                "k.y - force.force",
                "body.frame_a - force.frame_b",
                world=World(),
                force=forces.WorldForce(),
                body=Body(m=1, r_CM=(0, 0, 0)),
                k=blocks.Constant(k=(1, 0)),
            )
        )


def test_line_forces_without_length_are_refused():
    with pytest.raises(
        Exception, match=r"spring\.lineForce.*distance between frame_a and frame_b has come down to s_small"
    ):
        run(
            "world.frame_b - spring.frame_a",
            "mass.frame_a - spring.frame_b",
            world=World(),
            spring=forces.Spring(c=1),
            mass=PointMass(m=1),
        )


def test_a_mass_that_was_left_out_cannot_be_set_later():
    assembly = wired(
        "world.frame_b - spring.frame_a",
        "end.frame_b - spring.frame_b",
        world=World(),
        end=FixedTranslation(r=(1, 0, 0)),
        spring=forces.Spring(c=1),
    )
    assembly.connect(assembly.world.frame_b, assembly.end.frame_a)
    with pytest.raises(Exception, match="m was 0 when this model was built"):
        simulate(assembly, 0.1, start_values={"spring.m": 1.0})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: forces.Spring(), "needs a value for c"),
        (lambda: forces.SpringDamperSeries(c=1, d=-1), "must be >= 0"),
        (lambda: forces.Spring(c=1, m=1, lengthFraction=1.5), "must be <= 1"),
        (lambda: forces.Damper(d=1, useHeatPort=True), r"f\.heatPort.*not connected"),
        (lambda: forces.Force(resolveInFrame="frame_c"), "expected one of world, frame_a, frame_b, frame_resolve"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ModelError, match=message):
        System.of(
            wired(
                "world.frame_b - f.frame_a",
                "tip.frame_b - f.frame_b",
                "world.frame_b - hinge.frame_a",
                "hinge.frame_b - tip.frame_a",
                world=World(),
                f=make(),
                tip=FixedTranslation(r=(1, 0, 0)),
                hinge=Revolute(),
            )
        )
