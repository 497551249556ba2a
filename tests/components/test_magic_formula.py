"""The Magic Formula beside a transcription by hand, and what no tyre can do."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tyre_by_the_book

from mbfmu.components import Body, FixedRotation, FreeMotion, World, vehicle
from mbfmu.components.vehicle import TyreData, magic_formula
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate
from problems.tyres import MF62

#: Factors and coefficients that the set of MFeval leaves at 1 or 0.
MORE = dict(  # noqa: C408 - as a file has them
    LFZO=1.1, LMUX=0.9, LMUY=0.85, LKX=1.1, LKY=0.95, LHX=0.5, LVX=0.7, LHY=0.6, LVY=0.8, LKYC=0.9, LKZC=1.2, LTR=0.9,
    LRES=1.1, LXAL=0.95, LYKA=1.05, LVYKA=0.9, LS=0.8, LMX=1.1, LVMX=0.9, LMY=1.2, LMP=0.9, LMUV=0.1, LEX=0.9, LEY=0.9,
    LCX=1.02, LCY=0.98, QSX12=0.3, QSX13=0.05, QSX14=0.04, SSZ1=0.02, SSZ2=0.01, SSZ3=0.1, SSZ4=0.05, PPY2=0.3,
    PDXP2=0.1, PDXP3=0.2, PDYP2=0.1, PDYP3=0.3, PDYP4=0.05, PHYP3=0.05, PECP2=0.1, QDRP2=-0.5, QSY2=0.1, QSY5=0.3,
    QSY6=0.2, QBZ6=0.3, PPX1=-0.3,
)  # fmt: skip
#: Of these, and of the set, what MF-Tyre 5.2 does not have.
NEWER = ("PP", "LMUV", "LKYC", "LKZC", "RBX3", "RBY4", "QBZ6", "PKY5", "PEY5", "QDZ10", "QDZ11")


def points(count: int):
    """Load, slips, inclination, turn slip, speed, pressure; every third slip is 0, and every second inclination."""
    random = np.random.default_rng(5)
    for _ in range(count):
        yield (
            random.uniform(500, 15000),
            random.uniform(-0.9, 0.9) * random.choice([1.0, 0.1, 0.0]),
            random.uniform(-0.8, 0.8) * random.choice([1.0, 0.1, 0.0]),
            random.uniform(-0.15, 0.15) * random.choice([1.0, 0.0]),
            random.uniform(-0.3, 0.3),
            random.uniform(3, 40) * random.choice([1.0, -1.0]),
            random.uniform(2e5, 3.5e5),
        )


@pytest.mark.slow
@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("version", ["MF61", "MF62"])
def test_forces_and_moments_are_those_of_the_book(version: str, turn: bool) -> None:
    tyre = TyreData(MF62.given | MORE, version=version)
    for Fz, *slips, Vx, p in points(40):
        ours = magic_formula.forces(tyre, Fz, *slips, Vx=Vx, p=p, turn_slip=turn, limits=False)
        by_hand = tyre_by_the_book.forces(tyre, Fz, *slips, Vx, p, turn)
        np.testing.assert_allclose(ours[:5], by_hand, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize("resistance", [True, False])
@pytest.mark.parametrize("version", ["MF52", "PAC2002"])
def test_forces_and_moments_are_those_of_the_older_manual(version: str, resistance: bool) -> None:
    given = {key: value for key, value in (MF62.given | MORE).items() if not key.startswith(NEWER)}
    given |= {"LGAX": 1.1, "LGAY": 0.9, "LGAZ": 1.2, "PHY3": 0.1}
    given |= {} if resistance else {"QSY1": 0.0, "QSY2": 0.0}
    tyre = TyreData(given, version=version)
    for Fz, kappa, alpha, gamma, _, Vx, _ in points(40):
        ours = magic_formula.forces(tyre, Fz, kappa, alpha, gamma, Vx=Vx, limits=False)
        np.testing.assert_allclose(
            ours[:5], tyre_by_the_book.old(tyre, Fz, kappa, alpha, gamma, Vx), rtol=1e-9, atol=1e-7
        )


@pytest.mark.parametrize("version", magic_formula.VERSIONS)
def test_slips_that_do_not_combine_act_alone(version: str) -> None:
    """But for the speed of sliding (LMUV), and what Fx makes of Mz where slips combine (SSZ)."""
    newer = NEWER if version in ("MF52", "PAC2002") else ("LMUV",)
    given = {key: value for key, value in (MF62.given | MORE).items() if not key.startswith(newer)}
    tyre = TyreData(given | {"SSZ1": 0.0, "SSZ2": 0.0, "SSZ3": 0.0, "SSZ4": 0.0}, version=version)

    def found(kappa: float, alpha: float, combined: bool) -> magic_formula.Forces:
        return magic_formula.forces(tyre, 4000.0, kappa, alpha, 0.03, Vx=12.0, combined=combined)

    both = found(0.05, -0.08, False)
    assert both.Fx == pytest.approx(found(0.05, 0.0, False).Fx, rel=1e-12)
    aside = found(0.0, -0.08, True)
    assert (both.Fy, both.Mz) == pytest.approx((aside.Fy, aside.Mz), rel=1e-9)
    assert abs(found(0.05, -0.08, True).Mz / both.Mz - 1) > 0.05


@pytest.mark.parametrize("version", ["MF61", "MF62"])
@pytest.mark.parametrize("gamma", [0.0, 0.12])
def test_the_load_of_a_deflection_is_that_of_the_formula(version: str, gamma: float) -> None:
    """(4.E68), and for MF-Tyre 6.2 what camber adds, as in MFeval of M. Furlan (calculateFz62)."""
    more = {"Q_FYS1": 300.0, "Q_FYS2": 200.0, "Q_FYS3": -100.0, "Q_CAM2": 20.0, "Q_CAM3": 0.3}
    t = TyreData(MF62.given | more, version=version)
    rho, omega, Fx, Fy, p, R0 = 0.02, -35.0, 1500.0, -2500.0, 2.6e5, t.UNLOADED_RADIUS
    side, deflection = Fy, rho
    if version == "MF62":
        free = R0 * (t.Q_RE0 + t.Q_V1 * (omega * R0 / t.LONGVL) ** 2)
        loaded = free - rho
        width = (1.075 - 0.5 * t.ASPECT_RATIO) * t.WIDTH
        flat = (t.Q_CAM1 * loaded + t.Q_CAM2 * loaded**2) ** 2 * (width / 8) * abs(math.tan(gamma))
        flat /= (t.Q_CAM1 * free + t.Q_CAM2 * free**2) ** 2
        deflection += flat - t.Q_CAM3 * rho * abs(gamma)
        side -= (t.Q_FYS1 + t.Q_FYS2 * loaded / free + t.Q_FYS3 * (loaded / free) ** 2) * gamma
        side *= (deflection / R0) ** t.Q_FCY2
    q1 = t.Q_FZ1 or math.sqrt((t.VERTICAL_STIFFNESS * R0 / t.FNOMIN) ** 2 - 4 * t.Q_FZ2)
    grown = 1 + t.Q_V2 * R0 / t.LONGVL * abs(omega) - (t.Q_FCX * Fx / t.FNOMIN) ** 2 - (t.Q_FCY * side / t.FNOMIN) ** 2
    pressed = 1 + t.PFZ1 * (p - t.NOMPRES) / t.NOMPRES
    wanted = grown * pressed * (q1 * deflection / R0 + t.Q_FZ2 * (deflection / R0) ** 2) * t.FNOMIN
    assert magic_formula.vertical_force(t, rho, omega, Fx, Fy, p, gamma) == pytest.approx(wanted, rel=1e-12)


def test_the_effective_radius_is_that_of_the_formula() -> None:
    """(4.E70) with (4.E69) for the stiffness, and the growth of the free radius, (4.E67)."""
    t, omega, Fz, p = MF62, 60.0, 5200.0, 2.6e5
    free = t.UNLOADED_RADIUS * (t.Q_RE0 + t.Q_V1 * (omega * t.UNLOADED_RADIUS / t.LONGVL) ** 2)
    stiffness = t.VERTICAL_STIFFNESS * (1 + t.PFZ1 * (p - t.NOMPRES) / t.NOMPRES)
    load = Fz / t.FNOMIN
    wanted = free - t.FNOMIN / stiffness * (t.FREFF * load + t.DREFF * math.atan(t.BREFF * load))
    assert magic_formula.effective_radius(t, Fz, omega, p) == pytest.approx(wanted, rel=1e-12)


def test_relaxation_lengths_are_those_of_the_formulas() -> None:
    """(4.E79), (4.E80); of MF-Tyre 6 slip stiffness over the stiffness of the carcass (Besselink et al., 17 to 19)."""
    lengths = {"PTX1": 2.3, "PTX2": 0.4, "PTX3": -0.2, "LSGKP": 1.1}
    lengths |= {"PTY1": 2.1, "PTY2": 1.7, "PKY3": 0.3, "LSGAL": 0.8}
    carcass = {"LONGITUDINAL_STIFFNESS": 4e5, "PCFX1": 0.2, "PCFX2": 0.1, "PCFX3": -0.3}
    carcass |= {"LATERAL_STIFFNESS": 1.5e5, "PCFY1": 0.3, "PCFY2": -0.1, "PCFY3": 0.2}
    Fz, K_x, K_y, gamma, p = 5200.0, 9e4, -7e4, -0.05, 2.6e5
    old = TyreData({"FNOMIN": 4000.0, "UNLOADED_RADIUS": 0.3, "LFZO": 1.2} | lengths, version="PAC2002")
    dfz = Fz / 4800 - 1
    sigma_x = Fz * (2.3 + 0.4 * dfz) * math.exp(0.2 * dfz) * 0.3 / 4000 * 1.1
    sigma_y = 2.1 * math.sin(2 * math.atan(Fz / (1.7 * 4800))) * (1 - 0.3 * 0.05) * 0.3 * 1.2 * 0.8
    found = magic_formula.relaxation_lengths(old, Fz, K_x, K_y, gamma, p)
    assert found == pytest.approx((sigma_x, sigma_y), rel=1e-12)
    new = TyreData({"FNOMIN": 4000.0, "LFZO": 1.2, "NOMPRES": 2.5e5} | carcass, version="MF61")
    sigma_x = K_x / (4e5 * (1 + 0.2 * dfz + 0.1 * dfz**2) * (1 - 0.3 * 0.04))
    sigma_y = -K_y / (1.5e5 * (1 + 0.3 * dfz - 0.1 * dfz**2) * (1 + 0.2 * 0.04))
    found = magic_formula.relaxation_lengths(new, Fz, K_x, K_y, gamma, p)
    assert found == pytest.approx((sigma_x, sigma_y), rel=1e-12)


def test_rolling_resistance_of_the_shifts_brakes_in_both_directions() -> None:
    """A wheel that nothing drives keeps its speed where slip is 0: force times radius is the moment."""
    tyre = TyreData({"FNOMIN": 4000.0, "PCX1": 1.6, "PDX1": 1.0, "PKX1": 20.0, "PVX1": -0.01}, version="MF52")
    ahead, back = (magic_formula.forces(tyre, 4000.0, Vx=Vx) for Vx in (10.0, -10.0))
    assert ahead.Fx < 0
    assert ahead.My == pytest.approx(tyre.UNLOADED_RADIUS * ahead.Fx)
    assert back.My == -ahead.My


def test_a_leaning_wheel_pulls_to_its_side_in_both_directions() -> None:
    """With spin counted, too: it comes from rolling, and turns with its direction."""
    even = MF62.with_values(PHY1=0.0, PHY2=0.0, PVY1=0.0, PVY2=0.0)
    for turn in (False, True):
        ahead, back = (
            magic_formula.forces(even, 5000.0, gamma=0.05, Vx=Vx, combined=False, turn_slip=turn).Fy
            for Vx in (10.0, -10.0)
        )
        assert ahead < -100  # the top leans to the right
        assert back == pytest.approx(ahead, rel=1e-9)


def test_turning_on_the_spot_is_resisted() -> None:
    """Half of it, a moment of friction about the vertical, whatever the direction."""
    for turned in (5.0, -5.0):
        found = magic_formula.forces(MF62, 5000.0, phi_t=turned, Vx=1.0, turn_slip=True)
        assert found.Mz * turned < 0
        assert abs(found.Mz) > 50


@pytest.mark.parametrize("version", magic_formula.VERSIONS)
def test_combined_slip_at_the_limits_stays_within_friction(version: str) -> None:
    tyre = TyreData(vehicle.Tyre().data.given, version=version)
    kappa, alpha = np.meshgrid([tyre.KPUMIN, -0.3, 0.3, tyre.KPUMAX], [tyre.ALPMIN, -0.3, 0.3, tyre.ALPMAX])
    for Fz in (tyre.FZMIN, tyre.FNOMIN, tyre.FZMAX):
        found = magic_formula.forces(tyre, Fz, kappa, alpha)
        most = np.maximum(found.mu_x, found.mu_y) * Fz
        assert np.all(np.hypot(found.Fx, found.Fy) < 1.05 * most)
        assert np.all(found.Fx * kappa > 0)
        assert np.all(found.Fy * alpha < 0)


def test_friction_falls_with_the_speed_of_sliding_over_that_of_the_measurement() -> None:
    tyre = MF62.with_values(LMUV=0.5)
    V = tyre.LONGVL
    still, fast = (magic_formula.forces(tyre, 5000.0, kappa, 0.0, Vx=2 * V) for kappa in (0.0, -0.5))
    assert fast.mu_x == pytest.approx(still.mu_x / 1.5)
    rolling = magic_formula.forces(tyre, tyre.FNOMIN, Vx=V, p=tyre.NOMPRES)
    assert rolling.My == pytest.approx(
        -tyre.UNLOADED_RADIUS * tyre.FNOMIN * (tyre.QSY1 + tyre.QSY3 + tyre.QSY4), rel=1e-9
    )


class Pulled(Assembly):
    """A wheel at speed that leans, drifts and turns, on a body in the air above the road."""

    def __init__(self, side: str, way: int) -> None:
        angle = math.degrees(0.06 * way)
        self.world = World(n=(0, 0, -1))
        self.free = FreeMotion(
            r_rel_a=Start((0, 0, 0.37), fixed=True), v_rel_a=Start((12.0, 0.7 * way, 0.0), fixed=True),
            angles_fixed=True, w_rel_a_fixed=True, w_rel_a_start=(0, 0, 0.4 * way),
        )  # fmt: skip
        self.body = Body(m=500.0, r_CM=(0, 0, 0), I_11=100.0, I_22=100.0, I_33=100.0)
        self.lean = FixedRotation(n=(1, 0, 0), angle=angle)
        data = TyreData(MF62.given | {"FZMAX": 1e5}, version="MF62", side="LEFT")
        self.wheel = vehicle.TyreWheel(data, side=side, slip_mode="turn", p=2.2e5)
        self.wheel.modify(phi=Start(0.0, fixed=True), w=Start(31.0, fixed=True))
        self.wheel.tyre.modify(tan_alpha=Start(0.06 * way, fixed=True), kappa=Start(0.02, fixed=True))
        for a, b in (
            (self.world.frame_b, self.free.frame_a), (self.free.frame_b, self.body.frame_a),
            (self.free.frame_b, self.lean.frame_a), (self.lean.frame_b, self.wheel.frame_a),
        ):  # fmt: skip
            self.connect(a, b)


@pytest.mark.slow
def test_the_same_tyre_on_the_other_side_is_its_mirror_image() -> None:
    left, right = (simulate(Pulled(*of), 0.01, interval=0.01) for of in (("left", 1), ("right", -1)))
    for name, sign in (("f_x", 1), ("f_y", -1), ("f_z", 1), ("m_x", -1), ("m_y", 1), ("m_z", -1), ("gamma", -1)):
        values = left[f"wheel.tyre.{name}"]
        assert abs(values[-1]) > 0.01
        np.testing.assert_allclose(right[f"wheel.tyre.{name}"], sign * values, rtol=1e-9, err_msg=name)
