"""Dry friction that sticks and slides: what rotational and translational components have in common."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.interpolation import look_up
from mbfmu.components.losses import LossPower
from mbfmu.errors import ModelError
from mbfmu.modeling import RealInput, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Impulse, Parameter, Variable, is_expression

#: Sliding ends where its speed is this far on the other side of zero [rad/s, m/s], so that rounding cannot end it.
REVERSED = 1e-9
#: Below this speed it is the friction that decides whether something slides, and which way [rad/s, m/s].
SLOW = 1e-6
#: Sliding begins where friction exceeds its maximum by this much [N.m, N], without which it may be about 0, and where
#: there is so much way to go [m].
EXCEEDED = 1e-12
#: What stuck surfaces give way by [1/(kg.m2), 1/kg], so that brakes on one shaft share its torque.
GIVING = 1e-12
#: Variables of friction that are discrete.
DISCRETE = ("startForward", "startBackward", "locked", "stuck", "mode")
#: Time in which the speed that is left when sliding ends dies away [s].
SETTLING = 1.0


class StickSlip(LossPower):
    """Two surfaces that stick, or slide forward or backward (Otter et al., CACSD 1999).

    Friction (a torque or a force) is an unknown of the equations of motion: it follows from the law of sliding, or,
    while the surfaces stick, from their relative acceleration being zero. For that it is written as the derivative of
    its impulse, whose equation says which of the two holds.
    """

    impulse: Any = Impulse(t.Real, "Time integral of the friction", start=0.0, fixed=True)
    sa = Variable(t.Real, "Path parameter of the friction characteristic: friction while locked, else acceleration")
    startForward = Variable(t.Boolean, "= true, if at rest and start of forward sliding")
    startBackward = Variable(t.Boolean, "= true, if at rest and start of backward sliding")
    locked = Variable(t.Boolean, "= true, if at rest and not sliding")
    mode = Variable(t.Integer, "Mode of friction (-1: backward sliding, 0: stuck, 1: forward sliding, 2: inactive)")

    def modify(self, **modifiers: Any) -> None:
        """Take values; what Modelica's modes were before the start follows here from the start itself."""
        super().modify(**{name: value for name, value in modifiers.items() if name not in DISCRETE})

    @property
    def friction(self) -> ca.SX:
        """What the surfaces resist each other with [N.m or N], positive against forward sliding."""
        return self.der(self.impulse)

    def stick_or_slide(
        self,
        speed: ca.SX,
        *,
        forward: Any,
        backward: Any,
        most: Any,
        least: Any,
        free: Any = 0.0,
        ahead: Any = 1.0,
        astern: Any = 1.0,
        stopping: Any = 0.0,
    ) -> None:
        """Let friction follow from the motion.

        Args:
            speed: relative speed of the surfaces.
            forward: friction while they slide forward, positive.
            backward: friction while they slide backward, negative.
            most: friction beyond which they begin to slide forward.
            least: friction beyond which they begin to slide backward.
            free: 1 while nothing presses them together, as `mode` shows it.
            ahead: negative where they cannot slide forward, whatever drives them.
            astern: negative where they cannot slide backward.
            stopping: 1/time in which they lose speed where sliding ends against something [1/s].
        """
        friction, acceleration = self.friction, self.der(speed)
        slides_on = self._slides(speed, acceleration, friction - most, ahead)
        slides_back = self._slides(-speed, -acceleration, least - friction, astern)
        sliding = slides_on + slides_back > 0.5
        law = ca.if_else(slides_on > 0.5, forward, backward)
        sticks = acceleration + speed * (1 / SETTLING + stopping) - GIVING * friction
        self.effort(impulse=ca.if_else(sliding, law - friction, sticks))
        self.startForward = ca.logic_and(slides_on > 0.5, speed <= 0)
        self.startBackward = ca.logic_and(slides_back > 0.5, speed >= 0)
        self.locked = ca.logic_not(ca.logic_or(sliding, free > 0.5))
        self.mode = ca.if_else(free > 0.5, 2, slides_on - slides_back)
        beyond = acceleration + ca.if_else(slides_on > 0.5, most, least)
        self.sa = ca.if_else(self.locked, friction, ca.if_else(free > 0.5, acceleration, beyond))
        self.lose(friction * speed)

    def _slides(self, speed: ca.SX, acceleration: ca.SX, excess: ca.SX, clear: Any) -> ca.SX:
        """1 while the surfaces slide in the direction in which speed and friction count as positive, else 0.

        What comes off a stop may still creep towards it, and turns round first.
        """
        begins = ca.fmin(ca.if_else(ca.fabs(speed) > SLOW, speed, excess - EXCEEDED), clear - EXCEEDED)
        turns_round = ca.fmin(speed + SLOW, acceleration)
        goes_on = ca.fmin(ca.fmax(speed + REVERSED, turns_round), clear)
        return self.switch(lambda slides: ca.if_else(slides > 0.5, goes_on, begins), 1, 0)

    def characteristic(self, name: str, speed: ca.SX, load: Any = 1.0) -> ca.SX:
        """Second column of a table parameter at |speed|, which must not be negative where there is a load.

        Beyond its last row a table goes on as it ends, as in Modelica: one that falls comes to friction that drives.
        """
        table = getattr(self, name)
        rows = range(self.shape_of(name)[0])
        speeds, values = [table[i, 0] for i in rows], [table[i, 1] for i in rows]
        found = look_up(self, ca.fabs(speed), speeds, values, self.smoothness)
        if len(rows) > 1:
            self.require(
                ca.if_else(ca.SX(load) > 0, found, 0),
                f"the friction of {name} is negative at this speed, and would drive what it should brake: add rows up "
                "to the greatest speed, the last two of them equal, so that friction stays what it is there",
            )
        return found

    def check_table(self, name: str, columns: int = 2) -> None:
        """Refuse tables that are no function of the speed from 0 on; of what a composite passes on, its shape counts.

        Raises:
            ModelError: not as many columns as there should be, or the first one does not rise from 0.
        """
        table, shape = self.value(name), self.shape_of(name)
        fits = len(shape) == 2 and shape[1] == columns
        if fits and is_expression(table):
            return
        rising = fits and table[0][0] == 0 and (np.diff(np.asarray(table)[:, 0]) > 0).all()
        if not rising:
            others = "a friction" if columns == 2 else f"{columns - 1} numbers"
            shown = f"has the shape {shape}" if is_expression(table) else f"= {np.asarray(table).tolist()}"
            raise ModelError(
                f"{self.where}.{name} {shown}: expected rows of a speed [SI unit] and {others}; the "
                "speeds rise, the first one is 0"
            )


class Coulomb(StickSlip):
    """Friction that is the same in both directions, with a peak where the surfaces stick."""

    smoothness = Parameter(t.Smoothness, "LinearSegments", "Smoothness of interpolation in the table of friction")
    peak = Parameter(t.Real, 1.0, "Peak for maximum friction at rest (ratio of sticking to sliding friction)", min=1)
    free = Variable(t.Boolean, "= true, if frictional element is not active")

    def resist(self, speed: ca.SX, coefficient: ca.SX, rest: ca.SX, load: Any = 1.0, free: Any = 0.0) -> None:
        """Let friction follow from a coefficient at the present speed and one at rest, both per load."""
        self.free = free
        slides, sticks = coefficient * load, self.peak * rest * load
        self.stick_or_slide(speed, forward=slides, backward=-slides, most=sticks, least=-sticks, free=free)


class Pressed(Coulomb):
    """Friction under a normal force that a signal gives."""

    mu_pos = Parameter(
        t.Real,
        ((0.0, 0.5),),
        "Positive sliding friction coefficient [-] as function of relative speed [rad/s or m/s] (>=0)",
        shape=None,
        min=0,
    )
    cgeo = Parameter(t.Real, 1.0, "Geometry constant containing friction distribution assumption", min=0)
    fn_max = Parameter(t.Force, required, "Maximum normal force", min=0)
    f_normalized = RealInput("Normalized force signal 0..1 (normal force = fn_max*f_normalized; active if > 0)")
    mu = Variable(t.Real, "Friction coefficient, negative unless the surfaces slide forward")
    fn = Variable(t.Force, "Normal force (=fn_max*f_normalized)")

    def check_values(self) -> None:
        super().check_values()
        self.check_table("mu_pos")

    def press(self, speed: ca.SX) -> ca.SX:
        """Let friction follow from the table and the signal; returns friction per coefficient."""
        self.fn = self.fn_max * self.f_normalized
        pressed = self.switch(self.fn, 1.0, 0.0)
        # A force that has just come presses at once: else what is at rest would slide before it is held.
        active = self.fn > 0
        load = self.cgeo * ca.if_else(ca.logic_or(pressed > 0.5, active), self.fn, 0)
        coefficient = self.characteristic("mu_pos", speed, load)
        self.resist(speed, coefficient, self.mu_pos[0, 1], load, ca.logic_not(active))
        self.mu = coefficient * ca.if_else(self.mode == 1, 1, -1)
        return load


__all__ = ["Coulomb", "Pressed", "StickSlip"]
