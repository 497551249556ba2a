"""WebAssembly components in FMUs of FMI 3.0, by wasmtime: what they do is what the library beside them does."""

from __future__ import annotations

import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import threading
import zipfile
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi3 import FMU3Model, FMU3Slave

from mbfmu import sources
from mbfmu.errors import BuildError
from mbfmu.export import layered_wasm
from mbfmu.export.build import build
from mbfmu.runtime import build as build_files
from mbfmu.runtime import component, npm
from mbfmu.validation import validate

wasmtime = pytest.importorskip(
    "wasmtime.component", reason="wasmtime, which runs components, is not installed: pip install wasmtime"
)

from wasm_host import Guest  # noqa: E402 - it needs wasmtime

pytestmark = pytest.mark.slow  # its component is compiled


@pytest.fixture(scope="module", autouse=True)
def _ready() -> None:
    try:
        component.ready_component()
    except BuildError as error:
        pytest.skip(str(error))


class Pair:
    """An FMU, whose component and library are instantiated alike."""

    def __init__(self, path: pathlib.Path, folder: pathlib.Path) -> None:
        self.path, self.folder = path, folder
        self.description = fmpy.read_model_description(str(path))
        fmpy.extract(str(path), str(folder))
        floats = [v for v in self.description.modelVariables if v.type == "Float64"]
        self.floats = [int(v.valueReference) for v in floats]
        self.size = sum(int(np.prod([int(d.start) for d in v.dimensions], initial=1)) for v in floats)

    def guest(self, kind: str = "co-simulation", **options: Any) -> Guest:
        guest = Guest(self.path, kind, self.description.instantiationToken, **options)
        assert guest.handle is not None, guest.log
        return guest

    def native(self, kind: type[FMU3Slave] | type[FMU3Model] = FMU3Slave, **options: Any) -> Any:
        native = kind(
            guid=self.description.instantiationToken,
            unzipDirectory=str(self.folder),
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName="native",
        )
        native.instantiate(**options)
        return native


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that builds a gallery model with a component, or finds it built."""
    known: dict[str, Pair] = {}

    def get(name: str) -> Pair:
        if name not in known:
            path = tmp_path_factory.mktemp("wasm") / f"{name}.fmu"
            build(sources.load(name, ()), path, fmi=3, equations="interpreted", wasm=True)
            known[name] = Pair(path, tmp_path_factory.mktemp("unzipped"))
        return known[name]

    return get


@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("name", "stop"), [("double_pendulum", 2.0), ("furuta_pendulum", 2.0), ("car", 0.5), ("engine_v6", 0.02)]
)
def test_co_simulation_is_that_of_the_library(pairs, name, stop):
    """All variables, in the same steps; the equations of engine_v6 take 37 pages of memory. Only libm differs."""
    pair = pairs(name)
    guest, native = pair.guest(), pair.native()
    if name == "engine_v6":  # its own start is a dead centre, where the last bit tells on which side of a switch it is
        (angle,) = (int(v.valueReference) for v in pair.description.modelVariables if v.name == "load.phi")
        guest.done("set-float64", [angle], [0.1])
        native.setFloat64([angle], [0.1])
    guest.done("enter-initialization-mode", None, 0.0, stop)
    guest.done("exit-initialization-mode")
    native.enterInitializationMode(startTime=0.0, stopTime=stop)
    native.exitInitializationMode()
    start = guest.done("get-float64", pair.floats)
    steps = 50
    for i in range(steps):
        result = guest.done("do-step", i * stop / steps, stop / steps, True)
        native.doStep(i * stop / steps, stop / steps)
        values = guest.done("get-float64", pair.floats)
        expected = native.getFloat64(pair.floats, nValues=pair.size)
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)
    assert getattr(result, "last-successful-time") == pytest.approx(stop)
    assert np.abs(np.subtract(values, start)).max() > 0.01
    guest.done("terminate")
    guest.free()
    native.freeInstance()


HERE = pathlib.Path(__file__).resolve().parent

#: A page that runs the translated component, and shows the values at the end.
PAGE = """<!doctype html><meta charset="utf-8"><script type="module">
import * as translated from "./fmu/fmu.js";
import { run } from "./wasm_run.js";
const compile = async (name) => WebAssembly.compile(await (await fetch(`fmu/${name}`)).arrayBuffer());
const done = (text) => { document.documentElement.dataset.done = text; };
run(translated, compile, HOW).then((values) => done(JSON.stringify(values)), (problem) => done(String(problem)));
</script>"""


DONE = "return document.documentElement.dataset.done"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def translated(pairs: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, str, list[float], str]:
    """The folder of a component that jco has translated, how to run it, its values in wasmtime, Node.js's output."""
    pair, stop, steps = pairs("furuta_pendulum"), 1.0, 20
    guest = pair.guest()
    guest.done("enter-initialization-mode", None, 0.0, stop)
    guest.done("exit-initialization-mode")
    for i in range(steps):
        guest.done("do-step", i * stop / steps, stop / steps, True)
    expected = guest.done("get-float64", pair.floats)
    how = json.dumps(
        {"token": pair.description.instantiationToken, "stop": stop, "steps": steps, "references": pair.floats}
    )
    module = next((pair.folder / "binaries" / layered_wasm.PLATFORM).iterdir())
    place = tmp_path_factory.mktemp("translated")
    files = [build_files.template_folder("component") / "package.json", HERE / "wasm_host.js", HERE / "wasm_run.js"]
    try:
        with npm.workplace(files, "jco cannot be fetched") as folder:
            command = ["node", "wasm_host.js", str(module), how]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            shutil.copytree(folder / "fmu", place / "fmu")
    except BuildError as error:
        pytest.skip(str(error))
    shutil.copy(HERE / "wasm_run.js", place)
    return place, how, expected, done.stdout


@pytest.mark.campaign
def test_another_engine_gives_the_same_bits(translated):
    """Node.js, for which jco translates the component; a WebAssembly program computes alike everywhere."""
    _, _, expected, printed = translated
    assert json.loads(printed) == expected


def test_browsers_give_the_same_bits(translated):
    """Chromium, which loads the translated component from a server of this process, and nothing from elsewhere."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium for a browser")
    programs = [shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("needs Chromium and its driver (Debian: chromium, chromium-driver)")
    folder, how, expected, _ = translated
    (folder / "index.html").write_text(PAGE.replace("HOW", how), encoding="utf-8")
    handler = functools.partial(_Quiet, directory=str(folder))
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(option)
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
        try:
            browser.get(f"http://127.0.0.1:{server.server_port}/index.html")
            wait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait(browser, 60)
            assert json.loads(wait.until(lambda b: b.execute_script(DONE))) == expected
        finally:
            browser.quit()
            server.shutdown()


@pytest.mark.parametrize("name", ["furuta_pendulum", "engine_1b"])
def test_model_exchange_is_that_of_the_library(pairs, name):
    """Sizes, derivatives, indicators, nominals and events along a path that both are led on."""
    pair = pairs(name)
    guest, native = pair.guest("model-exchange"), pair.native(FMU3Model)
    guest.done("enter-initialization-mode", 1e-6, 0.0, None)
    native.enterInitializationMode(tolerance=1e-6, startTime=0.0)
    guest.done("exit-initialization-mode")
    native.exitInitializationMode()
    again, end, _, _, has_next, next_time = native.updateDiscreteStates()
    events = guest.done("update-discrete-states")
    assert getattr(events, "new-discrete-states-needed") == again
    assert getattr(events, "terminate-simulation") == end
    assert getattr(events, "next-event-time-defined") == has_next
    assert getattr(events, "next-event-time") == next_time
    guest.done("enter-continuous-time-mode")
    native.enterContinuousTimeMode()
    states = guest.done("get-number-of-continuous-states")
    indicators = guest.done("get-number-of-event-indicators")
    assert (states, indicators) == (
        pair.description.numberOfContinuousStates,
        pair.description.numberOfEventIndicators,
    )
    vectors = {
        "get-continuous-states": (native.getContinuousStates, states),
        "get-nominals-of-continuous-states": (native.getNominalsOfContinuousStates, states),
        "get-continuous-state-derivatives": (native.getContinuousStateDerivatives, states),
        "get-event-indicators": (native.getEventIndicators, indicators),
    }
    x, step = np.array(guest.done("get-continuous-states")), 1e-3
    for i in range(1, 30):
        for method, (get, size) in vectors.items():
            expected = np.zeros(size)
            get(expected.ctypes.data_as(fmpy.fmi3.POINTER(fmpy.fmi3.fmi3Float64)), size)
            np.testing.assert_allclose(guest.done(method), expected, rtol=1e-10, atol=1e-10, err_msg=method)
        x += step * np.array(guest.done("get-continuous-state-derivatives"))
        guest.done("set-time", i * step)
        guest.done("set-continuous-states", x.tolist())
        native.setTime(i * step)
        native.setContinuousStates(x.ctypes.data_as(fmpy.fmi3.POINTER(fmpy.fmi3.fmi3Float64)), states)
        completed = guest.done("completed-integrator-step", True)
        enter, terminate = native.completedIntegratorStep()
        assert (getattr(completed, "enter-event-mode"), getattr(completed, "terminate-simulation")) == (
            enter,
            terminate,
        )


def test_values_of_all_types_go_in_and_out(pairs):
    pair = pairs("car")
    by_type: dict[str, list[int]] = {}
    for v in pair.description.modelVariables:
        if not v.dimensions:
            by_type.setdefault(v.type, []).append(int(v.valueReference))
    guest, native = pair.guest(), pair.native()
    guest.done("enter-initialization-mode", None, 0.0, None)
    native.enterInitializationMode()
    assert guest.done("get-int32", by_type["Int32"]) == native.getInt32(by_type["Int32"])
    assert guest.done("get-boolean", by_type["Boolean"]) == native.getBoolean(by_type["Boolean"])
    texts = native.getString(by_type["String"])
    assert guest.done("get-string", by_type["String"]) == texts
    assert any(texts)
    inputs = [int(v.valueReference) for v in pair.description.modelVariables if v.causality == "input"]
    assert guest.call("set-float64", inputs, [0.125 * i for i in range(len(inputs))]) == "ok"
    assert guest.done("get-float64", inputs) == [0.125 * i for i in range(len(inputs))]
    assert guest.done("get-float64", []) == []
    assert guest.done("get-float32", []) == []
    assert guest.call("set-binary", [], []) == "ok"


def test_what_is_wrong_is_refused_and_logged(pairs):
    pair = pairs("double_pendulum")
    stranger = Guest(pair.path, "co-simulation", "{another}")
    assert stranger.handle is None
    assert stranger.log[0][:3] == ("Größe", "error", "logStatusError")
    assert "instantiationToken" in stranger.log[0][3]
    for start in ("", "x"):
        # One of them is cut within a character of two bytes; components trap where a string is no UTF-8.
        stranger = Guest(pair.path, "co-simulation", start + 1500 * "ü")
        assert "üü" in stranger.log[0][3]
    guest = pair.guest()
    for method, arguments, said in [
        ("get-float64", ([4_000_000_000],), "no variable of this type"),
        ("set-float64", (pair.floats[:2], [1.0]), "there is an array of 1"),
        ("get-clock", ([1],), "clocks"),
        ("get-interval-decimal", ([1],), "clocks"),
        ("set-int8", ([1], [1]), "variables of this type"),
        ("enter-configuration-mode", (), "structural parameters"),
        ("set-string", ([1], ["ü\0x"]), "no variable of this type"),
        ("set-fmu-state", (bytes(8),), "8 bytes are too few"),
        ("do-step", (0.0, 0.1, True), ""),
    ]:
        guest.log.clear()
        assert guest.call(method, *arguments) == "error", method
        assert said in guest.log[-1][3], guest.log
    assert guest.call("set-debug-logging", True, ["logAll"]) == "ok"
    assert guest.call("set-debug-logging", True, ["loud"]) == "error"


def test_states_come_back_bit_by_bit(pairs):
    pair = pairs("furuta_pendulum")
    guest = pair.guest()
    guest.done("enter-initialization-mode", None, 0.0, None)
    guest.done("exit-initialization-mode")
    guest.done("do-step", 0.0, 0.3, True)
    state = guest.done("get-fmu-state")

    def go_on() -> list[float]:
        for i in range(5):
            guest.done("do-step", 0.3 + 0.1 * i, 0.1, False)
        return guest.done("get-float64", pair.floats)

    first = go_on()
    assert guest.call("set-fmu-state", state) == "ok"
    assert guest.done("get-fmu-state") == state
    assert go_on() == first


def test_derivatives_are_those_of_the_library(pairs):
    """Directional, adjoint, of outputs; and of an input, which FMI 3.0 itself does not have any more."""
    pair = pairs("car")
    guest, native = pair.guest(), pair.native()
    inputs = [int(v.valueReference) for v in pair.description.modelVariables if v.causality == "input"]
    scalars = {v.name: v for v in pair.description.modelVariables if v.type == "Float64" and not v.dimensions}
    unknown = next(
        int(v.valueReference) for v in scalars.values() if v.derivative is not None and v.causality != "input"
    )
    guest.done("enter-initialization-mode", None, 0.0, None)
    guest.done("exit-initialization-mode")
    native.enterInitializationMode()
    native.exitInitializationMode()
    seed = [1.0] * len(inputs)
    expected = native.getDirectionalDerivative([unknown], inputs, seed, 1)
    assert guest.done("get-directional-derivative", [unknown], inputs, seed) == pytest.approx(expected, rel=1e-10)
    adjoint = guest.done("get-adjoint-derivative", [unknown], inputs, [1.0])
    assert sum(adjoint) == pytest.approx(expected[0], rel=1e-10)
    assert guest.call("set-input-derivatives", [(inputs[0], 1)], [2.0]) == "ok"
    guest.done("do-step", 0.0, 0.5, True)
    assert guest.done("get-output-derivatives", [(inputs[0], 1)]) == [2.0]
    assert guest.done("get-float64", inputs[:1]) == pytest.approx([1.0])


def test_steps_end_early_when_the_host_asks(pairs):
    pair = pairs("double_pendulum")
    times: list[float] = []

    def update(
        t: float, set_requested: bool, get_allowed: bool, finished: bool, may_return: bool
    ) -> tuple[bool, float]:
        times.append(t)
        return may_return and t > 0.2, t

    guest = pair.guest(early_return=True, update=update)
    guest.done("enter-initialization-mode", None, 0.0, None)
    guest.done("exit-initialization-mode")
    result = guest.done("do-step", 0.0, 1.0, True)
    reached = getattr(result, "last-successful-time")
    assert 0.2 < reached < 1.0
    assert getattr(result, "early-return")
    assert times[-1] == reached


def test_instances_are_many_and_freed(pairs):
    """Hundreds, one after the other, in memory that would not hold them together."""
    pair = pairs("double_pendulum")
    guest = pair.guest()
    guest.store.set_limits(memory_size=20 << 20)
    make = guest.function("[static]co-simulation-instance.instantiate-co-simulation")
    token = pair.description.instantiationToken
    other = make(guest.store, "other", token, "", False, False, False, False, [])
    for i in range(300):
        other.drop(guest.store)
        other = make(guest.store, f"other {i}", token, "", False, False, False, False, [])
        assert other is not None
    guest.done("enter-initialization-mode", None, 0.0, None)
    guest.done("exit-initialization-mode")
    guest.done("do-step", 0.0, 0.1, True)


def test_the_archive_is_as_the_draft_has_it(pairs, tmp_path):
    pair = pairs("double_pendulum")
    assert validate(pair.path) == []
    with zipfile.ZipFile(pair.path) as archive:
        names = set(archive.namelist())
        binary = archive.read("binaries/wasm32-wasip2/DoublePendulum.wasm")
    assert set(layered_wasm.MANIFESTS) <= names
    assert component.exported_names(binary) == {
        f"fmi:fmi3/{name}@3.0.0" for name in ("common", "co-simulation", "model-exchange")
    }
    assert b"wasi:" not in binary
    assert b"wasi_snapshot" not in binary
    for left_out, said in [(layered_wasm.MANIFESTS[0], "no manifest"), ("", "no WebAssembly component")]:
        broken = tmp_path / "broken.fmu"
        with zipfile.ZipFile(pair.path) as archive, zipfile.ZipFile(broken, "w") as copy:
            for name in archive.namelist():
                if name != left_out:
                    damaged = not left_out and name.endswith(".wasm")
                    copy.writestr(name, b"\0asm\1\0\0\0" if damaged else archive.read(name))
        assert any(said in problem for problem in validate(broken))


@pytest.mark.usefixtures("users_compiler")
def test_what_cannot_be_made_is_said(monkeypatch, tmp_path):
    with pytest.raises(BuildError, match=r"FMI 3\.0"):
        build(sources.load("pendulum", ()), tmp_path, wasm=True)
    with pytest.raises(BuildError, match="no WebAssembly component"):
        component.component_of(b"", b"\0asm\1\0\0\0")
    monkeypatch.setattr(component, "is_current", lambda: False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BuildError, match=r"ziglang is not installed|Node\.js"):
        build(sources.load("pendulum", ()), tmp_path, fmi=3, wasm=True)
    assert not list(tmp_path.iterdir())
