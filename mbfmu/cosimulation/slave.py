"""One FMU of a co-simulation: FMPy's calls, with errors that name the element and the time."""

from __future__ import annotations

import contextlib
import pathlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.errors import SimulationError
from mbfmu.modeling.component import near


class Slave:
    """An instance of an FMU; `time` [s] is where it stands. Make one with `open_slave`."""

    def __init__(self, name: str, description: Any, fmu: Any, messages: Sequence[str]) -> None:
        self.name, self.description, self._fmu, self._messages = name, description, fmu, messages
        self.time = 0.0
        self._variables = {v.name: v for v in description.modelVariables}
        self._callers = {
            "Real": (fmu.setReal, float),
            "Integer": (fmu.setInteger, int),
            "Enumeration": (fmu.setInteger, int),
            "Boolean": (fmu.setBoolean, bool),
            "String": (fmu.setString, str),
        }

    def references(self, names: Sequence[str]) -> list[int]:
        """Value references of variables."""
        return [int(self._variables[name].valueReference) for name in names]

    def set_start_values(self, values: Mapping[str, Any]) -> None:
        """Set parameters, start values and inputs by name.

        Raises
        ------
        SimulationError
            There is no such variable, or the FMU refuses the value.
        """
        for name, value in values.items():
            if name not in self._variables:
                raise SimulationError(f"{self.name}.{name}: no such variable; {near(name, self._variables)}")
            variable = self._variables[name]
            caller, convert = self._callers[variable.type]
            self._call(f"cannot set {name} = {value}", caller, [variable.valueReference], [convert(value)])

    def begin(self, start_time: float, stop_time: float, tolerance: float | None, values: Mapping[str, Any]) -> None:
        """Set up the experiment and enter initialisation mode."""
        self.time = start_time
        self._call("cannot be set up", self._fmu.setupExperiment, tolerance, start_time, stop_time)
        self.set_start_values(values)
        self._call("cannot begin to initialise", self._fmu.enterInitializationMode)

    def finish_initialisation(self) -> None:
        """Leave initialisation mode."""
        self._call("cannot be initialised", self._fmu.exitInitializationMode)

    def get(self, references: list[int]) -> np.ndarray:
        """Values of Real variables, [n].

        Raises
        ------
        SimulationError
            One of them is not finite: a diverged coupling.
        """
        if not references:
            return np.empty(0)
        values = np.array(self._call("gives no values", self._fmu.getReal, references))
        if not np.isfinite(values).all():
            bad = references[int(np.flatnonzero(~np.isfinite(values))[0])]
            name = next(n for n, v in self._variables.items() if v.type == "Real" and v.valueReference == bad)
            raise self._error(f"{name} is not finite")
        return values

    def set(self, references: list[int], values: np.ndarray) -> None:
        """Set Real inputs."""
        if references:
            self._call("refuses its inputs", self._fmu.setReal, references, values.tolist())

    def set_slopes(self, references: list[int], slopes: np.ndarray) -> None:
        """Set the first time derivatives of Real inputs."""
        if references:
            order = [1] * len(references)
            self._call("refuses slopes", self._fmu.setRealInputDerivatives, references, order, slopes.tolist())

    def slopes(self, references: list[int]) -> np.ndarray:
        """First time derivatives of Real outputs, [n]."""
        if not references:
            return np.empty(0)
        order = [1] * len(references)
        return np.array(self._call("gives no slopes", self._fmu.getRealOutputDerivatives, references, order))

    def step(self, size: float) -> None:
        """Go on by `size` [s]."""
        self._call(f"cannot do the step of {size:g} s", self._fmu.doStep, self.time, size)
        self.time += size

    def _call(self, failure: str, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            raise self._error(f"{failure}: {self._messages[-1] if self._messages else error}") from error

    def _error(self, what: str) -> SimulationError:
        return SimulationError(f"{self.name} at t = {self.time:.9g} s: {what}")


@contextlib.contextmanager
def open_slave(name: str, path: pathlib.Path, description: Any) -> Iterator[Slave]:
    """Yield an instance of an FMU, and free it afterwards.

    Raises
    ------
    SimulationError
        The FMU is not one for co-simulation in FMI 2.0, or has no binary for this machine, or cannot be loaded.
    """
    import fmpy
    from fmpy.simulation import instantiate_fmu

    if description.fmiVersion != "2.0" or description.coSimulation is None:
        raise SimulationError(f"{name} ({path}): is no FMU for co-simulation in FMI 2.0; export it as one")
    if fmpy.platform not in fmpy.supported_platforms(str(path)):
        raise SimulationError(f"{name} ({path}): has no binary for {fmpy.platform}; build it for this platform")
    messages: list[str] = []

    def log(_environment: Any, _instance: bytes, status: int, _category: bytes, message: bytes) -> None:
        if status > 0:
            messages.append(message.decode("utf-8", "replace"))

    with tempfile.TemporaryDirectory(prefix="mbfmu-") as folder:
        fmpy.extract(str(path), folder)
        try:
            # FMPy enters the folder of the binary, and stays there where it cannot be loaded.
            with contextlib.chdir(pathlib.Path.cwd()):
                fmu = instantiate_fmu(folder, description, "CoSimulation", logger=log)
        except Exception as error:
            reason = messages[-1] if messages else error
            raise SimulationError(f"{name} ({path}): cannot be instantiated: {reason}") from error
        try:
            yield Slave(name, description, fmu, messages)
        finally:
            fmu.freeInstance()
