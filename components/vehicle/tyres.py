"""Wheels that slip: tyres by the Magic Formula and by a curve of few parameters.

Slip follows with a delay: the tyre has to roll its relaxation length until a force has grown. Slips are states of their
own, which at standstill are deflections of the carcass: a parked vehicle stands on four springs, and does not creep.
"""

from __future__ import annotations

import pathlib
from typing import Any

import casadi as ca

from mbfmu.components.animation import Animated
from mbfmu.components.interfaces import Flange_a
from mbfmu.components.joints.elementary import Revolute
from mbfmu.components.parts.bodies import Body
from mbfmu.components.vehicle import magic_formula as mf
from mbfmu.components.vehicle.contact import Cams, Contact, meet_road
from mbfmu.components.vehicle.tyre_files import TyreData, read_tir
from mbfmu.errors import ModelError
from mbfmu.frames import angular_velocity1, cross, resolve2
from mbfmu.modeling import Component, Frame_a, Parameter, State, Variable, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import is_expression

#: Folder of the sets of coefficients that come with the library.
DATA = pathlib.Path(__file__).parent / "data"
#: The set that a tyre has where nothing else is given.
OWN = "passenger_205_55R16"
TYRE_COLOR = (30, 30, 30)
GRAVITY = 9.81
#: Deflection over radius that a tyre of few parameters is taken to have where its size matters.
NOMINAL = 0.06

Touch = t.Type("RoadContact", "String", values=("point", "cams"))
_TOUCH = "Contact with the road: at one point, or by cams that envelop short obstacles"
Side = t.Type("TyreSide", "String", values=("file", "left", "right"))
Formulas = t.Type("TyreEquations", "String", values=mf.EQUATIONS)
SlipMode = t.Type("TyreSlip", "String", values=("pure", "combined", "turn"))


class WheelForce(Animated):
    """Force and moment between road and wheel: a subclass says how large they are.

    frame_a is in the centre of the wheel, its y-axis is the wheel's axis and points to the left. It turns with the
    wheel; with `useFlange` it is fixed to the hub, and the wheel's rotation relative to it is that of flange_a.
    """

    frame_a = Frame_a("Frame in the wheel's centre, y-axis: along the wheel's axis, to the left", needed=True)
    flange_a = Flange_a(
        "Rotation of the wheel relative to frame_a, where that does not turn with it",
        when=lambda self: self.useFlange,
        needed=True,
    )

    useFlange = Parameter(t.Boolean, False, "= true, if frame_a does not turn with the wheel, but flange_a does")
    slips = Parameter(t.Boolean, True, "= true, if slip has a relaxation length; false: it follows at once")
    touch = Parameter(Touch, "point", _TOUCH)
    N_to_m = Parameter(
        t.Real, lambda self: 4 * self.world.defaultN_to_m, "Force arrow scaling (length = force/N_to_m)", animation=True
    )

    kappa = State(
        t.Dimensionless, "Longitudinal slip, with relaxation", start=0.0, fixed=True, when=lambda self: self.slips
    )
    tan_alpha = State(
        t.Dimensionless,
        "Tangent of the slip angle, with relaxation",
        start=0.0,
        fixed=True,
        when=lambda self: self.slips,
    )
    f_x = Variable(t.Force, "Longitudinal force on the wheel")
    f_y = Variable(t.Force, "Lateral force on the wheel, to the left")
    f_z = Variable(t.Force, "Vertical load, along the road's normal")
    m_x = Variable(t.Torque, "Overturning moment on the wheel at the contact point")
    m_y = Variable(t.Torque, "Rolling resistance moment on the wheel")
    m_z = Variable(t.Torque, "Aligning moment on the wheel at the contact point")
    slip = Variable(t.Dimensionless, "Longitudinal slip that acts")
    alpha = Variable(t.Angle, "Slip angle that acts, positive to the left")
    gamma = Variable(t.Angle, "Inclination, positive where the top leans to the right")
    rho = Variable(t.Length, "Deflection of the tyre; negative where it is above the road")
    v_x = Variable(t.Velocity, "Velocity of the contact point ahead")
    v_y = Variable(t.Velocity, "Velocity of the contact point to the left")
    omega = Variable(t.AngularVelocity, "Speed of rotation")
    r_road_0 = Variable(t.Position, "Contact point on the road, resolved in world frame", shape=3)
    f_wheel_0 = Variable(t.Force, "Force on the wheel, resolved in world frame", shape=3)

    def contact(self, cams: Cams) -> Contact:
        """Where the wheel meets the road, with the variables that show it; `cams` are those of its size."""
        spin = self.der(self.flange_a.phi) if self.useFlange else None
        c = meet_road(self, spin, cams if self.touch == "cams" else None)
        self.gamma = ca.asin(ca.fmax(-1.0, ca.fmin(1.0, c.sin_gamma)))
        self.v_x, self.v_y, self.omega = c.v_x, c.v_y, c.omega
        self.r_road_0 = self.frame_a.r_0 + c.r
        return c

    def act(self, c: Contact, force: tuple[Any, Any, Any], moment: tuple[Any, Any, Any], stored: Any) -> None:
        """Let force [N] and moment [N.m] act at the contact point, in the axes there.

        `stored` is the energy of the deflected tyre [J].
        """
        self.f_x, self.f_y, self.f_z = force
        self.m_x, self.m_y, self.m_z = moment
        f_0 = force[0] * c.e_x + force[1] * c.e_y + force[2] * c.n
        m_0 = moment[0] * c.e_x + moment[1] * c.e_y + moment[2] * c.n
        at_centre = m_0 + cross(c.r, f_0)
        self.f_wheel_0 = f_0
        R = self.frame_a.R
        self.frame_a.f, self.frame_a.t = -resolve2(R, f_0), -resolve2(R, at_centre)
        given = ca.dot(f_0, self.der(self.frame_a.r_0)) + ca.dot(at_centre, angular_velocity1(R))
        about = ca.dot(at_centre, c.axis)
        if self.useFlange:
            self.flange_a.tau = -about
            given = given + about * self.der(self.flange_a.phi)
        self.energy(potential=stored, dissipated=-given - self.der(stored))

    def relax(
        self, c: Contact, wanted: tuple[Any, Any], sigma: tuple[Any, Any], stiffness: Any, most: tuple[Any, Any]
    ) -> None:
        """Equations of slip as states: sigma d(slip)/dt + |Vx| slip = slip velocity (the book's 7.7, 7.9).

        While slip grows into sliding its relaxation length falls, as the force no longer grows (section 7.2.3): beside
        `stiffness`, force over friction per slip, sigma is divided by sqrt(1 + (stiffness slip)^2). So the carcass is
        never deflected more than friction can, and a vehicle that has slid to its end does not roll back far. Beyond
        `most`, where forces do not change with slip, slip is brought back, so that at standstill it stays finite.
        """
        kappa, tan_alpha = self.kappa, self.tan_alpha
        shorter = 1 / ca.sqrt(1 + stiffness[0] ** 2 * kappa**2 + stiffness[1] ** 2 * tan_alpha**2)
        speed = ca.fabs(c.v_x)

        def rate(slip: Any, sliding: Any, length: Any, limit: Any) -> Any:
            excess = ca.fmax(ca.fabs(slip) / limit - 1, 0.0)
            return (sliding - (speed + ca.fabs(sliding) * excess / 0.1) * slip) / (length * shorter)

        self.der.kappa = rate(kappa, wanted[0], sigma[0], most[0])
        self.der.tan_alpha = rate(tan_alpha, wanted[1], sigma[1], most[1])

    def draw_wheel(self: Any, radius: Any, width: Any) -> None:
        """Draw the tyre, and the arrow of its force."""
        self.draw_shape(
            "tyre", "pipe", self.frame_a, r_shape=[0, -width / 2, 0],
            lengthDirection=(0, 1, 0), widthDirection=(1, 0, 0),
            length=width, width=2 * radius, color=TYRE_COLOR, extra=0.62,
        )  # fmt: skip
        self.draw_shape(
            "rim", "box", self.frame_a, r_shape=[0, -width / 4, 0],
            lengthDirection=(0, 1, 0), widthDirection=(1, 0, 0),
            length=width / 2, width=1.25 * radius, height=0.25 * radius, color=(160, 160, 165),
        )  # fmt: skip
        f = self.f_wheel_0
        self.draw_arrow(
            "force", f / self.N_to_m, 0.03, r_tail=self.r_road_0, color=(0, 130, 0), quantity="Force", coordinates=f
        )


class Tyre(WheelForce):
    """Tyre by the Magic Formula: MF-Tyre 5.2, 6.1, 6.2, PAC2002, by the coefficients of a `.tir` file."""

    modelica_name = "Vehicle.Tyre"

    fileName = Parameter(t.String, OWN, ".tir file, or the name of a set that comes with the library")
    side = Parameter(Side, "file", "Side of the vehicle: where it is not that of the file, the tyre is mirrored")
    slip_mode = Parameter(SlipMode, "combined", "Slip that counts: pure, combined, or combined with turn slip")
    equations_of = Parameter(Formulas, "book", "Where they differ: Pacejka's book, or the manuals of MF-Tyre")
    p = Parameter(t.Pressure, 0.0, "Inflation pressure; 0: that of the file", min=0, tunable=True)
    LMUX = Parameter(t.Dimensionless, 1.0, "Factor of the longitudinal peak friction", min=1e-3, tunable=True)
    LMUY = Parameter(t.Dimensionless, 1.0, "Factor of the lateral peak friction", min=1e-3, tunable=True)
    LKX = Parameter(t.Dimensionless, 1.0, "Factor of the slip stiffness", min=1e-3, tunable=True)
    LKY = Parameter(t.Dimensionless, 1.0, "Factor of the cornering stiffness", min=1e-3, tunable=True)

    def __init__(self, data: TyreData | None = None, **modifiers: Any) -> None:
        """`data` in place of a file: coefficients of `read_tir`, or one's own `TyreData`."""
        if data is not None and not isinstance(data, TyreData):
            raise ModelError(f"Tyre: data = {data!r:.60}: give a TyreData, of read_tir(...), or fileName='...'")
        self._given = data
        super().__init__(**modifiers)

    @property
    def data(self) -> TyreData:
        """The coefficients."""
        if self._given is not None:
            return self._given
        return _data_of(self.value("fileName"), self.where)

    def check_values(self) -> None:
        super().check_values()
        _ = self.data

    def equations(self) -> None:
        base = self._component.data
        c = self.contact(
            Cams(
                radius=base.UNLOADED_RADIUS,
                distance=base.ELLIPS_SHIFT * mf.patch_length(base),
                length=base.ELLIPS_LENGTH * base.UNLOADED_RADIUS,
                height=base.ELLIPS_HEIGHT * base.UNLOADED_RADIUS,
                order=base.ELLIPS_ORDER,
            )
        )
        p = ca.if_else(self.p > 0, self.p, base.INFLPRES)
        data = base.with_values(
            LMUX=base.LMUX * self.LMUX * c.mu, LMUY=base.LMUY * self.LMUY * c.mu,
            LKX=base.LKX * self.LKX, LKY=base.LKY * self.LKY,
        )  # fmt: skip
        mirror = -1.0 if base.side and self.side != "file" and base.side.lower() != self.side else 1.0
        omega, gamma = c.omega, mirror * self.gamma
        free = mf.free_radius(base, omega)
        self.rho = rho = free - c.loaded_radius
        low = ca.exp(-((c.v_x / base.VXLOW) ** 2))  # 1 at standstill
        ahead = c.v_x / ca.sqrt(c.v_x**2 + (0.1 * base.VXLOW) ** 2)  # sgn Vcx without its jump
        damping = base.VERTICAL_DAMPING * c.v_n * ca.fmin(ca.fmax(rho / (0.01 * free), 0.0), 1.0)

        def load(Fx: Any, Fy: Any) -> Any:
            return ca.fmax(mf.vertical_force(base, rho, omega, Fx, Fy, p, gamma) - damping, 0.0)

        first = load(0.0, 0.0)
        slope = self._slopes(data, first, gamma, p)
        sigma = mf.relaxation_lengths(base, first, slope[0], slope[1], gamma, p)
        radius = mf.effective_radius(base, first, omega, p)
        sliding = (omega * radius - c.v_x, c.v_y)
        if self.slips:
            most = (min(abs(base.KPUMIN), base.KPUMAX), ca.tan(min(abs(base.ALPMIN), base.ALPMAX, 1.4)))
            sharp = (slope[0] / slope[2], slope[1] / slope[3])
            self.relax(c, sliding, sigma, sharp, most)
            # What a standing tyre has of damping, (8.127): a fifth of the critical one of the nominal load
            brake = [
                0.4 * low * ca.sqrt(base.FNOMIN / GRAVITY / (k * s)) for k, s in zip(slope[:2], sigma, strict=True)
            ]
            kappa, tan_alpha = self.kappa + brake[0] * sliding[0], self.tan_alpha + brake[1] * sliding[1]
        else:
            speed = ca.sqrt(c.v_x**2 + (0.1 * base.VXLOW) ** 2)
            kappa, tan_alpha = sliding[0] / speed, sliding[1] / speed
        phi_t = c.turning / ca.sqrt(c.v_x**2 + base.VXLOW**2)
        alpha = ca.atan(tan_alpha)

        def forces(Fz: Any) -> mf.Forces:
            return mf.forces(
                data, Fz, kappa, mirror * alpha, gamma, mirror * phi_t, Vx=c.v_x, p=p, ahead=ahead, shifts=1 - low,
                combined=self.slip_mode != "pure", turn_slip=self.slip_mode == "turn", equations=self.equations_of,
            )  # fmt: skip

        Fz, found = first, forces(first)
        if base.Q_FCX or base.Q_FCY:  # horizontal forces make the tyre softer: once more, with theirs
            Fz = load(found.Fx, found.Fy)
            found = forces(Fz)
        self.slip, self.alpha = kappa, alpha
        touching = ca.if_else(rho > 0, 1.0, 0.0)
        self.act(
            c,
            (found.Fx, mirror * found.Fy, Fz),
            (mirror * found.Mx, found.My, mirror * found.Mz),
            touching * self._energy(base, rho, p),
        )

    def _slopes(self, data: TyreData, Fz: Any, gamma: Any, p: Any) -> tuple[Any, Any, Any, Any]:
        """Slip and cornering stiffness [N], and the friction forces [N] along and across, at a load; never 0."""
        small = 1e-3 * data.FNOMIN
        load = ca.fmax(Fz, small)
        still = mf.forces(data, load, gamma=gamma, p=p, combined=False, equations=self.equations_of)
        sizes = (still.K_x, still.K_y, still.mu_x * load, still.mu_y * load)
        return tuple(ca.fmax(ca.fabs(value), small) for value in sizes)

    @staticmethod
    def _energy(data: TyreData, rho: Any, p: Any) -> Any:
        """Energy of the deflected tyre at rest [J]: the integral of its vertical force."""
        x, R0 = rho / data.UNLOADED_RADIUS, data.UNLOADED_RADIUS
        linear = (data.VERTICAL_STIFFNESS * R0 / data.FNOMIN) ** 2 - 4 * data.Q_FZ2
        q_fz1 = data.Q_FZ1 or max(linear, 0.0) ** 0.5
        pressure = 1 + data.PFZ1 * (p - data.NOMPRES) / data.NOMPRES
        return data.FNOMIN * R0 * pressure * (q_fz1 * x**2 / 2 + data.Q_FZ2 * x**3 / 3)

    def visualize(self: Any) -> None:
        data = self._component.data
        self.draw_wheel(data.UNLOADED_RADIUS, data.WIDTH)


_READ: dict[tuple[str, float], TyreData] = {}


def _data_of(name: str, where: str) -> TyreData:
    """Coefficients of a file, or of a set that comes with the library."""
    path = pathlib.Path(name)
    if not path.suffix:
        path = DATA / f"{name}.tir"
        if not path.is_file():
            known = ", ".join(sorted(file.stem for file in DATA.glob("*.tir")))
            raise ModelError(f"{where}.fileName = {name!r}: no such set; there are {known}, or give a file, name.tir")
    try:
        key = (str(path.resolve()), path.stat().st_mtime)
    except OSError as error:
        raise ModelError(f"{where}.fileName = {name!r}: cannot be read: {error.strerror}") from error
    if key not in _READ:
        _READ[key] = read_tir(path)
    return _READ[key]


class _SlipCurve(Component):
    """A tyre of few parameters, with the names of PlanarMechanics' SlipBasedWheelJoint."""

    radius = Parameter(t.Radius, required, "Radius of the wheel", nonzero=True)
    c = Parameter(t.TranslationalSpringConstant, 2e5, "Vertical stiffness", min=1.0, tunable=True)
    d = Parameter(t.TranslationalDampingConstant, 200.0, "Vertical damping", min=0, tunable=True)
    mu_A = Parameter(t.Dimensionless, 1.0, "Friction coefficient at adhesion, the greatest", min=1e-3, tunable=True)
    mu_S = Parameter(t.Dimensionless, 0.8, "Friction coefficient at sliding", min=1e-3, tunable=True)
    sAdhesion = Parameter(t.Dimensionless, 0.1, "Slip of the greatest friction", min=1e-3, tunable=True)
    sSlide = Parameter(t.Dimensionless, 1.0, "Slip from which on the wheel slides", min=1e-2, tunable=True)
    cr = Parameter(t.Dimensionless, 0.01, "Rolling resistance over load", min=0, tunable=True)


class SlipForce(_SlipCurve, WheelForce):
    """Tyre of few parameters: friction over slip is a curve with a peak, the same in all directions.

    Its parameters have the names of PlanarMechanics' SlipBasedWheelJoint; the curve between them is Pacejka's sine.
    """

    modelica_name = "Vehicle.SlipForce"

    width = Parameter(t.Distance, lambda self: 0.6 * self.radius, "Width of the wheel", animation=True)
    sigma = Parameter(t.Length, lambda self: self.radius / 2, "Relaxation length", min=1e-3)

    def check_values(self) -> None:
        super().check_values()
        for less, more in (("sAdhesion", "sSlide"), ("mu_S", "mu_A")):
            pair = self.value(less), self.value(more)
            if not any(is_expression(value) for value in pair) and pair[0] > pair[1]:
                raise ModelError(f"{self.where}: {less} = {pair[0]:g} must not be above {more} = {pair[1]:g}")

    def equations(self) -> None:
        patch = 2 * self.radius * (0.671 * NOMINAL**0.5 + 0.733 * NOMINAL)
        c = self.contact(Cams(self.radius, 0.8 * patch, self.radius, self.radius, 1.8))
        self.rho = rho = self.radius - c.loaded_radius
        elastic = self.c * ca.fmax(rho, 0.0)
        touching = ca.fmin(ca.fmax(rho / (0.01 * self.radius), 0.0), 1.0)
        Fz = ca.fmax(elastic - self.d * c.v_n * touching, 0.0)
        slow = 0.5  # m/s
        low = ca.exp(-((c.v_x / slow) ** 2))
        sliding = (c.omega * self.radius - c.v_x, c.v_y)
        stiffness = ca.pi / 2 / self.sAdhesion
        if self.slips:
            self.relax(c, sliding, (self.sigma, self.sigma), (stiffness, stiffness), (2 * self.sSlide, 2 * self.sSlide))
            nominal = 0.02 * self.radius * self.c
            brake = 0.4 * low * ca.sqrt(nominal / GRAVITY / (stiffness * self.mu_A * nominal * self.sigma))
            s_x, s_y = self.kappa + brake * sliding[0], self.tan_alpha + brake * sliding[1]
        else:
            speed = ca.sqrt(c.v_x**2 + (0.1 * slow) ** 2)
            s_x, s_y = sliding[0] / speed, sliding[1] / speed
        size = ca.sqrt(s_x**2 + s_y**2 + 1e-18)
        # sin(C arctan(B s)) has its peak where s = sAdhesion, and comes to mu_S where s = sSlide
        end = ca.asin(ca.fmin(self.mu_S / self.mu_A, 0.999999))
        rise = ca.sin(ca.pi / 2 * ca.fmin(size / self.sAdhesion, 1.0))
        u = ca.fmin(ca.fmax((size - self.sAdhesion) / ca.fmax(self.sSlide - self.sAdhesion, 1e-6), 0.0), 1.0)
        fall = ca.cos((ca.pi / 2 - end) * u * u * (3 - 2 * u))
        friction = c.mu * self.mu_A * rise * fall * Fz / size
        ahead = c.v_x / ca.sqrt(c.v_x**2 + (0.1 * slow) ** 2)
        self.slip, self.alpha = s_x, ca.atan(s_y)
        m_y = -self.cr * self.radius * Fz * ahead
        self.act(
            c,
            (friction * s_x, -friction * s_y, Fz),
            (ca.SX(0), m_y, ca.SX(0)),
            elastic * ca.fmax(rho, 0.0) / 2,
        )

    def visualize(self: Any) -> None:
        self.draw_wheel(self.radius, self.width)


class _Wheel(Animated):
    """Wheel with mass on a hub: a bearing, a body and what the road does to it."""

    frame_a = Frame_a(
        "Frame of the hub, which does not turn with the wheel; y-axis: the wheel's axis, to the left", needed=True
    )
    flange_a = Flange_a("Axle that drives and brakes the wheel, relative to the hub")

    wheelMass = Parameter(t.Mass, 20.0, "Mass of wheel and tyre", nonzero=True)
    wheel_I_axis = Parameter(t.Inertia, 1.0, "Inertia along the wheel axis", min=0, nonzero=True)
    wheel_I_long = Parameter(t.Inertia, 0.6, "Inertia perpendicular to the wheel axis", min=0)
    phi = Variable(t.Angle, "Angle of the wheel relative to the hub", start=0.0)
    w = Variable(t.AngularVelocity, "Speed of the wheel relative to the hub", start=0.0)

    def assemble(self, tyre: WheelForce) -> None:
        """Put bearing, body and tyre together."""
        self.bearing = Revolute(n=(0, 1, 0), useAxisFlange=True, animation=False)
        self.body = Body(
            m=self.wheelMass, r_CM=(0, 0, 0), I_11=self.wheel_I_long, I_22=self.wheel_I_axis, I_33=self.wheel_I_long,
            animation=False,
        )  # fmt: skip
        self.tyre = tyre
        self.connect(self.frame_a, self.bearing.frame_a)
        self.connect(self.bearing.frame_b, self.body.frame_a)
        self.connect(self.bearing.frame_b, self.tyre.frame_a)
        self.connect(self.flange_a, self.bearing.axis)

    def equations(self) -> None:
        bearing: Any = self.bearing
        self.phi = bearing.phi
        self.w = self.der(self.phi)


class TyreWheel(_Wheel):
    """Wheel on a hub with a tyre by the Magic Formula."""

    modelica_name = "Vehicle.TyreWheel"

    fileName = Parameter(t.String, OWN, ".tir file, or the name of a set that comes with the library")
    side = Parameter(Side, "file", "Side of the vehicle: where it is not that of the file, the tyre is mirrored")
    slip_mode = Parameter(SlipMode, "combined", "Slip that counts: pure, combined, or combined with turn slip")
    touch = Parameter(Touch, "point", _TOUCH)
    p = Parameter(t.Pressure, 0.0, "Inflation pressure; 0: that of the file", min=0, tunable=True)

    def __init__(self, data: TyreData | None = None, **modifiers: Any) -> None:
        """`data` in place of a file: coefficients of `read_tir`, or one's own `TyreData`."""
        self._given = data
        super().__init__(**modifiers)

    def build(self) -> None:
        self.assemble(
            Tyre(
                self._given, fileName=self.fileName, side=self.side, slip_mode=self.slip_mode, touch=self.touch,
                p=self.p,
            )
        )  # fmt: skip


class SlipWheel(_SlipCurve, _Wheel):
    """Wheel on a hub with a tyre of few parameters."""

    modelica_name = "Vehicle.SlipWheel"

    touch = Parameter(Touch, "point", _TOUCH)

    def build(self) -> None:
        given = {name: getattr(self, name) for name in _SlipCurve.declarations}
        self.assemble(SlipForce(touch=self.touch, **given))


__all__ = ["SlipForce", "SlipWheel", "Tyre", "TyreWheel"]
