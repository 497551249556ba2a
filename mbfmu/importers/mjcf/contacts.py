"""Geoms that may touch, as geometries at their bodies' frames and a contact for each pair (docs/mjcf.md).

Which pairs these are follows MuJoCo's documentation (chapter Computation, Collision detection, Selection); what law two
geoms have is asked of MuJoCo itself, whose versions differ in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mbfmu.importers.builder import Builder
from mbfmu.importers.geometry import clean
from mbfmu.importers.mjcf.bodies import Bodies
from mbfmu.importers.mjcf.geoms import DRAWN_GROUPS
from mbfmu.importers.mjcf.rotations import matrix
from mbfmu.importers.mjcf.source import Source
from mbfmu.modeling.component import Component
from mbfmu.modeling.registry import component_class

#: Each pair is looked at in each step; with more the equations of a model take longer than anyone waits.
MOST_PAIRS = 500
#: The same of the operations that pairs of shapes with many points take (`operations` of a Contact).
MOST_OPERATIONS = 600_000
#: Inverse masses [1/kg] and inertias [1/(kg.m2)] below this are none.
NOTHING = 1e-12
#: Kinds of geoms that do not touch each other.
STILL = ("PLANE", "HFIELD")
#: Names of classes of geometry that are not those of the kind.
CLASSES = {"MESH": "ConvexMesh", "HFIELD": "HeightField"}
#: Two spheres that overlap: what MuJoCo makes of their parameters is what it makes of those of any two geoms.
PROBE = """<mujoco><worldbody><geom name="a" size="1"/><body><freejoint/><geom name="b" size="1"/></body></worldbody>{}
</mujoco>"""
PAIR = '<contact><pair geom1="a" geom2="b"/></contact>'


def add_contacts(source: Source, builder: Builder, bodies: Bodies) -> None:
    """A contact for each pair of geoms that may touch, and the geometries of these."""
    if source.off("CONTACT") or "contact" in source.left_out:
        return
    maker = _Contacts(source, builder, bodies)
    pairs = [*_named_pairs(source), *_free_pairs(source)]
    if len(pairs) > MOST_PAIRS:
        source.gap(
            "contact",
            f"{MOST_PAIRS + 1} or more pairs of geoms may touch, each of which is looked at in each step (leave "
            f"{MOST_PAIRS} or less by contype and conaffinity, or name those that matter in <pair>)",
        )
        return
    for g, h, pair in pairs:
        if not maker.add(g, h, pair):
            return
    if maker.count:
        builder.note(f"{maker.count} contacts have MuJoCo's solref at full impedance (docs/mjcf.md)")


def may_touch(source: Source) -> str:
    """The first pair of geoms that may touch; '' where none can."""
    for g, h, _ in (*_named_pairs(source), *_free_pairs(source, most=1)):
        return f"{_called(source, g)} and {_called(source, h)}, and maybe others"
    return ""


def _named_pairs(source: Source) -> Iterator[tuple[int, int, int | None]]:
    """Pairs that the file names, whatever the geoms' masks are."""
    model = source.model
    for p in range(model.npair):
        yield int(model.pair_geom1[p]), int(model.pair_geom2[p]), p


def _free_pairs(source: Source, most: int = MOST_PAIRS) -> Iterator[tuple[int, int, int | None]]:
    """Pairs that MuJoCo finds by masks and bodies, and that the file does not name; ends soon after `most` of them."""
    model = source.model
    if not model.ngeom:
        return
    named = {frozenset(pair[:2]) for pair in _named_pairs(source)}
    excluded = {int(s) for s in model.exclude_signature} if model.nexclude else set()
    filters = not source.off("FILTERPARENT") if hasattr(source.mujoco.mjtDisableBit, "mjDSBL_FILTERPARENT") else True
    types, affinities = np.array(model.geom_contype), np.array(model.geom_conaffinity)
    body = np.array(model.geom_bodyid)
    weld = np.array(model.body_weldid)[body]
    above = np.array(model.body_weldid)[np.array(model.body_parentid)[weld]]
    still = np.isin(model.geom_type, [_number(source, kind) for kind in STILL])
    found = 0
    for g in range(model.ngeom):
        others = np.arange(g + 1, model.ngeom)
        match = ((types[g] & affinities[others]) | (types[others] & affinities[g])) != 0
        match &= weld[others] != weld[g]
        match &= ~(still[g] & still[others])
        if filters:
            match &= (above[others] != weld[g]) | (weld[g] == 0)
            match &= (weld[others] != above[g]) | (weld[others] == 0)
        for h in map(int, others[match]):
            a, b = sorted((int(body[g]), int(body[h])))
            if (a << 16) + b in excluded or (b << 16) + a in excluded or frozenset((g, h)) in named:
                continue
            yield g, h, None
            found += 1
            if found > most:
                return


class _Contacts:
    """Geometries and contacts in the making."""

    def __init__(self, source: Source, builder: Builder, bodies: Bodies) -> None:
        self.source, self.builder, self.bodies = source, builder, bodies
        self.count = self.operations = 0
        self._names: dict[int, str] = {}
        self._geometries: dict[int, Component | None] = {}
        self._probes: dict[bool, tuple[Any, Any]] = {}
        self._knows: Any = component_class("Contact.Contact")

    def add(self, g: int, h: int, pair: int | None) -> bool:
        """A contact between two geoms, by the parameters of a <pair> where there is one; False: it is one too many."""
        source, a, b = self.source, self._geometry(g), self._geometry(h)
        names = " and ".join(f"{_called(source, i)} ({_kind(source, i).lower()})" for i in (g, h))
        if a is None or b is None or not self._knows.touches(a, b):
            source.gap("pairs", names)
            return True
        self.operations += self._knows.operations(a, b)
        if self.operations > MOST_OPERATIONS:
            source.gap(
                "contact",
                f"pairs up to {names} touch at more points than can be looked at in each step (leave some out by "
                "contype and conaffinity, or name those that matter in <pair>)",
            )
            return False
        law = self._law(g, h, pair, names)
        if law is None:
            return True
        one, other = self._place(g, a), self._place(h, b)
        self.builder.new(f"{one}_{other}", "Contact.Contact", geometry_a=one, geometry_b=other, **law)
        self.count += 1
        return True

    def _geometry(self, g: int) -> Component | None:
        """The geometry of a geom, not yet part of anything; None where there is none of its kind."""
        if g not in self._geometries:
            model, kind = self.source.model, _kind(self.source, g)
            size, R = [float(v) for v in model.geom_size[g]], matrix(model.geom_quat[g])
            block: dict[str, Any] = _axes(R)
            block |= {name: 2 * half for name, half in zip(("length", "width", "height"), size, strict=True)}
            oblong = {"n": clean(R[:, 2]), "radius": size[0], "length": 2 * size[1]}
            is_drawn = int(model.geom_group[g]) < DRAWN_GROUPS  # other kinds are drawn as shapes
            side = 2 * max(size[:2]) or 4 * float(model.stat.extent)
            forms: dict[str, dict[str, Any]] = {
                "PLANE": {"n": clean(R[:, 2]), "length": side, "animation": is_drawn},
                "SPHERE": {"radius": size[0]},
                "CAPSULE": oblong,
                "CYLINDER": oblong,
                "BOX": block,
                "ELLIPSOID": block,
            }
            if kind == "MESH":
                forms[kind] = {"vertices": self._vertices(int(model.geom_dataid[g])), **_axes(R)}
            elif kind == "HFIELD":
                forms[kind] = {**self._heights(int(model.geom_dataid[g])), **_axes(R), "animation": is_drawn}
            self._geometries[g] = (
                component_class(f"Contact.{CLASSES.get(kind, kind.title())}")(
                    r=clean(model.geom_pos[g]), **{"animation": False, **forms[kind]}
                )
                if kind in forms
                else None
            )
        return self._geometries[g]

    def _vertices(self, mesh: int) -> np.ndarray:
        """Vertices of a mesh [m], of which a contact takes the hull, as MuJoCo does."""
        model, begin = self.source.model, int(self.source.model.mesh_vertadr[mesh])
        return np.array(model.mesh_vert[begin : begin + int(model.mesh_vertnum[mesh])], dtype=float)

    def _heights(self, field: int) -> dict[str, Any]:
        """Grid of a height field, whose rows run along y in MuJoCo, and its sizes [m]."""
        model, begin = self.source.model, int(self.source.model.hfield_adr[field])
        rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
        size = [float(v) for v in model.hfield_size[field]]
        z = np.array(model.hfield_data[begin : begin + rows * columns], dtype=float).reshape(rows, columns)
        return {"z": size[2] * z.T, "length": 2 * size[0], "width": 2 * size[1]}

    def _place(self, g: int, geometry: Component) -> str:
        """Name of a geom's geometry, at its body's frame."""
        if g not in self._names:
            model, builder, body = self.source.model, self.builder, int(self.source.model.geom_bodyid[g])
            name = builder.names.new(model.geom(g).name or f"{self.bodies.names[body]}_geom", suffix="_geom")
            builder.assembly.add(name, geometry)
            builder.connect(self.bodies.frames[body], geometry.connector("frame_a"))
            self._names[g] = name
        return self._names[g]

    def _law(self, g: int, h: int, pair: int | None, names: str) -> dict[str, Any] | None:
        """Parameters of a contact; None where there is no such law."""
        source, contact = self.source, self._combined(g, h, pair)
        # How much two geoms give way to a force and to a torque at the reference position, as MuJoCo has it
        gives, turns = self._gives(g) + self._gives(h), self._turns(g) + self._turns(h)
        stiffness, damping = source.reference(contact.solref)
        if stiffness <= 0 or gives < NOTHING:
            source.gap(
                "contact", f"{names}, {'whose solref has no stiffness' if stiffness <= 0 else 'none of which can move'}"
            )
            return None
        law: dict[str, Any] = {"c": stiffness / gives, "d_n": damping / gives}
        if contact.includemargin > 0:
            law["margin"] = float(contact.includemargin)
        sliding, drilling, rolling = ([float(v) for v in contact.friction[i:j]] for i, j in ((0, 2), (2, 3), (3, 5)))
        for kind, least, (one, other) in (("sliding", 3, sliding), ("rolling", 6, rolling)):
            if contact.dim >= least and one != other:
                mean = (one + other) / 2
                self.builder.note(
                    f"{kind} friction of {names} is {mean:g} in all directions, not {one:g} and {other:g}"
                )
        if np.any(contact.solreffriction):
            own, damping = source.reference(contact.solreffriction)
            stiffness = own or stiffness
        if contact.dim > 1 and np.mean(sliding) > 0:
            law |= {"mu_k": float(np.mean(sliding)), "c_t": stiffness / gives, "d_t": damping / gives}
        mu_d, mu_r = drilling[0] * (contact.dim > 3), float(np.mean(rolling)) * (contact.dim > 4)
        if (mu_d or mu_r) and turns > NOTHING:
            law |= {"mu_d": mu_d, "mu_r": mu_r, "c_r": stiffness / turns, "d_r": damping / turns}
        if damping <= 0:  # a bristle needs some; that of the library has its own time
            for name in {"d_t", "d_r"} & law.keys():
                del law[name]
        return law

    def _gives(self, g: int) -> float:
        """Inverse mass of a geom's body [1/kg]; at its surface where its centre of mass cannot move."""
        model = self.source.model
        body = int(model.geom_bodyid[g])
        mobility = float(model.body_invweight0[body][0])
        return mobility if mobility > NOTHING else self._turns(g) * float(model.geom_rbound[g]) ** 2

    def _turns(self, g: int) -> float:
        """Inverse inertia of a geom's body [1/(kg.m2)]."""
        model = self.source.model
        return float(model.body_invweight0[int(model.geom_bodyid[g])][1])

    def _combined(self, g: int, h: int, pair: int | None) -> Any:
        """MuJoCo's contact between two geoms, from two spheres that are given their parameters."""
        mujoco, model = self.source.mujoco, self.source.model
        is_pair = pair is not None
        if is_pair not in self._probes:
            made = mujoco.MjModel.from_xml_string(PROBE.format(PAIR if is_pair else ""))
            self._probes[is_pair] = made, mujoco.MjData(made)
        probe, data = self._probes[is_pair]
        fields = [name for name in dir(model) if name.startswith("pair_" if is_pair else "geom_")]
        wanted = [
            "dim",
            "condim",
            "solref",
            "solreffriction",
            "solimp",
            "solmix",
            "friction",
            "margin",
            "gap",
            "priority",
        ]
        for name in fields:
            if name.partition("_")[2] in (*wanted, "priority"):
                for to, of in ((0, pair),) if is_pair else ((0, g), (1, h)):
                    getattr(probe, name)[to] = getattr(model, name)[of]
        probe.opt.enableflags = model.opt.enableflags
        for name in ("o_margin", "o_solref", "o_solimp", "o_friction"):
            setattr(probe.opt, name, getattr(model.opt, name))
        mujoco.mj_forward(probe, data)
        return data.contact[0]


def _axes(R: np.ndarray) -> dict[str, Any]:
    """Directions of a geom's axes x and y."""
    return {"lengthDirection": clean(R[:, 0]), "widthDirection": clean(R[:, 1])}


def _kind(source: Source, g: int) -> str:
    return source.kind("mjtGeom", source.model.geom_type[g])


def _number(source: Source, kind: str) -> int:
    return int(getattr(source.mujoco.mjtGeom, f"mjGEOM_{kind}"))


def _called(source: Source, g: int) -> str:
    return source.called("geom", g)
