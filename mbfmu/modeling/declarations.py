"""What a component's author declares, once and on one statement each: parameters, variables, connectors.

A declaration is a class attribute, as in ::

    J = Parameter(Inertia, required, "Moment of inertia", min=0)
    phi = Coordinate(Angle, "Relative rotation angle", start=0.0, state_select="prefer")
    frame_a = Frame_a("Coordinate system fixed to the body")

Constructor, checks, documentation and modelDescription.xml all come from it. Reading or writing a declared attribute is
delegated to the object at hand: a component under construction gives parameters and references, the scope in which its
equations are evaluated (mbfmu.dynamics.reading.equation_context) gives symbols.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.arrays import element_name
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.names import checked_text
from mbfmu.modeling.types import Axis, Type

Shape = tuple[int, ...]

#: The largest integer of FMI 2.0.
_LARGEST = 2**31 - 1


class _Required:
    """Sentinel: the parameter has no default and must be given."""

    def __repr__(self) -> str:
        return "required"


#: Marks a parameter without default: the constructor insists on a value.
required: Any = _Required()


@dataclasses.dataclass(frozen=True)
class Start:
    """Start value of a variable, or of a free parameter (Modelica's `x(start=..., fixed=...)`).

    `value` None keeps the declared start value; `fixed` None keeps what the class declares. Both may be sequences, one
    entry per element. A start value that is not fixed is a guess.
    """

    value: Any = None
    fixed: bool | Sequence[bool] | None = None


#: Modelica's stateSelect, from the weakest.
STATE_SELECTS = ("never", "avoid", "default", "prefer", "always")


def is_expression(value: Any) -> bool:
    """True for a CasADi expression, such as another parameter's symbol."""
    return isinstance(value, ca.SX)


def checked_start(value: Any, where: str, type: Type | None = None) -> Start:
    """A start value as Python or a file gives it, `Start` or a mapping with `start` and `fixed`, in its one form.

    Raises:
        ModelError: it is neither, its value is no finite number (or an expression), or `fixed` is not true or false.
    """
    if isinstance(value, Mapping) and value and set(value) <= {"start", "fixed"}:
        value = Start(value.get("start"), value.get("fixed"))
    if not isinstance(value, Start):
        raise ModelError(
            f"{where} = {value!r}: this is a variable, its start value is given as Start(value, fixed=...) "
            "(in a file: {start = ..., fixed = ...})"
        )
    for flag in _scalars(value.fixed):
        if not (flag is None or isinstance(flag, bool | np.bool_)):
            raise ModelError(f"{where}: fixed = {value.fixed!r}; expected true or false")
    if type is not None and type.base == "Boolean":
        value = dataclasses.replace(value, value=truths_as_numbers(value.value))
    if value.value is not None and not is_expression(value.value):
        checked_numbers(value.value, f"{where}: its start value {value.value!r}")
    return value


def truths_as_numbers(value: Any) -> Any:
    """True and False as 1.0 and 0.0, alone or in a list; all else as it is."""
    if isinstance(value, list | tuple | np.ndarray):
        return [truths_as_numbers(part) for part in value]
    return float(value) if isinstance(value, bool | np.bool_) else value


def checked_numbers(value: Any, what: str) -> None:
    """Refuse what are no finite numbers; CasADi expressions may be among them."""
    for part in _scalars(value):
        if is_expression(part):
            continue
        if isinstance(part, str):
            raise ModelError(f"{what} is text; give a number, in SI units")
        try:
            number = math.nan if isinstance(part, bool | np.bool_) else float(part)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise ModelError(f"{what} is no finite number; give one, in SI units")


def check_shape(shape: Any, what: str) -> None:
    """Refuse what is no shape: whole numbers that are not negative; a function tells a shape later, None takes any."""
    if shape is None or callable(shape):
        return
    sizes = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(size, int | np.integer) and size >= 0 for size in sizes):
        raise ModelError(f"{what}: its shape {shape!r:.60} is none; give 3, or (3, 3)")


class Declaration:
    """Base of everything declared in a component class."""

    name = ""
    doc = ""
    when: Callable[[Any], bool] | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else instance._read(self)

    def __set__(self, instance: Any, value: Any) -> None:
        instance._write(self, value)

    def enabled(self, instance: Any) -> bool:
        """False where the declaration's condition switches it off for this instance."""
        return self.when is None or bool(self.when(instance))


def _check_bound(least: Any, most: Any, what: str) -> None:
    """Refuse bounds that are no numbers; infinite ones are none."""
    for name, bound in (("min", least), ("max", most)):
        if bound is not None and not (isinstance(bound, int | float | np.number) and not math.isnan(bound)):
            raise ModelError(f"{what}: {name} = {bound!r:.60} is no number; give one, in SI units")


def check_declared(type: Any, doc: Any) -> None:
    """Refuse what is no type, and what is no sentence: the two are easily exchanged."""
    if not isinstance(type, Type):
        raise ModelError(
            f"a declaration has {type!r:.60} for its type; give one of mbfmu.modeling.types, such as types.Mass, first"
        )
    _check_bound(type.min, type.max, f"the type {type.name}")
    if not isinstance(doc, str):
        raise ModelError(f"a declaration has {doc!r:.60} for its sentence; write in quotes what the quantity is")


class Parameter(Declaration):
    """A parameter: type, default, one sentence; then shape, bounds and role.

    `default` may be `required`, a value, or a function of the instance (a binding to other parameters). `structural`
    parameters are plain Python values that shape the equations; a change needs a rebuild. All others stay symbols:
    they can be set in the FMU. `shape` None takes the shape of the value given; `size` names a parameter that then says
    how many elements it has. `nonzero` ones must not be 0. `tunable` ones may change while the FMU runs.
    """

    def __init__(
        self,
        type: Type,
        default: Any,
        doc: str,
        *,
        shape: int | Shape | None = (),
        structural: bool = False,
        final: bool = False,
        min: float | None = None,
        max: float | None = None,
        nonzero: bool = False,
        tunable: bool = False,
        animation: bool = False,
        size: str | None = None,
        when: Callable[[Any], bool] | None = None,
    ) -> None:
        check_declared(type, doc)
        _check_bound(min, max, f"the parameter {doc!r:.60}")
        given = {
            "structural": structural,
            "final": final,
            "nonzero": nonzero,
            "tunable": tunable,
            "animation": animation,
        }
        for name, flag in given.items():
            if not isinstance(flag, bool):
                raise ModelError(f"the parameter {doc!r:.60}: {name} = {flag!r:.60}; it is True or False")
        check_shape(shape, f"the parameter {doc!r:.60}")
        self.type, self.default, self.doc, self.size = type, default, doc, size
        self.shape: Shape | None = (shape,) if isinstance(shape, int) else shape
        self.structural = structural or type.base != "Real" or type is Axis
        self.final, self.tunable, self.animation, self.when = final, tunable, animation, when
        self.min = type.min if min is None else (None if min == -math.inf else min)
        self.max = type.max if max is None else max
        self.nonzero = nonzero
        self._default: Any = None

    def checked_default(self, instance: Any) -> Any:
        """The default, as `checked` gives it, which looks at it once for all components that have it."""
        if self._default is None:
            self._default = self.checked(self.default, instance.where)
        return self._default.copy() if isinstance(self._default, np.ndarray) else self._default

    def checked(self, value: Any, where: str) -> Any:
        """`value` in the form in which it is kept, after checks of type, shape and bounds that need no symbols.

        Raises:
            ModelError: wrong type, shape or bound; the message begins with `where` and the parameter's name.
        """
        if isinstance(value, Start) or (isinstance(value, Mapping) and set(value) <= {"start", "fixed"}):
            value = checked_start(value, f"{where}.{self.name}")
            if self.structural:
                raise ModelError(f"{where}.{self.name}: a structural parameter cannot be free; give it a value")
            start = self.checked(0.0 if value.value is None else value.value, where)
            return Start(start, bool(value.fixed)) if value.fixed is not None else start
        if self.type.base in ("Boolean", "String"):
            return self._checked_choice(value, where)
        if self.type.base == "Integer" and is_expression(value):
            raise ModelError(
                f"{where}.{self.name} = {value!s:.60}: shapes the equations, and cannot follow from a parameter that "
                "may change; give a number"
            )
        if is_expression(value) or callable(value):  # or a binding
            return value
        if hasattr(value, "owner"):
            raise ModelError(
                f"{where}.{self.name} = {value!r}: a parameter is given by numbers or other "
                "parameters; what changes with time comes in through a signal"
            )
        if np.ma.is_masked(value):
            raise ModelError(f"{where}.{self.name} = {value!r}: has masked elements; give all of them")
        try:
            if not isinstance(value, np.ndarray) and any(
                part is None or isinstance(part, bool | str) for part in _scalars(value)
            ):  # NumPy would make numbers of them
                raise TypeError
            if np.asarray(value).dtype.kind in "bSU":
                raise TypeError
            array = np.array(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{where}.{self.name} = {_short(value)}: expected {self._expectation()}{self._hint(value)}"
            ) from None
        if self.shape is not None and array.shape != self.shape:
            raise ModelError(
                f"{where}.{self.name} = {_short(value)}: expected {self._expectation()}, got shape {array.shape}"
                f"{self._hint(value)}"
            )
        wrong = self.wrong(array)
        if wrong:
            raise ModelError(f"{where}.{self._first_wrong(value, array)}: {wrong}")
        if self.type is Axis and not np.linalg.norm(array) > 0:
            raise ModelError(
                f"{where}.{self.name} = {value!r}: an axis needs a direction; give a vector that is not zero"
            )
        if self.type.distinct and array.ndim == 1 and np.any(array[1:] == array[:-1]):
            raise ModelError(
                f"{where}.{self.name} = {_short(value)}: neighbours must differ, as in (1, 2, 3) or (3, 1, 3)"
            )
        if self.type.base == "Integer":
            if not np.all(array == np.round(array)):
                raise ModelError(f"{where}.{self.name} = {value!r}: expected whole numbers")
            if np.any(np.abs(array) > _LARGEST):
                raise ModelError(f"{where}.{self.name} = {_short(value)}: an integer of an FMU has 32 bits")
            return int(array) if array.shape == () else tuple(int(v) for v in array.ravel())
        return float(array) if array.shape == () else array

    def wrong(self, values: np.ndarray | float) -> str:
        """What is wrong with numbers that are not finite, outside the bounds, or 0; nothing where nothing is."""
        if not np.all(np.isfinite(values)):
            return "every value must be finite"
        if self.min is not None and np.any(values < self.min):
            return f"must be >= {self.min:g}{self._unit()}"
        if self.max is not None and np.any(values > self.max):
            return f"must be <= {self.max:g}{self._unit()}"
        return "must not be 0" if self.nonzero and np.any(values == 0) else ""

    def _first_wrong(self, value: Any, array: np.ndarray) -> str:
        """Name and value of what is wrong: of many numbers, the first that is."""
        if array.size <= 3:
            return f"{self.name} = {value!r}"
        index, number = next((i, number) for i, number in np.ndenumerate(array) if self.wrong(number))
        return f"{element_name(self.name, (i + 1 for i in index))} = {number:g}"

    def _checked_choice(self, value: Any, where: str) -> Any:
        if self.type.base == "Boolean":
            if not isinstance(value, bool | np.bool_):
                raise ModelError(f"{where}.{self.name} = {value!r}: expected true or false")
            return bool(value)
        if self.shape is None and isinstance(value, list | tuple):
            return tuple(self._checked_choice(part, where) for part in value)
        if not isinstance(value, str):
            raise ModelError(f"{where}.{self.name} = {value!r}: expected a string")
        short = value.rsplit(".", 1)[-1] if self.type.values else value
        if self.type.values and short not in self.type.values:
            raise ModelError(f"{where}.{self.name} = {value!r}: expected one of {', '.join(self.type.values)}")
        return short if self.type.values else checked_text(value, f"{where}.{self.name}")

    def _unit(self) -> str:
        return f" {self.type.unit}" if self.type.unit not in (None, "1") else ""

    def _hint(self, value: Any) -> str:
        """How a value of this shape is written, where one was given that is not."""
        if self.shape is None or len(self.shape) != 1 or self.shape[0] > 6:
            return ""
        example = [1, *(0,) * (self.shape[0] - 1)]
        return f"; write it as {example}"

    def _expectation(self) -> str:
        if self.shape is None:
            return f"a number or a vector of numbers{self._unit() and ' in' + self._unit()}"
        size = {0: "a number", 1: f"{self.shape[0] if self.shape else 0} numbers"}.get(len(self.shape))
        return (size or f"a {' x '.join(map(str, self.shape))} matrix") + (f" in{self._unit()}" if self._unit() else "")


def _scalars(value: Any) -> Iterator[Any]:
    """The elements of nested lists and arrays; CasADi's expressions as they are."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        for part in value:
            yield from _scalars(part)
    else:
        yield value


def _short(value: Any) -> str:
    """A value for a message, without most of its digits where it has many."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no integers of more than 4300 digits
        return "an integer with thousands of digits"
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def Final(
    type: Type,
    binding: Callable[[Any], Any],
    doc: str,
    *,
    shape: int | Shape = (),
    structural: bool = False,
    nonzero: bool = False,
) -> Any:
    """A parameter that its class computes (Modelica's `final parameter`): shown, never set; 0 is refused if `nonzero`.

    `binding` is a function of the instance that gives the value, in the unit of `type` and of `shape`; an error in it
    is told as a ModelError when the value is asked for.
    """
    return Parameter(type, binding, doc, shape=shape, structural=structural, nonzero=nonzero, final=True)


class Variable(Declaration):
    """A variable that the equations assign.

    `start`, `fixed`, `state_select` and `nominal` (None: that of the type) may be functions of the instance.

    Subclasses are unknowns; where `dummy` gives true for an instance, they are assigned like any other variable.
    """

    def __init__(
        self,
        type: Type,
        doc: str,
        *,
        shape: int | Shape | Callable[[Any], Shape] = (),
        start: Any = None,
        fixed: Any = False,
        state_select: Any = "default",
        nominal: Any = None,
        dummy: Callable[[Any], bool] | None = None,
        when: Callable[[Any], bool] | None = None,
    ) -> None:
        check_declared(type, doc)
        check_shape(shape, f"the variable {doc!r:.60}")
        for given, called in ((start, "start value"), (nominal, "nominal value")):
            given = truths_as_numbers(given.value if isinstance(given, Start) else given)
            if given is not None and not callable(given):
                checked_numbers(given, f"the variable {doc!r:.60}: its {called} {given!r:.60}")
        if not callable(state_select) and state_select not in STATE_SELECTS:
            raise ModelError(
                f"the variable {doc!r:.60}: its stateSelect {state_select!r:.60} is unknown; there are "
                f"{', '.join(STATE_SELECTS)}"
            )
        self.type, self.doc, self.when, self.dummy = type, doc, when, dummy
        self._nominal = nominal
        self._shape = (shape,) if isinstance(shape, int) else shape
        self.start, self.fixed, self.state_select = start, fixed, state_select

    def shape(self, instance: Any) -> Shape:
        """Shape for this instance: () for a scalar."""
        return self._shape(instance) if callable(self._shape) else self._shape

    def size(self, instance: Any) -> int:
        """Number of scalars for this instance."""
        return math.prod(self.shape(instance))

    def nominal(self, instance: Any) -> float | None:
        """Nominal value for this instance, None where nobody gives one."""
        value = self._nominal(instance) if callable(self._nominal) else self._nominal
        return self.type.nominal if value is None else float(value)

    def check_bounds(self, value: Any, where: str) -> None:
        """Refuse a start value outside the bounds of the type; expressions are looked at when a run starts.

        Raises:
            ModelError: it is outside; the message begins with `where` and the variable's name.
        """
        for part in _scalars(value):
            for bound, sign in ((self.type.min, ">="), (self.type.max, "<=")):
                if part is None or is_expression(part) or bound is None:
                    continue
                if (part < bound) if sign == ">=" else (part > bound):
                    raise ModelError(f"{where}: its start value {value!r} must be {sign} {bound:g} {self.type.unit}")

    def leaf(self, instance: Any) -> leaves.Leaf | None:
        """The leaf that it is in equations of this instance, None where they assign it."""
        return None if self.dummy is not None and self.dummy(instance) else self._leaf(self.size(instance))

    def _leaf(self, size: int) -> leaves.Leaf | None:
        return None


class Coordinate(Variable):
    """A position coordinate whose speed is its derivative: each element can be tied to flanges by relations."""

    def _leaf(self, size: int) -> leaves.Leaf:
        return leaves.Coordinate(self.name, size=size)


class Quaternion(Variable):
    """Orientation coordinates, a unit quaternion [u, v, w, c]; `speed` names the Speed with its angular velocity."""

    def __init__(self, type: Type, doc: str, *, speed: str, **attributes: Any) -> None:
        super().__init__(type, doc, shape=4, **attributes)
        self.speed = speed

    def _leaf(self, size: int) -> leaves.Leaf:
        return leaves.Quaternion(self.name, speed=self.speed)


class Speed(Variable):
    """Speed coordinates that are not derivatives of coordinates: angular velocity that goes with a Quaternion."""

    def _leaf(self, size: int) -> leaves.Leaf:
        return leaves.Speed(self.name, size)


class Impulse(Speed):
    """Time integral of a force that is found with the accelerations: its derivative in `effort` is that force.

    It is finite, so that the integral does not jump, but at impacts of its own component (`self.impact`).
    """


class State(Variable):
    """A state with a differential equation of its own: `self.der.NAME = ...`."""

    def _leaf(self, size: int) -> leaves.Leaf:
        return leaves.State(self.name, size)


class DiscreteState(Variable):
    """A variable that keeps its value between events (Modelica's `discrete`): `self.when(event, NAME=...)` gives it.

    It begins at its start value, 0 where there is none.
    """

    def _leaf(self, size: int) -> leaves.Leaf:
        return leaves.DiscreteState(self.name, size)


class Multiplier(Variable):
    """A constraint force or torque: unknown of the equations of motion, tied to a constraint by `self.constrain`."""

    def _leaf(self, size: int) -> leaves.Leaf:
        return leaves.Multiplier(self.name, size)


class NetworkVariable(Variable):
    """A scalar that is found together with the potentials of a network, such as the current of a voltage source.

    The first `self.relation` between potentials belongs to the first of them, and so on.
    """

    def _leaf(self, size: int) -> leaves.Leaf:
        return leaves.NetworkVariable(self.name)
