"""Boom crane: a boom that bends carries a load on a rope while it slews."""

from mbfmu.components import Beam, Body, BodyCylinder, FixedRotation, Revolute, Universal, World
from mbfmu.components.blocks import KinematicPTP2
from mbfmu.components.rotational import Position
from mbfmu.modeling import Assembly, Start

#: Where boom and hook hang at rest, nearly: amplitudes of the shapes of the boom, and the angle of the hook [rad].
REST, HANGING = (-0.2583, -0.0015, -0.00027, 0, 0, 0, -3.4e-5, 0), 0.0265
YELLOW, STEEL, ORANGE = (226, 172, 58), (120, 128, 136), (198, 98, 62)
BOOM, ROPE = 14.0, 5.0  # m


class BoomCrane(Assembly):
    """A crane slews by a quarter turn; its boom bends, down under the load and aside as it starts and stops."""

    stop_time = 15.0

    def __init__(self):
        self.world = World()
        self.trajectory = KinematicPTP2(q_begin=(0,), q_end=(1.5708,), qd_max=(0.25,), qdd_max=(0.1,), startTime=1.0)
        self.drive = Position(exact=True)
        self.column = BodyCylinder(r=(0, 4, 0), diameter=0.8, color=STEEL)
        self.slewing = Revolute(n=(0, 1, 0), useAxisFlange=True)
        self.luffing = FixedRotation(n=(0, 0, 1), angle=35.0, animation=False)
        self.boom = Beam(
            r=(BOOM, 0, 0), section="pipe", diameter=0.3, innerDiameter=0.28, damping=0.02, color=YELLOW,
            q=Start(REST, fixed=True), qd=Start((0,) * len(REST), fixed=True),
        )  # fmt: skip
        self.hook = Universal(
            n_a=(1, 0, 0), n_b=(0, 0, 1), phi_a=Start(0.0, fixed=True), phi_b=Start(HANGING, fixed=True),
            w_a=Start(0.0, fixed=True), w_b=Start(0.0, fixed=True),
        )  # fmt: skip
        self.upright = FixedRotation(n=(0, 0, 1), angle=-35.0, animation=False)
        self.rope = BodyCylinder(r=(0, -ROPE, 0), diameter=0.03, color=STEEL)
        self.load = Body(m=300.0, r_CM=(0, 0, 0), sphereDiameter=0.8, sphereColor=ORANGE)
        self.connect(self.world.frame_b, self.column.frame_a)
        self.connect(self.column.frame_b, self.slewing.frame_a)
        self.connect(self.trajectory.q[0], self.drive.phi_ref)
        self.connect(self.drive.flange, self.slewing.axis)
        self.connect(self.slewing.frame_b, self.luffing.frame_a)
        self.connect(self.luffing.frame_b, self.boom.frame_a)
        self.connect(self.boom.frame_b, self.upright.frame_a)
        self.connect(self.upright.frame_b, self.hook.frame_a)
        self.connect(self.hook.frame_b, self.rope.frame_a)
        self.connect(self.rope.frame_b, self.load.frame_a)
        self.output(self.slewing.phi)
        for k, name in enumerate("xyz"):
            self.output(self.load.frame_a.r_0[k], f"load_{name}")
        self.output(self.boom.u_b[1], "deflection")
        self.output(self.boom.u_b[2], "sideways")
