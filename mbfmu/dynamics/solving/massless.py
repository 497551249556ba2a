"""Freedoms of a tree that move no mass: nothing says how they accelerate."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np
import scipy

from mbfmu.dynamics.columns import elements
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.parameters import Parameters
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.errors import ModelError
from mbfmu.modeling.names import joined

#: Singular value of the equilibrated mass matrix, relative to the largest, at which a freedom counts as massless.
TOLERANCE = 1e-12
#: Part of a speed in a motion without mass from which on it is named, relative to the largest.
NAMED = 0.1
#: Accelerations at which inertia is told from other forces, which rounding would else hide it behind: those of a stiff
#: spring on a light body. A power of 2, so that it adds no rounding of its own.
FAST = 2.0**40
#: Units of parameters that are masses and moments of inertia.
MASSES = ("kg", "kg.m2")


def moves_no_mass(formulation: Formulation) -> bool:
    """True where some freedom of a tree without constraints moves no mass with the default parameters.

    The mass matrix is looked at in a random position: one that is singular there is singular nearly everywhere.

    Raises:
        ModelError: a freedom moves no mass whatever the masses are; the message names its speeds.
    """
    vectors, parameters, starts = formulation.vectors, formulation.parameters, formulation.starts
    if not vectors.v.numel():
        return False
    arguments = [vectors.a, *vectors.arguments, parameters.passed_on]
    function = ca.Function("balances", arguments, [formulation.motion.balances])
    light = _open(function, vectors, parameters, parameters.defaults)
    if not light:
        return False
    places = [
        (joined(component.path, name), parameters.number_of(parameters.source(scalar)))
        for component in formulation.values.topology.all_components
        for name, declaration in component.parameters().items()
        if declaration.type.unit in MASSES and declaration.min == 0 and not (declaration.final or declaration.animation)
        for scalar in ca.vertsplit(ca.vec(component.symbol(name)))
    ]
    heavy, random = list(parameters.defaults), np.random.default_rng(0)
    for _, place in places:
        if place is not None:  # other masses, too: none is what another takes away, as a rotor's from its carrier's
            heavy[place] = (heavy[place] or 1.0) * random.uniform(1.0, 2.0)
    found = _open(function, vectors, parameters, heavy)
    speeds = [str(s) if (o := starts.owner_of(s)) is None else o.label for s in elements(vectors.v)]
    if found:
        names = [speeds[i] for i in found]
        raise ModelError(
            f"{', '.join(names)}: {'this speed moves' if len(names) == 1 else 'together these speeds move'} no mass, "
            "whatever the masses are, so that nothing says how they accelerate; give what is between these joints a "
            "mass, or take one of them away"
        )
    names = [speeds[i] for i in light]
    owners = {name.rpartition(".")[0] for name in names}
    absent = [f"{name} = 0" for name, p in places if p is not None and not parameters.defaults[p]]
    own = [text for text in absent if text.rpartition(".")[0] in owners] or absent
    listed = f" ({', '.join(own[:4])}{', ...' if len(own) > 4 else ''})" if own else ""
    warnings.warn(
        f"{', '.join(names)}: {'moves' if len(names) == 1 else 'together move'} no mass with these parameters{listed}, "
        "and cannot start; give it one before",
        stacklevel=2,
    )
    return True


def _open(
    function: ca.Function, vectors: Vectors, parameters: Parameters, defaults: list[float] | tuple[float, ...]
) -> list[int]:
    """Indices of the speeds in motions that meet no inertia, with some numbers of p; none where A cannot be told."""
    size, random = vectors.v.numel(), np.random.default_rng(0)
    p = ca.DM(defaults)
    P = ca.vertcat(p, parameters.derive(p))
    passed_on = ca.DM(parameters.values_passed_on(np.array(P).ravel()))
    x = ca.DM(random.uniform(-0.5, 0.5, vectors.x.numel()))
    named: set[int] = set()
    for mode in (0.0, 1.0) if vectors.m.numel() else (0.0,):
        u, m = ca.DM.zeros(vectors.u.numel()), mode * ca.DM.ones(vectors.m.numel())
        at_rest = np.array(function(ca.DM.zeros(size), 0.0, x, u, P, m, passed_on))
        A = (np.array(function(ca.DM(FAST * np.eye(size)), 0.0, x, u, P, m, passed_on)) - at_rest) / FAST
        if not np.isfinite(A).all():
            return []
        columns = np.ones(size)
        for _ in range(5):  # equilibrated: heavy and light parts alike
            rows = np.sqrt(np.abs(A).max(axis=1))
            A = A / np.where(rows > 0.0, rows, 1.0)[:, None]
            scale = np.sqrt(np.abs(A).max(axis=0))
            scale = np.where(scale > 0.0, scale, 1.0)
            A, columns = A / scale, columns / scale
        if _is_regular(A):
            return []
        _, values, directions = np.linalg.svd(A)
        slack = directions[values <= TOLERANCE * values.max()] if values.any() else np.eye(size)
        if not len(slack):
            return []
        part = np.abs(slack * columns).max(axis=0)
        named.update(np.flatnonzero(part > NAMED * part.max()).tolist())
    return sorted(named)


def _is_regular(A: np.ndarray) -> bool:
    """True where no singular value can be as small as that of a freedom without mass.

    The least of them is not below 1 / ||R^-1||, the largest not above ||R|| (Frobenius), where A = Q R. CasADi's QR has
    one thread. Those that NumPy's singular values of 100 rows take wait for each other on a busy machine, a hundred
    times as long as they work.
    """
    R = np.array(ca.qr_sparse(ca.sparsify(ca.DM(A)))[1])
    if R.shape != A.shape:  # singular whatever its entries are
        return False
    inverse, is_singular = scipy.linalg.lapack.dtrtri(R)
    return not is_singular and bool(np.linalg.norm(inverse) * np.linalg.norm(R) * TOLERANCE < 1.0)
