"""Pinocchio: accelerations of trees and of loops, and runs, from C++; from Python, those of trees, and runs.

The program is compiled from Pinocchio's headers, which its package brings; Eigen's are in that of CasADi. Loops are
closed by constraints with Baumgarte's terms.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import pathlib
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import casadi
import numpy as np
import pinocchio as pin
from scipy.integrate import DOP853, RK45
from scipy.spatial.transform import Rotation

from benchmarks.mechanisms import GRAVITY, Closure, Link, Mechanism, State
from mbfmu.runtime.cache import cached

#: Tolerances of the integrator (relative and absolute).
SETTINGS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)

#: Baumgarte's gains, 1/s2 and 1/s: both roots at -20/s. Ten times that costs steps and gains nothing here.
STIFFNESS, DAMPING = 400.0, 40.0

#: Ways to close loops, with mu of the proximal iteration, which bears that a planar loop leaves the third row of its
#: constraint redundant: the quickest that is right counts.
WAYS = (("constraintDynamics", 1e-10), ("lcaba", 1e-8), ("lcaba", 1e-6))

#: Accuracy of the proximal iteration, and its most iterations.
PROXIMAL = (1e-10, 20)

#: A run from C++ that takes longer than this ends without a result, s.
LONGEST = 10.0

#: Runge-Kutta pairs of a run: the quickest counts.
PAIRS: tuple[type[Any], ...] = (DOP853, RK45)

_JOINTS = {
    (False, 0): pin.JointModelRX,
    (False, 1): pin.JointModelRY,
    (False, 2): pin.JointModelRZ,
    (True, 0): pin.JointModelPX,
    (True, 1): pin.JointModelPY,
    (True, 2): pin.JointModelPZ,
}


#: How the program is compiled: what Pinocchio's own build defines, and the fastest code for this processor.
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
    """Compile pinocchio.cpp into a folder, unless that was done before; None where there is no C++ compiler."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        return None
    source, made = pathlib.Path(__file__).with_name("pinocchio.cpp"), folder / "pinocchio"
    prefix = next(parent for parent in pathlib.Path(pin.__file__).parents if (parent / "include/pinocchio").is_dir())
    headers = [prefix / "include", pathlib.Path(casadi.__file__).parent / "include" / "eigen3"]
    libraries = ["-L", str(prefix / "lib"), f"-Wl,-rpath,{prefix / 'lib'}", "-lboost_filesystem"]

    def make() -> bytes:
        includes = [word for header in headers for word in ("-isystem", str(header))]
        subprocess.run([compiler, *FLAGS, *includes, str(source), "-o", str(made), *libraries], check=True)
        return made.read_bytes()

    words = [*FLAGS, compiler, str(prefix), pin.__version__, importlib.metadata.version("casadi"), _processor()]
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


def ways(mechanism: Mechanism) -> tuple[tuple[str, float], ...]:
    """Return the ways to close its loops; a tree has none, and one entry."""
    return WAYS if mechanism.closures else WAYS[:1]


def from_cpp(
    made: pathlib.Path, mechanism: Mechanism, state: State, way: tuple[str, float] = WAYS[0]
) -> tuple[float, np.ndarray]:
    """Return the CPU time of an evaluation of the accelerations from C++, s, and those of the joints."""
    ordered, places = depth_first(mechanism)
    state = dataclasses.replace(state, q=state.q[places], v=state.v[places])
    spent, found = _call(made, _words(ordered, *coordinates(state), way), ["evaluate"])
    return spent, _in_old_order(found[-len(places) :], places)


def runs_from_cpp(
    made: pathlib.Path,
    mechanism: Mechanism,
    q: np.ndarray,
    v: np.ndarray,
    way: tuple[str, float],
    pair: type[Any],
) -> Callable[[float], tuple[float, np.ndarray]]:
    """Return, for a tolerance, the CPU time of a run from C++, s, and the coordinates at its end.

    They are nan where it takes longer than `LONGEST`.
    """
    ordered, places = depth_first(mechanism)
    words = list(_words(ordered, q[places], v[places], way))

    def run(tolerance: float) -> tuple[float, np.ndarray]:
        spent, end = _call(made, words, ["run", mechanism.stop_time, tolerance, LONGEST, *_tableau(pair)])
        return spent, _in_old_order(end, places)

    return run


def _call(made: pathlib.Path, mechanism: Iterable[Any], task: Iterable[Any]) -> tuple[float, np.ndarray]:
    text = " ".join(map(str, (*mechanism, *task)))
    spent, *found = map(float, subprocess.check_output([made], input=text, text=True).split())
    return spent, np.array(found)


def depth_first(mechanism: Mechanism) -> tuple[Mechanism, list[int]]:
    """Return it with its links in the order in which Pinocchio counts on subtrees, and the old places of the joints."""
    links, order = mechanism.links, []

    def follow(parent: int) -> None:
        for i, link in enumerate(links):
            if link.parent == parent:
                order.append(i)
                follow(i)

    follow(-1)
    new = {-1: -1} | {old: i for i, old in enumerate(order)}
    ordered = dataclasses.replace(
        mechanism,
        links=tuple(dataclasses.replace(links[old], parent=new[links[old].parent]) for old in order),
        closures=tuple(
            Closure((new[closure.links[0]], new[closure.links[1]]), closure.points, closure.axes)
            for closure in mechanism.closures
        ),
    )
    joints = [i for i, link in enumerate(links) if not link.free]
    return ordered, [joints.index(old) for old in order if not links[old].free]


def _in_old_order(values: np.ndarray, places: list[int]) -> np.ndarray:
    found = np.empty_like(values)
    found[places] = values
    return found


def _words(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, way: tuple[str, float]) -> Iterator[Any]:
    """The program's input, but for the task."""
    yield len(mechanism.links)
    for link in mechanism.links:
        yield link.parent
        yield "free" if link.free else "prismatic" if link.prismatic else "revolute"
        lower = link.inertia[[0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]]
        yield from map(float, (*link.axis, *link.origin, link.mass, *link.center, *lower, link.damping))
    yield len(mechanism.closures)
    for closure in mechanism.closures:
        yield from (*closure.links, *closure.points[0], *closure.points[1])
    yield from (STIFFNESS, DAMPING, *way, *PROXIMAL)
    for vector in (GRAVITY, q, v):
        yield from map(float, vector)


def _tableau(pair: type[Any]) -> list[float]:
    """An embedded pair of SciPy's in the program's terms."""
    stages = pair.n_stages
    a = np.zeros((stages, stages))
    a[:, : pair.A.shape[1]] = pair.A[:stages, :stages]
    errors = [pair.E] if pair is RK45 else [pair.E5, pair.E3]
    numbers = [*a.ravel(), *pair.B, pair.error_estimator_order + 1]
    return [stages, *map(float, numbers), len(errors), *map(float, np.ravel(errors))]


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
    """Return a = f(q, v) of a mechanism with or without loops, whose links are in the order of `depth_first`."""
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
    proximal = pin.ProximalSettings(1e-12, 1e-12, 1e-10, 20)
    solve = pin.constraintDynamics
    return lambda q, v: solve(tree, data, q, v, -damping * v, constraints, constraint_data, proximal)


def runs(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a tolerance, a run from Python that ends with the coordinates at the stop time."""
    ordered, places = depth_first(mechanism)
    acceleration, n = accelerations(ordered), len(q)
    start = np.concatenate([q[places], v[places]])

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        return np.concatenate([state[n:], acceleration(state[:n], state[n:])])

    def run(tolerance: float) -> Callable[[], np.ndarray]:
        def integrate() -> np.ndarray:
            solver = DOP853(rate, 0.0, start, mechanism.stop_time, rtol=tolerance, atol=tolerance)
            while solver.status == "running":
                solver.step()
            return _in_old_order(solver.y[:n], places)

        return integrate

    return run
