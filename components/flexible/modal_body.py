"""ModalBody: a body of a finite-element program, by its matrices or a SID file, with few shapes in a floating frame."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import re
from typing import Any

import casadi as ca
import numpy as np
import scipy

from mbfmu.components.flexible import sid
from mbfmu.components.flexible.floating_frame import Flexibility, Integrals, PartialFlexibleBody
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation, axes_rotations
from mbfmu.modeling import Final, Frames, Parameter
from mbfmu.modeling import types as t

#: Entries that make a matrix unsymmetric, relative to its largest.
SYMMETRIC = 1e-8
#: Force that rigid motions may cause, relative to the largest of as large deformations.
RIGID = 1e-6
#: Mass below which units are asked about [kg]: mm and t make 1e-9 kg of a gram-scale part's density.
SMALL_MASS = 1e-6

#: Frequencies of the free body that are shown: six of rigid motions, and six more.
FREE = 12

_Text = t.Type("FileName", "String")


@dataclasses.dataclass(frozen=True, eq=False)
class Reduced:
    """A body of finite elements with few shapes, and its interfaces."""

    flexibility: Flexibility
    #: Place of each interface [k, 3], its displacement and small rotation by each shape [k, 3, n].
    places: np.ndarray
    displacements: np.ndarray
    rotations: np.ndarray
    #: Displacements and rotations of second order: q' seconds[k, a] q / 2 [k, 6, n, n]; none of bodies by matrices.
    seconds: np.ndarray | None = None

    def moved(self, k: int, q: Any) -> tuple[Any, Any]:
        """Displacement and small rotation of interface k for coordinates q."""
        u, turn = (ca.SX(ca.DM(part[k])) @ q for part in (self.displacements, self.rotations))
        if self.seconds is not None:
            more = ca.vertcat(*(ca.dot(q, ca.sparsify(ca.DM(one)) @ q) / 2 for one in self.seconds[k]))
            u, turn = u + more[:3], turn + more[3:]
        return ca.densify(u), ca.densify(turn)


def interfaces(text: str) -> tuple[tuple[int, ...], ...]:
    """Numbers of nodes, those of one interface separated by blanks, interfaces by `;`."""
    return tuple(
        tuple(int(word) for word in re.split(r"[\s,]+", part.strip())) for part in text.split(";") if part.strip()
    )


@functools.lru_cache(maxsize=16)
def _read_matrix(file: str, changed: float) -> scipy.sparse.csc_matrix:
    return scipy.sparse.csc_matrix(scipy.io.mmread(file, spmatrix=False))


@functools.lru_cache(maxsize=16)
def _read_nodes(file: str, changed: float) -> dict[int, np.ndarray]:
    found: dict[int, np.ndarray] = {}
    for number, line in enumerate(pathlib.Path(file).read_text("utf-8").splitlines(), 1):
        words = [word for word in re.split(r"[\s,;]+", line.partition("#")[0].strip()) if word]
        if not words:
            continue
        try:
            node, place = int(words[0]), np.array([float(word) for word in words[1:4]])
        except ValueError:
            raise ValueError(
                f"line {number}: {line.strip():.40} is no node; give its number and three places"
            ) from None
        if len(words) != 4 or node in found or not np.isfinite(place).all():
            raise ValueError(
                f"line {number}: {line.strip():.40} is no node of its own; give its number and three places"
            )
        found[node] = place
    return found


def _file(where: str, file: str, read: Any) -> Any:
    """What a file has, read again where it has changed.

    Raises:
        ModelError: it cannot be read.
    """
    try:
        return read(file, os.stat(file).st_mtime)
    except (OSError, ValueError) as error:
        raise ModelError(f"{where} = {file!r}: cannot be read: {error}") from error


def reduced(
    where: str, mass: Any, stiffness: Any, nodes: dict[int, np.ndarray], held: tuple[int, ...],
    attached: tuple[tuple[int, ...], ...], modes: int, f_max: float,
) -> Reduced:  # fmt: skip
    """Reduce a body of finite elements with three displacements for each node.

    Shapes are deflections by a force and a torque along each axis at each interface, and the lowest modes, with the
    nodes `held` at rest (Craig and Chang's method of residual flexibility); then these are uncoupled.

    Args:
        where: how messages call the body.
        mass, stiffness: sparse matrices [3 k, 3 k], by nodes in their order, then by directions.
        nodes: places of the k nodes, in the directions of frame_a, by number [m].
        held: nodes that move with frame_a; their mean is its origin.
        attached: nodes of each interface.
        modes: number of modes.
        f_max: modes above this frequency are left out [Hz].

    Raises:
        ModelError: matrices that are not symmetric, not positive, of another size, nodes that do not exist, a body that
            is not held, masses in other units.
    """
    size = 3 * len(nodes)
    for name, matrix in (("massFile", mass), ("stiffnessFile", stiffness)):
        if matrix.shape != (size, size):
            raise ModelError(
                f"{where}.{name}: has {matrix.shape[0]} x {matrix.shape[1]} entries, and {len(nodes)} nodes need "
                f"{size} x {size}: three displacements for each node, in the order of nodeFile; condense others"
            )
        largest = abs(matrix).max()
        apart = abs(matrix - matrix.T).max()
        if not apart <= SYMMETRIC * largest:
            raise ModelError(
                f"{where}.{name}: is not symmetric, entries differ by {apart:g} of {largest:g}; write the whole "
                "matrix, or `symmetric` into the head of its lower half"
            )
    order = {number: k for k, number in enumerate(nodes)}
    for number in (*held, *(number for one in attached for number in one)):
        if number not in order:
            raise ModelError(
                f"{where}: there is no node {number} in nodeFile, whose {len(nodes)} nodes are up to {max(nodes)}"
            )
    places = np.array(list(nodes.values()))
    origin = places[[order[number] for number in held]].mean(axis=0) if held else np.zeros(3)
    places = places - origin
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
    fixed = np.array([3 * order[number] + k for number in held for k in range(3)], dtype=int)
    if np.linalg.matrix_rank(rigid[fixed]) < 6:
        raise ModelError(
            f"{where}.held = {list(held)}: holds no rigid body; name three nodes at least that are not on one line"
        )
    free = np.setdiff1d(np.arange(size), fixed)
    K, M = stiffness[free][:, free].tocsc(), mass[free][:, free].tocsc()
    solve = scipy.sparse.linalg.splu(K).solve
    loads, ports = [], []
    for one in attached:
        at = np.array([order[number] for number in one])
        middle = places[at].mean(axis=0)
        fit = np.zeros((3 * len(at), 6))  # the rigid motion that fits the displacements of the nodes best
        for k in range(3):
            fit[k::3, k] = 1.0
            fit[:, 3 + k] = np.cross(np.eye(3)[k], places[at] - middle).ravel()
        mean = np.linalg.pinv(fit, rcond=1e-9)
        spread = np.zeros((6, size))
        spread[:, np.repeat(3 * at, 3) + np.tile(np.arange(3), len(at))] = mean
        ports.append((middle, spread))
        loads += [row[free] for row in spread if np.abs(row[free]).max(initial=0.0) > 0]
    count = min(modes, len(free) - 2)
    shapes = [solve(load) for load in loads]
    if count:
        values, vectors = scipy.sparse.linalg.eigsh(K, count, M, sigma=0.0, v0=np.ones(len(free)))
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
    moved = [spread @ whole for _, spread in ports]
    return Reduced(
        Flexibility(integrals, stiff, np.zeros((0, n, n))),
        np.array([middle for middle, _ in ports]).reshape(-1, 3),
        np.array([one[:3] for one in moved]).reshape(-1, 3, n),
        np.array([one[3:] for one in moved]).reshape(-1, 3, n),
    )


def of_sid(where: str, found: sid.SID, attached: tuple[tuple[int, ...], ...]) -> Reduced:
    """The body of a SID file, with a node for each interface.

    Raises:
        ModelError: a node does not exist or has directions of its own; parts of the file contradict each other.
    """
    try:
        flexibility = sid.flexibility(found)
    except ValueError as error:
        raise ModelError(f"{where}.fileName: {error}") from error
    nodes = []
    for one in attached:
        if len(one) != 1 or one[0] not in found.nodes:
            raise ModelError(
                f"{where}.attached: {' '.join(map(str, one))} is no node of the file; an interface is one of "
                f"{', '.join(map(str, list(found.nodes)[:12]))}"
            )
        node = found.nodes[one[0]]
        if node.turned():
            raise ModelError(
                f"{where}.attached: node {one[0]} has other directions than the body (AP), which is not taken; write "
                "the file with nodes in the directions of the body, and turn the frame by a FixedRotation"
            )
        nodes.append(node.parts)
    n = found.count
    seconds = np.array([np.vstack([one[name].first(n).swapaxes(1, 2) for name in ("phi", "psi")]) for one in nodes])
    seconds = (seconds + seconds.swapaxes(-1, -2)) / 2 if nodes else seconds
    u, turn = (np.array([one[name].m0 for one in nodes]).reshape(-1, 3, n) for name in ("phi", "psi"))
    places = np.array([one["origin"].m0[:, 0] for one in nodes]).reshape(-1, 3)
    return Reduced(flexibility, places, u, turn, seconds if np.any(seconds) else None)


@functools.lru_cache(maxsize=16)
def _read_sid(file: str, changed: float) -> sid.SID:
    return sid.load(file)


class ModalBody(PartialFlexibleBody):
    """Body of finite elements, by a SID file, or by its mass and stiffness matrices, reduced to few shapes.

    A SID file (Standard Input Data) has the shapes, all their couplings, geometric stiffening and damping; frame_a is
    its frame of reference, and each interface is a node.

    Or matrices are Matrix Market files of the free body, with the displacements along x, y and z of each node; nodes
    are listed in a text file, in the order of the matrices, each with number and place. frame_a is fixed to the nodes
    `held`, in their mean, with the directions of the file. Interfaces follow the mean of their nodes. Displacements are
    small in frame_a; such a body does not stiffen under loads.
    """

    modelica_name = "FlexibleBodies.ModalBody"

    fileName = Parameter(_Text, "", "SID file; none: the body is given by matrices")
    massFile = Parameter(_Text, "", "Matrix Market file of the mass matrix [kg]")
    stiffnessFile = Parameter(_Text, "", "Matrix Market file of the stiffness matrix [N/m]")
    nodeFile = Parameter(_Text, "", "Text file of nodes: number, x, y, z [m]")
    held = Parameter(t.Integer, (), "Numbers of the nodes that are fixed to frame_a", shape=None, min=0)
    attached = Parameter(_Text, "", "Numbers of the nodes of frame[1]; of frame[2]; ... as in '12 13 14; 57'")
    nModes = Parameter(
        t.Integer, 6, "Number of modes of matrices, beside the deflections by loads at interfaces", min=0
    )
    f_max = Parameter(t.Frequency, 1e30, "Modes above this frequency are left out [Hz]", min=0, structural=True)
    frame = Frames("Interface", size=lambda self: len(self._attached()))
    m = Final(t.Mass, lambda self: self.flexibility().integrals.m, "Mass of the body", structural=True)

    def _attached(self) -> tuple[tuple[int, ...], ...]:
        try:
            return interfaces(str(self.value("attached") if not hasattr(self, "_notes") else self.attached))
        except ValueError:
            raise ModelError(
                f"{self.where}.attached = {self.value('attached')!r}: give numbers of nodes, as in '12 13 14; 57'"
            ) from None

    def reduction(self) -> Reduced:
        """Its shapes."""
        where = self.where if not hasattr(self, "_component") else self._component.where
        files = (self.massFile, self.stiffnessFile, self.nodeFile)
        if bool(self.fileName) == any(files) or (any(files) and not all(files)):
            raise ModelError(
                f"{where}: give fileName, a SID file, or massFile, stiffnessFile and nodeFile, not some of both"
            )
        if self.fileName:
            found = _file(f"{where}.fileName", self.fileName, _read_sid)
            key = (self.fileName, os.stat(self.fileName).st_mtime, self._attached())
            if key not in _REDUCED:
                _REDUCED[key] = of_sid(where, found, self._attached())
            return _REDUCED[key]
        mass, stiffness = (
            _file(f"{where}.{name}", file, _read_matrix)
            for name, file in zip(("massFile", "stiffnessFile"), files, strict=False)
        )
        nodes = _file(f"{where}.nodeFile", self.nodeFile, _read_nodes)
        held = tuple(int(number) for number in np.ravel(self.held))
        key = (*((file, os.stat(file).st_mtime) for file in files), held, self._attached(), self.nModes, self.f_max)
        if key not in _REDUCED:
            _REDUCED[key] = reduced(where, mass, stiffness, nodes, held, self._attached(), self.nModes, self.f_max)
        return _REDUCED[key]

    def flexibility(self) -> Flexibility:
        return self.reduction().flexibility

    def checks(self) -> dict[str, Any]:
        """Figures to compare with those of the finite-element program.

        Returns:
            `mass` [kg]; `center` of mass, in frame_a [3, m]; `inertia` about it [3, 3, kg.m2]; `frequencies` of each
            shape with frame_a at rest [n, Hz]; `effective_masses` of these along x, y and z [n, 3, kg], which add up to
            the mass where there are all shapes; of matrices, `free_frequencies`: the lowest of the free body [Hz], of
            which six are those of rigid motions, next to nothing.
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
            mass, stiffness = (
                _file(f"{self.where}.{name}", getattr(self, name), _read_matrix)
                for name in ("massFile", "stiffnessFile")
            )
            near = -float(squares[0]) * 1e-3  # below all, as the stiffness of a free body has no inverse
            count = min(FREE, mass.shape[0] - 2)
            lowest = scipy.sparse.linalg.eigsh(
                stiffness, count, mass, sigma=near, v0=np.ones(mass.shape[0]), return_eigenvectors=False
            )
            found["free_frequencies"] = (np.sqrt(np.maximum(np.sort(lowest), 0.0)) / (2 * np.pi)).tolist()
        return found

    def sid_text(self) -> str:
        """The text of its SID file."""
        return sid.text(self.sid())

    def sid(self) -> sid.SID:
        """What a SID file says of it, with the interfaces as nodes 1, 2 ..."""
        found = self.reduction()
        moved = zip(found.places, found.displacements, found.rotations, strict=True)
        return sid.from_flexibility(found.flexibility, dict(enumerate(moved, 1)))

    def equations(self) -> None:
        self.bend()
        found, q = self.reduction(), self.coordinates
        for k, place in enumerate(found.places):
            u, turn = found.moved(k, q)
            R = axes_rotations((1, 2, 3), turn, self.der(turn))
            self.relative_motion(ca.DM(place) + u, Orientation(R.T, R.w), frame=f"frame[{k + 1}]")


#: Reductions by all that they depend on.
_REDUCED: dict[Any, Reduced] = {}

__all__ = ["ModalBody"]
