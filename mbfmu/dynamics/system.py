"""System: equations of motion of an assembly and the variables that can be seen of it. Immutable."""

from __future__ import annotations

import dataclasses
from typing import Any

from mbfmu.dynamics.builder import Builder
from mbfmu.modeling.assembly import Assembly
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable


@dataclasses.dataclass(frozen=True)
class System:
    """What an assembly becomes: numeric equations, variables, and a report of its structure.

    Make one with `System.of(assembly)`; it does not change afterwards, and neither does it see later changes of the
    assembly. Runs and exports take it in place of the assembly, which saves the time of making it twice.
    """

    name: str
    description: str
    equations: Equations
    variables: tuple[ScalarVariable, ...]
    #: (path, class name, description) of every component, parents first.
    components: tuple[tuple[str, str, str], ...]
    #: (connector path, connector path) of every connection.
    connections: tuple[tuple[str, str], ...]
    #: Lines that say what was cut, what was dropped as redundant, and how many degrees of freedom remain.
    structure: tuple[str, ...]

    @classmethod
    def of(cls, assembly: Assembly | System, **options: Any) -> System:
        """The system of an assembly.

        Args:
            assembly: an Assembly, or a System, which is returned as it is.
            options: `cuts`, paths of joints to cut where loops leave a choice; `energy=True` adds energy and power.

        Raises:
            ModelError: the assembly is wrong; the message names the component, the value and the remedy.
        """
        if isinstance(assembly, System):
            return assembly
        builder = Builder(assembly, **options)
        return cls(
            name=assembly.name,
            description=assembly.description,
            equations=builder.equations(),
            variables=builder.variables(),
            components=tuple(
                (path, type(c).__name__, _first_line(type(c))) for path, c in builder.flat.components.items() if path
            ),
            connections=tuple(builder.flat.connections),
            structure=tuple(builder.structure()),
        )


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0] if (cls.__doc__ or "").strip() else ""
