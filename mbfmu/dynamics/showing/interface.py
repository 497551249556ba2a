"""Interface: the scalars that can be seen of a system, where their values live, and what they depend on."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import casadi as ca
import numpy as np

from mbfmu.arrays import Array, Element, derivative_name, scalars_of
from mbfmu.dynamics.columns import elements, hashes, pattern, stacked, which_depend
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.starts import StartValue
from mbfmu.dynamics.expressions.values import Values
from mbfmu.dynamics.reading.inputs import terminal
from mbfmu.dynamics.showing.energy import connector_powers, energy_totals
from mbfmu.dynamics.solving.accelerations import Accelerations
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.structure.wanted import Wanted
from mbfmu.errors import ModelError
from mbfmu.messages import suggestion
from mbfmu.modeling import leaves, units
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Shown, shown_orientation
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.names import joined
from mbfmu.modeling.types import Dimensionless, Orientation, Type, rate_unit
from mbfmu.runtime.variables import DeclaredType, ScalarVariable, Store, Terminal

#: Attributes of what never changes, and of what follows from other things.
_CONSTANT: dict[str, Any] = {
    "causality": "local",
    "variability": "constant",
    "initial": "exact",
    "store": "constant",
    "index": 0,
}
_CALCULATED: dict[str, Any] = {"initial": "calculated", "start": None}


def shown(structure: Structure, energy: bool = False) -> dict[str, list[Shown]]:
    """Variables and connectors of all components, by path; with `energy` also powers and energies."""
    found: dict[str, list[Shown]] = {}
    for path, component in structure.flat.components.items():
        found[path] = list(_variables_of(structure, path, component))
        for port in component.ports().values():
            found[path] += port.shown(structure, path)
        if energy and path in structure.flat.elementary:
            found[path] += connector_powers(structure, path)
    if energy:
        found[""] += energy_totals(structure)
    return found


def _variables_of(structure: Structure, path: str, component: Component) -> Iterator[Shown]:
    for name, declaration in component.variables().items():
        formula = structure.variable(path, name)
        if declaration.type is Orientation:
            turning = structure.target(path, leaves.AngularVelocityOf(name))
            yield from shown_orientation(name, declaration.doc, formula, turning)
        else:
            yield name, declaration.type, declaration.doc, declaration.shape(component), formula


#: Where a value lives: its store, and its index there.
Place = tuple[Store, int]


class Seen(NamedTuple):
    """A quantity that can be seen of a component."""

    #: Within the component.
    name: str
    type: Type
    doc: str
    shape: tuple[int, ...]
    #: A column.
    value: ca.SX
    #: Where it is a scalar that belongs to an array: which element it is.
    element: Element | None = None


def seen(values: Values, wanted: Wanted) -> dict[str, list[Seen]]:
    """Variables and connectors of all components with their values, by path."""
    return {
        path: [Seen(name, type, doc, shape, values(formula)) for name, type, doc, shape, formula in entries]
        for path, entries in wanted.shown.items()
    }


@dataclasses.dataclass(frozen=True)
class Places:
    """Where every value that is shown lives; equal expressions share a place."""

    #: Element hash -> store and index.
    of: Mapping[int, Place]
    #: (component, name) -> where the scalars of what is shown live; of constants, their numbers.
    elements: Mapping[tuple[str, str], list[Place | float]]
    #: dx/dt.
    rates: ca.SX
    #: Expressions of the store y.
    outputs: ca.SX
    #: Indices of y that change while the model runs, and of those that tunable parameters move.
    changing: frozenset[int]
    #: Those among them that change at events only.
    discrete: frozenset[int]
    tunable: frozenset[int]

    @classmethod
    def of_values(
        cls,
        entries: Mapping[str, list[Seen]],
        formulation: Formulation,
        accelerations: Accelerations,
    ) -> Places:
        """Places for all that is shown, and for dx/dt."""
        vectors, parameters, rates = formulation.vectors, formulation.parameters, formulation.rates
        all_entries = [(path, entry) for path, listed in entries.items() for entry in listed]
        (column,) = formulation.resolved([stacked(entry.value for _, entry in all_entries)])
        scalars = elements(column)
        found: dict[int, Place] = {}
        known: list[tuple[Store, ca.SX]] = [("time", vectors.t), ("x", vectors.x), ("u", formulation.values.inputs.u)]
        known += [("w", accelerations.w), ("P", vectors.P)]
        for store, column in known:
            found |= {key: (store, i) for i, key in enumerate(hashes(elements(column)))}
        outputs: list[ca.SX] = []
        places: list[Place | float] = []
        scalars += elements(rates)
        for scalar, key in zip(scalars, hashes(scalars), strict=True):
            place = found.get(key)
            if place is None and scalar.is_constant():
                places.append(float(scalar))
                continue
            if place is None:
                place = found[key] = ("y", len(outputs))
                outputs.append(scalar)
            places.append(place)
        by_name: dict[tuple[str, str], list[Place | float]] = {}
        at = 0
        for path, entry in all_entries:
            size = entry.value.numel()
            by_name[(path, entry.name)] = places[at : at + size]
            at += size
        column = stacked(outputs)
        running = ca.vertcat(vectors.t, vectors.x, vectors.u, accelerations.w)
        tunable = stacked(vectors.P[i] for i in sorted(parameters.tunable))
        continuous, held, moved = (frozenset(which_depend(column, of)) for of in (running, vectors.m, tunable))
        return cls(found, by_name, rates, column, continuous | held, held - continuous, moved)


@dataclasses.dataclass(frozen=True)
class Visible:
    """What can be seen of a system: all that its scalar variables follow from."""

    assembly: Assembly
    formulation: Formulation
    accelerations: Accelerations
    entries: Mapping[str, list[Seen]]
    places: Places

    @functools.cached_property
    def _terminals(self) -> dict[str, Terminal]:
        """Variables of the assembly's own connectors, by name."""
        inputs = self.formulation.values.inputs.all
        found = {given.name: given.terminal for given in inputs if given.terminal is not None}
        own = {name: port for name, port in self.assembly.ports().items() if port.taken}
        for name, *_ in self.entries[""]:
            connector, _, member = name.partition(".")
            if connector in own:
                found[name] = terminal(own[connector], member)
        return found

    def _dependence(self, found: Mapping[str, ScalarVariable], asked: Iterable[ScalarVariable]) -> Any:
        """Function variable -> inputs and states that its value depends on, with FMI's kind; for those asked about."""
        vectors, places = self.formulation.vectors, self.places
        knowns, nx = ca.vertcat(vectors.x, vectors.u), vectors.x.numel()
        through_s, through_w = self._through_iterations(self.accelerations.dependence(vectors))
        rows = sorted({variable.index for variable in asked if variable.store == "y"})
        scalars = elements(places.outputs)
        outputs = stacked(scalars[i] for i in rows)
        direct, indirect = (dict(zip(rows, pattern(outputs, of), strict=True)) for of in (knowns, self.accelerations.w))
        by_place: dict[Place, tuple[str, str]] = {}
        for variable in found.values():
            if variable.store in ("x", "u"):
                by_place.setdefault((variable.store, variable.index), (variable.name, "dependent"))

        @functools.cache
        def listed(known: frozenset[int]) -> tuple[tuple[str, str], ...]:
            keys: list[Place] = [("x", k) if k < nx else ("u", k - nx) for k in sorted(known)]
            return tuple(by_place[key] for key in keys if key in by_place)

        def names(variable: ScalarVariable) -> Any:
            store, index = variable.store, variable.index
            known: Collection[int] = ()
            if store in ("x", "u"):
                known = (index if store == "x" else nx + index,)
            elif store == "w":
                known = through_w[index]
            elif store == "y":
                known = through_s(direct[index].union(*(through_w[k] for k in indirect[index])))
            return listed(frozenset(known))

        return names

    def _through_iterations(
        self, through_w: Sequence[set[int]]
    ) -> tuple[Callable[[Collection[int]], set[int]], list[set[int]]]:
        """What stands for iteration variables among [x; u]: what they depend on; and w's dependence with that."""
        iterations, vectors = self.formulation.iterations, self.formulation.vectors
        count, knowns = iterations.symbols.numel(), ca.vertcat(vectors.x, vectors.u)
        first = knowns.numel() - count
        if not count:
            return set, list(through_w)
        rows = pattern(iterations.residual, knowns)
        for row, ws in zip(rows, pattern(iterations.residual, self.accelerations.w), strict=True):
            row.update(*(through_w[k] for k in ws))
        begin, of = 0, [set[int]() for _ in range(count)]
        for size in iterations.blocks:
            block = set[int]().union(*rows[begin : begin + size])
            of[begin : begin + size] = [block] * size
            begin += size

        def through(known: Collection[int]) -> set[int]:
            found, waiting = set[int](), list(known)
            seen: set[int] = set()
            while waiting:
                k = waiting.pop()
                if k < first:
                    found.add(k)
                elif k not in seen:
                    seen.add(k)
                    waiting += of[k - first]
            return found

        return through, [through(known) for known in through_w]

    # -- scalar variables

    def variables(self) -> tuple[ScalarVariable, ...]:
        """All scalars: time, inputs, then component by component parameters, variables and connectors."""
        found: dict[str, ScalarVariable] = {}
        terminals = self._terminals

        def take(variable: ScalarVariable) -> None:
            other = found.get(variable.name)
            if other is not None and "input" in (other.causality, variable.causality):
                same = (other.store, other.index) == (variable.store, variable.index)
                if not same or other.causality == variable.causality:
                    raise ModelError(
                        f"input {variable.name}: there is another variable of this name already, which it would hide; "
                        "give the input another name"
                    )
            if other is None:
                terminal = terminals.get(variable.variable) if terminals else None
                found[variable.name] = variable if terminal is None else _with(variable, terminal=terminal)

        take(
            ScalarVariable(
                "time", "Time", "Real", "independent", "continuous", None, None, "time", 0, unit="s", quantity="Time"
            )
        )
        for i, given in enumerate(self.formulation.values.inputs.all):
            said = self._said(given.description, given.type, given.min, given.max)
            running: dict[str, Any] = {"causality": "input", "variability": _running(given.type), "initial": None}
            place: dict[str, Any] = {"start": given.start, "store": "u", "index": i}
            take(_scalar(given.name, said, **running, **place, element=given.element))
        for path, component in self.formulation.values.flat.components.items():
            for name, declaration in component.parameters().items():
                if not declaration.animation:
                    for variable in self._parameter(path, component, name, declaration):
                        take(variable)
            for entry in self.entries[path]:
                for variable in self._values(path, entry):
                    take(variable)
        self._add_rates(found)
        self._add_outputs(found)
        owners: dict[tuple[str, str | None], str] = {}
        for variable in found.values():
            if variable.unit is not None:
                owners.setdefault((variable.unit, variable.display_unit), variable.name)
        for (unit, display), owner in owners.items():
            units.check(owner, unit, display)
        return tuple(found.values())

    def _parameter(
        self, path: str, component: Component, name: str, declaration: Parameter
    ) -> Iterator[ScalarVariable]:
        full = joined(path, name)
        if declaration.structural:
            yield from self._structural(full, component, name, declaration)
            return
        type = declaration.type
        if type is Orientation:
            full, type = f"{full}.T", Dimensionless
        parameters = self.formulation.parameters
        sources, own = parameters.sources(path, name), parameters.own(path, name)  # others it passes on
        said = self._said(declaration.doc, type, declaration.min, declaration.max)
        for (label, element), index in zip(scalars_of(full, component.shape_of(name)), sources, strict=True):
            if isinstance(index, float):
                yield _scalar(label, said, **_CONSTANT, start=index, element=element)
                continue
            variability = "tunable" if index in parameters.tunable else "fixed"
            place: dict[str, Any] = {"store": "P", "index": index, "variability": variability, "element": element}
            if index >= len(parameters.defaults) or index not in own:
                yield _scalar(label, said, **place, causality="calculatedParameter", **_CALCULATED)
                continue
            place |= {"start": parameters.defaults[index], "start_index": index}
            if index in parameters.open:
                place["variability"] = "fixed"
                yield _scalar(label, said, **place, causality="calculatedParameter", initial="approx")
            else:
                yield _scalar(label, said, **place, causality="parameter", initial="exact")

    def _structural(
        self, full: str, component: Component, name: str, declaration: Parameter
    ) -> Iterator[ScalarVariable]:
        """Constants that shaped the equations: numbers, choices, texts."""
        value, base = component.value(name), declaration.type.base
        flat = np.ravel(value, order="F") if isinstance(value, np.ndarray | tuple | list) else [value]
        kind = {"Real": float, "Integer": int, "Boolean": bool, "String": str}[base]
        said = self._said(declaration.doc, declaration.type)
        attributes: dict[str, Any] = {**_CONSTANT, "structural": True}
        for (label, element), v in zip(scalars_of(full, np.shape(value)), flat, strict=True):
            yield _scalar(label, said, **attributes, start=kind(v), element=element)

    def _values(self, path: str, entry: Seen) -> Iterator[ScalarVariable]:
        name, type, doc, shape, _, own = entry
        component = self.formulation.values.flat.components[path]
        declaration = component.variable(name)
        places = self.places.elements[(path, name)]
        used = {} if declaration is None else self._used_starts.get((path, name), {})
        starts = [used.get(i) for i in range(len(places))]
        nominal = type.nominal if declaration is None else declaration.nominal(component)
        told = self._nominal(used.values()) if used and type.base == "Real" else None
        said = self._said(doc, type)
        labels = scalars_of(joined(path, name), shape)
        for (label, element), place, start in zip(labels, places, starts, strict=True):
            yield self._value(label, said, place, start, nominal, told, own or element)

    def _nominal(self, starts: Iterable[StartValue]) -> float | None:
        """Magnitude that start values of a vector tell: their greatest power of ten; None below 10, FMI assumes 1."""
        numbers = [self.formulation.parameters.number_of(start.start) for start in starts]
        greatest = max((abs(self.formulation.parameters.defaults[n]) for n in numbers if n is not None), default=0.0)
        return 10.0 ** math.floor(math.log10(greatest)) if 10.0 <= greatest < math.inf else None

    @functools.cached_property
    def _used_starts(self) -> dict[tuple[str, str], dict[int, StartValue]]:
        """(path, name) of variables -> start values by element, of those that have an effect."""
        found: dict[tuple[str, str], dict[int, StartValue]] = {}
        for (path, name, i), start in self.formulation.starts.used.items():
            found.setdefault((path, name), {})[i] = start
        return found

    @functools.cached_property
    def _said(self) -> Callable[..., dict[str, Any]]:
        """What is said of all scalars of variables that are declared alike."""
        return functools.cache(_said)

    def _value(
        self,
        name: str,
        said: Mapping[str, Any],
        place: Place | float,
        start: StartValue | None,
        nominal: float | None,
        told: float | None,
        element: Element | None,
    ) -> ScalarVariable:
        """A scalar of what is shown; `nominal` is declared, and `told` by start values."""
        if isinstance(place, float):
            return _scalar(name, said, **_CONSTANT, start=place, nominal=nominal or told, element=element)
        store, index = place
        if store != "x":  # of states only what is declared: it weighs errors
            nominal = nominal or told
        local: dict[str, Any] = {
            "causality": "local",
            "store": store,
            "index": index,
            "nominal": nominal,
            "element": element,
        }
        if store == "P" or (store == "y" and index not in self.places.changing):
            is_tunable = index in (self.formulation.parameters.tunable if store == "P" else self.places.tunable)
            return _scalar(name, said, **local, variability="tunable" if is_tunable else "fixed", **_CALCULATED)
        number = None if start is None else self.formulation.parameters.number_of(start.start)
        is_discrete = store == "y" and index in self.places.discrete
        local["variability"] = "discrete" if is_discrete or said["type"] != "Real" else "continuous"
        if start is None or number is None:
            return _scalar(name, said, **local, **_CALCULATED)
        initial = "exact" if start.fixed else "approx"
        default = self.formulation.parameters.defaults[number]
        return _scalar(name, said, **local, initial=initial, start=default, start_index=number)

    def _add_rates(self, found: dict[str, ScalarVariable]) -> None:
        """Every state has its derivative among the variables: a declared one, or `der(state)`."""
        names = [str(e) for e in elements(self.formulation.vectors.x)]
        rates: list[Place] = [
            ("constant", 0) if rate.is_constant() else self.places.of[rate.element_hash()]
            for rate in elements(self.places.rates)
        ]
        asked: set[Place] = {*rates, *(("x", i) for i in range(len(names)))}
        by_place: dict[Place, list[ScalarVariable]] = {}
        for variable in found.values():
            if (variable.store, variable.index) in asked:
                by_place.setdefault((variable.store, variable.index), []).append(variable)
        for i, (rate, place) in enumerate(zip(elements(self.places.rates), rates, strict=True)):
            states = [v for v in by_place.get(("x", i), []) if v.type == "Real"]
            if states:  # rather the one that says where it starts
                state = next((v for v in states if v.start_index is not None), states[0])
            else:
                state = ScalarVariable(names[i], "State", "Real", "local", "continuous", "calculated", None, "x", i)
                found.setdefault(state.name, state)
            known = [
                v
                for v in by_place.get(place, [])
                if v.causality == "local"
                and v.type == "Real"
                and v.derivative_of is None
                and place[0] != "constant"
                and _related(v.name, state.name)
            ]
            if known:
                found[known[0].name] = _with(known[0], derivative_of=state.name, variability="continuous")
                by_place[place] = [found[known[0].name] if v is known[0] else v for v in by_place[place]]
                continue
            name = derivative_name(state.name)
            if state.derivative_of is not None and state.name == derivative_name(state.derivative_of):
                name = derivative_name(state.derivative_of, 2)
            found[name] = ScalarVariable(
                name,
                f"Time derivative of {state.name}",
                "Real",
                "local",
                "continuous",
                "exact" if place[0] == "constant" else "calculated",
                float(rate) if place[0] == "constant" else None,
                place[0],
                place[1],
                unit=rate_unit(state.unit),
                derivative_of=state.name,
                element=state.element and state.element.derivative,
            )
            by_place.setdefault(place, []).append(found[name])

    def _outputs(self, found: Mapping[str, ScalarVariable]) -> list[tuple[str, str, Element | None]]:
        """Scalars of the declared outputs: name of the output, of what it shows, and its element in an array."""
        asked = {reference.path for given in self.assembly.outputs.values() for reference in _listed(given)}
        arrays: dict[str, list[ScalarVariable]] = {}
        for variable in found.values() if asked else ():
            if variable.element is not None and variable.variable in asked:
                arrays.setdefault(variable.variable, []).append(variable)
        made: list[tuple[str, str, Element | None]] = []
        for label, given in self.assembly.outputs.items():
            references = _listed(given)
            several = Array(label, (len(references),)).elements if isinstance(given, tuple) else (None,)
            for element, reference in zip(several, references, strict=True):
                path = reference.path
                if path in found:
                    made.append((label, path, element))
                elif path not in arrays:
                    raise ModelError(f"output {label}: there is no variable {path}; {suggestion(path, found)}")
                elif element is not None:
                    raise ModelError(f"output {element.name}: {path} is an array; name one of its elements")
                else:
                    for variable in arrays[path]:
                        assert variable.element is not None
                        array = Array(label, variable.element.array.shape)
                        own = variable.element if label == path else Element(array, variable.element.indices)
                        made.append((label, variable.name, own))
        return made

    def _add_outputs(self, found: dict[str, ScalarVariable]) -> None:
        asked: list[str] = []
        for label, name, element in self._outputs(found):
            shown = element.name if element else label
            variable, taken = found[name], found.get(shown, found[name])
            if taken.causality == "input" or (taken.store, taken.index) != (variable.store, variable.index):
                raise ModelError(
                    f"output {shown}: there is another variable of this name already, which {name} would hide; "
                    "give the output another name"
                )
            if variable.structural or variable.causality in ("parameter", "calculatedParameter"):
                raise ModelError(f"output {shown}: {name} is a parameter; read it as such, it is in the FMU anyway")
            if variable.variability in (
                "fixed",
                "tunable",
            ):  # FMI knows outputs that are constant or vary, nothing in between
                variable = _with(variable, variability="continuous" if variable.type == "Real" else "discrete")
            if shown != name:
                variable = _with(variable, element=element)
                if variable.variability != "constant":
                    variable = _with(variable, initial="calculated", start=None, start_index=None, derivative_of=None)
            found[shown] = _with(variable, name=shown, causality="output")
            asked.append(shown)
        for name, port in self.assembly.ports().items():
            if port.gives:
                shown_names = [
                    n
                    for n, v in found.items()
                    if v.causality == "local" and (n == name or n.startswith((f"{name}.", f"{name}[")))
                ]
                for n in shown_names:
                    if found[n].variability in ("continuous", "discrete"):
                        found[n] = _with(found[n], causality="output")
                        asked.append(n)
        asked += [name for name, variable in found.items() if variable.derivative_of is not None]
        depends = self._dependence(found, [found[name] for name in asked])
        for name in dict.fromkeys(asked):
            found[name] = _with(found[name], dependencies=depends(found[name]))


def _listed(given: Any) -> tuple[Any, ...]:
    """References of a declared output: one, or those of its elements."""
    return given if isinstance(given, tuple) else (given,)


def _running(type: Type) -> Literal["continuous", "discrete"]:
    """Variability of what changes while a model runs: only Reals do so between events (FMI 2.0.4, section 2.2.7)."""
    return "continuous" if type.base == "Real" else "discrete"


def _related(rate: str, state: str) -> bool:
    """True for variables of one component: `revolute.w` and `revolute.phi`."""
    return rate.rpartition(".")[0] == state.rpartition(".")[0]


def _with(variable: ScalarVariable, **changes: Any) -> ScalarVariable:
    return dataclasses.replace(variable, **changes)


def _said(doc: str, type: Type, min: float | None = None, max: float | None = None) -> dict[str, Any]:
    """Attributes of all scalars of a variable: what its type says, where nothing else does."""
    if type.base in ("Real", "Integer"):
        min, max = type.min if min is None else min, type.max if max is None else max
    return {
        "description": doc.strip(),
        "type": type.base,
        "unit": type.unit,
        "display_unit": type.display_unit,
        "quantity": type.quantity,
        "min": min,
        "max": max,
        "nominal": type.nominal,
        "declared_type": _declared(type),
    }


def _scalar(name: str, said: Mapping[str, Any], nominal: float | None = None, **attributes: Any) -> ScalarVariable:
    """A scalar with what is said of its variable; a start value as its type has it."""
    if said["type"] in ("Boolean", "Integer") and attributes.get("start") is not None:
        attributes["start"] = (bool if said["type"] == "Boolean" else int)(attributes["start"])
    if nominal:
        attributes = {**said, **attributes, "nominal": nominal}
        return ScalarVariable(name, **attributes)
    return ScalarVariable(name, **said, **attributes)


@functools.cache
def _declared(type: Type) -> DeclaredType | None:
    """A number's type as FMI declares it; None where it says nothing."""
    said = (type.quantity, type.unit, type.display_unit, type.min, type.max, type.nominal)
    if type.base not in ("Real", "Integer") or all(attribute is None for attribute in said):
        return None
    return DeclaredType(type.name, *said)


def state_nominals(variables: Iterable[ScalarVariable], nx: int) -> tuple[float, ...]:
    """Nominal values of the states: where several variables show one, the least; 1 where none has one."""
    found: dict[int, float] = {}
    for v in variables:
        if v.store == "x" and v.nominal:
            found[v.index] = min(v.nominal, found.get(v.index, v.nominal))
    return tuple(found.get(i, 1.0) for i in range(nx))
