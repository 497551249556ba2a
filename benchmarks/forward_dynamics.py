"""Accelerations of an n-link chain: mbfmu's compiled C, Pinocchio's aba, MuJoCo's mj_forward."""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import casadi as ca
import numpy as np

from benchmarks import mechanisms
from benchmarks.chain import Chain, accelerations_in_order, state
from benchmarks.peers import mujoco, pinocchio
from benchmarks.timing import call_time
from mbfmu.dynamics import System
from mbfmu.runtime.compilers import require_compiler
from mbfmu.runtime.equations import Equations

SIZES = (5, 10, 20, 50, 100, 200)

#: Accelerations of two tools agree to this, relative to the greatest: rounding grows with the chain.
AGREEMENT = 1e-6

#: As quick as -O2 on this code at every size, and much quicker to compile.
_OPTIMIZE = "-O1"

_LOOP = """
#define CASADI_SYMBOL_EXPORT __attribute__((visibility("default")))
#include "dynamics.c"

CASADI_SYMBOL_EXPORT void repeat(long count, const double **arg, double **res, casadi_int *iw, double *w)
{
    while (count-- > 0) dynamics(arg, res, iw, w, 0);
}
"""


class Compiled:
    """`dynamics` of a chain, compiled as in an FMU, with all its vectors at fixed places."""

    def __init__(self, equations: Equations, x: np.ndarray, folder: pathlib.Path) -> None:
        if not equations.explicit:
            raise ValueError(f"{equations.name}: dynamics leaves a linear system to solve; choose five links or more")
        function = equations.functions["dynamics"]
        generator = ca.CodeGenerator("dynamics")
        generator.add(function)
        code = generator.dump()
        self.code_size = len(code)
        (folder / "dynamics.c").write_text(code)
        (folder / "loop.c").write_text(_LOOP)
        library = folder / f"chain{equations.nv}.so"  # a name of its own: loaded libraries are known by it
        library.write_bytes(require_compiler().compile(folder / "loop.c", library.name, folder, _OPTIMIZE))

        p = equations.vector("parameters")
        P = np.concatenate([p, np.array(equations.functions["derived"](p)).ravel()])
        self._arguments = [np.zeros(1), x, np.zeros(equations.nu), P, np.zeros(equations.nm)]
        self.w = np.zeros(equations.nw)
        self._loop = self._c_loop(function, library)
        self.from_python = self._python_call(library)

    def _c_loop(self, function: ca.Function, library: pathlib.Path) -> Callable[[int], object]:
        # Behind the arguments and results there is room for those of the functions that this one calls.
        arguments = (ctypes.c_void_p * function.sz_arg())(*(vector.ctypes.data for vector in self._arguments))
        results = (ctypes.c_void_p * function.sz_res())(None, self.w.ctypes.data)
        iw, work = np.zeros(function.sz_iw() + 1, dtype=np.int64), np.zeros(function.sz_w() + 1)
        repeat = ctypes.CDLL(str(library)).repeat
        repeat.restype, repeat.argtypes = None, (ctypes.c_long, *[ctypes.c_void_p] * 4)

        def loop(count: int) -> object:
            return repeat(count, arguments, results, iw.ctypes.data, work.ctypes.data)

        return loop

    def _python_call(self, library: pathlib.Path) -> Callable[[], object]:
        buffer: Any
        buffer, evaluate = ca.external("dynamics", str(library)).buffer()
        vector: Any
        for i, vector in enumerate(self._arguments):
            buffer.set_arg(i, memoryview(vector))
        vector = self.w
        buffer.set_res(1, memoryview(vector))

        def call(_keep_alive: object = buffer) -> object:
            return evaluate()

        return call

    def from_c(self, calls: int = 64) -> float:
        """CPU time of one call from C, s."""
        return call_time(lambda: self._loop(calls)) / calls


def measure(folder: pathlib.Path, sizes: Sequence[int] = SIZES) -> Iterator[dict[str, Any]]:
    """Yield one row per size: times of one evaluation, s, at a random state, the same for all.

    Raises
    ------
    AssertionError
        The tools do not agree on the accelerations.
    """
    for n in sizes:
        random = np.random.default_rng(n)
        q, v = random.uniform(-1, 1, n), random.uniform(-1, 1, n)
        system = System.of(Chain(n))
        compiled = Compiled(system.equations, state(system, n, q, v), folder)
        mechanism = mechanisms.chain(n)
        aba, forward = (peer.forward_dynamics(mechanism, q, v) for peer in (pinocchio, mujoco))
        compiled.from_python()
        ours, theirs = compiled.w[accelerations_in_order(system, n)], aba()
        for name, other in (("Pinocchio", theirs), ("MuJoCo", forward())):
            difference = np.abs(ours - other).max() / np.abs(theirs).max()
            assert difference < AGREEMENT, f"chain of {n} links: {name} differs by {difference:.1e}"
        yield {
            "n": n,
            "c": compiled.from_c(),
            "python": call_time(compiled.from_python),
            "pinocchio": call_time(aba),
            "mujoco": call_time(forward),
            "code_size": compiled.code_size,
        }


def python_call_overhead() -> float:
    """CPU time of aba for a single joint, s: at most this much of its time is the call from Python."""
    return call_time(pinocchio.forward_dynamics(mechanisms.chain(1), np.zeros(1), np.zeros(1)))
