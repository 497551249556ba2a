"""Equations of a tyre of few parameters, written by hand: what SlipForce says of itself, with numbers alone."""

from __future__ import annotations

import dataclasses
import math

GRAVITY = 9.81  # of the damping at standstill


@dataclasses.dataclass(frozen=True)
class SlipCurve:
    """Friction over slip with a peak mu_A at s_A and mu_S from s_S on, with a relaxation length sigma [m]."""

    radius: float
    sigma: float
    mu_A: float = 1.0
    mu_S: float = 0.8
    s_A: float = 0.1
    s_S: float = 1.0

    @property
    def slope(self) -> float:
        """Friction per slip at no slip, over the greatest friction."""
        return math.pi / 2 / self.s_A

    def friction(self, slip: float) -> float:
        """Friction at a slip that is not negative: a quarter of a sine up to the peak, then a smooth fall."""
        rise = math.sin(math.pi / 2 * min(slip / self.s_A, 1.0))
        u = min(max((slip - self.s_A) / (self.s_S - self.s_A), 0.0), 1.0)
        angle = math.pi / 2 - math.asin(self.mu_S / self.mu_A)
        return self.mu_A * rise * math.cos(angle * u**2 * (3 - 2 * u))

    def rates(self, kappa: float, tan_alpha: float, v_x: float, sliding: tuple[float, float]) -> tuple[float, float]:
        """Rates of both slips while neither is beyond where friction ends."""
        grown = math.sqrt(1 + self.slope**2 * (kappa**2 + tan_alpha**2)) / self.sigma
        return (sliding[0] - abs(v_x) * kappa) * grown, (sliding[1] - abs(v_x) * tan_alpha) * grown

    def force(
        self, kappa: float, tan_alpha: float, load: float, v_x: float, sliding: tuple[float, float]
    ) -> tuple[float, float]:
        """Force ahead and to the left; at standstill sliding counts of itself, as a damper."""
        damper = 0.4 * math.exp(-((v_x / 0.5) ** 2)) / math.sqrt(GRAVITY * self.slope * self.mu_A * self.sigma)
        s_x, s_y = kappa + damper * sliding[0], tan_alpha + damper * sliding[1]
        size = math.hypot(s_x, s_y)
        if size < 1e-15:
            return 0.0, 0.0
        share = self.friction(size) * load / size
        return share * s_x, -share * s_y


__all__ = ["SlipCurve"]
