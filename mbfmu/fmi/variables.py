"""Variables of FMUs as scalars, named alike in both versions of FMI: `r[2]` and `R.T[1,3]` are elements of arrays."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Kinds of values, by the types of FMI 2.0 and 3.0. Binary variables and clocks have none.
KINDS = {
    **dict.fromkeys(("Real", "Float64", "Float32"), "Real"),
    **dict.fromkeys(("Integer", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64"), "Integer"),
    "Enumeration": "Enumeration",
    "Boolean": "Boolean",
    "String": "String",
}

_ELEMENT = re.compile(r"(.+)\[(\d+(?:,\d+)*)\]")

#: A derivative, `der(r)` or `der(r,2)`: its elements are `der(r[1])` and `der(r[1],2)`.
_DERIVATIVE = re.compile(r"(der\(.+?)((?:,\d+)?\))")


@dataclasses.dataclass(frozen=True, eq=False)
class Scalar:
    """One value of an FMU: that of a variable, or of one element of an array."""

    name: str
    #: FMPy's ModelVariable.
    variable: Any
    #: Indices in an array of FMI 3.0, from 1; empty where the variable is a scalar.
    indices: tuple[int, ...] = ()

    @property
    def kind(self) -> str:
        """`Real`, `Integer`, `Enumeration`, `Boolean` or `String`; the type itself of what has no such value."""
        return KINDS.get(self.variable.type, self.variable.type)

    @property
    def continuous(self) -> bool:
        """Is it a Real that changes between events, too?"""
        return self.kind == "Real" and self.variable.variability in (None, "continuous")

    @property
    def element(self) -> int:
        """Place among the values of its variable; the last index counts fastest (FMI 3.0.2, section 2.2.6.1)."""
        place = 0
        for index, size in zip(self.indices, self.variable.shape or (), strict=True):
            place = place * size + index - 1
        return place


class Interface(Mapping[str, tuple[Scalar, ...]]):
    """The scalars behind every name of an FMU: one of a variable or an element, all of an array, whole.

    An array is one variable of FMI 3.0, or those variables of FMI 2.0 that are named as its elements. Aliases of
    FMI 3.0 are names, too.
    """

    def __init__(self, description: Any) -> None:
        self._scalars: dict[str, tuple[Scalar, ...]] = {}
        elements: dict[str, dict[tuple[int, ...], Scalar]] = {}
        for variable in description.modelVariables:
            for name in (variable.name, *(alias.name for alias in variable.aliases)):
                if variable.shape:
                    self._add_array(name, variable)
                else:
                    scalar = Scalar(name, variable)
                    self._scalars[name] = (scalar,)
                    match = _ELEMENT.fullmatch(name)
                    if match:
                        elements.setdefault(match[1], {})[_indices(match[2])] = scalar
        for name, found in elements.items():
            if name not in self._scalars and _is_whole(found):
                self._scalars[name] = tuple(found[indices] for indices in sorted(found))

    def _add_array(self, name: str, variable: Any) -> None:
        match = _DERIVATIVE.fullmatch(name)
        before, after = match.groups() if match else (name, "")
        scalars = tuple(
            Scalar(f"{before}[{','.join(map(str, indices))}]{after}", variable, indices)
            for indices in itertools.product(*(range(1, size + 1) for size in variable.shape))
        )
        self._scalars[name] = scalars
        self._scalars.update((scalar.name, (scalar,)) for scalar in scalars)

    def __getitem__(self, name: str) -> tuple[Scalar, ...]:
        return self._scalars[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scalars)

    def __len__(self) -> int:
        return len(self._scalars)


def is_variable(name: str, scalars: Sequence[Scalar]) -> bool:
    """Is that a variable of the FMU, or an alias, rather than an element of one or the name that several share?"""
    return bool(scalars[0].indices) != (scalars[0].name == name)


def shape_of(name: str, scalars: Sequence[Scalar]) -> tuple[int, ...]:
    """Shape of the array that a name stands for; empty where it stands for a scalar."""
    if scalars[0].name == name:
        return ()
    derivative = _DERIVATIVE.fullmatch(scalars[-1].name)
    match = _ELEMENT.fullmatch(derivative[1] if derivative else scalars[-1].name)
    return _indices(match[2]) if match else ()


def unit_of(variable: Any) -> str | None:
    """Unit of one of FMPy's variables, its own or that of its type."""
    declared = variable.declaredType
    return variable.unit or (declared.unit if declared else None) or None


def _indices(text: str) -> tuple[int, ...]:
    return tuple(int(index) for index in text.split(","))


def _is_whole(elements: Mapping[tuple[int, ...], Scalar]) -> bool:
    """Are these all the elements of an array, counted from 1?"""
    if len({len(indices) for indices in elements}) > 1 or min(map(min, elements)) < 1:
        return False
    shape = [max(sizes) for sizes in zip(*elements, strict=True)]
    return len(elements) == math.prod(shape)
