"""What callers leave out: defaults of public functions and methods, and of options of the command line.

A default that changes is another result for whoever relied on it: `python tests/test_signatures.py` writes
signatures.csv anew, where such a change is to be seen. Those of components are in tests/components/declared.csv.
"""

from __future__ import annotations

import csv
import importlib
import inspect
import pathlib
import pkgutil
import types
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

import mbfmu
from mbfmu.cli.commands import app

DEFAULTS = pathlib.Path(__file__).with_name("signatures.csv")

#: Those that have one text in every run.
PLAIN = (type(None), bool, int, float, str, tuple)


def packages() -> Iterator[types.ModuleType]:
    """Modules that say what they offer; components have a table of their own."""
    yield mbfmu
    found = sorted(
        info.name for info in pkgutil.iter_modules(mbfmu.__path__[:1]) if info.name not in ("__main__", "components")
    )
    for name in found:
        module = importlib.import_module(f"mbfmu.{name}")
        if hasattr(module, "__all__"):
            yield module


def offered() -> Iterator[tuple[str, Any]]:
    """Functions, classes and public methods, by name."""
    for package in packages():
        for name in package.__all__:
            one = getattr(package, name)
            if inspect.isfunction(one):
                yield f"{package.__name__}.{name}", one
            elif inspect.isclass(one) and one.__module__.startswith("mbfmu."):
                for method, function in vars(one).items():
                    function = getattr(function, "__func__", function)
                    if inspect.isfunction(function) and (not method.startswith("_") or method == "__init__"):
                        yield f"{package.__name__}.{name}.{method}", function


def defaults() -> list[list[str]]:
    """Function or command, parameter or option, and default."""
    found = []
    for where, function in offered():
        for parameter in inspect.signature(function).parameters.values():
            if parameter.default is not parameter.empty and isinstance(parameter.default, PLAIN):
                found.append([where, parameter.name, repr(parameter.default)])
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        for option in command.params:
            if isinstance(option.default, PLAIN):
                found.append([f"mbfmu {name}", " ".join(option.opts), repr(option.default)])
    return sorted(found)


@pytest.mark.slow
def test_defaults_are_those_of_before() -> None:
    with DEFAULTS.open(encoding="utf-8", newline="") as file:
        kept = sorted(csv.reader(file))
    now = defaults()
    assert len(now) > 400
    assert [one for one in now if one not in kept] == []
    assert [one for one in kept if one not in now] == []


if __name__ == "__main__":
    with DEFAULTS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(defaults())
