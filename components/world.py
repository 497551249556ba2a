"""World: coordinate system, gravity and defaults (Modelica.Mechanics.MultiBody.World 4.0)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.surfaces import rectangle
from mbfmu.frames import from_nxy, null_rotation
from mbfmu.modeling import Component, Frame_b
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.types import (
    Acceleration,
    Axis,
    Boolean,
    Color,
    Diameter,
    GravitationalParameter,
    GravityTypes,
    Length,
    Position,
    Real,
    String,
)

BLACK = (0, 0, 0)
GRAVITY_COLOR = (0, 230, 0)
GROUND_COLOR = (200, 200, 200)


class World(Component):
    """World coordinate system + gravity field + default animation definition."""

    modelica_name = "MultiBody.World"
    inner_name = "world"
    is_world = True

    frame_b = Frame_b("Coordinate system fixed in the origin of the world frame")

    gravityType = Parameter(GravityTypes, "UniformGravity", "Type of gravity field")
    g = Parameter(Acceleration, 9.80665, "Constant gravity acceleration", tunable=True)
    n = Parameter(Axis, (0, -1, 0), "Direction of gravity resolved in world frame (gravity = g*n/length(n))", shape=3)
    mu = Parameter(
        GravitationalParameter,
        3.986004418e14,
        "Gravity field constant (default = field constant of earth)",
        tunable=True,
    )
    driveTrainMechanics3D = Parameter(
        Boolean,
        True,
        "= true, if 3-dim. mechanical effects of Parts.Mounting1D/Rotor1D/BevelGear1D shall be taken into account",
    )
    enableAnimation = Parameter(Boolean, True, "= true, if animation of all components is enabled", animation=True)
    animateWorld = Parameter(Boolean, True, "= true, if world coordinate system shall be visualized", animation=True)
    animateGravity = Parameter(Boolean, True, "= true, if gravity field shall be visualized", animation=True)
    animateGround = Parameter(Boolean, False, "= true, if ground plane shall be visualized", animation=True)
    label1 = Parameter(String, "x", "Label of horizontal axis in icon", animation=True)
    label2 = Parameter(String, "y", "Label of vertical axis in icon", animation=True)
    axisShowLabels = Parameter(Boolean, True, "= true, if labels shall be shown", animation=True)
    axisColor_x = Parameter(Color, BLACK, "Color of x-arrow", shape=3, animation=True)
    axisColor_y = Parameter(Color, lambda self: self.axisColor_x, "Color of y-arrow", shape=3, animation=True)
    axisColor_z = Parameter(Color, lambda self: self.axisColor_x, "Color of z-arrow", shape=3, animation=True)
    gravityArrowTail = Parameter(
        Position,
        (0, 0, 0),
        "Position vector from origin of world frame to arrow tail, resolved in world frame",
        shape=3,
        animation=True,
    )
    gravityArrowLength = Parameter(Length, lambda self: self.axisLength / 2, "Length of gravity arrow", animation=True)
    gravityArrowDiameter = Parameter(
        Diameter,
        lambda self: self.gravityArrowLength / self.defaultWidthFraction,
        "Diameter of gravity arrow",
        animation=True,
    )
    gravityArrowColor = Parameter(Color, GRAVITY_COLOR, "Color of gravity arrow", shape=3, animation=True)
    gravitySphereDiameter = Parameter(
        Diameter,
        12742000.0,
        "Diameter of sphere representing gravity center (default = mean diameter of earth)",
        animation=True,
    )
    gravitySphereColor = Parameter(Color, GRAVITY_COLOR, "Color of gravity sphere", shape=3, animation=True)
    groundAxis_u = Parameter(
        Axis,
        lambda self: (0, 1, 0) if abs(self.n[0]) >= 0.99 else (1, 0, 0),
        "Vector along 1st axis (called u) of ground plane, resolved in world frame (should be perpendicular to n)",
        shape=3,
        animation=True,
    )
    groundLength_u = Parameter(Length, 2.0, "Length of ground plane along groundAxis_u", animation=True)
    groundLength_v = Parameter(
        Length, lambda self: self.groundLength_u, "Length of ground plane perpendicular to groundAxis_u", animation=True
    )
    groundColor = Parameter(Color, GROUND_COLOR, "Color of ground plane", shape=3, animation=True)
    nominalLength = Parameter(Length, 1.0, "Nominal length of multi-body system", animation=True)
    axisLength = Parameter(Length, lambda self: self.nominalLength / 2, "Length of world axes arrows", animation=True)
    axisDiameter = Parameter(
        Diameter,
        lambda self: self.axisLength / self.defaultFrameDiameterFraction,
        "Diameter of world axes arrows",
        animation=True,
    )
    defaultAxisLength = Parameter(
        Length, lambda self: self.nominalLength / 5, "Default for length of a frame axis", animation=True
    )
    defaultJointLength = Parameter(
        Length,
        lambda self: self.nominalLength / 10,
        "Default for the fixed length of a shape representing a joint",
        animation=True,
    )
    defaultJointWidth = Parameter(
        Length,
        lambda self: self.nominalLength / 20,
        "Default for the fixed width of a shape representing a joint",
        animation=True,
    )
    defaultForceLength = Parameter(
        Length,
        lambda self: self.nominalLength / 10,
        "Default for the fixed length of a shape representing a force",
        animation=True,
    )
    defaultForceWidth = Parameter(
        Length,
        lambda self: self.nominalLength / 20,
        "Default for the fixed width of a shape representing a force",
        animation=True,
    )
    defaultBodyDiameter = Parameter(
        Length,
        lambda self: self.nominalLength / 9,
        "Default for diameter of sphere representing the center of mass of a body",
        animation=True,
    )
    defaultWidthFraction = Parameter(Real, 20.0, "Default for shape width as a fraction of shape length")
    defaultArrowDiameter = Parameter(
        Length, lambda self: self.nominalLength / 40, "Default for arrow diameter", animation=True
    )
    defaultFrameDiameterFraction = Parameter(
        Real, 40.0, "Default for arrow diameter of a coordinate system as a fraction of axis length", animation=True
    )
    defaultSpecularCoefficient = Parameter(Real, 0.7, "Default reflection of ambient light", animation=True)
    defaultN_to_m = Parameter(
        Real, 1000.0, "Default scaling of force arrows (length = force/defaultN_to_m)", animation=True
    )
    defaultNm_to_m = Parameter(
        Real, 1000.0, "Default scaling of torque arrows (length = torque/defaultNm_to_m)", animation=True
    )

    def __init__(self, gravityAcceleration: Callable[[Any], Any] | None = None, **modifiers: Any) -> None:
        """`gravityAcceleration`: a function of your own, position in the world frame [m] -> acceleration [m/s2]."""
        self._gravityAcceleration = gravityAcceleration
        super().__init__(**modifiers)

    def gravity_acceleration(self, r: Any) -> Any:
        """Gravity acceleration [m/s2] at position r [m], both resolved in the world frame, (3,)."""
        if self._gravityAcceleration is not None:
            own = self._gravityAcceleration(r)
            return ca.vertcat(*own) if isinstance(own, list | tuple) else own
        if self.gravityType == "NoGravity":
            return ca.SX.zeros(3)
        if self.gravityType == "UniformGravity":
            return self.g * (self.n / np.linalg.norm(self.n))
        distance = ca.norm_2(r)
        return -(self.mu / distance**3) * r

    def gravity_potential(self, r: Any) -> Any:
        """Potential [J/kg] of the gravity field at position r [m], or None for a gravity function of the user's own."""
        if self._gravityAcceleration is not None:
            return None
        if self.gravityType == "NoGravity":
            return 0.0
        if self.gravityType == "UniformGravity":
            return -ca.dot(self.gravity_acceleration(r), r)
        return -self.mu / ca.norm_2(r)

    def gravity_energy(self, m: Any, r: Any, v: Any) -> dict[str, Any]:
        """What `energy` is told of gravity for a mass m [kg] at r [m] with velocity v [m/s], in the world frame.

        Its potential energy [J], or the power [W] that a field without potential supplies.
        """
        potential = self.gravity_potential(r)
        if potential is None:
            return {"supplied": m * ca.dot(self.gravity_acceleration(r), v)}
        return {"potential": m * potential}

    def visualize(self: Any) -> None:
        if self.animateWorld:
            self.draw_axes(
                self.axisLength,
                self.axisDiameter,
                colors=(self.axisColor_x, self.axisColor_y, self.axisColor_z),
                labels=self.axisShowLabels,
                specularCoefficient=0.0,
            )
        if self.animateGravity and self.gravityType == "UniformGravity":
            self.draw_arrow(
                "gravityArrow",
                self.n / np.linalg.norm(self.n) * self.gravityArrowLength,
                self.gravityArrowDiameter,
                r_tail=self.gravityArrowTail,
                color=self.gravityArrowColor,
                specularCoefficient=0.0,
            )
        if self.animateGravity and self.gravityType == "PointGravity":
            size = self.gravitySphereDiameter
            self.draw_shape(
                "gravitySphere",
                "sphere",
                r_shape=[-size / 2, 0, 0],
                length=size,
                width=size,
                color=self.gravitySphereColor,
                specularCoefficient=0.0,
            )
        if self.animateGround and self.gravityType == "UniformGravity":
            self.draw_surface(
                "surface",
                rectangle(2, 2, self.groundLength_u, self.groundLength_v),
                R=from_nxy(self.groundAxis_u, np.cross(self.n, self.groundAxis_u)),
                color=self.groundColor,
                specularCoefficient=0.0,
            )

    def equations(self) -> None:
        self.frame_b.r_0, self.frame_b.R = [0, 0, 0], null_rotation()


__all__ = ["World"]
