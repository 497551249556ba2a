"""`mbfmu animate`: one source or several, each a model, an FMU of mbfmu or a system of such FMUs."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mbfmu import printing
from mbfmu.cli import report
from mbfmu.cli.reading import read_source
from mbfmu.cli.systems import Stepping, check_options, opened, record_system
from mbfmu.errors import MbfmuError

if TYPE_CHECKING:
    from mbfmu.scene.page import Recorded


def animate(
    texts: Sequence[str],
    output: pathlib.Path | None,
    settings: Sequence[str],
    how: Stepping,
    solver: str | None,
    options: dict[str, Any],
    live: bool = False,
    colors: str = "calm",
    side_by_side: bool = False,
) -> pathlib.Path:
    """Run `[name=]source` arguments, or make a page that runs the only one, and return the file that was written.

    Raises:
        MbfmuError: A source or an option is wrong, two sources have one name, or several shall be live or no page.
    """
    named = _named(texts)
    systems = [check_options(one, how, {"solver": solver, "live": live, **options}) for one in named.values()]
    run: dict[str, Any] = {
        "stop_time": how.stop,
        "start_time": how.start,
        "interval": how.longest,
        "tolerance": how.tolerance,
        "inputs": how.inputs,
        "interpolation": "held" if how.held else "linear",
        "solver": solver,
    }
    if len(named) == 1 and side_by_side:
        raise MbfmuError("--side-by-side is for several sources; name another one, or leave it out")
    if len(named) == 1 and live:
        return _animate_live(texts[0], output, settings, {**run, "colors": colors}, options)
    from mbfmu.animation import check_comparison
    from mbfmu.scene.page import check_colors
    from mbfmu.scene.writing import check_target, write_runs

    if len(named) > 1:
        output = output or pathlib.Path(f"{'_'.join(named)}.html")
        check_comparison(output, len(named), live)
    if output is not None:
        check_target(output)
    check_colors(colors)
    found: dict[str, Recorded] = {}
    for (name, source), is_system in zip(named.items(), systems, strict=True):
        own = settings if len(named) == 1 else _settings_of(name, named, settings)
        target, found[name] = _record(source, output, own, how, run, options, is_system)
    if len(named) == 1:
        found = {run.subject.name: run for run in found.values()}
    return write_runs(found, output or target, colors, side_by_side)


def _named(texts: Sequence[str]) -> dict[str, str]:
    from mbfmu import sources

    if len(texts) == 1:
        return {texts[0]: texts[0]}
    found: dict[str, str] = {}
    for text in texts:
        name, source = sources.named(text)
        if name in found:
            raise MbfmuError(f"{name}: two sources have this name; write left={found[name]} right={source}")
        found[name] = source
    return found


def _settings_of(name: str, names: Mapping[str, str], settings: Sequence[str]) -> list[str]:
    """What `-p` gives to one of several sources: what begins with no name of one, and what begins with its own."""
    whose = [(text.partition(".")[0] if text.partition(".")[0] in names else None, text) for text in settings]
    return [text.partition(".")[2] if owner else text for owner, text in whose if owner in (None, name)]


def _record(
    source: str,
    output: pathlib.Path | None,
    settings: Sequence[str],
    how: Stepping,
    run: Mapping[str, Any],
    options: dict[str, Any],
    is_system: bool,
) -> tuple[pathlib.Path, Recorded]:
    """The file that is written where none is given, and a run."""
    from mbfmu.animation import record
    from mbfmu.scene.writing import check_target

    if is_system:
        with opened(source) as package, printing.running(f"Running {package.structure.name}") as done:
            target = check_target(output or pathlib.Path(f"{package.structure.name}.html"))
            return target, record_system(package, target, settings, how, done)
    if source.endswith(".fmu"):
        from mbfmu.sources import parse_settings

        target = check_target(output or pathlib.Path(f"{pathlib.Path(source).stem}.html"))
        with printing.working(f"Running {source}"):
            return target, record(source, target, **run, start_values=parse_settings(settings) or None)
    with printing.working("Reading the assembly") as progress:
        assembly = read_source(source, settings, options)
        progress("Deriving the equations of motion")
        from mbfmu.dynamics.system import System
        from mbfmu.export.model_description import model_identifier

        target = check_target(output or pathlib.Path(f"{model_identifier(assembly.name)}.html"))
        system = System.of(assembly, scene=True, progress=progress)
    with printing.running(f"Running {assembly.name}") as done:
        found = record(system, target, **run, start_values=None, progress=done)
    report.notes(assembly)
    return target, found


def _animate_live(
    source: str, output: pathlib.Path | None, settings: Sequence[str], run: dict[str, Any], options: dict[str, Any]
) -> pathlib.Path:
    from mbfmu.sources import parse_settings

    if source.endswith(".fmu"):
        with printing.working(f"Running {source}"):
            from mbfmu.animation import animate

            target = output or pathlib.Path(f"{pathlib.Path(source).stem}.html")
            values = parse_settings(settings) or None
            file: pathlib.Path = animate(source, target, live=True, start_values=values, **run)
        return file
    with printing.working("Reading the assembly") as progress:
        assembly = read_source(source, settings, options)
        progress("Deriving the equations of motion")
        from mbfmu.animation import animate
        from mbfmu.export.model_description import model_identifier

        target = output or pathlib.Path(f"{model_identifier(assembly.name)}.html")
    with printing.running(f"Running {assembly.name}") as done:
        file = animate(assembly, target, live=True, progress=done, **run)
    report.notes(assembly)
    return file
