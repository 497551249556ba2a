"""Actuators: an input signal each, and the chain of blocks from it to a torque or force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from mbfmu.importers.builder import Builder
from mbfmu.importers.mjcf.bodies import Bodies
from mbfmu.importers.mjcf.source import Source
from mbfmu.modeling.connectors import Connector

#: Input and output of a block, or of several in a row.
Block = tuple[Connector, Connector]


class Actuators:
    """The actuators of a model."""

    def __init__(self, source: Source, builder: Builder, bodies: Bodies) -> None:
        self.source, self.builder, self.bodies = source, builder, bodies
        #: Actuator -> signal of its force, where there is one.
        self.forces: dict[int, Connector] = {}

    def add(self, a: int) -> None:
        """An input signal, and the chain of blocks from it to a torque or force."""
        source, model, builder = self.source, self.source.model, self.builder
        obstacle = self._obstacle(a)
        if obstacle:
            source.lacks("actuators", "actuator", a, obstacle)
            return
        given = model.actuator(a).name
        name = builder.names.new(given or f"actuator{a + 1}", "actuator" if given else "", "_actuator")
        blocks = self._command(a, name)
        joint, ratio = source.driven_joint(a), 1.0
        gain, gear = float(model.actuator_gainprm[a][0]), np.array(model.actuator_gear[a], dtype=float)
        limited = bool(model.actuator_forcelimited[a])
        if joint is None:
            frame = self.bodies.site(int(model.actuator_trnid[a][0]))
        else:
            axis, ratio = self.bodies.joints.axes[joint], float(gear[0])
        if joint is not None and self._is_affine(a):
            constant, position, speed = map(float, model.actuator_biasprm[a][:3])
            blocks.append(axis.feedback(f"_{name}", gain, position * ratio, speed * ratio))
            if constant:
                blocks.append(self._shifted(name, constant))
        elif self._is_watched(a) or (gain != 1 and (joint is None or limited or ratio != 1)):
            blocks.append(self._gain(f"{name}_gain", gain))
        else:
            ratio *= gain
        if limited:
            blocks.append(self._limiter(f"{name}_limit", model.actuator_forcerange[a]))
        if blocks:
            self.forces[a] = blocks[-1][1]
        if joint is None:
            blocks.append(self._wrench(name, frame, gear))
        else:
            if ratio != 1:
                blocks.append(self._gain(f"{name}_gear", ratio))
            blocks.append((axis.source(f"_{name}"),) * 2)
        for (_, output), (following, _) in itertools.pairwise(blocks):
            builder.connect(output, following)
        builder.assembly.input(blocks[0][0], name, **self._range(a))

    def _range(self, a: int) -> dict[str, Any]:
        """What an actuator's control takes, and its start: 0, or the bound next to it."""
        model = self.source.model
        if not model.actuator_ctrllimited[a] or self.source.off("CLAMPCTRL"):
            return {}
        lower, upper = map(float, model.actuator_ctrlrange[a])
        return {"start": min(max(0.0, lower), upper), "min": lower, "max": upper}

    def _command(self, a: int, name: str) -> list[Block]:
        """What stands between the control signal and the gain: its range, and the activation."""
        source, model = self.source, self.source.model
        blocks = []
        if model.actuator_ctrllimited[a] and not source.off("CLAMPCTRL"):
            blocks.append(self._limiter(f"{name}_range", model.actuator_ctrlrange[a]))
        dynamics = source.kind("mjtDyn", model.actuator_dyntype[a])
        if dynamics == "INTEGRATOR":
            blocks.append(self._block(f"{name}_activation", "Continuous.Integrator"))
        elif dynamics != "NONE":
            constant = float(model.actuator_dynprm[a][0])
            first_order = {"T": constant, "initType": "InitialState"}
            blocks.append(self._block(f"{name}_activation", "Continuous.FirstOrder", **first_order))
        return blocks

    def _obstacle(self, a: int) -> str:
        """Why an actuator has no counterpart; '' where it has one."""
        source, model = self.source, self.source.model
        joint = source.driven_joint(a)
        several = any(
            int(source.value(f, a)[0]) > 1 for f in ("actuator_ctrlnum", "actuator_outnum", "actuator_actnum")
        )
        if joint is not None:
            if joint not in self.bodies.joints.axes:
                return "acts on a ball or free joint"
            if bool(getattr(model, "jnt_actfrclimited", np.zeros(model.njnt))[joint]):
                return "its joint has an actuatorfrcrange"
        elif source.kind("mjtTrn", model.actuator_trntype[a]) == "SITE":
            if int(model.actuator_trnid[a][1]) >= 0:
                return "acts relative to a refsite"
            if self._is_affine(a):
                return "feedback from a site"
        else:
            return "its transmission"
        if source.kind("mjtGain", model.actuator_gaintype[a]) != "FIXED":
            return "its gain is not fixed"
        if source.kind("mjtBias", model.actuator_biastype[a]) not in ("NONE", "AFFINE"):
            return "its bias is not affine"
        if source.kind("mjtDyn", model.actuator_dyntype[a]) not in ("NONE", "INTEGRATOR", "FILTER", "FILTEREXACT"):
            return "its dynamics"
        if several:
            return "it has several signals"
        if bool(model.actuator_actlimited[a]):
            return "its activation is limited"
        for field in ("actuator_armature", "actuator_damping", "actuator_dampingpoly", "actuator_delay"):
            if np.any(source.value(field, a)):
                return f"its {field.removeprefix('actuator_')}"
        return ""

    def _is_affine(self, a: int) -> bool:
        """True where position and speed of the joint feed back."""
        return self.source.kind("mjtBias", self.source.model.actuator_biastype[a]) == "AFFINE"

    def _is_watched(self, a: int) -> bool:
        """True where a sensor shows the force of an actuator."""
        model = self.source.model
        return any(
            self.source.kind("mjtSensor", model.sensor_type[s]) == "ACTUATORFRC" and int(model.sensor_objid[s]) == a
            for s in range(model.nsensor)
        )

    # -- blocks

    def _block(self, name: str, kind: str, **parameters: Any) -> Block:
        part = self.builder.new(name, f"Blocks.{kind}", **parameters)
        return part.u, part.y

    def _gain(self, name: str, k: float) -> Block:
        return self._block(name, "Math.Gain", k=k)

    def _limiter(self, name: str, limits: Any) -> Block:
        lower, upper = map(float, limits)
        return self._block(name, "Nonlinear.Limiter", uMax=upper, uMin=lower)

    def _shifted(self, name: str, constant: float) -> Block:
        """A sum with a constant."""
        source = self.builder.new(f"{name}_constant", "Blocks.Sources.Constant", k=constant)
        total = self.builder.new(f"{name}_sum", "Blocks.Math.Add")
        self.builder.connect(source.y, total.u2)
        return total.u1, total.y

    def _wrench(self, name: str, frame: Connector, gear: np.ndarray) -> Block:
        """Force and torque along the axes of a site's frame, in proportion to one signal."""
        builder = self.builder
        spread, output = self._gain(f"{name}_gear", 1.0)
        for letters, numbers, kind in (("force", gear[:3], "WorldForce"), ("torque", gear[3:], "WorldTorque")):
            if np.any(numbers):
                part = builder.new(f"{name}_{letters}", f"MultiBody.Forces.{kind}", resolveInFrame="frame_b")
                u, y = self._block(f"{name}_{letters}_gear", "Math.MatrixGain", K=tuple((float(v),) for v in numbers))
                builder.connect(output, u)
                builder.connect(y, part.connector(letters))
                builder.connect(frame, part.frame_b)
        return spread, output
