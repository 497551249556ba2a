"""Descriptors: a model as one block of bytes, all that the C runtime has to know of it.

Behind a header (a mark, the number of the contract, length and checksum) stand the sizes, the tables and the tapes of
mbfmu/runtime/contract.py, in its order, each beginning at a multiple of 8 bytes; numbers are little-endian.
"""

from __future__ import annotations

import array
import bisect
import functools
import itertools
import math
import struct
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.runtime import contract
from mbfmu.runtime.calls import has_calls
from mbfmu.runtime.columns import Columns
from mbfmu.runtime.enclosures import Enclosed
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.references import value_references
from mbfmu.runtime.tangents import names_of_tangents, tangents
from mbfmu.runtime.tape import Tapes, tape
from mbfmu.runtime.variables import ScalarVariable

_MARK = b"mbfmu\r\n\x1a"
_KINDS = ("real", "integer", "boolean", "string")
_SETTINGS = {setting: number for number, setting in enumerate(contract.SETTINGS)}


def functions_of(equations: Equations, variables: Sequence[ScalarVariable]) -> dict[str, ca.Function]:
    """All functions that the runtime calls, by name, in the order of the contract."""
    found = {**equations.functions, **tangents(equations, exposed(variables)), **Enclosed.of(equations).functions}
    return {name: found[name] for name in contract.FUNCTIONS if name in found}


def names_of_functions(equations: Equations) -> tuple[str, ...]:
    """Names of the functions that `functions_of` gives."""
    points = ("impacts",) if equations.npoints else ()
    return (*contract.REQUIRED, *names_of_tangents(equations), *Enclosed.of(equations).functions, *points)


def exposed(variables: Sequence[ScalarVariable]) -> list[int]:
    """Indices in y of outputs and state derivatives: what directional derivatives are asked of."""
    return sorted({v.index for v in variables if v.store == "y" and (v.causality == "output" or v.derivative_of)})


def descriptor(
    equations: Equations,
    variables: Sequence[ScalarVariable],
    guid: str = "",
    lengths: Sequence[int] | None = None,
) -> bytes:
    """Return the descriptor of a model.

    Args:
        equations, variables: The model, and its variables in the order of modelDescription.xml, whose value references
            they share.
        guid: Fingerprint that an importer has to know.
        lengths: Parallel to `variables`, where an importer knows arrays: the number of elements of the one that begins
            there, 0 within one; each variable has a reference of its own then. None: all are scalars, and aliases share
            references.
    """
    functions = functions_of(equations, variables)
    tables = tables_of(equations, variables, guid, lengths)
    return packed(sizes_of(equations, tables), tables, functions)


def packed(
    sizes: Mapping[str, int],
    tables: Mapping[str, Sequence[Any]],
    functions: Mapping[str, ca.Function],
    compiled: Collection[str] = (),
) -> bytes:
    """Sizes, tables and functions as a descriptor; functions that are compiled beside it are no tapes in it."""
    parts = [_integers(sizes[name] for name in contract.SIZES)]
    for name, table in contract.TABLES.items():
        parts.append(_WRITERS[table.kind](tables[name]))
    tapes = Tapes()
    own = [
        struct.pack("<4i", 0, 0, 0, 0) if name in compiled or name not in functions else _tape(tapes, functions[name])
        for name in contract.FUNCTIONS
    ]
    parts += [_integers([len(tapes.called)]), *tapes.called, *own]
    body = b"".join(parts)
    return struct.pack("<8sIIQ", _MARK, contract.contract_number(), len(body) // 8, checksum(body)) + body


def sizes_of(equations: Equations, tables: Mapping[str, Sequence[Any]]) -> dict[str, int]:
    """All sizes of the contract, by name."""
    return {
        **equations.sizes,
        "nfree": len(equations.free),
        "niteration_blocks": len(tables["iteration_starts"]) - 1,
        "nimpulses": len(equations.impulse_speeds),
        "nquaternions": len(equations.quaternions),
        "nblocks": len(tables["block_starts"]) - 1,
        "nindicators": len(tables["indicators"]),
        "nexposed": len(tables["exposed_variables"]),
        "nenclosed": len(tables["enclosed"]),
        "nenclosed_states": len(tables["enclosed_states"]),
        "nenclosed_entries": len(tables["enclosed_rows"]),
        "ngroups": max(tables["column_groups"], default=-1) + 1,
        "npattern": len(tables["column_rows"]),
        "nconstants": len(tables["constants"]),
        **{f"n{kind}s": len(tables[f"{kind}_places"]) for kind in _KINDS},
        **{f"n{kind}_settables": len(tables[f"{kind}_references"]) for kind in _KINDS},
        "solver": contract.SOLVERS.index(equations.solver),
        "time_switching": int(any(equations.time_switches)),
        "crossings_need_w": int(equations.crossings_need_w),
        "delayed_need_w": int(equations.delayed_need_w),
        "iterations_need_w": int(equations.iterations_need_w),
        "constraints_need_s": int(equations.constraints_need_s),
        "differences": int("dynamics_tangent" not in names_of_tangents(equations)),
    }


def checksum(data: bytes) -> int:
    """Sum of the words of 8 bytes, each with an odd weight of its own: no change of one word goes unseen."""
    words = np.frombuffer(data, dtype="<u8")
    weights = np.arange(words.size, 0, -1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C14) + np.uint64(1)
    return int(np.sum(words * weights, dtype=np.uint64))


def _tape(tapes: Tapes, function: ca.Function) -> bytes:
    """A function as one of several tapes."""
    return _padded(tapes.of(function)) if has_calls(function) else cached_tape(function)


@functools.lru_cache(maxsize=256)
def cached_tape(function: ca.Function) -> bytes:
    """A function that calls none as the tape of a descriptor, made once."""
    return _padded(tape(function))


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def _integers(values: Any) -> bytes:
    return _padded(array.array("i", values).tobytes())


def _doubles(values: Any) -> bytes:
    return array.array("d", values).tobytes()


def _texts(values: Sequence[str]) -> bytes:
    content = b"".join(text.replace("\0", "").encode() + b"\0" for text in values)
    return struct.pack("<II", len(content), 0) + _padded(content)


def _names(values: Sequence[str]) -> bytes:
    """Names of variables: a byte that says how much of the name before is the begin of this one, then its rest.

    As they are, they would be up to a fifth of the library of a large model.
    """
    parts, before = [], b""
    for value in values:
        name = value.replace("\0", "").encode()
        lengths = range(1, min(len(before), len(name), 255) + 1)
        shared = bisect.bisect(lengths, False, key=lambda length: before[:length] != name[:length])
        parts.append(bytes([shared]) + name[shared:] + b"\0")
        before = name
    content = b"".join(parts)
    return struct.pack("<II", len(content), 0) + _padded(content)


#: How tables are written, by their kinds.
_WRITERS = {"int": _integers, "double": _doubles, "text": _texts, "name": _names}


def tables_of(
    equations: Equations, variables: Sequence[ScalarVariable], guid: str, lengths: Sequence[int] | None = None
) -> dict[str, Sequence[Any]]:
    """All tables of the contract, by name."""
    e = equations
    blocks = [block for block in e.blocks if block]
    ninputs = e.nu - e.ndelays - e.niterations
    kinds, constants, strings = _tables_of_variables(variables, lengths, ninputs)
    switches = e.switch_names or tuple(f"switch {i}" for i in range(len(e.time_switches)))
    held = e.held_names or tuple(f"held value {i}" for i in range(e.nheld))
    enclosed, columns = Enclosed.of(e), Columns.of(e)
    return {
        "identity": (e.name, guid),
        "experiment": (e.start_time, e.stop_time, e.tolerance, e.fixed_step),
        "quaternions": e.quaternions,
        "free_parameters": e.free,
        "fixed": [int(fixed) for fixed in e.fixed],
        "given": [int(given) for given in e.given or (False,) * len(e.fixed)],
        "time_switches": [int(switch) for switch in e.time_switches],
        "block_starts": [sum(len(block) for block in blocks[:i]) for i in range(len(blocks) + 1)],
        "block_rows": [row for block in blocks for row in block],
        "entry_rows": [row for row, _ in e.sparsity],
        "entry_columns": [column for _, column in e.sparsity],
        "pivot_rows": [row for row, _ in e.pivots],
        "pivot_columns": [column for _, column in e.pivots],
        "indicators": [i for i, in_time in enumerate(e.time_switches) if not in_time],
        "exposed_variables": exposed(variables),
        "enclosed": enclosed.rows,
        "enclosed_kinds": enclosed.kinds,
        "enclosed_states": enclosed.states,
        "enclosed_starts": list(itertools.accumulate(map(len, enclosed.rows_of_states), initial=0)),
        "enclosed_rows": [row for rows in enclosed.rows_of_states for row in rows],
        "boxed": [int(boxed) for boxed in enclosed.boxed],
        "column_groups": columns.groups,
        "column_starts": columns.starts,
        "column_rows": columns.rows,
        "part_rows": list(itertools.accumulate((part.rows for part in e.initial_parts), initial=0)),
        "part_columns": list(itertools.accumulate((len(part.unknowns) for part in e.initial_parts), initial=0)),
        "part_unknowns": [unknown for part in e.initial_parts for unknown in part.unknowns],
        "weights": e.weights,
        "constraint_sizes": e.constraint_sizes,
        "nominals": e.nominals or (1.0,) * e.nx,
        "default_parameters": e.parameters,
        "default_inputs": e.inputs,
        "constants": constants,
        "unknown_names": e.unknown_names,
        "equation_names": e.equation_names,
        "equation_stages": e.equation_stages or (2,) * len(e.equation_names),
        "equation_sizes": e.equation_sizes or (1.0,) * len(e.equation_names),
        "velocity_names": e.velocity_names,
        "redundant_names": e.redundant_names,
        "assertion_messages": e.assertion_messages,
        "endings": [int(ends) for ends in e.endings or (False,) * e.nh],
        "switch_names": switches,
        "held_names": held,
        "point_names": [point.name for point in e.points],
        "point_laws": [contract.RESTITUTIONS.index(point.restitution) for point in e.points],
        "point_modes": [point.modes for point in e.points],
        "point_sliding": [point.sliding for point in e.points],
        "struck_speeds": e.struck_speeds,
        "impulse_speeds": e.impulse_speeds,
        "delay_names": e.delay_names or tuple(f"delay {i}" for i in range(e.ndelays)),
        "fixed_delays": [int(fixed) for fixed in e.fixed_delays or (False,) * e.ndelays],
        "iteration_starts": list(itertools.accumulate(e.iteration_blocks, initial=0)),
        "iteration_names": e.iteration_names or tuple(f"iteration variable {i}" for i in range(e.niterations)),
        "iteration_nominals": e.iteration_nominals or (1.0,) * e.niterations,
        "strings": strings,
        **kinds,
    }


def _tables_of_variables(
    variables: Sequence[ScalarVariable], lengths: Sequence[int] | None, ninputs: int
) -> tuple[dict[str, list[Any]], list[float], list[str]]:
    """Tables of the four FMI types, and the values of constants."""
    references = value_references(variables) if lengths is None else _own_references(variables)
    constants: list[float] = []
    strings: list[str] = []
    places: dict[str, list[int]] = {kind: [] for kind in _KINDS}
    sizes: dict[str, list[int]] = {kind: [] for kind in _KINDS}
    names: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    settables: dict[str, dict[int, tuple[int, int, ScalarVariable]]] = {kind: {} for kind in _KINDS}
    for variable, reference, length in zip(variables, references, lengths or [1] * len(variables), strict=True):
        kind = variable.type.lower()
        if reference == len(places[kind]):
            index = variable.index
            if variable.store == "constant" and kind == "string":
                index = len(strings)
                strings.append(str(variable.start or ""))
            elif variable.store == "constant":
                index = len(constants)
                constants.append(float(variable.start or 0))
            sizes[kind].append(length)
            names[kind].append(variable.name)
            places[kind].append(contract.place(variable.store, index))
        entry = _settable(variable, ninputs)
        known = settables[kind].get(reference)
        if entry and (known is None or entry[0] < known[0]):  # of aliases, the one that allows most
            settables[kind][reference] = entry
            names[kind][reference] = variable.name
    tables: dict[str, list[Any]] = {}
    for kind in _KINDS:
        entries = sorted(settables[kind].items())
        tables[f"{kind}_places"] = places[kind]
        tables[f"{kind}_lengths"] = sizes[kind]
        tables[f"{kind}_references"] = [reference for reference, _ in entries]
        tables[f"{kind}_settings"] = [setting for _, (setting, _, _) in entries]
        tables[f"{kind}_indices"] = [index for _, (_, index, _) in entries]
        tables[f"{kind}_least"] = [-math.inf if v.min is None else v.min for _, (_, _, v) in entries]
        tables[f"{kind}_most"] = [math.inf if v.max is None else v.max for _, (_, _, v) in entries]
        tables[f"{kind}_names"] = names[kind]
    return tables, constants, strings


def _own_references(variables: Sequence[ScalarVariable]) -> list[int]:
    """A position for each variable among those of its type."""
    counts = dict.fromkeys(_KINDS, 0)
    references = []
    for variable in variables:
        kind = variable.type.lower()
        references.append(counts[kind])
        counts[kind] += 1
    return references


def _settable(variable: ScalarVariable, ninputs: int) -> tuple[int, int, ScalarVariable] | None:
    index = variable.start_index
    if variable.store == "configuration":
        return _SETTINGS["SET_CONFIGURATION"], 0, variable
    if variable.structural:
        return _SETTINGS["SET_STRUCTURE"], 0, variable
    if variable.store == "u" and variable.index < ninputs:
        return _SETTINGS["SET_INPUT"], variable.index, variable
    if index is None:
        return None
    if variable.causality == "parameter" and variable.variability == "tunable":
        return _SETTINGS["SET_TUNABLE"], index, variable
    return _SETTINGS["SET_START"], index, variable
