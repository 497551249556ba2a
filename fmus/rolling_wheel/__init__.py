"""Rolling wheel: a wheel thrown onto the ground rolls without slipping until it leans far over."""

from mbfmu.components import RollingWheel, World
from mbfmu.modeling import Assembly, Start


class RollingWheelOnGround(Assembly):
    """A wheel that rolls and wobbles on a horizontal plane."""

    stop_time = 4.0

    def __init__(self):
        self.world = World(n=(0, 0, -1))
        self.wheel1 = RollingWheel(
            wheelRadius=0.3,
            wheelMass=2.0,
            wheel_I_axis=0.06,
            wheel_I_long=0.12,
            x=Start(0.2),
            y=Start(0.2),
            der_angles=Start((0, 5, 1)),
        )
        self.output(self.wheel1.x)
        self.output(self.wheel1.y)
        self.output(self.wheel1.angles)
