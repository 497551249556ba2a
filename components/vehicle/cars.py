"""A whole car on tyres, and its driver."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca
import numpy as np

from mbfmu.components.animation import Animated
from mbfmu.components.blocks.math import Gain
from mbfmu.components.interfaces import Flange_a
from mbfmu.components.interpolation import look_up
from mbfmu.components.joints.elementary import Prismatic
from mbfmu.components.parts.bodies import Body
from mbfmu.components.parts.fixed import FixedTranslation
from mbfmu.components.rotational.components import Spring
from mbfmu.components.rotational.friction import Brake
from mbfmu.components.translational.sources import Position
from mbfmu.components.vehicle.brakes import DiscBrake
from mbfmu.components.vehicle.suspensions import DoubleWishbone, FiveLink, MacPherson, Suspension
from mbfmu.components.vehicle.tyres import OWN, SlipMode, Touch, TyreWheel
from mbfmu.errors import ModelError
from mbfmu.frames import angular_velocity2, resolve1
from mbfmu.modeling import Component, Frame_a, Parameter, RealInput, RealOutput, Start, Variable
from mbfmu.modeling import types as t

BODY_COLOR, GLASS_COLOR = (40, 90, 170), (150, 175, 200)
#: Wheels: front left, front right, rear left, rear right.
WHEELS = ("fl", "fr", "rl", "rr")


class Car(Animated):
    """Car with anti-roll bars, rack steering and brakes; a subclass says which suspensions it has.

    What drives it comes from outside. frame_a is that of the chassis: between the front wheels, at the height of their
    centres, x ahead. Each wheel has a flange for a shaft, whose angle counts from the hub.
    """

    #: Suspensions of the front and of the rear wheels.
    suspensions: ClassVar[tuple[type[Suspension], type[Suspension]]]

    frame_a = Frame_a("Chassis: in the middle between the front wheels; x ahead, y to the left, z upwards")
    axle_fl, axle_fr = Flange_a("Front left wheel"), Flange_a("Front right wheel")
    axle_rl, axle_rr = Flange_a("Rear left wheel"), Flange_a("Rear right wheel")
    steer = RealInput("Angle of the steering wheel, positive to the left", type=t.Angle)
    brake = RealInput("Brake pedal, 0 to 1")

    m = Parameter(t.Mass, 1300.0, "Mass of the body", nonzero=True)
    I_body = Parameter(t.Inertia, (450.0, 1700.0, 1900.0), "Inertia of the body about x, y, z", shape=3)
    wheelbase = Parameter(t.Length, 2.7, "Distance of the axles", min=0.1)
    r_CM = Parameter(t.Position, (-1.3, 0.0, 0.25), "Centre of mass of the body, from frame_a", shape=3)
    ratio = Parameter(t.Real, 7e-3, "Way of the rack per angle of the steering wheel [m/rad]")
    c_front = Parameter(t.RotationalSpringConstant, 1500.0, "Stiffness of the front anti-roll bar", min=0)
    c_rear = Parameter(t.RotationalSpringConstant, 500.0, "Stiffness of the rear anti-roll bar", min=0)
    brakeTorque = Parameter(t.Torque, 2000.0, "Greatest torque of a front brake", min=0)
    rearShare = Parameter(t.Dimensionless, 0.4, "Torque of a rear brake over that of a front one", min=0)
    useBrakeHeat = Parameter(t.Boolean, False, "= true, if brake discs warm up and cool (vehicle.DiscBrake)")
    discCapacity = Parameter(t.HeatCapacity, 4000.0, "Heat capacity of a brake disc", min=0, nonzero=True)
    T_air = Parameter(t.Temperature, 293.15, "Temperature of the air, and of brake discs at the start", min=0)
    tyre = Parameter(t.String, OWN, ".tir file of all tyres, or the name of a set that comes with the library")
    slip_mode = Parameter(SlipMode, "combined", "Slip that counts: pure, combined, or combined with turn slip")
    touch = Parameter(Touch, "point", "Contact with the road: at one point, or by cams that envelop short obstacles")
    v_start = Parameter(t.Velocity, 0.0, "Speed ahead at the start, for which the wheels turn")

    r_0 = Variable(t.Position, "Position of frame_a", shape=3)
    v = Variable(t.Velocity, "Speed of the centre of mass ahead")
    v_y = Variable(t.Velocity, "Speed of the centre of mass to the left")
    yawRate = Variable(t.YawVelocity, "Yaw rate, positive to the left")
    a_y = Variable(t.Acceleration, "Lateral acceleration of the centre of mass, in the body")
    roll = Variable(t.Angle, "Roll angle, positive where the car leans to the right")

    def build(self) -> None:
        self.body = Body(
            m=self.m, r_CM=self.r_CM, I_11=self.I_body[0], I_22=self.I_body[1], I_33=self.I_body[2], animation=False
        )
        self.connect(self.frame_a, self.body.frame_a)
        self.toRear = FixedTranslation(r=ca.vertcat(-self.wheelbase, 0, 0), width=0.12, color=(60, 90, 160))
        self.connect(self.frame_a, self.toRear.frame_a)
        self.toRack = FixedTranslation(r=_MIDDLE * self._tie("f"), animation=False)
        self.rack = Prismatic(n=(0, -1, 0), useAxisFlange=True, stateSelect="avoid", animation=False)
        self.steering = Position(exact=False, f_crit=20.0, v=Start(0.0, fixed=True))
        self.connect(self.frame_a, self.toRack.frame_a)
        self.connect(self.toRack.frame_b, self.rack.frame_a)
        self.connect(self.steering.flange, self.rack.axis)
        self.wayOfRack = Gain(k=self.ratio)
        self.connect(self.steer, self.wayOfRack.u)
        self.connect(self.wayOfRack.y, self.steering.s_ref)
        for name in WHEELS:
            self._corner(name)
        for axle, c in (("f", self.c_front), ("r", self.c_rear)):
            bar = Spring(c=c)
            setattr(self, f"bar_{axle}", bar)
            self.connect(getattr(self, f"corner_{axle}l").arm, bar.flange_a)
            self.connect(getattr(self, f"corner_{axle}r").arm, bar.flange_b)

    def visualize(self: Any) -> None:
        behind = -self.wheelbase
        self.draw_shape(
            "floor", "box", self.frame_a, r_shape=ca.vertcat(behind - 0.5, 0, 0.2), length=self.wheelbase + 1.3,
            width=1.0, height=0.25, color=BODY_COLOR,
        )  # fmt: skip
        self.draw_shape(
            "cabin", "box", self.frame_a, r_shape=ca.vertcat(behind - 0.2, 0, 0.5), length=self.wheelbase - 0.2,
            width=0.95, height=0.4, color=GLASS_COLOR,
        )  # fmt: skip

    def _suspension(self, name: str) -> type[Suspension]:
        """Class of the suspension of a wheel."""
        if not hasattr(type(self), "suspensions"):
            raise NotImplementedError(
                f"{type(self).__name__} must define suspensions, the classes in front and in the rear"
            )
        return self.suspensions[0 if name[0] == "f" else 1]

    def _tie(self, name: str) -> np.ndarray:
        """Inner end of the tie rod of a wheel, on the left [m]."""
        kind = self._suspension(name)
        return np.asarray(kind(left=True).value("tieInner"), dtype=float)

    def _corner(self, name: str) -> None:
        """Suspension, wheel and brake of one wheel."""
        front, left = name[0] == "f", name[1] == "l"
        corner = self._suspension(name)(left=left)
        wheel = TyreWheel(
            fileName=self.tyre, side="left" if left else "right", slip_mode=self.slip_mode, touch=self.touch
        )
        wheel.modify(
            phi=Start(0.0, fixed=True), w=Start(self.v_start / (0.97 * wheel.tyre.data.UNLOADED_RADIUS), fixed=True)
        )
        share = 1.0 if front else self.rearShare
        brake: Component
        if self.useBrakeHeat:
            brake = DiscBrake(tauMax=self.brakeTorque * share, C=self.discCapacity, T_air=self.T_air)
        else:
            brake = Brake(fn_max=2 * self.brakeTorque * share, mu_pos=((0.0, 0.5),), cgeo=1.0)
        inner = self._tie(name) * np.array([1, 1 if left else -1, 1])
        tie = FixedTranslation(r=inner - (_MIDDLE * inner if front else 0), animation=False)
        for kind, part in (("corner", corner), ("wheel", wheel), ("brake", brake), ("tie", tie)):
            setattr(self, f"{kind}_{name}", part)
        self.connect(self.frame_a if front else self.toRear.frame_b, corner.frame_a)
        self.connect(self.rack.frame_b if front else self.toRear.frame_b, tie.frame_a)
        self.connect(tie.frame_b, corner.frame_rack)
        self.connect(corner.frame_hub, wheel.frame_a)
        self.connect(wheel.flange_a, brake.flange_a)
        self.connect(brake.flange_b, self.connector(f"axle_{name}"))
        self.connect(self.brake, brake.f_normalized)

    def equations(self) -> None:
        a = self.frame_a
        self.r_0 = a.r_0
        centre = a.r_0 + resolve1(a.R, self.r_CM)
        ahead, side = resolve1(a.R, [1.0, 0.0, 0.0]), resolve1(a.R, [0.0, 1.0, 0.0])
        velocity = self.der(centre)
        self.v, self.v_y = ca.dot(velocity, ahead), ca.dot(velocity, side)
        self.yawRate = resolve1(a.R, angular_velocity2(a.R))[2]
        self.a_y = ca.dot(self.der(velocity), side)
        self.roll = ca.asin(ca.fmax(-1.0, ca.fmin(1.0, side[2])))


#: Takes a point to the middle of the car.
_MIDDLE = np.array([1.0, 0.0, 1.0])


class DoubleWishboneCar(Car):
    """Car with four double wishbones, anti-roll bars, rack steering and brakes; what drives it comes from outside.

    frame_a is that of the chassis: between the front wheels, at the height of their centres, x ahead. Each wheel has a
    flange for a shaft, whose angle counts from the hub.
    """

    modelica_name = "Vehicle.DoubleWishboneCar"
    suspensions = (DoubleWishbone, DoubleWishbone)


class MacPhersonCar(Car):
    """Car with MacPherson struts in front and five-link suspensions in the rear; see DoubleWishboneCar."""

    modelica_name = "Vehicle.MacPhersonCar"
    suspensions = (MacPherson, FiveLink)

    c_rear = Parameter(t.RotationalSpringConstant, 400.0, "Stiffness of the rear anti-roll bar", min=0)


class Driver(Component):
    """Driver who follows a path y(x) and keeps a speed: looks ahead, steers towards the path, drives and brakes.

    The path is a table of points (x, y), with a smooth curve between them and y held beyond; speeds may be a signal.
    """

    modelica_name = "Vehicle.Driver"

    frame_a = Frame_a("Chassis; x ahead", needed=True)
    v_ref = RealInput("Speed that is wanted", type=t.Velocity)
    steer = RealOutput("Angle of the steering wheel", type=t.Angle)
    torque = RealOutput("Torque that drives the car", type=t.Torque)
    brake = RealOutput("Brake pedal, 0 to 1")

    points = Parameter(t.Position, ((0.0, 0.0), (1000.0, 0.0)), "Points of the path: x, y", shape=None, structural=True)
    preview = Parameter(t.Time, 0.8, "How far ahead the driver looks", min=0.1, tunable=True)
    nearest = Parameter(t.Length, 5.0, "Least distance looked ahead", min=0.5, tunable=True)
    gain = Parameter(t.Real, 8.0, "Angle of the steering wheel per angle to the path", tunable=True)
    k_v = Parameter(t.Real, 1500.0, "Driving torque per speed that lacks [N.m.s/m]", min=0, tunable=True)
    torqueMax = Parameter(t.Torque, 1500.0, "Greatest driving torque", min=0, tunable=True)
    k_brake = Parameter(t.Real, 0.25, "Brake pedal per speed that is too much [s/m]", min=0, tunable=True)
    spare = Parameter(t.Velocity, 1.0, "Speed beyond that wanted before the driver brakes", min=0, tunable=True)
    e = Variable(t.Length, "Distance of the path to the left of the point looked at")

    def check_values(self) -> None:
        super().check_values()
        path = np.asarray(self.value("points"), dtype=float)
        if path.ndim != 2 or path.shape[1] != 2 or len(path) < 2:
            raise ModelError(f"{self.where}.points: has the shape {path.shape}; give points (x, y), two or more")
        if not np.all(np.diff(path[:, 0]) > 0):
            raise ModelError(f"{self.where}.points: each x must be beyond the one before; a path goes along x")

    def equations(self) -> None:
        self.frame_a.f, self.frame_a.t = [0, 0, 0], [0, 0, 0]
        ahead = resolve1(self.frame_a.R, [1.0, 0.0, 0.0])
        v = ca.dot(self.der(self.frame_a.r_0), ahead)
        far = ca.sqrt((self.preview * v) ** 2 + self.nearest**2)
        point = self.frame_a.r_0 + far * ahead
        path = np.asarray(self.points, dtype=float)
        y = look_up(
            self, point[0], path[:, 0].tolist(), path[:, 1].tolist(), "MonotoneContinuousDerivative1", "HoldLastPoint"
        )
        self.e = y - point[1]
        self.steer = self.gain * self.e / far
        lacking = self.v_ref - v
        self.torque = ca.fmax(ca.fmin(self.k_v * lacking, self.torqueMax), 0.0)
        self.brake = ca.fmax(ca.fmin(-self.k_brake * (lacking + self.spare), 1.0), 0.0)


__all__ = ["Car", "DoubleWishboneCar", "Driver", "MacPhersonCar"]
