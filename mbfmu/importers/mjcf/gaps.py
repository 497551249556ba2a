"""What a file may have that assemblies have not: it is refused, or left out on request."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.importers.mjcf.source import Source

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


def refuse_gaps(source: Source) -> list[str]:
    """Refuse what is neither read nor left out on request; gives notes of what is left out.

    Raises:
        ModelError: something has no counterpart.
    """
    model = source.model
    for feature, count in (
        ("tendons", model.ntendon),
        ("flex", model.nflex),
        ("plugins", model.nplugin),
        ("mocap", model.nmocap),
    ):
        if count:
            source.gap(feature, f"{count} of them")
    if (model.opt.density or model.opt.viscosity) and model.nbody > 1:
        source.gap("fluid", f"density {model.opt.density:g}, viscosity {model.opt.viscosity:g}")
    for i in range(model.nbody):
        if float(model.body_gravcomp[i]):
            source.lacks("gravcomp", "body", i)
    contact = _possible_contact(source)
    if contact and not source.off("CONTACT"):
        source.gap("contact", contact)
    shown = {feature: f"{FEATURES[feature]}: {_few(whats)}" for feature, whats in source.gaps.items()}
    refused = [feature for feature in shown if feature not in source.left_out]
    if refused:
        raise ModelError(
            f"{source.path}: there is no counterpart for {'; '.join(shown[f] for f in refused)}. Leave it out with "
            f"--without {','.join([f for f in FEATURES if f in refused or f in source.left_out & set(shown)])}"
        )
    return [f"left out: {text}" for text in shown.values()]


def _possible_contact(source: Source) -> str:
    """Which geoms may touch each other, as MuJoCo chooses pairs; '' where none can."""
    model = source.model
    if model.npair:
        return f"{model.npair} pairs of geoms"
    excluded = {int(s) for s in model.exclude_signature} if model.nexclude else set()
    filters = not source.off("FILTERPARENT") if hasattr(source.mujoco.mjtDisableBit, "mjDSBL_FILTERPARENT") else True
    types, affinities = np.array(model.geom_contype), np.array(model.geom_conaffinity)
    weld, body = [int(b) for b in model.body_weldid], [int(b) for b in model.geom_bodyid]
    alike = {(body[g], types[g], affinities[g]): g for g in reversed(range(model.ngeom)) if types[g] or affinities[g]}
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
            return f"{source.called('geom', g)} and {source.called('geom', h)}, and maybe others"
    return ""


def _few(texts: Sequence[str]) -> str:
    """The first of many texts."""
    return ", ".join(texts[:4]) + (f" and {len(texts) - 4} more" if len(texts) > 4 else "")
