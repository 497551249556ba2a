"""Assemblies: ownership, names, hierarchy, connections, and the interface to the outside."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu.arrays import Array
from mbfmu.components import Body, FixedTranslation, PointMass, Prismatic, Revolute, World, rotational, translational
from mbfmu.errors import ModelError
from mbfmu.modeling import (
    Assembly,
    Component,
    Frame_a,
    Parameter,
    RealInput,
    RotationalFlange,
    Start,
    TranslationalFlange,
)
from mbfmu.modeling import types as t


def rod(m: float = 1.0) -> Body:
    return Body(m=m, r_CM=(0.5, 0, 0), I_33=0.001)


def hinge(phi: float = 0.0) -> Revolute:
    return Revolute(phi=Start(phi, fixed=True), w=Start(0.0, fixed=True))


class Pendulum(Assembly):
    """A rod on a hinge.

    More about it.
    """

    def __init__(self) -> None:
        self.world = World()
        self.hinge = hinge()
        self.rod = rod()
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.rod.frame_a)
        self.output(self.hinge.phi, "angle")


def names(system: mbfmu.System) -> set[str]:
    return {v.name for v in system.variables}


# -- ownership


def test_attributes_name_and_own() -> None:
    assembly = Pendulum()
    assert assembly.hinge.path == "hinge"
    assert list(assembly.parts) == ["world", "hinge", "rod"]
    assert assembly.name == "Pendulum"
    assert assembly.description == "A rod on a hinge."


def test_lists_are_numbered_from_one() -> None:
    assembly = Assembly()
    assembly.rod = [rod(), rod()]
    assert assembly.rod[1].path == "rod[2]"
    assert list(assembly.parts) == ["rod[1]", "rod[2]"]


def test_a_component_is_used_once() -> None:
    assembly, part = Assembly(), rod()
    assembly.one = part
    with pytest.raises(ModelError, match=r"two: this Body is already 'one'; a component can be used once"):
        assembly.two = part
    with pytest.raises(ModelError, match="already 'one'"):
        Assembly().other = part


def test_nothing_contains_itself() -> None:
    inner, outer = Assembly(), Assembly()
    outer.inner = inner
    with pytest.raises(ModelError, match="cannot contain itself"):
        inner.outer = outer


def test_replacing_a_part_frees_the_old_one() -> None:
    assembly, old = Assembly(), rod()
    assembly.rod = old
    assembly.rod = rod(m=2.0)
    assert list(assembly.parts) == ["rod"]
    Assembly().again = old
    assert old.path == "again"


def test_a_shorter_list_frees_the_parts_that_are_left_over() -> None:
    assembly, old = Assembly(), [rod(), rod(m=2.0), rod(m=3.0)]
    assembly.rods = old
    assembly.rods = [rod(m=4.0)]
    assert list(assembly.parts) == ["rods[1]"]
    assert assembly.rods[0].value("m") == 4.0
    other = Assembly()
    other.again = old[::-1]
    assert [part.path for part in old] == ["again[3]", "again[2]", "again[1]"]


# -- hierarchy


class Carriage(Assembly):
    """Moves a pendulum; both bring a World of their own."""

    def __init__(self) -> None:
        self.world = World(g=1.5)
        self.slide = Prismatic(s=Start(0.0, fixed=True), v=Start(0.0, fixed=True))
        self.mass = PointMass(m=1e9)
        self.pendulum = Hanging()
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.mass.frame_a)
        self.connect(self.slide.frame_b, self.pendulum.frame_a)


class Hanging(Assembly):
    """A pendulum to be hung somewhere."""

    def __init__(self) -> None:
        self.frame_a = Frame_a("Where it hangs")
        self.world = World()
        self.hinge = hinge()
        self.rod = rod()
        self.connect(self.frame_a, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.rod.frame_a)


def test_the_outer_world_wins() -> None:
    """The rod's angular acceleration from rest shows which gravity acts: m d g / (I + m d^2)."""
    result = mbfmu.simulate(Carriage(), 0.01, outputs=["pendulum.hinge.a", "pendulum.rod.g_0[2]"])
    assert result["pendulum.hinge.a"][0] == pytest.approx(-0.5 * 1.5 / (0.001 + 0.25), rel=1e-6)
    assert result["pendulum.rod.g_0[2]"][0] == -1.5


def test_two_worlds_side_by_side_are_one_too_many() -> None:
    assembly = Pendulum()
    assembly.world2 = World()
    with pytest.raises(ModelError, match="Pendulum: world and world2 are both a World; keep one"):
        mbfmu.System.of(assembly)


def test_a_body_needs_a_world() -> None:
    class Lost(Assembly):
        def __init__(self) -> None:
            self.rod = rod()

    with pytest.raises(ModelError, match=r"rod: Body needs a World .* add one, e\.g\. self\.world = World\(\)"):
        mbfmu.System.of(Lost())


# -- connections


def test_only_like_connectors_are_connected() -> None:
    assembly = Pendulum()
    assembly.shaft = rotational.Inertia(J=1.0)
    assembly.mass = translational.Mass(m=1.0)
    with pytest.raises(ModelError, match=r"connect hinge\.frame_b \(frame\) with shaft\.flange_a \(rotational\)"):
        assembly.connect(assembly.hinge.frame_b, assembly.shaft.flange_a)
    with pytest.raises(ModelError, match=r"\(rotational\) with mass\.flange_a \(translational\)"):
        assembly.connect(assembly.shaft.flange_a, assembly.mass.flange_a)
    with pytest.raises(ModelError, match="connect takes two connectors, got"):
        assembly.connect(assembly.hinge, assembly.rod.frame_a)


def test_connections_stay_inside() -> None:
    assembly, stranger = Pendulum(), rod()
    assembly.connect(assembly.hinge.frame_b, stranger.frame_a)
    with pytest.raises(ModelError, match=r"connects .*frame_a, which is not part of it; assign the component"):
        mbfmu.System.of(assembly)


def test_a_missing_connector_is_named() -> None:
    with pytest.raises(ModelError, match=r"hinge \(Revolute\) has no connector 'frame_c'; did you mean"):
        Pendulum().hinge.connector("frame_c")


@pytest.mark.parametrize("count", [0, 1])
def test_a_joint_needs_both_frames(count: int) -> None:
    assembly = Pendulum()
    assembly.spare = Revolute()
    if count:
        assembly.connect(assembly.rod.frame_a, assembly.spare.frame_a)
    with pytest.raises(ModelError, match=r"spare.*frame_"):
        mbfmu.System.of(assembly)


def test_a_rigid_part_needs_one_frame() -> None:
    assembly = Pendulum()
    assembly.arm = FixedTranslation(r=(1, 0, 0))
    with pytest.raises(ModelError, match=r"arm.*frame_a.*frame_b"):
        mbfmu.System.of(assembly)
    assembly.connect(assembly.hinge.frame_b, assembly.arm.frame_a)  # the other frame stays open: it carries no load
    result = mbfmu.simulate(assembly, 0.01, outputs=["arm.frame_b.r_0[1]", "arm.frame_b.f[1]"])
    assert result["arm.frame_b.r_0[1]"][0] == 1.0
    assert not result["arm.frame_b.f[1]"].any()


def test_several_connects_join_one_set() -> None:
    """Three bodies at one frame, connected in a chain, weigh on the hinge together."""
    assembly = Pendulum()
    assembly.second, assembly.third = rod(2.0), rod(3.0)
    assembly.connect(assembly.rod.frame_a, assembly.second.frame_a)
    assembly.connect(assembly.second.frame_a, assembly.third.frame_a)
    result = mbfmu.simulate(assembly, 0.01, outputs=["hinge.a"])
    assert result["hinge.a"][0] == pytest.approx(-6 * 0.5 * 9.80665 / (3 * 0.001 + 6 * 0.25), rel=1e-9)


# -- inputs and outputs


class Driven(Pendulum):
    """A pendulum with a motor."""

    def __init__(self) -> None:
        super().__init__()
        self.hinge.modify(useAxisFlange=True)
        self.motor = rotational.Torque()
        self.connect(self.motor.flange, self.hinge.axis)
        self.input(self.motor.tau, "tau", start=0.5 * 9.80665)


def test_an_input_drives_a_signal() -> None:
    """The start value of the input holds the rod against gravity."""
    system = mbfmu.System.of(Driven())
    tau = next(v for v in system.variables if v.name == "tau")
    assert (tau.causality, tau.start, tau.unit) == ("input", 0.5 * 9.80665, "N.m")
    held = mbfmu.simulate(system, 1.0)
    np.testing.assert_allclose(held["angle"], 0.0, atol=1e-12)
    free = mbfmu.simulate(system, 0.1, start_values={"tau": 0.0})
    assert free["angle"][-1] < -0.05


def test_inputs_and_outputs_are_checked() -> None:
    assembly = Driven()
    with pytest.raises(ModelError, match=r"input\(\) takes a signal connector such as torque\.tau"):
        assembly.input(assembly.hinge.axis)
    with pytest.raises(ModelError, match=r"output\(\) takes a variable such as revolute\.phi"):
        assembly.output("hinge.phi")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("hinge.phy", r"there is no variable hinge\.phy; did you mean hinge\.phi"), ("rod.m", r"rod\.m is a parameter")],
)
def test_outputs_must_be_variables(name: str, expected: str) -> None:
    assembly = Pendulum()
    reference = assembly.hinge.phi
    assembly.output(type(reference)(assembly, name))
    with pytest.raises(ModelError, match=expected):
        mbfmu.System.of(assembly)


class Motors(Assembly):
    """Two motors, each on a shaft of its own."""

    def __init__(self) -> None:
        self.motors = [rotational.Torque() for _ in range(2)]
        self.shafts = [rotational.Inertia(J=1.0, phi=Start(fixed=True), w=Start(fixed=True)) for _ in range(2)]
        for motor, shaft in zip(self.motors, self.shafts, strict=True):
            self.connect(motor.flange, shaft.flange_a)


def test_several_signals_are_one_array() -> None:
    """A copy has its own; the same again gives another start value."""
    assembly = Motors()
    for start in (0.0, [1.0, -2.0]):
        assembly.input([motor.tau for motor in assembly.motors], "tau", start=start)
    assembly.output([shaft.w for shaft in assembly.shafts[::-1]], "w")
    for one in (assembly, copy.deepcopy(assembly)):
        system = mbfmu.System.of(one)
        inputs = [(v.name, v.start) for v in system.variables if v.causality == "input"]
        assert inputs == [("tau[1]", 1.0), ("tau[2]", -2.0)]
        assert [v.element for v in system.outputs] == list(Array("w", (2,)).elements)
        np.testing.assert_allclose(mbfmu.simulate(system, 0.5, interval=0.5)["w"][-1], [-1.0, 0.5], atol=1e-9)


def test_arrays_of_signals_are_checked() -> None:
    assembly = Motors()
    taus = [motor.tau for motor in assembly.motors]
    with pytest.raises(ModelError, match="an input of several signals has no name; give it one"):
        assembly.input(taus)
    with pytest.raises(ModelError, match="input tau: has no signals"):
        assembly.input([], "tau")
    with pytest.raises(ModelError, match=r"input tau: its start value \[1.0\] has 1 numbers, expected 2"):
        assembly.input(taus, "tau", start=[1.0])
    assembly.push = translational.Force()
    with pytest.raises(ModelError, match=r"motors\[1\]\.tau \(Torque\) and push\.f \(Force\) differ; make two inputs"):
        assembly.input([taus[0], assembly.push.f], "load")
    with pytest.raises(ModelError, match="an output of several variables has no name; name both"):
        assembly.output([shaft.w for shaft in assembly.shafts])
    with pytest.raises(ModelError, match="an output of several variables has no elements"):
        assembly.output([], "w")
    assembly.output([shaft.w for shaft in assembly.shafts], "w")
    with pytest.raises(ModelError, match="output w: is there already"):
        assembly.output([shaft.w for shaft in assembly.shafts], "w")
    assembly = Assembly()
    assembly.world, assembly.body = World(), Body(m=1.0, r_CM=(0, 0, 0))
    assembly.output([assembly.body.r_0, assembly.body.v_0], "motion")
    with pytest.raises(ModelError, match=r"output motion\[1\]: body.r_0 is an array; name one of its elements"):
        mbfmu.System.of(assembly)


def test_a_fed_signal_is_no_input() -> None:
    class TwiceFed(Driven):
        def __init__(self) -> None:
            super().__init__()
            self.u = RealInput("From outside")
            self.connect(self.u, self.motor.tau)

    with pytest.raises(ModelError, match=r"motor\.tau: is connected already; it cannot be an input, too"):
        mbfmu.System.of(TwiceFed())


def test_an_assemblys_own_input_feeds_a_part() -> None:
    class WithInput(Pendulum):
        def __init__(self) -> None:
            super().__init__()
            self.hinge.modify(useAxisFlange=True)
            self.u = RealInput("Torque on the hinge")
            self.motor = rotational.Torque()
            self.connect(self.motor.flange, self.hinge.axis)
            self.connect(self.u, self.motor.tau)

    result = mbfmu.simulate(WithInput(), 0.01, start_values={"u": 9.80665})
    assert result["hinge.a"][0] == pytest.approx(0.5 * 9.80665 / 0.251, rel=1e-9)


# -- flanges to the outside


class Shaft(Assembly):
    """Two discs on a spring, one end free to the outside."""

    def __init__(self, motion: bool) -> None:
        self.flange = RotationalFlange("To the outside", motion=motion)
        self.near, self.far = (rotational.Inertia(J=J, w=Start(0.0, fixed=not motion)) for J in (2.0, 3.0))
        self.gear = rotational.IdealGear(ratio=2.0)
        self.connect(self.flange, self.near.flange_a)
        self.connect(self.near.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.far.flange_a)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_flange_takes_torque_and_gives_motion() -> None:
    """Both discs together: J = 2 + 3 / 2^2, phi = tau t^2 / 2 J."""
    system = mbfmu.System.of(Shaft(motion=False))
    causality = {v.name: v.causality for v in system.variables if v.name.startswith("flange.")}
    assert causality == {"flange.tau": "input", "flange.phi": "output", "flange.w": "output", "flange.a": "output"}
    result = mbfmu.simulate(system, 2.0, start_values={"flange.tau": 5.5})
    np.testing.assert_allclose(result["flange.a"], 2.0, rtol=1e-12)
    np.testing.assert_allclose(result["flange.phi"], result.time**2, atol=1e-6)
    np.testing.assert_allclose(result["flange.w"], 2 * result.time, atol=1e-6)


def test_a_flange_takes_motion_and_gives_torque() -> None:
    """The torque that the shaft exerts outwards is what its inertia resists with."""
    system = mbfmu.System.of(Shaft(motion=True))
    causality = {v.name: v.causality for v in system.variables if v.name.startswith("flange.")}
    assert causality == {"flange.tau": "output", "flange.phi": "input", "flange.w": "input", "flange.a": "input"}
    result = mbfmu.simulate(system, 0.1, start_values={"flange.phi": 0.3, "flange.w": 4.0, "flange.a": 6.0})
    np.testing.assert_allclose(result["flange.tau"], -6.0 * 2.75, rtol=1e-12)
    np.testing.assert_allclose(result["far.phi"], 0.15, rtol=1e-12)
    np.testing.assert_allclose(result["far.w"], 2.0, rtol=1e-12)


def test_a_translational_flange_works_alike() -> None:
    class Slider(Assembly):
        def __init__(self) -> None:
            self.rod_end = TranslationalFlange("To the outside")
            self.mass = translational.Mass(m=4.0, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True))
            self.connect(self.rod_end, self.mass.flange_b)

    result = mbfmu.simulate(Slider(), 1.0, start_values={"rod_end.f": 8.0})
    np.testing.assert_allclose(result["rod_end.s"], result.time**2, atol=1e-6)
    assert {"rod_end.v", "rod_end.a"} <= set(result)


def test_a_flange_that_leads_nowhere_is_named() -> None:
    class Dangling(Pendulum):
        def __init__(self) -> None:
            super().__init__()
            self.shaft = RotationalFlange("To the outside")

    with pytest.raises(ModelError, match="shaft: this flange of the assembly is connected to nothing inside"):
        mbfmu.System.of(Dangling())


# -- a system is a snapshot


def test_a_system_does_not_see_later_changes() -> None:
    assembly = Pendulum()
    system = mbfmu.System.of(assembly)
    before = copy.copy(system.equations.parameters)
    assembly.rod.m = 50.0
    assert system.equations.parameters == before
    assert mbfmu.System.of(system) is system
    heavier = mbfmu.System.of(assembly)
    assert 50.0 in heavier.equations.parameters


def test_a_connection_to_something_switched_off_is_refused() -> None:
    """A forgotten useAxisFlange would otherwise take the damper away without a word."""

    class Hinge(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.hinge = Revolute()
            self.body = Body(m=1, r_CM=(1, 0, 0))
            self.damper = rotational.Damper(d=1)
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.body.frame_a)
            self.connect(self.damper.flange_b, self.hinge.axis)

    with pytest.raises(ModelError, match=r"connects hinge\.axis.*set useAxisFlange=True"):
        mbfmu.System.of(Hinge())


@pytest.mark.slow
def test_notebooks_show_little_of_much():
    shown = mbfmu.load("engine_v6")._repr_html_(), mbfmu.System.of(mbfmu.load("engine_1b"))._repr_html_()
    assert "<td>cylinder1</td><td>Cylinder_analytic_CAD</td>" in shown[0] or "<td>cylinder1</td>" in shown[0]
    assert "degrees of freedom" in shown[1] or "degree of freedom" in shown[1]
    assert all(len(text) < 5000 and text.count("<div>") == text.count("</div>") for text in shown)


class Arm(Assembly):
    def __init__(self) -> None:
        self.world = World()
        self.joint = Revolute(phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True))
        self.u = RealInput("Nothing")
        self.load = Body(m=1.0, r_CM=(0.5, 0, 0))
        self.more = [Body(m=1.0, r_CM=(0.1, 0, 0)), Body(m=2.0, r_CM=(0.1, 0, 0))]
        self.connect(self.world.frame_b, self.joint.frame_a)
        for body in (self.load, *self.more):
            self.connect(self.joint.frame_b, body.frame_a)


@pytest.mark.parametrize("name", ["load", "more", "u"])
@pytest.mark.parametrize("value", [None, 3.0, "nothing", []])
def test_part_list_and_connector_are_not_lost_to_something_else(name: str, value: Any) -> None:
    """The attribute would be gone, and the part would stay in the model."""
    arm = Arm()
    with pytest.raises(ModelError, match=rf"Arm\.{name} = .*which the model would keep"):
        setattr(arm, name, value)
    with pytest.raises(ModelError, match=rf"Arm\.{name} = None: .*which the model would keep"):
        delattr(arm, name)
    assert set(arm.parts) == {"world", "joint", "load", "more[1]", "more[2]"}


def test_list_of_parts_and_part_do_not_take_each_other_s_name() -> None:
    arm = Arm()
    with pytest.raises(ModelError, match="it is a list of 2 components"):
        arm.more = Body(m=1.0, r_CM=(0.5, 0, 0))
    with pytest.raises(ModelError, match=r"it is the component load \(Body\)"):
        arm.load = [Body(m=1.0, r_CM=(0.5, 0, 0))]


def test_list_of_parts_that_was_changed_is_refused() -> None:
    arm = Arm()
    arm.more.pop()
    with pytest.raises(ModelError, match=r"Arm\.more: the list has been changed"):
        mbfmu.System.of(arm)
    arm = Arm()
    arm.more.reverse()
    with pytest.raises(ModelError, match=r"Arm\.more: the list has been changed"):
        mbfmu.System.of(arm)


@pytest.mark.slow
def test_attribute_may_be_none_before_it_is_a_part() -> None:
    class Late(Arm):
        def __init__(self) -> None:
            self.late = None
            super().__init__()
            self.late = Body(m=3.0, r_CM=(0.1, 0, 0))
            self.connect(self.joint.frame_b, self.late.frame_a)

    late = Late()
    assert late.late is late.parts["late"]
    assert mbfmu.simulate(late, 0.1)["late.m"][0] == 3.0


def test_list_of_parts_follows_its_structural_parameter() -> None:
    class Chain(Component):
        n = Parameter(t.Integer, 3, "Number of bodies")

        def build(self) -> None:
            self.body = [Body(m=1.0 + i, r_CM=(0.1, 0, 0)) for i in range(self.n)]

    chain = Chain()
    for n in (2, 4, 1):
        chain.n = n
        assert list(chain.parts) == [f"body[{i + 1}]" for i in range(n)]
        assert chain.body == list(chain.parts.values())
