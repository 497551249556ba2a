"""Long equations in pieces and files: the same bits, however they are cut, and compilers that stop when they should."""

from __future__ import annotations

import ctypes
import math
import pathlib
import platform
import random
import shutil
import struct
import subprocess

import casadi as ca
import numpy as np
import pytest
from test_tapes import ONE, TWO

from mbfmu.runtime import build, c_code
from mbfmu.runtime.c_code import Code, work_length
from mbfmu.runtime.compilers import Compilation, Compiler, find_compiler, host_platform, library_name

GUID = "{0123}"

#: Behind a work vector.
MARK = -12345.0

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture
def short(monkeypatch):
    """Everything is long, pieces and files are short, and nothing is taken from an earlier build."""
    for name, length in (("PIECE", 7), ("WHOLE", 20), ("FILE", 60)):
        monkeypatch.setattr(c_code, name, length)
    monkeypatch.setenv("MBFMU_CACHE", "")


def row(name: str, operations: int, seed: int) -> ca.Function:
    """A row of operations of all kinds with two arguments and two results."""
    numbers = random.Random(seed)
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y", 2)
    made = [*ca.vertsplit(x), *ca.vertsplit(y), ca.SX(0.1), ca.SX(-3e-300)]
    kinds = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / (b * b + 0.5), ca.atan2, ca.fmin,
        ca.fmax, ca.copysign, ca.hypot, lambda a, b: ca.sin(a), lambda a, b: ca.exp(-a * a), lambda a, b: ca.sign(a),
        lambda a, b: ca.if_else(a < b, a, 0.0), lambda a, b: ca.sqrt(a * a + 1), lambda a, b: -a, lambda a, b: a**2,
        lambda a, b: ca.fabs(a), lambda a, b: ca.logic_not(a > b), lambda a, b: ca.fmod(a, 1.5),
    ]  # fmt: skip
    for _ in range(operations):
        a, b = numbers.choice(made[-12:]), numbers.choice(made)
        made.append(ca.sin(numbers.choice(kinds)(a, b)))
    results = [ca.vertcat(*numbers.sample(made, 5)), ca.vertcat(*numbers.sample(made, 3))]
    return ca.Function(name, [x, y], results)


def caller(name: str) -> ca.Function:
    """A function that calls others again and again, with parts of arguments, numbers, and of what they gave."""
    leaf, long = row("leaf", 12, 3), row("long_leaf", 90, 4)
    x, y = ca.MX.sym("x", 30), ca.MX.sym("y", 2)
    numbers, total, at = [], y, x[:3]
    for i in range(12):
        first, second = (long if i % 3 == 0 else leaf)(ca.vertcat(at[0], x[2 * i], x[29 - i]), total)
        at, total = second, ca.vertcat(first[1], -0.5 if i == 5 else total[0])
        numbers.append(first[i % 5])
    return ca.Function(name, [x, y], [ca.vertcat(*numbers), at])


def mixed(name: str, calls: int, seed: int) -> ca.Function:
    """A row of operations and of calls, with guards and without, of what is near and what is long past."""
    numbers = random.Random(seed)
    v, g = ca.SX.sym("v", 4), ca.SX.sym("g")
    results = [ca.sin(v[0] * v[1] - v[2]), v[3] + v[0] / 3, v[2]]
    guarded = [ca.SX.binary(ca.OP_IF_ELSE_ZERO, g, result) for result in results]
    plain = ca.Function("plain", [v], [ca.vertcat(*results)], {"never_inline": True})
    waiting = ca.Function("waiting", [g, v], [ca.vertcat(*guarded)], {"never_inline": True})
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y", 2)
    made = [*ca.vertsplit(x), *ca.vertsplit(y), ca.SX(0.1)]
    for k in range(calls):
        given = ca.vertcat(*(numbers.choice(made[-6:] if i % 2 else made) for i in range(4)))
        # A guard may be an argument, too, and be set right before
        guard = numbers.choice([made[-1] > 0, given[1], made[0] < 0.5])
        made += ca.vertsplit(waiting(guard, given) if k % 2 else plain(given))
        for _ in range(numbers.randrange(4)):
            made.append(ca.sin(numbers.choice(made) - numbers.choice(made)))
    return ca.Function(name, [x, y], [ca.vertcat(*numbers.sample(made, 12)), ca.vertcat(*made[-3:])])


def compiled(
    functions: dict[str, ca.Function], folder: pathlib.Path, compiler: Compiler | None = None
) -> tuple[ctypes.CDLL, dict[str, str]]:
    files = Code(functions, prefix="some_").in_files()
    for name, text in files.items():
        (folder / name).write_text(text.replace("SHARED int", "int"))
    (folder / "portable.h").write_bytes(build.sources()["portable.h"])
    name = library_name("functions", host_platform())
    with Compilation(compiler or find_compiler(), folder, name, build.headers()) as compilation:
        for file in files:
            if file.endswith(".c"):
                compilation.start(file, ["-O2", "-fvisibility=default"], ["equations.h", "portable.h"])
        (folder / name).write_bytes(compilation.library())
    return ctypes.CDLL(str(folder / name)), files


def called(library: ctypes.CDLL, function: ca.Function, *arguments: list[float] | None) -> list[bytes]:
    """Results as bytes; an argument of None is NULL."""
    given = [None if a is None else (ctypes.c_double * len(a))(*a) for a in arguments]
    results = [(ctypes.c_double * function.numel_out(i))() for i in range(function.n_out())]
    inputs = (ctypes.c_void_p * function.n_in())(*[a and ctypes.addressof(a) for a in given])
    outputs = (ctypes.c_void_p * function.n_out())(*map(ctypes.addressof, results))
    length = work_length(function)
    work = (ctypes.c_double * (length + 1))(*[math.nan] * length, MARK)
    assert getattr(library, f"some_{function.name()}")(inputs, outputs, work) == 0
    assert work[length] == MARK
    return [bytes(result) for result in results]


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_pieces_give_the_bits_of_the_whole(tmp_path):
    functions = {"numbers": row("numbers", 400, 1), "few": row("few", 3, 2), "calls": caller("calls")}
    functions |= {"mixed": mixed("mixed", 60, 5)}
    library, files = compiled(functions, tmp_path)
    assert len(files) > 8
    text = "".join(files.values())
    assert all(f"void some_{name}_3(" in text for name in ("numbers", "calls", "called_0", "mixed"))
    assert "void some_few_0(" not in text
    for function in functions.values():
        sizes = [function.numel_in(i) for i in range(2)]
        arguments = [[(-1) ** k * 0.37 * (k + 1) for k in range(size)] for size in sizes]
        for given in (arguments, [None, arguments[1]]):
            expected = function(*(ca.DM.zeros(n) if a is None else ca.DM(a) for n, a in zip(sizes, given, strict=True)))
            bits = [struct.pack(f"{e.numel()}d", *e.full().ravel()) for e in expected]
            assert called(library, function, *given) == bits, function.name()


@pytest.mark.parametrize("program", ["gcc", "clang"])
@pytest.mark.slow
@pytest.mark.campaign
def test_no_operation_stands_for_two(tmp_path, program):
    """Compilers know identities, such as sin(atan(x)) as a root, that hold but for rounding."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    compiler = Compiler((program,), host_platform())
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    of_a = [function(a) for function, _ in ONE.values()]
    rows = [[function(x) for x in of_a] for function, _ in ONE.values()]
    rows += [[x * y for y in of_a] + [x / y for y in of_a] for x in of_a]
    rows += [[operation(x, y) for x in of_a for y in (b, 2, 0.5)] for operation, _ in TWO.values()]
    functions = {f"row_{i}": ca.Function(f"row_{i}", [a, b], [ca.vertcat(*row)]) for i, row in enumerate(rows)}
    library, _ = compiled(functions, tmp_path, compiler)
    for numbers in ((0.3, -0.7), (-0.7, 1.9), (2.6, 0.4), (-31.7, 5.0)):
        for row, function in zip(rows, functions.values(), strict=True):
            (content,) = called(library, function, *([number] for number in numbers))
            got, wanted = np.frombuffer(content), function(*numbers).full().ravel()
            wrong = np.flatnonzero((got != wanted) & ~(np.isnan(got) & np.isnan(wanted)))
            assert not wrong.size, (numbers, [str(row[i]) for i in wrong])


def test_vectors_take_sine_and_cosine_at_once():
    """Two loops over the numbers of a vector are two calls for each, which cost twice as much."""
    x = ca.SX.sym("x", 2)
    function = ca.Function(
        "f", [x], [ca.vertcat(ca.sin(x[0]) * x[1], ca.cos(x[0]), ca.cos(x[1]), ca.sin(ca.sin(x[1])))]
    )
    text = Code({"f": function}, "some_", lanes=8).whole()
    body = text[text.index("void sine_and_cosine") :].partition("\n")[2].partition("\n")[2]
    assert body.count("sine_and_cosine(") == 2
    assert body.count("= SIN(") == 1
    assert "= COS(" not in body


@pytest.mark.parametrize(
    ("between", "merged"),
    [
        ([((4,), (5,), "ADD")], True),
        ([((0,), (2,), "ADD")], True),  # which reads the operand
        ([((4,), (0,), "ADD")], False),  # sets it
        ([((3,), (4,), "ADD")], False),  # reads what the cosine would have set
        ([((4,), (3,), "ADD")], False),  # sets it
    ],
)
def test_sines_and_cosines_that_something_stands_between_stay_apart(between, merged):
    sine = c_code._Statement("a1 = SIN(a0);", (0,), (1,), "SIN")
    cosine = c_code._Statement("a3 = COS(a0);", (0,), (3,), "COS")
    middle = [c_code._Statement(f"a{sets[0]} = ...;", reads, sets, name) for reads, sets, name in between]
    for first, last in ((sine, cosine), (cosine, sine._replace(text="a3 = SIN(a0);", sets=(3,)))):
        if first is cosine:
            first = cosine._replace(text="a1 = COS(a0);", sets=(1,))
        found = c_code._with_sines_and_cosines([first, *middle, last])
        assert len(found) == (2 if merged else 3)
        if merged:
            ends = "&a1, &a3" if first.operation == "SIN" else "&a3, &a1"
            assert found[0].text == f"sine_and_cosine(a0, {ends});"
            assert set(found[0].sets) == {1, 3}


def test_sources_do_not_multiply_and_add_at_once(tmp_path):
    """Whoever compiles them for a processor that could, with the options of their own."""
    if shutil.which("clang") is None or platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("clang for x86-64 is not installed")
    function = "double f(double a, double b, double c) { return a * b + c; }"
    for opening, expected in (("", True), ('#include "portable.h"\n', False)):
        (tmp_path / "sum.c").write_text(opening + function)
        (tmp_path / "portable.h").write_bytes(build.sources()["portable.h"])
        command = ["clang", "-O2", "-mfma", "-ffp-contract=on", "-S", "-o", "-", "sum.c"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert ("vfmadd" in run.stdout) == expected


@pytest.mark.slow
@pytest.mark.parametrize("longer", [0, 1], ids=["first", "last"])
def test_places_are_used_again_by_what_is_as_long(tmp_path, longer):
    """Of results that are read later, none lies where a shorter one has been."""
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y", 2)
    results = [ca.sin(x + y[0]), ca.vertcat(ca.cos(x) + y[1], 3 * y)]
    leaf = ca.Function("leaf", [x, y], results if longer else results[::-1])
    given, made = ca.MX.sym("x", 3), []
    for i in range(8):
        made.append(leaf(made[-1][1 - longer] if made else given, ca.vertcat(0.1 * i, -0.4)))
    kept = [results[longer] for results in made[::2]]
    functions = {"calls": ca.Function("calls", [given], [ca.vertcat(*kept), *made[-1]])}
    library, _ = compiled(functions, tmp_path)
    numbers = [0.3, -0.7, 1.1]
    expected = [bytes(np.array(e).ravel()) for e in functions["calls"](ca.DM(numbers))]
    assert called(library, functions["calls"], numbers) == expected


@pytest.mark.slow
def test_what_is_no_call_is_written_out(tmp_path):
    """A function that also computes with what others give is one row of statements."""
    y = ca.MX.sym("y", 2)
    functions = {"mixed": ca.Function("mixed", [y], [2 * row("leaf", 12, 3)(ca.vertcat(y, y[0]), y)[0]])}
    library, files = compiled(functions, tmp_path)
    assert "called_" not in "".join(files.values())
    expected = functions["mixed"](ca.DM([0.3, -1.5]))
    assert called(library, functions["mixed"], [0.3, -1.5]) == [struct.pack("5d", *expected.full().ravel())]
