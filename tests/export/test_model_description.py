from __future__ import annotations

import dataclasses
import datetime
import pathlib
from typing import Any

import fmpy
import pytest
from fmpy.model_description import read_model_description
from lxml import etree

from mbfmu.errors import ModelError
from mbfmu.export import model_description as model_description_2
from mbfmu.export import model_description_3
from mbfmu.export.arrays import arrange
from mbfmu.export.model_description import Capabilities, model_description, model_identifier, step_size
from mbfmu.runtime.references import value_references
from mbfmu.runtime.variables import ScalarVariable

DATE = datetime.datetime(2024, 2, 29, 12, 30, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))


def describe(system: Any, variables: Any = None, equations: Any = None, **options: Any) -> bytes:
    variables = system.variables if variables is None else variables
    equations = system.equations if equations is None else equations
    settings = {"identifier": "m", "guid": "{1}", "capabilities": Capabilities(), "date": DATE} | options
    return model_description(equations, variables, value_references(variables), **settings)


def parsed(xml: bytes) -> etree._Element:
    return etree.fromstring(xml)


def read(xml: bytes, folder: pathlib.Path) -> Any:
    (folder / "modelDescription.xml").write_bytes(xml)
    return read_model_description(
        str(folder), validate=True, validate_variable_names=True, validate_model_structure=True
    )


def attributes(xml: bytes, path: str) -> list[dict[str, str]]:
    return [dict(element.attrib) for element in parsed(xml).findall(path)]


@pytest.mark.slow
def test_schema_and_fmpy_find_nothing(system: Any, tmp_path: pathlib.Path) -> None:
    xml = describe(system)
    schema = etree.XMLSchema(file=str(pathlib.Path(fmpy.__file__).parent / "schema/fmi2/fmi2ModelDescription.xsd"))
    schema.assertValid(parsed(xml))
    description = read(xml, tmp_path)
    assert [v.name for v in description.modelVariables] == [v.name for v in system.variables]
    assert [v.valueReference for v in description.modelVariables] == list(value_references(system.variables))


def test_head_of_the_file(system: Any) -> None:
    root = parsed(describe(system, description="One sentence & more"))
    assert root.get("fmiVersion") == "2.0"
    assert root.get("modelName") == "Examples.Oscillator"
    assert root.get("description") == "One sentence & more"
    assert root.get("generationDateAndTime") == "2024-02-29T10:30:01Z"
    assert root.get("variableNamingConvention") == "structured"
    experiment = root.find("DefaultExperiment")
    assert experiment is not None
    assert {key: float(value) for key, value in experiment.attrib.items()} == {
        "startTime": 0.0,
        "stopTime": 3.0,
        "tolerance": 1e-6,
        "stepSize": 0.005,
    }


def test_capabilities_become_attributes(system: Any) -> None:
    offered = Capabilities(needsExecutionTool=True, maxOutputDerivativeOrder=1)
    (simulation,) = attributes(describe(system, capabilities=offered), "CoSimulation")
    assert simulation["needsExecutionTool"] == "true"
    assert simulation["maxOutputDerivativeOrder"] == "1"
    assert simulation["canInterpolateInputs"] == "false"
    assert simulation["canGetAndSetFMUstate"] == simulation["canSerializeFMUstate"] == "true"
    assert simulation["modelIdentifier"] == "m"


def test_switches_of_time_alone_are_no_event_indicators(system: Any) -> None:
    for time_switches, indicators in (((), "0"), ((True, False, False), "2"), ((True, True, False), "1")):
        equations = dataclasses.replace(system.equations, time_switches=time_switches)
        (head,) = attributes(describe(system, equations=equations, model_exchange=True), ".")
        assert head["numberOfEventIndicators"] == indicators


def test_source_files_are_listed(system: Any) -> None:
    assert attributes(describe(system, source_files=["all.c"]), "CoSimulation/SourceFiles/File") == [{"name": "all.c"}]


def test_variables_carry_what_their_declaration_says(system: Any, tmp_path: pathlib.Path) -> None:
    variables = {v.name: v for v in read(describe(system), tmp_path).modelVariables}
    mass = variables["mass.m"]
    assert (mass.description, mass.unit, mass.quantity, mass.min, mass.start) == (
        'Mass "<1 t"',
        "kg",
        "Mass",
        "0.0",
        "2.0",
    )
    assert variables["spring.d"].max is None
    assert variables["omega"].displayUnit == "rev/min"
    assert variables["mass.label"].start == "a < b"
    assert variables["mass.animation"].start == "true"
    assert variables["mass.n[1]"].start == "1"
    assert variables["mass.a"].derivative is variables["mass.v"]


def test_initial_is_absent_where_fmi_forbids_it(system: Any) -> None:
    found = {v["name"]: v.get("initial") for v in attributes(describe(system), "ModelVariables/ScalarVariable")}
    assert found["flange.f"] is None
    assert found["time"] is None
    assert found["mass.s"] == "exact"


def test_units_have_base_units_and_display_units(system: Any, tmp_path: pathlib.Path) -> None:
    units = {unit.name: unit for unit in read(describe(system), tmp_path).unitDefinitions}
    assert set(units) == {"s", "kg", "N/m", "N.s/m", "rad/s", "N", "m", "m/s", "m/s2", "J"}
    stiffness = units["N/m"].baseUnit
    assert (stiffness.kg, stiffness.m, stiffness.s) == (1, 0, -2)
    (turns,) = [display for display in units["rad/s"].displayUnits if display.name == "rev/min"]
    assert float(turns.factor) == pytest.approx(9.549296585513721)


def test_units_beside_the_base_units_have_factors_and_offsets(system: Any) -> None:
    """Base units, as display units, have factor * value + offset of the unit's value."""
    known = {"bar": (1e5, 0), "kN": (1e3, 0), "degC": (1, 273.15), "mm": (1e-3, 0), "K": (1, 0)}
    shown = {"bar": ("Pa", 1e5, 0), "kN": ("N", 1e3, 0), "degC": ("K", 1, 273.15), "K": ("degC", 1, -273.15)}
    for name, expected in known.items():
        display, *conversion = shown.get(name, (None,))
        given = {"unit": name, "display_unit": display}
        variables = [dataclasses.replace(v, **given) if v.name == "spring.c" else v for v in system.variables]
        root = parsed(describe(system, variables))
        found = [root.find(f"UnitDefinitions/Unit[@name='{name}']/BaseUnit")]
        found += [root.find(f"UnitDefinitions/Unit[@name='{name}']/DisplayUnit[@name='{display}']")] if display else []
        for one, wanted in zip(found, (expected, conversion), strict=False):
            assert one is not None
            assert (float(one.get("factor", 1)), float(one.get("offset", 0))) == pytest.approx(wanted), name


def test_wrong_unit_names_the_variable(system: Any) -> None:
    wrong = [dataclasses.replace(v, unit="furlong") if v.name == "spring.c" else v for v in system.variables]
    with pytest.raises(ModelError, match=r'spring\.c.*"furlong"'):
        describe(system, wrong)


def test_model_structure(system: Any, tmp_path: pathlib.Path) -> None:
    description = read(describe(system), tmp_path)
    assert [u.variable.name for u in description.outputs] == ["flange.s", "energy", "count"]
    assert [u.variable.name for u in description.derivatives] == ["mass.v", "mass.a"]
    # mass.s is known exactly, and a constant output is no unknown.
    names = [u.variable.name for u in description.initialUnknowns]
    assert names == ["omega", "mass.v", "mass.a", "flange.s", "energy"]


def test_dependencies_are_exact_sorted_and_absent_where_unknown(system: Any, tmp_path: pathlib.Path) -> None:
    description = read(describe(system), tmp_path)
    flange, energy, count = description.outputs
    assert [v.name for v in flange.dependencies] == ["mass.s"]
    assert flange.dependenciesKind == ["constant"]
    assert energy.dependencies is None
    assert count.dependencies == []
    acceleration = description.derivatives[1]
    assert [v.name for v in acceleration.dependencies] == ["flange.f", "mass.s", "mass.v"]
    assert acceleration.dependenciesKind == ["fixed", "fixed", "fixed"]


def test_only_exposed_states_are_knowns_and_aliases_lead_to_them(system: Any, tmp_path: pathlib.Path) -> None:
    alias = dataclasses.replace(
        system.variables[-1],
        name="other",
        variability="continuous",
        type="Real",
        initial="calculated",
        start=None,
        store="x",
        index=1,
        dependencies=None,
    )
    output = dataclasses.replace(alias, name="out", store="y", index=0, dependencies=(("other", "dependent"),))
    whole = read(describe(system, (*system.variables, alias, output)), tmp_path)
    assert [v.name for v in whole.outputs[-1].dependencies] == ["mass.v"]
    without = [v for v in (*system.variables, alias, output) if v.name != "mass.a"]
    assert read(describe(system, without), tmp_path).outputs[-1].dependencies == []


#: Every legal combination of causality, variability and initial, and whether it has a start value: the tables of FMI
#: 2.0.4 on p. 48 and 49, written out.
TABLE = [
    ("parameter", "fixed", "exact", True),
    ("parameter", "tunable", "exact", True),
    ("calculatedParameter", "fixed", "calculated", False),
    ("calculatedParameter", "fixed", "approx", True),
    ("calculatedParameter", "tunable", "calculated", False),
    ("calculatedParameter", "tunable", "approx", True),
    ("input", "discrete", None, True),
    ("input", "continuous", None, True),
    ("output", "constant", "exact", True),
    ("output", "discrete", "calculated", False),
    ("output", "discrete", "exact", True),
    ("output", "discrete", "approx", True),
    ("output", "continuous", "calculated", False),
    ("output", "continuous", "exact", True),
    ("output", "continuous", "approx", True),
    ("local", "constant", "exact", True),
    ("local", "fixed", "calculated", False),
    ("local", "fixed", "approx", True),
    ("local", "tunable", "calculated", False),
    ("local", "tunable", "approx", True),
    ("local", "discrete", "calculated", False),
    ("local", "discrete", "exact", True),
    ("local", "discrete", "approx", True),
    ("local", "continuous", "calculated", False),
    ("local", "continuous", "exact", True),
    ("local", "continuous", "approx", True),
    ("independent", "continuous", None, False),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "causality", "variability", "initial", "start"),
    # Only Real variables are continuous.
    [("Real", *row) for row in TABLE] + [("Integer", *row) for row in TABLE if row[1] != "continuous"],
)
def test_start_and_initial_follow_the_tables_of_the_standard(
    system: Any, tmp_path: pathlib.Path, kind: Any, causality: Any, variability: Any, initial: Any, start: bool
) -> None:
    xml = describe(system, [ScalarVariable("v", "", kind, causality, variability, initial, 2, "x", 0)])
    description = read(xml, tmp_path)
    assert (description.modelVariables[0].start is not None) == start
    (found,) = attributes(xml, "ModelVariables/ScalarVariable")
    assert found.get("initial") == initial
    assert len(description.outputs) == (causality == "output")
    unknown = causality == "calculatedParameter" or (causality == "output" and initial in ("approx", "calculated"))
    assert len(description.initialUnknowns) == unknown


@pytest.mark.parametrize(
    ("duration", "step"),
    [(3.0, 0.005), (1.01, 0.002), (5.0, 0.01), (10.0, 0.02), (1e-3, 2e-6), (500.0, 1.0), (0.0, 0.01)],
)
def test_step_size_is_a_round_number_near_a_500th(duration: float, step: float) -> None:
    assert step_size(1.0, 1.0 + duration) == step


@pytest.mark.parametrize(
    ("name", "identifier"),
    [("Pendulum", "Pendulum"), ("a.b-c d", "a_b_c_d"), ("4bar", "_4bar"), ("", "model"), ("Ä", "_")],
)
def test_model_identifier_is_a_c_identifier(name: str, identifier: str) -> None:
    assert model_identifier(name) == identifier


@pytest.mark.parametrize("model_exchange", [False, True])
@pytest.mark.parametrize("drifting", [False, True])
@pytest.mark.parametrize("fmi", [2, 3])
def test_states_are_those_that_events_may_set_where_they_drift_and_are_exchanged(
    system: Any, monkeypatch: pytest.MonkeyPatch, fmi: int, drifting: bool, model_exchange: bool
) -> None:
    """In co-simulation nobody else integrates, and nobody sets what does not drift."""
    for module in (model_description_2, model_description_3):
        monkeypatch.setattr(module, "drifts", lambda equations: drifting)
    if fmi == 2:
        xml = describe(system, model_exchange=model_exchange)
    else:
        told = {"identifier": "m", "token": "{1}", "date": DATE, "model_exchange": model_exchange}
        xml = model_description_3.model_description_3(system.equations, arrange(system.variables), **told)
    states = {v.derivative_of for v in system.variables} - {None}
    found = {
        one.get("name") or one.getparent().get("name") for one in parsed(xml).iter() if one.get("reinit") == "true"
    }
    assert found == (states if drifting and model_exchange else set())


def test_co_simulation_of_fmi_3_offers_all_that_the_runtime_does(system: Any) -> None:
    told = {"identifier": "m", "token": "{1}", "date": DATE}
    xml = model_description_3.model_description_3(system.equations, arrange(system.variables), **told)
    (offered,) = attributes(xml, "CoSimulation")
    assert offered.pop("modelIdentifier") == "m"
    assert offered.pop("maxOutputDerivativeOrder") == "1"
    assert offered == dict.fromkeys(
        (
            "canGetAndSetFMUState",
            "canSerializeFMUState",
            "providesDirectionalDerivatives",
            "providesAdjointDerivatives",
            "canHandleVariableCommunicationStepSize",
            "providesIntermediateUpdate",
            "mightReturnEarlyFromDoStep",
            "canReturnEarlyAfterIntermediateUpdate",
            "hasEventMode",
        ),
        "true",
    )
