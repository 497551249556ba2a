"""Positions in which branches of a mechanism's motion cross: starts in them, and ways through them.

A parallelogram of four bars is one degree of freedom about which all is known: its cranks swing like a pendulum that
carries the coupler at its end. In its flat positions it could also go on with its bars crossed.
"""

from __future__ import annotations

import ctypes
import functools
import math
import pathlib
from collections.abc import Callable
from typing import Any

import fmpy
import numpy as np
import pytest
import scipy.integrate
from fmpy.fmi1 import FMICallException
from fmpy.simulation import instantiate_fmu

import mbfmu
from mbfmu.components import BodyShape, FixedRotation, FixedTranslation, Revolute, World
from mbfmu.components.rotational import Torque
from mbfmu.dynamics import System
from mbfmu.errors import MbfmuError, SimulationError
from mbfmu.modeling import Assembly, Start
from mbfmu.runtime.run import Run, place

CRANK, COUPLER = 0.2, 0.5
OUTPUTS = ["j1.phi", "j2.phi", "j4.phi", "j1.w", "j4.w"]


def bar(length: float) -> BodyShape:
    return BodyShape(m=1.0, r=(length, 0, 0), r_CM=(length / 2, 0, 0), I_22=0.01, I_33=0.01)


class Parallelogram(Assembly):
    """Cranks, coupler and base, all at first along one line where phi is 0 or pi."""

    def __init__(
        self, phi: float, w: float, guess: float, tilt: float = 0.0, j4_w: float | None = None, driven: bool = False
    ) -> None:
        self.world = World()
        self.plane = FixedRotation(n=(1, 0, 0), angle=tilt)
        self.base = FixedTranslation(r=(COUPLER, 0, 0))
        self.crank, self.coupler, self.rocker = bar(CRANK), bar(COUPLER), bar(CRANK)
        self.j1 = Revolute(phi=Start(phi, fixed=True), w=Start(w, fixed=True), useAxisFlange=driven)
        self.j2 = Revolute(phi=Start(-phi), w=Start(-guess))
        self.j3 = Revolute(phi=Start(phi), w=Start(guess))
        self.j4 = Revolute(phi=Start(phi), w=Start(guess) if j4_w is None else Start(j4_w, fixed=True))
        self.connect(self.world.frame_b, self.plane.frame_a)
        self.connect(self.plane.frame_b, self.j1.frame_a)
        self.connect(self.j1.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.j2.frame_a)
        self.connect(self.j2.frame_b, self.coupler.frame_a)
        self.connect(self.coupler.frame_b, self.j3.frame_a)
        self.connect(self.rocker.frame_b, self.j3.frame_b)
        self.connect(self.plane.frame_b, self.base.frame_a)
        self.connect(self.base.frame_b, self.j4.frame_a)
        self.connect(self.j4.frame_b, self.rocker.frame_a)
        if driven:
            self.torque = Torque()
            self.connect(self.torque.flange, self.j1.axis)
            self.input(self.torque.tau, "tau")
        for joint in (self.j1, self.j2, self.j4):
            self.output(joint.phi)
        self.output(self.j1.w)
        self.output(self.j4.w)


def pendulum(phi: float, w: float, tilt: float, times: np.ndarray) -> np.ndarray:
    """Angle of the cranks of a parallelogram, from its energy written down by hand."""
    inertia = 2 * (0.01 + (CRANK / 2) ** 2) + CRANK**2
    moment = 9.80665 * math.cos(math.radians(tilt)) * (2 * CRANK / 2 + CRANK)
    solution = scipy.integrate.solve_ivp(
        lambda t, y: [y[1], -moment * math.cos(y[0]) / inertia],
        (times[0], times[-1]),
        [phi, w],
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        t_eval=times,
    )
    return solution.y[0]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., pathlib.Path]:
    """Return a function of angle, speed, tilt and options of `build` that gives the FMU of a parallelogram."""

    @functools.cache
    def get(phi: float, w: float, tilt: float = 0.0, **options: Any) -> pathlib.Path:
        path = tmp_path_factory.mktemp("built") / "Parallelogram.fmu"
        return mbfmu.build(Parallelogram(phi, w, guess=w, tilt=tilt), path, **options)

    return get


def run(path: pathlib.Path, stop: float, tolerance: float, step: float = 0.01) -> np.ndarray:
    return fmpy.simulate_fmu(str(path), stop_time=stop, relative_tolerance=tolerance, output_interval=step)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("phi", "w", "tilt", "target"),
    [
        (0.0, 0.0, 0.0, "native"),
        (0.0, 2.0, 35.0, "python"),
        (math.pi, 0.5, 0.0, "native"),
        (math.pi, -2.0, 35.0, "native"),
        (math.pi, -2.0, 35.0, "python"),
    ],
)
def test_a_flat_parallelogram_starts_and_runs(
    phi: float, w: float, tilt: float, target: str, built: Callable[..., pathlib.Path]
) -> None:
    """The start is moved off the singular position by 1e-7; all else is exact."""
    result = run(built(phi, w, tilt, target=target), 0.5, 1e-8)
    np.testing.assert_allclose(result["j1.phi"], pendulum(phi, w, tilt, result["time"]), atol=1e-6)
    np.testing.assert_allclose(result["j4.phi"], result["j1.phi"], atol=1e-9)
    np.testing.assert_allclose(result["j2.phi"], -result["j1.phi"], atol=1e-9)
    assert result["j1.w"][0] == pytest.approx(w, abs=1e-6)
    assert np.ptp(result["j1.phi"]) > 1


@pytest.mark.slow
@pytest.mark.campaign("native")
@pytest.mark.parametrize("target", ["native", "python"])
def test_guesses_of_speeds_choose_the_branch(target: str, tmp_path: pathlib.Path) -> None:
    """Beside the parallelogram, whose cranks turn alike, there is the crossed one, at a ratio that lengths give."""
    ratio = CRANK / COUPLER
    for phi, crossed in ((0.0, -(1 + ratio) / (1 - ratio)), (math.pi, -(1 - ratio) / (1 + ratio))):
        assembly = Parallelogram(phi, 1.0, guess=0.0)
        assembly.j4.modify(w=Start(crossed))
        coupler = ratio * (crossed - 1.0) * math.cos(phi)
        assembly.j2.modify(w=Start(coupler - 1.0))
        assembly.j3.modify(w=Start(crossed - coupler))
        path = mbfmu.build(assembly, tmp_path / f"Crossed{phi > 0}.fmu", target=target, equations="interpreted")
        result = run(path, 0.05, 1e-8)
        assert result["j4.w"][0] == pytest.approx(crossed, abs=1e-6)
        assert result["j1.w"][0] == pytest.approx(1.0, abs=1e-6)
        assert abs(result["j4.phi"][-1] - result["j1.phi"][-1]) > 0.005


@pytest.mark.slow
@pytest.mark.campaign("1e-05", "1e-06", "1e-07", keep=1)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10])
def test_integrators_stay_on_the_branch(tolerance: float, built: Callable[..., pathlib.Path]) -> None:
    """However short the steps, they pass flat positions, and lose no accuracy there."""
    for phi, w, tilt in ((0.3, 1.0, 0.0), (1.0, 5.0, 0.0), (0.1, 8.0, 35.0)):
        result = run(built(phi, w, tilt, equations="interpreted"), 2.0, tolerance)
        expected = pendulum(phi, w, tilt, result["time"])
        assert ((expected < 0) | (expected > math.pi)).any()
        np.testing.assert_allclose(result["j1.phi"], expected, atol=200 * tolerance)
        np.testing.assert_allclose(result["j4.phi"], result["j1.phi"], atol=1e-9)
    here = mbfmu.simulate(Parallelogram(1.0, 5.0, guess=5.0), 1.0, tolerance=tolerance, interval=0.1)
    np.testing.assert_allclose(here["j1.phi"], pendulum(1.0, 5.0, 0.0, here["time"]), atol=200 * tolerance)
    np.testing.assert_allclose(here["j4.phi"], here["j1.phi"], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-8, 1e-9, 1e-10])
def test_integrators_of_importers_stay_on_the_branch(tolerance: float, built: Callable[..., pathlib.Path]) -> None:
    """CVode, which knows nothing of flat positions."""
    path = built(0.3, 1.0, 0.0, equations="interpreted")
    result = fmpy.simulate_fmu(
        str(path), fmi_type="ModelExchange", stop_time=2.0, relative_tolerance=tolerance, output_interval=0.01
    )
    assert (result["j1.phi"] < 0).any()
    np.testing.assert_allclose(result["j1.phi"], pendulum(0.3, 1.0, 0.0, result["time"]), atol=500 * tolerance)
    np.testing.assert_allclose(result["j4.phi"], result["j1.phi"], atol=100 * tolerance)


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize("off", [0.0, 1e-9, -1e-7])
@pytest.mark.parametrize("distance", [0.0, 1e-9, 1e-5, -1e-3, 1e-2, 0.1])
def test_derivatives_are_as_smooth_beside_a_flat_position_as_anywhere(
    distance: float, off: float, built: Callable[..., pathlib.Path]
) -> None:
    """Those of a pendulum, at whatever distance, also where states are off the branch by what integrators tolerate."""
    path = built(0.5, 2.0, equations="interpreted")
    description = fmpy.read_model_description(str(path))
    states = [derivative.variable.derivative.name for derivative in description.derivatives]
    slave = instantiate_fmu(fmpy.extract(str(path)), description, "ModelExchange", logger=lambda *_: None)
    slave.setupExperiment(tolerance=1e-8)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.newDiscreteStates()
    slave.enterContinuousTimeMode()

    def derivatives(phi: float, off: float) -> dict[str, float]:
        values = {f"j{j}.phi": (-phi if j == 2 else phi) for j in (1, 2, 3, 4)}
        values |= {f"j{j}.w": (-2.0 if j == 2 else 2.0) for j in (1, 2, 3, 4)}
        x = np.array([values[name] for name in states]) + off * np.cos(np.arange(len(states)))
        found = np.zeros(len(states))
        pointer = ctypes.POINTER(ctypes.c_double)
        slave.setContinuousStates(x.ctypes.data_as(pointer), len(x))
        slave.getDerivatives(found.ctypes.data_as(pointer), len(x))
        return dict(zip(states, found, strict=True))

    derivatives(0.5, 0.0)  # shows how regular the constraints are
    found = derivatives(distance, off)
    inertia, moment = 2 * (0.01 + (CRANK / 2) ** 2) + CRANK**2, 9.80665 * 2 * CRANK
    # What is off is led back with the rate k of an experiment of 1 s and four speeds of 2 rad/s: (2 k + k^2) * off.
    rate = math.hypot(10.0, 4.0)
    off_bound = (2 * rate + rate**2) * abs(off)
    assert found["j1.w"] == pytest.approx(-moment * math.cos(distance) / inertia, abs=1e-6 + off_bound)
    assert found["j1.phi"] == pytest.approx(2.0, abs=1e-6 + 100 * abs(off))
    slave.terminate()
    slave.freeInstance()


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(("step", "error"), [(0.01, 1e-6), (0.001, 1e-9)])
def test_fixed_steps_stay_on_the_branch(step: float, error: float, built: Callable[..., pathlib.Path]) -> None:
    for phi, w, tilt in ((1.0, 5.0, 0.0), (0.1, 8.0, 35.0)):
        path = built(phi, w, tilt, equations="interpreted", fixed_step=step)
        result = fmpy.simulate_fmu(str(path), stop_time=2.0, output_interval=0.01)
        np.testing.assert_allclose(result["j1.phi"], pendulum(phi, w, tilt, result["time"]), atol=error)
        np.testing.assert_allclose(result["j4.phi"], result["j1.phi"], atol=1e-9)


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10, 1e-12])
def test_no_branch_is_taken_in_the_dark(tolerance: float, built: Callable[..., pathlib.Path]) -> None:
    """Cranks that come to rest in a flat position swing back as they came, or the run ends there and says why."""
    expected = pendulum(0.0, 0.0, 0.0, np.linspace(0.0, 1.0, 101))
    reason = "branches of the motion cross"
    try:
        here = mbfmu.simulate(Parallelogram(0.0, 0.0, guess=0.0), 1.0, tolerance=tolerance, interval=0.01)["j1.phi"]
    except SimulationError as error:
        reason, here = str(error), expected
    assert "branches of the motion cross" in reason
    np.testing.assert_allclose(here, expected, atol=1e-4)
    messages: list[str] = []
    result = fmpy.simulate_fmu(
        str(built(0.0, 0.0, 0.0, equations="interpreted")),
        stop_time=1.0,
        relative_tolerance=tolerance,
        output_interval=0.01,
        logger=lambda environment, name, status, category, message: messages.append(message.decode()),
    )["j1.phi"]
    assert len(result) == 101 or any("branches of the motion cross" in message for message in messages)
    # Where a run ends, FMPy repeats the values reached at the next communication point.
    np.testing.assert_allclose(result[:-1], expected[: len(result) - 1], atol=1e-4)


@pytest.mark.slow
def test_speeds_that_no_branch_has_are_refused(tmp_path: pathlib.Path) -> None:
    assembly = Parallelogram(0.0, 1.0, guess=0.0, j4_w=0.3)
    with pytest.raises(MbfmuError, match=r"singular position, in which branches .* speeds lead .*'cut of j\d"):
        mbfmu.simulate(assembly, 0.1)
    path = mbfmu.build(assembly, tmp_path / "Parallelogram.fmu", target="native", equations="interpreted")
    messages: list[str] = []
    with pytest.raises(FMICallException):
        fmpy.simulate_fmu(
            str(path),
            stop_time=0.1,
            logger=lambda environment, name, status, category, message: messages.append(message.decode()),
        )
    assert any("singular position, in which branches" in message for message in messages)


@pytest.mark.slow
def test_two_flat_loops_start_together() -> None:
    """Each branches on its own: both are found."""

    class Pair(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.one, self.two = Parallelogram(0.0, 1.0, guess=1.0), Parallelogram(math.pi, -2.0, guess=-2.0)

    result = mbfmu.simulate(Pair(), 0.5, tolerance=1e-8, interval=0.01)
    for name, phi, w in (("one", 0.0, 1.0), ("two", math.pi, -2.0)):
        expected = pendulum(phi, w, 0.0, result["time"])
        np.testing.assert_allclose(result[f"{name}.j1.phi"], expected, atol=1e-6)
        np.testing.assert_allclose(result[f"{name}.j4.phi"], expected, atol=1e-6)


@functools.cache
def turning(driven: bool) -> System:
    """Cranks that turn over, and pass flat positions several times a second."""
    return System.of(Parallelogram(0.5, 12.0, guess=12.0, driven=driven), energy=True)


def energies(system: System, tolerance: float, w: float, times: np.ndarray, tau: str | None = None) -> np.ndarray:
    """Change of energy at each of the times; the input `tau` is set anew before each of them, to next to nothing."""
    variables = {variable.name: variable for variable in system.variables}
    run = Run(system.equations, system.variables, tolerance=tolerance, start_time=0.0, stop_time=times[-1])
    run.set(variables["j1.w"], w)
    run.finish_initialisation()
    places = np.array([place(variables["energy.total"])], dtype=np.int32)
    found = []
    for number, time in enumerate(times):
        if tau:
            run.set(variables[tau], 1e-300 * (number % 2), initialising=False)
        run.advance(time)
        found.append(run.row(places)[0])
    return np.array(found) - found[0]


@pytest.mark.slow
@pytest.mark.parametrize(("tolerance", "error"), [(1e-10, 1e-7), (1e-12, 1e-8)])
def test_passing_flat_positions_costs_what_the_tolerance_says(tolerance: float, error: float) -> None:
    """Also where values are read right in the passages."""
    for w in (9.0, 10.0, 12.0, 14.0):
        change = energies(turning(False), tolerance, w, np.linspace(0.0, 5.0, 501))
        assert abs(change).max() < error, w


@pytest.mark.slow
def test_passing_flat_positions_between_changes_of_inputs_costs_what_the_tolerance_says() -> None:
    for w in (9.0, 10.0, 12.0, 14.0):
        change = energies(turning(True), 1e-12, w, np.linspace(0.0, 5.0, 26), "tau")
        assert abs(change).max() < 2e-8, w
