"""Beam: a straight uniform beam that bends (floating frame of reference)."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.animation import BODY_COLOR, Animated
from mbfmu.components.flexible.beam_shapes import ENDS, BeamShapes, Counts, Stiffness, beam_shapes
from mbfmu.components.flexible.floating_frame import (
    Flexibility,
    Integrals,
    PartialFlexibleBody,
    quadratic,
    slightly_turned,
)
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation, from_nxy
from mbfmu.modeling import Component, Frame_b, Frames, Parameter, Variable, required
from mbfmu.modeling import types as t

Area = t.Type("Area", unit="m2")
SecondMoment = t.Type("SecondMomentOfArea", unit="m4")
AxialStiffness = t.Type("AxialStiffness", unit="N")
BendingStiffness = t.Type("BendingStiffness", unit="N.m2")
MassPerLength = t.Type("LinearMassDensity", unit="kg/m")
InertiaPerLength = t.Type("InertiaPerLength", unit="kg.m")
Ends = t.Type("BeamEnds", "String", values=tuple(ENDS))
Section = t.Type("BeamSection", "String", values=("rectangle", "pipe"))

#: Stations along a beam where it is drawn.
STATIONS = 17


def rectangle_torsion(width: float, height: float) -> float:
    """Torsion constant of a rectangle [m4]: Saint-Venant's series."""
    a, b = max(width, height), min(width, height)
    series = sum(math.tanh(n * math.pi * a / (2 * b)) / n**5 for n in range(1, 40, 2))
    return a * b**3 * (1 / 3 - 64 * b / (math.pi**5 * a) * series)


def _given(binding: Any) -> Any:
    """A default that follows from others."""
    return lambda self: float(binding(self))


def _is_pipe(self: Component) -> bool:
    return bool(self.value("section") == "pipe")


class BeamSection(Component):
    """A straight beam: its frames, and section and material by dimensions or by the stiffness of the sections."""

    r = Parameter(
        t.Position,
        required,
        "Vector from frame_a to frame_b without deformation, resolved in frame_a",
        shape=3,
        structural=True,
    )
    widthDirection = Parameter(
        t.Axis, (0, 1, 0), "Vector in width direction of the section, resolved in frame_a", shape=3
    )
    positions = Parameter(
        t.Dimensionless,
        (),
        "Places of frame[1], frame[2] ... as fractions of the length",
        shape=None,
        min=0,
        max=1,
        structural=True,
    )
    section = Parameter(Section, "rectangle", "Form of the section")
    width = Parameter(t.Distance, 0.01, "Width of a rectangle, along widthDirection", min=1e-9, structural=True)
    height = Parameter(t.Distance, lambda self: self.width, "Height of a rectangle", min=1e-9, structural=True)
    diameter = Parameter(t.Distance, 0.01, "Outer diameter of a pipe", min=1e-9, structural=True)
    innerDiameter = Parameter(t.Distance, 0.0, "Inner diameter of a pipe", min=0, structural=True)
    E = Parameter(t.Type("Modulus", unit="Pa"), 2.1e11, "Young's modulus", min=1e-9, structural=True)
    nu = Parameter(t.Dimensionless, 0.3, "Poisson's ratio", min=-1, max=0.5, structural=True)
    density = Parameter(t.Density, 7850.0, "Density", min=1e-9, structural=True)

    A = Parameter(
        Area,
        _given(
            lambda self: (
                math.pi / 4 * (self.diameter**2 - self.innerDiameter**2) if _is_pipe(self) else self.width * self.height
            )
        ),
        "Area of the section",
        min=0,
        structural=True,
    )
    I_y = Parameter(
        SecondMoment,
        _given(
            lambda self: (
                math.pi / 64 * (self.diameter**4 - self.innerDiameter**4)
                if _is_pipe(self)
                else self.height * self.width**3 / 12
            )
        ),
        "Second moment of area that bending along widthDirection meets",
        min=0,
        structural=True,
    )
    I_z = Parameter(
        SecondMoment,
        _given(lambda self: self.I_y if _is_pipe(self) else self.width * self.height**3 / 12),
        "Second moment of area that bending across widthDirection meets",
        min=0,
        structural=True,
    )
    J = Parameter(
        SecondMoment,
        _given(lambda self: 2 * self.I_y if _is_pipe(self) else rectangle_torsion(self.width, self.height)),
        "Torsion constant",
        min=0,
        structural=True,
    )
    shearFactor = Parameter(
        t.Dimensionless,
        _given(lambda self: _pipe_shear(self) if _is_pipe(self) else 10 * (1 + self.nu) / (12 + 11 * self.nu)),
        "Part of the section that shear meets (Cowper)",
        min=1e-9,
        structural=True,
    )
    EA = Parameter(AxialStiffness, _given(lambda self: self.E * self.A), "Axial stiffness", min=1e-12, structural=True)
    EI_y = Parameter(
        BendingStiffness,
        _given(lambda self: self.E * self.I_y),
        "Stiffness of bending along widthDirection",
        min=1e-12,
        structural=True,
    )
    EI_z = Parameter(
        BendingStiffness,
        _given(lambda self: self.E * self.I_z),
        "Stiffness of bending across widthDirection",
        min=1e-12,
        structural=True,
    )
    GJ = Parameter(
        BendingStiffness,
        _given(lambda self: self.E / (2 * (1 + self.nu)) * self.J),
        "Stiffness of torsion",
        min=1e-12,
        structural=True,
    )
    kGA = Parameter(
        AxialStiffness,
        _given(lambda self: self.shearFactor * self.E / (2 * (1 + self.nu)) * self.A),
        "Stiffness of shear",
        min=1e-12,
        structural=True,
    )
    rhoA = Parameter(
        MassPerLength, _given(lambda self: self.density * self.A), "Mass for each length", min=1e-12, structural=True
    )
    rhoI_y = Parameter(
        InertiaPerLength,
        _given(lambda self: self.rhoA * self.I_y / self.A),
        "Integral of density times the square of the place along widthDirection over the section",
        min=0,
        structural=True,
    )
    rhoI_z = Parameter(
        InertiaPerLength,
        _given(lambda self: self.rhoA * self.I_z / self.A),
        "The same across widthDirection",
        min=0,
        structural=True,
    )

    def check_values(self) -> None:
        super().check_values()
        if not np.linalg.norm(self.value("r")) > 0:
            raise ModelError(f"{self.where}.r: a beam needs a length; give the vector from frame_a to frame_b")
        if np.linalg.norm(np.cross(self.value("r"), self.value("widthDirection"))) < 1e-9 * np.linalg.norm(
            self.value("r")
        ):
            raise ModelError(
                f"{self.where}.widthDirection = {np.asarray(self.value('widthDirection')).tolist()}: is along r; give "
                "a direction across the beam"
            )
        if _is_pipe(self) and self.value("innerDiameter") >= self.value("diameter"):
            raise ModelError(
                f"{self.where}.innerDiameter = {self.value('innerDiameter'):g}: is not less than diameter = "
                f"{self.value('diameter'):g}; make it smaller"
            )

    @property
    def axes(self) -> np.ndarray:
        """Directions of the beam as rows, resolved in frame_a [3, 3]: along it, of its width, of its height."""
        return np.array(ca.DM(from_nxy(np.asarray(self.value_of("r")), np.asarray(self.value_of("widthDirection"))).T))

    def value_of(self, name: str) -> Any:
        """Value of a structural parameter, also inside equations."""
        return getattr(self, name)


def _pipe_shear(self: Any) -> float:
    """Cowper's shear coefficient of a pipe."""
    ratio = (self.innerDiameter / self.diameter) ** 2
    nu = self.nu
    return float(6 * (1 + nu) * (1 + ratio) ** 2 / ((7 + 6 * nu) * (1 + ratio) ** 2 + (20 + 12 * nu) * ratio))


class Beam(Animated, BeamSection, PartialFlexibleBody):
    """Straight uniform beam that bends, becomes longer and twists; deflections are small in its frame of reference.

    Displacements are sums of shapes. Of bending along each direction these are the lowest mode for the conditions
    `ends`, then the deflections by a force and a torque at the ends, so that those are exact, then further modes. The
    frame of reference is frame_a: with `ends` that begin with "clamped" it is fixed to the first section, with
    "hinged-hinged" its x-axis leads from end to end, and `frame[k]` at the position 0 is the first section.
    """

    modelica_name = "FlexibleBodies.Beam"

    frame_b = Frame_b("Frame at the end of the beam")
    frame = Frames("Frame along the beam", size=lambda self: np.size(self.value("positions")))
    ends = Parameter(Ends, "clamped-free", "Conditions of bending that shapes meet at frame_a and frame_b")
    nWidth = Parameter(t.Integer, 3, "Number of shapes of bending along widthDirection", min=0, max=20)
    nHeight = Parameter(t.Integer, 3, "Number of shapes of bending across widthDirection", min=0, max=20)
    nAxial = Parameter(t.Integer, 1, "Number of shapes along the beam", min=0, max=20)
    nTorsion = Parameter(t.Integer, 1, "Number of shapes of torsion", min=0, max=20)
    staticShapes = Parameter(
        t.Boolean, True, "= true, if deflections by loads at the ends are among the shapes of bending"
    )
    shear = Parameter(
        t.Boolean, False, "= true: Timoshenko's beam, with shear and inertia of sections; else Euler's and Bernoulli's"
    )
    geometricStiffening = Parameter(
        t.Boolean, True, "= true, if the beam becomes shorter as it bends, and stiffer under tension and in rotation"
    )
    color = Parameter(t.Color, BODY_COLOR, "Color of the beam", shape=3, animation=True)
    deformationScale = Parameter(t.Real, 1.0, "Displacements are drawn so many times as large", animation=True)

    u_b = Variable(t.Position, "Displacement of frame_b, resolved in frame_a", shape=3)

    def shapes(self) -> BeamShapes:
        """Its shapes."""
        beam = Stiffness(
            float(np.linalg.norm(self.r)), self.EA, self.GJ, (self.EI_y, self.EI_z),
            (self.kGA, self.kGA) if self.shear else None, self.rhoA, (self.rhoI_y, self.rhoI_z),
        )  # fmt: skip
        counts = Counts(self.nWidth, self.nHeight, self.nAxial, self.nTorsion)
        return beam_shapes(beam, counts, self.ends, self.staticShapes, self.geometricStiffening)

    def flexibility(self) -> Flexibility:
        return turned(self.shapes().flexibility, self.axes)

    def _displacement(self, s: float) -> tuple[Any, Any]:
        """Displacement and small rotation of the section at s, in the directions of the beam."""
        shapes, q = self.shapes(), self.coordinates
        u = ca.sparsify(ca.DM(shapes.displacements(s))) @ q
        if self.geometricStiffening and shapes.count:
            u = u - ca.vertcat(quadratic(shapes.bow(s), q), 0, 0)
        return u, ca.sparsify(ca.DM(shapes.rotations(s))) @ q

    def equations(self) -> None:
        self.bend()
        axes = ca.sparsify(ca.DM(np.where(np.abs(self.axes) < 1e-15, 0.0, self.axes)))
        named = [("frame_b", 1.0), *((f"frame[{k + 1}]", float(s)) for k, s in enumerate(np.ravel(self.positions)))]
        for name, s in named:
            u, turn = (ca.densify(ca.SX(part)) for part in self._displacement(s))
            place = ca.DM(np.asarray(self.r) * s) + axes.T @ u
            R = slightly_turned(turn, self.der(turn))
            self.relative_motion(place, Orientation(axes.T @ R.T @ axes, axes.T @ R.w), frame=name)
            if name == "frame_b":
                self.u_b = axes.T @ u

    def visualize(self: Any) -> None:
        axes, r = ca.DM(self.axes), np.asarray(self.r)
        half = np.array([self.width, self.height]) / 2
        if self.section == "pipe":
            angles = np.linspace(0, 2 * np.pi, 13)
            outline = self.diameter / 2 * np.array([np.cos(angles), np.sin(angles)]).T
        else:
            outline = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1), (1, 1)]) * half
        columns = []
        for s in np.linspace(0.0, 1.0, STATIONS):
            u, turn = self._displacement(float(s))
            u, turn = self.deformationScale * u, self.deformationScale * turn
            for y, z in outline:
                offset = ca.vertcat(0, y, z)
                local = u + offset + ca.cross(turn, offset) if self.coordinates.numel() else offset
                columns.append(ca.DM(r * float(s)) + axes.T @ local)
        grid = [ca.reshape(ca.vertcat(*(column[k] for column in columns)), len(outline), STATIONS) for k in range(3)]
        self.draw_surface("beam", tuple(grid), self.frame_a, color=self.color)


def turned(body: Flexibility, axes: np.ndarray) -> Flexibility:
    """The same, resolved in a frame in which the directions of the body are the rows `axes`."""
    i, T = body.integrals, axes.T
    if np.allclose(T, np.eye(3), atol=1e-15):
        return body
    integrals = Integrals(
        i.m,
        T @ i.first,
        T @ i.second @ T.T,
        T @ i.S,
        np.einsum("ac,bd,cdn->abn", T, T, i.P, optimize=True),
        np.einsum("ac,bd,cdij->abij", T, T, i.N, optimize=True),
    )
    return Flexibility(integrals, body.K, body.bows)


__all__ = ["Beam"]
