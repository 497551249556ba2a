"""Values: every quantity as an expression in states, accelerations, multipliers, inputs and parameters."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import casadi as ca

from mbfmu.dynamics.columns import elements, hashes, stacked
from mbfmu.dynamics.reading.behaviour import Behaviour, LocalNames
from mbfmu.dynamics.reading.flatten import Flat
from mbfmu.dynamics.reading.inputs import Inputs
from mbfmu.dynamics.structure.elimination import solve
from mbfmu.dynamics.structure.equation_graph import Block, EquationGraph
from mbfmu.dynamics.structure.quantities import Assigned, Differential, ImpliedSignal, needs_its_derivative
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.structure.topology import Topology
from mbfmu.dynamics.structure.unknowns import Coordinate, Own, Unknowns
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.formulas import Formula, Quantity


@dataclasses.dataclass(frozen=True)
class Iteration:
    """A block that is not linear: its unknowns are found by the runtime, such that `residual` is zero."""

    #: The quantities that are torn, each with the scalars that stand for it.
    torn: tuple[Quantity, ...]
    names: tuple[str, ...]
    nominals: tuple[float, ...]
    #: Where the search for them begins, unless start values say.
    guesses: tuple[float, ...]
    symbols: ca.SX
    residual: ca.SX
    #: All quantities of the block, for messages.
    members: tuple[Quantity, ...]


@dataclasses.dataclass(frozen=True)
class Values:
    """The expressions of a structure's quantities. It does not change: what it was not made for, it does not know."""

    structure: Structure
    graph: EquationGraph
    known: Mapping[Quantity, ca.SX]
    #: What linear blocks were divided by, with what to say where that is singular.
    divisors: Mapping[str, ca.SX]
    #: Blocks that are not linear.
    iterations: tuple[Iteration, ...]

    def __call__(self, formula: Formula) -> Any:
        """The value of a formula."""
        return formula.value(self.known)

    # -- what others ask for

    @property
    def topology(self) -> Topology:
        """The topology that the values are of."""
        return self.structure.topology

    @property
    def flat(self) -> Flat:
        """The flat assembly."""
        return self.structure.flat

    @property
    def unknowns(self) -> Unknowns:
        """Symbols of the unknowns."""
        return self.structure.unknowns

    @property
    def inputs(self) -> Inputs:
        """Inputs."""
        return self.structure.inputs

    @property
    def behaviours(self) -> Mapping[str, Behaviour]:
        """What the equations of the components say."""
        return self.structure.behaviours

    def locals(
        self,
        path: str,
        expressions: Iterable[ca.SX],
        given: Mapping[leaves.Leaf, ca.SX] = MappingProxyType({}),
        names: LocalNames | None = None,
    ) -> list[ca.SX]:
        """Local expressions of a component with every leaf replaced by its value, or by what is given for it."""
        put = {leaf: Formula.constant(value) for leaf, value in given.items()}
        found: list[ca.SX] = self(self.structure.locals(path, expressions, put, names))
        return found

    def of_all(self, expressions: Callable[[Behaviour], Iterable[ca.SX]]) -> ca.SX:
        """Some expressions of each component, with the values of leaves, as one column."""
        return stacked(
            self.locals(path, [expression])[0]
            for path, behaviour in self.behaviours.items()
            for expression in expressions(behaviour)
        )

    def target(self, path: str, target: leaves.Target) -> ca.SX:
        """What the equations of a component assign to a target."""
        return self.known[Assigned(path, target)]

    def variable(self, path: str, name: str) -> ca.SX:
        """A declared variable of a component (a column)."""
        value: ca.SX = self(self.structure.variable(path, name))
        return value

    def balances(self, key: Coordinate) -> list[Formula]:
        """Sums of the flows along the speeds of a coordinate: zero for the right accelerations."""
        if isinstance(key, Own) and isinstance(key.leaf, leaves.Implied):
            return [self._condition_of(key)]
        return self.structure.balances(key)

    def condition_of(self, signal: Own) -> ca.SX:
        """The condition that an open implied signal belongs to: zero for the right value."""
        value: ca.SX = self(self._condition_of(signal))
        return value

    def _condition_of(self, signal: Own) -> Formula:
        return self.graph.open_signals[ImpliedSignal(signal)].formula(self.structure)

    def binding(self, found: Collection[tuple[str, leaves.Leaf]]) -> Values:
        """The same where these states and signals are part of what conditions keep."""
        return dataclasses.replace(self, structure=self.structure.binding(found))

    # -- derivatives

    @functools.cached_property
    def position_rates(self) -> ca.SX:
        """dq/dt."""
        return stacked(self.unknowns.position_rates(key) for key in self.unknowns.q)

    @functools.cached_property
    def speed_rates(self) -> ca.SX:
        """dv/dt."""
        return stacked(self(self.structure.speed_rate(key)) for key in self.unknowns.v)

    @functools.cached_property
    def state_rates(self) -> ca.SX:
        """dz/dt."""
        return stacked(self.target(own.path, leaves.StateRate(str(own.leaf))) for own in self.unknowns.z)

    @functools.cached_property
    def _states(self) -> tuple[ca.SX, ca.SX]:
        """Time and states, and their rates."""
        unknowns = self.unknowns
        states = ca.veccat(unknowns.time, *unknowns.q.values(), *unknowns.v.values(), *unknowns.z.values())
        return states, ca.veccat(1, self.position_rates, self.speed_rates, self.state_rates)

    def total_derivative(self, expression: ca.SX) -> ca.SX:
        """d/dt of an expression in time, states and what iterations find."""
        return ca.jtimes(expression, *_moved(expression, *self._states, self.iterations))

    @functools.cached_property
    def start_inputs(self) -> tuple[float, ...]:
        """Values of u where initialisation begins: of delayed signals and of iterations nothing is known there."""
        delayed, iterated = stacked(self.unknowns.delayed.values()), self.iterated
        return (*self.inputs.starts, *(0.0,) * (delayed.numel() + iterated.numel()))

    @property
    def torn(self) -> dict[Quantity, ca.SX]:
        """What iterations find, as given in further evaluations of the same quantities."""
        return {quantity: self.known[quantity] for iteration in self.iterations for quantity in iteration.torn}

    @functools.cached_property
    def iterated(self) -> ca.SX:
        """The unknowns of all iterations."""
        return stacked(iteration.symbols for iteration in self.iterations)


def evaluated(graph: EquationGraph, given: Mapping[Quantity, ca.SX] = MappingProxyType({})) -> Values:
    """Make all quantities of a graph, block by block.

    Args:
        graph: the quantities and their formulas.
        given: values of quantities that it does not have.

    Raises:
        ModelError: a block has no solution, or any.
    """
    known: dict[Quantity, ca.SX] = dict(given)
    divisors: dict[str, ca.SX] = {}
    iterations: list[Iteration] = []
    for block in graph.blocks:
        if block.torn:
            _solve(graph, block, known, divisors, iterations)
        else:
            for quantity in block.members:
                known[quantity] = _made(graph, quantity, known, iterations)
    return Values(graph.structure, graph, known, divisors, tuple(iterations))


def _solve(
    graph: EquationGraph,
    block: Block,
    known: dict[Quantity, ca.SX],
    divisors: dict[str, ca.SX],
    iterations: list[Iteration],
) -> None:
    """Make the quantities of a block that need each other."""
    structure = graph.structure
    symbols = {q: ca.SX.sym(q.name(structure), *_shape(q, structure)) for q in block.torn}
    trial = known | symbols
    unknown = frozenset(hashes(elements(stacked(symbols.values()))))
    for quantity in block.members:
        trial[quantity] = _made(graph, quantity, trial, iterations, unknown)
    rows = []
    for quantity, symbol in symbols.items():
        value = _made(graph, quantity, trial, iterations, unknown)
        rows.append(ca.vec(value if quantity.is_sought else symbol - value))
    residual, column = ca.vertcat(*rows), stacked(symbols.values())
    slope = ca.sparsify(ca.jacobian(residual, column))
    if ca.depends_on(slope, column):
        solution, iteration = _iterated(graph, block, residual, column)
        iterations.append(iteration)
    else:
        divisors[structure.checked_block(block.all, slope)] = slope
        solution = solve(slope, -ca.substitute(residual, column, ca.SX.zeros(column.numel())))
    at = 0
    for quantity, symbol in symbols.items():
        known[quantity] = ca.reshape(solution[at : at + symbol.numel()], symbol.shape)
        at += symbol.numel()
    for quantity in block.members:
        known[quantity] = _made(graph, quantity, known, iterations)


def _made(
    graph: EquationGraph,
    quantity: Quantity,
    known: Mapping[Quantity, ca.SX],
    iterations: Sequence[Iteration],
    unknown: frozenset[int] = frozenset(),
) -> ca.SX:
    """The value of a quantity. `unknown`: symbols (element hashes) of what is torn, while its block is being solved.

    Raises:
        ModelError: it is the derivative of what has none.
    """
    value = graph.formulas[quantity].value(known)
    if not isinstance(value, Differential):
        found: ca.SX = value
        return found
    along, rates = _moved(value.value, value.along, value.rates, iterations)
    residuals = (iteration.residual for iteration in _iterations_of(value.value, iterations))
    used = frozenset(hashes(ca.symvar(stacked([value.value, *residuals]))))
    if used & unknown:
        raise ModelError(needs_its_derivative(value.name))
    if (used & graph.structure.moving) - frozenset(hashes(elements(along))):
        raise ModelError(
            f"{value.name}: the equations need the derivative of this, which depends on accelerations, delayed "
            "signals or inputs of the FMU; use a Derivative or a filter block in place of Der"
        )
    return ca.jtimes(value.value, along, rates)


def _moved(expression: ca.SX, along: ca.SX, rates: ca.SX, iterations: Sequence[Iteration]) -> tuple[ca.SX, ca.SX]:
    """Time and states with their rates, and what iterations find of that an expression depends on, with its rates.

    These follow from the theorem of implicit functions.
    """
    for iteration in _iterations_of(expression, iterations):
        slope = ca.jacobian(iteration.residual, iteration.symbols)
        change = -ca.jtimes(iteration.residual, along, rates)
        along, rates = ca.vertcat(along, iteration.symbols), ca.vertcat(rates, solve(slope, change))
    return along, rates


def _iterations_of(expression: ca.SX, iterations: Sequence[Iteration]) -> list[Iteration]:
    """Iterations whose unknowns an expression depends on, directly or through others, in their order."""
    found: list[Iteration] = []
    for iteration in reversed(iterations):
        known = ca.veccat(expression, *(later.residual for later in found))
        if ca.depends_on(known, iteration.symbols):
            found.append(iteration)
    return found[::-1]


def _shape(quantity: Quantity, structure: Structure) -> tuple[int, int]:
    shape = quantity.shape(structure)
    assert shape is not None
    return shape


def _iterated(graph: EquationGraph, block: Block, residual: ca.SX, column: ca.SX) -> tuple[ca.SX, Iteration]:
    """Solution of a block that is not linear: some of its unknowns are iterated, others follow from them.

    What stands in some linear row with 1 or -1, and in no law that is not linear, is told by that row.
    """
    structure, names, nominals, guesses = graph.structure, [], [], []
    for quantity in block.torn:
        size, name = int(ca.SX.zeros(*_shape(quantity, structure)).numel()), quantity.name(structure)
        names += [name] if size == 1 else [f"{name}[{i + 1}]" for i in range(size)]
        nominals += [quantity.nominal(structure)] * size
        guesses += [quantity.guess(structure)] * size
    symbols, rows = elements(column), elements(residual)
    kept = list(range(len(symbols)))
    solution = dict(enumerate(symbols))
    while len(kept) > 1 and (pivot := _told(rows, [symbols[i] for i in kept])) is not None:
        row, place, sign = pivot
        number = kept.pop(place)
        rest = ca.substitute(rows.pop(row), symbols[number], 0)
        value = -rest if sign > 0 else rest
        rows = elements(ca.substitute(stacked(rows), symbols[number], value))
        solution[number] = value
        for other, found in solution.items():
            if other != number and ca.depends_on(found, symbols[number]):
                solution[other] = ca.substitute(found, symbols[number], value)
    iteration = Iteration(
        block.torn,
        tuple(names[i] for i in kept),
        tuple(nominals[i] for i in kept),
        tuple(guesses[i] for i in kept),
        stacked(symbols[i] for i in kept),
        stacked(rows),
        block.all,
    )
    return stacked(solution[i] for i in range(len(symbols))), iteration


def _told(rows: Sequence[ca.SX], symbols: Sequence[ca.SX]) -> tuple[int, int, int] | None:
    """Row, number and sign of the symbol that is told by a linear row with the fewest others; None where there is none.

    What a steep law tells, as diodes a current, would be as many times less exact; what a law is of stays its argument.
    """
    column, unknowns = stacked(rows), stacked(symbols)
    slope = ca.jacobian(column, unknowns)
    curved, bent = (ca.which_depends(column, unknowns, 2, by_row) for by_row in (True, False))
    counts: dict[int, int] = {}
    entries = list(zip(*slope.sparsity().get_triplet(), elements(slope.nz[:]), strict=True))
    for i, *_ in entries:
        counts[i] = counts.get(i, 0) + 1
    candidates = [
        (counts[i], i, j, int(float(value)))
        for i, j, value in entries
        if not (curved[i] or bent[j]) and value.is_constant() and abs(float(value)) == 1
    ]
    return min(candidates)[1:] if candidates else None
