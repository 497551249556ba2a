"""The animation page in a browser, where one is: it opens from disk, scrubs, and tells what is clicked."""

from __future__ import annotations

import json
import pathlib
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from browser_console import entries
from scipy.interpolate import CubicSpline

import mbfmu
from mbfmu.components import Body, BodyBox, BodyCylinder, ModalBody, Prismatic, Revolute, World, blocks, visualizers
from mbfmu.components.contact import Contact, Plane, Sphere
from mbfmu.dynamics.showing.scene import Scene
from mbfmu.dynamics.system import System
from mbfmu.errors import MbfmuError
from mbfmu.fmus import rendering, screens
from mbfmu.modeling import Assembly, Start
from mbfmu.runtime.rounding import cleared, noise_of_series
from mbfmu.scene import bundle
from mbfmu.scene.motion import largest_turn, motion
from mbfmu.scene.packing import bytes_of
from mbfmu.scene.page import TOLERANCE
from mbfmu.simulation import simulate


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the page of the double pendulum."""
    if not bundle.BUNDLE.is_file():
        pytest.skip("the page's program was not made: npm was not there at set-up")
    return mbfmu.animate(mbfmu.load("double_pendulum"), tmp_path_factory.mktemp("page") / "pendulum.html")


@pytest.fixture(scope="module")
def browser(page: pathlib.Path, opened: Callable[[pathlib.Path], Any]) -> Any:
    """Return a headless Chromium that has loaded the page from disk."""
    return opened(page)


def test_the_page_is_one_small_file_without_links(page: pathlib.Path) -> None:
    assert page.stat().st_size < 600_000
    text = page.read_text(encoding="utf-8")
    assert '<link rel="stylesheet"' not in text
    assert re.search(r"<[^>]*\b(src|href)=(?!.data:,)", text) is None


@pytest.mark.slow
@pytest.mark.campaign
def test_pages_of_what_bends_are_small(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    assert mbfmu.animate("flexible_rotor", tmp_path / "rotor.html").stat().st_size < 400_000


@pytest.mark.slow
@pytest.mark.campaign
def test_the_page_with_the_most_curves_is_small(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    file = mbfmu.animate("lane_change", tmp_path / "car.html")
    assert file.stat().st_size < 600_000
    found = re.search(r'id="model">([^<]*)<', file.read_text(encoding="utf-8"))
    assert found
    (run,) = json.loads(bytes_of(found[1]))["runs"]
    assert len(run["levels"]["curves"]) > 500
    assert run["points"] > 400


def test_what_is_rounding_is_no_curve(page: pathlib.Path) -> None:
    """The torque of a hinge without a drive: 5e-14 N.m beside 100 N.m."""
    found = re.search(r'id="model">([^<]*)<', page.read_text(encoding="utf-8"))
    assert found
    model = json.loads(bytes_of(found[1]))
    (run,) = model["runs"]
    names = [variable["name"] for variable in model["variables"]]
    places = {name: run["columns"][names.index(f"revolute2.{name}")] + 1 for name in ("tau", "w")}
    curves = {name: run["levels"]["curves"][place] for name, place in places.items()}
    assert 0 < np.abs(mbfmu.simulate("double_pendulum", outputs=["revolute2.tau"])["revolute2.tau"]).max() < 1e-12
    assert curves["tau"][0] == 0.0
    assert curves["w"][0] != 0.0


def test_it_loads_without_a_word_in_the_console(browser: Any) -> None:
    assert browser.execute_script("return document.documentElement.dataset.ready") == "yes"
    assert entries(browser) == []
    assert browser.execute_script("return document.querySelector('#problem').hidden")


def test_the_canvas_shows_something(browser: Any, colours: str) -> None:
    assert browser.execute_script(colours) > 20


@pytest.mark.slow
def test_a_scrub_shows_the_right_positions(browser: Any) -> None:
    system = System.of(mbfmu.load("double_pendulum"), scene=True)
    assert isinstance(system.scene, Scene)
    result = simulate(system, outputs=list(system.scene.variables))
    (shape,) = (shape for shape in system.scene.shapes if shape.component == "boxBody2")
    between = 0.5 * (result.time[200] + result.time[201])
    for instant in (*result.time[[0, 137, 350, -1]], between, result.time[0] + 0.3 * result.time[1]):
        found = browser.execute_script(
            """
            const scrub = document.getElementById("scrub");
            scrub.value = String(arguments[0]);
            scrub.dispatchEvent(new Event("input"));
            const [mesh] = viewer.meshesOf("boxBody2");
            return [mesh.matrixWorld.elements.slice(12, 15), mesh.matrixWorld.elements.slice(0, 3)];
            """,
            float(instant / result.time[-1]),
        )

        def at(quantity: Any, instant: float = instant) -> float:
            return float(CubicSpline(result.time, result[quantity])(instant)) if isinstance(quantity, str) else quantity

        np.testing.assert_allclose(found[0], [at(q) for q in shape.r], atol=1.1 * TOLERANCE)  # of 1 m
        along = np.array(found[1]) / np.linalg.norm(found[1])
        np.testing.assert_allclose(along, [at(q) for q in shape.T[::3]], atol=4 * TOLERANCE)


def test_a_click_names_the_part_and_shows_its_variables(browser: Any) -> None:
    shown = browser.execute_script(
        """
        viewer.show(0.5);
        const [mesh] = viewer.meshesOf("boxBody2");
        mesh.geometry.computeBoundingBox();
        const at = mesh.geometry.boundingBox.getCenter(viewer.controls.target.clone());
        at.applyMatrix4(mesh.matrixWorld).project(viewer.camera);
        const view = document.getElementById("view").getBoundingClientRect();
        const place = {
          clientX: view.left + (at.x + 1) / 2 * view.width, clientY: view.top + (1 - at.y) / 2 * view.height,
          pointerId: 1, bubbles: true,
        };
        const canvas = document.getElementById("view");
        canvas.setPointerCapture = canvas.releasePointerCapture = () => {};
        for (const kind of ["pointerdown", "pointerup"]) canvas.dispatchEvent(new PointerEvent(kind, place));
        return [viewer.selected, document.querySelector("#details .title").textContent,
                [...document.querySelectorAll("#details td:first-child")].map((cell) => cell.textContent.trim())];
        """
    )
    assert shown[:2] == ["boxBody2", "boxBody2"]
    assert "r_0[1]" in shown[2]
    assert entries(browser) == []


def test_kinds_can_be_hidden_and_time_plays(browser: Any) -> None:
    assert browser.execute_script(
        """
        const box = [...document.querySelectorAll("#kinds label")].find((l) => l.textContent === "Joints").firstChild;
        box.click();
        const hidden = viewer.meshes.filter((m) => !m.visible && !m.userData.isHidden).map((m) => m.userData.kind);
        box.click();
        return [...new Set(hidden)];
        """
    ) == ["Joints"]
    browser.execute_script("viewer.show(0); viewer.play(true)")
    deadline = time.monotonic() + 30
    while browser.execute_script("return viewer.now") == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert browser.execute_script("viewer.play(false); return viewer.now") > 0


def test_what_falls_has_a_ground_below_its_whole_motion(browser: Any) -> None:
    level, lowest, cell, letters = browser.execute_script(
        """
        const { grid, cell, labels } = viewer.stage, level = grid.position.y;
        const lowest = [0, 0.5, 1, 1.5, 2, 2.5, 3].map((time) => {
          viewer.show(time);
          return viewer.boxOf(viewer.meshesOf("boxBody2")).min.y;
        });
        return [level, Math.min(...lowest), cell, labels.map(([sprite]) => sprite.type)];
        """
    )
    assert level < lowest
    assert level > lowest - 0.5
    assert cell == pytest.approx(0.2)
    assert letters == ["Sprite"] * 3, "letters of the World's axes face the camera"


def test_views_along_axes_have_no_perspective_until_they_are_turned(browser: Any) -> None:
    kinds, sizes = browser.execute_script(
        """
        const kinds = [viewer.camera.type], sizes = [];
        const height = () => {
          const at = viewer.controls.target.clone(), up = viewer.camera.up.clone().multiplyScalar(0.01);
          viewer.camera.updateMatrixWorld(true);
          return at.clone().add(up).project(viewer.camera).y - at.project(viewer.camera).y;
        };
        viewer.lookAlong([0, 0, 1]);
        viewer.render();
        kinds.push(viewer.camera.type);
        sizes.push(height());
        viewer.camera.position.applyAxisAngle(viewer.camera.up, 0.02);
        viewer.render();
        kinds.push(viewer.camera.type);
        sizes.push(height());
        viewer.lookHome();
        return [kinds, sizes];
        """
    )
    assert kinds == ["PerspectiveCamera", "OrthographicCamera", "PerspectiveCamera"]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.02)


@pytest.mark.slow
def test_colours_are_calm_unless_modelicas_are_asked_for(
    browser: Any, page: pathlib.Path, opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path
) -> None:
    script = 'return viewer.meshesOf("boxBody1")[0].material.color.getHexString()'
    calm = browser.execute_script(script)
    own = mbfmu.animate(mbfmu.load("double_pendulum"), tmp_path / "own.html", 0.1, colors="modelica")
    assert opened(own).execute_script(script) == "0080ff"
    assert calm != "0080ff"
    opened(page)
    with pytest.raises(MbfmuError, match=r"'grey'.*'calm' or 'modelica'"):
        mbfmu.animate(mbfmu.load("double_pendulum"), tmp_path / "own.html", colors="grey")


@pytest.mark.slow
def test_what_is_dark_shows_over_a_dark_ground(
    browser: Any, page: pathlib.Path, opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path
) -> None:
    """Calm colours are lifted there, and are what they were in the light again; the model's own stay."""
    script = """
    const colour = () => viewer.meshesOf("rod")[0].material.color.getHSL({}).l;
    const start = document.documentElement.dataset.theme;
    const found = ["light", "dark", "light"].map((theme) => (viewer.setTheme(theme), colour()));
    viewer.setTheme(start);
    return found;
    """
    for colors, is_lifted in (("calm", True), ("modelica", False)):
        own = mbfmu.animate(Dark(), tmp_path / f"{colors}.html", 0.1, colors=colors)
        light, dark, again = opened(own).execute_script(script)
        assert light == again
        assert (dark > light + 0.02) == is_lifted
    opened(page)


class Dark(Assembly):
    """A black rod on a hinge."""

    def __init__(self) -> None:
        self.world = World()
        self.hinge = Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.rod = BodyBox(r=(1.0, 0, 0), width=0.1, color=(8, 8, 8))
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.rod.frame_a)


#: Where a plot has a time, in pixels of the window; and a click or a drag there, as a mouse does it.
MOUSE = """
const over = document.querySelector(".plot .u-over"), { left, top, width, height } = over.getBoundingClientRect();
const send = (kind, time) => over.dispatchEvent(new MouseEvent(kind, {
  clientX: left + width * time / 3, clientY: top + height / 2, bubbles: true, button: 0, detail: 1, movementX: 9,
}));
"""


def test_a_plot_takes_a_click_and_a_drag_in_display_units(browser: Any) -> None:
    now, slider, unit, zoomed, whole = browser.execute_script(
        MOUSE
        + """
        viewer.show(0);
        send("mousemove", 1.5); send("mousedown", 1.5); send("mouseup", 1.5); send("click", 1.5);
        const now = viewer.now, unit = document.querySelector(".plot .legend .unit").textContent;
        const { left: from, width: wide } = document.getElementById("scrub").getBoundingClientRect();
        const mark = document.querySelector(".mark").getBoundingClientRect();
        const slider = from + 7 + (wide - 14) * Number(scrub.value) - mark.left;
        send("mousedown", 1); send("mousemove", 2); send("mouseup", 2);
        const zoomed = viewer.plots.range();
        viewer.plots.zoomTo(null);
        return [now, slider, unit, zoomed, viewer.plots.range()];
        """
    )
    assert now == pytest.approx(1.5, abs=0.01)
    assert abs(slider) < 2.5, "slider and line stand in one"
    assert unit == "deg"
    np.testing.assert_allclose(zoomed, [1, 2], atol=0.02)
    assert whole == [0, 3]


def test_any_variable_is_found_and_plotted(browser: Any) -> None:
    names, before, after = browser.execute_script(
        """
        const box = document.getElementById("find"), charts = () => document.querySelectorAll(".plot").length;
        box.focus();
        box.dispatchEvent(new Event("focus"));
        box.value = "damper tau";
        box.dispatchEvent(new Event("input"));
        const names = [...document.querySelectorAll("#found .name")].map((name) => name.textContent), before = charts();
        document.querySelector("#found input").click();
        const after = charts();
        document.querySelector("#found input").click();
        return [names, before, after];
        """
    )
    assert "damper.tau" in names
    assert all("damper" in name for name in names), "what has one of the words alone is not found"
    assert (before, after) == (2, 3)
    assert entries(browser) == []


def test_curves_of_a_plot_differ_in_colour_and_values_have_lines(browser: Any) -> None:
    """However many are chosen, in turn for one plot and another; degrees go in parts of a circle."""
    colours, ticks = browser.execute_script(
        """
        const { plots } = viewer, before = [...plots.chosen];
        const of = (unit) => viewer.plots.model.variables.map((_, i) => i)
          .filter((i) => plots.unitOf(i) === unit && !before.includes(i)).slice(0, 5);
        const [some, others] = [of("m"), of("deg")];
        const chosen = some.flatMap((one, k) => [one, others[k]]).filter((i) => i !== undefined);
        const ticks = plots.charts.map(({ chart }) => chart.axes[1]._splits);
        chosen.forEach((i) => plots.toggle(i));
        const colours = plots.charts.map(({ lines }) => lines.map(([i]) => plots.colourOf(i)));
        chosen.forEach((i) => plots.toggle(i));
        return [colours, ticks];
        """
    )
    assert [len(own) for own in colours] == [5, 7]
    assert all(len(set(own)) == len(own) for own in colours)
    assert all(len(own) >= 2 for own in ticks)
    assert {tick % 90 for tick in ticks[0]} == {0}


def test_a_narrow_window_shows_its_panels_whole(browser: Any) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    with rendering.window(browser, (390, 844)):
        WebDriverWait(browser, 30).until(lambda _: browser.execute_script("return innerWidth") == 390)
        browser.execute_script("viewer.fitAgain(); viewer.plots.resize(); viewer.render()")
        assert browser.execute_script(screens.OUTSIDE) == []
        lost = browser.execute_script(
            """
            return [...document.querySelectorAll(".legend")].flatMap((legend) => {
              const whole = legend.getBoundingClientRect();
              const inside = ({ right, bottom }) => right <= whole.right + 1 && bottom <= whole.bottom + 1;
              const lost = [...legend.children].filter((one) => !inside(one.getBoundingClientRect()));
              return lost.map((one) => one.textContent);
            });
            """
        )
        assert lost == []
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.slow
def test_a_film_has_all_pictures_of_the_run(browser: Any) -> None:
    header, suffix, count = browser.execute_async_script(
        """
        const [done] = arguments;
        viewer.speed = 10;
        viewer.saveFilm("gif").then(async () => {
          const { blob, suffix, count } = viewer.film;
          viewer.speed = 1;
          done([new TextDecoder().decode((await blob.arrayBuffer()).slice(0, 6)), suffix, count]);
        });
        """
    )
    assert (header, suffix) == ("GIF89a", "gif")
    assert count == 5  # 3 s at tenfold speed, 15 pictures per second


@pytest.mark.slow
def test_a_video_plays_the_run(browser: Any) -> None:
    """What the browser records it can play: as wide as the view, as long as the film, the last picture another one."""
    suffix, header, width, seconds, differs = browser.execute_async_script(
        """
        const [done] = arguments, speed = viewer.speed;
        viewer.speed = 5; // 3 s in 0.6 s
        viewer.saveFilm("video").then(async () => {
          const { blob, suffix } = viewer.film, video = document.createElement("video");
          viewer.speed = speed;
          const header = [...new Uint8Array((await blob.arrayBuffer()).slice(0, 8))];
          video.muted = true;
          video.src = URL.createObjectURL(blob);
          const heard = (kind) => new Promise((ready) => video.addEventListener(kind, ready, { once: true }));
          const picture = () => {
            const copy = Object.assign(document.createElement("canvas"), { width: 320, height: 240 });
            const pen = copy.getContext("2d");
            pen.drawImage(video, 0, 0, 320, 240);
            return pen.getImageData(0, 0, 320, 240).data;
          };
          await heard("loadeddata"); // which has no picture yet
          video.currentTime = 1e9; // of what is recorded the end is known only then
          await heard("seeked");
          const at = async (share) => { // as it is seen: what was sought is there some time later, until then nothing
            video.currentTime = share * video.duration;
            await heard("seeked");
            for (;;) {
              const found = picture();
              if (found[3] === 255) return found;
              await new Promise((ready) => setTimeout(ready, 50));
            }
          };
          const first = await at(0.05);
          let differs = 0;
          for (const share of [0.4, 0.7, 0.95]) {
            const other = (await at(share)).filter((value, i) => Math.abs(value - first[i]) > 40);
            differs = Math.max(differs, other.length);
          }
          done([suffix, header, video.videoWidth, video.duration, differs]);
        }, (error) => done([String(error)]));
        """
    )
    kinds = {"mp4": header[4:8] == list(b"ftyp"), "webm": header[:4] == [0x1A, 0x45, 0xDF, 0xA3]}
    assert kinds[suffix]
    assert width == browser.execute_script("return viewer.renderer.domElement.width")
    assert 0.3 < seconds < 60  # as long as drawing takes where the processor draws
    assert differs > 100, "nothing moves in it"


def test_the_mouse_turns_and_zooms_the_view(browser: Any) -> None:
    """As the browser itself sends it: a drag, the wheel, a click on a component, which is not a drag."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    view = browser.find_element("id", "view")
    place = "return [viewer.camera.position.toArray(), viewer.controls.target.toArray()]"
    # A drag that is damped takes as many frames as the machine draws.
    browser.execute_script("viewer.select(null); viewer.lookHome(); viewer.controls.enableDamping = false")
    before, target = map(np.array, browser.execute_script(place))
    ActionChains(browser, duration=10).move_to_element_with_offset(view, -200, -100).click_and_hold().move_by_offset(
        60, 20
    ).release().perform()
    turned, still = map(np.array, browser.execute_script("viewer.render();" + place))
    np.testing.assert_allclose(still, target, atol=1e-6)
    assert np.linalg.norm(turned - target) == pytest.approx(np.linalg.norm(before - target), rel=1e-3)
    assert np.linalg.norm(turned - before) > 0.1 * np.linalg.norm(before - target)
    assert browser.execute_script("return viewer.selected") is None
    ActionChains(browser, duration=10).scroll_from_origin(ScrollOrigin.from_element(view, 0, -100), 0, -300).perform()
    browser.execute_script("viewer.controls.update(); viewer.render()")
    near, target = map(np.array, browser.execute_script(place))
    assert np.linalg.norm(near - target) < 0.95 * np.linalg.norm(turned - still)
    browser.execute_script("viewer.controls.enableDamping = true; viewer.lookHome()")


def test_curves_are_those_of_the_run(browser: Any) -> None:
    """All that can be plotted, also what the page has of it by other curves."""
    names = browser.execute_script("return viewer.motion.model.variables.map(({ name }) => name)")
    result = simulate(System.of(mbfmu.load("double_pendulum")), outputs=names)
    noise = noise_of_series({name: result[name] for name in names}, result.units)
    found = browser.execute_script(
        """
        const { model } = viewer.motion, times = arguments[0];
        const read = (_, index) => times.map((time) => viewer.motion.valueAt(index, time));
        return [model.variables.map(read), model.runs[0].levels.rows];
        """,
        result.time[::50].tolist(),
    )
    for name, values in zip(names, found[0], strict=True):
        expected = cleared(result[name], noise[name])
        np.testing.assert_allclose(values, expected[::50], rtol=0, atol=2e-6 * np.ptp(expected) + 1e-15)
    assert len(names) > 15
    assert any(len(row) == 3 for row in found[1])


class HotRod(BodyBox):
    """A rod that glows with time."""

    modelica_name = None

    def visualize(self: Any) -> None:
        self.draw_shape("glow", "box", self.frame_a, length=0.4, width=0.1, color=(127.5 * self.time, 0, 0))


class Glowing(Assembly):
    """A pendulum that glows, and a pipe whose first end warms."""

    def __init__(self) -> None:
        self.world = World()
        self.hinge, self.rod = Revolute(phi=Start(0.5, fixed=True)), HotRod(r=(0.4, 0, 0))
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.rod.frame_a)
        self.warm, self.cold = blocks.Ramp(duration=1.0), blocks.Constant(k=0.0)
        self.pipe = visualizers.PipeWithScalarField(
            rOuter=0.1, length=0.5, xsi=(0.0, 1.0), T_min=0.0, T_max=1.0, n_length=2, colorMap="gray"
        )
        self.connect(self.rod.frame_b, self.pipe.frame_a)
        self.connect(self.warm.y, self.pipe.T[0])
        self.connect(self.cold.y, self.pipe.T[1])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_colours_change(browser: Any, opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path) -> None:
    opened(mbfmu.animate(Glowing(), tmp_path / "glowing.html"))
    rod, pipe = browser.execute_script(
        """
        const [mesh] = viewer.meshesOf("rod"), [pipe] = viewer.meshesOf("pipe"), times = [0, 0.5, 1];
        const { color } = pipe.geometry.attributes, targets = pipe.geometry.morphAttributes.color;
        const parts = () => targets.map((target, k) => pipe.morphTargetInfluences[k] * target.getX(0));
        const first = () => parts().reduce((sum, part) => sum + part, color.getX(0));
        return [times.map((time) => (viewer.show(time), mesh.material.color.clone().convertLinearToSRGB().r)),
                times.map((time) => (viewer.show(time), first()))];
        """
    )
    np.testing.assert_allclose(rod, [0, 0.25, 0.5], atol=2e-3)
    np.testing.assert_allclose(pipe, [0, ((0.5 + 0.055) / 1.055) ** 2.4, 1], atol=5e-3)
    assert entries(browser) == []


@pytest.mark.slow
def test_what_is_not_drawn_has_a_page_of_plots(opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path) -> None:
    browser = opened(mbfmu.animate(mbfmu.load("motor_drive"), tmp_path / "motor.html"))
    units, is_seen = browser.execute_script(
        """
        const units = [...document.querySelectorAll(".plot .legend .unit")].map((unit) => unit.textContent);
        return [units, getComputedStyle(document.getElementById("view")).display];
        """
    )
    assert units == ["V", "A", "rpm", "degC"]
    assert is_seen == "none"
    assert entries(browser) == []


@pytest.mark.slow
def test_what_travels_far_stays_in_view(opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path) -> None:
    browser = opened(mbfmu.animate(mbfmu.load("vehicle"), tmp_path / "vehicle.html"))
    seen = browser.execute_script(
        """
        const center = () => {
          const { target } = viewer.controls, at = viewer.boxOf(viewer.meshesOf("chassis")).getCenter(target.clone());
          viewer.camera.updateMatrixWorld(true);
          return at.project(viewer.camera).toArray().slice(0, 2);
        };
        return [0, 5, 10].map((time) => (viewer.show(time), center()));
        """
    )
    assert np.abs(seen).max() < 0.6, "it leaves the view"


class OnARoad(Assembly):
    """A box that slides along a road of a hundred metres."""

    stop_time = 1.0

    def __init__(self) -> None:
        self.world = World()
        self.road = visualizers.FixedShape(length=100.0, width=3.0, height=0.1)
        self.slide = Prismatic(animation=False, s=Start(10.0, fixed=True), v=Start(10.0, fixed=True))
        self.box = BodyBox(r=(2.0, 0, 0), width=1.0)
        self.connect(self.world.frame_b, self.road.frame_a)
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.box.frame_a)


@pytest.mark.slow
def test_what_moves_on_a_road_is_seen(opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path) -> None:
    browser = opened(mbfmu.animate(OnARoad(), tmp_path / "road.html"))
    high = browser.execute_script(
        """
        return [0, 1].map((time) => {
          viewer.show(time);
          viewer.camera.updateMatrixWorld(true);
          const { min, max } = viewer.boxOf(viewer.meshesOf("box"));
          return max.clone().project(viewer.camera).y - min.clone().project(viewer.camera).y;
        });
        """
    )
    assert min(high) > 0.2, "a tenth of the window"


class Turntable(Assembly):
    """A disc that spins, and a bead near its axis."""

    stop_time = 3.0

    def __init__(self) -> None:
        self.world = World()
        self.hinge = Revolute(n=(0, 1, 0), animation=False, phi=Start(0.0, fixed=True), w=Start(2.0, fixed=True))
        self.disc = BodyCylinder(r=(0, 0.02, 0), diameter=2.0)
        self.bead = Body(m=0.1, r_CM=(0.05, 0.03, 0), sphereDiameter=0.02)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.disc.frame_a)
        self.connect(self.hinge.frame_b, self.bead.frame_a)


@pytest.mark.slow
def test_what_spins_in_its_place_is_no_road(opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path) -> None:
    """The disc takes the same room at all times, and is what moves nevertheless."""
    browser = opened(mbfmu.animate(Turntable(), tmp_path / "turntable.html"))
    assert browser.execute_script("return [viewer.size > 2, Boolean(viewer.goesAlong)]") == [True, False]


MESH = pathlib.Path(__file__).parents[1] / "components" / "box.msh"


class Bent(Assembly):
    """A body of finite elements on the ground that vibrates, and a bead that slides beside it."""

    stop_time = 1e-3

    def __init__(self) -> None:
        self.world = World(animateWorld=False, gravityType="NoGravity")
        still = Start((0.0, 0.0), fixed=True)
        self.box = ModalBody(meshFile=str(MESH), held="end", nModes=2, q=Start((0.1, 0.0), fixed=True), qd=still)
        self.slide = Prismatic(animation=False, s=Start(0.0, fixed=True), v=Start(10.0, fixed=True))
        self.bead = Body(m=1.0, r_CM=(0, 0, 0), sphereDiameter=0.02)
        self.connect(self.world.frame_b, self.box.frame_a)
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.bead.frame_a)


@pytest.mark.slow
def test_what_bends_in_its_place_is_no_road(opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path) -> None:
    browser = opened(mbfmu.animate(Bent(), tmp_path / "bent.html"))
    assert browser.execute_script("return [viewer.size > 1, Boolean(viewer.goesAlong)]") == [True, False]


class Falling(Assembly):
    """A ball that falls onto a floor of twenty metres, and bounces."""

    stop_time = 1.0

    def __init__(self) -> None:
        self.world = World(n=(0, 0, -1))
        self.slide = Prismatic(n=(0, 0, 1), animation=False, s=Start(0.6, fixed=True), v=Start(0.0, fixed=True))
        self.ball = Body(m=1.0, r_CM=(0, 0, 0), sphereDiameter=0.2)
        self.floor = Plane(length=20.0)
        self.surface = Sphere(radius=0.1, animation=False)
        self.contact = Contact(geometry_a="floor", geometry_b="surface", E_a=1e6, E_b=1e6)
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.world.frame_b, self.floor.frame_a)
        self.connect(self.slide.frame_b, self.ball.frame_a)
        self.connect(self.ball.frame_a, self.surface.frame_a)


@pytest.mark.slow
def test_a_floor_is_the_ground_and_no_part_of_the_mechanism(
    opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path
) -> None:
    """Axes and view are as large as what moves, the ground stands for the plate, and no force has no arrow.

    Where the plate is drawn, it throws a shadow: what falls on it must not fall through; axes throw none.
    """
    browser = opened(mbfmu.animate(Falling(), tmp_path / "falling.html"))
    size, ground, cell, shows = browser.execute_script(
        """
        const [head] = viewer.meshesOf("contact").filter(({ userData }) => userData.shape.endsWith("Head"));
        const [plate] = viewer.meshesOf("floor");
        const at = (time) => (viewer.show(time), viewer.render(), head.layers.mask !== 0);
        const shows = [plate.layers.mask !== 0, at(0)];
        let struck = false;
        for (let time = 0.315; time <= 1 && !struck; time += 0.002) struck = at(time); // it falls by 0.5 m before
        return [viewer.size, viewer.stage.grid.position.y, viewer.stage.cell, [...shows, struck]];
        """
    )
    assert size < 2.0
    assert ground == pytest.approx(0.0, abs=1e-6)
    assert cell <= 0.2
    assert shows == [False, False, True]
    plain = opened(mbfmu.animate(Falling(), tmp_path / "plain.html", colors="modelica"))
    drawn = "const [plate] = viewer.meshesOf('floor'), axes = viewer.meshesOf('world');"
    shadows = "plate.castShadow, axes.length > 0, axes.some(({ castShadow }) => castShadow)"
    assert plain.execute_script(f"{drawn} return [plate.layers.mask, {shadows}]") == [1, True, True, False]
    assert entries(browser) == []


@pytest.mark.slow
def test_a_force_that_begins_is_no_turn() -> None:
    """An impact is no reason to record more instants, nor to show a run slowly: no body turns."""
    system = System.of(Falling(), scene=True)
    assert isinstance(system.scene, Scene)
    result = simulate(system, 0.5, outputs=list(system.scene.variables))
    found = motion(system.scene, result.time, result)
    arrow = next(part for part in found.parts if part.shape.component == "contact")
    assert arrow.place.rotation.moves
    assert arrow.place.scale is not None
    assert arrow.place.scale.values[:, 0].max() > 0
    assert largest_turn(found) < 1e-9


class Bar(Assembly):
    """A bar of some length on a hinge."""

    def __init__(self, length: float) -> None:
        self.world = World(nominalLength=1.0)
        size = length / 10
        self.hinge = Revolute(cylinderLength=size, cylinderDiameter=size, phi=Start(0.5, fixed=True))
        self.bar = BodyBox(r=(length, 0, 0), width=size)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.bar.frame_a)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_the_axes_of_the_world_are_in_view(opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path) -> None:
    """Whole, where they are larger than the mechanism; a mechanism that is tiny beside them fills the view."""
    small, tiny = (
        opened(mbfmu.animate(Bar(length), tmp_path / f"{length}.html")).execute_script(
            """
            const { camera } = viewer, world = viewer.meshes.filter((mesh) => mesh.userData.kind === "World");
            const parts = viewer.meshes.filter((mesh) => mesh.userData.kind === "Parts");
            camera.updateMatrixWorld(true);
            return [world, parts].map((meshes) => {
              const { min, max } = viewer.boxOf(meshes), out = [];
              for (const x of [min.x, max.x]) for (const y of [min.y, max.y]) for (const z of [min.z, max.z]) {
                const at = min.clone().set(x, y, z).project(camera);
                out.push(Math.abs(at.x), Math.abs(at.y));
              }
              return Math.max(...out);
            });
            """
        )
        for length in (0.3, 0.05)
    )
    assert small[0] < 1.0, "they are cut"
    assert tiny[0] > 1.0
    assert tiny[1] < 1.0


@pytest.mark.slow
def test_without_its_program_a_page_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(bundle, "BUNDLE", tmp_path / "missing.js")
    with pytest.raises(
        MbfmuError, match=r"install Node\.js and run `python -m mbfmu\.scene\.bundle`, or write a \.glb"
    ):
        mbfmu.animate(mbfmu.load("pendulum"), tmp_path / "motion.html")
    mbfmu.animate(mbfmu.load("pendulum"), tmp_path / "motion.glb", 0.1)
