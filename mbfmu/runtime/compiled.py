"""Compiled functions in place of tapes, in this process: results stay the same to the last bit."""

from __future__ import annotations

import ctypes
import pathlib
import tempfile
from collections.abc import Collection

from mbfmu.errors import BuildError
from mbfmu.runtime.build import headers
from mbfmu.runtime.compilers import EXTENSIONS, host_platform, require_compiler
from mbfmu.runtime.contract import FUNCTIONS
from mbfmu.runtime.library import Model

#: What the integrator calls over and over: always compiled, where anything is.
INNER = ("dynamics", "derivatives", "displacement", "constraints", "crossings", "assertions")

#: Code of equations above this length, in characters, is compiled with -O1. Shorter code runs up to a tenth quicker
#: with -O2 and compiles in a few seconds either way; compiling long code takes twice as long.
_LARGE = 500_000


def optimization(size: int) -> str:
    """The option that equations of so many characters are compiled with: -O2, or -O1 where that would take long."""
    return "-O1" if size > _LARGE else "-O2"


def code_of(model: Model, names: Collection[str] = INNER) -> str:
    """C source of functions of a model, those that it has of these, each by its name in the contract."""
    parts = []
    for number, name in enumerate(FUNCTIONS):
        if name not in names:
            continue
        title = name.encode()
        size = model.library.code(model.handle, number, title, None, 0)
        if size:
            text = ctypes.create_string_buffer(size + 1)
            model.library.code(model.handle, number, title, text, size + 1)
            parts.append(text.value.decode())
    return "\n".join(parts)


def seconds_to_compile(model: Model) -> float:
    """About how long `compile_functions` takes, s: the compiler's start, and its work on the code."""
    return 0.1 + 1e-5 * len(code_of(model))


def compile_functions(model: Model, names: Collection[str] = INNER) -> None:
    """Compile functions of a model and let it use them from now on, in running instances, too.

    Raises
    ------
    BuildError
        There is no compiler, or it fails.
    """
    compiler = require_compiler()
    name = "functions" + EXTENSIONS[host_platform()]
    code = code_of(model, names)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # Windows keeps what is loaded
        source = pathlib.Path(folder) / "functions.c"
        source.write_text(code, encoding="ascii")
        content = compiler.compile(source, name, headers(), optimization(len(code)))
        path = source.with_name(name)
        path.write_bytes(content)
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise BuildError(f"cannot load the compiled equations: {error}") from error
    for number, function in enumerate(FUNCTIONS):
        if function in names and hasattr(library, function):
            model.library.use(model.handle, number, ctypes.cast(getattr(library, function), ctypes.c_void_p))
