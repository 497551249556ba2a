"""URDF, the format of robotics, -> Assembly (docs/urdf.md; the format: wiki.ros.org/urdf/XML).

`robot.py` reads what the file says, `mechanism.py` makes bodies and joints of it, `drives.py` what acts along these.
"""

from __future__ import annotations

import math
import pathlib
from typing import Any, get_args

from mbfmu.errors import ModelError
from mbfmu.importers.places import parse_xml
from mbfmu.importers.urdf.drives import Drive, Options
from mbfmu.importers.urdf.mechanism import assembly_of
from mbfmu.importers.urdf.robot import JOINTS, Robot
from mbfmu.markup import xml_root
from mbfmu.modeling.assembly import Assembly


def load(
    path: pathlib.Path,
    *,
    into: Assembly | None = None,
    floating: bool = False,
    drive: Drive = "effort",
    bandwidth: float | None = None,
    stops: bool = False,
    ground: float | None = None,
) -> Assembly:
    """Read a URDF file, or a xacro file where the package xacro is installed.

    Args:
        path: the file.
        into: an assembly of one's own that takes the parts; else one is made that is called like the robot.
        floating: the root link moves freely; else it is fixed in the world.
        drive: what moves the joints of one degree of freedom: `effort`, a torque or force input each; `position`, a
            position input each, and a PD controller; `flange`, a flange of the assembly each; `none`.
        bandwidth: of the PD controllers, Hz; 5 where None.
        stops: limits become elastic stops.
        ground: height of a ground [m], which the <collision> elements of the links touch; there is none where None.

    Raises:
        ModelError: the file is no URDF or describes no tree of links; the message names line and element.
    """
    if drive not in get_args(Drive):
        raise ModelError(f"{path}: drive = {drive!r}: expected one of {', '.join(get_args(Drive))}")
    if bandwidth is not None and not (isinstance(bandwidth, int | float) and 0 < bandwidth < math.inf):
        raise ModelError(f"{path}: bandwidth = {bandwidth!r}: give a positive frequency in Hz")
    if bandwidth is not None and drive != "position":
        raise ModelError(f"{path}: bandwidth = {bandwidth!r} is of position drives; add drive=position or leave it out")
    if ground is not None and not (isinstance(ground, int | float) and math.isfinite(ground)):
        raise ModelError(f"{path}: ground = {ground!r}: give the height of the ground in m, such as 0")
    options = Options(floating, drive, 5.0 if bandwidth is None else float(bandwidth), stops, ground)
    robot = Robot(path, expanded(path) if path.suffix.lower() == ".xacro" else parse_xml(path))
    try:
        return assembly_of(robot, options, into)
    except ModelError as error:
        raise error if str(error).startswith(str(path)) else ModelError(f"{path}: {error}") from error


def expanded(path: pathlib.Path) -> Any:
    """Root element of what xacro makes of a file.

    Raises:
        ModelError: xacro is not installed, or fails.
    """
    try:
        import xacro
    except ImportError:
        raise ModelError(
            f"{path}: xacro files need the package xacro; run `pip install 'mbfmu[xacro]'`, or make a .urdf of it"
        ) from None
    try:
        text = xacro.process_file(str(path)).toxml("utf-8")
        return xml_root(text)
    except Exception as error:  # xacro lets every error of the file's own expressions through
        message = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"{path}: xacro cannot expand it: {message}; correct it, or make a .urdf of it") from error


__all__ = ["JOINTS", "Drive", "Robot", "load"]
