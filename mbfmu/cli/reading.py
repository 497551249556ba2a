"""SOURCE on the command line: the options that readers of other formats have, and what they have to say."""

from __future__ import annotations

import functools
import inspect
import pathlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbfmu.cli.options import number
from mbfmu.errors import MbfmuError
from mbfmu.printing import warned

if TYPE_CHECKING:
    from mbfmu.modeling.assembly import Assembly

PANEL = "Sources in other formats (.urdf, .xacro, .xml)"


def _options(
    floating: Annotated[
        bool, typer.Option("--floating", help="The root link moves freely. (URDF)", rich_help_panel=PANEL)
    ] = False,
    drive: Annotated[
        str | None,
        typer.Option(
            metavar="effort|position|flange|none",
            help="What each joint offers: a torque or force input (default), a position input with a PD controller, a "
            "flange, or nothing. (URDF)",
            rich_help_panel=PANEL,
        ),
    ] = None,
    bandwidth: Annotated[
        float | None,
        typer.Option(
            parser=number, metavar="HZ", help="Of the PD controllers; default: 5. (URDF)", rich_help_panel=PANEL
        ),
    ] = None,
    stops: Annotated[
        bool,
        typer.Option(
            "--stops",
            help="Limits of joints become elastic stops. (URDF; in MJCF they always are)",
            rich_help_panel=PANEL,
        ),
    ] = False,
    ground: Annotated[
        float | None,
        typer.Option(
            parser=number,
            metavar="HEIGHT",
            help="Height [m] of a ground that the <collision> elements of links touch. (URDF)",
            rich_help_panel=PANEL,
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            metavar="FEATURES",
            help="Leave out contact, or what has no counterpart: tendons,pairs,... (MJCF)",
            rich_help_panel=PANEL,
        ),
    ] = None,
) -> None:
    """Declare the options once, for every command that takes a SOURCE."""


#: The old name of --interval.
_STEP = inspect.Parameter(
    "step",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[float | None, typer.Option("--step", parser=number, hidden=True)],
)


def takes_reader_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of readers to a command, which gets them in its parameter `options`."""
    own, extra = inspect.signature(command, eval_str=True), inspect.signature(_options, eval_str=True)

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        renamed = arguments.pop("step", None)
        if renamed is not None:
            warned("--step is called --interval now; the old name goes with version 1.0")
            arguments["interval"] = renamed
        options = {name: arguments.pop(name) for name in extra.parameters}
        options = {name: None if value is False else value for name, value in options.items()}
        check_files(arguments)
        if arguments.get("held") and arguments.get("inputs") is None:
            raise MbfmuError("--held is about inputs over time; add --input FILE, or leave it out")
        command(**arguments, options=options)

    parameters = [p for p in own.parameters.values() if p.name != "options"] + [*extra.parameters.values()]
    if "interval" in own.parameters:
        parameters.append(_STEP)
    parameters.sort(key=lambda p: p.default is not p.empty)
    vars(run)["__signature__"] = own.replace(parameters=parameters)
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


#: Arguments of commands that name files which are read, and such that are written.
_READ, _WRITTEN = ("source", "inputs", "table", "data"), ("output", "csv", "plot", "animation")


def check_files(arguments: Mapping[str, Any]) -> None:
    """Refuse to write onto a file that the command reads, or two results into one file."""

    def files(names: Sequence[str]) -> list[pathlib.Path]:
        given = [arguments.get(name) for name in names]
        listed = [one for value in given for one in (value if isinstance(value, list | tuple) else [value])]
        return [pathlib.Path(one) for one in listed if isinstance(one, str | pathlib.Path)]

    for plot in files(["plot"]):
        from mbfmu.runtime.plotting import Figure

        known = Figure().canvas.get_supported_filetypes()
        if plot.suffix[1:] not in known:
            raise MbfmuError(f"--plot {plot}: a picture is one of {', '.join(known)}; choose {plot.stem}.png")
    read = {file.resolve() for file in files(_READ) if file.is_file()}
    written: set[pathlib.Path] = set()
    for file in files(_WRITTEN):
        if file.resolve() in read:
            raise MbfmuError(f"{file}: would be written over, but it is what this command reads; choose another file")
        if file.resolve() in written:
            raise MbfmuError(f"{file}: two results would go into this file; choose another one for one of them")
        written.add(file.resolve())


def read_source(source: str, settings: Sequence[str], options: dict[str, Any]) -> Assembly:
    """Read SOURCE; warnings of a reader are left to its notes, which `report.notes` prints."""
    from mbfmu import sources
    from mbfmu.importers.builder import ReaderWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReaderWarning)
        return sources.load(source, settings, **options)
