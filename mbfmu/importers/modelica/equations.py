"""Equations of a user's model -> assignments: each is solved for what it alone determines, in the order of dependence.

Unknowns are the model's variables, the rates of its states, its outputs, and, where it has no parts, the flows at its
connectors. An equation that names one unknown on a side of its own is an assignment; where unknowns enter linearly,
one or several equations together are solved for them. What remains is refused.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any

import casadi as ca

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica import values
from mbfmu.importers.modelica.evaluate import Environment, condition, evaluate, is_warning
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.names import subscripted
from mbfmu.importers.modelica.solving import Solver, number, value_of_side
from mbfmu.importers.modelica.statements import Statement, statements_of
from mbfmu.importers.modelica.syntax import fault
from mbfmu.importers.modelica.types_of import check_condition, check_equal
from mbfmu.importers.modelica.unknowns import Key, Unknowns, shaped
from mbfmu.importers.modelica.values import Wrong, array, casadi, is_symbolic
from mbfmu.modeling import Component, State
from mbfmu.modeling.connectors import Flange, Frame, NetworkPort, SignalOutput


class Equations:
    """The equations of one model while they are evaluated in mbfmu's scope."""

    def __init__(self, model: Model, scope: Any) -> None:
        self.model, self.scope = model, scope
        self.unknowns = Unknowns(model)
        self.solver = Solver(self.unknowns, model.session)

    def run(self) -> None:
        """Evaluate everything and hand it to the scope: the `equations` of the model's component class.

        Raises:
            ModelError: an equation that is not among those that are translated, or too many or too few.
        """
        self._declare_all()
        statements, assertions = statements_of(self.model, self)
        self.solver.run(statements)
        self._complete()
        self._hand_over()
        for call, env in assertions:
            self._assert(call, env)
        initial = self.model.left_initial
        for equation, env in self.model.active(self.model.content.initial) if initial is None else initial:
            self._initially(equation, self._here(env))

    def _declare(self, name: str) -> None:
        """Take a variable of the model as known (a state) or unknown."""
        component, unknowns = self.model.component, self.unknowns
        declaration = type(component).declarations[name]
        shape = tuple(declaration.shape(component))
        if isinstance(declaration, State):
            unknowns.states.add(name)
            unknowns.add(("variable", name), shape, values.by_rows(self.scope._read(declaration), shape))
            unknowns.add(("rate", name), shape)
        else:
            unknowns.add(("variable", name), shape)

    def _declare_all(self) -> None:
        model, own = self.model, self.model.component
        for name in model.of_kind("variable"):
            if model.exists(name):
                self._declare(name)
        sinks = {
            (b.port.name if a.owner is not own else a.port.name)
            for a, b in own.connections
            if own in (a.owner, b.owner)
        }
        for name, port in own.ports().items():
            if isinstance(port, SignalOutput) and name not in sinks:
                self.unknowns.add(("variable", name), tuple(port.shape(own)))
            elif isinstance(port, Frame | Flange | NetworkPort) and not model.is_composite:
                for quantity in port.flows:
                    self.unknowns.add(("flow", name, quantity.name), quantity.shape)

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
        return self.scope.switch(expression, then, otherwise)

    def _refuse_guesses(self, expression: Any) -> None:
        guesses = self.solver.guesses
        if guesses and ca.depends_on(ca.SX(expression), ca.vertcat(*guesses)):
            raise Wrong("the condition depends on what the equation determines; break the circle")

    def variable(self, model: Model, name: str, node: s.Node) -> Any:
        """A variable of the model, or of a model below it."""
        if model is not self.model:
            return self.outside(model.component, name, None, node)
        key = ("variable", name)
        if key not in self.unknowns.known:
            self._declare(name)
        return self.unknowns.value(key, name)

    def derivative(self, node: s.Call, env: Environment) -> Any:
        """der(...)."""
        argument = node.arguments[0]
        state = self.unknowns.state_in(node)
        if state is not None and env.model is self.model and state.names[0] not in env.locals:
            rates = self.unknowns.value(("rate", state.names[0]), f"der({state})")
            return subscripted(rates, state.parts[0][1], state, env)
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
                f"{s.text(node)}: lies outside of {self.model.title}, whose equations can only read its own parts; "
                "make it an input there, and connect it",
            )
        first, *rest = reversed(chain)
        view = self.scope._part(first)
        for piece in rest:
            view = getattr(view, piece)
        view = getattr(view, name)
        if quantity is not None:
            return array(getattr(view, quantity))
        declaration: Any = component.ports().get(name) or component.declarations[name]
        shape = tuple(declaration.shape(component))
        return shaped(values.by_rows(view, shape), shape)

    def _own(self, name: str, quantity: str | None, node: s.Node) -> Any:
        port = self.model.component.ports()[name]
        key: Key = ("variable", name)
        if quantity is not None:
            key = ("flow", name, quantity)
            if key in self.unknowns.known:
                return self.unknowns.value(key, f"{name}.{quantity}")
            return array(getattr(self._port_view(name), quantity))
        if isinstance(port, SignalOutput):
            if key in self.unknowns.known:
                return self.unknowns.value(key, name)
            return self._fed(port, node)
        shape = tuple(port.shape(self.model.component))
        return shaped(values.by_rows(self._port_view(name), shape), shape)

    def _fed(self, port: SignalOutput, node: s.Node) -> Any:
        """Value of an output of the model's own that connections feed: that of their sources."""
        own = self.model.component
        elements: dict[int, Any] = {}
        for source, sink in own.connections:
            if sink.owner is own and sink.port.name == port.name:
                found = values.by_columns(array(self.outside(source.owner, source.port.name, None, node)))
                found = [found[k] for k in source.elements] if source.elements is not None else found
                places = sink.elements if sink.elements is not None else range(len(found))
                elements |= dict(zip(places, found, strict=True))
        shape = tuple(port.shape(own))
        if set(elements) != set(range(math.prod(shape))):
            raise fault(node.at, f"{port.name}: no connection feeds this output, or only part of it")
        return shaped(values.by_rows([elements[k] for k in range(math.prod(shape))], shape), shape)

    def _port_view(self, name: str) -> Any:
        return self.model.component.ports()[name].view(self.scope._notes)

    # -- statements
    # Parameters of the model around are fine; variables would be read from below.

    def _here(self, env: Environment) -> Environment:
        return dataclasses.replace(env, equations=self)

    def _complete(self) -> None:
        missing = [
            (key, k) for key, elements in self.unknowns.known.items() for k, e in enumerate(elements) if e is None
        ]
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
        for key, found in self.unknowns.known.items():
            elements = [float(e) if isinstance(e, bool) else e for e in found]
            shape = self.unknowns.shapes[key]
            value = casadi(values.by_columns(shaped(elements, shape))) if shape else elements[0]
            if key[0] == "flow":
                setattr(self._port_view(key[1]), key[2], value)
            elif key[0] == "rate":
                setattr(scope.der, key[1], value)
            elif key[1] not in self.unknowns.states:
                component = self.model.component
                scope._write(component.ports().get(key[1]) or component.declarations[key[1]], value)
        for name, node, env, layer in self.model.given:
            statement = Statement(node, node, self._here(env), layer)
            elements = [number(e, statement) for e in values.flat(value_of_side(statement, node))]
            shape = tuple(self.model.component.ports()[name].shape(self.model.component))
            size = math.prod(shape)
            if len(elements) == 1 and size > 1:
                elements *= size
            if len(elements) != size:
                raise fault(node.at, f"{s.text(node)}: has {len(elements)} elements, the input has {size}")
            scope._write(self.model.component.ports()[name], casadi(values.by_columns(shaped(elements, shape))))

    def _assert(self, call: s.Call, env: Environment, initially: bool = False) -> None:
        """assert(condition, text): a comparison becomes a requirement of the run, or of its start alone."""
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
        check_condition(decides, env)
        message = f"{call.at}: {evaluate(call.arguments[1], env)}"
        stops = not is_warning(call)
        if isinstance(decides, s.Operation) and decides.operator in ("<", "<=", ">", ">="):
            a, b = (evaluate(o, env) for o in decides.operands)
            if values.is_number(a) and values.is_number(b):
                distance = a - b if decides.operator in (">", ">=") else b - a
                if is_symbolic(distance):
                    if stops:
                        self._require(distance, message, initially)
                    return
        value = condition(decides, env)
        if value is False and stops:
            raise ModelError(message)
        if value is False:
            warnings.warn(message, stacklevel=2)
        if is_symbolic(value) and stops:
            self._require(value - 0.5, message, initially)

    def _require(self, margin: ca.SX, message: str, initially: bool) -> None:
        """margin >= 0, throughout the run or at its start."""
        self.scope.require(self.scope.hold(self.scope.initial, value=margin) if initially else margin, message)

    def _initially(self, equation: s.Node, env: Environment) -> None:
        if isinstance(equation, s.CallEquation) and equation.call.function.names == ("assert",):
            self._assert(equation.call, env, initially=True)
            return
        if not isinstance(equation, s.Equality):
            raise fault(equation.at, f"initial {s.text(equation)}: an initial equation is `x = ...` or `der(x) = ...`")
        check_equal(equation.left, equation.right, env)
        left, right = (values.flat(evaluate(side, env)) for side in (equation.left, equation.right))
        if len(left) != len(right):
            raise fault(equation.at, f"{s.text(equation)}: {len(left)} elements on one side, {len(right)} on the other")
        for a, b in zip(left, right, strict=True):
            self.scope.initially(a - b, f"{s.text(equation)} ({equation.at})")


__all__ = ["Equations"]
