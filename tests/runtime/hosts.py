"""The C runtime in each of its hosts, behind one driver: by the names of variables, failures as exceptions.

- `compiled`: the library of an FMU with compiled equations, through FMPy's bindings,
- `interpreted`: the runtime's ready library beside a descriptor, through the same bindings,
- `process`: `mbfmu.runtime.run.Run`, as `mbfmu.simulate` uses it.
"""

from __future__ import annotations

import ctypes
import dataclasses
import pathlib
import re
import shutil
from collections.abc import Callable, Sequence
from typing import Any

import fmpy.fmi2 as fmi2
import pytest
from fmpy.fmi1 import FMICallException
from hand_made_models import parameter, variable

from mbfmu.errors import MbfmuError
from mbfmu.export import native
from mbfmu.runtime import build, contract
from mbfmu.runtime.compilers import find_compiler, host_platform, library_name
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.library import WARNING
from mbfmu.runtime.references import value_references
from mbfmu.runtime.run import Run
from mbfmu.runtime.variables import ScalarVariable

FMUS = ("compiled", "interpreted")
HOSTS = (*FMUS, "process")

GUID = "{0123}"
LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)

#: What Slave.statistics counts.
COUNTS = ("steps", "rejections", "events", "evaluations", "implicit_steps", "jacobians")

#: Makes a model: its equations, and its variables where there are special ones.
Maker = Callable[[], "Equations | tuple[Equations, Sequence[ScalarVariable]]"]


def library_of(program: pathlib.Path, folder: pathlib.Path, optimize: str) -> pathlib.Path:
    """Compile a C file that includes the runtime in an empty folder; skip where there is no compiler."""
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    build.write_sources(folder)
    shutil.copy(program, folder)
    name = library_name(program.stem, host_platform())
    (folder / name).write_bytes(compiler.compile(folder / program.name, name, build.headers(), optimize))
    return folder / name


class Failed(Exception):
    """A call has failed; `status` is FMI's, the text that of the log."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def model_and_variables(make: Maker, **options: Any) -> tuple[Equations, tuple[ScalarVariable, ...]]:
    """Make a model with fields of its record replaced; one without variables of its own shows all that it has."""
    made = make()
    equations, listed = made if isinstance(made, tuple) else (made, None)
    equations = dataclasses.replace(equations, **options)
    if listed is not None:
        return equations, tuple(listed)
    e = equations
    sizes, ninputs = {"x": e.nx, "w": e.nw, "y": e.ny}, e.nu - e.ndelays - e.niterations
    return equations, (
        variable("time", "time", 0, causality="independent"),
        *(parameter(f"p{i}", i, value) for i, value in enumerate(e.parameters)),
        *(variable(f"u{i}", "u", i, causality="input", start=v) for i, v in enumerate(e.inputs[:ninputs])),
        *(variable(f"s{i}", "u", e.nu - e.niterations + i) for i in range(e.niterations)),
        *(variable(f"{store}{i}", store, i) for store, n in sizes.items() for i in range(n)),
    )


class Library:
    """A model in a host; `slave` makes instances of it."""

    def __init__(
        self, host: str, equations: Equations, variables: Sequence[ScalarVariable], folder: pathlib.Path
    ) -> None:
        self.host, self.equations, self.variables, self.folder = host, equations, tuple(variables), folder
        self.path: pathlib.Path | None = None
        if host == "compiled":
            self.path = native.build_library(equations, self.variables, "model", GUID, folder)
        elif host == "interpreted":
            self.path = native.copy_library("model", folder)
            native.write_descriptor(equations, self.variables, GUID, folder / "resources")

    def slave(self, **options: Any) -> Slave:
        """Make an instance."""
        return (ProcessSlave if self.host == "process" else FmuSlave)(self, **options)

    def run(self, stop: float, step: float, **options: Any) -> Slave:
        """Make an instance, initialise it and let it run to a time."""
        slave = self.slave(**options)
        slave.start()
        slave.advance(stop, step)
        return slave


class Slave:
    """One instance. `log` collects (status, category, message)."""

    def __init__(self, library: Library, *, tolerance: float | None = None, stop: float | None = None) -> None:
        self.log: list[tuple[int, str, str]] = []
        self.library, self.tolerance, self.stop = library, tolerance, stop
        self.variables = {v.name: v for v in library.variables}
        self.time = 0.0

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        return list(self.variables)

    def enter(self, **values: Any) -> Slave:
        """Set start values and go to initialisation mode."""
        raise NotImplementedError

    def finish(self) -> Slave:
        """Initialise and leave that mode."""
        raise NotImplementedError

    def start(self, **values: Any) -> Slave:
        """Be ready for steps, with these start values."""
        return self.enter(**values).finish()

    def step(self, h: float) -> None:
        """Go on by h."""
        raise NotImplementedError

    def get(self, *names: str) -> Any:
        """Return a value, or a list of them where more names are given."""
        raise NotImplementedError

    def set(self, name: str, value: Any) -> None:
        """Set a variable."""
        raise NotImplementedError

    def reset(self) -> None:
        """Begin anew."""
        raise NotImplementedError

    def save(self) -> bytes:
        """Return all that changes, as bytes."""
        raise NotImplementedError

    def restore(self, state: bytes) -> None:
        """Return to a saved state."""
        raise NotImplementedError

    def statistics(self) -> dict[str, int]:
        """How much work the run was; an FMU's ends with that."""
        raise NotImplementedError

    def advance(self, stop: float, step: float) -> None:
        """Go on in communication steps of one length."""
        first = self.time
        for i in range(round((stop - first) / step)):
            self.step(first + (i + 1) * step - self.time)

    def messages(self, status: int) -> list[str]:
        """Log lines of a status."""
        return [text for kind, _, text in self.log if kind == status]


class FmuSlave(Slave):
    """An instance of an FMU's library, for co-simulation unless `kind` is FMPy's FMU2Model."""

    def __init__(
        self,
        library: Library,
        *,
        name: str = "instance",
        logging: bool = False,
        guid: str = GUID,
        kind: Any = fmi2.FMU2Slave,
        **experiment: Any,
    ) -> None:
        super().__init__(library, **experiment)
        references = value_references(library.variables)
        self._references = dict(zip(self.variables, references, strict=True))
        self.fmi = kind(guid=guid, unzipDirectory=str(library.folder), modelIdentifier="model", instanceName=name)
        self._callbacks = fmi2.fmi2CallbackFunctions()
        self._callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._note)
        self._callbacks.allocateMemory = fmi2.defaultCallbacks.allocateMemory
        self._callbacks.freeMemory = fmi2.defaultCallbacks.freeMemory
        self.fmi.instantiate(callbacks=self._callbacks, loggingOn=logging)
        self._live = True

    def __del__(self) -> None:
        if getattr(self, "_live", False):
            self._live = False
            self.fmi.fmi2FreeInstance(self.fmi.component)

    def _note(self, _: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        assert instance == self.fmi.instanceName.encode()
        self.log.append((status, category.decode(), message.decode()))

    def call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Call a function of FMPy's; where it fails, the log's last line is the exception's."""
        try:
            return function(*arguments, **named)
        except FMICallException as error:
            raise Failed(int(error.status), self.log[-1][2] if self.log else "") from error

    def status(self, call: Any, *arguments: Any) -> int:
        """FMI status of a call."""
        try:
            self.call(call, *arguments)
        except Failed as error:
            return error.status
        return int(fmi2.fmi2OK)

    def reference(self, name: str) -> int:
        """Value reference of a variable."""
        return self._references[name]

    def enter(self, **values: Any) -> Slave:
        self.call(self.fmi.setupExperiment, tolerance=self.tolerance, stopTime=self.stop)
        for name, value in values.items():
            self.set(name, value)
        self.call(self.fmi.enterInitializationMode)
        return self

    def finish(self) -> Slave:
        self.call(self.fmi.exitInitializationMode)
        return self

    def step(self, h: float) -> None:
        self.call(self.fmi.doStep, self.time, h)
        self.time += h

    def get(self, *names: str) -> Any:
        values = [self.call(getattr(self.fmi, f"get{self.variables[n].type}"), [self._references[n]])[0] for n in names]
        return values[0] if len(values) == 1 else values

    def set(self, name: str, value: Any) -> None:
        self.call(getattr(self.fmi, f"set{self.variables[name].type}"), [self._references[name]], [value])

    def reset(self) -> None:
        self.call(self.fmi.reset)
        self.time = 0.0

    def save(self) -> bytes:
        state = self.call(self.fmi.getFMUstate)
        data = self.call(self.fmi.serializeFMUstate, state)
        self.call(self.fmi.freeFMUstate, state)
        return bytes(data)

    def restore(self, state: bytes) -> None:
        copy = self.call(self.fmi.deSerializeFMUstate, state)
        self.call(self.fmi.setFMUstate, copy)
        self.call(self.fmi.freeFMUstate, copy)
        self.time = self.get("time") if "time" in self._references else self.time

    def statistics(self) -> dict[str, int]:
        self.call(self.fmi.setDebugLogging, True, ["logEvents"])
        self.call(self.fmi.terminate)
        return dict(zip(COUNTS, map(int, re.findall(r"\d+", self.messages(0)[-1])), strict=True))


class ProcessSlave(Slave):
    """An instance in this process."""

    def __init__(self, library: Library, *, logging: bool = False, **experiment: Any) -> None:
        super().__init__(library, **experiment)
        self._phases: dict[bytes, bool] = {}
        self._open()

    def _open(self) -> None:
        self.instance = self._call(
            Run,
            self.library.equations,
            self.library.variables,
            tolerance=self.tolerance,
            stop_time=self.stop,
            events=True,
        )
        self.log = []
        self.time, self._initialising = 0.0, True

    def _call(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except MbfmuError as error:
            noted = [status for status, _ in self.instance.log if status > WARNING] if hasattr(self, "instance") else []
            raise Failed(noted[-1] if noted else 3, str(error)) from error

    def messages(self, status: int) -> list[str]:
        return [text for kind, text in self.instance.log if kind == status]

    def enter(self, **values: Any) -> Slave:
        for name, value in values.items():
            self.set(name, value)
        return self

    def finish(self) -> Slave:
        self._call(self.instance.finish_initialisation)
        self._initialising = False
        return self

    def step(self, h: float) -> None:
        self._call(self.instance.advance, self.time + h)
        self.time += h

    def get(self, *names: str) -> Any:
        places = [contract.place(self.variables[n].store, self.variables[n].index) for n in names]
        values = self.instance.instance.values(places)
        if values is None:
            raise Failed(3, self.instance.last_message)
        return values[0] if len(values) == 1 else values

    def set(self, name: str, value: Any) -> None:
        self._call(self.instance.set, self.variables[name], value, self._initialising)

    def reset(self) -> None:
        self._open()

    def save(self) -> bytes:
        state = self.instance.instance.save_state()
        self._phases[state] = self._initialising
        return state

    def restore(self, state: bytes) -> None:
        if self.instance.instance.restore_state(state) > WARNING:
            raise Failed(3, self.instance.last_message)
        self.time, self._initialising = self.instance.time, self._phases.get(state, False)

    def statistics(self) -> dict[str, int]:
        return self.instance.instance.statistics()
