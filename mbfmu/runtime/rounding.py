"""What of shown numbers is nothing but rounding: tables, plots and pages have 0 for it, files what was computed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

#: Of the largest number of a unit, what sums and differences of such numbers may leave of 0: of all variables of the
#: gallery that are 0 by theory, 6e-14 is the most.
ROUNDING = 1e-13
#: And of what does not change: some units of its last digit.
STILL = 1e-15


def noise_of(
    sizes: Mapping[str, float], units: Mapping[str, str], constant: frozenset[str] = frozenset()
) -> dict[str, float]:
    """Up to where a number says nothing, by variable: beside lengths of metres, 1e-17 m are 0.

    What is alone in its unit is as large as it is.

    Args:
        sizes: Largest magnitudes by name.
        units: Units by name; a variable without one stands alone.
        constant: Names of those that do not change: parameters such as a speed of 1e10 rad/s at which a friction is
            smoothed say nothing of what moves. They count where what changes is rounding beside them.
    """
    largest: dict[str, list[float]] = {}
    for name, size in sizes.items():
        of = largest.setdefault(units.get(name, name), [0.0, 0.0])
        if np.isfinite(size):
            of[name in constant] = max(of[name in constant], abs(size))
    limits = {
        unit: ROUNDING * changing if changing > STILL * still else STILL * still
        for unit, (changing, still) in largest.items()
    }
    return {name: limits[units.get(name, name)] for name in sizes}


def noise_of_series(series: Mapping[str, npt.NDArray[np.float64]], units: Mapping[str, str]) -> dict[str, float]:
    """As `noise_of`, of series: which do not change, they say themselves."""
    finite = {name: values[np.isfinite(values)] for name, values in series.items()}
    sizes = {name: float(np.abs(values).max(initial=0.0)) for name, values in finite.items()}
    constant = {name for name, values in finite.items() if values.size and np.ptp(values) <= ROUNDING * sizes[name]}
    return noise_of(sizes, units, frozenset(constant))


def cleared(values: npt.ArrayLike, noise: float) -> npt.NDArray[np.float64]:
    """Values, with 0 for what is nothing but rounding."""
    given = np.asarray(values, dtype=np.float64)
    return np.where(np.abs(given) <= noise, 0.0, given)
