"""What becomes of a descriptor with one byte changed and a checksum that fits: a reader of its own decides."""

from __future__ import annotations

import bisect
import dataclasses
import struct
from collections.abc import Iterator, Sequence

from mbfmu.runtime import contract
from mbfmu.runtime.descriptor import functions_of, sizes_of, tables_of
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

HEADER, CHECKSUM = 24, range(16, 24)

#: Arguments and results of a tape that others call.
MOST = 1 << 20

#: Sizes that are choices, or say only how much room results are given: some other values of theirs are as good.
OPEN_SIZES = {
    "solver", "time_switching", "crossings_need_w", "delayed_need_w", "iterations_need_w",
    "constraints_need_s", "differences", "nd", "nt", "ny",
}  # fmt: skip

#: Tables of doubles that are looked at when they are read.
_LOOKED_AT = ("experiment", "iteration_nominals")

TWO_OPERANDS = {
    "ADD", "SUB", "MUL", "DIV", "POW", "CONSTPOW", "ATAN2", "HYPOT", "COPYSIGN", "FMOD", "FMIN", "FMAX", "LT", "LE",
    "EQ", "NE", "AND", "OR", "IF_ELSE_ZERO",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Part:
    """Bytes of a descriptor from `begin` on: its kind, and what its values are held against."""

    name: str
    kind: str
    begin: int
    end: int
    bounds: tuple[int, int] = (0, 0)
    count: int = 0
    constants: int = 0
    arguments: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    #: Numbers of arguments and results of the tapes that it may call; is it one that others call?
    called: tuple[tuple[int, int], ...] = ()
    is_called: bool = False


class Layout:
    """Where everything stands in the descriptor of a model."""

    def __init__(self, data: bytes, equations: Equations, variables: Sequence[ScalarVariable], guid: str) -> None:
        functions = functions_of(equations, variables)
        tables = tables_of(equations, variables, guid)
        sizes = sizes_of(equations, tables)
        known = {macro: sizes[size] for size, macro in contract.SIZES.items()}
        known |= {"INT_MAX": 2**31 - 1, "INT_MIN": -(2**31), "NW": sizes["nv"] + sizes["nl"]}
        known["NX"] = sizes["nq"] + sizes["nv"] + sizes["nz"]
        known["NSTRUCK"] = known["NPOINTS"] + known["NSLIDING"]
        self.data, self.parts = data, [Part("header", "header", 0, HEADER)]
        for name in contract.SIZES:
            self._add(Part(name, "size", 0, 4, (0, 1 << 24)), aligned=False)
        self._align()
        for name, table in contract.TABLES.items():
            if table.kind in ("text", "name"):
                self._add(Part(name, "length", 0, 8))
                end = struct.unpack_from("<I", data, self.parts[-1].begin)[0]
                self._add(Part(name, table.kind, 0, end, count=len(tables[name])))
            else:
                bounds = tuple(eval(bound, {}, known) for bound in table.bounds)
                width = 8 if table.kind == "double" else 4
                self._add(Part(name, table.kind, 0, width * len(tables[name]), bounds))
        self._add(Part("called", "called", 0, 4))
        called: list[tuple[int, int]] = []
        for _ in range(self._ints(1)[0]):
            self._add(Part("called", "head", 0, 16))
            n, m, *_ = self._ints(4)
            self._add_tape("called", (n,), (m,), tuple(called), is_called=True)
            called.append((n, m))
        for name in contract.FUNCTIONS:
            function = functions.get(name)
            arguments = () if function is None else tuple(function.nnz_in(i) for i in range(function.n_in()))
            results = () if function is None else tuple(function.nnz_out(i) for i in range(function.n_out()))
            self._add_tape(name, arguments, results, tuple(called))
        assert self.parts[-1].end == len(data)
        self._begins = [part.begin for part in self.parts]

    def _ints(self, n: int) -> tuple[int, ...]:
        """The last part as so many integers."""
        last = next(part for part in reversed(self.parts) if part.kind != "padding")
        return struct.unpack_from(f"<{n}i", self.data, last.begin)

    def _add_tape(
        self,
        name: str,
        arguments: tuple[int, ...],
        results: tuple[int, ...],
        called: tuple[tuple[int, int], ...],
        is_called: bool = False,
    ) -> None:
        self._add(Part(name, "counts", 0, 16, is_called=is_called))
        there, constants, count, size = self._ints(4)
        if there:
            self._add(Part(name, "double", 0, 8 * constants))
            self._add(
                Part(name, "tape", 0, size, (0, 0), count, constants, arguments, results, called, is_called=is_called)
            )

    def _add(self, part: Part, aligned: bool = True) -> None:
        begin = self.parts[-1].end
        self.parts.append(dataclasses.replace(part, begin=begin, end=begin + part.end))
        if aligned:
            self._align()

    def _align(self) -> None:
        end = self.parts[-1].end
        if end % 8:
            self.parts.append(Part("", "padding", end, end + 8 - end % 8))

    def part(self, place: int) -> Part:
        """The part that a byte belongs to."""
        return self.parts[bisect.bisect(self._begins, place) - 1]

    def verdict(self, place: int, flip: int) -> bool | None:
        """Is the descriptor read with this byte changed? None: that depends on what follows."""
        part = self.part(place)
        changed = bytearray(self.data[part.begin : part.end])
        changed[place - part.begin] ^= flip
        if part.kind == "header":
            return place in CHECKSUM
        if part.kind == "called":  # all that follows would be something else
            return False
        if part.kind == "head":
            n, m, guard, rest = struct.unpack("<4i", changed)
            is_in_range = 1 <= n <= MOST and 1 <= m <= MOST and -1 <= guard < n and -1 <= rest <= MOST
            return None if is_in_range else False  # what has other numbers of arguments is read as another tape
        if part.kind == "counts" and part.is_called:
            return False
        if part.kind == "counts":  # no function, or one without instructions, is as good as the other
            return struct.unpack("<4i", changed) in ((0, 0, 0, 0), (1, 0, 0, 0))
        if part.kind == "size" and part.name not in OPEN_SIZES:
            return False
        if part.kind in ("size", "int"):
            value = struct.unpack_from("<i", changed, (place - part.begin) // 4 * 4)[0]
            return None if part.bounds[0] <= value <= part.bounds[1] else False
        if part.kind == "tape":
            return _is_tape(bytes(changed), part)
        if part.kind == "text":  # without the zero at its end, a text is missing
            return self.data[place] != 0
        if part.kind == "name":
            return _are_names(bytes(changed), part.count)
        if part.kind == "length" and place - part.begin >= 4:  # beside it, so that what follows is aligned
            return True
        return None if part.kind == "length" or part.name in _LOOKED_AT else True


def _are_names(data: bytes, count: int) -> bool:
    """How much of the name before each one takes over, the rest of it and a zero; what follows nobody reads."""
    length = 0
    for _ in range(count):
        end = data.find(0, 1)
        if end < 0 or data[0] > length:
            return False
        length = data[0] + end - 1
        data = data[end + 1 :]
    return True


def _is_tape(data: bytes, part: Part) -> bool:
    numbers = _numbers(data)
    made: list[tuple[str, int]] = []  # operations, and of calls, and their results, which tape they call
    given = set()

    def operand(i: int, wanted: str = "") -> int | None:
        """Place of an operand, where it is one."""
        distance = next(numbers)
        if not 1 <= distance <= i or made[i - distance][0] == "OUTPUT":
            return None
        return i - distance if (made[i - distance][0] == "CALL") == (wanted == "CALL") else None

    names = [*contract.OPERATIONS, "CALL", "RESULT"]
    try:
        for i in range(part.count):
            code = next(numbers)
            if code >= len(names):
                return False
            name, which = names[code], 0
            if name == "CONST":
                if next(numbers) >= part.constants:
                    return False
            elif name == "CALL":
                which = next(numbers)
                if which >= len(part.called) or any(operand(i) is None for _ in range(part.called[which][0])):
                    return False
            elif name == "RESULT":
                call = operand(i, "CALL")
                if call is None or next(numbers) >= part.called[made[call][1]][1]:
                    return False
                which = made[call][1]
                if any(kind != "RESULT" for kind, _ in made[call + 1 :]):
                    return False
            elif name != "INPUT" and any(operand(i) is None for _ in range(1 + (name in TWO_OPERANDS))):
                return False
            if name in ("INPUT", "OUTPUT"):
                lengths = part.arguments if name == "INPUT" else part.results
                vector, element = next(numbers), next(numbers)
                if vector >= len(lengths) or element >= lengths[vector]:
                    return False
                given |= {element} if name == "OUTPUT" else set()
            made.append((name, which))
    except StopIteration:
        return False
    if part.is_called:
        outputs = sum(name == "OUTPUT" for name, _ in made)
        if outputs != part.results[0] or len(given) != outputs:
            return False
    return next(numbers, None) is None


def _numbers(data: bytes) -> Iterator[int]:
    """Numbers of 7 bits in each byte, at most four bytes; what ends too early is one that is too large."""
    number = shift = 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0
        elif shift == 28:
            yield 2**32 - 1
            number = shift = 0
    if shift:
        yield 2**32 - 1
