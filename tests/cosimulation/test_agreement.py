"""Agreement of what is coupled, without FMUs: Newton's method on loops, torques of rigid shafts, values that jump."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mbfmu.cosimulation import loops
from mbfmu.cosimulation.coupling import equal, nominal
from mbfmu.cosimulation.shafts import ACCURACY, ROUGH, Shafts
from mbfmu.errors import SimulationError

# -- loops


def solved(law: Callable[[float], float], start: float, **options: Any) -> float:
    """u = y(u) of one input."""
    u, _ = loops.consistent_inputs(
        lambda u: np.array([law(float(u[0]))]), np.array([start]), [0], ["motor.tau"], **options
    )
    return float(u[0])


def test_newton_steps_that_lead_away_are_halved() -> None:
    """Of atan(10 u) = 0 each whole step from 3 on is longer than the one before."""
    assert solved(lambda u: u - math.atan(10 * u), 3.0) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("slope", [0.9, 1.0, 7.0, -50.0], ids=str)
def test_a_jacobian_that_is_no_longer_right_is_made_anew(slope: float) -> None:
    """Of u = 0.5 u + 1, which is 2; with the slope 1 it says that there is no solution, or any."""
    assert solved(lambda u: 0.5 * u + 1, 100.0, known=np.array([[slope]])) == pytest.approx(2.0, rel=1e-9)


def test_slaves_are_where_they_are_differentiated() -> None:
    """A step with a wrong slope that leads nowhere is taken back, also by those who were asked."""
    asked: list[float] = []

    def outputs_of(u: np.ndarray) -> np.ndarray:
        asked.append(float(u[0]))
        return -4 * u + 5

    def jacobian_of(u: np.ndarray, y: np.ndarray) -> np.ndarray:
        assert asked[-1] == u[0]
        assert y == pytest.approx(-4 * u + 5)
        return np.array([[-4.0]])

    u, jacobian = loops.consistent_inputs(
        outputs_of, np.array([3.0]), [0], ["a"], jacobian_of=jacobian_of, known=np.array([[0.9]])
    )
    assert u == pytest.approx([1.0])
    assert jacobian is not None
    assert jacobian.tolist() == [[-4.0]]
    assert max(asked) == 3.0
    assert min(asked) < -50


def test_what_rounding_of_fmus_leaves_is_borne() -> None:
    """FMUs that iterate themselves answer with some noise, more than what is aimed at; there is a limit to it."""
    calls = 0

    def noisy(size: float) -> Callable[[float], float]:
        def law(u: float) -> float:
            nonlocal calls
            calls += 1
            return 0.5 * u + 1 + size * (calls % 3 - 1)

        return law

    assert solved(noisy(1e-8), 0.0) == pytest.approx(2.0, abs=1e-6)
    with pytest.raises(SimulationError, match=r"^motor\.tau: no values on which .* \(they differ by .*put a spring"):
        solved(noisy(1e-4), 0.0)


@pytest.mark.parametrize("law", [lambda u: u + 1 + u * u, lambda u: u + 1], ids=["no root", "gain 1"])
def test_loops_without_solution_are_refused_by_name(law: Callable[[float], float]) -> None:
    with pytest.raises(SimulationError, match=r"^motor\.tau: no values .*they differ by 1.*a spring or a damper"):
        solved(law, 0.3)


def test_outputs_of_which_nothing_is_said_depend_on_all() -> None:
    known = SimpleNamespace(variable=SimpleNamespace(name="y"), dependencies=[SimpleNamespace(name="u")])
    silent = SimpleNamespace(variable=SimpleNamespace(name="z"), dependencies=None)
    description = SimpleNamespace(outputs=[known, silent])
    assert [loops.direct_inputs(description, name) for name in ("y", "z", "other")] == [{"u"}, None, None]


# -- values


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1.0, 1.0 + 1e-10, True), (1.0, 1.0 + 1e-8, False), (0.0, 1e-10, True), (0.0, 1e-8, False), (True, True, True),
        (True, False, False), (1, 2, False), ("a", "a", True), (None, 1.0, False), (1.0, 1, True),
    ],
)  # fmt: skip
def test_values_that_jump_are_the_same_but_for_rounding(a: Any, b: Any, same: bool) -> None:
    assert equal(a, b) is same
    assert equal(b, a) is same


@pytest.mark.parametrize(
    ("text", "value"), [(None, 1.0), ("", 1.0), ("25", 25.0), ("-3", 3.0), ("0", 1.0), ("much", 1.0), (4.0, 4.0)]
)
def test_nominal_values_are_positive(text: Any, value: float) -> None:
    assert nominal(SimpleNamespace(attribute={"nominal": text}.get)) == value  # type: ignore[arg-type]


# -- rigid shafts


class Turning:
    """An inertia that a torque of its own turns, and one that follows a line; in closed form, with noise if wanted."""

    def __init__(self, name: str, shafts: Shafts, sign: float, J: float, own: Callable[[float], float]) -> None:
        self.name, self.shafts, self.J, self.own = name, shafts, J, own
        self.phi, self.w, self.time, self.ended, self.noise, self.asked = 0.0, 0.0, 0.0, None, 0.0, 0
        shafts._taken[name], shafts._outputs[name] = [(0, sign)], None  # type: ignore[assignment]
        shafts.elements.append(name)

    def torque(self, share: float) -> float:
        (given,) = self.shafts.torques(self.name, share)
        return float(given) + self.own(float(given))

    def get(self, _outputs: Any) -> list[float]:
        self.asked += 1
        return [self.phi + self.noise * (-1) ** self.asked, self.w, self.torque(1.0) / self.J]

    def save(self) -> tuple[float, float, float]:
        return self.phi, self.w, self.time

    def restore(self, state: tuple[float, float, float]) -> None:
        self.phi, self.w, self.time = state

    def forget(self, _state: Any) -> None:
        pass

    def step(self, size: float) -> None:
        """Along a line from b to e of torques: of the angle h^2 (2 b + e) / 6 J, of the speed h (b + e) / 2 J."""
        begin, end = self.torque(0.0), self.torque(1.0)
        self.phi += self.w * size + size**2 * (2 * begin + end) / (6 * self.J)
        self.w += size * (begin + end) / (2 * self.J)
        self.time += size


def two(J: tuple[float, float], own: Callable[[float], float]) -> tuple[Shafts, list[Turning]]:
    """A shaft between two inertias, of which the first has a torque of its own beside that of the shaft."""
    shafts = Shafts.__new__(Shafts)
    shafts.shafts = [SimpleNamespace(name="a.axis and b.axis")]  # type: ignore[list-item]
    shafts._taken, shafts._outputs, shafts.elements = {}, {}, []
    shafts._line, shafts._size, shafts._jacobian = np.zeros((2, 1)), None, None
    shafts._accuracy, shafts._tolerance = ACCURACY, 0.0
    return shafts, [
        Turning("a", shafts, 1.0, J[0], own),
        Turning("b", shafts, -1.0, J[1], lambda _: 0.0),
    ]


def go(shafts: Shafts, sides: list[Turning], size: float) -> None:
    shafts.solve(sides, sides[0].time, size, lambda: [side.step(size) for side in sides])  # type: ignore[arg-type, func-returns-value]


def test_a_shaft_carries_what_moves_the_other_side() -> None:
    """10 N.m on 2 and 3 kg.m2: 2 rad/s2 of both, for which the shaft takes 6 N.m from one and gives it to the other."""
    shafts, sides = two((2.0, 3.0), lambda _: 10.0)
    shafts.start(sides, lambda: None)  # type: ignore[arg-type]
    assert shafts.torques("a", 0.0) == pytest.approx([-6.0])
    assert shafts.torques("b", 1.0) == pytest.approx([6.0])
    for size in (0.1, 0.3, 0.05):
        go(shafts, sides, size)
        for side in sides:
            assert (side.phi, side.w) == pytest.approx((side.time**2, 2 * side.time), rel=1e-9)
    assert sides[0].time == pytest.approx(0.45)


def test_a_shaft_whose_sides_have_changed_is_differentiated_anew() -> None:
    """An inertia that is a hundred times as large from one step to the next: the Jacobian of before leads away."""
    shafts, sides = two((2.0, 3.0), lambda _: 10.0)
    go(shafts, sides, 0.1)
    sides[0].J, sides[1].J = 0.02, 0.5
    before = sides[0].w
    go(shafts, sides, 0.1)
    assert sides[0].phi == pytest.approx(sides[1].phi, rel=1e-10)
    assert sides[0].w == pytest.approx(before + 0.1 * 10.0 / 0.52, rel=1e-9)
    assert sides[1].w == pytest.approx(sides[0].w, rel=1e-9)


def test_noise_of_sides_is_borne_up_to_a_limit() -> None:
    for noise, borne in ((ROUGH / 20, True), (ROUGH * 20, False)):
        shafts, sides = two((2.0, 3.0), lambda _: 10.0)
        sides[0].noise = noise
        if borne:
            go(shafts, sides, 0.1)
            assert sides[0].w == pytest.approx(0.2, rel=1e-5)
        else:
            with pytest.raises(SimulationError, match=r"a.axis and b.axis: no torque .* at t = 0 s that keeps both"):
                go(shafts, sides, 0.1)


def test_shafts_that_no_torque_keeps_together_are_refused_by_name() -> None:
    """Accelerations differ by 1 + tau^2, or by 2 + atan(tau), which are never 0."""
    shafts, sides = two((1.0, 1.0), lambda tau: 1 + tau**2 - 2 * tau)
    with pytest.raises(
        SimulationError, match=r"^a\.axis and b\.axis: no torque between them was found at the start .*motion=True"
    ):
        shafts.start(sides, lambda: None)  # type: ignore[arg-type]
    shafts, sides = two((1.0, 1.0), lambda tau: 2 + math.atan(tau) - 2 * tau)
    with pytest.raises(
        SimulationError, match=r"^a\.axis and b\.axis: no torque .* t = 0 s .*\(they differ by .*take shorter steps"
    ):
        go(shafts, sides, 0.1)


def test_elements_at_shafts_are_on_no_loop() -> None:
    shafts, _ = two((1.0, 1.0), lambda _: 0.0)
    shafts.check(False, [["c", "d"]])
    with pytest.raises(
        SimulationError, match=r"^a, b: are at rigid shafts .* on an algebraic loop; declare one flange"
    ):
        shafts.check(False, [["c", "b"], ["a"]])
