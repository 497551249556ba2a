"""The live page in a browser: the FMU's own motion, by sliders and keys, without anything but the file."""

from __future__ import annotations

import io
import json
import pathlib
import re
import zipfile
from collections.abc import Callable
from typing import Any

import fmpy
import numpy as np
import pytest
from browser_console import entries

import mbfmu
from mbfmu.animation import _ready_platforms
from mbfmu.components import ModalBody, World
from mbfmu.dynamics.system import System
from mbfmu.errors import BuildError, MbfmuError
from mbfmu.export import native
from mbfmu.modeling import Assembly, Start
from mbfmu.runtime import contract
from mbfmu.runtime.run import Run
from mbfmu.scene.packing import bytes_of

pytestmark = pytest.mark.slow

OUTPUTS = ("base.phi", "base.w", "hinge.phi", "hinge.w")

#: Starts again and runs to an instant in steps of 10 ms; returns the outputs there.
RUN = """
const run = (stop, act = () => {}) => {
  viewer.play(false);
  const { motion } = viewer, at = [];
  for (let k = Math.round(motion.now / 0.01); k < Math.round(stop / 0.01); k++) {
    act(k);
    if (!motion.step((k + 1) * 0.01 - motion.now)) break;
  }
  viewer.show(motion.now);
  return values();
};
const values = () => {
  const names = viewer.motion.model.variables.map((v) => v.name);
  return ["base.phi", "base.w", "hinge.phi", "hinge.w"].map((name) => viewer.motion.valueAt(names.indexOf(name)));
};
const named = (name) => viewer.motion.model.settables.find((v) => v.name === name);
const row = (name) => {
  for (const part of document.querySelectorAll("#controls .group")) part.fill();
  return document.querySelector(`#controls .setting[data-name="${name}"]`);
};
const slide = (name, value) => {
  const slider = row(name).querySelector("input[type=range]");
  slider.value = String(value);
  slider.dispatchEvent(new Event("input"));
  return Number(slider.value);
};
const press = (kind, key) => window.dispatchEvent(new KeyboardEvent(kind, { key }));
"""


@pytest.fixture(scope="module")
def page(can_live: None, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the live page of the Furuta pendulum."""
    return mbfmu.animate(mbfmu.load("furuta_pendulum"), tmp_path_factory.mktemp("page") / "furuta.html", live=True)


@pytest.fixture(scope="module")
def browser(page: pathlib.Path, opened: Callable[[pathlib.Path], Any]) -> Any:
    """Return a browser with the page."""
    return opened(page)


@pytest.fixture
def script(browser: Any) -> Callable[..., Any]:
    """Return a function that runs a script in the page, which has begun anew with the model's own values."""
    browser.execute_script(
        "viewer.play(false); viewer.motion.values.clear(); viewer.motion.pending.clear();"
        "viewer.restart(); viewer.play(false);"
    )

    def execute(text: str, *arguments: Any) -> Any:
        return browser.execute_script(RUN + text, *arguments)

    return execute


@pytest.fixture(scope="module")
def fmu(page: pathlib.Path) -> bytes:
    """Return the FMU in the page."""
    found = re.search(r'id="fmu">([^<]*)<', page.read_text(encoding="utf-8"))
    assert found is not None
    return bytes_of(found[1])


def test_its_fmu_is_for_platforms_of_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbfmu.animation.is_current", lambda platform: True)
    monkeypatch.setattr("mbfmu.animation.host_platform", lambda: "linux64")
    assert _ready_platforms() == ["linux64", "win64", "darwin64"]
    monkeypatch.setattr("mbfmu.animation.host_platform", lambda: "aarch64-linux")
    assert "aarch64-linux" in _ready_platforms()


def test_it_is_one_small_file(page: pathlib.Path) -> None:
    assert page.stat().st_size < 1_200_000
    assert re.search(r"<[^>]*\b(src|href)=(?!.data:,)", page.read_text(encoding="utf-8")) is None


def test_it_loads_and_runs_without_a_word_in_the_console(browser: Any, colours: str) -> None:
    assert browser.execute_script("return document.documentElement.dataset.ready") == "yes"
    assert browser.execute_script("return document.documentElement.dataset.kind") == "live"
    assert entries(browser) == []
    assert browser.execute_script(colours) > 20
    found = browser.execute_async_script(
        "const [done] = arguments; viewer.restart(); viewer.play(true);"
        "const wait = () => viewer.motion.now > 0.2 ? done(viewer.now) : requestAnimationFrame(wait); wait();"
    )
    assert found > 0.1
    assert entries(browser) == []


def test_outputs_after_two_seconds_are_those_of_the_fmu(
    script: Callable[..., Any], fmu: bytes, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "furuta.fmu"
    file.write_bytes(fmu)
    result = fmpy.simulate_fmu(  # a page has no stop time, which the last steps of a run know
        str(file), stop_time=2.0, output_interval=0.01, output=list(OUTPUTS), set_stop_time=False
    )
    np.testing.assert_allclose(script("return run(2.0)"), [result[name][-1] for name in OUTPUTS], rtol=0, atol=1e-6)
    assert abs(result["hinge.phi"][-1] - 0.2) > 0.1


def test_what_is_drawn_follows_the_run(script: Callable[..., Any]) -> None:
    place, angles = script(
        """
        const found = run(1.3), [mesh] = viewer.meshesOf("rod"), { matrixWorld } = mesh;
        const end = viewer.controls.target.clone().set(1, 0, 0).applyMatrix4(matrixWorld);
        return [[end.x, end.y, end.z], found];
        """
    )
    arm, swing = angles[0], angles[2]
    c, s = np.cos(arm), np.sin(arm)
    tip = np.array([0.3, 0.4 * np.cos(swing), 0.4 * np.sin(swing)])  # about the arm, which turns about y
    np.testing.assert_allclose(place, [c * tip[0] + s * tip[2], tip[1], -s * tip[0] + c * tip[2]], atol=1e-5)


def test_sliders_are_what_sets_of_the_fmu_are(script: Callable[..., Any]) -> None:
    found = script(
        """
        const torque = slide("torque", 0.05), given = [torque];
        const found = run(1.0, (k) => k === 50 && given.push(slide("friction.d", 0.0017)));
        return [found, given];
        """
    )
    values, (torque, d) = found
    system = System.of(mbfmu.load("furuta_pendulum"), scene=True)
    by_name = {v.name: v for v in system.variables}
    run = Run(system.equations, system.variables)
    run.finish_initialisation()
    run.set(by_name["torque"], torque)
    for k in range(100):
        if k == 50:
            run.set(by_name["friction.d"], d, initialising=False)
        run.advance((k + 1) * 0.01)
    wanted = [run.instance.values([contract.place("x", by_name[name].index)])[0] for name in OUTPUTS]  # states
    assert all(by_name[name].store == "x" for name in OUTPUTS)
    np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-6)
    assert not np.allclose(values, script("viewer.motion.values.clear(); viewer.restart(); return run(1.0)"), atol=1e-3)


def test_a_key_drives_as_long_as_it_is_held(script: Callable[..., Any]) -> None:
    before, held, after, moved = script(
        """
        const value = () => viewer.motion.valueOf(named("torque")), found = [value()];
        press("keydown", "ArrowRight");
        found.push(value());
        run(0.3);
        press("keyup", "ArrowRight");
        found.push(value());
        return [...found, run(0.4)];
        """
    )
    assert (before, held, after) == (0, 0.25, 0)  # a quarter of what the slider spans, twice the torque that holds
    free = script("viewer.restart(); return run(0.4)")
    assert abs(moved[0] - free[0]) > 0.1
    system = System.of(mbfmu.load("furuta_pendulum"), scene=True)
    by_name = {v.name: v for v in system.variables}
    run_here = Run(system.equations, system.variables)
    run_here.finish_initialisation()
    for time, torque in ((0.3, held), (0.4, after)):
        run_here.set(by_name["torque"], torque, initialising=False)
        run_here.advance(time)
    wanted = [run_here.instance.values([contract.place("x", by_name[name].index)])[0] for name in OUTPUTS]
    np.testing.assert_allclose(moved, wanted, rtol=0, atol=1e-6)


def test_the_last_key_that_is_held_counts(script: Callable[..., Any]) -> None:
    """Each goes to its own side of zero; what was there before comes back when all are up, in whatever order."""
    found = script(
        """
        const value = () => viewer.motion.valueOf(named("torque")), found = [];
        slide("torque", 0.1);
        for (const [kind, key] of [["keydown", "ArrowLeft"], ["keydown", "ArrowRight"], ["keyup", "ArrowLeft"],
          ["keydown", "ArrowLeft"], ["keyup", "ArrowLeft"], ["keyup", "ArrowRight"]]) {
          press(kind, key);
          found.push(value());
        }
        return found;
        """
    )
    np.testing.assert_allclose(found, [-0.25, 0.35, 0.35, -0.25, 0.35, 0.1])


def test_start_values_act_with_the_next_start(script: Callable[..., Any]) -> None:
    first, note, second = script(
        """
        const box = row("hinge.phi").querySelector("input[type=number]");
        box.value = "1.1";
        box.dispatchEvent(new Event("change"));
        const before = values()[2], note = document.querySelector("#actions .note").textContent;
        document.getElementById("restart").click();
        viewer.play(false);
        return [before, note, viewer.motion.start === viewer.motion.times[0] && viewer.motion.rows[viewer.motion.places[
            viewer.motion.model.variables.findIndex((v) => v.name === "hinge.phi")]]];
        """
    )
    assert (first, note) == (0.2, "1 with the next start")
    assert second == pytest.approx(1.1)


def test_what_is_for_recorded_runs_does_no_harm(browser: Any, script: Callable[..., Any]) -> None:
    now, points = script(
        """
        viewer.select("rod");
        viewer.trace("rod");
        viewer.follow("rod");
        for (const key of ["End", "l"]) press("keydown", key);
        run(0.2);
        const now = viewer.now, line = viewer.traces.get("rod")[0];
        viewer.follow("rod");
        viewer.restart();
        viewer.select(null);
        return [now, line.geometry.getAttribute("position").count];
        """
    )
    assert now == pytest.approx(0.2)
    assert points >= 1
    assert entries(browser) == []


def test_a_body_is_pulled_to_the_pointer(script: Callable[..., Any]) -> None:
    """A point of the rod is asked for beside the vertical axis: its arm follows, and gives way to weight alone."""
    taken, mass, turned, before, after, force, shown = script(
        """
        const { grip, motion } = viewer, [mesh] = viewer.meshesOf("rod"), [start] = values();
        viewer.scene.updateMatrixWorld(true);
        const at = viewer.boxOf([mesh]).getCenter(viewer.controls.target.clone()), taken = grip.take(mesh, at);
        const { target, mass, local } = grip.held;
        const away = () => mesh.parent.localToWorld(local.clone()).distanceTo(target);
        target.applyAxisAngle(at.clone().set(0, 1, 0), 0.9);
        const before = away(), turned = run(4)[0] - start, after = away();
        grip.release();
        const force = grip.grips.flatMap((one) => motion.runtime.values3(one.force));
        const isShown = motion.model.settables.some(({ name }) => name.includes("grip"));
        return [taken, mass, turned, before, after, force, isShown];
        """
    )
    assert taken
    # felt least where the rod turns about its hinge: half of its length out, and the arm gives way, too
    assert 0.5 * 2700 * np.pi * 0.0075**2 * 0.4 < mass < 4 / 3 * 2700 * np.pi * 0.0075**2 * 0.4
    assert turned > 0.2
    assert before > 0.2
    assert after < 0.06
    assert not any(force)
    assert not shown


def test_the_mouse_drags_a_body_and_with_shift_the_view(browser: Any, script: Callable[..., Any]) -> None:
    """As the browser itself sends it: pressed on the rod, moved, let go; the camera stays where it is."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    x, y = script(
        """
        viewer.lookHome();
        viewer.render();
        const [mesh] = viewer.meshesOf("rod"), at = viewer.boxOf([mesh]).getCenter(viewer.controls.target.clone());
        const seen = at.project(viewer.camera), box = viewer.renderer.domElement.getBoundingClientRect();
        return [box.left + ((seen.x + 1) / 2) * box.width, box.top + ((1 - seen.y) / 2) * box.height].map(Math.round);
        """
    )
    state = "return [Boolean(viewer.grip.held), viewer.camera.position.toArray(), viewer.grip.line.visible]"

    def press() -> list[Any]:
        chain = ActionChains(browser, duration=10)
        mouse = chain.w3c_actions.pointer_action
        mouse.move_to_location(x, y).pointer_down().move_to_location(x + 60, y).move_to_location(x + 90, y - 10)
        chain.perform()
        found: list[Any] = browser.execute_script(state)
        return found

    before = browser.execute_script(state)
    held = press()
    moved, target = script("return [run(0.3), viewer.grip.held.target.toArray()]")
    ActionChains(browser).release().perform()
    free = script("viewer.restart(); return run(0.3)")
    assert before[0] is False
    assert (held[0], held[2]) == (True, True)
    np.testing.assert_allclose(held[1], before[1], atol=1e-9)
    assert abs(moved[0] - free[0]) > 0.1
    assert np.linalg.norm(target) > 0.1
    assert browser.execute_script(state)[::2] == [False, False]
    script("viewer.restart(); viewer.play(false); viewer.render()")  # the rod is there again
    ActionChains(browser).key_down(Keys.SHIFT).perform()
    turned = press()
    ActionChains(browser).release().key_up(Keys.SHIFT).perform()
    assert turned[0] is False
    assert np.linalg.norm(np.subtract(turned[1], before[1])) > 0.01
    script("viewer.lookHome()")


def test_rounding_is_zero_and_small_is_not(script: Callable[..., Any]) -> None:
    """A legend beside angles of a radian, and one of a unit in which nothing is larger."""
    found = script(
        """
        run(0.5);
        const { motion, plots } = viewer, { variables } = motion.model;
        const index = variables.findIndex((v) => v.name === "hinge.phi");
        const small = variables.map((v, i) => (v.unit === "N.m" ? i : -1)).filter((i) => i >= 0);
        for (const i of [index, ...small]) motion.row[motion.places[i]] = 1.4e-17;
        for (const largest of motion.sizes.largest.values()) largest[motion.sizes.groups[small[0]]] = 0;
        motion.now += 1e-9; // another instant
        return [index, small[0]].map((i) => plots.text(i, motion, motion.now));
        """
    )
    assert found[0] == "0 deg"
    assert found[1] == "1.400e-17 N.m"


def test_a_value_out_of_bounds_is_refused_and_said(script: Callable[..., Any]) -> None:
    shown, log = script(
        """
        const box = row("friction.d").querySelector("input[type=number]");
        box.value = "-3";
        box.dispatchEvent(new Event("change"));
        return [box.value, document.getElementById("log").textContent];
        """
    )
    assert float(shown) == pytest.approx(0.001)
    assert "friction.d" in log


def test_a_run_that_fails_says_why(script: Callable[..., Any]) -> None:
    shown, text, playing = script(
        """
        for (const name of ["rod.density", "arm.density"]) viewer.motion.set(named(name), 0);
        viewer.restart();
        const box = document.getElementById("ended");
        return [!box.hidden, box.textContent, viewer.playing];
        """
    )
    assert shown
    assert not playing
    assert "singular" in text
    script("viewer.restart();")


def test_the_run_is_saved_as_csv(script: Callable[..., Any]) -> None:
    text = script(
        """
        run(0.05);
        const { motion } = viewer, index = motion.model.variables.findIndex((v) => v.name === "hinge.phi");
        return motion.csv([index]);
        """
    )
    rows = np.genfromtxt(io.StringIO(text), delimiter=",", names=True, deletechars="")
    np.testing.assert_allclose(rows["time"], np.arange(6) * 0.01, atol=1e-12)
    assert rows["hinge.phi"][0] == pytest.approx(0.2)


def test_the_fmu_in_the_page_is_whole(fmu: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(fmu)) as archive:
        assert archive.testzip() is None
        assert {"modelDescription.xml", "resources/model.mbfmu", "resources/scene.json"} <= set(archive.namelist())


def test_the_fmu_that_the_page_saves_has_what_was_built(browser: Any, fmu: bytes) -> None:
    """Packed again as the button does it: other bytes of the archive, but the same names, dates and contents."""
    saved = browser.execute_async_script(
        """
        const done = arguments[arguments.length - 1], click = HTMLAnchorElement.prototype.click;
        let blob;
        const create = URL.createObjectURL;
        URL.createObjectURL = (given) => create.call(URL, (blob = given));
        HTMLAnchorElement.prototype.click = () => {};
        viewer.controlPanel.saveFmu().then(async () => {
          Object.assign(HTMLAnchorElement.prototype, { click });
          URL.createObjectURL = create;
          done([...new Uint8Array(await blob.arrayBuffer())]);
        });
        """
    )
    with zipfile.ZipFile(io.BytesIO(bytes(saved))) as found, zipfile.ZipFile(io.BytesIO(fmu)) as built:
        assert found.testzip() is None
        assert [(e.filename, e.date_time, e.external_attr, e.CRC) for e in found.infolist()] == [
            (e.filename, e.date_time, e.external_attr, e.CRC) for e in built.infolist()
        ]
        assert {entry.compress_type for entry in found.infolist()} == {zipfile.ZIP_DEFLATED}
    assert len(saved) < len(fmu) / 2


def test_without_the_runtime_for_browsers_one_line_says_what_makes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(native.runtime, "is_current", lambda platform: False)
    monkeypatch.setattr(native, "find_compiler", lambda platform: None)
    with pytest.raises(BuildError, match=r"no runtime library for wasm32: .* `pip install ziglang`"):
        mbfmu.animate(mbfmu.load("pendulum"), tmp_path / "live.html", live=True)


def test_a_live_glb_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(MbfmuError, match=r"choose motion\.html"):
        mbfmu.animate(mbfmu.load("pendulum"), tmp_path / "motion.glb", live=True)


@pytest.mark.parametrize("fmi", [2, 3])
def test_an_fmu_is_animated_as_its_source(fmi: int, tmp_path: pathlib.Path) -> None:
    assembly = mbfmu.load("double_pendulum")
    file = mbfmu.build(assembly, tmp_path / "pendulum.fmu", equations="interpreted", fmi=fmi)
    of_fmu = mbfmu.animate(file, tmp_path / "a.glb", 0.5)
    of_source = mbfmu.animate(assembly, tmp_path / "b.glb", 0.5)
    assert nodes(of_fmu) == nodes(of_source)
    assert len(nodes(of_fmu)) > 20


def test_an_fmu_of_fmi_3_runs_live(page: pathlib.Path, opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path):
    assembly = mbfmu.load("double_pendulum")
    file = mbfmu.build(assembly, tmp_path / "pendulum.fmu", equations="interpreted", fmi=3)
    live = opened(mbfmu.animate(file, tmp_path / "live.html", live=True))
    found = live.execute_script(
        RUN.replace("return values();", "")
        + """
        viewer.restart();
        const set = named("boxBody1.r[1]"); // an element of an array, with the next start
        viewer.motion.set(set, 0.7);
        viewer.restart();
        run(1.0);
        const { variables } = viewer.motion.model;
        return Object.fromEntries(variables.map(({ name }, i) => [name, viewer.motion.valueAt(i)]));
        """
    )
    result = mbfmu.simulate(mbfmu.load("double_pendulum", ["boxBody1.r=[0.7, 0, 0]"]), 1.0, tolerance=1e-8)
    for name in ("revolute1.phi", "revolute2.w"):
        assert found[name] == pytest.approx(result[name][-1], abs=2e-5)
    assert entries(live) == []


class Jelly(Assembly):
    """A soft box from a mesh, held at one end, that swings in its two slowest shapes."""

    stop_time = 1.0

    def __init__(self) -> None:
        mesh = pathlib.Path(__file__).parents[1] / "components" / "box.msh"
        self.world = World(gravityType="NoGravity")
        self.box = ModalBody(
            meshFile=str(mesh), E=1e7, nu=0.3, density=1000.0, held="end", nModes=2, deformationScale=2.0,
            q=Start([0.2, 0.1], fixed=True), qd=Start([0.0, 0.0], fixed=True),
        )  # fmt: skip
        self.connect(self.world.frame_b, self.box.frame_a)


def test_a_mesh_bends_on_the_page_as_its_body_does(
    can_live: None, opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path
) -> None:
    """Corners that the page draws, morph targets and all, against displacements by the coordinates of another run."""
    model = Jelly()
    live = opened(mbfmu.animate(model, tmp_path / "live.html", live=True))
    drawn, box, place, size = live.execute_script(
        RUN.replace("return values();", "")
        + """
        viewer.restart();
        run(0.1);
        const mesh = viewer.meshesOf("box").find((mesh) => mesh.morphTargetInfluences);
        const { position } = mesh.geometry.attributes, point = mesh.position.clone(), found = [];
        for (let i = 0; i < position.count; i++) found.push(mesh.getVertexPosition(i, point).toArray());
        viewer.root.updateMatrixWorld(true);
        const { min, max } = viewer.boxOf([mesh]);
        for (let i = 0; i < 100; i++) viewer.keepInView();
        return [found, [min.toArray(), max.toArray()], mesh.matrixWorld.toArray(), viewer.size];
        """
    )
    assert entries(live) == []
    outline = model.box.reduction().outline
    assert outline is not None
    result = mbfmu.simulate(model, 0.1, tolerance=1e-8, outputs=["box.q"])
    q = np.array([result["box.q[1]"][-1], result["box.q[2]"][-1]])
    moved = outline.points + 2.0 * outline.displacements @ q
    np.testing.assert_allclose(drawn, moved, atol=1e-3)
    assert np.abs(moved - outline.points).max() > 0.1
    corners = np.array(drawn) @ np.reshape(place, (4, 4))[:3, :3]
    np.testing.assert_allclose(box, [corners.min(axis=0), corners.max(axis=0)], atol=1e-6)  # seen no larger than it is
    assert size < 2 * np.linalg.norm(np.ptp(corners, axis=0))
    assert np.abs(q - (0.2, 0.1)).max() > 0.05


def nodes(file: pathlib.Path) -> list[str]:
    """Return the names of all nodes of a .glb."""
    data = file.read_bytes()
    return [node["name"] for node in json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])["nodes"]]


def test_in_a_notebook_it_runs_within_its_frame(
    can_live: None, opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path
) -> None:
    """What a cell shows stands in a page of its own, as a notebook puts it there."""
    shown = mbfmu.animate(mbfmu.load("pendulum"), live=True)._repr_html_()
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f'<!doctype html><html data-ready="yes"><body>{shown}', encoding="utf-8")
    browser = opened(notebook)
    browser.switch_to.frame(0)
    kind, now = browser.execute_async_script(
        """
        const [done] = arguments, page = document.documentElement;
        const wait = () => {
          if (window.viewer && page.dataset.ready) viewer.play(true);
          if (window.viewer?.motion.now > 0.2) done([page.dataset.kind, viewer.motion.now]);
          else requestAnimationFrame(wait);
        };
        wait();
        """
    )
    assert kind == "live"
    assert now > 0.2
    browser.switch_to.default_content()
    assert entries(browser) == []
