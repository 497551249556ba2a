"""Modelica files that cannot be read: what is said of them, and that nothing else happens."""

from __future__ import annotations

import pathlib
import random
import re
import tracemalloc
import warnings
from collections.abc import Callable

import pytest

import mbfmu
from mbfmu import cli
from mbfmu.errors import MbfmuError, ModelError
from mbfmu.importers.modelica import load, session

INERTIA = "Modelica.Mechanics.Rotational.Components.Inertia"

#: Text of a model from its second line on, the line of the mistake, and what the message says.
MISTAKES = [
    ("Real x\nend M;", 3, "expected"),
    ("end N;", 2, "`end N` closes `M`"),
    ("parameter Real x = ;\nend M;", 2, "cannot stand here"),
    (f"{INERTIA} a(J=1, mass=2);\nend M;", 2, "has no 'mass'"),
    (f"{INERTIA} a(J=true);\nend M;", 2, "expected a number"),
    (f"{INERTIA} a(J=b);\nend M;", 2, "nothing of this name is known"),
    (f"parameter Real mass = 1;\n{INERTIA} a(J=mas);\nend M;", 3, "is known here; did you mean mass"),
    (f"{INERTIA} a(J=-1);\nend M;", 2, "must be >= 0"),
    (f"{INERTIA} a;\nend M;", 2, "needs a value for J"),
    ("Modelica.Mechanics.Rotational.Components.Nothing a;\nend M;", 2, "that mbfmu does not have"),
    (f"{INERTIA}s a(J=1);\nend M;", 2, f"does not have; did you mean {INERTIA}?"),
    ("Modelica.Mechanics.MultiBody.Joints.Body a;\nend M;", 2, "did you mean Modelica.Mechanics.MultiBody.Parts.Body?"),
    ("Wheel a;\nend M;", 2, "class Wheel is not known here"),
    (f"{INERTIA} a(J=1);\nequation\nconnect(a.flange_a, a.flange_c);\nend M;", 4, "has no 'flange_c'"),
    (f"{INERTIA} a(J=1);\nequation\nconnect(a, a.flange_b);\nend M;", 4, "is a component; name its connector"),
    (
        f"{INERTIA} a(J=1);\nModelica.Blocks.Sources.Constant b(k=1);\nequation\nconnect(b.y, a.flange_a);\nend M;",
        5,
        "a.flange_a",
    ),
    (
        f"{INERTIA} a[2](each J=1);\nequation\nconnect(a[3].flange_a, a[1].flange_b);\nend M;",
        4,
        "the array has 2 elements",
    ),
    ("Modelica.Blocks.Sources.Constant a(k=1), b(k=2);\nequation\nconnect(a.y, b.y);\nend M;", 4, "both are sources"),
    (
        "Modelica.Blocks.Sources.Constant a(k=1);\nModelica.Blocks.Logical.Not b;\nequation\n"
        "connect(a.y, b.u);\nend M;",
        5,
        "put a RealToBoolean between them",
    ),
    ("parameter Real x = y;\nparameter Real y = x;\nend M;", 2, "circle"),
    ("parameter Real x[2] = {1, 2, 3};\nend M;", 2, "expected an array of size 2"),
    ("parameter Integer n = 1.5;\nend M;", 2, "expected a whole number"),
    ("parameter Real x = 1/0;\nend M;", 2, "division by zero"),
    ("parameter Real x;\nend M;", 2, "has no value"),
    ("parameter Real x = sin(time);\nend M;", 2, "time changes"),
    ("parameter Real x = {1, 2} + {1};\nend M;", 2, "the sizes differ"),
    ("parameter String s = 1;\nend M;", 2, "expected a text"),
    ('parameter String s = "a" + 1;\nend M;', 2, 'the string "a" is no number'),
    ('parameter String s = 1 + "a";\nend M;', 2, 'the string "a" is no number'),
    ("parameter Real x = nothing(1);\nend M;", 2, "no function nothing is known"),
    ("parameter Real x = fill(1.0, 10^9)*zeros(10^9);\nend M;", 2, "too large"),
    ("parameter Real x = sum(fill(1.0, 2, -1));\nend M;", 2, "-1 is no size; give a whole number from 0 on"),
    ("parameter Real x = sum(i for i in 1:10^9);\nend M;", 2, "too large"),
    ("Real x;\nequation\nx = if time then 1 else 2;\nend M;", 4, "time: is a number; a condition is true or false"),
    ("parameter Real p = 2;\nReal x = if p then 1 else 2;\nend M;", 3, "p: is a number"),
    ("Boolean x;\nequation\nx = not time;\nend M;", 4, "time: is a number"),
    ("Boolean x;\nequation\nx = time > 1 and time;\nend M;", 4, "time: is a number"),
    ("Integer y;\nequation\ny = 0.5;\nend M;", 4, "y is an Integer, and cannot have the value of a Real"),
    ("Boolean b, c;\nequation\nb = not c;\nc = b;\nend M;", 4, "is no Real, and stands on both sides, or in a sum"),
    ("Boolean b;\nequation\nb = not b;\nend M;", 4, "b is no Real"),
    ("Integer i;\nequation\n2*i = 3;\nend M;", 4, "i is no Real"),
    ("Real y;\nequation\ny = {time};\nend M;", 4, "an array of size 1 is given to y, which is a single value"),
    ("Integer y = time;\nend M;", 2, "y is an Integer"),
    ("Integer y;\nequation\n2*time = y;\nend M;", 4, "y is an Integer"),
    (
        "Boolean y;\nequation\ny = 1;\nend M;",
        4,
        "true or false on one side and a whole number on the other",
    ),
    ("Boolean y = time;\nend M;", 2, "is a number; expected a condition"),
    ("Real y = time > 1;\nend M;", 2, "is a condition, true or false; expected a number"),
    ("Real y;\nequation\ny = time > 1;\nend M;", 4, "a number on one side and a condition"),
    ("Boolean y;\nequation\ny = time > true;\nend M;", 4, "compares a number and a condition"),
    ("Boolean b = time > 1;\nReal y = b + 1;\nend M;", 3, "b + 1: b is a condition, true or false, and no number"),
    ("Boolean b = time > 1;\nReal y = sin(b);\nend M;", 3, "b is a condition"),
    ("Boolean b = time > 1;\nReal y = -b;\nend M;", 3, "b is a condition"),
    ("Boolean b = time > 1;\nReal y = sum({b, b});\nend M;", 3, "is a condition"),
    ("Real y = if time > 1 then 1 else true;\nend M;", 2, "one branch is a number"),
    ("Boolean b[2] = {time > 1, 3};\nend M;", 2, "3 is a whole number and another element is a condition"),
    (
        "Real y = f(time > 1);\nfunction f\ninput Real u;\noutput Real v;\nalgorithm\nv := u;\nend f;\nend M;",
        2,
        "u = time > 1: is a condition",
    ),
    (
        "Real y = f(time);\nfunction f\ninput Real u;\noutput Real v;\nalgorithm\nv := u > 1;\nend f;\nend M;",
        7,
        "v = u > 1: is a condition",
    ),
    (
        "Real y = f(time);\nfunction f\ninput Real u;\noutput Real v;\nprotected\nInteger k;\nalgorithm\n"
        "k := u;\nv := k;\nend f;\nend M;",
        9,
        "k is an Integer",
    ),
    ("parameter Real p = 1;\nparameter Real q = p > 0;\nend M;", 3, "is a condition, true or false; expected a number"),
    ("parameter Real p = 1;\nModelica.Blocks.Math.Gain g(k=p > 0);\nend M;", 3, "k = p > 0: is a condition"),
    ("Real x(start=1);\ninitial equation\nx = time > 1;\nequation\nder(x) = 1;\nend M;", 4, "a number on one side"),
    ('equation\nassert(time, "no");\nend M;', 3, "time: is a number"),
    ("Real x;\nequation\nwhen time > 1 then x = 2; end when;\nend M;", 4, "when-equations are not translated"),
    ("Real x;\nequation\nx^2 = 2;\nend M;", 4, "cannot be solved for x"),
    ("Real x;\nReal y;\nequation\nx = 1;\nend M;", 3, "no equation determines y"),
    ("Real x = 1;\nReal x = 2;\nend M;", 3, "x: is declared twice"),
    ("parameter Real x = 1;\nparameter Real x = 2;\nend M;", 3, "x: is declared twice"),
    ("Real x;\nequation\nx = 1;\nx = 2;\nend M;", 5, "determines nothing"),
    ("Real x;\nequation\nx = pre(x);\nend M;", 4, "needs discrete equations"),
    ("Real q;\nReal r;\nequation\nq + r = 1;\n2*q + 2*r = 2;\nend M;", 5, "say the same of q, r"),
    ("Real q;\nReal r;\nequation\n0.1*q + 0.2*r = 1;\n0.3*q + 0.6*r = time;\nend M;", 5, "contradict each other"),
    (
        "Real q;\nReal r;\nReal x(start=1);\nequation\nder(x) = q;\nq + x*r = 1;\n2*q + 2*x*r = 2;\nend M;",
        7,
        "say the same",
    ),
    ("parameter Real a = 1;\nReal q;\nequation\n(a - 1)*q = 1;\nend M;", 5, "is no condition on q, whose factor is 0"),
    (
        "parameter Real a = 1;\nReal x[2] = Modelica.Math.Matrices.solve({{a, 2}, {2*a, 4}}, {1, time});\nend M;",
        3,
        "depend on each other",
    ),
    (
        f"{INERTIA} j(J=1, phi(start=0.5, fixed=true));\ninitial equation\nj.phi = 2;\nend M;",
        4,
        "starts with 0.5 already",
    ),
    (f"{INERTIA} j(J=1);\ninitial equation\nj.phi = 2;\n1 = j.phi;\nend M;", 5, "starts with 2 already"),
    (
        f"parameter Real a = 0.5;\n{INERTIA} j(J=1, phi(start=a, fixed=true));\ninitial equation\nj.phi = 2;\nend M;",
        5,
        "starts with 0.5 already",
    ),
    ("Real x;\nalgorithm\nx := 1;\nx := x + 1;\nend M;", 5, "the order of this algorithm matters at x"),
    ("Real x;\nalgorithm\nwhile x < 1 loop\nx := x + 1;\nend while;\nend M;", 4, "statement of an algorithm"),
    ("Real x;\nalgorithm\nwhen x > 1 then\nx := 0;\nend when;\nend M;", 4, "what a when-statement decides"),
    ("model N parameter Real p = 1; end N;\nN a(final p=2);\nextends N(q=2);\nend M;", 4, "has no 'q'"),
    ("partial model N end N;\nN a;\nend M;", 3, "is partial"),
    ("model A parameter Real p = 1; end A;\nmodel B extends A(final p=2); end B;\nB b(p=3);\nend M;", 4, "is final"),
    ("M a;\nend M;", 2, "contains itself"),
    ("model A B b; end A;\nmodel B A a; end B;\nA a;\nend M;", 3, "contains itself"),
    ("parameter Real x = sum(fill(1.0, 900, 900)*fill(1.0, 900, 900));\nend M;", 2, "too large"),
    ("extends M;\nend M;", 1, "derived from itself"),
    (f"replaceable {INERTIA} a(J=1);\n{INERTIA} b(redeclare {INERTIA} c(J=1));\nend M;", 3, "redeclared"),
]


def function(body: str, declared: str = "Real a;") -> str:
    """A model with a function that is called by a number; its algorithm begins in line 9."""
    return (
        f"parameter Real x = f(1);\nfunction f\ninput Real u;\n"
        f"output Real v;\nprotected\n{declared}\nalgorithm\n{body}\n"
        "end f;\nend M;"
    )


CONSTANT = "Modelica.Blocks.Sources.Constant"
GAIN = "Modelica.Blocks.Math.Gain"
CYLINDER = "Modelica.Mechanics.MultiBody.Parts.BodyCylinder"
WORLD = "inner Modelica.Mechanics.MultiBody.World world;\n"

#: The same of what is refused: functions, equations, classes, parts and connections.
REFUSED = [
    # algorithms of functions
    (
        function("when u > 1 then\nv := 1;\nend when;"),
        9,
        "a when-statement cannot be translated; write assignments, if, for or while",
    ),
    (function("terminate(u);"), 9, "terminate: is called for what it does; functions here only give values"),
    (function("if u then\nv := 1;\nend if;"), 9, "u: is a number; a condition is true or false"),
    (function("while u loop\nv := 1;\nend while;"), 9, "u: is a number; a condition is true or false"),
    (function("b := u;"), 9, "b: cannot be assigned; it is no variable of this function"),
    (function("a[1] := u;"), 9, "a[1]: is no array"),
    (function("a.b := u;"), 9, "a.b: is no record"),
    (function("a[1:2] := {1, 2, 3};", "Real a[3];"), 9, "a[1:2]: the sizes of both sides differ"),
    (function("a[4] := 1;", "Real a[3];"), 9, "the index is 4, the array has 3 elements"),
    (
        function("v := f(u - 1);"),
        9,
        "f: calls go more than 40 deep; functions that call themselves end sooner or never",
    ),
    (function("v := a;", "Gear a;"), 7, "class Gear is not known here"),
    (function("v := 1;", f"{INERTIA} a;"), 7, "a: a function has variables of scalar types and records"),
    (
        function("(a, v, v) := sin(u);"),
        9,
        "(a, v, v) = sin(u): 3 variables on the left, but the function has 1 outputs; remove the last",
    ),
    (
        "parameter Real p = 1;\nparameter Real x = f(p);\nfunction f\ninput Real u;\noutput Real v = 0;\n"
        "algorithm\nfor i in 1:3 loop\nif u > 2 then\nbreak;\nend if;\nend for;\nend f;\nend M;",
        9,
        "break and return cannot depend on what changes; compute a value instead",
    ),
    (
        "parameter Real p = 1;\nparameter Real x = f(p);\nfunction f\ninput Real u;\noutput Real v = 0;\n"
        'protected\nString s;\nalgorithm\nif u > 2 then\ns := "a";\nend if;\nend f;\nend M;',
        3,
        "a text cannot depend on what changes",
    ),
    (
        'parameter Real x = f(1);\nfunction f\ninput Real u;\nalgorithm\nassert(true, "");\nend f;\nend M;',
        2,
        "f: has no output",
    ),
    (
        'parameter Real x = f(1);\nfunction f\ninput Real u;\noutput Real v;\nexternal "C" v = sin(u);\nend f;\nend M;',
        2,
        "f: is an external function (declared at",
    ),
    (
        "parameter Real x = f(1);\nfunction f\nextends g;\nend f;\nend M;",
        4,
        "function g is not known; put its file beside this one",
    ),
    (
        "parameter Real x = f(1);\nfunction f = der(g, u);\nend M;",
        3,
        "functions that are partial derivatives (der) are not read",
    ),
    # equations
    ("Real x;\nequation\nx;\nend M;", 4, "`x` is no equation; write it as `left = right`"),
    ("Real x;\nequation\nx = {1, time}*{1};\nend M;", 4, "the sizes do not fit"),
    ("Real x[2];\nequation\nx = {1, time, 2};\nend M;", 4, "2 elements on one side, 3 on the other"),
    (
        "Real x, y;\nfunction f\ninput Real u;\noutput Real a = u;\n"
        "output Real b = u;\nend f;\nequation\n(x, y) = f(time);\nend M;",
        9,
        "functions with several outputs are not translated in equations; write a function for each",
    ),
    (
        "Real x;\nequation\nif time > 1 then\nx = 1;\nend if;\nend M;",
        4,
        "the branches of this if-equation must have equally many equations",
    ),
    (
        "Real x, y;\nequation\nif time > 1 then\nx = 1;\nelse\ny = 1;\nend if;\nend M;",
        4,
        "the branches of this if-equation determine different variables",
    ),
    (
        "Real x;\nequation\nx = if time == 1 then 1 else 2;\nend M;",
        4,
        "Real values that change are never compared for equality; use <, <=, > or >=",
    ),
    (
        "Real x;\nequation\nx = floor(time);\nend M;",
        4,
        "floor jumps without end; only parameters can go through it here",
    ),
    (
        "Real x;\nequation\nx = if x > 1 then 1 else 2*x;\nend M;",
        4,
        "the condition depends on what the equation determines; break the circle",
    ),
    ("Real x;\nequation\nx = der(time > 1);\nend M;", 4, "time > 1 is a condition, true or false, and no number"),
    ("Real x;\nequation\nx = der(1, 2);\nend M;", 4, "der takes one argument"),
    ('Real x;\nequation\nx = der("a");\nend M;', 4, '"a" is a text, and no number'),
    ("Real x = time;\nequation\nprint(x);\nend M;", 4, "print: this call is no equation that is translated"),
    (
        "Real x = time;\nequation\nConnections.root(x);\nend M;",
        4,
        "Connections.root: is not translated; write a joint with Python equations",
    ),
    (
        "Real x = time;\ninitial equation\nfor i in 1:2 loop\nif x > 1 then\nx = 1;\nend if;\nend for;\nend M;",
        5,
        "an initial equation is `x = ...` or `der(x) = ...`",
    ),
    (
        "Real x[2](each start=1);\ninitial equation\nx = {1, 2, 3};\nequation\nder(x) = {1, 1};\nend M;",
        4,
        "2 elements on one side, 3 on the other",
    ),
    (
        "Modelica.Blocks.Interfaces.RealOutput y[2];\nReal x;\n"
        + f"{CONSTANT} c(k=1);\nequation\nconnect(c.y, y[1]);\nx = y[2];\nend M;",
        7,
        "y: no connection feeds this output, or only part of it",
    ),
    (f"{GAIN} g(k=1);\n{CONSTANT} c(k=1);\nequation\nconnect(c.y, g.u);\ng.u = 2;\nend M;", 6, "determines nothing"),
    # classes
    (
        f"extends {INERTIA}(J=1);\nReal x = time;\nend M;",
        3,
        "M: adds to Inertia of the library, from which it is derived; make that class a component beside",
    ),
    (
        f"extends {INERTIA}(J=1);\nextends {GAIN}(k=1);\nend M;",
        3,
        "M: is derived from two component classes of the library; keep one",
    ),
    (f"extends {INERTIA}(J=1);\nequation\nflange_a.phi = 0;\nend M;", 4, "M: adds to Inertia of the library"),
    ("type T = Real;\nextends T;\nend M;", 3, "M: extends Real, which is a scalar; a model extends models"),
    ("initial algorithm\nx := 1;\nend M;", 3, "M: an initial algorithm is not translated; write initial equations"),
    (
        f"model N {INERTIA} a(J=1); end N;\nN n(redeclare {INERTIA} a(J=2));\nend M;",
        3,
        "a: is not replaceable (declared at",
    ),
    (
        "partial model A parameter Real p = 1; end A;\n"
        "partial model B parameter Integer p = 1; end B;\nextends A;\nextends B;\nend M;",
        3,
        "p: is declared here and, otherwise, at",
    ),
    ("package P end P;\nP p;\nend M;", 3, "P: is a package; a component is of a model, block, type or connector"),
    ("connector K Real v; flow Real i; end K;\nK k;\nend M;", 3, "K: is a connector of your own (declared at"),
    ("type A = B;\ntype B = A;\nA a;\nend M;", 2, "M.B: its definition leads back to itself"),
    ("Modelica.Icons.Package a;\nend M;", 2, "is an icon; an icon is extended, not declared"),
    ('String s = "a";\nend M;', 2, "s: a text cannot change while a model runs; declare it as parameter"),
    ("Real x[:];\nequation\nx = {time};\nend M;", 2, "x[:]: has no value that tells its size"),
    ("parameter Real x[-1] = {1};\nend M;", 2, "-1 is no size; give a whole number from 0 on"),
    ("parameter Real x[end] = {1};\nend M;", 2, "end: `end` stands in subscripts only"),
    ("parameter Real x = sum(x);\nend M;", 2, "x: its value leads back to itself; break the circle"),
    ("constant Integer n = n;\nparameter Real x[n] = {1};\nend M;", 2, "n: its value depends on itself"),
    (
        "package P constant Real a = b; constant Real b = a; end P;\nparameter Real x = P.a;\nend M;",
        2,
        "depends on itself",
    ),
    (
        "package P constant Real a; end P;\nparameter Real x = P.a;\nend M;",
        3,
        "P.a: is no constant with a value (declared at",
    ),
    (
        "constant Real a(fixed=false, start=1);\nparameter Real x = a;\nend M;",
        2,
        "a: only a parameter of type Real can have fixed = false",
    ),
    ("outer Real g;\nReal x = g;\nend M;", 3, "g: is outer, but no model around M declares it as inner; add it there"),
    (
        "Real x = time;\nparameter Real p = x;\nend M;",
        3,
        "x: changes while the model runs; a parameter, size or start value cannot depend on it",
    ),
    (
        f"{INERTIA} a(J=1);\nparameter Real p = a.w;\nend M;",
        3,
        "a.w: changes while the model runs; a parameter or modifier cannot depend on it",
    ),
    (f"{INERTIA} a(J=1);\nReal p = a;\nend M;", 3, "a: is a component, not a value; name one of its variables"),
    (
        f"{INERTIA} a(J=1);\nReal p = a.flange_a;\nend M;",
        3,
        "a.flange_a: is a connector, not a value; name one of its variables",
    ),
    (f"{INERTIA} a(J=1);\nReal p = a.flange_a.psi;\nend M;", 3, "the connector flange_a has no 'psi'"),
    (
        f"parameter Boolean has = false;\n{INERTIA} a(J=1) if has;\nReal p = a.w;\nend M;",
        4,
        "a.w: does not exist with the present parameters",
    ),
    # parts and connections
    (f"{INERTIA} a[20000](each J=1);\nend M;", 2, "a: an array of 20000 components is too large"),
    ("record R Real p; end R;\nR r = 1;\nend M;", 3, "r = 1: expected a record"),
    (
        f"{INERTIA} a[2](each J=1);\n{INERTIA} b[3](each J=1);\nequation\nconnect(a.flange_a, b.flange_a);\nend M;",
        5,
        "connect(a.flange_a, b.flange_a): 2 elements on one side, 3 on the other",
    ),
    (
        f"{INERTIA} a(J=1);\nparameter Real p = 1;\nequation\nconnect(a.flange_a, p);\nend M;",
        5,
        "connect(a.flange_a, p): p is no connector",
    ),
    (
        f"expandable connector B end B;\nB b;\n{INERTIA} a(J=1);\nequation\nconnect(a.flange_a, b.f);\nend M;",
        6,
        "a bus takes single signals of parts; connect others directly",
    ),
    (f"{INERTIA} a(J=1, flange_a=1);\nend M;", 2, "a.flange_a: is a connector; connect it"),
    (
        f"{INERTIA} a(J=1, w=1);\nend M;",
        2,
        "w = ...: a variable of a library component is computed by the component; give its start value",
    ),
    (f"{INERTIA} a(J=1, w(fixed=1));\nend M;", 2, "w(fixed=...): is true or false"),
    (f"{INERTIA} a(J=1, w(begin=1));\nend M;", 2, "w has no attribute 'begin'; "),
    (
        "parameter Real p = 1;\nModelica.Blocks.Math.MatrixGain g(K={{{1, p}}});\nend M;",
        3,
        "K = an array of size 1 x 1 x 2: an array of 3 dimensions cannot be a parameter or a variable; give a vector",
    ),
    (f"{INERTIA} a(J={{1, 2}});\nend M;", 2, "expected a number in kg.m2, got shape (2,)"),
    (
        f"parameter Real p = 1;\n{INERTIA} a(J={{p, 2}});\nend M;",
        3,
        "J = {p, 2}: is an array of size 2, expected a single number",
    ),
    ('Real x(start="a");\nequation\nder(x) = 1;\nend M;', 2, "x: its start value 'a' is text; give a number"),
    ("Real x(start=true);\nequation\nder(x) = 1;\nend M;", 2, "x: its start value true is no number"),
    ("Integer x(start=0.5) = 2;\nend M;", 2, "x: its start value 0.5 is no whole number"),
    ("Boolean x(start=1) = time > 1;\nend M;", 2, "x: its start value 1 is neither true nor false"),
    ("Real x(fixed=1);\nequation\nder(x) = 1;\nend M;", 2, "x: fixed = 1 is neither true nor false"),
    ('annotation(experiment(StopTime="a"));\nend M;', 2, "experiment(StopTime=...): give a number"),
    # syntax
    ("parameter Real x[2] = {a = 1, 2};\nend M;", 2, "an array has no names; remove `a =`"),
    ("parameter Real x = f(model g());\nend M;", 2, "cannot stand here"),
    (
        'function f input Real u; output Real y; external "C" y = sin(u); annotation(Inline=true); end f;\n'
        "parameter Real x = f(1);\nend M;",
        3,
        "f: is an external function",
    ),
    *(
        (
            "function f input Real u; input Boolean b; output Real y; algorithm y := u; end f;\n"
            f"parameter Real x = f({arguments});\nend M;",
            3,
            f"{said}; expected a",
        )
        for arguments, said in (
            ("true, true", "u = true: is a condition, true or false"),
            ("b=true, u=false", "u = false: is a condition, true or false"),
            ("1, b=2", "b = 2: is a whole number"),
        )
    ),
    (
        "model A parameter Boolean p; end A;\nA a(p=1);\nend M;",
        3,
        "p = 1: is a whole number; expected a condition, true or false",
    ),
    ("model A parameter String p; end A;\nA a(p=1);\nend M;", 3, "p = 1: is a whole number; expected a text"),
    (
        "model A parameter Real p; end A;\nA a[3](p={1, 2});\nend M;",
        3,
        "{1, 2}: has 2 elements, the array of components has 3; give one for each component, or write `each`",
    ),
    ("model A parameter Real p; end A;\nA a(q=1);\nend M;", 3, "a (A) has no 'q'; known: p"),
    ("record R Real p; end R;\nparameter R r = R(1, 2);\nend M;", 3, "R: the record has 1 fields"),
    ("record R Real p; end R;\nparameter R r = R(q=2);\nend M;", 3, "R: the record has no 'q'; "),
    (
        "record R Real p; end R;\nparameter R r = R(1);\nparameter Real x = r.q;\nend M;",
        4,
        "r.q: the record has no 'q'; ",
    ),
    (
        f"{WORLD}Modelica.Mechanics.MultiBody.Parts.Body b(m=1, r_CM={{0, 0, 0}});\n"
        f"Real x = b.frame_a.R.S[1, 1];\nend M;",
        4,
        "an orientation object has T and w, no 'S'",
    ),
    (f"{WORLD}{CYLINDER} b(r={{1, 0, 0}}, body(mm=1));\nend M;", 3, "body (Body) has no 'mm'; did you mean m?"),
    (
        f"{WORLD}{CYLINDER} b(r={{1, 0, 0}}, body(frame_a=1));\nend M;",
        3,
        "body (Body) has no 'frame_a'; see `mbfmu list`",
    ),
    (f"{WORLD}{CYLINDER} b(r={{1, 0, 0}}, world(g=1));\nend M;", 3, "b: BodyCylinder has no 'world'; see `mbfmu list`"),
    (
        "parameter Real p(fixed=false, start=2);\nparameter Integer n = integer(p);\n"
        "Real x[n] = {time};\ninitial equation\np = 1;\nend M;",
        3,
        "p is found at the start of a run, but needed when the model is made",
    ),
    (f"{GAIN} g(k=1);\nequation\ng.u = time;\ng.u = 2*time;\nend M;", 5, "g.u: is given a value here, and at "),
    (
        f"{GAIN} g(k=1, u=time);\n{CONSTANT} c(k=1);\nequation\nconnect(c.y, g.u);\nend M;",
        2,
        "g.u: is given a value here, and connected at",
    ),
    (
        f"{CONSTANT} c(k=1);\nModelica.Blocks.Interfaces.RealInput u[2];\nequation\nconnect(c.y, u[1]);\nend M;",
        5,
        "c.y and u are connected, but both are sources; connect an output with inputs",
    ),
    (f"{INERTIA} a(J=b.J), b(J=a.J);\nend M;", 2, "a: what it is modified with depends on itself"),
    (f"{INERTIA} a(J=size(b, 1)), b[integer(a.J)](each J=1);\nend M;", 2, "depends on itself"),
    ("model A Real x = time; end A;\nA a;\nequation\na.x = 1;\nend M;", 5, "determines nothing"),
    (
        "model A Real x; end A;\nA a;\nequation\na.x = time;\nend M;",
        5,
        "determines nothing: all in it is known already",
    ),
    (
        "record R Real p; end R;\nReal x;\nequation\nx = R(1);\nend M;",
        5,
        "x = R(1): a record is no number; equations are between numbers",
    ),
    ('Real x;\nequation\nx = "a";\nend M;', 4, "is a number on one side and a text on the other"),
    (
        "Real x[2];\nequation\nx + {1, 2, 3} = {time, 1, 2};\nend M;",
        4,
        "x + {1, 2, 3}: an array of size 2 + an array of size 3: the sizes differ",
    ),
    (
        "Real x[2];\nequation\nx*x = time;\nend M;",
        4,
        "cannot be solved for x; write equations as `x = ...` or `der(x) = ...`, one for each unknown",
    ),
    (
        "replaceable function f = Modelica.Math.sin;\nparameter Real x = f(1);\nend M;",
        2,
        "function Modelica.Math.sin is not known; put its file beside this one",
    ),
    ("function f = f;\nparameter Real x = f(1);\nend M;", 3, "f: its text cannot be found"),
    ("record R = R;\nparameter R r = R(1);\nend M;", 2, "leads back to itself"),
    ("type E = enumeration(a, b);\nE.a x;\nend M;", 3, "M.E.a: is no class"),
    (
        "block A\nModelica.Blocks.Interfaces.RealOutput y = z;\nouter Real z;\nend A;\nA a;\nend M;",
        3,
        "z: is outer, but no model around a (A) declares it as inner",
    ),
    (
        f"model A outer {INERTIA} i; Real y = i.w; end A;\nA a;\ninner {INERTIA} i(J=1);\nend M;",
        2,
        "lies outside of a (A), whose equations can only read its own parts",
    ),
    (
        "partial model P end P;\nmodel N extends P; end N;\nreplaceable model R = P;\nR r;\nend M;",
        5,
        "P is partial (declared at",
    ),
    ("Real x = if time > 1 then {1, 2} else 3;\nend M;", 2, "the branches have different sizes"),
    (
        "parameter Boolean b = true;\nparameter Real x = if b then 1 else {2, 3};\n"
        "parameter Real y = if b == 1 then 1 else 2;\nend M;",
        4,
        "b == 1: true == 1: these cannot be compared",
    ),
    (
        "Modelica.Mechanics.MultiBody.Parts.Body b(m=1, r_CM={0, 0, 0});\nparameter Real x = b.m + b;\nend M;",
        3,
        "b: is a component, not a value",
    ),
    (f"{INERTIA} a(J=1) if 3;\nend M;", 2, "3: is 3; a condition is true or false"),
    (f"{INERTIA} a(J=1) if false;\nReal y = a.w[1];\nend M;", 3, "a.w[1]: does not exist with the present parameters"),
    ("parameter Real k = 2;\nReal y = k.z;\nend M;", 3, "k.z: an expression has no 'z'"),
    ("record R\nReal p = 1;\nend R;\nR r;\nReal b = der(r);\nend M;", 6, "der(r): a record has no derivative"),
    (
        function("if {true, false} then\nv := 1;\nend if;"),
        9,
        "{true, false}: is an array of size 2; a condition",
    ),
    (
        "Modelica.Blocks.Math.Sum s(nin=2, u={1, 2, 3}*time);\nend M;",
        2,
        "{1, 2, 3} * time: has 3 elements, the input has 2",
    ),
    ("Real x, y;\nequation\nx + y = {1, 2}*time;\nx - y = 0;\nend M;", 4, "1 elements on one side, 2 on the other"),
    (
        "parameter Real p[3] = Modelica.Mechanics.MultiBody.Frames.resolve1(\n"
        "Modelica.Mechanics.MultiBody.Frames.axisRotation(4, 0.5, 0), {1, 0, 0});\nend M;",
        3,
        "axis = 4: expected 1, 2 or 3",
    ),
    (
        "A a(\nredeclare function f = Modelica.Math.exp);\nmodel A\nreplaceable function f = g;\n"
        "Real y = f(time);\nend A;\nfunction g\ninput Real u;\noutput Real v = u;\nend g;\nend M;",
        3,
        "function Modelica.Math.exp is not in your files; write it in Modelica",
    ),
    (
        f"B b;\nmodel A\nreplaceable model P\n{INERTIA} a(J=1);\nend P;\nP p;\nend A;\nmodel B\nextends A;\n"
        "redeclare model extends P(a(J=2))\nend P;\nend B;\nend M;",
        11,
        "`redeclare model extends` is not translated; redeclare by a class",
    ),
    (
        "Real x(start=0.5, fixed=true);\nparameter Real p = x;\nequation\nder(x) = 1;\nend M;",
        3,
        "x: changes while the model runs",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "line", "said"), [*MISTAKES, *REFUSED])
def test_mistakes_are_told_with_file_and_line(text: str, line: int, said: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "M.mo"
    path.write_text(f"model M\n{text}\n", encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        mbfmu.System.of(load(path))
    assert f"{path}, line {line}: " in str(caught.value)
    assert said in str(caught.value)


def test_all_missing_classes_are_listed_at_once(tmp_path: pathlib.Path) -> None:
    (tmp_path / "Part.mo").write_text(
        "model Part\n  Modelica.Fluid.Pipes.StaticPipe pipe;\nend Part;\n", encoding="utf-8"
    )
    path = tmp_path / "M.mo"
    path.write_text(
        "model M\n  parameter Real x = unknown;\n  Modelica.Magnetic.FluxTubes.Basic.Ground g;\n  Part part;\nend M;\n",
        encoding="utf-8",
    )
    with pytest.raises(ModelError) as caught:
        load(path)
    message = str(caught.value)
    assert "2 classes of the Modelica library" in message
    assert f"{path}, line 3: Modelica.Magnetic.FluxTubes.Basic.Ground" in message
    assert f"{tmp_path / 'Part.mo'}, line 2: Modelica.Fluid.Pipes.StaticPipe" in message


def test_a_file_with_several_models_asks_which(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "P.mo"
    path.write_text("package P model A end A; model B end B; end P;", encoding="utf-8")
    with pytest.raises(ModelError, match=r"has 2 models; say which: .*P\.mo:P\.A, .*P\.mo:P\.B"):
        load(path)
    assert load(path, class_name="B").name == "B"
    with pytest.raises(ModelError, match=r"P\.mo: P is a package; give a model or block"):
        load(path, class_name="P")
    with pytest.raises(ModelError, match=r"did you mean P\.A"):
        load(path, class_name="P.AA")
    assert cli.main(["info", f"{path}:P.C"]) == 2
    assert "has no model P.C" in capsys.readouterr().err


def test_a_file_of_a_class_that_mbfmu_has_itself_is_read_by_its_names(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "DirectInertia.mo"
    path.write_text(
        "within Modelica.Mechanics.Rotational.Examples.Utilities;\nmodel DirectInertia\n"
        f"  {INERTIA} j(J=7, phi(fixed=true), w(fixed=true));\nend DirectInertia;\n",
        encoding="utf-8",
    )
    for name in ("DirectInertia", "Modelica.Mechanics.Rotational.Examples.Utilities.DirectInertia"):
        assembly = mbfmu.load(f"{path}:{name}")
        assert assembly.parts["j"].value("J") == 7
    with pytest.raises(ModelError, match="has no model ''; known: Modelica"):
        mbfmu.load(f"{path}:")


def test_what_is_the_model_s_own_is_told_by_its_name_alone(tmp_path: pathlib.Path) -> None:
    def message(text: str) -> str:
        path = tmp_path / "M.mo"
        path.write_text(f"model M\n{text}\nend M;\n", encoding="utf-8")
        with pytest.raises(MbfmuError) as caught:
            mbfmu.simulate(load(path), 1.0)
        return str(caught.value)

    driven = """Modelica.Blocks.Interfaces.RealInput phi1;
        Modelica.Mechanics.Rotational.Sources.Position position(exact=true);
        equation connect(phi1, position.phi_ref);"""
    assert message(driven).startswith("phi1: the equations need the derivative of an FMU input")
    checked = 'Real x(start=0, fixed=true); equation der(x) = 1; assert(x < 0.5, "too far");'
    assert f": {tmp_path / 'M.mo'}, line 2: too far" in message(checked)
    assert ": : " not in message(checked)


def test_long_texts_and_comments_take_room_in_proportion_and_may_hold_brackets(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "M.mo"
    size = 300_000
    path.write_text(
        f'model M "{"(" * size}"\n/* {"[*" * size} */ parameter String s = "{chr(92)}"{"{" * size}";\n'
        "Real x(start=0, fixed=true); equation der(x) = 1; end M;",
        encoding="utf-8",
    )
    load(tmp_path / "M.mo")  # makes the parser
    tracemalloc.start()
    try:
        assembly = load(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(assembly.value("s")) == size + 1
    assert most < 40 * size
    path.write_text(f"model M\n/* {'(' * size}\nend M;", encoding="utf-8")
    with pytest.raises(ModelError, match=r"line 2: '/' cannot stand here"):
        load(path)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"\x00" * 50, b"(" * 5000, b"model" * 2000, b'"' * 999])
def test_what_is_no_modelica_is_refused(content: bytes, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "M.mo"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="line 1"):
        load(path)
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path / "none.mo")


WORDS = "equation end model connect if then else for in loop ; , ( ) { } [ ] = + - * ^ 1 0 -1 1e400 each final extends"
WORDS += " true Real Integer inner outer start fixed n.x a[1] : time der(x) {1,2} redeclare parameter"


def mutated(text: str, chance: random.Random) -> str:
    """A text with some tokens taken out, put in, exchanged, or cut off."""
    tokens = re.findall(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\d+\.?\d*|\s+|.', text, re.DOTALL)
    for _ in range(chance.choice([1, 1, 2])):
        place = chance.randrange(len(tokens))
        kind = chance.random()
        if kind < 0.2:
            del tokens[place]
        elif kind < 0.4:
            tokens.insert(place, chance.choice(WORDS.split()))
        elif kind < 0.7:
            tokens[place] = chance.choice(tokens)
        elif kind < 0.95:
            tokens[place] = chance.choice(WORDS.split())
        else:
            del tokens[place:]
        tokens = tokens or ["x"]
    return "".join(tokens)


@pytest.mark.slow
def test_mutated_files_give_a_model_or_an_error_with_a_place(
    root: pathlib.Path, tmp_path: pathlib.Path, campaign: Callable[[int, int], int]
) -> None:
    text = (root / "fmus" / "gantry_crane" / "GantryCrane.mo").read_text(encoding="utf-8")
    path = tmp_path / "GantryCrane.mo"
    chance = random.Random(17)
    models, messages = 0, []
    for _ in range(campaign(80, 1000)):
        path.write_text(mutated(text, chance), encoding="utf-8")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                load(path)
            models += 1
        except MbfmuError as error:
            messages.append(str(error))
    assert [m for m in messages if not re.search(r", line \d+: ", m)] == []
    assert models > 4


def test_a_loop_without_end_is_given_up(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MOST_STEPS", 1000)
    path = tmp_path / "M.mo"
    body = "while true loop\nv := v + 1;\nend while;"
    path.write_text(f"model M\n{function(body)}\n")
    said = "more than 1000 expressions have been evaluated; make loops and arrays smaller"
    with pytest.raises(ModelError, match=rf"M\.mo, line (9|10): {said}"):
        load(path)
