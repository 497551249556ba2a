"""Accelerations of an n-link chain: mbfmu's compiled C, Pinocchio's aba, MuJoCo's mj_forward."""

from __future__ import annotations

import ctypes
import importlib.resources
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from benchmarks import mechanisms
from benchmarks.chain import Chain, accelerations_in_order, state
from benchmarks.peers import mujoco, pinocchio
from benchmarks.timing import call_time
from mbfmu.dynamics import System
from mbfmu.export import native
from mbfmu.export.compilers import require_compiler
from mbfmu.simulation import Equations

SIZES = (5, 10, 20, 50, 100, 200)

#: Accelerations of two tools agree to this, relative to the greatest: rounding grows with the chain.
AGREEMENT = 1e-6

_LOOP = """
#define CASADI_SYMBOL_EXPORT __attribute__((visibility("default")))
#include "dynamics.c"

CASADI_SYMBOL_EXPORT void repeat(long count, const double **arg, double **res, casadi_int *iw, double *w)
{
    while (count-- > 0) dynamics(arg, res, iw, w, 0);
}
"""


class Compiled:
    """`dynamics` of a chain, compiled as an FMU is, with all its vectors at fixed places."""

    def __init__(self, equations: Equations, x: np.ndarray, folder: pathlib.Path) -> None:
        if not equations.explicit:
            raise ValueError(f"{equations.name}: dynamics leaves a linear system, choose five links or more")
        function = equations.functions["dynamics"]
        begin = time.perf_counter()
        generator = ca.CodeGenerator("dynamics")
        generator.add(function)
        code = generator.dump()
        (folder / "dynamics.c").write_text(code)
        (folder / "loop.c").write_text(_LOOP)
        optimize = "-O1" if len(code) > native._LARGE else "-O2"
        library = folder / f"chain{len(x)}.so"
        library.write_bytes(require_compiler().compile(folder / "loop.c", library.name, folder, optimize))
        self.compile_time = time.perf_counter() - begin
        self.code_size = len(code)

        p = equations.vector("parameters")
        P = np.concatenate([p, np.array(equations.functions["derived"](p)).ravel()])
        empty = np.zeros(0)
        self._arguments = [np.zeros(1), x, empty, P, empty]
        self.w = np.zeros(equations.nw)
        self._loop = self._c_loop(function, library)
        self.from_python = self._python_call(library)

    def _c_loop(self, function: ca.Function, library: pathlib.Path) -> Callable[[int], object]:
        results = [np.zeros(0), self.w]
        arguments, results_ = (
            (ctypes.c_void_p * len(vectors))(*(vector.ctypes.data for vector in vectors))
            for vectors in (self._arguments, results)
        )
        iw, work = np.zeros(function.sz_iw() + 1, dtype=np.int64), np.zeros(function.sz_w() + 1)
        repeat = ctypes.CDLL(str(library)).repeat
        repeat.restype = None
        repeat.argtypes = (ctypes.c_long, *[ctypes.c_void_p] * 4)

        def loop(count: int) -> object:
            return repeat(count, arguments, results_, iw.ctypes.data, work.ctypes.data)

        return loop

    def _python_call(self, library: pathlib.Path) -> Callable[[], object]:
        buffer: Any
        buffer, evaluate = ca.external("dynamics", str(library)).buffer()
        for i, vector in enumerate(self._arguments):
            buffer.set_arg(i, memoryview(vector))
        buffer.set_res(1, memoryview(self.w))

        def call(_keep_alive: object = buffer) -> object:
            return evaluate()

        return call

    def from_c(self, calls: int = 64) -> float:
        """CPU time of one call from C, s."""
        return call_time(lambda: self._loop(calls)) / calls
