"""docs/modelica-files.md: its Python runs, and its Modelica is read."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

import mbfmu
from mbfmu.importers.modelica import load


@pytest.fixture
def page(root: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the text of the page; the working directory has the gallery, as the page says."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fmus").symlink_to(root / "fmus")
    return (root / "docs" / "modelica-files.md").read_text(encoding="utf-8")


def block(page: str, language: str) -> str:
    """Return the first code block of a language."""
    return re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)[1]  # type: ignore[index]


@pytest.mark.slow
@pytest.mark.campaign
def test_the_crane_is_built_as_the_page_says(page: str, tmp_path: pathlib.Path) -> None:
    names: dict = {}
    exec(block(page, "python"), names)
    result = names["result"]
    assert [n for n in names["crane"].parts if n.startswith("rod")] == [f"rod[{k}]" for k in range(1, 6)]
    # The rope hangs from the trolley, its rods keep their length: the load stays within it.
    assert np.hypot(result["load.frame_a.r_0[1]"] - result["x"], result["load.frame_a.r_0[2]"]).max() <= 4.0 + 1e-9
    assert mbfmu.validate(tmp_path / "crane.fmu") == []


def test_the_force_law_is_read(page: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "P.mo"
    path.write_text(
        "package P\n" + block(page, "modelica") + "model M Modelica.Mechanics.Rotational.Components.Fixed fixed; "
        "Cubic spring(c3=2); Modelica.Mechanics.Rotational.Components.Inertia load(J=3, phi(start=1, fixed=true), "
        "w(fixed=true)); equation connect(fixed.flange, spring.flange_a); connect(spring.flange_b, load.flange_a); "
        "end M; end P;",
        encoding="utf-8",
    )
    result = mbfmu.simulate(load(path, class_name="M"), 2.0, tolerance=1e-9)
    energy = 1.5 * result["load.w"] ** 2 + 0.5 * result["load.phi"] ** 4
    np.testing.assert_allclose(energy, 0.5, atol=1e-6)
