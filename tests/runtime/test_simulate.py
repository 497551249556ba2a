"""The public `mbfmu.simulate` on a System made by hand."""

from __future__ import annotations

import dataclasses
import types

import casadi as ca
import numpy as np
import pytest
from hand_made_models import Draft, oscillator, point_pendulum, variable

from mbfmu.components import World
from mbfmu.components.blocks import Constant
from mbfmu.dynamics.system import System
from mbfmu.errors import InitialConditionsWarning, InitializationError, ModelError, SimulationError
from mbfmu.modeling import Assembly
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


def start_of(name, residuals, guess, **others):
    """Positions from which a run begins whose initial equations are these residuals of theirs."""
    n = len(guess)
    d = Draft(name, q=n, v=n, parameters=list(guess))
    equations = d.equations(
        A=ca.SX.eye(n),
        b=ca.SX.zeros(n),
        guess=ca.vertcat(d.P, ca.SX.zeros(n)),
        initial=ca.vertcat(*residuals(*ca.vertsplit(d.X[:n]))),
        fixed=(False,) * n + (True,) * n,
        **others,
    )
    variables = [variable(f"x{i}", "x", i) for i in range(n)]
    result = simulate(system(equations, variables), 0.01)
    return [result[one.name][0] for one in variables]


def test_a_start_is_found_where_newton_s_steps_lead_to_no_smaller_residuals():
    """Only damped steps go on from where the slope is nearly singular."""

    def residuals(x, y):
        return (
            -0.5 * x**2 - 1.3 * x * y + 2.1 * ca.sin(2 * y) - 0.3 * x + 2.650364355167984,
            0.2 * ca.atan(3 * x) + 0.3 * y**3 - x * y**2 - 2.334483900054117,
        )

    found = start_of("bent", residuals, (0.0, 0.0))
    np.testing.assert_allclose([float(row) for row in residuals(*found)], 0, atol=1e-10)


def test_positions_are_looked_for_within_a_radian_of_each_step():
    """Newton's first step from 1.4 leads to -4.4, behind the next zero of the sine."""
    assert start_of("hinge", lambda x: (ca.sin(x),), (1.4,), equation_stages=(0,)) == pytest.approx([0.0], abs=1e-12)


def test_speeds_that_no_value_suits_while_positions_are_held_begin_at_their_guess_again():
    """atan(v) = 2 + q has no solution at q = 0, where v would run off."""
    d = Draft("reach", q=1, v=1, parameters=[0.0, 0.0])
    equations = d.equations(
        A=ca.SX.eye(1),
        b=ca.SX.zeros(1),
        guess=d.P,
        initial=ca.atan(d.X[1]) - 2 - d.X[0],
        fixed=(False, False),
        equation_stages=(1,),
    )
    with pytest.warns(InitialConditionsWarning, match="x0"):
        result = simulate(system(equations, [variable("x0", "x", 0), variable("x1", "x", 1)]), 0.01)
    q, v = result["x0"][0], result["x1"][0]
    assert np.arctan(v) == pytest.approx(2 + q, abs=1e-10)
    assert abs(v) < 3


def test_an_impossible_start_becomes_an_initialization_error():
    too_far = dataclasses.replace(point_pendulum((True,) * 4), parameters=(2.0, 0.0, 0.0, 0.0, 1.0))
    with pytest.raises(InitializationError, match="pendulum: initialisation fails: 1 of 2"):
        simulate(system(too_far))


def test_a_text_is_not_recorded() -> None:
    """Asked for by name, it is refused; where nothing is asked for, it is left out."""
    model = Assembly()
    model.world, model.constant = World(), Constant(k=1.0)
    made = System.of(model)
    with pytest.raises(ModelError, match=r"'world\.gravityType' is of type String; only numbers are recorded"):
        simulate(made, 0.1, outputs=["constant.y", "world.gravityType"])
    assert "world.gravityType" not in simulate(made, 0.1).names
