"""What the suite leaves to campaigns: the cases that marks name, and those that `keep` does not keep."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from left_out import left_to_campaigns


@dataclasses.dataclass(eq=False)
class Case:
    """A case of a test as pytest collects it: its id is two parameters, `2-native`."""

    id: str
    mark: pytest.MarkDecorator | None

    @property
    def nodeid(self) -> str:
        return f"test_it.py::test_it[{self.id}]"

    @property
    def callspec(self) -> Case:
        return self

    @property
    def params(self) -> dict[str, Any]:
        version, target = self.id.split("-")
        return {"version": int(version), "target": target}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.mark.mark if self.mark is not None and name == "campaign" else None


def left_out(mark: pytest.MarkDecorator | None) -> list[str]:
    items: Any = [Case(f"{version}-{target}", mark) for version in range(1, 6) for target in ("native", "python")]
    return [item.id for item in left_to_campaigns(items)]


def test_nothing_of_what_has_no_mark_and_all_of_what_has_a_bare_one() -> None:
    assert left_out(None) == []
    assert len(left_out(pytest.mark.campaign)) == 10


def test_cases_are_named_by_their_id_or_by_a_parameter() -> None:
    assert left_out(pytest.mark.campaign("2-python", "4")) == ["2-python", "4-native", "4-python"]


def test_what_is_kept_is_spread_evenly() -> None:
    kept = {"1-native", "2-python", "4-native"}
    assert {f"{version}-{target}" for version in range(1, 6) for target in ("native", "python")} - set(
        left_out(pytest.mark.campaign(keep=3))
    ) == kept
    assert left_out(pytest.mark.campaign(keep=11)) == []


def test_no_more_than_is_kept_of_what_is_not_named() -> None:
    left = left_out(pytest.mark.campaign("native", keep=2))
    assert len(left) == 8
    assert {"1-python", "3-python"}.isdisjoint(left)


def test_a_case_may_be_named_that_is_not_here() -> None:
    assert left_out(pytest.mark.campaign("6", "native")) == [f"{version}-native" for version in range(1, 6)]
