"""Flanges as interfaces of an FMU, recognised by the names and causalities of its variables.

A flange `axis1` that takes torque has the input `axis1.tau` and the outputs `axis1.phi`, `axis1.w`, `axis1.a`; one that
takes motion has them the other way round (translational: `f`, and `s`, `v`, `a`). The torque is counted as it acts on
the side that takes it: a positive one accelerates that side. The two kinds are therefore connected name by name, as are
Modelica's adaptors TorqueToAngle and AngleToTorque (Modelica.Mechanics.Rotational.Components 4.0).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.modeling.connectors import Flange, RotationalFlange, TranslationalFlange

_KINDS: tuple[type[Flange], ...] = (RotationalFlange, TranslationalFlange)


@dataclasses.dataclass(frozen=True)
class ExposedFlange:
    """One flange of an FMU: `axis1`, of the kind rotational or translational."""

    name: str
    kind: str
    #: True where position, speed and acceleration are inputs and the torque (force) is the output.
    takes_motion: bool
    #: Name of the flow, `tau` or `f`, and those of position and derivatives that the FMU has.
    flow: str
    motion: tuple[str, ...]

    @property
    def takes(self) -> str:
        """What the inputs are, in words."""
        return "motion" if self.takes_motion else "torque" if self.kind == "rotational" else "force"


def exposed_flanges(variables: Iterable[Any]) -> dict[str, ExposedFlange]:
    """Return the flanges among scalar variables with FMI's attributes `name` and `causality`, by name."""
    causality = {variable.name: variable.causality for variable in variables}
    found = {}
    for name in dict.fromkeys(full.rpartition(".")[0] for full in causality):
        for port in _KINDS:
            members = [port.position, *(short for short, _ in port.derivatives)]
            flow, position = causality.get(f"{name}.{port.flow}"), causality.get(f"{name}.{port.position}")
            if name and {flow, position} == {"input", "output"}:
                motion = tuple(short for short in members if causality.get(f"{name}.{short}") == position)
                found[name] = ExposedFlange(name, port.kind, position == "input", port.flow, motion)
    return found


def is_shaft(a: ExposedFlange, b: ExposedFlange) -> bool:
    """Do both take torque (force), and tell all of their motion, so that a master can find what is between them?"""
    return a.kind == b.kind and not (a.takes_motion or b.takes_motion) and min(len(a.motion), len(b.motion)) == 3


def wires(a: ExposedFlange, b: ExposedFlange, where: str) -> tuple[bool, tuple[str, ...], str]:
    """Return whether `a` takes motion, the members of the motion that are passed on, and the name of the flow.

    Raises:
        ModelError: The flanges are of different kinds, or both take the same.
    """
    if a.kind != b.kind:
        raise ModelError(f"{where}: a {a.kind} flange cannot be connected to a {b.kind} one; put a gear between them")
    if a.takes_motion == b.takes_motion:
        other = "motion=False (it takes torque)" if a.takes_motion else "motion=True (it takes motion)"
        raise ModelError(f"{where}: both flanges take {a.takes}; declare one of them with {other} and build it again")
    taker, giver = (a, b) if a.takes_motion else (b, a)
    missing = [short for short in taker.motion if short not in giver.motion]
    if missing:
        raise ModelError(f"{where}: {taker.name}.{missing[0]} is an input, but the other side has no such output")
    return a.takes_motion, taker.motion, a.flow
