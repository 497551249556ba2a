"""Words that users look for, and warnings that they read."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from mbfmu import cli, printing

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
