"""What the command line tells of systems, FMUs, results and classes."""

from __future__ import annotations

import itertools
import operator
import pathlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table as Grid

from mbfmu.errors import MbfmuError
from mbfmu.printing import FittingTable, console, progress_console, size, table, warned, working

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbfmu.arrays import Element
    from mbfmu.dynamics.system import System
    from mbfmu.runtime.result import Result

#: Rows that `mbfmu simulate` prints of a long run.
FEW = 11


def number(value: object) -> str:
    """Return a start value or result in few digits, and text as it is; FMPy gives numbers as text."""
    try:
        return f"{float(str(value)):.6g}"
    except ValueError:
        return str(value)


def picture(draw: Callable[[], Figure], path: pathlib.Path) -> None:
    """Write what `draw` gives in the format of the path's suffix; the file is there as a whole or not at all."""
    from mbfmu.export.archive import replacing

    with working(f"Drawing {path}"), replacing(path) as part:
        draw().savefig(part, format=path.suffix[1:])


def built(file: pathlib.Path, kind: str = "") -> None:
    """Print which file was written and, of an FMU, of which kind it is."""
    console.print(f"{escape(str(file))}  {size(file.stat().st_size)}", soft_wrap=True)
    if kind:
        console.print(escape(kind))


def notes(shown: Any) -> None:
    """Print on stderr what the reader of a file has to say; `shown` is an Assembly."""
    for note in shown.notes:
        kind, colon, text = note.partition("warning: ")
        if colon and not kind:
            warned(text)
        else:
            progress_console.print("- " + escape(note))


def series(result: Result, every_row: bool, asked: bool = False) -> None:
    """Print time series as a table, thinned to a few rows unless every one is wanted.

    Variables that were asked for and are too many to stand beside each other have a row each, with first, last, least
    and greatest value; of others, what has no room is counted.
    """
    from mbfmu.runtime.rounding import noise_of_series

    names = list(dict.fromkeys(["time", *result]))
    heads = heads_of(names, {"time": "s", **result.units})
    shown = table("", *heads, right=heads, more="--variables chooses, --csv FILE has all")
    noise = noise_of_series(result, result.units)
    last = result.time.size - 1
    rows = range(last + 1) if every_row or last < FEW else [round(i * last / (FEW - 1)) for i in range(FEW)]
    for row in rows:
        shown.add_row(*(value_of(result[name][row], noise.get(name, 0.0)) for name in names))
    if every_row or not asked or shown.fits(console.width):
        console.print(shown)
    else:
        console.print(_summary(result, noise))


def heads_of(names: Iterable[str], units: Mapping[str, str]) -> list[str]:
    """Heads of columns: names, and units below them."""
    return [escape(f"{name}\n{units.get(name, '')}".rstrip()) for name in names]


def events(result: Result) -> None:
    """Print what switched and when, or that nothing did."""
    if not result.events:
        console.print("\nEvents: nothing switches")
        return
    shown = table("\nEvents", "time in s", "what", "from", "to", right=["time in s", "from", "to"], whole=["what"])
    for one in result.events:
        shown.add_row(
            f"{one.time:.9g}", escape(one.name), "" if one.before is None else number(one.before), number(one.after)
        )
    console.print(shown)


def _summary(result: Result, noise: Mapping[str, float]) -> FittingTable:
    """A row for each variable, for those that are too many to stand beside each other."""
    facts = ("first", "last", "least", "greatest")
    shown = table("", "variable", "unit", *facts, right=facts, whole=["variable"])
    for name in result:
        series = result[name]
        numbers = (series[0], series[-1], series.min(), series.max()) if series.size else ()
        shown.add_row(escape(name), escape(result.units.get(name, "")), *(value_of(v, noise[name]) for v in numbers))
    return shown


def value_of(value: float, noise: float) -> str:
    """A number of a series, 0 where it is nothing but rounding."""
    return number(0.0 if abs(value) <= noise else float(value))


def coupling(account: Any) -> None:
    """Print on stderr how a system was stepped, and what its FMUs could not do."""
    progress_console.print(f"- {account}")
    for note in account.notes:
        warned(note)


def coupled_system(shown: Mapping[str, Any]) -> None:
    """Print what a system of FMUs is made of."""
    console.print(f"[bold]{escape(shown['name'])}[/bold]\n")
    result = table("Elements", "name", "model", "FMI", "goes back", "derivatives", whole=["name"])
    for one in shown["elements"]:
        able = ["yes" if one[key] else "no" for key in ("savesStates", "givesDerivatives")]
        result.add_row(escape(one["name"]), escape(one["model"]), one["fmiVersion"], *able)
    console.print(result)
    result = table("\nConnections", "output", "input", whole=["output", "input"])
    for one in shown["connections"]:
        result.add_row(escape(one["start"]), escape(one["end"]))
    console.print(result)
    for title, names in (
        ("Inputs that nothing is connected to", shown["openInputs"]),
        ("Algebraic loops, which are solved in every step, go through", shown["loops"]),
        ("Rigid shafts between flanges that both take torque", shown["shafts"]),
        ("Inputs of the system", [f"{name} ({', '.join(paths)})" for name, paths in shown["inputs"].items()]),
        ("Parameters of the package", [f"{name} = {value}" for name, value in shown["startValues"].items()]),
        ("Communication steps that it asks for", _steps(shown["step"], shown["steps"])),
    ):
        if names:
            console.print(f"\n{title}: {escape(', '.join(names))}")


def _steps(step: float | None, steps: Mapping[str, float]) -> list[str]:
    return [] if step is None else [f"{step:g} s", *(f"{name} {own:g} s" for name, own in steps.items())]


def problems(file: pathlib.Path, found: Sequence[str]) -> None:
    """Print what a validation found."""
    for problem in found:
        console.print(f"[red]x[/red] {escape(problem)}")
    verdict = f"[red]{len(found)} problems[/red]" if found else "[green]no problems[/green]"
    console.print(f"{escape(str(file))}: {verdict}")


def variables(rows: Sequence[Any], elements: Mapping[str, Element], states: Iterable[str], title: str) -> None:
    """Print the inputs, outputs, states and parameters among scalar variables, and count the rest.

    A row has FMI's attributes name, causality, start, initial, unit, description (`ScalarVariable`, or FMPy's). Start
    values of states are `fixed` (FMI's exact) or a `guess` (approx). `elements` tells by name which rows are elements
    of arrays: those of a whole array share a line.
    """
    held = set(states)
    roles = {row.name: "state" if row.name in held and row.causality == "local" else row.causality for row in rows}
    result = table(title, "name", "role", "start", "unit", "description", right=["start"], whole=["name"])
    for role in ("input", "output", "state", "parameter"):
        group = [row for row in rows if roles[row.name] == role]
        for name, alike in lines(group, elements):
            first = alike[0]
            given = [(number(row.start), holds(row, role)) for row in alike if row.start is not None]
            same = len({word for _, word in given}) == 1
            start = ", ".join(value if same else f"{value} {word}" for value, word in given)
            start += f" {given[0][1]}" if same and given[0][1] else ""
            result.add_row(escape(name), role, start, unit(first), escape(first.description or ""))
    console.print(result)
    rest = Counter(role for role in roles.values() if role not in ("input", "output", "state", "parameter"))
    console.print("and " + ", ".join(f"{count} {role}" for role, count in sorted(rest.items())))


def holds(row: Any, role: str) -> str:
    """Return whether a start value is kept by initialisation, or is where it begins to look."""
    if role in ("input", "parameter") and row.initial != "approx":
        return ""
    return {"exact": "fixed", "approx": "guess"}.get(row.initial or "", "") if row.variability != "constant" else ""


def lines(rows: Sequence[Any], elements: Mapping[str, Element]) -> Iterator[tuple[str, list[Any]]]:
    """Give rows that share a line and what they are called: `r[1..3]` for all of an array, by rows, else one each."""
    from mbfmu.arrays import derivative_name

    key = operator.attrgetter("name", "description")
    for (name, _), group in itertools.groupby(
        rows, key=lambda row: (elements[row.name].array, row.description) if row.name in elements else key(row)
    ):
        listed = list(group)
        if isinstance(name, str) or len(listed) < name.size:
            yield from ((row.name, [row]) for row in listed)
            continue
        ranges = ",".join(f"1..{size}" for size in name.shape)
        whole = derivative_name(f"{name.base}[{ranges}]", name.order) if name.size > 1 else listed[0].name
        yield whole, sorted(listed, key=lambda row: elements[row.name].place)


def unit(row: Any) -> str:
    """Return the unit of a scalar variable, also where FMPy keeps it in a declared type."""
    declared = getattr(row, "declaredType", None)
    return row.unit or (declared.unit if declared else None) or ""


def system(shown: System) -> None:
    """Print the interface and the structure of a System."""
    from mbfmu.export.model_exchange import obstacle

    console.print(f"[bold]{escape(shown.name)}[/bold]  {escape(shown.description)}\n")
    for line in shown.structure:
        console.print(escape(line))
    hindrance = obstacle(shown.equations)
    console.print(
        "model exchange: " + (f"left out, for {escape(hindrance)}" if hindrance else "offered by native FMUs")
    )
    for line in initial_conditions(shown):
        console.print(escape(line))
    console.print()
    elements = {variable.name: variable.element for variable in shown.variables if variable.element}
    variables(shown.variables, elements, states(shown), "Interface")


def initial_conditions(shown: System) -> Iterator[str]:
    """Say what initialisation chooses, or why it fails."""
    from mbfmu.runtime.run import Run

    try:
        run = Run(shown.equations, shown.variables)
        run.finish_initialisation()
    except MbfmuError as error:
        yield f"no start: {error}"
        return
    units = {variable.name: f" {variable.unit}" for variable in shown.variables if variable.unit}
    found = [f"{name} = {value:.6g}{units.get(name, '')}" for name, value in run.choices().items()]
    if found:
        yield f"start values that nothing determines, and nobody gave: {', '.join(found)}"


def states(shown: System) -> list[str]:
    """Return one name per state: of its aliases the one with a start value, else the first."""
    held = [variable for variable in shown.variables if variable.store == "x"]
    held.sort(key=lambda variable: variable.start is None)
    found: dict[int, str] = {}
    for variable in held:
        found.setdefault(variable.index, variable.name)
    return [found[index] for index in sorted(found)]


def description(shown: Any, platforms: Sequence[str]) -> None:
    """Print what an FMU's modelDescription.xml says; `shown` is FMPy's ModelDescription."""
    from mbfmu.fmi.variables import scalars_of

    console.print(f"[bold]{escape(shown.modelName)}[/bold]  {escape(shown.description or '')}\n")
    facts = Grid.grid(padding=(0, 2))
    slave = shown.coSimulation
    kinds = [kind for kind, part in (("co-simulation", slave), ("model exchange", shown.modelExchange)) if part]
    experiment = shown.defaultExperiment
    for name, value in (
        ("FMI", f"{shown.fmiVersion}, {', '.join(kinds)}"),
        ("platforms", ", ".join(platforms)),
        ("made by", shown.generationTool),
        ("made at", shown.generationDateAndTime),
        ("guid", shown.guid),
        ("needs", "Python" if slave and slave.needsExecutionTool else "nothing else"),
        ("experiment", experiment and f"{experiment.startTime} to {experiment.stopTime} s, tol {experiment.tolerance}"),
    ):
        if value:
            facts.add_row(name, escape(value))
    console.print(facts)
    variables(
        shown.modelVariables,
        {scalar.name: scalar.element for scalar in scalars_of(shown) if scalar.element},
        [d.variable.derivative.name for d in shown.derivatives if d.variable.derivative is not None],
        "\nInterface",
    )


def library(gallery: Mapping[str, type], classes: Mapping[str, type]) -> None:
    """Print gallery assemblies and component classes with the first line of what they say of themselves."""
    result = table("Gallery", "name", "description", whole=["name"])
    for name, cls in sorted(gallery.items()):
        result.add_row(name, escape(first_line(cls)))
    console.print(result)
    result = table("\nComponents", "class", "description", whole=["class"])
    for name, cls in sorted(classes.items()):
        result.add_row(name, escape(first_line(cls)))
    console.print(result)


#: Of what a search found, a terminal shows so many: a screen, as some have two lines.
FOUND = 8


def found(entries: Sequence[tuple[str, type]], everything: bool = False) -> None:
    """Print what a search found, nearest first; on a terminal the nearest alone, where not everything is asked for."""
    shown = entries if everything or not console.is_terminal else entries[:FOUND]
    result = table("", "name", "description", whole=["name"])
    for name, cls in shown:
        result.add_row(name, escape(first_line(cls)))
    console.print(result)
    if len(shown) < len(entries):
        console.print(f"{len(entries) - len(shown)} more: with --all, or with another word")


def first_line(cls: type) -> str:
    """Return the first line of a class's docstring."""
    return (cls.__doc__ or "").strip().partition("\n")[0]
