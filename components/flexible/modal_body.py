"""ModalBody: a body of finite elements, by a mesh, matrices or a SID file, with few shapes in a floating frame."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import re
import warnings
from typing import Any

import casadi as ca
import numpy as np
import scipy

from mbfmu.components.animation import BODY_COLOR, Animated, draw_sphere
from mbfmu.components.flexible import matrix_files, sid
from mbfmu.components.flexible.finite_elements import FiniteElements, Material, Patch, Probe, read_mesh, solver
from mbfmu.components.flexible.floating_frame import (
    Flexibility,
    Integrals,
    PartialFlexibleBody,
    quadratic,
    slightly_turned,
)
from mbfmu.components.flexible.outlines import Outline, outline
from mbfmu.errors import MbfmuError, ModelError
from mbfmu.modeling import Final, Frames, Parameter, Variable
from mbfmu.modeling import types as t

#: Entries that make a matrix unsymmetric, relative to its largest.
SYMMETRIC = 1e-8
#: Force that rigid motions may cause, relative to the largest of as large deformations.
RIGID = 1e-6
#: Mass below which units are asked about [kg]: mm and t make 1e-9 kg of a gram-scale part's density.
SMALL_MASS = 1e-6

#: Below this von Mises' equivalent is rounded off, whose root has no derivative at 0 [Pa].
SMALL_STRESS = 1e-6
#: Frequencies of the free body that are shown: six of rigid motions, and six more.
FREE = 12

_Text = t.Type("FileName", "String")
Stress = t.Type("Stress", unit="Pa")


@dataclasses.dataclass(frozen=True, eq=False)
class Reduced:
    """A body of finite elements with few shapes, its interfaces, and then places that are looked at."""

    flexibility: Flexibility
    #: Place of each [k, 3], its displacement and small rotation by each shape [k, 3, n].
    places: np.ndarray
    displacements: np.ndarray
    rotations: np.ndarray
    #: Displacements and rotations of second order: q' seconds[k, a] q / 2 [k, 6, n, n]; none of bodies by matrices.
    seconds: np.ndarray | None = None
    #: What is drawn of it, where its surface is known.
    outline: Outline | None = None
    #: Stress of the last places: without deformation [j, 6], and by each shape [j, 6, n].
    stress: tuple[np.ndarray, np.ndarray] | None = None

    def moved(self, k: int, q: Any) -> tuple[Any, Any]:
        """Displacement and small rotation of place k for coordinates q."""
        u, turn = (ca.SX(ca.DM(part[k])) @ q for part in (self.displacements, self.rotations))
        if self.seconds is not None:
            more = ca.vertcat(*(quadratic(one, q) for one in self.seconds[k]))
            u, turn = u + more[:3], turn + more[3:]
        return ca.densify(u), ca.densify(turn)


def von_mises(sigma: Any) -> Any:
    """Von Mises' equivalent of stress xx, yy, zz, xy, yz, zx; its derivative is 0 without stress."""
    x, y, z, xy, yz, zx = ca.vertsplit(sigma)
    square = ((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) / 2 + 3 * (xy**2 + yz**2 + zx**2)
    return ca.sqrt(square + SMALL_STRESS**2) - SMALL_STRESS


def interfaces(text: str) -> tuple[tuple[str, ...], ...]:
    """Numbers of nodes, or names, those of one interface separated by blanks, interfaces by `;`."""
    return tuple(tuple(re.split(r"[\s,]+", part.strip())) for part in text.split(";") if part.strip())


@functools.lru_cache(maxsize=16)
def _read_matrix(file: str, changed: float, what: str) -> matrix_files.Matrix:
    return matrix_files.read_matrix(file, what)


@functools.lru_cache(maxsize=16)
def _read_nodes(file: str, changed: float) -> dict[int, np.ndarray]:
    return matrix_files.read_nodes(file)


@functools.lru_cache(maxsize=16)
def _read_cells(file: str, changed: float) -> dict[int, np.ndarray]:
    return matrix_files.read_cells(file)


def _file(where: str, file: str, read: Any) -> Any:
    """What a file has, read again where it has changed.

    Raises:
        ModelError: it cannot be read.
    """
    try:
        return read(file, os.stat(matrix_files.path(file)).st_mtime)
    except (OSError, ValueError) as error:
        raise ModelError(f"{where} = {file!r}: cannot be read: {error}") from error


@dataclasses.dataclass(frozen=True)
class Asked:
    """What is asked of a body: words for each place."""

    #: Nodes, or the name of a surface, of each interface.
    attached: tuple[tuple[str, ...], ...] = ()
    #: Where displacements and stress are told.
    displacements: tuple[tuple[str, ...], ...] = ()
    stress: tuple[tuple[str, ...], ...] = ()


def reduced(
    where: str, body: FiniteElements, held: tuple[tuple[str, ...], ...], asked: Asked, modes: int, f_max: float
) -> Reduced:
    """Reduce a body of finite elements with three displacements for each node.

    Shapes are deflections by a force and a torque along each axis at each interface, and the lowest modes, with the
    nodes `held` at rest (Craig and Chang's method of residual flexibility); then these are uncoupled.

    Args:
        where: how messages call the body.
        body: its matrices and nodes, in the directions of frame_a.
        held: nodes that move with frame_a, or names of surfaces; their mean is its origin.
        asked: interfaces, and places that are looked at.
        modes: number of modes.
        f_max: modes above this frequency are left out [Hz].

    Raises:
        ModelError: matrices that are not symmetric, not positive, of another size, nodes that do not exist, a body that
            is not held, masses in other units.
    """
    mass, stiffness, places = body.mass, body.stiffness, body.places
    size = 3 * len(places)
    for name, matrix in (("massFile", mass), ("stiffnessFile", stiffness)):
        if matrix.shape != (size, size):
            raise ModelError(
                f"{where}.{name}: has {matrix.shape[0]} x {matrix.shape[1]} entries, and {len(places)} nodes need "
                f"{size} x {size}: three displacements for each node, in the order of nodeFile; condense others"
            )
        largest = abs(matrix).max()
        apart = abs(matrix - matrix.T).max()
        if not apart <= SYMMETRIC * largest:
            raise ModelError(
                f"{where}.{name}: is not symmetric, entries differ by {apart:g} of {largest:g}; write the whole "
                "matrix, or `symmetric` into the head of its lower half"
            )
    patches: dict[str, list[Patch]] = {}
    displacements, stress = _looked_at(where, body, asked)
    for name, given in (("held", held), ("attached", asked.attached)):
        try:
            patches[name] = [body.patch(words) for words in given]
        except ValueError as error:
            raise ModelError(f"{where}.{name}: {error}") from None
    standing = np.unique(np.concatenate([np.zeros(0, dtype=int), *(patch.nodes for patch in patches["held"])]))
    if held:
        middles = np.array([patch.middle(places) for patch in patches["held"]])
        places = places - np.average(middles, axis=0, weights=[patch.weights.sum() for patch in patches["held"]])
    directions = [mass[k::3, k::3] for k in range(3)]
    mixed = max(abs(mass[i::3, j::3]).max() for i in range(3) for j in range(3) if i != j)
    if (
        max(abs(one - directions[0]).max() for one in directions) > 1e-6 * abs(mass).max()
        or mixed > 1e-6 * abs(mass).max()
    ):
        raise ModelError(
            f"{where}.massFile: is not that of displacements, as the three directions differ; give a consistent or "
            "lumped mass matrix of solid elements"
        )
    scalar = directions[0]
    weight = float(scalar.sum())
    if not weight > 0 or not (scalar.diagonal() > 0).all():
        raise ModelError(f"{where}.massFile: is not positive, its mass is {weight:g} kg; leave nodes without mass out")
    if weight < SMALL_MASS and body.is_mesh:
        raise ModelError(
            f"{where}.meshFile: its mass is {weight:g} kg; give meshUnit, the length of the mesh's unit in m (0.001 of "
            "mm), and density in kg/m3"
        )
    if weight < SMALL_MASS:
        raise ModelError(
            f"{where}.massFile: its mass is {weight:g} kg; are lengths in mm and masses in t? Convert all to m, kg, N/m"
        )
    rigid = np.zeros((size, 6))
    for k in range(3):
        rigid[k::3, k] = 1.0
        axis = np.eye(3)[k]
        rigid[:, 3 + k] = np.cross(axis, places).ravel() / max(np.abs(places).max(), 1e-300)
    force = np.abs(stiffness @ rigid).max()
    if force > RIGID * abs(stiffness).max():
        raise ModelError(
            f"{where}.stiffnessFile: a rigid motion meets {force:g} N for each m; write the stiffness of the free "
            "body, without supports, with nodes in the order and directions of nodeFile"
        )
    fixed = (3 * standing[:, None] + np.arange(3)).ravel()
    if np.linalg.matrix_rank(rigid[fixed]) < 6:
        raise ModelError(
            f"{where}.held = {'; '.join(map(' '.join, held))!r}: holds no rigid body; name a surface, or three nodes "
            "at least that are not on one line"
        )
    free = np.setdiff1d(np.arange(size), fixed)
    K, M = stiffness[free][:, free].tocsc(), mass[free][:, free].tocsc()
    solve = solver(K)
    loads, ports = [], []
    for patch in patches["attached"]:
        spread = patch.motion(places)
        ports.append((patch.middle(places), spread))
        loads += [row[free] for row in spread if np.abs(row[free]).max(initial=0.0) > 0]
    count = min(modes, len(free) - 2)
    shapes = [solve(load) for load in loads]
    if count:
        values, vectors = scipy.sparse.linalg.eigsh(
            K, count, M, sigma=0.0, v0=np.ones(len(free)), OPinv=scipy.sparse.linalg.LinearOperator(K.shape, solve)
        )
        if values.min() <= 0:
            raise ModelError(
                f"{where}.stiffnessFile: is not positive, its least eigenvalue is {values.min():g}; check its units"
            )
        below = np.sqrt(np.maximum(values, 0)) <= 2 * np.pi * f_max
        if modes > len(free) - 2:
            raise ModelError(f"{where}.nModes = {modes}: the matrices hold {len(free) - 2} modes; ask for fewer")
        shapes += list(vectors[:, below].T)
    if not shapes:
        raise ModelError(f"{where}: has no shape to bend by; ask for modes, or name interfaces")
    basis = np.array([shape / np.sqrt(shape @ (K @ shape)) for shape in shapes]).T
    inner = basis.T @ (K @ basis)
    sizes, mixing = np.linalg.eigh(inner)  # what interfaces cause may be the same for several
    basis = basis @ (mixing[:, sizes > 1e-9 * sizes.max()] / np.sqrt(sizes[sizes > 1e-9 * sizes.max()]))
    squares, mixing = scipy.linalg.eigh(basis.T @ (K @ basis), basis.T @ (M @ basis))
    basis = basis @ mixing
    whole = np.zeros((size, basis.shape[1]))
    whole[free] = basis / np.abs(basis).max(axis=0)
    parts = [whole[k::3] for k in range(3)]
    integrals = Integrals(
        weight,
        np.asarray(scalar @ places).sum(axis=0),
        places.T @ (scalar @ places),
        np.array([np.asarray(scalar @ part).sum(axis=0) for part in parts]),
        np.array([[(scalar @ places[:, b]) @ parts[a] for b in range(3)] for a in range(3)]),
        np.array([[parts[a].T @ (scalar @ parts[b]) for b in range(3)] for a in range(3)]),
    )
    n = whole.shape[1]
    stiff = np.diag(squares * np.diag(integrals.mass_matrix))
    by_node = whole.reshape(-1, 3, n)
    found = [(middle, *np.split(spread @ whole, 2)) for middle, spread in ports]
    for one in (*displacements, *stress):
        if isinstance(one, Patch):
            found.append((one.middle(places), *np.split(one.motion(places) @ whole, 2)))
        else:
            found.append((one.values @ places, one.displacement(by_node), one.rotation(by_node)))
    modes_of_stress = None
    if stress and body.material is not None:
        modes_of_stress = np.zeros((len(stress), 6)), np.array([one.stress(by_node, body.material) for one in stress])
    return Reduced(
        Flexibility(integrals, stiff, np.zeros((0, n, n))),
        np.array([place for place, _, _ in found]).reshape(-1, 3),
        np.array([u for _, u, _ in found]).reshape(-1, 3, n),
        np.array([turn for _, _, turn in found]).reshape(-1, 3, n),
        outline=outline(places, body.surface, by_node),
        stress=modes_of_stress,
    )


def _looked_at(where: str, body: FiniteElements, asked: Asked) -> tuple[list[Patch | Probe], list[Probe]]:
    """Places whose displacement is told, and those of stress.

    Raises:
        ModelError: they are outside of the body, or it knows no stress.
    """
    displacements: list[Patch | Probe] = []
    for words in asked.displacements:
        try:
            displacements.append(_place(body, words) or body.patch(words))
        except ValueError as error:
            raise ModelError(f"{where}.displacementAt: {error}") from None
    stress = []
    for words in asked.stress:
        if body.probe is None:
            raise ModelError(
                f"{where}.stressAt = {' '.join(words)!r}: matrices tell no stress; give a mesh, or a SID file whose "
                "nodes have sigma"
            )
        try:
            probe = _place(body, words)
        except ValueError as error:
            raise ModelError(f"{where}.stressAt: {error}") from None
        if probe is None:
            raise ModelError(
                f"{where}.stressAt: {' '.join(words)!r} is no place; give x, y and z in the unit of the mesh, as in "
                "'120 20 0; 5 0 0'"
            )
        stress.append(probe)
    return displacements, stress


def _place(body: FiniteElements, words: tuple[str, ...]) -> Probe | None:
    """What tells of a place of a mesh; none where the words are no place."""
    if body.probe is None or " ".join(words) in body.groups or len(words) != 3:
        return None
    try:
        place = np.array([float(word) for word in words])
    except ValueError:
        return None
    return body.probe(place)


def of_sid(where: str, found: sid.SID, asked: Asked) -> Reduced:
    """The body of a SID file, with a node for each interface and place that is looked at.

    Raises:
        ModelError: a node does not exist, has directions of its own or no stress; parts of the file contradict each
            other.
    """
    try:
        flexibility = sid.flexibility(found)
    except ValueError as error:
        raise ModelError(f"{where}.fileName: {error}") from error
    nodes = []
    with_stress = [number for number, node in found.nodes.items() if "sigma" in node.parts]
    named = (("attached", asked.attached), ("displacementAt", asked.displacements), ("stressAt", asked.stress))
    for name, one in ((name, one) for name, given in named for one in given):
        if len(one) != 1 or not one[0].isdigit() or int(one[0]) not in found.nodes:
            raise ModelError(
                f"{where}.{name}: {' '.join(one)} is no node of the file; name one for each, of "
                f"{', '.join(map(str, list(found.nodes)[:12]))}"
            )
        node = found.nodes[int(one[0])]
        if name == "stressAt" and int(one[0]) not in with_stress:
            raise ModelError(
                f"{where}.stressAt: node {one[0]} of the file has no sigma, modes of stress; "
                + (
                    f"name one of {', '.join(map(str, with_stress[:12]))}"
                    if with_stress
                    else "write the file with them"
                )
            )
        if node.turned():
            raise ModelError(
                f"{where}.{name}: node {one[0]} has other directions than the body (AP), which is not taken; write "
                "the file with nodes in the directions of the body, and turn the frame by a FixedRotation"
            )
        nodes.append(node.parts)
    n = found.count
    seconds = np.array([np.vstack([one[name].first(n).swapaxes(1, 2) for name in ("phi", "psi")]) for one in nodes])
    seconds = (seconds + seconds.swapaxes(-1, -2)) / 2 if nodes else seconds
    u, turn = (np.array([one[name].m0 for one in nodes]).reshape(-1, 3, n) for name in ("phi", "psi"))
    places = np.array([one["origin"].m0[:, 0] for one in nodes]).reshape(-1, 3)
    stressed = [one["sigma"] for one in nodes[len(nodes) - len(asked.stress) :]]
    stress = (np.array([one.m0[:, 0] for one in stressed]), np.array([one.first(n)[:, 0] for one in stressed]))
    return Reduced(
        flexibility, places, u, turn, seconds if np.any(seconds) else None, stress=stress if stressed else None
    )


@functools.lru_cache(maxsize=16)
def _read_sid(file: str, changed: float) -> sid.SID:
    return sid.load(file)


class ModalBody(Animated, PartialFlexibleBody):
    """Body of finite elements, by a SID file, a mesh, or mass and stiffness matrices, reduced to few shapes.

    A SID file (Standard Input Data) has the shapes, all their couplings, geometric stiffening and damping; frame_a is
    its frame of reference, and each interface is a node.

    Or a mesh of tetrahedra (gmsh's .msh, Abaqus' .inp) and the material tell the body; displacements are quadratic in
    each tetrahedron. Interfaces are surfaces with names: physical groups of gmsh, sets of nodes in Abaqus.

    Or matrices are those of the free body, with the displacements along x, y and z of each node: Matrix Market files,
    matrices of Abaqus (.mtx), Nastran (.op2, .op4, DMIG in .pch) or Ansys (.full). Nodes are listed in a text file,
    each with number and place, or in the program's model; in the order of the matrices where these name no nodes.

    frame_a is fixed to the nodes or surfaces `held`, in their mean, with the directions of the file. Interfaces follow
    the mean of their nodes, or of their surface by area. Displacements are small in frame_a; such a body, from a mesh
    or matrices, does not stiffen under loads.
    """

    modelica_name = "FlexibleBodies.ModalBody"

    fileName = Parameter(_Text, "", "SID file; none: the body is given by matrices")
    massFile = Parameter(
        _Text, "", "File of the mass matrix [kg]: .mtx (Matrix Market, Abaqus), .op2, .op4, .pch, .full"
    )
    stiffnessFile = Parameter(
        _Text, "", "File of the stiffness matrix [N/m], likewise; model.op4:KAA where it has several"
    )
    nodeFile = Parameter(
        _Text, "", "Text file of nodes: number, x, y, z [m]; or .inp, .bdf, .cdb, whose solids are drawn"
    )
    meshFile = Parameter(_Text, "", "Mesh of tetrahedra: .msh of gmsh, or .inp of Abaqus")
    meshUnit = Parameter(t.Length, 1.0, "Length of the unit of the mesh: 0.001 of mm", min=1e-12, structural=True)
    E = Parameter(t.Type("Modulus", unit="Pa"), 2.1e11, "Young's modulus, of a mesh", min=1e-9, structural=True)
    nu = Parameter(t.Dimensionless, 0.3, "Poisson's ratio, of a mesh", min=-0.999, max=0.499, structural=True)
    density = Parameter(t.Density, 7850.0, "Density, of a mesh", min=1e-9, structural=True)
    held = Parameter(_Text, "", "Nodes that are fixed to frame_a, as in '1 2 3', or names of surfaces: 'base; foot'")
    attached = Parameter(_Text, "", "Nodes of frame[1]; of frame[2]; ... as in '12 13 14; 57', or names of surfaces")
    nModes = Parameter(
        t.Integer, 6, "Number of modes of matrices or a mesh, beside the deflections by loads at interfaces", min=0
    )
    f_max = Parameter(t.Frequency, 1e30, "Modes above this frequency are left out [Hz]", min=0, structural=True)
    frame = Frames("Interface", size=lambda self: len(self._attached()))
    displacementAt = Parameter(
        _Text,
        "",
        "Where displacements are told: nodes, as in '12; 57'; of a mesh places in its unit, '9 2 0', or surfaces",
    )
    stressAt = Parameter(
        _Text,
        "",
        "Where stress is told: nodes of a SID file with sigma, or places of a mesh in its unit: '9 2 0; 5 0 0'",
    )
    diameter = Parameter(
        t.Diameter,
        lambda self: self.world.defaultBodyDiameter,
        "Without a surface: diameter of the sphere in the centre of mass; of the rods to the interfaces a third",
        animation=True,
    )
    color = Parameter(t.Color, BODY_COLOR, "Color of the body", shape=3, animation=True)
    deformationScale = Parameter(t.Real, 1.0, "Displacements are drawn so many times as large", animation=True)
    u = Variable(
        t.Position,
        "Displacements at displacementAt, resolved in frame_a",
        shape=lambda self: (len(self._looks().displacements), 3),
        when=lambda self: bool(self._looks().displacements),
    )
    sigma = Variable(
        Stress,
        "Stress xx, yy, zz, xy, yz, zx at stressAt, resolved in frame_a",
        shape=lambda self: (len(self._looks().stress), 6),
        when=lambda self: bool(self._looks().stress),
    )
    sigma_vM = Variable(
        Stress,
        "Von Mises' equivalent of these",
        shape=lambda self: (len(self._looks().stress),),
        when=lambda self: bool(self._looks().stress),
    )
    m = Final(t.Mass, lambda self: self.flexibility().integrals.m, "Mass of the body", structural=True)

    def _attached(self) -> tuple[tuple[str, ...], ...]:
        return interfaces(str(self.value("attached") if not hasattr(self, "_notes") else self.attached))

    def _looks(self) -> Asked:
        return Asked(self._attached(), interfaces(str(self.displacementAt)), interfaces(str(self.stressAt)))

    @property
    def _called(self) -> str:
        """How messages call it, also inside equations."""
        return str(self.where if not hasattr(self, "_component") else self._component.where)

    def _files(self) -> dict[str, str]:
        """Parameter -> file, for the way that it is given.

        Raises:
            ModelError: it is given in no way, or in several.
        """
        ways = (("fileName",), ("meshFile",), ("massFile", "stiffnessFile", "nodeFile"))
        given = [{name: str(getattr(self, name)) for name in way} for way in ways]
        used = [files for files in given if any(files.values())]
        if len(used) != 1 or not all(used[0].values()):
            raise ModelError(
                f"{self._called}: give fileName, a SID file, or meshFile, or massFile, stiffnessFile and nodeFile, not "
                "some of several"
            )
        return used[0]

    def finite_elements(self) -> FiniteElements:
        """Its matrices, of a body from a mesh or from matrices.

        Raises:
            ModelError: a file cannot be read, or is not what it should be.
        """
        files = self._files()
        if "meshFile" in files:
            material = Material(float(self.E), float(self.nu), float(self.density))
            read = functools.partial(read_mesh, material=material, scale=float(self.meshUnit))
            found: FiniteElements = _file(f"{self._called}.meshFile", files["meshFile"], read)
            return found
        reads = {
            "massFile": functools.partial(_read_matrix, what="mass"),
            "stiffnessFile": functools.partial(_read_matrix, what="stiffness"),
            "nodeFile": _read_nodes,
        }
        mass, stiffness, nodes = (_file(f"{self._called}.{name}", file, reads[name]) for name, file in files.items())
        try:
            cells = _file(f"{self._called}.nodeFile", files["nodeFile"], _read_cells)
        except MbfmuError as error:  # it is drawn without
            warnings.warn(f"{error}; the surface of the body is not drawn", stacklevel=2)
            cells = {}
        try:
            return matrix_files.of_matrices(mass, stiffness, nodes, cells)
        except ValueError as error:
            raise ModelError(f"{self._called}: {error}") from None

    def reduction(self) -> Reduced:
        """Its shapes."""
        files, asked = self._files(), self._looks()
        held = interfaces(str(self.held))
        material = (self.E, self.nu, self.density, self.meshUnit) if "meshFile" in files else ()
        paths = [pathlib.Path(matrix_files.path(file)) for file in files.values()]
        times = tuple((path.stat().st_mtime if path.exists() else 0.0) for path in paths)
        key = (*files.values(), times, asked, held, self.nModes, self.f_max, material)
        if key not in _REDUCED:
            if "fileName" in files:
                found = _file(f"{self._called}.fileName", self.fileName, _read_sid)
                _REDUCED[key] = of_sid(self._called, found, asked)
            else:
                elements = self.finite_elements()
                _REDUCED[key] = reduced(self._called, elements, held, asked, int(self.nModes), float(self.f_max))
        return _REDUCED[key]

    def flexibility(self) -> Flexibility:
        return self.reduction().flexibility

    def checks(self) -> dict[str, Any]:
        """Figures to compare with those of the finite-element program.

        Returns:
            `mass` [kg]; `center` of mass, in frame_a [3, m]; `inertia` about it [3, 3, kg.m2]; `frequencies` of each
            shape with frame_a at rest [n, Hz]; `effective_masses` of these along x, y and z [n, 3, kg], which add up to
            the mass where there are all shapes; of matrices or a mesh, `size` along x, y and z [3, m], and
            `free_frequencies`: the lowest of the free body [Hz], of which six are those of rigid motions, next to
            nothing.
        """
        body = self.flexibility()
        i, n = body.integrals, body.count
        center = i.first / i.m
        second = i.second - i.m * np.outer(center, center)
        squares, modes = scipy.linalg.eigh(body.K, i.mass_matrix[:n, :n])
        found = {
            "mass": i.m,
            "center": center.tolist(),
            "inertia": (np.trace(second) * np.eye(3) - second).tolist(),
            "frequencies": (np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)).tolist(),
            "effective_masses": ((i.S[:, :n] @ modes) ** 2).T.tolist(),
        }
        if not self.fileName:
            elements = self.finite_elements()
            mass, stiffness = elements.mass, elements.stiffness
            found["size"] = np.ptp(elements.places, axis=0).tolist()
            near = -float(squares[0]) * 1e-3  # below all, as the stiffness of a free body has no inverse
            count = min(FREE, mass.shape[0] - 2)
            inverse = scipy.sparse.linalg.LinearOperator(mass.shape, solver(stiffness - near * mass))
            lowest = scipy.sparse.linalg.eigsh(
                stiffness, count, mass, sigma=near, v0=np.ones(mass.shape[0]), return_eigenvectors=False, OPinv=inverse
            )
            found["free_frequencies"] = (np.sqrt(np.maximum(np.sort(lowest), 0.0)) / (2 * np.pi)).tolist()
        return found

    def sid_text(self) -> str:
        """The text of its SID file."""
        return sid.text(self.sid())

    def sid(self) -> sid.SID:
        """What a SID file says of it: nodes 1, 2 ... are interfaces, then displacementAt, then stressAt with stress."""
        found = self.reduction()
        nodes: list[tuple[np.ndarray, ...]] = list(zip(found.places, found.displacements, found.rotations, strict=True))
        if found.stress is not None:
            first = len(nodes) - len(found.stress[1])
            nodes[first:] = [(*node, stress) for node, stress in zip(nodes[first:], found.stress[1], strict=True)]
        return sid.from_flexibility(found.flexibility, dict(enumerate(nodes, 1)))

    def equations(self) -> None:
        self.bend()
        found, q, asked = self.reduction(), self.coordinates, self._looks()
        interfaces = len(asked.attached)
        for k, place in enumerate(found.places[:interfaces]):
            u, turn = found.moved(k, q)
            R = slightly_turned(turn, self.der(turn))
            self.relative_motion(ca.DM(place) + u, R, frame=f"frame[{k + 1}]")
        if asked.displacements:
            last = interfaces + len(asked.displacements)
            self.u = ca.horzcat(*(found.moved(k, q)[0] for k in range(interfaces, last))).T
        if found.stress is not None:
            still, modes = found.stress
            sigma = [ca.DM(one) + ca.SX(ca.DM(by_shape)) @ q for one, by_shape in zip(still, modes, strict=True)]
            self.sigma = ca.horzcat(*sigma).T
            self.sigma_vM = ca.vertcat(*map(von_mises, sigma))

    def visualize(self: Any) -> None:
        found, q = self.reduction(), self.coordinates
        if found.outline is not None:
            surface = found.outline
            self.draw_deformed(
                "surface", surface.points, surface.triangles, surface.displacements, self.deformationScale * q,
                self.frame_a, color=self.color, specularCoefficient=self.specularCoefficient,
            )  # fmt: skip
            return
        integrals = found.flexibility.integrals
        shift = ca.SX(ca.DM(integrals.S)) @ q if self.coordinates.numel() else ca.SX.zeros(3)
        center = ca.DM(integrals.first) + self.deformationScale * shift
        draw_sphere(self, "center", self.frame_a, self.diameter, self.color, ca.vertsplit(center / integrals.m))
        for k, place in enumerate(found.places[: len(self._attached())]):
            end = ca.DM(place) + self.deformationScale * found.moved(k, q)[0]
            self.draw_shape(
                f"rod{k + 1}", "cylinder", self.frame_a, lengthDirection=end, length=ca.norm_2(end),
                width=self.diameter / 3, color=self.color, specularCoefficient=self.specularCoefficient,
            )  # fmt: skip


#: Reductions by all that they depend on.
_REDUCED: dict[Any, Reduced] = {}

__all__ = ["ModalBody"]
