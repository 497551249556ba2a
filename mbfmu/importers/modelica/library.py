"""What is known of the Modelica library beside its component classes: packages, types, connectors, constants.

Component classes are those of mbfmu's registry. The library's partial models, from which models with equations of
their own are derived, are written in interfaces.mo.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import math
import pathlib
from collections.abc import Sequence
from typing import Any

from mbfmu.importers.modelica.making import Found
from mbfmu.importers.modelica.packages import Name, Node
from mbfmu.modeling import (
    BooleanInput,
    BooleanOutput,
    Component,
    Frame_a,
    Frame_b,
    Frame_resolve,
    HeatPort,
    IntegerInput,
    IntegerOutput,
    Pin,
    RealInput,
    RealOutput,
    RotationalFlange,
    TranslationalFlange,
)
from mbfmu.modeling import types as t
from mbfmu.modeling.connectors import Frame, Port
from mbfmu.modeling.registry import component_classes

#: Names that the library's own packages import, for files that lie within one of them but come without it.
ALIASES: dict[str, tuple[str, ...]] = {
    "SI": ("Modelica", "Units", "SI"),
    "Cv": ("Modelica", "Units", "Conversions"),
    "NonSI": ("Modelica", "Units", "NonSI"),
}

#: Enumerations of the language itself, known in every place.
PREDEFINED = ("StateSelect", "AssertionLevel")

#: Older names of packages, longest first.
_RENAMED = (
    (("Modelica", "SIunits", "Conversions", "NonSIunits"), ("Modelica", "Units", "NonSI")),
    (("Modelica", "SIunits", "Conversions"), ("Modelica", "Units", "Conversions")),
    (("Modelica", "SIunits"), ("Modelica", "Units", "SI")),
)

_PACKAGES = """
Blocks: Continuous Discrete Examples Icons Interaction Interfaces Logical Math MathBoolean MathInteger Noise Nonlinear
    Routing Sources Tables Types
ComplexBlocks:
ComplexMath:
Clocked:
Constants:
Electrical: Analog Batteries Digital Machines Polyphase PowerConverters QuasiStatic Spice3
Fluid:
Icons:
Magnetic: FluxTubes FundamentalWave QuasiStatic
Math: FastFourierTransform Icons Matrices Nonlinear Polynomials Random Special Vectors BooleanVectors Distributions
Mechanics: MultiBody Rotational Translational
Mechanics.MultiBody: Examples Forces Frames Icons Interfaces Joints Parts Sensors Types Visualizers
Mechanics.MultiBody.Frames: Quaternions TransformationMatrices Internal
Mechanics.MultiBody.Joints: Assemblies Constraints Internal
Mechanics.MultiBody.Types: Defaults Init RotationTypes GravityTypes ResolveInFrameA ResolveInFrameB ResolveInFrameAB
Mechanics.MultiBody.Visualizers: Advanced Colors Internal
Mechanics.Rotational: Components Examples Icons Interfaces Sensors Sources
Mechanics.Translational: Components Examples Icons Interfaces Sensors Sources
Media:
StateGraph:
Thermal: FluidHeatFlow HeatTransfer
Thermal.HeatTransfer: Celsius Components Examples Fahrenheit Icons Interfaces Rankine Sensors Sources
Units: Conversions Icons NonSI SI
Utilities: Files Streams Strings System
"""


@functools.cache
def _names() -> frozenset[tuple[str, ...]]:
    """Full names of all packages and component classes that are known, with the packages around them."""
    found: set[tuple[str, ...]] = {("Modelica",)}
    package: tuple[str, ...] = ()
    for line in _PACKAGES.strip().splitlines():
        head, colon, rest = line.partition(":")
        if colon:
            package = ("Modelica", *head.split("."))
        for name in (rest if colon else line).split():
            found.add((*package, name))
        found.add(package)
    for name in component_classes():
        full = full_name(name)
        if full[0] == "Modelica":
            found.update(full[:k] for k in range(1, len(full) + 1))
    return frozenset(found)


def full_name(short: str) -> tuple[str, ...]:
    """Modelica name of a component class of the registry, whose names begin below Modelica and Mechanics."""
    names = tuple(short.split("."))
    if names[0] in ("MultiBody", "Rotational", "Translational"):
        return ("Modelica", "Mechanics", *names)
    if ("Modelica", names[0]) in (("Modelica", "Blocks"), ("Modelica", "Thermal"), ("Modelica", "Electrical")):
        return ("Modelica", *names)
    return names


#: Classes whose expandable connectors are sets of signals in Python: files that name them bring the library's text.
_WITH_BUSES = "MultiBody.Examples.Systems.RobotR3."


@functools.cache
def _components() -> dict[tuple[str, ...], type[Component]]:
    return {full_name(name): cls for name, cls in component_classes().items() if not name.startswith(_WITH_BUSES)}


#: Variables of the library that mbfmu's class shows as terms of a sum: of the joints within its aggregated joints.
SUMS = {
    ("MultiBody.Joints.Prismatic", "distance"): ("s_offset", "s"),
}


def component(full: Name) -> type[Component] | None:
    """The component class of a full name."""
    return _components().get(full)


def has(full: Name) -> bool:
    """True where the library is known to have a package or class of this name."""
    return full in _names() or full in _components() or prelude(full) is not None or _is_constant(full)


def _is_constant(full: Name) -> bool:
    return constant(full) is not None or scalar_type(full) is not None or connector(full) is not None


def normalised(found: Found) -> Found:
    """Newer names for older ones; what mbfmu has itself for the library's own text; our partial models."""
    full = found.full
    for old, new in _RENAMED:
        if full[: len(old)] == old:
            full = (*new, *full[len(old) :])
    if full[0] != "Modelica":
        return dataclasses.replace(found, node=None) if component(full) is not None else found
    if component(full) is not None or connector(full) is not None or scalar_type(full) is not None:
        return dataclasses.replace(found, full=full, node=None)
    if full[:2] == ("Modelica", "Constants") and constant(full) is not None:
        return dataclasses.replace(found, full=full, node=None)
    return dataclasses.replace(found, full=full, node=prelude(full) or found.node)


@functools.cache
def _prelude() -> Node:
    from mbfmu.importers.modelica.parser import parse

    resource = importlib.resources.files(__package__).joinpath("interfaces.mo")
    root = Node("", None, None)
    for definition in parse(resource.read_text("utf-8"), pathlib.Path("interfaces.mo")).classes:
        root.put(Node(definition.name, root, definition))
    return root


@functools.cache
def prelude(full: Name) -> Node | None:
    """A partial model, function or record of interfaces.mo."""
    node: Node | None = _prelude()
    for name in full:
        node = node.child(name) if node is not None else None
    if node is None or node.definition is None or node.definition.kind == "package":
        return None
    return node


# -- connectors


_CONNECTORS: dict[str, type[Port]] = {
    "Mechanics.MultiBody.Interfaces.Frame": Frame,
    "Mechanics.MultiBody.Interfaces.Frame_a": Frame_a,
    "Mechanics.MultiBody.Interfaces.Frame_b": Frame_b,
    "Mechanics.MultiBody.Interfaces.Frame_resolve": Frame_resolve,
    "Mechanics.Rotational.Interfaces.Flange_a": RotationalFlange,
    "Mechanics.Rotational.Interfaces.Flange_b": RotationalFlange,
    "Mechanics.Rotational.Interfaces.Support": RotationalFlange,
    "Mechanics.Rotational.Interfaces.InternalSupport": RotationalFlange,
    "Mechanics.Translational.Interfaces.Flange_a": TranslationalFlange,
    "Mechanics.Translational.Interfaces.Flange_b": TranslationalFlange,
    "Mechanics.Translational.Interfaces.Support": TranslationalFlange,
    "Thermal.HeatTransfer.Interfaces.HeatPort": HeatPort,
    "Thermal.HeatTransfer.Interfaces.HeatPort_a": HeatPort,
    "Thermal.HeatTransfer.Interfaces.HeatPort_b": HeatPort,
    "Electrical.Analog.Interfaces.Pin": Pin,
    "Electrical.Analog.Interfaces.PositivePin": Pin,
    "Electrical.Analog.Interfaces.NegativePin": Pin,
    "Blocks.Interfaces.RealInput": RealInput,
    "Blocks.Interfaces.RealOutput": RealOutput,
    "Blocks.Interfaces.BooleanInput": BooleanInput,
    "Blocks.Interfaces.BooleanOutput": BooleanOutput,
    "Blocks.Interfaces.IntegerInput": IntegerInput,
    "Blocks.Interfaces.IntegerOutput": IntegerOutput,
}


def connector(full: Name) -> type[Port] | None:
    """The port class of one of the library's connectors."""
    return _CONNECTORS.get(".".join(full[1:])) if full[0] == "Modelica" else None


# -- types


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A type of scalars, or of arrays of them: the type itself, and dimensions that it brings along."""

    type: t.Type
    dimensions: tuple[int, ...] = ()


_OTHER_UNITS = """
Area m2; Volume m3; Duration s; Period s; AngularFrequency rad/s; Wavelength m; DampingCoefficient 1/s; Jerk m/s3;
AngularJerk rad/s3; Breadth m; Height m; Thickness m; PathLength m; Momentum kg.m/s; AngularMomentum kg.m2/s;
MomentOfInertia kg.m2; MomentOfForce N.m; Weight N; Impulse N.s; AngularImpulse N.m.s; Pressure Pa; AbsolutePressure Pa;
PressureDifference Pa; Stress Pa; NormalStress Pa; ModulusOfElasticity Pa; Work J; KineticEnergy J; PotentialEnergy J;
Heat J; HeatFlux W/m2; MassFlowRate kg/s; VolumeFlowRate m3/s; ThermalConductivity W/(m.K); Curvature 1/m;
CoefficientOfHeatTransfer W/(m2.K); SpecificHeatCapacity J/(kg.K); ThermodynamicTemperature K; DynamicViscosity Pa.s;
LinearExpansionCoefficient 1/K; ElectricCurrent A; Current A; ElectricCharge C; Voltage V; ElectricPotential V;
PotentialDifference V; Capacitance F; Inductance H; Resistance Ohm; Conductance S; MagneticFlux Wb;
MagneticFluxDensity T; ElectricalTorqueConstant N.m/A; Efficiency 1; DimensionlessRatio 1; PerUnit 1; PowerFactor 1;
CoefficientOfFriction 1; SurfaceTension N/m; LinearDensity kg/m; TemperatureSlope K/s; Entropy J/K; Rotation rad
"""

_NON_SI = {
    "Angle_deg": t.Angle_deg,
    "Temperature_degC": t.Temperature_degC,
    "AngularVelocity_rpm": t.Type("AngularVelocity_rpm", unit="rpm", quantity="AngularVelocity"),
    "Velocity_kmh": t.Type("Velocity_kmh", unit="km/h", quantity="Velocity"),
    "Time_day": t.Type("Time_day", unit="d", quantity="Time"),
    "Time_hour": t.Type("Time_hour", unit="h", quantity="Time"),
    "Time_minute": t.Type("Time_minute", unit="min", quantity="Time"),
    "Pressure_bar": t.Type("Pressure_bar", unit="bar", quantity="Pressure"),
    "Mass_gram": t.Type("Mass_gram", unit="g", quantity="Mass"),
    "Energy_kWh": t.Type("Energy_kWh", unit="kW.h", quantity="Energy"),
    "Energy_Wh": t.Type("Energy_Wh", unit="W.h", quantity="Energy"),
}

_BUILTIN = {"Real": t.Real, "Integer": t.Integer, "Boolean": t.Boolean, "String": t.String}

_MULTIBODY_TYPES = {
    "Axis": Scalar(t.Axis, (3,)),
    "AxisLabel": Scalar(t.String),
    "Color": Scalar(t.Color, (3,)),
    "RealColor": Scalar(t.Real, (3,)),
    "RotationSequence": Scalar(t.RotationSequence, (3,)),
    "ShapeType": Scalar(t.ShapeType),
    "ShapeExtra": Scalar(t.ShapeExtra),
    "SpecularCoefficient": Scalar(t.SpecularCoefficient),
    "TranslationalSpringConstant": Scalar(t.TranslationalSpringConstant),
    "ResolveInFrameA": Scalar(t.ResolveInFrameA),
    "ResolveInFrameB": Scalar(t.ResolveInFrameB),
    "ResolveInFrameAB": Scalar(t.ResolveInFrameAB),
    "RotationTypes": Scalar(t.RotationTypes),
    "GravityTypes": Scalar(t.GravityTypes),
}

#: Enumerations by name, with their literals in order.
_ENUMERATIONS: dict[str, tuple[str, ...]] = {
    "StateSelect": t.StateSelect.values,
    "Mechanics.MultiBody.Types.ResolveInFrameA": t.ResolveInFrameA.values,
    "Mechanics.MultiBody.Types.ResolveInFrameB": t.ResolveInFrameB.values,
    "Mechanics.MultiBody.Types.ResolveInFrameAB": t.ResolveInFrameAB.values,
    "Mechanics.MultiBody.Types.RotationTypes": t.RotationTypes.values,
    "Mechanics.MultiBody.Types.GravityTypes": t.GravityTypes.values,
    "Blocks.Types.Init": t.Init.values,
    "Blocks.Types.SimpleController": t.SimpleController.values,
    "Blocks.Types.Smoothness": t.Smoothness.values,
    "Blocks.Types.Extrapolation": t.Extrapolation.values,
    "Blocks.Types.TimeEvents": t.TimeEvents.values,
    "Blocks.Types.AnalogFilter": t.AnalogFilter.values,
    "Blocks.Types.FilterType": t.FilterType.values,
    "Blocks.Types.Regularization": t.Regularization.values,
    "Blocks.Types.LimiterHomotopy": t.LimiterHomotopy.values,
    "Blocks.Types.VariableLimiterHomotopy": t.VariableLimiterHomotopy.values,
    "AssertionLevel": t.AssertionLevel.values,
}


@functools.cache
def _si_units() -> dict[str, str]:
    entries = [entry.split() for entry in _OTHER_UNITS.split(";") if entry.strip()]
    return {entry[0]: entry[1] for entry in entries}


@functools.cache
def scalar_type(full: Name) -> Scalar | None:
    """A predefined type, a unit type or an enumeration of the library."""
    if len(full) == 1:
        if full[0] in _BUILTIN:
            return Scalar(_BUILTIN[full[0]])
        return Scalar(t.Type(full[0], "String", values=_ENUMERATIONS[full[0]])) if full[0] in _ENUMERATIONS else None
    package, name = full[:-1], full[-1]
    if package == ("Modelica", "Units", "SI"):
        known = getattr(t, name, None)
        if isinstance(known, t.Type) and known.base == "Real" and not known.values:
            return Scalar(known)
        return Scalar(t.Type(name, unit=_si_units().get(name), quantity=name))
    if package == ("Modelica", "Units", "NonSI"):
        return Scalar(_NON_SI.get(name) or t.Type(name))
    if package == ("Modelica", "Mechanics", "MultiBody", "Types") and name in _MULTIBODY_TYPES:
        return _MULTIBODY_TYPES[name]
    key = ".".join(full[1:])
    if full[0] == "Modelica" and key in _ENUMERATIONS:
        return Scalar(t.Type(name, "String", values=_ENUMERATIONS[key]))
    return None


class Enumeration(str):
    """A literal of an enumeration: its name, with its place among the literals from 1."""

    ordinal: int
    type_name: str
    #: All literals of the type in their order; empty where they are not known.
    literals: tuple[str, ...]

    def __new__(cls, literal: str, ordinal: int, type_name: str, literals: Sequence[str] = ()) -> Enumeration:
        """A literal by name and place."""
        self = super().__new__(cls, literal)
        self.ordinal, self.type_name, self.literals = ordinal, type_name, tuple(literals)
        return self

    @classmethod
    def all_of(cls, literals: Sequence[str], type_name: str) -> list[Enumeration]:
        """The literals of a type in their order."""
        return [cls(literal, k, type_name, literals) for k, literal in enumerate(literals, 1)]


# -- constants

_CONSTANTS: dict[str, float | int] = {
    "pi": math.pi,
    "e": math.e,
    "D2R": math.pi / 180,
    "R2D": 180 / math.pi,
    "gamma": 0.57721566490153286061,
    "eps": 2.220446049250313e-16,
    "small": 1e-60,
    "inf": 1e60,
    "Integer_inf": 2147483647,
    "c": 299792458.0,
    "g_n": 9.80665,
    "G": 6.67430e-11,
    "q": 1.602176634e-19,
    "F": 96485.33212331001,
    "h": 6.62607015e-34,
    "k": 1.380649e-23,
    "R": 8.31446261815324,
    "sigma": 5.670374419184429e-8,
    "N_A": 6.02214076e23,
    "mu_0": 4 * math.pi * 1.00000000055e-7,
    "epsilon_0": 1 / (4 * math.pi * 1.00000000055e-7 * 299792458.0**2),
    "T_zero": -273.15,
}

_DEFAULTS: dict[str, Any] = {
    "BodyColor": [0, 128, 255],
    "RodColor": [155, 155, 155],
    "JointColor": [255, 0, 0],
    "ForceColor": [0, 128, 0],
    "TorqueColor": [0, 128, 0],
    "SpringColor": [0, 0, 255],
    "GearColor": [0, 128, 255],
    "RotorColor": [0, 0, 255],
    "SensorColor": [255, 255, 0],
    "FrameColor": [0, 0, 0],
    "ArrowColor": [0, 0, 255],
    "FrameHeadLengthFraction": 5.0,
    "FrameHeadWidthFraction": 3.0,
    "FrameLabelHeightFraction": 3.0,
    "ArrowHeadLengthFraction": 4.0,
    "ArrowHeadWidthFraction": 3.0,
    "BodyCylinderDiameterFraction": 3.0,
    "JointRodDiameterFraction": 2.0,
}


def constant(full: Name) -> Any:
    """A constant or an enumeration literal of the library, None where there is none of this name."""
    if full[:2] == ("Modelica", "Constants") and len(full) == 3:
        return _CONSTANTS.get(full[2])
    if full == ("Modelica", "Electrical", "Machines", "Thermal", "Constants", "alpha20Copper"):
        return 3.92e-3  # 1/K, which the library's examples of eddy current brakes ask for
    if full[:-1] == ("Modelica", "Mechanics", "MultiBody", "Types", "Defaults"):
        return _DEFAULTS.get(full[-1])
    enumeration = ".".join(full[1:-1] if full[0] == "Modelica" else full[:-1])
    literals = _ENUMERATIONS.get(enumeration)
    if literals and full[-1] in literals:
        return Enumeration(full[-1], literals.index(full[-1]) + 1, full[-2], literals)
    package = full[:-2]
    if not literals and len(package) > 2 and package[0] == "Modelica" and package[-1] == "Types":
        return Enumeration(full[-1], 0, full[-2])  # of a component class that mbfmu has, which checks it
    return None


def components() -> list[Name]:
    """Full names of all component classes."""
    return list(_components())
