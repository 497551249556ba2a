"""Where results of a sweep go: parts beside the file while it runs, then CSV, Parquet or Zarr."""

from __future__ import annotations

import csv
import json
import pathlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.runtime.extras import extra

#: Columns of a part: arrays [runs] or [runs, times] by name; `message` is text.
Columns = Mapping[str, np.ndarray]

SUFFIXES = (".csv", ".parquet", ".zarr")


class Parts:
    """A folder of finished parts beside the file that they become; a sweep that was interrupted goes on from it.

    Raises
    ------
    ModelError
        The suffix is unknown, or parts of another sweep are there.
    MissingExtra
        The format needs a library that is not installed.
    """

    def __init__(self, target: pathlib.Path, identity: str) -> None:
        if target.suffix not in SUFFIXES:
            raise ModelError(f"{target}: sweeps are written as {', '.join(SUFFIXES)}; choose {target.stem}.parquet")
        if target.suffix == ".parquet":
            extra("pyarrow", "a sweep as Parquet")
        if target.suffix == ".zarr":
            extra("zarr", "a sweep as Zarr")
        self.target, self.folder = target, target.with_name(target.name + ".parts")
        known = self.folder / "sweep"
        if known.is_file() and known.read_text(encoding="ascii") != identity:
            raise ModelError(
                f"{self.folder} has parts of another sweep (other model, values or outputs); delete it or write to "
                "another file"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        known.write_text(identity, encoding="ascii")

    def has(self, number: int) -> bool:
        """Is a part finished?"""
        return self._file(number).is_file()

    def write(self, number: int, columns: Columns) -> None:
        """Keep a part; it is there as a whole or not at all."""
        part = self._file(number).with_suffix(".part")
        with part.open("wb") as file:
            np.savez(file, **{f"c{i}": column for i, column in enumerate(columns.values())})  # type: ignore[arg-type]
        part.replace(self._file(number))

    def read(self, number: int, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Columns of a part."""
        with np.load(self._file(number)) as file:
            return {name: file[f"c{i}"] for i, name in enumerate(names)}

    def finish(self, count: int, names: Sequence[str], facts: Mapping[str, Any], times: np.ndarray) -> pathlib.Path:
        """Write the file from all parts, one at a time in memory, and delete them."""
        parts = (self.read(number, names) for number in range(count))
        _WRITERS[self.target.suffix](self.target, parts, facts, times)
        shutil.rmtree(self.folder)
        return self.target

    def _file(self, number: int) -> pathlib.Path:
        return self.folder / f"{number:09d}.npz"


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
    group = zarr.open_group(str(target), mode="w")
    group.attrs.update(facts)
    group.create_array("time", shape=times.shape, dtype=float)[:] = times
    first = 0
    for part in parts:
        count = next(iter(part.values())).shape[0]
        for name, column in part.items():
            if name == "message":
                failed = {str(first + int(i)): str(column[i]) for i in np.flatnonzero(column != "")}
                if failed:
                    group.attrs.update({"messages": {**group.attrs.get("messages", {}), **failed}})
                continue
            if first == 0:
                group.create_array(
                    name, shape=(facts["runs"], *column.shape[1:]), chunks=column.shape, dtype=column.dtype
                )
            group[name][first : first + count] = column
        first += count


_WRITERS = {".csv": _csv, ".parquet": _parquet, ".zarr": _zarr}


def read(path: pathlib.Path) -> tuple[dict[str, np.ndarray], dict[str, Any], np.ndarray]:
    """Read what a sweep has written: columns, facts (model, units, parameters), times of trajectories.

    Raises
    ------
    ModelError
        The suffix is unknown.
    """
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        columns = {
            name: np.array([row[i] if name == "message" else float(row[i]) for row in rows])
            for i, name in enumerate(header)
        }
        return columns, {"model": path.stem, "units": {}, "parameters": []}, np.empty(0)
    if path.suffix == ".parquet":
        made = extra("pyarrow.parquet", "Parquet").read_table(path)
        facts = json.loads(made.schema.metadata[b"mbfmu"])
        times = np.array(facts.pop("times"))
        columns = {}
        for name in made.column_names:
            values = made.column(name).to_pylist()
            columns[name] = np.array(values) if values else np.empty(0)
        return columns, facts, times
    if path.suffix == ".zarr":
        group = extra("zarr", "Zarr").open_group(str(path), mode="r")
        facts = dict(group.attrs)
        messages = np.full(facts["runs"], "", dtype=object)
        for number, text in facts.pop("messages", {}).items():
            messages[int(number)] = text
        columns = {name: np.asarray(group[name]) for name in facts["columns"] if name != "message"}
        return {**columns, "message": messages.astype(str)}, facts, np.asarray(group["time"])
    raise ModelError(f"{path}: sweeps are read from {', '.join(SUFFIXES)}")
