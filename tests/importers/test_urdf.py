"""URDF: robots against Pinocchio, single elements against mechanics by hand, messages, damaged files."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest
from against_pinocchio import State, compare
from campaign import robots_folder
from mutants import mutants, verdict
from scipy.spatial.transform import Rotation

import mbfmu
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.importers.axis import ROTATION, Axis
from mbfmu.importers.builder import Builder, ReaderWarning
from mbfmu.importers.geometry import mesh_placement

INERTIAL = '<inertial><mass value="{m}"/><inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name: str, m: float = 1.0, i: float = 0.1, more: str = "") -> str:
    return f'<link name="{name}">{INERTIAL.format(m=m, i=i)}{more}</link>'


def joint(name: str, kind: str, parent: str, child: str, axis: str = "0 0 1", more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/>{more}</joint>'
    )


def written(tmp_path: pathlib.Path, *elements: str) -> pathlib.Path:
    path = tmp_path / "robot.urdf"
    path.write_text('<robot name="robot">\n' + "\n".join(elements) + "\n</robot>\n", encoding="utf-8")
    return path


def solved(assembly: mbfmu.Assembly, **values: float) -> State:
    """A state with everything at 0 but for `values`, whose `__` stand for dots."""
    state = State(System.of(assembly))
    for name, value in values.items():
        state.set(name.replace("__", "."), value)
    state.solve()
    return state


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(
    "name",
    ["panda_description/urdf/panda.urdf", "talos_data/robots/talos_left_arm.urdf", "z1_description/urdf/z1.urdf"],
    ids=["panda", "talos_left_arm", "z1"],
)
def test_robots_move_as_in_pinocchio(name: str, floating: bool) -> None:
    pytest.importorskip("pinocchio", reason="no Pinocchio: pip install 'mbfmu[robots]'")
    folder = robots_folder()
    if folder is None:
        pytest.skip("no robots: pip install 'mbfmu[robots]'")
    found = compare(folder / name, floating, states=3)
    assert found.acceleration < 1e-10
    assert found.coriolis < 1e-10


def test_inertials_are_turned_by_their_rpy(tmp_path: pathlib.Path) -> None:
    rod = (
        '<link name="rod"><inertial><origin xyz="0 0 -0.5" rpy="0 1.5707963267948966 0"/><mass value="2"/>'
        '<inertia ixx="0.125" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    path = written(tmp_path, '<link name="ground"/>', rod, joint("hinge", "continuous", "ground", "rod", "0 0 2"))
    body = mbfmu.load(path).parts["rod"]
    # turned by 90 degrees about y, the file's x-axis is the link's -z-axis
    assert np.allclose([body.value(n) for n in ("I_11", "I_22", "I_33", "I_31")], [0.3, 0.2, 0.125, 0], atol=1e-16)
    assert solved(mbfmu.load(path), hinge_tau=0.7)["hinge.a"] == pytest.approx(0.7 / 0.125, rel=1e-12)


def test_a_full_tensor_is_turned_with_its_axes(tmp_path: pathlib.Path) -> None:
    rod = (
        '<link name="rod"><inertial><origin rpy="0.3 -0.4 2.1"/><mass value="2"/>'
        '<inertia ixx="0.3" iyy="0.25" izz="0.2" ixy="0.03" ixz="-0.02" iyz="0.01"/></inertial></link>'
    )
    body = mbfmu.load(written(tmp_path, rod)).parts["rod"]
    tensor = np.array([[0.3, 0.03, -0.02], [0.03, 0.25, 0.01], [-0.02, 0.01, 0.2]])
    turn = Rotation.from_euler("xyz", [0.3, -0.4, 2.1]).as_matrix()
    xx, yy, zz, yx, zx, zy = (body.value(f"I_{n}") for n in ("11", "22", "33", "21", "31", "32"))
    assert np.allclose([[xx, yx, zx], [yx, yy, zy], [zx, zy, zz]], turn @ tensor @ turn.T, atol=1e-15)


def test_an_origin_turns_by_roll_then_pitch_then_yaw(tmp_path: pathlib.Path) -> None:
    origin = '<origin xyz="1 2 3" rpy="0.3 -0.4 2.1"/>'
    fixed = joint("mount", "fixed", "ground", "tool", more=origin)
    path = written(tmp_path, '<link name="ground"/>', link("tool"), fixed)
    state = solved(mbfmu.load(path))
    T = [[state[f"tool.frame_a.R.T[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)]
    assert np.allclose(np.transpose(T), Rotation.from_euler("xyz", [0.3, -0.4, 2.1]).as_matrix(), atol=1e-15)
    assert [state[f"tool.frame_a.r_0[{i}]"] for i in (1, 2, 3)] == pytest.approx([1, 2, 3])


@pytest.mark.slow
def test_a_floating_joint_falls_and_a_planar_one_slides(tmp_path: pathlib.Path) -> None:
    planar = joint("table", "planar", "ground", "puck", axis="0 1 1")
    path = written(
        tmp_path,
        '<link name="ground"/>',
        link("puck", 2.0),
        link("stone"),
        planar,
        joint("air", "floating", "ground", "stone"),
    )
    assembly = mbfmu.load(path)
    result = mbfmu.simulate(assembly, 0.5, tolerance=1e-9)
    assert result["air.r_rel_a[3]"][-1] == pytest.approx(-0.5 * 9.80665 * 0.25, rel=1e-9)
    # down the plane across (0, 1, 1): g / 2 along (0, 1, -1)
    assert result["puck.frame_a.r_0[2]"][-1] == pytest.approx(0.25 * 9.80665 * 0.25, rel=1e-9)
    assert result["puck.frame_a.r_0[3]"][-1] == pytest.approx(-0.25 * 9.80665 * 0.25, rel=1e-9)
    assert result["table.phi"][-1] == pytest.approx(0.0, abs=1e-12)


def test_mimicking_joints_follow_and_add_their_inertia(tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        '<link name="ground"/>',
        link("wheel", 1.0, 0.2),
        link("rack", 3.0),
        link("gear", 1.0, 0.05),
        joint("drive", "continuous", "ground", "wheel"),
        joint("rail", "prismatic", "ground", "rack", "1 0 0", '<mimic joint="drive" multiplier="0.5" offset="0.1"/>'),
        joint("pinion", "continuous", "ground", "gear", more='<mimic joint="rail" multiplier="-4" offset="0.7"/>'),
    )
    state = solved(mbfmu.load(path), drive__phi=0.3, drive_tau=1.7)
    assert state["rail.s"] == pytest.approx(0.25)
    assert state["pinion.phi"] == pytest.approx(-0.3)
    assert state["drive.a"] == pytest.approx(1.7 / (0.2 + 0.25 * 3.0 + 4 * 0.05), rel=1e-12)
    assert list(mbfmu.load(path).inputs) == ["drive_tau"]
    servo = mbfmu.load(path, drive="position", bandwidth=1.0).parts["drive_control"]
    assert servo.value("k1") == pytest.approx((0.2 + 0.25 * 3.0 + 4 * 0.05) * (2 * np.pi) ** 2)


def test_a_leader_without_mass_moves_with_those_that_mimic_it(tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        '<link name="ground"/><link name="slider"/><link name="tip"/>',
        link("jaw", 3.0),
        joint("open", "prismatic", "ground", "slider", "1 0 0"),
        joint("jaw_joint", "prismatic", "ground", "jaw", "1 0 0", '<mimic joint="open" multiplier="-2" offset="0.1"/>'),
        joint("tip_joint", "continuous", "jaw", "tip", "1 0 0", '<mimic joint="jaw_joint" multiplier="10"/>'),
    )
    state = solved(mbfmu.load(path), open__s=0.03, open_f=6.0)
    assert state["jaw_joint.s"] == pytest.approx(0.04)
    assert state["tip_joint.phi"] == pytest.approx(0.4)
    assert state["tip.frame_a.r_0[1]"] == pytest.approx(0.04)
    assert state["open.a"] == pytest.approx(6.0 / (4 * 3.0), rel=1e-12)


def test_what_floats_has_mass(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ModelError, match="nothing of it has mass, so it cannot float"):
        mbfmu.load(written(tmp_path, '<link name="a"/>'), floating=True)


def test_losses_that_are_left_out_are_told(tmp_path: pathlib.Path) -> None:
    planar = joint("j", "planar", "a", "b", more='<dynamics damping="1"/>')
    with pytest.warns(ReaderWarning, match="joint j is planar: its damping and friction are left out"):
        mbfmu.load(written(tmp_path, '<link name="a"/>', link("b"), planar))


@pytest.mark.parametrize("scale", [(1, -2, 3), (-1, 2, 3), (1, 2, -3), (-1, -2, 3), (-1, -2, -3), (1, -2, -3)])
def test_mirrored_meshes_keep_their_corners(scale: tuple[float, ...]) -> None:
    turn = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    shape = mesh_placement(np.zeros(3), turn, scale)
    x, y = np.array(shape["lengthDirection"]), np.array(shape["widthDirection"])
    drawn = np.column_stack([x * shape["length"], y * shape["width"], np.cross(x, y) * shape["height"]])
    assert np.allclose(drawn, turn @ np.diag(scale))
    assert min(shape["width"], shape["height"]) > 0


@pytest.mark.slow
def test_damping_and_friction_brake(tmp_path: pathlib.Path) -> None:
    losses = '<dynamics damping="0.4" friction="1.5"/>'
    path = written(
        tmp_path,
        '<link name="ground"/>',
        link("disc", 1.0, 0.5),
        link("sledge", 2.0),
        joint("axle", "continuous", "ground", "disc", more=losses),
        joint("rail", "prismatic", "ground", "sledge", "1 0 0", losses),
    )
    state = solved(mbfmu.load(path), axle__w=-2.0, rail__v=3.0)
    assert state["axle.a"] == pytest.approx((0.8 + 1.5) / 0.5)
    assert state["rail.a"] == pytest.approx(-(1.2 + 1.5) / 2.0)
    stuck = solved(mbfmu.load(path), axle_tau=1.4, rail_f=-1.6)
    assert stuck["axle.a"] == pytest.approx(0.0, abs=1e-9)
    assert stuck["rail.a"] == pytest.approx(-0.05)


@pytest.mark.slow
def test_limits_are_stops_where_asked_for(tmp_path: pathlib.Path) -> None:
    limit = '<limit lower="-0.2" upper="0.6" effort="50" velocity="1"/><dynamics damping="5"/>'
    lift = joint("lift", "prismatic", "ground", "sledge", more=limit)
    path = written(tmp_path, '<link name="ground"/>', link("sledge", 2.0), lift)
    free = mbfmu.load(path)
    assert any("--stops" in note for note in free.notes)
    assert mbfmu.simulate(free, 1.0)["lift.s"][-1] < -1.0
    held = mbfmu.simulate(mbfmu.load(path, stops=True), 2.0)["lift.s"]
    assert held[-1] == pytest.approx(-0.2 - 2.0 * 9.80665 / 50e3, abs=1e-5)
    assert held.min() > -0.21


def test_joints_start_in_the_middle_of_limits_without_zero(tmp_path: pathlib.Path) -> None:
    limit = '<limit lower="0.4" upper="1" effort="1" velocity="1"/>'
    path = written(tmp_path, '<link name="a"/>', link("b"), joint("j", "revolute", "a", "b", more=limit))
    assert mbfmu.load(path).parts["j"].start("phi")[:2] == (0.7, True)


@pytest.mark.parametrize(
    ("said", "found"),
    [("", (None, None)), ('lower="-0.25"', (-0.25, 0.0)), ('upper="0.75"', (0.0, 0.75))],
    ids=["none", "lower", "upper"],
)
def test_a_limit_that_is_not_said_is_zero_and_neither_is_no_limit(
    said: str, found: tuple[float | None, float | None], tmp_path: pathlib.Path
) -> None:
    """A limit of effort alone leaves a joint free."""
    hinge = joint("j", "revolute", "a", "b", more=f'<limit {said} effort="10" velocity="1"/>')
    assembly = mbfmu.load(written(tmp_path, '<link name="a"/>', link("b"), hinge), drive="position", stops=True)
    (variable,) = (v for v in mbfmu.System.of(assembly).variables if v.name == "j_phi_ref")
    assert (variable.min, variable.max) == found
    assert ("j_stop" in assembly.parts) == (found != (None, None))


def test_position_drives_have_the_bandwidth_asked_for(tmp_path: pathlib.Path) -> None:
    arm = '<link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>'
    arm += '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    path = written(tmp_path, '<link name="a"/>', arm, joint("j", "continuous", "a", "arm"))
    assembly = mbfmu.load(path, drive="position", bandwidth=2.0)
    result = mbfmu.simulate(assembly, 1.0, start_values={"j_phi_ref": 0.8}, tolerance=1e-9)
    w, t = 2 * np.pi * 2.0, result.time
    assert np.allclose(result["j.phi"], 0.8 * (1 - (1 + w * t) * np.exp(-w * t)), atol=1e-7)


def test_axes_are_flanges_of_the_assembly_or_free(tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        '<link name="a"/>',
        link("b"),
        link("c"),
        joint("turn", "continuous", "a", "b"),
        joint("slide", "prismatic", "b", "c", "1 0 0"),
    )
    flanges = mbfmu.load(path, drive="flange")
    assert {name: port.kind for name, port in flanges.ports().items()} == {
        "turn_axis": "rotational",
        "slide_axis": "translational",
    }
    assert {v.name for v in System.of(flanges).variables if v.causality == "input"} == {"turn_axis.tau", "slide_axis.f"}
    assert not mbfmu.load(path, drive="none").inputs


def test_names_that_variables_cannot_have_are_mapped_and_told(tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        '<link name="world"/>',
        link("left-arm/1"),
        link("lambda"),
        link("output"),
        joint("left-arm/1", "continuous", "world", "left-arm/1"),
        joint("2nd joint", "continuous", "left-arm/1", "lambda"),
        joint("left arm 1", "fixed", "lambda", "output", more='<origin xyz="1 0 0"/>'),
    )
    assembly = mbfmu.load(path)
    System.of(assembly)
    assert {"left_arm_1", "left_arm_1_link", "lambda_link", "output_link", "j_2nd_joint"} <= set(assembly.parts)
    told = next(note for note in assembly.notes if note.startswith("renamed"))
    for change in (
        "joint 'left-arm/1' is left_arm_1",
        "link 'lambda' is lambda_link",
        "joint '2nd joint' is j_2nd_joint",
    ):
        assert change in told
    assert "'world'" not in told


def test_shapes_stand_where_urdf_puts_them(tmp_path: pathlib.Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "hand.stl").write_text("")
    (tmp_path / "package.xml").write_text("")
    place = '<origin xyz="1 0 0" rpy="0 1.5707963267948966 0"/>'
    visuals = "".join(
        f"<visual>{place}<geometry>{form}</geometry>{color}</visual>"
        for form, color in (
            ('<cylinder radius="0.1" length="0.6"/>', '<material name="red"/>'),
            ('<sphere radius="0.2"/>', '<material name="x"><color rgba="0 0.5 1 1"/></material>'),
            ('<box size="0.2 0.4 0.6"/>', ""),
            (f'<mesh filename="package://{tmp_path.name}/meshes/hand.stl" scale="0.001 0.001 0.002"/>', ""),
            ('<mesh filename="package://elsewhere/hand.stl"/>', ""),
            ('<mesh filename="meshes/hand.stl"/>', ""),
        )
    )
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    assembly = mbfmu.load(written(tmp_path, red, link("hand", more=visuals)))
    parts = [part for part in assembly.parts.values() if type(part).__name__ == "FixedShape"]
    shapes = [{name: part.value(name) for name in part.parameters() if part.is_given(name)} for part in parts]
    cylinder, sphere, box, found, lost, relative = shapes
    assert np.allclose(cylinder["r_shape"], (0.7, 0, 0))
    assert np.allclose(cylinder["lengthDirection"], (1, 0, 0))
    assert (cylinder["length"], cylinder["width"], tuple(cylinder["color"])) == (0.6, 0.2, (255, 0, 0))
    assert np.allclose(sphere["r_shape"], (1, 0, 0.2))
    assert tuple(sphere["color"]) == (0, 128, 255)
    assert np.allclose(box["lengthDirection"], (0, 0, -1))
    assert (box["length"], box["width"], box["height"]) == (0.2, 0.4, 0.6)
    assert (found["shapeType"], found["length"], found["height"]) == (
        str(tmp_path / "meshes" / "hand.stl"),
        0.001,
        0.002,
    )
    assert lost["shapeType"] == "package://elsewhere/hand.stl"
    assert relative["shapeType"] == found["shapeType"]
    assert any(note.startswith("1 meshes of package://") for note in assembly.notes)
    System.of(assembly)


def test_rounding_noise_is_taken_and_impossible_inertia_named(tmp_path: pathlib.Path) -> None:
    def inertia(values: str) -> pathlib.Path:
        xx, yy, zz = values.split()
        return written(
            tmp_path,
            f'<link name="odd"><inertial><mass value="1"/>'
            f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/></inertial></link>',
        )

    assert mbfmu.load(inertia("-5e-20 0.1 0.1")).parts["odd"].value("I_11") == 0.0
    with pytest.warns(ReaderWarning, match=r"link odd: no distribution of mass .* 0.1, 0.1, 0.3"):
        assembly = mbfmu.load(inertia("0.1 0.1 0.3"))
    assert any(note.startswith("warning: link odd") for note in assembly.notes)
    with pytest.raises(ModelError, match=r"line 2, <inertial>: link odd: moment of inertia -0\.1 .* about axis y"):
        mbfmu.load(inertia("0.1 -0.1 0.1"))


def test_joints_that_move_no_mass_are_held(tmp_path: pathlib.Path) -> None:
    limit = '<limit lower="1" upper="2" effort="0" velocity="0"/>'
    path = written(
        tmp_path,
        link("base"),
        '<link name="eye"/>',
        '<link name="lens"/>',
        joint("tilt", "revolute", "base", "eye", more=limit),
        joint("zoom", "prismatic", "eye", "lens"),
        link("arm"),
        joint("swing", "continuous", "base", "arm"),
    )
    assembly = mbfmu.load(path)
    assert "held at their start, as nothing that has mass moves with them: tilt, zoom" in assembly.notes
    assert "tilt" not in assembly.parts
    assert System.of(assembly).equations.nq == 1


def test_a_mimic_of_nothing_is_warned_of(tmp_path: pathlib.Path) -> None:
    alone = joint("j", "continuous", "a", "b", more='<mimic joint="ghost"/>')
    with pytest.warns(ReaderWarning, match="joint j mimics ghost, which does not exist"):
        assembly = mbfmu.load(written(tmp_path, '<link name="a"/>', link("b"), alone))
    assert "j_tau" in assembly.inputs


TWO = ['<link name="a"/>', link("b")]
WRONG = [
    ([], "line 1: has no <link>"),
    ([*TWO, joint("j", "hinge", "a", "b")], 'line 4, <joint name="j">: type="hinge": expected one of fixed, revolute'),
    ([*TWO, joint("j", "fixed", "a", "c")], 'line 4, <child>: link="c" of joint j: there is no such link'),
    ([*TWO], 'line 3, <link name="b">: no joint has this link as its child, nor a'),
    ([*TWO, joint("j", "fixed", "a", "b"), joint("k", "fixed", "a", "b")], "link b is already the child of joint j"),
    ([*TWO, joint("j", "fixed", "a", "b"), joint("k", "fixed", "b", "a")], "every link is the child of one"),
    ([*TWO, joint("j", "prismatic", "a", "b", "0 0 0")], "line 4, <axis>: the axis of joint j needs a direction"),
    ([*TWO, joint("j", "fixed", "a", "b", "x y z")], 'line 4, <axis>: xyz="x y z": give 3 finite numbers'),
    ([link("b", m=-1)], 'line 2, <mass>: value="-1" of link b: a mass is not negative'),
    ([*TWO, link("b")], 'line 4, <link name="b">: a second link of this name'),
    ([*TWO, joint("j", "continuous", "a", "b", more='<mimic joint="j"/>')], "joint j mimics itself"),
    ([*TWO, joint("j", "fixed", "a", "b", more='<origin xyz="1 2"/>')], 'line 4, <origin>: xyz="1 2": give 3 finite'),
    (["<link/>"], 'line 2, <link>: needs name="..."'),
    (["<link name='a'>"], "line 3: is no valid XML"),
    (['<link name="a" xmlns:xacro="http://x/xacro"><xacro:box/></link>'], "is xacro, not yet URDF"),
    (
        [*TWO, link("c"), joint("j", "fixed", "a", "b"), joint("j", "fixed", "b", "c")],
        'line 6, <joint name="j">: a second joint of this name; give one of them another name',
    ),
    (
        [*TWO, link("c"), joint("j", "fixed", "b", "c"), joint("k", "fixed", "c", "b")],
        'line 3, <link name="b">: cannot be reached from the root a: its joints form a loop; URDF describes trees',
    ),
    (
        [*TWO, joint("j", "revolute", "a", "b", more='<limit lower="1" upper="-1"/>')],
        "line 4, <limit>: lower limit of joint j above the upper one",
    ),
    (
        [*TWO, joint("j", "continuous", "a", "b", more="<mimic/>")],
        'line 4, <mimic>: of joint j: needs joint="..."',
    ),
    (
        [*TWO, link("c"), joint("j", "continuous", "a", "b", more='<mimic joint="k"/>'), joint("k", "fixed", "b", "c")],
        "line 5, <mimic>: joint j mimics k, which is no joint with one degree of freedom; name one",
    ),
    (
        [*TWO, joint("j", "continuous", "a", "b", more='<dynamics damping="-1"/>')],
        "line 4, <dynamics>: damping and friction of joint j must not be negative",
    ),
    (
        [link("a", more="<visual><geometry><mesh/></geometry></visual>")],
        'line 2, <mesh>: of link a: needs filename="..."',
    ),
    (
        ['<material name="m"><color rgba="1 0"/></material>', link("a")],
        'line 2, <color>: rgba="1 0": give four numbers from 0 to 1',
    ),
    ([link("a", i=1.5e308)], "link a: its moments of inertia are no finite numbers; correct it"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("elements", "message"), WRONG)
def test_messages_name_file_line_and_element(elements: list[str], message: str, tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, *elements)
    with pytest.raises(ModelError) as caught:
        mbfmu.load(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_options_are_checked(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, link("a"))
    for options, message in (
        ({"drive": "steam"}, "drive = 'steam': expected one of effort, position, flange, none"),
        ({"bandwidth": 0.0}, "bandwidth = 0.0: give a positive frequency"),
        ({"colour": "red"}, "have no option 'colour'; they have into, floating, drive, bandwidth, stops"),
    ):
        with pytest.raises(ModelError, match=r"robot.urdf: ") as caught:
            mbfmu.load(path, **options)
        assert message in str(caught.value)
    with pytest.raises(ModelError, match="no such file"):
        mbfmu.load(tmp_path / "missing.urdf")


def test_xacro_is_expanded(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("xacro")
    path = tmp_path / "robot.urdf.xacro"
    mass = '<xacro:property name="m" value="${1 + 2}"/>'
    body = link("a").replace('value="1.0"', 'value="${m}"')
    path.write_text(f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><?note within?>{mass}{body}</robot>')
    assert mbfmu.load(path).parts["a"].value("m") == 3.0
    path.write_text('<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:nothing/></robot>')
    with pytest.raises(ModelError, match=r"xacro cannot expand it: .*nothing"):
        mbfmu.load(path)


def test_without_xacro_one_line_says_what_to_install(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    path = tmp_path / "robot.xacro"
    path.write_text("<robot/>")
    with pytest.raises(ModelError, match=r"run `pip install 'mbfmu\[xacro\]'`"):
        mbfmu.load(path)


@pytest.mark.slow
def test_damaged_files_give_a_model_or_a_place(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    text = (root / "fmus" / "scara" / "scara.urdf").read_text(encoding="utf-8")
    path, answers = tmp_path / "scara.urdf", []
    for i, mutant in enumerate(mutants(text, 150, seed=7)):
        path.write_text(mutant, encoding="utf-8")
        answers.append(verdict(path, derive=i % 30 == 0))
    assert [a for a in answers if a != "model" and not a.startswith(str(path))] == []
    assert 20 < answers.count("model") < 100


GROUND_SHAPES = {
    "box": ('<box size="0.4 0.2 0.1"/>', 0.05, 4),
    "sphere": ('<sphere radius="0.1"/>', 0.1, 1),
    "cylinder": ('<cylinder radius="0.1" length="0.3"/>', 0.1, 2),
    "capsule": ('<capsule radius="0.1" length="0.3"/>', 0.1, 2),
}


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("shape", GROUND_SHAPES)
def test_a_floating_robot_stands_on_the_ground(shape: str, tmp_path: pathlib.Path) -> None:
    form, half, points = GROUND_SHAPES[shape]
    lying = 'rpy="0 1.5707963267948966 0"' if shape in ("cylinder", "capsule") else ""
    solid = f'<collision><origin xyz="0 0 0" {lying}/><geometry>{form}</geometry></collision>'
    path = written(tmp_path, link("base", m=2.0, more=solid))
    assembly = mbfmu.load(path, floating=True, ground=-0.2)
    assert any("mu_k = 0.8, which are not the file's" in note for note in assembly.notes)
    result = mbfmu.simulate(assembly, 1.0)
    assert result["floating_base.r_rel_a[3]"][-1] == pytest.approx(-0.2 + half - 1e-3 / points, abs=2e-6)


@pytest.mark.parametrize("shape", GROUND_SHAPES)
def test_what_touches_the_ground_lies_as_in_the_file(shape: str, tmp_path: pathlib.Path) -> None:
    form, angles = GROUND_SHAPES[shape][0], (0.3, -0.5, 0.7)
    at = '<origin xyz="1 2 3" rpy="{} {} {}"/>'.format(*angles)
    path = written(tmp_path, link("base", more=f"<collision>{at}<geometry>{form}</geometry></collision>"))
    solid = mbfmu.load(path, floating=True, ground=-0.2).parts["base_collision"]
    x, y, z = Rotation.from_euler("xyz", angles).as_matrix().T
    axes = {"box": {"lengthDirection": x, "widthDirection": y}, "sphere": {}}.get(shape, {"n": z})
    for name, wanted in {"r": (1, 2, 3), **axes}.items():
        np.testing.assert_allclose(solid.value(name), wanted, atol=1e-12, err_msg=name)
    sizes = {"box": {"length": 0.4, "width": 0.2, "height": 0.1}, "sphere": {"radius": 0.1}}
    for name, size in sizes.get(shape, {"radius": 0.1, "length": 0.3}).items():
        assert solid.value(name) == size


def test_a_ground_asks_for_what_can_touch_it(tmp_path: pathlib.Path) -> None:
    solid = "<collision><geometry>{}</geometry></collision>"
    path = written(tmp_path, link("base", more=solid.format('<mesh filename="a.stl"/>')))
    with pytest.raises(ModelError, match=r"line 2.*<collision> of link base: is a mesh, whose contact .*--ground out"):
        mbfmu.load(path, floating=True, ground=0.0)
    with pytest.raises(ModelError, match=r"ground = nan: give the height"):
        mbfmu.load(path, ground=float("nan"))
    with pytest.warns(ReaderWarning, match="no link that moves has a <collision>"):
        mbfmu.load(path, ground=0.0)  # its base stands in the world


def test_a_file_of_another_root_is_told(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text("<mujoco/>")
    with pytest.raises(ModelError, match=r"robot\.urdf, line 1: its root is <mujoco>, that of a URDF is <robot>"):
        mbfmu.load(path)


def test_what_is_drawn_is_looked_for_where_ros_has_it_and_what_has_no_shape_is_left_out(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("first/share/arms/a.stl", "second/arms/b.stl", "third/arms/c.stl"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text("")
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path / 'first'}:{tmp_path / 'second'}")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "third" / "arms"))
    names = (*(f"package://arms/{name}.stl" for name in "abcd"), f"file://{tmp_path}/e.stl")
    forms = [f'<mesh filename="{name}"/>' for name in names]
    forms += ["", "<torus/>", '<capsule radius="0.1" length="0.6"/>']
    visuals = "".join(f"<visual><geometry>{form}</geometry></visual>" for form in forms) + "<visual/>"
    (tmp_path / "robot").mkdir()
    assembly = mbfmu.load(written(tmp_path / "robot", "<gazebo/>", link("hand", more=visuals), "<gazebo/>"))
    shapes = [part for part in assembly.parts.values() if type(part).__name__ == "FixedShape"]
    assert [shape.value("shapeType") for shape in shapes] == [
        str(tmp_path / "first/share/arms/a.stl"),
        str(tmp_path / "second/arms/b.stl"),
        str(tmp_path / "third/arms/c.stl"),
        "package://arms/d.stl",
        str(tmp_path / "e.stl"),
        "capsule",
    ]
    assert (shapes[-1].value("length"), shapes[-1].value("width")) == pytest.approx((0.8, 0.2))
    assert "read over: <gazebo>" in assembly.notes


def test_a_joint_that_mimics_nothing_of_another_one_is_held_at_its_offset(tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        *(link(name) for name in "abcd"),
        joint("leader", "prismatic", "a", "b", "1 0 0"),
        joint("held", "prismatic", "b", "c", "0 1 0", more='<mimic joint="leader" multiplier="0" offset="0.3"/>'),
        joint("same", "prismatic", "c", "d", "0 0 1", more='<mimic joint="leader"/>'),
    )
    assembly = mbfmu.load(path, drive="none")
    assert assembly.parts["held_held"].value("s0") == 0.3
    assert not {"same_mimic", "same_offset", "same_gear"} & set(assembly.parts)
    state = solved(assembly, leader__s=0.2, leader__v=0.1)
    # d falls as b slides: one coordinate q with the kinetic energy 1/2 (3 + 1) q'2 (b, c and d along x, d along z)
    assert (state["same.s"], state["held.s"], state["held.a"]) == (0.2, 0.3, pytest.approx(0, abs=1e-12))
    assert state["leader.a"] == pytest.approx(-9.80665 / 4)


def test_a_joint_that_slides_nothing_of_mass_is_held_along_its_axis(tmp_path: pathlib.Path) -> None:
    limit = '<limit lower="0.1" upper="0.3" effort="0" velocity="0"/>'
    path = written(
        tmp_path, link("base"), '<link name="eye"/>', joint("zoom", "prismatic", "base", "eye", "0 3 4", more=limit)
    )
    held = mbfmu.load(path).parts["zoom_held"]
    assert tuple(held.value("r")) == pytest.approx((0, 0.2 * 0.6, 0.2 * 0.8))


def test_a_ratio_of_zero_ties_nothing(tmp_path: pathlib.Path) -> None:
    axis = Axis(Builder("m", ""), None, "j", ROTATION)
    with pytest.raises(ModelError, match="a ratio of 0 ties nothing"):
        axis.follow(axis, 0, 0.5)
