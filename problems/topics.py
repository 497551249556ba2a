"""The topics: every module of this folder that has PROBLEMS, found by looking."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from types import ModuleType

import problems
from problems.problem import Problem


@functools.cache
def topics() -> Mapping[str, ModuleType]:
    """Modules with problems, by name."""
    names = [m.name for m in pkgutil.iter_modules(problems.__path__) if m.name != "__main__"]
    modules = [importlib.import_module(f"problems.{name}") for name in names]
    return {m.__name__.rpartition(".")[2]: m for m in modules if hasattr(m, "PROBLEMS")}


def all_problems() -> dict[str, Problem]:
    """All problems by their ids, topic by topic.

    Raises:
        ValueError: Two have the same id.
    """
    found: dict[str, Problem] = {}
    for name, module in topics().items():
        for problem in module.PROBLEMS:
            if problem.id in found:
                raise ValueError(f"problems/{name}.py: there is another problem {problem.id}")
            found[problem.id] = problem
    return found


def chosen(names: Sequence[str]) -> dict[str, list[Problem]]:
    """Problems with some ids or of some topics, or all where there are no names, by topic.

    Raises:
        KeyError: Neither a problem nor a topic has one of the names.
    """
    known = {*topics(), *all_problems()}
    for name in names:
        if name not in known:
            raise KeyError(name)
    wanted = {
        topic: [p for p in module.PROBLEMS if not names or topic in names or p.id in names]
        for topic, module in topics().items()
    }
    return {topic: found for topic, found in wanted.items() if found}
