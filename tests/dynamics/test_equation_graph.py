"""The equation graph alone, on quantities written by hand: matching, blocks and their solutions."""

from __future__ import annotations

import dataclasses
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import casadi as ca
import numpy as np
import pytest

from mbfmu.dynamics.columns import stacked
from mbfmu.dynamics.expressions.values import evaluated
from mbfmu.dynamics.structure.equation_graph import EquationGraph
from mbfmu.dynamics.structure.quantities import Assigned, ImpliedSignal, RelationForce
from mbfmu.dynamics.structure.surplus import Surplus, matching
from mbfmu.dynamics.structure.unknowns import Own
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.formulas import Formula, Quantity

X = ca.SX.sym("x")


@dataclasses.dataclass(frozen=True)
class Toy(Quantity):
    """A scalar by its name; the structure is a mapping of names to needs and functions."""

    label: str

    def formula(self, structure: Paper) -> Formula:
        return structure.formulas[self.label]

    def name(self, structure: Paper) -> str:
        return self.label

    def shape(self, structure: Paper) -> tuple[int, int]:
        return 1, 1

    def nominal(self, structure: Paper) -> float:
        return structure.nominals.get(self.label, 1.0)


@dataclasses.dataclass(frozen=True)
class Sought(Toy):
    """The same, given by an equation."""

    is_sought = True


class Paper:
    """Stands in for a structure: equations as one writes them."""

    def __init__(self, **formulas: tuple[str, Callable[..., Any]]) -> None:
        self.sought: set[str] = set()
        self.nominals: dict[str, float] = {}
        self.raw = formulas

    def seeking(self, *names: str) -> Paper:
        self.sought = set(names)
        return self

    @property
    def formulas(self) -> dict[str, Formula]:
        return {name: Formula(tuple(map(self, needs.split())), make) for name, (needs, make) in self.raw.items()}

    def __call__(self, name: str) -> Quantity:
        return (Sought if name in self.sought else Toy)(name)

    def check_matched(self, surplus: Surplus) -> None:
        if surplus.left:
            raise ModelError(f"nothing gives {', '.join(q.name(self) for q in surplus.left)}")

    def refuse_loop_of_truths(self, block: Sequence[Quantity]) -> None:
        """Nothing on paper is a condition or a whole number."""

    def checked_block(self, block: Sequence[Quantity], slope: ca.SX) -> str:
        names = " ".join(sorted(q.name(self) for q in block))
        if ca.sprank(slope) < slope.size1():
            raise ModelError(names)
        return names

    def graph(self, *wanted: str) -> EquationGraph:
        return EquationGraph.of(self, [Formula.of(self(name)) for name in wanted])  # type: ignore[arg-type]

    def numbers(self, graph: EquationGraph, x: float = 0.0) -> dict[str, float]:
        known = evaluated(graph).known
        return {q.name(self): float(ca.Function("f", [X], [value])(x)) for q, value in known.items()}  # type: ignore[arg-type]


def order_of(graph: EquationGraph, paper: Paper) -> list[set[str]]:
    return [{q.name(paper) for q in block.all} for block in graph.blocks]


def test_what_follows_comes_behind_what_it_needs():
    paper = Paper(a=("b c", lambda b, c: b - c), b=("c", lambda c: 2 * c), c=("", lambda: X), unused=("a", lambda a: a))
    graph = paper.graph("a")
    assert order_of(graph, paper) == [{"c"}, {"b"}, {"a"}]
    assert not any(block.torn for block in graph.blocks)
    assert paper.numbers(graph, 3.0) == {"a": 3.0, "b": 6.0, "c": 3.0}


def test_a_linear_loop_is_one_block_and_solved():
    """a = x + b / 2, b = 3 - a, c = a b beside them."""
    paper = Paper(
        a=("x b", lambda x, b: x + b / 2),
        b=("a", lambda a: 3 - a),
        c=("a b", lambda a, b: a * b),
        x=("", lambda: X),
    )
    graph = paper.graph("c")
    assert order_of(graph, paper) == [{"x"}, {"a", "b"}, {"c"}]
    a, b = np.linalg.solve([[1, -0.5], [1, 1]], [5.0, 3.0])
    found = paper.numbers(graph, 5.0)
    assert found == pytest.approx({"x": 5.0, "a": a, "b": b, "c": a * b})
    assert not evaluated(graph).iterations


def test_two_loops_with_one_member_in_common_are_torn_there():
    paper = Paper(
        hub=("one two", lambda one, two: 1 + one / 4 + two / 4),
        one=("first", lambda first: -first),
        first=("hub", lambda hub: hub + 1),
        two=("second", lambda second: 2 * second),
        second=("hub", lambda hub: hub - 1),
    )
    (block,) = paper.graph("hub").blocks
    assert [q.name(paper) for q in block.torn] == ["hub"]
    assert len(block.members) == 4
    hub = 1 / (1 + 0.25 - 0.5) * (1 - 0.25 - 0.5)
    assert paper.numbers(paper.graph("hub"))["hub"] == pytest.approx(hub)


def test_a_loop_without_solution_is_refused_by_its_members():
    paper = Paper(a=("b", lambda b: b + 1), b=("a", lambda a: a))
    with pytest.raises(ModelError, match=r"^a b$"):
        evaluated(paper.graph("a"))


def test_what_is_sought_follows_from_its_own_equation():
    """v with (v - x) / 2 + v = 0, and what knows it."""
    paper = Paper(v=("v x", lambda v, x: (v - x) / 2 + v), out=("v", lambda v: 10 * v), x=("", lambda: X)).seeking("v")
    graph = paper.graph("out")
    assert graph.matched == {paper("v"): paper("v")}
    assert paper.numbers(graph, 6.0) == {"x": 6.0, "v": pytest.approx(2.0), "out": pytest.approx(20.0)}


def test_unknowns_may_be_given_by_the_equations_of_others():
    """v of its own equation knows i only, and i of its own knows v only: u - v = 0 gives v, i = 2 v gives i."""
    paper = Paper(
        v=("i v", lambda i, v: i - 2 * v),
        i=("v x", lambda v, x: v - x),
        x=("", lambda: X),
    ).seeking("v", "i")
    graph = paper.graph("v", "i")
    assert graph.matched == {paper("v"): paper("i"), paper("i"): paper("v")}
    assert order_of(graph, paper) == [{"x"}, {"v"}, {"i"}], "each has a block, with the equation that gives it"
    assert paper.numbers(graph, 4.0) == {"x": 4.0, "v": 4.0, "i": 8.0}


def test_equations_find_unknowns_through_formulas():
    """The equation of v knows it as the signal s = 3 v only."""
    paper = Paper(v=("s", lambda s: s - 12), s=("v", lambda v: 3 * v)).seeking("v")
    assert paper.numbers(paper.graph("s")) == {"v": pytest.approx(4.0), "s": pytest.approx(12.0)}


def test_random_matchings_are_as_large_as_can_be():
    """Against the greatest of all assignments, tried one by one."""
    random = np.random.default_rng(0)
    for _ in range(60):
        knows = random.random((4, 4)) < 0.4
        names = "abcd"
        paper = Paper(
            **{
                name: (" ".join(names[j] for j in range(4) if knows[i, j]), lambda *values: sum(values, ca.SX(0)))
                for i, name in enumerate(names)
            }
        ).seeking(*names)
        is_regular = any(all(knows[i, p[i]] for i in range(4)) for p in itertools.permutations(range(4)))
        if not is_regular:
            with pytest.raises(ModelError, match="nothing gives"):
                paper.graph(*names)
            continue
        matched = paper.graph(*names).matched
        assert sorted(q.name(paper) for q in matched.values()) == list(names)
        for unknown, giver in matched.items():
            assert knows[names.index(giver.name(paper)), names.index(unknown.name(paper))]


def test_each_unknown_has_its_own_equation_where_that_knows_it():
    x, y = Sought("x"), Sought("y")
    assert matching([x, y], {y: [x, y], x: [x, y]}) == {x: x, y: y}


def test_a_block_that_is_not_linear_is_iterated_over_few_unknowns():
    """a = cos b, b = a + c, c = b / 3: b and c follow from one of them."""
    paper = Paper(
        a=("b", lambda b: ca.cos(b)), b=("a c", lambda a, c: a + c), c=("b", lambda b: b / 3), x=("", lambda: X)
    )
    values = evaluated(paper.graph("a"))
    (iteration,) = values.iterations
    assert iteration.symbols.numel() == iteration.residual.numel() == 1
    residual = ca.Function("r", [iteration.symbols], [iteration.residual])
    known = ca.Function("k", [iteration.symbols], [values.known[paper(n)] for n in "abc"])
    root = ca.rootfinder("root", "newton", {"x": iteration.symbols, "g": iteration.residual})(x0=0.5)["x"]
    a, b, c = (float(v) for v in known(root))
    assert abs(float(residual(root))) < 1e-12
    assert (a, b, c) == pytest.approx((np.cos(b), a + c, b / 3), abs=1e-9)


def test_signals_that_no_equation_gives_without_derivatives_stay_open():
    """The condition of the first knows a state alone; that of the second knows its signal."""

    first, second = (ImpliedSignal(Own("inverse", leaves.Implied(i))) for i in range(2))

    class Conditions(Paper):
        behaviours: ClassVar = {"inverse": types.SimpleNamespace(conditions=("of a state", "of the signal"))}
        unknowns: ClassVar = types.SimpleNamespace(own={first.own: ca.SX.sym("open")})

        def local(self, path: str, condition: str) -> Formula:
            state = Formula.of(Toy("state"))
            if condition == "of a state":
                return state
            return Formula.combined(lambda signal, state: signal - 5 * state, Formula.of(second), state)

    paper = Conditions(state=("", lambda: X))
    graph = EquationGraph.of(paper, [Formula.of(first), Formula.of(second)])  # type: ignore[arg-type]
    assert graph.open_signals == {first: first}
    assert graph.matched == {second: second}
    known = evaluated(graph).known
    assert known[first].is_symbolic()
    assert float(ca.Function("f", [X], [known[second]])(2.0)) == pytest.approx(10.0)


def test_open_signals_have_their_own_condition_where_nothing_else_uses_it():
    """The condition of the first gives the third; of the two that are left the second keeps its own."""

    first, second, third = (ImpliedSignal(Own("inverse", leaves.Implied(i))) for i in range(3))

    class Conditions(Paper):
        behaviours: ClassVar = {"inverse": types.SimpleNamespace(conditions=("first", "second", "third"))}
        unknowns: ClassVar = types.SimpleNamespace(own={s.own: ca.SX.sym("open") for s in (first, second)})

        def local(self, path: str, condition: str) -> Formula:
            return Formula.of(third if condition == "first" else Toy("state"))

    paper = Conditions(state=("", lambda: X))
    graph = EquationGraph.of(paper, [Formula.of(s) for s in (third, second, first)])  # type: ignore[arg-type]
    assert graph.matched == {third: first}
    assert graph.open_signals == {first: third, second: second}


def test_small_quantities_are_torn_before_large_ones():
    """A column and its sum need each other: one number is torn, and not three."""

    class Column(Toy):
        def shape(self, structure: Paper) -> tuple[int, int]:
            return 3, 1

    column, total = Column("column"), Toy("total")
    graph = EquationGraph(
        Paper(),  # type: ignore[arg-type]
        {
            column: Formula((total,), lambda total: ca.vertcat(1, 2, total / 4)),
            total: Formula((column,), lambda column: ca.sum1(column)),
        },
        {},
    )
    (block,) = graph.blocks
    assert (block.torn, block.members) == ((total,), (column,))
    assert float(evaluated(graph).known[total]) == pytest.approx(4.0)


def test_what_equations_assign_is_torn_before_other_quantities():
    signal, motion = Assigned("gain", leaves.Value("y")), Toy("motion")
    structure = types.SimpleNamespace(
        behaviours={"gain": types.SimpleNamespace(targets={leaves.Value("y"): ca.SX.zeros(1)})}
    )
    found = {
        motion: Formula((signal,), lambda y: y / 2),
        signal: Formula((motion,), lambda motion: 3 + motion),
    }
    (block,) = EquationGraph(structure, found, {}).blocks  # type: ignore[arg-type]
    assert (block.torn, block.members) == ((signal,), (motion,))


def test_an_equation_that_lost_its_unknown_is_no_formula():
    """Where what it knows its unknown through is given, it is still an equation, and not taken for a value."""
    unknown = Sought("unknown")
    graph = EquationGraph(
        Paper().seeking("unknown"),  # type: ignore[arg-type]
        {unknown: Formula((), lambda: ca.SX(2.0))},
        {unknown: unknown},
    )
    (block,) = graph.blocks
    assert block.torn == (unknown,)


def test_what_is_differentiated_are_signals_of_some_order():
    names = {name: (path, leaves.Value(name)) for path, name in (("a", "y"), ("b", "z"))}
    found = {
        Assigned(*names["y"]): Formula.constant(X),
        Assigned(*names["z"], 1): Formula.constant(X),
        Assigned(*names["z"], 2): Formula.constant(X),
        Assigned("c", leaves.Load("flange", "tau"), 1): Formula.constant(X),
    }
    assert EquationGraph(Paper(), found, {}).differentiated == [names["z"]]  # type: ignore[arg-type]


def test_equations_that_tell_each_other_s_unknowns_are_put_into_each_other():
    """p = q + x and q = r + 1 are told by r, of r^3 + r = p + 9: with x = -2, r = 2."""
    paper = Paper(
        p=("p q x", lambda p, q, x: p - q - x),
        q=("q r", lambda q, r: q - r - 1),
        r=("r p", lambda r, p: r**3 + r - p - 9),
        x=("", lambda: X),
    ).seeking("p", "q", "r")
    paper.nominals = {"p": 2.0, "q": 3.0, "r": 5.0}
    values = evaluated(paper.graph("p"))
    (iteration,) = values.iterations
    assert iteration.names == ("r",)
    assert iteration.nominals == (5.0,)
    known = ca.Function("k", [iteration.symbols, X], [values.known[paper(n)] for n in "pqr"])
    assert [float(v) for v in known(2.0, -2.0)] == [1.0, 3.0, 2.0]
    assert float(ca.Function("r", [iteration.symbols, X], [iteration.residual])(2.0, -2.0)) == 0.0


def test_an_equation_with_another_factor_than_one_tells_nothing():
    """2 p = q + x and q^3 + q = p + 8: with x = 2, both are 2."""
    paper = Paper(
        p=("p q x", lambda p, q, x: 2 * p - q - x),
        q=("q p", lambda q, p: q**3 + q - p - 8),
        x=("", lambda: X),
    ).seeking("p", "q")
    values = evaluated(paper.graph("p"))
    (iteration,) = values.iterations
    assert sorted(iteration.names) == ["p", "q"]
    both = stacked(values.known[paper(name)] for name in iteration.names)
    residual = ca.Function("r", [both, X], [iteration.residual])
    assert np.array(residual([2.0, 2.0], 2.0)).ravel().tolist() == [0.0, 0.0]


def test_iterations_that_know_others_are_differentiated_with_these():
    """d/dx of b + sin b = a, where a + sin a / 2 = x."""
    paper = Paper(
        a=("a x", lambda a, x: a + ca.sin(a) / 2 - x),
        b=("b a", lambda b, a: b + ca.sin(b) / 2 - a),
        x=("", lambda: X),
    ).seeking("a", "b")
    values = evaluated(paper.graph("b"))
    vars(values)["_states"] = (X, ca.SX(1))  # what the structure of a model would tell
    rate = values.total_derivative(values.known[paper("b")])
    at = ca.veccat(*(iteration.symbols for iteration in values.iterations))
    assert at.numel() == 2
    a, b = 0.7, 0.4
    wanted = 1 / ((1 + np.cos(a) / 2) * (1 + np.cos(b) / 2))
    assert float(ca.Function("d", [at], [rate])([a, b])) == pytest.approx(wanted, rel=1e-12)
    rate = values.total_derivative(values.known[paper("a")])
    assert float(ca.Function("d", [at], [rate])([a, b])) == pytest.approx(1 / (1 + np.cos(a) / 2), rel=1e-12)


def loop_of(needs: dict[Any, str], **named: Any) -> EquationGraph:
    """Quantities that need others, by names."""
    formulas = {
        named.get(q, Toy(q)): Formula(tuple(named.get(n, Toy(n)) for n in text.split()), lambda *values: sum(values))
        for q, text in needs.items()
    }
    return EquationGraph(Paper(), formulas, {})  # type: ignore[arg-type]


def test_the_relation_that_closes_a_loop_is_the_last_one_in_it():
    """A loop through two gears; and one that leads to neither, which the others of the part stand for."""
    gears = {name: RelationForce((name, 0)) for name in ("one", "two")}
    through_both = loop_of({"one": "a", "a": "two", "two": "b", "b": "one"}, **gears)
    assert through_both.relation_in_loop() == ("two", 0)
    beside = loop_of({"one": "a", "a": "b", "b": "a one two", "two": "a"}, **gears)
    assert beside.relation_in_loop() == ("two", 0)


def test_a_relation_whose_force_needs_itself_is_found():
    gear = RelationForce(("gear", 0))
    paper = Paper(wrench=("", lambda: X))
    graph = EquationGraph(
        paper,  # type: ignore[arg-type]
        {gear: Formula((Toy("wrench"),), lambda w: w), Toy("wrench"): Formula((gear,), lambda g: g)},
        {},
    )
    assert graph.relation_in_loop() == ("gear", 0)
    assert paper.graph("wrench").relation_in_loop() is None
