"""Drivetrain and car: in one assembly, and as two that are coupled at the half shafts of the driven wheels."""

from mbfmu.components import Body, FixedTranslation, RollingWheelSet, World, blocks, rotational
from mbfmu.components.interfaces import Flange_a
from mbfmu.components.rotational.interfaces import PartialTorque
from mbfmu.modeling import Assembly, Parameter, RealInput, Start, Variable, required
from mbfmu.modeling import types as t

WHEEL_RADIUS = 0.28  # m
SPEED = 4.0  # m/s, of the car at the start
RATIO = 8.0  # of gearbox and final drive together


class Engine(PartialTorque):
    """Combustion engine: a parabola as the curve of full load, scaled by the throttle, less a drag torque."""

    tau_peak = Parameter(t.Torque, required, "Greatest torque at full load", min=0, tunable=True)
    w_peak = Parameter(t.AngularVelocity, required, "Speed of the greatest torque", min=1e-3, tunable=True)
    droop = Parameter(t.Real, 0.5, "Loss of torque at speed 0 and at 2 w_peak, as a fraction", min=0, tunable=True)
    drag = Parameter(t.RotationalDampingConstant, 0.02, "Drag torque by speed", min=0, tunable=True)
    throttle = RealInput("Throttle, 0 to 1")
    w = Variable(t.AngularVelocity, "Speed of the crankshaft")

    def torque(self):
        """Torque [N.m] that the engine gives at the present throttle and speed."""
        self.w = self.der(self.phi)
        full_load = self.tau_peak * (1 - self.droop * (self.w / self.w_peak - 1) ** 2)
        return self.throttle * full_load - self.drag * self.w


class Powertrain(Assembly):
    """Engine, gear, differential and elastic half shafts; the wheels move axis1 and axis2."""

    stop_time = 4.0

    def __init__(self):
        w = SPEED / WHEEL_RADIUS
        self.axis1 = Flange_a("Outer end of the left half shaft", motion=True)
        self.axis2 = Flange_a("Outer end of the right half shaft", motion=True)
        self.pedal = blocks.Ramp(height=0.7, duration=0.3, offset=0.1, startTime=0.5)
        self.engine = Engine(tau_peak=90.0, w_peak=420.0)
        self.crankshaft = rotational.Inertia(J=0.15)
        self.gear = rotational.IdealGear(ratio=RATIO)
        self.differential = rotational.IdealPlanetary(ratio=1)
        self.connect(self.pedal.y, self.engine.throttle)
        self.connect(self.engine.flange, self.crankshaft.flange_a)
        self.connect(self.crankshaft.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.differential.carrier)
        for side, wheel, axis in (("1", self.differential.sun, self.axis1), ("2", self.differential.ring, self.axis2)):
            pinion = rotational.Inertia(J=0.05, phi=Start(0.0, fixed=True), w=Start(w, fixed=True))
            shaft = rotational.SpringDamper(c=3000.0, d=30.0)
            setattr(self, f"pinion{side}", pinion)
            setattr(self, f"shaft{side}", shaft)
            self.connect(wheel, pinion.flange_a)
            self.connect(pinion.flange_b, shaft.flange_a)
            self.connect(shaft.flange_b, axis)
        self.output(self.engine.w)
        self.output(self.engine.tau)


class Car(Assembly):
    """Car on the wheel set of its driven axle, which takes the torques of the half shafts; the left wheel is braked."""

    stop_time = 4.0

    def __init__(self):
        w = SPEED / WHEEL_RADIUS
        self.axis1 = Flange_a("Hub of the left wheel")
        self.axis2 = Flange_a("Hub of the right wheel")
        self.world = World(n=(0, 0, -1))
        self.wheels = RollingWheelSet(
            wheelRadius=WHEEL_RADIUS,
            wheelMass=15.0,
            wheel_I_axis=0.6,
            wheel_I_long=0.4,
            wheelDistance=1.4,
            der_theta1=Start(w, fixed=True),
            der_theta2=Start(w, fixed=True),
        )
        self.to_body = FixedTranslation(r=(0.9, 0, 0.2))
        self.body = Body(m=620.0, r_CM=(0, 0, 0), I_11=150.0, I_22=650.0, I_33=700.0)
        self.command = blocks.Trapezoid(
            amplitude=-500.0, rising=0.2, width=0.6, falling=0.2, period=10.0, startTime=2.0
        )
        self.brake = rotational.Torque()
        self.connect(self.axis1, self.wheels.axis1)
        self.connect(self.axis2, self.wheels.axis2)
        self.connect(self.wheels.frameMiddle, self.to_body.frame_a)
        self.connect(self.to_body.frame_b, self.body.frame_a)
        self.connect(self.command.y, self.brake.tau)
        self.connect(self.brake.flange, self.wheels.axis1)
        self.output(self.wheels.x, "x")
        self.output(self.wheels.y, "y")
        self.output(self.wheels.phi, "yaw")


class Drivetrain(Assembly):
    """A small car accelerates, and turns when its left driven wheel is braked: drivetrain and car in one."""

    stop_time = 4.0

    def __init__(self):
        self.powertrain = Powertrain()
        self.car = Car()
        self.connect(self.powertrain.axis1, self.car.axis1)
        self.connect(self.powertrain.axis2, self.car.axis2)
        self.output(self.powertrain.engine.w)
        self.output(self.powertrain.engine.tau)
        self.output(self.car.wheels.x, "x")
        self.output(self.car.wheels.y, "y")
        self.output(self.car.wheels.phi, "yaw")
