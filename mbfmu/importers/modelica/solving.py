"""Statements are solved for what they determine: one by one, or together where unknowns enter linearly."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica import values
from mbfmu.importers.modelica.evaluate import evaluate
from mbfmu.importers.modelica.making import Session
from mbfmu.importers.modelica.modifiers import element_in
from mbfmu.importers.modelica.statements import Statement
from mbfmu.importers.modelica.syntax import fault
from mbfmu.importers.modelica.types_of import of_type
from mbfmu.importers.modelica.unknowns import Unknown, Unknowns, name_of
from mbfmu.modeling import Variable
from mbfmu.modeling.connectors import Signal

#: Smaller parts of a sum are what rounding leaves.
_NOTABLE = 1e-9


class Solver:
    """Finds the unknowns of statements."""

    def __init__(self, unknowns: Unknowns, session: Session) -> None:
        self.unknowns, self.session = unknowns, session
        #: Symbols that stand for unknowns while statements are solved for them.
        self.guesses: tuple[Any, ...] = ()

    def run(self, statements: list[Statement]) -> None:
        """Find all unknowns of statements, in the order of dependence.

        Raises:
            ModelError: an equation that is not among those that are translated.
        """
        while statements:
            left = [e for e in statements if not self._assign(e)]
            if len(left) == len(statements):
                left = [e for e in statements if not self._solve([e])]
            if len(left) == len(statements):
                if not self._solve(statements, is_last=True):
                    self._refuse(statements)
                left = []
            statements = left

    def _assign(self, statement: Statement) -> bool:
        """Take `x = expression` or `expression = x` where the expression is known."""
        for side, other in ((statement.left, statement.right), (statement.right, statement.left)):
            target = self.unknowns.target(side, statement.env_of(side))
            if not target or self.unknowns.read_by(other, statement.env_of(other)):
                continue
            value = value_of_side(statement, other)
            elements = values.flat(value)
            if isinstance(value, list) and isinstance(side, s.Reference) and not self.unknowns.shapes[target[0][0]]:
                raise fault(
                    statement.left.at,
                    f"{statement.text}: {values.describe(value)} is given to {side}, which is a single value",
                )
            if len(elements) != len(target):
                raise fault(
                    statement.left.at,
                    f"{statement.text}: {len(target)} elements on one side, {len(elements)} on the other",
                )
            for (key, place), element in zip(target, elements, strict=True):
                self.unknowns.known[key][place] = number(element, statement)
            return True
        return False

    def _solve(self, statements: list[Statement], is_last: bool = False) -> bool:
        """Solve equations together for all that is unknown in them, where that enters linearly.

        `is_last`: all that are left, which nothing else will solve.
        """
        unknowns = sorted(
            {u for e in statements for side in (e.left, e.right) for u in self.unknowns.read_by(side, e.env_of(side))},
            key=lambda u: (u[0], u[1]),
        )
        if not unknowns:
            if len(statements) == 1:
                for side in (statements[0].left, statements[0].right):
                    value_of_side(statements[0], side)  # a name that nothing has is told as such
                raise fault(
                    statements[0].left.at,
                    f"`{statements[0].text}` determines nothing: all in it is known already. A relation "
                    "between connectors is written with components, such as IdealGear or Fixed",
                )
            return False
        for key, _ in unknowns:
            declared = type(self.unknowns.model.component).declarations.get(key[1]) if key[0] == "variable" else None
            if isinstance(declared, Signal | Variable) and of_type(declared.type) in ("Boolean", "Integer"):
                raise fault(
                    statements[0].left.at,
                    f"`{statements[0].text}`: {key[1]} is no Real, and stands on both sides, or in a sum; write "
                    f"`{key[1]} = ...` with what does not depend on it",
                )
        if len(statements) == 1 and not is_last and not self._may_fit(statements[0], len(unknowns)):
            return False
        guesses = [ca.SX.sym(f"{'.'.join(key[1:])}[{k + 1}]") for key, k in unknowns]
        self.guesses = tuple(guesses)
        for (key, k), guess in zip(unknowns, guesses, strict=True):
            self.unknowns.known[key][k] = guess
        rows: list[Any] = []
        sizes: list[int] = []
        done = False
        try:
            for e in statements:
                left, right = (values.flat(value_of_side(e, side)) for side in (e.left, e.right))
                if len(left) != len(right):
                    raise fault(e.left.at, f"{e.text}: {len(left)} elements on one side, {len(right)} on the other")
                rows += [ca.SX(number(a, e) - number(b, e)) for a, b in zip(left, right, strict=True)]
                sizes.append(len(left))
            if len(rows) == len(unknowns):
                residual, x = ca.vertcat(*rows), ca.vertcat(*guesses)
                slope = ca.jacobian(residual, x)
                if not ca.depends_on(slope, x) and ca.sprank(slope) == len(unknowns):
                    rest = ca.substitute(residual, x, ca.SX.zeros(len(guesses)))
                    self._refuse_singular(statements, sizes, unknowns, slope, rest)
                    solution = ca.solve(slope, -rest)
                    for k, (key, place) in enumerate(unknowns):
                        self.unknowns.known[key][place] = (
                            ca.simplify(solution[k]) if len(unknowns) == 1 else solution[k]
                        )
                    done = True
        finally:
            self.guesses = ()
            if not done:
                for key, place in unknowns:
                    self.unknowns.known[key][place] = None
        return done

    def _refuse_singular(
        self, statements: list[Statement], sizes: list[int], unknowns: list[Unknown], slope: ca.SX, rest: ca.SX
    ) -> None:
        """Refuse equations `slope x + rest = 0` of which some follow from others, or contradict them.

        Parameters have their default values here; all else that the equations read has any.

        Raises:
            ModelError: they have no solution, or many.
        """
        A, b = self._sampled(slope, rest, statements[0].left.at)
        combination = values.dependence(A)
        if combination is None:
            return
        involved = np.abs(combination) > _NOTABLE * np.abs(combination).max()
        owners = np.repeat(np.arange(len(statements)), sizes)
        found = [statements[k] for k in dict.fromkeys(owners[involved])]
        touched = np.flatnonzero(np.any(A[involved] != 0, axis=0))
        names = sorted({name_of(unknowns[j]) for j in (touched if touched.size else range(len(unknowns)))})
        shown = " and ".join(f"`{e.text}`" for e in found[:4]) + (" and others" if len(found) > 4 else "")
        terms = combination * b.ravel()
        if len(found) == 1 and np.count_nonzero(involved) > 1:
            shown = f"rows of {shown}"
        if np.count_nonzero(involved) == 1:
            said = f"is no condition on {', '.join(names[:6])}, whose factor is 0; write another equation"
        elif abs(terms.sum()) > _NOTABLE * np.abs(terms).sum():
            said = f"contradict each other, whatever {', '.join(names[:6])} are; correct one of them"
        else:
            said = f"say the same of {', '.join(names[:6])}; write another equation in place of one of them"
        raise fault(found[0].left.at, f"{shown} {said}")

    def _sampled(self, slope: ca.SX, rest: ca.SX, at: s.Place) -> tuple[np.ndarray, np.ndarray]:
        """Both matrices at the default values of parameters, and at some values of what else they depend on."""
        symbols = ca.symvar(ca.veccat(slope, rest))
        numbers = np.random.default_rng(0).uniform(0.5, 1.5, len(symbols))
        for k, symbol in enumerate(symbols):
            if self.session.is_parameter(symbol):
                try:
                    numbers[k] = self.session.numbers(symbol, at, mark=False)
                except ModelError:  # found by initialisation
                    continue
        function = ca.Function("sample", [ca.vertcat(ca.SX(0, 1), *symbols)], [ca.densify(slope), ca.densify(rest)])
        A, b = function(ca.DM(numbers))
        return np.array(A), np.array(b)

    def _may_fit(self, statement: Statement, unknowns: int) -> bool:
        """False where an equation has surely fewer rows than unknowns; evaluating it would make events for nothing."""
        rows = 1
        for side in (statement.left, statement.right):
            target = self.unknowns.target(side, statement.env_of(side))
            if target is not None:
                rows = max(rows, len(target))
            if isinstance(side, s.Call) and side.function.names == ("zeros",) and len(side.arguments) == 1:
                rows = max(rows, int(evaluate(side.arguments[0], statement.env_of(side))))
        return rows == unknowns

    def _refuse(self, statements: list[Statement]) -> None:
        first = statements[0]
        unknown = sorted(
            {name_of(u) for e in statements for x in (e.left, e.right) for u in self.unknowns.read_by(x, e.env_of(x))}
        )
        others = f" (and {len(statements) - 1} more)" if len(statements) > 1 else ""
        raise fault(
            first.left.at,
            f"`{first.text}`{others}: cannot be solved for {', '.join(unknown[:6])}; write equations as "
            "`x = ...` or `der(x) = ...`, one for each unknown",
        )


def value_of_side(statement: Statement, node: s.Node) -> Any:
    """Value of one side of a statement."""
    value = evaluate(node, statement.env_of(node))
    if statement.layer is not None and node is statement.right:
        return element_in(statement.layer, value, node)
    return value


def number(value: Any, statement: Statement) -> Any:
    """A value as a number.

    Raises:
        ModelError: it is none.
    """
    if not values.is_number(value) and not isinstance(value, bool):
        raise fault(
            statement.left.at, f"{statement.text}: {values.describe(value)} is no number; equations are between numbers"
        )
    return value
