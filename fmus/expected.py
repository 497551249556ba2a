"""Expected outputs of the gallery: `python -m mbfmu.fmus.expected [NAME ...]` computes and writes them.

Each assembly has its own beside it: rows of all outputs at eleven instants of its experiment, from a run in this
process at a tolerance far below any that a user would choose.
"""

from __future__ import annotations

import csv
import inspect
import pathlib
import sys

from mbfmu import printing
from mbfmu.dynamics.system import System
from mbfmu.modeling import Assembly
from mbfmu.modeling.registry import assemblies
from mbfmu.simulation import Result, simulate

TOLERANCE = 1e-11
INTERVALS = 10

#: Last instant of the file [s], where that is not the end of the experiment.
UNTIL = {
    "bevel_gear": 0.4,  # gimbal lock of the housing's joints at 0.5 s
    "engine_v6": 0.1,  # enough to tell, and quick
    "planar_loop_release": 0.3,  # the bars lie upon each other at 0.36 s, where two ways to go on meet
}


def path_of(name: str, cls: type[Assembly]) -> pathlib.Path:
    """File with the expected outputs of a gallery assembly; one of several in a folder has its name in it."""
    folder = pathlib.Path(inspect.getfile(cls)).parent
    return folder / ("expected.csv" if folder.name == name else f"expected_{name}.csv")


def outputs_of(name: str, system: System, tolerance: float) -> Result:
    """Outputs of a gallery assembly over its experiment, at the instants of the file."""
    names = [v.name for v in system.variables if v.causality == "output"]
    stop = UNTIL.get(name, system.equations.stop_time)
    step = (stop - system.equations.start_time) / INTERVALS
    return simulate(system, stop, tolerance=tolerance, interval=step, outputs=names)


def read(path: pathlib.Path) -> dict[str, list[float]]:
    """Columns of a file by name, `time` among them."""
    with path.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(header)}


def main(names: list[str]) -> int:
    """Compute and write the expected outputs of the named assemblies, or of all."""
    gallery = assemblies()
    for name in names or sorted(gallery):
        target = path_of(name, gallery[name])
        columns = outputs_of(name, System.of(gallery[name]()), TOLERANCE).to_dict()
        with target.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([f"{value:.12g}" for value in row] for row in zip(*columns.values(), strict=True))
        print(target)
    return 0


if __name__ == "__main__":
    with printing.warnings_told():
        sys.exit(main(sys.argv[1:]))
