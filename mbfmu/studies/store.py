"""Where results of a sweep go: parts beside the file while it runs, then CSV, Parquet or Zarr."""

from __future__ import annotations

import contextlib
import csv
import json
import pathlib
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from mbfmu.errors import ModelError, UnknownNameError
from mbfmu.extras import extra
from mbfmu.locks import alone
from mbfmu.messages import unknown_variable
from mbfmu.studies.job import texts

#: Columns of a part: arrays [runs] or [runs, times] by name; `message` is text.
Columns = Mapping[str, np.ndarray]

SUFFIXES = (".csv", ".parquet", ".zarr")


class Parts:
    """A folder of finished parts beside the file that they become; a sweep that was interrupted goes on from it.

    Made by `open`, which sees to it that no other sweep writes there meanwhile.

    Raises:
        ModelError: The suffix is unknown, or parts of another sweep are there.
        MissingExtra: The format needs a library that is not installed.
    """

    @classmethod
    @contextlib.contextmanager
    def open(cls, target: pathlib.Path, identity: str) -> Iterator[Self]:
        """The parts of a sweep, for as long as it is under way."""
        if target.suffix not in SUFFIXES:
            raise ModelError(f"{target}: sweeps are written as {', '.join(SUFFIXES)}; choose {target.stem}.parquet")
        if target.suffix == ".parquet":
            extra("pyarrow", "a sweep as Parquet")
        if target.suffix == ".zarr":
            extra("zarr", "a sweep as Zarr")
            if target.is_dir() and any(target.iterdir()) and not (target / "zarr.json").is_file():
                raise ModelError(
                    f"{target}: is a folder of other files, which a sweep would delete; choose another name"
                )
        busy = f"{target}: another sweep is writing to this file; wait for its end, or choose another file"
        with alone(target.with_name(target.name + ".parts") / "lock", busy):
            yield cls(target, identity)

    def __init__(self, target: pathlib.Path, identity: str) -> None:
        self.target, self.folder = target, target.with_name(target.name + ".parts")
        self._identity, self._facts = identity, self.folder / "sweep"
        #: Runs of a part, where some are there already.
        self.length: int | None = None
        if self._facts.is_file():
            known, length = self._facts.read_text(encoding="ascii").split()
            if known != identity:
                raise ModelError(
                    f"{self.folder} has parts of another sweep (other model, values or outputs); delete it or write to "
                    "another file"
                )
            self.length = int(length)

    def begin(self, length: int) -> None:
        """Expect parts of `length` runs."""
        self._delete_parts()
        self._facts.write_text(f"{self._identity} {length}", encoding="ascii")

    def has(self, number: int) -> bool:
        """Is a part finished?"""
        return self._file(number).is_file()

    def write(self, number: int, columns: Columns) -> None:
        """Keep a part; it is there as a whole or not at all."""
        part = self._file(number).with_suffix(".part")
        arrays = {f"c{i}": _octets(column) if name == "message" else column
                  for i, (name, column) in enumerate(columns.items())}  # fmt: skip
        with part.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        part.replace(self._file(number))

    def read(self, number: int, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Columns of a part."""
        with np.load(self._file(number)) as file:
            found = {name: file[f"c{i}"] for i, name in enumerate(names)}
        return {**found, "message": texts(found["message"].tobytes().decode().split("\0"))}

    def finish(self, count: int, names: Sequence[str], facts: Mapping[str, Any], times: np.ndarray) -> pathlib.Path:
        """Write the file from all parts, one at a time in memory, and delete them."""
        parts = (self.read(number, names) for number in range(count))
        _WRITERS[self.target.suffix](self.target, parts, facts, times)
        self._delete_parts()
        self._facts.unlink()
        return self.target

    def _delete_parts(self) -> None:
        for file in [*self.folder.glob("*.npz"), *self.folder.glob("*.part")]:
            file.unlink()

    def _file(self, number: int) -> pathlib.Path:
        return self.folder / f"{number:09d}.npz"


def _octets(messages: np.ndarray) -> np.ndarray:
    """Messages end to end: text of a fixed width would make all runs pay for the longest."""
    return np.frombuffer("\0".join(messages.tolist()).encode(), dtype=np.uint8)


def _csv(target: pathlib.Path, parts: Iterator[Columns], facts: Mapping[str, Any], times: np.ndarray) -> None:
    part_file = target.with_name(target.name + ".part")
    with part_file.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for number, part in enumerate(parts):
            if number == 0:
                writer.writerow(part)
            writer.writerows(zip(*(column.tolist() for column in part.values()), strict=True))
    part_file.replace(target)


def _parquet(target: pathlib.Path, parts: Iterator[Columns], facts: Mapping[str, Any], times: np.ndarray) -> None:
    arrow, parquet = extra("pyarrow", "Parquet"), extra("pyarrow.parquet", "Parquet")
    part_file = target.with_name(target.name + ".part")
    schema = writer = None
    metadata = {b"mbfmu": json.dumps({**facts, "times": times.tolist()}).encode()}
    try:
        for part in parts:
            arrays = [arrow.array(list(column) if column.ndim > 1 else column) for column in part.values()]
            made = arrow.Table.from_arrays(arrays, names=list(part))
            if writer is None:
                schema = made.schema.with_metadata(metadata)
                writer = parquet.ParquetWriter(part_file, schema)
            writer.write_table(made.cast(schema))
    finally:
        if writer is not None:
            writer.close()
    part_file.replace(target)


def _zarr(target: pathlib.Path, parts: Iterator[Columns], facts: Mapping[str, Any], times: np.ndarray) -> None:
    zarr = extra("zarr", "Zarr")
    part_file = target.with_name(target.name + ".part")
    group = zarr.open_group(str(part_file), mode="w")
    group.attrs.update(facts)
    time = group.create_array("time", shape=times.shape, dtype=float, dimension_names=["time"])
    time[:] = times
    time.attrs["units"] = "s"
    run = group.create_array("run", shape=(facts["runs"],), dtype=int, dimension_names=["run"])
    run[:] = np.arange(facts["runs"])
    first = 0
    failed: dict[str, str] = {}
    for part in parts:
        count = next(iter(part.values())).shape[0]
        for name, column in part.items():
            if name == "message":
                failed |= {str(first + int(i)): str(column[i]) for i in np.flatnonzero(column != "")}
                continue
            if first == 0:
                array = group.create_array(
                    name, shape=(facts["runs"], *column.shape[1:]), chunks=column.shape, dtype=column.dtype,
                    dimension_names=["run", "time"][: column.ndim],
                )  # fmt: skip
                if name in facts["units"]:
                    array.attrs["units"] = facts["units"][name]
            group[name][first : first + count] = column
        first += count
    group.attrs.update({"messages": failed})
    with warnings.catch_warnings():  # zarr says that not all readers know this; xarray warns where it is not there
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(str(part_file))
    if target.is_dir():
        shutil.rmtree(target)  # of a sweep before: `open` has refused every other
    part_file.replace(target)


_WRITERS = {".csv": _csv, ".parquet": _parquet, ".zarr": _zarr}


class Stored(Mapping[str, np.ndarray]):
    """Columns of a file that a sweep has written, each read when it is asked for."""

    def __init__(self, path: pathlib.Path, names: Sequence[str]) -> None:
        self._path, self._names = path, list(names)
        self._csv: dict[str, np.ndarray] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise UnknownNameError(unknown_variable(name, self._names))
        if self._path.suffix == ".csv":
            self._csv = self._csv or _read_csv(self._path)
            return self._csv[name]
        if self._path.suffix == ".parquet":
            return _read_parquet(self._path, name)
        group = extra("zarr", "Zarr").open_group(str(self._path), mode="r")
        if name != "message":
            return np.asarray(group[name])
        messages = [""] * group.attrs["runs"]
        for number, text in group.attrs["messages"].items():
            messages[int(number)] = text
        return texts(messages)


def _read_csv(path: pathlib.Path) -> dict[str, np.ndarray]:
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return {
        name: texts([row[i] for row in rows]) if name == "message" else np.array([float(row[i]) for row in rows])
        for i, name in enumerate(header)
    }


def _read_parquet(path: pathlib.Path, name: str) -> np.ndarray:
    file = extra("pyarrow.parquet", "Parquet").ParquetFile(path)
    column = file.read(columns=[name]).column(0)
    if name == "message":
        return texts(column.to_pylist())
    if hasattr(column.type, "value_type"):  # trajectories
        flat = np.concatenate([chunk.flatten().to_numpy() for chunk in column.chunks])
        return flat.reshape(len(column), -1)
    return np.asarray(column.to_numpy())


def facts(path: pathlib.Path) -> tuple[dict[str, Any], np.ndarray]:
    """What a file says of its sweep (model, units, parameters, columns), and the times of trajectories.

    Raises:
        ModelError: The suffix is unknown, there is no such file, or no sweep in it.
    """
    if path.suffix not in SUFFIXES:
        raise ModelError(f"{path}: sweeps are read from {', '.join(SUFFIXES)}")
    if not path.exists():
        raise ModelError(f"{path}: no such file; give the path of what a sweep has written")
    try:
        return _facts(path)
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as error:
        raise ModelError(f"{path}: has no sweep in it ({type(error).__name__}: {error}); write it anew") from error


def _facts(path: pathlib.Path) -> tuple[dict[str, Any], np.ndarray]:
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            header = next(csv.reader(file))
        return {"model": path.stem, "units": {}, "parameters": [], "columns": header}, np.empty(0)
    if path.suffix == ".parquet":
        found = json.loads(extra("pyarrow.parquet", "Parquet").read_schema(path).metadata[b"mbfmu"])
        return found, np.array(found.pop("times"))
    group = extra("zarr", "Zarr").open_group(str(path), mode="r")
    return dict(group.attrs), np.asarray(group["time"])
