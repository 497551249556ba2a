"""Named time series of one run."""

from __future__ import annotations

import contextlib
import csv
import errno
import html
import os
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbfmu.errors import BuildError, MbfmuError, ModelError, UnknownNameError
from mbfmu.extras import extra
from mbfmu.messages import unknown_variable
from mbfmu.runtime import arguments
from mbfmu.runtime.figures import Curve
from mbfmu.runtime.figures import Figure as Proposed
from mbfmu.runtime.happened import SwitchEvent
from mbfmu.runtime.rounding import cleared, noise_of_series
from mbfmu.runtime.variables import ScalarVariable, matching

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Variables that are drawn or shown where nobody says which.
FEW = 12


@contextlib.contextmanager
def writing(target: pathlib.Path) -> Iterator[None]:
    """Tell what keeps a file from being written, with its name, as a `BuildError`."""
    try:
        yield
    except OSError as error:
        what = error.strerror or type(error).__name__
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "make room, or choose another folder" if full else "check the path and its permissions"
        raise BuildError(f"{target}: cannot be written ({what}); {remedy}") from error


def arrays_of(variables: Iterable[ScalarVariable]) -> dict[str, np.ndarray]:
    """The arrays of which some variables are elements: names of all elements, in an array of its shape, by its name."""
    arrays = dict.fromkeys(variable.element.array for variable in variables if variable.element)
    return {array.name: np.array([e.name for e in array.elements]).reshape(array.shape) for array in arrays}


def check_suffix(path: pathlib.Path, suffix: str | None = None) -> str:
    """The suffix of a file that `Result.save` writes, or the one that says what to write.

    Raises:
        ModelError: It is another one.
    """
    suffix = path.suffix if suffix is None else suffix
    if suffix not in (".csv", ".mat", ".parquet", ".nc"):
        raise ModelError(f"{path}: results are written as .csv, .mat, .parquet or .nc; choose {path.stem}.csv")
    return suffix


#: The longest name that MATLAB keeps.
_LONGEST = 63


def _matlab_name(name: str) -> str:
    """A name as MATLAB has them: letters, digits and `_`, a letter first."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return (plain if plain[:1].isalpha() else f"x_{plain}")[:_LONGEST]


class Result(Mapping[str, np.ndarray]):
    """Time series by variable name: `result["revolute1.phi"]` is an array parallel to `result.time`.

    A vector or matrix has its name, too: `result["body.r_0"]` is an array [n, 3].

    Args:
        model: Name of the model.
        time: Instants, s, [n].
        series: Values by variable name, [n] each.
        units: Units by variable name, where there are any.
        outputs: Names of the model's outputs among them: what is drawn and shown first.
        ended: Why the model ended the run before its stop time; None where it did not.
        arrays: By the name of an array those of its elements, in an array of its shape (see `arrays_of`). Those whose
            elements are all among the variables can be read whole.
    """

    def __init__(
        self,
        model: str,
        time: np.ndarray,
        series: Mapping[str, np.ndarray],
        units: Mapping[str, str] | None = None,
        outputs: Sequence[str] = (),
        ended: str | None = None,
        arrays: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.model = model
        self.time = time
        self._series = dict(series)
        self.units = dict(units or {})
        self.outputs = tuple(name for name in outputs if name in self._series)
        self.ended = ended
        self._arrays = dict(arrays or {})
        #: Name of the array, or its own, by the name of each variable.
        self._variables = {name: name for name in self._series} | {
            str(one): name for name, elements in self._arrays.items() for one in elements.flat if one in self._series
        }
        #: What `plot` draws where nobody says what; `mbfmu.simulate` gives those of the model.
        self.figures: tuple[Proposed, ...] = ()
        #: What switched, when and to what, where `mbfmu.simulate(..., events=True)` was asked for it.
        self.events: tuple[SwitchEvent, ...] = ()
        #: Runs the model again, with what an animation into a file takes, and what writes that; `mbfmu.simulate` gives
        #: both.
        self.again: Callable[[pathlib.Path], Any] | None = None
        self.animation: Callable[[str | os.PathLike[str] | None], Any] | None = None

    def __dir__(self) -> list[str]:
        """What users need: not what `mbfmu.simulate` leaves for animations."""
        return sorted({*super().__dir__()} - {"again", "animation"})

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables, in the order of the model."""
        return tuple(self._series)

    def __getitem__(self, name: str) -> np.ndarray:
        if name == "time":
            return self.time
        if name in self._series:
            return self._series[name]
        array = self._array(name)
        if array is None:
            raise UnknownNameError(unknown_variable(name, self._series))
        return array

    def _array(self, name: str) -> np.ndarray | None:
        """The elements of a vector [n, k] or matrix [n, rows, columns]; None where some were not recorded."""
        elements = self._arrays.get(name)
        if elements is None or not all(one in self._series for one in elements.flat):
            return None
        columns = [self._series[one] for one in elements.flat]
        return np.stack(columns, axis=-1).reshape(self.time.size, *elements.shape)

    def _scalars(self, name: str) -> list[str]:
        """The series that a name, or that of an array, stands for."""
        return [name] if name in self._series or name not in self._arrays else self._arrays[name].ravel().tolist()

    def select(self, *patterns: str) -> Result:
        """The variables that any of the patterns matches, as a result: `select("revolute1.*", "body.r_0[?]")`.

        `*` and `?` are wildcards, brackets stand for themselves; the name of an array takes all of its elements.

        Raises:
            UnknownNameError: A pattern matches nothing.
        """
        chosen: dict[str, None] = {}
        for pattern in arguments.names(patterns, f"{self.model}: the patterns"):
            found = matching(pattern, self._variables)
            if not found:
                raise UnknownNameError(unknown_variable(pattern, self._series))
            chosen |= dict.fromkeys(found)
        series = {name: self._series[name] for name in chosen}
        result = Result(self.model, self.time, series, self._units_of(chosen), self.outputs, self.ended, self._arrays)
        result.events = self.events
        return result

    def _units_of(self, names: Iterable[str]) -> dict[str, str]:
        return {name: self.units[name] for name in names if name in self.units}

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} .. {self.time[-1]:g} s" if self.time.size else "empty"
        return f"Result({self.model!r}, {span}, {self.time.size} points, {len(self)} variables)"

    def _repr_html_(self) -> str:
        shown, noise = self._first(), noise_of_series(self._series, self.units)
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(self.units.get(name, ''))}</td>"
            + "".join(f"<td>{value:.6g}</td>" for value in cleared(self._facts(name), noise.get(name, 0.0)))
            + "</tr>"
            for name in shown
        )
        more = f"<div>and {len(self) - len(shown)} more</div>" if len(self) > len(shown) else ""
        head = "".join(f"<th>{title}</th>" for title in ("variable", "unit", "first", "last", "least", "greatest"))
        return f"<div>{html.escape(repr(self))}</div><table><tr>{head}</tr>{rows}</table>{more}"

    def _facts(self, name: str) -> tuple[float, ...]:
        series = self._series[name]
        return (series[0], series[-1], series.min(), series.max()) if series.size else ()

    def _first(self) -> list[str]:
        """What is shown where nobody says what: outputs, else the first variables."""
        return list(self.outputs or self._series)[:FEW]

    def to_dict(self) -> dict[str, np.ndarray]:
        """Return time [s] and all series by name, arrays [n] each, ready for `pandas.DataFrame`."""
        return {"time": self.time, **self._series}

    def to_csv(self, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> pathlib.Path:
        """Write `time` and the series (all, or those named) as CSV with one header line; returns the path.

        An array has a column for each element.

        Numbers are written so that reading them gives the same double.

        Raises:
            UnknownNameError: A name is that of no variable of the result.
        """
        target = arguments.path(path, f"{self.model}: the file")
        if names is None:
            names = [name for name in self._series if name != "time"]
        chosen = [one for name in arguments.names(names, f"{self.model}: names") for one in self._scalars(name)]
        columns = [self.time, *(self[name] for name in chosen)]
        with writing(target), target.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["time", *chosen])
            writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
        return target

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with the index `time` [s]; units are in its `attrs["units"]`.

        Raises:
            MissingExtra: pandas (extra `tables`) is not installed.
        """
        pandas = extra("pandas", "a DataFrame")
        series = {name: values for name, values in self._series.items() if name != "time"}
        frame = pandas.DataFrame(series, index=pandas.Index(self.time, name="time"))
        frame.attrs["units"] = dict(self.units)
        return frame

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` along `time` [s], with units as attributes.

        Raises:
            MissingExtra: xarray (extra `arrays`) is not installed.
        """
        xarray = extra("xarray", "a Dataset")
        variables = {
            name: ("time", series, {"units": self.units[name]} if name in self.units else {})
            for name, series in self._series.items()
            if name != "time"
        }
        time = ("time", self.time, {"units": "s"})
        return xarray.Dataset(variables, coords={"time": time}, attrs={"model": self.model})

    def to_mat(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write a file for MATLAB, of version 5; returns the path.

        It has `time` [n, 1], `names`, `units` and `values` [n, k], and each series by a name that MATLAB allows: what
        cannot stand in one is `_`; where two would be one, the second is not written by name.
        """
        from scipy.io import savemat

        target = arguments.path(path, f"{self.model}: the file")
        names = [name for name in self._series if name != "time"]
        content: dict[str, Any] = {
            "time": self.time[:, None],
            "names": np.array(names, dtype=object)[:, None],
            "units": np.array([self.units.get(name, "") for name in names], dtype=object)[:, None],
            "values": np.column_stack([self._series[name] for name in names])
            if names
            else np.empty((len(self.time), 0)),
        }
        for name in names:
            content.setdefault(_matlab_name(name), self._series[name][:, None])
        with writing(target):
            savemat(str(target), content, appendmat=False)
        return target

    def save(self, path: str | os.PathLike[str], suffix: str | None = None) -> pathlib.Path:
        """Write .csv, .mat (MATLAB), .parquet (extra `tables`) or .nc (NetCDF, extra `arrays`); returns the path.

        Args:
            path: The file.
            suffix: What to write, where the file has another suffix.

        Raises:
            ModelError: The suffix is another one.
            MissingExtra: What the format takes is not installed.
        """
        target = arguments.path(path, f"{self.model}: the file")
        suffix = check_suffix(target, suffix)
        if suffix == ".csv":
            return self.to_csv(target)
        if suffix == ".mat":
            return self.to_mat(target)
        if suffix == ".parquet":
            extra("pyarrow", "Parquet")
            with writing(target):
                self.to_pandas().to_parquet(target)
        else:
            extra("netCDF4", "NetCDF")
            with writing(target):
                self.to_xarray().to_netcdf(target)
        return target

    def animate(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Write the motion as `.html` or `.glb`, or return a page for a notebook where no path is given.

        The model is run again, and must not have been changed meanwhile. Raises `MbfmuError` where it was, where
        nothing is drawn, or where something that it takes is not installed.
        """
        if path is not None:
            arguments.path(path, f"{self.model}: the file")
        if self.animation is None:
            raise MbfmuError(f"{self.model}: only results of mbfmu.simulate can be animated")
        return self.animation(path)

    def plot(self, names: str | Sequence[str] | None = None) -> Figure:
        """Draw series over time, one axis per unit, legends beside them.

        Names may be patterns (`revolute1.*`) and vectors; without any the figures of the model are drawn where it has
        some, else the outputs, else the first variables.

        Raises:
            UnknownNameError: A name or pattern matches nothing.
        """
        from mbfmu.runtime.plotting import Figure

        if names is None and self.figures:
            proposed = self.figures
        else:
            if names is None:
                names = self._first()
            chosen = arguments.names([names] if isinstance(names, str) else names, f"{self.model}: what is to be drawn")
            drawn = dict.fromkeys(one for pattern in chosen for one in self._drawn(pattern))
            proposed = (Proposed("", tuple(map(Curve, drawn))),)
        noise = noise_of_series(self._series, self.units)
        plots = [(one.title, unit, curves) for one in proposed for unit, curves in one.axes(self.units).items()]
        lines = [max(8, len(curves)) for *_, curves in plots] or [8]
        figure = Figure(figsize=(9.0, 1.0 + 0.27 * sum(lines)), layout="constrained")
        axes: Any = figure.subplots(len(lines), 1, sharex=True, squeeze=False, height_ratios=lines)[:, 0]
        for axis, (title, unit, curves) in zip(axes, plots, strict=False):
            for number, curve in enumerate(curves):
                style = _STYLES[number // 10 % len(_STYLES)]
                series = cleared(self[curve.name], noise.get(curve.name, 0.0))
                axis.plot(self.time, series, style, label=curve.legend or curve.name)
            for instant in dict.fromkeys(event.time for event in self.events):
                axis.axvline(instant, color="gray", linewidth=0.6, alpha=0.5, zorder=0)
            axis.set_title(title, fontsize="medium")
            axis.set_ylabel(unit or "1")
            axis.grid(True, alpha=0.3)
            axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, fontsize="small")
        axes[-1].set_xlabel("time in s")
        figure.suptitle(self.model)
        return figure

    def _drawn(self, name: str) -> list[str]:
        """The series that a name, the name of a vector, or a pattern stands for."""
        return [name] if name in self._series else list(self.select(name))


#: Ten colours, then dashes.
_STYLES = ("-", "--", ":", "-.")
