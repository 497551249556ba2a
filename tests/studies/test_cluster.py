"""Sweeps on a Dask cluster: what this machine gives, whatever happens to the workers."""

from __future__ import annotations

import os
import signal

import distributed
import numpy as np
import pytest
from mechanisms import CartPole

import mbfmu
from mbfmu.errors import SimulationError
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


@pytest.mark.slow
@pytest.mark.campaign
def test_nobody_answers():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "PATIENCE", 1)
        with pytest.raises(SimulationError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
            mbfmu.sweep(CartPole(), {"cart.m": [1.0]}, ["slide.s:final"], scheduler="tcp://127.0.0.1:9")
