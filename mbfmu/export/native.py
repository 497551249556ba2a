"""Native target: the library of an FMU, compiled for its model or the runtime's own for any model.

*Compiled* equations are C code (`mbfmu/runtime/c_code.py`); the runtime in `templates/runtime` is compiled around them,
with the model's sizes as constants, as one translation unit (`fmu.c`). Long equations and their descriptor are further
units. *Interpreted* equations are tapes in a descriptor, which the runtime's ready library reads from the FMU's
resources: no compiler is needed.
"""

from __future__ import annotations

import contextlib
import pathlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence

import casadi as ca

from mbfmu.errors import BuildError
from mbfmu.export.archive import temporary_folder
from mbfmu.export.elimination import written_out
from mbfmu.export.model_description import Capabilities, model_identifier
from mbfmu.fmi.libraries import PLATFORMS_3, STAND_INS
from mbfmu.runtime import build as runtime
from mbfmu.runtime import contract
from mbfmu.runtime.c_code import Code, always, declarations, is_long, work_length
from mbfmu.runtime.calls import has_calls
from mbfmu.runtime.compiled import INNER, optimization
from mbfmu.runtime.compilers import (
    Compilation,
    Compiler,
    find_compiler,
    host_platform,
    library_name,
    require_compiler,
)
from mbfmu.runtime.descriptor import descriptor, functions_of, names_of_functions, packed, sizes_of, tables_of
from mbfmu.runtime.enclosures import Enclosed
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

#: What the C runtime offers, for modelDescription.xml.
CAPABILITIES = Capabilities(canInterpolateInputs=True, maxOutputDerivativeOrder=1, providesDirectionalDerivative=True)

#: Bytes in a string of C.
_ROW = 4088

#: What becomes of bytes that do not stand for themselves in it: octal numbers, their ends marked.
_ESCAPES = {i: f"\\{i:o}\n" for i in range(256) if not 32 <= i < 127 or chr(i) in '"\\?'}

#: Long equations, and what is compiled beside them.
_OPTIMIZE = ("-O2",)

#: Small models: vectors of a few numbers take longer than the numbers.
_WHOLE = (*_OPTIMIZE, "-fno-tree-vectorize")

#: Matrices with more rows gain from vectors of the processor.
_FEW = 8

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

    Args:
        equations, variables: The model, and its variables in the order of modelDescription.xml, whose value references
            they share.
        model_identifier: Name of the library, without extension.
        guid: Fingerprint that fmi2Instantiate compares with that of modelDescription.xml.
        folder: Root of the unpacked FMU.
        platform: One of `PLATFORMS` of `mbfmu.runtime.compilers`; by default the one that runs now.
        compiler: By default the one that `require_compiler` finds for the platform.
        lengths: For FMI 3.0: lengths of arrays, as `descriptor` takes them; None: FMI 2.0.

    Raises:
        BuildError: There is no compiler, the compiler fails, or the folder cannot be written.
    """
    platform = platform or host_platform()
    with temporary_folder() as place:
        sources = Sources(equations, variables, place, lengths)
        with compilation(sources, model_identifier, platform, compiler) as compiling:
            sources.write_equations()
            sources.finish(guid)
            return write_library(folder, platform, model_identifier, compiling, 2 if lengths is None else 3)


@contextlib.contextmanager
def compilation(
    sources: Sources, model_identifier: str, platform: str, compiler: Compiler | None = None
) -> Iterator[Compilation]:
    """Compile a library for a platform: at once what there is of its sources, and the rest when they are finished.

    The same sources serve several platforms. Compilers that run at the end of the block are stopped.
    """
    compiler = compiler or require_compiler(platform)
    name = library_name(model_identifier, platform)
    with Compilation(compiler, sources.folder, name, runtime.headers()) as started:
        sources.compile(started)
        yield started


def write_library(
    folder: pathlib.Path, platform: str, model_identifier: str, compiling: Compilation, fmi: int = 2
) -> pathlib.Path:
    """Wait for a library, write it into the root of an FMU as `build_library` does, and return its path."""
    return _write_library(folder, platform, library_name(model_identifier, platform), compiling.library(), fmi)


def copy_library(
    model_identifier: str, folder: pathlib.Path, platform: str | None = None, fmi: int = 2
) -> pathlib.Path:
    """Copy the runtime's ready library into `folder/binaries/PLATFORM/` and return its path.

    The equations come with the descriptor that `write_descriptor` writes. `fmi` decides how the platform is called.

    Raises:
        BuildError: This installation has no library for the platform and cannot compile one, or the folder cannot be
            written.
    """
    platform = platform or host_platform()
    library = ready_library(platform)
    return _write_library(folder, platform, library_name(model_identifier, platform), library.read_bytes(), fmi)


def ready_library(platform: str) -> pathlib.Path:
    """The runtime's library for a platform; one that is missing is compiled, where that can be done.

    Raises:
        BuildError: There is none.
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
) -> Sources:
    """Write all C files of an FMU, except the headers of the FMI standard, into an existing folder.

    With `lengths`, which `descriptor` takes, they are those of FMI 3.0.
    """
    sources = Sources(equations, variables, folder, lengths)
    sources.write_equations()
    sources.finish(guid)
    return sources


class Sources:
    """The C files of an FMU in a folder: first the runtime, with which compilers may begin, then all the rest.

    A source-code FMU holds them in `sources/` (FMI 2.0.4, section 2.3; FMI 3.0.2, section 2.5.1.4).

    Attributes:
        folder: An existing folder, where they are written.
        units: Names of those that a compiler is given, in the end; they include the others. `fmu.c` comes first.
        compiled: The functions that are no tapes, by name.
    """

    def __init__(
        self,
        equations: Equations,
        variables: Sequence[ScalarVariable],
        folder: pathlib.Path,
        lengths: Sequence[int] | None = None,
    ) -> None:
        self.folder = folder
        self._equations, self._variables = equations, variables
        self._fmi = 2 if lengths is None else 3
        self._prefix = f"{model_identifier(equations.name)}_equations_"
        self._tables = dict(tables_of(equations, variables, "", lengths))
        self._sizes = sizes_of(equations, self._tables)
        self._compilations: list[Compilation] = []
        functions = equations.functions
        compiled = {name: functions[name] for name in contract.REQUIRED if not is_tape(name, functions[name])}
        # Bounds of what many call are looked at in each step, and their code is short
        compiled |= {name: one for name, one in Enclosed.of(equations).functions.items() if has_calls(one)}
        self._apart = is_long(compiled.values())
        if not self._apart:
            functions = functions_of(equations, variables)
            compiled = {name: one for name, one in functions.items() if name in compiled or not is_tape(name, one)}
        self.compiled = compiled
        self.units: tuple[str, ...] = ("fmu.c",)
        self._write_runtime()

    @property
    def files(self) -> list[pathlib.Path]:
        """All that are there, by name."""
        return sorted(file for file in self.folder.iterdir() if file.suffix in (".c", ".h"))

    def compile(self, compiling: Compilation) -> None:
        """Compile a library of these sources: what there is at once, the rest as it is written."""
        self._compilations.append(compiling)
        if self._apart:
            compiling.start("fmu.c", _OPTIMIZE, [file.name for file in self.files])

    def write_equations(self) -> None:
        """Write the equations."""
        if not self._apart:
            small = [name for name in self.compiled if name in contract.REQUIRED and name not in INNER]
            self._write({"equations.c": self._code().whole(small)})
            return
        files = self._code().in_files()
        self._write(files)
        option = optimization(sum(map(len, files.values())))
        for name in files:
            if name.endswith(".c"):
                self._add(name, (option,), ["equations.h", "portable.h"])

    def finish(self, guid: str) -> None:
        """Write the descriptor, the last of all."""
        tables = self._tables | {"identity": (self._equations.name, guid)}
        data = packed(self._sizes, tables, functions_of(self._equations, self._variables), self.compiled)
        if self._apart:
            rows = f'#include "descriptor_data.h"\n\n{_rows(data)}\n'
            rows += f"const void *const DESCRIPTOR = descriptor.rows;\nconst size_t DESCRIPTOR_SIZE = {len(data)};\n"
            self._write({"model.c": rows})
            self._add("model.c", _OPTIMIZE, ["descriptor_data.h", "portable.h"])
        else:
            size = f"\n#define DESCRIPTOR descriptor.rows\n#define DESCRIPTOR_SIZE {len(data)}\n"
            self._write({"descriptor_data.h": _rows(data) + size})
            for compiling in self._compilations:
                compiling.start_whole("fmu.c", _WHOLE)

    def _add(self, name: str, options: Sequence[str], reads: Sequence[str]) -> None:
        self.units += (name,)
        for compiling in self._compilations:
            compiling.start(name, options, reads)

    def _code(self) -> Code:
        return Code(self.compiled, *always(self.compiled), self._prefix if self._apart else "")

    def _write_runtime(self) -> None:
        left_out = {*runtime.HOST_SOURCES, f"fmi{5 - self._fmi}.c"}
        runtime.write_sources(self.folder, left_out)
        total = len(names_of_functions(self._equations))
        prefix = self._prefix if self._apart else ""
        elimination = written_out(self._equations.sparsity, self._equations.pivots)
        factors = None if elimination is None else elimination.factors
        header = _model_header(self._equations.name, self._fmi, self._sizes, self.compiled, total, prefix, factors)
        if elimination is not None:
            self._write({"elimination.h": elimination.code})
        self._write({"model.h": header, "sizes.h": contract.sizes_header(self._sizes)})
        if self._apart:
            self._write({
                "equations.c": declarations(self.compiled, self._prefix),
                "descriptor_data.h": (
                    '/* The descriptor is in model.c. */\n\n#include <stddef.h>\n#include "portable.h"\n\n'
                    f"#define DESCRIPTOR {self._prefix}descriptor\n"
                    f"#define DESCRIPTOR_SIZE {self._prefix}descriptor_size\n"
                    "SHARED extern const void *const DESCRIPTOR;\nSHARED extern const size_t DESCRIPTOR_SIZE;\n"
                ),
            })  # fmt: skip

    def _write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")


def library_folders(folder: pathlib.Path, platform: str, fmi: int) -> list[pathlib.Path]:
    """Folders for the library of a platform, below the root of an FMU of this version."""
    names = PLATFORMS_3[platform] if fmi == 3 else (platform,)
    return [folder / "binaries" / name for name in names]


def stand_in(folder: pathlib.Path, platforms: Sequence[str]) -> None:
    """Put libraries for aarch64 into the folders of x86, too, of an FMU of FMI 2.0 that is not for x86.

    FMI 2.0 had no name for such processors at first: on them, importers look into `linux64` and `win64`.
    """
    for platform in platforms:
        place = STAND_INS.get(platform)
        if place is not None and place not in platforms:
            shutil.copytree(folder / "binaries" / platform, folder / "binaries" / place)


def _write_library(folder: pathlib.Path, platform: str, name: str, library: bytes, fmi: int) -> pathlib.Path:
    """Write a library into the folders of its platform, and return the path of the first."""
    written = [_write(where / name, library) for where in library_folders(folder, platform, fmi)]
    return written[0]


def _write(path: pathlib.Path, content: bytes) -> pathlib.Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if path.parent.parent.name == "binaries" else 0o644)
    except OSError as error:
        raise BuildError(f"cannot write {path}: {error.strerror}; choose a folder that can be written") from error
    return path


def is_tape(name: str, function: ca.Function) -> bool:
    """Is a tape better than code? It is for long functions outside the integrator's inner loop."""
    return name not in INNER and function.is_a("SXFunction") and function.n_instructions() >= _TAPE_FROM


def _model_header(
    model: str,
    fmi: int,
    sizes: Mapping[str, int],
    compiled: Mapping[str, ca.Function],
    total: int,
    prefix: str,
    factors: int | None,
) -> str:
    """`model.h`: calls of the functions that are compiled, of so many, and what else the runtime is told of a model."""
    name = model.replace("*/", "* /")
    largest = max(sizes["nv"] + sizes["nl"], sizes["nq"] + sizes["nv"] + sizes["nz"])
    further = [
        f"#define FMI_VERSION {fmi}",
        '#define EQUATIONS "equations.c"',
        "",
        "/* Scratch of compiled functions. */",
        f"#define COMPILED_WORK {max(map(work_length, compiled.values()), default=0)}",
        "",
        "/* Dense matrices have more than 8 rows. */",
        f"#define LARGE_MATRICES {int(largest > _FEW)}",
    ]
    if factors is not None:
        further += ["", "/* Factors of A, whose elimination is written out. */", f"#define WRITTEN_OUT {factors}"]
    calls = {
        name: (
            f"#define CALL_{name.upper()}(s, arg, res) {prefix}{name}(arg, res, s->functions.work)",
            f"#define ARG_{name.upper()} {function.n_in()}",
            f"#define RES_{name.upper()} {function.n_out()}",
        )
        for name, function in compiled.items()
    }
    title = f"Compiled functions of {name}, written by mbfmu."
    return contract.model_header(title, calls, total - len(compiled), further)


def _rows(data: bytes) -> str:
    """Bytes as rows of text, which C compilers read four times as quickly as numbers.

    A row is as long as every compiler takes (C99, section 5.2.4.1), and its zero at the end finds no place in it.
    """
    rows = [data[i : i + _ROW] for i in range(0, len(data), _ROW)]
    return (
        "/* The descriptor (mbfmu/runtime/descriptor.py): tables of the model, and its long functions as tapes. */\n\n"
        f"static const union {{\n    char rows[{len(rows)}][{_ROW}];\n    double aligned;\n}} descriptor = {{{{\n"
        + ",\n".join(map(_literal, rows))
        + "\n}};\n"
    )


def _literal(row: bytes) -> str:
    """Bytes as a string of C, without trigraphs; octal numbers have three digits where a digit follows."""
    text = row.decode("latin-1").translate(_ESCAPES)
    padded = re.sub(r"\\(\d{1,2})\n(?=\d)", lambda found: f"\\{found[1]:0>3}", text)
    return '"' + padded.replace("\n", "") + '"'
