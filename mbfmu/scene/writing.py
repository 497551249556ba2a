"""Write the run of a scene as .glb or as a page."""

from __future__ import annotations

import html
import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping

from mbfmu.errors import MbfmuError
from mbfmu.runtime import arguments
from mbfmu.runtime.result import Result
from mbfmu.scene.gltf import write_glb
from mbfmu.scene.page import Recorded, viewer, write_page
from mbfmu.scene.subject import Subject, result_variables

#: What can be written.
SUFFIXES = (".html", ".glb")


def check_target(path: pathlib.Path) -> pathlib.Path:
    """Return the path of an animation where it can be written.

    Raises:
        MbfmuError: It has another suffix, or is a page whose program is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise MbfmuError(f"{path}: an animation is a .html or .glb file; choose {path.stem}.html")
    if path.suffix.lower() == ".html":
        viewer()
    return path


def needed_variables(system: Subject, path: pathlib.Path) -> list[str]:
    """Names of the variables whose run an animation takes; a page of what is not drawn has plots alone.

    Raises:
        MbfmuError: The system has no scene, nothing in it is drawn that a .glb could show, or nothing at all changes.
    """
    if system.scene is None:
        raise MbfmuError(f"{system.name}: this System has no scene; make it with System.of(assembly, scene=True)")
    plotted = [v.name for v in result_variables(system)] if path.suffix.lower() == ".html" else []
    if not system.scene.shapes and not plotted:
        raise MbfmuError(
            f"{system.name}: nothing in it is drawn; it needs components of three-dimensional mechanics, with "
            "animation = true and world.enableAnimation = true; a page (.html) plots what is not drawn"
        )
    return list(dict.fromkeys([*system.scene.variables, *plotted]))


def write_animation(system: Subject, result: Result, path: pathlib.Path, colors: str = "calm") -> pathlib.Path:
    """Write a run with all `needed_variables`, a page in calm or Modelica's own colours, and return the path."""
    return write_runs({system.name: Recorded(system, result)}, path, colors)


def write_runs(
    runs: Mapping[str, Recorded], path: pathlib.Path, colors: str = "calm", side_by_side: bool = False
) -> pathlib.Path:
    """Write a run, or a page of several by their names, and return the path."""
    if path.suffix.lower() == ".glb":
        for run in runs.values():
            assert run.subject.scene is not None
            path.write_bytes(write_glb(run.moved, run.subject.scene.up, run.subject.name))
    else:
        path.write_text(write_page(runs, colors, side_by_side), encoding="utf-8")
    return path


def shown(path: str | os.PathLike[str] | None, write: Callable[[pathlib.Path], pathlib.Path]) -> pathlib.Path | Page:
    """Write an animation to a path by a function, or return its page for a notebook where none is given."""
    if path is not None:
        return write(check_target(arguments.path(path, "path")))
    with tempfile.TemporaryDirectory() as folder:
        return Page(write(check_target(pathlib.Path(folder) / "animation.html")).read_text(encoding="utf-8"))


class Page:
    """An animation page that a notebook shows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.text)}" style="width: 100%; height: 600px; border: 0" '
            'title="Animation" sandbox="allow-scripts allow-downloads"></iframe>'
        )
