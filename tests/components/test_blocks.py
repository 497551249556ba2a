"""Signal blocks against NumPy, SciPy's signal package and closed forms."""

from __future__ import annotations

import casadi as ca
import fmpy
import numpy as np
import pytest
import scipy
from wiring import run, wired

from mbfmu.components import blocks
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError, SimulationError
from mbfmu.export.build import build
from mbfmu.export.options import TARGETS
from mbfmu.modeling import Start
from mbfmu.simulation import simulate


def test_every_block_has_its_modelica_name():
    for name in blocks.__all__:
        cls = getattr(blocks, name)
        if not isinstance(cls, type):
            continue
        assert cls.modelica_name.startswith("Blocks.")
        assert cls.modelica_name.rsplit(".", 1)[-1] == name
        assert cls.__doc__


# -- sources -----------------------------------------------------------------------------------------------------------


def after(t, start, then, before=0.0):
    return np.where(t >= start - 1e-12, then, before)


SOURCES = {
    "constant": (blocks.Constant(k=3.5), lambda t: 3.5 + 0 * t),
    "clock": (blocks.ContinuousClock(offset=1, startTime=0.5), lambda t: 1 + after(t, 0.5, t - 0.5)),
    "step": (blocks.Step(height=2, offset=-1, startTime=0.5), lambda t: -1 + after(t, 0.5, 2.0)),
    "ramp": (
        blocks.Ramp(height=4, duration=0.8, offset=1, startTime=0.3),
        lambda t: 1 + 4 * np.clip((t - 0.3) / 0.8, 0, 1),
    ),
    "ramp without duration": (blocks.Ramp(height=4, duration=0, startTime=0.3), lambda t: after(t, 0.3, 4.0)),
    "sine": (
        blocks.Sine(amplitude=2, f=1.5, phase=0.3, offset=0.1, startTime=0.4),
        lambda t: 0.1 + after(t, 0.4, 2 * np.sin(3 * np.pi * (t - 0.4) + 0.3)),
    ),
    "continuous sine": (
        blocks.Sine(amplitude=2, f=1.5, phase=0.3, startTime=0.4, continuous=True),
        lambda t: 2 * np.sin(3 * np.pi * np.maximum(t - 0.4, 0) + 0.3),
    ),
    "cosine": (blocks.Cosine(amplitude=2, f=1.5, phase=0.3), lambda t: 2 * np.cos(3 * np.pi * t + 0.3)),
    "damped sine": (
        blocks.ExpSine(f=2, damping=1.2, startTime=0.2),
        lambda t: after(t, 0.2, np.exp(-1.2 * (t - 0.2)) * np.sin(4 * np.pi * (t - 0.2))),
    ),
    "exponentials": (
        blocks.Exponentials(outMax=2, riseTime=0.6, riseTimeConst=0.2, fallTimeConst=0.4, startTime=0.1),
        lambda t: after(
            t,
            0.1,
            np.where(
                t < 0.7 - 1e-12, 2 * (1 - np.exp(-(t - 0.1) / 0.2)), 2 * (1 - np.exp(-3)) * np.exp(-(t - 0.7) / 0.4)
            ),
        ),
    ),
    "expression": (blocks.RealExpression(y=lambda time: ca.sin(time) ** 2), lambda t: np.sin(t) ** 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", SOURCES)
def test_sources(case):
    source, expected = SOURCES[case]
    result = run(s=source, stop=2.0)
    np.testing.assert_allclose(result["s.y"], expected(result.time), atol=1e-12)


def test_vectors_spread_numbers_over_their_elements():
    result = run(s=blocks.Sine(amplitude=(1, 2, 3), f=0.5, phase=(0, 1, 2), startTime=(0, 0.5, 1)), stop=2.0)
    for i, (amplitude, start) in enumerate(((1, 0), (2, 0.5), (3, 1))):
        expected = after(result.time, start, amplitude * np.sin(np.pi * (result.time - start) + i))
        np.testing.assert_allclose(result[f"s.y[{i + 1}]"], expected, atol=1e-12)


def test_expressions_take_numbers_and_vectors():
    result = run(
        a=blocks.RealExpression(),
        b=blocks.RealExpression(y=2.5),
        c=blocks.RealExpression(y=lambda time: [time, 2 * time]),
    )
    np.testing.assert_array_equal(result["a.y"], 0.0)
    np.testing.assert_array_equal(result["b.y"], 2.5)
    np.testing.assert_allclose(result["c.y[2]"], 2 * result.time)
    with pytest.raises(ModelError, match="expected a number"):
        System.of(wired(a=blocks.RealExpression(y="time")))


def phase_of(t, start, period):
    return np.mod(np.round(t - start, 9), period)


PERIODIC = {
    "pulse": (
        blocks.Pulse(amplitude=2, period=0.7, width=30, offset=1, startTime=0.2),
        lambda t: 1 + after(t, 0.2, 2.0 * (phase_of(t, 0.2, 0.7) < 0.21 - 1e-12)),
        1 * 3 + 2 * 0.21 * 4,
    ),
    "saw tooth": (
        blocks.SawTooth(amplitude=2, period=0.5, startTime=0.1),
        lambda t: after(t, 0.1, 2 * phase_of(t, 0.1, 0.5) / 0.5),
        5 * 0.5 + 0.4**2 * 2,
    ),
    "two teeth": (
        blocks.SawTooth(amplitude=2, period=0.5, nperiod=2, startTime=0.1),
        lambda t: np.where((t >= 0.1 - 1e-12) & (t < 1.1 - 1e-12), 2 * phase_of(t, 0.1, 0.5) / 0.5, 0),
        1.0,
    ),
    "trapezoid": (
        blocks.Trapezoid(period=1.0, rising=0.1, width=0.3, falling=0.2),
        lambda t: np.interp(phase_of(t, 0, 1), [0, 0.1, 0.4, 0.6, 1], [0, 1, 1, 0, 0]),
        3 * 0.45,
    ),
    "nothing": (blocks.Pulse(period=0.5, nperiod=0, offset=1), lambda t: 1 + 0 * t, 3.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", PERIODIC)
def test_periodic_sources_and_their_integrals(case):
    source, expected, integral = PERIODIC[case]
    result = run("s.y - i.u", s=source, i=blocks.Integrator(), stop=3.0, step=0.01)
    np.testing.assert_allclose(result["s.y"], expected(result.time), atol=1e-9)
    assert result["i.y"][-1] == pytest.approx(integral, abs=1e-9)


def test_a_source_without_end_runs_on_far_beyond_the_experiment():
    assembly = wired("s.y - i.u", "t.y[0] - j.u", stop=1.0, s=blocks.Pulse(period=0.01), i=blocks.Integrator(),
                     t=blocks.CombiTimeTable(table=((0, 0), (0.02, 1), (0.03, 0)), extrapolation="Periodic"),
                     j=blocks.Integrator())  # fmt: skip
    result = simulate(assembly, 50.0, interval=0.1, tolerance=1e-10)
    np.testing.assert_allclose(result["i.y"], result.time / 2, atol=1e-9)
    whole = np.floor(result.time / 0.03 + 1e-9)
    within = result.time - 0.03 * whole
    rest = np.where(within < 0.02, within**2 / 0.04, 0.01 + (0.005 - (0.03 - within) ** 2 / 0.02))
    np.testing.assert_allclose(result["j.y"], whole * 0.015 + rest, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_events_in_fmus(tmp_path, target):
    """Integrals over signals that jump are exact where the runtime stops at their instants, located or known."""
    assembly = wired(
        "pulse.y - i.u",
        "table.y[0] - j.u",
        "wave.y - abs.u",
        "abs.y - k.u",
        pulse=blocks.Pulse(period=0.7, width=30, startTime=0.2),
        table=blocks.CombiTimeTable(table=((0, 0), (0.5, 1), (0.5, -1), (0.8, 2)), extrapolation="Periodic"),
        wave=blocks.Sine(f=1),
        abs=blocks.Abs(generateEvent=True),
        **{name: blocks.Integrator() for name in "ijk"},
        stop=3.25,
    )
    for name in "ijk":
        assembly.output(getattr(assembly, name).y, name)
    path = build(assembly, tmp_path / "events.fmu", target=target, equations="interpreted")
    result = fmpy.simulate_fmu(str(path), stop_time=3.25, output_interval=0.05, relative_tolerance=1e-10)
    assert result["i"][-1] == pytest.approx(4 * 0.21 + 0.21, abs=1e-9)
    assert result["j"][-1] == pytest.approx(4 * (0.25 + 0.15) + 0.05**2, abs=1e-9)
    assert result["k"][-1] == pytest.approx(13 / (2 * np.pi), abs=1e-9)


TABLE = ((0, 0, 1), (1, 0, 2), (1, 1, 2), (2, 4, 0), (3, 9, 1))


def columns(result, name="t"):
    return np.column_stack([result[f"{name}.y[1]"], result[f"{name}.y[2]"]])


def test_linear_tables_jump_where_times_are_equal():
    result = run(t=blocks.CombiTimeTable(table=TABLE), s=blocks.TimeTable(table=[row[:2] for row in TABLE]), stop=4.0)
    t = result.time
    first = np.where(t < 1 - 1e-12, 0, np.interp(t, [1, 2, 3], [1, 4, 9]) + 5 * np.maximum(t - 3, 0))
    second = np.interp(t, [0, 1, 2, 3], [1, 2, 0, 1]) + np.maximum(t - 3, 0)
    np.testing.assert_allclose(columns(result), np.column_stack([first, second]), atol=1e-12)
    np.testing.assert_allclose(result["s.y"], first, atol=1e-12)


def test_constant_segments_and_held_ends():
    result = run(
        t=blocks.CombiTimeTable(table=TABLE, smoothness="ConstantSegments"),
        h=blocks.CombiTimeTable(table=TABLE, extrapolation="HoldLastPoint"),
        stop=4.0,
    )
    t = np.round(result.time, 9)
    beyond = 9 + 5 * (t - 3)  # the last two points, as in Modelica
    np.testing.assert_allclose(result["t.y[1]"], np.select([t < 1, t < 2, t < 3], [0, 1, 4], beyond), atol=1e-12)
    np.testing.assert_allclose(result["h.y[2]"], np.interp(t, [0, 1, 2, 3], [1, 2, 0, 1]), atol=1e-12)


def test_tables_shift_scale_and_repeat():
    rows = ((0, 0), (1, 2), (2, 1))
    result = run(
        "p.y[0] - i.u",
        stop=9.0,
        p=blocks.CombiTimeTable(table=rows, extrapolation="Periodic"),
        i=blocks.Integrator(),
        s=blocks.CombiTimeTable(
            table=rows, timeScale=3.0, shiftTime=1.5, startTime=0.9, offset=(10.0,), extrapolation="HoldLastPoint"
        ),
    )
    t = result.time
    np.testing.assert_allclose(result["p.y[1]"], np.interp(np.mod(np.round(t, 9), 2), [0, 1, 2], [0, 2, 1]), atol=1e-9)
    assert result["i.y"][-1] == pytest.approx(4 * 2.5 + 1.0, abs=1e-9)
    inside = np.interp((t - 1.5) / 3, [0, 1, 2], [0, 2, 1])
    np.testing.assert_allclose(result["s.y[1]"], 10 + after(t, 0.9, inside), atol=1e-12)


def test_smooth_tables_pass_through_their_points_with_continuous_derivative():
    rows = ((0, 0), (0.5, 1), (1, 0.5), (2, 2), (3, 2))
    result = run(
        "t.y[0] - d.u",
        t=blocks.CombiTimeTable(table=rows, smoothness="ContinuousDerivative"),
        d=blocks.Der(),
        stop=3.0,
        step=0.001,
    )
    at = {round(float(t), 6): y for t, y in zip(result.time, result["t.y[1]"], strict=True)}
    assert [at[x] for x, _ in rows] == pytest.approx([y for _, y in rows], abs=1e-12)
    assert np.max(np.abs(np.diff(result["d.y"]))) < 0.03
    np.testing.assert_allclose(np.gradient(result["t.y[1]"], result.time)[5:-5], result["d.y"][5:-5], atol=2e-2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"table": ((0, 1), (2, 2), (1, 3))}, "time falls from 2 in row 2 to 1"),
        ({"table": (0, 1, 2)}, "expected rows of time"),
        ({"table": ((0, 1), (1, 2)), "columns": (3,)}, "no column 3"),
        ({"table": ((0, 1), (0, 2)), "smoothness": "ContinuousDerivative"}, "jumps"),
        ({"table": ((0, 1), (1, 2)), "smoothness": "Splines"}, "LinearSegments"),
        ({"table": ((0, 1), (1, 2)), "columns": (2, 2), "offset": (0, 0, 0)}, r"t: 2 columns and 3 offsets; .*one for"),
        ({"tableOnFile": True, "fileName": "a.txt", "tableName": "t"}, r"t\.fileName = 'a\.txt': cannot be read"),
    ],
)
def test_bad_tables(given, message):
    with pytest.raises(ModelError, match=message):
        System.of(wired(t=blocks.CombiTimeTable(**given)))


def test_tables_without_extrapolation_end():
    with pytest.raises(SimulationError, match="table's range of 0 to 1"):
        run(t=blocks.CombiTimeTable(table=((0, 1), (1, 2)), extrapolation="NoExtrapolation"), stop=2.0)


@pytest.mark.slow
@pytest.mark.parametrize(("end", "speed", "acceleration"), [(2.0, 1.0, 2.0), (2.0, 5.0, 1.0), (-1.0, 0.5, 4.0)])
def test_point_to_point_motion(end, speed, acceleration):
    """The quickest way is bang-bang in acceleration, cut off at the greatest speed."""
    result = run(
        "k.qd[0] - i.u",
        "k.qdd[0] - j.u",
        "j.y - jj.u",
        stop=5.0,
        k=blocks.KinematicPTP2(q_end=(end, end / 2), qd_max=speed, qdd_max=acceleration, startTime=0.3),
        i=blocks.Integrator(),
        j=blocks.Integrator(),
        jj=blocks.Integrator(),
    )
    ramp = min(speed / acceleration, np.sqrt(abs(end) / acceleration))
    arrival = 0.3 + ramp + abs(end) / (acceleration * ramp)
    moving = result.time < arrival - 1e-9
    assert np.all(np.abs(result["k.q[1]"][~moving] - end) < 1e-9)
    assert np.all(np.abs(result["k.q[1]"][moving] - end) > 0)
    assert np.max(np.abs(result["k.qd[1]"])) <= speed + 1e-9
    assert np.max(np.abs(result["k.qdd[1]"])) == pytest.approx(acceleration)
    np.testing.assert_allclose(result["i.y"], result["k.q[1]"], atol=1e-8)
    np.testing.assert_allclose(result["jj.y"], result["k.q[1]"], atol=1e-8)
    np.testing.assert_allclose(result["k.q[2]"], result["k.q[1]"] / 2, atol=1e-12)


def test_point_to_point_acceleration_and_rest():
    result = run(
        k=blocks.KinematicPTP(deltaq=(1.0, -2.0), qd_max=10, qdd_max=2),
        z=blocks.KinematicPTP(deltaq=0, qd_max=1, qdd_max=1),
        stop=3.0,
    )
    assert result["k.y[2]"][[1, 60, -1]] == pytest.approx([-2.0, 2.0, 0.0])
    np.testing.assert_allclose(result["k.y[1]"], -result["k.y[2]"] / 2)
    np.testing.assert_array_equal(result["z.y[1]"], 0.0)


def test_vectors_must_fit():
    with pytest.raises(ModelError, match="amplitude has 2, f has 3 elements"):
        System.of(wired(s=blocks.Sine(amplitude=(1, 2), f=(1, 2, 3))))
    with pytest.raises(ModelError, match=r"3 elements.*1 elements"):
        System.of(wired("s.y - g.u", s=blocks.Constant(k=(1, 2, 3)), g=blocks.Gain(k=1)))


# -- mathematics -------------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "Abs": np.abs,
    "Acos": np.arccos,
    "Asin": np.arcsin,
    "Atan": np.arctan,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Exp": np.exp,
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Tan": np.tan,
    "Tanh": np.tanh,
    "To_deg": np.rad2deg,
    "From_deg": np.deg2rad,
    "To_rpm": lambda u: u * 60 / (2 * np.pi),
    "From_rpm": lambda u: u * 2 * np.pi / 60,
    "RealPassThrough": lambda u: u,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    result = run("s.y - f.u", s=blocks.Sine(amplitude=0.9, f=1), f=getattr(blocks, name)())
    np.testing.assert_allclose(result["f.y"], FUNCTIONS[name](result["s.y"]), atol=1e-12)


@pytest.mark.parametrize(("name", "function"), [("Sqrt", np.sqrt), ("Log", np.log), ("Log10", np.log10)])
def test_functions_of_positive_numbers(name, function):
    result = run("s.y - f.u", s=blocks.Sine(amplitude=0.9, f=1, offset=1), f=getattr(blocks, name)())
    np.testing.assert_allclose(result["f.y"], function(result["s.y"]), atol=1e-12)


TWO = {
    "Add": np.add,
    "Feedback": np.subtract,
    "Product": np.multiply,
    "Division": np.divide,
    "Max": np.maximum,
    "Min": np.minimum,
    "Atan2": np.arctan2,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_signals(name):
    result = run(
        "a.y - f.u1",
        "b.y - f.u2",
        a=blocks.Sine(f=1),
        b=blocks.Cosine(f=0.35, amplitude=0.8),
        f=getattr(blocks, name)(),
    )
    np.testing.assert_allclose(result["f.y"], TWO[name](result["a.y"], result["b.y"]), atol=1e-9)


def test_sums_and_gains():
    result = run(
        "a.y - sum.u",
        "a.y - multi.u",
        "a.y - product.u",
        "a.y - matrix.u",
        "a.y - gain.u",
        "a.y[0] - three.u1",
        "a.y[1] - three.u2",
        "a.y[2] - three.u3",
        "a.y[0] - two.u1",
        "a.y[1] - two.u2",
        "a.y[1] - power.u",
        a=blocks.Sine(amplitude=(1, 2, 3), f=(0.5, 1, 2), offset=0.1),
        sum=blocks.Sum(nin=3),
        multi=blocks.MultiSum(nu=3, k=(1, -1, 2)),
        product=blocks.MultiProduct(nu=3),
        matrix=blocks.MatrixGain(K=((1, 2, 3), (0, 0, 1))),
        gain=blocks.Gain(k=(1, 2, 3)),
        three=blocks.Add3(k1=1, k2=2, k3=3),
        two=blocks.Add(k1=-1, k2=0.5),
        power=blocks.Power(base=2.0),
    )
    a, b, c = (result[f"a.y[{i}]"] for i in (1, 2, 3))
    for name, expected in {
        "sum.y": a + b + c,
        "multi.y": a - b + 2 * c,
        "product.y": a * b * c,
        "matrix.y[1]": a + 2 * b + 3 * c,
        "matrix.y[2]": c,
        "gain.y[3]": 3 * c,
        "three.y": a + 2 * b + 3 * c,
        "two.y": -a + b / 2,
        "power.y": 2.0**b,
    }.items():
        np.testing.assert_allclose(result[name], expected, atol=1e-12, err_msg=name)


def test_angles_and_polar_coordinates():
    result = run(
        "a.y - w.u",
        "a.y - p.u",
        "x.y - polar.u_re",
        "y.y - polar.u_im",
        "polar.y_abs - back.u_abs",
        "polar.y_arg - back.u_arg",
        a=blocks.Ramp(height=20, duration=1, offset=-10),
        w=blocks.WrapAngle(),
        p=blocks.WrapAngle(positiveRange=True),
        x=blocks.Cosine(f=1, amplitude=2),
        y=blocks.Sine(f=2),
        polar=blocks.RectangularToPolar(),
        back=blocks.PolarToRectangular(),
    )
    np.testing.assert_allclose(np.exp(1j * result["w.y"]), np.exp(1j * result["a.y"]), atol=1e-12)
    assert np.all(np.abs(result["w.y"]) <= np.pi)
    assert np.all((result["p.y"] >= 0) & (result["p.y"] < 2 * np.pi))
    np.testing.assert_allclose(result["polar.y_abs"], np.hypot(result["x.y"], result["y.y"]), atol=1e-12)
    np.testing.assert_allclose(result["back.y_im"], result["y.y"], atol=1e-12)


def test_kinks_with_events():
    """The integral over |sin| is exact only where the integrator stops at the kinks."""
    result = run(
        "s.y - f.u",
        "f.y - i.u",
        "s.y - g.u",
        "g.y - j.u",
        s=blocks.Sine(f=1),
        f=blocks.Abs(generateEvent=True),
        g=blocks.Sign(generateEvent=True),
        i=blocks.Integrator(),
        j=blocks.Integrator(),
        stop=2.25,
    )
    assert result["i.y"][-1] == pytest.approx(9 / (2 * np.pi), abs=1e-9)
    assert result["j.y"][-1] == pytest.approx(0.25, abs=1e-9)


def test_routing():
    result = run(
        "a.y - m.u1",
        "b.y - m.u2",
        "m.y - d.u",
        "m.y - e.u",
        "a.y[0] - r.u",
        a=blocks.Constant(k=(1, 2)),
        b=blocks.Constant(k=(3, 4, 5)),
        m=blocks.Multiplex2(n1=2, n2=3),
        d=blocks.DeMultiplex3(n1=1, n2=3, n3=1),
        e=blocks.ExtractSignal(nin=5, nout=2, extract=(4, 1)),
        r=blocks.Replicator(nout=3),
    )
    expected = {"m.y[5]": 5, "d.y1[1]": 1, "d.y2[3]": 4, "d.y3[1]": 5, "e.y[1]": 4, "e.y[2]": 1, "r.y[3]": 1}
    assert {name: result[name][0] for name in expected} == expected
    with pytest.raises(ModelError, match="from 1 to nin = 2"):
        System.of(wired("a.y - e.u", a=blocks.Constant(k=(1, 2)), e=blocks.ExtractSignal(nin=2, nout=1, extract=(3,))))


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_limits_and_dead_zones(strict):
    result = run(
        "s.y - l.u",
        "s.y - v.u",
        "hi.y - v.limit1",
        "lo.y - v.limit2",
        "s.y - d.u",
        "l.y - i.u",
        s=blocks.Sine(amplitude=2, f=1),
        l=blocks.Limiter(uMax=1.2, uMin=-0.5, strict=strict),
        v=blocks.VariableLimiter(strict=strict),
        d=blocks.DeadZone(uMax=0.7),
        hi=blocks.Cosine(f=0.2, offset=1),
        lo=blocks.Constant(k=-0.3),
        i=blocks.Integrator(),
    )
    u = result["s.y"]
    np.testing.assert_allclose(result["l.y"], np.clip(u, -0.5, 1.2), atol=1e-9)
    np.testing.assert_allclose(result["v.y"], np.clip(u, -0.3, result["hi.y"]), atol=1e-9)
    np.testing.assert_allclose(result["d.y"], u - np.clip(u, -0.7, 0.7), atol=1e-9)
    clipped = np.linspace(0, 1, 2_000_001)
    assert result["i.y"][-1] == pytest.approx(np.mean(np.clip(2 * np.sin(2 * np.pi * clipped), -0.5, 1.2)), abs=1e-6)


def test_limits_of_a_signal_that_depends_on_time_alone():
    result = run(
        "s.y - l.u", s=blocks.RealExpression(y=lambda time: 2 * ca.sin(time)), l=blocks.Limiter(uMax=1), stop=6.0
    )
    np.testing.assert_allclose(result["l.y"], np.clip(2 * np.sin(result.time), -1, 1), atol=1e-9)


def test_limits_must_be_in_order():
    with pytest.raises(Exception, match="uMax is smaller than uMin"):
        run("s.y - l.u", s=blocks.Constant(k=0), l=blocks.Limiter(uMax=-1, uMin=1))


def test_limiters_behind_limiters_settle_at_the_jump_itself():
    # each would be at its limit for a moment if those before it still passed the whole step on
    result = run(
        "s.y - a.u", "a.y - g.u", "g.y - b.u", "b.y - h.u", "h.y - c.u",
        s=blocks.Step(height=10, startTime=0.5), a=blocks.Limiter(uMax=1), g=blocks.Gain(k=3),
        b=blocks.Limiter(uMax=2), h=blocks.Gain(k=2), c=blocks.Limiter(uMax=5),
    )  # fmt: skip
    after = result["time"] >= 0.5
    np.testing.assert_array_equal(result["b.y"], np.where(after, 2.0, 0.0))
    np.testing.assert_array_equal(result["c.y"], np.where(after, 4.0, 0.0))


def test_slew_rates():
    result = run("s.y - r.u", s=blocks.Step(startTime=0.2), r=blocks.SlewRateLimiter(Rising=2, Td=1e-3), stop=1.0)
    np.testing.assert_allclose(result["r.y"], np.clip(2 * (result.time - 0.2), 0, 1), atol=3e-3)


@pytest.mark.parametrize("strict", [True, False])
def test_slew_rates_differ_up_and_down(strict):
    """A step of 3 up at 4 per second, and of 2 down at 2.5 per second."""
    result = run(
        "s.y - r.u",
        s=blocks.Pulse(amplitude=3, offset=-1, period=2, width=50),
        r=blocks.SlewRateLimiter(Rising=4, Falling=-2.5, Td=1e-3, strict=strict, initType="InitialOutput", y_start=-1),
        stop=1.8,
    )
    t = result.time
    np.testing.assert_allclose(result["r.y"], np.where(t < 1, np.minimum(4 * t - 1, 2), 2 - 2.5 * (t - 1)), atol=4e-3)


def test_limited_integrator_stops_and_comes_back():
    result = run(
        "s.y - i.u",
        s=blocks.Pulse(amplitude=2, offset=-1, period=4, width=50),
        i=blocks.LimIntegrator(outMax=1, outMin=-0.5),
        stop=4.0,
    )
    t = result.time
    np.testing.assert_allclose(result["i.y"], np.where(t < 2, np.minimum(t, 1), np.maximum(3 - t, -0.5)), atol=1e-8)


# -- filters and controllers -------------------------------------------------------------------------------------------


def response(numerator, denominator, t, u):
    """Output of a transfer function at rest, by SciPy, exact for piecewise linear input."""
    return scipy.signal.lsim((numerator, denominator), u, t)[1]


FILTERS = {
    "integrator": (blocks.Integrator(k=2), [2], [1, 0]),
    "first order": (blocks.FirstOrder(k=2, T=0.3), [2], [0.3, 1]),
    "second order": (blocks.SecondOrder(k=2, w=5, D=0.4), [50], [1, 4, 25]),
    "derivative": (blocks.Derivative(k=2, T=0.1), [2, 0], [0.1, 1]),
    "PI": (blocks.PI(k=3, T=0.4), [1.2, 3], [0.4, 0]),
    # 2 (1 + 1/(0.5 s) + 0.2 s / (0.04 s + 1))
    "PID": (blocks.PID(k=2, Ti=0.5, Td=0.2, Nd=5), [0.24, 1.08, 2], [0.02, 0.5, 0]),
    "transfer function": (blocks.TransferFunction(b=(1, 2), a=(0.5, 1.2, 4)), [1, 2], [0.5, 1.2, 4]),
    "direct transfer": (blocks.TransferFunction(b=(3, 1), a=(2, 5)), [3, 1], [2, 5]),
    "gain": (blocks.TransferFunction(b=(3,), a=(2,)), [3], [2]),
    "critical damping": (
        blocks.CriticalDamping(n=3, f=2, normalized=False),
        [1],
        np.polymul([1 / (4 * np.pi), 1], np.polymul([1 / (4 * np.pi), 1], [1 / (4 * np.pi), 1])),
    ),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("case", FILTERS)
def test_filters_against_scipy(case):
    block, numerator, denominator = FILTERS[case]
    result = run("s.y - f.u", s=blocks.TimeTable(table=((0, 0), (0.5, 1), (1, -0.5), (2, 0.5))), f=block, stop=2.0)
    expected = response(numerator, denominator, result.time, result["s.y"])
    np.testing.assert_allclose(result["f.y"], expected, atol=2e-7)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_state_space_against_scipy():
    a, b, c, d = [[0, 1], [-4, -0.6]], [[0, 1], [1, 0]], [[1, 0]], [[0, 0.5]]
    result = run(
        "s.y - f.u",
        s=blocks.CombiTimeTable(table=((0, 0, 1), (1, 1, 0), (2, 0, 1))),
        f=blocks.StateSpace(A=a, B=b, C=c, D=d),
        stop=2.0,
    )
    u = np.column_stack([result["s.y[1]"], result["s.y[2]"]])
    np.testing.assert_allclose(result["f.y[1]"], scipy.signal.lsim((a, b, c, d), u, result.time)[1], atol=1e-7)
    with pytest.raises(ModelError, match="do not fit"):
        blocks.StateSpace(A=a, B=[[1]], C=c)


def test_normalised_critical_damping_passes_3_dB_at_its_frequency():
    result = run(
        "s.y - f.u",
        s=blocks.Sine(f=2),
        f=blocks.CriticalDamping(n=4, f=2, initType="SteadyState"),
        stop=5.0,
        step=0.002,
    )
    assert np.max(result["f.y"][1500:]) == pytest.approx(np.sqrt(0.5), rel=1e-4)


STARTS = {
    "integrator": (lambda init: blocks.Integrator(initType=init, y_start=3), {"InitialOutput": 3, "InitialState": 3}),
    "first order": (
        lambda init: blocks.FirstOrder(k=2, T=0.5, initType=init, y_start=3),
        {"InitialOutput": 3, "InitialState": 3, "SteadyState": 1.4, "NoInit": 3},
    ),
    "second order": (
        lambda init: blocks.SecondOrder(k=2, w=3, D=0.1, initType=init, y_start=3, yd_start=1),
        {"InitialOutput": 3, "SteadyState": 1.4},
    ),
    "derivative": (
        lambda init: blocks.Derivative(k=2, T=0.5, initType=init, y_start=3, x_start=0.2),
        {"InitialOutput": 3, "SteadyState": 0, "InitialState": 2.0},
    ),
    "PI": (
        lambda init: blocks.PI(k=2, T=0.5, initType=init, y_start=3, x_start=0.3),
        {"InitialOutput": 3, "InitialState": 2.0},
    ),
    "critical damping": (
        lambda init: blocks.CriticalDamping(f=1, initType=init, y_start=3, x_start=(1, 2)),
        {"InitialOutput": 3, "InitialState": 2, "SteadyState": 0.7},
    ),
    "transfer function": (
        lambda init: blocks.TransferFunction(b=(1,), a=(1, 2, 4), initType=init, y_start=3, x_start=(0, 0.5)),
        {"InitialOutput": 3, "InitialState": 0.5, "SteadyState": 0.175},
    ),
    "PID": (
        lambda init: blocks.PID(k=2, Ti=0.5, Td=0.1, initType=init, y_start=3, xi_start=0.3, xd_start=0.7),
        {"InitialOutput": 3, "InitialState": 2.0},
    ),
    "slew rate": (
        lambda init: blocks.SlewRateLimiter(initType=init, y_start=3),
        {"InitialOutput": 3, "SteadyState": 0.7},
    ),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize(("case", "init"), [(case, init) for case in STARTS for init in STARTS[case][1]])
def test_ways_to_start(case, init):
    make, expected = STARTS[case]
    result = run("c.y - f.u", c=blocks.Constant(k=0.7), f=make(init), stop=0.01)
    assert result["f.y"][0] == pytest.approx(expected[init], abs=1e-9)


def test_where_the_output_starts_the_other_rates_are_zero():
    """Of states that are derivatives of each other, all but the last are 0; of a filter, they are its input."""
    result = run(
        "c.y - f.u",
        "c.y - g.u",
        c=blocks.Constant(k=0.7),
        f=blocks.TransferFunction(b=(1,), a=(1, 2, 4, 8), initType="InitialOutput", y_start=3),
        g=blocks.CriticalDamping(n=3, f=1, initType="InitialOutput", y_start=3),
        stop=0.01,
    )
    assert [result[f"f.x[{i}]"][0] for i in (1, 2, 3)] == pytest.approx([0, 0, 3], abs=1e-12)
    assert [result[f"g.x[{i}]"][0] for i in (1, 2, 3)] == pytest.approx([0.7, 0.7, 3], abs=1e-12)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_start_values_of_outputs_that_are_states():
    result = run(
        "c.y - f.u",
        "c.y - g.u",
        c=blocks.Constant(k=0),
        f=blocks.FirstOrder(T=1, y=Start(2.0, fixed=True)),
        g=blocks.SecondOrder(w=1, D=1, y={"start": 3.0, "fixed": True}),
        stop=1.0,
    )
    np.testing.assert_allclose(result["f.y"], 2 * np.exp(-result.time), atol=1e-8)
    np.testing.assert_allclose(result["g.y"], 3 * (1 + result.time) * np.exp(-result.time), atol=1e-8)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_vectors_of_filters():
    result = run("s.y - f.u", s=blocks.Constant(k=(1, 2)), f=blocks.FirstOrder(T=(0.5, 1.0)), stop=1.0)
    np.testing.assert_allclose(result["f.y[2]"], 2 * (1 - np.exp(-result.time)), atol=1e-8)
    np.testing.assert_allclose(result["f.y[1]"], 1 - np.exp(-2 * result.time), atol=1e-8)


def test_derivatives_are_exact():
    result = run("s.y - d.u", "d.y - dd.u", s=blocks.Sine(f=1, amplitude=2), d=blocks.Der(), dd=blocks.Der())
    t = result.time
    np.testing.assert_allclose(result["d.y"], 4 * np.pi * np.cos(2 * np.pi * t), atol=1e-9)
    np.testing.assert_allclose(result["dd.y"], -8 * np.pi**2 * np.sin(2 * np.pi * t), atol=1e-9)


def closed_loop(**settings):
    """A controller that drives an integrator to 1."""
    return run(
        "set.y - pid.u_s",
        "plant.y - pid.u_m",
        "pid.y - plant.u",
        set=blocks.Constant(k=1.0),
        plant=blocks.Integrator(),
        pid=blocks.LimPID(**settings),
        stop=20.0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["P", "PI", "PD", "PID"])
def test_limited_controllers_reach_the_setpoint_within_limits(kind):
    result = closed_loop(controllerType=kind, k=2.0, Ti=2.0, Td=0.05, yMax=0.4)
    assert np.max(np.abs(result["pid.y"])) <= 0.4 + 1e-9
    assert result["plant.y"][-1] == pytest.approx(1.0, abs=1e-3)
    assert np.max(result["plant.y"]) < 1.1


def test_proportional_controller_against_its_closed_form():
    """Limited to 0.5 until the error has come down to 0.25, exponential from then on."""
    result = closed_loop(controllerType="P", k=2.0, yMax=0.5)
    t = result.time
    expected = np.where(t < 1.5, t / 2, 1 - 0.25 * np.exp(-2 * (t - 1.5)))
    np.testing.assert_allclose(result["plant.y"], expected, atol=1e-8)
    np.testing.assert_allclose(result["pid.controlError"], 1 - result["plant.y"], atol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_limited_controller_starts_at_its_output_without_feed_forward():
    """What y_start says is the output of the gain; 1.5 times the feed-forward signal comes on top."""
    result = run(
        "s.y - pid.u_s", "m.y - pid.u_m", "f.y - pid.u_ff",
        s=blocks.Constant(k=0.5), m=blocks.Constant(k=0.2), f=blocks.Constant(k=0.4),
        pid=blocks.LimPID(
            k=2.0, Ti=0.5, Td=0.1, yMax=9, initType="InitialOutput", y_start=0.3,
            withFeedForward=True, kFF=1.5,
        ),
        stop=0.01, step=0.01,
    )  # fmt: skip
    assert result["pid.gainPID.y"][0] == pytest.approx(0.3, abs=1e-9)
    assert result["pid.y"][0] == pytest.approx(0.3 + 1.5 * 0.4, abs=1e-9)


def test_feed_forward():
    result = run(
        "z.y - pid.u_s",
        "z.y - pid.u_m",
        "f.y - pid.u_ff",
        z=blocks.Constant(k=0),
        f=blocks.Sine(f=1),
        pid=blocks.LimPID(yMax=2, withFeedForward=True, kFF=1.5),
    )
    np.testing.assert_allclose(result["pid.y"], 1.5 * result["f.y"], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (blocks.GreaterThreshold, lambda u: u > 0.5),
        (blocks.GreaterEqualThreshold, lambda u: u >= 0.5),
        (blocks.LessThreshold, lambda u: u < 0.5),
        (blocks.LessEqualThreshold, lambda u: u <= 0.5),
    ],
)
@pytest.mark.parametrize("constant", [False, True])
def test_thresholds_at_above_and_below(cls, expected, constant):
    """A ramp through the threshold, and a signal that stays on it."""
    source = blocks.Constant(k=0.5) if constant else blocks.Ramp(height=1.0, duration=1.0)
    result = run("source.y - block.u", source=source, block=cls(threshold=0.5), step=0.04)
    np.testing.assert_array_equal(result["block.y"], expected(result["source.y"]).astype(float))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (blocks.Greater, lambda a, b: a > b),
        (blocks.GreaterEqual, lambda a, b: a >= b),
        (blocks.Less, lambda a, b: a < b),
        (blocks.LessEqual, lambda a, b: a <= b),
    ],
)
def test_comparisons_switch_between_signals(cls, expected):
    result = run(
        "a.y - compare.u1",
        "b.y - compare.u2",
        "compare.y - switch.u2",
        "a.y - switch.u1",
        "b.y - switch.u3",
        a=blocks.Sine(amplitude=1.0, f=1.0),
        b=blocks.Constant(k=0.3),
        compare=cls(),
        switch=blocks.Switch(),
        step=0.04,
    )
    a, b = result["a.y"], result["b.y"]
    np.testing.assert_array_equal(result["compare.y"], expected(a, b).astype(float))
    np.testing.assert_array_equal(result["switch.y"], np.where(expected(a, b), a, b))
