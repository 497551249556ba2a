"""Tables in files: text as in the Modelica library, CSV, and MATLAB."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import scipy

from mbfmu.errors import ModelError

#: Head of a table in a text file: `double name(rows, columns)`.
_HEAD = re.compile(
    r"^\s*(?:double|float)\s+(?P<name>\w+)\s*\(\s*(?P<rows>\d+)\s*,\s*(?P<columns>\d+)\s*\)(?P<rest>.*)$"
)


def read_table(file: str, name: str, delimiter: str, header_lines: int, where: str) -> np.ndarray:
    """A table (rows x columns) of a file, whose ending says what it is: .csv, .mat (up to version 7), or text.

    A text file begins with the line `#1`; each table has a head `double name(rows, columns)` and its numbers after it,
    row by row; `#` begins a comment. `modelica://` and `file://` in front of the file's name are ignored.

    Raises:
        ModelError: the file cannot be read, or has no table of that name and form.
    """
    path = pathlib.Path(re.sub(r"^(file|modelica)://", "", file))
    try:
        if path.suffix.lower() == ".csv":
            text = path.read_text("utf-8").splitlines()[header_lines:]
            return np.array([[float(v) for v in row.split(delimiter)] for row in text if row.strip()])
        if path.suffix.lower() == ".mat":
            return _from_matlab(path, name, where)
        return _from_text(path.read_text("utf-8-sig"), path, name, where)
    except (OSError, ValueError, NotImplementedError) as error:
        raise ModelError(f"{where} = {file!r}: cannot be read: {error}") from error


def _from_matlab(path: pathlib.Path, name: str, where: str) -> np.ndarray:
    found = scipy.io.loadmat(path)
    if name not in found:
        names = ", ".join(key for key in found if not key.startswith("__"))
        raise ModelError(f"{where}: {path} has no matrix {name!r}; it has {names}")
    return np.atleast_2d(np.asarray(found[name], dtype=float))


def _from_text(text: str, path: pathlib.Path, name: str, where: str) -> np.ndarray:
    if not text.startswith("#1"):
        raise ModelError(f"{where}: {path} does not begin with #1, as a text file of tables must")
    names = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        head = _HEAD.match(line)
        if head is None:
            continue
        names.append(head["name"])
        if head["name"] == name:
            rows, columns = int(head["rows"]), int(head["columns"])
            rest = "\n".join([head["rest"], *lines[number + 1 :]])
            words = re.sub(r"#.*", "", rest.split("\ndouble ")[0].split("\nfloat ")[0])
            values = [float(word) for word in re.split(r"[\s,;]+", words.strip()) if word]
            if len(values) < rows * columns:
                raise ModelError(
                    f"{where}: {path}, table {name}: {rows * columns} numbers declared, {len(values)} there"
                )
            return np.array(values[: rows * columns]).reshape(rows, columns)
    raise ModelError(f"{where}: {path} has no table {name!r}; it has {', '.join(names) or 'none'}")


__all__ = ["read_table"]
