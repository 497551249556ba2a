"""What acts along the axes of a robot's joints: losses, stops, the joint that is mimicked, and what drives it."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import numpy as np

from mbfmu.importers.axis import Axis
from mbfmu.importers.urdf.poses import Pose
from mbfmu.importers.urdf.robot import Joint, Robot
from mbfmu.modeling.connectors import RotationalFlange, TranslationalFlange

Drive = Literal["effort", "position", "flange", "none"]

#: A stop gives way by this much under the joint's effort limit [rad or m].
STOP_TRAVEL = {True: 0.01, False: 0.001}
#: Stiffness of a stop of a joint without effort limit [N.m/rad or N/m].
STOP_STIFFNESS = {True: 1e4, False: 1e5}
#: Damping of a stop over its stiffness [s].
STOP_TIME = 0.01


@dataclasses.dataclass(frozen=True)
class Options:
    """What a user says of the assembly beside the file: see `load`."""

    floating: bool
    drive: Drive
    #: Hz.
    bandwidth: float
    stops: bool
    #: Height of a ground [m]; None where there is none.
    ground: float | None = None


def needs_axis(robot: Robot, joint: Joint, options: Options) -> bool:
    """True where something acts along the axis of a joint."""
    leads = any(j.mimic and j.mimic[0] == joint.name for j in robot.joints.values())
    loses = bool(joint.damping or joint.friction)
    return options.drive != "none" or bool(joint.mimic) or leads or loses or (options.stops and joint.is_limited)


def add_drive(robot: Robot, joint: Joint, axes: dict[str, Axis], held: list[str], options: Options) -> None:
    """What acts along the axis of a joint; `axes` has those of all, by the joints' names, without those `held`."""
    axis = axes[joint.name]
    builder, assembly = axis.builder, axis.builder.assembly
    if joint.damping:
        axis.between("_damper", "Components.Damper", d=joint.damping)
    if joint.friction:
        axis.friction(joint.friction)
    if options.stops and joint.is_limited:
        stiffness = joint.effort / STOP_TRAVEL[joint.rotates] or STOP_STIFFNESS[joint.rotates]
        axis.stop(joint.lower, joint.upper, stiffness, STOP_TIME * stiffness)
    if joint.mimic:
        leader, factor, offset = joint.mimic
        if factor == 0:
            axis.at("_held", "Components.Fixed", **{f"{axis.freedom.position}0": offset})
        else:
            axis.follow(axes[leader], factor, offset)
    elif options.drive == "effort":
        limits: dict[str, Any] = {"min": -joint.effort, "max": joint.effort} if joint.effort else {}
        assembly.input(axis.source(), f"{axis.name}_{axis.freedom.effort}", **limits)
    elif options.drive == "position":
        # critically damped: J s^2 + 2 J w s + J w^2
        w, inertia = 2 * math.pi * options.bandwidth, inertia_about(robot, joint, held)
        gain = inertia * w**2
        reference, control = axis.feedback("", gain, -gain, -2 * inertia * w)
        builder.connect(control, axis.source())
        limits = {"min": joint.lower, "max": joint.upper} if joint.is_limited else {}
        unit = "rad" if joint.rotates else "m"
        name = f"{axis.name}_{axis.freedom.position}_ref"
        assembly.input(reference, name, robot.start(joint), unit=unit, **limits)
    elif options.drive == "flange":
        flange = RotationalFlange if joint.rotates else TranslationalFlange
        name = builder.names.new(f"{axis.name}_axis")
        setattr(assembly, name, flange(f"Axis of joint {joint.name}"))
        builder.connect(getattr(assembly, name), axis.joint.axis)


# -- inertia


def inertia_about(robot: Robot, joint: Joint, held: list[str]) -> float:
    """Inertia [kg.m2 or kg] that a joint moves at the start with all others held, with those that mimic it."""
    total = 0.0
    for other in robot.joints.values():
        mimics = other.mimic is not None and other.mimic[0] == joint.name
        ratio = 1.0 if other is joint else other.mimic[1] if other.mimic is not None and mimics else 0.0
        if ratio and other.name not in held:
            total += ratio**2 * _own_inertia(robot, other)
    return total or 1.0


def _own_inertia(robot: Robot, joint: Joint) -> float:
    axis = joint.axis / np.linalg.norm(joint.axis)
    total, stack = 0.0, [(joint.child, Pose(np.zeros(3), np.eye(3)))]
    while stack:
        link, pose = stack.pop()
        if joint.rotates:
            arm = np.cross(axis, pose.r + pose.R @ link.centre)
            total += link.mass * arm @ arm + axis @ pose.R @ link.inertia @ pose.R.T @ axis
        else:
            total += link.mass
        stack += [(child.child, pose @ child.origin @ _moved(robot, child)) for child in link.children]
    return total


def _moved(robot: Robot, joint: Joint) -> Pose:
    """Pose of a joint's child in the joint's frame at the start."""
    axis, start = joint.axis / (np.linalg.norm(joint.axis) or 1.0), robot.start(joint) if joint.has_axis else 0.0
    if joint.rotates:
        x, y, z = axis
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return Pose(np.zeros(3), np.eye(3) + math.sin(start) * cross + (1 - math.cos(start)) * cross @ cross)
    return Pose(axis * start, np.eye(3))
