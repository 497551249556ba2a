"""MuJoCo: a chain of rigid links with springs between them, as its own plugin for cables is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import mujoco
import numpy as np

if TYPE_CHECKING:
    from benchmarks.flexible import Line

#: Methods, numbers of links, and step sizes, s.
INTEGRATORS = ("RK4", "implicitfast", "Euler")
LINKS = (8, 16)
STEPS = (5e-3, 2e-3, 1e-3, 5e-4, 2e-4)


def model(case: Line, n: int, integrator: str, step: float) -> mujoco.MjModel:
    """Return the chain: half a link, n - 1 links and half a link, with n springs between them; it bends in a plane."""
    from benchmarks.flexible import GRAVITY

    mujoco.set_mju_user_warning(lambda text: None)  # steps that are too long are among those that are tried
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = step, [0, -GRAVITY, 0]
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    h = case.length / n
    parent, length = spec.worldbody, 0.0
    for k in range(n + 1):
        body = parent.add_body(pos=[length, 0, 0])
        length = h if 0 < k < n else h / 2
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1], stiffness=case.EI / h if k else 0.0)
        body.mass, across = case.rhoA * length, case.rhoA * length**3 / 12
        body.inertia, body.ipos = [1e-3 * across, across, across], [length / 2, 0, 0]
        body.explicitinertial = True
        parent = body
    parent.add_site(name="end", pos=[length, 0, 0])
    return spec.compile()


def line(case: Line, integrator: str, n: int) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a step size, a run that ends with the place of the end of the chain."""

    def run(step: float) -> Callable[[], np.ndarray]:
        compiled = model(case, n, integrator, step)
        data = mujoco.MjData(compiled)

        def integrate() -> np.ndarray:
            mujoco.mj_step(compiled, data, nstep=round(case.stop_time / step))
            mujoco.mj_kinematics(compiled, data)
            return data.site("end").xpos[:2].copy()

        return integrate

    return run
