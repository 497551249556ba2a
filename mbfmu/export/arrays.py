"""The variables of FMI 3.0: vectors and matrices as arrays, variables of one place as aliases.

A System has scalars, named as in FMI 2.0: `r_0[1]`, `R.T[2,3]`. What belongs together becomes one array here, its
elements in the order of the standard: the last index counts fastest (FMI 3.0, section 2.2.6.1).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterable, Sequence

from mbfmu.runtime.variables import ScalarVariable, Terminal

#: Types of FMI 3.0 by those of FMI 2.0, in the order of their value references.
TYPES = {"Real": "Float64", "Integer": "Int32", "Boolean": "Boolean", "String": "String"}

#: Name of the array of event indicators.
INDICATORS = "eventIndicators"

_ELEMENT = re.compile(r"(der\()?(.*?)\[(\d+(?:,\d+)*)\](\)|,2\))?")

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
    #: Variables that share its value reference.
    aliases: tuple[Variable, ...] = ()
    reference: int = -1

    @property
    def first(self) -> ScalarVariable:
        """The first element; what is the same for all, such as the unit, is read of it."""
        return self.elements[0]

    @property
    def description(self) -> str:
        """One sentence; it names the array where it names its element."""
        return self.first.description.replace(self.first.derivative_of or "\n", _stem(self.first.derivative_of or "\n"))


@dataclasses.dataclass(frozen=True)
class Arrangement:
    """All variables, and the scalars that hold their values, each with a value reference of its own."""

    variables: tuple[Variable, ...]
    #: Elements of all variables but aliases, one variable after the other.
    elements: tuple[ScalarVariable, ...]
    #: Parallel to `elements`: the number of elements of the variable that begins there, 0 within an array.
    lengths: tuple[int, ...]

    def named(self) -> tuple[ScalarVariable, ...]:
        """The first element of each variable, under the variable's name and its member's in the terminal."""
        return tuple(
            dataclasses.replace(v.first, name=v.name, terminal=_whole(v.first.terminal)) for v in self.variables
        )


def arrange(variables: Sequence[ScalarVariable], indicators: int = 0) -> Arrangement:
    """Find arrays and aliases among scalars, and give out value references.

    Parameters
    ----------
    variables
        The scalars of a System, or some of them.
    indicators
        Number of event indicators, which FMI 3.0 wants among the variables.
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
    wanted = {
        position[v.derivative_of].index
        for v in variables
        if v.derivative_of in position and position[v.derivative_of].store == "x"
    }
    apart: set[str] = set()
    while True:
        made = _joined(variables, apart)
        held = [x.index for state, _ in states_of(made) for x in state.elements]
        if held == sorted(wanted):
            return made
        missing = wanted - set(held) | {index for index in held if held.count(index) > 1}
        names = {_stem(v.name) for v in variables if v.store == "x" and v.index in missing}
        names |= {_stem(v.name) for v in variables if v.derivative_of and _stem(v.derivative_of) in names}
        if names <= apart:
            return _joined(variables, {_stem(v.name) for v in variables})
        apart |= names


def _joined(variables: Sequence[ScalarVariable], apart: set[str]) -> list[Variable]:
    groups: dict[str, list[ScalarVariable]] = {}
    for variable in variables:
        groups.setdefault(_stem(variable.name), []).append(variable)
    made = []
    for stem, group in groups.items():
        array = None if stem in apart else _array(stem, group)
        made += [array] if array else [_scalar(variable) for variable in group]
    return made


def _scalar(v: ScalarVariable) -> Variable:
    return Variable(v.name, (), (v,), v.causality, v.variability, v.initial)


def _stem(name: str) -> str:
    """Name of the array that an element belongs to, after its own: `a.r` of `a.r[1]`, `der(a.r)` of `der(a.r[1])`."""
    match = _ELEMENT.fullmatch(name)
    if match is None or (match[1] is None) != (match[4] is None):
        return name
    return f"{match[1] or ''}{match[2]}{match[4] or ''}"


def _array(stem: str, group: Sequence[ScalarVariable]) -> Variable | None:
    """The array of some scalars, or None where they are no whole array or differ in more than FMI allows."""
    indices = {}
    for variable in group:
        match = _ELEMENT.fullmatch(variable.name)
        if variable.name == stem or match is None:
            return None
        indices[tuple(int(index) for index in match[3].split(","))] = variable
    if len({len(index) for index in indices}) > 1:
        return None
    shape = tuple(max(index[k] for index in indices) for k in range(len(next(iter(indices)))))
    if len(indices) != math.prod(shape) or len({_common(variable) for variable in group}) > 1:
        return None
    elements = tuple(indices[index] for index in itertools.product(*(range(1, n + 1) for n in shape)))
    kind = _kind(elements)
    return None if kind is None else Variable(stem, shape, elements, *kind)


def _common(v: ScalarVariable) -> tuple[object, ...]:
    return (
        v.type, v.unit, v.display_unit, v.quantity, v.min, v.max, v.nominal, v.structural, _whole(v.terminal),
        _stem(v.derivative_of) if v.derivative_of else None,
    )  # fmt: skip


def _whole(terminal: Terminal | None) -> Terminal | None:
    """The terminal of an array, from that of an element."""
    return terminal and dataclasses.replace(terminal, member=_stem(terminal.member))


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
    elements = tuple(
        ScalarVariable(
            f"{INDICATORS}[{i + 1}]", "Positive while a switch is on, negative while it is off", "Real", "local",
            "continuous", "calculated", None, "indicator", i,
        )
        for i in range(count)
    )  # fmt: skip
    return [Variable(INDICATORS, (count,), elements, "local", "continuous", "calculated")] if count else []
