"""Rules for modelDescription.xml that hold without an archive; tests/test_validation.py breaks the others in FMUs."""

from __future__ import annotations

import pytest
from lxml import etree

from mbfmu.fmi.rules_3 import problems_of


@pytest.mark.parametrize(
    ("known", "right"),
    [
        ('<Float64 name="k" valueReference="3" causality="parameter" variability="fixed" start="1"/>', True),
        ('<Int32 name="k" valueReference="3"/>', True),
        ('<Float64 name="k" valueReference="3" variability="discrete"/>', True),
        ('<Clock name="k" valueReference="3" causality="input" intervalVariability="triggered"/>', True),
        ('<Float64 name="k" valueReference="3"/>', False),
    ],
)
def test_what_outputs_of_fmi_3_may_depend_on(known: str, right: bool) -> None:
    """FMI 3.0.2, section 2.4.8: inputs, continuous and discrete states, parameters, time; clocks (their note)."""
    root = etree.fromstring(
        '<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="1"><ModelVariables>'
        '<Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>'
        f'<Float64 name="y" valueReference="1" causality="output"/>{known}</ModelVariables>'
        '<ModelStructure><Output valueReference="1" dependencies="3"/></ModelStructure></fmiModelDescription>'
    )
    assert any("not one of its knowns" in problem for problem in problems_of(root)) is not right
