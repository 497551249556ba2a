"""Write the run of a scene as .glb or as a page."""

from __future__ import annotations

import html
import pathlib

from mbfmu.errors import MbfmuError
from mbfmu.runtime.result import Result
from mbfmu.scene.gltf import write_glb
from mbfmu.scene.motion import motion
from mbfmu.scene.page import viewer, write_page
from mbfmu.scene.subject import Subject, result_variables

#: What can be written.
SUFFIXES = (".html", ".glb")


def check_target(path: pathlib.Path) -> pathlib.Path:
    """Return the path of an animation where it can be written.

    Raises
    ------
    MbfmuError
        It has another suffix, or is a page whose program is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise MbfmuError(f"{path}: an animation is a .html or .glb file; choose {path.stem}.html")
    if path.suffix.lower() == ".html":
        viewer()
    return path


def needed_variables(system: Subject, path: pathlib.Path) -> list[str]:
    """Names of the variables whose run an animation takes; a page of what is not drawn has plots alone.

    Raises
    ------
    MbfmuError
        The system has no scene, nothing in it is drawn that a .glb could show, or nothing at all changes.
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
    assert system.scene is not None
    moved = motion(system.scene, result.time, result)
    if path.suffix.lower() == ".glb":
        path.write_bytes(write_glb(moved, system.scene.up, system.name))
    else:
        path.write_text(write_page(system, result, moved, colors), encoding="utf-8")
    return path


class Page:
    """An animation page that a notebook shows."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.text)}" style="width: 100%; height: 600px; border: 0" '
            'title="Animation" sandbox="allow-scripts allow-downloads"></iframe>'
        )
