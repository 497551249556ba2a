"""Moving actuated drive: the drives of actuated_drive on carriers that swing, so that the rotors act as gyroscopes."""

from mbfmu.components import Body, BodyCylinder, BodyShape, Mounting1D, Revolute, Rotor1D, World, blocks, rotational
from mbfmu.modeling import Assembly, Frame_a, Start

X, Y = (1, 0, 0), (0, 1, 0)
REST = {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True)}


class RotorAsBody(Assembly):
    """A motor whose rotor is a body on a hinge."""

    def __init__(self):
        self.frame_a = Frame_a("On the carrier")
        self.sine = blocks.Sine(amplitude=6.0, f=1.0)
        self.motor = rotational.Torque()
        self.revolute = Revolute(n=X, useAxisFlange=True, **REST)
        self.rotor = BodyShape(m=0.0, r=(0.1, 0, 0), r_CM=(0, 0, 0), I_11=0.3, I_22=0.15, I_33=0.15)
        self.connect(self.frame_a, self.revolute.frame_a)
        self.connect(self.revolute.frame_b, self.rotor.frame_a)
        self.connect(self.sine.y, self.motor.tau)
        self.connect(self.motor.flange, self.revolute.axis)


class RotorInOneDimension(Assembly):
    """The same motor with a Rotor1D; its torque reacts on the carrier through a Mounting1D.

    A Rotor1D adds what the rotor's own rotation does. Its inertia at rest is part of the carrier.
    """

    def __init__(self):
        self.frame_a = Frame_a("On the carrier")
        self.sine = blocks.Sine(amplitude=6.0, f=1.0)
        self.mounting1D = Mounting1D(n=X)
        self.motor = rotational.Torque(useSupport=True)
        self.rotor1D = Rotor1D(J=0.3, n=X, **REST)
        self.at_rest = Body(m=0.0, r_CM=(0, 0, 0), I_11=0.3, I_22=0.15, I_33=0.15)
        self.connect(self.frame_a, self.at_rest.frame_a)
        self.connect(self.frame_a, self.mounting1D.frame_a)
        self.connect(self.frame_a, self.rotor1D.frame_a)
        self.connect(self.mounting1D.flange_b, self.motor.support)
        self.connect(self.motor.flange, self.rotor1D.flange_a)
        self.connect(self.sine.y, self.motor.tau)


class Carrier(Assembly):
    """An arm on two hinges that swings in the gravity field with a drive at its end."""

    def __init__(self, drive):
        self.frame_a = Frame_a("On the ground")
        self.swivel = Revolute(n=Y, **REST)
        self.tilt = Revolute(n=(0, 0, 1), **REST)
        self.arm = BodyCylinder(r=(0.5, 0, 0), diameter=0.05)
        self.drive = drive
        self.connect(self.frame_a, self.swivel.frame_a)
        self.connect(self.swivel.frame_b, self.tilt.frame_a)
        self.connect(self.tilt.frame_b, self.arm.frame_a)
        self.connect(self.arm.frame_b, self.drive.frame_a)


class MovingActuatedDrive(Assembly):
    """Two swinging carriers, one with its rotor as a body and one with a Rotor1D: they move alike."""

    stop_time = 3.0

    def __init__(self):
        self.world = World()
        self.with_body = Carrier(RotorAsBody())
        self.with_rotor = Carrier(RotorInOneDimension())
        for carrier in (self.with_body, self.with_rotor):
            self.connect(self.world.frame_b, carrier.frame_a)
            self.output(carrier.swivel.phi)
            self.output(carrier.tilt.phi)
        self.output(self.with_body.drive.revolute.w)
        self.output(self.with_rotor.drive.rotor1D.w)
