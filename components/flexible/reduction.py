"""Few shapes for a body of finite elements: deflections by loads and lowest modes, or those of a SID file."""

from __future__ import annotations

import dataclasses
import re
import warnings
from typing import Any

import casadi as ca
import numpy as np
import scipy

from mbfmu.components.flexible import sid
from mbfmu.components.flexible.finite_elements import FiniteElements, Patch, Probe, solver
from mbfmu.components.flexible.floating_frame import Flexibility, Integrals, quadratic
from mbfmu.components.flexible.outlines import Outline, outline
from mbfmu.errors import ModelError

#: Entries that make a matrix unsymmetric, relative to its largest.
SYMMETRIC = 1e-8
#: Force that rigid motions may cause, relative to the largest of as large deformations.
RIGID = 1e-6
#: Squares of frequencies that are rounding of zero, relative to the largest that single nodes may have.
NO_FREQUENCY = 1e-15
#: Mean density of the box around a body below which units are wrong [kg/m3]: air has 1.2, steel in t and mm 8e-9.
THIN = 1e-3
#: What is so thin, as a part of its length, counts as so thick in that box.
FLAT = 1e-2
#: Units are asked about: of bodies lighter than that [kg], meshes larger [m], materials with slower sound [m/s].
SMALL_MASS, LARGE, SLOW = 1e-6, 50.0, 10.0


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


def interfaces(text: str) -> tuple[tuple[str, ...], ...]:
    """Numbers of nodes, or names, those of one interface separated by blanks, interfaces by `;`."""
    return tuple(tuple(re.split(r"[\s,]+", part.strip())) for part in text.split(";") if part.strip())


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
    for name, matrix in (("massFile", body.mass), ("stiffnessFile", body.stiffness)):
        _check_entries(f"{where}.{name}", matrix, len(body.places))
    displacements, stress = _looked_at(where, body, asked)
    standing, attached = (
        _patches(f"{where}.{name}", body, given) for name, given in (("held", held), ("attached", asked.attached))
    )
    _warn_of_lines(where, asked.attached, attached, body.places)
    places = body.places
    if standing:
        middles = np.array([patch.middle(places) for patch in standing])
        places = places - np.average(middles, axis=0, weights=[patch.weights.sum() for patch in standing])
    scalar = _scalar_mass(where, body)
    rigid = _rigid_motions(places)
    force = np.abs(body.stiffness @ rigid).max()
    if force > RIGID * abs(body.stiffness).max():
        raise ModelError(
            f"{where}.stiffnessFile: a rigid motion meets {force:g} N for each m; write the stiffness of the free "
            "body, without supports, with nodes in the order and directions of nodeFile"
        )
    nodes = np.unique(np.concatenate([np.zeros(0, dtype=int), *(patch.nodes for patch in standing)]))
    _check_held(where, body, held, nodes, rigid)
    fixed = (3 * nodes[:, None] + np.arange(3)).ravel()
    free = np.setdiff1d(np.arange(3 * len(places)), fixed)
    spreads = [patch.motion(places) for patch in attached]
    basis = _basis(where, body, free, [row[free] for spread in spreads for row in spread], modes, f_max)
    squares, mixing = scipy.linalg.eigh(*(basis.T @ (m[free][:, free] @ basis) for m in (body.stiffness, body.mass)))
    whole = np.zeros((3 * len(places), basis.shape[1]))
    whole[free] = basis @ mixing
    whole /= np.abs(whole).max(axis=0)
    integrals = _integrals(scalar, places, whole)
    n = whole.shape[1]
    by_node = whole.reshape(-1, 3, n)
    found = [
        (patch.middle(places), *np.split(spread @ whole, 2)) for patch, spread in zip(attached, spreads, strict=True)
    ]
    for one in (*displacements, *stress):
        if isinstance(one, Patch):
            found.append((one.middle(places), *np.split(one.motion(places) @ whole, 2)))
        else:
            found.append((one.values @ places, one.displacement(by_node), one.rotation(by_node)))
    modes_of_stress = None
    if stress and body.material is not None:
        modes_of_stress = np.zeros((len(stress), 6)), np.array([one.stress(by_node, body.material) for one in stress])
    return Reduced(
        Flexibility(integrals, np.diag(squares * np.diag(integrals.mass_matrix)), np.zeros((0, n, n))),
        np.array([place for place, _, _ in found]).reshape(-1, 3),
        np.array([u for _, u, _ in found]).reshape(-1, 3, n),
        np.array([turn for _, _, turn in found]).reshape(-1, 3, n),
        outline=outline(places, body.surface, by_node),
        stress=modes_of_stress,
    )


def _check_entries(where: str, matrix: Any, nodes: int) -> None:
    """Look whether a matrix has its size, numbers, and is symmetric.

    Raises:
        ModelError: it has not.
    """
    size = 3 * nodes
    if matrix.shape != (size, size):
        raise ModelError(
            f"{where}: has {matrix.shape[0]} x {matrix.shape[1]} entries, and {nodes} nodes need {size} x {size}: "
            "three displacements for each node, in the order of nodeFile; condense others"
        )
    largest = abs(matrix).max()
    if not 0 < largest < np.inf:
        raise ModelError(
            f"{where}: has {'no entries but zeros' if largest == 0 else 'entries that are no numbers'}; write it again"
        )
    apart = abs(matrix - matrix.T).max()
    if apart > SYMMETRIC * largest:
        raise ModelError(
            f"{where}: is not symmetric, entries differ by {apart:g} of {largest:g}; write the whole matrix, or "
            "`symmetric` into the head of its lower half"
        )


def _patches(where: str, body: FiniteElements, given: tuple[tuple[str, ...], ...]) -> list[Patch]:
    """Nodes that words stand for.

    Raises:
        ModelError: there are none.
    """
    try:
        return [body.patch(words) for words in given]
    except ValueError as error:
        raise ModelError(f"{where}: {error}") from None


def _warn_of_lines(where: str, given: tuple[tuple[str, ...], ...], patches: list[Patch], places: np.ndarray) -> None:
    """Warn of interfaces that do not know all of their rotation."""
    for words, patch in zip(given, patches, strict=True):
        offsets = places[patch.nodes] - patch.middle(places)
        turns = np.linalg.matrix_rank(offsets, 1e-9 * max(np.abs(places).max(), 1e-300))
        if turns < 2:
            about = " about its line" if turns else ""
            warnings.warn(
                f"{where}.attached: {' '.join(words)} tells no rotation{about}: its frame turns there as frame_a does, "
                "and torques bend nothing; name three nodes that are not on one line",
                stacklevel=2,
            )


def _scalar_mass(where: str, body: FiniteElements) -> Any:
    """The mass matrix of the displacements along one axis; warns of bodies that weigh next to nothing.

    Raises:
        ModelError: it is not that of solid elements, not positive, or of other units.
    """
    mass, size = body.mass, np.ptp(body.places, axis=0)
    directions = [mass[k::3, k::3] for k in range(3)]
    mixed = max(abs(mass[i::3, j::3]).max() for i in range(3) for j in range(3) if i != j)
    largest = abs(mass).max()
    if max(abs(one - directions[0]).max() for one in directions) > 1e-6 * largest or mixed > 1e-6 * largest:
        raise ModelError(
            f"{where}.massFile: is not that of displacements, as the three directions differ; give a consistent or "
            "lumped mass matrix of solid elements"
            + (", or are massFile and stiffnessFile exchanged?" if abs(directions[0].sum()) < RIGID * largest else "")
        )
    scalar = directions[0]
    weight = float(scalar.sum())
    if not weight > 0 or not (scalar.diagonal() > 0).all():
        raise ModelError(f"{where}.massFile: is not positive, its mass is {weight:g} kg; leave nodes without mass out")
    try:
        solver(scalar)
    except ValueError as error:
        raise ModelError(f"{where}.massFile: {error}; give a consistent or lumped mass matrix") from None
    told = f"its mass is {weight:g} kg, its size {' x '.join(f'{x:.6g}' for x in size)} m"
    remedy = (
        "give meshUnit, the length of the mesh's unit in m (0.001 of mm), and density in kg/m3"
        if body.is_mesh
        else "are lengths in mm and masses in t? Convert all to m, kg, N/m"
    )
    name = f"{where}.{'meshFile' if body.is_mesh else 'massFile'}"
    thin = weight / np.maximum(size, FLAT * size.max()).prod() if size.max() > 0 else np.inf
    if thin < THIN:
        raise ModelError(f"{name}: {told}, {thin:.3g} kg/m3 in the box around it; {remedy}")
    if weight < SMALL_MASS:
        warnings.warn(f"{name}: {told}; where that is not meant, {remedy}", stacklevel=2)
    if body.material is not None and size.max() > LARGE:
        warnings.warn(f"{name}: {told}; where that is not meant, {remedy}", stacklevel=2)
    if body.material is not None and SLOW**2 * body.material.density > body.material.E:
        warnings.warn(
            f"{where}.E = {body.material.E:g} Pa: is that of a jelly, with {body.material.density:g} kg/m3; where that "
            "is not meant, give E in Pa, 1e6 of each MPa",
            stacklevel=2,
        )
    return scalar


def _rigid_motions(places: np.ndarray) -> np.ndarray:
    """Displacements by the six rigid motions [3 k, 6], rotations by as much as moves the farthest node by 1."""
    rigid = np.zeros((places.size, 6))
    for k, axis in enumerate(np.eye(3)):
        rigid[k::3, k] = 1.0
        rigid[:, 3 + k] = np.cross(axis, places).ravel() / max(np.abs(places).max(), 1e-300)
    return rigid


def _check_held(
    where: str, body: FiniteElements, held: tuple[tuple[str, ...], ...], nodes: np.ndarray, rigid: np.ndarray
) -> None:
    """Look whether the nodes that are held hold the body, and all its parts where it falls into several.

    Raises:
        ModelError: they do not.
    """
    stiffness = body.stiffness.tocoo()
    joins = scipy.sparse.coo_matrix(
        (np.ones(stiffness.nnz), (stiffness.row // 3, stiffness.col // 3)), (len(body.places),) * 2
    )
    count, part = scipy.sparse.csgraph.connected_components(joins, directed=False)
    for k in range(count):
        own = nodes[part[nodes] == k]
        if np.linalg.matrix_rank(rigid[(3 * own[:, None] + np.arange(3)).ravel()]) == 6:
            continue
        if count == 1 or not len(nodes):
            surfaces = f"; it has {', '.join(body.groups)}" if body.groups else ""
            raise ModelError(
                f"{where}.held = {'; '.join(map(' '.join, held))!r}: holds no rigid body; name a surface, or three "
                f"nodes at least that are not on one line{surfaces}"
            )
        inside = np.flatnonzero(part == k)
        middle = ", ".join(f"{x:.6g}" for x in body.places[inside].mean(axis=0))
        name = "meshFile" if body.is_mesh else "stiffnessFile"
        raise ModelError(
            f"{where}.{name}: falls into {count} parts that nothing joins, of which one of {len(inside)} nodes around "
            f"{middle} m is not held; join them, in gmsh by BooleanFragments, or leave it out"
        )


def _basis(
    where: str, body: FiniteElements, free: np.ndarray, loads: list[np.ndarray], modes: int, f_max: float
) -> np.ndarray:
    """Deflections by loads and the lowest modes, independent of each other [free, n].

    Raises:
        ModelError: the stiffness is not positive, there are no such modes, or neither loads nor modes.
    """
    K, M = (matrix[free][:, free].tocsc() for matrix in (body.stiffness, body.mass))
    try:
        solve = solver(K)
    except ValueError as error:
        raise ModelError(f"{where}.stiffnessFile: {error}; write it again, with all of its elements") from None
    shapes = [solve(load) for load in loads if np.abs(load).max(initial=0.0) > 0]
    most = len(free) - 2
    if modes > most:
        raise ModelError(f"{where}.nModes = {modes}: the matrices hold {most} modes; ask for fewer")
    if modes:
        values, vectors = scipy.sparse.linalg.eigsh(
            K, modes, M, sigma=0.0, v0=np.ones(len(free)), OPinv=scipy.sparse.linalg.LinearOperator(K.shape, solve)
        )
        if values.min() <= NO_FREQUENCY * (K.diagonal() / M.diagonal()).max():
            raise ModelError(
                f"{where}.stiffnessFile: is not positive, its least eigenvalue is {values.min():g}, as parts of "
                "the body move without force; write it again, with all of its elements"
            )
        shapes += list(vectors[:, np.sqrt(values) <= 2 * np.pi * f_max].T)
    if not shapes:
        raise ModelError(
            f"{where}: has no shape to bend by; ask for modes"
            + (f", of which there are none up to f_max = {f_max:g} Hz" if modes else "")
            + ", or name interfaces"
        )
    basis = np.array([shape / np.sqrt(shape @ (K @ shape)) for shape in shapes]).T
    sizes, mixing = np.linalg.eigh(basis.T @ (K @ basis))  # what interfaces cause may be the same for several
    kept = sizes > 1e-9 * sizes.max()
    return np.asarray(basis @ (mixing[:, kept] / np.sqrt(sizes[kept])))


def _integrals(scalar: Any, places: np.ndarray, shapes: np.ndarray) -> Integrals:
    """Those of a body with a mass matrix along each axis [k, k], and displacements by each shape [3 k, n]."""
    parts = [shapes[k::3] for k in range(3)]
    return Integrals(
        float(scalar.sum()),
        np.asarray(scalar @ places).sum(axis=0),
        places.T @ (scalar @ places),
        np.array([np.asarray(scalar @ part).sum(axis=0) for part in parts]),
        np.array([[(scalar @ places[:, b]) @ parts[a] for b in range(3)] for a in range(3)]),
        np.array([[parts[a].T @ (scalar @ parts[b]) for b in range(3)] for a in range(3)]),
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
    return body.probe(place) if np.isfinite(place).all() else None


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


__all__ = ["Asked", "Reduced", "interfaces", "of_sid", "reduced"]
