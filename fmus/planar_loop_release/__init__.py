"""A square of four bars, turning about an axis of its own, is pushed for a second and then let go."""

import math

from mbfmu.components import (
    BodyCylinder,
    FixedRotation,
    Revolute,
    RevolutePlanarLoopConstraint,
    World,
    blocks,
    rotational,
)
from mbfmu.modeling import Assembly, Start

Y = (0, 1, 0)


class PlanarLoopRelease(Assembly):
    """Planar four-bar on a rotating axis, its plane oblique to it, driven by a torque that ends after a second."""

    stop_time = 5.0

    def __init__(self):
        self.world = World()
        self.revolute2 = Revolute(n=(1, 0, 0), phi=Start(0.0, fixed=True), w=Start(2 * math.pi, fixed=True))
        self.fixedRotation = FixedRotation(n=Y, angle=90)
        self.fixedRotation1 = FixedRotation(n=(0, 0, 1), angle=45)
        self.revolute1 = Revolute(n=Y, useAxisFlange=True)
        self.revolute3 = Revolute(n=Y, phi=Start(math.pi / 2, fixed=True), w=Start(0.0, fixed=True))
        self.revolute4 = Revolute(n=Y, phi=Start(math.pi / 2))
        self.revolute = RevolutePlanarLoopConstraint(n=Y)
        self.bodyCylinder, self.bodyCylinder1, self.bodyCylinder2, self.bodyCylinder3 = (
            BodyCylinder(r=(1, 0, 0), diameter=0.2) for _ in range(4)
        )
        self.push = blocks.Step(offset=1000.0, height=-1000.0, startTime=1.0)
        self.torque = rotational.Torque()
        self.connect(self.push.y, self.torque.tau)
        self.connect(self.torque.flange, self.revolute1.axis)
        self.connect(self.world.frame_b, self.revolute2.frame_a)
        self.connect(self.revolute2.frame_b, self.fixedRotation.frame_a)
        self.connect(self.fixedRotation.frame_b, self.fixedRotation1.frame_a)
        self.connect(self.fixedRotation1.frame_b, self.revolute1.frame_a)
        self.connect(self.revolute1.frame_b, self.bodyCylinder.frame_a)
        self.connect(self.bodyCylinder.frame_b, self.revolute3.frame_a)
        self.connect(self.revolute3.frame_b, self.bodyCylinder1.frame_a)
        self.connect(self.bodyCylinder1.frame_b, self.revolute4.frame_a)
        self.connect(self.revolute4.frame_b, self.bodyCylinder2.frame_a)
        self.connect(self.bodyCylinder2.frame_b, self.revolute.frame_a)
        self.connect(self.revolute.frame_b, self.bodyCylinder3.frame_a)
        self.connect(self.bodyCylinder3.frame_b, self.revolute1.frame_a)
        for joint in (self.revolute1, self.revolute2, self.revolute3, self.revolute4):
            self.output(joint.phi)
