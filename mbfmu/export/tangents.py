"""Directional derivatives of a System's functions, for fmi2GetDirectionalDerivative and implicit integration.

Each is a product with one direction (dt, dx, du), which costs two to three times the function itself; Jacobians of
large systems as code would keep a C compiler busy for minutes. The accelerations are differentiated implicitly: from
A w = b follows A dw = d(b - A w) with w held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from mbfmu.simulation.equations import Equations


def tangents(equations: Equations, exposed: Sequence[int]) -> dict[str, ca.Function]:
    """Make the functions of directional derivatives.

    Parameters
    ----------
    equations
        The model.
    exposed
        Indices in y of the variables whose derivatives are wanted.

    Returns
    -------
    dict
        `dynamics_tangent(t, x, u, P, m, w, dt, dx, du)` -> d(b - A w) with w held [nw]; where the dynamics are
        explicit, dw itself. `derivatives_tangent(t, x, u, P, m, w, dt, dx, du, dw)` -> d(dx/dt) [nx].
        `exposed_tangent` of the same arguments -> dy [len(exposed)].
    """
    e, functions = equations, equations.functions
    symbol: Any = ca.SX if all(function.is_a("SXFunction") for function in functions.values()) else ca.MX
    sizes = {"t": 1, "x": e.nx, "u": e.nu, "P": e.npar + e.nd, "m": e.nm, "w": e.nw}
    at = {name: symbol.sym(name, size) for name, size in sizes.items()}
    seeds = {name: symbol.sym(f"d{name}", sizes[name]) for name in ("t", "x", "u", "w")}

    def tangent(name: str, expression: Any, moving: Sequence[str]) -> ca.Function:
        terms = [ca.jtimes(expression, at[key], seeds[key]) for key in moving]
        total = sum(terms, symbol.zeros(expression.shape))
        arguments = [*at.values(), *(seeds[key] for key in moving)]
        return ca.Function(name, arguments, [ca.densify(ca.cse(total) if total.numel() else total)])

    point = list(at.values())
    A, b = functions["dynamics"](*point[:5])
    y = functions["variables"](*point)
    return {
        "dynamics_tangent": tangent("dynamics_tangent", b if e.explicit else b - ca.mtimes(A, at["w"]), "txu"),
        "derivatives_tangent": tangent("derivatives_tangent", functions["derivatives"](*point), "txuw"),
        "exposed_tangent": tangent("exposed_tangent", ca.vertcat(symbol(0, 1), *(y[i] for i in exposed)), "txuw"),
    }
