"""FMI-LS-DAE: importers solve for iteration variables, by a method for DAEs that knows residuals and slopes only."""

from __future__ import annotations

import pathlib
import tempfile
import zipfile
from typing import Any

import fmpy
import numpy as np
import pytest
import random_loops
from fmpy.fmi3 import FMU3Model
from lxml import etree
from nonlinear_models import Clamp, Orifices, clamped

import mbfmu
from mbfmu import Assembly
from mbfmu.components import blocks, rotational
from mbfmu.errors import BuildError
from mbfmu.export.layered_dae import MANIFEST
from mbfmu.sources import load
from mbfmu.validation import validate

LS = "{http://fmi-standard.org/fmi-ls-manifest}"

#: Radau IIA of order 5 (E. Hairer, G. Wanner: Solving Ordinary Differential Equations II, section IV.5).
ROOT = 6**0.5
RADAU = np.array([
    [(88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225],
    [(296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225],
    [(16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9],
])  # fmt: skip
NODES = np.array([(4 - ROOT) / 10, (4 + ROOT) / 10, 1.0])


class Importer:
    """An instance in continuous-time mode, as the manifest has it: x' = f(t, x, z), 0 = g(t, x, z)."""

    def __init__(self, path: pathlib.Path, folder: pathlib.Path, dae: bool = True) -> None:
        with zipfile.ZipFile(path) as archive:
            root = etree.fromstring(archive.read(MANIFEST))
        self.description = fmpy.read_model_description(str(path))
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        derivative = {v.valueReference: v.derivative.valueReference for v in self.description.modelVariables
                      if v.derivative is not None}  # fmt: skip
        structure = root.find("ModelStructure")
        listed = {tag: [int(e.get("valueReference")) for e in structure.findall(tag)]
                  for tag in ("ContinuousStateDerivative", "Residual")}  # fmt: skip
        self.dependencies = {
            int(e.get("valueReference")): {int(k) for k in e.get("dependencies").split()}
            for e in structure if e.tag != "InitialUnknown" and e.get("dependencies") is not None
        }  # fmt: skip
        self.unknowns = [*listed["ContinuousStateDerivative"], *listed["Residual"]]
        self.states = [derivative[d] for d in listed["ContinuousStateDerivative"]]
        self.algebraic = [int(e.get("valueReference")) for e in root.iter("AlgebraicVariable")]
        self.enable = int(root.find("EnableDAEParameter").get("valueReference"))
        self.fmu = FMU3Model(
            guid=self.description.guid, modelIdentifier=self.description.modelExchange.modelIdentifier,
            unzipDirectory=fmpy.extract(str(path), tempfile.mkdtemp(dir=folder)), instanceName="dae",
        )  # fmt: skip
        self.fmu.instantiate(logMessage=lambda _, status, category, text: self.lines.append(text.decode()))
        self.lines: list[str] = []
        if dae:
            self.fmu.enterConfigurationMode()
            self.fmu.setBoolean([self.enable], [True])
            self.fmu.exitConfigurationMode()
        self.begin()

    def begin(self) -> None:
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.fmu.updateDiscreteStates()
        self.fmu.enterContinuousTimeMode()

    def get(self, *names: str) -> np.ndarray:
        return np.array(self.fmu.getFloat64([self.references[name] for name in names]))

    def now(self) -> np.ndarray:
        """States and algebraic variables."""
        return np.array(self.fmu.getFloat64([*self.states, *self.algebraic]))

    def set(self, t: float, v: np.ndarray) -> None:
        self.fmu.setTime(t)
        self.fmu.setFloat64([*self.states, *self.algebraic], list(v))

    def values(self, t: float, v: np.ndarray) -> np.ndarray:
        """Derivatives and residuals."""
        self.set(t, v)
        return np.array(self.fmu.getFloat64(self.unknowns))

    def slopes(self) -> np.ndarray:
        """Their derivatives by states and algebraic variables where it is."""
        knowns = [*self.states, *self.algebraic]
        return np.array([self.fmu.getDirectionalDerivative(self.unknowns, [k], [1.0]) for k in knowns]).T

    def step(self, t: float, h: float) -> np.ndarray:
        """Go on by a step of Radau's method: what it finds of states and algebraic variables."""
        n, size = len(self.states), len(self.unknowns)
        start = self.now()
        stages = np.tile(start, (3, 1))
        for _ in range(50):
            found, jacobian = np.zeros((3, size)), np.zeros((3, size, 3, size))
            rates, slopes = np.zeros((3, size)), np.zeros((3, size, size))
            for i in range(3):
                rates[i], slopes[i] = self.values(t + NODES[i] * h, stages[i]), self.slopes()
            for i in range(3):
                found[i, :n] = stages[i, :n] - start[:n] - h * RADAU[i] @ rates[:, :n]
                found[i, n:] = rates[i, n:]
                jacobian[i, n:, i] = slopes[i, n:]
                jacobian[i, range(n), i, range(n)] = 1.0
                for j in range(3):
                    jacobian[i, :n, j] -= h * RADAU[i, j] * slopes[j, :n]
            move = np.linalg.solve(jacobian.reshape(3 * size, 3 * size), -found.ravel()).reshape(3, size)
            stages += move
            if np.abs(move).max() < 1e-12 * (1 + np.abs(stages).max()):
                break
        self.set(t + h, stages[2])
        self.fmu.completedIntegratorStep()
        return stages[2]


@pytest.fixture(scope="module")
def clamp(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("clamp") / "clamp.fmu"
    return mbfmu.build(Clamp(), path, fmi=3, equations="interpreted", dae=True)


@pytest.fixture(params=["interpreted", pytest.param("compiled", marks=pytest.mark.slow)])
def either(request: pytest.FixtureRequest, clamp: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    if request.param == "interpreted":
        return clamp
    return mbfmu.build(Clamp(), tmp_path / "compiled.fmu", fmi=3, equations="compiled", dae=True)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
def test_an_importer_of_daes_charges_as_scipy_does(either, tmp_path):
    """What the diodes do between, SciPy finds by bisection."""
    importer, h = Importer(either, tmp_path), 1e-4
    assert (len(importer.states), len(importer.algebraic)) == (1, 3)
    for i in range(100):
        importer.step(i * h, h)
    known = clamped(np.array([0.0, 100 * h]))
    for name in ("vc", "v", "i"):
        assert importer.get(name)[0] == pytest.approx(known[name][-1], rel=1e-7), name


def check_slopes(importer: Importer, v: np.ndarray) -> None:
    """Directional derivatives are those that differences tell, and dependencies leave none out."""
    importer.values(0.0, v)
    exact, known = importer.slopes(), [*importer.states, *importer.algebraic]
    for k in range(v.size):
        moved = np.eye(v.size)[k] * 1e-6 * (1 + abs(v[k]))
        change = importer.values(0.0, v + moved) - importer.values(0.0, v - moved)
        by_differences = change / (2 * moved[k])
        np.testing.assert_allclose(exact[:, k], by_differences, rtol=1e-5, atol=1e-6 * (1 + np.abs(exact).max()))
        for i in np.flatnonzero(exact[:, k]):
            assert known[k] in importer.dependencies.get(importer.unknowns[i], known)


def test_residuals_and_derivatives_follow_what_is_set(clamp, tmp_path):
    importer = Importer(clamp, tmp_path)
    v = importer.now()
    np.testing.assert_allclose(importer.values(0.0, v)[len(importer.states) :], 0, atol=1e-12)
    v += np.array([0.1, 2e-3, 5.6, 0.08])  # the upper diode conducts
    r = importer.values(0.0, v)
    np.testing.assert_array_equal(importer.now(), v)
    assert np.abs(r[len(importer.states) :]).min() > 1e-3
    check_slopes(importer, v)
    assert importer.dependencies[importer.unknowns[0]] == {importer.algebraic[0]}  # sparse: C dv/dt = i


def test_what_follows_time_says_so(clamp, tmp_path):
    """Voltages of the source are of the residuals that change when time alone does; nothing else is said to."""
    importer = Importer(clamp, tmp_path)
    v = importer.now()
    moved = np.abs(importer.values(1e-3, v) - importer.values(0.0, v)) > 1e-9
    assert 0 < moved.sum() < len(moved)
    time = importer.references["time"]
    assert [time in importer.dependencies[unknown] for unknown in importer.unknowns] == moved.tolist()


def test_the_start_and_events_are_solved_by_the_fmu(clamp, tmp_path):
    importer, other = Importer(clamp, tmp_path), Importer(clamp, tmp_path, dae=False)
    np.testing.assert_array_equal(importer.now(), other.now())
    v = importer.now()
    importer.set(0.0, v + 0.1)
    importer.fmu.enterEventMode()
    importer.fmu.updateDiscreteStates()
    importer.fmu.enterContinuousTimeMode()
    solved = importer.now()
    n = len(importer.states)
    assert np.abs(solved[n:] - v[n:] - 0.1).max() > 1e-3
    np.testing.assert_allclose(importer.values(0.0, solved)[n:], 0, atol=1e-12)


@pytest.mark.slow
def test_without_the_parameter_it_is_an_fmu_as_any_other(clamp, tmp_path):
    assert validate(clamp) == []
    importer = Importer(clamp, tmp_path, dae=False)
    importer.fmu.setFloat64(importer.states, [0.5])
    n = len(importer.states)
    np.testing.assert_allclose(importer.fmu.getFloat64(importer.unknowns[n:]), 0, atol=1e-12)
    with pytest.raises(Exception, match="fmi3SetFloat64"):
        importer.fmu.setFloat64(importer.algebraic, [0.1] * len(importer.algebraic))
    result = fmpy.simulate_fmu(str(clamp), stop_time=0.01, output=["vc"])
    assert result["vc"][-1] == pytest.approx(clamped(np.array([0.0, 0.01]))["vc"][-1], rel=1e-6)


def test_the_parameter_is_set_in_configuration_mode_only_and_reset(clamp, tmp_path):
    importer = Importer(clamp, tmp_path)
    with pytest.raises(Exception, match="fmi3SetBoolean"):
        importer.fmu.setBoolean([importer.enable], [False])
    assert "can be set in configuration mode only" in importer.lines[-1]
    assert importer.fmu.getBoolean([importer.enable]) == [True]
    importer.fmu.reset()
    importer.begin()
    assert importer.fmu.getBoolean([importer.enable]) == [False]
    with pytest.raises(Exception, match="EnterConfigurationMode"):
        importer.fmu.enterConfigurationMode()


class Beside(Assembly):
    """A mechanism with constraints beside the circuit."""

    def __init__(self) -> None:
        self.bars, self.clamp = load("planar_four_bar"), Clamp()
        self.input(self.clamp.more.i, "u")


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [Beside, lambda: random_loops.make("drive", 0)[0]], ids=["constraints", "accelerations"]
)
def test_slopes_hold_where_others_are_solved_for(tmp_path, make):
    importer = Importer(mbfmu.build(make(), tmp_path / "b.fmu", fmi=3, equations="interpreted", dae=True), tmp_path)
    v = importer.now()
    v[len(importer.states) :] += 1e-2
    assert np.abs(importer.values(0.0, v)[len(importer.states) :]).max() > 1e-3
    check_slopes(importer, v)


@pytest.mark.slow
def test_a_network_of_orifices_is_sparse(tmp_path):
    importer = Importer(mbfmu.build(Orifices(), tmp_path / "o.fmu", fmi=3, equations="interpreted", dae=True), tmp_path)
    n, count = len(importer.states), len(importer.algebraic)
    assert count > 10
    importer.values(0.0, importer.now() * 1.01)
    known = [*importer.states, *importer.algebraic]
    pattern = np.array([[k in importer.dependencies[u] for k in known] for u in importer.unknowns])
    assert not np.any((np.abs(importer.slopes()) > 0) & ~pattern)
    assert pattern[n:, n:].mean() < 0.7
    before = importer.now()
    for i in range(10):
        importer.step(0.01 * i, 0.01)
    assert np.abs(importer.now() - before).max() > 1e4


class Inertia(Assembly):
    """Nothing to iterate on."""

    def __init__(self) -> None:
        self.inertia = rotational.Inertia(J=1.0)


class Named(Clamp):
    """It has a variable of the name that the parameter needs."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = blocks.Gain(k=1.0)
        self.input(self.gain.u, "daeMode")


@pytest.mark.slow
@pytest.mark.parametrize(("assembly", "options", "said"), [
    (Inertia, {"fmi": 3}, "Inertia has no equations that it iterates on"),
    (Clamp, {"fmi": 2}, "choose fmi=3"),
    (Clamp, {"fmi": 3, "target": "python"}, "the python target is for co-simulation only"),
    (Named, {"fmi": 3}, "daeMode is the name of a variable of the model"),
])  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path, assembly: Any, options: dict[str, Any], said: str):
    with pytest.raises(BuildError, match=said):
        mbfmu.build(assembly(), tmp_path, dae=True, **options)
