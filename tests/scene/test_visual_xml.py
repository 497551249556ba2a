"""OpenModelica's description of a scene within the FMU."""

from __future__ import annotations

import pathlib
import zipfile

import fmpy
import numpy as np
import pytest
from lxml import etree

import mbfmu
from mbfmu.dynamics.showing.scene import Scene
from mbfmu.dynamics.system import System
from mbfmu.scene.visual_xml import visual_xml

SIZES = {
    "T": 9,
    "r": 3,
    "r_shape": 3,
    "lengthDir": 3,
    "widthDir": 3,
    "length": 1,
    "width": 1,
    "height": 1,
    "extra": 1,
    "color": 3,
    "specCoeff": 1,
}


@pytest.mark.slow
def test_an_fmu_describes_its_scene_by_its_own_variables(tmp_path: pathlib.Path) -> None:
    file = mbfmu.build(mbfmu.load("double_pendulum"), tmp_path / "pendulum.fmu", equations="interpreted")
    with zipfile.ZipFile(file) as archive:
        root = etree.fromstring(archive.read("resources/DoublePendulum_visual.xml"))
    known = {v.name for v in fmpy.read_model_description(str(file)).modelVariables}
    shapes = {shape.findtext("ident"): shape for shape in root.iterfind("shape")}
    assert {"boxBody1.shape", "boxBody2.shape", "revolute1.cylinder", "world.x_arrowLine"} <= set(shapes)
    for shape in shapes.values():
        assert [child.tag for child in shape] == ["ident", "type", *SIZES]
        assert {child.tag: len(child) for child in shape if child.tag in SIZES} == SIZES
        assert {cref.text for cref in shape.iterfind("*/cref")} <= known
        assert all(np.isfinite(float(exp.text)) for exp in shape.iterfind("*/exp"))
    body = shapes["boxBody2.shape"]
    assert body.findtext("type") == "box"
    names = sorted({cref.text for cref in body.iterfind("*/cref")})
    result = fmpy.simulate_fmu(str(file), stop_time=1.0, output=names, output_interval=0.1)

    def values(tag: str, i: int) -> np.ndarray:
        return np.array([result[q.text][i] if q.tag == "cref" else float(q.text) for q in body.find(tag)])

    for i in (0, 5, 10):  # its end by the file, and by the run
        along = values("lengthDir", i)
        T = values("T", i).reshape(3, 3)  # row by row
        end = values("r", i) + T.T @ (values("r_shape", i) + along / np.linalg.norm(along) * values("length", i))
        angle = sum(fmpy_value(file, name, i) for name in ("revolute1.phi", "revolute2.phi"))
        direction = (end - values("r", i)) / np.linalg.norm(end - values("r", i))
        np.testing.assert_allclose(direction, [np.cos(angle), np.sin(angle), 0], atol=1e-6)


def fmpy_value(file: pathlib.Path, name: str, i: int) -> float:
    """Return a variable of the run at its i-th point."""
    return float(fmpy.simulate_fmu(str(file), stop_time=1.0, output=[name], output_interval=0.1)[name][i])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "rolling_wheel", "three_springs"])
def test_shapes_whose_variables_are_not_there_are_left_out_and_named(name: str) -> None:
    system = System.of(mbfmu.load(name), scene=True)
    scene = system.scene
    assert isinstance(scene, Scene)
    everything = visual_xml(scene, {variable.name for variable in system.variables})
    assert everything.left_out == ()
    nothing = visual_xml(scene, ())
    root = etree.fromstring(nothing.text)
    still = {shape.findtext("ident") for shape in root.iterfind("shape")}
    assert still
    assert root.find("shape/*/cref") is None
    assert still | set(nothing.left_out) == {shape.ident for shape in scene.shapes}
    assert ", ".join(nothing.left_out) in nothing.text.decode()
