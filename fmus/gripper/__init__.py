"""Gripper with fingers on four-bars that lifts a part: contact with friction between spheres and a box."""

from mbfmu.components import (
    Body,
    BodyBox,
    BodyCylinder,
    FixedTranslation,
    Prismatic,
    Revolute,
    World,
    rotational,
    translational,
)
from mbfmu.components.blocks import sources
from mbfmu.components.contact import Box, Contact, ContactGroup, Plane, Sphere
from mbfmu.modeling import Assembly, Start

#: Half a side of the part, length of the cranks, half the distance of the inner ones, from there to the outer ones [m].
SIDE, LENGTH, INNER, OUTER = 0.02, 0.08, 0.03, 0.02
#: Radius of a fingertip, and how far it stands below the cranks' ends [m].
TIP, BELOW = 0.006, 0.05
#: Stiffness of a fingertip in its normal and tangential direction [N/m].
STIFFNESS = 2e4


class Gripper(Assembly):
    """Two fingers, which a motor moves in parallel by four-bars, close on a part, lift it and hold it."""

    stop_time = 3.0

    def __init__(self):
        self.world = World(n=(0, 0, -1), nominalLength=0.15)
        self.lift = Prismatic(n=(0, 0, 1), useAxisFlange=True, animation=False)
        self.column = FixedTranslation(r=(0, 0, SIDE + LENGTH + BELOW), animation=False)
        self.palm = BodyBox(r=(0.055, 0, 0), r_shape=(-0.055, 0, 0), width=0.05, height=0.02)
        self.way = sources.KinematicPTP2(q_begin=(0.0,), q_end=(0.1,), qd_max=(0.15,), qdd_max=(0.5,), startTime=1.0)
        self.drive = translational.Move()
        self.connect(self.world.frame_b, self.lift.frame_a)
        self.connect(self.lift.frame_b, self.column.frame_a)
        self.connect(self.column.frame_b, self.palm.frame_a)
        self.connect(self.drive.flange, self.lift.axis)
        for i, signal in enumerate((self.way.q, self.way.qd, self.way.qdd)):
            self.connect(signal[0], self.drive.u[i])
        self.finger("left", -1)
        self.finger("right", 1)
        self.gear = rotational.IdealGear(ratio=-1.0)
        self.motor = rotational.Inertia(J=1e-4)
        self.friction = rotational.Damper(d=0.5)
        self.housing = rotational.Fixed()
        self.closing = rotational.ConstantTorque(tau_constant=-2.5)
        self.connect(self.left_inner.axis, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.right_inner.axis)
        self.connect(self.motor.flange_a, self.left_inner.axis)
        self.connect(self.closing.flange, self.motor.flange_b)
        self.connect(self.friction.flange_a, self.left_inner.axis)
        self.connect(self.friction.flange_b, self.housing.flange)
        self.part = Body(
            m=0.5,
            r_CM=(0, 0, 0),
            I_11=1.3e-4,
            I_22=1.3e-4,
            I_33=1.3e-4,
            r_0=Start((0, 0, SIDE), fixed=True),
            v_0=Start((0, 0, 0), fixed=True),
            angles_fixed=True,
            w_0_fixed=True,
            animation=False,
        )
        self.box = Box(length=2 * SIDE)
        self.table = Plane(length=0.3)
        self.connect(self.part.frame_a, self.box.frame_a)
        self.connect(self.world.frame_b, self.table.frame_a)
        self.ground = Contact(
            geometry_a="box", geometry_b="table", c=1e4, d_n=40.0, mu_k=0.5, c_t=1e4, d_t=40.0, animation=False
        )
        self.grip = ContactGroup(
            geometries_a=["left_tip1", "left_tip2", "right_tip1", "right_tip2"],
            geometries_b=["box"],
            c=STIFFNESS,
            d_n=50.0,
            mu_k=0.6,
            c_t=STIFFNESS,
            d_t=50.0,
            scale=3e-3,
            arrowDiameter=0.004,
        )
        self.output(self.part.r_0[2], "height")
        self.output(self.grip.left_tip1_box.f_n[0], "f_n")
        self.output(self.grip.left_tip1_box.f_t[0], "f_t")
        self.figure("Height of the part", [self.part.r_0[2]])
        self.figure("Force of a fingertip", [self.grip.left_tip1_box.f_n, self.grip.left_tip1_box.f_t])

    def finger(self, side, sign):
        """A finger: two cranks at the palm, a coupler between them that stays level, and two fingertips below it."""

        def add(name, part):
            return self.add(f"{side}_{name}", part)

        hinges = []
        for name, x in (("inner", INNER), ("outer", INNER + OUTER)):
            seat = add(f"{name}_seat", FixedTranslation(r=(sign * x, 0, 0), animation=False))
            fixed = {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True)} if sign < 0 and name == "inner" else {}
            hinge = add(name, Revolute(n=(0, 1, 0), useAxisFlange=name == "inner", cylinderDiameter=0.01, **fixed))
            crank = add(f"{name}_crank", BodyCylinder(r=(0, 0, -LENGTH), diameter=0.008))
            end = add(f"{name}_end", Revolute(n=(0, 1, 0), cylinderDiameter=0.01, cylinderLength=0.012))
            self.connect(self.column.frame_b, seat.frame_a)
            self.connect(seat.frame_b, hinge.frame_a)
            self.connect(hinge.frame_b, crank.frame_a)
            self.connect(crank.frame_b, end.frame_a)
            hinges.append(end)
        coupler = add("coupler", BodyBox(r=(sign * OUTER, 0, 0), width=0.03, height=0.01))
        self.connect(hinges[0].frame_b, coupler.frame_a)
        self.connect(coupler.frame_b, hinges[1].frame_b)
        nail = add("nail", BodyBox(r=(0, 0, -BELOW), width=0.03, height=0.006, widthDirection=(0, 1, 0)))
        self.connect(coupler.frame_a, nail.frame_a)
        for i, y in enumerate((-0.01, 0.01), 1):
            tip = add(f"tip{i}", Sphere(radius=TIP, r=(0, y, 0)))
            self.connect(nail.frame_b, tip.frame_a)
