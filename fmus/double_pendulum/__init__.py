"""Double pendulum: two steel rods under gravity, the first hinge damped."""

from mbfmu.components import BodyBox, Revolute, World, rotational
from mbfmu.modeling import Assembly, Start


class DoublePendulum(Assembly):
    """Two rods hanging in the gravity field, the first hinge damped."""

    stop_time = 3.0

    def __init__(self):
        self.world = World()
        self.revolute1 = Revolute(useAxisFlange=True, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.damper = rotational.Damper(d=0.1)
        self.boxBody1 = BodyBox(r=(0.5, 0, 0), width=0.06)
        self.revolute2 = Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.boxBody2 = BodyBox(r=(0.5, 0, 0), width=0.06)
        self.connect(self.damper.flange_b, self.revolute1.axis)
        self.connect(self.revolute1.support, self.damper.flange_a)
        self.connect(self.world.frame_b, self.revolute1.frame_a)
        self.connect(self.revolute1.frame_b, self.boxBody1.frame_a)
        self.connect(self.boxBody1.frame_b, self.revolute2.frame_a)
        self.connect(self.revolute2.frame_b, self.boxBody2.frame_a)
        self.output(self.revolute1.phi)
        self.output(self.revolute2.phi)
        self.output(self.boxBody2.frame_b.r_0, "tip")
        self.figure("Angles", [self.revolute1.phi, self.revolute2.phi])
        self.figure("Speeds", {"upper": self.revolute1.w, "lower": self.revolute2.w})
