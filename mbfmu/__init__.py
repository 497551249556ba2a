"""Mechanisms written in Python with the vocabulary of Modelica MultiBody, exported as FMUs of FMI 2.0 and 3.0.

The names below are loaded when they are first used, so that `import mbfmu` costs nothing.
"""

from __future__ import annotations

import importlib
import pathlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbfmu.animation import animate
    from mbfmu.connection_diagram import Diagram, diagram
    from mbfmu.dynamics.system import System
    from mbfmu.errors import MbfmuError
    from mbfmu.export.build import build
    from mbfmu.export.layered_ref import ReferenceExperiment
    from mbfmu.export.provenance import Uncertainty
    from mbfmu.modeling import Assembly, Component, Start
    from mbfmu.simulation import Result, simulate
    from mbfmu.sources import load
    from mbfmu.studies.equilibrium import Equilibrium, equilibrium
    from mbfmu.studies.fit import Experiment, Fit, fit
    from mbfmu.studies.linearize import LinearModel, linearize
    from mbfmu.studies.modes import animate_mode
    from mbfmu.studies.sweep import Sweep, simulate_many, sweep
    from mbfmu.validation import validate
    from mbfmu.version import __version__

__all__ = [
    "Assembly",
    "Component",
    "Diagram",
    "Equilibrium",
    "Experiment",
    "Fit",
    "LinearModel",
    "MbfmuError",
    "ReferenceExperiment",
    "Result",
    "Start",
    "Sweep",
    "System",
    "Uncertainty",
    "__version__",
    "animate",
    "animate_mode",
    "build",
    "diagram",
    "equilibrium",
    "fit",
    "linearize",
    "load",
    "simulate",
    "simulate_many",
    "sweep",
    "validate",
]

_MODULES = {
    "Assembly": "mbfmu.modeling",
    "Component": "mbfmu.modeling",
    "Diagram": "mbfmu.connection_diagram",
    "Equilibrium": "mbfmu.studies.equilibrium",
    "Experiment": "mbfmu.studies.fit",
    "Fit": "mbfmu.studies.fit",
    "LinearModel": "mbfmu.studies.linearize",
    "MbfmuError": "mbfmu.errors",
    "ReferenceExperiment": "mbfmu.export.layered_ref",
    "Result": "mbfmu.simulation",
    "Start": "mbfmu.modeling",
    "Sweep": "mbfmu.studies.sweep",
    "System": "mbfmu.dynamics.system",
    "Uncertainty": "mbfmu.export.provenance",
    "__version__": "mbfmu.version",
    "animate": "mbfmu.animation",
    "animate_mode": "mbfmu.studies.modes",
    "build": "mbfmu.export.build",
    "diagram": "mbfmu.connection_diagram",
    "equilibrium": "mbfmu.studies.equilibrium",
    "fit": "mbfmu.studies.fit",
    "linearize": "mbfmu.studies.linearize",
    "load": "mbfmu.sources",
    "simulate": "mbfmu.simulation",
    "simulate_many": "mbfmu.studies.sweep",
    "sweep": "mbfmu.studies.sweep",
    "validate": "mbfmu.validation",
}

# In a checkout, components/, templates/ and fmus/ stand beside this folder and are its subpackages. An installation
# maps them; this line does the same where the checkout itself comes first on sys.path.
_checkout = pathlib.Path(__file__).resolve().parent.parent
if all((_checkout / name / "__init__.py").is_file() for name in ("components", "templates", "fmus")):
    __path__.append(str(_checkout))


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(importlib.import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
