"""Batches: once runs have taken long enough their equations are compiled, and no bit of a result changes."""

from __future__ import annotations

import numpy as np
import pytest

import mbfmu
from mbfmu.errors import BuildError
from mbfmu.runtime import batch as batches
from mbfmu.runtime import compiled
from mbfmu.runtime.batch import Batch
from mbfmu.runtime.compilers import find_compiler
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.host import host_library
from mbfmu.runtime.library import Model
from mbfmu.runtime.run import place

NEEDS_COMPILER = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def batch_of(name: str, stop_time: float) -> Batch:
    """All states of a gallery model, started from nothing but its defaults."""
    system = mbfmu.System.of(mbfmu.load(name))
    places = np.array([place(v) for v in system.variables if v.store in ("x", "w", "y")], dtype=np.int32)
    content = descriptor(system.equations, system.variables)
    model = Model(host_library(), content, system.equations.functions)
    return Batch(model, [], np.linspace(0.0, stop_time, 21), places, None, 1e-6)


@pytest.mark.slow
@pytest.mark.campaign("planar_loop_release-0.5")
@NEEDS_COMPILER
@pytest.mark.parametrize(
    ("name", "stop_time"), [("double_pendulum", 1.0), ("engine_1b", 0.1), ("planar_loop_release", 0.5)]
)
@pytest.mark.usefixtures("users_compiler")
def test_compiling_changes_no_bit(name, stop_time, monkeypatch):
    monkeypatch.setattr(batches, "seconds_to_compile", lambda *_: 0.0)
    calls = []

    def compile_functions(model, lanes):
        calls.append(model)
        compiled.compile_functions(model, lanes=lanes)

    monkeypatch.setattr(batches, "compile_functions", compile_functions)
    batch = batch_of(name, stop_time)
    runs = [batch.run(np.zeros((2, 0))) for _ in range(3)]
    assert len(calls) == 1
    assert runs[0].messages == ("", "")
    assert np.ptp(runs[0].rows, axis=1).max() > 0.1
    for one in runs:
        assert one.rows.tobytes() == runs[0].rows.tobytes()


@pytest.mark.slow
@NEEDS_COMPILER
def test_what_is_compiled_is_used(monkeypatch):
    batch = batch_of("pendulum", 1.0)
    assert batch.run(np.zeros((1, 0))).messages == ("",)
    code = '__attribute__((visibility("default"))) int derivatives(const double **arg, double **res) { return 1; }'
    monkeypatch.setattr(compiled, "code_of", lambda *_: code)
    compiled.compile_functions(batch.model)
    assert "not finite" in batch.run(np.zeros((1, 0))).messages[0]


def test_few_runs_and_no_compiler_are_interpreted(monkeypatch):
    calls = []

    def refuse(model, lanes):
        calls.append(model)
        raise BuildError("no C compiler")

    monkeypatch.setattr(batches, "compile_functions", refuse)
    batch = batch_of("pendulum", 0.1)
    first = batch.run(np.zeros((1, 0)))
    assert not calls
    batch._compile_where_it_pays(1e3)
    batch._compile_where_it_pays(1e3)
    assert calls == [batch.model]
    assert batch.run(np.zeros((1, 0))).rows.tobytes() == first.rows.tobytes()


def test_a_model_without_functions_is_not_compiled():
    system = mbfmu.System.of(mbfmu.load("pendulum"))
    with pytest.raises(ValueError, match="without its functions"):
        compiled.compile_functions(Model(host_library(), descriptor(system.equations, system.variables)))
