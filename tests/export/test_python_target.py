"""The Python-hosted FMU through FMPy: pythonfmu's library, the slave, and the runtime beside it."""

from __future__ import annotations

import datetime
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Slave

from mbfmu.export.fingerprint import fingerprint
from mbfmu.export.model_description import Capabilities, model_description
from mbfmu.export.python import external_dependencies, write_python_target
from mbfmu.runtime import run
from mbfmu.runtime.references import value_references

pytestmark = pytest.mark.skipif(
    sys.platform not in ("linux", "win32"), reason="pythonfmu has no library for this system"
)

IDENTIFIER = "Examples_Oscillator"


@pytest.fixture(scope="module")
def unzipped(system: Any, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The FMU as a folder."""
    folder = tmp_path_factory.mktemp("fmu") / "oscillator"
    folder.mkdir()
    references = value_references(system.variables)
    guid = fingerprint(system.equations, system.variables, references, "python")
    description = model_description(
        system.equations,
        system.variables,
        references,
        identifier=IDENTIFIER,
        guid=guid,
        capabilities=Capabilities(needsExecutionTool=True),
        date=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
    )
    (folder / "modelDescription.xml").write_bytes(description)
    write_python_target(folder, system.equations, system.variables, references, IDENTIFIER, guid)
    return folder


class Slave:
    """An FMPy slave with access by name, and the lines that it logged."""

    def __init__(self, folder: pathlib.Path, name: str = "instance") -> None:
        self.description = fmpy.read_model_description(str(folder))
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        self.fmu = FMU2Slave(
            guid=self.description.guid, unzipDirectory=str(folder), modelIdentifier=IDENTIFIER, instanceName=name
        )
        self.lines: list[str] = []
        callbacks = fmpy.fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmpy.fmi2.fmi2CallbackLoggerTYPE(self._log)
        callbacks.allocateMemory = fmpy.fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.fmi2.calloc)
        callbacks.freeMemory = fmpy.fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.fmi2.free)
        self.fmu.instantiate(callbacks=callbacks, loggingOn=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fmu, name)

    def _log(self, environment: Any, instance: bytes, status: int, category: bytes, message: bytes) -> None:
        self.lines.append(message.decode())

    def start(self, tolerance: float | None = 1e-9, **values: float) -> Slave:
        self.setupExperiment(tolerance=tolerance, startTime=0.0)
        for name, value in values.items():
            self[name.replace("__", ".")] = value
        self.enterInitializationMode()
        self.exitInitializationMode()
        return self

    def __getitem__(self, name: str) -> float:
        return self.getReal([self.references[name]])[0]

    def __setitem__(self, name: str, value: float) -> None:
        self.setReal([self.references[name]], [value])

    def steps(self, start: float, h: float, count: int) -> None:
        for i in range(count):
            self.doStep(start + i * h, h)


@pytest.fixture
def slave(unzipped: pathlib.Path) -> Any:
    instance = Slave(unzipped)
    yield instance
    instance.freeInstance()


def test_a_run_follows_the_closed_form_and_the_run_in_process(unzipped: pathlib.Path, system: Any) -> None:
    result = fmpy.simulate_fmu(str(unzipped), stop_time=3.0, output_interval=0.01, relative_tolerance=1e-10)
    np.testing.assert_allclose(result["flange.s"], 0.1 * np.cos(2 * result["time"]), atol=1e-8)
    inside = run(system.equations, system.variables, stop_time=3.0, interval=0.01, tolerance=1e-10)
    np.testing.assert_allclose(result["flange.s"], inside["flange.s"], atol=1e-13)
    np.testing.assert_allclose(result["energy"], 0.04, atol=1e-9)


def test_start_values_and_inputs_of_the_importer_are_used(unzipped: pathlib.Path) -> None:
    force = np.array([(0.0, 4.0), (3.0, 4.0)], dtype=[("time", float), ("flange.f", float)])
    result = fmpy.simulate_fmu(
        str(unzipped),
        stop_time=2.0,
        start_values={"mass.m": 0.5, "mass.s": 0.0, "mass.v": 1.0},
        input=force,
        relative_tolerance=1e-9,
    )
    t = result["time"]
    np.testing.assert_allclose(result["flange.s"], 0.5 * (1 - np.cos(4 * t)) + 0.25 * np.sin(4 * t), atol=1e-7)


def test_values_of_every_type(slave: Slave) -> None:
    slave.start()
    assert slave["omega"] == pytest.approx(2.0)
    assert slave["mass.a"] == pytest.approx(-0.4)
    assert slave.getInteger([slave.references["count"]]) == [3]
    assert slave.getBoolean([slave.references["mass.animation"]]) == [True]
    assert slave.getString([slave.references["mass.label"]]) == [b"a < b"]


def test_the_hosts_import_path_stays_as_it_was(unzipped: pathlib.Path) -> None:
    before = list(sys.path)
    slave = Slave(unzipped)
    slave.reset()
    assert sys.path == before
    slave.freeInstance()


def test_a_get_in_initialization_mode_knows_what_was_set(slave: Slave) -> None:
    slave["mass.s"] = 0.2
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    assert slave["mass.a"] == pytest.approx(-0.8)
    slave["flange.f"] = 1.6
    assert slave["mass.a"] == pytest.approx(0.0, abs=1e-15)
    slave.exitInitializationMode()


def test_states_are_kept_set_and_serialised(slave: Slave) -> None:
    slave.start()
    slave.steps(0.0, 0.1, 5)
    kept = slave.getFMUstate()
    data = slave.serializeFMUstate(kept)
    slave.steps(0.5, 0.1, 5)
    end = slave["flange.s"]
    assert end == pytest.approx(0.1 * np.cos(2.0), abs=1e-8)
    slave.setFMUstate(kept)
    assert slave["flange.s"] == pytest.approx(0.1 * np.cos(1.0), abs=1e-8)
    slave.steps(0.5, 0.1, 5)
    assert slave["flange.s"] == end
    slave.freeFMUstate(kept)
    again = slave.deSerializeFMUstate(data)
    slave.setFMUstate(again)
    slave.steps(0.5, 0.1, 5)
    assert slave["flange.s"] == end
    slave.freeFMUstate(again)


def test_reset_brings_the_defaults_back(slave: Slave) -> None:
    slave.start(mass__m=8.0)
    slave.steps(0.0, 0.1, 3)
    assert slave["omega"] == pytest.approx(1.0)
    slave.reset()
    assert slave["mass.m"] == 2.0
    slave.start()
    slave.steps(0.0, 0.5, 2)
    assert slave["flange.s"] == pytest.approx(0.1 * np.cos(2.0), abs=1e-8)


def test_instances_are_independent(unzipped: pathlib.Path) -> None:
    first, second = Slave(unzipped, "first"), Slave(unzipped, "second")
    first.start()
    second.start(mass__s=0.2)
    first.steps(0.0, 0.5, 2)
    second.steps(0.0, 0.5, 1)
    assert first["flange.s"] == pytest.approx(0.1 * np.cos(2.0), abs=1e-8)
    first.terminate()
    first.freeInstance()
    second.steps(0.5, 0.5, 1)
    assert second["flange.s"] == pytest.approx(0.2 * np.cos(2.0), abs=1e-8)
    second.freeInstance()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("mass.m", -1.0, "'mass.m' cannot be set to -1.0: its smallest value is 0.0"),
        ("mass.m", float("inf"), "finite"),
        ("energy", 1.0, "'energy' cannot be set: it is calculated by the model"),
        ("omega", 1.0, "'omega' cannot be set"),
    ],
)
def test_a_refused_set_is_logged_and_changes_nothing(slave: Slave, name: str, value: float, words: str) -> None:
    for _ in range(5):
        with pytest.raises(FMICallException):
            slave.setReal([slave.references["mass.s"], slave.references[name]], [0.5, value])
    assert words in slave.lines[-1]
    slave.start()
    assert slave["mass.s"] == 0.1


def test_a_structural_value_is_refused_with_the_remedy(slave: Slave) -> None:
    with pytest.raises(FMICallException):
        slave.setInteger([slave.references["mass.n[1]"]], [2])
    assert "'mass.n[1]' = 1 cannot be set to 2: build the model anew" in slave.lines[-1]


def test_steps_from_another_time_and_unknown_references_are_refused(slave: Slave) -> None:
    slave.start()
    slave.doStep(0.0, 0.5)
    with pytest.raises(FMICallException):
        slave.doStep(0.0, 0.5)
    assert "doStep starts at t = 0 s, but the model is at 0.5 s" in slave.lines[-1]
    with pytest.raises(FMICallException):
        slave.getReal([4711])
    assert "value reference 4711" in slave.lines[-1]
    with pytest.raises(FMICallException):
        slave["mass.m"] = 1.0
    assert "before the initialisation ends" in slave.lines[-1]
    slave.doStep(0.5, 0.5)
    assert slave["flange.s"] == pytest.approx(0.1 * np.cos(2.0), abs=1e-8)


def test_foreign_bytes_are_no_state(slave: Slave) -> None:
    slave.start()
    state = slave.deSerializeFMUstate(b"\x00\xff nothing")
    with pytest.raises(FMICallException):
        slave.setFMUstate(state)
    assert "not the saved state" in slave.lines[-1]
    slave.freeFMUstate(state)
    slave.doStep(0.0, 0.1)


def test_an_impossible_start_is_reported(slave: Slave) -> None:
    """With stiffness and mass 0 the derived frequency and the accelerations are no numbers."""
    slave["mass.m"] = 0.0
    slave["spring.c"] = 0.0
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    with pytest.raises(FMICallException):
        slave.exitInitializationMode()
    assert "the equations of motion are singular" in slave.lines[-1]
    assert "der(mass.v)" in slave.lines[-1]


def test_a_host_without_mbfmu_runs_it_and_ends_well(unzipped: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Moved, with mbfmu out of reach and its own pythonfmu; errors must not crash the process, not even at its end."""
    moved = tmp_path / "moved fmu"
    shutil.copytree(unzipped, moved)
    script = textwrap.dedent(
        f"""
        import sys

        class Hidden:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] == "mbfmu":
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, Hidden())
        import fmpy
        from fmpy.fmi2 import FMU2Slave

        folder = {str(moved)!r}
        description = fmpy.read_model_description(folder)
        for _ in range(2):
            slave = FMU2Slave(guid=description.guid, unzipDirectory=folder, modelIdentifier={IDENTIFIER!r})
            slave.instantiate()
            slave.setupExperiment(startTime=0.0)
            slave.enterInitializationMode()
            slave.exitInitializationMode()
            for _ in range(20):
                try:
                    slave.doStep(7.0, 0.1)
                except Exception as error:
                    refused = error
            slave.doStep(0.0, 0.5)
            slave.terminate()
            slave.freeInstance()
        import pythonfmu
        assert pythonfmu.__file__.startswith(folder), pythonfmu.__file__
        print("well", refused)
        """
    )
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("well fmi2DoStep failed")


def test_layout(unzipped: pathlib.Path) -> None:
    assert (unzipped / f"binaries/linux64/{IDENTIFIER}.so").stat().st_size > 0
    assert (unzipped / f"binaries/win64/{IDENTIFIER}.dll").stat().st_size > 0
    resources = unzipped / "resources"
    module = (resources / "slavemodule.txt").read_text()
    assert module.startswith(IDENTIFIER)
    assert (resources / f"{module}.py").is_file()
    assert {file.name for file in resources.glob("mbfmu_runtime_*/*.py")} >= {"__init__.py", "slave.py", "instance.py"}


def test_external_dependencies_name_the_packages_and_their_versions() -> None:
    text = external_dependencies("Examples.Oscillator")
    assert f"numpy (tested with {np.__version__})" in text
    assert "python -m pip install numpy scipy casadi\n" in text
    assert "LD_PRELOAD" in text
