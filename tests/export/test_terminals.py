from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import fmpy
from lxml import etree

from mbfmu.export.terminals import terminals_and_icons


def write(variables: Any) -> etree._Element:
    """Terminals of some variables, checked against the schema that FMPy ships."""
    xml = terminals_and_icons(variables)
    assert xml is not None
    root = etree.fromstring(xml)
    schema = pathlib.Path(fmpy.__file__).parent / "schema/fmi3/fmi3TerminalsAndIcons.xsd"
    etree.XMLSchema(file=str(schema)).assertValid(root)
    return root


def test_a_flange_is_a_terminal(system: Any) -> None:
    (terminal,) = write(system.variables).findall("Terminals/Terminal")
    assert terminal.get("name") == "flange"
    assert terminal.get("terminalKind") == "Modelica.Mechanics.Translational.Interfaces.Flange"
    assert [dict(member.attrib) for member in terminal] == [
        {"variableName": "flange.f", "memberName": "f", "variableKind": "inflow"},
        {"variableName": "flange.s", "memberName": "s", "variableKind": "signal"},
    ]


def test_a_frame_is_known_by_its_members(system: Any) -> None:
    position, force = (
        dataclasses.replace(system.variables[-2], name=f"frame.{name}[1]", terminal=("frame", f"{name}[1]"))
        for name in ("r_0", "t")
    )
    (terminal,) = write([position, force]).findall("Terminals/Terminal")
    assert terminal.get("terminalKind") == "Modelica.Mechanics.MultiBody.Interfaces.Frame"
    assert [member.get("variableKind") for member in terminal] == ["signal", "outflow"]


def test_unknown_connectors_have_no_kind(system: Any) -> None:
    signal = dataclasses.replace(system.variables[-2], terminal=("port", "x"))
    (terminal,) = write([signal]).findall("Terminals/Terminal")
    assert terminal.get("terminalKind") is None


def test_without_connectors_there_is_no_file(system: Any) -> None:
    assert terminals_and_icons([v for v in system.variables if v.terminal is None]) is None
