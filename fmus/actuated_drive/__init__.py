"""Actuated drive: the same rotor driven by a torque in three dimensions and by one in one dimension."""

from mbfmu.components import BodyShape, Fixed, Mounting1D, Revolute, Rotor1D, World, blocks, forces, rotational
from mbfmu.modeling import Assembly, Start


class ActuatedDrive(Assembly):
    """A rotor as a body on a hinge and as a Rotor1D, under one sine torque: both turn alike."""

    stop_time = 1.1

    def __init__(self):
        rest = {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True)}
        self.world = World(gravityType="NoGravity")
        self.sine = blocks.Sine(amplitude=(1.0, 0, 0), f=(1.0, 1.0, 1.0))
        self.revolute = Revolute(n=(1, 0, 0), **rest)
        self.rotor = BodyShape(m=0.0, r=(0.5, 0, 0), r_CM=(0, 0, 0), I_11=2.0, I_22=1.0, I_33=1.0)
        self.torque = forces.Torque(resolveInFrame="frame_b")
        self.fixed = Fixed()
        self.mounting1D = Mounting1D()
        self.torque1 = rotational.Torque(useSupport=True)
        self.rotor1D = Rotor1D(J=2.0, **rest)
        self.connect(self.world.frame_b, self.revolute.frame_a)
        self.connect(self.revolute.frame_b, self.rotor.frame_a)
        self.connect(self.world.frame_b, self.torque.frame_a)
        self.connect(self.torque.frame_b, self.rotor.frame_b)
        self.connect(self.sine.y, self.torque.torque)
        self.connect(self.fixed.frame_b, self.mounting1D.frame_a)
        self.connect(self.fixed.frame_b, self.rotor1D.frame_a)
        self.connect(self.mounting1D.flange_b, self.torque1.support)
        self.connect(self.torque1.flange, self.rotor1D.flange_a)
        self.connect(self.sine.y[0], self.torque1.tau)
        self.output(self.revolute.phi)
        self.output(self.rotor1D.phi)
