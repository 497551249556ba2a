"""The gallery at its limits: motions too fast to follow, compiled beside interpreted."""

from __future__ import annotations

import math

import pytest
from hosts import Failed, Library

from mbfmu.components import translational
from mbfmu.dynamics.system import System
from mbfmu.errors import SimulationError
from mbfmu.modeling import Assembly, Start
from mbfmu.runtime.compilers import find_compiler
from mbfmu.runtime.run import run


@pytest.fixture
def system(gallery_system):
    return gallery_system


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("name", "values", "culprit"),
    [
        ("double_pendulum", {"revolute2.w": 1e10}, r"revolute[12]\.(phi|w)"),
        ("rolling_wheel", {"wheel1.der_angles[2]": 1e8}, r"wheel1\.\S+"),
    ],
)
def test_a_motion_too_fast_to_follow_ends_and_names_itself(name, values, culprit, system):
    made = system(name)
    message = rf"more than 1000000 evaluations .* time came to \S+ only: '{culprit}' changes by \S+ per second"
    with pytest.raises(SimulationError, match=message):
        run(made.equations, made.variables, start_values=values, stop_time=1.0, interval=1.0, outputs=["time"])


class TwoOscillators(Assembly):
    """Masses on springs, with a circular frequency [rad/s] each."""

    def __init__(self, first: float, second: float) -> None:
        self.wall = translational.Fixed()
        for name, omega in (("first", first), ("second", second)):
            spring = translational.Spring(c=omega**2)
            mass = translational.Mass(m=1.0, s=Start(0.001, fixed=True), v=Start(0.0, fixed=True))
            setattr(self, f"{name}Spring", spring)
            setattr(self, name, mass)
            self.connect(self.wall.flange, spring.flange_a)
            self.connect(spring.flange_b, mass.flange_a)


@pytest.mark.slow
@pytest.mark.parametrize("fast", ["first", "second"])
def test_of_several_motions_the_one_that_is_too_fast_is_named(fast: str) -> None:
    made = System.of(TwoOscillators(**{"first": 1.0, "second": 1.0} | {fast: 1e7}))
    with pytest.raises(SimulationError, match=rf"evaluations .* only: '{fast}\.[sv]' changes by \S+ per second"):
        run(made.equations, made.variables, stop_time=1.0, interval=1.0, outputs=["time"])


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("name", ["planar_four_bar", "rolling_wheel"])
@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.usefixtures("users_compiler")
def test_compiled_and_interpreted_equations_agree_to_the_last_bit(tmp_path, name, system):
    made = system(name)
    names = [v.name for v in made.variables if v.type == "Real" and v.store != "constant"]
    values = []
    for host in ("compiled", "interpreted", "process"):
        folder = tmp_path / host
        (folder / "resources").mkdir(parents=True)
        slave = Library(host, made.equations, made.variables, folder).slave(tolerance=1e-6).start()
        rows = []
        for _ in range(20):
            slave.step(0.05)
            rows += slave.get(*names)
        values.append(rows)
    assert [math.isnan(v) for v in values[0]].count(True) == 0
    assert values[0] == values[1]
    assert values[0] == values[2]


@pytest.mark.slow
def test_a_step_after_a_failed_one_is_refused(tmp_path, system):
    made = system("double_pendulum")
    slave = Library("process", made.equations, made.variables, tmp_path).slave().start(**{"revolute2.w": 1e10})
    state = slave.save()
    for _ in range(2):
        with pytest.raises(Failed, match="evaluations"):
            slave.step(0.5)
        slave.restore(state)
