"""FMUs in CasADi's importer, which sets states as variables and takes each variable for one purpose only."""

from __future__ import annotations

import zipfile

import casadi as ca
import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.simulation import instantiate_fmu

from mbfmu import sources
from mbfmu.export.build import build
from mbfmu.simulation import simulate
from mbfmu.validation import validate

pytestmark = pytest.mark.skipif(
    tuple(map(int, ca.__version__.split(".")[:2])) < (3, 7), reason="CasADi's importer of FMI 3.0 came with 3.7"
)


@pytest.fixture(params=[2, 3], ids=["FMI 2.0", "FMI 3.0"])
def unpacked(request, tmp_path):
    """Return a function that builds a model of the gallery, without its texts, and unpacks it."""

    def make(name, pattern):
        path = tmp_path / f"{name}.fmu"
        build(sources.load(name, ()), path, fmi=request.param, equations="interpreted", variables=pattern)
        assert validate(path, run=False) == []
        with zipfile.ZipFile(path) as archive:
            archive.extractall(tmp_path / name)
        return str(tmp_path / name)

    return make


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize(
    ("name", "pattern"), [("furuta_pendulum", "base.phi"), ("planar_four_bar", "revolute1.phi")]
)  # the first one's outputs are states and their derivatives, the second one has constraints
def test_derivatives_and_their_derivatives(unpacked, name, pattern):
    dae = ca.DaeBuilder(name, unpacked(name, pattern))
    f = dae.create("f", ["x", "u"], ["ode", "y"])
    own = simulate(sources.load(name, ()), 0.01, interval=0.01, tolerance=1e-10)
    start = np.array([own[state][0] for state in dae.x()])
    inputs = np.array(dae.start(dae.u()), dtype=float)
    ode, y = f(start, inputs)
    rates = [own[s.removesuffix("phi") + "w" if s.endswith(".phi") else s.removesuffix("w") + "a"][0] for s in dae.x()]
    np.testing.assert_allclose(np.ravel(ode), rates, atol=1e-7)
    np.testing.assert_allclose(np.ravel(y), [own[output][0] for output in dae.y()], atol=1e-9)
    jacobian = np.array(f.jacobian()(start, inputs, 0, 0)[0])
    for column in range(start.size):
        moved = [start + side * 1e-5 * np.eye(start.size)[column] for side in (1, -1)]
        difference = (np.ravel(f(moved[0], inputs)[0]) - np.ravel(f(moved[1], inputs)[0])) / 2e-5
        np.testing.assert_allclose(jacobian[:, column], difference, atol=1e-5 * (1 + np.abs(jacobian).max()))


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_states_are_set_as_variables_in_continuous_time_mode_only(fmi, tmp_path):
    path = build(sources.load("furuta_pendulum", ()), tmp_path, fmi=fmi, equations="interpreted")
    description = fmpy.read_model_description(str(path))
    fmu = instantiate_fmu(fmpy.extract(str(path), str(tmp_path / "fmu")), description, "ModelExchange",
                          logger=lambda *_: None)  # fmt: skip
    if fmi == 2:
        fmu.setupExperiment()
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    (fmu.newDiscreteStates if fmi == 2 else fmu.updateDiscreteStates)()
    put, get = (fmu.setReal, fmu.getReal) if fmi == 2 else (fmu.setFloat64, fmu.getFloat64)
    derivatives = [u.variable for u in description.derivatives]
    at = {v.derivative.name: v.derivative.valueReference for v in derivatives}
    speed = next(v.valueReference for v in derivatives if v.derivative.name == "hinge.phi")
    with pytest.raises(FMICallException):
        put([at["hinge.phi"]], [0.3])
    fmu.enterContinuousTimeMode()
    put([at["hinge.phi"], at["hinge.w"]], [0.3, 2.0])
    assert [*get([at["hinge.phi"], at["hinge.w"], speed])] == [0.3, 2.0, 2.0]
    parameter = next(v for v in description.modelVariables if v.causality == "parameter" and v.variability == "tunable")
    with pytest.raises(FMICallException):
        put([parameter.valueReference], [1.0])
    fmu.freeInstance()
