"""MuJoCo: contacts as springs, which its softest impedance makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import mujoco
import numpy as np

if TYPE_CHECKING:
    from benchmarks.contacts import Heap

#: Methods that are tried, of integration and for the constraints, and step sizes, s.
WAYS = ("RK4, Newton", "RK4, PGS", "Euler, Newton", "Euler, PGS")
STEPS = (2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 5e-6)


def model(heap: Heap, way: str, step: float) -> mujoco.MjModel:
    """Return the heap; contact without friction.

    A contact of impedance d accelerates by d a_ref + (1 - d) a_0, with a_ref = -k r / d for a `solref` of -k: with the
    least d that MuJoCo takes, 1e-4, it is a spring of m k on the ground, and of half that between two equal bodies
    (MuJoCo, "Solver parameters").
    """
    from benchmarks import contacts as c

    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = step, [0, 0, -c.GRAVITY]
    integrator, solver = way.upper().split(", ")
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    spec.option.solver, spec.option.tolerance = getattr(mujoco.mjtSolver, f"mjSOL_{solver}"), 1e-10
    law = {
        "condim": 1,
        "solref": [-c.STIFFNESS / c.MASS, 0.0],
        "solimp": [1e-4, 1e-4, 1e-3, 0.5, 2.0],
    }
    if heap.kind == "meshes":
        spec.add_mesh(name="mesh", uservert=c.CORNERS.flatten())
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[50, 50, 1], contype=1, conaffinity=1, **law)
    for place, angles in zip(heap.positions, heap.angles, strict=True):
        body = spec.worldbody.add_body(pos=place, quat=_quaternion(angles))
        body.add_freejoint()
        body.mass, body.inertia, body.explicitinertial = c.MASS, [c.INERTIA] * 3, True
        body.ipos, body.iquat = np.zeros(3), np.array([1.0, 0, 0, 0])
        if heap.kind == "meshes":  # these fall side by side: they are asked for contact with the ground alone
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh", contype=2, conaffinity=1, **law)
        else:
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[c.RADIUS, 0, 0], **law)
    return spec.compile()


def _quaternion(angles: np.ndarray) -> np.ndarray:
    """Of rotations about x, y, z in turn, each about the axis that those before it have turned."""
    found = np.array([1.0, 0, 0, 0])
    for axis, angle in enumerate(angles):
        one, both = np.zeros(4), np.zeros(4)
        one[0], one[1 + axis] = np.cos(angle / 2), np.sin(angle / 2)
        mujoco.mju_mulQuat(both, found, one)
        found = both
    return found


def runs(heap: Heap, way: str) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a step size, a run that ends with the heights of the bodies."""

    def run(step: float) -> Callable[[], np.ndarray]:
        compiled = model(heap, way, step)
        data = mujoco.MjData(compiled)
        count = len(heap.positions)

        def integrate() -> np.ndarray:
            mujoco.mj_step(compiled, data, nstep=round(heap.stop_time / step))
            return data.qpos.reshape(count, 7)[:, 2].copy()

        return integrate

    return run
