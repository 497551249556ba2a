"""Native target: the C sources of an FMU, and the shared library compiled from them.

The runtime in `templates/native` is the same for every model. Written for each model are `model.h`, its sizes and
tables, `equations.c`, its functions as C code from CasADi, and `tapes.c`, those of its functions that are tables.
`fmu.c` includes them all: one translation unit.
"""

from __future__ import annotations

import importlib.resources
import math
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import jinja2

from mbfmu.dynamics.variables import ScalarVariable
from mbfmu.errors import BuildError
from mbfmu.export.archive import temporary_folder
from mbfmu.export.compilers import Compiler, host_platform, library_name, require_compiler
from mbfmu.export.model_description import Capabilities
from mbfmu.export.references import value_references
from mbfmu.export.tangents import tangents
from mbfmu.export.tape import OPERATIONS, Tape, tape
from mbfmu.simulation.equations import FUNCTIONS, SOLVERS, Equations

#: What the C runtime offers, for modelDescription.xml.
CAPABILITIES = Capabilities(canInterpolateInputs=True, maxOutputDerivativeOrder=1, providesDirectionalDerivative=True)

#: The file that a compiler is given, as SourceFiles of modelDescription.xml names it.
SOURCE_FILES = ("fmu.c",)

#: What the integrator calls over and over: always compiled.
_INNER = ("dynamics", "derivatives", "displacement", "constraints", "crossings", "assertions")

#: Other functions with so many instructions become tables: gcc takes 0.2 ms and more for each.
_TAPE_FROM = 1500

#: Code of the equations above this length, in characters, is compiled with -O1: quicker to build, as quick to run.
_LARGE = 500_000

_STORES = {"time": 0, "x": 1, "u": 2, "P": 3, "w": 4, "y": 5, "constant": 6}


def build_library(
    equations: Equations,
    variables: Sequence[ScalarVariable],
    model_identifier: str,
    guid: str,
    folder: pathlib.Path,
    platform: str | None = None,
    compiler: Compiler | None = None,
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

    Raises
    ------
    BuildError
        There is no compiler, the compiler fails, or the folder cannot be written.
    """
    platform = platform or host_platform()
    compiler = compiler or require_compiler(platform)
    target = folder / "binaries" / platform / library_name(model_identifier, platform)
    with temporary_folder() as sources:
        write_sources(equations, variables, guid, sources)
        large = (sources / "equations.c").stat().st_size > _LARGE
        with importlib.resources.as_file(_templates() / "include") as headers:
            optimize = "-O1" if large else "-O2"
            library = compiler.compile(sources / SOURCE_FILES[0], target.name, headers, optimize)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(library)
            target.chmod(0o755)
        except OSError as error:
            raise BuildError(f"cannot write {target}: {error.strerror}; choose a folder that can be written") from error
    return target


def write_sources(
    equations: Equations, variables: Sequence[ScalarVariable], guid: str, folder: pathlib.Path
) -> tuple[pathlib.Path, ...]:
    """Write all C files of the FMU, except the headers of the FMI standard, into an existing folder.

    A source-code FMU holds them in `sources/`; `SOURCE_FILES` names the one to compile (FMI 2.0.4, section 2.3).
    """
    files = {part.name: part.read_bytes() for part in _templates().iterdir() if part.name.endswith((".c", ".h"))}
    functions = _functions(equations, variables)
    tapes = _tapes(functions)
    compiled = [function for name, function in functions.items() if name not in tapes]
    files["model.h"] = _model_header(equations, functions, tapes, variables, guid).encode()
    files["equations.c"] = _equations_code(compiled).encode()
    files["tapes.c"] = _environment().from_string(_template("tapes.c.jinja")).render(tapes=tapes.values()).encode()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return tuple(folder / name for name in sorted(files))


def _templates() -> Any:
    return importlib.resources.files("mbfmu.templates") / "native"


def _template(name: str) -> str:
    return str((_templates() / name).read_text(encoding="utf-8"))


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(c_string=_c_string, c_double=_c_double, comment=_comment)
    return environment


def _shapes(equations: Equations) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Numbers of elements of every function's arguments and results (docs/architecture.md)."""
    e = equations
    npar, nP = e.npar, e.npar + e.nd
    at = (1, e.nx, e.nu, nP, e.nm)
    return {
        "derived": ((npar,), (e.nd,)),
        "guess": ((nP,), (e.nX,)),
        "initial": ((1, e.nX, e.nu, nP, e.nm), (e.nr, e.nr * e.nX)),
        "dynamics": (at, (0 if e.explicit else e.nw * e.nw, e.nw)),
        "derivatives": ((*at, e.nw), (e.nx,)),
        "displacement": ((1, e.nx, nP, e.nv), (e.nq,)),
        "constraints": (at, (e.ng, e.nl, e.nl * e.nv)),
        "redundant": (at, (e.ne,)),
        "times": ((nP,), (e.nt,)),
        "crossings": ((*at, e.nw), (e.nm,)),
        "variables": ((*at, e.nw), (e.ny,)),
        "assertions": ((*at, e.nw), (e.nh,)),
    }


def _checked(equations: Equations, name: str) -> ca.Function:
    """One of the functions, its sizes compared with the record: C code reads what it is told to."""
    function = equations.functions[name]
    arguments, results = _shapes(equations)[name]
    given = (
        tuple(function.numel_in(i) for i in range(function.n_in())),
        tuple(function.numel_out(i) for i in range(function.n_out())),
    )
    if given != (arguments, results):
        raise ValueError(
            f"{equations.name}: {name} maps {given[0]} to {given[1]} numbers, not {arguments} to {results}"
        )
    sparse = [i for i in range(function.n_out()) if not function.sparsity_out(i).is_dense()]
    if sparse:
        raise ValueError(f"{equations.name}: {name} has sparse results {sparse}; all must be dense")
    return function


def _functions(equations: Equations, variables: Sequence[ScalarVariable]) -> dict[str, ca.Function]:
    """All functions that the C code calls, by name."""
    functions = {name: _checked(equations, name) for name in FUNCTIONS}
    return functions | tangents(equations, _exposed(variables))


def _exposed(variables: Sequence[ScalarVariable]) -> list[int]:
    """Indices in y of outputs and state derivatives: what directional derivatives are asked of."""
    return sorted({v.index for v in variables if v.store == "y" and (v.causality == "output" or v.derivative_of)})


def _tapes(functions: Mapping[str, ca.Function]) -> dict[str, Tape]:
    """Tables of the functions for which tables are better than code."""
    found = {
        name: tape(function)
        for name, function in functions.items()
        if name not in _INNER and function.is_a("SXFunction") and function.n_instructions() >= _TAPE_FROM
    }
    return {name: table for name, table in found.items() if table is not None}


def _equations_code(functions: Sequence[ca.Function]) -> str:
    options: dict[str, Any] = {"with_header": False, "main": False, "mex": False, "casadi_int": "int"}
    generator = ca.CodeGenerator("equations", options)
    for function in functions:
        generator.add(function)
    return str(generator.dump())


def _model_header(
    equations: Equations,
    functions: Mapping[str, ca.Function],
    tapes: Mapping[str, Tape],
    variables: Sequence[ScalarVariable],
    guid: str,
) -> str:
    template = _environment().from_string(_template("model.h.jinja"))
    constants: list[str] = []
    strings: list[str] = []
    kinds = _kinds(variables, constants, strings)
    return template.render(
        name=equations.name,
        guid=guid,
        start_time=equations.start_time,
        stop_time=equations.stop_time,
        tolerance=equations.tolerance,
        step_length=equations.fixed_step,
        sizes=_sizes(equations, list(functions.values()), kinds) | {"NEXPOSED": len(_exposed(variables))},
        functions=[
            {
                "label": name.upper(),
                "symbol": f"{f.name()}_tape" if name in tapes else f.name(),
                "arguments": f.sz_arg(),
                "results": f.sz_res(),
            }
            for name, f in functions.items()
        ],
        tables=_tables(equations, variables, constants, strings),
        kinds=kinds,
        operations=OPERATIONS,
    )


def _sizes(
    equations: Equations, functions: Sequence[ca.Function], kinds: Sequence[Mapping[str, Any]]
) -> dict[str, int]:
    e = equations
    lengths = [len(block) for block in e.blocks]
    whole = tuple(range(e.nw))
    sizes = {
        "NQ": e.nq,
        "NV": e.nv,
        "NZ": e.nz,
        "NU": e.nu,
        "NPAR": e.npar,
        "ND": e.nd,
        "NL": e.nl,
        "NG": e.ng,
        "NM": e.nm,
        "NT": e.nt,
        "NY": e.ny,
        "NE": e.ne,
        "NH": e.nh,
        "NUNKNOWNS": e.nX,
        "NEQUATIONS": e.nr,
        "NFREE": len(e.free),
        "NQUATERNIONS": len(e.quaternions),
        "TIME_SWITCHES": int(any(e.time_switches)),
        "NINDICATORS": e.time_switches.count(False),
        "CROSSINGS_NEED_W": int(e.crossings_need_w),
        "SOLVER": SOLVERS.index(e.solver),
        "FIXED_STEP": int(e.fixed_step > 0),
        "NBLOCKS": len(lengths),
        "EXPLICIT": int(e.explicit),
        "DIFFERENCES": int(not any(f.name() == "dynamics_tangent" for f in functions)),
        "ONE_BLOCK": int(e.blocks == (whole,)),
        "LARGEST_BLOCK": max(lengths, default=0),
        "SZ_IW": max(f.sz_iw() for f in functions),
        "SZ_W": max(f.sz_w() for f in functions),
    }
    for kind in kinds:
        sizes[f"N{kind['plural']}"] = len(kind["places"])
        sizes[f"N{kind['name'].upper()}_SETTABLES"] = len(kind["settables"])
    return sizes


def _tables(
    equations: Equations, variables: Sequence[ScalarVariable], constants: Sequence[str], strings: Sequence[str]
) -> list[dict[str, Any]]:
    e = equations
    starts = [sum(len(block) for block in e.blocks[:i]) for i in range(len(e.blocks) + 1)]
    integers = {
        "quaternions": e.quaternions,
        "free_parameters": e.free,
        "fixed": [int(fixed) for fixed in e.fixed],
        "time_switches": [int(switch) for switch in e.time_switches],
        "block_starts": starts,
        "block_rows": [row for block in e.blocks for row in block],
        "indicators": [i for i, in_time in enumerate(e.time_switches) if not in_time],
        "exposed_variables": _exposed(variables),
    }
    doubles = {
        "weights": map(_c_double, e.weights),
        "nominals": map(_c_double, _nominals(equations, variables)),
        "default_parameters": map(_c_double, e.parameters),
        "default_inputs": map(_c_double, e.inputs),
        "constants": constants,
    }
    texts = {
        "equation_names": map(_c_string, e.equation_names),
        "redundant_names": map(_c_string, e.redundant_names),
        "velocity_names": map(_c_string, e.velocity_names),
        "assertion_messages": map(_c_string, e.assertion_messages),
        "strings": strings,
    }
    return [
        {"type": type_, "name": name, "entries": list(entries), "empty": empty}
        for type_, empty, group in (("int", "0", integers), ("double", "0", doubles), ("char *const", '""', texts))
        for name, entries in group.items()
    ]


def _nominals(equations: Equations, variables: Sequence[ScalarVariable]) -> list[float]:
    """Nominal values of the states, 1 where no variable gives one."""
    found = {v.index: v.nominal for v in variables if v.store == "x" and v.nominal}
    return [found.get(i, 1.0) for i in range(equations.nx)]


def _kinds(variables: Sequence[ScalarVariable], constants: list[str], strings: list[str]) -> list[dict[str, Any]]:
    """Tables of the four FMI types; `constants` and `strings` take the values of constants."""
    kinds: dict[str, dict[str, Any]] = {
        type_: {"name": type_.lower(), "plural": type_.upper() + "S", "places": [], "settables": {}}
        for type_ in ("Real", "Integer", "Boolean", "String")
    }
    for variable, reference in zip(variables, value_references(variables), strict=True):
        kind = kinds[variable.type]
        if reference == len(kind["places"]):
            index = variable.index
            if variable.store == "constant" and variable.type == "String":
                index = len(strings)
                strings.append(_c_string(str(variable.start or "")))
            elif variable.store == "constant":
                index = len(constants)
                constants.append(_c_double(float(variable.start or 0)))
            kind["places"].append(f"{_STORES[variable.store]}u << 28 | {index}")
        if entry := _settable(variable, reference):
            known = kind["settables"].get(reference)
            if known is None or _PRIORITY[entry["kind"]] < _PRIORITY[known["kind"]]:
                kind["settables"][reference] = entry
    for kind in kinds.values():
        kind["settables"] = [kind["settables"][reference] for reference in sorted(kind["settables"])]
    return list(kinds.values())


#: Among aliases, the one that allows most says how the common value is set.
_PRIORITY = {"SET_INPUT": 0, "SET_TUNABLE": 1, "SET_START": 2, "SET_STRUCTURE": 3}


def _settable(variable: ScalarVariable, reference: int) -> dict[str, Any] | None:
    index = variable.start_index
    if variable.structural:
        kind, index = "SET_STRUCTURE", 0
    elif variable.store == "u":
        kind, index = "SET_INPUT", variable.index
    elif index is None:
        return None
    elif variable.causality == "parameter" and variable.variability == "tunable":
        kind = "SET_TUNABLE"
    else:
        kind = "SET_START"
    return {"reference": reference, "kind": kind, "index": index, "name": variable.name}


def _c_double(value: float) -> str:
    """A literal that gives back the same double."""
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    if math.isnan(value):
        return "NAN"
    return repr(float(value))


def _c_string(text: str) -> str:
    """A string literal: bytes beyond printable ASCII, and what C reads as escapes, in octal."""
    plain = frozenset(b" !#$%&'()*+,-./0123456789:;<=>@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~")
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode()) + '"'


def _comment(text: str) -> str:
    return text.replace("*/", "* /")
