"""Frozen dataclasses that are quickly made are those that dataclasses makes."""

import dataclasses
import inspect
import pickle

import pytest

from mbfmu.frozen import quickly_made


@dataclasses.dataclass(frozen=True, slots=True)
class Plain:
    """Two fields, one with a default."""

    name: str
    order: int = 2


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Quick(Plain):
    """One more."""

    label: str = "none"


def test_it_takes_the_arguments_that_its_fields_say():
    assert Quick("x") == Quick(name="x", order=2, label="none")
    assert repr(Quick("x", 1, label="y")) == "Quick(name='x', order=1, label='y')"
    assert list(inspect.signature(Quick).parameters) == ["name", "order", "label"]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Quick()


def test_it_is_frozen_and_can_be_replaced_hashed_and_pickled():
    one = Quick("x", 3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.order = 4
    assert dataclasses.replace(one, order=4) == Quick("x", 4) != one
    assert len({one, Quick("x", 3), Quick("x", 4)}) == 2
    assert pickle.loads(pickle.dumps(one)) == one
