"""Walker: a wheel of spokes without a rim that walks down a slope by itself, with a lantern on its axle."""

import math

from mbfmu.components import (
    Body,
    BodyCylinder,
    FixedTranslation,
    Prismatic,
    Revolute,
    World,
    rotational,
)
from mbfmu.components.contact import Plane, RigidContact, Sphere
from mbfmu.components.visualizers import FixedShape
from mbfmu.modeling import Assembly, Start

#: Number of spokes, their length and diameter, and half the distance of both rows of them [m].
SPOKES, LENGTH, DIAMETER, HALF_WIDTH = 8, 0.4, 0.02, 0.12
#: Radius of a foot [m], and angle of the slope [rad].
FOOT, SLOPE = 0.018, 0.1
#: Angular speed with which it begins, turning about its foremost foot [rad/s].
BEGIN = 1.4
#: Half the angle between two spokes [rad].
HALF = math.pi / SPOKES


class Walker(Assembly):
    """A wheel of spokes without a rim walks down a slope by itself, foot by foot; a lantern swings on its axle."""

    stop_time = 6.0

    def __init__(self):
        self.world = World(n=(0, 0, -1), nominalLength=0.4, animateWorld=False)
        down = (math.cos(SLOPE), 0, -math.sin(SLOPE))
        up = (math.sin(SLOPE), 0, math.cos(SLOPE))
        reach, above = 2.2, FOOT + LENGTH * math.cos(HALF)
        self.slope = Plane(n=up, r=(reach * down[0], 0, reach * down[2]), length=6.0, width=1.0)
        self.axle = FixedTranslation(r=tuple(above * x for x in up), animation=False)
        self.along = Prismatic(n=down, animation=False, s=Start(0.0, fixed=True), v=Start(BEGIN * above, fixed=True))
        self.across = Prismatic(
            n=up, animation=False, s=Start(0.0, fixed=True), v=Start(BEGIN * LENGTH * math.sin(HALF), fixed=True)
        )
        self.turn = Revolute(
            n=(0, 1, 0),
            useAxisFlange=True,
            cylinderDiameter=0.05,
            cylinderLength=2 * HALF_WIDTH + 0.06,
            cylinderColor=(120, 120, 125),
            phi=Start(0.0, fixed=True),
            w=Start(BEGIN, fixed=True),
        )
        self.wheel = Body(m=2.0, r_CM=(0, 0, 0), I_11=0.08, I_22=0.12, I_33=0.08, animation=False)
        self.connect(self.world.frame_b, self.slope.frame_a)
        self.connect(self.world.frame_b, self.axle.frame_a)
        self.connect(self.axle.frame_b, self.along.frame_a)
        self.connect(self.along.frame_b, self.across.frame_a)
        self.connect(self.across.frame_b, self.turn.frame_a)
        self.connect(self.turn.frame_b, self.wheel.frame_a)
        for i in range(SPOKES):
            self.spoke(i + 1, (2 * i + 1) * HALF - SLOPE)
        self.hinge = Revolute(
            n=(0, 1, 0), useAxisFlange=True, animation=False, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True)
        )
        self.bearing = rotational.Damper(d=0.02)
        self.rope = BodyCylinder(r=(0, 0, -0.2), diameter=0.008, density=500)
        self.lantern = Body(
            m=0.4, r_CM=(0, 0, 0), I_11=1e-4, I_22=1e-4, I_33=1e-4, sphereDiameter=0.08, sphereColor=(255, 190, 40)
        )
        self.connect(self.across.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.support, self.bearing.flange_a)
        self.connect(self.hinge.axis, self.bearing.flange_b)
        self.connect(self.hinge.frame_b, self.rope.frame_a)
        self.connect(self.rope.frame_b, self.lantern.frame_a)
        self.output(self.along.s, "way")
        self.output(self.turn.w, "w")
        self.output(self.hinge.phi, "lantern_angle")
        self.figure("Speed of the wheel", [self.turn.w])

    def spoke(self, number, angle):
        """A pair of spokes, and the foot at their ends."""
        place = (LENGTH * math.sin(angle), 0, -LENGTH * math.cos(angle))
        foot = self.add(f"foot{number}", Sphere(radius=FOOT, r=place, animation=False))
        self.connect(self.turn.frame_b, foot.frame_a)
        for side, y in (("left", -HALF_WIDTH), ("right", HALF_WIDTH)):
            rod = FixedShape(
                shapeType="cylinder",
                r_shape=(0, y, 0),
                lengthDirection=place,
                length=LENGTH,
                width=DIAMETER,
                height=DIAMETER,
                color=(60, 110, 160),
            )
            tip = FixedShape(
                shapeType="sphere",
                r_shape=(place[0] * (1 - FOOT / LENGTH), y, place[2] * (1 - FOOT / LENGTH)),
                lengthDirection=place,
                length=2 * FOOT,
                width=2 * FOOT,
                height=2 * FOOT,
                color=(40, 40, 45),
            )
            for name, shape in (("rod", rod), ("tip", tip)):
                part = self.add(f"{side}_{name}{number}", shape)
                self.connect(self.turn.frame_b, part.frame_a)
        self.add(
            f"step{number}",
            RigidContact(geometry_a=f"foot{number}", geometry_b="slope", mu_k=1.0, scale=5e-3, arrowDiameter=0.012),
        )
