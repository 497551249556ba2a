"""The build backend (PEP 517, PEP 660): setuptools', after the runtime's libraries are compiled.

A wheel holds the library of the machine that builds it, made by its C compiler, and is for such machines only. With
`--config-settings platforms=all` ziglang makes the libraries for all platforms and the WebAssembly module: that wheel
is for any machine. ziglang is asked for only where it is needed. A source distribution holds no library.

The program of animation pages is bundled by npm where that is installed (mbfmu/scene/bundle.py); so is the WebAssembly
component of FMUs made where its module is (mbfmu/runtime/component.py).
"""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
from collections.abc import Mapping
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

from distribution.stubs import stub_names, write_stubs
from mbfmu.errors import BuildError
from mbfmu.runtime import component
from mbfmu.runtime.build import LIBRARIES, build_libraries, is_current
from mbfmu.runtime.compilers import EXTENSIONS, PLATFORMS, find_compiler, find_zig, host_platform
from mbfmu.scene import bundle

#: Of files in wheels where SOURCE_DATE_EPOCH says nothing else: the first that archives know, 1980-01-01.
FIRST_DATE = "315532800"

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, Any] | None

#: Makes the libraries where there is no C compiler, and those of other platforms.
ZIG = "ziglang>=0.12"

_held: list[str] = []  # the platforms whose libraries go into what is being built


class BuildPy(build_py):
    """Takes the libraries of this build along, and none of an earlier one; writes stubs of the components."""

    def run(self) -> None:
        """Copy the modules, as setuptools does, and write the stubs beside them."""
        super().run()
        write_stubs(pathlib.Path("."), pathlib.Path(self.build_lib))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return the files of the build."""
        stubs = (pathlib.Path(self.build_lib) / file for file in stub_names(pathlib.Path(".")).values())
        return [*super().get_outputs(include_bytecode), *map(str, stubs)]

    def find_data_files(self, package: str, src_dir: str) -> list[str]:
        """Return the data files of a package."""
        files = super().find_data_files(package, src_dir)
        return [file for file in files if LIBRARIES.name not in pathlib.Path(file).parts or _platform(file) in _held]


class Wheel(bdist_wheel):
    """A wheel for every Python 3, of any machine where the libraries of all platforms are in it."""

    def finalize_options(self) -> None:
        """Tell whether the wheel belongs to a kind of machine: then all of it goes where extension modules go."""
        any_machine = set(_held) >= set(PLATFORMS)
        self.distribution.has_ext_modules = lambda: not any_machine
        super().finalize_options()

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tags of Python, its binary interface and the platform: the libraries use no Python."""
        return "py3", "none", super().get_tag()[2]


def _platform(file: str) -> str:
    return pathlib.Path(file).parent.name


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Name what has to be installed to build a wheel."""
    needed = _named(config_settings) or find_compiler() is None
    return [*build_meta.get_requires_for_build_wheel(config_settings), *([ZIG] if needed else [])]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Name what has to be installed to build an editable wheel."""
    needed = _named(config_settings) or find_compiler() is None
    return [*build_meta.get_requires_for_build_editable(config_settings), *([ZIG] if needed else [])]


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    """Name what has to be installed to build a source distribution."""
    return build_meta.get_requires_for_build_sdist(config_settings)


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build a wheel into a folder; `platforms` among the settings names those whose libraries ziglang makes for it."""
    _compile(_named(config_settings))
    # setuptools leaves there what an earlier build put there, also what the sources do not have any more.
    for remains in pathlib.Path("build").glob("lib*"):
        shutil.rmtree(remains)
    # Files would have the dates at which they were checked out: the same sources make the same bytes on any day.
    os.environ.setdefault("SOURCE_DATE_EPOCH", FIRST_DATE)
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Compile the libraries in the checkout, and build a wheel that points there.

    setuptools' strict mode links every file into one tree, the package as it installs: editors and type checkers follow
    that, which they do not where a finder maps folders. New files are there after the next installation.
    """
    _compile(_named(config_settings))
    settings = {"editable_mode": "strict", **(config_settings or {})}
    return build_meta.build_editable(wheel_directory, settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Build a source distribution into a folder."""
    return build_meta.build_sdist(sdist_directory, config_settings)


def _named(settings: Settings) -> list[str]:
    """Return the platforms that the settings name."""
    given = (settings or {}).get("platforms", "")
    names = [name.strip() for name in str(given).split(",") if name.strip()]
    names = list(EXTENSIONS) if names == ["all"] else names
    for name in names:
        if name not in EXTENSIONS:
            raise BuildError(f'platform "{name}" is unknown; there are all, {", ".join(EXTENSIONS)}')
    return names


def _compile(named: list[str]) -> None:
    host = host_platform()
    for platform in named:
        compiler = find_zig(platform)
        if compiler is None:
            raise BuildError(f"platforms={','.join(named)}: ziglang compiles them; `pip install ziglang` installs it")
        build_libraries(platform, compiler)
    if not named and not is_current(host):
        build_libraries(host)
    _held[:] = named or [host]
    _bundle()
    if "wasm32" in named:
        _component()


def _bundle() -> None:
    """Make the program of animation pages where npm is; without it mbfmu writes animations as .glb only."""
    if bundle.is_current():
        return
    try:
        bundle.make_bundle()
    except BuildError as error:
        bundle.BUNDLE.unlink(missing_ok=True)
        print(f"warning: {error}; animations can be written as .glb only", file=sys.stderr)


def _component() -> None:
    """Make the WebAssembly component where npm is; without it FMUs get none."""
    if component.is_current():
        return
    try:
        component.make_component()
    except BuildError as error:
        component.COMPONENT.unlink(missing_ok=True)
        print(f"warning: {error}; FMUs cannot be built with --wasm", file=sys.stderr)
