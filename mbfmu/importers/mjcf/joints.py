"""Joints, and what acts along them by themselves: armature, damping, friction, springs, stops."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbfmu.importers.axis import ROTATION, TRANSLATION, Axis
from mbfmu.importers.builder import Builder
from mbfmu.importers.geometry import clean
from mbfmu.importers.mjcf.rotations import angles_123, matrix
from mbfmu.importers.mjcf.source import Source
from mbfmu.modeling.connectors import Connector


class Joints:
    """The joints of a model."""

    def __init__(self, source: Source, builder: Builder) -> None:
        self.source, self.builder = source, builder
        model = source.model
        self.names = []
        for j in range(model.njnt):
            given, body = model.joint(j).name, int(model.jnt_bodyid[j])
            wanted = given or f"{model.body(body).name or f'body{body}'}_joint"
            self.names.append(builder.names.new(wanted, "joint" if given else ""))
        #: The parts, and the axes of those along which something acts.
        self.parts: list[Any] = [None] * model.njnt
        self.axes: dict[int, Axis] = {}

    def free(self, j: int, frame: Connector) -> Connector:
        """A FreeMotion that starts where the body stands."""
        at = self.source.model.qpos0[self.source.model.jnt_qposadr[j] :][:7]
        fixed = bool(self.source.start(0).fixed)
        part = self.builder.add(
            self.names[j],
            "MultiBody.Joints.FreeMotion",
            r_rel_a=self.source.start(clean(at[:3])),
            v_rel_a=self.source.start((0.0, 0.0, 0.0)),
            angles_fixed=fixed,
            angles_start=angles_123(matrix(at[3:])),
            w_rel_a_fixed=fixed,
            **self.builder.unseen,
        )
        self.builder.connect(frame, part.frame_a)
        self.parts[j] = part
        self.builder.show(part, "r_rel_a", "Q", "v_rel_a", "w_rel_b")
        result: Connector = part.frame_b
        return result

    def about_anchor(self, j: int, frame: Connector) -> Connector:
        """A hinge, slide or ball about its anchor; gives the frame of the body behind it."""
        source, model, builder, name = self.source, self.source.model, self.builder, self.names[j]
        kind = source.kind_of_joint(j)
        anchor = np.array(clean(model.jnt_pos[j])) if kind != "SLIDE" else np.zeros(3)
        frame = builder.rigid(f"{name}_anchor", frame, anchor, None)
        if kind == "BALL":
            fixed = bool(source.start(0).fixed)
            part = builder.add(
                name,
                "MultiBody.Joints.Spherical",
                enforceStates=True,
                angles_fixed=fixed,
                w_rel_a_fixed=fixed,
                **builder.unseen,
            )
            builder.show(part, "Q", "w_rel")
        else:
            freedom = ROTATION if kind == "HINGE" else TRANSLATION
            at = float(model.qpos0[model.jnt_qposadr[j]])
            modifiers: dict[str, Any] = {"n": clean(model.jnt_axis[j])}
            if at:
                modifiers[f"{freedom.position}_offset"] = -at
            if self._needs_axis(j):
                modifiers["useAxisFlange"] = True
            modifiers |= {freedom.position: source.start(at), freedom.speed: source.start(0.0)}
            part = builder.add(name, freedom.joint, **modifiers, **builder.unseen)
            builder.show(part, freedom.position, freedom.speed)
            if "useAxisFlange" in modifiers:
                self.axes[j] = Axis(builder, part, name, freedom)
        builder.connect(frame, part.frame_a)
        self.parts[j] = part
        return builder.rigid(f"{name}_behind", part.frame_b, -anchor, None)

    def _needs_axis(self, j: int) -> bool:
        """True where something acts along the axis of a hinge or slide."""
        source, model, dof = self.source, self.source.model, int(self.source.model.jnt_dofadr[j])
        coupled = any(
            source.kind("mjtEq", model.eq_type[e]) == "JOINT" and j in (model.eq_obj1id[e], model.eq_obj2id[e])
            for e in range(model.neq)
        )
        driven = any(source.driven_joint(a) == j for a in range(len(model.actuator_trntype)))
        return bool(
            model.dof_armature[dof]
            or model.dof_damping[dof]
            or model.dof_frictionloss[dof]
            or model.jnt_stiffness[j]
            or (model.jnt_limited[j] and "limits" not in source.left_out)
            or coupled
            or driven
        )

    # -- what acts

    def act(self, j: int) -> None:
        """What acts along a joint: armature, damping, friction, stiffness, stops."""
        source, model, dof = self.source, self.source.model, int(self.source.model.jnt_dofadr[j])
        kind = source.kind_of_joint(j)
        has_limits = bool(model.jnt_limited[j]) and not source.off("LIMIT")
        if has_limits and "limits" in source.left_out and kind in ("HINGE", "SLIDE"):
            self.builder.note(f"left out: limits of {source.called('joint', j)}")
        if kind in ("BALL", "FREE"):
            self._act_in_space(j, 3 if kind == "BALL" else 6)
        if j not in self.axes:
            return
        axis = self.axes[j]
        if model.dof_armature[dof]:
            element, parameter = ("Inertia", "J") if axis.freedom is ROTATION else ("Mass", "m")
            axis.at("_armature", f"Components.{element}", **{parameter: float(model.dof_armature[dof])})
        if model.dof_damping[dof] and not source.off("DAMPER"):
            axis.between("_damper", "Components.Damper", d=float(model.dof_damping[dof]))
        if np.any(source.value("dof_dampingpoly", dof)):
            source.lacks("damping", "joint", j)
        if model.jnt_stiffness[j] and not source.off("SPRING"):
            rest = float(model.qpos_spring[model.jnt_qposadr[j]])
            free = {f"{axis.freedom.position}_rel0": rest} if rest else {}
            axis.between("_spring", "Components.Spring", c=float(model.jnt_stiffness[j]), **free)
        if np.any(source.value("jnt_stiffnesspoly", j)) or np.any(source.value("jnt_springyield", j)):
            source.lacks("stiffness", "joint", j)
        if model.dof_frictionloss[dof] and not source.off("FRICTIONLOSS"):
            axis.friction(float(model.dof_frictionloss[dof]))
        if has_limits and "limits" not in source.left_out:
            self._limit(j, axis)

    def _limit(self, j: int, axis: Axis) -> None:
        """Elastic stops in place of the soft constraints at the ends of a joint's range.

        Of MuJoCo's a1 + d (b v + k r) = (1 - d) a0 (documentation, chapter Computation, Solver parameters) they take
        d b and d k at full depth, where the impedance d is dmax: dmax cancels then, and what is left are the numbers of
        solreflimit. a0, the acceleration without the constraint, has no part in it here: loads are not held back.
        """
        source, model = self.source, self.source.model
        margin = float(model.jnt_margin[j])  # the constraint begins so far before the end
        lower, upper = float(model.jnt_range[j][0]) + margin, float(model.jnt_range[j][1]) - margin
        stiffness, damping = source.reference(model.jnt_solref[j])
        if lower > upper:
            source.lacks("limits", "joint", j, f"its margin of {margin:g} leaves nothing of its range")
        elif stiffness <= 0:
            source.lacks("limits", "joint", j, "its solreflimit has no stiffness")
        else:
            inertia = 1 / max(1e-9, float(model.dof_invweight0[model.jnt_dofadr[j]]))
            axis.stop(lower, upper, stiffness * inertia, damping * inertia, kind="ElastoBacklash2")

    def _act_in_space(self, j: int, freedoms: int) -> None:
        """What a ball or free joint, of 3 or 6 degrees of freedom, has beyond its motion."""
        source, model = self.source, self.source.model
        first = int(model.jnt_dofadr[j])
        dofs = slice(first, first + freedoms)
        for feature, there in (
            ("armature", np.any(model.dof_armature[dofs])),
            ("damping", any(np.any(source.value("dof_dampingpoly", dof)) for dof in range(first, first + 3))),
            ("frictionloss", np.any(model.dof_frictionloss[dofs]) and not source.off("FRICTIONLOSS")),
            ("stiffness", bool(model.jnt_stiffness[j]) and not source.off("SPRING")),
            ("limits", bool(model.jnt_limited[j]) and not source.off("LIMIT")),
        ):
            if there:
                source.lacks(feature, "joint", j)
        damping = float(model.dof_damping[first])
        if not damping or source.off("DAMPER"):
            return
        if freedoms == 3:
            self._damp(j, damping, "", "RelativeSensor", "w_rel", "frame_b", "Torque")
        else:
            self._damp(j, damping, "_speed", "AbsoluteSensor", "v", "world", "WorldForce")
            self._damp(j, damping, "_turning", "AbsoluteSensor", "w", "frame_a", "WorldTorque")

    def _damp(self, j: int, damping: float, suffix: str, sensor: str, measured: str, resolved: str, load: str) -> None:
        """A load against a speed of a ball or free joint: its angular velocity along the axes of the body behind."""
        builder, part, name = self.builder, self.parts[j], self.names[j]
        watch = builder.new(
            f"{name}{suffix}_sensor",
            f"MultiBody.Sensors.{sensor}",
            **{f"get_{measured}": True},
            resolveInFrame=resolved,
        )
        gain = builder.new(
            f"{name}{suffix}_damping",
            "Blocks.Math.MatrixGain",
            K=tuple(tuple(-damping if row == column else 0.0 for column in range(3)) for row in range(3)),
        )
        acting = builder.new(
            f"{name}{suffix}_damper",
            f"MultiBody.Forces.{load}",
            resolveInFrame="world" if resolved == "world" else "frame_b",
            **builder.unseen,
        )
        relative = sensor == "RelativeSensor"
        builder.connect(part.frame_a if relative else part.frame_b, watch.frame_a)
        builder.connect(part.frame_b, acting.frame_b)
        if relative:
            builder.connect(part.frame_b, watch.frame_b)
            builder.connect(part.frame_a, acting.frame_a)
        builder.connect(watch.connector(measured), gain.u)
        builder.connect(gain.y, acting.connector("force" if load.endswith("Force") else "torque"))
