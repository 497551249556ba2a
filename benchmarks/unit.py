"""An FMU in FMPy, called as a master would call it."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import fmpy
from fmpy.fmi2 import FMU2Slave


class Unit:
    """One instance of an FMU; the archive is unpacked into a folder of the caller's."""

    def __init__(self, fmu: pathlib.Path, folder: pathlib.Path) -> None:
        fmpy.extract(str(fmu), unzipdir=str(folder))
        description = fmpy.read_model_description(str(folder))
        self.variables = {variable.name: variable for variable in description.modelVariables}
        self.outputs = self.references([v.name for v in description.modelVariables if v.causality == "output"])
        self.slave: Any = FMU2Slave(
            guid=description.guid,
            unzipDirectory=str(folder),
            modelIdentifier=description.coSimulation.modelIdentifier,
        )
        self.slave.instantiate()
        self._fresh = True

    def references(self, names: Sequence[str]) -> list[int]:
        """Value references of variables."""
        return [self.variables[name].valueReference for name in names]

    def get(self, names: Sequence[str]) -> list[float]:
        """Values of variables."""
        return self.slave.getReal(self.references(names))

    def start(self, tolerance: float | None = None, **values: float) -> None:
        """Bring the instance to its initial state, with start values where wanted."""
        if not self._fresh:
            self.slave.reset()
        self._fresh = False
        self.slave.setupExperiment(tolerance=tolerance, startTime=0.0)
        if values:
            self.slave.setReal(self.references(list(values)), list(values.values()))
        self.slave.enterInitializationMode()
        self.slave.exitInitializationMode()

    def advance(self, steps: int, step: float) -> None:
        """Do a number of equal steps from time 0."""
        do_step = self.slave.doStep
        for i in range(steps):
            do_step(i * step, step)

    def close(self) -> None:
        """End the instance."""
        self.slave.terminate()
        self.slave.freeInstance()
