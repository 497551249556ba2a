"""The record of equations keeps to the contract, and the runtime's Python files to what FMUs bring along."""

from __future__ import annotations

import ast
import dataclasses
import pathlib
import sys

import casadi as ca
import pytest
from hand_made_models import everything, oscillator

from mbfmu.runtime import contract, library

#: What a Python-hosted FMU copies: they import nothing but the standard library.
COPIED = [pathlib.Path(library.__file__)]


@pytest.mark.parametrize("file", COPIED, ids=lambda file: file.name)
def test_what_fmus_copy_imports_the_standard_library_only(file):
    for node in ast.walk(ast.parse(file.read_text())):
        roots = []
        if isinstance(node, ast.Import):
            roots = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, ast.unparse(node)
            roots = [(node.module or "").split(".")[0]]
        assert set(roots) <= set(sys.stdlib_module_names), ast.unparse(node)


def test_sizes_are_those_of_the_functions():
    e = everything()[0]
    found = {name: getattr(e, name) for name in ("nq", "nv", "nz", "nx", "nw", "nu", "npar", "nd", "nl", "ng", "nm")}
    assert found == {
        "nq": 6, "nv": 5, "nz": 1, "nx": 12, "nw": 6, "nu": 1, "npar": 6, "nd": 1, "nl": 1, "ng": 1, "nm": 2,
    }  # fmt: skip
    assert (e.nt, e.ny, e.ne, e.nh, e.nX, e.nr) == (2, 3, 0, 1, 13, 4)
    with pytest.raises(AttributeError, match="nothing"):
        _ = e.nothing


@pytest.mark.parametrize("name", contract.REQUIRED)
def test_functions_that_break_the_contract_are_named(name):
    equations = oscillator()[0]
    old = equations.functions[name]
    arguments = [ca.SX.sym(f"a{i}", old.size1_in(i)) for i in range(old.n_in())]
    results = old.call(arguments)
    broken = {
        "longer": ca.Function(name, [*arguments[:-1], ca.vertcat(arguments[-1], ca.SX.sym("more", 7))], results),
        "without": ca.Function(name, arguments, results[:-1]),
    }
    for function in broken.values():
        with pytest.raises(ValueError, match=r"oscillator: \w+ (maps|has) "):
            dataclasses.replace(equations, functions={**equations.functions, name: function})
    missing = {key: value for key, value in equations.functions.items() if key != name}
    with pytest.raises(ValueError, match=f"oscillator: the function {name} is missing"):
        dataclasses.replace(equations, functions=missing)


def test_sparse_results_are_named():
    equations = oscillator()[0]
    sparse = ca.Function("guess", [ca.SX.sym("P", 5)], [ca.SX(2, 1)])
    with pytest.raises(ValueError, match=r"oscillator: guess has sparse results \[0\]; all must be dense"):
        dataclasses.replace(equations, functions={**equations.functions, "guess": sparse})
