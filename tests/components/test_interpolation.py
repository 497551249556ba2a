"""Interpolation in tables, and tables of signals and from files, against NumPy and SciPy."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import scipy.io
from drive_blocks import Wave
from scipy.interpolate import Akima1DInterpolator, PchipInterpolator, RegularGridInterpolator
from wiring import run, wired

from mbfmu.components import blocks
from mbfmu.components.interpolation import end_slopes, segments
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError, SimulationError
from mbfmu.simulation import simulate

X = [0.0, 0.5, 1.0, 2.0, 2.5, 4.0]
Y = [0.0, 1.0, 0.5, 2.0, 2.0, 2.5]
ROWS = np.column_stack([X, Y])


def values(smoothness: str, at: np.ndarray) -> np.ndarray:
    laws, x = segments(X, Y, smoothness), np.array(X)
    return np.array([float(ca.DM(laws[min(np.searchsorted(x, v, "right") - 1, len(laws) - 1)](v))) for v in at])


@pytest.mark.parametrize(
    ("smoothness", "reference"),
    [
        ("LinearSegments", lambda v: np.interp(v, X, Y)),
        ("ConstantSegments", lambda v: np.array(Y)[np.minimum(np.searchsorted(X, v, "right") - 1, len(X) - 2)]),
        ("ContinuousDerivative", Akima1DInterpolator(X, Y)),
        ("ModifiedContinuousDerivative", Akima1DInterpolator(X, Y, method="makima")),
    ],
)
def test_segments_against_numpy_and_scipy(smoothness, reference):
    at = np.linspace(0, 4, 81)[:-1]
    np.testing.assert_allclose(values(smoothness, at), reference(at), atol=1e-12)


@pytest.mark.slow
def test_monotone_splines():
    """Fritsch and Butland's slopes are those of SciPy's PCHIP inside; neither spline leaves the range of its points."""
    slopes = [float(v) for v in end_slopes(X, Y, "MonotoneContinuousDerivative1")]
    np.testing.assert_allclose(slopes[1:-1], PchipInterpolator(X, Y).derivative()(X)[1:-1], atol=1e-12)
    at = np.linspace(0, 4, 401)[:-1]
    for smoothness in ("MonotoneContinuousDerivative1", "MonotoneContinuousDerivative2"):
        found = values(smoothness, at)
        low = np.minimum(np.array(Y)[:-1], Y[1:])[np.searchsorted(X, at, "right") - 1]
        high = np.maximum(np.array(Y)[:-1], Y[1:])[np.searchsorted(X, at, "right") - 1]
        assert np.all(found >= low - 1e-12)
        assert np.all(found <= high + 1e-12)
    # Steffen: the slope at (2, 0) of (0, 0), (1, 1), (2, 0) ... is 0, at 1 on a straight line it is the line's
    assert [float(v) for v in end_slopes([0, 1, 3], [0, 1, 3], "MonotoneContinuousDerivative2")] == [1, 1, 1]
    assert [float(v) for v in end_slopes([0, 1, 2], [0, 1, 4], "MonotoneContinuousDerivative2")] == [1, 2, 3]


def test_a_table_of_a_signal_extrapolates_as_it_is_told():
    swing = {"s": Wave(amplitude=4.0, omega=2.0, offset=2.0)}
    tables = {
        "last": blocks.CombiTable1Ds(table=ROWS),
        "hold": blocks.CombiTable1Ds(table=ROWS, extrapolation="HoldLastPoint"),
        "again": blocks.CombiTable1Ds(table=ROWS, extrapolation="Periodic"),
        "smooth": blocks.CombiTable1Ds(table=ROWS, smoothness="ContinuousDerivative"),
    }
    result = run(*(f"s.y - {name}.u" for name in tables), stop=3.0, **swing, **tables)
    u = result["s.y"]
    below, above = np.minimum(u, 0.0), np.maximum(u - 4.0, 0.0)
    linear = np.interp(u, X, Y)
    np.testing.assert_allclose(result["hold.y[1]"], linear, atol=1e-9)
    np.testing.assert_allclose(result["last.y[1]"], linear + 2.0 * below + above / 3.0, atol=1e-9)
    np.testing.assert_allclose(result["again.y[1]"], np.interp(np.mod(u, 4.0), X, Y), atol=1e-9)
    spline = Akima1DInterpolator(X, Y)
    slope = spline.derivative()
    expected = spline(np.clip(u, 0.0, 4.0 - 1e-12)) + slope(0.0) * below + slope(4.0 - 1e-12) * above
    np.testing.assert_allclose(result["smooth.y[1]"], expected, atol=1e-8)


def test_several_columns_share_an_input_or_have_their_own():
    table = ((0, 0, 1), (1, 2, -1), (3, 0, 5))
    result = run(
        "a.y - one.u",
        "a.y - own.u[0]",
        "b.y - own.u[1]",
        stop=3.0,
        a=blocks.ContinuousClock(),
        b=blocks.Ramp(height=-3.0, duration=3.0, offset=3.0),
        one=blocks.CombiTable1Ds(table=table),
        own=blocks.CombiTable1Dv(table=table, columns=(3, 2)),
    )
    t = result.time
    np.testing.assert_allclose(result["one.y[2]"], np.interp(t, [0, 1, 3], [1, -1, 5]), atol=1e-12)
    np.testing.assert_allclose(result["own.y[1]"], np.interp(t, [0, 1, 3], [1, -1, 5]), atol=1e-12)
    np.testing.assert_allclose(result["own.y[2]"], np.interp(3 - t, [0, 1, 3], [0, 2, 0]), atol=1e-9)


def test_a_surface_is_interpolated_in_both_directions():
    table = ((0, 1, 2, 4), (0, 1, 3, 2), (2, 5, 0, 1), (3, 4, 4, -1))
    result = run(
        "a.y - surface.u1",
        "b.y - surface.u2",
        stop=5.0,
        a=Wave(amplitude=1.4, omega=2.0, offset=1.5),
        b=Wave(amplitude=1.4, omega=3.1, offset=2.5),
        surface=blocks.CombiTable2Ds(table=table),
    )
    grid = RegularGridInterpolator(([0, 2, 3], [1, 2, 4]), np.array(table, dtype=float)[1:, 1:])
    points = np.column_stack([result["a.y"], result["b.y"]])
    np.testing.assert_allclose(result["surface.y"], grid(points), atol=1e-9)


def _akima_points(x, z):
    """Points along the first axis with two more at either end: distances and rises go on as they are there."""
    x = np.r_[2 * x[0] - x[2], x[0] + x[1] - x[2], x, x[-1] + x[-2] - x[-3], 2 * x[-1] - x[-3]]
    z = np.vstack([z[:2], z, z[:2]])
    for at, step in ((1, 1), (0, 1), (-2, -1), (-1, -1)):
        near, next_, far = at + step, at + 2 * step, at + 3 * step
        rises = (z[next_] - z[near]) / (x[next_] - x[near]), (z[far] - z[next_]) / (x[far] - x[next_])
        z[at] = z[near] + (2 * rises[0] - rises[1]) * (x[at] - x[near])
    return x, z


def _akima_weights(rises):
    weights = np.abs([rises[3] - rises[2], rises[1] - rises[0]])
    return weights / weights.sum() if weights.sum() > 1e-12 else np.array([0.5, 0.5])


def _akima_surface(x, y, z, u, v):
    """Akima's surface (Communications of the ACM 17, 1974) at (u, v), straight from the paper; linear beyond."""
    wide, grown = _akima_points(x, z)
    tall, grown = _akima_points(y, grown.T)
    grown = grown.T

    def point(i, j):
        rows, columns = slice(i, i + 5), slice(j, j + 5)
        c = np.diff(grown[rows, j + 2]) / np.diff(wide[rows])
        d = np.diff(grown[i + 2, columns]) / np.diff(tall[columns])
        w, s = _akima_weights(c), _akima_weights(d)
        patches = np.outer(np.diff(wide[i + 1 : i + 4]), np.diff(tall[j + 1 : j + 4]))
        twist = np.diff(np.diff(grown[i + 1 : i + 4, j + 1 : j + 4], axis=0), axis=1) / patches
        return np.array([[z[i, j], s @ d[1:3]], [w @ c[1:3], w @ twist @ s]])

    def hermite(at, value):
        if not at[0] <= value <= at[-1]:
            end = 0 if value < at[0] else len(at) - 1
            return {end: np.array([1, value - at[end]])}
        k = min(int(np.searchsorted(at, value, "right")) - 1, len(at) - 2)
        h = at[k + 1] - at[k]
        s = (value - at[k]) / h
        left = np.array([(1 + 2 * s) * (1 - s) ** 2, h * s * (1 - s) ** 2])
        return {k: left, k + 1: np.array([s * s * (3 - 2 * s), h * s * s * (s - 1)])}

    return sum(a @ point(i, j) @ b for i, a in hermite(x, u).items() for j, b in hermite(y, v).items())


@pytest.mark.slow
@pytest.mark.parametrize("extrapolation", ["LastTwoPoints", "HoldLastPoint", "Periodic"])
def test_a_smooth_surface_is_akimas(extrapolation):
    x, y = np.array([0, 1, 2.5, 3, 5]), np.array([0, 0.7, 1, 3, 4, 4.5])
    z = np.random.default_rng(1).normal(size=(5, 6))
    z[2:, 3:] = 0  # flat, where all weights vanish
    table = np.block([[np.zeros((1, 1)), y[None]], [x[:, None], z]])
    result = run(
        "a.y - surface.u1",
        "b.y - surface.u2",
        stop=3.0,
        a=Wave(amplitude=3.5, omega=2.0, offset=2.5),
        b=Wave(amplitude=3.0, omega=3.1, offset=2.2),
        surface=blocks.CombiTable2Ds(table=table, smoothness="ContinuousDerivative", extrapolation=extrapolation),
    )
    u, v = result["a.y"], result["b.y"]
    if extrapolation == "HoldLastPoint":
        u, v = np.clip(u, 0, 5), np.clip(v, 0, 4.5)
    elif extrapolation == "Periodic":
        u, v = np.mod(u, 5), np.mod(v, 4.5)
    expected = [_akima_surface(x, y, z, *at) for at in zip(u, v, strict=True)]
    np.testing.assert_allclose(result["surface.y"], expected, atol=1e-12)


def test_surfaces_of_few_points_and_of_polynomials_are_exact():
    """Akima's slopes of parabolas with points at equal distances are exact, and two points give a straight line."""
    u, v = np.arange(5.0), np.arange(6.0) / 2
    rule = lambda p, q: (p**2 - 3 * p + 1) * (2 * q**2 - q)  # noqa: E731
    numbers = np.block([[np.zeros((1, 1)), v[None]], [u[:, None], rule(u[:, None], v)]])
    tables = {
        "parabolas": numbers,
        "bilinear": ((0, 0, 3), (0, 1, 2), (4, 3, -1)),
        "row": ((0, 0, 1, 2, 3), (5, 1, 3, 2, 2)),
    }
    surfaces = {
        name: blocks.CombiTable2Ds(table=table, smoothness="ContinuousDerivative") for name, table in tables.items()
    }
    wires = (f"{source}.y - {name}.{end}" for name in tables for source, end in (("a", "u1"), ("b", "u2")))
    waves = {"a": Wave(amplitude=2.0, omega=2.0, offset=2.0), "b": Wave(amplitude=1.25, omega=3.1, offset=1.25)}
    result = run(*wires, stop=3.0, **waves, **surfaces)
    p, q = result["a.y"], result["b.y"]
    np.testing.assert_allclose(result["parabolas.y"], rule(p, q), atol=1e-12)
    np.testing.assert_allclose(result["bilinear.y"], 1 + p / 2 + q / 3 - 5 * p * q / 12, atol=1e-12)
    np.testing.assert_allclose(result["row.y"], Akima1DInterpolator([0, 1, 2, 3], [1, 3, 2, 2])(q), atol=1e-12)


def test_a_surface_of_steps_is_held_beyond_its_border():
    """The value of the row and the column that come last before a place."""
    table = ((0, 0, 1, 2), (0, 1, 3, 2), (1, 5, 0, 1), (3, 7, 4, 6))
    places = {"inside": (2.0, 1.5, 0.0), "beyond": (4.0, 0.5, 7.0), "before": (-1.0, 9.0, 2.0)}
    inputs = {f"{end}_{name}": blocks.Constant(k=at[i]) for name, at in places.items() for i, end in enumerate("ab")}
    surfaces = {
        name: blocks.CombiTable2Ds(table=table, smoothness="ConstantSegments", extrapolation="HoldLastPoint")
        for name in places
    }
    wires = (f"{source}_{name}.y - {name}.{end}" for name in places for source, end in (("a", "u1"), ("b", "u2")))
    result = run(*wires, stop=0.1, step=0.1, **inputs, **surfaces)
    assert {name: result[f"{name}.y"][0] for name in places} == {name: at[2] for name, at in places.items()}


def test_a_surface_of_steps_goes_on_linearly():
    table = ((0, 0, 1, 2), (0, 1, 3, 2), (1, 5, 0, 1))
    places = {"inside": (0.5, 1.5, 3.0), "border": (1.0, 2.0, 1.0), "beside": (2.0, 0.5, 2 * 2.5 - 2.0)}
    inputs = {f"a_{name}": blocks.Constant(k=u) for name, (u, _, _) in places.items()}
    inputs |= {f"b_{name}": blocks.Constant(k=v) for name, (_, v, _) in places.items()}
    surfaces = {name: blocks.CombiTable2Ds(table=table, smoothness="ConstantSegments") for name in places}
    wires = (f"{source}_{name}.y - {name}.{end}" for name in places for source, end in (("a", "u1"), ("b", "u2")))
    result = run(*wires, stop=0.1, **inputs, **surfaces)
    for name, (*_, value) in places.items():
        np.testing.assert_allclose(result[f"{name}.y"], value, atol=1e-12)


def test_tables_are_read_from_text_csv_and_matlab_files(tmp_path):
    text = tmp_path / "tables.txt"
    text.write_text("#1\n# a comment\ndouble other(1,2)\n0 0\ndouble wanted(3,2) # rows\n0 0\n1, 2 # peak\n3 0\n")
    csv = tmp_path / "table.csv"
    csv.write_text("time;value\n0;0\n1;2\n3;0\n")
    wide = tmp_path / "wide.csv"
    wide.write_text("0;0;5\n1;2;5\n3;0;5\n")
    matlab = tmp_path / "table.mat"
    scipy.io.savemat(matlab, {"wanted": np.array([[0.0, 0], [1, 2], [3, 0]])})
    on_file = {"tableOnFile": True, "tableName": "wanted"}
    result = run(
        stop=3.0,
        text=blocks.CombiTimeTable(fileName=str(text), **on_file),
        csv=blocks.CombiTimeTable(fileName=str(csv), delimiter=";", nHeaderLines=1, **on_file),
        matlab=blocks.CombiTimeTable(fileName=f"file://{matlab}", **on_file),
        wide=blocks.CombiTimeTable(fileName=str(wide), delimiter=";", **on_file),
    )
    assert "wide.y[2]" not in result.names
    for name in ("text", "csv", "matlab", "wide"):
        np.testing.assert_allclose(result[f"{name}.y[1]"], np.interp(result.time, [0, 1, 3], [0, 2, 0]), atol=1e-12)
    for file, message in (
        (text, "no table 'missing'; it has other, wanted"),
        (matlab, "no matrix 'missing'; it has wanted"),
    ):
        with pytest.raises(ModelError, match=message):
            System.of(wired(t=blocks.CombiTimeTable(tableOnFile=True, tableName="missing", fileName=str(file))))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("double t(1,2)\n0 0\n", r"tables\.txt does not begin with #1, as a text file of tables must"),
        ("#1\ndouble t(2,2)\n0 0\n1\n", r"tables\.txt, table t: 4 numbers declared, 3 there"),
        ("#1\n", r"tables\.txt has no table 't'; it has none"),
    ],
)
def test_text_files_that_are_no_tables_are_refused(tmp_path, content, message):
    file = tmp_path / "tables.txt"
    file.write_text(content)
    with pytest.raises(ModelError, match=rf"t\.fileName: .*{message}"):
        System.of(wired(t=blocks.CombiTimeTable(tableOnFile=True, tableName="t", fileName=str(file))))


@pytest.mark.parametrize(
    ("cls", "given", "message"),
    [
        (blocks.CombiTable1Ds, {"table": (0, 1, 2)}, r"t\.table: expected rows such as .*; got shape \(3,\)"),
        (blocks.CombiTable1Ds, {"table": ((0, 1), (1, 2)), "columns": (2, 3)}, r"t\.columns: .*no column 3 in .* of 2"),
        (blocks.CombiTable1Ds, {"table": ((0, 1), (1, 2)), "columns": (0,)}, r"t\.columns: there is no column 0 in"),
        (blocks.CombiTable2Ds, {"table": ((0, 1, 2),)}, r"t\.table: expected at least 2 rows .* got shape \(1, 3\)"),
        (blocks.CombiTable2Ds, {"table": ((0, 1), (1, 2), (1, 3))}, r"t\.table: the first column must rise, .*1 to 1"),
        (blocks.CombiTable2Ds, {"table": ((0, 2, 1), (1, 2, 3))}, r"t\.table: the first row must rise, .*from 2 to 1"),
    ],
)  # fmt: skip
def test_tables_of_signals_that_are_none_are_refused(cls, given, message):
    inputs = ("u",) if cls is blocks.CombiTable1Ds else ("u1", "u2")
    with pytest.raises(ModelError, match=message):
        System.of(wired(*(f"a.y - t.{name}" for name in inputs), a=blocks.Constant(k=0.0), t=cls(**given)))


def test_mistakes_in_tables_of_signals_are_named():
    with pytest.raises(ModelError, match="the first column must rise, and goes from 1 to 1"):
        System.of(wired("a.y - t.u", a=blocks.Constant(k=0.0), t=blocks.CombiTable1Ds(table=((0, 1), (1, 2), (1, 3)))))
    steffen = blocks.CombiTable2Ds(table=((0, 1, 2), (1, 2, 3)), smoothness="MonotoneContinuousDerivative2")
    with pytest.raises(ModelError, match=r"t\.smoothness = 'MonotoneContinuousDerivative2': .* ContinuousDerivative$"):
        System.of(wired("a.y - t.u1", "a.y - t.u2", a=blocks.Constant(k=0.0), t=steffen))
    with pytest.raises(SimulationError, match="has left its range"):
        simulate(
            wired(
                "a.y - t.u",
                a=blocks.ContinuousClock(),
                t=blocks.CombiTable1Ds(table=((0, 1), (1, 2)), extrapolation="NoExtrapolation"),
            ),
            2.0,
        )
