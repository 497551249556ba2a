"""Bodies and joints of a robot as parts of an assembly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mbfmu.errors import MbfmuError
from mbfmu.importers.axis import Axis
from mbfmu.importers.builder import Builder
from mbfmu.importers.geometry import NEGLIGIBLE, clean
from mbfmu.importers.places import Place, place_of
from mbfmu.importers.urdf.drives import Options, add_drive, needs_axis
from mbfmu.importers.urdf.ground import add_ground
from mbfmu.importers.urdf.robot import JOINTS, Joint, Link, Robot
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.connectors import Connector
from mbfmu.modeling.declarations import Start

#: m/s2, standard gravity; URDF has none of its own.
GRAVITY = 9.80665
#: What of a joint of several degrees of freedom is an output.
SHOWN = {"floating": ("r_rel_a", "Q", "v_rel_a", "w_rel_b"), "planar": ("s_x", "s_y", "phi", "v_x", "v_y", "w")}

#: Modifiers of a FreeMotion that starts at rest, where it is.
AT_REST: dict[str, Any] = {
    "angles_fixed": True,
    "w_rel_a_fixed": True,
    "r_rel_a": Start((0, 0, 0), True),
    "v_rel_a": Start((0, 0, 0), True),
}


def assembly_of(robot: Robot, options: Options, into: Assembly | None) -> Assembly:
    """The assembly of a robot; `into`: one of the user's own that takes the parts.

    Raises:
        ModelError: a link that no body can be, or a floating robot without mass.
    """
    builder = Builder(robot.name, f"Robot {robot.name}, read from {robot.path.name}.", into)
    mechanism = _Mechanism(robot, options, builder)
    for joint in robot.joints.values():
        if joint.name in mechanism.axes:
            add_drive(robot, joint, mechanism.axes, mechanism.held, options)
    if options.ground is not None:
        add_ground(robot, builder, mechanism.frames, mechanism.standing(), GRAVITY, options.ground)
    if robot.ignored():
        builder.note(f"read over: {', '.join(f'<{tag}>' for tag in robot.ignored())}")
    if not options.stops and any(joint.has_axis and joint.is_limited for joint in robot.joints.values()):
        builder.note("limits of joints are not kept; --stops makes elastic stops of them")
    shapes = [p for p in builder.assembly.parts.values() if type(p).modelica_name == "MultiBody.Visualizers.FixedShape"]
    missing = sum(str(shape.value("shapeType")).startswith("package://") for shape in shapes)
    if missing:
        builder.note(
            f"{missing} meshes of package://... are not found beside the file, nor by ROS_PACKAGE_PATH or "
            "AMENT_PREFIX_PATH; their shapes keep that address"
        )
    return builder.finish()


class _Mechanism:
    """The tree of a robot's links in the making."""

    def __init__(self, robot: Robot, options: Options, builder: Builder) -> None:
        self.robot, self.options, self.builder = robot, options, builder
        #: Joints come first: their names are those of the interface.
        self.names = {joint.name: builder.names.new(joint.name, "joint") for joint in robot.joints.values()}
        #: Names of joints that are held at their start, and axes of those along which something acts.
        self.held = robot.massless_joints()
        self.axes: dict[str, Axis] = {}
        if self.held:
            builder.note(f"held at their start, as nothing that has mass moves with them: {', '.join(self.held)}")
        for text in robot.warnings:
            builder.warn(text)
        if any(link.element.find("visual") is not None for link in robot.links.values()):
            builder.unseen = {"animation": False}
        self.frames = {robot.root.name: builder.world(f"{GRAVITY} m/s2 along -z", g=GRAVITY, n=(0, 0, -1))}
        if options.floating:
            self._float()
        for link in robot.walk():
            if link.parent is not None:
                self._place(link.parent)
            self._link(link)

    def standing(self) -> set[str]:
        """Names of links that stand in the world."""
        found = set() if self.options.floating else {self.robot.root.name}
        for link in self.robot.walk():
            joint = link.parent
            if joint is not None and joint.parent.name in found and (not JOINTS[joint.type] or joint.name in self.held):
                found.add(link.name)
        return found

    def _float(self) -> None:
        """Let the root link move freely."""
        robot, builder = self.robot, self.builder
        if not any(link.mass for link in robot.links.values()):
            raise Place(robot.path).error("nothing of it has mass, so it cannot float; read it with a fixed base")
        base = builder.new("floating_base", "MultiBody.Joints.FreeMotion", **AT_REST, **builder.unseen)
        builder.connect(self.frames[robot.root.name], base.frame_a)
        self.frames[robot.root.name] = base.frame_b
        builder.show(base, *SHOWN["floating"])

    def _place(self, joint: Joint) -> None:
        """Parts between the frames of a joint's links."""
        builder, name = self.builder, self.names[joint.name]
        turned = None
        if np.abs(joint.rpy).max() > NEGLIGIBLE:
            roll, pitch, yaw = clean(np.degrees(joint.rpy))
            turned = {"rotationType": "PlanarRotationSequence", "sequence": (3, 2, 1), "angles": (yaw, pitch, roll)}
        frame = builder.rigid(f"{name}_origin", self.frames[joint.parent.name], joint.xyz, turned)
        kind = JOINTS[joint.type]
        if kind is None or joint.name in self.held:
            self.frames[joint.child.name] = self._displaced(joint, frame) if joint.has_axis else frame
            return
        part = builder.add(name, kind, **self._modifiers(joint), **builder.unseen)
        builder.connect(frame, part.frame_a)
        self.frames[joint.child.name] = part.frame_b
        if not joint.has_axis:
            builder.show(part, *SHOWN[joint.type])
            return
        builder.show(part, joint.freedom.position, joint.freedom.speed)
        if part.useAxisFlange:
            self.axes[joint.name] = Axis(builder, part, name, joint.freedom)

    def _displaced(self, joint: Joint, frame: Connector) -> Connector:
        """The frame of the child of a joint that is held at its start."""
        name = self.names[joint.name]
        start = self.robot.start(joint)
        if joint.rotates and start:
            turned = {"n": clean(joint.axis), "angle": math.degrees(start)}
            return self.builder.rigid(f"{name}_held", frame, np.zeros(3), turned)
        if not joint.rotates and start:
            along = joint.axis / np.linalg.norm(joint.axis) * start
            return self.builder.rigid(f"{name}_held", frame, along, None)
        return frame

    def _modifiers(self, joint: Joint) -> dict[str, Any]:
        zero = Start(0.0, True)
        if joint.type == "floating":
            return AT_REST
        if joint.type == "planar":
            n = joint.axis / np.linalg.norm(joint.axis)
            across = np.eye(3)[int(np.argmin(np.round(np.abs(n), 9)))]
            n_x = across - n * (n @ across)
            parts = {
                "prismatic_x": {"s": zero, "v": zero},
                "prismatic_y": {"s": zero, "v": zero},
                "revolute": {"phi": zero, "w": zero},
            }
            return {"n": clean(n), "n_x": clean(n_x), **parts}
        position, speed, start = joint.freedom.position, joint.freedom.speed, self.robot.start(joint)
        result: dict[str, Any] = {"n": clean(joint.axis)}
        if needs_axis(self.robot, joint, self.options):
            result["useAxisFlange"] = True
        if joint.mimic:
            return result | {"stateSelect": "default", position: Start(start)}
        return result | {position: Start(start, True), speed: zero}

    def _link(self, link: Link) -> None:
        name = self.builder.names.new(link.name, "", "_link")
        if name != link.name and not (link.name == "world" and link is self.robot.root):
            self.builder.names.renamed["link", link.name] = name
        frame = self.frames[link.name]
        if link.mass > 0 or np.any(link.inertia):
            where = f"link {link.name}"
            try:
                self.builder.body(name, frame, link.mass, link.centre, link.inertia, where)
            except MbfmuError as error:
                raise place_of(link.element.find("inertial"), self.robot.path).error(str(error)) from error
        elif not link.children:
            tip = self.builder.add(name, "MultiBody.Visualizers.FixedFrame", **self.builder.unseen)
            self.builder.connect(frame, tip.frame_a)
        shapes = list(self.robot.visuals.of(link.element))
        for i, (shape, parameters) in enumerate(shapes, start=1):
            self.builder.shape(f"{name}_visual{i if len(shapes) > 1 else ''}", frame, shape, **parameters)
