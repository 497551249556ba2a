from __future__ import annotations

import concurrent.futures
import os
import pathlib
import threading
import time

import pytest

from mbfmu.runtime import cache
from mbfmu.runtime.cache import cached


@pytest.fixture
def place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("MBFMU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    """Counts how often something is made."""

    def __init__(self, result: bytes = b"library") -> None:
        self.result, self.count = result, 0

    def __call__(self) -> bytes:
        self.count += 1
        return self.result


def test_the_same_origin_is_made_once(place: pathlib.Path) -> None:
    make = Maker()
    assert [cached([b"cc", b"a.c"], make) for _ in range(3)] == [b"library"] * 3
    assert make.count == 1
    cached([b"cca", b".c"], make)
    assert make.count == 2
    assert len(list(place.iterdir())) == 2


def test_what_is_wanted_at_once_is_made_once(place: pathlib.Path) -> None:
    """Locks are of open files: threads wait for each other as processes do."""
    makers = [Maker() for _ in range(4)]
    together = threading.Barrier(len(makers))

    def want(make: Maker) -> bytes:
        together.wait()
        return cached([b"a"], lambda: time.sleep(0.05) or make())

    with concurrent.futures.ThreadPoolExecutor(len(makers)) as pool:
        assert list(pool.map(want, makers)) == [b"library"] * len(makers)
    assert sum(make.count for make in makers) == 1
    assert len(list(place.iterdir())) == 1  # no lock is left


def test_where_what_was_waited_for_fails_the_next_makes_it(place: pathlib.Path) -> None:
    begun, done = threading.Event(), threading.Event()

    def fail() -> bytes:
        begun.set()
        done.wait(10)
        raise ValueError("no luck")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first = pool.submit(cached, [b"a"], fail)
        begun.wait(10)
        second = pool.submit(cached, [b"a"], Maker(b"better"))
        done.set()
        with pytest.raises(ValueError, match="no luck"):
            first.result()
        assert second.result() == b"better"


def test_a_damaged_entry_is_made_anew(place: pathlib.Path) -> None:
    make = Maker()
    cached([b"a"], make)
    (entry,) = place.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    assert cached([b"a"], make) == b"library"
    assert make.count == 2
    assert cached([b"a"], make) == b"library"
    assert make.count == 2


def test_what_fails_is_not_kept(place: pathlib.Path) -> None:
    def fail() -> bytes:
        raise ValueError("no luck")

    with pytest.raises(ValueError, match="no luck"):
        cached([b"a"], fail)
    assert cached([b"a"], Maker(b"better")) == b"better"


def test_old_entries_go_first(place: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MBFMU_CACHE_SIZE")
    monkeypatch.setattr(cache, "LIMIT", 2500)
    for age, name in ((300, b"old"), (100, b"used"), (200, b"middle")):
        cached([name], Maker(bytes(1000)))
        newest = max(place.iterdir(), key=lambda file: file.stat().st_mtime)
        os.utime(newest, (1e9 - age, 1e9 - age))
    cached([b"new"], Maker(bytes(1000)))
    kept = Maker()
    cached([b"used"], kept)
    cached([b"new"], kept)
    assert kept.count == 0
    cached([b"old"], kept)
    assert kept.count == 1


@pytest.mark.parametrize(("size", "kept"), [("1500", 1), ("2500", 2), ("", 3)])
def test_the_size_is_chosen(place: pathlib.Path, monkeypatch: pytest.MonkeyPatch, size: str, kept: int) -> None:
    monkeypatch.setattr(cache, "LIMIT", 3500)
    monkeypatch.setenv("MBFMU_CACHE_SIZE", size)
    for name in (b"a", b"b", b"c"):
        cached([name], Maker(bytes(1000)))
    assert len(list(place.iterdir())) == kept


@pytest.mark.parametrize("size", ["1GB", "1e9", "-1"])
def test_a_size_that_is_no_number_is_told(place: pathlib.Path, monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    monkeypatch.setattr(cache, "LIMIT", 2500)
    monkeypatch.setenv("MBFMU_CACHE_SIZE", size)
    for name in (b"a", b"b", b"c"):
        with pytest.warns(UserWarning, match=f"MBFMU_CACHE_SIZE = '{size}' is no number of bytes, so that 2500 counts"):
            cached([name], Maker(bytes(1000)))
    assert len(list(place.iterdir())) == 2


def test_without_a_folder_everything_is_made(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("where the folder should be")
    make = Maker()
    for value in ("", str(blocked)):
        monkeypatch.setenv("MBFMU_CACHE", value)
        assert cached([b"a"], make) == b"library"
    assert make.count == 2
    for value in ("", "0"):
        monkeypatch.setenv("MBFMU_CACHE", value)
        assert cache.folder() is None
    monkeypatch.delenv("MBFMU_CACHE")
    assert cache.folder().name == "mbfmu"
