"""The commands that ask a mechanism: linearize, equilibrium, sweep, fit."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from mbfmu import printing
from mbfmu.cli import facts, report
from mbfmu.cli.options import Held, Input, Interval, Json, Settings, Source, Stop, Tolerance, example
from mbfmu.cli.reading import read_source, takes_reader_options
from mbfmu.errors import MbfmuError

if TYPE_CHECKING:
    from mbfmu.dynamics.system import System
    from mbfmu.studies.equilibrium import Equilibrium
    from mbfmu.studies.fit import Fit
    from mbfmu.studies.linearize import LinearModel
    from mbfmu.studies.sweep import Sweep

app = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False)

Threads = Annotated[int | None, typer.Option(metavar="N", min=1, help="Threads; default: one per core.")]


def system_from(source: str, settings: list[str], options: dict[str, Any], scene: bool = False) -> System:
    """Read SOURCE and derive its equations, with a spinner."""
    with printing.working("Reading the assembly") as progress:
        assembly = read_source(source, settings, options)
        progress("Deriving the equations of motion")
        from mbfmu.dynamics.system import System

        system = System.of(assembly, scene=scene, progress=progress)
    report.notes(assembly)
    return system


@app.command(epilog=example("mbfmu linearize furuta_pendulum --at equilibrium -o linear.json"))
@takes_reader_options
def linearize(
    source: Source,
    at: Annotated[
        str, typer.Option(metavar="start|TIME|equilibrium", help="The start, a time of a run in s, or a rest position.")
    ] = "start",
    output: Annotated[
        pathlib.Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write: .json or .mat.")
    ] = None,
    parameter: Settings = (),  # type: ignore[assignment]
    inputs: Input = None,
    variables: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Outputs, comma-separated; default: the assembly's.")
    ] = None,
    states: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Variables that are states in the place of others, comma-separated."),
    ] = None,
    animation: Annotated[
        pathlib.Path | None, typer.Option(metavar="FILE", help="Write a mode as an animation: .html or .glb.")
    ] = None,
    mode: Annotated[int, typer.Option(metavar="N", min=1, help="Number of the mode that --animation shows.")] = 1,
    as_json: Json = False,
    *,
    options: dict[str, Any],
) -> None:
    """Linearise about a point: A, B, C, D in minimal coordinates, eigenvalues, frequencies, damping."""
    from mbfmu.runtime.arguments import number_in
    from mbfmu.studies.linearize import linearize as run
    from mbfmu.studies.modes import animate_mode

    if mode != 1 and animation is None:
        raise MbfmuError("--mode is the mode that --animation shows; add --animation FILE, or leave it out")
    if animation is not None and inputs is not None:
        raise MbfmuError("--animation goes without --input: give the time or the rest about which the mode swings")
    if at not in ("start", "equilibrium"):
        try:
            number_in(at)
        except ValueError:
            raise MbfmuError(f"--at {at}: write start, equilibrium or a time in s, such as 1.5") from None
    system = system_from(source, parameter, options, scene=animation is not None)
    outputs = None if variables is None else [name.strip() for name in variables.split(",")]
    chosen = [] if states is None else [name.strip() for name in states.split(",")]
    point: Any = at if at in ("start", "equilibrium") else number_in(at)
    with printing.working("Linearising"):
        linear = run(system, point, outputs=outputs, states=chosen, drive=inputs)
    if output:
        linear.save(output)
    if animation:
        with printing.working("Drawing the mode"):
            animate_mode(system, animation, mode, point)
    if as_json:
        facts.show(linear.to_dict())
        return
    _linear(linear)
    for file in filter(None, (output, animation)):
        report.built(file)


@app.command(epilog=example("mbfmu equilibrium pendulum -p rev.phi=1.5"))
@takes_reader_options
def equilibrium(
    source: Source,
    parameter: Settings = (),  # type: ignore[assignment]
    hold: Annotated[
        list[str], typer.Option(metavar="NAME", help="Coordinate that stays where it starts. Repeatable.")
    ] = (),  # type: ignore[assignment]
    speed: Annotated[
        list[str], typer.Option(metavar="NAME=VALUE", help="Speed that a steady motion keeps. Repeatable.")
    ] = (),  # type: ignore[assignment]
    stable: Annotated[
        bool, typer.Option("--stable", help="Search until a rest is found that is not unstable.")
    ] = False,
    starts: Annotated[int, typer.Option(metavar="N", min=1, help="How many starts are tried.")] = 16,
    as_json: Json = False,
    *,
    options: dict[str, Any],
) -> None:
    """Find a rest position, or a steady motion, and tell whether it is stable."""
    from mbfmu.sources import each_once
    from mbfmu.studies.equilibrium import equilibrium as run

    speeds = each_once(_pair("--speed", text) for text in speed)
    system = system_from(source, parameter, options)
    with printing.working("Looking for a rest"):
        found = run(system, hold=hold, speeds=speeds, stable=stable or None, starts=starts)
    if as_json:
        facts.show(found.to_dict())
    else:
        _rest(found)


@app.command(
    epilog=example(
        "mbfmu sweep double_pendulum -p boxBody1.density=linspace:1000:9000:20 -p damper.d=0.1,0.2 "
        "-y revolute1.phi:final -o sweep.parquet"
    )
)
@takes_reader_options
def sweep(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="As for mbfmu build, or an FMU of any tool.")],
    parameter: Annotated[
        list[str],
        typer.Option(
            "--parameter",
            "-p",
            metavar="NAME=VALUES",
            help="0.1,0.2 or linspace:FIRST:LAST:COUNT, logspace:..., uniform:LEAST:MOST, loguniform:..., "
            "normal:MEAN:DEVIATION, triangular:LEAST:MODE:MOST. Repeatable.",
        ),
    ] = (),  # type: ignore[assignment]
    y: Annotated[
        list[str],
        typer.Option(
            "--output-variable",
            "-y",
            metavar="NAME[:REDUCTION]",
            help="What is kept: the trajectory, or initial, final, min, max, absmax, mean, rms, crossing=LEVEL of it. "
            "Repeatable.",
        ),
    ] = (),  # type: ignore[assignment]
    output: Annotated[
        pathlib.Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write: .csv, .parquet or .zarr."),
    ] = None,
    table: Annotated[
        pathlib.Path | None, typer.Option(metavar="FILE", help="CSV with a column per parameter and a row per run.")
    ] = None,
    samples: Annotated[int | None, typer.Option(metavar="N", min=1, help="Samples of distributions.")] = None,
    sampling: Annotated[str, typer.Option(metavar="sobol|latin|random", help="How they are drawn.")] = "sobol",
    seed: Annotated[int, typer.Option(metavar="N", help="Of the samples.")] = 0,
    stop: Stop = None,
    interval: Interval = None,
    tolerance: Tolerance = None,
    inputs: Input = None,
    held: Held = False,
    threads: Threads = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Dask scheduler whose workers make the runs: tcp://host:8786."),
    ] = None,
    as_json: Json = False,
    *,
    options: dict[str, Any],
) -> None:
    """Run many times with other parameters, start values or inputs; the same command resumes what was interrupted."""
    from mbfmu.runtime.inputs import read_csv
    from mbfmu.sources import each_once
    from mbfmu.studies.sweep import sweep as run
    from mbfmu.studies.variants import Recipe

    values = each_once(_setting(text) for text in parameter)
    if (table is None) == (not values):
        raise MbfmuError("say what varies: -p name=values, or --table FILE with a row per run (one of the two)")
    model: Any = source
    if not source.endswith(".fmu"):
        model = Recipe.of_source(lambda settings: read_source(source, settings, options), source)
    with printing.counting("Running") as done:
        found = run(
            model,
            values if table is None else read_csv(table),
            y,
            stop,
            interval=interval,
            tolerance=tolerance,
            inputs=inputs,
            interpolation="held" if held else "linear",
            samples=samples,
            sampling=sampling,  # type: ignore[arg-type]
            seed=seed,
            each=table is not None,
            path=output,
            threads=threads,
            scheduler=scheduler,
            progress=done,
            building=lambda made, of: done(made, of, "Making models"),
        )
    if as_json:
        facts.show(_sweep_facts(found, output))
        return
    _swept(found)
    if output and output.is_file():
        report.built(output)


@app.command(epilog=example("mbfmu fit pendulum measured.csv -p damper.d -p body.m=0.5:2"))
@takes_reader_options
def fit(
    source: Source,
    data: Annotated[
        list[pathlib.Path],
        typer.Argument(
            metavar="DATA.CSV...", help="Measured series, an experiment each: columns time, inputs, others."
        ),
    ],
    parameter: Annotated[
        list[str],
        typer.Option(
            "--parameter",
            "-p",
            metavar="NAME[=LEAST:MOST]",
            help="Parameter or start value to estimate, with bounds; or NAME=VALUE, which is set. Repeatable.",
        ),
    ],
    inputs: Input = None,
    confidence: Annotated[float, typer.Option(metavar="P", min=0.5, max=0.9999, help="Of the intervals.")] = 0.95,
    plot: Annotated[pathlib.Path | None, typer.Option(metavar="FILE", help="Draw the series and what is left.")] = None,
    threads: Threads = None,
    as_json: Json = False,
    *,
    options: dict[str, Any],
) -> None:
    """Estimate parameters from measured series: values, intervals, and what the data cannot tell."""
    from mbfmu.runtime.arguments import number_in
    from mbfmu.sources import each_once
    from mbfmu.studies.fit import fit as run

    pairs: list[tuple[str, tuple[float, float] | None]] = []
    settings = []
    for text in parameter:
        name, equals, value = text.partition("=")
        if not equals:
            pairs.append((name.strip(), None))
        elif ":" in value:
            least, _, most = value.partition(":")
            try:
                pairs.append((name.strip(), (number_in(least), number_in(most))))
            except ValueError:
                raise MbfmuError(f"-p {text}: write bounds as {name}=LEAST:MOST, such as {name}=0.5:2") from None
        else:
            settings.append(text)
    bounds = each_once(pairs)
    system = system_from(source, settings, options)
    with printing.working("Fitting"):
        found = run(system, list(data), bounds, inputs=inputs, confidence=confidence, threads=threads)
    if plot:
        report.picture(found.plot, plot)
    if as_json:
        facts.show(found.to_dict())
        return
    _fitted(found)
    if plot:
        report.built(plot)


def _setting(text: str) -> tuple[str, str]:
    name, equals, values = text.partition("=")
    if not (equals and name and values):
        raise MbfmuError(f"-p {text}: write it as name=values, such as damper.d=0.1,0.2")
    return name.strip(), values.strip()


def _pair(option: str, text: str) -> tuple[str, float]:
    from mbfmu.runtime.arguments import number_in

    name, equals, value = text.partition("=")
    try:
        if equals:
            return name.strip(), number_in(value)
    except ValueError:
        pass
    raise MbfmuError(f"{option} {text}: write it as name=value, such as shaft.w=20")


def _linear(linear: LinearModel) -> None:
    console = printing.console
    console.print(f"[bold]{escape(linear.model)}[/bold]  at {linear.time:g} s")
    for what in ("states", "inputs", "outputs"):
        console.print(f"{what}: {escape(', '.join(getattr(linear, what)) or 'none')}")
    heads = ("mode", "eigenvalue in 1/s", "frequency in Hz", "damping ratio")
    shown = printing.table("", *heads, right=heads)
    for mode, (value, frequency, damping) in enumerate(linear.shown_modes(), 1):
        sign = "+" if value.imag >= 0 else "-"
        text = f"{value.real:.6g} {sign} {abs(value.imag):.6g}i" if value.imag else f"{value.real:.6g}"
        ratio = "" if damping != damping else report.number(damping)
        shown.add_row(str(mode), text, report.number(frequency), ratio)
    console.print(shown)


def _rest(found: Equilibrium) -> None:
    from mbfmu.runtime.rounding import noise_of

    console = printing.console
    console.print(f"[bold]{escape(found.model)}[/bold]: {found.stability}")
    for group in found.indifferent:
        console.print(f"indifferent: {escape(' with '.join(group))}")
    shown = printing.table("", "name", "value", "unit", right=["value"])
    noise = noise_of(found.start_values, found.units)
    for name, value in found.start_values.items():
        shown.add_row(escape(name), report.value_of(value, noise[name]), found.units.get(name, ""))
    console.print(shown)


def _sweep_facts(found: Sweep, output: pathlib.Path | None) -> dict[str, Any]:
    import numpy as np

    columns = {
        name: [None if isinstance(v, float) and np.isnan(v) else v for v in column.tolist()]
        for name, column in found.columns.items()
        if column.ndim == 1 and output is None
    }
    failed = {str(number): text for number, text in found.messages.items()}
    return {"model": found.model, "runs": len(found), "failed": failed, "file": output and str(output),
            "units": dict(found.units), "columns": columns}  # fmt: skip


def _swept(found: Sweep) -> None:
    names = [name for name, column in found.columns.items() if column.ndim == 1 and name != "message"]
    heads = ["run", *report.heads_of(names, found.units)]
    shown = printing.table("", *heads, right=heads, more="-o FILE has all")
    noise = found.noise()
    last = len(found) - 1
    rows = range(last + 1) if last < report.FEW else [round(i * last / (report.FEW - 1)) for i in range(report.FEW)]
    for row in rows:
        shown.add_row(str(row), *(report.value_of(float(found[name][row]), noise.get(name, 0.0)) for name in names))
    printing.console.print(shown)
    failed = found.messages
    printing.console.print(f"{len(found)} runs, {len(failed)} failed")
    for number, text in list(failed.items())[:3]:
        printing.console.print(f"run {number}: {escape(text)}")


def _fitted(found: Fit) -> None:
    interval = f"{found.confidence:.0%} interval"
    shown = printing.table("", "parameter", "estimate", interval, "unit", right=["estimate", interval])
    for name, value, (low, high) in zip(found.names, found.values, found.intervals, strict=True):
        limits = "not determined" if low != low else f"{low:.6g} .. {high:.6g}"
        shown.add_row(escape(name), report.number(value), limits, found.units.get(name, ""))
    printing.console.print(shown)
    for group in found.unidentifiable:
        printing.console.print(f"the data cannot tell apart: {escape(', '.join(group))}")
    for name in found.at_bounds:
        printing.console.print(f"at its bound: {escape(name)}")
    for name, deviation in found.deviations.items():
        printing.console.print(
            f"left of {escape(name)}: {deviation:.4g} {found.units.get(name, '')} (standard deviation)"
        )
