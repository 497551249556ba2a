"""One-dimensional translational mechanics (Modelica.Mechanics.Translational 4.0)."""

from mbfmu.components.translational.components import Damper, Fixed, Mass, Rod, Spring, SpringDamper
from mbfmu.components.translational.sensors import (
    AccSensor,
    ForceSensor,
    MultiSensor,
    PositionSensor,
    PowerSensor,
    RelAccSensor,
    RelPositionSensor,
    RelSpeedSensor,
    SpeedSensor,
)
from mbfmu.components.translational.sources import (
    Accelerate,
    ConstantForce,
    ConstantSpeed,
    Force,
    Force2,
    ForceStep,
    LinearSpeedDependentForce,
    Position,
    QuadraticSpeedDependentForce,
    Speed,
)

__all__ = [
    "AccSensor",
    "Accelerate",
    "ConstantForce",
    "ConstantSpeed",
    "Damper",
    "Fixed",
    "Force",
    "Force2",
    "ForceSensor",
    "ForceStep",
    "LinearSpeedDependentForce",
    "Mass",
    "MultiSensor",
    "Position",
    "PositionSensor",
    "PowerSensor",
    "QuadraticSpeedDependentForce",
    "RelAccSensor",
    "RelPositionSensor",
    "RelSpeedSensor",
    "Rod",
    "Speed",
    "SpeedSensor",
    "Spring",
    "SpringDamper",
]
