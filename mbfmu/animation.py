"""From a model to an animation: run it and write the motion as .glb or as a page, or write a page that runs it."""

from __future__ import annotations

import os
import pathlib
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from mbfmu.dynamics.system import System
from mbfmu.errors import MbfmuError
from mbfmu.export.build import build
from mbfmu.export.native import ready_library
from mbfmu.fmi.foreign import Foreign, signals_of
from mbfmu.fmi.libraries import STAND_INS
from mbfmu.runtime import arguments
from mbfmu.runtime.build import is_current
from mbfmu.runtime.compilers import PLATFORMS, host_platform
from mbfmu.runtime.result import Result
from mbfmu.runtime.run import Value
from mbfmu.scene.gltf import write_glb
from mbfmu.scene.grips import Grip, with_grips
from mbfmu.scene.live import DESCRIPTOR, write_live_page
from mbfmu.scene.motion import largest_turn, motion
from mbfmu.scene.page import Recorded, check_colors
from mbfmu.scene.ranges import efforts
from mbfmu.scene.scene_file import LARGEST, SCENE_FILE, read_scene
from mbfmu.scene.subject import Described, Subject
from mbfmu.scene.writing import needed_variables, shown, write_runs
from mbfmu.simulation import simulate
from mbfmu.sources import is_fmu, name_of, resolved

if TYPE_CHECKING:
    from mbfmu.modeling.assembly import Assembly

#: Parts turn by at most so much [rad] between two recorded instants where no step is given; so many runs see to it.
_TURN, _REFINEMENTS = 0.5, 4

#: Runs a model and records variables: names, step [s] -> result.
_Runner = Callable[[Sequence[str], float | None], Result]


@arguments.renamed(step="interval")
def animate(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    stop_time: float | None = None,
    *,
    start_time: float | None = None,
    interval: float | None = None,
    tolerance: float | None = None,
    start_values: Mapping[str, Value] | None = None,
    inputs: Any = None,
    interpolation: Literal["linear", "held"] = "linear",
    solver: str | None = None,
    live: bool = False,
    colors: str = "calm",
    side_by_side: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Any:
    """Simulate a model and write its motion as an animation; returns the path.

    Args:
        model: An Assembly; the System that `System.of(assembly, scene=True)` made of one; what the command line takes,
            such as a name of the gallery; the path of an FMU of ours, which FMPy runs; or a result of `simulate`, whose
            run is shown. Several in a list, or in a dict by the names that they shall have: a page compares them on one
            clock.
        path: `.html`: a page that shows it in a browser, from disk and without a network; `.glb`: binary glTF 2.0.
            None: the page is returned, for a notebook to show.
        stop_time, start_time, interval, tolerance, start_values, inputs, interpolation, solver, progress: As those of
            `simulate`, of all models, but not of results; without an interval, what turns fast is recorded more often
            than 500 times.
        live: The page runs the model itself, with inputs and parameters to play with. It holds the FMU, whose equations
            are interpreted. `start_values` and `inputs` are for recorded runs; give a live page a model that has them.
        colors: How a page shows colours: "calm", Modelica's toned, or "modelica", as they are.
        side_by_side: Several begin in views of their own; else the first as ever, the others over it, translucent. The
            page changes between both.

    Raises:
        ModelError, InitializationError, SimulationError: As `simulate` does.
        BuildError: The runtime for browsers is missing: the message has the command that makes it.
        MbfmuError: The path has another suffix, nothing is drawn, or something that it takes is not installed.
    """
    check_colors(colors)
    arguments.check_callback(progress, "progress")
    side_by_side = arguments.flag(side_by_side, "side_by_side")
    settings: dict[str, Any] = {
        "stop_time": stop_time, "start_time": start_time, "interval": interval, "tolerance": tolerance,
        "start_values": start_values, "inputs": inputs, "interpolation": interpolation, "solver": solver,
    }  # fmt: skip

    def write(target: pathlib.Path) -> pathlib.Path:
        if isinstance(model, list | tuple) or (isinstance(model, Mapping) and not isinstance(model, Result)):
            return _write_several(model, target, settings, live, colors, side_by_side, progress)
        if side_by_side:
            raise MbfmuError(
                f"{target}: side_by_side is for several runs; give a list or a dict of models, or leave it out"
            )
        if live:
            return _write_live(model, target, settings, colors, progress)
        run = record(model, target, progress=progress, **settings)
        return write_runs({run.subject.name: run}, target, colors)

    live = arguments.flag(live, "live")
    return shown(path, write)


def record(
    model: Any, target: pathlib.Path, *, progress: Callable[[float], None] | None = None, **settings: Any
) -> Recorded:
    """Run a model, or that of a result again, with what an animation into a file takes; `settings`: as of `animate`."""
    if isinstance(model, Result):
        given = [name for name, value in settings.items() if value is not None and (name, value) not in _DEFAULTS]
        if given:
            raise MbfmuError(f"{model.model}: a result is shown as it was simulated; leave {given[0]} out")
        if model.again is None:
            raise MbfmuError(f"{model.model}: only results of mbfmu.simulate can be animated")
        return cast("Recorded", model.again(target))
    subject, run = _runner(model, settings, progress)
    result = _run_finely(subject, run, needed_variables(subject, target), settings["interval"])
    return Recorded(subject, result, kept=run)


#: What says nothing about a run.
_DEFAULTS = (("interpolation", "linear"),)


def _runner(
    model: Any, settings: Mapping[str, Any], progress: Callable[[float], None] | None = None
) -> tuple[Subject, _Runner]:
    """What is seen of a model, and what runs it."""
    if is_fmu(model):
        fmu = Foreign(pathlib.Path(model))
        return read_subject(fmu), _fmu_runner(fmu, settings)
    seen = cast("Assembly | System", resolved(model))
    system = System.of(seen, scene=True)

    def run(names: Sequence[str], every: float | None) -> Result:
        return simulate(system, **{**settings, "interval": every}, outputs=list(names), progress=progress)

    return system, run


def _fmu_runner(fmu: Foreign, settings: Mapping[str, Any]) -> _Runner:
    if settings["solver"] is not None:
        raise MbfmuError(f"{fmu.path}: solver = {settings['solver']!r}: an FMU brings its own; leave it out")

    def run(names: Sequence[str], every: float | None) -> Result:
        times = fmu.times(settings["start_time"], settings["stop_time"], every)
        signals = signals_of(fmu, settings["inputs"], times, settings["interpolation"])
        return fmu.simulate(times, settings["start_values"] or {}, names, signals, settings["tolerance"])

    return run


def _write_several(
    models: Sequence[Any] | Mapping[str, Any],
    target: pathlib.Path,
    settings: Mapping[str, Any],
    live: bool,
    colors: str,
    side_by_side: bool,
    progress: Callable[[float], None] | None,
) -> pathlib.Path:
    check_comparison(target, len(models), live)
    given = list(models.values()) if isinstance(models, Mapping) else list(models)

    def part(number: int) -> Callable[[float], None] | None:
        return None if progress is None else lambda share: progress((number + share) / len(given))

    found = [record(model, target, progress=part(i), **settings) for i, model in enumerate(given)]
    if isinstance(models, Mapping):
        names = list(map(str, models))
    else:
        names = [
            name_of(model) if isinstance(model, str | os.PathLike) else run.subject.name
            for model, run in zip(given, found, strict=True)
        ]
        names = [
            f"{name} {names[: i + 1].count(name)}" if names.count(name) > 1 else name for i, name in enumerate(names)
        ]
    return write_runs(dict(zip(names, found, strict=True)), target, colors, side_by_side)


def check_comparison(target: pathlib.Path, count: int, live: bool) -> None:
    """Refuse what shows one run alone where there are several.

    Raises:
        MbfmuError: There is none at all, the page is live, or it is no page.
    """
    if not count:
        raise MbfmuError(f"{target}: there is nothing to animate; give a model")
    if count > 1 and live:
        raise MbfmuError(f"{target}: a live page runs one model; leave live out, or write a page for each")
    if count > 1 and target.suffix.lower() != ".html":
        raise MbfmuError(f"{target}: several runs are compared on a page; choose {target.stem}.html")


def _write_live(
    model: Any,
    target: pathlib.Path,
    settings: Mapping[str, Any],
    colors: str,
    progress: Callable[[float], None] | None,
) -> pathlib.Path:
    if target.suffix.lower() != ".html":
        raise MbfmuError(f"{target}: a live animation is a page; choose {target.stem}.html")
    if isinstance(model, Result):
        raise MbfmuError(f"{target}: a live page runs a model, and this is a result; give the model")
    if settings["start_values"]:
        raise MbfmuError(f"{target}: a live page takes no start values; set them in the model")
    if settings["inputs"] is not None:
        raise MbfmuError(f"{target}: a live page takes no inputs over time; it has sliders and keys for them")
    interval, tolerance = settings["interval"], settings["tolerance"]
    if is_fmu(model):
        fmu = Foreign(pathlib.Path(model))
        return _live(read_subject(fmu), fmu, _fmu_runner(fmu, settings), target, interval, tolerance, colors)
    seen = cast("Assembly | System", resolved(model))
    grips: tuple[Grip, ...] = ()
    if not isinstance(seen, System):
        seen, grips = with_grips(seen)
    system, run = _runner(seen, settings, progress)
    needed_variables(system, target)
    ready_library("wasm32")  # what is missing is told before the work
    with tempfile.TemporaryDirectory() as folder:
        file = build(cast("System", system), folder, equations="interpreted", platforms=_ready_platforms())
        return _live(system, Foreign(file), run, target, interval, tolerance, colors, grips)


def read_subject(fmu: Foreign) -> Described:
    """What is seen of an FMU of ours.

    Raises:
        MbfmuError: It has no scene: another tool made it, or nothing in it is drawn.
    """
    file = pathlib.Path(fmu.folder) / SCENE_FILE
    if not file.is_file():
        raise MbfmuError(
            f"{fmu.path}: has no {SCENE_FILE}; FMUs that `mbfmu build` makes of what is drawn have one, "
            "build it anew with this version"
        )
    with file.open("rb") as opened:
        text = opened.read(LARGEST + 1)
    scene, components, _ = read_scene(text, str(fmu.path), file.parent)
    known = {variable.name for variable in fmu.variables}
    missing = [name for name in scene.variables if name not in known]
    if missing:
        raise MbfmuError(
            f"{fmu.path}: has no variable '{missing[0]}', which its scene takes; build it anew with this version"
        )
    return Described(fmu.name, fmu.description.description or "", components, fmu.variables, scene)


def _run_finely(subject: Subject, run: _Runner, names: Sequence[str], step: float | None) -> Result:
    """Run so that nothing turns far between two instants, or with a step that is given."""
    given = step is not None
    for _ in range(_REFINEMENTS):
        result = run(names, step)
        turn = largest_turn(motion(subject.scene, result.time, result)) if subject.scene and not given else 0.0
        if turn <= _TURN:
            break
        step = float(result.time[-1] - result.time[0]) / (result.time.size - 1) * _TURN / turn * 0.8
    return result


def _live(
    subject: Subject,
    fmu: Foreign,
    run: _Runner,
    target: pathlib.Path,
    step: float | None,
    tolerance: float | None,
    colors: str,
    grips: Sequence[Grip] = (),
) -> pathlib.Path:
    assert subject.scene is not None
    with zipfile.ZipFile(fmu.path) as archive:
        if DESCRIPTOR not in archive.namelist():
            raise MbfmuError(
                f"{fmu.path}: its equations are compiled for certain machines; a live page takes an FMU that was built "
                "with --equations interpreted, or its source"
            )
    names = list(subject.scene.variables)
    result = _run_finely(subject, run, names or [subject.variables[0].name], step)
    moved = motion(subject.scene, result.time, result, by_name=True)
    glb = write_glb(moved.start, subject.scene.up, subject.name)
    wasm = ready_library("wasm32").read_bytes()
    span, turn = efforts_of(fmu, grips), largest_turn(moved)
    page = write_live_page(subject, fmu.elements, fmu.path, wasm, result, glb, turn, tolerance, span, colors, grips)
    target.write_text(page, encoding="utf-8")
    return target


def efforts_of(fmu: Foreign, grips: Sequence[Grip] = ()) -> dict[str, float]:
    """What sliders of forces and torques have to reach, by the inputs' names: the FMU is asked at its start."""
    rates = [d.variable.name for d in fmu.description.derivatives]
    start = fmu.start_time
    times = np.array([start, start + 1e-6 * (fmu.stop_time - start)])
    inputs = [
        one
        for one in fmu.elements.values()
        if one.variable.causality == "input" and not any(grip.owns(one.name) for grip in grips)
    ]

    def at_start(values: Mapping[str, float]) -> np.ndarray:
        found = fmu.simulate(times, values, rates)
        return np.array([found[name][0] for name in rates])

    return efforts(inputs, [fmu.elements[name].attribute("unit") or "" for name in rates], at_start)


def _ready_platforms() -> list[str]:
    """Platforms that the FMU in a page is for: this machine's, and those of FMI 2.0 whose libraries are there."""
    own = host_platform()
    known = [platform for platform in PLATFORMS if platform == own or platform not in STAND_INS]
    return [platform for platform in known if is_current(platform)] or [own]
