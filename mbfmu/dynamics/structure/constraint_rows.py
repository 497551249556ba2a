"""Constraint rows as formulas: what cut joints, components, relations and repeated positions keep."""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Iterator

import casadi as ca

from mbfmu.dynamics.columns import stacked
from mbfmu.dynamics.structure.frame_graph import GROUND, Edge
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.structure.unknowns import Own
from mbfmu.errors import ModelError
from mbfmu.frames import rotation_vector
from mbfmu.messages import heading, of
from mbfmu.modeling import leaves
from mbfmu.modeling.formulas import Formula
from mbfmu.modeling.names import joined


@dataclasses.dataclass(frozen=True)
class RowFormulas:
    """Constraint rows before they have values."""

    name: str
    position: Formula | None
    velocity: Formula
    acceleration: Formula
    multipliers: ca.SX

    @property
    def formulas(self) -> list[Formula]:
        """All of them."""
        return [f for f in (self.position, self.velocity, self.acceleration) if f is not None]


def closed_loops(structure: Structure) -> list[RowFormulas]:
    """Rows of cut joints, of components, of relations that close loops, and of positions that are prescribed twice."""
    cuts = [_weld(structure, edge) for edge in structure.topology.edges if edge.role == "cut"]
    return [*cuts, *_of_components(structure), *_of_relations(structure), *_of_repeated(structure)]


def _weld(structure: Structure, edge: Edge) -> RowFormulas:
    """A cut joint keeps its coordinates; its second frame b is welded to the first.

    Positions and velocities of both are as seen from where the loop begins: so they know the joints of the loop, and
    none that lead to it. On the constraints that is the same as seen from the ground.
    """
    base = structure.loop_base(edge)

    def both(linear: str, angular: str, base: int = base) -> tuple[Formula, ...]:
        ends = ((structure.beyond(edge, what, base), structure.frame(edge.b, what, base)) for what in (linear, angular))
        return (structure.frame(edge.b, "T", base), *itertools.chain.from_iterable(ends))

    def apart(T: ca.SX, r_2: ca.SX, r_1: ca.SX, w_2: ca.SX, w_1: ca.SX) -> ca.SX:
        return ca.vertcat(T @ (r_2 - r_1), w_2 - w_1)

    def turned(T: ca.SX, r_2: ca.SX, r_1: ca.SX, T_2: ca.SX, T_1: ca.SX) -> ca.SX:
        return ca.vertcat(T @ (r_2 - r_1), rotation_vector(T_2 @ T_1.T))

    return RowFormulas(
        f"cut of {edge.path}",
        Formula.combined(turned, *both("r_0", "T")),
        Formula.combined(apart, *both("v_0", "w")),
        Formula.combined(apart, *both("a_0", "z", GROUND)),
        structure.unknowns.multipliers[edge],
    )


def _of_components(structure: Structure) -> Iterator[RowFormulas]:
    for path, behaviour in structure.behaviours.items():
        for c in behaviour.constraints:
            multipliers = stacked(structure.unknowns.own[Own(path, leaves.Multiplier(name))] for name in c.multipliers)
            if multipliers.numel() != c.velocity.numel():
                raise ModelError(
                    f"{heading(path)}constrain({', '.join(c.multipliers)}) has {c.velocity.numel()} rows for "
                    f"{multipliers.numel()} multipliers; give one of each"
                )
            position = None if c.position is None else structure.local(path, c.position)
            velocity, acceleration = (structure.local(path, part) for part in (c.velocity, c.acceleration))
            yield RowFormulas(f"{path} {c.name}".strip(), position, velocity, acceleration, multipliers)


def _of_relations(structure: Structure) -> Iterator[RowFormulas]:
    for relation in structure.topology.relations:
        if relation.solves is None:
            derivative = structure.behaviours[relation.path].derivative
            rate = derivative(relation.expression)
            parts = (relation.expression, rate, derivative(rate))
            name = of(f"relation {relation.index + 1}", relation.path)
            position, velocity, acceleration = (structure.local(relation.path, part) for part in parts)
            multiplier = structure.unknowns.multipliers[relation.key]
            yield RowFormulas(name, position, velocity, acceleration, multiplier)


def _of_repeated(structure: Structure) -> Iterator[RowFormulas]:
    for path, connector in structure.topology.repeated:
        node = structure.topology.flange_node(path, connector)
        position, velocity, acceleration = (
            Formula.combined(operator.sub, structure.scalar(node, order), structure.prescribed(path, connector, order))
            for order in (0, 1, 2)
        )
        multiplier = structure.unknowns.multipliers[(path, connector)]
        yield RowFormulas(joined(path, connector), position, velocity, acceleration, multiplier)
