"""Updates: what held values and states become at events, in the symbols of the whole system."""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.constraints import Constraints
from mbfmu.dynamics.parameters import Parameters
from mbfmu.dynamics.starts import Starts
from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.dynamics.unknowns import Own, elements, stacked
from mbfmu.dynamics.vectors import Vectors
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.names import heading, joined


@dataclasses.dataclass(frozen=True)
class Updates:
    """Held values before the start, and what they and the states become at an event."""

    #: In parameters.
    start: ca.SX
    #: In (t, x, u, P, m, w) and the same before the event, `m_before` and `w_before`.
    held: ca.SX
    states: ca.SX
    m_before: ca.SX
    w_before: ca.SX
    #: One per held value, for messages.
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        sweeps: Sweeps,
        starts: Starts,
        parameters: Parameters,
        constraints: Constraints,
        vectors: Vectors,
        w: ca.SX,
    ) -> Updates:
        """Ask all components.

        Raises:
            ModelError: an event sets what is no state; a value before an event is read of what changes between events.
        """
        m_before, w_before = (ca.SX.sym("before", column.numel()) for column in (vectors.m, w))

        def resolved(columns: list[ca.SX]) -> list[ca.SX]:
            return constraints.without_dropped(parameters.resolve(columns))

        before = {
            path: resolved(sweeps.substitute(path, behaviour.before))
            for path, behaviour in sweeps.behaviours.items()
            if behaviour.before
        }
        start, held, names = [], [], []
        states = elements(vectors.x)
        place = {state.element_hash(): i for i, state in enumerate(states)}
        for path, behaviour in sweeps.behaviours.items():
            values: dict[leaves.Leaf, ca.SX] = {}
            if path in before:
                earlier = ca.substitute(before[path], [ca.vertcat(vectors.m, w)], [ca.vertcat(m_before, w_before)])
                values = {leaves.Pre(i): value for i, value in enumerate(earlier)}
            for kept in behaviour.held:
                symbol = sweeps.unknowns.held[Own(path, kept.leaf)]
                if isinstance(kept.leaf, leaves.Pre):
                    _check_discrete(path, before[path][kept.leaf.index], vectors, w)
                (rule,) = resolved(sweeps.substitute(path, [kept.rule], values))
                held.append(rule)
                names += [joined(path, kept.leaf)] * rule.numel()
                start.append(_start(sweeps, starts, path, kept.start, symbol))
            for reset in behaviour.resets:
                active, value = resolved(sweeps.substitute(path, [reset.active, reset.value], values))
                targets = resolved([sweeps.variable(path, reset.name)])
                wanted = elements(targets[0])
                given = elements(value) * (len(wanted) if value.numel() == 1 else 1)
                if len(given) != len(wanted) or any(e.element_hash() not in place for e in wanted):
                    raise ModelError(
                        f"{heading(path)}reinit(..., {reset.name}=...) needs {len(wanted)} elements, all of them "
                        "states of this model; what follows from other states cannot be set anew"
                    )
                for element, new in zip(wanted, given, strict=True):
                    at = place[element.element_hash()]
                    states[at] = ca.if_else(active, new, states[at])
        columns = parameters.resolve([stacked(start)])
        return cls(columns[0], stacked(held), stacked(states), m_before, w_before, tuple(names))

    def unchanged(self, vectors: Vectors) -> Updates:
        """The same without events."""
        count = self.held.numel()
        kept = vectors.m[vectors.m.numel() - count :] if count else ca.SX(0, 1)
        return dataclasses.replace(self, held=kept, states=vectors.x)


def _start(sweeps: Sweeps, starts: Starts, path: str, given: ca.SX | None, symbol: ca.SX) -> ca.SX:
    """What a held value is before the start: as its equations say, or the start value of its variable."""
    if given is not None:
        return sweeps.substitute(path, [given])[0]
    owners = [starts.owner_of(element) for element in elements(symbol)]
    return stacked(ca.SX(0.0) if owner is None else owner.start for owner in owners)


def _check_discrete(path: str, value: ca.SX, vectors: Vectors, w: ca.SX) -> None:
    if ca.depends_on(value, ca.vertcat(vectors.t, vectors.x, w)):
        raise ModelError(
            f"{heading(path)}pre() of what changes between events is read outside of an event; hold a value of it, as "
            "in self.hold(event, value=...)"
        )
