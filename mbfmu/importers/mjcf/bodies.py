"""Bodies with their masses, and the frames of all that is fixed to them."""

from __future__ import annotations

import numpy as np

from mbfmu.importers.builder import Builder
from mbfmu.importers.geometry import clean
from mbfmu.importers.mjcf.joints import Joints
from mbfmu.importers.mjcf.rotations import matrix, turned
from mbfmu.importers.mjcf.source import Source
from mbfmu.modeling.connectors import Connector


class Bodies:
    """The bodies of a model, the first of which is the world."""

    def __init__(self, source: Source, builder: Builder, joints: Joints) -> None:
        self.source, self.builder, self.joints = source, builder, joints
        self.names = ["world"]
        for i in range(1, source.model.nbody):
            given = source.model.body(i).name
            self.names.append(builder.names.new(given or f"body{i}", "body" if given else "", "_body"))
        self.frames: list[Connector] = []
        self._sites: dict[int, Connector] = {}

    def add_world(self) -> None:
        """World, with the file's gravity."""
        gravity = np.array(self.source.model.opt.gravity, dtype=float)
        if self.source.off("GRAVITY"):
            gravity = np.zeros(3)
        g = float(np.linalg.norm(gravity))
        if g:
            n = clean(gravity / g)
            self.frames.append(self.builder.world(f"{g:g} m/s2 along {n}", g=g, n=n))
        else:
            self.frames.append(self.builder.world("", gravityType="NoGravity"))

    def add(self, i: int) -> None:
        """Frame, joints and mass of a body."""
        source, model, builder, name = self.source, self.source.model, self.builder, self.names[i]
        joints = range(int(model.body_jntadr[i]), int(model.body_jntadr[i]) + int(model.body_jntnum[i]))
        frame = self.frames[int(model.body_parentid[i])]
        free = [j for j in joints if source.kind_of_joint(j) == "FREE"]
        if free:
            frame = self.joints.free(free[0], frame)
        else:
            frame = builder.rigid(f"{name}_origin", frame, model.body_pos[i], turned(model.body_quat[i]))
            for j in joints:
                frame = self.joints.about_anchor(j, frame)
        self.frames.append(frame)
        mass, moments = float(model.body_mass[i]), np.array(model.body_inertia[i])
        if mass > 0 or np.any(moments):
            turn = matrix(model.body_iquat[i])
            inertia = turn @ np.diag(moments) @ turn.T
            builder.body(name, frame, mass, np.array(clean(model.body_ipos[i])), inertia, source.called("body", i))

    # -- frames

    def site(self, i: int) -> Connector:
        """The frame of a site."""
        if i not in self._sites:
            model = self.source.model
            body = self.frames[int(model.site_bodyid[i])]
            name = model.site(i).name or f"site{i}"
            self._sites[i] = self.builder.rigid(name, body, model.site_pos[i], turned(model.site_quat[i]))
        return self._sites[i]

    def frame_of(self, kind: str, index: int, name: str) -> Connector | None:
        """The frame of a body (`XBODY`, or `BODY` at its centre of mass), `SITE` or `GEOM`; None for anything else."""
        model = self.source.model
        if kind == "SITE":
            return self.site(index)
        if kind == "XBODY":
            return self.frames[index]
        if kind == "BODY":
            body, at, turn = self.frames[index], model.body_ipos[index], model.body_iquat[index]
        elif kind == "GEOM":
            body = self.frames[int(model.geom_bodyid[index])]
            at, turn = model.geom_pos[index], model.geom_quat[index]
        else:
            return None
        return self.builder.rigid(f"{name}_frame", body, at, turned(turn))
