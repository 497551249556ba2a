"""What the equation graph looks like, in names and numbers: quantities, what each needs, blocks, and what is sought."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mbfmu.dynamics.structure import quantities
from mbfmu.dynamics.structure.equation_graph import Block, EquationGraph
from mbfmu.modeling import leaves

#: What the kinds of quantities are called, in the order in which they are told.
KINDS: Mapping[type, str] = {
    quantities.Time: "time",
    quantities.InputOf: "inputs",
    quantities.CoordinateOf: "coordinates",
    quantities.UnknownOf: "unknowns of components",
    quantities.MultiplierOf: "constraint forces",
    quantities.ScalarMotion: "positions that relations give",
    quantities.RelativeMotion: "motions of joints and parts",
    quantities.MotionBeyond: "motions beyond joints and parts",
    quantities.FrameMotion: "motions of frames",
    quantities.SpeedRate: "rates of relative speeds",
    quantities.Assigned: "assignments",
    quantities.LeafOf: "what is differentiated",
    quantities.TotalDerivative: "derivatives",
    quantities.Shared: "sums that others share",
    quantities.Wrench: "cut forces and torques",
    quantities.RelationForce: "forces of relations",
    quantities.Coefficient: "ratios of relations",
    quantities.Flow: "flows through connectors",
    quantities.Potential: "potentials",
    quantities.LinkOf: "unknowns of relations between potentials",
    quantities.ImpliedSignal: "implied signals",
}
_ORDERS = ("positions", "speeds", "accelerations")
_UNKNOWNS: Mapping[type, str] = {
    leaves.Quaternion: "positions",
    leaves.Speed: "speeds",
    leaves.Acceleration: "accelerations",
    leaves.State: "states",
    leaves.Multiplier: "constraint forces",
    leaves.Mode: "modes of switches",
    leaves.Held: "held values",
    leaves.Delayed: "delayed signals",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """A quantity: its name, its kind, and the numbers of those that it needs."""

    name: str
    kind: str
    needs: tuple[int, ...]
    #: True where nothing gives it but an equation, or it is a symbol of its own.
    is_sought: bool = False


@dataclasses.dataclass(frozen=True)
class BlockEntry:
    """Quantities that are made together, by their numbers; those that are torn come first."""

    first: int
    size: int
    torn: int
    #: "formula": one after the other; "linear": solved in symbols; "iterated": by Newton's method while the model runs.
    solved: str
    #: Names of what is iterated.
    iterated: tuple[str, ...] = ()

    @property
    def numbers(self) -> range:
        """Numbers of its quantities."""
        return range(self.first, self.first + self.size)


@dataclasses.dataclass(frozen=True)
class EquationReport:
    """Quantities in the order in which they are made, so that what each needs makes a block lower triangular matrix."""

    name: str
    quantities: tuple[Entry, ...]
    blocks: tuple[BlockEntry, ...]
    #: What is sought, and the equation that gives it.
    sought: tuple[tuple[str, str], ...]
    #: Rows of the equations of motion: balances of forces along speeds, and constraints.
    balances: int
    constraints: int
    #: What is iterated because equations of motion are not linear in it.
    iterated_motion: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        graph: EquationGraph,
        iterated: Mapping[tuple[Any, ...], Sequence[str]],
        balances: int = 0,
        constraints: int = 0,
    ) -> EquationReport:
        """The report of a graph.

        Args:
            name: what the model is called.
            graph: its quantities.
            iterated: torn quantities of the blocks that are not linear -> names of their iteration variables; of
                accelerations under ().
            balances, constraints: numbers of rows of the equations of motion.
        """
        structure = graph.structure
        order = [quantity for block in graph.blocks for quantity in block.all]
        number = {quantity: i for i, quantity in enumerate(order)}
        entries = [
            Entry(
                quantity.name(structure),
                kind_of(quantity),
                tuple(dict.fromkeys(number[n] for n in graph.formulas[quantity].needs if n in number)),
                quantity.is_sought,
            )
            for quantity in order
        ]
        blocks, first = [], 0
        for block in graph.blocks:
            blocks.append(_entry(block, first, iterated))
            first += len(block.all)
        pairs: dict[Any, Any] = {**graph.open_signals, **graph.matched}
        sought = tuple(
            (quantity.name(structure), _equation(quantity, giver, graph)) for quantity, giver in pairs.items()
        )
        motion = tuple(iterated.get((), ()))
        return cls(name, tuple(entries), tuple(blocks), sought, balances, constraints, motion)

    @property
    def kinds(self) -> dict[str, int]:
        """How many quantities there are of each kind."""
        found = Counter(entry.kind for entry in self.quantities)
        return {kind: found[kind] for kind in _KINDS if found[kind]}

    @property
    def sizes(self) -> dict[int, int]:
        """Size of blocks -> how many there are of it, in the order of sizes."""
        return dict(sorted(Counter(block.size for block in self.blocks).items()))

    @property
    def loops(self) -> list[BlockEntry]:
        """Blocks whose quantities need each other."""
        return [block for block in self.blocks if block.solved != "formula"]

    @property
    def entries(self) -> int:
        """How many entries the matrix has beside its diagonal."""
        return sum(len(entry.needs) for entry in self.quantities)

    def names(self, numbers: Collection[int]) -> list[str]:
        """Names of quantities."""
        return [self.quantities[i].name for i in numbers]

    def torn(self, block: BlockEntry) -> list[str]:
        """Names of what is torn in a block."""
        return self.names(range(block.first, block.first + block.torn))


def kind_of(quantity: Any) -> str:
    """What the kind of a quantity is called."""
    if isinstance(quantity, quantities.CoordinateOf):
        return _ORDERS[quantity.order]
    if isinstance(quantity, quantities.UnknownOf):
        return _UNKNOWNS.get(type(quantity.own.leaf), KINDS[quantities.UnknownOf])
    return KINDS[type(quantity)]


def _entry(block: Block, first: int, iterated: Mapping[tuple[Any, ...], Sequence[str]]) -> BlockEntry:
    solved, names = "formula", iterated.get(block.torn, ()) if block.torn else ()
    if block.torn:
        solved = "iterated" if block.torn in iterated else "linear"
    return BlockEntry(first, len(block.all), len(block.torn), solved, tuple(names))


def _equation(quantity: Any, giver: Any, graph: EquationGraph) -> str:
    text: str = giver.equation(graph.structure)
    return f"a derivative of {text}" if quantity in graph.open_signals else text


_KINDS = list(dict.fromkeys([*_ORDERS, *_UNKNOWNS.values(), *KINDS.values()]))
