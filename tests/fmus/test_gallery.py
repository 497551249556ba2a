"""Every assembly of the gallery: its expected outputs in this process, a sample of them through FMUs."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import fmpy
import numpy as np
import pytest
from PIL import Image

import mbfmu
from mbfmu.fmus import expected, live_pages, pictures
from mbfmu.modeling.registry import assemblies
from mbfmu.runtime.run import run

GALLERY = assemblies()

#: Assemblies that also run as FMUs: switches, a loop, wheels, a gravity function.
AS_FMU = (
    ("engine_1b", "native"),
    ("four_bar", "native"),
    ("wheel_set_driving", "python"),
    ("user_defined_gravity_field", "python"),
)

#: Those that are the dearest to derive or to run; others have what they are made of.
LARGE = (
    "boom_crane",
    "dominoes",
    "engine_v6",
    "flexible_robot",
    "flexible_rotor",
    "flexible_slider_crank",
    "gripper",
    "lane_change",
    "walker",
)

#: Error allowed relative to a signal's range, by the tolerance of the runs compared.
ALLOWED = 1e-5

#: Pairs of outputs that one mechanism written in two ways gives.
TWINS = {
    "gyroscopic_effects": [("w_with_body", "w_with_rotor"), ("revolute.w", "rotor1D.w")],
    "actuated_drive": [("revolute.phi", "rotor1D.phi")],
    "moving_actuated_drive": [
        ("with_body.swivel.phi", "with_rotor.swivel.phi"),
        ("with_body.tilt.phi", "with_rotor.tilt.phi"),
        ("with_body.drive.revolute.w", "with_rotor.drive.rotor1D.w"),
    ],
    "spring_mass_system": [("p1.s", "p2.s")],
}


def compare(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    for name, values in wanted.items():
        scale = max(float(np.ptp(values)), 1e-3 * float(np.abs(values).max()), 1e-6)
        np.testing.assert_allclose(found[name], values, rtol=0, atol=ALLOWED * scale, err_msg=name)


def expectation(name: str) -> dict[str, np.ndarray]:
    return {column: np.array(values) for column, values in expected.read(expected.path_of(name, GALLERY[name])).items()}


@pytest.mark.slow
@pytest.mark.campaign(*LARGE, keep=6)
@pytest.mark.parametrize("name", sorted(GALLERY))
def test_in_this_process(name: str, gallery_system: Callable[[str], mbfmu.System]) -> None:
    compare(expected.outputs_of(name, gallery_system(name), 1e-9).to_dict(), expectation(name))


@pytest.mark.slow
@pytest.mark.campaign(*LARGE, keep=6)
@pytest.mark.parametrize("tolerance", [0.1, 1.0])
@pytest.mark.parametrize("name", sorted(GALLERY))
def test_loose_tolerances_run(name: str, tolerance: float, gallery_system: Callable[[str], mbfmu.System]) -> None:
    """Step errors of 10 % would feed energy to a motion until no step is short enough."""
    made = gallery_system(name)
    result = run(made.equations, made.variables, tolerance=tolerance, outputs=["time"])
    assert result.time[-1] == made.equations.stop_time


@pytest.mark.slow
@pytest.mark.campaign(*LARGE, keep=6)
@pytest.mark.parametrize("name", sorted(GALLERY))
def test_each_builds(name: str, gallery_fmu: Callable[..., pathlib.Path]) -> None:
    path = gallery_fmu(name, target="python")
    description = fmpy.read_model_description(str(path), validate=True)
    assert {v.name for v in description.modelVariables if v.causality == "output"} > set()


@pytest.mark.slow
@pytest.mark.campaign("native", keep=2)
@pytest.mark.parametrize(("name", "target"), AS_FMU)
def test_as_fmu(name: str, target: str, gallery_fmu: Callable[..., pathlib.Path]) -> None:
    wanted = expectation(name)
    path = gallery_fmu(name, target=target)
    rows = fmpy.simulate_fmu(
        str(path),
        start_time=wanted["time"][0],
        stop_time=wanted["time"][-1],
        output_interval=wanted["time"][1] - wanted["time"][0],
        relative_tolerance=1e-9,
        output=[n for n in wanted if n != "time"],
    )
    compare({n: rows[n] for n in wanted}, wanted)


@pytest.mark.parametrize("name", sorted(TWINS))
def test_twins_move_alike(name: str) -> None:
    wanted = expectation(name)
    for one, other in TWINS[name]:
        columns = [n for n in wanted if n == one or n.startswith(f"{one}[")]
        for column in columns:
            twin = other + column[len(one) :]
            np.testing.assert_allclose(wanted[column], wanted[twin], rtol=1e-7, atol=1e-7, err_msg=column)
        assert columns


def test_both_engines_are_one() -> None:
    """The aggregated joint of engine_1b_analytic is another way to write the loop of engine_1b."""
    loop, aggregated = expectation("engine_1b"), expectation("engine_1b_analytic")
    for name in ("inertia.phi", "inertia.w", "gasForce.press"):
        np.testing.assert_allclose(loop[name], aggregated[name], rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", sorted(GALLERY))
def test_each_is_described(name: str) -> None:
    """A readme that names the outputs and how to build it, and a first line of its own."""
    readme = (expected.path_of(name, GALLERY[name]).parent / "README.md").read_text("utf-8")
    assert f"mbfmu build {name}" in readme
    assert GALLERY[name].__doc__
    assert GALLERY[name].__doc__ != GALLERY[name].__base__.__doc__


def test_the_page_of_pictures_is_whole() -> None:
    """docs/gallery.md says what the classes say, and each has its picture."""
    assert (pictures.DOCS / "gallery.md").read_text(encoding="utf-8") == pictures.page(assemblies())
    assert {path.stem for path in pictures.PICTURES.glob("*.png")} == set(assemblies())


@pytest.mark.slow
def test_rendered_pictures_are_shown_and_small() -> None:
    """Each is in the readme of its assembly; live pages are made of assemblies that are there."""
    for path in pictures.SCENES.iterdir():
        readme = expected.path_of(path.stem, GALLERY[path.stem]).parent / "README.md"
        if readme.parent.name == path.stem:
            assert f"../../docs/images/scenes/{path.name}" in readme.read_text(encoding="utf-8")
        assert path.stat().st_size <= 48_000  # lines of the ground fill much of it
        values = np.asarray(Image.open(path).convert("RGB")).astype(int)
        is_thing = (np.ptp(values, axis=2) > 40) | (values.min(axis=2) < 140)
        assert is_thing.sum() > 300, f"{path.name}: nothing but ground and sky"
    assert len(list(pictures.SCENES.iterdir())) > 20
    assert pictures.MOVING.stat().st_size <= 400_000
    assert set(live_pages.NAMES) <= set(GALLERY)


def test_a_page_that_is_too_large_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the writer alone: what pages take is measured by `make sizes`, of all, and by tests of the largest."""
    sizes = {True: 1_200_000, False: 600_001}

    def written(model: mbfmu.Assembly, path: pathlib.Path, live: bool) -> pathlib.Path:
        path.write_bytes(bytes(sizes[live]))
        return path

    monkeypatch.setattr(live_pages, "animate", written)
    monkeypatch.setattr(live_pages, "assemblies", lambda: {"pendulum": GALLERY["pendulum"]})
    assert live_pages.main([str(tmp_path), "pendulum"]) == 0
    assert live_pages.main([str(tmp_path), "--all"]) == 1
    assert "pendulum_recorded.html has 600 kB, more than 600 kB" in capsys.readouterr().err


@pytest.mark.slow
def test_the_torque_of_the_vehicle_has_a_unit(gallery_system: Callable[[str], mbfmu.System]) -> None:
    (torque,) = (v for v in gallery_system("vehicle").variables if v.causality == "input")
    assert (torque.name, torque.unit, torque.start) == ("torque", "N.m", 100.0)
