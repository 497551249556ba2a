"""A sample of what `tests/hosts/gallery.py` and `random_calls.py` do with the gallery; hosts that are missing skip."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import pytest

from mbfmu.runtime.compilers import find_compiler

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import gallery
import random_calls

#: Events; quaternions; a loop; a massless point; a flange as interface; branches of motion that cross; chaos.
SAMPLE = (
    "engine_1b", "heavy_top", "four_bar", "three_springs", "powertrain", "planar_loop_release", "bevel_gear"
)  # fmt: skip

#: Equations that are iterated: of a circuit, a network, and accelerations.
ITERATED = ("Clamp", "Orifices", "FedBack")
_MODELS = pathlib.Path(__file__).resolve().parents[1] / "dynamics" / "nonlinear_models.py"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, gallery.Case]:
    names = {name: name for name in SAMPLE} | {name: f"{_MODELS}:{name}" for name in ITERATED}
    return {name: gallery.Case(source, tmp_path_factory.mktemp(name)) for name, source in names.items()}


@pytest.mark.parametrize("name", [*SAMPLE, *ITERATED])
def test_importers_that_restart_only_when_told_get_the_motion_of_co_simulation(cases, name):
    """Model exchange under SciPy's BDF: events are told, and drift is taken back without them."""
    case = cases[name]
    if not case.exchanged():
        pytest.skip("is not offered for model exchange")
    run = gallery.Importer(case.fmus[2], case.outputs, gallery.TOLERANCE)
    rows = run.run(case.wanted["time"][: case.known])
    assert case.difference(dict(zip(case.outputs, rows.T, strict=True))) < 1e-4
    assert case.known > 90  # half a second of what is chaotic
    assert run.restarts < (60 if case.description.numberOfEventIndicators else 4)


@pytest.mark.parametrize("name", ["engine_1b", "heavy_top", *ITERATED])
def test_libcosim_runs_our_fmus(cases, name):
    if not importlib.util.find_spec("libcosimpy"):
        pytest.skip("libcosimpy is not installed: pip install libcosimpy")
    assert cases[name].difference(gallery.libcosim(cases[name]), by_default=True) < 1e-4


@pytest.mark.parametrize("name", ["engine_1b", "heavy_top", *ITERATED])
def test_ecos_runs_our_fmus(cases, name):
    if not importlib.util.find_spec("ecospy"):
        pytest.skip("ecospy is not installed: pip install ecospy tbb")
    assert cases[name].difference(gallery.ecos(cases[name]), by_default=True) < 1e-4


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["powertrain", "engine_1b"])
def test_random_calls_meet_no_wrong_status_and_no_undefined_behaviour(tmp_path, name):
    done = random_calls.run(name, 3000, tmp_path)
    assert done.stderr == ""
    assert done.returncode == 0
    assert sum(map(int, done.stdout.split())) >= 3000
