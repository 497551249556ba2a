"""Breaks a random sample of lines, one at a time, and tells which of them no test notices: `make mutants`.

Python is changed by the operators of Cosmic Ray, C by the same ones, written down here. All happens in a clone of the
last commit, `build/mutants`, where the suite runs once to record which tests come by which line. A line of Python is
shown to these, the cheapest first, and what runs at import to those of its own folder, too; a line of C, or one that no
test comes by, to the tests of its own folder, then to all others. The first test that fails ends the run. Results are
added to `build/mutants.jsonl`, so that a run goes on where one with the same seed was stopped:

    python tests/mutants.py [NUMBER] [--seed SEED] [--only PATH] [--quick]
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import difflib
import functools
import itertools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLONE = ROOT / "build" / "mutants"
RESULTS = ROOT / "build" / "mutants.jsonl"
COVERED = CLONE / "build" / "mutants.coverage"
TIMES = CLONE / "build" / "mutants.csv"

#: What is broken, and the tests that are asked first.
FOLDERS = {
    "components": ("tests/components",),
    "mbfmu/cli": ("tests/test_cli.py", "tests/faults"),
    "mbfmu/cosimulation": ("tests/cosimulation", "tests/studies"),
    "mbfmu/demos": ("tests/test_cli.py", "tests/cosimulation"),
    "mbfmu/dynamics": ("tests/dynamics", "tests/components"),
    "mbfmu/export": ("tests/export",),
    "mbfmu/fmi": ("tests/fmi", "tests/test_validation.py"),
    "mbfmu/frames": ("tests/frames",),
    "mbfmu/importers": ("tests/importers",),
    "mbfmu/modeling": ("tests/modeling",),
    "mbfmu/runtime": ("tests/runtime",),
    "mbfmu/scene": ("tests/scene",),
    "mbfmu/studies": ("tests/studies",),
    "mbfmu": ("tests/runtime", "tests/test_validation.py", "tests/test_cli.py"),
    "templates/runtime": ("tests/runtime",),
}

#: Covering tests that run together: many a mutant is noticed by the first.
AT_ONCE = 150

#: Times that are given to changed files, s: none that a file has, nor those of a run before.
_TIMES = itertools.count(int(time.time()) + 10**7)

#: Seconds until tests that do not end are stopped, which is noticed.
PATIENCE = 3600

#: In C: what stands in for what.
OPERATORS = (
    ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"), ("||", "&&"),
    ("+", "-"), ("-", "+"), ("*", "/"), ("/", "*"), ("+=", "-="), ("-=", "+="), ("*=", "/="), ("/=", "*="),
)  # fmt: skip
_TOKEN = re.compile(r" (?:[<>=!+*/-]=|&&|\|\||[<>+*/-]) |(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
_CONDITION = re.compile(r"\b(if|while) \((?=.*\)[^()]*$)")
_STATEMENT = re.compile(r"^\s+(?!for\b|if\b)[\w>\[\].()*-]+ [-+*/]?= [^=].*;$")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A file with one line changed."""

    path: str
    line: int
    operator: str
    text: str

    @property
    def tests(self) -> list[str]:
        """Those that are asked first."""
        name = max((name for name in FOLDERS if self.path.startswith(f"{name}/")), key=len)
        return [path for path in FOLDERS[name] if (CLONE / path).exists()]


def sample(number: int, seed: int, only: str) -> Iterator[Mutant]:
    """Draw mutants: each line of code that can be broken is as likely as any other."""
    chance = random.Random(seed)
    files = [path for pattern in ("*.py", "*.c") for path in sorted(CLONE.rglob(pattern))]
    names = [path.relative_to(CLONE).as_posix() for path in files]
    names = [name for name in names if any(name.startswith(f"{folder}/") for folder in FOLDERS) and only in name]
    lines = [len((CLONE / name).read_text(encoding="utf-8").splitlines()) for name in names]
    drawn = 0
    while drawn < number:
        (name,) = chance.choices(names, lines)
        text = (CLONE / name).read_text(encoding="utf-8")
        at = chance.randrange(len(text.splitlines())) + 1  # where nothing can be broken, draw another
        ways = in_c(text, at) if name.endswith(".c") else in_python(text, at)
        chance.shuffle(ways)
        for operator, change in ways:
            changed = change()
            if changed != text and (is_c(changed, name) if name.endswith(".c") else is_python(changed)):
                drawn += 1
                yield Mutant(name, at, operator, changed)
                break


@functools.cache
def nodes_of(text: str) -> list[Any]:
    """Return the nodes of a module's syntax tree; a large one takes seconds."""
    from cosmic_ray.ast import ast_nodes, get_ast

    return list(ast_nodes(get_ast(text)))


def in_python(text: str, line: int) -> list[tuple[str, Callable[[], str]]]:
    """All ways to break a line of Python, by operator: functions that return the text with the line broken."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    if re.match(r"\s*(#|$)", text.splitlines()[line - 1]):
        return []

    def broken(operator: Any, occurrence: int) -> str:
        return mutate_code(text, operator, occurrence) or text

    nodes, found = nodes_of(text), []
    near = [node for node in nodes if node.start_pos[0] <= line <= node.end_pos[0]]
    for name in sorted(operator_names()):
        if "BinaryOperator_BitOr" in name or "variable" in name.lower():
            continue  # the bars of type hints; operators that want to be told names
        operator = get_operator(name)()
        if not any(start[0] == line for node in near for start, _ in operator.mutation_positions(node)):
            continue  # most operators: what they would do elsewhere in the file takes long to find
        places = [place for node in nodes for place in operator.mutation_positions(node)]
        hits = [i for i, (start, _) in enumerate(places) if start[0] == line]
        found += [(name.removeprefix("core/"), functools.partial(broken, operator, i)) for i in hits]
    return found


def in_c(text: str, line: int) -> list[tuple[str, Callable[[], str]]]:
    """All ways to break a line of C, by operator, as in Python; comments and what is for the preprocessor stay."""
    lines = text.split("\n")
    code = lines[line - 1]
    begun = "\n".join(lines[: line - 1])
    if code.lstrip().startswith("#") or begun.count("/*") > begun.count("*/") or (begun and begun[-1] == "\\"):
        return []
    quiet = re.sub(r'/\*.*?(\*/|$)|"(\\.|[^"\\])*"|//.*', lambda found: "\0" * len(found[0]), code)
    ways = []
    for found in _TOKEN.finditer(quiet):
        token = found[0].strip()
        others = [other for one, other in OPERATORS if one == token]
        if token[0].isdigit():
            others = [re.sub(r"^\d+", lambda n: str(int(n[0]) + 1), token), *(["0"] if token == "1" else [])]
        for other in others:
            changed = code[: found.start()] + found[0].replace(token, other) + code[found.end() :]
            ways.append((f"{token} to {other}", changed))
    ways += [(f"never {f[1]}", f"{code[: f.end()]}0 && {code[f.end() :]}") for f in _CONDITION.finditer(quiet)]
    if _STATEMENT.match(quiet):
        ways.append(("no assignment", f"{' ' * (len(code) - len(code.lstrip()))};"))
    texts = [(name, "\n".join([*lines[: line - 1], changed, *lines[line:]])) for name, changed in ways]
    return [(name, functools.partial(str, changed)) for name, changed in texts]


def is_python(text: str) -> bool:
    """Can it be compiled?"""
    try:
        compile(text, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def is_c(text: str, name: str) -> bool:
    """Do the libraries of the runtime compile with it?"""
    from mbfmu.runtime import build

    with tempfile.TemporaryDirectory() as folder:
        build.write_sources(pathlib.Path(folder))
        pathlib.Path(folder, pathlib.Path(name).name).write_text(text, encoding="utf-8")
        command = ["cc", "-std=c99", "-w", "-fsyntax-only", "-I", str(build.headers()), "library.c", "lane_library.c"]
        return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def written(path: pathlib.Path, text: str) -> Iterator[None]:
    """Have a file say something else for a while.

    Each text has a time of its own: compiled modules, which are known by it to the second, are never those of another.
    """
    kept, before = path.read_bytes(), path.stat().st_mtime
    path.write_text(text, encoding="utf-8")
    os.utime(path, (before, next(_TIMES)))
    try:
        yield
    finally:
        path.write_bytes(kept)
        os.utime(path, (before, before))


def record(quick: bool) -> None:
    """Have the suite, or what is not slow of it, tell which lines each test comes by, and what it takes."""
    if COVERED.exists():
        return
    COVERED.parent.mkdir(exist_ok=True)
    settings = COVERED.with_suffix(".ini")
    settings.write_text(f"[run]\ndata_file = {COVERED}\nsource =\n    mbfmu\n    components\n", encoding="utf-8")
    told = pytest(
        ["--cov", "--cov-context=test", f"--cov-config={settings}", "--cov-report=", f"--cpu={TIMES}", *marked(quick)]
    )
    print(f"recorded; {told or 'all pass'}", flush=True)


def marked(quick: bool) -> list[str]:
    """What pytest is told: quick tests only, or those too that the suite leaves to campaigns."""
    return ["-m", "not slow"] if quick else ["--all-cases"]


class Coverage:
    """Which tests come by a line of Python, the cheapest first."""

    def __init__(self) -> None:
        from coverage import CoverageData

        self.data = CoverageData(str(COVERED))
        self.data.read()
        rows = [row.split(",", 2) for row in TIMES.read_text(encoding="utf-8").splitlines()]
        self.seconds = {test: float(taken) for taken, when, test in rows if when == "call"}

    def tests(self, path: str, line: int) -> tuple[list[str], bool]:
        """Return the tests that run a line's statement, and whether importing does.

        What is made at import is read by tests that come by its file at all, or not even by that.
        """
        by_line = self.data.contexts_by_lineno(str(CLONE / path))
        first, last = statement((CLONE / path).read_text(encoding="utf-8"), line)
        imported = any("" in by_line.get(one, ()) for one in range(first, last + 1))
        found = set() if imported else _tests(by_line, range(first, last + 1))
        found = found or _tests(by_line, by_line)
        return sorted(found, key=lambda test: self.seconds.get(test, 0.0)), imported


def _tests(by_line: dict[int, list[str]], lines: Iterable[int]) -> set[str]:
    return {context.rpartition("|")[0] for line in lines for context in by_line.get(line, ()) if "|" in context}


def statement(text: str, line: int) -> tuple[int, int]:
    """Return the first and last line of the innermost statement at a line; of a compound one, those of its head."""
    found = (line, line)
    for node in ast.walk(ast.parse(text)):  # outer nodes come first
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            found = (node.lineno, body[0].lineno - 1 if body else node.end_lineno or node.lineno)
    return found


def noticed_by(mutant: Mutant, coverage: Coverage, quick: bool) -> str | None:
    """Return the first test that fails, or what else went wrong; None where all pass."""
    covering, imported = coverage.tests(mutant.path, mutant.line) if mutant.path.endswith(".py") else ([], False)
    if covering:
        stages = [covering[i : i + AT_ONCE] for i in range(0, len(covering), AT_ONCE)]
        stages += [[*mutant.tests, "-m", "not slow"]] if imported else []
    else:
        rest = [f"--ignore={path}" for path in mutant.tests]
        stages = [[*mutant.tests, "-m", "not slow"], [*rest, "-m", "not slow"]]
        stages += [] if quick else [[*asked, "-m", "slow", "--all-cases"] for asked in (mutant.tests, rest)]
    for stage in stages:
        told = pytest(["-x", "-q", *stage])
        if told is not None:
            return told
    return None


def pytest(arguments: list[str]) -> str | None:
    """Run tests of the clone; returns the first that fails, or what else went wrong."""
    program = CLONE / ".venv" / "bin" / "pytest"
    named = os.environ.get("MBFMU_REFERENCE", str(ROOT.parent / "shared" / "reference"))
    environment = os.environ | {"MBFMU_REFERENCE": named}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a suite starts many processes
    run = subprocess.Popen(
        [str(program), "-n", "auto", "--maxprocesses", "4", "-p", "no:cacheprovider", *arguments],
        cwd=CLONE,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = run.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        return "does not end"
    if run.returncode in (0, 5):  # 5: there are no such tests
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    return failed[1] if failed else output.strip().splitlines()[-1]


def clone() -> None:
    """Have a clone of the last commit, with an environment of its own."""
    if not CLONE.exists():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(CLONE)], check=True)
    subprocess.run(["git", "fetch", "--quiet", str(ROOT), "HEAD"], cwd=CLONE, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"], cwd=CLONE, check=True)
    subprocess.run(["make", "--quiet", ".venv/.stubs"], cwd=CLONE, check=True)
    install = [".venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ".[mutants]"]
    subprocess.run(install, cwd=CLONE, check=True)


def main() -> int:
    """Draw, break, test, and tell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("number", nargs="?", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a path, of a file or folder")
    parser.add_argument("--quick", action="store_true", help="only tests that are not marked slow")
    asked = parser.parse_args()
    clone()
    record(asked.quick)
    coverage = Coverage()
    known = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    done = {(one["path"], one["line"], one["operator"], one["seed"]): one["by"] for one in known}
    survivors, count = [], 0
    for mutant in sample(asked.number, asked.seed, asked.only):
        count += 1
        key = (mutant.path, mutant.line, mutant.operator, asked.seed)
        path = CLONE / mutant.path
        if key not in done:
            with written(path, mutant.text):
                done[key] = noticed_by(mutant, coverage, asked.quick)
            with RESULTS.open("a") as file:
                names = ("path", "line", "operator", "seed")
                file.write(json.dumps(dict(zip(names, key, strict=True)) | {"by": done[key]}) + "\n")
        print(f"{count}: {mutant.path}:{mutant.line}: {mutant.operator}: {done[key] or 'SURVIVED'}", flush=True)
        if done[key] is None:
            survivors.append(mutant)
    print(f"\n{len(survivors)} of {count} were not noticed")
    for mutant in survivors:
        before = (CLONE / mutant.path).read_text(encoding="utf-8").splitlines()
        after = mutant.text.splitlines()
        print(
            "\n".join(difflib.unified_diff(before, after, mutant.path, mutant.operator, n=1, lineterm="")), end="\n\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
