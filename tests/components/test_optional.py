"""Connectors and variables that are there only where several parameters ask for them."""

from __future__ import annotations

import itertools

import pytest

from mbfmu.components import FreeMotionScalarInit, blocks, rotational, translational
from mbfmu.components.adaptors import FlowToPotentialAdaptor, PotentialToFlowAdaptor
from mbfmu.components.blocks import math_integer
from mbfmu.modeling import Component

_ORDERS = ("use_pder", "use_pder2")

#: A class, a connector or variable, and the parameters that are all to be true.
OPTIONAL: list[tuple[type[Component], str, tuple[str, ...]]] = [
    (FlowToPotentialAdaptor, "pder2", _ORDERS),
    (PotentialToFlowAdaptor, "pder2", _ORDERS),
    (rotational.GeneralAngleToTorqueAdaptor, "pder2", _ORDERS),
    (rotational.GeneralTorqueToAngleAdaptor, "pder2", _ORDERS),
    (translational.GeneralForceToPositionAdaptor, "pder2", _ORDERS),
    (translational.GeneralPositionToForceAdaptor, "pder2", _ORDERS),
    (math_integer.TriggeredAdd, "set", ("use_reset", "use_set")),
    (blocks.Integrator, "set", ("use_reset", "use_set")),
    (FreeMotionScalarInit, "v_rel_a_2", ("use_r", "use_v")),
    (FreeMotionScalarInit, "a_rel_a_2", ("use_r", "use_v", "use_a")),
    (FreeMotionScalarInit, "angle_d_2", ("use_angle", "use_angle_d")),
    (FreeMotionScalarInit, "angle_dd_2", ("use_angle", "use_angle_d", "use_angle_dd")),
    (FreeMotionScalarInit, "z_rel_b_2", ("use_w", "use_z")),
]


@pytest.mark.parametrize(("cls", "name", "switches"), OPTIONAL, ids=lambda one: getattr(one, "__name__", None))
def test_all_of_its_parameters_have_to_ask_for_it(cls: type[Component], name: str, switches: tuple[str, ...]) -> None:
    for given in itertools.product((False, True), repeat=len(switches)):
        component = cls(**dict(zip(switches, given, strict=True)))
        assert (name in {*component.ports(), *component.variables()}) is all(given), given
