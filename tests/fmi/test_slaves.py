"""What hosts make of FMUs that return early, end, iterate without end, or cannot be opened; without any binary."""

from __future__ import annotations

import pathlib
import zipfile
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import fmi2Discard, fmi2Error

from mbfmu.arrays import Array, Element
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.errors import SimulationError
from mbfmu.fmi.slave import _ROUNDS, _STUCK, AsksForNothing, Log, Slave2, Slave3, Values, _number
from mbfmu.fmi.variables import Scalar

GO, EARLY = (False, False, False), (False, False, True)


def slave(steps: Iterable[tuple[bool, bool, bool, float]] = (), updates: Iterable[tuple[bool, bool]] = ()) -> Any:
    """One of FMI 3.0 whose FMU returns these; `made` are the calls."""
    made: list[Any] = []
    found = Slave3.__new__(Slave3)
    found.name, found.time, found.goes_back, found.events, found.at_event = "pump", 0.0, False, False, False
    found._failure, found._lines, found._asked, found.ended, found._log = None, None, False, None, Log()  # type: ignore[attr-defined]
    ahead, handled = iter(steps), iter(updates)

    def do_step(now: float, size: float, forget: bool) -> tuple[bool, bool, bool, float]:
        made.append((now, size, forget))
        return next(ahead)

    def update() -> tuple[bool, bool, bool]:
        made.append("update")
        return (*next(handled), False)

    found._fmu = SimpleNamespace(
        doStep=do_step, updateDiscreteStates=update, enterEventMode=lambda: made.append("event mode"),
        enterStepMode=lambda: made.append("step mode"),
    )  # fmt: skip
    found.made = made  # type: ignore[attr-defined]
    return found


def test_steps_that_return_early_go_on_from_there() -> None:
    one = slave([(*EARLY, 0.25), (*EARLY, 0.75), (*GO, 1.0)])
    assert one._do_step(1.0) is None
    assert one.made == [(0.0, 1.0, True), (0.25, 0.75, True), (0.75, 0.25, True)]


def test_steps_that_go_back_are_not_forgotten() -> None:
    one = slave([(*GO, 1.0)])
    one.goes_back = True
    one._do_step(1.0)
    assert one.made == [(0.0, 1.0, False)]


def test_steps_that_do_not_go_on_end() -> None:
    one = slave([(*EARLY, 0.25)] * 100)
    with pytest.raises(SimulationError, match=r"its steps return early at 0\.25 s and do not go on"):
        one._do_step(1.0)
    assert len(one.made) == _STUCK + 2


def test_where_a_run_ends_and_where_an_event_is_are_told() -> None:
    assert slave([(False, True, True, 0.5)])._do_step(1.0) == 0.5
    for early, reached in ((True, 0.5), (False, 1.0)):
        one = slave([(True, False, early, 0.5)])
        one.events = True
        assert one._do_step(1.0) is None
        assert (one.at_event, one._reached) == (True, reached)
    one = slave([(True, False, False, 0.5)])  # whom events are no matter
    assert one._do_step(1.0) is None
    assert not one.at_event


def test_what_fails_within_a_step_is_raised_at_its_end_once() -> None:
    one = slave([(*GO, 1.0), (*GO, 2.0)])
    one._failure = ValueError("in between")
    with pytest.raises(ValueError, match="in between"):
        one._do_step(1.0)
    assert one._do_step(1.0) is None


def test_lines_that_nobody_asks_for_are_told() -> None:
    one = slave([(*GO, 1.0), (*GO, 1.0)])
    one._lines = object()
    with pytest.raises(
        AsksForNothing, match=r"^pump: asks for no inputs in intermediate updates; choose inputs='hold'"
    ):
        one._do_step(1.0)
    one._asked = True
    assert one._do_step(1.0) is None


def test_events_are_handled_until_nothing_changes() -> None:
    one = slave(updates=[(True, False), (True, False), (False, False)])
    one.at_event = True
    one.finish_event()
    assert one.made == ["event mode", "update", "update", "update", "step mode"]
    assert not one.at_event
    one.finish_event()
    assert len(one.made) == 5


def test_events_without_end_and_ends_of_runs_are_told() -> None:
    one = slave(updates=[(True, False)] * 1000)
    one.at_event = True
    with pytest.raises(SimulationError, match=r"^pump at t = 0 s: its event iteration does not end"):
        one.finish_event()
    assert one.made.count("update") == _ROUNDS
    one = slave(updates=[(False, True)])
    one.time, one.at_event = 0.125, True
    one.finish_event()
    assert one.ended == "pump ends the run at 0.125 s"
    assert "step mode" not in one.made


def test_sizes_of_arrays_stay_as_they_are() -> None:
    one = slave()
    variable = SimpleNamespace(causality="structuralParameter", type="UInt64", name="n")
    one.interface = {"n": (SimpleNamespace(variable=variable, start="3"),)}
    one.set_start_values({"n": 3})
    with pytest.raises(SimulationError, match=r"n = 4: sizes arrays, and is 3 as .*so leave it out"):
        one.set_start_values({"n": 4})


def test_inputs_are_on_their_lines_where_an_fmu_asks_for_them() -> None:
    """From the time at which the lines begin; what fails then is raised at the end of the step."""
    one = slave([(*GO, 1.0)])
    given: list[Any] = []
    one.get, one.set = lambda values: [3.0, -1.0], lambda values, numbers: given.append((values, numbers.tolist()))
    one.time, ends = 2.0, [True]
    one.set_slopes((), np.zeros(0))
    one.update(None, 2.5, True, ends, None)
    assert (given, ends, one._asked) == ([], [False], False)
    one.set_slopes("ab", np.array([4.0, 0.5]))
    one.update(None, 2.5, False, ends, None)
    assert (given, one._asked) == ([], False)
    one.update(None, 2.5, True, ends, None)
    assert (given, one._asked) == ([("ab", [5.0, -0.75])], True)

    def fail(*_: Any) -> None:
        raise SimulationError("pump: refuses its inputs")

    one.set = fail
    one.update(None, 2.75, True, ends, None)
    with pytest.raises(SimulationError, match=r"^pump: refuses its inputs"):
        one._do_step(1.0)
    one.hold_inputs()
    one.update(None, 2.75, True, ends, None)
    assert one._failure is None


@pytest.mark.parametrize(
    ("start", "known"),
    [("1 2.5 3", [1.0, 2.5, 3.0]), (["4", "5", "6"], [4.0, 5.0, 6.0]), ("1 2", None), (None, None)],
    ids=["text", "list", "too few", "none"],
)
def test_elements_that_are_not_given_start_as_they_are_told(start: Any, known: list[float] | None) -> None:
    """And stay as they were set before, each array by itself."""
    variable = SimpleNamespace(name="r", type="Float64", shape=(3,), start=start, valueReference=7)
    scalars = [Scalar(f"r[{k + 1}]", variable, k, element=Element(Array("r", (3,)), (k + 1,))) for k in range(3)]
    other = Scalar("w", SimpleNamespace(name="w", type="Float64", shape=(), start="0", valueReference=9), 3)
    one = slave()
    one.time = 0.5
    one.interface, one._arrays = {"r": scalars, "w": [other]}, {}
    sent: list[Any] = []
    one._fmu.setFloat64 = lambda references, values: sent.append((references, values))
    if known is None:
        with pytest.raises(
            SimulationError, match=r"pump at t = 0\.5 s: r has no start values; set all of its elements"
        ):
            one.set(Values([other, scalars[1]]), [8.0, -1.0])
        one.set(Values(scalars), [1.0, 2.0, 3.0])
        known = [1.0, 2.0, 3.0]
        sent.clear()
    one.set(Values([other, scalars[1]]), [8.0, -1.0])
    one.set(Values([scalars[2]]), [-2.0])
    assert sent == [([9, 7], [8.0, known[0], -1.0, known[2]]), ([7], [known[0], -1.0, -2.0])]


DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Plant" guid="{{0}}"><{interface} modelIdentifier="Plant"/>
 <ModelVariables><ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
 </ModelVariables><ModelStructure><Outputs><Unknown index="1"/></Outputs></ModelStructure>
</fmiModelDescription>
"""


@pytest.mark.parametrize(
    ("interface", "binary", "words"),
    [
        ("ModelExchange", b"x", r"is no FMU for co-simulation in FMI 2\.0 or 3\.0; export it as one"),
        ("CoSimulation", None, rf"has no binary for {fmpy.platform}; build it for this platform"),
        ("CoSimulation", b"no library", "cannot be instantiated: "),
    ],
    ids=["model exchange", "no binary", "no library"],
)
def test_fmus_that_cannot_be_opened_are_named(
    interface: str, binary: bytes | None, words: str, tmp_path: pathlib.Path
) -> None:
    with zipfile.ZipFile(tmp_path / "plant.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION.format(interface=interface))
        if binary is not None:
            suffix = fmpy.sharedLibraryExtension
            archive.writestr(f"binaries/{fmpy.platform}/Plant{suffix}", binary)
    structure = SystemStructure.of({"tank": tmp_path / "plant.fmu"}, [])
    with pytest.raises(SimulationError, match=rf"^tank \(.*plant\.fmu\): {words}"):
        cosimulate(structure, step=0.1)


# -- FMI 2.0


@pytest.mark.parametrize(
    ("told", "reached"),
    [((True, 0.5), 0.5), ((False, 0.0), None), (None, None)],
    ids=["ended", "discarded", "silent"],
)
def test_discarded_steps_are_ends_of_runs_where_fmus_say_so(
    told: tuple[bool, float] | None, reached: float | None
) -> None:
    """One that does not tell why it discards a step has failed in it, as one that fails with an error."""
    one = Slave2.__new__(Slave2)
    one.name, one.time, one.goes_back = "pump", 0.0, False

    def fail(status: int) -> FMICallException:
        return FMICallException("fmi2DoStep", status)

    def do_step(*_: Any) -> None:
        raise fail(fmi2Discard)

    def status(place: int) -> Any:
        if told is None:
            raise fail(fmi2Error)
        return told[place]

    one._fmu = SimpleNamespace(
        doStep=do_step, getBooleanStatus=lambda _: status(0), getRealStatus=lambda _: status(1)
    )  # fmt: skip
    if reached is None:
        with pytest.raises(FMICallException):
            one._do_step(1.0)
    else:
        assert one._do_step(1.0) == reached
    one._fmu.doStep = lambda *_: None
    assert one._do_step(1.0) is None


def test_slopes_are_of_the_first_order_until_inputs_are_held() -> None:
    variables = [
        SimpleNamespace(name=name, type="Real", shape=(), valueReference=k) for name, k in (("u", 4), ("v", 2))
    ]
    values = Values([Scalar(one.name, one, 0) for one in variables])
    one, given = Slave2.__new__(Slave2), []
    one.name, one._log = "pump", Log()
    one._fmu = SimpleNamespace(setRealInputDerivatives=lambda *what: given.append(what))
    one.hold_inputs()
    one.set_slopes(Values([]), np.zeros(0))
    assert given == []
    one.set_slopes(values, np.array([0.0, -3.0]))
    one.hold_inputs()
    one.hold_inputs()
    assert given == [([4, 2], [1, 1], [0.0, -3.0]), ([4, 2], [1, 1], [0.0, 0.0])]


@pytest.mark.parametrize(("text", "value"), [("true", True), ("false", False), ("-2.5", -2.5), (3, 3)])
def test_starts_of_elements_are_read_as_what_they_are(text: object, value: object) -> None:
    """What is not set of an array keeps its start value."""
    read = _number(text)
    assert (read, type(read)) == (value, type(value))
