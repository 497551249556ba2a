"""Elements of <equality>: loops that are closed by connect or weld, and joints that are coupled."""

from __future__ import annotations

import numpy as np

from mbfmu.importers.builder import Builder
from mbfmu.importers.geometry import NEGLIGIBLE, clean
from mbfmu.importers.mjcf.bodies import Bodies
from mbfmu.importers.mjcf.joints import Joints
from mbfmu.importers.mjcf.rotations import turned
from mbfmu.importers.mjcf.source import Source


def add_coupling(source: Source, builder: Builder, bodies: Bodies, e: int) -> None:
    """A loop closed by connect or weld, or joints that are coupled linearly."""
    model = source.model
    kind, data = source.kind("mjtEq", model.eq_type[e]), np.array(model.eq_data[e], dtype=float)
    if not model.eq_active0[e]:
        builder.note(f"inactive, and left out: {source.called('equality', e)}")
        return
    name = builder.names.new(model.equality(e).name or f"equality{e + 1}")
    first, second = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    if kind == "JOINT":
        _couple(source, bodies.joints, e, data)
        return
    if kind not in ("CONNECT", "WELD"):
        source.lacks("equality", "equality", e)
        return
    if hasattr(model, "eq_objtype") and source.kind("mjtObj", model.eq_objtype[e]) == "SITE":
        a, b = bodies.site(first), bodies.site(second)
    else:
        a, b = bodies.frames[first], bodies.frames[second]
        if kind == "CONNECT":
            a = builder.rigid(f"{name}_anchor1", a, np.array(clean(data[:3])), None)
            b = builder.rigid(f"{name}_anchor2", b, np.array(clean(data[3:6])), None)
        else:
            a = builder.rigid(f"{name}_anchor1", a, np.array(clean(data[3:6])), turned(data[6:10]))
    joint = "Spherical" if kind == "CONNECT" else "Prismatic"
    part = builder.add(name, f"MultiBody.Joints.Constraints.{joint}", **builder.unseen)
    builder.connect(a, part.frame_a)
    builder.connect(b, part.frame_b)


def _couple(source: Source, joints: Joints, e: int, data: np.ndarray) -> None:
    """q1 - q1_0 = a0 + a1 (q2 - q2_0), or q1 held where there is no second joint."""
    model = source.model
    first, second = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    if first not in joints.axes or (second >= 0 and second not in joints.axes):
        source.lacks("equality", "equality", e, "not of hinges or slides")
        return
    if second >= 0 and np.any(data[2:5]):
        source.lacks("equality", "equality", e, "not linear")
        return
    offset = float(model.qpos0[model.jnt_qposadr[first]] + data[0])
    axis = joints.axes[first]
    if second < 0 or data[1] == 0:
        axis.at("_held", "Components.Fixed", **{f"{axis.freedom.position}0": offset})
        return
    offset -= float(data[1] * model.qpos0[model.jnt_qposadr[second]])
    axis.follow(joints.axes[second], float(data[1]), 0.0 if abs(offset) < NEGLIGIBLE else offset)
