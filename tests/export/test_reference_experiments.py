"""Reference experiments in FMUs: whoever knows the draft standard can run them again."""

from __future__ import annotations

import io
import pathlib
import posixpath
import re
import zipfile
from types import SimpleNamespace

import fmpy
import numpy as np
import pytest
import xmlschema
from lxml import etree

from mbfmu import Assembly, ReferenceExperiment, Start, build, cli, validate
from mbfmu.components import Body, Prismatic, World, blocks, translational
from mbfmu.errors import BuildError, ValidationError
from mbfmu.export import layered_ref
from mbfmu.fmi import experiments
from mbfmu.modeling.registry import assemblies

PLACE = "extra/org.fmi-standard.fmi-ls-ref"


class Pushed(Assembly):
    """A mass that a force pushes along a rail, with a vector as output."""

    stop_time = 1.0

    def __init__(self) -> None:
        self.world = World()
        self.rail = Prismatic(useAxisFlange=True, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True))
        self.body = Body(m=2.0, r_CM=[0.0, 0.0, 0.0])
        self.force = translational.Force()
        self.damper = translational.Damper(d=3.0)
        self.connect(self.world.frame_b, self.rail.frame_a)
        self.connect(self.rail.frame_b, self.body.frame_a)
        self.connect(self.force.flange, self.rail.axis)
        self.connect(self.rail.support, self.damper.flange_a)
        self.connect(self.damper.flange_b, self.rail.axis)
        self.input(self.force.f, "push")
        self.output(self.body.frame_a.r_0, "motion")


def by_ten_lines(path: pathlib.Path, folder: pathlib.Path) -> float:
    """The first experiment of an FMU in FMPy, by the drafts alone: the largest difference, of a result's magnitude."""
    place = pathlib.Path(fmpy.extract(str(path), str(folder))) / PLACE
    manifest = etree.parse(place / "fmi-ls-manifest.xml")
    experiment = etree.parse(place / manifest.find("Related[@role='experiment']").get("source")).find("Experiment")
    times = experiment.find("TransientSimulation").attrib
    files = {child.tag: fmpy.read_csv(place / child.get("source")) for child in experiment if child.get("source")}
    found = fmpy.simulate_fmu(
        str(path), start_time=float(times["startTime"]), stop_time=float(times["stopTime"]), input=files.get("Stimuli"),
        output_interval=float(times["stepSize"]), relative_tolerance=float(experiment.get("tolerance")),
        output=files["References"].dtype.names[1:],
    )  # fmt: skip
    expected, at = files["References"], np.searchsorted(found["time"], files["References"]["time"] - 1e-9)
    # FMPy reads an array of one element as a number
    pairs = [(found[name][at].reshape(expected[name].shape), expected[name]) for name in expected.dtype.names[1:]]
    return max(float(np.abs(one - other).max() / max(np.abs(other).max(), 1e-3)) for one, other in pairs)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", ["cam_follower", "planar_four_bar"])
def test_fmpy_repeats_an_experiment_of_the_gallery_from_its_file(tmp_path, name, fmi):
    path = build(assemblies()[name](), tmp_path, fmi=fmi, equations="interpreted", experiment=True)
    assert by_ten_lines(path, tmp_path / "unpacked") < 1e-4
    assert validate(path) == []


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("fmi", [2, 3])
def test_inputs_and_parameters_are_part_of_an_experiment(tmp_path, fmi):
    """Held inputs jump at instants of the table: every importer follows them alike."""
    pushed = ReferenceExperiment(
        "pushed", inputs={"time": [0.0, 0.25, 0.5], "push": [1.0, -3.0, 0.5]}, interpolation="held", stop_time=0.8,
    )  # fmt: skip
    heavy = ReferenceExperiment("heavy", inputs={"time": [0.0, 0.8], "push": [0.0, 5.0]}, start_values={"body.m": 7.0})
    path = build(Pushed(), tmp_path, fmi=fmi, equations="interpreted", experiment=[pushed, heavy])
    assert by_ten_lines(path, tmp_path / "unpacked") < 1e-4
    assert validate(path) == []
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        header = archive.read(f"{PLACE}/heavy_ref.csv").decode().splitlines()[0]
    files = {"fmi-ls-manifest.xml", "experiments.exp", "heavy.ssv"} | {
        f"{name}_{kind}.csv" for name in ("pushed", "heavy") for kind in ("in", "ref")
    }
    assert {f"{PLACE}/{file}" for file in files} | {"documentation/fmi-ls-ref.txt"} <= names
    assert header == ('"time","motion"' if fmi == 3 else '"time","motion[1]","motion[2]","motion[3]"')


@pytest.mark.slow
@pytest.mark.parametrize("held", [True, False])
def test_the_command_writes_the_experiment_that_it_is_asked_for(tmp_path, held):
    """A push that falls to 0 within 0.5 s, or stays until then, and none where nobody asks for one."""
    (tmp_path / "push.csv").write_text("time,push\n0,6\n0.5,0\n")
    asked = ["--experiment", "--input", str(tmp_path / "push.csv"), "--stop", "0.5", *(["--held"] if held else [])]
    rows = []
    for options in ([], asked):
        file = tmp_path / f"{len(options)}.fmu"
        assert cli.main(["build", f"{__file__}:Pushed", "--equations", "interpreted", "-o", str(file), *options]) == 0
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if name.startswith(PLACE) and name.endswith("_ref.csv")]
            rows += [np.loadtxt(io.BytesIO(archive.read(name)), delimiter=",", skiprows=1) for name in names]
    (found,) = rows
    slowed = (1 - np.exp(-1.5 * found[:, 0])) / 1.5  # of 2 v' = f - 3 v
    steady, falls = (2, 0) if held else (14 / 3, 2)
    wanted = steady * (found[:, 0] - slowed) - falls * found[:, 0] ** 2
    np.testing.assert_allclose(found[:, 1], wanted, atol=1e-5)
    assert found[-1, 0] == 0.5


def test_the_manifest_is_valid(experimental):
    """By the draft's schema (in schemas/, with its licence), which includes two of FMI 3.0."""
    own = pathlib.Path(__file__).resolve().parent / "schemas" / "fmi3LayeredStandardReferenceManifest.xsd"
    theirs = pathlib.Path(fmpy.__file__).parent / "schema" / "fmi3"
    schema = xmlschema.XMLSchema(
        str(own), uri_mapper=lambda uri: str(theirs / uri.rpartition("/")[2]) if uri.startswith("https:") else uri
    )
    with zipfile.ZipFile(experimental) as archive:
        data = archive.read(f"{PLACE}/fmi-ls-manifest.xml")
        named = {each.get("role"): each.get("source") for each in etree.fromstring(data)}
        assert set(named) == {"experiment", "meta-data"}
        assert {posixpath.normpath(f"{PLACE}/{source}") for source in named.values()} <= set(archive.namelist())
    schema.validate(io.BytesIO(data))
    with pytest.raises(xmlschema.XMLSchemaException):
        schema.validate(io.BytesIO(data.replace(b'role="experiment"', b'role="trial"')))


#: What the draft of experiments allows, written down from its text and schema; kinds that we do not write are left out.
EXPERIMENTS = """
<grammar xmlns="http://relaxng.org/ns/structure/1.0" datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">
  <start><element name="Experiments">
    <attribute name="name"/><optional><attribute name="description"/></optional>
    <oneOrMore><element name="Experiment">
      <attribute name="name"/><optional><attribute name="description"/></optional>
      <optional><attribute name="tolerance"><data type="double"/></attribute></optional>
      <element name="TransientSimulation">
        <optional><attribute name="startTime"><data type="double"/></attribute></optional>
        <optional><attribute name="stopTime"><data type="double"/></attribute></optional>
        <optional><attribute name="stepSize"><data type="double"/></attribute></optional>
      </element>
      <optional><element name="Parameters"><ref name="file"/></element></optional>
      <optional><element name="Stimuli"><ref name="file"/></element></optional>
      <optional><element name="References"><ref name="file"/></element></optional>
      <ref name="annotations"/>
    </element></oneOrMore>
    <ref name="annotations"/>
  </element></start>
  <define name="file">
    <attribute name="source"><data type="anyURI"/></attribute><optional><attribute name="type"/></optional>
    <ref name="annotations"/>
  </define>
  <define name="annotations"><optional><element name="Annotations"><oneOrMore><element name="Annotation">
    <attribute name="type"/><zeroOrMore><ref name="any"/></zeroOrMore>
  </element></oneOrMore></element></optional></define>
  <define name="any">
    <element><anyName/><zeroOrMore>
      <choice><attribute><anyName/></attribute><text/><ref name="any"/></choice>
    </zeroOrMore></element>
  </define>
</grammar>"""


def test_experiments_are_valid(experimental):
    schema = etree.RelaxNG(etree.fromstring(EXPERIMENTS))
    with zipfile.ZipFile(experimental) as archive:
        root = etree.fromstring(archive.read(f"{PLACE}/experiments.exp"))
        parameters = archive.read(f"{PLACE}/one.ssv")
    theirs = pathlib.Path(fmpy.__file__).parent / "ssp" / "schema" / "SystemStructureParameterValues.xsd"
    xmlschema.validate(io.BytesIO(parameters), str(theirs))
    schema.assertValid(root)
    assert [child.tag for child in root[0]] == ["TransientSimulation", "Parameters", "Stimuli", "References"]
    assert root.find(".//Comparison").get("absolute") == root[0].get("tolerance")
    root[0].append(root[0][1])
    assert not schema.validate(root), "parameters come before stimuli"


def changed(path: pathlib.Path, name: str, old: str, new: str) -> pathlib.Path:
    """A copy of an FMU in which one of its related files says something else, or is missing where `new` is empty."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(path.with_name("changed.fmu"), "w") as other:
        for entry in archive.namelist():
            data = archive.read(entry)
            if entry == f"{PLACE}/{name}":
                assert old.encode() in data
                data = data.replace(old.encode(), new.encode(), 1)
                if not new:
                    continue
            other.writestr(entry, data)
    return path.with_name("changed.fmu")


@pytest.fixture(scope="module")
def experimental(tmp_path_factory):
    force = {"time": [0.0, 1.0], "push": [1.0, 4.0]}
    one = ReferenceExperiment("one", inputs=force, start_values={"body.m": 4.0})
    return build(Pushed(), tmp_path_factory.mktemp("fmu"), equations="interpreted", experiment=one)


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("one.ssv", "4.0", "4.1", r'^Experiment "one": motion\[\d\] is off by .* where .* is allowed\.( \(1 more\))?$'),
        ("one_in.csv", "1.0,4.0", "1.0,4.2", r'^Experiment "one": motion'),
        ("one_ref.csv", "motion[1]", "motion[4]", r'there is no variable "motion\[4\]"'),
        ("one_ref.csv", "\n0.0,", "\nnothing,", r'The table "one_ref.csv" cannot be read'),
        ("one_in.csv", "time", "", r'The related file "one_in.csv" is not in the archive'),
        ("experiments.exp", 'stepSize="0.01"', 'stepSize="small"', "stepSize is 'small', no number"),
        ("fmi-ls-manifest.xml", 'role="experiment"', 'role="trial"', "a source or a known role is missing"),
        ("fmi-ls-manifest.xml", "org.fmi-standard.fmi-ls-ref", "org.example", "is no manifest of"),
        ("fmi-ls-manifest.xml", "experiments.exp", "../../../x.exp", "is not in the archive"),
    ],
)  # fmt: skip
def test_an_experiment_that_does_not_hold_is_found(experimental, name, old, new, expected):
    (problem,) = validate(changed(experimental, name, old, new))
    assert re.search(expected, problem), problem


@pytest.mark.slow
def test_experiments_of_other_tools_are_repeated(experimental, tmp_path):
    """Times as the text of the draft has them, no annotation of ours, fewer rows than steps."""
    with zipfile.ZipFile(experimental) as archive:
        root = etree.fromstring(archive.read(f"{PLACE}/experiments.exp"))
    element = root.find("Experiment")
    times = element.find("TransientSimulation")
    element.attrib.update(times.attrib)
    element.remove(times)
    element.find("References").remove(element.find("References/Annotations"))
    for mass in (b"4.0", b"5.0"):
        other = tmp_path / "other.fmu"
        written = etree.tostring(root)
        with zipfile.ZipFile(experimental) as archive, zipfile.ZipFile(other, "w") as made:
            for entry in archive.namelist():
                data = archive.read(entry)
                if entry.endswith("experiments.exp"):
                    data = written
                elif entry.endswith("one.ssv"):
                    data = data.replace(b"4.0", mass)
                elif entry.endswith("one_ref.csv"):
                    rows = data.splitlines()
                    after_event = [rows[9].split(b",")[0] + b",9.0,9.0,9.0"]  # of a jump a host may show either side
                    data = b"\n".join(rows[:2] + rows[2:-1:7] + rows[-1:]).replace(
                        rows[9], b"\n".join([rows[9], *after_event])
                    )
                made.writestr(entry, data)
        assert bool(validate(other)) == (mass != b"4.0")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (7, "give True, a ReferenceExperiment"),
        ([ReferenceExperiment("a"), ReferenceExperiment("a")], "stands once"),
        (ReferenceExperiment("a b"), "letters, digits"),
    ],
)
def test_what_is_no_experiment_is_refused(tmp_path, given, expected):
    with pytest.raises(BuildError, match=expected):
        build(Pushed(), tmp_path, experiment=given)


def test_a_model_without_anything_to_compare_has_no_experiment(tmp_path):
    class Still(Assembly):
        def __init__(self):
            self.one, self.gain = blocks.Constant(k=2.0), blocks.Gain(k=3.0)
            self.connect(self.one.y, self.gain.u)

    with pytest.raises(
        BuildError, match=r"^experiment 'default': the model has neither outputs nor states; declare an o"
    ):
        build(Still(), tmp_path, equations="interpreted", experiment=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_results_that_depend_on_the_tolerance_are_refused(tmp_path):
    """A double pendulum is chaotic; until the time that the message tells it is known."""
    wild = assemblies()["double_pendulum"]()
    wild.tolerance = 1e-3
    with pytest.raises(BuildError, match="earlier stop_time") as refused:
        build(wild, tmp_path, equations="interpreted", experiment=ReferenceExperiment(stop_time=60.0))
    (until,) = re.findall(r"\(up to (.+) s they hold\)", str(refused.value))
    shorter = ReferenceExperiment(stop_time=float(until))
    assert 0 < shorter.stop_time < 60
    assert build(wild, tmp_path, equations="interpreted", experiment=shorter).is_file()
    longer = ReferenceExperiment(stop_time=shorter.stop_time + 0.6)
    with pytest.raises(BuildError, match="earlier stop_time"):
        build(wild, tmp_path, equations="interpreted", experiment=longer)


def test_ten_times_what_the_tolerance_makes_is_allowed():
    class Series(dict):
        time = np.linspace(0.0, 1.0, 3)

    strict = Series(x=np.array([0.0, -2.0, 1.0]))
    for off, absolute, expected in ((1e-3, 0.0, 5e-3), (1.4e-3, 1e-3, 2e-3), (1e-3, 1e-2, 1e-6), (2.2e-3, 0.0, 2e-2)):
        own = Series(x=strict["x"] + [0.0, 0.0, off])
        assert layered_ref._allowed("experiment", own, strict, ["x"], absolute) == expected


@pytest.mark.slow
def test_a_run_that_the_model_ends_is_refused(tmp_path):
    pushed = Pushed()
    pushed.clock, pushed.end = blocks.ContinuousClock(), blocks.TerminateSimulation(condition=lambda time: time >= 0.5)
    with pytest.raises(BuildError, match="earlier stop_time"):
        build(pushed, tmp_path, equations="interpreted", experiment=True)


def test_parameters_of_each_type_are_read_as_they_are_written(tmp_path):
    values = {"count": 3, "flag": True, "off": False, "name": "steel", "mass": 0.1}
    types = {"count": "Integer", "flag": "Boolean", "off": "Boolean", "name": "String"}
    variables = [SimpleNamespace(name=name, type=types.get(name, "Real")) for name in values]
    data = layered_ref._parameters(ReferenceExperiment(start_values=values), variables)
    theirs = pathlib.Path(fmpy.__file__).parent / "ssp" / "schema" / "SystemStructureParameterValues.xsd"
    xmlschema.validate(io.BytesIO(data), str(theirs))
    for text in (data, data.replace(b'"true"', b'"1"').replace(b'"false"', b'"0"')):
        (tmp_path / "values.ssv").write_bytes(text)
        assert experiments._parameters(tmp_path / "values.ssv") == values


def test_files_beside_the_archive_are_not_opened(tmp_path):
    inside = tmp_path / "unpacked" / "extra"
    inside.mkdir(parents=True)
    for folder in (inside, tmp_path):
        (folder / "x.exp").write_text("<Experiments/>")
    assert experiments._inside(tmp_path / "unpacked", inside, "x.exp") == inside / "x.exp"
    assert experiments._inside(tmp_path / "unpacked", inside, "https://example.org/x.exp") is None
    with pytest.raises(ValidationError, match="is not in the archive"):
        experiments._inside(tmp_path / "unpacked", inside, "../../x.exp")
