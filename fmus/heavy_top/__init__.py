"""Heavy top: it stands on its tip and, spinning fast, precesses and nods instead of falling."""

from mbfmu.components import BodyShape, FixedTranslation, Spherical, World
from mbfmu.modeling import Assembly


class HeavyTop(Assembly):
    """A symmetric top on a fixed tip, let go with its axis tilted by half a radian."""

    stop_time = 2.0

    def __init__(self):
        self.world = World(n=(0, 0, -1))
        self.tip = Spherical(sequence_start=(3, 1, 3), angles_start=(0, 0.5, 0), angles_fixed=True, w_rel_a_fixed=True)
        self.tip.w_rel_a_start = (0, -28.7655, 52.6550)  # 60 rad/s about the axis of the top
        self.top = BodyShape(m=1.5, r=(0, 0, 0.3), r_CM=(0, 0, 0.3), I_11=0.02, I_22=0.02, I_33=0.03)
        self.rim = FixedTranslation(r=(0.1, 0, 0))
        self.connect(self.world.frame_b, self.tip.frame_a)
        self.connect(self.tip.frame_b, self.top.frame_a)
        self.connect(self.top.frame_b, self.rim.frame_a)
        self.output(self.top.frame_b.r_0, "axis")
        self.output(self.rim.frame_b.r_0, "rim")
