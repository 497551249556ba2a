"""What is moved from two sides: while both say the same it moves so, and where they part the run ends."""

from __future__ import annotations

import ctypes
import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

import mbfmu
from mbfmu import Assembly
from mbfmu.components import blocks, rotational
from mbfmu.components.interfaces import Flange_b
from mbfmu.errors import SimulationError

TOLD = (
    r"does not hold any more \(off by .*moved from two sides that contradict each other; leave one of them to a force"
)


class Shaft(Assembly):
    """An inertia that is accelerated at one end; `to` holds the other."""

    def __init__(
        self, to: rotational.Fixed | rotational.Accelerate | Flange_b, signal: blocks.Ramp | None = None
    ) -> None:
        self.drive, self.inertia = rotational.Accelerate(), rotational.Inertia(J=1.0)
        self.signal = signal or blocks.Constant(k=1.0)
        self.to = to
        self.connect(self.signal.y, self.drive.a_ref)
        self.connect(self.drive.flange, self.inertia.flange_a)
        self.connect(self.inertia.flange_b, self.to if isinstance(to, Flange_b) else self.to.flange)


def from_both(k: float) -> Shaft:
    """Accelerated at both ends."""
    shaft = Shaft(rotational.Accelerate())
    shaft.other = blocks.Constant(k=k)
    shaft.connect(shaft.other.y, shaft.to.a_ref)
    return shaft


@pytest.mark.slow
def test_two_drives_that_agree_move_it() -> None:
    run = mbfmu.simulate(from_both(1.0), 2.0, interval=0.1)
    np.testing.assert_allclose(run["inertia.phi"], run.time**2 / 2, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [lambda: Shaft(rotational.Fixed()), lambda: from_both(2.0), lambda: Shaft(Flange_b("Axis", motion=True))],
    ids=["held", "driven", "from outside"],
)
@pytest.mark.parametrize("step", [None, 0.01], ids=["variable", "fixed"])
def test_drives_that_contradict_each_other_end_the_run(make, step: float | None) -> None:
    system = mbfmu.System.of(make())
    if step:
        system = dataclasses.replace(system, equations=dataclasses.replace(system.equations, fixed_step=step))
    with pytest.raises(SimulationError, match=TOLD):
        mbfmu.simulate(system, 1.0)


def test_the_run_goes_on_until_they_part() -> None:
    """A drive that rests for 0.5 s, beside one that rests."""
    with pytest.raises(SimulationError, match=r"ends at 0\.5\d* s: .*" + TOLD):
        mbfmu.simulate(Shaft(rotational.Fixed(), blocks.Ramp(startTime=0.5, duration=1.0)), 1.0)


@pytest.mark.slow
def test_the_one_that_parts_is_named_with_how_far() -> None:
    """Beside a shaft whose drives agree: the fixed end is behind the angle that has grown."""
    both = Assembly()
    both.first, both.second = from_both(1.0), Shaft(rotational.Fixed())
    with pytest.raises(
        SimulationError, match=r"'relation 2 of second\.inertia' does not hold.*\(off by -[\d.]+e-0[67]\)"
    ):
        mbfmu.simulate(both, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_model_exchange_stops_and_fails_in_event_mode(
    tmp_path: pathlib.Path, instance_of: Callable[..., Any], fmi: int
) -> None:
    """Who does not stop where a completed step says so is told again."""
    path = mbfmu.build(Shaft(rotational.Fixed()), tmp_path / "shaft.fmu", equations="interpreted", fmi=fmi)
    fmu = instance_of(path, "modelExchange").fmu
    events = fmu.newDiscreteStates if fmi == 2 else fmu.updateDiscreteStates
    events()
    fmu.enterContinuousTimeMode()
    assert tuple(fmu.completedIntegratorStep()) == (False, False)
    states = (ctypes.c_double * 2)(0.01, 0.1)
    fmu.setContinuousStates(states, 2)
    assert tuple(fmu.completedIntegratorStep()) == (True, True)
    fmu.enterEventMode()
    with pytest.raises(FMICallException):
        events()


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_an_fmu_fails_where_they_part(tmp_path: pathlib.Path, kind: str, fmi: int) -> None:
    """As an error of a step, or a completed step that ends the run."""
    shaft = Shaft(rotational.Fixed(), blocks.Ramp(startTime=0.5, duration=1.0))
    path = mbfmu.build(shaft, tmp_path / "shaft.fmu", equations="interpreted", fmi=fmi)
    lines = []
    try:
        run = fmpy.simulate_fmu(
            str(path),
            fmi_type=kind,
            stop_time=1.0,
            output_interval=0.05,
            logger=lambda *told: lines.append(str(told[-1])),
            solver="CVode",
        )
    except Exception:  # FMPy's own, of many kinds
        pass
    else:
        assert run["time"][-1] < 0.7
    assert any("does not hold any more" in line for line in lines)
