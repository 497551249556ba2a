"""Functions of equations as C, in FMUs and in this process: the one writer, of the operations that tapes have.

A function of numbers is a row of statements, one for each instruction. What compilers do with a row grows faster than
its length, so long rows are cut into pieces of some hundred statements, a C function each; what one makes for another
goes through the work vector. Most of it would go through memory anyway: processors have few registers. A function that
calls others, that of a large tree, is a row of calls, and what one call makes for another lies in the work vector. In
functions of numbers a call (`mbfmu.runtime.calls`) is a statement; where its guard is 0 it is not made.

The same operations in the same order give the same bits, however they are cut, and in lanes of vectors, too.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, TypeGuard

import casadi as ca

from mbfmu.instructions import instructions_of
from mbfmu.runtime.calls import argument_offsets, called_by, calls_in, guard_of, result_offsets
from mbfmu.runtime.contract import ARITHMETIC, ENCLOSURES, OPERATIONS, REQUIRED, operands
from mbfmu.runtime.tape import NAMES

#: Statements of a piece: of lengths from 100 to 800 the one with which compiler and code are quickest.
PIECE = 200

#: Functions of more statements are cut; those that call others, which compilers take quicker, are from FILE on.
WHOLE = 1000

#: Statements of a file: a compiler takes a fraction of a second for it.
FILE = 4000

#: How many operands each operation has, and what writes it with the numbers of these, in C for numbers and for vectors.
_OPERANDS = {name: operands(name) for name in OPERATIONS}
_FORMS = {name: re.sub(r"\bb\b", "a{1}", re.sub(r"\ba\b", "a{0}", text)).format for name, text in OPERATIONS.items()}
_VECTOR_FORMS = {
    name: form if name in ARITHMETIC else f"{name}({', '.join(('a{0}', 'a{1}')[: _OPERANDS[name]])})".format
    for name, form in _FORMS.items()
}

#: What processors must have for vectors of so many numbers.
_TARGETS = {4: "avx2", 8: "avx512f,avx512dq"}

#: An element of an argument, of a result of an earlier call in the work vector, or a number.
_Element: TypeAlias = tuple[str, int, int] | float


def is_long(functions: Iterable[ca.Function]) -> bool:
    """Is it worth while to compile these functions in several files?"""
    functions = list(functions)
    return any(not function.is_a("SXFunction") for function in functions) or (sum(map(statements, functions)) >= FILE)


def always(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Functions that the runtime gives all arguments, which is all but those of directions, and asks for all results.

    No branch stands between the statements of such a one: a compiler makes one call of a sine and its cosine.
    """
    given = [name for name in names if name in {*REQUIRED, *ENCLOSURES}]
    return given, [name for name in given if name not in ("initial", "constraints")]


class _Dialect:
    """C for numbers, or for vectors of one in each of 4 or 8 lanes.

    Attributes:
        type: What a number is declared as.
    """

    def __init__(self, lanes: int = 1) -> None:
        self._lanes = lanes
        #: What operations make of variables.
        self.forms = _FORMS if lanes == 1 else _VECTOR_FORMS
        self.type = "double" if lanes == 1 else "V"
        self.entry = f"(const {self.type} **arg, {self.type} **res, {self.type} *w)"

    def number(self, value: float) -> str:
        """A number, to the last bit."""
        text = repr(value)
        if not math.isfinite(value):
            text = ("-" if math.copysign(1, value) < 0 else "") + ("NAN" if math.isnan(value) else "INFINITY")
        return text if self._lanes == 1 else f"(V){{{', '.join([text] * self._lanes)}}}"

    def is_any(self, variable: str) -> str:
        """Whether a variable is not 0, in any lane."""
        if self._lanes == 1:
            return f"{variable} != 0"
        return " || ".join(f"{variable}[{lane}] != 0" for lane in range(self._lanes))

    def opening(self) -> str:
        """What stands before functions."""
        if self._lanes == 1:
            return "#include <math.h>\n"
        lines = [
            "#include <math.h>",
            "#ifdef __x86_64__",
            f'#define TARGET __attribute__((target("{_TARGETS[self._lanes]}")))',
            "#else",
            "#define TARGET",
            "#endif",
            f"typedef double V __attribute__((vector_size({8 * self._lanes}), may_alias));",
        ]
        for name, text in OPERATIONS.items():
            if text and name not in ARITHMETIC:
                vectors = "ab"[: operands(name)]
                values = ", ".join(f"{operand} = v{operand}[l]" for operand in vectors)
                lines += [
                    f"static inline TARGET V {name}({', '.join(f'V v{operand}' for operand in vectors)})",
                    f"{{ V to; for (int l = 0; l < {self._lanes}; ++l) {{ const double {values}; to[l] = {text}; }} "
                    "return to; }",
                ]
        lines += [
            "static inline TARGET void sine_and_cosine(V va, V *s, V *c)",
            f"{{ for (int l = 0; l < {self._lanes}; ++l)"
            "  { const double a = va[l]; (*s)[l] = sin(a); (*c)[l] = cos(a); } }",
        ]
        return "\n".join([*lines, ""])


class _Statement(NamedTuple):
    """A statement; numbers of the variables `a0`, `a1` ... that it reads and sets (none: it gives a result)."""

    text: str
    reads: tuple[int, ...] = ()
    sets: tuple[int, ...] = ()
    #: What it makes of variables.
    operation: str = ""
    #: Of a call: the statement that takes these variables from the work vector, of those that are arguments only.
    taking: Callable[[Collection[int]], str] | None = None
    #: Those.
    arguments: frozenset[int] = frozenset()


def _with_sines_and_cosines(statements: Sequence[_Statement]) -> list[_Statement]:
    """Vectors: the sine of a variable and its cosine in one statement, of which compilers make one call."""
    found: list[_Statement | None] = list(statements)
    others = {"SIN": "COS", "COS": "SIN"}
    for k, first in enumerate(found):
        if first is None or first.operation not in others or first.reads == first.sets:
            continue
        passed = set[int]()  # what statements in between read and set
        for j in range(k + 1, len(found)):
            second = found[j]
            if second is None:
                continue
            if second.operation == others[first.operation] and second.reads == first.reads:
                if passed.isdisjoint(second.sets) and second.sets != first.sets:
                    sine, cosine = (first, second) if first.operation == "SIN" else (second, first)
                    text = f"sine_and_cosine(a{first.reads[0]}, &a{sine.sets[0]}, &a{cosine.sets[0]});"
                    found[k], found[j] = _Statement(text, first.reads, (*first.sets, *second.sets)), None
                break
            if not set(first.reads).isdisjoint(second.sets):
                break
            passed.update(second.reads, second.sets)
    return [statement for statement in found if statement is not None]


@dataclasses.dataclass(frozen=True)
class Definition:
    """A function in C: what stands before and in its braces."""

    head: str
    lines: Sequence[str]

    def text(self, linkage: str) -> str:
        """The function with this linkage."""
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"{linkage} {self.head} {{\n{body}}}\n"


@dataclasses.dataclass(frozen=True)
class _Frame:
    """A function in C, and its pieces: name, parameters as they are declared and as they are passed on.

    `arguments` gives an element of an argument, `results` the statement that sets an element of a result.
    """

    name: str
    declared: str
    passed: str
    arguments: Callable[[int, int], str]
    results: Callable[[int, int, str], str]


class Code:
    """Functions in C.

    They take lists of arguments and of results and a work vector (`work_length`), and return 0. An argument that is
    NULL stands for zeros, a result that is NULL is not wanted.

    Args:
        functions: By their names.
        given: Names of functions that get all their arguments.
        asked: Names of those whose results are all wanted.
        prefix: What names in C begin with: where files share them, those of no other model do.
        lanes: 1, or numbers in a vector: 4 or 8.

    Attributes:
        entries: The functions by their names.
        parts: Pieces of functions, and functions that are called; what one calls is before it.
        callers: Names of those of the functions that call something.
    """

    def __init__(
        self,
        functions: Mapping[str, ca.Function],
        given: Collection[str] = (),
        asked: Collection[str] = (),
        prefix: str = "",
        lanes: int = 1,
    ) -> None:
        self._prefix, self._dialect = prefix, _Dialect(lanes)
        self._called: dict[int, str] = {}  # names in C by the function's hash
        self.entries: dict[str, Definition] = {}
        self.parts: list[Definition] = []
        self.callers: set[str] = set()
        for name, function in functions.items():
            frame = _Frame(prefix + name, self._dialect.entry, "(arg, res, w)",
                           _arguments(name in given, self._dialect), _results(name in asked))  # fmt: skip
            before = len(self.parts)
            lines = self._body(function, frame)
            if len(self.parts) > before:
                self.callers.add(name)
            self.entries[name] = Definition(f"int {prefix}{name}{self._dialect.entry}", [*lines, "return 0;"])

    def whole(self, small: Collection[str] = (), linkage: str = "static") -> str:
        """All of it, for one file that includes it; functions that shall be small, and call nothing, come last."""
        last = [name for name in self.entries if name in small and name not in self.callers]
        texts = ["/* The equations of the model. */\n", self._dialect.opening()]
        texts += [definition.text(linkage) for definition in self.parts]
        texts += [definition.text(linkage) for name, definition in self.entries.items() if name not in last]
        if last:
            texts += ["SMALL\n", *(self.entries[name].text(linkage) for name in last), "QUICK\n"]
        return "\n".join(texts)

    def in_files(self) -> dict[str, str]:
        """Files by their names: a header, and what is compiled; see `declarations`."""
        header = ["/* What the files of the equations share. */\n", '#include "portable.h"\n']
        header += [f"SHARED {definition.head};" for definition in self.parts]
        files = [[definition.text("SHARED") for definition in self.entries.values()], *self._files()]
        return {"equations.h": "\n".join([*header, ""])} | {
            f"equations_{number}.c": "\n".join(['#include "equations.h"\n', *definitions])
            for number, definitions in enumerate(files, 1)
        }

    def _files(self) -> list[list[str]]:
        """Parts, in files of about equal length."""
        total = sum(len(definition.lines) for definition in self.parts)
        count = -(-total // FILE)
        files: list[list[str]] = [[] for _ in range(count)]
        before = 0
        for definition in self.parts:
            files[before * count // total].append(definition.text("SHARED"))
            before += len(definition.lines)
        return [definitions for definitions in files if definitions]

    def _body(self, function: ca.Function, frame: _Frame) -> list[str]:
        """Lines of the body of a function; what is long calls pieces."""
        calls = None if function.is_a("SXFunction") else _Calls.of(function)
        if calls is not None:
            return self._body_of_calls(calls, frame)
        statements = self._statements(_expanded(function), frame)
        return self._block(statements) if len(statements) <= WHOLE else self._in_pieces(self._pieces(statements), frame)

    def _in_pieces(self, pieces: Sequence[Sequence[str]], frame: _Frame) -> list[str]:
        """Make functions of pieces; returns their calls."""
        for number, lines in enumerate(pieces):
            self.parts.append(Definition(f"void {frame.name}_{number}{frame.declared}", lines))
        return [f"{frame.name}_{number}{frame.passed};" for number in range(len(pieces))]

    def _body_of_calls(self, calls: _Calls, frame: _Frame) -> list[str]:
        """As `_body`, of a function that calls others."""
        places, length = calls.places()

        def element(of: _Element) -> str:
            if isinstance(of, float):
                return self._dialect.number(of)
            kind, which, index = of
            return frame.arguments(which, index) if kind == "arg" else f"w[{places[which] + index}]"

        blocks: list[list[str]] = []
        for call in calls.calls:
            lines, passed = [], []
            for k, values in enumerate(call.arguments):
                if _is_row(values):
                    _, which, index = values[0]
                    passed.append(f"w + {places[which] + index}")
                elif values:
                    lines.append(f"const {self._dialect.type} i{k}[] = {{{', '.join(map(element, values))}}};")
                    passed.append(f"i{k}")
                else:
                    passed.append("0")
            passed += [*(f"w + {places[result]}" for result in call.results), f"w + {length}"]
            blocks.append(["{", *lines, f"{self._called_function(call.function)}({', '.join(passed)});", "}"])
        blocks += [[frame.results(which, index, element(value))] for which, index, value in calls.results]
        if sum(map(len, blocks)) <= FILE:
            return [line for block in blocks for line in block]
        pieces: list[list[str]] = [[]]
        for block in blocks:
            if len(pieces[-1]) >= PIECE:
                pieces.append([])
            pieces[-1] += block
        return self._in_pieces(pieces, frame)

    def _called_function(self, function: ca.Function) -> str:
        """Name in C of a function that others call."""
        key = function.__hash__()
        if key not in self._called:
            name, number = f"{self._prefix}called_{len(self._called)}", self._dialect.type
            self._called[key] = name
            n, m = range(function.n_in()), range(function.n_out())
            declared = [*(f"const {number} *i{k}" for k in n), *(f"{number} *o{k}" for k in m), f"{number} *w"]
            passed = [*(f"i{k}" for k in n), *(f"o{k}" for k in m), "w"]
            frame = _Frame(
                name,
                f"({', '.join(declared)})",
                f"({', '.join(passed)})",
                lambda which, index: f"i{which}[{index}]",
                lambda which, index, value: f"o{which}[{index}] = {value};",
            )
            lines = self._body(function, frame)
            self.parts.append(Definition(f"void {name}{frame.declared}", lines))
        return self._called[key]

    def _statements(self, function: ca.Function, frame: _Frame) -> list[_Statement]:
        """A function of numbers, instruction by instruction; variables are the places of CasADi's work vector."""
        found = []
        dialect, forms = self._dialect, self._dialect.forms
        kind, operands_of, made = instructions_of(function)
        calls = calls_in(function)
        known: dict[int, str] = {}  # numbers and arguments, by places
        for k in range(function.n_instructions()):
            if k in calls:
                found.append(self._call(calls[k], operands_of(k), made(k), function.sz_w(), known))
                for place in made(k):
                    known.pop(place, None)
                continue
            name, to = NAMES[kind(k)], made(k)
            if name == "CONST":
                text = known[to[0]] = dialect.number(function.instruction_constant(k))
                found.append(_Statement(f"a{to[0]} = {text};", (), (to[0],)))
                continue
            of = operands_of(k)
            if name != "OUTPUT":
                known.pop(to[0], None)
            if name == "INPUT":
                known[to[0]] = frame.arguments(*of)
                found.append(_Statement(f"a{to[0]} = {frame.arguments(*of)};", (), (to[0],)))
            elif name == "OUTPUT":
                found.append(_Statement(frame.results(to[0], to[1], f"a{of[0]}"), tuple(of)))
            else:
                reads = tuple(of[: _OPERANDS[name]])  # of one operand, CasADi gives the same place twice
                found.append(_Statement(f"a{to[0]} = {forms[name](*reads)};", reads, (to[0],), name))
        return found if dialect.type == "double" else _with_sines_and_cosines(found)

    def _call(
        self, function: ca.Function, of: Sequence[int], to: Sequence[int], scratch: int, known: Mapping[int, str]
    ) -> _Statement:
        """A call in a function of numbers, whose places in the work vector are so many; arguments are copies.

        `known`: what is as well read where the call is made, by places.
        """
        dialect, begins, ends = self._dialect, argument_offsets(function), result_offsets(function)
        passed = [f"i + {begins[k]}" for k in range(function.n_in())]
        passed += [f"o + {ends[k]}" for k in range(function.n_out())]
        name = f"{self._called_function(function)}({', '.join(passed)}, w + {scratch})"
        read = [(place, k) for k, place in enumerate(to) if place >= 0]
        guard = guard_of(function)
        texts = [known.get(place) for place in of]

        def taking(outside: Collection[int]) -> str:
            names = [f"w[{place}]" if place in outside else f"a{place}" for place in of]
            arguments = ", ".join(text or name for text, name in zip(texts, names, strict=True))
            lines = [f"{dialect.type} o[{ends[-1]}];", f"const {dialect.type} i[] = {{{arguments}}};", f"{name};"]
            lines += [f"a{place} = o[{k}];" for place, k in read]
            text = f"{{ {' '.join(lines)} }}"
            if guard is None:
                return text
            zeros = " ".join(f"a{place} = {dialect.number(0.0)};" for place, _ in read)
            return f"if ({dialect.is_any(f'a{of[guard]}')}) {text} else {{ {zeros} }}"

        arguments = {place for place, text in zip(of, texts, strict=True) if text is None}
        looked_at = set() if guard is None else {of[guard]}
        return _Statement(
            taking(()),
            tuple(sorted(arguments | looked_at)),
            tuple(place for place, _ in read),
            taking=taking,
            arguments=frozenset(arguments - looked_at),
        )

    def _block(self, statements: Sequence[_Statement]) -> list[str]:
        """Statements behind the declaration of their variables."""
        names = sorted({name for statement in statements for name in statement.sets})
        return [*self._declared(names), *(statement.text for statement in statements)]

    def _declared(self, names: Collection[int]) -> list[str]:
        return [f"{self._dialect.type} {', '.join(f'a{name}' for name in names)};"] if names else []

    def _pieces(self, statements: Sequence[_Statement]) -> list[list[str]]:
        """Lines of pieces: each variable has a place in the work vector, where other pieces find it."""
        pieces: list[list[str]] = []
        wanted: set[int] = set()  # by later pieces
        for at in reversed(range(0, len(statements), PIECE)):
            lines: list[str] = []
            read: set[int] = set()
            taken: set[int] = set()  # as they are needed, which they are not where no call is made
            last: dict[int, int] = {}  # where each variable is set last
            for statement in statements[at : at + PIECE]:
                outside = {name for name in statement.arguments if name not in last and name not in read}
                taken |= outside
                for name in statement.reads:
                    if name not in last and name not in read and name not in outside:
                        read.add(name)
                        lines.append(f"a{name} = w[{name}];")
                lines.append(statement.text if statement.taking is None else statement.taking(outside))
                last |= dict.fromkeys(statement.sets, len(lines))
            for name in sorted(wanted & last.keys(), key=last.__getitem__, reverse=True):
                lines.insert(last[name], f"w[{name}] = a{name};")
            wanted = wanted - last.keys() | read | taken
            pieces.append([*self._declared(sorted(read | last.keys())), *lines])
        return pieces[::-1]


def statements(function: ca.Function) -> int:
    """About how many statements a function becomes, with all that it calls."""
    known: dict[int, int] = {}
    _count(function, known)
    return sum(known.values())


def _count(function: ca.Function, known: dict[int, int]) -> None:
    """Number of statements of a function, and of those that it calls, each by its hash once."""
    if function.__hash__() in known:
        return
    calls = None if function.is_a("SXFunction") else _Calls.of(function)
    written = _expanded(function) if calls is None else function
    known[function.__hash__()] = written.n_instructions()
    called = called_by(written) if calls is None else [call.function for call in calls.calls]
    for one in called:
        _count(one, known)


def work_length(function: ca.Function) -> int:
    """Length of the work vector that a function needs at most."""
    calls = None if function.is_a("SXFunction") else _Calls.of(function)
    written = _expanded(function) if calls is None else function
    called = called_by(written) if calls is None else [call.function for call in calls.calls]
    own = written.sz_w() if calls is None else calls.places()[1]
    return own + max(map(work_length, {one.__hash__(): one for one in called}.values()), default=0)


def _expanded(function: ca.Function) -> ca.Function:
    return function if function.is_a("SXFunction") else function.expand()


def declarations(names: Iterable[str], prefix: str) -> str:
    """Declare functions that are in files of their own."""
    lines = [f"SHARED int {prefix}{name}{_Dialect().entry};" for name in names]
    return "\n".join(["/* The equations are in files of their own. */\n", '#include "portable.h"\n', *lines, ""])


def _is_row(values: Sequence[_Element]) -> TypeGuard[Sequence[tuple[str, int, int]]]:
    """Do values stand side by side in the work vector?"""
    if not values or isinstance(values[0], float) or values[0][0] != "w":
        return False
    kind, which, index = values[0]
    return all(value == (kind, which, index + i) for i, value in enumerate(values))


def _arguments(given: bool, dialect: _Dialect) -> Callable[[int, int], str]:
    if given:
        return lambda which, index: f"arg[{which}][{index}]"
    return lambda which, index: f"arg[{which}] ? arg[{which}][{index}] : {dialect.number(0.0)}"


def _results(asked: bool) -> Callable[[int, int, str], str]:
    if asked:
        return lambda which, index, value: f"res[{which}][{index}] = {value};"
    return lambda which, index, value: f"if (res[{which}]) res[{which}][{index}] = {value};"


@dataclasses.dataclass(frozen=True)
class _Call:
    """A call: elements of its arguments, and numbers of its results among those of all calls."""

    function: ca.Function
    arguments: list[list[_Element]]
    results: list[int]


@dataclasses.dataclass(frozen=True)
class _Calls:
    """A function that calls others.

    Attributes:
        calls: In their order.
        lengths: Of all that they give.
        results: Result, index in it and element of what the function gives.
    """

    calls: list[_Call]
    lengths: list[int]
    results: list[tuple[int, int, _Element]]

    @classmethod
    def of(cls, function: ca.Function) -> _Calls | None:
        """Read a function; None where it does something else than calling functions with elements of vectors."""
        found = cls([], [], [])
        made: dict[int, list[_Element]] = {}  # what CasADi's places hold
        for k in range(function.n_instructions()):
            kind, of, to = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
            node = function.instruction_MX(k)
            if kind == ca.OP_CONST:
                made[to[0]] = [float(value) for value in node.to_DM().full().ravel(order="F")]
            elif kind == ca.OP_INPUT:
                start = node.info()["offset"]
                made[to[0]] = [("arg", of[0], start + i) for i in range(node.nnz())]
            elif kind == ca.OP_GETNONZEROS and (indices := _indices(node.info())) is not None:
                made[to[0]] = [made[of[0]][i] for i in indices]
            elif kind in (ca.OP_VERTCAT, ca.OP_HORZCAT):
                made[to[0]] = [value for place in of for value in made[place]]
            elif kind == ca.OP_CALL:
                found._add(node.which_function(), [made[place] for place in of], to, made)
            elif kind == ca.OP_OUTPUT:
                start = node.info()["offset"]
                found.results.extend((to[0], start + i, value) for i, value in enumerate(made[of[0]]))
            else:
                return None
        return found

    def _add(
        self, function: ca.Function, arguments: list[list[_Element]], to: Sequence[int], made: dict[int, list[_Element]]
    ) -> None:
        results = []
        for i, place in enumerate(to):
            results.append(len(self.lengths))
            if place >= 0:  # somebody reads it
                made[place] = [("w", len(self.lengths), index) for index in range(function.nnz_out(i))]
            self.lengths.append(function.nnz_out(i))
        self.calls.append(_Call(function, arguments, results))

    def places(self) -> tuple[list[int], int]:
        """Where what calls give begins in the work vector, and its length; what nobody reads any more gives way."""
        last = [-1] * len(self.lengths)
        for at, call in enumerate(self.calls):
            for which in [*call.results, *_given_by_calls(value for values in call.arguments for value in values)]:
                last[which] = at
        for which in _given_by_calls(value for _, _, value in self.results):
            last[which] = len(self.calls)
        ended: list[list[int]] = [[] for _ in range(len(self.calls) + 1)]
        for which, at in enumerate(last):
            ended[at].append(which)
        places = [0] * len(self.lengths)
        free: dict[int, list[int]] = {}  # by length
        total = 0
        for at, call in enumerate(self.calls):
            for which in call.results:
                length = self.lengths[which]
                if free.get(length):
                    places[which] = free[length].pop()
                else:
                    places[which] = total
                    total += length
            for which in ended[at]:
                free.setdefault(self.lengths[which], []).append(places[which])
        return places, total


def _given_by_calls(values: Iterable[_Element]) -> Iterator[int]:
    return (value[1] for value in values if not isinstance(value, float) and value[0] == "w")


def _indices(info: Mapping[str, object]) -> Sequence[int] | None:
    """Elements that CasADi takes out of a vector."""
    match info:
        case {"nz": list(indices)}:
            return indices
        case {"slice": {"start": int(start), "stop": int(stop), "step": int(step)}}:
            return range(start, stop, step)
    return None
