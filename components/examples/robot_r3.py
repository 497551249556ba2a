"""Utilities of the robot example (MultiBody.Examples.Systems.RobotR3.Utilities 4.1).

The library passes signals over buses, expandable connectors. Here a bus is a set of signals with dotted names, such as
`axisControlBus.angle_ref`: each component has those that it reads or writes, and `connect_buses` connects two of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from mbfmu.components.blocks import (
    PI,
    Add3,
    BooleanPassThrough,
    Constant,
    Feedback,
    Gain,
    KinematicPTP2,
    RealPassThrough,
    TerminateSimulation,
)
from mbfmu.components.electrical import (
    Capacitor,
    CurrentSensor,
    Ground,
    IdealOpAmp,
    Inductor,
    Resistor,
    RotationalEMF,
    SignalVoltage,
)
from mbfmu.components.interfaces import Flange_a, Flange_b
from mbfmu.components.joints import Revolute
from mbfmu.components.parts import BodyShape
from mbfmu.components.rotational import (
    AccSensor,
    AngleSensor,
    BearingFriction,
    IdealGear,
    Inertia,
    InitializeFlange,
    SpeedSensor,
    SpringDamper,
)
from mbfmu.components.rotational.interfaces import PartialTwoFlanges
from mbfmu.components.world import World
from mbfmu.modeling import BooleanInput, Component, Connector, RealInput
from mbfmu.modeling import types as t
from mbfmu.modeling.connectors import INPUTS, OUTPUTS, Signal
from mbfmu.modeling.declarations import Final, Parameter, Variable

DEGREE = math.pi / 180
#: Signals of the bus of an axis (AxisControlBus).
AXIS_CONTROL_BUS = {
    "motion_ref": (t.Boolean, "= true, if reference motion is not in rest"),
    "angle_ref": (t.Angle, "Reference angle of axis flange"),
    "angle": (t.Angle, "Angle of axis flange"),
    "speed_ref": (t.AngularVelocity, "Reference speed of axis flange"),
    "speed": (t.AngularVelocity, "Speed of axis flange"),
    "acceleration_ref": (t.AngularAcceleration, "Reference acceleration of axis flange"),
    "acceleration": (t.AngularAcceleration, "Acceleration of axis flange"),
    "current_ref": (t.Current, "Reference current of motor"),
    "current": (t.Current, "Current of motor"),
    "motorAngle": (t.Angle, "Angle of motor flange"),
    "motorSpeed": (t.AngularVelocity, "Speed of motor flange"),
}


class Bus:
    """The signals of a component whose names begin with that of a bus."""

    def __init__(self, owner: Component, name: str) -> None:
        self.owner, self.name = owner, name

    def __getattr__(self, name: str) -> Connector:
        return self.owner.connector(f"{self.name}.{name}")

    def __iter__(self) -> Iterator[str]:
        """Names of its signals, without the bus."""
        start = f"{self.name}."
        return (name.removeprefix(start) for name in self.owner.ports() if name.startswith(start))


def connect_buses(around: Component, one: Bus, other: Bus) -> None:
    """Connect the signals that two buses of parts of `around` have both."""
    for name in one:
        if name in set(other):
            around.connect(getattr(one, name), getattr(other, name))


class _OnBus(Component):
    """Component with signals of an axis' bus: a subclass names those that it reads and writes."""

    def bus(self, name: str, *, reads: str = "", writes: str = "") -> Bus:
        """Declare the signals of a bus."""
        directions: tuple[tuple[str, Mapping[str, type[Signal]]], ...] = ((reads, INPUTS), (writes, OUTPUTS))
        for signals, kinds in directions:
            for signal in signals.split():
                type_, doc = AXIS_CONTROL_BUS[signal]
                setattr(self, f"{name}.{signal}", kinds[type_.base](doc, type=type_))
        return Bus(self, name)

    @property
    def axisControlBus(self) -> Bus:
        """The bus of the axis."""
        return Bus(self, "axisControlBus")


class Controller(_OnBus):
    """P-PI cascade controller for one axis."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.Controller"

    kp = Parameter(t.Real, 10.0, "Gain of position controller")
    ks = Parameter(t.Real, 1.0, "Gain of speed controller")
    Ts = Parameter(t.Time, 0.01, "Time constant of integrator of speed controller")
    ratio = Parameter(t.Real, 1.0, "Gear ratio of gearbox")

    def build(self) -> None:
        bus = self.bus("axisControlBus", reads="angle_ref speed_ref motorAngle motorSpeed", writes="current_ref")
        self.gain1, self.gain2, self.P = Gain(k=self.ratio), Gain(k=self.ratio), Gain(k=self.kp)
        self.PI, self.feedback1, self.add3 = PI(k=self.ks, T=self.Ts), Feedback(), Add3(k3=-1.0)
        self.connect(self.gain1.y, self.feedback1.u1)
        self.connect(self.feedback1.y, self.P.u)
        self.connect(self.P.y, self.add3.u2)
        self.connect(self.gain2.y, self.add3.u1)
        self.connect(self.add3.y, self.PI.u)
        self.connect(bus.speed_ref, self.gain2.u)
        self.connect(bus.angle_ref, self.gain1.u)
        self.connect(bus.motorAngle, self.feedback1.u2)
        self.connect(bus.motorSpeed, self.add3.u3)
        self.connect(self.PI.y, bus.current_ref)


class Motor(_OnBus):
    """Motor model including current controller of r3 motors; it starts in steady state."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.Motor"

    J = Parameter(t.Inertia, 0.0013, "Moment of inertia of motor", min=0)
    k = Parameter(t.Real, 1.1616, "Gain of motor")
    w = Parameter(t.Real, 4590.0, "Time constant of motor")
    D = Parameter(t.Real, 0.6, "Damping constant of motor")
    w_max = Parameter(t.AngularVelocity, 315.0, "Maximum speed of motor")
    i_max = Parameter(t.Current, 9.0, "Maximum current of motor")
    flange_motor = Flange_b("Flange of the motor's shaft")

    def build(self) -> None:
        bus = self.bus("axisControlBus", reads="current_ref", writes="motorAngle motorSpeed current")
        self.Vs, self.hall1, self.hall2 = SignalVoltage(), CurrentSensor(), SignalVoltage()
        self.diff, self.OpI, self.power = IdealOpAmp(), IdealOpAmp(), IdealOpAmp()
        self.Rd1, self.Rd2, self.Rd3, self.Rd4 = (Resistor(R=100.0) for _ in range(4))
        self.Ri, self.Rp1, self.Rp2, self.Ra = (Resistor(R=R) for R in (10.0, 200.0, 50.0, 250.0))
        self.C, self.La = Capacitor(C=0.004 * self.D / self.w), Inductor(L=250 / (2 * self.D * self.w))
        self.emf, self.Jmotor = RotationalEMF(k=self.k), Inertia(J=self.J)
        self.g1, self.g2, self.g3, self.g4, self.g5 = (Ground() for _ in range(5))
        self.phi, self.speed = AngleSensor(), SpeedSensor()
        self.convert1, self.convert2 = Gain(k=1.0), Gain(k=1.0)
        for a, b in (
            # the difference of reference and measured current ...
            (self.Vs.p, self.Rd2.p),
            (self.Vs.n, self.g1.p),
            (self.Rd2.n, self.diff.n1),
            (self.diff.n1, self.Rd1.p),
            (self.Rd1.n, self.diff.p2),
            (self.hall2.p, self.Rd3.p),
            (self.hall2.n, self.g2.p),
            (self.Rd3.n, self.diff.p1),
            (self.Rd3.n, self.Rd4.p),
            (self.Rd4.n, self.g3.p),
            # ... is integrated ...
            (self.diff.p2, self.Ri.p),
            (self.Ri.n, self.OpI.n1),
            (self.OpI.n1, self.C.p),
            (self.C.n, self.OpI.p2),
            (self.g3.p, self.OpI.p1),
            # ... and amplified
            (self.OpI.p2, self.power.p1),
            (self.power.n1, self.Rp1.p),
            (self.power.p2, self.Rp1.n),
            (self.Rp1.p, self.Rp2.p),
            (self.Rp2.n, self.g5.p),
            (self.diff.n2, self.OpI.p1),
            (self.OpI.n2, self.OpI.p1),
            (self.power.n2, self.OpI.n2),
            # for the motor
            (self.power.p2, self.Ra.p),
            (self.Ra.n, self.La.p),
            (self.La.n, self.emf.p),
            (self.emf.n, self.hall1.p),
            (self.hall1.n, self.g4.p),
            (self.emf.flange, self.phi.flange),
            (self.emf.flange, self.speed.flange),
            (self.emf.flange, self.Jmotor.flange_a),
            (self.Jmotor.flange_b, self.flange_motor),
            (self.hall1.i, self.convert1.u),
            (self.convert1.y, self.hall2.v),
            (self.convert2.y, self.Vs.v),
            (bus.current_ref, self.convert2.u),
            (self.hall1.i, bus.current),
            (self.phi.phi, bus.motorAngle),
            (self.speed.w, bus.motorSpeed),
        ):
            self.connect(a, b)

    def equations(self) -> None:
        self.initially(self.der(self.C.v), "der(C.v) = 0")
        self.initially(self.der(self.La.i), "der(La.i) = 0")


class _Gear(PartialTwoFlanges):
    """Gear with friction in its bearings."""

    i = Parameter(t.Real, -105.0, "Gear ratio")
    Rv0 = Parameter(t.Torque, 0.4, "Viscous friction torque at zero velocity", structural=True)
    Rv1 = Parameter(
        t.RotationalDampingConstant, 0.13 / 160, "Viscous friction coefficient (R=Rv0+Rv1*abs(qd))", structural=True
    )
    peak = Parameter(t.Real, 1.0, "Maximum static friction torque is peak*Rv0 (peak >= 1)")

    def friction(self, **parameters: Any) -> BearingFriction:
        """Friction that grows with the speed."""
        return BearingFriction(tau_pos=self.table, **parameters)

    @property
    def table(self) -> Any:
        """Friction at rest and at 1 rad/s."""
        return [[0.0, self.Rv0], [1.0, self.Rv0 + self.Rv1]]


class GearType1(_Gear):
    """Motor inertia and gearbox model for r3 joints 1,2,3; its spring starts at rest."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.GearType1"

    c = Parameter(t.RotationalSpringConstant, 43.0, "Spring constant")
    d = Parameter(t.RotationalDampingConstant, 0.005, "Damper constant")
    a_rel = Variable(t.AngularAcceleration, "Relative angular acceleration of spring")

    def build(self) -> None:
        self.gear, self.spring = IdealGear(ratio=self.i), SpringDamper(c=self.c, d=self.d)
        self.bearingFriction = self.friction()
        self.connect(self.flange_a, self.bearingFriction.flange_a)
        self.connect(self.bearingFriction.flange_b, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.flange_b)

    def equations(self) -> None:
        self.a_rel = self.der(self.spring.w_rel)
        self.initially(self.spring.w_rel, "spring.w_rel = 0")
        self.initially(self.a_rel, "a_rel = 0")


class GearType2(_Gear):
    """Motor inertia and gearbox model for r3 joints 4,5,6."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.GearType2"

    i = Parameter(t.Real, -99.0, "Gear ratio")
    Rv0 = Parameter(t.Torque, 21.8, "Viscous friction torque at zero velocity", structural=True)
    Rv1 = Parameter(
        t.RotationalDampingConstant, 9.8, "Viscous friction coefficient (R=Rv0+Rv1*abs(qd))", structural=True
    )
    peak = Parameter(t.Real, 26.7 / 21.8, "Maximum static friction torque is peak*Rv0 (peak >= 1)")

    def build(self) -> None:
        self.gear, self.bearingFriction = IdealGear(ratio=self.i), self.friction(peak=self.peak)
        self.connect(self.flange_a, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.bearingFriction.flange_a)
        self.connect(self.bearingFriction.flange_b, self.flange_b)


class AxisType2(_OnBus):
    """Axis model of the r3 joints 4,5,6; it starts at the reference angle and speed, without acceleration."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.AxisType2"

    kp = Parameter(t.Real, 10.0, "Gain of position controller")
    ks = Parameter(t.Real, 1.0, "Gain of speed controller")
    Ts = Parameter(t.Time, 0.01, "Time constant of integrator of speed controller")
    k = Parameter(t.Real, 1.1616, "Gain of motor")
    w = Parameter(t.Real, 4590.0, "Time constant of motor")
    D = Parameter(t.Real, 0.6, "Damping constant of motor")
    J = Parameter(t.Inertia, 0.0013, "Moment of inertia of motor", min=0)
    ratio = Parameter(t.Real, -105.0, "Gear ratio")
    Rv0 = Parameter(t.Torque, 0.4, "Viscous friction torque at zero velocity", structural=True)
    Rv1 = Parameter(t.RotationalDampingConstant, 0.13 / 160, "Viscous friction coefficient", structural=True)
    peak = Parameter(t.Real, 1.0, "Maximum static friction torque is peak*Rv0 (peak >= 1)")
    flange = Flange_b("Flange of the axis")

    def build(self) -> None:
        bus = self.bus(
            "axisControlBus",
            reads="angle_ref speed_ref",
            writes="angle speed acceleration current_ref current motorAngle motorSpeed",
        )
        self.gear = self.gearbox()
        self.motor = Motor(J=self.J, k=self.k, w=self.w, D=self.D)
        self.controller = Controller(kp=self.kp, ks=self.ks, Ts=self.Ts, ratio=self.ratio)
        self.angleSensor, self.speedSensor, self.accSensor = AngleSensor(), SpeedSensor(), AccSensor()
        self.initializeFlange, self.const = InitializeFlange(stateSelect="prefer"), Constant(k=0.0)
        self.connect(self.motor.flange_motor, self.gear.flange_a)
        for part in (self.angleSensor, self.speedSensor, self.accSensor, self.initializeFlange):
            self.connect(self.gear.flange_b, part.flange)
        self.connect(self.gear.flange_b, self.flange)
        self.connect(self.angleSensor.phi, bus.angle)
        self.connect(self.speedSensor.w, bus.speed)
        self.connect(self.accSensor.a, bus.acceleration)
        self.connect(bus.angle_ref, self.initializeFlange.phi_start)
        self.connect(bus.speed_ref, self.initializeFlange.w_start)
        self.connect(self.const.y, self.initializeFlange.a_start)
        motor, controller = self.motor.axisControlBus, self.controller.axisControlBus
        connect_buses(self, motor, controller)
        for name in ("angle_ref", "speed_ref"):
            self.connect(getattr(bus, name), getattr(controller, name))
        for name in ("current", "motorAngle", "motorSpeed"):
            self.connect(getattr(motor, name), getattr(bus, name))
        self.connect(controller.current_ref, bus.current_ref)

    def gearbox(self) -> _Gear:
        """The gear of the axis."""
        return GearType2(i=self.ratio, Rv0=self.Rv0, Rv1=self.Rv1, peak=self.peak)


class AxisType1(AxisType2):
    """Axis model of the r3 joints 1,2,3."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.AxisType1"

    c = Parameter(t.RotationalSpringConstant, 43.0, "Spring constant")
    cd = Parameter(t.RotationalDampingConstant, 0.005, "Damper constant")

    def gearbox(self) -> _Gear:
        """The gear of the axis."""
        return GearType1(i=self.ratio, Rv0=self.Rv0, Rv1=self.Rv1, peak=self.peak, c=self.c, d=self.cd)


class PathToAxisControlBus(_OnBus):
    """Map path planning to one axis control bus."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.PathToAxisControlBus"

    nAxis = Parameter(t.Integer, 6, "Number of driven axis", min=1)
    axisUsed = Parameter(t.Integer, 1, "Map path planning of axisUsed to axisControlBus", min=1)
    q = RealInput("Reference angles", shape=lambda self: (self.nAxis,))
    qd = RealInput("Reference speeds", shape=lambda self: (self.nAxis,))
    qdd = RealInput("Reference accelerations", shape=lambda self: (self.nAxis,))
    moving = BooleanInput("= true, while an axis is moving", shape=lambda self: (self.nAxis,))

    def build(self) -> None:
        bus = self.bus("axisControlBus", writes="motion_ref angle_ref speed_ref acceleration_ref")
        self.q_axisUsed, self.qd_axisUsed, self.qdd_axisUsed = (RealPassThrough() for _ in range(3))
        self.motion_ref_axisUsed = BooleanPassThrough()
        axis = self.axisUsed - 1
        for source, part, signal in (
            (self.q, self.q_axisUsed, bus.angle_ref),
            (self.qd, self.qd_axisUsed, bus.speed_ref),
            (self.qdd, self.qdd_axisUsed, bus.acceleration_ref),
            (self.moving, self.motion_ref_axisUsed, bus.motion_ref),
        ):
            self.connect(source[axis], part.u)
            self.connect(part.y, signal)


class _PathPlanning(_OnBus):
    """Reference motions of some axes."""

    startTime = Parameter(t.Time, 0.0, "Start time of movement")
    swingTime = Parameter(t.Time, 0.5, "Additional time after reference motion is in rest before simulation is stopped")

    def plan(self, naxis: int) -> None:
        """Make the path and the buses of the axes."""
        path = KinematicPTP2(
            q_begin=self.angleBeg,
            q_end=self.angleEnd,
            qd_max=self.speedMax,
            qdd_max=self.accMax,
            startTime=self.startTime,
        )
        self.add("path", path)  # as an attribute, `path` is a component's own name
        self.terminateSimulation = TerminateSimulation(condition="time >= path.endTime + swingTime")
        for axis in range(1, naxis + 1):
            part = PathToAxisControlBus(nAxis=naxis, axisUsed=axis)
            setattr(self, f"pathToAxis{axis}", part)
            for name in ("q", "qd", "qdd", "moving"):
                self.connect(getattr(path, name), getattr(part, name))
            bus = self.bus(f"controlBus.axisControlBus{axis}", writes="motion_ref angle_ref speed_ref acceleration_ref")
            for name in bus:
                self.connect(getattr(part.axisControlBus, name), getattr(bus, name))

    def axis_bus(self, axis: int) -> Bus:
        """The bus of an axis, counted from 1."""
        return Bus(self, f"controlBus.axisControlBus{axis}")


class PathPlanning1(_PathPlanning):
    """Generate reference angles for fastest kinematic movement of one axis."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.PathPlanning1"

    angleBegDeg = Parameter(t.Angle_deg, 0.0, "Start angle")
    angleEndDeg = Parameter(t.Angle_deg, 1.0, "End angle")
    speedMax = Parameter(t.AngularVelocity, 3.0, "Maximum axis speed")
    accMax = Parameter(t.AngularAcceleration, 2.5, "Maximum axis acceleration")
    angleBeg = Final(t.Angle, lambda self: self.angleBegDeg * DEGREE, "Start angle")
    angleEnd = Final(t.Angle, lambda self: self.angleEndDeg * DEGREE, "End angle")

    def build(self) -> None:
        self.plan(1)


class PathPlanning6(_PathPlanning):
    """Generate reference angles for fastest kinematic movement of six axes, all in step."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.PathPlanning6"

    angleBegDeg = Parameter(t.Angle_deg, (0.0,) * 6, "Start angles", shape=6)
    angleEndDeg = Parameter(t.Angle_deg, (1.0,) * 6, "End angles", shape=6)
    speedMax = Parameter(t.AngularVelocity, (3.0,) * 6, "Maximum axis speed", shape=6)
    accMax = Parameter(t.AngularAcceleration, (2.5,) * 6, "Maximum axis acceleration", shape=6)
    naxis = Final(t.Integer, lambda self: 6, "Number of driven axis", structural=True)
    angleBeg = Final(t.Angle, lambda self: self.angleBegDeg * DEGREE, "Start angles", shape=6)
    angleEnd = Final(t.Angle, lambda self: self.angleEndDeg * DEGREE, "End angles", shape=6)

    def build(self) -> None:
        self.plan(self.naxis)


class MechanicalStructure(Component):
    """Model of the mechanical part of the r3 robot (without animation)."""

    modelica_name = "MultiBody.Examples.Systems.RobotR3.Utilities.MechanicalStructure"

    mLoad = Parameter(t.Mass, 15.0, "Mass of load", min=0)
    rLoad = Parameter(t.Position, (0.0, 0.25, 0.0), "Distance from last flange to load mass", shape=3)
    g = Parameter(t.Acceleration, 9.81, "Gravity acceleration")
    q = Variable(t.Angle, "Joint angles", shape=6)
    qd = Variable(t.AngularVelocity, "Joint speeds", shape=6)
    qdd = Variable(t.AngularAcceleration, "Joint accelerations", shape=6)
    tau = Variable(t.Torque, "Joint driving torques", shape=6)
    axis1 = Flange_a("Axis of joint 1")
    axis2 = Flange_a("Axis of joint 2")
    axis3 = Flange_a("Axis of joint 3")
    axis4 = Flange_a("Axis of joint 4")
    axis5 = Flange_a("Axis of joint 5")
    axis6 = Flange_a("Axis of joint 6")

    def build(self) -> None:
        self.world = World(g=self.g, n=(0, -1, 0))
        self.b0 = BodyShape(r=(0, 0.351, 0), r_CM=(0, 0, 0), m=1.0)
        self.b1 = BodyShape(r=(0, 0.324, 0.3), r_CM=(0, 0, 0), m=1.0, I_22=1.16)
        self.b2 = BodyShape(r=(0, 0.65, 0), r_CM=(0.172, 0.205, 0), m=56.5, I_11=2.58, I_22=0.64, I_33=2.73, I_21=-0.46)
        self.b3 = BodyShape(
            r=(0, 0.414, -0.155), r_CM=(0.064, -0.034, 0), m=26.4, I_11=0.279, I_22=0.245, I_33=0.413, I_21=-0.070
        )
        self.b4 = BodyShape(r=(0, 0.186, 0), r_CM=(0, 0, 0), m=28.7, I_11=1.67, I_22=0.081, I_33=1.67)
        self.b5 = BodyShape(r=(0, 0.125, 0), r_CM=(0, 0, 0), m=5.2, I_11=1.25, I_22=0.81, I_33=1.53)
        self.b6 = BodyShape(r=(0, 0, 0), r_CM=(0.05, 0.05, 0.05), m=0.5)
        self.load = BodyShape(r=(0, 0, 0), r_CM=self.rLoad, m=self.mLoad)
        self.connect(self.world.frame_b, self.b0.frame_a)
        self.connect(self.b6.frame_b, self.load.frame_a)
        for i, n in enumerate(((0, 1, 0), (1, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0)), start=1):
            joint = Revolute(n=n, useAxisFlange=True)
            setattr(self, f"r{i}", joint)
            self.connect(getattr(self, f"b{i - 1}").frame_b, joint.frame_a)
            self.connect(joint.frame_b, getattr(self, f"b{i}").frame_a)
            self.connect(joint.axis, getattr(self, f"axis{i}"))

    def equations(self) -> None:
        joints = [getattr(self, f"r{i}") for i in range(1, 7)]
        self.q = [joint.phi for joint in joints]
        self.qd = [joint.w for joint in joints]
        self.qdd = [joint.a for joint in joints]
        self.tau = [joint.tau for joint in joints]


__all__ = [
    "AxisType1",
    "AxisType2",
    "Bus",
    "Controller",
    "GearType1",
    "GearType2",
    "MechanicalStructure",
    "Motor",
    "PathPlanning1",
    "PathPlanning6",
    "PathToAxisControlBus",
    "connect_buses",
]
