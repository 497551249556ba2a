"""Exudyn: a kinematic tree, run by its explicit Runge-Kutta method; with loops by the generalized alpha method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

from benchmarks.mechanisms import GRAVITY, Mechanism

#: Tolerances of the explicit method for trees, step sizes of the implicit one for loops, s.
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
STEPS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5)

#: Newton's method of the implicit one: tolerance, and whether its Jacobian is kept from step to step.
NEWTON = {"full Newton, 1e-10": (1e-10, False), "modified Newton, 1e-8": (1e-8, True)}

_REVOLUTE = (exu.JointType.RevoluteX, exu.JointType.RevoluteY, exu.JointType.RevoluteZ)
_PRISMATIC = (exu.JointType.PrismaticX, exu.JointType.PrismaticY, exu.JointType.PrismaticZ)


def settings(mechanism: Mechanism) -> tuple[float, ...]:
    """Return what to vary: tolerances of trees, step sizes of loops."""
    return STEPS if mechanism.closures else TOLERANCES


def variants(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the names of what is tried: of loops the ways of `NEWTON`."""
    return tuple(NEWTON) if mechanism.closures else ("",)


def assemble(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[Any, int]:
    """Return the assembled system with its start, and the number of the node with the coordinates."""
    links = mechanism.links
    system = exu.SystemContainer().AddSystem()
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * len(links),
            initialCoordinates=list(q),
            initialCoordinates_t=list(v),
            numberOfODE2Coordinates=len(links),
        )
    )
    tree = system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            gravity=list(GRAVITY),
            jointTypes=[(_PRISMATIC if link.prismatic else _REVOLUTE)[link.axis.index(1.0)] for link in links],
            linkParents=[link.parent for link in links],
            jointTransformations=exu.Matrix3DList([np.eye(3) for _ in links]),
            jointOffsets=exu.Vector3DList([list(link.origin) for link in links]),
            linkInertiasCOM=exu.Matrix3DList([link.inertia for link in links]),
            linkCOMs=exu.Vector3DList([list(link.center) for link in links]),
            linkMasses=[link.mass for link in links],
            jointDControlVector=[link.damping for link in links],
            jointPControlVector=[0.0] * len(links),
            jointPositionOffsetVector=[0.0] * len(links),
            jointVelocityOffsetVector=[0.0] * len(links),
            visualization=items.VObjectKinematicTree(show=False),
        )
    )
    for closure in mechanism.closures:
        markers = [
            system.AddMarker(
                items.MarkerKinematicTreeRigid(objectNumber=tree, linkNumber=link, localPosition=list(point))
            )
            for link, point in zip(closure.links, closure.points, strict=True)
        ]
        system.AddObject(
            items.ObjectJointSpherical(markerNumbers=markers, constrainedAxes=[int(axis) for axis in closure.axes])
        )
    system.Assemble()
    return system, node


def runs(
    mechanism: Mechanism, q: np.ndarray, v: np.ndarray, variant: str
) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a tolerance or a step size, a run that ends with the coordinates at the stop time."""

    def run(setting: float) -> Callable[[], np.ndarray]:
        system, node = assemble(mechanism, q, v)
        options = exu.SimulationSettings()
        options.solution.file.write = False
        options.show.statistics = False
        time = options.timeIntegration
        time.endTime, time.verboseMode = mechanism.stop_time, 0
        if mechanism.closures:
            method = exu.DynamicSolverType.GeneralizedAlpha
            time.numberOfSteps = round(mechanism.stop_time / setting)
            time.generalizedAlpha.spectralRadius = 0.9
            tolerance, modified = NEWTON[variant]
            time.newton.relativeTolerance = time.newton.absoluteTolerance = tolerance
            time.newton.useModifiedNewton = modified
        else:
            method = exu.DynamicSolverType.DOPRI5
            time.numberOfSteps = 1  # the longest step is the whole run
            time.relativeTolerance = time.absoluteTolerance = setting
            time.initialStepSize, time.minimumStepSize = 1e-3, 1e-9

        def integrate() -> np.ndarray:
            system.SolveDynamic(options, solverType=method)
            return np.array(system.GetNodeOutput(node, exu.OutputVariableType.Coordinates))

        return integrate

    return run
