"""Flexible slider-crank: a connecting rod that bends at the speed of an engine."""

from mbfmu.components import Beam, BodyBox, Prismatic, Revolute, World
from mbfmu.components.rotational import ConstantSpeed
from mbfmu.modeling import Assembly, Start

CRANK, ROD = 0.15, 0.3  # m
SPEED = 150.0  # rad/s


class FlexibleSliderCrank(Assembly):
    """A crank that turns at 150 rad/s, a thin connecting rod that bends, drawn ten times as much, and a block."""

    stop_time = 0.1

    def __init__(self):
        self.world = World(gravityType="NoGravity")
        self.drive = ConstantSpeed(w_fixed=SPEED)
        self.bearing = Revolute(useAxisFlange=True, phi=Start(0.0, fixed=True))
        self.crank = BodyBox(r=(CRANK, 0, 0), width=0.02, height=0.01)
        self.pin = Revolute(phi=Start(0.0), w=Start(-SPEED * (1 + CRANK / ROD)))
        self.rod = Beam(
            r=(ROD, 0, 0), width=0.008, E=2e11, density=7870.0, ends="hinged-hinged", damping=0.01,
            nWidth=3, nHeight=0, nTorsion=0, deformationScale=10,
            q=Start((0, 0, 0, 0), fixed=True), qd=Start((0, 0, 0, 0), fixed=True),
        )  # fmt: skip
        self.wrist = Revolute(phi=Start(0.0), w=Start(SPEED * CRANK / ROD))
        self.guide = Prismatic(n=(1, 0, 0), s=Start(CRANK + ROD), animation=False)
        self.block = BodyBox(r=(0.06, 0, 0), r_shape=(-0.03, 0, 0), width=0.04, density=780.0)
        self.connect(self.world.frame_b, self.bearing.frame_a)
        self.connect(self.drive.flange, self.bearing.axis)
        self.connect(self.bearing.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.pin.frame_a)
        self.connect(self.pin.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.wrist.frame_a)
        self.connect(self.wrist.frame_b, self.guide.frame_b)
        self.connect(self.guide.frame_a, self.world.frame_b)
        self.connect(self.block.frame_a, self.guide.frame_b)
        self.output(self.guide.s)
        self.output(self.rod.q[0], "bending")
        self.output(self.rod.u_b[0], "lengthening")
