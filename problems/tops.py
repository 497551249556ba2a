"""Bodies that spin on a plane: the tippe top, which turns over, and the rattleback, which reverses."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from mbfmu.components import World
from mbfmu.components.contact import Contact, Ellipsoid, Plane, Sphere
from mbfmu.components.parts import Body
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Component, Start
from problems.motion import motion
from problems.problem import Problem, Solution

#: Acceleration of gravity [m/s2], and the vertical.
G, UP = 9.81, np.array([0.0, 0.0, 1.0])


class Top(Assembly):
    """A body whose shape touches a plane, its centre of mass at its origin.

    Args:
        shape: geometry at the body's frame.
        law: parameters of the contact.
        inertia: mass [kg] and moments of inertia [kg.m2] of the body, as Body has them.
        height: of its centre of mass [m].
        angles: about the x-, the new y- and the new z-axis [rad].
        v, w: velocity [m/s] and angular velocity [rad/s], resolved in the world frame.
    """

    def __init__(
        self,
        shape: Component,
        law: Mapping[str, float],
        inertia: Mapping[str, float],
        height: float,
        angles: tuple[float, float, float],
        v: np.ndarray,
        w: np.ndarray,
    ) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        self.body = Body(
            r_CM=(0, 0, 0),
            r_0=Start((0, 0, height), fixed=True),
            v_0=Start(tuple(map(float, v)), fixed=True),
            angles_fixed=True,
            angles_start=angles,
            w_0_start=tuple(map(float, w)),
            w_0_fixed=True,
            **inertia,
        )
        self.shape, self.ground = shape, Plane()
        self.contact = Contact(geometry_a="shape", geometry_b="ground", **law)
        self.connect(self.body.frame_a, self.shape.frame_a)
        self.connect(self.world.frame_b, self.ground.frame_a)


# -- tippe top: a sphere whose centre of mass lies off its centre

#: Mass [kg], radius [m], what the centre of mass lies below the centre [m], moments of inertia across and along the
#: axis [kg.m2], coefficient of friction, angle of the axis at the start [rad], spin about the vertical [rad/s].
M, R, OFF = 0.02, 0.02, 0.006
ACROSS, ALONG = 131 / 350 * M * R**2, 2 / 5 * M * R**2
MU, TILT, SPIN = 0.2, 0.5, 150.0
#: When Jellett's integral is looked at again [s].
LATE = 2.0


def tippe_top(c: float = 1e6) -> Top:
    """The top, pressed into the plane by its weight."""
    law = {"c": c, "d_n": 0.6 * math.sqrt(c * M), "mu_k": MU, "c_t": c / 10}
    inertia = {"m": M, "I_11": ACROSS, "I_22": ACROSS, "I_33": ALONG}
    height = R - OFF * math.cos(TILT) - M * G / c
    shape = Sphere(radius=R, r=(0, 0, OFF))
    return Top(shape, law, inertia, height, (0.0, TILT, 0.0), np.zeros(3), SPIN * UP)


def jellett(axis: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Jellett's integral [N.m2.s]: what the angular momentum about the centre of mass has along the way to the ground.

    Args:
        axis: the vertical in the axes of the body, (n, 3).
        w: angular velocity in these [rad/s], (n, 3).
    """
    momentum = w * (ACROSS, ACROSS, ALONG)
    return R * np.sum(momentum * axis, axis=1) - OFF * momentum[:, 2]


def solve_tippe_top(tolerance: float) -> Solution:
    """When the axis comes to the horizontal; Jellett's integral when the top stands on its head."""
    t = np.append(np.arange(0.69, 0.7, 1e-4), LATE)
    vertical = [f"body.frame_a.R.T[{i},3]" for i in (1, 2, 3)]
    speeds = [f"body.w_a[{i}]" for i in (1, 2, 3)]
    run = motion(_system(tippe_top), [*vertical, *speeds], np.append(0.0, t), tolerance)
    up, w = (np.column_stack([run.values[name] for name in names]) for names in (vertical, speeds))
    upright = up[1:-1, 2]
    i = int(np.flatnonzero((upright[1:] < 0) & (upright[:-1] >= 0))[0])
    values = {
        "contact-tippe-top-time": float(t[i] + (t[i + 1] - t[i]) * upright[i] / (upright[i] - upright[i + 1])),
        "contact-tippe-top-jellett": float(jellett(up[-1:], w[-1:])[0]),
    }
    return Solution(values, run.seconds, run.evaluations)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of two vectors; many times as quick as NumPy's, which is for any shape."""
    (a1, a2, a3), (b1, b2, b3) = a.tolist(), b.tolist()
    return np.array([a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1])


def _sliding(t: float, y: np.ndarray) -> np.ndarray:
    """Rates of the axis, of the angular velocity and of the velocity of a rigid top that slides."""
    axis, w, v = y[:3], y[3:6], y[6:]
    to_ground = OFF * axis - R * UP
    slip = v + _cross(w, to_ground)
    slip[2] = 0
    force = UP - MU * slip / math.sqrt(slip @ slip)  # over the normal force
    along = np.outer(axis, axis)
    inertia = ACROSS * np.eye(3) + (ALONG - ACROSS) * along
    inverse = np.eye(3) / ACROSS + (1 / ALONG - 1 / ACROSS) * along
    free, pushed = -inverse @ _cross(w, inertia @ w), inverse @ _cross(to_ground, force)

    def rise(turning: np.ndarray) -> float:
        """Acceleration of the height R - OFF axis[2]."""
        return float(-OFF * _cross(turning, axis)[2])

    normal = M * (G + rise(free) - OFF * _cross(w, _cross(w, axis))[2]) / (1 - M * rise(pushed))
    return np.concatenate([_cross(w, axis), free + pushed * normal, normal * force / M - G * UP])


# -- rattleback: an ellipsoid whose axes of inertia are turned against those of its shape

#: Half axes [m], what the centre of mass lies below the centre [m], angles about x and y [rad] and spin [rad/s] at the
#: start.
HALF, LOW = np.array([0.2, 0.03, 0.02]), 0.01
ROCK, TURN = math.radians(0.5), -5.0
INERTIA = {"m": 1.0, "I_11": 2e-4, "I_22": 1.6e-3, "I_33": 1.7e-3, "I_21": -2e-5}
MOMENTS = np.array([[2e-4, -2e-5, 0.0], [-2e-5, 1.6e-3, 0.0], [0.0, 0.0, 1.7e-3]])


def to_point(up: np.ndarray) -> np.ndarray:
    """From the centre of mass to the point of contact [m], the vertical being `up`; in the axes of the body."""
    return np.array([0.0, 0.0, LOW]) - HALF**2 * up / math.sqrt(up @ (HALF**2 * up))


def _start() -> tuple[np.ndarray, np.ndarray]:
    """Transformation from the world frame to the axes of the body, and the angular velocity in these."""
    c, s = math.cos(ROCK), math.sin(ROCK)
    first, second = np.array([[1, 0, 0], [0, c, s], [0, -s, c]]), np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    return second @ first, np.array([0.0, 0.0, TURN])


def rattleback(c: float = 1e9) -> Top:
    """The rattleback, which rolls from the start on."""
    T, w = _start()
    r = to_point(T @ UP)
    law = {"c": c, "d": 1e3, "mu_k": 2.0, "c_t": c / 2, "d_t": 500.0}
    shape = Ellipsoid(length=2 * HALF[0], width=2 * HALF[1], height=2 * HALF[2], r=(0, 0, LOW))
    height = float(-r @ (T @ UP)) - G / c
    return Top(shape, law, INERTIA, height, (ROCK, ROCK, 0.0), T.T @ _cross(r, w), T.T @ w)


def solve_rattleback(tolerance: float) -> Solution:
    """Spin before and after it has reversed."""
    run = motion(_system(rattleback), ["body.w_a[3]"], np.linspace(0, 3, 61), tolerance)
    w = run.values["body.w_a[3]"]
    values = {"contact-rattleback-before": float(w[20]), "contact-rattleback-after": float(w[-1])}
    return Solution(values, run.seconds, run.evaluations)


def _rolling(t: float, y: np.ndarray) -> np.ndarray:
    """Rates of the vertical in the axes of a rigid body that rolls, and of its angular velocity."""
    up, w = y[:3], y[3:]
    m, r = INERTIA["m"], to_point(up)
    length = math.sqrt(up @ (HALF**2 * up))
    turning = -_cross(w, up)
    wandering = -(HALF**2) * turning / length + HALF**2 * up * (up @ (HALF**2 * turning)) / length**3
    # The centre of mass moves with r x w: the force of contact is m times its acceleration, and weight
    force = m * (_cross(wandering + _cross(w, r), w) + G * up)
    tilde = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    rates = np.linalg.solve(MOMENTS - m * tilde @ tilde, _cross(r, force) - _cross(w, MOMENTS @ w))
    return np.concatenate([turning, rates])


def by_hand() -> dict[str, float]:
    """References from rigid bodies: one that slides by Coulomb's law, one that rolls."""

    def level(t: float, y: np.ndarray) -> float:
        return float(y[2])

    level.terminal = True  # type: ignore[attr-defined]
    exact: dict[str, Any] = {"method": "DOP853", "rtol": 3e-14, "atol": 1e-14}
    axis = np.array([math.sin(TILT), 0.0, math.cos(TILT)])
    slid = solve_ivp(_sliding, (0, 1), np.concatenate([axis, SPIN * UP, np.zeros(3)]), events=level, **exact)
    T, w = _start()
    rolled = solve_ivp(_rolling, (0, 3), np.concatenate([T @ UP, w]), t_eval=[1.0, 3.0], **exact)
    assert slid.t_events is not None
    return {
        "contact-tippe-top-time": float(slid.t_events[0][0]),
        "contact-rattleback-before": float(rolled.y[5, 0]),
        "contact-rattleback-after": float(rolled.y[5, 1]),
    }


@functools.cache
def _system(model: Any) -> System:
    return System.of(model())


_AXIS = np.array([[-math.sin(TILT), 0.0, math.cos(TILT)]])
_TOP: Mapping[str, Any] = {
    "title": "Tippe top",
    "source": "R. J. Cohen, The tippe top revisited, Am. J. Phys. 45 (1977), 12-17: a sphere with its centre of mass "
    "off its centre, Coulomb friction; J. H. Jellett, A Treatise on the Theory of Friction, 1872",
    "solve": solve_tippe_top,
    "model": tippe_top,
    "tolerance": 1e-8,
    "tolerances": (1e-6, 1e-8),
}
_RATTLEBACK: Mapping[str, Any] = {
    "title": "Rattleback",
    "source": "T. R. Kane, D. A. Levinson, Realistic mathematical modeling of the rattleback, Int. J. Non-Linear Mech. "
    "17 (1982), 175-186; Y. Kondo, H. Nakanishi, arXiv:1704.06717; here without resistance",
    "unit": "rad/s",
    "solve": solve_rattleback,
    "model": rattleback,
    "origin": "computed",
    "tolerance": 1e-8,
    "tolerances": (1e-6, 1e-8),
}

PROBLEMS = (
    Problem(
        id="contact-tippe-top-time",
        quantity="when the axis comes to the horizontal, after 150 rad/s about the vertical at 0.5 rad; mu = 0.2",
        unit="s",
        reference=0.6960640115919468,
        error=1e-5,
        origin="computed",
        **_TOP,
    ),
    Problem(
        id="contact-tippe-top-jellett",
        quantity=f"Jellett's integral at {LATE:g} s, when the top spins upside down, is that of the start",
        unit="N.m2.s",
        reference=float(jellett(_AXIS, SPIN * _AXIS)[0]),
        error=1e-10,
        origin="closed form",
        **_TOP,
    ),
    Problem(
        id="contact-rattleback-before",
        quantity="spin after 1 s, of -5 rad/s at the start",
        reference=-3.1175435374235416,
        error=5e-4,
        **_RATTLEBACK,
    ),
    Problem(
        id="contact-rattleback-after",
        quantity="spin after 3 s: it has reversed",
        reference=0.2513063843074753,
        error=5e-4,
        **_RATTLEBACK,
    ),
)
