"""Public docstrings: none is missing, and those of the documented interface say what they raise."""

from __future__ import annotations

import importlib
import inspect
import pathlib
import re
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest

import mbfmu
import mbfmu.cosimulation
import mbfmu.frames
import mbfmu.modeling

ROOT = pathlib.Path(__file__).resolve().parents[2]


def modules() -> Iterator[ModuleType]:
    """All modules of the package."""
    for folder, package in (("mbfmu", "mbfmu"), ("components", "mbfmu.components"), ("fmus", "mbfmu.fmus")):
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            if not any(part.startswith("_") and part != "__init__" for part in parts):
                yield importlib.import_module(".".join([package, *parts]).removesuffix(".__init__"))


def members(module: ModuleType) -> Iterator[tuple[str, Any, type | None]]:
    """Public functions, classes and methods that a module defines: name, object, class."""
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, FunctionType) and value.__name__ == name:  # others are lambdas or made by a function
            yield f"{module.__name__}.{name}", value, None
        elif inspect.isclass(value):
            yield f"{module.__name__}.{name}", value, None
            for inner, method in vars(value).items():
                function = method.fget if isinstance(method, property) else getattr(method, "__func__", method)
                if isinstance(function, FunctionType) and function.__name__ == inner and not inner.startswith("_"):
                    yield f"{module.__name__}.{name}.{inner}", function, value


def described(function: Any, cls: type | None) -> bool:
    """True where an object has a docstring; of a method, that of a base counts: there it says what all do."""
    if cls is None:
        return bool((function.__doc__ or "").strip())
    if function.__name__ == "equations" and issubclass(cls, mbfmu.Component):
        return True  # the docstring of Component says what they are
    if getattr(cls, "_is_protocol", False):
        return True  # what has them says what they are
    bases = (vars(base).get(function.__name__) for base in cls.__mro__)
    return any((getattr(value, "__doc__", None) or "").strip() for value in bases if value is not None)


def test_no_public_docstring_is_missing() -> None:
    found = [entry for module in modules() for entry in members(module)]
    assert len(found) > 2000
    assert [name for name, function, cls in found if not described(function, cls)] == []


def test_every_module_says_what_it_is() -> None:
    assert [module.__name__ for module in modules() if not (module.__doc__ or "").strip()] == []


def documented() -> Iterator[tuple[str, Any]]:
    """Functions and methods of docs/reference/python.md."""
    page = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    for path, options in re.findall(r"^::: ([\w.]+)\n((?:    .*\n)*)", page, re.MULTILINE):
        module, _, name = path.rpartition(".")
        value = getattr(importlib.import_module(module), name)
        if inspect.isclass(value):
            listed = re.search(r"members: \[(.*)\]", options)
            chosen = listed[1].split(", ") if listed else [n for n in vars(value) if not n.startswith("_")]
            for inner in chosen if "members: false" not in options else ():
                if isinstance(vars(value).get(inner), FunctionType):
                    yield f"{path}.{inner}", vars(value)[inner]
        elif isinstance(value, FunctionType):
            yield path, value


@pytest.mark.parametrize(("name", "function"), list(documented()))
def test_the_documented_interface_says_what_it_raises(name: str, function: Any) -> None:
    raised = set(re.findall(r"raise (\w+Error)\(", inspect.getsource(function))) - {"AttributeError"}
    if raised:
        assert re.search(r"Raises|raises", function.__doc__ or ""), f"{name} raises {raised}"


@pytest.mark.parametrize("name", [n for n in mbfmu.__all__ if isinstance(getattr(mbfmu, n), FunctionType)])
def test_public_functions_describe_every_argument(name: str) -> None:
    function = getattr(mbfmu, name)
    text = function.__doc__ or ""
    named = [p.lstrip("*") for p in inspect.signature(function).parameters]
    assert [p for p in named if not re.search(rf"\b{p}\b", text)] == []
