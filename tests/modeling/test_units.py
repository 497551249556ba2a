from __future__ import annotations

import math
import re

import pytest

from mbfmu.errors import ModelError
from mbfmu.modeling.units import BASE_UNITS, conversion, parse


def test_prefixes_are_those_of_the_si() -> None:
    powers = {"p": -12, "n": -9, "u": -6, "m": -3, "c": -2, "d": -1, "da": 1, "h": 2, "k": 3, "M": 6, "G": 9, "T": 12}
    assert {prefix: parse(f"{prefix}Pa").factor for prefix in powers} == pytest.approx(
        {prefix: 10.0**power for prefix, power in powers.items()}, rel=1e-15
    )


@pytest.mark.parametrize(
    ("text", "exponents", "factor"),
    [
        # The first rows are the examples of FMI 2.0.4, section 2.2.2.
        ("N.m", {"kg": 1, "m": 2, "s": -2}, 1.0),
        ("J", {"kg": 1, "m": 2, "s": -2}, 1.0),
        ("bar", {"kg": 1, "m": -1, "s": -2}, 1e5),
        ("deg", {"rad": 1}, 0.01745329251994330),
        ("rad/s", {"rad": 1, "s": -1}, 1.0),
        ("rpm", {"rad": 1, "s": -1}, 0.1047197551196598),
        ("Hz", {"rad": 1, "s": -1}, 6.283185307179586),
        ("%/m", {"m": -1}, 0.01),
        ("km", {"m": 1}, 1e3),
        ("1", {}, 1.0),
        ("1/s", {"s": -1}, 1.0),
        ("kg.m2", {"kg": 1, "m": 2}, 1.0),
        ("m/s2", {"m": 1, "s": -2}, 1.0),
        ("m3/(kg.s2)", {"m": 3, "kg": -1, "s": -2}, 1.0),
        ("m3/s2", {"m": 3, "s": -2}, 1.0),
        ("N.m.s/rad", {"kg": 1, "m": 2, "s": -1, "rad": -1}, 1.0),
        ("rev/min", {"rad": 1, "s": -1}, math.pi / 30),
        ("kg/m3", {"kg": 1, "m": -3}, 1.0),
        ("g/cm3", {"kg": 1, "m": -3}, 1e3),
        ("mm", {"m": 1}, 1e-3),
        ("s-1", {"s": -1}, 1.0),
        ("min", {"s": 1}, 60.0),
        ("dam", {"m": 1}, 10.0),
    ],
)
def test_known_units(text: str, exponents: dict[str, int], factor: float) -> None:
    unit = parse(text)
    assert dict(zip(BASE_UNITS, unit.exponents, strict=True)) == {base: exponents.get(base, 0) for base in BASE_UNITS}
    assert unit.factor == pytest.approx(factor, rel=1e-14)


@pytest.mark.parametrize(
    "text", ["", "N..m", "kg/", "foo", "kg.(m", "kg)", "12", "N m", "m/degC", "/s", "kg/m.s", "m/s/s"]
)
def test_what_is_no_unit_is_told_with_its_text(text: str) -> None:
    with pytest.raises(ModelError) as error:
        parse(text)
    assert f'"{text}"' in str(error.value)


def test_display_units_convert_values() -> None:
    factor, offset = conversion("rad", "deg")
    assert factor * math.pi + offset == pytest.approx(180.0)
    factor, offset = conversion("rad/s", "rev/min")
    assert factor * 2 * math.pi + offset == pytest.approx(60.0)
    factor, offset = conversion("K", "degC")
    assert factor * 300.0 + offset == pytest.approx(26.85)
    factor, offset = conversion("K", "degF")
    assert factor * 273.15 + offset == pytest.approx(32.0)


def test_display_unit_of_another_quantity_is_refused() -> None:
    with pytest.raises(ModelError, match='"deg" does not fit the unit "m"'):
        conversion("m", "deg")


@pytest.mark.parametrize(
    ("text", "hint"), [("Nm", "N.m"), ("kgm2", "kg.m"), ("Nms/rad", "N.m.s"), ("Nx", "use SI units")]
)
def test_products_without_dots_are_shown_with_them(text: str, hint: str) -> None:
    with pytest.raises(ModelError, match=re.escape(hint)):
        parse(text)
