"""Line forces with masses on the line, for 1-dim. translational components between their flanges; Spring.

(MultiBody.Forces 4.0)
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components import translational
from mbfmu.components.forces.animation import CoilShape, LineShape, TwoCylinders
from mbfmu.components.interfaces import LineForceBase, PartialTwoFrames, TranslationalFlange_a, TranslationalFlange_b
from mbfmu.frames import resolve2
from mbfmu.modeling import Parameter, Variable, required
from mbfmu.modeling import types as t


class _LineForceWithFlanges(LineForceBase):
    """Line force that 1-dim. components between two flanges give."""

    #: Parameters with the masses on the line.
    masses: tuple[str, ...] = ()

    @property
    def is_massless(self) -> bool:
        """True where no mass is on the line; then its equations say nothing of accelerations."""
        values = [self._component.original(name) for name in self.masses]
        if not all(isinstance(value, float) and value == 0.0 for value in values):
            return False
        for name in self.masses:
            self.require(
                -getattr(self, name),
                f"{name} was 0 when this model was built, and the equations of its inertia "
                "were left out; build it again with the mass",
            )
        return True

    flange_a = TranslationalFlange_b(
        "1-dim. translational flange (connect force of Translational library between flange_a and flange_b)"
    )
    flange_b = TranslationalFlange_a(
        "1-dim. translational flange (connect force of Translational library between flange_a and flange_b)"
    )

    def flange_forces(self) -> tuple[Any, Any]:
        """Forces from flange_a and flange_b [N]; prescribes the flanges' positions.

        A component with one flange acts with opposite sign on its bearing, so an open flange takes up the opposite of
        the other one's force.
        """
        self.distance()
        self.flange_a.s, self.flange_b.s = 0.0, self.s
        is_a, is_b = self.is_connected("flange_a"), self.is_connected("flange_b")
        f_a = self.flange_a.f if is_a else -self.flange_b.f if is_b else 0.0
        f_b = self.flange_b.f if is_b else -self.flange_a.f if is_a else 0.0
        return f_a, f_b

    def inertia(self, m: Any, r: Any) -> tuple[Any, dict[str, Any]]:
        """Acceleration without gravity of a point mass at r, resolved in the world frame, and its energy."""
        v = self.der(r)
        energy = {"kinetic": m * ca.sumsqr(v) / 2, **self.world.gravity_energy(m, r, v)}
        return self.der(v) - self.world.gravity_acceleration(r), energy


class LineForceWithMass(LineShape, _LineForceWithFlanges):
    """General line force component with an optional point mass on the connection line."""

    modelica_name = "MultiBody.Forces.LineForceWithMass"

    m = Parameter(
        t.Mass,
        0.0,
        "Mass of point mass on the connection line between the origin of frame_a and the origin of frame_b",
        min=0,
    )
    lengthFraction = Parameter(
        t.Dimensionless,
        0.5,
        "Location of point mass with respect to frame_a as a fraction of the distance from frame_a to frame_b",
        min=0,
        max=1,
    )

    masses = ("m",)

    def equations(self) -> None:
        f_a, f_b = self.flange_forces()
        if self.is_massless:
            self.act(-self.e_rel_0 * f_a, -self.e_rel_0 * f_b)
            return
        # Virtual power of the point mass, whose velocity is (1 - lengthFraction) v_a + lengthFraction v_b
        acceleration, energy = self.inertia(self.m, self.frame_a.r_0 + self.r_rel_0 * self.lengthFraction)
        self.act(
            self.m * (1 - self.lengthFraction) * acceleration - self.e_rel_0 * f_a,
            self.m * self.lengthFraction * acceleration - self.e_rel_0 * f_b,
        )
        self.energy(**energy)


class LineForceWithTwoMasses(TwoCylinders, _LineForceWithFlanges):
    """General line force component with two optional point masses on the connection line."""

    modelica_name = "MultiBody.Forces.LineForceWithTwoMasses"

    m_a = Parameter(
        t.Mass,
        0.0,
        "Mass of point mass a on the connection line between the origin of frame_a and the origin of frame_b",
        min=0,
    )
    m_b = Parameter(
        t.Mass,
        0.0,
        "Mass of point mass b on the connection line between the origin of frame_a and the origin of frame_b",
        min=0,
    )
    L_a = Parameter(t.Position, 0.0, "Distance between point mass a and frame_a (positive, if in direction of frame_b)")
    L_b = Parameter(
        t.Position,
        lambda self: self.L_a,
        "Distance between point mass b and frame_b (positive, if in direction of frame_a)",
    )

    masses = ("m_a", "m_b")

    def equations(self) -> None:
        f_a, f_b = self.flange_forces()
        e = self.e_rel_0
        if self.is_massless:
            self.act(-e * f_a, -e * f_b)
            return
        acceleration_a, energy_a = self.inertia(self.m_a, self.frame_a.r_0 + e * self.L_a)
        acceleration_b, energy_b = self.inertia(self.m_b, self.frame_b.r_0 - e * self.L_b)
        # Virtual power of the masses: the line turns with der(e) = (I - e e') (v_b - v_a) / s
        turning = (acceleration_a * (self.m_a * self.L_a) - acceleration_b * (self.m_b * self.L_b)) / self.s
        across = turning - ca.dot(turning, e) * e
        self.act(self.m_a * acceleration_a - across - e * f_a, self.m_b * acceleration_b + across - e * f_b)
        self.energy(**{kind: energy_a[kind] + energy_b[kind] for kind in energy_a})


class Spring(CoilShape, PartialTwoFrames):
    """Linear translational spring with optional mass."""

    modelica_name = "MultiBody.Forces.Spring"

    showMass = Parameter(
        t.Boolean, True, "= true, if point mass shall be visualized as sphere if animation=true and m>0", animation=True
    )
    massDiameter = Parameter(
        t.Diameter,
        lambda self: ca.fmax(0, 0.9 * (self.width - 2 * self.coilWidth)),
        "Diameter of mass point sphere",
        animation=True,
    )
    massColor = Parameter(t.Color, (0, 128, 255), "Color of mass point", shape=3, animation=True)
    c = Parameter(t.TranslationalSpringConstant, required, "Spring constant", min=0, tunable=True)
    s_unstretched = Parameter(t.Length, 0.0, "Unstretched spring length", tunable=True)
    m = Parameter(
        t.Mass,
        0.0,
        "Spring mass located on the connection line between the origin of frame_a and the origin of frame_b",
        min=0,
    )
    lengthFraction = Parameter(
        t.Dimensionless,
        0.5,
        "Location of spring mass with respect to frame_a as a fraction of the "
        "distance from frame_a to frame_b (=0: at frame_a; =1: at frame_b)",
        min=0,
        max=1,
    )
    s_small = Parameter(t.Distance, 1e-10, "Prevent zero-division if distance between frame_a and frame_b is zero")
    fixedRotationAtFrame_a = Parameter(
        t.Boolean, False, "= true, if rotation frame_a.R is fixed (to directly connect line forces)"
    )
    fixedRotationAtFrame_b = Parameter(
        t.Boolean, False, "= true, if rotation frame_b.R is fixed (to directly connect line forces)"
    )

    r_rel_a = Variable(
        t.Position, "Position vector from origin of frame_a to origin of frame_b, resolved in frame_a", shape=3
    )
    e_a = Variable(
        t.Dimensionless,
        "Unit vector on the line connecting the origin of frame_a with the origin of frame_b "
        "resolved in frame_a (directed from frame_a to frame_b)",
        shape=3,
    )
    f = Variable(
        t.Force,
        "Line force acting on frame_a and on frame_b (positive, if acting on frame_b and directed from "
        "frame_a to frame_b)",
    )
    length = Variable(t.Distance, "Distance between the origin of frame_a and the origin of frame_b")
    s = Variable(t.Position, "(Guarded) distance between the origin of frame_a and the origin of frame_b (>= s_small)")
    r_rel_0 = Variable(t.Position, "Position vector from frame_a to frame_b resolved in world frame", shape=3)
    e_rel_0 = Variable(
        t.Dimensionless, "Unit vector in direction from frame_a to frame_b, resolved in world frame", shape=3
    )

    def build(self) -> None:
        self.lineForce = LineForceWithMass(
            m=self.m,
            lengthFraction=self.lengthFraction,
            s_small=self.s_small,
            fixedRotationAtFrame_a=self.fixedRotationAtFrame_a,
            fixedRotationAtFrame_b=self.fixedRotationAtFrame_b,
            animateLine=self.animation,
            animateMass=self.animation and self.showMass,
            specularCoefficient=self.specularCoefficient,
            lineShapeType="spring",
            lineShapeWidth=self.width,
            lineShapeHeight=2 * self.coilWidth,
            lineShapeExtra=self.numberOfWindings,
            lineShapeColor=self.color,
            massDiameter=self.massDiameter,
            massColor=self.massColor,
        )
        self.spring = translational.Spring(c=self.c, s_rel0=self.s_unstretched)
        self.connect(self.lineForce.frame_a, self.frame_a)
        self.connect(self.lineForce.frame_b, self.frame_b)
        self.connect(self.spring.flange_a, self.lineForce.flange_a)
        self.connect(self.spring.flange_b, self.lineForce.flange_b)

    def equations(self) -> None:
        line = self.lineForce
        self.f = self.spring.f
        self.length, self.s, self.r_rel_0, self.e_rel_0 = line.length, line.s, line.r_rel_0, line.e_rel_0
        self.r_rel_a = resolve2(self.frame_a.R, self.r_rel_0)
        self.e_a = self.r_rel_a / self.s


__all__ = ["LineForceWithMass", "LineForceWithTwoMasses", "Spring"]
