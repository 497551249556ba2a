"""Scalar variables of a System: what an FMU shows of it, independent of any target."""

from __future__ import annotations

import dataclasses
import fnmatch
import re
from collections.abc import Iterable, Mapping
from typing import Literal

from mbfmu.arrays import Element
from mbfmu.frozen import quickly_made

Store = Literal["time", "x", "u", "P", "w", "y", "constant", "indicator", "residual", "configuration"]


@dataclasses.dataclass(frozen=True)
class Terminal:
    """Connector of the assembly that a variable belongs to, and the variable's part in it (FMI 3.0, section 2.4.9)."""

    name: str
    #: Name within the connector, of elements that of their array: `r_0`.
    member: str
    #: True where it adds up to zero in a connection.
    flow: bool = False
    #: Modelica class of the connector, without `Modelica.`; "" where the library has none.
    kind: str = ""


@dataclasses.dataclass(frozen=True)
class DeclaredType:
    """Physical type of a variable, which FMI writes once for all that have it (FMI 2.0.4, section 2.2.3)."""

    name: str
    quantity: str | None = None
    unit: str | None = None
    display_unit: str | None = None
    min: float | None = None
    max: float | None = None
    nominal: float | None = None


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class ScalarVariable:
    """One scalar of the interface, with FMI 2.0's own attribute names (FMI 2.0.4, section 2.2.7).

    `store` and `index` say where its value lives (docs/architecture/runtime.md); for the store `constant` the value is
    `start`. `start_index` is the index in p that a set before initialisation changes, for variables with a start value.
    """

    name: str
    description: str
    type: Literal["Real", "Integer", "Boolean", "String"]
    causality: Literal[
        "parameter", "calculatedParameter", "structuralParameter", "input", "output", "local", "independent"
    ]  # fmt: skip
    variability: Literal["constant", "fixed", "tunable", "discrete", "continuous"]
    initial: Literal["exact", "approx", "calculated"] | None
    start: float | int | bool | str | None
    store: Store
    index: int
    start_index: int | None = None
    unit: str | None = None
    display_unit: str | None = None
    quantity: str | None = None
    min: float | None = None
    max: float | None = None
    nominal: float | None = None
    #: Name of the variable that this one is the time derivative of.
    derivative_of: str | None = None
    #: Names of the inputs and states that an output or state derivative depends on, with FMI's kind of dependency.
    dependencies: tuple[tuple[str, Literal["dependent", "constant", "fixed", "tunable", "discrete"]], ...] | None = None
    #: True where the sign says how a choice of structure, not a number, came about; setting it needs a rebuild.
    structural: bool = False
    #: Connector of the assembly that it belongs to, for terminalsAndIcons.
    terminal: Terminal | None = None
    #: What it was declared as; its own attributes hold where they differ.
    declared_type: DeclaredType | None = None
    #: Which element of an array it is; None where it is a variable by itself.
    element: Element | None = None

    @property
    def variable(self) -> str:
        """Name of the variable that it is, or is an element of."""
        return self.element.array.name if self.element else self.name


def wanted_instead(type: str, number: float) -> str:
    """Say what a variable of a type takes, where a number is no value of that type; else ""."""
    if type == "Boolean" and number not in (0, 1):
        return "true or false (1 or 0)"
    if type == "Integer" and not (number == round(number) and abs(number) < 2**31):
        return "a whole number below 2^31"
    return ""


def matching(pattern: str, names: Mapping[str, str]) -> list[str]:
    """Those of the names that a pattern matches: `*` and `?` are wildcards, brackets stand for themselves.

    `names` tells the variable of each scalar: a pattern that matches an array's name matches all of its elements.
    """
    expression = re.compile(fnmatch.translate(pattern.replace("[", "[[]")))  # not fnmatch.filter: Windows ignores case
    return [name for name, variable in names.items() if expression.match(name) or expression.match(variable)]


def scalar_names(names: Iterable[str], variables: Iterable[ScalarVariable]) -> list[str]:
    """The names, those of arrays replaced by those of their elements; names of no variable stay as they are."""
    elements: dict[str, list[str]] = {}
    known = set()
    for variable in variables:
        known.add(variable.name)
        if variable.element:
            elements.setdefault(variable.variable, []).append(variable.name)
    return [one for name in names for one in ([name] if name in known else elements.get(name, [name]))]
