"""Draw rigid_coupling.png: what becomes of a torque step where two inertias are coupled rigidly."""

from __future__ import annotations

import pathlib
import tempfile

import numpy as np
from matplotlib.figure import Figure

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.components import rotational
from mbfmu.components.interfaces import Flange_a
from mbfmu.cosimulation import SystemStructure, cosimulate, loops

STEP, J2 = 0.01, 1.0
#: Title, scheme, inputs and line style of each curve of the second plot.
CURVES = (
    ("jacobi, hold or tangent", "jacobi", "hold", "-"),
    ("jacobi, secant", "jacobi", "secant", "-"),
    ("gauss-seidel, hold", "gauss-seidel", "hold", "--"),
    ("gauss-seidel, secant or tangent", "gauss-seidel", "secant", "--"),
)


class Rotor(Assembly):
    """The inertia that is moved and answers with torque."""

    def __init__(self) -> None:
        self.axis = Flange_a("Shaft", motion=True)
        self.inertia = rotational.Inertia(J=1.0)
        self.connect(self.inertia.flange_a, self.axis)


class Load(Assembly):
    """The inertia that takes torque, and that a torque step acts on."""

    def __init__(self) -> None:
        self.axis = Flange_a("Shaft")
        self.inertia = rotational.Inertia(J=J2, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.torque = rotational.TorqueStep(stepTorque=1.0, offsetTorque=0.0, startTime=4.5 * STEP)
        self.connect(self.torque.flange, self.inertia.flange_b)
        self.connect(self.inertia.flange_a, self.axis)


def factor(ratio: float, scheme: str, inputs: str) -> float:
    """Growth of a disturbance per step where the inertia that is moved is `ratio` times the other."""
    jacobian = np.array([[0.0, 1.0], [-ratio, 0.0]])  # a = tau, tau = -ratio a
    ahead = np.array([[False, False], [True, True]]) if scheme == "gauss-seidel" else None
    return loops.growth(jacobian, ahead, inputs == "secant")


def main() -> None:
    """Write the picture beside this file."""
    picture = Figure(figsize=(10, 3.8), dpi=110, layout="constrained")
    ringing, growth = picture.subplots(1, 2)
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "rotor": mbfmu.build(Rotor(), pathlib.Path(folder) / "rotor.fmu"),
            "load": mbfmu.build(Load(), pathlib.Path(folder) / "load.fmu"),
        }
        structure = SystemStructure.of(files)
        for ratio in (0.9, 0.6, 0.2):
            values = {"rotor.inertia.J": ratio * J2}
            result = cosimulate(structure, step=STEP, stop_time=0.3, start_values=values, outputs=["load.axis.a"])
            exact = (result.time > 4.5 * STEP) / (1 + ratio)
            ringing.plot(result.time / STEP, result["load.axis.a"] / exact.max(), "o-", ms=3, label=f"J1 = {ratio} J2")
    ringing.axhline(1, color="0.6", linestyle=":")
    ringing.set(title="Acceleration after a torque step (jacobi, hold)", xlabel="communication steps")
    ringing.set_ylabel("acceleration / exact one")
    ratios = np.linspace(0.01, 1.2, 200)
    for label, scheme, inputs, style in CURVES:
        growth.plot(ratios, [factor(ratio, scheme, inputs) for ratio in ratios], style, lw=2, label=label)
    growth.axhspan(1, 2.6, color="tab:red", alpha=0.1)
    growth.set(
        title="Growth of a disturbance per step", xlabel="J1 / J2", ylabel="factor", ylim=(0, 2.6), xlim=(0, 1.2)
    )
    for axes in (ringing, growth):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    picture.savefig(pathlib.Path(__file__).with_suffix(".png"))


if __name__ == "__main__":
    main()
