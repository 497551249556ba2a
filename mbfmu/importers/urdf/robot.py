"""What a URDF file says: links, joints, and that they are one tree."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from lxml import etree

from mbfmu.importers.axis import ROTATION, TRANSLATION, Freedom
from mbfmu.importers.places import Place, number, numbers, place_of
from mbfmu.importers.urdf.poses import Pose, origin_of, rotation_of
from mbfmu.importers.urdf.visuals import Visuals

#: Types of joints, and the component class of those that move.
JOINTS = {
    "fixed": None,
    "revolute": ROTATION.joint,
    "continuous": ROTATION.joint,
    "prismatic": TRANSLATION.joint,
    "floating": "MultiBody.Joints.FreeMotion",
    "planar": "MultiBody.Joints.Planar",
}


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
    def freedom(self) -> Freedom:
        """How the library calls what belongs to the joint's one degree of freedom."""
        return ROTATION if self.rotates else TRANSLATION

    @property
    def is_limited(self) -> bool:
        """True where its range has both ends."""
        return math.isfinite(self.upper - self.lower)

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
        self.visuals = Visuals(path, root)
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

    def start(self, joint: Joint) -> float:
        """Position of a joint at the start: its own, or what follows from that of the joint that it mimics."""
        if joint.mimic is None:
            return joint.start
        leader, factor, offset = joint.mimic
        return factor * self.joints[leader].start + offset

    def massless_joints(self) -> list[str]:
        """Names of joints that move nothing with mass or inertia, so that nothing says how they would move."""
        heavy: dict[str, bool] = {}
        for link in reversed(list(self.walk())):
            own = link.mass > 0 or bool(np.any(np.abs(link.inertia) > 0))
            heavy[link.name] = own or any(heavy[joint.child.name] for joint in link.children)
        first = {joint.name: joint.mimic[0] if joint.mimic else joint.name for joint in self.joints.values()}
        driven = {first[joint.name] for joint in self.joints.values() if heavy[joint.child.name]}
        return [j.name for j in self.joints.values() if j.type != "fixed" and first[j.name] not in driven]

    def _name(self, element: Any) -> str:
        name = element.get("name")
        if not name:
            raise place_of(element, self.path).error('needs name="..."')
        return cast("str", name)

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
        link.centre, rpy = origin_of(inertial, self.path)
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
        parent, child = (self._end(element, tag, name) for tag in ("parent", "child"))
        if child.parent is not None:
            raise place.error(
                f"link {child.name} is already the child of joint {child.parent.name}; URDF describes trees, "
                "a loop is closed in the model that `mbfmu convert` writes"
            )
        xyz, rpy = origin_of(element, self.path)
        axis = np.array((1.0, 0.0, 0.0))
        if element.find("axis") is not None:
            axis = np.array(numbers(element.find("axis"), "xyz", self.path, 3, (1.0, 0.0, 0.0)))
            if kind not in ("fixed", "floating") and not np.linalg.norm(axis) > 0:
                raise place_of(element.find("axis"), self.path).error(f"the axis of joint {name} needs a direction")
        joint = Joint(name, element, kind, parent, child, xyz, rpy, axis)
        self._read_motion(joint)
        child.parent = joint
        parent.children.append(joint)
        return joint

    def _end(self, element: Any, tag: str, name: str) -> Link:
        """The link that a joint has as its `parent` or `child`."""
        end = element.find(tag)
        if end is None or end.get("link") is None:
            raise place_of(element, self.path).error(f'needs <{tag} link="..."/>')
        if end.get("link") not in self.links:
            raise place_of(end, self.path).error(f'link="{end.get("link")}" of joint {name}: there is no such link')
        return self.links[end.get("link")]

    def _read_motion(self, joint: Joint) -> None:
        """Read what a joint's elements say of its motion."""
        limit, dynamics, mimic = (joint.element.find(tag) for tag in ("limit", "dynamics", "mimic"))
        if limit is not None and joint.type in ("revolute", "prismatic"):
            joint.lower, joint.upper = (number(limit, key, self.path, 0.0) for key in ("lower", "upper"))
            if limit.get("lower") is None and limit.get("upper") is None:
                joint.lower, joint.upper = -math.inf, math.inf
            if joint.lower > joint.upper:
                raise place_of(limit, self.path).error(f"lower limit of joint {joint.name} above the upper one")
        if limit is not None:
            joint.effort = abs(number(limit, "effort", self.path, 0.0))
        if dynamics is not None:
            joint.damping, joint.friction = (number(dynamics, key, self.path, 0.0) for key in ("damping", "friction"))
            if joint.damping < 0 or joint.friction < 0:
                raise place_of(dynamics, self.path).error(
                    f"damping and friction of joint {joint.name} must not be negative"
                )
        if mimic is not None and joint.has_axis:
            if mimic.get("joint") is None:
                raise place_of(mimic, self.path).error(f'of joint {joint.name}: needs joint="..."')
            factor, offset = (
                number(mimic, key, self.path, value) for key, value in (("multiplier", 1.0), ("offset", 0.0))
            )
            joint.mimic = mimic.get("joint"), factor, offset
        if joint.type in ("floating", "planar") and (joint.damping or joint.friction):
            self.warnings.append(f"joint {joint.name} is {joint.type}: its damping and friction are left out")

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
