"""Equations of a user's model -> assignments: each is solved for what it alone determines, in the order of dependence.

Unknowns are the model's variables, the rates of its states, its outputs, and, where it has no parts, the flows at its
connectors. An equation that names one unknown on a side of its own is an assignment; where unknowns enter linearly,
one or several equations together are solved for them. What remains is refused.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica import values
from mbfmu.importers.modelica.evaluate import Environment, condition, evaluate, subscripted
from mbfmu.importers.modelica.syntax import fault
from mbfmu.importers.modelica.values import Wrong, array, casadi, is_symbolic
from mbfmu.modeling import Component, State
from mbfmu.modeling.connectors import Flange, Frame, NetworkPort, SignalOutput
from mbfmu.modeling.leaves import Time

if TYPE_CHECKING:
    from mbfmu.importers.modelica.making import Model
    from mbfmu.importers.modelica.modifiers import Layer

#: Smaller parts of a sum are what rounding leaves.
_NOTABLE = 1e-9
#: An unknown scalar: ("variable", name), ("rate", name) or ("flow", connector, quantity), and the element's place.
Unknown = tuple[tuple[str, ...], int]


@dataclasses.dataclass(frozen=True)
class Statement:
    """An equation that is to be solved: left = right."""

    left: s.Node
    right: s.Node
    env: Environment
    layer: Layer | None = None

    @property
    def text(self) -> str:
        """The equation as it was written."""
        return f"{s.text(self.left)} = {s.text(self.right)}"


class Equations:
    """The equations of one model while they are evaluated in mbfmu's scope."""

    def __init__(self, model: Model, scope: Any) -> None:
        self.model, self.scope = model, scope
        #: Known elements, None where still unknown.
        self.known: dict[tuple[str, ...], list[Any]] = {}
        self.shapes: dict[tuple[str, ...], tuple[int, ...]] = {}
        self.states: set[str] = set()

    # -- what expressions ask for

    @property
    def time(self) -> Any:
        """Time [s]."""
        return self.scope.time

    def is_boolean(self, symbol: ca.SX) -> bool:
        """False for what is known to be a number."""
        return symbol.element_hash() not in self.scope._notes.leaf_of or self.scope._notes.is_boolean(symbol)

    def compare(self, sign: str, difference: Any) -> Any:
        """1 where `difference sign 0` holds, else 0; an event where that changes."""
        if sign in ("==", "<>"):
            raise Wrong("Real values that change are never compared for equality; use <, <=, > or >=")
        if sign in (">=", "<"):
            return self._switch(difference, *((1, 0) if sign == ">=" else (0, 1)))
        return self._switch(-difference, *((0, 1) if sign == ">" else (1, 0)))

    def switch(self, expression: Any, then: Any, otherwise: Any) -> Any:
        """`then` while expression >= 0, else `otherwise`."""
        if not is_symbolic(expression) or self.model.session.is_parameter(expression):
            return (
                ca.if_else(expression >= 0, then, otherwise)
                if is_symbolic(expression)
                else (then if expression >= 0 else otherwise)
            )
        return self._switch(expression, then, otherwise)

    def _switch(self, expression: Any, then: Any, otherwise: Any) -> Any:
        self._refuse_guesses(expression)
        leaves = [leaf for leaf, _, _ in self.scope._notes.leaves_in(ca.SX(expression))]
        if leaves and all(leaf == Time() for leaf in leaves):
            self._time_event(expression)
        return self.scope.switch(expression, then, otherwise)

    def _time_event(self, expression: Any) -> None:
        """Where a condition is linear in time alone, its instant is known before."""
        time = self.time
        slope = ca.jacobian(ca.SX(expression), time)
        if not ca.depends_on(slope, time) and (not slope.is_constant() or float(slope) != 0):
            self.scope.time_event(-ca.substitute(ca.SX(expression), time, 0) / slope)

    def _refuse_guesses(self, expression: Any) -> None:
        if self._guesses and ca.depends_on(ca.SX(expression), ca.vertcat(*self._guesses)):
            raise Wrong("the condition depends on what the equation determines; break the circle")

    _guesses: tuple[Any, ...] = ()

    def variable(self, model: Model, name: str, node: s.Node) -> Any:
        """A variable of the model, or of a model below it."""
        if model is not self.model:
            return self.outside(model.component, name, None, node)
        key = ("variable", name)
        if key not in self.known:
            self._declare(name)
        elements = self.known[key]
        if any(e is None for e in elements):
            raise Wrong(f"{name} is not known yet")
        return _shaped(elements, self.shapes[key])

    def derivative(self, node: s.Call, env: Environment) -> Any:
        """der(...)."""
        argument = node.arguments[0]
        if isinstance(argument, s.Reference) and argument.names[0] in self.states and len(argument.parts) == 1:
            key = ("rate", argument.names[0])
            if env.model is self.model and argument.names[0] not in env.locals:
                elements = self.known[key]
                if any(e is None for e in elements):
                    raise Wrong(f"der({argument}) is not known yet")
                return subscripted(_shaped(elements, self.shapes[key]), argument.parts[0][1], argument, env)
        value = evaluate(argument, env)
        if isinstance(value, str | bool | dict) or not all(map(values.is_number, values.flat(value))):
            raise Wrong(f"{values.describe(value)} has no derivative")
        try:
            return values.elementwise(lambda x: self.scope.der(x) if is_symbolic(x) else 0, value)
        except ModelError as error:
            raise Wrong(str(error)) from None

    def outside(self, component: Component, name: str, quantity: str | None, node: s.Node) -> Any:
        """A variable or signal of a part, or a variable of a connector."""
        own = self.model.component
        if component is own:
            return self._own(name, quantity, node)
        chain: list[str] = []
        part: Component | None = component
        while part is not None and part is not own:
            chain.append(part._name)
            part = part.part_of
        if part is None:
            raise fault(
                node.at,
                f"{s.text(node)}: lies outside of {self.model.title}, whose equations can only read its own parts",
            )
        first, *rest = reversed(chain)
        view = self.scope._part(first)
        for piece in rest:
            view = getattr(view, piece)
        view = getattr(view, name)
        if quantity is not None:
            return _read(getattr(view, quantity))
        declaration: Any = component.ports().get(name) or component.declarations[name]
        return _shaped(values.flat(array(view)), tuple(declaration.shape(component)))

    def _own(self, name: str, quantity: str | None, node: s.Node) -> Any:
        port = self.model.component.ports()[name]
        key: tuple[str, ...] = ("variable", name)
        if quantity is not None:
            key = ("flow", name, quantity)
            if key in self.known:
                elements = self.known[key]
                if any(e is None for e in elements):
                    raise Wrong(f"{name}.{quantity} is not known yet")
                return _shaped(elements, self.shapes[key])
            return _read(getattr(self._port_view(name), quantity))
        if isinstance(port, SignalOutput):
            if key in self.known:
                elements = self.known[key]
                if any(e is None for e in elements):
                    raise Wrong(f"{name} is not known yet")
                return _shaped(elements, self.shapes[key])
            return self._fed(port, node)
        return _shaped(values.flat(array(self._port_view(name))), tuple(port.shape(self.model.component)))

    def _fed(self, port: SignalOutput, node: s.Node) -> Any:
        """Value of an output of the model's own that connections feed: that of their sources."""
        own = self.model.component
        elements: dict[int, Any] = {}
        for source, sink in own.connections:
            if sink.owner is own and sink.port.name == port.name:
                found = values.flat(array(self.outside(source.owner, source.port.name, None, node)))
                found = [found[k] for k in source.elements] if source.elements is not None else found
                places = sink.elements if sink.elements is not None else range(len(found))
                elements |= dict(zip(places, found, strict=True))
        shape = tuple(port.shape(own))
        if set(elements) != set(range(_size(shape))):
            raise fault(node.at, f"{port.name}: no connection feeds this output, or only part of it")
        return _shaped([elements[k] for k in range(_size(shape))], shape)

    def _port_view(self, name: str) -> Any:
        return self.model.component.ports()[name].view(self.scope._notes)

    # -- unknowns

    def _declare(self, name: str) -> None:
        """Take a variable of the model as known (a state) or unknown."""
        component = self.model.component
        declaration = type(component).declarations[name]
        shape = tuple(declaration.shape(component))
        size = _size(shape)
        self.shapes[("variable", name)] = self.shapes[("rate", name)] = shape
        if isinstance(declaration, State):
            self.states.add(name)
            self.known[("variable", name)] = values.flat(array(self.scope._read(declaration)))
            self.known[("rate", name)] = [None] * size
        else:
            self.known[("variable", name)] = [None] * size

    def _declare_all(self) -> None:
        model = self.model
        for name in model.of_kind("variable"):
            if model.exists(name):
                self._declare(name)
        sinks = {
            (b.port.name if a.owner is not model.component else a.port.name)
            for a, b in model.component.connections
            if model.component in (a.owner, b.owner)
        }
        for name, port in model.component.ports().items():
            if isinstance(port, SignalOutput) and name not in sinks:
                shape = tuple(port.shape(model.component))
                self.known[("variable", name)] = [None] * _size(shape)
                self.shapes[("variable", name)] = shape
            elif isinstance(port, Frame | Flange | NetworkPort) and not model.is_composite:
                for quantity in port.flows:
                    key = ("flow", name, quantity.name)
                    self.known[key] = [None] * _size(quantity.shape)
                    self.shapes[key] = quantity.shape

    # -- statements

    def _statements(self) -> list[Statement]:
        model = self.model
        result = []
        for name in (*model.of_kind("variable"), *model.of_kind("connector")):
            if not model.exists(name):
                continue
            for layer in model.layers(name):
                if layer.modification.value is None:
                    continue
                kind = model.kind(name)
                if kind.kind == "connector" and not (kind.port is not None and issubclass(kind.port, SignalOutput)):
                    break
                if layer.env.model is not model and any(
                    isinstance(n, s.Reference) for n in layer.modification.value.walk()
                ):
                    if kind.kind == "connector":
                        break
                    self._refuse_foreign(name, layer)
                at = layer.modification.value.at
                left = s.Reference(at, ((name, ()),))
                result.append(Statement(left, layer.modification.value, self._here(layer.env), layer))
                break
        for equation, env in model.active(model.content.equations):
            result += self._of(equation, self._here(env))
        return result

    def _refuse_foreign(self, name: str, layer: Layer) -> None:
        node = layer.modification.value
        assert node is not None
        for reference in node.walk():
            if isinstance(reference, s.Reference) and layer.env.model is not None and reference.names == ("time",):
                continue
        # Parameters of the model around are fine; variables would be read from below.

    def _here(self, env: Environment) -> Environment:
        return dataclasses.replace(env, equations=self)

    def _of(self, equation: s.Node, env: Environment) -> list[Statement]:
        if isinstance(equation, s.Equality):
            if self._is_drive(equation):
                return []
            if isinstance(equation.left, s.Tuple):
                return self._of_tuple(equation, env)
            return [Statement(equation.left, equation.right, env)]
        if isinstance(equation, s.If):
            return self._merged(equation, env)
        if isinstance(equation, s.CallEquation):
            self.assertions.append((equation.call, env))
        elif isinstance(equation, s.Connect) and not self.model.is_composite:
            ports = self.model.component.ports()
            gives_a = isinstance(ports.get(equation.a.names[0]), SignalOutput)
            left, right = (equation.a, equation.b) if gives_a else (equation.b, equation.a)
            return [Statement(left, right, env)]
        elif isinstance(equation, s.When):
            raise fault(
                equation.at,
                "when-equations are not translated; use a block of Modelica.Blocks for what they decide, or "
                "an if-expression where the value follows from the present ones",
            )
        return []

    def _of_tuple(self, equation: s.Equality, env: Environment) -> list[Statement]:
        raise fault(
            equation.at, "functions with several outputs are not translated in equations; write a function for each"
        )

    def _is_drive(self, equation: s.Equality) -> bool:
        return any(node in (equation.left, equation.right) for _, node, _, layer in self.model.given if layer is None)

    def _merged(self, equation: s.If, env: Environment) -> list[Statement]:
        """An if-equation whose conditions change: equation by equation, both sides are chosen."""
        bodies = [body for _, body in equation.branches] + [equation.otherwise]
        simple = [[e for e in body if not (isinstance(e, s.CallEquation))] for body in bodies]
        if len({len(body) for body in simple}) != 1 or not all(
            isinstance(e, s.Equality) for body in simple for e in body
        ):
            raise fault(
                equation.at,
                "the branches of this if-equation must have equally many equations `x = ...`, an else-branch, "
                "too; their condition changes while the model runs",
            )
        result = []
        names = [s.text(e.left) for e in simple[0] if isinstance(e, s.Equality)]
        sorted_bodies = []
        for body in simple:
            by_name = {s.text(e.left): e for e in body if isinstance(e, s.Equality)}
            if set(by_name) != set(names):
                raise fault(
                    equation.at,
                    "the branches of this if-equation determine different variables; its condition changes "
                    "while the model runs, so write each variable on the left of one equation per branch",
                )
            sorted_bodies.append([by_name[n] for n in names])
        for row in zip(*sorted_bodies, strict=True):
            branches = tuple((c, e.right) for (c, _), e in zip(equation.branches, row, strict=False))
            choice = s.Conditional(row[0].at, branches, row[-1].right)
            result.append(Statement(row[0].left, choice, env))
        return result

    # -- dependence

    def _unknowns(self, node: s.Node, env: Environment) -> set[Unknown]:
        """Unknown scalars that an expression reads."""
        if isinstance(node, s.Reference):
            return self._named(node, env)
        if isinstance(node, s.Call) and node.function.names == ("der",) and len(node.arguments) == 1:
            argument = node.arguments[0]
            if isinstance(argument, s.Reference) and argument.names[0] in self.states and len(argument.parts) == 1:
                return self._elements(("rate", argument.names[0]), argument.parts[0][1], argument, env)
        found: set[Unknown] = set()
        if isinstance(node, s.Iteration):
            names = {name for name, _ in node.indices}
            return {
                u
                for child in (node.expression,)
                for u in self._unknowns(child, env.with_locals(**dict.fromkeys(names)))
            }
        if isinstance(node, s.Operation):
            first, links = node.chain()
            return self._unknowns(first, env) | self._below([link.operands[1:] for link in links], env)
        for field in dataclasses.fields(node):
            if not (isinstance(node, s.Call) and field.name == "function"):
                found |= self._below(getattr(node, field.name), env)
        return found

    def _below(self, value: Any, env: Environment) -> set[Unknown]:
        if isinstance(value, s.Node):
            return self._unknowns(value, env)
        if isinstance(value, tuple | list):
            return {u for item in value for u in self._below(item, env)}
        return set()

    def _named(self, node: s.Reference, env: Environment) -> set[Unknown]:
        first, subscripts = node.parts[0]
        found = {u for _, own in node.parts for x in own for u in self._unknowns(x, env)}
        if first in env.locals or env.model is not self.model:
            return found
        key: tuple[str, ...] = ("variable", first)
        if key in self.known and len(node.parts) == 1:
            return found | self._elements(key, subscripts, node, env)
        if len(node.parts) == 2:
            key = ("flow", _subscripted_name(first, subscripts, env), node.parts[1][0])
            if key in self.known:
                return found | self._elements(key, node.parts[1][1], node, env)
        return found

    def _elements(self, key: tuple[str, ...], subscripts: Any, node: s.Node, env: Environment) -> set[Unknown]:
        elements, shape = self.known[key], self.shapes[key]
        places = list(range(len(elements)))
        if subscripts:
            try:
                places = [int(k) for k in values.flat(subscripted(_shaped(places, shape), subscripts, node, env))]
            except ModelError:
                places = list(range(len(elements)))  # of a loop: take all
        return {(key, k) for k in places if elements[k] is None}

    def _target(self, node: s.Node, env: Environment) -> list[Unknown] | None:
        """The unknowns that a side consists of, in order; None where it is an expression."""
        if isinstance(node, s.Array):
            parts = [self._target(i, env) for i in node.items]
            return None if any(p is None for p in parts) else [u for p in parts if p is not None for u in p]
        if isinstance(node, s.Call) and node.function.names == ("der",) and len(node.arguments) == 1:
            argument = node.arguments[0]
            if isinstance(argument, s.Reference) and argument.names[0] in self.states and len(argument.parts) == 1:
                return self._places(("rate", argument.names[0]), argument.parts[0][1], node, env)
            return None
        if not isinstance(node, s.Reference) or node.names[0] in env.locals or env.model is not self.model:
            return None
        first, subscripts = node.parts[0]
        if len(node.parts) == 1 and ("variable", first) in self.known:
            return self._places(("variable", first), subscripts, node, env)
        if len(node.parts) == 2:
            key = ("flow", _subscripted_name(first, subscripts, env), node.parts[1][0])
            if key in self.known:
                return self._places(key, node.parts[1][1], node, env)
        return None

    def _places(self, key: tuple[str, ...], subscripts: Any, node: s.Node, env: Environment) -> list[Unknown] | None:
        places = _shaped(list(range(len(self.known[key]))), self.shapes[key])
        chosen = values.flat(subscripted(places, subscripts, node, env)) if subscripts else values.flat(places)
        if any(self.known[key][int(k)] is not None for k in chosen):
            return None
        return [(key, int(k)) for k in chosen]

    # -- solving

    def run(self) -> None:
        """Evaluate everything and hand it to the scope: the `equations` of the model's component class.

        Raises:
            ModelError: an equation that is not among those that are translated, or too many or too few.
        """
        self.assertions: list[tuple[s.Call, Environment]] = []
        self._declare_all()
        waiting = self._statements()
        while waiting:
            left = [e for e in waiting if not self._assigned(e)]
            if len(left) == len(waiting):
                left = [e for e in waiting if not self._solved([e])]
            if len(left) == len(waiting):
                if not self._solved(waiting):
                    self._refuse(waiting)
                left = []
            waiting = left
        self._complete()
        self._hand_over()
        for call, env in self.assertions:
            self._assert(call, env)
        if hasattr(self.model, "left_initial"):
            initial = self.model.left_initial
        else:
            initial = list(self.model.active(self.model.content.initial))
        for equation, env in initial:
            self._initially(equation, self._here(env))

    def _value(self, statement: Statement, node: s.Node) -> Any:
        value = evaluate(node, statement.env)
        if statement.layer is not None and node is statement.right:
            for index in statement.layer.indices:
                value = value[index - 1] if isinstance(value, list) else value
        return value

    def _assigned(self, statement: Statement) -> bool:
        """Take `x = expression` or `expression = x` where the expression is known."""
        for side, other in ((statement.left, statement.right), (statement.right, statement.left)):
            target = self._target(side, statement.env)
            if not target or self._unknowns(other, statement.env):
                continue
            value = self._value(statement, other)
            elements = values.flat(value)
            if len(elements) != len(target):
                raise fault(
                    statement.left.at,
                    f"{statement.text}: {len(target)} elements on one side, {len(elements)} on the other",
                )
            for (key, place), element in zip(target, elements, strict=True):
                self.known[key][place] = _number(element, statement)
            return True
        return False

    def _solved(self, statements: list[Statement]) -> bool:
        """Solve equations together for all that is unknown in them, where that enters linearly."""
        unknowns = sorted(
            {u for e in statements for side in (e.left, e.right) for u in self._unknowns(side, e.env)},
            key=lambda u: (u[0], u[1]),
        )
        if not unknowns:
            if len(statements) == 1:
                for side in (statements[0].left, statements[0].right):
                    self._value(statements[0], side)  # a name that nothing has is told as such
                raise fault(
                    statements[0].left.at,
                    f"`{statements[0].text}` determines nothing: all in it is known already. A relation "
                    "between connectors is written with components, such as IdealGear or Fixed",
                )
            return False
        if len(statements) == 1 and not self._may_fit(statements[0], len(unknowns)):
            return False
        guesses = [ca.SX.sym(f"{'.'.join(key[1:])}[{k + 1}]") for key, k in unknowns]
        self._guesses = tuple(guesses)
        for (key, k), guess in zip(unknowns, guesses, strict=True):
            self.known[key][k] = guess
        rows: list[Any] = []
        sizes: list[int] = []
        done = False
        try:
            for e in statements:
                left, right = (values.flat(self._value(e, side)) for side in (e.left, e.right))
                if len(left) != len(right):
                    raise fault(e.left.at, f"{e.text}: {len(left)} elements on one side, {len(right)} on the other")
                rows += [ca.SX(_number(a, e) - _number(b, e)) for a, b in zip(left, right, strict=True)]
                sizes.append(len(left))
            if len(rows) == len(unknowns):
                residual, x = ca.vertcat(*rows), ca.vertcat(*guesses)
                slope = ca.jacobian(residual, x)
                if not ca.depends_on(slope, x) and ca.sprank(slope) == len(unknowns):
                    rest = ca.substitute(residual, x, ca.SX.zeros(len(guesses)))
                    self._refuse_singular(statements, sizes, unknowns, slope, rest)
                    solution = ca.solve(slope, -rest)
                    for k, (key, place) in enumerate(unknowns):
                        self.known[key][place] = ca.simplify(solution[k]) if len(unknowns) == 1 else solution[k]
                    done = True
        finally:
            self._guesses = ()
            if not done:
                for key, place in unknowns:
                    self.known[key][place] = None
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
        names = sorted({_name(unknowns[j]) for j in (touched if touched.size else range(len(unknowns)))})
        shown = " and ".join(f"`{e.text}`" for e in found[:4]) + (" and others" if len(found) > 4 else "")
        terms = combination * b.ravel()
        if len(found) == 1:
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
            if self.model.session.is_parameter(symbol):
                try:
                    numbers[k] = self.model.session.numbers(symbol, at, mark=False)
                except ModelError:  # found by initialisation
                    continue
        function = ca.Function("sample", [ca.vertcat(ca.SX(0, 1), *symbols)], [ca.densify(slope), ca.densify(rest)])
        A, b = function(ca.DM(numbers))
        return np.array(A), np.array(b)

    def _may_fit(self, statement: Statement, unknowns: int) -> bool:
        """False where an equation has surely fewer rows than unknowns; evaluating it would make events for nothing."""
        rows = 1
        for side in (statement.left, statement.right):
            target = self._target(side, statement.env)
            if target is not None:
                rows = max(rows, len(target))
            if isinstance(side, s.Call) and side.function.names == ("zeros",) and len(side.arguments) == 1:
                rows = max(rows, int(evaluate(side.arguments[0], statement.env)))
        return rows == unknowns

    def _refuse(self, statements: list[Statement]) -> None:
        first = statements[0]
        unknown = sorted({_name(u) for e in statements for x in (e.left, e.right) for u in self._unknowns(x, e.env)})
        others = f" (and {len(statements) - 1} more)" if len(statements) > 1 else ""
        raise fault(
            first.left.at,
            f"`{first.text}`{others}: cannot be solved for {', '.join(unknown[:6])}; write equations as "
            "`x = ...` or `der(x) = ...`, one for each unknown",
        )

    def _complete(self) -> None:
        missing = [(key, k) for key, elements in self.known.items() for k, e in enumerate(elements) if e is None]
        if not missing:
            return
        key, _ = missing[0]
        name = key[1]
        declared = self.model.content.components.get(name)
        at = declared.component.at if declared is not None else self.model.node.definition.at
        what = {"rate": f"the derivative of {name}", "flow": ".".join(key[1:])}.get(key[0], name)
        raise fault(at, f"{self.model.title}: no equation determines {what}; add one")

    def _hand_over(self) -> None:
        scope = self.scope
        for key, elements in self.known.items():
            value = casadi(_shaped(elements, (len(elements),))) if self.shapes[key] else elements[0]
            if key[0] == "flow":
                setattr(self._port_view(key[1]), key[2], value)
            elif key[0] == "rate":
                setattr(scope.der, key[1], value)
            elif key[1] not in self.states:
                component = self.model.component
                scope._write(component.ports().get(key[1]) or component.declarations[key[1]], value)
        for name, node, env, layer in self.model.given:
            statement = Statement(node, node, self._here(env), layer)
            elements = [_number(e, statement) for e in values.flat(self._value(statement, node))]
            size = _size(tuple(self.model.component.ports()[name].shape(self.model.component)))
            if len(elements) == 1 and size > 1:
                elements *= size
            if len(elements) != size:
                raise fault(node.at, f"{s.text(node)}: has {len(elements)} elements, the input has {size}")
            scope._write(self.model.component.ports()[name], casadi(elements))

    def _assert(self, call: s.Call, env: Environment) -> None:
        """assert(condition, text): a comparison becomes a requirement of the run."""
        name = call.function.names
        if name in (
            ("Connections", "root"),
            ("Connections", "potentialRoot"),
            ("Connections", "branch"),
            ("terminate",),
        ):
            raise fault(
                call.at,
                f"{call.function}: is not translated; write a joint with Python equations "
                "(docs/own-components.md), or use one of the library's",
            )
        if name != ("assert",) or len(call.arguments) < 2:
            raise fault(call.at, f"{call.function}: this call is no equation that is translated")
        decides = call.arguments[0]
        message = "the condition of an assert is violated"
        if isinstance(call.arguments[1], s.Literal):
            message = str(call.arguments[1].value)
        message = f"{call.at}: {message}"
        if isinstance(decides, s.Operation) and decides.operator in ("<", "<=", ">", ">="):
            a, b = (evaluate(o, env) for o in decides.operands)
            if values.is_number(a) and values.is_number(b):
                distance = a - b if decides.operator in (">", ">=") else b - a
                if is_symbolic(distance):
                    self.scope.require(distance, message)
                elif distance < 0:
                    raise ModelError(message)
                return
        value = condition(decides, env)
        if value is False:
            raise ModelError(message)
        if is_symbolic(value):
            self.scope.require(value - 0.5, message)

    def _initially(self, equation: s.Node, env: Environment) -> None:
        if isinstance(equation, s.CallEquation) and equation.call.function.names == ("assert",):
            self._assert(equation.call, env)
            return
        if not isinstance(equation, s.Equality):
            raise fault(equation.at, f"initial {s.text(equation)}: an initial equation is `x = ...` or `der(x) = ...`")
        left, right = (values.flat(evaluate(side, env)) for side in (equation.left, equation.right))
        if len(left) != len(right):
            raise fault(equation.at, f"{s.text(equation)}: {len(left)} elements on one side, {len(right)} on the other")
        for a, b in zip(left, right, strict=True):
            self.scope.initially(a - b, f"{s.text(equation)} ({equation.at})")


def _number(value: Any, statement: Statement) -> Any:
    if isinstance(value, bool):
        return float(value)
    if not values.is_number(value):
        raise fault(
            statement.left.at, f"{statement.text}: {values.describe(value)} is no number; equations are between numbers"
        )
    return value


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _shaped(elements: list[Any], shape: tuple[int, ...]) -> Any:
    """Elements, row by row, as an array of a shape."""
    if not shape:
        return elements[0]
    if len(shape) == 1:
        return list(elements)
    step = _size(shape[1:])
    return [_shaped(elements[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def _read(value: Any) -> Any:
    return array(value)


def _name(unknown: Unknown) -> str:
    key, _ = unknown
    return f"der({key[1]})" if key[0] == "rate" else ".".join(key[1:])


def _subscripted_name(name: str, subscripts: Any, env: Environment) -> str:
    if not subscripts:
        return name
    try:
        indices = [evaluate(i, env) for i in subscripts]
    except ModelError:
        return name
    return f"{name}[{','.join(str(int(i)) for i in indices if isinstance(i, int | float))}]"


__all__ = ["Equations"]
