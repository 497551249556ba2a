"""Live pages of some of the gallery, for the docs: `python -m mbfmu.fmus.live_pages FOLDER`; with --all its sizes.

With --all there are a live and a recorded page of each assembly. A page that is larger than pages may be is an error.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

from mbfmu import printing
from mbfmu.animation import animate
from mbfmu.modeling.registry import assemblies

#: What is worth driving: with inputs, or with parameters whose effect is seen at once.
NAMES = ("double_pendulum", "engine_v6", "furuta_pendulum", "rolling_wheel", "tower_crane", "vehicle")
#: Bytes of a page at most, recorded and live, whatever platforms it brings libraries for.
LARGEST = {False: 600_000, True: 1_200_000}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages into a folder, which is made, and tell their sizes; 1 where one is too large."""
    parser = argparse.ArgumentParser(prog="python -m mbfmu.fmus.live_pages", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of the gallery")
    parser.add_argument("--all", action="store_true", help="the whole gallery, recorded, too")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    known, too_large = assemblies(), []
    for name in sorted(known) if options.all else options.names or NAMES:
        for live in (True, False) if options.all else (True,):
            page = options.folder / f"{name}{'' if live else '_recorded'}.html"
            size = animate(known[name](), page, live=live).stat().st_size
            print(f"{page}  {printing.size(size)}", flush=True)
            if size > LARGEST[live]:
                too_large.append(f"{page} has {printing.size(size)}, more than {printing.size(LARGEST[live])}")
    print(*too_large, sep="\n", end="\n" if too_large else "", file=sys.stderr)
    return 1 if too_large else 0


if __name__ == "__main__":
    with printing.warnings_told():
        sys.exit(main())
