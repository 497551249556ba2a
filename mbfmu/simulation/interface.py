"""Variables by name or value reference: what may be set when, and where a value lives."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from .errors import VariableError
from .instance import Instance

Value = float | int | bool | str


class Variable(Protocol):
    """What the runtime reads of a scalar variable; `mbfmu.dynamics.variables.ScalarVariable` has more."""

    @property
    def name(self) -> str:
        """Unique name."""
        ...

    @property
    def type(self) -> str:
        """One of Real, Integer, Boolean, String."""
        ...

    @property
    def causality(self) -> str:
        """FMI causality."""
        ...

    @property
    def variability(self) -> str:
        """FMI variability."""
        ...

    @property
    def start(self) -> Value | None:
        """Start value; of a constant, its value."""
        ...

    @property
    def store(self) -> str:
        """Store that holds the value."""
        ...

    @property
    def index(self) -> int:
        """Position in the store."""
        ...

    @property
    def start_index(self) -> int | None:
        """Position in p of the start value."""
        ...

    @property
    def min(self) -> float | None:
        """Smallest value that may be set."""
        ...

    @property
    def max(self) -> float | None:
        """Largest value that may be set."""
        ...

    @property
    def structural(self) -> bool:
        """True where another value means another model."""
        ...


@dataclasses.dataclass(frozen=True)
class Record:
    """A `Variable` on its own, for a runtime that has no other class for it (a Python-hosted FMU)."""

    name: str
    type: str
    causality: str
    variability: str
    start: Value | None
    store: str
    index: int
    start_index: int | None
    min: float | None
    max: float | None
    structural: bool

    @classmethod
    def of(cls, variable: Variable) -> Record:
        """Keep what the runtime needs of a variable."""
        return cls(**{field.name: getattr(variable, field.name) for field in dataclasses.fields(cls)})

    def plain(self) -> list[Any]:
        """Values of the fields, in order, for JSON; `Record(*plain)` is the way back."""
        return [getattr(self, field.name) for field in dataclasses.fields(self)]


class Interface:
    """The variables of a model, to read and set on an instance by FMI's rules (FMI 2.0.4, section 4.2.4).

    Parameters
    ----------
    variables
        All variables of the model.
    """

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = variables
        self._by_name = {variable.name: variable for variable in variables}

    def find(self, name: str) -> Variable:
        """Return the variable of this name.

        Raises
        ------
        VariableError
            There is none; the message lists names like it.
        """
        if name not in self._by_name:
            raise VariableError(unknown(name, self._by_name))
        return self._by_name[name]


def unknown(name: str, names: Iterable[str]) -> str:
    """Message about a name that does not exist, with the nearest ones that do."""
    known = list(names)
    near = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
    near = near or [other for other in known if name.lower() in other.lower()][:4]
    hint = f"; did you mean {', '.join(repr(other) for other in near)}?" if near else ""
    return f"there is no variable '{name}'{hint}"


def get(instance: Instance, variable: Variable) -> Value:
    """Value of a variable, in its own type.

    Raises
    ------
    SimulationError
        The value needs an initialisation, and that fails.
    """
    if variable.store == "constant":
        return variable.start if variable.start is not None else 0.0
    value = instance.get(variable.store, variable.index)
    if variable.type == "Boolean":
        return value != 0.0
    return round(value) if variable.type == "Integer" else value


def put(instance: Instance, variable: Variable, value: Value) -> None:
    """Set a variable; see `change`."""
    change(instance, variable, value)()


def change(instance: Instance, variable: Variable, value: Value) -> Callable[[], None]:
    """Check that a variable may be set to a value now; what is returned sets it.

    Inputs and tunable parameters may be set at any time, other parameters and start values before the initialisation is
    finished.

    Raises
    ------
    VariableError
        The variable cannot be set, not now, or not to this value.
    """
    name = variable.name
    if variable.store == "constant":
        if value != variable.start:
            remedy = "build the model anew with this value" if variable.structural else "it is a constant"
            raise VariableError(f"'{name}' = {variable.start!r} cannot be set to {value!r}: {remedy}")
        return lambda: None
    number = _number(variable, value)
    if variable.causality == "input":
        return functools.partial(instance.set_input, variable.index, number)
    index = variable.start_index
    if index is None and variable.causality == "parameter" and variable.store == "P":
        index = variable.index
    if index is None:
        raise VariableError(f"'{name}' cannot be set: it is calculated by the model")
    if not instance.initialising and variable.variability != "tunable":
        what = "parameter" if variable.causality == "parameter" else "start value"
        raise VariableError(f"'{name}' cannot be set now: a {what} is set before the initialisation ends")
    return functools.partial(instance.set_parameter, index, number)


def _number(variable: Variable, value: Value) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise VariableError(f"'{variable.name}' cannot be set to {value!r}: a number is expected") from None
    if not math.isfinite(number):
        raise VariableError(f"'{variable.name}' cannot be set to {value!r}: a finite number is expected")
    if variable.min is not None and number < variable.min:
        raise VariableError(f"'{variable.name}' cannot be set to {value!r}: its smallest value is {variable.min!r}")
    if variable.max is not None and number > variable.max:
        raise VariableError(f"'{variable.name}' cannot be set to {value!r}: its largest value is {variable.max!r}")
    return number
