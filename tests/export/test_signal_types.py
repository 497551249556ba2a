"""Boolean and Integer signals: variables of that type in FMUs of both versions, set by an importer, and over time."""

from __future__ import annotations

from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Slave

import mbfmu
from mbfmu.components.blocks import (
    BooleanPassThrough,
    BooleanToReal,
    Constant,
    Gain,
    GreaterThreshold,
    IntegerPassThrough,
    IntegerToReal,
    Not,
    Product,
    RealPassThrough,
    Sine,
    Switch,
)
from mbfmu.components.blocks.math_boolean import And
from mbfmu.components.electrical import IdealDiode
from mbfmu.errors import ModelError
from mbfmu.fmi.foreign import Foreign, signals_of
from mbfmu.modeling import Assembly, BooleanInput, Component, RealOutput, Start
from mbfmu.modeling import types as t
from mbfmu.runtime.inputs import read_csv
from mbfmu.validation import validate

VERSIONS = [("native", 2), ("native", 3), ("python", 2)]


class Chosen(Assembly):
    """A sine where `on` is false, else `n` times 2; three truths that all have to hold."""

    def __init__(self) -> None:
        self.sine, self.const, self.count, self.product = Sine(f=1.0), Constant(k=2.0), IntegerToReal(), Product()
        self.switch, self.above, self.below, self.all = Switch(), GreaterThreshold(threshold=0.3), Not(), And(nu=3)
        self.connect(self.count.y, self.product.u1)
        self.connect(self.const.y, self.product.u2)
        self.connect(self.product.y, self.switch.u1)
        self.connect(self.sine.y, self.switch.u3)
        self.connect(self.sine.y, self.above.u)
        self.connect(self.above.y, self.below.u)
        self.input(self.switch.u2, "on", start=True)
        self.input(self.count.u, "n", start=3)
        self.input(self.all.u, "truths", start=[True, True, False])
        for signal in (self.switch.y, self.below.y, self.all.y):
            self.output(signal)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Any]:
    folder, system = tmp_path_factory.mktemp("signals"), mbfmu.System.of(Chosen())
    return {
        (target, fmi): mbfmu.build(
            system, folder / f"{target}{fmi}.fmu", target=target, fmi=fmi, equations="interpreted"
        )
        for target, fmi in VERSIONS
    }


@pytest.mark.slow
@pytest.mark.parametrize("which", VERSIONS)
def test_types_of_variables(fmus, which):
    description = fmpy.read_model_description(fmus[which])
    found = {v.name: (v.type, v.variability, v.start) for v in description.modelVariables}
    integer, real = ("Int32", "Float64") if which[1] == 3 else ("Integer", "Real")
    assert found["on"] == ("Boolean", "discrete", "true")
    assert found["n"] == (integer, "discrete", "3")
    assert found["below.u"] == found["above.y"] == ("Boolean", "discrete", None)
    assert found["switch.y"] == (real, "continuous", None)
    if which[1] == 3:
        assert found["truths"] == ("Boolean", "discrete", "true true false")
        assert found["all.u"][0] == "Boolean"
    else:
        assert [found[f"truths[{k}]"][2] for k in (1, 2, 3)] == ["true", "true", "false"]
    assert validate(fmus[which]) == []


@pytest.mark.parametrize("which", VERSIONS)
@pytest.mark.parametrize("interface", ["CoSimulation", "ModelExchange"])
def test_inputs_that_an_importer_sets(fmus, which, interface):
    if (which[0], interface) == ("python", "ModelExchange"):
        pytest.skip("python FMUs are for co-simulation")
    given = np.array(
        [(0.0, True, 3), (0.2, True, 3), (0.2, True, -4), (0.5, True, -4), (0.5, False, -4), (1.0, False, -4)],
        dtype=[("time", float), ("on", bool), ("n", np.int32)],
    )
    got = fmpy.simulate_fmu(
        str(fmus[which]), fmi_type=interface, input=given, stop_time=1.0, output_interval=0.01,
        output=["switch.y", "below.y", "on"],
    )  # fmt: skip
    assert got["below.y"].dtype == bool
    for time, value in ((0.1, 6.0), (0.3, -8.0), (0.45, -8.0), (0.75, -1.0), (0.85, np.sin(1.7 * np.pi))):
        row = np.flatnonzero(np.isclose(got["time"], time))[-1]
        assert got["switch.y"][row] == pytest.approx(value, abs=1e-9)
        assert got["below.y"][row] == (np.sin(2 * np.pi * time) <= 0.3)


def test_a_boolean_is_no_real_of_the_fmu(fmus, tmp_path):
    path = fmus["native", 2]
    description = fmpy.read_model_description(path)
    variables = {v.name: v for v in description.modelVariables}
    reals = 1 + max(v.valueReference for v in variables.values() if v.type == "Real")
    slave = FMU2Slave(
        guid=description.guid, unzipDirectory=fmpy.extract(path, tmp_path), instanceName="a",
        modelIdentifier=description.coSimulation.modelIdentifier,
    )  # fmt: skip
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.setBoolean([variables["truths[3]"].valueReference], [True])
    slave.exitInitializationMode()
    assert slave.getBoolean([variables["all.y"].valueReference]) == [1]
    slave.setBoolean([variables["truths[2]"].valueReference], [7])  # any number but 0 is true
    assert slave.getBoolean([variables["truths[2]"].valueReference]) == [1]
    with pytest.raises(FMICallException):
        slave.getReal([reals])
    with pytest.raises(FMICallException):
        slave.setRealInputDerivatives([reals], [1], [1.0])
    slave.terminate()
    slave.freeInstance()


def test_values_over_time_are_held_and_checked(tmp_path):
    system = mbfmu.System.of(Chosen())
    table = tmp_path / "inputs.csv"
    table.write_text("time,on,n\n0,True,3\n0.5,false,-4\n1,true,1\n")
    assert read_csv(table)["on"].tolist() == [1.0, 0.0, 1.0]
    result = mbfmu.simulate(system, inputs=table, stop_time=1.2)
    assert set(result["on"]) == {0.0, 1.0}
    assert set(result["n"]) == {3.0, -4.0, 1.0}
    for name, value, wanted in (("on", 2, "true or false"), ("n", 0.5, "whole number")):
        with pytest.raises(ModelError, match=f"'{name}'.*{wanted}"):
            mbfmu.simulate(system, inputs={name: value})
        with pytest.raises(ModelError, match=f"'{name}'.*{wanted}"):
            mbfmu.simulate(system, start_values={name: value})


def test_start_values_of_inputs_are_checked():
    model = Chosen()
    model.input(model.switch.u2, "on", start=0.5)
    with pytest.raises(ModelError, match=r"input on: is Boolean.*true or false"):
        mbfmu.System.of(model)
    with pytest.raises(ModelError, match="no finite number"):
        model.input(model.product.u1, "factor", start=True)
    with pytest.raises(ModelError, match="no finite number"):
        model.input(model.all.u, "truths", start=[True, [False], None])


def test_start_values_of_boolean_variables():
    assert [IdealDiode(off=Start(value)).start("off")[0] for value in (True, 0, False)] == [1.0, 0.0, 0.0]
    with pytest.raises(ModelError, match="no finite number"):
        IdealDiode(s=Start(True))


@pytest.mark.parametrize(
    ("source", "sink", "remedy"),
    [
        (BooleanPassThrough, RealPassThrough, "BooleanToReal"),
        (RealPassThrough, BooleanPassThrough, "RealToBoolean"),
        (IntegerPassThrough, RealPassThrough, "IntegerToReal"),
        (RealPassThrough, IntegerPassThrough, "RealToInteger"),
        (BooleanPassThrough, IntegerPassThrough, "BooleanToInteger"),
        (IntegerPassThrough, BooleanPassThrough, "IntegerToBoolean"),
    ],
)
def test_signals_of_different_types_are_not_connected(source, sink, remedy):
    model = Assembly()
    model.one, model.other = source(), sink()
    model.connect(model.other.u, model.one.y)
    with pytest.raises(ModelError, match=rf"one\.y \(\w+\) with other\.u \(\w+\); put an? {remedy} between them"):
        mbfmu.System.of(model)


class Gate(Component):
    """Gain of a vector of truths."""

    on = BooleanInput("Truths", shape=2)
    y = RealOutput("How many")

    def equations(self) -> None:
        self.y = self.on[0] + self.on[1]


def test_connectors_of_own_components():
    model = Assembly()
    model.gate, model.gain, model.above, model.real = Gate(), Gain(k=3.0), GreaterThreshold(), BooleanToReal()
    model.const = Constant(k=1.0)
    model.connect(model.const.y, model.above.u)
    model.connect(model.above.y, model.gate.on[0])
    model.connect(model.above.y, model.gate.on[1])
    model.connect(model.gate.y, model.gain.u)
    model.connect(model.above.y, model.real.u)
    result = mbfmu.simulate(model, stop_time=0.1)
    assert result["gain.y"][-1] == 6.0
    assert result["real.y"][-1] == 1.0
    types = {v.name: v.type for v in mbfmu.System.of(model).variables}
    assert (types["gate.on[1]"], types["gain.y"]) == ("Boolean", "Real")
    with pytest.raises(ModelError, match=r"BooleanInput takes types of base Boolean; Force is Real"):
        BooleanInput("A force", type=t.Force)


def test_studies_of_derivatives_leave_booleans_out():
    system = mbfmu.System.of(Chosen())
    linear = mbfmu.linearize(system)
    assert (linear.inputs, linear.outputs) == ((), ("switch.y",))
    with pytest.raises(ModelError, match="'on' is Boolean"):
        mbfmu.linearize(system, inputs=["on"])


@pytest.mark.parametrize("fmi", [2, 3])
def test_fmus_that_are_run_know_the_types(fmus, fmi):
    fmu, times = Foreign(fmus["native", fmi]), np.linspace(0.0, 1.0, 11)
    assert {v.type for v in fmu.variables} == {"Real", "Integer", "Boolean"}
    signals = signals_of(fmu, {"on": ([0.0, 0.55], [True, False]), "n": ([0.0, 0.25], [3, -4])}, times, "linear")
    result = fmu.simulate(times, {}, ["switch.y"], signals)
    t = np.asarray(result.time)
    expected = np.where(t < 0.55, np.where(t < 0.25, 6.0, -8.0), np.sin(2 * np.pi * t))
    asked = np.isin(np.round(t, 9), np.round(times, 9))  # without those of the jumps
    np.testing.assert_allclose(result["switch.y"][asked], expected[asked], atol=1e-9)
    with pytest.raises(ModelError, match="'n' is Integer and reaches"):
        signals_of(fmu, {"n": 0.5}, times, "linear")
