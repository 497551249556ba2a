"""Rotational flanges as signals (Modelica.Mechanics.Rotational.Components 4.1)."""

from __future__ import annotations

from typing import Any

from mbfmu.components.adaptors import FlowToPotentialAdaptor, PotentialToFlowAdaptor, stated
from mbfmu.components.interfaces import Flange_a, Flange_b
from mbfmu.modeling import Component, Parameter, RealInput, RealOutput
from mbfmu.modeling import types as t


class AngleToTorqueAdaptor(Component):
    """Signal adaptor for a flange with torque as output and angle, speed and acceleration as inputs."""

    modelica_name = "Rotational.Components.AngleToTorqueAdaptor"

    use_w = Parameter(t.Boolean, True, "= true, enable the input connector w (angular velocity)")
    use_a = Parameter(t.Boolean, True, "= true, enable the input connector a (angular acceleration)")
    flange = Flange_b("Flange that is driven")
    phi = RealInput("Angle to drive the flange", type=t.Angle)
    w = RealInput(
        "Speed to drive the flange (w=der(phi) required)",
        type=t.AngularVelocity,
        when=lambda self: self.use_w or self.use_a,
    )
    a = RealInput(
        "Angular acceleration to drive the flange (a = der(w) required)",
        type=t.AngularAcceleration,
        when=lambda self: self.use_a,
    )
    tau = RealOutput("Torque needed to drive the flange according to phi, w, a", type=t.Torque)

    def equations(self) -> None:
        speed = self.w if self.use_w or self.use_a else None
        self.relation(self.flange.phi - stated(self, self.phi, speed, self.a if self.use_a else None))
        self.tau = -self.flange.tau
        self.energy(dissipated=-self.tau * self.der(self.flange.phi))


class TorqueToAngleAdaptor(Component):
    """Signal adaptor for a flange with angle, speed and acceleration as outputs and torque as input."""

    modelica_name = "Rotational.Components.TorqueToAngleAdaptor"

    use_w = Parameter(t.Boolean, True, "= true, enable the output connector w (angular velocity)")
    use_a = Parameter(t.Boolean, True, "= true, enable the output connector a (angular acceleration)")
    flange = Flange_a("Flange that is loaded")
    phi = RealOutput("Flange moves with angle phi due to torque tau", type=t.Angle)
    w = RealOutput("Flange moves with speed w due to torque tau", type=t.AngularVelocity, when=lambda self: self.use_w)
    a = RealOutput(
        "Flange moves with angular acceleration a due to torque tau",
        type=t.AngularAcceleration,
        when=lambda self: self.use_a,
    )
    tau = RealInput("Torque into the adaptor (= flange.tau)", type=t.Torque)

    def equations(self) -> None:
        speed = self.der(self.flange.phi)
        self.phi = self.flange.phi
        if self.use_w:
            self.w = speed
        if self.use_a:
            self.a = self.der(speed)
        self.flange.tau = self.tau
        self.energy(dissipated=self.tau * speed)


class GeneralAngleToTorqueAdaptor(PotentialToFlowAdaptor):
    """Signal adaptor for a rotational flange with torque as output and angle, speed and acceleration as input."""

    modelica_name = "Rotational.Components.GeneralAngleToTorqueAdaptor"

    p = RealInput("Angle of the flange", type=t.Angle)
    pder = RealInput("Speed of the flange", type=t.AngularVelocity, when=lambda self: self.use_pder)
    pder2 = RealInput(
        "Angular acceleration of the flange",
        type=t.AngularAcceleration,
        when=lambda self: self.use_pder and self.use_pder2,
    )
    f = RealOutput("Torque needed to drive the flange (= -flange.tau)", type=t.Torque)
    flange = Flange_b("Flange that is driven")

    def adapt(self, potential: Any) -> Any:
        self.relation(self.flange.phi - potential)
        self.energy(dissipated=self.flange.tau * self.der(self.flange.phi))
        return self.flange.tau


class GeneralTorqueToAngleAdaptor(FlowToPotentialAdaptor):
    """Signal adaptor for a rotational flange with angle, speed and acceleration as outputs and torque as input."""

    modelica_name = "Rotational.Components.GeneralTorqueToAngleAdaptor"

    f = RealInput("Torque into the adaptor (= flange.tau)", type=t.Torque)
    p = RealOutput("Angle of the flange", type=t.Angle)
    pder = RealOutput("Speed of the flange", type=t.AngularVelocity, when=lambda self: self.use_pder)
    pder2 = RealOutput(
        "Angular acceleration of the flange",
        type=t.AngularAcceleration,
        when=lambda self: self.use_pder and self.use_pder2,
    )
    flange = Flange_a("Flange that is loaded")

    def adapt(self, flow: Any) -> Any:
        self.flange.tau = flow
        self.energy(dissipated=flow * self.der(self.flange.phi))
        return self.flange.phi


__all__ = [
    "AngleToTorqueAdaptor",
    "GeneralAngleToTorqueAdaptor",
    "GeneralTorqueToAngleAdaptor",
    "TorqueToAngleAdaptor",
]
