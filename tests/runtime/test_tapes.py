"""Functions as tables: they give what CasADi gives, and an FMU is the same with and without them."""

from __future__ import annotations

import math

import casadi as ca
import pytest
from hand_made_models import Draft, point_pendulum, variable
from native_driver import Library
from native_models import everything

from mbfmu.export import native
from mbfmu.runtime.tape import OPERATIONS, tape


def calculator():
    """No states; as many variables as CasADi has operations, of two inputs."""
    d = Draft("calculator", inputs=[0.3, 0.7])
    a, b = d.u[0], d.u[1]
    named = "exp sin cos tan asin acos atan sinh cosh tanh asinh atanh fabs sign floor ceil logic_not log1p expm1"
    one = [
        *(getattr(ca, name) for name in named.split()),
        *(lambda x: -x, lambda x: 1 / x, lambda x: x**2, lambda x: x + x, lambda x: x**2.5, lambda x: 3 * x + 2),
        *(lambda x: ca.sqrt(2 + x), lambda x: ca.log(2 + x), lambda x: ca.acosh(2 + x)),
    ]
    two = [
        *(ca.atan2, ca.hypot, ca.copysign, ca.fmod, ca.fmin, ca.fmax, ca.logic_and, ca.logic_or),
        *(lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x == y, lambda x, y: x != y),
        *(lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y, lambda x, y: (2 + x) ** y),
        lambda x, y: ca.if_else(x > y, y, 3),
    ]
    y = ca.vertcat(*(f(a) for f in one), *(f(a, b) for f in two), *(f(b, a) for f in two), a)
    return d.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), y=y)


def test_every_operation_is_that_of_casadi(tmp_path, monkeypatch):
    monkeypatch.setattr(native, "_TAPE_FROM", 1)
    equations = calculator()
    table = tape(equations.functions["variables"])
    missing = set(range(len(OPERATIONS))) - set(table.code[::4])
    assert {OPERATIONS[code] for code in missing} <= {"ASSIGN", "LOG1P", "EXPM1", "HYPOT"}
    names = [f"y{i}" for i in range(equations.ny)]
    records = [variable(f"u{i}", "u", i, causality="input", start=0.0) for i in range(2)]
    records += [variable(name, "y", i) for i, name in enumerate(names)]
    slave = Library.build(equations, records, tmp_path).slave().start()
    for a, b in ((0.3, 0.7), (-0.6, 0.25), (0.5, 0.5), (-0.0, -0.9)):
        slave.set("u0", a)
        slave.set("u1", b)
        slave.step(0.1)
        expected = equations.functions["variables"](0, [], [a, b], [], [], []).full().ravel()
        for name, got, wanted in zip(names, slave.get(*names), expected, strict=True):
            same = math.isnan(got) if math.isnan(wanted) else got == pytest.approx(wanted, rel=1e-15)
            assert same, (name, a, b, got, wanted)


@pytest.mark.parametrize("model", [everything, point_pendulum])
def test_tables_and_compiled_functions_give_the_same_run(library, tmp_path, monkeypatch, model):
    compiled = library(model)
    monkeypatch.setattr(native, "_TAPE_FROM", 1)
    equations = everything()[0] if model is everything else point_pendulum()
    tables = Library.build(equations, compiled.variables, tmp_path)
    names = [v.name for v in compiled.variables if v.store in ("x", "w", "y")]
    values = [built.run(1.0, 0.05, tolerance=1e-9).get(*names) for built in (compiled, tables)]
    assert values[0] == values[1]


def test_functions_that_call_others_are_compiled():
    x = ca.MX.sym("x")
    assert tape(ca.Function("f", [x], [ca.sin(x)])) is None
