"""Systems of the Reference FMUs (Modelica Association), where they are given: files of any release, unpacked.

    MBFMU_REFERENCE_FMUS_DIR=~/Reference-FMUs python -m pytest tests/hosts/test_reference_fmus.py

The folder has `2.0` and `3.0`, as the releases have them. Their integrator is Euler's method with a step of its own for
each FMU, so that the references are its recursions, and closed forms of the equations where it converges to them.
"""

from __future__ import annotations

import math
import os
import pathlib

import numpy as np
import pytest

from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.errors import ModelError, SimulationError

#: Steps of the FMUs' integrators, s.
DAHLQUIST, BALL, SPACE = 0.1, 1e-3, 1e-3
#: m/s2, and the share of speed that a bounce leaves.
GRAVITY, REST = 9.81, 0.7
EYE, NONE = np.eye(3), np.zeros((3, 3))


def fmu(name: str, fmi: int) -> pathlib.Path:
    given = os.environ.get("MBFMU_REFERENCE_FMUS_DIR")
    if not given:
        pytest.skip("takes the Reference FMUs: set MBFMU_REFERENCE_FMUS_DIR to the folder that has 2.0 and 3.0")
    path = pathlib.Path(given).expanduser() / f"{fmi}.0" / f"{name}.fmu"
    if not path.is_file():
        pytest.skip(f"there is no {path}")
    return path


def through(name: str, output: str, kind: str, fmi: int) -> SystemStructure:
    """An FMU whose output goes through Feedthrough."""
    files = {"source": fmu(name, fmi), "through": fmu("Feedthrough", fmi)}
    return SystemStructure.of(files, [(f"source.{output}", f"through.{kind}_input")])


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
def test_dahlquist_goes_through(scheme: str, fmi: int) -> None:
    """x = (1 - k h)^n, which is exp(-k t) but for its integrator's h."""
    found = cosimulate(
        through("Dahlquist", "x", "Float64_continuous", fmi), step=DAHLQUIST, stop_time=2.0, scheme=scheme
    )
    x, shown = found["source.x"], found["through.Float64_continuous_output"]
    assert x == pytest.approx((1 - DAHLQUIST) ** np.arange(21), abs=1e-15)
    assert np.abs(x - np.exp(-found.time)).max() < 0.02
    late = 1 if scheme == "jacobi" else 0  # all step with what was reached before
    assert np.array_equal(shown[1:], x[1 - late : 21 - late])


@pytest.mark.parametrize("fmi", [2, 3])
def test_van_der_pol_goes_through(fmi: int) -> None:
    """Its recursion, x1' = x2, x2' = mu (1 - x1^2) x2 - x1."""
    found = cosimulate(
        through("VanDerPol", "x0", "Float64_continuous", fmi), step=0.01, stop_time=2.0, scheme="gauss-seidel"
    )
    expected = [(2.0, 0.0)]
    for _ in range(200):
        a, b = expected[-1]
        expected.append((a + 0.01 * b, b + 0.01 * ((1 - a * a) * b - a)))
    assert np.column_stack([found["source.x0"], found["source.x1"]]) == pytest.approx(np.array(expected), abs=1e-12)
    assert np.array_equal(found["through.Float64_continuous_output"], found["source.x0"])


def test_bounces_end_steps() -> None:
    """Early return in FMI 3.0: bounces are communication points, those of the integrator's recursion."""
    system = through("BouncingBall", "h", "Float64_continuous", 3)
    found = cosimulate(system, stop_time=2.0, tolerance=1e-3)
    speed = found["source.v"]
    bounces = found.time[1:][(speed[:-1] < 0) & (speed[1:] > 0)]
    height, v, expected = 1.0, 0.0, []
    for n in range(1, 2001):
        height, v = height + BALL * v, v - BALL * GRAVITY
        if height <= 0 and v < 0:
            height, v = 0.0, -REST * v
            expected.append(n * BALL)
    assert bounces == pytest.approx(expected, abs=1e-12)
    fall = math.sqrt(2 / GRAVITY)
    assert bounces == pytest.approx(fall * (1 + 2 * np.cumsum([0, REST, REST**2, REST**3])), abs=0.02)
    assert np.array_equal(found["through.Float64_continuous_output"], found["source.h"])


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("step", [0.2, None])
def test_a_stair_climbs_to_its_end(step: float | None, fmi: int) -> None:
    """A step each second; the FMU ends the run on the tenth, where all have come."""
    found = cosimulate(through("Stair", "counter", "Int32", fmi), step=step, stop_time=20.0, scheme="gauss-seidel")
    counter = found["source.counter"]
    jumps = found.time[1:][np.diff(counter) != 0]
    near = 0.0 if step or fmi == 3 else 1e-4  # jumps without events are searched for
    assert jumps == pytest.approx(np.arange(1, 10), abs=near + 1e-12)
    assert "source ends the run at 9 s" in (found.ended or "")
    assert found.time[-1] == pytest.approx(9.0, abs=1e-12)
    assert counter[-1] == 10


def spaces(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> dict[str, object]:
    return {f"{n}.{key}": value for n, some in (("a", a), ("b", b)) for key, value in some.items()}


def state_space() -> SystemStructure:
    file = fmu("StateSpace", 3)
    return SystemStructure.of({"a": file, "b": file}, [("a.y[1]", "b.u[1]"), ("b.y[1]", "a.u[1]")])


def test_two_state_spaces_swing() -> None:
    """x' = v in one, v' = 1 - x in the other: 1 - cos t, and the recursion to rounding with steps of the integrator."""
    push = np.diag([-1.0, 0.0, 0.0]) + np.eye(3, k=1) * [[1.0], [0.0], [0.0]]
    start = spaces(
        {"A": NONE, "B": EYE, "C": EYE, "D": NONE, "u": np.zeros(3)},
        {"A": NONE, "B": push, "C": EYE, "D": NONE, "u": np.array([0.0, 1.0, 0.0])},
    )
    found = cosimulate(state_space(), step=SPACE, stop_time=1.0, start_values=start, outputs=["a.y[1]"])
    matrix, state, expected = np.array([[1, SPACE], [-SPACE, 1]]), np.array([-1.0, 0.0]), []
    for _ in found.time:
        expected.append(1 + state[0])
        state = matrix @ state
    assert found["a.y[1]"] == pytest.approx(expected, abs=1e-12)
    assert np.abs(found["a.y[1]"] - (1 - np.cos(found.time))).max() < SPACE
    options = {"stop_time": 1.0, "start_values": start, "outputs": ["a.y[1]"], "inputs": "best"}
    longer = cosimulate(state_space(), step=0.02, steps={"b": 0.01}, **options)
    assert np.abs(longer["a.y[1]"] - (1 - np.cos(longer.time))).max() < 2 * SPACE
    assert [note.partition(":")[0] for note in longer.account.notes] == ["b and a", "a", "b"]


@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
def test_state_spaces_on_an_algebraic_loop_agree(scheme: str) -> None:
    """x' = 1 - x, y1 = x + y2 / 2, y2 = -3 y1: a loop of the gain 1.5, solved without derivatives of the FMUs."""
    driven, half = np.zeros((3, 3)), np.diag([0.5, 0.0, 0.0])
    driven[0, 1] = 1.0
    start = spaces(
        {"A": -EYE, "B": driven, "C": EYE, "D": half, "u": np.array([0.0, 1.0, 0.0])},
        {"A": NONE, "B": NONE, "C": NONE, "D": -3 * EYE, "u": np.zeros(3)},
    )
    names = ["a.y[1]", "b.y[1]"]
    found = cosimulate(state_space(), step=0.01, stop_time=1.0, scheme=scheme, start_values=start, outputs=names)
    x = 1 - (1 - SPACE) ** np.round(found.time / SPACE)
    assert found["a.y[1]"] == pytest.approx(x / 2.5, abs=1e-12)
    assert found["b.y[1]"] == pytest.approx(-3 * x / 2.5, abs=1e-12)


@pytest.mark.parametrize("fmi", [2, 3])
def test_every_type_goes_round(fmi: int) -> None:
    file = fmu("Feedthrough", fmi)
    kinds = ["Float64_discrete", "Int32", "Boolean", "String", "Enumeration"]
    kinds += ["Float32_continuous", "Int8", "UInt8", "Int16", "UInt16", "UInt32", "Int64", "UInt64"] if fmi == 3 else []
    wires = [(f"{a}.{kind}_output", f"{b}.{kind}_input") for kind in kinds for a, b in (("one", "two"),)]
    given = {f"one.{kind}_input": {"Boolean": True, "String": "ä", "Enumeration": 2}.get(kind, 7) for kind in kinds}
    system = SystemStructure.of({"one": file, "two": file}, wires)
    names = [f"two.{kind}_output" for kind in kinds if kind != "String"]
    found = cosimulate(system, step=0.1, stop_time=0.3, start_values=given, outputs=names)
    assert {name: float(found[name][-1]) for name in names} == {
        name: float(given[name.replace("two", "one").replace("output", "input")]) for name in names
    }


def test_what_is_not_run_is_named() -> None:
    with pytest.raises(SimulationError, match=r"a .*is no FMU for co-simulation"):
        cosimulate(SystemStructure.of({"a": fmu("Clocks", 3)}, []), step=1.0)
    with pytest.raises(SimulationError, match="n = 2: sizes arrays, and is 3"):
        cosimulate(SystemStructure.of({"a": fmu("StateSpace", 3)}, []), step=1.0, start_values={"a.n": 2})
    file = fmu("Feedthrough", 3)
    with pytest.raises(ModelError, match="types Binary and Binary cannot be connected"):
        SystemStructure.of({"a": file, "b": file}, [("a.Binary_output", "b.Binary_input")])
