"""System Structure packages: the schema, FMPy's own reader and master, and the command that writes them."""

from __future__ import annotations

import hashlib
import pathlib
import re
import warnings
import zipfile

import fmpy
import numpy as np
import pytest
from fmpy.ssp.simulation import simulate_ssp
from fmpy.ssp.ssd import find_components, get_connections, read_ssd
from lxml import etree

import mbfmu
from mbfmu import Assembly, Start, cli
from mbfmu.components import blocks, rotational
from mbfmu.components.interfaces import Flange_a
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.cosimulation.ssp import build_ssp, write_ssp
from mbfmu.cosimulation.system_file import read_system
from mbfmu.errors import BuildError, ModelError, ValidationError

SOURCE = '''
from mbfmu import Assembly
from mbfmu.components import rotational
from mbfmu.components.interfaces import Flange_a


class Spring(Assembly):
    """A spring on a wall."""

    def __init__(self):
        self.axis = Flange_a("Far end", motion=True)
        self.wall = rotational.Fixed()
        self.spring = rotational.SpringDamper(c=50.0, d=1.0)
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.axis)
'''


class Wheel(Assembly):
    """An inertia with a motor that an input drives."""

    stop_time = 2.0

    def __init__(self):
        self.axis = Flange_a("Shaft")
        self.inertia = rotational.Inertia(J=2.0, phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True))
        self.gain = blocks.Gain(k=3.0)
        self.motor = rotational.Torque()
        self.connect(self.gain.y, self.motor.tau)
        self.connect(self.motor.flange, self.inertia.flange_b)
        self.connect(self.inertia.flange_a, self.axis)
        self.input(self.gain.u, "throttle")
        self.output(self.inertia.w, "speed")


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages are built as where there is no compiler: what is in their FMUs is tested elsewhere."""
    monkeypatch.setattr("mbfmu.export.options.find_compiler", lambda platform=None: None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a folder with spring.py, spring.fmu, wheel.fmu, a system file and a package of the two FMUs."""
    place = tmp_path_factory.mktemp("ssp")
    (place / "spring.py").write_text(SOURCE, encoding="utf-8")
    assert (
        cli.main(["build", str(place / "spring.py"), "-o", str(place / "spring.fmu"), "--equations", "interpreted"])
        == 0
    )
    mbfmu.build(Wheel(), place / "wheel.fmu", equations="interpreted")
    structure = SystemStructure.of({"spring": place / "spring.fmu", "wheel": place / "wheel.fmu"}, name="Swing")
    write_ssp(structure, place / "swing.ssp", connectors=True)
    (place / "system.toml").write_text(
        'name = "FromFile"\n[elements]\nspring = "spring.py:Spring"\nwheel = "wheel.fmu"\n'
        '[[connect]]\na = "wheel.axis"\nb = "spring.axis"\n[experiment]\nstop = 0.7\n',
        encoding="utf-8",
    )
    return place


def description(package: pathlib.Path) -> etree._Element:
    with zipfile.ZipFile(package) as archive:
        return etree.fromstring(archive.read("SystemStructure.ssd"))


@pytest.mark.slow
def test_the_description_obeys_the_schema_of_ssp(folder: pathlib.Path) -> None:
    schema = etree.XMLSchema(file=pathlib.Path(fmpy.__file__).parent / "ssp/schema/SystemStructureDescription.xsd")
    root = description(folder / "swing.ssp")
    assert schema.validate(root), schema.error_log
    assert (root.get("name"), root.get("version")) == ("Swing", "1.0")


def test_inputs_stand_evenly_on_the_left_and_outputs_on_the_right(folder: pathlib.Path) -> None:
    places: dict[str, list[tuple[float, float]]] = {}
    for connector in description(folder / "swing.ssp").iterfind(".//{*}Component[@name='spring']//{*}Connector"):
        (geometry,) = connector.iterfind("{*}ConnectorGeometry")
        places.setdefault(connector.get("kind"), []).append((float(geometry.get("x")), float(geometry.get("y"))))
    assert places == {"input": [(0.0, 0.75), (0.0, 0.5), (0.0, 0.25)], "output": [(1.0, 0.5)]}


def test_steps_are_annotated_by_the_schema(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    structure = SystemStructure.of({"spring": folder / "spring.fmu", "wheel": folder / "wheel.fmu"})
    root = description(write_ssp(structure, tmp_path / "steps.ssp", step=0.01, steps={"wheel": 0.002}))
    schema = etree.XMLSchema(file=pathlib.Path(fmpy.__file__).parent / "ssp/schema/SystemStructureDescription.xsd")
    assert schema.validate(root), schema.error_log
    assert root.find(".//{*}FixedStepAlgorithm").get("baseStepSize") == "0.002"
    assert root.find(".//{*}Component[@name='spring']//{*}StepSizeHint").get("value") == "0.01"
    assert root.find(".//{*}Component[@name='wheel']//{*}StepSizeHint") is None
    assert root.find(".//{*}FixedStepMaster").get("stepSize") == "0.002"
    with pytest.raises(ModelError, match="there is no element 'whel'; did you mean wheel"):
        write_ssp(structure, tmp_path / "wrong.ssp", step=0.01, steps={"whel": 0.002})


def test_fmpy_reads_elements_connectors_and_connections(folder: pathlib.Path) -> None:
    system = read_ssd(str(folder / "swing.ssp"), validate=True).system
    assert [(c.name, c.source) for c in find_components(system)] == [
        ("spring", "resources/spring.fmu"),
        ("wheel", "resources/wheel.fmu"),
    ]
    assert {(c.name, c.kind) for c in system.connectors} == {("wheel_throttle", "input"), ("wheel_speed", "output")}
    wires = {(f"{a.parent.name}.{a.name}", f"{b.parent.name}.{b.name}") for a, b in get_connections(system)}
    assert wires == {
        ("wheel.axis.phi", "spring.axis.phi"),
        ("wheel.axis.w", "spring.axis.w"),
        ("wheel.axis.a", "spring.axis.a"),
        ("spring.axis.tau", "wheel.axis.tau"),
        ("Swing.wheel_throttle", "wheel.throttle"),
        ("wheel.speed", "Swing.wheel_speed"),
    }


def test_by_default_the_system_has_no_connectors_of_its_own(tmp_path: pathlib.Path, folder: pathlib.Path) -> None:
    """libcosim and ecos refuse connections to them; OMSimulator wants to know of what kind the system is."""
    structure = SystemStructure.of({"spring": folder / "spring.fmu", "wheel": folder / "wheel.fmu"}, name="Swing")
    package = write_ssp(structure, tmp_path / "plain.ssp")
    system = read_ssd(str(package), validate=True).system
    assert list(system.connectors) == []
    assert {a.parent.name for pair in get_connections(system) for a in pair} == {"wheel", "spring"}
    schema = etree.XMLSchema(file=pathlib.Path(fmpy.__file__).parent / "ssp/schema/SystemStructureDescription.xsd")
    root = description(package)
    assert schema.validate(root), schema.error_log
    (master,) = root.iter("{*}FixedStepMaster")
    assert float(master.get("stepSize")) == 0.002
    (annotation,) = root.iter("{*}Annotation")
    assert (annotation.get("type"), annotation.getparent().getparent().get("name")) == ("org.openmodelica", "Swing")


def test_units_and_experiment_are_those_of_the_fmus(folder: pathlib.Path) -> None:
    ssd = read_ssd(str(folder / "swing.ssp"))
    units = {unit.name: unit for unit in ssd.units}
    assert (units["N.m"].kg, units["N.m"].m, units["N.m"].s) == (1, 2, -2)
    assert (units["rad/s"].rad, units["rad/s"].s) == (1, -1)
    namespaces = {"ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription"}
    (experiment,) = description(folder / "swing.ssp").findall("ssd:DefaultExperiment", namespaces)
    assert (float(experiment.get("startTime")), float(experiment.get("stopTime"))) == (0.0, 2.0)


def test_the_fmus_inside_are_those_that_were_given(folder: pathlib.Path) -> None:
    with zipfile.ZipFile(folder / "swing.ssp") as archive:
        for name in ("spring", "wheel"):
            assert archive.read(f"resources/{name}.fmu") == (folder / f"{name}.fmu").read_bytes()


@pytest.mark.slow
def test_fmpy_simulates_the_package_as_our_master_does(folder: pathlib.Path) -> None:
    """FMPy's master is one of Jacobi with held inputs; it begins with zeros on all connections."""
    step, stop = 1e-3, 0.5
    theirs = simulate_ssp(
        str(folder / "swing.ssp"), stop_time=stop, step_size=step, input={"wheel_throttle": lambda time: 0.5}
    )
    structure = SystemStructure.of({"spring": folder / "spring.fmu", "wheel": folder / "wheel.fmu"})
    ours = cosimulate(structure, step=step, stop_time=stop, start_values={"wheel.throttle": 0.5})
    # FMPy notes values at the end of a step with the time of its start.
    expected = np.interp(theirs["time"] + step, ours.time, ours["wheel.speed"])
    swing = np.abs(expected).max()
    assert swing > 0.1
    assert np.abs(theirs["wheel.speed"] - expected).max() < 0.02 * swing


@pytest.mark.slow
def test_assemblies_are_built_into_the_package(tmp_path: pathlib.Path, folder: pathlib.Path) -> None:
    said: list[str] = []
    file, connections = build_ssp(
        {"wheel": Wheel(), "spring": folder / "spring.fmu"},
        tmp_path / "built.ssp",
        connect=[("wheel.axis", "spring.axis")],
        stop_time=0.3,
        fmi=3,
        progress=said.append,
    )
    assert len(connections) == 4
    assert any(text.startswith("wheel: ") for text in said)
    assert [c.name for c in find_components(read_ssd(str(file)).system)] == ["wheel", "spring"]
    with zipfile.ZipFile(file) as archive:
        archive.extract("resources/wheel.fmu", tmp_path)
    assert fmpy.read_model_description(str(tmp_path / "resources/wheel.fmu")).fmiVersion == "3.0"


def test_the_same_content_gives_the_same_bytes(
    tmp_path: pathlib.Path, folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    structure = SystemStructure.of({"spring": folder / "spring.fmu", "wheel": folder / "wheel.fmu"})
    files = [write_ssp(structure, tmp_path / f"{name}.ssp") for name in "ab"]
    assert len({hashlib.sha256(file.read_bytes()).hexdigest() for file in files}) == 1


def test_nothing_is_left_of_a_package_that_cannot_be_written(tmp_path: pathlib.Path, folder: pathlib.Path) -> None:
    structure = SystemStructure.of({"spring": folder / "spring.fmu", "wheel": folder / "wheel.fmu"})
    with pytest.raises(BuildError, match=r"stop time -1 s: must be after the start at 0 s"):
        write_ssp(structure, tmp_path / "x.ssp", stop_time=-1.0)
    with pytest.raises(ModelError, match=r"wheel has no flange 'shaft'"):
        build_ssp({"wheel": folder / "wheel.fmu"}, tmp_path / "x.ssp", connect=[("wheel.shaft", "wheel.axis")])
    with pytest.raises(ValidationError, match=r"absent.fmu: no such file"):
        build_ssp({"wheel": tmp_path / "absent.fmu"}, tmp_path / "x.ssp")
    assert list(tmp_path.iterdir()) == []


# -- the command


@pytest.mark.slow
def test_the_command_writes_a_package_of_sources_and_fmus(
    folder: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "swing.ssp"
    sources = [f"coil={folder / 'spring.py'}", str(folder / "wheel.fmu")]
    assert cli.main(["ssp", *sources, "--connect", "coil.axis=wheel.axis", "-o", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "coil.axis.tau" in shown
    assert "swing.ssp" in shown
    assert [c.name for c in find_components(read_ssd(str(file)).system)] == ["coil", "wheel"]


@pytest.mark.slow
def test_the_command_reads_system_files(
    folder: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["ssp", str(folder / "system.toml")]) == 0
    root = description(tmp_path / "FromFile.ssp")
    assert root.get("name") == "FromFile"
    assert "0.7" in etree.tostring(root).decode()
    assert len(list(root.iter("{*}Connection"))) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["spring.fmu", "wheel.fmu", "--connect", "spring.axis"], ["--connect spring.axis", "A.FLANGE=B.FLANGE"]),
        (["spring.fmu", "wheel.fmu", "--connect", "spring.axes=wheel.axis"], ["spring.axes", "did you mean axis"]),
        (["spring.fmu", "wheel.fmu", "--connect", "coil.axis=wheel.axis"], ["no element 'coil'"]),
        (["wheel.fmu", "wheel.fmu"], ["wheel: two elements have this name", "left=wheel right=wheel"]),
        (["a=wheel.fmu", "b=wheel.fmu"], ["a.axis and b.axis", "both flanges take torque", "motion=True"]),
        (["a=spring.fmu", "b=spring.fmu"], ["both flanges take motion", "motion=False"]),
        (["wheel.fmu"], ["no two flanges have the same name"]),
        (["absent.fmu", "wheel.fmu"], ["absent.fmu: no such file"]),
        (["nothing", "wheel.fmu"], ["nothing: is not a gallery name"]),
        (["absent.toml"], ["absent.toml: cannot be read"]),
        (["broken.toml"], ["broken.toml", "no valid TOML"]),
        (["unknown.toml"], ["unknown.toml: element is no entry", "did you mean elements"]),
        (["numbers.toml"], ["numbers.toml: elements", 'name = "source"']),
        (["pairs.toml"], ["pairs.toml: connect, entry 1", 'a = "element.flange"']),
        (["late.toml"], ["late.toml: experiment.stop = 'soon'"]),
        (["stopped.toml"], ["stopped.toml: experiment.stp is no entry", "did you mean stop"]),
        (["steps.toml"], ["steps.toml: steps: give the step of the other elements"]),
        (["none.toml"], ["none.toml: steps.c: there is no such element"]),
        (["zero.toml"], ["zero.toml: steps.a = 0: give seconds"]),
    ],
)
def test_bad_input_ends_in_one_message(
    arguments: list[str],
    words: list[str],
    folder: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    elements = '[elements]\na = "wheel.fmu"\nb = "spring.fmu"\n'
    for name, text in {
        "broken": "[elements",
        "unknown": f"element = 1\n{elements}",
        "numbers": "[elements]\na = 1\n",
        "pairs": f'{elements}[[connect]]\nfrom = "a.axis"\nto = "b.axis"\n',
        "late": f'{elements}[experiment]\nstop = "soon"\n',
        "stopped": f"{elements}[experiment]\nstp = 1.0\n",
        "steps": f"{elements}[steps]\na = 0.1\n",
        "none": f"{elements}[steps]\nc = 0.1\n",
        "zero": f"{elements}[steps]\na = 0\n",
    }.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    assert cli.main(["ssp", *arguments, "-o", "never.ssp"]) == 2
    message = capsys.readouterr().err.strip()
    assert message.count("\n") == 0
    for word in words:
        assert word in message
    assert not (folder / "never.ssp").exists()


ELEMENTS = '[elements]\na = "wheel.fmu"\nb = "spring"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"experiment = 1\n{ELEMENTS}", r"experiment = 1: write it as a table, \[experiment\]"),
        (f"steps = 1e-3\n{ELEMENTS}", r"steps = 0\.001: write it as a table, \[steps\]"),
        (f"{ELEMENTS}[experiment]\nstep = true", r"experiment\.step = True: give seconds, for example step"),
        (f"{ELEMENTS}[experiment]\nstep = inf", r"experiment\.step = inf: give seconds"),
        (f"{ELEMENTS}[experiment]\nstop = nan", r"experiment\.stop = nan: give seconds, for example stop"),
        (f"{ELEMENTS}[experiment]\nstep = -0.1", r"experiment\.step = -0\.1: give seconds"),
        (f"{ELEMENTS}[experiment]\nstep = 1\n[steps]\nb = -1", r"steps\.b = -1: give seconds, for example b = 1e-2"),
        (f'connect = "a.x"\n{ELEMENTS}', r'connect, entry 1: write a = "element\.flange"'),
        (f'{ELEMENTS}[[connect]]\na = "a.x"\nb = "b.x"\n[[connect]]\na = "a.y"', r"connect, entry 2: write a ="),
        (f'name = "a/b"\n{ELEMENTS}', r"name"),
        ('elements = "a"', r'elements: write name = "source" for each'),
    ],
    ids=[
        "experiment",
        "steps",
        "truth",
        "infinite",
        "no number",
        "negative",
        "own step",
        "text",
        "half",
        "name",
        "one",
    ],
)
def test_entries_of_a_system_file_that_are_wrong_are_refused(text: str, message: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(ModelError, match=rf"^{re.escape(str(tmp_path))}/own\.toml: {message}"):
        read_system(tmp_path / "own.toml")


def test_a_system_file_is_read_as_it_is_written(tmp_path: pathlib.Path) -> None:
    """Files are those beside it; names of the gallery stay. What it does not say is left to others."""
    (tmp_path / "own.toml").write_text(f"{ELEMENTS}c = 'parts/arm.py:Arm'\nd = 'arm.toml'")
    found = read_system(tmp_path / "own.toml")
    assert found is not None
    sources = {"a": "wheel.fmu", "c": "parts/arm.py:Arm", "d": "arm.toml"}
    assert found.elements == {"b": "spring"} | {name: str(tmp_path / file) for name, file in sources.items()}
    assert (found.name, found.connect, found.stop_time, found.step, found.steps) == ("own", None, None, None, {})
    head = "name = 'pair'\nconnect = {a = 'a.x', b = 'b.y'}\n"
    (tmp_path / "own.toml").write_text(f"{head}{ELEMENTS}[experiment]\nstop = 3\nstep = 0.1\n[steps]\nb = 2")
    found = read_system(tmp_path / "own.toml")
    assert found is not None
    assert (found.name, found.connect, found.stop_time, found.step) == ("pair", [("a.x", "b.y")], 3.0, 0.1)
    assert found.steps == {"b": 2.0}
    (tmp_path / "own.toml").write_text("[world]\n")
    assert read_system(tmp_path / "own.toml") is None


class Rotor(Assembly):
    """A rigid inertia that is moved, or one that takes torque."""

    def __init__(self, motion: bool = True) -> None:
        self.axis = Flange_a("Shaft", motion=motion)
        self.inertia = rotational.Inertia(J=1.0, w=Start(1.0, fixed=True)) if not motion else rotational.Inertia(J=0.5)
        self.connect(self.inertia.flange_a, self.axis)


class Elastic(Assembly):
    """A spring on a wall, whose far end is moved."""

    def __init__(self) -> None:
        self.axis = Flange_a("Far end", motion=True)
        self.wall, self.spring = rotational.Fixed(), rotational.SpringDamper(c=50.0, d=1.0)
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.axis)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("fmi", [2, 3])
def test_a_rigid_coupling_is_told_and_a_shaft_is_not(tmp_path: pathlib.Path, fmi: int) -> None:
    with pytest.warns(UserWarning, match=r"left\.axis\.tau.*depend on themselves at once.*spring and damper"):
        build_ssp({"left": Rotor(motion=False), "right": Rotor()}, tmp_path / "rigid.ssp", fmi=fmi)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        build_ssp({"spring": Elastic(), "wheel": Wheel()}, tmp_path / "shaft.ssp", fmi=fmi)
