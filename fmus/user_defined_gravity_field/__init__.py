"""A long heavy pendulum in a gravity field of the user's own: the WGS84 ellipsoid's, over height and latitude."""

import math

import casadi as ca

from mbfmu.components import Body, FixedTranslation, Revolute, World, rotational
from mbfmu.modeling import Assembly, Start

# World Geodetic System 1984 (NIMA TR8350.2, table 3.1 to 3.4): ellipsoid, rotation, field, gravity on its surface
A, B = 6378137.0, 6356752.3142
F, E2 = 1 / 298.257223563, 8.1819190842622e-2**2
G_EQUATOR, G_POLE = 9.7803253359, 9.8321849378
OMEGA, GM = 7292115e-11, 3986004.418e8


def normal_gravity(height, latitude=0.0):
    """Normal gravity [m/s2] at a height over the ellipsoid [m] and a geodetic latitude [rad] (TR8350.2, section 4)."""
    s2 = math.sin(latitude) ** 2
    k = B / A * (G_POLE / G_EQUATOR) - 1
    m = OMEGA**2 * A**2 * B / GM
    surface = G_EQUATOR * (1 + k * s2) / math.sqrt(1 - E2 * s2)
    relative = height / A
    return surface * (1 - relative * (2 * (1 + F + m - 2 * F * s2) + 3 * relative))


def gravity(r):
    """Gravity acceleration [m/s2] at the position r [m], y pointing upwards from the equator."""
    return ca.vertcat(0, -normal_gravity(r[1]), 0)


class UserDefinedGravityField(Assembly):
    """A ton on a rod of ten metres, hinged twenty metres above the equator."""

    stop_time = 10.0
    tolerance = 1e-9

    def __init__(self):
        self.world = World(gravityAcceleration=gravity)
        self.fixedTranslation = FixedTranslation(r=(0, 20, 0))
        self.rev = Revolute(useAxisFlange=True, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.damper = rotational.Damper(d=0.1)
        self.body = Body(m=1000.0, r_CM=(10, 0, 0))
        self.connect(self.world.frame_b, self.fixedTranslation.frame_a)
        self.connect(self.fixedTranslation.frame_b, self.rev.frame_a)
        self.connect(self.rev.frame_b, self.body.frame_a)
        self.connect(self.rev.support, self.damper.flange_a)
        self.connect(self.damper.flange_b, self.rev.axis)
        self.output(self.rev.phi)
        self.output(self.body.g_0, "gravity")
