"""Pictures of the gallery and the page that shows them: `python -m mbfmu.fmus.pictures [NAME ...]`.

Each picture shows the first outputs of an assembly over its experiment. The page docs/gallery.md is written anew with
one line per assembly; it belongs to the repository, so this runs in a checkout.
"""

from __future__ import annotations

import pathlib
import sys

from matplotlib.figure import Figure

from mbfmu.dynamics.system import System
from mbfmu.modeling import Assembly
from mbfmu.modeling.registry import assemblies
from mbfmu.simulation import simulate

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PICTURES = DOCS / "images" / "gallery"
#: Outputs that a picture shows at most.
SHOWN = 4


def draw(name: str, cls: type[Assembly]) -> pathlib.Path:
    """Simulate a gallery assembly, draw its outputs and return the picture's path."""
    system = System.of(cls())
    outputs = [v for v in system.variables if v.causality == "output"][:SHOWN]
    result = simulate(system, tolerance=1e-7, outputs=[v.name for v in outputs])
    figure = Figure(figsize=(5.0, 2.4), layout="constrained")
    axis = figure.subplots()
    for variable in outputs:
        axis.plot(result.time, result[variable.name], label=f"{variable.name} [{variable.unit or '1'}]", linewidth=1)
    axis.set_xlabel("time in s")
    axis.grid(True, alpha=0.3)
    axis.legend(loc="best", fontsize="x-small")
    path = PICTURES / f"{name}.png"
    figure.savefig(path, dpi=80, metadata={"Software": None})
    return path


def page(gallery: dict[str, type[Assembly]]) -> str:
    """The page, with a picture per assembly."""
    lines = [
        "# The gallery",
        "",
        "`mbfmu build NAME` builds each of these; `fmus/` holds them, each with a readme and its expected outputs.",
        "`python -m mbfmu.fmus.pictures` draws the pictures and writes this page.",
    ]
    for name, cls in sorted(gallery.items()):
        said = (cls.__doc__ or "").strip().splitlines()[0]
        lines += ["", f"## {name}", "", said, "", f"![Outputs of {name} over time](images/gallery/{name}.png)"]
    return "\n".join(lines) + "\n"


def main(names: list[str]) -> int:
    """Draw the named assemblies, or all, and write the page."""
    gallery = assemblies()
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in names or sorted(gallery):
        print(draw(name, gallery[name]))
    (DOCS / "gallery.md").write_text(page(gallery), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
