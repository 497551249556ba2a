"""The modelDescription.xml of an FMU of FMI 2.0 (FMI 2.0.4, section 2.2), the same for every target."""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lxml import etree

from mbfmu.export.annotations import annotate
from mbfmu.export.elements import Value, add, document, set_attributes, single, unit_definitions
from mbfmu.export.initial_dependencies import initial_dependencies
from mbfmu.export.model_exchange import drifts, needs_completed_steps
from mbfmu.export.type_definitions import TypeDefinitions
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.figures import Figure
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.version import __version__

#: Log categories of both runtimes; the names are those of FMI 2.0.4, section 2.2.4.
LOG_CATEGORIES = {
    "logEvents": "Events: time, switches that changed",
    "logStatusWarning": "Calls that returned fmi2Warning",
    "logStatusDiscard": "Calls that returned fmi2Discard",
    "logStatusError": "Calls that returned fmi2Error",
    "logStatusFatal": "Calls that returned fmi2Fatal",
    "logAll": "All messages",
}


@dataclasses.dataclass(frozen=True)
class Capabilities:
    """What a target offers: the attributes of the element CoSimulation, by their names (FMI 2.0.4, section 4.3.1).

    Those of `SHARED` go for the element ModelExchange, too (section 3.3.1).
    """

    needsExecutionTool: bool = False
    canHandleVariableCommunicationStepSize: bool = True
    canInterpolateInputs: bool = False
    maxOutputDerivativeOrder: int = 0
    canRunAsynchronuously: bool = False
    canBeInstantiatedOnlyOncePerProcess: bool = False
    canNotUseMemoryManagementFunctions: bool = False
    canGetAndSetFMUstate: bool = True
    canSerializeFMUstate: bool = True
    providesDirectionalDerivative: bool = False


#: Attributes that the elements CoSimulation and ModelExchange have in common.
SHARED = (
    "needsExecutionTool",
    "canBeInstantiatedOnlyOncePerProcess",
    "canNotUseMemoryManagementFunctions",
    "canGetAndSetFMUstate",
    "canSerializeFMUstate",
    "providesDirectionalDerivative",
)


@dataclasses.dataclass(frozen=True)
class ModelStructure:
    """Positions in the list of variables, from 0, of the entries of ModelStructure (FMI 2.0.4, section 2.2.8)."""

    outputs: tuple[int, ...]
    derivatives: tuple[int, ...]
    initial_unknowns: tuple[int, ...]


def model_identifier(name: str) -> str:
    """Turn a model's name into the C identifier that names binaries: letters, digits and underscores only."""
    identifier = re.sub(r"[^A-Za-z0-9_]", "_", name) or "model"
    return f"_{identifier}" if identifier[0].isdigit() else identifier


def model_description(
    equations: Equations,
    variables: Sequence[ScalarVariable],
    references: Sequence[int],
    *,
    identifier: str,
    guid: str,
    capabilities: Capabilities,
    date: datetime.datetime | None,
    model_exchange: bool = False,
    description: str = "",
    figures: Sequence[Figure] = (),
    scene: str | None = None,
    source_files: Iterable[str] = (),
) -> bytes:
    """Write the modelDescription.xml of an FMU for co-simulation and, where wanted, model exchange.

    Args:
        equations: Name of the model and its default experiment.
        variables, references: The variables in the order of the file, and the value reference of each.
        identifier: Name of the binaries, a C identifier.
        guid: Fingerprint that the binary compares when it is instantiated.
        capabilities: What the target offers.
        model_exchange: Whether the same binary is offered for model exchange.
        date: Date of generation, aware of its time zone; None: it is not told.
        description: One sentence on the model.
        figures: What the model wants drawn.
        scene: Name of the file in resources/ that has the scene, if any.
        source_files: Files below sources/ that a source-code FMU is compiled from.

    Raises:
        BuildError: A unit cannot be read, or a display unit measures something else than its unit.
    """
    root = description_root(equations, "2.0", {"guid": guid}, description, date)
    if model_exchange:
        set_attributes(root, numberOfEventIndicators=equations.time_switches.count(False))
    offered = dataclasses.asdict(capabilities)
    files = tuple(source_files)
    if model_exchange:
        _add_interface(
            root,
            "ModelExchange",
            files,
            modelIdentifier=identifier,
            completedIntegratorStepNotNeeded=not needs_completed_steps(equations),
            **{name: offered[name] for name in SHARED},
        )
    _add_interface(root, "CoSimulation", files, modelIdentifier=identifier, **offered)
    unit_definitions(root, variables)
    types = TypeDefinitions(variables, {variable.name for variable in variables})
    types.define(root)
    add_general(root, equations, LOG_CATEGORIES)
    annotate(root, 2, figures, variables, scene)
    add(root, "ModelVariables")
    _model_structure(root, equations, variables)
    reinit = model_exchange and drifts(equations)
    return document(root, "ModelVariables", _model_variables(variables, references, types, reinit))


def description_root(
    equations: Equations, version: str, identity: Mapping[str, Value], description: str, date: datetime.datetime | None
) -> Any:
    """The root of modelDescription.xml of either version; `identity` is its guid or instantiation token."""
    root = etree.Element("fmiModelDescription")
    set_attributes(
        root,
        fmiVersion=version,
        modelName=equations.name,
        **identity,
        description=description or None,
        generationTool=f"mbfmu {__version__}",
        generationDateAndTime=f"{date.astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}" if date else None,
        variableNamingConvention="structured",
    )
    return root


def add_general(root: Any, equations: Equations, categories: Mapping[str, str]) -> None:
    """Log categories and default experiment, which both versions have alike."""
    listed = add(root, "LogCategories")
    for name, text in categories.items():
        add(listed, "Category", name=name, description=text)
    add(
        root,
        "DefaultExperiment",
        startTime=equations.start_time,
        stopTime=equations.stop_time,
        tolerance=equations.tolerance,
        stepSize=equations.interval or step_size(equations.start_time, equations.stop_time),
    )


def step_size(start: float, stop: float) -> float:
    """Choose a communication step: the next 1, 2 or 5 times a power of ten below 1/500 of the experiment, in s."""
    target = (stop - start) / 500
    if not 0 < target < math.inf:
        return 0.01
    power = math.floor(math.log10(target) + 1e-12)
    lead = max(lead for lead in (1, 2, 5) if lead <= target / 10.0**power * (1 + 1e-9))
    return float(f"{lead}e{power}")


def has_start(variable: ScalarVariable) -> bool:
    """Tell whether FMI asks for a start value: inputs and what is initially exact or approximate (table on p. 49)."""
    return variable.causality == "input" or variable.initial in ("exact", "approx")


def model_structure(variables: Sequence[ScalarVariable]) -> ModelStructure:
    """Find the entries of ModelStructure.

    Outputs are all outputs. Derivatives has one entry per state whose derivative is a variable, in the order of the
    states. InitialUnknowns are the outputs, states and derivatives that are not known exactly at the start, and the
    calculated parameters; in the order of the variables, each once.
    """
    position = {variable.name: i for i, variable in enumerate(variables)}
    derivative_of: dict[int, tuple[int, int]] = {}
    for i, variable in enumerate(variables):
        base = position.get(variable.derivative_of or "")
        if base is not None and variables[base].store == "x":
            derivative_of.setdefault(variables[base].index, (base, i))
    pairs = [derivative_of[state] for state in sorted(derivative_of)]
    unknowns = {i for i, variable in enumerate(variables) if variable.causality == "calculatedParameter"}
    exposed = {i for i, variable in enumerate(variables) if variable.causality == "output"}
    unknowns |= {i for i in exposed.union(*pairs) if variables[i].initial in ("approx", "calculated")}
    return ModelStructure(
        outputs=tuple(sorted(exposed)),
        derivatives=tuple(derivative for _, derivative in pairs),
        initial_unknowns=tuple(sorted(unknowns)),
    )


def _add_interface(root: etree._Element, tag: str, files: Sequence[str], **attributes: Value | None) -> None:
    """Add one of the elements CoSimulation and ModelExchange."""
    interface = add(root, tag, **attributes)
    if files:
        listing = add(interface, "SourceFiles")
        for file in files:
            add(listing, "File", name=file)


def _model_variables(
    variables: Sequence[ScalarVariable], references: Sequence[int], types: TypeDefinitions, reinit: bool
) -> Iterator[etree._Element]:
    """Elements of all variables; with `reinit`, states are marked as such that events may change."""
    states = {variable.derivative_of for variable in variables} if reinit else set()
    position = {variable.name: i + 1 for i, variable in enumerate(variables)}
    for variable, reference in zip(variables, references, strict=True):
        element = single(
            "ScalarVariable",
            # First what differs in every element: what follows, archives pack better.
            valueReference=reference,
            name=variable.name,
            description=variable.description or None,
            causality=variable.causality,
            variability=variable.variability,
            # Inputs and the independent variable must not have this attribute.
            initial=None if variable.causality in ("input", "independent") else variable.initial,
        )
        attributes = types.attributes(variable) | _own_attributes(variable, position)
        add(element, variable.type, **attributes, reinit=True if variable.name in states else None)
        yield element


def _own_attributes(variable: ScalarVariable, position: dict[str, int]) -> dict[str, Value | None]:
    """Attributes of the element Real, Integer, Boolean or String that no type has."""
    attributes: dict[str, Value | None] = {}
    if variable.type == "Real":
        attributes["derivative"] = position.get(variable.derivative_of or "")
    if has_start(variable) and variable.start is not None:
        kinds = {"Real": float, "Integer": int, "Boolean": bool, "String": str}
        attributes["start"] = kinds[variable.type](variable.start)
    return attributes


def _model_structure(root: etree._Element, equations: Equations, variables: Sequence[ScalarVariable]) -> None:
    structure = model_structure(variables)
    knowns = _knowns(variables, structure)
    parent = add(root, "ModelStructure")
    for tag, entries in (("Outputs", structure.outputs), ("Derivatives", structure.derivatives)):
        if entries:
            element = add(parent, tag)
            for i in entries:
                add(element, "Unknown", index=i + 1, **_dependencies(variables[i], knowns))
    if structure.initial_unknowns:
        element = add(parent, "InitialUnknowns")
        found = initial_dependencies(equations, variables, structure.initial_unknowns)
        for i in structure.initial_unknowns:
            dependencies = " ".join(str(known + 1) for known in found[i]) if i in found else None
            add(element, "Unknown", index=i + 1, dependencies=dependencies)


def _knowns(variables: Sequence[ScalarVariable], structure: ModelStructure) -> dict[str, int]:
    """Index, from 1, of what a dependency may name: inputs, time, and the states that Derivatives exposes.

    Every alias of a state leads to the variable that Derivatives stands for.
    """
    bases = {variables[i].derivative_of for i in structure.derivatives}
    states = {v.index: i + 1 for i, v in enumerate(variables) if v.name in bases}
    knowns = {v.name: i + 1 for i, v in enumerate(variables) if v.causality in ("input", "independent")}
    knowns.update((v.name, states[v.index]) for v in variables if v.store == "x" and v.index in states)
    return knowns


def _dependencies(variable: ScalarVariable, knowns: dict[str, int]) -> dict[str, str]:
    """Attributes dependencies and dependenciesKind; without the attributes an unknown depends on everything."""
    if variable.dependencies is None:
        return {}
    kinds = {knowns[name]: kind for name, kind in variable.dependencies if name in knowns}
    indices = sorted(kinds)
    return {
        "dependencies": " ".join(map(str, indices)),
        "dependenciesKind": " ".join(kinds[index] for index in indices),
    }
