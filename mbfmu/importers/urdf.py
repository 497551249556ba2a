"""URDF, the format of robotics, -> Assembly (docs/urdf.md; the format: wiki.ros.org/urdf/XML)."""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
from collections.abc import Iterator
from typing import Any, Literal, cast, get_args

import numpy as np
from lxml import etree

from mbfmu.errors import MbfmuError, ModelError
from mbfmu.importers.draft import NEGLIGIBLE, Axis, Draft, clean, mesh_placement
from mbfmu.importers.places import Place, number, numbers, parse_xml, place_of
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.connectors import Connector, Reference, RotationalFlange, TranslationalFlange
from mbfmu.modeling.declarations import Start

Drive = Literal["effort", "position", "flange", "none"]

#: m/s2, standard gravity; URDF has none of its own.
GRAVITY = 9.80665
#: Types of joints, and the component class of those that move.
JOINTS = {
    "fixed": None,
    "revolute": "MultiBody.Joints.Revolute",
    "continuous": "MultiBody.Joints.Revolute",
    "prismatic": "MultiBody.Joints.Prismatic",
    "floating": "MultiBody.Joints.FreeMotion",
    "planar": "MultiBody.Joints.Planar",
}
#: A stop gives way by this much under the joint's effort limit [rad or m].
STOP_TRAVEL = {True: 0.01, False: 0.001}
#: Stiffness of a stop of a joint without effort limit [N.m/rad or N/m].
STOP_STIFFNESS = {True: 1e4, False: 1e5}
#: Damping of a stop over its stiffness [s].
STOP_TIME = 0.01
#: Colour of shapes that have none.
GREY = (155, 155, 155)


@dataclasses.dataclass(frozen=True)
class Pose:
    """Position [m] and orientation of a frame in another; `R` takes vectors of the frame to the other one."""

    r: np.ndarray
    R: np.ndarray

    def __matmul__(self, inner: Pose) -> Pose:
        return Pose(self.r + self.R @ inner.r, self.R @ inner.R)


@dataclasses.dataclass
class Link:
    """A link: its element, its inertia about the centre of mass along the link's axes, and the joints at it."""

    name: str
    element: Any
    mass: float = 0.0
    centre: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((3, 3)))
    parent: Joint | None = None
    children: list[Joint] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Joint:
    """A joint: how its frame stands in the parent link, and what is said of its motion."""

    name: str
    element: Any
    type: str
    parent: Link
    child: Link
    xyz: np.ndarray
    rpy: np.ndarray
    axis: np.ndarray
    lower: float = -math.inf
    upper: float = math.inf
    effort: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    #: Name of the joint that it mimics, multiplier, offset.
    mimic: tuple[str, float, float] | None = None

    @property
    def rotates(self) -> bool:
        """True for revolute and continuous joints."""
        return self.type in ("revolute", "continuous")

    @property
    def has_axis(self) -> bool:
        """True for joints of one degree of freedom."""
        return self.rotates or self.type == "prismatic"

    @property
    def start(self) -> float:
        """Position at the start: 0 where the limits allow it, else their middle (as joint_state_publisher does)."""
        if self.lower <= 0 <= self.upper:
            return 0.0
        return (max(self.lower, -1e9) + min(self.upper, 1e9)) / 2

    @property
    def origin(self) -> Pose:
        """Pose of the joint's frame in the parent link."""
        return Pose(self.xyz, rotation_of(self.rpy))


def load(
    path: pathlib.Path,
    *,
    into: Assembly | None = None,
    floating: bool = False,
    drive: Drive = "effort",
    bandwidth: float | None = None,
    stops: bool = False,
) -> Assembly:
    """Read a URDF file, or a xacro file where the package xacro is installed.

    Args:
        path: the file.
        into: an assembly of one's own that takes the parts; else one is made that is called like the robot.
        floating: the root link moves freely; else it is fixed in the world.
        drive: what moves the joints of one degree of freedom: `effort`, a torque or force input each; `position`, a
            position input each, and a PD controller; `flange`, a flange of the assembly each; `none`.
        bandwidth: of the PD controllers, Hz; 5 where None.
        stops: limits become elastic stops.

    Raises:
        ModelError: the file is no URDF or describes no tree of links; the message names line and element.
    """
    if drive not in get_args(Drive):
        raise ModelError(f"{path}: drive = {drive!r}: expected one of {', '.join(get_args(Drive))}")
    if bandwidth is not None and not (isinstance(bandwidth, int | float) and 0 < bandwidth < math.inf):
        raise ModelError(f"{path}: bandwidth = {bandwidth!r}: give a positive frequency in Hz")
    if bandwidth is not None and drive != "position":
        raise ModelError(f"{path}: bandwidth = {bandwidth!r} is of position drives; add drive=position or leave it out")
    bandwidth = 5.0 if bandwidth is None else bandwidth
    robot = Robot(path, expanded(path) if path.suffix.lower() == ".xacro" else parse_xml(path))
    try:
        return _Builder(robot, into, floating, drive, float(bandwidth), stops).build()
    except ModelError as error:
        raise error if str(error).startswith(str(path)) else ModelError(f"{path}: {error}") from error


def expanded(path: pathlib.Path) -> Any:
    """Root element of what xacro makes of a file.

    Raises:
        ModelError: xacro is not installed, or fails.
    """
    try:
        import xacro
    except ImportError:
        raise ModelError(
            f"{path}: xacro files need the package xacro; run `pip install 'mbfmu[xacro]'`, or make a .urdf of it"
        ) from None
    try:
        text = xacro.process_file(str(path)).toxml("utf-8")
        return etree.fromstring(text, etree.XMLParser(resolve_entities=False, remove_comments=True))
    except Exception as error:  # xacro lets every error of the file's own expressions through
        message = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"{path}: xacro cannot expand it: {message}; correct it, or make a .urdf of it") from error


def rotation_of(rpy: np.ndarray) -> np.ndarray:
    """Matrix of URDF's roll, pitch and yaw [rad], turns about the fixed x-, y- and z-axis."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


class Robot:
    """What a URDF file says: links and joints, checked to be one tree."""

    def __init__(self, path: pathlib.Path, root: Any) -> None:
        self.path, self.element = path, root
        if root.tag != "robot":
            raise Place(path, root.sourceline).error(f"its root is <{root.tag}>, that of a URDF is <robot>")
        unexpanded = next((e for e in root.iter("{*}*") if "xacro" in (etree.QName(e).namespace or "")), None)
        if unexpanded is not None:
            raise place_of(unexpanded, path).error("is xacro, not yet URDF; name the file .xacro to have it expanded")
        self.name = root.get("name") or path.stem
        self.links: dict[str, Link] = {}
        self.joints: dict[str, Joint] = {}
        #: What is wrong in the file, but can be read.
        self.warnings: list[str] = []
        self.colors = {m.get("name"): c for m in root.iterfind("material") if (c := self._color(m)) is not None}
        for element in root.iterfind("link"):
            link = self._link(element)
            if link.name in self.links:
                raise place_of(element, path).error("a second link of this name; give one of them another name")
            self.links[link.name] = link
        if not self.links:
            raise Place(path, root.sourceline).error("has no <link>; a robot needs one")
        for element in root.iterfind("joint"):
            joint = self._joint(element)
            if joint.name in self.joints:
                raise place_of(element, path).error("a second joint of this name; give one of them another name")
            self.joints[joint.name] = joint
        self.root = self._root()
        self._check_mimics()

    def ignored(self) -> list[str]:
        """Tags of elements that are read over."""
        known = {"link", "joint", "material"}
        return sorted({str(etree.QName(e).localname) for e in self.element if isinstance(e.tag, str)} - known)

    def walk(self) -> Iterator[Link]:
        """All links, parents first, in depth."""
        stack = [self.root]
        while stack:
            link = stack.pop()
            yield link
            stack += [joint.child for joint in reversed(link.children)]

    def _name(self, element: Any) -> str:
        name = element.get("name")
        if not name:
            raise place_of(element, self.path).error('needs name="..."')
        return cast("str", name)

    def _pose(self, element: Any) -> tuple[np.ndarray, np.ndarray]:
        """xyz [m] and rpy [rad] of an element's <origin>."""
        origin = element.find("origin")
        if origin is None:
            return np.zeros(3), np.zeros(3)
        zero = (0.0, 0.0, 0.0)
        return (
            np.array(numbers(origin, "xyz", self.path, 3, zero)),
            np.array(numbers(origin, "rpy", self.path, 3, zero)),
        )

    def _link(self, element: Any) -> Link:
        link = Link(self._name(element), element)
        inertial = element.find("inertial")
        if inertial is None:
            return link
        mass, inertia = inertial.find("mass"), inertial.find("inertia")
        if mass is not None:
            link.mass = number(mass, "value", self.path)
            if link.mass < 0:
                raise place_of(mass, self.path).error(
                    f'value="{link.mass:g}" of link {link.name}: a mass is not negative'
                )
        link.centre, rpy = self._pose(inertial)
        if inertia is not None:
            xx, yy, zz = (number(inertia, key, self.path) for key in ("ixx", "iyy", "izz"))
            xy, xz, yz = (number(inertia, key, self.path, 0.0) for key in ("ixy", "ixz", "iyz"))
            turn = rotation_of(rpy)
            link.inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
        return link

    def _joint(self, element: Any) -> Joint:
        name, place = self._name(element), place_of(element, self.path)
        kind = element.get("type")
        if kind not in JOINTS:
            raise place.error(f'type="{kind}": expected one of {", ".join(JOINTS)}')
        ends = []
        for tag in ("parent", "child"):
            end = element.find(tag)
            if end is None or end.get("link") is None:
                raise place.error(f'needs <{tag} link="..."/>')
            if end.get("link") not in self.links:
                raise place_of(end, self.path).error(f'link="{end.get("link")}" of joint {name}: there is no such link')
            ends.append(self.links[end.get("link")])
        parent, child = ends
        if child.parent is not None:
            raise place.error(
                f"link {child.name} is already the child of joint {child.parent.name}; URDF describes trees, "
                "a loop is closed in the model that `mbfmu convert` writes"
            )
        xyz, rpy = self._pose(element)
        axis = np.array((1.0, 0.0, 0.0))
        if element.find("axis") is not None:
            axis = np.array(numbers(element.find("axis"), "xyz", self.path, 3, (1.0, 0.0, 0.0)))
            if kind not in ("fixed", "floating") and not np.linalg.norm(axis) > 0:
                raise place_of(element.find("axis"), self.path).error(f"the axis of joint {name} needs a direction")
        joint = Joint(name, element, kind, parent, child, xyz, rpy, axis)
        limit, dynamics, mimic = (element.find(tag) for tag in ("limit", "dynamics", "mimic"))
        if limit is not None and kind in ("revolute", "prismatic"):
            joint.lower, joint.upper = (number(limit, key, self.path, 0.0) for key in ("lower", "upper"))
            if limit.get("lower") is None and limit.get("upper") is None:
                joint.lower, joint.upper = -math.inf, math.inf
            if joint.lower > joint.upper:
                raise place_of(limit, self.path).error(f"lower limit of joint {name} above the upper one")
        if limit is not None:
            joint.effort = abs(number(limit, "effort", self.path, 0.0))
        if dynamics is not None:
            joint.damping = number(dynamics, "damping", self.path, 0.0)
            joint.friction = number(dynamics, "friction", self.path, 0.0)
            if joint.damping < 0 or joint.friction < 0:
                raise place_of(dynamics, self.path).error(f"damping and friction of joint {name} must not be negative")
        if mimic is not None and joint.has_axis:
            leader = mimic.get("joint")
            if leader is None:
                raise place_of(mimic, self.path).error(f'of joint {name}: needs joint="..."')
            factor, offset = (
                number(mimic, key, self.path, value) for key, value in (("multiplier", 1.0), ("offset", 0.0))
            )
            joint.mimic = leader, factor, offset
        if kind in ("floating", "planar") and (joint.damping or joint.friction):
            self.warnings.append(f"joint {name} is {kind}: its damping and friction are left out")
        child.parent = joint
        parent.children.append(joint)
        return joint

    def _root(self) -> Link:
        roots = [link for link in self.links.values() if link.parent is None]
        if not roots:
            raise Place(self.path).error("its joints form a loop: every link is the child of one; URDF describes trees")
        if len(roots) > 1:
            raise place_of(roots[1].element, self.path).error(
                f"no joint has this link as its child, nor {roots[0].name}; a robot has one root, connect the other"
            )
        self.root = roots[0]
        reached = {link.name for link in self.walk()}
        for link in self.links.values():
            if link.name not in reached:
                raise place_of(link.element, self.path).error(
                    f"cannot be reached from the root {roots[0].name}: its joints form a loop; URDF describes trees"
                )
        return roots[0]

    def _check_mimics(self) -> None:
        """Refuse chains of mimicking joints without end, and let each joint mimic the first one of its chain."""
        for joint in self.joints.values():
            if joint.mimic is None:
                continue
            place, seen, name = place_of(joint.element.find("mimic"), self.path), {joint.name}, joint.mimic[0]
            if name not in self.joints:
                self.warnings.append(f"joint {joint.name} mimics {name}, which does not exist; it moves on its own")
                joint.mimic = None
                continue
            while name in self.joints:
                if not self.joints[name].has_axis:
                    raise place.error(
                        f"joint {joint.name} mimics {name}, which is no joint with one degree of freedom; name one"
                    )
                if name in seen:
                    raise place.error(f"joint {joint.name} mimics itself by way of {name}; name another joint")
                seen.add(name)
                following = self.joints[name].mimic
                if following is None:
                    break
                name = following[0]
        for joint in self.joints.values():
            while joint.mimic is not None:
                leader, factor, offset = joint.mimic
                further = self.joints[leader].mimic
                if further is None:
                    break
                joint.mimic = further[0], factor * further[1], factor * further[2] + offset

    def _color(self, material: Any) -> tuple[int, int, int] | None:
        color = material.find("color")
        if color is None:
            return None
        rgba = numbers(color, "rgba", self.path, len((color.get("rgba") or "").split()) if color.get("rgba") else 4)
        if len(rgba) not in (3, 4):
            raise place_of(color, self.path).error(f'rgba="{color.get("rgba")}": give four numbers from 0 to 1')
        red, green, blue = (round(255 * min(1.0, max(0.0, v))) for v in rgba[:3])
        return red, green, blue

    # -- shapes

    def shapes(self, link: Link) -> Iterator[tuple[str, dict[str, Any]]]:
        """Shape type and parameters of what is drawn of a link, in its frame."""
        for visual in link.element.iterfind("visual"):
            geometry = visual.find("geometry")
            form = None if geometry is None else next((e for e in geometry if isinstance(e.tag, str)), None)
            if form is None:
                continue
            xyz, rpy = self._pose(visual)
            turn = rotation_of(rpy)
            material = visual.find("material")
            color = None if material is None else self._color(material) or self.colors.get(material.get("name"))
            shape = self._shape(form, xyz, turn, link)
            if shape is not None:
                yield shape[0], shape[1] | {"color": color or GREY}

    def _shape(self, form: Any, centre: np.ndarray, turn: np.ndarray, link: Link) -> tuple[str, dict[str, Any]] | None:
        if form.tag == "box":
            x, y, z = (abs(v) for v in numbers(form, "size", self.path, 3))
            return "box", _along(centre, turn, 0, 1, x, y, z)
        if form.tag == "cylinder":
            radius, long = (abs(number(form, key, self.path)) for key in ("radius", "length"))
            return "cylinder", _along(centre, turn, 2, 0, long, 2 * radius, 2 * radius)
        if form.tag == "capsule":
            radius, long = (abs(number(form, key, self.path)) for key in ("radius", "length"))
            return "capsule", _along(centre, turn, 2, 0, long + 2 * radius, 2 * radius, 2 * radius)
        if form.tag == "sphere":
            size = 2 * abs(number(form, "radius", self.path))
            return "sphere", _along(centre, turn, 0, 1, size, size, size)
        if form.tag == "mesh":
            name = form.get("filename")
            if not name:
                raise place_of(form, self.path).error(f'of link {link.name}: needs filename="..."')
            scale = numbers(form, "scale", self.path, 3, (1.0, 1.0, 1.0))
            return self.mesh(name), mesh_placement(centre, turn, scale)
        return None

    def mesh(self, name: str) -> str:
        """A mesh file's path; a `package://` that cannot be found stays as it is."""
        if name.startswith("file://"):
            return name.removeprefix("file://")
        if not name.startswith("package://"):
            return str((self.path.parent / name).resolve())
        package, _, rest = name.removeprefix("package://").partition("/")
        folder = self.path.resolve().parent
        around = [*folder.parents, folder]
        roots = [parent / package for parent in around] + [parent for parent in around if parent.name == package]
        for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
            for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
                place = pathlib.Path(entry)
                roots += [place / package, place / "share" / package, *([place] if place.name == package else [])]
        found = next((root / rest for root in reversed(roots) if (root / rest).is_file()), None)
        return name if found is None else str(found)


def _along(
    centre: np.ndarray, turn: np.ndarray, length: int, width: int, long: float, wide: float, high: float
) -> dict[str, Any]:
    """Placement of a shape that Modelica draws from the middle of its left end along the column `length` of `turn`."""
    return {
        "r_shape": clean(centre - turn[:, length] * long / 2),
        "lengthDirection": clean(turn[:, length]),
        "widthDirection": clean(turn[:, width]),
        "length": long,
        "width": wide,
        "height": high,
    }


class _Builder:
    """Makes the assembly of a robot."""

    def __init__(
        self, robot: Robot, into: Assembly | None, floating: bool, drive: Drive, bandwidth: float, stops: bool
    ) -> None:
        self.robot, self.floating, self.drive, self.bandwidth, self.stops = robot, floating, drive, bandwidth, stops
        self.draft = Draft(robot.name, f"Robot {robot.name}, read from {robot.path.name}.", into)
        self.frames: dict[str, Connector] = {}
        self.axes: dict[str, Axis] = {}
        names = self.draft.names
        if "world" not in self.draft.assembly.parts:
            names.new("world")
        #: Joints come first: their names are those of the interface.
        self.joint_names = {joint.name: names.new(joint.name, "joint") for joint in robot.joints.values()}
        self.link_names: dict[str, str] = {}
        self.held = self._massless_joints()

    def build(self) -> Assembly:
        robot, draft = self.robot, self.draft
        for text in robot.warnings:
            draft.warn(text)
        if any(link.element.find("visual") is not None for link in robot.links.values()):
            draft.unseen = {"animation": False}
        world = draft.assembly.parts.get("world")
        if world is None:
            world = draft.add("world", "MultiBody.World", g=GRAVITY, n=(0, 0, -1))
            draft.note(f"gravity is {GRAVITY} m/s2 along -z (parameter world.g)")
        self.frames[robot.root.name] = cast("Any", world).frame_b
        if self.floating and not any(link.mass for link in robot.links.values()):
            raise Place(robot.path).error("nothing of it has mass, so it cannot float; read it with a fixed base")
        if self.floating:
            self._floating_base()
        for link in robot.walk():
            if link.parent is not None:
                self._place(link.parent)
            self._link(link)
        for joint in robot.joints.values():
            if joint.name in self.axes:
                self._drive(joint)
        if robot.ignored():
            draft.note(f"read over: {', '.join(f'<{tag}>' for tag in robot.ignored())}")
        if not self.stops and any(j.has_axis and math.isfinite(j.upper - j.lower) for j in robot.joints.values()):
            draft.note("limits of joints are not kept; --stops makes elastic stops of them")
        missing = sum(str(p.value("shapeType")).startswith("package://") for p in self._visuals())
        if missing:
            draft.note(
                f"{missing} meshes of package://... are not found beside the file, nor by ROS_PACKAGE_PATH or "
                "AMENT_PREFIX_PATH; their shapes keep that address"
            )
        return draft.finish()

    def _visuals(self) -> list[Any]:
        kind = "MultiBody.Visualizers.FixedShape"
        return [part for part in self.draft.assembly.parts.values() if type(part).modelica_name == kind]

    def _massless_joints(self) -> set[str]:
        """Joints that move nothing with mass or inertia: nothing says how they would move, so they are held."""
        heavy: dict[str, bool] = {}
        for link in reversed(list(self.robot.walk())):
            own = link.mass > 0 or bool(np.any(np.abs(link.inertia) > 0))
            heavy[link.name] = own or any(heavy[joint.child.name] for joint in link.children)
        joints = self.robot.joints.values()
        first = {j.name: j.mimic[0] if j.mimic else j.name for j in joints}
        driven = {first[j.name] for j in joints if heavy[j.child.name]}
        moving = [j for j in joints if j.type != "fixed" and first[j.name] not in driven]
        if moving:
            self.draft.note(
                f"held at their start, as nothing that has mass moves with them: {', '.join(j.name for j in moving)}"
            )
        return {joint.name for joint in moving}

    def _floating_base(self) -> None:
        root = self.robot.root
        name = self.draft.names.new("floating_base")
        rest = {"start": (0, 0, 0), "fixed": True}
        base = self.draft.add(
            name,
            "MultiBody.Joints.FreeMotion",
            angles_fixed=True,
            w_rel_a_fixed=True,
            r_rel_a=Start(rest["start"], True),
            v_rel_a=Start(rest["start"], True),
            **self.draft.unseen,
        )
        self.draft.connect(self.frames[root.name], base.frame_a)
        self.frames[root.name] = base.frame_b
        self._output(name, "r_rel_a", "Q", "v_rel_a", "w_rel_b")

    def _output(self, part: str, *variables: str) -> None:
        assembly = self.draft.assembly
        for variable in variables:
            assembly.output(Reference(assembly.parts[part], variable))

    def _place(self, joint: Joint) -> None:
        """Parts between the frames of a joint's links."""
        draft, name = self.draft, self.joint_names[joint.name]
        frame = self.frames[joint.parent.name]
        turned = None
        if np.abs(joint.rpy).max() > NEGLIGIBLE:
            roll, pitch, yaw = clean(np.degrees(joint.rpy))
            turned = {"rotationType": "PlanarRotationSequence", "sequence": (3, 2, 1), "angles": (yaw, pitch, roll)}
        still = joint.type == "fixed" or joint.name in self.held
        frame = draft.rigid(f"{name}_origin", frame, joint.xyz, turned)
        if still:
            self.frames[joint.child.name] = self._displaced(joint, frame) if joint.has_axis else frame
            return
        kind = JOINTS[joint.type]
        assert kind is not None
        part = draft.add(name, kind, **self._modifiers(joint), **draft.unseen)
        draft.connect(frame, part.frame_a)
        self.frames[joint.child.name] = part.frame_b
        if joint.has_axis:
            axis = Axis(draft, part, name, joint.rotates)
            self._output(name, axis.coordinate, axis.speed)
            if part.useAxisFlange:
                self.axes[joint.name] = axis
        elif joint.type == "floating":
            self._output(name, "r_rel_a", "Q", "v_rel_a", "w_rel_b")
        else:
            self._output(name, "s_x", "s_y", "phi", "v_x", "v_y", "w")

    def _displaced(self, joint: Joint, frame: Connector) -> Connector:
        """The frame of the child of a joint that is held at its start."""
        name = self.joint_names[joint.name]
        start = self._start(joint)
        if joint.rotates and start:
            turned = {"n": clean(joint.axis), "angle": math.degrees(start)}
            return self.draft.rigid(f"{name}_held", frame, np.zeros(3), turned)
        if not joint.rotates and start:
            along = joint.axis / np.linalg.norm(joint.axis) * start
            return self.draft.rigid(f"{name}_held", frame, along, None)
        return frame

    def _modifiers(self, joint: Joint) -> dict[str, Any]:
        zero = Start(0.0, True)
        if joint.type == "floating":
            rest = Start((0, 0, 0), True)
            return {"angles_fixed": True, "w_rel_a_fixed": True, "r_rel_a": rest, "v_rel_a": rest}
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
        position, speed = ("phi", "w") if joint.rotates else ("s", "v")
        leads = any(j.mimic and j.mimic[0] == joint.name for j in self.robot.joints.values())
        result: dict[str, Any] = {"n": clean(joint.axis)}
        if (
            self.drive != "none"
            or joint.mimic
            or leads
            or joint.damping
            or joint.friction
            or (self.stops and math.isfinite(joint.upper - joint.lower))
        ):
            result["useAxisFlange"] = True
        if joint.mimic:
            return result | {"stateSelect": "default", position: Start(self._start(joint))}
        return result | {position: Start(self._start(joint), True), speed: zero}

    def _start(self, joint: Joint) -> float:
        if joint.mimic is None:
            return joint.start
        leader, factor, offset = joint.mimic
        return factor * self.robot.joints[leader].start + offset

    def _link(self, link: Link) -> None:
        name = self.draft.names.new(link.name, "", "_link")
        if name != link.name and not (link.name == "world" and link is self.robot.root):
            self.draft.names.renamed["link", link.name] = name
        frame = self.frames[link.name]
        if link.mass > 0 or np.any(link.inertia):
            where = f"link {link.name}"
            try:
                self.draft.body(name, frame, link.mass, link.centre, link.inertia, where)
            except MbfmuError as error:
                raise place_of(link.element.find("inertial"), self.robot.path).error(str(error)) from error
        elif not link.children:
            tip = self.draft.add(name, "MultiBody.Visualizers.FixedFrame", **self.draft.unseen)
            self.draft.connect(frame, tip.frame_a)
        shapes = list(self.robot.shapes(link))
        for i, (shape, parameters) in enumerate(shapes, start=1):
            self.draft.shape(f"{name}_visual{i if len(shapes) > 1 else ''}", frame, shape, **parameters)

    def _drive(self, joint: Joint) -> None:
        """What acts along the axis of a joint."""
        axis, assembly = self.axes[joint.name], self.draft.assembly
        if joint.damping:
            axis.between("_damper", "Components.Damper", d=joint.damping)
        if joint.friction:
            axis.friction(joint.friction)
        if self.stops and math.isfinite(joint.upper - joint.lower):
            stiffness = joint.effort / STOP_TRAVEL[joint.rotates] or STOP_STIFFNESS[joint.rotates]
            axis.stop(joint.lower, joint.upper, stiffness, STOP_TIME * stiffness)
        if joint.mimic:
            leader, factor, offset = joint.mimic
            if factor == 0:
                axis.at("_held", "Components.Fixed", **{f"{axis.coordinate}0": offset})
            else:
                axis.follow(self.axes[leader], factor, offset)
            return
        if self.drive == "effort":
            assembly.input(axis.source(), f"{axis.name}_{axis.effort}")
        elif self.drive == "position":
            # critically damped: J s^2 + 2 J w s + J w^2
            w, inertia = 2 * math.pi * self.bandwidth, self._inertia_about(joint)
            gain = inertia * w**2
            reference, control = axis.feedback("", gain, -gain, -2 * inertia * w)
            self.draft.connect(control, axis.source())
            assembly.input(reference, f"{axis.name}_{axis.coordinate}_ref", self._start(joint))
        elif self.drive == "flange":
            flange = RotationalFlange if joint.rotates else TranslationalFlange
            name = self.draft.names.new(f"{axis.name}_axis")
            setattr(assembly, name, flange(f"Axis of joint {joint.name}"))
            self.draft.connect(getattr(assembly, name), axis.joint.axis)

    def _inertia_about(self, joint: Joint) -> float:
        """Inertia [kg.m2 or kg] that a joint moves at the start with all others held, with those that mimic it."""
        total = 0.0
        for other in self.robot.joints.values():
            ratio = self._ratio(other, joint)
            if ratio and other.name not in self.held:
                total += ratio**2 * self._own_inertia(other)
        return total or 1.0

    def _ratio(self, joint: Joint, leader: Joint) -> float:
        if joint is leader:
            return 1.0
        return joint.mimic[1] if joint.mimic and joint.mimic[0] == leader.name else 0.0

    def _own_inertia(self, joint: Joint) -> float:
        axis = joint.axis / np.linalg.norm(joint.axis)
        total, stack = 0.0, [(joint.child, Pose(np.zeros(3), np.eye(3)))]
        while stack:
            link, pose = stack.pop()
            if joint.rotates:
                arm = np.cross(axis, pose.r + pose.R @ link.centre)
                total += link.mass * arm @ arm + axis @ pose.R @ link.inertia @ pose.R.T @ axis
            else:
                total += link.mass
            stack += [(child.child, pose @ child.origin @ self._moved(child)) for child in link.children]
        return total

    def _moved(self, joint: Joint) -> Pose:
        """Pose of a joint's child in the joint's frame at the start."""
        axis, start = joint.axis / (np.linalg.norm(joint.axis) or 1.0), self._start(joint) if joint.has_axis else 0.0
        if joint.rotates:
            x, y, z = axis
            cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            return Pose(np.zeros(3), np.eye(3) + math.sin(start) * cross + (1 - math.cos(start)) * cross @ cross)
        return Pose(axis * start, np.eye(3))
