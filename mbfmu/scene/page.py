"""The animation page: one file that opens from disk, without a network."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import math
import string
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.dynamics.showing.scene import Quantity
from mbfmu.errors import MbfmuError
from mbfmu.modeling.units import conversion
from mbfmu.runtime.result import Result
from mbfmu.runtime.rounding import cleared, noise_of_series
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.scene import bundle
from mbfmu.scene.gltf import NodeTrack, write_glb
from mbfmu.scene.motion import Motion, largest_turn, motion
from mbfmu.scene.packing import INSTANTS, LEVELS, in_levels, lasting_text_of, lean, text_of
from mbfmu.scene.subject import Subject, result_variables
from mbfmu.version import __version__

#: Numbers that a page holds for plots at most, and stretches between the points of each curve.
_NUMBERS, _POINTS = 600_000, 500
#: A run is shown in so many seconds, or at its own speed where that is near.
_LONG, _SHORT = 60.0, 0.7
#: The speeds that a page offers, and how fast something may seem to turn at first [rad/s].
_SPEEDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_TO_THE_EYE = 60.0
#: What is the same in page after page.
_LASTING = ("viewer", "wasm")
#: How pages show Modelica's colours: toned, or as they are.
COLORS = ("calm", "modelica")


def check_colors(colors: str) -> None:
    """Refuse a way of showing colours that there is not.

    Raises:
        MbfmuError: it is none of COLORS.
    """
    if colors not in COLORS:
        raise MbfmuError(f"colors = {colors!r:.60}: pages have {' or '.join(map(repr, COLORS))}")


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
class Recorded:
    """A model with its scene, and a run with all that is drawn and plotted of it."""

    subject: Subject
    result: Result
    #: What has the files of its meshes, in a folder that goes with it: FMUs.
    kept: object = None

    @functools.cached_property
    def moved(self) -> Motion:
        """Its motion."""
        assert self.subject.scene is not None
        return motion(self.subject.scene, self.result.time, self.result)


def write_page(runs: Mapping[str, Recorded], colors: str = "calm", side_by_side: bool = False) -> str:
    """Return the page of a run, or of several on one clock.

    Args:
        runs: by the names that the page has for them.
        colors: one of COLORS.
        side_by_side: several begin in views of their own, not one over the other.

    Raises:
        MbfmuError: the page's program is missing.
    """
    models = [
        page_model(run.subject, run.result, largest_turn(run.moved), colors, known=run.result)[1]
        for run in runs.values()
    ]
    listed, model = united(models)
    model |= {"runs": [], "side_by_side": side_by_side}
    data: dict[str, bytes] = {}
    for number, (name, run) in enumerate(runs.items()):
        told, packed = recording(run, [entry["name"] for entry in listed], _NUMBERS // len(runs))
        model["runs"].append({"name": name, **told})
        data |= {f"{key}{number}": content for key, content in packed.items()}
    return page(model["name"], model, data)


def united(models: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The variables and everything else of models that a page compares: what any of them has, once."""
    whole = dict(models[0])
    entries: dict[str, dict[str, Any]] = {}
    plotted: dict[str, None] = {}
    components: dict[str, Any] = {}
    for model in models:
        entries = {entry["name"]: entry for entry in model["variables"]} | entries
        plotted |= dict.fromkeys(model["variables"][index]["name"] for index in model["plots"])
        components = model["components"] | components
    names = list(dict.fromkeys(entry["name"] for model in models for entry in model["variables"]))
    listed = [entries[name] for name in names]
    whole |= {
        "name": ", ".join(dict.fromkeys(model["name"] for model in models)),
        "falls": any(model["falls"] for model in models),
        "drawn": any(model["drawn"] for model in models),
        "start": min(model["start"] for model in models),
        "stop": max(model["stop"] for model in models),
        "speed": min(model["speed"] for model in models),
        "components": components,
        "variables": listed,
        "plots": [names.index(name) for name in plotted],
    }
    return listed, whole


def recording(run: Recorded, names: Sequence[str], most: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What a page is told of a run, and its data; of the variables with these names as many as have room in `most`."""
    result, moved = run.result, run.moved
    time = np.asarray(result.time)
    at = np.arange(0, time.size, max(-(-(time.size - 1) // _POINTS), 1))  # evenly: what is smooth stays so
    at = np.append(at, time.size - 1) if at[-1] < time.size - 1 else at
    columns: dict[bytes, int] = {}
    data: list[np.ndarray] = []
    noise = noise_of_series({name: result[name] for name in names if name in result}, result.units)

    def column(name: str) -> int:
        values = cleared(result[name], noise.get(name, 0.0))[at]
        key = values.tobytes()
        if key not in columns:
            columns[key] = len(data)
            data.append(values)
        return columns[key]

    assert run.subject.scene is not None
    tracks: list[NodeTrack] = []
    glb = write_glb(moved, run.subject.scene.up, run.subject.name, apart=tracks)
    tracked, told = moving(moved.time, tracks, moved.size)
    colours = changing_colours(run.subject)
    quantities = {q: column(q) for _, color in colours for q in color if isinstance(q, str)}
    places = [column(name) if name in result and len(data) * at.size <= most else None for name in names]
    finest = [(time[-1] - time[0]) / INSTANTS, *(np.ptp(values) / LEVELS for values in data)]
    numbers, levels = in_levels(np.array([time[at], *data]), np.array(finest))
    return {
        "start": float(time[0]),
        "stop": float(time[-1]),
        "points": int(at.size),
        "levels": levels,
        "columns": places,
        "motion": told,
        "quantities": quantities,
        "changing_colours": colours,
    }, {"glb": lean(glb), "motion": tracked, "series": numbers}


#: What a page may miss of a place, relative to the mechanism as it starts, and of a quaternion: an eighth of a pixel on
#: a large screen.
TOLERANCE = 3e-5


def moving(time: np.ndarray, tracks: Sequence[NodeTrack], size: float) -> tuple[bytes, dict[str, Any]]:
    """Tracks of a mechanism of a size [m] as bytes that pack well, and what a page is told of them."""
    columns, steps = [time], [(time[-1] - time[0]) / INSTANTS]
    for track in tracks:
        columns += list(track.values.T)
        finest = np.ptp(track.values) / INSTANTS  # of what goes farther than levels can be counted
        step = 2 * TOLERANCE * (1.0 if track.path == "rotation" else size)
        steps += [max(step, finest)] * track.values.shape[1]
    data, levels = in_levels(np.array(columns), np.array(steps))
    nodes = [[track.node, track.path] for track in tracks]
    return data, {"nodes": nodes, "levels": levels, "instants": int(time.size)}


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
    }


def changing_colours(subject: Subject) -> list[tuple[str, tuple[Quantity, ...]]]:
    """The shapes that change their colour as a whole, with what follows what."""
    shapes = subject.scene.shapes if subject.scene else ()
    return [
        (f"{shape.component}.{shape.name}", shape.color)
        for shape in shapes
        if any(isinstance(q, str) for q in shape.color)
    ]


def page(title: str, model: Mapping[str, Any], data: Mapping[str, bytes]) -> str:
    """Return the page with a model and other data.

    Raises:
        MbfmuError: the page's program is missing.
    """
    parts = {"model": json.dumps(model, separators=(",", ":")).encode(), **data, "viewer": viewer().encode()}
    packed = {name: (lasting_text_of if name in _LASTING else text_of)(content) for name, content in parts.items()}
    texts = {
        "version": html.escape(__version__),
        "title": html.escape(title),
        "data": "\n".join(f'<script type="text/plain" id="{name}">{text}</script>' for name, text in packed.items()),
        "unpack": (bundle.SOURCES / "unpack.js").read_text(encoding="utf-8"),
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
