"""Derivatives in model exchange where states are off the constraints: one answer to each question, in both versions."""

from __future__ import annotations

import contextlib
import ctypes
import pathlib

import fmpy
import numpy as np
import pytest
from fmpy.simulation import instantiate_fmu


class Exchange:
    """An instance in continuous-time mode, by vectors."""

    def __init__(self, path, folder):
        self.model = fmpy.read_model_description(str(path))
        self.two = self.model.fmiVersion == "2.0"
        fmpy.extract(str(path), str(folder))
        with contextlib.chdir(pathlib.Path.cwd()):
            self.fmu = instantiate_fmu(str(folder), self.model, "ModelExchange", logger=lambda *_: None)
        if self.two:
            self.fmu.setupExperiment()
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        (self.fmu.newDiscreteStates if self.two else self.fmu.updateDiscreteStates)()
        self.fmu.enterContinuousTimeMode()
        derivatives = [unknown.variable for unknown in self.model.derivatives]
        self.rates = [v.valueReference for v in derivatives]
        self.states = [v.derivative.valueReference for v in derivatives]
        self.sizes = [int(np.prod(v.shape or ())) for v in derivatives]
        self.n = sum(self.sizes)

    def vector(self, name):
        values = (ctypes.c_double * self.n)()
        getattr(self.fmu, name)(values, self.n)
        return np.array(values)

    def put(self, x):
        self.fmu.setContinuousStates((ctypes.c_double * self.n)(*x), self.n)

    def derivatives(self):
        return self.vector("getDerivatives" if self.two else "getContinuousStateDerivatives")

    def shown(self):
        """The values of the variables that are derivatives."""
        return np.array(self.fmu.getReal(self.rates) if self.two else self.fmu.getFloat64(self.rates, self.n))

    def jacobian(self):
        """Directional derivatives, one column for each state."""
        columns = []
        for reference, size in zip(self.states, self.sizes, strict=True):
            for seed in np.eye(size):
                if self.two:
                    columns.append(self.fmu.getDirectionalDerivative(self.rates, [reference], seed.tolist()))
                    continue
                column = (ctypes.c_double * self.n)()
                self.fmu.fmi3GetDirectionalDerivative(
                    self.fmu.component, (ctypes.c_uint * len(self.rates))(*self.rates), len(self.rates),
                    (ctypes.c_uint * 1)(reference), 1, (ctypes.c_double * size)(*seed), size, column, self.n,
                )  # fmt: skip
                columns.append(list(column))
        return np.array(columns).T

    def differences(self, x, h=1e-5):
        """The same by differences of what integrators ask for."""
        columns = []
        for direction in np.eye(self.n):
            around = []
            for side in (h, -h):
                self.put(x + side * direction)
                around.append(self.derivatives())
            columns.append((around[0] - around[1]) / (2 * h))
        self.put(x)
        return np.array(columns).T


@pytest.fixture(params=[2, 3], ids=["FMI 2.0", "FMI 3.0"])
def exchange(request, tmp_path, gallery_fmu):
    """Return a function that makes an instance of a model of the gallery."""
    made = []

    def make(name, **options):
        path = gallery_fmu(name, fmi=request.param, equations="interpreted")
        made.append(Exchange(path, tmp_path / name))
        return made[-1]

    yield make
    for instance in made:
        instance.fmu.freeInstance()


@pytest.mark.slow
@pytest.mark.campaign(keep=6)
@pytest.mark.parametrize("name", ["planar_four_bar", "four_bar", "rolling_wheel", "double_pendulum"])
@pytest.mark.parametrize("off", [0.0, 1e-3, 0.1])
def test_derivatives_are_the_values_of_their_variables(exchange, name, off):
    instance = exchange(name)
    x = instance.vector("getContinuousStates")
    x[0] += off
    instance.put(x)
    rates = instance.derivatives()
    np.testing.assert_allclose(instance.shown(), rates, rtol=1e-12, atol=1e-12)
    differences, scale = instance.differences(x), 1 + np.abs(rates).max()
    np.testing.assert_allclose(instance.jacobian(), differences, rtol=1e-6, atol=1e-6 * scale)
    np.testing.assert_allclose(instance.shown(), rates, rtol=1e-12, atol=1e-12)  # which asking has not changed
