"""Vehicles: tyres by the Magic Formula, wheels that slip, roads."""

from mbfmu.components.vehicle.brakes import DiscBrake, DiscCooling
from mbfmu.components.vehicle.cars import Car, DoubleWishboneCar, Driver, MacPhersonCar
from mbfmu.components.vehicle.road_files import CRG, read_crg
from mbfmu.components.vehicle.roads import CRGRoad, FunctionRoad, GridRoad, Road, Slope, Step
from mbfmu.components.vehicle.suspensions import Bushing, DoubleWishbone, FiveLink, MacPherson, Suspension
from mbfmu.components.vehicle.tyre_files import TyreData, parse_tir, read_tir
from mbfmu.components.vehicle.tyres import SlipForce, SlipWheel, Tyre, TyreWheel

__all__ = [
    "CRG",
    "Bushing",
    "CRGRoad",
    "Car",
    "DiscBrake",
    "DiscCooling",
    "DoubleWishbone",
    "DoubleWishboneCar",
    "Driver",
    "FiveLink",
    "FunctionRoad",
    "GridRoad",
    "MacPherson",
    "MacPhersonCar",
    "Road",
    "SlipForce",
    "SlipWheel",
    "Slope",
    "Step",
    "Suspension",
    "Tyre",
    "TyreData",
    "TyreWheel",
    "parse_tir",
    "read_crg",
    "read_tir",
]
