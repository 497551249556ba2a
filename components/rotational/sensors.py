"""Sensors of rotational mechanics (Modelica.Mechanics.Rotational.Sensors 4.0)."""

from __future__ import annotations

from mbfmu.components.rotational.interfaces import PartialAbsoluteSensor, PartialRelativeSensor
from mbfmu.modeling import RealOutput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Variable


class AngleSensor(PartialAbsoluteSensor):
    """Ideal sensor to measure the absolute flange angle."""

    modelica_name = "Rotational.Sensors.AngleSensor"

    phi = RealOutput("Absolute angle of flange as output signal", type=t.Angle)

    def equations(self) -> None:
        self.phi = self.flange.phi


class SpeedSensor(PartialAbsoluteSensor):
    """Ideal sensor to measure the absolute flange angular velocity."""

    modelica_name = "Rotational.Sensors.SpeedSensor"

    w = RealOutput("Absolute angular velocity of flange as output signal", type=t.AngularVelocity)

    def equations(self) -> None:
        self.w = self.der(self.flange.phi)


class AccSensor(PartialAbsoluteSensor):
    """Ideal sensor to measure the absolute flange angular acceleration."""

    modelica_name = "Rotational.Sensors.AccSensor"

    w = Variable(t.AngularVelocity, "Absolute angular velocity of flange")
    a = RealOutput("Absolute angular acceleration of flange as output signal", type=t.AngularAcceleration)

    def equations(self) -> None:
        self.w = self.der(self.flange.phi)
        self.a = self.der(self.w)


class RelAngleSensor(PartialRelativeSensor):
    """Ideal sensor to measure the relative angle between two flanges."""

    modelica_name = "Rotational.Sensors.RelAngleSensor"

    phi_rel = RealOutput(
        "Relative angle between two flanges (= flange_b.phi - flange_a.phi) as output signal", type=t.Angle
    )

    def equations(self) -> None:
        self.phi_rel = self.flange_b.phi - self.flange_a.phi


class RelSpeedSensor(PartialRelativeSensor):
    """Ideal sensor to measure the relative angular velocity between two flanges."""

    modelica_name = "Rotational.Sensors.RelSpeedSensor"

    phi_rel = Variable(t.Angle, "Relative angle between two flanges (flange_b.phi - flange_a.phi)")
    w_rel = RealOutput(
        "Relative angular velocity between two flanges (= der(flange_b.phi) - der(flange_a.phi)) as output signal",
        type=t.AngularVelocity,
    )

    def equations(self) -> None:
        self.phi_rel = self.flange_b.phi - self.flange_a.phi
        self.w_rel = self.der(self.phi_rel)


class RelAccSensor(PartialRelativeSensor):
    """Ideal sensor to measure the relative angular acceleration between two flanges."""

    modelica_name = "Rotational.Sensors.RelAccSensor"

    phi_rel = Variable(t.Angle, "Relative angle between two flanges (flange_b.phi - flange_a.phi)")
    w_rel = Variable(t.AngularVelocity, "Relative angular velocity between two flanges")
    a_rel = RealOutput("Relative angular acceleration between two flanges as output signal", type=t.AngularAcceleration)

    def equations(self) -> None:
        self.phi_rel = self.flange_b.phi - self.flange_a.phi
        self.w_rel = self.der(self.phi_rel)
        self.a_rel = self.der(self.w_rel)


class _Through(PartialRelativeSensor):
    """Sensor of what passes from flange_a to flange_b, which it joins."""

    def equations(self) -> None:
        self.relation(self.flange_a.phi - self.flange_b.phi)
        self.measure()

    def measure(self) -> None:
        """Equations of the outputs."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")


class TorqueSensor(_Through):
    """Ideal sensor to measure the torque between two flanges (= flange_a.tau)."""

    modelica_name = "Rotational.Sensors.TorqueSensor"

    tau = RealOutput(
        "Torque in flange flange_a and flange_b (= flange_a.tau = -flange_b.tau) as output signal", type=t.Torque
    )

    def measure(self) -> None:
        self.tau = self.flange_a.tau


class PowerSensor(_Through):
    """Ideal sensor to measure the power between two flanges (= flange_a.tau*der(flange_a.phi))."""

    modelica_name = "Rotational.Sensors.PowerSensor"

    power = RealOutput("Power in flange flange_a as output signal", type=t.Power)

    def measure(self) -> None:
        self.power = self.flange_a.tau * self.der(self.flange_a.phi)


class MultiSensor(_Through):
    """Ideal sensor to measure the torque and power between two flanges and the absolute angular velocity."""

    modelica_name = "Rotational.Sensors.MultiSensor"

    power = RealOutput("Power in flange flange_a as output signal", type=t.Power)
    w = RealOutput("Absolute angular velocity of flange_a as output signal", type=t.AngularVelocity)
    tau = RealOutput("Torque in flange flange_a as output signal", type=t.Torque)

    def measure(self) -> None:
        self.w = self.der(self.flange_a.phi)
        self.tau = self.flange_a.tau
        self.power = self.tau * self.w


__all__ = [
    "AccSensor",
    "AngleSensor",
    "MultiSensor",
    "PowerSensor",
    "RelAccSensor",
    "RelAngleSensor",
    "RelSpeedSensor",
    "SpeedSensor",
    "TorqueSensor",
]
