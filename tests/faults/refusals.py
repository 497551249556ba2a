"""What the tests of this folder share beside fixtures."""

from __future__ import annotations

import inspect
import pathlib
from collections.abc import Callable, Sequence

from mbfmu import Assembly, Start
from mbfmu.components import Body, Revolute, World, rotational

#: Runs a command that must be refused with a message that has certain words; returns the message.
Refused = Callable[[Sequence[str], Sequence[str]], str]

#: An assembly file without a mistake.
GOOD = """
[world]
[[component]]
name = "j"
class = "MultiBody.Joints.Revolute"
[component.parameters]
phi = {start = 0.1, fixed = true}
[[component]]
name = "b"
class = "MultiBody.Parts.Body"
parameters = {m = 1.0, r_CM = [0.5, 0, 0]}
[[connect]]
a = "world.frame_b"
b = "j.frame_a"
[[connect]]
a = "j.frame_b"
b = "b.frame_a"
"""


class P(Assembly):
    """A driven pendulum."""

    def __init__(self) -> None:
        self.world = World()
        self.j = Revolute(useAxisFlange=True, phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True))
        self.b = Body(m=1.0, r_CM=(0.5, 0, 0))
        self.drive = rotational.Torque(useSupport=True)
        self.connect(self.world.frame_b, self.j.frame_a)
        self.connect(self.j.frame_b, self.b.frame_a)
        self.connect(self.drive.flange, self.j.axis)
        self.connect(self.drive.support, self.j.support)
        self.input(self.drive.tau, "u")
        self.output(self.j.phi)


#: The same as a file.
MODEL = f"""
from mbfmu import Assembly, Start
from mbfmu.components import Body, Revolute, World, rotational


{inspect.getsource(P)}"""


def left_in(folder: pathlib.Path) -> set[str]:
    """Return the files below a folder, but for what Python itself keeps of a module."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
