"""Pendulum: a mass on a hinge with some friction, the smallest mechanism there is."""

from mbfmu.components import Body, Revolute, World, rotational
from mbfmu.modeling import Assembly, Start


class Pendulum(Assembly):
    """A kilogram half a metre from a damped hinge, let go from the side."""

    stop_time = 5.0

    def __init__(self):
        self.world = World()
        self.rev = Revolute(useAxisFlange=True, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.damper = rotational.Damper(d=0.1)
        self.body = Body(m=1.0, r_CM=(0.5, 0, 0))
        self.connect(self.world.frame_b, self.rev.frame_a)
        self.connect(self.rev.frame_b, self.body.frame_a)
        self.connect(self.rev.support, self.damper.flange_a)
        self.connect(self.damper.flange_b, self.rev.axis)
        self.output(self.rev.phi)
        self.output(self.rev.w)
