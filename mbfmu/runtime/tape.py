"""Functions as tapes: tables of instructions, which the C runtime groups when it reads them, and interprets."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import casadi as ca
import numpy as np

from mbfmu.runtime.contract import OPERATIONS

#: Names of operations by CasADi's numbers.
NAMES = {getattr(ca, f"OP_{name}"): name for name in OPERATIONS}

_CODES = {number: code for code, number in enumerate(NAMES)}
_ASSIGN, _CONST, _INPUT, _OUTPUT = (list(OPERATIONS).index(name) for name in ("ASSIGN", "CONST", "INPUT", "OUTPUT"))


def tape(function: ca.Function) -> bytes:
    """Return a function as the tape of a descriptor.

    That is four numbers of 32 bits: 1, how many constants, instructions and bytes of these there are; the constants,
    doubles; and the instructions: operation and operands as numbers of variable length. An operand is known by how
    many instructions before its result was made. An input has the argument and the element in place of operands, an
    output operand, result and element, a constant its number.
    Functions that call others are expanded first.

    Raises:
        ValueError: The function has an instruction that tapes do not know.
    """
    if not function.is_a("SXFunction"):
        function = function.expand()
    codes, instruction = _CODES, function.instruction_id
    output, operands_of = function.instruction_output, function.instruction_input
    constants: dict[bytes, int] = {}
    made = [0] * function.sz_w()
    numbers: list[int] = []
    at = 0
    try:
        for k in range(function.n_instructions()):
            code, out = codes[instruction(k)], output(k)
            if code == _CONST:
                key = struct.pack("<d", function.instruction_constant(k))  # as bytes: 0 and -0 stay apart
                numbers += (code, constants.setdefault(key, len(constants)))
            elif code == _INPUT:
                numbers += (code, *operands_of(k))
            elif code == _OUTPUT:
                numbers += (code, at - made[operands_of(k)[0]], *out)
            elif code == _ASSIGN:
                made[out[0]] = made[operands_of(k)[0]]
                continue
            else:
                numbers.append(code)
                for place in operands_of(k):  # no generator: models have a million
                    numbers.append(at - made[place])
            if code != _OUTPUT:
                made[out[0]] = at
            at += 1
    except KeyError as error:
        raise ValueError(f"{function.name()}: tapes have no instruction {error}") from None
    instructions = _encoded(numbers)
    return struct.pack("<4i", 1, len(constants), at, len(instructions)) + b"".join(constants) + instructions


def _encoded(numbers: Sequence[int]) -> bytes:
    """Numbers as bytes of 7 bits each, the lowest first; all but the last of a number have 128 added."""
    values = np.array(numbers, dtype=np.uint32)[:, None]
    places = np.arange(5, dtype=np.uint32)
    lengths = 1 + np.count_nonzero(values >> (7 * places[1:]), axis=1)[:, None]
    parts = (values >> (7 * places)) & 127 | np.where(places < lengths - 1, 128, 0)
    return parts.astype(np.uint8)[places < lengths].tobytes()
