"""Libraries that are not installed with mbfmu: the extras of pyproject.toml."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from mbfmu.errors import MbfmuError

#: Module -> the extra that installs it.
EXTRAS = {
    "pandas": "tables",
    "pyarrow": "tables",
    "xarray": "arrays",
    "netCDF4": "arrays",
    "zarr": "arrays",
    "control": "control",
    "distributed": "dask",
    "meshio": "finite-elements",
    "skfem": "finite-elements",
    "pyyeti": "nastran",
    "ansys": "ansys",
}


class MissingExtra(MbfmuError):
    """A library that is optional is not installed."""


def extra(module: str, purpose: str) -> Any:
    """Import a module of an extra; how NumPy prints stays as it is, which some of them change.

    Raises:
        MissingExtra: It is not installed; the message has the command that installs it.
    """
    try:
        with np.printoptions():
            return importlib.import_module(module)
    except ImportError:
        package, name = module.partition(".")[0], EXTRAS[module.partition(".")[0]]
        raise MissingExtra(
            f"{purpose} needs {package}, which is not installed: python -m pip install 'mbfmu[{name}]'"
        ) from None
