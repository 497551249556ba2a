"""C compilers: which there are, and how they are called."""

from __future__ import annotations

import concurrent.futures
import contextlib
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
import sysconfig
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Self

from mbfmu.errors import BuildError
from mbfmu.runtime.cache import cached

#: Platforms as FMI 2.0 calls them (FMI 2.0.5, section 2.3: but for x86 and macOS in the words of FMI 3.0), and the
#: extension of their libraries.
PLATFORMS = {
    "linux64": ".so",
    "win64": ".dll",
    "darwin64": ".dylib",
    "aarch64-linux": ".so",
    "aarch64-windows": ".dll",
}

#: All that libraries are made for: WebAssembly, too, for programs in browsers, which is no platform of FMI's.
EXTENSIONS = {**PLATFORMS, "wasm32": ".wasm"}

#: Zig's targets of a platform; the libraries of several are joined. FMI 2.0 knows one macOS, which is two processors.
_ZIG_TARGETS = {
    "linux64": ("x86_64-linux-gnu.2.17",),
    "win64": ("x86_64-windows-gnu",),
    "darwin64": ("x86_64-macos.11.0", "aarch64-macos.11.0"),
    "aarch64-linux": ("aarch64-linux-gnu.2.17",),
    "aarch64-windows": ("aarch64-windows-gnu",),
    "wasm32": ("wasm32-wasi",),
}

#: Functions of which compilers know identities, such as sin(atan(x)) as a root, and values of constants, with another
#: rounding than that of the mathematical library. Without sin and cos, of which they make one call.
_KNOWN = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cosh", "exp", "expm1", "hypot", "log", "log1p", "pow",
    "sinh", "tan", "tanh",
)  # fmt: skip

#: The same bits from every compiler: no multiplication and addition at once, either, where a processor has that.
_EXACT = ("-ffp-contract=off", *(f"-fno-builtin-{name}" for name in _KNOWN))

_FLAGS = ("-std=c99", "-fno-math-errno", *_EXACT, "-fvisibility=hidden", "-w")

#: Position-independent where that is a choice, and without what only a debugger reads. For macOS zig writes a random
#: identity beside it.
_COMPILING = {
    "linux64": ("-fPIC", "-DPORTABLE", "-fno-asynchronous-unwind-tables"),
    "win64": (),
    "darwin64": ("-fPIC", "-g0"),
    "aarch64-linux": ("-fPIC", "-DPORTABLE", "-fno-asynchronous-unwind-tables"),
    "aarch64-windows": (),
    "wasm32": (),
}

#: Without the names that only a debugger reads.
_LINKING = {
    "linux64": ("-shared", "-s", "-Wl,--build-id=none,--as-needed"),
    "win64": ("-shared", "-s"),
    "darwin64": ("-shared", "-g0"),
    "aarch64-linux": ("-shared", "-s", "-Wl,--build-id=none,--as-needed"),
    "aarch64-windows": ("-shared", "-s"),
    "wasm32": ("-mexec-model=reactor", "-s", "-Wl,--export-dynamic", "-Wl,--export=malloc", "-Wl,--export=free"),
}

#: Behind what is linked: linkers take what is needed. dlopen is in a library of its own before glibc 2.34.
_LIBRARIES = {"linux64": ("-lm", "-ldl"), "darwin64": ("-lm",), "aarch64-linux": ("-lm", "-ldl")}

_REMEDY = "install a C compiler or `pip install mbfmu[cross]`, or use --equations interpreted"


#: Compilers that run at a time, of all libraries that are in the making.
_PROCESSORS = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
_FREE = threading.BoundedSemaphore(_PROCESSORS)


@contextlib.contextmanager
def own_work() -> Iterator[None]:
    """Keep a processor, where one is free, from further compilers: in the block this process has work for it itself.

    The compiler that takes longest would otherwise share a processor with it, and everybody waits for that one.
    """
    is_kept = _FREE.acquire(blocking=False)
    try:
        yield
    finally:
        if is_kept:
            _FREE.release()


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

        Raises:
            BuildError: The compiler fails; the message has its first error line and the command.
        """
        with Compilation(self, source.parent, name, include) as compilation:
            compilation.start_whole(source.name, [optimize])
            return compilation.library()

    def origin(self, words: Iterable[str], files: Iterable[pathlib.Path]) -> Iterator[bytes]:
        """Everything that a file depends on: the compiler, told by its file or package, its words, what it reads."""
        for word in (*self.command, *words):
            yield word.encode()
        program = pathlib.Path(shutil.which(self.command[0]) or self.command[0]).resolve()
        if program.is_file():
            status = program.stat()
            yield f"{program} {status.st_size} {status.st_mtime_ns}".encode()
        if "ziglang" in self.command:
            yield importlib.metadata.version("ziglang").encode()
        for file in sorted(files, key=lambda file: file.name):
            if file.suffix in (".c", ".h", ".o"):
                yield file.name.encode()
                yield file.read_bytes()


class Compilation:
    """A library in the making: sources are compiled side by side, each from when it is there, and then linked.

    Whatever still runs is stopped at the end of the block: where something fails, or the user stops the whole.

    Args:
        compiler: That for the library's platform.
        folder: Where the sources are; what is made of them goes there, too.
        name: File name of the library.
        include: A folder of further headers.
    """

    def __init__(self, compiler: Compiler, folder: pathlib.Path, name: str, include: pathlib.Path) -> None:
        self._compiler, self._folder, self._name, self._include = compiler, folder, name, include
        self._processes = _Processes()
        self._pool = concurrent.futures.ThreadPoolExecutor(_PROCESSORS)
        #: For each target of the compiler, what is linked, in its order.
        self._objects: list[list[concurrent.futures.Future[pathlib.Path]]] = [[] for _ in compiler.targets]
        self._whole: list[concurrent.futures.Future[pathlib.Path]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.stop()
        self._pool.shutdown(cancel_futures=True)

    def start(self, source: str, options: Sequence[str], reads: Iterable[str]) -> None:
        """Compile a source as soon as a processor is free; `reads` has the names of all files that it includes."""
        files = [self._folder / name for name in (source, *reads)]
        for number, target in enumerate(self._compiler.targets):
            words = [*target, *_FLAGS, *_COMPILING[self._compiler.platform], *options, "-c"]
            to = f"{pathlib.Path(source).stem}.o"
            self._objects[number].append(self._pool.submit(self._make, number, words, [f"../{source}"], to, files))

    def start_whole(self, source: str, options: Sequence[str]) -> None:
        """Compile and link the only source, as soon as a processor is free; it may include all that is there."""
        platform, files = self._compiler.platform, list(self._folder.iterdir())
        for number, target in enumerate(self._compiler.targets):
            words = [*target, *_FLAGS, *_COMPILING[platform], *_LINKING[platform], *options]
            self._whole.append(self._pool.submit(self._make, number, words, [f"../{source}"], self._name, files))

    def library(self) -> bytes:
        """Wait for the compilers, and return the library.

        Raises:
            BuildError: A compiler fails; the message has its first error line and the command.
        """
        for done in concurrent.futures.as_completed([done for row in self._objects for done in row]):
            done.result()  # the first that fails, not the first in the row
        if not self._whole:
            for number, (target, row) in enumerate(zip(self._compiler.targets, self._objects, strict=True)):
                objects = [done.result() for done in row]
                words, names = [*target, *_LINKING[self._compiler.platform]], [file.name for file in objects]
                self._whole.append(self._pool.submit(self._make, number, words, names, self._name, objects))
        libraries = [done.result().read_bytes() for done in self._whole]
        return libraries[0] if len(libraries) == 1 else universal_binary(libraries)

    def _make(
        self, number: int, words: Sequence[str], sources: Sequence[str], name: str, files: Sequence[pathlib.Path]
    ) -> pathlib.Path:
        """Make a file for one of the targets, in a folder for it, or take that of an earlier build."""
        made = self._folder / f"{self._compiler.platform}-{number}" / name
        made.parent.mkdir(exist_ok=True)
        libraries = () if "-c" in words else _LIBRARIES.get(self._compiler.platform, ())
        command = [*self._compiler.command, *words, "-I", str(self._include), "-o", name, *sources, *libraries]

        def make() -> bytes:
            self._run(command, made.parent)
            if not made.is_file() or not made.stat().st_size:
                raise BuildError(
                    f"the C compiler {self._compiler.command[0]!r} made no library, without a message; {_REMEDY}"
                )
            return made.read_bytes()

        origin = self._compiler.origin([*words, name], [*files, *self._include.iterdir()])
        made.write_bytes(cached(origin, make))
        return made

    def _run(self, command: Sequence[str], folder: pathlib.Path) -> None:
        try:
            run = self._processes.run(command, folder)
        except OSError as error:
            program = self._compiler.command[0]
            raise BuildError(f"cannot run the C compiler {program!r}: {error.strerror}; {_REMEDY}") from error
        if run.returncode != 0:
            lines = (run.stderr + run.stdout).splitlines()
            first = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "no message")
            raise BuildError(f"the C compiler failed: {first.strip()}; {_REMEDY}\n  command: {shlex.join(command)}")


class _Processes:
    """Processes that threads wait for, and that another one can stop."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(self, command: Sequence[str], folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
        """Run a command when fewer run than there are processors."""
        with _FREE:
            with self._lock:
                if self._stopped:
                    raise BuildError("the C compiler was stopped")
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                )
                self._running.add(process)
            output, errors = process.communicate()
            with self._lock:
                self._running.remove(process)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def stop(self) -> None:
        """Stop all that run, with the processes that they have started; no other one starts."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                if process.poll() is not None:
                    continue
                if os.name == "posix":
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGTERM)
                else:
                    process.kill()


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
    """The platform of the running interpreter, one of `PLATFORMS`."""
    name = {"linux": "linux64", "win32": "win64", "darwin": "darwin64"}.get(sys.platform)
    if name is None or sys.maxsize < 2**32:
        raise BuildError(
            f"FMI 2.0 has no 64-bit platform for {sys.platform}: other platforms cannot run FMUs of this version"
        )
    # On Windows a Python for x86 may run on the other processor: it loads what is for x86.
    is_arm = sysconfig.get_platform().endswith(("aarch64", "arm64"))
    return {"linux64": "aarch64-linux", "win64": "aarch64-windows"}.get(name, name) if is_arm else name


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

    Raises:
        BuildError: The platform is unknown, or CC names a command that is not there.
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

    Raises:
        BuildError: There is none; the message names the remedy.
    """
    compiler = find_compiler(platform)
    if compiler is None:
        raise BuildError(f"no C compiler for {platform or host_platform()}: {_REMEDY}")
    return compiler
