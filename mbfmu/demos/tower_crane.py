"""A machine to play with: build its FMU, validate it, and write a page that runs it in a browser."""

from __future__ import annotations

import pathlib
import time

from rich.console import Console
from rich.markup import escape

from mbfmu import printing
from mbfmu.errors import ValidationError

NAME = "tower_crane"


def run(folder: pathlib.Path, console: Console, fmi: int) -> None:
    """Run the demonstration; the FMU goes into the folder."""
    from mbfmu.export.build import build
    from mbfmu.modeling.registry import assemblies
    from mbfmu.validation import validate

    path = folder / f"{NAME}.fmu"
    with printing.working("Building the FMU of a tower crane") as progress:
        started = time.perf_counter()
        build(assemblies()[NAME](), path, fmi=fmi, progress=progress)
        took = time.perf_counter() - started
        progress(f"Validating {path.name}")
        problems = validate(path)
    if problems:
        raise ValidationError(f"{path}: {problems[0]}")
    console.print(f"{escape(str(path))}  {printing.size(path.stat().st_size)}, built in {took:.1f} s and validated")
