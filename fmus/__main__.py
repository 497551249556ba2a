"""Build every FMU of the gallery beside its assembly: `python -m mbfmu.fmus`, of FMI 3.0 with `--fmi 3`."""

from __future__ import annotations

import argparse
import inspect
import pathlib
import sys

from mbfmu import printing
from mbfmu.export.build import build
from mbfmu.export.options import VERSIONS
from mbfmu.modeling.registry import assemblies


def main() -> int:
    """Build the whole gallery for this machine's default target; those of FMI 3.0 are `NAME_fmi3.fmu`."""
    parser = argparse.ArgumentParser(prog="python -m mbfmu.fmus", description="Build every FMU of the gallery.")
    parser.add_argument("--fmi", type=int, choices=VERSIONS, default=VERSIONS[0], help="version of FMI")
    fmi = parser.parse_args().fmi
    for name, cls in sorted(assemblies().items()):
        file = f"{name}.fmu" if fmi == VERSIONS[0] else f"{name}_fmi{fmi}.fmu"
        path = pathlib.Path(inspect.getfile(cls)).with_name(file)
        build(cls(), path, fmi=fmi)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    with printing.warnings_told():
        sys.exit(main())
