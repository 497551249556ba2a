"""Demonstrations: `mbfmu demo NAME`."""

from __future__ import annotations

import pathlib

from rich.console import Console
from rich.markup import escape

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
    page, is_live = machine_page(name, folder, console)
    is_open = printing.opened(page, open_page)
    advice = "it opens now" if is_open else "open it in a browser"
    console.print(f"{escape(str(page))}  {printing.size(page.stat().st_size)}: {advice}")
    console.print(keys(name, is_live))


def machine_page(name: str, folder: pathlib.Path, console: Console) -> tuple[pathlib.Path, bool]:
    """Write the page of a machine of the gallery; returns it, and whether it is live: it runs the machine.

    Where the runtime for browsers is missing, the page shows a run.
    """
    from mbfmu.animation import animate
    from mbfmu.modeling.registry import assemblies

    page = folder / f"{name}.html"
    with printing.working(f"Writing {page.name}"):
        try:
            return animate(assemblies()[name](), page, live=True), True
        except BuildError as error:
            console.print(f"The page shows a recorded run: {escape(str(error))}")
            return animate(assemblies()[name](), page), False


def keys(name: str, is_live: bool) -> str:
    """Which key does what on the page; on one that shows a run there are no inputs to hold."""
    from mbfmu.modeling.registry import assemblies

    if not is_live:
        return "Space stops and goes on; drag to turn the view."
    inputs = list(assemblies()[name]().inputs)
    held = [f"{less} or {more} for {one}" for (less, more), one in zip(KEYS, inputs, strict=False)]
    hold = f"Hold {', '.join(held)}. " if held else ""
    return f"{hold}Space stops and goes on, R starts again; drag to turn the view."
