"""A file as MuJoCo compiled it, and what in it has no counterpart."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbfmu.importers.mjcf.compiling import LINE
from mbfmu.modeling.declarations import Start

#: Time constant [s] and damping ratio of constraints for which the file gives none.
DEFAULT_SOLREF = (0.02, 1.0)


class Source:
    """MuJoCo's specification and model of a file, what is left out of it, and what has no counterpart."""

    def __init__(self, path: pathlib.Path, spec: Any, model: Any, mujoco: Any, left_out: set[str]) -> None:
        self.path, self.spec, self.model, self.mujoco, self.left_out = path, spec, model, mujoco, left_out
        #: Feature without counterpart -> the elements that have it.
        self.gaps: dict[str, list[str]] = {}
        #: Kind of element -> index -> what the specification says of its place in the file.
        self._places: dict[str, dict[int, str]] = {}

    def kind(self, enumeration: str, value: Any) -> str:
        """MuJoCo's name for a value of an enumeration (`mjtJoint`) without prefix: `HINGE`."""
        name: str = getattr(self.mujoco, enumeration)(int(value)).name
        return name.partition("_")[2]

    def kind_of_joint(self, j: int) -> str:
        """`HINGE`, `SLIDE`, `BALL` or `FREE`."""
        return self.kind("mjtJoint", self.model.jnt_type[j])

    def driven_joint(self, a: int) -> int | None:
        """The joint that an actuator acts on; None where it acts on something else."""
        is_joint = self.kind("mjtTrn", self.model.actuator_trntype[a]) in ("JOINT", "JOINTINPARENT")
        return int(self.model.actuator_trnid[a][0]) if is_joint else None

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

    def start(self, value: Any) -> Start:
        """Start value; only a guess where couplings have the last word."""
        return Start(value, not (self.model.neq and not self.off("EQUALITY")))

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

    def lacks(self, feature: str, kind: str, index: int, what: str = "") -> None:
        """Note that an element of the model has no counterpart."""
        self.gap(feature, f"{self.called(kind, index)}{f' ({what})' if what else ''}")

    def gap(self, feature: str, what: str) -> None:
        """Note that something has no counterpart."""
        self.gaps.setdefault(feature, []).append(what)

    def called(self, kind: str, index: int) -> str:
        """How messages call an element: kind, name, line."""
        name = getattr(self.model, kind)(index).name
        if kind not in self._places:
            elements = getattr(self.spec, {"equality": "equalities", "body": "bodies"}.get(kind, f"{kind}s"), [])
            self._places[kind] = {e.id: e.info or "" for e in elements}
        line = LINE.search(self._places[kind].get(index, ""))
        return f"{kind} {name or index}" + (f" in line {line[1]}" if line else "")

    def value(self, field: str, index: int) -> np.ndarray:
        """A row of a field that not every version of MuJoCo has; zero where there is none."""
        array = getattr(self.model, field, None)
        return np.zeros(1) if array is None or len(array) <= index else np.atleast_1d(array[index])
