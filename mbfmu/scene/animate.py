"""From a model to an animation: run it, and write the motion as .glb or as a page."""

from __future__ import annotations

import dataclasses
import html
import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbfmu.dynamics.system import System
from mbfmu.errors import MbfmuError
from mbfmu.runtime.result import Result
from mbfmu.runtime.run import Value
from mbfmu.simulate import simulate

if TYPE_CHECKING:
    from mbfmu.modeling.assembly import Assembly

#: What can be written.
SUFFIXES = (".html", ".glb")


def animate(
    assembly: Assembly | System,
    path: str | os.PathLike[str],
    stop_time: float | None = None,
    *,
    start_time: float | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    start_values: Mapping[str, Value] | None = None,
    progress: Callable[[float], None] | None = None,
) -> pathlib.Path:
    """Simulate an assembly and write its motion as an animation; returns the path.

    Parameters
    ----------
    assembly
        An Assembly, or the System that `System.of(assembly, scene=True)` made of one.
    path
        `.html`: a page that shows it in a browser, from disk and without a network; `.glb`: binary glTF 2.0.
    stop_time, start_time, step, tolerance, start_values, progress
        As those of `simulate`.

    Raises
    ------
    ModelError, InitializationError, SimulationError
        As `simulate` does.
    MbfmuError
        The path has another suffix, nothing is drawn, or something that it takes is not installed.
    """
    from mbfmu.scene.gltf import write_glb
    from mbfmu.scene.motion import motion
    from mbfmu.scene.page import result_variables, write_page

    target = check_target(pathlib.Path(path))
    kind = target.suffix.lower()
    system = System.of(assembly, scene=True)
    if system.scene is None:
        raise MbfmuError(f"{system.name}: this System has no scene; make it with System.of(assembly, scene=True)")
    if not system.scene.shapes:
        raise MbfmuError(
            f"{system.name}: nothing in it is drawn; it needs components of three-dimensional mechanics, with "
            "animation = true and world.enableAnimation = true"
        )
    shown = [v.name for v in result_variables(system)] if kind == ".html" else []
    result = simulate(
        system,
        stop_time,
        start_time=start_time,
        step=step,
        tolerance=tolerance,
        start_values=start_values,
        outputs=list(dict.fromkeys([*system.scene.variables, *shown])),
        progress=progress,
    )
    glb = write_glb(motion(system.scene, result.time, result), system.scene.up, system.name)
    if kind == ".glb":
        target.write_bytes(glb)
    else:
        target.write_text(write_page(system, result, glb), encoding="utf-8")
    return target


def check_target(path: pathlib.Path) -> pathlib.Path:
    """Return the path of an animation where it can be written.

    Raises
    ------
    MbfmuError
        It has another suffix, or is a page whose program is not installed.
    """
    from mbfmu.scene.page import viewer

    if path.suffix.lower() not in SUFFIXES:
        raise MbfmuError(f"{path}: an animation is a .html or .glb file; choose {path.stem}.html")
    if path.suffix.lower() == ".html":
        viewer()
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


def animate_result(
    result: Result, assembly: Assembly | System, arguments: Mapping[str, Any], path: str | os.PathLike[str] | None
) -> pathlib.Path | Page:
    """Write the animation of a run that is there already, which takes running it again; `Result.animate` has the rest.

    Raises
    ------
    MbfmuError
        The assembly was changed since, so that it moves otherwise; or as `animate`.
    """
    system = System.of(assembly, scene=True)
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "animation.html" if path is None else pathlib.Path(path)
        check_target(target)
        again = simulate(system, **{**arguments, "outputs": list(result.names)})
        same = again.time.size == result.time.size and all(
            np.allclose(again[name], result[name], rtol=1e-6, atol=1e-9, equal_nan=True) for name in result.names
        )
        if not same:
            raise MbfmuError(f"{result.model}: the assembly was changed since this run; simulate it again")
        known = {k: v for k, v in arguments.items() if k not in ("outputs", "method")}
        if arguments.get("method") is not None:
            system = dataclasses.replace(
                system, equations=dataclasses.replace(system.equations, solver=str(arguments["method"]))
            )
        animate(system, target, **known)
        return target if path is not None else Page(target.read_text(encoding="utf-8"))
