"""Laws of contact: normal force, damping, friction. Plain functions of numbers or expressions.

Sources:

- Hertz, H.: Ueber die Beruehrung fester elastischer Koerper. J. reine angew. Math. 92 (1882), 156-171; Johnson, K. L.:
  Contact Mechanics (1985), section 4.2.
- Hunt, K. H., Crossley, F. R. E.: Coefficient of restitution interpreted as damping in vibroimpact. J. Appl. Mech. 42
  (1975), 440-445.
- Gonthier, Y. et al.: A regularized contact model with asymmetric damping and dwell-time dependent friction. Multibody
  Syst. Dyn. 11 (2004), 209-233: damping for a restitution, exact for the law of Hunt and Crossley.
- Howe, R. D., Cutkosky, M. R.: Practical force-motion models for sliding manipulation. Int. J. Robotics Research 15
  (1996), 557-572: friction force and moment of a patch, which together lie within an ellipsoid.
- Kikuuwe, R. et al.: Fixed-step friction simulation: from classical Coulomb model to modern continuous models. IROS
  2005.
- Xiong, X., Kikuuwe, R., Yamamoto, M.: A differential algebraic method to approximate nonsmooth mechanical systems by
  ordinary differential equations. J. Appl. Math. 2013, 320276: friction of an elastic bristle with a slider.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.interfaces import guarded_length

#: Exponent of Hertz's law.
HERTZ = 1.5
#: Lengths below this have no direction [m].
SHORT = 1e-12
#: Bounds a power of what may be 0 away from the logarithm in its derivative.
TINY = 1e-30
#: Rounds of Newton's method that `damping_number` takes, which are enough from LEAST_RESTITUTION to 1.
ROUNDS = 6
#: Below this coefficient of restitution `damping_number` is lost in rounding; 1/e is what it comes to.
LEAST_RESTITUTION = 0.05


def hertz_stiffness(E_a: Any, nu_a: Any, E_b: Any, nu_b: Any, curvature: Any) -> Any:
    """Stiffness [N/m^1.5] of two round surfaces: f = 4/3 E* sqrt(R) depth^1.5.

    Args:
        E_a, E_b: moduli of elasticity [Pa].
        nu_a, nu_b: Poisson's ratios.
        curvature: sum of the curvatures, 1/R [1/m].
    """
    E_star = 1 / ((1 - nu_a**2) / E_a + (1 - nu_b**2) / E_b)
    return 4 / 3 * E_star / ca.sqrt(curvature)


def elastic_force(c: Any, n: Any, depth: Any) -> tuple[Any, Any]:
    """Force [N] of a power law, c depth^n, and the energy that it stores [J]; depth [m] is not negative."""
    force = ca.if_else(depth > TINY, c * ca.fmax(depth, TINY) ** n, 0)
    return force, force * depth / (n + 1)


def hunt_crossley(force: Any, d: Any, depth_rate: Any) -> Any:
    """An elastic force [N] times 1 + d times the rate of the depth [m/s], d in s/m; never negative."""
    return force * ca.fmax(0, 1 + d * depth_rate)


def kelvin_voigt(force: Any, d: Any, depth_rate: Any) -> Any:
    """An elastic force [N] and that of a damper d [N.s/m] beside it; never negative."""
    return ca.fmax(0, force + d * depth_rate)


def damping_number(e: Any) -> Any:
    """Damping of Hunt and Crossley times the speed of impact for which the coefficient of restitution is e.

    From the first integral of m x'' = -c x^n (1 + d x'): D (1 + e) = ln((1 + D) / (1 - e D)) with D = d v, whatever m,
    c and n are. Solved by Newton's method in x = e D, from above: from 8/5 (1 - e), the approximation of Flores et al.
    (Multibody Syst. Dyn. 25 (2011), 357-375), or for small e from where 1 - x is small.
    """
    x = ca.fmin(8 / 5 * (1 - e), 1 - (1 + 1 / e) * ca.exp(-(1 + e) / e))
    for _ in range(ROUNDS):
        D = x / e
        residual = D * (1 + e) - ca.log1p(D) + ca.log1p(-x)
        slope = (1 + e) / e - 1 / (e * (1 + D)) - 1 / (1 - x)
        # Both vanish for e = 1, where there is no damping
        step = residual / ca.if_else(ca.fabs(slope) > TINY, slope, 1)
        x = x - step
    return x / e


def coulomb(mu_k: Any, mu_s: Any, v_S: Any, v: Any) -> Any:
    """Coefficient of friction at a sliding velocity v [m/s], (3,): mu_s at rest, mu_k well above v_S (Stribeck)."""
    return mu_k + (mu_s - mu_k) * ca.exp(-ca.sumsqr(v) / v_S**2)


def bristle(c: Any, d: Any, z: Any, v: Any, most: Any) -> tuple[Any, Any]:
    """Resistance of an elastic bristle whose tip sticks, or slides where it would exceed `most`.

    The bristle gives way by z, so that it resists with c z + d z'; its tip slides with v - z'. Sticking, the resistance
    is c z + d v; sliding, its magnitude is `most`, and z' follows. It never gives more energy than it has taken up, and
    creeps under no load below `most`.

    Args:
        c, d: stiffness [N/m] and damping [N.s/m] of the bristle, or [N.m/rad] and [N.m.s/rad].
        z: what it gives way by [m or rad], (3,).
        v: relative velocity of the bodies [m/s or rad/s], (3,).
        most: greatest resistance [N or N.m], or one for each of several parts of v, which `z` and `v` then list.

    Returns:
        The resistance, positive along v, and z'.
    """
    sticking = c * z + d * v
    resistance = sticking * most / ca.fmax(most, guarded_length(sticking, TINY))
    return resistance, (resistance - c * z) / d


__all__ = [
    "HERTZ",
    "LEAST_RESTITUTION",
    "bristle",
    "coulomb",
    "damping_number",
    "elastic_force",
    "hertz_stiffness",
    "hunt_crossley",
    "kelvin_voigt",
]
