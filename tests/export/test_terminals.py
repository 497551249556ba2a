from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import fmpy
import pytest
from lxml import etree

from mbfmu.arrays import Array, Element
from mbfmu.dynamics.reading.inputs import terminal
from mbfmu.export.terminals import terminals_and_icons
from mbfmu.modeling import Frame, HeatPort, Pin, RotationalFlange, TranslationalFlange
from mbfmu.modeling.connectors import Port
from mbfmu.runtime.variables import Terminal


def write(variables: Any) -> etree._Element:
    """Terminals of some variables, checked against the schema that FMPy ships."""
    xml = terminals_and_icons(variables)
    assert xml is not None
    root = etree.fromstring(xml)
    schema = pathlib.Path(fmpy.__file__).parent / "schema/fmi3/fmi3TerminalsAndIcons.xsd"
    etree.XMLSchema(file=str(schema)).assertValid(root)
    return root


def test_a_flange_is_a_terminal(system: Any) -> None:
    (element,) = write(system.variables).findall("Terminals/Terminal")
    assert element.get("name") == "flange"
    assert element.get("terminalKind") == "Modelica.Mechanics.Translational.Interfaces.Flange"
    assert [dict(member.attrib) for member in element] == [
        {"variableName": "flange.f", "memberName": "f", "variableKind": "inflow"},
        {"variableName": "flange.s", "memberName": "s", "variableKind": "signal"},
    ]


@pytest.mark.parametrize(
    ("port", "kind"),
    [
        (Frame, "Mechanics.MultiBody.Interfaces.Frame"),
        (RotationalFlange, "Mechanics.Rotational.Interfaces.Flange"),
        (TranslationalFlange, "Mechanics.Translational.Interfaces.Flange"),
        (HeatPort, "Thermal.HeatTransfer.Interfaces.HeatPort"),
        (Pin, "Electrical.Analog.Interfaces.Pin"),
    ],
)
def test_kinds_and_flows_are_those_of_the_connector(system: Any, port: type[Port], kind: str) -> None:
    own = port()
    own.name = "own"
    flow = own.flows[0].name
    members = [(own.potentials[0].name, None), (flow, Element(Array(f"own.{flow}", (2,)), (1,)))]
    found = [
        dataclasses.replace(
            system.variables[-2], name=e.name if e else f"own.{m}", element=e, terminal=terminal(own, m)
        )
        for m, e in members
    ]
    (element,) = write(found).findall("Terminals/Terminal")
    assert [member.get("memberName") for member in element] == [members[0][0], f"{flow}[1]"]
    assert element.get("terminalKind") == f"Modelica.{kind}"
    assert [member.get("variableKind") for member in element] == ["signal", "outflow"]


def test_unknown_connectors_have_no_kind(system: Any) -> None:
    signal = dataclasses.replace(system.variables[-2], terminal=Terminal("port", "x"))
    (element,) = write([signal]).findall("Terminals/Terminal")
    assert element.get("terminalKind") is None


def test_without_connectors_there_is_no_file(system: Any) -> None:
    assert terminals_and_icons([v for v in system.variables if v.terminal is None]) is None
