"""Functions as tables of instructions, which C code interprets.

A C compiler takes time and space that grow faster than the code it is given; a table costs it next to nothing, and
takes half the room. Interpreted instructions run five times slower than compiled ones, so that tables are for long
functions outside the integrator's inner loop.
"""

from __future__ import annotations

import array
import dataclasses
from collections.abc import Iterator

import casadi as ca

#: The instructions that `templates/native/tape.c` knows, by the names of CasADi's operations.
OPERATIONS = (
    "ASSIGN", "CONST", "INPUT", "OUTPUT", "ADD", "SUB", "MUL", "DIV", "NEG", "INV", "SQ", "TWICE", "SQRT", "POW",
    "CONSTPOW", "EXP", "LOG", "LOG1P", "EXPM1", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "ATAN2", "SINH", "COSH",
    "TANH", "ASINH", "ACOSH", "ATANH", "HYPOT", "FABS", "SIGN", "COPYSIGN", "FLOOR", "CEIL", "FMOD", "FMIN", "FMAX",
    "LT", "LE", "EQ", "NE", "NOT", "AND", "OR", "IF_ELSE_ZERO",
)  # fmt: skip

_CODES = {getattr(ca, f"OP_{name}"): code for code, name in enumerate(OPERATIONS)}
_CONST, _INPUT, _OUTPUT = (OPERATIONS.index(name) for name in ("CONST", "INPUT", "OUTPUT"))

#: Places are 16-bit numbers.
_LIMIT = 1 << 16


@dataclasses.dataclass(frozen=True)
class Tape:
    """A function as a table: four numbers per instruction - operation, place of the result, places of the operands.

    An input is (argument, element), an output (element; operand, result), a constant its place among `constants`.
    """

    name: str
    code: array.array[int]
    constants: tuple[float, ...]


def tape(function: ca.Function) -> Tape | None:
    """Return the table of a function, or None where it has none: it calls others, or is too large for the places."""
    if not function.is_a("SXFunction") or function.sz_w() >= _LIMIT:
        return None
    try:
        constants: dict[bytes, int] = {}
        code = array.array("H", (number for row in _rows(function, constants) for number in row))
    except (KeyError, OverflowError):
        return None
    values = array.array("d", b"".join(constants))
    return Tape(function.name(), code, tuple(values))


def _rows(function: ca.Function, constants: dict[bytes, int]) -> Iterator[tuple[int, int, int, int]]:
    """Instructions; `constants` takes their numbers as bytes, so that 0 and -0 stay apart."""
    for k in range(function.n_instructions()):
        code = _CODES[function.instruction_id(k)]
        out = function.instruction_output(k)
        if code == _CONST:
            key = array.array("d", [function.instruction_constant(k)]).tobytes()
            yield code, out[0], constants.setdefault(key, len(constants)), 0
            continue
        operands = function.instruction_input(k)
        if code == _OUTPUT:
            yield code, out[1], operands[0], out[0]
        else:
            yield code, out[0], operands[0], operands[1] if len(operands) > 1 else 0
