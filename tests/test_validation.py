from __future__ import annotations

import pathlib
import re
import zipfile

import fmpy
import pytest
import pythonfmu
from fmpy.model_description import ValidationError as Invalid
from lxml import etree

from mbfmu import validation
from mbfmu.errors import ValidationError
from mbfmu.export import layered_wasm
from mbfmu.fmi import archive
from mbfmu.fmi.description import read_description
from mbfmu.fmi.rules import description_problems
from mbfmu.validation import validate

#: A correct description, written by hand after FMI 2.0.4; the tests break it in one place each.
DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Mass" guid="{42}" generationDateAndTime="2024-02-29T10:30:00Z"
    variableNamingConvention="structured">
  <CoSimulation modelIdentifier="mass"/>
  <UnitDefinitions>
    <Unit name="m"><BaseUnit m="1"/><DisplayUnit name="mm" factor="1000"/></Unit>
    <Unit name="kg"><BaseUnit kg="1"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <SimpleType name="Width"><Real unit="m" min="2"/></SimpleType>
    <SimpleType name="Depth"><Real unit="m" max="0"/></SimpleType>
    <SimpleType name="Length"><Real unit="m" min="-5" max="5"/></SimpleType>
  </TypeDefinitions>
  <LogCategories><Category name="logAll"/></LogCategories>
  <DefaultExperiment startTime="0" stopTime="1" tolerance="1e-6" stepSize="0.01"/>
  <ModelVariables>
    <ScalarVariable name="time" valueReference="0" causality="independent"><Real/></ScalarVariable>
    <ScalarVariable name="m" valueReference="1" causality="parameter" variability="fixed" initial="exact">
      <Real unit="kg" min="0" start="2" nominal="1"/></ScalarVariable>
    <ScalarVariable name="f[1]" valueReference="2" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="s" valueReference="3" initial="exact"><Real declaredType="Length" start="1"/></ScalarVariable>
    <ScalarVariable name="v" valueReference="4" initial="approx"><Real derivative="4" start="0"/></ScalarVariable>
    <ScalarVariable name="der(v)" valueReference="5"><Real derivative="5"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="3" causality="output"><Real unit="m" displayUnit="mm"/></ScalarVariable>
    <ScalarVariable name="n" valueReference="6" variability="constant"><Real start="7"/></ScalarVariable>
    <ScalarVariable name="o.k" valueReference="6" variability="constant"><Real start="7"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs><Unknown index="7" dependencies="4" dependenciesKind="constant"/></Outputs>
    <Derivatives>
      <Unknown index="5" dependencies="5"/>
      <Unknown index="6" dependencies="3 5" dependenciesKind="fixed dependent"/>
    </Derivatives>
    <InitialUnknowns>
      <Unknown index="5"/>
      <Unknown index="6" dependencies="2 3" dependenciesKind="dependent dependent"/>
      <Unknown index="7" dependencies="4"/>
    </InitialUnknowns>
  </ModelStructure>
</fmiModelDescription>
"""


def host_library() -> bytes:
    """Return a library for Linux that exports what co-simulation needs: that of pythonfmu."""
    folder = pathlib.Path(pythonfmu.__file__).parent / "resources" / "binaries" / "linux64"
    return next(folder.glob("*.so")).read_bytes()


def pack(path: pathlib.Path, description: str = DESCRIPTION, **entries: str | bytes) -> pathlib.Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", description)
        archive.writestr("binaries/other64/mass.so", "no library")
        for name, text in entries.items():
            archive.writestr(name, text)
    return path


def test_a_correct_file_has_no_problems(tmp_path: pathlib.Path) -> None:
    assert validate(pack(tmp_path / "mass.fmu")) == []
    assert read_description(tmp_path / "mass.fmu").modelName == "Mass"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('guid="{42}"', 'guid=" "', "guid is empty"),
        ("2024-02-29T10:30:00Z", "2024-02-29T10:30:00+01:00", "generationDateAndTime"),
        ('stopTime="1"', 'stopTime="-1"', "stop time -1 s is before the start time 0 s"),
        ('tolerance="1e-6"', 'tolerance="0"', 'tolerance="0" is not positive'),
        ('stepSize="0.01"', 'stepSize="-1"', 'stepSize="-1" is not positive'),
        (
            '<Category name="logAll"/>',
            '<Category name="logAll"/><Category name="logAll"/>',
            '"logAll" is defined 2 times',
        ),
        ('<Unit name="kg">', '<Unit name="m">', 'unit "m" is defined 2 times'),
        ('name="f[1]"', 'name="f[x]"', "convention structured"),
        ('name="f[1]"', 'name="2f"', "convention structured"),
        (
            'name="f[1]" valueReference="2" causality="input"',
            'name="u" valueReference="2" causality="independent"',
            "second",
        ),
        ('causality="input">', 'causality="input" initial="exact">', 'causality="input" must not have'),
        ('min="0" start="2"', 'min="3" start="2"', "start=2 is not between min and max, 3 and inf"),
        ('min="0" start="2"', 'min="3" max="1" start="2"', "min=3 is above max=1"),
        (
            'declaredType="Length" start="1"',
            'declaredType="Length" start="6"',
            "start=6 is not between min and max, -5 and 5",
        ),
        ('nominal="1"', 'nominal="0"', "nominal=0 is not positive"),
        ('unit="m" displayUnit="mm"', 'displayUnit="mm"', "has a displayUnit, but no unit"),
        (
            'name="f[1]" valueReference="2"',
            'name="u" valueReference="1"',
            '"m" and "u": only one of them may have a start',
        ),
        ('name="n" valueReference="6"', 'name="n" valueReference="3"', "constants can only be aliases of constants"),
        ('<Real start="7"/></ScalarVariable>\n  </', '<Real start="8"/></ScalarVariable>\n  </', "equal start values"),
        (
            'name="y" valueReference="3" causality="output"><Real unit="m"',
            'name="y" valueReference="3" causality="output"><Real relativeQuantity="true" unit="m"',
            "relativeQuantity",
        ),
        ('<Real unit="m" displayUnit="mm"/>', "<Real/>", '"s" and "y": must all have the same unit'),
        ('derivative="4"', 'derivative="40"', "derivative 40 is not the index of a variable; there are 9"),
        ('derivative="5"/>', 'derivative="6"/>', "derivative of itself"),
        ('derivative="5"/>', 'derivative="4"/>', "two entries are derivatives of the same state"),
        (
            'causality="independent"><Real/>',
            'causality="independent"><Integer/>',
            '"time" (line 17): the independent variable must be Real',
        ),
        ('derivative="4"', 'derivative="2"', "must be continuous and Real"),
        ('dependencies="3 5"', 'dependencies="5 3"', "not in ascending order"),
        ('dependencies="3 5"', 'dependencies="2 5"', 'depends on "m", which is not one of its knowns'),
        ('dependencies="2 3"', 'dependencies="2 5"', 'depends on "v", which is not one of its knowns'),
        ('dependencies="3 5"', 'dependencies="3 4 5"', "has 3 dependencies and 2 kinds of them"),
        (
            'dependencies="2 3" dependenciesKind="dependent dependent"',
            'dependencies="2 3" dependenciesKind="fixed fixed"',
            '"fixed" is not one for initial unknowns',
        ),
        ('<Unknown index="5"/>\n', "", "der(v), y"),
        ('<Unknown index="5"/>\n', '<Unknown index="5"/><Unknown index="5"/>\n', '"v" is listed 2 times'),
        ('<Unknown index="7" dependencies="4"/>', '<Unknown index="4"/>', "order of the variables"),
        ('index="6" dependencies="3 5"', 'index="77" dependencies="3 5"', "index 77 is not the index"),
        ('modelIdentifier="mass"', 'modelIdentifier="1mass"', "not a C identifier"),
        ('modelIdentifier="mass"', 'modelIdentifier="mess"', 'neither a binary "mess"'),
        (
            '<CoSimulation modelIdentifier="mass"/>',
            '<CoSimulation modelIdentifier="mass"><SourceFiles><File name="a.c"/></SourceFiles></CoSimulation>',
            '"sources/a.c" is listed',
        ),
        ('causality="input"', 'causality="inputs"', "inputs"),
        ('unit="kg" min', 'unit="g" min', 'unit "g"'),
    ],
)
def test_each_broken_rule_is_told(tmp_path: pathlib.Path, old: str, new: str, problem: str) -> None:
    assert DESCRIPTION.count(old) >= 1
    problems = validate(pack(tmp_path / "mass.fmu", DESCRIPTION.replace(old, new, 1)), run=False)
    assert any(problem in text for text in problems), problems


def test_comments_are_no_variables(tmp_path: pathlib.Path) -> None:
    """Wherever XML may have one."""
    text = re.sub(
        r"(<(Real|BaseUnit|Unknown|ScalarVariable|SimpleType|Outputs)\b)", r"<!-- a --><?b c?>\1", DESCRIPTION
    )
    assert text.count("<!--") > 30
    assert validate(pack(tmp_path / "mass.fmu", text, **{"binaries/linux64/mass.so": host_library()}), run=False) == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("resources\\a.txt", "has a backslash"),
        ("./resources/a.txt", "not a plain relative path"),
        ("resources//a.txt", "not a plain relative path"),
        ("/etc/a.txt", "leads out of the archive"),
        ("../a.txt", "leads out of the archive"),
        ("C:/a.txt", "leads out of the archive"),
    ],
)
def test_names_in_the_archive(tmp_path: pathlib.Path, name: str, problem: str) -> None:
    (text,) = validate(pack(tmp_path / "mass.fmu", **{name: "text"}), run=False)
    assert f'"{name}"' in text
    assert problem in text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("<fmiTerminalsAndIcons", "is not XML"),
        ('<fmiTerminalsAndIcons fmiVersion="2.0"/>', "fmiVersion"),
        (
            '<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals><Terminal name="flange" matchingRule="bus">'
            '<TerminalMemberVariable variableName="y" variableKind="signal"/>'
            '<TerminalMemberVariable variableName="z" variableKind="signal"/>'
            "</Terminal></Terminals></fmiTerminalsAndIcons>",
            'line 1: there is no variable "z"',
        ),
    ],
)
def test_terminals(tmp_path: pathlib.Path, content: str, problem: str) -> None:
    path = pack(tmp_path / "mass.fmu", **{"terminalsAndIcons/terminalsAndIcons.xml": content})
    problems = validate(path, run=False)
    assert problems
    assert all(problem in text for text in problems)


def test_compression_and_duplicates(tmp_path: pathlib.Path) -> None:
    path = pack(tmp_path / "mass.fmu")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("resources/a.txt", "text" * 100, zipfile.ZIP_BZIP2)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("binaries/other64/mass.so", "again")
    duplicate, compression = validate(path, run=False)
    assert "2 entries" in duplicate
    assert "neither stored nor deflated" in compression


def test_damaged_entry(tmp_path: pathlib.Path) -> None:
    path = pack(tmp_path / "mass.fmu", note="x")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as file:
        file.writestr("resources/a.txt", "unmistakable")
    path.write_bytes(path.read_bytes().replace(b"unmistakable", b"unmistakeble"))
    assert validate(path, run=False) == ['The entry "resources/a.txt" of the archive is damaged.']
    with pytest.raises(ValidationError, match=r"mass\.fmu: cannot be unpacked \(.*a\.txt.*\); build it again, or copy"):
        archive.unpack(path, tmp_path / "folder")


def test_names_need_no_structure_where_they_have_no_convention(tmp_path: pathlib.Path) -> None:
    named = DESCRIPTION.replace('name="f[1]"', 'name="2 f["')
    flat = named.replace('variableNamingConvention="structured"', 'variableNamingConvention="flat"')
    assert validate(pack(tmp_path / "mass.fmu", flat), run=False) == []
    assert validate(pack(tmp_path / "mass.fmu", named), run=False)


def test_types_that_are_not_declared_are_told_once(tmp_path: pathlib.Path) -> None:
    """By FMPy; our own rules take the variable as it is."""
    lost = DESCRIPTION.replace('declaredType="Length"', 'declaredType="Loss" unit="m" min="4"')
    assert description_problems(etree.fromstring(lost.encode())) == [
        'The variable "s" (line 21): start=1 is not between min and max, 4 and inf.'
    ]
    (problem,) = validate(pack(tmp_path / "mass.fmu", lost.replace(' min="4"', "")), run=False)
    assert "Loss" in problem


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 not really"])
def test_a_file_that_is_no_archive(tmp_path: pathlib.Path, content: bytes) -> None:
    path = tmp_path / "a.fmu"
    path.write_bytes(content)
    with pytest.raises(ValidationError, match=r"a\.fmu: is not an FMU"):
        validate(path)
    with pytest.raises(ValidationError, match=r"a\.fmu: is not an FMU"):
        read_description(path)


def test_an_archive_that_is_no_fmu(tmp_path: pathlib.Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.fmu", "w") as archive:
        archive.writestr("other.xml", "<a/>")
    with pytest.raises(ValidationError, match="no modelDescription"):
        validate(tmp_path / "a.fmu")
    with pytest.raises(ValidationError, match="is not XML"):
        validate(pack(tmp_path / "b.fmu", "<fmiModelDescription"))


def test_a_missing_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValidationError, match=r"nothing\.fmu: no such file"):
        validate(tmp_path / "nothing.fmu")


def test_another_version_of_fmi_is_left_to_fmpy(tmp_path: pathlib.Path) -> None:
    path = pack(tmp_path / "a.fmu", '<fmiModelDescription fmiVersion="3.0" modelName="a"/>')
    assert validate(path)


def test_a_binary_must_be_a_library_with_all_functions(tmp_path: pathlib.Path) -> None:
    path = pack(tmp_path / "mass.fmu", **{"binaries/win64/mass.dll": "no library"})
    (problem,) = validate(path, run=False)
    assert problem == 'The binary "binaries/win64/mass.dll" is no shared library for its platform.'
    library = host_library().replace(b"\0fmi2DoStep\0", b"\0fmi2DoSkip\0")
    (problem,) = validate(pack(tmp_path / "other.fmu", **{"binaries/linux64/mass.so": library}), run=False)
    assert problem.endswith("does not export fmi2DoStep, which CoSimulation needs.")


def test_a_binary_for_another_processor_is_told(tmp_path: pathlib.Path) -> None:
    """By names of FMI 3.0; what FMI 2.0 calls linux64 may be for others than x86, too."""
    library = bytearray(host_library())
    library[18:20] = (183).to_bytes(2, "little")
    assert validate(pack(tmp_path / "mass.fmu", **{"binaries/linux64/mass.so": bytes(library)}), run=False) == []
    name = "binaries/x86_64-linux/mass.so"
    problems = validate(pack(tmp_path / "mass.fmu", FMI_3, **{name: bytes(library)}), run=False)
    assert f'The binary "{name}" is for another processor, aarch64.' in problems


def test_what_is_encrypted_is_told(tmp_path: pathlib.Path) -> None:
    files = {"binaries/linux64/mass.so": host_library(), "resources/a.txt": "a", "resources/\u00fc.txt": "u"}
    path = pack(tmp_path / "mass.fmu", **files)
    data = bytearray(path.read_bytes())
    place = data.rindex(b"resources/a.txt")  # in the directory, whose entry has 46 bytes before its name
    data[place - 46 + 8] |= 1
    path.write_bytes(data)
    problems = validate(path, run=False)
    assert [problem for problem in problems if "encrypted" in problem] == ['The entry "resources/a.txt" is encrypted.']


def test_what_unpacks_to_more_than_any_is_refused(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path / "mass.fmu", **{"resources/zeros": bytes(2_000_000)})
    monkeypatch.setattr(archive, "LARGEST", 1_000_000)
    with pytest.raises(ValidationError, match=r"mass\.fmu: unpacks to 0\.0 GB, more than .* an FMU may have"):
        read_description(path)


FMI_3 = (
    '<fmiModelDescription fmiVersion="3.0" modelName="Mass" instantiationToken="1">'
    '<CoSimulation modelIdentifier="mass"/><ModelVariables><Float64 name="time" valueReference="0" '
    'causality="independent"/></ModelVariables><ModelStructure/></fmiModelDescription>'
)
SOURCES = '<fmiBuildDescription fmiVersion="3.0"><BuildConfiguration modelIdentifier="mass">{}</BuildConfiguration>'
SOURCES += "</fmiBuildDescription>"
SOURCE = '<SourceFileSet language="C99"><!-- all --><SourceFile name="mass.c"/></SourceFileSet>'


@pytest.mark.parametrize(
    ("entries", "problems"),
    [
        ({"sources/buildDescription.xml": SOURCES.format(SOURCE), "sources/mass.c": ""}, []),
        ({"sources/buildDescription.xml": SOURCES.format(SOURCE)}, ['file "sources/mass.c" is listed, but not in']),
        ({"sources/buildDescription.xml": "<broken"}, ["buildDescription.xml is not XML ("]),
        ({"sources/buildDescription.xml": SOURCES.format("<Sources/>")}, ["Sources"]),
    ],
    ids=["good", "missing", "no XML", "schema"],
)
def test_descriptions_of_sources(tmp_path: pathlib.Path, entries: dict[str, str], problems: list[str]) -> None:
    found = validate(pack(tmp_path / "mass.fmu", FMI_3, **entries), run=False)
    if not problems:
        assert not [one for one in found if "source" in one.lower()], found
    for problem in problems:
        assert any(problem in one for one in found), found


@pytest.mark.parametrize("name", layered_wasm.MANIFESTS)
@pytest.mark.parametrize(("content", "problem"), [("<broken", "is not XML ("), ("<!-- a --><other/>", "other")])
def test_manifests_of_webassembly(tmp_path: pathlib.Path, name: str, content: str, problem: str) -> None:
    found = validate(pack(tmp_path / "mass.fmu", FMI_3, **{name: content}), run=False)
    assert any(name in one and problem in one for one in found), found


def wasm_component(*exports: str) -> bytes:
    """A WebAssembly component that exports instances by these names (Component Model, Binary.md: section 11)."""
    names = [b"\0" + bytes([len(name)]) + name.encode() + b"\x05\0\0" for name in exports]
    body = bytes([len(names)]) + b"".join(names)
    return b"\0asm\x0d\0\1\0" + b"\x0b" + bytes([len(body) & 127 | 128, len(body) >> 7]) + body


@pytest.mark.parametrize(
    ("element", "interface"), [("CoSimulation", "co-simulation"), ("ModelExchange", "model-exchange")]
)
def test_a_webassembly_component_has_what_its_interface_needs(
    tmp_path: pathlib.Path, element: str, interface: str
) -> None:
    description = (
        '<fmiModelDescription fmiVersion="3.0" modelName="Mass" instantiationToken="1">'
        f'<{element} modelIdentifier="mass"/><ModelVariables>'
        '<Float64 name="time" valueReference="0" causality="independent"/></ModelVariables><ModelStructure/>'
        "</fmiModelDescription>"
    )
    name = "binaries/wasm32-wasip2/mass.wasm"

    def told(content: bytes) -> list[str]:
        path = pack(tmp_path / "mass.fmu", description, **{name: content})
        return [problem for problem in validate(path, run=False) if name in problem]

    common, own = "fmi:fmi3/common@3.0.0", f"fmi:fmi3/{interface}@3.0.0"
    assert told(b"no component") == [f'The binary "{name}" is no WebAssembly component.']
    assert told(wasm_component(common, own)) == []
    for missing, there in ((common, own), (own, common)):
        assert told(wasm_component(there)) == [
            f'The component "{name}" does not export {missing}, which {element} needs.'
        ]


@pytest.mark.slow
@pytest.mark.skipif(fmpy.platform != "linux64", reason="breaks a library for Linux")
def test_a_library_that_does_not_load_is_a_problem_of_the_run(tmp_path: pathlib.Path) -> None:
    library = bytearray(host_library())
    library[18] ^= 0xFF  # the processor
    path = pack(tmp_path / "mass.fmu", **{"binaries/linux64/mass.so": bytes(library)})
    assert validate(path, run=False) == []
    (problem,) = validate(path)
    assert problem.startswith("The run fails")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("pass", None),
        ("import os; os.abort()", "The run ends in a crash (signal 6)."),
        ("import time; time.sleep(60)", "The run of 10 steps takes longer than 0.3 s."),
        ("raise SystemExit(3)", "The run fails without a message."),
        (r"import sys; sys.stderr.write('mbfmu.errors.ValidationError: pump: stuck\n\n'); sys.exit(1)", "pump: stuck"),
        (r"import sys; sys.stderr.buffer.write(b'\xfcber\nValueError: h\xf6her'); sys.exit(1)", "h\ufffdher"),
    ],
    ids=["well", "crash", "endless", "silent", "message", "another encoding"],
)
def test_how_a_run_in_a_process_of_its_own_ends_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, program: str, problem: str | None
) -> None:
    monkeypatch.setattr(validation, "_TRIAL", program.replace("{", "{{").replace("}", "}}"))
    monkeypatch.setattr(validation, "_runs_here", lambda *_: True)
    if "sleep" in program:
        monkeypatch.setattr(validation, "PATIENCE", 0.3)
    problems = validate(pack(tmp_path / "mass.fmu"))
    assert len(problems) == (problem is not None)
    assert problem is None or problem in problems[0]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({}, None),
        ({"one": ["y is off."]}, r"^y is off\.$"),
        ({"one": [], "two": ["y is off.", "z is off."], "three": ["x is off."]}, r"^y is off\. \(2 more\)$"),
    ],
    ids=["none", "one", "three"],
)
def test_of_reference_experiments_that_differ_the_first_is_told(
    monkeypatch: pytest.MonkeyPatch, found: dict[str, list[str]], told: str | None
) -> None:
    monkeypatch.setattr(validation.experiments, "transients", lambda folder: list(found))
    monkeypatch.setattr(validation.experiments, "replay", lambda path, each: found[each])
    if told is None:
        validation.replay("mass.fmu", "folder")
    else:
        with pytest.raises(ValidationError, match=told):
            validation.replay("mass.fmu", "folder")


@pytest.mark.parametrize(
    ("error", "problems"),
    [(Invalid(["one", "two"]), ["one", "two"]), (KeyError("guid"), ["'guid'"])],
    ids=["rules", "failure"],
)
def test_what_fmpy_finds_or_fails_by_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, error: Exception, problems: list[str]
) -> None:
    def read(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("fmpy.model_description.read_model_description", read)
    assert validate(pack(tmp_path / "mass.fmu"), run=False) == problems


def test_rules_stand_alone() -> None:
    assert description_problems(etree.fromstring(DESCRIPTION.encode())) == []


def test_dependencies_on_tunable_parameters(tmp_path: pathlib.Path) -> None:
    """FMI 2.0.4, section 2.2.8, has them as arguments of the functions of outputs and derivatives."""
    tunable = DESCRIPTION.replace('variability="fixed"', 'variability="tunable"')
    depends = tunable.replace('dependencies="3 5"', 'dependencies="2 5"')
    assert depends != tunable != DESCRIPTION
    assert validate(pack(tmp_path / "mass.fmu", depends), run=False) == []
