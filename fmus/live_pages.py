"""Live pages of some of the gallery, for the docs: `python -m mbfmu.fmus.live_pages FOLDER`."""

from __future__ import annotations

import pathlib
import sys

from mbfmu import printing
from mbfmu.animation import animate
from mbfmu.modeling.registry import assemblies

#: What is worth driving: with inputs, or with parameters whose effect is seen at once.
NAMES = ("double_pendulum", "engine_v6", "furuta_pendulum", "rolling_wheel", "tower_crane", "vehicle")


def main(folder: pathlib.Path) -> int:
    """Write the pages into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        print(animate(assemblies()[name](), folder / f"{name}.html", live=True))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("error: give the folder to write to: python -m mbfmu.fmus.live_pages FOLDER")
    with printing.warnings_told():
        sys.exit(main(pathlib.Path(sys.argv[1])))
