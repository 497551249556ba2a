"""The Python-hosted target: the runtime as it is, CasADi functions in files, and pythonfmu's host library."""

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

from mbfmu.dynamics.variables import ScalarVariable
from mbfmu.errors import BuildError
from mbfmu.simulation import slave
from mbfmu.simulation.equations import Equations
from mbfmu.simulation.interface import Record

#: What a Python-hosted FMU needs where it runs.
PACKAGES = ("numpy", "scipy", "casadi")

#: The platforms of pythonfmu's host library, by the suffix of its file.
PLATFORMS = {"linux64": ".so", "win64": ".dll"}


def write_python_target(
    folder: pathlib.Path,
    equations: Equations,
    variables: Sequence[ScalarVariable],
    value_references: Sequence[int],
    model_identifier: str,
    guid: str,
) -> None:
    """Write all of a Python-hosted FMU but its modelDescription.xml into `folder`.

    Parameters
    ----------
    folder
        The root of the FMU, an existing folder.
    equations, variables, value_references
        The model; the value references are parallel to the variables.
    model_identifier
        Name of the host library and beginning of the name of the slave's module.
    guid
        The FMU's guid: it makes module and class unique, because all FMUs of a process share one interpreter.

    Raises
    ------
    BuildError
        The installed pythonfmu lacks its host library.
    """
    resources = folder / "resources"
    resources.mkdir(parents=True, exist_ok=True)
    slave.save(resources, equations, _table(variables, value_references))
    runtime = _write_runtime(resources)
    name = f"{model_identifier}_{re.sub('[^0-9A-Za-z]', '', guid)}"
    source = _render("slave.py.jinja", model=equations.name, runtime=runtime, name=name)
    (resources / f"{name}.py").write_text(source, encoding="utf-8")
    (resources / "slavemodule.txt").write_text(name, encoding="utf-8")
    _write_host_library(folder, model_identifier)
    documentation = folder / "documentation"
    documentation.mkdir(exist_ok=True)
    (documentation / "externalDependencies.txt").write_text(external_dependencies(equations.name), encoding="utf-8")


def external_dependencies(model: str) -> str:
    """Text of documentation/externalDependencies.txt (FMI 2.0.4, section 2.3): what has to be installed, and how."""
    packages = [(package, importlib.metadata.version(package)) for package in PACKAGES]
    return _render("externalDependencies.txt.jinja", model=model, packages=packages, python=platform.python_version())


def _table(variables: Sequence[ScalarVariable], value_references: Sequence[int]) -> slave.Table:
    """Variables by type and value reference; of aliases, the one that may be set."""
    table: slave.Table = {}
    for variable, reference in zip(variables, value_references, strict=True):
        row = table.setdefault(variable.type, {})
        known = row.get(reference)
        if known is None or (variable.causality in ("input", "parameter") and known.causality != variable.causality):
            row[reference] = Record.of(variable)
    return table


def _write_runtime(resources: pathlib.Path) -> str:
    """Copy `mbfmu.simulation` and return the name of the copy, a hash of what is in it."""
    package = importlib.resources.files("mbfmu.simulation")
    files = {item.name: item.read_bytes() for item in package.iterdir() if item.name.endswith(".py")}
    digest = hashlib.sha256()
    for file_name, data in sorted(files.items()):
        digest.update(f"{file_name} {len(data)} ".encode() + data)
    runtime = f"mbfmu_runtime_{digest.hexdigest()[:12]}"
    (resources / runtime).mkdir()
    for file_name, data in files.items():
        (resources / runtime / file_name).write_bytes(data)
    return runtime


def _write_host_library(folder: pathlib.Path, model_identifier: str) -> None:
    """Copy the libraries of pythonfmu and its Python files, laid out as pythonfmu's own builder does."""
    installed = pathlib.Path(pythonfmu.__file__).parent
    for platform_name, suffix in PLATFORMS.items():
        library = next((installed / "resources" / "binaries" / platform_name).glob(f"*{suffix}"), None)
        if library is None:
            raise BuildError(
                f"pythonfmu {importlib.metadata.version('pythonfmu')} has no library for {platform_name}; "
                "install it from PyPI: python -m pip install --force-reinstall pythonfmu"
            )
        binaries = folder / "binaries" / platform_name
        binaries.mkdir(parents=True)
        shutil.copyfile(library, binaries / f"{model_identifier}{suffix}")
    package = folder / "resources" / "pythonfmu"
    package.mkdir()
    for file in sorted(installed.glob("*.py")):
        shutil.copyfile(file, package / file.name)


def _render(template: str, **values: object) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    text = importlib.resources.files("mbfmu.templates").joinpath("python", template).read_text(encoding="utf-8")
    return environment.from_string(text).render(**values)
