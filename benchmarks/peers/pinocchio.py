"""Pinocchio: forward dynamics by aba; runs by SciPy's DOP853, loops closed by constraints with Baumgarte's terms.

From C++, aba is compiled from Pinocchio's headers, which its package brings; Eigen's are in that of CasADi.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import casadi
import numpy as np
import pinocchio as pin
from scipy.integrate import DOP853
from scipy.spatial.transform import Rotation

from benchmarks.mechanisms import GRAVITY, Link, Mechanism, State
from mbfmu.runtime.cache import cached

#: Tolerances of the integrator (relative and absolute).
SETTINGS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)

#: Baumgarte's gains, 1/s2 and 1/s: both roots at -20/s. Ten times that costs steps and gains nothing here.
STIFFNESS, DAMPING = 400.0, 40.0

_JOINTS = {
    (False, 0): pin.JointModelRX,
    (False, 1): pin.JointModelRY,
    (False, 2): pin.JointModelRZ,
    (True, 0): pin.JointModelPX,
    (True, 1): pin.JointModelPY,
    (True, 2): pin.JointModelPZ,
}


#: How aba is compiled: what Pinocchio's own build defines, and the fastest code for this processor.
FLAGS = (
    "-std=c++17",
    "-O3",
    "-march=native",
    "-DNDEBUG",
    "-w",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)


def program(folder: pathlib.Path) -> pathlib.Path | None:
    """Compile aba.cpp into a folder, unless that was done before; None where there is no C++ compiler."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        return None
    source, made = pathlib.Path(__file__).with_name("aba.cpp"), folder / "aba"
    prefix = next(parent for parent in pathlib.Path(pin.__file__).parents if (parent / "include/pinocchio").is_dir())
    headers = [prefix / "include", pathlib.Path(casadi.__file__).parent / "include" / "eigen3"]
    libraries = ["-L", str(prefix / "lib"), f"-Wl,-rpath,{prefix / 'lib'}", "-lboost_filesystem"]

    def make() -> bytes:
        includes = [word for header in headers for word in ("-isystem", str(header))]
        subprocess.run([compiler, *FLAGS, *includes, str(source), "-o", str(made), *libraries], check=True)
        return made.read_bytes()

    words = [*FLAGS, compiler, str(prefix), pin.__version__, casadi.__version__, _processor()]
    made.write_bytes(cached([source.read_bytes(), *(word.encode() for word in words)], make))
    made.chmod(0o755)
    return made


def _processor() -> str:
    """What -march=native depends on."""
    facts = pathlib.Path("/proc/cpuinfo")
    return (
        next((line for line in facts.read_text().splitlines() if line.startswith("flags")), "")
        if facts.exists()
        else ""
    )


def from_cpp(made: pathlib.Path, mechanism: Mechanism, state: State) -> tuple[float, np.ndarray]:
    """Return the CPU time of a call of aba from C++, s, and the joints' accelerations."""
    q, v = coordinates(state)
    lines = [str(len(mechanism.links)), *(" ".join(_words(link)) for link in mechanism.links)]
    lines += [" ".join(repr(float(number)) for number in vector) for vector in (GRAVITY, q, v)]
    run = subprocess.run([made], input="\n".join(lines), capture_output=True, text=True, check=True)
    spent, *found = map(float, run.stdout.split())
    return spent, np.array(found[-len(mechanism.joints) :])


def _words(link: Link) -> Iterator[str]:
    yield str(link.parent)
    yield "free" if link.free else "prismatic" if link.prismatic else "revolute"
    lower = link.inertia[[0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]]
    for number in (*link.axis, *link.origin, link.mass, *link.center, *lower):
        yield repr(float(number))


def coordinates(state: State) -> tuple[np.ndarray, np.ndarray]:
    """Return q and v in Pinocchio's terms, in which the velocity of a floating base is resolved in the base."""
    if not state.position.size:
        return state.q, state.v
    velocity = Rotation.from_quat(state.quaternion).inv().apply(state.velocity)
    q = np.concatenate([state.position, state.quaternion, state.q])
    return q, np.concatenate([velocity, state.rotation, state.v])


def model(mechanism: Mechanism) -> Any:
    """Return the tree as a Pinocchio model, with its fastest joint models where an axis is aligned."""
    tree = pin.Model()
    tree.gravity.linear = np.array(GRAVITY)
    for link in mechanism.links:
        joint = _joint(link)
        index = tree.addJoint(link.parent + 1, joint, pin.SE3(np.eye(3), np.array(link.origin)), link.name)
        body = pin.Inertia(link.mass, np.array(link.center), link.inertia)
        tree.appendBodyToJoint(index, body, pin.SE3.Identity())
    return tree


def _joint(link: Link) -> Any:
    if link.free:
        return pin.JointModelFreeFlyer()
    if sorted(link.axis) == [0.0, 0.0, 1.0]:
        return _JOINTS[link.prismatic, link.axis.index(1.0)]()
    kind = pin.JointModelPrismaticUnaligned if link.prismatic else pin.JointModelRevoluteUnaligned
    return kind(np.array(link.axis))


def forward_dynamics(mechanism: Mechanism, state: State) -> Callable[[], np.ndarray]:
    """Return a call of aba; the joints' accelerations are the last of its result."""
    tree = model(mechanism)
    (q, v), data, tau, aba = coordinates(state), tree.createData(), np.zeros(tree.nv), pin.aba
    return lambda: aba(tree, data, q, v, tau)


def accelerations(mechanism: Mechanism) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a = f(q, v) of a mechanism with or without loops."""
    tree = model(mechanism)
    data = tree.createData()
    damping = np.array([link.damping for link in mechanism.links])
    if not mechanism.closures:
        aba = pin.aba
        return lambda q, v: aba(tree, data, q, v, -damping * v)

    constraints = pin.StdVec_RigidConstraintModel()
    for closure in mechanism.closures:
        (one, other), (at_one, at_other) = closure.links, closure.points
        placements = [pin.SE3(np.eye(3), np.array(point)) for point in (at_one, at_other)]
        constraint = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D,
            tree,
            one + 1,
            placements[0],
            other + 1,
            placements[1],
            pin.ReferenceFrame.LOCAL,
        )
        constraint.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(STIFFNESS, DAMPING))
        constraints.append(constraint)
    constraint_data = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        constraint_data.append(constraint.createData())
    pin.initConstraintDynamics(tree, data, constraints, constraint_data)
    # A planar loop leaves the third row of its point constraint redundant: the proximal iteration bears that.
    proximal = pin.ProximalSettings(1e-12, 1e-12, 1e-10, 20)
    solve = pin.constraintDynamics
    return lambda q, v: solve(tree, data, q, v, -damping * v, constraints, constraint_data, proximal)


def runs(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a tolerance, a run that ends with the coordinates at the stop time."""
    acceleration, n = accelerations(mechanism), len(q)
    start = np.concatenate([q, v])

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        return np.concatenate([state[n:], acceleration(state[:n], state[n:])])

    def run(tolerance: float) -> Callable[[], np.ndarray]:
        def integrate() -> np.ndarray:
            solver = DOP853(rate, 0.0, start, mechanism.stop_time, rtol=tolerance, atol=tolerance)
            while solver.status == "running":
                solver.step()
            return solver.y[:n]

        return integrate

    return run
