"""The C runtime in this process: models that it reads, and instances that it runs.

This module imports nothing but the standard library: Python-hosted FMUs bring a copy of it.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: The answers of FMI, by number.
OK, WARNING, DISCARD, ERROR, FATAL = range(5)

#: Takes the number of a status, the category and the text of a log line.
Log = Callable[[int, str, str], None]

_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
_POINTER, _INT, _DOUBLE, _SIZE, _TEXT = ctypes.c_void_p, ctypes.c_int, ctypes.c_double, ctypes.c_size_t, ctypes.c_char_p

_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "contract": (ctypes.c_uint, []),
    "load": (_POINTER, [_POINTER, _SIZE, ctypes.POINTER(_TEXT)]),
    "unload": (None, [_POINTER]),
    "evaluate": (_INT, [_POINTER, _INT, _POINTER, _POINTER]),
    "use": (None, [_POINTER, _INT, _INT, _POINTER]),
    "instantiate": (_POINTER, [_POINTER, _TEXT, _INT, _INT, _POINTER, _POINTER]),
    "free": (None, [_POINTER]),
    "set_up_experiment": (_INT, [_POINTER, _TEXT, _INT, _DOUBLE, _DOUBLE, _INT, _DOUBLE]),
    "set_logging": (_INT, [_POINTER, _TEXT, _INT]),
    "enter_initialization": (_INT, [_POINTER, _TEXT]),
    "exit_initialization": (_INT, [_POINTER, _TEXT]),
    "terminate": (_INT, [_POINTER, _TEXT]),
    "reset": (_INT, [_POINTER]),
    **{f"{verb}_{kind}s": (_INT, [_POINTER, _TEXT, _POINTER, _SIZE, _POINTER])
       for verb in ("get", "set") for kind in ("real", "integer", "boolean", "string")},
    "do_step": (_INT, [_POINTER, _TEXT, _DOUBLE, _DOUBLE]),
    "time": (_DOUBLE, [_POINTER]),
    "state_size": (_SIZE, [_POINTER]),
    "save_state": (_INT, [_POINTER, _TEXT, _POINTER, _SIZE]),
    "restore_state": (_INT, [_POINTER, _TEXT, _POINTER, _SIZE]),
    "set_input": (_INT, [_POINTER, _INT, _DOUBLE]),
    "set_parameter": (_INT, [_POINTER, _INT, _DOUBLE]),
    "get_places": (_INT, [_POINTER, _TEXT, _POINTER, _SIZE, _POINTER]),
    "run": (_SIZE, [_POINTER, _TEXT, _POINTER, _SIZE, _POINTER, _SIZE, _POINTER, _POINTER]),
    "start_drive": (None, [_POINTER, _POINTER]),
    "batch": (None, [_POINTER, _INT, _POINTER]),
    "choices": (_INT, [_POINTER, _POINTER, _POINTER]),
    "assemble": (_INT, [_POINTER, _TEXT]),
    "ended": (_INT, [_POINTER]),
    "modes": (None, [_POINTER, _POINTER]),
    "project": (_INT, [_POINTER, _DOUBLE, _POINTER]),
    "statistics": (None, [_POINTER, _POINTER]),
}  # fmt: skip


class RuntimeLibraryError(Exception):
    """The library is missing or damaged, or a descriptor is refused."""


class Library:
    """The C runtime's library, loaded from a file: its functions without the prefix `mbfmu_`.

    Args:
        path: The file.
        handle: What the system's loader calls the library, where it is loaded already.
        prototypes: Result and arguments of functions that this library has beside those of all.

    Raises:
        RuntimeLibraryError: The file cannot be loaded, or is another library.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        handle: int | None = None,
        prototypes: Mapping[str, tuple[Any, list[Any]]] | None = None,
    ) -> None:
        self.path = pathlib.Path(path)
        try:
            self._library = ctypes.CDLL(str(self.path), handle=handle)
            for name, (result, arguments) in {**_PROTOTYPES, **(prototypes or {})}.items():
                function = getattr(self._library, f"mbfmu_{name}")
                function.restype, function.argtypes = result, arguments
                setattr(self, name, function)
        except (OSError, AttributeError) as error:
            raise RuntimeLibraryError(f"{self.path} is not the library of mbfmu's runtime: {error}") from error

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class Model:
    """A model that the runtime has read from a descriptor; it may have any number of instances.

    Args:
        library: The runtime.
        descriptor: What the model is.
        functions: Its functions as CasADi has them, by name, where they may be compiled in place of the descriptor's
            tapes.

    Raises:
        RuntimeLibraryError: The descriptor is damaged, or of another version.
    """

    def __init__(self, library: Library, descriptor: bytes, functions: Mapping[str, Any] | None = None) -> None:
        wrong = ctypes.c_char_p()
        self.library, self.functions = library, functions or {}
        #: Names of start values that were chosen and of which the user knows: it is said once a model.
        self.told: set[str] = set()
        self.handle = library.load(descriptor, len(descriptor), ctypes.byref(wrong))
        if not self.handle:
            raise RuntimeLibraryError(f"the model's descriptor is refused: {(wrong.value or b'').decode()}")

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.library.unload(self.handle)
            self.handle = None


class Instance:
    """One running model: FMI's functions for co-simulation, each answering with a status.

    Args:
        model: What it is an instance of.
        name: For the log.
        log: Called with every line.
        events: Log events and statistics, too.
    """

    def __init__(self, model: Model, name: str = "instance", log: Log | None = None, *, events: bool = False) -> None:
        self.model, self.library = model, model.library

        def note(_: Any, __: bytes, status: int, category: bytes, text: bytes) -> None:
            if log is not None:
                log(status, category.decode(), text.decode(errors="replace"))

        self._note = _LOG(note)  # lives as long as the library may call it
        self.handle = self.library.instantiate(
            model.handle, name.encode(), 1, int(events), ctypes.cast(self._note, ctypes.c_void_p), None
        )
        if not self.handle:
            raise MemoryError(f"no memory for an instance of {name}")

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.library.free(self.handle)
            self.handle = None

    def set_up_experiment(
        self, start_time: float = 0.0, stop_time: float | None = None, tolerance: float | None = None
    ) -> int:
        """Set the start time [s] and, where they are given, stop time [s] and tolerance."""
        return int(
            self.library.set_up_experiment(
                self.handle, b"setupExperiment", int(tolerance is not None), tolerance or 0.0, start_time,
                int(stop_time is not None), stop_time or 0.0,
            )
        )  # fmt: skip

    def enter_initialization(self) -> int:
        """From here on, getting values initialises where something has changed."""
        return int(self.library.enter_initialization(self.handle, b"enterInitializationMode"))

    def exit_initialization(self) -> int:
        """Initialise with all that was set."""
        return int(self.library.exit_initialization(self.handle, b"exitInitializationMode"))

    def choices(self, count: int) -> list[tuple[int, float]]:
        """What initialisation has chosen of its `count` unknowns: indices and values. Asked right after it."""
        marks, values = (ctypes.c_int * count)(), (ctypes.c_double * count)()
        self.library.choices(self.handle, marks, values)
        return [(i, values[i]) for i in range(count) if marks[i]]

    def assemble(self) -> int:
        """Solve for the start, and stay there even where it is singular."""
        return int(self.library.assemble(self.handle, b"initialise"))

    def do_step(self, point: float, h: float) -> int:
        """Go on by h [s] from where the instance is."""
        return int(self.library.do_step(self.handle, b"doStep", point, h))

    @property
    def time(self) -> float:
        """Time of the end of the last step, s."""
        return float(self.library.time(self.handle))

    def set_input(self, index: int, value: float) -> int:
        """Set an entry of u."""
        return int(self.library.set_input(self.handle, index, value))

    def set_parameter(self, index: int, value: float) -> int:
        """Set an entry of p."""
        return int(self.library.set_parameter(self.handle, index, value))

    def values(self, places: Sequence[int]) -> list[float] | None:
        """Values at places (`contract.place`), or None where they need an initialisation that fails."""
        n = len(places)
        values = (ctypes.c_double * n)()
        status = self.library.get_places(self.handle, b"get", (ctypes.c_int * n)(*places), n, values)
        return None if status else list(values)

    def save_state(self) -> bytes:
        """All that changes, as bytes."""
        size = self.library.state_size(self.handle)
        buffer = ctypes.create_string_buffer(size)
        self.library.save_state(self.handle, b"serializeFMUstate", buffer, size)
        return buffer.raw

    def restore_state(self, state: bytes) -> int:
        """Return to a saved state, of this or of another instance of the same model."""
        return int(self.library.restore_state(self.handle, b"deSerializeFMUstate", state, len(state)))

    def statistics(self) -> dict[str, int]:
        """How many steps, rejected steps, events, evaluations, implicit steps and Jacobians there were."""
        counts = (ctypes.c_ulonglong * 6)()
        self.library.statistics(self.handle, counts)
        names = ("steps", "rejections", "events", "evaluations", "implicit_steps", "jacobians")
        return dict(zip(names, map(int, counts), strict=True))
