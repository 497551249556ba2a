"""Mechanisms whose equations fit on a line."""

from __future__ import annotations

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
