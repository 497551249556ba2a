"""GravityPool: bodies that attract each other (the gravity pool of the lecture on 3D mechanics)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import casadi as ca

from mbfmu.errors import ModelError
from mbfmu.frames import cross, resolve1, resolve2
from mbfmu.modeling import Component, Frame_a
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.types import Real


class GravityPool(Component):
    """Point-mass attraction between all bodies that are put in it, besides the gravity of World. ::

        self.pool = GravityPool()
        self.pool.put(self.sun, self.earth, self.moon)

    Every body (anything with frame_a, mass m and, where it has one, r_CM) feels m_i m_j G / d^2 towards every other.
    """

    modelica_name = "MultiBody.Forces.GravityPool"

    G = Parameter(Real, 6.67430e-11, "Gravitational constant [m3/(kg.s2)] (CODATA 2018)", min=0, tunable=True)

    def __init__(self, **modifiers: Any) -> None:
        super().__init__(**modifiers)
        self._members: list[Component] = []

    def put(self, *bodies: Component) -> None:
        """Put bodies into the pool, once both are parts of one assembly.

        Raises:
            ModelError: the pool or a body is not part of an assembly yet, a body is in the pool, or has no mass.
        """
        assembly = self.part_of
        for body in bodies:
            if assembly is None or body.part_of is None:
                raise ModelError(
                    f"{self.where}: assign the pool and {body.where} to attributes of an assembly before put()"
                )
            if "m" not in body.declarations or "frame_a" not in body.ports():
                raise ModelError(
                    f"{self.where}: {body.where} ({type(body).__name__}) has no mass m with a frame_a; put in "
                    "bodies only"
                )
            if any(member is body for member in self._members):
                raise ModelError(f"{self.where}: {body.where} is in the pool already")
            self._members.append(body)
            name = f"frame[{len(self._members)}]"
            setattr(self, name, Frame_a(f"Frame of {body.where}"))
            assembly.connect(self.connector(name), body.connector("frame_a"))

    def equations(self) -> None:
        frames = [getattr(self, f"frame[{i + 1}]") for i in range(len(self._members))]
        offsets = [b.r_CM if "r_CM" in b.declarations else ca.SX.zeros(3) for b in self._members]
        positions = [f.r_0 + resolve1(f.R, r) for f, r in zip(frames, offsets, strict=True)]
        pull = [ca.SX.zeros(3) for _ in frames]
        potential = ca.SX.zeros(1)
        for i, j in combinations(range(len(frames)), 2):
            distance = ca.norm_2(positions[j] - positions[i])
            strength = self.G * self._members[i].m * self._members[j].m / distance
            force = strength / distance**2 * (positions[j] - positions[i])
            pull[i] += force
            pull[j] -= force
            potential -= strength
        for frame, force, r in zip(frames, pull, offsets, strict=True):
            frame.f = -resolve2(frame.R, force)
            frame.t = cross(r, frame.f)
        self.energy(potential=potential)


__all__ = ["GravityPool"]
