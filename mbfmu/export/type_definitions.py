"""TypeDefinitions: each physical type once, for variables to refer to (FMI 2.0.4, section 2.2.3; 3.0.2, 2.4.4)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping

from lxml import etree

from mbfmu.export.elements import Value, add
from mbfmu.runtime.variables import DeclaredType, ScalarVariable

#: Attributes that a variable may have otherwise than its type, and still refer to it.
_OWN = ("min", "max", "nominal")


class TypeDefinitions:
    """The types that variables refer to, each under a name that no other type and no variable has.

    Args:
        variables: Those whose types are defined.
        names: Names of all variables, which FMI forbids types to have.
    """

    def __init__(self, variables: Iterable[ScalarVariable], names: Collection[str]) -> None:
        self._names: dict[tuple[str, DeclaredType], str] = {}
        self._known: dict[tuple[object, ...], dict[str, Value | None]] = {}
        taken = set(names)
        variables = {_kind(variable): variable for variable in variables}.values()  # the same few again and again
        for variable in variables:
            declared = _fitting(variable)
            if declared is None or (variable.type, declared) in self._names:
                continue
            candidates = itertools.chain([declared.name], (f"{declared.name}_{i}" for i in itertools.count(2)))
            name = next(name for name in candidates if name not in taken)
            taken.add(name)
            self._names[variable.type, declared] = name

    def define(self, root: etree._Element, tags: Mapping[str, str] | None = None) -> None:
        """Add the element TypeDefinitions, where there are any.

        `tags` are FMI 3.0's names of types by those of FMI 2.0; without them it is written as in FMI 2.0.
        """
        if not self._names:
            return
        parent = add(root, "TypeDefinitions")
        for (kind, declared), name in sorted(self._names.items(), key=lambda item: item[1]):
            attributes = _attributes(kind, declared)
            if tags is None:
                add(add(parent, "SimpleType", name=name), kind, **attributes)
            else:
                add(parent, f"{tags[kind]}Type", name=name, **attributes)

    def attributes(self, variable: ScalarVariable) -> dict[str, Value | None]:
        """`declaredType`, and what the variable has beside it: quantity and bounds of numbers, and units."""
        kind = _kind(variable)
        if kind not in self._known:
            self._known[kind] = self._attributes(variable)
        return self._known[kind]

    def _attributes(self, variable: ScalarVariable) -> dict[str, Value | None]:
        own, declared = _attributes(variable.type, variable), _fitting(variable)
        name = None if declared is None else self._names.get((variable.type, declared))
        if declared is None or name is None:
            return own
        given = _attributes(variable.type, declared)
        return {"declaredType": name, **{key: value for key, value in own.items() if value != given[key]}}


def _kind(v: ScalarVariable) -> tuple[object, ...]:
    """All of a variable that decides about its type."""
    return (v.type, v.quantity, v.unit, v.display_unit, v.min, v.max, v.nominal, v.declared_type)


def _fitting(variable: ScalarVariable) -> DeclaredType | None:
    """Return the variable's type if the variable is of that quantity and unit, and takes no bound back that it sets."""
    declared = variable.declared_type
    if declared is None:
        return None
    own, given = _attributes(variable.type, variable), _attributes(variable.type, declared)
    fits = all((own[key] is not None or value is None) if key in _OWN else own[key] == value
               for key, value in given.items())  # fmt: skip
    return declared if fits and any(value is not None for value in given.values()) else None


def _attributes(kind: str, of: ScalarVariable | DeclaredType) -> dict[str, Value | None]:
    """The attributes that both versions of FMI know of a variable or type of this kind."""
    attributes: dict[str, Value | None] = {}
    if kind in ("Real", "Integer"):
        number = int if kind == "Integer" else float
        attributes["quantity"] = of.quantity
        for name, bound in (("min", of.min), ("max", of.max)):
            attributes[name] = None if bound is None or math.isinf(bound) else number(bound)
    if kind == "Real":
        attributes["unit"] = of.unit
        attributes["displayUnit"] = of.display_unit if of.unit is not None else None
        attributes["nominal"] = None if of.nominal is None else float(of.nominal)
    return attributes
