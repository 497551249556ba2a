"""MJCF, MuJoCo's format, -> Assembly (docs/mjcf.md).

MuJoCo itself reads and compiles the file: its model has defaults, includes and inertias of geoms resolved. What is
read here is that model; the numbers of its fields are MuJoCo's (mujoco.readthedocs.io, XMLreference and mjModel). Each
kind of element has its module; all of them get the model from `source.py`.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from mbfmu.errors import MbfmuError, ModelError
from mbfmu.importers.builder import Builder
from mbfmu.importers.mjcf.actuators import Actuators
from mbfmu.importers.mjcf.bodies import Bodies
from mbfmu.importers.mjcf.compiling import compiled, first_tag, refuse_copies
from mbfmu.importers.mjcf.contacts import add_contacts
from mbfmu.importers.mjcf.couplings import add_coupling
from mbfmu.importers.mjcf.gaps import FEATURES, refuse_gaps
from mbfmu.importers.mjcf.geoms import add_geom, drawn_geoms
from mbfmu.importers.mjcf.joints import Joints
from mbfmu.importers.mjcf.sensors import add_sensor
from mbfmu.importers.mjcf.source import Source
from mbfmu.importers.places import Place
from mbfmu.modeling.assembly import Assembly


def load(
    path: pathlib.Path, *, into: Assembly | None = None, without: str | Sequence[str] = (), stops: bool = True
) -> Assembly:
    """Read an MJCF file; the package mujoco must be installed.

    Args:
        path: the file.
        into: an assembly of one's own that takes the parts; else one is made that is called like the model.
        without: features to leave out (`FEATURES`), as names or one text with commas between them.
        stops: limits of hinges and slides become elastic stops, with MuJoCo's own stiffness; False leaves them out.

    Raises:
        ModelError: mujoco is not installed or refuses the file, or the file has a feature without counterpart that
            `without` does not name; the message names lines and elements.
    """
    left_out = {name.strip() for name in without.split(",")} if isinstance(without, str) else set(without)
    unknown = sorted(left_out - set(FEATURES) - {""})
    if unknown:
        raise ModelError(f"{path}: without = {', '.join(unknown)}: known are {', '.join(FEATURES)}")
    root = first_tag(path)
    if root == "robot":
        raise Place(path).error("is a URDF; give the file a name that ends with .urdf")
    if root != "mujoco":
        raise Place(path).error(f"its root is <{root}>, that of MJCF is <mujoco>" if root else "is no XML")
    try:
        import mujoco
    except ImportError:
        raise ModelError(f"{path}: MJCF files are read by MuJoCo; run `pip install 'mbfmu[mjcf]'`") from None
    refuse_copies(path)
    said: list[str] = []
    spec, model = compiled(path, mujoco, said)
    if not stops:
        left_out.add("limits")
    try:
        assembly = _assembly_of(Source(path, spec, model, mujoco, left_out), into)
    except MbfmuError as error:
        raise error if str(error).startswith(str(path)) else ModelError(f"{path}: {error}") from error
    assembly.notes += tuple(f"warning: MuJoCo says: {' '.join(text.split())}" for text in said)
    return assembly


def _assembly_of(source: Source, into: Assembly | None) -> Assembly:
    """The assembly of a compiled model.

    Raises:
        ModelError: something has no counterpart.
    """
    model, modelname = source.model, source.spec.modelname
    builder = Builder(modelname or source.path.stem, f"Model {modelname}, read from {source.path.name}.", into)
    joints = Joints(source, builder)
    bodies = Bodies(source, builder, joints)
    actuators = Actuators(source, builder, bodies)
    shapes = drawn_geoms(source)
    if shapes:
        builder.unseen = {"animation": False}
    for i in range(model.nbody):
        if i:
            bodies.add(i)
        else:
            bodies.add_world()
        for g in shapes.get(i, ()):
            add_geom(source, builder, bodies, g)
    for j in range(model.njnt):
        joints.act(j)
    if not source.off("EQUALITY"):
        for e in range(model.neq):
            add_coupling(source, builder, bodies, e)
    add_contacts(source, builder, bodies)
    if source.off("ACTUATION"):
        builder.note("actuation is disabled by the file; its actuators are left out")
    else:
        for a in range(len(model.actuator_trntype)):
            actuators.add(a)
    for s in range(model.nsensor):
        add_sensor(source, builder, bodies, actuators, s)
    for note in refuse_gaps(source):
        builder.note(note)
    if model.nkey:
        builder.note(f"{model.nkey} keyframes are read over: joints start at their reference positions")
    return builder.finish()


__all__ = ["FEATURES", "load"]
