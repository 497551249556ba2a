"""Shapes of a straight uniform beam, by Ritz's method with Legendre polynomials.

Places along the beam are fractions s of its length L; directions are those of the beam: x along it. In a plane the
deflection w and the slope of the sections go together: they are one (Euler-Bernoulli), or differ by shear
(Timoshenko).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.polynomial import Legendre

from mbfmu.components.flexible.floating_frame import Flexibility, Integrals

#: Polynomials beside those that are as many as shapes are asked for.
MORE = 12
#: Polynomials that hold foreshortening as a field: its resultant and moment are exact with two.
BOWS = 4

#: A shape of bending whose deflection is less than this part of its slope times the length is shear alone.
SHEAR_ALONE = 1e-6

#: Conditions of bending at both ends: what is zero there, as powers of s and 1 - s that each deflection has.
ENDS = {"clamped-free": (2, 0), "hinged-hinged": (1, 1), "clamped-hinged": (2, 1), "clamped-clamped": (2, 2)}


@dataclasses.dataclass(frozen=True)
class Stiffness:
    """What a beam is made of: length, stiffness of sections, mass and moments of inertia of them for each length."""

    L: float
    EA: float
    GJ: float
    #: Bending along y and along z.
    EI: tuple[float, float]
    #: Shear along y and along z; none in a beam without shear.
    kGA: tuple[float, float] | None
    rhoA: float
    #: Integrals of density times y^2 and z^2 over a section.
    rhoI: tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Counts:
    """How many shapes there are: bending along y and z, along the beam, torsion."""

    y: int
    z: int
    axial: int
    torsion: int


#: A shape: three displacements and three small rotations, as polynomials of s.
Shape = tuple[tuple[Legendre, ...], tuple[Legendre, ...]]


def _legendre(degree: int) -> Legendre:
    return Legendre.basis(degree, domain=[0, 1])


_S, _ZERO = Legendre.identity(domain=[0, 1]), 0 * Legendre.basis(0, domain=[0, 1])


def _values(part: Legendre, places: np.ndarray) -> np.ndarray:
    return np.asarray(part(places) * np.ones_like(places))


def _square(part: Legendre) -> float:
    """Integral of the square from 0 to 1."""
    whole = (part * part).integ()
    return float(whole(1.0) - whole(0.0))


def _gram(parts: Sequence[Legendre]) -> np.ndarray:
    """Integrals of all products, by Gauss's quadrature, which is exact for them."""
    degree = max(part.degree() for part in parts)
    places, weights = np.polynomial.legendre.leggauss(degree + 1)
    values = np.array([part((places + 1) / 2) * np.ones_like(places) for part in parts])
    return np.asarray(values * weights @ values.T / 2)


@dataclasses.dataclass(frozen=True, eq=False)
class _Space:
    """A space of pairs (w, slope), with its matrices."""

    pairs: list[tuple[Legendre, Legendre]]
    M: np.ndarray
    K: np.ndarray

    def combined(self, factors: np.ndarray) -> tuple[Legendre, Legendre]:
        """The pair that is a sum of them."""
        w, slope = _ZERO, _ZERO
        for factor, pair in zip(factors, self.pairs, strict=True):
            w, slope = w + factor * pair[0], slope + factor * pair[1]
        return w, slope

    def shapes(self, count: int, loads: Sequence[np.ndarray]) -> list[tuple[Legendre, Legendre]]:
        """`count` shapes: the lowest mode, then what loads at the ends cause, then further modes; uncoupled."""
        if not count:
            return []
        _, modes = scipy.linalg.eigh(self.K, self.M)
        static = [np.linalg.solve(self.K, load) for load in loads]
        chosen = [modes[:, 0], *static, *modes.T[1:]][:count]
        basis = np.array([vector / np.sqrt(vector @ self.K @ vector) for vector in chosen]).T
        _, mixed = scipy.linalg.eigh(basis.T @ self.K @ basis, basis.T @ self.M @ basis)
        return [self.combined(vector) for vector in (basis @ mixed).T]


def _bending(beam: Stiffness, plane: int, ends: str, count: int) -> _Space:
    """The space of bending in a plane."""
    L, EI = beam.L, beam.EI[plane]
    left, right = ENDS[ends]
    size = count + MORE
    if beam.kGA is None:
        held = _S**left * (1 - _S) ** right
        deflections = [held * _legendre(k) for k in range(size)]
        pairs = [(w, w.deriv() / L) for w in deflections]
        M = beam.rhoA * L * _gram(deflections)
        return _Space(pairs, M, EI / L**3 * _gram([w.deriv(2) for w in deflections]))
    w_held = _S ** min(left, 1) * (1 - _S) ** min(right, 1)
    slope_held = _S ** (left - 1) * (1 - _S) ** max(right - 1, 0)
    w = [w_held * _legendre(k) for k in range(size)]
    slopes = [slope_held * _legendre(k) for k in range(size)]
    none = [_ZERO] * size
    pairs = [*zip(w, none, strict=True), *zip(none, slopes, strict=True)]
    M = beam.rhoA * L * _gram([*w, *none]) + beam.rhoI[plane] * L * _gram([*none, *slopes])
    shear = [*(one.deriv() / L for one in w), *(-1 * one for one in slopes)]
    K = beam.kGA[plane] * L * _gram(shear) + EI / L * _gram([*none, *(one.deriv() for one in slopes)])
    return _Space(pairs, M, K)


def _end_loads(space: _Space, ends: str) -> list[np.ndarray]:
    """Unit forces and torques that joints at the ends may bring, where bending there is free."""
    left, right = ENDS[ends]
    loads = [np.array([float(w(1.0)) for w, _ in space.pairs])] if right == 0 else []
    if right < 2:
        loads.append(np.array([float(slope(1.0)) for _, slope in space.pairs]))
    if left == 1:
        loads.append(np.array([float(slope(0.0)) for _, slope in space.pairs]))
    return loads


def _along(count: int, inertia: float, stiffness: float, L: float) -> list[Legendre]:
    """Shapes of a rod that is held at its beginning: what a load at its end causes, then modes."""
    parts = [_S * _legendre(k) for k in range(count + MORE)]
    space = _Space(
        [(p, _ZERO) for p in parts], inertia * L * _gram(parts), stiffness / L * _gram([p.deriv() for p in parts])
    )
    if not count:
        return []
    _, modes = scipy.linalg.eigh(space.K, space.M)
    static = np.linalg.solve(space.K, np.array([float(p(1.0)) for p in parts]))
    basis = np.array([static / np.sqrt(static @ space.K @ static), *modes.T[: count - 1]]).T
    _, mixed = scipy.linalg.eigh(basis.T @ space.K @ basis, basis.T @ space.M @ basis)
    return [space.combined(vector)[0] for vector in (basis @ mixed).T]


def _scaled(part: Legendre, *others: Legendre) -> tuple[Legendre, ...]:
    """Polynomials by the largest value of the first, which is positive where it is last large."""
    places = np.linspace(0.0, 1.0, 401)
    values = _values(part, places)
    large = np.flatnonzero(np.abs(values) > 0.999 * np.abs(values).max())
    factor = values[large[0] if abs(values[-1]) < 0.999 * np.abs(values).max() else -1]
    return tuple(one / factor for one in (part, *others))


def _bent(w: Legendre, slope: Legendre, L: float) -> tuple[Legendre, ...]:
    """A shape of bending by its largest deflection; where sections turn and nothing deflects, by its slope times L.

    Of a hinged beam the lowest one that is shear alone turns all sections alike.
    """
    places = np.linspace(0.0, 1.0, 401)
    if np.abs(_values(w, places)).max() > SHEAR_ALONE * L * np.abs(_values(slope, places)).max():
        return _scaled(w, slope)
    return _ZERO, _scaled(slope)[0] / L


@dataclasses.dataclass(frozen=True, eq=False)
class BeamShapes:
    """Shapes of a beam with what they weigh and how stiff they are, in the directions of the beam."""

    shapes: tuple[Shape, ...]
    flexibility: Flexibility
    #: Along which of the beam's directions each shape bends it: "y", "z", or "" for others.
    planes: tuple[str, ...]
    L: float

    @property
    def count(self) -> int:
        """Number of shapes."""
        return len(self.shapes)

    def displacements(self, s: float) -> np.ndarray:
        """Displacement of the axis at s by each shape [3, n]."""
        return np.array([[float(part(s)) for part in u] for u, _ in self.shapes]).reshape(-1, 3).T

    def rotations(self, s: float) -> np.ndarray:
        """Small rotation of the section at s by each shape [3, n]."""
        return np.array([[float(part(s)) for part in turn] for _, turn in self.shapes]).reshape(-1, 3).T

    def bow(self, s: float) -> np.ndarray:
        """G of the foreshortening q' G q / 2 of the part from 0 to s [n, n]."""
        return self._bow_at(s)

    @functools.cached_property
    def _bow_at(self) -> Callable[[Any], np.ndarray]:
        return _bow(self.shapes, self.planes, self.L)


def _bow(shapes: Sequence[Shape], planes: Sequence[str], L: float) -> Callable[[Any], np.ndarray]:
    """s -> G(s) of the foreshortening q' G q / 2 [n, n], or [k, n, n] for k places."""
    n = len(shapes)
    bending = [i for i in range(n) if planes[i]]
    slopes = [shapes[i][0]["xyz".index(planes[i])].deriv() for i in bending]
    same = np.array([[planes[i] == planes[j] for j in bending] for i in bending], dtype=float)
    degree = max((slope.degree() for slope in slopes), default=0)
    points, weights = np.polynomial.legendre.leggauss(degree + 1)  # exact for their products

    def at(s: Any) -> np.ndarray:
        places = np.atleast_1d(np.asarray(s, dtype=float))
        G = np.zeros((len(places), n, n))
        if bending:
            within = np.outer(places, (points + 1) / 2)
            values = np.array([_values(slope, within) for slope in slopes])
            products = np.einsum("g,k,ikg,jkg->kij", weights / 2, places, values, values, optimize=True)
            G[np.ix_(range(len(places)), bending, bending)] = products * same / L
        return G.reshape(*np.shape(s), n, n)

    return at


@functools.lru_cache(maxsize=64)
def beam_shapes(beam: Stiffness, counts: Counts, ends: str, static: bool, stiffening: bool) -> BeamShapes:
    """Shapes of a beam, and all that its motion depends on.

    Args:
        beam: what it is made of.
        counts: how many shapes.
        ends: a key of ENDS.
        static: whether deflections by loads at the ends are among the shapes of bending.
        stiffening: whether the beam becomes shorter as it bends, which stiffens it under tension and in rotation.
    """
    shapes: list[Shape] = []
    planes: list[str] = []
    for plane, axis, count in ((0, "y", counts.y), (1, "z", counts.z)):
        space = _bending(beam, plane, ends, count)
        for pair in space.shapes(count, _end_loads(space, ends) if static else []):
            w, slope = _bent(*pair, beam.L)
            u = (_ZERO, w, _ZERO) if axis == "y" else (_ZERO, _ZERO, w)
            turn = (_ZERO, _ZERO, slope) if axis == "y" else (_ZERO, -1 * slope, _ZERO)
            shapes.append((u, turn))
            planes.append(axis)
    for part in _along(counts.axial, beam.rhoA, beam.EA, beam.L):
        shapes.append(((*_scaled(part), _ZERO, _ZERO), (_ZERO,) * 3))
        planes.append("")
    for part in _along(counts.torsion, sum(beam.rhoI), beam.GJ, beam.L):
        shapes.append(((_ZERO,) * 3, (*_scaled(part), _ZERO, _ZERO)))
        planes.append("")
    bow = _bow(shapes, planes, beam.L)
    n, has_bows = len(shapes), stiffening and any(planes)
    degree = max((part.degree() for u, turn in shapes for part in (*u, *turn)), default=0) + BOWS + 2
    s, weights = np.polynomial.legendre.leggauss(2 * degree)
    s, weights = (s + 1) / 2, weights / 2
    fields = [_legendre(k) for k in range(BOWS)] if has_bows else []
    along = np.array([_values(part, s) for part in fields]).reshape(-1, len(s))
    bows = np.einsum("k,ks,s,sij->kij", 2.0 * np.arange(len(fields)) + 1, along, weights, bow(s), optimize=True)
    displacements = np.array([[_values(part, s) for part in u] for u, _ in shapes]).reshape(-1, 3, len(s))
    rotations = np.array([[_values(part, s) for part in turn] for _, turn in shapes]).reshape(-1, 3, len(s))
    if beam.kGA is None:  # without inertia of sections in bending, only torsion turns them
        rotations[:, 1:] = 0.0
    places, moved = [], []
    offsets = [(y, z) for y in (-1, 1) for z in (-1, 1)]
    sizes = np.sqrt(np.array(beam.rhoI) / beam.rhoA)
    for k, at in enumerate(s):
        for y, z in offsets:
            offset = np.array([0.0, y * sizes[0], z * sizes[1]])
            places.append([at * beam.L, *offset[1:]])
            own = displacements[:, :, k] + np.cross(rotations[:, :, k].reshape(-1, 3), offset)
            moved.append(np.hstack([own.T, np.outer((1.0, 0.0, 0.0), along[:, k])]))
    masses = np.repeat(beam.rhoA * beam.L * weights / len(offsets), len(offsets))
    integrals = Integrals.of_points(masses, np.array(places), np.array(moved))
    stiffness = np.zeros(n)  # shapes are uncoupled
    for i, (shift, turned) in enumerate(shapes):
        stiffness[i] = beam.EA / beam.L * _square(shift[0].deriv()) + beam.GJ / beam.L * _square(turned[0].deriv())
        for plane, (across, about, sign) in enumerate(((1, 2, 1), (2, 1, -1))):
            stiffness[i] += beam.EI[plane] / beam.L * _square(turned[about].deriv())
            if beam.kGA is not None:
                stiffness[i] += (
                    beam.kGA[plane] * beam.L * _square(shift[across].deriv() / beam.L - sign * turned[about])
                )
    K = np.diag(stiffness)
    return BeamShapes(tuple(shapes), Flexibility(integrals, K, bows), tuple(planes), beam.L)


__all__ = ["ENDS", "BeamShapes", "Counts", "Stiffness", "beam_shapes"]
