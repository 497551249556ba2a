"""The C runtime and the Python runtime are two programs for one contract: they agree."""

from __future__ import annotations

import pytest
from hand_made_models import bouncing_mass, free_body, point_pendulum, variable
from native_models import everything

from mbfmu.runtime import run


@pytest.mark.parametrize("model", [point_pendulum, bouncing_mass, free_body, everything])
def test_both_runtimes_agree(library, model):
    made = model()
    equations, variables = (
        made if isinstance(made, tuple) else (made, tuple(variable(f"x{i}", "x", i) for i in range(made.nx)))
    )
    names = [v.name for v in variables if v.store in ("x", "w", "y")]
    result = run(equations, variables, stop_time=2.0, tolerance=1e-10)
    slave = library(model).run(2.0, 0.02, tolerance=1e-10)
    assert slave.get(*names) == pytest.approx([result[name][-1] for name in names], abs=1e-7)
