"""Exudyn: its GeneralContact of spheres with each other and with triangles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np
from exudyn.rigidBodyUtilities import RotationMatrix2RotationVector, RotXYZ2RotationMatrix

if TYPE_CHECKING:
    from benchmarks.contacts import Heap

#: Methods that are tried, and step sizes, s.
WAYS = ("VelocityVerlet", "RK44")
STEPS = (2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 5e-6)

#: Springs of contact are in series: the ground is this much stiffer. Corners of meshes are spheres of this radius, m,
#: and the ground lies as much lower.
HARDER, POINT = 1e8, 0.02


def assemble(heap: Heap) -> tuple[Any, list[int]]:
    """Return the assembled system, and the numbers of the nodes; spheres do not turn and are points of mass."""
    from benchmarks import contacts as c

    system = exu.SystemContainer().AddSystem()
    contact = system.AddGeneralContact()
    contact.verboseMode = 0
    contact.SetFrictionPairings(np.zeros((1, 1)))
    nodes = []
    meshes = heap.kind == "meshes"
    for place, angles in zip(heap.positions, heap.angles, strict=True):
        if meshes:
            turn = RotationMatrix2RotationVector(RotXYZ2RotationMatrix(angles))
            node = system.AddNode(items.NodeRigidBodyRotVecLG(referenceCoordinates=[*place, *turn]))
            inertia = [c.INERTIA] * 3 + [0.0] * 3
            body = system.AddObject(items.ObjectRigidBody(mass=c.MASS, inertia=inertia, nodeNumber=node))
            points, radius = c.CORNERS, POINT
        else:
            node = system.AddNode(items.NodePoint(referenceCoordinates=list(place)))
            body = system.AddObject(items.ObjectMassPoint(mass=c.MASS, nodeNumber=node))
            points, radius = np.zeros((1, 3)), c.RADIUS
        nodes.append(node)
        marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=[0, 0, -c.GRAVITY]))
        kind = items.MarkerBodyRigid if meshes else items.MarkerBodyPosition
        for point in points:
            contact.AddSphereWithMarker(
                system.AddMarker(kind(bodyNumber=body, localPosition=list(point))),
                radius=radius,
                contactStiffness=c.STIFFNESS,
                contactDamping=0.0,
                frictionMaterialIndex=0,
            )
    level, far = POINT if meshes else 0.0, 50.0
    ground = system.AddObject(items.ObjectGround())
    contact.AddTrianglesRigidBodyBased(
        rigidBodyMarkerIndex=system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground)),
        contactStiffness=HARDER * c.STIFFNESS,
        contactDamping=0.0,
        frictionMaterialIndex=0,
        pointList=[[-far, -far, -level], [far, -far, -level], [far, far, -level], [-far, far, -level]],
        triangleList=[[0, 1, 2], [0, 2, 3]],
    )
    cells = max(2, round(len(nodes) ** (1 / 3)) + 1)
    contact.SetSearchTreeCellSize(numberOfCells=[cells] * 3)
    low, high = heap.positions.min(axis=0) - 0.5, heap.positions.max(axis=0) + 0.5
    contact.SetSearchTreeBox(pMin=list(low), pMax=list(high))
    contact.sphereSphereContact = not meshes
    system.Assemble()
    return system, nodes


def runs(heap: Heap, solver: str) -> Callable[[float], Callable[[], np.ndarray]]:
    """Return, for a step size, a run that ends with the heights of the bodies."""

    def run(step: float) -> Callable[[], np.ndarray]:
        system, nodes = assemble(heap)
        options = exu.SimulationSettings()
        options.solution.file.write = False
        options.show.statistics = False
        options.parallel.numberOfThreads = 1
        time = options.timeIntegration
        time.endTime, time.verboseMode = heap.stop_time, 0
        time.numberOfSteps = round(heap.stop_time / step)

        def integrate() -> np.ndarray:
            system.SolveDynamic(options, solverType=getattr(exu.DynamicSolverType, solver))
            return np.array([system.GetNodeOutput(node, exu.OutputVariableType.Position)[2] for node in nodes])

        return integrate

    return run
