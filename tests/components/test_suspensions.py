"""Suspensions move their wheels as rigid rods and joints would: kinematics by hand, solved by SciPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

from mbfmu.components import FixedTranslation, FreeMotion, World, vehicle
from mbfmu.components.forces import WorldForce
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate


class Lifted(Assembly):
    """A suspension without weight and almost without spring, whose wheel is lifted slowly."""

    def __init__(self, suspension: vehicle.Suspension) -> None:
        self.world = World(g=0.0)
        self.corner = suspension
        self.tie = FixedTranslation(r=point(suspension, "tieInner"), animation=False)
        self.force = WorldForce()
        self.connect(self.world.frame_b, self.corner.frame_a)
        self.connect(self.world.frame_b, self.tie.frame_a)
        self.connect(self.tie.frame_b, self.corner.frame_rack)
        self.connect(self.corner.frame_hub, self.force.frame_b)
        self.input(self.force.force, "force")


def point(suspension: vehicle.Suspension, name: str) -> np.ndarray:
    return np.array([1, 1 if suspension.value("left") else -1, 1]) * np.asarray(suspension.value(name), dtype=float)


def turned(inner: np.ndarray, outer: np.ndarray, angle: float) -> np.ndarray:
    """The outer end of an arm that turns about an axis parallel to x."""
    return inner + Rotation.from_rotvec([angle, 0, 0]).apply(outer - inner)


def missing(suspension: vehicle.Suspension, x: np.ndarray, ball: np.ndarray, height: float) -> list[float]:
    """Length of the tie rod and height of the wheel of an upright on a ball joint, turned by x[:3]."""
    at = {name: point(suspension, name) for name in ("tieInner", "tieOuter", "hub", "lowerBall")}
    turn = Rotation.from_rotvec(x[:3])
    tie = ball + turn.apply(at["tieOuter"] - at["lowerBall"])
    length = np.linalg.norm(at["tieOuter"] - at["tieInner"])
    hub = ball + turn.apply(at["hub"] - at["lowerBall"])
    return [np.linalg.norm(tie - at["tieInner"]) - length, hub[2] - height]


def wishbones(s: vehicle.Suspension, x: np.ndarray, height: float) -> list[float]:
    ball = turned(point(s, "lowerInner"), point(s, "lowerBall"), x[3])
    upper = turned(point(s, "upperInner"), point(s, "upperBall"), x[4])
    carried = ball + Rotation.from_rotvec(x[:3]).apply(point(s, "upperBall") - point(s, "lowerBall"))
    return [*(upper - carried), *missing(s, x, ball, height)]


def strut(s: vehicle.Suspension, x: np.ndarray, height: float) -> list[float]:
    ball = turned(point(s, "lowerInner"), point(s, "lowerBall"), x[3])
    along = point(s, "strutTop") - point(s, "strutFoot")
    rod = point(s, "strutFoot") - point(s, "lowerBall") + along * (1 + x[4])
    return [*(ball + Rotation.from_rotvec(x[:3]).apply(rod) - point(s, "strutTop")), *missing(s, x, ball, height)]


def links(s: vehicle.Suspension, x: np.ndarray, height: float) -> list[float]:
    hub, found = point(s, "hub"), []
    for name in ("upperFront{}", "upperRear{}", "lowerFront{}", "lowerRear{}", "tie{}"):
        inner, outer = (point(s, name.format(end)) for end in ("Inner", "Outer"))
        moved = hub + x[3:] + Rotation.from_rotvec(x[:3]).apply(outer - hub)
        found.append(np.linalg.norm(moved - inner) - np.linalg.norm(outer - inner))
    return [*found, x[5] - height]


KINDS = {
    vehicle.DoubleWishbone: (wishbones, 5),
    vehicle.MacPherson: (strut, 5),
    vehicle.FiveLink: (links, 6),
}


def orientation(kind: Callable[..., list[float]], s: vehicle.Suspension, unknowns: int, height: float) -> np.ndarray:
    found, _, done, said = fsolve(lambda x: kind(s, x, height), np.zeros(unknowns), full_output=True, xtol=1e-12)
    assert done == 1, said
    return Rotation.from_rotvec(found[:3]).as_matrix()


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_toe_and_camber_are_those_of_rigid_rods(kind: type[vehicle.Suspension], left: bool) -> None:
    equations, unknowns = KINDS[kind]
    suspension = kind(left=left, c=1e-3, d=0.0, preload=0.0)
    hub = [f"corner.frame_hub.{name}" for name in ("r_0[3]", "R.T[2,1]", "R.T[2,2]", "R.T[2,3]")]
    system, far = System.of(Lifted(suspension)), 0.0
    for push in (20.0, -20.0):
        run = simulate(system, 0.4, interval=0.1, start_values={"force[3]": push}, outputs=hub, tolerance=1e-7)
        for row in np.column_stack([run[name] for name in hub])[1:]:
            far = max(far, abs(row[0]))
            axis = orientation(equations, suspension, unknowns, row[0])[:, 1]
            np.testing.assert_allclose(row[1:], axis, atol=1e-4)
    assert far > 0.03
    steered = orientation(equations, suspension, unknowns, 0.06)[:, 1]
    assert np.abs(steered - [0, 1, 0]).max() > 5e-3  # it does turn


def test_a_spring_without_stiffness_is_refused() -> None:
    with pytest.raises(ModelError, match="must not be 0"):
        vehicle.MacPherson(c=0.0)


class Free(Assembly):
    """A car on a level road."""

    def __init__(self, speed: float = 20.0) -> None:
        self.world = World(n=(0, 0, -1))
        self.car = vehicle.MacPhersonCar(v_start=speed)
        self.free = FreeMotion(
            r_rel_a=Start((0.0, 0.0, 0.3), fixed=True), v_rel_a=Start((speed, 0.0, 0.0), fixed=True), angles_fixed=True,
            w_rel_a_fixed=True, animation=False,
        )  # fmt: skip
        self.connect(self.world.frame_b, self.free.frame_a)
        self.connect(self.free.frame_b, self.car.frame_a)
        self.input(self.car.brake, "brake", start=0.0)
        self.input(self.car.steer, "steer", start=0.0)


@pytest.mark.slow
def test_a_car_on_struts_and_links_answers_to_both_sides_alike() -> None:
    system, names = System.of(Free()), ["car.yawRate", "car.roll", "car.a_y"]
    straight, left, right = (
        simulate(system, 1.5, tolerance=1e-6, start_values={"steer": angle}, outputs=names) for angle in (0, 0.8, -0.8)
    )
    for name in names:
        np.testing.assert_allclose(left[name], -right[name], atol=1e-4)
        np.testing.assert_allclose(straight[name], 0, atol=1e-4 * np.abs(left[name]).max())
    assert left["car.yawRate"][-1] > 0.15
    assert left["car.roll"][-1] > 0.01  # it leans outwards
