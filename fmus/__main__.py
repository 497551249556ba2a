"""Build every FMU of the gallery beside its assembly: `python -m mbfmu.fmus`."""

from __future__ import annotations

import inspect
import pathlib
import sys

from mbfmu.export.build import build
from mbfmu.modeling.registry import assemblies


def main() -> int:
    """Build the whole gallery for this machine's default target."""
    for name, cls in sorted(assemblies().items()):
        path = pathlib.Path(inspect.getfile(cls)).with_name(f"{name}.fmu")
        build(cls(), path)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
