"""What the modelDescription.xml of an FMU says, as FMPy reads it."""

from __future__ import annotations

import math
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from mbfmu.errors import ValidationError
from mbfmu.fmi.archive import open_fmu

#: What a C identifier may be.
IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]*")

_CAUSALITIES = (
    *("parameter", "structuralParameter", "calculatedParameter", "input", "output", "local", "independent"),
    *("dependent",),
)
_VARIABILITIES = ("constant", "fixed", "tunable", "discrete", "continuous")


def read_description(path: str | pathlib.Path) -> Any:
    """Return FMPy's ModelDescription of an FMU, without judging it.

    Raises:
        ValidationError: The file is not an FMU.
    """
    from fmpy.model_description import read_model_description

    _, root = open_fmu(pathlib.Path(path))
    try:
        description = read_model_description(str(path), validate=False)
    except Exception as error:
        raise ValidationError(f"{path}: modelDescription.xml is beyond FMPy ({error}); use another FMU.") from None
    for kind in ("coSimulation", "modelExchange", "scheduledExecution"):
        offered = getattr(description, kind, None)
        element = root.find(kind[0].upper() + kind[1:])
        if offered is not None and element is not None and description.fmiVersion.startswith("3."):
            # FMPy looks for it under its name of FMI 2.0.
            offered.providesDirectionalDerivative = element.get("providesDirectionalDerivatives") in ("true", "1")
        identifier = getattr(offered, "modelIdentifier", None)
        if identifier is not None and not IDENTIFIER.fullmatch(identifier):  # it names a library that is loaded
            raise ValidationError(f'{path}: the modelIdentifier "{identifier:.80}" is no C identifier; build it again.')
    if description.fmiVersion in ("2.0", "3.0"):
        wrong = next(_unusable(description.modelVariables), None)
        if wrong is not None:
            raise ValidationError(f"{path}: {wrong} `mbfmu validate` lists what else is wrong; build it again.")
    return description


def _unusable(variables: Iterable[Any]) -> Iterator[str]:
    """What makes variables of FMPy's ModelDescription others than they are meant to be, a sentence each."""
    seen: set[str] = set()
    for variable in variables:
        if variable.name in seen:  # FMPy lists aliases among the variables
            yield f'Two variables have the name "{variable.name}".'
        seen.add(variable.name)
        try:
            reference = int(variable.valueReference)
        except (TypeError, ValueError):
            reference = -1
        if not 0 <= reference < 2**32:
            yield f'The value reference of "{variable.name}", {variable.valueReference}, is none of 32 bits.'
        for attribute, known in (("causality", _CAUSALITIES), ("variability", _VARIABILITIES)):
            given = getattr(variable, attribute)
            if given not in (None, *known):
                yield f'The {attribute} of "{variable.name}", "{given}", is unknown; there are {", ".join(known)}.'
        starts = variable.start if isinstance(variable.start, list) else str(variable.start or "").split()
        if variable.type not in ("String", "Binary", "Clock") and not all(map(_is_value, starts)):
            yield f'The start value of "{variable.name}", "{variable.start}", is no number.'


def _is_value(text: Any) -> bool:
    try:
        return text in ("true", "false") or not math.isnan(float(text))
    except (TypeError, ValueError):
        return False
