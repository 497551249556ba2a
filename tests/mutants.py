"""Breaks a random sample of lines, one at a time, and tells which of them no test notices: `make mutants`.

Python is changed by the operators of Cosmic Ray, C by the same ones, written down here. All happens in clones of the
last commit below `build/mutants`, one for each processor. In the first, the suite runs once to record which tests come
by which line of Python and which function of C. A broken line is shown to these until one fails, the cheapest first,
of which few are cases of one test; what runs at import is shown to the quick ones of its own folder, too, and what no
test comes by to all of them. Results are added to `build/mutants.jsonl`, so that a run goes on where one with the same
seed was stopped:

    python tests/mutants.py [NUMBER] [--seed SEED] [--only PATH] [--quick | --all-cases] [--seconds S]
"""

from __future__ import annotations

import argparse
import ast
import collections
import concurrent.futures
import contextlib
import dataclasses
import difflib
import functools
import itertools
import json
import math
import os
import pathlib
import queue
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import functions_reached
from quick_compiler import unoptimized

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLONES = [ROOT / "build" / "mutants" / str(number) for number in range(len(os.sched_getaffinity(0)))]
CLONE = CLONES[0]
RESULTS = ROOT / "build" / "mutants.jsonl"

#: What tests come by: lines of Python, functions of C; and what they take.
COVERED = CLONE / "build" / "mutants.coverage"
REACHED = CLONE / "build" / "mutants.reached"
TIMES = CLONE / "build" / "mutants.csv"

#: What is broken, and its own tests.
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

#: Covering tests run together until they take so long, in seconds: many a mutant is noticed by the first.
STAGES = (2.0, 10.0, 40.0, float("inf"))

#: Times that are given to changed files, s: none that a file has, nor those of a run before.
_TIMES = itertools.count(int(time.time()) + 10**7)

#: Tests that do not end are stopped, which is noticed: seconds that they have at least, and times what they take.
PATIENCE = (120.0, 20.0)

#: In C: what stands in for what.
OPERATORS = (
    ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"), ("||", "&&"),
    ("+", "-"), ("-", "+"), ("*", "/"), ("/", "*"), ("+=", "-="), ("-=", "+="), ("*=", "/="), ("/=", "*="),
)  # fmt: skip
_TOKEN = re.compile(r" (?:[<>=!+*/-]=|&&|\|\||[<>+*/-]) |(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
_CONDITION = re.compile(r"\b(if|while) \((?=.*\)[^()]*$)")
_STATEMENT = re.compile(r"^\s+(?!for\b|if\b)[\w>\[\].()*-]+ [-+*/]?= [^=].*;$")

#: In Python: what a type checker holds, or what takes time only.
_PROMISE = re.compile(
    r"\s*(if TYPE_CHECKING:|"
    r"@(abc\.abstractmethod|dataclasses\.dataclass\(frozen=True(, slots=True)?\)|functools\.(lru_)?cache\b.*))$"
)
#: In Python: what says that lengths are equal.
_STRICT = re.compile(r"\bstrict\s*=\s*(True|False)\b")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A file with one line changed."""

    path: str
    line: int
    operator: str
    text: str

    @property
    def tests(self) -> list[str]:
        """Those of its folder."""
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
            if changes_nothing(text, changed):
                continue
            if is_c(changed, name) if name.endswith(".c") else is_python(changed):
                drawn += 1
                yield Mutant(name, at, operator, changed)
                break


@functools.cache
def nodes_of(text: str) -> list[Any]:
    """Return the nodes of a module's syntax tree; a large one takes seconds."""
    from cosmic_ray.ast import ast_nodes, get_ast

    return list(ast_nodes(get_ast(text)))


@functools.cache
def lines_of_protocols(text: str) -> frozenset[int]:
    """Lines of classes that only say what others have, which a type checker holds."""
    classes = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.ClassDef)]
    protocols = [one for one in classes if any("Protocol" in ast.unparse(base) for base in one.bases)]
    return frozenset(line for one in protocols for line in range(one.lineno, (one.end_lineno or one.lineno) + 1))


def in_python(text: str, line: int) -> list[tuple[str, Callable[[], str]]]:
    """All ways to break a line of Python, by operator: functions that return the text with the line broken."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    code = text.splitlines()[line - 1]
    if re.match(r"\s*(#|$)", code) or _PROMISE.match(code) or line in lines_of_protocols(text):
        return []

    def broken(operator: Any, occurrence: int) -> str:
        try:
            return mutate_code(text, operator, occurrence) or text
        except AttributeError:  # of `except ca.SomeError`, whose name it does not find
            return text

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


def changes_nothing(text: str, changed: str) -> bool:
    """Is it the same, but that `zip` does not complain of lengths, which are equal?"""
    return _STRICT.sub("strict=True", changed) == _STRICT.sub("strict=True", text)


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


def record(options: list[str]) -> None:
    """Have tests tell what each of them comes by, and what it takes."""
    if TIMES.exists():
        return
    COVERED.parent.mkdir(exist_ok=True)
    settings = COVERED.with_suffix(".ini")
    settings.write_text(f"[run]\ndata_file = {COVERED}\nsource =\n    mbfmu\n    components\n", encoding="utf-8")
    told = ["--cov", "--cov-context=test", f"--cov-config={settings}", "--cov-report="]
    told += ["-n", "auto", "--dist", "worksteal", f"--cpu={TIMES}", "-p", "functions_reached", *options]
    runtime = CLONE / "templates" / "runtime"
    with functions_reached.told(runtime):
        further = {"PYTHONPATH": str(ROOT / "tests"), functions_reached.FILE: str(REACHED)}
        failed = pytest(CLONE, told, PATIENCE[0] * 60, further)
    print(f"recorded; {failed or 'all pass'}", flush=True)


class Coverage:
    """Which tests come by a line, the cheapest first."""

    def __init__(self) -> None:
        from coverage import CoverageData

        self.data = CoverageData(str(COVERED))
        self.data.read()
        rows = [row.split(",", 2) for row in TIMES.read_text(encoding="utf-8").splitlines()]
        self.seconds = {test: float(taken) for taken, when, test in rows if when == "call"}
        self.reached = functions_reached.read(REACHED)

    def tests(self, path: str, line: int) -> tuple[list[str], bool]:
        """Return the tests that run a line's statement, or its function of C, and whether importing does.

        What is made at import, or stands between functions, is read by tests that come by its file at all, or not even
        by that.
        """
        text = (CLONE / path).read_text(encoding="utf-8")
        if path.endswith(".c"):
            of_file = self.reached.get(pathlib.Path(path).name, {})
            function = functions_reached.function_at(text, line)
            found = of_file.get(function, set()) if function is not None else set().union(*of_file.values())
            return self.cheapest_first(found), False
        by_line = self.data.contexts_by_lineno(str(CLONE / path))
        first, last = statement(text, line)
        imported = any("" in by_line.get(one, ()) for one in range(first, last + 1))
        found = set() if imported else _tests(by_line, range(first, last + 1))
        return self.cheapest_first(found or _tests(by_line, by_line)), imported

    def cheapest_first(self, tests: Iterable[str]) -> list[str]:
        """Return tests in the order of what they take, by which each case of a function counts for all before it."""
        cases: collections.Counter[str] = collections.Counter()
        counts = {}
        for test in sorted(tests, key=lambda test: (self.seconds.get(test, 0.0), test)):
            cases[test.partition("[")[0]] += 1
            counts[test] = (self.seconds.get(test, 0.0) + 0.02) * cases[test.partition("[")[0]]
        return sorted(counts, key=counts.__getitem__)

    def stages(self, tests: list[str], most: float) -> Iterator[list[str]]:
        """Return tests in groups, each of which takes longer than the one before, until all take so many seconds."""
        limits, group, taken = iter(STAGES), [], 0.0
        limit = next(limits)
        for test in tests:
            most -= self.seconds.get(test, 0.0)
            if most < 0:
                break
            group.append(test)
            taken += self.seconds.get(test, 0.0)
            if taken > limit:
                yield group
                limit, group, taken = next(limits), [], 0.0
        if group:
            yield group


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


def noticed_by(mutant: Mutant, where: pathlib.Path, coverage: Coverage, asked: argparse.Namespace) -> str | None:
    """Return the first test that fails in a clone, or what else went wrong; None where all pass."""
    covering, imported = coverage.tests(mutant.path, mutant.line)
    # The runtime, too: to optimise what is shown to tests once would take longer than they do.
    compiler = unoptimized(where) if mutant.path.endswith(".c") else None
    further = {"CC": compiler} if compiler else {}
    for stage in coverage.stages(covering, asked.seconds):
        least, times = PATIENCE
        patience = least + times * sum(coverage.seconds.get(test, 0.0) for test in stage)
        told = pytest(where, ["-x", "-q", *stage], patience, further)
        if told is not None:
            return told
    if imported or not covering:
        options = ["-m", "not slow"] if imported else asked.options
        return pytest(where, ["-x", "-q", *mutant.tests, *options], 3600, further)
    return None


def pytest(
    where: pathlib.Path, arguments: list[str], patience: float, further: Mapping[str, str] | None = None
) -> str | None:
    """Run tests of a clone, with further variables; returns the first that fails, or what else went wrong."""
    program = where / ".venv" / "bin" / "pytest"
    named = os.environ.get("MBFMU_REFERENCE", str(ROOT.parent / "shared" / "reference"))
    environment = os.environ | {"MBFMU_REFERENCE": named} | (further or {})
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a suite starts many processes
    run = subprocess.Popen(
        [str(program), "-p", "no:cacheprovider", *arguments],
        cwd=where,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = run.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        return "does not end"
    if run.returncode in (0, 5):  # 5: there are no such tests
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    return failed[1] if failed else (output.strip().splitlines() or ["a crash"])[-1]


def clone(where: pathlib.Path) -> None:
    """Have a clone of the last commit, with an environment of its own."""
    if not where.exists():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(where)], check=True)
    subprocess.run(["git", "fetch", "--quiet", str(ROOT), "HEAD"], cwd=where, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"], cwd=where, check=True)
    subprocess.run(["make", "--quiet", ".venv/.stubs"], cwd=where, check=True)
    install = [".venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ".[mutants]"]
    subprocess.run(install, cwd=where, check=True)


def results(
    mutants: Iterable[Mutant], coverage: Coverage, asked: argparse.Namespace
) -> Iterator[tuple[Mutant, str | None]]:
    """Show mutants to tests, one in each clone at a time; returns each with what notices it, in their order."""
    known = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    done = {(one["path"], one["line"], one["operator"], one["seed"]): one["by"] for one in known}
    free: queue.SimpleQueue[pathlib.Path] = queue.SimpleQueue()
    for where in CLONES:
        free.put(where)

    def show(mutant: Mutant) -> str | None:
        key = (mutant.path, mutant.line, mutant.operator, asked.seed)
        if key not in done:
            where = free.get()
            with written(where / mutant.path, mutant.text):
                done[key] = noticed_by(mutant, where, coverage, asked)
            free.put(where)
            with RESULTS.open("a") as file:
                names = ("path", "line", "operator", "seed")
                file.write(json.dumps(dict(zip(names, key, strict=True)) | {"by": done[key]}) + "\n")
        return done[key]

    with concurrent.futures.ThreadPoolExecutor(len(CLONES)) as pool:
        drawn = list(mutants)
        yield from zip(drawn, pool.map(show, drawn), strict=True)


def main() -> int:
    """Draw, break, test, and tell."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("number", nargs="?", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a path, of a file or folder")
    which = parser.add_mutually_exclusive_group()
    for option, told in (("--quick", ["-m", "not slow"]), ("--all-cases", ["--all-cases"])):
        which.add_argument(option, dest="options", action="store_const", const=told, default=[], help=" ".join(told))
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="that tests of a line take at most, the cheapest"
    )
    asked = parser.parse_args()
    for where in CLONES:
        clone(where)
    record(asked.options)
    survivors, count = [], 0
    mutants = sample(asked.number, asked.seed, asked.only)
    for mutant, by in results(mutants, Coverage(), asked):
        count += 1
        print(f"{count}: {mutant.path}:{mutant.line}: {mutant.operator}: {by or 'SURVIVED'}", flush=True)
        if by is None:
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
