"""Arrays of variables, and the scalars that they consist of: `r_0[1]`, `R.T[2,3]`, `der(phi[1])`.

FMI 2.0 knows scalars only, FMI 3.0 has arrays. Indices count from 1, as Modelica's do.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable

from mbfmu.frozen import quickly_made


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Array:
    """A variable with a shape, or a derivative of one."""

    #: Name of the variable; of a derivative, that of what it is the derivative of.
    base: str
    shape: tuple[int, ...]
    #: How often it is derived with respect to time.
    order: int = 0

    @property
    def name(self) -> str:
        """Its own name: `phi`, `der(phi)`, `der(phi,2)`."""
        return derivative_name(self.base, self.order)

    @property
    def size(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)

    @property
    def elements(self) -> tuple[Element, ...]:
        """All elements by rows, as FMI 3.0 has them: the last index counts fastest (FMI 3.0.2, section 2.2.6.1)."""
        return tuple(Element(self, indices) for indices in itertools.product(*self._ranges))

    @property
    def elements_by_columns(self) -> tuple[Element, ...]:
        """All elements by columns, as CasADi stacks them and our FMUs of FMI 2.0 list them."""
        return tuple(Element(self, indices) for indices, _ in _by_columns(self.shape))

    @property
    def derivative(self) -> Array:
        """Its time derivative."""
        return dataclasses.replace(self, order=self.order + 1)

    @property
    def _ranges(self) -> list[range]:
        return [range(1, size + 1) for size in self.shape]


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Element:
    """One scalar of an array."""

    array: Array
    #: One for each dimension, from 1.
    indices: tuple[int, ...]

    @property
    def name(self) -> str:
        """Its own name: `phi[1]`, `der(phi[1])`, `der(phi[1],2)`."""
        return derivative_name(element_name(self.array.base, self.indices), self.array.order)

    @property
    def place(self) -> int:
        """How many elements come before it by rows."""
        return functools.reduce(
            lambda place, step: place * step[1] + step[0] - 1, zip(self.indices, self.array.shape, strict=True), 0
        )

    @property
    def derivative(self) -> Element:
        """The element in its place of the array's time derivative."""
        return Element(self.array.derivative, self.indices)


def element_name(name: str, indices: Iterable[int]) -> str:
    """Name of an element of the array of this name: `r[2]`, `T[1,3]`."""
    return f"{name}[{','.join(map(str, indices))}]"


def derivative_name(name: str, order: int = 1) -> str:
    """Name of a time derivative: `der(phi)`, `der(phi,2)`; of order 0 the name itself."""
    return name if order == 0 else f"der({name})" if order == 1 else f"der({name},{order})"


def scalars_of(name: str, shape: tuple[int, ...]) -> tuple[tuple[str, Element | None], ...]:
    """Names of the scalars that a variable consists of, by columns, and which elements they are: None of a scalar."""
    if not shape:
        return ((name, None),)
    array = Array(name, shape)
    return tuple((name + ending, Element(array, indices)) for indices, ending in _by_columns(shape))


@functools.lru_cache(maxsize=64)
def _by_columns(shape: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], str], ...]:
    """Indices of the elements of a shape, by columns, and what stands behind the array's name: `[1,3]`."""
    ranges = [range(1, size + 1) for size in reversed(shape)]
    found = (indices[::-1] for indices in itertools.product(*ranges))
    return tuple((indices, element_name("", indices)) for indices in found)
