"""Pictures of the gallery and the page that shows them: `python -m mbfmu.fmus.pictures [NAME ...]`, `make gallery`.

Each assembly has its first outputs over its experiment and, where it draws something, a picture of it and a small one
that moves; the README's double pendulum moves, and the site has a card for those who point at it elsewhere. The page
docs/gallery.md is written anew, a grid of all and one line per assembly; it belongs to the repository, so this runs in
a checkout.
"""

from __future__ import annotations

import html
import pathlib
import sys
from collections.abc import Mapping

from mbfmu import printing
from mbfmu.dynamics.system import System
from mbfmu.fmus import rendering
from mbfmu.modeling import Assembly
from mbfmu.modeling.registry import assemblies
from mbfmu.simulation import simulate

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PICTURES = DOCS / "images" / "gallery"
#: Rendered pictures of mechanisms, small ones that move, the README's, and the site's card.
SCENES = DOCS / "images" / "scenes"
CLIPS = DOCS / "images" / "clips"
CARD = DOCS / "images" / "card.jpg"
CARD_SHOWS = "tower_crane"
MOVING = DOCS / "images" / "double_pendulum.webp"
#: Outputs that a picture shows at most.
SHOWN = 4


def draw(name: str, cls: type[Assembly]) -> pathlib.Path:
    """Simulate a gallery assembly, draw its outputs and return the picture's path."""
    from matplotlib.figure import Figure

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


def page(gallery: Mapping[str, type[Assembly]]) -> str:
    """The page, with a picture per assembly."""
    said = {name: (cls.__doc__ or "").strip().splitlines()[0] for name, cls in sorted(gallery.items())}
    lines = [
        "---",
        "hide: [navigation, toc]",
        "---",
        "",
        "# The gallery",
        "",
        "`mbfmu build NAME` builds each of these; `fmus/` holds them, each with a readme and its expected outputs.",
        "`make gallery` draws the pictures and writes this page. Point at one to see it move.",
        "",
        '<div class="gallery">',
        *(tile(name, sentence) for name, sentence in said.items()),
        "</div>",
    ]
    for name, sentence in said.items():
        lines += ["", f"## {name}", "", sentence, ""]
        if is_seen(name):
            lines += [f"![{name}, rendered](images/scenes/{name}.png)", ""]
        lines += [f"![Outputs of {name} over time](images/gallery/{name}.png)"]
    return "\n".join(lines) + "\n"


def tile(name: str, sentence: str) -> str:
    """An assembly in the grid: its picture, over which it moves where one points at it, and what it is."""
    picture = f"images/{'scenes' if is_seen(name) else 'gallery'}/{name}.png"
    moving = ""
    if (CLIPS / f"{name}.webp").is_file():
        moving = f'<img class="moving" src="images/clips/{name}.webp" alt="" loading="lazy">'
    return (
        f'<a href="#{name}"><span class="picture"><img src="{picture}" alt="" loading="lazy">{moving}</span>'
        f"<strong>{name}</strong><small>{html.escape(sentence)}</small></a>"
    )


def is_seen(name: str) -> bool:
    """True where there is a rendered picture of an assembly."""
    return (SCENES / f"{name}.png").is_file()


def draws(cls: type[Assembly]) -> bool:
    """True where there is something to see of an assembly."""
    scene = System.of(cls(), scene=True).scene
    return scene is not None and bool(scene.shapes)


def main(names: list[str]) -> int:
    """Draw the named assemblies, or all, and write the page."""
    gallery = assemblies()
    for folder in (PICTURES, SCENES, CLIPS):
        folder.mkdir(parents=True, exist_ok=True)
    for name in names or sorted(gallery):
        print(draw(name, gallery[name]))
    with rendering.chromium() as browser:
        for name in names or sorted(gallery):
            if draws(gallery[name]):
                files = SCENES / f"{name}.png", CLIPS / f"{name}.webp"
                print(*rendering.save_pictures(browser, gallery[name](), *files))
        if not names or "double_pendulum" in names:
            print(rendering.save_animation(browser, gallery["double_pendulum"](), MOVING, seconds=3.0, rate=20))
        if not names or CARD_SHOWS in names:
            print(rendering.save_card(browser, gallery[CARD_SHOWS](), CARD))
    (DOCS / "gallery.md").write_text(page(gallery), encoding="utf-8")
    return 0


if __name__ == "__main__":
    with printing.warnings_told():
        sys.exit(main(sys.argv[1:]))
