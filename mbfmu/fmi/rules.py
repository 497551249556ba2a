"""Rules for modelDescription.xml: the schemas, what both versions of FMI have in common, and those of each."""

from __future__ import annotations

import collections
import datetime
import math
import pathlib
from collections.abc import Iterator

from lxml import etree

from mbfmu.fmi import rules_2, rules_3


def description_problems(root: etree._Element) -> list[str]:
    """Return what is wrong in a modelDescription.xml by the schema and by rules that FMPy does not know."""
    version = root.get("fmiVersion", "2.0")[0]
    schema = f"fmi{version}/fmi{version}ModelDescription.xsd"
    # Every stage takes the one before for granted.
    problems = list(schema_violations(root, schema, "modelDescription.xml"))
    if root.get("fmiVersion") != "2.0":
        return problems or [*_head(root), *rules_3.problems_of(root)]
    return problems or list(rules_2.index_problems(root)) or [*_head(root), *rules_2.problems_of(root)]


def is_known(root: etree._Element) -> bool:
    """Is it a version whose rules are known here?"""
    return root.get("fmiVersion") == "2.0" or root.get("fmiVersion", "").startswith("3.0")


def schema_violations(root: etree._Element, schema: str, file: str) -> Iterator[str]:
    """Check against one of the schemas that FMPy ships."""
    import fmpy

    checker = etree.XMLSchema(file=str(pathlib.Path(fmpy.__file__).parent / "schema" / schema))
    if not checker.validate(root):
        for entry in checker.error_log:
            yield f"{file}, line {entry.line}: {entry.message}"


def _head(root: etree._Element) -> Iterator[str]:
    token = "guid" if root.get("fmiVersion") == "2.0" else "instantiationToken"
    if not root.get(token, "").strip():
        yield f"The {token} is empty."
    date = root.get("generationDateAndTime")
    if date is not None:
        try:
            datetime.datetime.strptime(date, "%Y-%m-%dT%H:%M:%SZ")
        except ValueError:
            yield f'generationDateAndTime="{date}" is not a date like 2024-02-29T10:30:00Z.'
    experiment = root.find("DefaultExperiment")
    if experiment is not None:
        start, stop = (
            float(experiment.get(key, default)) for key, default in (("startTime", "0"), ("stopTime", "inf"))
        )
        if not start <= stop:
            yield f"DefaultExperiment: the stop time {stop:g} s is before the start time {start:g} s."
        for key in ("tolerance", "stepSize"):
            if not 0 < float(experiment.get(key, "1")) < math.inf:
                yield f'DefaultExperiment: {key}="{experiment.get(key)}" is not positive.'
    for path, what in (("LogCategories/Category", "log category"), ("UnitDefinitions/Unit", "unit")):
        for name, count in collections.Counter(item.get("name") for item in root.findall(path)).items():
            if count > 1:
                yield f'The {what} "{name}" is defined {count} times.'
