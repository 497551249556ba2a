"""Impacts: jumps of all speeds by which momentum is kept, with impulses that push and never pull."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import casadi as ca

from mbfmu.dynamics.columns import elements, stacked
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.solving.dense import Direct
from mbfmu.dynamics.structure.elimination import solve
from mbfmu.dynamics.structure.unknowns import Own
from mbfmu.errors import ModelError
from mbfmu.messages import heading
from mbfmu.modeling.declarations import Impulse

#: What struck points give way by, relative to what they move: points that say the same share an impulse.
GIVING = 1e-14
#: What counts as 0 beside the greatest impulse and velocity: more than points that give way differ by.
NOTHING = 1e-11


@dataclasses.dataclass(frozen=True)
class Impacts:
    """What happens to speeds in a round of an event, and which points are struck in the next one.

    Over an instant, finite forces and the products of speeds in A w = b have no effect: what is left of it is
    A [jumps; impulses] = 0, but for the impulses at the points that are struck. Which these are is a linear
    complementarity problem. It is solved by principal pivoting with the least index first (Murty, Linear Algebra and
    its Applications 7 (1974), 65-108), a pivot in each round; speeds jump in the round that has none left.
    """

    #: What is added to the speeds.
    jumps: ca.SX
    #: What held values that say which points are struck become.
    struck: Mapping[Own, ca.SX]

    @classmethod
    def of(cls, formulation: Formulation, w: ca.SX, m_before: ca.SX) -> Impacts:
        """Ask all components; `m_before` are discrete states before the round.

        Raises:
            ModelError: a velocity depends on accelerations, or constraints follow from others in a way that changes.
        """
        values, vectors, resolved = formulation.values, formulation.vectors, formulation.resolved
        impacts = [(path, impact) for path, b in values.behaviours.items() for impact in b.impacts]
        nv = vectors.v.numel()
        if not impacts:
            return cls(ca.SX.zeros(nv), MappingProxyType({}))
        if formulation.constraints.choice.redundancies:
            raise ModelError(
                f"{heading(impacts[0][0])}impacts need constraints that are independent; which of this model's follow "
                "from others depends on the position: replace joints such that none does, or take a contact that gives "
                "way"
            )
        parts = [resolved(values.locals(path, impact.parts)) for path, impact in impacts]
        velocity, restitution, touching, slow = (stacked(column) for column in zip(*parts, strict=True))
        for (path, _), (own, *_) in zip(impacts, parts, strict=True):
            if ca.depends_on(own, ca.vertcat(w, values.iterated)):
                raise ModelError(
                    f"{heading(path)}the velocity of an impact depends on accelerations or a loop that is not linear; "
                    "give one of positions and speeds"
                )
        place = {speed.element_hash(): i for i, speed in enumerate(elements(vectors.v))}
        rows = [
            place[speed.element_hash()]
            for path, impact in impacts
            for (speed,) in [resolved([values.variable(path, impact.name)])]
            for speed in elements(speed)
        ]
        moved = _responses(formulation, rows, [place[s.element_hash()] for s in _impulses(formulation)])
        across = ca.jacobian(velocity, vectors.v) @ moved
        owners = [(path, impact.name) for path, impact in impacts for _ in range(impact.struck.size)]
        for i, (path, name) in enumerate(owners):
            if across[i, i].is_zero():
                raise ModelError(
                    f"{heading(path)}{name} moves nothing: what would be struck is prescribed on both sides; let "
                    "forces move one of them"
                )
        before = stacked(values.unknowns.held[Own(path, impact.struck)] for path, impact in impacts)
        before = ca.substitute(before, vectors.m, m_before)
        problem = _Complementarity(across, velocity, restitution * velocity, touching, slow, before)
        done, impulses, following = problem.round()
        struck, at = {}, 0
        for path, impact in impacts:
            struck[Own(path, impact.struck)] = following[at : at + impact.struck.size]
            at += impact.struck.size
        return cls(ca.if_else(done, moved @ impulses, ca.SX.zeros(nv)), struck)


def _impulses(formulation: Formulation) -> Iterator[ca.SX]:
    """Time integrals of finite forces, which do not jump but where their components let them."""
    v = formulation.values.unknowns.v
    for path, behaviour in formulation.values.behaviours.items():
        component = behaviour.component
        for declaration in component.variables().values():
            leaf = declaration.leaf(component) if isinstance(declaration, Impulse) else None
            if leaf is not None:
                yield from elements(v[Own(path, leaf)])


def _responses(formulation: Formulation, rows: list[int], impulses: list[int]) -> ca.SX:
    """By what all speeds jump under an impulse of 1 at each point, whose number among the speeds is given: a column
    each."""
    A = ca.SX(Direct.of(formulation).A)
    count = A.size1()
    kept = ca.vertcat(*(_unit(i, count).T if i in set(impulses) else A[i, :] for i in range(count)))
    columns = []
    for row in rows:
        given = _unit(row, count)
        first = solve(kept, given)
        columns.append(first + solve(kept, given - kept @ first))  # Gram and Schmidt's elimination, refined once
    return ca.horzcat(*columns)[: formulation.vectors.v.numel(), :]


def _unit(i: int, count: int) -> ca.SX:
    column = ca.SX(count, 1)
    column[i] = 1
    return column


@dataclasses.dataclass(frozen=True)
class _Complementarity:
    """Impulses >= 0 and velocities after + restitution * velocities before >= 0, one of which is 0, of what touches."""

    #: By what velocities jump under an impulse of 1 at each point.
    across: ca.SX
    velocity: ca.SX
    rebound: ca.SX
    touching: ca.SX
    slow: ca.SX
    #: Points that are taken to be struck.
    before: ca.SX

    def round(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Is it solved; impulses; points that are struck in the next round, none once it is solved."""
        count = self.velocity.numel()
        missing = -(self.velocity + self.rebound)
        touching = [one > 0.5 for one in elements(self.touching)]
        struck = [ca.logic_and(one > 0.5, touch) for one, touch in zip(elements(self.before), touching, strict=True)]
        giving = GIVING * ca.trace(self.across) / count
        rows = [
            ca.if_else(is_struck, self.across[i, :] + giving * _unit(i, count).T, _unit(i, count).T)
            for i, is_struck in enumerate(struck)
        ]
        right = ca.vertcat(*(ca.if_else(s, one, 0) for s, one in zip(struck, elements(missing), strict=True)))
        impulses = ca.solve(ca.vertcat(*rows), right)
        left = self.across @ impulses - missing
        pull = NOTHING * ca.mmax(ca.fabs(impulses))
        fast = NOTHING * ca.mmax(
            ca.vertcat(*(ca.if_else(s, ca.fabs(u), 0) for s, u in zip(touching, elements(missing), strict=True)))
        )
        done, following = ca.SX(1), []
        for i, is_struck in enumerate(struck):
            wrong = ca.if_else(is_struck, impulses[i] < -pull, left[i] < -self.slow[i] - fast)
            turns = ca.logic_and(done, ca.logic_and(touching[i], wrong))
            following.append(ca.if_else(turns, 1 - is_struck, is_struck))
            done = ca.logic_and(done, ca.logic_not(turns))
        return done, impulses, ca.if_else(done, ca.SX.zeros(count), ca.vertcat(*following))


__all__ = ["Impacts"]
