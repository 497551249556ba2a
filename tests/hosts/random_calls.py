"""Random calls of FMI 3.0 under sanitizers: `python tests/hosts/random_calls.py [CALLS [NAME...]]`."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile

from mbfmu import sources
from mbfmu.dynamics.system import System
from mbfmu.export.arrays import Arrangement, arrange
from mbfmu.export.native import write_sources
from mbfmu.runtime.build import headers
from mbfmu.runtime.compilers import require_compiler

HERE = pathlib.Path(__file__).resolve().parent
TOKEN = "{0123}"
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")

#: A flange as interface with a drive train's events, wheels with quaternions, gas forces, texts and choices.
MODELS = ("powertrain", "wheel_set_driving", "engine_1b", "furuta_pendulum")


def table(arrangement: Arrangement) -> str:
    """What random_calls_3.c knows of the variables."""
    kinds = ("Real", "Integer", "Boolean", "String")
    lines = []
    for v in arrangement.variables:
        tunable = v.causality == "parameter" and v.variability == "tunable"
        lines.append(
            f"{kinds.index(v.first.type)} {v.reference} {len(v.elements)} {int(v.causality == 'input')} {int(tunable)}"
        )
    return "\n".join(lines) + "\n"


def run(name: str, calls: int, folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Compile the sources of a gallery model's FMU with the caller, and let it make that many calls."""
    system = System.of(sources.load(name, ()))
    arrangement = arrange(system.variables, system.equations.time_switches.count(False))
    written = write_sources(system.equations, arrangement.elements, TOKEN, folder, arrangement.lengths)
    (folder / "variables.txt").write_text(table(arrangement), encoding="ascii")
    program = folder / "calls"
    command = [*require_compiler().command, "-std=c99", "-g1", "-O0", *SANITIZERS, "-w"]
    command += ["-I", str(headers()), "-o", str(program)]
    command += [str(HERE / "random_calls_3.c"), *(str(folder / unit) for unit in written.units), "-lm"]
    subprocess.run(command, check=True)
    arguments = [str(program), TOKEN, str(calls), str(folder / "variables.txt")]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def main(calls: int = 500_000, *names: str) -> int:
    """Run for all models, and print what was called."""
    models = names or MODELS
    failed = 0
    for name in models:
        with tempfile.TemporaryDirectory() as folder:
            done = run(name, calls // len(models), pathlib.Path(folder))
        numbers = " calls in co-simulation, ".join(done.stdout.split())
        print(f"{name}: {numbers} in model exchange, status {done.returncode} {done.stderr.strip()[:2000]}", flush=True)
        failed |= done.returncode
    return int(failed != 0)


if __name__ == "__main__":
    raise SystemExit(main(*(int(a) if a.isdigit() else a for a in sys.argv[1:])))  # type: ignore[arg-type]
