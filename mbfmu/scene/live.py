"""The live page: an FMU, the runtime as WebAssembly that runs its equations in the browser, and what it looks like."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.errors import MbfmuError
from mbfmu.fmi.variables import Scalar
from mbfmu.runtime.contract import DESCRIPTOR_FILE
from mbfmu.runtime.result import Result
from mbfmu.scene.grips import Grip
from mbfmu.scene.packing import lean, stored
from mbfmu.scene.page import changing_colours, page, page_model
from mbfmu.scene.ranges import range_of
from mbfmu.scene.scene_file import shape_entry
from mbfmu.scene.subject import Subject

#: Where an FMU whose equations are interpreted has them.
DESCRIPTOR = f"resources/{DESCRIPTOR_FILE}"
#: Poses of a run over which the view is fitted.
_POSES = 21


def write_live_page(
    subject: Subject,
    elements: Mapping[str, Scalar],
    fmu: pathlib.Path,
    wasm: bytes,
    result: Result,
    glb: bytes,
    turn: float,
    tolerance: float | None = None,
    efforts: Mapping[str, float] | None = None,
    colors: str = "calm",
    grips: Sequence[Grip] = (),
) -> str:
    """Return the page.

    Args:
        subject: what is seen of the model.
        elements: scalars of the FMU, by name.
        fmu: the file, with interpreted equations.
        wasm: the runtime as a WebAssembly module.
        result: a run with the variables of the scene, by which the view is fitted.
        glb: the shapes as binary glTF, frames by name.
        turn: the largest angle [rad] by which something turns between two instants of the run.
        tolerance: of the integrator; the FMU's own where None.
        efforts: what sliders of forces and torques have to reach, by name of the input (see scene/ranges.py).
        colors: "calm" or "modelica".
        grips: by which bodies are dragged; their variables are not listed.

    Raises:
        MbfmuError: the page's program is missing, or the FMU has other variables than its scene.
    """
    assert subject.scene is not None
    names = subject.scene.variables
    missing = [name for name in names if name not in elements]
    if missing:
        raise MbfmuError(f"{fmu}: has no variable '{missing[0]}', which its scene takes; build it anew")
    own = {name: one for name, one in elements.items() if not any(grip.owns(name) for grip in grips)}
    listed, model = page_model(subject, result, turn, colors, known=own)
    for entry in listed:
        entry["reference"] = elements[entry["name"]].reference
    model |= {
        "file": fmu.name,
        "descriptor": DESCRIPTOR,
        "tolerance": tolerance or 0.0,
        "shapes": [shape_entry(shape) for shape in subject.scene.shapes],
        "quantities": {name: elements[name].reference for name in names},
        "changing_colours": changing_colours(subject),
        "settables": _settables(own.values(), subject, efforts or {}),
        "grips": [told for grip in grips if (told := grip.entry(elements))],
    }
    at = np.linspace(0, result.time.size - 1, _POSES).round().astype(int)
    poses = np.array([np.asarray(result[name])[at] for name in names], dtype=np.float32).reshape(len(names), at.size).T
    series = np.ascontiguousarray(poses).tobytes()
    return page(subject.name, model, {"series": series, "glb": lean(glb), "wasm": wasm, "fmu": stored(fmu)})


def _settables(elements: Iterable[Scalar], subject: Subject, efforts: Mapping[str, float]) -> list[dict[str, Any]]:
    """What can be set: inputs, parameters, start values; `kind` says when a value acts, `range` what its slider spans.

    Inputs come first, what is only drawn comes last.
    """
    structural = {v.name for v in subject.variables if v.structural}
    paths = {path: kind for path, kind, _ in subject.components}

    def order(element: Scalar) -> tuple[bool, bool, bool]:
        of, _, own = element.name.rpartition(".")
        is_world = paths.get(of) == "World"
        return element.variable.causality != "input", is_world, is_world and own.startswith("default")

    references: set[tuple[str, int]] = set()
    found = []
    for element in sorted(elements, key=order):
        kind = _kind(element.variable)
        key = (element.type, element.reference)
        if kind is None or element.name in structural or element.start is None or key in references:
            continue
        references.add(key)  # of aliases, one is enough
        component = element.name.rpartition(".")[0]
        while component and component not in paths:
            component = component.rpartition(".")[0]
        entry: dict[str, Any] = {
            "name": element.name,
            "component": component,
            "reference": element.reference,
            "type": element.type,
            "kind": kind,
            "isParameter": element.variable.causality == "parameter",
            "start": _value(element.type, element.start),
            "unit": element.attribute("unit") or "",
            "description": element.variable.description or "",
        }
        entry["unit"] = "" if entry["unit"] == "1" else entry["unit"]
        for bound in ("min", "max", "nominal"):
            value = element.attribute(bound)
            if value is not None:
                entry[bound] = float(value)
        if element.type in ("Real", "Integer"):
            of_state = kind == "start" and not entry["isParameter"]
            start = float(entry["start"])
            entry["range"] = range_of(
                start,
                entry.get("min"),
                entry.get("max"),
                entry.get("nominal"),
                entry["unit"],
                kind == "input" or of_state or start < 0,
                efforts.get(element.name),
            )
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
