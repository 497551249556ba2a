"""Write the table of docs/modelica-files.md: which of the library's examples build, and why others are refused.

    python tests/importers/table_of_models.py MODELICA_FOLDER

MODELICA_FOLDER holds the folder `Modelica` with the examples of the library. The table stands between two marks.
"""

from __future__ import annotations

import collections
import pathlib
import re
import sys
import warnings

from mbfmu.dynamics.system import System
from mbfmu.errors import MbfmuError
from mbfmu.importers.modelica import load

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "modelica-files.md"
BEGIN, END = "<!-- table of examples -->\n", "<!-- end of table -->\n"


def outcome(path: pathlib.Path) -> str:
    """What becomes of a file: `built`, or why not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            System.of(load(path))
    except MbfmuError as error:
        message = str(error)
        if "that mbfmu does not have" in message:
            names = dict.fromkeys(re.findall(r"Modelica\.[\w.]+", message))
            short = [".".join(name.split(".")[-2:]) for name in names if not name.endswith(".mo")]
            return f"no {', '.join(short[:4])}" + (f" and {len(short) - 4} more" if len(short) > 4 else "")
        return re.sub(r"\S+, line \d+: ", "", message).splitlines()[0]
    return "built"


def main(folder: pathlib.Path) -> int:
    """Build every example and write the table."""
    built: dict[str, list[str]] = collections.defaultdict(list)
    refused: list[tuple[str, str]] = []
    for path in sorted((folder / "Modelica").rglob("*.mo")):
        if path.name == "package.mo" or "Utilities" in path.parts:
            continue
        name = ".".join(path.relative_to(folder).with_suffix("").parts[2:])
        said = outcome(path)
        print(f"{name}: {said}", flush=True)
        if said == "built":
            package, _, model = name.rpartition(".")
            built[package].append(model)
        else:
            refused.append((name, said))
    if not built:
        sys.exit(f"{folder}: has no folder Modelica with examples that build")
    count = sum(map(len, built.values()))
    lines = [f"{count} of {count + len(refused)} are built:", "", "| package | built |", "|---|---|"]
    lines += [f"| {package} | {', '.join(models)} |" for package, models in built.items()]
    lines += ["", "| refused | because |", "|---|---|", *(f"| {name} | {said} |" for name, said in refused)]
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n\n{END}{after}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
