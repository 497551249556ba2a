"""The Python-hosted target: pythonfmu's host library, a slave, and the runtime's library in front of both."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.resources
import pathlib
import platform
import re
import shutil
from collections.abc import Sequence

import jinja2
import pythonfmu

from mbfmu.errors import BuildError
from mbfmu.export import native
from mbfmu.runtime import build as runtime
from mbfmu.runtime.compilers import find_compiler, library_name
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

#: Modules of `mbfmu.runtime` that a slave needs where it runs; they import the standard library only.
MODULES = ("__init__.py", "slave.py")

#: pythonfmu's host library by platform.
HOST_LIBRARIES = {"linux64": "libpythonfmu-export.so", "win64": "pythonfmu-export.dll"}

#: The runtime's library that stands in front of it.
GUARD = runtime.NAMES["pythonfmu.c"]


def platforms() -> list[str]:
    """The platforms that a python FMU made here is for.

    Raises:
        BuildError: There is none.
    """
    found = [
        name
        for name in HOST_LIBRARIES
        if _host_library(name).is_file() and (runtime.is_current(name) or find_compiler(name) is not None)
    ]
    if not found:
        raise BuildError(
            f"a python FMU needs the libraries of pythonfmu and of mbfmu's runtime for {' or '.join(HOST_LIBRARIES)}: "
            "the wheels of both bring them; in a checkout, `pip install mbfmu[cross]` installs a compiler that makes "
            "the runtime's"
        )
    return found


def write_python_target(
    folder: pathlib.Path,
    equations: Equations,
    variables: Sequence[ScalarVariable],
    model_identifier: str,
    guid: str,
    platforms: Sequence[str],
    lengths: Sequence[int] | None = None,
) -> None:
    """Write all of a Python-hosted FMU but its modelDescription.xml into `folder`.

    Args:
        folder: The root of the FMU, an existing folder.
        equations, variables: The model, and its variables in the order of modelDescription.xml, whose value references
            they share.
        model_identifier: Name of the FMU's library and beginning of the name of the slave's module.
        guid: The FMU's guid: it makes module and class unique, because all FMUs of a process share one interpreter.
        platforms: Some of those that the function `platforms` gives.
        lengths: For FMI 3.0: lengths of arrays, as `descriptor` takes them; None: FMI 2.0.

    Raises:
        BuildError: A library is missing and cannot be compiled.
    """
    resources = folder / "resources"
    resources.mkdir(parents=True, exist_ok=True)
    native.write_descriptor(equations, variables, guid, resources, lengths)
    package = _write_runtime(resources)
    module = f"{model_identifier}_{re.sub('[^0-9A-Za-z]', '', guid)}"
    source = _render("slave.py.jinja", model=_docstring(equations.name), runtime=package, name=module)
    (resources / f"{module}.py").write_text(source, encoding="utf-8")
    (resources / "slavemodule.txt").write_text(module, encoding="utf-8")
    for platform_name in platforms:
        for where in native.library_folders(folder, platform_name, 2 if lengths is None else 3):
            _write_libraries(where, model_identifier, platform_name)
    _write_pythonfmu(resources / "pythonfmu")
    documentation = folder / "documentation"
    documentation.mkdir(exist_ok=True)
    text = external_dependencies(equations.name, platforms)
    (documentation / "externalDependencies.txt").write_text(text, encoding="utf-8")


def external_dependencies(model: str, platforms: Sequence[str]) -> str:
    """Text of documentation/externalDependencies.txt (FMI 2.0.4, section 2.3): what has to be installed, and how."""
    return _render("externalDependencies.txt.jinja", model=model, platforms=platforms, python=platform.python_version())


def _docstring(text: str) -> str:
    """Text as part of a docstring."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _host_library(platform_name: str) -> pathlib.Path:
    return _installed() / "resources" / "binaries" / platform_name / HOST_LIBRARIES[platform_name]


def _installed() -> pathlib.Path:
    return pathlib.Path(pythonfmu.__file__).parent


def _write_runtime(resources: pathlib.Path) -> str:
    """Copy the slave's modules as a package and return its name, with a hash of what is in it."""
    package = importlib.resources.files("mbfmu.runtime")
    files = {name: package.joinpath(name).read_bytes() for name in MODULES}
    digest = hashlib.sha256()
    for name, data in files.items():
        digest.update(f"{name} {len(data)} ".encode() + data)
    title = f"mbfmu_runtime_{digest.hexdigest()[:12]}"
    (resources / title).mkdir()
    for name, data in files.items():
        (resources / title / name).write_bytes(data)
    return title


def _write_libraries(binaries: pathlib.Path, model_identifier: str, platform_name: str) -> None:
    """Copy the runtime's library under the FMU's name, and pythonfmu's beside it under its own."""
    native.ready_library(platform_name)
    host = _host_library(platform_name)
    if not host.is_file():
        raise BuildError(
            f"pythonfmu {importlib.metadata.version('pythonfmu')} has no library for {platform_name}; "
            "install it from PyPI: python -m pip install --force-reinstall pythonfmu"
        )
    binaries.mkdir(parents=True)
    shutil.copyfile(runtime.library(platform_name, GUARD), binaries / library_name(model_identifier, platform_name))
    shutil.copyfile(host, binaries / host.name)


def _write_pythonfmu(package: pathlib.Path) -> None:
    """Copy pythonfmu's Python files, as its own builder does."""
    package.mkdir()
    for file in sorted(_installed().glob("*.py")):
        shutil.copyfile(file, package / file.name)


def _render(template: str, **values: object) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    text = importlib.resources.files("mbfmu.templates").joinpath("python", template).read_text(encoding="utf-8")
    return environment.from_string(text).render(**values)
