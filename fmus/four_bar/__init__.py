"""Four-bar: a loop in space of six revolute joints and one prismatic, which nobody has to cut open by hand."""

import math

from mbfmu.components import BodyCylinder, FixedTranslation, Prismatic, Revolute, World
from mbfmu.modeling import Assembly, Start


class FourBar(Assembly):
    """Spatial four-bar: a crank drives a slide through a coupler on three plus two hinges."""

    stop_time = 5.0

    def __init__(self):
        self.world = World()
        self.b0 = FixedTranslation(r=(1.2, 0, 0))
        self.j1 = Revolute(
            n=(1, 0, 0), stateSelect="always", phi=Start(0.0, fixed=True), w=Start(5 / 3 * math.pi, fixed=True)
        )
        self.j2 = Prismatic(n=(1, 0, 0), s=Start(-0.2))
        self.b1 = BodyCylinder(r=(0, 0.5, 0.1), diameter=0.05)
        self.b2 = BodyCylinder(r=(0, 0.2, 0), diameter=0.05)
        self.b3 = BodyCylinder(r=(-1, 0.3, 0.1), diameter=0.05)
        self.rev = Revolute(n=(0, 1, 0))
        self.rev1 = Revolute()
        self.j3 = Revolute(n=(1, 0, 0))
        self.j4 = Revolute(n=(0, 1, 0))
        self.j5 = Revolute(n=(0, 0, 1))
        self.connect(self.world.frame_b, self.j1.frame_a)
        self.connect(self.j1.frame_b, self.b1.frame_a)
        self.connect(self.b1.frame_b, self.j3.frame_a)
        self.connect(self.j3.frame_b, self.j4.frame_a)
        self.connect(self.j4.frame_b, self.j5.frame_a)
        self.connect(self.j5.frame_b, self.b3.frame_b)
        self.connect(self.world.frame_b, self.b0.frame_a)
        self.connect(self.b0.frame_b, self.j2.frame_a)
        self.connect(self.j2.frame_b, self.b2.frame_a)
        self.connect(self.b2.frame_b, self.rev.frame_a)
        self.connect(self.rev.frame_b, self.rev1.frame_a)
        self.connect(self.rev1.frame_b, self.b3.frame_a)
        self.output(self.j1.phi)
        self.output(self.j1.w)
        self.output(self.j2.s)
