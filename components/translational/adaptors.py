"""Translational flanges as signals (Modelica.Mechanics.Translational.Components 4.1)."""

from __future__ import annotations

from typing import Any

from mbfmu.components.adaptors import FlowToPotentialAdaptor, PotentialToFlowAdaptor
from mbfmu.components.interfaces import TranslationalFlange_a, TranslationalFlange_b
from mbfmu.modeling import RealInput, RealOutput
from mbfmu.modeling import types as t


class GeneralPositionToForceAdaptor(PotentialToFlowAdaptor):
    """Signal adaptor for a translational flange with force as output and position, speed and acceleration as input."""

    modelica_name = "Translational.Components.GeneralPositionToForceAdaptor"

    p = RealInput("Position of the flange", type=t.Position)
    pder = RealInput("Speed of the flange", type=t.Velocity, when=lambda self: self.use_pder)
    pder2 = RealInput(
        "Acceleration of the flange",
        type=t.Acceleration,
        when=lambda self: self.use_pder and self.use_pder2,
    )
    f = RealOutput("Force needed to drive the flange (= -flange.f)", type=t.Force)
    flange = TranslationalFlange_b("Flange that is driven")

    def adapt(self, potential: Any) -> Any:
        self.relation(self.flange.s - potential)
        self.energy(dissipated=self.flange.f * self.der(self.flange.s))
        return self.flange.f


class GeneralForceToPositionAdaptor(FlowToPotentialAdaptor):
    """Signal adaptor for a translational flange with position, speed and acceleration as outputs and force as input."""

    modelica_name = "Translational.Components.GeneralForceToPositionAdaptor"

    f = RealInput("Force into the adaptor (= flange.f)", type=t.Force)
    p = RealOutput("Position of the flange", type=t.Position)
    pder = RealOutput("Speed of the flange", type=t.Velocity, when=lambda self: self.use_pder)
    pder2 = RealOutput(
        "Acceleration of the flange",
        type=t.Acceleration,
        when=lambda self: self.use_pder and self.use_pder2,
    )
    flange = TranslationalFlange_a("Flange that is loaded")

    def adapt(self, flow: Any) -> Any:
        self.flange.f = flow
        self.energy(dissipated=flow * self.der(self.flange.s))
        return self.flange.s


__all__ = ["GeneralForceToPositionAdaptor", "GeneralPositionToForceAdaptor"]
