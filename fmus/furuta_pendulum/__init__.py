"""Furuta pendulum: an arm turns about the vertical, and a pendulum swings at its end."""

from mbfmu.components import BodyCylinder, Revolute, World, rotational
from mbfmu.modeling import Assembly, Start


class FurutaPendulum(Assembly):
    """Rotary pendulum with an input for the motor at its base and outputs for a controller."""

    stop_time = 5.0

    def __init__(self):
        self.world = World()
        self.base = Revolute(n=(0, 1, 0), useAxisFlange=True, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.arm = BodyCylinder(r=(0.3, 0, 0), diameter=0.02, density=2700.0)
        self.hinge = Revolute(n=(1, 0, 0), useAxisFlange=True, phi=Start(0.2, fixed=True), w=Start(0.0, fixed=True))
        self.rod = BodyCylinder(r=(0, 0.4, 0), diameter=0.015, density=2700.0)
        self.motor = rotational.Torque()
        self.bearing, self.friction = rotational.Damper(d=0.002), rotational.Damper(d=0.001)
        self.connect(self.world.frame_b, self.base.frame_a)
        self.connect(self.base.frame_b, self.arm.frame_a)
        self.connect(self.arm.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.rod.frame_a)
        self.connect(self.motor.flange, self.base.axis)
        for damper, joint in ((self.bearing, self.base), (self.friction, self.hinge)):
            self.connect(joint.support, damper.flange_a)
            self.connect(damper.flange_b, joint.axis)
        self.input(self.motor.tau, "torque")
        self.output(self.base.phi)
        self.output(self.base.w)
        self.output(self.hinge.phi)
        self.output(self.hinge.w)
