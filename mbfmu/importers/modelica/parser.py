"""Modelica text -> syntax tree, by Lark's LALR parser over grammar.lark."""

from __future__ import annotations

import dataclasses
import functools
import importlib.resources
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import lark

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.syntax import Place, fault

#: How messages call the tokens that come to mind first.
_WORDS = {"SEMICOLON": ";", "RPAR": ")", "RSQB": "]", "RBRACE": "}", "EQUAL": "=", "COMMA": ",", "LPAR": "("}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
#: Deeper nesting than this is no model; Python's own recursion ends soon after.
_DEEPEST = 100
#: Brackets, and what may hold some that are none: texts, quoted names and comments.
_BRACKETS = re.compile(
    r"""[()\[\]{}]|"[^"\\]*+(?:\\.[^"\\]*+)*+"?|'[^'\\]*+(?:\\.[^'\\]*+)*+'?|//[^\n]*+|/\*.*?(?:\*/|\Z)""",
    re.DOTALL,
)


@functools.cache
def _parser() -> lark.Lark:
    grammar = importlib.resources.files(__package__).joinpath("grammar.lark").read_text("utf-8")
    return lark.Lark(
        grammar,
        start="stored_definition",
        parser="lalr",
        lexer="basic",
        propagate_positions=True,
        maybe_placeholders=True,
    )


def read_text(path: pathlib.Path) -> str:
    """The text of a file; older libraries are written in Latin-1.

    Raises:
        ModelError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse(text: str, path: pathlib.Path) -> s.File:
    """Parse a stored definition.

    Raises:
        ModelError: the text is not Modelica; file, line, what was found and what could stand there.
    """
    _refuse_depth(text, path)
    try:
        tree = _parser().parse(text)
    except lark.UnexpectedCharacters as error:
        raise fault(
            Place(path, error.line), f"{text[error.pos_in_stream or 0]!r} cannot stand here; {_remedy(text, error)}"
        ) from None
    except lark.UnexpectedToken as error:
        if error.token.type == "$END":
            raise fault(Place(path, text.count("\n") + 1), f"the file ends too early; {_remedy(text, error)}") from None
        raise fault(
            Place(path, error.line), f"{str(error.token)!r} cannot stand here; {_remedy(text, error)}"
        ) from None
    result: s.File = _Reader(path).transform(tree)
    return result


def _refuse_depth(text: str, path: pathlib.Path) -> None:
    depth = 0
    for found in _BRACKETS.finditer(text):
        if found[0] in ("(", "[", "{"):
            depth += 1
            if depth > _DEEPEST:
                line = text.count("\n", 0, found.start()) + 1
                raise fault(Place(path, line), f"more than {_DEEPEST} brackets are open; close them")
        elif found[0] in (")", "]", "}"):
            depth = max(depth - 1, 0)


def _remedy(text: str, error: lark.UnexpectedInput) -> str:
    allowed = set(getattr(error, "accepts", None) or getattr(error, "expected", None) or ())
    words = [word for token, word in _WORDS.items() if token in allowed]
    return f"expected {' or '.join(words)}" if 0 < len(words) <= 4 else "correct the text before it"


def _unquoted(token: str) -> str:
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), token[1:-1], flags=re.DOTALL)


def _bound(arguments: Iterable[s.Argument]) -> Iterator[tuple[tuple[str, ...], Place]]:
    """Paths that a modification gives a value, and where."""
    for argument in arguments:
        if argument.modification.value is not None:
            yield argument.names, argument.at
        for path, at in _bound(argument.modification.arguments):
            yield (*argument.names, *path), at


def _given_once(arguments: tuple[s.Argument, ...] | None) -> tuple[s.Argument, ...]:
    """Arguments that modify an element, each value at most once; annotations may repeat names, as choices do."""
    known: set[tuple[str, ...]] = set()
    for path, at in _bound(arguments or ()):
        if path in known:
            raise fault(at, f"{'.'.join(path)} is modified twice; keep one of the values")
        known.add(path)
    return arguments or ()


def _present(items: Any) -> tuple[Any, ...]:
    return tuple(item for item in items if item is not None)


@lark.v_args(meta=True)
class _Reader(lark.visitors.Transformer_NonRecursive[Any, Any]):
    """Lark's tree -> the nodes of `syntax`, from the leaves upwards. Methods are named after rules of the grammar."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(visit_tokens=False)
        self.path = path

    def transform(self, tree: lark.Tree[Any]) -> Any:
        try:
            return super().transform(tree)
        except lark.exceptions.VisitError as error:
            raise error.orig_exc from None

    def _at(self, meta: Any) -> Place:
        return Place(self.path, getattr(meta, "line", 1))

    # -- files and classes

    def stored_definition(self, meta: Any, c: list[Any]) -> s.File:
        within, *classes = c
        return s.File(self._at(meta), within or (), tuple(classes))

    def within(self, meta: Any, c: list[Any]) -> tuple[str, ...]:
        return c[0].names if c[0] is not None else ()

    def stored_class(self, meta: Any, c: list[Any]) -> s.Class:
        *prefixes, definition = c
        return self._prefixed(definition, prefixes)

    def prefix(self, meta: Any, c: list[Any]) -> str:
        return str(c[0])

    argument_prefix = prefix

    def _prefixed(self, node: Any, prefixes: list[str]) -> Any:
        return dataclasses.replace(node, prefixes=node.prefixes | frozenset(prefixes)) if prefixes else node

    def class_definition(self, meta: Any, c: list[Any]) -> s.Class:
        kind, specifier = " ".join(c[0].split()), c[1]
        return s.Class(self._at(meta), kind=kind, **specifier)

    def long_class(self, meta: Any, c: list[Any]) -> dict[str, Any]:
        name, doc, composition, end = c
        if str(name) != str(end):
            raise fault(Place(self.path, end.line), f"`end {end}` closes `{name}`; write `end {name}`")
        return {"name": str(name), "prefixes": frozenset(), "doc": doc, **composition}

    def class_extends(self, meta: Any, c: list[Any]) -> dict[str, Any]:
        name, modification, doc, composition, end = c
        own = s.Reference(self._at(meta), ((str(name), ()),))
        base = s.Extends(self._at(meta), own, s.Modification(self._at(meta), _given_once(modification)))
        result = self.long_class(meta, [name, doc, composition, end])
        return result | {"elements": (base, *result["elements"]), "is_extension": True}

    def short_class_specifier(self, meta: Any, c: list[Any]) -> dict[str, Any]:
        return {"name": str(c[0]), **c[1]}

    def short_class(self, meta: Any, c: list[Any]) -> dict[str, Any]:
        *prefixes, name, dimensions, arguments, comment = c
        at = self._at(meta)
        base = s.Extends(at, name, s.Modification(at, _given_once(arguments)))
        return {
            "prefixes": frozenset(prefixes),
            "base": base,
            "dimensions": dimensions or (),
            "doc": comment[0],
            "annotation": comment[1],
        }

    def enumeration(self, meta: Any, c: list[Any]) -> dict[str, Any]:
        return {"prefixes": frozenset(), "literals": c[0] or (), "doc": c[1][0]}

    def open_enumeration(self, meta: Any, c: list[Any]) -> dict[str, Any]:
        return {"prefixes": frozenset(), "literals": (), "doc": c[0][0]}

    def der_class(self, meta: Any, c: list[Any]) -> Any:
        raise fault(
            self._at(meta), "functions that are partial derivatives (der) are not read; write the derivative out"
        )

    def enum_list(self, meta: Any, c: list[Any]) -> tuple[str, ...]:
        return tuple(c)

    def enum_literal(self, meta: Any, c: list[Any]) -> str:
        return str(c[0])

    def composition(self, meta: Any, c: list[Any]) -> dict[str, Any]:
        found: dict[str, list[Any]] = {
            "elements": [],
            "equations": [],
            "initial_equations": [],
            "statements": [],
            "initial_statements": [],
        }
        annotation, external = None, False
        for section, items in [("elements", c[0]), *c[1:]]:
            if section == "annotation":
                annotation = items
            elif section == "external":
                external = True
            else:
                found[section] += items
        for element in found["elements"]:
            if isinstance(element, s.Modification):
                annotation = element
        elements = [e for e in found.pop("elements") if not isinstance(e, s.Modification)]
        return {
            "elements": tuple(elements),
            **{k: tuple(v) for k, v in found.items()},
            "annotation": annotation,
            "external": external,
        }

    def element_list(self, meta: Any, c: list[Any]) -> list[Any]:
        return [node for element in c for node in (element if isinstance(element, list) else [element])]

    def visible_elements(self, meta: Any, c: list[Any]) -> tuple[str, list[Any]]:
        elements = c[1]
        if str(c[0]) == "protected":
            elements = [dataclasses.replace(e, protected=True) if isinstance(e, s.Component) else e for e in elements]
        return "elements", elements

    def equation_section(self, meta: Any, c: list[Any]) -> tuple[str, list[Any]]:
        return "equations", c[1:]

    def initial_equation_section(self, meta: Any, c: list[Any]) -> tuple[str, list[Any]]:
        return "initial_equations", c[1:]

    def algorithm_section(self, meta: Any, c: list[Any]) -> tuple[str, list[Any]]:
        return "statements", c[1:]

    def initial_algorithm_section(self, meta: Any, c: list[Any]) -> tuple[str, list[Any]]:
        return "initial_statements", c[1:]

    def external(self, meta: Any, c: list[Any]) -> tuple[str, None]:
        return "external", None

    def external_call(self, meta: Any, c: list[Any]) -> None:
        return None

    def class_annotation(self, meta: Any, c: list[Any]) -> tuple[str, Any]:
        return "annotation", c[0]

    def element_annotation(self, meta: Any, c: list[Any]) -> Any:
        return c[0]

    def import_as(self, meta: Any, c: list[Any]) -> s.Import:
        return s.Import(self._at(meta), str(c[0]), c[1].names)

    def import_name(self, meta: Any, c: list[Any]) -> s.Import:
        return s.Import(self._at(meta), c[0].names[-1], c[0].names)

    def import_all(self, meta: Any, c: list[Any]) -> s.Import:
        return s.Import(self._at(meta), "*", c[0].names)

    def import_list(self, meta: Any, c: list[Any]) -> list[s.Import]:
        name, _, *aliases, _ = c
        return [s.Import(self._at(meta), str(alias), (*name.names, str(alias))) for alias in aliases]

    def extends_clause(self, meta: Any, c: list[Any]) -> s.Extends:
        at = self._at(meta)
        return s.Extends(at, c[0], s.Modification(at, _given_once(c[1])))

    def class_element(self, meta: Any, c: list[Any]) -> s.Class:
        *prefixes, definition, constraint, _ = c
        return dataclasses.replace(self._prefixed(definition, prefixes), constraint=constraint)

    def component_element(self, meta: Any, c: list[Any]) -> list[s.Component]:
        *prefixes, components, constraint, _ = c
        return [
            dataclasses.replace(component, prefixes=frozenset(prefixes), constraint=constraint)
            for component in components
        ]

    def constraining(self, meta: Any, c: list[Any]) -> s.Extends:
        return s.Extends(self._at(meta), c[0], s.Modification(self._at(meta), _given_once(c[1])))

    def component_clause(self, meta: Any, c: list[Any]) -> list[s.Component]:
        name, dimensions, *declarations = c
        return [
            dataclasses.replace(d, type=name, dimensions=(*d.dimensions, *(dimensions or ()))) for d in declarations
        ]

    def component_declaration(self, meta: Any, c: list[Any]) -> s.Component:
        name, dimensions, modification, condition, comment = c
        at = self._at(meta)
        given = modification or s.Modification(at)
        return s.Component(
            at,
            name=str(name),
            type=s.Reference(at, ()),
            dimensions=dimensions or (),
            modification=dataclasses.replace(given, arguments=_given_once(given.arguments)),
            prefixes=frozenset(),
            condition=condition,
            doc=comment[0],
        )

    def condition(self, meta: Any, c: list[Any]) -> Any:
        return c[0]

    # -- modifications

    def modification(self, meta: Any, c: list[Any]) -> s.Modification:
        return s.Modification(self._at(meta), c[0], c[1])

    def binding(self, meta: Any, c: list[Any]) -> s.Modification:
        return s.Modification(self._at(meta), (), c[0])

    def class_modification(self, meta: Any, c: list[Any]) -> tuple[s.Argument, ...]:
        return _present(c)

    def element_modification(self, meta: Any, c: list[Any]) -> s.Argument:
        *prefixes, name, modification, _ = c
        at = self._at(meta)
        return s.Argument(at, name.names, modification or s.Modification(at), frozenset(prefixes))

    def class_redeclaration(self, meta: Any, c: list[Any]) -> s.Argument:
        *prefixes, kind, name, short, constraint = c
        at = self._at(meta)
        definition = s.Class(at, kind=str(kind), **{**short, "name": str(name)}, constraint=constraint)
        return s.Argument(at, (str(name),), s.Modification(at), frozenset(prefixes), definition)

    def component_redeclaration(self, meta: Any, c: list[Any]) -> s.Argument:
        *prefixes, type_name, component, constraint = c
        component = dataclasses.replace(component, type=type_name, prefixes=frozenset(prefixes), constraint=constraint)
        return s.Argument(
            self._at(meta), (component.name,), s.Modification(self._at(meta)), frozenset(prefixes), component
        )

    # -- equations and statements

    def equality(self, meta: Any, c: list[Any]) -> s.Node:
        left, right, _ = c
        if right is not None:
            return s.Equality(self._at(meta), left, right)
        if isinstance(left, s.Call):
            return s.CallEquation(self._at(meta), left)
        raise fault(self._at(meta), f"`{s.text(left)}` is no equation; write it as `left = right`")

    def assignment(self, meta: Any, c: list[Any]) -> s.Equality:
        return s.Equality(self._at(meta), c[0], c[1])

    def call_statement(self, meta: Any, c: list[Any]) -> s.CallEquation:
        return s.CallEquation(self._at(meta), self.call(meta, c[:2]))

    def multiple_assignment(self, meta: Any, c: list[Any]) -> s.Equality:
        return s.Equality(self._at(meta), s.Tuple(self._at(meta), tuple(c[0])), self.call(meta, c[1:3]))

    def break_statement(self, meta: Any, c: list[Any]) -> s.Jump:
        return s.Jump(self._at(meta), "break")

    def return_statement(self, meta: Any, c: list[Any]) -> s.Jump:
        return s.Jump(self._at(meta), "return")

    def connect(self, meta: Any, c: list[Any]) -> s.Connect:
        return s.Connect(self._at(meta), c[0], c[1])

    def if_equation(self, meta: Any, c: list[Any]) -> s.If:
        condition, then, *others, otherwise, _ = c
        return s.If(self._at(meta), ((condition, then), *others), otherwise or ())

    def for_equation(self, meta: Any, c: list[Any]) -> s.For:
        return s.For(self._at(meta), c[0], c[1])

    def when_equation(self, meta: Any, c: list[Any]) -> s.When:
        condition, then, *others, _ = c
        return s.When(self._at(meta), ((condition, then), *others))

    def while_statement(self, meta: Any, c: list[Any]) -> s.While:
        return s.While(self._at(meta), c[0], c[1])

    if_statement, for_statement, when_statement = if_equation, for_equation, when_equation

    def equations(self, meta: Any, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)

    statements = equations

    def elseif_equations(self, meta: Any, c: list[Any]) -> tuple[Any, Any]:
        return c[0], c[1]

    elsewhen_equations = elseif_statements = elsewhen_statements = elseif_expression = elseif_equations

    def for_indices(self, meta: Any, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)

    def for_index(self, meta: Any, c: list[Any]) -> tuple[str, Any]:
        return str(c[0]), c[1]

    # -- expressions

    def if_expression(self, meta: Any, c: list[Any]) -> s.Conditional:
        condition, then, *others, otherwise = c
        return s.Conditional(self._at(meta), ((condition, then), *others), otherwise)

    def range(self, meta: Any, c: list[Any]) -> s.Range:
        return s.Range(self._at(meta), c[0], c[-1], c[1] if len(c) == 3 else None)

    def unary(self, meta: Any, c: list[Any]) -> s.Operation:
        return s.Operation(self._at(meta), str(c[0]), (c[1],))

    def binary(self, meta: Any, c: list[Any]) -> s.Operation:
        return s.Operation(self._at(meta), str(c[1]), (c[0], c[2]))

    def number(self, meta: Any, c: list[Any]) -> s.Literal:
        return s.Literal(self._at(meta), int(c[0]) if c[0].isdigit() and len(c[0]) < 19 else float(c[0]))

    def string(self, meta: Any, c: list[Any]) -> s.Literal:
        return s.Literal(self._at(meta), _unquoted(c[0]))

    def true(self, meta: Any, c: list[Any]) -> s.Literal:
        return s.Literal(self._at(meta), True)

    def false(self, meta: Any, c: list[Any]) -> s.Literal:
        return s.Literal(self._at(meta), False)

    def end_index(self, meta: Any, c: list[Any]) -> s.EndIndex:
        return s.EndIndex(self._at(meta))

    def colon(self, meta: Any, c: list[Any]) -> s.Colon:
        return s.Colon(self._at(meta))

    def call(self, meta: Any, c: list[Any]) -> s.Call:
        function, arguments = c
        positional = tuple(a for a in arguments if isinstance(a, s.Node))
        named = tuple(a for a in arguments if not isinstance(a, s.Node))
        return s.Call(self._at(meta), function, positional, named)

    def builtin_call(self, meta: Any, c: list[Any]) -> s.Call:
        return self.call(meta, [s.Reference(self._at(meta), ((str(c[0]), ()),)), c[1]])

    def call_arguments(self, meta: Any, c: list[Any]) -> tuple[Any, ...]:
        return c[0] or ()

    def arguments(self, meta: Any, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)

    def iteration(self, meta: Any, c: list[Any]) -> tuple[s.Iteration]:
        return (s.Iteration(self._at(meta), c[0], c[1]),)

    def named_argument(self, meta: Any, c: list[Any]) -> tuple[str, Any]:
        return str(c[0]), c[1]

    def partial_function(self, meta: Any, c: list[Any]) -> s.PartialFunction:
        kind, name, *named = c
        if kind != "function":
            raise fault(self._at(meta), f"`{kind}` cannot stand here; an argument is an expression or a function")
        return s.PartialFunction(self._at(meta), name, _present(named))

    def parenthesis(self, meta: Any, c: list[Any]) -> Any:
        items = c[0]
        return items[0] if len(items) == 1 and items[0] is not None else s.Tuple(self._at(meta), tuple(items))

    def output_list(self, meta: Any, c: list[Any]) -> list[Any]:
        return c

    def matrix(self, meta: Any, c: list[Any]) -> s.Matrix:
        return s.Matrix(self._at(meta), tuple(c))

    def row(self, meta: Any, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)

    def array(self, meta: Any, c: list[Any]) -> s.Node:
        items = c[0] or ()
        wrong = next((i for i in items if not isinstance(i, s.Node)), None)
        if wrong is not None:
            raise fault(self._at(meta), f"an array has no names; remove `{wrong[0]} =`")
        return s.Array(self._at(meta), tuple(items))

    def name(self, meta: Any, c: list[Any]) -> s.Reference:
        return s.Reference(
            self._at(meta), tuple((str(t), ()) for t in c if t is not None and t.type == "IDENT"), c[0] is not None
        )

    def component_reference(self, meta: Any, c: list[Any]) -> s.Reference:
        return s.Reference(self._at(meta), tuple(p for p in c if isinstance(p, tuple)), c[0] is not None)

    def reference_part(self, meta: Any, c: list[Any]) -> tuple[str, tuple[Any, ...]]:
        return str(c[0]), c[1] or ()

    def subscripts(self, meta: Any, c: list[Any]) -> tuple[Any, ...]:
        return tuple(c)

    # -- comments

    def comment(self, meta: Any, c: list[Any]) -> tuple[str, Any]:
        return c[0], c[1]

    def string_comment(self, meta: Any, c: list[Any]) -> str:
        return "".join(_unquoted(t) for t in c if t is not None and t.type == "STRING")

    def annotation(self, meta: Any, c: list[Any]) -> s.Modification:
        return s.Modification(self._at(meta), c[0])
