"""Sweeps on a Dask cluster: what this machine gives, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
from concurrent.futures import CancelledError

import distributed
import numpy as np
import pytest
from mechanisms import CartPole

import mbfmu
from mbfmu.errors import InitializationError, ModelError, SimulationError
from mbfmu.fmus.double_pendulum import DoublePendulum
from mbfmu.studies import cluster, job, store

VALUES = {"revolute2.phi": "linspace:-1:1:99", "damper.d": [0.0, -1.0, 0.3]}
KEPT = ["revolute1.phi:final", "revolute1.w:rms", "revolute2.w:crossing=2"]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, silence_logs=50
        ) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def pendulum():
    return mbfmu.System.of(DoublePendulum())


@pytest.fixture(scope="module")
def here(pendulum):
    return mbfmu.sweep(pendulum, VALUES, KEPT, 0.5)


def same(one, other):
    assert list(one.columns) == list(other.columns)
    for name in one.columns:
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.slow
def test_the_same_as_on_this_machine(client, pendulum, here, tmp_path):
    assert len(here.messages) == 99
    same(mbfmu.sweep(pendulum, VALUES, KEPT, 0.5, scheduler=client), here)
    same(mbfmu.sweep(pendulum, VALUES, KEPT, 0.5, scheduler=client, path=tmp_path / "sweep.parquet"), here)
    whole = ["revolute1.phi:trajectory"]
    values, step = {"damper.d": [0.1, 0.2, 0.3]}, 0.05
    same(
        mbfmu.sweep(pendulum, values, whole, 0.5, interval=step, scheduler=client),
        mbfmu.sweep(pendulum, values, whole, 0.5, interval=step),
    )


@pytest.mark.slow
@pytest.mark.campaign
def test_a_killed_worker_loses_and_doubles_nothing(client, pendulum, here, tmp_path, monkeypatch):
    before = client.run(os.getpid)
    written = []
    write = store.Parts.write

    def note(self, number, part):
        if len(written) == 3:
            os.kill(next(iter(before.values())), signal.SIGKILL)
        written.append(number)
        write(self, number, part)

    monkeypatch.setattr(store.Parts, "write", note)
    same(mbfmu.sweep(pendulum, VALUES, KEPT, 0.5, scheduler=client, path=tmp_path / "sweep.zarr"), here)
    assert len(set(written)) == len(written) > 30
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != set(before.values())


@pytest.mark.slow
def test_what_was_interrupted_here_goes_on_there(client, pendulum, here, tmp_path):
    class Stop(Exception):
        pass

    def stop(done, total):
        if done > total / 2:
            raise Stop

    path = tmp_path / "sweep.csv"
    with pytest.raises(Stop):
        mbfmu.sweep(pendulum, VALUES, KEPT, 0.5, path=path, progress=stop, scheduler=client)
    same(mbfmu.sweep(pendulum, VALUES, KEPT, 0.5, path=path), here)
    assert not path.with_name("sweep.csv.parts").exists()


@pytest.mark.slow
@pytest.mark.campaign
def test_fmus_and_models_of_other_shapes(client, pendulum, tmp_path):
    file = mbfmu.build(DoublePendulum(), tmp_path / "pendulum.fmu", equations="interpreted")
    values, kept = {"damper.d": [0.1, 0.5]}, ["revolute1.phi:final"]
    same(
        mbfmu.sweep(file, values, kept, 0.5, scheduler=client),
        mbfmu.sweep(file, values, kept, 0.5),
    )
    values, kept = {"length": [0.5, 0.7], "cart.m": [1.0, 2.0]}, ["hinge.phi:final"]
    given = {"hinge.phi": 0.3}
    same(
        mbfmu.sweep(CartPole, values, kept, 0.5, scheduler=client, start_values=given),
        mbfmu.sweep(CartPole, values, kept, 0.5, start_values=given),
    )


class Killed(Exception):
    """What Dask says of a task whose workers die."""


class Future:
    """A task that is done at once, in this process, and dies where a value is above 1."""

    status = "error"

    def __init__(self, key, function, given):
        self.key, self.function, self.given = key, function, given

    def result(self):
        if self.function is job.run_rows:
            jobs, which, values, empty = self.given
            if (values > 1).any():
                raise Killed
            return job.run_rows([one.result() for one in jobs], which, values, empty)
        return self.function(*self.given)


class Done(list):
    def __init__(self, loop):
        super().__init__()

    add = list.append

    def next_batch(self):
        return [self.pop()]


class Client:
    loop = None

    def nthreads(self):
        return {"worker": 1}

    def submit(self, function, *given, key, **_):
        return Future(key, function, given)

    def cancel(self, futures):
        assert not futures


class Squares:
    """A job."""

    identity = "squares"

    def columns(self, values):
        return {"y": values[:, 0] ** 2, "message": job.texts([""] * len(values))}


def test_a_run_that_kills_its_process_is_a_row_with_a_message(monkeypatch):
    fake = type("distributed", (), {"as_completed": Done, "KilledWorker": Killed})
    monkeypatch.setattr(cluster, "extra", lambda *_: fake)
    values = np.array([[0.1], [0.2], [5.0], [0.3], [7.0], [0.4]])
    parts = iter([(0, np.zeros(6, dtype=int), values)])
    ((number, found),) = cluster.run_parts(Client(), [Squares()], parts, {"y": np.empty(0)})
    assert number == 0
    np.testing.assert_allclose(found["y"], [0.01, 0.04, np.nan, 0.09, np.nan, 0.16])
    assert [bool(text) for text in found["message"]] == [False, False, True, False, True, False]


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (Killed(), None, None),
        (CancelledError("gone"), SimulationError, r"^the scheduler was lost: gone$"),
        (CancelledError(), SimulationError, r"^the scheduler was lost: CancelledError$"),
        (ConnectionError("reset"), SimulationError, r"^the scheduler was lost: reset$"),
        (InitializationError("no start"), InitializationError, r"^no start$"),
        (KeyError("tape"), ModelError, r"^a worker cannot make runs: KeyError: 'tape'; install the same versions"),
    ],
    ids=["killed", "cancelled", "silent", "connection", "model", "version"],
)
def test_what_a_task_fails_by_is_told(error, kind, message):
    class Failed:
        def result(self):
            raise error

    if kind is None:
        assert cluster._result(Failed(), Killed) is None
    else:
        with pytest.raises(kind, match=message) as caught:
            cluster._result(Failed(), Killed)
        assert type(caught.value) is kind


class Connection:
    """What distributed makes of an address: `events` are what happens to it."""

    def __init__(self, address, **options):
        self.scheduler, self.events = type("Scheduler", (), {"address": f"{address}:8786"}), [options]
        self.made.append(self)
        if self.fails is not None:
            raise self.fails

    made, fails, workers = [], None, True

    def wait_for_workers(self, count, timeout):
        self.events.append((count, timeout))
        if not self.workers:
            raise TimeoutError

    def close(self):
        self.events.append("closed")


@pytest.fixture
def connection(monkeypatch):
    found = type("Client", (Connection,), {"made": []})
    monkeypatch.setattr(cluster, "extra", lambda *_: type("distributed", (), {"Client": found}))
    return found


def test_a_client_of_an_address_is_closed_and_one_that_is_given_is_not(connection):
    with cluster.connected("tcp://host") as client:
        assert client.events == [{"timeout": cluster.PATIENCE, "set_as_default": False}, (1, cluster.PATIENCE)]
    assert client.events[2:] == ["closed"]
    given = connection("tcp://mine")
    with cluster.connected(given) as client:
        assert client is given
    assert given.events[1:] == [(1, cluster.PATIENCE)]


@pytest.mark.parametrize("fails", [OSError("timed out"), ValueError("unknown address scheme")])
def test_an_address_at_which_nobody_answers_is_told(connection, fails):
    connection.fails = fails
    message = rf"^no Dask scheduler answers at tcp://host: {fails}; start one: dask scheduler$"
    with pytest.raises(SimulationError, match=message), cluster.connected("tcp://host"):
        pass


def test_a_scheduler_without_workers_is_told_with_its_address(connection):
    connection.workers = False
    message = r"^the scheduler has no worker; start one: dask worker tcp://host:8786$"
    with pytest.raises(SimulationError, match=message), cluster.connected("tcp://host"):
        pass
    assert connection.made[0].events[-1] == "closed"
    given = connection("tcp://mine")
    given.scheduler = None
    with pytest.raises(SimulationError, match=r"start one: dask worker <"), cluster.connected(given):
        pass


def test_what_is_no_scheduler_is_refused(connection):
    with pytest.raises(ModelError, match=r"^scheduler = 8786: give the address .* or a distributed\.Client$"):
        cluster.connected(8786).__enter__()


@pytest.mark.slow
@pytest.mark.campaign
def test_nobody_answers():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "PATIENCE", 1)
        with pytest.raises(SimulationError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
            mbfmu.sweep(CartPole(), {"cart.m": [1.0]}, ["slide.s:final"], scheduler="tcp://127.0.0.1:9")
