"""Rules of FMI 2.0 for modelDescription.xml that neither its schema nor FMPy knows."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator

from lxml import etree

from mbfmu.modeling.names import STRUCTURED


def problems_of(root: etree._Element) -> Iterator[str]:
    """What is wrong with variables, their attributes and structure, one sentence each, where all indices are known."""
    for rule in (_names, _independent, _attributes, _aliases, _derivatives, _structure):
        yield from rule(root)


def index_problems(root: etree._Element) -> Iterator[str]:
    """Indices of variables, which count from 1, wherever they are written."""
    count = len(_variables(root))
    places = [(_title(v), "derivative", v[0].get("derivative", "")) for v in _variables(root)]
    for tag in ("Outputs", "Derivatives", "InitialUnknowns"):
        for unknown in root.iterfind(f"ModelStructure/{tag}/Unknown"):
            for attribute in ("index", "dependencies"):
                places.append((f"ModelStructure/{tag}", attribute, unknown.get(attribute, "")))
    for place, attribute, text in places:
        for index in text.split():
            if not 1 <= int(index) <= count:
                yield f"{place}: {attribute} {index} is not the index of a variable; there are {count}."


def _names(root: etree._Element) -> Iterator[str]:
    if root.get("variableNamingConvention") != "structured":
        return
    for variable in _variables(root):
        if not STRUCTURED.fullmatch(variable.get("name", "")):
            yield f"{_title(variable)}: not a legal name under the convention structured."


def _independent(root: etree._Element) -> Iterator[str]:
    times = [variable for variable in _variables(root) if variable.get("causality") == "independent"]
    if len(times) > 1:
        yield f"{_title(times[1])}: a second independent variable; there may be only one."
    for variable in times:
        if _kind(variable) != "Real":
            yield f"{_title(variable)}: the independent variable must be Real."


def _attributes(root: etree._Element) -> Iterator[str]:
    """Bounds, start values and the attribute `initial` (FMI 2.0.4, section 2.2.7)."""
    for variable in _variables(root):
        values = _values(root, variable)
        causality = variable.get("causality", "local")
        if causality in ("input", "independent") and variable.get("initial") is not None:
            yield f'{_title(variable)}: a variable with causality="{causality}" must not have the attribute initial.'
        if "displayUnit" in values and "unit" not in values:
            yield f"{_title(variable)}: has a displayUnit, but no unit."
        if "nominal" in values and not float(values["nominal"]) > 0:
            yield f"{_title(variable)}: nominal={values['nominal']} is not positive."
        if _kind(variable) not in ("Real", "Integer", "Enumeration"):
            continue
        low, high = float(values.get("min", "-inf")), float(values.get("max", "inf"))
        if low > high:
            yield f"{_title(variable)}: min={values['min']} is above max={values['max']}."
        elif "start" in values and not low <= float(values["start"]) <= high:
            yield f"{_title(variable)}: start={values['start']} is not between min and max, {low:g} and {high:g}."


def _aliases(root: etree._Element) -> Iterator[str]:
    """Rules for variables of one type that share a value reference (FMI 2.0.4, section 2.2.7)."""
    groups: dict[tuple[str, str], list[etree._Element]] = {}
    for variable in _variables(root):
        groups.setdefault((_kind(variable), variable.get("valueReference", "")), []).append(variable)
    for group in groups.values():
        if len(group) == 1:
            continue
        names = " and ".join(f'"{variable.get("name")}"' for variable in group)
        values = [_values(root, variable) for variable in group]
        constant = [variable.get("variability") == "constant" for variable in group]
        if any(constant) and not all(constant):
            yield f"The aliases {names}: constants can only be aliases of constants."
        elif all(constant) and len({value.get("start") for value in values}) > 1:
            yield f"The aliases {names}: constants that are aliases must have equal start values."
        elif not any(constant) and sum("start" in value for value in values) > 1:
            yield f"The aliases {names}: only one of them may have a start value."
        if len({value.get("unit") for value in values}) > 1:
            yield f"The aliases {names}: must all have the same unit, or none."
        if len({value.get("relativeQuantity", "false") in ("true", "1") for value in values}) > 1:
            yield f"The aliases {names}: must agree in relativeQuantity."


def _derivatives(root: etree._Element) -> Iterator[str]:
    variables = _variables(root)
    for variable in variables:
        index = variable[0].get("derivative")
        if index is None:
            continue
        base = variables[int(index) - 1]
        if base is variable:
            yield f"{_title(variable)}: is declared as the derivative of itself."
        for end in (variable, base):
            if _kind(end) != "Real" or end.get("variability", "continuous") != "continuous":
                yield f"{_title(end)}: derivatives and their variables must be continuous and Real."


def _structure(root: etree._Element) -> Iterator[str]:
    """Order, duplicates and dependencies in ModelStructure (FMI 2.0.4, section 2.2.8)."""
    variables = _variables(root)
    derivatives = [int(unknown.get("index", "0")) for unknown in root.findall("ModelStructure/Derivatives/Unknown")]
    states = {int(variables[index - 1][0].get("derivative", "0")) for index in derivatives}
    if len(states) < len(set(derivatives)):
        yield "ModelStructure/Derivatives: two entries are derivatives of the same state."
    free = {i for i, v in enumerate(variables, 1) if v.get("causality") in ("input", "independent")}
    exact = {i for i, v in enumerate(variables, 1) if _initial(v) == "exact"}
    # The functions have tunable parameters, the list of knowns has none: they may be there or not. Fixed ones may not:
    # example 1 of the section leaves one out.
    tunable = {i for i, v in enumerate(variables, 1) if v.get("variability") == "tunable"}
    running = free | states | tunable
    knowns = {"Outputs": running, "Derivatives": running, "InitialUnknowns": free | exact}
    for tag, known in knowns.items():
        unknowns = root.findall(f"ModelStructure/{tag}/Unknown")
        indices = [int(unknown.get("index", "0")) for unknown in unknowns]
        for index, count in collections.Counter(indices).items():
            if count > 1:
                yield f'ModelStructure/{tag}: "{variables[index - 1].get("name")}" is listed {count} times.'
        if tag == "InitialUnknowns" and indices != sorted(indices):
            yield "ModelStructure/InitialUnknowns: the entries are not in the order of the variables."
        for unknown, index in zip(unknowns, indices, strict=True):
            for problem in _dependencies(unknown, variables, known, tag):
                yield f'ModelStructure/{tag}, "{variables[index - 1].get("name")}": {problem}'


def _dependencies(unknown: etree._Element, variables: list[etree._Element], known: set[int], tag: str) -> Iterator[str]:
    indices = [int(index) for index in unknown.get("dependencies", "").split()]
    kinds = unknown.get("dependenciesKind", "").split()
    if any(later <= earlier for earlier, later in itertools.pairwise(indices)):
        yield "the dependencies are not in ascending order."
    if "dependenciesKind" in unknown.attrib and len(kinds) != len(indices):
        yield f"has {len(indices)} dependencies and {len(kinds)} kinds of them."
    listed = "inputs, time and what is initially exact" if tag == "InitialUnknowns" else "inputs, states and time"
    for index in indices:
        if index not in known:
            yield (
                f'depends on "{variables[index - 1].get("name")}", which is not one of its knowns; in FMI 2.0 (section '
                f"2.2.8) these are {listed}."
            )
    allowed = {"dependent", "constant"} if tag == "InitialUnknowns" else {*kinds}
    for kind in sorted({*kinds} - allowed):
        yield f'the kind of dependency "{kind}" is not one for initial unknowns.'


def _variables(root: etree._Element) -> list[etree._Element]:
    return root.findall("ModelVariables/ScalarVariable")


def _title(variable: etree._Element) -> str:
    return f'The variable "{variable.get("name")}" (line {variable.sourceline})'


def _kind(variable: etree._Element) -> str:
    return str(variable[0].tag)


def _values(root: etree._Element, variable: etree._Element) -> dict[str, str]:
    """Attributes of a variable's type, with those of its declared type where it has none of its own."""
    own = {str(key): str(value) for key, value in variable[0].attrib.items()}
    if "declaredType" not in own:
        return own
    for declared in root.iterfind("TypeDefinitions/SimpleType"):
        if declared.get("name") == own["declaredType"]:
            return {str(key): str(value) for key, value in declared[0].attrib.items()} | own
    return own


def _initial(variable: etree._Element) -> str | None:
    """Return `initial`, or its default (FMI 2.0.4, table on p. 49)."""
    causality, variability = variable.get("causality", "local"), variable.get("variability", "continuous")
    if variable.get("initial") is not None or causality in ("input", "independent"):
        return variable.get("initial")
    return "exact" if causality == "parameter" or variability == "constant" else "calculated"
