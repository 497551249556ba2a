"""Equations without closed solution, as FMUs: against SciPy on equations written by hand, differences, saved states.

Other hosts run the same models: `python tests/hosts/gallery.py tests/dynamics/nonlinear_models.py:Rectifier`.
"""

from __future__ import annotations

import ctypes
import pathlib
import re
from collections.abc import Callable
from typing import Any

import casadi as ca
import fmpy
import numpy as np
import pytest
import random_loops
from fmpy.fmi1 import FMICallException
from fmpy.simulation import instantiate_fmu
from nonlinear_models import FIXED, MODELS, connect_all

from mbfmu.components import Body, FixedTranslation, Revolute, World, blocks, rotational
from mbfmu.dynamics.system import System
from mbfmu.export.build import build
from mbfmu.modeling import Assembly, Component, RealInput, RealOutput, Start
from mbfmu.simulation import simulate
from mbfmu.validation import validate

POINTS = 80
#: Steps of differences: diodes bend within 25 mV.
STEPS = {"rectifier": 2e-5, "clamp": 2e-6} | dict.fromkeys(("orifices", "springs", "four_bar", "fed_back"), 1e-4)
#: Models whose states are those of a motion under constraints.
CONSTRAINED = {"springs", "four_bar"}


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., pathlib.Path]:
    """Return a function that gives the FMU of a model, in a version of FMI: built once each."""
    folder, systems = tmp_path_factory.mktemp("fmus"), {}

    def fmu(name: str, fmi: int, equations: str = "interpreted") -> pathlib.Path:
        path = folder / f"{name}_{fmi}_{equations}.fmu"
        if not path.exists():
            if name not in systems:
                systems[name] = System.of(MODELS[name].make())
            build(systems[name], path, fmi=fmi, equations=equations)
        return path

    return fmu


@pytest.fixture
def instance(fmus, instance_of) -> Callable[..., Any]:
    """Return a function that makes an instance of a model's FMU."""

    def make(name: str, fmi: int, kind: str = "coSimulation", equations: str = "interpreted") -> Any:
        return instance_of(fmus(name, fmi, equations), kind)

    return make


@pytest.fixture(scope="module")
def wanted():
    """Return a function that gives a model's outputs by hand: worked out once."""
    known = {}

    def columns(name: str) -> dict[str, np.ndarray]:
        if name not in known:
            known[name] = MODELS[name].wanted(np.linspace(0, MODELS[name].stop, POINTS + 1))
        return known[name]

    return columns


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_fmus_are_valid(fmus, name, fmi):
    assert validate(fmus(name, fmi)) == []


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_an_fmu_moves_as_the_equations_by_hand_do(fmus, wanted, name, fmi, kind):
    model, path = MODELS[name], fmus(name, fmi)
    result = fmpy.simulate_fmu(
        str(path), fmi_type=kind, stop_time=model.stop, output_interval=model.stop / POINTS, relative_tolerance=1e-10,
        record_events=False,
    )  # fmt: skip
    assert len(result) == POINTS + 1
    for output, values in wanted(name).items():
        np.testing.assert_allclose(result[output], values, atol=1e-7 * np.ptp(values), err_msg=output)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("name", MODELS)
def test_compiled_and_interpreted_equations_give_the_same_bits(fmus, name):
    model = MODELS[name]
    rows = [
        fmpy.simulate_fmu(str(fmus(name, fmi, equations)), stop_time=model.stop, output_interval=model.stop / 20)
        for fmi, equations in ((2, "interpreted"), (2, "compiled"), (3, "compiled"))
    ]
    for other in rows[1:]:
        for output in rows[0].dtype.names:
            np.testing.assert_array_equal(rows[0][output], other[output], err_msg=output)


@pytest.mark.slow
@pytest.mark.campaign(keep=6)
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_derivatives_in_a_direction_are_differences(instance, name, fmi):
    """In model exchange, at a state from the middle of a run, by each state and the input; in that run, too."""
    model = MODELS[name]
    run, one = instance(name, fmi), instance(name, fmi, "modelExchange")
    run.run(model.stop / 20, 3)
    one.enter(3 * model.stop / 20)
    states = [u.variable.derivative.name for u in one.description.derivatives]
    knowns = [*states, *(v.name for v in one.variables.values() if v.causality == "input")]
    unknowns = [u.variable.name for u in (*one.description.derivatives, *one.description.outputs)]
    at = np.append(run.get(*states), np.zeros(len(knowns) - len(states)))

    def values(place: int, change: float) -> np.ndarray:
        x = at.copy()
        x[place] += change
        one.put(x[: len(states)])
        for known, value in list(zip(knowns, x, strict=True))[len(states) :]:
            one.set(known, value)
        return one.get(*unknowns)

    for place, known in enumerate(knowns):
        h = STEPS[name] * max(1.0, abs(at[place]))
        near, far = (values(place, k * h) - values(place, -k * h) for k in (1, 2))
        expected, here = (8 * near - far) / (12 * h), values(place, 0.0)
        allowed = 1e-6 * np.abs(expected) + 1e-14 * (1 + np.abs(here)) / h
        np.testing.assert_array_less(np.abs(one.along(unknowns, known) - expected), allowed, err_msg=known)
        if name not in CONSTRAINED:  # whose states in co-simulation are taken as they are, off constraints, too
            found = one.along(unknowns, known)
            np.testing.assert_allclose(run.along(unknowns, known), found, rtol=1e-7, atol=1e-9 * np.abs(found).max())


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_a_state_taken_in_mid_run_goes_on_to_the_same_bits(instance, name, fmi):
    """In the same instance, and serialized in one that has run elsewhere."""
    model = MODELS[name]
    one, other = instance(name, fmi), instance(name, fmi)
    step = model.stop / 23.7
    one.run(step, 9)
    outputs = [u.variable.name for u in one.description.outputs]
    saved = one.save()
    wanted = [one.get(*outputs), *one.run(step, 8, first=9, read=outputs)]
    one.restore(saved)
    other.run(1.7 * step, 2)
    other.restore(saved)
    for again in (one, other):
        np.testing.assert_array_equal([again.get(*outputs), *again.run(step, 8, first=9, read=outputs)], wanted)


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_a_state_taken_in_model_exchange_goes_on_to_the_same_bits(instance, name, fmi):
    """In short steps of Euler's method; in the same instance, and serialized in one that has been elsewhere."""
    one, other = instance(name, fmi, "modelExchange"), instance(name, fmi, "modelExchange")
    step = MODELS[name].stop / 2000
    rates = [u.variable.name for u in one.description.derivatives]
    states = [u.variable.derivative.name for u in one.description.derivatives]
    shown = [*(u.variable.name for u in one.description.outputs), *rates]

    def run(instance: Any, first: int, count: int) -> list[np.ndarray]:
        rows = []
        for i in range(first, first + count):
            x = instance.get(*states) + step * instance.get(*rates) if states else np.zeros(0)
            instance.fmu.setTime((i + 1) * step)
            instance.put(x)
            rows.append(instance.get(*shown))
            instance.fmu.completedIntegratorStep()
        return rows

    one.enter(0.0)
    run(one, 0, 30)
    saved = one.save()
    wanted = [one.get(*shown), *run(one, 30, 20)]
    assert np.ptp(wanted, axis=0).max() > 0
    one.restore(saved)
    other.enter(0.0)
    run(other, 0, 7)
    other.restore(saved)
    for again in (one, other):
        np.testing.assert_array_equal([again.get(*shown), *run(again, 30, 20)], wanted)


class Square(Component):
    """The square of a signal."""

    u, y = RealInput("Input"), RealOutput("Output")

    def equations(self) -> None:
        self.y = self.u**2


class Ending(Assembly):
    """y = 0.2 + t / 10 + y^2 has a solution until t = 0.5, y = 0.5."""

    def __init__(self) -> None:
        self.ramp, self.sum = blocks.Ramp(height=0.1, duration=1.0, offset=0.2), blocks.Add()
        self.square, self.x = Square(), blocks.FirstOrder(T=1.0, y=Start(0.0, fixed=True))
        connect_all(self, "ramp.y - sum.u1", "square.y - sum.u2", "sum.y - square.u", "sum.y - x.u")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["coSimulation", "modelExchange"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_where_no_solution_is_left_messages_name_what_is_sought_and_where_it_was(tmp_path, fmi, kind):
    path = build(Ending(), tmp_path / "ending.fmu", fmi=fmi, target="native", equations="interpreted")
    description, said = fmpy.read_model_description(str(path)), []
    fmu = instantiate_fmu(
        fmpy.extract(str(path), str(tmp_path / "fmu")), description, kind[0].upper() + kind[1:],
        logger=lambda *arguments: said.append(str(arguments[-1])),
    )  # fmt: skip
    if fmi == 2:
        fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    if kind == "coSimulation":
        go_on, arguments = fmu.doStep, (0.0, 1.0)
    else:
        (fmu.newDiscreteStates if fmi == 2 else fmu.updateDiscreteStates)()
        fmu.enterContinuousTimeMode()
        fmu.setTime(0.6)
        go_on = fmu.getDerivatives if fmi == 2 else fmu.getContinuousStateDerivatives
        arguments = ((ctypes.c_double * 1)(), 1)
    with pytest.raises(FMICallException):
        go_on(*arguments)
    fmu.freeInstance()
    wanted = r"equations of 'sum\.y' have no solution .* last at sum\.y = 0\.[45]"
    assert any(re.search(wanted, text) for text in said), said


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("kind", random_loops.KINDS)
def test_random_models_agree_with_their_flat_equations(kind):
    """Six of each kind; `python tests/dynamics/random_loops.py` makes a thousand."""
    for seed in range(6):
        assert random_loops.worst_difference(kind, seed) < 1e-9, seed


#: Diodes of 1e9 A/V behind hundreds of V, where what they tell of currents must not tell others; and one in which a
#: small current has far to go yet, while potentials have changed by volts at once.
HARSH = (1026, 1356, 1560, 1668, 1932)


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("seed", HARSH)
def test_steep_diodes_leave_other_currents_exact(seed):
    assert random_loops.worst_difference("circuit", seed) < 1e-10


@pytest.mark.slow
def test_what_knows_accelerations_is_solved_with_all_that_they_know():
    """A circuit and a torque that know an acceleration: each changes it, so that neither can be solved alone."""
    for seed in range(8):
        assembly, _ = random_loops.make("drive", seed)
        assert len(System.of(assembly).equations.iteration_blocks) == 1
        assert random_loops.worst_difference("drive", seed) < 1e-9, seed


class Helping(Component):
    """A torque with an acceleration: as it is, or written as what nobody sees to be linear."""

    u, y = RealInput("Acceleration"), RealOutput("Torque")

    def __init__(self, hidden: bool) -> None:
        super().__init__()
        self.hidden = hidden

    def equations(self) -> None:
        self.y = 0.05 * (ca.sinh(ca.asinh(self.u)) if self.hidden else self.u)


class FourBars(Assembly):
    """Four planar loops in a row, the first with that torque at its crank, under gravity."""

    tolerance = 1e-9

    def __init__(self, hidden: bool) -> None:
        self.world = World()
        at = self.world.frame_b
        rods = {"crank": (0.3, 1, 0), "coupler": (1, 0.2, 0), "rocker": (0.2, 1.2, 0), "base": (1.1, 0, 0)}
        for k in range(4):
            free = {"phi": FIXED, "w": FIXED, "useAxisFlange": k == 0}
            hinges = [Revolute(**(free if i == 0 else {})) for i in range(4)]
            crank, coupler, rocker, base = (FixedTranslation(r=r) for r in rods.values())
            body = Body(m=30.0, r_CM=(0, 0, 0))
            for part, name in zip((*hinges, crank, coupler, rocker, base, body), "abcdefghi", strict=True):
                setattr(self, f"{name}{k}", part)
            for one, other in [
                (at, hinges[0].frame_a), (hinges[0].frame_b, crank.frame_a), (crank.frame_b, hinges[1].frame_a),
                (hinges[1].frame_b, coupler.frame_a), (coupler.frame_b, hinges[2].frame_a),
                (hinges[2].frame_b, rocker.frame_b), (rocker.frame_a, hinges[3].frame_b),
                (hinges[3].frame_a, base.frame_b), (base.frame_a, at), (coupler.frame_b, body.frame_a),
            ]:  # fmt: skip
                self.connect(one, other)
            at = coupler.frame_a
        self.sensor, self.law, self.torque = rotational.AccSensor(), Helping(hidden), rotational.Torque()
        self.connect(self.a0.axis, self.sensor.flange)
        self.connect(self.a0.axis, self.torque.flange)
        connect_all(self, "sensor.a - law.u", "law.y - torque.tau")


@pytest.mark.slow
def test_accelerations_that_are_known_less_well_than_residuals_do_not_end_a_run():
    """Where loops are swung round, accelerations of hundreds of rad/s2 share their rounding errors with a small one."""
    plain, iterated = (System.of(FourBars(hidden)) for hidden in (False, True))
    assert (plain.equations.niterations, iterated.equations.niterations) == (0, 1)
    wanted, found = (simulate(system, stop_time=0.9) for system in (plain, iterated))
    assert np.abs(wanted["a0.a"]).max() > 400
    np.testing.assert_allclose(found["a0.phi"][-1], wanted["a0.phi"][-1], atol=1e-8)
