"""C compilers: which there are, and how they are called."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import os
import pathlib
import shlex
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence

from mbfmu.errors import BuildError
from mbfmu.runtime.cache import cached

#: FMI 2.0 platforms (FMI 2.0.4, section 2.3) and the extension of their libraries.
PLATFORMS = {"linux64": ".so", "win64": ".dll", "darwin64": ".dylib"}

#: All that libraries are made for: WebAssembly, too, for programs in browsers, which is no platform of FMI's.
EXTENSIONS = {**PLATFORMS, "wasm32": ".wasm"}

#: Zig's targets of a platform; the libraries of several are joined. FMI 2.0 knows one macOS, which is two processors.
_ZIG_TARGETS = {
    "linux64": ("x86_64-linux-gnu.2.17",),
    "win64": ("x86_64-windows-gnu",),
    "darwin64": ("x86_64-macos.11.0", "aarch64-macos.11.0"),
    "wasm32": ("wasm32-wasi",),
}

_FLAGS = ("-std=c99", "-fno-math-errno", "-ffp-contract=off", "-fvisibility=hidden", "-w")

#: Position-independent where that is a choice, and without the names and tables that only a debugger reads; for macOS,
#: zig writes a random identity beside them.
_PLATFORM_FLAGS = {
    "linux64": (
        "-shared",
        "-fPIC",
        "-s",
        "-fno-asynchronous-unwind-tables",
        "-Wl,--build-id=none,--as-needed",
        "-DPORTABLE",
    ),
    "win64": ("-shared", "-s"),
    "darwin64": ("-shared", "-fPIC", "-g0"),
    "wasm32": ("-mexec-model=reactor", "-s", "-Wl,--export-dynamic", "-Wl,--export=malloc", "-Wl,--export=free"),
}

_REMEDY = "install a C compiler or `pip install mbfmu[cross]`, or use --equations interpreted"


@dataclasses.dataclass(frozen=True)
class Compiler:
    """A C compiler with the driver interface of gcc and clang, and the platform that it makes libraries for.

    `targets` has the further arguments for each processor of the platform, where there is more than the default one.
    """

    command: tuple[str, ...]
    platform: str
    targets: tuple[tuple[str, ...], ...] = ((),)

    def compile(self, source: pathlib.Path, name: str, include: pathlib.Path, optimize: str = "-O2") -> bytes:
        """Compile one translation unit and return the shared library.

        The compiler runs in the folder of the source and sees no other name of it, so that the same sources give the
        same library wherever they stand; the library of an earlier build is used where there is one. `name` is the
        library's file name, which some platforms write into it.

        Raises
        ------
        BuildError
            The compiler fails; the message has its first error line and the command.
        """
        libraries = [
            self._library([*target, *_FLAGS, *_PLATFORM_FLAGS[self.platform], optimize], source, name, include)
            for target in self.targets
        ]
        return libraries[0] if len(libraries) == 1 else universal_binary(libraries)

    def _library(self, flags: Sequence[str], source: pathlib.Path, name: str, include: pathlib.Path) -> bytes:
        def make() -> bytes:
            self._run(flags, source, name, include)
            library = source.parent / name
            if not library.is_file() or not library.stat().st_size:
                raise BuildError(f"the C compiler {self.command[0]!r} made no library, without a message; {_REMEDY}")
            return library.read_bytes()

        return cached(self._origin([*flags, name], [*source.parent.iterdir(), *include.iterdir()]), make)

    def _origin(self, words: Sequence[str], files: Sequence[pathlib.Path]) -> Iterator[bytes]:
        """Everything that a library depends on: the compiler, told by its file or package, its words, the files."""
        for word in (*self.command, *words):
            yield word.encode()
        program = pathlib.Path(shutil.which(self.command[0]) or self.command[0]).resolve()
        if program.is_file():
            status = program.stat()
            yield f"{program} {status.st_size} {status.st_mtime_ns}".encode()
        if "ziglang" in self.command:
            yield importlib.metadata.version("ziglang").encode()
        for file in sorted(files, key=lambda file: file.name):
            if file.suffix in (".c", ".h"):
                yield file.name.encode()
                yield file.read_bytes()

    def _run(self, flags: Sequence[str], source: pathlib.Path, name: str, include: pathlib.Path) -> None:
        command = [*self.command, *flags, "-I", str(include), "-o", name, source.name]
        # Behind the source: linkers take what is needed. dlopen is in a library of its own before glibc 2.34.
        command += {"linux64": ["-lm", "-ldl"], "darwin64": ["-lm"]}.get(self.platform, [])
        try:
            run = _run_group(command, source.parent)
        except OSError as error:
            raise BuildError(f"cannot run the C compiler {self.command[0]!r}: {error.strerror}; {_REMEDY}") from error
        if run.returncode != 0:
            lines = (run.stderr + run.stdout).splitlines()
            first = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no message")
            raise BuildError(f"the C compiler failed: {first.strip()}; {_REMEDY}\n  command: {shlex.join(command)}")


def _run_group(command: Sequence[str], folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Run a command; where this process is stopped meanwhile, so are the processes that the command has started."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, errors = process.communicate()
    except BaseException:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGTERM)
        else:
            process.kill()
        process.communicate()
        raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def universal_binary(libraries: Sequence[bytes]) -> bytes:
    """Join Mach-O libraries of different processors into one file, each on a page of its own (mach-o/fat.h)."""
    page = 1 << 14
    header = struct.pack(">II", 0xCAFEBABE, len(libraries))
    body = b""
    for library in libraries:
        # The first words of a 64-bit Mach-O file: magic, processor and its variant.
        magic, processor, variant = struct.unpack_from("<III", library)
        if magic != 0xFEEDFACF:
            raise BuildError("the C compiler made no 64-bit Mach-O library")
        body += bytes(-len(body) % page)
        header += struct.pack(">IIIII", processor, variant, page + len(body), len(library), 14)
        body += library
    return header.ljust(page, b"\0") + body


def host_platform() -> str:
    """The FMI 2.0 platform of the running interpreter."""
    name = {"linux": "linux64", "win32": "win64", "darwin": "darwin64"}.get(sys.platform)
    if name is None or sys.maxsize < 2**32:
        raise BuildError(
            f"FMI 2.0 has no 64-bit platform for {sys.platform}: other platforms cannot run FMUs of this version"
        )
    return name


def library_name(model_identifier: str, platform: str) -> str:
    """File name of the shared library of a model."""
    _check(platform, PLATFORMS)
    return model_identifier + PLATFORMS[platform]


def _check(platform: str, known: Collection[str]) -> None:
    if platform not in known:
        raise BuildError(f"unknown platform {platform!r}: one of {', '.join(known)}")


def find_compiler(platform: str | None = None) -> Compiler | None:
    """Find a compiler for a platform, by default the one that runs now; None where there is none.

    For that one: the command in the environment variable CC, then cc, gcc and clang. For others, and where there is
    none of these: zig, from the package ziglang of the extra `mbfmu[cross]`.

    Raises
    ------
    BuildError
        The platform is unknown, or CC names a command that is not there.
    """
    host = host_platform()
    platform = platform or host
    _check(platform, EXTENSIONS)
    if platform == host:
        command = shlex.split(os.environ.get("CC", ""), posix=os.name == "posix")
        if command:
            if shutil.which(command[0]) is None:
                raise BuildError(f"the environment variable CC names {command[0]!r}, which is not found; {_REMEDY}")
            return Compiler(tuple(command), platform)
        for name in ("cc", "gcc", "clang"):
            if path := shutil.which(name):
                return Compiler((path,), platform)
    return find_zig(platform)


def find_zig(platform: str) -> Compiler | None:
    """Return zig, from the package ziglang, as a compiler for a platform; None where it is not installed."""
    _check(platform, EXTENSIONS)
    if importlib.util.find_spec("ziglang") is None:
        return None
    targets = tuple(("-target", target) for target in _ZIG_TARGETS[platform])
    return Compiler((sys.executable, "-m", "ziglang", "cc"), platform, targets)


def require_compiler(platform: str | None = None) -> Compiler:
    """Find a compiler as `find_compiler` does.

    Raises
    ------
    BuildError
        There is none; the message names the remedy.
    """
    compiler = find_compiler(platform)
    if compiler is None:
        raise BuildError(f"no C compiler for {platform or host_platform()}: {_REMEDY}")
    return compiler
