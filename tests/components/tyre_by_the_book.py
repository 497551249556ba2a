"""The Magic Formula written down a second time, number by number, as book and manual print it.

H. B. Pacejka, Tire and Vehicle Dynamics, third edition, section 4.3.2 and 4.3.3; manual of MF-Tyre 5.2 for `old`. It
shares nothing with the library but the names of coefficients. Axes are those of `.tir` files (ISO-W), where
tan alpha = Vcy/|Vcx| and phi_t = psi'/Vc are the numbers that the book has with y and z reversed.
"""

from __future__ import annotations

from math import acos, atan, cos, exp, pi, sin, sqrt, tan
from typing import Any


def sgn(x: float) -> float:
    return float(x > 0) - float(x < 0)


def sine(x: float, B: float, C: float, D: float, E: float) -> float:
    return D * sin(C * atan(B * x - E * (B * x - atan(B * x))))


def cosine(x: float, B: float, C: float, D: float, E: float) -> float:
    return D * cos(C * atan(B * x - E * (B * x - atan(B * x))))


def forces(
    c: Any, Fz: float, kappa: float, alpha: float, gamma: float, phi_t: float, Vx: float, p: float, turn: bool
) -> tuple[float, float, float, float, float]:
    """Fx, Fy, Mx, My, Mz at combined slip, MF-Tyre 6.1 or 6.2."""
    Fzo, R0, V0 = c.LFZO * c.FNOMIN, c.UNLOADED_RADIUS, c.LONGVL
    df = (Fz - Fzo) / Fzo  # 4.E2a
    dp = (p - c.NOMPRES) / c.NOMPRES  # 4.E2b
    a, g = tan(alpha), sin(gamma)  # 4.E3, 4.E4
    Vc = abs(Vx) * sqrt(1 + a**2)
    cos_a = abs(Vx) / Vc  # 4.E6
    Vs = sqrt((kappa * abs(Vx)) ** 2 + (a * abs(Vx)) ** 2)
    mu_x, mu_y = c.LMUX / (1 + c.LMUV * Vs / V0), c.LMUY / (1 + c.LMUV * Vs / V0)  # 4.E7
    mu_x1, mu_y1 = 10 * mu_x / (1 + 9 * mu_x), 10 * mu_y / (1 + 9 * mu_y)  # 4.E8
    side = sgn(Vx)

    # Turn slip: (4.76), where Omega = Vx / Re and Re is taken for R0
    eps = c.PECP1 * (1 + c.PECP2 * df)  # 4.90
    phi = phi_t + (1 - eps) * (Vx / R0) * sin(gamma) / Vc
    z0 = z1 = z2 = z3 = z5 = z6 = z7 = z8 = 1.0
    if turn:
        z0 = 0.0
        Bx = c.PDXP1 * (1 + c.PDXP2 * df) * cos(atan(c.PDXP3 * kappa))  # 4.106
        z1 = cos(atan(Bx * R0 * phi))  # 4.105
        By = c.PDYP1 * (1 + c.PDYP2 * df) * cos(atan(c.PDYP3 * tan(alpha)))  # 4.78
        z2 = cos(atan(By * (R0 * abs(phi) + c.PDYP4 * sqrt(R0 * abs(phi)))))  # 4.77
        z3 = cos(atan(c.PKYP1 * R0**2 * phi**2))  # 4.79
        z5, z6 = cos(atan(c.QDTP1 * R0 * phi)), cos(atan(c.QBRP1 * R0 * phi))  # 4.91, 4.102

    # Longitudinal, pure
    shift_x = (c.PHX1 + c.PHX2 * df) * c.LHX  # 4.E17
    k = kappa + shift_x  # 4.E10
    gx = gamma * c.LGAX
    Mu_x = (c.PDX1 + c.PDX2 * df) * (1 + c.PPX3 * dp + c.PPX4 * dp**2) * (1 - c.PDX3 * gx**2) * mu_x  # 4.E13
    Cx, Dx = c.PCX1 * c.LCX, Mu_x * Fz * z1  # 4.E11, 4.E12
    Ex = min((c.PEX1 + c.PEX2 * df + c.PEX3 * df**2) * (1 - c.PEX4 * sgn(k)) * c.LEX, 1)  # 4.E14
    Kx = Fz * (c.PKX1 + c.PKX2 * df) * exp(c.PKX3 * df) * (1 + c.PPX1 * dp + c.PPX2 * dp**2) * c.LKX  # 4.E15
    lift_x = Fz * (c.PVX1 + c.PVX2 * df) * c.LVX * mu_x1 * z1  # 4.E18
    Fxo = sine(k, Kx / (Cx * Dx), Cx, Dx, Ex) + lift_x  # 4.E9

    # Lateral, pure
    def lateral(g: float, z0: float, z2: float, z3: float, turning: bool) -> tuple[float, ...]:
        def stiffness(g: float) -> float:  # 4.E25
            angle = atan((Fz / Fzo) / ((c.PKY2 + c.PKY5 * g**2) * (1 + c.PPY2 * dp)))
            return c.PKY1 * Fzo * (1 + c.PPY1 * dp) * (1 - c.PKY3 * abs(g)) * sin(c.PKY4 * angle) * z3 * c.LKY

        Ky = stiffness(g)
        Kg = Fz * (c.PKY6 + c.PKY7 * df) * (1 + c.PPY5 * dp) * c.LKYC  # 4.E30
        lift_g = Fz * (c.PVY3 + c.PVY4 * df) * g * c.LKYC * mu_y1 * z2  # 4.E28
        lift = Fz * (c.PVY1 + c.PVY2 * df) * c.LVY * mu_y1 * z2 + lift_g  # 4.E29
        z4 = 1.0
        if turning:
            CH, DH, EH = c.PHYP1, (c.PHYP2 + c.PHYP3 * df) * side, min(c.PHYP4, 1)  # 4.85 to 4.87
            KR = Kg / (1 - eps)  # 4.89
            z4 = (
                1 + sine(R0 * phi, KR / (CH * DH * stiffness(0.0)), CH, DH, EH) * side - lift_g / Ky
            )  # 4.80, 4.84, 4.88
        shift = (c.PHY1 + c.PHY2 * df) * c.LHY + (Kg * g - lift_g) / Ky * z0 + z4 - 1  # 4.E27
        ay = a + shift  # 4.E20
        Mu = (c.PDY1 + c.PDY2 * df) * (1 + c.PPY3 * dp + c.PPY4 * dp**2) * (1 - c.PDY3 * g**2) * mu_y  # 4.E23
        C, D = c.PCY1 * c.LCY, Mu * Fz * z2  # 4.E21, 4.E22
        E = (c.PEY1 + c.PEY2 * df) * (1 + c.PEY5 * g**2 - (c.PEY3 + c.PEY4 * g) * sgn(ay)) * c.LEY  # 4.E24
        B = Ky / (C * D)  # 4.E26
        return sine(ay, B, C, D, min(E, 1)) + lift, Ky, B, C, D, Mu, shift, lift  # 4.E19

    Fyo, Ky, B, C, _, Mu_y, shift_y, lift_y = lateral(g * c.LGAY, z0, z2, z3, turn)
    Fyo_upright = lateral(0.0, 1.0, 1.0, 1.0, False)[0]

    # Combined
    Bxa = (c.RBX1 + c.RBX3 * g**2) * cos(atan(c.RBX2 * kappa)) * c.LXAL  # 4.E54
    Exa = min(c.REX1 + c.REX2 * df, 1)  # 4.E56
    Gx = cosine(a + c.RHX1, Bxa, c.RCX1, 1, Exa) / cosine(c.RHX1, Bxa, c.RCX1, 1, Exa)  # 4.E51
    Byk = (c.RBY1 + c.RBY4 * g**2) * cos(atan(c.RBY2 * (a - c.RBY3))) * c.LYKA  # 4.E62
    Eyk, shift_k = min(c.REY1 + c.REY2 * df, 1), c.RHY1 + c.RHY2 * df  # 4.E64, 4.E65
    Gy = cosine(kappa + shift_k, Byk, c.RCY1, 1, Eyk) / cosine(shift_k, Byk, c.RCY1, 1, Eyk)  # 4.E59
    Dv = Mu_y * Fz * (c.RVY1 + c.RVY2 * df + c.RVY3 * g) * cos(atan(c.RVY4 * a)) * z2  # 4.E67
    Fx = Gx * Fxo  # 4.E50
    Fy = Gy * Fyo + Dv * sin(c.RVY5 * atan(c.RVY6 * kappa)) * c.LVYKA  # 4.E58, 4.E66

    # Aligning moment
    Dto = Fz * R0 / Fzo * (c.QDZ1 + c.QDZ2 * df) * (1 - c.PPZ1 * dp) * c.LTR * side  # 4.E42
    Dt = Dto * (1 + c.QDZ3 * abs(g) + c.QDZ4 * g**2) * z5  # 4.E43
    Bt = (c.QBZ1 + c.QBZ2 * df + c.QBZ3 * df**2) * (1 + c.QBZ4 * g + c.QBZ5 * abs(g) + c.QBZ6 * g**2) * c.LKY / mu_y
    at = a + c.QHZ1 + c.QHZ2 * df + (c.QHZ3 + c.QHZ4 * df) * g  # 4.E34, 4.E35
    Et = (c.QEZ1 + c.QEZ2 * df + c.QEZ3 * df**2) * (
        1 + (c.QEZ4 + c.QEZ5 * g) * 2 / pi * atan(Bt * c.QCZ1 * at)
    )  # 4.E44
    Br = (c.QBZ9 * c.LKY / mu_y + c.QBZ10 * B * C) * z6  # 4.E45
    ar = a + shift_y + lift_y / Ky  # 4.E37, 4.E38
    if turn:
        most = c.QCRP1 * abs(Mu_y) * R0 * Fz * sqrt(Fz / Fzo) * c.LMP  # 4.95
        Cd, Ed = c.QDRP1, min(c.QDRP2, 1)  # 4.96, 4.97
        Dd = most / sin(0.5 * pi * Cd)  # 4.94
        Kzg = Fz * R0 * (c.QDZ8 + c.QDZ9 * df + (c.QDZ10 + c.QDZ11 * df) * abs(g)) * c.LKZC  # 4.99
        Drp = sine(R0 * phi, Kzg / (Cd * Dd * (1 - eps)), Cd, Dd, Ed)  # 4.93, 4.98
        z8 = 1 + Drp  # 4.92
        spot = most * 2 / pi * atan(c.QCRP2 * R0 * abs(phi_t)) * Gy  # 4.103
        z7 = 2 / pi * acos(min(spot / abs(Drp), 1.0)) if Drp else 1.0  # 4.104
    tilt = ((c.QDZ8 + c.QDZ9 * df) * (1 + c.PPZ2 * dp) + (c.QDZ10 + c.QDZ11 * df) * abs(g)) * g * c.LKZC * z0
    Dr = Fz * R0 * ((c.QDZ6 + c.QDZ7 * df) * c.LRES * z2 + tilt) * mu_y * cos_a * side + z8 - 1  # 4.E47
    other = (Kx / Ky * kappa) ** 2
    at_eq, ar_eq = sqrt(at**2 + other) * sgn(at), sqrt(ar**2 + other) * sgn(ar)  # 4.E77, 4.E78
    trail = cosine(at_eq, Bt, c.QCZ1, Dt, min(Et, 1)) * cos_a  # 4.E73
    arm = R0 * (c.SSZ1 + c.SSZ2 * Fy / Fzo + (c.SSZ3 + c.SSZ4 * df) * g) * c.LS  # 4.E76
    Mz = -trail * Gy * Fyo_upright + Dr * cos(z7 * atan(Br * ar_eq)) + arm * Fx  # 4.E71, 4.E72, 4.E74, 4.E75

    # Overturning (4.E69), in 6.2 with three terms more, and rolling resistance (4.E70)
    f, s = Fz / c.FNOMIN, Fy / c.FNOMIN
    lean = cos(c.QSX5 * atan((c.QSX6 * f) ** 2)) * sin(c.QSX7 * gamma + c.QSX8 * atan(c.QSX9 * s))
    Mx = c.QSX1 * c.LVMX - c.QSX2 * gamma * (1 + c.PPMX1 * dp) + c.QSX3 * s + c.QSX4 * lean
    Mx += c.QSX10 * atan(c.QSX11 * f) * gamma - c.QSX12 * gamma * abs(gamma)
    Mx = R0 * c.LMX * (Fz * Mx + Fy * (c.QSX13 + c.QSX14 * abs(gamma)))
    v = Vx / V0
    My = c.QSY1 + c.QSY2 * Fx / c.FNOMIN + c.QSY3 * abs(v) + c.QSY4 * v**4 + (c.QSY5 + c.QSY6 * f) * gamma**2
    My *= -c.FNOMIN * R0 * f**c.QSY7 * (p / c.NOMPRES) ** c.QSY8 * c.LMY * side
    return Fx, Fy, Mx, My, Mz


def old(
    c: Any, Fz: float, kappa: float, alpha: float, gamma: float, Vx: float
) -> tuple[float, float, float, float, float]:
    """Fx, Fy, Mx, My, Mz at combined slip, MF-Tyre 5.2 and PAC2002, of which neither knows pressure and turn slip."""
    Fzo, R0 = c.LFZO * c.FNOMIN, c.UNLOADED_RADIUS
    df, side = (Fz - Fzo) / Fzo, sgn(Vx)
    gx, gy, gz = gamma * c.LGAX, gamma * c.LGAY, gamma * c.LGAZ

    shift_x, lift_x = (c.PHX1 + c.PHX2 * df) * c.LHX, Fz * (c.PVX1 + c.PVX2 * df) * c.LVX * c.LMUX
    k = kappa + shift_x
    Cx, Dx = c.PCX1 * c.LCX, (c.PDX1 + c.PDX2 * df) * (1 - c.PDX3 * gx**2) * c.LMUX * Fz
    Kx = Fz * (c.PKX1 + c.PKX2 * df) * exp(c.PKX3 * df) * c.LKX
    Ex = min((c.PEX1 + c.PEX2 * df + c.PEX3 * df**2) * (1 - c.PEX4 * sgn(k)) * c.LEX, 1)
    Fxo = sine(k, Kx / (Cx * Dx), Cx, Dx, Ex) + lift_x

    shift_y = (c.PHY1 + c.PHY2 * df) * c.LHY + c.PHY3 * gy
    lift_y = Fz * ((c.PVY1 + c.PVY2 * df) * c.LVY + (c.PVY3 + c.PVY4 * df) * gy) * c.LMUY
    ay = alpha + shift_y
    Mu = (c.PDY1 + c.PDY2 * df) * (1 - c.PDY3 * gy**2) * c.LMUY
    Cy, Dy = c.PCY1 * c.LCY, Mu * Fz
    Ky = c.PKY1 * Fzo * sin(2 * atan(Fz / (c.PKY2 * Fzo))) * (1 - c.PKY3 * abs(gy)) * c.LKY
    Ey = min((c.PEY1 + c.PEY2 * df) * (1 - (c.PEY3 + c.PEY4 * gy) * sgn(ay)) * c.LEY, 1)
    By = Ky / (Cy * Dy)
    Fyo = sine(ay, By, Cy, Dy, Ey) + lift_y

    Bxa, Exa = c.RBX1 * cos(atan(c.RBX2 * kappa)) * c.LXAL, min(c.REX1 + c.REX2 * df, 1)
    Fx = Fxo * cosine(alpha + c.RHX1, Bxa, c.RCX1, 1, Exa) / cosine(c.RHX1, Bxa, c.RCX1, 1, Exa)
    Byk = c.RBY1 * cos(atan(c.RBY2 * (alpha - c.RBY3))) * c.LYKA
    Eyk, shift_k = min(c.REY1 + c.REY2 * df, 1), c.RHY1 + c.RHY2 * df
    Gy = cosine(kappa + shift_k, Byk, c.RCY1, 1, Eyk) / cosine(shift_k, Byk, c.RCY1, 1, Eyk)
    lift_k = Mu * Fz * (c.RVY1 + c.RVY2 * df + c.RVY3 * gamma) * cos(atan(c.RVY4 * alpha))
    lift_k *= sin(c.RVY5 * atan(c.RVY6 * kappa)) * c.LVYKA
    Fy = Gy * Fyo + lift_k

    Dt = Fz * R0 / Fzo * (c.QDZ1 + c.QDZ2 * df) * (1 + c.QDZ3 * gz + c.QDZ4 * gz**2) * c.LTR * side
    Bt = (c.QBZ1 + c.QBZ2 * df + c.QBZ3 * df**2) * (1 + c.QBZ4 * gz + c.QBZ5 * abs(gz)) * c.LKY / c.LMUY
    at = alpha + c.QHZ1 + c.QHZ2 * df + (c.QHZ3 + c.QHZ4 * df) * gz
    Et = (c.QEZ1 + c.QEZ2 * df + c.QEZ3 * df**2) * (1 + (c.QEZ4 + c.QEZ5 * gz) * 2 / pi * atan(Bt * c.QCZ1 * at))
    Br = c.QBZ9 * c.LKY / c.LMUY + c.QBZ10 * By * Cy
    Dr = Fz * R0 * ((c.QDZ6 + c.QDZ7 * df) * c.LRES + (c.QDZ8 + c.QDZ9 * df) * gz) * c.LMUY * side
    ar = alpha + shift_y + lift_y / Ky
    other = (Kx / Ky * kappa) ** 2
    at_eq, ar_eq = (atan(sqrt(tan(x) ** 2 + other)) * sgn(x) for x in (at, ar))
    trail = cosine(at_eq, Bt, c.QCZ1, Dt, min(Et, 1)) * cos(alpha)
    arm = R0 * (c.SSZ1 + c.SSZ2 * Fy / Fzo + (c.SSZ3 + c.SSZ4 * df) * gz) * c.LS
    Mz = -trail * (Fy - lift_k) + Dr * cos(atan(Br * ar_eq)) * cos(alpha) + arm * Fx

    Mx = R0 * Fz * (c.QSX1 * c.LVMX + (c.QSX3 * Fy / c.FNOMIN - c.QSX2 * gamma) * c.LMX)
    v = Vx / c.LONGVL
    if c.QSY1 or c.QSY2:
        factor = c.QSY1 + c.QSY2 * Fx / c.FNOMIN + c.QSY3 * abs(v) + c.QSY4 * v**4
        My = -R0 * Fz * factor * c.LMY * side
    else:  # what the force of a tyre that rolls freely takes
        My = R0 * (lift_x + Kx * shift_x) * c.LMY * side
    return Fx, Fy, Mx, My, Mz
