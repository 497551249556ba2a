"""Updates: what held values and states become at events, in the symbols of the whole system."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping

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
        behaviours = values.behaviours.items()
        # All together: what each resolving looks through grows with the model
        parts = [(path, values.locals(path, behaviour.before)) for path, behaviour in behaviours if behaviour.before]
        columns = iter(resolved([column for _, some in parts for column in some]))
        before = {path: list(itertools.islice(columns, len(some))) for path, some in parts}
        for path, some in before.items():
            _check_linear(path, stacked(some), values.iterated)
        now, then = ca.vertcat(vectors.m, w), ca.vertcat(m_before, w_before)
        columns = iter(ca.substitute([column for some in before.values() for column in some], [now], [then]))
        earlier: dict[str, dict[leaves.Leaf, ca.SX]] = {
            path: {leaves.Pre(i): next(columns) for i in range(len(some))} for path, some in before.items()
        }
        kept = [(path, one) for path, behaviour in behaviours for one in behaviour.held]
        for path, one in kept:
            if isinstance(one.leaf, leaves.Pre):
                _check_discrete(path, before[path][one.leaf.index], vectors, w)
        held = resolved([values.locals(path, [one.rule], earlier.get(path, {}))[0] for path, one in kept])
        symbols = [values.unknowns.held[Own(path, one.leaf)] for path, one in kept]
        names = [joined(path, one.leaf) for (path, one), rule in zip(kept, held, strict=True) for _ in elements(rule)]
        start = [
            _start(values, formulation.starts, path, one.start, symbol)
            for (path, one), symbol in zip(kept, symbols, strict=True)
        ]
        (start_column,) = formulation.parameters.resolve([stacked(start)])
        states = _states(values, vectors.x, earlier, resolved)
        return cls(start_column, stacked(held), states, m_before, w_before, tuple(names))

    def unchanged(self, vectors: Vectors) -> Updates:
        """The same without events."""
        count = self.held.numel()
        kept = vectors.m[vectors.m.numel() - count :] if count else ca.SX(0, 1)
        return dataclasses.replace(self, held=kept, states=vectors.x)


def _check_linear(path: str, before: ca.SX, iterated: ca.SX) -> None:
    if iterated.numel() and ca.depends_on(before, iterated):
        raise ModelError(
            f"{heading(path)}pre() of what an algebraic loop that is not linear gives; hold it at an event, as in "
            "self.hold(event, value=...)"
        )


def _states(
    values: Values,
    x: ca.SX,
    earlier: Mapping[str, dict[leaves.Leaf, ca.SX]],
    resolved: Callable[[list[ca.SX]], list[ca.SX]],
) -> ca.SX:
    """What the states become."""
    resets = [(path, reset) for path, behaviour in values.behaviours.items() for reset in behaviour.resets]
    parts = []
    for path, reset in resets:
        parts += values.locals(path, [reset.active, reset.value], earlier.get(path, {}))
        parts.append(values.variable(path, reset.name))
    each = iter(resolved(parts))
    states = elements(x)
    place = {state.element_hash(): i for i, state in enumerate(states)}
    for (path, reset), active, value, target in zip(resets, each, each, each, strict=True):
        wanted = elements(target)
        given = elements(value) * (len(wanted) if value.numel() == 1 else 1)
        if len(given) != len(wanted) or any(e.element_hash() not in place for e in wanted):
            raise ModelError(
                f"{heading(path)}reinit(..., {reset.name}=...) needs {len(wanted)} elements, all of them "
                "states of this model; what follows from other states cannot be set anew"
            )
        for element, new in zip(wanted, given, strict=True):
            at = place[element.element_hash()]
            states[at] = ca.if_else(active, new, states[at])
    return stacked(states)


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
