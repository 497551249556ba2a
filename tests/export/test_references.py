from __future__ import annotations

import dataclasses
from typing import Any

from mbfmu.runtime.references import value_references
from mbfmu.runtime.variables import ScalarVariable


def variable(name: str, store: Any, index: int, type: Any = "Real", start_index: int | None = None) -> ScalarVariable:
    return ScalarVariable(
        name=name,
        description="",
        type=type,
        causality="local",
        variability="constant" if store == "constant" else "continuous",
        initial="exact" if store == "constant" else "calculated",
        start=1.0 if store == "constant" else None,
        store=store,
        index=index,
        start_index=start_index,
    )


def test_aliases_share_a_reference_and_numbers_follow_first_appearance() -> None:
    variables = [variable("a", "y", 7), variable("b", "x", 7), variable("c", "y", 7), variable("d", "y", 0)]
    assert value_references(variables) == (0, 1, 0, 2)


def test_types_count_for_themselves() -> None:
    variables = [variable("a", "P", 0), variable("b", "P", 0, type="Integer"), variable("c", "P", 1)]
    assert value_references(variables) == (0, 0, 1)


def test_another_start_value_is_another_variable() -> None:
    assert value_references([variable("a", "x", 0, start_index=3), variable("b", "x", 0)]) == (0, 1)


def test_aliases_have_one_unit() -> None:
    metres = dataclasses.replace(variable("a", "x", 0), unit="m")
    assert value_references([metres, variable("b", "x", 0), dataclasses.replace(metres, name="c")]) == (0, 1, 0)


def test_constants_are_never_aliases() -> None:
    variables = [
        variable("a", "constant", 0),
        variable("b", "constant", 0),
        variable("s", "constant", 0, type="String"),
    ]
    assert value_references(variables) == (0, 1, 0)


def test_no_variables() -> None:
    assert value_references([]) == ()
