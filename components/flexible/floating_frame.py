"""Floating frame of reference: a body whose points move in its frame_a as r(q) = r0 + sum of shapes times coordinates.

Its inertia is told by integrals over the mass (Shabana's inertia shape integrals), from which forces follow with all
couplings of first and second order: exact for a field of displacements that is linear in the coordinates. Quadratic
parts, as the foreshortening of beams, are further shapes whose coordinates are functions of the others.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.parts.bodies import MovingBody
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation, cross, resolve1, resolve2, skew
from mbfmu.modeling import Coordinate, Frame_a, Parameter, Variable
from mbfmu.modeling import types as t

#: What is smaller than this, relative to the largest entry, is an integral that is zero.
NEGLIGIBLE = 1e-13
#: The two axes across each axis, in cyclic order.
_ACROSS = ((1, 2), (2, 0), (0, 1))


@dataclasses.dataclass(frozen=True, eq=False)
class Integrals:
    """Integrals over the mass of a body; n is the number of shapes, r0 a place without deformation, in frame_a."""

    #: Mass [kg].
    m: float
    #: Integral of r0 [3].
    first: np.ndarray
    #: Integral of r0 r0' [3, 3].
    second: np.ndarray
    #: Integral of each shape [3, n].
    S: np.ndarray
    #: Integral of (component a of each shape) times (component b of r0) [3, 3, n].
    P: np.ndarray
    #: Integral of (component a of shape i) times (component b of shape j) [3, 3, n, n].
    N: np.ndarray

    @classmethod
    def of_points(cls, masses: np.ndarray, places: np.ndarray, shapes: np.ndarray) -> Integrals:
        """Those of points: masses [k], places [k, 3], displacements by each shape [k, 3, n]."""
        return cls(
            float(masses.sum()),
            masses @ places,
            np.einsum("k,ka,kb->ab", masses, places, places),
            np.einsum("k,kan->an", masses, shapes),
            np.einsum("k,kan,kb->abn", masses, shapes, places),
            np.einsum("k,kai,kbj->abij", masses, shapes, shapes, optimize=True),
        )

    @property
    def mass_matrix(self) -> np.ndarray:
        """That of the coordinates of the shapes [n, n]."""
        return np.asarray(np.einsum("aaij->ij", self.N))


def _sparse(values: np.ndarray, size: float | None = None) -> ca.SX:
    """A constant vector or matrix without its entries that are negligible beside `size`, or its own largest."""
    if size is None:
        size = float(np.abs(values).max(initial=0.0))
    kept = np.where(np.abs(values) > NEGLIGIBLE * size, values, 0.0)
    return ca.SX(ca.sparsify(ca.DM(kept)))


def quadratic(matrix: np.ndarray, q: Any) -> Any:
    """q' matrix q / 2 of a symmetric matrix, by its upper half: half the products, of its derivatives, too."""
    half = np.triu(matrix)
    return ca.dot(q, _sparse(half - np.diag(np.diag(half)) / 2) @ q)


def slightly_turned(turn: Any, rates: Any) -> Orientation:
    """Orientation of a frame that a small rotation has turned: about `turn` [3, rad], by 2 atan(|turn| / 2).

    That of sections and interfaces is known to first order. Angles about axes in turn would add a rotation of second
    order that depends on the axes; this one is the same in all frames, and right to second order where a beam bends in
    one plane of any direction. `rates` are those of `turn` [3, rad/s].
    """
    g, dg = turn / 2, rates / 2  # Gibbs's vector
    size = 1 + ca.sumsqr(g)
    T = ((2 - size) * ca.SX.eye(3) + 2 * g @ g.T - 2 * skew(g)) / size
    return Orientation(T, 2 * (dg - cross(g, dg)) / size)


class Inertia:
    """Inertia of a body for given coordinates x of its shapes and their two derivatives (columns).

    Products of large matrices and columns are what it costs, so N is taken apart into the symmetric and antisymmetric
    parts in its directions, of which rates need the latter only.
    """

    def __init__(self, integrals: Integrals, x: Any, dx: Any, ddx: Any) -> None:
        self._m, axes, N = integrals.m, range(3), integrals.N
        self.S, self._dx, self._ddx = _sparse(integrals.S), dx, ddx
        size = float(np.abs(N).max(initial=0.0))
        mass = _sparse(integrals.mass_matrix, size)
        turned = [_sparse(N[c, b] - N[b, c], size) for b, c in _ACROSS]
        both = {(a, b): _sparse(N[a, b] + N[b, a], size) @ x for a in axes for b in axes if a <= b}
        across = [one @ x for one in turned]
        P = [[_sparse(integrals.P[a, b]) for b in axes] for a in axes]
        #: Integral of (component a of each shape) times (component b of the place).
        self.V = [[P[a][b] + both[min(a, b), max(a, b)] / 2 for b in axes] for a in axes]
        for (b, c), one in zip(_ACROSS, across, strict=True):
            self.V[c][b] += one / 2
            self.V[b][c] -= one / 2
        #: Integral of each shape times (unit vector x velocity of the shapes); times that velocity; times acceleration.
        self.turning = [one @ dx for one in turned]
        self.moving, self.shaking = mass @ dx, mass @ ddx
        #: First moment of the mass, and its second.
        self.first = ca.SX(ca.DM(integrals.first)) + self.S @ x
        second = ca.SX(ca.DM(integrals.second))
        self.second = ca.SX(3, 3)
        for a in axes:
            for b in axes:
                moved = P[a][b] + P[b][a] + both[min(a, b), max(a, b)] / 2
                self.second[a, b] = second[a, b] + ca.dot(x, moved)

    def _moment(self, rates: Any) -> Any:
        """Integral of (displacement by the shapes at these rates) times (place)' [3, 3]."""
        return ca.vertcat(*(ca.horzcat(*(ca.dot(rates, v) for v in row)) for row in self.V))

    def forces(self, a: Any, w: Any, z: Any) -> tuple[Any, Any, Any]:
        """Force [3] and torque [3] at frame_a, and forces along the shapes [n], that give the body its acceleration.

        Args:
            a: acceleration of frame_a, less that of gravity.
            w, z: angular velocity and acceleration of frame_a; all resolved in it.
        """
        A, W = skew(z) + skew(w) @ skew(w), skew(w)
        force = self._m * a + A @ self.first + 2 * W @ (self.S @ self._dx) + self.S @ self._ddx
        B = A @ self.second + 2 * W @ self._moment(self._dx) + self._moment(self._ddx)
        torque = cross(self.first, a) + _axial(B)
        along = self.S.T @ a + self.shaking
        for i in range(3):
            along += 2 * w[i] * self.turning[i]
            for j in range(3):
                along += A[i, j] * self.V[i][j]
        return force, torque, along

    def kinetic(self, v: Any, w: Any) -> Any:
        """Kinetic energy, for velocity and angular velocity of frame_a resolved in it."""
        J = ca.trace(self.second) * ca.SX.eye(3) - self.second
        moment = self.S @ self._dx
        energy = self._m * ca.sumsqr(v) / 2 + ca.dot(v, cross(w, self.first) + moment) + ca.dot(w, J @ w) / 2
        return energy + ca.dot(w, _axial(self._moment(self._dx))) + ca.dot(self._dx, self.moving) / 2


def _axial(B: Any) -> Any:
    """Integral of r x b, from that of b r'."""
    return ca.vertcat(B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1])


@dataclasses.dataclass(frozen=True, eq=False)
class Flexibility:
    """What a body that bends is made of: shapes with their integrals and stiffness."""

    integrals: Integrals
    #: Stiffness of the coordinates [n, n], symmetric.
    K: np.ndarray
    #: Further shapes follow from the coordinates: coordinate k of these is -q' bows[k] q / 2 [m, n, n].
    bows: np.ndarray
    #: Damping of the coordinates beside that by ratio [n, n], symmetric.
    D: np.ndarray | None = None
    #: Forces along the coordinates without deformation, from stress of the body at rest [n].
    load: np.ndarray | None = None

    @property
    def count(self) -> int:
        """Number of coordinates."""
        return len(self.K)

    def followed(self, q: Any) -> Any:
        """Coordinates of all shapes: q, and behind them those that follow from it."""
        return ca.vertcat(q, *(-quadratic(bow, q) for bow in self.bows))

    @property
    def frequencies(self) -> np.ndarray:
        """Angular frequencies of each coordinate alone, with frame_a at rest [rad/s]."""
        masses = np.diag(self.integrals.mass_matrix)[: self.count]
        return np.asarray(np.sqrt(np.maximum(np.diag(self.K), 0.0) / masses))


class PartialFlexibleBody(MovingBody):
    """Base of bodies that bend, with a floating frame: `flexibility` says of what they are made."""

    frame_a = Frame_a("Frame of reference, in which displacements are small")

    damping = Parameter(t.Dimensionless, 0.0, "Damping ratio of each shape", min=0, tunable=True)
    dampings = Parameter(
        t.Dimensionless,
        (),
        "Damping ratios of the shapes, where they differ: one for each; none: damping for all",
        shape=None,
        min=0,
        structural=True,
    )

    q = Coordinate(
        t.Real,
        "Coordinates of the shapes",
        shape=lambda self: (self.flexibility().count,),
        start=0.0,
        state_select="prefer",
        when=lambda self: self.flexibility().count > 0,
    )
    qd = Variable(
        t.Real,
        "Rates of the coordinates of the shapes (= der(q))",
        shape=lambda self: (self.flexibility().count,),
        start=0.0,
        state_select="prefer",
        when=lambda self: self.flexibility().count > 0,
    )
    qdd = Variable(
        t.Real,
        "Accelerations of the coordinates of the shapes (= der(qd))",
        shape=lambda self: (self.flexibility().count,),
        start=0.0,
        when=lambda self: self.flexibility().count > 0,
    )
    g_0 = Variable(t.Acceleration, "Gravity acceleration at the center of mass, resolved in world frame", shape=3)

    def flexibility(self) -> Flexibility:
        """Shapes, integrals and stiffness, from structural parameters."""
        raise NotImplementedError

    def _ratios(self) -> np.ndarray:
        ratios, count = np.ravel(self.dampings), self.flexibility().count
        if len(ratios) != count:
            raise ModelError(
                f"{self.where}.dampings: has {len(ratios)} damping ratios, and the body has {count} shapes; give one "
                "for each"
            )
        return ratios

    @property
    def coordinates(self) -> Any:
        """Coordinates of the shapes, as a column."""
        return self.q if self.flexibility().count else ca.SX(0, 1)

    def bend(self) -> None:
        """Equations of the body itself: inertia, elasticity, damping, gravity."""
        body, a, q = self.flexibility(), self.frame_a, self.coordinates
        self.absolute_motion()
        self.rotation()
        bows = [_sparse(bow) for bow in body.bows]
        x = body.followed(q)
        dx = self.der(x)
        inertia = Inertia(body.integrals, x, dx, self.der(dx))
        m, center = body.integrals.m, inertia.first / body.integrals.m
        self.g_0 = self.world.gravity_acceleration(a.r_0 + resolve1(a.R, center))
        a.f, a.t, along = inertia.forces(resolve2(a.R, self.a_0 - self.g_0), self.w_a, self.z_a)
        v = resolve2(a.R, self.v_0)
        v_center = self.v_0 + resolve1(a.R, cross(self.w_a, center) + inertia.S @ dx / m)
        energies = self.world.gravity_energy(m, a.r_0 + resolve1(a.R, center), v_center)
        energies["kinetic"] = inertia.kinetic(v, self.w_a)
        if body.count:
            self.qd = rates = self.der(q)
            self.qdd = self.der(rates)
            masses = np.diag(body.integrals.mass_matrix)[: body.count]
            ratios = self.damping if not np.size(self.dampings) else ca.DM(self._ratios())
            losses = 2 * ratios * (ca.DM(masses * body.frequencies) * rates)
            K, stress = _sparse(body.K), _sparse(np.zeros(body.count) if body.load is None else body.load)
            if body.D is not None:
                losses += _sparse(body.D) @ rates
            total = along[: body.count]
            for bow, force in zip(bows, ca.vertsplit(along)[body.count :], strict=True):
                total -= force * (bow @ q)
            self.effort(q=-total - K @ q - stress - losses)
            energies["potential"] = energies.get("potential", 0.0) + ca.dot(q, K @ q) / 2 + ca.dot(q, stress)
            energies["dissipated"] = ca.dot(rates, losses)
        self.energy(**energies)


__all__ = ["Flexibility", "Inertia", "Integrals", "PartialFlexibleBody", "quadratic", "slightly_turned"]
