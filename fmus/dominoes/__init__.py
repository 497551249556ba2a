"""A row of dominoes: ideal impacts that hand the wave on, and contact that stays closed as they lean on each other."""

from mbfmu.components import BodyBox, Fixed, FixedTranslation, Revolute, World
from mbfmu.components.contact import Box, Plane, RigidContact, Sphere
from mbfmu.modeling import Assembly, Start

#: Height, thickness and width of a domino, and the way from each to the next [m].
HEIGHT, THICKNESS, WIDTH, PITCH = 0.048, 0.0075, 0.024, 0.0255
#: The edge that strikes the next one is a ball of this radius [m], by which the faces that it strikes are farther back.
EDGE = 0.0005
#: How many there are, and the speed at which the first one is pushed over [rad/s].
NUMBER, PUSHED = 8, 6.0


class Domino(Assembly):
    """A domino that topples over its front edge, which stays where it is."""

    def __init__(self, place: float = 0.0, w: float = 0.0) -> None:
        self.edge = Fixed(r=(place, 0, 0), animation=False)
        self.hinge = Revolute(n=(0, 0, -1), phi=Start(0.0, fixed=True), w=Start(w, fixed=True), animation=False)
        self.body = BodyBox(
            r=(0, HEIGHT, 0),
            r_shape=(-THICKNESS / 2, 0, 0),
            length=HEIGHT,
            lengthDirection=(0, 1, 0),
            width=THICKNESS,
            height=WIDTH,
            widthDirection=(1, 0, 0),
            density=1200,
            color=(235, 230, 215),
        )
        self.heel = Sphere(radius=EDGE, r=(-THICKNESS, EDGE, 0), animation=False)
        self.tip = FixedTranslation(r=(0, HEIGHT, 0), animation=False)
        self.ball = Sphere(radius=EDGE, animation=False)
        self.block = Box(
            r=(-(THICKNESS - EDGE) / 2, HEIGHT / 2, 0),
            length=THICKNESS - EDGE,
            width=HEIGHT,
            height=WIDTH,
            animation=False,
        )
        self.connect(self.edge.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.body.frame_a)
        self.connect(self.hinge.frame_b, self.block.frame_a)
        self.connect(self.hinge.frame_b, self.heel.frame_a)
        self.connect(self.hinge.frame_b, self.tip.frame_a)
        self.connect(self.tip.frame_b, self.ball.frame_a)


class Dominoes(Assembly):
    """The first domino of a row is pushed, and each topples the next one."""

    stop_time = 0.6

    def __init__(self, number: int = NUMBER, pushed: float = PUSHED) -> None:
        self.world = World()
        self.table = Plane(n=(0, 1, 0), length=0.3)
        self.connect(self.world.frame_b, self.table.frame_a)
        for i in range(number):
            domino = self.add(f"domino{i + 1}", Domino(place=i * PITCH, w=pushed if i == 0 else 0.0))
            self.add(f"standing{i + 1}", RigidContact(geometry_a=f"domino{i + 1}.heel", geometry_b="table"))
            if i:
                self.add(f"contact{i}", RigidContact(geometry_a=f"domino{i}.ball", geometry_b=f"domino{i + 1}.block"))
            self.output(domino.hinge.phi, f"phi{i + 1}")
        self.add("fallen", RigidContact(geometry_a=f"domino{number}.ball", geometry_b="table"))
        self.figure("Angles of the dominoes", [self.parts[f"domino{i + 1}"].hinge.phi for i in range(number)])
