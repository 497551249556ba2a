"""Parameters of a flat assembly: independent ones with their numbers, derived ones with their expressions.

Every parameter that is not structural has symbols of its own (Component.symbol). Here each gets its place: an entry of
p (a number that may be set), an entry of d (an expression of others), or - where it just passes on another one's
symbol or a constant - no place at all: its symbol is replaced. Start values are entries of p, too.
"""

from __future__ import annotations

import dataclasses
import functools
import graphlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.arrays import scalars_of
from mbfmu.dynamics.columns import column, elements, hash_of, hashes, stacked, symbols_in, which_depend
from mbfmu.dynamics.expressions.bindings import Bindings
from mbfmu.dynamics.reading.behaviour import Behaviour
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation
from mbfmu.modeling.component import Component
from mbfmu.modeling.declarations import Parameter, Start
from mbfmu.modeling.names import joined
from mbfmu.modeling.types import Type

#: Resistance of a parameter that is open by its class only: it moves where nothing else can meet the start values.
OPEN = 1e3


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Places of all parameter scalars in P = [p; d]."""

    #: Entries of p and their numbers.
    symbols: tuple[ca.SX, ...]
    defaults: tuple[float, ...]
    #: Indices in p of the parameters that initialisation solves for, and how much each resists being moved.
    open: tuple[int, ...]
    open_weights: tuple[float, ...]
    open_names: tuple[str, ...]
    #: Indices in P of what may change while the model runs: tunable parameters, and what is derived from them.
    tunable: frozenset[int]
    #: Entries of d and what they are in terms of p.
    derived: tuple[ca.SX, ...]
    expressions: tuple[ca.SX, ...]
    #: Element hash of a parameter's symbol that is passed on -> (it, what it stands for).
    aliases: Mapping[int, tuple[ca.SX, ca.SX]]
    #: (component, name) of a parameter -> element hashes of its symbol.
    keys: Mapping[tuple[str, str], list[int]]

    @classmethod
    def of(cls, components: Iterable[Component], starts: Iterable[tuple[ca.SX, float]]) -> Parameters:
        """Places for the parameters of all components, those of animation left out, and for start values.

        Raises:
            ModelError: a binding of the wrong size, a parameter that depends on itself, or a value that a binding gives
                and that is outside the parameter's bounds.
        """
        places, bindings = _Places(), Bindings()
        for component in components:
            declared = component.parameters().items()
            kept = {name: d for name, d in declared if not d.structural and not d.animation}
            for name, value in bindings.values(component, kept).items():
                places.add_parameter(component, name, kept[name], value)
        for symbol, number in starts:
            places.add(symbol, number)
        aliases = places.direct_aliases()
        expressions = _resolve(aliases, places.expressions)
        solved = _in_terms_of_p(places.derived, expressions, places.labels)
        changing = _column(places.symbols[i] for i in places.tunable)
        tunable = places.tunable | {len(places.symbols) + i for i in which_depend(_column(solved), changing)}
        found = cls(
            symbols=tuple(places.symbols),
            defaults=tuple(places.defaults),
            open=tuple(places.open),
            open_weights=tuple(places.open_weights),
            open_names=tuple(places.open_names),
            tunable=frozenset(tunable),
            derived=tuple(places.derived),
            expressions=tuple(solved),
            aliases=aliases,
            keys=places.keys,
        )
        given = [*zip(places.derived, places.expressions, strict=True), *aliases.values()]
        found.check_known([value for _, value in given], lambda i: places.labels[given[i][0].element_hash()])
        found._check_bounds(places.bound, places.labels)
        return found

    def check_known(self, values: Sequence[ca.SX], label: Callable[[int], str]) -> None:
        """Refuse values that have a symbol in them which is no parameter of the model; `label` names each of them.

        Raises:
            ModelError: one has.
        """

        def foreign(values: Iterable[ca.SX]) -> list[ca.SX]:
            present = symbols_in(_column(values))
            return [s for s in present if hash_of(s) not in self._known]

        made = [value for value in values if hash_of(value) not in self._known]
        if foreign(made):
            i, symbol = next((i, found[0]) for i, value in enumerate(values) if (found := foreign([value])))
            raise ModelError(
                f"{label(i)}: its value has the symbol '{symbol}' in it, which is no parameter of the model; give a "
                "number, or declare a Parameter"
            )

    def check_behaviours(self, behaviours: Mapping[str, Behaviour]) -> None:
        """Refuse equations with symbols that are neither parameters nor anything else of the model.

        Raises:
            ModelError: there is one; the message names its component.
        """
        known = self._known
        for behaviour in behaviours.values():
            if behaviour.component is not behaviour.speaker:  # which has been looked at
                continue
            for symbol in behaviour.symbols:
                found = hash_of(symbol)
                if found not in known and found not in behaviour.leaf_of:
                    component = behaviour.component
                    raise ModelError(
                        f"{component.where}: the equations of {type(component).__name__} use the symbol '{symbol}', "
                        "which is nothing of the model; declare a Variable, a Parameter or an input"
                    )

    def _check_bounds(self, bound: Sequence[tuple[ca.SX, Parameter]], labels: Mapping[int, str]) -> None:
        """Refuse values that bindings give parameters outside their bounds, but for those that initialisation finds."""
        size, P = len(self.symbols), np.array(self.default_P).ravel()
        free = _column(self.symbols[i] for i in self.open)
        P[[*self.open, *(size + i for i in which_depend(_column(self.expressions), free))]] = np.nan
        sources = [self.source(symbol) for symbol, _ in bound]
        places = [self.place(source) for source in sources]
        values = np.array([float(s) if p is None else P[p] for s, p in zip(sources, places, strict=True)])
        limits = np.array([(d.min, d.max, 0.0 if d.nonzero else None) for _, d in bound], dtype=float).reshape(-1, 3)
        low, high, other = limits.T
        for i in map(int, np.flatnonzero((values < low) | (values > high) | (values == other) | np.isinf(values))):
            symbol, declaration = bound[i]
            place = places[i]
            given = self.expressions[place - size] if place is not None and place >= size else sources[i]
            causes = dict.fromkeys(labels[s.element_hash()] for s in ca.symvar(given))
            cause = f"; it follows from {', '.join(causes)}" if causes else ""
            name, value = labels[symbol.element_hash()], float(values[i])
            raise ModelError(f"{name} = {value:g}: {declaration.wrong(value)}{cause}")

    def resolve(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions with passed-on parameters replaced by what they pass on."""
        return _resolve(self.aliases, expressions)

    def check_regular(self, matrices: Mapping[str, ca.SX]) -> None:
        """Refuse matrices of equations that are singular with the parameters as they are, wherever these alone decide.

        Raises:
            ModelError: one is; its key says so.
        """
        for message, matrix in matrices.items():
            values = ca.Function("matrix", [self.all], self.resolve([matrix]), {"allow_free": True})
            if not values.has_free() and np.linalg.matrix_rank(np.array(values(self.default_P))) < matrix.size1():
                raise ModelError(message)

    def source(self, symbol: ca.SX) -> ca.SX:
        """What the scalar symbol of a parameter stands for: itself, another parameter's symbol, or a constant."""
        alias = self.aliases.get(hash_of(symbol))
        return symbol if alias is None else alias[1]

    @functools.cached_property
    def _known(self) -> frozenset[int]:
        """All symbols of parameters, by hash."""
        return frozenset((*self._place, *self.aliases))

    @functools.cached_property
    def all(self) -> ca.SX:
        """P = [p; d] as symbols."""
        return stacked([*self.symbols, *self.derived])

    @functools.cached_property
    def independent(self) -> ca.SX:
        """p as symbols."""
        return stacked(self.symbols)

    @functools.cached_property
    def derive(self) -> ca.Function:
        """`derived(p)`."""
        return ca.Function("derived", [self.independent], [ca.densify(stacked(self.expressions))])

    @functools.cached_property
    def _sources(self) -> Mapping[int, int | float]:
        """Of each scalar symbol, by hash, the index in P of what it stands for; of a constant its number."""
        found: dict[int, int | float] = dict(self._place)
        for key, (_, source) in self.aliases.items():
            place = self.place(source)
            found[key] = float(source) if place is None else place
        return found

    def sources(self, path: str, name: str) -> list[int | float]:
        """Of each scalar of a component's parameter, the index in P of what it stands for; of a constant its number."""
        return [self._sources[key] for key in self.keys[path, name]]

    def own(self, path: str, name: str) -> set[int | None]:
        """Indices in P of a parameter's own scalars, those that pass nothing on."""
        return {self._place.get(key) for key in self.keys[path, name]}

    @functools.cached_property
    def passed_on(self) -> ca.SX:
        """Symbols of parameters that have no places, as one column."""
        return _column(symbol for symbol, _ in self.aliases.values())

    def values_passed_on(self, P: np.ndarray) -> np.ndarray:
        """Their numbers, for numbers of P."""
        found = (self._sources[key] for key in self.aliases)
        return np.array([source if isinstance(source, float) else P[source] for source in found])

    @property
    def default_P(self) -> ca.DM:
        """P by default."""
        p = ca.DM(self.defaults)
        return ca.vertcat(p, self.derive(p))

    def by_default(self, expression: ca.SX) -> ca.DM:
        """Value of an expression in parameters, with those of default."""
        return ca.Function("by_default", [self.all], [expression])(self.default_P)

    def numbers_of(self, component: Component, type: Type) -> dict[str, float]:
        """Default values of a component's scalar parameters of a type, by name."""
        names = [name for name, declaration in component.parameters().items() if declaration.type is type]
        (symbols,) = self.resolve([stacked(component.symbol(name) for name in names)])
        return dict(zip(names, np.array(self.by_default(symbols)).ravel().tolist(), strict=True))

    @functools.cached_property
    def _place(self) -> Mapping[int, int]:
        return {key: i for i, key in enumerate(hashes([*self.symbols, *self.derived]))}

    def place(self, symbol: ca.SX) -> int | None:
        """Index in P of a scalar symbol, None for anything else."""
        return self._place.get(hash_of(symbol))

    def number_of(self, symbol: ca.SX) -> int | None:
        """Index in p of a scalar symbol, None for what is no entry of p."""
        place = self.place(symbol)
        return place if place is not None and place < len(self.symbols) else None

    def with_defaults(self, numbers: Mapping[int, float]) -> Parameters:
        """The same with other default numbers of some entries of p."""
        return dataclasses.replace(
            self, defaults=tuple(numbers.get(i, number) for i, number in enumerate(self.defaults))
        )


class _Places:
    """Entries of p and d while they are collected."""

    def __init__(self) -> None:
        self.symbols: list[ca.SX] = []
        self.defaults: list[float] = []
        self.open: list[int] = []
        self.open_weights: list[float] = []
        self.open_names: list[str] = []
        self.tunable: set[int] = set()
        self.derived: list[ca.SX] = []
        self.expressions: list[ca.SX] = []
        self._aliases: dict[int, tuple[ca.SX, ca.SX]] = {}
        self.keys: dict[tuple[str, str], list[int]] = {}
        #: What messages call the scalars.
        self.labels: dict[int, str] = {}
        #: Scalars with bounds and values that bindings give, and what declares them.
        self.bound: list[tuple[ca.SX, Parameter]] = []

    def add_parameter(self, component: Component, name: str, declaration: Parameter, value: Any) -> None:
        """Give all scalars of a parameter their places."""
        scalars = elements(component.plain_symbol(name))
        is_open = isinstance(value, Start) and not value.fixed
        if isinstance(value, Start):
            value = value.value
        if isinstance(value, Orientation):
            value = value.T
        is_number = isinstance(value, int | float | np.ndarray)
        # 0.0 in place of -0.0, which some computations leave
        given: list[Any] = (np.ravel(value, order="F") + 0.0).tolist() if is_number else elements(column(value))
        if len(given) != len(scalars):
            raise ModelError(
                f"{component.where}.{name}: its binding gives {len(given)} elements, expected {len(scalars)}"
            )
        label = f"{component.where}.{name}"
        keys = self.keys[component.path, name] = hashes(scalars)
        self.labels |= dict.fromkeys(keys, label)
        if is_open:
            self.open_weights += [1.0 if component.is_given(name) else OPEN] * len(scalars)
            named = scalars_of(joined(component.path, name), (len(scalars),) if len(scalars) > 1 else ())
            self.open_names += [scalar for scalar, _ in named]
        if is_number:
            places = range(len(self.symbols), len(self.symbols) + len(scalars))
            if is_open:
                self.open += places
            if declaration.tunable:
                self.tunable.update(places)
            self.symbols += scalars
            self.defaults += map(float, given)
            return
        for scalar, expression in zip(scalars, given, strict=True):
            self._bind(scalar, expression)
        if not is_open and (declaration.nonzero or (declaration.min, declaration.max) != (None, None)):
            self.bound += [(scalar, declaration) for scalar in scalars]

    def add(self, symbol: ca.SX, number: float) -> None:
        """Give a scalar symbol a place in p."""
        self.symbols.append(symbol)
        self.defaults.append(number)

    def _bind(self, symbol: ca.SX, given: ca.SX) -> None:
        """Give a scalar symbol the place of what the class computes for it: a constant is no setting."""
        if given.is_constant() or given.is_symbolic():
            self._aliases[hash_of(symbol)] = (symbol, given)
        else:
            self.derived.append(symbol)
            self.expressions.append(given)

    def direct_aliases(self) -> dict[int, tuple[ca.SX, ca.SX]]:
        """Passed-on symbols with what they finally stand for."""
        found = dict(self._aliases)
        for key, (symbol, given) in found.items():
            passed = [key]
            while (following := hash_of(given)) in found:
                if following in passed:
                    raise _circle(self.labels.get(k, str(symbol)) for k in passed)
                passed.append(following)
                given = found[following][1]
            found[key] = (symbol, given)
        return found


def _resolve(aliases: Mapping[int, tuple[ca.SX, ca.SX]], expressions: list[ca.SX]) -> list[ca.SX]:
    present = hashes(symbols_in(stacked(expressions)))
    found = [aliases[key] for key in present if key in aliases]
    if not found:
        return expressions
    symbols, given = zip(*found, strict=True)
    return list(ca.substitute(expressions, [ca.vertcat(*symbols)], [ca.vertcat(*given)]))


def _circle(names: Iterable[str]) -> ModelError:
    """The error of parameters whose bindings lead back to themselves."""
    listed = list(dict.fromkeys(names))
    needs = "depends on itself" if len(listed) == 1 else "depend on each other"
    return ModelError(f"{' and '.join(listed)}: {needs}; give {'it' if len(listed) == 1 else 'one of them'} a number")


def _in_terms_of_p(derived: list[ca.SX], expressions: list[ca.SX], labels: Mapping[int, str]) -> list[ca.SX]:
    """Expressions of derived parameters, in which others of them are replaced by theirs."""
    symbols, solved = _column(derived), _column(expressions)
    for _ in range(len(derived).bit_length() + 1):  # each time, chains of them become half as long
        if not which_depend(solved, symbols):
            return elements(solved)
        solved = ca.substitute(solved, symbols, solved)
    number = {symbol.element_hash(): i for i, symbol in enumerate(derived)}
    needs = {
        i: [number[s.element_hash()] for s in ca.symvar(expression) if s.element_hash() in number]
        for i, expression in enumerate(expressions)
    }
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        raise _circle(labels.get(derived[i].element_hash(), str(derived[i])) for i in error.args[1]) from None
    raise AssertionError("without a circle, every chain of derived parameters ends")


def _column(scalars: Iterable[ca.SX]) -> ca.SX:
    return stacked(scalars)
