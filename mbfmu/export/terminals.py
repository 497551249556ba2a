"""Terminals: flanges and frames as connectors of several variables, in terminalsAndIcons/terminalsAndIcons.xml.

FMI 2.0.4, section 2.3 allows the folder in FMI 2.0; the format is that of FMI 3.0, section 2.4.9.
"""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from mbfmu.runtime.variables import ScalarVariable

#: Flow variables of Modelica's connectors: they add up to zero in a connection.
FLOWS = frozenset({"tau", "f", "t", "Q_flow"})

#: Kinds of terminals by a member that only they have, after the Modelica classes of these connectors.
KINDS = {
    "phi": "Modelica.Mechanics.Rotational.Interfaces.Flange",
    "s": "Modelica.Mechanics.Translational.Interfaces.Flange",
    "r_0": "Modelica.Mechanics.MultiBody.Interfaces.Frame",
    "T": "Modelica.Thermal.HeatTransfer.Interfaces.HeatPort",
}


def terminals_and_icons(variables: Sequence[ScalarVariable]) -> bytes | None:
    """Write terminalsAndIcons.xml; None where no variable belongs to a terminal."""
    members: dict[str, list[ScalarVariable]] = {}
    for variable in variables:
        if variable.terminal is not None:
            members.setdefault(variable.terminal[0], []).append(variable)
    if not members:
        return None
    root = etree.Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    parent = etree.SubElement(root, "Terminals")
    for name, group in members.items():
        # Members are matched by name, whatever their order and whether or not each has a partner.
        terminal = etree.SubElement(parent, "Terminal", name=name, matchingRule="bus")
        stems = {_stem(variable) for variable in group}
        kind = next((kind for member, kind in KINDS.items() if member in stems), None)
        if kind is not None:
            terminal.set("terminalKind", kind)
        for variable in group:
            flow = _stem(variable) in FLOWS
            etree.SubElement(
                terminal,
                "TerminalMemberVariable",
                variableName=variable.name,
                memberName=_member(variable),
                variableKind=_flow(variable) if flow else "signal",
            )
    etree.indent(root, " ")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _flow(variable: ScalarVariable) -> str:
    """Which way a flow counts: what is given flows in, what is told is exerted outwards."""
    return "outflow" if variable.causality == "output" else "inflow"


def _member(variable: ScalarVariable) -> str:
    return "" if variable.terminal is None else variable.terminal[1]


def _stem(variable: ScalarVariable) -> str:
    """Name of a member without its index: `r_0` of `r_0[1]`."""
    return _member(variable).partition("[")[0]
