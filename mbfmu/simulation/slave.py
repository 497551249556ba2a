"""The hooks that pythonfmu's host library calls (pythonfmu 0.6 and 0.7), on an `Instance`.

The library asks by value reference, and it miscounts references in two places:

- An exception that leaves a hook makes it return fmi2Fatal, but it also releases the slave, its class and its log as if
  the slave were freed, and does so once more when it is: the host crashes. Every hook adds these references back before
  it lets an exception go; the slave stays whole and may be used after the error.
- At each instantiation it runs the slave's module once more and releases the module's dictionary, which it does not
  own: after some instances the module is empty. The module calls `keep` whenever it runs.
"""

from __future__ import annotations

import ctypes
import functools
import json
import pathlib
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .equations import Equations
from .errors import SimulationError, VariableError
from .instance import Instance
from .interface import Record, Value, change, get

#: File with the variables, beside the equations.
VARIABLES = "variables.json"

#: Times that differ by less than this fraction of their size (or of 1 s) are the same for `do_step`.
SAME_TIME = 1e-9

Table = dict[str, dict[int, Record]]


class Refusal(Exception):
    """An error as the host library should print it: `repr` is the message itself."""

    def __repr__(self) -> str:
        return str(self)


def save(folder: pathlib.Path, equations: Equations, table: Table) -> None:
    """Write what a slave loads into an existing folder: equations, and variables by type and value reference."""
    equations.save(folder)
    plain = {kind: {str(reference): record.plain() for reference, record in row.items()} for kind, row in table.items()}
    (folder / VARIABLES).write_text(json.dumps(plain, indent=0), encoding="utf-8")


def load(folder: pathlib.Path) -> tuple[Equations, Table]:
    """Read what `save` wrote."""
    plain = json.loads((folder / VARIABLES).read_text(encoding="utf-8"))
    table = {kind: {int(ref): Record(*values) for ref, values in row.items()} for kind, row in plain.items()}
    return Equations.load(folder), table


def keep(*objects: object) -> None:
    """Add a reference to each object for one that the host library releases without owning it."""
    for kept in objects:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def _hook(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let exceptions leave a hook in the one way that the host library survives."""

    @functools.wraps(method)
    def call(self: Slave, *arguments: Any) -> Any:
        try:
            return method(self, *arguments)
        except Exception as error:
            keep(self, type(self), self.log_queue)
            raise Refusal(_message(error)) from None

    return call


def _message(error: Exception) -> str:
    if isinstance(error, SimulationError):
        return str(error)
    return "defect of the FMU: " + "".join(traceback.format_exception(error))


class Slave:
    """Base of the slave class of an FMU, in front of pythonfmu's `Fmi2Slave`."""

    #: Equations and variables, loaded once per process and FMU.
    _model: ClassVar[tuple[Equations, Table] | None] = None

    resources: str
    log_queue: list[Any]

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        # The library puts the FMU's folder in front of all others on the host's path, once per instance; everything
        # that is imported from there is by now.
        sys.path[:] = [entry for entry in sys.path if entry != self.resources]
        cls = type(self)
        if cls._model is None:
            cls._model = load(pathlib.Path(self.resources))
        equations, self._table = cls._model
        self._instance = Instance(equations)

    @_hook
    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        """Set the start time [s] and, where it is given, the tolerance."""
        self._instance.set_start_time(start_time)
        if tolerance is not None:
            self._instance.set_tolerance(tolerance)

    @_hook
    def enter_initialization_mode(self) -> None:
        """Nothing to do: the first get initialises."""

    @_hook
    def exit_initialization_mode(self) -> None:
        """Initialise with all that was set."""
        self._instance.finish_initialisation()

    @_hook
    def do_step(self, current_time: float, step_size: float) -> bool:
        """Go on by `step_size` [s] from where the slave is, which must be `current_time` [s]."""
        time = self._instance.time
        if not abs(current_time - time) <= SAME_TIME * max(1.0, abs(time), abs(step_size)):
            raise SimulationError(f"doStep starts at t = {current_time:.9g} s, but the model is at {time:.9g} s")
        self._instance.advance(current_time + step_size)
        return True

    @_hook
    def terminate(self) -> None:
        """Nothing to do."""

    @_hook
    def get_real(self, references: Sequence[int]) -> list[Value]:
        """Values of Real variables."""
        return self._get("Real", references)

    @_hook
    def get_integer(self, references: Sequence[int]) -> list[Value]:
        """Values of Integer variables."""
        return self._get("Integer", references)

    @_hook
    def get_boolean(self, references: Sequence[int]) -> list[Value]:
        """Values of Boolean variables."""
        return self._get("Boolean", references)

    @_hook
    def get_string(self, references: Sequence[int]) -> list[Value]:
        """Values of String variables."""
        return self._get("String", references)

    @_hook
    def set_real(self, references: Sequence[int], values: Sequence[float]) -> None:
        """Set Real variables, all or none."""
        self._set("Real", references, values)

    @_hook
    def set_integer(self, references: Sequence[int], values: Sequence[int]) -> None:
        """Set Integer variables, all or none."""
        self._set("Integer", references, values)

    @_hook
    def set_boolean(self, references: Sequence[int], values: Sequence[bool]) -> None:
        """Set Boolean variables, all or none."""
        self._set("Boolean", references, values)

    @_hook
    def set_string(self, references: Sequence[int], values: Sequence[str]) -> None:
        """Set String variables, all or none."""
        self._set("String", references, values)

    @_hook
    def _get_fmu_state(self) -> dict[str, Any]:
        return self._instance.save()

    @_hook
    def _set_fmu_state(self, state: dict[str, Any]) -> None:
        self._instance.restore(state)

    @staticmethod
    def _fmu_state_to_bytes(state: dict[str, Any]) -> bytes:
        return json.dumps(state).encode()

    @staticmethod
    def _fmu_state_from_bytes(data: bytes) -> dict[str, Any]:
        # Bytes that are no state become an empty one, which `_set_fmu_state` refuses: here no instance is known whose
        # references could be kept.
        try:
            state = json.loads(data)
        except ValueError:
            state = None
        return state if isinstance(state, dict) else {}

    def _find(self, kind: str, reference: int) -> Record:
        record = self._table.get(kind, {}).get(reference)
        if record is None:
            raise VariableError(f"there is no {kind} variable with the value reference {reference}")
        return record

    def _get(self, kind: str, references: Sequence[int]) -> list[Value]:
        return [get(self._instance, self._find(kind, reference)) for reference in references]

    def _set(self, kind: str, references: Sequence[int], values: Sequence[Value]) -> None:
        pairs = zip(references, values, strict=True)
        changes = [change(self._instance, self._find(kind, reference), value) for reference, value in pairs]
        for apply in changes:
            apply()
