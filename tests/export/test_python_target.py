"""The Python-hosted FMU: pythonfmu's library behind the runtime's, call by call against the native target."""

from __future__ import annotations

import ast
import ctypes
import datetime
import gc
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from typing import Any

import fmpy
import numpy as np
import pytest
from calls import ALL_PHASES, ARGUMENTS, CHANGES, answers
from importer import DISCARD, ERROR, MODEL_EXCHANGE, OK, UNTOUCHED, Callbacks, Importer, Unit

import mbfmu
from mbfmu.export import native, python
from mbfmu.export.contents import CAPABILITIES
from mbfmu.export.fingerprint import fingerprint
from mbfmu.export.model_description import model_description
from mbfmu.fmus.double_pendulum import DoublePendulum
from mbfmu.fmus.planar_loop_release import PlanarLoopRelease
from mbfmu.runtime import build as runtime
from mbfmu.runtime.compilers import host_platform, library_name, require_compiler
from mbfmu.runtime.references import value_references
from mbfmu.runtime.slave import Slave
from mbfmu.validation import validate

pytestmark = pytest.mark.skipif(
    sys.platform not in ("linux", "win32"), reason="pythonfmu has no library for this system"
)

HERE = pathlib.Path(__file__).resolve().parent
IDENTIFIER = "Examples_Oscillator"
REAL, SIZE = ctypes.c_double, ctypes.c_size_t
GUID = "{the same for both targets}"


def write_fmu(folder: pathlib.Path, system: Any, target: str, guid: str, platforms: Sequence[str] = ()) -> pathlib.Path:
    """Write an FMU of the oscillator as a folder."""
    references = value_references(system.variables)
    folder.mkdir(parents=True)
    description = model_description(
        system.equations,
        system.variables,
        references,
        identifier=IDENTIFIER,
        guid=guid,
        capabilities=CAPABILITIES[target],
        date=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    )
    (folder / "modelDescription.xml").write_bytes(description)
    if target == "python":
        names = platforms or [host_platform()]
        python.write_python_target(folder, system.equations, system.variables, IDENTIFIER, guid, names)
    else:
        (folder / "resources").mkdir()
        native.write_descriptor(system.equations, system.variables, guid, folder / "resources")
        native.copy_library(IDENTIFIER, folder)
    return folder


@pytest.fixture(scope="module")
def folder(system: Any, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The Python-hosted FMU."""
    return write_fmu(tmp_path_factory.mktemp("fmu") / "python", system, "python", GUID)


@pytest.fixture(scope="module")
def importer(folder: pathlib.Path) -> Importer:
    return Importer(folder)


@pytest.fixture(scope="module")
def reference(system: Any, tmp_path_factory: pytest.TempPathFactory) -> Importer:
    """The native FMU of the same model."""
    return Importer(write_fmu(tmp_path_factory.mktemp("fmu") / "native", system, "native", GUID))


@pytest.fixture
def unit(importer: Importer) -> Iterator[Unit]:
    importer.lines.clear()
    unit = importer.instantiate(logging=True)
    assert unit is not None, importer.lines
    yield unit
    unit.free()
    assert importer.blocks == 0


@pytest.mark.parametrize("logging", [False, True])
def test_every_call_answers_as_in_the_native_target(importer: Importer, reference: Importer, logging: bool) -> None:
    pairs = list(zip(answers(importer, logging), answers(reference, logging), strict=True))
    seen = set()
    for (name, answer, lines), (_, expected, wanted) in pairs:
        assert repr((answer, lines)) == repr((expected, wanted)), name
        seen |= {status for _, status, _, _ in lines}
    assert {DISCARD, ERROR} <= seen
    assert len(pairs) > 1500


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_wrong_arguments_make_no_instance(importer: Importer, reference: Importer, arguments: dict[str, Any]) -> None:
    lines = []
    for fmu in (importer, reference):
        fmu.lines.clear()
        if arguments.get("name") == b"caf\xe9":
            unit = fmu.instantiate(**arguments)
            assert unit is not None
            unit.start().free()
        else:
            assert fmu.instantiate(**arguments) is None
        assert fmu.blocks == 0
        lines.append(list(fmu.lines))
    assert lines[0] == lines[1]
    assert (lines[0] == []) == (arguments in (ARGUMENTS["no callbacks"], ARGUMENTS["a name that is not UTF-8"]))


def test_it_is_for_co_simulation_only(importer: Importer) -> None:
    importer.lines.clear()
    assert importer.instantiate(kind=MODEL_EXCHANGE) is None
    assert [status for _, status, _, _ in importer.lines] == [ERROR]
    assert "FMUs that Python hosts are for co-simulation only" in importer.lines[0][3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", ["nowhere", "not UTF-8", "replaced", "no descriptor", "damaged descriptor", "no slave"]
)
def test_resources_that_cannot_be_used_are_refused(system: Any, tmp_path: pathlib.Path, what: str) -> None:
    """Each in an FMU of its own: the model of one that has run is known."""
    own = Importer(write_fmu(tmp_path / "fmu", system, "python", "{" + what + "}"))
    resources = own.folder / "resources"
    descriptor = resources / "model.mbfmu"
    words = "the slave cannot be read"
    location = own.resources
    if what == "nowhere":
        location = (tmp_path / "nowhere").as_uri().encode()
    elif what == "not UTF-8":
        location, words = b"file:///caf%E9", "not UTF-8"
    elif what == "replaced":
        shutil.move(resources, tmp_path / "a%20b")
        location, words = (tmp_path / "a%20b").as_uri().encode(), "pythonfmu's library would replace"
    elif what == "no descriptor":
        descriptor.unlink()
        words = "the file model.mbfmu cannot be read in the folder of fmuResourceLocation"
    elif what == "damaged descriptor":
        data = bytearray(descriptor.read_bytes())
        data[len(data) // 2] ^= 1
        descriptor.write_bytes(data)
        words = "is damaged"
    else:
        module = (resources / "slavemodule.txt").read_text()
        (resources / f"{module}.py").write_text("raise OSError('no slave today')\n")
        words = "no slave today"
    for _ in range(3):
        own.lines.clear()
        assert own.instantiate(resources=location) is None
        assert own.blocks == 0
        assert {status for _, status, _, _ in own.lines} == {ERROR}
        assert words in own.lines[-1][3] or what == "damaged descriptor"


@pytest.mark.parametrize("form", ["uri", "file:/", "localhost", "path", "escaped"])
def test_resources_in_every_form_of_a_location(importer: Importer, form: str) -> None:
    path = (importer.folder / "resources").as_posix()
    location = {
        "uri": f"file://{path}",
        "file:/": f"file:{path}",
        "localhost": f"file://localhost{path}/",
        "path": path,
        "escaped": "file://" + "".join(c if c == "/" else f"%{ord(c):02x}" for c in path),
    }[form]
    unit = importer.instantiate(resources=location.encode())
    assert unit is not None, importer.lines
    unit.start().free()


def test_folders_with_spaces_and_umlauts(system: Any, tmp_path: pathlib.Path) -> None:
    own = Importer(write_fmu(tmp_path / "ein Körper" / "数", system, "python", "{umlauts}"))
    unit = own.instantiate()
    assert unit is not None, own.lines
    unit.start()
    assert unit.step(0.0, 0.5) == OK
    unit.free()


def test_calls_without_an_instance(importer: Importer) -> None:
    nobody = Unit(importer, None)
    importer.lines.clear()
    for name, call in [*CHANGES, *ALL_PHASES]:
        statuses = call(nobody)
        for status in statuses if isinstance(statuses, tuple) else [statuses]:
            assert status == ERROR or not isinstance(status, int), name
    nobody.free()
    assert importer.lines == []


def test_callbacks_may_be_missing(importer: Importer) -> None:
    callbacks = Callbacks()
    unit = importer.instantiate(callbacks=ctypes.byref(callbacks), logging=True)
    assert unit is not None
    unit.start()
    assert unit.step(5.0, 1.0) == ERROR
    unit.free()


def test_errors_leave_the_importers_values_alone(unit: Unit) -> None:
    unit.start()
    for kind, wrong in (("Real", 4711), ("Integer", 99), ("Boolean", 99), ("String", 99)):
        status, values = unit.get_references(kind, [0, wrong])
        assert status == ERROR
        assert values == [UNTOUCHED[kind]] * 2


def test_what_pythonfmu_does_not_know_is_that_of_the_native_target(importer: Importer, reference: Importer) -> None:
    """Directional derivatives, and those of inputs and outputs: with F = 4 t, m = 2 and c = 8."""
    found = []
    for fmu in (importer, reference):
        unit = fmu.instantiate()
        assert unit is not None
        unit.start()
        one, order, value = (REAL * 1)(1.0), (ctypes.c_int * 1)(1), (REAL * 1)(4.0)
        force, speed, change = ((ctypes.c_uint * 1)(fmu.variables[n][1]) for n in ("flange.f", "mass.v", "mass.a"))
        assert unit.call("SetRealInputDerivatives", force, SIZE(1), order, value) == OK
        assert unit.step(0.0, 0.5) == OK
        slope, partial = (REAL * 1)(), (REAL * 1)()
        assert unit.call("GetRealOutputDerivatives", speed, SIZE(1), order, slope) == OK
        assert unit.call("GetDirectionalDerivative", change, SIZE(1), force, SIZE(1), one, partial) == OK
        assert unit.call("GetDirectionalDerivative", change, SIZE(1), force, SIZE(1), None, partial) == ERROR
        found.append((unit.get("mass.v"), unit.get("mass.a"), slope[0], partial[0]))
        unit.free()
    assert found[0] == found[1]
    assert found[0][1:] == pytest.approx((1.0 - 4.0 * 0.1 * np.cos(1.0) - 4.0 * (0.25 - np.sin(1.0) / 4),) * 2 + (0.5,))


def test_every_bit_of_a_serialized_state_counts(unit: Unit) -> None:
    unit.start()
    unit.step(0.0, 0.3)
    saved = unit.save()
    data = bytearray(unit.serialize(saved))
    assert unit.call("FreeFMUstate", ctypes.byref(saved)) == OK
    for i in range(8 * len(data)):
        data[i // 8] ^= 1 << i % 8
        status, state = unit.deserialize(bytes(data))
        assert (status, state.value) == (ERROR, None), i
        data[i // 8] ^= 1 << i % 8
    status, state = unit.deserialize(bytes(data))
    assert status == OK
    assert unit.call("FreeFMUstate", ctypes.byref(state)) == OK
    assert state.value is None


def test_states_are_kept_set_and_serialized(unit: Unit, importer: Importer) -> None:
    unit.start()
    unit.step(0.0, 0.5)
    state = unit.save()
    data = unit.serialize(state)
    unit.step(0.5, 0.5)
    end = unit.get("flange.s")
    assert end == pytest.approx(0.1 * np.cos(2.0), abs=1e-8)
    copy = unit.deserialize(data)[1]
    for kept in (state, copy):
        assert unit.call("SetFMUstate", kept) == OK
        assert unit.get("flange.s") == pytest.approx(0.1 * np.cos(1.0), abs=1e-8)
        assert unit.step(0.5, 0.5) == OK
        assert unit.get("flange.s") == end
    assert unit.call("GetFMUstate", ctypes.byref(state)) == OK  # in place of the old one
    other = importer.instantiate(b"other")
    assert other is not None
    assert other.call("SetFMUstate", copy) == OK
    assert other.step(0.5, 0.5) == OK
    assert other.get("flange.s") == end
    other.free()
    short = ctypes.create_string_buffer(len(data) - 1)
    assert unit.call("SerializeFMUstate", state, short, ctypes.c_size_t(len(data) - 1)) == ERROR
    long = ctypes.create_string_buffer(b"x" * (len(data) + 9), len(data) + 9)
    assert unit.call("SerializeFMUstate", state, long, ctypes.c_size_t(len(data) + 9)) == OK
    assert long.raw[len(data) :] == b"x" * 9
    for kept in (state, copy):
        assert unit.call("FreeFMUstate", ctypes.byref(kept)) == OK


def test_instances_are_independent(importer: Importer) -> None:
    first, second = importer.instantiate(b"first"), importer.instantiate(b"second")
    assert first is not None
    assert second is not None
    second.set("mass.s", 0.2)
    first.start()
    second.start()
    first.step(0.0, 0.5)
    first.step(0.5, 0.5)
    second.step(0.0, 0.5)
    assert first.get("flange.s") == pytest.approx(0.1 * np.cos(2.0), abs=1e-8)
    first.free()
    second.step(0.5, 0.5)
    assert second.get("flange.s") == pytest.approx(0.2 * np.cos(2.0), abs=1e-8)
    importer.lines.clear()
    second.step(0.0, 9.0)
    assert importer.lines[0][0] == "second"
    second.free()


def test_fmus_of_one_process_have_slaves_and_runtimes_of_their_own(
    importer: Importer, system: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second has other modules, as one of another version of mbfmu has; both run in turns."""
    folder = write_fmu(tmp_path / "fmu", system, "python", "{second}")
    package = next((folder / "resources").glob("mbfmu_runtime_*"))
    module = (folder / "resources" / "slavemodule.txt").read_text()
    slave = folder / "resources" / f"{module}.py"
    slave.write_text(slave.read_text().replace(package.name, "mbfmu_runtime_other"))
    package.rename(package.with_name("mbfmu_runtime_other"))
    hook = package.with_name("mbfmu_runtime_other") / "slave.py"
    hook.write_text(hook.read_text().replace("current_time, step_size)\n", "current_time, 2 * step_size)\n"))
    before = list(sys.path)
    units = [importer.instantiate(), Importer(folder).instantiate(), importer.instantiate()]
    assert sys.path == before
    for unit in units:
        unit.start()
    for unit in units:
        assert unit.step(0.0, 0.5) == OK
    assert [unit.get("time") for unit in units] == [0.5, 1.0, 0.5]
    for unit in units:
        unit.free()


def test_a_getter_that_fails_answers_with_nothing_of_its_type() -> None:
    class Broken(Slave):
        def __init__(self) -> None:
            self.runtime, self.failed = None, []  # type: ignore[assignment]

        def fail(self, error: Exception) -> None:
            self.failed.append(error)

    broken = Broken()
    for kind, nothing in (("real", 0.0), ("integer", 0), ("boolean", False), ("string", "")):
        answer = getattr(broken, f"get_{kind}")([1, 2])
        assert answer == [nothing] * 2
        assert {type(value) for value in answer} == {type(nothing)}
    assert len(broken.failed) == 4


def test_a_defect_of_the_slave_is_an_error_and_no_end(system: Any, tmp_path: pathlib.Path) -> None:
    folder = write_fmu(tmp_path / "fmu", system, "python", "{defect}")
    hook = next((folder / "resources").glob("mbfmu_runtime_*")) / "slave.py"
    hook.write_text(hook.read_text().replace("do_step(current_time, step_size)", "do_step(1 / 0)"))
    package = hook.parent.rename(hook.parent.with_name("mbfmu_runtime_defect"))
    module = (folder / "resources" / "slavemodule.txt").read_text()
    slave = folder / "resources" / f"{module}.py"
    slave.write_text(slave.read_text().replace(hook.parent.name, package.name))
    own = Importer(folder)
    unit = own.instantiate()
    assert unit is not None
    unit.start()
    for _ in range(20):
        assert unit.step(0.0, 0.5) == ERROR
        assert "defect of the FMU" in own.lines[-1][3]
        assert "ZeroDivisionError" in own.lines[-1][3]
    assert unit.get("flange.s") == 0.1
    unit.free()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_thousand_instances_leave_nothing_behind(importer: Importer) -> None:
    def resident() -> int:
        gc.collect()
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    before = 0
    for i in range(1100):
        unit = importer.instantiate()
        assert unit is not None
        unit.start()
        unit.step(0.0, 0.1)
        state = unit.save()
        unit.call("FreeFMUstate", ctypes.byref(state))
        unit.free()
        if i == 100:
            before = resident()
    assert resident() - before < 300_000
    assert importer.blocks == 0


def test_a_run_in_fmpy_follows_the_closed_form(folder: pathlib.Path) -> None:
    force = np.array([(0.0, 4.0), (3.0, 4.0)], dtype=[("time", float), ("flange.f", float)])
    result = fmpy.simulate_fmu(
        str(folder),
        stop_time=2.0,
        start_values={"mass.m": 0.5, "mass.s": 0.0, "mass.v": 1.0},
        input=force,
        relative_tolerance=1e-9,
    )
    t = result["time"]
    np.testing.assert_allclose(result["flange.s"], 0.5 * (1 - np.cos(4 * t)) + 0.25 * np.sin(4 * t), atol=1e-7)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("assembly", "fmi", "fixed_step"),
    [
        (DoublePendulum, 2, None),
        (PlanarLoopRelease, 3, None),
        (PlanarLoopRelease, 3, 0.004),
    ],
)
def test_a_run_of_the_gallery_is_that_of_the_native_target(
    assembly: type[mbfmu.Assembly], fmi: int, fixed_step: float | None, tmp_path: pathlib.Path
) -> None:
    """To the last bit, all variables, events included; once more from another folder, when the first is gone."""
    runs = []
    system = mbfmu.System.of(assembly(), scene=True)
    interval = system.equations.stop_time / 125
    for target, kind in (("python", "auto"), ("native", "interpreted")):
        file = mbfmu.build(
            system, tmp_path / f"{target}.fmu", fmi=fmi, target=target, fixed_step=fixed_step, equations=kind
        )
        assert validate(file) == []
        described = fmpy.read_model_description(str(file))
        reals = [v.name for v in described.modelVariables if v.type in ("Real", "Float64")]
        assert len(reals) > 20
        assert described.coSimulation.needsExecutionTool == (target == "python")
        runs.append(fmpy.simulate_fmu(str(file), output=reals, output_interval=interval))
    runs.append(fmpy.simulate_fmu(str(tmp_path / "python.fmu"), output=reals, output_interval=interval))
    assert len(runs[0]) > 100
    assert runs[0].tobytes() == runs[1].tobytes() == runs[2].tobytes()


def test_a_bare_python_runs_it(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Moved, in a Python without site-packages."""
    moved = tmp_path / "moved fmu"
    shutil.copytree(folder, moved)
    run = subprocess.run(
        [sys.executable, "-I", "-S", str(HERE / "importer.py"), str(moved)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "well\n", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="compiles a host for Linux")
@pytest.mark.parametrize("preload", [True, False])
def test_a_host_that_is_not_python_runs_it_and_ends_well(
    folder: pathlib.Path, tmp_path: pathlib.Path, preload: bool
) -> None:
    library = pathlib.Path(sysconfig.get_config_var("LIBDIR")) / (sysconfig.get_config_var("INSTSONAME") or "")
    if library.suffix == ".a" or not library.is_file():
        library = next(pathlib.Path("/usr/lib/x86_64-linux-gnu").glob("libpython3.*.so.1.0"), library)
    if library.suffix == ".a" or not library.is_file():
        pytest.skip("there is no shared libpython")
    compiler = require_compiler()
    command = [*compiler.command, "-std=c99", "-I", str(runtime.headers()), str(HERE / "python_host.c")]
    subprocess.run([*command, "-o", str(tmp_path / "host"), "-ldl", "-lpthread"], check=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment |= {"LD_PRELOAD": str(library)} if preload else {"LD_LIBRARY_PATH": str(library.parent)}
    path = folder / "binaries" / host_platform() / library_name(IDENTIFIER, host_platform())
    run = subprocess.run(
        [str(tmp_path / "host"), str(path), GUID, (folder / "resources").as_uri()],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "well\n", "")


def test_layout(folder: pathlib.Path) -> None:
    binaries = folder / "binaries" / host_platform()
    assert {file.name for file in binaries.iterdir()} == {
        library_name(IDENTIFIER, host_platform()),
        python.HOST_LIBRARIES[host_platform()],
    }
    resources = folder / "resources"
    module = (resources / "slavemodule.txt").read_text()
    assert module.startswith(IDENTIFIER)
    assert (resources / f"{module}.py").is_file()
    assert (resources / "model.mbfmu").is_file()
    package = next(resources.glob("mbfmu_runtime_*"))
    assert {file.name for file in package.iterdir() if file.is_file()} == set(python.MODULES)


def test_it_brings_the_standard_library_only(folder: pathlib.Path) -> None:
    package = next((folder / "resources").glob("mbfmu_runtime_*"))
    for file in package.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names | {"__future__"}


def test_external_dependencies_ask_for_python_only(folder: pathlib.Path) -> None:
    text = (folder / "documentation" / "externalDependencies.txt").read_text()
    assert "No package has to be\ninstalled" in text
    assert f"Platforms: {host_platform()}." in text
    assert "LD_PRELOAD" in text


def test_the_guid_belongs_to_the_target(system: Any) -> None:
    references = value_references(system.variables)
    guids = {
        fingerprint(system.equations, system.variables, references, target)
        for target in ("python interpreted", "native interpreted", "native compiled")
    }
    assert len(guids) == 3
