"""An importer by ctypes alone: FMUs under any arguments, NULL included, with statuses and log lines as they come.

It imports the standard library only, so that it also runs in a bare Python: `python importer.py FOLDER`.
"""

from __future__ import annotations

import ctypes
import math
import pathlib
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from typing import Any

OK, WARNING, DISCARD, ERROR, FATAL = range(5)
MODEL_EXCHANGE, CO_SIMULATION = range(2)

_LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
_ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_PLATFORM = {"linux": ("linux64", ".so"), "win32": ("win64", ".dll")}
_ITEMS = {"Real": ctypes.c_double, "Integer": ctypes.c_int, "Boolean": ctypes.c_int, "String": ctypes.c_char_p}

#: What values are before a call that must leave them alone.
UNTOUCHED = {"Real": 4711.0, "Integer": 4711, "Boolean": 4711, "String": b"untouched"}


class Callbacks(ctypes.Structure):
    _fields_ = (
        ("logger", _LOGGER),
        ("allocate", _ALLOCATE),
        ("release", _RELEASE),
        ("finished", ctypes.c_void_p),
        ("environment", ctypes.c_void_p),
    )


class Importer:
    """An unpacked FMU, its library loaded."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        root = ElementTree.parse(folder / "modelDescription.xml").getroot()
        self.guid = root.get("guid").encode()
        self.resources = (folder / "resources").as_uri().encode()
        self.variables = {
            variable.get("name"): (next(iter(variable)).tag, int(variable.get("valueReference")))
            for variable in root.iter("ScalarVariable")
        }
        platform, suffix = _PLATFORM[sys.platform]
        identifier = root.find("CoSimulation").get("modelIdentifier")
        self.library = ctypes.CDLL(str(folder / "binaries" / platform / (identifier + suffix)))
        self.library.fmi2Instantiate.restype = ctypes.c_void_p
        self.lines: list[tuple[str, int, str, str]] = []
        self._allocations: dict[int, Any] = {}
        self.callbacks = Callbacks(_LOGGER(self._log), _ALLOCATE(self._allocate), _RELEASE(self._release), None, None)

    def _log(self, _: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        self.lines.append((instance.decode(), status, category.decode(), message.decode()))

    def _allocate(self, count: int, size: int) -> int:
        memory = ctypes.create_string_buffer(max(1, count * size))
        self._allocations[ctypes.addressof(memory)] = memory
        return ctypes.addressof(memory)

    def _release(self, memory: int | None) -> None:
        if memory is not None:
            del self._allocations[memory]

    @property
    def blocks(self) -> int:
        """Blocks of memory that the FMU has and has not given back."""
        return len(self._allocations)

    def instantiate(
        self,
        name: bytes | None = b"instance",
        kind: int = CO_SIMULATION,
        guid: bytes | None = b"own",
        resources: bytes | None = b"own",
        callbacks: Any = "own",
        logging: bool = False,
    ) -> Unit | None:
        component = self.library.fmi2Instantiate(
            name,
            kind,
            self.guid if guid == b"own" else guid,
            self.resources if resources == b"own" else resources,
            ctypes.byref(self.callbacks) if callbacks == "own" else callbacks,
            0,
            int(logging),
        )
        return Unit(self, component) if component else None


class Unit:
    """An instance. Calls answer with a status, those that get values with a status and the values."""

    def __init__(self, importer: Importer, component: int | None) -> None:
        self.importer, self.component = importer, component

    def call(self, function: str, *arguments: Any) -> int:
        plain = [ctypes.c_double(value) if isinstance(value, float) else value for value in arguments]
        return getattr(self.importer.library, f"fmi2{function}")(ctypes.c_void_p(self.component), *plain)

    def free(self) -> None:
        self.importer.library.fmi2FreeInstance(ctypes.c_void_p(self.component))

    def start(self, tolerance: float = 1e-9) -> Unit:
        assert self.call("SetupExperiment", 1, tolerance, 0.0, 0, 0.0) == OK, self.importer.lines
        assert self.call("EnterInitializationMode") == OK, self.importer.lines
        assert self.call("ExitInitializationMode") == OK, self.importer.lines
        return self

    def step(self, point: float, h: float) -> int:
        return self.call("DoStep", point, h, 1)

    def get_references(self, kind: str, references: Sequence[int]) -> tuple[int, list[Any]]:
        n = len(references)
        values = (_ITEMS[kind] * n)(*([UNTOUCHED[kind]] * n))
        status = self.call(f"Get{kind}", (ctypes.c_uint * n)(*references), ctypes.c_size_t(n), values)
        return status, list(values)

    def set_references(self, kind: str, references: Sequence[int], values: Sequence[Any]) -> int:
        n = len(references)
        array = (_ITEMS[kind] * n)(*values)
        return self.call(f"Set{kind}", (ctypes.c_uint * n)(*references), ctypes.c_size_t(n), array)

    def get(self, name: str) -> Any:
        kind, reference = self.importer.variables[name]
        status, values = self.get_references(kind, [reference])
        assert status == OK, self.importer.lines
        return values[0]

    def set(self, name: str, value: Any) -> int:
        kind, reference = self.importer.variables[name]
        return self.set_references(kind, [reference], [value])

    def save(self) -> ctypes.c_void_p:
        state = ctypes.c_void_p()
        assert self.call("GetFMUstate", ctypes.byref(state)) == OK
        return state

    def serialize(self, state: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        assert self.call("SerializedFMUstateSize", state, ctypes.byref(size)) == OK
        data = ctypes.create_string_buffer(size.value)
        assert self.call("SerializeFMUstate", state, data, size) == OK
        return data.raw

    def deserialize(self, data: bytes) -> tuple[int, ctypes.c_void_p]:
        state = ctypes.c_void_p()
        status = self.call("DeSerializeFMUstate", data, ctypes.c_size_t(len(data)), ctypes.byref(state))
        return status, state


def main() -> None:
    """Run an oscillator in whatever Python this is, and print what it ends with."""
    for package in ("numpy", "scipy", "casadi", "pythonfmu", "mbfmu"):
        try:
            __import__(package)
        except ImportError:
            continue
        raise SystemExit(f"{package} is there")
    importer = Importer(pathlib.Path(sys.argv[1]))
    unit = importer.instantiate()
    if unit is None:
        raise SystemExit(str(importer.lines))
    unit.start()
    for i in range(100):
        if unit.step(i / 100, 0.01):
            raise SystemExit(str(importer.lines))
    if abs(unit.get("flange.s") - 0.1 * math.cos(2.0)) > 1e-8:
        raise SystemExit(f"flange.s is {unit.get('flange.s')}")
    if unit.step(7.0, 0.1) != ERROR or "but the instance is at 1" not in importer.lines[-1][3]:
        raise SystemExit(str(importer.lines))
    unit.free()
    print("well")


if __name__ == "__main__":
    main()
