"""Modifiers and declarations: what a class says of its components, and what is said of them from outside."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.classes import Found
from mbfmu.importers.modelica.evaluate import Environment, evaluate
from mbfmu.importers.modelica.library import Scalar
from mbfmu.importers.modelica.making import Equations
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.messages import suggestion
from mbfmu.modeling import Component
from mbfmu.modeling.connectors import Port

#: Attributes of scalar types that change no value, and all.
SHOWN = frozenset({"min", "max", "nominal", "unit", "displayUnit", "quantity", "unbounded"})
ATTRIBUTES = SHOWN | {"start", "fixed", "stateSelect"}


class MissingClass(ModelError):
    """A class of the library that mbfmu does not have."""


class Absent:
    """What a condition switched off."""


ABSENT = Absent()


# -- modifications


@dataclasses.dataclass(frozen=True)
class Layer:
    """A modification, the place of its expressions, and the element of an array of components that is meant.

    `indices` has the element's index in each dimension, and how many elements there are.
    """

    modification: s.Modification
    env: Environment
    indices: tuple[tuple[int, int], ...] = ()


Layers = tuple[Layer, ...]


def inner(layers: Layers, name: str) -> Layers:
    """What layers say of one name, outermost first.

    Raises:
        ModelError: an outer layer modifies what an inner one declares as final.
    """
    found: list[tuple[s.Argument, Layer]] = []
    for layer in layers:
        for argument in layer.modification.arguments:
            if argument.names[0] != name or (argument.redeclared is not None and not argument.names[1:]):
                continue
            modification = argument.modification
            if len(argument.names) > 1:
                rest = dataclasses.replace(argument, names=argument.names[1:])
                modification = s.Modification(argument.at, (rest,))
            indices = () if "each" in argument.prefixes else layer.indices
            found.append((argument, Layer(modification, layer.env, indices)))
    for k, (outer, _) in enumerate(found):
        for fixed, _ in found[k + 1 :]:
            is_other = fixed.modification is not outer.modification
            if "final" in fixed.prefixes and len(fixed.names) == 1 and is_other:
                raise fault(outer.at, f"{name}: is final (declared so at {fixed.at}); modify what it depends on")
    return tuple(layer for _, layer in found)


def names_in(layers: Layers) -> list[str]:
    """All names that layers modify."""
    return list(dict.fromkeys(a.names[0] for layer in layers for a in layer.modification.arguments))


def constraint_of(element: s.Class | s.Component, env: Environment) -> Layers:
    """What `constrainedby` modifies a replaceable element with, and all that replaces it."""
    return (Layer(element.constraint.modification, env),) if element.constraint is not None else ()


def constraint_before(layers: Layers, name: str, element: s.Class | s.Component, env: Environment) -> Layers:
    """The constraint that holds for what the outermost of these layers redeclares: the last one before it."""
    place = next(k for k, layer in enumerate(layers) if redeclaration((layer,), name) is not None)
    for layer in layers[place + 1 :]:
        found = redeclaration((layer,), name)
        if found is not None and found[0].redeclared is not None and found[0].redeclared.constraint is not None:
            return constraint_of(found[0].redeclared, layer.env)
    return constraint_of(element, env)


def refuse_attributes(name: str, layers: Layers, default: Place) -> None:
    """Refuse attributes that no scalar type has.

    Raises:
        ModelError: there is one; with file and line.
    """
    unknown = next((n for n in names_in(layers) if n not in ATTRIBUTES), None)
    if unknown is not None:
        raise fault(
            place_in(layers, unknown, default),
            f"{name} has no attribute {unknown!r}; {suggestion(unknown, ATTRIBUTES)}",
        )


def only(layers: Layers, wanted: Callable[[str], bool]) -> Layers:
    """What layers say of the names that are wanted."""
    kept = []
    for layer in layers:
        arguments = tuple(a for a in layer.modification.arguments if wanted(a.names[0]))
        if arguments or layer.modification.value is not None:
            kept.append(
                dataclasses.replace(layer, modification=dataclasses.replace(layer.modification, arguments=arguments))
            )
    return tuple(kept)


def place_in(layers: Layers, name: str, default: Place) -> Place:
    """Where the outermost modifier of a name stands."""
    return next((a.at for layer in layers for a in layer.modification.arguments if a.names[0] == name), default)


def redeclaration(layers: Layers, name: str) -> tuple[s.Argument, Layer, int] | None:
    """The outermost redeclaration of a name, with its layer and that layer's place."""
    for k, layer in enumerate(layers):
        for argument in layer.modification.arguments:
            if argument.names == (name,) and argument.redeclared is not None:
                return argument, layer, k
    return None


def bound(layers: Layers) -> tuple[s.Node, Layer] | None:
    """The outermost value that layers give."""
    return next(((layer.modification.value, layer) for layer in layers if layer.modification.value is not None), None)


def value_in(layer: Layer, node: s.Node, equations: Equations | None = None) -> Any:
    """Value of a modifier, or of the element of it that belongs to one element of an array of components."""
    env = layer.env if equations is None else dataclasses.replace(layer.env, equations=equations)
    return element_in(layer, evaluate(node, env), node)


def element_in(layer: Layer, value: Any, node: s.Node) -> Any:
    """The element of a modifier's value that belongs to one element of an array of components.

    Raises:
        ModelError: it has more elements than the array of components, or fewer.
    """
    for index, count in layer.indices:
        if isinstance(value, list):
            if len(value) != count:
                raise fault(
                    node.at,
                    f"{s.text(node)}: has {len(value)} elements, the array of components has {count}; give one for "
                    "each component, or write `each` before a value that all have",
                )
            value = value[index - 1]
    return value


def of_element(layers: Layers, index: tuple[int, ...], sizes: tuple[int, ...]) -> Layers:
    """Layers of an array of components as they are for the element with this index."""
    places = tuple(zip(index, sizes, strict=True))
    return tuple(dataclasses.replace(layer, indices=(*layer.indices, *places)) for layer in layers)


# -- declarations


@dataclasses.dataclass(frozen=True)
class Declared:
    """A component of a class, inherited ones included: its declaration, where it stands, and its modifiers."""

    component: s.Component
    scope: Node
    layers: Layers


@dataclasses.dataclass(frozen=True)
class Kind:
    """What a type is: `parameter`, `constant`, `variable`, `connector`, `library`, `model`, `record`, `bus`, `icon`."""

    kind: str
    found: Found
    scalar: Scalar | None = None
    layers: Layers = ()
    dimensions: tuple[s.Node, ...] = ()
    env: Environment | None = None
    port: type[Port] | None = None
    cls: type[Component] | None = None


@dataclasses.dataclass
class Content:
    """A class with what it inherits."""

    components: dict[str, Declared] = dataclasses.field(default_factory=dict)
    classes: dict[str, tuple[s.Class, Environment, Layers]] = dataclasses.field(default_factory=dict)
    equations: list[tuple[s.Node, Node]] = dataclasses.field(default_factory=list)
    initial: list[tuple[s.Node, Node]] = dataclasses.field(default_factory=list)
    base: tuple[type[Component], Layers] | None = None
    #: Names of the classes that it declares, which may be redeclared.
    local: set[str] = dataclasses.field(default_factory=set)
    annotations: list[s.Modification] = dataclasses.field(default_factory=list)
    doc: str = ""


@dataclasses.dataclass(frozen=True)
class FunctionText:
    """A function with what it inherits."""

    inputs: list[tuple[s.Component, Node]]
    outputs: list[str]
    others: list[tuple[s.Component, Node]]
    bodies: list[tuple[tuple[s.Node, ...], Node]]


# -- arrays of components


def nested(sizes: tuple[int, ...], make: Callable[[tuple[int, ...]], Any], index: tuple[int, ...] = ()) -> Any:
    """An array of these sizes, whose elements `make` makes of their indices."""
    if not sizes:
        return make(index)
    return [nested(sizes[1:], make, (*index, k)) for k in range(1, sizes[0] + 1)]


def has_place(error: Exception) -> bool:
    """True where a message begins with file and line."""
    return ", line " in str(error).split(": ")[0]


class located:
    """Errors of mbfmu's own classes inside get the place; those that have one keep it."""

    def __init__(self, at: Place, _: Any = None) -> None:
        self.at = at

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, MissingClass) or (
            isinstance(error, ModelError) and ", line " in str(error).split(": ")[0]
        ):
            return
        if isinstance(error, ModelError):
            raise ModelError(f"{self.at}: {error}") from error
        if isinstance(error, TypeError | ValueError | AttributeError | RuntimeError | NotImplementedError | IndexError):
            raise ModelError(f"{self.at}: {type(error).__name__}: {error}; check the values given here") from error
