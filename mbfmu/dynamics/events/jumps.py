"""Derivatives of signals that jump in time: their impulses would be lost."""

from __future__ import annotations

import warnings

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import elements, stacked, which_depend
from mbfmu.dynamics.events.watched import Watched
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.errors import ModelError
from mbfmu.modeling.names import joined

#: Instants of a run that are looked at.
INSTANTS = 40
#: Distances from an instant, relative to that from the one before: what differs as much at both distances jumps.
NEAR, FAR = 1e-8, 1e-5
_REMEDY = (
    "and its derivative, which the model needs, is an impulse there; smooth the signal, with a Ramp or a FirstOrder, "
    "or take a Derivative in place of Der, exact=False in a prescribed motion"
)


def check_jumps(formulation: Formulation, watched: Watched, stop: float) -> None:
    """Warn of a signal of time alone that is differentiated, and jumps while the model runs with default parameters.

    As in Modelica tools, its derivative then is that of its pieces. The message has signal, instant and what to do.

    Raises:
        ModelError: a differentiated signal is held between events, so that its derivative is nothing but impulses.
    """
    values, vectors, parameters = formulation.values, formulation.vectors, formulation.parameters
    start = formulation.start_time
    asked = sorted(values.graph.differentiated, key=str)
    if not asked:
        return
    columns = parameters.resolve([ca.vec(values.target(path, target)) for path, target in asked])
    named = [(joined(path, target), s) for (path, target), c in zip(asked, columns, strict=True) for s in elements(c)]
    P = ca.vertcat(ca.DM(parameters.defaults), parameters.derive(ca.DM(parameters.defaults)))
    count = watched.crossings.numel()
    modes, held = vectors.m[:count], vectors.m[count:]
    running = ca.vertcat(vectors.x, vectors.u)
    for label, signal in named:
        running_too = ca.depends_on(signal, running)
        if ca.depends_on(signal, held) and not (running_too or ca.depends_on(signal, ca.vertcat(modes, vectors.t))):
            raise ModelError(f"{label}: is held between events, where it jumps, {_REMEDY}")
        if running_too or ca.depends_on(signal, held):
            continue
        # Switches that the signal goes by, and switches that those go by.
        own, crossings, count = which_depend(modes, ca.veccat(*ca.symvar(signal))), ca.SX(0, 1), -1
        while count != len(own):
            count, crossings = len(own), stacked(watched.crossings[i] for i in own)
            own = which_depend(modes, ca.veccat(*ca.symvar(ca.vertcat(signal, crossings))))
        if not own or ca.depends_on(crossings, ca.vertcat(running, held)):
            continue
        function = ca.Function("signal", vectors.arguments, [signal, crossings, watched.times])
        jump = _Sampled(own, function, vectors, P).jump(start, stop)
        if jump is not None:
            instant, before, after = jump
            warnings.warn(
                f"{label}: jumps from {before:.6g} to {after:.6g} at {instant:.6g} s, {_REMEDY}", stacklevel=2
            )


class _Sampled:
    """A signal of time, evaluated with the switches that it goes by."""

    def __init__(self, own: list[int], function: ca.Function, vectors: Vectors, P: ca.DM) -> None:
        self.own, self.function, self.P = own, function, P
        self.m = np.ones(vectors.m.numel())
        self.x, self.u = ca.DM.zeros(vectors.x.numel()), ca.DM.zeros(vectors.u.numel())

    def at(self, t: float) -> tuple[float, np.ndarray]:
        """Value at a time, and the instants that lie ahead."""
        for _ in range(len(self.own) + 1):
            value, crossings, times = self.function(t, self.x, self.u, self.P, self.m)
            found = np.array(crossings).ravel() >= 0
            if (self.m[self.own] == found).all():
                break
            self.m[self.own] = found
        return float(value), np.array(times).ravel()

    def jump(self, start: float, stop: float) -> tuple[float, float, float] | None:
        """The first jump: instant, value before and after."""
        t = start
        for _ in range(INSTANTS):
            ahead = self.at(t)[1]
            ahead = ahead[(ahead > t + 1e-9 * max(1.0, abs(t))) & (ahead < stop)]
            if not ahead.size:
                break
            t, gap = float(ahead.min()), float(ahead.min()) - t
            (before, after), (earlier, later) = (
                (self.at(t - part * gap)[0], self.at(t + part * gap)[0]) for part in (NEAR, FAR)
            )
            size, scale = abs(after - before), max(abs(before), abs(after))
            if size > 0.5 * abs(later - earlier) and size > 1e-6 * scale:
                return t, before if abs(before) > 1e-6 * scale else 0.0, after if abs(after) > 1e-6 * scale else 0.0
        return None
