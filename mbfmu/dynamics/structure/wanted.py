"""What is wanted of a system, told once, before any of it is made; and the structure in which all of it can be made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

from mbfmu.dynamics.reading.inputs import Inputs
from mbfmu.dynamics.structure.constraint_rows import RowFormulas
from mbfmu.dynamics.structure.equation_graph import EquationGraph
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.structure.topology import Topology
from mbfmu.modeling.connectors import Shown
from mbfmu.modeling.formulas import Formula


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Formulas of all that later stages ask for."""

    #: Variables and connectors of all components, by path.
    shown: Mapping[str, Sequence[Shown]]
    #: Constraint rows.
    loops: Sequence[RowFormulas]
    #: Balances of forces along speeds.
    balances: Sequence[Formula]
    #: Rates of states, all that the equations of components say beside their assignments, and what they draw.
    others: Sequence[Formula]

    @property
    def formulas(self) -> Iterator[Formula]:
        """All of them: motion along the tree first, then loads back."""
        yield from self.balances
        for row in self.loops:
            yield from row.formulas
        yield from self.others
        for entries in self.shown.values():
            yield from (formula for *_, formula in entries)


def settled(topology: Topology, inputs: Inputs, ask: Callable[[Structure], Wanted]) -> tuple[EquationGraph, Wanted]:
    """The equation graph of a topology, and what is wanted of it, which `ask` tells of a structure.

    Where the force of a relation needs itself, the relation becomes a constraint, so that its force is an unknown as
    other multipliers are. Rows act on accelerations of nodes themselves, so coordinates that they know become absolute.

    Raises:
        ModelError: nothing determines some unknowns of networks, nothing gives a variable its value, or a condition
            needs itself.
    """
    while True:
        structure = Structure.of(topology, inputs)
        wanted = ask(structure)
        graph = EquationGraph.of(structure, wanted.formulas)
        relation = graph.relation_in_loop()
        absolute = [] if relation is not None else graph.relative_in(wanted.loops, wanted.balances)
        if relation is None and not absolute:
            graph.check_loops()
            return graph, wanted
        topology = topology.without(relation, absolute)
