"""Lane change: a car on double wishbones, on tyres by the Magic Formula."""

from mbfmu.components import FreeMotion, World, rotational, vehicle
from mbfmu.modeling import Assembly, Start


class LaneChange(Assembly):
    """A driver takes a car through a lane change at 20 m/s: rear drive, double wishbones, tyres that slip."""

    stop_time = 5.0

    def __init__(self, speed: float = 20.0):
        self.world = World(n=(0, 0, -1))
        self.road = vehicle.Road(animation=False)
        self.car = vehicle.DoubleWishboneCar(v_start=speed)
        self.free = FreeMotion(
            r_rel_a=Start((0.0, 0.0, 0.3), fixed=True),
            v_rel_a=Start((speed, 0.0, 0.0), fixed=True),
            angles_fixed=True,
            w_rel_a_fixed=True,
            animation=False,
        )
        self.driver = vehicle.Driver(points=((0, 0), (15, 0), (40, 3.5), (65, 3.5), (90, 0), (100, 0)))
        self.engine = rotational.Torque()
        self.differential = rotational.IdealPlanetary(ratio=1.0)
        self.connect(self.world.frame_b, self.free.frame_a)
        self.connect(self.free.frame_b, self.car.frame_a)
        self.connect(self.car.frame_a, self.driver.frame_a)
        self.connect(self.driver.steer, self.car.steer)
        self.connect(self.driver.brake, self.car.brake)
        self.connect(self.driver.torque, self.engine.tau)
        self.connect(self.engine.flange, self.differential.carrier)
        self.connect(self.differential.sun, self.car.axle_rl)
        self.connect(self.differential.ring, self.car.axle_rr)
        self.input(self.driver.v_ref, "speed", start=speed)
        self.output(self.car.r_0[0], "x")
        self.output(self.car.r_0[1], "y")
        self.output(self.car.v)
        self.output(self.car.yawRate)
        self.output(self.car.a_y)
        self.output(self.car.roll)
