"""Rest positions against statics on paper."""

from __future__ import annotations

import json

import fmpy
import numpy as np
import pytest
import scipy.optimize
from mechanisms import CartPole, Chain, G, Governor, Suspension

import mbfmu
from mbfmu import cli
from mbfmu.errors import ModelError
from mbfmu.fmus.furuta_pendulum import FurutaPendulum
from mbfmu.fmus.pendulum import Pendulum


def test_a_hanging_chain():
    links, length, span = 6, 0.25, 1.0
    middle = np.arange(links) - (links - 1) / 2
    # the horizontal force is the same in all links, the vertical one changes by a weight at each joint
    steepness = scipy.optimize.brentq(lambda k: length * (1 / np.hypot(1, k * middle)).sum() - span, 1e-3, 100)
    rest = mbfmu.equilibrium(mbfmu.System.of(Chain(links, length, span)), stable=True)
    angles = np.cumsum([rest[f"joints[{i + 1}].phi"] for i in range(links)])
    np.testing.assert_allclose(np.tan(angles), steepness * middle, atol=1e-8)
    assert rest.stability == "marginal"


def test_a_loaded_suspension_stays_where_it_rests():
    system = mbfmu.System.of(Suspension())
    rest = mbfmu.equilibrium(system, start_values={"load": -600.0})
    assert rest["wheel.s"] == pytest.approx(-600.0 / 180000, rel=1e-9)
    assert rest["body.s"] == pytest.approx(-600.0 / 180000 - 600.0 / 20000, rel=1e-9)
    assert rest.stability == "stable"
    run = mbfmu.simulate(system, 10.0, start_values={**rest.start_values, "load": -600.0})
    for name in ("body.s", "wheel.s"):
        assert np.ptp(run[name]) < 1e-9


def test_a_governor_at_its_speed():
    length, speed = 0.5, 7.0
    found = mbfmu.equilibrium(Governor(length), speeds={"shaft.w": speed}, stable=True)
    assert np.cos(found["arm.phi"]) == pytest.approx(G / (speed**2 * length), rel=1e-9)
    assert found["shaft.w"] == pytest.approx(speed)


def test_what_is_indifferent_is_named():
    rest = mbfmu.equilibrium(CartPole(), start_values={"hinge.phi": 0.6})
    assert rest.indifferent == (("slide.s",),)
    assert rest.stability == "indifferent"
    assert np.sin(rest["hinge.phi"]) == pytest.approx(0.0, abs=1e-9)


def test_an_unstable_rest_is_told_as_such():
    assert mbfmu.equilibrium(FurutaPendulum()).stability == "unstable"
    assert np.cos(mbfmu.equilibrium(CartPole(phi=3.1))["hinge.phi"]) == pytest.approx(-1.0)
    assert np.cos(mbfmu.equilibrium(CartPole(phi=3.1), stable=True)["hinge.phi"]) == pytest.approx(1.0)


def test_a_held_coordinate_stays():
    rest = mbfmu.equilibrium(CartPole(), start_values={"force": 5.0}, hold=["slide.s"])
    assert rest["slide.s"] == pytest.approx(0.3)
    with pytest.raises(ModelError, match=r"no rest was found from 2 starts.*hold a coordinate"):
        mbfmu.equilibrium(CartPole(), start_values={"force": 5.0}, starts=2)
    with pytest.raises(ModelError, match=r"'force' is not among its coordinates: slide.s, hinge.phi"):
        mbfmu.equilibrium(CartPole(), hold=["force"])


def test_an_fmu_that_starts_at_rest(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--start", "equilibrium", "--equations", "interpreted", "-o", "rest.fmu"]
    assert cli.main(["build", "pendulum", *options]) == 0
    result = fmpy.simulate_fmu("rest.fmu", stop_time=3.0, output=["rev.phi", "rev.w"])
    np.testing.assert_allclose(result["rev.phi"], -np.pi / 2, atol=1e-9)
    assert np.abs(result["rev.w"]).max() < 1e-9
    capsys.readouterr()
    assert cli.main(["build", "pendulum", "--start", "there"]) == 2
    assert "--start there: the one start that is found is equilibrium" in capsys.readouterr().err


def test_the_command(capsys):
    assert cli.main(["equilibrium", "pendulum", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stability"] == "stable"
    assert found["values"]["rev.phi"] == pytest.approx(mbfmu.equilibrium(Pendulum())["rev.phi"])
    assert found["values"]["rev.phi"] == pytest.approx(-np.pi / 2)
