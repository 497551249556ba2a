"""What is too long for the suite: `python tests/studies/campaign.py [threads] [cluster] [million] [tasks] ...`.

- `threads`: 10,000 double pendulums in one to all threads of this machine: time, share of the ideal, memory.
- `cluster`: the same through a LocalCluster of two processes, and through `dask scheduler` and two `dask worker`
  started as commands of their own in an empty folder; one of these is killed midway; interrupted and gone on; 1 % made
  to fail. Results are compared to the last bit.
- `million`: a million pendulums with two reductions: time, and the greatest memory.
- `tasks`: how many tasks a second the scheduler takes, and what a run costs in bytes.
- `chirp`: the linear model of every gallery assembly along its motion, states disturbed and inputs driven by a chirp,
  against the nonlinear FMU.
- `coverage`: how often stated intervals of 1,000 fits hold what made the data, and what chance allows.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import mbfmu
from mbfmu.runtime.batch import cores
from mbfmu.studies import store
from mbfmu.studies.sweep import Sweep

RUNS = 10_000
KEPT = ["revolute1.phi:final", "revolute2.w:absmax"]
VALUES = {"revolute1.phi": f"linspace:-3:3:{RUNS}"}


def say(text: str) -> None:
    print(text, flush=True)


def pendulums(**options: Any) -> Sweep:
    return mbfmu.sweep(mbfmu.load("double_pendulum"), VALUES, KEPT, **options)


def same(one: Sweep, other: Sweep) -> None:
    for name in one.columns:
        np.testing.assert_array_equal(one[name], other[name])


def timed(work: Any) -> tuple[Any, float, float]:
    """What work gives, its time and its CPU time, s."""
    begin, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - begin, time.process_time() - cpu


def threads() -> None:
    system = mbfmu.System.of(mbfmu.load("double_pendulum"))
    mbfmu.sweep(system, {"damper.d": [0.1]}, KEPT)
    alone = None
    for count in (1, 2, cores()):
        _, wall, cpu = timed(lambda n=count: mbfmu.sweep(system, VALUES, KEPT, threads=n))
        alone = alone or wall
        say(f"{RUNS} double pendulums, {count} threads: {wall:.2f} s, {cpu:.2f} s CPU, "
            f"{alone / wall / count:.0%} of the ideal")  # fmt: skip
    say(f"greatest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB")


def million() -> None:
    with tempfile.TemporaryDirectory() as folder:
        system = mbfmu.System.of(mbfmu.load("pendulum"))
        values = {"damper.d": "linspace:0:1:1000", "rev.phi": "linspace:-3:3:1000"}
        kept = ["rev.phi:final", "rev.w:rms"]
        path = pathlib.Path(folder) / "sweep.parquet"
        found, wall, cpu = timed(lambda: mbfmu.sweep(system, values, kept, 5.0, path=path))
        size = path.stat().st_size / 1e6
        say(f"{len(found)} pendulums over 5 s as Parquet: {wall:.1f} s, {cpu:.1f} s CPU, {size:.0f} MB")
        assert np.isfinite(found["rev.phi:final"]).all()
    say(f"greatest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB")


@contextlib.contextmanager
def commands(folder: str) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers, each started as a command in a folder without anything of ours."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    dask = pathlib.Path(sys.executable).parent / "dask"
    address = f"tcp://127.0.0.1:{port}"
    lines = [
        [dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        *([dask, "worker", address, "--nthreads", "2", "--no-dashboard", "--no-nanny"] for _ in range(2)),
    ]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen(line, cwd=folder, **silent) for line in lines]
    try:
        yield address, started
    finally:
        for one_process in reversed(started):
            one_process.send_signal(signal.SIGTERM)
        for one_process in started:
            one_process.wait(30)


def cluster() -> None:
    import distributed

    here = pendulums()
    with (
        tempfile.TemporaryDirectory() as folder,
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        pendulums(scheduler=client)
        found, wall, _ = timed(lambda: pendulums(scheduler=client))
        same(found, here)
        say(f"LocalCluster of two processes: identical, {wall:.2f} s")
        file = mbfmu.build(mbfmu.load("double_pendulum"), pathlib.Path(folder) / "p.fmu")
        values = {"revolute1.phi": "linspace:-3:3:200"}
        found, wall, _ = timed(lambda: mbfmu.sweep(file, values, KEPT, scheduler=client))
        same(found, mbfmu.sweep(file, values, KEPT))
        say(f"200 runs of an FMU by FMPy: identical, {wall:.2f} s")
    with tempfile.TemporaryDirectory() as folder, commands(folder) as (address, _):
        found, wall, _ = timed(lambda: pendulums(scheduler=address))
        same(found, here)
        say(f"dask scheduler and two dask workers: identical, {wall:.2f} s with the connection")
        damping = np.where(np.arange(RUNS) % 100 == 7, -1.0, 0.1)
        failing = {"damper.d": damping, "revolute1.phi": np.linspace(-3, 3, RUNS)}
        system = mbfmu.load("double_pendulum")
        found = mbfmu.sweep(system, failing, KEPT, each=True, scheduler=address)
        assert list(found.messages) == list(range(7, RUNS, 100))
        assert np.isnan(found[KEPT[0]]).sum() == RUNS // 100
        say(f"{len(found.messages)} runs made to fail: {found.messages[7]!r}")
        path = pathlib.Path(folder) / "sweep.parquet"
        with contextlib.suppress(KeyboardInterrupt):
            pendulums(scheduler=address, path=path, progress=_interrupt)
        left = len(list(path.with_name("sweep.parquet.parts").glob("*.npz")))
        same(pendulums(scheduler=address, path=path), here)
        say(f"interrupted after {left} parts, gone on: identical")
    with tempfile.TemporaryDirectory() as folder, commands(folder) as (address, started):
        path, written = pathlib.Path(folder) / "sweep.parquet", []
        write = store.Parts.write

        def note(self: store.Parts, number: int, part: Any) -> None:
            if len(written) == 20:
                started[1].kill()
            written.append(number)
            write(self, number, part)

        store.Parts.write = note  # type: ignore[method-assign]
        same(pendulums(scheduler=address, path=path), here)
        store.Parts.write = write  # type: ignore[method-assign]
        assert sorted(written) == list(range(len(written)))
        say(f"one of two workers killed (SIGKILL) after 20 of {len(written)} parts: identical, each part once")


def _interrupt(done: int, of: int) -> None:
    if done > of / 2:
        raise KeyboardInterrupt


def cpu_of(process: subprocess.Popen[bytes]) -> float:
    """CPU time of another process so far, s."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tasks() -> None:
    import distributed

    from mbfmu.studies import sweep

    system, count = mbfmu.System.of(mbfmu.load("pendulum")), 2000
    with (
        tempfile.TemporaryDirectory() as folder,
        commands(folder) as (address, (scheduler, *_)),
        distributed.Client(address, set_as_default=False) as client,
    ):
        client.wait_for_workers(2)
        for length in (1, 100):
            sweep.RUNS, values = length, {"damper.d": np.linspace(0, 1, count * length)}
            before = cpu_of(scheduler)
            _, wall, cpu = timed(lambda v=values: mbfmu.sweep(system, v, ["rev.phi:final"], 0.1, scheduler=client))
            taken = cpu_of(scheduler) - before
            say(f"{count} parts of {length}: {count / wall:.0f} tasks/s, a task costs the scheduler "
                f"{taken / count * 1e6:.0f} us CPU, the client {cpu / count * 1e6:.0f} us")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for suffix in store.SUFFIXES:
            path = pathlib.Path(folder) / f"sweep{suffix}"
            mbfmu.sweep(system, {"rev.phi": "linspace:-3:3:100000"}, ["rev.phi:final", "rev.w:rms"], 0.1, path=path)
            files = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
            say(f"{suffix}: {sum(f.stat().st_size for f in files) / 100000:.0f} bytes a run of three numbers")


def chirp() -> None:
    from chirp import compare

    from mbfmu.modeling.registry import assemblies

    errors = {name: compare(mbfmu.System.of(mbfmu.load(name)), 4).error for name in sorted(assemblies())}
    for name, error in errors.items():
        say(f"{name}: {error:.1e}")
    assert max(errors.values()) < 1e-5


def coverage() -> None:
    import scipy.stats
    from mechanisms import Suspension
    from test_fit import LOAD, TRUE, noisy

    system, count = mbfmu.System.of(Suspension()), 1000
    run = mbfmu.simulate(system, 2.0, interval=0.02, tolerance=1e-9, inputs=LOAD, outputs=["body.s", "wheel.s", "load"])
    random, hits = np.random.default_rng(2026), np.zeros(3, dtype=int)
    for _ in range(count):
        found = mbfmu.fit(system, noisy(run, random), list(TRUE))
        hits += [low <= true <= high for true, (low, high) in zip(TRUE.values(), found.intervals, strict=True)]
    least, most = scipy.stats.binom.interval(0.99, count, 0.95)
    say(f"{count} fits: 95 % intervals hold {', '.join(TRUE)} in {hits.tolist()}, chance allows {least:g} .. {most:g}")
    assert ((hits >= least) & (hits <= most)).all()


if __name__ == "__main__":
    for name in sys.argv[1:] or ("threads", "cluster", "million", "tasks", "chirp", "coverage"):
        say(f"-- {name} (load {os.getloadavg()[0]:.1f}, {threading.active_count()} threads)")
        globals()[name]()
