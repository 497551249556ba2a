"""Builds the library of a model and drives its instances by the names of variables, through FMPy's bindings."""

from __future__ import annotations

import ctypes
import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import fmpy.fmi2 as fmi2
from fmpy.fmi1 import FMICallException

from mbfmu.export.native import build_library
from mbfmu.runtime import Equations
from mbfmu.runtime.references import value_references
from mbfmu.runtime.variables import ScalarVariable

GUID = "{0123}"
LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


@dataclasses.dataclass(frozen=True)
class Library:
    """A compiled model; `slave` makes instances of it."""

    folder: pathlib.Path
    path: pathlib.Path
    variables: Sequence[ScalarVariable]

    @classmethod
    def build(cls, equations: Equations, records: Sequence[Any], folder: pathlib.Path) -> Library:
        """Compile a model whose variables are written with the fields that the Python runtime reads."""
        variables = tuple(
            ScalarVariable(**{"description": "", "initial": None, **dataclasses.asdict(record)}) for record in records
        )
        return cls(folder, build_library(equations, variables, "model", GUID, folder), variables)

    def slave(self, **options: Any) -> Slave:
        return Slave(self, **options)

    def run(self, stop: float, step: float, **options: Any) -> Slave:
        """Make an instance, initialise it and let it run to a time."""
        slave = self.slave(**options)
        slave.start()
        slave.advance(stop, step)
        return slave


class Slave:
    """One instance, for co-simulation unless `kind` is FMPy's FMU2Model. `log` collects (status, category, message)."""

    def __init__(
        self,
        library: Library,
        *,
        name: str = "instance",
        tolerance: float | None = None,
        stop: float | None = None,
        logging: bool = False,
        guid: str = GUID,
        kind: Any = fmi2.FMU2Slave,
    ) -> None:
        self.log: list[tuple[int, str, str]] = []
        self._experiment = {"tolerance": tolerance, "stopTime": stop}
        self._references = dict(
            zip((v.name for v in library.variables), value_references(library.variables), strict=True)
        )
        self._types = {v.name: v.type for v in library.variables}
        self.fmi = kind(guid=guid, unzipDirectory=str(library.folder), modelIdentifier="model", instanceName=name)
        self._callbacks = fmi2.fmi2CallbackFunctions()
        self._callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._note)
        self._callbacks.allocateMemory = fmi2.defaultCallbacks.allocateMemory
        self._callbacks.freeMemory = fmi2.defaultCallbacks.freeMemory
        self.fmi.instantiate(callbacks=self._callbacks, loggingOn=logging)
        self.time = 0.0

    def _note(self, _: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        assert instance == self.fmi.instanceName.encode()
        self.log.append((status, category.decode(), message.decode()))

    def start(self, **values: Any) -> Slave:
        self.fmi.setupExperiment(**self._experiment)
        for name, value in values.items():
            self.set(name, value)
        self.fmi.enterInitializationMode()
        self.fmi.exitInitializationMode()
        return self

    def advance(self, stop: float, step: float) -> None:
        steps = round((stop - self.time) / step)
        first = self.time
        for i in range(steps):
            self.step(first + (i + 1) * step - self.time)

    def step(self, h: float) -> None:
        self.fmi.doStep(self.time, h)
        self.time += h

    def reference(self, name: str) -> int:
        return self._references[name]

    def get(self, *names: str) -> Any:
        values = [getattr(self.fmi, f"get{self._types[n]}")([self._references[n]])[0] for n in names]
        return values[0] if len(values) == 1 else values

    def set(self, name: str, value: Any) -> None:
        getattr(self.fmi, f"set{self._types[name]}")([self._references[name]], [value])

    def status(self, call: Any, *arguments: Any) -> int:
        """FMI status of a call."""
        try:
            call(*arguments)
        except FMICallException as error:
            return int(error.status)
        return fmi2.fmi2OK

    def messages(self, status: int) -> list[str]:
        return [text for kind, _, text in self.log if kind == status]
