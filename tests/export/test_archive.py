from __future__ import annotations

import datetime
import os
import pathlib
import sys
import tempfile
import zipfile

import pytest

from mbfmu.errors import BuildError
from mbfmu.export.archive import Archive, build_date, replacing, temporary_folder, write_archive

DATE = datetime.datetime(2024, 2, 29, 12, 30, 2, tzinfo=datetime.UTC)


def fill(folder: pathlib.Path) -> pathlib.Path:
    for name in ("modelDescription.xml", "resources/b.txt", "resources/a.txt", "binaries/linux64/m.so"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name * 20, encoding="utf-8")
    return folder


def test_entries_are_sorted_and_reproducible(tmp_path: pathlib.Path) -> None:
    for turn in ("1", "2"):
        write_archive(fill(tmp_path / turn / "content"), tmp_path / f"{turn}.fmu", DATE)
        os.utime(tmp_path / turn / "content" / "modelDescription.xml", (0, 0))
    assert (tmp_path / "1.fmu").read_bytes() == (tmp_path / "2.fmu").read_bytes()
    with zipfile.ZipFile(tmp_path / "1.fmu") as archive:
        assert archive.testzip() is None
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == [
        "binaries/linux64/m.so",
        "modelDescription.xml",
        "resources/a.txt",
        "resources/b.txt",
    ]
    assert {entry.date_time for entry in entries} == {(2024, 2, 29, 12, 30, 2)}
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_DEFLATED}
    assert entries[0].external_attr >> 16 == 0o100755
    assert entries[1].external_attr >> 16 == 0o100644


def test_what_comes_later_is_added_once(tmp_path: pathlib.Path) -> None:
    folder = fill(tmp_path / "content")
    with Archive(tmp_path / "a.fmu", DATE) as archive:
        archive.add(folder)
        for name in ("late.txt", "binaries/linux64/another.so"):
            (folder / name).write_text(name, encoding="utf-8")
        archive.add(folder)
    with zipfile.ZipFile(tmp_path / "a.fmu") as found:
        assert found.testzip() is None
        assert found.namelist()[4:] == ["binaries/linux64/another.so", "late.txt"]
        assert found.read("late.txt") == b"late.txt"


def test_dates_before_1980_are_clipped(tmp_path: pathlib.Path) -> None:
    write_archive(fill(tmp_path / "content"), tmp_path / "a.fmu", datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC))
    with zipfile.ZipFile(tmp_path / "a.fmu") as archive:
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)


def test_without_a_date_entries_have_the_first_one(tmp_path: pathlib.Path) -> None:
    write_archive(fill(tmp_path / "content"), tmp_path / "a.fmu", None)
    with zipfile.ZipFile(tmp_path / "a.fmu") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_date_comes_from_source_date_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1709209802")
    assert build_date() == DATE
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(BuildError, match="yesterday"):
        build_date()
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert build_date() is None


def test_a_file_is_replaced_only_when_it_is_complete(tmp_path: pathlib.Path) -> None:
    target = tmp_path / "a.fmu"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(ZeroDivisionError), replacing(target) as part:
        part.write_text(str(1 / 0), encoding="utf-8")
    assert target.read_text(encoding="utf-8") == "old"
    with replacing(target) as part:
        part.write_text("new", encoding="utf-8")
        assert target.read_text(encoding="utf-8") == "old"
    assert target.read_text(encoding="utf-8") == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.fmu"]


def test_missing_folder_is_named_before_any_work(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BuildError, match="nowhere does not exist"), replacing(tmp_path / "nowhere" / "a.fmu"):
        pytest.fail("the block must not start")


def test_a_folder_is_no_target(tmp_path: pathlib.Path) -> None:
    with pytest.raises(BuildError, match="is a folder"), replacing(tmp_path):
        pytest.fail("the block must not start")


def test_a_file_in_the_place_of_the_folder(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BuildError, match="cannot be written"), replacing(tmp_path / "file" / "a.fmu"):
        pytest.fail("the block must not start")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe")
def test_a_pipe_takes_what_is_written(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "a.fmu")
    with replacing(tmp_path / "a.fmu") as part:
        assert part == tmp_path / "a.fmu"
    assert [(path.name, path.is_fifo()) for path in tmp_path.iterdir()] == [("a.fmu", True)]


def test_temporary_folder_comes_and_goes() -> None:
    with temporary_folder() as folder:
        (folder / "file").touch()
    assert not folder.exists()


def test_no_place_for_temporary_files(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(BuildError, match="TMPDIR"), temporary_folder():
        pytest.fail("the block must not start")


@pytest.mark.skipif(sys.platform == "win32" or getattr(os, "geteuid", lambda: 0)() == 0, reason="needs a plain user")
def test_unwritable_folder(tmp_path: pathlib.Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(BuildError, match="cannot be written"), replacing(tmp_path / "a.fmu"):
        pytest.fail("the block must not start")
