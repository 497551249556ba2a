"""Flexible rotor: a disc on a thin shaft runs up through its critical speed."""

from mbfmu.components import Beam, BodyCylinder, FixedTranslation, Revolute, World
from mbfmu.components.blocks import KinematicPTP2
from mbfmu.components.forces import Damper
from mbfmu.components.rotational import Position
from mbfmu.modeling import Assembly, Start

#: Length of the shaft [m], distance of the disc's centre of mass from it, place of dampers.
SHAFT, ECCENTRICITY, ANCHOR = 1.0, 0.001, 0.3
#: Speed at the end [rad/s]; the critical one is at 82 rad/s.
SPEED = 160.0
STEEL, ORANGE = (120, 128, 136), (198, 98, 62)


class FlexibleRotor(Assembly):
    """A disc whose centre of mass is 1 mm off its shaft: the shaft bows out at the critical speed, and less above."""

    stop_time = 8.0

    def __init__(self):
        self.world = World()
        self.trajectory = KinematicPTP2(q_begin=(0,), q_end=(4000,), qd_max=(SPEED,), qdd_max=(25,))
        self.drive = Position(exact=True)
        self.bearing = Revolute(n=(1, 0, 0), useAxisFlange=True)
        self.shaft = Beam(
            r=(SHAFT, 0, 0), section="pipe", diameter=0.02, ends="hinged-hinged", positions=[0.5], damping=0.002,
            nWidth=2, nHeight=2, nAxial=0, color=STEEL,
            q=Start((0, 0, 0, 0, 0), fixed=True), qd=Start((0, 0, 0, 0, 0), fixed=True),
        )  # fmt: skip
        self.disc = BodyCylinder(
            r=(0.03, 0, 0), r_shape=(-0.015, ECCENTRICITY, 0), lengthDirection=(1, 0, 0), length=0.03, diameter=0.24,
            color=ORANGE,
        )  # fmt: skip
        self.above = FixedTranslation(r=(SHAFT / 2, ANCHOR, 0), animation=False)
        self.beside = FixedTranslation(r=(SHAFT / 2, 0, ANCHOR), animation=False)
        self.upright, self.level = Damper(d=80), Damper(d=80)
        self.connect(self.world.frame_b, self.bearing.frame_a)
        self.connect(self.trajectory.q[0], self.drive.phi_ref)
        self.connect(self.drive.flange, self.bearing.axis)
        self.connect(self.bearing.frame_b, self.shaft.frame_a)
        self.connect(self.shaft.frame[0], self.disc.frame_a)
        for anchor, damper in ((self.above, self.upright), (self.beside, self.level)):
            self.connect(self.world.frame_b, anchor.frame_a)
            self.connect(anchor.frame_b, damper.frame_a)
            self.connect(damper.frame_b, self.shaft.frame[0])
        self.output(self.bearing.w, "speed")
        self.output(self.shaft.frame[0].r_0[1], "up")
        self.output(self.shaft.frame[0].r_0[2], "aside")
