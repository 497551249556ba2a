"""What a file may have that assemblies have not: it is refused, or left out on request."""

from __future__ import annotations

from collections.abc import Sequence

from mbfmu.errors import ModelError
from mbfmu.importers.mjcf.contacts import may_touch
from mbfmu.importers.mjcf.source import Source

#: What a file may have that assemblies have not, and that `without` leaves out.
FEATURES = {
    "contact": "contact between geoms",
    "pairs": "contact between geoms whose points of contact are too many (--without contact leaves out all contact)",
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
    contact = may_touch(source) if "contact" in source.left_out else ""
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


def _few(texts: Sequence[str]) -> str:
    """The first of many texts."""
    return ", ".join(texts[:4]) + (f" and {len(texts) - 4} more" if len(texts) > 4 else "")
