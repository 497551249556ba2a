"""Score Modelica files against published trajectories: each is built as an FMU, stepped in FMPy and compared.

    python tests/importers/score_modelica.py MODELICA_FOLDER REFERENCE_FOLDER [NAME ...] [--toml]

MODELICA_FOLDER holds the folder `Modelica`; a case of REFERENCE_FOLDER names the class that it belongs to. `--toml`
scores the case's own assembly file as well, for comparison.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
import tomllib
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

import numpy as np
from test_reference import step

import mbfmu
from mbfmu import sources
from mbfmu.importers.modelica import load
from problems.library import read


def find(folder: pathlib.Path, model: str) -> pathlib.Path | None:
    """File of a class, by its full name."""
    path = folder.joinpath(*model.split(".")).with_suffix(".mo")
    return path if path.is_file() else None


def worst(assembly: mbfmu.Assembly, case_folder: pathlib.Path) -> tuple[float, float]:
    """Largest error of all columns of a case, relative to their ranges, and the error allowed."""
    case = read(case_folder)
    with tempfile.TemporaryDirectory() as folder:
        path = mbfmu.build(assembly, pathlib.Path(folder) / "case.fmu")
        motion = step(path, case)
    largest = 0.0
    for name, reference in case.columns.items():
        ours, first = motion[name], name.rpartition(".Q[")[0]
        if (
            first and sum(np.dot(motion[f"{first}.Q[{k}]"], case.columns[f"{first}.Q[{k}]"]) for k in range(1, 5)) < 0
        ):  # the same orientation
            ours = -ours
        spread = float(np.ptp(reference))
        scale = spread if spread > 1e-6 else max(float(np.abs(reference).max()), 1e-3)
        largest = max(largest, float(np.abs(ours - reference).max()) / scale)
    return largest, case.rel


def main() -> int:
    """Print one line per case; the exit status is 1 where one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modelica", type=pathlib.Path)
    parser.add_argument("reference", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--toml", action="store_true")
    arguments = parser.parse_args()
    failed = 0
    for folder in sorted(arguments.reference.iterdir()):
        if not (folder / "model.toml").is_file() or (arguments.names and folder.name not in arguments.names):
            continue
        spec = tomllib.loads((folder / "model.toml").read_text("utf-8"))
        path = find(arguments.modelica, spec["reference"]["model"])
        if path is None:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                error, allowed = worst(load(path), folder)
                other = f"  toml {worst(sources.load(read(folder).source), folder)[0]:8.1e}" if arguments.toml else ""
            good = error <= allowed
            print(f"{'ok  ' if good else 'FAIL'} {folder.name:34s} {error:8.1e} of {allowed:g}{other}", flush=True)
        except Exception as problem:
            good = False
            print(f"FAIL {folder.name:34s} {str(problem).splitlines()[0][:150]}", flush=True)
        failed += not good
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
