"""Values of expressions, and the operators and functions on them (specification, chapters 3, 10 and 12).

A scalar is a number, Boolean, string or `Enumeration`, or a CasADi symbol or expression; an array is a list of its
elements, whatever they are; an orientation object is mbfmu.frames' own; a record is a dictionary. So the number of
dimensions is always that of the lists, and symbols may stand among numbers.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu import frames
from mbfmu.frames import Orientation
from mbfmu.importers.modelica.library import Enumeration

#: Arrays with more elements are refused: they are mistakes, or no mechanism.
LARGEST = 1_000_000
#: Rows of a matrix depend on each other where its smallest singular value is below this part of the greatest one.
_SINGULAR = 1e-12


class Wrong(Exception):
    """An operation that these values do not allow; the message says why. Whoever knows the place adds it."""


def is_symbolic(value: Any) -> bool:
    """True for a CasADi scalar."""
    return hasattr(value, "is_symbolic")


def is_number(value: Any) -> bool:
    """True for Real and Integer values, symbols among them."""
    return is_symbolic(value) or (isinstance(value, int | float) and not isinstance(value, bool))


def shape(value: Any) -> tuple[int, ...]:
    """Dimensions of a value.

    Raises:
        Wrong: the rows of a matrix differ in length.
    """
    if not isinstance(value, list):
        return ()
    inner = {shape(v) for v in value}
    if len(inner) > 1:
        raise Wrong("the rows of an array differ in size; make them equal")
    return (len(value), *(inner.pop() if inner else ()))


def flat(value: Any) -> list[Any]:
    """All elements of a value, row by row."""
    return [e for v in value for e in flat(v)] if isinstance(value, list) else [value]


def array(value: Any) -> Any:
    """A value of the components' (NumPy, CasADi, tuples) as lists."""
    if isinstance(value, Orientation | str | bool) or value is None:
        return value
    if is_symbolic(value):
        value = ca.SX(value)
        rows, columns = value.shape
        if (rows, columns) == (1, 1):
            return value
        if columns == 1:
            return [value[i] for i in range(rows)]
        return [[value[i, j] for j in range(columns)] for i in range(rows)]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [array(v) for v in value]
    return value


def by_columns(value: Any) -> list[Any]:
    """All elements of a value in the order in which components keep them: the first index runs fastest."""
    elements = flat(value)
    return [elements[k] for k in np.arange(len(elements)).reshape(shape(value)).ravel(order="F")]


def by_rows(value: Any, dimensions: tuple[int, ...]) -> list[Any]:
    """All elements, row by row, of what a component keeps: an array, or a column of its elements by columns."""
    given = array(value)
    elements = flat(given)
    if len(dimensions) < 2 or shape(given) == dimensions:
        return elements
    return [elements[k] for k in np.arange(len(elements)).reshape(dimensions, order="F").ravel()]


def casadi(value: Any) -> Any:
    """A value as CasADi wants it: a column, a matrix, a scalar; numbers stay numbers (NumPy)."""
    if isinstance(value, Orientation):
        return value
    elements = flat(value)
    if not all(is_number(e) or isinstance(e, bool) for e in elements):
        return value
    if not any(is_symbolic(e) for e in elements):
        return np.array(value, dtype=float) if isinstance(value, list) else value
    dimensions = shape(value)
    if not dimensions:
        return value
    if len(dimensions) == 1:
        return ca.vertcat(*value)
    if len(dimensions) == 2:
        return ca.vertcat(*(ca.horzcat(*row) for row in value))
    raise Wrong(f"an array of {len(dimensions)} dimensions cannot be a parameter or a variable")


def elementwise(function: Callable[..., Any], *arguments: Any) -> Any:
    """A function of scalars applied to arrays of one shape, scalars repeated (vectorised calls)."""
    sizes = {len(a) for a in arguments if isinstance(a, list)}
    if not sizes:
        return function(*arguments)
    if len(sizes) > 1:
        raise Wrong(f"the arguments have {' and '.join(map(str, sorted(sizes)))} elements; give them one size")
    n = sizes.pop()
    return [elementwise(function, *(a[i] if isinstance(a, list) else a for a in arguments)) for i in range(n)]


def _numbers(*values: Any) -> None:
    for value in values:
        if not is_number(value):
            raise Wrong(f"{describe(value)} is no number")


def describe(value: Any) -> str:
    """How messages call a value."""
    if isinstance(value, Enumeration):
        return f"the literal {value.type_name}.{value}"
    if isinstance(value, str):
        return f'the string "{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"an array of size {' x '.join(map(str, shape(value)))}"
    if isinstance(value, dict):
        return "a record"
    if isinstance(value, Orientation):
        return "an orientation object"
    if is_number(value):
        return "an expression" if is_symbolic(value) else f"{value:g}"
    return str(value)


# -- operators


def _scalar(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def checked(a: Any, b: Any) -> Any:
        _numbers(a, b)
        return function(a, b)

    return checked


def _plus(a: Any, b: Any) -> Any:
    if isinstance(a, str) and isinstance(b, str):
        return str(a) + str(b)
    _numbers(a, b)
    return a + b


def _divide(a: Any, b: Any) -> Any:
    _numbers(a, b)
    if not is_symbolic(b) and b == 0:
        raise Wrong("division by zero")
    return a / b


def _power(a: Any, b: Any) -> Any:
    _numbers(a, b)
    if is_symbolic(a) or is_symbolic(b):
        return a**b
    result = float(a) ** float(b)
    if isinstance(result, complex):
        raise Wrong("a negative number has no power that is not whole")
    return result


def add(a: Any, b: Any) -> Any:
    """a + b, of one shape."""
    _same(a, b, "+")
    return elementwise(_plus, a, b)


def subtract(a: Any, b: Any) -> Any:
    """a - b, of one shape."""
    _same(a, b, "-")
    return elementwise(_scalar(operator.sub), a, b)


def _same(a: Any, b: Any, sign: str) -> None:
    if shape(a) != shape(b):
        raise Wrong(f"{describe(a)} {sign} {describe(b)}: the sizes differ")


def multiply(a: Any, b: Any) -> Any:
    """a*b: by a scalar, or the products of linear algebra."""
    da, db = len(shape(a)), len(shape(b))
    product = _scalar(operator.mul)
    if not da or not db:
        return elementwise(product, a, b)
    inner = shape(a)[-1], shape(b)[0]
    if inner[0] != inner[1] or da > 2 or db > 2:
        raise Wrong(f"{describe(a)} * {describe(b)}: the sizes do not fit")
    if math.prod(shape(a)) * math.prod(shape(b)[1:]) > 10 * LARGEST:
        raise Wrong(f"{describe(a)} * {describe(b)}: is too large")
    if da == 1 and db == 1:
        return total(elementwise(product, a, b))
    if da == 2 and db == 1:
        return [multiply(row, b) for row in a]
    columns = [list(column) for column in zip(*b, strict=True)]
    if da == 1:
        return [multiply(a, column) for column in columns]
    return [[multiply(row, column) for column in columns] for row in a]


def divide(a: Any, b: Any) -> Any:
    """a/b by a scalar."""
    if shape(b):
        raise Wrong("division by an array; use ./ for its elements")
    return elementwise(_divide, a, b)


def power(a: Any, b: Any) -> Any:
    """a^b: of scalars, or of a square matrix by a whole number."""
    if shape(a):
        if len(shape(a)) != 2 or shape(a)[0] != shape(a)[1] or not isinstance(b, int) or not 0 <= b <= 64:
            raise Wrong("only a square matrix has powers, by whole numbers; use .^ for elements")
        return functools.reduce(multiply, [a] * b, identity(len(a)))
    if shape(b):
        raise Wrong("the exponent is an array")
    return _power(a, b)


def negate(a: Any) -> Any:
    """-a."""
    return elementwise(lambda x: _scalar(operator.mul)(x, -1), a)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "^": power,
    ".+": functools.partial(elementwise, _plus),
    ".-": functools.partial(elementwise, _scalar(operator.sub)),
    ".*": functools.partial(elementwise, _scalar(operator.mul)),
    "./": functools.partial(elementwise, _divide),
    ".^": functools.partial(elementwise, _power),
}

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "<>": operator.ne,
}


def compare(sign: str, a: Any, b: Any) -> bool:
    """A relation of scalars that are no symbols; literals of enumerations compare by their order."""
    if isinstance(a, list | dict | Orientation) or isinstance(b, list | dict | Orientation):
        raise Wrong(f"{describe(a)} {sign} {describe(b)}: relations are between scalars")
    if isinstance(a, Enumeration) and isinstance(b, Enumeration):
        if a.literals and b.literals and a.literals != b.literals:
            raise Wrong(
                f"{describe(a)} {sign} {describe(b)}: these are of different types; compare literals of one type"
            )
        if sign in ("==", "<>") or not (a.ordinal and b.ordinal):
            return bool(_COMPARE[sign](str(a), str(b)))
        return bool(_COMPARE[sign](a.ordinal, b.ordinal))
    if isinstance(a, str) != isinstance(b, str) or isinstance(a, bool) != isinstance(b, bool):
        raise Wrong(f"{describe(a)} {sign} {describe(b)}: these cannot be compared")
    return bool(_COMPARE[sign](a, b))


# -- array functions


def total(values: Any) -> Any:
    """Sum of all elements."""
    elements = flat(values)
    _numbers(*elements)
    return functools.reduce(operator.add, elements, 0)


def identity(n: Any) -> Any:
    """Unit matrix."""
    return [[int(i == j) for j in range(size(n))] for i in range(size(n))]


def size(n: Any) -> int:
    """A dimension: a whole number that is not negative and not absurd."""
    if isinstance(n, float) and n.is_integer():
        n = int(n)
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise Wrong(f"{describe(n)} is no size; give a whole number from 0 on")
    if n > LARGEST:
        raise Wrong(f"an array of {n} elements is too large")
    return n


def fill(value: Any, *dimensions: Any) -> Any:
    """An array full of one value."""
    sizes = [size(n) for n in dimensions]
    if math.prod(sizes) > LARGEST:
        raise Wrong(f"an array of {math.prod(sizes)} elements is too large")
    for n in reversed(sizes):
        value = [value] * n
    return value


def linspace(first: Any, last: Any, n: Any) -> Any:
    """Equally spaced numbers."""
    if size(n) < 2:
        raise Wrong("linspace needs two points at least")
    return [first + (last - first) * i / (n - 1) for i in range(n)]


def transpose(a: Any) -> Any:
    """A' of a matrix."""
    if len(shape(a)) < 2:
        raise Wrong(f"transpose of {describe(a)}, which is no matrix")
    return [list(column) for column in zip(*a, strict=True)]


def diagonal(v: Any) -> Any:
    """Diagonal matrix of a vector."""
    return [[v[i] if i == j else 0 for j in range(len(v))] for i in range(len(v))]


def concatenate(dimension: Any, *arrays: Any) -> Any:
    """cat(k, A, B, ...)."""
    if dimension == 1:
        return [row for a in arrays for row in a]
    return [concatenate(dimension - 1, *rows) for rows in zip(*arrays, strict=True)]


def matrix(rows: Sequence[Sequence[Any]]) -> Any:
    """[a, b; c, d] of scalars, vectors (columns) and matrices."""

    def as_matrix(value: Any) -> Any:
        dimensions = len(shape(value))
        return [[value]] if dimensions == 0 else [[v] for v in value] if dimensions == 1 else value

    result = []
    for row in rows:
        blocks = [as_matrix(v) for v in row]
        if len({len(b) for b in blocks}) > 1:
            raise Wrong("the blocks of a row differ in height")
        result += [list(itertools.chain(*parts)) for parts in zip(*blocks, strict=True)]
    shape(result)
    return result


def _extreme(name: str) -> Callable[..., Any]:
    pick, symbolic = (max, ca.fmax) if name == "max" else (min, ca.fmin)

    def scalar(a: Any, b: Any) -> Any:
        if isinstance(a, Enumeration) or isinstance(b, Enumeration):
            return pick(a, b, key=lambda literal: literal.ordinal)
        _numbers(a, b)
        return symbolic(a, b) if is_symbolic(a) or is_symbolic(b) else pick(a, b)

    def function(*arguments: Any) -> Any:
        elements = flat(list(arguments))
        if not elements:
            raise Wrong(f"{name} of nothing")
        return functools.reduce(scalar, elements)

    return function


maximum, minimum = _extreme("max"), _extreme("min")


def _product(values: Any) -> Any:
    elements = flat(values)
    _numbers(*elements)
    return functools.reduce(operator.mul, elements, 1)


def cross(a: Any, b: Any) -> Any:
    """Cross product."""
    if shape(a) != (3,) or shape(b) != (3,):
        raise Wrong("cross takes two vectors of 3 elements")
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _skew(x: Any) -> Any:
    return [[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]]


def norm(v: Any, p: Any = 2) -> Any:
    """Length of a vector; p = 1, 2 or inf."""
    elements = flat(v)
    if p == 2:
        return _math("sqrt")(total([e * e for e in elements]))
    if p == 1:
        return total([_math("abs")(e) for e in elements])
    if not is_symbolic(p) and p > 1e30:
        return maximum([_math("abs")(e) for e in elements])
    raise Wrong(f"the norm of order {describe(p)} is not known; use 1, 2 or Modelica.Constants.inf")


def normalize(v: Any, eps: Any = 1e-13) -> Any:
    """A vector over its length, but at least over eps."""
    length = norm(v)
    length = ca.if_else(length >= eps, length, eps) if is_symbolic(length) else max(length, eps)
    return elementwise(_divide, v, length)


def _direction(v: Any) -> Any:
    """A vector over its length, which is not 0."""
    length = norm(v)
    if not is_symbolic(length) and length == 0:
        raise Wrong("a vector of zeros has no direction")
    return elementwise(_divide, v, length)


# -- scalar functions

_MATH: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sin": (math.sin, ca.sin),
    "cos": (math.cos, ca.cos),
    "tan": (math.tan, ca.tan),
    "asin": (math.asin, ca.asin),
    "acos": (math.acos, ca.acos),
    "atan": (math.atan, ca.atan),
    "atan2": (math.atan2, ca.atan2),
    "sinh": (math.sinh, ca.sinh),
    "cosh": (math.cosh, ca.cosh),
    "tanh": (math.tanh, ca.tanh),
    "asinh": (math.asinh, ca.asinh),
    "acosh": (math.acosh, ca.acosh),
    "exp": (math.exp, ca.exp),
    "log": (math.log, ca.log),
    "log10": (math.log10, ca.log10),
    "sqrt": (math.sqrt, ca.sqrt),
    "abs": (abs, ca.fabs),
    "sign": (lambda x: (x > 0) - (x < 0), ca.sign),
    "floor": (lambda x: float(math.floor(x)), ca.floor),
    "ceil": (lambda x: float(math.ceil(x)), ca.ceil),
    "integer": (lambda x: math.floor(x), ca.floor),
    "mod": (lambda x, y: x - math.floor(x / y) * y, lambda x, y: x - ca.floor(x / y) * y),
    "rem": (math.fmod, lambda x, y: x - ca.if_else(x / y < 0, ca.ceil(x / y), ca.floor(x / y)) * y),
    "div": (lambda x, y: math.trunc(x / y), lambda x, y: ca.if_else(x / y < 0, ca.ceil(x / y), ca.floor(x / y))),
}


def _math(name: str) -> Callable[..., Any]:
    number, symbolic = _MATH[name]

    def scalar(*arguments: Any) -> Any:
        _numbers(*arguments)
        try:
            return (symbolic if any(map(is_symbolic, arguments)) else number)(*arguments)
        except (ValueError, OverflowError, ZeroDivisionError):
            given = ", ".join(f"{a:g}" for a in arguments)
            raise Wrong(f"{name}({given}) does not exist") from None

    return functools.partial(elementwise, scalar)


def _integer(value: Any) -> Any:
    if isinstance(value, Enumeration):
        return value.ordinal
    return _math("integer")(value)


def _text(
    value: Any, significantDigits: Any = 6, minimumLength: Any = 0, leftJustified: Any = True, format: Any = ""
) -> str:
    if format and not is_symbolic(value):
        word = _formatted(value, format)
    elif isinstance(value, bool):
        word = str(value).lower()
    elif isinstance(value, str | int):
        word = str(value)
    elif isinstance(value, float):
        word = f"{value:.{int(significantDigits)}g}"
    else:
        word = "..."  # an expression has no text before the model runs
    return word.ljust(size(minimumLength)) if leftJustified else word.rjust(size(minimumLength))


def _formatted(value: Any, format: Any) -> str:
    """A number in a format of C's, without its `%`."""
    known = re.fullmatch(r"[-+ 0#]*\d{0,3}(\.\d{0,3})?[a-zA-Z]", format) if isinstance(format, str) else None
    letters = "diouxXceEfgG" if isinstance(value, int) else "eEfgG"
    if not known or isinstance(value, bool | str) or format[-1] not in letters:
        raise Wrong(f'{describe(value)} has no format "{format}"; give one of C\'s without %, such as ".3f"')
    return f"%{format}" % value


def _conversion(factor: float, offset: float = 0.0) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        _numbers(value)
        return value * factor + offset if offset else value * factor

    return functools.partial(elementwise, convert)


_DEG = math.pi / 180
_RPM = 2 * math.pi / 60

_CONVERSIONS = {
    "deg": _conversion(_DEG),
    "rpm": _conversion(_RPM),
    "degC": _conversion(1.0, 273.15),
    "degF": _conversion(5 / 9, 459.67 * 5 / 9),
    "degRk": _conversion(5 / 9),
    "kmh": _conversion(1 / 3.6),
    "day": _conversion(86400.0),
    "hour": _conversion(3600.0),
    "minute": _conversion(60.0),
    "litre": _conversion(1e-3),
    "Wh": _conversion(3600.0),
    "kWh": _conversion(3.6e6),
    "bar": _conversion(1e5),
    "gps": _conversion(1e-3),
    "Hz": _conversion(2 * math.pi),
}
_BACK = {
    "deg": _conversion(1 / _DEG),
    "rpm": _conversion(1 / _RPM),
    "degC": _conversion(1.0, -273.15),
    "degF": _conversion(9 / 5, -459.67),
    "degRk": _conversion(9 / 5),
    "kmh": _conversion(3.6),
    "day": _conversion(1 / 86400.0),
    "hour": _conversion(1 / 3600.0),
    "minute": _conversion(1 / 60.0),
    "litre": _conversion(1e3),
    "Wh": _conversion(1 / 3600.0),
    "kWh": _conversion(1 / 3.6e6),
    "bar": _conversion(1e-5),
    "gps": _conversion(1e3),
    "Hz": _conversion(1 / (2 * math.pi)),
}


def _of_frames(name: str) -> Callable[..., Any]:
    """A function of mbfmu.frames on lists."""
    function = getattr(frames, name)
    sequence = {"axes_rotations": 0, "axes_rotations_angles": 1}.get(name)  # numbers of axes, no lengths

    def call(*arguments: Any) -> Any:
        try:
            result = function(*(a if k == sequence else casadi(a) for k, a in enumerate(arguments)))
        except ValueError as error:
            raise Wrong(str(error)) from None
        return tuple(map(array, result)) if isinstance(result, tuple) else array(result)

    return call


_FRAMES = {
    "absoluteRotation": "absolute_rotation",
    "angularVelocity1": "angular_velocity1",
    "angularVelocity2": "angular_velocity2",
    "axesRotations": "axes_rotations",
    "axesRotationsAngles": "axes_rotations_angles",
    "axis": "axis",
    "axisRotation": "axis_rotation",
    "from_nxy": "from_nxy",
    "from_nxz": "from_nxz",
    "from_T": "from_T",
    "from_T2": "from_T2",
    "from_T_inv": "from_T_inv",
    "inverseRotation": "inverse_rotation",
    "nullRotation": "null_rotation",
    "planarRotation": "planar_rotation",
    "planarRotationAngle": "planar_rotation_angle",
    "relativeRotation": "relative_rotation",
    "resolve1": "resolve1",
    "resolve2": "resolve2",
    "resolveDyade1": "resolve_dyade1",
    "resolveDyade2": "resolve_dyade2",
    "resolveRelative": "resolve_relative",
    "smallRotation": "small_rotation",
    "to_exy": "to_exy",
    "to_T": "to_T",
    "to_T_inv": "to_T_inv",
    "to_vector": "to_vector",
    "length": "length",
    "normalize": "normalize",
}


def dependence(matrix: np.ndarray) -> np.ndarray | None:
    """A combination of the rows of a square matrix that is zero, to rounding; None where they are independent."""
    if not matrix.size or not np.all(np.isfinite(matrix)):
        return None
    sizes = np.abs(matrix).max(axis=1, keepdims=True)
    scaled = matrix / np.where(sizes > 0, sizes, 1)
    columns = np.abs(scaled).max(axis=0, keepdims=True)
    left, singular, _ = np.linalg.svd(scaled / np.where(columns > 0, columns, 1))
    return left[:, -1] / np.where(sizes > 0, sizes, 1).ravel() if singular[-1] <= _SINGULAR * singular[0] else None


def _refuse_dependent(a: Any) -> None:
    matrix = ca.densify(ca.SX(casadi(a)))
    symbols = ca.symvar(matrix)
    some = np.random.default_rng(0).uniform(0.5, 1.5, len(symbols))
    at = ca.Function("sample", [ca.vertcat(ca.SX(0, 1), *symbols)], [matrix])(ca.DM(some))
    if matrix.is_square() and dependence(np.array(at)) is not None:
        raise Wrong("the linear equations cannot be solved: rows of their matrix depend on each other")


def _rows(matrix: ca.SX, dimensions: tuple[int, ...]) -> Any:
    """A vector or matrix of CasADi's with these dimensions, which may be 1, as lists."""
    if len(dimensions) == 1:
        return [matrix[i] for i in range(dimensions[0])]
    return [[matrix[i, j] for j in range(dimensions[1])] for i in range(dimensions[0])]


def _solve(a: Any, b: Any) -> Any:
    _refuse_dependent(a)
    if any(map(is_symbolic, flat(a) + flat(b))):
        return _rows(ca.solve(ca.SX(casadi(a)), ca.SX(casadi(b))), shape(b))
    try:
        return array(np.linalg.solve(np.array(a, dtype=float), np.array(b, dtype=float)))
    except (np.linalg.LinAlgError, ValueError) as error:
        raise Wrong(f"the linear equations cannot be solved ({error})") from None


def _inverse(a: Any) -> Any:
    if any(map(is_symbolic, flat(a))):
        _refuse_dependent(a)
        return _rows(ca.inv(ca.SX(casadi(a))), shape(a))
    return _solve(a, identity(len(a)))


def _determinant(a: Any) -> Any:
    return array(ca.det(ca.SX(casadi(a)))) if any(map(is_symbolic, flat(a))) else float(np.linalg.det(np.array(a)))


def _sorted(v: Iterable[Any]) -> Any:
    return sorted(flat(list(v)))


#: Functions without a package, by name; those that need to know more than values are the evaluator's.
BUILTIN: dict[str, Callable[..., Any]] = {
    **{name: _math(name) for name in _MATH},
    "integer": _integer,
    "Integer": _integer,
    "String": _text,
    "max": maximum,
    "min": minimum,
    "sum": total,
    "product": _product,
    "zeros": lambda *n: fill(0, *n),
    "ones": lambda *n: fill(1, *n),
    "fill": fill,
    "identity": identity,
    "linspace": linspace,
    "diagonal": diagonal,
    "transpose": transpose,
    "symmetric": lambda a: [[a[min(i, j)][max(i, j)] for j in range(len(a))] for i in range(len(a))],
    "outerProduct": lambda a, b: [[multiply(x, y) for y in b] for x in a],
    "cross": cross,
    "skew": _skew,
    "scalar": lambda a: flat(a)[0] if len(flat(a)) == 1 else _no_scalar(a),
    "vector": flat,
    "matrix": lambda a: matrix([[a]]),
    "array": lambda *items: list(items),
    "cat": concatenate,
    "ndims": lambda a: len(shape(a)),
    "noEvent": lambda x: x,
    "smooth": lambda p, x: x,
    "homotopy": lambda actual, simplified=None: actual,
    "pure": lambda x: x,
}


def _no_scalar(a: Any) -> Any:
    raise Wrong(f"scalar of {describe(a)}")


#: Functions of the library by their names below Modelica.
LIBRARY: dict[str, Callable[..., Any]] = {
    **{f"Math.{name}": BUILTIN[name] for name in _MATH},
    **{f"Units.Conversions.from_{name}": f for name, f in _CONVERSIONS.items()},
    **{f"Units.Conversions.to_{name}": f for name, f in _BACK.items()},
    **{f"Mechanics.MultiBody.Frames.{name}": _of_frames(ours) for name, ours in _FRAMES.items()},
    "Math.Vectors.length": norm,
    "Math.Vectors.norm": norm,
    "Math.Vectors.normalize": normalize,
    "Math.Vectors.normalizeWithAssert": _direction,
    "Math.Vectors.reverse": lambda v: list(reversed(v)),
    "Math.Vectors.sort": _sorted,
    "Math.Matrices.solve": _solve,
    "Math.Matrices.inv": _inverse,
    "Math.Matrices.det": _determinant,
    "Math.BooleanVectors.allTrue": lambda b: all(flat(b)),
    "Math.BooleanVectors.anyTrue": lambda b: any(flat(b)),
    "Math.BooleanVectors.countTrue": lambda b: sum(map(bool, flat(b))),
    "Math.isEqual": lambda a, b, eps=0: abs(a - b) <= eps,
    "Math.isPowerOf2": lambda n: n > 0 and n & (n - 1) == 0,
    "Units.Conversions.to_unit1": lambda value: value,
    "Utilities.Strings.length": len,
}
