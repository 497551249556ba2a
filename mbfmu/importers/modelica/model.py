"""Classes with their modifiers -> mbfmu components: inheritance, merging of modifiers, arrays, conditions, connections.

A model of the user's becomes a component class of its own with the model's parameters, whose `build` makes the parts;
a class of the library becomes mbfmu's class of that name. Parameters that decide what a model consists of, or that
feed a structural parameter, are fixed when the assembly is made; all others stay parameters.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from mbfmu.arrays import element_name
from mbfmu.importers.modelica import making, values
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.branches import active
from mbfmu.importers.modelica.building import make_member
from mbfmu.importers.modelica.classes import Found
from mbfmu.importers.modelica.construction import component_of
from mbfmu.importers.modelica.evaluate import Environment, dimension, truth
from mbfmu.importers.modelica.inheritance import collect
from mbfmu.importers.modelica.library import Enumeration
from mbfmu.importers.modelica.modifiers import (
    ABSENT,
    SHOWN,
    Content,
    Declared,
    Kind,
    Layer,
    Layers,
    bound,
    inner,
    nested,
    value_in,
)
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.parts import world_class
from mbfmu.importers.modelica.session import Session
from mbfmu.importers.modelica.signals import Plug
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.importers.modelica.types_of import check_given, of_type
from mbfmu.importers.modelica.values import Wrong, array, casadi, is_symbolic
from mbfmu.modeling import Component, RealInput, Start
from mbfmu.modeling import types as t
from mbfmu.modeling.connectors import INPUTS
from mbfmu.modeling.declarations import Parameter


class Model(making.Model):
    """A class of the user's as a component: its declarations, its modifiers, its parts, and how these are made."""

    def __init__(self, session: Session, name: str, found: Found, layers: Layers, parent: making.Model | None) -> None:
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
        self.known_values: dict[str, Any] = {}
        self.pending: set[str] = set()
        self._kinds: dict[str, Kind] = {}
        collect(self, self.node, layers, 0)

    # -- what the class has

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
                self._refuse_modified(name, declared)
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

    def _refuse_modified(self, name: str, declared: Declared) -> None:
        """Refuse values for what is outer: it has those of the inner one."""
        for layer in declared.layers:
            nodes = [n for n in layer.modification.walk() if isinstance(n, s.Argument)]
            given = [n for n in nodes if n.names[-1] not in SHOWN and n.modification.value is not None]
            if given or layer.modification.value is not None:
                at = given[0].at if given else layer.modification.at
                raise fault(at, f"{name}: is outer, and is what its inner one is; modify that")

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
                sizes.append(dimension(node, place))
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

    @property
    def is_composite(self) -> bool:
        """True where the model has components of its own beside parameters, variables and connectors."""
        return bool(self.of_kind("library", "model", "record", "bus"))

    def active(self, equations: list[tuple[s.Node, Node]]) -> Iterator[tuple[s.Node, Environment]]:
        """Equations with loops unrolled, and of if-equations with fixed conditions the branch that holds."""
        return active(self, equations)

    # -- making the component

    def make(self, base: type[Component] = Component) -> Component:
        """The component: an instance of a class of its own, with the model's parameters, variables and connectors."""
        return component_of(self, base)

    def below(self, name: str, found: Found, layers: Layers) -> Model:
        """A component of this model that is a model itself."""
        return Model(self.session, name, found, layers, self)

    # -- values

    def _raw(self, name: str) -> Any:
        """Value that the outermost modifier gives, as it is."""
        if name in self.pending:
            raise fault(self.declared(name).component.at, f"{name}: its value depends on itself")
        found = bound(self.layers(name))
        if found is None:
            return None
        self.pending.add(name)
        try:
            return value_in(found[1], found[0])
        finally:
            self.pending.discard(name)

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
        if found is not None:
            check_given(name, of_type(kind.scalar.type), found[0], found[1].env, is_known=True)
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
        if name not in self.known_values:
            value = self.binding(name)
            if isinstance(value, Start):
                raise fault(
                    self.declared(name).component.at, f"{name}: only a parameter of type Real can have fixed = false"
                )
            self.known_values[name] = array(value) if not isinstance(value, list) else value
        return self.known_values[name]

    def _base(self, name: str) -> str:
        scalar = self.kind(name).scalar
        return scalar.type.base if scalar is not None else ""

    def get(self, name: str, env: Environment, node: s.Node) -> Any:
        """What an expression or connection gets for a name of this model."""
        if name not in self.content.components:
            return self.session._of_component(self.component, name, node, env)
        kind = self.kind(name).kind
        if kind in ("parameter", "constant", "variable") and not self.exists(name):
            return ABSENT
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
            return self.plugs(name)
        if name not in self.members:
            if self.component is None:
                raise fault(node.at, f"{s.text(node)}: is not known yet when this is needed")
            make_member(self, name)
        return self.members[name]

    def plugs(self, name: str) -> Any:
        """A connector, or an array of them."""
        if not self.exists(name):
            return ABSENT
        ports = self.component.ports() | self.component._ports
        if name in ports:
            return Plug(self.component, ports[name])
        return nested(self.sizes(name), lambda k: Plug(self.component, ports[element_name(name, k)]))

    def around(self, name: str) -> making.Model | None:
        """The nearest model around this one that declares a name as inner."""
        model = self.parent
        while model is not None:
            if name in model.content.components and "inner" in model.declared(name).component.prefixes:
                return model
            model = model.parent
        return None

    def lacks_world(self) -> bool:
        """True where it declares an outer World of the library, and no model around has one."""
        kind = self.kind("world") if "world" in self.content.components else None
        return kind is not None and kind.kind == "outer" and kind.cls is not None and self.around("world") is None

    def _outer(self, name: str, env: Environment, node: s.Node) -> Any:
        model = self.around(name)
        if model is not None:
            return model.get(name, env, node)
        top: making.Model = self
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


def value_is_each(layer: Layer, model: Model, name: str) -> bool:
    """True where a modifier with `each` gives every element of an array the same value."""
    around = (layer.env.model or model).content.components.values()
    modifications = [x.modification for declared in around for x in declared.layers]
    modifications += [base.modification for base in layer.env.scope.bases]
    return any(
        "each" in a.prefixes and a.modification is layer.modification for m in modifications for a in m.arguments
    )


def _typed(value: Any, type_: t.Type, name: str, at: Place, session: Session) -> Any:
    """A value of the declared type: Integer becomes Real, nothing else is converted."""

    def convert(x: Any) -> Any:
        if type_.base == "Boolean":
            if isinstance(x, bool):
                return x
            if is_symbolic(x):
                return session.numbers(x, at) > 0.5
        elif type_.values:
            if isinstance(x, Enumeration) and x.literals in ((), type_.values):
                return x
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
        if type_.values:
            raise fault(
                at, f"{name} = {values.describe(x)}: expected a literal of {type_.name}, such as {type_.values[0]}"
            )
        word = {"Boolean": "true or false", "String": "a text"}.get(type_.base, "a number")
        raise fault(at, f"{name} = {values.describe(x)}: expected {word}")

    return values.elementwise(convert, value)


__all__ = ["Model"]
