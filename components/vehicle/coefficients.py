"""What stands in a `.tir` file: its keys by section, with unit, default and meaning."""

from __future__ import annotations

from typing import NamedTuple


class Key(NamedTuple):
    """A key of `.tir` files."""

    name: str
    section: str
    default: float
    unit: str
    meaning: str


#: Section, then one key a line: name, default, unit, meaning. "-" is a number without unit.
_TABLE = """
[MODEL]
LONGVL 16.7 m/s speed at which the tyre was measured, V_0
VXLOW 1 m/s speed below which the tyre passes into its standing state
FITTYP 61 - version of the Magic Formula: 6, 21, 51, 52 (MF-Tyre 5), 60, 61, 62

[DIMENSION]
UNLOADED_RADIUS 0.313 m radius of the free tyre, R_0
WIDTH 0.205 m width of the tyre
ASPECT_RATIO 0.6 - height of the side wall over width
RIM_RADIUS 0.19 m radius of the rim
RIM_WIDTH 0.15 m width of the rim

[OPERATING_CONDITIONS]
INFLPRES 220000 Pa inflation pressure; NOMPRES where the file has only that
NOMPRES 220000 Pa nominal inflation pressure, p_i0; INFLPRES where the file has only that

[INERTIA]
MASS 9.3 kg mass of the tyre
IXX 0.391 kg.m2 inertia of the tyre about a diameter
IYY 0.736 kg.m2 inertia of the tyre about its axis

[VERTICAL]
FNOMIN 4000 N nominal load, F_z0
VERTICAL_STIFFNESS 209651 N/m vertical stiffness at the nominal load, c_z0
VERTICAL_DAMPING 50 N.s/m vertical damping
BREFF 8.4 - effective radius: how soon it falls with little load
DREFF 0.27 - effective radius: how much it falls with little load
FREFF 0.07 - effective radius: how much it falls with great load
Q_RE0 1 - radius of the standing free tyre over R_0
Q_V1 0 - growth of the radius with speed
Q_V2 0 - growth of the vertical stiffness with speed
Q_FZ1 0 - linear term of load over deflection; from VERTICAL_STIFFNESS where it is 0
Q_FZ2 0 - quadratic term of load over deflection
Q_FCX 0 - longitudinal force and vertical stiffness
Q_FCY 0 - lateral force and vertical stiffness
Q_FCY2 0 - load in what the lateral force makes of the stiffness (6.2)
Q_CAM1 0 - linear term of deflection with camber (6.2)
Q_CAM2 0 - quadratic term of deflection with camber (6.2)
Q_CAM3 0 - deflection that camber takes away (6.2)
Q_FYS1 0 N/rad camber in what the lateral force makes of the stiffness (6.2)
Q_FYS2 0 N/rad the same, with the loaded radius (6.2)
Q_FYS3 0 N/rad the same, with its square (6.2)
PFZ1 0 - pressure and vertical stiffness
BOTTOM_OFFST 0.01 m distance from the rim at which the tyre bottoms
BOTTOM_STIFF 2e6 N/m stiffness of the bottomed tyre

[CONTACT_PATCH]
Q_RA1 0.671 - half length of the contact patch over R_0: with the root of the deflection over R_0
Q_RA2 0.733 - half length of the contact patch over R_0: with the deflection over R_0
ELLIPS_SHIFT 0.8 - distance of both cams over the length of the contact patch, p_ls
ELLIPS_LENGTH 1 - half length of a cam over R_0, p_ae
ELLIPS_HEIGHT 1 - half height of a cam over R_0, p_be
ELLIPS_ORDER 1.8 - exponent of the ellipse of a cam, p_ce

[STRUCTURAL]
LONGITUDINAL_STIFFNESS 0 N/m longitudinal stiffness of the carcass; 0: relaxation by pTx
LATERAL_STIFFNESS 0 N/m lateral stiffness of the carcass; 0: relaxation by pTy
PCFX1 0 - longitudinal stiffness and load
PCFX2 0 - longitudinal stiffness and the square of load
PCFX3 0 - longitudinal stiffness and pressure
PCFY1 0 - lateral stiffness and load
PCFY2 0 - lateral stiffness and the square of load
PCFY3 0 - lateral stiffness and pressure

[INFLATION_PRESSURE_RANGE]
PRESMIN 10000 Pa least pressure
PRESMAX 1e7 Pa greatest pressure

[VERTICAL_FORCE_RANGE]
FZMIN 100 N least load; below it forces are in proportion of the load
FZMAX 1e6 N greatest load

[LONG_SLIP_RANGE]
KPUMIN -1.5 - least longitudinal slip
KPUMAX 1.5 - greatest longitudinal slip

[SLIP_ANGLE_RANGE]
ALPMIN -1.5 rad least slip angle
ALPMAX 1.5 rad greatest slip angle

[INCLINATION_ANGLE_RANGE]
CAMMIN -0.5 rad least inclination
CAMMAX 0.5 rad greatest inclination

[SCALING_COEFFICIENTS]
LFZO 1 - nominal load
LCX 1 - shape of F_x
LMUX 1 - peak friction of F_x
LEX 1 - curvature of F_x
LKX 1 - slip stiffness
LHX 1 - horizontal shift of F_x
LVX 1 - vertical shift of F_x
LGAX 1 - camber in F_x (5.2)
LCY 1 - shape of F_y
LMUY 1 - peak friction of F_y
LEY 1 - curvature of F_y
LKY 1 - cornering stiffness
LHY 1 - horizontal shift of F_y
LVY 1 - vertical shift of F_y
LGAY 1 - camber in F_y (5.2)
LKYC 1 - camber stiffness of F_y
LTR 1 - pneumatic trail
LRES 1 - residual moment
LGAZ 1 - camber in M_z (5.2)
LKZC 1 - camber stiffness of M_z
LXAL 1 - side slip in F_x
LYKA 1 - longitudinal slip in F_y
LVYKA 1 - F_y from longitudinal slip
LS 1 - arm of F_x about z
LSGKP 1 - relaxation length of F_x
LSGAL 1 - relaxation length of F_y
LMX 1 - overturning moment
LVMX 1 - vertical shift of the overturning moment
LMY 1 - rolling resistance
LMP 1 - moment of turning on the spot
LMUV 0 - how friction falls with the slip speed

[LONGITUDINAL_COEFFICIENTS]
PCX1 1.6 - shape
PDX1 1 - peak friction
PDX2 0 - peak friction and load
PDX3 0 - peak friction and the square of camber
PEX1 0 - curvature
PEX2 0 - curvature and load
PEX3 0 - curvature and the square of load
PEX4 0 - curvature while driving
PKX1 20 - slip stiffness over load
PKX2 0 - slip stiffness and load
PKX3 0 - exponent of slip stiffness and load
PHX1 0 - horizontal shift
PHX2 0 - horizontal shift and load
PVX1 0 - vertical shift over load
PVX2 0 - vertical shift and load
PPX1 0 - slip stiffness and pressure
PPX2 0 - slip stiffness and the square of pressure
PPX3 0 - peak friction and pressure
PPX4 0 - peak friction and the square of pressure
RBX1 0 - combined slip: slope
RBX2 0 - combined slip: slope and longitudinal slip
RBX3 0 - combined slip: slope and camber
RCX1 1 - combined slip: shape
REX1 0 - combined slip: curvature
REX2 0 - combined slip: curvature and load
RHX1 0 - combined slip: shift
PTX1 1 - relaxation length over load (5.2)
PTX2 0 - relaxation length and load (5.2)
PTX3 0 - relaxation length, exponent of load (5.2)

[OVERTURNING_COEFFICIENTS]
QSX1 0 - vertical shift
QSX2 0 - camber
QSX3 0 - lateral force
QSX4 0 - load, lateral force and camber together
QSX5 0 - load, with QSX4
QSX6 0 - load, with QSX4
QSX7 0 - camber, with QSX4
QSX8 0 - lateral force, with QSX4
QSX9 0 - lateral force, with QSX4
QSX10 0 - load and camber
QSX11 0 - load, with QSX10
QSX12 0 - camber times its size (6.2)
QSX13 0 - lateral force (6.2)
QSX14 0 - lateral force and camber (6.2)
PPMX1 0 - camber and pressure

[LATERAL_COEFFICIENTS]
PCY1 1.3 - shape
PDY1 1 - peak friction
PDY2 0 - peak friction and load
PDY3 0 - peak friction and the square of camber
PEY1 0 - curvature
PEY2 0 - curvature and load
PEY3 0 - curvature, its sign
PEY4 0 - curvature and camber
PEY5 0 - curvature and the square of camber
PKY1 -20 - greatest cornering stiffness over the nominal load
PKY2 2 - load of the greatest cornering stiffness, over the nominal one
PKY3 0 - cornering stiffness and camber
PKY4 2 - curvature of the cornering stiffness over load
PKY5 0 - load of the greatest stiffness and the square of camber
PKY6 0 - camber stiffness over load
PKY7 0 - camber stiffness and load
PHY1 0 - horizontal shift
PHY2 0 - horizontal shift and load
PHY3 0 - horizontal shift and camber (5.2)
PVY1 0 - vertical shift over load
PVY2 0 - vertical shift and load
PVY3 0 - vertical shift and camber
PVY4 0 - vertical shift, camber and load
PPY1 0 - cornering stiffness and pressure
PPY2 0 - load of the greatest stiffness and pressure
PPY3 0 - peak friction and pressure
PPY4 0 - peak friction and the square of pressure
PPY5 0 - camber stiffness and pressure
RBY1 0 - combined slip: slope
RBY2 0 - combined slip: slope and slip angle
RBY3 0 - combined slip: slope, shift of the slip angle
RBY4 0 - combined slip: slope and camber
RCY1 1 - combined slip: shape
REY1 0 - combined slip: curvature
REY2 0 - combined slip: curvature and load
RHY1 0 - combined slip: shift
RHY2 0 - combined slip: shift and load
RVY1 0 - force from longitudinal slip
RVY2 0 - the same, and load
RVY3 0 - the same, and camber
RVY4 0 - the same, and slip angle
RVY5 0 - the same: shape
RVY6 0 - the same: slope
PTY1 1 - greatest relaxation length (5.2)
PTY2 0 - load at which it is greatest, over the nominal one (5.2); 0: in proportion of the load

[ROLLING_COEFFICIENTS]
QSY1 0 - rolling resistance over load
QSY2 0 - the same, and longitudinal force
QSY3 0 - the same, and speed
QSY4 0 - the same, and the fourth power of speed
QSY5 0 - the same, and camber
QSY6 0 - the same, camber and load
QSY7 1 - exponent of load
QSY8 0 - exponent of pressure

[ALIGNING_COEFFICIENTS]
QBZ1 10 - trail: slope
QBZ2 0 - trail: slope and load
QBZ3 0 - trail: slope and the square of load
QBZ4 0 - trail: slope and camber
QBZ5 0 - trail: slope and the size of camber
QBZ6 0 - trail: slope and the square of camber
QBZ9 0 - residual moment: slope
QBZ10 0 - residual moment: slope, of the lateral force
QCZ1 1.1 - trail: shape
QDZ1 0 - trail: peak
QDZ2 0 - trail: peak and load
QDZ3 0 - trail: peak and camber
QDZ4 0 - trail: peak and the square of camber
QDZ6 0 - residual moment: peak
QDZ7 0 - residual moment: peak and load
QDZ8 0 - residual moment: camber
QDZ9 0 - residual moment: camber and load
QDZ10 0 - residual moment: camber times its size
QDZ11 0 - residual moment: camber times its size, and load
QEZ1 0 - trail: curvature
QEZ2 0 - trail: curvature and load
QEZ3 0 - trail: curvature and the square of load
QEZ4 0 - trail: curvature, its sign
QEZ5 0 - trail: curvature, its sign and camber
QHZ1 0 - trail: shift
QHZ2 0 - trail: shift and load
QHZ3 0 - trail: shift and camber
QHZ4 0 - trail: shift, camber and load
PPZ1 0 - trail and pressure
PPZ2 0 - residual moment and pressure
SSZ1 0 - arm of F_x over R_0
SSZ2 0 - the same, and lateral force
SSZ3 0 - the same, and camber
SSZ4 0 - the same, camber and load

[TURNSLIP_COEFFICIENTS]
PDXP1 0.4 - peak of F_x and spin
PDXP2 0 - the same, and load
PDXP3 0 - the same, and longitudinal slip
PKYP1 1 - cornering stiffness and spin
PDYP1 0.4 - peak of F_y and spin
PDYP2 0 - the same, and load
PDYP3 0 - the same, and slip angle
PDYP4 0 - the same, root of spin
PHYP1 1 - shift of F_y: shape
PHYP2 0.15 - shift of F_y: peak
PHYP3 0 - shift of F_y: peak and load
PHYP4 -4 - shift of F_y: curvature
PECP1 0.5 - how much less camber counts than turning, epsilon_gamma
PECP2 0 - the same, and load
QDTP1 10 - trail and spin
QCRP1 0.2 - moment of turning on the spot
QCRP2 0.1 - moment of turning at a slip angle of 90 degrees
QBRP1 0.1 - residual moment and spin
QDRP1 1 - moment of spin: shape
QDRP2 0 - moment of spin: curvature
"""


def _read() -> dict[str, Key]:
    found, section = {}, ""
    for line in filter(None, _TABLE.splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
            continue
        name, default, unit, meaning = line.split(" ", 3)
        found[name] = Key(name, section, float(default), unit, meaning)
    return found


#: All keys that equations use, in the order of a file.
KEYS = _read()

#: Other programs' names of keys.
ALIASES = {
    "QRE0": "Q_RE0", "QV1": "Q_V1", "QV2": "Q_V2", "QFZ1": "Q_FZ1", "QFZ2": "Q_FZ2", "QFCX": "Q_FCX", "QFCY": "Q_FCY",
    "QFCX1": "Q_FCX", "QFCY1": "Q_FCY", "QPFZ1": "PFZ1", "IP": "INFLPRES", "IP_NOM": "NOMPRES",
}  # fmt: skip

_OTHER = """
FILE_TYPE FILE_VERSION FILE_FORMAT LENGTH FORCE ANGLE MASS TIME PRESSURE PROPERTY_FILE_FORMAT TYRESIDE USE_MODE
USER_SUB_ID N_TIRE_STATES HMAX_LOCAL TIME_SWITCH_INTEG ROAD_INCREMENT ROAD_DIRECTION FUNCTION_NAME SWITCH_INTEG TYPE
LTRMAN VERSION MCFLAG BELT_MASS BELT_IXX BELT_IYY GRAVITY MC_CONTOUR_A MC_CONTOUR_B Q_CAM YAW_STIFFNESS FREQ_LONG
FREQ_LAT FREQ_YAW FREQ_WINDUP DAMP_LONG DAMP_LAT DAMP_YAW DAMP_WINDUP DAMP_RESIDUAL DAMP_VLOW Q_BVX Q_BVT PCMZ1
Q_RB1 Q_RB2 Q_A1 Q_A2 ELLIPS_MAX_STEP ELLIPS_NWIDTH ELLIPS_NLENGTH ENV_C1 ENV_C2 LGYR MFSAFE1 MFSAFE2 MFSAFE3 QTZ1
MBELT VERTICAL_STIFFNESS_CORRECTION RATIO TYRE_MASS_CORRECTION
"""
#: Keys of such files that describe what is not part of these equations: kept, and written back, without a word.
OTHER = frozenset(_OTHER.split())

__all__ = ["ALIASES", "KEYS", "OTHER", "Key"]
