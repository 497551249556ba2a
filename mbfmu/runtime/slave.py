"""The slave of Python-hosted FMUs: hooks that pythonfmu's library calls (0.6.9 and 0.7), on the C runtime by ctypes.

In front of pythonfmu's library stands the FMU's own (templates/runtime/pythonfmu.c), which is the runtime, too: it has
checked the arguments, and keeps the instance and the status of the call that a hook belongs to. So slaves serve FMUs of
FMI 2.0 and 3.0 alike. No hook raises: an exception makes pythonfmu's library release the slave, its class and its log
twice. It also runs the slave's module once more for each slave and releases the module's dictionary, which it does not
own: the module calls `keep` whenever it runs.

This module imports nothing but the standard library: FMUs bring a copy of it.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

#: A status that is good.
_OK = 0

_INT, _DOUBLE, _SIZE, _POINTER = ctypes.c_int, ctypes.c_double, ctypes.c_size_t, ctypes.c_void_p

#: Functions of the FMU's own library, without the prefix `mbfmu_slave_`, and their arguments; each returns a status.
_FUNCTIONS: dict[str, list[Any]] = {
    "set_up_experiment": [_INT, _DOUBLE, _DOUBLE, _INT, _DOUBLE],
    "enter_initialization": [],
    "exit_initialization": [],
    "terminate": [],
    "do_step": [_DOUBLE, _DOUBLE],
    **{f"{verb}_{kind}s": [_POINTER, _SIZE, _POINTER]
       for verb in ("get", "set") for kind in ("real", "integer", "boolean", "string")},
    "fail": [ctypes.c_char_p],
}  # fmt: skip

#: A value of a variable.
_Value = float | int | bool | str


class _Runtime:
    """The functions of the FMU's own library; it stays loaded."""

    def __init__(self, handle: int) -> None:
        library = ctypes.CDLL("the FMU's library", handle=handle)
        for name, arguments in _FUNCTIONS.items():
            function = getattr(library, f"mbfmu_slave_{name}")
            function.argtypes = arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


@functools.cache
def _open(handle: int) -> _Runtime:
    """The library of an FMU, once."""
    return _Runtime(handle)


def keep(*objects: object) -> None:
    """Add a reference to each object for one that pythonfmu's library releases without owning it."""
    for kept in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def _phase(function: str) -> Callable[..., None]:
    """A hook without results that calls a function of the runtime with the hook's arguments."""

    def hook(self: Slave, *arguments: float) -> None:
        try:
            getattr(self.runtime, function)(*arguments)
        except Exception as error:
            self.fail(error)

    return hook


def _getter(
    kind: str, item: Any, nothing: _Value, convert: Callable[[Any], _Value] | None = None
) -> Callable[..., list[_Value]]:
    """A hook that returns the values of variables of one type."""
    function = f"get_{kind}s"

    def hook(self: Slave, references: Sequence[int]) -> list[_Value]:
        n = len(references)
        try:
            values = (item * n)()
            if getattr(self.runtime, function)(struct.pack(f"{n}i", *references), n, values) == _OK:
                return values[:] if convert is None else [convert(value) for value in values]
        except Exception as error:
            self.fail(error)
        return [nothing] * n

    return hook


def _setter(kind: str, item: Any, convert: Callable[[Any], Any] | None = None) -> Callable[..., None]:
    """A hook that sets variables of one type."""
    function = f"set_{kind}s"

    def hook(self: Slave, references: Sequence[int], values: Sequence[Any]) -> None:
        n = len(references)
        try:
            array = (item * n)(*(values if convert is None else map(convert, values)))
            getattr(self.runtime, function)(struct.pack(f"{n}i", *references), n, array)
        except Exception as error:
            self.fail(error)

    return hook


class Slave:
    """Base of the slave class of an FMU, in front of pythonfmu's `Fmi2Slave`."""

    resources: str
    instance_name: str
    runtime: _Runtime

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        # The library puts the FMU's folder in front of all others on the host's path, once per slave; everything that
        # is imported from there is by now.
        sys.path[:] = [entry for entry in sys.path if entry != self.resources]
        # The FMU's own library gives its handle as the slave's name; the instance has the importer's.
        self.runtime = _open(int(self.instance_name))

    def fail(self, error: Exception) -> None:
        """Answer the present call with an error."""
        text = "defect of the FMU: " + "".join(traceback.format_exception(error))
        self.runtime.fail(text.encode(errors="replace"))

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

    _set_up = _phase("set_up_experiment")
    enter_initialization_mode = _phase("enter_initialization")
    exit_initialization_mode = _phase("exit_initialization")
    terminate = _phase("terminate")

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Go on by `step_size` [s] from `current_time` [s]."""
        try:
            self.runtime.do_step(current_time, step_size)
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
