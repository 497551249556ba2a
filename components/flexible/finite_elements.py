"""Bodies of finite elements: mass, stiffness and nodes, from a mesh and a material by quadratic tetrahedra."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import pathlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy

from mbfmu.components.flexible.outlines import FACES
from mbfmu.extras import extra

_PURPOSE = "a body from a mesh"
#: Suffix of a mesh -> module of meshio that reads it.
MESHES = {".msh": "gmsh", ".inp": "abaqus"}
#: Kinds of cells that are taken, and those that are left aside, in the words of meshio.
TETRAHEDRA = ("tetra", "tetra10")
NO_VOLUME = ("vertex", "line", "line3", "triangle", "triangle6")
#: Points beyond this are nowhere [m].
FAR = 1e9
#: How far the middle of an edge may be from its ends' mean, as a part of their distance.
HALF_CIRCLE = 0.5
#: Corner opposite to each face of a tetrahedron, and ends of the edges that its fifth to tenth node are the middles of.
OPPOSITE, EDGES = (3, 2, 0, 1), ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
#: Quadrature that is exact for products of quadratic functions on straight tetrahedra.
ORDER = 4
#: How far a place may be outside of an element, as on a curved surface, and yet have its stress; parts of its size.
OUTSIDE = 0.2
#: Elements have a place in common where it is inside each alike, up to this part of their size.
SHARED = 1e-6


@contextlib.contextmanager
def library(file: str) -> Iterator[None]:
    """What a library raises for a damaged file, as ValueError."""
    try:
        yield
    except Exception as error:  # there is no end of kinds
        raise ValueError(f"it is no {pathlib.Path(file).suffix} file, or is damaged: {error!r:.200}") from error


@dataclasses.dataclass(frozen=True)
class Material:
    """An isotropic elastic material: Young's modulus [Pa], Poisson's ratio, density [kg/m3]."""

    E: float
    nu: float
    density: float

    @property
    def lame(self) -> tuple[float, float]:
        """Shear modulus and Lame's first parameter [Pa]."""
        mu = self.E / (2 * (1 + self.nu))
        return mu, 2 * mu * self.nu / (1 - 2 * self.nu)


@dataclasses.dataclass(frozen=True, eq=False)
class Patch:
    """Nodes that an interface follows: their indices [k], and how much products of their displacements count [k, k].

    The motion of an interface is the rigid one that fits its displacements u best: (u - rigid)' weights (u - rigid) is
    least, for each direction.
    """

    nodes: np.ndarray
    weights: Any

    def middle(self, places: np.ndarray) -> np.ndarray:
        """Its mean place [3]."""
        counts = np.asarray(self.weights.sum(axis=1)).ravel()
        return np.asarray(counts @ places[self.nodes] / counts.sum())

    def motion(self, places: np.ndarray) -> np.ndarray:
        """Displacement and small rotation of the interface for displacements of all nodes [6, 3 k]."""
        offsets = places[self.nodes] - self.middle(places)
        radius = np.abs(offsets).max() or 1.0
        fit = np.zeros((3 * len(offsets), 6))
        for k in range(3):
            fit[k::3, k] = 1.0
            fit[:, 3 + k] = np.cross(np.eye(3)[k], offsets / radius).ravel()
        weighed = np.zeros_like(fit)
        for k in range(3):
            weighed[k::3] = self.weights @ fit[k::3]
        mean = np.linalg.pinv(fit.T @ weighed, rcond=1e-9, hermitian=True) @ weighed.T
        mean[3:] /= radius
        spread = np.zeros((6, 3 * len(places)))
        spread[:, np.repeat(3 * self.nodes, 3) + np.tile(np.arange(3), len(offsets))] = mean
        return spread


@dataclasses.dataclass(frozen=True, eq=False)
class Probe:
    """Displacements near a place, by those of all k nodes: the mean over the elements that have the place in common."""

    #: How much each node's displacement counts [k], and its derivatives along x, y and z [3, k].
    values: np.ndarray
    gradients: np.ndarray

    def displacement(self, nodes: np.ndarray) -> np.ndarray:
        """That of the place [3, n], for those of the nodes [k, 3, n]."""
        return np.einsum("k,kan->an", self.values, nodes)

    def rotation(self, nodes: np.ndarray) -> np.ndarray:
        """Small rotation of the place [3, n]."""
        g = np.einsum("bk,kan->ban", self.gradients, nodes)
        return np.array([g[1, 2] - g[2, 1], g[2, 0] - g[0, 2], g[0, 1] - g[1, 0]]) / 2

    def stress(self, nodes: np.ndarray, material: Material) -> np.ndarray:
        """Stress xx, yy, zz, xy, yz, zx of the place [6, n]."""
        mu, lame = material.lame
        g = np.einsum("bk,kan->ban", self.gradients, nodes)
        both = mu * (g + g.swapaxes(0, 1)) + lame * np.einsum("aan->n", g) * np.eye(3)[:, :, None]
        return np.array([both[a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))])


@dataclasses.dataclass(frozen=True, eq=False)
class FiniteElements:
    """A free body of finite elements with three displacements for each of k nodes."""

    #: Sparse mass and stiffness [3 k, 3 k], by nodes, then by directions.
    mass: Any
    stiffness: Any
    #: Places of the nodes [k, 3].
    places: np.ndarray
    #: Index of each node that has a number.
    order: Mapping[int, int]
    #: Surfaces that have names.
    groups: Mapping[str, Patch] = dataclasses.field(default_factory=dict)
    #: Triangles of the whole surface [m, 3], as indices; none where no elements are known.
    surface: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 3), dtype=int))
    #: Of a mesh, what tells displacements and stress at a place in its coordinates [3], and its material.
    probe: Callable[[np.ndarray], Probe] | None = None
    material: Material | None = None

    @property
    def is_mesh(self) -> bool:
        """True where it comes from a mesh, False where from matrices."""
        return self.material is not None

    def patch(self, words: tuple[str, ...]) -> Patch:
        """The nodes that numbers, or the name of a group, stand for.

        Raises:
            ValueError: there are none.
        """
        name = " ".join(words)
        if name in self.groups:
            return self.groups[name]
        if self.groups or not self.order:
            known = ", ".join(self.groups)
            raise ValueError(
                f"the mesh has no surface named {name!r}; "
                + (f"it has {known}" if known else "give surfaces names, as physical groups, and mesh again")
            )
        try:
            numbers = [int(word) for word in words]
        except ValueError:
            raise ValueError(f"{name!r} is no number of a node; give numbers, as in '12 13 14'") from None
        for number, count in Counter(numbers).items():
            if number not in self.order:
                raise ValueError(f"there is no node {number}; the {len(self.order)} nodes are up to {max(self.order)}")
            if count > 1:
                raise ValueError(f"node {number} is named twice in {name!r}; name it once")
        return Patch(np.array([self.order[number] for number in numbers], dtype=int), scipy.sparse.eye(len(numbers)))


def of_mesh(file: str, material: Material, scale: float) -> FiniteElements:
    """A body of one material from a mesh of tetrahedra, whose displacements are quadratic in each.

    Args:
        file: a mesh, of gmsh (.msh) or Abaqus (.inp); straight tetrahedra of four nodes, or curved ones of ten.
        material: of the whole body.
        scale: length of the unit of the mesh [m].

    Raises:
        ValueError: it has no tetrahedra, others too, or some without volume.
    """
    meshio, skfem = extra("meshio", _PURPOSE), extra("skfem", _PURPOSE)
    suffix = pathlib.Path(file).suffix.lower()
    if suffix not in MESHES:
        raise ValueError(
            f"{suffix or 'it'} is no mesh that is taken; mesh the volume, as gmsh does, and give {' or '.join(MESHES)}"
        )
    pathlib.Path(file).open("rb").close()
    with library(file):
        found = getattr(meshio, MESHES[suffix]).read(file)
    cells = found.cells_dict
    kinds = [kind for kind in cells if kind in TETRAHEDRA]
    others = [kind for kind in cells if kind not in (*TETRAHEDRA, *NO_VOLUME)]
    if others or len(kinds) != 1:
        raise ValueError(
            f"it has {', '.join(cells) or 'no cells'}, and a body needs tetrahedra, all of 4 or all of 10 nodes; mesh "
            "the volume, and let it be part of a physical group"
        )
    corners = cells[kinds[0]]
    first = np.unique(corners[:, :4])
    used = np.concatenate([first, np.setdiff1d(corners, first)])  # corners first, as skfem numbers them
    where = np.zeros(len(found.points), dtype=int)
    where[used] = np.arange(len(used))
    mesh_type = {"tetra": skfem.MeshTet1, "tetra10": skfem.MeshTet2}[kinds[0]]
    points, cells = found.points[used] * scale, where[corners]
    with library(file):
        mesh = mesh_type(np.ascontiguousarray(points.T), np.ascontiguousarray(cells.T), validate=False)
    if not (np.abs(points) < FAR).all():  # nor NaN
        raise ValueError("it has points that are nowhere; it is damaged, so write or copy it again")
    size = np.ptp(points, axis=0).max()
    edges = points[cells[:, 1:4]] - points[cells[:, :1]]
    bad = np.flatnonzero(np.abs(np.linalg.det(edges)) < 1e-9 * size**3 / len(cells) ** 3)
    if not len(bad):
        with library(file):
            volumes = mesh.mapping().detDF(skfem.quadrature.get_quadrature(mesh.refdom, ORDER)[0])
        bad = np.flatnonzero(volumes.min(axis=1) * volumes.max(axis=1) <= 0)
    if len(bad):
        middle = points[cells[bad[0], :4]].mean(axis=0)
        raise ValueError(
            f"{len(bad)} of {len(corners)} tetrahedra have no volume, or are turned inside out, one of them at "
            f"{', '.join(f'{x:.6g}' for x in middle)} m; mesh again with smaller tetrahedra or, in gmsh, "
            "Mesh.HighOrderOptimize = 2, or make curved ones straight"
        )
    _check_joined(points, cells)
    with library(file):
        basis = skfem.CellBasis(mesh, skfem.ElementTetP2(), intorder=ORDER)
        mass, stiffness = _matrices(skfem, basis, material)
        groups = {name: _patch(skfem, basis, facets) for name, facets in _groups(found, used, mesh).items()}
    places = basis.doflocs.T
    boundary = mesh.facets.T[mesh.boundary_facets()]
    vertices = basis.nodal_dofs[0]
    probe = functools.partial(_probe, basis, scale)
    return FiniteElements(mass, stiffness, places, {}, groups, vertices[_outwards(mesh, boundary)], probe, material)


def _check_joined(points: np.ndarray, cells: np.ndarray) -> None:
    """Look whether tetrahedra lie side by side, and share the middles of their edges.

    Raises:
        ValueError: they do not.
    """

    def wrong(told: str, cell: int) -> ValueError:
        middle = ", ".join(f"{x:.6g}" for x in points[cells[cell, :4]].mean(axis=0))
        return ValueError(f"{told} around {middle} m; it is damaged or not meshed as one, so mesh or copy it again")

    corners = cells[:, list(FACES[4])]
    faces, which, counts = np.unique(
        np.sort(corners.reshape(-1, 3), axis=1), axis=0, return_inverse=True, return_counts=True
    )
    which = which.ravel()
    if counts.max() > 2:
        raise wrong("three tetrahedra share a face", int(np.flatnonzero(counts[which] > 2)[0]) // 4)
    a, b, c = points[faces[which]].swapaxes(0, 1)
    apex = points[cells[:, list(OPPOSITE)].ravel()]
    sides = np.sign(np.einsum("ka,ka->k", np.cross(b - a, c - a), apex - a))
    overlap = (counts[which] == 2) & (np.bincount(which, sides)[which] != 0)
    if overlap.any():
        raise wrong("tetrahedra overlap", int(np.flatnonzero(overlap)[0]) // 4)
    if cells.shape[1] == 10:
        edges = np.sort(cells[:, list(EDGES)].reshape(-1, 2), axis=1)
        _, first, which = np.unique(edges, axis=0, return_index=True, return_inverse=True)
        middles, ends = points[cells[:, 4:].ravel()], points[edges]
        away = np.linalg.norm(middles - ends.mean(axis=1), axis=1) / np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        if away.max() > HALF_CIRCLE:
            raise wrong("an edge is bent by more than half of its length", int(away.argmax()) // 6)
        apart = np.abs(middles - middles[first][which.ravel()]).max(axis=1)
        if apart.max() > SHARED * np.ptp(points, axis=0).max():
            raise wrong("tetrahedra share an edge that has two middles", int(apart.argmax()) // 6)


def _probe(basis: Any, scale: float, place: np.ndarray) -> Probe:
    """What tells of displacements at a place in the unit of the mesh.

    Raises:
        ValueError: it is outside.
    """
    mesh, mapping, x = basis.mesh, basis.mapping, np.asarray(place) * scale
    corners = mesh.p.T[mesh.t[:4].T]
    edges = (corners[:, 1:] - corners[:, :1]).swapaxes(1, 2)
    parts = np.linalg.solve(edges, (x - corners[:, 0])[:, :, None])[:, :, 0]
    inside = np.minimum(parts.min(axis=1), 1 - parts.sum(axis=1))
    best = inside.max()
    if best < -OUTSIDE:
        nearest = mesh.p[:, np.argmin(np.linalg.norm(mesh.p.T - x, axis=1))] / scale
        raise ValueError(
            f"{' '.join(f'{v:g}' for v in place)} is outside the mesh; the nearest corner of a tetrahedron is at "
            f"{' '.join(f'{v:.6g}' for v in nearest)}, in the unit of the mesh"
        )
    shared = np.flatnonzero(inside > best - SHARED)
    values, gradients = np.zeros(basis.N), np.zeros((3, basis.N))
    for cell in shared:
        try:
            at = mapping.invF(x[:, None, None], tind=np.array([cell]))
        except Exception as error:  # skfem has no other kind
            told = " ".join(f"{v:g}" for v in place)
            raise ValueError(
                f"{told} is in a tetrahedron that is much curved, where it is not found; refine the mesh"
            ) from error
        inverse = mapping.invDF(at, tind=np.array([cell]))[:, :, 0, 0]
        for k, node in enumerate(basis.element_dofs[:, cell]):
            value, slope = basis.elem.lbasis(at[:, 0, :], k)
            values[node] += float(np.ravel(value)[0]) / len(shared)
            gradients[:, node] += inverse.T @ np.reshape(slope, 3) / len(shared)
    return Probe(values, gradients)


def _matrices(skfem: Any, basis: Any, material: Material) -> tuple[Any, Any]:
    """Mass and stiffness, from integrals of scalar shape functions."""
    from skfem.helpers import grad

    mass = material.density * skfem.BilinearForm(lambda u, v, w: u * v).assemble(basis)
    products = {
        (a, b): skfem.BilinearForm(lambda u, v, w, a=a, b=b: grad(v)[a] * grad(u)[b]).assemble(basis)
        for a in range(3)
        for b in range(a, 3)
    }

    def product(a: int, b: int) -> Any:
        """Integral of the derivatives of the row's function along a and of the column's along b."""
        return products[a, b] if a <= b else products[b, a].T

    mu, lame = material.lame
    both = sum(product(a, a) for a in range(3))
    blocks = [
        [lame * product(a, b) + mu * product(b, a) + (mu * both if a == b else 0 * both) for b in range(3)]
        for a in range(3)
    ]
    size = mass.shape[0]
    by_node = np.arange(3 * size).reshape(3, size).T.ravel()
    stiffness = scipy.sparse.bmat(blocks).tocsr()[by_node][:, by_node]
    stiffness = (stiffness + stiffness.T) / 2
    return scipy.sparse.kron(mass, scipy.sparse.eye(3), format="csc"), stiffness.tocsc()


def _groups(found: Any, used: np.ndarray, mesh: Any) -> dict[str, np.ndarray]:
    """Facets of each named surface: of gmsh's physical groups, or all whose corners are in a set of points."""
    number = {int(point): k for k, point in enumerate(used)}
    facet = {tuple(corners): k for k, corners in enumerate(np.sort(mesh.facets, axis=0).T.tolist())}
    names = {(int(tag), int(dimension)): name for name, (tag, dimension) in found.field_data.items()}
    groups: dict[str, list[int]] = {}
    for kind in ("triangle", "triangle6"):
        tags = found.cell_data_dict.get("gmsh:physical", {}).get(kind, ())
        for tag, corners in zip(tags, found.cells_dict.get(kind, ()), strict=False):
            key = tuple(sorted(number.get(int(point), -1) for point in corners[:3]))
            if key in facet:
                groups.setdefault(names.get((int(tag), 2), str(int(tag))), []).append(facet[key])
    outside = mesh.boundary_facets()
    for name, points in found.point_sets.items():
        inside = np.zeros(mesh.nvertices, dtype=bool)
        inside[[number[int(k)] for k in points if number.get(int(k), mesh.nvertices) < mesh.nvertices]] = True
        chosen = outside[inside[mesh.facets[:, outside]].all(axis=0)]
        if len(chosen):
            groups.setdefault(name, []).extend(chosen.tolist())
    return {name: np.unique(facets) for name, facets in groups.items()}


def _patch(skfem: Any, basis: Any, facets: np.ndarray) -> Patch:
    """A surface, each part of which counts by its area.

    Its triangles are quadratic, through their corners and the middles of their edges: skfem looks for places on them by
    Newton's method in the tetrahedra, which fails where these are much curved, as around a hole.
    """
    mesh = basis.mesh
    corners, around = mesh.facets[:, facets], ((0, 1), (1, 2), (2, 0))
    edge = {tuple(ends): k for k, ends in enumerate(np.sort(mesh.edges, axis=0).T.tolist())}
    middles = np.array(
        [[edge[tuple(sorted((one[i], one[j])))] for i, j in around] for one in corners.T.tolist()], dtype=int
    ).reshape(-1, 3)
    nodes = np.hstack([basis.nodal_dofs[0][corners].T, basis.edge_dofs[0][middles]])
    (x, y), counts = skfem.quadrature.get_quadrature(basis.elem.refdom.brefdom, ORDER + 2)
    L, slopes = np.array((1 - x - y, x, y)), np.array(((-1.0, -1), (1, 0), (0, 1)))
    values = np.array([*(L * (2 * L - 1)), *(4 * L[i] * L[j] for i, j in around)])
    rates = np.array(
        [
            *((4 * L[k] - 1) * slopes[k][:, None] for k in range(3)),
            *(4 * (slopes[i][:, None] * L[j] + slopes[j][:, None] * L[i]) for i, j in around),
        ]
    )
    tangents = np.einsum("mna,ndq->mqda", basis.doflocs.T[nodes], rates)
    areas = np.linalg.norm(np.cross(tangents[:, :, 0], tangents[:, :, 1]), axis=2) * counts
    products = np.einsum("mq,iq,jq->mij", areas, values, values)
    used, index = np.unique(nodes, return_inverse=True)
    index = index.reshape(nodes.shape)
    rows, columns = np.broadcast_arrays(index[:, :, None], index[:, None, :])
    weights = scipy.sparse.coo_matrix((products.ravel(), (rows.ravel(), columns.ravel())), (len(used),) * 2)
    return Patch(used, weights.tocsr())


def _outwards(mesh: Any, boundary: np.ndarray) -> np.ndarray:
    """Triangles of the boundary with their corners counterclockwise from outside."""
    cells = mesh.t[:4, mesh.f2t[0, mesh.boundary_facets()]]
    place = mesh.p.T
    middle = place[cells].mean(axis=0)
    a, b, c = (place[boundary[:, k]] for k in range(3))
    inside_out = np.einsum("ki,ki->k", np.cross(b - a, c - a), a - middle) < 0
    return np.where(inside_out[:, None], boundary[:, [0, 2, 1]], boundary)


@functools.lru_cache(maxsize=4)
def read_mesh(file: str, changed: float, material: Material, scale: float) -> FiniteElements:
    """What a mesh has; `changed` is the time of its last change."""
    return of_mesh(file, material, scale)


def solver(K: Any) -> Callable[[np.ndarray], np.ndarray]:
    """A solver of equations with a symmetric positive sparse matrix.

    Raises:
        ValueError: it is not positive, as its pivots tell (Sylvester's law of inertia).
    """
    try:
        factors = scipy.sparse.linalg.splu(
            K.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:  # a pivot is 0
        raise ValueError("is not positive, it is singular") from None
    pivots = factors.U.diagonal()
    if not pivots.min(initial=1.0) > 0:
        raise ValueError(
            f"is not positive, {(pivots <= 0).sum()} of its {len(pivots)} pivots are not, as {pivots.min():g}"
        )
    return factors.solve


__all__ = ["FiniteElements", "Material", "Patch", "Probe", "library", "of_mesh", "read_mesh", "solver"]
