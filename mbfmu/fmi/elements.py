"""Scalars of an FMU, as FMPy reads its description: variables, and of FMI 3.0's arrays their elements.

Elements have the names of our scalars (`r_0[1]`, `R.T[2,3]`, `der(phi[1])`), whatever version the FMU is of.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable
from typing import Any, Literal

Kind = Literal["Real", "Integer", "Boolean", "String"]


@dataclasses.dataclass(frozen=True)
class Element:
    """One scalar."""

    name: str
    #: FMPy's variable that it is, or is an element of, and its place in it; None in a scalar.
    variable: Any
    place: int | None
    #: Its type in FMI 2.0's terms.
    type: Kind
    start: str | None
    #: Its number among all of its type: FMI 2.0's value reference. The runtime takes it (templates/runtime/host.c).
    reference: int

    def attribute(self, name: str) -> Any:
        """An attribute of the variable, or of its declared type, where one of them has it."""
        for holder in (self.variable, self.variable.declaredType):
            value = getattr(holder, name, None)
            if value not in (None, ""):
                return value
        return None


def elements_of(description: Any) -> list[Element]:
    """All scalars of FMPy's ModelDescription, in its order."""
    begins: dict[int, int] = {}  # of FMI 3.0's variables, among all values of a type: aliases share them
    numbers: dict[Kind, int] = {}
    found: list[Element] = []
    for variable in description.modelVariables:
        kind = _kind(variable.type)
        shape = getattr(variable, "shape", None) or ()
        shape = shape if all(isinstance(size, int) for size in shape) else ()
        reference = int(variable.valueReference)
        if description.fmiVersion == "3.0":
            if reference not in begins:
                begins[reference] = numbers.get(kind, 0)
                numbers[kind] = begins[reference] + math.prod(shape)
            reference = begins[reference]
        if not shape:
            found.append(Element(variable.name, variable, None, kind, variable.start, reference))
            continue
        starts = _starts(variable.start, math.prod(shape))
        indices = itertools.product(*(range(1, size + 1) for size in shape))
        for place, (index, start) in enumerate(zip(indices, starts, strict=True)):
            name = element_name(variable.name, index)
            found.append(Element(name, variable, place, kind, start, reference + place))
    return found


def element_name(array: str, index: Iterable[int]) -> str:
    """Name of an element: that of `der(phi)` is `der(phi[1])`, that of `der(phi,2)` is `der(phi[1],2)`."""
    at = f"[{','.join(map(str, index))}]"
    if array.startswith("der(") and array.endswith(")"):
        head, comma, order = array[:-1].partition(",")
        return f"{head}{at}{comma}{order})"
    return array + at


def _starts(start: Any, count: int) -> list[str | None]:
    given: list[str | None] = [*(start.split() if isinstance(start, str) else start or ())]
    if len(given) == 1:
        given *= count
    return given if len(given) == count else [None] * count


def _kind(name: str) -> Kind:
    if name.startswith(("Float", "Real")):
        return "Real"
    if "Int" in name or name == "Enumeration":
        return "Integer"
    return "Boolean" if name == "Boolean" else "String"
