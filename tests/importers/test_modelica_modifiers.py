"""What modifiers, packages, records and functions of Modelica's mean together: that they count, or are refused by name.

The expected values are worked by hand from the language's specification.
"""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest
from against_pinocchio import State

import mbfmu
from mbfmu.errors import ModelError
from mbfmu.importers.modelica import load

#: Classes that the texts below share, one a line.
CLASSES = """
model A parameter Real k = 1; Real x = k; end A;
model A2 parameter Real k = 4; Real x = 10*k; end A2;
model Rows parameter Real k[2] = {1, 1}; Real x = k[2]; end Rows;
model Pair A a[2](each k = 3); end Pair;
model Open Real x; end Open;
model Opens Real x[2]; end Opens;
block Scale extends Modelica.Blocks.Math.Gain(k = 3); end Scale;
block Scaled extends Modelica.Blocks.Math.Gain(k = q, u = q + 1); parameter Real q = 3; end Scaled;
block Fed extends Modelica.Blocks.Math.Gain(k = 3, u = 4); end Fed;
block Deep extends Fed; end Deep;
model Reads Modelica.Blocks.Interfaces.RealInput u[2, 3]; Real s = u[1, 3] + 10*u[2, 1]; Real y[2] = u*{1, 10, 100};
end Reads;
model Passes Modelica.Blocks.Interfaces.RealInput u[2, 3]; Modelica.Blocks.Interfaces.RealOutput y[2, 3];
  Modelica.Blocks.Interfaces.RealOutput z[3]; Modelica.Blocks.Interfaces.RealOutput s = y[1, 3] + 10*y[2, 1];
equation connect(u, y); connect(u[2, :], z); end Passes;
model Gives Modelica.Blocks.Interfaces.RealOutput y[2, 3] = {{1, 2, 3}, {4, 5, 6}}; end Gives;
model Many Modelica.Blocks.Interfaces.RealInput u[6]; end Many;
record R Real a = 1; Real b = 2*a; end R;
record S R r(a = 3); Real c = 4; end S;
record T extends S(r(b = 7)); end T;
record U extends S(r.b = 6, c = 5); end U;
record V = R(a = 5);
record F Real a = 1; final parameter Real c = 7; end F;
model Holds parameter R r = R(a = 4, b = 5); Real x = r.a + 10*r.b; end Holds;
model Asks outer A e; Real x = e.k; end Asks;
model Chooses parameter E e = E.one; Real x = if e == E.two then 5 else 6; end Chooses;
type E = enumeration(one, two, three);
type E2 = enumeration(one, two);
type V3 = Real[3];
package Q0 constant Real j = 1; constant Real k = 2*j; constant Integer three = 3; type V = Real[three]; end Q0;
package Q extends Q0(j = 3);
  replaceable function f input Real u; output Real y; algorithm y := k*u; end f;
  function g input Real u; output Real y; algorithm y := f(u) + 1; end g;
  model S parameter Real p = k; Real x = p; end S;
  record R Real a = j; end R;
  final constant Real fixed = 8;
end Q;
package Q4 extends Q(j = 4); end Q4;
package Q5 = Q4(j = q5);
constant Real q5 = 7;
package Own extends Q(j = 2);
  redeclare function f input Real u; output Real y; algorithm y := 10*k*u; end f;
end Own;
package Other extends Q(redeclare function f = h); end Other;
package Again extends Q; redeclare constant Real j = 9; end Again;
function h input Real u; output Real y; algorithm y := 100*u; end h;
function square input Real u; output Real y; algorithm y := u*u; end square;
function product_ input Real u; input Real v; output Real y; algorithm y := u*v; end product_;
function first input Real u[2]; output Real y; algorithm y := u[1] + 10*u[2]; end first;
function choose input Real u; output Real y; algorithm y := if u > 1 then 2*u else 0; end choose;
function summed input Integer n; input Real u[n]; output Real y; algorithm y := sum(u); end summed;
function triple input Real u; output V3 y; algorithm y := {u, 2*u, 3*u}; end triple;
function parts input Real u; output Real y; protected R q(a = u); V w; R e[2](a = {u, 2}); Q0.V t;
  algorithm t[2] := u; y := q.a + 10*q.b + 1000*w.a + 10000*e[2].b + 100000*t[2]; end parts;
function both input R u; output Real y; algorithm y := u.a*u.b; end both;
function short input Real u; output Real y[3]; algorithm y := {u, u}; end short;
function wide input Real u; output Real y; algorithm y := {u, u}; end wide;
function inside input Real u; output Real y; protected Real t[2] = {1, u, 3}; algorithm y := sum(t); end inside;
"""

COUNTED = {
    "an input of a block that extends one of the library": ("Scale p(u = 5);", {"p.y": 15}),
    "an input that the class itself gives": ("Fed p;", {"p.y": 12}),
    "an input that the class of its class gives": ("Deep p;", {"p.y": 12}),
    "an input by a parameter of the class": ("Scaled p(q = 2); Scaled d;", {"p.y": 6, "d.y": 12}),
    "inputs of an array of them": ("Scale p[2](u = {4, time + 5});", {"p[1].y": 12, "p[2].y": 15}),
    "an own variable by a number": ("Open a(x = 2);", {"a.x": 2}),
    "an own variable by time and a parameter": ("parameter Real q = 7; Open a(x = time + q);", {"a.x": 7}),
    "own variables of an array by elements": ("Opens a[2](x = {{1, 2}, {3, 4}});", {"a[2].x[1]": 3, "a[1].x[2]": 2}),
    "own variables of an array, each": ("Opens a[2](each x = {3, 4});", {"a[1].x[1]": 3, "a[2].x[2]": 4}),
    "a binding that the modifier replaces": ("A a(x = 8);", {"a.x": 8, "a.k": 1}),
    "an array of components within one": ("Pair c[2](a(k = {{1, 2}, {3, 4}}));", {"c[2].a[1].x": 3, "c[1].a[2].x": 2}),
    "each outside, elements inside": ("Pair c[2](each a(k = {1, 2}));", {"c[2].a[2].x": 2, "c[2].a[1].x": 1}),
    "arrays that the class gives all elements": ("model N = Rows(k = {1, 2}); N a[3];", {"a[1].x": 2, "a[3].x": 2}),
    "a matrix of library components": (
        "Modelica.Blocks.Math.Gain g[2, 3](k = {{1, 2, 3}, {4, 5, 6}}, u = {{7, 8, 9}, {10, 11, 12}});",
        {"g[2,3].y": 72, "g[2,1].y": 40, "g[1,2].y": 16},
    ),
    "a redeclared array keeps what its elements are modified with": (
        "model C replaceable A a[2](k = {1, 2}); end C; C c(redeclare A2 a(k = {5, 6})); C d(redeclare A2 a);",
        {"c.a[2].x": 60, "d.a[2].x": 20},
    ),
    "a redeclared class of an array": (
        "model C replaceable model N = A; N t[2](k = {3, 5}); N s; end C; C c(redeclare model N = A2(k = 9));",
        {"c.t[2].x": 50, "c.s.x": 90},
    ),
    "modifiers of three levels of extends": (
        "model B extends Rows(k = {2, 3}); parameter Real j = k[1]; end B; model C extends B(j = 5); end C;"
        "C c; C d(k = {6, 7}); B b(k = {8, 9});",
        {"c.x": 3, "c.j": 5, "d.x": 7, "d.j": 5, "b.j": 8},
    ),
    "the same base by two ways": ("model B extends A; extends A; end B; B b(k = 6);", {"b.x": 6}),
    "an outer modifier over two that differ": (
        "model B extends A(k = 2); end B; model C extends A(k = 5); end C; model D extends B; extends C; end D;"
        "D d(k = 6);",
        {"d.x": 6},
    ),
    "constants of packages by extends": (
        "Real a = Q0.k; Real b = Q.k; Real c = Q4.k; Real d = Q5.k; Real e = Again.k;",
        {"a": 2, "b": 6, "c": 8, "d": 14, "e": 18},
    ),
    "functions of packages by extends": (
        "Real a = Q.f(3); Real b = Q4.f(3); Real c = Q.g(3); Real d = Q5.g(3);",
        {"a": 18, "b": 24, "c": 19, "d": 43},
    ),
    "functions that packages redeclare": (
        "Real a = Own.f(3); Real b = Own.g(3); Real c = Other.g(3);",
        {"a": 120, "b": 121, "c": 301},
    ),
    "models and records of packages by extends": (
        "Q4.S s; Q.S t; Q5.S u(p = 1); parameter Q4.R r; parameter Q5.R q = Q5.R(); Real b = r.a; Real c = q.a;",
        {"s.x": 8, "t.x": 6, "u.x": 1, "b": 4, "c": 7},
    ),
    "a package of the model's own": ("package N = Q0(j = 8); Real y = N.k;", {"y": 16}),
    "an inner component that is redeclared": (
        "model B inner replaceable A e; Asks s; end B; B b(redeclare A2 e(k = 7)); inner A e(k = 3); Asks s;",
        {"b.s.x": 7, "s.x": 3},
    ),
    "a record's field over its value": ("Holds h(r(a = 3)); Holds g(r.b = 6);", {"h.x": 53, "g.x": 64}),
    "a record as a whole over its fields": ("parameter R r(a = 3); Holds h(r = r);", {"h.x": 63}),
    "records within records": (
        "parameter T t = T(c = 1); Real x = t.r.a + 10*t.r.b + 100*t.c; parameter T d; Real y = d.r.a + 10*d.r.b;"
        "parameter U u = U(); Real z = u.r.a + 10*u.r.b + 100*u.c;",
        {"x": 173, "y": 73, "z": 563},
    ),
    "a record by another's modifiers": ("parameter V v = V(b = 6); Real x = v.a + 10*v.b;", {"x": 65}),
    "functions of arrays, element by element": (
        "parameter Real m[2, 2] = square([1, 2; 3, 4]); Real p[3] = product_({1, 2, 3}, {4, 5, 6});"
        "Real q[3] = product_({1, 2, 3}, 2); Real c[2] = choose({time, 2 + time}); Real f[2] = first({{1, 2}, {3, 4}});"
        "Real a = m[2, 1]; parameter Real b[2] = both({R(3), R(4, 5)});",
        {"a": 9, "p[3]": 18, "q[3]": 6, "c[1]": 0, "c[2]": 4, "f[2]": 43, "b[1]": 18, "b[2]": 20},
    ),
    "sizes of functions' variables": (
        "Real x = summed(2, {1, 2}); Real y[3] = triple(2); Real z = parts(3);",
        {"x": 3, "y[3]": 6, "z": 3 + 60 + 5000 + 40000 + 300000},
    ),
    "matrices of an array of sources": (
        "Reads r; Modelica.Blocks.Sources.Constant s[2, 3](k = {{1, 2, 3}, {4, 5, 6}}); equation connect(s.y, r.u);",
        {"r.s": 43, "r.y[1]": 321, "r.y[2]": 654},
    ),
    "matrices of outputs": (
        "Gives g; Reads r; Passes p; Real q = g.y[1, 3] + 10*g.y[2, 1]; Real v[2] = g.y*{1, 10, 100};"
        "equation connect(g.y, r.u); connect(g.y, p.u);",
        {"r.s": 43, "r.y[2]": 654, "q": 43, "v[1]": 321, "p.y[1,3]": 3, "p.y[2,1]": 4, "p.z[1]": 4, "p.z[3]": 6,
         "p.s": 43},
    ),
    "matrices by slices": (
        "Gives g; Reads r; Reads t; equation connect(g.y[:, 1], r.u[:, 3]); connect(g.y[:, 2:3], r.u[:, 1:2]);"
        "connect(g.y[2, :], t.u[1, :]); connect(g.y[1, {3, 1, 2}], t.u[2, :]);",
        {"r.y[1]": 132, "r.y[2]": 465, "t.y[1]": 654, "t.y[2]": 213},
    ),
    "matrices by modifiers": (
        "Reads r(u = {{1, 2, 3}, {4, 5, 6}}); Reads a[2](u = {{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {5, 5, 5}}});",
        {"r.s": 43, "r.y[2]": 654, "a[2].s": 59, "a[1].y[1]": 321},
    ),
    "matrices by equations": (
        "Reads r; Reads s; Reads t; equation r.u = [1, 2, 3; 4, 5, 6]; s.u[:, 1] = {time + 1, 2};"
        "s.u[:, 2:3] = [3, 4; 5, 6];"
        "for i in 1:3 loop t.u[1, i] = i; t.u[2, i] = 3 + i; end for;",
        {"r.y[1]": 321, "s.y[1]": 431, "s.y[2]": 652, "t.s": 43},
    ),
    "an equation with a matrix": (
        "Real q[2](start = {1, 2}); Real w[2]; Real v[2]; Real x[2]; Real y = 5;"
        "equation der(q) = w; w = {3, 4}; [2, time; 1, 4]*v + {w[1], 0} = {9, 15}; [1, 2; 3, 4]*x = {y, y + 2};",
        {"v[1]": 3, "v[2]": 3, "x[1]": -3, "x[2]": 4},
    ),
    "accelerations by a matrix of masses": (
        "Real w[2](start = {3, 4}, each fixed = true); parameter Real m[2, 2] = [2, 1; 1, 3];"
        "equation m*der(w) = {3, 5};",
        {"der(w[1])": 0.8, "der(w[2])": 1.4},
    ),
    "sizes of what is not known yet": (
        "parameter Integer n = 3; Real y[n - 1]; Real z[2, 3]; equation y = {i*2.0 for i in 1:size(y, 1)};"
        "for i in 1:size(z, 1), j in 1:size(z, 2) loop z[i, j] = 10*i + j; end for;",
        {"y[2]": 4, "z[2,3]": 23, "z[1,2]": 12},
    ),
    "what constrainedby says of a component": (
        "model C replaceable A t constrainedby A(k = 5); end C; C c; C d(redeclare A2 t); C e(t(k = 6));"
        "model D replaceable A t(k = 9) constrainedby A(k = 5); end D; D f; D g(redeclare A2 t);"
        "D h(redeclare A2 t(k = 8));"
        "model G extends D(redeclare replaceable A t constrainedby A(k = 7)); end G; G i; G j(redeclare A2 t);",
        {"c.t.x": 5, "d.t.x": 50, "e.t.x": 6, "f.t.x": 9, "g.t.x": 50, "h.t.x": 80, "i.t.x": 7, "j.t.x": 70},
    ),
    "what constrainedby says of a class": (
        "model C replaceable model N = A constrainedby A(k = 5); N t; N s(k = 7); end C; C c;"
        "C d(redeclare model N = A2);"
        "C e(redeclare model N = A2(k = 8)); model D replaceable model N parameter Real k = 1; Real x = 100*k; end N"
        " constrainedby A(k = 5); N t; end D; D f;"
        "model G extends C(redeclare replaceable model N = A constrainedby A(k = 6)); end G; G g;"
        "G h(redeclare model N = A2);",
        {"c.t.x": 5, "c.s.x": 7, "d.t.x": 50, "d.s.x": 70, "e.t.x": 80, "f.t.x": 500, "g.t.x": 6, "h.t.x": 60},
    ),
    "variables that are there in one element and not in another": (
        "model C parameter Real k = 1; Real y = k if k > 2; parameter Real p = 5 if k > 2; Real z = 7*k;"
        "Real s(start = 4, fixed = true) if k > 2; equation if k > 2 then der(s) = 6; end if; end C;"
        "C a[2](k = {1, 3});",
        {"a[1].z": 7, "a[2].y": 3, "a[2].z": 21, "der(a[2].s)": 6},
    ),
    "sizes that values tell": (
        "parameter Real v[:, :] = {{1, 2, 3}, {4, 5, 6}}; parameter Real w[size(v, 2), :] = [7; 8; 9];"
        " Real y = w[3, 1];"
        "parameter Integer n(start = 3); parameter Integer m = n + 1; Real z[m - 2] = fill(4, m - 2);"
        " Real s = v[2, 1];",
        {"y": 9, "z[2]": 4, "s": 4},
    ),
    "elements over enumerations and conditions": (
        "parameter Real v[E] = {1, 2, 4}; parameter Real w[Boolean] = {5, 6}; parameter Boolean on = true;"
        "Real a = sum(v[E.two:E.three]); Real b = w[on]; Real c = w[not on]; Real d = sum(v[e]*Integer(e) for e in E);",
        {"a": 6, "b": 6, "c": 5, "d": 17},
    ),
    "what parts of parts have": (
        "model B Pair p; Gives g; end B; model C B b[2]; end C; C c; Real y = 2*c.b[2].p.a[1].x;"
        " Real z = c.b[1].g.y[2, 3];"
        "Real v[2] = c.b[2].p.a.x;",
        {"y": 6, "z": 6, "v[2]": 3},
    ),
    "functions' algorithms": (
        "function f input Real u; output Real y; protected Real a = 1; Integer k = 0;"
        " algorithm while a < u loop a := 2*a;"
        "k := k + 1; if k >= 4 then break; end if; end while; y := a + 100*k; end f; Real x = f(5); Real y = f(1000);"
        "function g input Real u; output Real m[2, 2]; algorithm m[:, 1] := {u, 2}; m[:, 2] := {7, 8};"
        "m[{2, 1}, 1] := {1, 4}; end g; Real m[2, 2] = g(5);"
        "function d input Real a; input Real b = 2*a; input Real c = a + b; output Real y;"
        " algorithm y := a + 10*b + 100*c;"
        " end d; function e = d(b = 5); Real p = d(1); Real q = e(1); Real r = d(c = 3, a = 1);",
        {"x": 308, "y": 416, "m[1,1]": 4, "m[2,1]": 1, "m[2,2]": 8, "p": 321, "q": 651, "r": 321},
    ),
    "records of functions": (
        "record N Real a; Real v[2]; end N; function f input Real u; output N r[2]; algorithm r[1].a := u;"
        " r[1].v := {1, 2};"
        "r[2] := N(5, {6, 7}); r[2].v[2] := 9; end f; parameter N r[2] = f(3);"
        " Real y = r[1].a + 10*r[2].a + 100*r[2].v[2];"
        "function g input N r[:]; output Real y; algorithm y := sum(r[i].v[2]*r[i].a for i in 1:size(r, 1)); end g;"
        "Real z = g(r); Real w[2] = r.a;",
        {"y": 953, "z": 51, "w[2]": 5},
    ),
    "connections that turn round": (
        "Modelica.Blocks.Sources.Constant c[3](k = {1, 2, 3}); Modelica.Blocks.Math.Gain g[3](each k = 10);"
        "Modelica.Blocks.Math.Gain h[2](each k = 10); Modelica.Blocks.Math.Gain i[3](each k = 10);"
        "equation connect(c[3:-1:1].y, g.u); connect(c[{3, 1}].y, h.u);"
        "for k in 1:3 loop if k < 3 then connect(c[k].y, i[k + 1].u); else connect(c[3].y, i[1].u); end if; end for;",
        {"g[1].y": 30, "g[3].y": 10, "h[2].y": 10, "i[1].y": 30, "i[3].y": 20},
    ),
    "enumerations of elements": ("Chooses c[2](e = {E.two, E.three});", {"c[1].x": 5, "c[2].x": 6}),
    "bounds that are constants": ("constant Real q = 2; parameter Real y(min = 2*q, max = 9) = 5;", {"y": 5}),
}  # fmt: skip


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "P.mo"


def write(path: pathlib.Path, text: str) -> None:
    path.write_text(f"package P\n{CLASSES}model M\n{text}\nend M;\nend P;\n", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("text", "expected"), COUNTED.values(), ids=COUNTED)
def test_what_texts_say_together_counts(text: str, expected: dict[str, float], path: pathlib.Path) -> None:
    write(path, text)
    state = State(mbfmu.System.of(load(path, class_name="P.M")))
    state.solve()
    assert {name: state[name] for name in expected} == pytest.approx(expected, rel=1e-14)


@pytest.mark.slow
def test_a_parameter_of_the_library_may_be_found_at_the_start(path: pathlib.Path) -> None:
    parts = (
        "Modelica.Mechanics.Rotational.Components.Fixed f;"
        " Modelica.Mechanics.Rotational.Components.Spring s(c(fixed = {}));"
        "Modelica.Mechanics.Rotational.Components.Inertia i(J = 2, phi(start = 2, fixed = true), w(fixed = true));"
        "initial equation i.a = -5; equation connect(f.flange, s.flange_a); connect(s.flange_b, i.flange_a);"
    )
    write(path, parts.format("false, start = 1"))
    assert mbfmu.simulate(load(path, class_name="P.M"), 0.01)["s.c"][0] == pytest.approx(5)
    write(path, parts.format("false"))
    assert mbfmu.simulate(load(path, class_name="P.M"), 0.01)["s.c"][0] == pytest.approx(5)


#: Texts of models, and what is said of them.
REFUSED = {
    "more values than components": ("A a[2](k = {1, 2, 3});", r"\{1, 2, 3\}: has 3 elements, the array of components"),
    "fewer values than components": ("A a[3](k = {1, 2});", r"has 2 elements, the array of components has 3; give one"),
    "a vector for each that is not said so": ("Rows a[3](k = {1, 2});", r"has 2 elements, .* has 3; .*`each`"),
    "more values of inputs than components": ("Fed a[2](u = {1, 2, 3});", r"has 3 elements, the array of components"),
    "more values of variables than components": ("Open a[2](x = {1, time, 3});", r"has 3 elements, the array of comp"),
    "a matrix of other columns": ("A a[2, 3](k = {{1, 2}, {3, 4}});", r"has 2 elements, the array of components has 3"),
    "an attribute that there is not": ("parameter Real q(foo = 1) = 2;", "q has no attribute 'foo'; known: displayU"),
    "a misspelt attribute": (
        "Real y(strat = 1); equation der(y) = 1;",
        "y has no attribute 'strat'; did you mean start",
    ),
    "an attribute of a part's parameter": ("A a(k(foo = 3) = 2);", "k has no attribute 'foo'"),
    "an attribute of a part's variable": ("A a(x.foo = 3);", "x has no attribute 'foo'"),
    "an attribute of a connector": ("Modelica.Blocks.Interfaces.RealInput u(foo = 3);", "u has no attribute 'foo'"),
    "an attribute of a library's parameter": (
        "Modelica.Blocks.Math.Gain g(k(foo = 3) = 2);",
        "k has no attribute 'foo'",
    ),
    "an attribute of a record's field": ("Holds h(r.a(foo = 3));", "h.r.a has no attribute 'foo'|a has no attribute"),
    "below the modifier's bound": ("Modelica.Blocks.Math.Gain g(k(min = 3) = 2);", "k = 2: must be >= 3, as min says"),
    "above the modifier's bound": ("Modelica.Blocks.Math.Gain g(k(max = 3) = 4);", "k = 4: must be <= 3, as max says"),
    "below a constant bound": ("constant Real q = 2; parameter Real y(min = 3*q) = 5;", r"M\.y = 5: must be >= 6"),
    "above a constant bound": ("constant Real q = 2; parameter Real y(max = 2*q) = 5;", r"M\.y = 5: must be <= 4"),
    "redeclaring a class that there is not": ("A a(redeclare model N = A2);", r"a \(A\) has no class 'N'; remove it"),
    "extending with a class that there is not": ("extends A(redeclare model N = A2);", "A has no class 'N'; remove it"),
    "redeclaring a class that is none to be": (
        "model C model N = A; N n; end C; C c(redeclare model N = A2);",
        r"N: is not replaceable \(declared at .*P\.mo, line \d+\)",
    ),
    "redeclaring in a library's part": (
        "Modelica.Mechanics.MultiBody.Parts.BodyBox b(r = {1, 0, 0}, frameTranslation(redeclare A r));",
        r"frameTranslation \(FixedTranslation\): nothing in FixedTranslation can be redeclared as 'r'; use a class",
    ),
    "a final parameter": ("model B final parameter Real k = 1; end B; B b(k = 2);", r"k: is final \(declared so at"),
    "a final constant of a base": ("model B final constant Real k = 1; end B; extends B(k = 2);", "k: is final"),
    "a final part": ("model B final A a(k = 3); end B; B b(a(k = 2));", "a: is final"),
    "a final modifier on the same line": ("model B extends A(final k = 3); end B; B b(k = 2);", "k: is final"),
    "one name with two values, by extends": (
        "model B parameter Real k = 3; end B; extends A; extends B;",
        "k: is 3 here and 1 where .* declares it; give both the same",
    ),
    "a name of the base again": ("extends A; parameter Real k = 3;", "k: is 3 here and 1 where"),
    "one base with two modifiers": ("extends A(k = 2); extends A(k = 4);", "k: is 4 here and 2 where"),
    "attributes that differ": (
        "model B parameter Real k(min = 0) = 1; end B; extends A; extends B;",
        "k.min: is 0 here and not given where",
    ),
    "a constant that a package has not": (
        "package N extends Q0(m = 5); end N; Real y = N.k;",
        "Q0 has no 'm'; remove it",
    ),
    "a final constant of a package": ("package N = Q(fixed = 5); Real y = N.fixed;", "fixed: is final"),
    "what is below a package's constant": ("package N = Q(R(a = 5)); Real y = N.k;", "R: of a package only constants"),
    "a package of a model": (
        "model B replaceable package N = Q; Real x = N.k; end B; B b(redeclare package N = Q4);",
        "N: the package of a model is not redeclared; write a model that names the other",
    ),
    "a package of a base": (
        "model B replaceable package N = Q; Real x = N.k; end B; extends B; redeclare package N = Q4;",
        "N: the package of a model is not redeclared",
    ),
    "an outer part's modifier": (
        "model B outer A e(k = 4); Real x = e.k; end B; inner A e; B b;",
        "e: is outer, and is",
    ),
    "a modifier of what is outer": (
        "inner A e; Asks s(e(k = 4));",
        "e: is outer, and is what its inner one is; modify",
    ),
    "an outer class": (
        "model B outer model N = A; N n; end B; inner model N = A2; B b;",
        "N: an outer class is not translated; write its whole name",
    ),
    "a variable that is not there": (
        "parameter Boolean on = false; Real y if on; Real z = y;",
        "y: does not exist with the present parameters",
    ),
    "a parameter that is not there": (
        "parameter Boolean on = false; parameter Real y = 3 if on; Real z = y;",
        "y: does not exist with the present parameters",
    ),
    "a record as a whole and by fields": (
        "parameter R r(a = 3) = R(1, 2);",
        "r: is given as a whole, and by its field",
    ),
    "a field that a record has not": ("Holds h(r(d = 3));", "r.d: the record has no 'd'; known: a, b"),
    "a field of a record in a function that it has not": (
        "function f input Real u; output Real y; protected R q(d = u); algorithm y := q.a; end f; Real y = f(1);",
        "R: the record has no 'd'; known: a, b",
    ),
    "a final field by its place": ("parameter F r = F(3, 4);", "F: the record has 1 fields"),
    "arguments of different sizes": (
        "parameter Real y[2] = product_({1, 2, 3}, {1, 2});",
        "product_: u, v have different sizes; give arrays of one size",
    ),
    "an argument of another size": (
        "Real y = first({1, 2, 3});",
        "u = an array of size 3: expected an array of size 2",
    ),
    "an argument of another size, as another says": (
        "Real y = summed(3, {1, 2});",
        "u = an array of size 2: expected .* 3",
    ),
    "a number for an array": ("Real y = first(1);", "u = 1: expected an array of size 2"),
    "a function's short array": ("Real y[2] = short(1);", "y = an array of size 2: expected an array of size 3"),
    "a function's array for a number": ("Real y[2] = wide(1);", "y = an array of size 2: expected a single value"),
    "a local of another size": ("Real y = inside(1);", "t = an array of size 3: expected an array of size 2"),
    "a literal of another type": (
        "Chooses c(e = E2.two);",
        "e = the literal E2.two: expected a literal of E, such as one",
    ),
    "a text for a literal": ('Chooses c(e = "two");', 'e = the string "two": expected a literal of E'),
    "literals of two types": (
        "parameter E e = E.one; Real y = if e == E2.one then 1 else 2;",
        "the literal E.one == the literal E2.one: these are of different types; compare literals of one type",
    ),
    "matrices of other sizes": (
        "Gives g; Many m; equation connect(g.y, m.u);",
        r"connect\(g.y, m.u\): is between an array of size 2 x 3 and an array of size 6; connect their elements",
    ),
    "elements of a matrix twice": (
        "Reads r; equation r.u[:, 1] = {1, 2}; r.u = [1, 2, 3; 4, 5, 6];",
        "r.u: is given a value here, and at .*; keep one",
    ),
    "a slice of another size": ("Reads r; equation r.u[:, 1] = {1, 2, 3};", "has 3 elements, the input has 2"),
    "a matrix whose rows contradict each other": (
        "Real x[2]; equation [2, 1; 4, 2]*x = {3, 5};",
        r"rows of `.*` contradict each other, whatever x are; correct one",
    ),
    "a matrix whose rows are the same": (
        "Real x[2]; equation [2, 1; 4, 2]*x = {3, 6};",
        "rows of `.*` say the same of x; write another equation",
    ),
    "a variable from around": ("Real q = time; Open a(x = q);", "q: lies outside of a .*; make it an input there"),
    "a model that is a library's component": (
        "extends Modelica.Blocks.Math.Gain(k = 2, u = 3);",
        "M: is derived from Gain of the library, and is one component; make it a component of a model",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_count_is_refused_by_name(text: str, said: str, path: pathlib.Path) -> None:
    write(path, text)
    with pytest.raises(ModelError, match=rf"P\.mo, line \d+: .*(?:{said})"):
        mbfmu.System.of(load(path, class_name="P.M"))


def test_a_bound_by_a_parameter_is_warned_of_as_it_is_not_checked(path: pathlib.Path) -> None:
    path.write_text("model M\nparameter Real q = 2;\nparameter Real y(max = 2*q) = 5;\nend M;\n", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"M?.*line 3: max = 2 \* q of y is not checked, as it is no constant"):
        assembly = load(path)
    assert np.asarray(assembly.value("y")) == 5


def test_unqualified_imports_of_one_name_are_refused(path: pathlib.Path) -> None:
    packages = "package P package A constant Real k = 3; end A; package B constant Real k = {}; end B; "
    model = "model M import P.A.*; import P.B.*; parameter Real y = k; end M; end P;\n"
    path.write_text(packages.format(4) + model, encoding="utf-8")
    with pytest.raises(ModelError, match=re.escape("k: is in P.A and in P.B, which are both imported with all they")):
        load(path, class_name="P.M")
