"""Compile the runtime's library for any model. Needs the standard library and a C compiler only."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import tempfile
from collections.abc import Collection

from mbfmu.errors import BuildError
from mbfmu.runtime import contract
from mbfmu.runtime.compilers import EXTENSIONS, PLATFORMS, Compilation, Compiler, require_compiler

_ROOT = pathlib.Path(__file__).resolve().parent

#: Where the libraries stand, in a folder for each platform.
LIBRARIES = _ROOT / "libraries"

#: File names of the libraries, without extension, by the source that is compiled.
NAMES = {"library.c": "mbfmu", "lane_library.c": "mbfmu-lanes", "pythonfmu.c": "mbfmu-pythonfmu"}

#: Platforms that pythonfmu has a host library for: others need none of ours in front of it.
PYTHONFMU = ("linux64", "win64")

#: Sources that serve any model: the library of one model does without them.
HOST_SOURCES = (
    *NAMES, "resources.c", "resources.h", "host.c", "host.h", "batch.c", "batch.h", "lanes.c", "lanes.h",
    "lane_functions.c", "component.c", "component_methods.c"
)  # fmt: skip

#: Sources that include others, which makes one unit of them: a library, or what it has of the runtime.
WHOLE = (*NAMES, "fmu.c", "component.c", "runtime.c")

#: Sources that are for the library of one model only.
OF_ONE_MODEL = ("fmu.c", "own_model.c")

#: Sources that others include several times, each time for something else.
REPEATED = ("lanes.c", "lane_functions.c", "component_methods.c")


def sources() -> dict[str, bytes]:
    """All C files of the runtime by name, those made from the contract included, without the headers of FMI."""
    folder = template_folder("runtime")
    files = {file.name: file.read_bytes() for file in sorted(folder.glob("*.[ch]"))}
    return files | {name: text.encode() for name, text in contract.sources().items()}


def write_sources(folder: pathlib.Path, left_out: Collection[str] = ()) -> None:
    """Write the C files of the runtime, but for those left out, into an existing folder."""
    for name, content in sources().items():
        if name not in left_out:
            (folder / name).write_bytes(content)


def headers() -> pathlib.Path:
    """The folder of FMI's own headers."""
    return template_folder("runtime") / "include"


def library(platform: str, name: str = "mbfmu") -> pathlib.Path:
    """Where the library for a platform stands, or would."""
    return LIBRARIES / platform / (name + EXTENSIONS[platform])


def is_current(platform: str) -> bool:
    """Is there a library for the platform, of the present version of the contract and the sources?"""
    stamp = LIBRARIES / platform / "sources"
    made = stamp.is_file() and all(library(platform, title).is_file() for title in _names(platform).values())
    return made and stamp.read_text(encoding="ascii") == digest()


def _names(platform: str) -> dict[str, str]:
    """Names of a platform's libraries by their sources: where there are no FMUs, that for programs is all."""
    if platform not in PLATFORMS:
        return {"library.c": NAMES["library.c"]}
    return {source: name for source, name in NAMES.items() if source != "pythonfmu.c" or platform in PYTHONFMU}


def digest() -> str:
    """Identity of the sources."""
    total = hashlib.sha256()
    for name, content in sorted(sources().items()):
        total.update(f"{name} {len(content)} ".encode() + content)
    return total.hexdigest()


def build_libraries(platform: str, compiler: Compiler | None = None) -> list[pathlib.Path]:
    """Compile the runtime's libraries for a platform; returns their files.

    Raises:
        BuildError: There is no compiler for the platform, it fails, or the files cannot be written.
    """
    compiler = compiler or require_compiler(platform)
    made = []
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as started:
        folder = pathlib.Path(name)
        write_sources(folder)
        for source, title in _names(platform).items():
            target = library(platform, title)
            compilation = started.enter_context(Compilation(compiler, folder, target.name, headers()))
            compilation.start_whole(source, [_optimize(compiler, source)])
            made.append((target, compilation))
        for target, content in [(target, compilation.library()) for target, compilation in made]:
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                part = target.with_suffix(f".{os.getpid()}.part")  # others may be at it, too
                part.write_bytes(content)
                part.chmod(0o755)
                part.replace(target)
            except OSError as error:
                raise BuildError(f"cannot write {target}: {error.strerror}") from error
    (LIBRARIES / platform / "sources").write_text(digest(), encoding="ascii")
    return [target for target, _ in made]


def _optimize(compiler: Compiler, source: str) -> str:
    """How a library is optimised: zig's, which FMUs carry for several platforms, a quarter smaller and 5 % slower."""
    return "-Os" if "ziglang" in compiler.command and source != "lane_library.c" else "-O3"


def template_folder(name: str) -> pathlib.Path:
    """A folder of templates: beside this package in an installation, in a folder of the checkout otherwise."""
    installed = _ROOT.parent / "templates" / name
    return installed if installed.is_dir() else _ROOT.parent.parent / "templates" / name
