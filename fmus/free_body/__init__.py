"""Free body: nothing but two springs holds it, so it moves with all of its six degrees of freedom."""

import math

from mbfmu.components import BodyShape, FixedTranslation, World, forces
from mbfmu.modeling import Assembly, Start


class FreeBody(Assembly):
    """A body between two springs."""

    stop_time = 10.0

    def __init__(self):
        tilt = math.radians(10)
        self.world = World()
        self.bar2 = FixedTranslation(r=(0.8, 0, 0))
        self.spring1, self.spring2 = forces.Spring(c=20.0), forces.Spring(c=20.0)
        self.body = BodyShape(
            m=1.0,
            I_11=1.0,
            I_22=1.0,
            I_33=1.0,
            r=(0.4, 0, 0),
            r_CM=(0.2, 0, 0),
            r_0=Start((0.2, -0.5, 0.1), fixed=True),
            v_0=Start(0.0, fixed=True),
            angles_fixed=True,
            angles_start=(tilt, tilt, tilt),
            w_0_fixed=True,
        )
        self.connect(self.world.frame_b, self.spring1.frame_a)
        self.connect(self.spring1.frame_b, self.body.frame_a)
        self.connect(self.world.frame_b, self.bar2.frame_a)
        self.connect(self.bar2.frame_b, self.spring2.frame_a)
        self.connect(self.spring2.frame_b, self.body.frame_b)
        self.output(self.body.r_0)
        self.output(self.body.body.w_a, "w")
