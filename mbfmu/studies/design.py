"""Which runs a sweep makes: grids, lists, tables, and samples of distributions."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import scipy

from mbfmu.errors import ModelError
from mbfmu.runtime import arguments

Sampling = Literal["sobol", "latin", "random"]
SAMPLINGS: tuple[str, ...] = get_args(Sampling)

#: Ranges: name -> function of its arguments that gives the values.
_RANGES: Mapping[str, Any] = {"linspace": np.linspace, "logspace": np.geomspace}

#: Distributions: name -> function of its arguments that gives a frozen distribution of scipy.stats.
_DISTRIBUTIONS: Mapping[str, Any] = {
    "uniform": lambda least, most: scipy.stats.uniform(least, most - least),
    "loguniform": lambda least, most: scipy.stats.loguniform(least, most),
    "normal": lambda mean, deviation: scipy.stats.norm(mean, deviation),
    "triangular": lambda least, mode, most: scipy.stats.triang((mode - least) / (most - least), least, most - least),
}

#: A list of values has at most so many; a grid of several has more.
MOST = 10**8

FORMS = (
    "0.1,0.2,0.5, linspace:FIRST:LAST:COUNT, logspace:FIRST:LAST:COUNT, uniform:LEAST:MOST, loguniform:LEAST:MOST, "
    "normal:MEAN:DEVIATION or triangular:LEAST:MODE:MOST"
)


@dataclasses.dataclass(frozen=True)
class Design:
    """Values of every run by number, worked out when asked for: a grid of 1e9 runs takes no memory.

    The finite `axes` make a grid, the last one running fastest; `samples` [n, sampled] are rows that are taken
    together, each with every point of the grid.
    """

    names: tuple[str, ...]
    axes: tuple[tuple[int, np.ndarray], ...]
    sampled: tuple[int, ...]
    samples: np.ndarray

    def __len__(self) -> int:
        return self.samples.shape[0] * math.prod(axis.size for _, axis in self.axes)

    def values(self, first: int, last: int) -> np.ndarray:
        """Values [last - first, names] of the runs from `first` to before `last`."""
        numbers = np.arange(first, last)
        found = np.empty((numbers.size, len(self.names)))
        for column, axis in reversed(self.axes):
            numbers, place = np.divmod(numbers, axis.size)
            found[:, column] = axis[place]
        found[:, list(self.sampled)] = self.samples[numbers]
        return found

    def digest(self) -> str:
        """A number that tells designs apart."""
        content = hashlib.sha256(repr(self.names).encode() + self.samples.tobytes())
        for column, axis in self.axes:
            content.update(f"{column} {axis.size} ".encode() + axis.tobytes())
        return content.hexdigest()


def design(
    parameters: Mapping[str, Any], samples: int | None = None, sampling: Sampling = "sobol", seed: int = 0
) -> Design:
    """Make the design of a sweep.

    Args:
        parameters: Values by variable name: numbers, sequences, frozen distributions of scipy.stats, or text in the
            forms of the command line (`FORMS`).
        samples: How many samples distributions give.
        sampling: `sobol` (scrambled), `latin` (Latin hypercube) or `random`.
        seed: Of the samples.

    Raises:
        ModelError: A text is in no form, a list is empty or has something in it that is no finite number, a
            distribution is none, or distributions lack `samples`.
    """
    if sampling not in SAMPLINGS:
        raise ModelError(f'the sampling "{sampling}" is unknown; there are {", ".join(SAMPLINGS)}')
    seed = arguments.whole(seed, "seed", 0)
    samples = None if samples is None else arguments.whole(samples, "samples", 1)
    if samples is not None and samples > MOST:
        raise ModelError(
            f"samples = {samples}: more than {MOST:.0e} are more values than memory has room for; draw fewer"
        )
    read = {name: parse(name, value) for name, value in arguments.mapping(parameters, "parameters").items()}
    names = tuple(read)
    sampled = tuple(i for i, value in enumerate(read.values()) if hasattr(value, "ppf"))
    axes = tuple((i, value) for i, value in enumerate(read.values()) if not hasattr(value, "ppf"))
    if sampled and not samples:
        raise ModelError(f"'{names[sampled[0]]}' has a distribution: say how many samples to draw (samples=)")
    if samples is not None and not sampled:
        raise ModelError("samples are drawn from distributions, such as uniform:1:2; here are lists only")
    rows = np.empty((1, 0))
    if sampled:
        assert samples is not None
        unit = _unit(sampling, len(sampled), samples, seed)
        rows = np.column_stack([_finite(names[i], read[names[i]].ppf(unit[:, k])) for k, i in enumerate(sampled)])
    return Design(names, axes, sampled, rows)


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    if not np.isfinite(values).all():
        first = values[~np.isfinite(values)][0]
        raise ModelError(f"'{name}' has the value {first:g}; give finite numbers")
    return values


def table(columns: Mapping[str, Any]) -> Design:
    """Make a design of runs that are given one by one: columns of equal length by name.

    Raises:
        ModelError: Lengths differ, there is nothing in it, or there are gaps.
    """
    columns = arguments.mapping(columns, "parameters")
    arrays = [_finite(name, arguments.numbers(column, f"'{name}'").ravel()) for name, column in columns.items()]
    if not any(array.size for array in arrays):
        raise ModelError("the table of runs is empty; give a column per parameter and a row per run")
    if len({array.size for array in arrays}) > 1:
        raise ModelError("the columns of the table of runs differ in length")
    return Design(tuple(columns), (), tuple(range(len(arrays))), np.column_stack(arrays))


def parse(name: str, value: Any) -> Any:
    """Values of one parameter [n], or its distribution.

    Raises:
        ModelError: The text is in no known form, or the list is empty.
    """
    if hasattr(value, "ppf"):
        return value
    if isinstance(value, str):
        kind, *texts = value.split(":")
        try:
            if texts and kind in {**_RANGES, **_DISTRIBUTIONS}:
                numbers = [arguments.number_in(text) for text in texts]
                if kind in _RANGES:
                    return _range(kind, *numbers)
                return _distribution(kind, *numbers)
            value = [arguments.number_in(text) for text in value.split(",")]
        except (TypeError, ValueError):
            raise ModelError(f"-p {name}={value}: write values as {FORMS}") from None
    array = np.atleast_1d(arguments.numbers(value, f"'{name}'"))
    if not array.size:
        raise ModelError(f"'{name}' has no values")
    if array.ndim > 1:
        raise ModelError(f"'{name}' has values of the shape {array.shape}; give one number for each run")
    return _finite(name, array)


def _range(kind: str, first: float, last: float, count: float) -> np.ndarray:
    """Values from first to last; ValueError where there are none."""
    if not count >= 1 or count != int(count) or (kind == "logspace" and not first * last > 0):
        raise ValueError
    if count > MOST:
        raise ModelError(f"{kind}:{first:g}:{last:g}:{count:g} has more values than memory holds; choose fewer")
    found: np.ndarray = _RANGES[kind](first, last, int(count))
    return found


def _distribution(kind: str, *numbers: float) -> Any:
    """A frozen distribution; ValueError where the numbers make none."""
    found = _DISTRIBUTIONS[kind](*numbers)
    if not np.isfinite(numbers).all() or not found.support()[0] < found.support()[1] or not found.std() > 0:
        raise ValueError
    return found


def _unit(sampling: Sampling, dimensions: int, count: int, seed: int) -> np.ndarray:
    """Samples in the open unit cube [count, dimensions]."""
    if sampling == "sobol":
        engine: Any = scipy.stats.qmc.Sobol(dimensions, scramble=True, rng=seed)
        rows = engine.random_base2(max(0, int(count - 1).bit_length()))[:count]
    elif sampling == "latin":
        rows = scipy.stats.qmc.LatinHypercube(dimensions, rng=seed).random(count)
    else:
        rows = np.random.default_rng(seed).random((count, dimensions))
    tiny = np.finfo(float).tiny
    return np.clip(rows, tiny, 1 - np.finfo(float).eps)


def chunks(count: int, length: int) -> Sequence[tuple[int, int]]:
    """First and last (excluded) numbers of consecutive parts of at most a length."""
    edges = [*range(0, count, length), count]
    return list(itertools.pairwise(edges))
