"""The n-link chain in mbfmu's terms: masses and lengths stay parameters, as in every FMU."""

from __future__ import annotations

from benchmarks.mechanisms import AXES
from mbfmu.components import BodyBox, Revolute, World
from mbfmu.modeling import Assembly, Start


class Chain(Assembly):
    """Boxes on hinges with axes x, y, z in turn."""

    stop_time = 1.0

    def __init__(self, n: int) -> None:
        self.world = World()
        self.joints = [Revolute(n=AXES[i % 3], phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True)) for i in range(n)]
        self.links = [BodyBox(r=(0.5, 0, 0), width=0.06) for _ in range(n)]
        at = self.world.frame_b
        for joint, link in zip(self.joints, self.links, strict=True):
            self.connect(at, joint.frame_a)
            self.connect(joint.frame_b, link.frame_a)
            at = link.frame_b
        for joint in self.joints:
            self.output(joint.phi)
