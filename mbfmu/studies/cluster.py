"""Parts of a sweep on a Dask cluster.

A task of the scheduler makes the runs of one part. What they have in common, the model above all, is a task of its own
under a key that follows from its content: a worker gets it once, and another worker has it made again where the one
that held it is lost.
"""

from __future__ import annotations

import contextlib
import itertools
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

import numpy as np

from mbfmu.errors import MbfmuError, ModelError, SimulationError
from mbfmu.extras import extra
from mbfmu.studies.job import Columns, Job, run_rows

#: Number of a part, jobs of its runs [runs], and their values [runs, names].
Part = tuple[int, np.ndarray, np.ndarray]

#: Parts that are under way for each thread of the cluster, and how long one waits for a scheduler and a worker, s;
#: workers that come and go are counted so often, s.
AHEAD, PATIENCE, RECOUNT = 3, 30, 5.0

#: Results that are fetched at a time: as many as memory holds.
TOGETHER = 32


@contextlib.contextmanager
def connected(scheduler: Any) -> Iterator[Any]:
    """A `distributed.Client` of an address (`tcp://host:8786`), or the client that was given.

    Raises:
        MissingExtra: Dask is not installed.
        SimulationError: Nobody answers, or there is no worker.
    """
    distributed = extra("distributed", "a sweep on a Dask cluster")
    with contextlib.ExitStack() as stack:
        if isinstance(scheduler, str):
            try:
                client = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
            except (OSError, ValueError) as error:
                raise SimulationError(
                    f"no Dask scheduler answers at {scheduler}: {error}; start one: dask scheduler"
                ) from error
            stack.callback(client.close)
        elif not hasattr(scheduler, "wait_for_workers"):
            raise ModelError(
                f"scheduler = {scheduler!r:.60}: give the address of a Dask scheduler, as 'tcp://host:8786', or a "
                "distributed.Client"
            )
        else:
            client = scheduler
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            address = client.scheduler.address if client.scheduler else scheduler
            raise SimulationError(f"the scheduler has no worker; start one: dask worker {address}") from error
        yield client


def threads_of(client: Any) -> int:
    """Threads of all workers."""
    return max(1, sum(client.nthreads().values()))


def run_parts(client: Any, jobs: Sequence[Job | str], parts: Iterator[Part], empty: Columns) -> Iterator[
    tuple[int, Columns]
]:  # fmt: skip
    """Make the runs of parts, and give the columns of each as it is done, whatever the order.

    A part whose workers die again and again is halved, down to the run that is to blame, which fails with a message.

    Raises:
        MbfmuError: The scheduler was lost, or a worker cannot do what was asked.
    """
    distributed = extra("distributed", "a sweep on a Dask cluster")
    # text stays what it is; a job goes to the scheduler once
    shared = [job if isinstance(job, str) else client.submit(_same, job, key=f"mbfmu-{job.identity}") for job in jobs]
    name = f"mbfmu-part-{uuid.uuid4().hex}"
    under_way: dict[Any, tuple[Part, int, Any]] = {}
    pieces: dict[int, dict[int, Columns]] = {}
    missing: dict[int, int] = {}  # runs of each part that are not done
    done = distributed.as_completed(loop=client.loop)
    threads, counted = 0, -np.inf

    def submit(part: Part, first: int) -> None:
        number, which, values = part
        used, places = np.unique(which, return_inverse=True)
        key = (name, number, first, which.size)  # a group of tasks for the scheduler
        given = [shared[i] for i in used]
        future = client.submit(run_rows, given, places, values, empty, key=key, priority=-number, pure=False)
        under_way[key] = (part, first, future)
        done.add(future)

    try:
        while True:
            if time.monotonic() > counted + RECOUNT:
                threads, counted = threads_of(client), time.monotonic()
            for part in itertools.islice(parts, max(0, AHEAD * threads - len(under_way))):
                pieces[part[0]], missing[part[0]] = {}, part[1].size
                submit(part, 0)
            if not under_way:
                return
            for future, found in _results(client, done.next_batch(), distributed.KilledWorker):
                (number, which, values), first, _ = under_way.pop(future.key)
                half = which.size // 2
                if found is None and half:
                    submit((number, which[:half], values[:half]), first)
                    submit((number, which[half:], values[half:]), first + half)
                    continue
                if found is None:
                    found = run_rows(["the worker's process ended in this run, each time"], which * 0, values, empty)
                pieces[number][first] = found
                missing[number] -= which.size
                if not missing[number]:
                    whole = pieces.pop(number)
                    ordered = [whole[at] for at in sorted(whole)]
                    yield number, {n: np.concatenate([one[n] for one in ordered]) for n in found}
    finally:
        if under_way:
            with contextlib.suppress(RuntimeError):  # the client is closed
                client.cancel([future for _, _, future in under_way.values()])


def _results(
    client: Any, futures: Sequence[Any], killed: type[Exception]
) -> Iterator[tuple[Any, Columns | None]]:  # fmt: skip
    """What tasks that are done give, some at a time: fetched together where none has failed."""
    for at in range(0, len(futures), TOGETHER):
        some = futures[at : at + TOGETHER]
        found = None
        if all(future.status == "finished" for future in some):
            with contextlib.suppress(Exception):  # _result tells which, and why
                found = client.gather(some)
        for number, future in enumerate(some):
            yield future, _result(future, killed) if found is None else found[number]


def _result(future: Any, killed: type[Exception]) -> Columns | None:
    """What a task gives; None where its workers died again and again."""
    try:
        return future.result()
    except killed:
        return None
    except (CancelledError, OSError) as error:
        raise SimulationError(f"the scheduler was lost: {str(error) or type(error).__name__}") from error
    except MbfmuError:
        raise
    except Exception as error:
        raise ModelError(
            f"a worker cannot make runs: {type(error).__name__}: {error}; install the same versions of mbfmu and "
            "distributed on all machines"
        ) from error


def _same(job: Job) -> Job:
    return job
