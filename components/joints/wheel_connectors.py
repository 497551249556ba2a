"""What the joint and the part RollingWheelSet have in common (MultiBody.Joints and Parts)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mbfmu.components.interfaces import Flange_a, Flange_b, Renamed
from mbfmu.modeling import Frame_a, Frame_b, required
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.types import Distance, Radius


class WheelSetConnectors(Renamed):
    """Frames, flanges and dimensions of a wheel set."""

    other_names: ClassVar[Mapping[str, str]] = {"radius": "wheelRadius", "track": "wheelDistance"}

    frameMiddle = Frame_a(
        "Frame fixed in middle of axis connecting both wheels (y-axis: along wheel axis, z-Axis: upwards)"
    )
    frame1 = Frame_a("Frame fixed in center point of left wheel (y-axis: along wheel axis, z-Axis: upwards)")
    frame2 = Frame_b("Frame fixed in center point of right wheel (y-axis: along wheel axis, z-Axis: upwards)")
    axis1 = Flange_a("1-dim. rotational flange that drives the left wheel")
    axis2 = Flange_a("1-dim. rotational flange that drives the right wheel")
    support = Flange_b("Support of 1D axes")

    wheelRadius = Parameter(Radius, required, "Radius of one wheel", nonzero=True)
    wheelDistance = Parameter(Distance, required, "Distance between the two wheels")


__all__ = ["WheelSetConnectors"]
