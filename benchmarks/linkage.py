"""Any planar mechanism of the comparison in mbfmu's terms: plain hinges, masses and lengths as parameters."""

from __future__ import annotations

from benchmarks.mechanisms import AXES, Mechanism
from mbfmu.components import Body, FixedTranslation, Prismatic, Revolute, World
from mbfmu.modeling import Assembly


class Linkage(Assembly):
    """Links on their joints, and a hinge where a closure is: which of its constraints are redundant mbfmu finds out."""

    stop_time = 1.0

    def __init__(self, mechanism: Mechanism) -> None:
        self.world = World()
        links, closures = mechanism.links, mechanism.closures
        self.places = [FixedTranslation(r=link.origin) for link in links]
        self.joints = [Prismatic(n=link.axis) if link.prismatic else Revolute(n=link.axis) for link in links]
        self.bodies = [
            Body(
                m=link.mass,
                r_CM=link.center,
                I_11=link.inertia[0, 0],
                I_22=link.inertia[1, 1],
                I_33=link.inertia[2, 2],
                I_21=link.inertia[1, 0],
                I_31=link.inertia[2, 0],
                I_32=link.inertia[2, 1],
            )
            for link in links
        ]
        self.ends = [FixedTranslation(r=point) for closure in closures for point in closure.points]
        self.hinges = [Revolute(n=AXES[2]) for _ in closures]
        frames = [joint.frame_b for joint in self.joints]
        for i, link in enumerate(links):
            parent = frames[link.parent] if link.parent >= 0 else self.world.frame_b
            self.connect(parent, self.places[i].frame_a)
            self.connect(self.places[i].frame_b, self.joints[i].frame_a)
            self.connect(frames[i], self.bodies[i].frame_a)
        for i, closure in enumerate(closures):
            for side, link_number in enumerate(closure.links):
                self.connect(frames[link_number], self.ends[2 * i + side].frame_a)
            self.connect(self.ends[2 * i].frame_b, self.hinges[i].frame_a)
            self.connect(self.hinges[i].frame_b, self.ends[2 * i + 1].frame_b)

    @staticmethod
    def names(mechanism: Mechanism, what: str) -> list[str]:
        """Variables of the links' joints: their positions, speeds or accelerations (`position`, `speed`, `a`)."""
        found = []
        for i, link in enumerate(mechanism.links):
            letter = {"position": "s" if link.prismatic else "phi", "speed": "v" if link.prismatic else "w", "a": "a"}
            found.append(f"joints[{i + 1}].{letter[what]}")
        return found
