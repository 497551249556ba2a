"""What is wanted of a system, told once, before any of it is made; and the structure in which all of it can be made."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import casadi as ca

from mbfmu.dynamics.constraints import RowFormulas, closed_loops
from mbfmu.dynamics.drawing import Sketches, sketched
from mbfmu.dynamics.energy import connector_powers, energy_totals
from mbfmu.dynamics.inputs import Inputs
from mbfmu.dynamics.scope import Behaviour
from mbfmu.dynamics.structure.equation_graph import EquationGraph
from mbfmu.dynamics.structure.quantities import CoordinateOf, ImpliedSignal, MultiplierOf, UnknownOf
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.topology import ScalarNode, Topology
from mbfmu.modeling import leaves
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Shown, shown_orientation
from mbfmu.modeling.formulas import Formula
from mbfmu.modeling.types import Orientation


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Formulas of all that later stages ask for."""

    #: Variables and connectors of all components, by path.
    shown: Mapping[str, Sequence[Shown]]
    #: What components draw; nothing unless a scene is asked for.
    sketches: Sequence[Sketches]
    #: Constraint rows.
    loops: Sequence[RowFormulas]
    #: Balances of forces along speeds.
    balances: Sequence[Formula]
    #: Rates of states, and all that the equations of components say beside their assignments.
    others: Sequence[Formula]

    @classmethod
    def of(cls, structure: Structure, energy: bool = False, scene: bool = False) -> Wanted:
        """Ask all components.

        Args:
            structure: who is where.
            energy: powers and energies are wanted, too.
            scene: components are to draw themselves.

        Raises:
            ModelError: a variable that nothing gives a value, a component that draws what it cannot.
        """
        return cls(
            shown(structure, energy),
            sketched(structure) if scene else (),
            closed_loops(structure),
            [balance for key in structure.unknowns.v for balance in structure.balances(key)],
            [*_rates(structure), *(f for p, b in structure.behaviours.items() for f in _said(structure, p, b))],
        )

    @property
    def formulas(self) -> Iterator[Formula]:
        """All of them: motion along the tree first, then loads back."""
        yield from self.balances
        for row in self.loops:
            yield from row.formulas
        yield from self.others
        for entries in self.shown.values():
            yield from (formula for *_, formula in entries)
        yield from (sketch.formula for sketch in self.sketches)


def _rates(structure: Structure) -> Iterator[Formula]:
    for key in structure.unknowns.v:
        yield structure.speed_rate(key)
    for own in structure.unknowns.z:
        yield structure.target(own.path, leaves.StateRate(str(own.leaf)))


def _said(structure: Structure, path: str, behaviour: Behaviour) -> Iterator[Formula]:
    """What the equations of a component say beside what they assign."""
    said = [
        *behaviour.conditions,
        *(expression for expression, _ in (*behaviour.initial, *behaviour.checks, *behaviour.endings)),
        *behaviour.times,
        *behaviour.switches,
        *(part for delay in behaviour.delays for part in (delay.signal, delay.time, delay.most)),
        *behaviour.before,
        *(kept.start for kept in behaviour.held if kept.start is not None),
        *behaviour.energies.values(),
        *(kinetic for kinetic, _ in behaviour.on_top),
    ]
    for expression in said:
        yield structure.local(path, expression)
    # Of what events make, values before them are given by then (mbfmu.dynamics.updates).
    before = {leaves.Pre(i): Formula.constant(ca.SX(0)) for i in range(len(behaviour.before))}
    changed = [part for reset in behaviour.resets for part in (reset.active, reset.value)]
    for expression in (*changed, *(kept.rule for kept in behaviour.held)):
        yield structure.local(path, expression, before)
    for reset in behaviour.resets:
        yield structure.variable(path, reset.name)
    if path in structure.topology.free_joints:  # which is no component of the assembly, and has start values
        for name in behaviour.component.variables():
            yield structure.variable(path, name)


def shown(structure: Structure, energy: bool = False) -> dict[str, list[Shown]]:
    """Variables and connectors of all components, by path; with `energy` also powers and energies."""
    found: dict[str, list[Shown]] = {}
    for path, component in structure.flat.components.items():
        found[path] = list(_variables_of(structure, path, component))
        for port in component.ports().values():
            found[path] += port.shown(structure, path)
        if energy and path in structure.flat.elementary:
            found[path] += connector_powers(structure, path)
    if energy:
        found[""] += energy_totals(structure)
    return found


def _variables_of(structure: Structure, path: str, component: Component) -> Iterator[Shown]:
    for name, declaration in component.variables().items():
        formula = structure.variable(path, name)
        if declaration.type is Orientation:
            turning = structure.target(path, leaves.AngularVelocityOf(name))
            yield from shown_orientation(name, declaration.doc, formula, turning)
        else:
            yield name, declaration.type, declaration.doc, declaration.shape(component), formula


def settled(
    topology: Topology, inputs: Inputs, energy: bool = False, scene: bool = False
) -> tuple[EquationGraph, Wanted]:
    """The equation graph of a topology, and what is wanted of it.

    Where the force of a relation needs itself, the relation becomes a constraint, so that its force is an unknown as
    other multipliers are. Rows act on accelerations of nodes themselves, so coordinates that they know are made absolute.

    Raises:
        ModelError: nothing determines some unknowns of networks, or nothing gives a variable its value.
    """
    while True:
        structure = Structure.of(topology, inputs)
        wanted = Wanted.of(structure, energy, scene)
        graph = EquationGraph.of(structure, wanted.formulas)
        relation = graph.relation_in_loop()
        if relation is not None:
            topology = topology.keeping([relation])
            continue
        known = _relative_in_rows(graph, wanted) if topology.relative else []
        if not known:
            return graph, wanted
        topology = topology.without_relative(known)


def _relative_in_rows(graph: EquationGraph, wanted: Wanted) -> list[ScalarNode]:
    """Nodes with relative coordinates that constraint rows know: also balances without accelerations, and conditions."""
    relative = graph.structure.topology.relative
    if graph.open_signals:
        return list(relative)
    formulas = [f for row in wanted.loops for f in (row.position, row.velocity) if f is not None]
    found = [graph.reached(formula) for formula in formulas]
    for balance in wanted.balances:
        reached = graph.reached(balance)
        if not any(_is_acceleration(quantity) for quantity in reached):
            found.append(reached)
    known = set().union(*found) if found else set()
    return [node for node in relative if not known.isdisjoint((CoordinateOf(node, 0), CoordinateOf(node, 1)))]


def _is_acceleration(quantity: object) -> bool:
    """True for what balances are solved for."""
    if isinstance(quantity, CoordinateOf):
        return quantity.order == 2
    if isinstance(quantity, UnknownOf):
        return isinstance(quantity.own.leaf, leaves.Acceleration | leaves.Multiplier)
    return isinstance(quantity, MultiplierOf | ImpliedSignal)
