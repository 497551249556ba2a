"""Wrong calls of an FMU of FMI 3.0: status and log line are those of FMI 2.0."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import fmpy
import pytest
from fmpy.fmi3 import FMU3Slave, fmi3LogMessageCallback
from test_wrong_calls import Swing

from mbfmu import build


class Slave:
    """One instance; its log lines and value references."""

    def __init__(self, folder: str, description: Any) -> None:
        self.lines: list[str] = []
        self.places = {v.name: v.valueReference for v in description.modelVariables}
        self.fmu = FMU3Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="one",
        )
        self.log = fmi3LogMessageCallback(lambda _, status, category, text: self.lines.append(text.decode()))
        self.fmu.instantiate(logMessage=self.log, loggingOn=True)

    def set(self, name: str, *values: float) -> None:
        self.fmu.setFloat64([self.places[name]], values)

    def initialise(self) -> FMU3Slave:
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        return self.fmu

    def read_after(self, name: str, value: float, read: str) -> None:
        self.set(name, value)
        self.initialise().getFloat64([self.places[read]])


def set_later(name: str, value: float) -> Callable[[Slave], None]:
    def call(slave: Slave) -> None:
        slave.initialise()
        slave.set(name, value)

    return call


#: What is done with an instance -> status, words of the log line.
CALLS: dict[str, tuple[Callable[[Slave], Any], str, list[str]]] = {
    "a negative mass": (lambda s: s.set("bob.m", -1.0), "discard", ["bob.m", "-1", "least is 0"]),
    "a mass that is nan": (lambda s: s.set("bob.m", math.nan), "discard", ["bob.m", "nan"]),
    "a start that is inf": (lambda s: s.set("hinge.phi", math.inf), "discard", ["hinge.phi", "inf"]),
    "an output": (lambda s: s.set("gain.y", 1.0), "error", ["gain.y", "calculated"]),
    "an unknown reference": (lambda s: s.fmu.setFloat64([99999], [1.0]), "error", ["99999"]),
    "a part of a vector": (lambda s: s.set("bob.r_CM", 1.0), "error", ["3 values", "array of 1"]),
    "a tolerance": (lambda s: s.fmu.enterInitializationMode(tolerance=math.nan), "error", ["tolerance nan"]),
    "a stop": (lambda s: s.fmu.enterInitializationMode(startTime=1.0, stopTime=0.0), "error", ["stop time 0"]),
    "the root of -1": (lambda s: s.read_after("under", -1.0, "root.y"), "discard", ["root.y is", "nan", "range"]),
    "a step of nan": (lambda s: s.initialise().doStep(0.0, math.nan), "error", ["length nan"]),
    "a step back": (lambda s: s.initialise().doStep(0.0, -1.0), "error", ["length -1"]),
    "a step from elsewhere": (lambda s: s.initialise().doStep(3.0, 1.0), "error", ["from 3", "at 0"]),
    "an input that is nan": (set_later("command", math.nan), "discard", ["command", "nan"]),
    "a mass while it runs": (set_later("bob.m", 2.0), "error", ["bob.m", "initialisation"]),
}


@pytest.fixture(scope="module", params=["native", "python"])
def unpacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    folder = tmp_path_factory.mktemp("fmi3")
    file = build(Swing(), folder / "Swing.fmu", fmi=3, target=request.param, equations="interpreted")
    unzipped = fmpy.extract(str(file), str(folder / "unpacked"))
    return str(unzipped), fmpy.read_model_description(str(file))


@pytest.fixture
def slave(unpacked: tuple[str, Any]) -> Iterator[Slave]:
    one = Slave(*unpacked)
    yield one
    one.fmu.freeInstance()


@pytest.mark.slow
@pytest.mark.parametrize("what", CALLS)
def test_a_wrong_call(what: str, slave: Slave) -> None:
    call, status, words = CALLS[what]
    with pytest.raises(Exception, match=status):
        call(slave)
    for word in words:
        assert word in slave.lines[-1]
