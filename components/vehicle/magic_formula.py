"""The Magic Formula: forces and moments of a tyre on a flat road, as equations.

H. B. Pacejka, Tire and Vehicle Dynamics, third edition (2012), section 4.3.2, equations (4.E1) to (4.E78), with turn
slip of section 4.3.3; MF-Tyre 5.2 and PAC2002 as their manuals have them, where they differ. MF-Tyre 6.2 adds terms to
(4.E69). From one source for numbers and symbols: where an argument is a CasADi SX so are the results, otherwise they
are NumPy's, and arguments broadcast.

Axes are those of `.tir` files, ISO 8855's W-axes: x ahead, y to the left, z upwards, at the contact point of the tyre,
in the road's plane. There

    kappa = -Vsx / |Vcx|      positive where the wheel drives, -1 where it is locked       (4.E5)
    tan alpha = Vcy / |Vcx|   positive where the contact point moves to the left           (4.E3)
    gamma                     inclination about x, positive where the wheel's top leans to the right
    phi_t = psi' / Vc         turn slip [1/m], psi' the wheel's yaw rate about z

The book's z points downwards. Its tan alpha = -Vcy/|Vcx|, its phi_t = -psi'/Vc with y and z reversed are the same
numbers as here, so that its equations stay as they are; a cornering stiffness (4.E25) that is positive there is
negative in a `.tir` file, for its force points along the other y.

The book and the manuals of MF-Tyre differ in places, which `equations` chooses:

| | "book" | "manual" |
|---|---|---|
| alpha*, (4.E3) | tan alpha | alpha |
| gamma*, (4.E4) | sin gamma | gamma |
| trail and camber, (4.E43) | 1 + qDz3 abs(gamma*) + ... | 1 + qDz3 gamma + ... |
| digressive friction, (4.E8) | A_mu = 10 | A_mu = 1 |

MF-Tyre 5.2 and PAC2002 are always those of their manuals.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import casadi as ca
import numpy as np

#: The equations that are known.
VERSIONS = ("MF52", "PAC2002", "MF61", "MF62")
#: Where the book and the manuals differ.
EQUATIONS = ("book", "manual")
#: Keeps quotients from having a denominator of zero, without changing a figure: the book's epsilons (4.E6a) [N, N.m].
EPSILON = 1e-10
#: Below this a square counts as it, so that roots have derivatives.
TINY = 1e-24


class Coefficients(Protocol):
    """Coefficients by the names of `.tir` files, and the version of the equations that they are for."""

    version: str

    def __getattr__(self, name: str) -> Any: ...


class Symbols:
    """Functions of CasADi's expressions, by NumPy's names."""

    sin, cos, arctan, arccos, exp, sqrt, abs, sign, tan = (
        staticmethod(f) for f in (ca.sin, ca.cos, ca.atan, ca.acos, ca.exp, ca.sqrt, ca.fabs, ca.sign, ca.tan)
    )
    where, minimum, maximum = (staticmethod(f) for f in (ca.if_else, ca.fmin, ca.fmax))


def functions(*values: Any) -> Any:
    """What has sin, cos, arctan ... for these values: NumPy, or CasADi where one of them is an SX."""
    return Symbols if any(isinstance(value, ca.SX) for value in values) else np


class Slip(NamedTuple):
    """Inputs of the formula, held within the limits of the data, and what several equations need of them."""

    f: Any  # functions of these values
    Fz: Any  # [N], at least a hair above 0
    kappa: Any
    alpha: Any  # alpha*, (4.E3)
    cos_alpha: Any  # cos'alpha, (4.E6), positive
    gamma: Any  # [rad]
    gamma_s: Any  # gamma*, (4.E4)
    phi_t: Any  # turn slip [1/m]
    phi: Any  # spin: turn slip and what camber adds [1/m]
    Vx: Any  # Vcx [m/s]
    ahead: Any  # sgn Vcx
    p: Any  # [Pa]
    dfz: Any  # (4.E2a)
    dpi: Any  # (4.E2b)
    shifts: Any  # factor of the shifts of all curves, 1 but at low speed
    mu_x: Any  # lambda*_mux, (4.E7)
    mu_y: Any
    mu_x1: Any  # lambda'_mux, (4.E8)
    mu_y1: Any
    turns: bool  # turn slip counts
    book: bool  # equations of the book where manuals differ


class Longitudinal(NamedTuple):
    """Pure longitudinal slip."""

    Fx: Any  # (4.E9) [N]
    mu: Any  # (4.E13)
    K: Any  # slip stiffness (4.E15) [N]
    D: Any  # (4.E12) [N]
    shift: Any  # SHx
    lift: Any  # SVx [N]


class Lateral(NamedTuple):
    """Pure side slip."""

    Fy: Any  # (4.E19) [N]
    mu: Any  # (4.E23)
    K: Any  # cornering stiffness (4.E25) [N/rad]
    K_gamma: Any  # camber stiffness (4.E30) [N/rad]
    B: Any
    C: Any
    D: Any
    shift: Any  # SHy
    lift: Any  # SVy [N]
    Fy_upright: Any  # Fy without camber and turn slip [N]


class Weights(NamedTuple):
    """What slip in the other direction makes of the pure forces."""

    G_x: Any  # (4.E51)
    G_y: Any  # (4.E59)
    lift_y: Any  # SVyk (4.E66) [N]


class Forces(NamedTuple):
    """What the road does to the tyre at the contact point, in W-axes."""

    Fx: Any  # [N]
    Fy: Any  # [N]
    Mx: Any  # overturning moment [N.m]
    My: Any  # rolling resistance moment [N.m], negative where the tyre rolls ahead
    Mz: Any  # aligning moment [N.m]
    trail: Any  # pneumatic trail [m]
    mu_x: Any  # peak friction, longitudinal
    mu_y: Any  # and lateral
    K_x: Any  # longitudinal slip stiffness [N]
    K_y: Any  # cornering stiffness, its size [N/rad]


def forces(
    tyre: Coefficients,
    Fz: Any,
    kappa: Any = 0.0,
    alpha: Any = 0.0,
    gamma: Any = 0.0,
    phi_t: Any = 0.0,
    *,
    Vx: Any = None,
    p: Any = None,
    combined: bool = True,
    turn_slip: bool = False,
    equations: str = "book",
    limits: bool = True,
    ahead: Any = None,
    shifts: Any = 1.0,
) -> Forces:
    """Forces and moments of a tyre.

    Args:
        tyre: coefficients; `mbfmu.components.vehicle.read_tir` reads them.
        Fz: vertical load [N]; 0 or less is a wheel in the air, without any force.
        kappa: longitudinal slip.
        alpha: slip angle [rad].
        gamma: inclination angle [rad].
        phi_t: turn slip [1/m], which counts with `turn_slip`.
        Vx: speed of the contact point ahead [m/s]; LONGVL where it is not given.
        p: inflation pressure [Pa]; INFLPRES where it is not given.
        combined: True where each slip weakens the force of the other (4.E50 to 4.E78); False gives pure slip.
        turn_slip: True where turn slip counts (section 4.3.3).
        equations: "book" or "manual", where they differ.
        limits: True holds the inputs within KPUMIN to KPUMAX, ALPMIN to ALPMAX, CAMMIN to CAMMAX, PRESMIN to PRESMAX,
            and Fz below FZMAX; below FZMIN forces are those at FZMIN in proportion of the load.
        ahead: in place of sgn Vcx, where a model passes standstill without a jump.
        shifts: factor of the shifts of the curves (conicity, ply steer), which a standing tyre does not have.

    Returns:
        Forces of the shape to which the arguments broadcast.

    Raises:
        ValueError: the version or `equations` is unknown.
    """
    if tyre.version not in VERSIONS:
        raise ValueError(f"version {tyre.version!r}: there are {', '.join(VERSIONS)}")
    if equations not in EQUATIONS:
        raise ValueError(f"equations = {equations!r}: there are {', '.join(EQUATIONS)}")
    s, part = slip_of(tyre, Fz, kappa, alpha, gamma, phi_t, Vx, p, turn_slip, equations, limits, ahead, shifts)
    x, y = longitudinal(tyre, s), lateral(tyre, s)
    one = Weights(1.0, 1.0, 0.0)
    w = weights(tyre, s, y.mu) if combined else one
    Fx, Fy = w.G_x * x.Fx, w.G_y * y.Fy + w.lift_y  # (4.E50), (4.E58)
    Mz, trail = aligning(tyre, s, x, y, w, Fx, Fy, combined)
    Mx, My = overturning(tyre, s, Fy), rolling(tyre, s, x, Fx)
    Fx, Fy, Mx, My, Mz = (part * value for value in (Fx, Fy, Mx, My, Mz))
    return Forces(Fx, Fy, Mx, My, Mz, trail, x.mu, y.mu, part * x.K, part * s.f.abs(y.K))


def slip_of(
    tyre: Coefficients,
    Fz: Any,
    kappa: Any,
    alpha: Any,
    gamma: Any,
    phi_t: Any,
    Vx: Any,
    p: Any,
    turn_slip: bool,
    equations: str,
    limits: bool,
    ahead: Any,
    shifts: Any,
) -> tuple[Slip, Any]:
    """Inputs as equations have them, and the part of the forces at this load that acts: 1 from FZMIN on, else less."""
    t = tyre
    Vx, p = t.LONGVL if Vx is None else Vx, t.INFLPRES if p is None else p
    f = functions(Fz, kappa, alpha, gamma, phi_t, Vx, p, shifts, t.LMUX, t.LMUY, t.LKX, t.LKY)
    least = max(t.FZMIN, 1e-6 * t.FNOMIN) if limits else 1e-6 * t.FNOMIN
    part = f.minimum(f.maximum(Fz, 0.0) / least, 1.0)
    Fz = f.maximum(Fz, least)
    if limits:
        Fz = f.minimum(Fz, t.FZMAX)
        kappa = f.minimum(f.maximum(kappa, t.KPUMIN), t.KPUMAX)
        alpha = f.minimum(f.maximum(alpha, t.ALPMIN), t.ALPMAX)
        gamma = f.minimum(f.maximum(gamma, t.CAMMIN), t.CAMMAX)
        p = f.minimum(f.maximum(p, t.PRESMIN), t.PRESMAX)
    nominal = t.LFZO * t.FNOMIN  # (4.E1)
    dfz = (Fz - nominal) / nominal  # (4.E2a)
    dpi = (p - t.NOMPRES) / t.NOMPRES  # (4.E2b)
    book = equations == "book" and t.version in ("MF61", "MF62")
    cos_alpha = f.cos(alpha)  # (4.E6): Vcx / Vc
    if ahead is None:
        ahead = f.where(f.sign(Vx) < 0, -1.0, 1.0)
    # (4.E3), whose sgn Vcx makes of the angle of Vc what is Vcy/|Vcx| here
    alpha_s, gamma_s = (f.tan(alpha), f.sin(gamma)) if book else (alpha, gamma)
    V_slip = f.abs(Vx) * f.sqrt(kappa**2 + f.tan(alpha) ** 2 + TINY)  # (4.E7)
    mu_x, mu_y = (scale / (1 + t.LMUV * V_slip / t.LONGVL) for scale in (t.LMUX, t.LMUY))
    A_mu = 10.0 if book else 1.0
    mu_x1, mu_y1 = (A_mu * mu / (1 + (A_mu - 1) * mu) for mu in (mu_x, mu_y))  # (4.E8)
    # Spin, (4.76): what turning about z and rolling on an inclined wheel have in common; Omega = Vcx / Re, near R0
    reduced = t.PECP1 * (1 + t.PECP2 * dfz)  # (4.90)
    phi = phi_t + (1 - reduced) * f.sin(gamma) * cos_alpha * ahead / t.UNLOADED_RADIUS
    return (
        Slip(
            f, Fz, kappa, alpha_s, cos_alpha, gamma, gamma_s, phi_t, phi, Vx, ahead, p, dfz, dpi, shifts,
            mu_x, mu_y, mu_x1, mu_y1, turn_slip, book,
        ),
        part,
    )  # fmt: skip


def magic(f: Any, x: Any, B: Any, C: Any, E: Any) -> Any:
    """Argument of the formula's sine or cosine: C arctan(B x - E (B x - arctan B x))."""
    return C * f.arctan(B * x - E * (B * x - f.arctan(B * x)))


def signed(f: Any, value: Any) -> Any:
    """A denominator kept off zero on the side where it is, as the book's epsilons do."""
    return value + EPSILON * f.where(value < 0, -1.0, 1.0)


def longitudinal(t: Coefficients, s: Slip) -> Longitudinal:
    """Longitudinal force at pure slip, (4.E9) to (4.E18)."""
    f, dfz, dpi = s.f, s.dfz, s.dpi
    gamma = s.gamma * t.LGAX
    zeta_1 = 1.0
    if s.turns:
        B = t.PDXP1 * (1 + t.PDXP2 * dfz) * f.cos(f.arctan(t.PDXP3 * s.kappa))  # (4.106)
        zeta_1 = f.cos(f.arctan(B * t.UNLOADED_RADIUS * s.phi))  # (4.105)
    C = t.PCX1 * t.LCX  # (4.E11)
    pressure = 1 + t.PPX3 * dpi + t.PPX4 * dpi**2
    mu = (t.PDX1 + t.PDX2 * dfz) * pressure * (1 - t.PDX3 * gamma**2) * s.mu_x  # (4.E13)
    D = mu * s.Fz * zeta_1  # (4.E12)
    stiffer = 1 + t.PPX1 * dpi + t.PPX2 * dpi**2
    K = s.Fz * (t.PKX1 + t.PKX2 * dfz) * f.exp(t.PKX3 * dfz) * stiffer * t.LKX  # (4.E15)
    B = K / signed(f, C * D)  # (4.E16)
    shift = (t.PHX1 + t.PHX2 * dfz) * t.LHX * s.shifts  # (4.E17)
    lift = s.Fz * (t.PVX1 + t.PVX2 * dfz) * t.LVX * s.mu_x1 * zeta_1 * s.shifts  # (4.E18)
    kappa = s.kappa + shift  # (4.E10)
    E = (t.PEX1 + t.PEX2 * dfz + t.PEX3 * dfz**2) * (1 - t.PEX4 * f.sign(kappa)) * t.LEX  # (4.E14)
    Fx = D * f.sin(magic(f, kappa, B, C, f.minimum(E, 1.0))) + lift  # (4.E9)
    return Longitudinal(Fx, mu, K, D, shift, lift)


def lateral(t: Coefficients, s: Slip) -> Lateral:
    """Lateral force at pure slip, (4.E19) to (4.E30); MF-Tyre 5.2 and PAC2002 have pHy3 in place of (4.E30)."""
    y = _lateral(t, s, s.gamma_s * t.LGAY, s.turns)
    upright = y.Fy if _is_zero(s.gamma_s) and not s.turns else _lateral(t, s, 0.0, False).Fy
    return y._replace(Fy_upright=upright)


def _is_zero(value: Any) -> bool:
    return not isinstance(value, ca.SX) and bool(np.all(np.asarray(value) == 0))


def _lateral(t: Coefficients, s: Slip, gamma: Any, turns: bool) -> Lateral:
    f, dfz, dpi, Fz = s.f, s.dfz, s.dpi, s.Fz
    nominal, R0 = t.LFZO * t.FNOMIN, t.UNLOADED_RADIUS
    old = t.version in ("MF52", "PAC2002")
    zeta_0, zeta_2, zeta_3 = 1.0, 1.0, 1.0
    if turns:
        B = t.PDYP1 * (1 + t.PDYP2 * dfz) * f.cos(f.arctan(t.PDYP3 * s.alpha))  # (4.78)
        turn = R0 * f.abs(s.phi)
        zeta_2 = f.cos(f.arctan(B * (turn + t.PDYP4 * f.sqrt(turn + TINY))))  # (4.77)
        zeta_0, zeta_3 = 0.0, f.cos(f.arctan(t.PKYP1 * (R0 * s.phi) ** 2))  # (4.79), (4.83)

    def stiffness(gamma: Any) -> Any:  # (4.E25)
        peak_at = (t.PKY2 + t.PKY5 * gamma**2) * (1 + t.PPY2 * dpi)
        grown = f.sin((2.0 if old else t.PKY4) * f.arctan(Fz / nominal / peak_at))
        return t.PKY1 * nominal * (1 + t.PPY1 * dpi) * (1 - t.PKY3 * f.abs(gamma)) * grown * zeta_3 * t.LKY

    K = stiffness(gamma)
    lift_gamma = Fz * (t.PVY3 + t.PVY4 * dfz) * gamma * t.LKYC * s.mu_y1 * zeta_2  # (4.E28)
    if old:
        K_gamma = t.PHY3 * stiffness(0.0) + Fz * (t.PVY3 + t.PVY4 * dfz) * t.LKYC
        from_camber = t.PHY3 * gamma * t.LKYC * zeta_0
    else:
        K_gamma = Fz * (t.PKY6 + t.PKY7 * dfz) * (1 + t.PPY5 * dpi) * t.LKYC  # (4.E30)
        from_camber = (K_gamma * gamma - lift_gamma) / signed(f, K) * zeta_0
    if turns:
        C, D, E = t.PHYP1, (t.PHYP2 + t.PHYP3 * dfz) * s.ahead, t.PHYP4  # (4.85) to (4.87)
        reduced = t.PECP1 * (1 + t.PECP2 * dfz)
        B = K_gamma / (1 - reduced) / signed(f, C * D * signed(f, stiffness(0.0)))  # (4.88), (4.89)
        from_turn = D * f.sin(magic(f, R0 * s.phi, B, C, min(E, 1.0))) * s.ahead  # (4.80)
        from_camber = from_camber + from_turn - lift_gamma / signed(f, K)  # (4.84): zeta_4 - 1
    shift = ((t.PHY1 + t.PHY2 * dfz) * t.LHY) * s.shifts + from_camber  # (4.E27)
    lift = Fz * (t.PVY1 + t.PVY2 * dfz) * t.LVY * s.mu_y1 * zeta_2 * s.shifts + lift_gamma  # (4.E29)
    alpha = s.alpha + shift  # (4.E20)
    C = t.PCY1 * t.LCY  # (4.E21)
    pressure = 1 + t.PPY3 * dpi + t.PPY4 * dpi**2
    mu = (t.PDY1 + t.PDY2 * dfz) * pressure * (1 - t.PDY3 * gamma**2) * s.mu_y  # (4.E23)
    D = mu * Fz * zeta_2  # (4.E22)
    turned = 1 + t.PEY5 * gamma**2 - (t.PEY3 + t.PEY4 * gamma) * f.sign(alpha)
    E = f.minimum((t.PEY1 + t.PEY2 * dfz) * turned * t.LEY, 1.0)  # (4.E24)
    B = K / signed(f, C * D)  # (4.E26)
    Fy = D * f.sin(magic(f, alpha, B, C, E)) + lift  # (4.E19)
    return Lateral(Fy, mu, K, K_gamma, B, C, D, shift, lift, Fy)


def weights(t: Coefficients, s: Slip, mu_y: Any) -> Weights:
    """Weights of combined slip, (4.E51) to (4.E57) and (4.E59) to (4.E67)."""
    f, dfz = s.f, s.dfz
    old = t.version in ("MF52", "PAC2002")
    gamma = s.gamma if old else s.gamma_s

    def weight(x: Any, shift: Any, B: Any, C: Any, E: Any) -> Any:
        E = f.minimum(E, 1.0)
        return f.cos(magic(f, x + shift, B, C, E)) / f.cos(magic(f, shift, B, C, E))

    B_x = (t.RBX1 + t.RBX3 * gamma**2) * f.cos(f.arctan(t.RBX2 * s.kappa)) * t.LXAL  # (4.E54)
    G_x = weight(s.alpha, t.RHX1, B_x, t.RCX1, t.REX1 + t.REX2 * dfz)  # (4.E51) to (4.E53), (4.E55) to (4.E57)
    B_y = (t.RBY1 + t.RBY4 * gamma**2) * f.cos(f.arctan(t.RBY2 * (s.alpha - t.RBY3))) * t.LYKA  # (4.E62)
    G_y = weight(s.kappa, t.RHY1 + t.RHY2 * dfz, B_y, t.RCY1, t.REY1 + t.REY2 * dfz)  # (4.E59) to (4.E65)
    D = mu_y * s.Fz * (t.RVY1 + t.RVY2 * dfz + t.RVY3 * gamma) * f.cos(f.arctan(t.RVY4 * s.alpha))  # (4.E67)
    if s.turns:
        B = t.PDYP1 * (1 + t.PDYP2 * dfz) * f.cos(f.arctan(t.PDYP3 * s.alpha))
        turn = t.UNLOADED_RADIUS * f.abs(s.phi)
        D = D * f.cos(f.arctan(B * (turn + t.PDYP4 * f.sqrt(turn + TINY))))
    lift = D * f.sin(t.RVY5 * f.arctan(t.RVY6 * s.kappa)) * t.LVYKA  # (4.E66)
    return Weights(G_x, G_y, lift)


def aligning(
    t: Coefficients, s: Slip, x: Longitudinal, y: Lateral, w: Weights, Fx: Any, Fy: Any, combined: bool
) -> tuple[Any, Any]:
    """Aligning moment, (4.E31) to (4.E49) and (4.E71) to (4.E78), and the pneumatic trail."""
    f, dfz, dpi, Fz, R0 = s.f, s.dfz, s.dpi, s.Fz, t.UNLOADED_RADIUS
    old = t.version in ("MF52", "PAC2002")
    nominal = t.LFZO * t.FNOMIN
    gamma = s.gamma * t.LGAZ if old else s.gamma_s
    zeta_0, zeta_2, zeta_5, zeta_6, zeta_7, more = 1.0, 1.0, 1.0, 1.0, 1.0, 0.0
    if s.turns:
        zeta_0, zeta_2 = 0.0, y.D / signed(f, y.mu * Fz)
        zeta_5 = f.cos(f.arctan(t.QDTP1 * R0 * s.phi))  # (4.91)
        zeta_6 = f.cos(f.arctan(t.QBRP1 * R0 * s.phi))  # (4.102)
        zeta_7, more = _turning(t, s, y, w)
    slope = t.LKY / s.mu_y
    K_y = signed(f, y.K)  # (4.E39)
    alpha_r = s.alpha + y.shift + y.lift / K_y  # (4.E37), (4.E38)
    alpha_t = s.alpha + (t.QHZ1 + t.QHZ2 * dfz) * s.shifts + (t.QHZ3 + t.QHZ4 * dfz) * gamma  # (4.E34), (4.E35)
    bent = 1 + t.QBZ4 * gamma + t.QBZ5 * f.abs(gamma) + t.QBZ6 * gamma**2
    B_t = (t.QBZ1 + t.QBZ2 * dfz + t.QBZ3 * dfz**2) * bent * slope  # (4.E40)
    D_t0 = Fz * R0 / nominal * (t.QDZ1 + t.QDZ2 * dfz) * (1 - t.PPZ1 * dpi) * t.LTR * s.ahead  # (4.E42)
    camber = f.abs(gamma) if s.book else gamma
    D_t = D_t0 * (1 + t.QDZ3 * camber + t.QDZ4 * gamma**2) * zeta_5  # (4.E43)
    E_t = (t.QEZ1 + t.QEZ2 * dfz + t.QEZ3 * dfz**2) * (
        1 + (t.QEZ4 + t.QEZ5 * gamma) * 2 / np.pi * f.arctan(B_t * t.QCZ1 * alpha_t)
    )  # (4.E44)
    B_r = (t.QBZ9 * slope + t.QBZ10 * y.B * y.C) * zeta_6  # (4.E45)
    from_camber = (t.QDZ8 + t.QDZ9 * dfz) * (1 + t.PPZ2 * dpi) * gamma
    from_camber = from_camber + (t.QDZ10 + t.QDZ11 * dfz) * gamma * f.abs(gamma)
    steady = (t.QDZ6 + t.QDZ7 * dfz) * t.LRES * zeta_2 * s.shifts + from_camber * t.LKZC * zeta_0
    D_r = Fz * R0 * steady * s.mu_y * s.cos_alpha * s.ahead + more  # (4.E47)
    if combined:
        share = (x.K / K_y * s.kappa) ** 2

        def equivalent(alpha: Any) -> Any:  # (4.E77), (4.E78)
            return f.arctan(f.sqrt(f.maximum(f.tan(alpha) ** 2 + share, TINY))) * f.sign(alpha)

        def of_book(alpha: Any) -> Any:  # where alpha* is a tangent already
            return f.sqrt(f.maximum(alpha**2 + share, TINY)) * f.sign(alpha)

        turn = of_book if s.book else equivalent
        alpha_r, alpha_t = turn(alpha_r), turn(alpha_t)
    trail = D_t * f.cos(magic(f, alpha_t, B_t, t.QCZ1, f.minimum(E_t, 1.0))) * s.cos_alpha  # (4.E33), (4.E73)
    M_r = D_r * f.cos(zeta_7 * f.arctan(B_r * alpha_r))  # (4.E36), (4.E75); C_r = zeta_7 (4.E46)
    Fy_1 = Fy - w.lift_y if old else w.G_y * y.Fy_upright  # (4.E74)
    arm = 0.0
    if combined:
        arm = R0 * (t.SSZ1 + t.SSZ2 * Fy / nominal + (t.SSZ3 + t.SSZ4 * dfz) * gamma) * t.LS  # (4.E76)
    return -trail * Fy_1 + M_r + arm * Fx, trail  # (4.E31), (4.E71), (4.E72)


def _turning(t: Coefficients, s: Slip, y: Lateral, w: Weights) -> tuple[Any, Any]:
    """zeta_7 and zeta_8 - 1: the moment about z that turning on the spot makes, (4.92) to (4.104)."""
    f, dfz, Fz, R0 = s.f, s.dfz, s.Fz, t.UNLOADED_RADIUS
    reduced = t.PECP1 * (1 + t.PECP2 * dfz)
    most = t.QCRP1 * f.abs(y.mu) * R0 * Fz * f.sqrt(Fz / (t.LFZO * t.FNOMIN)) * t.LMP  # (4.95)
    C = t.QDRP1  # (4.96)
    D = f.maximum(most, EPSILON) / np.sin(0.5 * np.pi * C)  # (4.94)
    tilt = t.QDZ8 + t.QDZ9 * dfz + (t.QDZ10 + t.QDZ11 * dfz) * f.abs(s.gamma_s)
    B = Fz * R0 * tilt * t.LKZC / signed(f, C * D * (1 - reduced))  # (4.98), (4.99)
    spin = D * f.sin(magic(f, R0 * s.phi, B, C, min(t.QDRP2, 1.0)))  # (4.93)
    sideways = most * 2 / np.pi * f.arctan(t.QCRP2 * R0 * f.abs(s.phi_t)) * w.G_y  # (4.103)
    ratio = f.minimum(sideways / f.maximum(f.abs(spin), EPSILON), 1 - 1e-9)
    return 2 / np.pi * f.arccos(ratio), spin  # (4.104), (4.92)


def overturning(t: Coefficients, s: Slip, Fy: Any) -> Any:
    """Overturning moment, (4.E69), with the two terms that MF-Tyre 6.2 adds (qSx12 to qSx14)."""
    f, R0, load, side = s.f, t.UNLOADED_RADIUS, s.Fz / t.FNOMIN, Fy / t.FNOMIN
    if t.version in ("MF52", "PAC2002"):
        return R0 * s.Fz * (t.QSX1 * t.LVMX + (t.QSX3 * side - t.QSX2 * s.gamma) * t.LMX)
    lean = f.cos(t.QSX5 * f.arctan((t.QSX6 * load) ** 2)) * f.sin(t.QSX7 * s.gamma + t.QSX8 * f.arctan(t.QSX9 * side))
    sum_ = t.QSX1 * t.LVMX - t.QSX2 * s.gamma * (1 + t.PPMX1 * s.dpi) + t.QSX3 * side + t.QSX4 * lean
    sum_ = sum_ + t.QSX10 * f.arctan(t.QSX11 * load) * s.gamma - t.QSX12 * s.gamma * f.abs(s.gamma)
    return R0 * t.LMX * (s.Fz * sum_ + Fy * (t.QSX13 + t.QSX14 * f.abs(s.gamma)))


def rolling(t: Coefficients, s: Slip, x: Longitudinal, Fx: Any) -> Any:
    """Rolling resistance moment, (4.E70), about y: negative where the wheel rolls ahead.

    MF-Tyre 5.2 and PAC2002 without qSy1 and qSy2 take it from the shifts of the longitudinal force: those that make it
    negative where slip is 0, so that there a wheel without torque keeps its speed of rotation.
    """
    R0, fast = t.UNLOADED_RADIUS, s.Vx / t.LONGVL
    factor = t.QSY1 + t.QSY2 * Fx / t.FNOMIN + t.QSY3 * s.f.abs(fast) + t.QSY4 * fast**4
    if t.version in ("MF52", "PAC2002"):
        if t.QSY1 == 0 and t.QSY2 == 0:
            return R0 * (x.lift + x.K * x.shift) * t.LMY * s.ahead  # at no slip the force, negative, turns as much
        return -R0 * s.Fz * factor * t.LMY * s.ahead
    factor = factor + (t.QSY5 + t.QSY6 * s.Fz / t.FNOMIN) * s.gamma**2
    grown = (s.Fz / t.FNOMIN) ** t.QSY7 * (s.p / t.NOMPRES) ** t.QSY8
    return -R0 * t.FNOMIN * factor * grown * t.LMY * s.ahead


# -- radii, deflection and relaxation


def free_radius(t: Coefficients, omega: Any) -> Any:
    """Radius of the unloaded tyre that turns [m]: it grows with the speed (Besselink et al. 2010, equation 1)."""
    return t.UNLOADED_RADIUS * (t.Q_RE0 + t.Q_V1 * (omega * t.UNLOADED_RADIUS / t.LONGVL) ** 2)


def effective_radius(t: Coefficients, Fz: Any, omega: Any, p: Any = None) -> Any:
    """Effective rolling radius [m] (equation 7 there; the book's section 8.3.1)."""
    f = functions(Fz, omega, p)
    load = f.maximum(Fz, 0.0) / t.FNOMIN
    sunk = t.DREFF * f.arctan(t.BREFF * load) + t.FREFF * load
    return free_radius(t, omega) - t.FNOMIN / stiffness_z(t, p) * sunk


def stiffness_z(t: Coefficients, p: Any = None) -> Any:
    """Vertical stiffness at the nominal load and this pressure [N/m]."""
    p = t.INFLPRES if p is None else p
    return t.VERTICAL_STIFFNESS * (1 + t.PFZ1 * (p - t.NOMPRES) / t.NOMPRES)


def vertical_force(
    t: Coefficients, rho: Any, omega: Any = 0.0, Fx: Any = 0.0, Fy: Any = 0.0, p: Any = None, gamma: Any = 0.0
) -> Any:
    """Vertical load [N] at a deflection rho [m], (4.E68), without damping; 0 where rho is negative.

    MF-Tyre 6.2 adds what camber makes of deflection and stiffness (qCam1 to qCam3, qFys1 to qFys3, qFcy2).
    """
    f = functions(rho, omega, Fx, Fy, p, gamma)
    R0, p = t.UNLOADED_RADIUS, t.INFLPRES if p is None else p
    side = Fy
    if t.version == "MF62":
        free = free_radius(t, omega)
        loaded = free - rho
        deep = f.maximum(rho, 0.0)
        # A wheel that leans stands on the edge of its tread, which is flattened by the load
        tread = (1.075 - 0.5 * t.ASPECT_RATIO) * t.WIDTH
        flat = (t.Q_CAM1 * loaded + t.Q_CAM2 * loaded**2) / signed(f, t.Q_CAM1 * free + t.Q_CAM2 * free**2)
        edge = flat**2 * tread / 8 * f.abs(f.tan(gamma)) - t.Q_CAM3 * deep * f.abs(gamma)
        rho = f.where(rho > 0, f.maximum(deep + edge, 0.0), 0.0)
        side = Fy - (t.Q_FYS1 + t.Q_FYS2 * loaded / free + t.Q_FYS3 * (loaded / free) ** 2) * gamma
        if t.Q_FCY2:
            side = side * f.maximum(rho / R0, 1e-6) ** t.Q_FCY2
    rho = f.maximum(rho, 0.0) / R0
    linear = (t.VERTICAL_STIFFNESS * R0 / t.FNOMIN) ** 2 - 4 * t.Q_FZ2
    q_fz1 = t.Q_FZ1 or float(np.sqrt(max(linear, 0.0)))
    grown = (
        1 + t.Q_V2 * R0 / t.LONGVL * f.abs(omega) - (t.Q_FCX * Fx / t.FNOMIN) ** 2 - (t.Q_FCY * side / t.FNOMIN) ** 2
    )
    pressure = 1 + t.PFZ1 * (p - t.NOMPRES) / t.NOMPRES
    return f.maximum(grown, 0.1) * pressure * (q_fz1 * rho + t.Q_FZ2 * rho**2) * t.FNOMIN


def patch_length(t: Coefficients) -> float:
    """Length of the contact patch at the nominal load [m] (Besselink et al., equation 10)."""
    sunk = t.FNOMIN / t.VERTICAL_STIFFNESS / t.UNLOADED_RADIUS
    return float(2 * t.UNLOADED_RADIUS * (t.Q_RA1 * np.sqrt(sunk) + t.Q_RA2 * sunk))


def relaxation_lengths(
    t: Coefficients, Fz: Any, K_x: Any, K_y: Any, gamma: Any = 0.0, p: Any = None
) -> tuple[Any, Any]:
    """Relaxation lengths [m] of longitudinal and side slip.

    MF-Tyre 6: stiffness of slip over that of the carcass (7.18; Besselink et al., equations 17 to 19). MF-Tyre 5.2 and
    PAC2002, and files without carcass stiffness: (4.E79), (4.E80) of pTx and pTy.
    """
    f = functions(Fz, K_x, K_y, gamma, p)
    Fz, p = f.maximum(Fz, 1e-3 * t.FNOMIN), t.INFLPRES if p is None else p
    nominal = t.LFZO * t.FNOMIN
    dfz, dpi = (Fz - nominal) / nominal, (p - t.NOMPRES) / t.NOMPRES
    R0 = t.UNLOADED_RADIUS
    by_formula = t.version in ("MF52", "PAC2002")
    if by_formula or not t.LONGITUDINAL_STIFFNESS:
        sigma_x = Fz * (t.PTX1 + t.PTX2 * dfz) * f.exp(-t.PTX3 * dfz) * R0 / t.FNOMIN * t.LSGKP
    else:
        C_x = t.LONGITUDINAL_STIFFNESS * (1 + t.PCFX1 * dfz + t.PCFX2 * dfz**2) * (1 + t.PCFX3 * dpi)
        sigma_x = f.abs(K_x / C_x)
    if by_formula or not t.LATERAL_STIFFNESS:
        grown = f.sin(2 * f.arctan(Fz / (t.PTY2 * nominal))) if t.PTY2 else Fz / nominal
        sigma_y = t.PTY1 * grown * (1 - t.PKY3 * f.abs(gamma)) * R0 * t.LFZO * t.LSGAL
    else:
        C_y = t.LATERAL_STIFFNESS * (1 + t.PCFY1 * dfz + t.PCFY2 * dfz**2) * (1 + t.PCFY3 * dpi)
        sigma_y = f.abs(K_y / C_y)
    least = 0.02 * R0  # a tyre whose file says nothing reacts at once, as far as numbers allow
    return f.maximum(sigma_x, least), f.maximum(sigma_y, least)


__all__ = [
    "EQUATIONS",
    "VERSIONS",
    "Coefficients",
    "Forces",
    "effective_radius",
    "forces",
    "free_radius",
    "patch_length",
    "relaxation_lengths",
    "stiffness_z",
    "vertical_force",
]
