"""FiniteSegmentBeam: a beam or cable of straight segments, for deflections of any size."""

from __future__ import annotations

import casadi as ca
import numpy as np

from mbfmu.components.animation import BODY_COLOR, Animated
from mbfmu.components.flexible.beam import BeamSection, BendingStiffness
from mbfmu.components.parts.bodies import START_PARAMETERS, Body, BodyStart
from mbfmu.frames import Orientation, angular_velocity2, axes_rotations, cross, resolve1, resolve2
from mbfmu.modeling import Component, Coordinate, Frame_a, Frame_b, Frames, Parameter, Variable, required
from mbfmu.modeling import types as t


class BeamSegment(Component):
    """Two halves of a straight segment, thin uniform rods, with all bending, torsion and strain between them.

    Along the beam e and h, the length, the end is at (1 + R)' (h e + s) / 2, where R turns the one half into the other
    and s is the lengthening. Both are resisted by elastic energy: k' C k / 2, where k = 2 n tan(angle / 2) is the
    rotation, resolved in the directions of the beam, and s' D s / 2. A segment that is `curved` reaches farther by a
    part of kb^2 / 24, where kb is bending alone: what an arc has beside two straight halves, less what a smooth line
    has beside arcs.
    """

    modelica_name = "FlexibleBodies.BeamSegment"

    frame_a = Frame_a("Begin of the segment")
    frame_b = Frame_b("End of the segment")
    h = Parameter(t.Length, required, "Length", min=1e-12, structural=True)
    axes = Parameter(
        t.Dimensionless,
        np.eye(3),
        "Directions along the beam, of its width and of its height, in rows, resolved in frame_a",
        shape=(3, 3),
        structural=True,
    )
    C = Parameter(
        BendingStiffness,
        required,
        "Stiffness of torsion, and of bending along width and height",
        shape=3,
        structural=True,
    )
    D = Parameter(t.Force, (0, 0, 0), "Stiffness of lengthening and shear; all 0: neither", shape=3, structural=True)
    rhoA = Parameter(t.Mass, required, "Mass for each length [kg/m]", min=0, structural=True)
    rhoI = Parameter(
        t.Inertia, (0, 0), "Moments of inertia for each length [kg.m], of width and height", shape=2, structural=True
    )
    beta = Parameter(t.Time, 0.0, "Damping for each stiffness", min=0, tunable=True)
    curved = Parameter(t.Boolean, False, "= true, if it reaches as far as a smooth line does, not two straight halves")

    phi = Coordinate(
        t.Angle, "Angles between the halves about length, height and width", shape=3, start=0.0, state_select="prefer"
    )
    phid = Variable(t.AngularVelocity, "Rates of these angles (= der(phi))", shape=3, start=0.0, state_select="prefer")
    phidd = Variable(t.AngularAcceleration, "Accelerations of these angles (= der(phid))", shape=3, start=0.0)
    s = Coordinate(
        t.Length,
        "Lengthening, and shear along width and height",
        shape=3,
        start=0.0,
        state_select="prefer",
        when=lambda self: bool(np.any(self.value("D"))),
    )

    def equations(self) -> None:
        axes, h, angles = ca.sparsify(ca.DM(self.axes)), self.h, self.phi
        self.phid = rates = self.der(angles)
        self.phidd = self.der(rates)
        R = axes_rotations(
            (2, 3, 1), ca.vertcat(angles[1], angles[2], angles[0]), ca.vertcat(rates[1], rates[2], rates[0])
        )
        T = R.T
        vector = ca.vertcat(T[1, 2] - T[2, 1], T[2, 0] - T[0, 2], T[0, 1] - T[1, 0])
        k = 2 * vector / (1 + ca.trace(T))
        strained = bool(np.any(self.D))
        s = self.s if strained else ca.SX.zeros(3)
        reach = ca.vertcat(h, 0, 0) + s
        way = (reach + R.T.T @ reach) / 2
        if self.curved:
            way *= 1 + ca.sumsqr(k[1:]) / 24
        self.relative_motion(axes.T @ way, Orientation(axes.T @ R.T @ axes, axes.T @ R.w), frame="frame_b")
        C = ca.DM([self.C[0], self.C[2], self.C[1]]) / h
        energy = ca.dot(k, C * k) / 2
        if self.curved:  # of the angle itself: (atan(k / 2) / (k / 2))^2 by Pade's approximant
            square = ca.sumsqr(k) / 4
            energy *= (1 + square / 10) / (1 + 23 / 30 * square)
        slope = ca.jacobian(k, angles)
        losses = slope.T @ (self.beta * C * (slope @ rates))
        self.effort(phi=-ca.gradient(energy, angles) - losses)
        dissipated = ca.dot(rates, losses)
        if strained:
            D, speeds = ca.DM(self.D) / h, self.der(s)
            self.effort(s=-D * s - self.beta * D * speeds)
            energy = energy + ca.dot(s, D * s) / 2
            dissipated += self.beta * ca.dot(speeds, D * speeds)
        kinetic, gravity = ca.SX(0), {"potential": ca.SX(0), "supplied": ca.SX(0)}
        m = self.rhoA * h / 2
        rod = m * h**2 / 48  # of a half about its middle
        moments = ca.DM([sum(self.rhoI), self.rhoI[1], self.rhoI[0]]) * h / 2 + ca.DM([0, rod, rod])
        I = axes.T @ ca.diag(moments) @ axes  # noqa: E741
        for frame, side in ((self.frame_a, 1), (self.frame_b, -1)):
            center = side * h / 4 * axes.T[:, 0]
            v, w = self.der(frame.r_0), angular_velocity2(frame.R)
            z, place = self.der(w), frame.r_0 + resolve1(frame.R, center)
            a = resolve2(frame.R, self.der(v) - self.world.gravity_acceleration(place))
            force = m * (a + cross(z, center) + cross(w, cross(w, center)))
            frame.f, frame.t = force, I @ z + cross(w, I @ w) + cross(center, force)
            v += resolve1(frame.R, cross(w, center))
            kinetic += m * ca.sumsqr(v) / 2 + ca.dot(w, I @ w) / 2
            for name, part in self.world.gravity_energy(m, place, v).items():
                gravity[name] += part
        self.energy(
            kinetic=kinetic,
            potential=energy + gravity["potential"],
            dissipated=dissipated,
            supplied=gravity["supplied"],
        )


def ends_weighed(n: int) -> np.ndarray:
    """How much of the length each of n segments stands for [n], so that sums are integrals to fourth order.

    Bending at the middles of segments is summed; what that lacks are derivatives at the ends (Euler and Maclaurin),
    here of parabolas through the three next to them. A sum over fewer has no such correction.
    """
    weights = np.ones(n)
    if n >= 3:
        for at in (slice(3), slice(-1, -4, -1)):
            weights[at] += np.array((2, -3, 1)) / 24
    return weights


class FiniteSegmentBeam(Animated, BeamSection, BodyStart):
    """Straight beam or cable of segments, whose deflections may be of any size; its error falls with their square.

    Bending, torsion and, where wanted, lengthening and shear of each segment are those between its two halves, which
    are rods. Where segments are `curved`, the error of bending in a plane falls with the fourth power of their number.
    """

    modelica_name = "FlexibleBodies.FiniteSegmentBeam"

    frame_a = Frame_a("Frame at the begin of the beam")
    frame_b = Frame_b("Frame at the end of the beam")
    n = Parameter(t.Integer, 10, "Number of segments", min=1, max=2000)
    curved = Parameter(
        t.Boolean, False, "= true, if segments reach as far as a smooth line does: fewer do for the same error"
    )
    extensible = Parameter(t.Boolean, False, "= true, if segments become longer, and give way to shear")
    beta = Parameter(
        t.Time, 0.0, "Damping for each stiffness: stress is E (strain + beta der(strain))", min=0, tunable=True
    )
    frame = Frames(
        "Frame along the beam: of the nearest end of a segment", size=lambda self: np.size(self.value("positions"))
    )
    color = Parameter(t.Color, BODY_COLOR, "Color of the beam", shape=3, animation=True)

    def build(self) -> None:
        h = np.asarray(self.r) / self.n
        stiff = (self.EA, self.kGA, self.kGA) if self.extensible else (0, 0, 0)
        self.segment = [
            BeamSegment(
                h=float(np.linalg.norm(h)),
                axes=self.axes,
                C=[part / weight for part in (self.GJ, self.EI_y, self.EI_z)],
                D=[part / weight for part in stiff],
                rhoA=self.rhoA,
                rhoI=[self.rhoI_y, self.rhoI_z],
                beta=self.beta,
                curved=self.curved,
            )
            for weight in (ends_weighed(self.n) if self.curved else np.ones(self.n))
        ]
        ends = [self.frame_a, *(segment.frame_b for segment in self.segment)]
        for begin, segment in zip(ends, self.segment, strict=False):
            self.connect(begin, segment.frame_a)
        self.connect(ends[-1], self.frame_b)
        for frame, place in zip(self.frame, np.ravel(self.positions), strict=True):
            self.connect(ends[round(float(place) * self.n)], frame)
        passed = {name: getattr(self, name) for name in START_PARAMETERS}
        self.body = Body(m=0, r_CM=[0, 0, 0], I_11=0, I_22=0, I_33=0, animation=False, **passed)
        self.connect(self.frame_a, self.body.frame_a)

    def equations(self) -> None:
        self.absolute_motion()


__all__ = ["BeamSegment", "FiniteSegmentBeam"]
