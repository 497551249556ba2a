"""The animation page: one file that opens from disk, without a network."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import html
import json
import math
import string
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.errors import MbfmuError
from mbfmu.modeling.units import conversion
from mbfmu.runtime.result import Result
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.scene import bundle
from mbfmu.scene.subject import Subject, result_variables
from mbfmu.version import __version__

#: Numbers that a page holds for plots at most, and points of each curve.
_NUMBERS, _POINTS = 600_000, 501
#: A run is shown in so many seconds, or at its own speed where that is near.
_LONG, _SHORT = 60.0, 0.7
#: The speeds that a page offers, and how fast something may seem to turn at first [rad/s].
_SPEEDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_TO_THE_EYE = 60.0
#: How pages show Modelica's colours: toned, or as they are.
COLORS = ("calm", "modelica")


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


@dataclasses.dataclass(frozen=True)
class Packed:
    """Data of a page; `as_it_is`: packed already."""

    content: bytes
    as_it_is: bool = False

    def text(self) -> str:
        """As the page has it."""
        content = self.content if self.as_it_is else gzip.compress(self.content, 9, mtime=0)
        return base64.b64encode(content).decode("ascii")


def write_page(subject: Subject, result: Result, glb: bytes, turn: float = 0.0, colors: str = "calm") -> str:
    """Return the page of a run.

    Args:
        subject: the system with its scene.
        result: its run, with the variables to be plotted.
        glb: the motion as binary glTF.
        turn: the largest angle [rad] by which something turns between two instants of the run.
        colors: one of COLORS.

    Raises:
        MbfmuError: the page's program is missing.
    """
    time = np.asarray(result.time)
    at = np.unique(np.linspace(0, time.size - 1, min(time.size, _POINTS)).round().astype(int))
    columns: dict[bytes, int] = {}
    data: list[np.ndarray] = []

    def column(name: str) -> int:
        values = np.asarray(result[name], dtype=float)[at]
        key = values.tobytes()
        if key not in columns:
            columns[key] = len(data)
            data.append(values)
        return columns[key]

    listed, model = page_model(subject, result, turn, colors, known=result)
    colours = {q for _, quantities in model["changing_colours"] for q in quantities if isinstance(q, str)}
    model["quantities"] = {name: column(name) for name in sorted(colours)}
    kept = []
    for entry in listed:
        if len(data) * at.size <= _NUMBERS:
            kept.append(entry | {"column": column(entry["name"])})
    numbers, bounds = quantised(np.array(data).reshape(len(data), at.size))
    model |= {"points": int(at.size), "variables": kept, "times": time[at].tolist(), "bounds": bounds.tolist()}
    model["plots"] = [i for i in model["plots"] if i < len(kept)]
    return page(subject, model, {"glb": Packed(glb), "series": Packed(numbers)})


#: Levels between the least and the greatest value of a curve: finer than the digits that a page shows.
LEVELS = 2**20 - 1


def quantised(columns: np.ndarray) -> tuple[bytes, np.ndarray]:
    """Curves [n, points] as bytes that pack well, and the least value and the span of each, [n, 2].

    Second differences of levels, their signs in the lowest bit; first the low bytes of all, then the next ones.
    """
    least = columns.min(axis=1, initial=np.inf) if columns.size else np.zeros(len(columns))
    span = columns.max(axis=1, initial=-np.inf) - least if columns.size else np.zeros(len(columns))
    share = (columns - least[:, None]) / np.where(span > 0, span, 1.0)[:, None]
    levels = np.round(share * LEVELS).astype(np.int32)
    steps = np.diff(np.diff(levels, axis=1, prepend=0), axis=1, prepend=0)
    signed = ((steps << 1) ^ (steps >> 31)).astype("<u4")
    return signed.view(np.uint8).reshape(-1, 4).T.tobytes(), np.column_stack([least, span])


def page_model(
    subject: Subject, result: Result, turn: float, colors: str, known: Container[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What pages are told of a model: the variables that can be plotted, and everything else, with these in it."""
    listed: list[dict[str, Any]] = [
        {
            "name": variable.name,
            "component": variable.name.rpartition(".")[0],
            "causality": variable.causality,
            "unit": "" if variable.unit in (None, "1") else variable.unit,
            "description": variable.description,
            **_display(variable),
        }
        for variable in result_variables(subject)
        if variable.name in known
    ]
    time = np.asarray(result.time)
    span = float(time[-1] - time[0])
    shapes = subject.scene.shapes if subject.scene else ()
    return listed, {
        "name": subject.name,
        "description": subject.description,
        "falls": subject.scene is not None and subject.scene.falls,
        "colours": colors,
        "drawn": bool(shapes),
        "start": float(time[0]),
        "stop": float(time[-1]),
        "speed": _speed(span, turn * (time.size - 1) / span if span > 0 else 0.0),
        "components": {path: [kind, text] for path, kind, text in subject.components},
        "variables": listed,
        "plots": _plots(listed, subject.variables),
        "changing_colours": [
            [f"{shape.component}.{shape.name}", shape.color]
            for shape in shapes
            if any(isinstance(q, str) for q in shape.color)
        ],
    }


def page(subject: Subject, model: Mapping[str, Any], data: Mapping[str, Packed]) -> str:
    """Return the page with a model and other data.

    Raises:
        MbfmuError: the page's program is missing.
    """
    packed = {"model": Packed(json.dumps(model, separators=(",", ":")).encode()), **data}
    packed["viewer"] = Packed(viewer().encode())
    texts = {
        "version": html.escape(__version__),
        "title": html.escape(subject.name),
        "data": "\n".join(f'<script type="text/plain" id="{name}">{d.text()}</script>' for name, d in packed.items()),
    }
    return string.Template((bundle.SOURCES / "page.html").read_text(encoding="utf-8")).substitute(texts)


def _speed(span: float, rate: float) -> float:
    """The speed at which a page shows a run of `span` s, in which something turns with up to `rate` rad/s."""
    slow = [s for s in _SPEEDS if _SHORT <= span / s <= _LONG] or [1.0]
    eye = [s for s in slow if rate * s <= _TO_THE_EYE] or slow[:1]
    return min(eye, key=lambda s: abs(math.log(s)))


def _plots(listed: Sequence[Mapping[str, Any]], variables: Iterable[ScalarVariable]) -> list[int]:
    """Indices of the outputs, which a page shows from the start as far as there is room."""
    outputs = {v.name for v in variables if v.causality == "output"}
    return [i for i, entry in enumerate(listed) if entry["name"] in outputs]


def _display(variable: ScalarVariable) -> dict[str, Any]:
    """How a variable is displayed where that is not its unit: in which unit, with factor and offset."""
    if not variable.unit or not variable.display_unit or variable.display_unit == variable.unit:
        return {}
    return {"display": {"unit": variable.display_unit, "scale": conversion(variable.unit, variable.display_unit)}}
