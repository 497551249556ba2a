"""The articulated-body recursion gives what the dense equations of motion give, in place and as leaf functions."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest

from mbfmu.components import (
    Beam,
    Body,
    BodyBox,
    BodyShape,
    FixedRotation,
    FixedTranslation,
    FreeMotion,
    PointMass,
    Prismatic,
    Revolute,
    Rotor1D,
    Spherical,
    World,
    blocks,
    rotational,
    thermal,
)
from mbfmu.components.forces import SpringDamperParallel
from mbfmu.dynamics.solving import accelerations as forms
from mbfmu.dynamics.solving import articulated_body, dense
from mbfmu.dynamics.system import System
from mbfmu.frames import null_rotation
from mbfmu.modeling import (
    Assembly,
    Component,
    Coordinate,
    Frame,
    Frame_a,
    Frame_b,
    HeatPort,
    Parameter,
    RotationalFlange,
    Start,
)
from mbfmu.modeling import types as t
from mbfmu.modeling.registry import assemblies
from mbfmu.sources import load


class Tree(Assembly):
    """A branching tree with every kind of joint, one of them reversed, with driven axes, rotors and a spring across."""

    def __init__(self) -> None:
        self.world = World()
        self.turn = Revolute(n=(0, 0, 1), useAxisFlange=True)
        self.drive = rotational.Inertia(J=0.3)
        self.gear = rotational.IdealGear(ratio=5)
        self.motor = rotational.Inertia(J=0.01)
        self.shaft = rotational.Spring(c=40)
        self.flywheel = rotational.Inertia(J=0.2)
        self.beam = BodyBox(r=(0.6, 0.1, 0), width=0.05)
        self.left = Prismatic(n=(0, 1, 0))
        self.slide = BodyShape(r=(0.1, 0.2, 0.3), r_CM=(0.1, 0, 0), m=2, I_11=0.2, I_22=0.3, I_33=0.25, I_21=0.02)
        self.ball = Spherical()
        self.bob = Body(m=1.5, r_CM=(0, -0.4, 0.1), I_11=0.1, I_22=0.12, I_33=0.08)
        self.tilt = FixedRotation(n=(1, 1, 0), angle=37, r=(0.1, 0, 0))
        self.arm = FixedTranslation(r=(0.3, 0, 0))
        self.back = Revolute(n=(0, 1, 1))
        self.tool = BodyBox(r=(0.2, 0, 0), width=0.04)
        self.tip = PointMass(m=0.4)
        self.rotor = Rotor1D(J=0.05, n=(0, 1, 0))
        self.free = FreeMotion()
        self.floater = Body(m=3, r_CM=(0.1, 0, 0), I_11=0.2, I_22=0.3, I_33=0.4)
        self.spring = SpringDamperParallel(c=30, d=2, s_unstretched=0.1)
        for a, b in (
            (self.world.frame_b, self.turn.frame_a),
            (self.turn.frame_b, self.beam.frame_a),
            (self.beam.frame_b, self.left.frame_a),
            (self.left.frame_b, self.slide.frame_a),
            (self.slide.frame_b, self.ball.frame_a),
            (self.ball.frame_b, self.bob.frame_a),
            (self.beam.frame_b, self.tilt.frame_a),
            (self.tilt.frame_b, self.arm.frame_a),
            (self.back.frame_b, self.arm.frame_b),  # reversed
            (self.tool.frame_a, self.back.frame_a),
            (self.tip.frame_a, self.tool.frame_b),
            (self.rotor.frame_a, self.slide.frame_a),
            (self.world.frame_b, self.free.frame_a),
            (self.free.frame_b, self.floater.frame_a),
            (self.spring.frame_a, self.floater.frame_a),
            (self.spring.frame_b, self.tool.frame_b),
            (self.turn.axis, self.drive.flange_a),
            (self.drive.flange_b, self.gear.flange_b),
            (self.gear.flange_a, self.motor.flange_a),
            (self.motor.flange_b, self.shaft.flange_a),
            (self.shaft.flange_b, self.flywheel.flange_a),
        ):
            self.connect(a, b)


class SkewTree(Assembly):
    """A floating base with limbs of hinges and slides along random axes, between bodies of no particular form."""

    def __init__(self, joints: int = 14) -> None:
        random = np.random.default_rng(joints)
        self.world = World()
        self.base, self.trunk = FreeMotion(), some_body(random)
        self.connect(self.world.frame_b, self.base.frame_a)
        self.connect(self.base.frame_b, self.trunk.frame_a)
        ends = [self.base.frame_b]
        for i in range(joints):
            kind = Prismatic if i % 4 == 3 else Revolute
            joint = self.add(f"joint{i}", kind(n=random.normal(size=3)))
            turn = self.add(f"turn{i}", FixedRotation(n=random.normal(size=3), angle=50, r=random.normal(size=3)))
            body = self.add(f"body{i}", some_body(random))
            ends_on = (joint.frame_b, joint.frame_a) if i % 5 == 4 else (joint.frame_a, joint.frame_b)
            self.connect(ends[random.integers(len(ends))], ends_on[0])
            self.connect(ends_on[1], turn.frame_a)
            self.connect(turn.frame_b, body.frame_a)
            ends.append(turn.frame_b)


def some_body(random: np.random.Generator) -> Body:
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    J = turn @ np.diag(random.uniform(0.1, 0.19, 3)) @ turn.T
    moments = {f"I_{i + 1}{j + 1}": J[i, j] for i in range(3) for j in range(i + 1)}
    return Body(m=random.uniform(1, 3), r_CM=random.uniform(-0.3, 0.3, 3), **moments)


AXES = np.eye(3)


def chain(links: int, axes: np.ndarray = AXES) -> Assembly:
    class Chain(Assembly):
        """Links with hinges about these axes in turn."""

        def __init__(self) -> None:
            self.world = World()
            at = self.world.frame_b
            for i in range(links):
                joint = self.add(f"joint{i}", Revolute(n=axes[i % len(axes)], phi=Start(0.1, fixed=True)))
                link = self.add(f"link{i}", BodyBox(r=(0.5, 0, 0), width=0.06))
                self.connect(at, joint.frame_a)
                self.connect(joint.frame_b, link.frame_a)
                at = link.frame_b

    return Chain()


def accelerations(system: System, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    e = system.equations
    P = np.concatenate([e.parameters, np.array(e.functions["derived"](e.parameters)).ravel()])
    A, b = (np.array(v) for v in e.functions["dynamics"](0.3, x, u, P, np.ones(e.nm + e.nheld)))
    return b.ravel() if e.explicit else np.linalg.solve(A, b).ravel()


def every_way(assembly: Callable[[], Assembly], monkeypatch: pytest.MonkeyPatch) -> dict[str, System]:
    """The same equations in dense form and, where it applies, by the recursion in place and as leaf functions."""
    systems = {}
    for way, (speeds, groups) in {"dense": (10**6, 0), "leaf functions": (1, 0), "in place": (1, 1000)}.items():
        monkeypatch.setattr(forms, "RECURSIVE_FROM", speeds)
        monkeypatch.setattr(forms, "SPARSE_FROM", 10**6)
        monkeypatch.setattr(dense, "FULL", 0)
        monkeypatch.setattr(articulated_body, "INLINE_GROUPS", groups)
        system = System.of(assembly())
        assert not (way == "dense" and system.equations.explicit)
        if way == "dense" or system.equations.explicit:
            systems[way] = system
        if system.equations.nl:
            break  # nothing to compare with
    return systems


def assert_equal(systems: dict[str, System]) -> None:
    e = systems["dense"].equations
    random = np.random.default_rng(5)
    for _ in range(4):
        x, u = random.normal(size=e.nx), random.normal(size=e.nu)
        for offset in e.quaternions:
            x[offset : offset + 4] /= np.linalg.norm(x[offset : offset + 4])
        expected = accelerations(systems["dense"], x, u)
        for way, system in systems.items():
            found = accelerations(system, x, u)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(), err_msg=way)


class FedBack(Component):
    """A torque along an axis, or a force across it, that knows the acceleration of a frame."""

    along = Parameter(t.Boolean, True, "= true, a torque; else a force", structural=True)

    frame_a, flange = Frame("What is measured"), RotationalFlange("What is driven")

    def equations(self) -> None:
        push = 0.3 * self.der(self.der(self.frame_a.r_0))[1]
        self.frame_a.f = ca.vertcat(0 if self.along else push, 0, 0)
        self.frame_a.t = ca.SX.zeros(3)
        self.flange.tau = push if self.along else 0


def fed_back(along: bool) -> Assembly:
    """A chain, one of whose hinges is driven by the acceleration of the link behind it, or that link is pushed by it.

    What hangs on the links before it has no symmetric inertia then.
    """
    assembly = chain(7)
    joint = assembly.joint3
    joint.modify(useAxisFlange=True)
    assembly.feedback = FedBack(along=along)
    assembly.connect(assembly.feedback.flange, joint.axis)
    assembly.connect(assembly.feedback.frame_a, joint.frame_b)
    return assembly


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    "assembly",
    [Tree, SkewTree, lambda: chain(7), lambda: fed_back(True), lambda: fed_back(False)],
    ids=["tree", "skew tree", "chain", "fed back torque", "fed back force"],
)
def test_recursion_equals_dense_equations(assembly, monkeypatch) -> None:
    systems = every_way(assembly, monkeypatch)
    assert len(systems) == 3
    assert_equal(systems)


class Bent(Assembly):
    """A hinge, a link, and a body that bends, whose end the link holds; a mass on its other end."""

    def __init__(self, bending: Component) -> None:
        self.world, self.hinge, self.link = World(), Revolute(n=(0, 1, 0.3)), BodyBox(r=(0.3, 0.1, 0), width=0.1)
        self.bending = bending
        self.tip = Body(m=0.3, r_CM=(0, 0.1, 0.2), I_11=0.01, I_22=0.02, I_33=0.025)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.link.frame_a)
        self.connect(self.link.frame_b, self.bending.frame_b)
        self.connect(self.bending.frame_a, self.tip.frame_a)


class Loaded(Component):
    """A rod that lengthens, whose loads at both ends know how."""

    frame_a, frame_b = Frame_a("One end"), Frame_b("The other")
    s = Coordinate(t.Position, "What it is longer by")

    def equations(self) -> None:
        a = self.der(self.der(self.s))
        self.relative_motion(ca.vertcat(1 + self.s, 0.2, 0), null_rotation())
        self.frame_a.f, self.frame_a.t = ca.vertcat(0.3 * a, 0.1 * a, 0), ca.vertcat(0, 0, 0.2 * a)
        self.frame_b.f, self.frame_b.t = ca.vertcat(0.7 * a, 0, 0.4 * a), ca.vertcat(0, 0.1 * a, 0)
        self.effort(s=-20 * self.s - 2 * a)


@pytest.mark.slow
@pytest.mark.parametrize(
    "bending",
    [
        lambda: Beam(
            r=(0.6, 0.8, 0), EI_y=1.0, EI_z=2.0, EA=400.0, GJ=1.5, rhoA=1.0, rhoI_y=1e-3, rhoI_z=2e-3,
            nWidth=1, nHeight=1, nTorsion=0,
        ),
        Loaded,
    ],
    ids=["beam", "rod with loads at both ends"],
)  # fmt: skip
def test_the_recursion_enters_a_body_that_bends_at_its_end(bending, monkeypatch) -> None:
    systems = {}
    for way, speeds in {"dense": 10**6, "in place": 1}.items():
        monkeypatch.setattr(forms, "RECURSIVE_FROM", speeds)
        monkeypatch.setattr(forms, "SPARSE_FROM", 10**6)
        monkeypatch.setattr(articulated_body, "INLINE_GROUPS", 1000)
        systems[way] = System.of(Bent(bending()))
    assert [system.equations.explicit for system in systems.values()] == [False, True]
    assert_equal(systems)


#: Gallery assemblies that the recursion applies to: trees with frames, without constraints.
TREES = {
    "actuated_drive",
    "bevel_gear",
    "boom_crane",
    "cam_follower",
    "double_pendulum",
    "flexible_robot",
    "flexible_rotor",
    "free_body",
    "furuta_pendulum",
    "gantry_crane",
    "gyroscopic_effects",
    "heat_losses",
    "heavy_top",
    "moving_actuated_drive",
    "pendulum",
    "point_gravity",
    "spring_mass_system",
    "tower_crane",
    "user_defined_gravity_field",
}


@pytest.mark.slow
@pytest.mark.campaign("lane_change", "dominoes", "walker", "engine_v6", "boom_crane", "flexible_robot", keep=3)
@pytest.mark.parametrize("name", assemblies())
def test_every_way_to_accelerations_agrees_in_the_gallery(name, monkeypatch) -> None:
    systems = every_way(lambda: load(name), monkeypatch)
    assert (len(systems) == 3) == (name in TREES)
    assert_equal(systems)


class Heated(Assembly):
    """Six hinges; the torque at the first grows with the temperature that heat from outside gives its housing."""

    port = HeatPort("Heat from outside")

    def __init__(self) -> None:
        self.world = World()
        self.wall, self.room = thermal.ThermalConductor(G=2.0), thermal.FixedTemperature(T=293.15)
        self.meter, self.gain = thermal.TemperatureSensor(), blocks.Gain(k=0.05)
        self.torque = rotational.Torque()
        self.connect(self.port, self.wall.port_a)
        self.connect(self.wall.port_b, self.room.port)
        self.connect(self.meter.port, self.wall.port_a)
        self.connect(self.meter.T, self.gain.u)
        self.connect(self.gain.y, self.torque.tau)
        at = self.world.frame_b
        for i in range(6):
            joint = self.add(f"joint{i}", Revolute(n=np.eye(3)[i % 3], useAxisFlange=True))
            link = self.add(f"link{i}", BodyBox(r=(0.5, 0, 0), width=0.06))
            self.connect(at, joint.frame_a)
            self.connect(joint.frame_b, link.frame_a)
            at = link.frame_b
        self.connect(self.torque.flange, self.joint0.axis)


@pytest.mark.slow
def test_heat_from_outside_reaches_the_recursion(monkeypatch) -> None:
    """T = room + Q / G, so that 10 W are 5 K and 0.25 N.m, which the mass matrix turns into acceleration."""
    systems = every_way(Heated, monkeypatch)
    assert len(systems) == 3
    assert_equal(systems)
    dense = systems["dense"].equations
    P = np.concatenate([dense.parameters, np.array(dense.functions["derived"](dense.parameters)).ravel()])
    x = np.random.default_rng(2).normal(size=dense.nx)
    A = np.array(dense.functions["dynamics"](0.0, x, [0.0], P, [])[0])
    expected = np.linalg.solve(A, 0.25 * np.eye(6)[0])
    for way, system in systems.items():
        cold, hot = (accelerations(system, x, np.array([Q])) for Q in (0.0, 10.0))
        np.testing.assert_allclose(hot - cold, np.sign(A[0, 0]) * expected, rtol=1e-8, err_msg=way)


@pytest.mark.slow
@pytest.mark.campaign
def test_code_grows_with_the_kinds_of_links_not_with_their_number() -> None:
    sizes = []
    for links in (30, 60):
        function = System.of(chain(links)).equations.functions["dynamics"]
        sizes.append(len(function.serialize()))
    assert sizes[1] < 2.1 * sizes[0]


@pytest.mark.slow
@pytest.mark.campaign
def test_axes_in_all_directions_share_their_code() -> None:
    """One leaf function takes the direction of an axis as an argument: 30 different ones are no more than 3."""
    axes = np.random.default_rng(3).normal(size=(30, 3))
    few, many = (code(System.of(chain(30, some)).equations.functions["dynamics"]) for some in (axes[:1], axes))
    assert many < 1.3 * few


def code(function: ca.Function) -> int:
    generator = ca.CodeGenerator("code")
    generator.add(function)
    return len(generator.dump())


@pytest.mark.slow
def test_constraints_are_left_to_the_dense_form() -> None:
    class Loop(Assembly):
        """Four-bar."""

        def __init__(self) -> None:
            self.world = World()
            bars = [(0, 0.3, 0), (0.6, 0, 0), (0, -0.3, 0)]
            at = self.world.frame_b
            for i, r in enumerate(bars):
                joint = self.add(f"joint{i}", Revolute(n=(0, 0, 1)))
                bar = self.add(f"bar{i}", BodyBox(r=r, width=0.02, widthDirection=(0, 0, 1)))
                self.connect(at, joint.frame_a)
                self.connect(joint.frame_b, bar.frame_a)
                at = bar.frame_b
            self.last = Revolute(n=(0, 0, 1))
            self.ground = FixedTranslation(r=(0.6, 0, 0))
            self.connect(at, self.last.frame_a)
            self.connect(self.world.frame_b, self.ground.frame_a)
            self.connect(self.ground.frame_b, self.last.frame_b)

    equations = System.of(Loop()).equations
    assert not equations.explicit
    assert equations.nv - equations.nl == 1
