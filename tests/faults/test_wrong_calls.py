"""Wrong calls of an FMU, both targets: each is answered by status and log line as docs/fmu.md says."""

from __future__ import annotations

import ctypes
import math
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import fmpy
import pytest
from fmpy.fmi2 import FMU2Slave, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE

from mbfmu import Assembly, Start, build
from mbfmu.components import Body, Revolute, World, blocks

ERROR, DISCARD, OK = 3, 2, 0


class Swing(Assembly):
    """A pendulum with a gain, a switch of its structure and an input."""

    def __init__(self) -> None:
        self.world = World()
        self.hinge = Revolute(phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True))
        self.bob = Body(m=1.0, r_CM=(0.5, 0, 0))
        self.gain = blocks.Gain(k=2.0)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.bob.frame_a)
        self.root = blocks.Sqrt()
        self.input(self.gain.u, "command")
        self.input(self.root.u, "under")
        self.output(self.root.y)
        self.output(self.gain.y)


class Slave:
    """One instance, called with plain ctypes: status and last log line of every call."""

    def __init__(self, folder: str, description: Any) -> None:
        self.lines: list[str] = []
        self.places = {v.name: v.valueReference for v in description.modelVariables}
        callbacks = fmi2CallbackFunctions()
        callbacks.logger = fmi2CallbackLoggerTYPE(
            lambda environment, instance, status, category, message: self.lines.append(message.decode())
        )
        calloc = ctypes.CDLL(None).calloc
        calloc.restype, calloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        callbacks.allocateMemory = type(callbacks.allocateMemory)(calloc)
        callbacks.freeMemory = type(callbacks.freeMemory)(free)
        self.callbacks = callbacks
        self.fmu = FMU2Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="one",
        )
        self.fmu.instantiate(callbacks=callbacks)
        self.name = "?"

    def call(self, function: str, *arguments: Any) -> int:
        """Call an FMI function; return its status."""
        return int(getattr(self.fmu.dll, f"fmi2{function}")(ctypes.c_void_p(self.fmu.component), *arguments))

    def reals(self, function: str, name: str | int, value: float) -> int:
        reference = self.places[name] if isinstance(name, str) else name
        return self.call(function, (ctypes.c_uint * 1)(reference), ctypes.c_size_t(1), (ctypes.c_double * 1)(value))

    def value(self, name: str) -> float:
        return float(self.fmu.getReal([self.places[name]])[0])

    def setup(self, tolerance: float | None = None, start: float = 0.0, stop: float | None = None) -> int:
        return self.call(
            "SetupExperiment",
            ctypes.c_int(tolerance is not None),
            ctypes.c_double(tolerance or 0.0),
            ctypes.c_double(start),
            ctypes.c_int(stop is not None),
            ctypes.c_double(stop or 0.0),
        )

    def step(self, time: float, size: float) -> int:
        return self.call("DoStep", ctypes.c_double(time), ctypes.c_double(size), ctypes.c_int(1))

    def initialise(self) -> Slave:
        assert self.setup() == OK
        assert self.call("EnterInitializationMode") == OK
        assert self.call("ExitInitializationMode") == OK
        return self

    def reading_after(self, name: str, value: float, read: str) -> int:
        """Initialise with a value, and read a variable."""
        assert self.reals("SetReal", name, value) == OK
        return self.initialise().reals("GetReal", read, 0.0)


Call = Callable[[Slave], int]


def started(call: Call) -> Call:
    return lambda slave: call(slave.initialise())


#: What is done with an instance -> status, words of the log line.
CALLS: dict[str, tuple[Call, int, list[str]]] = {
    "a negative mass": (lambda s: s.reals("SetReal", "bob.m", -1), DISCARD, ["bob.m", "-1", "least is 0"]),
    "a mass that is nan": (lambda s: s.reals("SetReal", "bob.m", math.nan), DISCARD, ["bob.m", "nan"]),
    "a mass that is inf": (lambda s: s.reals("SetReal", "bob.m", math.inf), DISCARD, ["bob.m", "inf"]),
    "a start value that is nan": (lambda s: s.reals("SetReal", "hinge.phi", math.nan), DISCARD, ["hinge.phi", "nan"]),
    "an input that is inf": (started(lambda s: s.reals("SetReal", "command", -math.inf)), DISCARD, ["command", "inf"]),
    "an unknown reference": (lambda s: s.reals("SetReal", 999999, 1), ERROR, ["999999"]),
    "reading an unknown one": (started(lambda s: s.reals("GetReal", 999999, 1)), ERROR, ["999999"]),
    "an output": (lambda s: s.reals("SetReal", "gain.y", 1), ERROR, ["calculated"]),
    "a position": (lambda s: s.reals("SetReal", "bob.frame_a.r_0[1]", 1), ERROR, ["calculated"]),
    "an axis": (lambda s: s.reals("SetReal", "hinge.n[1]", 1), ERROR, ["hinge.n", "rebuild"]),
    "a mass while it runs": (started(lambda s: s.reals("SetReal", "bob.m", 2)), ERROR, ["bob.m", "initialisation"]),
    "a start value later": (started(lambda s: s.reals("SetReal", "hinge.phi", 2)), ERROR, ["hinge.phi"]),
    "the root of -1": (lambda s: s.reading_after("under", -1, "root.y"), DISCARD, ["root.y is", "nan", "range"]),
    "reading too early": (lambda s: s.reals("GetReal", "hinge.phi", 0), ERROR, ["GetReal"]),
    "a step too early": (lambda s: s.step(0, 0.1), ERROR, ["DoStep"]),
    "a step of no length": (started(lambda s: s.step(0, 0)), ERROR, ["step"]),
    "a step backwards": (started(lambda s: s.step(0, -0.1)), ERROR, ["step"]),
    "a step of nan": (started(lambda s: s.step(0, math.nan)), ERROR, ["step"]),
    "a step of inf": (started(lambda s: s.step(0, math.inf)), ERROR, ["step"]),
    "a step from elsewhere": (started(lambda s: s.step(5, 0.1)), ERROR, ["5"]),
    "tolerance 0": (lambda s: s.setup(tolerance=0.0), ERROR, ["tolerance"]),
    "tolerance -1": (lambda s: s.setup(tolerance=-1.0), ERROR, ["tolerance"]),
    "tolerance nan": (lambda s: s.setup(tolerance=math.nan), ERROR, ["tolerance"]),
    "a stop before the start": (lambda s: s.setup(start=1.0, stop=0.5), ERROR, ["stop"]),
    "a start at nan": (lambda s: s.setup(start=math.nan), ERROR, ["start"]),
    "initialising without experiment twice": (
        started(lambda s: s.call("EnterInitializationMode")), ERROR, ["EnterInitializationMode"],
    ),
    "leaving what was not entered": (lambda s: s.call("ExitInitializationMode"), ERROR, ["ExitInitializationMode"]),
    "an experiment too late": (started(lambda s: s.setup()), ERROR, ["SetupExperiment"]),
    "terminating too early": (lambda s: s.call("Terminate"), ERROR, ["Terminate"]),
    "no array": (
        lambda s: s.call("SetReal", None, ctypes.c_size_t(1), None), ERROR, ["SetReal"],
    ),
    "an unknown category": (
        lambda s: s.call("SetDebugLogging", ctypes.c_int(1), ctypes.c_size_t(1), (ctypes.c_char_p * 1)(b"none")),
        ERROR, ["none"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=["native", "python"])
def unpacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    """Return the folder and description of an unpacked FMU of each target."""
    folder = tmp_path_factory.mktemp(request.param)
    kind = {"equations": "interpreted"} if request.param == "native" else {}
    file = build(Swing(), folder / "Swing.fmu", target=request.param, **kind)
    unzipped = fmpy.extract(str(file), str(folder / "unpacked"))
    return str(unzipped), fmpy.read_model_description(str(pathlib.Path(unzipped) / "modelDescription.xml"))


@pytest.fixture
def slave(unpacked: tuple[str, Any]) -> Iterator[Slave]:
    one = Slave(*unpacked)
    yield one
    one.fmu.freeInstance()


@pytest.mark.slow
@pytest.mark.parametrize("what", CALLS)
def test_a_wrong_call(what: str, slave: Slave) -> None:
    call, status, words = CALLS[what]
    assert call(slave) == status, slave.lines
    for word in words:
        assert word in slave.lines[-1]


def test_refused_values_leave_those_before(slave: Slave) -> None:
    assert slave.reals("SetReal", "bob.m", 3.0) == OK
    assert slave.reals("SetReal", "bob.m", -1.0) == DISCARD
    slave.initialise()
    assert slave.value("bob.m") == 3.0
    assert slave.reals("SetReal", "bob.m", 4.0) == ERROR
    assert slave.value("bob.m") == 3.0
