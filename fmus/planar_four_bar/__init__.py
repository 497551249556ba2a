"""Planar four-bar of four plain hinges: three of its constraints are redundant, and found to be so."""

from mbfmu.components import BodyBox, Revolute, World, rotational
from mbfmu.modeling import Assembly, Start


class PlanarFourBar(Assembly):
    """Four steel bars on four plain hinges, falling from rest, with friction in one of them."""

    stop_time = 5.0

    def __init__(self):
        self.world = World()
        self.revolute1 = Revolute(
            useAxisFlange=True, stateSelect="always", phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True)
        )
        self.damper = rotational.Damper(d=0.1)
        self.revolute2, self.revolute3, self.revolute4 = Revolute(), Revolute(), Revolute()
        self.body1 = BodyBox(r=(0.4, 0, 0), width=0.05)
        self.body2 = BodyBox(r=(0.1, 1.1, 0), width=0.05)
        self.body3 = BodyBox(r=(-0.15, 1.0, 0), width=0.05)
        self.body4 = BodyBox(r=(0.65, 0.1, 0), width=0.05)
        self.connect(self.world.frame_b, self.revolute1.frame_a)
        self.connect(self.revolute1.frame_b, self.body1.frame_a)
        self.connect(self.body1.frame_b, self.revolute2.frame_a)
        self.connect(self.revolute2.frame_b, self.body2.frame_a)
        self.connect(self.world.frame_b, self.body3.frame_a)
        self.connect(self.body3.frame_b, self.revolute3.frame_a)
        self.connect(self.revolute3.frame_b, self.body4.frame_a)
        self.connect(self.body4.frame_b, self.revolute4.frame_a)
        self.connect(self.body2.frame_b, self.revolute4.frame_b)
        self.connect(self.revolute1.support, self.damper.flange_a)
        self.connect(self.damper.flange_b, self.revolute1.axis)
        for joint in (self.revolute1, self.revolute2, self.revolute3):
            self.output(joint.phi)
