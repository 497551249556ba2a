"""A gantry crane, written in Modelica: GantryCrane.mo beside this file."""

import pathlib

from mbfmu.importers.modelica import load
from mbfmu.modeling import Assembly


class GantryCrane(Assembly):
    """A trolley carries a load on a rope of rods from rest to rest, its drive damps the swing."""

    def __new__(cls):
        """The assembly of the Modelica model."""
        return load(pathlib.Path(__file__).with_name("GantryCrane.mo"))
