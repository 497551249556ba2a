"""MJCF: models against MuJoCo itself, what is left out, messages, damaged files."""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import pytest
from against_pinocchio import State
from mutants import mutants, verdict

import mbfmu
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.importers.mjcf.rotations import angles_123

mujoco = pytest.importorskip("mujoco", reason="no MuJoCo: pip install 'mbfmu[mjcf]'")
from against_mujoco import Twin, error  # noqa: E402

MODELS = pathlib.Path(__file__).parent / "mjcf"
CONSERVATIVE = ("armature", "ball_chain", "coupled_joints", "four_bar", "springs", "welded")
WITH_SENSORS = ("pendulum", "ball_chain", "free_bodies", "actuators")


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("name", sorted(path.stem for path in MODELS.glob("*.xml")))
def test_models_accelerate_as_in_mujoco(name: str) -> None:
    assert error(Twin(MODELS / f"{name}.xml"), states=3) < 1e-10


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("name", sorted({path.stem for path in MODELS.glob("*.xml")} - {"coupled_joints"}))
def test_models_start_where_the_file_puts_them(name: str) -> None:
    twin = Twin(MODELS / f"{name}.xml")
    positions, _, _ = twin.names()
    result = mbfmu.simulate(twin.system, 1e-6, interval=1e-6, outputs=positions)
    assert np.allclose([result[n][0] for n in positions], twin.model.qpos0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("name", CONSERVATIVE)
def test_energy_is_kept(name: str) -> None:
    assert Twin(MODELS / f"{name}.xml").energy_drift() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_SENSORS)
def test_sensors_show_what_mujoco_measures(name: str) -> None:
    twin = Twin(MODELS / f"{name}.xml")
    random = np.random.default_rng(2)
    for _ in range(3):
        twin.randomize(random)
        twin.accelerations()
        model = twin.model
        for i in range(model.nsensor):
            sensor, size = model.sensor(i).name, int(model.sensor_dim[i])
            expected = twin.data.sensordata[model.sensor_adr[i] :][:size]
            names = [sensor] if size == 1 else [f"{sensor}[{k + 1}]" for k in range(size)]
            found = np.array([twin.state[n] for n in names])
            if int(model.sensor_type[i]) == int(mujoco.mjtSensor.mjSENS_BALLQUAT):
                found *= np.sign(found @ expected)
            assert np.allclose(found, expected, atol=1e-12), sensor


def written(tmp_path: pathlib.Path, text: str) -> pathlib.Path:
    path = tmp_path / "model.xml"
    path.write_text(f"<mujoco model='model'>\n{text}\n</mujoco>\n", encoding="utf-8")
    return path


HINGE = '<body name="arm"><joint name="j" axis="0 1 0" {more}/><geom size="0.1" pos="0.5 0 0"/></body>'


def swings(path: pathlib.Path, coordinate: str, speed: str, rate: float, stop: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the first joint that starts with this speed, ours and MuJoCo's, at the same instants."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data, steps = mujoco.MjData(model), round(1e-3 / model.opt.timestep)
    data.qvel[0] = rate
    expected = [data.qpos[0]]
    for k in range(round(stop / model.opt.timestep)):
        mujoco.mj_step(model, data)
        if (k + 1) % steps == 0:
            expected.append(data.qpos[0])
    ours = mbfmu.simulate(mbfmu.load(path), stop, interval=1e-3, tolerance=1e-9, start_values={speed: rate})
    return ours[coordinate], np.array(expected)


SLIDE = """<option gravity="0 0 0" timestep="{step}"/><worldbody><body><joint name="j" type="slide" axis="1 0 0"
    limited="true" range="-1 0.1" {more}/><geom size="0.1" mass="2"/></body></worldbody>"""


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    "solref", ["0.02 1", "-2500 -100", "0.05 0.3", "0.02 2", "-2500 0", "-2500 1", "0.02 0"], ids=str
)
def test_a_slide_that_hits_its_limit_moves_as_in_mujoco(
    solref: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where MuJoCo logs that it takes its default in place of what is no pair
    more = f'margin="0.01" solreflimit="{solref}"'
    constant = SLIDE.format(step=2e-5, more=f'{more} solimplimit="0.9 0.9 0.001"')
    ours, expected = swings(written(tmp_path, constant), "j.s", "j.v", 1.0, 0.2)
    assert np.abs(ours - expected).max() < 3e-5  # of MuJoCo's steps at 1 m/s
    ours, expected = swings(written(tmp_path, SLIDE.format(step=2e-5, more=more)), "j.s", "j.v", 1.0, 0.2)
    assert ours.max() - 0.09 == pytest.approx(expected.max() - 0.09, rel=4e-3)  # the impedance grows to its full depth
    assert np.abs(ours - expected).max() < 2e-4


@pytest.mark.slow
def test_a_hinge_that_swings_into_its_limit_moves_as_in_mujoco(tmp_path: pathlib.Path) -> None:
    joint = HINGE.format(more='limited="true" range="-20 30" armature="0.2" solreflimit="0.05 0.5"')
    path = written(tmp_path, f'<option gravity="0 0 0" timestep="2e-5"/><worldbody>{joint}</worldbody>')
    ours, expected = swings(path, "j.phi", "j.w", 3.0, 0.5)
    assert ours.max() - np.radians(30) == pytest.approx(expected.max() - np.radians(30), rel=4e-3)
    assert np.abs(ours - expected).max() < 5e-4


def test_a_time_constant_of_a_limit_is_no_shorter_than_two_steps_of_mujoco(tmp_path: pathlib.Path) -> None:
    def numbers(flag: str) -> list[float]:
        flags = f'<option><flag refsafe="{flag}"/></option>'
        path = written(tmp_path, flags + SLIDE.format(step=0.002, more='solreflimit="0.001 1"'))
        stop = mbfmu.load(path).parts["j_stop"]
        return [float(stop.value(name)) for name in ("c", "d")]

    assert numbers("enable") == pytest.approx([2 / 0.004**2, 2 * 2 / 0.004])
    assert numbers("disable") == pytest.approx([2 / 0.001**2, 2 * 2 / 0.001])


def test_limits_that_are_no_stops_are_told(tmp_path: pathlib.Path) -> None:
    for more, said in (
        ('solreflimit="0 0"', r"limits of joints.*: joint j in line 2 \(its solreflimit has no stiffness\)"),
        ('margin="0.6"', r"joint j in line 2 \(its margin of 0.6 leaves nothing of its range\)"),
    ):
        path = written(tmp_path, SLIDE.format(step=0.002, more=more))
        with pytest.raises(ModelError, match=f"{said}.*--without limits"):
            mbfmu.load(path)
        assert any("limits of joint j in line" in note for note in mbfmu.load(path, without="limits").notes)


@pytest.mark.slow
def test_limits_hold_against_weight_and_are_left_out_on_request(tmp_path: pathlib.Path) -> None:
    joint = HINGE.format(more='limited="true" range="-20 30" damping="0.5"')
    path = written(tmp_path, f"<worldbody>{joint}</worldbody>")
    assembly = mbfmu.load(path)
    m, c = (float(assembly.parts[part].value(name)) for part, name in (("arm", "m"), ("j_stop", "c")))
    end = mbfmu.simulate(assembly, 5.0)["j.phi"][-1]
    assert end - np.radians(30) - 1e-6 == pytest.approx(m * 9.81 * 0.5 * np.cos(end) / c, rel=1e-6)
    assert mbfmu.simulate(mbfmu.load(path, without="limits"), 1.0)["j.phi"][-1] > np.radians(60)
    assert any("limits of joint j in line 2" in note for note in mbfmu.load(path, without="limits").notes)


@pytest.mark.slow
def test_dry_friction_holds_and_slides(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, "<worldbody>" + HINGE.format(more="frictionloss='100'") + "</worldbody>")
    assert mbfmu.simulate(mbfmu.load(path), 0.5)["j.phi"][-1] == pytest.approx(0.0, abs=1e-7)
    path = written(tmp_path, "<worldbody>" + HINGE.format(more="frictionloss='2'") + "</worldbody>")
    assembly = mbfmu.load(path)
    body = assembly.parts["arm"]
    m, J = body.value("m"), body.value("I_22") + body.value("m") * 0.25
    result = mbfmu.simulate(assembly, 0.01, tolerance=1e-10)
    assert result["j.phi"][-1] == pytest.approx(0.5 * (m * 9.81 * 0.5 - 2.0) / J * 1e-4, rel=1e-3)


def test_what_has_no_counterpart_is_listed_and_left_out_on_request(tmp_path: pathlib.Path) -> None:
    points = np.random.default_rng(0).normal(size=(40, 3))
    vertices = " ".join(f"{x:.6f}" for x in (points / np.linalg.norm(points, axis=1)[:, None]).ravel())
    path = written(
        tmp_path,
        f"""<option density="1.2"/><asset><mesh name="m" vertex="{vertices}"/></asset>
        <worldbody>
          <geom name="floor" type="box" size="1 1 1"/>
          <body name="ball" gravcomp="1"><joint name="b" type="ball" armature="1"/><site name="s"/>
            <geom name="g" type="mesh" mesh="m"/></body>
          <site name="t" pos="0 0 3"/>
        </worldbody>
        <tendon><spatial name="rope"><site site="s"/><site site="t"/></spatial></tendon>
        <actuator><motor name="winch" tendon="rope"/></actuator>
        <sensor><clock name="clock"/></sensor>""",
    )
    everything = "pairs,tendons,fluid,gravcomp,armature,actuators,sensors"
    with pytest.raises(ModelError) as caught:
        mbfmu.load(path)
    message = str(caught.value)
    assert message.endswith(f"Leave it out with --without {everything}")
    for part in (
        "joint b in line 5",
        "actuator winch in line 10 (its transmission)",
        "sensor clock in line 11",
        "(--without contact leaves out all contact): geom floor in line 4 (box) and geom g in line 6 (mesh)",
        "tendons: 1 of them",
        "density 1.2",
        "body ball in line 5",
    ):
        assert part in message
    with pytest.raises(ModelError, match="no counterpart for tendons: 1 of them; forces"):
        mbfmu.load(path, without="contact,armature,actuators,sensors")
    assembly = mbfmu.load(path, without=everything.split(","))
    assert len([note for note in assembly.notes if note.startswith("left out")]) == 7
    assert System.of(assembly).equations.nv == 3
    with pytest.raises(ModelError, match="without = gravity: known are contact, pairs, tendons"):
        mbfmu.load(path, without="gravity")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("copied", "said"),
    [
        ('<replicate count="7000">{ball}</replicate>', "<joint>|<geom>|<body>"),
        ('<replicate count="200"><replicate count="50">{ball}</replicate></replicate>', "<joint>|<geom>|<body>"),
        ('<replicate count="7000"><include file="ball.xml"/></replicate>', "<mujocoinclude>"),
        ('<composite type="cable" count="30000 1 1" size="1"><joint kind="main"/></composite>', "<composite>"),
        ('<flexcomp name="f" type="grid" count="60 60 60" spacing="1 1 1" dim="3"/>', "<flexcomp>"),
    ],
    ids=["many", "nested", "included", "cable", "grid"],
)
def test_copies_without_number_are_refused_before_they_are_made(copied: str, said: str, tmp_path: pathlib.Path) -> None:
    ball = '<body><joint type="slide"/><geom size="0.1" contype="0" conaffinity="0"/></body>'
    (tmp_path / "ball.xml").write_text(f"<mujocoinclude>{ball}</mujocoinclude>")
    path = written(tmp_path, f"<worldbody><!-- <replicate count='9'> -->{copied.format(ball=ball)}</worldbody>")
    with pytest.raises(ModelError, match=rf"model\.xml: ({said}) and what it copies are more than 20000 elements"):
        mbfmu.load(path)
    few = written(tmp_path, f'<worldbody><replicate count="3" offset="0 0 1">{ball}</replicate>{ball}</worldbody>')
    assert System.of(mbfmu.load(few)).equations.nv == 4


def test_flags_of_the_file_are_obeyed(tmp_path: pathlib.Path) -> None:
    flags = '<option><flag gravity="disable" actuation="disable" limit="disable"/></option>'
    joint = HINGE.format(more='limited="true" range="-1 1"')
    motor = '<actuator><motor joint="j"/></actuator>'
    assembly = mbfmu.load(written(tmp_path, f"{flags}<worldbody>{joint}</worldbody>{motor}"))
    assert assembly.parts["world"].value("gravityType") == "NoGravity"
    assert not assembly.inputs
    assert "j_stop" not in assembly.parts


def test_geoms_are_drawn_as_by_the_viewer(tmp_path: pathlib.Path) -> None:
    """Those of the groups 0 to 2, and no planes: MuJoCo's viewer shows no more at the start."""
    geoms = "".join(
        f'<geom name="g{group}" type="{kind}" size=".1 .1 .1" group="{group}" {UNTOUCHED}/>'
        for group, kind in enumerate(("sphere", "plane", "box", "sphere"))
    )
    path = written(tmp_path, f"<worldbody>{geoms}{HINGE.format(more='')}</worldbody>")
    drawn = mbfmu.load(path)
    assert [name for name in drawn.parts if name[0] == "g"] == ["g0", "g2"]
    arm = HINGE.format(more="").replace("<geom ", '<geom group="4" ')
    hidden = mbfmu.load(written(tmp_path, f"<worldbody>{arm}</worldbody>"))
    for assembly, shown in ((drawn, False), (hidden, True)):  # where nothing is drawn, bodies and joints are
        assert assembly.parts["j"].value("animation") is shown


def test_meshes_stand_as_in_the_file(tmp_path: pathlib.Path) -> None:
    corners = [(0, 0, 0), (2, 0, 0), (0, 3, 0), (0, 0, 4)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    (tmp_path / "wedge.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
        + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)
    )
    path = written(
        tmp_path,
        '<asset><mesh name="wedge" file="wedge.obj" scale="0.1 0.1 0.1"/></asset><worldbody><body name="b" pos="0 0 1">'
        '<joint/><geom type="mesh" mesh="wedge" pos="1 2 3" euler="0 0 90" rgba="1 0 0 1"/></body></worldbody>',
    )
    shape = mbfmu.load(path).parts["b_visual"]
    assert shape.value("shapeType") == str(tmp_path / "wedge.obj")
    assert np.allclose(shape.value("r_shape"), (1, 2, 3), atol=1e-6)
    assert np.allclose(shape.value("lengthDirection"), (0, 1, 0), atol=1e-6)
    assert np.allclose(shape.value("widthDirection"), (-1, 0, 0), atol=1e-6)
    assert (shape.value("length"), shape.value("extra")) == (0.1, 1.0)


def test_messages_name_file_line_and_element(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, '<worldbody>\n<body name="b">\n<joint type="hing"/>\n</body></worldbody>')
    with pytest.raises(ModelError, match=r"model\.xml, line 4: MuJoCo refuses it: .*'hing'; Element 'joint', line 4"):
        mbfmu.load(path)
    path.write_text('<robot name="r"/>')
    with pytest.raises(ModelError, match=r"is a URDF; give the file a name that ends with \.urdf"):
        mbfmu.load(path)
    path.write_text("<html/>")
    with pytest.raises(ModelError, match="its root is <html>, that of MJCF is <mujoco>"):
        mbfmu.load(path)
    path.write_text("nothing")
    with pytest.raises(ModelError, match="is no XML"):
        mbfmu.load(path)


def test_without_mujoco_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r"run `pip install 'mbfmu\[mjcf\]'`"):
        mbfmu.load(MODELS / "pendulum.xml")


@pytest.mark.slow
def test_damaged_files_give_a_model_or_a_place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path, answers = tmp_path / "actuators.xml", []
    text = (MODELS / "actuators.xml").read_text(encoding="utf-8")
    for i, mutant in enumerate(mutants(text, 150, seed=7)):
        path.write_text(mutant, encoding="utf-8")
        answers.append(verdict(path, derive=i % 30 == 0))
    assert [a for a in answers if a != "model" and not a.startswith(str(path))] == []
    assert 10 < answers.count("model") < 100
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


@pytest.mark.parametrize(
    ("option", "mass", "words"),
    [
        ('timestep="-1"', "1", 'timestep="-1"/>: a time step is positive'),
        ('timestep="0.002"', "-1", "<body name='b'>: its mass, -1 kg, is negative"),
    ],
)
def test_numbers_that_mujoco_takes_of_what_never_moves_are_refused(option, mass, words, tmp_path):
    inertial = f'<inertial mass="{mass}" pos="0 0 0"/>'
    (tmp_path / "model.xml").write_text(
        f'<mujoco><option {option}/><worldbody><body name="b">{inertial}</body></worldbody></mujoco>'
    )
    with pytest.raises(ModelError, match=words):
        mbfmu.load(tmp_path / "model.xml")


UNTOUCHED = 'contype="0" conaffinity="0"'


@pytest.mark.slow
def test_actuators_of_sites_push_and_turn_as_in_mujoco(tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        f"""<worldbody><body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3" mass="2" {UNTOUCHED}/>
          <site name="s" pos=".1 .2 .3" euler="20 30 40"/></body></worldbody>
        <actuator>
          <general name="jet" site="s" gear="1 2 3 .4 .5 .6" gainprm="2" ctrllimited="true" ctrlrange="-1.6 1"
            forcelimited="true" forcerange="-3 1.5"/>
          <motor name="lift" site="s" gear="0 0 1.5 0 0 0"/>
          <motor site="s" gear="0 0 0 0 0.5 0"/>
        </actuator>
        <sensor><actuatorfrc name="force" actuator="jet"/></sensor>""",
    )
    twin = Twin(path)
    assert error(twin, states=4) < 1e-13
    assert set(twin.assembly.parts) >= {"jet_force", "jet_torque", "lift_force", "actuator3_torque"}
    assert not {"lift_torque", "actuator3_force"} & set(twin.assembly.parts)
    twin.data.ctrl[:] = (0.7, 0, 0)
    twin.accelerations()
    assert twin.state["force"] == pytest.approx(1.4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "equality",
    [
        '<connect name="c" body1="a" body2="b" anchor="0.5 0 0.2"/>',
        '<connect site1="s" site2="r"/>',
        '<weld body1="a" body2="b"/>',
        '<weld site1="s" site2="r"/>',
    ],
)
def test_loops_that_are_closed_move_as_in_mujoco(equality: str, tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        f"""<worldbody>
          <body name="a" pos="0 0 1"><joint axis="0 1 0"/><joint axis="1 0 0"/><joint axis="0 0 1"/>
            <geom type="box" size=".1 .2 .3" mass="2" {UNTOUCHED}/>
            <site name="s" pos=".1 .2 .3" euler="20 30 40"/></body>
          <body name="b" pos=".3 0 1" euler="10 20 30"><freejoint/>
            <geom type="box" size=".3 .2 .1" mass="1" {UNTOUCHED}/>
            <site name="r" pos="-.1 .2 .3" euler="50 30 40"/></body>
        </worldbody><equality>{equality}</equality>""",
    )
    twin = Twin(path)
    assert error(twin, states=2) < 1e-10
    if "weld body1" in equality:  # b as it stands in a: turned by 10, 20 and 30 degrees, one after the other
        cosines, sines = np.cos(np.radians([10, 20, 30])), np.sin(np.radians([10, 20, 30]))
        trace = cosines[1] * cosines[2] + cosines[0] * cosines[2] - sines.prod() + cosines[0] * cosines[1]
        anchor = twin.assembly.parts["equality1_anchor1"]
        assert anchor.value("angle") == pytest.approx(np.degrees(np.arccos((trace - 1) / 2)))
        assert tuple(anchor.value("r")) == pytest.approx((0.3, 0, 0))


@pytest.mark.slow
def test_couplings_without_counterpart_are_told_and_inactive_ones_noted(tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        f"""<worldbody><body><joint name="ball" type="ball"/><geom size=".1" {UNTOUCHED}/>
          <body><joint name="h"/><joint name="k" axis="1 0 0"/><geom size=".1" {UNTOUCHED}/></body></body></worldbody>
        <tendon><fixed name="t"><joint joint="h" coef="1"/></fixed></tendon>
        <equality>
          <joint name="square" joint1="h" joint2="k" polycoef="0 1 0.5 0 0"/>
          <tendon name="rope" tendon1="t"/>
          <joint name="still" joint1="h" joint2="k" active="false"/>
          <joint name="held" joint1="k" polycoef="0.25 0 0 0 0"/>
        </equality>""",
    )
    with pytest.raises(ModelError) as caught:
        mbfmu.load(path, without="tendons")
    message = str(caught.value)
    assert message.startswith(f"{path}: there is no counterpart for couplings other than ")
    assert "equality square in line 6 (not linear), equality rope in line 7. Leave it out with" in message
    assembly = mbfmu.load(path, without="tendons,equality")
    assert any(note.startswith("inactive, and left out: equality still in line 8") for note in assembly.notes)
    assert not {"h_mimic", "h_held"} & set(assembly.parts)
    assert assembly.parts["k_held"].value("phi0") == 0.25


@pytest.mark.slow
@pytest.mark.parametrize(
    ("actuator", "said"),
    [
        ('joint="ball"', "acts on a ball or free joint"),
        ('joint="limited"', "its joint has an actuatorfrcrange"),
        ('site="s" refsite="r"', "acts relative to a refsite"),
        ('site="s" biastype="affine" biasprm="0 -1"', "feedback from a site"),
        ('body="b"', "its transmission"),
        ('joint="h" gaintype="affine" gainprm="1 1"', "its gain is not fixed"),
        ('joint="h" biastype="user"', "its bias is not affine"),
        ('joint="h" dyntype="user"', "its dynamics"),
        ('joint="h" dyntype="integrator" actlimited="true" actrange="-1 1"', "its activation is limited"),
        ('joint="h" armature="1"', "its armature"),
        ('joint="h" damping="1"', "its damping"),
        ('joint="h" delay="0.1" nsample="4"', "its delay"),
    ],
)
def test_actuators_without_counterpart_are_told_by_name_line_and_why(
    actuator: str, said: str, tmp_path: pathlib.Path
) -> None:
    kind = "adhesion" if "body" in actuator else "general"
    more = ' ctrlrange="0 1"' if "body" in actuator else ""
    path = written(
        tmp_path,
        f"""<worldbody><body><joint name="ball" type="ball"/><geom size=".1" {UNTOUCHED}/><site name="s"/>
          <body name="b"><joint name="h"/><geom size=".1" {UNTOUCHED}/><site name="r"/>
            <joint name="limited" axis="1 0 0" actuatorfrclimited="true" actuatorfrcrange="-1 1"/>
          </body></body></worldbody>
        <actuator><{kind} name="drive" {actuator}{more}/></actuator>
        <sensor><actuatorfrc name="watch" actuator="drive"/></sensor>""",
    )
    if any(f'{word}="' in actuator for word in ("armature", "damping", "delay")):
        fields = ("actuator_armature", "actuator_damping", "actuator_delay")
        if not all(hasattr(mujoco.MjModel, field) for field in fields):
            pytest.skip("this MuJoCo has no such actuators")
    with pytest.raises(ModelError) as caught:
        mbfmu.load(path)
    message = str(caught.value)
    assert f"actuator drive in line 6 ({said})" in message
    assert "sensor watch in line 7 (its actuator is left out)" in message
    assert message.endswith("Leave it out with --without actuators,sensors")
    assert not mbfmu.load(path, without="actuators,sensors").inputs


def test_a_cutoff_of_a_sensor_is_noted_and_a_sensor_of_a_camera_is_told(tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        f"""<worldbody><body><joint name="h"/><geom name="g" size=".1" pos="1 2 3" {UNTOUCHED}/>
          <camera name="c"/></body></worldbody>
        <sensor><jointpos name="angle" joint="h" cutoff="1"/>
        <framepos name="seen" objtype="camera" objname="c"/>
        <framepos name="place" objtype="geom" objname="g"/></sensor>""",
    )
    with pytest.raises(ModelError, match=r"sensor seen in line 5\. Leave it out with --without sensors"):
        mbfmu.load(path)
    assembly = mbfmu.load(path, without="sensors")
    assert "cutoff of sensor angle in line 4 is not kept" in assembly.notes
    assert {"angle", "place"} <= set(assembly.outputs)
    assert "seen" not in assembly.outputs
    assert tuple(assembly.parts["place_frame"].value("r")) == (1, 2, 3)


@pytest.mark.parametrize("middle", [0.4, np.pi / 2, -np.pi / 2])
def test_angles_about_three_axes_give_the_rotation_again(middle: float) -> None:
    def about(axis: int, angle: float) -> np.ndarray:
        R, (j, k) = np.eye(3), [(1, 2), (2, 0), (0, 1)][axis]
        R[j, j], R[j, k], R[k, j], R[k, k] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
        return R

    R = about(0, 0.7) @ about(1, middle) @ about(2, -0.3)
    found = angles_123(R)
    assert np.allclose(about(0, found[0]) @ about(1, found[1]) @ about(2, found[2]), R, atol=1e-7)
    assert found[1] == pytest.approx(middle)


def test_a_reference_that_is_no_pair_is_the_default_one(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, SLIDE.format(step=0.002, more='solreflimit="0.5 0"'))
    stop = mbfmu.load(path).parts["j_stop"]
    assert [float(stop.value(name)) for name in ("c", "d")] == pytest.approx([2 / 0.02**2, 2 * 2 / 0.02])


def test_limits_are_left_out_on_request_and_keyframes_noted(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, SLIDE.format(step=0.002, more="") + '<keyframe><key qpos="0.05"/></keyframe>')
    assembly = mbfmu.load(path, stops=False)
    assert "j_stop" not in assembly.parts
    assert "left out: limits of joint j in line 2" in assembly.notes
    assert "1 keyframes are read over: joints start at their reference positions" in assembly.notes
    assert "j_stop" in mbfmu.load(path).parts
    path = written(tmp_path, SLIDE.format(step=0.002, more="").replace('limited="true"', 'limited="false"'))
    assert not [note for note in mbfmu.load(path, stops=False).notes if "limits" in note]


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0, 0.2])
def test_a_joint_follows_another_one_at_its_offset(offset: float, tmp_path: pathlib.Path) -> None:
    path = written(
        tmp_path,
        f"""<worldbody><body><joint name="h" axis="0 0 1"/>
          <geom pos="1 0 0" size=".1" mass="2" {UNTOUCHED}/></body>
        <body><joint name="s" type="slide" axis="0 0 1"/><geom size=".1" mass="3" {UNTOUCHED}/></body></worldbody>
        <equality><joint joint1="s" joint2="h" polycoef="{offset} 1 0 0 0"/></equality>""",
    )
    assembly = mbfmu.load(path)
    assert "s_mimic" not in assembly.parts
    assert ("s_offset" in assembly.parts) == bool(offset)
    # s falls by itself, and turns h along: (J + m) a = -m g, with J = 2 (1 + 2/5 0.1^2)
    state = State(System.of(assembly))
    state.solve()
    assert state["s.a"] == pytest.approx(-3 * 9.81 / (2 * (1 + 0.4 * 0.01) + 3), rel=1e-12)
    assert state["h.a"] == pytest.approx(state["s.a"], rel=1e-12)
    start = mbfmu.simulate(assembly, 1e-6, interval=1e-6)
    assert start["s.s"][0] - start["h.phi"][0] == pytest.approx(offset, abs=1e-9)
