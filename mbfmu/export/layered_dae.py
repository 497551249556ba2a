"""FMI-LS-DAE, a draft of a layered standard of FMI 3.0: importers solve equations that an FMU iterates on else.

https://github.com/modelica/fmi-ls-dae: differential equations x' = f(t, x, u, z) and residuals 0 = g(t, x, u, z), of
index 1, by an FMU that is one for model exchange as any other until its structural parameter says so. Algebraic
variables z are the iteration variables of the equations (`mbfmu.runtime.contract`); accelerations and multipliers,
whose equations are linear, the FMU eliminates in both. z are the importer's in continuous-time mode. The start and
events, of which the draft says nothing, the FMU solves for all unknowns.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable, Iterator, Sequence

from lxml import etree

from mbfmu.arrays import Array
from mbfmu.errors import BuildError
from mbfmu.export.arrays import Arrangement, Variable, states_of
from mbfmu.export.initial_dependencies import Pattern, StartPatterns
from mbfmu.export.model_exchange import drifts, obstacle
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

NAME = "org.fmi-standard.fmi-ls-dae"
#: Version of the draft.
VERSION = "1.0.0-alpha.1"

MANIFEST = f"extra/{NAME}/fmi-ls-manifest.xml"

_NAMESPACE = "http://fmi-standard.org/fmi-ls-manifest"

#: Names of the structural parameter, of the residuals, and of algebraic variables without one of their own.
ENABLE, RESIDUALS, ALGEBRAIC = "daeMode", "residuals", "algebraic"


def with_residuals(
    equations: Equations, shown: Sequence[ScalarVariable], every: Iterable[ScalarVariable], target: str
) -> tuple[ScalarVariable, ...]:
    """Add what importers need that solve for iteration variables: these, their residuals, and the parameter.

    Args:
        equations: The model.
        shown: Variables that the FMU has anyway.
        every: All that it could have.
        target: `native` or `python`.

    Raises:
        BuildError: The FMU has no such variables or no model exchange, or a variable of the model has a name of these.
    """
    if not equations.niterations:
        raise BuildError(
            f"dae: {equations.name} has no equations that it iterates on, so there is nothing for importers to solve; "
            "leave dae out."
        )
    hindrance = obstacle(equations) if target == "native" else "the python target is for co-simulation only"
    if hindrance:
        raise BuildError(f"dae: is for model exchange, which is left out, for {hindrance}.")
    every = tuple(every)
    taken = {v.variable for v in every} & {ENABLE, RESIDUALS, ALGEBRAIC}
    if taken:
        raise BuildError(f"dae: {min(taken)} is the name of a variable of the model; give that another name.")
    begin = equations.nu - equations.niterations
    wanted = range(begin, equations.nu)
    there = {v.index for v in shown if v.store == "u"}
    hidden = {v.index: v for v in reversed(every) if v.store == "u"}
    names = equations.iteration_names or [f"iteration variable {i}" for i in range(equations.niterations)]
    nominals = equations.iteration_nominals or (1.0,) * len(names)
    own = [
        hidden.get(i)
        or ScalarVariable(
            f"{ALGEBRAIC}[{i - begin + 1}]", f"Iteration variable {name}", "Real", "local", "continuous", "calculated",
            None, "u", i, nominal=nominal,
        )
        for i, name, nominal in zip(wanted, names, nominals, strict=True)
        if i not in there
    ]  # fmt: skip
    listed = [*shown, *own]
    # Value references are those of whole arrays: of these, iteration variables stand by themselves.
    apart = {v.variable for v in listed if v.store == "u" and v.index in wanted and v.element}
    listed = [dataclasses.replace(v, element=None) if v.variable in apart else v for v in listed]
    residuals = (
        ScalarVariable(
            element.name, f"Residual of the equations that {name} is in", "Real", "local", "continuous", "calculated",
            None, "residual", i,
        )
        for i, (element, name) in enumerate(zip(Array(RESIDUALS, (len(names),)).elements, names, strict=True))
    )  # fmt: skip
    enable = ScalarVariable(
        ENABLE, "Importer solves for algebraic variables in continuous-time mode (FMI-LS-DAE)", "Boolean",
        "structuralParameter", "fixed", "exact", False, "configuration", 0,
    )  # fmt: skip
    return (*listed, *residuals, enable)


def write_manifest(folder: pathlib.Path, equations: Equations, arrangement: Arrangement, description: bytes) -> None:
    """Write the manifest into an unpacked FMU.

    Args:
        folder: Root of the FMU.
        equations, arrangement: The model and its variables, with those of `with_residuals`.
        description: The modelDescription.xml, whose ModelStructure the manifest's replaces.

    Raises:
        BuildError: The folder cannot be written.
    """
    file = folder / MANIFEST
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(manifest(equations, arrangement, description))
    except OSError as error:
        raise BuildError(
            f"cannot write {error.filename}: {error.strerror}; choose a folder that can be written"
        ) from error


def manifest(equations: Equations, arrangement: Arrangement, description: bytes) -> bytes:
    """The manifest: see `write_manifest`."""
    variables = arrangement.variables
    begin = equations.nu - equations.niterations
    algebraic: dict[int, Variable] = {}
    for variable in variables:
        if variable.first.store == "u" and variable.first.index >= begin:
            algebraic.setdefault(variable.first.index, variable)
    (enable,) = (variable for variable in variables if variable.name == ENABLE)
    residuals = [variable for variable in variables if variable.first.store == "residual"]
    known = dict(_knowns(equations, variables, algebraic))
    patterns = _Patterns(equations)

    def dependencies(variable: Variable) -> dict[str, str]:
        rows = [patterns.row(e.store, e.index) if e.store != "constant" else 0 for e in variable.elements]
        if any(row is None for row in rows):
            return {}
        found = {known[k] for row in rows if row is not None for k in known if row >> k & 1}
        return {"dependencies": " ".join(map(str, sorted(found)))}

    root = etree.Element("fmiDAEManifest", nsmap={"fmi-ls": _NAMESPACE})
    root.set(f"{{{_NAMESPACE}}}fmi-ls-name", NAME)
    root.set(f"{{{_NAMESPACE}}}fmi-ls-version", VERSION)
    root.set(f"{{{_NAMESPACE}}}fmi-ls-description", "Layered standard for DAE support in FMI")
    etree.SubElement(root, "EnableDAEParameter", valueReference=str(enable.reference))
    listed = etree.SubElement(root, "AlgebraicVariables")
    for _, variable in sorted(algebraic.items()):
        etree.SubElement(listed, "AlgebraicVariable", valueReference=str(variable.reference))
    structure = etree.SubElement(root, "ModelStructure")
    by_reference = {str(variable.reference): variable for variable in variables}
    initial: set[str] = set()
    late: list[etree._Element] = []
    for element in etree.fromstring(description).iterfind("ModelStructure/*"):
        attributes = {str(name): str(value) for name, value in element.attrib.items()}
        reference = attributes["valueReference"]
        if element.tag in ("Output", "ContinuousStateDerivative"):
            attributes = {"valueReference": reference, **dependencies(by_reference[reference])}
        elif element.tag == "InitialUnknown":
            initial.add(reference)
        (late if element.tag == "EventIndicator" else structure).append(etree.Element(element.tag, attributes))
    for _, variable in sorted(algebraic.items()):
        if str(variable.reference) not in initial:
            etree.SubElement(structure, "InitialUnknown", valueReference=str(variable.reference))
    structure.extend(late)
    for variable in residuals:
        attributes = {"valueReference": str(variable.reference), **dependencies(variable)}
        etree.SubElement(structure, "Residual", attributes)
    etree.indent(root, " ")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


class _Patterns(StartPatterns):
    """Which entries of [t; x; u], iteration variables among u, enter a value in continuous-time mode."""

    def _time(self) -> list[Pattern | None]:
        return self._unit(0, 1)

    def _x(self) -> list[Pattern | None]:
        return self._unit(1, self._equations.nx)

    def _u(self) -> list[Pattern | None]:
        e = self._equations
        rows = self._unit(1 + e.nx, e.nu)
        delayed = e.nu - e.niterations - e.ndelays
        rows[delayed : delayed + e.ndelays] = [None] * e.ndelays
        return rows

    def _P(self) -> list[Pattern | None]:
        return [0] * (self._equations.npar + self._equations.functions["derived"].numel_out(0))

    def _m(self) -> list[Pattern | None]:
        return [0] * (self._equations.nm + self._equations.nheld)

    def _w(self) -> list[Pattern | None]:
        # Where states drift, the FMU leads them back by accelerations that depend on all of them.
        return [None] * self._equations.nw if drifts(self._equations) else super()._w()

    def _residual(self) -> list[Pattern | None]:
        return self._through("iterations", 0, {0: "time", 1: "x", 2: "u", 3: "P", 4: "m", 5: "w"})


def _knowns(
    equations: Equations, variables: Sequence[Variable], algebraic: dict[int, Variable]
) -> Iterator[tuple[int, int]]:
    """Value references of knowns by their entries of [t; x; u]."""
    for variable in variables:
        if variable.causality == "independent":
            yield 0, variable.reference
        elif variable.causality == "input":
            yield from ((1 + equations.nx + e.index, variable.reference) for e in variable.elements if e.store == "u")
    for state, _ in states_of(variables):
        yield from ((1 + e.index, state.reference) for e in state.elements)
    for index, variable in algebraic.items():
        yield 1 + equations.nx + index, variable.reference
