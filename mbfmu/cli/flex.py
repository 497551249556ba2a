"""The command that makes a body that bends from files of a finite-element program, and checks it."""

from __future__ import annotations

import pathlib
from typing import Annotated, Any

import typer

from mbfmu import printing
from mbfmu.cli import facts, report
from mbfmu.cli.options import Json, example
from mbfmu.errors import MbfmuError

#: Suffix of SID files, in small letters.
SID = ".sid_fem"

app = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False)


@app.command(
    epilog=example(
        "mbfmu flex bracket.msh --material 2.1e11,0.3,7850 --unit 0.001 --held base --attach 'eye; pin' -o b.SID_FEM"
    )
)
def flex(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES",
            help="A mesh (.msh, .inp); mass, stiffness (.mtx, .op2, .op4, .pch, .full) and nodes; or a SID file.",
        ),
    ],
    held: Annotated[
        str,
        typer.Option(metavar="NODES", help="Nodes or surfaces that are fixed to the frame of reference."),
    ] = "",
    attach: Annotated[
        str,
        typer.Option(
            metavar="NODES", help="Nodes of each interface, as in '12 13 14; 57', or surfaces of a mesh: 'eye; pin'."
        ),
    ] = "",
    material: Annotated[
        str | None,
        typer.Option(metavar="E,NU,DENSITY", help="Material of a mesh in SI units: 2.1e11,0.3,7850 for steel."),
    ] = None,
    unit: Annotated[
        float | None, typer.Option(metavar="M", min=1e-12, help="Length of the unit of a mesh: 0.001 of one in mm.")
    ] = None,
    stress_at: Annotated[
        str,
        typer.Option(metavar="PLACES", help="Places whose stress the file tells, in the unit of a mesh: '120 20 0'."),
    ] = "",
    modes: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Number of modes beside deflections by loads; else 6.")
    ] = None,
    highest: Annotated[float | None, typer.Option("--f-max", metavar="HZ", help="Modes above are left out.")] = None,
    output: Annotated[
        pathlib.Path | None, typer.Option("--output", "-o", metavar="FILE", help="SID file to write: .SID_FEM.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Reduce a body of finite elements, show what it weighs and how it vibrates, and write it as a SID file."""
    mesh = len(files) == 1 and pathlib.Path(files[0]).suffix.lower() != SID
    names = ("massFile", "stiffnessFile", "nodeFile") if len(files) == 3 else ("meshFile" if mesh else "fileName",)
    if len(files) not in (1, 3):
        raise MbfmuError(
            f"{' '.join(files)}: give a mesh, or mass matrix, stiffness matrix and nodes, or one SID file (.SID_FEM)"
        )
    if output is not None and output.suffix.lower() != SID:
        raise MbfmuError(f"{output}: SID files end with .SID_FEM; name it {output.with_suffix('.SID_FEM')}")
    if output is not None and not output.absolute().parent.is_dir():
        raise MbfmuError(f"{output}: there is no folder {output.parent}; make it, or choose another")
    if mesh != (material is not None):
        raise MbfmuError(
            f"{files[0]}: a mesh needs --material E,NU,DENSITY, as in 2.1e11,0.3,7850 for steel, in Pa and kg/m3"
            if mesh
            else f"--material {material}: only a mesh has one; leave it out, as {files[0]} tells of stiffness or mass"
        )
    with printing.working("Reducing the body"):
        from mbfmu.modeling.registry import component_classes

        given: dict[str, Any] = {"attached": attach, "stressAt": stress_at}
        asked = {"held": held or None, "meshUnit": unit, "nModes": modes, "f_max": highest}
        given |= {name: value for name, value in asked.items() if value is not None} | _material(material)
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


def _material(text: str | None) -> dict[str, float]:
    """E, nu and density, where they are given."""
    if text is None:
        return {}
    try:
        E, nu, density = (float(word) for word in text.split(","))
    except ValueError:
        raise MbfmuError(
            f"--material {text}: give Young's modulus, Poisson's ratio and density: 2.1e11,0.3,7850 for steel"
        ) from None
    return {"E": E, "nu": nu, "density": density}


def _show(found: dict[str, Any]) -> None:
    """What the body weighs, and its shapes."""
    line, number = printing.console.print, report.number
    if "size" in found:
        line(f"size              {' x '.join(map(number, _plain(found['size'])))} m")
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
