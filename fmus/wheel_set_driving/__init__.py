"""Driven wheel set: two wheels on one axle, each with its own motor, wander about the plane."""

import math

from mbfmu.components import Body, FixedTranslation, RollingWheelSet, World, blocks, rotational
from mbfmu.modeling import Assembly, Start


class WheelSetDriving(Assembly):
    """A wheel set whose wheels are driven against each other's phase, with a small mass in front."""

    stop_time = 3.0

    def __init__(self):
        self.world = World(n=(0, 0, -1))
        self.wheelSet = RollingWheelSet(
            wheelRadius=0.1,
            wheelMass=0.5,
            wheel_I_axis=0.01,
            wheel_I_long=0.02,
            wheelDistance=0.5,
            x=Start(0.1),
            y=Start(0.1),
        )
        self.fixedTranslation = FixedTranslation(r=(0.2, 0, 0))
        self.body = Body(m=0.01, r_CM=(0, 0, 0))
        self.sine1 = blocks.Sine(amplitude=2.0, f=1.0)
        self.sine2 = blocks.Sine(amplitude=2.0, f=1.0, phase=math.pi / 2)
        self.torque1, self.torque2 = rotational.Torque2(), rotational.Torque2()
        self.connect(self.wheelSet.frameMiddle, self.fixedTranslation.frame_a)
        self.connect(self.fixedTranslation.frame_b, self.body.frame_a)
        self.connect(self.sine1.y, self.torque1.tau)
        self.connect(self.sine2.y, self.torque2.tau)
        self.connect(self.wheelSet.axis1, self.torque1.flange_a)
        self.connect(self.torque1.flange_b, self.wheelSet.support)
        self.connect(self.wheelSet.axis2, self.torque2.flange_a)
        self.connect(self.torque2.flange_b, self.wheelSet.support)
        self.output(self.wheelSet.x)
        self.output(self.wheelSet.y)
        self.output(self.wheelSet.phi)
        self.output(self.wheelSet.theta1)
        self.output(self.wheelSet.theta2)
