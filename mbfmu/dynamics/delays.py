"""Delays: signals whose past is read, in the symbols of the whole system.

Delayed signals are inner inputs, the last entries of u. The runtime keeps the history of the signals and reads it
(templates/runtime/history.c).
"""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.constraints import Constraints
from mbfmu.dynamics.parameters import Parameters
from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.dynamics.unknowns import elements, stacked
from mbfmu.dynamics.vectors import Vectors
from mbfmu.errors import ModelError
from mbfmu.modeling.names import heading


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
    def of(cls, sweeps: Sweeps, parameters: Parameters, constraints: Constraints, vectors: Vectors, w: ca.SX) -> Delays:
        """Ask all components.

        Raises:
            ModelError: a delay follows from accelerations or from another delayed signal.
        """
        found: list[list[ca.SX]] = [[], [], []]
        names: list[str] = []
        delayed = stacked(sweeps.unknowns.delayed.values())
        for path, behaviour in sweeps.behaviours.items():
            for delay in behaviour.delays:
                columns = sweeps.substitute(path, [delay.signal, delay.time, delay.most])
                columns = constraints.without_dropped(parameters.resolve(columns))
                if ca.depends_on(columns[1], ca.vertcat(w, delayed)):
                    raise ModelError(
                        f"{heading(path)}how long a signal is delayed depends on accelerations, constraint forces or "
                        "another delayed signal; let a state lie between them, e.g. a FirstOrder block"
                    )
                for kind, column in zip(found, columns, strict=True):
                    kind.append(column)
                names += [path] * columns[0].numel()
        signals, times, longest = map(stacked, found)
        running = ca.vertcat(vectors.t, vectors.x, vectors.u, vectors.m)
        fixed = tuple(not ca.depends_on(time, running) for time in elements(times))
        return cls(signals, times, longest, tuple(names), fixed)

    @classmethod
    def unknown(cls, sweeps: Sweeps) -> Delays:
        """Delays of a system whose signals are not known yet: only its start is looked at."""
        count = stacked(sweeps.unknowns.delayed.values()).numel()
        none = ca.SX.zeros(count)
        return cls(none, none, none, ("",) * count, (False,) * count)

    def at_start(self, rows: list[ca.SX], vectors: Vectors) -> list[ca.SX]:
        """Equations of initialisation in which delayed signals are what the signals are at the start.

        Those that accelerations enter are left to the runtime, which solves until they agree.
        """
        count = len(self.names)
        delayed = elements(vectors.u)[vectors.u.numel() - count :]
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
