"""Forces by which bodies of a live page are dragged: inputs of the FMU that the page sets, and nobody else sees."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

from mbfmu.errors import MbfmuError
from mbfmu.fmi.variables import Scalar
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.registry import component_classes

#: Component that acts on a body, by inputs.
_ACTS = "MultiBody.Forces.WorldForceAndTorque"


@dataclasses.dataclass(frozen=True)
class Grip:
    """A force and a torque on frame_a of a body, resolved in the world."""

    name: str
    #: Path of the body.
    body: str

    def owns(self, variable: str) -> bool:
        """True for what there would not be without it."""
        return variable.startswith(f"{self.name}.")

    def entry(self, elements: Mapping[str, Scalar]) -> dict[str, Any] | None:
        """What a page is told of it, value references; None where the FMU does not have all that it takes."""
        inner = f"{self.body}.body" if f"{self.body}.body.z_a[1]" in elements else self.body
        taken = {
            "force": f"{self.name}.force",
            "torque": f"{self.name}.torque",
            "r": f"{self.body}.r_0",
            "a": f"{self.body}.a_0",
            "z": f"{inner}.z_a",
        }
        names = {key: [f"{name}[{i}]" for i in (1, 2, 3)] for key, name in taken.items()}
        if any(name not in elements for given in names.values() for name in given):
            return None
        found = {key: [elements[name].reference for name in given] for key, given in names.items()}
        return {"component": self.body, **found}


def with_grips(assembly: Assembly) -> tuple[Assembly, tuple[Grip, ...]]:
    """A copy of an assembly whose bodies can be pulled at; the assembly itself, without grips, where it has no copy.

    Bodies are its parts that have mass, one frame_a and its acceleration; those within parts of it have no grip.
    """
    try:
        twin = copy.deepcopy(assembly)
    except MbfmuError:
        return assembly, ()
    grips: list[Grip] = []
    acts = component_classes()[_ACTS]
    for body in [part for part in twin.walk() if part._owner is twin and _is_body(part)]:
        name = f"grip{len(grips) + 1}"
        while hasattr(twin, name):
            name += "_"
        grip: Any = acts(animation=False)
        setattr(twin, name, grip)
        twin.connect(grip.frame_b, body.frame_a)
        for signal in ("force", "torque"):
            twin.input(getattr(grip, signal), f"{name}.{signal}")
        grips.append(Grip(name, body._name))
    return twin, tuple(grips)


def _is_body(part: Any) -> bool:
    return {"frame_a", "r_0", "a_0", "m"} <= set(type(part).declarations)
