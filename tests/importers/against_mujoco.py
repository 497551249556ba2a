"""Accelerations and energy of models read from MJCF beside those of MuJoCo."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
from against_pinocchio import State

from mbfmu import importers
from mbfmu.dynamics.system import System
from mbfmu.simulation import simulate


class Twin:
    """One file as a System and as MuJoCo's model, and the way between their coordinates."""

    def __init__(self, file: pathlib.Path, **options: Any) -> None:
        import mujoco

        self.mujoco = mujoco
        self.assembly = importers.load(file, **options)
        self.system = System.of(self.assembly)
        self.state = State(self.system)
        self.model = mujoco.MjModel.from_xml_path(str(file))
        disable = mujoco.mjtDisableBit
        self.model.opt.disableflags |= int(disable.mjDSBL_CONTACT) | int(disable.mjDSBL_LIMIT)
        self.data = mujoco.MjData(self.model)
        self.coupled = self.model.neq > 0
        # parts stand in the order in which bodies are read, which is MuJoCo's
        self.joints = [part for part in self.assembly.parts.values() if type(part).modelica_name in _JOINTS]
        assert len(self.joints) == self.model.njnt

    def names(self) -> tuple[list[str], list[str], list[str]]:
        """Our variables for qpos, qvel and qacc, one each; quaternions with the scalar first."""
        q, v, a = [], [], []
        for part in self.joints:
            kind, n = type(part).__name__, part.path
            if kind in ("Revolute", "Prismatic"):
                position, speed = ("phi", "w") if kind == "Revolute" else ("s", "v")
                q, v, a = [*q, f"{n}.{position}"], [*v, f"{n}.{speed}"], [*a, f"{n}.a"]
                continue
            if kind == "FreeMotion":
                q += [f"{n}.r_rel_a[{i}]" for i in (1, 2, 3)]
                v += [f"{n}.v_rel_a[{i}]" for i in (1, 2, 3)]
                a += [f"{n}.a_rel_a[{i}]" for i in (1, 2, 3)]
            w = "w_rel_b" if kind == "FreeMotion" else "w_rel"
            q += [f"{n}.Q[{i}]" for i in (4, 1, 2, 3)]
            v += [f"{n}.{w}[{i}]" for i in (1, 2, 3)]
            a += [f"der({n}.{w}[{i}])" for i in (1, 2, 3)]
        return q, v, a

    def accelerations(self) -> np.ndarray:
        """Ours, at MuJoCo's positions, speeds, controls and activations."""
        q, v, a = self.names()
        for name, value in [*zip(q, self.data.qpos, strict=True), *zip(v, self.data.qvel, strict=True)]:
            if self.state.variables[name].store == "x":
                self.state.set(name, value)
        self.state.u[:] = self.data.ctrl
        for i in range(self.model.nu):
            adr = int(self.model.actuator_actadr[i])
            if adr >= 0:
                self.state.set(f"{self.model.actuator(i).name}_activation.y", self.data.act[adr])
        self.state.solve()
        return np.array(
            [self.state.dx[self.state.variables[n[4:-1]].index] if n.startswith("der(") else self.state[n] for n in a]
        )

    def randomize(self, random: np.random.Generator, speeds: bool = True) -> None:
        """Random positions near the reference, speeds and controls; on the constraints where there are any."""
        model, data, mujoco = self.model, self.data, self.mujoco
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, random.uniform(-0.6, 0.6, model.nv), 1.0)
        data.qvel[:] = random.uniform(-1, 1, model.nv) * speeds
        data.ctrl[:] = random.uniform(-2, 2, model.nu)
        data.act[:] = random.uniform(-1, 1, model.na)
        if self.coupled:
            self._project()
        mujoco.mj_forward(model, data)

    def jacobian(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the equality constraints at q, and how far they are violated."""
        data = self.mujoco.MjData(self.model)
        data.qpos[:] = q
        self.mujoco.mj_forward(self.model, data)
        J = np.zeros((data.nefc, self.model.nv))
        if self.mujoco.mj_isSparse(self.model):
            self.mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
        else:
            J[:] = data.efc_J.reshape(data.nefc, self.model.nv)
        return J, np.array(data.efc_pos)

    def _project(self) -> None:
        for _ in range(50):
            J, residual = self.jacobian(self.data.qpos)
            if np.abs(residual).max() < 1e-13:
                break
            self.mujoco.mj_integratePos(self.model, self.data.qpos, -np.linalg.pinv(J, rcond=1e-9) @ residual, 1.0)
        J, _ = self.jacobian(self.data.qpos)
        self.data.qvel -= np.linalg.pinv(J, rcond=1e-9) @ J @ self.data.qvel

    def expected(self) -> np.ndarray:
        """MuJoCo's accelerations; with equality constraints those that keep them exactly.

        MuJoCo's own constraints give way, so M, bias, forces and Jacobian are taken from it and the multipliers are
        solved for here; the rate of the Jacobian is a difference along the motion.
        """
        if not self.coupled:
            return np.array(self.data.qacc)
        mujoco, model, data = self.mujoco, self.model, self.data
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(*((model, data, M) if _takes_data(mujoco) else (model, M, data.qM)))
        J, _ = self.jacobian(data.qpos)
        h, rate = 2e-3, np.zeros(J.shape[0])
        for k, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60)):  # sixth order
            for sign in (1, -1):
                q = data.qpos.copy()
                mujoco.mj_integratePos(model, q, data.qvel, sign * k * h)
                rate += sign * weight * (self.jacobian(q)[0] @ data.qvel) / h
        force = data.qfrc_smooth
        inverse = np.linalg.inv(M)
        multipliers = np.linalg.pinv(J @ inverse @ J.T, rcond=1e-9) @ (-rate - J @ inverse @ force)
        return inverse @ (force + J.T @ multipliers)

    def energy_drift(self, stop: float = 1.0) -> float:
        """Largest change of MuJoCo's energy along our run without inputs, relative to its kinetic energy."""
        mujoco, model = self.mujoco, self.model
        q, v, _ = self.names()
        result = simulate(self.system, stop, tolerance=1e-10, interval=stop / 20, outputs=[*q, *v])
        data, energies, kinetic = mujoco.MjData(model), [], []
        model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        for k in range(result.time.size):
            data.qpos[:] = [result[n][k] for n in q]
            data.qvel[:] = [result[n][k] for n in v]
            mujoco.mj_forward(model, data)
            energies.append(float(sum(data.energy)))
            kinetic.append(float(data.energy[1]))
        return float(np.ptp(energies) / max(kinetic))


_JOINTS = {f"MultiBody.Joints.{name}" for name in ("Revolute", "Prismatic", "Spherical", "FreeMotion")}


def _takes_data(mujoco: Any) -> bool:
    """True for versions whose mj_fullM takes the data in place of its matrix."""
    return "MjData" in (mujoco.mj_fullM.__doc__ or "")


def error(twin: Twin, states: int = 5, seed: int = 1) -> float:
    """Largest difference of accelerations, relative to the largest one."""
    random, worst = np.random.default_rng(seed), 0.0
    for _ in range(states):
        twin.randomize(random)
        expected = twin.expected()
        worst = max(worst, float(np.abs(twin.accelerations() - expected).max() / max(1.0, np.abs(expected).max())))
    return worst
