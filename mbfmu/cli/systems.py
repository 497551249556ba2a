"""Resolves the elements of a system that the command line names."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Sequence

from mbfmu import sources
from mbfmu.cosimulation.system_file import SystemFile, read_system
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly


@dataclasses.dataclass(frozen=True)
class System:
    """Elements by name, assemblies or paths of FMUs, and what is known of their coupling."""

    name: str
    elements: dict[str, Assembly | str]
    connect: list[tuple[str, str]] | None
    stop_time: float | None


def read_elements(elements: Sequence[str], connect: Sequence[str]) -> System:
    """Return the system of `[name=]source` arguments, or of the one system file among them.

    `connect` are pairs `a.flange=b.flange`; they come on top of those of a system file.

    Raises
    ------
    ModelError
        A source or system file is wrong, or two elements have the same name.
    """
    pairs = [_pair(text) for text in connect]
    described = _system_file(elements)
    if described is None:
        named = [_named(text) for text in elements]
        names = [name for name, _ in named]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"{name}: two elements have this name; write left={name} right={name}")
        described = SystemFile("_".join(names), dict(named), None, None)
    loaded = {
        name: source if source.endswith(".fmu") else sources.load(source) for name, source in described.elements.items()
    }
    joined = [*(described.connect or []), *pairs]
    return System(described.name, loaded, joined or described.connect, described.stop_time)


def _system_file(elements: Sequence[str]) -> SystemFile | None:
    if len(elements) == 1 and elements[0].endswith(".toml"):
        return read_system(pathlib.Path(elements[0]))
    return None


def _pair(text: str) -> tuple[str, str]:
    a, _, b = text.partition("=")
    if not (a.strip() and b.strip()):
        raise ModelError(f"--connect {text}: write it as A.FLANGE=B.FLANGE, for example powertrain.axis1=car.axis1")
    return a.strip(), b.strip()


def _named(text: str) -> tuple[str, str]:
    """Split `name=source`; without a name it is the source's own: class, file or gallery name."""
    name, equals, source = text.partition("=")
    if equals:
        return name.strip(), source.strip()
    own = text.rpartition(":")[2] if not text.endswith((".py", ".toml", ".fmu")) else pathlib.Path(text).stem
    return re.sub(r"\W", "_", own), text
