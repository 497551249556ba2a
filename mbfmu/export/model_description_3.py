"""The modelDescription.xml of an FMU of FMI 3.0 (FMI 3.0.2, section 2.4), and the buildDescription.xml of sources."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence

from lxml import etree

from mbfmu.export.annotations import annotate
from mbfmu.export.arrays import INDICATORS, TYPES, Arrangement, Variable, places, states_of
from mbfmu.export.elements import Value, add, document, single, unit_definitions
from mbfmu.export.initial_dependencies import initial_dependencies
from mbfmu.export.model_description import LOG_CATEGORIES, add_general, description_root
from mbfmu.export.model_exchange import drifts, needs_completed_steps
from mbfmu.export.type_definitions import TypeDefinitions
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.figures import Figure
from mbfmu.runtime.variables import ScalarVariable

#: What the C runtime offers in both interfaces, by the attributes of FMI 3.0 (section 2.4.10).
COMMON: dict[str, Value] = {
    "canGetAndSetFMUState": True,
    "canSerializeFMUState": True,
    "providesDirectionalDerivatives": True,
    "providesAdjointDerivatives": True,
}

#: How many knowns are listed one by one for an unknown that may depend on any of them.
LISTED = 100

#: What it offers in co-simulation (section 4.3.1).
CO_SIMULATION: dict[str, Value] = {
    "canHandleVariableCommunicationStepSize": True,
    "maxOutputDerivativeOrder": 1,
    "providesIntermediateUpdate": True,
    "mightReturnEarlyFromDoStep": True,
    "canReturnEarlyAfterIntermediateUpdate": True,
    "hasEventMode": True,
}


def model_description_3(
    equations: Equations,
    arrangement: Arrangement,
    *,
    identifier: str,
    token: str,
    date: datetime.datetime | None,
    model_exchange: bool = False,
    execution_tool: bool = False,
    description: str = "",
    figures: Sequence[Figure] = (),
    scene: str | None = None,
) -> bytes:
    """Write the modelDescription.xml of an FMU for co-simulation and, where wanted, model exchange.

    Args:
        equations: Name of the model and its default experiment.
        arrangement: The variables.
        identifier: Name of the binaries, a C identifier.
        token: Fingerprint that the binary compares when it is instantiated.
        model_exchange: Whether the same binary is offered for model exchange.
        date: Date of generation, aware of its time zone; None: it is not told.
        description: One sentence on the model.
        figures: What the model wants drawn.
        scene: Name of the file in resources/ that has the scene, if any.

    Raises:
        BuildError: A unit cannot be read, or a display unit measures something else than its unit.
    """
    root = description_root(equations, "3.0", {"instantiationToken": token}, description, date)
    if model_exchange:
        needs = needs_completed_steps(equations)
        add(root, "ModelExchange", modelIdentifier=identifier, **COMMON, needsCompletedIntegratorStep=needs or None)
    tool = execution_tool or None
    add(root, "CoSimulation", modelIdentifier=identifier, needsExecutionTool=tool, **COMMON, **CO_SIMULATION)
    shown = _with_aliases(arrangement.variables)
    unit_definitions(root, shown)
    names = {alias.name for variable in arrangement.variables for alias in (variable, *variable.aliases)}
    types = TypeDefinitions((variable.first for variable in arrangement.variables), names)
    types.define(root, TYPES)
    add_general(root, equations, {name: text.replace("fmi2", "fmi3") for name, text in LOG_CATEGORIES.items()})
    states = states_of(arrangement.variables)
    add(root, "ModelVariables")
    _model_structure(root, equations, arrangement, states)
    scalars = [e for v in arrangement.variables for alias in (v, *v.aliases) for e in alias.elements]
    annotate(root, 3, figures, scalars, scene)
    reinit = model_exchange and drifts(equations)
    return document(root, "ModelVariables", _model_variables(arrangement.variables, states, types, reinit))


def build_description(identifier: str, files: Iterable[str]) -> bytes:
    """Write the buildDescription.xml of the sources that an FMU is compiled from (section 2.5.1.4)."""
    root = etree.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = add(root, "BuildConfiguration", modelIdentifier=identifier)
    sources = add(configuration, "SourceFileSet", language="C99")
    for file in files:
        add(sources, "SourceFile", name=file)
    add(configuration, "Library", name="m", external=True, description="The C library's functions of mathematics")
    etree.indent(root, " ")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _with_aliases(variables: Iterable[Variable]) -> list[ScalarVariable]:
    return [v.first for variable in variables for v in (variable, *variable.aliases)]


def _model_variables(
    variables: Sequence[Variable], states: Sequence[tuple[Variable, Variable]], types: TypeDefinitions, reinit: bool
) -> Iterator[etree._Element]:
    """Elements of all variables; with `reinit`, states are marked as such that events may change."""
    references = {derivative.name: state.reference for state, derivative in states}
    at = places(variables)
    changing = {state.name for state, _ in states} if reinit else set()
    for variable in variables:
        first, kind = variable.first, TYPES[variable.first.type]
        base = at.get(first.derivative_of or "")
        derivative = references.get(variable.name)
        if derivative is None and base is not None and base[0].shape == variable.shape and base[1] == 0:
            derivative = base[0].reference
        element = single(
            kind,
            # First what differs in every element: what follows, archives pack better.
            valueReference=variable.reference,
            name=variable.name,
            description=variable.description or None,
            causality=variable.causality,
            variability=variable.variability,
            # Inputs and the independent variable must not have this attribute.
            initial=None if variable.causality in ("input", "independent") else variable.initial,
            **types.attributes(first),
            start=None if kind == "String" else _start(variable),
            derivative=derivative if kind == "Float64" else None,
            reinit=True if variable.name in changing else None,
            intermediateUpdate=_is_exchanged(first) or None,
        )
        for size in variable.shape:
            add(element, "Dimension", start=size)
        if kind == "String":
            for scalar in variable.elements:
                add(element, "Start", value=str(scalar.start or ""))
        for alias in variable.aliases:
            unit = alias.first.display_unit if alias.first.unit is not None else None
            shown = {"displayUnit": unit if unit != first.display_unit else None}
            add(element, "Alias", name=alias.name, description=alias.description or None, **shown)
        yield element


def _is_exchanged(variable: ScalarVariable) -> bool:
    """Is it a variable that masters exchange, and that changes between events?"""
    return (
        variable.type == "Real"
        and variable.causality in ("input", "output")
        and variable.variability in (None, "continuous")
    )


def _start(variable: Variable) -> str | None:
    """Start values of all elements, with as many digits as they need to come back exactly."""
    if variable.causality != "input" and variable.initial not in ("exact", "approx"):
        return None
    kind = {"Real": float, "Integer": int, "Boolean": bool}[variable.first.type]
    return " ".join(repr(kind(element.start or 0)).lower() for element in variable.elements)


def _model_structure(
    root: etree._Element,
    equations: Equations,
    arrangement: Arrangement,
    states: Sequence[tuple[Variable, Variable]],
) -> None:
    """Add ModelStructure (section 2.4.8): what a master connects, what it integrates, and what it depends on."""
    variables = arrangement.variables
    parent = add(root, "ModelStructure")
    knowns = _knowns(variables, states)
    outputs = [variable for variable in variables if variable.causality == "output"]
    derivatives = [derivative for _, derivative in states]
    for tag, unknowns in (("Output", outputs), ("ContinuousStateDerivative", derivatives)):
        for variable in unknowns:
            add(parent, tag, valueReference=variable.reference, **_dependencies(variable, knowns))
    exposed = {v.name for v in (*outputs, *(v for pair in states for v in pair))}
    initial = [
        v
        for v in variables
        if v.causality == "calculatedParameter" or (v.name in exposed and v.initial in ("approx", "calculated"))
    ]
    found = _initial_dependencies(equations, arrangement, initial)
    for variable in initial:
        add(parent, "InitialUnknown", valueReference=variable.reference, dependencies=found[variable.name])
    for variable in variables:
        if variable.name == INDICATORS:
            add(parent, "EventIndicator", valueReference=variable.reference)


def _knowns(variables: Sequence[Variable], states: Sequence[tuple[Variable, Variable]]) -> dict[str, int]:
    """Value references of what a dependency may name, by the names of scalars: inputs and states, whatever alias."""
    free = [variable for variable in variables if variable.causality in ("input", "independent")]
    knowns = {element.name: variable.reference for variable in free for element in variable.elements}
    owners = {element.index: state.reference for state, _ in states for element in state.elements}
    for variable in variables:
        for v in (variable, *variable.aliases):
            knowns.update((e.name, owners[e.index]) for e in v.elements if e.store == "x" and e.index in owners)
    return knowns


def _dependencies(variable: Variable, knowns: dict[str, int]) -> dict[str, str]:
    """Attributes of an unknown; without them it depends on everything.

    What holds for one element of an array need not hold for the others: an array depends on a known as its elements do
    together, and fixedly only where all of them do on all of that known.
    """
    kinds: dict[int, set[str]] = {}
    if any(element.dependencies is None for element in variable.elements):
        return {} if (every := _all(knowns.values())) is None else {"dependencies": every}
    for element in variable.elements:
        assert element.dependencies is not None
        for name, kind in element.dependencies:
            if name in knowns:
                kinds.setdefault(knowns[name], set()).add(kind)
    return {
        "dependencies": " ".join(map(str, sorted(kinds))),
        "dependenciesKind": " ".join(
            next(iter(kinds[k])) if not variable.shape and len(kinds[k]) == 1 else "dependent" for k in sorted(kinds)
        ),
    }


def _initial_dependencies(
    equations: Equations, arrangement: Arrangement, unknowns: Sequence[Variable]
) -> dict[str, str | None]:
    """What each unknown depends on at the start, as value references; None where it may be everything."""
    position = {element.name: i for i, element in enumerate(arrangement.elements)}
    owner = [v.reference for v in sorted(arrangement.variables, key=lambda v: v.reference) for _ in v.elements]
    wanted = [position[e.name] for variable in unknowns for e in variable.elements if e.variability != "constant"]
    found = initial_dependencies(equations, arrangement.elements, wanted)
    exact = [v for v in arrangement.variables if v.initial == "exact" and v.causality != "structuralParameter"]
    free = [v for v in arrangement.variables if v.causality in ("input", "independent")] + exact
    every = _all(variable.reference for variable in free)
    texts: dict[str, str | None] = {}
    for variable in unknowns:
        rows = [
            () if element.variability == "constant" else found.get(position[element.name])
            for element in variable.elements
        ]
        known = [row for row in rows if row is not None]
        references = sorted({owner[k] for row in known for k in row})
        texts[variable.name] = " ".join(map(str, references)) if len(known) == len(rows) else every
    return texts


def _all(references: Iterable[int]) -> str | None:
    """A list of all knowns, or None, which says the same, where it would be long. CasADi reads lists only."""
    listed = sorted(set(references))
    return " ".join(map(str, listed)) if len(listed) <= LISTED else None
