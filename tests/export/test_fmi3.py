"""FMUs of FMI 3.0: arrays and aliases, the same bits as those of FMI 2.0, and what only this version has."""

from __future__ import annotations

import ctypes
import pathlib
import re
import zipfile
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi3 import FMU3Model, FMU3Slave
from fmpy.simulation import instantiate_fmu
from lxml import etree

import mbfmu
from mbfmu import sources
from mbfmu.arrays import Array, Element
from mbfmu.components import Body, World, rotational
from mbfmu.components.blocks import GreaterThreshold
from mbfmu.dynamics.system import System
from mbfmu.errors import BuildError
from mbfmu.export.arrays import arrange, states_of
from mbfmu.export.build import build
from mbfmu.export.selection import select, with_own_derivatives
from mbfmu.fmi.libraries import REQUIRED, REQUIRED_3
from mbfmu.fmi.variables import scalars_of
from mbfmu.modeling import Assembly, Start
from mbfmu.runtime.compilers import find_compiler
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.validation import validate


@pytest.fixture(scope="session")
def fmus(gallery_fmu: Any) -> Any:
    """Return a function that gives the FMU of a gallery model in a version of FMI."""
    return lambda name, fmi, **options: gallery_fmu(name, fmi=fmi, **({"equations": "interpreted"} | options))


def column(result: np.ndarray, name: str) -> np.ndarray:
    """A scalar of FMI 2.0 in the result of an FMU of FMI 3.0."""
    if name in result.dtype.names:
        return result[name]
    stem, indices = re.fullmatch(r"(.*)\[(.*)\]", name).groups()
    return result[stem][(slice(None), *(int(index) - 1 for index in indices.split(",")))]


@pytest.mark.slow
@pytest.mark.campaign("CoSimulation-engine_1b", "CoSimulation-car", "ModelExchange-engine_1b", keep=3)
@pytest.mark.parametrize("name", ["free_body", "engine_1b", "four_bar", "car"])
@pytest.mark.parametrize("interface", ["CoSimulation", "ModelExchange"])
def test_both_versions_give_the_same_bits(fmus, name, interface):
    """Quaternions, gas force with events, a loop; a car with inputs (held at their start)."""
    of_2, of_3 = fmus(name, 2), fmus(name, 3)
    assert validate(of_3) == []
    runs = [
        fmpy.simulate_fmu(str(path), fmi_type=interface, stop_time=0.3, output_interval=0.01) for path in (of_2, of_3)
    ]
    assert len(runs[0]) == len(runs[1]) > 30
    for name_ in runs[0].dtype.names:
        np.testing.assert_array_equal(column(runs[1], name_), runs[0][name_], err_msg=name_)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
def test_compiled_equations_give_the_same_bits_and_bring_their_sources(fmus):
    path = fmus("engine_1b", 3, equations="compiled", sources=True)
    assert validate(path) == []
    compiled, interpreted = (
        fmpy.simulate_fmu(str(p), stop_time=0.2, output_interval=0.01) for p in (path, fmus("engine_1b", 3))
    )
    for name in interpreted.dtype.names:
        np.testing.assert_array_equal(compiled[name], interpreted[name])
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        described = etree.fromstring(archive.read("sources/buildDescription.xml"))
    assert {"sources/fmu.c", "sources/fmi3.c"} <= names
    assert "sources/fmi2.c" not in names
    assert [file.get("name") for file in described.iter("SourceFile")] == ["fmu.c"]


def description(path: pathlib.Path) -> etree._Element:
    with zipfile.ZipFile(path) as archive:
        return etree.fromstring(archive.read("modelDescription.xml"))


def test_vectors_and_matrices_are_arrays_and_copies_are_aliases(fmus):
    root = description(fmus("free_body", 3))
    variables = {v.get("name"): v for v in root.find("ModelVariables")}
    place = variables["body.r_0"]
    assert (place.tag, place.get("start"), place.get("unit")) == ("Float64", "0.2 -0.5 0.1", None)
    (type_,) = root.findall(f"TypeDefinitions/Float64Type[@name='{place.get('declaredType')}']")
    assert (type_.get("quantity"), type_.get("unit")) == ("Length", "m")
    assert [d.get("start") for d in place.iterfind("Dimension")] == ["3"]
    aliases = {a.get("name"): v for v in variables.values() for a in v.iterfind("Alias")}
    assert "body.body.frame_a.r_0" in aliases
    matrix = variables.get("body.frame_a.R.T", aliases.get("body.frame_a.R.T"))
    assert [d.get("start") for d in matrix.iterfind("Dimension")] == ["3", "3"]
    references = [v.get("valueReference") for v in variables.values()]
    assert len(set(references)) == len(references)
    speeds = variables["body.v_0"]
    assert speeds.get("derivative") == place.get("valueReference")


@pytest.mark.slow
def test_a_parameter_that_follows_another_one_is_no_alias_of_it(fmus):
    """Setting a height would set the width, too."""
    variables = {v.get("name"): v for v in description(fmus("planar_four_bar", 3)).find("ModelVariables")}
    width, height = variables["body1.width"], variables["body1.height"]
    assert (width.get("causality"), height.get("causality")) == ("parameter", "calculatedParameter")
    assert height.get("start") is None
    assert not list(width.iterfind("Alias"))


@pytest.mark.slow
def test_arrays_count_their_last_index_fastest(fmus):
    """The matrix of an attitude, read as an array and as scalars of FMI 2.0."""
    scalars = [f"body.frame_a.R.T[{i},{j}]" for i in (1, 2, 3) for j in (1, 2, 3)]
    of_2 = fmpy.simulate_fmu(str(fmus("free_body", 2)), stop_time=0.1, output=scalars)
    of_3 = fmpy.simulate_fmu(str(fmus("free_body", 3)), stop_time=0.1, output=["body.frame_a.R.T"])
    matrix = of_3["body.frame_a.R.T"][-1]
    np.testing.assert_array_equal(matrix.ravel(), [of_2[name][-1] for name in scalars])
    assert np.abs(matrix - matrix.T).max() > 1e-3


def real(whole: Array | str, at: int = 0, **others: Any) -> ScalarVariable:
    common = {"causality": "local", "variability": "continuous", "initial": "calculated", "start": None, "store": "y"}
    element = None if isinstance(whole, str) else Element(whole, (at,))
    name = whole if isinstance(whole, str) else Element(whole, (at,)).name
    return ScalarVariable(name=name, description="", type="Real", **{**common, **others}, element=element)


def test_what_differs_stays_apart():
    a, c, d, e, f, g = (Array(name, (2,)) for name in "acdefg")
    b, one = Array("b", (3,)), Array("one", (1,))
    made = arrange([
        real(a, 1, index=0), real(a, 2, index=1),
        real(b, 1, index=2), real(b, 3, index=3),  # an element is missing
        real(c, 1, index=4, unit="m"), real(c, 2, index=5, unit="s"),
        real(d, 1, index=6, causality="output"), real(d, 2, index=7),
        real(e, 1, index=8),
        real(e, 2, index=0, store="constant", variability="constant", initial="exact", start=2.0),
        real(f, 1, index=9),  # alone
        real("h[1]", index=10), real("h[2]", index=11),  # named alike, and no array
        real(g, 1, index=12), real(g, 2, index=13), real("g", index=14),  # an array would have the name of another
        real(one, 1, index=15),
    ])  # fmt: skip
    shapes = {v.name: v.shape for v in made.variables}
    assert shapes == {
        "a": (2,), "b[1]": (), "b[3]": (), "c[1]": (), "c[2]": (), "d[1]": (), "d[2]": (), "e": (2,), "f[1]": (),
        "h[1]": (), "h[2]": (), "g[1]": (), "g[2]": (), "g": (), "one": (1,),
    }  # fmt: skip
    e = next(v for v in made.variables if v.name == "e")
    assert (e.variability, e.initial) == ("continuous", "calculated")
    assert [length for length in made.lengths if length] == [len(v.elements) for v in made.variables]
    assert [v.reference for v in made.variables] == [*range(1, 16)]


def test_states_out_of_order_are_no_array():
    """The vector of states is that of the derivatives, one after the other: arrays that would change it stay apart."""
    x, v = Array("x", (2,)), Array("v", (2,))
    made = arrange([
        real(x, 1, store="x", index=1), real(x, 2, store="x", index=0),
        real(v, 1, index=0, derivative_of="x[1]"), real(v, 2, index=1, derivative_of="x[2]"),
    ])  # fmt: skip
    pairs = [(state.name, rate.name) for state, rate in states_of(made.variables)]
    assert pairs == [("x[2]", "v[2]"), ("x[1]", "v[1]")]


def slave(path: pathlib.Path, kind: str = "CoSimulation", **options: Any) -> tuple[Any, dict[str, Any], list[str]]:
    """An instance, its variables by name, and its log."""
    model, log = fmpy.read_model_description(str(path)), []

    def note(_environment: Any, _status: int, _category: bytes, message: bytes) -> None:
        log.append(message.decode())

    fmu = instantiate_fmu(fmpy.extract(str(path)), model, kind, logger=note, **options)
    assert isinstance(fmu, FMU3Slave if kind == "CoSimulation" else FMU3Model)
    return fmu, {v.name: v for v in model.modelVariables}, log


@pytest.mark.slow
@pytest.mark.parametrize("target", ["native", "python"])
def test_steps_end_at_events_where_the_master_wants_it(fmus, target):
    """The results at the communication points do not change a bit, and events are met between them."""
    path = str(fmus("engine_1b", 3, target=target))
    plain = fmpy.simulate_fmu(path, stop_time=0.3, output_interval=0.01)
    told = fmpy.simulate_fmu(path, stop_time=0.3, output_interval=0.01, use_event_mode=True, early_return_allowed=True)
    assert len(told) > len(plain)
    at = [int(np.argmin(np.abs(told["time"] - t))) for t in plain["time"]]
    for name in plain.dtype.names[1:]:
        np.testing.assert_array_equal(told[name][at], plain[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["native", "python"])
def test_the_master_may_read_between_the_steps_of_the_integrator_and_end_the_step(fmus, target):
    """Slopes, too: read in an update, they change nothing."""
    path, ends_at, seen, slopes = fmus("engine_1b", 3, target=target), [], [], []

    def update(_environment, time, wanted, allowed, finished, may_return, ends, end):
        seen.append((time, fmu.getFloat64([speed.valueReference])[0], wanted, allowed, finished))
        if not ends_at:
            slopes.append(fmu.getOutputDerivatives([speed.valueReference], [1])[0])
        with pytest.raises(FMICallException):
            fmu.setFloat64([speed.valueReference], [1.0])
        with pytest.raises(FMICallException):
            fmu.reset()
        if may_return and time > 0.05:
            ends[0], end[0] = True, 0.06

    for _ in range(2):
        seen.clear()
        fmu, variables, log = slave(path, early_return_allowed=True, intermediate_update=update)
        speed = variables["inertia.w"]
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        event, terminate, early, last = fmu.doStep(0.0, 0.5)
        assert (event, terminate, early, last) == (False, False, True, 0.06)
        assert any("within a step" in line for line in log)
        assert [time for time, *_ in seen] == sorted({time for time, *_ in seen})
        assert {tuple(flags) for _, _, *flags in seen} == {(False, True, True)}
        ends_at.append(fmu.getFloat64([speed.valueReference])[0])
        fmu.freeInstance()
    assert ends_at[0] == ends_at[1]
    reference = fmpy.simulate_fmu(str(path), stop_time=seen[-1][0], output_interval=seen[-1][0])
    assert seen[-1][1] == pytest.approx(reference["inertia.w"][-1], rel=1e-7)
    times = [time for time, *_ in seen]
    assert np.trapezoid(slopes, times) == pytest.approx(seen[-1][1] - seen[0][1], rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["native", "python"])
def test_inputs_follow_lines_that_the_master_gives_in_intermediate_updates(fmus, target):
    """The same bits as with the input derivatives of FMI 2.0; without inputs among the required, nobody is asked."""
    asked, lines, h = [], {"slope": 0.7, "begin": 0.1}, 0.05

    def update(_environment, time, wanted, allowed, finished, may_return, ends, end):
        if not wanted:
            return
        asked.append((time, allowed, finished, may_return))
        with pytest.raises(FMICallException):
            fmu.getFloat64([torque])
        with pytest.raises(FMICallException):
            fmu.setFloat64([parameter], [1.0])
        with pytest.raises(FMICallException):
            fmu.setFloat64([torque], [np.nan])
        if lines["slope"]:
            fmu.setFloat64([torque], [lines["begin"] + lines["slope"] * time])

    path = fmus("furuta_pendulum", 3, target=target)
    described = fmpy.read_model_description(str(path))
    torque = next(v.valueReference for v in described.modelVariables if v.causality == "input")
    parameter = next(v.valueReference for v in described.modelVariables if v.causality == "parameter" and not v.shape)
    fmu, variables, _ = slave(path, intermediate_update=update, required_intermediate_variables=[torque])
    exchanged = {v.get("name") for v in description(path).iter("Float64") if v.get("intermediateUpdate") == "true"}
    assert exchanged == {v.name for v in variables.values() if v.causality in ("input", "output")}
    of_2 = fmpy.read_model_description(str(fmus("furuta_pendulum", 2)))
    other = instantiate_fmu(fmpy.extract(str(fmus("furuta_pendulum", 2))), of_2, "CoSimulation")
    places = {v.name: v.valueReference for v in of_2.modelVariables}
    name = next(v.name for v in of_2.modelVariables if v.causality == "input")
    other.setupExperiment()
    for unit in (fmu, other):
        unit.enterInitializationMode()
        unit.exitInitializationMode()
    outputs = [v.name for v in variables.values() if v.causality == "output"]
    for i in range(20):
        if i == 15:
            lines["slope"] = 0.0  # the master no longer answers: inputs are held
        value = lines["begin"] + 0.7 * i * h
        fmu.setFloat64([torque], [value])
        other.setReal([places[name]], [value])
        end = lines["begin"] + lines["slope"] * (i * h + h) if lines["slope"] else value
        other.setRealInputDerivatives([places[name]], [1], [(end - value) / (i * h + h - i * h)])
        for unit in (fmu, other):
            unit.doStep(i * h, h)
        expected = other.getReal([places[n] for n in outputs])
        assert fmu.getFloat64([variables[n].valueReference for n in outputs]) == pytest.approx(expected, abs=1e-12)
    assert asked == [(i * h + h, False, False, False) for i in range(20)]
    fmu.freeInstance()
    other.freeInstance()


@pytest.mark.slow
def test_inputs_act_at_once_in_event_mode(fmus):
    fmu, variables, log = slave(fmus("furuta_pendulum", 3), event_mode_used=True, early_return_allowed=True)
    torque = next(v for v in variables.values() if v.causality == "input").valueReference
    rate = variables["base.a"].valueReference
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.updateDiscreteStates()
    fmu.enterStepMode()
    fmu.doStep(0.0, 0.1)
    before = fmu.getFloat64([rate])[0]
    fmu.setFloat64([torque], [0.2])
    assert fmu.getFloat64([rate])[0] == before
    fmu.enterEventMode()
    after = fmu.getFloat64([rate])[0]
    assert after > before + 1
    fmu.updateDiscreteStates()
    fmu.enterStepMode()
    with pytest.raises(FMICallException):
        fmu.enterStepMode()
    assert "between steps" in log[-1]
    fmu.freeInstance()


def test_event_mode_is_for_instances_made_with_it(fmus):
    fmu, _, log = slave(fmus("furuta_pendulum", 3))
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    with pytest.raises(FMICallException):
        fmu.enterEventMode()
    assert "made without event mode" in log[-1]
    fmu.freeInstance()


def test_adjoint_derivatives_are_the_directional_ones_transposed(fmus):
    path = fmus("furuta_pendulum", 3)
    fmu, variables, _ = slave(path)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.doStep(0.0, 0.3)
    model = fmpy.read_model_description(str(path))
    unknowns = [u.variable.valueReference for u in model.derivatives]
    knowns = [u.variable.derivative.valueReference for u in model.derivatives]
    knowns += [v.valueReference for v in variables.values() if v.causality == "input"]
    columns = [fmu.getDirectionalDerivative(unknowns, [known], [1.0]) for known in knowns]
    rows = [
        fmu.getAdjointDerivative(unknowns, knowns, [float(i == k) for k in range(len(unknowns))], len(knowns))
        for i in range(len(unknowns))
    ]
    np.testing.assert_array_equal(np.array(columns).T, np.array(rows))
    assert np.linalg.matrix_rank(np.array(rows)) == len(unknowns)
    fmu.freeInstance()


def test_directional_derivatives_are_those_of_fmi_2(fmus):
    """Also those of event indicators, against differences of what the importer sees."""
    from fmpy.fmi2 import FMU2Slave

    of_2, of_3 = fmus("furuta_pendulum", 2), fmus("furuta_pendulum", 3)
    models = [fmpy.read_model_description(str(path)) for path in (of_2, of_3)]
    found = []
    for path, model in zip((of_2, of_3), models, strict=True):
        fmu = instantiate_fmu(fmpy.extract(str(path)), model, "CoSimulation")
        if isinstance(fmu, FMU2Slave):
            fmu.setupExperiment()
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        fmu.doStep(0.0, 0.2)
        unknowns = [u.variable.valueReference for u in model.derivatives]
        knowns = [u.variable.derivative.valueReference for u in model.derivatives]
        found.append([fmu.getDirectionalDerivative(unknowns, [known], [1.0]) for known in knowns])
        fmu.freeInstance()
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.slow
def test_outputs_depend_on_what_those_of_fmi_2_do(fmus):
    """On states that equations know by another name, too."""
    two, three = (fmpy.read_model_description(str(fmus("drivetrain", fmi))) for fmi in (2, 3))
    references = {v.name: v.valueReference for v in two.modelVariables}  # aliases share one

    def dependencies(described):
        unknowns = [*described.outputs, *described.derivatives]
        listed = {one.variable.name: one.dependencies or () for one in unknowns}
        return {
            name: {references[known.name] for known in knowns if known.name != "time"}  # of which FMI 2 says nothing
            for name, knowns in listed.items()
        }

    assert sum(map(len, dependencies(two).values())) > 20
    assert dependencies(three) == dependencies(two)


class Limited(Assembly):
    """An inertia on a spring that says whether its acceleration exceeds a threshold."""

    def __init__(self) -> None:
        self.inertia = rotational.Inertia(J=2.0, phi=Start(0.5, fixed=True), w=Start(1.0, fixed=True))
        self.spring, self.wall = rotational.Spring(c=3.0), rotational.Fixed()
        self.sensor, self.fast = rotational.AccSensor(), GreaterThreshold(threshold=-0.5)
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.inertia.flange_a)
        self.connect(self.inertia.flange_b, self.sensor.flange)
        self.connect(self.sensor.a, self.fast.u)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["engine_1b", "limited"])
def test_event_indicators_are_variables_with_derivatives(fmus, name, tmp_path):
    """Also those that accelerations decide."""
    path = build(Limited(), tmp_path, fmi=3, equations="interpreted") if name == "limited" else fmus(name, 3)
    fmu, variables, _ = slave(path, "ModelExchange")
    model = fmpy.read_model_description(str(path))
    reference, n = variables["eventIndicators"].valueReference, model.numberOfEventIndicators
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.updateDiscreteStates()
    fmu.enterContinuousTimeMode()
    assert fmu.getNumberOfEventIndicators() == n
    nx = model.numberOfContinuousStates
    x = (ctypes.c_double * nx)()
    fmu.getContinuousStates(x, nx)
    seen = (ctypes.c_double * n)()
    fmu.getEventIndicators(seen, n)
    assert list(seen) == list(fmu.getFloat64([reference], n))
    states = [u.variable.derivative.valueReference for u in model.derivatives]
    slopes = np.array([fmu.getDirectionalDerivative([reference], [state], [1.0], n) for state in states])
    for k in range(nx):
        ends = []
        for step in (1e-6, -1e-6):
            moved = (ctypes.c_double * nx)(*(value + step * (i == k) for i, value in enumerate(x)))
            fmu.setContinuousStates(moved, nx)
            fmu.getEventIndicators(seen, n)
            ends.append(np.array(seen))
        fmu.setContinuousStates(x, nx)
        np.testing.assert_allclose(slopes[k], (ends[0] - ends[1]) / 2e-6, atol=1e-6 * (1 + np.abs(slopes[k]).max()))
    fmu.freeInstance()


def test_states_are_saved_to_the_bit(fmus):
    fmu, variables, _ = slave(fmus("engine_1b", 3))
    all_floats = [v for v in variables.values() if v.type == "Float64" and v.alias is None]
    references, count = [v.valueReference for v in all_floats], sum(int(np.prod(v.shape)) for v in all_floats)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    fmu.doStep(0.0, 0.1)
    saved = fmu.serializeFMUState(fmu.getFMUState())
    fmu.doStep(0.1, 0.1)
    wanted = list(fmu.getFloat64(references, count))
    fmu.setFMUState(fmu.deserializeFMUState(saved))
    fmu.doStep(0.1, 0.1)
    assert list(fmu.getFloat64(references, count)) == wanted
    fmu.freeInstance()


@pytest.mark.slow
def test_a_buffer_that_is_too_small_for_a_state_is_told_how_large_it_must_be(fmus):
    fmu, _, log = slave(fmus("free_body", 3))
    fmu.enterInitializationMode()
    state = fmu.getFMUState()
    size = len(fmu.serializeFMUState(state))
    with pytest.raises(FMICallException):
        fmu.fmi3SerializeFMUState(fmu.component, state, (ctypes.c_uint8 * size)(), size - 1)
    assert f"the buffer has {size - 1} bytes, the state needs {size}" in log[-1]
    fmu.freeFMUState(state)
    fmu.freeInstance()


def test_wrong_references_and_sizes_are_refused(fmus):
    fmu, variables, log = slave(fmus("free_body", 3))
    fmu.enterInitializationMode()
    place = variables["body.r_0"].valueReference
    for references, size, words in (
        ([place], 2, "the variables have 3 values, and there is an array of 2"),
        ([0], 3, "no variable of this type with the value reference 0"),
        ([10**9], 3, "no variable of this type with the value reference 1000000000"),
        ([999_999], 1, "no variable of this type"),
    ):
        with pytest.raises(FMICallException):
            fmu.getFloat64(references, size)
        assert words in log[-1]
    fmu.freeInstance()


@pytest.mark.slow
@pytest.mark.parametrize(("version", "required"), [(2, REQUIRED), (3, REQUIRED_3)])
def test_calls_without_an_instance_are_errors(fmus, version, required):
    """Also of types that this FMU has not, and of clocks."""
    path = str(fmus("free_body", version))
    model = fmpy.read_model_description(path)
    fmu = instantiate_fmu(fmpy.extract(path), model, "CoSimulation")
    others = re.compile("fmi.(Get(Version|TypesPlatform)|Instantiate.*|FreeInstance)")
    functions = sorted(name for name in frozenset.union(*required.values()) if not others.fullmatch(name))
    assert len(functions) >= 40
    answers = {name: fmu.dll[name](None, *[None] * 12) for name in functions}
    assert answers == dict.fromkeys(functions, 3)
    fmu.freeInstance()


@pytest.mark.parametrize(("version", "called"), [(2, "GUID"), (3, "instantiationToken")])
def test_what_belongs_to_another_build_is_refused(fmus, version, called):
    path = fmus("free_body", version)
    model, log = fmpy.read_model_description(str(path)), []
    known, model.guid = model.guid, "{wrong}"
    with pytest.raises(Exception, match=r"(?i)instantiate"):
        instantiate_fmu(
            fmpy.extract(str(path)), model, "CoSimulation", logger=lambda *line: log.append(line[-1].decode())
        )
    said = f"the {called} of modelDescription.xml is '{{wrong}}', that of the binary '{known}'"
    assert f"{said}: they belong to different builds" in log[0]


@pytest.mark.slow
def test_flanges_are_terminals_whose_flows_fit(fmus):
    """A torque that one side exerts outwards flows into the other."""
    kinds = {}
    for name in ("powertrain", "car"):
        with zipfile.ZipFile(fmus(name, 3)) as archive:
            root = etree.fromstring(archive.read("terminalsAndIcons/terminalsAndIcons.xml"))
        member = root.find("Terminals/Terminal[@name='axis1']/TerminalMemberVariable[@memberName='tau']")
        kinds[name] = member.get("variableKind")
    assert kinds == {"powertrain": "outflow", "car": "inflow"}


def test_what_this_version_cannot_do_is_said(tmp_path):
    with pytest.raises(BuildError, match=r"a python FMU has no WebAssembly component"):
        mbfmu.build(sources.load("pendulum", ()), tmp_path, fmi=3, target="python", wasm=True)
    with pytest.raises(BuildError, match="FMI 4 is unknown"):
        mbfmu.build(sources.load("pendulum", ()), tmp_path, fmi=4)


@pytest.mark.slow
def test_references_are_the_places_of_variables_in_the_file(fmus):
    """OMSimulator takes the references in lists of dependencies for such; the runtime knows values by their type."""
    for name in ("free_body", "motor_drive"):
        description = fmpy.read_model_description(str(fmus(name, 3)))
        with zipfile.ZipFile(fmus(name, 3)) as archive:
            listed = etree.fromstring(archive.read("modelDescription.xml")).findall("ModelVariables/*")
        assert [v.get("valueReference") for v in listed] == [str(number) for number in range(1, len(listed) + 1)]
        of_type, names = {}, {v.get("name") for v in listed}
        for element in scalars_of(description):
            if element.variable.name in names:  # no alias, which FMPy lists as a variable, too
                of_type.setdefault(element.type, []).append(element.reference)
        assert all(found == list(range(len(found))) for found in of_type.values())


class Arm(Assembly):
    """Two motors on two shafts, and a body whose place is seen."""

    def __init__(self) -> None:
        self.motors = [rotational.Torque() for _ in range(2)]
        still = Start(0.0, fixed=True)
        self.shafts = [rotational.Inertia(J=1.0, phi=Start(0.1 * i, fixed=True), w=still) for i in range(2)]
        for motor, shaft in zip(self.motors, self.shafts, strict=True):
            self.connect(motor.flange, shaft.flange_a)
        self.world = World()
        start = {"r_0": Start((0, 0, 0), fixed=True), "v_0": Start((0, 0, 0), fixed=True)}
        self.body = Body(m=1.0, r_CM=(0, 0, 0), angles_fixed=True, w_0_fixed=True, **start)
        self.input([motor.tau for motor in self.motors], "torques", start=[0.25, -0.5])
        self.output([shaft.phi for shaft in self.shafts], "angles")
        self.output(self.body.frame_a.r_0, "tip")
        self.output(self.body.frame_a.R.T, "attitude")
        self.output(self.body.a_0)
        self.output(self.body.v_0[0], "speeds[1]")
        self.output(self.body.v_0[1], "speeds[2]")


@pytest.fixture(scope="module")
def arm() -> System:
    return System.of(Arm())


def shapes(system: System, patterns: str) -> dict[str, tuple[int, ...]]:
    """Shapes of the variables that an FMU of FMI 3.0 shows."""
    return {v.name: v.shape for v in arrange(with_own_derivatives(select(system.variables, [patterns]))).variables}


def test_arrays_are_what_the_model_declares(arm: System) -> None:
    found = shapes(arm, "body.m")
    assert {name: found.get(name) for name in ("torques", "angles", "tip", "attitude", "speeds[1]", "speeds[2]")} == {
        "torques": (2,), "angles": (2,), "tip": (3,), "attitude": (3, 3), "speeds[1]": (), "speeds[2]": (),
    }  # fmt: skip
    assert "speeds" not in found
    starts = [(v.name, v.start) for v in arm.variables if v.causality == "input"]
    assert starts == [("torques[1]", 0.25), ("torques[2]", -0.5)]


def test_what_takes_the_place_of_an_output_among_derivatives_is_an_array(arm: System) -> None:
    (state,) = {v.derivative_of for v in arm.variables if v.name == "body.a_0[1]"}
    assert state == "body.v_0[1]"
    found = shapes(arm, "body.m")
    assert (found["body.a_0"], found["der(body.v_0)"]) == ((3,), (3,))


def test_a_pattern_takes_an_array_or_an_element(arm: System) -> None:
    force = "body.frame_a.f"
    assert force not in shapes(arm, "body.m")
    assert shapes(arm, force)[force] == shapes(arm, "*.f")[force] == (3,)
    alone = shapes(arm, f"{force}[2]")
    assert alone[f"{force}[2]"] == ()
    assert not {force, f"{force}[1]"} & set(alone)


def test_runs_record_arrays_by_name(arm: System) -> None:
    result = mbfmu.simulate(arm, 0.2, interval=0.1, outputs=["angles", "attitude", "tip[2]"])
    assert result.names == (
        "angles[1]", "angles[2]", *(f"attitude[{i},{j}]" for j in (1, 2, 3) for i in (1, 2, 3)), "tip[2]"
    )  # fmt: skip
    expected = [[0.0, 0.1], [0.00125, 0.0975], [0.005, 0.09]]
    np.testing.assert_allclose(result["angles"], expected, atol=1e-12)
    assert result["attitude"].shape == (3, 3, 3)
    with pytest.raises(KeyError, match="tip"):
        result["tip"]  # two elements were not recorded


def test_there_is_no_scheduled_execution(fmus, tmp_path):
    """No instance for it, a log line that says so, and no partition of an instance to activate."""
    path = fmus("free_body", 3)
    described = fmpy.read_model_description(str(path))
    unit = fmpy.fmi3.FMU3Slave(
        guid=described.guid, unzipDirectory=fmpy.extract(str(path), str(tmp_path / "fmu")), instanceName="one",
        modelIdentifier=described.coSimulation.modelIdentifier,
    )  # fmt: skip
    lines: list[tuple[int, bytes]] = []
    told = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)(
        lambda _environment, status, _category, text: lines.append((status, text))
    )
    make = unit.dll.fmi3InstantiateScheduledExecution
    make.restype, make.argtypes = ctypes.c_void_p, None
    none = ctypes.c_void_p(None)
    assert make(b"one", described.guid.encode(), None, False, False, none, told, none, none, none) is None
    assert lines == [(3, b"fmi3InstantiateScheduledExecution: this FMU has no interface for scheduled execution")]
    unit.instantiate()
    unit.dll.fmi3ActivateModelPartition.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_double]
    assert unit.dll.fmi3ActivateModelPartition(unit.component, 0, 0.0) == 3
    unit.freeInstance()
