"""Wrong assembly files and wrong FMUs as files: each is refused with its entry and the remedy."""

from __future__ import annotations

import pathlib
import struct
import zipfile

import pytest
from refusals import GOOD, Refused

GAIN = '[[component]]\nname = "g"\nclass = "Blocks.Math.Gain"\nparameters = {k = 1}\n'

#: What comes behind (or, from `^` on, instead of) a good file -> words of the message.
FILES: dict[str, list[str]] = {
    "^[component]\nname = 'a'": ["component", "[[component]]"],
    "^connect = 5": ["connect = 5", "[[connect]]"],
    "^connect = [5]": ["connect", "[[connect]]"],
    "^component = 'x'": ["component = 'x'", "[[component]]"],
    "^world = 3": ["world = 3", "a table"],
    "^input = true": ["input = True", "[[input]]"],
    "^output = 1979-05-27": ["output = 1979-05-27", "[[output]]"],
    "^experiment = 1": ["experiment = 1", "[experiment]"],
    "^name = 5": ["name = 5", "text"],
    "^name = 1979-05-27T07:32:00Z": ["name = 1979-05-27", "text"],
    "^description = []": ["description = [...]", "text"],
    "^name = {a = 1}": ["name = {...}", "text"],
    "^assembly = 5": ["assembly = 5", "text"],
    "^assembly = 'none'": ["'none'", "not in the gallery"],
    "^assembly = 'pendulum'\n[[component]]\nname = 'a'\nclass = 'b'": ["component", "gallery assembly 'pendulum'"],
    "^assembly = 'pendulum'\n[world]": ["world", "leave out"],
    "^x = 1": ["unknown key 'x'"],
    "^x = ": ["no valid TOML"],
    "^x = 1\nx = 2": ["no valid TOML"],
    "^name = '''\\u0001'''\nname = 2": ["no valid TOML"],
    "^x = " + "[" * 5000 + "]" * 5000: ["nested too deeply"],
    "^x = " + "1" * 5000: ["no valid TOML"],
    '^description = "\\u0001"': ["description", "cannot carry"],
    "[[component]]": ["needs name"],
    "[[component]]\nname = 'a'": ["needs class"],
    "[[component]]\nname = 5\nclass = 'x'": ["name = 5", "text"],
    "[[component]]\nname = 'a'\nclass = 5": ["class = 5", "text"],
    "[[component]]\nname = 'a'\nclass = 'Damper'": ["full name", "MultiBody.Forces.Damper"],
    "[[component]]\nname = 'a'\nclass = 'MultiBody.Joints.Revolut'": ["did you mean", "Revolute"],
    "[[component]]\nname = 'a'\nclass = 'MultiBody.Joints.Revolute'\nx = 1": ["unknown key 'x'"],
    "[[component]]\nname = 'a b'\nclass = 'MultiBody.Joints.Revolute'": ["'a b'", "can be no name"],
    "[[component]]\nname = '../..'\nclass = 'MultiBody.Joints.Revolute'": ["can be no name"],
    "[[component]]\nname = ''\nclass = 'MultiBody.Joints.Revolute'": ["can be no name"],
    "[[component]]\nname = 'j'\nclass = 'MultiBody.Joints.Revolute'": ["component j", "twice"],
    "[[component]]\nname = 'a'\nclass = 'MultiBody.Joints.Revolute'\nparameters = [1]": ["parameters", "a table"],
    GAIN + "dim = [true]": ["dim = [True]"],
    GAIN + "dim = [100000000]": ["dim = [100000000]", "1 to 10000"],
    GAIN + "dim = [-1]": ["dim = [-1]"],
    GAIN + "dim = []": ["dim = []"],
    GAIN + "dim = [2, 2]": ["dim = [2, 2]"],
    GAIN + "dim = 2": ["dim = 2", "a list"],
    GAIN.replace("1}", "true}"): ["g", "k = True", "a number"],
    GAIN.replace("1}", "'1'}"): ["g", "k = '1'", "a number"],
    GAIN.replace("1}", "1979-05-27}"): ["g", "k = 1979-05-27", "date"],
    GAIN.replace("1}", "07:32:00}"): ["g", "date or time"],
    GAIN.replace("1}", "nan}"): ["k = nan", "finite"],
    GAIN.replace("1}", "inf}"): ["k = inf", "finite"],
    GAIN.replace("1}", "1" + "0" * 400 + "}"): ["k = 1", "a number"],
    GAIN.replace("1}", "{start = 'x'}}"): ["k", "text"],
    GAIN.replace("1}", "{fixed = 'false'}}"): ["k", "'false'", "true or false"],
    GAIN.replace("1}", "{}}"): ["k"],
    GAIN.replace("k = 1", "q = 1"): ["no parameter 'q'"],
    GAIN: ["g.u", "not connected"],
    GAIN + "[[input]]\nvariable = 'g.u'\n[[input]]\nvariable = 'g.u'": ["g.u", "already"],
    GAIN + "[[input]]\nvariable = 'g.u'\nname = 'a'\n[[input]]\nvariable = 'g.u'\nname = 'b'": ["g.u", "already, a"],
    GAIN + "[[input]]\nvariable = 'g.u'\nname = 'j.phi'": ["input j.phi", "another variable"],
    GAIN + "[[input]]\nvariable = 'g.u'\nstart = 'x'": ["start = 'x'", "a number"],
    GAIN + "[[input]]\nvariable = 'g.u'\nstart = [1, 2]": ["[1, 2]", "2 numbers"],
    GAIN + "[[input]]\nvariable = 5": ["variable = 5", "text"],
    GAIN + "[[input]]\nname = 'u'": ["input", "needs variable"],
    "[[output]]\nname = 'u'": ["output", "needs variable"],
    "[[connect]]\na = 'b.frame_a'\nb = 'b.frame_a'": ["b.frame_a with itself", "name the other"],
    "[[output]]\nvariable = 'j.w'\n[[output]]\nvariable = 'j.w'": ["output j.w", "already"],
    "[[output]]\nvariable = 'j.x'": ["no variable j.x"],
    "[[output]]\nvariable = 'j.w'\nname = 'j.phi'": ["output j.phi", "another variable"],
    "[[output]]\nvariable = 'j.w'\nname = 'a b'": ["can be no name"],
    "[[output]]\nvariable = 'b.m'": ["b.m is a parameter"],
    "[[connect]]\na = 'j.frame_a'": ["needs b"],
    "[[connect]]\na = 'j.frame_a'\nb = 3": ["b = 3", "text"],
    "[[connect]]\na = 'j.frame_a'\nb = 'j'": ["is a component", "j.frame_a"],
    "[[connect]]\na = 'j.frame_a'\nb = 'x.y'": ["no component 'x'"],
    "[[connect]]\na = 'j.frame_a'\nb = 'b.frame_b'": ["no connector 'frame_b'"],
    "[[connect]]\na = 'j.frame_a[1]'\nb = 'b.frame_a'": ["only signals"],
    "[[connect]]\na = ''\nb = ''": ["no component ''"],
    "[experiment]\nstop = '3'": ["stop = '3'", "a number"],
    "[experiment]\nstop = true": ["stop = True", "a number"],
    "[experiment]\nstop = nan": ["stop_time = nan", "finite"],
    "[experiment]\nstop = -1": ["stop_time = -1", "later"],
    "[experiment]\ntolerance = 0": ["tolerance = 0", "positive"],
    "[experiment]\nsolver = 'x'": ["solver = 'x'", "explicit"],
    "[experiment]\nsolver = 3": ["solver = 3", "text"],
    "[experiment]\nstopp = 3": ["unknown key 'stopp'"],
}


@pytest.mark.slow
@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_a_wrong_assembly_file(text: str, folder: pathlib.Path, refused: Refused) -> None:
    content = text[1:] if text.startswith("^") else GOOD + text + "\n"
    (folder / "model.toml").write_text(content, encoding="utf-8")
    refused(["info", "model.toml"], FILES[text])


@pytest.mark.slow
def test_the_good_file_is_good(folder: pathlib.Path) -> None:
    from mbfmu import cli

    (folder / "model.toml").write_text(GOOD, encoding="utf-8")
    assert cli.main(["info", "model.toml"]) == 0


def fmu(folder: pathlib.Path, **entries: bytes) -> None:
    with zipfile.ZipFile(folder / "x.fmu", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["info", "validate"])
def test_files_that_are_no_fmus(command: str, folder: pathlib.Path, refused: Refused) -> None:
    file = folder / "x.fmu"
    for content, words in ((b"", "no ZIP"), (b"PK\3\4", "no ZIP"), (b"PK\5\6" + bytes(18), "no modelDescription.xml")):
        file.write_bytes(content)
        refused([command, "x.fmu"], ["x.fmu", words])
    fmu(folder, **{"modelDescription.xml": b"<x"})
    refused([command, "x.fmu"], ["modelDescription.xml is not XML"])
    fmu(folder, **{"modelDescription.xml": b""})
    refused([command, "x.fmu"], ["modelDescription.xml is not XML"])
    file.unlink()
    refused([command, "x.fmu"], ["x.fmu", "no such file"])


@pytest.mark.parametrize("command", ["info", "validate"])
def test_zip_bombs_are_not_unpacked(command: str, folder: pathlib.Path, refused: Refused) -> None:
    """The directory says how much an entry unpacks to; here it says more than there is, which costs nothing."""
    fmu(folder, **{"modelDescription.xml": b"<x/>"})
    content = (folder / "x.fmu").read_bytes()
    at = content.index(b"PK\1\2")
    for size, words in ((300_000_000, ["modelDescription.xml", "0.3 GB"]), (4_294_967_290, ["4.3 GB"])):
        (folder / "x.fmu").write_bytes(content[: at + 24] + struct.pack("<I", size) + content[at + 28 :])
        refused([command, "x.fmu"], words)


@pytest.mark.parametrize("command", ["info", "validate"])
def test_a_damaged_entry_is_named(command: str, folder: pathlib.Path, refused: Refused) -> None:
    fmu(folder, **{"modelDescription.xml": b"<fmiModelDescription fmiVersion='2.0'/>" * 10})
    content = bytearray((folder / "x.fmu").read_bytes())
    content[60] ^= 0xFF
    (folder / "x.fmu").write_bytes(bytes(content))
    refused([command, "x.fmu"], ["modelDescription.xml", "damaged"])
