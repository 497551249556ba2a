"""Variables of FMUs as scalars, named alike in both versions of FMI: `r[2]` and `R.T[1,3]` are elements of arrays.

FMI 3.0 says which variables are arrays. FMI 2.0 has names only: what its variables are elements of is read from these
here, and nowhere else.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from mbfmu.arrays import Array, Element, derivative_name

#: Kinds of values, by the types of FMI 2.0 and 3.0. Binary variables and clocks have none.
KINDS = {
    **dict.fromkeys(("Real", "Float64", "Float32"), "Real"),
    **dict.fromkeys(("Integer", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64"), "Integer"),
    "Enumeration": "Enumeration",
    "Boolean": "Boolean",
    "String": "String",
}

Type = Literal["Real", "Integer", "Boolean", "String"]

#: Types of our own variables by kinds; what has no numbers is taken for text.
_TYPES: dict[str, Type] = {"Real": "Real", "Integer": "Integer", "Enumeration": "Integer", "Boolean": "Boolean"}

#: Names of elements, `r[2]`, and of derivatives, `der(r)` and `der(r,2)`, those of elements among them.
_ELEMENT = re.compile(r"(.+)\[(\d+(?:,\d+)*)\]")
_DERIVATIVE = re.compile(r"der\((.+?)(?:,(\d+))?\)")


@dataclasses.dataclass(frozen=True, eq=False)
class Scalar:
    """One value of an FMU: that of a variable, or of one element of an array."""

    name: str
    #: FMPy's ModelVariable.
    variable: Any
    #: Number among all values of its type: FMI 2.0's value reference. Our runtime takes it (templates/runtime/host.c).
    reference: int
    start: str | None = None
    #: Which element of an array it is: of a variable of FMI 3.0, or of several of FMI 2.0.
    element: Element | None = None

    @property
    def kind(self) -> str:
        """`Real`, `Integer`, `Enumeration`, `Boolean` or `String`; the type itself of what has no such value."""
        return KINDS.get(self.variable.type, self.variable.type)

    @property
    def type(self) -> Type:
        """Its type in the terms of our own variables."""
        return _type(self.variable)

    @property
    def continuous(self) -> bool:
        """Is it a Real that changes between events, too?"""
        return is_continuous(self.variable)

    @property
    def indices(self) -> tuple[int, ...]:
        """Indices in its variable, from 1; empty where the variable is a scalar."""
        return self.element.indices if self.element and _shape(self.variable) else ()

    @property
    def place(self) -> int:
        """Place among the values of its variable."""
        return self.element.place if self.element and _shape(self.variable) else 0

    def attribute(self, name: str) -> Any:
        """An attribute of the variable, or of its declared type, where one of them has it."""
        for holder in (self.variable, self.variable.declaredType):
            value = getattr(holder, name, None)
            if value not in (None, ""):
                return value
        return None


def scalars_of(description: Any) -> list[Scalar]:
    """All scalars of FMPy's ModelDescription, in its order; it lists aliases of FMI 3.0 as variables, too."""
    arrays = {} if description.fmiVersion == "3.0" else _named_elements([v.name for v in description.modelVariables])
    begins: dict[int, int] = {}  # of FMI 3.0's variables, among all values of a type: aliases share them
    numbers: dict[Type, int] = {}
    found: list[Scalar] = []
    for variable in description.modelVariables:
        reference = int(variable.valueReference)
        if description.fmiVersion != "3.0":
            found.append(Scalar(variable.name, variable, reference, variable.start, arrays.get(variable.name)))
            continue
        scalars = _scalars(variable)
        if reference not in begins:
            type_ = _type(variable)
            begins[reference] = numbers.get(type_, 0)
            numbers[type_] = begins[reference] + len(scalars)
        found += [dataclasses.replace(one, reference=begins[reference] + i) for i, one in enumerate(scalars)]
    return found


def _scalars(variable: Any) -> list[Scalar]:
    """The scalars of a variable of FMI 3.0, numbered for themselves."""
    shape = _shape(variable)
    if not shape:
        return [Scalar(variable.name, variable, 0, variable.start)]
    base, order = _derivative(variable.name)
    elements = Array(base, shape, order).elements
    given = [*(variable.start.split() if isinstance(variable.start, str) else variable.start or ())]
    given *= len(elements) if len(given) == 1 else 1
    starts = given if len(given) == len(elements) else [None] * len(elements)
    return [
        Scalar(element.name, variable, element.place, start, element)
        for element, start in zip(elements, starts, strict=True)
    ]


class Interface(Mapping[str, tuple[Scalar, ...]]):
    """The scalars behind every name of an FMU: one of a variable or an element, all of an array, whole, by rows.

    Aliases of FMI 3.0 are names, too.
    """

    def __init__(self, description: Any) -> None:
        scalars = scalars_of(description)
        self._scalars: dict[str, tuple[Scalar, ...]] = {scalar.name: (scalar,) for scalar in scalars}
        arrays: dict[Array, list[Scalar]] = {}
        for scalar in scalars:
            if scalar.element:
                arrays.setdefault(scalar.element.array, []).append(scalar)
        for array, elements in arrays.items():
            self._scalars[array.name] = tuple(sorted(elements, key=lambda one: one.element.place if one.element else 0))

    def __getitem__(self, name: str) -> tuple[Scalar, ...]:
        return self._scalars[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scalars)

    def __len__(self) -> int:
        return len(self._scalars)


def is_continuous(variable: Any) -> bool:
    """Is one of FMPy's variables a Real that changes between events, too?"""
    return KINDS.get(variable.type) == "Real" and variable.variability in (None, "continuous")


def is_variable(name: str, scalars: Sequence[Scalar]) -> bool:
    """Is that a variable of the FMU, or an alias, rather than an element of one or the name that several share?"""
    return bool(scalars[0].indices) != (scalars[0].name == name)


def shape_of(name: str, scalars: Sequence[Scalar]) -> tuple[int, ...]:
    """Shape of the array that a name stands for; empty where it stands for a scalar."""
    first = scalars[0]
    return first.element.array.shape if first.element and first.name != name else ()


def unit_of(variable: Any) -> str | None:
    """Unit of one of FMPy's variables, its own or that of its type."""
    declared = variable.declaredType
    return variable.unit or (declared.unit if declared else None) or None


def _type(variable: Any) -> Type:
    return _TYPES.get(KINDS.get(variable.type, ""), "String")


def _shape(variable: Any) -> tuple[int, ...]:
    """Shape of one of FMPy's variables; empty of a scalar."""
    return tuple(variable.shape or ())


def _derivative(name: str) -> tuple[str, int]:
    """What a variable is the derivative of, by its name, and its order: 0 where it is none."""
    match = _DERIVATIVE.fullmatch(name)
    found = (match[1], int(match[2] or 1)) if match else (name, 0)
    return found if derivative_name(*found) == name else (name, 0)


def _named_elements(names: Sequence[str]) -> dict[str, Element]:
    """Elements of arrays among variables of FMI 2.0, by name: those of arrays whose elements are all there."""
    groups: dict[tuple[str, int], dict[tuple[int, ...], str]] = {}
    for name in names:
        base, order = _derivative(name)
        match = _ELEMENT.fullmatch(base)
        if match:
            indices = tuple(int(index) for index in match[2].split(","))
            groups.setdefault((match[1], order), {})[indices] = name
    found: dict[str, Element] = {}
    known = set(names)
    for (base, order), elements in groups.items():
        if len({len(indices) for indices in elements}) == 1 and min(map(min, elements)) > 0:
            array = Array(base, tuple(max(sizes) for sizes in zip(*elements, strict=True)), order)
            if len(elements) == array.size and array.name not in known:
                whole = {name: Element(array, indices) for indices, name in elements.items()}
                found |= whole if all(name == element.name for name, element in whole.items()) else {}
    return found
