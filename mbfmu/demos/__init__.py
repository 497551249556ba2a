"""Demonstrations: `mbfmu demo NAME`."""

from __future__ import annotations

import pathlib

from rich.console import Console

from mbfmu.demos import double_pendulum, drivetrain
from mbfmu.errors import ModelError
from mbfmu.messages import suggestion

_RUNS = {"double_pendulum": double_pendulum.run, "drivetrain": drivetrain.run}


def run(name: str, folder: pathlib.Path, console: Console, fmi: int = 2) -> None:
    """Run the demonstration `name`; FMUs and picture go into `folder`, which is made where it does not exist.

    `fmi` is the version of the FMUs, 2 or 3.
    """
    if name not in _RUNS:
        raise ModelError(f"{name}: no such demonstration; {suggestion(name, _RUNS)}")
    folder.mkdir(parents=True, exist_ok=True)
    _RUNS[name](folder, console, fmi)
