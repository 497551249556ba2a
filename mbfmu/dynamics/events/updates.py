"""Updates: what held values and states become at events, in the symbols of the whole system."""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.columns import elements, stacked
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.starts import Starts
from mbfmu.dynamics.expressions.values import Values
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.dynamics.structure.unknowns import Own
from mbfmu.errors import ModelError
from mbfmu.messages import heading
from mbfmu.modeling import leaves
from mbfmu.modeling.names import joined


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
        formulation: Formulation,
        w: ca.SX,
    ) -> Updates:
        """Ask all components.

        Raises:
            ModelError: an event sets what is no state; a value before an event is read of what changes between events.
        """
        values, vectors, resolved = formulation.values, formulation.vectors, formulation.resolved
        m_before, w_before = (ca.SX.sym("before", column.numel()) for column in (vectors.m, w))
        iterated = values.iterated
        before = {
            path: resolved(values.locals(path, behaviour.before))
            for path, behaviour in values.behaviours.items()
            if behaviour.before
        }
        start, held, names = [], [], []
        states = elements(vectors.x)
        place = {state.element_hash(): i for i, state in enumerate(states)}
        for path, behaviour in values.behaviours.items():
            earlier: dict[leaves.Leaf, ca.SX] = {}
            if path in before:
                if ca.depends_on(stacked(before[path]), iterated):
                    raise ModelError(
                        f"{heading(path)}pre() of what an algebraic loop that is not linear gives; hold it at an "
                        "event, as in self.hold(event, value=...)"
                    )
                columns = ca.substitute(before[path], [ca.vertcat(vectors.m, w)], [ca.vertcat(m_before, w_before)])
                earlier = {leaves.Pre(i): value for i, value in enumerate(columns)}
            for kept in behaviour.held:
                symbol = values.unknowns.held[Own(path, kept.leaf)]
                if isinstance(kept.leaf, leaves.Pre):
                    _check_discrete(path, before[path][kept.leaf.index], vectors, w)
                (rule,) = resolved(values.locals(path, [kept.rule], earlier))
                held.append(rule)
                names += [joined(path, kept.leaf)] * rule.numel()
                start.append(_start(values, formulation.starts, path, kept.start, symbol))
            for reset in behaviour.resets:
                active, value = resolved(values.locals(path, [reset.active, reset.value], earlier))
                targets = resolved([values.variable(path, reset.name)])
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
        columns = formulation.parameters.resolve([stacked(start)])
        return cls(columns[0], stacked(held), stacked(states), m_before, w_before, tuple(names))

    def unchanged(self, vectors: Vectors) -> Updates:
        """The same without events."""
        count = self.held.numel()
        kept = vectors.m[vectors.m.numel() - count :] if count else ca.SX(0, 1)
        return dataclasses.replace(self, held=kept, states=vectors.x)


def _start(values: Values, starts: Starts, path: str, given: ca.SX | None, symbol: ca.SX) -> ca.SX:
    """What a held value is before the start: as its equations say, or the start value of its variable."""
    if given is not None:
        return values.locals(path, [given])[0]
    owners = [starts.owner_of(element) for element in elements(symbol)]
    return stacked(ca.SX(0.0) if owner is None else owner.start for owner in owners)


def _check_discrete(path: str, value: ca.SX, vectors: Vectors, w: ca.SX) -> None:
    if ca.depends_on(value, ca.vertcat(vectors.t, vectors.x, w)):
        raise ModelError(
            f"{heading(path)}pre() of what changes between events is read outside of an event; hold a value of it, as "
            "in self.hold(event, value=...)"
        )
