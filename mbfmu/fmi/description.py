"""What the modelDescription.xml of an FMU says, as FMPy reads it."""

from __future__ import annotations

import pathlib
import re
from typing import Any

from mbfmu.errors import ValidationError
from mbfmu.fmi.archive import open_fmu

#: What a C identifier may be.
IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def read_description(path: str | pathlib.Path) -> Any:
    """Return FMPy's ModelDescription of an FMU, without judging it.

    Raises
    ------
    ValidationError
        The file is not an FMU.
    """
    from fmpy.model_description import read_model_description

    open_fmu(pathlib.Path(path))
    try:
        description = read_model_description(str(path), validate=False)
    except Exception as error:
        raise ValidationError(f"{path}: modelDescription.xml is beyond FMPy ({error}); use another FMU.") from None
    for kind in ("coSimulation", "modelExchange", "scheduledExecution"):
        identifier = getattr(getattr(description, kind, None), "modelIdentifier", None)
        if identifier is not None and not IDENTIFIER.fullmatch(identifier):  # it names a library that is loaded
            raise ValidationError(f'{path}: the modelIdentifier "{identifier:.80}" is no C identifier; build it again.')
    return description
