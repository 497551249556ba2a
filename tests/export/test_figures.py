"""Figures: named by an assembly, checked, written for OpenModelica, drawn, and kept by assembly files."""

from __future__ import annotations

import zipfile

import fmpy
import pytest
from lxml import etree

import mbfmu
from mbfmu import Assembly, Start, cli
from mbfmu.components import World
from mbfmu.components.joints import Revolute
from mbfmu.components.parts import Body
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling.assembly_file import load_assembly
from mbfmu.modeling.writing import to_toml, write
from mbfmu.runtime.figures import Curve, Figure


class Swing(Assembly):
    """A body on a hinge."""

    def __init__(self):
        self.world = World()
        self.hinge = Revolute(phi=Start(0.5, fixed=True), w=Start(0.0, fixed=True))
        self.body = Body(m=1.0, r_CM=(0.5, 0, 0))
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.body.frame_a)
        self.output(self.hinge.phi)
        self.figure("Motion", {"angle": self.hinge.phi, "speed": self.hinge.w}, caption="No friction & no end.")
        self.figure("Place", [self.body.r_0])


FIGURES = (
    Figure("Motion", (Curve("hinge.phi", "angle"), Curve("hinge.w", "speed")), "No friction & no end."),
    Figure("Place", tuple(Curve(f"body.r_0[{i}]") for i in (1, 2, 3))),
)


def test_figures_are_curves_of_scalars():
    assert System.of(Swing()).figures == FIGURES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fmi", "place"),
    [(2, "VendorAnnotations/Tool[@name='OpenModelica']"), (3, "Annotations/Annotation[@type='org.openmodelica']")],
)
def test_openmodelica_finds_figures_and_scene(tmp_path, fmi, place):
    path = mbfmu.build(Swing(), tmp_path / "swing.fmu", fmi=fmi, equations="interpreted")
    fmpy.read_model_description(str(path), validate=True)
    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
        page = archive.read("documentation/index.html").decode()
        annotation = root.find(place)
        (scene,) = root.findall(f"{place}/Visualization")
        assert f"resources/{scene.get('file')}" in archive.namelist()
    motion, where = annotation.findall("Figures[@version='1']/Figure[@preferred='true']")
    assert [figure.get("title") for figure in (motion, where)] == ["Motion", "Place"]
    assert motion.findtext("Caption") == "No friction & no end."
    assert [
        (plot.find("Axis").get("unit"), [(c.get("y"), c.get("legend")) for c in plot.iterfind("Curve")])
        for plot in motion.iterfind("Plot")
    ] == [("rad", [("hinge.phi", "angle")]), ("rad/s", [("hinge.w", "speed")])]
    assert [c.get("y") for c in where.iterfind("Plot/Curve")] == [f"body.r_0[{i}]" for i in (1, 2, 3)]
    assert "Motion: No friction &amp; no end." in page


@pytest.mark.slow
def test_curves_that_an_fmu_does_not_show_are_left_out(tmp_path):
    path = mbfmu.build(Swing(), tmp_path / "swing.fmu", equations="interpreted", variables="hinge.phi")
    with zipfile.ZipFile(path) as archive:
        root = etree.fromstring(archive.read("modelDescription.xml"))
    known = {v.get("name") for v in root.iterfind("ModelVariables/ScalarVariable")}
    assert {c.get("y") for c in root.iter("Curve")} <= known


@pytest.mark.slow
def test_plots_are_figures_where_nobody_says_what():
    result = mbfmu.simulate(Swing(), 0.2)
    axes = result.plot().axes
    assert [axis.get_title() for axis in axes] == ["Motion", "Motion", "Place"]
    assert [axis.get_ylabel() for axis in axes] == ["rad", "rad/s", "m"]
    assert [line.get_label() for line in axes[0].lines] == ["angle"]
    assert [line.get_label() for line in result.plot("hinge.phi").axes[0].lines] == ["hinge.phi"]


@pytest.mark.slow
def test_the_command_line_draws_figures_and_prints_outputs(tmp_path, capsys, monkeypatch):
    write(Swing(), tmp_path / "swing.toml")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["simulate", "swing.toml", "--stop", "0.2", "--plot", "a.svg", "--csv", "a.csv"]) == 0
    capsys.readouterr()
    assert (tmp_path / "a.csv").read_text().splitlines()[0] == "time,hinge.phi"
    assert "<!-- Place -->" in (tmp_path / "a.svg").read_text()


def test_files_keep_figures(tmp_path):
    for suffix in (".toml", ".py"):
        write(Swing(), tmp_path / f"swing{suffix}")
    assert System.of(load_assembly(tmp_path / "swing.toml")).figures == FIGURES
    names: dict = {}
    exec((tmp_path / "swing.py").read_text(), names)
    assert System.of(names["Swing"]()).figures == FIGURES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title = "A"\ncurves = ["hnge.phi"]', "figure A: hnge.phi: no component.*hinge"),
        ('title = "A"\ncurves = []', "figure A: has no curves"),
        ('curves = ["hinge.phi"]', "figure 3: needs title"),
        ('title = "A"\ncurves = [1]', "figure A: curves are names"),
    ],
)
def test_a_file_says_early_what_is_wrong(tmp_path, text, message):
    (tmp_path / "swing.toml").write_text(to_toml(Swing()) + f"\n[[figure]]\n{text}\n")
    with pytest.raises(ModelError, match=message):
        load_assembly(tmp_path / "swing.toml")


def test_an_assembly_says_what_is_wrong():
    swing = Swing()
    with pytest.raises(ModelError, match=r"figure A: draws variables such as revolute\.phi, got 3"):
        swing.figure("A", [3])
    with pytest.raises(ModelError, match="figure A: takes a list"):
        swing.figure("A", swing.hinge.phi)
    with pytest.raises(ModelError, match="no title"):
        swing.figure("", [swing.hinge.phi])
    swing.figure("A", [mbfmu.modeling.connectors.Reference(swing, "hinge.fi")])
    with pytest.raises(ModelError, match=r"figure A: there is no variable hinge\.fi"):
        System.of(swing)
