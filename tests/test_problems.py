"""Published problems: they agree with their references, and the report says so where they do not."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mbfmu.errors import ModelError
from problems import report, run
from problems.problem import Problem, Solution
from problems.topics import all_problems, chosen, topics

#: What a consumer of problems.json finds in each entry.
FIELDS = {"id", "title", "source", "quantity", "unit", "reference", "ours", "tolerance"}

#: What takes longest, by the first problem of a run. `make campaigns` and `make validation` solve it, where another of
#: its kind is solved here.
LONG = {
    # Bending: the tip under its load is that of the elastica; strips that twist are one more of them.
    "bending-rotating-tip",
    "bending-princeton",
    "bending-princeton-heavy",
    # Cars: one changes lanes here, and others corner; test_car.py couples this one.
    "vehicle-coupled",
    "vehicle-turn-response",
    "vehicle-steer-mirrored",
    "vehicle-single-track-gain",
    # A tippe top turns over here, and rows, shafts and other ratios of steps are coupled.
    "contact-rattleback-before",
    "coupling-multirate-10",
    # Brakes of a car and their heat are those of one wheel (tyre-braking) with four of them.
    "tyre-braking-car-creep",
    "vehicle-brake-heat",
    # An egg lies on a box here; test_contact_cylinders.py and test_contact_ellipsoids.py have the others at rest.
    "contact-box-on-box-energy",
    "contact-ellipsoids-energy",
    "contact-cylinder-on-box-energy",
    "contact-cylinders-energy",
    "contact-ellipsoid-on-cylinder-energy",
    "contact-stack-of-five",
    "contact-stack-of-ten",
    # A rotor of finite elements is solved here, plates by the same ways are not.
    "bending-plate-free",
}


def runs() -> dict[str, list[Problem]]:
    """What has to be solved, by the first problem of each; test_reference.py has the library."""
    found: dict[Any, list[Problem]] = {}
    for name in sorted(set(topics()) - {"library"}):
        for problem in topics()[name].PROBLEMS:
            found.setdefault((problem.solve, problem.tolerance), []).append(problem)
    return {problems[0].id: problems for problems in found.values()}


RUNS = runs()

#: Topics whose references are computed by equations of their own.
BY_HAND = [name for name, module in topics().items() if hasattr(module, "by_hand")]


@pytest.mark.slow
@pytest.mark.campaign(*LONG, keep=7)
@pytest.mark.parametrize("name", RUNS)
def test_a_problem_agrees_with_its_reference(name: str) -> None:
    assert [problem.id for problem in RUNS[name] if not problem.passes] == []


def test_what_is_left_out_is_there() -> None:
    assert RUNS.keys() >= LONG


#: The lowest frequencies of fine meshes: squares of the greatest, to which rounding is relative, are 1e6 times theirs,
#: and processors differ by 1e-10 of them.
ROUNDED = {"bending-rotor-files": 1e-9, "bending-rotor-free": 1e-9}


@pytest.mark.slow
@pytest.mark.campaign("braking", "coupled_car", "finite_elements", "governor", "tops", keep=5)  # long
@pytest.mark.parametrize("name", sorted(name for name in BY_HAND if name not in report.absent()))
def test_references_are_what_equations_by_hand_give(name: str) -> None:
    found, problems = topics()[name].by_hand(), all_problems()
    assert found
    for key, value in found.items():
        assert problems[key].origin == "computed"
        # What is integrated rounds in another way on each machine: far below what it judges, it has to stay the same.
        known = max(1e-11, 1e-4 * problems[key].error, ROUNDED.get(key, 0.0) * np.max(np.abs(value)))
        assert problems[key].reference == pytest.approx(value, abs=known), key


def test_a_problem_that_differs_does_not_pass() -> None:
    problem = all_problems()["andrews-beta"]
    assert problem.passes
    wrong = dataclasses.replace(problem, reference=problem.reference + 2 * problem.error)
    assert not wrong.passes
    assert not run.entry(wrong)["passes"]


def test_a_problem_that_cannot_be_solved_says_why() -> None:
    def solve(tolerance: float) -> Solution:
        if tolerance < 1e-7:
            raise ModelError("the wheel is off")
        return Solution({"wheel-x": [1.0, float("nan")]}, 0.0)

    problem = Problem("wheel-x", "Wheel", "a book", "x", "m", [1.0, 2.0], solve, error=1e-3, tolerance=1e-8)
    found = run.entry(problem)
    assert found["failure"] == "the wheel is off"
    assert found["ours"] is None
    assert found["runs"] == [
        {"tolerance": 1e-6, "ours": [1.0, None], "difference": None, "evaluations": None, "seconds": 0.0}
    ]
    coarse = dataclasses.replace(problem, tolerance=1e-6, tolerances=(1e-6,))
    assert not run.entry(coarse)["passes"]  # what is no number is nowhere near
    with pytest.raises(ValueError, match="ours has the shape"):
        dataclasses.replace(coarse, reference=1.0).difference(1e-6)


def test_every_module_with_problems_is_a_topic(root: pathlib.Path) -> None:
    written = {path.stem for path in (root / "problems").glob("*.py") if "\nPROBLEMS" in path.read_text("utf-8")}
    assert written == set(topics())
    assert all(problem.source and problem.quantity and problem.unit for problem in all_problems().values())


def test_problems_are_chosen_by_id_and_topic() -> None:
    assert [p.id for p in chosen(["four-bars-a02-x"])["four_bars"]] == ["four-bars-a02-x"]
    assert chosen(["andrews"]) == {"andrews": list(topics()["andrews"].PROBLEMS)}
    with pytest.raises(KeyError, match="andrew"):
        chosen(["andrew"])


@pytest.mark.slow
def test_the_report_holds_what_was_asked_for(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["andrews-beta", "andrews-rate-phi", "--no-pictures", "--folder", str(tmp_path)]
    assert run.main(arguments) == 0
    found = json.loads((tmp_path / "problems.json").read_text("utf-8"))
    assert [entry["id"] for entry in found] == ["andrews-beta", "andrews-rate-phi"]
    assert all(entry.keys() >= FIELDS for entry in found)
    assert found[0]["ours"] == pytest.approx(15.81077119629904, abs=1e-8)
    assert [one["tolerance"] for one in found[0]["runs"]] == [1e-6, 1e-9, 1e-12]
    assert all(one["evaluations"] > 100 for one in found[0]["runs"])
    page = (tmp_path / "problems.html").read_text("utf-8")
    assert "2 of 2 agree" in page
    assert '<span class="whole">15.8107711963</span>' in page  # which no line breaks at a sign or exponent
    assert "2 of 2 agree" in capsys.readouterr().out


def test_values_are_shown_as_far_as_they_count() -> None:
    assert report.number(15.81077119629904) == "15.8107711963"
    assert report.like(-1.63424829225e-13, 0.0) == "-1.6e-13"  # what ought to be zero has a size only
    assert report.like(1e-7, 2.0) == "1e-07"
    assert report.cost({"evaluations": 1296, "seconds": 0.00107}) == "1,296; 1.07 ms"
    assert report.cost({"evaluations": None, "seconds": 1.3912}) == "1.39 s"


@pytest.mark.slow
@pytest.mark.campaign
def test_the_report_has_a_picture_of_each_model(tmp_path: pathlib.Path) -> None:
    """Where Chromium is; without it the report says that they are missing."""
    said: list[str] = []
    problem = all_problems()["pleiades-1"]
    coarse = dataclasses.replace(problem, tolerance=1e-6, tolerances=(1e-6,), error=1.0)
    list(report.write([run.entry(coarse)], tmp_path, pictures=True, say=lambda text: said.append(str(text))))
    for text in said:
        if text.startswith("without pictures"):
            pytest.skip(text)
    (picture,) = (tmp_path / "pictures").glob("*.png")
    assert len(Image.open(picture).convert("RGB").getcolors()) > 10  # stars, not the ground of the picture alone
    assert (tmp_path / "problems.pdf").read_bytes().startswith(b"%PDF")
    assert "data:image/png;base64," in (tmp_path / "problems.html").read_text("utf-8")
