"""Stubs of the component library: its modules with constructors that name what a component takes.

A component declares its parameters as class attributes, and `Component.__init__` takes them as keyword arguments, which
an editor cannot see. A stub (PEP 484) says it in the editor's words: `def __init__(self, *, m: Any = ..., ...)`. Stubs
are made from the text alone, for nothing that mbfmu needs is there where a wheel is built; they stand beside the
modules in wheels and in the tree of an editable install, not in the checkout.
"""

from __future__ import annotations

import ast
import pathlib
import sys
from collections.abc import Iterator, Mapping

#: Declarations that a constructor takes, by the name of their class in mbfmu.modeling; `Final` ones it does not.
PARAMETERS = frozenset({"Parameter"})
VARIABLES = frozenset(
    {
        *("Coordinate", "DiscreteState", "Impulse", "Multiplier", "NetworkVariable"),
        *("Quaternion", "Speed", "State", "Variable"),
    }
)

#: The package whose modules get stubs, and the class whose subclasses get constructors.
PACKAGE = "mbfmu.components"
BASE = ("mbfmu.modeling", "Component")

Key = tuple[str, str]


class Library:
    """The modules of the package, by name: which classes there are, and what each takes."""

    def __init__(self, files: Mapping[str, pathlib.Path]) -> None:
        self.trees = {name: ast.parse(file.read_text("utf-8")) for name, file in files.items()}
        self.classes = {
            (name, node.name): node
            for name, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
        }
        self.names = {name: dict(self._imported(name)) for name in self.trees}

    def _imported(self, module: str) -> Iterator[tuple[str, str]]:
        """Names that a module imports, each with the dotted name of what it is."""
        for node in ast.walk(self.trees[module]):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if alias.name != "*":
                        yield alias.asname or alias.name, f"{node.module}.{alias.name}"
                    elif node.module in self.trees:
                        yield from ((n, f"{node.module}.{n}") for n in self._defined(node.module))
            elif isinstance(node, ast.Import):
                yield from ((alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names)

    def _defined(self, module: str) -> Iterator[str]:
        for owner, name in self.classes:
            if owner == module:
                yield name
        yield from (name for name, _ in self._imported(module))

    def find(self, module: str, expression: ast.expr) -> Key | None:
        """The class that an expression of a module names, as (module, name); None for what is not known."""
        dotted = ast.unparse(expression)
        first, _, rest = dotted.partition(".")
        if (module, dotted) in self.classes:
            return module, dotted
        if first not in self.names[module]:
            return None
        whole = ".".join(filter(None, (self.names[module][first], rest)))
        owner, _, name = whole.rpartition(".")
        if whole in self.trees:  # a module
            return None
        if (owner, name) == BASE or (owner, name) in self.classes:
            return owner, name
        if owner in self.trees and name in self.names[owner]:
            return self.find(owner, ast.Name(name))
        return None

    def is_component(self, key: Key) -> bool:
        """True where a class is a Component."""
        return key == BASE or any(self.is_component(base) for base in self._bases(key))

    def _bases(self, key: Key) -> list[Key]:
        node = self.classes.get(key)
        found = [self.find(key[0], base) for base in node.bases] if node is not None else []
        return [base for base in found if base is not None]

    def taken(self, key: Key) -> dict[str, ast.Call | None]:
        """What the constructor of a class takes: names, each with its declaration where that stands there.

        What the class itself declares comes first.
        """
        inherited: dict[str, ast.Call | None] = {}
        for base in reversed(self._bases(key)):
            inherited |= self.taken(base)
        own: dict[str, ast.Call | None] = {}
        for name, kind, value in self._declared(key) if key in self.classes else ():
            inherited.pop(name, None)
            if kind in PARAMETERS | VARIABLES:
                own[name] = value
        return own | inherited

    def _declared(self, key: Key) -> Iterator[tuple[str, str, ast.Call | None]]:
        """Attributes of a class that are declarations: name, kind, the call that makes them."""
        for node in self.classes[key].body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            value = getattr(node, "value", None)
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            values = value.elts if isinstance(value, ast.Tuple) else [value] * len(targets)
            for one, of in zip(targets, values, strict=False):
                if isinstance(one, ast.Name) and of is not None:
                    yield (one.id, *self._kind(key[0], of))

    def _kind(self, module: str, value: ast.expr) -> tuple[str, ast.Call | None]:
        if isinstance(value, ast.Attribute):  # a declaration of another class
            owner = self.find(module, value.value)
            found = owner and {name: (kind, call) for name, kind, call in self._declared(owner)}.get(value.attr)
            return found or ("", None)
        if not isinstance(value, ast.Call):
            return "", None
        function = value.args[0] if ast.unparse(value.func) == "map" else value.func
        name = ast.unparse(function).rpartition(".")[2]
        for node in self.trees[module].body:  # a function of the module that makes declarations
            if isinstance(node, ast.FunctionDef) and node.name == name and node.returns is not None:
                return ast.unparse(node.returns), None
        return name, value


def constructor(taken: Mapping[str, ast.Call | None], given: ast.FunctionDef | None) -> ast.FunctionDef:
    """The constructor of a class that takes these names; `given`: the one that it has itself."""
    own = [] if given is None else [ast.unparse(a) for a in given.args.args[1:]]
    arguments = ", ".join(
        ["self", *(f"{name} = ..." for name in own), "*", *(f"{name}: Any = ..." for name in taken), "**modifiers: Any"]
    )
    if not taken:
        arguments = arguments.replace(", *,", ",")
    lines = [f"{name}: {told}" for name, call in taken.items() for told in [_told(call)] if told]
    text = "\n    ".join(["Args:", *(f"    {line}" for line in lines)]) if lines else ""
    (made,) = ast.parse(f"def __init__({arguments}) -> None: ...").body
    assert isinstance(made, ast.FunctionDef)
    if text:
        made.body.insert(0, ast.Expr(ast.Constant(f"{text}\n    ")))
    return made


def _told(call: ast.Call | None) -> str:
    """The sentence of a declaration, and its default."""
    if call is None:
        return ""
    sentences = [a.value for a in call.args[1:] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    sentence = sentences[-1] if sentences else ""
    if ast.unparse(call.func) in PARAMETERS and len(call.args) > 1:
        default = call.args[1]
        shown = "from other parameters" if isinstance(default, ast.Lambda) else ast.unparse(default)
        sentence += " (required)" if shown == "required" else f" (default: {shown})"
    return sentence


class _Stub(ast.NodeTransformer):
    """A module without what its functions do, with constructors."""

    def __init__(self, library: Library, module: str) -> None:
        self.library, self.module = library, module

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        doc = ast.get_docstring(node, clean=False)
        node.body = [ast.Expr(ast.Constant(doc))] if doc else [ast.Expr(ast.Constant(...))]
        node.args.defaults = [ast.Constant(...) for _ in node.args.defaults]
        node.args.kw_defaults = [d and ast.Constant(...) for d in node.args.kw_defaults]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        # In a stub, `A = B | C` is a type.
        if isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.BitOr):
            return ast.AnnAssign(node.targets[0], ast.Name("Any"), None, 1)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        key = (self.module, node.name)
        given = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        is_component = self.library.is_component(key)
        if is_component and (given is None or given.args.kwarg is not None):
            made = constructor(self.library.taken(key), given)
            node.body = [n for n in node.body if n is not given]
            self.generic_visit(node)
            node.body.append(made)
        else:
            self.generic_visit(node)
        node.body = node.body or [ast.Expr(ast.Constant(...))]
        return node


def stub(library: Library, module: str) -> str:
    """The stub of a module."""
    tree = ast.parse(ast.unparse(library.trees[module]))
    kept = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.ClassDef, ast.FunctionDef)
    tree.body = [n for k, n in enumerate(tree.body) if isinstance(n, kept) or (k == 0 and isinstance(n, ast.Expr))]
    names = {alias.name for n in tree.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    tree = ast.fix_missing_locations(_Stub(library, module).visit(tree))
    if "Any" not in names:
        place = 1 if isinstance(tree.body[0], ast.Expr) else 0
        tree.body.insert(place + _futures(tree.body[place:]), ast.parse("from typing import Any").body[0])
    return ast.unparse(tree) + "\n"


def _futures(nodes: list[ast.stmt]) -> int:
    return sum(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in nodes)


def sources(root: pathlib.Path) -> dict[str, pathlib.Path]:
    """The modules below a folder that holds the package `components`, by name."""
    found = {}
    for file in sorted((root / "components").rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        found[".".join(("mbfmu", *(parts[:-1] if parts[-1] == "__init__" else parts)))] = file
    return found


def stub_names(root: pathlib.Path) -> dict[str, pathlib.Path]:
    """Where in a tree that holds `mbfmu` the stubs of the library of a checkout stand, by module.

    Packages have none: a stub hands on only the names that it imports as themselves.
    """
    return {
        module: pathlib.Path("mbfmu") / file.relative_to(root).with_suffix(".pyi")
        for module, file in sources(root).items()
        if file.name != "__init__.py"
    }


def write_stubs(root: pathlib.Path, target: pathlib.Path) -> list[pathlib.Path]:
    """Write the stubs of the library of a checkout into the tree `target`, which holds `mbfmu`; return the files."""
    library = Library(sources(root))
    written = []
    for module, name in stub_names(root).items():
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(stub(library, module), "utf-8")
        written.append(place)
    return written


if __name__ == "__main__":
    print(f"{len(write_stubs(pathlib.Path('.'), pathlib.Path(sys.argv[1])))} stubs in {sys.argv[1]}")
