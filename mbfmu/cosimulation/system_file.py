"""System files: which assemblies or FMUs make up a system, written as TOML.

name = "SmallCar"                 name of the system (default: that of the file)
[elements]                        element name = gallery name, file.py, file.py:Class, assembly.toml or file.fmu
powertrain = "powertrain"
car = "models/car.py:Car"         relative to the system file
[[connect]]                       two flanges or two variables; without any, flanges of equal name are connected
a = "powertrain.axis1"
b = "car.axis1"
[experiment]
stop = 4.0                        s
step = 1e-3                       length of all communication steps, s; left to a tolerance where it is missing
[steps]                           own steps of some elements, s
car = 1e-2
"""

from __future__ import annotations

import dataclasses
import math
import pathlib
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.messages import suggestion
from mbfmu.modeling.assembly_file import read_toml
from mbfmu.modeling.names import checked_file_name

_KEYS = {"name", "elements", "connect", "experiment", "steps"}
_EXPERIMENT = {"stop": "stop = 4.0", "step": "step = 1e-3"}


@dataclasses.dataclass(frozen=True)
class SystemFile:
    """What a system file says; sources as `mbfmu.sources.load` takes them, or paths of FMUs."""

    name: str
    elements: dict[str, str]
    connect: list[tuple[str, str]] | None
    stop_time: float | None
    #: Length of all communication steps, s, and own ones of some elements.
    step: float | None = None
    steps: dict[str, float] = dataclasses.field(default_factory=dict)


def read_system(path: pathlib.Path) -> SystemFile | None:
    """Read a system file; None where the TOML has no table `elements` and so describes a single assembly.

    Raises:
        ModelError: No such file, no TOML, or an entry that is not as it should be; the message names file and entry.
    """
    record = read_toml(path, "a file of an assembly or a system")
    if "elements" not in record:
        return None
    for key in record:
        if key not in _KEYS:
            raise ModelError(f"{path}: {key} is no entry of a system file; {suggestion(key, _KEYS)}")
    elements = record["elements"]
    if not isinstance(elements, dict) or not all(isinstance(source, str) for source in elements.values()):
        raise ModelError(f'{path}: elements: write name = "source" for each, for example car = "car"')
    experiment = record.get("experiment", {})
    if not isinstance(experiment, dict):
        raise ModelError(f"{path}: experiment = {experiment!r:.60}: write it as a table, [experiment]")
    for key, value in experiment.items():
        if key not in _EXPERIMENT:
            raise ModelError(f"{path}: experiment.{key} is no entry of it; {suggestion(key, _EXPERIMENT)}")
        _check_seconds(value, f"{path}: experiment.{key}", _EXPERIMENT[key])
    steps = record.get("steps", {})
    if not isinstance(steps, dict):
        raise ModelError(f"{path}: steps = {steps!r:.60}: write it as a table, [steps]")
    for element, value in steps.items():
        if element not in elements:
            raise ModelError(f"{path}: steps.{element}: there is no such element; {suggestion(element, elements)}")
        _check_seconds(value, f"{path}: steps.{element}", f"{element} = 1e-2")
    if steps and "step" not in experiment:
        raise ModelError(f"{path}: steps: give the step of the other elements, too, as step = 1e-3 in [experiment]")
    name = checked_file_name(record["name"], f"{path}: name") if "name" in record else path.stem
    return SystemFile(
        name=name,
        elements={name: _from_folder(source, path.parent) for name, source in elements.items()},
        connect=_pairs(record["connect"], path) if "connect" in record else None,
        stop_time=float(experiment["stop"]) if "stop" in experiment else None,
        step=float(experiment["step"]) if "step" in experiment else None,
        steps={element: float(value) for element, value in steps.items()},
    )


def _check_seconds(value: Any, entry: str, example: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ModelError(f"{entry} = {value!r}: give seconds, for example {example}")


def _pairs(entries: Any, path: pathlib.Path) -> list[tuple[str, str]]:
    pairs = []
    for count, entry in enumerate(entries if isinstance(entries, list) else [entries], start=1):
        if not isinstance(entry, dict) or set(entry) != {"a", "b"}:
            raise ModelError(f'{path}: connect, entry {count}: write a = "element.flange" and b = "element.flange"')
        pairs.append((str(entry["a"]), str(entry["b"])))
    return pairs


def _from_folder(source: str, folder: pathlib.Path) -> str:
    """Return a source that names a file as seen from here; other sources stay as they are."""
    file = source.partition(".py:")[0] + ".py" if ".py:" in source else source
    return str(folder / source) if file.endswith((".py", ".toml", ".fmu")) else source
