"""A ground under a robot, which the <collision> elements of its links touch."""

from __future__ import annotations

import math
from typing import Any

from mbfmu.importers.builder import Builder
from mbfmu.importers.geometry import clean
from mbfmu.importers.places import number, numbers, place_of
from mbfmu.importers.urdf.poses import origin_of, rotation_of
from mbfmu.importers.urdf.robot import Link, Robot
from mbfmu.modeling.connectors import Connector

#: URDF says nothing of surfaces. A robot that stands on one point gives way by this much [m], critically damped.
DEPTH = 1e-3
#: Coefficient of friction.
FRICTION = 0.8


def add_ground(
    robot: Robot, builder: Builder, frames: dict[str, Connector], fixed: set[str], gravity: float, height: float
) -> None:
    """A plane across z, and a contact with it of each solid of each link that can move.

    Args:
        robot: the file.
        builder: of its assembly.
        frames: of links, by their names.
        fixed: names of links that stand in the world.
        gravity: m/s2.
        height: of the plane in the world frame, m.

    Raises:
        ModelError: a mesh, or something else whose contact is not known.
    """
    mass = sum(link.mass for link in robot.links.values())
    c = mass * gravity / DEPTH
    d = 2 * math.sqrt(c * mass)
    law = {"c": c, "d_n": d, "mu_k": FRICTION, "c_t": c, "d_t": d}
    ground = builder.new("ground", "Contact.Plane", r=(0.0, 0.0, float(height)))
    builder.connect(builder.assembly.parts["world"].connector("frame_b"), ground.frame_a)
    count = 0
    for link in robot.walk():
        if link.name in fixed:
            continue
        for collision in link.element.iterfind("collision"):
            kind, sizes = _solid(robot, link, collision)
            solid = builder.new(f"{link.name}_collision", f"Contact.{kind}", **sizes, animation=False)
            builder.connect(frames[link.name], solid.frame_a)
            name = f"{solid.path}_ground"
            builder.new(name, "Contact.Contact", geometry_a=solid.path, geometry_b=ground.path, **law)
            count += 1
    if not count:
        builder.warn("no link that moves has a <collision>, so that nothing touches the ground")
    builder.note(
        f"ground at z = {height:g} m: {count} contacts with c = {c:.3g} N/m, d_n = {d:.3g} N.s/m and "
        f"mu_k = {FRICTION:g}, which are not the file's; links do not touch each other"
    )


def _solid(robot: Robot, link: Link, collision: Any) -> tuple[str, dict[str, Any]]:
    """Class and parameters of the geometry of a <collision>."""
    path = robot.path
    geometry = collision.find("geometry")
    form = None if geometry is None else next((e for e in geometry if isinstance(e.tag, str)), None)
    if form is None or form.tag not in ("box", "sphere", "cylinder", "capsule"):
        shown = "nothing" if form is None else f"a {form.tag}"
        raise place_of(collision if form is None else form, path).error(
            f"<collision> of link {link.name}: is {shown}, whose contact with the ground is not known; make it up of "
            "boxes, spheres and cylinders, or leave --ground out"
        )
    xyz, rpy = origin_of(collision, path)
    R = rotation_of(rpy)
    at = {"r": clean(xyz)}
    if form.tag == "box":
        x, y, z = map(abs, numbers(form, "size", path, 3))
        along = {"lengthDirection": clean(R[:, 0]), "widthDirection": clean(R[:, 1])}
        return "Box", {**at, **along, "length": x, "width": y, "height": z}
    radius = abs(number(form, "radius", path))
    if form.tag == "sphere":
        return "Sphere", {**at, "radius": radius}
    return form.tag.title(), {**at, "n": clean(R[:, 2]), "radius": radius, "length": abs(number(form, "length", path))}
