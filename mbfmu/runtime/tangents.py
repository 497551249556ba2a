"""Directional derivatives of a System's functions, for fmi2GetDirectionalDerivative and implicit integration.

Each is a product with one direction (dt, dx, du), which costs two to three times the function itself; Jacobians of
large systems as code would keep a C compiler busy for minutes. The accelerations are differentiated implicitly: from
A w = b follows A dw = d(b - A w) with w held. Dynamics that call shared functions, those of large trees, are left to
differences in the runtime: their code would grow threefold; unless there are switches, for differences would step over
them, and over bodies that touch by less than their distance. So are those whose A has no inverse as constraints are
redundant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

from mbfmu.runtime.contract import FUNCTIONS, VECTORS, length
from mbfmu.runtime.equations import Equations


def names_of_tangents(equations: Equations) -> tuple[str, ...]:
    """Names of the functions that `tangents` makes, in the order of the contract."""
    is_plain = equations.functions["dynamics"].is_a("SXFunction") or equations.nm > 0
    among_dynamics = is_plain and not equations.redundancies
    return (
        *(["dynamics_tangent"] if among_dynamics else []),
        "derivatives_tangent",
        "exposed_tangent",
        *(["iterations_tangent"] if equations.niterations else []),
    )


def tangents(equations: Equations, exposed: Sequence[int]) -> dict[str, ca.Function]:
    """Make the functions of directional derivatives.

    Args:
        equations: The model.
        exposed: Indices in y of the variables whose derivatives are wanted.

    Returns:
        dict: `dynamics_tangent(t, x, u, P, m, W, dt, dx, du)` -> d(b - A W) with W held [nW]; where the dynamics are
            explicit, dw itself; where they call shared functions and nothing switches, this function is left out.
            `derivatives_tangent(t, x, u, P, m, w, dt, dx, du, dw)` -> d(dx/dt) [nx]. `exposed_tangent` of the same
            arguments -> dy [len(exposed)].
            `iterations_tangent` of the same arguments -> dr [niterations], where there are iteration variables.
    """
    e, functions = equations, dict(equations.functions)
    if e.nm and not functions["dynamics"].is_a("SXFunction"):
        functions["dynamics"] = functions["dynamics"].expand()

    def tangent(name: str, of: str, moving: str, make: Callable[..., Any]) -> ca.Function:
        symbol: Any = ca.SX if functions[of].is_a("SXFunction") else ca.MX
        point = [key for key in FUNCTIONS[name].arguments if not key.startswith("d")]
        sizes = {key: length(VECTORS[key].size, e.sizes) for key in point}
        at = {key: symbol.sym(key, size) for key, size in sizes.items()}
        seeds = {key: symbol.sym(f"d{key}", sizes[key]) for key in moving}
        expression = make(functions[of], *at.values())
        there = [key for key in moving if sizes[key]]  # CasADi 3.6 gives no column for directions of size 0
        # All directions in one go leave less than a hundredth to `cse`, which took six times as long as all the rest.
        [[total]] = ca.forward([expression], [at[key] for key in there], [[seeds[key] for key in there]])
        return ca.Function(name, [*at.values(), *seeds.values()], [ca.densify(total)])

    def motion(function: ca.Function, *point: Any) -> Any:
        A, b = function(*point[:5])
        if e.explicit:
            return b
        if e.sparsity:  # as A is triplets, which CasADi sorts
            matrix = ca.Sparsity.triplet(e.nW, e.nW, *map(list, zip(*e.sparsity, strict=True)))
            return b - ca.mtimes(type(b)(matrix, A), point[5])
        return b - ca.mtimes(A, point[5])

    def rates(function: ca.Function, *point: Any) -> Any:
        return function(*point)

    def residuals(function: ca.Function, *point: Any) -> Any:
        return function(*point)[0]

    def values(function: ca.Function, *point: Any) -> Any:
        y = function(*point)
        return ca.vertcat(type(y)(0, 1), *(y[i] for i in exposed))

    found = {
        "derivatives_tangent": tangent("derivatives_tangent", "derivatives", "txuw", rates),
        "exposed_tangent": tangent("exposed_tangent", "variables", "txuw", values),
    }
    if "dynamics_tangent" in names_of_tangents(equations):
        found["dynamics_tangent"] = tangent("dynamics_tangent", "dynamics", "txu", motion)
    if e.niterations:
        found["iterations_tangent"] = tangent("iterations_tangent", "iterations", "txuw", residuals)
    return found
