"""Noise that every run repeats (Modelica.Blocks.Noise 4.1).

Seeds are part of the model: with other ones it is built anew.
"""

from __future__ import annotations

import secrets
from typing import Any

import casadi as ca

from mbfmu.components.random_numbers import (
    first_state,
    hash_string,
    next_state,
    normal_cumulative,
    normal_quantile,
    uniform,
)
from mbfmu.modeling import Component, Parameter, RealOutput, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Final

#: Seeds are whole numbers of 32 bits, signed.
_SEEDS = 2**31


class GlobalSeed(Component):
    """Defines global settings for the blocks of sublibrary Noise, especially a global seed value is defined."""

    modelica_name = "Blocks.Noise.GlobalSeed"

    enableNoise = Parameter(t.Boolean, True, "= true, if noise blocks generate noise; = false, a constant output")
    useAutomaticSeed = Parameter(
        t.Boolean, False, "= true, choose a seed by chance when the model is built; = false, use fixedSeed"
    )
    fixedSeed = Parameter(t.Integer, 67867967, "Fixed global seed for random number generators")
    seed = Final(t.Integer, lambda self: self.chosen(), "Actually used global seed")

    def chosen(self) -> int:
        """The seed: the same one whenever it is asked for."""
        if not self.useAutomaticSeed:
            return int(self.fixedSeed)
        if "_chance" not in vars(self):
            vars(self)["_chance"] = secrets.randbelow(_SEEDS)
        return int(vars(self)["_chance"])

    def equations(self) -> None:
        """None: blocks of noise read it."""


def global_seed(component: Component) -> GlobalSeed:
    """The GlobalSeed that a component sees: the nearest one beside or above it, or one with all defaults."""
    for owner in component._owners():
        for part in owner.parts.values():
            if isinstance(part, GlobalSeed):
                return part
    return GlobalSeed()


class PartialNoise(Component):
    """Partial noise generator: a subclass defines `quantile`, what is drawn from a uniform number in (0, 1]."""

    samplePeriod = Parameter(t.Time, required, "Period for sampling the raw random numbers", min=1e-60)
    enableNoise = Parameter(
        t.Boolean, lambda self: global_seed(self).enableNoise, "= true: y = noise, otherwise y = y_off"
    )
    y_off = Parameter(t.Real, 0.0, "Output while there is no noise (or time < startTime)")
    useGlobalSeed = Parameter(t.Boolean, True, "= true: use global seed, otherwise ignore it")
    useAutomaticLocalSeed = Parameter(
        t.Boolean, True, "= true: use automatic local seed (from the instance's name), otherwise use fixedLocalSeed"
    )
    fixedLocalSeed = Parameter(t.Integer, 1, "Local seed (any Integer number)")
    startTime = Parameter(t.Time, 0.0, "Start time for sampling the raw random numbers")
    localSeed = Final(t.Integer, lambda self: self.local_seed(), "The actual localSeed")
    y = RealOutput("Connector of Real output signal")

    def local_seed(self) -> int:
        """The seed that tells this instance from others."""
        if not self.useAutomaticLocalSeed:
            return int(self.fixedLocalSeed)
        *_, root = self._owners()
        return hash_string(f"{getattr(root, 'name', type(root).__name__)}.{self.path}")

    def quantile(self, u: Any) -> Any:
        """Quantile u of the distribution."""
        raise NotImplementedError(f"{type(self).__name__} must define quantile(u)")

    def equations(self) -> None:
        seeds = global_seed(self._component)
        if not (self.enableNoise and seeds.enableNoise):
            self.y = self.y_off
            return
        first = first_state(self.localSeed, seeds.seed if self.useGlobalSeed else 0)
        sampled = self.sample(self.startTime, self.samplePeriod)
        state = self.hold(sampled, value=next_state, start=ca.DM(first))
        begin = self.quantile(uniform(next_state(ca.SX(ca.DM(first)))))
        r = self.hold(sampled, value=self.quantile(uniform(state)), start=begin)
        self.y = self.switch(self.time - self.startTime, r, self.y_off)


class UniformNoise(PartialNoise):
    """Noise generator with uniform distribution."""

    modelica_name = "Blocks.Noise.UniformNoise"

    y_min = Parameter(t.Real, required, "Lower limit of y")
    y_max = Parameter(t.Real, required, "Upper limit of y")

    def quantile(self, u: Any) -> Any:
        return u * (self.y_max - self.y_min) + self.y_min


class NormalNoise(PartialNoise):
    """Noise generator with normal distribution."""

    modelica_name = "Blocks.Noise.NormalNoise"

    mu = Parameter(t.Real, 0.0, "Expectation (mean) value of the normal distribution")
    sigma = Parameter(t.Real, required, "Standard deviation of the normal distribution")

    def quantile(self, u: Any) -> Any:
        return self.mu + self.sigma * normal_quantile(u)


class TruncatedNormalNoise(PartialNoise):
    """Noise generator with truncated normal distribution."""

    modelica_name = "Blocks.Noise.TruncatedNormalNoise"

    y_min = Parameter(t.Real, required, "Lower limit of y")
    y_max = Parameter(t.Real, required, "Upper limit of y")
    mu = Parameter(
        t.Real, lambda self: (self.y_max + self.y_min) / 2, "Expectation (mean) value of the normal distribution"
    )
    sigma = Parameter(
        t.Real, lambda self: (self.y_max - self.y_min) / 6, "Standard deviation of the normal distribution"
    )

    def quantile(self, u: Any) -> Any:
        least, most = (normal_cumulative((limit - self.mu) / self.sigma) for limit in (self.y_min, self.y_max))
        drawn = self.mu + self.sigma * normal_quantile(least + u * (most - least))
        return ca.fmin(self.y_max, ca.fmax(self.y_min, drawn))


class BandLimitedWhiteNoise(PartialNoise):
    """Noise generator to produce band-limited white noise with normal distribution."""

    modelica_name = "Blocks.Noise.BandLimitedWhiteNoise"

    noisePower = Parameter(t.Real, 1.0, "Power of white noise signal", min=0)

    def quantile(self, u: Any) -> Any:
        return ca.sqrt(self.noisePower / self.samplePeriod) * normal_quantile(u)


__all__ = [
    "BandLimitedWhiteNoise",
    "GlobalSeed",
    "NormalNoise",
    "TruncatedNormalNoise",
    "UniformNoise",
]
