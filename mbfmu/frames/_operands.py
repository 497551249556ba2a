"""What the functions of this package take: `Orientation`, and the kinds of numbers and symbols with their checks.

A function states the kind of each argument in its signature (`e: UnitVector, angle: Scalar`) and is decorated with
`operands`, which converts the arguments (sequences, NumPy arrays, CasADi DM, SX, MX) and checks what can be checked.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any, ParamSpec, TypeVar

import casadi as ca
import numpy as np

from mbfmu.frames import _algebra as alg

#: Largest deviation of a numeric matrix from orthonormality, and of a length from 1, that passes as rounding.
TOLERANCE = 1e-6


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of argument: its shape and, for numbers, a property of its values."""

    shape: tuple[int, ...]
    holds: Callable[[np.ndarray, float], bool] | None = None
    expectation: str = ""

    def convert(self, name: str, value: Any) -> Any:
        """The value as a float array (..., *shape), or as a dense CasADi column or matrix.

        Raises:
            ValueError: wrong shape, not numbers, or numbers without the property. Symbols are checked for shape only.
        """
        value = _gather(value)
        if isinstance(value, (*alg.SYMBOLS, ca.DM)):
            expected = (*self.shape, 1, 1)[:2]
            if value.shape != expected:
                raise ValueError(f"{name}: CasADi value of shape {value.shape}, expected {expected}")
            if not isinstance(value, ca.DM):
                return value if value.is_dense() else ca.densify(value)
            value = value.full().reshape(self.shape)
        return self._numbers(name, value)

    def _numbers(self, name: str, value: Any) -> np.ndarray:
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise ValueError(f"{name} = {value!r}: expected numbers of shape (..., {self._trailing()})") from error
        # Not left to the conversion: float() of a CasADi symbol is NaN, and of the string "1" it is 1.
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name} = {value!r}: expected numbers, or symbols in a list or a CasADi column")
        array = array.astype(float, copy=False)
        if array.shape[array.ndim - len(self.shape) :] != self.shape or array.ndim < len(self.shape):
            raise ValueError(f"{name} = {value!r}: shape {array.shape}, expected (..., {self._trailing()})")
        if self.holds is not None and not self.holds(array, TOLERANCE):
            raise ValueError(f"{name} = {value!r}: expected {self.expectation}")
        return array

    def _trailing(self) -> str:
        return ", ".join(map(str, self.shape))


def _gather(value: Any) -> Any:
    """A list or tuple that holds symbols as one symbol; everything else unchanged."""
    if not isinstance(value, (list, tuple)):
        return value
    parts = [_gather(part) for part in value]
    if not alg.is_symbolic(*parts):
        return value
    shapes = [part.shape if alg.is_symbolic(part) else np.shape(part) for part in parts]
    are_rows = all(shape[:1] == (len(parts),) for shape in shapes)
    return ca.horzcat(*parts).T if are_rows else ca.vertcat(*parts)


Scalar = Annotated[Any, Kind(())]
Vector = Annotated[Any, Kind((3,))]
UnitVector = Annotated[Any, Kind((3,), alg.is_unit, "a vector of length 1")]
Matrix = Annotated[Any, Kind((3, 3))]
RotationMatrix = Annotated[Any, Kind((3, 3), alg.is_rotation, "an orthonormal matrix with determinant +1")]
FourVector = Annotated[Any, Kind((4,))]
Quaternion = Annotated[Any, Kind((4,), alg.is_unit, "a unit quaternion [u, v, w, c]; divide it by its length")]


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Orientation:
    """Rotation of a frame 1 into a frame 2 (Modelica's Frames.Orientation); immutable.

    With vectors v1 and v2 of one arrow resolved in frame 1 and frame 2: `v2 = T v1`. The columns of T are the axes of
    frame 1 resolved in frame 2, its rows the axes of frame 2 resolved in frame 1. `skew(w) = T der(T')`.

    The constructor checks shapes only, so that `orientation_constraint` can judge any T; `from_T` checks the values.

    Attributes:
        T: transformation matrix [1], NumPy (..., 3, 3) or CasADi 3x3.
        w: angular velocity of frame 2 with respect to frame 1, resolved in frame 2 [rad/s], NumPy (..., 3) or CasADi
            3x1. If T or w is symbolic, both are.
    """

    T: Any
    w: Any

    def __post_init__(self) -> None:
        T, w = _MATRIX.convert("T", self.T), _VECTOR.convert("w", self.w)
        if alg.is_symbolic(T, w):
            _check_mixture({"T": (T, 2), "w": (w, 1)})
            symbol = T if alg.is_symbolic(T) else w
            T, w = alg.to_symbolic(T, symbol), alg.to_symbolic(w, symbol)
        else:
            T, w = np.array(T), np.array(w)
            T.flags.writeable = w.flags.writeable = False
        object.__setattr__(self, "T", T)
        object.__setattr__(self, "w", w)


_MATRIX, _VECTOR = Kind((3, 3)), Kind((3,))

P = ParamSpec("P")
Result = TypeVar("Result")


def operands(function: Callable[P, Result]) -> Callable[P, Result]:
    """Decorator: convert and check the arguments of a function as the kinds in its signature say.

    Raises (when called):
        ValueError: what `Kind.convert` refuses; an argument that should be an Orientation and is not; SX mixed with
            MX; numbers with leading axes mixed with symbols.
    """
    signature = inspect.signature(function)
    hints = typing.get_type_hints(function, include_extras=True)
    kinds = {name: _kind(hints[name]) for name in signature.parameters}
    is_plain = all(p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for p in signature.parameters.values())
    call: Any = function

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Result:
        if is_plain and not kwargs and len(args) == len(kinds):
            given: dict[str, Any] = dict(zip(kinds, args, strict=True))
        else:  # takes longer than most of these functions
            given = signature.bind(*args, **kwargs).arguments
        ranks: dict[str, tuple[Any, int]] = {}
        for name, value in given.items():
            kind = kinds[name]
            if kind is Orientation:
                if not isinstance(value, Orientation):
                    raise ValueError(f"{name} = {value!r}: expected an Orientation, see mbfmu.frames.from_T")
                ranks[f"{name}.T"] = (value.T, 2)
            elif kind is not None and value is not None:
                value = given[name] = kind.convert(name, value)
                ranks[name] = (value, len(kind.shape))
        _check_mixture(ranks)
        return call(**given)

    return checked


def _kind(hint: Any) -> Any:
    """The Kind in an annotation, the class Orientation, or None for arguments that are passed on as they are."""
    if hint is Orientation:
        return Orientation
    for extra in getattr(hint, "__metadata__", ()):
        if isinstance(extra, Kind):
            return extra
    return next((kind for kind in map(_kind, typing.get_args(hint)) if kind is not None), None)


def _check_mixture(values: dict[str, tuple[Any, int]]) -> None:
    """Symbols must be all SX or all MX, and numbers beside them must be single (no leading axes)."""
    if len({type(value) for value, _ in values.values()}) < 2:
        return
    symbols = {type(value).__name__: name for name, (value, _) in values.items() if alg.is_symbolic(value)}
    if len(symbols) > 1:
        raise ValueError(f"{symbols['SX']} is SX and {symbols['MX']} is MX: expected symbols of one type")
    if not symbols:
        return
    for name, (value, rank) in values.items():
        if not alg.is_symbolic(value) and value.ndim != rank:
            raise ValueError(f"{name}: numbers of shape {value.shape} with leading axes cannot be mixed with symbols")
