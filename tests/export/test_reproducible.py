"""Two builds of the same model, in two folders and at two times, are the same bytes."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from mbfmu.runtime.compilers import find_compiler

pytestmark = pytest.mark.usefixtures("users_compiler")

MODEL = """
from mbfmu import Assembly
from mbfmu.components import Body, Revolute, World, rotational


class Swing(Assembly):
    '''A driven pendulum.'''

    def __init__(self):
        super().__init__()
        self.world = World()
        self.joint = Revolute(useAxisFlange=True)
        self.body = Body(m=1.0, r_CM=[0.5, 0.0, 0.0])
        self.damper = rotational.Damper(d=0.1)
        self.connect(self.world.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.body.frame_a)
        self.connect(self.damper.flange_a, self.joint.support)
        self.connect(self.damper.flange_b, self.joint.axis)
        self.output(self.joint.phi, "phi")
"""

BUILD = """
import pathlib, sys
from mbfmu import build
from mbfmu.cosimulation.ssp import build_ssp
from mbfmu.sources import load

for fmi, equations in ((2, sys.argv[1]), (3, "interpreted")):
    build(load("model.py", ()), f"native_{fmi}.fmu", fmi=fmi, target="native", equations=equations, sources=True)
    build(load("model.py", ()), f"python_{fmi}.fmu", fmi=fmi, target="python")
build_ssp({"one": pathlib.Path("native_2.fmu"), "two": load("model.py", ())}, "system.ssp", connect=(), target="python")
"""


def made(folder: pathlib.Path, seed: str) -> dict[str, bytes]:
    """The files that a process of its own makes there, without what earlier builds have left."""
    for part in (folder, folder / "temporary"):
        part.mkdir()
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    kind = "compiled" if find_compiler() else "interpreted"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "MBFMU_CACHE": "", "TMPDIR": str(folder / "temporary")}
    environment.pop("SOURCE_DATE_EPOCH", None)
    command = [sys.executable, "-c", BUILD, kind]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return {file.name: file.read_bytes() for file in folder.glob("*.[fs][ms][up]")}


@pytest.mark.slow
@pytest.mark.campaign
def test_builds_in_two_folders_and_at_two_times_are_the_same_bytes(tmp_path: pathlib.Path) -> None:
    """The second one begins seconds after the first, with another order of Python's sets."""
    first, second = made(tmp_path / "here", "1"), made(tmp_path / "somewhere_else", "2")
    assert sorted(first) == ["native_2.fmu", "native_3.fmu", "python_2.fmu", "python_3.fmu", "system.ssp"]
    assert [name for name in first if first[name] != second[name]] == []
