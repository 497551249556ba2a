"""The command that makes a body that bends from files of a finite-element program, and checks it."""

from __future__ import annotations

import pathlib
from typing import Annotated, Any

import typer

from mbfmu import printing
from mbfmu.cli import facts, report
from mbfmu.cli.options import Json, example
from mbfmu.errors import MbfmuError

app = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.command(
    epilog=example(
        "mbfmu flex mass.mtx stiffness.mtx nodes.csv --held '1 2 3 4' --attach '25 26; 57' -o bracket.SID_FEM"
    )
)
def flex(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES", help="Mass matrix, stiffness matrix (Matrix Market) and nodes; or a SID file."),
    ],
    held: Annotated[str, typer.Option(metavar="NODES", help="Nodes that are fixed to the frame of reference.")] = "",
    attach: Annotated[
        str,
        typer.Option(metavar="NODES", help="Nodes of each interface, as in '12 13 14; 57'; of a SID file: '12; 57'."),
    ] = "",
    modes: Annotated[int, typer.Option(metavar="N", min=0, help="Number of modes beside deflections by loads.")] = 6,
    highest: Annotated[float | None, typer.Option("--f-max", metavar="HZ", help="Modes above are left out.")] = None,
    output: Annotated[
        pathlib.Path | None, typer.Option("--output", "-o", metavar="FILE", help="SID file to write: .SID_FEM.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Reduce a body of finite elements, show what it weighs and how it vibrates, and write it as a SID file."""
    names = ("fileName",) if len(files) == 1 else ("massFile", "stiffnessFile", "nodeFile")
    if len(files) not in (1, 3):
        raise MbfmuError(f"{' '.join(files)}: give mass matrix, stiffness matrix and nodes, or one SID file")
    if output is not None and output.suffix.lower() != ".sid_fem":
        raise MbfmuError(f"{output}: SID files end with .SID_FEM; name it {output.with_suffix('.SID_FEM')}")
    try:
        nodes = [int(word) for word in held.replace(",", " ").split()]
    except ValueError:
        raise MbfmuError(f"--held {held!r}: give numbers of nodes, as in '1 2 3 4'") from None
    with printing.working("Reducing the body"):
        from mbfmu.modeling.registry import component_classes

        given: dict[str, Any] = {"held": nodes, "attached": attach, "nModes": modes}
        if highest is not None:
            given["f_max"] = highest
        body: Any = component_classes()["FlexibleBodies.ModalBody"](**dict(zip(names, files, strict=True)), **given)
        found = body.checks()
        if output is not None:
            output.write_text(body.sid_text(), "utf-8")
    if as_json:
        facts.show({**found, "file": None if output is None else str(output)})
        return
    _show(found)
    if output is not None:
        report.built(output)


def _show(found: dict[str, Any]) -> None:
    """What the body weighs, and its shapes."""
    line, number = printing.console.print, report.number
    line(f"mass              {number(found['mass'])} kg")
    line(f"center of mass    {', '.join(map(number, _plain(found['center'])))} m")
    for name, row in zip(("inertia about it", "", ""), _plain(found["inertia"]), strict=True):
        line(f"{name:17} {', '.join(map(number, row))} kg.m2")
    if "free_frequencies" in found:
        free = found["free_frequencies"]
        line(f"rigid modes       {', '.join(map(number, free[:6]))} Hz")
        line(f"free body         {', '.join(map(number, free[6:]))} Hz")
    heads = ("shape", "frequency (Hz)", "effective mass x (kg)", "y (kg)", "z (kg)")
    table = printing.table("", *heads, right=heads)
    rows = zip(found["frequencies"], _plain(found["effective_masses"]), strict=True)
    for count, (frequency, masses) in enumerate(rows, 1):
        table.add_row(str(count), number(frequency), *map(number, masses))
    totals = [sum(column) for column in zip(*found["effective_masses"], strict=True)]
    table.add_row("all", "", *map(number, totals))
    line(table)


def _plain(values: Any) -> Any:
    """Values without what rounding leaves of zeros, as lists."""
    import numpy as np

    numbers = np.asarray(values, dtype=float)
    return np.where(np.abs(numbers) < 1e-12 * np.abs(numbers).max(initial=0.0), 0.0, numbers).tolist()
