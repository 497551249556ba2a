"""Runs in lanes: each gives what it gives alone, to the last bit, whatever the others in its lanes do."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest
from hand_made_models import (
    Draft,
    bouncing_mass,
    called_spring,
    everything,
    free_body,
    oscillator,
    parameter,
    point_pendulum,
    stiff_drive,
)
from hosts import model_and_variables
from sanitized import SANITIZERS, NoSanitizer, Sources
from test_delays import DelayedSine
from test_tapes import ONE, TWO
from test_termination import Filling
from thrown_ball import thrown_ball

import mbfmu
from mbfmu.components.contact import Contact, RigidContact
from mbfmu.dynamics.solving import accelerations
from mbfmu.errors import ModelError
from mbfmu.runtime import build, lanes
from mbfmu.runtime.batch import Batch, Runs, in_order, part_of
from mbfmu.runtime.compiled import compile_functions
from mbfmu.runtime.compilers import find_compiler
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.drive import Drive
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.host import host_library
from mbfmu.runtime.library import Model
from mbfmu.runtime.run import place
from mbfmu.runtime.variables import ScalarVariable

WIDTHS = [n for n in lanes.LANES if 1 < n <= lanes.most()]

NEEDS_COMPILER = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

pytestmark = pytest.mark.skipif(not WIDTHS, reason="this processor has no lanes")

#: Neither a multiple of 4 nor of 8.
RUNS = 11


@dataclasses.dataclass
class Many:
    """Runs of a model that differ in some of its parameters."""

    equations: Equations
    variables: tuple[ScalarVariable, ...]
    settings: tuple[str, ...] = ()
    stop_time: float = 1.0
    tolerance: float = 1e-6
    drive: Drive | None = None

    def batch(self, width: int, model: Model) -> Batch:
        by_name = {v.name: v for v in self.variables}
        places = np.array([place(v) for v in self.variables if v.store in ("x", "w", "y")], dtype=np.int32)
        times = np.linspace(0.0, self.stop_time, 13)
        settings = [by_name[name] for name in self.settings]
        return Batch(model, settings, times, places, self.drive, self.tolerance, width)

    def model(self) -> Model:
        return Model(host_library(), descriptor(self.equations, self.variables), self.equations.functions)

    def alike(self, values: np.ndarray, compiled: bool = False) -> Runs:
        """Make the runs one by one and in lanes of every width; they must not differ in a bit. Returns them."""
        alone = self.batch(1, self.model()).run(values)
        for width in WIDTHS:
            model = self.model()
            if compiled:
                compile_functions(model, lanes=width)
            together = self.batch(width, model).run(values)
            assert together.messages == alone.messages
            assert together.rows.tobytes() == alone.rows.tobytes()
        return alone


def gallery(name: str, *settings: str, **options: float) -> Many:
    system = mbfmu.System.of(mbfmu.load(name))
    return Many(system.equations, system.variables, settings, **options)


def hand_made(make: Callable, *settings: int, **options) -> Many:
    """`settings` are indices of parameters."""
    equations, variables = model_and_variables(make)
    names = tuple(f"set{i}" for i in settings)
    further = tuple(parameter(f"set{i}", i, equations.parameters[i]) for i in settings)
    return Many(equations, (*variables, *further), names, **options)


def spread(low: float, high: float, runs: int = RUNS) -> np.ndarray:
    return np.linspace(low, high, runs)[:, None]


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize(
    ("name", "setting", "low", "high", "stop_time", "tolerance"),
    [
        ("double_pendulum", "revolute1.phi", -1.0, 1.0, 1.0, 1e-6),
        ("double_pendulum", "revolute1.phi", -1.0, 1.0, 0.5, 1e-9),  # the method of order 8
        ("engine_1b", "inertia.w", 20.0, 60.0, 0.1, 1e-6),  # events
        ("planar_four_bar", "damper.d", 0.0, 2.0, 0.5, 1e-8),  # a loop, by the method of order 8
        ("planar_loop_release", "revolute2.w", 4.0, 8.0, 0.5, 1e-6),
    ],
)
def test_mechanisms(name, setting, low, high, stop_time, tolerance):
    found = gallery(name, setting, stop_time=stop_time, tolerance=tolerance).alike(spread(low, high))
    assert found.messages == ("",) * RUNS
    assert np.ptp(found.rows[:, -1], axis=0).max() > 1e-3


@pytest.mark.slow
@NEEDS_COMPILER
def test_compiled_equations():
    many = gallery("engine_1b", "inertia.w", stop_time=0.1)
    assert not any(many.alike(spread(20.0, 60.0), compiled=True).messages)


@pytest.mark.slow
def test_many_unknowns_are_eliminated_alike(monkeypatch):
    monkeypatch.setattr(accelerations, "SPARSE_FROM", 1)
    many = gallery("planar_four_bar", "damper.d", stop_time=0.5)
    assert many.equations.sparsity
    assert not any(many.alike(spread(0.0, 2.0)).messages)


def test_wide_rows_of_sparse_equations_are_eliminated_alike():
    """The first pivot is nothing in some runs, which go on alone, so small in others that solutions are refined."""
    n, random = 12, np.random.default_rng(4)
    d = Draft("coupled", q=n, v=n, parameters=[1.0])
    A = ca.SX(random.normal(size=(n, n)) + n * np.eye(n))
    A[0, 0] = d.P[0]
    make = d.equations(
        A=ca.vec(A),
        b=-d.q,
        guess=ca.vertcat(*random.normal(size=2 * n)),
        fixed=(True,) * 2 * n,
        sparsity=tuple((i, j) for j in range(n) for i in range(n)),
        pivots=tuple((i, i) for i in range(n)),
    )
    values = np.array([*10.0 ** np.arange(-9, 1), 0.0])[:, None]
    found = hand_made(lambda: make, 0, tolerance=1e-8).alike(values)
    assert found.messages == ("",) * RUNS
    np.testing.assert_allclose(found.rows[-1], found.rows[0], rtol=1e-5, atol=1e-5)
    assert np.ptp(found.rows[:, -1], axis=0).max() > 1e-3


def test_rows_are_exchanged_in_each_lane_as_its_numbers_ask():
    """The greatest number of a column stands in this row or in that, and never in the first."""
    d = Draft("exchanged", q=4, v=4, parameters=[1.0])
    A = ca.SX([[0.1, 1.0, 2.0, 0.5], [1.0, 0.2, 0.0, 3.0], [0.5, 2.0, 1.0, 0.0], [2.0, 0.0, 0.3, 1.0]])
    A[1, 2] = A[2, 0] = d.P[0]
    make = d.equations(A=A, b=-d.q, guess=ca.SX(np.linspace(-1, 1, 8)), fixed=(True,) * 8)
    found = hand_made(lambda: make, 0, tolerance=1e-8).alike(spread(-3.3, 3.0))
    assert found.messages == ("",) * RUNS
    assert np.ptp(found.rows[:, -1], axis=0).max() > 1e-3


@pytest.mark.parametrize(
    ("make", "setting", "low", "high"),
    [
        (point_pendulum, 0, 0.1, 1.0),
        (bouncing_mass, 2, 100.0, 5000.0),  # each run has events at times of its own
        (called_spring, 2, 100.0, 5000.0),  # and calls that others in its lanes do not make
        (free_body, 3, -1.0, 1.0),  # blocks
        (everything, 4, 0.0, 2.0),
    ],
)
def test_what_models_may_have(make, setting, low, high):
    found = hand_made(make, setting).alike(spread(low, high))
    assert np.ptp(found.rows[:, -1], axis=0).max() > 1e-3


@pytest.mark.slow
@NEEDS_COMPILER
def test_calls_of_compiled_functions():
    found = hand_made(called_spring, 2).alike(spread(100.0, 5000.0), compiled=True)
    assert np.ptp(found.rows[:, -1], axis=0).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "law"), [(RigidContact, {"e": 0.5}), (Contact, {"c": 1e5, "d": 1.0, "c_t": 1e4})])
def test_bodies_that_touch(kind, law):
    """They are struck, slide, and roll, or slide on; each as `simulate` has it."""
    system = thrown_ball(kind(geometry_a="ball", geometry_b="ground", mu_k=0.3, **law))
    many = Many(system.equations, system.variables, ("contact.mu_k",), stop_time=0.3)
    found = many.alike(spread(0.0, 0.7))
    assert not any(found.messages)
    names = [v.name for v in many.variables if v.store in ("x", "w", "y")]
    for row in (0, RUNS - 1):
        start = {"contact.mu_k": spread(0.0, 0.7)[row, 0]}
        alone = mbfmu.simulate(system, 0.3, tolerance=1e-6, interval=0.3 / 12, start_values=start)
        np.testing.assert_array_equal(found.rows[row], np.column_stack([alone[name] for name in names]))


def test_stiff_runs_go_on_alone():
    many = hand_made(stiff_drive, 2, stop_time=5.0)
    many.equations = dataclasses.replace(many.equations, solver="auto")
    many.alike(spread(0.5, 2.0))


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=NEEDS_COMPILER)])
def test_every_operation(compiled):
    """Of a and b, which stay: their results are rates, within bounds that keep them finite."""
    d = Draft("calculator", z=2 + len(ONE) + len(TWO) + 8, parameters=[0.3, 0.7])
    a, b = d.z[0], d.z[1]
    results = [function(a) for function, _ in ONE.values()] + [function(a, b) for function, _ in TWO.values()]
    results += [a * b + a, a * b - a, a - a * b, a * b + b * b, a * b - b * b + a, a * a + a * b + b * b, a + b + 0.7,
                a**2.5]  # fmt: skip
    rates = [ca.fmin(ca.fmax(result, -1e3), 1e3) for result in results]
    nothing = ca.SX(0, 0)
    equations = d.equations(
        A=nothing, b=ca.SX(0, 1), guess=ca.vertcat(d.P, ca.DM.zeros(len(rates))), fixed=(True,) * (2 + len(rates)),
        derivatives=ca.vertcat(0, 0, *rates),
    )  # fmt: skip
    values = [0.0, -0.0, 1.0, -1.0, 0.3, -0.7, 2.5, -3.5, 700.0]
    found = hand_made(lambda: equations, 0, 1).alike(np.array([[x, y] for x in values for y in values]), compiled)
    assert not any(found.messages)


def test_inputs_over_time():
    d = Draft("pushed", q=1, v=1, inputs=[0.0], parameters=[2.0])
    make = d.equations(A=d.P[0], b=d.u - d.q, guess=ca.DM.zeros(2), fixed=(True, True))
    knots = np.array([0.0, 0.21, 0.5])
    drive = Drive(("u0",), np.array([0], dtype=np.int32), knots, np.array([[0.0], [1.0], [3.0]]),
                  np.array([[4.0], [0.0], [-2.0]]))  # fmt: skip
    found = hand_made(lambda: make, 0, drive=drive).alike(spread(1.0, 3.0))
    assert np.ptp(found.rows[:, -1], axis=0).max() > 0.01


def test_runs_that_the_model_ends():
    system = mbfmu.System.of(Filling())
    many = Many(system.equations, system.variables, ("flow.k",), stop_time=4.0)
    messages = many.alike(spread(0.1, 6.0)).messages
    assert messages[0] == ""
    assert len({text for text in messages if "the tank is full" in text}) > 5


def test_runs_that_fail_on_their_way():
    """The root has no value after 1 / p seconds: lanes beside it go on."""
    d = Draft("root", z=1, parameters=[1.0])
    nothing = ca.SX(0, 0)
    make = d.equations(A=nothing, b=ca.SX(0, 1), guess=0, fixed=(True,), derivatives=ca.sqrt(1 - d.P[0] * d.t))
    found = hand_made(lambda: make, 0).alike(spread(0.1, 4.0, 21))
    failed = [bool(text) for text in found.messages]
    assert failed == [p > 1 for p in spread(0.1, 4.0, 21)[:, 0]]
    assert np.isnan(found.rows[-1, -1]).all()
    assert np.isfinite(found.rows[0]).all()


def test_singular_equations_in_a_lane():
    """The mass vanishes in some runs while the others move on."""
    d = Draft("melting", q=1, v=1, parameters=[1.0])
    make = d.equations(A=ca.fmax(1 - d.P[0] * d.t, 0), b=1, guess=ca.DM.zeros(2), fixed=(True, True))
    messages = hand_made(lambda: make, 0).alike(spread(0.0, 3.0)).messages
    assert messages[0] == ""
    assert messages[-1] != ""


def test_runs_that_cannot_start():
    messages = hand_made(oscillator, 0).alike(spread(-1.0, 2.0)).messages
    assert "the mass must be positive" in messages[0]
    assert messages[-1] == ""


def test_delayed_signals_are_looked_up_alone():
    system = mbfmu.System.of(DelayedSine())
    assert system.equations.ndelays
    found = Many(system.equations, system.variables, ("source.f",)).alike(spread(1.0, 4.0))
    assert np.ptp(found.rows[:, -1], axis=0).max() > 1e-3


def test_threads_have_lanes_of_their_own():
    many = hand_made(bouncing_mass, 2)
    values = spread(100.0, 5000.0, 60)
    alone = many.batch(1, many.model()).run(values)
    together = many.batch(WIDTHS[-1], many.model())
    parts = list(in_order(together.run, iter(np.array_split(values, 7)), 3))
    assert np.concatenate([part.rows for part in parts]).tobytes() == alone.rows.tobytes()


def test_lanes_that_a_machine_has_not():
    many = hand_made(oscillator, 0)
    with pytest.raises(ModelError, match=r"3 lanes: this machine has 1, 4"):
        many.batch(3, many.model())


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.usefixtures("compiler_with_sanitizers")
def test_lanes_have_no_undefined_behaviour(tmp_path):
    """Of a model with constraints, blocks, switches and a free parameter, and of a loop with events."""
    engine = mbfmu.System.of(mbfmu.load("engine_1b"))
    models = [(engine.equations, engine.variables), model_and_variables(everything)]
    made = Sources.write(tmp_path, *models[-1], "interpreted")
    try:
        program = made.compile("batch_in_lanes.c", SANITIZERS)
    except NoSanitizer as error:
        pytest.skip(str(error))
    for number, model in enumerate(models):
        file = tmp_path / f"{number}.mbfmu"
        file.write_bytes(descriptor(*model))
        command = [str(word) for word in (program, file, RUNS, 0.1, 0.3)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert done.returncode == 0
        assert done.stdout == f"{WIDTHS[-1]} lanes, 0 runs failed\n"


@pytest.mark.slow
@NEEDS_COMPILER
@pytest.mark.usefixtures("users_compiler")
def test_the_library_compiles_without_warnings(tmp_path):
    build.write_sources(tmp_path)
    flags = ["-std=c99", "-O1", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    command = [*find_compiler().command, *flags, "-c", "lane_library.c", "-o", "object.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_without_the_library_runs_are_made_one_at_a_time(monkeypatch):
    monkeypatch.setattr(lanes, "_library", lambda: None)
    assert lanes.most() == 1
    assert lanes.kind(1) is None
    with pytest.raises(ModelError, match="lanes"):
        lanes.kind(4)


def test_parts_fill_lanes_and_leave_no_thread_idle():
    assert part_of(1000, 64, 4, 8) == 16
    assert part_of(100, 64, 4, 8) == 8
    assert part_of(12, 64, 4, 8) == 3
    assert part_of(100_000, 64, 4, 8) == 1568
    assert part_of(10, 64, 4, 1) == 1
    assert part_of(0, 64, 4, 8) == 0


def test_fixed_steps_are_made_alone():
    many = hand_made(everything, 4)
    many.equations = dataclasses.replace(many.equations, fixed_step=0.01)
    found = many.alike(spread(0.0, 2.0))
    assert np.ptp(found.rows[:, -1], axis=0).max() > 1e-3
