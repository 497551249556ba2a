"""The public `mbfmu.simulate` on a System made by hand."""

from __future__ import annotations

import dataclasses
import types

import numpy as np
import pytest
from hand_made_models import oscillator, point_pendulum

from mbfmu.errors import InitializationError, ModelError, SimulationError
from mbfmu.simulation import simulate


def system(equations, variables=()):
    return types.SimpleNamespace(equations=equations, variables=variables, name=equations.name)


def test_a_run_takes_what_the_caller_says():
    result = simulate(system(*oscillator()), 2.0, interval=0.5, tolerance=1e-10, start_values={"s": 0.2}, outputs=["s"])
    np.testing.assert_allclose(result["s"], 0.2 * np.cos(2 * np.arange(5) * 0.5), atol=1e-9)


def test_mistakes_become_errors_for_users():
    model = system(*oscillator())
    with pytest.raises(ModelError, match="oscillator: there is no variable 'mm'; did you mean 'm'"):
        simulate(model, start_values={"mm": 1.0})
    with pytest.raises(ModelError, match="'nothing'"):
        simulate(model, outputs=["nothing"])
    with pytest.raises(SimulationError, match="choose a later stop time"):
        simulate(model, stop_time=-1.0)
    with pytest.raises(SimulationError, match="interval"):
        simulate(model, interval=0.0)
    with pytest.raises(
        ModelError, match='oscillator: the solver "Euler" is unknown; there are auto, explicit, implicit'
    ):
        simulate(model, solver="Euler")


def test_an_impossible_start_becomes_an_initialization_error():
    too_far = dataclasses.replace(point_pendulum((True,) * 4), parameters=(2.0, 0.0, 0.0, 0.0, 1.0))
    with pytest.raises(InitializationError, match="pendulum: initialisation fails: 1 of 2"):
        simulate(system(too_far))
