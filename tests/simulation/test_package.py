"""The runtime stands on its own: it is copied into FMUs without the rest of the house."""

from __future__ import annotations

import ast
import dataclasses
import pathlib
import sys

import casadi as ca
import numpy as np
import pytest
from hand_made_models import bouncing_mass, oscillator
from mbfmu.runtime.functions import Workspace

import mbfmu.runtime
from mbfmu.runtime import Equations, Instance

FILES = sorted(pathlib.Path(mbfmu.runtime.__file__).parent.glob("*.py"))
ALLOWED = {"numpy", "scipy", "casadi"} | set(sys.stdlib_module_names)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_only_relative_imports_and_the_three_packages(file):
    tree = ast.parse(file.read_text())
    late = {node for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)}
    typing_only = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        roots = []
        if isinstance(node, ast.Import):
            roots = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1
            roots = [node.module.split(".")[0]] if node.level == 0 else []
        allowed = ALLOWED | {"matplotlib"} if node in late else ALLOWED
        assert set(roots) <= allowed, ast.unparse(node)


@pytest.mark.parametrize("make", [lambda: oscillator()[0], bouncing_mass])
def test_saved_equations_run_the_same(make, tmp_path):
    equations = make()
    equations.save(tmp_path)
    loaded = Equations.load(tmp_path)
    assert loaded == equations
    results = []
    for each in (equations, loaded):
        instance = Instance(each)
        instance.finish_initialisation()
        instance.do_step(1.0)
        results.append(instance.values("x"))
    np.testing.assert_array_equal(*results)


def test_functions_that_break_the_contract_are_named():
    equations = oscillator()[0]
    sparse = ca.Function("guess", [ca.SX.sym("P", 5)], [ca.SX(2, 1)])
    broken = dataclasses.replace(equations, functions={**equations.functions, "guess": sparse})
    with pytest.raises(ValueError, match="function 'guess': result 0 is not dense"):
        Workspace(broken)
    short = ca.Function("times", [ca.SX.sym("P", 4)], [ca.SX(0, 1)])
    broken = dataclasses.replace(equations, functions={**equations.functions, "times": short})
    with pytest.raises(ValueError, match="function 'times': argument P has 4 entries, not 5"):
        Workspace(broken)
    nothing = ca.Function("derived", [], [ca.SX(1)])
    broken = dataclasses.replace(equations, functions={**equations.functions, "derived": nothing})
    with pytest.raises(ValueError, match="function 'derived' takes 0 arguments, not 1"):
        Workspace(broken)
