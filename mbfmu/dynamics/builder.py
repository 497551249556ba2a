"""Builder: from the sweeps' expressions to the numeric functions of `Equations`."""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca

from mbfmu.dynamics.energy import EnergyBalance
from mbfmu.dynamics.flatten import UnionFind, flatten
from mbfmu.dynamics.interface import Interface
from mbfmu.dynamics.parameters import Parameters
from mbfmu.dynamics.recursion import accelerations
from mbfmu.dynamics.redundancy import independent_rows
from mbfmu.dynamics.starts import Starts
from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.dynamics.topology import Edge, analyse
from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.runtime.contract import SOLVERS
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

#: Number of speeds from which on the recursion for trees is quicker than a dense matrix (measured on chains).
RECURSIVE_FROM = 5


@dataclasses.dataclass
class Rows:
    """Constraint rows of one origin: position residual (or None), velocity and acceleration residual, multipliers."""

    name: str
    position: ca.SX | None
    velocity: ca.SX
    acceleration: ca.SX
    multipliers: ca.SX


class Builder:
    """Makes `Equations` and variables of one assembly; used once, by System.of."""

    def __init__(self, assembly: Assembly, cuts: tuple[str, ...] = (), energy: bool = False) -> None:
        self.assembly = assembly
        self.flat = flatten(assembly)
        self.topology = analyse(self.flat, tuple(cuts))
        self.sweeps = Sweeps(self.topology)
        symbols = self.sweeps.symbols
        self.interface = Interface(
            assembly, self.flat, self.topology, self.sweeps, EnergyBalance(self.sweeps) if energy else None
        )
        self.sweeps.prepare()
        self.q, self.v, self.a, self.z = (_stack(d.values()) for d in (symbols.q, symbols.v, symbols.a, symbols.z))
        self.rows = [*self._cut_rows(), *self._component_rows(), *self._relation_rows(), *self._root_rows()]
        self._motion()
        self.u, self.m = _stack(symbols.inputs.values()), _stack(symbols.modes.values())
        self.parameters = Parameters()
        self.parameters.add_components(self.flat.components)
        self.parameters.add_components({p: self.topology.records[p].component for p in self.topology.free})
        self.starts = Starts(self.topology, self.sweeps, self.parameters)
        self.interface.collect_values()
        self.parameters.close()
        if self.starts.hints or self.rows:
            self.starts.follow_hints(self)
        self._place_rows()
        self._make()

    # -- constraints

    def _cut_rows(self) -> list[Rows]:
        """A cut joint keeps its coordinates; its second frame b is welded to the first."""
        return [self._weld(edge) for edge in self.topology.edges if edge.role == "cut"]

    def _weld(self, edge: Edge) -> Rows:
        s = self.sweeps
        two = {what: s.beyond(edge, what) for what in ("r_0", "T", "v_0", "w", "a_0", "z")}
        T = s.frame(edge.b, "T")
        turn = two["T"] @ T.T
        vector = ca.vertcat(turn[1, 2] - turn[2, 1], turn[2, 0] - turn[0, 2], turn[0, 1] - turn[1, 0])
        # 2 tan(angle/2) along the axis: the rotation vector near zero, and no second zero at 180 degrees
        rotation = 2 * vector / (1 + ca.trace(turn))
        position = ca.vertcat(T @ (two["r_0"] - s.frame(edge.b, "r_0")), rotation)
        velocity = ca.vertcat(T @ (two["v_0"] - s.frame(edge.b, "v_0")), two["w"] - s.frame(edge.b, "w"))
        acceleration = ca.vertcat(T @ (two["a_0"] - s.frame(edge.b, "a_0")), two["z"] - s.frame(edge.b, "z"))
        key = ("cut", edge.path, edge.connectors[1])
        return Rows(f"cut of {edge.path}", position, velocity, acceleration, s.symbols.multiplier(key, 6))

    def _component_rows(self) -> list[Rows]:
        rows = []
        for path, record in self.topology.records.items():
            for c in record.constraints:
                parts = [p for p in (c.position, c.velocity, c.acceleration) if p is not None]
                values = self.sweeps.globalise(path, parts)
                multipliers = _stack(self.sweeps.symbols.multipliers[(path, n)] for n in c.multipliers)
                if multipliers.numel() != c.velocity.numel():
                    raise ModelError(
                        f"{path}: constrain({', '.join(c.multipliers)}) has {c.velocity.numel()} rows for "
                        f"{multipliers.numel()} multipliers; give one of each"
                    )
                rows.append(
                    Rows(
                        f"{path} {c.name}",
                        values[0] if c.position is not None else None,
                        values[-2],
                        values[-1],
                        multipliers,
                    )
                )
        return rows

    def _relation_rows(self) -> list[Rows]:
        rows = []
        for relation in self.topology.relations:
            if relation.solves is None:
                derivative = self.topology.records[relation.path].derivative
                local = [
                    relation.expression,
                    derivative(relation.expression),
                    derivative(derivative(relation.expression)),
                ]
                position, velocity, acceleration = self.sweeps.globalise(relation.path, local)
                name = f"relation {relation.index + 1} of {relation.path}"
                rows.append(Rows(name, position, velocity, acceleration, self.sweeps.multiplier(relation)))
        return rows

    def _root_rows(self) -> list[Rows]:
        rows = []
        for path, connector in self.topology.extra_roots:
            node = ("flange", self.flat.nodes[(path, connector)])
            position, velocity, acceleration = (
                self.sweeps.scalar(node, order) - self.sweeps.target(path, ("root", connector), order)
                for order in (0, 1, 2)
            )
            multiplier = self.sweeps.symbols.multiplier(("root", path, connector), 1)
            rows.append(Rows(f"{path}.{connector}", position, velocity, acceleration, multiplier))
        return rows

    def _place_rows(self) -> None:
        """All constraint rows as columns: positions first, so that the first velocity rows are their derivatives."""
        position, velocity, acceleration, names, multipliers = [], [], [], [], []
        for with_position in (True, False):
            for row in self.rows:
                if (row.position is not None) != with_position:
                    continue
                if row.position is not None:
                    position.append(row.position)
                velocity.append(row.velocity)
                acceleration.append(row.acceleration)
                multipliers.append(row.multipliers)
                size = row.velocity.numel()
                names += [row.name if size == 1 else f"{row.name}, row {i + 1}" for i in range(size)]
        resolve = self.parameters.resolve
        self.g_all, self.c_all, self.gamma_all = resolve([_stack(position), _stack(velocity), _stack(acceleration)])
        self.multipliers = _stack(multipliers)
        self.row_names = names

    # -- functions

    def _motion(self) -> None:
        """Balances along all speeds, and the rates of positions and states."""
        sweeps, symbols, topology = self.sweeps, self.sweeps.symbols, self.topology
        forces = [sweeps.balance(node) for node in topology.independent]
        for key, speed in symbols.v.items():
            if key[0] in topology.records:  # speeds of their own; the others belong to scalar nodes
                forces += [sweeps.drive(key[0], ("speed", key[1], 0), i) for i in range(speed.numel())]
        rate = [sweeps.position_rate(key) for key in symbols.q]
        states = [sweeps.target(path, ("state'", name)) for path, name in self._states()]
        self.forces, self.qdot, self.zdot = _stack(forces), _stack(rate), _stack(states)
        self._add_massless()

    def _add_massless(self) -> None:
        """Where a speed moves no mass, its balance is a condition on positions (or speeds), kept as a constraint.

        The multiplier that comes with it stays zero: it only gives the balance, without accelerations, an unknown.
        """
        unknown = ca.vertcat(self.a, *(r.multipliers for r in self.rows))
        if not self.v.numel():
            return
        known = {row for row, _ in zip(*ca.jacobian_sparsity(self.forces, unknown).get_triplet(), strict=True)}
        for i in (i for i in range(self.v.numel()) if i not in known):
            name = f"balance of forces along {self.v[i].name()}"
            if self.v[i].name().endswith("'"):
                name = name[:-1]
            balance = self.forces[i]
            rate = self._total_derivative(balance)
            multiplier = ca.SX.sym(name)
            if ca.depends_on(balance, self.v):
                self.rows.append(Rows(name, None, balance, rate, multiplier))
            else:
                self.rows.append(Rows(name, balance, rate, self._total_derivative(rate), multiplier))
            self.forces[i] += multiplier

    def _total_derivative(self, expression: ca.SX) -> ca.SX:
        """d/dt of an expression in time and states."""
        states = ca.vertcat(self.sweeps.symbols.time, self.q, self.v, self.z)
        return ca.jtimes(expression, states, ca.vertcat(1, self.qdot, self.a, self.zdot))

    def _make(self) -> None:
        parameters = self.parameters
        self.x, self.P = ca.vertcat(self.q, self.v, self.z), parameters.all
        forces, self.qdot, self.zdot = parameters.resolve([self.forces, self.qdot, self.zdot])
        self.w = ca.vertcat(self.a, self.multipliers)
        self._dropped_multipliers = ca.SX(0, 1)
        self._starts_singular = False
        self.keep = self._independent_rows()
        self._dropped_multipliers = _rows(self.multipliers, self._dropped())
        self.w = ca.vertcat(self.a, _rows(self.multipliers, self.keep))
        self._solve_form(ca.vertcat(forces, _rows(self.gamma_all, self.keep)))
        self.interface.place(self)

    def _dropped(self) -> list[int]:
        kept = set(self.keep)
        return [i for i in range(self.c_all.numel()) if i not in kept]

    def _solve_form(self, residual: ca.SX) -> None:
        """A w = b from the residuals of motion and constraints, which must be linear in w; or w itself for a tree."""
        self.blocks: tuple[tuple[int, ...], ...] = (tuple(range(self.w.numel())),)
        self.recursive = self._recursive()
        if self.recursive is not None:
            return
        residual = self._without_dropped([residual])[0]
        A = ca.jacobian(residual, self.w)
        if self.w.numel() and ca.depends_on(A, self.w):
            raise ModelError(self._nonlinear(residual))
        b = -ca.substitute(residual, self.w, ca.SX.zeros(self.w.numel()))
        self.blocks = _blocks(A)
        self.A, self.b = ca.cse([ca.densify(A), ca.densify(b)]) if self.w.numel() else (A, b)

    def _recursive(self) -> ca.Function | None:
        """Accelerations by the recursion for trees, where it applies and pays."""
        if self.v.numel() < RECURSIVE_FROM or self.rows:
            return None
        return accelerations(self.topology, self.sweeps, self._standard, self.parameters.resolve)

    @property
    def _standard(self) -> list[ca.SX]:
        """The arguments (t, x, u, P, m) that most functions have."""
        return [self.sweeps.symbols.time, self.x, self.u, self.P, self.m]

    @property
    def motion_residual(self) -> ca.SX:
        """What is zero for the right w."""
        if self.recursive is not None:
            return self.w - self.recursive(*self._standard)
        return self.A @ self.w - self.b

    def _dynamics(self) -> ca.Function:
        """`dynamics(t, x, u, P, m)`: A and b, or nothing and w."""
        if self.recursive is None:
            return ca.Function("dynamics", self._standard, [self.A, self.b])
        inputs = self.recursive.mx_in() if self.recursive.is_a("MXFunction") else self._standard
        empty = ca.MX(0, 0) if self.recursive.is_a("MXFunction") else ca.SX(0, 0)
        return ca.Function("dynamics", inputs, [empty, *self.recursive.call(inputs)])

    def rates(self) -> list[ca.SX]:
        """dx/dt, one expression per state."""
        zdot = self._without_dropped([self.zdot])[0]
        column = ca.vertcat(self.qdot, self.a, zdot)
        return list(ca.vertsplit(column)) if column.numel() else []

    def dependence(self) -> Any:
        """Function (store, index, variables) -> names of inputs and states that a value depends on."""
        return self.interface.dependence(self)

    def _nonlinear(self, residual: ca.SX) -> str:
        names = [
            n
            for n, f in zip(self._speed_names(), ca.vertsplit(residual), strict=False)
            if ca.depends_on(ca.jacobian(f, self.w), self.w)
        ]
        return (
            f"the equations of {', '.join(names[:4])} are not linear in accelerations and cut forces: an acceleration "
            "or cut force is fed back through a nonlinear block; put a filter (FirstOrder) in between"
        )

    def _states(self) -> list[tuple[str, str]]:
        return list(self.sweeps.symbols.z)

    def _speed_names(self) -> list[str]:
        return [str(s) for s in ca.vertsplit(self.v)] if self.v.numel() else []

    def _without_dropped(self, expressions: list[ca.SX]) -> list[ca.SX]:
        if not self._dropped_multipliers.numel():
            return expressions
        return list(
            ca.substitute(expressions, [self._dropped_multipliers], [ca.SX.zeros(self._dropped_multipliers.numel())])
        )

    def _independent_rows(self) -> list[int]:
        """Constraint rows that do not follow from the others."""
        if not self.c_all.numel():
            return []
        rows, start, self._starts_singular = independent_rows(self._record(None))
        self.starts.adopt(self, start)
        return rows

    def _record(self, keep: list[int] | None) -> Equations:
        """The record of the equations; without `keep` a preliminary one with all constraint rows, at rest."""
        t, x, u, P, m, w = self.sweeps.symbols.time, self.x, self.u, self.P, self.m, self.w
        parameters, standard = self.parameters, self._standard
        is_final = keep is not None
        keep = list(range(self.c_all.numel())) if keep is None else keep
        kept_positions = [i for i in keep if i < self.g_all.numel()]
        dropped = [i for i in range(self.g_all.numel()) if i not in set(keep)]
        initial = self.starts.equations(self, is_final)
        dv = ca.SX.sym("dv", self.v.numel())
        velocity = _rows(self.c_all, keep)
        none = ca.SX(0, 1)
        crossings, outputs, assertions = ca.SX.zeros(m.numel()), none, none
        rates = ca.SX.zeros(x.numel())
        if is_final:
            crossings, outputs, assertions, zdot = self._without_dropped(
                [self._crossings(), _stack(self.interface.outputs), self._checks(), self.zdot]
            )
            rates = ca.vertcat(self.qdot, self.a, zdot)
        outputs = ca.cse(outputs) if outputs.numel() else outputs
        results: dict[str, tuple[list[ca.SX], list[ca.SX]]] = {
            "derived": ([parameters.independent], [_stack(parameters.expressions)]),
            "guess": ([P], [initial.guess]),
            "derivatives": ([*standard, w], [rates]),
            "displacement": ([t, x, P, dv], [ca.substitute(self.qdot, self.v, dv)]),
            "constraints": (standard, [_rows(self.g_all, kept_positions), velocity, ca.jacobian(velocity, self.v)]),
            "redundant": (standard, [_rows(self.g_all, dropped)]),
            "next_times": ([t, P], [self._times() if is_final else none]),
            "crossings": ([*standard, w], [crossings]),
            "variables": ([*standard, w], [outputs]),
            "assertions": ([*standard, w], [assertions]),
        }
        functions = {
            name: ca.Function(name, arguments, [ca.densify(value) for value in values])
            for name, (arguments, values) in results.items()
        }
        functions["initial"] = initial.function(t, u, P, m)
        at_rest = ca.Function(
            "dynamics", standard, [ca.SX.zeros(w.numel(), w.numel()) + ca.SX.eye(w.numel()), ca.SX.zeros(w.numel())]
        )
        functions["dynamics"] = self._dynamics() if is_final else at_rest
        return Equations(
            name=self.assembly.name,
            quaternions=self._quaternions(),
            free=tuple(parameters.free),
            initial_with_w=initial.with_w,
            fixed=tuple(initial.fixed),
            weights=tuple(initial.weights),
            unknown_names=tuple(self._unknown_names(initial.with_w)),
            equation_names=tuple(initial.names),
            position_names=tuple(self.row_names[i] for i in kept_positions),
            velocity_names=tuple(self.row_names[i] for i in keep),
            redundant_names=tuple(self.row_names[i] for i in dropped),
            explicit=is_final and self.recursive is not None,
            blocks=self.blocks if is_final else (tuple(range(w.numel())),),
            switch_names=self._switch_names(),
            time_switches=self._time_switches() if is_final else (False,) * m.numel(),
            assertion_messages=tuple(self._messages()) if is_final else (),
            parameters=tuple(parameters.defaults),
            inputs=tuple(self.interface.input_starts),
            start_time=self.assembly.start_time,
            stop_time=self.assembly.stop_time,
            tolerance=self.assembly.tolerance,
            solver=self._solver(),
            functions=functions,
        )

    def _solver(self) -> str:
        if self.assembly.solver not in SOLVERS:
            raise ModelError(f'{self.assembly.name}: solver "{self.assembly.solver}" is none of {", ".join(SOLVERS)}')
        return self.assembly.solver

    def equations(self) -> Equations:
        """The finished record."""
        return self._record(self.keep)

    def variables(self) -> tuple[ScalarVariable, ...]:
        """Every scalar that can be seen of the system."""
        return self.interface.variables(self)

    def structure(self) -> list[str]:
        """Report of the topology."""
        free = self.v.numel() - len(self.keep)
        lines = [f"{free} degrees of freedom ({self.v.numel()} speeds, {len(self.keep)} constraints)"]
        in_tree = [edge.path for edge in self.topology.order if edge.role == "tree" and edge.dof]
        if in_tree:
            lines.append(f"joints in the tree: {', '.join(in_tree)}")
        lines += self.topology.report
        for path, record in self.topology.records.items():
            count = sum(constraint.velocity.numel() for constraint in record.constraints)
            if count:
                lines.append(f"{path}: {count} constraint{'s' if count > 1 else ''} of its own")
        if self._starts_singular:
            lines.append("branches of motion cross at the start: the guesses of speeds choose one")
        by_name: dict[str, list[str]] = {}
        for i in range(self.c_all.numel()):
            if i in self._dropped():
                name, _, row = self.row_names[i].partition(", row ")
                by_name.setdefault(name, []).append(row or "1")
        return lines + [f"{name}: rows {', '.join(rows)} are redundant and dropped" for name, rows in by_name.items()]

    # -- small pieces

    def _checks(self) -> ca.SX:
        values = [self.sweeps.globalise(p, [e])[0] for p, r in self.topology.records.items() for e, _ in r.checks]
        return self.parameters.resolve([_stack(values)])[0]

    def _messages(self) -> list[str]:
        return [
            f"{p}: {message}"
            for p, r in self.topology.records.items()
            for e, message in r.checks
            for _ in range(e.numel())
        ]

    def _crossings(self) -> ca.SX:
        values = [self.sweeps.globalise(p, [e])[0] for p, r in self.topology.records.items() for e in r.switches]
        return self.parameters.resolve([_stack(values)])[0]

    def _time_switches(self) -> tuple[bool, ...]:
        """Switches of time alone, whose instants their component names; the crossings of all others are looked for."""
        flags: list[bool] = []
        for record in self.topology.records.values():
            for expression in record.switches:
                flags += [all(key == ("time",) for key, *_ in record.leaves_in(expression))] * expression.numel()
        return tuple(flags)

    def _switch_names(self) -> tuple[str, ...]:
        """For messages: the component, and the number of the switch where it has several."""
        names: list[str] = []
        for path, record in self.topology.records.items():
            count = sum(expression.numel() for expression in record.switches)
            names += [f"switch of {path}" if count == 1 else f"switch {i + 1} of {path}" for i in range(count)]
        return tuple(names)

    def _times(self) -> ca.SX:
        values = [self.sweeps.globalise(p, [e])[0] for p, r in self.topology.records.items() for e in r.times]
        return self.parameters.resolve([_stack(values)])[0]

    def _quaternions(self) -> tuple[int, ...]:
        offsets, at = [], 0
        for q in self.sweeps.symbols.q.values():
            if q.numel() == 4:
                offsets.append(at)
            at += q.numel()
        return tuple(offsets)

    def _unknown_names(self, with_w: bool) -> list[str]:
        symbols = [self.q, self.v, self.z, _stack(self.parameters.symbols[i] for i in self.parameters.free)]
        if with_w:
            symbols.append(self.w)
        elements = [s for column in symbols if column.numel() for s in ca.vertsplit(column)]
        owners = [self.starts.owner.get(s.element_hash()) for s in elements]
        return [str(s) if owner is None else owner.label for s, owner in zip(elements, owners, strict=True)]


def _stack(columns: Any) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *(ca.vec(c) for c in columns))


def _rows(column: ca.SX, indices: list[int]) -> ca.SX:
    return column[indices] if indices else ca.SX(0, 1)


def _blocks(A: ca.SX) -> tuple[tuple[int, ...], ...]:
    """Sets of unknowns whose equations do not touch each other."""
    union = UnionFind()
    for i in range(A.size1()):
        union.find(i)
    rows, columns = A.sparsity().get_triplet()
    for i, j in zip(rows, columns, strict=True):
        union.union(i, j)
    return tuple(tuple(sorted(group)) for group in union.sets())
