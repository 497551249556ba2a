"""What tests are left to `make campaigns`, by the mark `campaign`."""

from __future__ import annotations

import collections

import pytest


def left_to_campaigns(items: list[pytest.Item]) -> list[pytest.Item]:
    """What runs with `--campaigns` or `--all-cases` alone.

    That are tests marked so, cases that a mark names, and all but `keep` of the others. Cases that are kept are spread
    evenly over those of their function: every run has the same ones. A mark may name
    cases that there are only where a library is, or reference trajectories are.
    """
    functions = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("campaign") is not None:
            functions[item.nodeid.partition("[")[0]].append(item)
    left_out = []
    for cases in functions.values():
        mark = cases[0].get_closest_marker("campaign")
        others = [case for case in cases if names_of(case).isdisjoint(mark.args)]
        keep = mark.kwargs.get("keep", len(others) if mark.args else 0)
        kept = {others[index * len(others) // keep] for index in range(keep)} if others else set()
        left_out += [case for case in cases if case not in kept]
    return left_out


def names_of(item: pytest.Item) -> set[str]:
    """What a case is known by: its id and each of its parameters."""
    case = getattr(item, "callspec", None)
    return {case.id, *map(str, case.params.values())} if case else set()
