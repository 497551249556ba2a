"""What variables say of themselves: units of derivatives, nominal values, sentences."""

from __future__ import annotations

import pytest

from mbfmu import Assembly, Start
from mbfmu.components import blocks, rotational
from mbfmu.components.interfaces import Flange_a
from mbfmu.dynamics.system import System
from mbfmu.modeling import units
from mbfmu.modeling.registry import assemblies
from mbfmu.modeling.types import rate_unit
from mbfmu.runtime.variables import ScalarVariable


@pytest.mark.parametrize(
    ("unit", "rate"),
    [
        ("m", "m/s"), ("m/s", "m/s2"), ("rad/s2", "rad/s3"), ("K", "K/s"), ("degC", "K/s"), ("1", "1/s"),
        ("N.m/rad", "N.m/(rad.s)"), ("N/(m.s)", "N/(m.s2)"), ("kg.m2", "kg.m2/s"), (None, None),
    ],
)  # fmt: skip
def test_units_of_rates(unit, rate):
    assert rate_unit(unit) == rate
    if rate is not None:
        source, target = units.parse("K" if unit == "degC" else unit).exponents, units.parse(rate).exponents
        second = units.BASE_UNITS.index("s")
        assert target == tuple(n - (i == second) for i, n in enumerate(source))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "heat_losses", "heavy_top", "powertrain", "car"])
def test_derivatives_have_the_unit_of_their_states_per_second(name):
    system = System.of(assemblies()[name]())
    by_name = {v.name: v for v in system.variables}
    rates = [v for v in system.variables if v.derivative_of]
    assert rates
    for rate in rates:
        state = by_name[rate.derivative_of]
        assert units.parse(rate.unit) == units.parse(rate_unit(state.unit)), rate.name


class Shaft(Assembly):
    """A fast inertia at a flange, with a motor that an input drives."""

    def __init__(self):
        self.axis = Flange_a("Shaft")
        self.end = Flange_a("Other end", motion=True)
        self.gain = blocks.Gain(k=3.0)
        self.motor = rotational.Torque()
        self.fast = rotational.Inertia(J=2.0, phi=Start(0.1, fixed=True), w=Start(-420.0, fixed=True), a=Start(1500.0))
        self.driven = rotational.Inertia(J=1.0)
        self.connect(self.gain.y, self.motor.tau)
        self.connect(self.motor.flange, self.fast.flange_a)
        self.connect(self.fast.flange_b, self.axis)
        self.connect(self.driven.flange_a, self.end)
        self.input(self.gain.u, "throttle")


@pytest.fixture(scope="module")
def shaft() -> dict[str, ScalarVariable]:
    return {v.name: v for v in System.of(Shaft()).variables}


def test_large_start_values_tell_nominal_values(shaft):
    """Those of states weigh errors in importers: only a declared one may do that."""
    assert shaft["fast.w"].store == "x"
    assert shaft["fast.w"].nominal is None
    assert shaft["fast.a"].nominal == 1000.0
    assert shaft["driven.a"].nominal is None


def test_sentences_name_quantities(shaft):
    assert shaft["axis.tau"].description == "Cut torque in the flange"
    assert shaft["axis.w"].description == "Absolute angular velocity of flange"
    assert shaft["axis.a"].description == "Absolute angular acceleration of flange"
    assert shaft["end.tau"].description == "Torque exerted outwards by the flange"
    assert shaft["end.a"].description == "Absolute angular acceleration of flange"
    assert shaft["throttle"].description.endswith(", for gain.u")
