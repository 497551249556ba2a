"""Accelerations of trees: mbfmu's compiled C, Pinocchio's aba from C++ and Python, MuJoCo's mj_forward."""

from __future__ import annotations

import ctypes
import hashlib
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import casadi as ca
import numpy as np

from benchmarks import mechanisms
from benchmarks.chain import Chain
from benchmarks.mechanisms import Mechanism, State
from benchmarks.peers import mujoco, pinocchio
from benchmarks.timing import call_time
from benchmarks.tree import Tree
from mbfmu.dynamics import System
from mbfmu.runtime.c_code import Code, work_length
from mbfmu.runtime.compiled import optimization
from mbfmu.runtime.compilers import require_compiler
from mbfmu.runtime.equations import Equations

SIZES = (5, 10, 20, 50, 100, 200)

#: Accelerations of two tools agree to this, relative to the greatest: rounding grows with the chain.
AGREEMENT = 1e-6

_LOOP = """
#include "dynamics.c"

__attribute__((visibility("default"))) void repeat(long count, const double **arg, double **res, double *w)
{
    while (count-- > 0) dynamics(arg, res, w);
}
"""


class Compiled:
    """`dynamics` of a tree, compiled as in an FMU, with all its vectors at fixed places."""

    def __init__(self, equations: Equations, x: np.ndarray, folder: pathlib.Path) -> None:
        if not equations.explicit:
            raise ValueError(f"{equations.name}: dynamics leaves a linear system to solve; choose five links or more")
        function = equations.functions["dynamics"]
        code = Code({"dynamics": function}, given=["dynamics"]).whole()
        self.code_size = len(code)
        (folder / "dynamics.c").write_text(code)
        (folder / "loop.c").write_text(_LOOP)
        name = hashlib.sha256(code.encode()).hexdigest()[:12]  # of its own: loaded libraries are known by it
        library = folder / f"{name}.so"
        library.write_bytes(
            require_compiler().compile(folder / "loop.c", library.name, folder, optimization(len(code)))
        )

        p = equations.vector("parameters")
        P = np.concatenate([p, np.array(equations.functions["derived"](p)).ravel()])
        self._arguments = [np.zeros(1), x, np.zeros(equations.nu), P, np.zeros(equations.nm)]
        self.w = np.zeros(equations.nw)
        self._loop = self._c_loop(function, library)

    def _c_loop(self, function: ca.Function, library: pathlib.Path) -> Callable[[int], object]:
        arguments = (ctypes.c_void_p * len(self._arguments))(*(vector.ctypes.data for vector in self._arguments))
        results = (ctypes.c_void_p * 2)(None, self.w.ctypes.data)
        work = np.zeros(work_length(function) + 1)
        repeat = ctypes.CDLL(str(library)).repeat
        repeat.restype, repeat.argtypes = None, (ctypes.c_long, *[ctypes.c_void_p] * 3)

        def loop(count: int) -> object:
            return repeat(count, arguments, results, work.ctypes.data)

        return loop

    def from_python(self) -> None:
        """One call from Python, by ctypes."""
        self._loop(1)

    def from_c(self, calls: int = 64) -> float:
        """CPU time of one call from C, s."""
        return call_time(lambda: self._loop(calls)) / calls


def trees() -> Iterator[Mechanism]:
    """What has random axes and bodies of no particular form."""
    yield mechanisms.skew_chain(31)
    yield mechanisms.skew_chain(100)
    yield mechanisms.humanoid()


def measure(
    folder: pathlib.Path, sizes: Sequence[int] = SIZES, program: pathlib.Path | None = None
) -> Iterator[dict[str, Any]]:
    """Yield one row per length of a chain with aligned axes; `measure_tree` says what is in it.

    Raises:
        AssertionError: The tools do not agree on the accelerations.
    """
    for n in sizes:
        names = [f"joints[{i + 1}]" for i in range(n)]
        row = measure_tree(folder, mechanisms.chain(n), System.of(Chain(n)), names, program)
        yield {"n": n, **row}


def measure_trees(folder: pathlib.Path, program: pathlib.Path | None = None) -> Iterator[dict[str, Any]]:
    """Yield one row for each of `trees`."""
    for mechanism in trees():
        names = [link.name for link in mechanism.joints]
        yield {"title": mechanism.title, **measure_tree(folder, mechanism, System.of(Tree(mechanism)), names, program)}


def measure_tree(
    folder: pathlib.Path, mechanism: Mechanism, system: System, names: Sequence[str], program: pathlib.Path | None
) -> dict[str, Any]:
    """Times of one evaluation, s, at a random state, the same for all; `names` are mbfmu's of the joints.

    Pinocchio is measured from C++ where its program is given.

    Raises:
        AssertionError: The tools do not agree on the accelerations.
    """
    at = mechanisms.some_state(mechanism)
    compiled = Compiled(system.equations, _start(system, names, at), folder)
    aba = pinocchio.forward_dynamics(mechanism, at)
    forward, places = mujoco.forward_dynamics(mechanism, at)
    compiled.from_python()
    stores = {v.name: v.index for v in system.variables if v.store == "w"}
    ours, theirs = compiled.w[[stores[f"{name}.a"] for name in names]], aba()[-len(names) :]
    others = {"Pinocchio": theirs, "MuJoCo": forward()[places]}
    spent = None
    if program is not None:
        spent, others["Pinocchio in C++"] = pinocchio.from_cpp(program, mechanism, at)
    for name, other in others.items():
        difference = np.abs(ours - other).max() / np.abs(theirs).max()
        assert difference < AGREEMENT, f"{mechanism.title}: {name} differs by {difference:.1e}"
    return {
        "c": compiled.from_c(),
        "python": call_time(compiled.from_python),
        "pinocchio_cpp": spent,
        "pinocchio": call_time(aba),
        "mujoco": call_time(forward),
        "code_size": compiled.code_size,
    }


def _start(system: System, names: Sequence[str], at: State) -> np.ndarray:
    """The state x of a system that is this one, wherever the system keeps its coordinates."""
    x = np.zeros(system.equations.nx)
    places = {variable.name: variable.index for variable in system.variables if variable.store == "x"}
    for name, q, v in zip(names, at.q, at.v, strict=True):
        x[places[f"{name}.phi"]], x[places[f"{name}.w"]] = q, v
    for vector, name in ((at.position, "r_rel_a"), (at.velocity, "v_rel_a"), (at.rotation, "w_rel_b")):
        for i, value in enumerate(vector):
            x[places[f"base.{name}[{i + 1}]"]] = value
    for offset in system.equations.quaternions:
        x[offset : offset + 4] = at.quaternion
    return x


def python_call_overhead() -> float:
    """CPU time of aba for a single joint, s: at most this much of its time is the call from Python."""
    single = mechanisms.chain(1)
    return call_time(pinocchio.forward_dynamics(single, mechanisms.some_state(single)))
