"""Signals that a condition implies: inverses of blocks, drives and mechanisms against closed forms."""

import itertools
import math

import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.components import BodyBox, Revolute, World, blocks, electrical, rotational
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError

pytestmark = pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")


class Inverse(Assembly):
    """A sine through a filter of some order is what the output of a plant shall be: its input is sought."""

    stop_time = 2.0
    tolerance = 1e-9
    frequency = 2.0

    def __init__(self, order, plant):
        self.sine = blocks.Sine(f=0.5)
        self.filter = blocks.CriticalDamping(n=order, f=self.frequency)
        self.inverse = blocks.InverseBlockConstraints()
        self.connect(self.sine.y, self.filter.u)
        self.connect(self.filter.y, self.inverse.u1)
        self.connect(plant(self, self.inverse.y2), self.inverse.u2)

    @staticmethod
    def derivatives(result, order):
        """The filter's output and as many derivatives of it as its order allows, from its states."""
        scale = 2 * math.pi * Inverse.frequency / math.sqrt(2 ** (1 / order) - 1)
        levels, found = list(np.reshape(result["filter.x"], (-1, order)).T), []
        while levels:
            found.append(levels[-1])
            levels = [scale * (before - own) for before, own in itertools.pairwise(levels)]
        return found


def inverted(order, plant):
    """The sought input, the filter's output with its derivatives, and the result of a run; u1 = u2 holds in it."""
    result = mbfmu.simulate(Inverse(order, plant))
    assert np.abs(result["inverse.u1"] - result["inverse.u2"]).max() < 1e-12
    assert np.ptp(result["inverse.u1"]) > 0.3
    return result["inverse.y1"], Inverse.derivatives(result, order), result


def of_order_two(model, u):
    model.plant = blocks.SecondOrder(w=5.0, D=0.3, k=2.0)
    model.connect(u, model.plant.u)
    return model.plant.y


def drive(sensor, output, *, elastic=None):
    """A torque on an inertia, on another one behind a spring where there is one, and what a sensor shows of it."""

    def plant(model, u):
        model.torque, model.motor = rotational.Torque(), rotational.Inertia(J=2.0)
        model.connect(u, model.torque.tau)
        model.connect(model.torque.flange, model.motor.flange_a)
        end = model.motor.flange_b
        if elastic is not None:
            model.spring = (rotational.SpringDamper if "d" in elastic else rotational.Spring)(**elastic)
            model.load = rotational.Inertia(J=0.5)
            model.connect(end, model.spring.flange_a)
            model.connect(model.spring.flange_b, model.load.flange_a)
            end = model.load.flange_b
        model.sensor = sensor()
        model.connect(end, model.sensor.flange)
        return getattr(model.sensor, output)

    return plant


def test_a_block_with_two_poles_is_inverted():
    found, (y, yd, ydd), _ = inverted(3, of_order_two)
    np.testing.assert_allclose(found, (ydd / 25 + 2 * 0.3 / 5 * yd + y) / 2, atol=1e-12)


def test_what_the_signal_acts_on_at_once_is_solved_for_it():
    def plant(model, u):
        model.plant = blocks.PI(k=2.0, T=0.5)
        model.connect(u, model.plant.u)
        return model.plant.y

    found, _, result = inverted(1, plant)
    np.testing.assert_allclose(found, result["inverse.u1"] / 2 - result["plant.x"], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sensor", "output", "derivative"),
    [(rotational.AngleSensor, "phi", 2), (rotational.SpeedSensor, "w", 1), (rotational.AccSensor, "a", 0)],
)
def test_a_torque_is_implied_by_the_motion_that_it_drives(sensor, output, derivative):
    found, levels, _ = inverted(derivative + 1, drive(sensor, output))
    np.testing.assert_allclose(found, 2.0 * levels[derivative], atol=1e-10)


def test_an_elastic_drive_needs_four_derivatives():
    found, (_, _, two, _, four), _ = inverted(5, drive(rotational.AngleSensor, "phi", elastic={"c": 100.0}))
    np.testing.assert_allclose(found, 2.5 * two + 2.0 * 0.5 / 100.0 * four, atol=1e-9)


def test_currents_and_angles_are_bound_together():
    """The voltage of a motor: three derivatives of its angle."""

    def plant(model, u):
        model.voltage, model.resistor = electrical.SignalVoltage(), electrical.Resistor(R=0.5)
        model.inductor, model.ground = electrical.Inductor(L=0.05), electrical.Ground()
        model.emf, model.rotor = electrical.RotationalEMF(k=1.0), rotational.Inertia(J=2.0)
        model.sensor = rotational.AngleSensor()
        for a, b in [
            (u, model.voltage.v),
            (model.voltage.p, model.resistor.p),
            (model.resistor.n, model.inductor.p),
            (model.inductor.n, model.emf.p),
            (model.emf.n, model.voltage.n),
            (model.ground.p, model.voltage.n),
            (model.emf.flange, model.rotor.flange_a),
            (model.rotor.flange_b, model.sensor.flange),
        ]:
            model.connect(a, b)
        return model.sensor.phi

    found, (_, one, two, three), _ = inverted(4, plant)
    np.testing.assert_allclose(found, one + 0.5 * 2.0 * two + 0.05 * 2.0 * three, atol=1e-10)


@pytest.mark.slow
def test_inverse_dynamics_of_a_mechanism():
    def plant(model, u):
        model.world, model.hinge = World(), Revolute(useAxisFlange=True, phi=Start(0.0))
        model.rod = BodyBox(r=(0.5, 0, 0), width=0.06, density=1000.0)
        model.torque, model.sensor = rotational.Torque(), rotational.AngleSensor()
        model.connect(model.world.frame_b, model.hinge.frame_a)
        model.connect(model.hinge.frame_b, model.rod.frame_a)
        model.connect(u, model.torque.tau)
        model.connect(model.torque.flange, model.hinge.axis)
        model.connect(model.hinge.axis, model.sensor.flange)
        return model.sensor.phi

    found, (angle, _, acceleration), _ = inverted(3, plant)
    mass = 1000.0 * 0.5 * 0.06**2
    inertia = mass * (0.5**2 + 0.06**2) / 12 + mass * 0.25**2
    np.testing.assert_allclose(found, inertia * acceleration + mass * 9.80665 * 0.25 * np.cos(angle), atol=1e-10)


def state_space(**matrices):
    """A plant with two states."""

    def plant(model, u):
        model.plant = blocks.StateSpace(A=((-1.0, 0.5), (0.2, -2.0)), B=((1.0,), (0.3,)), C=((1.0, 0.1),), **matrices)
        model.connect(u, model.plant.u[0])
        return model.plant.y[0]

    return plant


def sinh(model, u):
    model.plant = blocks.Sinh()
    model.connect(u, model.plant.u)
    return model.plant.y


def test_a_plant_that_is_not_linear_is_inverted():
    found, (y,), _ = inverted(1, sinh)
    np.testing.assert_allclose(found, np.arcsinh(y), atol=1e-13)


def of_order_one(model, u):
    model.plant = blocks.FirstOrder(T=0.5, k=2.0)
    model.connect(u, model.plant.u)
    return model.plant.y


def through_sinh(plant):
    """The sought signal acts on a plant through sinh: on its derivatives, and not linearly."""

    def both(model, u):
        model.law = blocks.Sinh()
        model.connect(u, model.law.u)
        return plant(model, model.law.y)

    return both


@pytest.mark.slow
def test_what_acts_on_derivatives_only_need_not_be_linear():
    found, levels, _ = inverted(2, through_sinh(of_order_one))
    np.testing.assert_allclose(found, np.arcsinh((0.5 * levels[1] + levels[0]) / 2), atol=1e-13)
    found, levels, _ = inverted(3, through_sinh(drive(rotational.AngleSensor, "phi")))
    np.testing.assert_allclose(found, np.arcsinh(2.0 * levels[2]), atol=1e-12)


def test_a_state_space_model_is_inverted():
    """What the sought input drives is the given output: u = (y' - C A x) / C B."""
    found, (y, yd), result = inverted(2, state_space())
    x = np.asarray(result["plant.x"])
    A, B, C = np.array([[-1.0, 0.5], [0.2, -2.0]]), np.array([1.0, 0.3]), np.array([1.0, 0.1])
    np.testing.assert_allclose(x @ C, y, atol=1e-12)
    np.testing.assert_allclose(found, (yd - x @ A.T @ C) / (C @ B), atol=1e-10)


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        (state_space(D=((0.0,),)), "with these parameters the signal has no effect on it at once"),
        (lambda model, u: model.sine.y, "nothing that the signal acts on has an effect on the condition"),
        (
            drive(rotational.AngleSensor, "phi", elastic={"c": 100.0, "d": 0.0}),
            "derivative of condition 1 of inverse: with these parameters it says nothing",
        ),
    ],
    ids=["direct part of 0", "nothing", "damper of 0"],
)
def test_conditions_that_determine_nothing_are_refused(plant, message):
    with pytest.raises(ModelError, match=message):
        System.of(Inverse(5, plant))


@pytest.mark.parametrize("delayed", [False, True])
def test_a_derivative_of_an_input_or_a_delayed_signal_is_refused(delayed):
    """It is not 0."""

    class Direct(Assembly):
        def __init__(self):
            self.inverse = blocks.InverseBlockConstraints()
            if delayed:
                self.sine, self.delay = blocks.Sine(f=0.5), blocks.FixedDelay(delayTime=0.1)
                self.connect(self.sine.y, self.delay.u)
                self.connect(self.delay.y, self.inverse.u1)
            else:
                self.input(self.inverse.u1)
            self.connect(of_order_two(self, self.inverse.y2), self.inverse.u2)

    with pytest.raises(ModelError, match="the derivative of an FMU input or a delayed signal"):
        System.of(Direct())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "plant", "inverse"),
    [
        (3, of_order_two, lambda s: (s**2 / 25 + 2 * 0.3 / 5 * s + 1) / 2),
        (3, drive(rotational.AngleSensor, "phi"), lambda s: 2 * s**2),
        (2, drive(rotational.SpeedSensor, "w"), lambda s: 2 * s),
        (5, drive(rotational.AngleSensor, "phi", elastic={"c": 100.0}), lambda s: 2.5 * s**2 + s**4 / 100),
    ],
    ids=["block", "angle", "speed", "elastic"],
)
def test_linear_models_of_inverses(order, plant, inverse):
    """The filter's transfer function times that of the plant, turned over; states that are bound are none of it."""

    class Open(Assembly):
        def __init__(self):
            self.filter = blocks.CriticalDamping(n=order, f=Inverse.frequency)
            self.inverse = blocks.InverseBlockConstraints()
            self.input(self.filter.u, name="u")
            self.connect(self.filter.y, self.inverse.u1)
            self.connect(plant(self, self.inverse.y2), self.inverse.u2)
            self.output(self.inverse.y1, name="y")

    found = mbfmu.linearize(Open())
    pole = 2 * math.pi * Inverse.frequency / math.sqrt(2 ** (1 / order) - 1)
    for s in (0.3j, 2j, 20j):
        response = found.C @ np.linalg.solve(s * np.eye(len(found.A)) - found.A, found.B) + found.D
        np.testing.assert_allclose(np.array(response).item(), inverse(s) / (1 + s / pole) ** order, rtol=1e-9)
