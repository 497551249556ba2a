"""Accelerations of large loops from a sparse system: neighbours are kept apart by the motion and wrenches between them.

In A w = b of the dense form each row knows all joints between its bodies and the ground. Here accelerations of frames
and wrenches of edges stay unknowns of their own beside w, as placeholders of the values, so that every row knows its
neighbours only: motion of an edge, balance of a node, balance along a speed, constraint. What is gained by that is lost
again where there is little to share, so unknowns with an entry of 1 or -1 are eliminated symbolically as long as this
makes the system smaller or little fuller (`reduced`). In the limit that is the dense form; in a chain of loops
a few unknowns for each loop are left, and code and factors grow with the number of loops. An order of pivots is found
once (`pivots.py`), along which runtimes factorise.
"""

from __future__ import annotations

import dataclasses
import functools
import heapq

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import elements, slope, stacked
from mbfmu.dynamics.expressions.constraints import Constraints, chosen
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.values import evaluated
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.dynamics.solving.pivots import pivots
from mbfmu.dynamics.structure.quantities import MOTION, FrameMotion, at_children
from mbfmu.modeling.formulas import Quantity
from mbfmu.runtime.cse import cse

#: Motions of frames that stay unknowns; positions and speeds are known.
_UNKNOWN_MOTION = ("a_0", "z")

#: An unknown is eliminated symbolically where that adds so many products at most, for each entry of its row and column.
#: Measured on chains of four-bars, scissor lifts and trusses: with 1 or 4, code and factors take longer together.
PRODUCTS = 2

#: What operators do to scalars, in a tenth of their time: they first look for the types of their operands.
_product = functools.partial(ca.SX.binary, ca.OP_MUL)
_difference = functools.partial(ca.SX.binary, ca.OP_SUB)

#: Places at which pivots are chosen: the start, and others around it with coordinates that far away.
SAMPLES, DISTANCE = 4, 1.0


@dataclasses.dataclass(frozen=True)
class Reduced:
    """A square system as entries: `values` at (row, column), sorted by column, and right sides."""

    values: ca.SX
    sparsity: tuple[tuple[int, int], ...]
    right: ca.SX
    #: Per unknown of w, the number of the part that it belongs to: the equations of two parts do not touch each other.
    parts: tuple[int, ...]


def linear_system(formulation: Formulation) -> tuple[ca.SX, ca.SX]:
    """Residuals and unknowns [w; motions and wrenches between neighbours] of the whole system.

    Row nv + i belongs to constraint i that is kept, as in the dense form.
    """
    base, wanted, constraints = formulation.values, formulation.wanted, formulation.constraints
    motion, resolve = formulation.motion, formulation.parameters.resolve
    structure = base.structure
    order = [edge for edge in base.topology.order if edge not in structure.idle]
    given: dict[Quantity, ca.SX] = dict(base.torn)
    between: list[ca.SX] = []
    for edge in order:
        for what in MOTION:
            frame = FrameMotion(edge.child, what)
            if what in _UNKNOWN_MOTION:
                given[frame] = ca.SX.sym(f"{what}{edge.child}", 3)
            elif frame in base.known:
                given[frame] = base.known[frame]
        between += [given[FrameMotion(edge.child, what)] for what in _UNKNOWN_MOTION]
    wrenches = {edge: ca.SX.sym(f"wrench {edge.path}", 6) for edge in order}
    given |= at_children(wrenches)
    supported = [structure.supported(edge, what) for edge in order for what in _UNKNOWN_MOTION]
    loads = [structure.load_on(edge) for edge in order]
    balances = [balance for key in base.unknowns.v for balance in base.balances(key)]
    asked = [*(row.acceleration for row in wanted.loops), *supported, *loads, *balances]
    values = evaluated(base.graph.within(structure, asked, given), given)
    loops = [
        dataclasses.replace(row, acceleration=values(formulas.acceleration))
        for row, formulas in zip(formulation.rows, wanted.loops, strict=False)
    ]
    massless = formulation.rows[len(loops) :]  # the balances that are kept as constraints: they know no accelerations
    local = Constraints.of([*loops, *massless], resolve).only(constraints.choice)
    along = stacked(values(balance) for balance in balances)
    added = stacked(r.multipliers for r in massless)
    for i in set(ca.jacobian_sparsity(motion.balances, added).get_triplet()[0]) if added.numel() else ():
        along[i] = motion.balances[i]
    motions = stacked(own - values(formula) for own, formula in zip(between, supported, strict=True))
    nodes = stacked(wrenches[edge] + values(load) for edge, load in zip(order, loads, strict=True))
    residual = stacked(
        [
            *resolve([along]),
            chosen(local.acceleration, local.kept),
            *resolve([motions, nodes]),
        ]
    )
    (residual,) = constraints.without_dropped([residual])
    return residual, ca.vertcat(formulation.vectors.a, constraints.kept_multipliers, *between, *wrenches.values())


def reduced(A: ca.SX, b: ca.SX, speeds: int, kept: int) -> Reduced:
    """Eliminate what is cheap to eliminate of A s = b, and leave out what does not touch the first `kept` unknowns.

    The rows from `speeds` to `kept` keep their places, so that right sides which are zero elsewhere stay what they are.
    """
    system = _Elimination(A, b, speeds, kept)
    system.run()
    entries = [(i, j, value) for i in system.open_rows for j, value in system.rows[i].items()]
    size = A.size1()
    rows_of_entries, columns_of_entries = [i for i, _, _ in entries], [size + j for _, j, _ in entries]
    touching = ca.Sparsity.triplet(2 * size, 2 * size, rows_of_entries, columns_of_entries)
    count, order, offsets = (touching + touching.T).scc()
    part = {node: number for number in range(count) for node in order[offsets[number] : offsets[number + 1]]}
    needed = {part[size + j] for j in range(kept)}
    columns = [j for j in sorted(system.open_columns) if part[size + j] in needed]
    held = range(speeds, kept)
    others = iter([i for i in sorted(system.open_rows) if part[i] in needed and i not in held])
    rows = [k if k in held else next(others) for k in range(len(columns))]
    row_places, column_places = ({number: place for place, number in enumerate(n)} for n in (rows, columns))
    found = sorted((column_places[j], row_places[i], value) for i, j, value in entries if part[i] in needed)
    values, right = cse([stacked(v for _, _, v in found), stacked(system.right[i] for i in rows)])
    numbers = {p: k for k, p in enumerate(dict.fromkeys(part[size + j] for j in range(kept)))}
    parts = tuple(numbers[part[size + j]] for j in range(kept))
    return Reduced(ca.densify(values), tuple((i, j) for j, i, _ in found), ca.densify(right), parts)


class _Elimination:
    """Gauss's elimination in symbols, as far as it pays, along entries of 1 or -1: nothing is divided."""

    def __init__(self, A: ca.SX, b: ca.SX, speeds: int, kept: int) -> None:
        self.held, self.kept = range(speeds, kept), kept
        self.rows: list[dict[int, ca.SX]] = [{} for _ in range(A.size1())]
        self.columns: list[set[int]] = [set() for _ in range(A.size1())]
        for i, j, value in zip(*A.sparsity().get_triplet(), elements(A.nz[:]), strict=True):
            if not value.is_zero():
                self.rows[i][j] = value
                self.columns[j].add(i)
        self.right = elements(b)
        self.open_rows, self.open_columns = set(range(A.size1())), set(range(A.size1()))
        self._candidates: list[tuple[int, int, int]] = []

    def run(self) -> None:
        """Eliminate the cheapest first (Markowitz), until each one left costs more than it saves."""
        for i in range(len(self.rows)):
            self._suggest(i)
        while self._candidates:
            cost, i, j = heapq.heappop(self._candidates)
            if i not in self.open_rows or j not in self.rows[i] or not _is_unit(self.rows[i][j]):
                continue
            now = self._cost(i, j)
            if now > cost:
                heapq.heappush(self._candidates, (now, i, j))
            elif now <= PRODUCTS * (len(self.rows[i]) + len(self.columns[j])):
                self._eliminate(i, j)

    def _cost(self, i: int, j: int) -> int:
        return (len(self.rows[i]) - 1) * (len(self.columns[j]) - 1)

    def _suggest(self, i: int) -> None:
        if i in self.held:
            return
        for j, value in self.rows[i].items():
            if j >= self.kept and _is_unit(value):
                heapq.heappush(self._candidates, (self._cost(i, j), i, j))

    def _eliminate(self, i: int, j: int) -> None:
        row = self.rows[i]
        for column in row:
            self.columns[column].discard(i)
        pivot = row.pop(j)
        touched = sorted(self.columns[j])
        for k in touched:
            factor = _product(self.rows[k].pop(j), pivot)  # divided by a pivot that is its own inverse
            for column, value in row.items():
                old = self.rows[k].get(column)
                new = _product(-factor, value) if old is None else _difference(old, _product(factor, value))
                if new.is_zero():
                    self.rows[k].pop(column, None)
                    self.columns[column].discard(k)
                else:
                    self.rows[k][column] = new
                    self.columns[column].add(k)
            self.right[k] = _difference(self.right[k], _product(factor, self.right[i]))
        self.columns[j].clear()
        self.open_rows.discard(i)
        self.open_columns.discard(j)
        for k in touched:
            self._suggest(k)


def _is_unit(value: ca.SX) -> bool:
    return value.is_constant() and abs(float(value)) == 1


@dataclasses.dataclass(frozen=True)
class Sparse:
    """w as the first of the unknowns of a sparse system A s = b.

    `residual_of_w` is what is zero for the right w alone: balances and constraint accelerations.
    """

    w: ca.SX
    reduced: Reduced
    residual_of_w: ca.SX
    pivots: tuple[tuple[int, int], ...]
    is_recursive = False
    along_forces = True

    @classmethod
    def of(cls, formulation: Formulation) -> Sparse | None:
        """Take the equations apart; None where they are not linear. Pivots are chosen around the start."""
        vectors, constraints = formulation.vectors, formulation.constraints
        residual, unknowns = linear_system(formulation)
        A = slope(residual, unknowns)
        if ca.depends_on(A, unknowns):
            return None
        b = -ca.substitute(residual, unknowns, ca.SX.zeros(unknowns.numel()))
        w = ca.vertcat(vectors.a, constraints.kept_multipliers)
        small = reduced(A, b, vectors.v.numel(), w.numel())
        places = samples(small.values, formulation)
        of_w = ca.vertcat(formulation.balances, chosen(constraints.acceleration, constraints.kept))
        (of_w,) = constraints.without_dropped([of_w])
        return cls(w, small, of_w, pivots(small.sparsity, small.right.numel(), places))

    @property
    def sparsity(self) -> tuple[tuple[int, int], ...]:
        """Row and column of each value of A."""
        return self.reduced.sparsity

    @functools.cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Index sets of w whose equations are independent of each other."""
        parts = self.reduced.parts
        return tuple(tuple(i for i, p in enumerate(parts) if p == part) for part in range(max(parts, default=-1) + 1))

    def residual(self, vectors: Vectors) -> ca.SX:
        """What is zero for the right w."""
        return self.residual_of_w

    def dynamics(self, vectors: Vectors) -> ca.Function:
        """Values of A, and b."""
        return ca.Function("dynamics", vectors.arguments, [self.reduced.values, self.reduced.right])

    def dependence(self, vectors: Vectors) -> list[set[int]]:
        """All that the equations of an entry's part depend on."""
        knowns, parts = ca.vertcat(vectors.x, vectors.u), self.reduced.parts
        pairs = ca.jacobian_sparsity(self.residual_of_w, self.w).get_triplet()
        part_of_row = {i: parts[j] for i, j in zip(*pairs, strict=True)}
        known: dict[int, set[int]] = {}
        for i, j in zip(*ca.jacobian_sparsity(self.residual_of_w, knowns).get_triplet(), strict=True):
            known.setdefault(part_of_row.get(i, parts[i]), set()).add(j)
        return [known.get(part, set()) for part in parts]


def samples(entries: ca.SX, formulation: Formulation) -> list[np.ndarray]:
    """Values of A at the start and at random places around it; where one is not finite, the place is left out."""
    vectors, parameters = formulation.vectors, formulation.parameters
    P = parameters.default_P
    x = np.array(parameters.by_default(formulation.start)).ravel()
    values = ca.Function("values", vectors.arguments, [entries])
    random, nq = np.random.default_rng(0), vectors.q.numel()
    inputs, found = list(formulation.values.start_inputs), []
    for sample in range(SAMPLES):
        near = x.copy()
        if sample:
            near[:nq] += DISTANCE * random.normal(size=nq)
        modes = np.full(vectors.m.numel(), sample % 2)
        there = np.array(values(formulation.start_time, near, ca.DM(inputs), P, modes)).ravel()
        if np.isfinite(there).all():
            found.append(there)
    return found
