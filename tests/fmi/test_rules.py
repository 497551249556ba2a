"""Rules for modelDescription.xml that hold without an archive; tests/test_validation.py breaks the others in FMUs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from lxml import etree

from mbfmu.fmi.description import _unusable
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


#: A correct description, written by hand after FMI 3.0.2; the tests break it in one place each.
DESCRIPTION = """<fmiModelDescription fmiVersion="3.0" modelName="Mass" instantiationToken="{42}"
    variableNamingConvention="structured"><TypeDefinitions><Float64Type name="Width" min="2"/>
  <Float64Type name="Depth" max="0"/><Float64Type name="Length" unit="m" min="-5" max="5"/></TypeDefinitions>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent"/><Boolean name="b" valueReference="10"/>
    <UInt64 name="n" valueReference="1" causality="structuralParameter" variability="fixed" start="2"/>
    <Float64 name="m" valueReference="2" causality="parameter" variability="fixed" unit="kg" min="0" start="2"/>
    <Float64 name="f" valueReference="3" causality="input" start="0 0"><Dimension valueReference="1"/></Float64>
    <Float64 name="s" valueReference="4" declaredType="Length" initial="exact" start="1">
      <Alias name="o.s"/><Dimension start="2"/></Float64>
    <Float64 name="v" valueReference="5" derivative="4"><Dimension start="2"/></Float64>
    <Float64 name="der(v)" valueReference="6" derivative="5"><Dimension start="2"/></Float64>
    <Float64 name="y" valueReference="7" causality="output"/>
    <Int32 name="i" valueReference="8" causality="output" min="0" max="4" start="4"/>
    <Float64 name="w" valueReference="9"/>
    <Float64 name="k" valueReference="11" initial="exact" start="1"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="7" dependencies="4 3" dependenciesKind="dependent fixed"/>
    <ContinuousStateDerivative valueReference="5" dependencies="5"/>
    <ContinuousStateDerivative valueReference="6" dependencies="4 2"/>
    <InitialUnknown valueReference="7" dependencies="4 3 11"/>
    <EventIndicator valueReference="9"/>
  </ModelStructure>
</fmiModelDescription>
"""


def test_a_correct_description_of_fmi_3_has_no_problems() -> None:
    assert list(problems_of(etree.fromstring(DESCRIPTION))) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('name="v"', 'name="s"', 'The name "s" is given 2 times'),
        ('Alias name="o.s"', 'Alias name="m"', 'The name "m" is given 2 times'),
        ('name="v"', 'name="2v"', '"2v" is not legal under the convention structured'),
        ('valueReference="3" causality', 'valueReference="2" causality', "reference 2 is given to 2 variables"),
        ('derivative="5"', 'derivative="50"', '"der(v)" (line 12): derivative refers to 50, which no variable has'),
        ('Dimension valueReference="1"', 'Dimension valueReference="12"', '"f" (line 8): Dimension refers to 12'),
        (
            'dependencies="5"',
            'dependencies="5 60"',
            "ModelStructure/ContinuousStateDerivative (line 20): no variable has 60",
        ),
        (
            'EventIndicator valueReference="9"',
            'EventIndicator valueReference="90"',
            "EventIndicator (line 23): no variable",
        ),
        (' causality="independent"', "", "There are 0 independent variables"),
        (
            '"w" valueReference="9"',
            '"w" valueReference="9" causality="independent"',
            "There are 2 independent variables",
        ),
        ('<Float64 name="time"', '<Int32 name="time"', "the independent variable must be a floating-point number"),
        ('causality="input"', 'causality="input" initial="approx"', '"f" (line 8): initial=approx is not for inputs'),
        ('independent"', 'independent" initial="calculated"', '"time" (line 5): initial=calculated is not for inputs'),
        ('"w" valueReference="9"', '"w" valueReference="9" displayUnit="mm"', "has a displayUnit, but no unit"),
        ('"w" valueReference="9"', '"w" valueReference="9" nominal="0"', "nominal=0 is not positive"),
        ('min="0" start="2"', 'min="3" max="1" start="2"', "min=3 is above max=1"),
        ('max="5"', 'max="-6"', '"s" (line 9): min=-5 is above max=-6'),
        ('start="0 0"', 'start="0 0 0"', '"f" (line 8): has 3 start values, and 2 elements'),
        ('exact" start="1"', 'exact" start="1 2 3"', '"s" (line 9): has 3 start values, and 2 elements'),
        ('exact" start="1"', 'exact" start="1 6"', "start=6 is not between min and max, -5 and 5"),
        ('start="4"', 'start="5"', "start=5 is not between min and max, 0 and 4"),
        ('min="0" start="2"', 'min="0" start="-1"', "start=-1 is not between min and max, 0 and inf"),
        ('derivative="5"', 'derivative="6"', '"der(v)" (line 12): is declared as the derivative of itself'),
        ('derivative="4"', 'derivative="8"', '"i" (line 14): derivatives and their variables must be continuous'),
        (
            'derivative="5"',
            'derivative="5" variability="discrete"',
            '"der(v)" (line 12): derivatives and their variables',
        ),
        ('"i" valueReference="8"', '"i" valueReference="8" derivative="7"', '"i" (line 14): derivatives and their'),
        ('derivative="5"><Dimension start="2"', 'derivative="5"><Dimension start="3"', 'has another size than "v"'),
        ('<InitialUnknown valueReference="7"', '<Output valueReference="7"', 'Output: "y" is listed 2 times'),
        (
            'Derivative valueReference="6"',
            'Derivative valueReference="9"',
            "an entry is not the derivative of a variable",
        ),
        ('"w" valueReference="9"', '"w" valueReference="9" derivative="7"', None),
        (
            'EventIndicator valueReference="9"',
            'EventIndicator valueReference="9" dependencies="4 3" dependenciesKind="fixed"',
            "EventIndicator, line 23: dependencies and dependenciesKind have different lengths",
        ),
        (
            '"w" valueReference="9"',
            '"w" valueReference="9" variability="discrete"',
            "event indicators must be continuous",
        ),
        (
            'Unknown valueReference="7" dependencies="4 3 11"',
            'Unknown valueReference="7" dependencies="4 9"',
            'InitialUnknown, line 22: depends on "w", which is not one of its knowns',
        ),
        (
            'dependencies="4 2"',
            'dependencies="4 7"',
            'Derivative, line 21: depends on "y", which is not one of its knowns',
        ),
        ('dependencies="4 2"', 'dependencies="4 11"', 'line 21: depends on "k", which is not one of its knowns'),
        ('dependencies="4 2"', 'dependencies="4 0"', None),
        ('dependencies="4 2"', 'dependencies="4 10"', None),
    ],
)
def test_each_broken_rule_of_fmi_3_is_told(old: str, new: str, problem: str | None) -> None:
    """As tests/test_validation.py has it of FMI 2.0; None: what is no breach of one."""
    assert DESCRIPTION.count(old) >= 1
    problems = list(problems_of(etree.fromstring(DESCRIPTION.replace(old, new, 1))))
    assert any(problem in text for text in problems) if problem else not problems, problems


def test_two_derivatives_of_one_state_of_fmi_3_are_told() -> None:
    text = DESCRIPTION.replace('"w" valueReference="9"', '"w" valueReference="9" derivative="4"')
    text = text.replace(
        'name="w" valueReference="9" derivative="4"/>',
        'name="w" valueReference="9" derivative="4"><Dimension start="2"/></Float64>',
    )
    text = text.replace('<EventIndicator valueReference="9"/>', '<ContinuousStateDerivative valueReference="9"/>')
    assert list(problems_of(etree.fromstring(text))) == [
        'ModelStructure/ContinuousStateDerivative: 2 entries are derivatives of "s".'
    ]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, None),
        ({"valueReference": 2**32 - 1}, None),
        ({"valueReference": str(2**32)}, "4294967296, is none of 32 bits"),
        ({"valueReference": -1}, 'The value reference of "v", -1, is none of 32 bits.'),
        ({"valueReference": "x1"}, 'The value reference of "v", x1, is none of 32 bits.'),
        ({"valueReference": None}, 'The value reference of "v", None, is none of 32 bits.'),
        ({"causality": None, "variability": None}, None),
        ({"causality": "structuralParameter"}, None),
        (
            {"causality": "inputs"},
            'The causality of "v", "inputs", is unknown; there are parameter, structuralParameter',
        ),
        (
            {"variability": "varying"},
            'The variability of "v", "varying", is unknown; there are constant, fixed, tunable',
        ),
        ({"start": "1.5 -2 inf"}, None),
        ({"start": ["1", "true"]}, None),
        ({"start": "1 two"}, 'The start value of "v", "1 two", is no number.'),
        ({"start": "nan"}, 'The start value of "v", "nan", is no number.'),
        ({"start": [None]}, 'The start value of "v", "[None]", is no number.'),
        ({"start": "two", "type": "String"}, None),
        ({"start": "0a", "type": "Binary"}, None),
        ({"start": "0a", "type": "Clock"}, None),
        ({"name": "u"}, 'Two variables have the name "u".'),
    ],
)
def test_variables_that_cannot_be_used_are_told(given: dict[str, Any], problem: str | None) -> None:
    usual = {"name": "v", "type": "Real", "start": None, "causality": "local", "variability": "continuous"}
    first = SimpleNamespace(**usual | {"name": "u", "valueReference": 0, "start": "0"})
    found = list(_unusable([first, SimpleNamespace(**usual | {"valueReference": "7"} | given)]))
    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]
