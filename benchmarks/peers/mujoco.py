"""MuJoCo: forward dynamics by mj_forward; runs by its Runge-Kutta method, loops by its hardest equality constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np
from mujoco import rollout

from benchmarks.mechanisms import GRAVITY, Link, Mechanism, State

#: Step sizes, s.
SETTINGS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)


def model(mechanism: Mechanism, step: float = 1e-3) -> Any:
    """Return the mechanism as a MuJoCo model.

    A constraint is as hard as MuJoCo lets it be: impedance 0.9999 throughout, and a time constant of two steps, the
    least that it takes (MuJoCo, "Solver parameters").
    """
    sites: dict[int, list[str]] = {}
    closures = []
    for number, closure in enumerate(mechanism.closures):
        names = [f"closure{number}_{side}" for side in range(2)]
        for name, link, point in zip(names, closure.links, closure.points, strict=True):
            sites.setdefault(link, []).append(f"<site name={quoteattr(name)} pos={_vector(point)}/>")
        closures.append(
            f'<connect site1="{names[0]}" site2="{names[1]}" solref="{2 * step} 1" solimp="0.9999 0.9999 0.001"/>'
        )
    xml = f"""
    <mujoco>
      <compiler angle="radian" autolimits="false"/>
      <option timestep="{step}" gravity={_vector(GRAVITY)} integrator="RK4" solver="Newton" tolerance="1e-14"
              iterations="100"><flag contact="disable"/></option>
      <worldbody>{_bodies(mechanism.links, -1, (0.0, 0.0, 0.0), sites)}</worldbody>
      <equality>{"".join(closures)}</equality>
    </mujoco>"""
    return mujoco.MjModel.from_xml_string(xml)


def _bodies(links: tuple[Link, ...], parent: int, at: tuple[float, ...], sites: dict[int, list[str]]) -> str:
    """Bodies below a link, as nested elements; joints without mass join those of the next body, as MuJoCo wants."""
    text = ""
    for index, link in enumerate(links):
        if link.parent != parent:
            continue
        joints = [(link, tuple(np.subtract(link.origin, link.origin)))]
        origin, last = link.origin, index
        while links[last].mass == 0:
            last = next(i for i, follower in enumerate(links) if follower.parent == last)
            joints.append((links[last], links[last].origin))
        body = links[last]
        elements = [_joint(joint, place) for joint, place in joints]
        inertia = body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        elements.append(f'<inertial pos={_vector(body.center)} mass="{body.mass!r}" fullinertia={_vector(inertia)}/>')
        inner = "".join([*elements, *sites.get(last, []), _bodies(links, last, (0.0, 0.0, 0.0), sites)])
        text += f"<body pos={_vector(origin)}>{inner}</body>"
    return text


def _joint(link: Link, place: tuple[float, ...]) -> str:
    if link.free:
        return f'<freejoint name="{link.name}"/>'
    kind = "slide" if link.prismatic else "hinge"
    axis, at = _vector(link.axis), _vector(place)
    return f'<joint name="{link.name}" type="{kind}" axis={axis} pos={at} damping="{link.damping}"/>'


def _vector(values: Any) -> str:
    return quoteattr(" ".join(repr(float(value)) for value in values))


def addresses(compiled: Any, mechanism: Mechanism) -> np.ndarray:
    """Places of the joints' coordinates in MuJoCo's state."""
    return np.array([compiled.joint(link.name).qposadr[0] for link in mechanism.joints])


def forward_dynamics(mechanism: Mechanism, state: State) -> tuple[Callable[[], np.ndarray], np.ndarray]:
    """Return a call of mj_forward, which leaves accelerations, and the places of the joints' in them."""
    compiled = model(mechanism)
    data, forward = mujoco.MjData(compiled), mujoco.mj_forward
    order = addresses(compiled, mechanism)
    speeds = np.array([compiled.joint(link.name).dofadr[0] for link in mechanism.joints])
    data.qpos[order], data.qvel[speeds] = state.q, state.v
    if state.position.size:  # the base comes first; MuJoCo has the scalar first
        data.qpos[:7] = [*state.position, state.quaternion[3], *state.quaternion[:3]]
        data.qvel[:6] = [*state.velocity, *state.rotation]
    result = data.qacc

    def call() -> np.ndarray:
        forward(compiled, data)
        return result

    return call, speeds


def runs(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a step size, a run that ends with the coordinates at the stop time."""

    def run(step: float) -> Callable[[], np.ndarray]:
        compiled = model(mechanism, step)
        data = mujoco.MjData(compiled)
        order = addresses(compiled, mechanism)
        data.qpos[order], data.qvel[order] = q, v

        def integrate() -> np.ndarray:
            mujoco.mj_step(compiled, data, nstep=round(mechanism.stop_time / step))
            return data.qpos[order]

        return integrate

    return run


def rollouts(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, step: float, count: int) -> Callable[[], np.ndarray]:
    """Return a call of mujoco.rollout in one thread: `count` equal runs, and the coordinates at the end of the last."""
    compiled = model(mechanism, step)
    data = mujoco.MjData(compiled)
    order = addresses(compiled, mechanism)
    data.qpos[order], data.qvel[order] = q, v
    state = np.empty(mujoco.mj_stateSize(compiled, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(compiled, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states, steps = np.tile(state, (count, 1)), round(mechanism.stop_time / step)
    results = np.empty((count, steps, state.size))

    def call() -> np.ndarray:
        rollout.rollout(compiled, data, states, nstep=steps, state=results)
        return results[-1, -1, 1 + order]

    return call
