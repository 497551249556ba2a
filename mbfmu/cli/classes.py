"""What `mbfmu list CLASS` prints: how to import component classes, and what they declare."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.markup import escape

from mbfmu.cli.report import console, number, table
from mbfmu.errors import ModelError
from mbfmu.modeling import Component, Start, required
from mbfmu.modeling.component import near
from mbfmu.modeling.connectors import Port
from mbfmu.modeling.declarations import Declaration, Parameter, Variable


def show(name: str, classes: Mapping[str, type[Component]]) -> None:
    """Print all classes of that name: `Revolute`, or with a part of the Modelica name before it.

    Raises
    ------
    ModelError
        There is none.
    """
    found = {full: cls for full, cls in classes.items() if f".{full}".endswith("." + name.removeprefix("Modelica."))}
    if not found:
        raise ModelError(
            f"{name}: no component class has this name; {near(name, {*classes, *map(last, classes)}, 'mbfmu list')}"
        )
    for full, cls in sorted(found.items()):
        console.print(f"[bold]{escape(full)}[/bold]  from {import_path(cls)} import {cls.__name__}\n")
        console.print(escape(inspect.cleandoc(cls.__doc__ or "")) + "\n")
        console.print(declarations(cls))
        console.print()


def declarations(cls: type[Component]) -> Any:
    """Return a table of a class's parameters, connectors and variables; those of animation are left out."""
    result = table("", "name", "what", "default", "unit", "description", right=["default"], whole=["name"])
    groups: dict[str, list[Declaration]] = {"parameter": [], "connector": [], "variable": []}
    for declaration in cls.declarations.values():
        if isinstance(declaration, Parameter):
            if not (declaration.final or declaration.animation):
                groups["parameter"].append(declaration)
        else:
            groups["connector" if isinstance(declaration, Port) else "variable"].append(declaration)
    for group in groups.values():
        for shown in group:
            kind = getattr(shown, "type", None)
            unit = (kind.unit or "") if kind else ""
            result.add_row(shown.name, what(shown), escape(default(shown)), unit, escape(shown.doc))
    return result


def what(declaration: Declaration) -> str:
    """Return how a declaration is called: parameter (fixed: changing it needs a rebuild), connector class, variable."""
    if isinstance(declaration, Parameter):
        return "parameter, fixed" if declaration.structural else "parameter"
    return type(declaration).__name__ if isinstance(declaration, Port) else "variable"


def default(declaration: Declaration) -> str:
    """Return a parameter's default or a variable's start value; nothing where a function computes it."""
    value = getattr(declaration, "start" if isinstance(declaration, Variable) else "default", None)
    value = value.value if isinstance(value, Start) else value
    if value is required:
        return "required"
    if value is None or callable(value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else ", ".join(number(v) for v in np.ravel(value))


def import_path(cls: type) -> str:
    """Return the shortest package from which a class can be imported."""
    names = cls.__module__.split(".")
    paths = (".".join(names[: i + 1]) for i in range(len(names)))
    return next(p for p in paths if getattr(sys.modules.get(p), cls.__name__, None) is cls)


def last(name: str) -> str:
    """Return the last part of a dotted name."""
    return name.rpartition(".")[2]
