"""Terminals: flanges and frames as connectors of several variables, in terminalsAndIcons/terminalsAndIcons.xml.

FMI 2.0.4, section 2.3 allows the folder in FMI 2.0; the format is that of FMI 3.0, section 2.4.9.
"""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from mbfmu.arrays import element_name
from mbfmu.runtime.variables import ScalarVariable, Terminal


def terminals_and_icons(variables: Sequence[ScalarVariable]) -> bytes | None:
    """Write terminalsAndIcons.xml; None where no variable belongs to a terminal."""
    terminals: dict[str, list[tuple[ScalarVariable, Terminal]]] = {}
    for variable in variables:
        if variable.terminal is not None:
            terminals.setdefault(variable.terminal.name, []).append((variable, variable.terminal))
    if not terminals:
        return None
    root = etree.Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    parent = etree.SubElement(root, "Terminals")
    for name, members in terminals.items():
        # Members are matched by name, whatever their order and whether or not each has a partner.
        element = etree.SubElement(parent, "Terminal", name=name, matchingRule="bus")
        kind = members[0][1].kind
        if kind:
            element.set("terminalKind", f"Modelica.{kind}")
        for variable, terminal in members:
            etree.SubElement(
                element,
                "TerminalMemberVariable",
                variableName=variable.name,
                memberName=element_name(terminal.member, variable.element.indices)
                if variable.element
                else terminal.member,
                variableKind=_flow(variable) if terminal.flow else "signal",
            )
    etree.indent(root, " ")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _flow(variable: ScalarVariable) -> str:
    """Which way a flow counts: what is given flows in, what is told is exerted outwards."""
    return "outflow" if variable.causality == "output" else "inflow"
