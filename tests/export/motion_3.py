"""A run of an FMU of FMI 3.0 by ctypes alone, in a bare Python on any system: `python motion_3.py FOLDER` prints it.

Arrays are read at each point, within steps, and once more from a saved state; some calls are wrong.
"""

from __future__ import annotations

import ctypes
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree
from typing import Any

_LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
_BOOL, _DOUBLE, _SIZE, _POINTER = ctypes.c_bool, ctypes.c_double, ctypes.c_size_t, ctypes.c_void_p
_UPDATE = ctypes.CFUNCTYPE(
    None, _POINTER, _DOUBLE, _BOOL, _BOOL, _BOOL, _BOOL, ctypes.POINTER(_BOOL), ctypes.POINTER(_DOUBLE)
)
_PLATFORM = {"linux": ("x86_64-linux", ".so"), "win32": ("x86_64-windows", ".dll")}


class Run:
    """One instance, its log lines, and what was read."""

    def __init__(self, folder: pathlib.Path) -> None:
        root = ElementTree.parse(folder / "modelDescription.xml").getroot()
        element = root.find("CoSimulation")
        assert element is not None
        platform, suffix = _PLATFORM[sys.platform]
        identifier = str(element.get("modelIdentifier"))
        self.library = ctypes.CDLL(str(folder / "binaries" / platform / (identifier + suffix)))
        self.shown = {}
        for variable in root.iter("Float64"):
            if variable.get("causality") == "output":
                sizes = [int(str(dimension.get("start"))) for dimension in variable.iter("Dimension")]
                self.shown[int(str(variable.get("valueReference")))] = sizes[0] if sizes else 1
        self.lines: list[Any] = []
        self.within: list[Any] = []
        self.token = str(root.get("instantiationToken")).encode()
        self.resources = str(folder / "resources").encode()
        self.callbacks = _LOGGER(self.log), _UPDATE(self.update)
        self.instance: int | None = None

    def log(self, _: Any, status: int, category: bytes, message: bytes) -> None:
        self.lines.append((status, category.decode(), message.decode()))

    def update(self, _: Any, time: float, *flags: Any) -> None:
        self.within.append((time, self.read()))

    def instantiate(self, name: bytes | None, token: bytes | None) -> int | None:
        function = self.library.fmi3InstantiateCoSimulation
        function.restype = _POINTER
        made = function(
            name, token, self.resources, _BOOL(False), _BOOL(False), _BOOL(False), _BOOL(False),
            None, _SIZE(0), None, *self.callbacks,
        )  # fmt: skip
        return None if made is None else int(made)

    def call(self, name: str, *arguments: Any) -> int:
        plain = [_DOUBLE(value) if isinstance(value, float) else value for value in arguments]
        return int(getattr(self.library, f"fmi3{name}")(_POINTER(self.instance), *plain))

    def read(self) -> Any:
        """Values of all outputs, and the status."""
        n, size = len(self.shown), sum(self.shown.values())
        values = (_DOUBLE * size)()
        status = self.call("GetFloat64", (ctypes.c_uint * n)(*self.shown), _SIZE(n), values, _SIZE(size))
        return status, list(values)

    def step(self, time: float, size: float) -> Any:
        event, end, early, reached = _BOOL(), _BOOL(), _BOOL(), _DOUBLE()
        results = [ctypes.byref(value) for value in (event, end, early, reached)]
        status = self.call("DoStep", time, size, _BOOL(True), *results)
        return status, event.value, end.value, early.value, reached.value, self.read()


def main() -> None:
    """Print everything as JSON."""
    run = Run(pathlib.Path(sys.argv[1]))
    found: dict[str, Any] = {
        "no name": run.instantiate(None, run.token),
        "another token": run.instantiate(b"one", b"{another}"),
        "no token": run.instantiate(b"one", None),
    }
    run.instance = run.instantiate(b"one", run.token)
    assert run.instance is not None, run.lines
    found["a step too early"] = run.step(0.0, 0.1)
    begin = (_BOOL(True), 1e-8, 0.0, _BOOL(False), 0.0)
    found["start"] = [run.call("EnterInitializationMode", *begin), run.call("ExitInitializationMode")]
    found["no arrays"] = run.call("GetFloat64", None, _SIZE(1), None, _SIZE(1))
    found["no variables"] = run.call("GetFloat32", (ctypes.c_uint * 1)(), _SIZE(1), (_DOUBLE * 1)(), _SIZE(1))
    found["motion"] = [run.step(i / 10, 0.1) for i in range(5)]
    state = _POINTER()
    found["save"] = run.call("GetFMUState", ctypes.byref(state))
    found["on"] = [run.step(0.5 + i / 10, 0.1) for i in range(3)]
    found["restore"] = [run.call("SetFMUState", state), run.call("FreeFMUState", ctypes.byref(state))]
    found["again"] = [run.step(0.5 + i / 10, 0.1) for i in range(3)]
    found["a step from elsewhere"] = run.step(7.0, 0.1)[:4]
    found["end"] = run.call("Terminate")
    run.library.fmi3FreeInstance(_POINTER(run.instance))
    print(json.dumps({**found, "within": run.within, "lines": run.lines}))


if __name__ == "__main__":
    main()
