"""Direct-current motor under control of current and speed, a geared load, and the heat of its winding."""

from mbfmu.components import blocks, electrical, rotational, thermal
from mbfmu.modeling import Assembly, Start


class MotorDrive(Assembly):
    """Direct-current motor that turns a geared load under control of current and speed; its winding warms up."""

    stop_time = 2.0

    def __init__(self, speed=100.0, load=-20.0):
        """`speed` of the motor [rad/s] that it runs up to; `load`, torque [N.m] behind the gear from 1.2 s on."""
        at_rest = {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True)}
        self.reference = blocks.Ramp(height=speed, duration=0.5, startTime=0.1)
        self.speedController = blocks.LimPID(controllerType="PI", k=1.0, Ti=0.1, yMax=20.0, wd=0.0)
        self.currentController = blocks.LimPID(controllerType="PI", k=5.0, Ti=0.02, yMax=48.0, wd=0.0)
        self.supply, self.ground = electrical.SignalVoltage(), electrical.Ground()
        self.winding = electrical.Resistor(R=0.4, alpha=3.9e-3, T_ref=293.15, useHeatPort=True)
        self.inductance = electrical.Inductor(L=2e-3, i=Start(0.0, fixed=True))
        self.emf = electrical.RotationalEMF(k=0.25)
        self.ammeter, self.tachometer = electrical.CurrentSensor(), rotational.SpeedSensor()
        self.rotor, self.gear = rotational.Inertia(J=0.01, **at_rest), rotational.IdealGear(ratio=10.0)
        self.bearing = rotational.BearingFriction(tau_pos=[[0.0, 1.0], [10.0, 1.5]], peak=1.2)
        self.machine = rotational.Inertia(J=2.0)
        self.cut = rotational.TorqueStep(stepTorque=load, offsetTorque=0.0, startTime=1.2)
        self.copper = thermal.HeatCapacitor(C=40.0, T=Start(293.15, fixed=True))
        self.housing, self.air = thermal.ThermalConductor(G=0.8), thermal.FixedTemperature(T=293.15)
        for a, b in (
            (self.supply.p, self.winding.p),
            (self.winding.n, self.inductance.p),
            (self.inductance.n, self.emf.p),
            (self.emf.n, self.ammeter.p),
            (self.ammeter.n, self.supply.n),
            (self.supply.n, self.ground.p),
            (self.emf.flange, self.rotor.flange_a),
            (self.rotor.flange_a, self.tachometer.flange),
            (self.rotor.flange_b, self.gear.flange_a),
            (self.gear.flange_b, self.bearing.flange_a),
            (self.bearing.flange_b, self.machine.flange_a),
            (self.cut.flange, self.machine.flange_b),
            (self.reference.y, self.speedController.u_s),
            (self.tachometer.w, self.speedController.u_m),
            (self.speedController.y, self.currentController.u_s),
            (self.ammeter.i, self.currentController.u_m),
            (self.currentController.y, self.supply.v),
            (self.winding.heatPort, self.copper.port),
            (self.copper.port, self.housing.port_a),
            (self.housing.port_b, self.air.port),
        ):
            self.connect(a, b)
        self.output(self.rotor.w)
        self.output(self.inductance.i)
        self.output(self.supply.v)
        self.output(self.copper.T)
        self.figure("Speed", [self.rotor.w])
        self.figure("Supply", [self.inductance.i, self.supply.v])
        self.figure("Heat", [self.copper.T])
