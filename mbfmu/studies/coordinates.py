"""Linear models in coordinates of one's choice: variables in the place of as many states.

About a steady turn, speeds along the axes of the world change all the time, those along the axes of the vehicle do
not. A variable y = h(x, t) is a coordinate beside those that are left; its rate h_x dx/dt + h_t is differentiated as
exactly as the others, the rates of x included.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.errors import ModelError
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.studies.operating import RANK, Array, Derivatives, Mechanics, Reduced

#: A variable may take the place of a state on which it depends this much beside the others of its kind.
PLAIN = 0.1


@dataclasses.dataclass(frozen=True)
class Coordinates:
    """Small motions [n] of which some are those of variables: `T` [n, n] of s, `A` [n, n], `B` [n, nu] of theirs."""

    T: Array
    A: Array
    B: Array
    #: Places in s that the variables take, their values and rates.
    places: tuple[int, ...]
    values: Array
    rates: Array


class Chosen:
    """Variables that are wanted as states.

    Raises:
        ModelError: One of them is no function of states and time.
    """

    def __init__(self, mechanics: Mechanics, variables: Sequence[ScalarVariable]) -> None:
        self.name, self.variables = mechanics.equations.name, tuple(variables)
        function = mechanics.equations.functions["variables"]
        symbol: Any = ca.SX.sym if function.is_a("SXFunction") else ca.MX.sym
        at = [symbol(function.name_in(i), function.sparsity_in(i)) for i in range(function.n_in())]
        t, x, rates = at[0], at[1], symbol("rates", mechanics.nx)
        seen = {"x": x, "y": function.call(at)[0]}
        for variable in variables:
            if variable.store not in seen:
                raise ModelError(f"{self.name}: '{variable.name}' is no state, nor does it follow from states")
        h = ca.vertcat(*(seen[v.store][v.index] for v in variables))
        for i, variable in enumerate(variables):
            if any(ca.which_depends(h[i], at[k], 1, True)[0] for k in (2, 5) if at[k].numel()):
                raise ModelError(
                    f"{self.name}: '{variable.name}' follows from inputs, forces or accelerations, too: it is no state"
                )
        moved = ca.jtimes(h, x, rates) + ca.jtimes(h, t, ca.DM(1.0))
        self._function = ca.Function(
            "chosen", [*at, rates], [h, moved, ca.jacobian(h, x), ca.jacobian(moved, x), ca.jacobian(moved, rates)]
        )

    def __call__(
        self,
        mechanics: Mechanics,
        point: tuple[float, Array, Array, Array],
        reduced: Reduced,
        found: Derivatives,
        places: Sequence[int] | None = None,
        avoided: Array | None = None,
    ) -> Coordinates:
        """Change to the chosen coordinates at a point (t, x, u, m).

        Args:
            mechanics, point, reduced, found: As for `output_derivatives`.
            places: Of the states that they take; searched for where None.
            avoided: How much each state is better not kept [n].

        Raises:
            ModelError: They are no coordinates beside those that are left.
        """
        t, x, u, m = point
        numbers = self._function(t, x, mechanics.complete(t, x, u, m), mechanics.P, m, found.w, found.x_rates)
        values, rates, h_x, moved_x, moved_rates = (np.array(ca.densify(number)) for number in numbers)
        if reduced.driven.size and np.abs(h_x @ reduced.driven).max() > 0:
            raise ModelError(f"{self.name}: inputs prescribe speeds on which the chosen states depend")
        n = reduced.embedding.shape[1]
        rows = h_x @ reduced.embedding
        if places is None:
            places = self._places(rows, reduced, np.zeros(n) if avoided is None else avoided)
        T = np.eye(n)
        T[list(places)] = rows
        moved = moved_x @ np.hstack([reduced.embedding, reduced.driven]) + moved_rates @ found.x_change
        changed = np.hstack([found.A, found.B])
        changed[list(places)] = moved
        all_rates = found.rates.copy()
        all_rates[list(places)] = rates.ravel()
        A = np.linalg.solve(T.T, changed[:, :n].T).T
        return Coordinates(T, A, changed[:, n:], tuple(places), values.ravel(), all_rates)

    def _places(self, rows: Array, reduced: Reduced, avoided: Array) -> list[int]:
        """Which states the variables replace: a speed where they depend on speeds, else a position."""
        count, first = len(reduced.positions), len(reduced.positions) + len(reduced.speeds)
        kinds = (range(count, first), range(count), range(first, rows.shape[1]))
        left, places = rows.copy(), []
        for i, variable in enumerate(self.variables):
            size = np.abs(rows[i]).max(initial=0.0)
            for kind in kinds:
                free = [k for k in kind if k not in places]
                parts = np.abs(left[i, free])
                if parts.max(initial=0.0) > RANK * size:
                    break
            else:
                raise ModelError(
                    f"{self.name}: '{variable.name}' is no coordinate beside the other chosen states: it follows from "
                    "these, or stays what it is"
                )
            plain = [k for k, part in zip(free, parts, strict=True) if part > PLAIN * parts.max()]
            place = max(plain, key=lambda k: (avoided[k], abs(left[i, k])))
            places.append(place)
            for j in range(i + 1, len(rows)):
                left[j] -= left[j, place] / left[i, place] * left[i]
        return places


__all__ = ["Chosen", "Coordinates"]
