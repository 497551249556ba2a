"""Rest positions and steady motions: positions at which nothing accelerates."""

from __future__ import annotations

import contextlib
import dataclasses
import html
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from mbfmu.dynamics.system import System, system_of
from mbfmu.errors import MbfmuError, ModelError, SimulationError, UnknownNameError
from mbfmu.runtime import arguments
from mbfmu.runtime.rounding import cleared, noise_of
from mbfmu.runtime.run import Value
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.sources import resolved
from mbfmu.studies import operating
from mbfmu.studies.operating import Array, Mechanics
from mbfmu.studies.points import point_of_run, state_names

if TYPE_CHECKING:
    from mbfmu.modeling.assembly import Assembly

#: Steps of Newton's method from one start, and singular values relative to the largest that count as zero.
STEPS, INDIFFERENT = 100, 1e-9

#: An unknown whose column of the Jacobian is no larger than this part of the largest one moves nothing: what rounding
#: leaves of its derivatives would carry it along a family of rests.
ROUNDING = 1e-13


@dataclasses.dataclass(frozen=True)
class Equilibrium:
    """A rest position, or a steady motion.

    `values` has every variable of the model by name, `start_values` those that start a run here. `stability` is that
    of the linear model: `stable`, `marginal` (undamped), `indifferent` (some freedom needs no force) or `unstable`;
    `undetermined` for a steady motion along which the linear model changes, as that of a car in a curve.
    """

    model: str
    x: Array
    u: Array
    P: Array
    m: Array
    #: The largest acceleration or rate that is left, SI units.
    residual: float
    stability: str
    #: Names of the coordinates and states that may move without any force, together where they belong together.
    indifferent: tuple[tuple[str, ...], ...]
    eigenvalues: Array
    values: Mapping[str, float]
    units: Mapping[str, str]
    #: Of variables that have a start value; orientations in quaternions have none of their own.
    start_values: Mapping[str, float]
    #: How many starts were tried.
    starts: int

    def __getitem__(self, name: str) -> float:
        from mbfmu.messages import unknown_variable

        if name not in self.values:
            raise UnknownNameError(unknown_variable(name, self.values))
        return self.values[name]

    def starting(self, system: System) -> System:
        """The system whose default start is this rest: what runs and FMUs of it begin with.

        Raises:
            ModelError: Its start values do not lead here: some position, such as an orientation, has none of its own.
        """
        e, parameters = system.equations, list(system.equations.parameters)
        inputs = [float(value) for value in self.u]
        variables = []
        for variable in system.variables:
            value = self.start_values.get(variable.name)
            if value is not None and variable.start_index is not None:
                parameters[variable.start_index] = value
                variable = dataclasses.replace(variable, start=value)
            elif variable.causality == "input":
                variable = dataclasses.replace(variable, start=inputs[variable.index])
            variables.append(variable)
        equations = dataclasses.replace(
            e, parameters=tuple(parameters), inputs=tuple(inputs), given=(True,) * len(e.unknown_names)
        )
        made = dataclasses.replace(system, equations=equations, variables=tuple(variables))
        x = point_of_run(made, e.start_time, None)[1]
        off = np.abs(x - self.x) > 1e-6 * np.maximum(1.0, np.abs(self.x))
        if off.any():
            missed = ", ".join(e.unknown_names[int(i)] for i in np.flatnonzero(off)[:4])
            raise ModelError(
                f"{system.name}: start values do not lead to the rest that was found; {missed} would start elsewhere"
            )
        return made

    def to_dict(self) -> dict[str, Any]:
        """Everything in lists and numbers; eigenvalues as [re, im]."""
        return {
            "model": self.model,
            "stability": self.stability,
            "indifferent": [list(group) for group in self.indifferent],
            "residual": self.residual,
            "starts": self.starts,
            "eigenvalues": [[float(value.real), float(value.imag)] for value in self.eigenvalues],
            "start_values": dict(self.start_values),
            "values": dict(self.values),
            "units": dict(self.units),
        }

    def __repr__(self) -> str:
        return f"Equilibrium({self.model!r}, {self.stability}, {len(self.start_values)} start values)"

    def _repr_html_(self) -> str:
        noise = noise_of(self.start_values, self.units)
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{cleared(value, noise[name]):.6g}</td>"
            f"<td>{html.escape(self.units.get(name, ''))}</td></tr>"
            for name, value in list(self.start_values.items())[:30]
        )
        return f"<div><b>{html.escape(self.model)}</b>: {self.stability}</div><table>{rows}</table>"


class _Problem:
    """What must vanish, and how it changes along the motions that are free to look for a rest."""

    def __init__(self, system: System, mechanics: Mechanics, u: Array, held: Sequence[int], steady: Sequence[int]):
        self.system, self.mechanics, self.u = system, mechanics, u
        self.held, self.steady = held, steady
        self.wanted = {*held, *steady}
        self.t = system.equations.start_time
        self.nq, self.nv = mechanics.nq, mechanics.nv
        #: Of a steady motion, what counts turns goes on.
        self.counters = mechanics.counters if steady else frozenset()

    def at_rest(self, x: Array, speeds: Mapping[int, float], m: Array) -> tuple[Array, Array] | None:
        """States on the constraints with the given speeds (zero for the others), and their modes; None where none."""
        x = x.copy()
        v = np.zeros(self.nv)
        for index, value in speeds.items():
            v[index] = value
        x[self.nq : self.nq + self.nv] = v
        placed = self.mechanics.project(self.t, x, self.u, m)
        if placed is None:
            return None
        if speeds:  # the given ones hold; the others follow by the constraints
            c, G = self.mechanics("constraints", self.t, placed, self.u, self.mechanics.P, m)[1:]
            if c.size:
                free = [i for i in range(self.nv) if i not in speeds]
                placed[self.nq : self.nq + self.nv] = v
                c = self.mechanics("constraints", self.t, placed, self.u, self.mechanics.P, m)[1].ravel()
                placed[[self.nq + i for i in free]] -= np.linalg.lstsq(G[:, free], c, rcond=operating.RANK)[0]
        try:
            return placed, self.mechanics.modes(self.t, placed, self.u, m)
        except SimulationError:
            return None

    def linear(self, x: Array, m: Array) -> tuple[operating.Reduced, Array, Array, list[int], list[int]]:
        """Reduced motion, residual, its Jacobian with the unknowns, and the unknowns' and residuals' places in s."""
        reduced = operating.reduce(self.mechanics, self.t, x, self.u, m, self.wanted)
        found = operating.derivatives(self.mechanics, reduced, self.t, x, self.u, m)
        count, size = len(reduced.positions), reduced.embedding.shape[1]
        first = count + len(reduced.speeds)
        extra = [k for k in range(first, size) if k - first not in self.counters]
        unknowns = [k for k, i in enumerate(reduced.positions) if i not in self.held and i not in self.steady] + extra
        rows = [*(count + k for k, i in enumerate(reduced.speeds) if i not in self.held), *extra]
        # speeds follow positions where steady motions run through constraints: that part is in the embedding
        return reduced, found.rates[rows], found.A[np.ix_(rows, unknowns)], unknowns, rows

    def solve(self, x: Array, m: Array, speeds: Mapping[int, float]) -> tuple[Array, Array, float] | None:
        """States, modes and residual of a rest near x by Levenberg and Marquardt's method, or None."""
        here = self.at_rest(x, speeds, m)
        if here is None:
            return None
        x, m = here
        damping = 1e-3
        try:
            reduced, residual, jacobian, unknowns, _ = self.linear(x, m)
        except MbfmuError:
            return None
        size = float(np.linalg.norm(residual))
        scale, stalled = max(1.0, size), 0
        for _ in range(STEPS):
            if not unknowns or size <= 1e-15 * scale:
                break
            columns = np.linalg.norm(jacobian, axis=0)
            jacobian = np.where(columns > ROUNDING * columns.max(), jacobian, 0.0)
            weights = np.maximum(columns, 1e-12)
            accepted = False
            while damping < 1e12:
                stacked = np.vstack([jacobian, np.diag(np.sqrt(damping) * weights)])
                step = np.linalg.lstsq(stacked, np.concatenate([-residual, np.zeros(len(unknowns))]), rcond=None)[0]
                step *= min(1.0, 0.5 / max(np.abs(step).max(), 1e-300) * max(1.0, np.abs(x).max()))
                trial = self._moved(x, reduced, unknowns, step, speeds, m)
                if trial is not None:
                    try:
                        following = self.linear(*trial)
                    except MbfmuError:
                        following = None
                    if following is not None and np.linalg.norm(following[1]) < size:
                        x, m = trial
                        reduced, residual, jacobian, unknowns, _ = following
                        accepted = True
                        damping = max(damping / 10, 1e-15)
                        break
                damping = max(10 * damping, 1e-12)
                if np.abs(step).max() < 1e-15:
                    break
            new = float(np.linalg.norm(residual))
            stalled = stalled + 1 if new > 0.99 * size else 0
            size = new
            if not accepted or stalled > 5:
                break
        return x, m, float(np.abs(residual).max(initial=0.0))

    def _moved(
        self, x: Array, reduced: operating.Reduced, unknowns: Sequence[int], step: Array, speeds: Mapping[int, float],
        m: Array,
    ) -> tuple[Array, Array] | None:  # fmt: skip
        s = np.zeros(reduced.embedding.shape[1])
        s[list(unknowns)] = step
        return self.at_rest(x + reduced.embedding @ s, speeds, m)


def equilibrium(
    assembly: Assembly | System | str | os.PathLike[str],
    *,
    start_values: Mapping[str, Value] | None = None,
    hold: Sequence[str] = (),
    speeds: Mapping[str, float] | None = None,
    starts: int = 16,
    stable: bool | None = None,
    seed: int = 0,
) -> Equilibrium:
    """Find a position at which the mechanism rests, or moves steadily.

    Newton's method (Levenberg and Marquardt's form of it, along the manifold of the constraints) begins at the start
    values; from there on other starts are tried until one leads to a rest.

    Args:
        assembly: An Assembly, the System that was made of one, or what the command line takes: a name of the gallery, a
            path.
        start_values: Parameters, guesses of coordinates and inputs by variable name.
        hold: Names of coordinates that stay where they start, whatever force that takes.
        speeds: Speeds by name, rad/s or m/s, that a steady motion keeps; positions of these stay at their start.
        starts: How many starts are tried at most.
        stable: True: go on until a rest is found that is not unstable.
        seed: Of the random starts.

    Raises:
        ModelError: A name is unknown, or no rest was found; the message says how close the best start came.
        InitializationError: There is no start.
    """
    system = system_of(resolved(assembly))
    e = system.equations
    _t, x0, u, P, m0 = point_of_run(system, e.start_time, start_values)
    mechanics = Mechanics(e, P)
    positions, names, _ = operating.coordinate_names(e, system.variables)
    held = [_coordinate(system, name, positions, 0) for name in arguments.names(hold, f"{system.name}: hold")]
    given = {
        _coordinate(system, name, names, e.nq): arguments.real(value, f"{system.name}: speed '{name}'")
        for name, value in arguments.mapping(speeds, f"{system.name}: speeds").items()
    }
    starts = arguments.whole(starts, f"{system.name}: starts", 1)
    seed = arguments.whole(seed, f"{system.name}: seed", 0)
    stable = None if stable is None else arguments.flag(stable, f"{system.name}: stable")
    problem = _Problem(system, mechanics, u, held, list(given))
    best: tuple[Array, Array, float] | None = None
    tried, last = 0, None
    for tried, x in enumerate(_starts(problem, x0, m0, starts, seed), 1):
        found = problem.solve(x, m0, given)
        if found is None:
            continue
        if best is None or found[2] < best[2]:
            best = found
        if found[2] <= _small(mechanics, found[0]):
            last = _described(problem, found, tried)
            if not stable or last.stability != "unstable":
                return last
    if last is not None:
        raise ModelError(f"{system.name}: every rest that was found from {tried} starts is unstable")
    raise ModelError(f"{system.name}: no rest was found from {tried} starts: {_why_not(problem, best, x0, m0)}")


def _why_not(problem: _Problem, best: tuple[Array, Array, float] | None, x0: Array, m0: Array) -> str:
    """What the nearest to a rest still lacks, and what can be done."""
    mechanics, t, u = problem.mechanics, problem.t, problem.u
    what = "no consistent position was found"
    x, m = (x0, m0) if best is None else best[:2]
    with contextlib.suppress(MbfmuError):
        if best is not None:
            reduced, residual, _, _, rows = problem.linear(x, m)
            worst = int(np.abs(residual).argmax())
            name = state_names(problem.system, reduced)[rows[worst]]
            what = f"'{name}' still changes by {residual[worst]:.3g} (SI units) a second"
        w = mechanics.accelerations(t, x, u, m)
        moved = {0: np.ones((1, 1))}
        changes = [
            *mechanics.along("constraints", (t, x, u, mechanics.P, m), moved)[:2],
            *mechanics.along("dynamics", (t, x, u, mechanics.P, m), moved),
            mechanics.along("derivatives", (t, x, u, mechanics.P, m, w), moved)[0],
        ]
        if any(np.abs(change).max(initial=0.0) > 1e-9 for change in changes):
            return (
                f"{what}; a source moves or pushes it over time, and at {t:g} s it is under way: set what that source "
                "does to zero, or to a constant"
            )
    return (
        f"{what}; give other start values or inputs, hold a coordinate that nothing keeps (hold=), or name the speeds "
        "of a steady motion (speeds=)"
    )


def _small(mechanics: Mechanics, x: Array) -> float:
    """A residual that rounding leaves, SI units."""
    return 1e-8 * max(1.0, float(np.abs(x).max(initial=0.0)))


def _coordinate(system: System, name: str, names: Sequence[str], offset: int) -> int:
    """Index along the speeds of a position (offset 0) or speed (offset nq) by any of its names."""
    (variable,) = operating.find_variables(system.name, system.variables, [name])[:1]
    if name in names:
        return names.index(name)
    e = system.equations
    if variable.store == "x" and offset == e.nq and e.nq <= variable.index < e.nq + e.nv:
        return variable.index - e.nq
    if variable.store == "x" and offset == 0 and variable.index < e.nq:
        own = [v.name for v in system.variables if v.store == "x" and v.index == variable.index and v.name in names]
        if own:
            return names.index(own[0])
    raise ModelError(f"{system.name}: '{name}' is not among its coordinates: {', '.join(names)}")


def _starts(problem: _Problem, x0: Array, m: Array, count: int, seed: int) -> Any:
    """The start itself, then starts with the independent coordinates moved, ever farther."""
    yield x0
    try:
        reduced = operating.reduce(problem.mechanics, problem.t, x0, problem.u, m, problem.wanted)
    except MbfmuError:
        return
    free = [k for k, i in enumerate(reduced.positions) if i not in problem.held and i not in problem.steady]
    if not free or count < 2:
        return
    samples = scipy.stats.qmc.Sobol(len(free), rng=seed).random_base2(int(count - 1).bit_length())
    for number, sample in enumerate(samples[: count - 1]):
        s = np.zeros(reduced.embedding.shape[1])
        s[free] = np.pi * (2 * sample - 1) * min(1.0, (number + 1) / 4)
        # far displacements by the constraints' tangent alone would leave loops open: go in short ways
        x = x0
        for _ in range(8):
            try:
                here = operating.reduce(problem.mechanics, problem.t, x, problem.u, m, problem.wanted)
            except MbfmuError:
                break
            if here.embedding.shape != reduced.embedding.shape:
                break
            moved = problem.mechanics.project(problem.t, x + here.embedding @ s / 8, problem.u, m)
            if moved is None:
                break
            x = moved
        yield x


def _described(problem: _Problem, found: tuple[Array, Array, float], tried: int) -> Equilibrium:
    """What a rest is like: stability, indifferent freedoms, values."""
    system, mechanics, t = problem.system, problem.mechanics, problem.t
    x, m, residual = found
    x = mechanics.recounted(t, x, problem.u, m)
    reduced, _, jacobian, unknowns, _ = problem.linear(x, m)
    derivatives = operating.derivatives(mechanics, reduced, t, x, problem.u, m)
    names = state_names(system, reduced)
    indifferent: list[tuple[str, ...]] = []
    if unknowns:
        scale = np.linalg.norm(jacobian, axis=0)
        _, singular, directions = scipy.linalg.svd(jacobian)
        size = max(float(singular.max(initial=0.0)), float(scale.max(initial=0.0)))
        null = directions[[k for k in range(len(unknowns)) if k >= singular.size or singular[k] <= INDIFFERENT * size]]
        if len(null):
            indifferent = [
                tuple(names[unknowns[k]] for k in np.flatnonzero(np.abs(row) > 1e-6 * np.abs(row).max()))
                for row in operating.plain_basis(null)
            ]
    kept = [k for k in range(len(names)) if not _is_held(problem, reduced, k)]
    values = np.linalg.eigvals(derivatives.A[np.ix_(kept, kept)]) if kept else np.empty(0)
    variables = [v for v in system.variables if v.type != "String" and v.causality != "independent"]
    shown, _, _ = operating.output_derivatives(mechanics, reduced, derivatives, variables, (t, x, problem.u, m))
    by_name = {v.name: float(value) for v, value in zip(variables, shown, strict=True)}
    starting = {v.name: by_name[v.name] for v in variables if _starts_a_run(v)}
    stability = _stability(values, bool(indifferent))
    point = (t, x, problem.u, m)
    if problem.steady:
        after = operating.later(mechanics, point, reduced, derivatives, problem.wanted)
        if after is None or not operating.is_invariant(derivatives.A, after[2].A):
            stability = "undetermined"
    return Equilibrium(
        system.name, x, problem.u, mechanics.P, m, residual, stability, tuple(indifferent), values, by_name,
        {v.name: v.unit for v in variables if v.unit}, starting, tried,
    )  # fmt: skip


def _starts_a_run(variable: ScalarVariable) -> bool:
    """Has it a start value that decides where a run begins: of a state, or a fixed one of another variable?"""
    if variable.start_index is None or variable.causality in ("parameter", "calculatedParameter"):
        return False
    return variable.store == "x" or variable.initial == "exact"


def _is_held(problem: _Problem, reduced: operating.Reduced, k: int) -> bool:
    """Does entry k of s stay, because its coordinate is held or keeps its speed?"""
    count = len(reduced.positions)
    if k >= count + len(reduced.speeds):
        return False
    index = reduced.positions[k] if k < count else reduced.speeds[k - count]
    return index in problem.held or (k < count and index in problem.steady)


def _stability(values: Array, indifferent: bool) -> str:
    """What eigenvalues say; those of a double zero are known to half the digits only."""
    if not values.size:
        return "stable"
    size = max(1.0, float(np.abs(values).max()))
    near = 1e-6 * size
    if (values.real > near).any():
        return "unstable"
    if indifferent or (np.abs(values) <= near).any():
        return "indifferent"
    return "marginal" if (values.real > -1e-9 * size).any() else "stable"
