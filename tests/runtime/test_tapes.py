"""Tapes: every operation gives what Python's math gives, and a run what compiled functions give, to the last bit."""

from __future__ import annotations

import ctypes
import itertools
import math
import pathlib
import struct

import casadi as ca
import numpy as np
import pytest
from hand_made_models import (
    Draft,
    bouncing_mass,
    everything,
    free_body,
    iterated,
    oscillator,
    point_pendulum,
    stiff_drive,
)
from hosts import HOSTS, library_of, model_and_variables

from mbfmu.runtime.compiled import _compiled, code_of, compile_functions
from mbfmu.runtime.compilers import find_compiler, require_compiler
from mbfmu.runtime.contract import FUNCTIONS, OPERATIONS, RESULT
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.lanes import most
from mbfmu.runtime.library import Library, Model
from mbfmu.runtime.run import evaluate, model_of
from mbfmu.runtime.tape import tape

HERE = pathlib.Path(__file__).parent

INF, NAN = math.inf, math.nan

NEEDS_COMPILER = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def guarded(function, *fallback):
    """Python's function where it raises: IEEE's answer."""

    def call(*arguments):
        try:
            return function(*arguments)
        except (ValueError, OverflowError, ZeroDivisionError):
            return fallback[0](*arguments) if fallback else NAN

    return call


def overflow(a):
    return INF if a > 0 else -INF


def divide(a, b):
    with np.errstate(all="ignore"):
        return float(np.float64(a) / np.float64(b))


def power(a, b):
    with np.errstate(all="ignore"):
        return float(np.power(np.float64(a), np.float64(b)))


def rounded(function):
    return lambda a: float(function(a)) if math.isfinite(a) and a != 0 else a


#: CasADi's function and Python's, by operation: of one operand, of two.
ONE = {
    "NEG": (lambda a: -a, lambda a: -a),
    "INV": (lambda a: 1 / a, lambda a: divide(1.0, a)),
    "SQ": (ca.sq if hasattr(ca, "sq") else lambda a: a**2, lambda a: a * a),
    "TWICE": (lambda a: 2 * a, lambda a: 2 * a),
    "SQRT": (ca.sqrt, guarded(math.sqrt)),
    "EXP": (ca.exp, guarded(math.exp, lambda _: INF)),
    "LOG": (ca.log, guarded(math.log, lambda a: -INF if a == 0 else NAN)),
    "LOG1P": (ca.log1p, guarded(math.log1p, lambda a: -INF if a == -1 else NAN)),
    "EXPM1": (ca.expm1, guarded(math.expm1, lambda _: INF)),
    "SIN": (ca.sin, guarded(math.sin)),
    "COS": (ca.cos, guarded(math.cos)),
    "TAN": (ca.tan, guarded(math.tan)),
    "ASIN": (ca.asin, guarded(math.asin)),
    "ACOS": (ca.acos, guarded(math.acos)),
    "ATAN": (ca.atan, math.atan),
    "SINH": (ca.sinh, guarded(math.sinh, overflow)),
    "COSH": (ca.cosh, guarded(math.cosh, lambda _: INF)),
    "TANH": (ca.tanh, math.tanh),
    "ASINH": (ca.asinh, math.asinh),
    "ACOSH": (ca.acosh, guarded(math.acosh)),
    "ATANH": (ca.atanh, guarded(math.atanh, lambda a: math.copysign(INF, a) if abs(a) == 1 else NAN)),
    "FABS": (ca.fabs, abs),
    "SIGN": (ca.sign, lambda a: a if a == 0 or a != a else math.copysign(1.0, a)),
    "FLOOR": (ca.floor, rounded(math.floor)),
    "CEIL": (ca.ceil, lambda a: math.copysign(rounded(math.ceil)(a), a)),
    "NOT": (ca.logic_not, lambda a: float(not a)),
}
TWO = {
    "ADD": (lambda a, b: a + b, lambda a, b: a + b),
    "SUB": (lambda a, b: a - b, lambda a, b: a - b),
    "MUL": (lambda a, b: a * b, lambda a, b: a * b),
    "DIV": (lambda a, b: a / b, divide),
    "POW": (lambda a, b: a**b, power),
    "ATAN2": (ca.atan2, math.atan2),
    "HYPOT": (ca.hypot, math.hypot),
    "COPYSIGN": (ca.copysign, math.copysign),
    "FMOD": (ca.fmod, guarded(math.fmod)),
    "FMIN": (ca.fmin, lambda a, b: b if a != a else a if b != b else min(a, b)),
    "FMAX": (ca.fmax, lambda a, b: b if a != a else a if b != b else max(a, b)),
    "LT": (lambda a, b: a < b, lambda a, b: float(a < b)),
    "LE": (lambda a, b: a <= b, lambda a, b: float(a <= b)),
    "EQ": (lambda a, b: a == b, lambda a, b: float(a == b)),
    "NE": (lambda a, b: a != b, lambda a, b: float(a != b)),
    "AND": (ca.logic_and, lambda a, b: float(bool(a) and bool(b))),
    "OR": (ca.logic_or, lambda a, b: float(bool(a) or bool(b))),
    "IF_ELSE_ZERO": (ca.if_else_zero if hasattr(ca, "if_else_zero") else lambda a, b: ca.if_else(a, b, 0),
                     lambda a, b: b if a else 0.0),
}  # fmt: skip
OTHER = {"CONST", "INPUT", "OUTPUT", "CONSTPOW"}

VALUES = (0.0, -0.0, 1.0, -1.0, 0.3, -0.7, 2.5, -3.5, 700.0, 1e300, -1e300, 5e-324, INF, -INF, NAN)

#: Where the sign of a zero is open: CasADi and C's fmin and fmax may take either.
EITHER_ZERO = {"FMIN", "FMAX"}


def sums_of_products(a, b):
    """What the runtime makes one instruction of each, on numbers and symbols alike."""
    return [
        a * b + a, a * b - a, a - a * b, a * b + b * b, a * b - b * b, a * b - b * b + a, a + b + a,
        a * b + b * b + a * a, a * b + b * b + a * a + b, a + a * b + b * b, a + a * b - b * b, a - a * b + b * b,
        a - a * b - b * b,
    ]  # fmt: skip


#: How many they are; behind their numbers stands that of early results.
SUMS = len(sums_of_products(1.0, 1.0))


def calculator():
    """No states; a variable for each operation, of two inputs."""
    d = Draft("calculator", inputs=[0.3, 0.7])
    a, b = d.u[0], d.u[1]
    y = [function(a) for function, _ in ONE.values()] + [function(a, b) for function, _ in TWO.values()]
    fused = [*sums_of_products(a, b), a**2.5]
    return d.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), y=ca.vertcat(*y, *fused))


def same(got, wanted, either_zero=False, places=2):
    if math.isnan(wanted) or math.isnan(got):
        return math.isnan(wanted) and math.isnan(got)
    if wanted == 0 or math.isinf(wanted):
        return got == wanted and (either_zero or math.copysign(1, got) == math.copysign(1, wanted))
    return abs(got - wanted) <= places * math.ulp(wanted)


def instructions(data):
    """Instructions of a tape: the operation and the numbers that follow it."""
    _, constants, count, size = struct.unpack("<4i", data[:16])
    numbers, number, shift = [], 0, 0
    for byte in data[16 + 8 * constants :]:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number, shift = 0, 0
    assert len(data) == 16 + 8 * constants + size
    assert shift == 0
    found = []
    while numbers:
        operation = list(OPERATIONS)[numbers[0]]
        follow = 1 if operation in ONE or operation in ("CONST", "SQ") else 3 if operation == "OUTPUT" else 2
        found.append((operation, *numbers[1 : 1 + follow]))
        numbers = numbers[1 + follow :]
    assert len(found) == count
    return found


def test_operands_are_known_by_the_instructions_that_made_them():
    x = ca.SX.sym("x", 200)
    a = x[0] + x[199]
    assert instructions(tape(ca.Function("f", [x], [a * a, x[199] * a, x[150]]))) == [
        ("INPUT", 0, 0),
        ("INPUT", 0, 199),
        ("ADD", 2, 1),
        ("SQ", 1),
        ("OUTPUT", 1, 0, 0),
        ("MUL", 4, 3),
        ("OUTPUT", 1, 1, 0),
        ("INPUT", 0, 150),
        ("OUTPUT", 1, 2, 0),
    ]


def test_every_operation_is_listed():
    assert set(ONE) | set(TWO) | OTHER == set(OPERATIONS)
    used = {operation for operation, *_ in instructions(tape(calculator().functions["variables"]))}
    # TWICE is what newer versions of CasADi make of 2*a.
    assert set(OPERATIONS) - used <= {"CONSTPOW", "IF_ELSE_ZERO", "POW", "TWICE"}


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=NEEDS_COMPILER)])
def test_every_operation_is_that_of_python(compiled):
    model = model_of(*model_and_variables(calculator))
    if compiled:
        compile_functions(model, ["variables"])
    number, n = list(FUNCTIONS).index("variables"), len(ONE) + len(TWO)
    empty, time, y = np.zeros(1), np.zeros(1), np.zeros(n + 14)
    for a, b in itertools.product(VALUES, VALUES):
        evaluate(model, number, [time, empty, np.array([a, b]), empty, empty, empty], [y])
        wanted = {name: python(a) for name, (_, python) in ONE.items()}
        wanted |= {name: python(a, b) for name, (_, python) in TWO.items()}
        for (name, value), got in zip(wanted.items(), y[:n], strict=True):
            assert same(float(got), value, name in EITHER_ZERO), (name, a, b, got, value)
        with np.errstate(all="ignore"):
            A, B = np.float64(a), np.float64(b)
            fused, power = sums_of_products(A, B), A**2.5
        assert same(float(y[-1]), float(power)), (a, power)
        for i, (got, value) in enumerate(zip(y[n:-1], fused, strict=True)):
            assert same(float(got), float(value), places=0), (i, a, b, got, value)


@pytest.fixture(scope="module")
def runs_of(tmp_path_factory):
    """What a function becomes when its tape is read: runs, each (operation, vector or -1, first place, numbers)."""
    path = library_of(HERE / "runs.c", tmp_path_factory.mktemp("runs"), "-O0")
    read = ctypes.CDLL(str(path)).runs_of
    read.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    library = Library(path)

    def runs(make, early=False):
        model = Model(library, descriptor(*model_and_variables(make)))
        room = np.zeros(10_000, dtype=np.int32)
        count = read(model.handle, list(FUNCTIONS).index("variables"), early, room.ctypes.data, room.size)
        numbers, found = room[:count].tolist(), []
        while numbers:
            operation, vector, place, size = numbers[:4]
            name = list(OPERATIONS)[operation] if operation < len(OPERATIONS) else f"run {operation - RESULT - 1}"
            found.append((name, vector, place, numbers[4 : 4 + size]))
            numbers = numbers[4 + size :]
        return found

    return runs


@pytest.mark.slow
def test_each_sum_of_products_is_one_instruction(runs_of):
    used = {name for name, *_ in runs_of(calculator)}
    assert {f"run {i}" for i in range(SUMS)} <= used


#: What is compiled as for users: each method, and among them all events, loops and iterations; and a small one.
OPTIMIZED = ((oscillator, "explicit"), (everything, "explicit"), (iterated, "implicit"))


@pytest.mark.slow
@pytest.mark.campaign("everything-explicit", "iterated-implicit", keep=3)
@pytest.mark.parametrize(
    ("model", "solver"),
    [
        *((model, "explicit") for model in (oscillator, bouncing_mass, free_body, everything, iterated)),
        *((model, "implicit") for model in (point_pendulum, everything, stiff_drive, iterated)),
    ],
)
def test_all_hosts_give_the_same_run_to_the_last_bit(library_in, model, solver, request):
    if (model, solver) in OPTIMIZED:
        request.getfixturevalue("users_compiler")
    runs = []
    for host in HOSTS:
        slave = library_in(host, model, solver=solver).slave(tolerance=1e-6).start()
        names = [v.name for v in slave.library.variables if v.store in ("x", "w", "y")]
        values = []
        for _ in range(20):
            slave.step(0.025)
            values += slave.get(*names)
        runs.append((values, slave.statistics()))
    assert runs[0] == runs[1] == runs[2]


def shown(y, draft):
    """A model that shows these values."""
    return lambda: draft.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), y=ca.vertcat(*y))


def test_what_depends_on_parameters_alone_is_evaluated_before(runs_of):
    d = Draft("early", inputs=[0.3], parameters=[2.0, 3.0])
    product, u = d.P[0] * d.P[1], d.u
    make = shown([u * product, ca.sin(product), product + u * u, 2.5 * u, ca.cos(d.P[0]) + 1], d)
    early, late = runs_of(make, early=True), runs_of(make)
    assert [len(numbers) for name, _, _, numbers in early if name == f"run {SUMS}"] == [
        4
    ]  # product, sine, 2.5, cosine + 1
    assert {vector for name, vector, *_ in early if name == "INPUT"} == {3}
    assert {vector for name, vector, *_ in late if name == "INPUT"} == {2}
    assert {"SIN", "COS"} <= {name for name, *_ in early}
    assert not {"SIN", "COS"} & {name for name, *_ in late}


def test_places_are_used_again(runs_of):
    d = Draft("chain", inputs=[0.3])
    value = d.u
    for _ in range(50):
        value = ca.sin(ca.exp(value))
    runs = [run for run in runs_of(shown([value], d)) if run[0] in ("EXP", "SIN")]
    assert len(runs) == 100
    assert len({place for _, _, place, _ in runs}) == 2


def aligned(*shape):
    """Numbers where vectors of the processor may stand."""
    room = np.zeros(math.prod(shape) + 8)
    return room[-room.ctypes.data % 64 // 8 :][: math.prod(shape)].reshape(shape)


@pytest.mark.slow
@NEEDS_COMPILER
@pytest.mark.parametrize("lanes", [pytest.param(1, id="a number"), pytest.param(most(), id="lanes")])
def test_constants_come_to_compiled_functions_exactly(lanes):
    d = Draft("constants")
    values = [0.1, -1e-310, 1.7976931348623157e308, math.pi, INF, -INF, 5e-324, -0.0]
    equations = shown([d.t + value for value in values], d)()
    model = model_of(*model_and_variables(lambda: equations))
    library = _compiled(require_compiler(), code_of(model, ["variables"], lanes))
    time, found = aligned(1, lanes), aligned(len(values), lanes)
    time[:] = -0.0
    arguments = (ctypes.c_void_p * 6)(time.ctypes.data)
    results = (ctypes.c_void_p * 1)(found.ctypes.data)
    assert library.variables(arguments, results) == 0
    assert found.tobytes() == np.repeat(np.array(values), lanes).tobytes()


def test_functions_that_call_others_are_expanded():
    x = ca.SX.sym("x")
    inner, y = ca.Function("inner", [x], [ca.sin(x) + 1]), ca.MX.sym("y")
    assert tape(ca.Function("f", [y], [inner(y)])) == tape(ca.Function("f", [x], [ca.sin(x) + 1]))


def test_a_tape_that_is_not_there_says_so():
    model = model_of(*model_and_variables(calculator))
    nothing = (ctypes.c_void_p * 20)()
    assert model.library.evaluate(model.handle, 99, nothing, nothing) == 1
    assert model.library.evaluate(model.handle, -1, nothing, nothing) == 1
