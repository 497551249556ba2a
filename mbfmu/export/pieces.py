"""Equations in C, long ones in pieces: compilers take them quickly, with little memory, and side by side.

CasADi writes each function as one row of statements, and what compilers do with a row grows faster than its length. So
long rows are cut into pieces of some hundred statements, a C function each; what one makes for another goes through the
work vector. Most of it would go through memory anyway: processors have few registers. The same operations in the same
order give the same bits.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import casadi as ca

from mbfmu.errors import BuildError

#: Lines of a piece: of lengths from 100 to 800 the one with which compiler and code are quickest.
PIECE = 200

#: Functions of more lines are cut; those that call others, which compilers take quicker, from the length of a file on.
WHOLE = 1000

#: Lines of a file: a compiler takes a fraction of a second for it.
FILE = 4000

_OPTIONS: dict[str, Any] = {
    "with_header": False, "main": False, "mex": False, "casadi_int": "int", "codegen_scalars": True
}  # fmt: skip

_SIGNATURE = "(const double** arg, double** res, int* iw, double* w, int mem)"
_ARGUMENTS = "(arg, res, iw, w, mem)"

#: Functions that CasADi writes: one for each that there is, under a name of its own, and one that calls that.
_INNER = re.compile(r"(?:/\*[^\n]*\*/\n)?^static int (casadi_f\d+)\([^\n]*\) \{\n(.*?)^\}\n", re.M | re.S)
_OUTER = re.compile(r"^CASADI_SYMBOL_EXPORT int (\w+)\([^\n]*\)\{\n  return (casadi_f\d+)\(arg, ", re.M)

#: Its own help: functions that every file has for itself.
_HELP = re.compile(r"^(?=(?:casadi_real|casadi_int|void) casadi_\w+\()", re.M)
_TOLD = re.compile(r"/\* Configuration this file.*?(?=^static|\Z)", re.M | re.S)

_CALLED = re.compile(r"\bcasadi_f\d+(?=\()")
_DECLARATION = re.compile(r"((?:const )?casadi_(?:real|int)) (.*);")

#: Statements of functions of numbers: an assignment, or a result that is given where somebody wants it.
_STATEMENT = re.compile(r"  (?:a\d+=[^=]|(?:if \(res\[\d+\]!=0\) )?res\[)")
_NUMBER = re.compile(r"\ba\d+\b")
_ARGUMENT = re.compile(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0(?=;)")
_RESULT = re.compile(r"if \(res\[(\d+)\]!=0\) (res\[\1\]\[)")

#: What the first step of a function that calls others begins with.
_STEP = "/* #0:"

#: Words of functions that call others, and the one kind of pointer that is set once and used for long.
_WORD = re.compile(r"\b[a-z]\w*")
_POINTER = re.compile(r"wr\d+ = arg\[\d+\] \? arg\[\d+\] : casadi_zeros;")


def is_long(functions: Iterable[ca.Function]) -> bool:
    """Is it worth while to compile these functions in several files?"""
    return sum(function.n_instructions() for function in functions) >= FILE or any(
        not function.is_a("SXFunction") for function in functions
    )


@dataclasses.dataclass(frozen=True)
class Written:
    """Functions as CasADi writes them, but for what tells others how they are made.

    Attributes
    ----------
    opening
        What stands before the functions.
    bodies
        Bodies of functions by the names that CasADi gives them; what one calls is before it.
    entries
        These names by those of the functions.
    """

    opening: str
    bodies: dict[str, str]
    entries: dict[str, str]

    @classmethod
    def of(
        cls,
        functions: Mapping[str, ca.Function],
        prefix: str,
        with_arguments: Collection[str] = (),
        with_results: Collection[str] = (),
    ) -> Written:
        """Write functions in C.

        Parameters
        ----------
        functions
            Functions by their names.
        prefix
            What names that files share begin with: those of no other model do.
        with_arguments
            Names of functions that get all their arguments; others may get NULL, which stands for zeros.
        with_results
            Names of those whose results are all wanted; others may get NULL in place of a result.

        Raises
        ------
        BuildError
            The code has another form than that of the versions of CasADi that are known.
        """
        generator = ca.CodeGenerator("equations", _OPTIONS)
        for function in functions.values():
            generator.add(function)
        text = str(generator.dump())
        bodies = {found[1]: found[2] for found in _INNER.finditer(text)}
        entries = {found[1]: found[2] for found in _OUTER.finditer(text) if found[1] in functions}
        if len(entries) < len(functions):
            raise BuildError("this version of CasADi writes C in another form; choose --equations interpreted")
        called = {name for body in bodies.values() for name in _CALLED.findall(body)}
        for names, pattern in ((with_arguments, _ARGUMENT), (with_results, _RESULT)):
            for inner in {entries[name] for name in names} - called:
                bodies[inner] = pattern.sub(r"\2", bodies[inner])
        first = _INNER.search(text)
        opening = _HELP.sub("static ", _TOLD.sub("", text[: first.start()])) if first else ""
        defined = f"#define CASADI_CODEGEN_PREFIX\n#define CODEGEN_PREFIX {prefix}_\n"
        return cls(f'#include "portable.h"\n\n{defined}\n{opening}', bodies, entries)

    def whole(self, small: Collection[str] = ()) -> str:
        """All of it, for one file that includes it; functions that shall be small, and call nothing, come last."""
        last = {self.entries[name] for name in small if not _CALLED.search(self.bodies[self.entries[name]])}
        last -= {called for body in self.bodies.values() for called in _CALLED.findall(body)}
        bodies = {name: _definition(f"static int {name}", body) for name, body in self.bodies.items()}
        calls = {name: f"  return {inner}{_ARGUMENTS};\n" for name, inner in self.entries.items()}
        parts = ["/* The equations of the model, written by CasADi. */\n", self.opening]
        parts += [body for name, body in bodies.items() if name not in last]
        if last:
            parts += ["SMALL\n", *(bodies[name] for name in bodies if name in last), "QUICK\n"]
        return "\n".join([*parts, *(_definition(f"static int {name}", call) for name, call in calls.items())])

    def in_files(self) -> dict[str, str]:
        """Files by their names: a header, and what is compiled; see `declarations`."""
        kept = dict(self.bodies)
        apart: dict[str, str] = {}
        for name, body in self.bodies.items():
            pieces = _pieces(body) if body.count("\n") > (FILE if _STEP in body else WHOLE) else []
            if pieces:
                apart |= {f"{name}_{number}": piece for number, piece in enumerate(pieces)}
                calls = " || ".join(f"{name}_{number}{_ARGUMENTS}" for number in range(len(pieces)))
                kept[name] = f"  return {calls};\n"
        wanted = {called for piece in apart.values() for called in _CALLED.findall(piece)}
        for name in reversed(self.bodies):
            if name in wanted:
                wanted |= set(_CALLED.findall(kept[name]))
                apart[name] = kept.pop(name)
        shared = [f"#define {name} CASADI_PREFIX({name.removeprefix('casadi_')})" for name in apart]
        shared += [f"SHARED int {name}{_SIGNATURE};" for name in apart]
        header = ["/* What the files of the equations share. */\n", self.opening, *shared, ""]
        first = [_definition(f"static int {name}", body) for name, body in kept.items()]
        first += [
            _definition(f"SHARED int CASADI_PREFIX({name})", f"  return {inner}{_ARGUMENTS};\n")
            for name, inner in self.entries.items()
        ]
        files = [first, *_files(apart)]
        return {"equations.h": "\n".join(header)} | {
            f"equations_{number}.c": "\n".join(['#include "equations.h"\n', *definitions])
            for number, definitions in enumerate(files, 1)
        }


def declarations(names: Iterable[str], prefix: str) -> str:
    """Declare functions that are in files of their own."""
    lines = [f"SHARED int {prefix}_{name}{_SIGNATURE};" for name in names]
    return "\n".join(["/* The equations are in files of their own. */\n", '#include "portable.h"\n', *lines, ""])


def _definition(head: str, body: str) -> str:
    return f"{head}{_SIGNATURE} {{\n{body}}}\n"


def _files(apart: Mapping[str, str]) -> list[list[str]]:
    """Definitions, in files of about equal length."""
    lengths = {name: body.count("\n") for name, body in apart.items()}
    total = sum(lengths.values())
    count = -(-total // FILE)
    files: list[list[str]] = [[] for _ in range(count)]
    before = 0
    for name, body in apart.items():
        files[before * count // total].append(_definition(f"int {name}", body))
        before += lengths[name]
    return [definitions for definitions in files if definitions]


def _pieces(body: str) -> list[str]:
    """The pieces of a body; none where it has statements of another kind than CasADi's."""
    return _pieces_of_calls(body) if _STEP in body else _pieces_of_numbers(body)


def _pieces_of_numbers(body: str) -> list[str]:
    """Pieces of a function that computes numbers: each has a place in the work vector, where other pieces find it."""
    lines = [line for line in body.splitlines() if not line.startswith("  casadi_real a") and line != "  return 0;"]
    if not all(_STATEMENT.match(line) for line in lines):
        return []
    parts = [lines[at : at + PIECE] for at in range(0, len(lines), PIECE)]
    texts: list[list[str]] = []
    reads: list[set[str]] = []
    writes: list[dict[str, int]] = []
    for part in parts:
        text: list[str] = []
        read: set[str] = set()
        written: dict[str, int] = {}  # and where last
        for line in part:
            names = _NUMBER.findall(line)
            to = names.pop(0) if line.startswith("  a") else None
            for name in names:
                if name not in written and name not in read:
                    read.add(name)
                    text.append(f"  {name}=w[{int(name[1:])}];")
            text.append(line)
            if to:
                written[to] = len(text)
        texts.append(text)
        reads.append(read)
        writes.append(written)
    wanted: set[str] = set()
    for text, read, written in zip(reversed(texts), reversed(reads), reversed(writes), strict=True):
        for name in sorted(wanted & written.keys(), key=written.__getitem__, reverse=True):
            text.insert(written[name], f"  w[{int(name[1:])}]={name};")
        wanted = wanted - written.keys() | read
        numbers = ", ".join(sorted(read | written.keys()))
        text[:0] = [f"  casadi_real {numbers};"] if numbers else []
        text.append("  return 0;\n")
    return ["\n".join(text) for text in texts]


def _pieces_of_calls(body: str) -> list[str]:
    """Pieces of a function that calls others: all that it makes is in the work vector already."""
    head, *steps = re.split(r"^  (?=/\* #\d+:)", body.removesuffix("  return 0;\n"), flags=re.M)
    declared: dict[str, tuple[str, str]] = {}
    for line in map(str.strip, head.splitlines()):
        found = _DECLARATION.fullmatch(line)
        if not found:
            return []
        for declarator in found[2].split(", "):
            declared[_WORD.findall(declarator)[0]] = (found[1], declarator)
    pointers: dict[str, str] = {}
    pieces: list[str] = []
    lines: list[str] = []
    used: set[str] = set()

    def finish() -> None:
        needed = [name for name in declared if name in used]
        lasting = [pointers[name] for name in needed if name in pointers]
        declarations = [f"  {kind} {declarator};" for kind, declarator in (declared[name] for name in needed)]
        pieces.append("\n".join([*declarations, *lasting, *lines, "  return 0;\n"]))
        lines.clear()
        used.clear()

    for step in steps:
        statements = step.splitlines()[1:]
        for name in dict.fromkeys(_WORD.findall("\n".join(statements))):
            if name not in declared:
                continue
            used.add(name)
            if "=" in declared[name][1] or name in pointers:
                continue
            # A pointer without a value is set before it is read, in each step anew; or once, to an argument.
            if name.startswith("wr"):
                if len(statements) != 1 or not _POINTER.fullmatch(statements[0].strip()):
                    return []
                pointers[name] = statements[0]
            elif not re.search(rf"^  (for \()?(\w+=\S*, )*{name} ?=", "\n".join(statements), re.M):
                return []
        lines += statements
        if len(lines) >= PIECE:
            finish()
    finish()
    return pieces
