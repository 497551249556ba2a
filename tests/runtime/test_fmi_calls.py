"""The FMI 2.0 interface of both kinds of FMUs: call states, refusals with log lines, saved states, instances."""

from __future__ import annotations

import concurrent.futures
import ctypes
import dataclasses
import math
import pathlib
import re
import shutil
import subprocess

import casadi as ca
import fmpy
import pytest
from fmpy.fmi2 import (
    fmi2Discard,
    fmi2DoStepStatus,
    fmi2Error,
    fmi2LastSuccessfulTime,
    fmi2OK,
    fmi2Terminated,
)
from hand_made_models import Draft, bouncing_mass, oscillator, point_pendulum, variable
from hosts import Failed

from mbfmu.runtime.library import _PROTOTYPES

#: The official header of FMI 2.0, as FMPy ships it.
HEADER = pathlib.Path(fmpy.__file__).parent / "c-code" / "fmi2Functions.h"


def declared_in(version: int) -> set[str]:
    """Names of the functions of FMI 2.0 or 3.0."""
    header = HEADER.with_name(f"fmi{version}Functions.h").read_text()
    return set(re.findall(rf"FMI{version}_Export\s+\w+\s+(fmi{version}\w+);", header))


@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not there")
def test_exactly_the_fmi_functions_are_exported(fmu_library):
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", fmu_library(oscillator).path], capture_output=True, text=True, check=True
    ).stdout
    declared = declared_in(2)
    assert len(declared) == 44
    found = {line.split()[-1] for line in listing.splitlines()}
    assert {name for name in found if name.startswith("fmi2")} == declared
    own = set()
    if fmu_library(oscillator).host == "interpreted":
        # The ready library serves both versions of FMI, and programs in its process.
        own = {f"mbfmu_{name}" for name in _PROTOTYPES}
        own |= declared_in(3)
    assert found - declared == own


def test_calls_without_an_instance_are_errors(fmu_library):
    made = fmu_library(oscillator)
    names = declared_in(2) | (declared_in(3) if made.host == "interpreted" else set())
    library, nothing = ctypes.CDLL(str(made.path)), [None] * 12
    for name in sorted(name for name in names if not re.match(r"fmi[23](Instantiate|GetVersion|GetTypes)", name)):
        call = library[name]
        call.argtypes = [ctypes.c_void_p] * len(nothing)
        status = call(*nothing)
        assert status == fmi2Error or name.endswith("FreeInstance"), name


def test_only_the_c_and_math_libraries_are_needed(fmu_library):
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not there")
    listing = subprocess.run(
        ["readelf", "-d", fmu_library(oscillator).path], capture_output=True, text=True, check=True
    )
    needed = {line.split("[")[1].rstrip("]") for line in listing.stdout.splitlines() if "NEEDED" in line}
    assert needed <= {"libc.so.6", "libm.so.6"}


def test_a_wrong_guid_is_refused(fmu_library, capfd):
    with pytest.raises(Exception, match="instantiate"):
        fmu_library(oscillator).slave(guid="{other}")


def refusals(slave):
    """Every call that the state machine knows, with legal arguments."""
    fmi, real = slave.fmi, [slave.reference("F")]
    return {
        "setupExperiment": lambda: fmi.setupExperiment(),
        "enterInitializationMode": fmi.enterInitializationMode,
        "exitInitializationMode": fmi.exitInitializationMode,
        "terminate": fmi.terminate,
        "getReal": lambda: fmi.getReal(real),
        "setReal": lambda: fmi.setReal(real, [0.0]),
        "doStep": lambda: fmi.doStep(slave.time, 0.1),
        "getRealStatus": lambda: fmi.getRealStatus(fmi2LastSuccessfulTime),
        "outputDerivatives": lambda: fmi.getRealOutputDerivatives(real, [1]),
        "inputDerivatives": lambda: fmi.setRealInputDerivatives(real, [1], [0.0]),
    }


#: What the state machine of FMI 2.0.4 (section 4.2.4) allows in each state, of the calls above.
ALLOWED = {
    "instantiated": {"setupExperiment", "enterInitializationMode", "setReal", "inputDerivatives"},
    "initialization": {"exitInitializationMode", "getReal", "setReal", "inputDerivatives"},
    "stepComplete": {
        "terminate",
        "getReal",
        "setReal",
        "doStep",
        "getRealStatus",
        "outputDerivatives",
        "inputDerivatives",
    },
    "terminated": {"getReal", "getRealStatus", "outputDerivatives"},
}


@pytest.mark.slow
@pytest.mark.parametrize("state", ALLOWED)
def test_calls_are_refused_in_the_wrong_state_and_change_nothing(fmu_library, state):
    for call in refusals(fmu_library(oscillator).slave()):
        slave = fmu_library(oscillator).slave()
        if state != "instantiated":
            slave.fmi.setupExperiment()
            slave.fmi.enterInitializationMode()
        if state in ("stepComplete", "terminated"):
            slave.fmi.exitInitializationMode()
        if state == "terminated":
            slave.fmi.terminate()
        expected = fmi2OK if call in ALLOWED[state] else fmi2Error
        assert slave.status(refusals(slave)[call]) == expected, call
        if expected != fmi2OK:
            (message,) = slave.messages(fmi2Error)
            assert "not allowed" in message
            still = next(iter(ALLOWED[state]))
            assert slave.status(refusals(slave)[still]) == fmi2OK


def test_what_cannot_be_set_says_what_to_do(fmu_library):
    slave = fmu_library(oscillator).slave().start()
    fmi = slave.fmi
    cases = {
        "rebuild the FMU": lambda: slave.set("axis", 1),
        "calculated by the model": lambda: slave.set("energy", 1.0),
        "m can be set until initialisation ends": lambda: slave.set("m", 1.0),
        "s can be set until initialisation ends": lambda: slave.set("s", 1.0),
        "unknown value reference 99": lambda: fmi.setReal([99], [1.0]),
        "unknown value reference 98": lambda: fmi.getReal([98]),
        "unknown value reference 5": lambda: fmi.getString([5]),
        "time is not an input": lambda: fmi.setRealInputDerivatives([0], [1], [1.0]),
        "order 2 of F": lambda: fmi.setRealInputDerivatives([slave.reference("F")], [2], [1.0]),
        "of length -0.1": lambda: fmi.doStep(0.0, -0.1),
        "of length 0": lambda: fmi.doStep(0.0, 0.0),
        "of length nan": lambda: fmi.doStep(0.0, math.nan),
        "the instance is at 0": lambda: fmi.doStep(0.5, 0.1),
        "no log category 'logNothing'": lambda: fmi.setDebugLogging(True, ["logNothing"]),
    }
    for message, call in cases.items():
        slave.log.clear()
        assert slave.status(call) == fmi2Error, message
        assert len(slave.log) == 1
        assert slave.log[0][1] == "logStatusError"
        assert message in slave.log[0][2]
    slave.step(0.1)
    assert slave.get("s") == pytest.approx(0.1 * math.cos(0.2), abs=1e-7)


def elsewhere():
    """The oscillator in an assembly with names that share much, nothing, half a letter, and more than a byte counts."""
    names = {"omega": "wagen.größe", "s": "wagen.grße", "v": "wagen.", "F": "x", "m": "m", "c": "m.c"}
    names |= {"a": "assembly." * 40 + "a[1]", "energy": "assembly." * 40 + "a[2]", "axis": "assembly" * 150}
    equations, variables = oscillator()
    return equations, [dataclasses.replace(v, name=names.get(v.name, v.name)) for v in variables]


@pytest.mark.slow
def test_log_lines_have_the_names_of_variables(fmu_library):
    slave = fmu_library(elsewhere).slave().start()
    for v in elsewhere()[1]:
        if v.name in ("x", "m.c"):  # they can be set
            continue
        slave.log.clear()
        assert slave.status(slave.set, v.name, v.start or 0) == fmi2Error
        shown = v.name[:999]  # there is an end to what the log takes
        assert slave.log[0][2].startswith(f"fmi2Set{v.type}: {shown} ")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_are_discarded_and_the_old_ones_kept(fmu_library, value):
    slave = fmu_library(oscillator).slave().start()
    slave.set("F", 1.0)
    references = [slave.reference("c"), slave.reference("F")]
    assert slave.status(slave.fmi.setReal, references, [5.0, value]) == fmi2Discard
    assert "F is given the value" in slave.messages(fmi2Discard)[0]
    assert slave.get("c", "F") == [8.0, 1.0]


def bounded():
    """The oscillator, its tunable stiffness between 1 and 100, its force from -5 N on."""
    equations, variables = oscillator()
    bounds = {"c": {"min": 1.0, "max": 100.0}, "F": {"min": -5.0}}
    return equations, [dataclasses.replace(v, **bounds.get(v.name, {})) for v in variables]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("c", 0.5, "its least is 1"), ("c", 101.0, "its greatest is 100"), ("F", -6.0, "its least is -5")],
)
def test_values_beyond_their_bounds_are_discarded_and_the_old_ones_kept(fmu_library, name, value, message):
    slave = fmu_library(bounded).slave().start()
    before = slave.get(name)
    with pytest.raises(Failed, match=f"{name} is given the value .*, {message}; the values before are kept") as caught:
        slave.set(name, value)
    assert caught.value.status == fmi2Discard
    assert slave.get(name) == before
    slave.set("c", 100.0)
    slave.set("F", -5.0)
    slave.step(0.1)


def test_a_step_beyond_the_stop_time_is_an_error(fmu_library):
    slave = fmu_library(oscillator).slave(stop=1.0).start()
    for i in range(10):
        slave.step((i + 1) / 10 - slave.time)
    assert slave.status(slave.fmi.doStep, slave.time, 0.1) == fmi2Error
    assert "beyond the stop time 1" in slave.messages(fmi2Error)[0]


def test_a_last_step_may_be_longer_by_rounding(fmu_library):
    """Importers add up their steps: ten of 0.1 s, and 1e-10 s more, end where the experiment does."""
    slave = fmu_library(oscillator).slave(stop=1.0).start()
    slave.step(1.0 + 1e-10)
    assert slave.get("s") == pytest.approx(0.1 * math.cos(2.0), abs=1e-6)
    assert slave.status(slave.fmi.doStep, slave.time, 1e-6) == fmi2Error


@pytest.mark.parametrize("slope", [math.nan, math.inf, -math.inf])
def test_a_slope_that_is_no_number_is_discarded(fmu_library, slope):
    slave = fmu_library(oscillator).slave().start()
    slave.fmi.setRealInputDerivatives([slave.reference("F")], [1], [3.0])
    status = slave.status(slave.fmi.setRealInputDerivatives, [slave.reference("F")], [1], [slope])
    assert status == fmi2Discard
    assert f"F is given the value {slope:g}; the values before are kept" in slave.log[-1][2]
    slave.step(0.1)
    ramp = 3.0 / 8.0 * (0.1 - math.sin(0.2) / 2)
    assert slave.get("s") == pytest.approx(0.1 * math.cos(0.2) + ramp, abs=1e-7)


def quotient():
    """1 / u."""
    d = Draft("quotient", inputs=[1.0])
    variables = (variable("u", "u", 0, causality="input", start=1.0), variable("y", "y", 0, causality="output"))
    return d.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), y=1 / d.u), variables


@pytest.mark.slow
def test_a_value_that_is_no_number_is_discarded_with_its_name(fmu_library):
    """FMI 2.0.4, section 2.1.3: a function outside its domain."""
    slave = fmu_library(quotient).slave().start()
    for u, y in ((4.0, 0.25), (0.0, None), (2.0, 0.5)):
        slave.set("u", u)
        slave.fmi.doStep(slave.time, 0.1)
        slave.time += 0.1
        if y is None:
            assert slave.status(slave.get, "y") == fmi2Discard
            assert "y is inf, no finite number: a division by zero" in slave.log[-1][2]
        else:
            assert slave.get("y") == y


def test_a_start_time_moves_the_run(fmu_library):
    slave = fmu_library(oscillator).slave()
    slave.fmi.setupExperiment(startTime=5.0)
    slave.fmi.enterInitializationMode()
    assert slave.get("time") == 5.0
    slave.fmi.exitInitializationMode()
    slave.fmi.doStep(5.0, 1.0)
    assert slave.get("time") == 6.0
    assert slave.get("s") == pytest.approx(0.1 * math.cos(2), abs=1e-7)


@pytest.mark.parametrize(("tolerance", "stop"), [(-1.0, None), (math.nan, None), (None, -1.0)])
def test_an_impossible_experiment_is_refused(fmu_library, tolerance, stop):
    slave = fmu_library(oscillator).slave()
    assert slave.status(lambda: slave.fmi.setupExperiment(tolerance=tolerance, stopTime=stop)) == fmi2Error


def test_constants_of_every_type_are_read(fmu_library):
    slave = fmu_library(oscillator).slave().start()
    assert slave.get("axis") == 3
    assert slave.get("on")
    assert slave.get("label") == b"spring"


def vanishing():
    """x'' = 1 with a force that ends the run: w = 1/(2 - t) up to t = 2; asserted x0 < p1."""
    d = Draft("vanishing", q=1, v=1, parameters=[0.0, 1e3])
    return d.equations(
        A=2 - d.t,
        b=ca.SX(1),
        guess=ca.SX.zeros(2),
        fixed=(True, True),
        assertions=d.P[1] - d.q,
        assertion_messages=("x must stay below its limit",),
    )


@pytest.mark.slow
def test_a_step_that_cannot_be_made_is_discarded_with_its_cause(fmu_library):
    slave = fmu_library(vanishing).slave().start()
    slave.step(1.5)
    # x'' = 1/(2 - t): v = ln 2 - ln(2 - t)
    assert slave.get("x1") == pytest.approx(math.log(4), abs=1e-6)
    assert slave.status(slave.fmi.doStep, 1.5, 1.0) == fmi2Discard
    (message,) = slave.messages(fmi2Discard)
    assert message.startswith("fmi2DoStep from 1.5 to 2.5 ends at ")
    assert "the step size became too small" in message
    assert not slave.fmi.getBooleanStatus(fmi2Terminated)  # it is no end that the model wants
    assert slave.fmi.getStatus(fmi2DoStepStatus) == fmi2Discard
    reached = slave.fmi.getRealStatus(fmi2LastSuccessfulTime)
    assert 1.999 < reached < 2.0
    assert slave.get("time") == reached
    assert slave.get("x1") > math.log(2000)
    assert slave.status(slave.fmi.doStep, reached, 0.1) == fmi2Error
    slave.fmi.reset()
    slave.start()
    slave.fmi.doStep(0.0, 1.5)
    assert slave.get("x1") == pytest.approx(math.log(4), abs=1e-6)


@pytest.mark.slow
def test_a_violated_assertion_stops_the_step(fmu_library):
    slave = fmu_library(vanishing).slave().start(p1=0.1)
    assert slave.status(slave.fmi.doStep, 0.0, 1.5) == fmi2Discard
    assert "assertion violated: x must stay below its limit" in slave.messages(fmi2Discard)[0]
    assert slave.get("x0") <= 0.1
    slave.fmi.reset()
    slave.fmi.setupExperiment()
    slave.set("p1", -1.0)
    slave.fmi.enterInitializationMode()
    assert slave.status(slave.fmi.exitInitializationMode) == fmi2Error
    assert "x must stay below" in slave.messages(fmi2Error)[0]


def dry_friction():
    """A force that always opposes the motion: at rest its switch finds no peace."""
    d = Draft("dry friction", q=1, v=1, switches=1, parameters=[1.0])
    return d.equations(
        A=ca.SX(1),
        b=1 - 2 * d.m,
        guess=ca.vertcat(0, d.P[0]),
        fixed=(True, True),
        crossings=d.v,
    )


@pytest.mark.slow
def test_switches_that_find_no_peace_end_the_step(fmu_library):
    slave = fmu_library(dry_friction).slave().start()
    slave.step(0.5)
    assert slave.get("x1") == pytest.approx(0.5)
    assert slave.status(slave.fmi.doStep, 0.5, 1.0) == fmi2Discard
    assert "switches flip back and forth" in slave.messages(fmi2Discard)[0]
    assert slave.fmi.getRealStatus(fmi2LastSuccessfulTime) == pytest.approx(1.0)


def test_reset_is_a_new_beginning(fmu_library):
    slave = fmu_library(oscillator).slave(tolerance=1e-9).start(m=3.0, s=0.4)
    slave.set("F", 2.0)
    slave.advance(1.0, 0.1)
    slave.reset()
    slave.start()
    assert slave.get("m", "s", "v", "F", "time") == [2.0, 0.1, 0.0, 0.0, 0.0]
    slave.advance(1.0, 0.1)
    fresh = fmu_library(oscillator).run(1.0, 0.1, tolerance=1e-9)
    assert slave.get("s", "v") == fresh.get("s", "v")


@pytest.mark.slow
def test_states_are_kept_in_place_and_freed(fmu_library):
    slave = fmu_library(point_pendulum).slave(tolerance=1e-7).start()
    slave.advance(0.3, 0.1)
    state, here = slave.fmi.getFMUstate(), slave.get("x0", "x1")
    slave.step(0.1)
    there = slave.get("x0", "x1")
    slave.fmi.setFMUstate(state)
    assert slave.get("x0", "x1") == here
    slave.time = 0.3
    slave.step(0.1)
    assert slave.get("x0", "x1") == there
    slave.fmi.fmi2GetFMUstate(slave.fmi.component, ctypes.byref(state))  # the same memory again
    slave.fmi.setFMUstate(state)
    assert slave.get("x0", "x1") == there
    slave.fmi.freeFMUstate(state)
    assert slave.status(slave.fmi.setFMUstate, None) == fmi2Error


def test_a_state_goes_to_another_instance(fmu_library):
    first = fmu_library(oscillator).run(0.5, 0.1)
    second = fmu_library(oscillator).slave()
    second.restore(first.save())
    assert second.time == 0.5
    second.time = first.time
    for slave in (first, second):
        slave.advance(1.0, 0.1)
    assert first.get("s", "v", "a") == second.get("s", "v", "a")


@pytest.mark.slow
def test_log_lines_come_by_category(fmu_library):
    slave = fmu_library(bouncing_mass).slave().start()
    slave.step(1.0)
    assert slave.log == []
    slave.fmi.setDebugLogging(True, ["logEvents"])
    slave.step(1.0)
    assert {category for _, category, _ in slave.log} == {"logEvents"}
    slave.log.clear()
    slave.fmi.setDebugLogging(False, ["logStatusError"])
    assert slave.status(slave.fmi.doStep, 2.0, -1.0) == fmi2Error
    assert slave.log == []


def percent():
    """An assertion whose message holds what printf would read as a conversion."""
    d = Draft("percent", q=1, v=1, parameters=[0.0])
    return d.equations(
        A=ca.SX(1),
        b=ca.SX(0),
        guess=ca.SX.zeros(2),
        assertions=-1 - d.P[0],
        assertion_messages=('%s %n "100 %" \\ ü',),
    )


@pytest.mark.slow
def test_messages_are_no_formats(fmu_library):
    slave = fmu_library(percent).slave()
    slave.fmi.setupExperiment()
    slave.fmi.enterInitializationMode()
    assert slave.status(slave.fmi.exitInitializationMode) == fmi2Error
    assert '%%s %%n "100 %%" \\ ü' in slave.messages(fmi2Error)[0]


def test_functions_that_make_no_sense_say_so(fmu_library):
    slave = fmu_library(oscillator).slave().start()
    assert slave.status(slave.fmi.cancelStep) == fmi2Error
    assert len(slave.log) == 1


@pytest.mark.slow
def test_instances_do_not_know_of_each_other(fmu_library):
    built = fmu_library(bouncing_mass)

    def trajectory(height):
        slave = built.slave(tolerance=1e-8).start(p0=height)
        values = []
        for _ in range(100):
            slave.step(0.01)
            values += slave.get("x0", "x1")
        return values

    heights = [1 + i / 100 for i in range(64)]
    serial = [trajectory(height) for height in heights]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(trajectory, heights)) == serial


def aliases():
    """Variables that share a place: setting one sets all."""
    equations, variables = oscillator()
    return equations, (
        *variables,
        variable("flange.s", "x", 0, causality="output", start=0.1, start_index=2),
        variable("position", "x", 0),
    )


@pytest.mark.slow
def test_aliases_are_one(fmu_library):
    slave = fmu_library(aliases).slave()
    assert slave.reference("flange.s") == slave.reference("s") != slave.reference("position")
    slave.start(**{"flange.s": 0.7})
    assert slave.get("s", "flange.s", "position") == [0.7] * 3
