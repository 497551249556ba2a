"""Parts with mass: Body, BodyShape, BodyBox, BodyCylinder, PointMass (MultiBody.Parts)."""

from __future__ import annotations

import math
import warnings
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.animation import BODY_COLOR, BodyAnimation, ShapeAnimation, SphereAnimation, draw_sphere
from mbfmu.components.interfaces import own_state_select
from mbfmu.components.joints.free import FreeMotion, FreeTranslation
from mbfmu.components.parts.fixed import FixedTranslation
from mbfmu.errors import ModelError
from mbfmu.frames import (
    angular_velocity2,
    axes_rotations,
    axes_rotations_angles,
    cross,
    equality_constraint,
    from_nxy,
    length,
    normalize,
    resolve1,
    resolve2,
    resolve_dyade1,
    to_Q,
)
from mbfmu.modeling import Component, Frame_a, Frame_b, Start, required
from mbfmu.modeling.declarations import Final, Parameter, Variable, is_expression
from mbfmu.modeling.types import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Axis,
    Boolean,
    Color,
    Density,
    Diameter,
    Dimensionless,
    Distance,
    Inertia,
    Length,
    Mass,
    Position,
    RotationSequence,
    ShapeExtra,
    ShapeType,
    StateSelect,
    Velocity,
)
from mbfmu.modeling.types import Orientation as OrientationType

#: Cosines of half the angles from a quaternion that is kept: further away is an event, nearer it stays (_followed).
FAR, NEAR = 0.5, 0.75


def _select(self: Component) -> str:
    return "always" if self.enforceStates else "avoid"


class BodyStart(Component):
    """Start values and choice of states that every part with a body has."""

    angles_fixed = Parameter(Boolean, False, "= true, if angles_start are used as initial values, else as guess values")
    angles_start = Parameter(
        Angle,
        (0, 0, 0),
        "Initial values of angles to rotate world frame around 'sequence_start' axes into frame_a",
        shape=3,
    )
    sequence_start = Parameter(
        RotationSequence, (1, 2, 3), "Sequence of rotations to rotate world frame into frame_a at initial time", shape=3
    )
    w_0_fixed = Parameter(Boolean, False, "= true, if w_0_start are used as initial values, else as guess values")
    w_0_start = Parameter(
        AngularVelocity,
        (0, 0, 0),
        "Initial or guess values of angular velocity of frame_a resolved in world frame",
        shape=3,
    )
    z_0_fixed = Parameter(Boolean, False, "= true, if z_0_start are used as initial values, else as guess values")
    z_0_start = Parameter(
        AngularAcceleration, (0, 0, 0), "Initial values of angular acceleration z_0 = der(w_0)", shape=3
    )
    enforceStates = Parameter(
        Boolean, False, "= true, if absolute variables of body object shall be used as states (StateSelect.always)"
    )
    useQuaternions = Parameter(
        Boolean,
        True,
        "= true, if quaternions shall be used as potential states otherwise use 3 angles as potential states",
    )
    sequence_angleStates = Parameter(
        RotationSequence,
        (1, 2, 3),
        "Sequence of rotations to rotate world frame into frame_a around the 3 angles used as potential states",
        shape=3,
    )

    r_0 = Variable(
        Position,
        "Position vector from origin of world frame to origin of frame_a",
        shape=3,
        start=0.0,
        state_select=_select,
    )
    v_0 = Variable(
        Velocity,
        "Absolute velocity of frame_a, resolved in world frame (= der(r_0))",
        shape=3,
        start=0.0,
        state_select=_select,
    )
    a_0 = Variable(
        Acceleration, "Absolute acceleration of frame_a resolved in world frame (= der(v_0))", shape=3, start=0.0
    )

    def absolute_motion(self) -> None:
        """Equations of r_0, v_0 and a_0."""
        self.r_0 = self.frame_a.r_0
        self.v_0 = self.der(self.r_0)
        self.a_0 = self.der(self.v_0)


#: What a composite passes on to its body.
START_PARAMETERS = (
    "angles_fixed",
    "angles_start",
    "sequence_start",
    "w_0_fixed",
    "w_0_start",
    "z_0_fixed",
    "z_0_start",
    "enforceStates",
    "useQuaternions",
    "sequence_angleStates",
)


class MovingBody(BodyStart):
    """A body whose frame_a may move freely: its motion, and the states that this then has."""

    R_start = Final(
        OrientationType,
        lambda self: axes_rotations(self.sequence_start, self.angles_start, np.zeros(3)),
        "Orientation object from world frame to frame_a at initial time",
    )
    z_a_start = Final(
        AngularAcceleration,
        lambda self: resolve2(self.R_start, self.z_0_start),
        "Initial values of angular acceleration z_a = der(w_a)",
        shape=3,
    )

    w_a = Variable(
        AngularVelocity,
        "Absolute angular velocity of frame_a resolved in frame_a",
        shape=3,
        start=lambda self: resolve2(self.R_start, self.w_0_start),
        fixed=lambda self: self.w_0_fixed,
        state_select=_select,
    )
    z_a = Variable(
        AngularAcceleration,
        "Absolute angular acceleration of frame_a resolved in frame_a",
        shape=3,
        start=lambda self: self.z_a_start,
        fixed=lambda self: self.z_0_fixed,
    )
    Q = Variable(
        Dimensionless,
        "Quaternion orientation object from world frame to frame_a (null rotation, if the "
        "orientation is computed elsewhere)",
        shape=4,
    )
    phi = Variable(Angle, "Dummy or 3 angles to rotate world frame into frame_a of body", shape=3)
    phi_d = Variable(AngularVelocity, "= der(phi)", shape=3)
    phi_dd = Variable(AngularAcceleration, "= der(phi_d)", shape=3)

    def free_joint_priority(self) -> int:
        if self.enforceStates:
            return 0
        fixed = [bool(np.any(self.is_fixed(name))) for name in ("r_0", "v_0", "w_a")]
        return 1 if any(fixed) or self.angles_fixed else 2

    def free_joint(self, alone: bool) -> Component:
        return FreeMotion(
            angles_fixed=self.angles_fixed,
            angles_start=self.angles_start,
            sequence_start=self.sequence_start,
            w_rel_a_start=self.w_0_start,
            useQuaternions=self.useQuaternions,
            sequence_angleStates=self.sequence_angleStates,
        )

    def _followed(self, R: Any) -> Any:
        """Quaternion of R that is continuous while the model runs, where Q is no state.

        Of Q and -Q it is the one nearer to a quaternion that is kept, which Q replaces when R has turned by 120 degrees
        since: before half a turn, where both would be equally near. At the start it is the one nearer to the null
        rotation.
        """

        def moved_on(before: Any) -> Any:
            now = to_Q(R, before)
            return ca.if_else(ca.dot(now, before) > NEAR, before, now)

        guess = self.kept([0, 0, 0, 1], moved_on)
        Q = to_Q(R, guess)
        self.switch(ca.dot(Q, guess) - FAR, 1, 0)  # an event, at which the kept one moves on
        return Q

    def rotation(self) -> None:
        """Equations of w_a and z_a, and of what gives the orientation."""
        self.w_a = angular_velocity2(self.frame_a.R)
        self.z_a = self.der(self.w_a)
        self._orientation_states()

    def _orientation_states(self) -> None:
        """Q or phi, where this body holds the orientation; dummies otherwise (Connections.isRoot in Modelica)."""
        if self.angles_fixed and not self.is_root:
            self.initially(equality_constraint(self.frame_a.R, self.R_start), "angles_start")
        if self.holds_orientation and self.useQuaternions:
            self.Q = self.freeMotion.Q if self.is_root else self._followed(self.frame_a.R)
        else:
            self.Q = [0, 0, 0, 1]
        if self.holds_orientation and not self.useQuaternions:
            self.phi = (
                self.freeMotion.phi
                if self.is_root
                else axes_rotations_angles(self.frame_a.R, self.sequence_angleStates)
            )
            self.phi_d = self.der(self.phi)
            self.phi_dd = self.der(self.phi_d)
        else:
            self.phi, self.phi_d, self.phi_dd = [0, 0, 0], [0, 0, 0], [0, 0, 0]


class InertiaTensor(Component):
    """Mass, centre of mass and inertia tensor as parameters."""

    r_CM = Parameter(Position, required, "Vector from frame_a to center of mass, resolved in frame_a", shape=3)
    m = Parameter(Mass, required, "Mass of rigid body", min=0)
    I_11 = Parameter(Inertia, 0.001, "(1,1) element of inertia tensor", min=0)
    I_22 = Parameter(Inertia, 0.001, "(2,2) element of inertia tensor", min=0)
    I_33 = Parameter(Inertia, 0.001, "(3,3) element of inertia tensor", min=0)
    I_21 = Parameter(Inertia, 0.0, "(2,1) element of inertia tensor")
    I_31 = Parameter(Inertia, 0.0, "(3,1) element of inertia tensor")
    I_32 = Parameter(Inertia, 0.0, "(3,2) element of inertia tensor")


class Body(BodyAnimation, InertiaTensor, MovingBody):
    """Rigid body with mass, inertia tensor and one frame connector (12 potential states)."""

    modelica_name = "MultiBody.Parts.Body"

    frame_a = Frame_a("Coordinate system fixed at body")

    I = Final(  # noqa: E741 (Modelica's name)
        Inertia,
        lambda self: ca.vertcat(
            ca.horzcat(self.I_11, self.I_21, self.I_31),
            ca.horzcat(self.I_21, self.I_22, self.I_32),
            ca.horzcat(self.I_31, self.I_32, self.I_33),
        ),
        "Inertia tensor",
        shape=(3, 3),
    )
    g_0 = Variable(Acceleration, "Gravity acceleration resolved in world frame", shape=3)

    def check_connections(self, connected: set[str]) -> None:
        super().check_connections(connected)
        values = [self.original(name) for name in ("I_11", "I_22", "I_33", "I_21", "I_31", "I_32")]
        if not all(isinstance(v, float) for v in values):
            return
        xx, yy, zz, xy, xz, yz = values
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        moments = np.linalg.eigvalsh(tensor)
        if moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):  # so of negative ones, too
            warnings.warn(
                f"{self.where}: no distribution of mass has the principal moments of inertia "
                f"{', '.join(f'{v:.4g}' for v in moments)} kg.m2: each must be at most the sum of the other two; "
                "check I_11 ... I_32",
                stacklevel=3,
            )

    def equations(self) -> None:
        a = self.frame_a
        self.absolute_motion()
        self.g_0 = self.world.gravity_acceleration(a.r_0 + resolve1(a.R, self.r_CM))
        self.rotation()
        # Newton/Euler equations with respect to the centre of mass, moved to frame_a
        a.f = force = self.m * (
            resolve2(a.R, self.a_0 - self.g_0)
            + cross(self.z_a, self.r_CM)
            + cross(self.w_a, cross(self.w_a, self.r_CM))
        )
        a.t = self.I @ self.z_a + cross(self.w_a, self.I @ self.w_a) + cross(self.r_CM, force)
        v_CM = self.v_0 + resolve1(a.R, cross(self.w_a, self.r_CM))
        self.energy(
            kinetic=self.m * ca.sumsqr(v_CM) / 2 + ca.dot(self.w_a, self.I @ self.w_a) / 2,
            **self.world.gravity_energy(self.m, a.r_0 + resolve1(a.R, self.r_CM), v_CM),
        )

    def visualize(self: Any) -> None:
        offset, sphere, cylinder = ca.norm_2(self.r_CM), self.sphereDiameter, self.cylinderDiameter
        inside = ca.if_else(cylinder > 1.1 * sphere, sphere / 2, 0)
        self.draw_shape(
            "cylinder",
            "cylinder",
            self.frame_a,
            lengthDirection=self.r_CM,
            length=ca.if_else(offset > sphere / 2, offset - inside, 0),
            width=cylinder,
            color=self.cylinderColor,
        )
        draw_sphere(self, "sphere", self.frame_a, sphere, self.sphereColor, self.r_CM)


class _BodyWithShape(BodyStart):
    """A body with two frames and a shape between them."""

    frame_a = Frame_a("Coordinate system fixed to the component with one cut-force and cut-torque")
    frame_b = Frame_b("Coordinate system fixed to the component with one cut-force and cut-torque")

    def add_body(self, **inertia: Any) -> None:
        """Body and rod between the frames, connected."""
        passed = {name: getattr(self, name) for name in START_PARAMETERS}
        self.body = Body(**inertia, **passed, animation=False)
        self.frameTranslation = FixedTranslation(r=self.r, animation=False)
        self.connect(self.frame_a, self.frameTranslation.frame_a)
        self.connect(self.frame_b, self.frameTranslation.frame_b)
        self.connect(self.frame_a, self.body.frame_a)

    def equations(self) -> None:
        self.absolute_motion()


class BodyShape(ShapeAnimation, InertiaTensor, _BodyWithShape):
    """Rigid body with mass, inertia tensor, different shapes for animation, and two frame connectors."""

    modelica_name = "MultiBody.Parts.BodyShape"

    animateSphere = Parameter(
        Boolean, True, "= true, if mass shall be animated as sphere provided animation=true", animation=True
    )
    r = Parameter(Position, required, "Vector from frame_a to frame_b resolved in frame_a", shape=3)
    color = Parameter(Color, BODY_COLOR, "Color of shape", shape=3, animation=True)
    sphereDiameter = Parameter(Diameter, lambda self: 2 * self.width, "Diameter of sphere", animation=True)
    sphereColor = Parameter(Color, lambda self: self.color, "Color of sphere of mass", shape=3, animation=True)

    def visualize(self: Any) -> None:
        self.draw_own_shape(self.frame_a)
        if self.animateSphere:
            draw_sphere(self, "sphere", self.frame_a, self.sphereDiameter, self.sphereColor, self.r_CM)

    def build(self) -> None:
        self.add_body(
            **{name: getattr(self, name) for name in ("r_CM", "m", "I_11", "I_22", "I_33", "I_21", "I_31", "I_32")}
        )


class _SolidBody(ShapeAnimation, _BodyWithShape):
    """A body whose mass properties follow from its shape and density."""

    r = Parameter(Position, required, "Vector from frame_a to frame_b resolved in frame_a", shape=3)
    r_shape = Parameter(Position, (0, 0, 0), "Vector from frame_a to shape origin, resolved in frame_a", shape=3)
    lengthDirection = Parameter(
        Position,
        lambda self: self.r - self.r_shape,
        "Vector in length direction of shape, resolved in frame_a",
        shape=3,
    )
    length = Parameter(Length, lambda self: length(self.r - self.r_shape), "Length of shape")
    density = Parameter(
        Density, 7700.0, "Density of the material (e.g., steel: 7700 .. 7900, wood : 400 .. 800)", min=0
    )
    color = Parameter(Color, BODY_COLOR, "Color of shape", shape=3, animation=True)

    def check_values(self) -> None:
        super().check_values()
        self._check_length()
        direction = self.value("lengthDirection")
        if not is_expression(direction) and self.is_given("lengthDirection") and not np.any(direction):
            raise ModelError(
                f"{self.where}.lengthDirection = {np.asarray(direction).tolist()}: needs a direction; give a vector "
                "that is not zero"
            )

    def build(self) -> None:
        i = self.I
        self.add_body(
            r_CM=self.r_CM, m=self.m, I_11=i[0, 0], I_22=i[1, 1], I_33=i[2, 2], I_21=i[1, 0], I_31=i[2, 0], I_32=i[2, 1]
        )

    def _check_length(self) -> None:
        """Refuse a body without length, where the numbers are known: it would have no mass."""
        r, r_shape, given = self.value("r"), self.value("r_shape"), self.is_given("length")
        values = [self.value("length")] if given else [r, r_shape]
        if any(is_expression(value) or isinstance(value, Start) for value in values):
            return
        if not (values[0] if given else np.linalg.norm(np.subtract(r, r_shape))) > 0:
            what = (
                "length is zero" if given else "r has length zero" if not np.any(r) else "r - r_shape has length zero"
            )
            raise ModelError(
                f"{self.where}: {what}, and so this {type(self).__name__} has no mass; give r, or length and "
                "lengthDirection"
            )


def _box_inertia(self: BodyBox) -> ca.SX:
    x, y, z = self.length**2, self.width**2, self.height**2
    inner_y, inner_z = self.innerWidth**2, self.innerHeight**2
    diagonal = (
        ca.vertcat(
            self.mo * (y + z) - self.mi * (inner_y + inner_z),
            self.mo * (x + z) - self.mi * (x + inner_z),
            self.mo * (x + y) - self.mi * (x + inner_y),
        )
        / 12
    )
    return resolve_dyade1(self.R, ca.diag(diagonal))


class BodyBox(_SolidBody):
    """Rigid body with box shape. Mass and animation properties are computed from box data and density."""

    modelica_name = "MultiBody.Parts.BodyBox"

    shapeType = Parameter(ShapeType, "box", "Type of shape", animation=True)
    widthDirection = Parameter(Axis, (0, 1, 0), "Vector in width direction of box, resolved in frame_a", shape=3)
    width = Parameter(Distance, lambda self: self.length / self.world.defaultWidthFraction, "Width of box", min=0)
    height = Parameter(Distance, lambda self: self.width, "Height of box", min=0)
    innerWidth = Parameter(Distance, 0.0, "Width of inner box surface (0 <= innerWidth <= width)", min=0)
    innerHeight = Parameter(
        Distance, lambda self: self.innerWidth, "Height of inner box surface (0 <= innerHeight <= height)"
    )

    mo = Final(Mass, lambda self: self.density * self.length * self.width * self.height, "Mass of box without hole")
    mi = Final(
        Mass, lambda self: self.density * self.length * self.innerWidth * self.innerHeight, "Mass of hole of box"
    )
    m = Final(Mass, lambda self: self.mo - self.mi, "Mass of box")
    R = Final(
        OrientationType,
        lambda self: from_nxy(self.r, self.widthDirection),
        "Orientation object from frame_a to coordinates system spanned by r and widthDirection",
    )
    r_CM = Final(
        Position,
        lambda self: self.r_shape + normalize(self.lengthDirection) * self.length / 2,
        "Position vector from origin of frame_a to center of mass, resolved in frame_a",
        shape=3,
    )
    I = Final(  # noqa: E741 (Modelica's name)
        Inertia,
        _box_inertia,
        "Inertia tensor of body box with respect to center of mass, parallel to frame_a",
        shape=(3, 3),
    )

    def equations(self) -> None:
        super().equations()
        self.require(self.width - self.innerWidth, "innerWidth is greater than width; make it smaller")
        self.require(self.height - self.innerHeight, "innerHeight is greater than height; make it smaller")


def _cylinder_inertia(self: BodyCylinder) -> ca.SX:
    along = (self.mo * self.radius**2 - self.mi * self.innerRadius**2) / 2
    return resolve_dyade1(self.R, ca.diag(ca.vertcat(along, self.I22, self.I22)))


class BodyCylinder(_SolidBody):
    """Rigid body with cylinder shape. Mass and animation properties are computed from cylinder data and density."""

    modelica_name = "MultiBody.Parts.BodyCylinder"

    shapeType = Parameter(ShapeType, "pipecylinder", "Type of shape", animation=True)
    width = Parameter(Distance, lambda self: self.diameter, "Width of shape", animation=True)
    extra = Parameter(
        ShapeExtra, lambda self: self.innerDiameter / self.diameter, "Diameter of hole over diameter", animation=True
    )
    diameter = Parameter(
        Diameter, lambda self: self.length / self.world.defaultWidthFraction, "Diameter of cylinder", min=0
    )
    innerDiameter = Parameter(Diameter, 0.0, "Inner diameter of cylinder (0 <= innerDiameter <= Diameter)", min=0)

    radius = Final(Distance, lambda self: self.diameter / 2, "Radius of cylinder")
    innerRadius = Final(Distance, lambda self: self.innerDiameter / 2, "Inner-Radius of cylinder")
    mo = Final(
        Mass, lambda self: self.density * math.pi * self.length * self.radius**2, "Mass of cylinder without hole"
    )
    mi = Final(
        Mass, lambda self: self.density * math.pi * self.length * self.innerRadius**2, "Mass of hole of cylinder"
    )
    I22 = Final(
        Inertia,
        lambda self: (
            (self.mo * (self.length**2 + 3 * self.radius**2) - self.mi * (self.length**2 + 3 * self.innerRadius**2))
            / 12
        ),
        "Inertia with respect to axis through center of mass, perpendicular to cylinder axis",
    )
    m = Final(Mass, lambda self: self.mo - self.mi, "Mass of cylinder")
    R = Final(
        OrientationType,
        lambda self: from_nxy(self.r, (0, 1, 0)),
        "Orientation object from frame_a to frame spanned by cylinder axis and axis perpendicular to cylinder axis",
    )
    r_CM = Final(
        Position,
        lambda self: self.r_shape + normalize(self.lengthDirection) * self.length / 2,
        "Position vector from frame_a to center of mass, resolved in frame_a",
        shape=3,
    )
    I = Final(  # noqa: E741 (Modelica's name)
        Inertia,
        _cylinder_inertia,
        "Inertia tensor of cylinder with respect to center of mass, resolved in frame parallel to frame_a",
        shape=(3, 3),
    )

    def equations(self) -> None:
        super().equations()
        self.require(self.diameter - self.innerDiameter, "innerDiameter is greater than diameter; make it smaller")


class PointMass(SphereAnimation):
    """Rigid body where body rotation and inertia tensor is neglected (6 potential states)."""

    modelica_name = "MultiBody.Parts.PointMass"

    frame_a = Frame_a("Coordinate system fixed at center of mass point")
    m = Parameter(Mass, required, "Mass of mass point", min=0)
    sphereDiameter = Parameter(
        Diameter, lambda self: self.world.defaultBodyDiameter, "Diameter of sphere", animation=True
    )
    sphereColor = Parameter(Color, BODY_COLOR, "Color of sphere", shape=3, animation=True)
    stateSelect = Parameter(StateSelect, "avoid", "Priority to use frame_a.r_0, v_0 (= der(frame_a.r_0)) as states")

    r_0 = Variable(
        Position,
        "Position vector from origin of world frame to origin of frame_a, resolved in world frame",
        shape=3,
        start=0.0,
        state_select=own_state_select,
    )
    v_0 = Variable(
        Velocity,
        "Absolute velocity of frame_a, resolved in world frame (= der(r_0))",
        shape=3,
        start=0.0,
        state_select=own_state_select,
    )
    a_0 = Variable(
        Acceleration, "Absolute acceleration of frame_a resolved in world frame (= der(v_0))", shape=3, start=0.0
    )

    def free_joint_priority(self) -> int:
        return 10000

    def free_joint(self, alone: bool) -> Component:
        if not alone:
            raise ModelError(
                f"{self.where}: this PointMass moves freely together with other parts, so it would have to "
                "carry their rotation, which a point mass does not have; put a FreeMotion joint between World "
                "and the parts, or use a Body"
            )
        return FreeTranslation()

    def equations(self) -> None:
        a = self.frame_a
        self.r_0 = a.r_0
        self.v_0 = self.der(self.r_0)
        self.a_0 = self.der(self.v_0)
        a.f = self.m * resolve2(a.R, self.a_0 - self.world.gravity_acceleration(self.r_0))
        a.t = [0, 0, 0]
        self.energy(kinetic=self.m * ca.sumsqr(self.v_0) / 2, **self.world.gravity_energy(self.m, self.r_0, self.v_0))


__all__ = ["Body", "BodyBox", "BodyCylinder", "BodyShape", "PointMass"]
