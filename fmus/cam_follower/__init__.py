"""Cam with a flat follower: contact by Hunt and Crossley with friction, which ends where the follower jumps."""

from mbfmu.components import BodyBox, BodyCylinder, Fixed, Prismatic, Revolute, World, rotational, translational
from mbfmu.components.contact import Contact, Ellipsoid, Plane
from mbfmu.modeling import Assembly, Start

#: Lift of the follower's face above the cam's axis at the start, where it rests on the cam [m].
LOW = 0.03


class CamFollower(Assembly):
    """An elliptic cam turns ever faster under a follower with a flat face, until the follower jumps."""

    stop_time = 1.7

    def __init__(self):
        self.world = World()
        self.revolute = Revolute(
            useAxisFlange=True, phi=Start(0.0, fixed=True), w=Start(5.0, fixed=True), cylinderLength=0.04
        )
        self.shaft = BodyCylinder(r=(0, 0, 0.03), r_shape=(0, 0, -0.015), diameter=0.012)
        self.cam = Ellipsoid(length=0.1, width=0.06, height=0.02)
        self.motor = rotational.ConstantTorque(tau_constant=0.35)
        self.inertia = rotational.Inertia(J=0.02)
        self.guide = Fixed(r=(0, LOW, 0), animation=False)
        self.prismatic = Prismatic(
            n=(0, 1, 0), useAxisFlange=True, s=Start(-1e-4, fixed=True), v=Start(0.0, fixed=True), animation=False
        )
        self.stem = BodyBox(r=(0, 0.12, 0), width=0.03)
        self.face = Plane(n=(0, -1, 0), length=0.1)
        self.spring = translational.SpringDamper(c=200.0, d=1.0, s_rel0=0.02)
        self.contact = Contact(
            geometry_a="face",
            geometry_b="cam",
            c=1e7,
            n=1.5,
            d=10.0,
            mu_k=0.1,
            c_t=1e5,
            scale=2e-3,
            arrowDiameter=0.004,
        )
        self.connect(self.world.frame_b, self.revolute.frame_a)
        self.connect(self.revolute.frame_b, self.shaft.frame_a)
        self.connect(self.revolute.frame_b, self.cam.frame_a)
        self.connect(self.motor.flange, self.inertia.flange_a)
        self.connect(self.inertia.flange_b, self.revolute.axis)
        self.connect(self.guide.frame_b, self.prismatic.frame_a)
        self.connect(self.prismatic.frame_b, self.stem.frame_a)
        self.connect(self.prismatic.frame_b, self.face.frame_a)
        self.connect(self.prismatic.axis, self.spring.flange_a)
        self.connect(self.prismatic.support, self.spring.flange_b)
        self.output(self.revolute.w, "speed")
        self.output(self.prismatic.s, "lift")
        self.output(self.contact.f_n, "f_n")
        self.figure("Lift of the follower", [self.prismatic.s])
        self.figure("Force of contact", [self.contact.f_n])
