"""Parameters that shape a model: it is made anew for each of their values, once."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.user_code import told
from mbfmu.runtime.equations import Equations
from mbfmu.sources import apply_setting, construct, constructor_parameters
from mbfmu.studies.design import Design

if TYPE_CHECKING:
    from mbfmu.dynamics.system import System


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How an assembly is made with given values of what shapes it.

    `make` takes values by name: parameters of a constructor, and structural parameters of components (`hinge.n`).
    `defaults` has what the constructor takes, and its default values (`inspect.Parameter.empty` where there are none).
    """

    make: Callable[[Mapping[str, Any]], Assembly]
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, model: Callable[..., Assembly]) -> Recipe:
        """The recipe of an assembly's class, or of a function that returns an assembly."""
        name = getattr(model, "__name__", repr(model))
        defaults = {p.name: p.default for p in inspect.signature(model).parameters.values()
                    if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}  # fmt: skip

        def make(given: Mapping[str, Any]) -> Assembly:
            arguments = {n: value for n, value in given.items() if n in defaults}
            if isinstance(model, type):
                made = construct(model, name, arguments)
            else:
                with told(f"{name}: the function fails"):
                    made = model(**arguments)
            for path in given.keys() - arguments.keys():
                apply_setting(made, path, given[path])
            return made

        return cls(make, defaults)

    @classmethod
    def of_source(cls, read: Callable[[Sequence[str]], Assembly], source: str) -> Recipe:
        """The recipe of a SOURCE of the command line; `read` takes settings, each `name=value`."""
        from mbfmu import importers
        from mbfmu.sources import find_class

        defaults: dict[str, Any] = {}
        if not source.endswith(".toml") and not importers.is_importable(source):
            found = find_class(source)
            parameters = inspect.signature(found).parameters
            defaults = {name: parameters[name].default for name in constructor_parameters(found)}
        return cls(lambda given: read([f"{name}={_toml(value)}" for name, value in given.items()]), defaults)

    def shaping(self, system: System | None, name: str) -> bool:
        """Does a model have to be made anew for another value of this parameter? `system` is one that was made."""
        variable = None if system is None else next((v for v in system.variables if v.name == name), None)
        if variable is None:
            return name in self.defaults
        return variable.store == "constant" and variable.structural

    def typed(self, system: System | None, name: str, value: float) -> Any:
        """A number as the parameter wants it: whole, true or false. `system` is one that was made."""
        variable = None if system is None else next((v for v in system.variables if v.name == name), None)
        kind = variable.type if variable is not None else type(self.defaults.get(name)).__name__
        if kind in ("Boolean", "bool"):
            if value not in (0.0, 1.0):
                raise ModelError(f"'{name}' cannot be {value:g}: it is true (1) or false (0)")
            return bool(value)
        if kind in ("Integer", "int") and value.is_integer():
            return int(value)
        return value


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def recipe_of(model: Any) -> Recipe | None:
    """The recipe of what a sweep is given, or None where it is made already (an Assembly, a System)."""
    if isinstance(model, Recipe):
        return model
    if isinstance(model, Assembly) or isinstance(getattr(model, "equations", None), Equations):
        return None
    return Recipe.of(model) if callable(model) else None


def combinations(design: Design, columns: Collection[int]) -> list[tuple[float, ...]]:
    """The combinations of values that some columns of a design have, in the order of the columns, each once."""
    wanted = sorted(columns)
    pools: list[list[tuple[tuple[int, float], ...]]] = [
        [((column, float(value)),) for value in dict.fromkeys(axis.tolist())]
        for column, axis in design.axes
        if column in wanted
    ]
    drawn = [k for k, column in enumerate(design.sampled) if column in wanted]
    if drawn:
        rows = dict.fromkeys(map(tuple, design.samples[:, drawn].tolist()))
        pools.append([tuple(zip((design.sampled[k] for k in drawn), row, strict=True)) for row in rows])
    found = [dict(itertools.chain(*picked)) for picked in itertools.product(*pools)]
    return [tuple(one[column] for column in wanted) for one in found]


def numbered(known: Sequence[tuple[float, ...]], values: np.ndarray) -> np.ndarray:
    """Places [runs] of the rows of values [runs, columns] among known combinations."""
    places = {one: number for number, one in enumerate(known)}
    return np.array([places[tuple(row)] for row in values.tolist()], dtype=int)
