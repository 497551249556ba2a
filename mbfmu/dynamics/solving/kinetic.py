"""Kinetic energy on top of that of other parts: where the sum is negative, motions grow that ought to decay."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np
import scipy

from mbfmu.dynamics.columns import stacked
from mbfmu.dynamics.expressions.constraints import chosen
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.solving.dense import Direct
from mbfmu.modeling.types import Inertia

#: Part of the largest kinetic energy of equilibrated speeds below which one counts as none.
TOLERANCE = 1e-9
#: Growth that is none [1/s]: the least, and relative to the quickest motion (what rounding makes of several zeros).
GROWTH, ROUNDING = 1e-3, 1e-6


def check_kinetic(formulation: Formulation) -> None:
    """Warn of parts whose kinetic energy comes on top of others', where motions grow in which that of all is negative.

    Motions are those of the linear model at the start (states in parameters), with default parameters. Without dampers
    and springs that work along them such motions do not grow; the model then moves as Modelica's does.
    """
    values, vectors, parameters = formulation.values, formulation.vectors, formulation.parameters
    constraints = formulation.constraints
    parts = [(path, *part) for path, behaviour in values.behaviours.items() for part in behaviour.on_top]
    if not parts or not vectors.v.numel():
        return
    whole = [
        values.locals(path, [behaviour.energies["kinetic"]])[0]
        for path, behaviour in values.behaviours.items()
        if behaviour.energies and not behaviour.on_top
    ]
    energies = [values.locals(path, [kinetic])[0] for path, kinetic, _ in parts]
    total = ca.sum1(stacked([*whole, *energies]))
    velocity = ca.jacobian(chosen(constraints.velocity, constraints.kept), vectors.v)
    masses = [ca.hessian(energy, vectors.v)[0] for energy in parameters.resolve([total, *energies])]
    function = ca.Function("masses", vectors.arguments, [velocity, *masses], {"allow_free": True})
    if function.has_free():  # speeds that follow from accelerations
        return
    x, inputs = parameters.by_default(formulation.start), ca.DM(values.start_inputs)
    modes = ca.DM.zeros(vectors.m.numel())
    point = [ca.DM(formulation.start_time), x, inputs, parameters.default_P, modes]
    rows, mass, *of_parts = (np.array(value) for value in function.call(point))
    if not _is_negative(mass, rows):
        return
    growing = _growing(formulation, Direct.of(formulation), point)
    growing = growing[:, _energies(mass, growing) < 0.0]
    for (path, _, message), of_part in zip(parts, of_parts, strict=True):
        component = values.flat.components[path]
        if (_energies(of_part, growing) < TOLERANCE * _energies(mass, growing)).any():
            inertias = parameters.numbers_of(component, Inertia)
            given = ", ".join(f"{name} = {number:g} kg.m2" for name, number in inertias.items())
            warnings.warn(
                f"{component.where}: with {given} motions grow that ought to decay, as their kinetic energy is "
                f"negative: {message}",
                stacklevel=2,
            )


def _is_negative(mass: np.ndarray, rows: np.ndarray) -> bool:
    """True where a kinetic energy is negative for speeds that constraints (rows) leave free."""
    if not (np.isfinite(mass).all() and np.isfinite(rows).all()):
        return False
    size = np.sqrt(np.abs(np.diag(mass)))
    scale = 1 / np.where(size > 0.0, size, 1.0)
    free = scale[:, None] * (scipy.linalg.null_space(rows * scale) if len(rows) else np.eye(len(scale)))
    values = np.linalg.eigvalsh(free.T @ mass @ free)
    return bool(values.min(initial=0.0) < -TOLERANCE * np.abs(values).max(initial=0.0))


def _growing(formulation: Formulation, system: Direct, point: list[ca.DM]) -> np.ndarray:
    """Speeds, in columns, of those motions of the linear model at a point that grow."""
    vectors = formulation.vectors
    x, w, nq = vectors.x, system.w, vectors.q.numel()
    change, rates = system.residual(vectors), formulation.rates
    derivatives = [ca.jacobian(change, x), ca.jacobian(rates, x), ca.jacobian(rates, w)]
    A, b = system.dynamics(vectors).call(point)
    try:
        found = np.linalg.solve(np.array(A), np.array(b))
        function = ca.Function("linear", [*vectors.arguments, w], derivatives, {"allow_free": True})
        of_change, of_rates, through = (np.array(value) for value in function.call([*point, found]))
        values, shapes = np.linalg.eig(of_rates - through @ np.linalg.solve(np.array(A), of_change))
    except (RuntimeError, np.linalg.LinAlgError):  # what cannot be solved is told elsewhere
        return np.zeros((vectors.v.numel(), 0))
    grows = values.real > GROWTH + ROUNDING * np.abs(values).max(initial=0.0)
    return np.array(shapes[nq : nq + vectors.v.numel(), grows])


def _energies(mass: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Kinetic energy of complex speeds, in columns."""
    return np.real(np.sum(speeds.conj() * (mass @ speeds), axis=0)) / 2
