"""What callers hand over beside a model: numbers, counts, names, mappings and series, each checked in one way."""

from __future__ import annotations

import functools
import math
import operator
import os
import pathlib
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from mbfmu.errors import ModelError

P = ParamSpec("P")
T = TypeVar("T")


def renamed(**names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function take arguments by their old names, too: old="new"; that is told as a `DeprecationWarning`."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def taking(*args: P.args, **kwargs: P.kwargs) -> T:
            for old, new in names.items():
                if old in kwargs:
                    if new in kwargs:
                        raise TypeError(f"{function.__name__}() got {new}, and {old}, its old name; leave {old} out")
                    warnings.warn(
                        f"{old}= of {function.__name__}() is called {new}= now; the old name goes with version 1.0",
                        DeprecationWarning,
                        stacklevel=2,
                    )
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return taking

    return decorate


#: A tolerance below is none that double precision can keep: `usable_tolerance` of templates/runtime/instance.c.
LEAST_TOLERANCE = 1e-14


def real(value: Any, what: str) -> float:
    """`value` as a finite number; NumPy's scalars are numbers, texts and truth values are none.

    Raises:
        ModelError: It is no finite number; the message begins with `what`.
    """
    number = math.nan
    if not isinstance(value, str | bytes | bool | np.bool_) and np.ndim(value) == 0:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
    if not math.isfinite(number):
        raise ModelError(f"{what} = {value!r:.60}: a finite number is expected")
    return number


def whole(value: Any, what: str, least: int) -> int:
    """`value` as a whole number that is not less than `least`.

    Raises:
        ModelError: It is none; the message begins with `what`.
    """
    try:
        number = least - 1 if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise ModelError(f"{what} = {value!r:.60}: a whole number of at least {least} is expected")
    return number


def flag(value: Any, what: str) -> bool:
    """`value` as True or False; NumPy's are such, numbers and texts are not.

    Raises:
        ModelError: It is neither; the message begins with `what`.
    """
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{what} = {value!r:.60}: it is True or False")
    return bool(value)


def check_callback(value: Any, what: str) -> None:
    """Refuse what is neither a function nor None.

    Raises:
        ModelError: It cannot be called; the message begins with `what`.
    """
    if value is not None and not callable(value):
        raise ModelError(f"{what} = {value!r:.60}: a function is expected, such as print")


def number_in(text: str) -> float:
    """The number that a text is, in digits from 0 to 9; Python alone reads 1_000 and digits of other scripts.

    Raises:
        ValueError: It is none.
    """
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """`value` as a mapping from names; an empty one for None.

    Raises:
        ModelError: It is no mapping, or a key is no text; the message begins with `what`.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError(f"{what} = {value!r:.60}: a mapping from names to values is expected, as {{'body.m': 2.0}}")
    for key in value:
        if not isinstance(key, str):
            raise ModelError(f"{what}: {key!r:.60} is no name of a variable; write it as text, as 'body.m'")
    return value


def path(value: Any, what: str) -> pathlib.Path:
    """`value` as the path of a file.

    Raises:
        ModelError: It is none; the message begins with `what`.
    """
    given = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(given, str) or "\0" in given:
        raise ModelError(f"{what} = {value!r:.60}: a path is expected, as 'name.csv'")
    return pathlib.Path(given)


def names(value: Any, what: str, example: str = "revolute1.phi") -> list[str]:
    """`value` as a list of names, such as `example`.

    Raises:
        ModelError: It is a single text, no list, or has something in it that is no text; the message begins with
            `what`.
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        listed_one = [value] if isinstance(value, str) else [example]
        raise ModelError(f"{what} = {value!r:.60}: a list of names is expected, as {listed_one}")
    listed = list(value)
    for name in listed:
        if not isinstance(name, str):
            raise ModelError(f"{what}: {name!r:.60} is no name of a variable; write it as text, as {example!r}")
    return listed


def numbers(values: Any, what: str) -> np.ndarray:
    """`values` as an array of numbers; None and what NumPy has masked are gaps, NaN.

    Raises:
        ModelError: There is something in it that is no number; the message begins with `what`.
    """
    try:
        if isinstance(values, list | tuple) and any(one is np.ma.masked for one in values):
            values = [None if one is np.ma.masked else one for one in values]
        array = np.asarray(values)
        if np.ma.is_masked(values):
            array = np.where(np.ma.getmaskarray(values), np.nan, array)
        if array.dtype.kind not in "fiub":
            flat = [np.nan if one is None else one for one in array.ravel().tolist()]
            if any(isinstance(one, str | bytes | complex) for one in flat):
                raise TypeError
            array = np.array(flat, dtype=float).reshape(array.shape)
        return array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{what}: {values!r:.60} are no numbers") from None
