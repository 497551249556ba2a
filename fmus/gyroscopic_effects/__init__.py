"""Gyroscopic effects: a spinning cylinder on a swinging arm, as a body of its own and as a Rotor1D in the arm."""

from mbfmu.components import BodyCylinder, Fixed, FixedRotation, FixedTranslation, Revolute, Rotor1D, Spherical, World
from mbfmu.modeling import Assembly, Start

X = (1, 0, 0)


class GyroscopicEffects(Assembly):
    """Two equal gyroscopes on ball joints, one in full and one with its rotor in one dimension: they move alike."""

    stop_time = 5.0
    tolerance = 1e-8

    def __init__(self):
        spin = {"phi": Start(0.0, fixed=True), "w": Start(10.0, fixed=True)}
        self.world = World()
        self.fixed = Fixed()
        self.spherical1, self.spherical2 = (Spherical(angles_fixed=True, w_rel_a_fixed=True) for _ in range(2))
        self.bodyCylinder1, self.bodyCylinder3 = (BodyCylinder(r=(0.25, 0, 0), diameter=0.05) for _ in range(2))
        self.fixedRotation1, self.fixedRotation2 = (FixedRotation(n=(0, 1, 0), angle=45) for _ in range(2))
        self.fixedTranslation, self.fixedTranslation1 = (FixedTranslation(r=(-0.1, 0, 0)) for _ in range(2))
        self.bodyCylinder2, self.bodyCylinder4 = (BodyCylinder(r=(0.2, 0, 0), diameter=0.1) for _ in range(2))
        self.revolute = Revolute(n=X, **spin)
        # the moment of inertia of the cylinder about its axis, m r^2 / 2
        self.rotor1D = Rotor1D(J=0.015118914645400886, n=X, **spin)
        self.connect(self.world.frame_b, self.spherical1.frame_a)
        self.connect(self.spherical1.frame_b, self.bodyCylinder1.frame_a)
        self.connect(self.bodyCylinder1.frame_b, self.fixedRotation1.frame_a)
        self.connect(self.fixedRotation1.frame_b, self.revolute.frame_a)
        self.connect(self.revolute.frame_b, self.fixedTranslation.frame_a)
        self.connect(self.fixedTranslation.frame_b, self.bodyCylinder2.frame_a)
        self.connect(self.fixed.frame_b, self.spherical2.frame_a)
        self.connect(self.spherical2.frame_b, self.bodyCylinder3.frame_a)
        self.connect(self.bodyCylinder3.frame_b, self.fixedRotation2.frame_a)
        self.connect(self.fixedRotation2.frame_b, self.rotor1D.frame_a)
        self.connect(self.fixedRotation2.frame_b, self.fixedTranslation1.frame_a)
        self.connect(self.fixedTranslation1.frame_b, self.bodyCylinder4.frame_a)
        self.output(self.bodyCylinder1.body.w_a, "w_with_body")
        self.output(self.bodyCylinder3.body.w_a, "w_with_rotor")
        self.output(self.revolute.w)
        self.output(self.rotor1D.w)
