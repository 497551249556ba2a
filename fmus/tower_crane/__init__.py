"""Tower crane: three drives carry a load that swings; levers move them."""

import math

from mbfmu.components import BodyBox, Fixed, Prismatic, Revolute, Universal, World, blocks, rotational, translational
from mbfmu.components.animation import Animated
from mbfmu.components.parts import Body
from mbfmu.modeling import Assembly, Frame_a, Parameter, Start
from mbfmu.modeling import types as t

YELLOW, STEEL, GLASS, CONCRETE, ORANGE = (226, 172, 58), (120, 128, 136), (88, 116, 140), (168, 168, 162), (198, 98, 62)
HEIGHT, REACH, BACK = 24.0, 26.0, 9.0  # m: of the mast, of the jib and of the counter jib
NEAR, LOW, HIGH = 4.0, 20.5, 4.0  # m: least distance of the trolley, longest and shortest rope


class Truss(Animated):
    """Lattice of square section along a direction of its frame: what one sees, without a mass."""

    frame_a = Frame_a("Coordinate system in which it stands")
    begin = Parameter(t.Position, (0, 0, 0), "Middle of its first section", shape=3, animation=True)
    along = Parameter(t.Axis, (0, 0, 1), "Direction, an axis of the frame", shape=3, animation=True)
    length = Parameter(t.Length, 1.0, "Length", animation=True)
    side = Parameter(t.Length, 1.0, "Side of the section", animation=True)

    def equations(self):
        """It carries nothing."""
        self.frame_a.f, self.frame_a.t = [0, 0, 0], [0, 0, 0]

    def visualize(self):
        """Four chords, and struts to and fro on each face."""
        begin, e, side = (self._component.value(name) for name in ("begin", "along", "side"))
        length = self._component.value("length")
        u, v = [
            axis for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) if not any(a and b for a, b in zip(axis, e, strict=True))
        ]
        count, half = max(round(length / side), 1), side / 2

        def corner(k, distance):
            a, b = ((-1, -1), (1, -1), (1, 1), (-1, 1))[k % 4]
            return [begin[i] + e[i] * distance + half * (a * u[i] + b * v[i]) for i in range(3)]

        def bar(name, start, end, width):
            way = [b - a for a, b in zip(start, end, strict=True)]
            self.draw_shape(name, "box", self.frame_a, r_shape=start, lengthDirection=way, length=math.hypot(*way),
                            widthDirection=u, width=width, color=YELLOW)  # fmt: skip

        for k in range(4):
            bar(f"chord{k + 1}", corner(k, 0), corner(k, length), side / 10)
            for i in range(count):
                ends = (k, k + 1) if i % 2 else (k + 1, k)
                start, end = corner(ends[0], i * length / count), corner(ends[1], (i + 1) * length / count)
                bar(f"strut{k + 1}_{i + 1}", start, end, side / 18)


class Block(Animated):
    """Box about a point of its frame: what one sees, without a mass."""

    frame_a = Frame_a("Coordinate system in which it stands")
    middle = Parameter(t.Position, (0, 0, 0), "Its middle", shape=3, animation=True)
    size = Parameter(t.Length, (1, 1, 1), "Length, width and height along x, y, z", shape=3, animation=True)
    color = Parameter(t.Color, STEEL, "Color", shape=3, animation=True)

    def equations(self):
        """It carries nothing."""
        self.frame_a.f, self.frame_a.t = [0, 0, 0], [0, 0, 0]

    def visualize(self):
        """The box."""
        (x, y, z), (length, width, height) = self._component.value("middle"), self._component.value("size")
        self.draw_shape("box", "box", self.frame_a, r_shape=[x - length / 2, y, z], length=length, width=width,
                        height=height, color=self.color)  # fmt: skip


class TowerCrane(Assembly):
    """A tower crane slews, its trolley travels and its hoist lifts by three levers, -1 to 1; the load swings."""

    stop_time = 30.0

    def __init__(self):
        self.world = World(n=(0, 0, -1), nominalLength=6.0)
        self.top = Fixed(r=(0, 0, HEIGHT), animation=False)
        self.mast = Truss(length=HEIGHT - 1, side=1.8)
        self.foot = Block(size=(5, 5, 0.8), middle=(0, 0, 0.4), color=CONCRETE)
        for part in (self.mast, self.foot):
            self.connect(self.world.frame_b, part.frame_a)

        self.slewing = Revolute(n=(0, 0, 1), useAxisFlange=True, cylinderLength=1.0, cylinderDiameter=2.6,
                                cylinderColor=STEEL, w=Start(0.0, fixed=True))  # fmt: skip
        self.upper = Body(m=22e3, r_CM=(4, 0, 0.5), I_33=1.2e6, I_11=2e4, I_22=1.2e6, animation=False)
        self.jib = Truss(begin=(1, 0, 0.9), along=(1, 0, 0), length=REACH, side=1.3)
        self.counter_jib = Truss(begin=(-BACK, 0, 0.9), along=(1, 0, 0), length=BACK - 1, side=1.3)
        self.head = Truss(begin=(0, 0, 0.5), length=6.0, side=1.2)
        self.cab = Block(middle=(0.6, 1.9, 0.2), size=(2.2, 1.5, 2.2), color=GLASS)
        self.weight = Block(middle=(-BACK + 0.8, 0, -0.1), size=(1.8, 2.2, 3.0), color=CONCRETE)
        self.connect(self.top.frame_b, self.slewing.frame_a)
        for turning in (self.upper, self.jib, self.counter_jib, self.head, self.cab, self.weight):
            self.connect(self.slewing.frame_b, turning.frame_a)

        self.track = Prismatic(n=(1, 0, 0), useAxisFlange=True, v=Start(0.0, fixed=True), animation=False)
        self.trolley = Body(m=400, r_CM=(0, 0, 0), I_11=50, I_22=50, I_33=50, animation=False)
        self.carriage = Block(middle=(0, 0, 0.05), size=(1.8, 1.6, 0.35), color=ORANGE)
        self.gimbal = Universal(
            n_a=(1, 0, 0), n_b=(0, 1, 0), phi_a=Start(0.04, fixed=True), phi_b=Start(0.0, fixed=True),
            w_a=Start(0.0, fixed=True), w_b=Start(0.0, fixed=True), animation=False,
        )  # fmt: skip
        self.rope = Prismatic(n=(0, 0, -1), useAxisFlange=True, boxWidth=0.14, boxColor=(70, 74, 80),
                              v=Start(0.0, fixed=True))  # fmt: skip
        self.hook = Body(m=250, r_CM=(0, 0, -0.4), I_11=20, I_22=20, I_33=20, sphereDiameter=0.7, sphereColor=ORANGE)
        self.load = BodyBox(r=(0, 0, -1.8), r_shape=(0, 0, -1.2), lengthDirection=(0, 0, -1), length=1.8, width=3.2,
                            height=2.2, density=220.0, color=(92, 128, 150))  # fmt: skip
        self.connect(self.slewing.frame_b, self.track.frame_a)
        for frame in (self.trolley.frame_a, self.carriage.frame_a, self.gimbal.frame_a):
            self.connect(self.track.frame_b, frame)
        self.connect(self.gimbal.frame_b, self.rope.frame_a)
        for frame in (self.hook.frame_a, self.load.frame_a):
            self.connect(self.rope.frame_b, frame)

        self.slew_angle = blocks.Integrator(k=0.3)
        self.reach = blocks.LimIntegrator(k=2.0, outMin=NEAR, outMax=REACH, y_start=12.0)
        self.length = blocks.LimIntegrator(k=2.0, outMin=HIGH, outMax=LOW, y_start=14.0)
        self.slew_drive = rotational.Position(f_crit=0.35)
        self.travel_drive = translational.Position(f_crit=0.5)
        self.hoist_drive = translational.Position(f_crit=0.7)
        self.connect(self.slew_angle.y, self.slew_drive.phi_ref)
        self.connect(self.reach.y, self.travel_drive.s_ref)
        self.connect(self.length.y, self.hoist_drive.s_ref)
        self.connect(self.slew_drive.flange, self.slewing.axis)
        self.connect(self.travel_drive.flange, self.track.axis)
        self.connect(self.hoist_drive.flange, self.rope.axis)
        self.input(self.slew_angle.u, "slew", min=-1, max=1, start=0.5)
        self.input(self.reach.u, "travel", min=-1, max=1, start=0.2)
        self.input(self.length.u, "lower", min=-1, max=1, start=0.0)
        self.output(self.gimbal.phi_a, "swing_along")
        self.output(self.gimbal.phi_b, "swing_across")
        self.output(self.track.s, "distance")
        self.output(self.rope.s, "rope_length")
