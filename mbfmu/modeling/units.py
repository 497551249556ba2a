"""Unit strings of Modelica and what FMI wants to know of them: exponents of the base units, factor and offset.

The grammar is that of the Modelica language specification, chapter 19 (`kg.m2`, `N.m.s/rad`, `1/(m.s)`); base unit
conversions are those of FMI 2.0.4, section 2.2.2, where the radian counts as a base unit and Hz is a revolution per
second.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re

from mbfmu.errors import ModelError

#: FMI's base units, in the order of the exponents of a `Unit`.
BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")

#: Display units that a user may choose for a unit, even where no declaration names one.
OFFERED = {"rad": ("deg",), "rad/s": ("deg/s", "rpm"), "Pa": ("bar",)}


@dataclasses.dataclass(frozen=True)
class Unit:
    """A unit with respect to the base units: base value = `factor` * value + `offset`."""

    exponents: tuple[int, ...]
    factor: float = 1.0
    offset: float = 0.0


def _unit(factor: float = 1.0, offset: float = 0.0, **exponents: int) -> Unit:
    return Unit(tuple(exponents.get(base, 0) for base in BASE_UNITS), factor, offset)


#: Units that take SI prefixes.
_PREFIXABLE = {
    "g": _unit(1e-3, kg=1),
    "m": _unit(m=1),
    "s": _unit(s=1),
    "A": _unit(A=1),
    "K": _unit(K=1),
    "mol": _unit(mol=1),
    "cd": _unit(cd=1),
    "rad": _unit(rad=1),
    "Hz": _unit(2 * math.pi, rad=1, s=-1),
    "N": _unit(kg=1, m=1, s=-2),
    "Pa": _unit(kg=1, m=-1, s=-2),
    "J": _unit(kg=1, m=2, s=-2),
    "W": _unit(kg=1, m=2, s=-3),
    "C": _unit(A=1, s=1),
    "V": _unit(kg=1, m=2, s=-3, A=-1),
    "F": _unit(kg=-1, m=-2, s=4, A=2),
    "Ohm": _unit(kg=1, m=2, s=-3, A=-2),
    "S": _unit(kg=-1, m=-2, s=3, A=2),
    "Wb": _unit(kg=1, m=2, s=-2, A=-1),
    "T": _unit(kg=1, s=-2, A=-1),
    "H": _unit(kg=1, m=2, s=-2, A=-2),
    "l": _unit(1e-3, m=3),
    "t": _unit(1e3, kg=1),
    "bar": _unit(1e5, kg=1, m=-1, s=-2),
}

#: Units that take no prefix.
_PLAIN = {
    "1": _unit(),
    "%": _unit(0.01),
    "deg": _unit(math.pi / 180, rad=1),
    "rev": _unit(2 * math.pi, rad=1),
    "rpm": _unit(2 * math.pi / 60, rad=1, s=-1),
    "min": _unit(60.0, s=1),
    "h": _unit(3600.0, s=1),
    "d": _unit(86400.0, s=1),
    "degC": _unit(1.0, 273.15, K=1),
    "degF": _unit(5 / 9, 459.67 * 5 / 9, K=1),
    "degRk": _unit(5 / 9, K=1),
}

_PREFIXES = {
    "p": 1e-12,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "c": 1e-2,
    "d": 1e-1,
    "da": 1e1,
    "h": 1e2,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
}

_TOKEN = re.compile(r"([A-Za-z%]+|1(?!\d))(?:\^?([+-]?\d+))?|([./()*])")


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> Unit:
    """Read a Modelica unit string such as `N.m/rad` or `kg/(m.s)`.

    Raises:
        ModelError: The string is not a unit, or knows a name that is not in the tables of this module.
    """
    tokens = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ModelError(f'unit "{text}": cannot be read at "{text[position:]}"; write it as in "kg.m2/s2".')
        tokens.append(match)
        position = match.end()
    unit, rest = _product(text, tokens)
    if rest:
        raise ModelError(f'unit "{text}": cannot be read from "{rest[0].group()}" on; write it as in "kg.m2/s2".')
    if unit.offset and len(tokens) > 1:
        raise ModelError(f'unit "{text}": a unit with an offset stands alone; use K in products and quotients.')
    return unit


def conversion(unit: str, display: str) -> tuple[float, float]:
    """Factor and offset of a display unit: displayed value = factor * value + offset.

    Raises:
        ModelError: One of the two is no known unit, or they measure different things.
    """
    source, target = parse(unit), parse(display)
    if source.exponents != target.exponents:
        raise ModelError(f'display unit "{display}" does not fit the unit "{unit}": they measure different quantities.')
    return source.factor / target.factor, (source.offset - target.offset) / target.factor


def check(owner: str, unit: str, display: str | None) -> None:
    """Raise `ModelError`, which names the owner, for what is no unit, or a display unit that does not fit."""
    try:
        conversion(unit, display or unit)
    except ModelError as error:
        raise ModelError(f"{owner}: {error}") from None


def _product(text: str, tokens: list[re.Match[str]]) -> tuple[Unit, list[re.Match[str]]]:
    """Read `factor {. factor} [/ factor]`; what follows the one quotient is ambiguous and left to the caller."""
    result, tokens = _factor(text, tokens)
    sign = 1
    while sign == 1 and tokens and tokens[0].group() in (".", "*", "/"):
        sign = -1 if tokens[0].group() == "/" else 1
        unit, tokens = _factor(text, tokens[1:])
        exponents = tuple(a + sign * b for a, b in zip(result.exponents, unit.exponents, strict=True))
        result = Unit(exponents, result.factor * unit.factor**sign, result.offset + unit.offset)
    return result, tokens


def _factor(text: str, tokens: list[re.Match[str]]) -> tuple[Unit, list[re.Match[str]]]:
    """Read one name with its exponent, or a product in parentheses."""
    if tokens and tokens[0].group() == "(":
        unit, rest = _product(text, tokens[1:])
        if not rest or rest[0].group() != ")":
            raise ModelError(f'unit "{text}": a parenthesis is not closed.')
        return unit, rest[1:]
    if not tokens or tokens[0].group(1) is None:
        raise ModelError(f'unit "{text}": a unit name is missing; write it as in "kg.m2/s2".')
    name, exponent = tokens[0].group(1), int(tokens[0].group(2) or 1)
    unit = _named(text, name)
    powers = tuple(exponent * power for power in unit.exponents)
    return Unit(powers, unit.factor**exponent, unit.offset), tokens[1:]


def _named(text: str, name: str) -> Unit:
    if name in _PLAIN:
        return _PLAIN[name]
    if name in _PREFIXABLE:
        return _PREFIXABLE[name]
    for prefix, scale in _PREFIXES.items():
        unit = _PREFIXABLE.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if unit is not None:
            return dataclasses.replace(unit, factor=scale * unit.factor)
    product = _as_product(name)
    hint = f'write "{product}"' if product else "use SI units such as kg, m, s, rad, N, Pa, W"
    raise ModelError(f'unit "{text}": "{name}" is not a known unit; {hint}.')


def _as_product(name: str) -> str | None:
    """`N.m` for `Nm`: known units with the dots that Modelica wants between them."""
    known = {*_PREFIXABLE, "kg", "kN"}
    for i in range(len(name) - 1, 0, -1):
        if name[:i] in known:
            rest = name[i:] if name[i:] in known else _as_product(name[i:])
            if rest:
                return f"{name[:i]}.{rest}"
    return None
