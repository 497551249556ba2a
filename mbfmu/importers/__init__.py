"""Files of other formats -> assemblies: each format is one module with `load`, found by the file's suffix.

A reader takes the path and its own options as keywords, and gives an Assembly made of the library's classes, which it
finds through the registry. What it has to say beside that (renamed parts, ignored elements) stands in
`assembly.notes`.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pathlib
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly

#: Suffix of a file -> module that reads it.
IMPORTERS = {
    ".urdf": "mbfmu.importers.urdf",
    ".xacro": "mbfmu.importers.urdf",
    ".xml": "mbfmu.importers.mjcf",
    ".mo": "mbfmu.importers.modelica",
}


def is_importable(source: str | pathlib.Path) -> bool:
    """Tell whether one of the readers takes files of this name."""
    return _parted(source)[0].suffix.lower() in IMPORTERS


def _parted(source: str | pathlib.Path) -> tuple[pathlib.Path, str | None]:
    """The file of `file.mo:Class.Name`, and the class; other sources are files as they stand."""
    file, colon, name = str(source).rpartition(":")
    return (pathlib.Path(file), name) if colon and file.endswith(".mo") else (pathlib.Path(source), None)


def load(path: str | pathlib.Path, **options: Any) -> Assembly:
    """Read a file of another format.

    Args:
        path: the file; its suffix says which format it is in. A Modelica file may be followed by a class of it:
            `file.mo:Class.Name`.
        options: those of the format's own `load`; None stands for its default.

    Raises:
        ModelError: no such file or format, an option that the format has not, or what the reader refuses; the message
            names file, line and element.
    """
    path, class_name = _parted(path)
    if class_name is not None:
        options["class_name"] = class_name
    if not is_importable(path):
        raise ModelError(f"{path}: no reader for files of this kind; known: {', '.join(sorted(IMPORTERS))}")
    if not os.path.isfile(path):  # False, too, of what cannot be a path
        raise ModelError(f"{path}: no such file; check the path")
    reader = importlib.import_module(IMPORTERS[path.suffix.lower()]).load
    known = [name for name, p in inspect.signature(reader).parameters.items() if p.kind is p.KEYWORD_ONLY]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in known:
            raise ModelError(f"{path}: {path.suffix} files have no option {name!r}; they have {', '.join(known)}")
    assembly: Assembly = reader(path, **given)
    assembly.folder, assembly.source_file = str(path.resolve().parent), str(path.resolve())
    return assembly


__all__ = ["IMPORTERS", "is_importable", "load"]
