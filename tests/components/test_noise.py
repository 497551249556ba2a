"""Noise: generators in whole numbers, distributions of SciPy, and what seeds have to do with it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import scipy.stats
from wiring import run

from mbfmu.components import blocks
from mbfmu.components.random_numbers import (
    first_state,
    hash_string,
    next_state,
    normal_cumulative,
    normal_quantile,
    uniform,
)

SAMPLES = 2000
MASK = 2**64 - 1


def drawn(local: int, common: int, count: int = SAMPLES) -> np.ndarray:
    """Numbers of xorshift128+ in (0, 1], by whole numbers of Python."""
    words = first_state(local, common)
    older, newer = words[0] | words[1] << 32, words[2] | words[3] << 32
    found = []
    for _ in range(count):
        mixed = older ^ older << 23 & MASK
        older, newer = newer, (mixed ^ newer ^ mixed >> 17 ^ newer >> 26) + newer & MASK
        found.append((newer - 2**64 if newer >= 2**63 else newer) * 2.0**-64 + 0.5)
    return np.array(found)


def samples(block: blocks.noise.PartialNoise, **parts: object) -> np.ndarray:
    """What a block of noise holds after each of its samples, 1 ms apart."""
    result = run(stop=SAMPLES * 1e-3, step=0.5e-3, noise=block, **parts)
    return np.asarray(result["noise.y"])[1::2]


def test_a_generator_in_doubles_is_that_in_whole_numbers():
    words = ca.SX.sym("words", 4)
    step = ca.Function("step", [words], [next_state(words)])
    number = ca.Function("number", [words], [uniform(words)])
    for seeds in ((1, 67867967), (-5, 0), (0, 0)):
        state = ca.DM(first_state(*seeds))
        for expected in drawn(*seeds, count=200):
            state = step(state)
            assert float(number(state)) == expected


def test_the_first_state_is_that_of_xorshift64star():
    """Ten numbers are drawn from the seeds side by side, the eleventh follows."""
    x, states = (-3 & 0xFFFFFFFF) | 8 << 32, []
    for _ in range(11):
        x ^= x >> 12
        x ^= x << 25 & MASK
        x ^= x >> 27
        x = x * 0x2545F4914F6CDD1D & MASK
        states.append(x)
    words = first_state(-3, 8)
    assert [words[0] | words[1] << 32, words[2] | words[3] << 32] == states[-2:]


def test_normal_distribution():
    u = ca.SX.sym("u")
    quantile, cumulative = (ca.Function("f", [u], [f(u)]) for f in (normal_quantile, normal_cumulative))
    p = np.concatenate([np.linspace(1e-3, 1 - 1e-3, 400), 10.0 ** -np.arange(4, 19), 1 - 10.0 ** -np.arange(4, 15)])
    np.testing.assert_allclose(np.array(quantile(p.reshape(1, -1))).ravel(), scipy.stats.norm.ppf(p), rtol=1e-14)
    x = np.linspace(-9.0, 9.0, 181)
    np.testing.assert_allclose(np.array(cumulative(x.reshape(1, -1))).ravel(), scipy.stats.norm.cdf(x), atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "law"),
    [
        (blocks.UniformNoise, scipy.stats.uniform(-1.0, 4.0)),
        (blocks.NormalNoise, scipy.stats.norm(0.5, 2.0)),
        (blocks.TruncatedNormalNoise, scipy.stats.truncnorm(-1.5, 2.5, 0.5, 1.0)),
        (blocks.BandLimitedWhiteNoise, scipy.stats.norm(0.0, np.sqrt(0.1 / 1e-3))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_samples_are_quantiles_of_the_generator(block, law):
    parameters = {
        blocks.UniformNoise: {"y_min": -1.0, "y_max": 3.0},
        blocks.NormalNoise: {"mu": 0.5, "sigma": 2.0},
        blocks.TruncatedNormalNoise: {"y_min": -1.0, "y_max": 3.0, "mu": 0.5, "sigma": 1.0},
        blocks.BandLimitedWhiteNoise: {"noisePower": 0.1},
    }[block]
    seeds = {"useAutomaticLocalSeed": False, "fixedLocalSeed": 7}
    found = samples(block(samplePeriod=1e-3, **seeds, **parameters), seed=blocks.GlobalSeed(fixedSeed=-11))
    np.testing.assert_allclose(found, law.ppf(drawn(7, -11)), atol=1e-12)
    assert scipy.stats.kstest(found, law.cdf).pvalue > 0.01


def test_seeds_of_names_are_modelicas() -> None:
    """As ModelicaTest.Utilities.Strings has them, and of an empty text the hash's first value, 0xAAAAAAAA."""
    assert hash_string("this is a test") == 1827717433
    assert hash_string("Controller.noise1") == -1025762750
    assert hash_string("") == 0xAAAAAAAA - 2**32


@pytest.mark.slow
def test_seeds_tell_instances_and_runs_apart():
    settings = {"samplePeriod": 1e-3, "y_min": 0.0, "y_max": 1.0}
    alone = samples(blocks.UniformNoise(**settings))
    np.testing.assert_array_equal(alone, drawn(hash_string("Assembly.noise"), 67867967))
    other = samples(blocks.UniformNoise(**settings), seed=blocks.GlobalSeed(fixedSeed=1))
    unseen = samples(blocks.UniformNoise(useGlobalSeed=False, **settings), seed=blocks.GlobalSeed(fixedSeed=1))
    np.testing.assert_array_equal(unseen, drawn(hash_string("Assembly.noise"), 0))
    for one, two in ((alone, other), (alone, unseen), (other, unseen)):
        assert abs(np.corrcoef(one, two)[0, 1]) < 0.1


def test_noise_begins_late_and_can_be_switched_off():
    settings = {"samplePeriod": 0.25, "y_min": 1.0, "y_max": 2.0, "y_off": -3.0}
    result = run(
        step=0.125,
        late=blocks.UniformNoise(startTime=0.5, **settings),
        off=blocks.UniformNoise(enableNoise=False, **settings),
    )
    assert (np.asarray(result["late.y"])[:4] == -3.0).all()
    assert (np.asarray(result["late.y"])[5:] >= 1.0).all()
    assert (result["off.y"] == -3.0).all()
    silent = run(quiet=blocks.GlobalSeed(enableNoise=False), noise=blocks.UniformNoise(**settings))
    assert (silent["noise.y"] == -3.0).all()


def test_a_seed_by_chance_is_chosen_once_and_fits_an_integer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is asked for only; the greatest is that of 31 bits."""
    asked: list[int] = []

    def greatest(bound: int) -> int:
        asked.append(bound)
        return bound - len(asked)

    monkeypatch.setattr(blocks.noise.secrets, "randbelow", greatest)
    assert blocks.GlobalSeed(fixedSeed=5).value("seed") == 5
    assert asked == []
    seed = blocks.GlobalSeed(fixedSeed=5, useAutomaticSeed=True)
    assert [seed.value("seed"), seed.chosen(), seed.value("seed")] == [2**31 - 1] * 3
    assert blocks.GlobalSeed(useAutomaticSeed=True).value("seed") == 2**31 - 2
    assert asked == [2**31, 2**31]
