"""The commands: what each takes, and the order of its work. Heavy modules are imported where a command needs them."""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import gc
import os
import pathlib
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbfmu import printing
from mbfmu.cli import completion, facts, flex, report, studies
from mbfmu.cli.animating import animate as write_animation
from mbfmu.cli.help import HELP, Command, Group
from mbfmu.cli.options import (
    SOURCE_HELP,
    CommunicationStep,
    Held,
    Input,
    Interval,
    Json,
    Limit,
    OpenPage,
    Processes,
    Scheme,
    Settings,
    Solver,
    Source,
    Start,
    Stop,
    Threads,
    Tolerance,
    example,
    number,
)
from mbfmu.cli.reading import read_source, takes_reader_options
from mbfmu.cli.systems import (
    Stepping,
    check_options,
    facts_of,
    opened,
    problems_of,
    read_elements,
    simulate_system,
    variables_of,
)
from mbfmu.errors import MbfmuError
from mbfmu.version import __version__

if TYPE_CHECKING:
    from mbfmu.dynamics.system import System
    from mbfmu.runtime.result import Result

app = typer.Typer(
    name="mbfmu",
    cls=Group,
    help="Mechanisms written in Python become FMUs of FMI 2.0 or 3.0.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings=HELP,
)

Target = Annotated[
    str, typer.Option(metavar="auto|native|python", help="A C library, or one hosted by Python; auto: native.")
]
Variables = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERNS",
        help="Variables to show, comma-separated (revolute1.*, tip); default: outputs.",
        autocompletion=completion.variables,
    ),
]
Platform = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="linux64, win64, darwin64, aarch64-linux, aarch64-windows (comma-separated), all; default: this machine.",
    ),
]


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        print(f"mbfmu {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog=example("mbfmu demo"))
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Mechanisms written in Python with the vocabulary of Modelica MultiBody become FMUs."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command(epilog=example("mbfmu build double_pendulum -o pendulum.fmu -p boxBody1.density=2700"))
@takes_reader_options
def build(
    source: Source,
    output: Annotated[
        pathlib.Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; default: NAME.fmu.")
    ] = None,
    fmi: Annotated[int, typer.Option(metavar="2|3", help="Version of FMI: 2.0 or 3.0.")] = 2,
    target: Target = "auto",
    equations: Annotated[
        str,
        typer.Option(
            metavar="auto|compiled|interpreted",
            help="A native FMU's equations: C code, or tapes that need no compiler and run up to three times slower. "
            "auto is compiled where a compiler is.",
        ),
    ] = "auto",
    platform: Platform = None,
    parameter: Settings = (),  # type: ignore[assignment]
    variables: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERNS",
            help="Local variables to keep (body.*), comma-separated; '*' keeps all. Default: all, in very large models "
            "without those of inner connectors.",
        ),
    ] = None,
    solver: Solver = None,
    fixed_step: Annotated[
        float | None,
        typer.Option(parser=number, metavar="S", help="Steps of one length without error control, for real time."),
    ] = None,
    source_files: Annotated[
        bool, typer.Option("--sources", help="Add the C sources, for importers that compile FMUs themselves.")
    ] = False,
    wasm: Annotated[
        bool, typer.Option("--wasm", help="With --fmi 3: add a WebAssembly component (draft FMI-LS-WASM).")
    ] = False,
    dae: Annotated[
        bool,
        typer.Option("--dae", help="With --fmi 3: let importers solve implicit equations, too (draft FMI-LS-DAE)."),
    ] = False,
    energy: Annotated[bool, typer.Option("--energy", help="Add the variables energy and power.")] = False,
    experiment: Annotated[
        bool,
        typer.Option("--experiment", help="Add a reference experiment: the run and its results (draft FMI-LS-REF)."),
    ] = False,
    inputs: Annotated[
        pathlib.Path | None,
        typer.Option("--input", metavar="FILE", help="With --experiment: its inputs over time, CSV."),
    ] = None,
    held: Held = False,
    stop: Annotated[
        float | None,
        typer.Option("--stop", parser=number, metavar="S", help="With --experiment: its end. Default: the assembly's."),
    ] = None,
    uncertainty: Annotated[
        pathlib.Path | None,
        typer.Option(metavar="FILE", help="Add the intervals of parameters that mbfmu fit --json has printed to FILE."),
    ] = None,
    start: Annotated[
        str | None, typer.Option(metavar="equilibrium", help="Start in a rest position, found from the start values.")
    ] = None,
    *,
    options: dict[str, Any],
) -> None:
    """Build an FMU from an assembly."""
    check_suffix(output, ".fmu")
    for option, given in (("--input", inputs), ("--held", held or None), ("--stop", stop)):
        if given is not None and not experiment:
            raise MbfmuError(f"{option}: is for a reference experiment; add --experiment, or leave it out")
    if start not in (None, "equilibrium"):
        raise MbfmuError(f"--start {start}: the one start that is found is equilibrium; set others with -p")
    with printing.working("Reading the assembly") as progress:
        assembly = read_source(source, parameter, options)
        progress("Loading the exporter")
        from mbfmu.export.build import build as build_fmu
        from mbfmu.export.layered_ref import ReferenceExperiment
        from mbfmu.export.options import kind_of
        from mbfmu.export.provenance import read_uncertainty

        kind = kind_of(target, equations, platform)
        model: Any = assembly
        if start is not None:
            from mbfmu.dynamics.system import System
            from mbfmu.studies.equilibrium import equilibrium

            progress("Looking for a rest")
            system = System.of(assembly, energy=energy, progress=progress)
            model, energy = equilibrium(system).starting(system), False
        file = build_fmu(
            model,
            output,
            fmi=fmi,
            target=target,
            equations=equations,
            platforms=platform,
            variables=variables,
            sources=source_files,
            wasm=wasm,
            dae=dae,
            solver=solver,
            fixed_step=fixed_step,
            energy=energy,
            experiment=experiment
            and ReferenceExperiment(inputs=inputs, interpolation="held" if held else "linear", stop_time=stop),
            uncertainty=read_uncertainty(uncertainty) if uncertainty else None,
            progress=progress,
        )
    report.notes(assembly)
    report.built(file, f"{kind}; WebAssembly component, equations interpreted" if wasm else str(kind))


@app.command(epilog=example("mbfmu simulate double_pendulum --stop 3 --csv motion.csv --plot motion.png"))
@takes_reader_options
def simulate(
    source: Source,
    stop: Stop = None,
    start: Start = None,
    tolerance: Tolerance = None,
    interval: Interval = None,
    solver: Solver = None,
    parameter: Settings = (),  # type: ignore[assignment]
    variables: Variables = None,
    output: Annotated[
        pathlib.Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the time series: .csv, .mat, .parquet or .nc."),
    ] = None,
    csv: Annotated[pathlib.Path | None, typer.Option(metavar="FILE", help="Write the time series as CSV.")] = None,
    plot: Annotated[
        pathlib.Path | None, typer.Option(metavar="FILE", help="Draw them, or the model's figures (png, svg, pdf).")
    ] = None,
    table: Annotated[bool, typer.Option("--table", help="Print every row, not just a few.")] = False,
    events: Annotated[
        bool, typer.Option("--events", help="Tell what switched and when; rows stand at both sides of each event.")
    ] = False,
    inputs: Input = None,
    held: Held = False,
    as_json: Json = False,
    communication_step: CommunicationStep = (),  # type: ignore[assignment]
    scheme: Scheme = None,
    threads: Threads = None,
    processes: Processes = False,
    limit: Limit = None,
    *,
    options: dict[str, Any],
) -> None:
    """Run an assembly in this process, without an FMU; an FMU of any tool; or a system of FMUs (.ssp, system.toml).

    A system takes steps as long as its tolerance allows (default 1e-5), or of fixed lengths with --communication-step.
    """
    files = {} if csv is None else {csv: ".csv"}  # whatever it is called
    if output is not None:
        from mbfmu.runtime.result import check_suffix as check_result

        files[output] = check_result(output)
    how = Stepping(
        start, stop, communication_step, interval, tolerance, inputs, held, scheme, threads, processes, limit
    )
    if check_options(source, how, {"solver": solver, "events": events, **options}):
        with opened(source) as package:
            chosen = None if variables is None else named(variables_of(package), variables)
            with printing.running(f"Running {package.structure.name}") as done:
                coupled = simulate_system(package, parameter, how, chosen, done)
        show_result(coupled, files, plot, table, as_json, variables is not None)
        report.coupling(coupled.account)
        return
    interpolation: Any = "held" if held else "linear"
    model: Any = source
    drawn: list[str] = []
    if source.endswith(".fmu"):
        with printing.working(f"Reading {source}"):
            from mbfmu.fmi.foreign import Foreign
            from mbfmu.simulation import simulate as run
            from mbfmu.sources import parse_settings

            fmu, values, notes = Foreign(pathlib.Path(source)), parse_settings(parameter), None
            names = named(fmu.variables, variables)
            if variables is None:
                names = [v.name for v in fmu.variables if v.causality == "output" and v.type != "String"]
    else:
        with printing.working("Reading the assembly") as progress:
            notes = read_source(source, parameter, options)
            progress("Deriving the equations of motion")
            from mbfmu.dynamics.system import System
            from mbfmu.simulation import simulate as run

            model, values = System.of(notes, progress=progress), {}
            names = shown_names(model, variables)
            drawn = [c.name for f in model.figures for c in f.curves] if plot and variables is None else []
    with printing.running(f"Running {source if notes is None else model.name}") as done:
        result = run(
            model,
            stop_time=stop,
            start_time=start,
            tolerance=tolerance,
            interval=interval,
            solver=solver,
            start_values=values or None,
            inputs=inputs,
            interpolation=interpolation,
            events=events,
            outputs=list(dict.fromkeys([*names, *drawn])),
            progress=done,
        )
    if notes is not None:
        report.notes(notes)
    if drawn and plot:
        report.picture(result.plot, plot)
        report.built(plot)
        result, plot = result.select(*names), None
    show_result(result, files, plot, table, as_json, variables is not None, events)


def show_result(
    result: Result,
    files: Mapping[pathlib.Path, str],
    plot: pathlib.Path | None,
    table: bool,
    as_json: bool,
    asked: bool,
    events: bool = False,
) -> None:
    """Write a result to the files that are wanted, each as the suffix says that stands with it, and print it."""
    for file, suffix in files.items():
        from mbfmu.export.archive import replacing

        with replacing(file) as part:
            result.save(part, suffix)
    if plot:
        report.picture(lambda: result.plot(list(result)), plot)
    if as_json:
        facts.show(facts.series(result))
        return
    report.series(result, every_row=table, asked=asked)
    if events:
        report.events(result)
    if result.ended:
        printing.warned(result.ended)
    for file in filter(None, (*files, plot)):
        report.built(file)


@app.command(epilog=example("mbfmu animate double_pendulum -o motion.html"))
@takes_reader_options
def animate(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]SOURCE...",
            help=f"{SOURCE_HELP} Also FMUs of mbfmu, .ssp and system.toml. Several are compared.",
            autocompletion=completion.sources,
        ),
    ],
    output: Annotated[
        pathlib.Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="motion.html, a page for any browser, or motion.glb (glTF 2.0); default: NAME.html.",
        ),
    ] = None,
    stop: Stop = None,
    start: Start = None,
    tolerance: Tolerance = None,
    interval: Interval = None,
    solver: Solver = None,
    parameter: Settings = (),  # type: ignore[assignment]
    inputs: Input = None,
    held: Held = False,
    live: Annotated[
        bool, typer.Option("--live", help="A page that runs the model itself, with inputs and parameters to play with.")
    ] = False,
    colors: Annotated[
        str, typer.Option(metavar="calm|modelica", help="Colours of a page: toned, or Modelica's.")
    ] = "calm",
    side_by_side: Annotated[
        bool,
        typer.Option(
            "--side-by-side",
            help="Several sources begin in views of their own; default: one over the other, translucent.",
        ),
    ] = False,
    open_page: OpenPage = False,
    communication_step: CommunicationStep = (),  # type: ignore[assignment]
    scheme: Scheme = None,
    threads: Threads = None,
    processes: Processes = False,
    limit: Limit = None,
    *,
    options: dict[str, Any],
) -> None:
    """Run an assembly, an FMU of mbfmu or a system of such FMUs, and write its motion as a page or a glTF file.

    Several sources are compared on one page. With -p soft.damper.d=0.1, the source that is named soft has this value.
    """
    how = Stepping(
        start, stop, communication_step, interval, tolerance, inputs, held, scheme, threads, processes, limit
    )
    file = write_animation(source, output, parameter, how, solver, options, live, colors, side_by_side)
    report.built(file)
    printing.opened(file, open_page)


@app.command(epilog=example("mbfmu ssp powertrain car -c powertrain.axis1=car.axis1 -c powertrain.axis2=car.axis2"))
def ssp(
    elements: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]SOURCE...",
            help="Elements of the system: FMUs, and what mbfmu build takes; or one system.toml with a table elements.",
        ),
    ],
    connect: Annotated[
        list[str],
        typer.Option(
            "--connect",
            "-c",
            metavar="A.FLANGE=B.FLANGE",
            help="Connect two flanges, or an output and an input. Repeatable; default: flanges of equal name.",
        ),
    ] = (),  # type: ignore[assignment]
    output: Annotated[
        pathlib.Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; default: NAME.ssp.")
    ] = None,
    connectors: Annotated[
        bool, typer.Option("--connectors", help="Give the system connectors for what is not connected.")
    ] = False,
    fmi: Annotated[int, typer.Option(metavar="2|3", help="Version of FMI of what is built: 2.0 or 3.0.")] = 2,
    target: Target = "auto",
    platform: Platform = None,
) -> None:
    """Write a System Structure package: several FMUs and their connections (SSP 1.0 or, for arrays of FMI 3.0, 2.0)."""
    check_suffix(output, ".ssp")
    with printing.working("Reading the system") as progress:
        system = read_elements(elements, connect)
        progress("Loading the exporter")
        from mbfmu.cosimulation.ssp import build_ssp

        file, connections = build_ssp(
            system.elements,
            output or pathlib.Path(f"{system.name}.ssp"),
            connect=system.connect,
            name=system.name,
            stop_time=system.stop_time,
            step=system.step,
            steps=system.steps,
            connectors=connectors,
            fmi=fmi,
            target=target,
            platforms=platform,
            progress=progress,
        )
    printing.connections(connections)
    report.built(file)


@app.command(epilog=example("mbfmu validate double_pendulum.fmu"))
def validate(
    file: Annotated[
        pathlib.Path, typer.Argument(metavar="FILE", help="An FMU or an SSP package, from mbfmu or any other tool.")
    ],
    as_json: Json = False,
    open_page: OpenPage = False,
) -> None:
    """Check an FMU, or a package and the FMUs in it: schema, FMPy's rules, and a run.

    The exit code is 1 where something is wrong. With --open its motion is shown as well, of an FMU of mbfmu.
    """
    with printing.working(f"Checking {file}"):
        from mbfmu.validation import validate as check

        problems = problems_of(file) if file.suffix == ".ssp" else check(file)
    if as_json:
        facts.show({"file": str(file), "problems": list(problems)})
    else:
        report.problems(file, problems)
    if problems:
        raise typer.Exit(1)
    if open_page:
        page = write_animation([str(file)], None, (), Stepping(), None, {})
        if not as_json:
            report.built(page)
        printing.opened(page, open_page)


@app.command(epilog=example("mbfmu info double_pendulum"))
@takes_reader_options
def info(
    source: Annotated[str, typer.Argument(metavar="SOURCE_OR_FMU", help=f"An FMU, or: {SOURCE_HELP}")],
    parameter: Settings = (),  # type: ignore[assignment]
    equations: Annotated[
        bool, typer.Option("--equations", help="Show its equations: what needs what, in blocks, and what is sought.")
    ] = False,
    output: Annotated[
        pathlib.Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="With --equations: write their matrix as a page (.html)."),
    ] = None,
    as_json: Json = False,
    *,
    options: dict[str, Any],
) -> None:
    """Show the interface of an FMU, the interface and structure of an assembly, or what a system of FMUs is made of."""
    if output is not None and not equations:
        raise MbfmuError(f"--output {output}: what is written is the matrix of the equations; add --equations")
    coupled = check_options(source, Stepping(), {"equations": equations, "parameter": parameter, **options})
    if equations:
        show_equations(source, parameter, output, as_json, options)
        return
    if source.endswith(".fmu"):
        with printing.working(f"Reading {source}"):
            from fmpy import supported_platforms

            from mbfmu.fmi.description import read_description

            description = read_description(source)
            platforms = supported_platforms(source)
        if as_json:
            facts.show(facts.description(description, platforms))
        else:
            report.description(description, platforms)
        return
    if coupled:
        with opened(source) as package:
            shown = facts_of(package)
        if as_json:
            facts.show(shown)
        else:
            report.coupled_system(shown)
        return
    with printing.working("Reading the assembly") as progress:
        assembly = read_source(source, parameter, options)
        progress("Deriving the equations of motion")
        from mbfmu.dynamics.system import System

        system = System.of(assembly, progress=progress)
    report.notes(assembly)
    if as_json:
        facts.show(facts.system(system))
    else:
        report.system(system)


def show_equations(
    source: str, settings: Sequence[str], output: pathlib.Path | None, as_json: bool, options: dict[str, Any]
) -> None:
    """Print what the equation graph of an assembly looks like, and write the page of its matrix."""
    if source.endswith(".fmu"):
        raise MbfmuError(f"{source}: an FMU does not show its equations; give the model that it was made from")
    check_suffix(output, ".html")
    with printing.working("Reading the assembly") as progress:
        assembly = read_source(source, settings, options)
        progress("Finding the blocks of its equations")
        from mbfmu.cli import equations as shown
        from mbfmu.dynamics.overview import equation_report

        found = equation_report(assembly)
        if output is not None:
            from mbfmu.export.archive import replacing

            with replacing(output) as part:
                part.write_text(shown.page(found), encoding="utf-8")
    report.notes(assembly)
    if as_json:
        facts.show(shown.facts(found))
        return
    shown.show(found)
    if output is not None:
        report.built(output)


@app.command(epilog=example("mbfmu convert robot.urdf -o robot.py"))
@takes_reader_options
def convert(
    source: Source,
    output: Annotated[
        pathlib.Path, typer.Option("--output", "-o", metavar="FILE", help="File to write: .py or .toml.", prompt=False)
    ],
    parameter: Settings = (),  # type: ignore[assignment]
    *,
    options: dict[str, Any],
) -> None:
    """Write what was read as a model to go on with, in Python or TOML."""
    from mbfmu.modeling.writing import write

    if output.resolve() == pathlib.Path(source.partition(".py:")[0]).resolve():
        raise MbfmuError(f"--output {output}: is the source itself; choose another file")
    with printing.working("Reading the assembly"):
        assembly = read_source(source, parameter, options)
    if output.is_dir():
        raise MbfmuError(f"--output {output}: is a folder; give the path of the file to write")
    write(assembly, output)
    report.notes(assembly)
    report.built(output)


@app.command(epilog=example("mbfmu diagram engine_1b -o engine.svg"))
@takes_reader_options
def diagram(
    source: Source,
    output: Annotated[
        pathlib.Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write; default: NAME.svg.")
    ] = None,
    parameter: Settings = (),  # type: ignore[assignment]
    *,
    options: dict[str, Any],
) -> None:
    """Draw the components of an assembly and what is connected, as SVG."""
    check_suffix(output, ".svg")
    with printing.working("Reading the assembly"):
        assembly = read_source(source, parameter, options)
        from mbfmu.connection_diagram import diagram as draw
        from mbfmu.export.model_description import model_identifier

        target = output or pathlib.Path(f"{model_identifier(assembly.name)}.svg")
        draw(assembly, target)
    report.notes(assembly)
    report.built(target)


@app.command(name="list", epilog=example("mbfmu list Revolute"))
def list_(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CLASS|WORDS...]",
            help="Show parameters, connectors and variables of this class; of other words, what has them in name or "
            "description, nearest first.",
            autocompletion=completion.classes,
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All that words find, not the nearest alone; so it is in pipes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the gallery's assemblies and the classes of components, what one class declares, or what some words find."""
    name = " ".join(words or ())
    with printing.working("Loading the library"):
        from mbfmu.modeling.registry import assemblies, component_classes, nearest

        gallery, classes = assemblies(), component_classes()
    from mbfmu.cli.classes import has, matches, of_name, show

    if not name:
        found = [*sorted(gallery.items()), *sorted(classes.items())]
    elif has(name, classes):
        found = sorted(of_name(name, classes).items(), key=lambda one: nearest(one[0]))
    else:
        found = matches(name, gallery, classes) or sorted(of_name(name, classes).items())  # which says what is near
    if as_json:
        facts.show([facts.component(full, cls) for full, cls in found])
    elif not name:
        report.library(gallery, classes)
    elif has(name, classes):
        show(found)
    else:
        report.found(found, everything)


@app.command(epilog=example("mbfmu demo"))
def demo(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="tower_crane (default), double_pendulum or drivetrain.")
    ] = "tower_crane",
    output: Annotated[
        pathlib.Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where FMUs, picture and page go.")
    ] = pathlib.Path("demo"),
    fmi: Annotated[int, typer.Option(metavar="2|3", help="Version of FMI: 2.0 or 3.0.")] = 2,
    open_page: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open the page in a browser; default: where there is a display."),
    ] = None,
) -> None:
    """Show what mbfmu does; each ends with a page that runs the machine in a browser.

    tower_crane: a machine to play with, as a validated FMU and as a page.
    double_pendulum: one mechanism for every target of this machine, validated, run in FMPy, compared and drawn.
    drivetrain: a drivetrain and a car as two FMUs, stepped together, against the same in one.
    """
    with printing.working("Loading"):
        from mbfmu import demos

    demos.run(name, output, printing.console, fmi, open_page)


app.registered_commands += studies.app.registered_commands + flex.app.registered_commands
for _command in app.registered_commands:
    _command.cls = Command


def check_suffix(output: pathlib.Path | None, suffix: str) -> None:
    """Refuse to write a package over a file of another kind, such as the source."""
    if output is not None and output.suffix != suffix and not output.is_dir():
        raise MbfmuError(f"--output {output}: what is written is a {suffix} file; choose {output.stem}{suffix}")


def shown_names(system: System, patterns: str | None) -> list[str]:
    """Return the variables that comma-separated patterns match; without patterns the outputs, else the states.

    Brackets stand for themselves, as in `r_0[1]`; `r_0` takes the whole array. Raises `ModelError` for a pattern that
    nothing matches.
    """
    if patterns is not None:
        return named(system.variables, patterns)
    outputs = [v.name for v in system.outputs]
    return outputs or report.states(system)


def named(variables: Sequence[Any], patterns: str | None) -> list[str]:
    """Return the names of numeric variables that comma-separated patterns match; none for None.

    Raises `ModelError` for a pattern that nothing matches.
    """
    from mbfmu.errors import ModelError
    from mbfmu.messages import suggestion
    from mbfmu.runtime.variables import matching

    known = {v.name: v.variable for v in variables if v.type != "String" and v.causality != "independent"}
    texts = {v.name: v.variable for v in variables if v.type == "String"}
    names: dict[str, None] = {}
    for pattern in map(str.strip, patterns.split(",") if patterns is not None else []):
        found = matching(pattern, known)
        text = next(iter(matching(pattern, texts)), None)
        if not found and text is not None:
            raise ModelError(f"--variables {pattern}: '{text}' is no number; only numbers are shown, leave it out")
        if not found:
            raise ModelError(f"--variables {pattern}: no variable has such a name; {suggestion(pattern, known)}")
        names |= dict.fromkeys(found)
    return list(names)


@functools.cache
def _command_line() -> Any:
    """Return what Typer makes of the functions above: once in a process, however often `main` is called."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; an error is one message on one line, the last of stderr."""
    atexit.register(gc.freeze)  # the system takes all memory back: nobody has to look for garbage in it
    try:
        with terminable(), printing.warnings_told() if arguments is None else contextlib.nullcontext():
            code = int(_command_line()(args=None if arguments is None else list(arguments), standalone_mode=False) or 0)
            sys.stdout.flush()
            return code
    except (typer.Abort, KeyboardInterrupt):
        print("mbfmu: stopped", file=sys.stderr)
        return 130  # as shells have it: 128 + SIGINT
    except Terminated as stop:
        print("mbfmu: stopped", file=sys.stderr)
        return 128 + stop.number
    except MbfmuError as error:
        message = str(error)
    except (BrokenPipeError, SystemExit) as stop:
        if isinstance(stop, SystemExit) and not isinstance(stop.__context__, BrokenPipeError):  # Typer's way to say so
            raise
        leave_stdout()  # who reads it has seen enough, as `head` has
        return 128 + 13  # as shells have it: SIGPIPE
    except OSError as error:
        leave_stdout()
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "make room, or set TMPDIR to another folder" if full else "check the path and its permissions"
        message = f"{error.filename or 'a temporary or output file'}: {error.strerror or error}; {remedy}"
    except MemoryError:
        message = "the memory does not suffice; choose a smaller model, or fewer points"
    except Exception as error:
        usage = getattr(error, "format_message", None)
        if usage is None:
            traceback.print_exc()
        message = usage() if usage else f"a defect of mbfmu, please report it: {type(error).__name__}: {error}"
    print(f"mbfmu: {one_line(message)}", file=sys.stderr)
    return 2


def leave_stdout() -> None:
    """Let what is not printed yet go nowhere: Python would try it again when it ends."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Terminated(BaseException):
    """A signal asks the program to end: what is open is tidied up on the way out."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let signals end what goes on as an exception, so that no file, folder or compiler stays behind."""

    def stop(number: int, _frame: Any) -> None:
        raise Terminated(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def one_line(message: str) -> str:
    """Join the lines of a message; lines that are indented are a list that belongs to the line before them."""
    text = ""
    was_item = False
    for line in filter(str.strip, message.splitlines()):
        is_item = line.startswith(" ") and bool(text)
        separator = (", " if was_item else ": ") if is_item else "; "
        text = text.rstrip(":") + separator + " ".join(line.split()) if text else " ".join(line.split())
        was_item = is_item
    return text
