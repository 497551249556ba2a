"""Tyres: forces of the Magic Formula beside other programs that compute it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from mbfmu.components.vehicle import TyreData, magic_formula
from problems.problem import Problem, Solution

COMMONROAD = (
    "M. Althoff, G. Wuersching, CommonRoad: Vehicle Models (2020), table 7, computed by commonroad-vehicle-models "
    "3.0.2 (its shifts are zero without camber)"
)
MFEVAL = (
    "M. Furlan, MFeval 4 (MATLAB Central 63618), the set of coefficients MagicFormula62_Parameters.tir that comes with "
    "it; forces by MagicFormula.py of BrianN92/Pacejka-tire-model, moments by the equations of MFeval.jl 2026"
)

#: Without camber, at the load of the set: what its table has no coefficients for does nothing.
CAR = TyreData(
    {
        "FNOMIN": 4000.0,
        "PCY1": 1.3507,
        "PDY1": 1.0489,
        "PDY3": -2.8821,
        "PEY1": -0.0074722,
        "PKY1": -21.92,
        "PKY2": 1.0,
    },
    version="MF52",
    name="commonroad",
)
MF62 = TyreData(
    dict(  # noqa: C408 - as a file has them
        LONGVL=16.6, VXLOW=1.0, UNLOADED_RADIUS=0.3943, WIDTH=0.255, ASPECT_RATIO=0.55, RIM_RADIUS=0.254,
        RIM_WIDTH=0.2159, INFLPRES=260000.0, NOMPRES=260000.0, FNOMIN=6752.0, VERTICAL_STIFFNESS=314931.2969,
        VERTICAL_DAMPING=500.0, BREFF=6.217, DREFF=0.23778, FREFF=0.080544, Q_RE0=0.9997, Q_V1=0.00062028,
        Q_V2=0.034092, Q_FZ2=20.7558, Q_FCX=-0.020112, Q_FCY=0.26033, PFZ1=0.88241, Q_FCY2=-0.4751, Q_CAM1=85.19,
        Q_CAM2=257.4, Q_CAM3=0.5119, Q_FYS1=-20496.4, Q_FYS2=-60000.0, Q_FYS3=88211.7, BOTTOM_OFFST=0.01,
        BOTTOM_STIFF=2000000.0, LONGITUDINAL_STIFFNESS=391219.8116, LATERAL_STIFFNESS=189871.776, PCFX1=0.14171,
        PCFX2=-0.16104, PCFX3=0.21776, PCFY1=-0.2334, PCFY2=0.068881, PCFY3=0.69715, PRESMIN=200000.0, PRESMAX=400000.0,
        FZMAX=18000.0, KPUMIN=-1.0, KPUMAX=1.0, ALPMIN=-0.96, ALPMAX=0.96, CAMMIN=-0.0873, CAMMAX=0.105, PCX1=1.5482,
        PDX1=1.1632, PDX2=-0.11154, PDX3=0.94173, PEX1=0.27, PEX2=0.011693, PEX3=0.053303, PEX4=0.59223, PKX1=32.9102,
        PKX2=12.7911, PKX3=-0.11254, PHX1=-0.0017527, PHX2=0.00068824, PVX1=0.068079, PVX2=0.0023429, PPX1=-0.8733,
        PPX2=0.7035, PPX3=-0.0080216, PPX4=-0.47776, RBX1=18.3369, RBX2=18.2559, RBX3=607.8133, RCX1=0.96372,
        REX1=-1.2699, REX2=-0.14323, RHX1=0.0037359, QSX1=0.00062469, QSX2=-9.9089, QSX3=1.621, QSX4=11.4346,
        QSX5=-0.22968, QSX6=1.3749, QSX7=-0.90713, QSX8=4.5166, QSX9=-0.033238, QSX10=0.73734, QSX11=-1.7614,
        PPMX1=-0.032723, PCY1=1.4759, PDY1=1.0085, PDY2=-0.1323, PDY3=2.4957, PEY1=-0.34653, PEY2=-0.60297,
        PEY3=-0.084051, PEY4=-20.7741, PEY5=57.615, PKY1=-28.3155, PKY2=3.313, PKY3=-0.21509, PKY4=2.7364, PKY5=49.8685,
        PKY6=-1.001, PKY7=0.17458, PHY1=0.0016662, PHY2=0.00081921, PVY1=0.022144, PVY2=0.0073185, PVY3=-0.47424,
        PVY4=-0.2317, PPY1=0.34039, PPY2=1.1056, PPY3=0.098508, PPY4=-0.10018, PPY5=-0.81071, RBY1=25.972,
        RBY2=-16.0345, RBY3=-0.012821, RBY4=1747.3832, RCY1=0.93848, REY1=0.47225, REY2=0.089042, RHY1=-0.0062355,
        RHY2=0.0044985, RVY1=0.013748, RVY2=0.012074, RVY3=0.47896, RVY4=-97.0538, RVY5=-1.7992, RVY6=-27.5155,
        QSY1=0.01, QSY3=0.0004, QSY4=4e-05, QSY7=0.85, QSY8=-0.4, QBZ1=12.5909, QBZ2=-0.90176, QBZ3=-0.60231,
        QBZ4=-1.2812, QBZ5=3.1497, QBZ9=176.0292, QBZ10=17.3439, QCZ1=1.1676, QDZ1=0.084112, QDZ2=0.0024576,
        QDZ3=-1.0046, QDZ4=9.1761, QDZ6=0.0020533, QDZ7=0.0020396, QDZ8=-0.34545, QDZ9=0.52144, QDZ10=1.0329,
        QDZ11=-4.3212, QEZ1=-3.4668, QEZ2=-1.6919, QEZ3=1.4023, QEZ4=0.37768, QEZ5=-8.9305, QHZ1=0.0023613,
        QHZ2=0.0019525, QHZ3=0.28223, QHZ4=-0.22141, PPZ1=0.94372, PPZ2=0.5053, PDXP1=0.4, PKYP1=1.0, PDYP1=0.4,
        PHYP1=1.0, PHYP2=0.15, PHYP4=-4.0, PECP1=0.5, QDTP1=10.0, QCRP1=0.2, QCRP2=0.1, QBRP1=0.1, QDRP1=1.0,
        FZMIN=0.0,
    ),
    version="MF62",
    name="MagicFormula62",
)  # fmt: skip

#: Load [N], longitudinal slip, slip angle [rad], inclination [rad], pressure [Pa].
POINTS = (
    (3000, 0, 0.05, 0, 2.6e5),
    (6752, 0, -0.12, 0.03, 2.6e5),
    (5000, 0.06, 0, 0.02, 2.6e5),
    (6752, -0.15, 0, 0, 2.6e5),
    (4000, 0.08, 0.06, 0.02, 2.6e5),
    (8000, -0.1, -0.1, -0.04, 2.9e5),
    (9000, 0.02, 0.2, 0.05, 2.2e5),
)  # fmt: skip
REFERENCES = {
    "tyre-pure-longitudinal": ("longitudinal force at pure slip", "N", (
        24.53809321677295, 70.55274669135338, 5814.32175153305, -7274.017846328457, 4971.180791617327,
        -8499.473499371023, 6603.280618804531)),
    "tyre-pure-lateral": ("lateral force at pure slip, with camber", "N", (
        -2549.810623135351, 6840.267583337919, -160.49291734390005, -79.41223893455, -3706.377842355558,
        8230.519471567175, -7704.213088037611)),
    "tyre-combined-longitudinal": ("longitudinal force at combined slip", "N", (
        16.104663095599157, 22.440291907208433, 5814.32175153305, -7274.017846328457, 4021.246472495618,
        -5892.940019143047, 1264.7237944605124)),
    "tyre-combined-lateral": ("lateral force at combined slip", "N", (
        -2549.810623135351, 6840.267583337919, -10.704997681753468, -96.57969023787106, -2647.6810872079604,
        5151.914556238969, -7638.899672529834)),
    "tyre-aligning": ("aligning moment at combined slip", "N.m", (
        25.250619832036808, -25.883420406184754, -0.6506169312994148, -0.01697258255136916, 2.743312424231974,
        14.57552016410013, -51.00580004341764)),
}  # fmt: skip


def lateral(tolerance: float) -> Solution:
    """Lateral forces of the car's tyre."""
    begin = time.process_time()
    values = [float(magic_formula.forces(CAR, 4000.0, alpha=alpha).Fy) for alpha in (0.02, 0.1)]
    return Solution({"tyre-lateral": values}, time.process_time() - begin)


def curves(tolerance: float) -> Solution:
    """Forces and moments at all points, by the equations of the manual."""
    begin = time.process_time()
    found: dict[str, list[float]] = {name: [] for name in REFERENCES}
    for Fz, kappa, alpha, gamma, p in POINTS:
        pure, both = (
            magic_formula.forces(
                MF62, Fz, kappa, alpha, gamma, Vx=20.0, p=p, combined=combined, equations="manual", limits=False
            )
            for combined in (False, True)
        )
        for name, value in zip(REFERENCES, (pure.Fx, pure.Fy, both.Fx, both.Fy, both.Mz), strict=True):
            found[name].append(float(value))
    values: dict[str, float | Sequence[float]] = dict(found)
    return Solution(values, time.process_time() - begin)


PROBLEMS = (
    Problem(
        "tyre-lateral", "Tyre by the Magic Formula", COMMONROAD, "lateral force at 0.02 and 0.1 rad of slip", "N",
        (-1654.7836198, -4092.1685901), lateral, error=1e-6,
    ),
    *(
        Problem(
            name, "Tyre by the Magic Formula 6.2", MFEVAL, quantity, unit, reference, curves, error=1e-6,
            origin="computed",
        )
        for name, (quantity, unit, reference) in REFERENCES.items()
    ),
)  # fmt: skip
