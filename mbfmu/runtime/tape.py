"""Functions as tapes: tables of instructions, which the C runtime groups when it reads them, and interprets."""

from __future__ import annotations

import array
import struct

import casadi as ca

from mbfmu.runtime.contract import OPERATIONS

_CODES = {getattr(ca, f"OP_{name}"): code for code, name in enumerate(OPERATIONS)}
_CONST, _INPUT, _OUTPUT = (OPERATIONS.index(name) for name in ("CONST", "INPUT", "OUTPUT"))


def tape(function: ca.Function) -> bytes:
    """Return a function as the tape of a descriptor.

    That is four numbers of 32 bits: 1, how many constants, instructions and places there are; the constants, doubles;
    and four numbers for each instruction - operation, place of the result, places of the operands. An input has the
    argument and the element in place of operands, an output (element; operand, result), a constant its number.
    Functions that call others are expanded first.

    Raises
    ------
    ValueError
        The function has an instruction that tapes do not know.
    """
    if not function.is_a("SXFunction"):
        function = function.expand()
    codes, instruction = _CODES, function.instruction_id
    output, operands_of = function.instruction_output, function.instruction_input
    constants: dict[bytes, int] = {}
    rows: list[int] = []
    count = function.n_instructions()
    try:
        for k in range(count):
            code = codes[instruction(k)]
            out = output(k)
            if code == _CONST:
                key = struct.pack("<d", function.instruction_constant(k))  # as bytes: 0 and -0 stay apart
                rows += (code, out[0], constants.setdefault(key, len(constants)), 0)
                continue
            operands = operands_of(k)
            if code == _OUTPUT:
                rows += (code, out[1], operands[0], out[0])
            elif len(operands) > 1:
                rows += (code, out[0], operands[0], operands[1])
            else:
                rows += (code, out[0], operands[0], 0)
    except KeyError as error:
        raise ValueError(f"{function.name()}: tapes have no instruction {error}") from None
    head = struct.pack("<4i", 1, len(constants), count, function.sz_w())
    return head + b"".join(constants) + array.array("I", rows).tobytes()
