"""The syntax tree of Modelica: what the text says, with its places and without its meaning."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from mbfmu.errors import ModelError


class Place(NamedTuple):
    """Where something stands: file and line, from 1."""

    path: pathlib.Path
    line: int

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}"


def fault(at: Place, message: str) -> ModelError:
    """A ModelError whose message begins with the place."""
    return ModelError(f"{at}: {message}")


@dataclasses.dataclass(frozen=True, eq=False)
class Node:
    """Base of all nodes."""

    at: Place

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in the order of the text; sums of any length have no recursion."""
        waiting: list[Any] = [self]
        while waiting:
            value = waiting.pop()
            if isinstance(value, Node):
                yield value
                waiting += [getattr(value, field.name) for field in reversed(dataclasses.fields(value))]
            elif isinstance(value, tuple | list) and not isinstance(value, Place):
                waiting += reversed(value)


# -- expressions


@dataclasses.dataclass(frozen=True, eq=False)
class Literal(Node):
    """A number, a string or a Boolean."""

    value: float | int | str | bool


@dataclasses.dataclass(frozen=True, eq=False)
class Reference(Node):
    """A component reference such as `a.b[2].c`: names with their subscripts; `absolute`: begins with a dot."""

    parts: tuple[tuple[str, tuple[Node, ...]], ...]
    absolute: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names without subscripts."""
        return tuple(name for name, _ in self.parts)

    def __str__(self) -> str:
        return ("." if self.absolute else "") + ".".join(
            name + (f"[{', '.join(map(text, subscripts))}]" if subscripts else "") for name, subscripts in self.parts
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Call(Node):
    """A function call; `der` and `initial` are calls like others."""

    function: Reference
    arguments: tuple[Node, ...]
    named: tuple[tuple[str, Node], ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class PartialFunction(Node):
    """`function f(a=1)` as an argument."""

    function: Reference
    named: tuple[tuple[str, Node], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Operation(Node):
    """A unary or binary operator with its operands."""

    operator: str
    operands: tuple[Node, ...]

    def chain(self) -> tuple[Node, list[Operation]]:
        """`((a + b) - c) * d`: what stands first (a), and the operations, innermost first, that each take the former.

        A sum of many terms is as deep as it is long: whoever follows the chain needs no recursion for it.
        """
        links, first = [self], self.operands[0]
        while isinstance(first, Operation):
            links.append(first)
            first = first.operands[0]
        return first, links[::-1]


@dataclasses.dataclass(frozen=True, eq=False)
class Conditional(Node):
    """`if c then a elseif d then b else e`."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node

    def chain(self) -> tuple[list[tuple[Node, Node]], Node]:
        """Branches with those of conditionals that stand behind `else`, one behind the other, and the last `else`."""
        branches, otherwise = list(self.branches), self.otherwise
        while isinstance(otherwise, Conditional):
            branches += otherwise.branches
            otherwise = otherwise.otherwise
        return branches, otherwise


@dataclasses.dataclass(frozen=True, eq=False)
class Range(Node):
    """`start:stop` or `start:step:stop`."""

    start: Node
    stop: Node
    step: Node | None


@dataclasses.dataclass(frozen=True, eq=False)
class Array(Node):
    """`{a, b}`."""

    items: tuple[Node, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Iteration(Node):
    """`expression for i in r, j in s`: what stands in an array constructor or a reduction."""

    expression: Node
    indices: tuple[tuple[str, Node | None], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Matrix(Node):
    """`[a, b; c, d]`."""

    rows: tuple[tuple[Node, ...], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Tuple(Node):
    """`(a, , b)`: outputs of a function, None for what is left out."""

    items: tuple[Node | None, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class EndIndex(Node):
    """`end` in a subscript."""


@dataclasses.dataclass(frozen=True, eq=False)
class Colon(Node):
    """`:` as a subscript or a dimension."""


# -- modifications


@dataclasses.dataclass(frozen=True, eq=False)
class Modification(Node):
    """`(arguments) = value`, either part may be missing."""

    arguments: tuple[Argument, ...] = ()
    value: Node | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Argument(Node):
    """One entry of a modification: `name(...) = value`, or the redeclaration of a class or component."""

    names: tuple[str, ...]
    modification: Modification
    prefixes: frozenset[str]
    redeclared: Class | Component | None = None


# -- classes


@dataclasses.dataclass(frozen=True, eq=False)
class Component(Node):
    """A component declaration."""

    name: str
    type: Reference
    dimensions: tuple[Node, ...]
    modification: Modification
    prefixes: frozenset[str]
    condition: Node | None
    doc: str
    protected: bool = False
    constraint: Extends | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Extends(Node):
    """An extends clause, or the constraint of a replaceable element."""

    base: Reference
    modification: Modification


@dataclasses.dataclass(frozen=True, eq=False)
class Import(Node):
    """`import alias = name`, `import name`, `import name.*` (alias "*")."""

    alias: str
    name: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Class(Node):
    """A class. `base` is set for `class A = B(...)`, with its dimensions; `literals` for enumerations."""

    name: str
    kind: str
    prefixes: frozenset[str]
    doc: str = ""
    elements: tuple[Node, ...] = ()
    equations: tuple[Node, ...] = ()
    initial_equations: tuple[Node, ...] = ()
    statements: tuple[Node, ...] = ()
    initial_statements: tuple[Node, ...] = ()
    annotation: Modification | None = None
    base: Extends | None = None
    dimensions: tuple[Node, ...] = ()
    literals: tuple[str, ...] | None = None
    is_extension: bool = False
    external: bool = False
    constraint: Extends | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class File(Node):
    """A stored definition: the package that it lies within, and its classes."""

    within: tuple[str, ...]
    classes: tuple[Class, ...]


# -- equations and statements


@dataclasses.dataclass(frozen=True, eq=False)
class Equality(Node):
    """`left = right`; an assignment is one, too."""

    left: Node
    right: Node


@dataclasses.dataclass(frozen=True, eq=False)
class CallEquation(Node):
    """A call that stands alone, such as assert(...)."""

    call: Call


@dataclasses.dataclass(frozen=True, eq=False)
class Connect(Node):
    """`connect(a, b)`."""

    a: Reference
    b: Reference


@dataclasses.dataclass(frozen=True, eq=False)
class If(Node):
    """An if-equation or if-statement: conditions with what stands under them."""

    branches: tuple[tuple[Node, tuple[Node, ...]], ...]
    otherwise: tuple[Node, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class For(Node):
    """A for-equation or for-statement."""

    indices: tuple[tuple[str, Node | None], ...]
    body: tuple[Node, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class While(Node):
    """A while-statement."""

    condition: Node
    body: tuple[Node, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class When(Node):
    """A when-equation or when-statement."""

    branches: tuple[tuple[Node, tuple[Node, ...]], ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Jump(Node):
    """`break` or `return`."""

    word: str


#: So many operations in a row are shown in a text.
_SHOWN = 20


def text(node: Node | None) -> str:
    """A node as Modelica text, short, for messages."""
    if isinstance(node, Literal):
        if isinstance(node.value, bool):
            return str(node.value).lower()
        return f'"{node.value}"' if isinstance(node.value, str) else f"{node.value:g}"
    if isinstance(node, Reference):
        return str(node)
    if isinstance(node, Call):
        inner = [*map(text, node.arguments), *(f"{k}={text(v)}" for k, v in node.named)]
        return f"{node.function}({', '.join(inner)})"
    if isinstance(node, Operation):
        return _chain_text(node)
    if isinstance(node, Conditional):
        chain = " elseif ".join(f"{text(c)} then {text(v)}" for c, v in node.branches)
        return f"if {chain} else {text(node.otherwise)}"
    if isinstance(node, Range):
        return ":".join(text(n) for n in (node.start, node.step, node.stop) if n is not None)
    if isinstance(node, Array):
        return "{" + ", ".join(map(text, node.items)) + "}"
    if isinstance(node, Iteration):
        loops = ", ".join(name + (f" in {text(r)}" if r is not None else "") for name, r in node.indices)
        return f"{text(node.expression)} for {loops}"
    if isinstance(node, Matrix):
        return "[" + "; ".join(", ".join(map(text, row)) for row in node.rows) + "]"
    if isinstance(node, Tuple):
        return "(" + ", ".join(text(i) if i is not None else "" for i in node.items) + ")"
    if isinstance(node, EndIndex):
        return "end"
    if isinstance(node, Equality):
        return f"{text(node.left)} = {text(node.right)}"
    if isinstance(node, CallEquation):
        return text(node.call)
    return ":" if isinstance(node, Colon) else type(node).__name__.lower()


def _chain_text(node: Operation) -> str:
    first, links = node.chain()
    hidden = len(links) - _SHOWN
    found = _operand(first) if hidden <= 0 else "..."
    for k, link in enumerate(links):
        if k < hidden:
            continue
        if k and found != "...":
            found = f"({found})"
        if len(link.operands) == 1:
            found = f"not {found}" if link.operator == "not" else f"{link.operator}{found}"
        else:
            found = f" {link.operator} ".join((found, *map(_operand, link.operands[1:])))
    return found


def _operand(node: Node) -> str:
    return f"({text(node)})" if isinstance(node, Operation | Conditional) else text(node)
