"""What an assembly's equations look like before they are solved: its equation graph in names and numbers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mbfmu.dynamics.asked import asked
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.reading.components import components_of, connections_of
from mbfmu.dynamics.reading.flatten import flatten
from mbfmu.dynamics.reading.inputs import Inputs
from mbfmu.dynamics.structure.report import EquationReport
from mbfmu.dynamics.structure.topology import analyse
from mbfmu.dynamics.structure.wanted import settled
from mbfmu.dynamics.system import check_assembly, without_collections
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.user_code import told


def equation_report(assembly: Assembly, cuts: Collection[str] = ()) -> EquationReport:
    """The quantities of an assembly, what each needs, the blocks in which they are made, and what is sought.

    Args:
        assembly: the assembly.
        cuts: paths of joints to cut where loops leave a choice.

    Raises:
        ModelError: the assembly is wrong; the message names the component, the value and the remedy.
    """
    check_assembly(assembly)
    with told(f"{assembly.name}: the model fails"), without_collections():
        components = components_of(assembly)
        flat = flatten(assembly, components, connections_of(components))
        graph, wanted = settled(analyse(flat, tuple(cuts)), Inputs.of(assembly, flat), asked)
        formulation = Formulation.of(graph, wanted, assembly.start_time)
    iterated: dict[tuple[Any, ...], tuple[str, ...]] = {i.torn: i.names for i in formulation.values.iterations}
    balances = int(formulation.motion.balances.numel())
    return EquationReport.of(assembly.name, graph, iterated, balances, len(formulation.constraints.names))
