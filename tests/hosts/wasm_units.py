"""FMUs of FMI 3.0 as WebAssembly components, in wasmtime and in Node.js: instances that take the draft's calls."""

from __future__ import annotations

import contextlib
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import fmpy
import numpy as np
from restarting_importer import Values, Vector

from mbfmu.export import layered_wasm
from mbfmu.runtime import build as build_files
from mbfmu.runtime import npm

HERE = pathlib.Path(__file__).resolve().parent
EXPORT = HERE.parent / "export"

#: The draft's names of the interfaces.
KINDS = {"CoSimulation": "co-simulation", "ModelExchange": "model-exchange"}


class Guest(Protocol):
    """An instance of a component."""

    def done(self, name: str, *arguments: Any) -> Any:
        """Call a method, which succeeds; records have the draft's names as attributes."""


def in_wasmtime(path: pathlib.Path, interface: str) -> Guest:
    """An instance in wasmtime."""
    sys.path.append(str(EXPORT))
    from wasm_host import Guest as Instance

    token = fmpy.read_model_description(str(path), validate=False).instantiationToken
    guest = Instance(path, KINDS[interface], token)
    assert guest.handle is not None, guest.log
    return guest


@contextlib.contextmanager
def workplace() -> Iterator[pathlib.Path]:
    """Give a folder in which Node.js finds jco.

    Raises:
        BuildError: Node.js or npm is not installed, or npm fails.
    """
    files = [build_files.template_folder("component") / "package.json", HERE / "wasm_server.js"]
    with npm.workplace(files, "jco cannot be fetched") as folder:
        yield folder


class InNode:
    """An instance in Node.js, for which jco translates the component; `place` is a workplace."""

    def __init__(self, path: pathlib.Path, interface: str, place: pathlib.Path) -> None:
        token = fmpy.read_model_description(str(path), validate=False).instantiationToken
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=place))
        with zipfile.ZipFile(path) as archive:
            (name,) = (n for n in archive.namelist() if n.startswith(f"binaries/{layered_wasm.PLATFORM}/"))
            component = pathlib.Path(archive.extract(name, self.folder))
        (self.folder / "package.json").write_text('{"type": "module"}', encoding="ascii")
        self.process = subprocess.Popen(
            ["node", str(place / "wasm_server.js"), str(component), interface, token],
            cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip

    def done(self, name: str, *arguments: Any) -> Any:
        first, *others = name.split("-")
        call = [first + "".join(map(str.capitalize, others)), *map(self._typed, arguments)]
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(call) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"Node.js ended with {self.process.wait()} at {name}")
        answer = json.loads(line, object_hook=self._read)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        if answer["value"] in ("warning", "discard", "error", "fatal"):
            raise RuntimeError(f"{name}: {answer['value']}")
        value = answer["value"]
        return types.SimpleNamespace(**value) if isinstance(value, dict) else value

    @staticmethod
    def _typed(argument: Any) -> Any:
        if not isinstance(argument, list):
            return argument
        return {"f64" if any(isinstance(value, float) for value in argument) else "u32": argument}

    @staticmethod
    def _read(found: dict[str, Any]) -> Any:
        if found.keys() == {"number"}:
            return float(found["number"].replace("Infinity", "inf"))
        return {re.sub("[A-Z]", lambda m: f"-{m[0].lower()}", key): value for key, value in found.items()}

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class Slave:
    """A guest in co-simulation."""

    def __init__(self, guest: Guest, path: pathlib.Path, names: Sequence[str], tolerance: float) -> None:
        self.guest, self.read = guest, Values(fmpy.read_model_description(str(path), validate=False), names)
        guest.done("enter-initialization-mode", tolerance, 0.0, None)
        guest.done("exit-initialization-mode")

    def run(self, times: Vector) -> Vector:
        """Values of the variables at the times: [times, names]."""
        rows = [self.guest.done("get-float64", self.read.references)]
        for t, end in itertools.pairwise(times):
            self.guest.done("do-step", float(t), float(end - t), True)
            rows.append(self.guest.done("get-float64", self.read.references))
        return np.array(rows, dtype=float)[:, self.read.places]


class Model:
    """A guest in model exchange, as `restarting_importer.Unit`."""

    def __init__(self, guest: Guest, path: pathlib.Path, names: Sequence[str], tolerance: float) -> None:
        description = fmpy.read_model_description(str(path), validate=False)
        self.guest, self.read = guest, Values(description, names)
        self.completes = bool(description.modelExchange.needsCompletedIntegratorStep)
        guest.done("enter-initialization-mode", tolerance, 0.0, None)

    def start(self) -> None:
        self.guest.done("exit-initialization-mode")

    def states(self) -> Vector:
        return np.array(self.guest.done("get-continuous-states"), dtype=float)

    def put(self, t: float, x: Vector) -> None:
        self.guest.done("set-time", float(t))
        self.guest.done("set-continuous-states", x.tolist())

    def derivatives(self) -> Vector:
        return np.array(self.guest.done("get-continuous-state-derivatives"), dtype=float)

    def indicators(self) -> Vector:
        return np.array(self.guest.done("get-event-indicators"), dtype=float)

    def values(self) -> Vector:
        return np.array(self.guest.done("get-float64", self.read.references), dtype=float)[self.read.places]

    def update(self) -> tuple[bool, bool, bool, float | None]:
        found = vars(self.guest.done("update-discrete-states"))
        restart = found["nominals-of-continuous-states-changed"] or found["values-of-continuous-states-changed"]
        instant = found["next-event-time"] if found["next-event-time-defined"] else None
        return found["new-discrete-states-needed"], found["terminate-simulation"], restart, instant

    def completed(self) -> bool:
        return self.completes and vars(self.guest.done("completed-integrator-step", True))["enter-event-mode"]

    def enter(self, mode: str) -> None:
        self.guest.done(f"enter-{mode}-mode")

    def close(self) -> None:
        self.guest.done("terminate")
