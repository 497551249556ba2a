"""One cylinder of an engine: crank, connecting rod and piston close a loop, the gas pushes along the piston's axis."""

from mbfmu.components import (
    BodyBox,
    BodyCylinder,
    FixedTranslation,
    Prismatic,
    Revolute,
    RevolutePlanarLoopConstraint,
    World,
    rotational,
)
from mbfmu.components.examples.loops import GasForce2
from mbfmu.modeling import Assembly, Start

X = (1, 0, 0)


class CrankDrive(Assembly):
    """Crankshaft with its flywheel, and the place of the cylinder: what the one-cylinder engines share."""

    stop_time = 0.5

    def __init__(self):
        self.world = World()
        self.bearing = Revolute(n=X, useAxisFlange=True)
        self.inertia = rotational.Inertia(
            J=1.0, stateSelect="always", phi=Start(0.0, fixed=True), w=Start(10.0, fixed=True)
        )
        self.crank1 = BodyCylinder(r=(0.1, 0, 0), diameter=0.05)
        self.crank2 = BodyBox(r=(0, 0.1, 0), widthDirection=X, width=0.02, height=0.05)
        self.crank3 = BodyCylinder(r=(0.1, 0, 0), diameter=0.03)
        self.crank4 = BodyBox(r=(0, -0.1, 0), widthDirection=X, width=0.02, height=0.05)
        self.mid = FixedTranslation(r=(0.05, 0, 0))
        self.cylPosition = FixedTranslation(r=(0.15, 0.45, 0))
        self.piston = BodyCylinder(r=(0, -0.1, 0), diameter=0.1)
        self.connectingRod = BodyBox(r=(0, -0.2, 0), widthDirection=X, width=0.02, height=0.06)
        self.gasForce = GasForce2(L=0.35, d=0.1)
        self.connect(self.world.frame_b, self.bearing.frame_a)
        self.connect(self.inertia.flange_b, self.bearing.axis)
        self.connect(self.bearing.frame_b, self.crank1.frame_a)
        self.connect(self.crank1.frame_b, self.crank2.frame_a)
        self.connect(self.crank2.frame_b, self.crank3.frame_a)
        self.connect(self.crank3.frame_b, self.crank4.frame_a)
        self.connect(self.crank2.frame_b, self.mid.frame_a)
        self.connect(self.world.frame_b, self.cylPosition.frame_a)
        self.output(self.inertia.phi)
        self.output(self.inertia.w)


class Engine1b(CrankDrive):
    """One-cylinder engine with gas force; one hinge of its planar loop is a RevolutePlanarLoopConstraint."""

    def __init__(self):
        super().__init__()
        self.cylinder = Prismatic(n=(0, -1, 0), useAxisFlange=True)
        self.b1 = Revolute(n=X)
        self.b2 = RevolutePlanarLoopConstraint(n=X)
        self.rod1 = FixedTranslation(r=(0, -0.2, 0))
        self.rod3 = FixedTranslation(r=(0, -0.1, 0))
        self.connect(self.cylPosition.frame_b, self.cylinder.frame_a)
        self.connect(self.cylinder.frame_b, self.piston.frame_a)
        self.connect(self.cylinder.frame_b, self.rod3.frame_a)
        self.connect(self.rod3.frame_b, self.b1.frame_a)
        self.connect(self.b1.frame_b, self.rod1.frame_a)
        self.connect(self.b2.frame_b, self.rod1.frame_b)
        self.connect(self.b2.frame_b, self.connectingRod.frame_b)
        self.connect(self.mid.frame_b, self.b2.frame_a)
        self.connect(self.gasForce.flange_a, self.cylinder.support)
        self.connect(self.gasForce.flange_b, self.cylinder.axis)
        self.output(self.cylinder.s)
        self.output(self.gasForce.press)
