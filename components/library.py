"""The classes of the Modelica Standard Library 4.1, and where each of them is here.

python -m mbfmu.components.library docs/modelica.md    # writes the tables of that page anew
"""

from __future__ import annotations

import dataclasses
import importlib.resources
import inspect
import pathlib
import sys
import tomllib
from collections.abc import Mapping
from typing import Any

from mbfmu import printing
from mbfmu.modeling.registry import component_classes

#: The line of docs/modelica.md below which everything is written by this module.
MARK = "<!-- Everything below is written by `python -m mbfmu.components.library docs/modelica.md`. -->"
#: Connectors and base classes stand elsewhere here than in Modelica.
_HOMES = {
    "MultiBody.Interfaces": ("mbfmu.components.interfaces", "mbfmu.modeling"),
    "Rotational.Interfaces": ("mbfmu.components.rotational.interfaces", "mbfmu.components.interfaces"),
    "Translational.Interfaces": ("mbfmu.components.translational.interfaces", "mbfmu.components.interfaces"),
    "Thermal.HeatTransfer.Interfaces": ("mbfmu.components.thermal.interfaces",),
    "Electrical.Analog.Interfaces": ("mbfmu.components.electrical.interfaces", "mbfmu.components.electrical.sources"),
    "Blocks.Interfaces": (
        "mbfmu.components.blocks.interfaces",
        "mbfmu.components.blocks.discrete",
        "mbfmu.modeling",
    ),
    "Blocks.Interfaces.Adaptors": ("mbfmu.components.adaptors",),
}
#: Those that have another name here.
_OTHERS = {
    "Blocks.Interfaces.PartialNoise": "mbfmu.components.blocks.noise.PartialNoise",
    "Blocks.Interfaces.SignalSource": "mbfmu.components.blocks.sources.Source",
    "Rotational.Interfaces.PartialElementaryRotationalToTranslational": (
        "mbfmu.components.rotational.gears.PartialElementaryRotationalToTranslational"
    ),
    "Rotational.Interfaces.PartialFriction": "mbfmu.components.rotational.friction.PartialFriction",
    "Rotational.Interfaces.Support": "mbfmu.components.interfaces.Flange_b",
    "Thermal.HeatTransfer.Interfaces.HeatPort": "mbfmu.modeling.HeatPort",
    "Thermal.HeatTransfer.Interfaces.PartialConditionalHeatPort": "mbfmu.components.losses.LossPowerWithT",
    "Thermal.HeatTransfer.Interfaces.PartialElementaryConditionalHeatPort": "mbfmu.components.losses.LossPowerWithT",
    "Thermal.HeatTransfer.Interfaces.PartialElementaryConditionalHeatPortWithoutT": (
        "mbfmu.components.losses.LossPower"
    ),
    "Translational.Interfaces.Flange_a": "mbfmu.components.interfaces.TranslationalFlange_a",
    "Translational.Interfaces.Flange_b": "mbfmu.components.interfaces.TranslationalFlange_b",
    "Translational.Interfaces.PartialElementaryRotationalToTranslational": (
        "mbfmu.components.rotational.gears.PartialElementaryRotationalToTranslational"
    ),
    "Translational.Interfaces.PartialFriction": "mbfmu.components.translational.friction.PartialFriction",
    "Translational.Interfaces.Support": "mbfmu.components.interfaces.TranslationalFlange_b",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """A class of the Modelica library: `here` is the Python class, '' where there is none; then `why` says why."""

    name: str
    partial: bool
    here: str
    why: str


def entries() -> list[Entry]:
    """All classes of the library in the areas that mbfmu covers, in the library's order."""
    file = importlib.resources.files("mbfmu.components") / "library_4_1.toml"
    record = tomllib.loads(file.read_text("utf-8"))
    found = []
    for part, is_partial in (("classes", False), ("partial", True)):
        for package, names in record[part].items():
            for name in names:
                full = f"{package}.{name}"
                here = _python_name(package, name)
                found.append(
                    Entry(full, is_partial, here, "" if here else _reason(full, is_partial, record["missing"]))
                )
    return found


def _python_name(package: str, name: str) -> str:
    cls: type | None = component_classes().get(f"{package}.{name}")
    if cls is not None:
        return f"{cls.__module__}.{cls.__name__}"
    if f"{package}.{name}" in _OTHERS:
        return _OTHERS[f"{package}.{name}"]
    for module in _HOMES.get(package, ()):
        candidate = getattr(importlib.import_module(module), name, None)
        if inspect.isclass(candidate):
            return f"{module}.{name}"
    return ""


def _reason(name: str, partial: bool, reasons: Mapping[str, str]) -> str:
    for beginning, reason in reasons.items():
        if name == beginning or name.startswith(f"{beginning}."):
            return reason
    if name.rsplit(".", 1)[0].split(".")[-1] in ("Interfaces", "Adaptors"):
        return (
            "a base class that nothing here builds on" if partial else "a connector of a kind that is not needed here"
        )
    return ""


def page() -> str:
    """The tables of docs/modelica.md: how much of each package there is, and every class."""
    packages: dict[str, list[Entry]] = {}
    for entry in entries():
        packages.setdefault(entry.name.rsplit(".", 1)[0], []).append(entry)
    lines = ["", "## How much of it is here", "", "| package | here | of |", "|---|---:|---:|"]
    usable = {k: [e for e in v if not e.partial] for k, v in packages.items() if "Interfaces" not in k}
    for package, found in usable.items():
        lines.append(f"| {package} | {sum(bool(e.here) for e in found)} | {len(found)} |")
    whole = [e for found in usable.values() for e in found]
    lines.append(f"| together | {sum(bool(e.here) for e in whole)} | {len(whole)} |")
    lines += ["", "## Class by class", ""]
    for package, found in packages.items():
        lines += [f"### {package}", "", "| class | here |", "|---|---|"]
        for entry in found:
            where = f"`{entry.here}`" if entry.here else f"not here: {entry.why}"
            lines.append(f"| {entry.name.rsplit('.', 1)[1]} | {where} |")
        lines.append("")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Print the tables, or write them into the page that is named."""
    given: Any = sys.argv[1:] if arguments is None else arguments
    if not given:
        print(page())
        return
    path = pathlib.Path(given[0])
    head = path.read_text("utf-8").split(MARK)[0]
    path.write_text(head + MARK + "\n" + page(), "utf-8")


__all__ = ["Entry", "entries", "main", "page"]

if __name__ == "__main__":
    with printing.warnings_told():
        main()
