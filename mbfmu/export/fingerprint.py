"""The guid of an FMU: equal for equal interface and code, whenever and wherever it is built."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.resources
import operator
import uuid
from collections.abc import Iterator, Sequence
from importlib.resources.abc import Traversable

from mbfmu.export.native import is_tape
from mbfmu.runtime.calls import has_calls
from mbfmu.runtime.contract import REQUIRED
from mbfmu.runtime.descriptor import cached_tape
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.version import __version__

#: Packages whose files become part of FMUs: a change of the runtime is a change of the FMU.
RUNTIME_PACKAGES = ("mbfmu.runtime", "mbfmu.templates")

#: All that a variable says of itself but for its type.
_OWN = operator.attrgetter(*(f.name for f in dataclasses.fields(ScalarVariable) if f.name != "declared_type"))


def fingerprint(
    equations: Equations, variables: Sequence[ScalarVariable], references: Sequence[int], target: str
) -> str:
    """Return the guid, a hash of everything that decides how the FMU behaves.

    That is its variables and their value references, the equations with their numbers, the runtime's own files, the
    target and the version of mbfmu.
    """
    digest = hashlib.sha256()

    def add(text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)

    add(target)
    add(__version__)
    shown = functools.cache(repr)  # of types, which many variables share
    for variable, reference in zip(variables, references, strict=True):
        add(f"{reference} {_OWN(variable)!r} {shown(variable.declared_type)}")
    for field in dataclasses.fields(equations):
        if field.name != "functions":
            add(f"{field.name} {getattr(equations, field.name)!r}")
    for name in (*REQUIRED, *(("impacts",) if equations.points else ())):
        function = equations.functions[name]
        # Tapes are needed in any case, and are made sooner than CasADi writes what is long.
        plain = function.is_a("SXFunction") and is_tape(name, function) and not has_calls(function)
        add(cached_tape(function) if plain else function.serialize())
    for package in RUNTIME_PACKAGES:
        for path, data in _files(importlib.resources.files(package), package):
            add(path)
            add(data)
    return f"{{{uuid.UUID(bytes=digest.digest()[:16], version=4)}}}"


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir() and item.name not in ("__pycache__", "libraries"):
            yield from _files(item, f"{path}/{item.name}")
        elif item.is_file():
            yield f"{path}/{item.name}", item.read_bytes()
