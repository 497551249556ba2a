"""Files that one process at a time holds: whoever comes later waits or is told, and nothing is left behind."""

from __future__ import annotations

import errno
import os
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from mbfmu import locks
from mbfmu.errors import ModelError

fcntl = pytest.importorskip("fcntl")


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PAUSE", 0.0)


def test_a_file_and_its_folder_are_there_while_it_is_held(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "cache" / "entry.lock"
    with locks.alone(file):
        assert file.is_file()
        with (
            pytest.raises(ModelError, match=r"^cache: another process is at it$"),
            locks.alone(file, "cache: another process is at it"),
        ):
            pytest.fail("the block must not start")
        assert file.is_file()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "other").touch()
    with pytest.raises(ZeroDivisionError), locks.alone(file):
        1 / 0  # noqa: B018
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["other"]


def test_whoever_waits_goes_on_once_the_other_is_done(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks again and again, with a pause between."""
    tries: list[bool] = []
    pauses: list[float] = []
    monkeypatch.setattr(locks, "_lock", lambda file: tries.append(len(tries) == 3) or tries[-1])
    monkeypatch.setattr(locks.time, "sleep", pauses.append)
    with locks.alone(tmp_path / "a.lock"):
        assert tries == [False, False, False, True]
    assert pauses == [0.0] * 3


def test_a_file_that_was_deleted_while_it_was_opened_is_opened_again(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who held it has deleted it, and another one may have made a new one."""
    file, held = tmp_path / "a.lock", []

    def lock(opened: Any) -> bool:
        held.append(os.fstat(opened.fileno()).st_ino)
        if len(held) == 1:
            file.unlink()
        if len(held) == 2:
            file.rename(tmp_path / "old")
            file.touch()
        return True

    monkeypatch.setattr(locks, "_lock", lock)
    with locks.alone(file):
        assert len(held) == 3
        assert file.stat().st_ino == held[-1]
    assert not file.exists()


def test_a_folder_that_was_deleted_meanwhile_is_made_again(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, original = tmp_path / "cache" / "a.lock", pathlib.Path.open
    opened: list[pathlib.Path] = []

    def open_(path: pathlib.Path, *given: Any, **more: Any) -> Any:
        opened.append(path)
        if len(opened) == 1:
            path.parent.rmdir()
        return original(path, *given, **more)

    monkeypatch.setattr(pathlib.Path, "open", open_)
    with locks.alone(file):
        assert opened == [file, file]


@pytest.mark.parametrize(
    ("number", "free"),
    [(None, True), (errno.EACCES, False), (errno.EAGAIN, False), (errno.EDEADLK, False), (errno.ENOLCK, True),
     (errno.ENOTSUP, True)],
    ids=["free", "access", "again", "deadlock", "no locks", "not supported"],
)  # fmt: skip
def test_a_file_system_without_locks_keeps_nobody_out(
    number: int | None, free: bool, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def flock(_: int, how: int) -> None:
        assert how == fcntl.LOCK_EX | fcntl.LOCK_NB
        if number is not None:
            raise OSError(number, "no")

    monkeypatch.setattr(fcntl, "flock", flock)
    with (tmp_path / "a.lock").open("a") as file:
        assert locks._lock(file) is free


def test_windows_locks_the_first_byte(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    locking: Callable[..., None] = lambda *what: asked.append(what)  # noqa: E731
    module = type("msvcrt", (), {"locking": staticmethod(locking), "LK_NBLCK": 2})
    monkeypatch.setitem(locks.sys.modules, "msvcrt", module)
    monkeypatch.setattr(locks.sys, "platform", "win32")
    with (tmp_path / "a.lock").open("a") as file:
        assert locks._lock(file)
        assert asked == [(file.fileno(), 2, 1)]
