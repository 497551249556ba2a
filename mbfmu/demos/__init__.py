"""Demonstrations: `mbfmu demo NAME`."""

from __future__ import annotations

import pathlib

from rich.console import Console

from mbfmu import printing
from mbfmu.demos import double_pendulum, drivetrain, tower_crane
from mbfmu.errors import BuildError, ModelError
from mbfmu.messages import suggestion

_RUNS = {"tower_crane": tower_crane.run, "double_pendulum": double_pendulum.run, "drivetrain": drivetrain.run}
#: Keys of the first inputs of a live page: less, more (templates/scene/controls.js).
KEYS = (
    ("\N{LEFTWARDS ARROW}", "\N{RIGHTWARDS ARROW}"),
    ("\N{DOWNWARDS ARROW}", "\N{UPWARDS ARROW}"),
    ("J", "K"),
    ("N", "M"),
)


def run(name: str, folder: pathlib.Path, console: Console, fmi: int = 2, open_page: bool | None = None) -> None:
    """Run the demonstration `name`; FMUs, picture and page go into `folder`, which is made where it does not exist.

    `fmi` is the version of the FMUs, 2 or 3. It ends with a page that runs the machine, which a browser is asked to
    open: where there is one and somebody sits before it if `open_page` is None.
    """
    if name not in _RUNS:
        raise ModelError(f"{name}: no such demonstration; {suggestion(name, _RUNS)}")
    folder.mkdir(parents=True, exist_ok=True)
    _RUNS[name](folder, console, fmi)
    page = live_page(name, folder, console)
    is_open = printing.opened(page, open_page)
    console.print(
        f"{page}  {printing.size(page.stat().st_size)}: {'it opens now' if is_open else 'open it in a browser'}"
    )
    console.print(keys(name))


def live_page(name: str, folder: pathlib.Path, console: Console) -> pathlib.Path:
    """Write the page that runs a machine of the gallery, or shows its run where the runtime for browsers is missing."""
    from mbfmu.animation import animate
    from mbfmu.modeling.registry import assemblies

    page = folder / f"{name}.html"
    with printing.working(f"Writing {page.name}"):
        try:
            return animate(assemblies()[name](), page, live=True)
        except BuildError as error:
            console.print(f"The page shows a recorded run: {error}")
            return animate(assemblies()[name](), page)


def keys(name: str) -> str:
    """Which key does what on the live page."""
    from mbfmu.modeling.registry import assemblies

    inputs = list(assemblies()[name]().inputs)
    held = [f"{less} or {more} for {one}" for (less, more), one in zip(KEYS, inputs, strict=False)]
    hold = f"Hold {', '.join(held)}. " if held else ""
    return f"{hold}Space stops and goes on, R starts again; drag to turn the view."
