"""The slave of Python-hosted FMUs: hooks that pythonfmu's library calls (0.6.9 and 0.7), on the C runtime by ctypes.

In front of pythonfmu's library stands the FMU's own (templates/runtime/pythonfmu.c), which is the runtime, too: it has
checked the arguments, keeps the instance, and learns the status of each call from the slave. No hook raises: an
exception makes pythonfmu's library release the slave, its class and its log twice. It also runs the slave's module once
more for each slave and releases the module's dictionary, which it does not own: the module calls `keep` whenever it
runs.

This module imports nothing but the standard library and its neighbour `library`: FMUs bring a copy of both.
"""

from __future__ import annotations

import ctypes
import functools
import pathlib
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from .library import OK, Library

#: What the FMU's own library has beside the runtime's functions.
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "slave_knows_model": (ctypes.c_int, []),
    "slave_instance": (ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_size_t]),
    "slave_report": (None, [ctypes.c_int]),
    "slave_fail": (None, [ctypes.c_char_p]),
}

#: The file with the model, in the FMU's resources.
_DESCRIPTOR = "model.mbfmu"

#: A value of a variable.
_Value = float | int | bool | str


@functools.cache
def _open(handle: int) -> Library:
    """The FMU's own library; it stays loaded."""
    return Library("the FMU's library", handle, _PROTOTYPES)


def keep(*objects: object) -> None:
    """Add a reference to each object for one that pythonfmu's library releases without owning it."""
    for kept in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def _phase(function: str, name: str) -> Callable[..., None]:
    """A hook without results that calls a function of the runtime with the hook's arguments; FMI calls it `name`."""
    text = name.encode()

    def hook(self: Slave, *arguments: float) -> None:
        try:
            status = getattr(self.runtime, function)(self.instance, text, *arguments)
            if status:
                self.runtime.slave_report(status)
        except Exception as error:
            self.fail(error)

    return hook


def _getter(
    kind: str, item: Any, nothing: _Value, convert: Callable[[Any], _Value] | None = None
) -> Callable[..., list[_Value]]:
    """A hook that returns the values of variables of one type."""
    function, text = f"get_{kind}s", f"fmi2Get{kind.capitalize()}".encode()

    def hook(self: Slave, references: Sequence[int]) -> list[_Value]:
        n = len(references)
        try:
            values = (item * n)()
            status = getattr(self.runtime, function)(self.instance, text, struct.pack(f"{n}i", *references), n, values)
            if status == OK:
                return values[:] if convert is None else [convert(value) for value in values]
            self.runtime.slave_report(status)
        except Exception as error:
            self.fail(error)
        return [nothing] * n

    return hook


def _setter(kind: str, item: Any, convert: Callable[[Any], Any] | None = None) -> Callable[..., None]:
    """A hook that sets variables of one type."""
    function, text = f"set_{kind}s", f"fmi2Set{kind.capitalize()}".encode()

    def hook(self: Slave, references: Sequence[int], values: Sequence[Any]) -> None:
        n = len(references)
        try:
            array = (item * n)(*(values if convert is None else map(convert, values)))
            status = getattr(self.runtime, function)(self.instance, text, struct.pack(f"{n}i", *references), n, array)
            if status:
                self.runtime.slave_report(status)
        except Exception as error:
            self.fail(error)

    return hook


class Slave:
    """Base of the slave class of an FMU, in front of pythonfmu's `Fmi2Slave`."""

    resources: str
    instance_name: str
    runtime: Library
    instance: int | None

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        # The library puts the FMU's folder in front of all others on the host's path, once per slave; everything that
        # is imported from there is by now.
        sys.path[:] = [entry for entry in sys.path if entry != self.resources]
        # The FMU's own library gives its handle as the slave's name; the instance has the importer's.
        self.runtime = _open(int(self.instance_name))
        try:
            data = None
            if not self.runtime.slave_knows_model():
                data = pathlib.Path(self.resources, _DESCRIPTOR).read_bytes()
            self.instance = self.runtime.slave_instance(data, len(data or b""))
        except OSError:
            text = f"the file {_DESCRIPTOR} cannot be read in the folder of fmuResourceLocation"
            self.runtime.slave_fail(text.encode())
        except Exception as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Answer the present call with an error."""
        text = "defect of the FMU: " + "".join(traceback.format_exception(error))
        self.runtime.slave_fail(text.encode(errors="replace"))

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        """Set the start time [s] and, where they are given, stop time [s] and tolerance."""
        self._set_up(
            tolerance is not None,
            0.0 if tolerance is None else tolerance,
            start_time,
            stop_time is not None,
            0.0 if stop_time is None else stop_time,
        )

    _set_up = _phase("set_up_experiment", "fmi2SetupExperiment")
    enter_initialization_mode = _phase("enter_initialization", "fmi2EnterInitializationMode")
    exit_initialization_mode = _phase("exit_initialization", "fmi2ExitInitializationMode")
    terminate = _phase("terminate", "fmi2Terminate")

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Go on by `step_size` [s] from `current_time` [s]."""
        try:
            status = self.runtime.do_step(self.instance, b"fmi2DoStep", current_time, step_size)
            if status:
                self.runtime.slave_report(status)
        except Exception as error:
            self.fail(error)
        return True

    get_real = _getter("real", ctypes.c_double, 0.0)
    get_integer = _getter("integer", ctypes.c_int, 0)
    get_boolean = _getter("boolean", ctypes.c_int, False)
    get_string = _getter("string", ctypes.c_char_p, "", bytes.decode)
    set_real = _setter("real", ctypes.c_double)
    set_integer = _setter("integer", ctypes.c_int)
    set_boolean = _setter("boolean", ctypes.c_int)
    set_string = _setter("string", ctypes.c_char_p, str.encode)

    def _get_fmu_state(self) -> bytes:
        """States are the bytes of serialized states."""
        try:
            size = self.runtime.state_size(self.instance)
            state = ctypes.create_string_buffer(size)
            status = self.runtime.save_state(self.instance, b"fmi2GetFMUstate", state, size)
            if status == OK:
                return state.raw
            self.runtime.slave_report(status)
        except Exception as error:
            self.fail(error)
        return b""

    def _set_fmu_state(self, state: bytes) -> None:
        try:
            status = self.runtime.restore_state(self.instance, b"fmi2SetFMUstate", state, len(state))
            if status:
                self.runtime.slave_report(status)
        except Exception as error:
            self.fail(error)

    @staticmethod
    def _fmu_state_to_bytes(state: bytes) -> bytes:
        return state

    @staticmethod
    def _fmu_state_from_bytes(data: bytes) -> bytes:
        return data
