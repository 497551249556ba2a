"""A vehicle and the resistances that it drives against (Modelica.Mechanics.Translational.Components 4.1)."""

from __future__ import annotations

import casadi as ca

from mbfmu.components import blocks, characteristics
from mbfmu.components.interfaces import Flange_a, TranslationalFlange_b
from mbfmu.components.rotational.components import Inertia
from mbfmu.components.translational.components import Mass
from mbfmu.components.translational.gears import IdealRollingWheel
from mbfmu.components.translational.sources import Force, PartialForceAtSpeed, QuadraticSpeedDependentForce, Speed
from mbfmu.modeling import Component, RealInput, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Variable

#: Standard gravity [m/s2].
G_N = 9.80665
#: Speed for which Vehicle states its drag [m/s].
V_REF = 1.0


class RollingResistance(PartialForceAtSpeed):
    """Resistance of a rolling wheel."""

    modelica_name = "Translational.Components.RollingResistance"

    fWeight = Parameter(t.Force, required, "Wheel load due to gravity")
    useCrInput = Parameter(t.Boolean, False, "Enable signal input for Cr")
    CrConstant = Parameter(t.Real, 0.01, "Constant rolling resistance coefficient")
    useInclinationInput = Parameter(t.Boolean, False, "Enable signal input for inclination")
    inclinationConstant = Parameter(t.Real, 0.0, "Constant inclination = tan(angle)")
    reg = Parameter(t.Regularization, "Exp", "Type of regularization")
    v0 = Parameter(t.Velocity, 0.1, "Regularization below v0", min=1e-15)
    inclination = RealInput("Inclination=tan(angle)", when=lambda self: self.useInclinationInput)
    cr = RealInput("Rolling resistance coefficient", when=lambda self: self.useCrInput)
    f_nominal = Variable(t.Force, "Nominal rolling resistance without regularization")

    def force_at_speed(self) -> ca.SX:
        cr = self.cr if self.useCrInput else self.CrConstant
        inclination = self.inclination if self.useInclinationInput else self.inclinationConstant
        self.f_nominal = -cr * self.fWeight / ca.sqrt(1 + inclination**2)
        return self.f_nominal * characteristics.sign(self, self.v, self.v0, self.reg)


class Vehicle(Component):
    """Simple vehicle model: mass, wheels and drive train, drag of air and wind, rolling resistance, inclination."""

    modelica_name = "Translational.Components.Vehicle"

    m = Parameter(t.Mass, required, "Total mass of vehicle")
    g = Parameter(t.Acceleration, G_N, "Constant gravity acceleration")
    J = Parameter(t.Inertia, required, "Total rotational inertia of drive train")
    R = Parameter(t.Length, required, "Wheel radius", nonzero=True)
    A = Parameter(t.Area, required, "Cross section of vehicle")
    Cd = Parameter(t.Real, required, "Drag resistance coefficient")
    rho = Parameter(t.Density, 1.2, "Density of air")
    useWindInput = Parameter(t.Boolean, False, "Enable signal input for wind velocity")
    vWindConstant = Parameter(t.Velocity, 0.0, "Constant wind velocity")
    useCrInput = Parameter(t.Boolean, False, "Enable signal input for Cr")
    CrConstant = Parameter(t.Real, 0.015, "Constant rolling resistance coefficient")
    vReg = Parameter(t.Velocity, 1e-3, "Velocity for regularization around 0", min=1e-15)
    useInclinationInput = Parameter(t.Boolean, False, "Enable signal input for inclination")
    inclinationConstant = Parameter(t.Real, 0.0, "Constant inclination = tan(angle)")

    flangeT = TranslationalFlange_b("Translational flange")
    flangeR = Flange_a("Rotational flange")
    inclination = RealInput("Inclination=tan(angle)", when=lambda self: self.useInclinationInput)
    cr = RealInput("Rolling resistance coefficient", when=lambda self: self.useCrInput)
    vWind = RealInput("Wind velocity", type=t.Velocity, when=lambda self: self.useWindInput)
    s = Variable(t.Position, "Position of vehicle")
    v = Variable(t.Velocity, "Velocity of vehicle")
    a = Variable(t.Acceleration, "Acceleration of vehicle")

    def build(self) -> None:
        self.inertia = Inertia(J=self.J)
        self.idealRollingWheel = IdealRollingWheel(radius=self.R)
        self.mass = Mass(m=self.m)
        self.connect(self.flangeR, self.inertia.flange_a)
        self.connect(self.inertia.flange_b, self.idealRollingWheel.flangeR)
        self.connect(self.idealRollingWheel.flangeT, self.mass.flange_a)
        self.connect(self.mass.flange_b, self.flangeT)
        self._drag()
        self._rolling_resistance()
        self._climb()

    def _drag(self) -> None:
        self.fDrag = QuadraticSpeedDependentForce(
            useSupport=True,
            f_nominal=-self.Cd * self.A * self.rho * V_REF**2 / 2,
            ForceDirection=False,
            v_nominal=V_REF,
        )
        self.windSpeed = Speed()
        self.connect(self.fDrag.support, self.windSpeed.flange)
        self.connect(self.mass.flange_b, self.fDrag.flange)
        if self.useWindInput:
            self.connect(self.vWind, self.windSpeed.v_ref)
        else:
            self.constWindSpeed = blocks.Constant(k=self.vWindConstant)
            self.connect(self.constWindSpeed.y, self.windSpeed.v_ref)

    def _rolling_resistance(self) -> None:
        self.fRoll = RollingResistance(
            fWeight=self.m * self.g,
            useCrInput=self.useCrInput,
            CrConstant=self.CrConstant,
            useInclinationInput=self.useInclinationInput,
            inclinationConstant=self.inclinationConstant,
            reg="Linear",
            v0=self.vReg,
        )
        self.connect(self.mass.flange_b, self.fRoll.flange)
        if self.useCrInput:
            self.connect(self.cr, self.fRoll.cr)
        if self.useInclinationInput:
            self.connect(self.inclination, self.fRoll.inclination)

    def _climb(self) -> None:
        self.atan, self.sin, self.gravForceGain = blocks.Atan(), blocks.Sin(), blocks.Gain(k=-self.m * self.g)
        self.fGrav = Force()
        self.connect(self.atan.y, self.sin.u)
        self.connect(self.sin.y, self.gravForceGain.u)
        self.connect(self.gravForceGain.y, self.fGrav.f)
        self.connect(self.mass.flange_b, self.fGrav.flange)
        if self.useInclinationInput:
            self.connect(self.inclination, self.atan.u)
        else:
            self.constInclination = blocks.Constant(k=self.inclinationConstant)
            self.connect(self.constInclination.y, self.atan.u)

    def equations(self) -> None:
        self.s, self.v, self.a = self.mass.s, self.mass.v, self.mass.a


__all__ = ["RollingResistance", "Vehicle"]
