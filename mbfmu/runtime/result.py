"""Named time series of one run."""

from __future__ import annotations

import csv
import difflib
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbfmu.errors import MbfmuError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def unknown(name: str, names: Iterable[str]) -> str:
    """Message about a name that does not exist, with the nearest ones that do."""
    known = list(names)
    near = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
    near = near or [other for other in known if name.lower() in other.lower()][:4]
    hint = f"; did you mean {', '.join(repr(other) for other in near)}?" if near else ""
    return f"there is no variable '{name}'{hint}"


class Result(Mapping[str, np.ndarray]):
    """Time series by variable name: `result["revolute1.phi"]` is an array parallel to `result.time`.

    Parameters
    ----------
    model
        Name of the model.
    time
        Instants, s, [n].
    series
        Values by variable name, [n] each.
    units
        Units by variable name, where there are any.
    """

    def __init__(
        self, model: str, time: np.ndarray, series: Mapping[str, np.ndarray], units: Mapping[str, str] | None = None
    ) -> None:
        self.model = model
        self.time = time
        self._series = dict(series)
        self.units = dict(units or {})
        #: Writes the run as an animation; `mbfmu.simulate` gives it.
        self.animation: Callable[[str | os.PathLike[str] | None], Any] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables, in the order of the model."""
        return tuple(self._series)

    def __getitem__(self, name: str) -> np.ndarray:
        if name == "time":
            return self.time
        if name not in self._series:
            raise KeyError(unknown(name, self._series))
        return self._series[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} .. {self.time[-1]:g} s" if self.time.size else "empty"
        return f"Result({self.model!r}, {span}, {self.time.size} points, {len(self)} variables)"

    def to_dict(self) -> dict[str, np.ndarray]:
        """Return time and all series by name, ready for `pandas.DataFrame`."""
        return {"time": self.time, **self._series}

    def to_csv(self, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> pathlib.Path:
        """Write `time` and the series (all, or those named) as CSV with one header line; returns the path.

        Numbers are written so that reading them gives the same double.
        """
        target = pathlib.Path(path)
        chosen = list(self._series) if names is None else list(names)
        columns = [self.time, *(self[name] for name in chosen)]
        with target.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["time", *chosen])
            writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
        return target

    def animate(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Write the motion as `.html` or `.glb`, or return a page for a notebook where no path is given.

        The model is run again, and must not have been changed meanwhile. Raises `MbfmuError` where it was, where
        nothing is drawn, or where something that it takes is not installed.
        """
        if self.animation is None:
            raise MbfmuError(f"{self.model}: only results of mbfmu.simulate can be animated")
        return self.animation(path)

    def plot(self, names: str | Sequence[str] | None = None) -> Figure:
        """Draw series over time, one axis per unit; all of them where no names are given."""
        from matplotlib.figure import Figure

        chosen = list(self._series) if names is None else [names] if isinstance(names, str) else list(names)
        groups: dict[str, list[str]] = {}
        for name in chosen:
            groups.setdefault(self.units.get(name, ""), []).append(name)
        figure = Figure(figsize=(8.0, 1.0 + 2.2 * max(1, len(groups))), layout="constrained")
        axes: Any = figure.subplots(max(1, len(groups)), 1, sharex=True, squeeze=False)[:, 0]
        for axis, (unit, members) in zip(axes, groups.items(), strict=False):
            for name in members:
                axis.plot(self.time, self[name], label=name)
            axis.set_ylabel(unit or "1")
            axis.grid(True, alpha=0.3)
            axis.legend(loc="best", fontsize="small")
        axes[-1].set_xlabel("time in s")
        figure.suptitle(self.model)
        return figure
