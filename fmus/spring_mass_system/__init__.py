"""Spring and mass, twice: with a spring of one dimension on the joint's axis, and with one in space."""

from mbfmu.components import Body, FixedTranslation, Prismatic, World, forces, translational
from mbfmu.modeling import Assembly, Start

DOWN = (0, -1, 0)


class SpringMassSystem(Assembly):
    """Two equal masses on springs, written in two ways: they swing alike."""

    stop_time = 5.0

    def __init__(self):
        start = {"s": Start(0.1, fixed=True), "v": Start(0.0, fixed=True)}
        self.world = World()
        self.bar1, self.bar2 = FixedTranslation(r=(0.3, 0, 0)), FixedTranslation(r=(0.3, 0, 0))
        self.p1 = Prismatic(n=DOWN, useAxisFlange=True, **start)
        self.spring1 = translational.Spring(c=30.0, s_rel0=0.1)
        self.body1 = Body(m=1.0, r_CM=(0, 0, 0))
        self.p2 = Prismatic(n=DOWN, **start)
        self.spring2 = forces.Spring(c=30.0, s_unstretched=0.1)
        self.body2 = Body(m=1.0, r_CM=(0, 0, 0))
        self.connect(self.world.frame_b, self.bar1.frame_a)
        self.connect(self.bar1.frame_b, self.p1.frame_a)
        self.connect(self.p1.frame_b, self.body1.frame_a)
        self.connect(self.p1.support, self.spring1.flange_a)
        self.connect(self.p1.axis, self.spring1.flange_b)
        self.connect(self.bar1.frame_b, self.bar2.frame_a)
        self.connect(self.bar2.frame_b, self.p2.frame_a)
        self.connect(self.p2.frame_b, self.body2.frame_a)
        self.connect(self.bar2.frame_b, self.spring2.frame_a)
        self.connect(self.spring2.frame_b, self.body2.frame_a)
        self.output(self.p1.s)
        self.output(self.p2.s)
