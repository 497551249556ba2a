"""What a class has with what it inherits: components, equations and annotations, with all modifiers."""

from __future__ import annotations

import dataclasses

from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.evaluate import Environment
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.modifiers import (
    Declared,
    Layer,
    Layers,
    constraint_before,
    constraint_of,
    inner,
    place_in,
    redeclaration,
)
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.syntax import fault
from mbfmu.messages import suggestion


def collect(model: Model, node: Node, layers: Layers, depth: int) -> None:
    """Take over a class, its bases first where their extends clause stands."""
    definition = node.definition
    assert definition is not None
    if depth > 30:
        raise fault(definition.at, f"{node.name}: is derived from itself")
    content, env = model.content, Environment(model.session, node, model)
    if definition.base is not None:
        scope = Environment(model.session, node.parent or node, model)
        _extend(
            model, definition.base, node.parent or node, (*layers, Layer(definition.base.modification, scope)), depth
        )
    content.doc = definition.doc or content.doc
    if definition.initial_statements:
        at = definition.initial_statements[0].at
        raise fault(at, f"{node.name}: an initial algorithm is not translated; write initial equations")
    _check_algorithm(definition)
    for element in definition.elements:
        if isinstance(element, s.Class):
            content.local.add(element.name)
            if "outer" in element.prefixes:
                raise fault(element.at, f"{element.name}: an outer class is not translated; write its whole name")
            redeclared = redeclaration(layers, element.name)
            if element.is_extension:
                raise fault(element.at, f"`redeclare {element.kind} extends` is not translated; redeclare by a class")
            if element.kind == "package" and (redeclared is not None or "redeclare" in element.prefixes):
                at = redeclared[0].at if redeclared is not None else element.at
                raise fault(
                    at,
                    f"{element.name}: the package of a model is not redeclared; write a model that names the other",
                )
            if redeclared is not None and not element.prefixes & {"replaceable", "redeclare"}:
                raise fault(redeclared[0].at, f"{element.name}: is not replaceable (declared at {element.at})")
            if element.name in content.classes:
                continue  # by a class that is derived from this one
            if redeclared is not None and isinstance(redeclared[0].redeclared, s.Class):
                argument, layer, _ = redeclared
                content.classes[element.name] = (
                    argument.redeclared,
                    layer.env,
                    constraint_before(layers, element.name, element, env),
                )
            elif "redeclare" in element.prefixes:
                content.classes[element.name] = (_short(element, node), env, ())
    for element in definition.elements:
        if isinstance(element, s.Extends):
            _extend(model, element, node, (*layers, Layer(element.modification, env)), depth)
        elif isinstance(element, s.Component):
            _declare(model, element, node, layers)
    content.equations += [(e, node) for e in (*definition.equations, *definition.statements)]
    content.initial += [(e, node) for e in definition.initial_equations]
    if definition.annotation is not None:
        content.annotations.append(definition.annotation)


def refuse_unknown(model: Model, argument: s.Argument, where: str) -> None:
    """Refuse a modifier of what a model, which is called `where`, does not have, or a class that it does not declare.

    Raises:
        ModelError: it has not; with file and line.
    """
    name, is_class = argument.names[0], isinstance(argument.redeclared, s.Class)
    known = model.content.local if is_class else model.names()
    if name not in known:
        hint = suggestion(name, known, "its class") if known else "remove it"
        raise fault(argument.at, f"{where} has no {'class ' if is_class else ''}{name!r}; {hint}")


def _short(new: s.Class, node: Node) -> s.Class:
    """A class that is declared in another as a short one: what it is lies there under its whole name."""
    if new.base is not None:
        return new
    whole = s.Reference(new.at, tuple((name, ()) for name in (*node.full, new.name)), absolute=True)
    return dataclasses.replace(new, base=s.Extends(new.at, whole, s.Modification(new.at)))


def _extend(model: Model, base: s.Extends, scope: Node, layers: Layers, depth: int) -> None:
    kind = model.session.kind(base.base, scope, model, base.at)
    layers = (*layers, *kind.layers)
    if kind.kind == "icon":
        return
    if kind.kind == "library":
        assert kind.cls is not None
        if model.content.base is not None:
            raise fault(base.at, f"{model.name}: is derived from two component classes of the library; keep one")
        model.content.base = kind.cls, layers
    elif kind.kind in ("model", "record", "bus"):
        assert kind.found.node is not None
        collect(model, kind.found.node, layers, depth + 1)
        for argument in base.modification.arguments:
            refuse_unknown(model, argument, str(kind.found))
    else:
        raise fault(base.at, f"{model.name}: extends {kind.found}, which is a {kind.kind}; a model extends models")


def _declare(model: Model, component: s.Component, node: Node, layers: Layers) -> None:
    name = component.name
    own = Layer(component.modification, Environment(model.session, node, model))
    modifiers = inner(layers, name)
    if "final" in component.prefixes and (modifiers or redeclaration(layers, name) is not None):
        at = place_in(layers, name, component.at)
        raise fault(at, f"{name}: is final (declared so at {component.at}); modify what it depends on")
    redeclared = redeclaration(layers, name)
    if redeclared is not None and isinstance(redeclared[0].redeclared, s.Component):
        argument, layer, place = redeclared
        new = argument.redeclared
        assert isinstance(new, s.Component)
        if "replaceable" not in component.prefixes and "redeclare" not in component.prefixes:
            raise fault(argument.at, f"{name}: is not replaceable (declared at {component.at})")
        # What the constraining class is modified with stays; without one, the first declaration constrains.
        kept = constraint_before(layers, name, component, own.env) or (
            Layer(dataclasses.replace(component.modification, value=None), own.env),
        )
        outer = inner(layers[: place + 1], name)
        model.content.components[name] = Declared(
            dataclasses.replace(
                new,
                prefixes=new.prefixes | (component.prefixes - {"replaceable"}),
                condition=new.condition or component.condition,
                dimensions=new.dimensions or component.dimensions,
            ),
            layer.env.scope,
            (
                *outer,
                Layer(new.modification, layer.env, layer.indices),
                *constraint_of(new, layer.env),
                *inner(layers[place + 1 :], name),
                *kept,
            ),
        )
        return
    old = model.content.components.get(name)
    if old is not None and "redeclare" not in component.prefixes:
        if old.scope is node and old.component is not component:
            raise fault(component.at, f"{name}: is declared twice; rename one of the two")
        if str(old.component.type) != str(component.type) and old.component.at != component.at:
            raise fault(
                component.at, f"{name}: is declared here and, otherwise, at {old.component.at}; rename one of them"
            )
        here, there = _said((*modifiers, own, *constraint_of(component, own.env))), _said(old.layers)
        if here != there:
            path = next(p for p in (*here, *there) if here.get(p) != there.get(p))
            what = ".".join((name, *path))
            raise fault(
                component.at,
                f"{what}: is {here.get(path, 'not given')} here and {there.get(path, 'not given')} where "
                f"{old.component.at} declares it; give both the same",
            )
        return
    model.content.components[name] = Declared(component, node, (*modifiers, own, *constraint_of(component, own.env)))


def _said(layers: Layers) -> dict[tuple[str, ...], str]:
    """What layers give a component and all below it, as text; the outermost counts."""
    found: dict[tuple[str, ...], str] = {}

    def look(path: tuple[str, ...], modification: s.Modification) -> None:
        if modification.value is not None:
            found.setdefault(path, s.text(modification.value))
        for argument in modification.arguments:
            look((*path, *argument.names), argument.modification)

    for layer in layers:
        look((), layer.modification)
    return found


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
