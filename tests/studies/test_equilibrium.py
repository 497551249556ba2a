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
from mbfmu.fmus.vehicle import Vehicle


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


def test_a_car_at_constant_speed():
    system = mbfmu.System.of(Vehicle())
    with pytest.raises(ModelError, match="a source moves or pushes it over time, and at 0 s it is under way"):
        mbfmu.equilibrium(system, starts=1)
    still = {"turn.amplitude": 0.0, "torque": 0.0}
    assert mbfmu.equilibrium(system, start_values=still).stability == "indifferent"
    with pytest.raises(ModelError, match=r"'rear\.der_theta[12]' still changes by .*inputs, hold a coordinate"):
        mbfmu.equilibrium(system, start_values={"turn.amplitude": 0.0}, starts=1)  # its engine pushes
    straight = mbfmu.equilibrium(system, start_values=still, speeds={"rear.der_theta1": 20.0})
    assert straight["front.der_theta2"] == pytest.approx(20.0)
    # in a curve all wheels turn about one centre, which lies on the line of the rear axle
    steer, radius, width, base = 0.2, 0.3, 1.2, 2.0
    curve = mbfmu.equilibrium(system, start_values={**still, "turn.offset": steer}, speeds={"rear.der_theta1": 20.0})
    rear, front = base / np.tan(steer), base / np.sin(steer)
    turning = 20.0 * radius / (rear - width / 2)
    wheels = [rear - width / 2, rear + width / 2, front - width / 2, front + width / 2]
    found = [curve[f"{axle}.der_theta{i}"] for axle in ("rear", "front") for i in (1, 2)]
    np.testing.assert_allclose(found, turning * np.array(wheels) / radius, rtol=1e-9)
    assert curve.residual < 1e-9
    assert curve.stability == "undetermined"


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
    with pytest.raises(ModelError, match=r"from 2 starts: 'slide.v' still changes by .* hold a coordinate"):
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
