"""Which variables an FMU shows when nobody says, and when patterns do."""

from __future__ import annotations

import pytest

import mbfmu
from mbfmu.components import Body, Universal, World
from mbfmu.errors import BuildError
from mbfmu.export import selection
from mbfmu.export.selection import shown_of
from mbfmu.modeling import Assembly


class Load(Assembly):
    """What hangs there."""

    def __init__(self) -> None:
        self.body = Body(m=1.0, r_CM=(0.3, 0, 0))


class Hung(Assembly):
    """A body on a universal joint, which is made up of two hinges."""

    def __init__(self) -> None:
        self.world, self.joint = World(), Universal()
        self.load = Load()
        self.connect(self.world.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.load.body.frame_a)
        inner = self.joint.revolute_b
        self.output(inner.frame_b.f[1], "pull")
        self.figure("Load within", [inner.frame_b.t[2]])


@pytest.fixture(scope="module")
def system() -> mbfmu.System:
    return mbfmu.System.of(Hung(), scene=True)


def names(system: mbfmu.System, patterns: tuple[str, ...] = (), fmi: int = 3) -> set[str]:
    return {variable.name for variable in shown_of(system, patterns, fmi, lambda text: None)}


def test_models_are_shown_whole(system: mbfmu.System, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {variable.name for variable in system.variables}
    monkeypatch.setattr(selection, "LARGE", len(system.variables))
    told: list[str] = []
    assert {variable.name for variable in shown_of(system, (), 3, told.append)} == whole
    assert told == []
    assert names(system, ("*",)) == whole
    monkeypatch.setattr(selection, "LARGE", len(system.variables) - 1)
    assert names(system) < whole
    assert names(system, ("*",)) == whole


def test_large_ones_go_without_what_is_within_composites(system: mbfmu.System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "LARGE", 0)
    told: list[str] = []
    shown = {variable.name for variable in shown_of(system, (), 3, told.append)}
    left = {variable.name for variable in system.variables} - shown
    assert told == [f"Leaving out {len(left)} inner variables (--variables '*' keeps all)"]
    assert {"joint.frame_b.f[1]", "joint.revolute_a.tau", "joint.revolute_a.phi_offset", "load.body.m", "time"} <= shown
    assert {"joint.phi_a", "joint.w_b", "joint.revolute_b.a", "pull"} <= shown  # states, outputs
    assert {"joint.revolute_a.n[1]", "joint.revolute_b.e[2]", "joint.revolute_b.frame_b.f[2]"} <= left
    assert {"load.body.I[1,1]", "load.body.frame_a.f[1]"} <= left  # calculated from others; of a connector
    assert "joint.revolute_b.frame_b.t[3]" in shown  # for the figure
    assert "joint.revolute_b.frame_b.t[1]" in left
    assert system.scene is not None
    assert set(system.scene.variables) <= shown


def test_patterns_choose_among_what_is_local(system: mbfmu.System) -> None:
    shown = names(system, ("load.body.frame_a.f", "joint.*.tau"))
    assert {"load.body.frame_a.f[1]", "load.body.frame_a.f[3]", "joint.revolute_b.tau"} <= shown
    assert {"joint.phi_a", "joint.w_b", "load.body.m", "pull", "time"} <= shown  # the interface
    assert not {"load.body.frame_a.t[1]", "joint.revolute_a.angle"} & shown
    with pytest.raises(BuildError, match=r'variables "wheel.*": no variable has such a name; `mbfmu info` lists them'):
        names(system, ("joint.*", "wheel.*"))


def test_time_is_for_fmi_3(system: mbfmu.System) -> None:
    assert names(system, fmi=3) - names(system, fmi=2) == {"time"}
