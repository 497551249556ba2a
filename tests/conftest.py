"""Fixtures and settings that every test shares."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
from left_out import left_to_campaigns
from quick_compiler import unoptimized

# The first call of a CasADi function costs more than any deadline; a fixed seed makes a failure repeatable.
hypothesis.settings.register_profile("campaigns", deadline=None, derandomize=True)
hypothesis.settings.register_profile("mbfmu", parent=hypothesis.settings.get_profile("campaigns"), max_examples=25)

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What is compiled here is kept here: other checkouts, and the user's own builds, do not push it out of its folder.
# The suite compiles more than a user's cache holds: what is pushed out before the next run comes by would be of no use.
os.environ.setdefault("MBFMU_CACHE", str(ROOT / "build" / "cache"))
os.environ.setdefault("MBFMU_CACHE_SIZE", str(10**9))

# Most of what is compiled here runs for some milliseconds: it is compiled without optimisation, in half the time, with
# clang in a quarter. What uses the fixtures `users_compiler` and `as_users_compile` is compiled as elsewhere.
UNOPTIMIZED = unoptimized(ROOT)

#: CPU seconds from which a test function, with all its cases, is to be marked `slow`.
SLOW_FROM = 0.15


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `pytest --help` shows."""
    group = parser.getgroup("mbfmu")
    group.addoption("--campaigns", action="store_true", help="all cases, and random campaigns at full size")
    group.addoption("--all-cases", action="store_true", help="what is left to `make campaigns`, too")
    group.addoption("--cpu", metavar="FILE", help="write what each test took of the processor, in seconds, as CSV")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the compiler and how many examples Hypothesis makes, and measure in the process that reports."""
    hypothesis.settings.load_profile("campaigns" if config.getoption("--campaigns") else "mbfmu")
    if not hasattr(config, "workerinput"):
        _make_libraries()
        config.pluginmanager.register(Times(config.getoption("--cpu")))
    if os.name == "posix" and UNOPTIMIZED is not None:
        os.environ.setdefault("CC", UNOPTIMIZED)  # workers inherit it


def _make_libraries() -> None:
    """Compile the runtime as for users where its sources have changed: without optimisation it would stay so, slow."""
    from mbfmu.errors import BuildError
    from mbfmu.runtime.host import host_library

    with contextlib.suppress(BuildError):  # tests that take it tell
        host_library()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to `make campaigns` what is marked so, unless an option or FILE::TEST[CASE] asks for it."""
    left_out = left_to_campaigns(items)
    for item in left_out:
        item.add_marker("left_out")
    asked = config.getoption("--campaigns") or config.getoption("--all-cases")
    if left_out and not asked and not any("::" in argument for argument in config.args):
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.get_closest_marker("left_out") is None]


def pytest_collection_finish() -> None:
    """Keep the tests themselves, half a million objects, out of further collections of garbage."""
    gc.collect()
    gc.freeze()


def cpu_seconds() -> float:
    """What this process and those that it has waited for took of the processor until now, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Begin to measure a test."""
    item.cpu = cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Tell with the report of each phase what it took; workers of pytest-xdist send that along."""
    report = yield
    now = cpu_seconds()
    report.cpu, item.cpu = now - item.cpu, now
    report.slow = item.get_closest_marker("slow") is not None
    return report


class Times:
    """CPU times of all tests: load on the machine does not change them much, unlike the times of a clock."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.phases: dict[tuple[str, str], float] = {}
        self.functions: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what a phase took. What is set up once for several tests counts for none."""
        if not hasattr(report, "cpu"):  # of a test whose worker has crashed
            return
        self.phases[report.nodeid, report.when] = report.cpu
        if report.when == "call" and not report.slow:
            function = report.nodeid.partition("[")[0]
            self.functions[function] = self.functions.get(function, 0) + report.cpu

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name what `make quick` had better leave out, and write the table."""
        long = {function: taken for function, taken in self.functions.items() if taken > SLOW_FROM}
        if long:
            terminalreporter.section(f"more than {SLOW_FROM:g} s of CPU time, and not marked slow")
        for function, taken in sorted(long.items(), key=lambda item: -item[1]):
            terminalreporter.line(f"{taken:5.1f} s {function}")
        terminalreporter.line(f"CPU time of all tests: {sum(self.phases.values()):.0f} s")
        if self.path:
            rows = [f"{taken:.3f},{when},{test}\n" for (test, when), taken in self.phases.items()]
            pathlib.Path(self.path).write_text("".join(rows), encoding="utf-8")


@pytest.fixture
def campaign(request: pytest.FixtureRequest) -> Callable[[Any, Any], Any]:
    """Return a function of two sizes of a campaign: it gives the first, with `--campaigns` the second."""
    return lambda sample, full: full if request.config.getoption("--campaigns") else sample


@pytest.fixture(scope="session", autouse=True)
def _loggers_live_on() -> Iterator[None]:
    """Keep the loggers that runs of FMPy are given: its proxy in C goes on to call the last one, in later runs, too."""
    import fmpy.logging

    add, kept = fmpy.logging.addLoggerProxy, []

    def add_and_keep(callbacks: Any) -> None:
        kept.append(callbacks._obj)
        add(callbacks)

    fmpy.logging.addLoggerProxy = add_and_keep
    yield
    fmpy.logging.addLoggerProxy = add


@pytest.fixture(scope="session")
def reference() -> pathlib.Path:
    """Return the folder of reference cases: that of MBFMU_REFERENCE, else ../shared/reference; skip where it is not."""
    named = os.environ.get("MBFMU_REFERENCE")
    folder = pathlib.Path(named) if named else ROOT.parent / "shared" / "reference"
    if not folder.is_dir():
        pytest.skip(f"no reference trajectories in {folder}; MBFMU_REFERENCE names another folder")
    return folder


@pytest.fixture
def instance_of(tmp_path: pathlib.Path) -> Iterator[Callable[..., Any]]:
    """Return a function that makes an `Instance` of an FMU (tests/instances.py); all are freed at the end."""
    from instances import Instance

    made: list[Any] = []

    def make(path: pathlib.Path, kind: str = "coSimulation") -> Any:
        made.append(Instance(path, tmp_path / f"instance{len(made)}", kind))
        return made[-1]

    yield make
    for one in made:
        one.fmu.terminate()
        one.fmu.freeInstance()


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """Return the checkout's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def as_users_compile() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Return a context manager in which C is compiled as for users, by the compiler and with the options of theirs."""

    @contextlib.contextmanager
    def without() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            if UNOPTIMIZED is not None and os.environ.get("CC") == UNOPTIMIZED:
                patch.delenv("CC")
            yield

    return without


@pytest.fixture
def users_compiler(as_users_compile: Callable[[], contextlib.AbstractContextManager[None]]) -> Iterator[None]:
    """Compile C as for users in this test."""
    with as_users_compile():
        yield


@functools.cache
def _has_sanitizers(command: tuple[str, ...]) -> bool:
    """Can a compiler link programs with sanitizers?"""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "empty.c")
        file.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        words = [*command, "-fsanitize=address,undefined", "-o", str(file.with_suffix("")), str(file)]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.fixture
def compiler_with_sanitizers(
    as_users_compile: Callable[[], contextlib.AbstractContextManager[None]],
) -> Iterator[None]:
    """Take the suite's compiler where it has sanitizers: clang compiles with them in half the time of gcc."""
    from mbfmu.runtime.compilers import find_compiler

    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    with contextlib.nullcontext() if _has_sanitizers(tuple(compiler.command)) else as_users_compile():
        yield


@pytest.fixture(scope="session")
def gallery_system() -> Callable[[str], Any]:
    """Return a function that gives the System of one of the gallery, with its scene, derived once in a process."""
    from mbfmu.dynamics.system import System
    from mbfmu.sources import load

    return functools.cache(lambda name: System.of(load(name, ()), scene=True))


@pytest.fixture(scope="session")
def gallery_fmu(
    gallery_system: Callable[[str], Any],
    tmp_path_factory: pytest.TempPathFactory,
    as_users_compile: Callable[[], contextlib.AbstractContextManager[None]],
) -> Callable[..., pathlib.Path]:
    """Return a function of a name of the gallery and options of `build` that gives the FMU: it is not to be changed."""
    from mbfmu.export.build import build

    @functools.cache
    def get(name: str, **options: Any) -> pathlib.Path:
        with as_users_compile():
            return build(gallery_system(name), tmp_path_factory.mktemp("gallery") / f"{name}.fmu", **options)

    return get
