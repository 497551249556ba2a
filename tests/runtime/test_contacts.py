"""Contacts, stops, clutches and brakes run to their end, and where physics says: a small part of `contacts.py`."""

from __future__ import annotations

import dataclasses
import itertools

import contacts
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from thrown_ball import thrown_ball

import mbfmu
from mbfmu.components.contact import RigidContact
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.host import host_library
from mbfmu.runtime.library import Model, RuntimeLibraryError


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("tolerance", contacts.TOLERANCES)
@pytest.mark.parametrize("case", contacts.CASES)
def test_random_contacts_run_to_their_end(case, tolerance):
    assert contacts.swept(case, contacts.drawn(case, 60, 1), tolerance).messages == {}


@pytest.mark.slow
@pytest.mark.campaign
def test_a_spool_that_is_pressed_slowly_off_its_stop_goes_on():
    """Long implicit steps after a flip, whose dense output begins the wrong way (the library's example PreLoad)."""
    amplitudes = {"sine.amplitude": 150.0 * np.linspace(0.99, 1.01, 60), "sine.f": np.full(60, 0.01)}
    found, strict = (
        mbfmu.sweep(
            contacts.Spool(), amplitudes, ["spool.s:trajectory"], 100.0, interval=0.1, tolerance=tolerance, each=True
        )
        for tolerance in (1e-6, 1e-10)
    )
    assert found.messages == strict.messages == {}
    np.testing.assert_allclose(found["spool.s:trajectory"], strict["spool.s:trajectory"], rtol=0, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", contacts.TOLERANCES)
def test_a_mass_that_still_creeps_towards_its_stop_is_pulled_off_it(tolerance):
    """It slides back while its speed is within SLOW on the other side."""
    assert contacts.swept("stopped", contacts.drawn("stopped", 300, 3), tolerance).messages == {}


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("case", ["spool", "train"])
def test_an_implicit_solver_gets_away_from_the_begin_of_contact(case):
    assembly, stop, _, kept = contacts.CASES[case]
    made = assembly()
    made.solver = "implicit"
    values = contacts.drawn(case, 60, 1)
    outputs = [f"{name}:trajectory" for name in kept]
    found = mbfmu.sweep(made, values, outputs, stop, interval=0.01, tolerance=1e-4, each=True)
    assert found.messages == {}


@pytest.mark.slow
def test_what_crosses_in_rounding_errors_gets_past():
    """A mass that leaves its damped contact so slowly that its limit of the force is within rounding for long."""
    values = contacts.drawn("train", 400, 9003)
    few = {name: column[388:389] for name, column in values.items()}
    assert contacts.swept("train", few, 1e-3).messages == {}


@pytest.mark.slow
def test_random_bounces_are_those_of_another_integrator():
    """m s'' = F(t) + c max(-s, 0) with damping limited by it, by SciPy."""
    runs, times = 12, np.linspace(0.0, 1.0, 101)
    values = contacts.drawn("bounce", runs, 3) | {"gap.n": np.ones(runs)}
    found = contacts.swept("bounce", values, 1e-10)["mass.s:trajectory"]
    for run in range(runs):
        v = {name: float(column[run]) for name, column in values.items()}

        def rates(t: float, y: np.ndarray, v: dict[str, float] = v) -> tuple[float, float]:
            spring = v["gap.c"] * max(-y[0], 0.0)
            damper = np.clip(-v["gap.d"] * y[1], -spring, spring) if y[0] < 0 else 0.0
            drive = v["sine.offset"] + v["sine.amplitude"] * np.sin(2 * np.pi * v["sine.f"] * t + v["sine.phase"])
            return y[1], (drive + spring + damper) / v["mass.m"]

        own = solve_ivp(
            rates, (0, 1), (v["mass.s"], v["mass.v"]), "LSODA", times, rtol=1e-12, atol=1e-13, max_step=1e-3
        )
        np.testing.assert_allclose(found[run], own.y[0], rtol=0, atol=1e-5 * (1 + np.abs(own.y[0]).max()))


@pytest.mark.slow
def test_points_without_their_rows_or_held_values_are_refused():
    """A ball has one row along the normal, three along the surface, and 10 held values, without friction 3 of them."""
    system = thrown_ball(RigidContact(geometry_a="ball", geometry_b="ground", e=0.5, mu_k=0.3))
    equations = system.equations
    (point,) = equations.points
    for sliding, modes in itertools.product(range(-1, 6), range(-1, 12)):
        points = (dataclasses.replace(point, sliding=sliding, modes=modes),)
        data = descriptor(dataclasses.replace(equations, points=points), system.variables)
        if sliding in (-1, 1) and 0 <= modes <= len(equations.held_names) - (10 if sliding >= 0 else 3):
            Model(host_library(), data, equations.functions)
        else:
            with pytest.raises(RuntimeLibraryError, match=r"descriptor is refused"):
                Model(host_library(), data, equations.functions)
