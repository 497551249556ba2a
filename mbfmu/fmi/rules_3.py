"""Rules of FMI 3.0 for modelDescription.xml that neither its schema nor FMPy knows."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterator

from lxml import etree

from mbfmu.modeling.names import STRUCTURED

_NUMBERS = {"Float32", "Float64", "Enumeration"} | {f"{u}Int{n}" for u in ("", "U") for n in (8, 16, 32, 64)}


def problems_of(root: etree._Element) -> Iterator[str]:
    """What is wrong with variables, their references, values and structure, one sentence each."""
    for rule in (_names, _references, _independent, _values, _derivatives, _structure):
        found = list(rule(root))
        if found:
            yield from found
            return  # what follows takes it for granted


def _variables(root: etree._Element) -> list[etree._Element]:
    return root.findall("ModelVariables/*")


def _title(variable: etree._Element) -> str:
    return f'The variable "{variable.get("name")}" (line {variable.sourceline})'


def _names(root: etree._Element) -> Iterator[str]:
    names = [str(v.get("name")) for v in root.iterfind("ModelVariables/*")]
    names += [str(v.get("name")) for v in root.iterfind("ModelVariables/*/Alias")]
    for name, count in collections.Counter(names).items():
        if count > 1:
            yield f'The name "{name}" is given {count} times, to variables or aliases.'
    if root.get("variableNamingConvention") == "structured":
        for name in names:
            if not STRUCTURED.fullmatch(name):
                yield f'The name "{name}" is not legal under the convention structured.'


def _references(root: etree._Element) -> Iterator[str]:
    for reference, count in collections.Counter(str(v.get("valueReference")) for v in _variables(root)).items():
        if count > 1:
            yield f"The value reference {reference} is given to {count} variables; one of them must be an alias."
    known = {v.get("valueReference") for v in _variables(root)}
    for variable in _variables(root):
        others = [("derivative", variable.get("derivative"))]
        others += [("Dimension", size.get("valueReference")) for size in variable.iterfind("Dimension")]
        for place, other in others:
            if other is not None and other not in known:
                yield f"{_title(variable)}: {place} refers to {other}, which no variable has."
    for unknown in root.iterfind("ModelStructure/*"):
        tag = str(unknown.tag)
        for reference in (str(unknown.get("valueReference")), *unknown.get("dependencies", "").split()):
            if reference not in known and tag != "Annotations":
                yield f"ModelStructure/{tag} (line {unknown.sourceline}): no variable has {reference}."


def _independent(root: etree._Element) -> Iterator[str]:
    times = [v for v in _variables(root) if v.get("causality") == "independent"]
    if len(times) != 1:
        yield f"There are {len(times)} independent variables; there must be one."
    for variable in times:
        if variable.tag not in ("Float32", "Float64"):
            yield f"{_title(variable)}: the independent variable must be a floating-point number."


def size_of(root: etree._Element, variable: etree._Element) -> int:
    """Number of a variable's values; dimensions that are structural parameters count with their start values."""
    size = 1
    for dimension in variable.iterfind("Dimension"):
        start = dimension.get("start")
        if start is None:
            reference = dimension.get("valueReference")
            owner = root.find(f"ModelVariables/*[@valueReference='{reference}']")
            start = "1" if owner is None else owner.get("start", "1")
        size *= int(start)
    return size


def _values(root: etree._Element) -> Iterator[str]:
    """Start values: as many as the variable has, within its bounds, and none where none can be."""
    types = {str(t.get("name")): t for t in root.iterfind("TypeDefinitions/*")}
    for variable in _variables(root):
        declared = types.get(variable.get("declaredType", ""))
        attributes = {**({} if declared is None else declared.attrib), **variable.attrib}
        if variable.get("causality") in ("input", "independent") and variable.get("initial") not in (None, "exact"):
            yield f"{_title(variable)}: initial={variable.get('initial')} is not for inputs and time."
        if "displayUnit" in attributes and "unit" not in attributes:
            yield f"{_title(variable)}: has a displayUnit, but no unit."
        if variable.tag not in _NUMBERS:
            continue
        if not float(attributes.get("nominal", 1)) > 0:
            yield f"{_title(variable)}: nominal={attributes['nominal']} is not positive."
        low, high = float(attributes.get("min", -math.inf)), float(attributes.get("max", math.inf))
        if low > high:
            yield f"{_title(variable)}: min={low:g} is above max={high:g}."
        starts, size = [float(value) for value in attributes.get("start", "").split()], size_of(root, variable)
        if starts and len(starts) not in (1, size):
            yield f"{_title(variable)}: has {len(starts)} start values, and {size} elements."
        for start in starts:
            if not low <= start <= high:
                yield f"{_title(variable)}: start={start:g} is not between min and max, {low:g} and {high:g}."
                break


def _derivatives(root: etree._Element) -> Iterator[str]:
    by_reference = {v.get("valueReference"): v for v in _variables(root)}
    for variable in _variables(root):
        base = by_reference.get(variable.get("derivative"))
        if base is None:
            continue
        if base is variable:
            yield f"{_title(variable)}: is declared as the derivative of itself."
        for end in (variable, base):
            if end.tag not in ("Float32", "Float64") or end.get("variability", "continuous") != "continuous":
                yield f"{_title(end)}: derivatives and their variables must be continuous floating-point numbers."
        if size_of(root, variable) != size_of(root, base):
            yield f'{_title(variable)}: has another size than "{base.get("name")}", whose derivative it is.'


def _structure(root: etree._Element) -> Iterator[str]:
    """Duplicates, dependencies and their kinds in ModelStructure (section 2.4.8)."""
    by_reference = {str(v.get("valueReference")): v for v in _variables(root)}
    unknowns = [unknown for unknown in root.iterfind("ModelStructure/*") if unknown.tag != "Annotations"]
    listed = [(str(unknown.tag), str(unknown.get("valueReference"))) for unknown in unknowns]
    for (tag, reference), count in collections.Counter(listed).items():
        if count > 1:
            yield f'ModelStructure/{tag}: "{by_reference[reference].get("name")}" is listed {count} times.'
    states = [by_reference[str(u.get("valueReference"))].get("derivative") for u in unknowns if u.tag == _DERIVATIVE]
    for state, count in collections.Counter(states).items():
        if state is None:
            yield f"ModelStructure/{_DERIVATIVE}: an entry is not the derivative of a variable."
        elif count > 1:
            name = by_reference[state].get("name")
            yield f'ModelStructure/{_DERIVATIVE}: {count} entries are derivatives of "{name}".'
    for unknown in unknowns:
        tag = str(unknown.tag)
        where = f"ModelStructure/{tag}, line {unknown.sourceline}"
        names, kinds = unknown.get("dependencies"), unknown.get("dependenciesKind")
        if kinds is not None and len(kinds.split()) != len((names or "").split()):
            yield f"{where}: dependencies and dependenciesKind have different lengths."
        variability = by_reference[str(unknown.get("valueReference"))].get("variability", "continuous")
        if unknown.tag == "EventIndicator" and variability != "continuous":
            yield f"{where}: event indicators must be continuous."
        for reference in (names or "").split():
            known = by_reference[reference]
            free = known.get("causality") in ("input", "independent", "parameter", "structuralParameter")
            exact = _is_exact(known) and unknown.tag == "InitialUnknown"
            # Discrete states are marked only where they are clocked.
            discrete = known.tag == "Clock" or _variability(known) == "discrete"
            if not (free or exact or discrete or reference in states):
                yield f'{where}: depends on "{known.get("name")}", which is not one of its knowns.'


def _variability(variable: etree._Element) -> str:
    """Its attribute, or the default of its type (section 2.4.7.4), which is not that of parameters."""
    real = variable.tag in ("Float32", "Float64")
    return str(variable.get("variability", "continuous" if real else "discrete"))


def _is_exact(variable: etree._Element) -> bool:
    return variable.get("initial", "exact" if variable.get("variability") == "constant" else None) == "exact"


_DERIVATIVE = "ContinuousStateDerivative"
