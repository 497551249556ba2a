"""What an FMU says of itself to people: documentation/index.html, licences and the icon (FMI 2.0.4, section 2.3)."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.resources
import pathlib
import re
import textwrap
from collections.abc import Mapping, Sequence

import jinja2
import markupsafe

from mbfmu.dynamics.system import System
from mbfmu.export import structure
from mbfmu.export.arrays import Arrangement
from mbfmu.export.model_description import has_start
from mbfmu.export.terminals import terminals_and_icons
from mbfmu.runtime.figures import drawable
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.version import __version__

#: Titles of the tables of variables, and a sentence on each.
TABLES = {
    "Parameters": "Can be set before the initialisation.",
    "Start values": "Can be set before the initialisation.",
    "Inputs": "Can be set at every communication point.",
    "Outputs": "Can be read at every communication point, as all other variables can.",
    "Choices of structure": "Decided when the FMU was built; another choice needs another build.",
}

_LICENSE_FILE = re.compile(r"LICEN[CS]E(\.(md|rst|txt))?", re.IGNORECASE)

#: The picture is left out where it would have more boxes than anybody can read.
LARGEST_PICTURE = 400


def write_documentation(
    folder: pathlib.Path,
    system: System,
    variables: Sequence[ScalarVariable],
    facts: Mapping[str, str],
    target: str,
    arrangement: Arrangement | None = None,
) -> None:
    """Write documentation, licences, icons and terminals into the folder of an FMU.

    Args:
        folder: Where modelDescription.xml stands.
        system: Name, description, components and connections.
        variables: The variables of the FMU.
        facts: Lines at the head of the page: what by name.
        target: `native` or `python`, which decides whose code is inside.
        arrangement: The variables of FMI 3.0; None in an FMU of FMI 2.0.
    """
    documentation = folder / "documentation"
    (documentation / "licenses").mkdir(parents=True, exist_ok=True)
    (documentation / "index.html").write_text(page(system, variables, facts), encoding="utf-8")
    headers = license_of_headers(2 if arrangement is None else 3)
    licenses = {"mbfmu": license_of("mbfmu"), "The C headers of the FMI standard": headers}
    if target == "python":
        licenses["pythonfmu, whose binaries call Python"] = license_of("pythonfmu")
    text = _environment().get_template("license.txt.jinja").render(version=__version__, licenses=licenses)
    (documentation / "licenses" / "license.txt").write_text(text, encoding="utf-8")
    (folder / "model.png").write_bytes(_template("icon.png"))
    terminals = terminals_and_icons(variables if arrangement is None else arrangement.named())
    if terminals is not None:
        place = folder / "terminalsAndIcons"
        place.mkdir(exist_ok=True)
        (place / "terminalsAndIcons.xml").write_bytes(terminals)
        for icon in ("icon.png", "icon.svg"):
            (place / icon).write_bytes(_template(icon))


def page(system: System, variables: Sequence[ScalarVariable], facts: Mapping[str, str]) -> str:
    """Return the page index.html: facts, picture and table of the structure, tables of what can be set and read."""
    groups: dict[str, list[ScalarVariable]] = {title: [] for title in TABLES}
    for variable in variables:
        title = _table(variable)
        if title is not None:
            groups[title].append(variable)
    template = _environment().get_template("index.html.jinja")
    return template.render(
        name=system.name,
        description=system.description,
        facts=facts.items(),
        picture=picture(system),
        components=system.components,
        figures=drawable(system.figures, {variable.name for variable in variables}),
        units={variable.name: variable.unit for variable in variables},
        tables=[(title, text, groups[title]) for title, text in TABLES.items()],
    )


def _table(variable: ScalarVariable) -> str | None:
    """Return the title of the table that a variable belongs to."""
    if variable.structural:
        return "Choices of structure"
    if variable.causality in ("parameter", "calculatedParameter"):
        return "Parameters" if has_start(variable) else None
    if variable.causality in ("input", "output"):
        return f"{variable.causality.capitalize()}s"
    return "Start values" if variable.variability != "constant" and has_start(variable) else None


def picture(system: System) -> markupsafe.Markup | None:
    """Return the picture of the structure as SVG; None where there is nothing to show or far too much."""
    if not system.connections or len(system.components) > LARGEST_PICTURE:
        return None
    drawing = structure.draw(system.components, system.connections)
    svg = _environment().get_template("structure.svg.jinja").render(name=system.name, **vars(drawing))
    return markupsafe.Markup(svg)


@functools.cache  # the list of a package's files is long
def license_of(package: str) -> str:
    """Return the text of an installed package's licence files, or, where it ships none, what its metadata says."""
    distribution = importlib.metadata.distribution(package)
    own = (file for file in distribution.files or () if "tests" not in file.parts)  # of a checkout all are listed
    files = [file for file in own if _LICENSE_FILE.fullmatch(file.name)]
    if files:
        return "\n".join(file.read_text(encoding="utf-8") for file in files)
    metadata = distribution.metadata
    known = [metadata[key] for key in ("License-Expression", "License", "Home-page") if key in metadata]
    return "\n".join(known)


def license_of_headers(fmi: int = 2) -> str:
    """Return the licence of the C headers of the FMI standard, which stands at the end of their first comment."""
    header = importlib.resources.files("mbfmu.templates") / "runtime" / "include" / f"fmi{fmi}FunctionTypes.h"
    comment = header.read_text(encoding="utf-8")
    begin = comment.rindex("\n", 0, comment.index("Copyright (C)")) + 1
    return textwrap.dedent(comment[begin : comment.index("*/", begin)]).strip()


@functools.cache
def _environment() -> jinja2.Environment:
    def autoescape(name: str | None) -> bool:
        return name is not None and name.endswith((".html.jinja", ".svg.jinja"))

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _template(name).decode("utf-8")),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["value"] = _value
    return environment


def _template(name: str) -> bytes:
    return (importlib.resources.files("mbfmu.templates") / "documentation" / name).read_bytes()


def _value(value: float | int | bool | str | None) -> str:
    """Write a value for people: at most nine digits, nothing where there is none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.9g}"
    return "" if value is None else str(value)
