"""A linear model along a run against the nonlinear runtime: what becomes of small deviations of start and inputs.

About a rest the linear model is one state space; about any other motion its matrices change with time, and are taken at
the Gauss points of each interval (Magnus expansion of fourth order; Blanes et al., Physics Reports 470 (2009) 151).
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import scipy.linalg

import mbfmu
from mbfmu.dynamics.system import System

GAUSS = 0.5 + np.array([-1.0, 1.0]) * np.sqrt(3.0) / 6.0


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Deviations of the outputs, linear and nonlinear [times, outputs], per unit of disturbance."""

    linear: np.ndarray
    nonlinear: np.ndarray

    @property
    def error(self) -> float:
        """The largest difference, relative to the largest deviation."""
        return float(np.abs(self.linear - self.nonlinear).max() / np.abs(self.nonlinear).max())


def compare(
    system: System, intervals: int, span: float | None = None, size: float = 1e-5, push: bool = True, **given
) -> Comparison:
    """Disturb start values and drive all inputs by a chirp; `span` [s]: 0.3 times of the quickest mode where None."""
    start = system.equations.start_time
    first = mbfmu.linearize(system, **given)
    if span is None:
        quickest = np.abs(first.eigenvalues).max(initial=0.0)
        quickest = max(quickest, np.abs(first.rates / np.maximum(1.0, np.abs(first.x0))).max(initial=0.0))
        span = min(0.01 * (system.equations.stop_time - start), 0.3 / max(quickest, 1e-3))
    times = start + np.linspace(0.0, span, intervals + 1)
    values = {v.name: v for v in system.variables}
    values = {name: values.get(name) for name in first.states}
    moved = [name for name, v in values.items() if v is not None and v.start_index is not None and push]
    if any(name.startswith("int(") for name in first.states):  # start angles would turn what a quaternion tells
        nq, nv = system.equations.nq, system.equations.nv
        moved = [name for name in moved if nq <= values[name].index < nq + nv]
    settings = dict(given.get("start_values", {}))
    at_start = dict(zip(first.states, first.x0, strict=True))
    random = np.random.default_rng(0)
    pushes = {name: random.choice([-1.0, 1.0]) * max(1.0, abs(at_start[name])) for name in moved}

    def chirp(t):
        s = (t - start) / span
        return np.sin(2 * np.pi * (0.5 + s) * s)

    fine = start + np.linspace(0.0, span, 200 * intervals + 1)
    runs = []
    for sign in (1.0, -1.0):
        begin = {**settings, **{n: at_start[n] + sign * size * push for n, push in pushes.items()}}
        drive = {n: (fine, u + sign * size * chirp(fine)) for n, u in zip(first.inputs, first.u0, strict=True)}
        runs.append(
            mbfmu.simulate(
                system,
                start + span,
                step=span / intervals,
                tolerance=1e-11,
                start_values={n: v for n, v in begin.items() if n not in first.inputs},
                inputs=drive or None,
                outputs=[*first.outputs, *(n for n, v in values.items() if v is not None)],
            )
        )
    change = {name: (runs[0][name] - runs[1][name]) / (2 * size) for name in runs[0]}
    state = np.array([change[n][0] if values[n] is not None else 0.0 for n in first.states])

    def at(t):
        found = mbfmu.linearize(system, t, **given) if t > start else first
        assert found.states == first.states
        return found

    n, u = len(first.states), np.ones(len(first.inputs))
    linear = [first.C @ state + first.D @ u * chirp(start)]
    for a, b in itertools.pairwise(times):
        points = a + GAUSS * (b - a)
        ends = [at(t) for t in points]

        def matrix(t, points=points, ends=ends):
            share = (t - points[0]) / (points[1] - points[0])
            found = np.zeros((n + 1, n + 1))  # the inputs' part is a state more, which is 1
            found[:n, :n] = (1 - share) * ends[0].A + share * ends[1].A
            found[:n, n] = ((1 - share) * ends[0].B + share * ends[1].B) @ u * chirp(t)
            return found

        # the chirp is quicker than the matrices
        for c, d in itertools.pairwise(np.linspace(a, b, 17)):
            h = d - c
            one, two = (matrix(t) for t in c + GAUSS * h)
            omega = h / 2 * (one + two) + np.sqrt(3) / 12 * h**2 * (two @ one - one @ two)
            state = (scipy.linalg.expm(omega) @ np.append(state, 1.0))[:n]
        found = at(b)
        linear.append(found.C @ state + found.D @ u * chirp(b))
    nonlinear = np.column_stack([change[name] for name in first.outputs])
    return Comparison(np.array(linear), nonlinear)
