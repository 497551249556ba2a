"""Mechanisms whose equations fit on a line."""

from __future__ import annotations

import numpy as np

import mbfmu.components as parts
from mbfmu.components import translational
from mbfmu.modeling import Assembly, Start

G = 9.80665


class CartPole(Assembly):
    """A point mass hangs from a cart that a force pushes."""

    stop_time = 2.0

    def __init__(self, M=2.0, m=0.5, length=0.7, phi=0.0):
        self.world = parts.World()
        self.slide = parts.Prismatic(n=(1, 0, 0), useAxisFlange=True, s=Start(0.3, fixed=True), v=Start(0, fixed=True))
        self.cart = parts.Body(m=M, r_CM=(0, 0, 0), I_11=0, I_22=0, I_33=0)
        self.hinge = parts.Revolute(phi=Start(phi, fixed=True), w=Start(0.0, fixed=True))
        self.bob = parts.Body(m=m, r_CM=(0, -length, 0), I_11=0, I_22=0, I_33=0)
        self.push = translational.Force()
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.cart.frame_a)
        self.connect(self.slide.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.bob.frame_a)
        self.connect(self.push.flange, self.slide.axis)
        self.input(self.push.f, "force")
        self.output(self.slide.s)
        self.output(self.hinge.phi)


class TwoPendulums(Assembly):
    """A point mass hangs from another one."""

    def __init__(self, m=(1.2, 0.7), lengths=(0.4, 0.9)):
        self.world = parts.World()
        self.first = parts.Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.rod = parts.FixedTranslation(r=(0, -lengths[0], 0))
        self.bob1 = parts.Body(m=m[0], r_CM=(0, 0, 0), I_11=0, I_22=0, I_33=0)
        self.second = parts.Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.bob2 = parts.Body(m=m[1], r_CM=(0, -lengths[1], 0), I_11=0, I_22=0, I_33=0)
        self.connect(self.world.frame_b, self.first.frame_a)
        self.connect(self.first.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.bob1.frame_a)
        self.connect(self.rod.frame_b, self.second.frame_a)
        self.connect(self.second.frame_b, self.bob2.frame_a)


class Chain(Assembly):
    """Equal massless links with a point mass at each joint between them, hung up at both ends."""

    def __init__(self, links=6, length=0.25, span=1.0, m=0.3):
        self.world = parts.World()
        self.end = parts.Fixed(r=(span, 0, 0))
        self.joints = [parts.Revolute(phi=Start(-1.1 if i == 0 else 2.2 / (links - 1))) for i in range(links)]
        self.links = [parts.FixedTranslation(r=(length, 0, 0)) for _ in range(links)]
        self.masses = [parts.Body(m=m, r_CM=(0, 0, 0), I_11=0, I_22=0, I_33=0) for _ in range(links - 1)]
        self.last = parts.Revolute()
        frame = self.world.frame_b
        for i in range(links):
            self.connect(frame, self.joints[i].frame_a)
            self.connect(self.joints[i].frame_b, self.links[i].frame_a)
            frame = self.links[i].frame_b
            if i < links - 1:
                self.connect(frame, self.masses[i].frame_a)
        self.connect(frame, self.last.frame_a)
        self.connect(self.last.frame_b, self.end.frame_b)


class Governor(Assembly):
    """A ball on an arm that hangs from a turning shaft."""

    def __init__(self, length=0.5):
        self.world = parts.World()
        self.shaft = parts.Revolute(n=(0, 1, 0), phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.arm = parts.Revolute(phi=Start(0.4, fixed=True), w=Start(0.0, fixed=True))
        self.hub = parts.Body(m=1.0, r_CM=(0, 0, 0), I_11=0.1, I_22=0.1, I_33=0.1)
        self.ball = parts.Body(m=0.8, r_CM=(0, -length, 0), I_11=0, I_22=0, I_33=0)
        self.connect(self.world.frame_b, self.shaft.frame_a)
        self.connect(self.shaft.frame_b, self.hub.frame_a)
        self.connect(self.shaft.frame_b, self.arm.frame_a)
        self.connect(self.arm.frame_b, self.ball.frame_a)


class Suspension(Assembly):
    """A quarter of a car: body and wheel on springs over a road."""

    stop_time = 2.0

    def __init__(self):
        rest = {"s": Start(0.0, fixed=True), "v": Start(0.0, fixed=True)}
        self.body, self.wheel = translational.Mass(m=300.0, L=0, **rest), translational.Mass(m=40.0, L=0, **rest)
        self.strut = translational.SpringDamper(c=20000.0, d=1500.0)
        self.tyre = translational.SpringDamper(c=180000.0, d=50.0)
        self.load = translational.Force()
        self.ground = translational.Fixed()
        self.connect(self.ground.flange, self.tyre.flange_a)
        self.connect(self.tyre.flange_b, self.wheel.flange_a)
        self.connect(self.wheel.flange_b, self.strut.flange_a)
        self.connect(self.strut.flange_b, self.body.flange_a)
        self.connect(self.load.flange, self.body.flange_a)
        self.input(self.load.f, "load")
        self.output(self.body.s)
        self.output(self.wheel.s)


class TwoSprings(Assembly):
    """A mass between two springs to the ground, one of them with a damper."""

    stop_time = 2.0

    def __init__(self, m=3.0, c=(100.0, 300.0), d=1.0):
        self.body = translational.Mass(m=m, L=0, s=Start(0.1, fixed=True), v=Start(0.0, fixed=True))
        self.one, self.two = translational.SpringDamper(c=c[0], d=d), translational.Spring(c=c[1])
        self.ground = translational.Fixed()
        for spring in (self.one, self.two):
            self.connect(self.ground.flange, spring.flange_a)
            self.connect(spring.flange_b, self.body.flange_a)
        self.output(self.body.s)


class Bicycle(Assembly):
    """The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007), with z upwards, upright and rolling."""

    def __init__(self, speed=5.0, **frame):
        tilt, base, trail = np.pi / 10, 1.02, 0.08
        rear, front = np.array([0, 0, 0.3]), np.array([base, 0, 0.35])
        axis = np.array([-np.sin(tilt), 0, np.cos(tilt)])
        head = np.array([base + trail, 0, 0]) + axis * 0.3 / np.cos(tilt)
        self.world = parts.World(n=(0, 0, -1), g=9.81)
        self.rear = parts.RollingWheel(
            wheelRadius=0.3, wheelMass=2.0, wheel_I_axis=0.12, wheel_I_long=0.0603,
            der_angles=Start((0, speed / 0.3, 0)),
        )  # fmt: skip
        guesses = {"x": base, "y": 0.0, "angles": (0, 0, 0), "der_angles": (0, speed / 0.35, 0)}
        self.front = parts.RollingWheel(
            wheelRadius=0.35, wheelMass=3.0, wheel_I_axis=0.28, wheel_I_long=0.1405,
            **{name: Start(value, fixed=False) for name, value in guesses.items()},
        )  # fmt: skip
        self.rear_axle, self.front_axle = parts.Revolute(n=(0, 1, 0)), parts.Revolute(n=(0, 1, 0))
        self.frame = parts.Body(m=85.0, r_CM=(0.3, 0, 0.6), I_11=9.2, I_22=11.0, I_33=2.8, I_31=-2.4, **frame)
        self.to_head = parts.FixedTranslation(r=head - rear)
        self.head = parts.Revolute(n=axis, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.to_front = parts.FixedTranslation(r=front - head)
        self.fork = parts.Body(
            m=4.0, r_CM=np.array([0.9, 0, 0.7]) - head, I_11=0.05892, I_22=0.06, I_33=0.00708, I_31=0.00756
        )
        self.connect(self.rear.frame_a, self.rear_axle.frame_a)
        self.connect(self.rear_axle.frame_b, self.frame.frame_a)
        self.connect(self.frame.frame_a, self.to_head.frame_a)
        self.connect(self.to_head.frame_b, self.head.frame_a)
        self.connect(self.head.frame_b, self.fork.frame_a)
        self.connect(self.head.frame_b, self.to_front.frame_a)
        self.connect(self.to_front.frame_b, self.front_axle.frame_b)
        self.connect(self.front_axle.frame_a, self.front.frame_a)
        self.output(self.head.phi)

    @staticmethod
    def equation(speed):
        """A of (lean, steer, their rates), from the linear equation of the paper."""
        mass = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
        damping = np.array([[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
        weight = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
        turning = np.array([[0, 76.59734589573222], [0, 2.65431523794604]])
        inverse, stiffness = np.linalg.inv(mass), 9.81 * weight + speed**2 * turning
        return np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ stiffness, -inverse @ damping * speed]])
