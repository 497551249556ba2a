"""The variables of FMI 3.0: vectors and matrices as arrays, variables of one place as aliases.

A System has scalars, as FMI 2.0 does, and knows of each which element of an array it is. Where all elements are shown
the array is one variable here, its elements in the order of the standard: the last index counts fastest (FMI 3.0.2,
section 2.2.6.1).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

from mbfmu.arrays import Array
from mbfmu.runtime.variables import ScalarVariable

#: Types of FMI 3.0 by those of FMI 2.0, in the order of their value references.
TYPES = {"Real": "Float64", "Integer": "Int32", "Boolean": "Boolean", "String": "String"}

#: Name of the array of event indicators.
INDICATORS = "eventIndicators"

#: Variabilities, from what never changes on.
_VARIABILITIES = ("constant", "fixed", "tunable", "discrete", "continuous")


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable of FMI 3.0; `shape` is empty for a scalar, and `elements` are in the order of the standard."""

    name: str
    shape: tuple[int, ...]
    elements: tuple[ScalarVariable, ...]
    causality: str
    variability: str
    initial: str | None
    #: One sentence; it names the array where it names its element.
    description: str
    #: Variables that share its value reference.
    aliases: tuple[Variable, ...] = ()
    reference: int = -1

    @property
    def first(self) -> ScalarVariable:
        """The first element; what is the same for all, such as the unit, is read of it."""
        return self.elements[0]


@dataclasses.dataclass(frozen=True)
class Arrangement:
    """All variables, and the scalars that hold their values, each with a value reference of its own."""

    variables: tuple[Variable, ...]
    #: Elements of all variables but aliases, one variable after the other.
    elements: tuple[ScalarVariable, ...]
    #: Parallel to `elements`: the number of elements of the variable that begins there, 0 within an array.
    lengths: tuple[int, ...]

    def named(self) -> tuple[ScalarVariable, ...]:
        """The first element of each variable, as if it were the variable."""
        return tuple(
            dataclasses.replace(v.first, name=v.name, element=None) if v.shape else v.first for v in self.variables
        )


def arrange(variables: Sequence[ScalarVariable], indicators: int = 0) -> Arrangement:
    """Find arrays and aliases among scalars, and give out value references.

    Args:
        variables: The scalars of a System, or some of them.
        indicators: Number of event indicators, which FMI 3.0 wants among the variables.
    """
    made = [*_arrays(variables), *_indicators(indicators)]
    ordered = [variable for fmi2 in TYPES for variable in _without_aliases(v for v in made if v.first.type == fmi2)]
    # References are the variables' places in the file, from 1 on: OMSimulator takes those of dependencies for such.
    numbered = tuple(dataclasses.replace(v, reference=number) for number, v in enumerate(ordered, 1))
    return Arrangement(
        numbered,
        tuple(element for v in numbered for element in v.elements),
        tuple(length for v in numbered for length in (len(v.elements), *(0 for _ in v.elements[1:]))),
    )


def states_of(variables: Iterable[Variable]) -> list[tuple[Variable, Variable]]:
    """Pairs of a state and its derivative, so that their elements are the vector of states in its order."""
    at = places(variables)
    found: dict[int, tuple[Variable, Variable]] = {}
    for derivative in variables:
        base = at.get(derivative.first.derivative_of or "")
        if base is not None and base[1] == 0 and base[0].first.store == "x" and _follows(base[0], derivative, at):
            found.setdefault(base[0].first.index, (base[0], derivative))
    return [found[index] for index in sorted(found)]


def places(variables: Iterable[Variable]) -> dict[str, tuple[Variable, int]]:
    """By the name of each scalar, that of an alias, too: the variable that holds it, and its element in it."""
    return {element.name: (v, i) for v in variables for w in (v, *v.aliases) for i, element in enumerate(w.elements)}


def _follows(state: Variable, derivative: Variable, at: dict[str, tuple[Variable, int]]) -> bool:
    """Is each element the derivative of the state's element in the same place, and is the state a piece of x?"""
    first = state.first.index
    return len(state.elements) == len(derivative.elements) and all(
        x.store == "x" and x.index == first + i and at.get(d.derivative_of or "") == (state, i)
        for i, (x, d) in enumerate(zip(state.elements, derivative.elements, strict=True))
    )


def _arrays(variables: Sequence[ScalarVariable]) -> list[Variable]:
    """Join scalars to arrays; those whose arrays would not hold the vector of states in its order stay scalars."""
    position = {v.name: v for v in variables}
    followed = {v.name: position[v.derivative_of].variable for v in variables if v.derivative_of in position}
    wanted = {
        position[v.derivative_of].index
        for v in variables
        if v.derivative_of in position and position[v.derivative_of].store == "x"
    }
    apart: set[str] = set()
    while True:
        made = _joined(variables, apart, followed)
        held = [x.index for state, _ in states_of(made) for x in state.elements]
        if held == sorted(wanted):
            return made
        missing = wanted - set(held) | {index for index in held if held.count(index) > 1}
        names = {v.variable for v in variables if v.store == "x" and v.index in missing}
        names |= {v.variable for v in variables if followed.get(v.name) in names}
        if names <= apart:
            return _joined(variables, {v.variable for v in variables}, followed)
        apart |= names


def _joined(variables: Sequence[ScalarVariable], apart: Collection[str], followed: Mapping[str, str]) -> list[Variable]:
    """Arrays of which all elements are there, and all else as scalars.

    `apart` are names of arrays that are to be scalars; `followed` tells by the name of a derivative's scalar the
    variable that it is the derivative of.
    """
    alone = {v.name for v in variables if v.element is None}
    groups: dict[str | Array, list[ScalarVariable]] = {}
    for variable in variables:
        groups.setdefault(variable.element.array if variable.element else variable.name, []).append(variable)
    made = []
    for whole, group in groups.items():
        is_array = isinstance(whole, Array) and whole.name not in apart and whole.name not in alone
        array = _array(whole, group, followed) if isinstance(whole, Array) and is_array else None
        made += [array] if array else [_scalar(variable) for variable in group]
    return made


def _scalar(v: ScalarVariable) -> Variable:
    return Variable(v.name, (), (v,), v.causality, v.variability, v.initial, v.description)


def _array(array: Array, group: Sequence[ScalarVariable], followed: Mapping[str, str]) -> Variable | None:
    """The array of some scalars, or None where they are not all of it or differ in more than FMI allows."""
    if len(group) != array.size or len({_common(variable, followed) for variable in group}) > 1:
        return None
    elements = tuple(sorted(group, key=lambda variable: variable.element.place if variable.element else 0))
    kind, first = _kind(elements), elements[0]
    description = first.description
    if first.derivative_of is not None and first.name in followed:
        description = description.replace(first.derivative_of, followed[first.name])
    return None if kind is None else Variable(array.name, array.shape, elements, *kind, description)


def _common(v: ScalarVariable, followed: Mapping[str, str]) -> tuple[object, ...]:
    return (
        v.type, v.unit, v.display_unit, v.quantity, v.min, v.max, v.nominal, v.structural, v.terminal,
        followed.get(v.name),
    )  # fmt: skip


def _kind(elements: Sequence[ScalarVariable]) -> tuple[str, str, str | None] | None:
    """Causality, variability and initial of an array: those of its elements, or what covers calculated ones."""
    kinds = {(v.causality, v.variability, v.initial) for v in elements}
    if len(kinds) == 1:
        return next(iter(kinds))
    calculated = all(v.initial == "calculated" or v.variability == "constant" for v in elements)
    causalities = {v.causality for v in elements}
    if not calculated or not (causalities == {"output"} or causalities <= {"local", "calculatedParameter"}):
        return None
    variability = max((v.variability for v in elements), key=_VARIABILITIES.index)
    parameters = "calculatedParameter" in causalities and variability in ("fixed", "tunable")
    causality = "output" if "output" in causalities else "calculatedParameter" if parameters else "local"
    return causality, variability, "calculated"


def _without_aliases(variables: Iterable[Variable]) -> list[Variable]:
    """Let variables that only show the place of another one become its aliases.

    Outputs and inputs stay by themselves: an alias has the causality of what it stands for. So does a calculated
    parameter that passes on another one: who could set an alias of that would set both.
    """
    listed = list(variables)
    groups: dict[tuple[object, ...], list[Variable]] = {}
    for variable in listed:
        if variable.causality in ("local", "parameter", "calculatedParameter") and not _own(variable):
            groups.setdefault(_place(variable), []).append(variable)
    aliases: dict[str, list[Variable]] = {}
    hidden = set()
    for group in groups.values():
        chief = next((v for v in group if v.first.start_index is not None), group[0])
        for variable in group:
            follows = variable.first.start_index is None and variable.first.derivative_of is None
            follows &= _looks(variable) == _looks(chief)
            if variable is not chief and follows and variable.causality == chief.causality == "local":
                aliases.setdefault(chief.name, []).append(variable)
                hidden.add(variable.name)
    return [dataclasses.replace(v, aliases=tuple(aliases.get(v.name, ()))) for v in listed if v.name not in hidden]


def _own(variable: Variable) -> bool:
    """Has it values that are nowhere else?"""
    return any(element.store in ("constant", "indicator") for element in variable.elements)


def _place(variable: Variable) -> tuple[object, ...]:
    first = variable.first
    return variable.shape, first.type, first.unit, tuple((v.store, v.index) for v in variable.elements)


def _looks(variable: Variable) -> tuple[object, ...]:
    first = variable.first
    return first.quantity, first.min, first.max, first.structural


def _indicators(count: int) -> list[Variable]:
    text = "Positive while a switch is on, negative while it is off"
    elements = tuple(
        ScalarVariable(
            element.name, text, "Real", "local", "continuous", "calculated", None, "indicator", i, element=element
        )
        for i, element in enumerate(Array(INDICATORS, (count,)).elements)
    )
    return [Variable(INDICATORS, (count,), elements, "local", "continuous", "calculated", text)] if count else []
