"""Steps of fixed length cost the same, whatever happens in them."""

from __future__ import annotations

import ctypes
import dataclasses

import pytest

import mbfmu
from mbfmu.runtime.contract import FUNCTIONS
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.host import host_library
from mbfmu.runtime.library import OK, Instance, Model

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Counted:
    """A model in steps of one length whose calls of one of its functions are counted."""

    def __init__(self, name: str, step: float, function: str) -> None:
        system = mbfmu.System.of(mbfmu.load(name))
        equations = dataclasses.replace(system.equations, fixed_step=step)
        content, number = descriptor(equations, system.variables), list(FUNCTIONS).index(function)
        self.model, original = Model(host_library(), content), Model(host_library(), content)
        self.calls = 0

        def call(arg: int, res: int) -> int:
            self.calls += 1
            return int(original.library.evaluate(original.handle, number, arg, res))

        self._call = FUNCTION(call)
        self.model.library.use(self.model.handle, number, 1, ctypes.cast(self._call, ctypes.c_void_p))

    def calls_of_steps(self, step: float, count: int) -> tuple[list[int], int]:
        """Calls in each of the steps, and the number of events in all of them."""
        instance, calls = Instance(self.model), []
        instance.set_up_experiment()
        instance.enter_initialization()
        assert instance.exit_initialization() <= 1
        for k in range(count):
            before = self.calls
            assert instance.do_step(k * step, step) == OK
            calls.append(self.calls - before)
        return calls, instance.statistics()["events"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "step", "count", "events"),
    [("engine_1b", 2e-3, 200, 5), ("planar_loop_release", 5e-3, 200, 1), ("double_pendulum", 1e-2, 100, 0)],
)
def test_every_step_takes_six_evaluations(name, step, count, events):
    calls, happened = Counted(name, step, "dynamics").calls_of_steps(step, count)
    assert happened >= events
    assert calls == [6] * count


@pytest.mark.slow
def test_projecting_takes_few_iterations_through_dead_centres():
    calls, _ = Counted("engine_1b", 1e-3, "constraints").calls_of_steps(1e-3, 400)
    assert set(calls) == {6}
