"""Contact between two geometries, and between all pairs of a group."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import casadi as ca

from mbfmu.components.animation import FORCE_COLOR, Animated
from mbfmu.components.contact import laws
from mbfmu.components.contact.ellipsoids import MOST_OBLONG
from mbfmu.components.contact.geometry import Cylinder, Ellipsoid, Geometry, Plane
from mbfmu.components.contact.height_field import HeightField
from mbfmu.components.contact.pairs import (
    MOST,
    Patch,
    Solid,
    curvature,
    depths_of_cores,
    give,
    is_ellipsoidal,
    is_round,
    is_rounded,
    number_of_patches,
    operations,
    patches,
    room_of_edges,
    shares_friction,
)
from mbfmu.components.interfaces import guarded_length
from mbfmu.errors import ModelError
from mbfmu.frames import angular_velocity1, cross, null_rotation, relative_rotation, resolve1, resolve2
from mbfmu.messages import suggestion
from mbfmu.modeling import Component, Frame_a, Frame_b, required
from mbfmu.modeling import types as t
from mbfmu.modeling.connectors import Connector
from mbfmu.modeling.declarations import Parameter, State, Variable, is_expression

NormalLaw = t.Type("NormalLaw", "String", values=("Hertz", "PowerLaw"))
Damping = t.Type("Damping", "String", values=("HuntCrossley", "Restitution", "KelvinVoigt"))
Friction = t.Type("Friction", "String", values=("None", "Coulomb"))
Resistance = t.Type("Resistance", "String", values=("None", "Coulomb"))
InverseVelocity = t.Type("InverseVelocity", unit="s/m")
#: Time in which a bristle relaxes where no damping is given [s].
RELAXATION = 1e-3
#: How far bodies may overlap at the start, over the size of the smaller one.
OVERLAP = 0.1
#: How far edges and ellipsoids may be pressed in, over what their radii are.
PRESSED = 0.9


def has_friction(self: Any) -> bool:
    """Does a contact, or a group, have friction?"""
    return bool(self.friction == "Coulomb")


def _turns(self: Any) -> bool:
    return bool(self.turning == "Coulomb")


class Arrows(Animated):
    """Arrows of force at points of contact."""

    scale = Parameter(t.Real, 1e-3, "Length of an arrow of force per newton [m/N]", min=0, animation=True)
    arrowDiameter = Parameter(
        t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of arrows of force", animation=True
    )


_NEEDS = {
    **dict.fromkeys(("E_a", "E_b", "nu_a", "nu_b"), "with normalLaw = 'PowerLaw'; leave it out, or give E_a and no c"),
    **dict.fromkeys(("c", "n"), "with normalLaw = 'Hertz'; leave it out, or give c and no E_a"),
    **dict.fromkeys(("d", "e", "v_min", "d_n"), "with damping = {0.damping!r}; give one of d, e and d_n"),
    **dict.fromkeys(("mu_k", "mu_s", "v_S", "c_t", "d_t"), "without friction; give mu_k, too"),
    **dict.fromkeys(("mu_r", "mu_d", "c_r", "d_r"), "without rolling resistance; give mu_r or mu_d, too"),
}


class Coulomb(Component):
    """Parameters of Coulomb's friction, which laws take over, each at its place among their own."""

    friction = Parameter(
        Friction, lambda self: "Coulomb" if self.is_given("mu_k") else "None", "Friction against sliding"
    )
    mu_k = Parameter(
        t.Dimensionless, required, "Coefficient of sliding friction", min=0, tunable=True, when=has_friction
    )
    mu_s = Parameter(
        t.Dimensionless,
        lambda self: self.mu_k,
        "Coefficient of static friction",
        min=0,
        tunable=True,
        when=has_friction,
    )


class Law(Component):
    """What has friction by Coulomb's law, or none, and perhaps parameters of other laws to choose from."""

    def check_values(self) -> None:
        """As of all components; static friction is no less than sliding friction.

        Raises:
            ModelError: mu_s is less than mu_k, and what Component.check_values refuses.
        """
        super().check_values()
        if not has_friction(self):
            return
        mu_s, mu_k = self.value("mu_s"), self.value("mu_k")
        if not (is_expression(mu_s) or is_expression(mu_k)) and mu_s < mu_k:
            raise ModelError(
                f"{self.where}.mu_s = {mu_s:g}: static friction is at least sliding friction, mu_k = {mu_k:g}; "
                "give a greater mu_s, or leave it out"
            )

    def hold_friction(self) -> None:
        """The same in a run, where both may be set."""
        if has_friction(self) and self.is_given("mu_s"):
            self.require(
                self.mu_s - self.mu_k,
                "mu_s is {} less than mu_k, but static friction is at least sliding friction; set both",
            )

    def modify(self, **modifiers: Any) -> None:
        """As Component.modify; what belongs to a law that was not chosen is refused.

        Raises:
            ModelError: a parameter of another law, of friction without mu_k, and what Component.modify refuses.
        """
        super().modify(**modifiers)
        for name in modifiers:
            declaration = self.declarations.get(name)
            if isinstance(declaration, Parameter) and not declaration.enabled(self):
                raise ModelError(f"{self.where}.{name}: has no effect {_NEEDS[name].format(self)}")


class ContactLaw(Law, Arrows):
    """What bodies do to each other where they touch: parameters that pairs and groups have in common."""

    normalLaw = Parameter(
        NormalLaw,
        lambda self: "Hertz" if self.is_given("E_a") else "PowerLaw",
        "Law of the normal force: of Hertz for round elastic surfaces, or c*depth^n",
    )
    E_a = Parameter(
        t.Pressure,
        required,
        "Modulus of elasticity of geometry_a",
        min=0,
        nonzero=True,
        when=lambda self: self.normalLaw == "Hertz",
    )
    E_b = Parameter(
        t.Pressure,
        lambda self: self.E_a,
        "Modulus of elasticity of geometry_b",
        min=0,
        nonzero=True,
        when=lambda self: self.normalLaw == "Hertz",
    )
    nu_a = Parameter(
        t.Dimensionless,
        0.3,
        "Poisson's ratio of geometry_a",
        min=-1,
        max=0.5,
        when=lambda self: self.normalLaw == "Hertz",
    )
    nu_b = Parameter(
        t.Dimensionless,
        lambda self: self.nu_a,
        "Poisson's ratio of geometry_b",
        min=-1,
        max=0.5,
        when=lambda self: self.normalLaw == "Hertz",
    )
    c = Parameter(
        t.Real,
        required,
        "Stiffness [N/m^n]: normal force at a depth of 1 m, at each point of contact",
        min=0,
        nonzero=True,
        when=lambda self: self.normalLaw == "PowerLaw",
    )
    n = Parameter(
        t.Dimensionless, 1.0, "Exponent of the depth", min=1, max=5, when=lambda self: self.normalLaw == "PowerLaw"
    )
    damping = Parameter(
        Damping,
        lambda self: "Restitution" if self.is_given("e") else "KelvinVoigt" if self.is_given("d_n") else "HuntCrossley",
        "Damping by a factor d, such that bodies part with e times the speed with which they meet, or by a damper d_n",
    )
    d = Parameter(
        InverseVelocity,
        0.0,
        "Damping: the normal force is 1 + d*v times the elastic one, where the depth grows with the speed v",
        min=0,
        when=lambda self: self.damping == "HuntCrossley",
    )
    e = Parameter(
        t.Dimensionless,
        1.0,
        "Coefficient of restitution",
        min=laws.LEAST_RESTITUTION,
        max=1,
        when=lambda self: self.damping == "Restitution",
    )
    v_min = Parameter(
        t.Velocity,
        1e-3,
        "Speed of impact below which the damping is that of this speed",
        min=1e-9,
        when=lambda self: self.damping == "Restitution",
    )
    d_n = Parameter(
        t.TranslationalDampingConstant,
        required,
        "Damping of a damper beside the elastic surfaces, at each point of contact",
        min=0,
        when=lambda self: self.damping == "KelvinVoigt",
    )
    margin = Parameter(t.Length, 0.0, "Gap of the surfaces below which they press each other apart", min=0)
    friction, mu_k, mu_s = Coulomb.friction, Coulomb.mu_k, Coulomb.mu_s
    v_S = Parameter(
        t.Velocity,
        1e-2,
        "Speed of sliding (Stribeck's) at which friction has come down to mu_k + (mu_s - mu_k)/e",
        min=1e-9,
        tunable=True,
        when=has_friction,
    )
    c_t = Parameter(
        t.TranslationalSpringConstant,
        required,
        "Tangential stiffness of a point of contact that sticks",
        min=0,
        nonzero=True,
        when=has_friction,
    )
    d_t = Parameter(
        t.TranslationalDampingConstant,
        lambda self: self.c_t * RELAXATION,
        "Tangential damping of a point of contact that sticks",
        min=0,
        nonzero=True,
        when=has_friction,
    )
    turning = Parameter(
        Resistance,
        lambda self: "Coulomb" if self.is_given("mu_r") or self.is_given("mu_d") else "None",
        "Resistance against rolling and drilling",
    )
    mu_r = Parameter(t.Length, 0.0, "Rolling resistance: torque over normal force", min=0, tunable=True, when=_turns)
    mu_d = Parameter(t.Length, 0.0, "Drilling resistance: torque over normal force", min=0, tunable=True, when=_turns)
    c_r = Parameter(
        t.RotationalSpringConstant,
        required,
        "Stiffness of a point of contact against rolling and drilling while it sticks",
        min=0,
        nonzero=True,
        when=_turns,
    )
    d_r = Parameter(
        t.RotationalDampingConstant,
        lambda self: self.c_r * RELAXATION,
        "Damping of a point of contact against rolling and drilling while it sticks",
        min=0,
        nonzero=True,
        when=_turns,
    )


class ContactPair(Arrows):
    """Two geometries that may touch, and what there is at each point where they do."""

    geometry_a = Parameter(t.String, required, "Name of one geometry, as seen from where this contact is")
    geometry_b = Parameter(t.String, required, "Name of the other geometry")

    frame_a = Frame_a("Frame of geometry_a, to which the contact connects itself")
    frame_b = Frame_b("Frame of geometry_b, to which the contact connects itself")

    gap = Variable(
        t.Position, "Distance of the surfaces at each point, negative where they overlap", shape=lambda self: self.each
    )
    f_n = Variable(t.Force, "Normal force at each point", shape=lambda self: self.each)
    f_a = Variable(t.Force, "Force on geometry_a, resolved in world frame", shape=3)
    r_c = Variable(
        t.Position, "Points of contact, a row each, resolved in world frame", shape=lambda self: (*self.each, 3)
    )
    f_c = Variable(
        t.Force,
        "Force on geometry_a at each point, a row each, resolved in world frame",
        shape=lambda self: (*self.each, 3),
    )

    def modify(self, **modifiers: Any) -> None:
        """As Component.modify; geometries may be given themselves, which stand for their names."""
        for name in ("geometry_a", "geometry_b"):
            if name in modifiers:
                modifiers[name] = name_of(modifiers[name])
        super().modify(**modifiers)

    # -- which geometries

    def attachments(self) -> list[tuple[Connector, Connector]]:
        """Both frames are those of the geometries."""
        return [
            (self.connector(own), self.geometry(end).connector("frame_a"))
            for own, end in (("frame_a", "a"), ("frame_b", "b"))
        ]

    def geometry(self, end: str) -> Geometry:
        """The geometry at end `a` or `b`, looked for from where the contact is outwards.

        Raises:
            ModelError: there is none of this name, or it is something else.
        """
        name = self.value(f"geometry_{end}")
        where, owners, owner = f"{self.where}.geometry_{end} = {name!r}", [], self.part_of
        while owner is not None:
            part: Component | None = owner
            for piece in name.split("."):
                part = part.parts.get(piece) if part is not None else None
            if isinstance(part, Geometry):
                return part
            if part is not None:
                raise ModelError(
                    f"{where}: is a {type(part).__name__}, which has no shape to touch; name a geometry, such as a "
                    "Contact.Sphere at its frame"
                )
            owners.append(owner)
            owner = owner.part_of
        known = []
        for owner in owners:
            prefix = len(owner.path) + 1 if owner.path else 0
            known += [one.path[prefix:] for one in owner.walk() if isinstance(one, Geometry)]
        raise ModelError(f"{where}: there is no such geometry; {suggestion(name, known)}")

    def patches(self, view: Any = None) -> list[Patch]:
        """The points of contact as the frames move, which a pair that is connected has.

        They are resolved in one of the two frames, from its origin, where `view` is that, else in the world frame.
        """
        found = patches(*self.solids(view))
        assert found is not None
        for shape in self._ellipsoids():
            self.require(MOST_OBLONG * ca.mmin(shape.half) - ca.mmax(shape.half), _oblong(shape))
        return found

    def _ellipsoids(self) -> list[Ellipsoid]:
        """Ellipsoids that must not be too long or flat for the other geometry, another one or a cylinder."""
        both = self.geometry("a"), self.geometry("b")
        if not all(isinstance(shape, Ellipsoid | Cylinder) for shape in both):
            return []
        return [shape for shape in both if isinstance(shape, Ellipsoid)]

    def solids(self, view: Any) -> list[Solid]:
        """Both geometries as the frames move, seen as `patches` says."""
        solids = []
        for geometry, frame in ((self.geometry("a"), self.frame_a), (self.geometry("b"), self.frame_b)):
            R, origin = frame.R, frame.r_0
            if frame is view:
                R, origin = null_rotation(), ca.SX.zeros(3)
            elif view is not None:
                R, origin = relative_rotation(view.R, frame.R), resolve2(view.R, frame.r_0 - view.r_0)
            solids.append(Solid(geometry, origin + resolve1(R, geometry.r), R))
        return solids

    @property
    def each(self) -> tuple[int]:
        """Shape of what every point of contact has, or every patch where points share their friction."""
        if self.part_of is None:
            return (1,)
        return (number_of_patches(self.geometry("a"), self.geometry("b")),)

    def check_connections(self, connected: set[str]) -> None:
        """The pair must have a closed form."""
        super().check_connections(connected)
        a, b = self.geometry("a"), self.geometry("b")
        if a is b:
            raise ModelError(f"{self.where}: {a.where} cannot touch itself; name another geometry")
        if isinstance(a, Plane | HeightField) and isinstance(b, Plane | HeightField):
            kind = "planes" if isinstance(a, Plane) and isinstance(b, Plane) else "grounds"
            raise ModelError(f"{self.both} are two {kind}, which do not touch; give one of them another shape")
        if not self.each[0]:
            raise ModelError(
                f"{self.both} have no points of contact that are known, as shapes of mbfmu have: make one of them up "
                "of such shapes, or give its class a function `lowest` or `distance`"
            )
        for shape in self._ellipsoids():
            values = [shape.value(name) for name in ("length", "width", "height")]
            axes = [value for value in values if not is_expression(value)]
            if axes and max(axes) > MOST_OBLONG * min(axes):
                raise ModelError(_oblong(shape))
        count = operations(a, b)
        if count > MOST:
            raise ModelError(
                f"{self.both} would take about {count:.1g} operations each time that they are looked at, more than "
                f"{MOST:.0g}; give a mesh with fewer faces, or a coarser grid"
            )

    @property
    def both(self) -> str:
        """Both geometries, for messages."""
        a, b = self.geometry("a"), self.geometry("b")
        return f"{self.where}: {a.where} ({type(a).__name__}) and {b.where} ({type(b).__name__})"

    def visualize(self: Any) -> None:
        for i in range(self._component.each[0]):
            self.draw_arrow(
                f"force{i + 1}",
                self.f_c[i, :].T * self.scale,
                self.arrowDiameter,
                r=self.r_c[i, :].T,
                quantity="Force",
                coordinates=self.f_c[i, :].T,
                color=FORCE_COLOR,
            )


def _oblong(shape: Geometry) -> str:
    return (
        f"{shape.where}: has axes of more than {MOST_OBLONG:g} : 1, whose contact with an Ellipsoid or a Cylinder "
        "is not found; "
        "make it rounder, or take a Capsule or a Box"
    )


class Contact(ContactPair, ContactLaw):
    """Contact between two geometries, at as many points as their pair has.

    Bodies that overlap press each other apart: by Hertz's law or a power of the depth, damped after Hunt and Crossley,
    never pulling. Friction is that of an elastic bristle at each point, whose tip sticks or slides: it creeps under no
    load. Where contact begins and ends is an event; sticking and sliding are none.
    """

    modelica_name = "Contact.Contact"

    f_t = Variable(t.Force, "Friction force at each point", shape=lambda self: self.each)
    z = State(
        t.Position,
        "What the bristle of each point gives way by, resolved in frame_b",
        shape=lambda self: (3 * self.each[0],),
        start=0.0,
        fixed=True,
        nominal=1e-6,
        when=has_friction,
    )
    phi = State(
        t.Angle,
        "What the bristle of each point gives way by against rolling and drilling, resolved in frame_b",
        shape=lambda self: (3 * self.each[0],),
        start=0.0,
        fixed=True,
        nominal=1e-6,
        when=_turns,
    )

    def check_connections(self, connected: set[str]) -> None:
        """As of all pairs; the law must hold for this one."""
        super().check_connections(connected)
        if self.value("normalLaw") == "Hertz" and not is_round(self.geometry("a"), self.geometry("b")):
            raise ModelError(
                f"{self.both} do not touch in a circle, as normalLaw = 'Hertz' has it for spheres and planes; give a "
                "stiffness c, and an exponent n, instead of E_a"
            )

    # -- physics

    def equations(self) -> None:
        a, b = self.frame_a, self.frame_b
        geometries = self.geometry("a"), self.geometry("b")
        # Where points are many they are looked at from where they do not move
        view = (a if geometries[0].in_patches else b) if shares_friction(*geometries) else None
        found = self.patches(view)
        stiffness, exponent = self._elasticity(*geometries)
        # What a pair does is shared by all that are like it, and not worked out while they are apart
        self.gap = self.shared(ca.vertcat(*(ca.mmin(ca.vertcat(*(point.gap for point in patch))) for patch in found)))
        closed = [self.switch(self.margin - self.gap[i], 1, 0) for i in range(len(found))]
        self._stay_outside(*geometries, functools.reduce(ca.fmax, closed))
        self.hold_friction()

        def seen(v: Any) -> Any:
            return v if view is None else resolve2(view.R, v)

        def in_world(v: Any) -> Any:
            return v if view is None else resolve1(view.R, v)

        def seen_from_b(v: Any) -> Any:
            return v if view is b else seen(resolve1(b.R, v))

        def to_b(v: Any) -> Any:
            return v if view is b else resolve2(b.R, in_world(v))

        w_a, w_b = angular_velocity1(a.R), angular_velocity1(b.R)
        between = a.r_0 - b.r_0
        origin = a.r_0 if view is None else seen(a.r_0 - view.r_0)
        # Of a relative to b, at frame_a
        v_a, w = seen(self.der(a.r_0) - self.der(b.r_0) - cross(w_b, between)), seen(w_a - w_b)
        loads, energies = ca.SX.zeros(12), ca.SX.zeros(2)
        shown, places, rates_z, rates_phi = [], [], [], []
        for i, patch in enumerate(found):
            pressed = self._press(_Patch(patch, origin, v_a, w), stiffness, exponent, closed[i])
            stored, lost = pressed.energy, pressed.lost
            n, f_n, place = pressed.normal, pressed.f_n, pressed.place
            v = v_a + cross(w, place - origin)
            f_t, moment = ca.SX.zeros(3), ca.SX.zeros(3)
            if has_friction(self):
                own = self.z[3 * i : 3 * i + 3]
                slip, z = v - n * ca.dot(n, v), seen_from_b(own)
                if pressed.grip is not None:
                    slip = slip + n * pressed.grip * ca.dot(n, w)
                resistance, z_rate = self._rub(pressed, slip, z)
                lost = lost + ca.dot(resistance, slip) - self.c_t * ca.dot(z, z_rate)
                rate, spent = self._relax(own, self.c_t, self.d_t, to_b(z_rate), closed[i])
                rates_z.append(rate)
                energies += spent
                f_t = resistance
                if pressed.grip is not None:
                    f_t = resistance - n * ca.dot(n, resistance)
                    moment = pressed.grip * (resistance - f_t)
            if _turns(self):
                own = self.phi[3 * i : 3 * i + 3]
                phi = seen_from_b(own)
                turned, phi_rate = self._turn(n, w, phi, f_n)
                lost = lost + ca.dot(turned, w) - self.c_r * ca.dot(phi, phi_rate)
                rate, spent = self._relax(own, self.c_r, self.d_r, to_b(phi_rate), closed[i])
                rates_phi.append(rate)
                energies += spent
                moment = moment + turned
            force = in_world(pressed.force - f_t)
            torque = in_world(pressed.torque - cross(place - origin, f_t) - moment)
            on_a = [-resolve2(a.R, force), -resolve2(a.R, torque)]
            on_b = [resolve2(b.R, force), resolve2(b.R, torque + cross(between, force))]
            loads += self.shared(ca.vertcat(*on_a, *on_b), closed[i])
            energies += self.shared(ca.vertcat(stored, lost), closed[i])
            friction = [guarded_length(f_t, laws.TINY)] if has_friction(self) else []
            shown.append(self.shared(ca.vertcat(force, f_n, *friction), closed[i]))
            places.append(self.shared(place if view is None else view.r_0 + in_world(place)))
        told = ca.horzcat(*shown)
        self.f_c, self.f_n = told[:3, :].T, told[3, :].T
        self.f_t = told[4, :].T if has_friction(self) else ca.SX.zeros(len(found))
        self.r_c = ca.horzcat(*places).T
        self.f_a = ca.sum2(told[:3, :])
        if rates_z:
            self.der.z = ca.vertcat(*rates_z)
        if rates_phi:
            self.der.phi = ca.vertcat(*rates_phi)
        a.f, a.t, b.f, b.t = ca.vertsplit(loads, 3)
        self.energy(potential=energies[0], dissipated=energies[1])

    def _relax(self, z: Any, c: Any, d: Any, rate: Any, closed: Any) -> tuple[Any, Any]:
        """How fast a bristle gives way, also while nothing touches it, and the energy [J] and power [W] that it has
        then, or in any case."""
        free = -c / d * z
        spent = ca.if_else(closed, 0, -c * ca.dot(z, free))
        return self.shared(rate, closed) + ca.if_else(closed, 0, free), ca.vertcat(c * ca.sumsqr(z) / 2, spent)

    def _rub(self, pressed: _Pressed, slip: Any, z: Any) -> tuple[Any, Any]:
        """Resistance against slipping, and how its bristle gives way.

        Points that share their friction slip as they slide, and along the normal as they turn about it: what goes into
        one is not there against the other. Of one point, what of z the normal has left dies away.
        """
        most = laws.coulomb(self.mu_k, self.mu_s, self.v_S, slip) * pressed.f_n
        if pressed.grip is not None:
            return laws.bristle(self.c_t, self.d_t, z, slip, most)
        across = pressed.normal * ca.dot(pressed.normal, z)
        resistance, rate = laws.bristle(self.c_t, self.d_t, z - across, slip, most)
        return resistance, rate - self.c_t / self.d_t * across

    def _turn(self, n: Any, w: Any, phi: Any, f_n: Any) -> tuple[Any, Any]:
        """Moment against turning with w, by drilling along the normal and rolling across it, and its bristle's rate."""
        w_n, phi_n = n * ca.dot(n, w), n * ca.dot(n, phi)
        drilling, drilled = laws.bristle(self.c_r, self.d_r, phi_n, w_n, self.mu_d * f_n)
        rolling, rolled = laws.bristle(self.c_r, self.d_r, phi - phi_n, w - w_n, self.mu_r * f_n)
        return drilling + rolling, drilled + rolled

    def _elasticity(self, a: Geometry, b: Geometry) -> tuple[Any, Any]:
        """Stiffness and exponent of the normal force."""
        if self.normalLaw == "PowerLaw":
            return self.c, self.n
        curved = curvature(a) + curvature(b)
        return laws.hertz_stiffness(self.E_a, self.nu_a, self.E_b, self.nu_b, curved), laws.HERTZ

    def _stay_outside(self, a: Geometry, b: Geometry, closed: Any) -> None:
        """Refuse overlap that is none of a contact; end the run where surfaces say nothing of the depth any more.

        Only what is `closed` can be so deep.
        """
        sizes = [geometry.size for geometry in (a, b) if geometry.size is not None]
        least, size = ca.mmin(self.gap), ca.mmin(ca.vertcat(*sizes))
        if is_rounded(a, b) or is_ellipsoidal(a, b):
            first = least = least + PRESSED * give(a, b)
            most = radii = f"{100 * PRESSED:g} % of the least radii of their surfaces"
            rounder = "their edges or ends rounder"
            if is_rounded(a, b):
                solids = self.solids(self.frame_b)
                least = ca.fmin(least, ca.mmin(depths_of_cores(*solids)))
                # What goes through elsewhere has come by here, but for a start
                first = ca.if_else(least < 0, least, ca.fmin(least, room_of_edges(*solids)))
                most = "their rounded edges may be pressed in"
                radii = f"{100 * PRESSED:g} % of the radii of their edges"
                rounder = "give them a greater rounding"
            self.require(
                self.hold(self.initial, value=self.shared(first, self.initial.active)),
                f"{a.where} and {b.where} overlap at the start by {{}} m more than {most}; start them further apart",
            )
            self.require(
                self.shared(least, closed),
                f"{a.where} and {b.where} are pressed into each other by more than {radii}; give the contact a greater "
                f"stiffness, make the bodies slower, or {rounder}",
            )
            return
        self.require(
            self.hold(self.initial, value=self.shared(least, self.initial.active)) + OVERLAP * size,
            f"{a.where} and {b.where} overlap at the start by {{}} m more than a tenth of their size; start them "
            "further apart",
        )
        if len(sizes) == 2:  # a plane has no other side
            self.require(
                self.shared(least, closed) + size,
                f"{a.where} is so deep in {b.where} that it comes out on the other side; give the contact a greater "
                "stiffness, or make the bodies slower",
            )

    def _press(self, patch: _Patch, c: Any, n: Any, closed: Any) -> _Pressed:
        """What the points of a patch press with, while surfaces overlap.

        Each has its elastic force, damped after its own speed; a linear damper stands beside all of them. Contact
        begins and ends at the first and last of them.
        """
        points = patch.points
        depths = [self.margin - point.gap for point in points]
        most = ca.mmax(ca.vertcat(*depths))
        elastic, energies = [], []
        for point, depth in zip(points, depths, strict=True):
            force, energy = laws.elastic_force(c, n, ca.fmax(0, depth))
            elastic.append(point.weight * force)
            energies.append(energy)
        # Where nothing presses yet, the deepest points are where it will
        counts = [f + laws.TINY * (depth >= most) for f, depth in zip(elastic, depths, strict=True)]
        whole = sum(counts)
        approach = patch.approaches[0]
        if len(points) > 1:
            approach = sum(count * one for count, one in zip(counts, patch.approaches, strict=True)) / whole
        if self.damping == "KelvinVoigt":
            force = laws.kelvin_voigt(sum(elastic), self.d_n, approach)
            damped = [force] if len(points) == 1 else [count / whole * force for count in counts]
        else:
            if self.damping == "Restitution":
                met = self.shared(ca.fmax(approach, self.v_min), closed)
                impact = self.hold(self.edge(closed > 0.5), value=met, start=self.v_min)
                d = laws.damping_number(self.e) / impact
            else:
                d = self.d
            damped = [laws.hunt_crossley(f, d, one) for f, one in zip(elastic, patch.approaches, strict=True)]
        lost = sum((f - g) * one for f, g, one in zip(damped, elastic, patch.approaches, strict=True))
        return _Pressed(patch, damped, counts, energies, lost)

    @staticmethod
    def touches(a: Geometry, b: Geometry) -> bool:
        """True where the points of contact of two geometries, which need be part of nothing, are known."""
        return number_of_patches(a, b) > 0 and operations(a, b) <= MOST

    @staticmethod
    def operations(a: Geometry, b: Geometry) -> int:
        """About how many operations two geometries that touch at many points take each time; 0 for others."""
        return operations(a, b)


@dataclasses.dataclass(frozen=True)
class _Patch:
    """Points of contact, and how a moves relative to b: velocity [m/s] at an origin, and angular velocity [rad/s]."""

    points: Patch
    origin: Any
    v: Any
    w: Any

    @functools.cached_property
    def is_flat(self) -> bool:
        """Do all points have one normal, and stay where they are on their shapes?"""
        return all(point.normal is self.points[0].normal and point.twist is None for point in self.points)

    @functools.cached_property
    def arms(self) -> list[Any]:
        """Torque of a unit of force at each point about the origin [m]."""
        return [
            cross(point.place - self.origin, point.normal) + (0 if point.twist is None else point.twist)
            for point in self.points
        ]

    @functools.cached_property
    def approaches(self) -> list[Any]:
        """Speed with which the surfaces come nearer to each other at each point [m/s]."""
        if not self.is_flat:
            pairs = zip(self.points, self.arms, strict=True)
            return [-ca.dot(point.normal, self.v) - ca.dot(arm, self.w) for point, arm in pairs]
        n = self.points[0].normal
        along, turning = ca.dot(n, self.v), cross(n, self.w)
        return [-along - ca.dot(point.place - self.origin, turning) for point in self.points]


@dataclasses.dataclass(frozen=True)
class _Pressed:
    """Points that press: their forces [N], how much each counts in the centre of pressure, energies [J], lost power."""

    patch: _Patch
    forces: list[Any]
    counts: list[Any]
    energies: list[Any]
    lost: Any

    @property
    def energy(self) -> Any:
        points = self.patch.points
        return sum(point.weight * energy for point, energy in zip(points, self.energies, strict=True))

    @functools.cached_property
    def f_n(self) -> Any:
        """Sum of the normal forces [N]."""
        return sum(self.forces)

    @functools.cached_property
    def force(self) -> Any:
        """Their sum as a vector [N]."""
        if self.patch.is_flat:
            return self.f_n * self.normal
        return sum(f * point.normal for f, point in zip(self.forces, self.patch.points, strict=True))

    def _mean(self, vectors: list[Any]) -> Any:
        if len(vectors) == 1:
            return vectors[0]
        return sum(count * v for count, v in zip(self.counts, vectors, strict=True)) / sum(self.counts)

    @functools.cached_property
    def place(self) -> Any:
        """Centre of pressure [m]."""
        return self._mean([point.place for point in self.patch.points])

    @functools.cached_property
    def normal(self) -> Any:
        """Mean of the normals, a unit vector."""
        if self.patch.is_flat:
            return self.patch.points[0].normal
        mean = self._mean([point.normal for point in self.patch.points])
        return mean / guarded_length(mean, laws.TINY)

    @functools.cached_property
    def grip(self) -> Any:
        """Mean distance of the forces from the centre of pressure [m]; None where there is but one point."""
        if len(self.forces) == 1:
            return None
        away = [guarded_length(point.place - self.place, laws.TINY) for point in self.patch.points]
        return self._mean(away)

    @property
    def torque(self) -> Any:
        """Torque of the normal forces about the origin [N.m], with that of weights that depend on how a is turned."""
        points, origin = self.patch.points, self.patch.origin
        if self.patch.is_flat:
            arm = sum(f * (point.place - origin) for f, point in zip(self.forces, points, strict=True))
            return cross(arm, self.normal)
        found = sum(f * arm for f, arm in zip(self.forces, self.patch.arms, strict=True))
        turns: dict[int, list[Any]] = {}  # edges of one direction have the same
        for energy, point in zip(self.energies, points, strict=True):
            if point.turn is not None:
                turns.setdefault(id(point.turn), [0, point.turn])[0] += energy
        return sum((energy * turn for energy, turn in turns.values()), found)


class ContactGroup(ContactLaw):
    """Contact by one law between all pairs of a group, or of two groups; a part `a_b` for each."""

    modelica_name = "Contact.ContactGroup"

    geometries_a = Parameter(t.String, required, "Names of geometries", shape=None)
    geometries_b = Parameter(
        t.String, (), "Names of those that may touch these; where there are none, all pairs of geometries_a", shape=None
    )
    exclude = Parameter(t.String, (), "Pairs of names that do not touch", shape=None)

    def modify(self, **modifiers: Any) -> None:
        """As ContactLaw.modify; geometries may be given themselves. Pairs are made anew."""
        for name in {"geometries_a", "geometries_b", "exclude"} & set(modifiers):
            modifiers[name] = _names(modifiers[name])
        super().modify(**modifiers)
        if set(modifiers) & set(ContactLaw.declarations):
            self._rebuild()

    def build(self) -> None:
        law = {name: getattr(self, name) for name in ContactLaw.declarations if self.parameter(name) is not None}
        for a, b in self._pairs():
            name = "_".join(re.findall(r"\w+", f"{a} {b}"))
            while name in self.parts:
                name += "_"
            self.add(name, Contact(geometry_a=a, geometry_b=b, **law))

    def _pairs(self) -> Iterator[tuple[str, str]]:
        one, others = _listed(self.geometries_a), _listed(self.geometries_b)
        known = {*one, *others}
        for pair in self.exclude:
            if isinstance(pair, str) or len(pair) != 2 or not set(pair) <= known:
                raise ModelError(
                    f"{self.where}.exclude = {self.exclude!r:.60}: expected pairs of two names of this group's "
                    f"geometries ({', '.join(sorted(known))}), such as [[{one[0]!r}, {(*others, *one)[-1]!r}]]"
                )
        excluded = {frozenset(pair) for pair in self.exclude}
        found = False
        for a, b in product(one, others) if others else combinations(one, 2):
            if a != b and frozenset((a, b)) not in excluded:
                found = True
                yield a, b
        if not found:
            raise ModelError(
                f"{self.where}: the group of {', '.join(sorted(known)) or 'nothing'} has no pair that may touch; name "
                "two geometries or more, or leave the group out"
            )


def name_of(geometry: Any) -> Any:
    """Name of a geometry that is part of an assembly; all else as it is."""
    if not isinstance(geometry, Geometry):
        return geometry
    if geometry.part_of is None:
        raise ModelError(
            f"a contact is given a {type(geometry).__name__} that is part of nothing; assign it to an attribute of the "
            "assembly first, or give its name"
        )
    return geometry.path


def _names(value: Any) -> Any:
    return [_names(part) for part in value] if isinstance(value, list | tuple) else name_of(value)


def _listed(names: Any) -> tuple[str, ...]:
    """Names in the order given, each once."""
    return tuple(dict.fromkeys((names,) if isinstance(names, str) else names))


__all__ = ["Contact", "ContactGroup", "ContactLaw"]
