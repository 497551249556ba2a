"""Dampers, and springs with dampers, along a line (MultiBody.Forces 4.1)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.forces.animation import CoilShape, DamperShape
from mbfmu.components.interfaces import PartialLineForce
from mbfmu.components.losses import LossPowerWithT
from mbfmu.modeling import Parameter, Start, State, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Final


class _LossyLineForce(LossPowerWithT, PartialLineForce):
    """Line force that turns work into heat."""

    T = Final(t.Temperature, lambda self: 293.15, "Fixed device temperature if useHeatPort = false")

    s_small = Parameter(t.Distance, 1e-10, "Prevent zero-division if distance between frame_a and frame_b is zero")


class Damper(DamperShape, _LossyLineForce):
    """Linear (velocity dependent) damper."""

    modelica_name = "MultiBody.Forces.Damper"

    d = Parameter(t.TranslationalDampingConstant, required, "Damping constant", min=0, tunable=True)

    def line_force(self) -> Any:
        speed = self.der(self.s)
        self.lose(self.d * speed**2)
        return self.d * speed

    def visualize(self: Any) -> None:
        self.draw_cylinders(self.s)


class _SpringDamper(CoilShape, DamperShape, _LossyLineForce):
    """Linear spring and linear damper."""

    c = Parameter(t.TranslationalSpringConstant, required, "Spring constant", min=0, tunable=True)
    s_unstretched = Parameter(t.Length, 0.0, "Unstretched spring length", tunable=True)


class SpringDamperParallel(_SpringDamper):
    """Linear spring and linear damper in parallel."""

    modelica_name = "MultiBody.Forces.SpringDamperParallel"

    # Where nobody gives d it is open: 0, unless start values ask for another one.
    d = Parameter(t.TranslationalDampingConstant, Start(0.0, fixed=False), "Damping constant", min=0, tunable=True)

    def line_force(self) -> Any:
        stretch, speed = self.s - self.s_unstretched, self.der(self.s)
        self.lose(self.d * speed**2, potential=self.c * stretch**2 / 2)
        return self.c * stretch + self.d * speed

    def visualize(self: Any) -> None:
        self.draw_coil(0, self.s)
        self.draw_cylinders(self.s)


class SpringDamperSeries(_SpringDamper):
    """Linear spring and linear damper in series connection: frame_a - damper - spring - frame_b."""

    modelica_name = "MultiBody.Forces.SpringDamperSeries"

    d = Parameter(
        t.TranslationalDampingConstant, 0.0, "Damping constant; where it is 0, nothing is carried", min=0, tunable=True
    )
    s_damper_start = Parameter(t.Length, 0.0, "Initial length of damper")
    s_damper = State(
        t.Position,
        "Actual length of damper (frame_a - damper - spring - frame_b)",
        start=lambda self: self.s_damper_start,
        fixed=True,
    )

    def line_force(self) -> Any:
        stretch = self.s - self.s_unstretched - self.s_damper
        is_damped = self.d > 0
        force = ca.if_else(is_damped, self.c * stretch, 0)
        speed = ca.if_else(is_damped, force / self.d, self.der(self.s))
        self.der.s_damper = speed
        self.lose(force * speed, potential=force * stretch / 2)
        return force

    def visualize(self: Any) -> None:
        self.draw_cylinders(self.s_damper)
        self.draw_coil(self.s_damper, self.s - self.s_damper)


__all__ = ["Damper", "SpringDamperParallel", "SpringDamperSeries"]
