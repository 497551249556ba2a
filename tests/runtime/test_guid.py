"""The guid changes with whatever decides how an FMU behaves, the runtime's own files included."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil

import pytest
from hand_made_models import oscillator
from hosts import model_and_variables

import mbfmu.runtime
from mbfmu.export import fingerprint as module
from mbfmu.runtime import build
from mbfmu.runtime.references import value_references

EQUATIONS, VARIABLES = model_and_variables(oscillator)


def guid(equations=EQUATIONS, target="native"):
    return module.fingerprint(equations, VARIABLES, value_references(VARIABLES), target)


def test_equations_numbers_and_target_count():
    known = [guid(), guid(target="python"), guid(dataclasses.replace(EQUATIONS, tolerance=1e-5))]
    known.append(guid(dataclasses.replace(EQUATIONS, parameters=(2.0, 8.0, 0.2, 0.0))))
    assert len(set(known)) == len(known)
    assert guid() == known[0]


@pytest.mark.parametrize("file", ["templates/runtime/project.c", "runtime/tape.py"])
def test_the_runtime_counts(tmp_path, monkeypatch, file):
    folders = {
        "mbfmu.runtime": pathlib.Path(mbfmu.runtime.__file__).parent,
        "mbfmu.templates": build.headers().parents[1],
    }
    copies = {name: tmp_path / name.split(".")[1] for name in folders}
    for name, folder in folders.items():
        shutil.copytree(folder, copies[name])
    monkeypatch.setattr(module.importlib.resources, "files", copies.__getitem__)
    before = guid()
    with (tmp_path / file).open("a") as changed:
        changed.write("\n")
    assert guid() != before
