"""The Magic Formula, .tir files, wheels that slip, roads, a car."""

from __future__ import annotations

import math
import pathlib

import casadi as ca
import numpy as np
import pytest

from mbfmu.components import (
    Body,
    FixedRotation,
    FixedTranslation,
    Prismatic,
    World,
    rotational,
    translational,
    vehicle,
)
from mbfmu.components.vehicle import coefficients, magic_formula
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError, SimulationError
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate
from problems import tyres as problems
from problems.braking import Stop
from problems.lane_change import StepSteer
from problems.topics import all_problems

G = 9.80665
OWN = vehicle.tyres.DATA / f"{vehicle.tyres.OWN}.tir"


def fixed(value: float) -> Start:
    return Start(value, fixed=True)


# -- the formula


@pytest.mark.parametrize("problem", problems.PROBLEMS, ids=lambda p: p.id)
def test_forces_are_those_of_other_programs(problem) -> None:
    assert problem.difference(problem.tolerance) <= problem.error


@pytest.mark.slow
@pytest.mark.parametrize("version", magic_formula.VERSIONS)
@pytest.mark.parametrize("turn_slip", [False, True])
def test_numbers_and_symbols_agree_and_have_derivatives_everywhere(version: str, turn_slip: bool) -> None:
    tyre = vehicle.TyreData(problems.MF62.given, version=version)
    inputs = [ca.SX.sym(name) for name in ("Fz", "kappa", "alpha", "gamma", "phi")]
    found = ca.vertcat(*magic_formula.forces(tyre, *inputs, Vx=12.0, turn_slip=turn_slip)[:5])
    values = ca.Function("values", inputs, [found])
    slopes = ca.Function("slopes", inputs, [ca.jacobian(found, ca.vertcat(*inputs))])
    for point in (
        (5000.0, 0.05, -0.04, 0.03, 0.02),
        (0.0, 0.1, 0.1, 0.0, 0.0),
        (4000.0, 0.0, 0.0, 0.0, 0.0),
        (-10.0,) * 5,
    ):
        numbers = magic_formula.forces(tyre, *point, Vx=12.0, turn_slip=turn_slip)[:5]
        np.testing.assert_allclose(values(*point).full().ravel(), numbers, rtol=1e-12, atol=1e-9)
        assert np.all(np.isfinite(slopes(*point).full()))


def test_arrays_broadcast_and_a_wheel_in_the_air_has_no_force() -> None:
    found = magic_formula.forces(problems.MF62, np.array([[0.0], [-500.0], [3000.0]]), 0.1, np.linspace(-0.1, 0.1, 4))
    assert found.Fy.shape == (3, 4)
    assert np.all(np.stack([f[:2] for f in np.broadcast_arrays(*found[:5])]) == 0)
    assert np.all(found.Fx[2] > 1000)


def test_limits_hold_the_inputs() -> None:
    t = problems.MF62
    at, beyond = (magic_formula.forces(t, Fz, *slips, p=p) for Fz, slips, p in (
        (t.FZMAX, (t.KPUMAX, t.ALPMAX, t.CAMMAX), t.PRESMAX), (1e6, (3.0, 1.5, 1.0), 1e7)
    ))  # fmt: skip
    assert at == beyond
    free = magic_formula.forces(t, 1e6, 3.0, 1.5, 1.0, p=1e7, limits=False)
    assert free.Fx != at.Fx


def test_a_mirrored_tyre_pulls_to_the_other_side_and_reversing_turns_the_trail() -> None:
    ahead = magic_formula.forces(problems.MF62, 4000.0, alpha=0.05, Vx=10.0, p=2.6e5)
    back = magic_formula.forces(problems.MF62, 4000.0, alpha=0.05, Vx=-10.0, p=2.6e5)
    assert back.Fy == ahead.Fy
    assert back.trail == -ahead.trail
    assert back.My == -ahead.My


def test_the_book_and_the_manual_differ_as_they_say() -> None:
    """(4.E3): alpha* = tan alpha, beside alpha; without camber and with scale factors of 1 that is all."""
    t = problems.MF62
    book = magic_formula.forces(t, 4000.0, alpha=0.2, combined=False)
    manual = magic_formula.forces(t, 4000.0, alpha=math.tan(0.2), combined=False, equations="manual")
    assert book.Fy == pytest.approx(manual.Fy, rel=1e-12)


@pytest.mark.parametrize(("change", "message"), [({"version": "MF99"}, "version 'MF99'"), ({}, "equations = 'mine'")])
def test_unknown_equations_are_refused(change: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        magic_formula.forces(vehicle.TyreData({}, **change), 4000.0, equations="mine")


def test_vertical_force_is_the_integral_of_stiffness() -> None:
    t = vehicle.TyreData({"VERTICAL_STIFFNESS": 2e5, "FNOMIN": 4000.0, "UNLOADED_RADIUS": 0.3, "Q_FZ2": 10.0})
    rho = np.linspace(0, 0.03, 4)
    q1 = math.sqrt((2e5 * 0.3 / 4000) ** 2 - 40.0)
    np.testing.assert_allclose(magic_formula.vertical_force(t, rho), 4000 * (q1 * rho / 0.3 + 10 * (rho / 0.3) ** 2))
    assert magic_formula.vertical_force(t, -0.01) == 0


# -- files


def test_a_file_is_written_as_it_was_read(tmp_path: pathlib.Path) -> None:
    text = OWN.read_text()
    data = vehicle.read_tir(OWN)
    assert data.version, data.side == ("MF61", "LEFT")
    assert data.to_text() == text
    changed = data.with_values(PKY1=-19.5, QBZ6=0.25)
    changed.save(tmp_path / "changed.tir")
    again = vehicle.read_tir(tmp_path / "changed.tir")
    assert again.given == changed.given
    differ = [line for line in again.to_text().splitlines() if line not in text.splitlines()]
    assert [line.split("=")[0].strip() for line in differ] == ["PKY1", "QBZ6"]


def test_coefficients_without_a_file_are_written_and_read_back() -> None:
    data = vehicle.TyreData(problems.MF62.given, version="MF62", side="RIGHT")
    again = vehicle.parse_tir(data.to_text())
    assert (again.version, again.side) == ("MF62", "RIGHT")
    assert {k: v for k, v in again.given.items() if k != "FITTYP"} == data.given


def test_units_of_a_file_become_si_units() -> None:
    text = OWN.read_text().replace("'meter'", "'mm'").replace("'radians'", "'degrees'").replace("'newton'", "'kN'")
    scaled = vehicle.parse_tir(text)
    assert pytest.approx(0.316e-3) == scaled.UNLOADED_RADIUS
    assert pytest.approx(4.2e6) == scaled.FNOMIN
    assert pytest.approx(215000 * 1e6) == scaled.VERTICAL_STIFFNESS
    assert pytest.approx(math.radians(1.2)) == scaled.ALPMAX
    assert scaled.PKY1 == -21.0
    assert pytest.approx(230000 * 1e9) == scaled.INFLPRES  # kN/mm2
    np.testing.assert_allclose(vehicle.parse_tir(scaled.to_text()).UNLOADED_RADIUS, 0.316e-3)


def test_keys_that_are_missing_have_defaults_and_unknown_ones_are_told() -> None:
    data = vehicle.read_tir(OWN)
    assert data.QSX14 == coefficients.KEYS["QSX14"].default == 0
    assert vehicle.TyreData({"NOMPRES": 2e5}).INFLPRES == 2e5
    for section in ("", "[OWN]\n", "[VERTICAL]\n"):
        with pytest.warns(UserWarning, match="PKQ7: unknown, and not used"):
            vehicle.parse_tir(f"{OWN.read_text()}{section}PKQ7 = 3\n", "mine")


WRONG = {
    "cut short: [LATERAL": "a section ends with ]",
    "cut short: ": "has no PDY1",
    "PKY1 = -21": "expected a number",
    "LMUX = -1": "LMUX = -1: must be above 0",
    "UNLOADED_RADIUS = 0": "UNLOADED_RADIUS = 0: must be above 0",
    "KPUMIN = 2": "KPUMIN = 2: must be below KPUMAX = 1.2",
    "FITTYP = 99": "FITTYP = 99: this version is not known",
    "LTR = -1": "mine: LTR = -1: must not be negative",
    "LENGTH = 'ell'": "LENGTH = 'ell': unknown; there are meter",
    "PDX1 = nan": "PDX1 = nan: must be a finite number",
    "PDX2 =": "PDX2 has no value",
    "garbage": "expected NAME = value",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_files_are_refused(wrong: str) -> None:
    text = OWN.read_text()
    if wrong == "cut short: [LATERAL":
        text = text[: text.index("[LATERAL") + 8]
    elif wrong == "cut short: ":
        text = text[: text.index("PDY1")]
    elif wrong == "PKY1 = -21":
        text = text.replace("= -21.0", "= -21.0.0")
    elif wrong.startswith("LENGTH"):
        text = text.replace("'meter'", "'ell'")
    elif wrong.startswith("FITTYP"):
        text = text.replace("= 61", "= 99")
    else:
        text += wrong + "\n"
    with pytest.raises(ModelError, match="(?s)" + WRONG[wrong].replace("[", r"\[").replace("]", r"\]")):
        vehicle.parse_tir(text, "mine")


def test_versions_are_told_by_what_files_have() -> None:
    """PAC2002 by its format; without FITTYP, MF-Tyre 6.1 by coefficients that 5.2 does not have."""
    text = OWN.read_text()
    without = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("FITTYP"))
    older = "".join(line for line in without.splitlines(keepends=True) if not line.startswith(("PKY4", "PKY6")))
    assert [vehicle.parse_tir(t, "mine").version for t in (text, without, older)] == ["MF61", "MF61", "MF52"]
    for version in ("PAC2002", "PAC02"):
        format_ = older.replace("[MODEL]", f"[MODEL]\nPROPERTY_FILE_FORMAT = '{version}'")
        assert vehicle.parse_tir(format_, "mine").version == "PAC2002"
    assert repr(vehicle.TyreData({"PKY1": -20.0, "PDY1": 1.0}, name="mine")) == "TyreData('mine', MF61, 2 coefficients)"


def test_tables_of_a_file_are_passed_over_and_coefficients_without_a_section_get_theirs() -> None:
    """Rows of numbers, and what stands in a SHAPE; QSX2 goes into a section that the text does not have."""
    data = vehicle.parse_tir(OWN.read_text() + "[SHAPE]\n{radial width}\nrow one\n[TABLE]\n 1.0 0.5\n", "mine")
    assert data.given == vehicle.read_tir(OWN).given
    text = OWN.read_text()
    without = text[: text.index("[OVERTURNING_")] + text[text.index("[LATERAL_") :]
    lines = vehicle.parse_tir(without, "mine").with_values(QSX2=0.7).to_text().splitlines()
    assert lines[-2:] == ["[OVERTURNING_COEFFICIENTS]", f"{'QSX2':<24} = 0.7"]


def test_files_that_are_none_are_refused(tmp_path: pathlib.Path) -> None:
    for content, message in (("", "has no coefficients"), ("\0\1", "is no text")):
        (tmp_path / "a.tir").write_text(content)
        with pytest.raises(ModelError, match=message):
            vehicle.read_tir(tmp_path / "a.tir")
    with pytest.raises(ModelError, match="cannot be read"):
        vehicle.read_tir(tmp_path / "missing.tir")
    with pytest.raises(ModelError, match=r"Tyre\.fileName = '.*none\.tir': cannot be read: No such file"):
        vehicle.Tyre(fileName=str(tmp_path / "none.tir"))
    with pytest.raises(ModelError, match="no such set; there are passenger_205_55R16"):
        vehicle.Tyre(fileName="truck")
    with pytest.raises(ModelError, match=r"no coefficient 'PKY99'; .*PKY"):
        vehicle.TyreData({"PKY99": 1.0})


# -- wheels


class Rig(Assembly):
    """A wheel that carries a mass on a slide along x and z; its axle is driven by a torque."""

    def __init__(self, wheel, *, height: float, v: float = 0.0, w: float = 0.0, mass: float = 400.0, road=None) -> None:
        self.world = World(n=(0, 0, -1))
        self.road = road or vehicle.Road()
        self.x = Prismatic(n=(1, 0, 0), s=fixed(0.0), v=fixed(v))
        self.z = Prismatic(n=(0, 0, 1), s=fixed(height), v=fixed(0.0))
        self.mass = Body(m=mass, r_CM=(0, 0, 0))
        self.wheel = wheel
        self.wheel.modify(phi=fixed(0.0), w=fixed(w))
        self.torque = rotational.Torque()
        self.connect(self.world.frame_b, self.x.frame_a)
        self.connect(self.x.frame_b, self.z.frame_a)
        self.connect(self.z.frame_b, self.mass.frame_a)
        self.connect(self.z.frame_b, self.wheel.frame_a)
        self.connect(self.torque.flange, self.wheel.flange_a)
        self.input(self.torque.tau, "tau", start=0.0)


@pytest.mark.slow
def test_a_wheel_sinks_by_what_its_load_asks_for() -> None:
    result = simulate(Rig(vehicle.SlipWheel(radius=0.3, d=3e3), height=0.3), 3.0, tolerance=1e-8)
    assert result["wheel.tyre.f_z"][-1] == pytest.approx(420 * G, rel=1e-4)
    assert result["wheel.tyre.rho"][-1] == pytest.approx(420 * G / 2e5, rel=1e-4)


@pytest.mark.slow
def test_a_wheel_in_the_air_falls_without_force_and_turns_freely() -> None:
    for wheel in (vehicle.TyreWheel(), vehicle.SlipWheel(radius=0.3)):
        result = simulate(Rig(wheel, height=1.0, w=20.0, v=2.0), 0.3, tolerance=1e-8)
        assert result["z.s"][-1] == pytest.approx(1 - G * 0.3**2 / 2, rel=1e-7)
        assert result["wheel.w"][-1] == pytest.approx(20.0, rel=1e-9)
        assert np.all(result["wheel.tyre.f_x"] == 0)
        assert np.all(np.isfinite(result["wheel.tyre.kappa"]))


@pytest.mark.slow
def test_a_spinning_wheel_at_standstill_pushes_with_its_friction() -> None:
    wheel = vehicle.SlipWheel(radius=0.3, mu_A=1.0, mu_S=0.6, cr=0.0, d=3e3)
    result = simulate(Rig(wheel, height=0.3 - 420 * G / 2e5, w=200.0), 0.2, tolerance=1e-7)
    assert result["x.v"][-1] == pytest.approx(0.6 * G * 0.2, rel=0.03)  # less what the first instants have of more
    assert np.all(np.abs(result["wheel.tyre.kappa"]) < 3)


@pytest.mark.slow
def test_both_hub_frames_give_the_same_motion() -> None:
    """The tyre on the frame that turns with the wheel, and on the hub with the axle's flange."""

    direct = Rig(vehicle.TyreWheel(), height=0.3, v=5.0, w=16.0)

    class Hub(Assembly):
        def __init__(self) -> None:
            self.world = World(n=(0, 0, -1))
            self.x = Prismatic(n=(1, 0, 0), s=fixed(0.0), v=fixed(5.0))
            self.z = Prismatic(n=(0, 0, 1), s=fixed(0.3), v=fixed(0.0))
            self.mass = Body(m=420.0, r_CM=(0, 0, 0))
            self.rotor = rotational.Inertia(J=1.0, phi=fixed(0.0), w=fixed(16.0))
            self.tyre = vehicle.Tyre(useFlange=True)
            self.connect(self.world.frame_b, self.x.frame_a)
            self.connect(self.x.frame_b, self.z.frame_a)
            self.connect(self.z.frame_b, self.mass.frame_a)
            self.connect(self.z.frame_b, self.tyre.frame_a)
            self.connect(self.rotor.flange_b, self.tyre.flange_a)

    one, other = (simulate(rig, 0.5, tolerance=1e-9) for rig in (direct, Hub()))
    for name, twin in (("x.v", "x.v"), ("z.s", "z.s"), ("wheel.w", "rotor.w")):
        np.testing.assert_allclose(one[name], other[twin], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tyre-braking-way", "tyre-braking-creep", "vehicle-quarter-car-load"])
def test_motions_are_those_of_equations_by_hand(name: str) -> None:
    """Standing on a slope, a step; cornering and more of these are among the problems."""
    assert all_problems()[name].passes


@pytest.mark.slow
def test_energy_of_a_wheel_balances() -> None:
    system = System.of(Rig(vehicle.TyreWheel(), height=0.33, v=8.0, w=10.0), energy=True)
    result = simulate(system, 1.0, tolerance=1e-9)
    assert np.abs(result["energy.balanceError"]).max() < 1e-4 * result["energy.kinetic"].max()


class Toed(Assembly):
    """A tyre whose slip has no relaxation, on a carriage along x, turned to the left by 2 degrees."""

    def __init__(self, tyre: vehicle.tyres.WheelForce, *, height: float, v: float, w: float) -> None:
        self.world, self.road = World(n=(0, 0, -1)), vehicle.Road()
        self.x = Prismatic(n=(1, 0, 0), s=fixed(0.0), v=fixed(v))
        self.mass = Body(m=400.0, r_CM=(0, 0, 0))
        self.up = FixedTranslation(r=(0, 0, height))
        self.toe = FixedRotation(n=(0, 0, 1), angle=2.0)
        self.rotor = rotational.Inertia(J=1.0, phi=fixed(0.0), w=fixed(w))
        self.tyre = tyre
        self.connect(self.world.frame_b, self.x.frame_a)
        self.connect(self.x.frame_b, self.mass.frame_a)
        self.connect(self.x.frame_b, self.up.frame_a)
        self.connect(self.up.frame_b, self.toe.frame_a)
        self.connect(self.toe.frame_b, self.tyre.frame_a)
        self.connect(self.rotor.flange_b, self.tyre.flange_a)


@pytest.mark.slow
@pytest.mark.parametrize("along", [-0.4, 0.03], ids=["sliding", "sticking"])
def test_slip_without_relaxation_follows_at_once(along: float) -> None:
    """Of a wheel that brakes and one that drives: of a circle, with a sine up to sAdhesion and mu_S beyond sSlide."""
    v, R = 4.0, 0.3
    ahead, aside = v * math.cos(math.radians(2)), -v * math.sin(math.radians(2))
    w = (1 + along) * ahead / R
    tyre = vehicle.SlipForce(
        radius=R, c=2e5, mu_A=1.1, mu_S=0.9, sAdhesion=0.1, sSlide=0.3, cr=0.02, slips=False, useFlange=True
    )
    result = simulate(Toed(tyre, height=0.28, v=v, w=w), 1e-3, interval=1e-3)
    share = ahead / math.hypot(ahead, 0.05)  # a standing wheel has no slip without end
    s = np.array([along, aside / ahead]) * share
    size, load = np.linalg.norm(s), 2e5 * 0.02
    mu = 1.1 * math.sin(math.pi / 2 * size / 0.1) if size < 0.1 else 0.9
    found = [result[f"tyre.{name}"][0] for name in ("slip", "alpha", "f_x", "f_y", "f_z", "m_y")]
    expected = [
        s[0],
        math.atan(s[1]),
        mu * load * s[0] / size,
        -mu * load * s[1] / size,
        load,
        -0.02 * R * load * share,
    ]
    np.testing.assert_allclose(found, expected, rtol=2e-6)
    assert expected[3] > 0  # a wheel that is steered to the left pushes there


@pytest.mark.slow
def test_slip_of_a_magic_formula_without_relaxation_follows_at_once() -> None:
    v, w = 20.0, 66.0
    result = simulate(Toed(vehicle.Tyre(slips=False, useFlange=True), height=0.29, v=v, w=w), 1e-4, interval=1e-4)
    slip, alpha, f_x, f_y, f_z = (result[f"tyre.{name}"][0] for name in ("slip", "alpha", "f_x", "f_y", "f_z"))
    data = vehicle.read_tir(OWN)
    ahead = v * math.cos(math.radians(2))
    rolling = magic_formula.effective_radius(data, f_z, w, data.INFLPRES)
    assert slip == pytest.approx((w * rolling - ahead) / ahead, abs=1e-4)
    least = 0.1 * data.VXLOW  # so that a standing wheel has no slip without end
    assert math.tan(alpha) == pytest.approx(-v * math.sin(math.radians(2)) / math.hypot(ahead, least), rel=1e-9)
    expected = magic_formula.forces(data, f_z, slip, alpha, Vx=ahead)
    np.testing.assert_allclose([f_x, f_y], [expected.Fx, expected.Fy], rtol=1e-6)
    assert min(abs(f_x), f_y) > 500


def test_wheels_that_cannot_be_are_refused() -> None:
    with pytest.raises(ModelError, match="must not be 0"):
        vehicle.SlipWheel(radius=0.0)
    with pytest.raises(ModelError, match=r"mu_S = 0.9 must not be above mu_A = 0.5"):
        vehicle.SlipForce(radius=0.3, mu_A=0.5, mu_S=0.9)
    with pytest.raises(ModelError, match="give a TyreData"):
        vehicle.Tyre(data=3)
    lying = Rig(vehicle.SlipWheel(radius=0.3), height=0.3)
    lying.turn = FixedRotation(n=(1, 0, 0), angle=90.0)
    lying.second = vehicle.SlipWheel(radius=0.3)
    lying.connect(lying.z.frame_b, lying.turn.frame_a)
    lying.connect(lying.turn.frame_b, lying.second.frame_a)
    with pytest.raises(InitializationError, match="the wheel lies nearly on its side"):
        simulate(lying, 0.1)


# -- roads


def test_roads_tell_heights_and_normals() -> None:
    x, y = np.array([0.0, 3.0, 7.5]), np.array([0.0, 1.0, -1.0])
    np.testing.assert_allclose(vehicle.Slope(gradient=0.1, crossfall=0.02).heights(x, y), 0.1 * x + 0.02 * y)
    wave = vehicle.FunctionRoad(lambda x, y: 0.1 * ca.sin(x))
    z, n = wave.point(ca.SX(1.0), ca.SX(0.0))
    assert float(z) == pytest.approx(0.1 * math.sin(1))
    slope = np.array([-0.1 * math.cos(1), 0, 1])
    np.testing.assert_allclose(np.asarray(ca.evalf(n)).ravel(), slope / np.linalg.norm(slope))
    xs, ys = np.arange(0, 10.1, 0.25), np.linspace(-2, 2, 9)
    grid = vehicle.GridRoad(x=xs, y=ys, z=np.sin(xs)[:, None] + 0.1 * ys**2)
    np.testing.assert_allclose(grid.heights(xs[3:6], ys[3:6]), np.sin(xs[3:6]) + 0.1 * ys[3:6] ** 2, atol=1e-12)
    np.testing.assert_allclose(grid.heights(x, y), np.sin(x) + 0.1 * y**2, atol=2e-4)
    np.testing.assert_allclose(grid.heights(np.array([50.0]), np.array([0.0])), np.sin(10.0))  # held at the border


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"z": np.zeros((2, 3))}, "z: has the shape"),
        ({"x": (0.0, 2.0, 1.0)}, "x: each point must be beyond the one before"),
        ({"x": (0.0, 1.0, 3.0)}, "x: points must be evenly spaced"),
        ({"z": np.full((3, 2), np.nan)}, "every value must be finite"),
        ({"x": (0.0,)}, "x: needs two points or more, one after the other"),
        ({"y": ((0.0, 1.0), (2.0, 3.0))}, "y: needs two points or more, one after the other"),
        (
            {"x": np.arange(201.0), "y": np.arange(101.0), "z": np.zeros((201, 101))},
            r"z: has 20301 points, \d+ are the most; take the part that is driven",
        ),
    ],
)
def test_wrong_grids_are_refused(change, message: str) -> None:
    given = {"x": (0.0, 1.0, 2.0), "y": (0.0, 1.0), "z": np.zeros((3, 2))} | change
    with pytest.raises(ModelError, match=message):
        vehicle.GridRoad(**given)


@pytest.mark.slow
def test_a_wheel_beyond_the_end_of_the_road_is_told_or_held() -> None:
    def driven(border: str) -> Rig:
        road = vehicle.GridRoad(x=(-1.0, 0.0, 1.0), y=(-1.0, 1.0), z=np.zeros((3, 2)), border=border)
        return Rig(vehicle.SlipWheel(radius=0.3), height=0.28, v=5.0, w=16.7, road=road)

    assert simulate(driven("hold"), 0.5)["x.s"][-1] > 2
    with pytest.raises(SimulationError, match="the road ends under the wheel"):
        simulate(driven("refuse"), 0.5)


@pytest.mark.slow
def test_a_wheel_follows_a_road_with_heights() -> None:
    """A grid of a wave, beside the wave as a function."""
    xs = np.linspace(-2, 5, 29)
    waves = np.repeat(0.02 * np.sin(xs)[:, None], 2, axis=1)
    roads = (
        vehicle.GridRoad(x=xs, y=(-1, 1), z=waves, border="refuse"),
        vehicle.FunctionRoad(lambda x, y: 0.02 * ca.sin(x)),
    )
    grid, wave = (
        simulate(Rig(vehicle.SlipWheel(radius=0.3), height=0.28, v=5.0, w=16.7, road=road), 0.3)["z.s"]
        for road in roads
    )
    assert np.ptp(wave) > 0.01
    np.testing.assert_allclose(grid, wave, atol=2e-5)


class Pulled(Assembly):
    """A wheel at a height that is held, pulled over the road at 1 m/s."""

    def __init__(self, road: vehicle.Road, touch: str) -> None:
        self.world = World(n=(0, 0, -1))
        self.road = road
        self.x = Prismatic(n=(1, 0, 0), useAxisFlange=True, s=fixed(0.0))
        self.drive = translational.ConstantSpeed(v_fixed=1.0)
        self.up = FixedTranslation(r=(0, 0, 0.3))
        self.wheel = vehicle.SlipWheel(radius=0.3, touch=touch)
        self.wheel.modify(phi=fixed(0.0), w=fixed(0.0))
        self.connect(self.world.frame_b, self.up.frame_a)
        self.connect(self.up.frame_b, self.x.frame_a)
        self.connect(self.x.frame_b, self.wheel.frame_a)
        self.connect(self.drive.flange, self.x.axis)


@pytest.mark.slow
@pytest.mark.campaign
def test_cams_feel_a_step_before_the_wheel_is_there_and_bridge_a_gap() -> None:
    """A sharp step: a cam stands on its edge with the height of the ellipse, and the effective road is between both."""
    h, edge, shift = 0.03, 0.5, 0.8 * 0.6 * (0.671 * 0.06**0.5 + 0.733 * 0.06)

    def cam(x: np.ndarray) -> np.ndarray:
        t = np.clip((edge - x) / 0.3, 0, 1)  # how far it is to the edge
        return np.maximum(h - 0.3 * (1 - (1 - t**1.8) ** (1 / 1.8)), 0)

    run = simulate(Pulled(vehicle.Step(h=h, x0=edge, rising=1e-3, mu=0.0), "cams"), 0.8, interval=0.01)
    x = run["x.s"]
    front, rear = cam(x + shift / 2), cam(x - shift / 2)
    slope = (front - rear) / shift
    sunk = (front + rear) / 2 / np.sqrt(1 + slope**2)
    assert 0.3 < x[np.argmax(sunk > 1e-3)] < edge - 0.1
    np.testing.assert_allclose(run["wheel.tyre.rho"], sunk, atol=3e-3)  # feelers are 1 cm apart

    def gap() -> vehicle.Road:
        return vehicle.Step(h=-0.05, x0=0.4, rising=1e-3, width=0.02, mu=0.0)

    point, cams = (
        simulate(Pulled(gap(), touch), 0.8, interval=0.01)["wheel.tyre.rho"].min() for touch in ("point", "cams")
    )
    assert point < -0.04
    assert cams > -2e-3


@pytest.mark.slow
def test_cams_on_a_long_slope_are_the_point() -> None:
    def long() -> vehicle.Road:
        return vehicle.FunctionRoad(lambda x, y: 0.1 * x + 0.05 * y)

    point, cams = (simulate(Pulled(long(), touch), 0.2)["wheel.tyre.rho"] for touch in ("point", "cams"))
    np.testing.assert_allclose(cams, point, atol=1e-3)  # the tip of the ellipse is sharper than the wheel
    assert point[-1] > 0.01


CRG = """$CT
A road of 3 m
$ROAD_CRG
REFERENCE_LINE_START_X   = 2.0
REFERENCE_LINE_START_PHI = 1.5707963267948966
REFERENCE_LINE_INCREMENT = 1.0
LONG_SECTION_V_RIGHT     = -1.0
LONG_SECTION_V_LEFT      = 1.0
LONG_SECTION_V_INCREMENT = 1.0
$KD_Definition
#:LRFI
U:reference line u,m,0,1.0
D:long section 1,m
D:long section 2,m
D:long section 3,m
$!*****
$$$$$$$$$$$$$$
 0.0000000 0.0000000 0.0000000
 0.1000000 0.2000000 0.3000000
 0.0000000 *missing* 0.0000000
 0.0000000-0.0500000 0.0000000
"""


def test_crg_files_are_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "road.crg"
    path.write_text(CRG)
    with pytest.warns(UserWarning, match="heights that are NaN"):
        road = vehicle.CRGRoad(fileName=str(path))
    # along the line is along y, from x = 2; to its left is where x falls
    np.testing.assert_allclose(
        road.heights(np.array([2.0, 1.0, 3.0, 2.0]), np.array([1.0, 1, 1, 3])), [0.2, 0.3, 0.1, -0.05]
    )


#: Of the curve: radius, where it begins, its heading there, distance of sections.
RADIUS, BEGIN, HEADING, APART = 20.0, (5.0, -2.0), 0.3, 0.5


def curve(path: pathlib.Path, header: str = "", width: float = 2.0) -> str:
    """Write a road along most of a circle to the left: waves along it, and a slope to the side."""
    lines, beside = [], (-width, 0.0, width)
    for i in range(220):
        heading = HEADING + (i - 0.5) * APART / RADIUS if i else 99.0  # the first one is not used
        heights = (0.05 * np.sin(i * APART / 3) + 0.02 * v for v in beside)
        lines.append("".join(f"{number:10.7f}" for number in (heading, *heights)))
    path.write_text(
        f"$ROAD_CRG\nREFERENCE_LINE_START_X = {BEGIN[0]}\nREFERENCE_LINE_START_Y = {BEGIN[1]}\n{header}"
        f"REFERENCE_LINE_INCREMENT = {APART}\n$KD_Definition\n#:LRFI\nD:reference line phi,rad\n"
        + "".join(f"D:long section at v = {v:.3f},m\n" for v in beside)
        + "$\n$$$$$$$$\n" + "\n".join(lines) + "\n"
    )  # fmt: skip
    return str(path)


def beside(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where places of the curve are in the world."""
    centre = np.add(BEGIN, RADIUS * np.array([-np.sin(HEADING), np.cos(HEADING)]))
    at = HEADING + u / RADIUS
    return centre[0] + (RADIUS - v) * np.sin(at), centre[1] - (RADIUS - v) * np.cos(at)


@pytest.mark.parametrize(
    ("header", "channel", "numbers"),
    [
        ("REFERENCE_LINE_START_S = 0.1\nREFERENCE_LINE_START_B = 0.2\n", "", ("", "", "")),
        ("", "D:reference line slope,m/m\nD:reference line banking,m/m\n",
         (" 9.0000000 0.2000000", " 0.1000000 0.2000000", " 0.1000000 0.2000000")),
    ],
)  # fmt: skip
def test_slope_and_banking_of_a_crg_file(tmp_path: pathlib.Path, header: str, channel: str, numbers: list[str]) -> None:
    rows = "".join(f"{text} 0.0000000 0.0000000\n" for text in numbers)
    (tmp_path / "tilted.crg").write_text(
        f"$ROAD_CRG\nREFERENCE_LINE_INCREMENT = 2.0\n{header}$KD_Definition\n#:LRFI\n{channel}"
        f"D:long section at v = -1.000,m\nD:long section at v = 3.000,m\n$\n$$$$$\n{rows}"
    )
    np.testing.assert_allclose(
        vehicle.read_crg(tmp_path / "tilted.crg").z, [[-0.2, 0.6], [0.0, 0.8], [0.2, 1.0]], atol=1e-12
    )


class Watched(Assembly):
    """A driver who is carried straight ahead, with a path to the left."""

    def __init__(self) -> None:
        self.world = World(n=(0, 0, -1))
        self.x = Prismatic(n=(1, 0, 0), s=Start(0.0, fixed=True), v=Start(5.0, fixed=True))
        self.body = Body(m=1.0, r_CM=(0, 0, 0))
        self.driver = vehicle.Driver(points=((0.0, 2.0), (100.0, 2.0)), nearest=3.0)
        self.connect(self.world.frame_b, self.x.frame_a)
        self.aside = FixedTranslation(r=(0, 0.5, 0))
        for one, other in (
            (self.x.frame_b, self.body.frame_a), (self.x.frame_b, self.aside.frame_a),
            (self.aside.frame_b, self.driver.frame_a),
        ):  # fmt: skip
            self.connect(one, other)
        self.input(self.driver.v_ref, "speed", start=4.5)


def test_a_driver_steers_to_the_path_and_brakes_when_too_fast() -> None:
    seen = simulate(Watched(), 0.01, start_values={"driver.spare": 0.25})
    assert seen["driver.e"][0] == pytest.approx(1.5)
    assert seen["driver.steer"][0] == pytest.approx(8.0 * 1.5 / np.hypot(0.8 * 5.0, 3.0))
    assert seen["driver.torque"][0] == 0.0
    assert seen["driver.brake"][0] == pytest.approx(0.25 * (0.5 - 0.25))


@pytest.mark.slow
@pytest.mark.campaign
def test_a_car_that_turns_left_and_brakes() -> None:
    turning = simulate(StepSteer(0.5), 1.0, outputs=["car.yawRate", "car.a_y", "car.roll", "car.wheel_fl.w"])
    assert turning["car.wheel_fl.w"][0] == pytest.approx(20.0 / (0.97 * vehicle.Tyre().data.UNLOADED_RADIUS))
    assert min(turning[name][-1] for name in ("car.yawRate", "car.a_y", "car.roll")) > 0.01  # it leans to the right
    braking = simulate(Stop(), 0.5, outputs=["car.brake_fl.brake.tau", "car.brake_rl.brake.tau"])
    assert braking["car.brake_rl.brake.tau"][-1] / braking["car.brake_fl.brake.tau"][-1] == pytest.approx(0.4)


@pytest.mark.slow
def test_a_crg_road_with_a_curved_line(tmp_path: pathlib.Path) -> None:
    road = vehicle.CRGRoad(fileName=curve(tmp_path / "curve.crg"))
    u, v = (grid.ravel() for grid in np.meshgrid(np.linspace(1, 108, 61), np.linspace(-1.9, 1.9, 5)))
    np.testing.assert_allclose(road.heights(*beside(u, v)), 0.05 * np.sin(u / 3) + 0.02 * v, atol=1.5e-4)
    part = vehicle.CRGRoad(fileName=str(tmp_path / "curve.crg"), uMin=20.0, uMax=60.0, spacing=1.0)
    inner = (u > 22) & (u < 58)
    np.testing.assert_allclose(
        part.heights(*beside(u[inner], v[inner])), 0.05 * np.sin(u[inner] / 3) + 0.02 * v[inner], atol=5e-4
    )


@pytest.mark.slow
def test_a_curved_road_ends_where_its_file_does(tmp_path: pathlib.Path) -> None:
    road = vehicle.CRGRoad(fileName=curve(tmp_path / "curve.crg"), border="refuse")
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    margin = ca.Function("margin", [x, y], [road.margin(x, y)])
    for u, v, wanted in ((0.5, 0.0, 0.5), (109.2, 1.0, 0.3), (50.0, -1.7, 0.3), (50.0, 2.2, -0.2), (-0.3, 0.0, -0.3),
                         (109.8, 0.0, -0.3)):  # fmt: skip
        assert float(margin(*beside(np.array(u), np.array(v)))) == pytest.approx(wanted, abs=5e-3)


def test_curves_that_are_wrong_are_told(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ModelError, match=r"near u = .* m the road is as wide as its curve's radius"):
        vehicle.CRGRoad(fileName=curve(tmp_path / "wide.crg", width=19.5))
    with pytest.warns(UserWarning, match=r"its reference line ends at Y = .* m, not at 50 m as it says"):
        vehicle.read_crg(curve(tmp_path / "end.crg", "REFERENCE_LINE_END_Y = 50.0\n"))
    text = (tmp_path / "end.crg").read_text().replace(" 0.3125000", "*missing**")
    (tmp_path / "end.crg").write_text(text)
    with pytest.raises(ModelError, match="a heading of its reference line is no number"):
        vehicle.read_crg(tmp_path / "end.crg")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("$$$$$$$$$$$$$$\n", "", "is the file cut short"),
        (" 0.0000000-0.0500000 0.0000000\n", " 0.0000000\n", "is the file cut short"),
        ("LRFI", "KRBI", "LRFI and LDFI, as text"),
        ("INCREMENT = 1.0\nLONG", "INCREMENT = 0.0\nLONG", "no REFERENCE_LINE_INCREMENT above 0"),
        ("V_LEFT      = 1.0", "V_LEFT      = 3.0", "end at v = 1 m, not at 3 m"),
        ("0.2000000", "0.2x00000", "is no number"),
        ("REFERENCE_LINE_INCR", "REFERENCE_LINE_END_U = 9.0\nREFERENCE_LINE_INCR", r"ends at u = 3 m in place of 9 m"),
        (CRG[CRG.index("LONG_SECTION_V_RIGHT") : CRG.index("$KD_")], "", "does not say where its long sections are"),
        ("V_INCREMENT = 1", "V_INCREMENT = -1", r"LONG_SECTION_V_INCREMENT = -1 is not above 0"),
        ("V_INCREMENT = 1", "V_INCREMENT = 0", r"LONG_SECTION_V_INCREMENT = 0 is not above 0"),
        ("D:long section 2,m\nD:long section 3,m\n", "", "has 1 channels of long sections; it needs two"),
    ],
)
def test_wrong_crg_files_are_refused(tmp_path: pathlib.Path, old: str, new: str, message: str) -> None:
    (tmp_path / "road.crg").write_text(CRG.replace(old, new))
    with pytest.raises(ModelError, match=message):
        vehicle.read_crg(tmp_path / "road.crg")


def test_a_part_of_a_road_is_on_the_road_and_evenly_spaced(tmp_path: pathlib.Path) -> None:
    """Sections at -1, 0.5 and 1 m become five by half a metre, and heights between them lie on straight lines."""
    uneven = CRG[: CRG.index("LONG_SECTION_V_RIGHT")] + CRG[CRG.index("$KD_") :].replace("*missing*", "0.0000000")
    for number, v in ((1, -1.0), (2, 0.5), (3, 1.0)):
        uneven = uneven.replace(f"D:long section {number},m", f"D:long section at v = {v},m")
    (tmp_path / "road.crg").write_text(uneven)
    road = vehicle.read_crg(tmp_path / "road.crg")
    u, v, z, _ = road.part(0.0, 2.0, 0.1)
    np.testing.assert_allclose(u, [0, 1, 2])
    np.testing.assert_allclose(v, [-1, -0.5, 0, 0.5, 1])
    np.testing.assert_allclose(z[1], [0.1, 0.1 + 0.1 / 3, 0.1 + 0.2 / 3, 0.2, 0.3], atol=1e-12)
    (tmp_path / "turned.crg").write_text(uneven.replace("v = 0.5,", "v = -1.5,"))
    with pytest.raises(ModelError, match="its long sections do not go from the right to the left"):
        vehicle.read_crg(tmp_path / "turned.crg")
    with pytest.raises(ModelError, match=r"uMin = 5, uMax = 7: the road has 0 to 3 m there"):
        road.part(5.0, 7.0, 0.1)


def test_spacing_is_the_least_distance_of_points_and_leaves_two(tmp_path: pathlib.Path) -> None:
    """Of points 1 m apart every second one is taken from 1.4 m on, and the first with the last from 3 m on."""
    (tmp_path / "road.crg").write_text(CRG)
    road = vehicle.read_crg(tmp_path / "road.crg")
    for spacing, u, v in ((1.0, [0, 1, 2, 3], [-1, 0, 1]), (1.4, [0, 2], [-1, 1]), (3.0, [0, 3], [-1, 1]),
                          (10.0, [0, 3], [-1, 1])):  # fmt: skip
        part = road.part(-1e9, 1e9, spacing)
        np.testing.assert_allclose(part[0], u)
        np.testing.assert_allclose(part[1], v)
        assert part[2].shape == (len(u), len(v))
        np.testing.assert_allclose(part[3][:, 1], u)


MISSING, ROWS = " *missing* *missing* *missing*\n", CRG[CRG.index(" 0.0000000 0.0") :].splitlines(keepends=True)


@pytest.mark.filterwarnings("ignore:.*heights that are NaN")
def test_margins_without_heights_are_no_part_of_a_road(tmp_path: pathlib.Path) -> None:
    """A first cross-section and a long section on the left; a section between others has the heights beside it."""
    rows = [
        MISSING,
        " 0.1000000 0.2000000 *missing*\n",
        " 0.0000000 *missing* *missing*\n",
        ROWS[3][:20] + " *missing*\n",
    ]
    (tmp_path / "road.crg").write_text(CRG[: CRG.index(ROWS[0])] + "".join(rows))
    road = vehicle.CRGRoad(fileName=str(tmp_path / "road.crg"), border="refuse")
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    margin = ca.Function("margin", [x, y], [road.margin(x, y)])
    assert float(margin(2.5, 2.0)) == pytest.approx(0.5)  # of v from -1 to 0 m, to the right of x = 2
    assert float(margin(2.5, 1.2)) == pytest.approx(0.2)  # of u from 1 to 3 m
    np.testing.assert_allclose(road.heights(np.array([2.0, 3.0]), np.array([1.0, 1.0])), [0.2, 0.1])


@pytest.mark.filterwarnings("ignore:.*heights that are NaN")
@pytest.mark.parametrize(
    ("rows", "given", "message"),
    [
        ({1: MISSING}, {}, r"CRGRoad: at u = 1 m a whole cross-section of heights is NaN; take another part of"),
        ({0: MISSING, 1: MISSING}, {"uMax": 1.0}, r"from u = 0 to 1 m 0 cross-sections and 0 long sections have"),
        ({0: MISSING, 1: MISSING}, {"uMax": 2.0}, r"from u = 0 to 2 m 1 cross-sections and 2 long .* with two of each"),
    ],
)
def test_parts_of_roads_without_heights_are_refused(tmp_path: pathlib.Path, rows, given, message: str) -> None:
    text = "".join(rows.get(i, row) for i, row in enumerate(ROWS))
    (tmp_path / "road.crg").write_text(CRG[: CRG.index(ROWS[0])] + text)
    with pytest.raises(ModelError, match=message):
        vehicle.CRGRoad(fileName=str(tmp_path / "road.crg"), **given)


def test_a_road_with_too_many_points_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "road.crg").write_text(CRG[: CRG.index(ROWS[0])] + 6667 * ROWS[1])
    name = str(tmp_path / "road.crg")
    with pytest.raises(ModelError, match=r"CRGRoad: 20001 points, 20000 are the most; give uMin, uMax or spacing"):
        vehicle.CRGRoad(fileName=name)
    assert vehicle.CRGRoad(fileName=name, uMax=100.0)._grid()[2].shape == (101, 3)


def test_files_of_roads_that_are_none_are_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ModelError, match=r"missing\.crg: cannot be read: No such file"):
        vehicle.read_crg(tmp_path / "missing.crg")
    for channel, number, message in (
        ("D:camber,m", " 0.0000000", r"road\.crg: has a channel 'camber', which is not known"),
        ("D:reference line slope,m/m", " *missing*", r"road\.crg: a slope of its reference line is no number"),
        ("D:reference line banking,m/m", " *missing*", r"road\.crg: a banking of its reference line is no number"),
        (None, MISSING, r"road\.crg: no height of it is a number"),
    ):
        text = "".join(MISSING if channel is None else row[:-1] + number + "\n" for row in ROWS)
        head = CRG[: CRG.index(ROWS[0])].replace("$!*****", f"{channel}\n$!*****" if channel else "$!*****")
        (tmp_path / "road.crg").write_text(head + text)
        with pytest.raises(ModelError, match=message):
            vehicle.read_crg(tmp_path / "road.crg")


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ((3.0,), r"FunctionRoad: heightFunction = 3\.0: give a function of \(x, y\)"),
        ((lambda x, y: 0.0, "ice"), r"FunctionRoad: frictionFunction = 'ice': give a function"),
        (
            (lambda x, y: x if x > 0 else y,),
            r"heightFunction fails with CasADi symbols \(.*\); write it with functions of cas",
        ),
        ((lambda x, y: ca.sin(y) + 0.1 * math.sin(x),), r"heightFunction reckons with nan; .*take those of casadi"),
        ((lambda x, y: ca.vertcat(x, y),), r"heightFunction gives 2 numbers; it is to give one"),
        ((lambda x, y: x, lambda x, y: [1, 2, 3]), r"frictionFunction gives 3 numbers; it is to give one"),
    ],
)
def test_functions_that_are_no_road_are_refused(functions, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        vehicle.FunctionRoad(*functions)


def seen(system: System, name: str) -> np.ndarray:
    """Points of a surface that is drawn in the world, (nu, nv, 3)."""
    (shape,) = (shape for shape in system.scene.shapes if shape.ident == name)
    facts, numbers = np.array(shape.extra[:2], dtype=int), np.array(shape.extra[5:], dtype=float)
    return numbers.reshape(*facts, 3)


@pytest.mark.slow
def test_roads_are_drawn_where_they_are(tmp_path: pathlib.Path) -> None:
    """A plane by its corners, a road with heights by a grid of 201 x 11, one along a curve by its own points."""
    for road, counts in (
        (vehicle.Slope(gradient=0.1, crossfall=0.02, startX=-2.0, lengthX=10.0, lengthY=4.0), (2, 2)),
        (vehicle.FunctionRoad(lambda x, y: 0.1 * x + 0.02 * y, startX=-2.0, lengthX=10.0, lengthY=4.0), (201, 11)),
    ):
        points = seen(System.of(Drawn(road), scene=True), "road.surface")
        assert points.shape == (*counts, 3)
        np.testing.assert_allclose(points[0, 0], (-2, -2, -0.24), atol=1e-12)
        np.testing.assert_allclose(points[-1, 0], (8, -2, 0.76), atol=1e-12)
        np.testing.assert_allclose(points[-1, -1], (8, 2, 0.84), atol=1e-12)
    name = curve(tmp_path / "curve.crg")
    points = seen(System.of(Drawn(vehicle.CRGRoad(fileName=name, uMin=10.0, uMax=12.0)), scene=True), "road.surface")
    u, v = np.meshgrid(np.arange(10.0, 12.1, APART), (-2.0, 0.0, 2.0), indexing="ij")
    np.testing.assert_allclose(points[..., :2], np.stack(beside(u, v), axis=-1), atol=2e-3)
    np.testing.assert_allclose(points[..., 2], 0.05 * np.sin(u / 3) + 0.02 * v, atol=1e-5)
    (tmp_path / "straight.crg").write_text(CRG.replace("*missing*", "0.0000000"))
    straight = vehicle.CRGRoad(fileName=str(tmp_path / "straight.crg"), startX=1.0, lengthX=2.0, lengthY=4.0)
    points = seen(System.of(Drawn(straight), scene=True), "road.surface")
    np.testing.assert_allclose(points[100, 5], (2.0, 0.0, straight.heights(np.array([2.0]), np.array([0.0]))[0]))


class Drawn(Assembly):
    """A road alone."""

    def __init__(self, road: vehicle.Road) -> None:
        self.world, self.road = World(animateWorld=False, animateGravity=False), road


@pytest.mark.slow
def test_tyres_are_drawn_by_their_size() -> None:
    """A pipe and a rim about the wheel's axis, the tyre's width long, and an arrow."""
    data = vehicle.read_tir(OWN)
    for tyre, radius, width in (
        (vehicle.SlipForce(radius=0.4, width=0.25, useFlange=True), 0.4, 0.25),
        (vehicle.Tyre(useFlange=True), data.UNLOADED_RADIUS, data.WIDTH),
    ):
        system = System.of(Toed(tyre, height=0.3, v=1.0, w=1.0), scene=True)
        result = simulate(system, 1e-4, interval=1e-4, outputs=list(system.scene.variables))
        shapes = {shape.name: shape for shape in system.scene.shapes if shape.component == "tyre"}
        assert {"tyre", "rim", "forceLine", "forceHead"} <= set(shapes)

        found = {
            name: {
                key: [result[q][0] if isinstance(q, str) else q for q in given]
                for key, given in shapes[name].quantities.items()
            }
            for name in ("tyre", "rim")
        }
        for name, share in (("tyre", 1.0), ("rim", 0.5)):
            assert found[name]["lengthDirection"] == [0, 1, 0]
            np.testing.assert_allclose(found[name]["r_shape"], (0, -share * width / 2, 0), atol=1e-12)  # to both sides
            np.testing.assert_allclose(found[name]["length"], share * width)
        np.testing.assert_allclose(found["tyre"]["width"], 2 * radius)
        np.testing.assert_allclose(found["rim"]["width"], 2 * 0.625 * radius)


def test_two_roads_side_by_side_are_one_too_many() -> None:
    rig = Rig(vehicle.SlipWheel(radius=0.3), height=0.3)
    rig.other = vehicle.Slope(gradient=0.1)
    with pytest.raises(ModelError, match="road and other are both a Road; keep one"):
        System.of(rig)


def test_friction_by_place() -> None:
    icy = vehicle.FunctionRoad(lambda x, y: ca.SX(0.0), lambda x, y: ca.if_else(x > 1.0, 0.1, 1.0))
    result = simulate(Rig(vehicle.SlipWheel(radius=0.3, cr=0.0), height=0.28, v=10.0, w=0.0, road=icy), 0.4)
    limit = result["wheel.tyre.f_z"] * np.where(result["x.s"] > 1.0, 0.1, 1.0)
    assert np.all(np.abs(result["wheel.tyre.f_x"]) <= limit * 1.001 + 1e-6)


# -- cars


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_bushing_pulls_back_and_balances() -> None:
    class Hung(Assembly):
        def __init__(self) -> None:
            self.world = World(n=(0, 0, -1))
            self.bushing = vehicle.Bushing(c=(1e4, 1e4, 1e4), d=(50.0, 50.0, 50.0), c_phi=20.0, d_phi=1.0)
            self.body = Body(
                m=10.0,
                r_CM=(0.05, 0, 0),
                I_11=0.1,
                I_22=0.1,
                I_33=0.1,
                r_0=fixed(0.0),
                v_0=fixed(0.0),
                angles_fixed=True,
            )
            self.connect(self.world.frame_b, self.bushing.frame_a)
            self.connect(self.bushing.frame_b, self.body.frame_a)

    result = simulate(System.of(Hung(), energy=True), 20.0, tolerance=1e-9)
    assert result["body.r_0[3]"][-1] == pytest.approx(-10 * G / 1e4, rel=1e-4)
    assert np.abs(result["energy.balanceError"]).max() < 1e-5
    tilt = math.asin(result["body.frame_a.R.T[3,1]"][-1])
    assert abs(tilt) == pytest.approx(10 * G * 0.05 * math.cos(tilt) / 20.0, rel=0.02)


def test_drivers_that_cannot_be_are_refused() -> None:
    with pytest.raises(ModelError, match="a path goes along x"):
        vehicle.Driver(points=((0, 0), (0, 1)))
    with pytest.raises(ModelError, match=r"give points \(x, y\)"):
        vehicle.Driver(points=(0.0, 1.0))
