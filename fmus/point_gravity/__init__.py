"""Point gravity: two bodies on orbits about the world's origin."""

from mbfmu.components import Body, World
from mbfmu.modeling import Assembly, Start


def satellite(position, velocity):
    """A free body with its start."""
    return Body(
        m=1.0,
        r_CM=(0, 0, 0),
        I_11=0.1,
        I_22=0.1,
        I_33=0.1,
        r_0=Start(position, fixed=True),
        v_0=Start(velocity, fixed=True),
        angles_fixed=True,
        w_0_fixed=True,
    )


class PointGravity(Assembly):
    """Two bodies in the field of a point mass, on ellipses after Kepler."""

    stop_time = 5.0

    def __init__(self):
        self.world = World(gravityType="PointGravity", mu=1.0)
        self.body1 = satellite((0, 0.6, 0), (1, 0, 0))
        self.body2 = satellite((0.6, 0.6, 0), (0.6, 0, 0))
        self.output(self.body1.r_0)
        self.output(self.body2.r_0)
