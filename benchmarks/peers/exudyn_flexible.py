"""Exudyn: its cables (ANCF), geometrically exact beams, and bodies of finite elements in a floating frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np
from exudyn.beams import GenerateBeamElementsAlongLine
from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface

if TYPE_CHECKING:
    from benchmarks.flexible import Bar, Line
    from mbfmu.components.flexible.finite_elements import FiniteElements

#: Kinds of elements, and how many: the first is the one whose finest run is compared. The last is not planar.
KINDS = {"ANCFCable2D": (2, 3, 4, 6, 8, 12), "GeometricallyExact2D": (8, 16), "ANCFCable": (3, 4)}

#: Step sizes, s, of the generalized alpha method.
STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4)


def line(case: Line, kind: str, n: int) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a step size, a run of a falling beam of n elements that ends with the place of its end."""
    common = {
        "physicsMassPerLength": case.rhoA,
        "physicsBendingStiffness": case.EI,
        "physicsAxialStiffness": case.EA,
    }
    template, held = {
        "ANCFCable2D": (items.ObjectANCFCable2D, [True, True, False, False]),
        "ANCFCable": (items.ObjectANCFCable, [True, True, True, False, False, False]),
        "GeometricallyExact2D": (items.ObjectBeamGeometricallyExact2D, [True, True, False]),
    }[kind]
    if kind == "GeometricallyExact2D":
        common |= {"physicsShearStiffness": case.EA, "physicsCrossSectionInertia": 1e-9}

    def assembled() -> tuple[Any, Callable[[], np.ndarray]]:
        from benchmarks.flexible import GRAVITY

        system = exu.SystemContainer().AddSystem()
        made = GenerateBeamElementsAlongLine(
            system, [0, 0, 0], [case.length, 0, 0], n, template(**common), gravity=[0, -GRAVITY, 0],
            groundConstraintsStart=held,
        )  # fmt: skip
        system.Assemble()
        last = made["nodes"][-1]
        return system, lambda: np.array(system.GetNodeOutput(last, exu.OutputVariableType.Position))[:2]

    return _runs(assembled, case.stop_time)


def bar(case: Bar, elements: FiniteElements) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a step size, a run of the falling bar in a floating frame that ends with the place of its end."""
    from benchmarks.flexible import GRAVITY, at_end

    fem = FEMinterface()
    fem.nodes = {"Position": elements.places}
    fem.massMatrix, fem.stiffnessMatrix = elements.mass.tocsr(), elements.stiffness.tocsr()
    begin, end = (at_end(elements.places, x) for x in (0.0, case.size[0]))
    equal = [np.full(len(nodes), 1 / len(nodes)) for nodes in (begin, end)]
    fem.ComputeHurtyCraigBamptonModes(
        [begin, end], case.modes, boundaryNodesWeights=equal, computationMode=HCBstaticModeSelection.RBE3
    )
    reduced = ObjectFFRFreducedOrderInterface(fem)

    def assembled() -> tuple[Any, Callable[[], np.ndarray]]:
        system = exu.SystemContainer().AddSystem()
        # A frame whose origin is in the middle of the begin, as ours.
        made = reduced.AddObjectFFRFreducedOrder(system, positionRef=[0, 0, 0], gravity=[0, -GRAVITY, 0])
        middle = elements.places[begin].mean(axis=0)
        ground = system.AddObject(items.ObjectGround(referencePosition=middle.tolist()))
        body = system.AddMarker(
            items.MarkerSuperElementRigid(
                bodyNumber=made["oFFRFreducedOrder"], meshNodeNumbers=begin.tolist(), weightingFactors=equal[0].tolist()
            )
        )
        base = system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground))
        system.AddObject(items.ObjectJointGeneric(markerNumbers=[base, body], constrainedAxes=[1, 1, 1, 1, 1, 0]))
        system.Assemble()

        def place() -> np.ndarray:
            found = [
                system.GetObjectOutputSuperElement(
                    made["oFFRFreducedOrder"], exu.OutputVariableType.Position, int(node)
                )
                for node in end
            ]
            return (np.mean(found, axis=0) - middle)[:2]

        return system, place

    return _runs(assembled, case.stop_time)


def _runs(
    assembled: Callable[[], tuple[Any, Callable[[], np.ndarray]]], stop_time: float
) -> Callable[[float], Callable[[], np.ndarray]]:
    """Runs by the generalized alpha method, which damps what steps do not resolve; Newton's Jacobian is kept."""

    def run(step: float) -> Callable[[], np.ndarray]:
        system, place = assembled()
        options = exu.SimulationSettings()
        options.solution.file.write = False
        options.show.statistics = False
        options.parallel.numberOfThreads = 1
        time = options.timeIntegration
        time.endTime, time.verboseMode = stop_time, 0
        time.numberOfSteps = round(stop_time / step)
        time.generalizedAlpha.spectralRadius = 0.9
        time.newton.useModifiedNewton = True

        def integrate() -> np.ndarray:
            if not system.SolveDynamic(options, solverType=exu.DynamicSolverType.GeneralizedAlpha):
                raise RuntimeError("no solution")
            return place()

        return integrate

    return run
