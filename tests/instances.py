"""Instances of FMUs by the names of variables, for tests that call single functions of FMI."""

from __future__ import annotations

import ctypes
import math
import pathlib
from collections.abc import Sequence

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave


class Instance:
    """An FMU of FMI 2.0 or 3.0 through FMPy's bindings, by the names of variables."""

    def __init__(self, path: pathlib.Path, folder: pathlib.Path, kind: str = "coSimulation") -> None:
        """Initialise it.

        Args:
            path: the FMU.
            folder: where it is unpacked.
            kind: coSimulation or modelExchange.
        """
        self.description = fmpy.read_model_description(str(path))
        self.three = self.description.fmiVersion.startswith("3")
        classes = {"coSimulation": (FMU2Slave, FMU3Slave), "modelExchange": (FMU2Model, FMU3Model)}[kind]
        self.variables = {v.name: v for v in self.description.modelVariables}
        self.fmu = classes[self.three](
            guid=self.description.guid, unzipDirectory=fmpy.extract(str(path), str(folder)), instanceName="one",
            modelIdentifier=getattr(self.description, kind).modelIdentifier,
        )  # fmt: skip
        self.fmu.instantiate()
        if self.three:
            self.fmu.enterInitializationMode(startTime=0.0)
        else:
            self.fmu.setupExperiment(startTime=0.0)
            self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def references(self, *names: str) -> list[int]:
        return [self.variables[name].valueReference for name in names]

    def get(self, *names: str) -> np.ndarray:
        if not self.three:
            return np.array(self.fmu.getReal(self.references(*names)))
        return np.array(self.fmu.getFloat64(self.references(*names), nValues=sum(map(self.size, names))))

    def size(self, name: str) -> int:
        """Number of elements of a variable."""
        return math.prod(int(dimension.start) for dimension in self.variables[name].dimensions)

    def set(self, name: str, value: float) -> None:
        (self.fmu.setFloat64 if self.three else self.fmu.setReal)(self.references(name), [value])

    def along(self, unknowns: list[str], known: str, element: int = 0) -> np.ndarray:
        """Derivatives along a known, or an element of one."""
        given = self.references(*unknowns), self.references(known)
        if not self.three:
            return np.array(self.fmu.getDirectionalDerivative(*given, [1.0]))
        seed = [float(i == element) for i in range(self.size(known))]
        return np.array(self.fmu.getDirectionalDerivative(*given, seed, sum(map(self.size, unknowns))))

    def run(self, step: float, count: int, first: int = 0, read: Sequence[str] = ()) -> list[np.ndarray]:
        """Values after each of some steps."""
        rows = []
        for i in range(first, first + count):
            self.fmu.doStep(i * step, step)
            rows.append(self.get(*read))
        return rows

    def save(self) -> bytes:
        state = self.fmu.getFMUState()
        serialized: bytes = self.fmu.serializeFMUState(state)
        self.fmu.freeFMUState(state)
        return serialized

    def restore(self, serialized: bytes) -> None:
        state = self.fmu.deserializeFMUState(serialized)
        self.fmu.setFMUState(state)
        self.fmu.freeFMUState(state)

    def enter(self, time: float) -> None:
        """Go to continuous time mode, at this time."""
        (self.fmu.updateDiscreteStates if self.three else self.fmu.newDiscreteStates)()
        self.fmu.enterContinuousTimeMode()
        self.fmu.setTime(time)

    def put(self, states: np.ndarray) -> None:
        self.fmu.setContinuousStates((ctypes.c_double * len(states))(*states), len(states))
