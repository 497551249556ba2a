"""Which classes of the library a model needs that mbfmu does not have, without making the model."""

from __future__ import annotations

from typing import Any

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import library
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.classes import Found
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.syntax import Place


def missing_classes(session: Any, node: Node) -> list[tuple[Place, str]]:
    """Places and full names of the missing classes that a class, its parts and its bases use, in order."""
    found: list[tuple[Place, str]] = []
    seen: set[int] = set()

    def visit(current: Node) -> None:
        definition = current.definition
        if definition is None or id(definition) in seen or definition.kind.endswith("function"):
            return
        seen.add(id(definition))
        if definition.base is not None:
            look(definition.base.base, current.parent or current, definition.base.at)
        for element in definition.elements:
            if isinstance(element, s.Extends):
                look(element.base, current, element.at)
            elif isinstance(element, s.Component):
                look(element.type, current, element.at)
            if isinstance(element, s.Extends | s.Component):
                for argument in element.modification.walk():
                    if isinstance(argument, s.Argument) and argument.redeclared is not None:
                        new = argument.redeclared
                        if isinstance(new, s.Component):
                            look(new.type, current, new.at)
                        elif new.base is not None:
                            look(new.base.base, current, new.at)

    def look(reference: s.Reference, scope: Node, at: Place) -> None:
        names = reference.names
        if len(names) == 1 and library.scalar_type(names) is not None:
            return
        try:
            target = session.classes.find(names, scope, reference.absolute)
        except ModelError:
            return
        if target is None:
            return
        if target.node is not None:
            visit(target.node)
        elif _is_missing(target):
            found.append((at, ".".join(target.full)))

    visit(node)
    return list(dict.fromkeys(found))


def _is_missing(target: Found) -> bool:
    full = target.full
    return (
        library.component(full) is None
        and library.scalar_type(full) is None
        and library.connector(full) is None
        and "Icons" not in full
        and library.constant(full) is None
    )
