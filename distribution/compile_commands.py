"""Write compile_commands.json, from which clangd and other tools know how each C file of the runtime is compiled.

What is made from the contract, and for a model, is written to build/c: `any` has it for any model, `one` for a model
with compiled equations.
"""

from __future__ import annotations

import json
import pathlib

from mbfmu.dynamics import System
from mbfmu.export import native
from mbfmu.runtime import build
from mbfmu.runtime.contract import sources
from mbfmu.sources import load

ROOT = pathlib.Path(__file__).resolve().parent.parent

#: Its sources have a model that is part of a library (own_model.c).
MODEL = "pendulum"

#: As compilers are called (mbfmu/runtime/compilers.py), with warnings.
FLAGS = ("-std=c99", "-fno-math-errno", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unused-function")


def main() -> None:
    """Write compile_commands.json and the files that it names."""
    any_model, one_model = (ROOT / "build" / "c" / name for name in ("any", "one"))
    for folder in (any_model, one_model):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in sources().items():
        (any_model / name).write_text(text, encoding="utf-8")
    system = System.of(load(MODEL))
    native.write_sources(system.equations, system.variables, "", one_model)
    runtime = build.template_folder("runtime").resolve()
    for name in build.sources():
        if (runtime / name).is_file():
            (one_model / name).unlink(missing_ok=True)
    folders = ((runtime, any_model), (any_model, any_model), (ROOT / "tests" / "runtime", any_model))
    entries = []
    for folder, generated in folders:
        for file in sorted(folder.glob("*.c")):
            first = one_model if file.name in build.OF_ONE_MODEL else generated
            include = [word for place in (first, runtime, build.headers()) for word in ("-I", str(place))]
            arguments = ["cc", *FLAGS, *include, "-c", str(file)]
            entries.append({"directory": str(ROOT), "file": str(file), "arguments": arguments})
    (ROOT / "compile_commands.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
