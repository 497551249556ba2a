"""Functions as tapes: tables of instructions, which the C runtime groups when it reads them, and interprets."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import casadi as ca
import numpy as np

from mbfmu.instructions import instructions_of
from mbfmu.runtime.calls import argument_offsets, calls_in, guard_of, result_offsets
from mbfmu.runtime.contract import CALL, OPERATIONS, RESULT

#: Names of operations by CasADi's numbers.
NAMES = {getattr(ca, f"OP_{name}"): name for name in OPERATIONS}

_CODES = {number: code for code, number in enumerate(NAMES)}
_CONST, _INPUT, _OUTPUT = (list(OPERATIONS).index(name) for name in ("CONST", "INPUT", "OUTPUT"))


class Tapes:
    """Functions as tapes of one descriptor.

    A tape is four numbers of 32 bits: 1, how many constants, instructions and bytes of these there are; the constants,
    doubles; and the instructions: operation and operands as numbers of variable length. An operand is known by how
    many instructions before its result was made. An input has the argument and the element in place of operands, an
    output operand, result and element, a constant its number. A call has the number of the called tape in front of its
    operands; its results, as far as they are read, are the instructions behind it: the call, and which of its results.

    Attributes:
        called: Tapes that others call, in an order in which each stands behind those that it calls itself. Their
            arguments and results are one vector each. In front of a tape stand three numbers more, and a zero: how many
            arguments and results it has, and the number of its guard, -1 where there is none.
    """

    def __init__(self) -> None:
        self.called: list[bytes] = []
        self._numbers: dict[int, int] = {}  # of called tapes, by the function's hash
        self._functions: list[ca.Function] = []  # kept, for hashes are places in memory

    def of(self, function: ca.Function) -> bytes:
        """A function as a tape; functions of matrices that call others are expanded first.

        Raises:
            ValueError: The function has an instruction that tapes do not know.
        """
        if not function.is_a("SXFunction"):
            function = function.expand()
        return self._tape(function, list(range(function.n_in())), [0] * function.n_in(), None)

    def _number(self, function: ca.Function) -> int:
        """Number of a called function."""
        key = function.__hash__()
        if key not in self._numbers:
            inputs, results = argument_offsets(function), result_offsets(function)
            made = self._tape(function, [0] * function.n_in(), inputs, results)
            guard = guard_of(function)
            head = struct.pack("<4i", inputs[-1], results[-1], -1 if guard is None else guard, 0)
            self._numbers[key] = len(self.called)
            self._functions.append(function)
            self.called.append(head + made + bytes(-len(made) % 8))
        return self._numbers[key]

    def _tape(
        self, function: ca.Function, vectors: Sequence[int], begins: Sequence[int], results: Sequence[int] | None
    ) -> bytes:
        """A tape; arguments are vectors from certain elements on, and so are results, unless these are on their own."""
        codes, calls = _CODES, calls_in(function)
        instruction, operands_of, output = instructions_of(function)
        constants: dict[bytes, int] = {}
        made = [0] * function.sz_w()
        numbers: list[int] = []
        at = 0
        try:
            for k in range(function.n_instructions()):
                if k in calls:
                    numbers += (CALL, self._number(calls[k]), *(at - made[place] for place in operands_of(k)))
                    call, at = at, at + 1
                    for which, place in enumerate(output(k)):
                        if place >= 0:  # somebody reads it
                            numbers += (RESULT, at - call, which)
                            made[place] = at
                            at += 1
                    continue
                code, out = codes[instruction(k)], output(k)
                if code == _CONST:
                    key = struct.pack("<d", function.instruction_constant(k))  # as bytes: 0 and -0 stay apart
                    numbers += (code, constants.setdefault(key, len(constants)))
                elif code == _INPUT:
                    vector, element = operands_of(k)
                    numbers += (code, vectors[vector], begins[vector] + element)
                elif code == _OUTPUT:
                    to = out if results is None else (0, results[out[0]] + out[1])
                    numbers += (code, at - made[operands_of(k)[0]], *to)
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


def tape(function: ca.Function) -> bytes:
    """A function that calls none as a tape, as `Tapes` makes it."""
    tapes = Tapes()
    made = tapes.of(function)
    assert not tapes.called
    return made


def _encoded(numbers: Sequence[int]) -> bytes:
    """Numbers as bytes of 7 bits each, the lowest first; all but the last of a number have 128 added."""
    values = np.array(numbers, dtype=np.uint32)[:, None]
    places = np.arange(5, dtype=np.uint32)
    lengths = 1 + np.count_nonzero(values >> (7 * places[1:]), axis=1)[:, None]
    parts = (values >> (7 * places)) & 127 | np.where(places < lengths - 1, 128, 0)
    return parts.astype(np.uint8)[places < lengths].tobytes()
