"""The formulation of a system: all that stages which solve, start and show it work on, in symbols."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable

import casadi as ca

from mbfmu.dynamics.columns import stacked
from mbfmu.dynamics.expressions.constraints import Choice, Constraints, Rows, constrained
from mbfmu.dynamics.expressions.equations_of_motion import Motion
from mbfmu.dynamics.expressions.iterations import Iterations, linearised
from mbfmu.dynamics.expressions.parameters import Parameters
from mbfmu.dynamics.expressions.starts import Starts, guessed
from mbfmu.dynamics.expressions.values import Values, evaluated
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.dynamics.structure.equation_graph import EquationGraph
from mbfmu.dynamics.structure.wanted import Wanted


@dataclasses.dataclass(frozen=True)
class Formulation:
    """Values of all quantities, the motion that they give, constraint rows, start values and parameters."""

    wanted: Wanted
    values: Values
    motion: Motion
    #: All rows, and the choice of those that are kept.
    rows: tuple[Rows, ...]
    constraints: Constraints
    starts: Starts
    parameters: Parameters
    start_time: float

    @classmethod
    def of(cls, graph: EquationGraph, wanted: Wanted, start_time: float) -> Formulation:
        """Make the expressions of a graph, and what follows from them; all constraint rows are kept yet.

        Raises:
            ModelError: equations have no solution, or any; parameters or start values are wrong.
        """
        values, motion, rows = linearised(*constrained(evaluated(graph), wanted.loops))
        starts = Starts.of(values)
        parameters = Parameters.of(values.topology.all_components, starts.entries_of_p)
        parameters.check_behaviours(values.behaviours)
        bound = [entry for entry in starts.all if entry.number is None]
        parameters.check_known([entry.start for entry in bound], lambda i: bound[i].label)
        constraints = Constraints.of(rows, parameters.resolve)
        return cls(wanted, values, motion, tuple(rows), constraints, starts, parameters, start_time)

    def moved(self, guesses: Iterable[tuple[ca.SX, float]]) -> Formulation:
        """The same with other guesses of some unknowns."""
        starts, parameters = self.starts.move(self.parameters, guesses)
        return dataclasses.replace(self, starts=starts, parameters=parameters)

    def keeping(self, choice: Choice) -> Formulation:
        """The same with only these constraint rows kept.

        Raises:
            ModelError: a signal follows from a row that is none of them.
        """
        return dataclasses.replace(self, constraints=self.constraints.only(choice))

    def resolved(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions with passed-on parameters as what they pass on, and zero for multipliers of dropped rows."""
        return self.constraints.without_dropped(self.parameters.resolve(expressions))

    @functools.cached_property
    def balances(self) -> ca.SX:
        """Balances of forces along each speed, in parameters that have places."""
        return self.parameters.resolve([self.motion.balances])[0]

    @functools.cached_property
    def rates(self) -> ca.SX:
        """dx/dt."""
        motion = self.motion
        return stacked(self.resolved([motion.position_rates, motion.speed_rates, motion.state_rates]))

    @functools.cached_property
    def vectors(self) -> Vectors:
        """The vectors of the contract as symbols."""
        return Vectors.of(self.values, self.parameters)

    @functools.cached_property
    def start(self) -> ca.SX:
        """States of the start, as far as start values tell them, in parameters."""
        return guessed(self.values, self.starts, self.parameters, self.vectors.x)

    @functools.cached_property
    def iterations(self) -> Iterations:
        """What runtimes find by Newton's method."""
        return Iterations.of(self.values, self.starts, self.parameters, self.constraints)
