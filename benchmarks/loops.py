"""The right-hand side of mechanisms with many loops: mbfmu's compiled C, MuJoCo's mj_forward, Pinocchio in C++."""

from __future__ import annotations

import ctypes
import functools
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mujoco
import numpy as np
import scipy.linalg

from benchmarks import mechanisms
from benchmarks.linkage import Linkage
from benchmarks.mechanisms import Mechanism, State
from benchmarks.peers import mujoco as peer
from benchmarks.peers import pinocchio
from benchmarks.timing import call_time
from mbfmu.dynamics import System
from mbfmu.export import native
from mbfmu.runtime import build as runtime
from mbfmu.runtime.compilers import Compilation, host_platform, library_name, require_compiler

#: Makers of mechanisms, and their sizes.
FAMILIES: dict[str, tuple[Callable[[int], Mechanism], Sequence[int]]] = {
    "scissor lift": (mechanisms.scissor_lift, (10, 20, 30)),
    "chain of four-bars": (mechanisms.four_bar_chain, (10, 20, 30)),
    "truss": (mechanisms.truss, (3, 4, 5, 6)),
}

#: Accelerations of two tools agree to this, relative to the greatest.
AGREEMENT = 1e-6

#: MuJoCo's settings that are tried; the quickest counts.
SOLVERS = [(solver, tolerance) for solver in ("Newton", "CG") for tolerance in (1e-8, 1e-14)]


def measure(
    folder: pathlib.Path,
    families: dict[str, tuple[Callable[[int], Mechanism], Sequence[int]]] | None = None,
    program: pathlib.Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one row per mechanism: times of one evaluation, s, at its start, at rest.

    Pinocchio is measured where its program is given.

    Raises:
        AssertionError: The tools do not agree on the accelerations.
    """
    for family, (make, sizes) in (families or FAMILIES).items():
        for size in sizes:
            mechanism = make(size)
            unknowns, ours, found = _ours(mechanism, folder)
            theirs, expected = _theirs(mechanism)
            difference = np.abs(found - expected).max() / np.abs(expected).max()
            assert difference < AGREEMENT, f"{mechanism.title}: MuJoCo differs by {difference:.1e}"
            row = {"n": size, "family": family, "unknowns": unknowns, "mbfmu": ours, "mujoco": theirs}
            if program is not None:
                row |= _pinocchio(program, mechanism, found)
            yield row


def _ours(mechanism: Mechanism, folder: pathlib.Path) -> tuple[int, float, np.ndarray]:
    """Number of unknowns w, time of a right-hand side, and the accelerations of the links' joints."""
    system = System.of(Linkage(mechanism))
    sources = folder / mechanism.title.replace(" ", "_")
    sources.mkdir()
    written = native.write_sources(system.equations, system.variables, "", sources)
    (sources / "loops.c").write_bytes((pathlib.Path(__file__).parent / "loops.c").read_bytes())
    library = sources / library_name(sources.name, host_platform())
    with Compilation(require_compiler(), sources, library.name, runtime.headers()) as compilation:
        for unit in ("loops.c", *written.units[1:]):
            compilation.start(unit, ["-O2"], [file.name for file in written.files])
        library.write_bytes(compilation.library())
    loaded = ctypes.CDLL(str(library))
    loaded.accelerations_found.restype = ctypes.POINTER(ctypes.c_double)
    unknowns = loaded.begin()
    if unknowns < 0:
        raise AssertionError(f"{mechanism.title}: it does not start")
    loaded.repeat(1)
    w = np.ctypeslib.as_array(loaded.accelerations_found(), (unknowns,))
    places = {v.name: v.index for v in system.variables if v.store == "w"}
    found = w[[places[name] for name in Linkage.names(mechanism, "a")]].copy()
    return unknowns, call_time(lambda: loaded.repeat(64)) / 64, found


def _theirs(mechanism: Mechanism) -> tuple[float, np.ndarray]:
    """Time of the quickest setting, and the accelerations of the links' joints.

    MuJoCo's loops give way a little, in long chains by some per cent of the accelerations. Those that are compared are
    of stiff loops, from its own mass matrix, forces and Jacobian.
    """
    times = []
    for solver, tolerance in SOLVERS:
        compiled = peer.model(mechanism)
        compiled.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver.upper()}")
        compiled.opt.tolerance = tolerance
        data = mujoco.MjData(compiled)
        times.append(call_time(functools.partial(mujoco.mj_forward, compiled, data)))
    compiled.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    mass = np.zeros((compiled.nv, compiled.nv))
    for column, unit in zip(mass, np.eye(compiled.nv), strict=True):
        mujoco.mj_mulM(compiled, data, column, unit)
    jacobian = data.efc_J.reshape(-1, compiled.nv)
    free = scipy.linalg.null_space(jacobian, rcond=1e-9)
    stiff = free @ np.linalg.solve(free.T @ mass @ free, free.T @ -data.qfrc_bias)
    return min(times), stiff[peer.addresses(compiled, mechanism)]


def _pinocchio(program: pathlib.Path, mechanism: Mechanism, expected: np.ndarray) -> dict[str, Any]:
    """Time of its quickest way that gives these accelerations, and which that is; None where none does."""
    at_rest = State(*np.zeros((2, len(mechanism.links))), *(np.zeros(0) for _ in range(4)))
    times: dict[str, float] = {}
    for way in pinocchio.ways(mechanism):
        spent, found = pinocchio.from_cpp(program, mechanism, at_rest, way)
        if np.abs(found - expected).max() < AGREEMENT * np.abs(expected).max():
            times[f"{way[0]}, mu = {way[1]:g}"] = spent
    best = min(times, key=lambda way: times[way], default=None)
    return {"pinocchio": best and times[best], "way": best}
