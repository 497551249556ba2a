"""SID files: the same bodies by matrices, as beams and by files; files that are cut short or wrong."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from typing import Any

import casadi as ca
import numpy as np
import pytest
import scipy

import mbfmu
from mbfmu.cli import main
from mbfmu.components import Beam, Body, FreeMotion, ModalBody, Revolute, World
from mbfmu.components.flexible import sid
from mbfmu.components.flexible.floating_frame import Flexibility, Integrals
from mbfmu.components.rotational import ConstantSpeed
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Component, Start
from mbfmu.studies.linearize import linearize
from problems import bending
from tests.components.test_flexible import UNIT, Clamped
from tests.components.test_modal_body import ATTACHED, HELD, bricks, files


@pytest.fixture(scope="module")
def matrices(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return files(tmp_path_factory.mktemp("bar"), *bricks()) | {"held": HELD, "attached": ATTACHED, "nModes": 2}


@pytest.fixture(scope="module")
def file(matrices: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The SID file of the bar."""
    path = tmp_path_factory.mktemp("sid") / "bar.SID_FEM"
    path.write_text(sid.text(ModalBody(**matrices).sid()))
    return path


def beam_file(folder: pathlib.Path, beam: Beam) -> str:
    """The SID file of a beam along x, whose end is node 1."""
    shapes = beam.shapes()
    u, turn, n = shapes.displacements(1.0), shapes.rotations(1.0), shapes.count
    seconds = np.zeros((6, n, n))
    seconds[0] = -shapes.bow(1.0)
    end = sid.Place(np.array([shapes.L, 0, 0]), u, turn, seconds)
    found = sid.from_flexibility(shapes.flexibility, {1: end})
    path = folder / "beam.SID_FEM"
    path.write_text(sid.text(found))
    return str(path)


def test_a_file_has_the_integrals_that_it_was_written_from(matrices: dict[str, Any], file: pathlib.Path) -> None:
    one, other = ModalBody(**matrices).reduction(), ModalBody(fileName=str(file), attached="1").reduction()
    assert len(other.flexibility.bows) == 0
    for name in ("m", "first", "second", "S", "P", "N"):
        expected = getattr(one.flexibility.integrals, name)
        size = np.abs(expected).max()
        assert getattr(other.flexibility.integrals, name) == pytest.approx(expected, abs=1e-12 * size)
    assert pytest.approx(one.flexibility.K, rel=1e-12) == other.flexibility.K
    for name in ("places", "displacements", "rotations"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-12)


def test_parts_of_a_file_are_integrals_over_the_points_of_a_body() -> None:
    """The signs and the order of Gr, Ge, Oe and Cr, by their definitions, with sums over points."""
    random = np.random.default_rng(1)
    masses, r, phi = random.uniform(1, 2, 7), random.normal(size=(7, 3)), random.normal(size=(7, 3, 2))
    body = Flexibility(Integrals.of_points(masses, r, phi), np.eye(2), np.zeros((0, 2, 2)))
    parts, q, dq = sid.from_flexibility(body, {}).parts, random.normal(size=2), random.normal(size=2)
    w, z = random.normal(size=3), random.normal(size=3)
    place, speed = r + phi @ q, phi @ dq

    def at(name: str) -> np.ndarray:
        return parts[name].m0 + parts[name].first(2) @ q

    forces = np.cross(w, np.cross(w, place)) * masses[:, None]
    x, y, z_ = w
    products = np.array([x * x, y * y, z_ * z_, x * y, y * z_, x * z_])  # in the order of the standard
    assert at("Oe") @ products == pytest.approx(np.einsum("kan,ka->n", phi, forces))
    coriolis = 2 * np.cross(w, speed) * masses[:, None]
    assert sum(parts["Ge"].m0[:, 3 * k : 3 * k + 3] * dq[k] for k in range(2)) @ w == pytest.approx(
        np.einsum("kan,ka->n", phi, coriolis)
    )
    assert sum(at("Gr")[:, 3 * k : 3 * k + 3] * dq[k] for k in range(2)) @ w == pytest.approx(
        np.cross(place, coriolis).sum(axis=0)
    )
    assert at("Cr") @ z == pytest.approx(np.einsum("kan,ka->n", phi, np.cross(z, place) * masses[:, None]))
    straight = parts["J"].m0 + parts["J"].first(2) @ q
    exact, second = (
        sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, places, strict=True))
        for places in (place, phi @ q)
    )
    assert straight == pytest.approx(exact - second)  # files have J to the first order


def stiffening() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, Flexibility]:
    """Points with shapes and two fields that follow in second order: masses, places, shapes, fields, bows; the body."""
    random = np.random.default_rng(2)
    masses, r, n = random.uniform(1, 2, 9), random.normal(size=(9, 3)), 3
    phi, fields, bows = random.normal(size=(9, 3, n)), random.normal(size=(9, 3, 2)), random.normal(size=(2, n, n))
    bows += bows.swapaxes(1, 2)
    integrals = Integrals.of_points(masses, r, np.concatenate([phi, fields], axis=2))
    D = random.normal(size=(n, n))
    return masses, r, phi, fields, bows, Flexibility(integrals, 9 * np.eye(n), bows, D @ D.T, random.normal(size=n))


def test_second_order_displacements_are_in_terms_of_first_order() -> None:
    """Of Ct, Cr and Oe, by virtual displacements of points; of AP, as turned vectors."""
    masses, r, phi, fields, bows, body = stiffening()
    turn, random = np.random.default_rng(3).normal(size=(3, 3)), np.random.default_rng(4)
    found = sid.from_flexibility(body, {5: sid.Place(np.ones(3), np.eye(3), turn)})
    q, a, w, z = random.normal(size=(4, 3))

    def along(q: np.ndarray, field: Any) -> np.ndarray:
        moving = phi - np.einsum("kam,mij,j->kai", fields, bows, q)
        return np.einsum("k,kai,ka->i", masses, moving, np.broadcast_to(field(r + phi @ q), r.shape))

    products = np.array([w[i] * w[j] for i, j in sid.PRODUCTS])
    turning = lambda place: np.cross(w, np.cross(w, place))  # noqa: E731
    for name, by, field in (
        ("Ct", a, lambda place: a), ("Cr", z, lambda place: np.cross(z, place)), ("Oe", products, turning),
    ):  # fmt: skip
        first = (along(q, field) - along(-q, field)) / 2  # what is linear in q
        assert found.parts[name].first(3) @ q @ by == pytest.approx(first, rel=1e-12)
        assert found.parts[name].m0 @ by == pytest.approx(along(np.zeros(3), field), rel=1e-12)
    for k in range(3):
        assert found.nodes[5].parts["AP"].first(3)[:, :, k] @ a == pytest.approx(np.cross(turn[:, k], a), rel=1e-12)


def test_a_body_that_stiffens_is_read_as_it_was_written() -> None:
    """Forces that cannot be told apart by a file are in other integrals; what the file says stays, to all digits."""
    one = sid.from_flexibility(stiffening()[-1], {})
    body = sid.flexibility(sid.read(sid.text(one)))
    assert len(body.bows)
    again = sid.from_flexibility(body, {})
    for name, part in one.parts.items():
        if name != "Gr":  # follows from the others, and is not read
            size = np.abs(part.m0).max() + np.abs(part.first(3)).max()
            assert again.parts[name].m0 == pytest.approx(part.m0, abs=1e-12 * size), name
            assert again.parts[name].first(3) == pytest.approx(part.first(3), abs=1e-12 * size), name
    assert np.abs(one.parts["ksigma"].m0).min() > 0
    assert np.abs(one.parts["De"].m0).min() > 0


def test_one_side_of_symmetric_matrices_is_enough() -> None:
    """Of order zero and one, where a file says that they are symmetric."""
    one = sid.from_flexibility(stiffening()[-1], {})
    lines, name = [], ""
    for line in sid.text(one).splitlines():
        words = line.split()
        name = words[0] if len(words) == 1 else name
        if name in ("J", "Me", "De"):
            indices = re.match(r"\s*m[01]\(([\d, ]+)\)", line)
            if indices is not None and int(indices[1].split(",")[0]) > int(indices[1].split(",")[-1]):
                continue
            line = line.replace("structure = 3", "structure = 2")
        lines.append(line)
    again = sid.read("\n".join(lines))
    assert len(lines) < len(sid.text(one).splitlines())
    for name in ("J", "Me", "De"):
        assert again.parts[name].m0 == pytest.approx(one.parts[name].m0, rel=1e-12)
        assert again.parts[name].first(3) == pytest.approx(one.parts[name].first(3), rel=1e-12)


def test_a_node_moves_and_turns_by_terms_of_second_order(tmp_path: pathlib.Path) -> None:
    """phi and psi are rates for each rate of the shapes: of their first order, the symmetric part counts half."""
    body, random = stiffening()[-1], np.random.default_rng(5)
    found = sid.from_flexibility(body, {5: sid.Place(np.ones(3), *random.normal(size=(2, 3, 3)))})
    more = {
        name: sid.Expansion(found.nodes[5].parts[name].m0, random.normal(size=(3, 3, 3))) for name in ("phi", "psi")
    }
    nodes = {5: sid.Node({**found.nodes[5].parts, **more})}
    path = tmp_path / "node.SID_FEM"
    path.write_text(sid.text(sid.SID(found.mass, found.names, nodes, found.parts)))
    q = ca.SX.sym("q", 3)
    reduced = ModalBody(fileName=str(path), attached="5").reduction()
    at = random.normal(size=3)
    for told, name in zip(ca.Function("moved", [q], list(reduced.moved(0, q)))(at), ("phi", "psi"), strict=True):
        expected = more[name].m0 @ at + np.einsum("ajk,j,k->a", more[name].first(3), at, at) / 2
        assert np.array(told).ravel() == pytest.approx(expected, rel=1e-12)


class Thrown(Assembly):
    """A body that bends, turns and falls, with a load at its interface."""

    def __init__(self, body: Component) -> None:
        self.world = World(n=(0, 0, -1))
        self.body = body
        self.load = Body(m=0.3, r_CM=(0, 0, 0.05), I_11=0.001, I_22=0.001, I_33=0.001)
        self.free = FreeMotion(w_rel_a_start=(1.0, 3.0, 2.0), w_rel_a_fixed=True)
        self.connect(self.world.frame_b, self.free.frame_a)
        self.connect(self.free.frame_b, self.body.frame_a)
        self.connect(self.body.frame[0], self.load.frame_a)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_body_moves_alike_by_matrices_and_by_its_file(matrices: dict[str, Any], file: pathlib.Path) -> None:
    bodies = ModalBody(**matrices), ModalBody(fileName=str(file), attached="1")
    one, other = (mbfmu.simulate(Thrown(body), stop_time=0.1, tolerance=1e-9) for body in bodies)
    for name in ("body.q[1]", "body.q[4]", "load.r_0[3]", "body.frame[1].f[2]"):
        assert one[name] == pytest.approx(other[name], rel=1e-6, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("eta", [0.0, 3.0, 10.0])
def test_a_beam_by_its_file_stiffens_in_rotation(tmp_path: pathlib.Path, eta: float) -> None:
    """The rotating cantilever, whose beam becomes shorter as it bends: terms of first order in Ct and Oe."""

    class Rotating(Assembly):
        def __init__(self, name: str) -> None:
            self.world = World(gravityType="NoGravity")
            self.axis = Revolute(useAxisFlange=True)
            self.drive = ConstantSpeed(w_fixed=eta)
            self.blade = ModalBody(fileName=name)
            self.connect(self.world.frame_b, self.axis.frame_a)
            self.connect(self.drive.flange, self.axis.axis)
            self.connect(self.axis.frame_b, self.blade.frame_a)

    slender = UNIT | {"EA": 1e6, "rhoI_y": 1e-9, "rhoI_z": 1e-9}
    beam = Beam(**slender, nWidth=0, nHeight=8, nAxial=0, nTorsion=0, staticShapes=False)
    found = linearize(Rotating(beam_file(tmp_path, beam))).eigenvalues.imag
    assert found[found > 1.0].min() == pytest.approx(bending.FLAP[eta], abs=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_beam_by_its_file_keeps_its_energy(tmp_path: pathlib.Path) -> None:
    class Model(Assembly):
        def __init__(self, name: str) -> None:
            self.world = World(n=(0, 0, -1), g=0.2)
            self.axis = Revolute(w=Start(3.0, fixed=True), phi=Start(0.0, fixed=True))
            self.blade = ModalBody(
                fileName=name, attached="1", q=Start((0.02, 0.0, 0.01, 0.0), fixed=True), qd=Start((0,) * 4, fixed=True)
            )
            self.load = Body(m=0.1, r_CM=(0, 0, 0))
            self.connect(self.world.frame_b, self.axis.frame_a)
            self.connect(self.axis.frame_b, self.blade.frame_a)
            self.connect(self.blade.frame[0], self.load.frame_a)

    beam = Beam(**UNIT, nWidth=2, nHeight=2, nAxial=0, nTorsion=0)
    system = mbfmu.System.of(Model(beam_file(tmp_path, beam)), energy=True)
    found = mbfmu.simulate(system, stop_time=0.5, tolerance=1e-9)
    total = found["energy.kinetic"] + found["energy.potential"]
    assert np.ptp(total) < 1e-6 * np.abs(total).max()
    assert np.abs(found["energy.balanceError"]).max() < 1e-9


@pytest.mark.slow
def test_a_body_that_stiffens_is_drawn_where_its_mass_and_its_end_are(tmp_path: pathlib.Path) -> None:
    """Its centre of mass comes nearer as the beam becomes shorter: by the mean of that over the length."""
    beam, q = Beam(**UNIT, nWidth=2, nHeight=0, nAxial=0, nTorsion=0), np.array((0.1, 0.05))
    start = {"q": Start(tuple(q), fixed=True), "qd": Start((0.0, 0.0), fixed=True)}
    system = mbfmu.System.of(Clamped(ModalBody(fileName=beam_file(tmp_path, beam), attached="1", **start)), scene=True)
    assert system.scene is not None
    found = mbfmu.simulate(system, 1e-9, interval=1e-9, outputs=[*system.scene.variables, "beam.frame[1].r_0"])
    drawn = {shape.name: shape.quantities for shape in system.scene.shapes}

    def first(name: str, key: str) -> np.ndarray:
        return np.array([found[part][0] if isinstance(part, str) else part for part in drawn[name][key]])

    shapes, (s, weights) = beam.shapes(), np.polynomial.legendre.leggauss(20)
    s, weights = (s + 1) / 2, weights / 2
    moved = np.array([(x - q @ shapes.bow(x) @ q / 2, shapes.displacements(x)[1] @ q, 0.0) for x in s])
    center = first("center", "r_shape") + first("center", "length") / 2 * np.array((1.0, 0, 0))
    np.testing.assert_allclose(center, weights @ moved, atol=1e-9)
    assert moved[-1, 0] < 0.99 * s[-1]
    rod = first("rod1", "lengthDirection")
    end = [found[f"beam.frame[1].r_0[{k}]"][0] for k in (1, 2, 3)]
    np.testing.assert_allclose(rod / np.linalg.norm(rod) * first("rod1", "length"), end, atol=1e-12)


@pytest.mark.slow
def test_a_file_cut_short_anywhere_is_refused_with_its_line(file: pathlib.Path) -> None:
    lines = file.read_text().splitlines()
    for count in range(0, len(lines) - 1, 23):
        with pytest.raises(ValueError, match=rf"line {count}: the file ends within .*cut short"):
            sid.read("\n".join(lines[:count]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "to", "message"),
    [
        (r"m0\( 1, 1\) = \S+", "m0( 9, 1) = 1.0", r"line \d+: m0\( 9, 1\) is outside origin of node 1"),
        (r"(m0\( 1, 1\)) = \S+", r"\1 = abc", r"line \d+: 'abc' is no number"),
        ("nqn = 0", "nqn = 2", "terms of order n"),
        ("  Ke\n", "  Kx\n", "Kx stands in modal"),
        (r"nrow = 3", "nrow = 4", "origin of node 1 has nrow = 4, and .* shapes need 3"),
        (r"(?s)    Ke\n.*end Ke\n", "", "the file lacks Ke"),
        ("end node", "new node = 2", "stands in node 1, and is no part of one"),
        (r"nelastq = \d+", "nelastq = 0", "which is 1 or more"),
        (r"nelastq = \d+", "nelastq = 2", "whose indices are up to 3, 2, 1"),
        (r"order = \d+", "order = x", "is no whole number"),
        (r"(m0\( 1, 1\)) = \S+", r"\1 = 1e999", r"line \d+: 1e999 is not finite"),
        (r"m0\( 1, 1\)", "mn( 1, 1, 1)", r"line \d+: origin of node 1 has terms of order n, .*write order 1"),
        (r"ielastq \( *1\) = ", "ielastq 1 = ", r"line \d+: ielastq 1 = .* names no shape; write it as ielastq"),
        ("refmod", "new node = 1\nrefmod", r"line \d+: nodes come before refmod, which says how many shapes"),
        ("refmod", "mdCM\nrefmod", r"line \d+: mdCM comes before refmod, which says how many shapes"),
        (r"(?s)(new node.*?end node\n)", r"\1\1", r"line \d+: node 1 is there twice"),
        (r"(?s) +phi\n.*?end phi\n", "", r"line \d+: node 1 lacks phi"),
        (r"(?s) +mdCM\n.*?end mdCM\n", "", r"line \d+: the file lacks mdCM"),
    ],
)
def test_wrong_lines_are_refused(file: pathlib.Path, change: str, to: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sid.read(re.sub(change, to, file.read_text(), count=1))


def test_a_file_that_contradicts_itself_is_refused(file: pathlib.Path) -> None:
    found = sid.read(file.read_text())
    for name, message in (("Oe", "m0 of Oe"), ("mdCM", "m0 of Ct"), ("Me", "Me is not symmetric")):
        m0 = found.parts[name].m0.copy()
        if name == "mdCM":
            changed = sid.Expansion(m0, found.parts[name].first(found.count) * 2)
        else:
            m0[0, -1] += np.abs(m0).max()
            changed = sid.Expansion(m0, found.parts[name].m1)
        wrong = sid.SID(found.mass, found.names, found.nodes, dict(found.parts) | {name: changed})
        with pytest.raises(ValueError, match=f"{message}.*they differ by .*contradicts itself"):
            sid.flexibility(wrong)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mass": -1.0}, "mass = -1 is not positive"),
        ({"mass": 0.5}, "J, mass and mdCM are of no body: squares of places"),
    ],
)
def test_the_inertia_of_no_body_is_refused(file: pathlib.Path, change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sid.flexibility(dataclasses.replace(sid.read(file.read_text()), **change))


def test_shapes_without_mass_and_stiffness_that_changes_are_refused(file: pathlib.Path) -> None:
    found = sid.read(file.read_text())

    def changed(name: str, **values: np.ndarray) -> sid.SID:
        return dataclasses.replace(found, parts=found.parts | {name: dataclasses.replace(found.parts[name], **values)})

    with pytest.raises(ValueError, match="Me is not positive; leave out shapes that move no mass"):
        sid.flexibility(changed("Me", m0=-found.parts["Me"].m0))
    count, stiff = found.count, np.abs(found.parts["Ke"].m0).max()
    m1 = np.zeros((count, count, count))
    sid.flexibility(changed("Ke", m1=m1))
    m1[0, -1, 0] = 2e-9 * stiff
    with pytest.raises(ValueError, match="Ke has terms of order one, stiffness that changes with deformation"):
        sid.flexibility(changed("Ke", m1=m1))


@pytest.mark.slow
def test_what_a_file_cannot_give_is_refused_by_the_body(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Stress of nodes without its modes, nodes with directions of their own, parts that contradict each other."""
    found = sid.read(file.read_text())
    turned = sid.Expansion(np.diag((1.0, -1.0, -1.0)), None)
    node = dataclasses.replace(found.nodes[1], parts=found.nodes[1].parts | {"AP": turned})
    straight = dataclasses.replace(node, parts=node.parts | {"AP": sid.Expansion(np.eye(3), None)})
    wrong = found.parts | {"Me": sid.Expansion(-found.parts["Me"].m0, None)}
    for changed, modifiers, message in (
        (found, {"stressAt": "1"}, r"stressAt: node 1 of the file has no sigma, .*; write the file with them"),
        (
            dataclasses.replace(found, nodes={1: node}),
            {"attached": "1"},
            r"attached: node 1 has other .* \(AP\), which",
        ),
        (dataclasses.replace(found, parts=wrong), {"attached": "1"}, r"ModalBody\.fileName: Me is not positive; leave"),
    ):
        (tmp_path / "one.SID_FEM").write_text(sid.text(changed))
        with pytest.raises(ModelError, match=message):
            ModalBody(fileName=str(tmp_path / "one.SID_FEM"), **modifiers).reduction()
    (tmp_path / "one.SID_FEM").write_text(sid.text(dataclasses.replace(found, nodes={1: straight})))
    assert ModalBody(fileName=str(tmp_path / "one.SID_FEM"), attached="1").reduction()


def test_fortran_exponents_and_symmetric_matrices_are_read(file: pathlib.Path) -> None:
    text = file.read_text()
    fortran = re.sub(r"(= -?[\d.]+)e(-?\d+)", r"\1D\2", text)
    assert fortran != text
    one, other = sid.read(text), sid.read(fortran)
    assert other.parts["Gr"].m0.tolist() == one.parts["Gr"].m0.tolist()


@pytest.mark.parametrize(
    ("modifiers", "message"),
    [
        ({"attached": "7"}, "7 is no node of the file; name one for each, of 1"),
        ({"attached": "1 2"}, "name one for each, of 1"),
        ({"massFile": "mass.mtx"}, "give fileName, a SID file, or meshFile"),
        ({"fileName": ""}, "give fileName, a SID file, or meshFile"),
        ({"fileName": "absent.SID_FEM"}, "cannot be read"),
    ],
)
def test_wrong_parameters_are_refused(file: pathlib.Path, modifiers: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ModalBody(**{"fileName": str(file), **modifiers}).reduction()


@pytest.mark.slow
def test_a_file_is_written_again_as_it_was(tmp_path: pathlib.Path) -> None:
    """With displacements of second order at its nodes, and stress without deformation."""
    beam = Beam(**UNIT, nWidth=2, nHeight=1, nAxial=1, nTorsion=1)
    found = sid.load(beam_file(tmp_path, beam))
    n, still = found.count, np.array((1.0, 2, 3, 4, 5, 6))
    stress = sid.Expansion(still[:, None], np.arange(6.0 * n).reshape(6, 1, n))
    nodes = {12: sid.Node({**found.nodes[1].parts, "sigma": stress})}
    one = tmp_path / "one.SID_FEM"
    one.write_text(sid.text(sid.SID(found.mass, found.names, nodes, found.parts)))
    given = {"fileName": str(one), "attached": "12", "stressAt": "12"}
    assert main(["flex", str(one), "--attach", "12", "--stress-at", "12", "-o", str(tmp_path / "two.SID_FEM")]) == 0
    first = ModalBody(**given).reduction()
    again = ModalBody(fileName=str(tmp_path / "two.SID_FEM"), attached="1", stressAt="2").reduction()
    for body in (first, again):
        assert body.seconds is not None
        assert body.seconds[0, 0] == pytest.approx(-beam.shapes().bow(1.0), abs=1e-12)
        assert not body.seconds[0, 1:].any()
        assert body.stress is not None
        assert body.stress[0][0] == pytest.approx(still)
        assert body.stress[1][0] == pytest.approx(np.arange(6.0 * n).reshape(6, n))
    np.testing.assert_allclose(again.flexibility.integrals.N, first.flexibility.integrals.N, atol=1e-9)
    model = Thrown(ModalBody(**given, q=Start(np.full(n, 0.01), fixed=True), qd=Start(np.zeros(n), fixed=True)))
    with pytest.warns(UserWarning, match="nobody gave"):
        run = mbfmu.simulate(model, stop_time=1e-9)
    told = [run[f"body.sigma[1,{k}]"][0] for k in range(1, 7)]
    assert told == pytest.approx(still + np.arange(6.0 * n).reshape(6, n).sum(axis=1) * 0.01, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--held", "1 2 3"], "held: belongs to meshes and matrices, and fileName = .* has its own; leave it out"),
        (["--modes", "2"], "nModes: belongs to meshes and matrices"),
        (["--unit", "0.001"], "meshUnit: belongs to meshes, and"),
        (["-o", "nowhere/bar.SID_FEM"], "nowhere/bar.SID_FEM: there is no folder nowhere; make it"),
        (["-o", "bar.sid"], "name it bar.SID_FEM"),
    ],
)
def test_what_a_file_has_itself_is_not_asked_for(
    file: pathlib.Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["flex", str(file), *options]) == 2
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.slow
def test_the_command_checks_a_body_and_writes_its_file(
    matrices: dict[str, Any], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = [matrices[name] for name in ("massFile", "stiffnessFile", "nodeFile")]
    output = tmp_path / "bar.SID_FEM"
    options = ["--held", "1 2 3 4", "--attach", ATTACHED, "--modes", "20", "-o", str(output)]
    assert main(["flex", *sources, *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == str(output)
    mass, stiffness, _ = bricks()
    free = np.sqrt(scipy.linalg.eigh(stiffness, mass, eigvals_only=True)[6:12]) / 2 / np.pi
    assert found["mass"] == pytest.approx(4.8)
    assert found["center"] == pytest.approx((0.3, 0, 0), abs=1e-12)
    assert found["inertia"][0][0] == pytest.approx(4.8 * (0.1**2 + 0.08**2) / 12)
    assert max(found["free_frequencies"][:6]) < 1e-3 * free[0]
    assert found["free_frequencies"][6:] == pytest.approx(free, rel=1e-8)
    assert all(0.8 * 4.8 < sum(masses) < 4.8 for masses in zip(*found["effective_masses"], strict=True))
    assert np.argmax(found["effective_masses"][0]) == 2  # the bar is thinnest along z
    assert main(["flex", str(output)]) == 0
    assert "4.8 kg" in capsys.readouterr().out
    assert main(["flex", *sources[:2]]) == 2
    assert "give a mesh, or mass matrix, stiffness matrix and nodes, or one SID file" in capsys.readouterr().err


def test_the_command_shows_what_a_body_weighs_and_how_it_vibrates(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All of it, with zeros for what is rounding alone, and sums of effective masses."""
    found = {
        "mass": 4.5, "size": [0.6, 0.1, 0.08], "center": [0.3, 0.002, 1e-17],
        "inertia": [[1.5, 0, 0], [0, 2.5, 1e-16], [0, 1e-16, 3.5]], "frequencies": [11.0, 22.0],
        "effective_masses": [[0.25, 1e-15, 1.5], [2.0, 0.5, 0.125]],
        "free_frequencies": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 70.0, 80.0],
    }  # fmt: skip
    monkeypatch.setattr(ModalBody, "checks", lambda self: found)
    assert main(["flex", "any.SID_FEM"]) == 0
    shown = [re.findall(r"[^\s,]+", line) for line in capsys.readouterr().out.splitlines()]
    assert shown[:8] == [
        ["size", "0.6", "x", "0.1", "x", "0.08", "m"],
        ["mass", "4.5", "kg"],
        ["center", "of", "mass", "0.3", "0.002", "0", "m"],
        ["inertia", "about", "it", "1.5", "0", "0", "kg.m2"],
        ["0", "2.5", "0", "kg.m2"],
        ["0", "0", "3.5", "kg.m2"],
        ["rigid", "modes", "1", "2", "3", "4", "5", "6", "Hz"],
        ["free", "body", "70", "80", "Hz"],
    ]
    rows = [words for words in shown[8:] if words and words[0] in ("1", "2", "all")]
    assert rows == [["1", "11", "0.25", "0", "1.5"], ["2", "22", "2", "0.5", "0.125"], ["all", "2.25", "0.5", "1.625"]]


def test_other_forms_of_a_file_tell_the_same_body(file: pathlib.Path) -> None:
    """Some programs write J as a column, Ge sorted by axes, and in Oe twice what belongs to one of two rates."""
    text = file.read_text()
    found = sid.read(text)
    n, parts = found.count, dict(found.parts)
    J, Oe1 = parts["J"], parts["Oe"].first(n).copy()
    integrals = sid.flexibility(found).integrals
    for column, (a, b) in enumerate(sid.PRODUCTS[3:], 3):
        Oe1[:, column] = 2 * integrals.N[a, b]
    parts["Oe"] = sid.Expansion(parts["Oe"].m0, Oe1)
    parts["Ge"] = sid.Expansion(parts["Ge"].m0.reshape(n, n, 3).swapaxes(1, 2).reshape(n, 3 * n))
    at = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    column = sid.Expansion(np.array([[J.m0[one]] for one in at]), np.array([[J.first(n)[one]] for one in at]))
    other = sid.text(sid.SID(found.mass, found.names, found.nodes, parts | {"J": column}))
    assert "nrow = 6\n      ncol = 1" in other
    again = sid.flexibility(sid.read(other)).integrals
    for name in ("first", "second", "S", "P", "N"):
        expected = getattr(integrals, name)
        assert getattr(again, name) == pytest.approx(expected, abs=1e-12 * np.abs(expected).max())


@pytest.mark.slow
def test_each_shape_may_have_a_damping_ratio_of_its_own(file: pathlib.Path) -> None:
    class Bar(Assembly):
        def __init__(self, dampings: Any) -> None:
            self.world = World(gravityType="NoGravity")
            self.bar = ModalBody(fileName=str(file), dampings=dampings)
            self.connect(self.world.frame_b, self.bar.frame_a)

    count = ModalBody(fileName=str(file)).flexibility().count
    ratios = np.linspace(0.01, 0.09, count)
    values = linearize(Bar(ratios)).eigenvalues
    values = values[values.imag > 0]
    values = values[np.argsort(np.abs(values))]
    assert -values.real / np.abs(values) == pytest.approx(ratios, rel=1e-6)
    with pytest.raises(ModelError, match=rf"dampings: has 2 damping ratios, and the body has {count} shapes"):
        linearize(Bar([0.1, 0.2]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_stress_at_rest_and_damping_of_a_file_act_on_the_shapes(tmp_path: pathlib.Path) -> None:
    """ksigma of order zero is a load, of order one stiffness; De is damping, beside Ke."""

    class Bar(Assembly):
        def __init__(self, file: str, **modifiers: Any) -> None:
            self.world = World(gravityType="NoGravity")
            self.bar = ModalBody(fileName=file, **modifiers)
            self.connect(self.world.frame_b, self.bar.frame_a)

    found = sid.load(beam_file(tmp_path, Beam(**UNIT, nWidth=2, nHeight=0, nAxial=0, nTorsion=0)))
    load, more = np.array((0.3, -0.2)), np.array(((2.0, 0.5), (0.5, 1.0)))
    D = np.array(((0.2, 0.05), (0.05, 0.4)))
    parts = {"ksigma": sid.Expansion(load[:, None], more[:, None, :]), "De": sid.Expansion(D)}
    file = tmp_path / "stressed.SID_FEM"
    file.write_text(sid.text(sid.SID(found.mass, found.names, found.nodes, {**found.parts, **parts})))
    zero = Start((0.0, 0.0), fixed=True)
    system = mbfmu.System.of(Bar(str(file), qd=zero, qdd=zero), energy=True)
    rest = mbfmu.simulate(system, stop_time=1e-3, tolerance=1e-10)
    K, M = found.parts["Ke"].m0 + more, found.parts["Me"].m0
    q = [rest[f"bar.q[{k}]"][0] for k in (1, 2)]
    assert q == pytest.approx(-np.linalg.solve(K, load), rel=1e-9)
    assert rest["energy.potential"][0] == pytest.approx(load @ q / 2, rel=1e-9)
    inverse = np.linalg.inv(M)
    wanted = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ K, -inverse @ D]]))
    values = linearize(Bar(str(file))).eigenvalues
    assert np.sort_complex(values) == pytest.approx(np.sort_complex(wanted), rel=1e-8)


def test_a_matrix_of_ones_is_read_by_its_structure(file: pathlib.Path) -> None:
    text = file.read_text()
    begin = text.index("        AP")
    end = text.index("end AP", begin)
    head = "        AP\n  order = 0\n  nrow = 3\n  ncol = 3\n  nq = 0\n  nqn = 0\n  structure = 4\n"
    found = sid.read(text[:begin] + head + text[end:])
    assert np.array_equal(found.nodes[1].parts["AP"].m0, np.eye(3))
    assert not found.nodes[1].turned()
