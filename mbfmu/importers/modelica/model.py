"""Classes with their modifiers -> mbfmu components: inheritance, merging of modifiers, arrays, conditions, connections.

A model of the user's becomes a component class of its own with the model's parameters, whose `build` makes the parts;
a class of the library becomes mbfmu's class of that name. Parameters that decide what a model consists of, or that
feed a structural parameter, are fixed when the assembly is made; all others stay parameters.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica import values
from mbfmu.importers.modelica.classes import Found
from mbfmu.importers.modelica.equations import Equations
from mbfmu.importers.modelica.evaluate import (
    Environment,
    enumeration,
    evaluate,
    loop,
    truth,
    whole,
)
from mbfmu.importers.modelica.modifiers import (
    ABSENT,
    Absent,
    Content,
    Declared,
    Instance,
    Kind,
    Layer,
    Layers,
    bound,
    inner,
    located,
    names_in,
    redeclaration,
    value_in,
)
from mbfmu.importers.modelica.names import resolve
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.parts import is_parameter, make_component, modify, world_class
from mbfmu.importers.modelica.session import Session
from mbfmu.importers.modelica.signals import Bus, Plug, Signals
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.importers.modelica.values import Wrong, array, casadi, is_symbolic
from mbfmu.messages import suggestion
from mbfmu.modeling import (
    Assembly,
    BooleanInput,
    BooleanOutput,
    Component,
    Connector,
    IntegerInput,
    IntegerOutput,
    RealInput,
    RealOutput,
    Start,
    State,
    Variable,
)
from mbfmu.modeling import types as t
from mbfmu.modeling.component import VOCABULARY
from mbfmu.modeling.connectors import INPUTS, Given, Port, Signal, SignalInput
from mbfmu.modeling.declarations import Declaration, Parameter


class Model(Instance):
    """A class of the user's as a component: its declarations, its modifiers, its parts, and how these are made."""

    def __init__(self, session: Session, name: str, found: Found, layers: Layers, parent: Model | None) -> None:
        assert found.node is not None
        self.session, self.name, self.found, self.parent = session, name, found, parent
        self.node = found.node
        self.path: str = f"{parent.path}.{name}" if parent is not None and parent.path else (name if parent else "")
        self.component: Any = None
        self.members: dict[str, Any] = {}
        self.content = Content()
        self.drives: list[tuple[Plug, s.Node, Environment, Layer | None]] = []
        self.given: list[tuple[str, s.Node, Environment, Layer | None]] = []
        self.left_initial: list[tuple[s.Node, Environment]] | None = None
        self._values: dict[str, Any] = {}
        self._pending: set[str] = set()
        self._kinds: dict[str, Kind] = {}
        self._collect(self.node, layers, 0)

    # -- what the class has

    def _collect(self, node: Node, layers: Layers, depth: int) -> None:
        """Take over a class, its bases first where their extends clause stands."""
        definition = node.definition
        assert definition is not None
        if depth > 30:
            raise fault(definition.at, f"{node.name}: is derived from itself")
        content, env = self.content, Environment(self.session, node, self)
        if definition.base is not None:
            scope = Environment(self.session, node.parent or node, self)
            self._extend(
                definition.base, node.parent or node, (*layers, Layer(definition.base.modification, scope)), depth
            )
        content.doc = definition.doc or content.doc
        if definition.initial_statements:
            at = definition.initial_statements[0].at
            raise fault(at, f"{node.name}: an initial algorithm is not translated; write initial equations")
        _check_algorithm(definition)
        for element in definition.elements:
            if isinstance(element, s.Class):
                redeclared = redeclaration(layers, element.name)
                if redeclared is not None and isinstance(redeclared[0].redeclared, s.Class):
                    argument, layer, _ = redeclared
                    content.classes[element.name] = (argument.redeclared, layer.env, ())  # type: ignore[assignment]
                elif "redeclare" in element.prefixes and element.base is not None:
                    content.classes[element.name] = (element, env, ())
        for element in definition.elements:
            if isinstance(element, s.Extends):
                if element.base.names == (node.name,) and definition.is_extension:
                    raise fault(
                        element.at, f"`redeclare {definition.kind} extends` is not translated; redeclare by a class"
                    )
                self._extend(element, node, (*layers, Layer(element.modification, env)), depth)
            elif isinstance(element, s.Component):
                self._declare(element, node, layers)
        content.equations += [(e, node) for e in (*definition.equations, *definition.statements)]
        content.initial += [(e, node) for e in definition.initial_equations]
        if definition.annotation is not None:
            content.annotations.append(definition.annotation)

    def _extend(self, base: s.Extends, scope: Node, layers: Layers, depth: int) -> None:
        kind = self.session.kind(base.base, scope, self, base.at)
        layers = (*layers, *kind.layers)
        if kind.kind == "icon":
            return
        if kind.kind == "library":
            assert kind.cls is not None
            if self.content.base is not None:
                raise fault(base.at, f"{self.name}: is derived from two component classes of the library; keep one")
            self.content.base = kind.cls, layers
        elif kind.kind in ("model", "record", "bus"):
            assert kind.found.node is not None
            self._collect(kind.found.node, layers, depth + 1)
            for argument in base.modification.arguments:
                name = argument.names[0]
                if not isinstance(argument.redeclared, s.Class) and not self.has(name):
                    hint = suggestion(name, self.names(), "its class")
                    raise fault(argument.at, f"{kind.found} has no {name!r}; {hint}")
        else:
            raise fault(base.at, f"{self.name}: extends {kind.found}, which is a {kind.kind}; a model extends models")

    def _declare(self, component: s.Component, node: Node, layers: Layers) -> None:
        name = component.name
        own = Layer(component.modification, Environment(self.session, node, self))
        modifiers = inner(layers, name)
        constraint = component.constraint
        redeclared = redeclaration(layers, name)
        if redeclared is not None and isinstance(redeclared[0].redeclared, s.Component):
            argument, layer, place = redeclared
            new = argument.redeclared
            assert isinstance(new, s.Component)
            if "replaceable" not in component.prefixes and "redeclare" not in component.prefixes:
                raise fault(argument.at, f"{name}: is not replaceable (declared at {component.at})")
            # What the constraining class is modified with stays; without one, the first declaration constrains.
            kept = (
                Layer(constraint.modification, own.env)
                if constraint is not None
                else Layer(dataclasses.replace(component.modification, value=None), own.env)
            )
            outer = inner(layers[: place + 1], name)
            self.content.components[name] = Declared(
                dataclasses.replace(
                    new,
                    prefixes=new.prefixes | (component.prefixes - {"replaceable"}),
                    condition=new.condition or component.condition,
                    dimensions=new.dimensions or component.dimensions,
                ),
                layer.env.scope,
                (*outer, Layer(new.modification, layer.env, layer.indices), *inner(layers[place + 1 :], name), kept),
            )
            return
        old = self.content.components.get(name)
        if old is not None and "redeclare" not in component.prefixes:
            if old.scope is node and old.component is not component:
                raise fault(component.at, f"{name}: is declared twice; rename one of the two")
            if str(old.component.type) != str(component.type) and old.component.at != component.at:
                raise fault(
                    component.at, f"{name}: is declared here and, otherwise, at {old.component.at}; rename one of them"
                )
            return
        self.content.components[name] = Declared(component, node, (*modifiers, own))

    def has(self, name: str) -> bool:
        """True where the class declares a component of this name."""
        if name in self.content.components:
            return True
        base = self.content.base
        return base is not None and name in base[0].declarations

    def names(self) -> list[str]:
        """Names of all components."""
        inherited = [] if self.content.base is None else list(self.content.base[0].declarations)
        return [*self.content.components, *inherited]

    @property
    def title(self) -> str:
        """How messages call the model."""
        return f"{self.name} ({self.found.full[-1]})" if self.parent is not None else self.name

    @property
    def is_record(self) -> bool:
        """True for a record."""
        return self.node.definition is not None and self.node.definition.kind.endswith("record")

    def declared(self, name: str) -> Declared:
        """Declaration of a component."""
        return self.content.components[name]

    def env(self, scope: Node) -> Environment:
        """The place of expressions that stand in a class of this model's."""
        return Environment(self.session, scope, self)

    def kind(self, name: str) -> Kind:
        """What a component is."""
        if name not in self._kinds:
            declared = self.declared(name)
            component = declared.component
            model = next(
                (layer.env.model for layer in declared.layers if layer.modification is component.modification), self
            )
            kind = self.session.kind(component.type, declared.scope, model, component.at)
            if "outer" in component.prefixes and "inner" not in component.prefixes:
                kind = dataclasses.replace(kind, kind="outer")
            elif kind.kind == "scalar":
                role = next((p for p in ("constant", "parameter") if p in component.prefixes), "variable")
                if role == "variable" and self.is_record:
                    role = "parameter"
                if role == "variable" and kind.scalar is not None and kind.scalar.type.base == "String":
                    raise fault(
                        component.at, f"{name}: a text cannot change while a model runs; declare it as parameter"
                    )
                kind = dataclasses.replace(kind, kind=role)
                causality = component.prefixes & {"input", "output"}
                found = bound(declared.layers)
                is_given = found is not None and found[1].env.model is self  # by its own declaration
                if role == "variable" and "input" in causality and not is_given:
                    base = kind.scalar.type.base if kind.scalar is not None else "Real"
                    kind = dataclasses.replace(kind, kind="connector", port=INPUTS.get(base, RealInput))
            elif kind.kind == "icon":
                raise fault(component.at, f"{name}: {kind.found} is an icon; an icon is extended, not declared")
            self._kinds[name] = kind
        return self._kinds[name]

    def layers(self, name: str) -> Layers:
        """All modifiers of a component, outermost first, those of its type last."""
        return (*self.declared(name).layers, *self.kind(name).layers)

    def of_kind(self, *kinds: str) -> list[str]:
        """Names of the components of these kinds."""
        return [name for name in self.content.components if self.kind(name).kind in kinds]

    def sizes(self, name: str) -> tuple[int, ...]:
        """Dimensions of a component; `:` takes those of its value."""
        declared, kind = self.declared(name), self.kind(name)
        env = self.env(declared.scope)
        nodes = [(d, env) for d in declared.component.dimensions] + [(d, kind.env or env) for d in kind.dimensions]
        sizes: list[int] = []
        for k, (node, place) in enumerate(nodes):
            if isinstance(node, s.Colon):
                value = self._raw(name)
                shape = values.shape(value) if value is not None else ()
                if len(shape) <= k:
                    raise fault(node.at, f"{name}[:]: has no value that tells its size")
                sizes.append(shape[k])
            else:
                literals = None
                if isinstance(node, s.Reference) and not self.has(node.names[0]):
                    type_ = self.session.classes.find(node.names, place.scope, node.absolute)
                    literals = enumeration(type_, place) if type_ is not None else None
                sizes.append(len(literals) if literals is not None else whole(node, place))
                try:
                    values.size(sizes[-1])
                except Wrong as error:
                    raise fault(node.at, f"{name}: {error}") from None
        return (*sizes, *(kind.scalar.dimensions if kind.scalar is not None else ()))

    def exists(self, name: str) -> bool:
        """False where the condition of a component is false."""
        declared = self.declared(name)
        return declared.component.condition is None or truth(declared.component.condition, self.env(declared.scope))

    def attribute(self, name: str, attribute: str) -> Any:
        """An attribute of a scalar component, such as start; None where nobody gives it."""
        found = bound(inner(self.layers(name), attribute))
        return value_in(found[1], found[0]) if found is not None else None

    # -- values

    def _raw(self, name: str) -> Any:
        """Value that the outermost modifier gives, as it is."""
        if name in self._pending:
            raise fault(self.declared(name).component.at, f"{name}: its value depends on itself")
        found = bound(self.layers(name))
        if found is None:
            return None
        self._pending.add(name)
        try:
            return value_in(found[1], found[0])
        finally:
            self._pending.discard(name)

    def binding(self, name: str) -> Any:
        """Value of a parameter or constant, checked against its type and dimensions.

        Raises:
            ModelError: no value, the wrong type or the wrong size.
        """
        component, kind = self.declared(name).component, self.kind(name)
        assert kind.scalar is not None
        value = self._raw(name)
        if value is None:
            start = self.attribute(name, "start")
            if self.attribute(name, "fixed") is False:
                return Start(casadi(start if start is not None else 0.0), fixed=False)
            if start is None:
                raise fault(
                    component.at,
                    f"{self.title}: the {kind.kind} {name} has no value; write `{name} = ...`, or give it "
                    "where the model is used",
                )
            value = start
        found = bound(self.layers(name))
        at = found[0].at if found is not None else component.at
        sizes = self.sizes(name)
        if values.shape(value) != sizes:
            if not values.shape(value) and sizes and found is not None and value_is_each(found[1], self, name):
                value = values.fill(value, *sizes)
            else:
                raise fault(
                    at,
                    f"{name} = {values.describe(value)}: expected "
                    + (f"an array of size {' x '.join(map(str, sizes))}" if sizes else "a single value"),
                )
        return _typed(value, kind.scalar.type, name, at, self.session)

    def value(self, name: str) -> Any:
        """Value of a parameter or constant for expressions: symbols, where it is a parameter of the assembly."""
        declaration = type(self.component).declarations.get(name) if self.component is not None else None
        if isinstance(declaration, Parameter):
            value = self.session.read(self.component, declaration)
            if self.kind(name).scalar is not None and isinstance(value, float) and self._base(name) == "Integer":
                return int(value)
            return value
        if name not in self._values:
            value = self.binding(name)
            if isinstance(value, Start):
                raise fault(
                    self.declared(name).component.at, f"{name}: only a parameter of type Real can have fixed = false"
                )
            self._values[name] = array(value) if not isinstance(value, list) else value
        return self._values[name]

    def _base(self, name: str) -> str:
        scalar = self.kind(name).scalar
        return scalar.type.base if scalar is not None else ""

    def get(self, name: str, env: Environment, node: s.Node) -> Any:
        """What an expression or connection gets for a name of this model."""
        if name not in self.content.components:
            return self.session._of_component(self.component, name, node, env)
        kind = self.kind(name).kind
        if kind in ("parameter", "constant"):
            return self.value(name)
        if kind == "outer":
            return self._outer(name, env, node)
        if kind == "variable":
            if env.equations is None:
                raise fault(
                    node.at,
                    f"{s.text(node)}: changes while the model runs; a parameter, size or start value cannot "
                    "depend on it",
                )
            return env.equations.variable(self, name, node)
        if kind == "connector":
            return self._plugs(name)
        if name not in self.members:
            if self.component is None:
                raise fault(node.at, f"{s.text(node)}: is not known yet when this is needed")
            self._make(name)
        return self.members[name]

    def _plugs(self, name: str) -> Any:
        if not self.exists(name):
            return ABSENT
        ports = self.component.ports() | self.component._ports
        if name in ports:
            return Plug(self.component, ports[name])
        return _nested(self.sizes(name), lambda k: Plug(self.component, ports[element_name(name, k)]))

    def _outer(self, name: str, env: Environment, node: s.Node) -> Any:
        model = self.parent
        while model is not None:
            if name in model.content.components and "inner" in model.declared(name).component.prefixes:
                return model.get(name, env, node)
            model = model.parent
        top = self
        while top.parent is not None:
            top = top.parent
        if name == "world" and self.kind(name).cls is not None:
            return top.default_world()
        raise fault(node.at, f"{name}: is outer, but no model around {self.title} declares it as inner; add it there")

    def default_world(self) -> Component:
        """The World of a model without one, as the language has it for an outer component that is missing."""
        if "world" not in self.members:
            self.members["world"] = self.component.add("world", world_class()())
        result: Component = self.members["world"]
        return result

    # -- making the component

    def make(self, base: type[Component] = Component) -> Component:
        """The component: an instance of a class of its own, with the model's parameters, variables and connectors."""
        if self.content.base is not None:
            return self._derived()
        others: dict[str, Any] = {"__doc__": self.content.doc or self.node.name, "modelica_name": None}
        declared: dict[str, Declaration] = self._declared_parameters()
        states = self._states()
        for name in self.of_kind("variable"):
            declared[name] = self._variable(name, name in states)
        for name in self.of_kind("connector"):
            if not self._is_array_of_ports(name):
                declared[name] = self._port(name)
        arrays = [n for n in self.of_kind("connector") if self._is_array_of_ports(n)]
        if self.has_equations:
            others["equations"] = lambda scope: Equations(self, scope).run()
        if self.is_composite or self.is_record or base is Assembly:
            others["build"] = lambda component: self._build(component, arrays)
        component = self._constructed(component_class(_identifier(self.node.name), base, declared, others), {})
        if "build" not in others:
            self._add_arrays(arrays)
        return component

    def _constructed(self, cls: type[Component], modifiers: dict[str, Any]) -> Component:
        at = self.node.definition.at if self.node.definition is not None else Place(self.session.classes.path, 1)
        self.component = cls.__new__(cls)
        self.component.__dict__["_name"] = self.name
        self.session.models[id(self.component)] = self
        with located(at):
            self.component.__init__(**modifiers)
        component: Component = self.component
        return component

    def _derived(self) -> Component:
        """An instance of a class that is derived from a component class of the library."""
        assert self.content.base is not None
        cls, layers = self.content.base
        own = [n for n in self.content.components if self.kind(n).kind not in ("parameter", "constant", "outer")]
        if own or self.content.equations or self.content.initial:
            at = (
                self.declared(own[0]).component.at if own else (self.content.equations or self.content.initial)[0][0].at
            )
            raise fault(
                at,
                f"{self.node.name}: adds to {cls.__name__} of the library, from which it is derived; make that class "
                "a component beside what is added",
            )
        declared = self._declared_parameters()
        if not declared:
            component = make_component(self.session, cls, layers, self.name, self)
            self.component = component
            return component
        others = {"__doc__": self.content.doc, "modelica_name": None}
        derived = component_class(_identifier(self.node.name), cls, declared, others)
        own_layers = tuple(
            dataclasses.replace(
                layer,
                modification=dataclasses.replace(
                    layer.modification,
                    arguments=tuple(
                        a for a in layer.modification.arguments if a.names[0] not in self.content.components
                    ),
                ),
            )
            for layer in layers
        )
        self.component = derived.__new__(derived)
        self.component.__dict__["_name"] = self.name
        self.session.models[id(self.component)] = self
        return make_component(self.session, derived, own_layers, self.name, self, self.component)

    @property
    def is_composite(self) -> bool:
        """True where the model has components of its own beside parameters, variables and connectors."""
        return bool(self.of_kind("library", "model", "record", "bus"))

    @property
    def has_equations(self) -> bool:
        """True where the model says more than what it consists of."""
        if self.of_kind("variable") or self.content.initial:
            return True
        return (
            any(not isinstance(e, s.Connect) for e, _ in _all_equations(self.content.equations))
            or (not self.is_composite and not self.is_record)
            or self._modifies_signals()
        )

    def _modifies_signals(self) -> bool:
        """True where a modifier may give a signal its value, as in RealExpression(y = ...)."""
        return (
            any(
                self.kind(n).kind == "library"
                and any(
                    isinstance(self.kind(n).cls.declarations.get(name), Signal)  # type: ignore[union-attr]
                    for name in names_in(self.layers(n))
                )
                for n in self.of_kind("library")
            )
            or any(
                self.kind(n).kind == "connector" and bound(self.layers(n)) is not None
                for n in self.of_kind("connector")
            )
            or any(
                bound(inner(self.layers(n), name)) is not None
                for n in self.of_kind("model")
                for name in names_in(self.layers(n))
            )
        )

    def _declared_parameters(self) -> dict[str, Declaration]:
        return {n: d for n in self.of_kind("parameter") if (d := self._parameter(n)) is not None}

    def _parameter(self, name: str) -> Parameter | None:
        """The parameter's declaration; None for what mbfmu has no parameters for, such as arrays of texts."""
        component, kind = self.declared(name).component, self.kind(name)
        assert kind.scalar is not None
        if component.condition is not None:
            return None
        type_ = self._type(name)
        nodes = (*component.dimensions, *kind.dimensions)
        rank = len(nodes) + len(kind.scalar.dimensions)
        if (type_.base in ("Boolean", "String") and rank) or (type_.base == "Integer" and rank > 1) or rank > 2:
            return None
        shape: Any = None
        if all(isinstance(d, s.Literal) and isinstance(d.value, int) for d in nodes):
            shape = (*(d.value for d in nodes if isinstance(d, s.Literal)), *kind.scalar.dimensions)
        structural = (self.path, name) in self.session.structural
        final = component.protected or "final" in component.prefixes

        def binding(component_: Any) -> Any:
            value = self.binding(name)
            if isinstance(value, Start):
                return value
            if structural or type_.base != "Real" or type_.name == "Axis":
                value = self.session.numbers(value, component.at)
            return casadi(value) if not isinstance(value, str) else str(value)

        found = bound(self.layers(name))
        default: Any = binding
        if self.attribute(name, "fixed") is False or (
            found is not None and _is_plain(found[0]) and not found[1].indices
        ):
            default = binding(None)  # a number of its own, or open: a parameter that can be set
            default = np.asarray(default) if isinstance(default, list) else default
        if final and not callable(default):
            number = default
            default = lambda component_: number  # noqa: E731
        return Parameter(
            type_,
            default,
            component.doc or name,
            shape=shape,
            structural=structural,
            final=final,
            min=self._bound(name, "min"),
            max=self._bound(name, "max"),
        )

    def _bound(self, name: str, attribute: str) -> float | None:
        found = bound(inner(self.layers(name), attribute))
        if found is None or not _is_plain(found[0]):
            return None
        value = value_in(found[1], found[0])
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def _type(self, name: str) -> t.Type:
        """The component's type with the units that modifiers give it."""
        scalar = self.kind(name).scalar
        assert scalar is not None
        type_ = scalar.type
        if type_.base != "Real":
            return type_
        given = {}
        for attribute, field in (("unit", "unit"), ("displayUnit", "display_unit"), ("quantity", "quantity")):
            found = bound(inner(self.layers(name), attribute))
            if found is not None:
                value = value_in(dataclasses.replace(found[1], indices=()), found[0])
                value = values.flat(value)[0] if isinstance(value, list) and value else value
                if isinstance(value, str):
                    given[field] = value or None
        if "unit" in given and given["unit"] != type_.unit and "display_unit" not in given:
            given["display_unit"] = None
        return dataclasses.replace(type_, **given) if given else type_  # type: ignore[arg-type]

    def _states(self) -> set[str]:
        """Own variables that differential equations determine."""
        variables = set(self.of_kind("variable"))
        equations = [e for e, _ in _all_equations(self.content.equations) if isinstance(e, s.Equality)]
        equations += [
            s.Equality(found[0].at, s.Reference(found[0].at, ((n, ()),)), found[0])
            for n in variables
            if (found := bound(self.layers(n))) is not None
        ]
        states = {
            call.arguments[0].names[0]
            for e in equations
            for call in e.walk()
            if isinstance(call, s.Call)
            and call.function.names == ("der",)
            and len(call.arguments) == 1
            and isinstance(call.arguments[0], s.Reference)
            and len(call.arguments[0].names) == 1
        } & variables
        while True:
            left = set(states)
            for e in equations:
                sides = [(e.left, e.right)] + ([(e.right, e.left)] if isinstance(e.left, s.Reference) else [])
                for side, other in sides:
                    if isinstance(side, s.Reference) and len(side.names) == 1 and side.names[0] in states:
                        rates = {
                            n.arguments[0].names[0]
                            for n in other.walk()
                            if isinstance(n, s.Call)
                            and n.function.names == ("der",)
                            and n.arguments
                            and isinstance(n.arguments[0], s.Reference)
                        }
                        if not rates & states:  # else it is the differential equation of another state
                            left.discard(side.names[0])
            if left == states:
                return states
            states = left

    def _variable(self, name: str, is_state: bool) -> Variable:
        component = self.declared(name).component

        def start(instance: Any) -> Any:
            value = self.attribute(name, "start")
            if value is None:
                return 0.0 if is_state else None
            if isinstance(value, str):
                raise ModelError(f"{name}: its start value {value!r:.60} is text; give a number")
            sizes = self.sizes(name)
            if sizes and not isinstance(value, list):
                value = values.fill(value, *sizes)
            return (
                casadi([float(v) if isinstance(v, bool) else v for v in values.flat(value)]) if sizes else casadi(value)
            )

        def fixed(instance: Any) -> Any:
            value = self.attribute(name, "fixed")
            for given in values.flat(value) if isinstance(value, list) else [value]:
                if not isinstance(given, bool | None):
                    raise ModelError(f"{name}: fixed = {given!s:.60} is neither true nor false")
            return bool(value) if not isinstance(value, list) else [bool(v) for v in values.flat(value)]

        type_ = self._type(name)
        if type_.base != "Real" and (is_state or type_.base not in INPUTS):  # an enumeration is its number
            type_ = t.Real
        cls = State if is_state else Variable
        return cls(type_, component.doc or name, shape=lambda instance: self.sizes(name), start=start, fixed=fixed)

    def _is_array_of_ports(self, name: str) -> bool:
        component, kind = self.declared(name).component, self.kind(name)
        assert kind.port is not None
        return bool(component.dimensions or kind.dimensions) and not issubclass(kind.port, Signal)

    def _port(self, name: str, doc: str | None = None) -> Port:
        component, kind = self.declared(name).component, self.kind(name)
        assert kind.port is not None
        when: Callable[[Any], bool] | None = None
        if component.condition is not None:
            when = lambda instance: self.exists(name)  # noqa: E731
        if issubclass(kind.port, Signal):
            type_ = self._type(name) if kind.scalar is not None else self._port_type(name)
            if type_.base not in kind.port.bases:  # an enumeration; or a library's connector without a unit
                type_ = kind.port.default_type
            given = {"start": lambda instance: self._input_start(name)} if issubclass(kind.port, SignalInput) else {}
            return kind.port(component.doc or name, type=type_, shape=lambda _: self.sizes(name), when=when, **given)
        return kind.port(component.doc, when=when)

    def _input_start(self, name: str) -> Any:
        """What an input of the whole model is until it is set: its start value, as parameters are now."""
        value = self.attribute(name, "start")
        if value is None:
            return 0.0
        value = self.session.numbers(value, self.declared(name).component.at, mark=False)
        return [float(v) for v in values.flat(value)] if isinstance(value, list) else value

    def _port_type(self, name: str) -> t.Type:
        found = bound(inner(self.layers(name), "unit"))
        unit = value_in(found[1], found[0]) if found is not None else None
        return dataclasses.replace(t.Real, unit=unit) if isinstance(unit, str) and unit else t.Real

    def _add_arrays(self, arrays: list[str]) -> None:
        for name in arrays:
            for k in itertools.product(*(range(1, n + 1) for n in self.sizes(name))):
                setattr(self.component, element_name(name, k), self._port(name))

    def _build(self, component: Component, arrays: list[str]) -> None:
        """Make the parts and connect them: Component.build of the model's class."""
        self.component = component
        self.members.clear()
        self._values.clear()
        self.drives, self.given = [], []
        component._ports.clear()
        component._symbols.clear()  # sizes may have changed; all that refers to them is made anew
        self._add_arrays(arrays)
        worlds = [n for n in self.of_kind("library") if getattr(self.kind(n).cls, "is_world", False)]
        for name in (*worlds, *self.of_kind("library", "model", "record", "bus")):
            if name not in self.members:
                self._make(name)
        signals = Signals()
        for equation, env in self.active(self.content.equations):
            if isinstance(equation, s.Connect):
                self._connect(equation, env, signals)
        self._fix_starts()
        for equation, env in self.active(self.content.equations):
            if isinstance(equation, s.Equality):
                self._find_drive(equation, env, signals)
        for plug, node, env, layer in self.drives:
            self._drive(plug, node, env, layer, signals)
        signals.connect(component, self.session.buses)
        if self.parent is None:
            self.session.buses.connect(component)

    def active(self, equations: list[tuple[s.Node, Node]]) -> Iterator[tuple[s.Node, Environment]]:
        """Equations with loops unrolled, and of if-equations with fixed conditions the branch that holds."""
        for equation, scope in equations:
            yield from self._unrolled(equation, self.env(scope))

    def _unrolled(self, equation: s.Node, env: Environment) -> Iterator[tuple[s.Node, Environment]]:
        if isinstance(equation, s.For):
            for turn in loop(equation.indices, env, equation.at):
                for inner_ in equation.body:
                    yield from self._unrolled(inner_, turn)
        elif isinstance(equation, s.If):
            if not self._is_fixed(equation, env):
                yield equation, env
                return
            body = next((b for condition, b in equation.branches if truth(condition, env)), equation.otherwise)
            for inner_ in body:
                yield from self._unrolled(inner_, env)
        else:
            yield equation, env

    def _is_fixed(self, equation: s.If, env: Environment) -> bool:
        """True where the conditions are parameters, False where they change; connections need the former."""
        for condition, _ in equation.branches:
            for node in condition.walk():
                if not isinstance(node, s.Reference) or node.names[0] in env.locals:
                    continue
                if node.names == ("time",):
                    return False
                model: Any = env.model
                for name in node.names:
                    if not isinstance(model, Model) or name not in model.content.components:
                        if isinstance(model, Component):
                            declaration = model.declarations.get(name)
                            if isinstance(declaration, Variable | Port):
                                return False
                        break
                    kind = model.kind(name).kind
                    if kind in ("variable", "connector"):
                        return False
                    model = model.members.get(name) if kind in ("library", "model", "record") else None
        return True

    # -- parts

    def _make(self, name: str) -> None:
        """Make a part, or all parts of an array."""
        declared = self.declared(name)
        if name in self._pending:
            raise fault(declared.component.at, f"{name}: what it is modified with depends on itself")
        if not self.exists(name):
            self.members[name] = ABSENT
            return
        self._pending.add(name)
        try:
            sizes = self.sizes(name)
            count = int(np.prod(sizes)) if sizes else 1
            if count > 10_000:
                raise fault(declared.component.at, f"{name}: an array of {count} components is too large")
            self.members[name] = _nested(sizes, lambda k: self._part(name, k))
        finally:
            self._pending.discard(name)

    def _part(self, name: str, index: tuple[int, ...]) -> Any:
        kind, component = self.kind(name), self.declared(name).component
        layers = tuple(
            dataclasses.replace(layer, indices=(*layer.indices, *index)) if index else layer
            for layer in self.layers(name)
        )
        full = element_name(name, index) if index else name
        if kind.kind == "bus":
            return Bus(self, full)
        if kind.kind == "library":
            assert kind.cls is not None
            part = self._expression(full, kind.cls, layers)
            own: set[str] = set()
            if part is None:
                own = _reads_itself(layers, self, name)
                if own:  # its parameters are found when they are asked for, starts and parts' modifiers in the end
                    part = self.members[name] = kind.cls.__new__(kind.cls)
                    own = {given for given in own if not is_parameter(part, given)}
                early = _only(layers, lambda given: given not in own)
                part = make_component(self.session, kind.cls, early, full, self, part, at=component.at)
            with located(component.at):
                self.component.add(full, part)
            if own:
                modify(self.session, part, _only(layers, lambda given: given in own), component.at)
            return part
        binding = bound(layers)
        if binding is not None and kind.kind == "record":
            value = value_in(binding[1], binding[0])
            if not isinstance(value, dict):
                raise fault(binding[0].at, f"{name} = {values.describe(value)}: expected a record")
            return value
        around: Model | None = self
        while around is not None:
            if around.node is kind.found.node:
                raise fault(component.at, f"{name}: {kind.found} contains itself; break the circle")
            around = around.parent
        model = Model(self.session, full, kind.found, layers, self)
        definition = model.node.definition
        if definition is not None and "partial" in definition.prefixes:
            raise fault(
                component.at,
                f"{name}: {kind.found} is partial (declared at {definition.at}); redeclare it by a full class",
            )
        self._refuse_unknown(model, layers)
        made = model.make()
        with located(component.at):
            self.component.add(full, made)
        for inner_name in model.of_kind("connector"):
            found = bound(model.layers(inner_name))
            port = model.kind(inner_name).port
            if found is not None and port is not None and issubclass(port, Signal):
                for layer in model.layers(inner_name):
                    if layer.modification.value is not None and layer.env.model is self:
                        self.drives.append((model._plugs(inner_name), found[0], layer.env, layer))
                        break
        if model.content.base is not None:
            return made
        return model

    def _refuse_unknown(self, model: Model, layers: Layers) -> None:
        for layer in layers:
            for argument in layer.modification.arguments:
                name = argument.names[0]
                is_class = argument.redeclared is not None and isinstance(argument.redeclared, s.Class)
                if not is_class and not model.has(name) and not (model.content.base is not None):
                    hint = suggestion(name, model.names(), "its class")
                    raise fault(argument.at, f"{model.title} has no {name!r}; {hint}")

    def _expression(self, name: str, cls: type[Component], layers: Layers) -> Component | None:
        """RealExpression and its like: a part that passes on what the model's equations give it."""
        if cls.modelica_name == "Blocks.Logical.TerminateSimulation":
            return self._ending(name, cls, layers)
        if cls.modelica_name not in _EXPRESSIONS:
            return None
        found = bound(inner(layers, "y"))
        if found is None:
            return None
        part = _EXPRESSIONS[cls.modelica_name]()
        self.drives.append((Plug(part, part.ports()["u"]), found[0], found[1].env, found[1]))
        return part

    def _ending(self, name: str, cls: type[Component], layers: Layers) -> Component:
        """TerminateSimulation, whose condition the model's equations give."""
        found = bound(inner(layers, "condition"))
        others = tuple(
            dataclasses.replace(
                layer,
                modification=dataclasses.replace(
                    layer.modification,
                    arguments=tuple(a for a in layer.modification.arguments if a.names[0] != "condition"),
                ),
            )
            for layer in layers
        )
        part: Component = make_component(self.session, cls, others, name, self)
        if found is None:
            part.modify(condition=False)
        else:
            self.drives.append((Plug(part, part.ports()["condition"]), found[0], found[1].env, found[1]))
        return part

    # -- connections

    def _connect(self, node: s.Connect, env: Environment, signals: Signals) -> None:
        a, b = (self._ends(reference, node, env) for reference in (node.a, node.b))
        if any(isinstance(p, Absent) for p in (*a, *b)) and (len(a) == 1 or len(b) == 1):
            return  # what a condition switched off takes its connections with it
        if not any(isinstance(p, Bus) for p in (*a, *b)) and [_width(p) for p in a] != [_width(p) for p in b]:
            a, b = ([x for p in side for x in (p.split() if isinstance(p, Plug) else [p])] for side in (a, b))
        if len(a) != len(b):
            raise fault(node.at, f"connect({node.a}, {node.b}): {len(a)} elements on one side, {len(b)} on the other")
        for p, q in zip(a, b, strict=True):
            if isinstance(p, Absent) or isinstance(q, Absent):
                continue
            if isinstance(p, Bus) or isinstance(q, Bus):
                self._meet(p, q, node)
            elif isinstance(p.port, Signal) and isinstance(q.port, Signal):
                for x, y in zip(p.split(), q.split(), strict=True):
                    signals.join(x, y, node.at, self.component)
            else:
                with located(node.at):
                    self.component.connect(p.connector, q.connector)

    def _ends(self, reference: s.Reference, node: s.Connect, env: Environment) -> list[Any]:
        found = values.flat(resolve(reference, env))
        for plug in found:
            if isinstance(plug, Component | Model):
                raise fault(node.at, f"connect({node.a}, {node.b}): {reference} is a component; name its connector")
            if not isinstance(plug, Plug | Absent | Bus):
                raise fault(node.at, f"connect({node.a}, {node.b}): {reference} is no connector")
        return found

    def _meet(self, p: Plug | Bus, q: Plug | Bus, node: s.Connect) -> None:
        """A connection with a bus: it is made when all models are there."""
        for x in (p, q):
            if isinstance(x, Plug) and (not isinstance(x.port, Signal) or x.size != 1 or x.owner is self.component):
                raise fault(
                    node.at,
                    f"connect({node.a}, {node.b}): a bus takes single signals of parts; connect others directly",
                )
        ends = [x.split()[0] if isinstance(x, Plug) else x for x in (p, q)]
        self.session.buses.join(ends[0], ends[1], node.at, self.component)

    def _find_drive(self, equation: s.Equality, env: Environment, signals: Signals) -> None:
        """An equation that gives a part's input its value."""
        for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
            plug = self.driven(side, env)
            if plug is not None and signals.is_fed(plug) is None:
                self._drive(plug, other, env, None, signals)
                return

    def driven(self, node: s.Node, env: Environment) -> Plug | None:
        """The input of a part that an expression names, None for anything else."""
        if not isinstance(node, s.Reference) or len(node.parts) < 2 or node.names[0] in env.locals:
            return None
        if not self.has(node.names[0]) or node.names[0] not in self.members:
            return None
        try:
            found = resolve(node, env)
        except ModelError:
            return None
        if isinstance(found, Plug) and isinstance(found.port, SignalInput) and found.owner is not self.component:
            return found
        return None

    def _drive(self, plug: Any, node: s.Node, env: Environment, layer: Layer | None, signals: Signals) -> None:
        for other in self.given:
            if other[1] is node and other[3] is layer and layer is not None and not layer.indices:
                return
        name = f"given[{len(self.given) + 1}]"
        size = plug.size
        whole_ = plug.port.shape(plug.owner)
        shape = (size,) if whole_ and plug.elements is None else ()
        port = Given(s.text(node), type=plug.port.type, shape=shape)
        setattr(self.component, name, port)
        fed = signals.is_fed(plug)
        if fed is not None:
            raise fault(node.at, f"{plug.path}: is given a value here, and connected at {fed}; keep one")
        with located(node.at):
            self.component.connect(Connector(self.component, port), plug.connector)
        self.given.append((name, node, env, layer))

    def _fix_starts(self) -> None:
        """Initial equations that give a part's variable a value: its start value, fixed.

        Where another one fixes it already, be it a modifier or an equation, this one stays an equation beside it.
        """
        self.left_initial = []
        for equation, env in self.active(self.content.initial):
            if not self._fix_start(equation, env):
                self.left_initial.append((equation, env))

    def _fix_start(self, equation: s.Node, env: Environment) -> bool:
        if not isinstance(equation, s.Equality):
            return False
        for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
            if not isinstance(side, s.Reference) or len(side.parts) < 2 or side.parts[-1][1]:
                continue
            if side.names[0] in env.locals or side.names[0] not in self.members:
                continue
            try:
                owner = resolve(dataclasses.replace(side, parts=side.parts[:-1]), env)
                value = casadi(evaluate(other, env))
            except ModelError:
                continue
            name = side.names[-1]
            if not (isinstance(owner, Component) and isinstance(owner.declarations.get(name), Variable)):
                continue
            if np.any(owner.is_fixed(name)):
                self._refuse_other_start(owner, name, value, equation)
                return False
            with located(equation.at):
                owner.modify(**{name: Start(value, fixed=True)})
            return True
        return False

    def _refuse_other_start(self, owner: Component, name: str, value: Any, equation: s.Node) -> None:
        """Refuse a value for a variable that starts with another one; what is known at the start of a run only stays.

        Raises:
            ModelError: both are numbers, or parameters with these values, and differ.
        """
        session, (start, fixed, _) = self.session, owner.start(name)
        session.register(owner)
        try:
            wanted, present = (
                np.ravel(session.numbers(array(v), equation.at, mark=False)).astype(float)
                for v in (value, 0.0 if start is None else start)
            )
        except ModelError:
            return
        for i, (a, b, is_fixed) in enumerate(np.broadcast(wanted, present, np.ravel(fixed))):
            if is_fixed and not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12):
                element = f"[{i + 1}]" if max(wanted.size, present.size) > 1 else ""
                raise fault(
                    equation.at,
                    f"`{s.text(equation)}`: {owner.where}.{name}{element} starts with {b:g} already, which is fixed; "
                    "keep one of both, or let the start value be a guess (fixed=false)",
                )


def component_class(
    name: str, base: type[Component], declared: dict[str, Declaration], others: dict[str, Any]
) -> type[Component]:
    """A component class with declarations, which may have any name, and other attributes.

    Where a name is one of Component's own (path, value, start ...), of the others, or a word of equations (start_time,
    initial ...) the declaration is none of the class's attributes.
    """
    attributes = {n: d for n, d in declared.items() if not hasattr(Assembly, n) and n not in VOCABULARY}
    cls: type[Component] = type(name, (base,), attributes | others)
    cls.copy_obstacle = "its equations are those of a Modelica file; load the file again"
    for n, declaration in declared.items():
        declaration.name = n
    cls._take_declarations(cls.declarations | declared)
    return cls


class Expression(Component):
    """Source whose value its assembly's equations give."""

    u = RealInput("What the output is to be")
    y = RealOutput("Value of Real output")

    def equations(self) -> None:
        """y = u."""
        self.y = self.u


class IntegerExpression(Expression):
    """Source whose whole number its assembly's equations give."""

    u = IntegerInput("What the output is to be")
    y = IntegerOutput("Value of Integer output")


class BooleanExpression(Expression):
    """Source whose truth value its assembly's equations give."""

    u = BooleanInput("What the output is to be")
    y = BooleanOutput("Value of Boolean output")


_EXPRESSIONS: dict[str | None, type[Component]] = {
    "Blocks.Sources.RealExpression": Expression,
    "Blocks.Sources.IntegerExpression": IntegerExpression,
    "Blocks.Sources.BooleanExpression": BooleanExpression,
}


# -- helpers


def _reads_itself(layers: Layers, model: Model, name: str) -> set[str]:
    """Names of a component whose modifiers read the component itself: `body(d_i=body.d/2)`."""
    return {
        argument.names[0]
        for layer in layers
        for argument in layer.modification.arguments
        if layer.env.model is model
        and any(isinstance(n, s.Reference) and n.names[0] == name for n in argument.modification.walk())
    }


def _only(layers: Layers, wanted: Callable[[str], bool]) -> Layers:
    """What layers say of the names that are wanted."""
    kept = []
    for layer in layers:
        arguments = tuple(a for a in layer.modification.arguments if wanted(a.names[0]))
        if arguments or layer.modification.value is not None:
            kept.append(
                dataclasses.replace(layer, modification=dataclasses.replace(layer.modification, arguments=arguments))
            )
    return tuple(kept)


def _check_algorithm(definition: s.Class) -> None:
    """Refuse an algorithm in which order matters; others are equations.

    Raises:
        ModelError: a statement other than an assertion or the one assignment of a variable that none before it reads.
    """
    read: set[str] = set()
    for statement in definition.statements:
        target = statement.left if isinstance(statement, s.Equality) else None
        is_variable = isinstance(target, s.Reference) and len(target.parts) == 1 and not target.parts[0][1]
        if not isinstance(statement, s.CallEquation) and not is_variable:
            remedy = (
                "use a block of Modelica.Blocks for what a when-statement decides"
                if isinstance(statement, s.When)
                else "write equations"
            )
            raise fault(statement.at, f"{definition.name}: this statement of an algorithm is not translated; {remedy}")
        values_ = statement.right if isinstance(statement, s.Equality) else statement
        read |= {n.names[0] for n in values_.walk() if isinstance(n, s.Reference)}
        if isinstance(target, s.Reference):
            if target.names[0] in read:
                raise fault(
                    statement.at,
                    f"{definition.name}: the order of this algorithm matters at {target}; write an equation for each "
                    "variable",
                )
            read.add(target.names[0])


def _width(end: Any) -> int:
    return end.size if isinstance(end, Plug) else 1


def element_name(name: str, index: tuple[int, ...]) -> str:
    """Name of an element of an array of components."""
    return f"{name}[{','.join(map(str, index))}]"


def _nested(sizes: tuple[int, ...], make: Callable[[tuple[int, ...]], Any], index: tuple[int, ...] = ()) -> Any:
    if not sizes:
        return make(index)
    return [_nested(sizes[1:], make, (*index, k)) for k in range(1, sizes[0] + 1)]


def _identifier(name: str) -> str:
    return name.strip("'") if not name.isidentifier() else name


def _is_plain(node: s.Node) -> bool:
    """True for numbers and texts as they are, in arrays too: what a user would want to change in the FMU."""
    if isinstance(node, s.Literal):
        return True
    if isinstance(node, s.Operation) and node.operator in ("-", "+") and len(node.operands) == 1:
        return _is_plain(node.operands[0])
    if isinstance(node, s.Array):
        return all(map(_is_plain, node.items))
    return isinstance(node, s.Matrix) and all(_is_plain(i) for row in node.rows for i in row)


def value_is_each(layer: Layer, model: Model, name: str) -> bool:
    """True where a modifier with `each` gives every element of an array the same value."""
    return any(
        "each" in a.prefixes and a.modification is layer.modification
        for declared in model.content.components.values()
        for x in declared.layers
        for a in x.modification.arguments
    )


def _typed(value: Any, type_: t.Type, name: str, at: Place, session: Session) -> Any:
    """A value of the declared type: Integer becomes Real, nothing else is converted."""

    def convert(x: Any) -> Any:
        if type_.base == "Boolean":
            if isinstance(x, bool):
                return x
            if is_symbolic(x):
                return session.numbers(x, at) > 0.5
        elif type_.base == "String":
            if isinstance(x, str):
                return x
        elif values.is_number(x):
            if type_.base == "Integer":
                x = session.numbers(x, at)
                if isinstance(x, float):
                    if not x.is_integer():
                        raise fault(at, f"{name} = {x:g}: expected a whole number")
                    x = int(x)
                return x
            return x
        word = {"Boolean": "true or false", "String": "a text"}.get(type_.base, "a number")
        raise fault(at, f"{name} = {values.describe(x)}: expected {word}")

    return values.elementwise(convert, value)


def _all_equations(equations: list[tuple[s.Node, Node]]) -> Iterator[tuple[s.Node, Node]]:
    """All equations, those in loops and branches too."""
    for equation, scope in equations:
        if isinstance(equation, s.For):
            yield from _all_equations([(e, scope) for e in equation.body])
        elif isinstance(equation, s.If):
            for _, body in equation.branches:
                yield from _all_equations([(e, scope) for e in body])
            yield from _all_equations([(e, scope) for e in equation.otherwise])
        else:
            yield equation, scope


__all__ = ["Expression", "Model"]
