"""Several runs on one page: one over the other or side by side, on one clock, with the lines of all in the plots."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from browser_console import entries

import mbfmu
from mbfmu import cli
from mbfmu.cli.animating import _settings_of
from mbfmu.errors import MbfmuError
from mbfmu.scene import bundle
from mbfmu.scene.packing import bytes_of

pytestmark = pytest.mark.slow  # what its tests share takes seconds


@pytest.fixture(scope="module")
def runs() -> dict[str, mbfmu.Result]:
    """Return two runs of a pendulum, one of them shorter and damped."""
    if not bundle.BUNDLE.is_file():
        pytest.skip("the page's program was not made: npm was not there at set-up")
    damped = mbfmu.load("pendulum")
    damped.damper.modify(d=2.0)
    return {"free": mbfmu.simulate("pendulum", 2.0), "damped": mbfmu.simulate(damped, 1.0)}


@pytest.fixture(scope="module")
def browser(
    runs: dict[str, mbfmu.Result], opened: Callable[[pathlib.Path], Any], tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """Return a headless Chromium with both on one page."""
    return opened(mbfmu.animate(runs, tmp_path_factory.mktemp("page") / "both.html"))


def model_of(page: str) -> dict[str, Any]:
    """What a page is told."""
    found = re.search(r'id="model">([^<]*)<', page)
    assert found
    model: dict[str, Any] = json.loads(bytes_of(found[1]))
    return model


def test_each_moves_as_its_run_does(browser: Any, runs: dict[str, mbfmu.Result]) -> None:
    for instant in (0.5, 1.0, 1.6):
        found = browser.execute_script(
            """
            viewer.show(arguments[0]);
            return [0, 1].map((run) => viewer.meshesOf("body", run)[0].parent.matrixWorld.elements.slice(0, 2));
            """,
            instant,
        )
        for along, run in zip(found, runs.values(), strict=True):
            phi = np.interp(instant, run.time, run["rev.phi"])  # what has ended stays as it is
            np.testing.assert_allclose(along, [np.cos(phi), np.sin(phi)], atol=1e-3)
    assert entries(browser) == []


def test_the_second_is_translucent_and_the_world_is_there_once(browser: Any) -> None:
    opacities, shadows, worlds = browser.execute_script(
        """
        viewer.render();
        const bodies = [0, 1].map((run) => viewer.meshesOf("body", run)[0]);
        const worlds = viewer.meshes.filter(({ userData, visible }) => userData.kind === "World" && visible);
        return [bodies.map(({ material }) => material.transparent ? material.opacity : 1),
                bodies.map(({ castShadow }) => castShadow), [...new Set(worlds.map(({ userData }) => userData.run))]];
        """
    )
    assert opacities[0] == 1
    assert 0.2 < opacities[1] < 0.7
    assert shadows == [True, False]
    assert worlds == [0]


def test_plots_have_the_lines_of_both_and_their_names(browser: Any, runs: dict[str, mbfmu.Result]) -> None:
    text, series, ends = browser.execute_script(
        """
        viewer.show(1.0);
        const [{ chart }] = viewer.plots.charts, [times, ...lines] = chart.data;
        const last = (line) => times[line.findLastIndex((value) => value !== null)];
        return [document.querySelector(".chip").textContent, chart.series.slice(1).map(({ dash }) => dash.length),
                [...lines.map(last), times.length]];
        """
    )
    degrees = [np.degrees(run["rev.phi"][np.searchsorted(run.time, 1.0)]) for run in runs.values()]
    shown = re.findall(r"(free|damped) (-?[\d.]+) deg", text)
    assert [name for name, _ in shown] == ["free", "damped"]
    np.testing.assert_allclose([float(value) for _, value in shown], degrees, rtol=2e-3)
    assert series[0] == 0, "the first is drawn through"
    assert series[1] > 0, "the second is dashed"
    assert ends[:2] == pytest.approx([2.0, 1.0])


def test_side_by_side_they_have_a_view_each_and_one_camera(browser: Any) -> None:
    views, kinds, picked, captions = browser.execute_script(
        """
        document.getElementById("split").click();
        viewer.render();
        const views = viewer.views(), kinds = [], render = viewer.renderer.render.bind(viewer.renderer);
        viewer.renderer.render = (scene, camera) => {
          const seen = viewer.meshes.filter(({ visible }) => visible);
          kinds.push([[...new Set(seen.map(({ userData }) => userData.run))], camera.uuid]);
          render(scene, camera);
        };
        viewer.render();
        viewer.renderer.render = render;
        const picked = [0, 1].map((run) => {
          const [mesh] = viewer.meshesOf("body", run), view = views[run];
          mesh.geometry.computeBoundingBox();
          const at = mesh.geometry.boundingBox.getCenter(viewer.controls.target.clone());
          at.applyMatrix4(mesh.matrixWorld).project(viewer.camera);
          const x = view.left + (at.x + 1) / 2 * view.width, y = view.top + (1 - at.y) / 2 * view.height;
          return [viewer.componentAt(x, y), viewer.hit.object.userData.run];
        });
        const captions = [...document.querySelectorAll("#captions span")].map(({ hidden, textContent, style }) =>
          [hidden, textContent, parseFloat(style.left)]);
        document.getElementById("split").click();
        return [views.map(({ left, width, run }) => [left, width, run]), kinds, picked, captions];
        """
    )
    width = browser.execute_script("return window.innerWidth")
    assert views == [[0, width / 2, 0], [width / 2, width / 2, 1]]
    assert [runs for runs, _ in kinds] == [[0], [1]]
    assert kinds[0][1] == kinds[1][1]
    assert picked == [["body", 0], ["body", 1]]
    assert captions == [[False, "free", width / 4], [False, "damped", 3 * width / 4]]
    assert browser.execute_script("return viewer.views().length") == 1


def test_a_run_can_be_hidden(browser: Any) -> None:
    seen = browser.execute_script(
        """
        const [button] = document.querySelectorAll("#runs button"), seen = () => {
          viewer.render();
          return [...new Set(viewer.meshes.filter(({ visible }) => visible).map(({ userData }) => userData.run))];
        };
        button.click();
        const without = seen();
        button.click();
        return [without, seen()];
        """
    )
    assert seen == [[1], [0, 1]]


def test_several_models_and_names(tmp_path: pathlib.Path) -> None:
    """Variables that one alone has are plotted of it alone."""
    model = model_of(mbfmu.animate(["pendulum", "double_pendulum", "pendulum"], stop_time=0.1).text)
    assert [run["name"] for run in model["runs"]] == ["pendulum 1", "double_pendulum", "pendulum 2"]
    assert model["name"] == "Pendulum, DoublePendulum"
    place = [entry["name"] for entry in model["variables"]].index("rev.phi")
    assert [run["columns"][place] is None for run in model["runs"]] == [False, True, False]


def test_the_command_gives_values_to_one_of_several(tmp_path: pathlib.Path) -> None:
    names = {"soft": "a", "stiff": "b"}
    given = ["damper.d=1", "stiff.damper.d=2", "soft.body.m=3", "stiffness=4"]
    assert _settings_of("soft", names, given) == ["damper.d=1", "body.m=3", "stiffness=4"]
    page = tmp_path / "both.html"
    line = ["animate", "free=pendulum", "damped=pendulum", "--side-by-side", "--stop", "0.5", "-o", str(page)]
    assert cli.main([*line, "-p", "damped.damper.d=2"]) == 0
    model = model_of(page.read_text(encoding="utf-8"))
    assert model["side_by_side"] is True
    place = [entry["name"] for entry in model["variables"]].index("damper.tau")
    steps = [run["levels"]["curves"][1 + run["columns"][place]][1] for run in model["runs"]]
    assert abs(steps[1]) > 3 * abs(steps[0]), "both have the same damper"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["pendulum", "pendulum"], "pendulum: two sources have this name; write left=pendulum right=pendulum"),
        (["pendulum", "free_body", "--live"], "a live page runs one model"),
        (["pendulum", "free_body", "-o", "a.glb"], "several runs are compared on a page; choose a.html"),
        (["pendulum", "--side-by-side"], "--side-by-side is for several sources"),
        (["pendulum", "free_body", "--colors", "grey"], "pages have 'calm' or 'modelica'"),
    ],
)
def test_what_cannot_be_compared(
    line: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: pathlib.Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["animate", *line]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_what_python_refuses(runs: dict[str, mbfmu.Result], tmp_path: pathlib.Path) -> None:
    page = tmp_path / "a.html"
    with pytest.raises(MbfmuError, match="a result is shown as it was simulated; leave stop_time out"):
        mbfmu.animate(runs, page, 1.0)
    with pytest.raises(MbfmuError, match="there is nothing to animate"):
        mbfmu.animate([], page)
    with pytest.raises(MbfmuError, match="side_by_side is for several runs"):
        mbfmu.animate("pendulum", page, side_by_side=True)
    with pytest.raises(MbfmuError, match="this is a result; give the model"):
        mbfmu.animate(runs["free"], page, live=True)
