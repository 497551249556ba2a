"""What the shell completes: names of the gallery, of classes and of a model's variables."""

from __future__ import annotations

import contextlib
import io
import pathlib
from typing import Any


def sources(incomplete: str) -> list[str]:
    """Names of the gallery, and files that may be a SOURCE."""
    from mbfmu.importers import IMPORTERS
    from mbfmu.modeling.registry import assemblies

    folder = pathlib.Path(incomplete if incomplete.endswith("/") else incomplete.rpartition("/")[0] or ".")
    before = incomplete.rpartition("/")[0]
    found = [name for name in assemblies() if name.startswith(incomplete)]
    suffixes = {".py", ".toml", ".fmu", *IMPORTERS}
    with contextlib.suppress(OSError):
        for file in sorted(folder.iterdir()):
            name = f"{before}/{file.name}" if before else file.name
            if name.startswith(incomplete) and (file.is_dir() or file.suffix in suffixes):
                found.append(f"{name}/" if file.is_dir() else name)
    return found


def classes(incomplete: str) -> list[str]:
    """Names of component classes, short and in full."""
    from mbfmu.modeling.registry import component_classes

    known = component_classes()
    return sorted({name for full in known for name in (full, full.rpartition(".")[2]) if name.startswith(incomplete)})


def variables(ctx: Any, incomplete: str) -> list[str]:
    """Names of the variables of the SOURCE that stands before, and of arrays; after a comma the next one."""
    done, comma, begun = incomplete.rpartition(",")
    source = (ctx.params or {}).get("source")
    if not source:
        return []
    found: dict[str, None] = {}
    with contextlib.suppress(Exception), contextlib.redirect_stderr(io.StringIO()):  # what is wrong is told later
        for variable in _variables_of(source):
            if variable.type != "String" and variable.causality != "independent":
                found[variable.variable] = None
    return [f"{done}{comma}{name}" for name in found if name.startswith(begun)]


def _variables_of(source: str) -> Any:
    if source.endswith(".fmu"):
        from mbfmu.fmi.foreign import Foreign

        return Foreign(pathlib.Path(source)).variables
    import warnings

    from mbfmu.dynamics.system import System
    from mbfmu.sources import load

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return System.of(load(source)).variables
