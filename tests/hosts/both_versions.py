"""The gallery in both versions of FMI: `python tests/hosts/both_versions.py [NAME...]` prints what was equal.

Each model is built once and exported twice, as native FMUs with interpreted equations. All Real variables are compared
to the last bit at each communication point of co-simulation; outputs and state derivatives in model exchange under
CVode; the directional derivatives of all of these by each input and state. A state that was serialized brings a new
instance of FMI 3.0 to the same bits.
"""

from __future__ import annotations

import ctypes
import pathlib
import sys
import tempfile
from typing import Any

import fmpy
import gallery
import numpy as np
from fmpy.simulation import instantiate_fmu

from mbfmu import sources
from mbfmu.dynamics.system import System
from mbfmu.export.build import build
from mbfmu.fmi.variables import Interface, Scalar
from mbfmu.modeling.registry import assemblies

#: Length of the runs at most, s, and the number of points that are compared.
LONGEST, POINTS = 1.0, 25

#: Tolerances of CVode where FMPy's default fails, which takes 500 steps between two points at most.
TOLERANCES = {**gallery.TOLERANCES, "bevel_gear": 1e-6}


class Unit:
    """An instance of an FMU of either version; `names` are scalars as FMI 2.0 calls them."""

    def __init__(self, path: pathlib.Path, names: list[str] | None = None) -> None:
        self.path = path
        self.description = fmpy.read_model_description(str(path))
        self.of_fmi_3 = self.description.fmiVersion.startswith("3")
        self.interface = Interface(self.description)
        self.names = names or [v.name for v in self.description.modelVariables if v.type == "Real"]
        self.scalars: list[Scalar] = [self.interface[name][0] for name in self.names]
        self.variables = list({id(s.variable): s.variable for s in self.scalars}.values())
        sizes = [int(np.prod(v.shape or ())) for v in self.variables]
        self.size = sum(sizes)
        begins = dict(zip(map(id, self.variables), np.cumsum([0, *sizes]), strict=False))
        self.places = [begins[id(s.variable)] + s.place for s in self.scalars]
        self.references = [v.valueReference for v in self.variables]
        self.folder = fmpy.extract(str(path))
        self.fmu = instantiate_fmu(self.folder, self.description, "CoSimulation", logger=lambda *_: None)

    def start(self) -> None:
        if self.of_fmi_3:
            self.fmu.enterInitializationMode()
        else:
            self.fmu.setupExperiment()
            self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def values(self) -> np.ndarray:
        """All of them, [names]."""
        if not self.of_fmi_3:
            return np.array(self.fmu.getReal(self.references))
        return np.array(self.fmu.getFloat64(self.references, self.size))[self.places]

    def partial(self, unknowns: list[str], known: str) -> list[float]:
        """Directional derivatives of scalars by one."""
        found, (scalar,) = [self.interface[name][0] for name in unknowns], self.interface[known]
        references = [s.variable.valueReference for s in found]
        if not self.of_fmi_3:
            by = self.fmu.getDirectionalDerivative(references, [scalar.variable.valueReference], [1.0])
            return list(by)
        seed = [0.0] * int(np.prod(scalar.variable.shape or ()))
        seed[scalar.place] = 1.0
        whole = list(dict.fromkeys(references))
        sizes = {s.variable.valueReference: int(np.prod(s.variable.shape or ())) for s in found}
        begins = dict(zip(whole, np.cumsum([0, *(sizes[r] for r in whole)]), strict=False))
        values = (ctypes.c_double * sum(sizes.values()))()
        self.fmu.fmi3GetDirectionalDerivative(
            self.fmu.component, (ctypes.c_uint * len(whole))(*whole), len(whole),
            (ctypes.c_uint * 1)(scalar.variable.valueReference), 1, (ctypes.c_double * len(seed))(*seed), len(seed),
            values, len(values),
        )  # fmt: skip
        return [values[begins[s.variable.valueReference] + s.place] for s in found]


def exchange(path: pathlib.Path, stop: float, names: list[str], tolerance: float | None) -> np.ndarray:
    """Model exchange under CVode: [points, names]."""
    interface = Interface(fmpy.read_model_description(str(path)))
    scalars = [interface[name][0] for name in names]
    result = fmpy.simulate_fmu(
        str(path), fmi_type="ModelExchange", stop_time=stop, output_interval=stop / POINTS / 10, record_events=False,
        relative_tolerance=tolerance, output=list(dict.fromkeys(s.variable.name for s in scalars)),
        logger=lambda *_: None,
    )  # fmt: skip
    return np.array([result[s.variable.name][(slice(None), *(i - 1 for i in s.indices))] for s in scalars]).T


def compare(name: str, folder: pathlib.Path) -> dict[str, Any]:
    """Compare a model's two FMUs; every figure is a number of values that were equal, or of those that were not."""
    system = System.of(sources.load(name, ()))
    files = {fmi: build(system, folder / f"{name}_{fmi}.fmu", fmi=fmi, equations="interpreted") for fmi in (2, 3)}
    two = Unit(files[2])
    three = Unit(files[3], two.names)
    found: dict[str, Any] = {"variables": len(two.names), "co-simulation": 0, "differ": 0}
    stop = min(float(two.description.defaultExperiment.stopTime), LONGEST)
    step = stop / POINTS
    for unit in (two, three):
        unit.start()
    state = later = None
    for i in range(POINTS + 1):
        a, b = two.values(), three.values()
        found["co-simulation"] += a.size
        found["differ"] += int((a.view(np.int64) != b.view(np.int64)).sum())
        if i == POINTS // 2:
            kept = three.fmu.getFMUState()
            state = three.fmu.serializeFMUState(kept)
            three.fmu.freeFMUState(kept)
            partials(two, three, found)
        if i == POINTS:
            later = b
            break
        for unit in (two, three):
            unit.fmu.doStep(i * step, step)
    other = Unit(files[3], two.names)
    other.start()
    copy = other.fmu.deserializeFMUState(state)
    other.fmu.setFMUState(copy)
    other.fmu.freeFMUState(copy)
    for i in range(POINTS // 2, POINTS):
        other.fmu.doStep(i * step, step)
    found["states"] = "equal" if other.values().tobytes() == later.tobytes() else "DIFFER"
    found["bytes of a state"] = len(state)
    if two.description.modelExchange is not None:
        outputs = [v.name for v in two.description.modelVariables if v.type == "Real" and v.causality == "output"]
        shown = outputs + [s.variable.name for s in two.scalars if s.variable.derivative is not None]
        rows = [exchange(files[fmi], stop, shown, TOLERANCES.get(name)) for fmi in (2, 3)]
        found["model exchange"] = rows[0].size
        found["differ"] += int((rows[0].view(np.int64) != rows[1].view(np.int64)).sum())
    for unit in (two, three, other):
        unit.fmu.terminate()
        unit.fmu.freeInstance()
    return found


def partials(two: Unit, three: Unit, found: dict[str, Any]) -> None:
    """Directional derivatives of both, where the model structure of FMI 2.0 has them."""
    structure = two.description
    unknowns = [u.variable.name for u in (*structure.outputs, *structure.derivatives) if u.variable.type == "Real"]
    knowns = [v.name for v in structure.modelVariables if v.causality == "input" and v.type == "Real"]
    knowns += [u.variable.derivative.name for u in structure.derivatives]
    found["derivatives"] = 0
    for known in knowns:
        a, b = (np.array(unit.partial(unknowns, known)) for unit in (two, three))
        found["derivatives"] += a.size
        found["differ"] += int((a.view(np.int64) != b.view(np.int64)).sum())


def main(*names: str) -> int:
    """Print a line for each model."""
    heads = ("variables", "co-simulation", "model exchange", "derivatives", "states", "bytes of a state", "differ")
    print("| model | " + " | ".join(heads) + " |\n|---" + "|---" * len(heads) + "|")
    wrong = 0
    for name in names or sorted(assemblies()):
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = compare(name, pathlib.Path(folder))
            except Exception as error:
                wrong += 1
                print(f"| `{name}` | {type(error).__name__}: {error} |", flush=True)
                continue
        wrong += found["differ"] + (found["states"] != "equal")
        print(f"| `{name}` | " + " | ".join(str(found.get(head, "-")) for head in heads) + " |", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
