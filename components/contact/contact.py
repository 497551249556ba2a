"""Contact between two geometries, and between all pairs of a group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import casadi as ca

from mbfmu.components.animation import FORCE_COLOR, Animated
from mbfmu.components.contact import laws
from mbfmu.components.contact.geometry import Geometry, Plane
from mbfmu.components.contact.pairs import Point, Solid, curvature, is_round, number_of_points, points
from mbfmu.components.interfaces import guarded_length
from mbfmu.errors import ModelError
from mbfmu.frames import angular_velocity1, cross, resolve1, resolve2
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


def _has_friction(self: Any) -> bool:
    return bool(self.friction == "Coulomb")


def _turns(self: Any) -> bool:
    return bool(self.turning == "Coulomb")


class Arrows(Animated):
    """Arrows of force at points of contact."""

    scale = Parameter(t.Real, 1e-3, "Length of an arrow of force per newton [m/N]", min=0, animation=True)
    arrowDiameter = Parameter(
        t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of arrows of force", animation=True
    )


class ContactLaw(Arrows):
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
    friction = Parameter(
        Friction, lambda self: "Coulomb" if self.is_given("mu_k") else "None", "Friction against sliding"
    )
    mu_k = Parameter(
        t.Dimensionless, required, "Coefficient of sliding friction", min=0, tunable=True, when=_has_friction
    )
    mu_s = Parameter(
        t.Dimensionless,
        lambda self: self.mu_k,
        "Coefficient of static friction",
        min=0,
        tunable=True,
        when=_has_friction,
    )
    v_S = Parameter(
        t.Velocity,
        1e-2,
        "Speed of sliding (Stribeck's) at which friction has come down to mu_k + (mu_s - mu_k)/e",
        min=1e-9,
        tunable=True,
        when=_has_friction,
    )
    c_t = Parameter(
        t.TranslationalSpringConstant,
        required,
        "Tangential stiffness of a point of contact that sticks",
        min=0,
        nonzero=True,
        when=_has_friction,
    )
    d_t = Parameter(
        t.TranslationalDampingConstant,
        lambda self: self.c_t * RELAXATION,
        "Tangential damping of a point of contact that sticks",
        min=0,
        nonzero=True,
        when=_has_friction,
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

    def check_values(self) -> None:
        super().check_values()
        if _has_friction(self):
            mu_s, mu_k = self.value("mu_s"), self.value("mu_k")
            if not (is_expression(mu_s) or is_expression(mu_k)) and mu_s < mu_k:
                raise ModelError(
                    f"{self.where}.mu_s = {mu_s:g}: static friction is at least sliding friction, mu_k = {mu_k:g}; "
                    "give a greater mu_s, or leave it out"
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


_NEEDS = {
    **dict.fromkeys(("E_a", "E_b", "nu_a", "nu_b"), "with normalLaw = 'PowerLaw'; leave it out, or give E_a and no c"),
    **dict.fromkeys(("c", "n"), "with normalLaw = 'Hertz'; leave it out, or give c and no E_a"),
    **dict.fromkeys(("d", "e", "v_min", "d_n"), "with damping = {0.damping!r}; give one of d, e and d_n"),
    **dict.fromkeys(("mu_k", "mu_s", "v_S", "c_t", "d_t"), "without friction; give mu_k, too"),
    **dict.fromkeys(("mu_r", "mu_d", "c_r", "d_r"), "without rolling resistance; give mu_r or mu_d, too"),
}


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
        where, owner = f"{self.where}.geometry_{end} = {name!r}", self.part_of
        known: list[str] = []
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
            prefix = len(owner.path) + 1 if owner.path else 0
            known += [one.path[prefix:] for one in owner.walk() if isinstance(one, Geometry)]
            owner = owner.part_of
        raise ModelError(f"{where}: there is no such geometry; {suggestion(name, known)}")

    def points(self) -> list[Point]:
        """The points of contact as the frames move, which a pair that is connected has."""
        a, b = self.frame_a, self.frame_b
        found = points(
            *(
                Solid(geometry, frame.r_0 + resolve1(frame.R, geometry.r), frame.R)
                for geometry, frame in ((self.geometry("a"), a), (self.geometry("b"), b))
            )
        )
        assert found is not None
        return found

    @property
    def each(self) -> tuple[int]:
        """Shape of what every point of contact has."""
        if self.part_of is None:
            return (1,)
        return (number_of_points(self.geometry("a"), self.geometry("b")),)

    def check_connections(self, connected: set[str]) -> None:
        """The pair must have a closed form."""
        super().check_connections(connected)
        a, b = self.geometry("a"), self.geometry("b")
        if a is b:
            raise ModelError(f"{self.where}: {a.where} cannot touch itself; name another geometry")
        if isinstance(a, Plane) and isinstance(b, Plane):
            raise ModelError(f"{self.both} are two planes, which do not touch; give one of them another shape")
        if not self.each[0]:
            raise ModelError(
                f"{self.both} have no contact in closed form; a Plane touches all other shapes, a Sphere all but an "
                "Ellipsoid, a Capsule another one: make one of them up of such shapes"
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
        when=_has_friction,
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
        found = self.points()
        stiffness, exponent = self._elasticity(*geometries)
        self.gap = ca.vertcat(*(point.gap for point in found))
        self._stay_outside(*geometries)
        w_a, w_b = angular_velocity1(a.R), angular_velocity1(b.R)
        torque_a, torque_b, stored, lost = ca.SX.zeros(3), ca.SX.zeros(3), ca.SX.zeros(1), ca.SX.zeros(1)
        forces, normal_forces, frictions, rates_z, rates_phi = [], [], [], [], []
        for i, point in enumerate(found):
            n, r_a, r_b = point.normal, point.place - a.r_0, point.place - b.r_0
            v = self.der(a.r_0) + cross(w_a, r_a) - self.der(b.r_0) - cross(w_b, r_b)
            approach = -ca.dot(n, v)
            elastic, energy, f_n = self._press(point, approach, stiffness, exponent)
            stored, lost = stored + energy, lost + (f_n - elastic) * approach
            f_t, moment = ca.SX.zeros(3), ca.SX.zeros(3)
            if _has_friction(self):
                v_t, z = v + approach * n, resolve1(b.R, self.z[3 * i : 3 * i + 3])
                f_t, z_rate = self._rub(n, v_t, z, f_n)
                stored, lost = _spent(stored, lost, self.c_t, z, z_rate, ca.dot(f_t, v_t))
                rates_z.append(resolve2(b.R, z_rate))
            if _turns(self):
                w, phi = w_a - w_b, resolve1(b.R, self.phi[3 * i : 3 * i + 3])
                moment, phi_rate = self._turn(n, w, phi, f_n)
                stored, lost = _spent(stored, lost, self.c_r, phi, phi_rate, ca.dot(moment, w))
                rates_phi.append(resolve2(b.R, phi_rate))
            f = f_n * n - f_t
            torque_a, torque_b = torque_a + cross(r_a, f) - moment, torque_b - cross(r_b, f) + moment
            forces.append(f)
            normal_forces.append(f_n)
            frictions.append(guarded_length(f_t, laws.TINY) if _has_friction(self) else 0)
        self.f_n, self.f_t = ca.vertcat(*normal_forces), ca.vertcat(*frictions)
        self.f_c, self.r_c = ca.horzcat(*forces).T, ca.horzcat(*(point.place for point in found)).T
        self.f_a = force = ca.sum2(ca.horzcat(*forces))
        if rates_z:
            self.der.z = ca.vertcat(*rates_z)
        if rates_phi:
            self.der.phi = ca.vertcat(*rates_phi)
        a.f, a.t = -resolve2(a.R, force), -resolve2(a.R, torque_a)
        b.f, b.t = resolve2(b.R, force), -resolve2(b.R, torque_b)
        self.energy(potential=stored, dissipated=lost)

    def _rub(self, n: Any, v_t: Any, z: Any, f_n: Any) -> tuple[Any, Any]:
        """Friction against sliding with v_t, and how its bristle gives way; what of z the normal has left dies away."""
        across = n * ca.dot(n, z)
        most = laws.coulomb(self.mu_k, self.mu_s, self.v_S, v_t) * f_n
        f_t, rate = laws.bristle(self.c_t, self.d_t, z - across, v_t, most)
        return f_t, rate - self.c_t / self.d_t * across

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

    def _stay_outside(self, a: Geometry, b: Geometry) -> None:
        """Refuse overlap that is none of a contact; end the run where surfaces say nothing of the depth any more."""
        sizes = [geometry.size for geometry in (a, b) if geometry.size is not None]
        least, size = ca.mmin(self.gap), ca.mmin(ca.vertcat(*sizes))
        self.require(
            self.hold(self.initial, value=least) + OVERLAP * size,
            f"{a.where} and {b.where} overlap at the start by {{}} m more than a tenth of their size; start them "
            "further apart",
        )
        if len(sizes) == 2:  # a plane has no other side
            self.require(
                least + size,
                f"{a.where} is so deep in {b.where} that it comes out on the other side; give the contact a greater "
                "stiffness, or make the bodies slower",
            )

    def _press(self, point: Point, approach: Any, c: Any, n: Any) -> tuple[Any, Any, Any]:
        """Elastic force, its energy, and the damped force, while the surfaces overlap."""
        depth = self.margin - point.gap
        closed = self.switch(depth, 1, 0)
        elastic, energy = laws.elastic_force(c, n, ca.fmax(0, depth))
        elastic, energy = ca.if_else(closed, elastic, 0), ca.if_else(closed, energy, 0)
        if self.damping == "HuntCrossley":
            return elastic, energy, laws.hunt_crossley(elastic, self.d, approach)
        if self.damping == "KelvinVoigt":
            return elastic, energy, ca.if_else(closed, laws.kelvin_voigt(elastic, self.d_n, approach), 0)
        impact = self.hold(self.edge(closed > 0.5), value=ca.fmax(approach, self.v_min), start=self.v_min)
        return elastic, energy, laws.hunt_crossley(elastic, laws.damping_number(self.e) / impact, approach)

    @staticmethod
    def touches(a: Geometry, b: Geometry) -> bool:
        """True where the points of contact of two geometries, which need be part of nothing, are known."""
        return number_of_points(a, b) > 0


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


def _spent(stored: Any, lost: Any, c: Any, z: Any, rate: Any, power: Any) -> tuple[Any, Any]:
    """Energies with those of a bristle that takes up some power: what it does not store turns into heat."""
    return stored + c * ca.sumsqr(z) / 2, lost + power - c * ca.dot(z, rate)


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
