"""A V6 engine: six loops of crank, connecting rod and piston on one crankshaft, against a fan."""

import math

from mbfmu.components import (
    BodyBox,
    BodyCylinder,
    FixedRotation,
    FixedTranslation,
    Prismatic,
    Revolute,
    RevolutePlanarLoopConstraint,
    World,
    blocks,
    rotational,
)
from mbfmu.components.examples.loops import GasForce2
from mbfmu.modeling import Assembly, Frame_a, Frame_b, Start

X = (1, 0, 0)

#: Angle of each crank on the shaft, degrees, and side of the V.
CRANKS = (-30, 90, -150, -150, 90, -30)
SIDES = (-1, 1, -1, 1, -1, 1)


def turned(degrees, **position):
    """A rotation about x, written as the direction of the new y-axis."""
    angle = math.radians(degrees)
    return FixedRotation(rotationType="TwoAxesVectors", n_y=(0, math.cos(angle), math.sin(angle)), **position)


def assembled(crank):
    """Height of the piston's pin over the shaft [m] and tilt of the connecting rod [rad] at an angle of the crank.

    Guesses that fit: far from them the gas law gives pressures that no solver likes to start from.
    """
    tilt = -math.asin(0.1 * math.sin(crank) / 0.2)
    return 0.1 * math.cos(crank) + 0.2 * math.cos(tilt), tilt


class Cylinder(Assembly):
    """One cylinder: its piece of crankshaft, connecting rod, piston and gas, and where the next one is mounted."""

    def __init__(self, crank, inclination):
        """`crank` and `inclination` are the angles of crank and cylinder about the shaft, degrees."""
        height, tilt = assembled(math.radians(crank - inclination))
        self.cylinder_a = Frame_a("On the engine block")
        self.cylinder_b = Frame_b("Where the next cylinder's block goes on")
        self.crank_a = Frame_a("On the crankshaft")
        self.crank_b = Frame_b("Where the crankshaft goes on")
        self.crankAngle1, self.crankAngle2 = turned(crank), turned(-crank)
        self.crank1 = BodyCylinder(r=(0.1, 0, 0), r_shape=(-0.01, 0, 0), length=0.12, diameter=0.05)
        self.crank2 = BodyBox(r=(0, 0.1, 0), widthDirection=X, width=0.02, height=0.05)
        self.crank3 = BodyCylinder(r=(0.1, 0, 0), r_shape=(-0.01, 0, 0), length=0.12, diameter=0.03)
        self.crank4 = BodyBox(r=(0, -0.1, 0), widthDirection=X, width=0.02, height=0.05)
        self.mid = FixedTranslation(r=(0.05, 0, 0))
        self.b1 = RevolutePlanarLoopConstraint(n=X)
        self.connectingRod = BodyBox(r=(0, 0.2, 0), r_shape=(0, -0.02, 0), widthDirection=X, width=0.02, height=0.06)
        self.b2 = Revolute(n=X, phi=Start(tilt))
        self.piston = BodyCylinder(r=(0, 0.1, 0), diameter=0.1)
        self.cylinder = Prismatic(n=(0, -1, 0), useAxisFlange=True, s=Start(0.32 - height))
        self.cylinderTop = FixedTranslation(r=(0, 0.42, 0))
        self.cylinderInclination = turned(inclination, r=(0.15, 0, 0))
        self.mounting = FixedTranslation(r=(0.2, 0, 0))
        self.gasForce = GasForce2(L=0.22, d=0.1)
        self.connect(self.crank_a, self.crankAngle1.frame_a)
        self.connect(self.crankAngle1.frame_b, self.crank1.frame_a)
        self.connect(self.crank1.frame_b, self.crank2.frame_a)
        self.connect(self.crank2.frame_b, self.crank3.frame_a)
        self.connect(self.crank3.frame_b, self.crank4.frame_a)
        self.connect(self.crank4.frame_b, self.crankAngle2.frame_a)
        self.connect(self.crankAngle2.frame_b, self.crank_b)
        self.connect(self.crank2.frame_b, self.mid.frame_a)
        self.connect(self.mid.frame_b, self.b1.frame_a)
        self.connect(self.b1.frame_b, self.connectingRod.frame_a)
        self.connect(self.connectingRod.frame_b, self.b2.frame_b)
        self.connect(self.b2.frame_a, self.piston.frame_a)
        self.connect(self.piston.frame_b, self.cylinder.frame_b)
        self.connect(self.cylinder.frame_a, self.cylinderTop.frame_b)
        self.connect(self.cylinderTop.frame_a, self.cylinderInclination.frame_b)
        self.connect(self.cylinderInclination.frame_a, self.cylinder_a)
        self.connect(self.cylinder_a, self.mounting.frame_a)
        self.connect(self.mounting.frame_b, self.cylinder_b)
        self.connect(self.gasForce.flange_a, self.cylinder.support)
        self.connect(self.gasForce.flange_b, self.cylinder.axis)


class EngineV6(Assembly):
    """V6 engine with six planar loops and gas forces, a load that grows with the square of the speed."""

    stop_time = 1.01

    def __init__(self):
        self.world = World()
        self.bearing = Revolute(n=X, useAxisFlange=True)
        self.torqueSensor = rotational.TorqueSensor()
        self.load = rotational.Inertia(
            J=1.0, stateSelect="always", phi=Start(0.0, fixed=True), w=Start(10.0, fixed=True)
        )
        self.load2 = rotational.QuadraticSpeedDependentTorque(tau_nominal=-100.0, w_nominal=200.0)
        self.filter = blocks.CriticalDamping(n=2, f=5.0, initType="SteadyState")
        self.connect(self.world.frame_b, self.bearing.frame_a)
        self.connect(self.bearing.axis, self.torqueSensor.flange_a)
        self.connect(self.torqueSensor.flange_b, self.load.flange_a)
        self.connect(self.load.flange_b, self.load2.flange)
        self.connect(self.torqueSensor.tau, self.filter.u)
        block, shaft = self.world.frame_b, self.bearing.frame_b
        for number, (crank, side) in enumerate(zip(CRANKS, SIDES, strict=True), start=1):
            cylinder = self.add(f"cylinder{number}", Cylinder(crank, 30 * side))
            self.connect(block, cylinder.cylinder_a)
            self.connect(shaft, cylinder.crank_a)
            block, shaft = cylinder.cylinder_b, cylinder.crank_b
        self.output(self.load.phi)
        self.output(self.load.w)
        self.output(self.torqueSensor.tau, "engineTorque")
        self.output(self.filter.y, "filteredEngineTorque")
