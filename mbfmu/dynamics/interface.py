"""Interface: the scalars that can be seen of a system, where their values live, and what they depend on."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from mbfmu.dynamics.energy import EnergyBalance
from mbfmu.dynamics.flatten import Flat
from mbfmu.dynamics.starts import StartValue
from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.dynamics.topology import Topology
from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component, near
from mbfmu.modeling.connectors import Flange, Frame, HeatPort, Quantity, RealInput, RealOutput, Signal
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.types import AngularVelocity, Dimensionless, Type
from mbfmu.runtime.variables import ScalarVariable, Store

if TYPE_CHECKING:
    from mbfmu.dynamics.builder import Builder

#: Attributes of what never changes, and of what follows from other things.
_CONSTANT: dict[str, Any] = {
    "causality": "local",
    "variability": "constant",
    "initial": "exact",
    "store": "constant",
    "index": 0,
}
_CALCULATED: dict[str, Any] = {"initial": "calculated", "start": None}

#: A quantity to show: name, type, sentence, shape, column of values.
Entry = tuple[str, Type, str, tuple[int, ...], ca.SX]


class Interface:
    """Collects what can be seen. First `collect_values`, then, with all vectors known, `variables`."""

    def __init__(
        self, assembly: Assembly, flat: Flat, topology: Topology, sweeps: Sweeps, energy: EnergyBalance | None
    ) -> None:
        self.assembly, self.flat, self.topology, self.sweeps, self.energy = assembly, flat, topology, sweeps, energy
        self.input_starts: list[float] = []
        self._input_names: dict[str, Type] = {}
        #: Variables of exposed flanges: name -> (flange, member).
        self._terminals: dict[str, tuple[str, str]] = {}
        #: Expressions of the store y.
        self.outputs: list[ca.SX] = []
        self._entries: dict[str, list[Entry]] = {}
        for name, (connector, start) in assembly.inputs.items():
            self._signal_input(
                name,
                (connector.owner.path, connector.port.name),
                connector.port,
                connector.elements or tuple(range(connector.owner.size_of(connector))),
                start,
            )
        for name, port in assembly.ports().items():
            if isinstance(port, RealInput):
                shape = port.shape(assembly)
                self._signal_input(name, ("", name), port, tuple(range(shape[0] if shape else 1)), 0.0)
            elif isinstance(port, Flange):
                self._expose(name, port)
            elif isinstance(port, HeatPort):
                self._expose_heat(name)

    def _signal_input(self, name: str, key: tuple[str, str], port: Any, elements: tuple[int, ...], start: Any) -> None:
        starts = np.broadcast_to(np.asarray(start, dtype=float), (len(elements),))
        for k, (element, value) in enumerate(zip(elements, starts, strict=True)):
            label = f"{name}[{k + 1}]" if len(elements) > 1 else name
            if (key, element) in self.flat.sources:
                raise ModelError(f"{'.'.join(filter(None, key))}: is connected already; it cannot be an input, too")
            self.sweeps.external[(key, element)] = self._new_input(label, value, port.type)

    def _expose(self, name: str, port: Flange) -> None:
        """A flange of the assembly itself: FMU inputs are its flow, or its position and two derivatives."""
        node = ("flange", self.flat.nodes[("", name)])
        if node not in self.topology.source:
            raise ModelError(f"{name}: this flange of the assembly is connected to nothing inside; connect it")
        if port.motion:
            members = ((port.position, port.potentials[0].type), *port.derivatives)
            motion = [self._new_input(f"{name}.{short}", 0.0, type, (name, short)) for short, type in members]
            self.sweeps.driven[name] = (motion[0], motion[1], motion[2])
        else:
            symbol = self._new_input(f"{name}.{port.flow}", 0.0, port.flows[0].type, (name, port.flow))
            self.sweeps.exposed[node] = self.sweeps.exposed.get(node, 0) + symbol

    def _expose_heat(self, name: str) -> None:
        """A heat port of the assembly itself: the FMU takes the heat flow and gives the temperature."""
        node = self.flat.nodes[("", name)]
        if not self.flat.members[node]:
            raise ModelError(f"{name}: this heat port of the assembly is connected to nothing inside; connect it")
        quantity = HeatPort.flows[0]
        symbol = self._new_input(f"{name}.{quantity.name}", 0.0, quantity.type, (name, quantity.name))
        self.sweeps.heat.exposed[node] = self.sweeps.heat.exposed.get(node, 0) + symbol

    def _new_input(self, label: str, start: float, type: Type, terminal: tuple[str, str] | None = None) -> ca.SX:
        if label in self._input_names:
            raise ModelError(
                f"input {label}: there is one of this name already; give it another with input(..., name=...)"
            )
        symbol = ca.SX.sym(label)
        if terminal is not None:
            self._terminals[label] = terminal
        self.sweeps.symbols.inputs[label] = symbol
        self.input_starts.append(float(start))
        self._input_names[label] = type
        return symbol

    # -- what there is to see

    def collect_values(self) -> None:
        """Values of all variables and connectors, as expressions."""
        for path, component in self.flat.components.items():
            self._entries[path] = [*self._variables_of(path, component), *self._connectors_of(path, component)]
            if self.energy is not None and path in self.flat.elementary:
                self._entries[path] += self._scalars(self.energy.connector_powers(path))
        if self.energy is not None:
            self._entries[""] += self._scalars(self.energy.totals())

    def _scalars(self, quantities: Iterator[Any]) -> list[Entry]:
        return [(name, type, doc, (), value) for name, type, doc, value in quantities]

    def _variables_of(self, path: str, component: Component) -> Iterator[Entry]:
        for name, declaration in component.variables().items():
            values = self.sweeps.variable(path, name)
            if declaration.type.name == "Orientation":
                yield from self._orientation(
                    name, declaration.doc, values, self.sweeps.target(path, ("variable", name, "w"))
                )
            else:
                yield name, declaration.type, declaration.doc, declaration.shape(component), values

    def _orientation(self, name: str, doc: str, T: ca.SX, w: ca.SX) -> Iterator[Entry]:
        yield f"{name}.T", Dimensionless, f"Transformation matrix: {doc}", (3, 3), T
        yield f"{name}.w", AngularVelocity, f"Angular velocity: {doc}", (3,), w

    def _connectors_of(self, path: str, component: Component) -> Iterator[Entry]:
        for name, port in component.ports().items():
            key = (path, name)
            if isinstance(port, Signal):
                shape = port.shape(component)
                size = shape[0] if shape else 1
                if path == "" and isinstance(port, RealInput):
                    continue
                if isinstance(port, RealOutput) and ("variable", name) in getattr(
                    self.topology.records.get(path), "targets", {}
                ):
                    values = self.sweeps.variable(path, name)
                else:
                    values = ca.vertcat(*(self.sweeps.signal(key, i) for i in range(size)))
                yield name, port.type, port.doc, shape, values
            elif isinstance(port, Frame):
                node = self.flat.nodes[key]
                if not self.flat.members[node]:
                    continue
                yield (
                    f"{name}.r_0",
                    port.potentials[0].type,
                    port.potentials[0].doc,
                    (3,),
                    self.sweeps.frame(node, "r_0"),
                )
                yield from self._orientation(
                    f"{name}.R", "of the connector frame", self.sweeps.frame(node, "T"), self.sweeps.frame(node, "w")
                )
                yield from self._flows(key, port.flows)
            elif isinstance(port, Flange):
                flange = ("flange", self.flat.nodes[key])
                if flange not in self.topology.source:
                    continue
                if path == "":
                    yield from self._exposed_flange(name, port, flange)
                    continue
                quantity = port.potentials[0]
                yield f"{name}.{port.position}", quantity.type, quantity.doc, (), self.sweeps.scalar(flange, 0)
                yield from self._flows(key, port.flows)
            elif isinstance(port, HeatPort):
                node = self.flat.nodes[key]
                if not self.flat.members[node]:
                    continue
                quantity = port.potentials[0]
                label = f"{name}.{quantity.name}"
                yield label, quantity.type, quantity.doc, (), self.sweeps.heat.temperature(node)
                if path == "":
                    self._terminals[label] = (name, quantity.name)
                else:
                    yield from self._flows(key, port.flows)

    def _exposed_flange(self, name: str, port: Flange, node: Any) -> Iterator[Entry]:
        """Outputs of a flange of the assembly: its motion, or the torque (force) that it exerts outwards."""
        if port.motion:
            self._terminals[f"{name}.{port.flow}"] = (name, port.flow)
            yield (
                f"{name}.{port.flow}",
                port.flows[0].type,
                "Exerted outwards by the flange",
                (),
                -self.sweeps.balance(node, without_root=True),
            )
            return
        members = (
            (port.position, port.potentials[0].type, port.potentials[0].doc),
            *(
                (short, type, f"Derivative {order} of the flange's position")
                for order, (short, type) in enumerate(port.derivatives, start=1)
            ),
        )
        for order, (short, type, doc) in enumerate(members):
            self._terminals[f"{name}.{short}"] = (name, short)
            yield f"{name}.{short}", type, doc, (), self.sweeps.scalar(node, order)

    def _flows(self, key: tuple[str, str], quantities: tuple[Quantity, ...]) -> Iterator[Entry]:
        for quantity in quantities:
            value = self.sweeps.outer_flow(key, quantity.name)
            if value is not None:
                yield f"{key[1]}.{quantity.name}", quantity.type, quantity.doc, quantity.shape, value

    # -- places

    def place(self, builder: Builder) -> None:
        """Give every value a place; equal expressions share one. Called once, when all vectors are known."""
        self._places: dict[int, tuple[Store, int]] = {}

        def note(store: Store, column: ca.SX) -> None:
            for i, e in enumerate(ca.vertsplit(column) if column.numel() else []):
                self._places[e.element_hash()] = (store, i)

        note("time", builder.sweeps.symbols.time)
        note("x", builder.x)
        note("u", builder.u)
        note("w", builder.w)
        note("P", builder.P)
        columns = [ca.vec(entry[4]) for entries in self._entries.values() for entry in entries]
        resolved = builder._without_dropped(builder.parameters.resolve([ca.vertcat(ca.SX(0, 1), *columns)]))[0]
        elements = ca.vertsplit(resolved) if resolved.numel() else []
        self._elements: dict[tuple[str, str], list[ca.SX]] = {}
        at = 0
        for path, entries in self._entries.items():
            for entry in entries:
                self._elements[(path, entry[0])] = elements[at : at + entry[4].numel()]
                at += entry[4].numel()
        for element in elements:
            key = element.element_hash()
            if not element.is_constant() and key not in self._places:
                self._places[key] = ("y", len(self.outputs))
                self.outputs.append(element)
        rates = builder.rates()
        self._rates = []
        for element in rates:
            key = element.element_hash()
            if not element.is_constant() and key not in self._places:
                self._places[key] = ("y", len(self.outputs))
                self.outputs.append(element)
            self._rates.append(element)
        changing = ca.vertcat(builder.sweeps.symbols.time, builder.x, builder.u, builder.m, builder.w)
        outputs = ca.vertcat(ca.SX(0, 1), *self.outputs)
        rows, _ = ca.jacobian_sparsity(outputs, changing).get_triplet()
        #: Entries of y that depend on parameters only do not change.
        self._changing = set(rows)
        tunable = ca.vertcat(ca.SX(0, 1), *(builder.P[i] for i in sorted(builder.parameters.tunable)))
        self._tunable = set(ca.jacobian_sparsity(outputs, tunable).get_triplet()[0])

    def dependence(self, builder: Builder) -> Any:
        """Function (store, index, variables) -> inputs and states that a value depends on, with FMI's kind."""
        knowns = ca.vertcat(builder.x, builder.u)
        nx = builder.x.numel()

        def pattern(expression: ca.SX, of: ca.SX) -> list[set[int]]:
            found: list[set[int]] = [set() for _ in range(expression.numel())]
            for i, j in zip(*ca.jacobian_sparsity(expression, of).get_triplet(), strict=True):
                found[i].add(j)
            return found

        through_w: list[set[int]] = [set() for _ in range(builder.w.numel())]
        if builder.recursive is not None:
            nq = builder.q.numel() + builder.v.numel() + builder.z.numel()
            for argument, offset in ((1, 0), (2, nq)):
                rows, columns = builder.recursive.jac_sparsity(0, argument).get_triplet()
                for i, j in zip(rows, columns, strict=True):
                    through_w[i].add(offset + j)
        elif builder.w.numel():
            by_a, by_b = pattern(ca.vec(builder.A), knowns), pattern(builder.b, knowns)
            size = builder.w.numel()
            for block in builder.blocks:
                union = set().union(*(by_b[i] for i in block), *(by_a[j * size + i] for i in block for j in block))
                for i in block:
                    through_w[i] = union
        outputs = ca.vertcat(ca.SX(0, 1), *builder._without_dropped(self.outputs))
        direct, indirect = pattern(outputs, knowns), pattern(outputs, builder.w)
        by_place: dict[tuple[Store, int], str] = {}

        def names(store: Store, index: int, found: dict[str, ScalarVariable]) -> Any:
            if store in ("x", "u"):
                known = {index if store == "x" else nx + index}
            elif store == "w":
                known = through_w[index]
            elif store == "y":
                known = direct[index].union(*(through_w[k] for k in indirect[index]))
            else:
                known = set()
            if not by_place:
                for variable in found.values():
                    by_place.setdefault((variable.store, variable.index), variable.name)
            keys = [("x", k) if k < nx else ("u", k - nx) for k in sorted(known)]
            return tuple((by_place[key], "dependent") for key in keys if key in by_place)

        return names

    # -- scalar variables

    def variables(self, builder: Builder) -> tuple[ScalarVariable, ...]:
        """All scalars: time, inputs, then component by component parameters, variables and connectors."""
        found: dict[str, ScalarVariable] = {}

        def take(variable: ScalarVariable) -> None:
            terminal = self._terminals.get(variable.name)
            found.setdefault(variable.name, variable if terminal is None else _with(variable, terminal=terminal))

        take(
            ScalarVariable(
                "time", "Time", "Real", "independent", "continuous", None, None, "time", 0, unit="s", quantity="Time"
            )
        )
        for i, (label, type) in enumerate(self._input_names.items()):
            take(
                _scalar(
                    label,
                    f"Input {label}",
                    type,
                    causality="input",
                    variability="continuous",
                    initial=None,
                    start=self.input_starts[i],
                    store="u",
                    index=i,
                )
            )
        for path, component in self.flat.components.items():
            for name, declaration in component.parameters().items():
                if not declaration.animation:
                    for variable in self._parameter(builder, path, component, name, declaration):
                        take(variable)
            for entry in self._entries[path]:
                for variable in self._values(builder, path, *entry):
                    take(variable)
        self._add_rates(builder, found)
        self._add_outputs(builder, found)
        return tuple(found.values())

    def _parameter(
        self, builder: Builder, path: str, component: Component, name: str, declaration: Parameter
    ) -> Iterator[ScalarVariable]:
        full = ".".join(filter(None, (path, name)))
        if declaration.structural:
            yield from self._structural(full, component, name, declaration)
            return
        symbol, type = component.symbol(name), declaration.type
        if type.name == "Orientation":
            full, symbol, type = f"{full}.T", symbol.T, Dimensionless
        parameters = builder.parameters
        shown: dict[str, Any] = {"doc": declaration.doc, "type": type, "min": declaration.min, "max": declaration.max}
        for suffix, scalar in zip(_suffixes(component.shape_of(name)), ca.vertsplit(ca.vec(symbol)), strict=True):
            element = parameters.source(scalar)
            index = parameters.place(element)
            if index is None:
                yield _scalar(full + suffix, **shown, **_CONSTANT, start=float(element))
                continue
            variability = "tunable" if index in parameters.tunable else "fixed"
            place: dict[str, Any] = {"store": "P", "index": index, "variability": variability}
            if index >= len(parameters.defaults) or not parameters.owns(ca.vec(symbol), index):
                yield _scalar(full + suffix, **shown, **place, causality="calculatedParameter", **_CALCULATED)
                continue
            place |= {"start": parameters.defaults[index], "start_index": index}
            if index in parameters.free:
                place["variability"] = "fixed"
                yield _scalar(full + suffix, **shown, **place, causality="calculatedParameter", initial="approx")
            else:
                yield _scalar(full + suffix, **shown, **place, causality="parameter", initial="exact")

    def _structural(
        self, full: str, component: Component, name: str, declaration: Parameter
    ) -> Iterator[ScalarVariable]:
        """Constants that shaped the equations: numbers, choices, texts."""
        value, base = component.value(name), declaration.type.base
        flat = np.ravel(value, order="F") if isinstance(value, np.ndarray | tuple | list) else [value]
        kind = {"Real": float, "Integer": int, "Boolean": bool, "String": str}[base]
        for suffix, v in zip(_suffixes(np.shape(value) if base != "String" else ()), flat, strict=True):
            yield _scalar(full + suffix, declaration.doc, declaration.type, **_CONSTANT, start=kind(v), structural=True)

    def _values(
        self, builder: Builder, path: str, name: str, type: Type, doc: str, shape: tuple[int, ...], values: ca.SX
    ) -> Iterator[ScalarVariable]:
        full = ".".join(filter(None, (path, name)))
        component = self.flat.components[path]
        for i, (suffix, element) in enumerate(zip(_suffixes(shape), self._elements[(path, name)], strict=True)):
            start = builder.starts.used.get((path, name, i)) if name in component.variables() else None
            yield self._value(builder, full + suffix, type, doc, element, start)

    def _value(
        self, builder: Builder, name: str, type: Type, doc: str, element: ca.SX, start: StartValue | None
    ) -> ScalarVariable:
        local = functools.partial(_scalar, name, doc, type, causality="local")
        if element.is_constant():
            return _scalar(name, doc, type, **_CONSTANT, start=float(element))
        store, index = self._places[element.element_hash()]
        if store == "P" or (store == "y" and index not in self._changing):
            is_tunable = index in (builder.parameters.tunable if store == "P" else self._tunable)
            variability = "tunable" if is_tunable else "fixed"
            return local(variability=variability, store=store, index=index, **_CALCULATED)
        number = None if start is None else builder.parameters.place(start.start)
        if start is None or number is None or number >= len(builder.parameters.defaults):
            return local(variability="continuous", store=store, index=index, **_CALCULATED)
        return local(
            variability="continuous",
            initial="exact" if start.fixed else "approx",
            start=builder.parameters.defaults[number],
            store=store,
            index=index,
            start_index=number,
        )

    def _add_rates(self, builder: Builder, found: dict[str, ScalarVariable]) -> None:
        """Every state has its derivative among the variables: a declared one, or `der(state)`."""
        by_place: dict[tuple[str, int], list[ScalarVariable]] = {}
        for variable in found.values():
            by_place.setdefault((variable.store, variable.index), []).append(variable)
        names = [str(e) for e in ca.vertsplit(builder.x)] if builder.x.numel() else []
        for i, rate in enumerate(self._rates):
            states = [v for v in by_place.get(("x", i), []) if v.store == "x"]
            if states:  # rather the one that says where it starts
                state = next((v for v in states if v.start_index is not None), states[0])
            else:
                state = ScalarVariable(names[i], "State", "Real", "local", "continuous", "calculated", None, "x", i)
                found.setdefault(state.name, state)
            place: tuple[Store, int] = ("constant", 0) if rate.is_constant() else self._places[rate.element_hash()]
            known = [
                v
                for v in by_place.get(place, [])
                if v.causality == "local"
                and v.derivative_of is None
                and place[0] != "constant"
                and _related(v.name, state.name)
            ]
            if known:
                found[known[0].name] = _with(known[0], derivative_of=state.name, variability="continuous")
                by_place[place] = [found[known[0].name] if v is known[0] else v for v in by_place[place]]
                continue
            unit = None
            if state.unit:
                unit = f"{state.unit}2" if state.unit.endswith("/s") else f"{state.unit}/s"
            name = f"der({state.name})"
            if state.derivative_of is not None and state.name == f"der({state.derivative_of})":
                name = f"der({state.derivative_of},2)"
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
                unit=unit,
                derivative_of=state.name,
            )
            by_place.setdefault(place, []).append(found[name])

    def _add_outputs(self, builder: Builder, found: dict[str, ScalarVariable]) -> None:
        depends = builder.dependence()
        for label, reference in self.assembly.outputs.items():
            path = reference.path
            names = [path] if path in found else [n for n in found if n.startswith(f"{path}[")]
            if not names:
                raise ModelError(f"output {label}: there is no variable {path}; {near(path, found)}")
            for name in names:
                shown = label + name[len(path) :]
                variable = found[name]
                if variable.structural or variable.causality in ("parameter", "calculatedParameter"):
                    raise ModelError(f"output {shown}: {name} is a parameter; read it as such, it is in the FMU anyway")
                if variable.variability in (
                    "fixed",
                    "tunable",
                ):  # FMI knows outputs that are constant or vary, nothing in between
                    variable = _with(variable, variability="continuous")
                if shown != name and variable.variability != "constant":
                    variable = _with(variable, initial="calculated", start=None, start_index=None, derivative_of=None)
                found[shown] = _with(
                    variable,
                    name=shown,
                    causality="output",
                    dependencies=depends(variable.store, variable.index, found),
                )
        for name, port in self.assembly.ports().items():
            if isinstance(port, Flange | HeatPort | RealOutput):
                shown_names = [
                    n
                    for n, v in found.items()
                    if v.causality == "local" and (n == name or n.startswith((f"{name}.", f"{name}[")))
                ]
                for n in shown_names:
                    if found[n].variability == "continuous":
                        found[n] = _with(
                            found[n], causality="output", dependencies=depends(found[n].store, found[n].index, found)
                        )
        for name, variable in list(found.items()):
            if variable.derivative_of is not None and variable.dependencies is None:
                found[name] = _with(variable, dependencies=depends(variable.store, variable.index, found))


def _related(rate: str, state: str) -> bool:
    """True for variables of one component: `revolute.w` and `revolute.phi`."""
    return rate.rpartition(".")[0] == state.rpartition(".")[0]


def _with(variable: ScalarVariable, **changes: Any) -> ScalarVariable:
    return dataclasses.replace(variable, **changes)


def _scalar(name: str, doc: str, type: Type, **attributes: Any) -> ScalarVariable:
    bounds = {"min": type.min, "max": type.max} if type.base in ("Real", "Integer") else {}
    for key in ("min", "max"):
        if key in attributes and attributes[key] is None:
            attributes.pop(key)
    merged = {**bounds, **attributes}
    return ScalarVariable(
        name=name,
        description=doc.strip(),
        type=type.base,
        unit=type.unit,
        display_unit=type.display_unit,
        quantity=type.quantity,
        nominal=type.nominal,
        **merged,
    )


def _suffixes(shape: tuple[int, ...]) -> list[str]:
    """Modelica subscripts in the order in which CasADi stacks a column: column-major."""
    if not shape:
        return [""]
    if len(shape) == 1:
        return [f"[{i + 1}]" for i in range(shape[0])]
    return [f"[{i + 1},{j + 1}]" for j in range(shape[1]) for i in range(shape[0])]
