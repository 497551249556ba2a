"""Gears with losses in mesh and bearings (Modelica.Mechanics.Rotational.Components.LossyGear, Gearbox 4.1)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.friction import StickSlip
from mbfmu.components.interpolation import look_up
from mbfmu.components.losses import LossPower
from mbfmu.components.rotational.components import ElastoBacklash
from mbfmu.components.rotational.friction import AngularImpulse
from mbfmu.components.rotational.interfaces import (
    PartialElementaryTwoFlangesAndSupport2,
    PartialSupport,
    PartialTwoFlanges,
)
from mbfmu.errors import ModelError
from mbfmu.modeling import required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Speed, Variable, is_expression

#: A gear without losses.
IDEAL = ((0.0, 1.0, 1.0, 0.0, 0.0),)
#: Efficiencies that differ less from 1 are 1, so that friction cannot be split between the shafts.
EPSILON = 2.2e-16


_EFFICIENCIES = "efficiencies, the second and third column, are at most 1 and not 0; 1 is a gear without losses"


class LossyGear(StickSlip, PartialElementaryTwoFlangesAndSupport2):
    """Gear with mesh efficiency and bearing friction (stuck/rolling possible).

    The loss torque acts at flange_a: flange_b.tau = -ratio (flange_a.tau - tauLoss). Rolling forward it is
    (1 - eta_mf1) flange_a.tau + tau_bf1 while flange_a drives, and (1 - 1/eta_mf2) flange_a.tau + tau_bf2 while
    flange_b does; backward both bearing torques change sign, and so does which flange drives (Pelchen, Schweiger and
    Otter, Modelica conference 2002). The gear is stuck while the loss lies between those of both directions at rest.
    """

    modelica_name = "Rotational.Components.LossyGear"

    ratio = Parameter(t.Real, required, "Transmission ratio (flange_a.phi/flange_b.phi)", nonzero=True)
    lossTable = Parameter(
        t.Real,
        IDEAL,
        "Rows of |w_a| [rad/s], eta_mf1, eta_mf2, |tau_bf1| [N.m], |tau_bf2| [N.m]: efficiency of the mesh and "
        "friction of the bearings with flange_a (1) or flange_b (2) driving",
        shape=None,
    )
    smoothness = Parameter(t.Smoothness, "LinearSegments", "Smoothness of interpolation in lossTable table")

    impulse = Speed(AngularImpulse, "Time integral of the torque loss", start=0.0, fixed=True)
    phi_a = Variable(t.Angle, "Angle between left shaft flange and support")
    phi_b = Variable(t.Angle, "Angle between right shaft flange and support")
    w_a = Variable(t.AngularVelocity, "Angular velocity of flange_a with respect to support")
    a_a = Variable(t.AngularAcceleration, "Angular acceleration of flange_a with respect to support")
    interpolation_result = Variable(
        t.Real, "Result of interpolation in lossTable (= [eta_mf1, eta_mf2, tau_bf1, tau_bf2])", shape=(1, 4)
    )
    eta_mf1 = Variable(t.Dimensionless, "Mesh efficiency in case that flange_a is driving")
    eta_mf2 = Variable(t.Dimensionless, "Mesh efficiency in case that flange_b is driving")
    tau_bf1 = Variable(t.Torque, "Bearing friction, seen from flange_a, in case that flange_a is driving")
    tau_bf2 = Variable(t.Torque, "Bearing friction, seen from flange_a, in case that flange_b is driving")
    tau_bf_a = Variable(t.Torque, "Bearing friction torque on flange_a side")
    tau_eta = Variable(t.Torque, "Torque in the mesh, seen from flange_a: its sign tells which flange drives")
    tau_eta_p = Variable(t.Torque, "tau_eta assuming positive speed")
    tau_eta_m = Variable(t.Torque, "tau_eta assuming negative speed")
    quadrant1 = Variable(t.Torque, "Torque loss if w_a > 0 and flange_a drives")
    quadrant2 = Variable(t.Torque, "Torque loss if w_a > 0 and flange_b drives")
    quadrant3 = Variable(t.Torque, "Torque loss if w_a < 0 and flange_a drives")
    quadrant4 = Variable(t.Torque, "Torque loss if w_a < 0 and flange_b drives")
    quadrant1_p = Variable(t.Torque, "Torque loss at w_a = 0+ if flange_a drives")
    quadrant2_p = Variable(t.Torque, "Torque loss at w_a = 0+ if flange_b drives")
    quadrant3_m = Variable(t.Torque, "Torque loss at w_a = 0- if flange_a drives")
    quadrant4_m = Variable(t.Torque, "Torque loss at w_a = 0- if flange_b drives")
    tauLoss = Variable(t.Torque, "Torque loss due to friction in the gear teeth and in the bearings")
    tauLossMax = Variable(t.Torque, "Torque loss for positive speed")
    tauLossMin = Variable(t.Torque, "Torque loss for negative speed")
    tauLossMax_p = Variable(t.Torque, "Torque loss at w_a = 0+, beyond which the gear begins to roll forward")
    tauLossMin_m = Variable(t.Torque, "Torque loss at w_a = 0-, beyond which the gear begins to roll backward")
    tau_etaPos = Variable(t.Boolean, "= true, if torque tau_eta is not negative")
    tau_aPos = Variable(t.Boolean, "= tau_etaPos")
    ideal = Variable(t.Boolean, "= true, if losses are neglected (that is lossTable = [0, 1, 1, 0, 0])")

    def check_values(self) -> None:
        super().check_values()
        self.check_table("lossTable", columns=5)
        table = self.value("lossTable")
        if is_expression(table):
            return
        if ((table[:, 1:3] > 1) | (table[:, 1:3] == 0)).any():
            raise ModelError(f"{self.where}.lossTable = {table.tolist()}: {_EFFICIENCIES}")
        if (table[:, 3:] < 0).any():
            raise ModelError(f"{self.where}.lossTable = {table.tolist()}: torques of friction are not negative")

    def equations(self) -> None:
        self.require(1 - ca.vec(self.lossTable[:, 1:3]), f"lossTable: {_EFFICIENCIES}")
        self.phi_a = self.flange_a.phi - self.phi_support
        self.phi_b = self.flange_b.phi - self.phi_support
        self.relation(self.phi_a - self.ratio * self.phi_b)
        self.w_a = self.der(self.phi_a)
        self.a_a = self.der(self.w_a)
        self.tauLoss = self.friction
        self.flange_a.tau = self.tauLoss
        self.react(-self.tauLoss)
        table, driven = self.lossTable, self.flange_a.tau
        same = ca.sumsqr(table[0, :] - ca.SX(IDEAL[0]).T) == 0
        self.ideal = same if self.shape_of("lossTable")[0] == 1 else 0.0
        self._efficiencies()
        self._losses_at_rest(driven)
        self._losses(driven)
        lossless = self.ideal > 0.5
        self.stick_or_slide(
            self.w_a,
            forward=self.tauLossMax,
            backward=self.tauLossMin,
            most=ca.if_else(lossless, 0, self.tauLossMax_p),
            least=ca.if_else(lossless, 0, self.tauLossMin_m),
            free=self.ideal,
        )

    def _efficiencies(self) -> None:
        """Equations of efficiencies and bearing torques at the present speed."""
        table, rows = self.lossTable, range(self.shape_of("lossTable")[0])
        values = [table[i, 1:].T for i in rows]
        at_speed = look_up(self, ca.fabs(self.w_a), [table[i, 0] for i in rows], values, self.smoothness)
        if len(rows) > 1:
            of_table, bearings = at_speed[:2], at_speed[2:]
            self.require(
                ca.vertcat(1 - of_table, of_table * ca.SX(table[0, 1:3]).T, bearings),
                "at this speed lossTable goes on to efficiencies that no gear has, or to negative friction: add rows "
                "up to the greatest speed, the last two of them equal, so that losses stay what they are there",
            )
        self.interpolation_result = at_speed.T
        self.eta_mf1, self.eta_mf2, self.tau_bf1, self.tau_bf2 = _amounts(at_speed)
        self.tau_bf_a = _bearing_a(self.eta_mf1, self.eta_mf2, self.tau_bf1, self.tau_bf2)

    def _losses_at_rest(self, driven: Any) -> None:
        """Equations of the losses at rest, between which the gear is stuck."""
        eta1, eta2, bearing1, bearing2 = _amounts(self.lossTable[0, 1:].T)
        bearing_a = _bearing_a(eta1, eta2, bearing1, bearing2)
        self.tau_eta_p, self.tau_eta_m = driven - bearing_a, driven + bearing_a
        self.quadrant1_p = (1 - eta1) * driven + bearing1
        self.quadrant2_p = (1 - 1 / eta2) * driven + bearing2
        self.quadrant3_m = (1 - eta1) * driven - bearing1
        self.quadrant4_m = (1 - 1 / eta2) * driven - bearing2
        self.tauLossMax_p = ca.if_else(self.tau_eta_p > 0, self.quadrant1_p, self.quadrant2_p)
        self.tauLossMin_m = ca.if_else(self.tau_eta_m > 0, self.quadrant4_m, self.quadrant3_m)

    def _losses(self, driven: Any) -> None:
        """Equations of the losses while rolling."""
        self.quadrant1 = (1 - self.eta_mf1) * driven + self.tau_bf1
        self.quadrant2 = (1 - 1 / self.eta_mf2) * driven + self.tau_bf2
        self.quadrant3 = (1 - self.eta_mf1) * driven - self.tau_bf1
        self.quadrant4 = (1 - 1 / self.eta_mf2) * driven - self.tau_bf2
        drives_forward = self.switch(driven - self.tau_bf_a, 1, 0)
        drives_backward = self.switch(driven + self.tau_bf_a, 1, 0)
        self.tauLossMax = ca.if_else(drives_forward > 0.5, self.quadrant1, self.quadrant2)
        self.tauLossMin = ca.if_else(drives_backward > 0.5, self.quadrant4, self.quadrant3)

    def stick_or_slide(self, speed: ca.SX, **laws: Any) -> None:
        """As in StickSlip, with what tells the driving side."""
        super().stick_or_slide(speed, **laws)
        direction = ca.if_else(ca.logic_or(self.locked, self.ideal), 0, ca.if_else(self.friction >= 0, 1, -1))
        self.tau_eta = self.flange_a.tau - direction * self.tau_bf_a
        self.tau_aPos = self.tau_etaPos = self.tau_eta >= 0


def _amounts(row: Any) -> tuple[Any, ...]:
    eta1, eta2, bearing1, bearing2 = ca.vertsplit(row)
    return eta1, eta2, ca.fabs(bearing1), ca.fabs(bearing2)


def _bearing_a(eta1: Any, eta2: Any, bearing1: Any, bearing2: Any) -> Any:
    """Part of the bearing friction at flange_a: from bearing1 = eta1 a + b and bearing2 = a/eta2 + b.

    Without losses in the mesh it cannot be told from the rest, and is half of it.
    """
    whole = ca.logic_and(ca.fabs(eta1 - 1) <= EPSILON, ca.fabs(eta2 - 1) <= EPSILON)
    return ca.if_else(whole, bearing1 / 2, (bearing1 - bearing2) / ca.if_else(whole, 1, eta1 - 1 / eta2))


class Gearbox(PartialSupport, PartialTwoFlanges):
    """Realistic model of a gearbox (based on LossyGear): losses, then elasticity with backlash at flange_b."""

    modelica_name = "Rotational.Components.Gearbox"

    ratio = Parameter(t.Real, required, "Transmission ratio (flange_a.phi/flange_b.phi)", nonzero=True)
    lossTable = Parameter(
        t.Real, IDEAL, "Array for mesh efficiencies and bearing friction depending on speed (see LossyGear)", shape=None
    )
    c = Parameter(t.RotationalSpringConstant, required, "Gear elasticity (spring constant)", min=1e-60)
    d = Parameter(t.RotationalDampingConstant, required, "Gear damping (relative damping)", min=0)
    b = Parameter(t.Angle, 0.0, "Total backlash", min=0)
    stateSelect = Parameter(t.StateSelect, "prefer", "Priority to use phi_rel and w_rel as states")
    useHeatPort = LossPower.useHeatPort
    heatPort = LossPower.heatPort

    phi_rel = Variable(
        t.Angle, "Relative rotation angle over gear elasticity (= flange_b.phi - lossyGear.flange_b.phi)"
    )
    w_rel = Variable(t.AngularVelocity, "Relative angular velocity over gear elasticity (= der(phi_rel))")
    a_rel = Variable(t.AngularAcceleration, "Relative angular acceleration over gear elasticity (= der(w_rel))")

    def build(self) -> None:
        self.lossyGear = LossyGear(
            ratio=self.ratio, lossTable=self.lossTable, useSupport=self.useSupport, useHeatPort=self.useHeatPort
        )
        self.elastoBacklash = ElastoBacklash(
            c=self.c, d=self.d, b=self.b, stateSelect=self.stateSelect, useHeatPort=self.useHeatPort
        )
        self.connect(self.flange_a, self.lossyGear.flange_a)
        self.connect(self.lossyGear.flange_b, self.elastoBacklash.flange_a)
        self.connect(self.elastoBacklash.flange_b, self.flange_b)
        if self.useSupport:
            self.connect(self.lossyGear.support, self.support)
        if self.useHeatPort:
            self.connect(self.lossyGear.heatPort, self.heatPort)
            self.connect(self.elastoBacklash.heatPort, self.heatPort)

    def modify(self, **modifiers: Any) -> None:
        """Take values; start values of phi_rel, w_rel and a_rel are those of the elasticity."""
        starts = {name: modifiers.pop(name) for name in ("phi_rel", "w_rel", "a_rel") if name in modifiers}
        super().modify(**modifiers)
        if starts:
            self.elastoBacklash.modify(**starts)

    def equations(self) -> None:
        self.phi_rel = self.elastoBacklash.phi_rel
        self.w_rel = self.elastoBacklash.w_rel
        self.a_rel = self.elastoBacklash.a_rel


__all__ = ["Gearbox", "LossyGear"]
