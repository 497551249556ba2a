"""docs/frames.md keeps up with the package."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
from numpy.testing import assert_allclose

from mbfmu import frames


def test_every_public_name_is_in_the_page(root):
    page = (root / "docs" / "frames.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", page))))
    assert set(frames.__all__) - words == set()


def test_the_example_of_the_page_runs(root):
    page = (root / "docs" / "frames.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], names)
    v0 = ca.Function("f", [names["phi"], names["w"]], [names["v0"]])(0, 0).full().ravel()
    assert_allclose(v0, [0.5 * np.cos(0.3), 0.5 * np.sin(0.3), 0], atol=1e-15)
