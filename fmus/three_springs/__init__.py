"""Three springs that meet in a point without mass: the point's place follows from the balance of their forces."""

from mbfmu.components import Body, FixedTranslation, World, forces
from mbfmu.modeling import Assembly, Start


class ThreeSprings(Assembly):
    """A body on three springs in series and parallel, joined by a massless node."""

    stop_time = 10.0

    def __init__(self):
        self.world = World()
        self.bar1 = FixedTranslation(r=(0.3, 0, 0))
        self.bar2 = FixedTranslation(r=(0, 0, 0.3))
        self.spring1 = forces.Spring(c=20.0, s_unstretched=0.1, lineForce={"r_rel_0": Start((-0.2, -0.2, 0.2))})
        self.spring2 = forces.Spring(c=40.0, s_unstretched=0.1)
        self.spring3 = forces.Spring(c=20.0, s_unstretched=0.1, fixedRotationAtFrame_b=True)
        self.body1 = Body(
            m=0.8,
            r_CM=(0, -0.2, 0),
            I_11=0.1,
            I_22=0.1,
            I_33=0.1,
            r_0=Start((0.5, -0.3, 0), fixed=True),
            v_0=Start(0.0, fixed=True),
            angles_fixed=True,
            w_0_fixed=True,
        )
        self.connect(self.world.frame_b, self.bar1.frame_a)
        self.connect(self.world.frame_b, self.bar2.frame_a)
        self.connect(self.bar1.frame_b, self.spring1.frame_a)
        self.connect(self.bar2.frame_b, self.spring3.frame_a)
        self.connect(self.spring3.frame_b, self.spring1.frame_b)
        self.connect(self.spring2.frame_a, self.spring1.frame_b)
        self.connect(self.spring2.frame_b, self.body1.frame_a)
        self.output(self.body1.r_0)
        self.output(self.body1.v_0)
