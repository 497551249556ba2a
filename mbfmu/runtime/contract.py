"""The contract between a System's equations and the program that runs them, as one table.

Whatever depends on it is made from it: the sizes of `Equations` and the checks of its functions, the C declarations and
wrappers that the runtime is compiled with (`header`), the layout of descriptors, tangents, and the tables in
docs/architecture/contract.md. This module imports nothing but the standard library: the runtime is compiled with it
before anything else is installed.
"""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Mapping, Sequence

#: Lengths of vectors that the shapes of the functions show, and of those that the tables show, with their C names.
SIZES = {
    "nq": "NQ",
    "nv": "NV",
    "nz": "NZ",
    "nu": "NU",
    "npar": "NPAR",
    "nd": "ND",
    "nl": "NL",
    "ng": "NG",
    "nm": "NM",
    "nheld": "NHELD",
    "ndelays": "NDELAYS",
    "npoints": "NPOINTS",
    "nsliding": "NSLIDING",
    "nresponse": "NRESPONSE",
    "nimpulses": "NIMPULSES",
    "niterations": "NITERATIONS",
    "niteration_blocks": "NITERATION_BLOCKS",
    "nstart_iterations": "NSTART_ITERATIONS",
    "nt": "NT",
    "ny": "NY",
    "ne": "NE",
    "nredundancies": "NREDUNDANCIES",
    "nposition_redundancies": "NPOSITION_REDUNDANCIES",
    "nh": "NH",
    "nX": "NUNKNOWNS",
    "nr": "NEQUATIONS",
    "nJ": "NPART_ENTRIES",
    "nparts": "NPARTS",
    "npart_unknowns": "NPART_UNKNOWNS",
    "nfree": "NFREE",
    "nquaternions": "NQUATERNIONS",
    "nblocks": "NBLOCKS",
    "nW": "NSYSTEM",
    "nentries": "NENTRIES",
    "njacobian": "NJACOBIAN",
    "nindicators": "NINDICATORS",
    "nexposed": "NEXPOSED",
    "nenclosed": "NENCLOSED",
    "nenclosed_states": "NENCLOSED_STATES",
    "nenclosed_entries": "NENCLOSED_ENTRIES",
    "ngroups": "NGROUPS",
    "npattern": "NPATTERN",
    "nconstants": "NCONSTANTS",
    "nreals": "NREALS",
    "nintegers": "NINTEGERS",
    "nbooleans": "NBOOLEANS",
    "nstrings": "NSTRINGS",
    "nreal_settables": "NREAL_SETTABLES",
    "ninteger_settables": "NINTEGER_SETTABLES",
    "nboolean_settables": "NBOOLEAN_SETTABLES",
    "nstring_settables": "NSTRING_SETTABLES",
    "explicit": "EXPLICIT",
    "solver": "SOLVER",
    "time_switching": "TIME_SWITCHES",
    "crossings_need_w": "CROSSINGS_NEED_W",
    "delayed_need_w": "DELAYED_NEED_W",
    "iterations_need_w": "ITERATIONS_NEED_W",
    "constraints_need_s": "CONSTRAINTS_NEED_S",
    "differences": "DIFFERENCES",
}

#: What follows from them; C knows each as a function of the model (`sizes_header`).
DERIVED_SIZES = {
    "NX": "NQ + NV + NZ",
    "NINPUTS": "NU - NDELAYS - NITERATIONS",
    "NDISCRETE": "NM + NHELD",
    "NW": "NV + NL",
    "NSTRUCK": "NPOINTS + NSLIDING",
    "NP": "NPAR + ND",
    "SPARSE": "NENTRIES > 0",
    "NA": "EXPLICIT ? 0 : SPARSE ? NENTRIES : NW * NW",
    "CONSTRAINED": "NL > 0 && NV > 0",
    "ALONG_FORCES": "CONSTRAINED && NJACOBIAN == 0",
    "NIMPLICIT": "SOLVER == SOLVER_EXPLICIT ? 0 : NX",
    "START_TIME": "model->tables.experiment[0]",
    "STOP_TIME": "model->tables.experiment[1]",
    "TOLERANCE": "model->tables.experiment[2]",
    "STEP_LENGTH": "model->tables.experiment[3]",
}

#: C functions of those that are no numbers of something.
_FLAGS = {
    "EXPLICIT": "is_explicit",
    "TIME_SWITCHES": "has_time_switches",
    "DIFFERENCES": "takes_differences",
    "SPARSE": "is_sparse",
    "CONSTRAINED": "is_constrained",
    "ALONG_FORCES": "projects_along_forces",
    "START_TIME": "default_start_time",
    "STOP_TIME": "default_stop_time",
    "TOLERANCE": "default_tolerance",
    "STEP_LENGTH": "fixed_step_length",
}

#: Ways of integration: by the explicit method until a model turns out to be stiff, or by one method throughout.
SOLVERS = ("auto", "explicit", "implicit")

#: What says how bodies part after an impact: the hypotheses of Newton, Poisson and Stronge.
RESTITUTIONS = ("Newton", "Poisson", "Stronge")

#: Where values live; `place` makes one number of a store and an index. `residual` is that of iteration variables,
#: `configuration` whether the importer solves for these.
STORES = ("time", "x", "u", "P", "w", "y", "constant", "indicator", "residual", "configuration")
_INDEX_BITS = 27


def place(store: str, index: int) -> int:
    """Where a value lives, as the runtime reads it."""
    return STORES.index(store) << _INDEX_BITS | index


@dataclasses.dataclass(frozen=True)
class Vector:
    """A vector of the contract: dense doubles. `size` is its length in terms of sizes (or their sum or product)."""

    size: str
    meaning: str


VECTORS = {
    "t": Vector("1", "time, s"),
    "x": Vector("nx", "states: positions q, speeds v, extra states z; nx = nq + nv + nz"),
    "u": Vector(
        "nu", "inputs, then delayed signals, then iteration variables; nu = number of inputs + ndelays + niterations"
    ),
    "s": Vector(
        "niterations", "iteration variables: the unknowns of equations that have no closed solution, the tail of u"
    ),
    "p": Vector("npar", "independent parameters, *start values included*; settable before initialisation"),
    "d": Vector("nd", "derived parameters, `d = derived(p)`; evaluated when p changed"),
    "P": Vector("nP", "`[p; d]`; nP = npar + nd"),
    "m": Vector("nM", "discrete states: modes of the switches, 0 or 1, then held values; nM = nm + nheld"),
    "w": Vector("nw", "accelerations a = dv/dt (relative: of nodes), multipliers lambda: `A w = b`; nw = nv + nl"),
    "W": Vector("nW", "unknowns of `A W = b`: w; in large loops motions and wrenches between neighbours follow"),
    "X": Vector(
        "nX", "unknowns of initialisation: `[q; v; z; free parameters]`, then w and s where some equation knows them"
    ),
    "y": Vector("ny", "every other variable: computed only when somebody asks"),
    "m_before": Vector("nM", "discrete states before an event"),
    "w_before": Vector("nw", "accelerations and multipliers with these"),
    "until": Vector("1", "the end of an interval of time that begins at t, s"),
    "x_least": Vector("nx", "what states are not less than in that interval"),
    "x_most": Vector("nx", "what they are not more than"),
    "rate_least": Vector("nx", "the same of dx/dt"),
    "rate_most": Vector("nx", "the same of dx/dt"),
    "u_least": Vector("nu", "the same of inputs"),
    "u_most": Vector("nu", "the same of inputs"),
    "look": Vector("nenclosed", "1 for each crossing of those `enclosed` that is asked about, else 0"),
    "dv": Vector("nv", "a displacement along the speeds"),
    "dt": Vector("1", "change of t in a direction"),
    "dx": Vector("nx", "change of x in a direction"),
    "du": Vector("nu", "change of u in a direction"),
    "dw": Vector("nw", "change of w in a direction"),
}


@dataclasses.dataclass(frozen=True)
class Result:
    """A result of a function: a vector, or a matrix of `rows` x `columns` in columns."""

    name: str
    rows: str
    columns: str = "1"


@dataclasses.dataclass(frozen=True)
class Signature:
    """A function of the contract. Optional ones are made from the others (`tangents.py`) or left out."""

    arguments: tuple[str, ...]
    results: tuple[Result, ...]
    meaning: str
    optional: bool = False


_AT = ("t", "x", "u", "P", "m")

FUNCTIONS = {
    "derived": Signature(("p",), (Result("d", "nd"),), "parameters that follow from others"),
    "guess": Signature(("P",), (Result("X", "nX"),), "start values of the unknowns; fixed ones are exact"),
    "initial": Signature(
        ("t", "X", "u", "P", "m"),
        (Result("r", "nr"), Result("J", "nJ")),
        "equations of initialisation; the free parameters of X take the place of those in P. J = dr/dX are the blocks "
        "of its independent parts (`initial_parts`), one after the other, each column by column; columns with "
        "`fixed[i]` are held",
    ),
    "dynamics": Signature(
        _AT,
        (Result("A", "nA"), Result("b", "nW")),
        "A [nW x nW] is neither symmetric nor definite in general: LU with partial pivoting, block by block along "
        "`blocks`. Where it is sparse, A are its values along `sparsity`, row nv + i belongs to velocity constraint i, "
        "and LU goes along `pivots`. Where `explicit`: A empty, and w itself in place of b. Where `nredundancies`: A "
        "has no inverse, and w has the multipliers of least norm",
    ),
    "derivatives": Signature((*_AT, "w"), (Result("dx", "nx"),), "dx/dt"),
    "displacement": Signature(("t", "x", "P", "dv"), (Result("dq", "nq"),), "N(q) dv, where dq/dt = N(q) v"),
    "constraints": Signature(
        _AT,
        (Result("g", "ng"), Result("c", "nl"), Result("G", "njacobian")),
        "position residuals g; velocity residuals c (the first ng are dg/dt); G = dc/dv [nl x nv], or "
        "nothing: then constraints are met along their forces, with the factors of A",
    ),
    "redundant": Signature(
        _AT,
        (Result("e", "ne"),),
        "residuals of dropped, dependent position rows: all 0 while the dropping holds",
    ),
    "next_times": Signature(
        ("t", "P", "m"),
        (Result("te", "nt"),),
        "instants where something jumps or kinks in time: the first that lies after t is the least of those that do",
    ),
    "crossings": Signature(
        (*_AT, "w"),
        (Result("c", "nm"),),
        "a switch has mode 1 while c >= 0; c may depend on its own mode (hysteresis)",
    ),
    "held": Signature(("P",), (Result("k", "nheld"),), "held values before the start"),
    "update": Signature(
        (*_AT, "w", "m_before", "w_before"),
        (Result("k", "nheld"), Result("xe", "nx")),
        "what held values k and states xe become at an event: k = update(..., m = [modes; k], ...) is solved, "
        "again and again with m_before = m, until nothing changes",
    ),
    "delayed": Signature(
        (*_AT, "w"),
        (Result("signals", "ndelays"),),
        "the signals that are delayed, as they are",
    ),
    "delays": Signature(
        _AT,
        (Result("T", "ndelays"), Result("T_most", "ndelays")),
        "by how much they are delayed, and the most that it may become, s",
    ),
    "iteration_guess": Signature(("P",), (Result("s", "niterations"),), "where iteration variables begin"),
    "iterations": Signature(
        (*_AT, "w"),
        (Result("r", "niterations"), Result("J", "niterations", "niterations")),
        "residuals whose zero the iteration variables are, block by block along `iteration_starts`: those of a block "
        "depend on variables of its own and of blocks before it; J = dr/ds with w held",
    ),
    "variables": Signature((*_AT, "w"), (Result("y", "ny"),), "all that is seen beside t, x, u, P and w"),
    "assertions": Signature((*_AT, "w"), (Result("h", "nh"),), "each must be >= 0; `assertion_messages` names it"),
    "dynamics_tangent": Signature(
        (*_AT, "W", "dt", "dx", "du"),
        (Result("dW", "nW"),),
        "d(b - A W) along a direction with W held; where `explicit`, dw itself. Left out where dynamics call shared "
        "functions and nothing switches: then the runtime takes differences",
        optional=True,
    ),
    "derivatives_tangent": Signature(
        (*_AT, "w", "dt", "dx", "du", "dw"),
        (Result("change", "nx"),),
        "change of dx/dt along a direction",
        optional=True,
    ),
    "exposed_tangent": Signature(
        (*_AT, "w", "dt", "dx", "du", "dw"),
        (Result("dy", "nexposed"),),
        "change of the outputs and state derivatives among y along a direction",
        optional=True,
    ),
    "iterations_tangent": Signature(
        (*_AT, "w", "dt", "dx", "du", "dw"),
        (Result("dr", "niterations"),),
        "change of the residuals of iteration variables along a direction; left out where there are none",
        optional=True,
    ),
    "crossing_bounds": Signature(
        ("t", "until", "x_least", "x_most", "u_least", "u_most", "P", "m", "look"),
        (Result("least", "nenclosed"), Result("most", "nenclosed")),
        "bounds of the crossings `enclosed` from t to `until`, where states and inputs are within theirs, and anything "
        "for those that nobody looks at; left out where none is enclosed",
        optional=True,
    ),
    "crossing_slopes": Signature(
        ("t", "until", "x_least", "x_most", "rate_least", "rate_most", "u_least", "u_most", "du", "P", "m", "look"),
        (Result("slope_least", "nenclosed"), Result("slope_most", "nenclosed")),
        "bounds of their derivatives along time, where rates of states are within theirs, too, and inputs change by du "
        "per second",
        optional=True,
    ),
    "impacts": Signature(
        (*_AT, "w"),
        (
            Result("M", "nresponse"),
            Result("V", "nstruck", "nv"),
            Result("gap", "npoints"),
            Result("velocity", "nstruck"),
            Result("rate", "nstruck"),
            Result("normal", "nsliding"),
            Result("touching", "npoints"),
            Result("resting", "npoints"),
            Result("restitution", "npoints"),
            Result("slow", "npoints"),
            Result("mu_s", "npoints"),
            Result("mu_k", "npoints"),
        ),
        "of points at which speeds may jump, and which may stay closed: M = A of the dense form [nw x nw]; gaps, which "
        "drift; velocities of the rows, first along the normals of all points, then along world axes in the planes "
        "across the normals of those that rub, with V = d velocity/dv, and how they grow per second under w; may a "
        "point be struck, may it stay closed; its coefficients of restitution, of static and of kinetic friction, and "
        "the speed below which nothing is struck. Left out where there are no points",
        optional=True,
    ),
}

#: The functions that a System has, in the order of descriptors and files.
REQUIRED = tuple(name for name, signature in FUNCTIONS.items() if not signature.optional)

#: Those that give bounds of crossings.
ENCLOSURES = ("crossing_bounds", "crossing_slopes")


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of a descriptor: `kind` is int, double, text or name (that of a variable).

    Entries of int lie between two bounds, all in C.
    """

    kind: str
    length: str
    bounds: tuple[str, str] = ("INT_MIN", "INT_MAX")


#: What setting a variable changes: the values of the tables `..._settings`.
SETTINGS = ("SET_INPUT", "SET_TUNABLE", "SET_START", "SET_STRUCTURE", "SET_CONFIGURATION")


def _settables(kind: str) -> dict[str, Table]:
    """What can be set, by value reference, in four columns; structural choices are listed to say what can be done."""
    length = f"N{kind.upper()}_SETTABLES"
    return {
        f"{kind}_places": Table("int", f"N{kind.upper()}S"),
        f"{kind}_lengths": Table("int", f"N{kind.upper()}S", ("0", f"N{kind.upper()}S")),
        f"{kind}_references": Table("int", length, ("0", f"N{kind.upper()}S - 1")),
        f"{kind}_settings": Table("int", length, ("0", str(len(SETTINGS) - 1))),
        f"{kind}_indices": Table("int", length, ("0", "INT_MAX")),
        f"{kind}_least": Table("double", length),
        f"{kind}_most": Table("double", length),
        f"{kind}_names": Table("name", f"N{kind.upper()}S"),
    }


#: All tables of a descriptor, in their order in it.
TABLES = {
    "identity": Table("text", "2"),
    "experiment": Table("double", "4"),
    "quaternions": Table("int", "NQUATERNIONS", ("0", "NQ - 4")),
    "free_parameters": Table("int", "NFREE", ("0", "NPAR - 1")),
    "fixed": Table("int", "NUNKNOWNS", ("0", "1")),
    "given": Table("int", "NUNKNOWNS", ("0", "1")),
    "time_switches": Table("int", "NM", ("0", "1")),
    "block_starts": Table("int", "NBLOCKS + 1", ("0", "NW")),
    "block_rows": Table("int", "NW", ("0", "NW - 1")),
    "entry_rows": Table("int", "NENTRIES", ("0", "NSYSTEM - 1")),
    "entry_columns": Table("int", "NENTRIES", ("0", "NSYSTEM - 1")),
    "pivot_rows": Table("int", "SPARSE ? NSYSTEM : 0", ("0", "NSYSTEM - 1")),
    "pivot_columns": Table("int", "SPARSE ? NSYSTEM : 0", ("0", "NSYSTEM - 1")),
    "indicators": Table("int", "NINDICATORS", ("0", "NM - 1")),
    "exposed_variables": Table("int", "NEXPOSED", ("0", "NY - 1")),
    "enclosed": Table("int", "NENCLOSED", ("0", "NM - 1")),
    "enclosed_kinds": Table("int", "NENCLOSED", ("0", "2")),
    "enclosed_states": Table("int", "NENCLOSED_STATES", ("0", "NX - 1")),
    "enclosed_starts": Table("int", "NENCLOSED_STATES + 1", ("0", "NENCLOSED_ENTRIES")),
    "enclosed_rows": Table("int", "NENCLOSED_ENTRIES", ("0", "NENCLOSED - 1")),
    "boxed": Table("int", "NENCLOSED", ("0", "1")),
    "column_groups": Table("int", "NGROUPS ? NX : 0", ("0", "NGROUPS - 1")),
    "column_starts": Table("int", "NGROUPS ? NX + 1 : 0", ("0", "NPATTERN")),
    "column_rows": Table("int", "NPATTERN", ("0", "NX - 1")),
    "part_rows": Table("int", "NPARTS + 1", ("0", "NEQUATIONS")),
    "part_columns": Table("int", "NPARTS + 1", ("0", "NPART_UNKNOWNS")),
    "part_unknowns": Table("int", "NPART_UNKNOWNS", ("0", "NUNKNOWNS - 1")),
    "weights": Table("double", "NUNKNOWNS"),
    "constraint_sizes": Table("double", "NREDUNDANCIES ? NL : 0"),
    "nominals": Table("double", "NX"),
    "default_parameters": Table("double", "NPAR"),
    "default_inputs": Table("double", "NU"),
    "constants": Table("double", "NCONSTANTS"),
    "unknown_names": Table("text", "NUNKNOWNS"),
    "equation_names": Table("text", "NEQUATIONS"),
    "equation_sizes": Table("double", "NEQUATIONS"),
    "equation_stages": Table("int", "NEQUATIONS", ("0", "2")),
    "velocity_names": Table("text", "NL"),
    "redundant_names": Table("text", "NE"),
    "assertion_messages": Table("text", "NH"),
    "endings": Table("int", "NH", ("0", "1")),
    "switch_names": Table("text", "NM"),
    "held_names": Table("text", "NHELD"),
    "point_names": Table("text", "NPOINTS"),
    "point_laws": Table("int", "NPOINTS", ("0", str(len(RESTITUTIONS) - 1))),
    "point_modes": Table("int", "NPOINTS", ("0", "NHELD - 1")),
    "point_sliding": Table("int", "NPOINTS", ("-1", "NSTRUCK - 1")),
    "struck_speeds": Table("int", "NSTRUCK", ("0", "NV - 1")),
    "impulse_speeds": Table("int", "NIMPULSES", ("0", "NV - 1")),
    "delay_names": Table("text", "NDELAYS"),
    "fixed_delays": Table("int", "NDELAYS", ("0", "1")),
    "iteration_starts": Table("int", "NITERATION_BLOCKS + 1", ("0", "NITERATIONS")),
    "iteration_names": Table("text", "NITERATIONS"),
    "iteration_nominals": Table("double", "NITERATIONS"),
    "strings": Table("text", "NSTRINGS"),
    **_settables("real"),
    **_settables("integer"),
    **_settables("boolean"),
    **_settables("string"),
}

#: Name of the descriptor's file in the resources of an FMU.
DESCRIPTOR_FILE = "model.mbfmu"

#: Instructions of tapes in a descriptor, by the names of CasADi's operations, and what they do in C with their operands
#: a and b: the interpreters and all compiled equations have it from here.
OPERATIONS = {
    "CONST": "", "INPUT": "", "OUTPUT": "a", "ADD": "a + b", "SUB": "a - b", "MUL": "a * b",
    "DIV": "a / b", "NEG": "-a", "INV": "1 / a", "SQ": "a * a", "TWICE": "2 * a", "SQRT": "sqrt(a)",
    "POW": "pow(a, b)", "CONSTPOW": "pow(a, b)", "EXP": "exp(a)", "LOG": "log(a)", "LOG1P": "log1p(a)",
    "EXPM1": "expm1(a)", "SIN": "sin(a)", "COS": "cos(a)", "TAN": "tan(a)", "ASIN": "asin(a)", "ACOS": "acos(a)",
    "ATAN": "atan(a)", "ATAN2": "atan2(a, b)", "SINH": "sinh(a)", "COSH": "cosh(a)", "TANH": "tanh(a)",
    "ASINH": "asinh(a)", "ACOSH": "acosh(a)", "ATANH": "atanh(a)", "HYPOT": "hypot(a, b)", "FABS": "fabs(a)",
    "SIGN": "a < 0 ? -1 : a > 0 ? 1 : a", "COPYSIGN": "copysign(a, b)", "FLOOR": "floor(a)", "CEIL": "ceil(a)",
    "FMOD": "fmod(a, b)", "FMIN": "fmin(a, b)", "FMAX": "fmax(a, b)", "LT": "a < b", "LE": "a <= b", "EQ": "a == b",
    "NE": "a != b", "NOT": "!a", "AND": "a && b", "OR": "a || b", "IF_ELSE_ZERO": "a != 0 ? b : 0",
}  # fmt: skip

#: Those of them that vectors of C compilers have as numbers do.
ARITHMETIC = ("ADD", "SUB", "MUL", "DIV", "NEG", "INV", "SQ", "TWICE")


def operands(operation: str) -> int:
    """How many operands an operation has, 0 to 2."""
    return len(set(re.findall(r"\b[ab]\b", OPERATIONS[operation])))


#: Instructions behind these: a call of another tape, and one of its results.
CALL, RESULT = len(OPERATIONS), len(OPERATIONS) + 1

#: Number of the form that tables and tapes have in a descriptor.
FORM = 6


def length(size: str, sizes: dict[str, int]) -> int:
    """Evaluate a length of the tables above, such as `nw`, with the sizes of a model."""
    q, v, z, wl = (sizes[name] for name in ("nq", "nv", "nz", "nl"))
    derived = {"1": 1, "nx": q + v + z, "nP": sizes["npar"] + sizes["nd"], "nw": v + wl}
    derived["nM"] = sizes["nm"] + sizes["nheld"]
    derived["nstruck"] = sizes["npoints"] + sizes["nsliding"]
    derived["nA"] = 0 if sizes["explicit"] else sizes["nentries"] or derived["nw"] ** 2
    return derived[size] if size in derived else sizes[size]


def shape(name: str, sizes: dict[str, int]) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """Lengths of a function's arguments, and rows and columns of its results, with the sizes of a model."""
    signature = FUNCTIONS[name]
    arguments = tuple(length(VECTORS[argument].size, sizes) for argument in signature.arguments)
    results = tuple((length(result.rows, sizes), length(result.columns, sizes)) for result in signature.results)
    return arguments, results


def header() -> str:
    """Return `contract.h`: what the runtime's C code knows of the contract."""
    lines = ["/* The contract of mbfmu/runtime/contract.py: sizes, tables and functions of a model. */", ""]
    lines += ["#ifndef CONTRACT_H", "#define CONTRACT_H"]
    lines += ["", "enum {", *(f"    SIZE_{name}," for name in SIZES), "    SIZES", "};", ""]
    lines += [f"#define SOLVER_{name.upper()} {value}" for value, name in enumerate(SOLVERS)]
    lines += ["", f"enum {{ {', '.join(f'STORE_{store.upper()}' for store in STORES)}, INDEX_BITS = {_INDEX_BITS} }};"]
    lines += ["", f"enum {{ {', '.join(SETTINGS)} }};"]
    lines += ["", f"enum {{ {', '.join(law.upper() for law in RESTITUTIONS)} }};"]
    lines += ["", "enum {", *(f"    FUNCTION_{name}," for name in FUNCTIONS), "    FUNCTIONS", "};"]
    most = [max(len(getattr(f, what)) for f in FUNCTIONS.values()) for what in ("arguments", "results")]
    lines += ["", f"enum {{ MOST_ARGUMENTS = {most[0]}, MOST_RESULTS = {most[1]} }};"]
    lines += ["", f'#define DESCRIPTOR_FILE "{DESCRIPTOR_FILE}"']
    lines += ["", f"#define CONTRACT 0x{contract_number():08x}u", ""]
    names = (*OPERATIONS, "CALL", "RESULT")
    lines += ["enum {", *(f"    TAPE_{name}," for name in names), "    TAPE_OPERATIONS", "};", ""]
    plain = [name for name in OPERATIONS if name not in ("CONST", "INPUT", "OUTPUT")]
    lines += ["/* Operands of operations, and what they do with them: RUN in arithmetic, FUNCTION otherwise. */"]
    lines += ["#define TAPE_OPERANDS \\"]
    lines += [" \\\n".join(f"    OPERANDS(TAPE_{name}, {operands(name)})" for name in plain), "#define TAPE_RUNS \\"]
    kinds = {name: "RUN" if name in ARITHMETIC else "FUNCTION" for name in plain}
    rows = [f"    {kinds[name]}(TAPE_{name}, {operands(name)}, {OPERATIONS[name]})" for name in plain]
    lines += [" \\\n".join(rows), ""]
    lines += ["typedef struct {"]
    types = {"int": "int *", "double": "double *", "text": "char **", "name": "char *"}
    lines += [f"    const {types[table.kind]}{name};" for name, table in TABLES.items()]
    return "\n".join([*lines, "} Tables;", "", "#endif", ""])


def model_header(
    title: str,
    compiled: Mapping[str, Sequence[str]] | None = None,
    tapes: int | None = None,
    further: Sequence[str] = (),
) -> str:
    """Return `model.h`: what the runtime's C code knows of the model that it is compiled for.

    Args:
        title: What the first comment says.
        compiled: By name, definitions of how compiled functions are called; all others are tapes.
        tapes: How many are; None: all.
        further: Definitions beside these.
    """
    compiled = compiled or {}
    lines = [f"/* {title} */", "", "#ifndef MODEL_H", "#define MODEL_H", "", *further, ""]
    lines += [f"#define TAPES {'FUNCTIONS' if tapes is None else tapes}", ""]
    for name, signature in FUNCTIONS.items():
        lines += compiled[name] if name in compiled else _call_of_tape(name, signature)
    return "\n".join([*lines, "", "#endif", ""])


def sizes_header(sizes: Mapping[str, int] | None = None) -> str:
    """Return `sizes.h`: the sizes of a model as functions of it.

    Those of one model are constants, so that C compilers see through all loops; those of any are its fields.
    """
    which = "any model: its fields" if sizes is None else "one model: constants"
    lines = [f"/* Sizes of {which} (mbfmu/runtime/contract.py). runtime.h includes this. */", ""]
    lines += ["#ifndef SIZES_H", "#define SIZES_H", "", '#include "runtime.h"', ""]
    for name, symbol in SIZES.items():
        value = f"model->sizes[SIZE_{name}]" if sizes is None else f"(void)model, {sizes[name]}"
        lines.append(f"static inline int {_function(symbol)}(const Model *model) {{ return {value}; }}")
    lines.append("")
    for symbol, expression in DERIVED_SIZES.items():
        kind = "double" if "experiment" in expression else "int"
        lines.append(f"static inline {kind} {_function(symbol)}(const Model *model) {{ return {in_c(expression)}; }}")
    return "\n".join([*lines, "", "#endif", ""])


def _function(symbol: str) -> str:
    """The C function that gives a size."""
    return _FLAGS.get(symbol, symbol.lower())


def in_c(expression: str, model: str = "model") -> str:
    """Write an expression of sizes in C, where `model` is the model that has them."""
    known = {*SIZES.values(), *DERIVED_SIZES}
    return re.sub(r"\b[A-Z_]+\b", lambda f: f"{_function(f[0])}({model})" if f[0] in known else f[0], expression)


def _call_of_tape(name: str, signature: Signature) -> list[str]:
    upper, at = name.upper(), f"FUNCTION_{name}"
    return [
        f"#define CALL_{upper}(s, arg, res) \\",
        f"    run_tape(s->model, s->model->tapes + {at}, arg, res, s->functions.work, s->functions.prepared + {at})",
        f"#define ARG_{upper} {len(signature.arguments)}",
        f"#define RES_{upper} {len(signature.results)}",
    ]


def any_model() -> str:
    """Return `model.h` of libraries for any model."""
    further = [
        "/* Scratch of compiled functions: there are none. */",
        "#define COMPILED_WORK 0",
        "",
        "/* Dense matrices may have more than 8 rows. */",
        "#define LARGE_MATRICES 1",
    ]
    return model_header("Any model: sizes are its fields, functions are tapes.", further=further)


def readers() -> str:
    """Return `contract.c`: the reader of a descriptor's tables, and the shapes of functions."""
    lines = ["/* Tables and functions of mbfmu/runtime/contract.py. */", ""]
    lines += ['#include "descriptor.h"', "", "#include <limits.h>", "", '#include "optimize.h"', "", "SMALL", ""]
    lines += ["INTERNAL int read_tables(Reader *s)"]
    lines += ["{", "    Tables *tables = &s->model->tables;"]
    for name, table in TABLES.items():
        bounds = f", {table.bounds[0]}, {table.bounds[1]}" if table.kind == "int" else ""
        length = in_c(f"{table.length}{bounds}", "s->model")
        lines.append(f"    if (!read_{table.kind}s(s, &tables->{name}, {length})) return 0;")
    lines += ["    return 1;", "}", ""]
    lines += ["INTERNAL void function_shape(const Reader *s, int function, Shape *shape)", "{"]
    lines += ["    switch (function) {"]
    for name, signature in FUNCTIONS.items():
        lines.append(f"    case FUNCTION_{name}:")
        arguments, results = signature.arguments, signature.results
        lines += [f"        shape->narguments = {len(arguments)};", f"        shape->nresults = {len(results)};"]
        lines += [f"        shape->parameters = {arguments.index('P') if 'P' in arguments else -1};"]
        lines += [f"        shape->arguments[{i}] = {_length_in_c(VECTORS[a].size)};" for i, a in enumerate(arguments)]
        lines += [f"        shape->results[{i}] = {_product(result)};" for i, result in enumerate(results)]
        lines.append("        break;")
    return "\n".join([*lines, "    }", "}", "", "QUICK", ""])


def wrappers() -> str:
    """Return `functions.c`: a call of each function. All return 0 where they succeed."""
    lines = ["/* Calls of a model's functions (mbfmu/runtime/contract.py). */", "", '#include "functions.h"', ""]
    lines += ['#include "optimize.h"', '#include "tape.h"', "", "/* Those that are compiled. */"]
    lines += ["#ifdef EQUATIONS", "#include EQUATIONS", "#endif", ""]
    for name, signature in FUNCTIONS.items():
        lines += _wrapper(name, signature)
    return "\n".join(lines)


def wrapper_declarations() -> str:
    """Return `functions.h`: declarations of the calls in `functions.c`."""
    lines = ["/* Calls of a model's functions (mbfmu/runtime/contract.py); each returns 0 where it succeeds. */", ""]
    lines += ["#ifndef FUNCTIONS_H", "#define FUNCTIONS_H", "", '#include "runtime.h"', ""]
    lines += [f"{_wrapper(name, signature)[0]};" for name, signature in FUNCTIONS.items()]
    return "\n".join([*lines, "", "#endif", ""])


def _wrapper(name: str, signature: Signature) -> list[str]:
    """The C function `eval_NAME`: argument and result lists around a call. t and P need no argument of their own."""
    own = {"p": "s->given.P", "P": "s->given.P"}
    scalars = ("t", "dt", "until")
    parameters = ["Instance *s"]
    parameters += [f"double {a}" if a in scalars else f"const double *{a}" for a in signature.arguments if a not in own]
    parameters += [f"double *{_result(signature, result)}" for result in signature.results]
    arguments = ", ".join(f"&{a}" if a in scalars else own.get(a, a) for a in signature.arguments)
    results = ", ".join(_result(signature, result) for result in signature.results)
    upper = name.upper()
    return [
        f"INTERNAL int eval_{name}({', '.join(parameters)})",
        "{",
        f"    const double *arg[ARG_{upper}] = {{{arguments}}};",
        f"    double *res[RES_{upper}] = {{{results}}};",
        f"    return CALL_{upper}(s, arg, res);",
        "}",
        "",
    ]


def lane_wrappers() -> str:
    """Return `lane_functions.c`: calls of the functions that trials in lanes need (templates/runtime/lanes.c)."""
    lines = ["/* Calls of a model's functions in lanes (mbfmu/runtime/contract.py), as those of functions.c. */", ""]
    for name in ("dynamics", "derivatives"):
        signature = FUNCTIONS[name]
        scalars = ("t",)
        parameters = ["LANE(Lanes) *s"]
        parameters += [f"V {a}" if a in scalars else f"const V *{a}" for a in signature.arguments if a != "P"]
        parameters += [f"V *{result.name}" for result in signature.results]
        arguments = ", ".join(f"&{a}" if a in scalars else "s->P" if a == "P" else a for a in signature.arguments)
        results = ", ".join(result.name for result in signature.results)
        lines += [
            f"static int LANE(eval_{name})({', '.join(parameters)})",
            "{",
            f"    const V *arg[{len(signature.arguments)}] = {{{arguments}}};",
            f"    V *res[{len(signature.results)}] = {{{results}}};",
            f"    const Tape *tape = s->model->tapes + FUNCTION_{name};",
            f"    return LANE(run_tape)(s->model, tape, arg, res, s->work, s->prepared + FUNCTION_{name});",
            "}",
            "",
        ]
    return "\n".join(lines)


def _result(signature: Signature, result: Result) -> str:
    taken = (*signature.arguments, "s")  # s is the instance
    return f"{result.name}_" if result.name in taken else result.name


def _length_in_c(size: str) -> str:
    """A length in C, of the model `s->model`."""
    names = {**SIZES, "nx": "NX", "nP": "NP", "nw": "NW", "nA": "NA", "nM": "NDISCRETE", "nstruck": "NSTRUCK"}
    return in_c(names.get(size, size), "s->model")


def _product(result: Result) -> str:
    if result.name == "G":
        return in_c("(size_t)NJACOBIAN", "s->model")
    rows = f"(size_t){_length_in_c(result.rows)}"
    return rows if result.columns == "1" else f"{rows} * {_length_in_c(result.columns)}"


def page() -> str:
    """Return the tables of vectors and functions as docs/architecture/contract.md shows them."""
    lines = ["| vector | size | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {vector.size} | {vector.meaning} |" for name, vector in VECTORS.items()]
    lines += ["", "| function | results | note |", "|---|---|---|"]
    for name, signature in FUNCTIONS.items():
        shapes = (f"{r.rows} x {r.columns}" if r.columns != "1" else r.rows for r in signature.results)
        results = ", ".join(f"{r.name} [{shape}]" for r, shape in zip(signature.results, shapes, strict=True))
        lines.append(f"| `{name}({', '.join(signature.arguments)})` | {results} | {signature.meaning} |")
    return "\n".join(lines)


def contract_number() -> int:
    """A number that changes with the contract: a descriptor is read by the runtime that it was written for."""
    text = repr(
        (FORM, SIZES, FUNCTIONS, TABLES, SOLVERS, RESTITUTIONS, STORES, _INDEX_BITS, SETTINGS, tuple(OPERATIONS))
    )
    return zlib.crc32(re.sub(r"meaning='[^']*'|meaning=\"[^\"]*\"", "", text).encode())


def sources() -> dict[str, str]:
    """The C files that are made from the contract, by name."""
    return {
        "contract.h": header(),
        "contract.c": readers(),
        "model.h": any_model(),
        "sizes.h": sizes_header(),
        "functions.h": wrapper_declarations(),
        "functions.c": wrappers(),
        "lane_functions.c": lane_wrappers(),
    }
