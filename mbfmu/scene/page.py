"""The animation page: one file that opens from disk, without a network."""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import mbfmu
from mbfmu.dynamics.system import System
from mbfmu.errors import MbfmuError
from mbfmu.runtime.result import Result
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.scene import bundle

#: Numbers that a page holds for plots at most, and points of each curve.
_NUMBERS, _POINTS = 600_000, 500
#: A run is shown in so many seconds, or at its own speed where that is near.
_LONG, _SHORT = 60.0, 0.7
#: The speeds that a page offers, and how fast something may seem to turn at first [rad/s].
_SPEEDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_TO_THE_EYE = 60.0


def viewer() -> str:
    """Return the page's program.

    Raises:
        MbfmuError: it was not made when mbfmu was installed.
    """
    if not bundle.BUNDLE.is_file():
        raise MbfmuError(
            "animation pages need a program that npm makes when mbfmu is installed; install Node.js and run "
            "`python -m mbfmu.scene.bundle`, or write a .glb"
        )
    return bundle.BUNDLE.read_text(encoding="utf-8")


def write_page(system: System, result: Result, glb: bytes, turn: float = 0.0) -> str:
    """Return the page of a run.

    Args:
        system: the system with its scene.
        result: its run, with the variables to be plotted.
        glb: the motion as binary glTF.
        turn: the largest angle [rad] by which something turns between two instants of the run.

    Raises:
        MbfmuError: the page's program is missing.
    """
    program = viewer().replace("</script", "<\\/script")
    time = np.asarray(result.time)
    at = np.unique(np.linspace(0, time.size - 1, min(time.size, _POINTS)).round().astype(int))
    columns: dict[bytes, int] = {}
    data = [(time[at]).astype(np.float32)]
    listed = []
    for variable in result_variables(system):
        if variable.name not in result or len(data) * at.size > _NUMBERS:
            continue
        values = np.asarray(result[variable.name])[at].astype(np.float32)
        key = values.tobytes()
        if key not in columns:
            columns[key] = len(data) - 1
            data.append(values)
        component = variable.name.rpartition(".")[0]
        listed.append(
            {
                "name": variable.name,
                "component": component,
                "unit": "" if variable.unit in (None, "1") else variable.unit,
                "description": variable.description,
                "column": columns[key],
            }
        )
    span = float(time[-1] - time[0])
    speed = _speed(span, turn * (time.size - 1) / span if span > 0 else 0.0)
    model = {
        "name": system.name,
        "description": system.description,
        "start": float(time[0]),
        "stop": float(time[-1]),
        "points": int(at.size),
        "speed": speed,
        "components": {path: [kind, text] for path, kind, text in system.components},
        "variables": listed,
        "plots": _plots(listed, system.variables),
    }
    texts = {
        "version": html.escape(mbfmu.__version__),
        "title": html.escape(system.name),
        "model": json.dumps(model).replace("<", "\\u003c"),
        "glb": _packed(glb),
        "series": _packed(np.concatenate(data).tobytes()),
        "viewer": program,
    }
    page = (bundle.SOURCES / "page.html").read_text(encoding="utf-8")
    return string.Template(page).substitute(texts)


def _speed(span: float, rate: float) -> float:
    """The speed at which a page shows a run of `span` s, in which something turns with up to `rate` rad/s."""
    slow = [s for s in _SPEEDS if _SHORT <= span / s <= _LONG] or [1.0]
    eye = [s for s in slow if rate * s <= _TO_THE_EYE] or slow[:1]
    return min(eye, key=lambda s: abs(math.log(s)))


def result_variables(system: System) -> list[ScalarVariable]:
    """The variables of a run that can be plotted: what changes, without connectors; outputs and states first."""
    scene = {shape.ident for shape in system.scene.shapes} if system.scene else set()
    paths = {path for path, *_ in system.components} | {""}
    found = [
        v
        for v in system.variables
        if v.type == "Real"
        and v.causality in ("local", "output", "input")
        and v.variability == "continuous"
        and v.name.rpartition(".")[0] in paths
        and v.name.rpartition(".")[0] not in scene
    ]
    return sorted(found, key=lambda v: {"output": 0, "input": 1}.get(v.causality, 2 if v.store == "x" else 3))


def _plots(listed: Sequence[Mapping[str, Any]], variables: Iterable[ScalarVariable]) -> list[int]:
    """Indices of the outputs, a few of them, which a page shows from the start: those in the unit of the first."""
    outputs = {v.name for v in variables if v.causality == "output"}
    found = [i for i, entry in enumerate(listed) if entry["name"] in outputs]
    return [i for i in found if listed[i]["unit"] == listed[found[0]]["unit"]][:4]


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")
