"""What packages hold, part by part: values in units, mappings, annotations, connections; FMUs that are descriptions."""

from __future__ import annotations

import io
import math
import pathlib
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest
from lxml import etree

from mbfmu.cosimulation import SystemStructure, open_package
from mbfmu.cosimulation.package import Package
from mbfmu.cosimulation.ssp import write_ssp
from mbfmu.errors import ModelError, ValidationError

#: One minute is 60 s, and a degree Fahrenheit 5/9 K from 459.67 degrees below zero on.
PLANT = """<?xml version="1.0" encoding="UTF-8"?>
<!-- written by hand --><fmiModelDescription fmiVersion="2.0" modelName="Plant" guid="{0}">
 <CoSimulation modelIdentifier="Plant"/>
 <UnitDefinitions>
  <Unit name="rpm"><!-- as on dials --><BaseUnit s="-1" rad="1" factor="0.10471975511965977"/></Unit>
  <Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>
 </UnitDefinitions>
 <ModelVariables>
  <ScalarVariable name="w" valueReference="0" causality="parameter" variability="fixed"><Real unit="rpm" start="0"/>
  </ScalarVariable>
  <ScalarVariable name="T" valueReference="1" causality="parameter" variability="fixed"><Real unit="degC" start="0"/>
  </ScalarVariable>
  <ScalarVariable name="x" valueReference="2" causality="parameter" variability="fixed"><Real start="0"/>
  </ScalarVariable>
  <ScalarVariable name="p" valueReference="3" causality="parameter" variability="fixed"><Real unit="bar" start="0"/>
  </ScalarVariable>
  <ScalarVariable name="n" valueReference="0" causality="parameter" variability="fixed"><Integer start="0"/>
  </ScalarVariable>
  <ScalarVariable name="on" valueReference="0" causality="parameter" variability="fixed"><Boolean start="false"/>
  </ScalarVariable>
  <ScalarVariable name="text" valueReference="0" causality="parameter" variability="fixed"><String start=""/>
  </ScalarVariable>
  <ScalarVariable name="u" valueReference="4" causality="input"><Real start="0"/></ScalarVariable>
  <ScalarVariable name="y" valueReference="5" causality="output"><Real/></ScalarVariable>
 </ModelVariables>
 <ModelStructure><Outputs><Unknown index="9"/></Outputs></ModelStructure>
</fmiModelDescription>
"""
ROW = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Row" instantiationToken="{0}">
 <CoSimulation modelIdentifier="Row"/>
 <UnitDefinitions><Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit></UnitDefinitions>
 <ModelVariables>
  <Float64 name="T" valueReference="1" causality="parameter" variability="fixed" unit="degC" start="0 0 0">
   <Dimension start="3"/></Float64>
  <Int32 name="n" valueReference="2" causality="parameter" variability="fixed" start="0 0"><Dimension start="2"/>
  </Int32>
  <Float64 name="y" valueReference="3" causality="output"/>
 </ModelVariables>
 <ModelStructure><Output valueReference="3"/></ModelStructure>
</fmiModelDescription>
"""
SSD = """<ssd:SystemStructureDescription version="1.0" name="Made"
 xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
 xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
 xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
 xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping">
 {body}
 <ssd:Units>
  <ssc:Unit name="rad/s"><ssc:BaseUnit rad="1" s="-1"/></ssc:Unit>
  <ssc:Unit name="K"><ssc:BaseUnit K="1"/></ssc:Unit>
  <ssc:Unit name="degF"><ssc:BaseUnit K="1" factor="0.5555555555555556" offset="255.3722222222222"/></ssc:Unit>
  <ssc:Unit name="odd"><ssc:BaseUnit K="one"/></ssc:Unit>
  <ssc:Unit name="void"><ssc:BaseUnit K="1" factor="much"/></ssc:Unit>
  <ssc:Unit name="bare"/>
  {units}
 </ssd:Units>
</ssd:SystemStructureDescription>
"""
CONNECTORS = """<ssd:Connectors><ssd:Connector name="u" kind="input"/><ssd:Connector name="y" kind="output"/>
 <ssd:Connector name="x" kind="parameter"/></ssd:Connectors>"""


def component(name: str, more: str = "", file: str = "resources/plant.fmu", attributes: str = "") -> str:
    return f'<ssd:Component name="{name}" source="{file}" {attributes}>{CONNECTORS}{more}</ssd:Component>'


def system(elements: str, connections: str = "", more: str = "") -> str:
    return (
        f'<ssd:System name="root">{more}<ssd:Elements>{elements}</ssd:Elements>'
        f"<ssd:Connections>{connections}</ssd:Connections></ssd:System>"
    )


def wire(start: str, end: str, change: str = "") -> str:
    """A connection between `element.connector`, or `connector` of the system."""
    ends = []
    for side, place in (("start", start), ("end", end)):
        element, _, connector = place.rpartition(".")
        ends.append((f'{side}Element="{element}" ' if element else "") + f'{side}Connector="{connector}"')
    return f"<ssd:Connection {' '.join(ends)}>{change}</ssd:Connection>"


def bound(parameters: str, mapping: str = "", units: str = "", attributes: str = "") -> str:
    """Parameters that are given inline."""
    mapped = f"<ssd:ParameterMapping><ssm:ParameterMapping version='1.0'>{mapping}</ssm:ParameterMapping>"
    return (
        f"<ssd:ParameterBindings><ssd:ParameterBinding {attributes}><ssd:ParameterValues>"
        f'<ssv:ParameterSet version="1.0" name="set"><ssv:Parameters>{parameters}</ssv:Parameters>'
        f"<ssv:Units>{units}</ssv:Units></ssv:ParameterSet></ssd:ParameterValues>"
        f"{mapped + '</ssd:ParameterMapping>' if mapping else ''}</ssd:ParameterBinding></ssd:ParameterBindings>"
    )


def real(name: str, value: str, unit: str = "") -> str:
    return f'<ssv:Parameter name="{name}"><ssv:Real value="{value}" unit="{unit}"/></ssv:Parameter>'.replace(
        ' unit=""', ""
    )


def opened(
    folder: pathlib.Path, body: str, files: Mapping[str, str] | None = None, units: str = "", experiment: str = ""
) -> Package:
    """Read a package with this content, and files beside its two FMUs."""
    with zipfile.ZipFile(folder / "made.ssp", "w") as archive:
        archive.writestr("SystemStructure.ssd", SSD.format(body=body + experiment, units=units))
        for name, text in (("plant", PLANT), ("row", ROW)):
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w") as fmu:
                fmu.writestr("modelDescription.xml", text)
            archive.writestr(f"resources/{name}.fmu", made.getvalue())
        for name, text in (files or {}).items():
            archive.writestr(name, text)
    with open_package(folder / "made.ssp") as package:
        return package


# -- values


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        (real("w", str(2 * math.pi), "rad/s"), {"w": pytest.approx(60.0, rel=1e-14)}),
        (real("w", "60", "rpm"), {"w": 60.0}),
        (real("w", "60"), {"w": 60.0}),
        (real("T", "300", "K"), {"T": pytest.approx(26.85, rel=1e-12)}),
        (real("T", "212", "degF"), {"T": pytest.approx(100.0, rel=1e-12)}),
        (real("x", "3", "rad/s"), {"x": 3.0}),
        ('<ssv:Parameter name="n"><ssv:Integer value="7"/></ssv:Parameter>', {"n": 7}),
        ('<ssv:Parameter name="on"><ssv:Boolean value="true"/></ssv:Parameter>', {"on": True}),
        ('<ssv:Parameter name="on"><ssv:Boolean value=" 1 "/></ssv:Parameter>', {"on": True}),
        ('<ssv:Parameter name="on"><ssv:Boolean value="false"/></ssv:Parameter>', {"on": False}),
        ('<ssv:Parameter name="on"><ssv:Boolean value="true 0"/></ssv:Parameter>', {"on": [True, False]}),
        ('<ssv:Parameter name="text"><ssv:String value="a b"/></ssv:Parameter>', {"text": "a b"}),
        ('<ssv:Parameter name="x"><!-- measured --><ssv:Real value="2"/></ssv:Parameter>', {"x": 2.0}),
        ('<ssv:Parameter name="x"><ssv:Real/></ssv:Parameter>', {}),
    ],
    ids=[
        "rad/s", "own unit", "no unit", "K", "degF", "variable without", "integer", "true", "1", "false", "two", "text",
        "comment", "no value",
    ],
)  # fmt: skip
def test_values_are_read_in_the_units_of_their_variables(
    parameter: str, expected: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    package = opened(tmp_path, system(component("plant", bound(parameter))))
    found = package.start_values
    assert found == {f"plant.{name}": value for name, value in expected.items()}
    assert list(package.notes) == ([] if expected else ["the parameter x of a set has no value that is read"])


def test_a_unit_of_the_set_counts_more_than_one_of_the_structure(tmp_path: pathlib.Path) -> None:
    """Another K: twice as large, from 100 K on."""
    units = '<ssc:Unit name="K"><ssc:BaseUnit K="1" factor="2" offset="100"/></ssc:Unit>'
    package = opened(tmp_path, system(component("plant", bound(real("T", "120", "K"), units=units))))
    assert package.start_values == {"plant.T": pytest.approx(2 * 120 + 100 - 273.15, rel=1e-12)}


def test_arrays_are_read_in_units_and_mapped_element_by_element(tmp_path: pathlib.Path) -> None:
    """270, 280 and 290 K are -3.15, 6.85 and 16.85 degrees Celsius; 2 t + 3 K is made of them in a mapping."""
    given = real("T", "270 280 290", "K") + '<ssv:Parameter name="n"><ssv:Integer value="3 4"/></ssv:Parameter>'
    row = component("row", "{more}", "resources/row.fmu")
    package = opened(tmp_path, system(row.replace("{more}", bound(given))))
    assert package.start_values == {"row.T": pytest.approx([-3.15, 6.85, 16.85], rel=1e-9), "row.n": [3, 4]}
    change = '<ssc:LinearTransformation factor="2" offset="3"/>'
    mapping = f'<ssm:MappingEntry source="T" target="T">{change}</ssm:MappingEntry>'
    package = opened(tmp_path, system(row.replace("{more}", bound(given, mapping))))
    assert package.start_values == {"row.T": pytest.approx([269.85, 289.85, 309.85], rel=1e-9)}
    elements = '<ssv:Parameter name="n"><ssv:Integer value="3"/><ssv:Integer value="4"/></ssv:Parameter>'
    package = opened(tmp_path, system(row.replace("{more}", bound(elements))))
    assert package.start_values == {"row.n": [3, 4]}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ('<ssm:MappingEntry source="t" target="T"/>', {"T": pytest.approx(26.85, rel=1e-12)}),
        ('<ssm:MappingEntry source="t" target="T" suppressUnitConversion="true"/>', {"T": 300.0}),
        ('<ssm:MappingEntry source="t" target="T" suppressUnitConversion="1"/>', {"T": 300.0}),
        ('<ssm:MappingEntry source="other" target="T"/><ssm:MappingEntry source="t" target="x"/>', {"x": 300.0}),
        (
            '<ssm:MappingEntry source="t" target="x"><!-- half --><ssc:LinearTransformation factor="0.5" offset="1"/>'
            "</ssm:MappingEntry>",
            {"x": 151.0},
        ),
        ('<ssm:MappingEntry source="t" target="x"><ssc:LinearTransformation/></ssm:MappingEntry>', {"x": 300.0}),
    ],
    ids=["unit", "suppressed", "suppressed 1", "source that is not given", "line", "neutral line"],
)
def test_mappings_say_which_variable_takes_a_parameter(
    entry: str, expected: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    package = opened(tmp_path, system(component("plant", bound(real("t", "300", "K"), entry))))
    assert package.start_values == {f"plant.{name}": value for name, value in expected.items()}


def test_parameters_of_a_system_reach_its_elements_by_path_prefix_and_connector(tmp_path: pathlib.Path) -> None:
    connectors = '<ssd:Connectors><ssd:Connector name="size" kind="parameter"/></ssd:Connectors>'
    given = bound(real("size", "5") + real("one.n", "2")) + bound(real("w", "3"), attributes='prefix="two."')
    given = given.replace("</ssd:ParameterBindings><ssd:ParameterBindings>", "")
    package = opened(tmp_path, system(component("one") + component("two"), wire("size", "two.x"), connectors + given))
    assert package.start_values == {"two.x": 5.0, "one.n": 2.0, "two.w": 3.0}


def test_bindings_of_other_types_are_left_out_and_noted(tmp_path: pathlib.Path) -> None:
    package = opened(tmp_path, system(component("plant", bound(real("x", "1"), attributes='type="text/x-settings"'))))
    assert package.start_values == {}
    assert package.notes == ("a parameter binding of type text/x-settings is left out",)


# -- structure


@pytest.mark.parametrize(
    ("connector", "words"),
    [
        ("z", r"a\.z: a has no such variable; known"),
        ("wx", r"a\.wx: a has no such variable; did you mean x or w"),
        ("w", r"a\.w and b\.u: a\.w is no output, but parameter"),
        ("u", r"a\.u and b\.u: a\.u is no output, but input"),
    ],
)
def test_connectors_have_to_be_what_the_fmu_has(connector: str, words: str, tmp_path: pathlib.Path) -> None:
    other = component("a").replace('name="u" kind="input"', "").replace('name="y"', f'name="{connector}"')
    with pytest.raises(ModelError, match=words):
        opened(tmp_path, system(other + component("b"), wire(f"a.{connector}", "b.u")))


def test_units_are_written_as_fmus_define_them(tmp_path: pathlib.Path) -> None:
    """Neutral factors and offsets are left out; of a unit that no FMU defines there is a name only."""
    plant = PLANT.replace('causality="input"><Real', 'causality="input"><Real unit="rpm"')
    outputs = '<ScalarVariable name="T2" valueReference="6" causality="output"><Real unit="degC"/></ScalarVariable>'
    plant = plant.replace('causality="output"><Real/>', 'causality="output"><Real unit="bar"/>')
    plant = plant.replace("</ModelVariables>", outputs + "</ModelVariables>")
    with zipfile.ZipFile(tmp_path / "plant.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", plant)
    structure = SystemStructure.of({"plant": tmp_path / "plant.fmu"}, [])
    write_ssp(structure, tmp_path / "units.ssp")
    with zipfile.ZipFile(tmp_path / "units.ssp") as archive:
        root = etree.fromstring(archive.read("SystemStructure.ssd"))
    units = {unit.get("name"): dict(unit[0].attrib) for unit in root.iterfind("{*}Units/{*}Unit")}
    assert units == {
        "bar": {},
        "degC": {"K": "1", "offset": "273.15"},
        "rpm": {"s": "-1", "rad": "1", "factor": "0.10471975511965977"},
    }


def test_elements_get_names_of_letters_each_once(tmp_path: pathlib.Path) -> None:
    names = ["left wheel", "left-wheel", "left_wheel", "2nd"]
    package = opened(tmp_path, system("".join(map(component, names))))
    assert list(package.structure.files) == ["left_wheel", "left_wheel_2", "left_wheel_3", "_2nd"]


def test_lines_and_comments_of_connections_are_followed(tmp_path: pathlib.Path) -> None:
    change = '<!-- a lever --><?tool x?><ssc:LinearTransformation factor="2" offset="3"/>'
    package = opened(tmp_path, system(component("a") + component("b"), wire("b.u", "a.y", change)))
    (connection,) = package.structure.connections
    assert (connection.start, connection.end) == ("a.y", "b.u")
    assert (connection.factor, connection.offset) == (2.0, 3.0)


EXPERIMENT = (
    '<ssd:DefaultExperiment><ssd:Annotations><ssc:Annotation type="com.opensimulationplatform">'
    '<osp:A xmlns:osp="x"><osp:FixedStepAlgorithm baseStepSize="{}"/></osp:A>'
    "</ssc:Annotation></ssd:Annotations></ssd:DefaultExperiment>"
)
CHANGED = "<ssc:BooleanMappingTransformation/>"
PAIR = component("a") + component("b")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", r"SystemStructure\.ssd has no System"),
        (system(component("a")) + EXPERIMENT.format("0"), "baseStepSize of FixedStepAlgorithm = 0 is no length of a"),
        (system(component("a")) + EXPERIMENT.format("-1"), "baseStepSize of FixedStepAlgorithm = -1 is no length"),
        (system(component("a")) + EXPERIMENT.format("INF"), "baseStepSize of FixedStepAlgorithm = inf is no length"),
        (system(component("a")) + EXPERIMENT.format("x"), "baseStepSize of FixedStepAlgorithm = 'x' is no number"),
        (
            system('<ssd:SignalDictionaryReference name="bus" dictionary="signal"/>' + PAIR),
            "there is no signal dictionary 'signal' for the system",
        ),
        (
            system(
                f'<ssd:System name="in"><ssd:Elements><ssd:SignalDictionaryReference name="bus" dictionary="s"/>{PAIR}'
                "</ssd:Elements></ssd:System>"
            ),
            "there is no signal dictionary 's' for in",
        ),
        (system(component("a", attributes='implementation="ModelExchange"')), "a is for model exchange; .*co-"),
        (system(component("a", file="https://a.org/a.fmu")), "FMU of a is at https://a.org/a.fmu, outside.*pack it in"),
        (system(component("a", file="//a.org/a.fmu")), "the FMU of a is at //a.org/a.fmu, outside .*pack it in"),
        (system(component("a", file="../../a.fmu")), r"the FMU of a is at \.\./\.\./a.fmu, outside of the package"),
        (system(component("a", file="resources/b.fmu")), "FMU of a is missing: there is no resources/b.fmu in the pa"),
        (system(PAIR, wire("a.y", "c.u")), "a connection goes to c, which is no element"),
        (system(PAIR, wire("a.y", "b.y")), "a connection joins a.y and b.y, which are both sources of values"),
        (system(PAIR, wire("a.u", "b.u")), "a connection joins a.u and b.u, which are both sinks of values"),
        (system(PAIR, wire("a.y", "b.u", CHANGED)), "a.y and b.u has a BooleanMappingTransformation.*put a block betw"),
        (
            system(PAIR, wire("a.y", "b.u", '<ssc:LinearTransformation factor="two"/>')),
            "factor of a.y and b.u = 'two' is no number",
        ),
        (
            system(PAIR, wire("a.y", "b.u", '<ssc:LinearTransformation offset="two"/>')),
            "offset of a.y and b.u = 'two' is no number",
        ),
        (system(PAIR, wire("a.y", "b.u") + wire("b.y", "b.u")), "b.u follows 2 connections; one is possible"),
        (
            system(
                '<ssd:SignalDictionaryReference name="p" dictionary="s"/>' + PAIR,
                wire("p.one", "p.one"),
                '<ssd:SignalDictionaries><ssd:SignalDictionary name="s"/></ssd:SignalDictionaries>',
            ).replace("<ssd:Connections>", "<ssd:Connections>" + wire("p.one", "a.u")),
            r"dictionary s\.one follows itself through connectors alone",
        ),
        (
            system(
                PAIR,
                wire("push", "a.u", '<ssc:LinearTransformation factor="2"/>'),
                '<ssd:Connectors><ssd:Connector name="push" kind="input"/></ssd:Connectors>',
            ),
            "the input push of the system is transformed on its way to a.u, .*put a block between",
        ),
    ],
)
def test_structures_that_cannot_be_run_are_refused_by_name(body: str, words: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValidationError, match=rf"made\.ssp: .*{words}"):
        opened(tmp_path, body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (system(component("a", bound(real("p", "1", "Pa")))), "a.p is given in Pa, and is in bar; one of these is not"),
        (system(component("a", bound(real("p", "1", "K")))), "a.p is given in K, and is in bar; one of these is not"),
        (system(component("a", bound(real("T", "1", "Ra")))), "a.T is given in Ra, and is in degC; one of these"),
        (system(component("a", bound(real("T", "1", "bare")))), "a.T is given in bare, and is in degC; one of these"),
        (system(component("a", bound(real("T", "1", "rad/s")))), "a.T is given in rad/s, and is in degC; .*differ"),
        (system(component("a", bound(real("T", "1", "odd")))), "K of the unit odd = 'one' is no integer"),
        (system(component("a", bound(real("T", "1", "void")))), "factor of the unit void = 'much' is no number"),
        (
            system(component("a", bound('<ssv:Parameter name="n"><ssv:Integer value="1.5"/></ssv:Parameter>'))),
            "the parameter n = '1.5' is no integer",
        ),
        (
            system(component("a", bound('<ssv:Parameter name="n"><ssv:Integer value="INF"/></ssv:Parameter>'))),
            "the parameter n = 'INF' is no integer",
        ),
        (
            system(
                component(
                    "a",
                    bound(real("t", "1"), f'<ssm:MappingEntry source="t" target="x">{CHANGED}</ssm:MappingEntry>'),
                )
            ),
            "the mapping of t to x has a BooleanMappingTransformation, which is not followed",
        ),
        (
            system(
                component(
                    "a",
                    bound(
                        '<ssv:Parameter name="t"><ssv:String value="1"/></ssv:Parameter>',
                        '<ssm:MappingEntry source="t" target="text"><ssc:LinearTransformation/></ssm:MappingEntry>',
                    ),
                )
            ),
            "'1' is no number for the LinearTransformation of t to text",
        ),
        (
            system(component("a", "<ssd:ParameterBindings><ssd:ParameterBinding/></ssd:ParameterBindings>")),
            "a ParameterBinding has neither a source nor a ParameterSet",
        ),
        (
            system(
                component(
                    "a",
                    bound(real("x", "1")).replace(
                        "</ssd:ParameterValues>", "</ssd:ParameterValues><ssd:ParameterMapping/>"
                    ),
                )
            ),
            "a ParameterMapping has neither a source nor a ParameterMapping",
        ),
        (
            system(
                component(
                    "a",
                    '<ssd:ParameterBindings><ssd:ParameterBinding source="resources/bad.ssv"/></ssd:ParameterBindings>',
                )
            ),
            "resources/bad.ssv is not XML",
        ),
        (
            system(
                component("a", '<ssd:ParameterBindings><ssd:ParameterBinding source="no.ssv"/></ssd:ParameterBindings>')
            ),
            r"the ParameterSet is missing: there is no no\.ssv in the package",
        ),
    ],
)
def test_values_that_cannot_be_given_are_refused_by_name(body: str, words: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValidationError, match=rf"made\.ssp: .*{words}"):
        opened(tmp_path, body, {"resources/bad.ssv": "<broken"})
