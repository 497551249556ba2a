"""Physical types of parameters and variables, under their Modelica names (Modelica.Units.SI, MultiBody.Types).

A type carries what Modelica writes into it once: unit, display unit, quantity and bounds. Declarations refer to it, so
that no unit is written twice.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Literal, get_args

from mbfmu.errors import ModelError

Base = Literal["Real", "Integer", "Boolean", "String"]


@dataclasses.dataclass(frozen=True)
class Type:
    """A scalar type: FMI base type, unit, and for enumerations the allowed values in Modelica's order."""

    name: str
    base: Base = "Real"
    unit: str | None = None
    display_unit: str | None = None
    quantity: str | None = None
    min: float | None = None
    max: float | None = None
    nominal: float | None = None
    values: tuple[str, ...] = ()
    #: True where neighbours in a vector must differ.
    distinct: bool = False
    #: Where a search begins for what has no start value of its own.
    start: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what no type can have."""
        if self.base not in get_args(Base):
            raise ModelError(f"the type {self.name}: its base {self.base!r:.60} is none of {', '.join(get_args(Base))}")
        for name in ("unit", "display_unit", "quantity"):
            text = getattr(self, name)
            if not (text is None or isinstance(text, str)):
                raise ModelError(f"the type {self.name}: {name} = {text!r:.60} is no text; write it in quotes")


def _si(
    name: str, unit: str, quantity: str | None = None, display_unit: str | None = None, min: float | None = None
) -> Type:
    return Type(name, "Real", unit, display_unit, quantity or name, min)


def rate_unit(unit: str | None) -> str | None:
    """Unit of the time derivative of what has a unit: `rad/s2` of `rad/s`, `N.m/(rad.s)` of `N.m/rad`."""
    if unit is None:
        return None
    above, _, below = _DIFFERENCES.get(unit, unit).partition("/")
    factors = below.strip("()").split(".") if below else []
    for place, factor in enumerate(factors):
        if factor == "s" or (factor.startswith("s") and factor[1:].isdigit()):
            factors[place] = f"s{int(factor[1:] or 1) + 1}"
            break
    else:
        factors.append("s")
    return f"{above}/{factors[0]}" if len(factors) == 1 else f"{above}/({'.'.join(factors)})"


#: Units of differences of what has a unit with an offset.
_DIFFERENCES = {"degC": "K", "degF": "degRk"}

Real = Type("Real")
Dimensionless = Type("Dimensionless", unit="1")
Integer = Type("Integer", "Integer")
Boolean = Type("Boolean", "Boolean")
String = Type("String", "String")

Time = _si("Time", "s")
Frequency = _si("Frequency", "Hz")
Angle = _si("Angle", "rad", display_unit="deg")
Angle_deg = Type("Angle_deg", unit="deg", quantity="Angle")
AngularVelocity = _si("AngularVelocity", "rad/s", display_unit="rpm")
YawVelocity = _si("YawVelocity", "rad/s", "AngularVelocity", display_unit="deg/s")
AngularAcceleration = _si("AngularAcceleration", "rad/s2")
Position = _si("Position", "m", "Length")
Length = _si("Length", "m")
Distance = _si("Distance", "m", "Length", min=0.0)
Radius = _si("Radius", "m", "Length", min=0.0)
Diameter = _si("Diameter", "m", "Length", min=0.0)
Velocity = _si("Velocity", "m/s")
Acceleration = _si("Acceleration", "m/s2")
Mass = _si("Mass", "kg", min=0.0)
Density = _si("Density", "kg/m3", min=0.0)
Inertia = _si("Inertia", "kg.m2", "MomentOfInertia")
Force = _si("Force", "N")
Torque = _si("Torque", "N.m")
Power = _si("Power", "W")
Pressure = _si("Pressure", "Pa", display_unit="bar")
Volume = _si("Volume", "m3")
Area = _si("Area", "m2")
Energy = _si("Energy", "J")
RotationalSpringConstant = _si("RotationalSpringConstant", "N.m/rad")
RotationalDampingConstant = _si("RotationalDampingConstant", "N.m.s/rad")
TranslationalSpringConstant = _si("TranslationalSpringConstant", "N/m")
TranslationalDampingConstant = _si("TranslationalDampingConstant", "N.s/m")
Temperature = Type("Temperature", "Real", "K", "degC", "ThermodynamicTemperature", 0.0, nominal=300.0, start=288.15)
Temperature_degC = Type("Temperature_degC", "Real", "degC", None, "ThermodynamicTemperature")
Temperature_degF = Type("Temperature_degF", "Real", "degF", None, "ThermodynamicTemperature")
Temperature_degRk = Type("Temperature_degRk", "Real", "degRk", None, "ThermodynamicTemperature", 0.0)
TemperatureSlope = _si("TemperatureSlope", "K/s")
TemperatureDifference = _si("TemperatureDifference", "K", "ThermodynamicTemperature")
LinearTemperatureCoefficient = _si("LinearTemperatureCoefficient", "1/K")
HeatFlowRate = _si("HeatFlowRate", "W", "Power")
HeatCapacity = _si("HeatCapacity", "J/K")
ThermalConductance = _si("ThermalConductance", "W/K")
ThermalResistance = _si("ThermalResistance", "K/W")
Voltage = _si("Voltage", "V", "ElectricPotential")
ElectricPotential = _si("ElectricPotential", "V")
Current = _si("Current", "A", "ElectricCurrent")
Resistance = _si("Resistance", "Ohm")
Conductance = _si("Conductance", "S")
Capacitance = _si("Capacitance", "F", min=0.0)
Inductance = _si("Inductance", "H")
ElectricCharge = _si("ElectricCharge", "C")
MagneticFlux = _si("MagneticFlux", "Wb")
ElectricalTorqueConstant = _si("ElectricalTorqueConstant", "N.m/A")
ElectricalForceConstant = _si("ElectricalForceConstant", "N/A")
GravitationalParameter = Type("GravitationalParameter", unit="m3/s2", quantity="GravitationalParameter", min=0.0)

Axis = Type("Axis", unit="1")
#: Numbers of axes to turn about, one after the other; of a RotationSequence neighbours differ, so that there are angles
#: for every orientation.
AxisNumbers = Type("RotationSequence", "Integer", min=1, max=3)
RotationSequence = Type("RotationSequence", "Integer", min=1, max=3, distinct=True)
Color = Type("Color", "Integer", min=0, max=255)
SpecularCoefficient = Type("SpecularCoefficient", min=0.0)
ShapeType = Type("ShapeType", "String")
#: Functions of Visualizers.Colors.ColorMaps, by name.
ColorMap = Type("ColorMap", "String", values=("jet", "hot", "gray", "spring", "summer", "autumn", "winter"))
VectorQuantity = Type(
    "VectorQuantity",
    "String",
    values=(
        "Force",
        "Torque",
        "Velocity",
        "Acceleration",
        "AngularVelocity",
        "AngularAcceleration",
        "RelativePosition",
    ),
)
ShapeExtra = Type("ShapeExtra")
#: An orientation object (frames.Orientation); its scalars are `R.T[i,j]` and `R.w[i]`.
Orientation = Type("Orientation")

#: Modelica's StateSelect, weakest first.
StateSelect = Type("StateSelect", "String", values=("never", "avoid", "default", "prefer", "always"))
RotationTypes = Type("RotationTypes", "String", values=("RotationAxis", "TwoAxesVectors", "PlanarRotationSequence"))
GravityTypes = Type("GravityTypes", "String", values=("NoGravity", "UniformGravity", "PointGravity"))
ResolveInFrameA = Type("ResolveInFrameA", "String", values=("world", "frame_a", "frame_resolve"))
ResolveInFrameB = Type("ResolveInFrameB", "String", values=("world", "frame_b", "frame_resolve"))
ResolveInFrameAB = Type("ResolveInFrameAB", "String", values=("world", "frame_a", "frame_b", "frame_resolve"))
Init = Type("Init", "String", values=("NoInit", "SteadyState", "InitialState", "InitialOutput"))
SimpleController = Type("SimpleController", "String", values=("P", "PI", "PD", "PID"))
Smoothness = Type(
    "Smoothness",
    "String",
    values=(
        "LinearSegments",
        "ContinuousDerivative",
        "ConstantSegments",
        "MonotoneContinuousDerivative1",
        "MonotoneContinuousDerivative2",
        "ModifiedContinuousDerivative",
    ),
)
Extrapolation = Type(
    "Extrapolation", "String", values=("HoldLastPoint", "LastTwoPoints", "Periodic", "NoExtrapolation")
)
AssertionLevel = Type("AssertionLevel", "String", values=("warning", "error"))
TimeEvents = Type("TimeEvents", "String", values=("Always", "AtDiscontinuities", "NoTimeEvents"))
AnalogFilter = Type("AnalogFilter", "String", values=("CriticalDamping", "Bessel", "Butterworth", "ChebyshevI"))
FilterType = Type("FilterType", "String", values=("LowPass", "HighPass", "BandPass", "BandStop"))
Regularization = Type("Regularization", "String", values=("Exp", "Sine", "Linear", "Cosine"))
LimiterHomotopy = Type("LimiterHomotopy", "String", values=("NoHomotopy", "Linear", "UpperLimit", "LowerLimit"))
VariableLimiterHomotopy = Type("VariableLimiterHomotopy", "String", values=("NoHomotopy", "Linear", "Fixed"))

INFINITY = math.inf
