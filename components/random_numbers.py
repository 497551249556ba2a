"""Random numbers that every run repeats: generators and distributions (Modelica.Math.Random, Distributions 4.1).

The generators are S. Vigna's xorshift64* and xorshift128+ (Journal of Computational and Applied Mathematics 315
(2017), 175-181), as the Modelica library seeds and steps them. Seeds are known when a model is made, so first states
are whole numbers of Python; steps are taken while it runs, exactly, in the doubles that equations have.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import casadi as ca

_WORD, _LONG = 32, 64
_FACTOR = 2685821657736338717
#: Numbers of xorshift64* that are drawn before its state counts as good.
_WARM_UP = 10
#: What stands in for a seed of zeros.
_PRIME = 126247697

#: M. J. Wichura, Algorithm AS 241, Applied Statistics 37 (1988), 477-484: numerator and denominator, falling powers.
_CENTRE = (
    (
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ),
)
_FLANK = (
    (
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ),
)
_TAIL = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ),
)
#: Where the error function is 1 but for rounding, and the terms of its series that are needed up to there.
_ERF_END, _ERF_TERMS = 6.0, 150


def hash_string(text: str) -> int:
    """Hash of a text as a signed number of 32 bits (A. Partow's AP hash, as Modelica's Strings.hashString)."""
    found = 0xAAAAAAAA
    for i, byte in enumerate(text.encode()):
        if i % 2:
            found ^= ~((found << 11) + (byte ^ (found >> 5)))
        else:
            found ^= (found << 7) ^ byte * (found >> 3)
        found &= 2**_WORD - 1
    return found - 2**_WORD if found >= 2 ** (_WORD - 1) else found


def first_state(local_seed: int, global_seed: int) -> tuple[int, int, int, int]:
    """State of xorshift128+ that two seeds give: four words of 32 bits, lower ones first."""
    word = 2**_WORD - 1
    first = _PRIME if local_seed == 0 and global_seed == 0 else (local_seed & word) | (global_seed & word) << _WORD
    for _ in range(_WARM_UP):
        first = _star(first)
    second = _star(first)
    return first & word, first >> _WORD, second & word, second >> _WORD


def _star(x: int) -> int:
    """The next state of xorshift64*."""
    long = 2**_LONG - 1
    x ^= x >> 12
    x ^= (x << 25) & long
    x ^= x >> 27
    return x * _FACTOR & long


def next_state(state: Any) -> ca.SX:
    """The next state of xorshift128+, from four words of 32 bits in doubles."""
    older, newer = _bits(state[0], state[1]), _bits(state[2], state[3])
    shifted = [_differ(a, b) for a, b in zip(older, [*[0] * 23, *older[:-23]], strict=True)]
    mixed = [_differ(a, b) for a, b in zip(shifted, newer, strict=True)]
    mixed = [_differ(a, b) for a, b in zip(mixed, [*shifted[17:], *[0] * 17], strict=True)]
    mixed = [_differ(a, b) for a, b in zip(mixed, [*newer[26:], *[0] * 26], strict=True)]
    low, high = _number(mixed[:_WORD]) + state[2], _number(mixed[_WORD:]) + state[3]
    carry = low >= 2**_WORD
    high = high + carry
    return ca.vertcat(state[2], state[3], low - carry * 2**_WORD, high - (high >= 2**_WORD) * 2**_WORD)


def uniform(state: Any) -> Any:
    """The number in (0, 1] that a state of xorshift128+ is: its newer half, signed, over 2^64, and 1/2."""
    low, high = state[2], state[3]
    signed = (high - (high >= 2 ** (_WORD - 1)) * 2.0**_WORD) * 2.0**_WORD + low
    return signed * 2.0**-_LONG + 0.5


def _bits(low: Any, high: Any) -> list[Any]:
    """The 64 bits of two words, the lowest first."""
    found: list[Any] = []
    for word in (low, high):
        shifted = [ca.floor(word * 2.0**-k) for k in range(_WORD + 1)]
        found += [one - 2 * next_one for one, next_one in itertools.pairwise(shifted)]
    return found


def _differ(a: Any, b: Any) -> Any:
    """Exclusive or of two bits."""
    return (a - b) ** 2


def _number(bits: Iterable[Any]) -> Any:
    return sum((bit * 2.0**k for k, bit in enumerate(bits)), ca.SX(0))


def normal_quantile(u: Any) -> Any:
    """What a number of the standard normal distribution is less than with probability u, to rounding (AS 241)."""
    q = u - 0.5
    near = q * _ratio(_CENTRE, 0.180625 - q**2)
    r = ca.sqrt(-ca.log(ca.fmax(ca.fmin(u, 1 - u), 1e-300)))
    far = ca.if_else(r <= 5, _ratio(_FLANK, r - 1.6), _ratio(_TAIL, r - 5))
    return ca.if_else(ca.fabs(q) <= 0.425, near, ca.if_else(q < 0, -far, far))


def normal_cumulative(x: Any) -> Any:
    """Probability that a number of the standard normal distribution is less than x."""
    z = ca.fmin(ca.fabs(x) / math.sqrt(2), _ERF_END)
    series = ca.SX(1)
    for n in range(_ERF_TERMS, 0, -1):
        series = 1 + 2 * z**2 / (2 * n + 1) * series
    part = z * ca.exp(-(z**2)) * series / math.sqrt(math.pi)
    return ca.if_else(x < 0, 0.5 - part, 0.5 + part)


def _ratio(coefficients: tuple[Sequence[float], Sequence[float]], x: Any) -> Any:
    above, below = (_polynomial(c, x) for c in coefficients)
    return above / below


def _polynomial(coefficients: Sequence[float], x: Any) -> Any:
    value: Any = 0.0
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


__all__ = ["first_state", "hash_string", "next_state", "normal_cumulative", "normal_quantile", "uniform"]
