"""Native target: the library of an FMU, compiled for its model or the runtime's own for any model.

*Compiled* equations are C code that CasADi writes; the runtime in `templates/runtime` is compiled around them, with the
model's sizes as constants, as one translation unit (`fmu.c`). *Interpreted* equations are tapes in a descriptor, which
the runtime's ready library reads from the FMU's resources: no compiler is needed.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import casadi as ca

from mbfmu.errors import BuildError
from mbfmu.export.archive import temporary_folder
from mbfmu.export.model_description import Capabilities
from mbfmu.runtime import build as runtime
from mbfmu.runtime import contract
from mbfmu.runtime.compiled import INNER, optimization
from mbfmu.runtime.compilers import Compiler, find_compiler, host_platform, library_name, require_compiler
from mbfmu.runtime.descriptor import descriptor, functions_of, packed, sizes_of, tables_of
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

#: What the C runtime offers, for modelDescription.xml.
CAPABILITIES = Capabilities(canInterpolateInputs=True, maxOutputDerivativeOrder=1, providesDirectionalDerivative=True)

#: The file that a compiler is given, as SourceFiles of modelDescription.xml names it.
SOURCE_FILES = ("fmu.c",)

#: The platforms as FMI 3.0 calls them (FMI 3.0.2, section 2.5.1.1); the library for macOS is for two processors.
PLATFORMS_3 = {
    "linux64": ("x86_64-linux",),
    "win64": ("x86_64-windows",),
    "darwin64": ("x86_64-darwin", "aarch64-darwin"),
}

#: Bytes in a string of C.
_ROW = 4088

#: What becomes of bytes that do not stand for themselves in it: octal numbers, their ends marked.
_ESCAPES = {i: f"\\{i:o}\n" for i in range(256) if not 32 <= i < 127 or chr(i) in '"\\?'}

#: Where a function begins in CasADi's code, and where that asks whether there is an argument, and a result.
_BEGIN = re.compile(r"^/\* (\w+)(?=:\()", re.MULTILINE)
_ARGUMENT = re.compile(r"arg\[(\d+)\]\? (arg\[\1\]\[\d+\]) : 0")
_RESULT = re.compile(r"if \(res\[\d+\]!=0\) ")

#: Other functions with so many instructions become tapes: gcc takes 0.2 ms and more for each.
_TAPE_FROM = 1500


def build_library(
    equations: Equations,
    variables: Sequence[ScalarVariable],
    model_identifier: str,
    guid: str,
    folder: pathlib.Path,
    platform: str | None = None,
    compiler: Compiler | None = None,
    lengths: Sequence[int] | None = None,
) -> pathlib.Path:
    """Compile the library of a native FMU into `folder/binaries/PLATFORM/` and return its path.

    Parameters
    ----------
    equations, variables
        The model, and its variables in the order of modelDescription.xml, whose value references they share.
    model_identifier
        Name of the library, without extension.
    guid
        Fingerprint that fmi2Instantiate compares with that of modelDescription.xml.
    folder
        Root of the unpacked FMU.
    platform
        `linux64`, `win64` or `darwin64`; by default the one that runs now.
    compiler
        By default the one that `require_compiler` finds for the platform.
    lengths
        For FMI 3.0: lengths of arrays, as `descriptor` takes them; None: FMI 2.0.

    Raises
    ------
    BuildError
        There is no compiler, the compiler fails, or the folder cannot be written.
    """
    platform = platform or host_platform()
    compiler = compiler or require_compiler(platform)
    with temporary_folder() as sources:
        write_sources(equations, variables, guid, sources, lengths)
        return compile_library(sources, model_identifier, folder, platform, compiler, 2 if lengths is None else 3)


def compile_library(
    sources: pathlib.Path,
    model_identifier: str,
    folder: pathlib.Path,
    platform: str,
    compiler: Compiler | None = None,
    fmi: int = 2,
) -> pathlib.Path:
    """Compile what `write_sources` has written, as `build_library` does: the same sources serve all platforms."""
    compiler = compiler or require_compiler(platform)
    name = library_name(model_identifier, platform)
    optimize = optimization((sources / "equations.c").stat().st_size)
    library = compiler.compile(sources / SOURCE_FILES[0], name, runtime.headers(), optimize)
    return _write_library(folder, platform, name, library, fmi == 3)


def copy_library(
    model_identifier: str, folder: pathlib.Path, platform: str | None = None, fmi: int = 2
) -> pathlib.Path:
    """Copy the runtime's ready library into `folder/binaries/PLATFORM/` and return its path.

    The equations come with the descriptor that `write_descriptor` writes. `fmi` decides how the platform is called.

    Raises
    ------
    BuildError
        This installation has no library for the platform and cannot compile one, or the folder cannot be written.
    """
    platform = platform or host_platform()
    library = ready_library(platform)
    return _write_library(folder, platform, library_name(model_identifier, platform), library.read_bytes(), fmi == 3)


def ready_library(platform: str) -> pathlib.Path:
    """The runtime's library for a platform; one that is missing is compiled, where that can be done.

    Raises
    ------
    BuildError
        There is none.
    """
    library = runtime.library(platform)
    if not runtime.is_current(platform):
        if find_compiler(platform) is None:
            raise BuildError(
                f"this installation of mbfmu has no runtime library for {platform}: the wheel brings those of all "
                "platforms; in a checkout, `pip install ziglang` installs a compiler that can make it"
            )
        runtime.build_libraries(platform)
    return library


def write_descriptor(
    equations: Equations,
    variables: Sequence[ScalarVariable],
    guid: str,
    folder: pathlib.Path,
    lengths: Sequence[int] | None = None,
) -> pathlib.Path:
    """Write the descriptor, with all functions as tapes, into the existing folder of an FMU's resources."""
    return _write(folder / contract.DESCRIPTOR_FILE, descriptor(equations, variables, guid, lengths=lengths))


def write_sources(
    equations: Equations,
    variables: Sequence[ScalarVariable],
    guid: str,
    folder: pathlib.Path,
    lengths: Sequence[int] | None = None,
) -> tuple[pathlib.Path, ...]:
    """Write all C files of the FMU, except the headers of the FMI standard, into an existing folder.

    A source-code FMU holds them in `sources/`; `SOURCE_FILES` names the one to compile (FMI 2.0.4, section 2.3; FMI
    3.0.2, section 2.5.1.4). With `lengths`, which `descriptor` takes, they are those of FMI 3.0.
    """
    fmi = 2 if lengths is None else 3
    left_out = {*runtime.HOST_SOURCES, f"fmi{5 - fmi}.c"}
    files = {name: data for name, data in runtime.sources().items() if name not in left_out}
    functions = functions_of(equations, variables)
    compiled = [name for name, function in functions.items() if not _is_tape(name, function)]
    tables = tables_of(equations, variables, guid, lengths)
    sizes = sizes_of(equations, functions, tables)
    files["model.h"] = _model_header(equations.name, fmi, sizes, functions, compiled).encode()
    files["equations.c"] = _equations_code([functions[name] for name in compiled]).encode()
    files["descriptor.h"] = _rows(packed(sizes, tables, functions, compiled)).encode()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return tuple(folder / name for name in sorted(files))


def _write_library(folder: pathlib.Path, platform: str, name: str, library: bytes, fmi_3: bool) -> pathlib.Path:
    """Write a library into the folders of its platform, and return the path of the first."""
    folders = PLATFORMS_3[platform] if fmi_3 else (platform,)
    written = [_write(folder / "binaries" / where / name, library) for where in folders]
    return written[0]


def _write(path: pathlib.Path, content: bytes) -> pathlib.Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if path.parent.parent.name == "binaries" else 0o644)
    except OSError as error:
        raise BuildError(f"cannot write {path}: {error.strerror}; choose a folder that can be written") from error
    return path


def _is_tape(name: str, function: ca.Function) -> bool:
    """Is a tape better than code? It is for long functions outside the integrator's inner loop."""
    return name not in INNER and function.is_a("SXFunction") and function.n_instructions() >= _TAPE_FROM


def _equations_code(functions: Sequence[ca.Function]) -> str:
    """C code of the functions: those of the integrator's inner loop, and behind them, made small, the others.

    CasADi's code asks of each argument and result whether it is there. The runtime gives all arguments, and the result
    where there is but one: these questions are left out.
    """
    options: dict[str, Any] = {"with_header": False, "main": False, "mex": False, "casadi_int": "int"}
    generator = ca.CodeGenerator("equations", options)
    for function in sorted(functions, key=lambda function: function.name() not in INNER):
        generator.add(function)
    begin, *parts = _BEGIN.split(str(generator.dump()))
    code, small = [begin], False
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        if name in contract.FUNCTIONS:
            if name not in INNER and not small:
                code.append("SMALL\n")
                small = True
            part = _ARGUMENT.sub(r"\2", part)
            if len(contract.FUNCTIONS[name].results) == 1:
                part = _RESULT.sub("", part)
        code.append(f"/* {name}{part}")
    return "".join([*code, "QUICK\n" if small else ""])


def _model_header(
    model: str,
    fmi: int,
    sizes: Mapping[str, int],
    functions: Mapping[str, ca.Function],
    compiled: Collection[str],
) -> str:
    """`model.h`: the sizes of the contract as constants, and calls of the functions that are compiled."""
    name = model.replace("*/", "* /")
    lines = [f"/* Sizes and compiled functions of {name}, written by mbfmu. */", ""]
    lines += [f"#define FMI_VERSION {fmi}", ""]
    lines += [f"#define {macro} {sizes[size]}" for size, macro in contract.SIZES.items()]
    lines += ["", f"#define TAPES {len(functions) - len(compiled)}"]
    lines += ["", f"#define COMPILED_WORK {max((functions[name].sz_w() for name in compiled), default=0)}"]
    lines += [f"#define COMPILED_INTEGERS {max((functions[name].sz_iw() for name in compiled), default=0)}", ""]
    for name in compiled:
        function, upper = functions[name], name.upper()
        lines += [f"#define CALL_{upper}(arg, res) {function.name()}(arg, res, s->iw, s->work, 0)"]
        lines += [f"#define ARG_{upper} {function.sz_arg()}", f"#define RES_{upper} {function.sz_res()}"]
    return "\n".join([*lines, ""])


def _rows(data: bytes) -> str:
    """`descriptor.h`: bytes as rows of text, which C compilers read four times as quickly as numbers.

    A row is as long as every compiler takes (C99, section 5.2.4.1), and its zero at the end finds no place in it.
    """
    rows = [data[i : i + _ROW] for i in range(0, len(data), _ROW)]
    return (
        "/* The descriptor (mbfmu/runtime/descriptor.py): tables of the model, and its long functions as tapes. */\n\n"
        f"enum {{ DESCRIPTOR_SIZE = {len(data)} }};\n\n"
        f"static const union {{\n    char rows[{len(rows)}][{_ROW}];\n    double aligned;\n}} descriptor = {{{{\n"
        + ",\n".join(map(_literal, rows))
        + "\n}};\n"
    )


def _literal(row: bytes) -> str:
    """Bytes as a string of C, without trigraphs; octal numbers have three digits where a digit follows."""
    text = row.decode("latin-1").translate(_ESCAPES)
    padded = re.sub(r"\\(\d{1,2})\n(?=\d)", lambda found: f"\\{found[1]:0>3}", text)
    return '"' + padded.replace("\n", "") + '"'
