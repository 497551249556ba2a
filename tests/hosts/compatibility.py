"""Compatibility information for fmi-standard.org: python tests/hosts/compatibility.py FOLDER [NAME ...].

Its CONTRIBUTING.md says what: example FMUs, each in a folder with its results and options, and the importers, with
their versions, that have run them. Results are those of the reference experiments in the FMUs, importers those of the
table in docs/fmu.md, which `gallery.py` measures.
"""

from __future__ import annotations

import csv
import io
import json
import pathlib
import re
import sys
import zipfile
from collections.abc import Sequence

from lxml import etree

from mbfmu import ReferenceExperiment, build
from mbfmu.errors import BuildError
from mbfmu.fmi.experiments import FOLDER
from mbfmu.modeling.registry import assemblies
from mbfmu.runtime.compilers import PLATFORMS
from mbfmu.validation import validate
from mbfmu.version import __version__

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: Variables that the site wants to see at most.
MOST = 10

#: Last instant of an experiment [s], where that is not the end of the assembly's own, of which nothing is known.
UNTIL = {"bevel_gear": 0.4}

#: The entry of the site's tools.json.
ENTRY = {
    "name": "mbfmu",
    "license": "osi",
    "url": "https://github.com/mbfmu/mbfmu",
    "vendor": "the mbfmu developers",
    "vendorURL": "https://mbfmu.github.io/mbfmu/",
    "examplesURL": "https://mbfmu.github.io/mbfmu/fmu.html",
    "description": "Multibody mechanisms written in Python with the vocabulary of Modelica MultiBody",
    "features": [],
    "platforms": ["macOS", "Linux", "Windows"],
    "interfaces": ["CLI", "library"],
    "fmiVersions": ["2.0", "3.0"],
    "fmuExport": ["CS", "ME"],
    "fmuImport": ["CS", "ME"],
    "layeredStandards": [],
}


def write_example(folder: pathlib.Path, name: str, fmi: int) -> list[str]:
    """Build and check an FMU of the gallery and write what belongs to it; returns what the check found."""
    assembly = assemblies()[name]()
    title = type(assembly).__name__
    place = folder / f"{fmi}.0" / title
    place.mkdir(parents=True, exist_ok=True)
    path = build(
        assembly, place / f"{title}.fmu", fmi=fmi, equations="interpreted", platforms=list(PLATFORMS),
        experiment=ReferenceExperiment(stop_time=UNTIL.get(name)),
    )  # fmt: skip
    with zipfile.ZipFile(path) as archive:
        experiment = etree.fromstring(archive.read(f"{FOLDER}/experiments.exp")).find("Experiment")
        results = archive.read(f"{FOLDER}/default_ref.csv").decode("utf-8")
    assert experiment is not None
    times = experiment.find("TransientSimulation")
    limits = experiment.find(".//Comparison")
    assert times is not None
    assert limits is not None
    (place / f"{title}_ref.csv").write_text(_first(results), encoding="utf-8")
    options = {
        "StartTime": times.get("startTime"), "StopTime": times.get("stopTime"), "StepSize": 0.0,
        "RelTol": experiment.get("tolerance"), "AbsTol": experiment.get("tolerance"), "SolverType": "VariableStep",
        "OutputIntervalLength": times.get("stepSize"),
    }  # fmt: skip
    text = "".join(f"{key}, {value}\n" for key, value in options.items())
    (place / f"{title}_ref.opt").write_text(text, encoding="utf-8")
    about = (assembly.__doc__ or title).strip().partition("\n")[0]
    (place / "Readme.txt").write_text(
        f"{title}: {about}\n\nFMI {fmi}.0, co-simulation"
        f"{' and model exchange' if exchange(path) else ''}, for {', '.join(PLATFORMS)}; by mbfmu {__version__}.\n"
        f"Results are to differ from {title}_ref.csv by no more than {limits.get('absolute')} plus "
        f"{limits.get('relative')} times the greatest magnitude of the variable.\n",
        encoding="utf-8",
    )
    return validate(path)


def exchange(path: pathlib.Path) -> bool:
    """Is an FMU for model exchange, too?"""
    with zipfile.ZipFile(path) as archive:
        return etree.fromstring(archive.read("modelDescription.xml")).find("ModelExchange") is not None


def _first(table: str) -> str:
    """The time and the first variables of a table."""
    header, *rows = csv.reader(io.StringIO(table))
    lines = [",".join(f'"{name}"' for name in header[: MOST + 1])]
    return "\n".join([*lines, *(",".join(row[: MOST + 1]) for row in rows)]) + "\n"


def hosts_section(page: str) -> str:
    """What docs/fmu.md says of the hosts: its table, with what stands around it."""
    begin, end = page.index("The whole gallery,"), page.index("ecos prints")
    return re.sub(r"\]\(([\w/-]+)\.md", r"](https://mbfmu.github.io/mbfmu/\1.html", page[begin:end].rstrip())


def main(folder: pathlib.Path, names: Sequence[str] = ()) -> int:
    """Write everything, and return 1 where a check found something."""
    found, left_out = {}, {}
    for name in names or sorted(assemblies()):
        for fmi in (2, 3):
            try:
                problems = write_example(folder, name, fmi)
            except BuildError as error:
                left_out[name] = str(error)
                continue
            print(f"{name}, FMI {fmi}.0: {problems or 'no problems'}", flush=True)
            found.update({f"{name} {fmi}": problems} if problems else {})
    section = hosts_section((ROOT / "docs" / "fmu.md").read_text(encoding="utf-8"))
    missing = "".join(f"- `{name}` is left out: {reason}\n" for name, reason in sorted(left_out.items()))
    (folder / "README.md").write_text(
        f"# Compatibility information of mbfmu {__version__}\n\nProvided by the mbfmu developers, not by the Modelica "
        "Association or the FMI Project.\n\n## Exported FMUs\n\nIn a folder for each version of FMI and model: the "
        "FMU, its results, the options of the run. All were checked by the schemas of the standard, FMPy's rules and a "
        f"run (`mbfmu validate`).\n\n{missing}\n## Importing tools\n\n{section}\n",
        encoding="utf-8",
    )
    (folder / "tools.json").write_text(json.dumps(ENTRY, indent=4) + "\n", encoding="utf-8")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("error: give the folder to write to: python tests/hosts/compatibility.py FOLDER")
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
