"""What Modelica means by an expression: the same of constants, of parameters and of what changes, and what it refuses.

The expected values are worked by hand from the language's specification, or by NumPy.
"""

from __future__ import annotations

import itertools
import math
import pathlib
import re
from typing import Any

import numpy as np
import pytest
import scipy.constants
from against_pinocchio import State

import mbfmu
from mbfmu.errors import InitializationError, ModelError, SimulationError
from mbfmu.importers.modelica import load

#: Expressions of a = 2, b = -3 and c = 0.5, and their values.
EXPRESSIONS: dict[str, Any] = {
    "{a, b, c} + {1, 2, 3}": [3, -1, 3.5],
    "{a, b, c} - {1, 2, 3}": [1, -5, -2.5],
    "[a, b; c, 1]*[1, 2; 3, a]": [[-7, -2], [3.5, 3]],
    "{a, b}*[1, 2, 3; 3, 4, 5]": [-7, -8, -9],
    "[a, b; c, 1]*{1, a}": [-4, 2.5],
    "{a, b}*{b, c}": -7.5,
    "[a, 1; 0, b]^2": [[4, -1], [0, 9]],
    "[a, 1; 0, b]^0": [[1, 0], [0, 1]],
    "{a, b}/a": [1, -1.5],
    "b^2 - a^b": 8.875,
    "4^c + a^c": 2 + math.sqrt(2),
    "{a, b}.^2": [4, 9],
    "2 .^{a, b}": [4, 0.125],
    "{a, b}./{4, c}": [0.5, -6],
    "{a, b}.*{c, a}": [1, -6],
    "a .+ {b, c}": [-1, 2.5],
    "a .- {b, c}": [5, 1.5],
    "-{a, b} + (+{c, c})": [-1.5, 3.5],
    "skew({a, b, c})": [[0, -0.5, -3], [0.5, 0, -2], [3, 2, 0]],
    "cross({a, b, c}, {1, 2, 3})": [-10, -5.5, 7],
    "Modelica.Math.Vectors.norm({a, b})": math.sqrt(13),
    "Modelica.Math.Vectors.norm({a, b, c}, 1)": 5.5,
    "Modelica.Math.Vectors.norm({a, b}, p=Modelica.Constants.inf)": 3,
    "Modelica.Math.Vectors.normalize({b, 2*a})": [-0.6, 0.8],
    "Modelica.Math.Vectors.normalize({0, (a - 1)*1e-20})": [0, 1e-7],
    "Modelica.Math.Vectors.normalize({a, 0}, eps=8)": [0.25, 0],
    "Modelica.Math.Vectors.normalizeWithAssert({0, (a - 1)*1e-20})": [0, 1],
    "Modelica.Math.Vectors.reverse({a, b, c})": [0.5, -3, 2],
    "Modelica.Math.Matrices.solve([a, 1; 1, b], {1, 4})": [1, -1],
    "Modelica.Math.Matrices.solve([a], {3})": [1.5],
    "Modelica.Math.Matrices.inv([a, 1; 1, b])": [[3 / 7, 1 / 7], [1 / 7, -2 / 7]],
    "Modelica.Math.Matrices.inv([a])": [[0.5]],
    "Modelica.Math.Matrices.det([a, 1; 1, b])": -7,
    "symmetric([a, b; c, 1])": [[2, -3], [-3, 1]],
    "outerProduct({a, b}, {c, 1})": [[1, 2], [-1.5, -3]],
    "diagonal({a, b})": [[2, 0], [0, -3]],
    "transpose([a, b; c, 1])": [[2, 0.5], [-3, 1]],
    "cat(1, {a}, {b, c})": [2, -3, 0.5],
    "cat(2, [a; b], [c; 1])": [[2, 0.5], [-3, 1]],
    "[{a, b}, {c, 1}]": [[2, 0.5], [-3, 1]],
    "[[a, b]; [c, 1]]": [[2, -3], [0.5, 1]],
    "linspace(a, b, 3)": [2, -0.5, -3],
    "max({a, b, c}) + min(a, b)": -1,
    "max(c, a) + min([1, b; c, a])": -1,
    "max(i*b for i in 1:3)": -3,
    "min(i*b for i in 1:3)": -9,
    "product(i*a for i in 1:3) + product({a, b, c})": 45,
    "{sign(a), sign(b), sign(a - 2)}": [1, -1, 0],
    "abs({a, b, a - 2})": [2, 3, 0],
    "{i*a + j for i in 1:2, j in {10, 20}}": [[12, 14], [22, 24]],
    "array(a, b)": [2, -3],
    "{if a < b then 1 else 2, if b < a then 1 else 2, if a < 2 then 1 else 2}": [2, 1, 2],
    "{if a <= b then 1 else 2, if b <= a then 1 else 2, if a <= 2 then 1 else 2}": [2, 1, 1],
    "{if a > b then 1 else 2, if b > a then 1 else 2, if a > 2 then 1 else 2}": [1, 2, 2],
    "{if a >= b then 1 else 2, if b >= a then 1 else 2, if a >= 2 then 1 else 2}": [1, 2, 1],
    "{if a > 0 and b > 0 then 1 else 2, if a > 0 or b > 0 then 1 else 2}": [2, 1],
    "{if a > 0 and true then 1 else 2, if b > 0 and true then 1 else 2, if true and b > 0 then 1 else 2}": [1, 2, 2],
    "if a > 0 and false then 1 else 2": 2,
    "{if b > 0 or true then 1 else 2, if b > 0 or false then 1 else 2, if false or a > 0 then 1 else 2}": [1, 2, 1],
    "{if not a > 0 then 1 else 2, if not (b > 0 or c > 1) then 1 else 2}": [2, 1],
    "if (a > 0) == (b > 0) then a elseif (a > 0) <> (b > 0) then b else c": -3,
    "if b > 0 then {a, b} elseif a > 0 then {b, c} else {c, a}": [-3, 0.5],
    "(if a > 0 then 1 else if b > 0 then 2 else 3) + a": 3,
    "noEvent(if a > 0 then c else b) + smooth(1, abs(b)) + homotopy(a, b)": 5.5,
    "noEvent(max(a, b)) + noEvent(sign(b)) + noEvent(min({b, c}))": -2,
    "vector([a, b; c, 1])": [2, -3, 0.5, 1],
    "scalar([a]) + sum({a, b, c}) + ndims([a])": 3.5,
    "matrix({a, b})": [[2], [-3]],
    "size([a, b, c]) + fill(a, 2)": [3, 5],
    "identity(2)*a + ones(2, 2)*b": [[-1, -3], [-3, -1]],
    "{sin(a), cos(b), tan(c)}": [math.sin(2), math.cos(3), -math.tan(-0.5)],
    "{asin(c), acos(c), atan(b), atan2(b, a)}": [math.pi / 6, math.pi / 3, -math.atan(3), math.atan2(-3, 2)],
    "{sinh(a), cosh(a), tanh(c)}": [np.sinh(2), np.cosh(2), np.tanh(0.5)],
    "{exp(a), log(a), log10(a*50), sqrt(a*8)}": [math.e**2, math.log(2), 2, 4],
    "Modelica.Units.Conversions.from_degC(a) + Modelica.Units.Conversions.to_degC(a)": 4,
    "Modelica.Units.Conversions.from_degF(32 + 0*a)": 273.15,
    "Modelica.Units.Conversions.to_degF(373.15 + 0*a)": 212,
    "Modelica.Units.Conversions.from_rpm(30*a)": 2 * math.pi,
    "Modelica.Units.Conversions.to_kmh(5*a)": 36,
}
#: Expressions that jump without end, which only numbers and parameters go through.
JUMPING = {
    "{floor(b*c), ceil(b*c), integer(b*c)}": [-2, -1, -2],
    "{mod(b, a), mod(3, -2 + 0*a), mod(b*c, a), mod(a, a)}": [1, -1, 0.5, 0],
    "{rem(b, a), rem(3, -2 + 0*a), rem(b*c, a)}": [-1, 1, -1.5],
    "{div(b, a), div(3, -a), div(7, a)}": [-1, -1, 3],
}
NUMBERS = {"a": 2.0, "b": -3.0, "c": 0.5}


def declared(name: str, expected: Any) -> str:
    sizes = ", ".join(map(str, np.shape(expected)))
    return f"{name}[{sizes}]" if sizes else name


def places(name: str, expected: Any) -> list[str]:
    """Names of the elements of a variable."""
    ranges = [range(1, n + 1) for n in np.shape(expected)]
    return [f"{name}[{','.join(map(str, k))}]" if k else name for k in itertools.product(*ranges)]


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "M.mo"


@pytest.mark.slow
def test_expressions_of_constants_and_of_parameters_have_the_values_of_the_language(path: pathlib.Path) -> None:
    table = EXPRESSIONS | JUMPING
    for role in ("constant", "parameter"):
        lines = [f"{role} Real {name} = {value};" for name, value in NUMBERS.items()]
        lines += [f"parameter Real {declared(f'y{k}', v)} = {e};" for k, (e, v) in enumerate(table.items())]
        path.write_text("model M\n" + "\n".join(lines) + "\nend M;\n", encoding="utf-8")
        assembly = load(path)
        state = State(mbfmu.System.of(assembly))
        state.solve()
        for k, (expression, expected) in enumerate(table.items()):
            found = [state[name] for name in places(f"y{k}", expected)]
            np.testing.assert_allclose(found, np.ravel(expected), rtol=1e-14, atol=1e-14, err_msg=expression)


@pytest.mark.slow
def test_expressions_of_what_changes_have_the_values_of_the_language(path: pathlib.Path) -> None:
    lines = [f"Real {name}(start={value}, fixed=true);" for name, value in NUMBERS.items()]
    lines += [f"Real {declared(f'y{k}', v)};" for k, v in enumerate(EXPRESSIONS.values())]
    lines += ["equation", *(f"der({name}) = 0;" for name in NUMBERS)]
    lines += [f"y{k} = {e};" for k, e in enumerate(EXPRESSIONS)]
    path.write_text("model M\n" + "\n".join(lines) + "\nend M;\n", encoding="utf-8")
    state = State(mbfmu.System.of(load(path)))
    for name, value in NUMBERS.items():
        state.set(name, value)
    state.solve()
    for k, (expression, expected) in enumerate(EXPRESSIONS.items()):
        found = [state[name] for name in places(f"y{k}", expected)]
        np.testing.assert_allclose(found, np.ravel(expected), rtol=1e-14, atol=1e-14, err_msg=expression)


#: Constants of nature by the names that SciPy has of CODATA, and numbers.
OF_NATURE = {
    "c": "speed of light in vacuum",
    "g_n": "standard acceleration of gravity",
    "G": "Newtonian constant of gravitation",
    "q": "elementary charge",
    "F": "Faraday constant",
    "h": "Planck constant",
    "k": "Boltzmann constant",
    "R": "molar gas constant",
    "sigma": "Stefan-Boltzmann constant",
    "N_A": "Avogadro constant",
    "mu_0": "vacuum mag. permeability",
    "epsilon_0": "vacuum electric permittivity",
}
OF_MATHEMATICS = {
    "pi": math.pi,
    "e": math.e,
    "D2R": math.radians(1),
    "R2D": math.degrees(1),
    "gamma": np.euler_gamma,
    "eps": np.finfo(float).eps,
    "small": 1e-60,
    "inf": 1e60,
    "Integer_inf": 2**31 - 1,
    "T_zero": -scipy.constants.zero_Celsius,
}


@pytest.mark.slow
def test_constants_are_those_of_nature_and_of_the_language(path: pathlib.Path) -> None:
    expected = {name: (scipy.constants.value(known), 1e-8) for name, known in OF_NATURE.items()}  # years differ
    expected |= {name: (value, 1e-15) for name, value in OF_MATHEMATICS.items()}
    path.write_text(
        f"model M\n{''.join(f'parameter Real {n} = Modelica.Constants.{n};' for n in expected)}\n"
        "Modelica.Blocks.Sources.Constant any(k=1);\nend M;\n"
    )
    model = load(path)
    for name, (value, tolerance) in expected.items():
        assert model.value(name) == pytest.approx(value, rel=tolerance, abs=0), name


@pytest.mark.slow
def test_arrays_of_what_changes_keep_their_rows_and_columns(path: pathlib.Path) -> None:
    path.write_text(
        """model M
          Real y[2,3] = [1, 2, 3; 4, 5, 6]*cos(time);
          Real z[2,3](start=[1, 2, 3; 4, 5, 6], each fixed=true);
          Real q[2,3] = 2*z;
          Real deep[2,1,2] = {[1, 2], [3, 4]}*cos(time);
          Modelica.Blocks.Interfaces.RealOutput w[2,2] = [y[1,3], z[1,2]; z[2,1], deep[2,1,1]];
        equation
          der(z) = [1, 2, 3; 4, 5, 6]*cos(time);
        end M;""",
        encoding="utf-8",
    )
    system = mbfmu.System.of(load(path))
    state, rows = State(system), np.array([[1, 2, 3], [4, 5, 6]])
    started = [float(state.variables[name].start) for name in places("z", rows)]
    assert started == [1, 2, 3, 4, 5, 6]
    for name, value in zip(places("z", rows), started, strict=True):
        state.set(name, value)
    state.solve()
    assert [state[name] for name in places("y", rows)] == [1, 2, 3, 4, 5, 6]
    assert [state[name] for name in places("q", rows)] == [2, 4, 6, 8, 10, 12]
    assert [state.dx[state.variables[name].index] for name in places("z", rows)] == [1, 2, 3, 4, 5, 6]
    assert [state[name] for name in places("w", np.eye(2))] == [3, 2, 4, 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("equations", "values"),
    [
        ("der(x) = 1; y = x; z = y;", {"x": 2, "y": 2, "z": 2, "der(x)": 1}),
        ("der(x) = 1; x = y; z = 2*y;", {"x": 2, "y": 2, "z": 4, "der(x)": 1}),
        ("x = y; 2*y = 6; z = der(x);", {"x": 3, "y": 3, "z": 0}),
        ("y = x; y = 6; z = der(x) + 1;", {"x": 6, "y": 6, "z": 1}),
        ("z = y; der(x) = y; y = x;", {"x": 2, "y": 2, "z": 2, "der(x)": 2}),
        ("z = der(x); x = y; y = 6;", {"x": 6, "y": 6, "z": 0}),
    ],
)
def test_of_two_variables_that_are_one_the_other_equations_tell_which_is_integrated(
    equations: str, values: dict[str, float], path: pathlib.Path
) -> None:
    path.write_text(f"model M\nReal x(start=2, fixed=true);\nReal y, z;\nequation\n{equations}\nend M;")
    state = State(mbfmu.System.of(load(path)))
    if state.variables["x"].store == "x":
        state.set("x", 2)
    state.solve()
    assert {n: state[n] for n in values if n != "der(x)"} == {n: v for n, v in values.items() if n != "der(x)"}
    if "der(x)" in values:
        assert state.dx[state.variables["x"].index] == values["der(x)"]


def value(path: pathlib.Path, declarations: str, name: str = "x") -> Any:
    path.write_text(f"model M\n{declarations}\nend M;\n", encoding="utf-8")
    return load(path).value(name)


MODE = "type Mode = enumeration(off, low, high);\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("declarations", "expected"),
    [
        # texts, as C's printf writes them
        ("parameter String x = String(2/3) + String(2.0) + String(1e10) + String(12);", "0.66666721e+1012"),
        ("parameter String x = String(2/3, significantDigits=3, minimumLength=7);", "0.667  "),
        ("parameter String x = String(true, minimumLength=6, leftJustified=false);", "  true"),
        ('parameter String x = String(-2/3, format="+08.3f") + String(255, format="x");', "-000.667ff"),
        ('parameter String x = String(3, format="3d") + String(1.5, format="-9.2e") + "|";', "  31.50e+00 |"),
        (MODE + "parameter String x = String(Mode.low) + String(Mode.high, minimumLength=5);", "lowhigh "),
        ("parameter Real p = 3;\nparameter String x = String(p) + String(2*p);", "36"),
        # enumerations and Booleans
        (MODE + "parameter Real x = Integer(Mode.high) + size({m for m in Mode.low:Mode.high}, 1);", 5),
        (MODE + "parameter Real x = sum(if m == Mode.low then 10 else 1 for m in Mode.off:Mode.high);", 12),
        (MODE + "parameter Real x = sum(if m == Mode.low then 10 else 1 for m in Mode);", 12),
        (MODE + "parameter Real x = if max(Mode.off, Mode.high) == Mode.high then 1 else 2;", 1),
        (MODE + "parameter Real x = if min({Mode.low, Mode.off}) < Mode.low then 1 else 2;", 1),
        (MODE + "parameter String x = String(Mode(2));", "low"),
        (MODE + "constant Real v[Mode] = {1, 2, 3};\nparameter Real x = v[Mode.high] + sum(v[{Mode.off}]);", 4),
        ("parameter Real x = sum(if b then 10 else 1 for b in false:true) + size({b for b in true:false}, 1);", 11),
        ("parameter Real x = sum(if b then 10 else 1 for b in Boolean);", 11),
        ("constant Real v[Boolean] = {1, 2};\nparameter Real x = v[true];", 2),
        # numbers
        ("parameter Real x = sum(0:0.1:1) + size(1:0, 1) + size(5:-2:0, 1);", 8.5),
        ("parameter Real x = Modelica.Math.Vectors.sort({3, 1, 2})*{100, 10, 1};", 123),
        ("parameter Real x = if Modelica.Math.isEqual(1, 1.1, 0.2) and Modelica.Math.isPowerOf2(8) then 1 else 2;", 1),
        ("constant Real v[2] = {4, 9};\nparameter Real x = sqrt(v)*{10, 1} + v[end]*0 + sum(v[:]);", 36),
        ("constant Real v[2, 3] = [1, 2, 3; 4, 5, 6];\nparameter Real x = v[2, {1, 3}]*{10, 1} + sum(v[:, 2]);", 53),
        ("parameter Real x = size([1, 2; 3, 4; 5, 6])*{10, 1};", 32),
        # records
        (
            "record A Real p = 1; Real q = 2*p; end A;\nparameter A a = A(3), b = A(q=7), c = A();\n"
            "parameter Real x = a.q + b.p + c.q;",
            9,
        ),
        (
            "record A Real p; Real q = 3; end A;\nrecord B extends A(p = 5); Real r = 10*p; end B;\n"
            "parameter B a = B(q = 2), b = B(1, 2, 3);\nparameter Real x = a.r + a.p + b.r;",
            58,
        ),
        (
            "record A Real p = 1; end A;\nrecord B = A(p = 5);\nparameter B b = B();\nparameter A a = A();\n"
            "parameter Real x = 10*a.p + b.p;",
            15,
        ),
        (
            "record A constant Real k = 4; Real p; end A;\nparameter A a = A(2);\nparameter Real x = a.p*a.k;",
            8,
        ),
        (
            "record A Real v[2] = {1, 2}; Real n; end A;\nparameter A a = A(n=3), b = A({5, 6}, 0);\n"
            "parameter Real x = a.v[2] + b.v[1];",
            7,
        ),
        ("record A Real p; end A;\nrecord B A a; end B;\nparameter B b = B(A(4));\nparameter Real x = b.a.p;", 4),
    ],
    ids=lambda given: re.sub(r"(?s).*parameter \w+ ", "", given)[:70] if isinstance(given, str) else "",
)
def test_texts_enumerations_and_records_have_the_values_of_the_language(
    declarations: str, expected: Any, path: pathlib.Path
) -> None:
    found = value(path, declarations)
    assert (str(found) if isinstance(expected, str) else float(found)) == (
        expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-14)
    )


def function(body: str, declared: str = "", inputs: str = "input Real u;") -> str:
    return f"function f {inputs} output Real y = 0; protected {declared} algorithm {body} end f;\n"


#: A function of u and what it gives of 3: its algorithm runs on numbers, on parameters and on what changes.
ALGORITHMS = {
    "(a, , b) := g(u); y := 10*a + b": (
        "Real a, b;",
        39,
    ),
    "(a) := g(u); y := a": ("Real a;", 3),
    "y := g(u)": ("", 3),
    "for i in 1:3 loop for j in 1:3 loop if j == 2 then break; end if; y := y + u; end for; end for": ("", 9),
    "for i in 1:3, j in 1:3 loop if j == 2 then break; end if; y := y + u; end for": ("", 9),
    "for i in 1:3, j in i:3 loop y := y + i*j*u; end for": ("", 75),
    "for i in 1:9 loop if i == 4 then break; end if; y := y + u; end for": ("", 9),
    "for i in 1:9 loop y := y + u; if i == 2 then return; end if; end for; y := 0": ("", 6),
    "while k < 9 loop k := k + 1; if k == 4 then break; end if; y := y + u*k; end while; y := y + k": (
        "Integer k = 0;",
        22,
    ),
    "while k < 4 loop k := k + 1; y := y + u; end while": ("Integer k;", 12),
    "if n == 1 then y := u; elseif n == 2 then y := 2*u; else y := 3*u; end if": ("Integer n = 2;", 6),
    "if u > 4 then y := 1; elseif u > 2 then y := 2; else y := 3; end if": ("", 2),
    "y := 5; if u > 4 then y := 1; end if": ("", 5),
    "if u > 2 then v[2] := 7; end if; y := v*{1, 10}": ("Real v[2] = {3, 4};", 73),
    "v[1] := u; v[end] := 2*u; y := v*{1, 10, 100}": ("Real v[3];", 603),
    "v[2:3] := {u, 2*u}; v[{1}] := {1}; y := v*{1, 10, 100}": ("Real v[3];", 631),
    "m[2, :] := {u, 1}; m[:, 1] := m[:, 1] + {7, 0}; m[1, 2] := 5; y := {1000, 10}*m*{1, 0.1}": (
        "Real m[2, 2];",
        7531,
    ),
    "v[Mode.on] := u; v[Mode.off] := 1; y := v*{10, 1}": ("Real v[Mode];", 13),
    "r.p := u; r.v[2] := 4; y := r.p + 10*r.q + r.v*{100, 1000}": ("R r;", 4723),
    "r[2].p := u; y := r[1].p + 10*r[2].p": ("R r[2];", 31),
    "r := R(p=u, q=u); y := r.p*r.q": ("R r;", 9),
    "if u > 2 then r.p := 8; end if; y := r.p": ("R r;", 8),
    'b := b or u > 9; s := s + "x"; y := if not b and s == "x" then u else 0': ("Boolean b; String s;", 3),
    "y := h(u) + h(u, 5) + h(k=7, a=u)": ("", 54),
    'assert(u > 0, "u is negative"); y := u': ("", 3),
    'if u > 2 then y := u; else assert(false, "u is small"); end if': ("", 3),
}
HELPERS = """
type Mode = enumeration(off, on);
record R Real p = 1; Real q = 2; Real v[2] = {7, 0}; end R;
function g input Real u; output Real a = u; output Real b; output Real c; algorithm b := 2*u; c := 3*u; end g;
function h input Real a; input Real k = 2*a; output Real y = a*k; end h;
"""


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "given"), ALGORITHMS.items(), ids=lambda given: str(given)[:60])
def test_algorithms_give_the_same_of_numbers_of_parameters_and_of_what_changes(
    algorithm: str, given: tuple[str, float], path: pathlib.Path
) -> None:
    text = function(f"{algorithm};", given[0]) + HELPERS
    assert value(path, f"parameter Real x = f(3);\n{text}") == given[1]
    path.write_text(
        "model M\nparameter Real p = 3;\nparameter Real x = f(p);\nReal q(start=3, fixed=true);\nReal y = f(q);\n"
        f"{text}equation\nder(q) = 0;\nend M;\n"
    )
    state = State(mbfmu.System.of(load(path)))
    state.set("q", 3)
    state.solve()
    assert (state["x"], state["y"]) == (given[1], given[1])


#: Values of a parameter that no value can be made of, and what is said of them.
NO_VALUES = {
    "sum({{1, 2}, {3}})": "the rows of an array differ in size; make them equal",
    "sum({1, 2}.*{1, 2, 3})": "the arguments have 2 and 3 elements; give them one size",
    "sum({1, 2} - {1, 2, 3})": r"an array of size 2 - an array of size 3: the sizes differ",
    "(-2)^0.5": r"\(-2\) \^ 0.5: a negative number has no power that is not whole",
    "{1, 2}*{1, 2, 3}": r"an array of size 2 \* an array of size 3: the sizes do not fit",
    "sum([1, 2; 3, 4]*[1, 2, 3])": r"size 2 x 2 \* an array of size 1 x 3: the sizes do not fit",
    "sum(1/{1, 2})": r"division by an array; use \./ for its elements",
    "sum([1, 2]^2)": r"only a square matrix has powers, by whole numbers; use \.\^ for elements",
    "sum([1, 2; 3, 4]^0.5)": "only a square matrix has powers, by whole numbers",
    "sum([1, 2; 3, 4]^(-1))": "only a square matrix has powers, by whole numbers",
    "sum(2^{1, 2})": "the exponent is an array",
    "if {1} < {2} then 1 else 2": "an array of size 1 < an array of size 1: relations are between scalars",
    'if "a" < 1 then 1 else 2': 'the string "a" < 1: these cannot be compared',
    "if r == r then 1 else 2": "a record == a record: relations are between scalars",
    "if Mode.off < 1 then 1 else 2": "the literal Mode.off < 1: these cannot be compared",
    "sum(fill(1, 2000, 2000))": "an array of 4000000 elements is too large",
    "sum(linspace(0, 1, 1))": "linspace needs two points at least",
    "sum(transpose({1, 2}))": "transpose of an array of size 2, which is no matrix",
    "sum([{1, 2}, 3])": "the blocks of a row differ in height",
    "sum([1, 2; 3])": "the rows of an array differ in size",
    "max(fill(1, 0))": "max of nothing",
    "min(zeros(0))": "min of nothing",
    "sum(cross({1}, {2}))": "cross takes two vectors of 3 elements",
    "Modelica.Math.Vectors.norm({1, 2}, 3)": "the norm of order 3 is not known; use 1, 2 or Modelica.Constants.inf",
    "sum(Modelica.Math.Vectors.normalizeWithAssert({0, 0}))": "a vector of zeros has no direction",
    "sqrt(-1)": r"sqrt\(-1\) does not exist",
    "log(0)": r"log\(0\) does not exist",
    "exp(1000)": r"exp\(1000\) does not exist",
    "mod(1, 0)": r"mod\(1, 0\) does not exist",
    "scalar({1, 2})": "scalar of an array of size 2",
    "sum(Modelica.Math.Matrices.solve([1, 2], {1}))": r"the linear equations cannot be solved \(.*square",
    "sum(Modelica.Math.Matrices.inv([1, 2; 2, 4]))": "rows of their matrix depend on each other",
    "sum(Modelica.Math.Matrices.inv([a, 2; 2*a, 4]))": "rows of their matrix depend on each other",
    "+true": "true is no number",
    "-true": "true is no number",
    "sum(1:0:3)": "1:0:3: the step is 0",
    'size("a":"b", 1)': '"a":"b": a range is between numbers',
    "size(Mode.off:Side.left, 1)": "Mode.off and the literal Side.left bound no range; take literals of one type",
    "(1, 2)": "a list in parentheses is no value",
    "if 1 then 2 else 3": "the condition is 1; it must be true or false",
    "if 1 and true then 2 else 3": "1 is neither true nor false",
    "if not 1 then 2 else 3": "1 is neither true nor false",
    "if a > 0 then {1, 2} else {1}": "the branches have different sizes",
    'if a == "b" then 1 else 2': r'an expression == the string "b": these cannot be compared',
    "sum({i for i})": "for i: give its range, as in `for i in 1:3`",
    "sum({i for i in 3})": "for i in 3: the range is 3; give a vector",
    "sum(fill(1, {1, 2}))": "an array of size 2 is no size; give a whole number from 0 on",
    "v[1.5]": "1.5: is 1.5; an index is a whole number",
    'v["a"]': '"a": is the string "a"; an index is a whole number',
    "v[3]": "the index is 3, the array has 2 elements, from 1",
    "v[0]": "the index is 0, the array has 2 elements, from 1",
    "a[1]": r"a\[1\]: has no elements; remove its subscripts",
    "r.s": r"r\.s: r \(Q\) has no 's'; known: p",
    "size(v, 2)": "the array has 1 dimensions",
    "size(v, 1.5)": "1.5: is 1.5; expected a whole number",
    "der(a)": "a parameter, a size or a start value has no derivative",
    "noEvent(1, 2)": "noEvent takes one argument",
    "Modelica.Constants.nothing": "Modelica.Constants.nothing: is no constant of the Modelica library that mbfmu knows",
    "Modelica.Math.nothing(1)": "Modelica.Math.nothing is a function of the Modelica library that mbfmu does not have",
    "Mode(7)": "the index is 7, the array has 2 elements, from 1",
    "g(1, 2)": "g: takes 1 arguments, got 2",
    "g(1, u=2)": "g: argument 'u' is given twice; it takes u",
    "g(z=2)": "g: argument 'z' is unknown; it takes u",
    "g()": "g: needs a value for u",
    "f(function sin())": "sin: a function argument must be a function of your own files",
    'size(String(1, format="%d"), 1)': '1 has no format "%d"; give one of C\'s without %, such as ".3f"',
    'size(String(1.5, format="d"), 1)': '1.5 has no format "d"',
    'size(String(true, format="d"), 1)': 'true has no format "d"',
    "size(String(1, minimumLength=10000000), 1)": "an array of 10000000 elements is too large",
}


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "said"), NO_VALUES.items(), ids=str)
def test_what_has_no_value_is_told_with_its_place_and_why(expression: str, said: str, path: pathlib.Path) -> None:
    declared = (
        "type Side = enumeration(left, right);\nrecord Q Real p = 1; end Q;\nparameter Q r;\n"
        "function f input base h; output Real y; algorithm y := h(1); end f;\nconstant Real v[2] = {1, 2};\n"
        "partial function base input Real u; output Real y; end base;\nparameter Real a = 1;\n"
    )
    with pytest.raises(ModelError, match=said) as caught:
        value(path, f"{HELPERS.strip()}\n{declared}parameter Real x = {expression};")
    assert str(caught.value).startswith(f"{path}, line 13: ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "holds"),
    [
        ('assert(p > 1, "p is " + String(p));', False),
        ('assert(p >= 0, "p is " + String(p));', True),
        ('assert(p > 0, "p is " + String(p));', False),
        ('assert(not p > 1 and true, "p is " + String(p));', True),
        ('assert(p > 0, "p is " + String(p), AssertionLevel.warning);', None),
        ('assert(p > 0, "p is " + String(p), level=AssertionLevel.warning);', None),
        ('assert(p > 0, "p is " + String(p), level=AssertionLevel.error);', False),
    ],
)
@pytest.mark.parametrize("in_function", [True, False], ids=["function", "equation"])
def test_an_assertion_of_numbers_holds_warns_or_is_an_error(
    statement: str, holds: bool | None, in_function: bool, path: pathlib.Path
) -> None:
    if in_function:
        text = "parameter Real x = f(0);\nfunction f\ninput Real p;\noutput Real y = 0;\nalgorithm\n" + statement
        text += "\ny := 7;\nend f;"
    else:
        text = "constant Real p = 0;\nparameter Real x = 7;\nReal z = time;\n\nequation\n" + statement
    path.write_text(f"model M\n{text}\nend M;\n")

    def run() -> float:
        assembly = load(path)
        mbfmu.System.of(assembly)
        return float(assembly.value("x"))

    said = re.escape(f"{path}, line 7: p is 0")
    if holds is False:
        with pytest.raises(ModelError, match=said):
            run()
    elif holds is None:
        with pytest.warns(UserWarning, match=said):
            assert run() == 7
    else:
        assert run() == 7


@pytest.mark.slow
@pytest.mark.parametrize("condition", ["x > {}", "x > {} and x < 5", "if time < 1 then x > {} else false"])
def test_an_initial_assertion_is_one_of_the_start_alone(condition: str, path: pathlib.Path) -> None:
    """x falls from 2 to 0.27."""
    text = (
        'model M\nReal x(start=2, fixed=true);\ninitial equation\nassert({}, "low");\nequation\nder(x) = -x;\nend M;\n'
    )
    path.write_text(text.format(condition.format(1)))
    result = mbfmu.simulate(load(path), 2.0, interval=0.5)
    np.testing.assert_allclose(result["x"], 2 * np.exp(-result.time), atol=1e-5)
    path.write_text(text.format(condition.format(3)))
    with pytest.raises(InitializationError, match=r"M: .*line 4: low"):
        mbfmu.simulate(load(path), 2.0)


@pytest.mark.slow
def test_an_assertion_in_a_branch_holds_while_the_branch_is_taken(path: pathlib.Path) -> None:
    def ends(limit: float) -> float:
        path.write_text(
            f"""model M
              Real x(start=0, fixed=true);
              Real y;
            equation
              der(x) = 1;
              if x > 2 then
                y = 1;
                assert(x > 0, "never");
              elseif x > 1 then
                y = 2;
                assert(x < {limit}, "x is too large");
              else
                y = 3;
                assert(x < 1.5, "never");
              end if;
            end M;"""
        )
        return float(mbfmu.simulate(load(path), 3.0)["y"][-1])

    assert ends(2.5) == 1
    with pytest.raises(SimulationError, match="line 11: x is too large"):
        ends(1.5)


INERTIA, GAIN = "Modelica.Mechanics.Rotational.Components.Inertia", "Modelica.Blocks.Math.MatrixGain"
FUNCTION = "output Real y; algorithm y :="
SCALAR = "Modelica.Blocks.Math.Gain"
JOINTS = "Modelica.Mechanics.MultiBody.Joints"
#: Texts of models with what some of their variables are at the start.
MODELS: list[tuple[str, dict[str, float]]] = [
    (
        f"model Big extends {INERTIA}(J=2*k); parameter Real k = 3; end Big; Big a(k=5), b; parameter Real x = a.J;"
        f"model Same extends {INERTIA}(J=7); end Same; Same c; model Short = {INERTIA}(J=4); Short d, e(J=5);",
        {"x": 10, "b.J": 6, "c.J": 7, "d.J": 4, "e.J": 5},
    ),
    (
        "record R Real p = 1; Real q = 2; end R; constant R c = R(3, 4); parameter R r = c; parameter R s(p=5);"
        "parameter Real x = r.p + 10*r.q; Real y = f(s)*cos(time);"
        f"function f input R r; {FUNCTION} r.p + 10*r.q; end f;",
        {"x": 43, "y": 25},
    ),
    (
        f"record R Real p; end R; Real z(start=0, fixed=true); Real y = f(z); function f input Real u; {FUNCTION} g("
        "if u > 1 then R(1) else R(3)); end f; function g input R r; output Real y; algorithm y := r.p; end g; "
        "equation der(z) = 1;",
        {"y": 3},
    ),
    (
        f"{GAIN} g(K=[1, 2; 3, 4]), h(K=[1, 2; 3, 4], u=fill(cos(time), 2)); Real y = g.y[1] + 1000*g.y[2];"
        "Real z = h.y*{1, 1000}; parameter Real n = size(g.y, 1) + 10*size(h.u, 1); equation g.u = {1, 10}*cos(time);",
        {"y": 43021, "z": 7003, "n": 22},
    ),
    (
        "Boolean b[2] = {time > 1, time < 2}; Boolean c[2] = {true, false};"
        "Boolean d[2] = b or c;" "Boolean e[2] = not b;"
        "Boolean f = true; Boolean g = f and b[2]; Real y = if f and not c[2] then 3 else 4;",
        {"d[1]": 1, "d[2]": 1, "e[1]": 1, "e[2]": 0, "f": 1, "g": 1, "y": 3},
    ),
    (
        "model A parameter Real p[2]; end A; A a(each p=3), b(p={1, 2}); A c[2](each p={5, 6}), d[2](p=[1, 2; 3, 4]);"
        "model B extends A(each p=4); end B; B e; parameter Real x = sum(a.p) + sum(e.p);"
        "parameter Real y = c[2].p[1] + 10*c[1].p[2] + 100*d[1].p[2] + 1000*d[2].p[1];",
        {"x": 14, "y": 3265},
    ),
    (
        f"{INERTIA} a[3](each J=1, w(start={{1, 2, 3}}, each fixed=true)); Real y; parameter Real n = size(a, 1);"
        "equation if a[1].w > 5 then y = 1; else y = 2; end if;",
        {"y": 2, "n": 3},
    ),
    (
        "type Mode = enumeration(off, low, high); parameter Mode mode = Mode.high;"
        "Integer k = if time > 1 then 1 else 2; Real y[Mode] = {if m == mode then 5 + time else 6 for m in Mode};",
        {"k": 2, "y[1]": 6, "y[3]": 5},
    ),
    (
        f"replaceable function f = g(a=3); function g input Real u; input Real a; {FUNCTION} a*u; end g;"
        f"function h extends g(a=7); end h; function apply input p k; input Real u; {FUNCTION} k(u); end apply;"
        f"partial function p input Real u; output Real y; end p; function q input Real u; {FUNCTION} u^2; end q;"
        "parameter Real x = f(2) + h(1); parameter Real y = apply(q, 3) + apply(function g(a=5), 1);",
        {"x": 13, "y": 14},
    ),
    (
        "model A outer Modelica.Mechanics.MultiBody.World world; Real y = world.g*cos(time); end A; A a; "
        "model B A b; end B; B c; inner Modelica.Mechanics.MultiBody.World world(g=3);",
        {"a.y": 3, "c.b.y": 3},
    ),
    (
        "package P package Q constant Real x = 3; constant Real y = 4; end Q; end P; model N import P.Q.{x, y};"
        "import R = P.Q; parameter Real z = 10*x + y + 100*R.x; end N; N n; parameter Real w = n.z;",
        {"w": 334},
    ),
    (
        "connector In = input Real(unit=\"rad\"); connector Out = output Boolean; block K In u; Out y; equation "
        "y = u > 1; end K; K k(u=2*cos(time)); Boolean z = k.y;",
        {"z": 1},
    ),
    (
        f"inner Modelica.Mechanics.MultiBody.World world; {JOINTS}.Revolute j(phi(fixed=true)); "
        "Modelica.Mechanics.MultiBody.Parts.BodyCylinder c(r={0.4, 0, 0}, diameter=0.1, density=1000); "
        f"{JOINTS}.Prismatic p(s_offset=2); Modelica.Mechanics.MultiBody.Parts.PointMass m(m=1); "
        "parameter Real x = c.body.m; Real y = c.frame_a.R.T[1, 1] + sum(c.frame_b.R.w); Real z[3] = c.frame_b.r_0; "
        "Real d = p.distance; equation connect(world.frame_b, j.frame_a); connect(j.frame_b, c.frame_a); "
        "connect(world.frame_b, p.frame_a); connect(p.frame_b, m.frame_a);",
        {"x": math.pi, "y": 1, "z[1]": 0.4, "d": 2},
    ),
    (
        f"{INERTIA} a(J(start=2)); parameter Real x = a.J; parameter Real p = 2; parameter Boolean b = p > 1;"
        "parameter Integer n = integer(p) + 1; parameter Real y = if b then n else 0;"
        "Real z[3] = {1, 2, 3}*cos(time); Real w = z[integer(p)] + 10*(if p > 1 then z[1] else z[2]);",
        {"x": 2, "y": 3, "w": 12},
    ),
    (
        "Real x[2, 2]; Real y[2]; Real u, v, w; Real q[2], r[2], s; equation for i in 1:2 loop for j in 1:2 loop "
        "x[i, j] = i + 10*j; end for; y[i] = x[i, :]*x[:, i]; end for; u + v + w = 6; u - v = 0; v - w = -cos(time); "
        "zeros(2) = {q[1] + q[2] - 3, q[1] - q[2] - 1}; {r[1], s} = {1, 2}*cos(time); r[2] = 3*s;",
        {"x[1,2]": 21, "y[1]": 373, "y[2]": 736, "u": 5 / 3, "w": 8 / 3, "q[1]": 2, "q[2]": 1, "r[1]": 1, "r[2]": 6},
    ),
    (  # the outermost redeclaration counts, whether classes say it in short, as a whole, or where they are used
        f"model A replaceable model P = {SCALAR}(k=1); P p; equation p.u = 1; end A; model B extends A;"
        f"redeclare model P = {SCALAR}(k=2); end B; model C extends B; redeclare model P extends {SCALAR}(k=3); end P;"
        f"end C; A a; B b; C c; model D extends A(redeclare model P = {SCALAR}(k=4)); end D; model E extends D;"
        f"redeclare model P = {SCALAR}(k=5); end E; D d; E e; E f(redeclare model P = {SCALAR}(k=6));"
        f"C g(redeclare model P = {SCALAR}(k=7));",
        {"a.p.y": 1, "b.p.y": 2, "c.p.y": 3, "d.p.y": 4, "e.p.y": 5, "f.p.y": 6, "g.p.y": 7},
    ),
    (
        "model A replaceable function f = g; replaceable record R Real p = 1; end R; R r;"
        f"Real y = f(2) + r.p*cos(time); end A; function g input Real u; {FUNCTION} 2*u; end g; model B extends A;"
        f"redeclare function f input Real u; {FUNCTION} 7*u; end f; redeclare record R Real p = 3; end R; end B; A a;"
        f"B b; A c(redeclare function f = h(k=5)); function h input Real u; input Real k; {FUNCTION} k*u; end h;",
        {"a.y": 5, "b.y": 17, "c.y": 11},
    ),
    (
        "type Mode = enumeration(off, low, high); parameter Real b[Mode] = {1, 2, 3}, c[Boolean] = {10, 20};"
        "parameter Integer k[2] = {3, 1}; Real y = b[Mode.high] + c[true]; parameter Real z = b[k[1]] + b[6/3];"
        "Real u = sum(if i == Modelica.Blocks.Types.Init.NoInit then 1 else 2 for i in Modelica.Blocks.Types.Init);"
        "Real v[Modelica.Blocks.Types.Init] = {1, 2, 3, 4}*cos(time);",
        {"y": 23, "z": 5, "u": 7, "v[4]": 4},
    ),
    (  # an index is its loop's own, in loops within loops and beside a variable of its name
        "parameter Real x = f(3), y = g(2); function f input Integer n; output Real y = 0; protected Integer i = 7;"
        "algorithm for i in 1:n loop y := y + i; end for; y := y + 100*i; end f; function g input Real u;"
        "output Real y; algorithm y := 0; for i in 1:3 loop for i in 1:2 loop y := y + i*u; end for; y := y + 100*i;"
        "end for; end g;",
        {"x": 706, "y": 618},
    ),
    (
        f"Modelica.Blocks.Math.Sum s(nin=3, k={{1, 2, 3}}, each u=cos(time)); {SCALAR} g(k=2); Real y = g.y;"
        "model T Modelica.Blocks.Continuous.LimPID c(yMax=4, gainPID(k=q)); parameter Real q = 3; equation c.u_s = 1;"
        "c.u_m = 0; end T; T t; equation g.u = s.y;",
        {"y": 12, "t.c.gainPID.k": 3},
    ),
    (
        "type T extends Real(unit=\"m\"); end T; T x = 2*cos(time); SI.Length l = 3*cos(time);"
        "import SI = Modelica.SIunits;"
        "Modelica.Units.NonSI.Angle_deg a = 4*cos(time); Modelica.Units.SI.LuminousFlux f = 5*cos(time);"
        "Modelica.Mechanics.MultiBody.Types.Axis n = {6, 7, 8}*cos(time);"
        "parameter Real c = Modelica.Electrical.Machines.Thermal.Constants.alpha20Copper;",
        {"x": 2, "l": 3, "a": 4, "f": 5, "n[2]": 7, "c": 3.92e-3},
    ),
    (
        "parameter String s[2] = {\"a\", \"b\"}; parameter Boolean b[2] = {true, false};"
        "Real y = if b[1] and s[2] == \"b\" then 3*cos(time) else 4; final parameter Real k = 2; Real z = k*y;"
        "model A protected parameter Real q[2] = {1, 2}; public Real y = q*q*cos(time); end A; A a;",
        {"y": 3, "z": 6, "a.y": 5},
    ),
    (
        "import F = Modelica.Mechanics.MultiBody.Frames; Real y[3] = F.resolve1(if time > 1 then"
        " F.axisRotation(3, 0.5, 0) else F.axisRotation(3, 0.3, 0), {1, 0, 0});",
        {"y[1]": np.cos(0.3), "y[2]": np.sin(0.3), "y[3]": 0},
    ),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("text", "expected"), MODELS, ids=[str(list(expected)) for _, expected in MODELS])
def test_models_have_the_values_that_their_texts_give(
    text: str, expected: dict[str, float], path: pathlib.Path
) -> None:
    path.write_text(f"model M\n{text}\nend M;\n")
    state = State(mbfmu.System.of(load(path)))
    state.solve()
    assert {name: state[name] for name in expected} == pytest.approx(expected, rel=1e-14)


def test_what_cannot_be_found_beside_a_package_is_told(path: pathlib.Path) -> None:
    for uri, said in (
        ("modelica://Nothing/a.txt", "the package Nothing has no folder here; put it beside the file's own packages"),
        ("modelica://P/a.txt", "there is no file .*a.txt; put it there"),
    ):
        folder = path.parent / "P"
        folder.mkdir(exist_ok=True)
        (folder / "package.mo").write_text("package P end P;")
        (folder / "M.mo").write_text(
            f'within P;\nmodel M\nparameter String s =\nModelica.Utilities.Files.loadResource("{uri}");\nend M;'
        )
        with pytest.raises(ModelError, match=rf"M\.mo, line 4: {uri}: {said}"):
            load(folder / "M.mo")


def test_a_state_selection_without_a_counterpart_is_warned_of(path: pathlib.Path) -> None:
    path.write_text(f"model M\n{INERTIA} a(J=1, phi(stateSelect=StateSelect.always));\nend M;\n")
    said = r"M\.mo, line 2: stateSelect of phi is left out; the component's parameter stateSelect decides"
    with pytest.warns(UserWarning, match=said):
        load(path)


def test_the_outermost_modifier_of_a_function_counts(tmp_path: pathlib.Path) -> None:
    """Of two that give one value, as in a model."""
    functions = (
        "function f input Real u; input Real k = 2; output Real y = k*u; end f;\n"
        "function g extends f(k = 3); end g;\nfunction h extends g(k = 5); end h;\n"
    )
    found = {name: value(tmp_path / "M.mo", f"{functions}parameter Real x = {name}(1);") for name in "fgh"}
    assert found == {"f": 2, "g": 3, "h": 5}


def test_defaults_of_the_library_have_its_numbers(tmp_path: pathlib.Path) -> None:
    """Fractions of lengths and diameters (Modelica.Mechanics.MultiBody.Types.Defaults)."""
    expected = {
        "FrameHeadLengthFraction": 5,
        "FrameHeadWidthFraction": 3,
        "FrameLabelHeightFraction": 3,
        "ArrowHeadLengthFraction": 4,
        "ArrowHeadWidthFraction": 3,
        "BodyCylinderDiameterFraction": 3,
        "JointRodDiameterFraction": 2,
    }
    place = "Modelica.Mechanics.MultiBody.Types.Defaults"
    found = {n: value(tmp_path / "M.mo", f"parameter Real x = {place}.{n};") for n in expected}
    assert found == expected


@pytest.mark.slow
def test_variables_have_the_units_of_their_types(path: pathlib.Path) -> None:
    """Units.SI has those of the standard, Units.NonSI its own; a type of one's own the one that it says."""
    path.write_text(
        'model M type T extends Real(unit="N.m"); end T; import NonSI = Modelica.Units.NonSI;'
        "NonSI.AngularVelocity_rpm n = 3*cos(time); NonSI.Energy_kWh e = cos(time); NonSI.Unheard u = cos(time);"
        "Modelica.Units.SI.AngularJerk f = 5*cos(time); Modelica.Units.SI.Pressure p = 1e5*cos(time);"
        "T x = 2*cos(time); equation end M;"
    )
    units = {v.name: v.unit for v in mbfmu.System.of(mbfmu.load(path)).variables if v.name in "nefpxu"}
    assert units == {"n": "rpm", "e": "kW.h", "u": None, "f": "rad/s3", "p": "Pa", "x": "N.m"}
