"""Words that users look for, and warnings that they read."""

from __future__ import annotations

import io
import pathlib
import subprocess
import sys

import pytest
from rich.console import Console

import mbfmu
from mbfmu import cli, messages, printing, sources
from mbfmu.errors import ModelError
from mbfmu.sources import find_class

FIRST = {
    "Revolute": "MultiBody.Joints.Revolute",
    "Prismatic": "MultiBody.Joints.Prismatic",
    "hinge": "MultiBody.Joints.Revolute",
    "tyre": "Vehicle.Tyre",
    "tire": "MultiBody.Joints.RollingWheel",
    "motor": "Rotational.Sources.Torque",
    "pulley": "Rotational.Components.IdealGear",
    "universal": "MultiBody.Joints.Universal",
    "collision": "Contact.Contact",
    "floor": "Contact.Plane",
    "shock absorber": "MultiBody.Forces.Damper",
    "bumper": "Translational.Components.ElastoGap",
    "ballscrew": "Rotational.Components.IdealGearR2T",
    "suspension": "Vehicle.DoubleWishbone",
    "encoder": "Rotational.Sensors.AngleSensor",
    "accelerometer": "Translational.Sensors.AccSensor",
    "battery": "Electrical.Analog.Sources.ConstantVoltage",
    "ratchet": "Rotational.Components.OneWayClutch",
    "rope": "FlexibleBodies.FiniteSegmentBeam",
}


@pytest.mark.slow
@pytest.mark.parametrize("word", FIRST)
def test_what_is_found_first(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", *word.split()]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = lines[0] if lines[0].split()[0] != "name" else lines[1]
    assert shown.split()[0] == FIRST[word]


def test_a_word_itself_goes_before_another_for_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", "sheave"]) == 0
    assert "IdealGear" in capsys.readouterr().out


@pytest.mark.slow
def test_a_terminal_shows_a_screen_of_what_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The nearest, and how many there are beside; all of it with --all, and in pipes."""

    def said(*options: str) -> list[str]:
        assert cli.main(["list", "tyre", *options]) == 0
        return capsys.readouterr().out.splitlines()

    piped = said()
    monkeypatch.setattr(printing._Console, "is_terminal", True)
    shown, whole = said(), said("--all")
    assert len(piped) == len(whole) > 30
    assert len(shown) < 24
    entries = [line for line in whole[1:] if line[:1].strip()]
    assert shown[-1] == f"{len(entries) - 8} more: with --all, or with another word"


def test_a_word_inside_another_is_not_found(capsys: pytest.CaptureFixture[str]) -> None:
    """A rope is in no properties."""
    assert cli.main(["list", "rope"]) == 0
    assert "BodyBox" not in capsys.readouterr().out


@pytest.mark.slow
def test_warnings_come_once_and_without_a_path(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "warns.py"
    source.write_text(
        "import warnings\nfrom mbfmu import load\nfrom mbfmu.sources import find_class\n"
        "class Warns(find_class('pendulum')):\n    def __init__(self):\n"
        "        super().__init__()\n        for _ in range(3):\n            warnings.warn('mass is\\n small')\n"
        "        warnings.warn('mass is\\n small', stacklevel=1)\n"
    )
    command = [sys.executable, "-m", "mbfmu", "simulate", f"{source}:Warns", "--stop", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == ["! mass is small"]


# -- parts of messages


@pytest.mark.parametrize(
    ("names", "most", "told"),
    [
        ([], 4, ""),
        (["a"], 4, "a"),
        (["a", "b"], 4, "a and b"),
        (["a", "b", "c", "d"], 4, "a, b, c and d"),
        (["a", "b", "c", "d", "e"], 4, "a, b, c, d and 1 more"),
        (["a", "b", "c"], 1, "a and 2 more"),
    ],
)
def test_some_names_are_told_in_a_row(names: list[str], most: int, told: str) -> None:
    assert messages.some(names, most) == told
    if most == 4:
        assert messages.some(names) == told


@pytest.mark.parametrize(
    ("name", "known", "sentences", "told"),
    [
        ("dampr", ["damper", "spring"], None, "did you mean damper?"),
        ("body1", ["body3", "body2", "body10", "body4"], None, "did you mean body10 or body4 or body3?"),
        ("zz", ["b", "a"], None, "known: a, b"),
        ("zz", [f"k{i:02}" for i in range(12)], None, f"known: {', '.join(f'k{i:02}' for i in range(12))}"),
        ("zz", [f"k{i:02}" for i in range(13)], None, "see `mbfmu list`"),
        ("zz", ["one", "two"], {"two": "A ZZ is here", "one": "of any zz", "else": "zz"}, "did you mean two (A ZZ is "
         "here) or one (of any zz)?"),
        ("zz", ["one"], {"one": "fizzzz"}, "known: one"),
    ],
    ids=["near", "three", "few", "twelve", "more", "sentences", "no word"],
)  # fmt: skip
def test_what_a_wrong_name_was_meant_to_be(
    name: str, known: list[str], sentences: dict[str, str] | None, told: str
) -> None:
    assert messages.suggestion(name, known, "mbfmu list", sentences) == told


@pytest.mark.parametrize(
    ("name", "known", "told"),
    [
        ("v", ["v[1]", "v[2]"], "'v' is a vector or an array; name its elements, such as 'v[1]'"),
        ("phi", ["arm.joint.phi", "w"], "there is no variable 'phi'; did you mean 'arm.joint.phi'?"),
        ("PHI", ["arm.joint.phi", "w"], "there is no variable 'PHI'; did you mean 'arm.joint.phi'?"),
        ("q", ["x", "y"], "there is no variable 'q'"),
    ],
)
def test_what_a_variable_may_be_called(name: str, known: list[str], told: str) -> None:
    assert messages.unknown_variable(name, iter(known)) == told


def test_things_are_counted_and_called() -> None:
    assert [messages.counted(n, "run") for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert (messages.of("a frame", "arm"), messages.of("a frame", "")) == ("a frame of arm", "a frame")
    assert (messages.heading("arm"), messages.heading("")) == ("arm: ", "")


# -- terminals, displays and modules


@pytest.mark.parametrize(
    ("platform", "known", "shows"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"DISPLAY": ""}, False),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0", "SSH_CONNECTION": "1"}, True),
        ("linux", {"BROWSER": "w3m"}, True),
        ("darwin", {}, True),
        ("darwin", {"SSH_CONNECTION": "1", "DISPLAY": ":0"}, False),
        ("win32", {}, True),
    ],
)
def test_where_a_page_can_be_seen(
    platform: str, known: dict[str, str], shows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in known.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(printing.sys, "platform", platform)
    assert printing.has_display() is shows


def test_a_terminal_shows_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """In words as they are, that no markup is made of."""
    screen = io.StringIO()
    monkeypatch.setattr(printing, "progress_console", Console(file=screen, force_terminal=True, width=80))
    with printing.working("Reading [bold]arm[/bold]") as progress:
        progress("Deriving [red]w[1]")
    assert "Deriving [red]w[1]" in screen.getvalue()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", r"^broken_pump: cannot be imported.*ZeroDivisionError"),
        ("raise SystemExit(3)", r"^broken_pump: cannot be imported.*SystemExit"),
        ("import no_such_valve", r"^broken_pump: No module named 'no_such_valve'; is it installed"),
    ],
)
def test_modules_that_cannot_be_imported_are_named(
    text: str, message: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_pump.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelError, match=message):
        sources.import_module("broken_pump")
    assert "broken_pump" not in sys.modules


def test_the_package_lists_what_it_loads_when_it_is_asked_for() -> None:
    listed = dir(mbfmu)
    assert set(mbfmu.__all__) <= set(listed)
    assert listed == sorted(set(listed))
    with pytest.raises(AttributeError, match=r"^module 'mbfmu' has no attribute 'pump'"):
        mbfmu.pump  # noqa: B018


@pytest.mark.skipif(sys.platform == "win32", reason="names of files have no colons there")
def test_a_colon_in_a_path_names_no_class(tmp_path: pathlib.Path) -> None:
    """`file.py:Class` has a name behind the last one, a folder may have others."""
    folder = tmp_path / "a:b"
    folder.mkdir()
    path = folder / "one.py"
    path.write_text("from mbfmu import Assembly\nclass One(Assembly):\n    pass\n")
    assert find_class(str(path)).__name__ == "One"
    assert find_class(f"{path}:One").__name__ == "One"
