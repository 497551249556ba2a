"""Contact of MJCF models beside MuJoCo's: which geoms may touch, by which parameters, and how bodies move."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu.components.contact import ConvexMesh, HeightField
from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component

mujoco = pytest.importorskip("mujoco", reason="no MuJoCo: pip install 'mbfmu[mjcf]'")


def written(tmp_path: pathlib.Path, text: str) -> pathlib.Path:
    path = tmp_path / "model.xml"
    path.write_text(f"<mujoco model='model'>\n{text}\n</mujoco>\n", encoding="utf-8")
    return path


def contacts(assembly: Assembly) -> list[Component]:
    return [part for part in assembly.parts.values() if type(part).modelica_name == "Contact.Contact"]


def pairs(assembly: Assembly) -> set[frozenset[str]]:
    """Names of geoms; their geometries are called so, or with _geom behind where a drawn shape has that name."""
    ends = [(c.value("geometry_a"), c.value("geometry_b")) for c in contacts(assembly)]
    return {frozenset(name.removesuffix("_geom") for name in pair) for pair in ends}


# -- which geoms

GHOST = 'contype="0" conaffinity="0"'
FLOOR = '<geom type="plane" size="1 1 1"/>'
BALL = '<body name="{0}">{2}<geom name="{0}" size="1" {1}/>'


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (f'{FLOOR}<body><freejoint/><geom size="1"/></body>', 1),
        (f'{FLOOR}<body><freejoint/><geom size="1" {GHOST}/></body>', 0),
        ('<body><freejoint/><geom size="1"/><body><joint/><geom size="1"/></body></body>', 0),
        (
            '<body><joint/><geom size="1"/><body><joint/><geom size="1" contype="0" conaffinity="0"/>'
            '<body><joint/><geom size="1"/></body></body></body>',
            1,
        ),
        (f'{FLOOR}<body><joint/><geom size="1"/></body>', 1),
    ],
    ids=["floor", "ghost", "parent", "grandparent", "child of the world"],
)
def test_contact_is_seen_where_mujoco_would_look_for_it(text: str, number: int, tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, f"<worldbody>{text}</worldbody>")
    assembly = mbfmu.load(path)
    assert len(contacts(assembly)) == number
    left_out = mbfmu.load(path, without="contact")
    assert not contacts(left_out)
    assert any(note.startswith("left out: contact") for note in left_out.notes) == (number > 0)
    path = written(tmp_path, f"<option><flag contact='disable'/></option><worldbody>{text}</worldbody>")
    assert not contacts(mbfmu.load(path))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_random_bodies_touch_where_mujoco_lets_them(seed: int, tmp_path: pathlib.Path) -> None:
    """All spheres are in one place, so that MuJoCo's contacts are all pairs that may touch."""
    random = np.random.default_rng(seed)
    body, last, names = "", 0, []
    for i in range(9):
        masks = f'contype="{random.integers(4)}" conaffinity="{random.integers(4)}"' if random.random() < 0.7 else ""
        joint = random.choice(['<joint axis="1 0 0"/>', ""], p=[0.8, 0.2]) if last else "<freejoint/>"
        up = int(random.integers(last + 1)) if last else 0
        body += "</body>" * up + BALL.format(f"b{i}", masks, joint)
        last += 1 - up
        names.append(f"b{i}")
    excluded = [random.choice(names, 2, replace=False) for _ in range(3)]
    named = [random.choice(names, 2, replace=False) for _ in range(2)]
    parent = random.choice(["enable", "disable"])
    path = written(
        tmp_path,
        f'<option><flag filterparent="{parent}"/></option><worldbody><geom name="ground" size="1"/>'
        f"{body}{'</body>' * last}</worldbody><contact>"
        + "".join(f'<exclude body1="{a}" body2="{b}"/>' for a, b in {tuple(sorted(pair)) for pair in excluded})
        + "".join(f'<pair geom1="{a}" geom2="{b}"/>' for a, b in {tuple(sorted(pair)) for pair in named})
        + "</contact>",
    )
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    expected = {frozenset(model.geom(g).name for g in contact.geom) for contact in data.contact}
    assembly = mbfmu.load(path)
    assert pairs(assembly) == expected
    assert len(contacts(assembly)) == len(expected)


def test_shapes_whose_points_are_too_many_are_told_and_left_out(tmp_path: pathlib.Path) -> None:
    points = np.random.default_rng(0).normal(size=(40, 3))
    vertices = " ".join(f"{x:.6f}" for x in (points / np.linalg.norm(points, axis=1)[:, None]).ravel())
    path = written(
        tmp_path,
        f'<asset><mesh name="m" vertex="{vertices}"/></asset>'
        '<worldbody><geom name="floor" type="plane" size="1 1 1"/>'
        '<body name="one"><freejoint/><geom name="a" type="box" size="1 1 1"/></body>'
        '<body name="two" pos="0 0 9"><freejoint/><geom name="b" type="mesh" mesh="m"/></body></worldbody>'
        '<contact><pair geom1="a" geom2="b"/></contact>',  # looked at first: others are found behind it
    )
    with pytest.raises(ModelError, match=r"geom a in line 2 \(box\) and geom b in line 2 \(mesh\)\. .*pairs$"):
        mbfmu.load(path)
    assembly = mbfmu.load(path, without="pairs")
    assert pairs(assembly) == {frozenset(("floor", "a")), frozenset(("floor", "b"))}
    assert any("geom a in line 2 (box)" in note for note in assembly.notes)
    assert not pairs(mbfmu.load(path, without="contact"))


def test_meshes_and_height_fields_stand_where_mujoco_has_them(tmp_path: pathlib.Path) -> None:
    """Corners in the world against MuJoCo's own vertices; heights against a ray that it casts."""
    corners = [(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.1), (0.05, 0.05, 0.02)]
    text = " ".join(f"{v:g}" for corner in corners for v in corner)
    heights = " ".join(f"{0.1 * (i % 3) + 0.2 * (i // 5) / 4:.3f}" for i in range(20))
    path = written(
        tmp_path,
        f'<asset><mesh name="wedge" vertex="{text}"/>'
        f'<hfield name="hills" nrow="4" ncol="5" size="2 1 0.5 0.1" elevation="{heights}"/></asset>'
        '<worldbody><geom name="ground" type="hfield" hfield="hills" pos="0.1 0.2 0.3" euler="0 0 30"/>'
        '<body name="one" pos="0 0 1"><freejoint/><geom name="a" type="mesh" mesh="wedge" euler="10 20 30"/></body>'
        "</worldbody>",
    )
    assembly = mbfmu.load(path)
    assert pairs(assembly) == {frozenset(("ground", "a"))}
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    (shape,) = (part for part in assembly.parts.values() if isinstance(part, ConvexMesh))
    ours = shape.polytope.corners + np.array(shape.value("r")) + (0, 0, 1)
    theirs = data.geom("a").xpos + model.mesh_vert @ data.geom("a").xmat.reshape(3, 3).T
    assert len(ours) == 4
    for corner in ours:
        assert np.linalg.norm(theirs - corner, axis=1).min() < 1e-6
    (field,) = (part for part in assembly.parts.values() if isinstance(part, HeightField))
    z, T = np.asarray(field.value("z")), np.array(field.T)
    x, y = (side * np.linspace(-0.5, 0.5, n) for side, n in zip((4.0, 2.0), z.shape, strict=True))
    for i, j in [(1, 1), (3, 2), (2, 1)]:
        above = np.array(field.value("r")) + T.T @ (x[i], y[j], z[i, j]) + np.array([0, 0, 5.0])
        above = mujoco.mj_ray(model, data, above, np.array([0, 0, -1.0]), None, 1, 1, np.zeros(1, np.int32))
        assert above == pytest.approx(5, abs=1e-6)


def test_more_pairs_than_anyone_waits_for_are_refused(tmp_path: pathlib.Path) -> None:
    balls = '<replicate count="33" offset="0 0 3"><body><freejoint/><geom size="1"/></body></replicate>'
    text = f"<option density='1'/><worldbody>{balls}</worldbody>"
    message = (
        r"501 or more pairs of geoms may touch.*by contype and conaffinity.*; forces of the surrounding fluid: "
        r"density 1, viscosity 0\. Leave it out with --without contact,fluid"
    )
    with pytest.raises(ModelError, match=message):
        mbfmu.load(written(tmp_path, text))
    assert mbfmu.load(written(tmp_path, text), without="contact,fluid").parts


def test_pairs_of_more_points_than_anyone_waits_for_are_refused(tmp_path: pathlib.Path) -> None:
    boxes = '<replicate count="11" offset="0 0 3"><body><freejoint/><geom type="box" size="1 1 1"/></body></replicate>'
    hinge = f"<body><joint name='j'/><geom size='1' {GHOST}/></body>"
    tendon = "<tendon><fixed><joint joint='j' coef='1'/></fixed></tendon>"
    with pytest.raises(ModelError, match=r"touch at more points.*; tendons: 1 of them.*--without contact,tendons"):
        mbfmu.load(written(tmp_path, f"<worldbody>{boxes}{hinge}</worldbody>{tendon}"))


# -- by which parameters


def random_numbers(random: np.random.Generator, friction: int) -> str:
    def listed(*values: float) -> str:
        return " ".join(f"{value:.6g}" for value in values)

    solref = (random.uniform(0.01, 0.1), random.uniform(0.1, 2))
    if random.random() < 0.3:
        solref = (-random.uniform(100, 1000), -random.uniform(1, 50))
    return (
        f'condim="{random.choice([1, 3, 4, 6])}" margin="{random.uniform(0, 0.1):.6g}" '
        f'gap="{random.uniform(0, 0.05):.6g}" '
        f'solref="{listed(*solref)}" friction="{listed(*random.uniform(0.1, 1, friction))}" '
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_parameters_are_those_that_mujoco_combines(seed: int, tmp_path: pathlib.Path) -> None:
    random = np.random.default_rng(seed)
    geom = [
        f'{random_numbers(random, 3)} priority="{random.integers(2)}" solmix="{random.uniform(0.1, 2):.4g}"'
        for _ in range(2)
    ]
    pair = f'<contact><pair geom1="a" geom2="b" {random_numbers(random, 5)}/></contact>' if seed % 2 else ""
    path = written(
        tmp_path,
        f'<worldbody><geom name="a" type="plane" size="1 1 1" {geom[0]}/>'
        f'<body pos="0 0 0.7"><freejoint/><geom name="b" size="1" mass="2" {geom[1]}/></body></worldbody>{pair}',
    )
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    of, (ours,) = data.contact[0], contacts(mbfmu.load(path))
    first, second = of.solref
    k, b = (-first, -second) if first < 0 else (1 / (first * second) ** 2, 2 / first)
    sliding = np.mean(of.friction[:2]) if of.dim > 1 else None
    drilling, rolling = of.friction[2] * (of.dim > 3), np.mean(of.friction[3:]) * (of.dim > 4)
    expected: dict[str, Any] = {"c": 2 * k, "d_n": 2 * b, "margin": of.includemargin, "mu_k": sliding}
    expected |= {"c_t": sliding and 2 * k, "d_t": sliding and 2 * b}
    expected |= {"mu_d": drilling or None, "c_r": 0.4 * 2 * k if drilling else None, "mu_r": rolling or None}
    for name, value in expected.items():
        if value is None:
            assert not ours.is_given(name) or not ours.value(name), name
        else:
            assert ours.value(name) == pytest.approx(value, rel=1e-9), name


def test_what_gives_no_law_is_told(tmp_path: pathlib.Path) -> None:
    body = '<body><freejoint/><geom name="g" size="1" solref="0 0"/></body>'
    with pytest.raises(ModelError, match=r"geom g in line 2 .*, whose solref has no stiffness.*--without contact$"):
        mbfmu.load(written(tmp_path, f'<worldbody><geom type="plane" size="1 1 1" solref="0 0"/>{body}</worldbody>'))


# -- how bodies move

#: Impedance that is the same at all depths, and as great as MuJoCo takes.
HARD = 'solimp="0.9999 0.9999 0.001"'


def beside(path: pathlib.Path, stop: float, speeds: tuple[float, ...], samples: int = 100) -> tuple[Any, Any, Assembly]:
    """Positions qpos over time, ours and MuJoCo's, of free bodies of which the first has such speeds at the start."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qvel[: len(speeds)] = speeds
    expected = [data.qpos.copy()]
    for _ in range(samples):
        mujoco.mj_step(model, data, round(stop / samples / model.opt.timestep))
        expected.append(data.qpos.copy())
    assembly = mbfmu.load(path)
    joints = [part for part in assembly.parts.values() if type(part).__name__ == "FreeMotion"]
    joints[0].modify(v_rel_a=mbfmu.Start(speeds[:3], fixed=True), w_rel_a_start=speeds[3:])
    ours = mbfmu.simulate(assembly, stop, interval=stop / samples, tolerance=1e-8)
    columns = [
        ours[f"{joint.path}.{name}"]
        for joint in joints
        for name in (*(f"r_rel_a[{i}]" for i in (1, 2, 3)), *(f"Q[{i}]" for i in (4, 1, 2, 3)))
    ]
    return np.column_stack(columns), np.array(expected), assembly


def world(text: str, step: float = 2e-5, gravity: float = 0.0) -> str:
    return f'<option timestep="{step}" gravity="0 0 -{gravity}"/><worldbody>{text}</worldbody>'


BODY = '<body pos="{at}" euler="{turn}"><freejoint/><geom type="{type}" size="{size}" mass="2" {more}/></body>'
PLANE = '<geom type="plane" size="1 1 1" {more}/>'


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("solref", ["0.02 1", "0.05 0.3", "-2500 -20"])
def test_a_sphere_bounces_off_a_plane_as_in_mujoco(solref: str, tmp_path: pathlib.Path) -> None:
    more = f'condim="1" solref="{solref}" {HARD} margin="0.02"'
    text = PLANE.format(more=more) + BODY.format(at="0 0 0.2", turn="0 0 0", type="sphere", size="0.1", more=more)
    ours, expected, _ = beside(written(tmp_path, world(text)), 0.3, (0.0, 0.0, -1.0, 0.0, 0.0, 0.0))
    assert np.abs(ours - expected).max() < 3e-5  # of MuJoCo's steps at 1 m/s
    assert ours[-1, 2] > ours[:, 2].min() + 1e-3


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(("type", "size", "most"), [("sphere", "0.1", 3e-5), ("capsule", "0.05 0.2", 0.011)])
def test_a_sphere_hits_what_flies_as_in_mujoco(type: str, size: str, most: float, tmp_path: pathlib.Path) -> None:
    """MuJoCo knows the mass at a point off the centre; here it is that of the centre."""
    more = f'condim="1" {HARD}'
    at = "0.3 0.04 0.05" if type == "capsule" else "0.3 0 0"
    text = BODY.format(at="0 0 0", turn="0 0 0", type="sphere", size="0.1", more=more)
    text += BODY.format(at=at, turn="20 30 40", type=type, size=size, more=more)
    ours, expected, _ = beside(written(tmp_path, world(text)), 0.6, (2.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert np.abs(ours - expected).max() < most
    assert expected[-1, 7] > 0.6


@pytest.mark.slow
def test_a_sphere_slides_and_rolls_as_in_mujoco(tmp_path: pathlib.Path) -> None:
    """Weight stands deeper here, by 4 mm; what slides and rolls goes as far."""
    more = f'friction="0.3 0.005 0.0001" {HARD}'
    text = PLANE.format(more=more) + BODY.format(at="0 0 0.1", turn="0 0 0", type="sphere", size="0.1", more=more)
    ours, expected, assembly = beside(written(tmp_path, world(text, gravity=9.81)), 0.5, (2.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert np.abs(ours - expected)[:, 0].max() < 5e-3
    v = np.gradient(ours[:, 0], 0.005)
    depth = 2 * 9.81 / contacts(assembly)[0].value("c")
    assert ours[-1, 2] == pytest.approx(0.1 - depth, abs=1e-5)
    assert v[-5] == pytest.approx(2.0 / (1 + 0.4 * (0.1 / (0.1 - depth / 2)) ** 2), rel=2e-3)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("type", "size", "points"), [("box", "0.1 0.15 0.05", 4), ("capsule", "0.05 0.1", 2), ("cylinder", "0.1 0.05", 2)]
)
def test_bodies_come_to_rest_as_in_mujoco(type: str, size: str, points: int, tmp_path: pathlib.Path) -> None:
    turn = "5 10 0" if type == "box" else "0 90 0"
    text = PLANE.format(more="") + BODY.format(at="0 0 0.15", turn=turn, type=type, size=size, more="")
    ours, expected, assembly = beside(written(tmp_path, world(text, gravity=9.81)), 2.0, (0.3, 0.0, 0.0, 0.0, 0.0, 0.0))
    c = contacts(assembly)[0].value("c")
    deepest = 2 * 9.81 / (points * c)
    assert ours[-1, 2] == pytest.approx(float(size.split()[-1 if type == "box" else 0]) - deepest, abs=3e-4)
    assert np.abs(ours[-1, :2] - expected[-1, :2]).max() < 0.02
    assert abs(ours[-1, 2] - expected[-1, 2]) < deepest + 1e-4  # ours gives way to weight in full
    assert np.abs(ours[-1] - ours[-5]).max() < 1e-4


@pytest.mark.parametrize(
    ("solreffriction", "c_t", "d_t"),
    [("", 2500, 100), ("0.05 1", 400, 40), ("0.05 0.5", 1600, 40), ("-1000 -30", 1000, 30), ("-1000 0", 1000, None)],
    ids=str,
)
def test_what_slides_has_the_stiffness_and_damping_of_its_own(
    solreffriction: str, c_t: float, d_t: float | None, tmp_path: pathlib.Path
) -> None:
    given = f'solreffriction="{solreffriction}"' if solreffriction else ""
    path = written(
        tmp_path,
        f"""<worldbody><geom name="floor" {GHOST} type="plane" size="1 1 1"/><body pos="0 0 2"><freejoint/>
          <geom name="ball" {GHOST} size="0.1" mass="3"/></body></worldbody>
        <contact><pair geom1="floor" geom2="ball" condim="3" friction="0.7 0.7" {given}/></contact>""",
    )
    (contact,) = contacts(mbfmu.load(path))
    # of the default solref, 0.02 s and 1: 1/0.02^2 = 2500 1/s2 and 2/0.02 = 100 1/s, times the ball's mass
    normal, sliding = (
        [float(contact.value(n)) for n in ("c", "d_n")],
        [float(contact.value(n)) for n in ("mu_k", "c_t")],
    )
    assert normal == pytest.approx([3 * 2500, 3 * 100])
    assert sliding == pytest.approx([0.7, 3 * c_t])
    assert contact.is_given("d_t") == (d_t is not None)
    if d_t is not None:
        assert float(contact.value("d_t")) == pytest.approx(3 * d_t)
