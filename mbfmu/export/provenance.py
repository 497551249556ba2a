"""Where a file comes from: meta-data by SSP Traceability in FMUs and SSP packages.

https://github.com/modelica/ssp-ls-traceability: one file of SRMD (Simulation Resource Meta Data) with classifications,
which are pairs of a keyword and a text.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import importlib.metadata
import inspect
import json
import math
import pathlib
from collections.abc import Iterable, Mapping, Sequence

from lxml import etree

from mbfmu.errors import BuildError
from mbfmu.messages import unknown_variable
from mbfmu.modeling import Assembly
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.version import __version__

#: Place in an archive, for FMUs and packages alike, and MIME type.
FILE = "extra/org.ssp-standard.ssp-traceability.srmd/resourceMetaData.srmd"
TYPE = "application/x-srmd-meta-data"

#: Version of the format.
VERSION = "1.0.0"

_SRMD = "http://ssp-standard.org/SSPTraceability1/SimulationResourceMetaData"
_STC = "http://ssp-standard.org/SSPTraceability1/SSPTraceabilityCommon"

#: Types of our classifications.
BUILD, SOURCES, LICENSES, FILES, UNCERTAINTY = (
    f"io.github.mbfmu.{word}" for word in ("build", "sources", "licenses", "files", "uncertainty")
)

#: Where a value is from, in the words of the Credibility library (Credibility.Types.SourceType).
ORIGINS = ("Unknown", "Estimated", "Provided", "Computed", "Measured", "Calibrated")


@dataclasses.dataclass(frozen=True)
class Uncertainty:
    """In which interval a value is, as Credibility.Types.Interval of the Modelica library Credibility has it.

    Args:
        lower, upper: Bounds of the value, in its unit.
        nominal: The value itself, where it is not the FMU's own start value.
        source: One of `ORIGINS`.
        info: What the interval is, in a sentence.

    Raises:
        BuildError: Bounds are no numbers, or the lower one is above the upper one; the source is none.
    """

    lower: float
    upper: float
    nominal: float | None = None
    source: str = "Unknown"
    info: str = ""

    def __post_init__(self) -> None:
        if not -math.inf < self.lower <= self.upper < math.inf:
            raise BuildError(f"uncertainty from {self.lower} to {self.upper}: give two numbers, the lower one first.")
        if self.source not in ORIGINS:
            raise BuildError(f"uncertainty of source {self.source!r}: it is one of {', '.join(ORIGINS)}.")


def read_uncertainty(file: pathlib.Path) -> dict[str, Uncertainty]:
    """Intervals of the parameters in what `mbfmu fit --json` prints; those that the data do not determine have none.

    Raises:
        BuildError: The file is something else.
    """
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        return intervals_of(
            {name: (each["value"], *each["interval"]) for name, each in record["parameters"].items()},
            record["confidence"],
        )
    except OSError as error:
        raise BuildError(f"{file}: cannot be read ({error.strerror}); give what `mbfmu fit --json` prints.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BuildError(f"{file}: is not what `mbfmu fit --json` prints.") from None


def intervals_of(found: Mapping[str, Sequence[float | None]], confidence: float) -> dict[str, Uncertainty]:
    """Estimates (value, lower, upper) with their confidence as uncertainties, but for those that have no interval."""
    info = f"confidence interval of a fit to measurements, {confidence:.0%}"
    return {
        name: Uncertainty(lower, upper, value, "Calibrated", info)
        for name, (value, lower, upper) in found.items()
        if lower is not None and upper is not None and math.isfinite(lower) and math.isfinite(upper)
    }


def check_uncertainty(given: Mapping[str, Uncertainty], variables: Sequence[ScalarVariable]) -> None:
    """Refuse what is no uncertainty of a variable, or of a quantity of one, `body.m` or `tip[1]:final`."""
    known = {variable.name: None for variable in variables}
    for name, each in given.items():
        if not isinstance(each, Uncertainty):
            raise BuildError(f"uncertainty of '{name}': {each!r:.60} is none; give mbfmu.Uncertainty(lower, upper).")
        if name.partition(":")[0] not in known:
            raise BuildError(f"uncertainty: {unknown_variable(name, known)}")


def digest(data: bytes) -> str:
    """SHA3-256 in hexadecimal, which the standard takes for checksums."""
    return hashlib.sha3_256(data).hexdigest()


def sources_of(assembly: object) -> dict[str, str]:
    """Checksum by name of the file that an assembly was read from, or that has its class; none where there is no file.

    The name is without folders, which tell of a machine.
    """
    if not isinstance(assembly, Assembly):
        return {}
    try:
        file = pathlib.Path(assembly.source_file or inspect.getfile(type(assembly)))
        return {file.name: digest(file.read_bytes())}
    except (OSError, TypeError):  # as a class of a notebook
        return {}


def parameters_digest(variables: Iterable[ScalarVariable]) -> str:
    """Checksum of all parameters and start values: lines `name=value`, sorted, numbers with all their digits."""
    lines = sorted(f"{v.name}={v.start!r}\n" for v in variables if v.start is not None and v.causality != "input")
    return digest("".join(lines).encode())


def licenses_of(packages: Sequence[str]) -> dict[str, str]:
    """Licence by package of those whose code is inside."""
    found = {}
    for package in packages:
        metadata = importlib.metadata.metadata(package)
        said = [metadata[key] for key in ("License-Expression", "License") if key in metadata]
        found[package] = said[0] if said else "see documentation/licenses"
    return found


def write_provenance(
    folder: pathlib.Path,
    name: str,
    date: datetime.datetime | None,
    build: Mapping[str, str],
    sources: Mapping[str, str],
    licenses: Mapping[str, str],
    uncertainty: Mapping[str, Uncertainty] | None = None,
) -> None:
    """Write the meta-data into an unpacked FMU or package, with checksums of all files that are there.

    Args:
        folder: Its root, where all other files are already.
        name: Of the model.
        date: Of the build; None: it is not told.
        build, sources, licenses: What it was made by and of, and whose code is inside.
        uncertainty: By variable, or quantity of one.
    """
    root = etree.Element(f"{{{_SRMD}}}SimulationResourceMetaData", nsmap={"srmd": _SRMD, "stc": _STC})
    root.set("version", VERSION)
    root.set("name", name)
    root.set("generationTool", f"mbfmu {__version__}")
    if date is not None:
        root.set("generationDateAndTime", f"{date:%Y-%m-%dT%H:%M:%SZ}")
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    sums = {key: digest(files[key].read_bytes()) for key in sorted(files)}
    for kind, entries in (
        (BUILD, {"tool": "mbfmu", "tool.version": __version__, **build}),
        (SOURCES, sources),
        (LICENSES, licenses),
        (FILES, sums),
    ):
        classification = etree.SubElement(root, f"{{{_STC}}}Classification", type=kind)
        for keyword, text in entries.items():
            etree.SubElement(classification, f"{{{_STC}}}ClassificationEntry", keyword=keyword).text = text
    if uncertainty:
        classification = etree.SubElement(root, f"{{{_STC}}}Classification", type=UNCERTAINTY)
        for keyword, each in uncertainty.items():
            entry = etree.SubElement(
                classification, f"{{{_STC}}}ClassificationEntry", keyword=keyword, type="application/xml"
            )
            numbers = {key: getattr(each, key) for key in ("lower", "upper", "nominal")}
            told = {key: repr(float(value)) for key, value in numbers.items() if value is not None}
            interval = etree.SubElement(entry, "Interval")
            for key, text in {**told, "source": each.source, "info": each.info}.items():
                interval.set(key, text)
    (folder / FILE).parent.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))
