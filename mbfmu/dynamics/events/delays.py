"""Delays: signals whose past is read, in the symbols of the whole system.

Delayed signals are inner inputs, the last entries of u. The runtime keeps the history of the signals and reads it
(templates/runtime/history.c).
"""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.columns import elements, stacked
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.values import Values
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.errors import ModelError
from mbfmu.messages import heading


@dataclasses.dataclass(frozen=True)
class Delays:
    """Signals in (t, x, u, P, m, w); delays in (t, x, u, P, m), and their bounds in P."""

    signals: ca.SX
    times: ca.SX
    longest: ca.SX
    #: Per delayed signal: a name for messages, and whether its delay depends on parameters only.
    names: tuple[str, ...]
    fixed: tuple[bool, ...]

    @classmethod
    def of(cls, formulation: Formulation, w: ca.SX) -> Delays:
        """Ask all components.

        Raises:
            ModelError: a delay follows from accelerations or from another delayed signal.
        """
        values, vectors = formulation.values, formulation.vectors
        found: list[list[ca.SX]] = [[], [], []]
        names: list[str] = []
        later = ca.vertcat(w, *values.unknowns.delayed.values(), values.iterated)
        for path, behaviour in values.behaviours.items():
            for delay in behaviour.delays:
                columns = values.locals(path, [delay.signal, delay.time, delay.most])
                columns = formulation.resolved(columns)
                if ca.depends_on(columns[1], later):
                    raise ModelError(
                        f"{heading(path)}how long a signal is delayed depends on accelerations, constraint forces, "
                        "another delayed signal or an algebraic loop that is not linear; let a state lie between "
                        "them, e.g. a FirstOrder block"
                    )
                for kind, column in zip(found, columns, strict=True):
                    kind.append(column)
                names += [path] * columns[0].numel()
        signals, times, longest = map(stacked, found)
        running = ca.vertcat(vectors.t, vectors.x, vectors.u, vectors.m)
        fixed = tuple(not ca.depends_on(time, running) for time in elements(times))
        return cls(signals, times, longest, tuple(names), fixed)

    @classmethod
    def unknown(cls, values: Values) -> Delays:
        """Delays of a system whose signals are not known yet: only its start is looked at."""
        count = stacked(values.unknowns.delayed.values()).numel()
        none = ca.SX.zeros(count)
        return cls(none, none, none, ("",) * count, (False,) * count)

    def at_start(self, rows: list[ca.SX], vectors: Vectors) -> list[ca.SX]:
        """Equations of initialisation in which delayed signals are what the signals are at the start.

        Those that accelerations enter are left to the runtime, which solves until they agree.
        """
        count = len(self.names)
        if not count:
            return rows
        before = vectors.u.numel() - vectors.iterated - count
        delayed = elements(vectors.u)[before : before + count]
        known = {symbol.element_hash() for symbol in elements(stacked(vectors.arguments))}
        pairs = [
            (symbol, signal)
            for symbol, signal in zip(delayed, elements(self.signals), strict=True)
            if all(part.element_hash() in known for part in ca.symvar(signal))
        ]
        for _ in pairs:  # delays in a row are told one by one
            symbols, signals = (stacked(column) for column in zip(*pairs, strict=True))
            if not ca.depends_on(stacked(rows), symbols):
                break
            rows = ca.substitute(rows, [symbols], [signals])
        return rows
