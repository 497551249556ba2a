"""MJCF, MuJoCo's format, -> Assembly (docs/mjcf.md).

MuJoCo itself reads and compiles the file: its model has defaults, includes and inertias of geoms resolved. What is
read here is that model; the numbers of its fields are MuJoCo's (mujoco.readthedocs.io, XMLreference and mjModel).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import pathlib
import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from mbfmu.errors import MbfmuError, ModelError
from mbfmu.importers.draft import NEGLIGIBLE, Axis, Draft, clean, mesh_placement
from mbfmu.importers.places import Place
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.connectors import Connector, Reference
from mbfmu.modeling.declarations import Start

#: What a file may have that assemblies have not, and that `without` leaves out.
FEATURES = {
    "contact": "contact between geoms",
    "tendons": "tendons",
    "fluid": "forces of the surrounding fluid",
    "flex": "flexible bodies",
    "mocap": "bodies that a user moves (mocap)",
    "gravcomp": "compensation of gravity",
    "plugins": "plugins",
    "limits": "limits of joints",
    "damping": "damping that is not linear",
    "stiffness": "stiffness that is not linear, or of ball and free joints",
    "armature": "armature of ball and free joints",
    "frictionloss": "dry friction of ball and free joints",
    "equality": "couplings other than connect, weld and linear joint",
    "actuators": "actuators other than on a hinge, slide or site, with a gain and linear feedback",
    "sensors": "sensors other than of joints, actuators and frames",
}
#: Geoms of these groups are drawn, as MuJoCo's viewer does at the start.
DRAWN_GROUPS = 3
#: So many elements may come from copying others: MuJoCo's time grows with their square.
MOST_COPIES = 20_000
_COPYING = (b"replicate", b"composite", b"flexcomp")
#: What of a file is no element, and the tag of an element: closing, name, attributes, without content.
_NO_ELEMENT = re.compile(rb"<!--.*?-->|<\?.*?\?>|<!.*?>", re.DOTALL)
_TAG = re.compile(rb"<(/?)\s*([\w.:-]+)([^<>]*?)(/?)>")
#: Time constant [s] and damping ratio of constraints for which the file gives none.
DEFAULT_SOLREF = (0.02, 1.0)
#: Where a message of MuJoCo, or what its specification keeps of an element, says the line.
_LINE = re.compile(r"line(?: number\s*=|)\s*(\d+)", re.IGNORECASE)


def load(
    path: pathlib.Path, *, into: Assembly | None = None, without: str | Sequence[str] = (), stops: bool = True
) -> Assembly:
    """Read an MJCF file; the package mujoco must be installed.

    Args:
        path: the file.
        into: an assembly of one's own that takes the parts; else one is made that is called like the model.
        without: features to leave out (`FEATURES`), as names or one text with commas between them.
        stops: limits of hinges and slides become elastic stops, with MuJoCo's own stiffness; False leaves them out.

    Raises:
        ModelError: mujoco is not installed or refuses the file, or the file has a feature without counterpart that
            `without` does not name; the message names lines and elements.
    """
    left_out = {name.strip() for name in without.split(",")} if isinstance(without, str) else set(without)
    unknown = sorted(left_out - set(FEATURES) - {""})
    if unknown:
        raise ModelError(f"{path}: without = {', '.join(unknown)}: known are {', '.join(FEATURES)}")
    root = first_tag(path)
    if root == "robot":
        raise Place(path).error("is a URDF; give the file a name that ends with .urdf")
    if root != "mujoco":
        raise Place(path).error(f"its root is <{root}>, that of MJCF is <mujoco>" if root else "is no XML")
    try:
        import mujoco
    except ImportError:
        raise ModelError(f"{path}: MJCF files are read by MuJoCo; run `pip install 'mbfmu[mjcf]'`") from None
    refuse_copies(path)
    said: list[str] = []
    spec, model = compiled(path, mujoco, said)
    if not stops:
        left_out.add("limits")
    try:
        assembly = _Reader(path, spec, model, mujoco, into, left_out).assembly()
    except MbfmuError as error:
        raise error if str(error).startswith(str(path)) else ModelError(f"{path}: {error}") from error
    assembly.notes += tuple(f"warning: MuJoCo says: {' '.join(text.split())}" for text in said)
    return assembly


def first_tag(path: pathlib.Path) -> str:
    """Tag of the root element; all else is left to MuJoCo, whose parser takes more than the standard allows."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error
    found = re.search(rb"<\s*([\w.:-]+)", _NO_ELEMENT.sub(b"", text))
    return found[1].decode(errors="replace") if found else ""


def refuse_copies(path: pathlib.Path) -> None:
    """Refuse a file whose elements replicate, composite and flexcomp make more of than a mechanism has.

    MuJoCo would make them all before it gives control back. Files that are included are looked into, too; what is
    no number, or is not there, is left to MuJoCo.

    Raises:
        ModelError: there are more than `MOST_COPIES`.
    """
    copies, looked_into = 0, set[pathlib.Path]()

    def look(file: pathlib.Path, times: int) -> None:
        nonlocal copies
        if file in looked_into or not file.is_file():
            return
        looked_into.add(file)
        around = [times]  # how often each open element is there
        for found in _TAG.finditer(_NO_ELEMENT.sub(b"", file.read_bytes())):
            closing, name, attributes, alone = found.groups()
            if closing:
                around = around[: max(1, len(around) - 1)]
                continue
            count = re.search(rb"\bcount\s*=\s*[\"']([\d\s]+)[\"']", attributes) if name in _COPYING else None
            here = around[-1] * (math.prod(map(int, count[1].split())) if count else 1)
            copies += here if here > 1 else 0
            if copies > MOST_COPIES:
                raise Place(path).error(
                    f"<{name.decode()}> and what it copies are more than {MOST_COPIES} elements; make fewer of them"
                )
            inner = (
                re.search(rb"\bfile\s*=\s*[\"']([^\"']+)[\"']", attributes) if name in (b"include", b"model") else None
            )
            if inner:
                look(path.parent / inner[1].decode(errors="replace"), here)
            if not alone:
                around.append(here)

    look(path, 1)


def compiled(path: pathlib.Path, mujoco: Any, said: list[str]) -> tuple[Any, Any]:
    """MuJoCo's specification and its compiled model; its warnings go to `said`, not to a log in the user's folder.

    Raises:
        ModelError: MuJoCo refuses the file.
    """
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        spec: Any = mujoco.MjSpec.from_file(str(path))
        return spec, spec.compile()
    except Exception as error:  # ValueError, FatalError, and what its bindings raise else
        text = "; ".join(filter(None, map(str.strip, str(error).splitlines()))) or type(error).__name__
        line = _LINE.search(text)
        raise Place(path, int(line[1]) if line else None).error(f"MuJoCo refuses it: {text}") from error
    finally:
        mujoco.set_mju_user_warning(before)


def turned(quaternion: np.ndarray) -> dict[str, Any] | None:
    """Modifiers of a FixedRotation for MuJoCo's quaternion (scalar first), None for no rotation."""
    w, axis = float(quaternion[0]), np.asarray(quaternion[1:], dtype=float)
    length = float(np.linalg.norm(axis))
    if length < NEGLIGIBLE:
        return None
    return {"n": clean(axis / length), "angle": math.degrees(2 * math.atan2(length, w))}


def matrix(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix of MuJoCo's quaternion: takes vectors of the turned frame to the other one."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def angles_123(R: np.ndarray) -> tuple[float, ...]:
    """Angles about the x-, the new y- and the new z-axis that give a rotation matrix."""
    middle = math.asin(min(1.0, max(-1.0, R[0, 2])))
    if abs(R[0, 2]) > 1 - 1e-12:
        return clean([math.atan2(R[1, 0], R[1, 1]), middle, 0.0])
    return clean([math.atan2(-R[1, 2], R[2, 2]), middle, math.atan2(-R[0, 1], R[0, 0])])


@dataclasses.dataclass(frozen=True)
class _Gap:
    """Something that has no counterpart."""

    feature: str
    what: str


class _Reader:
    """Makes an assembly of a compiled model."""

    def __init__(
        self, path: pathlib.Path, spec: Any, model: Any, mujoco: Any, into: Assembly | None, left_out: set[str]
    ) -> None:
        self.path, self.spec, self.model, self.mujoco, self.left_out = path, spec, model, mujoco, left_out
        self.draft = Draft(spec.modelname or path.stem, f"Model {spec.modelname}, read from {path.name}.", into)
        self.gaps: list[_Gap] = []
        names = self.draft.names
        if "world" not in self.draft.assembly.parts:
            names.new("world")
        bodies = [model.body(i).name or f"body{i}" for i in range(model.nbody)]
        self.joint_names = []
        for j in range(model.njnt):
            given = model.joint(j).name
            self.joint_names.append(
                names.new(given or f"{bodies[model.jnt_bodyid[j]]}_joint", "joint" if given else "")
            )
        self.body_names = ["world"]
        for i in range(1, model.nbody):
            given = model.body(i).name
            self.body_names.append(names.new(bodies[i], "body" if given else "", "_body"))
        self.frames: list[Connector] = []
        self.joints: list[Any] = [None] * model.njnt
        self.axes: dict[int, Axis] = {}
        self.sites: dict[int, Connector] = {}
        #: Actuator -> signal of its force, where there is one.
        self.forces: dict[int, Connector] = {}
        #: Kind of element -> index -> what the specification says of its place in the file.
        self._places: dict[str, dict[int, str]] = {}

    # -- what to leave out

    def off(self, flag: str) -> bool:
        """True where the file's own options disable something."""
        bit = getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag}", None)
        if bit is None:
            bit = self.mujoco.mjtDisableBit.mjDSBL_PASSIVE  # one flag for springs and dampers before MuJoCo 3.4
        constraint = self.mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        flags = int(self.model.opt.disableflags)
        return bool(flags & int(bit)) or (
            flag in ("EQUALITY", "LIMIT", "CONTACT", "FRICTIONLOSS") and bool(flags & int(constraint))
        )

    def lacks(self, feature: str, kind: str, index: int, what: str = "") -> bool:
        """Note that an element of the model has no counterpart; always True."""
        self.gaps.append(_Gap(feature, f"{self.called(kind, index)}{f' ({what})' if what else ''}"))
        return True

    def called(self, kind: str, index: int) -> str:
        """How messages call an element: kind, name, line."""
        name = getattr(self.model, kind)(index).name
        if kind not in self._places:
            elements = getattr(self.spec, {"equality": "equalities", "body": "bodies"}.get(kind, f"{kind}s"), [])
            self._places[kind] = {e.id: e.info or "" for e in elements}
        line = _LINE.search(self._places[kind].get(index, ""))
        return f"{kind} {name or index}" + (f" in line {line[1]}" if line else "")

    def value(self, field: str, index: int) -> np.ndarray:
        """A row of a field that not every version of MuJoCo has; zero where there is none."""
        array = getattr(self.model, field, None)
        return np.zeros(1) if array is None or len(array) <= index else np.atleast_1d(array[index])

    def refuse_gaps(self) -> None:
        """Raise ModelError for what is neither read nor left out on request, and note what is left out."""
        model = self.model
        for feature, count in (
            ("tendons", model.ntendon),
            ("flex", model.nflex),
            ("plugins", model.nplugin),
            ("mocap", model.nmocap),
        ):
            if count:
                self.gaps.append(_Gap(feature, f"{count} of them"))
        if (model.opt.density or model.opt.viscosity) and model.nbody > 1:
            self.gaps.append(_Gap("fluid", f"density {model.opt.density:g}, viscosity {model.opt.viscosity:g}"))
        self.gaps += [
            _Gap("gravcomp", self.called("body", i)) for i in range(model.nbody) if float(model.body_gravcomp[i])
        ]
        contact = self.possible_contact()
        if contact and not self.off("CONTACT"):
            self.gaps.append(_Gap("contact", contact))
        found: dict[str, list[str]] = {}
        for gap in self.gaps:
            found.setdefault(gap.feature, []).append(gap.what)
        shown = {feature: f"{FEATURES[feature]}: {_few(whats)}" for feature, whats in found.items()}
        refused = [feature for feature in found if feature not in self.left_out]
        if refused:
            raise ModelError(
                f"{self.path}: there is no counterpart for {'; '.join(shown[f] for f in refused)}. Leave it out with "
                f"--without {','.join([f for f in FEATURES if f in refused or f in self.left_out & set(found)])}"
            )
        for feature in found:
            self.draft.note(f"left out: {shown[feature]}")

    def possible_contact(self) -> str:
        """Which geoms may touch each other, as MuJoCo chooses pairs; '' where none can."""
        model = self.model
        if model.npair:
            return f"{model.npair} pairs of geoms"
        excluded = {int(s) for s in model.exclude_signature} if model.nexclude else set()
        filters = not self.off("FILTERPARENT") if hasattr(self.mujoco.mjtDisableBit, "mjDSBL_FILTERPARENT") else True
        types, affinities = np.array(model.geom_contype), np.array(model.geom_conaffinity)
        weld, body = [int(b) for b in model.body_weldid], [int(b) for b in model.geom_bodyid]
        alike = {
            (body[g], types[g], affinities[g]): g for g in reversed(range(model.ngeom)) if types[g] or affinities[g]
        }
        solid = np.array(sorted(alike.values()), dtype=int)  # one of those that are alike
        for k, g in enumerate(map(int, solid)):
            others = solid[k + 1 :]
            matches = (types[g] & affinities[others]) | (types[others] & affinities[g])
            for h in map(int, others[matches != 0]):
                a, b = sorted((body[g], body[h]))
                if weld[a] == weld[b] or (a << 16) + b in excluded or (b << 16) + a in excluded:
                    continue
                above = [weld[int(model.body_parentid[weld[i]])] for i in (a, b)]
                if filters and ((weld[a] and above[1] == weld[a]) or (weld[b] and above[0] == weld[b])):
                    continue
                return f"{self.called('geom', g)} and {self.called('geom', h)}, and maybe others"
        return ""

    # -- assembly

    def assembly(self) -> Assembly:
        """The assembly.

        Raises:
            ModelError: something has no counterpart.
        """
        model, draft = self.model, self.draft
        shapes: dict[int, list[int]] = {}
        for g in filter(self.drawn, range(model.ngeom)):
            shapes.setdefault(int(model.geom_bodyid[g]), []).append(g)
        if shapes:
            draft.unseen = {"animation": False}
        self.world()
        for i in range(model.nbody):
            if i:
                self.body(i)
            for g in shapes.get(i, ()):
                self.geom(g)
        for j in range(model.njnt):
            self.along(j)
        if not self.off("EQUALITY"):
            for e in range(model.neq):
                self.equality(e)
        if self.off("ACTUATION"):
            draft.note("actuation is disabled by the file; its actuators are left out")
        else:
            for a in range(len(model.actuator_trntype)):
                self.actuator(a)
        for s in range(model.nsensor):
            self.sensor(s)
        self.refuse_gaps()
        if model.nkey:
            draft.note(f"{model.nkey} keyframes are read over: joints start at their reference positions")
        return draft.finish()

    def world(self) -> None:
        """World, with the file's gravity."""
        parts = self.draft.assembly.parts
        if "world" not in parts:
            gravity = np.array(self.model.opt.gravity, dtype=float)
            if self.off("GRAVITY"):
                gravity = np.zeros(3)
            g = float(np.linalg.norm(gravity))
            if g:
                self.draft.add("world", "MultiBody.World", g=g, n=clean(gravity / g))
                self.draft.note(f"gravity is {g:g} m/s2 along {clean(gravity / g)} (parameter world.g)")
            else:
                self.draft.add("world", "MultiBody.World", gravityType="NoGravity")
        self.frames.append(cast("Any", parts["world"]).frame_b)

    def start(self, value: Any) -> Start:
        """Start value; only a guess where couplings have the last word."""
        return Start(value, not (self.model.neq and not self.off("EQUALITY")))

    def body(self, i: int) -> None:
        """Frame, joints and mass of a body."""
        model, draft, name = self.model, self.draft, self.body_names[i]
        first, count = int(model.body_jntadr[i]), int(model.body_jntnum[i])
        joints = range(first, first + count) if count else range(0)
        frame = self.frames[int(model.body_parentid[i])]
        free = [j for j in joints if model.jnt_type[j] == self.mujoco.mjtJoint.mjJNT_FREE]
        if free:
            frame = self.free_joint(free[0], frame)
        else:
            frame = draft.rigid(f"{name}_origin", frame, model.body_pos[i], turned(model.body_quat[i]))
            for j in joints:
                frame = self.joint(j, frame)
        self.frames.append(frame)
        mass, moments = float(model.body_mass[i]), np.array(model.body_inertia[i])
        if mass > 0 or np.any(moments):
            turn = matrix(model.body_iquat[i])
            inertia = turn @ np.diag(moments) @ turn.T
            draft.body(name, frame, mass, np.array(clean(model.body_ipos[i])), inertia, self.called("body", i))

    def free_joint(self, j: int, frame: Connector) -> Connector:
        """A FreeMotion that starts where the body stands."""
        at = self.model.qpos0[self.model.jnt_qposadr[j] :][:7]
        fixed = bool(self.start(0).fixed)
        part = self.draft.add(
            self.joint_names[j],
            "MultiBody.Joints.FreeMotion",
            r_rel_a=self.start(clean(at[:3])),
            v_rel_a=self.start((0.0, 0.0, 0.0)),
            angles_fixed=fixed,
            angles_start=angles_123(matrix(at[3:])),
            w_rel_a_fixed=fixed,
            **self.draft.unseen,
        )
        self.draft.connect(frame, part.frame_a)
        self.joints[j] = part
        self.show(part, "r_rel_a", "Q", "v_rel_a", "w_rel_b")
        result: Connector = part.frame_b
        return result

    def joint(self, j: int, frame: Connector) -> Connector:
        """A hinge, slide or ball about its anchor; gives the frame of the body behind it."""
        model, draft, kinds, name = self.model, self.draft, self.mujoco.mjtJoint, self.joint_names[j]
        kind = int(model.jnt_type[j])
        anchor = np.array(clean(model.jnt_pos[j])) if kind != int(kinds.mjJNT_SLIDE) else np.zeros(3)
        frame = draft.rigid(f"{name}_anchor", frame, anchor, None)
        if kind == int(kinds.mjJNT_BALL):
            fixed = bool(self.start(0).fixed)
            part = draft.add(
                name,
                "MultiBody.Joints.Spherical",
                enforceStates=True,
                angles_fixed=fixed,
                w_rel_a_fixed=fixed,
                **draft.unseen,
            )
            self.show(part, "Q", "w_rel")
        else:
            rotates = kind == int(kinds.mjJNT_HINGE)
            position, speed = ("phi", "w") if rotates else ("s", "v")
            at = float(model.qpos0[model.jnt_qposadr[j]])
            modifiers: dict[str, Any] = {"n": clean(model.jnt_axis[j])}
            if at:
                modifiers["phi_offset" if rotates else "s_offset"] = -at
            if self.needs_axis(j):
                modifiers["useAxisFlange"] = True
            part = draft.add(
                name,
                f"MultiBody.Joints.{'Revolute' if rotates else 'Prismatic'}",
                **modifiers,
                **{position: self.start(at), speed: self.start(0.0)},
                **draft.unseen,
            )
            self.show(part, position, speed)
            if "useAxisFlange" in modifiers:
                self.axes[j] = Axis(draft, part, name, rotates)
        draft.connect(frame, part.frame_a)
        self.joints[j] = part
        return draft.rigid(f"{name}_behind", part.frame_b, -anchor, None)

    def needs_axis(self, j: int) -> bool:
        """True where something acts along the axis of a hinge or slide."""
        model, dof = self.model, int(self.model.jnt_dofadr[j])
        coupled = any(
            int(model.eq_type[e]) == int(self.mujoco.mjtEq.mjEQ_JOINT)
            and j in (int(model.eq_obj1id[e]), int(model.eq_obj2id[e]))
            for e in range(model.neq)
        )
        driven = any(
            int(model.actuator_trntype[a]) in self.joint_transmissions() and int(model.actuator_trnid[a][0]) == j
            for a in range(len(model.actuator_trntype))
        )
        return bool(
            model.dof_armature[dof]
            or model.dof_damping[dof]
            or model.dof_frictionloss[dof]
            or model.jnt_stiffness[j]
            or (model.jnt_limited[j] and "limits" not in self.left_out)
            or coupled
            or driven
        )

    def joint_transmissions(self) -> tuple[int, int]:
        """Types of transmission to a joint."""
        kinds = self.mujoco.mjtTrn
        return int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)

    def show(self, part: Any, *variables: str) -> None:
        """Make variables of a joint outputs."""
        for variable in variables:
            self.draft.assembly.output(Reference(part, variable))

    def along(self, j: int) -> None:
        """What acts along a joint: armature, damping, friction, stiffness, stops."""
        model, dof = self.model, int(self.model.jnt_dofadr[j])
        kinds = self.mujoco.mjtJoint
        has_limits = bool(model.jnt_limited[j]) and not self.off("LIMIT")
        if (
            has_limits
            and "limits" in self.left_out
            and model.jnt_type[j] in (int(kinds.mjJNT_HINGE), int(kinds.mjJNT_SLIDE))
        ):
            self.draft.note(f"left out: limits of {self.called('joint', j)}")
        if j not in self.axes:
            self.gaps_of_joint(j)
            return
        axis = self.axes[j]
        if model.dof_armature[dof]:
            if axis.rotates:
                axis.at("_armature", "Components.Inertia", J=float(model.dof_armature[dof]))
            else:
                axis.at("_armature", "Components.Mass", m=float(model.dof_armature[dof]))
        if model.dof_damping[dof] and not self.off("DAMPER"):
            axis.between("_damper", "Components.Damper", d=float(model.dof_damping[dof]))
        if np.any(self.value("dof_dampingpoly", dof)):
            self.lacks("damping", "joint", j)
        if model.jnt_stiffness[j] and not self.off("SPRING"):
            rest = float(model.qpos_spring[model.jnt_qposadr[j]])
            free = {f"{axis.coordinate}_rel0": rest} if rest else {}
            axis.between("_spring", "Components.Spring", c=float(model.jnt_stiffness[j]), **free)
        if np.any(self.value("jnt_stiffnesspoly", j)) or np.any(self.value("jnt_springyield", j)):
            self.lacks("stiffness", "joint", j)
        if model.dof_frictionloss[dof] and not self.off("FRICTIONLOSS"):
            axis.friction(float(model.dof_frictionloss[dof]))
        if has_limits and "limits" not in self.left_out:
            self.limits(j, axis)

    def limits(self, j: int, axis: Axis) -> None:
        """Elastic stops in place of the soft constraints at the ends of a joint's range.

        Of MuJoCo's a1 + d (b v + k r) = (1 - d) a0 (documentation, chapter Computation, Solver parameters) they take
        d b and d k at full depth, where the impedance d is dmax: dmax cancels then, and what is left are the numbers of
        solreflimit. a0, the acceleration without the constraint, has no part in it here: loads are not held back.
        """
        model = self.model
        margin = float(model.jnt_margin[j])  # the constraint begins so far before the end
        lower, upper = float(model.jnt_range[j][0]) + margin, float(model.jnt_range[j][1]) - margin
        stiffness, damping = self.reference(model.jnt_solref[j])
        if lower > upper:
            self.lacks("limits", "joint", j, f"its margin of {margin:g} leaves nothing of its range")
        elif stiffness <= 0:
            self.lacks("limits", "joint", j, "its solreflimit has no stiffness")
        else:
            inertia = 1 / max(1e-9, float(model.dof_invweight0[model.jnt_dofadr[j]]))
            axis.stop(lower, upper, stiffness * inertia, damping * inertia, kind="ElastoBacklash2")

    def reference(self, solref: Sequence[float]) -> tuple[float, float]:
        """Stiffness [1/s2] and damping [1/s] of a constraint, per unit of inertia, at full impedance."""
        first, second = map(float, solref)
        if (first > 0) != (second > 0):  # no pair of either format: MuJoCo takes its default, and warns
            first, second = DEFAULT_SOLREF
        if first <= 0:
            return abs(first), abs(second)
        if not self.off("REFSAFE"):
            first = max(first, 2 * float(self.model.opt.timestep))
        return 1 / (first * second) ** 2, 2 / first

    def gaps_of_joint(self, j: int) -> None:
        """What a ball or free joint has beyond its motion."""
        model, kinds = self.model, self.mujoco.mjtJoint
        if int(model.jnt_type[j]) not in (int(kinds.mjJNT_BALL), int(kinds.mjJNT_FREE)):
            return
        first = int(model.jnt_dofadr[j])
        dofs = slice(first, first + (3 if int(model.jnt_type[j]) == int(kinds.mjJNT_BALL) else 6))
        for feature, there in (
            ("armature", np.any(model.dof_armature[dofs])),
            ("damping", any(np.any(self.value("dof_dampingpoly", dof)) for dof in range(first, first + 3))),
            ("frictionloss", np.any(model.dof_frictionloss[dofs]) and not self.off("FRICTIONLOSS")),
            ("stiffness", bool(model.jnt_stiffness[j]) and not self.off("SPRING")),
            ("limits", bool(model.jnt_limited[j]) and not self.off("LIMIT")),
        ):
            if there:
                self.lacks(feature, "joint", j)
        damping = float(model.dof_damping[first])
        if damping and not self.off("DAMPER"):
            self.damped(j, damping)

    def damped(self, j: int, damping: float) -> None:
        """Loads against the speeds of a ball or free joint: its angular velocity along the axes of the body behind."""
        draft, part, name = self.draft, self.joints[j], self.joint_names[j]

        def against(suffix: str, sensor: str, measured: str, resolved: str, load: str, signal: str) -> None:
            relative = sensor == "RelativeSensor"
            watch = draft.add(
                draft.names.new(f"{name}{suffix}_sensor"),
                f"MultiBody.Sensors.{sensor}",
                **{f"get_{measured}": True},
                resolveInFrame=resolved,
            )
            gain = draft.add(
                draft.names.new(f"{name}{suffix}_damping"),
                "Blocks.Math.MatrixGain",
                K=tuple(tuple(-damping if row == column else 0.0 for column in range(3)) for row in range(3)),
            )
            acting = draft.add(
                draft.names.new(f"{name}{suffix}_damper"),
                f"MultiBody.Forces.{load}",
                resolveInFrame="world" if resolved == "world" else "frame_b",
                **draft.unseen,
            )
            draft.connect(part.frame_a if relative else part.frame_b, watch.frame_a)
            draft.connect(part.frame_b, acting.frame_b)
            if relative:
                draft.connect(part.frame_b, watch.frame_b)
                draft.connect(part.frame_a, acting.frame_a)
            draft.connect(watch.connector(measured), gain.u)
            draft.connect(gain.y, acting.connector(signal))

        if type(part).modelica_name == "MultiBody.Joints.Spherical":
            against("", "RelativeSensor", "w_rel", "frame_b", "Torque", "torque")
        else:
            against("_speed", "AbsoluteSensor", "v", "world", "WorldForce", "force")
            against("_turning", "AbsoluteSensor", "w", "frame_a", "WorldTorque", "torque")

    # -- couplings

    def equality(self, e: int) -> None:
        """A loop closed by connect or weld, or joints that are coupled linearly."""
        model, draft, kinds = self.model, self.draft, self.mujoco.mjtEq
        kind, data = int(model.eq_type[e]), np.array(model.eq_data[e], dtype=float)
        if not model.eq_active0[e]:
            draft.note(f"inactive, and left out: {self.called('equality', e)}")
            return
        name = draft.names.new(model.equality(e).name or f"equality{e + 1}")
        first, second = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
        if kind == int(kinds.mjEQ_JOINT):
            self.coupled_joints(e, name, first, second, data)
            return
        if kind not in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD)):
            self.lacks("equality", "equality", e)
            return
        sites = hasattr(model, "eq_objtype") and int(model.eq_objtype[e]) == int(self.mujoco.mjtObj.mjOBJ_SITE)
        a, b = (self.site(i) for i in (first, second)) if sites else (self.frames[i] for i in (first, second))
        if kind == int(kinds.mjEQ_CONNECT):
            if not sites:
                a = draft.rigid(f"{name}_anchor1", a, np.array(clean(data[:3])), None)
                b = draft.rigid(f"{name}_anchor2", b, np.array(clean(data[3:6])), None)
            part = draft.add(name, "MultiBody.Joints.Constraints.Spherical", **draft.unseen)
        else:
            if not sites:
                a = draft.rigid(f"{name}_anchor1", a, np.array(clean(data[3:6])), turned(data[6:10]))
            part = draft.add(name, "MultiBody.Joints.Constraints.Prismatic", **draft.unseen)
        draft.connect(a, part.frame_a)
        draft.connect(b, part.frame_b)

    def coupled_joints(self, e: int, name: str, first: int, second: int, data: np.ndarray) -> None:
        """q1 - q1_0 = a0 + a1 (q2 - q2_0), or q1 held where there is no second joint."""
        model = self.model
        if first not in self.axes or (second >= 0 and second not in self.axes):
            self.lacks("equality", "equality", e, "not of hinges or slides")
            return
        if second >= 0 and np.any(data[2:5]):
            self.lacks("equality", "equality", e, "not linear")
            return
        offset = float(model.qpos0[model.jnt_qposadr[first]] + data[0])
        axis = self.axes[first]
        if second < 0 or data[1] == 0:
            axis.at("_held", "Components.Fixed", **{f"{axis.coordinate}0": offset})
            return
        offset -= float(data[1] * model.qpos0[model.jnt_qposadr[second]])
        axis.follow(self.axes[second], float(data[1]), 0.0 if abs(offset) < NEGLIGIBLE else offset)

    def site(self, i: int) -> Connector:
        """The frame of a site."""
        if i not in self.sites:
            model = self.model
            self.sites[i] = self.draft.rigid(
                model.site(i).name or f"site{i}",
                self.frames[int(model.site_bodyid[i])],
                model.site_pos[i],
                turned(model.site_quat[i]),
            )
        return self.sites[i]

    # -- actuators

    def actuator(self, a: int) -> None:
        """An input signal, and the chain of blocks from it to a torque or force."""
        model, draft, mj = self.model, self.draft, self.mujoco
        kind, target = int(model.actuator_trntype[a]), int(model.actuator_trnid[a][0])
        obstacle = self.obstacle(a)
        if obstacle:
            self.lacks("actuators", "actuator", a, obstacle)
            return
        given = model.actuator(a).name
        name = draft.names.new(given or f"actuator{a + 1}", "actuator" if given else "", "_actuator")
        gain, gear = float(model.actuator_gainprm[a][0]), np.array(model.actuator_gear[a], dtype=float)
        blocks: list[tuple[Connector, Connector]] = []
        if model.actuator_ctrllimited[a] and not self.off("CLAMPCTRL"):
            blocks.append(self.limiter(f"{name}_range", model.actuator_ctrlrange[a]))
        dynamics, constant = int(model.actuator_dyntype[a]), float(model.actuator_dynprm[a][0])
        if dynamics == int(mj.mjtDyn.mjDYN_INTEGRATOR):
            part = draft.add(draft.names.new(f"{name}_activation"), "Blocks.Continuous.Integrator")
            blocks.append((part.u, part.y))
        elif dynamics != int(mj.mjtDyn.mjDYN_NONE):
            part = draft.add(
                draft.names.new(f"{name}_activation"),
                "Blocks.Continuous.FirstOrder",
                T=constant,
                initType="InitialState",
            )
            blocks.append((part.u, part.y))
        affine = int(model.actuator_biastype[a]) == int(mj.mjtBias.mjBIAS_AFFINE)
        limited = bool(model.actuator_forcelimited[a])
        if kind in self.joint_transmissions():
            axis, ratio = self.axes[target], float(gear[0])
            if affine:
                constant, position, speed = map(float, model.actuator_biasprm[a][:3])
                blocks.append(axis.feedback(f"_{name}", gain, position * ratio, speed * ratio))
                if constant:
                    blocks.append(self.shifted(name, constant))
            elif self.is_watched(a) or (gain != 1 and (limited or ratio != 1)):
                blocks.append(self.gain(f"{name}_gain", gain))
            else:
                ratio *= gain
            if limited:
                blocks.append(self.limiter(f"{name}_limit", model.actuator_forcerange[a]))
            if blocks:
                self.forces[a] = blocks[-1][1]
            if ratio != 1:
                blocks.append(self.gain(f"{name}_gear", ratio))
            blocks.append((axis.source(f"_{name}"),) * 2)
        else:
            frame = self.site(target)
            if gain != 1 or self.is_watched(a):
                blocks.append(self.gain(f"{name}_gain", gain))
            if limited:
                blocks.append(self.limiter(f"{name}_limit", model.actuator_forcerange[a]))
            if blocks:
                self.forces[a] = blocks[-1][1]
            blocks.append(self.wrench(name, frame, gear))
        for (_, output), (following, _) in itertools.pairwise(blocks):
            draft.connect(output, following)
        draft.assembly.input(blocks[0][0], name)

    def obstacle(self, a: int) -> str:
        """Why an actuator has no counterpart; '' where it has one."""
        model, mj = self.model, self.mujoco
        kind, target = int(model.actuator_trntype[a]), int(model.actuator_trnid[a][0])
        affine = int(model.actuator_biastype[a]) == int(mj.mjtBias.mjBIAS_AFFINE)
        gain_type, dynamics = int(model.actuator_gaintype[a]), int(model.actuator_dyntype[a])
        known = {int(mj.mjtDyn.mjDYN_NONE), int(mj.mjtDyn.mjDYN_INTEGRATOR), int(mj.mjtDyn.mjDYN_FILTER)}
        known.add(int(getattr(mj.mjtDyn, "mjDYN_FILTEREXACT", mj.mjtDyn.mjDYN_FILTER)))
        several = any(int(self.value(f, a)[0]) > 1 for f in ("actuator_ctrlnum", "actuator_outnum", "actuator_actnum"))
        if kind in self.joint_transmissions():
            if target not in self.axes:
                return "acts on a ball or free joint"
            if bool(getattr(model, "jnt_actfrclimited", np.zeros(model.njnt))[target]):
                return "its joint has an actuatorfrcrange"
        elif kind == int(mj.mjtTrn.mjTRN_SITE):
            if int(model.actuator_trnid[a][1]) >= 0:
                return "acts relative to a refsite"
            if affine:
                return "feedback from a site"
        else:
            return "its transmission"
        if gain_type != int(mj.mjtGain.mjGAIN_FIXED):
            return "its gain is not fixed"
        if not affine and int(model.actuator_biastype[a]) != int(mj.mjtBias.mjBIAS_NONE):
            return "its bias is not affine"
        if dynamics not in known:
            return "its dynamics"
        if several:
            return "it has several signals"
        if bool(model.actuator_actlimited[a]):
            return "its activation is limited"
        for field in ("actuator_armature", "actuator_damping", "actuator_dampingpoly", "actuator_delay"):
            if np.any(self.value(field, a)):
                return f"its {field.removeprefix('actuator_')}"
        return ""

    def is_watched(self, a: int) -> bool:
        """True where a sensor shows the force of an actuator."""
        model, kind = self.model, int(self.mujoco.mjtSensor.mjSENS_ACTUATORFRC)
        return any(int(model.sensor_type[s]) == kind and int(model.sensor_objid[s]) == a for s in range(model.nsensor))

    def gain(self, name: str, k: float) -> tuple[Connector, Connector]:
        """Input and output of a gain."""
        part = self.draft.add(self.draft.names.new(name), "Blocks.Math.Gain", k=k)
        return part.u, part.y

    def limiter(self, name: str, limits: Any) -> tuple[Connector, Connector]:
        """Input and output of a limiter."""
        lower, upper = map(float, limits)
        part = self.draft.add(self.draft.names.new(name), "Blocks.Nonlinear.Limiter", uMax=upper, uMin=lower)
        return part.u, part.y

    def shifted(self, name: str, constant: float) -> tuple[Connector, Connector]:
        """Input and output of a sum with a constant."""
        source = self.draft.add(self.draft.names.new(f"{name}_constant"), "Blocks.Sources.Constant", k=constant)
        total = self.draft.add(self.draft.names.new(f"{name}_sum"), "Blocks.Math.Add")
        self.draft.connect(source.y, total.u2)
        return total.u1, total.y

    def wrench(self, name: str, frame: Connector, gear: np.ndarray) -> tuple[Connector, Connector]:
        """Force and torque along the axes of a site's frame, in proportion to one signal."""
        draft, names = self.draft, self.draft.names
        spread = draft.add(names.new(f"{name}_gear"), "Blocks.Math.Gain", k=1.0)
        for letters, numbers, kind in (("force", gear[:3], "WorldForce"), ("torque", gear[3:], "WorldTorque")):
            if np.any(numbers):
                part = draft.add(names.new(f"{name}_{letters}"), f"MultiBody.Forces.{kind}", resolveInFrame="frame_b")
                vector = draft.add(
                    names.new(f"{name}_{letters}_gear"),
                    "Blocks.Math.MatrixGain",
                    K=tuple((float(v),) for v in numbers),
                )
                draft.connect(spread.y, vector.u)
                draft.connect(vector.y, part.connector(letters))
                draft.connect(frame, part.frame_b)
        return spread.u, spread.y

    # -- sensors

    def sensor(self, s: int) -> None:
        """An output under the sensor's name."""
        model, mj = self.model, self.mujoco
        kind, target = int(model.sensor_type[s]), int(model.sensor_objid[s])
        kinds = {name: int(getattr(mj.mjtSensor, f"mjSENS_{name}", -1)) for name in _SENSORS}
        what = next((name for name, number in kinds.items() if number == kind), None)
        assembly = self.draft.assembly
        given = model.sensor(s).name
        if what is None or int(model.sensor_refid[s]) >= 0:
            self.lacks("sensors", "sensor", s, "relative to another frame" if what else "")
            return
        name = self.draft.names.new(given or f"sensor{s + 1}", "sensor" if given else "", "_sensor")
        if float(model.sensor_cutoff[s]):
            self.draft.note(f"cutoff of {self.called('sensor', s)} is not kept")
        if what == "ACTUATORFRC":
            if target not in self.forces:
                self.lacks("sensors", "sensor", s, "its actuator is left out")
                return
            assembly.output(self.forces[target], name)
            return
        if what.startswith(("JOINT", "BALL")):
            joint = self.joints[target]
            variable = {"JOINTPOS": ("phi", "s"), "JOINTVEL": ("w", "v"), "BALLANGVEL": ("w_rel",), "BALLQUAT": ("Q",)}
            found = next(v for v in variable[what] if v in joint.variables())
            if what == "BALLQUAT":
                for k, i in enumerate((3, 0, 1, 2), start=1):
                    assembly.output(Reference(joint, f"Q[{i + 1}]"), f"{name}[{k}]")
            else:
                assembly.output(Reference(joint, found), name)
            return
        frame = self.frame_of(int(model.sensor_objtype[s]), target, name)
        if frame is None:
            self.lacks("sensors", "sensor", s)
            return
        if what in ("FRAMEXAXIS", "FRAMEYAXIS", "FRAMEZAXIS"):
            row = "XYZ".index(what[5]) + 1
            watch = self.draft.add(
                self.draft.names.new(f"{name}_sensor"),
                "MultiBody.Sensors.AbsoluteSensor",
                get_r=True,
                resolveInFrame="world",
            )
            self.draft.connect(frame, watch.frame_a)
            for column in (1, 2, 3):
                reference = Reference(watch, f"frame_a.R.T[{row},{column}]")
                assembly.output(reference, f"{name}[{column}]")
            return
        quantity, resolved = _SENSORS[what]
        part = self.draft.add(
            self.draft.names.new(f"{name}_sensor"),
            "MultiBody.Sensors.AbsoluteSensor",
            **{f"get_{quantity}": True},
            resolveInFrame=resolved,
        )
        self.draft.connect(frame, part.frame_a)
        assembly.output(part.connector(quantity), name)

    def frame_of(self, kind: int, index: int, name: str) -> Connector | None:
        """The frame of a body, site or geom."""
        objects, model = self.mujoco.mjtObj, self.model
        if kind == int(objects.mjOBJ_SITE):
            return self.site(index)
        if kind == int(objects.mjOBJ_XBODY):
            return self.frames[index]
        if kind == int(objects.mjOBJ_BODY):
            return self.draft.rigid(
                f"{name}_frame", self.frames[index], model.body_ipos[index], turned(model.body_iquat[index])
            )
        if kind == int(objects.mjOBJ_GEOM):
            body = self.frames[int(model.geom_bodyid[index])]
            return self.draft.rigid(f"{name}_frame", body, model.geom_pos[index], turned(model.geom_quat[index]))
        return None

    # -- shapes

    def drawn(self, g: int) -> bool:
        """True for geoms that become shapes."""
        kinds = self.mujoco.mjtGeom
        hidden = {int(kinds.mjGEOM_PLANE), int(kinds.mjGEOM_HFIELD), int(kinds.mjGEOM_SDF)}
        return int(self.model.geom_group[g]) < DRAWN_GROUPS and int(self.model.geom_type[g]) not in hidden

    def geom(self, g: int) -> None:
        """A shape at a body's frame."""
        model, kinds = self.model, self.mujoco.mjtGeom
        kind, body = int(model.geom_type[g]), int(model.geom_bodyid[g])
        size, centre, R = np.array(model.geom_size[g]), np.array(model.geom_pos[g]), matrix(model.geom_quat[g])
        material = int(model.geom_matid[g])
        rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[g]
        name = model.geom(g).name or f"{self.body_names[body]}_visual"
        color = tuple(round(255 * float(min(1.0, max(0.0, v)))) for v in rgba[:3])
        if kind == int(kinds.mjGEOM_MESH):
            mesh = int(model.geom_dataid[g])
            source, scale = self.mesh(mesh)
            inner = matrix(model.mesh_quat[mesh])
            R = R @ inner.T  # MuJoCo moves meshes into their principal axes
            placement = mesh_placement(centre - R @ np.array(model.mesh_pos[mesh]), R, scale)
            self.draft.shape(name, self.frames[body], source, **placement, color=color)
        else:
            shapes = {
                int(kinds.mjGEOM_SPHERE): ("sphere", (size[0], size[0], size[0]), 0, 1),
                int(kinds.mjGEOM_ELLIPSOID): ("sphere", (size[0], size[1], size[2]), 0, 1),
                int(kinds.mjGEOM_BOX): ("box", (size[0], size[1], size[2]), 0, 1),
                int(kinds.mjGEOM_CYLINDER): ("cylinder", (size[1], size[0], size[0]), 2, 0),
                int(kinds.mjGEOM_CAPSULE): ("capsule", (size[1] + size[0], size[0], size[0]), 2, 0),
            }
            if kind not in shapes:
                return
            shape, half, along, across = shapes[kind]
            long, wide, high = (2 * float(v) for v in half)
            self.draft.shape(
                name,
                self.frames[body],
                shape,
                r_shape=clean(centre - R[:, along] * long / 2),
                lengthDirection=clean(R[:, along]),
                widthDirection=clean(R[:, across]),
                length=long,
                width=wide,
                height=high,
                color=color,
            )

    def mesh(self, index: int) -> tuple[str, tuple[float, ...]]:
        """File and scale of a mesh; its name where it is not of a file."""
        for mesh in self.spec.meshes:
            if mesh.id == index:
                file = str((self.path.parent / (self.spec.meshdir or "") / mesh.file).resolve())
                return file if mesh.file else mesh.name, tuple(map(float, mesh.scale))
        return f"mesh{index}", (1.0, 1.0, 1.0)


#: Kinds of sensors that are read; for frames the quantity of an AbsoluteSensor and the frame that resolves it.
_SENSORS: dict[str, tuple[str, str]] = {
    "JOINTPOS": ("", ""),
    "JOINTVEL": ("", ""),
    "BALLQUAT": ("", ""),
    "BALLANGVEL": ("", ""),
    "ACTUATORFRC": ("", ""),
    "FRAMEPOS": ("r", "world"),
    "FRAMELINVEL": ("v", "world"),
    "FRAMEANGVEL": ("w", "world"),
    "FRAMEXAXIS": ("", ""),
    "FRAMEYAXIS": ("", ""),
    "FRAMEZAXIS": ("", ""),
    "VELOCIMETER": ("v", "frame_a"),
    "GYRO": ("w", "frame_a"),
}


def _few(texts: Sequence[str]) -> str:
    """The first of many texts."""
    return ", ".join(texts[:4]) + (f" and {len(texts) - 4} more" if len(texts) > 4 else "")
