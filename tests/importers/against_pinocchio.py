"""Accelerations of robots read from URDF beside those of Pinocchio, at random states."""

from __future__ import annotations

import dataclasses
import pathlib
import time
import warnings
from typing import Any

import numpy as np

from mbfmu import importers
from mbfmu.dynamics.system import System
from mbfmu.importers.builder import Builder
from mbfmu.importers.places import parse_xml
from mbfmu.importers.urdf import Robot
from mbfmu.runtime.equations import Equations

GRAVITY = 9.80665


class State:
    """A System at one instant: states and inputs by variable name, everything else computed."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.equations: Equations = system.equations
        self.variables = {v.name: v for v in system.variables}
        self.P = np.concatenate(
            [
                self.equations.vector("parameters"),
                np.array(self.equations.functions["derived"](self.equations.vector("parameters"))).ravel(),
            ]
        )
        self.x = np.zeros(self.equations.nx)
        for offset in self.equations.quaternions:
            self.x[offset + 3] = 1.0
        self.u = np.zeros(self.equations.nu)

    def set(self, name: str, value: float) -> None:
        """Give a state or an input its value."""
        variable = self.variables[name]
        assert variable.store in ("x", "u"), f"{name} is no state and no input, but of {variable.store}"
        (self.x if variable.store == "x" else self.u)[variable.index] = value

    def solve(self) -> None:
        """Modes, then accelerations and all variables."""
        functions, m = self.equations.functions, np.zeros(self.equations.nm)
        for _ in range(20):
            A, b = functions["dynamics"](0.0, self.x, self.u, self.P, m)
            b = np.array(b).ravel()
            A = np.array(A)
            if self.equations.sparsity:  # values only
                values, A = A.ravel(), np.zeros((b.size, b.size))
                A[tuple(np.array(self.equations.sparsity).T)] = values
            w = b if self.equations.explicit else np.linalg.solve(A, b)[: self.equations.nv + self.equations.nl]
            crossings = np.array(functions["crossings"](0.0, self.x, self.u, self.P, m, w)).ravel()
            if np.array_equal(m, crossings >= 0):
                break
            m = (crossings >= 0).astype(float)
        else:
            raise AssertionError("modes do not settle")
        self.w = w
        self.dx = np.array(functions["derivatives"](0.0, self.x, self.u, self.P, m, w)).ravel()
        self.y = np.array(functions["variables"](0.0, self.x, self.u, self.P, m, w)).ravel()

    def __getitem__(self, name: str) -> float:
        variable = self.variables[name]
        store = {"x": self.x, "u": self.u, "w": self.w, "y": self.y, "P": self.P}
        if variable.store == "constant":
            return float(variable.start or 0.0)
        return float(store[variable.store][variable.index])


@dataclasses.dataclass
class Comparison:
    """What a comparison of one robot gave: largest errors relative to the largest value."""

    speeds: int
    acceleration: float
    coriolis: float
    seconds_to_load: float
    seconds_to_derive: float
    notes: tuple[str, ...]


def compare(file: pathlib.Path, floating: bool, states: int = 5, seed: int = 1) -> Comparison:
    """Compare accelerations and Coriolis terms at random positions, speeds and torques."""
    import pinocchio as pin

    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assembly = importers.load(file, floating=floating)
    loaded = time.perf_counter()
    system = System.of(assembly)
    derived = time.perf_counter()
    robot = Robot(file, parse_xml(file))
    names = Builder("names", "").names
    assembly_names = {joint: names.new(joint, "joint") for joint in robot.joints}
    model = pin.buildModelFromUrdf(str(file), *([pin.JointModelFreeFlyer()] if floating else []))
    model.gravity.linear[:] = (0, 0, -GRAVITY)
    held = [model.getJointId(j) for j in robot.joints if j in model.names and assembly_names[j] not in assembly.parts]
    neutral = pin.neutral(model)
    for number in held:
        _put(pin, model, neutral, number, robot.joints[model.names[number]].start)
    if held:
        model = pin.buildReducedModel(model, held, neutral)
    data = model.createData()
    # independent speeds: columns of S give the speeds of all joints
    independent = [n for n in model.names[1:] if n == "root_joint" or not robot.joints[n].mimic]
    columns = [(n, k) for n in independent for k in range(model.joints[model.getJointId(n)].nv)]
    S = np.zeros((model.nv, len(columns)))

    def ratio(name: str) -> tuple[str, float, float]:
        mimic = robot.joints[name].mimic
        if not mimic:
            return name, 1.0, 0.0
        leader, factor, offset = ratio(mimic[0])
        return leader, mimic[1] * factor, mimic[1] * offset + mimic[2]

    for name in model.names[1:]:
        number = model.getJointId(name)
        joint = model.joints[number]
        for k in range(joint.nv):
            leader, factor, _ = (name, 1.0, 0.0) if name == "root_joint" else ratio(name)
            if factor and (leader, k) in columns:
                S[joint.idx_v + k, columns.index((leader, k))] = factor
    base = next(iter(assembly.outputs)).partition(".")[0] if floating else ""
    random = np.random.default_rng(seed)
    state = State(system)
    error_a = error_c = 0.0
    for _ in range(states):
        dq, tau = random.uniform(-1, 1, len(columns)), random.uniform(-5, 5, len(columns))
        angles = {n: random.uniform(-1.5, 1.5) for n in independent}
        q = pin.neutral(model)
        for name in model.names[1:]:
            if name == "root_joint":
                continue
            leader, factor, offset = ratio(name)
            _put(pin, model, q, model.getJointId(name), factor * angles.get(leader, 0.0) + offset)
        if floating:
            quaternion = random.normal(size=4)
            quaternion /= np.linalg.norm(quaternion)
            q[:7] = [*random.uniform(-1, 1, 3), *quaternion]
        v = S @ dq
        turn = pin.Quaternion(q[3:7]).toRotationMatrix() if floating else np.eye(3)
        friction = _losses(robot, model, v)
        full_tau = friction + _scatter(model, columns, tau, floating)

        def ours(v: np.ndarray, tau: np.ndarray) -> np.ndarray:
            for name in independent:
                if name == "root_joint":
                    for i in range(3):
                        state.set(f"{base}.r_rel_a[{i + 1}]", q[i])  # noqa: B023
                        state.set(f"{base}.v_rel_a[{i + 1}]", (turn @ v[:3])[i])  # noqa: B023
                        state.set(f"{base}.w_rel_b[{i + 1}]", v[3 + i])
                    for i in range(4):
                        state.set(f"{base}.Q[{i + 1}]", q[3 + i])  # noqa: B023
                    continue
                part, rotates = assembly_names[name], robot.joints[name].rotates
                speed = v[model.joints[model.getJointId(name)].idx_v]
                state.set(f"{part}.{'phi' if rotates else 's'}", angles[name])  # noqa: B023
                state.set(f"{part}.{'w' if rotates else 'v'}", speed)
                state.set(f"{part}_{'tau' if rotates else 'f'}", tau[columns.index((name, 0))])
            state.solve()
            a = np.zeros(len(columns))
            for i, (name, k) in enumerate(columns):
                if name == "root_joint":
                    a[i] = state[f"{base}.a_rel_a[{k + 1}]"] if k < 3 else _w_dot(state, f"{base}.w_rel_b[{k - 2}]")
                else:
                    a[i] = state[f"{assembly_names[name]}.a"]
            if floating:
                a[:3] = turn.T @ a[:3] - np.cross(v[3:6], v[:3])  # noqa: B023
            return a

        pin.computeAllTerms(model, data, q, v)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        # speeds are constant multiples, but for the base, whose columns of S are constant, too: no dS/dt
        reduced = S.T @ M @ S
        expected = np.linalg.solve(reduced, S.T @ (full_tau - pin.nle(model, data, q, v)))
        a = ours(v, tau)
        error_a = max(error_a, _relative(a, expected))
        # M a + c + g = tau, where inputs make up for damping and friction
        made_up = -S.T @ friction
        gravity = S.T @ pin.computeGeneralizedGravity(model, data, q)
        c_ours = -reduced @ ours(v, made_up) - gravity
        c = S.T @ pin.nle(model, data, q, v) - gravity
        error_c = max(error_c, float(np.abs(c_ours - c).max(initial=0.0) / max(np.abs(c).max(initial=0.0), 1.0)))
    return Comparison(len(columns), error_a, error_c, loaded - started, derived - loaded, assembly.notes)


def _w_dot(state: State, name: str) -> float:
    """Derivative of a state."""
    return float(state.dx[state.variables[name].index])


def _put(pin: Any, model: Any, q: np.ndarray, number: int, value: float) -> None:
    joint = model.joints[number]
    if joint.nq == 2:
        q[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
    else:
        q[joint.idx_q] = value


def _scatter(model: Any, columns: list[tuple[str, int]], tau: np.ndarray, floating: bool) -> np.ndarray:
    full = np.zeros(model.nv)
    for (name, _), value in zip(columns, tau, strict=True):
        if name != "root_joint":
            full[model.joints[model.getJointId(name)].idx_v] = value
    return full


def _losses(robot: Any, model: Any, v: np.ndarray) -> np.ndarray:
    full = np.zeros(model.nv)
    for name in model.names[1:]:
        if name != "root_joint":
            i, joint = model.joints[model.getJointId(name)].idx_v, robot.joints[name]
            full[i] = -joint.damping * v[i] - joint.friction * np.sign(v[i])
    return full


def _relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))
