"""A drivetrain and a car as two FMUs, stepped together by FMPy, against the same in one FMU."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from mbfmu import printing

#: Communication steps, s.
STEPS = (8e-3, 4e-3, 2e-3, 1e-3, 5e-4)
TOLERANCE = 1e-9
#: Variables that are compared: in the two FMUs, and in the one.
SPEED = ("powertrain.engine.w", "powertrain.engine.w")
PATH = (("car.x", "x"), ("car.y", "y"))
#: rev/min in rad/s.
RPM = np.pi / 30


@dataclasses.dataclass(frozen=True)
class Study:
    """One way of coupling: largest difference of the engine speed [rad/s] by communication step."""

    scheme: str
    inputs: str
    differences: tuple[float, ...]

    @property
    def title(self) -> str:
        """`jacobi, hold`."""
        return f"{self.scheme}, {self.inputs}"

    @property
    def order(self) -> float:
        """Exponent of the step by which the difference falls, between the two shortest steps."""
        return float(np.log(self.differences[-2] / self.differences[-1]) / np.log(STEPS[-2] / STEPS[-1]))

    @property
    def expected(self) -> int:
        """Exponent by theory: 1 for held inputs, 2 for inputs along a line."""
        return 1 if self.inputs == "hold" else 2


def run(folder: pathlib.Path, console: Console, fmi: int) -> None:
    """Run the demonstration; FMUs, the SSP package and the picture go into the folder."""
    from mbfmu.cosimulation import SCHEMES, SystemStructure
    from mbfmu.cosimulation.ssp import write_ssp

    files = {name: build(name, folder, fmi) for name in ("powertrain", "car", "drivetrain")}
    structure = SystemStructure.of({name: files[name] for name in ("powertrain", "car")}, name="SmallCar")
    printing.connections(structure.connections)
    whole = reference(files["drivetrain"])
    if fmi == 3:
        console.print("FMI 3.0 has no input derivatives: inputs are held.")
    ways = list(itertools.product(SCHEMES, ("hold", "secant", "tangent") if fmi == 2 else ("hold",)))
    with printing.running("Stepping both FMUs together") as progress:
        studies = []
        for count, (scheme, inputs) in enumerate(ways, start=1):
            studies.append(study(structure, whole, scheme, inputs))
            progress(count / len(ways))
    console.print(comparison(studies))
    picture = folder / "drivetrain.png"
    draw(structure, whole, studies, picture)
    package = write_ssp(structure, folder / "small_car.ssp")
    console.print(f"FMUs, picture and SSP package are in {escape(str(folder))}: {picture.name}, {package.name}")


def build(name: str, folder: pathlib.Path, fmi: int) -> pathlib.Path:
    """Build one assembly of the gallery."""
    from mbfmu.export.build import build as build_fmu
    from mbfmu.modeling.registry import assemblies

    with printing.working(f"Building {name}") as progress:
        return build_fmu(assemblies()[name](), folder / f"{name}.fmu", fmi=fmi, progress=progress)


def reference(path: pathlib.Path) -> np.ndarray:
    """Run drivetrain and car as one FMU; a structured array with a row per longest communication step."""
    import fmpy

    names = [SPEED[1], *(name for _, name in PATH)]
    with printing.working(f"Running {path.name} in FMPy"):
        return np.asarray(
            fmpy.simulate_fmu(str(path), output_interval=STEPS[0], relative_tolerance=TOLERANCE, output=names)
        )


def study(structure: Any, whole: np.ndarray, scheme: str, inputs: str) -> Study:
    """Step the two FMUs together with every communication step."""
    from mbfmu.cosimulation import cosimulate

    differences = []
    for step in STEPS:
        result = cosimulate(structure, step=step, scheme=scheme, inputs=inputs, tolerance=TOLERANCE, outputs=[SPEED[0]])
        every = round(STEPS[0] / step)
        differences.append(float(np.abs(result[SPEED[0]][::every] - whole[SPEED[1]]).max()))
    return Study(scheme, inputs, tuple(differences))


def comparison(studies: list[Study]) -> Any:
    """Return the table of couplings and steps."""
    steps = [f"{step * 1000:g} ms" for step in STEPS]
    title = "Largest difference of the engine speed to the single FMU, in rpm"
    table = printing.table(title, "scheme", "inputs", *steps, "order", "theory", right=[*steps, "order", "theory"])
    for one in studies:
        numbers = [f"{difference / RPM:.3g}" for difference in one.differences]
        table.add_row(one.scheme, one.inputs, *numbers, f"{one.order:.2f}", str(one.expected))
    return table


def draw(structure: Any, whole: np.ndarray, studies: list[Study], path: pathlib.Path) -> None:
    """Draw the engine speed for one step and two couplings, and the differences over the steps."""
    from matplotlib.figure import Figure

    from mbfmu.cosimulation import cosimulate

    step, best = STEPS[1], studies[-1]
    picture = Figure(figsize=(10, 4), dpi=110, layout="constrained")
    speed, falling = picture.subplots(1, 2)
    speed.plot(whole["time"], whole[SPEED[1]] / RPM, color="0.2", linewidth=3, alpha=0.5, label="one FMU")
    for scheme, inputs, style in dict.fromkeys((("jacobi", "hold", "--"), (best.scheme, best.inputs, "-"))):
        result = cosimulate(structure, step=step, scheme=scheme, inputs=inputs, outputs=[SPEED[0]])
        speed.plot(result.time, result[SPEED[0]] / RPM, style, linewidth=1.2, label=f"{scheme}, {inputs}")
    top = float(whole[SPEED[1]].max() / RPM)
    speed.set(title=f"Engine speed, communication step {step * 1000:g} ms", xlabel="time in s", ylabel="rpm")
    speed.set_ylim(0, 1.8 * top)
    speed.legend(loc="upper left")
    speed.grid(alpha=0.3)
    steps = 1000 * np.array(STEPS)
    styles = {"jacobi": "o-", "gauss-seidel": "x--"}
    colors = {"hold": "tab:red", "secant": "tab:blue", "tangent": "tab:green"}
    for one in studies:
        falling.loglog(
            steps, np.array(one.differences) / RPM, styles[one.scheme], color=colors[one.inputs], label=one.title
        )
    for one in dict.fromkeys((studies[0], best)):
        line = one.differences[-1] / RPM * (steps / steps[-1]) ** one.expected
        falling.loglog(steps, line, color="0.6", linestyle=":", zorder=0)
        middle = len(STEPS) // 2
        place = {"xytext": (4, -14), "textcoords": "offset points"}
        falling.annotate(f"step$^{one.expected}$", (steps[middle], line[middle]), color="0.4", **place)
    falling.set(title="Largest difference to one FMU", xlabel="communication step in ms", ylabel="rpm")
    falling.set_xticks(steps, [f"{value:g}" for value in steps])
    falling.minorticks_off()
    falling.grid(alpha=0.3)
    falling.legend(fontsize="small", loc="center left")
    picture.savefig(path)
