"""Trees in mbfmu's terms: masses, centres and inertias stay parameters, as in every FMU."""

from __future__ import annotations

from benchmarks.mechanisms import Link, Mechanism
from mbfmu.components import Body, FixedTranslation, FreeMotion, Prismatic, Revolute, World
from mbfmu.modeling import Assembly, Component


class Tree(Assembly):
    """The links of a mechanism without loops: a joint, the translation to it, and the body behind it."""

    stop_time = 1.0

    def __init__(self, mechanism: Mechanism) -> None:
        self.world = World()
        frames = {-1: self.world.frame_b}
        for i, link in enumerate(mechanism.links):
            joint = self.add(link.name, _joint(link))
            I = link.inertia  # noqa: E741
            body = self.add(
                f"body{i}",
                Body(
                    m=link.mass,
                    r_CM=link.center,
                    I_11=I[0, 0],
                    I_22=I[1, 1],
                    I_33=I[2, 2],
                    I_21=I[1, 0],
                    I_31=I[2, 0],
                    I_32=I[2, 1],
                ),
            )
            at = frames[link.parent]
            if any(link.origin):
                arm = self.add(f"arm{i}", FixedTranslation(r=link.origin))
                self.connect(at, arm.frame_a)
                at = arm.frame_b
            self.connect(at, joint.frame_a)
            self.connect(joint.frame_b, body.frame_a)
            frames[i] = joint.frame_b


def _joint(link: Link) -> Component:
    if link.free:
        return FreeMotion()
    return Prismatic(n=link.axis) if link.prismatic else Revolute(n=link.axis)
