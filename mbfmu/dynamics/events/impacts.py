"""Impacts: jumps of all speeds by which momentum is kept, with impulses that push and never pull, and friction."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import casadi as ca

from mbfmu.dynamics.columns import elements, stacked
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.reading.events import Impact
from mbfmu.dynamics.solving.dense import Direct
from mbfmu.dynamics.structure.unknowns import Own
from mbfmu.errors import ModelError
from mbfmu.messages import heading
from mbfmu.modeling.declarations import Impulse
from mbfmu.runtime.contract import FUNCTIONS
from mbfmu.runtime.equations import StruckPoint

#: Results of `impacts` that a component gives for each point, in their order.
_OF_POINTS = ("touching", "resting", "restitution", "slow", "mu_s", "mu_k")


@dataclasses.dataclass(frozen=True)
class Impacts:
    """What the runtime needs to know of points that are struck, or stay closed (templates/runtime/impacts.c).

    Over an instant, finite forces and the products of speeds in A w = b have no effect: what is left of it is
    A [jumps; impulses] = 0, but for the impulses at the points that are struck. The runtime solves it for all of them,
    and then knows what their impulses, and their forces, do to all others.
    """

    #: Results of `impacts` in mbfmu/runtime/contract.py; none where there are no points.
    results: tuple[ca.SX, ...] = ()
    points: tuple[StruckPoint, ...] = ()
    #: Numbers of the speeds that are impulses: of each row, and all of them.
    struck_speeds: tuple[int, ...] = ()
    impulse_speeds: tuple[int, ...] = ()

    @classmethod
    def of(cls, formulation: Formulation, w: ca.SX) -> Impacts:
        """Ask all components.

        Raises:
            ModelError: a velocity depends on accelerations, constraints follow from others in a way that changes, or an
                impulse moves nothing.
        """
        values, vectors, resolved = formulation.values, formulation.vectors, formulation.resolved
        impacts = [(path, impact) for path, b in values.behaviours.items() for impact in b.impacts]
        if not impacts:
            return cls()
        if formulation.constraints.choice.redundancies:
            raise ModelError(
                f"{heading(impacts[0][0])}impacts need constraints that are independent; which of this model's follow "
                "from others depends on the position: replace joints such that none does, or take a contact that gives "
                "way"
            )
        given = [
            dict(zip(impact.given, resolved(values.locals(path, impact.parts)), strict=True))
            for path, impact in impacts
        ]
        for (path, _), parts in zip(impacts, given, strict=True):
            known = ca.vertcat(parts["velocity"], parts["sliding"])
            if ca.depends_on(known, ca.vertcat(w, values.iterated)):
                raise ModelError(
                    f"{heading(path)}the velocity of an impact depends on accelerations or a loop that is not linear; "
                    "give one of positions and speeds"
                )

        def column(*names: str) -> ca.SX:
            return stacked(parts[name] for name in names for parts in given)

        velocity = column("velocity", "sliding")
        V, A = ca.jacobian(velocity, vectors.v), ca.SX(Direct.of(formulation).A)
        place = {speed.element_hash(): i for i, speed in enumerate(elements(vectors.v))}

        def rows(path: str, name: str) -> Iterator[int]:
            (speed,) = resolved([values.variable(path, name)])
            yield from (place[element.element_hash()] for element in elements(speed))

        along = [row for path, impact in impacts for row in rows(path, impact.name)]
        across = [row for path, impact in impacts if impact.friction for row in rows(path, impact.friction)]
        owners = [(path, impact.name) for path, impact in impacts for _ in range(impact.count)]
        impulses = tuple(place[speed.element_hash()] for speed in _impulses(formulation))
        loads = A[[i for i in range(A.size1()) if i not in set(impulses)], :]
        for i, (path, name) in enumerate(owners):
            if not V[i, :].nnz() or not ca.sparsify(loads[:, along[i]]).nnz():
                raise ModelError(
                    f"{heading(path)}{name} moves nothing: what would be struck is prescribed on both sides; let "
                    "forces move one of them"
                )
        results = {
            "M": A,
            "V": V,
            "gap": column("gap"),
            "velocity": velocity,
            "rate": column("rate", "sliding_rate"),
            "normal": column("normal"),
            **{name: column(name) for name in _OF_POINTS},
        }
        modes = [elements(values.unknowns.held[Own(path, impact.modes)]) for path, impact in impacts]
        held = {mode.element_hash(): i for i, mode in enumerate(elements(stacked(values.unknowns.held.values())))}
        points = tuple(_points(impacts, [[held[mode.element_hash()] for mode in one] for one in modes]))
        ordered = tuple(results[result.name] for result in FUNCTIONS["impacts"].results)
        return cls(ordered, points, (*along, *across), impulses)


def _points(impacts: list[tuple[str, Impact]], modes: list[list[int]]) -> Iterator[StruckPoint]:
    """What tables say of each point, in the order of rows; `modes` are numbers of held values, for each impact."""
    sliding = sum(impact.count for _, impact in impacts)
    for (path, impact), held in zip(impacts, modes, strict=True):
        for i in range(impact.count):
            name = path if impact.count == 1 else f"{path} (point {i + 1})"
            rubs = impact.friction is not None
            yield StruckPoint(name, impact.restitution, held[i * impact.modes_of_each], sliding if rubs else -1)
            sliding += 3 * rubs


def _impulses(formulation: Formulation) -> Iterator[ca.SX]:
    """Time integrals of finite forces, which do not jump but where their components let them."""
    v = formulation.values.unknowns.v
    for path, behaviour in formulation.values.behaviours.items():
        component = behaviour.component
        for declaration in component.variables().values():
            leaf = declaration.leaf(component) if isinstance(declaration, Impulse) else None
            if leaf is not None:
                yield from elements(v[Own(path, leaf)])


__all__ = ["Impacts"]
