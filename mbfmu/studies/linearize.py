"""Linear models about a point: A, B, C, D in minimal coordinates, with exact derivatives."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import pathlib
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mbfmu.dynamics.system import System, system_of
from mbfmu.errors import ModelError
from mbfmu.runtime import arguments
from mbfmu.runtime.run import Value
from mbfmu.sources import resolved
from mbfmu.studies import operating
from mbfmu.studies.coordinates import Chosen
from mbfmu.studies.equilibrium import Equilibrium, equilibrium
from mbfmu.studies.operating import Array, Mechanics
from mbfmu.studies.points import point_of_run, state_names, state_values

if TYPE_CHECKING:
    from mbfmu.modeling.assembly import Assembly

#: `start`, a time of the run [s], `equilibrium`, or one that was found.
At = float | Literal["start", "equilibrium"] | Equilibrium


@dataclasses.dataclass(frozen=True)
class LinearModel:
    """d(dx)/dt = A dx + B du, dy = C dx + D du about a point: dx = x - x0, du = u - u0, dy = y - y0.

    States are independent positions, independent speeds and extra states, or variables that were chosen in their place;
    constraints are eliminated. `int(body.w[1])` is a small rotation (rad) where a quaternion is the position. `rates`
    are those of the states at the point: zero at a rest position; about any other point the model holds for short
    times, unless A stays what it is along the motion.
    """

    model: str
    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    #: Units by name of state, input or output.
    units: Mapping[str, str]
    time: float
    x0: Array
    u0: Array
    y0: Array
    rates: Array

    @property
    def eigenvalues(self) -> Array:
        """Eigenvalues of A, 1/s [n], by magnitude."""
        return self.modes[0]

    @property
    def modes(self) -> tuple[Array, Array]:
        """Eigenvalues [n], 1/s, and mode shapes [n, n] in columns, each scaled to the largest state."""
        return modes_of(self.A)

    @property
    def rounded_eigenvalues(self) -> Array:
        """The eigenvalues [n], 1/s, with 0 for a real or imaginary part that is nothing but rounding.

        The bound is the first-order one: an eigenvalue moves by the change of A times its condition number, and A is
        known to some units of its last digit (Golub and Van Loan, Matrix Computations, section 7.2.2).
        """
        values, errors = self.eigenvalues, errors_of(self.A)
        real, imaginary = (np.where(np.abs(part) <= errors, 0.0, part) for part in (values.real, values.imag))
        return real + 1j * imaginary

    @property
    def frequencies(self) -> Array:
        """Natural frequencies |lambda| / 2 pi of the eigenvalues, Hz [n]."""
        return np.abs(self.eigenvalues) / (2 * np.pi)

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios -Re(lambda) / |lambda| [n]; NaN for an eigenvalue 0."""
        values = self.eigenvalues
        size = np.abs(values)
        return np.divide(-values.real, size, out=np.full(size.shape, np.nan), where=size > 0)

    @property
    def is_stable(self) -> bool:
        """True where every eigenvalue lies left of the imaginary axis."""
        return bool((self.eigenvalues.real < 0).all())

    def to_dict(self) -> dict[str, Any]:
        """Everything in lists and numbers; eigenvalues as [re, im]."""
        return {
            "model": self.model,
            "time": self.time,
            **{name: getattr(self, name).tolist() for name in ("A", "B", "C", "D")},
            **{name: list(getattr(self, name)) for name in ("states", "inputs", "outputs")},
            "eigenvalues": [[float(value.real), float(value.imag)] for value in self.eigenvalues],
            "frequencies": self.frequencies.tolist(),
            "damping_ratios": [None if np.isnan(d) else float(d) for d in self.damping_ratios],
            "x0": self.x0.tolist(),
            "u0": self.u0.tolist(),
            "y0": self.y0.tolist(),
            "rates": self.rates.tolist(),
            "units": dict(self.units),
        }

    def save(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write a .json or MATLAB .mat file; returns the path.

        Raises:
            ModelError: The suffix is another one.
        """
        target = pathlib.Path(path)
        if target.suffix == ".json":
            target.write_text(json.dumps(self.to_dict(), indent=1), encoding="utf-8")
        elif target.suffix == ".mat":
            from scipy.io import savemat

            content = self.to_dict()
            del content["units"]
            for name in _NAMES:
                content[name] = np.array(content[name], dtype=object)
            savemat(target, {**content, "eigenvalues": self.eigenvalues, "damping_ratios": self.damping_ratios})
        else:
            raise ModelError(f"{target}: a linear model is written as .json or .mat; choose {target.stem}.json")
        return target

    def shown_modes(self) -> list[tuple[complex, float, float]]:
        """Eigenvalue [1/s], frequency [Hz] and damping ratio of each mode, without what is nothing but rounding."""
        values = self.rounded_eigenvalues
        size = np.abs(values)
        ratios = np.divide(-values.real, size, out=np.full(size.shape, np.nan), where=size > 0) + 0.0
        return [(complex(v), float(s) / (2 * np.pi), float(d)) for v, s, d in zip(values, size, ratios, strict=True)]

    def to_control(self) -> Any:
        """Return a `control.StateSpace`; names have `_` for `.`, which that refuses.

        Raises:
            MissingExtra: python-control (extra `control`) is not installed.
        """
        from mbfmu.extras import extra

        control = extra("control", "a control.StateSpace")
        names = {what: [name.replace(".", "_") for name in getattr(self, what)] for what in _NAMES}
        return control.ss(self.A, self.B, self.C, self.D, **names)

    def to_scipy(self) -> Any:
        """Return a `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)

    def __repr__(self) -> str:
        return (
            f"LinearModel({self.model!r} at {self.time:g} s, {len(self.states)} states, {len(self.inputs)} inputs, "
            f"{len(self.outputs)} outputs)"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{value.real:.5g} {'+' if value.imag >= 0 else '-'} {abs(value.imag):.5g}i</td>"
            f"<td>{frequency:.5g}</td><td>{damping:.4g}</td></tr>"
            for value, frequency, damping in self.shown_modes()
        )
        lists = "".join(
            f"<div>{what}: {html.escape(', '.join(getattr(self, what)) or 'none')}</div>"
            for what in ("states", "inputs", "outputs")
        )
        head = "<tr><th>eigenvalue in 1/s</th><th>frequency in Hz</th><th>damping ratio</th></tr>"
        return f"<div><b>{html.escape(self.model)}</b> at {self.time:g} s</div>{lists}<table>{head}{rows}</table>"

    def plot(self) -> Any:
        """Draw the eigenvalues [1/s] in the complex plane."""
        from mbfmu.runtime.plotting import Figure

        figure = Figure(figsize=(5.0, 4.0), layout="constrained")
        axis = figure.subplots()
        axis.axvline(0.0, color="gray", linewidth=0.8)
        axis.scatter(self.eigenvalues.real, self.eigenvalues.imag, marker="x")
        axis.set_xlabel("real part in 1/s")
        axis.set_ylabel("imaginary part in 1/s")
        axis.grid(True, alpha=0.3)
        axis.set_title(f"{self.model}: eigenvalues")
        return figure


_NAMES = ("states", "inputs", "outputs")


def modes_of(A: Array) -> tuple[Array, Array]:
    """Eigenvalues [n] of a matrix by magnitude, and eigenvectors [n, n] in columns, scaled to their largest entries."""
    if not A.size:
        return np.empty(0, dtype=complex), np.empty((0, 0), dtype=complex)
    values, vectors = np.linalg.eig(A)
    order = np.lexsort((-values.imag, values.real, np.round(np.abs(values), 9)))
    values, vectors = values[order].astype(complex), vectors[:, order].astype(complex)
    largest = vectors[np.abs(vectors).argmax(axis=0), range(values.size)]
    return values, vectors / largest


def errors_of(A: Array) -> Array:
    """How far rounding may have moved the eigenvalues of a matrix [n], in the order of `modes_of`."""
    if not A.size:
        return np.empty(0)
    from scipy.linalg import matrix_balance

    balanced, scales = matrix_balance(A, permute=False)
    vectors = np.linalg.solve(scales, modes_of(A)[1])
    try:
        with np.errstate(over="ignore"):  # an infinite number is bounded below
            conditions = np.linalg.norm(vectors, axis=0) * np.linalg.norm(np.linalg.inv(vectors), axis=1)
    except np.linalg.LinAlgError:  # equal eigenvectors: what is defective moves by the root of a change
        conditions = np.full(len(A), _EPS**-0.5)
    return _UNITS * len(A) * _EPS * float(np.linalg.norm(balanced)) * np.fmin(conditions, _EPS**-0.5)


#: Precision of doubles, and how many units of the last digit entries of A may be off.
_EPS, _UNITS = float(np.finfo(float).eps), 10


def point_of(
    system: System,
    at: At,
    start_values: Mapping[str, Value] | None = None,
    drive: Any = None,
    tolerance: float | None = None,
) -> tuple[float, Array, Array, Array, Array]:
    """Time, states, inputs, parameters and modes of the point that `linearize` is given."""
    if drive is not None and (isinstance(at, Equilibrium) or at == "equilibrium"):
        raise ModelError(
            f"{system.name}: inputs over time (drive, --input) have no place at a rest; give constant ones as "
            "start_values, or the start or a time of a run"
        )
    if isinstance(at, str) and at not in ("start", "equilibrium"):
        raise ModelError(f"{system.name}: at = {at!r}: give 'start', 'equilibrium', a time in s, or an Equilibrium")
    if at == "equilibrium":
        at = equilibrium(system, start_values=start_values)
    start = system.equations.start_time
    if isinstance(at, Equilibrium):
        return start, at.x, at.u, at.P, at.m
    time = start if at == "start" else arguments.real(at, f"{system.name}: at")
    return point_of_run(system, time, start_values, drive, tolerance)


def linearize(
    assembly: Assembly | System | str | os.PathLike[str],
    at: At = "start",
    *,
    start_values: Mapping[str, Value] | None = None,
    drive: Any = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    states: Sequence[str] = (),
    tolerance: float | None = None,
) -> LinearModel:
    """Linearise a mechanism about its start, a time of a run, a rest position, or a steady motion.

    Args:
        assembly: An Assembly, the System that was made of one, or what the command line takes: a name of the gallery, a
            path.
        at: `start`; a time of the run, s; `equilibrium` (searched for); or an Equilibrium that was found.
        start_values: Parameters, start values and inputs by variable name.
        drive: Inputs over time, for a time of the run: what `simulate` takes as `inputs`.
        inputs, outputs: Names of the linear model's inputs, all Reals among the model's where None, and of its
            outputs: any Reals; those among the model's own outputs, as they were declared, where None.
        states: Names of variables that are states of the linear model in the place of as many of its own, such as
            speeds along the axes of a vehicle that turns. They follow from states and time only.
        tolerance: Of the run to a time.

    Raises:
        ModelError: A name is unknown or that of no Real, the time lies before the start, the directions of motion
            are not unique at the point, or `states` are no coordinates.
        InitializationError, SimulationError: The point is not reached.

    Warns:
        UserWarning: The motion there is steady, but A changes along it, as it does in coordinates that turn with a
            wheel.
    """
    system = system_of(resolved(assembly))
    t, x, u, P, m = point_of(system, at, start_values, drive, tolerance)
    e = system.equations
    mechanics = Mechanics(e, P)
    reduced = operating.reduce(mechanics, t, x, u, m)
    found = operating.derivatives(mechanics, reduced, t, x, u, m)
    A, B, T, rates = found.A, found.B, np.eye(len(found.A)), found.rates
    x0, names = state_values(mechanics, reduced, t, x), state_names(system, reduced)
    wanted = operating.find_variables(system.name, system.variables, arguments.names(states, "states"))
    after = None
    if wanted or operating.is_steady(reduced, rates):
        after = operating.later(mechanics, (t, x, u, m), reduced, found)
    if wanted:
        chosen = Chosen(mechanics, wanted)
        changing = None if after is None else np.abs(after[2].A - A).max(axis=0)
        here = chosen(mechanics, (t, x, u, m), reduced, found, avoided=changing)
        A, B, T, rates = here.A, here.B, here.T, here.rates
        for place, variable, value in zip(here.places, wanted, here.values, strict=True):
            names[place], x0[place] = variable.name, value
    if operating.is_steady(reduced, rates):
        A_later = None
        if after is not None:
            A_later = chosen(mechanics, *after, here.places).A if wanted else after[2].A
        if A_later is None or not operating.is_invariant(A, A_later):
            warnings.warn(
                f"{system.name}: its motion at this point is steady, but A changes along it, so that eigenvalues of A "
                "say nothing of the motion's stability; choose coordinates that do not turn with wheels or rotors: "
                "states=[...], enforceStates=True of a body that does not, or a FreeMotion to it",
                stacklevel=2,
            )
    taken = [v for v in system.variables if v.causality == "input" and v.type == "Real"]
    if inputs is not None:
        taken = operating.find_variables(system.name, system.variables, arguments.names(inputs, "inputs"), "input")
    given = [v for v in system.outputs if v.type == "Real"]
    if outputs is not None:
        given = operating.find_variables(system.name, system.variables, outputs)
    for variable in (*taken, *given):
        if variable.type != "Real":
            raise ModelError(f"{system.name}: '{variable.name}' is {variable.type}; only Reals can be linearized")
    y, C, D = operating.output_derivatives(mechanics, reduced, found, given, (t, x, u, m))
    columns = [v.index for v in taken]
    units = {v.name: v.unit for v in [*system.variables] if v.unit}
    angle = {n: units[n.removeprefix("int(").removesuffix(")")].removesuffix("/s") for n in names
             if n.startswith("int(") and n[4:-1] in units}  # fmt: skip
    shown = {*names, *(v.name for v in taken), *(v.name for v in given)}
    return LinearModel(
        system.name,
        A,
        B[:, columns],
        np.linalg.solve(T.T, C.T).T,
        D[:, columns],
        tuple(names),
        tuple(v.name for v in taken),
        tuple(v.name for v in given),
        {name: unit for name, unit in {**units, **angle}.items() if name in shown},
        t,
        x0,
        u[columns],
        y,
        rates,
    )
