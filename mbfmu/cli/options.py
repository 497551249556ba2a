"""Arguments and options that several commands share."""

from __future__ import annotations

import pathlib
from typing import Annotated

import typer

from mbfmu.cli import completion

SOURCE_HELP = (
    "Gallery name, file.py, file.py:Class, module:Class, model.toml, file.mo, file.mo:Class.Name, "
    "or a .urdf, .xacro or .xml (MJCF) file."
)
Source = Annotated[str, typer.Argument(metavar="SOURCE", help=SOURCE_HELP, autocompletion=completion.sources)]


def number(text: str) -> float:
    """The number that an option has, in digits from 0 to 9."""
    from mbfmu.runtime.arguments import number_in

    try:
        return number_in(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a valid float") from None


Settings = Annotated[
    list[str],
    typer.Option(
        "--parameter",
        "-p",
        metavar="NAME=VALUE",
        help="Parameter of the assembly's constructor, or parameter or start value of a component. Repeatable.",
    ),
]
Stop = Annotated[float | None, typer.Option(parser=number, metavar="S", help="Stop time; default: the assembly's.")]
Interval = Annotated[
    float | None,
    typer.Option(
        parser=number, metavar="S", help="Between recorded points; default: the assembly's, else a 500th of the run."
    ),
]
Start = Annotated[float | None, typer.Option(parser=number, metavar="S", help="Start time; default: the assembly's.")]
Solver = Annotated[
    str | None,
    typer.Option(
        metavar="auto|explicit|implicit",
        help="Integration; auto is explicit until a model turns out stiff. Default: the assembly's, else auto.",
    ),
]
Tolerance = Annotated[
    float | None, typer.Option(parser=number, metavar="REL", help="Relative tolerance; default: the assembly's.")
]
Input = Annotated[
    pathlib.Path | None,
    typer.Option("--input", metavar="FILE", help="CSV with a column time and one for each input, named as it is."),
]
Held = Annotated[
    bool, typer.Option("--held", help="Inputs keep each value until the next one; default: straight lines between.")
]
SYSTEMS = "Systems of FMUs (.ssp, system.toml)"
CommunicationStep = Annotated[
    list[str],
    typer.Option(
        metavar="[ELEMENT=]S",
        help="Communication steps of this length, of all or (car=0.01) of one element. Repeatable; default: the "
        "system's, else what the tolerance asks.",
        rich_help_panel=SYSTEMS,
    ),
]
Scheme = Annotated[
    str | None,
    typer.Option(
        metavar="jacobi|gauss-seidel",
        help="FMUs step all at once, or one after the other. Default: jacobi.",
        rich_help_panel=SYSTEMS,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(metavar="N", help="How many FMUs step at the same time, with jacobi.", rich_help_panel=SYSTEMS),
]
Processes = Annotated[
    bool,
    typer.Option(
        "--processes", help="Each FMU in a process of its own: one that crashes is named.", rich_help_panel=SYSTEMS
    ),
]
Limit = Annotated[
    float | None,
    typer.Option(
        parser=number, metavar="S", help="What a call of an FMU may take, with --processes.", rich_help_panel=SYSTEMS
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
OpenPage = Annotated[bool, typer.Option("--open", help="Open the page in a browser, where there is a display.")]


def example(line: str) -> str:
    """Return the last lines of a command's help."""
    return f"Example: [cyan]{line}[/cyan]"
