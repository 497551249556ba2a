"""Compiled functions in place of tapes, in this process: results stay the same to the last bit."""

from __future__ import annotations

import ctypes
import pathlib
import tempfile
from collections.abc import Collection
from typing import Any

from mbfmu.errors import BuildError
from mbfmu.runtime.build import headers
from mbfmu.runtime.c_code import Code, always, statements, work_length
from mbfmu.runtime.compilers import EXTENSIONS, Compiler, host_platform, require_compiler
from mbfmu.runtime.contract import FUNCTIONS
from mbfmu.runtime.library import Model

#: What the integrator calls over and over: always compiled, where anything is.
INNER = ("dynamics", "derivatives", "displacement", "constraints", "crossings", "iterations", "assertions")

#: Those of them that trials in lanes call.
IN_LANES = ("dynamics", "derivatives")

_EXPORT = """#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
"""

#: Code of equations above this length, in characters, is compiled with -O1. Shorter code runs up to a tenth quicker
#: with -O2 and compiles in a few seconds either way; compiling long code takes twice as long.
_LARGE = 500_000


def optimization(size: int) -> str:
    """The option that equations of so many characters are compiled with: -O2, or -O1 where that would take long."""
    return "-O1" if size > _LARGE else "-O2"


def code_of(model: Model, names: Collection[str] = INNER, lanes: int = 1) -> str:
    """C source of functions of a model, those that it has of these, each by its name in the contract.

    They take and give a number, or for 4 or 8 lanes a vector of one in each, wherever the contract has a number.
    """
    functions = _functions(model, names)
    number, target = ("double", "") if lanes == 1 else ("V", "TARGET ")
    code = Code(functions, *always(functions), prefix="inner_", lanes=lanes)
    parts = [_EXPORT, code.whole(linkage=f"static {target}")]
    for name, function in functions.items():
        # Of each thread, as several call it at once; a stack might be too small.
        work = f"static __thread {number} w[{max(work_length(function), 1)}];"
        parts.append(f"EXPORT {target}int {name}(const {number} **arg, {number} **res)\n{{ {work} "
                     f"return inner_{name}(arg, res, w); }}\n")  # fmt: skip
    return "\n".join(parts)


def _functions(model: Model, names: Collection[str]) -> dict[str, Any]:
    return {name: model.functions[name] for name in FUNCTIONS if name in names and name in model.functions}


def seconds_to_compile(model: Model, lanes: int = 1) -> float:
    """About how long `compile_functions` takes, s: the compiler's start, and its work on each statement."""
    lengths = [sum(map(statements, _functions(model, names).values())) for _, names in _by_lanes(INNER, lanes)]
    return sum(0.05 + 1.5e-4 * length for length in lengths)


def _by_lanes(names: Collection[str], lanes: int) -> list[tuple[int, Collection[str]]]:
    """Numbers of lanes, and what is compiled for each: all for one lane, what trials call for so many."""
    return [(1, names), *([(lanes, [name for name in IN_LANES if name in names])] if lanes > 1 else [])]


def compile_functions(model: Model, names: Collection[str] = INNER, lanes: int = 1) -> None:
    """Compile functions of a model and let it use them from now on, in running instances and in lanes, too.

    Raises:
        BuildError: There is no compiler, or it fails.
        ValueError: The model was made without its functions.
    """
    if not model.functions:
        raise ValueError("a model that was made without its functions has nothing to compile")
    compiler = require_compiler()
    for count, some in _by_lanes(names, lanes):
        library = _compiled(compiler, code_of(model, some, count))
        for number, function in enumerate(FUNCTIONS):
            if function in some and hasattr(library, function):
                place = ctypes.cast(getattr(library, function), ctypes.c_void_p)
                model.library.use(model.handle, number, count, place)


def _compiled(compiler: Compiler, code: str) -> ctypes.CDLL:
    name = "functions" + EXTENSIONS[host_platform()]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # Windows keeps what is loaded
        source = pathlib.Path(folder) / "functions.c"
        source.write_text(code, encoding="ascii")
        content = compiler.compile(source, name, headers(), optimization(len(code)))
        path = source.with_name(name)
        path.write_bytes(content)
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            raise BuildError(f"cannot load the compiled equations: {error}") from error
