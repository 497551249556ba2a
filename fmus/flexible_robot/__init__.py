"""Flexible robot: an arm whose last link bends moves a load, and that swings when the drives have stopped."""

from mbfmu.components import Beam, Body, BodyCylinder, Revolute, World
from mbfmu.components.blocks import KinematicPTP2
from mbfmu.components.rotational import Position
from mbfmu.modeling import Assembly, Start

#: Amplitudes of the link's shapes at rest, nearly.
REST = (-0.01243, -0.00033, 0, 0, 0, 0)
YELLOW, STEEL, ORANGE = (226, 172, 58), (120, 128, 136), (198, 98, 62)
#: Angles of column, shoulder and elbow before and after [rad].
BEFORE, AFTER = (0.0, 0.9, -0.9), (1.6, 0.5, -1.2)


class FlexibleRobot(Assembly):
    """Column, rigid upper arm and a thin forearm of 1.2 m that bends, with 2 kg: drives follow a path exactly."""

    stop_time = 4.0

    def __init__(self):
        self.world = World()
        self.trajectory = KinematicPTP2(
            q_begin=BEFORE, q_end=AFTER, qd_max=(1.5,) * 3, qdd_max=(4.0,) * 3, startTime=0.5,
        )  # fmt: skip
        self.column = BodyCylinder(r=(0, 0.7, 0), diameter=0.16, color=STEEL)
        self.turning, self.shoulder, self.elbow = (
            Revolute(n=n, useAxisFlange=True) for n in ((0, 1, 0), (0, 0, 1), (0, 0, 1))
        )
        self.upper = BodyCylinder(r=(0.8, 0, 0), diameter=0.1, density=2700, color=YELLOW)
        self.forearm = Beam(
            r=(1.2, 0, 0), section="pipe", diameter=0.03, innerDiameter=0.027, E=7e10, density=2700, nu=0.33,
            nWidth=2, nHeight=2, damping=0.01, color=YELLOW,
            q=Start(REST, fixed=True), qd=Start((0,) * len(REST), fixed=True),
        )  # fmt: skip
        self.load = Body(m=2.0, r_CM=(0, 0, 0), sphereDiameter=0.14, sphereColor=ORANGE)
        frame = self.world.frame_b
        parts = (
            (self.turning, self.column), (self.shoulder, self.upper), (self.elbow, self.forearm),
        )  # fmt: skip
        for k, (joint, part) in enumerate(parts):
            drive = self.add(f"drive{k + 1}", Position(exact=True))
            self.connect(self.trajectory.q[k], drive.phi_ref)
            self.connect(drive.flange, joint.axis)
            self.connect(frame, joint.frame_a)
            self.connect(joint.frame_b, part.frame_a)
            frame = part.frame_b
        self.connect(frame, self.load.frame_a)
        for k, name in enumerate("xyz"):
            self.output(self.load.frame_a.r_0[k], f"load_{name}")
        self.output(self.forearm.u_b[1], "deflection")
        self.output(self.forearm.u_b[2], "sideways")
