"""Packages that other tools may have written: systems in systems, dictionaries, transformations, parameter sets."""

from __future__ import annotations

import inspect
import json
import pathlib
import re
import zipfile
from collections.abc import Callable

import numpy as np
import pytest

import mbfmu
import mbfmu.export.build
from mbfmu import Assembly, Start, cli
from mbfmu.cli import systems
from mbfmu.components import Body, Prismatic, World, blocks
from mbfmu.cosimulation import SystemStructure, cosimulate, open_package
from mbfmu.cosimulation.ssp import write_ssp
from mbfmu.errors import ValidationError


class Amplifier(Assembly):
    """y = k u, which follows at once."""

    def __init__(self):
        self.gain = blocks.Gain(k=2.0)
        self.input(self.gain.u, "u")
        self.output(self.gain.y, "y")


class Store(Assembly):
    """y' = u."""

    def __init__(self):
        self.integrator = blocks.Integrator(k=1.0)
        self.input(self.integrator.u, "u")
        self.output(self.integrator.y, "y")


SSD = """<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription version="1.0" name="Nested"
 xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
 xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
 xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
 xmlns:ssm="http://ssp-standard.org/SSP1/SystemStructureParameterMapping">
 <ssd:System name="root">
  <ssd:Connectors>
   <ssd:Connector name="throttle" kind="input"><ssc:Real/></ssd:Connector>
   <ssd:Connector name="level" kind="output"><ssc:Real/></ssd:Connector>
  </ssd:Connectors>
  <ssd:ParameterBindings>
   <ssd:ParameterBinding source="resources/set.ssv">
    <ssd:ParameterMapping><ssm:ParameterMapping version="1.0">
     <ssm:MappingEntry source="strength" target="front end.amp.gain.k"><ssc:LinearTransformation factor="10"/>
     </ssm:MappingEntry>
     <ssm:MappingEntry source="nothing" target="nowhere.k"/>
    </ssm:ParameterMapping></ssd:ParameterMapping>
   </ssd:ParameterBinding>
  </ssd:ParameterBindings>
  <ssd:Elements>
   <ssd:System name="front end">
    <ssd:Connectors>
     <ssd:Connector name="in" kind="input"/><ssd:Connector name="out" kind="output"/>
    </ssd:Connectors>
    <ssd:Elements>
     <ssd:Component name="amp" source="resources/amplifier.fmu">
      <ssd:Connectors><ssd:Connector name="u" kind="input"/><ssd:Connector name="y" kind="output"/></ssd:Connectors>
     </ssd:Component>
    </ssd:Elements>
    <ssd:Connections>
     <ssd:Connection startConnector="in" endElement="amp" endConnector="u"/>
     <ssd:Connection startElement="amp" startConnector="y" endConnector="out">
      <ssc:LinearTransformation factor="0.5" offset="1"/>
     </ssd:Connection>
    </ssd:Connections>
   </ssd:System>
   <ssd:Component name="store" source="resources/store.fmu" type="{type}">
    <ssd:Connectors><ssd:Connector name="u" kind="input"/><ssd:Connector name="y" kind="output"/></ssd:Connectors>
    <ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
     <ssv:ParameterSet version="1.0" name="own"><ssv:Parameters>
      <ssv:Parameter name="integrator.k"><ssv:Real value="{k}"/></ssv:Parameter>
     </ssv:Parameters></ssv:ParameterSet>
    </ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>
   </ssd:Component>
   <ssd:SignalDictionaryReference name="bus" dictionary="signals"/>
  </ssd:Elements>
  <ssd:Connections>
   <ssd:Connection startConnector="throttle" endElement="front end" endConnector="in"/>
   <ssd:Connection startElement="bus" startConnector="flow" endElement="front end" endConnector="out"/>
   <ssd:Connection startElement="bus" startConnector="flow" endElement="store" endConnector="u">
    <ssc:LinearTransformation factor="3"/>
   </ssd:Connection>
   <ssd:Connection startElement="store" startConnector="{output}" endConnector="level"/>
  </ssd:Connections>
  <ssd:SignalDictionaries><ssd:SignalDictionary name="signals"/></ssd:SignalDictionaries>
 </ssd:System>
 <ssd:DefaultExperiment startTime="0" stopTime="2"/>
</ssd:SystemStructureDescription>
"""
SSV = """<ssv:ParameterSet version="1.0" name="set" xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues">
 <ssv:Parameters>
  <ssv:Parameter name="strength"><ssv:Real value="0.4"/></ssv:Parameter>
  <ssv:Parameter name="nothing"><ssv:Real value="1"/></ssv:Parameter>
 </ssv:Parameters>
</ssv:ParameterSet>
"""
GOOD = {"type": "application/x-fmu-sharedlibrary", "k": "2", "output": "y"}


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("packages")
    for assembly, name in ((Amplifier(), "amplifier"), (Store(), "store")):
        mbfmu.build(assembly, folder / f"{name}.fmu", equations="interpreted")
    return folder


def written(fmus: pathlib.Path, file: pathlib.Path, **changes: str) -> pathlib.Path:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("SystemStructure.ssd", SSD.format(**(GOOD | changes)))
        archive.writestr("resources/set.ssv", SSV)
        for name in ("amplifier", "store"):
            archive.write(fmus / f"{name}.fmu", f"resources/{name}.fmu")
    return file


@pytest.mark.slow
def test_nested_systems_run_as_one(fmus: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """u = t: the amplifier gives 4 t, the system 0.5 * 4 t + 1, the bus three times that, the store twice its sum."""
    with open_package(written(fmus, tmp_path / "nested.ssp")) as package:
        assert list(package.structure.files) == ["front_end_amp", "store"]
        assert package.structure.inputs == {"throttle": ["front_end_amp.u"]}
        assert package.start_values == {"front_end_amp.gain.k": pytest.approx(4.0), "store.integrator.k": 2.0}
        assert package.stop_time == 2.0
        assert any("nowhere.k" in note for note in package.notes)
        for options in ({"tolerance": 1e-7}, {"step": 0.01, "inputs": "tangent"}):
            result = cosimulate(
                package.structure,
                stop_time=2.0,
                start_values=package.start_values,
                signals={"time": [0.0, 2.0], "throttle": [0.0, 2.0]},
                **options,
            )
            expected = 2 * 3 * (result.time**2 + result.time)
            assert result["store.y"] == pytest.approx(expected, abs=1e-3)
            assert np.ptp(result["front_end_amp.y"]) == pytest.approx(8.0, abs=0.1)


@pytest.mark.slow
def test_the_commands_take_packages(
    fmus: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = str(written(fmus, tmp_path / "nested.ssp"))
    (tmp_path / "in.csv").write_text("time,throttle\n0,0\n2,2\n", encoding="utf-8")
    assert cli.main(["info", package, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["connections"] == [{"start": "front_end_amp.y", "end": "store.u"}]
    assert told["openInputs"] == ["front_end_amp.u"]
    arguments = ["--input", str(tmp_path / "in.csv"), "--csv", str(tmp_path / "out.csv")]
    assert cli.main(["simulate", package, *arguments, "-p", "store.integrator.k=1", "--json"]) == 0
    shown = capsys.readouterr()
    series = json.loads(shown.out)["series"]
    assert series["store.y"][-1] == pytest.approx(3 * 6.0, abs=1e-3)
    assert "communication steps" in shown.err
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").startswith("time,front_end_amp.y,store.y")


@pytest.mark.slow
def test_the_options_of_systems_change_what_they_say_and_nothing_else(
    fmus: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = str(written(fmus, tmp_path / "nested.ssp"))
    (tmp_path / "in.csv").write_text("time,throttle\n0,0\n2,2\n", encoding="utf-8")
    begin = ["simulate", package, "--json", "--stop", "2", "--start", "1", "--input", str(tmp_path / "in.csv")]

    def run(*options: str) -> tuple[np.ndarray, np.ndarray]:
        assert cli.main([*begin, *options]) == 0
        series = json.loads(capsys.readouterr().out)["series"]
        return np.array(series["time"]), np.array(series["store.y"])

    times, level = run()
    assert times[0] == 1.0
    assert level == pytest.approx(2 * 3 * (times**2 + times - 2), abs=1e-3)
    assert np.array_equal(run("--threads", "2")[1], level)
    assert np.array_equal(run("--processes", "--limit", "60")[1], level)
    assert np.diff(run("--interval", "0.004")[0]).max() < 0.0041
    steps = ["--communication-step", "0.01"]
    assert run(*steps)[1][-1] == pytest.approx(level[-1], rel=1e-2)
    assert run(*steps, "--scheme", "gauss-seidel")[1][-1] != run(*steps, "--scheme", "jacobi")[1][-1]


STEPS = """name = "Pair"
[elements]
front = "amplifier.fmu"
back = "store.fmu"
[[connect]]
a = "front.y"
b = "back.u"
[experiment]
stop = 1.0
step = 0.05
[steps]
back = 0.02
"""


@pytest.mark.slow
def test_files_and_packages_ask_for_steps(
    fmus: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file's own steps go into a package, and out of it; the command line has the last word."""
    monkeypatch.chdir(fmus)
    (fmus / "pair.toml").write_text(STEPS, encoding="utf-8")

    def times(source: str, *options: str) -> list[float]:
        assert cli.main(["simulate", source, "--json", "-p", "front.u=1", *options]) == 0
        series = json.loads(capsys.readouterr().out)["series"]
        assert series["back.y"][-1] == pytest.approx(2.0, rel=1e-6)
        return series["time"]

    own = np.union1d(np.arange(21) * 0.05, np.arange(51) * 0.02).round(9)
    assert cli.main(["ssp", "pair.toml", "-o", "pair.ssp"]) == 0
    capsys.readouterr()
    for source in ("pair.toml", "pair.ssp"):
        assert times(source) == pytest.approx(np.unique(own), abs=1e-9)
        assert times(source, "--communication-step", "0.25") == pytest.approx(np.arange(5) * 0.25)
        halves = times(source, "--communication-step", "0.5", "--communication-step", "front=0.25")
        assert halves == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])
        assert len(times(source, "--tolerance", "1e-4")) not in (5, len(own))
        assert cli.main(["info", source, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        both = {name: told["steps"].get(name, told["step"]) for name in ("front", "back")}
        assert both == {"front": 0.05, "back": 0.02}
        assert cli.main(["info", source]) == 0
        assert "steps that it asks for" in " ".join(capsys.readouterr().out.split())


def test_where_a_package_has_hints_alone_its_step_is_the_shortest(fmus: pathlib.Path) -> None:
    """That of `back` is the base step of the file, which is taken away."""
    files = {"front": fmus / "amplifier.fmu", "back": fmus / "store.fmu", "slow": fmus / "store.fmu"}
    structure = SystemStructure.of(files, [("front.y", "back.u"), ("front.y", "slow.u")])
    write_ssp(structure, fmus / "all.ssp", step=0.2, steps={"front": 0.05, "back": 0.02, "slow": 0.1})
    with zipfile.ZipFile(fmus / "all.ssp") as source, zipfile.ZipFile(fmus / "hints.ssp", "w") as target:
        for name in source.namelist():
            target.writestr(name, re.sub(rb"<[^<>]*baseStepSize[^<>]*/>", b"", source.read(name)))
    with open_package(fmus / "hints.ssp") as package:
        assert (package.step, dict(package.steps)) == (0.05, {"front": 0.05, "slow": 0.1})


def test_libcosim_takes_the_steps_of_a_package(fmus: pathlib.Path) -> None:
    """y' = 2: the store goes on every fourth step only."""
    execution = pytest.importorskip("libcosimpy.CosimExecution", reason="takes libcosimpy: pip install libcosimpy")
    observer = pytest.importorskip("libcosimpy.CosimObserver").CosimObserver.create_last_value()
    logging = pytest.importorskip("libcosimpy.CosimLogging")
    logging.log_output_level(logging.CosimLogLevel.ERROR)
    files = {"front": fmus / "amplifier.fmu", "back": fmus / "store.fmu"}
    structure = SystemStructure.of(files, [("front.y", "back.u")])
    write_ssp(structure, fmus / "slow.ssp", step=0.1, steps={"back": 0.4})
    run = execution.CosimExecution.from_ssp_file(str(fmus / "slow.ssp"))
    run.add_observer(observer=observer)
    run.real_initial_value(run.slave_index_from_instance_name("front"), reference(structure, "front", "u"), 1.0)
    back, shown = run.slave_index_from_instance_name("back"), []
    for _ in range(8):
        run.step(1)
        shown += observer.last_real_values(back, [reference(structure, "back", "y")])
    assert shown == pytest.approx([0.0, 0.0, 0.0, 0.8, 0.8, 0.8, 0.8, 1.6], rel=1e-9)


def reference(structure: SystemStructure, element: str, name: str) -> int:
    (scalar,) = structure.scalars(element, name)
    return int(scalar.variable.valueReference)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("simulate nested.ssp --communication-step store=fast", ["store=fast", "'fast' is no number"]),
        ("simulate nested.ssp --communication-step 1 --communication-step 2", ["--communication-step 2", "twice"]),
        ("simulate nested.ssp --communication-step store=0.1", ["steps of store", "give step"]),
        ("simulate nested.ssp --communication-step 1 --communication-step stor=1", ["'stor'", "did you mean store"]),
        ("simulate nested.ssp --solver implicit", ["--solver", "FMUs bring their own integrators"]),
        ("simulate nested.ssp --events", ["--events", "leave it out"]),
        ("simulate nested.ssp --floating", ["--floating", "sources in other formats"]),
        ("simulate nested.ssp --threads 2 --scheme gauss-seidel", ["threads = 2", "one after the other"]),
        ("simulate nested.ssp --threads 0", ["threads = 0"]),
        ("simulate nested.ssp --scheme jacoby", ["scheme 'jacoby'", "did you mean jacobi"]),
        ("simulate nested.ssp --limit 5", ["limit = 5", "processes"]),
        ("simulate nested.ssp --interval 0.1 --communication-step 0.1", ["longest = 0.1 s", "leave it"]),
        ("animate nested.ssp --live", ["--live", "one model"]),
        ("animate nested.ssp --solver explicit", ["--solver", "leave it out"]),
        ("info nested.ssp --equations", ["--equations", "do not show their equations"]),
        ("info nested.ssp -p store.integrator.k=1", ["--parameter", "they are for runs"]),
        ("simulate double_pendulum --scheme jacobi", ["--scheme", "is for systems of FMUs"]),
        ("simulate amplifier.fmu --processes", ["--processes", "is for systems of FMUs"]),
        ("animate double_pendulum --threads 2", ["--threads", "is for systems of FMUs"]),
        ("simulate double_pendulum --limit 5", ["--limit", "is for systems of FMUs"]),
        ("animate double_pendulum --communication-step 0.1", ["--communication-step", "is for systems of FMUs"]),
    ],
)
def test_options_that_would_change_nothing_are_refused(
    line: str, words: list[str], fmus: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(fmus)
    written(fmus, fmus / "nested.ssp")
    assert cli.main(line.split()) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert all(word in told for word in words), told


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"type": "application/x-ssp-package"}, "the component store is of type application/x-ssp-package"),
        ({"k": "many"}, "the parameter integrator.k = 'many' is no number"),
        ({"output": "z"}, "joins store.z and level, of which one is no connector"),
    ],
)
def test_packages_that_cannot_be_run_are_refused(
    changes: dict[str, str], words: str, fmus: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(ValidationError, match=words), open_package(written(fmus, tmp_path / "bad.ssp", **changes)):
        pass


def rewritten(source: pathlib.Path, target: pathlib.Path, name: str, old: bytes, new: bytes) -> pathlib.Path:
    """A copy of an archive in which one entry says something else."""
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(target, "w") as other:
        for entry in archive.namelist():
            data = archive.read(entry)
            assert entry != name or old in data
            other.writestr(entry, data.replace(old, new) if entry == name else data)
    return target


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        (None, b"", b"", []),
        ("SystemStructure.ssd", b'kind="output"', b'kind="outlet"', ["SystemStructure.ssd, line ", "'outlet'"]),
        (
            "SystemStructure.ssd",
            b'endConnector="u"',
            b'endConnector="v"',
            ["joins front.y and back.v, of which one is"],
        ),
        ("front", b'initial="exact"', b'initial="exactly"', ["front: modelDescription.xml, line ", "exactly"]),
    ],
    ids=["good", "schema", "connection", "description"],
)
def test_packages_are_validated_with_what_is_in_them(
    name: str | None, old: bytes, new: bytes, words: list[str], fmus: pathlib.Path, tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    files = {"front": fmus / "amplifier.fmu", "back": fmus / "store.fmu"}
    if name == "front":
        files["front"] = rewritten(files["front"], tmp_path / "front.fmu", "modelDescription.xml", old, new)
    package = tmp_path / "pair.ssp"
    write_ssp(SystemStructure.of(files, [("front.y", "back.u")]), package)
    if name == "SystemStructure.ssd":
        package = rewritten(package, tmp_path / "changed.ssp", name, old, new)
    assert cli.main(["validate", str(package)]) == (1 if words else 0)
    captured = capsys.readouterr()
    told = " ".join((captured.out + captured.err).split())
    assert all(word in told for word in words), told


@pytest.mark.slow
def test_entries_that_stand_twice_are_told_of_packages_too(
    fmus: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = written(fmus, tmp_path / "nested.ssp")
    with zipfile.ZipFile(package, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("resources/set.ssv", SSV)
    assert cli.main(["validate", str(package)]) == 1
    assert 'The archive has 2 entries "resources/set.ssv"' in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_systems_without_a_scene_are_not_animated(
    fmus: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = written(fmus, tmp_path / "nested.ssp")
    assert cli.main(["animate", str(package), "-o", str(tmp_path / "page.html")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "Nested: no FMU of it has a scene; front_end_amp: " in told
    assert not (tmp_path / "page.html").exists()


class Falling(Assembly):
    """A body that falls along a rail, with its way as output."""

    def __init__(self):
        self.world = World(n=(0, -1, 0), g=10.0)
        self.rail = Prismatic(n=(0, 1, 0), s=Start(0.0, fixed=True), v=Start(0.0, fixed=True))
        self.body = Body(m=1.0, r_CM=(0, 0, 0))
        self.connect(self.world.frame_b, self.rail.frame_a)
        self.connect(self.rail.frame_b, self.body.frame_a)
        self.output(self.rail.s, "way")


@pytest.mark.slow
def test_what_has_a_scene_in_a_system_is_recorded_finely(fmus: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """-g t^2 / 2, in 300 rows at least; those of the store, of which nothing is drawn, are left out."""
    mbfmu.build(Falling(), tmp_path / "falling.fmu", equations="interpreted")
    files = {"body": tmp_path / "falling.fmu", "back": fmus / "store.fmu"}
    write_ssp(SystemStructure.of(files, [("body.way", "back.u")]), tmp_path / "fall.ssp", stop_time=0.5)
    with open_package(tmp_path / "fall.ssp") as package:
        for how, rows in ((systems.Stepping(longest=0.1), None), (systems.Stepping(stop=0.3), 300)):
            recorded = systems.record_system(package, tmp_path / "page.html", (), how)
            result = recorded.result
            assert result.time[-1] == pytest.approx(how.stop or 0.5)
            assert (rows is None) == (result.time.size < 300)
            moved = [name for name in result if name.startswith("body.") and np.ptp(result[name]) > 0.1]
            assert any(result[name] == pytest.approx(-5 * result.time**2, abs=1e-3) for name in moved)
            assert not any(name.startswith("back.") for name in result)
    page = tmp_path / "fall.html"
    assert cli.main(["animate", str(tmp_path / "fall.ssp"), "-o", str(page), "--communication-step", "0.1"]) == 0
    assert page.stat().st_size > 10_000


@pytest.mark.slow
def test_assemblies_of_a_system_file_are_built_for_a_run(
    fmus: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is told with its name; the rest are the FMUs that the file names. y' = 2 u."""
    (tmp_path / "amp.py").write_text(
        "from mbfmu import Assembly\nfrom mbfmu.components import blocks\n\n\n"
        + inspect.getsource(Amplifier), encoding="utf-8",
    )  # fmt: skip
    text = STEPS.replace("amplifier.fmu", "amp.py").replace("store.fmu", str(fmus / "store.fmu"))
    (tmp_path / "pair.toml").write_text(text, encoding="utf-8")
    made, build = [], mbfmu.export.build.build

    def quickly(assembly: Assembly, file: pathlib.Path, *, progress: Callable[[str], None]) -> pathlib.Path:
        made.append(file.name)
        return build(assembly, file, equations="interpreted", progress=progress)

    monkeypatch.setattr(mbfmu.export.build, "build", quickly)
    told: list[str] = []
    with systems.open_system(str(tmp_path / "pair.toml"), told.append) as package:
        assert package.structure.name == "Pair"
        assert (package.stop_time, package.step, dict(package.steps)) == (1.0, 0.05, {"back": 0.02})
        names = {variable.name for variable in systems.variables_of(package)}
        assert {"front.u", "front.gain.k", "back.y", "back.integrator.k"} <= names
        result = cosimulate(package.structure, step=0.1, stop_time=1.0, start_values={"front.u": 3.0})
        assert result["back.y"][-1] == pytest.approx(6.0)
    assert made == ["front.fmu"]
    assert told
    assert all(one.startswith("front: ") for one in told)


def test_damaged_packages_are_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "text.ssp").write_text("no archive", encoding="utf-8")
    with (
        pytest.raises(ValidationError, match="is not an SSP package, for it is no ZIP"),
        open_package(tmp_path / "text.ssp"),
    ):
        pass
    with zipfile.ZipFile(tmp_path / "empty.ssp", "w"):
        pass
    with pytest.raises(ValidationError, match=r"has no SystemStructure\.ssd"), open_package(tmp_path / "empty.ssp"):
        pass
