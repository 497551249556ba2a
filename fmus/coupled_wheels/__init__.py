"""Two wheels of a locomotive with their coupling rod, which starts in its dead centre."""

from mbfmu.components import BodyBox, BodyCylinder, FixedTranslation, Revolute, World, rotational
from mbfmu.modeling import Assembly, Start

Y = (0, 1, 0)


class CoupledWheels(Assembly):
    """Two wheels turn alike by a coupling rod, from its dead centre on and through all others; one is driven."""

    stop_time = 2.0

    def __init__(self):
        self.world = World()
        self.frame = FixedTranslation(r=(1.5, 0, 0))
        self.axle1 = Revolute(n=Y, useAxisFlange=True, phi=Start(0.0, fixed=True), w=Start(2.0, fixed=True))
        self.axle2 = Revolute(n=Y, w=Start(2.0))
        self.wheel1 = BodyCylinder(r=(0, 0.1, 0), lengthDirection=Y, diameter=0.9)
        self.wheel2 = BodyCylinder(r=(0, 0.1, 0), lengthDirection=Y, diameter=0.9)
        self.crank1, self.crank2 = FixedTranslation(r=(0.25, 0.1, 0)), FixedTranslation(r=(0.25, 0.1, 0))
        self.pin1, self.pin2 = Revolute(n=Y, w=Start(-2.0)), Revolute(n=Y, w=Start(-2.0))
        self.rod = BodyBox(r=(1.5, 0, 0), width=0.1, height=0.04)
        self.drive = rotational.ConstantTorque(tau_constant=400.0)
        self.connect(self.drive.flange, self.axle1.axis)
        self.connect(self.world.frame_b, self.axle1.frame_a)
        self.connect(self.world.frame_b, self.frame.frame_a)
        self.connect(self.frame.frame_b, self.axle2.frame_a)
        for axle, wheel, crank, pin in (
            (self.axle1, self.wheel1, self.crank1, self.pin1),
            (self.axle2, self.wheel2, self.crank2, self.pin2),
        ):
            self.connect(axle.frame_b, wheel.frame_a)
            self.connect(axle.frame_b, crank.frame_a)
            self.connect(crank.frame_b, pin.frame_a)
        self.connect(self.pin1.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.pin2.frame_b)
        for joint in (self.axle1, self.axle2, self.pin1):
            self.output(joint.phi)
        self.output(self.axle1.w)
