"""What one file's way into an assembly shares: types, numbers of parameters, functions, and what names stand for."""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.errors import ModelError
from mbfmu.frames import Orientation
from mbfmu.importers.modelica import library, types_of, values
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.calls import METHODS
from mbfmu.importers.modelica.classes import Classes, Found, Member
from mbfmu.importers.modelica.evaluate import Environment, dimension, evaluate
from mbfmu.importers.modelica.functions import Closure
from mbfmu.importers.modelica.library import Enumeration, Scalar
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.modifiers import (
    ABSENT,
    Absent,
    FunctionText,
    Kind,
    Layer,
    Layers,
    MissingClass,
    bound,
    constraint_of,
    inner,
    located,
    names_in,
    nested,
    of_element,
    value_in,
)
from mbfmu.importers.modelica.names import value_of
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.signals import Bus, Plug, Signals
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.importers.modelica.unknowns import shaped
from mbfmu.importers.modelica.values import array, is_symbolic
from mbfmu.messages import suggestion
from mbfmu.modeling import Component, Start, Variable
from mbfmu.modeling import types as t
from mbfmu.modeling.connectors import INPUTS, OUTPUTS, Port, Signal
from mbfmu.modeling.declarations import Parameter

#: Evaluations after which a file is given up: far more than any model needs.
MOST_STEPS = 3_000_000


class Session:
    """One file's way into an assembly: its classes, the symbols of parameters, and which of these get fixed."""

    def __init__(self, classes: Classes, structural: set[tuple[str, str]]) -> None:
        self.classes, self.structural = classes, structural
        #: What evaluates each kind of expression.
        self.methods = METHODS
        self.steps = self.depth = 0
        #: Elements of parameters' symbols: hash -> component, name, index, the element itself (to keep it alive).
        self.symbols: dict[int, tuple[Component, str, int, Any]] = {}
        self._registered: dict[tuple[int, str], Any] = {}
        self.models: dict[int, Model] = {}
        self.buses = Signals()
        self._constants: dict[tuple[int, str], Any] = {}
        self._pending: set[tuple[int, str]] = set()
        self._functions: dict[int, FunctionText] = {}
        self._ranks: dict[tuple[int, int], int | None] = {}
        self._types: dict[int, dict[str, str | None]] = {}

    def tick(self, at: Place) -> None:
        """Count a step.

        Raises:
            ModelError: there were too many; the file cannot be a model.
        """
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise fault(at, f"more than {MOST_STEPS} expressions have been evaluated; make loops and arrays smaller")

    # -- types

    def kind(self, type_: s.Reference, scope: Node, model: Model | None, at: Place, depth: int = 0) -> Kind:
        """What a type name means.

        Raises:
            ModelError: unknown here, or a class of the library that mbfmu does not have.
        """
        names = type_.names
        if len(names) == 1:
            scalar = library.scalar_type(names)
            if scalar is not None:
                return Kind("scalar", Found(names, None), scalar)
            redeclared = model.content.classes.get(names[0]) if model is not None else None
            if redeclared is not None:
                definition, env, layers = redeclared
                return self._short(definition, env, layers, at, depth)
        found = self.classes.find(names, scope, type_.absolute)
        if found is None:
            raise fault(at, f"class {type_} is not known here; write its full name, or put its file beside this one")
        return self.kind_of(found, model, at, depth)

    def kind_of(self, found: Found, model: Model | None, at: Place, depth: int = 0) -> Kind:
        """What a class is.

        Raises:
            ModelError: it is none that can be used as a type.
        """
        if depth > 30:
            raise fault(at, f"{found}: its definition leads back to itself")
        cls = library.component(found.full)
        if cls is not None:
            return Kind("library", found, cls=cls)
        if found.node is None:
            scalar, port = library.scalar_type(found.full), library.connector(found.full)
            if scalar is not None:
                return Kind("scalar", found, scalar)
            if port is not None:
                return Kind("connector", found, port=port)
            if "Icons" in found.full:
                return Kind("icon", found)
            raise MissingClass(
                f"{at}: {found} is a class of the Modelica library that mbfmu does not have; "
                f"{suggestion('.'.join(found.full[-1:]), {n[-1]: 0 for n in library.components()}, 'mbfmu list')}"
            )
        definition = found.node.definition
        if isinstance(found.node, Member) or definition is None:
            raise fault(at, f"{found}: is no class")
        if definition.literals is not None:
            return Kind("scalar", found, Scalar(t.Type(definition.name, "String", values=definition.literals)))
        if definition.kind == "expandable connector":
            return Kind("bus", found)
        if definition.base is not None:
            scope = found.node.parent or found.node
            return self._short(definition, Environment(self, scope, model), (), at, depth)
        if definition.kind in ("connector", "type"):
            if len(found.node.bases) == 1 and not any(isinstance(e, s.Component) for e in definition.elements):
                base = found.node.bases[0]
                kind = self.kind(base.base, found.node, model, base.at, depth + 1)
                return dataclasses.replace(
                    kind, layers=(Layer(base.modification, Environment(self, found.node)), *kind.layers)
                )
            raise fault(
                at,
                f"{found}: is a connector of your own (declared at {definition.at}); use those of the library, "
                "which mbfmu knows how to connect",
            )
        if definition.kind in ("record", "operator record"):
            return Kind("record", found)
        if definition.kind not in ("model", "block", "class"):
            raise fault(at, f"{found}: is a {definition.kind}; a component is of a model, block, type or connector")
        around = Environment(self, found.node.parent or found.node, model)
        return Kind("model", found, layers=constraint_of(definition, around))

    def _short(self, definition: s.Class, env: Environment, layers: Layers, at: Place, depth: int) -> Kind:
        """`class A = B(...)`: what B is, with further modifiers and dimensions."""
        assert definition.base is not None
        kind = self.kind(definition.base.base, env.scope, env.model, definition.at, depth + 1)
        own = Layer(definition.base.modification, env)
        result = dataclasses.replace(
            kind,
            layers=(own, *constraint_of(definition, env), *layers, *kind.layers),
            dimensions=(*definition.dimensions, *kind.dimensions),
            env=env if definition.dimensions else kind.env,
        )
        if definition.kind == "connector" and kind.kind == "scalar" and {"input", "output"} & definition.prefixes:
            kinds: dict[str, Any] = dict(INPUTS if "input" in definition.prefixes else OUTPUTS)
            base = kind.scalar.type.base if kind.scalar is not None else "Real"
            port: type[Port] = kinds.get(base, kinds["Real"])
            return dataclasses.replace(result, kind="connector", port=port)
        return result

    # -- numbers

    def register(self, component: Component) -> None:
        """Know the symbols that a component has by now, and those of the components around it."""
        owner: Component | None = component
        while owner is not None:
            for name, symbol in owner._symbols.items():
                if self._registered.get((id(owner), name)) is not symbol:
                    self._registered[(id(owner), name)] = symbol
                    for k, element in enumerate(ca.vertsplit(ca.vec(symbol))):
                        self.symbols[element.element_hash()] = (owner, name, k, element)
            owner = owner.part_of

    def is_parameter(self, expression: Any) -> bool:
        """True where an expression contains parameters only."""
        return all(x.element_hash() in self.symbols for x in ca.symvar(ca.SX(expression)))

    def numbers(self, value: Any, at: Place, mark: bool = True) -> Any:
        """A value without symbols; the parameters in it get fixed, where `mark` is true.

        Raises:
            ModelError: it depends on something that changes, or that initialisation finds.
        """
        if isinstance(value, list):
            return [self.numbers(v, at, mark) for v in value]
        if not is_symbolic(value):
            return value
        return self._number(ca.SX(value), at, mark, 0)

    def _number(self, expression: Any, at: Place, mark: bool, depth: int) -> float:
        symbols = ca.symvar(expression)
        if depth > 60:
            raise fault(at, "these parameters depend on each other in a circle")
        found = []
        for symbol in symbols:
            known = self.symbols.get(symbol.element_hash())
            if known is None:
                raise fault(
                    at,
                    f"this is needed before the model runs, but depends on {symbol}, which is no parameter known here",
                )
            found.append(self._parameter_number(*known[:3], at, mark, depth + 1))
        if symbols:
            expression = ca.substitute(expression, ca.vertcat(*symbols), ca.vertcat(*found))
        return float(ca.evalf(expression))

    def _parameter_number(
        self, component: Component, name: str, index: int, at: Place, mark: bool, depth: int
    ) -> float:
        if mark:
            model = self.models.get(id(component))
            if model is not None:
                self.structural.add((model.path, name))
        value = component.value(name)
        for part in component.walk():  # a composite's parameter may follow from one of its parts'
            self.register(part)
        if isinstance(value, Start):
            raise fault(
                at, f"{component.where}.{name} is found at the start of a run, but needed when the model is made"
            )
        value = value.T if isinstance(value, Orientation) else value
        elements = ca.vertsplit(ca.vec(value if is_symbolic(value) else ca.SX(np.asarray(value, dtype=float))))
        return self._number(elements[index], at, mark, depth)

    def refuse_circles(self, models: list[Model]) -> None:
        """Refuse parameters that are bound to each other in a circle.

        Raises:
            ModelError: there is one; file and line of a parameter in it.
        """
        state: dict[tuple[int, str], int] = {}

        def visit(component: Component, name: str) -> bool:
            """False where the parameter leads back to one that is being looked at."""
            key = (id(component), name)
            if key in state:
                return state[key] == 2
            state[key] = 1
            value = component.value(name)
            self.register(component)
            value = value.T if isinstance(value, Orientation) else value
            found = True
            if is_symbolic(value):
                known = (self.symbols.get(x.element_hash()) for x in ca.symvar(value))
                found = all(visit(owner, needed) for owner, needed, *_ in filter(None, known))
            state[key] = 2
            return found

        for model in models:
            for name in model.of_kind("parameter"):
                declaration, at = model.component.declarations.get(name), model.declared(name).component.at
                with located(at):
                    fine = not isinstance(declaration, Parameter) or visit(model.component, name)
                if not fine:
                    raise fault(at, f"{name}: its value leads back to itself; break the circle")

    def peek(self, value: Any) -> Any:
        """A number where there is one by now: for texts."""
        if is_symbolic(value) and self.is_parameter(value):
            try:
                return self.numbers(value, Place(self.classes.path, 1), mark=False)
            except ModelError:
                return value
        return value

    # -- what names stand for

    def package_constant(self, owner: Node, name: str, node: s.Node) -> Any:
        """Value of a constant that a package or class declares."""
        key = (id(owner), name)
        if key not in self._constants:
            if key in self._pending:
                raise fault(node.at, f"{owner.name}.{name}: depends on itself")
            assert owner.definition is not None
            component = next(e for e in owner.definition.elements if isinstance(e, s.Component) and e.name == name)
            value, scope = owner.given.get(name, (component.modification.value, owner))
            if value is not None and name in owner.given and "final" in component.prefixes:
                raise fault(value.at, f"{name}: is final (declared so at {component.at}); modify what it depends on")
            if value is None or not component.prefixes & {"constant", "parameter"}:
                raise fault(node.at, f"{owner.name}.{name}: is no constant with a value (declared at {component.at})")
            self._pending.add(key)
            try:
                self._constants[key] = evaluate(value, Environment(self, scope))
            finally:
                self._pending.discard(key)
        return self._constants[key]

    def function(self, reference: s.Reference, env: Environment) -> Found | Closure | None:
        """The function that a name means."""
        first = reference.names[0]
        if len(reference.names) == 1 and not reference.absolute:
            local = env.locals.get(first)
            if isinstance(local, Closure):
                return local
            redeclared = env.model.content.classes.get(first) if env.model is not None else None
            if redeclared is not None:
                return self.closure(*redeclared)
        return self.classes.find(reference.names, env.scope, reference.absolute)

    def closure(self, definition: s.Class, env: Environment, layers: Layers) -> Closure:
        """A redeclared function, `function f = g(a=1)`."""
        assert definition.base is not None
        found = self.classes.find(definition.base.base.names, env.scope, definition.base.base.absolute)
        if found is None or found.node is None:
            raise fault(definition.at, f"function {definition.base.base} is not in your files; write it in Modelica")
        given = {
            a.names[0]: evaluate(a.modification.value, env)
            for a in definition.base.modification.arguments
            if a.modification.value is not None
        }
        return Closure(found.node, given, env)

    def function_text(self, node: Node, at: Place) -> FunctionText:
        """Inputs, outputs and algorithm of a function with what it inherits."""
        if id(node) not in self._functions:
            result = FunctionText([], [], [], [])
            self._collect_function(node, (), result, at, 0)
            if not result.outputs:
                raise fault(at, f"{node.name}: has no output")
            self._functions[id(node)] = result
            types = self.types_of_function(node, at)
            for body, scope in result.bodies:
                types_of.check_body(body, Environment(self, scope, types=types))
        return self._functions[id(node)]

    def types_of_function(self, node: Node, at: Place) -> dict[str, str | None]:
        """Types of the variables of a function, None of those that are records or enumerations."""
        if id(node) not in self._types:
            text = self.function_text(node, at)
            self._types[id(node)] = {c.name: self._type_in(c, scope) for c, scope in (*text.inputs, *text.others)}
        return self._types[id(node)]

    def _type_in(self, component: s.Component, scope: Node) -> str | None:
        """Type of a variable of a function; None of what is no scalar: a record, or a function."""
        try:
            scalar = self.kind(component.type, scope, None, component.at).scalar
        except ModelError:
            return None
        return types_of.of_type(scalar.type) if scalar is not None else None

    def _collect_function(
        self, node: Node, given: tuple[s.Argument, ...], result: FunctionText, at: Place, depth: int
    ) -> None:
        definition = node.definition
        if definition is None or depth > 20:
            raise fault(at, f"{node.name}: its text cannot be found")
        if definition.external:
            raise fault(
                at,
                f"{node.name}: is an external function (declared at {definition.at}); write its algorithm in Modelica",
            )
        bases = (
            [definition.base]
            if definition.base is not None
            else [e for e in definition.elements if isinstance(e, s.Extends)]
        )
        for base in bases:
            found = self.classes.base(base, node)
            if found is None or (found.node is None and "Icons" not in found.full):
                raise fault(base.at, f"function {base.base} is not known; put its file beside this one")
            if found.node is not None:
                self._collect_function(found.node, (*given, *base.modification.arguments), result, at, depth + 1)
        for element in definition.elements:
            if not isinstance(element, s.Component):
                continue
            for argument in given:
                if argument.names == (element.name,) and argument.modification.value is not None:
                    element = dataclasses.replace(element, modification=argument.modification)
                    break
            if "input" in element.prefixes:
                result.inputs.append((element, node))
            else:
                result.others.append((element, node))
                if "output" in element.prefixes:
                    result.outputs.append(element.name)
        if definition.statements:
            result.bodies.append((definition.statements, node))

    def rank(self, component: s.Component, scope: Node) -> int | None:
        """Number of dimensions of a variable of a function; None of what is no value: a function."""
        key = id(component), id(scope)
        if key not in self._ranks:
            try:
                kind = self.kind(component.type, scope, None, component.at)
                own = len(component.dimensions) + len(kind.dimensions)
                self._ranks[key] = own + (len(kind.scalar.dimensions) if kind.scalar is not None else 0)
            except ModelError:
                self._ranks[key] = None
        return self._ranks[key]

    def sizes_in(self, component: s.Component, env: Environment) -> list[int | None] | None:
        """Dimensions of a variable of a function, None for `:`; None of what is no value: a function."""
        if self.rank(component, env.scope) is None:
            return None
        kind = self.kind(component.type, env.scope, None, component.at)
        nodes = [(d, env) for d in component.dimensions] + [(d, kind.env or env) for d in kind.dimensions]
        sizes: list[int | None] = [None if isinstance(d, s.Colon) else dimension(d, here) for d, here in nodes]
        return [*sizes, *(kind.scalar.dimensions if kind.scalar is not None else ())]

    def blank(self, component: s.Component, env: Environment, outer: Layers = ()) -> Any:
        """What a local variable of a function, or a field of a record, is before it gets a value.

        `outer`: what is said of it where its record is used.
        """
        sizes = tuple(n or 0 for n in self.sizes_in(component, env) or ())
        kind = self.kind(component.type, env.scope, None, component.at)
        if kind.kind == "record":
            layers = (*outer, Layer(component.modification, env), *kind.layers)
            return nested(sizes, lambda k: self._blank_record(kind.found.node, layers, k, sizes, component, env))
        if kind.scalar is None:
            raise fault(component.at, f"{component.name}: a function has variables of scalar types and records")
        return values.fill({"Boolean": False, "String": ""}.get(kind.scalar.type.base, 0), *sizes)

    def _blank_record(
        self,
        node: Node | None,
        layers: Layers,
        index: tuple[int, ...],
        sizes: tuple[int, ...],
        component: s.Component,
        env: Environment,
    ) -> Any:
        assert node is not None
        return self.record(node, ([], {}), component, env, of_element(layers, index, sizes))

    def record(
        self,
        node: Node,
        arguments: tuple[list[Any], dict[str, Any]],
        at: s.Node,
        env: Environment,
        layers: Layers = (),
    ) -> Any:
        """A record made by its constructor, or with what the declaration of a variable says of its fields."""
        positional, named = arguments
        result: dict[str, Any] = {}
        members = self._fields(node, layers, result, 0)
        fields = [c.name for c, _, _ in members if not c.prefixes & {"constant", "final"}]
        if len(positional) > len(fields):
            raise fault(at.at, f"{node.name}: the record has {len(fields)} fields")
        given = dict(zip(fields, positional, strict=False)) | named
        unknown = (set(given) - set(fields)) | (set(names_in(layers)) - {c.name for c, _, _ in members})
        if unknown:
            raise fault(at.at, f"{node.name}: the record has no {min(unknown)!r}; {suggestion(min(unknown), fields)}")
        for component, scope, outer in members:
            if component.name in given:
                result[component.name] = given[component.name]
                continue
            here = Environment(self, scope, None, result)
            found = bound((*outer, Layer(component.modification, here)))
            if found is not None:
                result[component.name] = value_in(found[1], found[0])
            else:
                result[component.name] = self.blank(component, here, outer)
        return result

    def _fields(
        self, node: Node, layers: Layers, known: dict[str, Any], depth: int
    ) -> list[tuple[s.Component, Node, Layers]]:
        """Fields of a record, inherited ones first, each with its place and what is said of it outside of that.

        `known` gets the values of the fields, which expressions in the record's text read.
        """
        definition = node.definition
        if definition is None or depth > 20:
            raise fault(Place(self.classes.path, 1), f"{node.name}: is no record")
        found: list[tuple[s.Component, Node, Layers]] = []
        for base in node.bases:
            base_ = self.classes.base(base, node)
            if base_ is not None and base_.node is not None:
                here = Layer(base.modification, Environment(self, node, None, known))
                found += self._fields(base_.node, (*layers, here), known, depth + 1)
        own = [e for e in definition.elements if isinstance(e, s.Component)]
        return found + [(e, node, inner(layers, e.name)) for e in own]

    def elements_of(self, value: Any, node: s.Node, env: Environment) -> list[Any]:
        """What subscripts choose from."""
        if isinstance(value, Plug) and isinstance(value.port, Signal) and value.port.shape(value.owner):
            elements: list[Any] = shaped(value.split(), value.port.shape(value.owner))
            return elements
        if isinstance(value, Absent):
            raise fault(node.at, f"{s.text(node)}: does not exist with the present parameters")
        raise fault(node.at, f"{s.text(node)}: has no elements; remove its subscripts")

    def attribute(self, value: Any, name: str, node: s.Reference, env: Environment) -> Any:
        """What a component, connector or model has under a name."""
        if isinstance(value, Absent):
            return value
        if isinstance(value, Model):
            if not value.has(name):
                hint = suggestion(name, value.names(), "its class")
                raise fault(node.at, f"{node}: {value.title} has no {name!r}; {hint}")
            return value.get(name, env, node)
        if isinstance(value, Bus):
            return value.below(name)
        if isinstance(value, Plug):
            quantities = [q.name for q in (*value.port.potentials, *value.port.flows)]
            if name not in quantities:
                raise fault(
                    node.at, f"{node}: the connector {value.port.name} has no {name!r}; {suggestion(name, quantities)}"
                )
            return self._reading(value.owner, value.port.name, node, env, name)
        if isinstance(value, Component):
            return self._of_component(value, name, node, env)
        raise fault(node.at, f"{node}: {values.describe(value)} has no {name!r}")

    def _of_component(self, component: Component, name: str, node: s.Node, env: Environment) -> Any:
        name = getattr(component, "other_names", {}).get(name, name)
        if name in component.parts:
            return component.parts[name]
        listed = [p for n, p in component.parts.items() if n.startswith(f"{name}[")]
        if listed:
            return listed
        port = {**{k: d for k, d in component.declarations.items() if isinstance(d, Port)}, **component._ports}.get(
            name
        )
        if port is not None:
            return Plug(component, port) if port.enabled(component) else ABSENT
        ports = [p for n, p in component.ports().items() if n.startswith(f"{name}[")]
        if ports:
            return [Plug(component, p) for p in ports]
        declaration = component.declarations.get(name)
        if isinstance(declaration, Parameter) and declaration.enabled(component):
            return self.read(component, declaration)
        if isinstance(declaration, Variable) and declaration.enabled(component):
            return self._reading(component, name, node, env, None)
        terms = library.SUMS.get((component.modelica_name or "", name))
        if terms is not None:
            return values.total([value_of(self._of_component(component, n, node, env), node, env) for n in terms])
        known = [k for k, d in component.declarations.items() if d.enabled(component)]
        hint = suggestion(name, [*known, *component.parts], "mbfmu list")
        raise fault(node.at, f"{s.text(node)}: {component.title} has no {name!r}; {hint}")

    def read(self, component: Component, declaration: Parameter) -> Any:
        """A parameter of a component as a value: symbols, or its value where it is structural."""
        name = declaration.name
        if not declaration.structural and not declaration.animation:
            symbol = component.symbol(name)
            self.register(component)
            if isinstance(symbol, Orientation):
                return symbol
            rows, columns = symbol.shape
            shape = component.shape_of(name)
            if len(shape) == 1:
                return [symbol[i] for i in range(rows)]
            return [[symbol[i, j] for j in range(columns)] for i in range(rows)] if len(shape) == 2 else symbol
        value = component.value(name)
        self.register(component)
        if isinstance(value, str) and declaration.type.values:
            literals = declaration.type.values
            return Enumeration(value, literals.index(value) + 1, declaration.type.name, literals)
        # What is only shown is no part of the equations; its numbers are taken as they are.
        return self.numbers(array(value), Place(self.classes.path, 1), mark=not declaration.animation)

    def _reading(self, component: Component, name: str, node: s.Node, env: Environment, quantity: str | None) -> Any:
        if env.equations is None:
            raise fault(
                node.at, f"{s.text(node)}: changes while the model runs; a parameter or modifier cannot depend on it"
            )
        return env.equations.outside(component, name, quantity, node)

    def value_of(self, value: Any, node: s.Node, env: Environment) -> Any:
        """The value of a connector; components have none."""
        if isinstance(value, Plug) and isinstance(value.port, Signal):
            result = self._reading(value.owner, value.port.name, node, env, None)
            if value.elements is None:
                return result
            picked = [values.by_columns(result)[k] for k in value.elements]
            return picked[0] if len(picked) == 1 else picked
        if isinstance(value, Model) and value.is_record:
            return {n: value_of(value.get(n, env, node), node, env) for n in value.names()}
        if isinstance(value, Absent):
            raise fault(node.at, f"{s.text(node)}: does not exist with the present parameters")
        what = "a connector" if isinstance(value, Plug | Bus) else "a component"
        raise fault(node.at, f"{s.text(node)}: is {what}, not a value; name one of its variables")
