"""The Python-hosted target: the runtime as it is, CasADi functions in files, and pythonfmu's host library."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.resources
import pathlib
import platform
import shutil
from collections.abc import Sequence

import jinja2
import pythonfmu

from mbfmu.errors import BuildError
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

#: What a Python-hosted FMU needs where it runs.
PACKAGES = ("numpy", "scipy", "casadi")

#: The platforms of pythonfmu's host library, by the suffix of its file.
PLATFORMS = {"linux64": ".so", "win64": ".dll"}


def platforms() -> list[str]:
    """The platforms that a python FMU made here is for."""
    raise BuildError("the python target is being rewritten")


def write_python_target(
    folder: pathlib.Path,
    equations: Equations,
    variables: Sequence[ScalarVariable],
    model_identifier: str,
    guid: str,
    platforms: Sequence[str],
) -> None:
    """Write all of a Python-hosted FMU but its modelDescription.xml into `folder`."""
    raise BuildError("the python target is being rewritten")


def external_dependencies(model: str) -> str:
    """Text of documentation/externalDependencies.txt (FMI 2.0.4, section 2.3): what has to be installed, and how."""
    packages = [(package, importlib.metadata.version(package)) for package in PACKAGES]
    return _render("externalDependencies.txt.jinja", model=model, packages=packages, python=platform.python_version())


def _write_runtime(resources: pathlib.Path) -> str:
    """Copy `mbfmu.runtime` and return the name of the copy, a hash of what is in it."""
    package = importlib.resources.files("mbfmu.runtime")
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
