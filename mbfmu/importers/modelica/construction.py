"""The component of a model: an instance of a class of its own."""

from __future__ import annotations

from typing import Any

from mbfmu.importers.modelica import library
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.branches import all_equations
from mbfmu.importers.modelica.building import build
from mbfmu.importers.modelica.declarations import (
    add_arrays,
    is_array_of_ports,
    parameters_of,
    port_of,
    states_of,
    variable_of,
)
from mbfmu.importers.modelica.equations import Equations
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.modifiers import bound, inner, located, names_in, only, refuse_attributes
from mbfmu.importers.modelica.parts import make_component
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.modeling import Assembly, Component
from mbfmu.modeling.component import VOCABULARY
from mbfmu.modeling.connectors import Signal
from mbfmu.modeling.declarations import Declaration


def component_of(model: Model, base: type[Component] = Component) -> Component:
    """The component: an instance of a class of its own, with the model's parameters, variables and connectors."""
    if model.content.base is not None:
        return _derived(model)
    for name in model.content.components:
        kind = model.kind(name)
        if kind.scalar is not None or (kind.port is not None and issubclass(kind.port, Signal)):
            refuse_attributes(name, model.layers(name), model.declared(name).component.at)
    others: dict[str, Any] = {"__doc__": model.content.doc or model.node.name, "modelica_name": None}
    declared: dict[str, Declaration] = parameters_of(model)
    states = states_of(model)
    for name in model.of_kind("variable"):
        declared[name] = variable_of(model, name, name in states)
    for name in model.of_kind("connector"):
        if not is_array_of_ports(model, name):
            declared[name] = port_of(model, name)
    arrays = [n for n in model.of_kind("connector") if is_array_of_ports(model, n)]
    if _has_equations(model):
        others["equations"] = lambda scope: Equations(model, scope).run()
    if model.is_composite or model.is_record or base is Assembly:
        others["build"] = lambda component: build(model, component, arrays)
    component = _constructed(model, component_class(_identifier(model.node.name), base, declared, others), {})
    if "build" not in others:
        add_arrays(model, arrays)
    return component


def _constructed(model: Model, cls: type[Component], modifiers: dict[str, Any]) -> Component:
    at = model.node.definition.at if model.node.definition is not None else Place(model.session.classes.path, 1)
    model.component = cls.__new__(cls)
    model.component.__dict__["_name"] = model.name
    model.session.models[id(model.component)] = model
    with located(at):
        model.component.__init__(**modifiers)
    component: Component = model.component
    return component


def _derived(model: Model) -> Component:
    """An instance of a class that is derived from a component class of the library."""
    assert model.content.base is not None
    cls, layers = model.content.base
    own = [n for n in model.content.components if model.kind(n).kind not in ("parameter", "constant", "outer")]
    if own or model.content.equations or model.content.initial:
        at = model.declared(own[0]).component.at if own else (model.content.equations or model.content.initial)[0][0].at
        raise fault(
            at,
            f"{model.node.name}: adds to {cls.__name__} of the library, from which it is derived; make that class "
            "a component beside what is added",
        )
    if model.parent is None:
        at = model.node.definition.at if model.node.definition is not None else Place(model.session.classes.path, 1)
        raise fault(
            at,
            f"{model.node.name}: is derived from {cls.__name__} of the library, and is one component; make it a "
            "component of a model",
        )
    declared = parameters_of(model)
    if not declared:
        component = make_component(model.session, cls, layers, model.name, model.parent)
        model.component = component
        return component
    others = {"__doc__": model.content.doc, "modelica_name": None}
    derived = component_class(_identifier(model.node.name), cls, declared, others)
    own_layers = only(layers, lambda given: given not in model.content.components)
    model.component = derived.__new__(derived)
    model.component.__dict__["_name"] = model.name
    model.session.models[id(model.component)] = model
    return make_component(model.session, derived, own_layers, model.name, model.parent, model.component)


def _has_equations(model: Model) -> bool:
    """True where the model says more than what it consists of."""
    if model.of_kind("variable") or model.content.initial:
        return True
    return (
        any(not isinstance(e, s.Connect) for e, _ in all_equations(model.content.equations))
        or (not model.is_composite and not model.is_record)
        or _modifies_signals(model)
    )


def _modifies_signals(model: Model) -> bool:
    """True where a modifier may give a signal its value, as in RealExpression(y = ...)."""
    return (
        any(
            model.kind(n).kind == "library"
            and any(isinstance(model.kind(n).cls.declarations.get(name), Signal) for name in names_in(model.layers(n)))
            for n in model.of_kind("library")
        )
        or any(
            model.kind(n).kind == "connector" and bound(model.layers(n)) is not None for n in model.of_kind("connector")
        )
        or any(
            bound(inner(model.layers(n), name)) is not None
            for n in model.of_kind("model")
            for name in names_in(model.layers(n))
        )
        or any(_is_of_library(model, model.kind(n).found.node) for n in model.of_kind("model"))
    )


def _is_of_library(model: Model, node: Any) -> bool:
    """True for a class that is derived from a component class of the library, whose inputs it may give values."""
    left, seen = [node], set()
    while left:
        node = left.pop()
        seen.add(id(node))
        for found in (model.session.classes.base(base, node) for base in node.bases):
            if found is not None and library.component(found.full) is not None:
                return True
            if found is not None and found.node is not None and id(found.node) not in seen:
                left.append(found.node)
    return False


def component_class(
    name: str, base: type[Component], declared: dict[str, Declaration], others: dict[str, Any]
) -> type[Component]:
    """A component class with declarations, which may have any name, and other attributes.

    Where a name is one of Component's own (path, value, start ...), of the others, or a word of equations (start_time,
    initial ...) the declaration is none of the class's attributes.
    """
    attributes: dict[str, Any] = {n: d for n, d in declared.items() if not hasattr(Assembly, n) and n not in VOCABULARY}
    attributes["_is_word"] = classmethod(lambda cls, name: False)  # its equations read parts by their names
    cls: type[Component] = type(name, (base,), attributes | others)
    cls.copy_obstacle = "its equations are those of a Modelica file; load the file again"
    for n, declaration in declared.items():
        declaration.name = n
    cls._take_declarations(cls.declarations | declared)
    return cls


def _identifier(name: str) -> str:
    return name.strip("'") if not name.isidentifier() else name
