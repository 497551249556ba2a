"""Sensors: outputs under their names."""

from __future__ import annotations

from typing import Any

from mbfmu.importers.builder import Builder
from mbfmu.importers.mjcf.actuators import Actuators
from mbfmu.importers.mjcf.bodies import Bodies
from mbfmu.importers.mjcf.source import Source
from mbfmu.modeling.connectors import Connector, Reference

#: Sensors of joints: variables that such a joint may have.
_JOINTS = {"JOINTPOS": ("phi", "s"), "JOINTVEL": ("w", "v"), "BALLANGVEL": ("w_rel",), "BALLQUAT": ("Q",)}
#: Sensors of frames: the quantity of an AbsoluteSensor, and the frame that resolves it.
_FRAMES = {
    "FRAMEPOS": ("r", "world"),
    "FRAMELINVEL": ("v", "world"),
    "FRAMEANGVEL": ("w", "world"),
    "VELOCIMETER": ("v", "frame_a"),
    "GYRO": ("w", "frame_a"),
}
#: Sensors of a frame's axes: the row of its rotation matrix.
_AXES = {"FRAMEXAXIS": 0, "FRAMEYAXIS": 1, "FRAMEZAXIS": 2}


def add_sensor(source: Source, builder: Builder, bodies: Bodies, actuators: Actuators, s: int) -> None:
    """An output under the sensor's name."""
    model, assembly = source.model, builder.assembly
    kind, target = source.kind("mjtSensor", model.sensor_type[s]), int(model.sensor_objid[s])
    given, is_known = model.sensor(s).name, kind in {*_JOINTS, *_FRAMES, *_AXES, "ACTUATORFRC"}
    if not is_known or int(model.sensor_refid[s]) >= 0:
        source.lacks("sensors", "sensor", s, "relative to another frame" if is_known else "")
        return
    name = builder.names.new(given or f"sensor{s + 1}", "sensor" if given else "", "_sensor")
    if float(model.sensor_cutoff[s]):
        builder.note(f"cutoff of {source.called('sensor', s)} is not kept")
    if kind == "ACTUATORFRC":
        if target in actuators.forces:
            assembly.output(actuators.forces[target], name)
        else:
            source.lacks("sensors", "sensor", s, "its actuator is left out")
    elif kind == "BALLQUAT":
        quaternion = Reference(bodies.joints.parts[target], "Q")
        assembly.output([quaternion[i] for i in (3, 0, 1, 2)], name)
    elif kind in _JOINTS:
        joint = bodies.joints.parts[target]
        assembly.output(Reference(joint, next(v for v in _JOINTS[kind] if v in joint.variables())), name)
    else:
        frame = bodies.frame_of(source.kind("mjtObj", model.sensor_objtype[s]), target, name)
        if frame is None:
            source.lacks("sensors", "sensor", s)
        elif kind in _AXES:
            orientation = Reference(_sensor(builder, name, frame, "r", "world"), "frame_a.R.T")
            assembly.output([orientation[_AXES[kind], column] for column in range(3)], name)
        else:
            quantity, resolved = _FRAMES[kind]
            assembly.output(_sensor(builder, name, frame, quantity, resolved).connector(quantity), name)


def _sensor(builder: Builder, name: str, frame: Connector, quantity: str, resolved: str) -> Any:
    part = builder.new(
        f"{name}_sensor", "MultiBody.Sensors.AbsoluteSensor", **{f"get_{quantity}": True}, resolveInFrame=resolved
    )
    builder.connect(frame, part.frame_a)
    return part
