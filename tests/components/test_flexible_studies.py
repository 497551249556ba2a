"""Bodies that bend in all that is asked of a mechanism: rest, linear models, sweeps, fits, FMUs and their states."""

from __future__ import annotations

import itertools
import math
import pathlib
from typing import Any

import numpy as np
import pytest
import scipy
from test_modal_body import ATTACHED, HELD, bricks, files

import mbfmu
from mbfmu.components import Beam, Body, FiniteSegmentBeam, ModalBody, World
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Component, Start
from mbfmu.studies.equilibrium import equilibrium
from mbfmu.studies.linearize import linearize

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

#: A beam across whose height gravity bends it, and what hangs at its end [kg].
L, EI, MASS, LOAD = 0.6, 40.0, 0.3, 0.3
SECTION: dict[str, Any] = {
    "r": (L, 0, 0), "EI_y": 30.0, "EI_z": EI, "EA": 1e5, "GJ": 20.0, "rhoA": MASS / L, "rhoI_y": 1e-5, "rhoI_z": 1e-5,
}  # fmt: skip
G = 9.81
KINDS = ("beam", "segments", "matrices")


class Carrier(Assembly):
    """A body that bends, on the ground, with a load at its end."""

    def __init__(self, body: Component, load: float = LOAD) -> None:
        self.world = World(n=(0, 0, -1), g=G)
        self.body, self.load = body, Body(m=load, r_CM=(0, 0, 0), I_11=0, I_22=0, I_33=0)
        self.connect(self.world.frame_b, self.body.frame_a)
        self.connect(getattr(self.body, "frame_b", None) or self.body.frame[0], self.load.frame_a)
        self.output(self.load.frame_a.r_0[2], "height")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("bodies")


def made(kind: str, folder: pathlib.Path, still: bool = False, **modifiers: Any) -> Component:
    """A body, `still` with all rates and accelerations zero at the start: where it is then follows."""
    if kind == "segments":
        beam = FiniteSegmentBeam(**SECTION, n=3, curved=True, **modifiers)
        for segment in beam.segment if still else ():
            segment.modify(phid=Start((0, 0, 0), fixed=True), phidd=Start((0, 0, 0), fixed=True))
        return beam
    if kind == "beam":
        which, given = Beam, dict(SECTION, nWidth=2, nHeight=3, nAxial=0)
    else:
        which = ModalBody
        given = {**files(folder, *bricks()), "held": HELD, "attached": ATTACHED, "nModes": 2}
    if still:
        zero = Start((0.0,) * which(**given).flexibility().count, fixed=True)
        modifiers |= {"qd": zero, "qdd": zero}
    return which(**given | modifiers)


def sag(kind: str, load: float = LOAD) -> float:
    """How far the end hangs down by linear theory [m]."""
    if kind != "matrices":
        return G * (load * L**3 / 3 + MASS * L**3 / 8) / EI
    mass, stiffness, _ = bricks()
    force = G * (mass @ np.tile((0, 0, 1.0), len(mass) // 3))
    force[[74, 77, 80, 83]] += G * load / 4  # z of the nodes 25 ... 28
    return float(np.linalg.solve(stiffness[12:, 12:], force[12:])[np.array((74, 77, 80, 83)) - 12].mean())


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_begins_bent_by_its_load(kind: str, folder: pathlib.Path) -> None:
    found = mbfmu.simulate(Carrier(made(kind, folder, still=True)), stop_time=0.1, tolerance=1e-9)
    assert found["height"][0] == pytest.approx(-sag(kind), rel=3e-3)
    assert np.ptp(found["height"]) < 1e-8


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_it_rests_where_a_start_without_acceleration_is(kind: str, folder: pathlib.Path) -> None:
    rest = equilibrium(Carrier(made(kind, folder)))
    still = mbfmu.simulate(Carrier(made(kind, folder, still=True)), stop_time=1e-6)
    assert rest["height"] == pytest.approx(still["height"][0], rel=1e-9)
    assert rest.stability == "marginal"


def lowest(kind: str) -> float:
    """Lowest frequency with the load at the end, by linear theory [Hz]."""
    if kind == "matrices":
        mass, stiffness, _ = bricks()
        for node in range(24, 28):
            for other in range(24, 28):
                for k in range(3):
                    mass[3 * node + k, 3 * other + k] += LOAD / 16  # it follows the mean of four nodes
        return math.sqrt(scipy.linalg.eigh(stiffness[12:, 12:], mass[12:, 12:], eigvals_only=True)[0]) / (2 * math.pi)
    ratio = LOAD / MASS

    def lacks(x: float) -> float:  # of a clamped beam with a mass at its end
        across = math.cos(x) * math.sinh(x) - math.sin(x) * math.cosh(x)
        return 1 + math.cos(x) * math.cosh(x) + ratio * x * across

    stiff = [EI, SECTION["EI_y"]]
    return scipy.optimize.brentq(lacks, 0.1, 1.8) ** 2 * math.sqrt(min(stiff) / (MASS * L**3)) / (2 * math.pi)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_are_those_of_the_whole_machine(kind: str, folder: pathlib.Path) -> None:
    model = Carrier(made(kind, folder))
    model.world.modify(gravityType="NoGravity")
    assert linearize(model).frequencies.min() == pytest.approx(lowest(kind), rel=2e-3)


@pytest.mark.slow
@pytest.mark.campaign("segments", keep=1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_sweep_bends_it_in_proportion_to_its_load(kind: str, folder: pathlib.Path) -> None:
    model = Carrier(made(kind, folder, still=True))
    found = mbfmu.sweep(model, {"load.m": [0.1, 0.2, 0.3]}, ["height:initial"], 1e-6, threads=1)
    heights = np.ravel(found["height:initial"])
    assert heights == pytest.approx([-sag(kind, load) for load in (0.1, 0.2, 0.3)], rel=3e-3)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_finds_its_damping(kind: str, folder: pathlib.Path) -> None:
    name, true = ("beta", 2e-3) if kind == "segments" else ("damping", 0.04)
    measured = mbfmu.simulate(Carrier(made(kind, folder, **{name: true})), stop_time=0.3, interval=0.01, tolerance=1e-8)
    model = Carrier(made(kind, folder, **{name: true / 3}))
    found = mbfmu.fit(model, {"time": measured.time, "height": measured["height"]}, [f"body.{name}"], threads=1)
    assert found[f"body.{name}"] == pytest.approx(true, rel=1e-3)


class All(Assembly):
    """One of each kind."""

    stop_time = 0.05

    def __init__(self, folder: pathlib.Path) -> None:
        self.world = World(n=(0, 0, -1), g=G)
        for kind in KINDS:
            body = self.add(kind, made(kind, folder))
            load = self.add(f"load_{kind}", Body(m=LOAD, r_CM=(0, 0, 0.05)))
            self.connect(self.world.frame_b, body.frame_a)
            self.connect(getattr(body, "frame_b", None) or body.frame[0], load.frame_a)
            self.output(load.frame_a.r_0[2], kind)


@pytest.fixture(scope="module")
def fmus(folder: pathlib.Path) -> dict[tuple[int, str], pathlib.Path]:
    system = System.of(All(folder))
    return {
        (fmi, target): mbfmu.build(
            system, folder / f"{fmi}{target}.fmu", fmi=fmi, target=target, equations="interpreted"
        )
        for fmi, target in itertools.product((2, 3), ("native", "python"))
    }


@pytest.mark.slow
@pytest.mark.campaign
def test_all_kinds_move_alike_in_both_versions_and_targets(fmus: Any, instance_of: Any) -> None:
    rows = [instance_of(fmus[one]).run(5e-3, 6, read=KINDS) for one in itertools.product((2, 3), ("native", "python"))]
    for other in rows[1:]:
        np.testing.assert_array_equal(other, rows[0])
    assert np.ptp(rows[0], axis=0).min() > 1e-4


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("fmi", [2, 3])
def test_a_state_taken_in_mid_run_goes_on_to_the_same_bits(fmus: Any, instance_of: Any, fmi: int) -> None:
    one, other = instance_of(fmus[fmi, "native"]), instance_of(fmus[fmi, "native"])
    one.run(5e-3, 3)
    saved = one.save()
    wanted = one.run(5e-3, 4, first=3, read=KINDS)
    one.restore(saved)
    other.run(5e-3, 5)
    other.restore(saved)
    for again in (one, other):
        np.testing.assert_array_equal(again.run(5e-3, 4, first=3, read=KINDS), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_model_exchange_moves_them_as_co_simulation_does(fmus: Any, instance_of: Any, fmi: int) -> None:
    import fmpy

    found = fmpy.simulate_fmu(
        str(fmus[fmi, "native"]), fmi_type="ModelExchange", solver="CVode", relative_tolerance=1e-8, stop_time=0.03,
        output_interval=5e-3, output=list(KINDS),
    )  # fmt: skip
    rows = instance_of(fmus[fmi, "native"]).run(5e-3, 6, read=KINDS)
    for k, kind in enumerate(KINDS):
        assert found[kind][1:7] == pytest.approx(np.array(rows)[:, k], abs=1e-6)
        assert np.ptp(found[kind]) > 1e-4
