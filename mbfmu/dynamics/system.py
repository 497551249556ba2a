"""System: equations of motion of an assembly and the variables that can be seen of it. Immutable."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import html
import inspect
from collections.abc import Callable, Collection, Iterator
from typing import Any, cast

import numpy as np

from mbfmu.dynamics.asked import asked
from mbfmu.dynamics.equations import Stages, equations
from mbfmu.dynamics.events.delays import Delays
from mbfmu.dynamics.events.impacts import Impacts
from mbfmu.dynamics.events.jumps import check_jumps
from mbfmu.dynamics.events.updates import Updates
from mbfmu.dynamics.events.watched import Watched
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.reading.components import components_of, connections_of
from mbfmu.dynamics.reading.flatten import flatten
from mbfmu.dynamics.reading.inputs import Inputs
from mbfmu.dynamics.showing.drawing import sketched
from mbfmu.dynamics.showing.drawn import drawn
from mbfmu.dynamics.showing.figures import figures_of
from mbfmu.dynamics.showing.interface import Places, Visible, seen, state_nominals
from mbfmu.dynamics.showing.scene import Scene, placed
from mbfmu.dynamics.solving.accelerations import accelerations
from mbfmu.dynamics.solving.kinetic import check_kinetic
from mbfmu.dynamics.solving.massless import moves_no_mass
from mbfmu.dynamics.starting.initial_problem import initial_problem
from mbfmu.dynamics.starting.loop_closure import Assembled
from mbfmu.dynamics.structure.topology import analyse
from mbfmu.dynamics.structure.wanted import settled
from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.declarations import checked_numbers, is_expression
from mbfmu.modeling.names import checked_name, checked_text
from mbfmu.modeling.notebook import html_table
from mbfmu.modeling.user_code import told
from mbfmu.runtime import arguments
from mbfmu.runtime.contract import SOLVERS
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.figures import Figure
from mbfmu.runtime.variables import ScalarVariable

#: Lines of structure, and of the interface, that a notebook shows.
_SHOWN = 12


@dataclasses.dataclass(frozen=True)
class System:
    """What an assembly becomes: numeric equations, variables, and a report of its structure.

    Make one with `System.of(assembly)`; it does not change afterwards, and neither does it see later changes of the
    assembly. Runs and exports take it in place of the assembly, which saves the time of making it twice.
    """

    name: str
    description: str
    equations: Equations
    variables: tuple[ScalarVariable, ...]
    #: (path, class name, description) of every component, parents first.
    components: tuple[tuple[str, str, str], ...]
    #: (connector path, connector path) of every connection.
    connections: tuple[tuple[str, str], ...]
    #: Lines that say what was cut, what was dropped as redundant, and how many degrees of freedom remain.
    structure: tuple[str, ...]
    #: What it looks like, where that was asked for.
    scene: Scene | None = None
    #: What the assembly wants drawn.
    figures: tuple[Figure, ...] = ()
    #: Names of outputs as they were declared, of arrays as a whole.
    declared_outputs: tuple[str, ...] = ()

    @property
    def outputs(self) -> tuple[ScalarVariable, ...]:
        """The outputs in the order of their declaration."""
        place = {name: number for number, name in enumerate(self.declared_outputs)}
        found = [v for v in self.variables if v.causality == "output"]
        return tuple(sorted(found, key=lambda v: place.get(v.name, place.get(v.variable, len(place)))))

    def __repr__(self) -> str:
        return f"System({self.name!r}, {self.equations.nx} states, {len(self.variables)} variables)"

    def _repr_html_(self) -> str:
        facts = "".join(f"<div>{html.escape(line)}</div>" for line in self.structure[:_SHOWN])
        rows = [(v.name, v.causality, "" if v.start is None else v.start, v.unit or "", v.description)
                for v in self.variables if v.causality in ("input", "output")]  # fmt: skip
        head = ("interface", "role", "start", "unit", "description")
        return f"<div>{html.escape(repr(self))}</div>{facts}{html_table(head, rows, _SHOWN)}"

    @classmethod
    def of(
        cls,
        assembly: Assembly | System,
        cuts: Collection[str] = (),
        energy: bool = False,
        scene: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> System:
        """The system of an assembly, stage by stage: each is a value that follows from earlier ones.

        Args:
            assembly: an Assembly, or a System, which is returned as it is.
            cuts: paths of joints to cut where loops leave a choice.
            energy: add energy and power to the variables.
            scene: let the components draw themselves; what shapes need is added to the variables.
            progress: gets a sentence about what is being done, now and then.

        Raises:
            ModelError: the assembly is wrong; the message names the component, the value and the remedy.
        """
        if isinstance(assembly, System):
            return assembly
        cuts = arguments.names(cuts, "cuts", "revolute1")
        energy, scene = arguments.flag(energy, "energy"), arguments.flag(scene, "scene")
        arguments.check_callback(progress, "progress")
        with told(lambda: f"{assembly.name}: the model fails"), without_collections():
            return cls._of(assembly, cuts, energy, scene, progress or _silent)

    @classmethod
    def _of(
        cls, assembly: Assembly, cuts: Collection[str], energy: bool, scene: bool, report: Callable[[str], None]
    ) -> System:
        check_assembly(assembly)
        report("Deriving the equations of motion: taking the model apart")
        components = components_of(assembly)
        connections = connections_of(components)
        flat = flatten(assembly, components, connections)
        report(f"Deriving the equations of motion: positions and loads of {len(flat.components)} components")
        inputs = Inputs.of(assembly, flat)
        topology = analyse(flat, tuple(cuts))
        sketches = sketched(flat, topology.behaviours) if scene else ()
        graph, wanted = settled(topology, inputs, lambda structure: asked(structure, energy, sketches))
        report("Deriving the equations of motion: closing loops")
        assembled = Assembled.of(assembly, Formulation.of(graph, wanted, assembly.start_time))
        formulation = assembled.formulation
        values, vectors, constraints = formulation.values, formulation.vectors, formulation.constraints
        all_heavy = bool(constraints.names) or not moves_no_mass(formulation)
        report(f"Deriving the equations of motion: {vectors.v.numel()} accelerations")
        w = accelerations(formulation, assembled.is_singular, all_heavy)
        check_kinetic(formulation)
        formulation.parameters.check_regular(values.divisors)
        delays = Delays.of(formulation, w.w)
        initial = initial_problem(formulation, w, delays)
        report(f"Deriving the equations of motion: what the {len(flat.components)} components show")
        drawing = drawn(formulation, sketches) if scene else None
        entries = seen(values, wanted)
        for path, shapes in drawing.entries.items() if drawing else ():
            entries[path] += shapes
        places = Places.of_values(entries, formulation, w)
        variables = Visible(assembly, formulation, w, entries, places).variables()
        report(f"Deriving the equations of motion: functions of {len(variables)} variables")
        watched = Watched.of(formulation)
        check_jumps(formulation, watched, assembly.stop_time)
        stages = Stages(w, initial, watched, Updates.of(formulation, w.w), delays, Impacts.of(formulation, w.w))
        picture, variables = placed(drawing, variables) if drawing else (None, variables)
        nominals = state_nominals(variables, vectors.x.numel())
        return cls(
            name=assembly.name,
            description=assembly.description,
            equations=equations(assembly, formulation, stages, places.rates, places.outputs, nominals),
            variables=variables,
            components=tuple(
                (path, type(c).__name__, _first_line(type(c))) for path, c in flat.components.items() if path
            ),
            connections=tuple(flat.connections),
            structure=tuple(assembled.report()),
            scene=picture,
            figures=figures_of(assembly, variables),
            declared_outputs=tuple(assembly.outputs),
        )


def _silent(text: str) -> None:
    """Take a sentence about progress, and keep it."""


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Look for no circular garbage meanwhile: hundreds of thousands of expressions, none of them part of a circle,
    would be looked through again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def system_of(assembly: Assembly | System) -> System:
    """Return the System itself or that of an Assembly; whatever has equations and variables will do for a System."""
    if isinstance(getattr(assembly, "equations", None), Equations):
        return cast("System", assembly)
    return System.of(assembly)


def check_assembly(assembly: Any) -> None:
    """Refuse what is no assembly, and an experiment that makes no sense.

    Raises:
        ModelError: the message has the name, the value and the remedy.
    """
    if inspect.isclass(assembly):
        raise ModelError(f"{assembly.__name__} is a class; give an assembly that is made of it, {assembly.__name__}()")
    if not isinstance(assembly, Assembly):
        what = type(assembly).__name__
        remedy = "make it part of one" if isinstance(assembly, Component) else "give an Assembly"
        raise ModelError(f"{assembly!r:.60}: {what} is no assembly; {remedy}")
    where = assembly.where
    for name in ("start_time", "stop_time", "tolerance", "interval"):
        value = getattr(assembly, name)
        if name == "interval" and value is None:
            continue
        checked_numbers(value, f"{where}: {name} = {value!r:.60}")
        if is_expression(value) or np.ndim(value):
            raise ModelError(f"{where}: {name} = {value!r:.60} is not one number; give one, in SI units")
    if not assembly.stop_time > assembly.start_time:
        raise ModelError(
            f"{where}: stop_time = {assembly.stop_time:g} s is not after start_time = {assembly.start_time:g} s; "
            "choose a later stop time"
        )
    if not 0 < assembly.tolerance < 1:
        what = "positive" if assembly.tolerance <= 0 else "below 1"
        raise ModelError(f"{where}: tolerance = {assembly.tolerance:g} is not {what}; choose one such as 1e-6")
    if assembly.tolerance < arguments.LEAST_TOLERANCE:
        raise ModelError(
            f"{where}: tolerance = {assembly.tolerance:g} is below {arguments.LEAST_TOLERANCE:g}, less than numbers of "
            "16 digits can keep; choose a greater one, such as 1e-10"
        )
    if assembly.interval is not None and not assembly.interval > 0:
        raise ModelError(f"{where}: interval = {assembly.interval:g} s is not positive; choose one such as 0.01")
    if assembly.solver not in SOLVERS:
        raise ModelError(f"{where}: solver = {assembly.solver!r} is unknown; there are {', '.join(SOLVERS)}")
    checked_name(assembly.name, f"assembly {assembly.name}")
    checked_text(assembly.description, f"{where}: description")
    if not assembly.parts and not hasattr(assembly, "equations"):
        raise ModelError(f"{where}: has no components; assign some to its attributes, as self.world = World()")


def _first_line(cls: type) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0] if (cls.__doc__ or "").strip() else ""
