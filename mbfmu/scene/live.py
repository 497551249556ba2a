"""The live page: an FMU, the runtime as WebAssembly that runs its equations in the browser, and what it looks like."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from mbfmu.errors import MbfmuError
from mbfmu.runtime.contract import DESCRIPTOR_FILE
from mbfmu.runtime.result import Result
from mbfmu.scene.page import Packed, page, page_model
from mbfmu.scene.scene_file import shape_entry
from mbfmu.scene.subject import Subject

#: Where an FMU whose equations are interpreted has them.
DESCRIPTOR = f"resources/{DESCRIPTOR_FILE}"
#: Poses of a run over which the view is fitted.
_POSES = 21


def write_live_page(
    subject: Subject,
    description: Any,
    fmu: pathlib.Path,
    wasm: bytes,
    result: Result,
    glb: bytes,
    turn: float,
    tolerance: float | None = None,
) -> str:
    """Return the page.

    Args:
        subject: what is seen of the model.
        description: FMPy's ModelDescription of the FMU.
        fmu: the file, with interpreted equations.
        wasm: the runtime as a WebAssembly module.
        result: a run with the variables of the scene, by which the view is fitted.
        glb: the shapes as binary glTF, frames by name.
        turn: the largest angle [rad] by which something turns between two instants of the run.
        tolerance: of the integrator; the FMU's own where None.

    Raises:
        MbfmuError: the page's program is missing, or the FMU has other variables than its scene.
    """
    assert subject.scene is not None
    by_name = {v.name: v for v in description.modelVariables}
    names = subject.scene.variables
    missing = [name for name in names if name not in by_name]
    if missing:
        raise MbfmuError(f"{fmu}: has no variable '{missing[0]}', which its scene takes; build it anew")
    listed, model = page_model(subject, result, turn, known=by_name)
    for entry in listed:
        entry["reference"] = int(by_name[entry["name"]].valueReference)
    model |= {
        "file": fmu.name,
        "descriptor": DESCRIPTOR,
        "tolerance": tolerance or 0.0,
        "shapes": [shape_entry(shape) for shape in subject.scene.shapes],
        "quantities": {name: int(by_name[name].valueReference) for name in names},
        "settables": _settables(description, subject),
    }
    at = np.linspace(0, result.time.size - 1, _POSES).round().astype(int)
    poses = np.array([np.asarray(result[name])[at] for name in names], dtype=np.float32).reshape(len(names), -1).T
    data = {"series": Packed(np.ascontiguousarray(poses).tobytes()), "glb": Packed(glb), "wasm": Packed(wasm)}
    return page(subject, model, data | {"fmu": Packed(fmu.read_bytes(), as_it_is=True)})


def _settables(description: Any, subject: Subject) -> list[dict[str, Any]]:
    """What can be set: inputs, parameters, start values; `kind` says when a value acts."""
    structural = {v.name for v in subject.variables if v.structural}
    paths = {path for path, *_ in subject.components}
    references: set[tuple[str, int]] = set()
    found = []
    for v in sorted(description.modelVariables, key=lambda v: v.causality != "input"):
        kind = _kind(v)
        key = (v.type, int(v.valueReference))
        if kind is None or v.name in structural or v.start is None or key in references:
            continue
        references.add(key)  # of aliases, one is enough
        declared = v.declaredType
        component = v.name.rpartition(".")[0]
        while component and component not in paths:
            component = component.rpartition(".")[0]
        entry: dict[str, Any] = {
            "name": v.name,
            "component": component,
            "reference": int(v.valueReference),
            "type": v.type,
            "kind": kind,
            "isParameter": v.causality == "parameter",
            "start": _value(v.type, v.start),
            "unit": v.unit or (declared.unit if declared else None) or "",
            "description": v.description or "",
        }
        entry["unit"] = "" if entry["unit"] == "1" else entry["unit"]
        for bound in ("min", "max", "nominal"):
            value = getattr(v, bound, None)
            if value in (None, "") and declared:
                value = getattr(declared, bound, None)
            if value not in (None, ""):
                entry[bound] = float(value)
        found.append(entry)
    return found


def _kind(v: Any) -> str | None:
    if v.causality == "input":
        return "input"
    if v.causality == "parameter":
        return "tunable" if v.variability == "tunable" else "start"
    return "start" if v.initial in ("exact", "approx") and v.variability != "constant" else None


def _value(kind: str, start: str) -> float | int | bool | str:
    readers: Mapping[str, Any] = {"Real": float, "Integer": int, "Boolean": lambda text: text in ("true", "1", True)}
    return readers.get(kind, str)(start)
