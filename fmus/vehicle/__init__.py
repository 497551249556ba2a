"""Vehicle: two axles of rolling wheels under a chassis, the rear one driven, the front one steered."""

from mbfmu.components import BodyBox, Revolute, RollingWheelSet, World, blocks, rotational
from mbfmu.modeling import Assembly, Start


def axle(**modifiers):
    """Two wheels of 0.3 m radius and 10 kg, 1.2 m apart."""
    return RollingWheelSet(
        wheelRadius=0.3, wheelMass=10.0, wheel_I_axis=0.5, wheel_I_long=0.3, wheelDistance=1.2, **modifiers
    )


class Vehicle(Assembly):
    """A car on four rolling wheels drives off and steers to and fro; an input takes the torque of its engine."""

    stop_time = 10.0

    def __init__(self):
        self.world = World(n=(0, 0, -1))
        self.rear = axle()
        self.chassis = BodyBox(r=(2.0, 0, 0), width=1.0, height=0.2, density=500.0)
        self.pivot = Revolute(n=(0, 0, 1), useAxisFlange=True)
        follows = Start(fixed=False)  # where the front axle starts follows from the rear one
        self.front = axle(
            x=Start(2.0, fixed=False),
            y=follows,
            phi=follows,
            theta1=follows,
            theta2=follows,
            der_theta1=follows,
            der_theta2=follows,
            stateSelect="avoid",
        )
        self.engine = rotational.Torque()
        self.differential = rotational.IdealPlanetary(ratio=1.0)
        self.turn = blocks.Sine(amplitude=0.3, f=0.2)
        self.steering = rotational.Position(exact=True)
        self.connect(self.rear.frameMiddle, self.chassis.frame_a)
        self.connect(self.chassis.frame_b, self.pivot.frame_a)
        self.connect(self.pivot.frame_b, self.front.frameMiddle)
        self.connect(self.turn.y, self.steering.phi_ref)
        self.connect(self.steering.flange, self.pivot.axis)
        self.connect(self.engine.flange, self.differential.carrier)
        self.connect(self.differential.sun, self.rear.axis1)
        self.connect(self.differential.ring, self.rear.axis2)
        self.input(self.engine.tau, "torque", start=100.0)
        self.output(self.rear.x)
        self.output(self.rear.y)
        self.output(self.rear.phi, "heading")
        self.output(self.rear.der_theta1, "wheel_speed")
