"""Bevel gear: a motor and a gear round the corner in a housing that turns about three axes at once."""

from mbfmu.components import BevelGear1D, BodyBox, Mounting1D, Revolute, Rotor1D, World, blocks, rotational
from mbfmu.modeling import Assembly, Start

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


class BevelGear(Assembly):
    """A drive train of one dimension with a bevel gear on a moving housing, which feels its reaction torques."""

    stop_time = 1.0

    def __init__(self):
        self.world = World(nominalLength=0.5, axisLength=0.12)
        rest = {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True)}
        self.revolute1, self.revolute2, self.revolute3 = (
            Revolute(n=n, useAxisFlange=True, stateSelect="always", **rest) for n in (X, Y, Z)
        )
        self.torque1, self.torque2, self.torque3 = (rotational.Torque() for _ in range(3))
        self.sine1 = blocks.Sine(amplitude=110.0, f=5.0)
        self.sine2 = blocks.Sine(amplitude=120.0, f=6.0)
        self.sine3 = blocks.Sine(amplitude=130.0, f=7.0)
        self.sine4 = blocks.Sine(amplitude=140.0, f=8.0)
        self.housing = BodyBox(r=(0.1, 0.1, 0.1), length=0.1, width=0.1, animation=False)  # it would hide the gears
        self.mounting1D = Mounting1D(n=X)
        self.motor = rotational.Torque(useSupport=True)
        self.inertia1 = Rotor1D(J=1.1, n=X, **rest)
        self.bevelGear = BevelGear1D(ratio=10.0, n_a=X, n_b=Y)
        self.inertia2 = Rotor1D(J=18.2, n=Y)
        self.connect(self.world.frame_b, self.revolute1.frame_a)
        self.connect(self.revolute1.frame_b, self.revolute2.frame_a)
        self.connect(self.revolute2.frame_b, self.revolute3.frame_a)
        for sine, torque, joint in (
            (self.sine1, self.torque1, self.revolute1),
            (self.sine2, self.torque2, self.revolute2),
            (self.sine3, self.torque3, self.revolute3),
        ):
            self.connect(sine.y, torque.tau)
            self.connect(torque.flange, joint.axis)
        for part in (self.housing, self.mounting1D, self.inertia1, self.bevelGear, self.inertia2):
            self.connect(self.revolute3.frame_b, part.frame_a)
        self.connect(self.sine4.y, self.motor.tau)
        self.connect(self.motor.support, self.mounting1D.flange_b)
        self.connect(self.motor.flange, self.inertia1.flange_a)
        self.connect(self.inertia1.flange_b, self.bevelGear.flange_a)
        self.connect(self.bevelGear.flange_b, self.inertia2.flange_a)
        for turning in (self.revolute1, self.revolute2, self.revolute3, self.inertia2):
            self.output(turning.phi)
