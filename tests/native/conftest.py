"""Libraries of the hand-made models, each compiled once."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from typing import Any

import pytest

from mbfmu.runtime.compilers import find_compiler

# The models are those that the Python runtime is tested with.
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "simulation"))


def pytest_collection_modifyitems(items: list[Any]) -> None:
    if find_compiler() is None:
        for item in items:
            if pathlib.Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="no C compiler"))


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Return a function that builds the library of a model function, or finds it built."""
    from hand_made_models import parameter, variable
    from native_driver import Library

    known: dict[str, Library] = {}

    def get(model: Callable[[], Any], *variables: Any) -> Library:
        name = model.__name__
        if name not in known:
            made = model()
            equations, listed = made if isinstance(made, tuple) else (made, None)
            if listed is None:
                e = equations
                listed = (
                    variable("time", "time", 0, causality="independent"),
                    *(parameter(f"p{i}", i, value) for i, value in enumerate(e.parameters)),
                    *(variable(f"u{i}", "u", i, causality="input", start=v) for i, v in enumerate(e.inputs)),
                    *(
                        variable(f"{store}{i}", store, i)
                        for store, n in (("x", e.nx), ("w", e.nw), ("y", e.ny))
                        for i in range(n)
                    ),
                )
            known[name] = Library.build(equations, listed, tmp_path_factory.mktemp(name))
        return known[name]

    return get
