"""ModalBody: a body of finite elements, by a mesh, matrices or a SID file, with few shapes in a floating frame."""

from __future__ import annotations

import functools
import os
import pathlib
import warnings
from typing import Any

import casadi as ca
import numpy as np
import scipy

from mbfmu.components.animation import BODY_COLOR, Animated, draw_sphere
from mbfmu.components.flexible import matrix_files, sid
from mbfmu.components.flexible.finite_elements import FiniteElements, Material, read_mesh, solver
from mbfmu.components.flexible.floating_frame import Flexibility, PartialFlexibleBody, slightly_turned
from mbfmu.components.flexible.reduction import Asked, Reduced, interfaces, of_sid, reduced
from mbfmu.errors import MbfmuError, ModelError
from mbfmu.modeling import Final, Frames, Parameter, Variable
from mbfmu.modeling import types as t

#: Below this von Mises' equivalent is rounded off, whose root has no derivative at 0 [Pa].
SMALL_STRESS = 1e-6
#: Frequencies of the free body that are shown: six of rigid motions, and six more.
FREE = 12
#: Ways to give a body, by the parameters that name its files, and parameters that belong to some of these ways only.
WAYS = (("fileName",), ("meshFile",), ("massFile", "stiffnessFile", "nodeFile"))
OF_MESHES, OF_ELEMENTS = ("meshUnit", "E", "nu", "density"), ("held", "nModes", "f_max")

_Text = t.Type("FileName", "String")
Stress = t.Type("Stress", unit="Pa")


def von_mises(sigma: Any) -> Any:
    """Von Mises' equivalent of stress xx, yy, zz, xy, yz, zx; its derivative is 0 without stress."""
    x, y, z, xy, yz, zx = ca.vertsplit(sigma)
    square = ((x - y) ** 2 + (y - z) ** 2 + (z - x) ** 2) / 2 + 3 * (xy**2 + yz**2 + zx**2)
    return ca.sqrt(square + SMALL_STRESS**2) - SMALL_STRESS


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
    except OSError as error:
        folder = "" if pathlib.Path(file).is_absolute() else f" from {pathlib.Path.cwd()}"
        raise ModelError(
            f"{where} = {file!r}: cannot be read{folder}: {error.strerror}; check the path and its permissions"
        ) from error
    except ValueError as error:
        raise ModelError(f"{where} = {file!r}: cannot be read: {error}") from error


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

    def check_values(self) -> None:
        super().check_values()
        used = [names for names in WAYS if any(self.value(name) for name in names)]
        if len(used) != 1:
            return  # which the files are asked about
        others = {"fileName": (*OF_MESHES, *OF_ELEMENTS), "massFile": OF_MESHES}.get(used[0][0], ())
        given = [name for name in others if self.is_given(name)]
        if given:
            owner, file = "meshes and matrices" if given[0] in OF_ELEMENTS else "meshes", used[0][0]
            raise ModelError(
                f"{self.where}.{given[0]}: belongs to {owner}, and {file} = {self.value(file)!r} has its own; leave it "
                "out"
            )

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
        given = [{name: str(getattr(self, name)) for name in way} for way in WAYS]
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
        count = len(found.places)
        seconds = [None] * count if found.seconds is None else list(found.seconds)
        stress = [] if found.stress is None else list(zip(*found.stress, strict=True))
        told = [None] * (count - len(stress)) + stress
        nodes = map(sid.Place, found.places, found.displacements, found.rotations, seconds, told)
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
        shift = ca.SX(ca.DM(integrals.S)) @ found.flexibility.followed(q)
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
