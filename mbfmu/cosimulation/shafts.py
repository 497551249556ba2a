"""Rigid shafts between flanges that both take torque: a constraint of index 3 between FMUs that have states each.

At the start, the torque between them is that with which both sides accelerate alike. In every step it follows a line,
whose two numbers are such that angles and speeds of both sides are equal at the end: the difference of their
accelerations has neither mean nor first moment over the step. So nothing drifts (position and speed are kept together,
as in C. W. Gear, B. Leimkuhler, G. K. Gupta: Automatic integration of Euler-Lagrange equations with constraints,
Journal of Computational and Applied Mathematics 12 (1985), 77-90), and no line comes nearer to the torque. FMUs go back
as often as Newton's method takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.cosimulation import loops
from mbfmu.cosimulation.structure import SystemStructure
from mbfmu.errors import SimulationError
from mbfmu.fmi.slave import Slave, Values
from mbfmu.fmi.variables import Scalar

#: Newton steps that may be taken, and what angles may differ by at the end of a step, relative to them and 1 rad.
ITERATIONS, ACCURACY = 12, 1e-11
#: The same where the length of steps is free, beside what a tolerance bears: an angle that is off by this is made up
#: for by torques in the next step, the more, the shorter it is.
ROUNDING = 1e-13
#: What is borne where FMUs that iterate themselves allow no better, and at the start.
ROUGH = 1e-9
#: Change of a torque, relative to the largest of its line, by which its effect is measured.
PERTURBATION = 1e-4


class Shafts:
    """Rigid shafts of a system, and the torques in them: those of a step, which follow lines."""

    def __init__(self, structure: SystemStructure, slaves: Mapping[str, Slave]) -> None:
        self.shafts = structure.shafts
        #: Inputs of every element that take a torque, and which shaft's, with which sign.
        self.inputs: dict[str, list[Scalar]] = {name: [] for name in slaves}
        self._taken: dict[str, list[tuple[int, float]]] = {name: [] for name in slaves}
        outputs: dict[str, list[Scalar]] = {name: [] for name in slaves}
        for k, shaft in enumerate(self.shafts):
            for element, flange, sign in shaft.ends:
                self._taken[element].append((k, sign))
                self.inputs[element] += structure.scalars(element, f"{flange.name}.{flange.flow}")
                for member in flange.motion:
                    outputs[element] += structure.scalars(element, f"{flange.name}.{member}")
        self._outputs = {name: Values(found) for name, found in outputs.items() if found}
        #: Those at shafts.
        self.elements = list(self._outputs)
        for name in self.elements:
            if not (slaves[name].saves and slaves[name].takes_slopes):
                raise SimulationError(
                    f"{name}: is at a rigid shaft whose flanges both take torque, so that it has to go back "
                    "(canGetAndSetFMUState) and to take lines of inputs (canInterpolateInputs, "
                    "providesIntermediateUpdate); declare one of the flanges with motion=True and build it again"
                )
        #: Mean torques in a step and what they change over it, [2, shafts], and the length of the step, s.
        self._line = np.zeros((2, len(self.shafts)))
        self._size: float | None = None
        #: Of what `solve` makes zero, by the square of the length of the step.
        self._jacobian: np.ndarray | None = None
        #: What is borne of angles, and of the accelerations that follow from these over a step.
        self._accuracy, self._tolerance = ACCURACY, 0.0

    @property
    def line(self) -> tuple[np.ndarray, float | None]:
        """The line of the step before, which `solve` goes on from, for those who take steps back."""
        return self._line, self._size

    @line.setter
    def line(self, line: tuple[np.ndarray, float | None]) -> None:
        self._line, self._size = line

    def bear(self, tolerance: float) -> None:
        """Steps may be of any length: differences count as what torques have to make up for in the next one."""
        self._accuracy, self._tolerance = ROUNDING, tolerance

    def check(self, sequential: bool, loops: Sequence[Sequence[str]]) -> None:
        """Refuse a scheme, and algebraic loops through elements at shafts.

        Raises:
            SimulationError: The message names shaft or elements.
        """
        if self.elements and sequential:
            raise SimulationError(
                f"{self.shafts[0].name}: rigid shafts whose flanges both take torque are solved with scheme='jacobi' "
                "only"
            )
        both = sorted({name for loop in loops for name in loop} & set(self.elements))
        if both:
            raise SimulationError(
                f"{', '.join(both)}: are at rigid shafts whose flanges both take torque, and on an algebraic loop; "
                "declare one flange with motion=True"
            )

    def led(self, slave: Slave) -> set[str]:
        """Outputs that depend on torques at once, as accelerations do: within steps they are of second order only."""
        taken = {scalar.variable.name for scalar in self.inputs[slave.name]}
        outputs = [unknown.variable.name for unknown in slave.description.outputs]
        return {name for name in outputs if taken & (loops.direct_inputs(slave.description, name) or set())}

    def torques(self, name: str, share: float) -> np.ndarray:
        """What the inputs of an element at shafts have in the last step, after a share of it."""
        mean, change = self._line
        return np.array([sign * (mean[k] + (share - 0.5) * change[k]) for k, sign in self._taken[name]])

    def _apart(self, slaves: Sequence[Slave]) -> tuple[np.ndarray, np.ndarray]:
        """Differences of angles, speeds and accelerations, and accelerations, [4, shafts], and the size of the angles.

        That is 1 at least.
        """
        found, size = np.zeros((4, len(self.shafts))), np.ones(len(self.shafts))
        for slave in slaves:
            motion = np.array(slave.get(self._outputs[slave.name]), dtype=float).reshape(-1, 3)
            for (k, sign), one in zip(self._taken[slave.name], motion, strict=True):
                found[:3, k] += sign * one
                found[3, k] = max(found[3, k], abs(one[2]))
                size[k] = max(size[k], abs(one[0]))
        return found, size

    def start(self, slaves: Sequence[Slave], give: Callable[[], Any]) -> None:
        """Find the torques of the start, which `give` sets: both sides accelerate alike.

        Raises:
            SimulationError: The sides start apart, or no torque makes them accelerate alike.
        """
        give()
        apart, _ = self._apart(slaves)
        for shaft, (angle, speed) in zip(self.shafts, apart[:2].T, strict=True):
            if max(abs(angle), abs(speed)) > ROUGH:
                raise SimulationError(
                    f"{shaft.name}: are one rigid shaft, and start apart (positions differ by {angle:.3g}, speeds by "
                    f"{speed:.3g}); give both sides the same start values"
                )

        def apart_with(torques: np.ndarray) -> np.ndarray:
            self._line[0] = torques
            give()
            found: np.ndarray = self._apart(slaves)[0][2]
            return found

        torques = self._line[0].copy()
        r = apart_with(torques)
        for _ in range(ITERATIONS):
            if np.all(np.abs(r) <= ROUGH):
                return
            torques = torques - self._solved(self._differences(apart_with, torques, r), r, "at the start")
            r = apart_with(torques)
        if np.any(np.abs(r) > ROUGH * (1 + np.abs(torques))):
            worst = self.shafts[int(np.argmax(np.abs(r)))]
            raise SimulationError(
                f"{worst.name}: no torque between them was found at the start with which both sides accelerate alike "
                f"(they differ by {np.abs(r).max():.3g}); declare one flange with motion=True"
            )

    def solve(self, slaves: Sequence[Slave], time: float, size: float, step: Callable[[], None]) -> None:
        """Let `step` move the slaves, from a time [s], so that both sides of shafts are together after a size [s].

        Raises:
            SimulationError: No line of torques does that; the message names shaft and time.
        """
        saved = [slave.save() for slave in slaves]
        scale, first = np.ones(2 * len(self.shafts)), True

        def apart_after(z: np.ndarray) -> np.ndarray:
            nonlocal scale, first
            if not first:
                for slave, state in zip(slaves, saved, strict=True):
                    slave.restore(state)
            first = False
            self._line = z.reshape(2, -1)
            step()
            if any(slave.ended is not None or slave.time < time + size * (1 - ROUGH) for slave in slaves):
                return np.zeros(z.size)  # all have to go to where one ends, or has an event
            found, angles = self._apart(slaves)
            scale = np.tile(angles, 2) + self._tolerance / self._accuracy * size**2 * np.tile(1 + np.abs(found[3]), 2)
            return np.concatenate([found[0], size * found[1]])

        try:
            share = size / self._size if self._size else 1.0
            mean, change = self._line  # the line of the step before goes on
            z = np.concatenate([mean + (1 + share) / 2 * change, share * change])
            self._size = size
            r, fresh = apart_after(z), False
            for _ in range(ITERATIONS):
                if np.all(np.abs(r) <= self._accuracy * scale):
                    return
                if self._jacobian is None:
                    self._jacobian, fresh = self._differences(apart_after, z, r) / size**2, True
                better = z - self._solved(self._jacobian, r / size**2, f"at t = {time:.9g} s")
                left = apart_after(better)
                if np.abs(left).max() <= np.abs(r).max() / 4:
                    z, r, fresh = better, left, False
                elif fresh:
                    break
                else:
                    self._jacobian, r = None, apart_after(z)
            # where rounding of the FMUs ends the iteration, both last attempts are as good
            r = apart_after(z)
            if np.all(np.abs(r) <= ROUGH / ACCURACY * self._accuracy * scale):
                return
        finally:
            for slave, state in zip(slaves, saved, strict=True):
                slave.forget(state)
        worst = self.shafts[int(np.argmax(np.abs(r).reshape(2, -1).max(axis=0)))]
        raise SimulationError(
            f"{worst.name}: no torque between them was found at t = {time:.9g} s that keeps both sides together (they "
            f"differ by {np.abs(r).max():.3g}); take shorter steps, or declare one flange with motion=True"
        )

    def _solved(self, matrix: np.ndarray, r: np.ndarray, when: str) -> np.ndarray:
        """A Newton step."""
        rank = int(np.linalg.matrix_rank(matrix))
        if rank < r.size or not np.all(np.isfinite(r)):
            names = "; ".join(shaft.name for shaft in self.shafts)
            raise SimulationError(
                f"{names}: the torques of these rigid shafts are not determined {when}: two of them hold the same "
                "motion, or nothing moves; leave one out, or put a spring between"
            )
        return np.linalg.solve(matrix, r)

    def _differences(self, function: Callable[[np.ndarray], np.ndarray], z: np.ndarray, r: np.ndarray) -> np.ndarray:
        result = np.zeros((z.size, z.size))
        sizes = np.abs(z.reshape(-1, len(self.shafts))).max(axis=0)  # a change is seen beside its mean
        for k in range(z.size):
            moved = z.copy()
            moved[k] += PERTURBATION * (1 + sizes[k % sizes.size])
            result[:, k] = (function(moved) - r) / (moved[k] - z[k])
        return result
