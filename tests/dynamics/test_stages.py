"""Each stage between an assembly and its System alone, from the stages before it, without System."""

from __future__ import annotations

import dataclasses
import types

import casadi as ca
import numpy as np
import pytest

from mbfmu.components import Body, FixedTranslation, Prismatic, Revolute, World, blocks, electrical, rotational, thermal
from mbfmu.components.interfaces import Flange_b
from mbfmu.dynamics.asked import asked
from mbfmu.dynamics.columns import hashes
from mbfmu.dynamics.expressions.constraints import Choice, Constraints, Rows, constrained
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.iterations import Iterations
from mbfmu.dynamics.expressions.starts import Starts
from mbfmu.dynamics.expressions.values import Iteration, Values, evaluated
from mbfmu.dynamics.reading.behaviour import LONG
from mbfmu.dynamics.reading.components import components_of, connections_of
from mbfmu.dynamics.reading.equation_context import Facts
from mbfmu.dynamics.reading.flatten import Flat, flatten
from mbfmu.dynamics.reading.inputs import Inputs
from mbfmu.dynamics.reading.readings import Readings, evaluate
from mbfmu.dynamics.solving.accelerations import accelerations
from mbfmu.dynamics.solving.dense import Direct
from mbfmu.dynamics.structure.constraint_rows import closed_loops
from mbfmu.dynamics.structure.equation_graph import EquationGraph
from mbfmu.dynamics.structure.frame_graph import GROUND, FrameTree
from mbfmu.dynamics.structure.networks import Networks
from mbfmu.dynamics.structure.quantities import (
    CoordinateOf,
    Differential,
    FrameMotion,
    LinkOf,
    Potential,
    RelationForce,
)
from mbfmu.dynamics.structure.scalar_graph import CoordinateNode
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.structure.topology import Topology, analyse
from mbfmu.dynamics.structure.wanted import Wanted, settled
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Component, Parameter, RealInput, RealOutput, Start, leaves
from mbfmu.modeling import types as t
from mbfmu.modeling.formulas import Formula, Quantity


class Pendulum(Assembly):
    """A rod on a hinge, with a spring at its axis."""

    def __init__(self, **hinge: object) -> None:
        self.world = World()
        self.hinge = Revolute(useAxisFlange=True, **hinge)
        self.rod = FixedTranslation(r=(0.5, 0, 0))
        self.body = Body(m=2.0, r_CM=(0, 0, 0))
        self.spring, self.wall = rotational.Spring(c=3.0), rotational.Fixed()
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.body.frame_a)
        self.connect(self.hinge.axis, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.wall.flange)


class FourBars(Assembly):
    """Two planar loops, the second on the coupler of the first."""

    def __init__(self) -> None:
        self.world = World()
        at = self.world.frame_b
        for name in ("first", "second"):
            hinges = [self.add(f"{name}_{k}", Revolute()) for k in range(4)]
            crank, coupler, rocker, base = (
                self.add(f"{name}_{what}", FixedTranslation(r=r))
                for what, r in (("a", (0.3, 1, 0)), ("b", (1, 0.2, 0)), ("c", (0.2, 1.2, 0)), ("d", (1.1, 0, 0)))
            )
            body = self.add(f"{name}_body", Body(m=1.0, r_CM=(0, 0, 0)))
            for a, b in [
                (at, hinges[0].frame_a), (hinges[0].frame_b, crank.frame_a), (crank.frame_b, hinges[1].frame_a),
                (hinges[1].frame_b, coupler.frame_a), (coupler.frame_b, hinges[2].frame_a),
                (hinges[2].frame_b, rocker.frame_b), (rocker.frame_a, hinges[3].frame_b),
                (hinges[3].frame_a, base.frame_b), (base.frame_a, at), (coupler.frame_b, body.frame_a),
            ]:  # fmt: skip
                self.connect(a, b)
            at = coupler.frame_a

    def add(self, name: str, part: object) -> object:
        setattr(self, name, part)
        return part


class Divider(Assembly):
    """Two resistors in series on a source of 6 V; `floating` where nothing gives a potential."""

    def __init__(self, floating: bool = False) -> None:
        self.source, self.ground = electrical.ConstantVoltage(V=6.0), electrical.Ground()
        self.one, self.two = electrical.Resistor(R=1.0), electrical.Resistor(R=2.0)
        self.connect(self.source.p, self.one.p)
        self.connect(self.one.n, self.two.p)
        self.connect(self.two.n, self.source.n)
        if not floating:
            self.connect(self.ground.p, self.source.n)


def flat_of(assembly: Assembly) -> Flat:
    components = components_of(assembly)
    return flatten(assembly, components, connections_of(components))


def topology_of(assembly: Assembly, cuts: tuple[str, ...] = ()) -> Topology:
    return analyse(flat_of(assembly), cuts)


def structure_of(assembly: Assembly) -> Structure:
    flat = flat_of(assembly)
    return Structure.of(analyse(flat), Inputs.of(assembly, flat))


def settled_of(assembly: Assembly) -> tuple[Values, Wanted]:
    flat = flat_of(assembly)
    graph, wanted = settled(analyse(flat), Inputs.of(assembly, flat), asked)
    return evaluated(graph), wanted


def formulation_of(assembly: Assembly) -> Formulation:
    flat = flat_of(assembly)
    graph, wanted = settled(analyse(flat), Inputs.of(assembly, flat), asked)
    return Formulation.of(graph, wanted, 0.0)


def number(formulation: Formulation, expression: ca.SX, *replaced: tuple[ca.SX, float]) -> np.ndarray:
    """Value of an expression, with default parameters and numbers for some symbols."""
    (resolved,) = formulation.parameters.resolve([expression])
    function = ca.Function("f", [formulation.parameters.all, *(s for s, _ in replaced)], [resolved])
    return np.array(function(formulation.parameters.default_P, *(v for _, v in replaced))).ravel()


def test_reading_flattens_connected_frames_to_nodes_and_signals_to_sources():
    class Fed(Assembly):
        def __init__(self) -> None:
            self.sine, self.gain = blocks.Sine(f=1.0), blocks.Gain(k=2.0)
            self.connect(self.sine.y, self.gain.u)

    flat = flat_of(Pendulum())
    assert flat.nodes["rod", "frame_b"] == flat.nodes["body", "frame_a"] != flat.nodes["rod", "frame_a"]
    assert sorted(flat.members[flat.nodes["hinge", "axis"]]) == [("hinge", "axis"), ("spring", "flange_a")]
    assert flat_of(Fed()).sources == {(("gain", "u"), 0): (("sine", "y"), 0)}


def test_reading_takes_components_and_connections_that_exist():
    class Switched(Assembly):
        def __init__(self) -> None:
            self.load, self.ground = electrical.Resistor(R=1.0, useHeatPort=False), electrical.Ground()
            self.connect(self.load.p, self.ground.p)

    components = components_of(Switched())
    assert list(components) == ["", "load", "ground"]
    assert [(scope.path, a.path, b.path) for scope, a, b in connections_of(components)] == [("", "load.p", "ground.p")]
    flat = flatten(components[""], components, connections_of(components))
    assert flat.connected == {"": frozenset(), "load": {"p"}, "ground": {"p"}}


class Sampled(Component):
    """Says how often its equations are run."""

    k = Parameter(t.Real, 1.0, "Factor")
    n = Parameter(t.Integer, 1, "Power")
    y = RealOutput("Output")
    runs = 0

    def __init__(self, offset: object = 0.0, looks_at_itself: bool = False, **modifiers: object) -> None:
        super().__init__(**modifiers)
        self.offset, self.looks_at_itself = offset, looks_at_itself

    def equations(self) -> None:
        Sampled.runs += 1
        if self.looks_at_itself:
            assert self._component.where
        self.y = self.k * self.time**self.n + self.offset


@pytest.mark.parametrize(
    ("first", "second", "runs"),
    [
        ({"k": 2.0}, {"k": 3.0}, 1),
        ({"n": 2}, {"n": 2, "offset": 0.0}, 1),
        ({"n": 2}, {"n": 3}, 2),
        ({"offset": 1.0}, {"offset": 2.0}, 2),
        ({"offset": np.ones(1)}, {"offset": np.full(1, 2.0)}, 2),
        ({"looks_at_itself": True}, {"looks_at_itself": True}, 2),
    ],
)
def test_equations_are_run_once_for_components_that_they_ask_the_same_of(monkeypatch, first, second, runs):
    monkeypatch.setattr(Sampled, "runs", 0)
    one, other = Sampled(**first), Sampled(**second)
    readings = Readings()
    said = [readings.of(component, Facts()) for component in (one, other)]
    assert Sampled.runs == runs
    assert [behaviour.component for behaviour in said] == [one, other]
    for behaviour in said:
        expression = behaviour.own(behaviour.target(leaves.Value("y")).expressions[0])
        own, time = behaviour.component.symbol("k"), behaviour.leaves[leaves.Time()]
        value = ca.Function("y", [own, time], [expression])
        k, power, offset = (np.ravel(x)[0] for x in (5.0, behaviour.component.n, behaviour.component.offset))
        assert float(value(k, 2.0)) == k * 2.0**power + offset


class Twofold(Component):
    """Two outputs that have a long part in common."""

    k = Parameter(t.Real, 1.0, "Factor")
    u = RealInput("Input")
    one, other = RealOutput("One"), RealOutput("Other")

    def equations(self) -> None:
        common = self.u
        for _ in range(LONG):
            common = self.u + ca.sin(self.k * common)
        self.one, self.other = common + 1, common * self.time


def test_what_long_expressions_have_in_common_is_written_once():
    """For other values of the leaves, and for another component that says the same, it is another expression."""
    readings, first, second = Readings(), Twofold(k=0.5), Twofold(k=0.8)
    u, time, v = (ca.SX.sym(name) for name in ("u", "time", "v"))

    def outputs(component: Component, u: ca.SX, *names: str) -> list[ca.SX]:
        behaviour = readings.of(component, Facts())
        said = [behaviour.target(leaves.Value(name)) for name in names or ("other", "one")]
        given = {"u": u, "time": time}
        return [behaviour.value(one, [given[str(leaf)] for leaf in one.leaves])[0] for one in said]

    found = [outputs(first, u), outputs(second, u), outputs(first, v)]
    symbols = [u, v, time, *(component.plain_symbol("k") for component in (first, second))]
    count = ca.Function("of_one", symbols, found[0]).n_instructions()
    assert count < 3 * LONG + 20
    assert len(outputs(first, ca.SX.sym("w"), "one", "other")) == 2, "what knows fewer leaves may be asked for first"
    results = np.array(ca.Function("all", symbols, [ca.horzcat(*map(ca.vertcat, *found))])(0.3, 0.7, 2.0, 0.5, 0.8))
    for (other, one), given, k in zip(results, (0.3, 0.3, 0.7), (0.5, 0.8, 0.5), strict=True):
        common = given
        for _ in range(LONG):
            common = given + np.sin(k * common)
        assert (other, one) == pytest.approx((2 * common, common + 1), rel=1e-12)
    assert hashes(outputs(first, u)) == hashes(found[0]), "what was asked for before is the same expression"


def test_equations_are_run_again_where_facts_or_surroundings_differ():
    one, other = Body(m=1.0, r_CM=(0, 0, 0)), Body(m=2.0, r_CM=(1, 0, 0))
    worlds = [World(), World()]
    for component, world in zip((one, other), worlds, strict=True):
        component.see({"world": world})
    readings = Readings()
    first, second = (readings.of(component, Facts()) for component in (one, other))
    assert second.speaker is other  # another World, whose gravity may differ
    other.see({"world": worlds[0]})
    assert readings.of(other, Facts()).speaker is first.speaker is one
    assert readings.of(other, Facts(holds_orientation=True)).speaker is other


def test_the_frame_tree_alone_says_what_moves_freely():
    flat = flat_of(Pendulum())
    found = {path: evaluate(flat.components[path], Facts(flat.connected[path])) for path in ("world", "hinge", "rod")}
    tree = FrameTree.of(flat, found, {"body": flat.components["body"]}, ())
    assert [(edge.path, edge.role) for edge in tree.order] == [("world", "tree"), ("hinge", "tree"), ("rod", "tree")]
    assert not tree.free_joints
    loose = FrameTree.of(flat, {path: found[path] for path in ("world", "rod")}, {"body": flat.components["body"]}, ())
    assert [(edge.role, edge.dof) for edge in loose.edges if edge.path == loose.free_joints["body"].path] == [
        ("free", 6)
    ]


def test_the_tree_grows_from_the_ground_and_cuts_what_closes_it():
    topology = topology_of(FourBars(), cuts=("first_1",))
    assert [edge.path for edge in topology.edges if edge.role == "cut"] == ["first_1", "second_3"]
    parents = {GROUND}
    for edge in topology.order:
        assert edge.parent in parents
        parents.add(edge.child)


def test_the_scalar_graph_takes_the_joint_s_coordinate_and_gives_the_flange_by_the_relation():
    topology = topology_of(Pendulum())
    assert topology.independent == (CoordinateNode("hinge", "phi", 0),)
    axis = topology.flange_node("hinge", "axis")
    assert topology.source[axis] == "relation"
    assert topology.source[topology.flange_node("wall", "flange")] == "prescribed"


def test_networks_know_who_gives_potentials_and_what_relations_bring():
    flat = flat_of(Divider())
    networks = Networks.of(flat, analyse(flat).behaviours)
    assert networks.sources == {flat.nodes["ground", "p"]: ("ground", "p")}
    assert set(networks.links) == {("one", "i"), ("two", "i"), ("source", "i")}


def test_structure_answers_with_formulas_whose_needs_are_followed():
    structure = structure_of(Pendulum())
    node = structure.flat.nodes["body", "frame_a"]
    assert CoordinateOf(CoordinateNode("hinge", "phi", 0), 0) in structure.known_of(FrameMotion(node, "r_0"))
    assert CoordinateOf(CoordinateNode("hinge", "phi", 0), 1) not in structure.known_of(FrameMotion(node, "r_0"))
    relation = next(r for r in structure.topology.relations if r.path == "hinge")
    assert structure.relation_force(relation).needs == (RelationForce(relation.key),)


def test_rows_of_a_loop_know_its_own_joints_only():
    """Those of the second loop begin at the coupler that it hangs on, and know no joint that leads there."""
    structure = structure_of(FourBars())
    bases = {row.name: set() for row in closed_loops(structure)}
    for row in closed_loops(structure):
        assert row.position is not None
        for need in row.position.needs:
            bases[row.name] |= {
                known.node.path for known in structure.known_of(need) if isinstance(known, CoordinateOf)
            }
    assert [{path.partition("_")[0] for path in paths} for paths in bases.values()] == [{"first"}, {"second"}]


def test_values_know_what_was_asked_and_nothing_else():
    values, wanted = settled_of(Divider())
    assert set(values.known) == set(values.graph.formulas)
    assert {need for formula in wanted.formulas for need in formula.needs} <= set(values.known)
    assert FrameMotion(0, "r_0") not in values.known


def test_a_divider_s_current_follows_from_its_block():
    formulation = formulation_of(Divider())
    assert number(formulation, formulation.values.variable("one", "i")) == pytest.approx([2.0])
    assert number(formulation, formulation.values.variable("two", "v")) == pytest.approx([4.0])
    assert formulation.iterations.blocks == ()


def test_a_network_without_ground_is_told_before_anything_is_made():
    with pytest.raises(ModelError, match="nothing determines the potential of"):
        formulation_of(Divider(floating=True))


def test_balances_are_those_of_the_physics():
    """m l^2 phi'' = -m g l cos(phi) - c phi for a point on a rod of 0.5 m that turns about z, gravity along -y."""
    formulation = formulation_of(Pendulum())
    vectors = formulation.vectors
    balance = number(formulation, formulation.motion.balances, (vectors.q, 0.3), (vectors.v, 2.0), (vectors.a, -1.0))
    inertia = 0.001  # of the body by default, about its own axis
    wanted = (2.0 * 0.25 + inertia) * -1.0 + 2.0 * 9.80665 * 0.5 * np.cos(0.3) + 3.0 * 0.3
    assert np.abs(balance) == pytest.approx([abs(wanted)])


def test_constraints_have_two_derivatives_and_a_multiplier_each():
    values, wanted = settled_of(FourBars())
    _, _, rows = constrained(values, wanted.loops)
    assert [(r.position.numel(), r.velocity.numel(), r.acceleration.numel(), r.multipliers.numel()) for r in rows] == [
        (6, 6, 6, 6)
    ] * 2


class Swung(Component):
    """A flange whose angle is a sine of time."""

    f, size = Parameter(t.Frequency, 1.0, "Frequency"), Parameter(t.Real, 1.0, "Amplitude")
    flange = Flange_b("What is turned")

    def equations(self) -> None:
        self.flange.phi = self.size * ca.sin(2 * np.pi * self.f * self.time)


def test_positions_that_are_prescribed_twice_have_two_derivatives():
    """Two motions of one flange: the row that compares them, its rate and the rate of that."""

    class Twice(Assembly):
        def __init__(self) -> None:
            self.moves = [Swung(), Swung(f=2.0, size=3.0)]
            self.connect(self.moves[0].flange, self.moves[1].flange)

    flat = flat_of(Twice())
    graph, wanted = settled(analyse(flat), Inputs.of(Twice(), flat), asked)
    formulation = Formulation.of(graph, wanted, 0.0)
    (row,) = (Rows.of(row, formulation.values) for row in wanted.loops)
    assert row.name == "moves[2].flange"
    at = formulation.values.unknowns.time, 0.1
    turns, size = 2 * np.pi * np.array([1.0, 2.0]), np.array([1.0, -3.0])
    sines, cosines = np.sin(turns * 0.1), np.cos(turns * 0.1)
    expected = [size @ sines, size @ (turns * cosines), -size @ (turns**2 * sines)]
    found = [abs(number(formulation, part, at)[0]) for part in (row.position, row.velocity, row.acceleration)]
    assert found == pytest.approx(np.abs(expected))


def test_nominal_values_and_names_of_what_is_sought():
    """A temperature counts beside 300 K, a potential beside 1 V; of two relations each has its number."""

    class Both(Assembly):
        def __init__(self) -> None:
            self.heat = thermal.ThermalResistor(R=1.0)
            self.divider = electrical.Potentiometer(R=2.0)

    structure = structure_of(Both())
    nodes = structure.flat.nodes
    assert Potential(nodes["heat", "port_a"]).nominal(structure) == 300.0
    assert Potential(nodes["divider", "contact"]).nominal(structure) == 1.0
    assert [LinkOf("divider", i).equation(structure) for i in range(2)] == [f"relation {i} of divider" for i in (1, 2)]


def test_rows_that_are_dropped_are_told_and_needed_ones_refused():
    column = ca.SX.zeros(3)
    found = Constraints(column, column, column, ca.SX.sym("l", 3), ("weld, row 1", "weld, row 2", "rod"),
                        Choice((0, 1, 2)), frozenset({1}))  # fmt: skip
    assert found.only(Choice((1,))).report() == [
        "weld: rows 1 are redundant and dropped", "rod: rows 1 are redundant and dropped",
    ]  # fmt: skip
    for choice in (Choice((0, 2)), Choice((0, 1, 2), 1, 1, (1.0, 1.0, 1.0), frozenset({1}))):
        with pytest.raises(ModelError, match="weld, row 2: with these parameters it says nothing"):
            found.only(choice)
    assert found.only(Choice((0, 1, 2), 1, 1, (1.0, 1.0, 1.0), frozenset({0, 2}))).rank == 2


def test_starts_have_the_strongest_owner():
    values, _ = settled_of(Pendulum(phi=Start(0.4, fixed=True)))
    starts = Starts.of(values)
    owner = starts.owner_of(values.unknowns.q[CoordinateNode("hinge", "phi", 0)])
    assert owner is not None
    assert (owner.label, owner.number, owner.fixed) == ("hinge.phi", 0.4, True)
    assert starts.conditions == ()


def test_laws_know_no_forces_of_rows_that_are_dropped():
    """What is dropped has the force 0, also in equations that are iterated."""
    s, forces, nothing = ca.SX.sym("s"), ca.SX.sym("l", 2), ca.SX.zeros(2)
    rows = Constraints(nothing, nothing, nothing, forces, ("kept", "dropped"), Choice((0,)), frozenset())
    law = Iteration((), ("s",), (1.0,), (0.0,), s, s - 2 * forces[0] - 5 * forces[1], ())
    values = types.SimpleNamespace(
        iterated=s, iterations=(law,), unknowns=types.SimpleNamespace(a={}, multipliers={"rows": forces})
    )
    starts = types.SimpleNamespace(owner_of=lambda _: None)
    parameters = types.SimpleNamespace(resolve=lambda given: given)
    found = Iterations.of(values, starts, parameters, rows)  # type: ignore[arg-type]
    assert {str(symbol) for symbol in ca.symvar(found.residual)} == {"s", "l_0"}
    assert found.blocks == (1,)


def test_a_fixed_start_of_what_a_law_gives_is_an_equation():
    """A current that the law of a diode gives is no unknown that could be held."""

    class Conducting(Assembly):
        def __init__(self) -> None:
            self.source, self.ground = electrical.ConstantVoltage(V=5.0), electrical.Ground()
            self.r, self.d = electrical.Resistor(R=100.0, i=Start(0.02, fixed=True)), electrical.Diode()
            self.connect(self.source.p, self.r.p)
            self.connect(self.r.n, self.d.p)
            self.connect(self.d.n, self.source.n)
            self.connect(self.ground.p, self.source.n)

    formulation = formulation_of(Conducting())
    assert "r.i" in formulation.iterations.names
    assert [start.label for start in formulation.starts.conditions] == ["r.i"]
    assert "r.i" not in {start.label for start in formulation.starts.owner.values()}


def test_coordinates_that_conditions_know_are_absolute():
    """An elastic drive has a relative coordinate; where its torque is sought from its motion, it has none."""

    class Drive(Assembly):
        def __init__(self, inverse: bool) -> None:
            self.wave, self.smooth = blocks.Sine(f=1.0), blocks.CriticalDamping(n=5, f=2.0)
            self.torque, self.spring = rotational.Torque(), rotational.SpringDamper(c=100.0, d=1.0)
            self.motor, self.load, self.sensor = rotational.Inertia(J=1.0), rotational.Inertia(J=2.0), None
            self.connect(self.wave.y, self.smooth.u)
            self.connect(self.torque.flange, self.motor.flange_a)
            self.connect(self.motor.flange_b, self.spring.flange_a)
            self.connect(self.spring.flange_b, self.load.flange_a)
            if not inverse:
                self.connect(self.smooth.y, self.torque.tau)
                return
            self.sensor, self.inverse = rotational.AngleSensor(), blocks.InverseBlockConstraints()
            self.connect(self.load.flange_b, self.sensor.flange)
            self.connect(self.smooth.y, self.inverse.u1)
            self.connect(self.inverse.y2, self.torque.tau)
            self.connect(self.sensor.phi, self.inverse.u2)

    counts = {}
    for inverse in (False, True):
        values, _ = settled_of(Drive(inverse))
        counts[inverse] = len(values.topology.relative), len(values.graph.open_signals)
    assert counts == {False: (1, 0), True: (0, 1)}


def test_accelerations_solve_the_balances():
    class Slide(Assembly):
        def __init__(self) -> None:
            self.world, self.slide, self.body = World(n=(1, 0, 0)), Prismatic(n=(1, 0, 0)), Body(m=2.0, r_CM=(0, 0, 0))
            self.connect(self.world.frame_b, self.slide.frame_a)
            self.connect(self.slide.frame_b, self.body.frame_a)

    formulation = formulation_of(Slide())
    found = accelerations(formulation, is_singular=False, all_heavy=True)
    assert isinstance(found, Direct)
    A, b = (
        np.array(r) for r in found.dynamics(formulation.vectors)(0, [0, 0], [], formulation.parameters.default_P, [])
    )
    assert float(b[0, 0] / A[0, 0]) == pytest.approx(9.80665)


@dataclasses.dataclass(frozen=True)
class Written(Quantity):
    """A quantity of a graph written by hand."""

    label: str

    def name(self, structure: Structure) -> str:
        return self.label

    def shape(self, structure: Structure) -> tuple[int, int]:
        return 1, 1


def test_values_refuse_a_block_that_needs_its_own_derivative():
    """Also where the structure has not seen it, as it asks equations before they are matched."""
    structure, a, b = structure_of(Divider()), Written("a"), Written("b")
    time = structure.unknowns.time

    def rate(value: ca.SX) -> Differential:
        return Differential("a", value, time, ca.SX(1))

    formulas = {a: Formula((b,), lambda value: time + 0.5 * value), b: Formula((a,), rate)}
    with pytest.raises(ModelError, match="a: the equations need its derivative to find it"):
        evaluated(EquationGraph(structure, formulas, {}))
    formulas[a] = Formula.constant(3 * time)
    assert float(evaluated(EquationGraph(structure, formulas, {})).known[b]) == 3
