"""Topology: which joints span the tree, what is cut, what moves freely, and how 1D networks find their coordinates."""

from __future__ import annotations

import itertools
import math

import casadi as ca
import numpy as np
import pytest

import mbfmu
from mbfmu.components import (
    Body,
    BodyShape,
    FixedTranslation,
    FreeMotion,
    PointMass,
    Prismatic,
    Revolute,
    Spherical,
    World,
    rotational,
)
from mbfmu.dynamics.structure.scalar_graph import Relation, ScalarNode
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Start

HALF_PI = math.pi / 2


def bar(length: float, m: float = 1.0) -> BodyShape:
    return BodyShape(m=m, r=(length, 0, 0), r_CM=(length / 2, 0, 0), I_22=0.01, I_33=0.01)


# -- reversed joints


class Chain(Assembly):
    """Three bars and a slide on hinges; each joint can stand the wrong way round."""

    def __init__(self, reverse: tuple[bool, ...]) -> None:
        self.world = World()
        sign = [-1.0 if r else 1.0 for r in reverse]
        self.j1 = Revolute(phi=Start(0.3 * sign[0], fixed=True), w=Start(1.0 * sign[0], fixed=True))
        self.j2 = Prismatic(n=(1, 1, 0), s=Start(0.2 * sign[1], fixed=True), v=Start(0.5 * sign[1], fixed=True))
        self.j3 = Revolute(n=(1, 0, 1), phi=Start(-0.4 * sign[2], fixed=True), w=Start(2.0 * sign[2], fixed=True))
        self.bars = [bar(0.5), bar(0.4), bar(0.3)]
        frame = self.world.frame_b
        for joint, part, backwards in zip((self.j1, self.j2, self.j3), self.bars, reverse, strict=True):
            near, far = (joint.frame_b, joint.frame_a) if backwards else (joint.frame_a, joint.frame_b)
            self.connect(frame, near)
            self.connect(far, part.frame_a)
            frame = part.frame_b


@pytest.mark.slow
@pytest.mark.parametrize("reverse", [(True, False, False), (False, True, False), (True, True, True)])
def test_a_reversed_joint_moves_its_load_alike(reverse: tuple[bool, ...]) -> None:
    """Position, loads and all; only the joint's own coordinate, seen from the other side, has the other sign."""
    forward = mbfmu.simulate(Chain((False,) * 3), 1.0, tolerance=1e-10)
    system = mbfmu.System.of(Chain(reverse))
    assert sum("reversed" in line for line in system.structure) == sum(reverse)
    backward = mbfmu.simulate(system, 1.0, tolerance=1e-10)
    for name in forward.names:
        if name.startswith(("bars[3].frame_b.", "bars[1].frame_a.")):
            np.testing.assert_allclose(backward[name], forward[name], atol=1e-7, err_msg=name)
    for joint, coordinate, turned in zip(("j1", "j2", "j3"), ("phi", "s", "phi"), reverse, strict=True):
        name = f"{joint}.{coordinate}"
        np.testing.assert_allclose(backward[name], (-1 if turned else 1) * forward[name], atol=1e-7, err_msg=name)


# -- loops


class FourBar(Assembly):
    """A planar four-bar of plain hinges: dependent constraints that nobody has to name."""

    joints = ("j1", "j2", "j3", "j4")

    def __init__(self, flat: bool = False) -> None:
        self.world = World(n=(0, 0, -1)) if flat else World()
        self.base = FixedTranslation(r=(0.5, 0, 0))
        self.crank, self.coupler, self.rocker = bar(0.2), bar(0.5 if flat else 0.55), bar(0.2 if flat else 0.4)
        self.j1 = Revolute(phi=Start(0.0 if flat else 1.0, fixed=True), w=Start(2.0, fixed=True))
        self.j2, self.j3, self.j4 = (Revolute(phi=Start(phi)) for phi in ((0, 0, 0) if flat else (-1.0, 1.2, 0.8)))
        self.connect(self.world.frame_b, self.j1.frame_a)
        self.connect(self.j1.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.j2.frame_a)
        self.connect(self.j2.frame_b, self.coupler.frame_a)
        self.connect(self.coupler.frame_b, self.j3.frame_a)
        self.connect(self.rocker.frame_b, self.j3.frame_b)
        self.connect(self.world.frame_b, self.base.frame_a)
        self.connect(self.base.frame_b, self.j4.frame_a)
        self.connect(self.j4.frame_b, self.rocker.frame_a)


@pytest.mark.slow
def test_a_planar_loop_has_one_freedom_and_says_what_was_redundant() -> None:
    system = mbfmu.System.of(FourBar())
    assert system.structure[0].startswith("1 degree of freedom")
    cut = [line for line in system.structure if ": cut, " in line]
    assert len(cut) == 1
    tree = next(line for line in system.structure if line.startswith("joints in the tree: "))
    others = [joint for joint in FourBar.joints if not cut[0].startswith(joint)]
    assert sorted(tree.removeprefix("joints in the tree: ").split(", ")) == others
    assert not cut[0].startswith("j1:")  # its start values are fixed
    assert sum(line.endswith("are redundant and dropped") for line in system.structure) == 1


@pytest.mark.slow
def test_every_cut_gives_one_motion() -> None:
    motions = {}
    for joint in FourBar.joints:
        system = mbfmu.System.of(FourBar(), cuts=(joint,))
        assert f"{joint}: cut, 5 constraints" in system.structure
        motions[joint] = mbfmu.simulate(system, 1.0, tolerance=1e-11, interval=0.05)
    for one, other in itertools.pairwise(FourBar.joints):
        for name in ("j1.phi", "j2.phi", "j3.phi", "j4.phi", "coupler.frame_b.r_0[1]"):
            difference = motions[one][name] - motions[other][name]
            np.testing.assert_allclose(np.angle(np.exp(1j * difference)), 0.0, atol=1e-8, err_msg=f"{one}, {name}")


@pytest.mark.slow
def test_the_loop_stays_closed() -> None:
    """Freudenstein's closure of a four-bar, from the lengths alone."""
    result = mbfmu.simulate(FourBar(), 5.0, tolerance=1e-8)
    tip = np.stack([0.2 * np.cos(result["j1.phi"]), 0.2 * np.sin(result["j1.phi"])])
    end = np.stack([0.5 + 0.4 * np.cos(result["j4.phi"]), 0.4 * np.sin(result["j4.phi"])])
    np.testing.assert_allclose(np.linalg.norm(tip - end, axis=0), 0.55, atol=1e-10)
    assert np.ptp(result["j1.phi"]) > 1


@pytest.mark.slow
def test_a_flat_parallelogram_keeps_its_freedom() -> None:
    """Its Jacobian loses rank at the start, so the rows to keep are those of the positions around it."""
    system = mbfmu.System.of(FourBar(flat=True))
    assert system.structure[0].startswith("1 degree of freedom")
    assert (system.equations.nv, system.equations.nl) == (4, 3)
    told = "branches of motion cross at the start: the guesses of speeds choose one"
    assert told in system.structure
    assert told not in mbfmu.System.of(FourBar()).structure


@pytest.mark.slow
def test_joints_with_states_of_their_own_are_cut_last() -> None:
    assembly = FourBar()
    for name in ("j2", "j3"):
        assembly.parts[name].modify(stateSelect="always")
    assert any(line.startswith("j4: cut") for line in mbfmu.System.of(assembly).structure)
    assembly = FourBar()
    assembly.ball = Spherical()  # in place of j3
    old = assembly.j3
    assembly.connections[:] = [
        tuple(assembly.ball.connector(c.port.name) if c.owner is old else c for c in pair)
        for pair in assembly.connections
    ]
    del assembly.parts["j3"]
    assert "ball: cut, 3 constraints" in mbfmu.System.of(assembly).structure


def test_unknown_cuts_are_refused() -> None:
    with pytest.raises(ModelError, match=r"cannot cut j9: no joint of that name; joints are .*j1, .*j4"):
        mbfmu.System.of(FourBar(), cuts=("j9",))


# -- free motion


@pytest.mark.slow
def test_the_body_that_wants_states_moves_freely() -> None:
    class TwoBodies(Assembly):
        def __init__(self, **choice: bool) -> None:
            self.world = World()
            self.one = BodyShape(m=1.0, r=(1, 0, 0), r_CM=(0.5, 0, 0))
            self.two = Body(m=2.0, r_CM=(0, 0, 0), **choice)
            self.hinge = Revolute()
            self.connect(self.one.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.two.frame_a)

    by_default = mbfmu.System.of(TwoBodies())
    assert "one.body.freeMotion: moves freely" in by_default.structure
    assert by_default.structure[0].startswith("7 degrees of freedom")
    for choice in ({"enforceStates": True}, {"angles_fixed": True}):
        system = mbfmu.System.of(TwoBodies(**choice))
        assert "two.freeMotion: moves freely" in system.structure
        assert "hinge: in the tree, reversed" in system.structure


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_free_motion_joint_takes_the_place_of_a_free_body() -> None:
    class Held(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.joint = FreeMotion(r_rel_a=Start([0, 1, 0], fixed=True))
            self.body = Body(m=1.0, r_CM=(0, 0, 0))
            self.connect(self.world.frame_b, self.joint.frame_a)
            self.connect(self.joint.frame_b, self.body.frame_a)

    system = mbfmu.System.of(Held())
    assert not [line for line in system.structure if "moves freely" in line]
    assert mbfmu.simulate(system, 0.01)["body.r_0[2]"][0] == 1.0


class Masses(Assembly):
    """A point mass, and what hangs on it."""

    def __init__(self, *others: str) -> None:
        self.world = World()
        self.mass = PointMass(m=1.0, r_0=Start([1, 2, 3], fixed=True), v_0=Start([1, 0, 0], fixed=True))
        if "twin" in others:
            self.twin = PointMass(m=2.0)
            self.connect(self.mass.frame_a, self.twin.frame_a)
        if "rod" in others:
            self.rod = FixedTranslation(r=(1, 0, 0))
            self.connect(self.mass.frame_a, self.rod.frame_a)
        if "body" in others:
            self.body = Body(m=1.0, r_CM=(0, 0, 0))
            self.connect(self.rod.frame_b, self.body.frame_a)


@pytest.mark.parametrize("others", [(), ("twin",)])
def test_point_masses_have_three_freedoms(others: tuple[str, ...]) -> None:
    system = mbfmu.System.of(Masses(*others))
    assert system.structure[0].startswith("3 degrees of freedom")
    result = mbfmu.simulate(system, 1.0, tolerance=1e-9)
    np.testing.assert_allclose(result["mass.r_0[2]"], 2 - 9.80665 / 2 * result.time**2, atol=1e-9)
    np.testing.assert_allclose(result["mass.frame_a.R.T[2,2]"], 1.0)


@pytest.mark.slow
def test_a_point_mass_does_not_carry_rotation() -> None:
    with pytest.raises(ModelError, match=r"mass: this PointMass moves freely together .* use a Body"):
        mbfmu.System.of(Masses("rod"))
    system = mbfmu.System.of(Masses("rod", "body"))
    assert "body.freeMotion: moves freely" in system.structure


def test_massless_parts_that_nothing_holds_are_named() -> None:
    class Loose(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.one, self.two = FixedTranslation(r=(1, 0, 0)), FixedTranslation(r=(1, 0, 0))
            self.connect(self.one.frame_b, self.two.frame_a)

    with pytest.raises(ModelError, match=r"one\.frame_.: nothing holds this frame.*connect it to the World"):
        mbfmu.System.of(Loose())


# -- one-dimensional networks


class GearTrain(Assembly):
    """Motor, two gears and a load."""

    def __init__(self, select: str = "default") -> None:
        self.motor = rotational.Inertia(J=0.5, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.first, self.second = rotational.IdealGear(ratio=3.0), rotational.IdealGear(ratio=-2.0)
        self.load = rotational.Inertia(J=9.0, stateSelect=select)
        self.drive = rotational.ConstantTorque(tau_constant=1.5)
        self.connect(self.drive.flange, self.motor.flange_a)
        self.connect(self.motor.flange_b, self.first.flange_a)
        self.connect(self.first.flange_b, self.second.flange_a)
        self.connect(self.second.flange_b, self.load.flange_a)


@pytest.mark.slow
@pytest.mark.parametrize("select", ["default", "always", "never"])
def test_gears_share_one_coordinate(select: str) -> None:
    """J = 0.5 + 9 / 36 on the motor's side; stateSelect says whose angle is the state, not how it moves."""
    system = mbfmu.System.of(GearTrain(select))
    assert system.structure[0].startswith("1 degree of freedom (1 speed, 0 constraints)")
    states = {v.name for v in system.variables if v.store == "x"}
    assert ("load.phi" in states) == (select == "always")
    result = mbfmu.simulate(system, 2.0, tolerance=1e-9)
    np.testing.assert_allclose(result["motor.phi"], result.time**2, atol=1e-8)
    np.testing.assert_allclose(result["load.w"], -2 * result.time / 6, atol=1e-8)
    np.testing.assert_allclose(result["load.flange_a.tau"], 9.0 * -2 / 6, atol=1e-9)


class Planet(Assembly):
    """A planetary gear whose ring is held or driven, beside a shaft that closes a loop of one dimension."""

    def __init__(self, close: bool) -> None:
        self.gear = rotational.IdealPlanetary(ratio=2.0)
        self.sun, self.carrier, self.ring = (
            rotational.Inertia(J=J, phi=Start(0.0, fixed=J < 3 or not close), w=Start(0.0, fixed=J < 3 or not close))
            if J != 2.0
            else rotational.Inertia(J=J)
            for J in (1.0, 2.0, 3.0)
        )
        self.drive = rotational.ConstantTorque(tau_constant=1.0)
        self.connect(self.gear.sun, self.sun.flange_a)
        self.connect(self.gear.carrier, self.carrier.flange_a)
        self.connect(self.gear.ring, self.ring.flange_a)
        self.connect(self.drive.flange, self.sun.flange_a)
        if close:
            self.shaft = rotational.IdealGear(ratio=4.0)
            self.connect(self.sun.flange_b, self.shaft.flange_a)
            self.connect(self.shaft.flange_b, self.ring.flange_b)


def test_a_planetary_gear_has_two_freedoms() -> None:
    """Kinetic energy in sun and ring: w_c = (w_s + r w_r) / (1 + r); the mass matrix by hand."""
    system = mbfmu.System.of(Planet(close=False))
    assert system.structure[0].startswith("2 degrees of freedom")
    r, (Js, Jc, Jr) = 2.0, (1.0, 2.0, 3.0)
    share = np.array([1, r]) / (1 + r)
    mass = np.diag([Js, Jr]) + Jc * np.outer(share, share)
    expected = np.linalg.solve(mass, [1.0, 0.0])
    result = mbfmu.simulate(system, 0.1)
    assert (result["sun.a"][0], result["ring.a"][0]) == pytest.approx(tuple(expected), rel=1e-10)


def test_a_closed_loop_of_gears_takes_a_multiplier() -> None:
    """The shaft ties the ring to the sun: w_r = w_s / 4, w_c = (1 + 2/4) / 3 w_s."""
    system = mbfmu.System.of(Planet(close=True))
    assert system.structure[0].startswith("1 degree of freedom")
    inertia = 1.0 + 2.0 * 0.5**2 + 3.0 * 0.25**2
    result = mbfmu.simulate(system, 1.0, tolerance=1e-9)
    np.testing.assert_allclose(result["sun.a"], 1 / inertia, rtol=1e-9)
    np.testing.assert_allclose(result["ring.phi"], result["sun.phi"] / 4, atol=1e-12)
    np.testing.assert_allclose(result["carrier.w"], result["sun.w"] / 2, atol=1e-9)


@pytest.mark.slow
def test_a_node_may_be_held_twice() -> None:
    """Two Fixed on one shaft say the same: one is enough, the other repeats it."""

    class HeldTwice(Assembly):
        def __init__(self) -> None:
            self.one, self.two = rotational.Fixed(phi0=0.5), rotational.Fixed(phi0=0.5)
            self.spring = rotational.Spring(c=8.0)
            self.disc = rotational.Inertia(J=2.0, phi=Start(1.5, fixed=True), w=Start(0.0, fixed=True))
            self.connect(self.one.flange, self.two.flange)
            self.connect(self.one.flange, self.spring.flange_a)
            self.connect(self.spring.flange_b, self.disc.flange_a)

    result = mbfmu.simulate(HeldTwice(), 3.0, tolerance=1e-9)
    np.testing.assert_allclose(result["disc.phi"], 0.5 + np.cos(2 * result.time), atol=1e-7)


def test_a_node_held_at_two_places_is_refused() -> None:
    class Torn(Assembly):
        def __init__(self) -> None:
            self.one, self.two = rotational.Fixed(phi0=0.5), rotational.Fixed(phi0=0.7)
            self.disc = rotational.Inertia(J=2.0)
            self.connect(self.one.flange, self.two.flange)
            self.connect(self.one.flange, self.disc.flange_a)

    with pytest.raises(mbfmu.MbfmuError, match=r"two\.flange"):
        mbfmu.simulate(Torn(), 0.1)


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("wanted", range(4))
def test_a_joint_with_state_select_always_stays_in_the_tree(wanted) -> None:
    """In a square of four hinges any one could be cut; its angle then is no state."""

    class Square(Assembly):
        """Four hinges about z."""

        def __init__(self) -> None:
            self.world = World()
            joints = [Revolute(stateSelect="always" if i == wanted else "prefer") for i in range(4)]
            sides = [(1, 0, 0), (0, 1, 0), (-1, 0, 0)]
            self.joints, at = joints, self.world.frame_b
            self.bars = [BodyShape(m=1.0, r=r, r_CM=(0, 0, 0)) for r in sides]
            for joint, side in zip(joints, self.bars, strict=False):
                self.connect(at, joint.frame_a)
                self.connect(joint.frame_b, side.frame_a)
                at = side.frame_b
            self.foot = FixedTranslation(r=(0, 1, 0))
            self.connect(self.world.frame_b, self.foot.frame_a)
            self.connect(self.foot.frame_b, joints[3].frame_a)
            self.connect(at, joints[3].frame_b)

    for reversed_order in (False, True):
        assembly = Square()
        if reversed_order:  # whichever comes first or last among equals
            parts = dict(reversed(assembly.parts.items()))
            assembly.parts.clear()
            assembly.parts.update(parts)
        system = mbfmu.System.of(assembly)
        states = {v.name for v in system.variables if v.store == "x"}
        assert f"joints[{wanted + 1}].phi" in states
        assert not any(line.startswith(f"joints[{wanted + 1}]: cut") for line in system.structure)


@pytest.mark.slow
def test_work_grows_with_the_number_of_separate_inertias_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    work = {"nodes": 0, "elements": 0}
    of_relation, depends_on = Relation.nodes.fget, ca.depends_on

    def nodes(relation: Relation) -> list[ScalarNode]:
        work["nodes"] += 1
        return of_relation(relation)

    def looked_through(expression: ca.SX, symbols: ca.SX) -> bool:
        work["elements"] += symbols.numel()
        return depends_on(expression, symbols)

    monkeypatch.setattr(Relation, "nodes", property(nodes))
    monkeypatch.setattr(ca, "depends_on", looked_through)

    def counted(count: int) -> dict[str, int]:
        assembly = Assembly()
        for i in range(count):
            setattr(assembly, f"inertia{i}", rotational.Inertia(J=1.0))
        work.update(nodes=0, elements=0)
        assert System.of(assembly).equations.nv == count
        return dict(work)

    few, many = counted(30), counted(120)
    assert few["nodes"] > 0
    assert all(many[name] <= 6 * few[name] for name in work), (few, many)
