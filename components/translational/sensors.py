"""Sensors of translational mechanics (Modelica.Mechanics.Translational.Sensors 4.0)."""

from __future__ import annotations

from mbfmu.components.translational.interfaces import PartialAbsoluteSensor, PartialRelativeSensor
from mbfmu.modeling import RealOutput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Variable


class PositionSensor(PartialAbsoluteSensor):
    """Ideal sensor to measure the absolute flange position."""

    modelica_name = "Translational.Sensors.PositionSensor"

    s = RealOutput("Absolute position of flange as output signal", type=t.Position)

    def equations(self) -> None:
        self.s = self.flange.s


class SpeedSensor(PartialAbsoluteSensor):
    """Ideal sensor to measure the absolute flange velocity."""

    modelica_name = "Translational.Sensors.SpeedSensor"

    v = RealOutput("Absolute velocity of flange as output signal", type=t.Velocity)

    def equations(self) -> None:
        self.v = self.der(self.flange.s)


class AccSensor(PartialAbsoluteSensor):
    """Ideal sensor to measure the absolute flange acceleration."""

    modelica_name = "Translational.Sensors.AccSensor"

    v = Variable(t.Velocity, "Absolute velocity of flange")
    a = RealOutput("Absolute acceleration of flange as output signal", type=t.Acceleration)

    def equations(self) -> None:
        self.v = self.der(self.flange.s)
        self.a = self.der(self.v)


class RelPositionSensor(PartialRelativeSensor):
    """Ideal sensor to measure the relative position between two flanges."""

    modelica_name = "Translational.Sensors.RelPositionSensor"

    s_rel = RealOutput(
        "Relative position between two flanges (= flange_b.s - flange_a.s) as output signal", type=t.Position
    )

    def equations(self) -> None:
        self.s_rel = self.flange_b.s - self.flange_a.s


class RelSpeedSensor(PartialRelativeSensor):
    """Ideal sensor to measure the relative velocity between two flanges."""

    modelica_name = "Translational.Sensors.RelSpeedSensor"

    s_rel = Variable(t.Position, "Relative position between two flanges (flange_b.s - flange_a.s)")
    v_rel = RealOutput(
        "Relative velocity between two flanges (= der(flange_b.s) - der(flange_a.s)) as output signal",
        type=t.Velocity,
    )

    def equations(self) -> None:
        self.s_rel = self.flange_b.s - self.flange_a.s
        self.v_rel = self.der(self.s_rel)


class RelAccSensor(PartialRelativeSensor):
    """Ideal sensor to measure the relative acceleration between two flanges."""

    modelica_name = "Translational.Sensors.RelAccSensor"

    s_rel = Variable(t.Position, "Relative position between two flanges (flange_b.s - flange_a.s)")
    v_rel = Variable(t.Velocity, "Relative velocity between two flanges")
    a_rel = RealOutput("Relative acceleration between two flanges as output signal", type=t.Acceleration)

    def equations(self) -> None:
        self.s_rel = self.flange_b.s - self.flange_a.s
        self.v_rel = self.der(self.s_rel)
        self.a_rel = self.der(self.v_rel)


class _Through(PartialRelativeSensor):
    """Sensor of what passes from flange_a to flange_b, which it joins."""

    def equations(self) -> None:
        self.relation(self.flange_a.s - self.flange_b.s)
        self.measure()

    def measure(self) -> None:
        """Equations of the outputs."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")


class ForceSensor(_Through):
    """Ideal sensor to measure the force between two flanges (= flange_a.f)."""

    modelica_name = "Translational.Sensors.ForceSensor"

    f = RealOutput("Force in flange flange_a and flange_b (= flange_a.f = -flange_b.f) as output signal", type=t.Force)

    def measure(self) -> None:
        self.f = self.flange_a.f


class PowerSensor(_Through):
    """Ideal sensor to measure the power between two flanges (= flange_a.f*der(flange_a.s))."""

    modelica_name = "Translational.Sensors.PowerSensor"

    power = RealOutput("Power in flange flange_a as output signal", type=t.Power)

    def measure(self) -> None:
        self.power = self.flange_a.f * self.der(self.flange_a.s)


class MultiSensor(_Through):
    """Ideal sensor to measure the force and power between two flanges and the absolute velocity."""

    modelica_name = "Translational.Sensors.MultiSensor"

    power = RealOutput("Power in flange flange_a as output signal", type=t.Power)
    v = RealOutput("Absolute velocity of flange_a as output signal", type=t.Velocity)
    f = RealOutput("Force in flange flange_a as output signal", type=t.Force)

    def measure(self) -> None:
        self.v = self.der(self.flange_a.s)
        self.f = self.flange_a.f
        self.power = self.f * self.v


__all__ = [
    "AccSensor",
    "ForceSensor",
    "MultiSensor",
    "PositionSensor",
    "PowerSensor",
    "RelAccSensor",
    "RelPositionSensor",
    "RelSpeedSensor",
    "SpeedSensor",
]
