"""What `--json` of the commands prints, as dictionaries and lists."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mbfmu.cli import report

if TYPE_CHECKING:
    from mbfmu.dynamics.system import System
    from mbfmu.modeling import Component
    from mbfmu.runtime.result import Result


def show(facts: Any) -> None:
    """Print facts as JSON."""
    print(json.dumps(facts))


def series(result: Result) -> dict[str, Any]:
    """Return a result's time series, the units of those that have one, and why the model ended the run, if it did."""
    units = {name: unit for name, unit in result.units.items() if name in result}
    ended: dict[str, Any] = {"ended": result.ended} if result.ended else {}
    events = [{"time": e.time, "name": e.name, "before": e.before, "after": e.after} for e in result.events]
    ended |= {"events": events} if events else {}
    return {"units": units, "series": {name: result[name].tolist() for name in ("time", *result)}, **ended}


def variables(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return scalar variables (`ScalarVariable`, or FMPy's) with FMI's attributes, as far as they have them."""
    found = []
    for row in rows:
        facts = {
            "name": row.name,
            "type": row.type,
            "causality": row.causality,
            "variability": row.variability,
            "initial": row.initial,
            "start": _value(row.start, row.type),
            "unit": report.unit(row),
            "description": row.description,
        }
        found.append({name: value for name, value in facts.items() if value not in (None, "")})
    return found


def _value(start: Any, kind: str) -> Any:
    """Return a start value as JSON has it: FMPy has those of files as text, those of arrays with spaces between."""
    if not isinstance(start, str) or kind in ("String", "Binary", "Clock"):
        return start
    of_text: Callable[[str], Any] = int
    if kind == "Boolean":
        of_text = ("true", "1").__contains__
    elif kind in ("Real", "Float32", "Float64"):
        of_text = float
    values = [of_text(word) for word in start.split()]
    return values[0] if len(values) == 1 else values


def system(shown: System) -> dict[str, Any]:
    """Return the interface and the structure of a System, and what initialisation chooses."""
    from mbfmu.export.model_exchange import obstacle

    hindrance = obstacle(shown.equations)
    return {
        "name": shown.name,
        "description": shown.description,
        "structure": list(shown.structure),
        "modelExchange": hindrance is None,
        "initialisation": list(report.initial_conditions(shown)),
        "states": report.states(shown),
        "variables": variables(shown.variables),
    }


def description(shown: Any, platforms: Sequence[str]) -> dict[str, Any]:
    """Return what an FMU's modelDescription.xml says; `shown` is FMPy's ModelDescription."""
    experiment = shown.defaultExperiment
    return {
        "name": shown.modelName,
        "description": shown.description or "",
        "fmiVersion": shown.fmiVersion,
        "coSimulation": shown.coSimulation is not None,
        "modelExchange": shown.modelExchange is not None,
        "platforms": list(platforms),
        "generationTool": shown.generationTool,
        "guid": shown.guid,
        "defaultExperiment": {
            name: float(value)
            for name in ("startTime", "stopTime", "tolerance", "stepSize")
            if (value := getattr(experiment, name, None)) is not None
        },
        "states": [d.variable.derivative.name for d in shown.derivatives if d.variable.derivative is not None],
        "variables": variables(shown.modelVariables),
    }


def component(name: str, shown: type[Component]) -> dict[str, Any]:
    """Return what an assembly of the gallery, or a class of components, says of itself and declares."""
    from mbfmu.cli import classes

    entries = []
    for declaration in classes.declared(shown):
        entry = {
            "name": declaration.name,
            "kind": classes.kind_of(declaration),
            "default": classes.default(declaration),
            "fixed": classes.is_held(declaration),
            "unit": classes.unit_of(declaration),
            "description": declaration.doc,
        }
        entries.append({key: value for key, value in entry.items() if value})
    return {
        "name": name,
        "import": f"from {classes.import_path(shown)} import {shown.__name__}",
        "description": inspect.cleandoc(shown.__doc__ or ""),
        "declares": entries,
    }
