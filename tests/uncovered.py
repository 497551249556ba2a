"""Prints the lines that no test comes by: `make uncovered`. What a mutant would tell there, it tells at once.

Of Python what coverage.py sees in the processes that run tests, of the C runtime what Clang counts in everything that
the suite compiles: a line counts where any library has run it. All happens in the first clone of `make mutants`, not
while that runs; Clang and LLVM's llvm-profdata and llvm-cov are needed. Arguments are pytest's:

    python tests/uncovered.py [tests/runtime ...]
"""

from __future__ import annotations

import collections
import contextlib
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator

import mutants

CLONE = mutants.CLONE
FOLDER = CLONE / "build" / "uncovered"
RUNTIME = CLONE / "templates" / "runtime"

#: Of a file in the cache, its checksum.
CHECKSUM = 32

#: Lines of C that run nothing, though counts stand at them.
IDLE = re.compile(r"\s*(/\*|\*|//|#|[{}\s]*$)")


def tool(name: str) -> str:
    """Path of a program, also where its name ends with a version."""
    for folder in map(pathlib.Path, ("/usr/bin", "/usr/local/bin", "/opt/homebrew/opt/llvm/bin")):
        for found in (shutil.which(name), *sorted(map(str, folder.glob(f"{name}-*")), reverse=True)):
            if found:
                return found
    sys.exit(f"{name} is not found; install clang and llvm")


@contextlib.contextmanager
def compiled_anew() -> Iterator[None]:
    """Libraries that came with the installation do not count: the runtime differs from theirs by a comment."""
    header = RUNTIME / "runtime.h"
    text = header.read_text(encoding="utf-8")
    header.write_text(text + "\n/* Lines are counted. */\n", encoding="utf-8")
    try:
        yield
    finally:
        header.write_text(text, encoding="utf-8")


def run(arguments: list[str]) -> None:
    """Run tests, and have lines counted."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    settings = FOLDER / "coverage.ini"
    settings.write_text(
        f"[run]\ndata_file = {FOLDER / 'python'}\nsource =\n    mbfmu\n    components\n", encoding="utf-8"
    )
    counting = [tool("clang"), "-fprofile-instr-generate", "-fcoverage-mapping"]
    further = {
        "CC": shlex.join([str(CLONE / "tests" / "unoptimized"), *counting]),
        "LLVM_PROFILE_FILE": str(FOLDER / "%4m.profraw"),
        "MBFMU_CACHE": str(FOLDER / "cache"),
    }
    told = ["--cov", f"--cov-config={settings}", "--cov-report=", "-n", "auto", "--dist", "worksteal", *arguments]
    with compiled_anew():
        failed = mutants.pytest(CLONE, told, mutants.PATIENCE[0] * 60, further)
    print(f"counted; {failed or 'all pass'}", file=sys.stderr)


def of_python() -> Iterator[tuple[str, int]]:
    """Statements of Python that did not run."""
    import coverage

    found = coverage.Coverage(data_file=str(FOLDER / "python"), config_file=False)
    found.load()
    for name in sorted(found.get_data().measured_files()):
        if pathlib.Path(name).exists():
            for line in found.analysis2(name)[3]:
                yield pathlib.Path(name).relative_to(CLONE).as_posix(), line


def of_c() -> Iterator[tuple[str, int]]:
    """Lines of the runtime that no library has run."""
    profiles = [path for path in FOLDER.glob("*.profraw") if _merged([path])]
    _merged(profiles)
    counts: dict[tuple[str, int], int] = collections.defaultdict(int)
    for entry in (FOLDER / "cache").iterdir():
        library = FOLDER / "library"
        library.write_bytes(entry.read_bytes()[CHECKSUM:])
        command = [tool("llvm-cov"), "export", "-format=lcov", str(library), f"-instr-profile={FOLDER / 'merged'}"]
        told = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout
        name = ""
        for line in told.splitlines():
            key, _, value = line.partition(":")
            if key == "SF":
                name = pathlib.Path(value).name
            elif key == "DA" and (RUNTIME / name).is_file():
                number, count = map(int, value.split(",")[:2])
                counts[f"templates/runtime/{name}", number] = max(count, counts[f"templates/runtime/{name}", number])
    yield from sorted(place for place, count in counts.items() if not count)


def _merged(profiles: list[pathlib.Path]) -> bool:
    """Merge counts; a file that a killed process has left behind is none."""
    command = [tool("llvm-profdata"), "merge", "-sparse", *map(str, profiles), "-o", str(FOLDER / "merged")]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def main() -> int:
    """Count, and print."""
    mutants.clone(CLONE)
    run(sys.argv[1:])
    texts: dict[str, list[str]] = {}
    for name, line in (*of_python(), *of_c()):
        if name not in texts:
            texts[name] = (CLONE / name).read_text(encoding="utf-8").splitlines()
        text = texts[name][line - 1]
        if not (name.endswith((".c", ".h")) and IDLE.match(text)):
            print(f"{name}:{line}: {text.strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
