"""The trial run of an FMU, in a process of its own: it imports FMPy and little else, to be there at once."""

from __future__ import annotations

import pathlib
from typing import Any

from mbfmu.errors import ValidationError
from mbfmu.fmi.description import read_description

#: Communication steps of the trial run.
STEPS = 10


def run(path: str | pathlib.Path, folder: str) -> None:
    """Run an FMU, unpacked in a folder, in this process for a few steps of its default experiment, with FMPy.

    Raises:
        ValidationError: The run fails, or a variable is not finite after it; the message has the last line of the FMU's
            log.
    """
    import fmpy
    import numpy as np

    description = read_description(path)
    experiment = description.defaultExperiment
    start = float(experiment.startTime or 0.0) if experiment else 0.0
    stop = float(experiment.stopTime or start + 1.0) if experiment else start + 1.0
    step = float(experiment.stepSize or 0.0) if experiment else 0.0
    step = step if step > 0 else (stop - start) / 500
    messages: list[str] = []

    def log(*line: Any) -> None:
        """Status and message stand at the same places from the end in both versions."""
        if line[-3] > 0:
            messages.append(line[-1].decode("utf-8", "replace"))

    try:
        result = fmpy.simulate_fmu(
            folder,
            model_description=description,
            validate=False,
            start_time=start,
            stop_time=min(stop, start + STEPS * step),
            output_interval=step,
            logger=log,
        )
    except Exception as error:
        raise ValidationError(f"The run fails: {error}" + (f" ({messages[-1]})" if messages else "")) from None
    for name in result.dtype.names:
        if result.dtype[name].base.kind == "f" and not np.all(np.isfinite(result[name])):
            raise ValidationError(f'The output "{name}" is not finite in the run.')
