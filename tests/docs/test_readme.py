"""README.md: its example moves as two rods do, its commands work, and its gallery is the gallery."""

from __future__ import annotations

import pathlib
import re

import fmpy
import numpy as np
import pytest
from code_blocks import code_blocks
from scipy.integrate import solve_ivp

import mbfmu
from mbfmu import cli
from mbfmu.errors import BuildError
from mbfmu.export.native import ready_library
from mbfmu.modeling.assembly_file import load_assembly
from mbfmu.modeling.registry import assemblies
from mbfmu.scene import bundle

LENGTH, WIDTH, DENSITY, DAMPING, G = 0.5, 0.06, 7700.0, 0.1, 9.80665
MASS = DENSITY * LENGTH * WIDTH**2
#: Moment of inertia of a rod about its middle, and about its end.
MIDDLE = MASS * (LENGTH**2 + WIDTH**2) / 12
END = MIDDLE + MASS * LENGTH**2 / 4


@pytest.fixture
def page(root: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the text of the page; its example is in the working directory as it says."""
    monkeypatch.chdir(tmp_path)
    example, _, toml = code_blocks(root / "README.md")
    (tmp_path / "pendulum.py").write_text(example, encoding="utf-8")
    (tmp_path / "pendulum.toml").write_text(toml, encoding="utf-8")
    return (root / "README.md").read_text(encoding="utf-8")


def two_rods(t: float, x: np.ndarray) -> list[float]:
    """Lagrange's equations of two equal rods, angles from the horizontal, the first hinge damped."""
    a, b, va, vb = x
    coupling = MASS * LENGTH**2 / 2
    M = np.array([[END + MASS * LENGTH**2, coupling * np.cos(a - b)], [coupling * np.cos(a - b), END]])
    f = [
        -coupling * np.sin(a - b) * vb**2 - 1.5 * MASS * LENGTH * G * np.cos(a) - DAMPING * va,
        coupling * np.sin(a - b) * va**2 - 0.5 * MASS * LENGTH * G * np.cos(b),
    ]
    return [va, vb, *np.linalg.solve(M, f)]


@pytest.mark.slow
def test_the_example_moves_as_two_rods(root: pathlib.Path, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    example, use, _ = code_blocks(root / "README.md")
    names: dict = {"__name__": "pendulum"}
    exec(example + use, names)
    result = mbfmu.simulate(names["DoublePendulum"](), 3.0, tolerance=1e-10)
    rods = solve_ivp(two_rods, (0, 3), [0, 0, 0, 0], "DOP853", result.time, rtol=1e-12, atol=1e-12).y
    np.testing.assert_allclose(result["revolute1.phi"], rods[0], atol=1e-7)
    np.testing.assert_allclose(result["revolute2.phi"], rods[1] - rods[0], atol=1e-7)
    np.testing.assert_allclose(names["result"]["revolute1.phi"], rods[0], atol=3e-4)  # at the default tolerance
    shown = [float(word) for word in capsys.readouterr().out.split()]
    assert shown == pytest.approx([3.0, names["result"]["revolute1.phi"][-1]], abs=1e-4)
    assert mbfmu.validate("pendulum.fmu") == []


@pytest.mark.slow
def test_its_commands_work(page: str) -> None:
    commands = [line.partition("#")[0].split() for line in page.splitlines() if line.startswith("    mbfmu ")]
    shown = {"build", "simulate", "animate", "info", "validate", "list", "diagram"}
    assert {command[1] for command in commands} == shown
    try:
        ready_library("wasm32")
    except BuildError:  # ziglang is not there
        commands = [command for command in commands if "--live" not in command]
    for command in commands:
        if not bundle.BUNDLE.is_file():  # npm was not there at set-up
            command = [word.replace(".html", ".glb") for word in command]
        assert cli.main(command[1:]) == 0, command
    assert pathlib.Path("motion.png").read_bytes().startswith(b"\x89PNG")
    starts = {v.name: v.start for v in fmpy.read_model_description("DoublePendulum.fmu").modelVariables}
    assert float(starts["boxBody1.density"]) == 2700.0


@pytest.mark.slow
def test_its_assembly_file_keeps_energy(page: str) -> None:
    result = mbfmu.simulate(load_assembly("pendulum.toml"), tolerance=1e-8)
    assert result.time[-1] == 3.0
    energy = END * result["hinge.w"] ** 2 / 2 + MASS * G * LENGTH / 2 * np.sin(result["hinge.phi"])
    np.testing.assert_allclose(energy, MASS * G * LENGTH / 2 * np.sin(0.5), atol=1e-5)


def test_the_gallery_is_complete(page: str) -> None:
    rows = [
        line for line in page.partition("## The gallery")[2].partition("\n## ")[0].splitlines() if line[:3] == "| `"
    ]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])} == set(assemblies())
