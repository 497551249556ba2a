"""Reference experiments of any tool, read from an unpacked FMU and run again in this process, against closed forms."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.components import blocks
from mbfmu.errors import ValidationError
from mbfmu.fmi.experiments import FOLDER, MANIFEST, USUAL, Transient, replay, transients


class Store(Assembly):
    """y' = k u from 0; it ends at 0.8 s."""

    def __init__(self) -> None:
        self.integrator = blocks.Integrator(k=2.0, y=Start(0.0, fixed=True))
        self.full = blocks.TerminateSimulation(condition=lambda time: time >= 0.8)
        self.input(self.integrator.u, "u")
        self.output(self.integrator.y, "y")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return mbfmu.build(Store(), tmp_path_factory.mktemp("store"), equations="interpreted", fmi=3)


def table(file: pathlib.Path, header: str, rows: Any) -> pathlib.Path:
    text = "\n".join(",".join(map(repr, map(float, row))) for row in rows)
    file.write_text(f"{header}\n{text}\n", encoding="utf-8")
    return file


def experiment(folder: pathlib.Path, times: Any, y: Any, **changes: Any) -> Transient:
    """Input 1 + 3 t, by two rows, and expected results at some times."""
    given = {
        "name": "one", "start": None, "stop": None, "step": None, "tolerance": 1e-9, "parameters": None,
        "stimuli": table(folder / "in.csv", "time,u", [(0, 1), (1, 4)]),
        "references": table(folder / "ref.csv", "time,y", zip(times, y, strict=True)),
    }  # fmt: skip
    return Transient(**(given | changes))


TIMES = np.array([0.0, 0.13, 0.4, 0.5])


def filled(times: np.ndarray, k: float = 2.0) -> np.ndarray:
    """Integral of k (1 + 3 t)."""
    return k * (times + 1.5 * times**2)


def parameters(folder: pathlib.Path, k: str) -> pathlib.Path:
    file = folder / "set.ssv"
    file.write_text(
        '<s:ParameterSet xmlns:s="x"><!-- all --><s:Parameters><s:Parameter name="integrator.k"><!-- one -->'
        f'<s:Real value="{k}"/><s:Real/></s:Parameter></s:Parameters></s:ParameterSet>',
        encoding="utf-8",
    )
    return file


@pytest.mark.parametrize("step", [None, 0.01, 0.1])
def test_what_agrees_with_the_closed_form_holds(
    step: float | None, store: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """At the table's own times, or on a grid of the experiment's steps, which is read between by lines.

    Lines across steps of 0.01 s leave y'' h^2 / 8 = 7.5e-5 of them, those of 0.1 s 7.5e-3: allowed are 0.002 of 1.75.
    """
    problems = replay(store, experiment(tmp_path, TIMES, filled(TIMES), step=step))
    assert bool(problems) == (step == 0.1), problems
    times = np.array([0.0, 0.25, 0.5])
    assert replay(store, experiment(tmp_path, times, filled(times), step=0.25, relative=1e-7)) == []


def test_parameters_of_the_experiment_are_set(store: pathlib.Path, tmp_path: pathlib.Path) -> None:
    own = {"parameters": parameters(tmp_path, "0.5")}
    assert replay(store, experiment(tmp_path, TIMES, filled(TIMES, 0.5), **own)) == []
    (problem,) = replay(store, experiment(tmp_path, TIMES, filled(TIMES), **own))
    assert problem == 'Experiment "one": y is off by 1.3 at 0.5 s, where 0.0035 is allowed.'


@pytest.mark.parametrize(
    ("off", "limits", "holds"),
    [
        (0.9 * USUAL * 1.75, {}, True),
        (1.1 * USUAL * 1.75, {}, False),
        (0.9 * 0.01 * 1.75, {"relative": 0.01}, True),
        (0.9 * (0.01 * 1.75 + 0.02), {"relative": 0.01, "absolute": 0.02}, True),
        (1.1 * (0.01 * 1.75 + 0.02), {"relative": 0.01, "absolute": 0.02}, False),
        (np.nan, {}, False),
    ],
    ids=["within", "beyond", "relative", "both", "beyond both", "no number"],
)
def test_what_is_allowed_is_a_part_of_the_greatest_magnitude_and_an_absolute_one(
    off: float, limits: dict[str, float], holds: bool, store: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """y is 0.365 at 0.13 s and 1.75 at the end, of which what is allowed is a part."""
    expected = filled(TIMES)
    expected[1] += off
    problems = replay(store, experiment(tmp_path, TIMES, expected, **limits))
    assert (problems == []) == holds, problems
    assert holds or " at 0.13 s, " in problems[0]


def test_rows_of_one_time_are_either_side_of_an_event_and_not_compared(
    store: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    times = np.array([0.0, 0.2, 0.2, 0.5])
    expected = filled(times)
    expected[1:3] += [9.0, -9.0]
    assert replay(store, experiment(tmp_path, times, expected)) == []
    expected[3] += 1.0
    (problem,) = replay(store, experiment(tmp_path, times, expected))
    assert " y is off by 1 at 0.5 s, " in problem
    twice = np.array([0.0, 0.0])
    assert replay(store, experiment(tmp_path, twice, [5.0, 6.0], stop=0.1)) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"references": ("time,z", [(0, 0), (0.5, 1)])}, 'there is no variable "z"'),
        ({"stimuli": ("time,v", [(0, 0), (0.5, 1)])}, "fails: Store: .*'v'"),
        ({"references": ("time,y", [(0, 0), (0.9, 4)])}, "Store ends the run at 0.8 s: .*End condition reached"),
        ({"start": 0.5, "stop": 0.2}, r"it begins at 0\.5 s and ends at 0\.2 s, before that\."),
    ],
    ids=["output", "input", "end", "times"],
)  # fmt: skip
def test_experiments_that_cannot_be_run_to_their_ends_are_told(
    changes: dict[str, Any], words: str, store: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    files = {key: table(tmp_path / f"{key}.csv", *value) for key, value in changes.items() if isinstance(value, tuple)}
    (problem,) = replay(store, experiment(tmp_path, TIMES, filled(TIMES), **(changes | files)))
    assert re.match(f'Experiment "one":? {words}', problem), problem


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no rows of numbers"),
        ("\n\n", "it has no rows of numbers"),
        ("time,y\n", "it has no rows of numbers"),
        ("time,y\n0,many\n", "many"),
        ("time,y\n0,1\n1\n", "index"),
        (None, "No such file"),
    ],
    ids=["empty", "blank", "header", "word", "short row", "missing"],
)
def test_tables_that_cannot_be_read_are_refused(
    text: str | None, words: str, store: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    one = experiment(tmp_path, TIMES, filled(TIMES))
    one.references.unlink()
    if text is not None:
        one.references.write_text(text, encoding="utf-8")
    with pytest.raises(ValidationError, match=rf'^The table "ref\.csv" cannot be read \(.*{words}'):
        replay(store, one)


def test_parameters_that_are_no_numbers_are_refused(store: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValidationError, match=r"^set\.ssv: \"integrator\.k\" is 'fast', no number\."):
        replay(store, experiment(tmp_path, TIMES, filled(TIMES), parameters=parameters(tmp_path, "fast")))


# -- what an unpacked FMU holds


FILES = '<Parameters source="set.ssv"/><Stimuli source="in.csv"/><References source="ref.csv">{}</References>'
MANIFEST_OF_ONE = (
    '<fmiReferences xmlns:m="http://fmi-standard.org/fmi-ls-manifest" m:fmi-ls-name="org.fmi-standard.fmi-ls-ref">{}'
    "</fmiReferences>"
)
RELATED = '<Related role="experiment" type="application/x-ma-hs-experiments" source="all.exp"/>'


def unpacked(folder: pathlib.Path, experiments: str, related: str = RELATED) -> pathlib.Path:
    place = folder / FOLDER
    place.mkdir(parents=True)
    (place / MANIFEST).write_text(MANIFEST_OF_ONE.format(related), encoding="utf-8")
    (place / "all.exp").write_text(f"<Experiments>{experiments}</Experiments>", encoding="utf-8")
    for name in ("set.ssv", "in.csv", "ref.csv"):
        (place / name).write_text("", encoding="utf-8")
    return folder


def test_an_fmu_without_a_manifest_has_no_experiments(tmp_path: pathlib.Path) -> None:
    assert list(transients(tmp_path)) == []


LIMITS = '<Annotations><Annotation type="io.github.mbfmu"><Comparison relative="0.1" absolute="{}"/></Annotation>'
LIMITS += "</Annotations>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '<Experiment name="a" tolerance="1e-6"><!-- c --><TransientSimulation startTime="1" stopTime="2" '
            f'stepSize="0.5"/>{FILES.format("")}</Experiment>',
            ("a", 1.0, 2.0, 0.5, 1e-6, USUAL, 0.0),
        ),
        (
            f'<Experiment startTime="3" stopTime="4">{FILES.format(LIMITS.format("0.2"))}</Experiment>',
            ("1", 3.0, 4.0, None, None, 0.1, 0.2),
        ),
        (f'<Experiment name="a"><SteadyState/>{FILES.format("")}</Experiment>', None),
        ('<Experiment name="a"><Stimuli source="in.csv"/></Experiment>', None),
        ('<Experiment name="a"><References source="ref.csv" type="application/x-hdf5"/></Experiment>', None),
        ('<Experiment name="a"><References source="https://example.org/ref.csv"/></Experiment>', None),
    ],
    ids=["schema", "text", "another kind", "no references", "another format", "from elsewhere"],
)
def test_runs_over_time_with_tables_are_found(text: str, expected: Any, tmp_path: pathlib.Path) -> None:
    found = list(transients(unpacked(tmp_path, text)))
    told = [(t.name, t.start, t.stop, t.step, t.tolerance, t.relative, t.absolute) for t in found]
    assert told == ([] if expected is None else [expected])
    place = tmp_path.resolve() / FOLDER
    for one in found:
        assert (one.parameters, one.stimuli, one.references) == (
            place / "set.ssv", place / "in.csv", place / "ref.csv",
        )  # fmt: skip


@pytest.mark.parametrize(
    "related",
    [
        RELATED.replace('role="experiment"', 'role="result"'),
        RELATED.replace("x-ma-hs-experiments", "x-other"),
        RELATED.replace("all.exp", "https://example.org/all.exp"),
    ],
    ids=["role", "type", "elsewhere"],
)
def test_other_related_files_are_passed_over(related: str, tmp_path: pathlib.Path) -> None:
    assert list(transients(unpacked(tmp_path, f"<Experiment>{FILES.format('')}</Experiment>", related))) == []


@pytest.mark.parametrize(
    ("experiments", "related", "words"),
    [
        ("", "<Related/>", r'^"extra/.*/fmi-ls-manifest\.xml", line 1: a source or a known role is missing'),
        ("", RELATED.replace(' source="all.exp"', ""), "line 1: a source or a known role is missing"),
        ("", RELATED.replace("experiment", "trial", 1), "line 1: a source or a known role is missing"),
        ("", RELATED.replace("fmi-ls-ref", "x") + "<broken", r"fmi-ls-manifest\.xml\" is not XML \("),
        ("<broken", RELATED, r"^\"extra/.*/all\.exp\" is not XML \("),
        ("", RELATED.replace("all.exp", "more.exp"), r'^The related file "more\.exp" is not in the archive'),
        ('<Experiment stopTime="x"/>' + FILES, RELATED, None),
        (f'<Experiment stopTime="x">{FILES}</Experiment>', RELATED, "^Experiment 1: stopTime is 'x', no number"),
        (
            f"<Experiment><SteadyState/></Experiment><Experiment>{FILES.format(LIMITS.format('x'))}</Experiment>",
            RELATED,
            "^Experiment 2: what is allowed, absolute, is 'x', no number",
        ),
    ],
    ids=["nothing", "source", "role", "manifest", "file", "missing", "nothing to run", "number", "limit"],
)
def test_manifests_and_experiments_that_are_wrong_are_refused(
    experiments: str, related: str, words: str | None, tmp_path: pathlib.Path
) -> None:
    folder = unpacked(tmp_path, experiments, related)
    if words is None:
        assert list(transients(folder)) == []
    else:
        with pytest.raises(ValidationError, match=words):
            list(transients(folder))


def test_a_manifest_of_another_layer_is_refused(tmp_path: pathlib.Path) -> None:
    file = unpacked(tmp_path, "") / FOLDER / MANIFEST
    for old, new in (("fmi-ls-ref", "fmi-ls-xcp"), ("fmiReferences", "fmiModel")):
        file.write_text(MANIFEST_OF_ONE.format(RELATED).replace(old, new), encoding="utf-8")
        with pytest.raises(ValidationError, match=r"is no manifest of org\.fmi-standard\.fmi-ls-ref"):
            list(transients(tmp_path))
