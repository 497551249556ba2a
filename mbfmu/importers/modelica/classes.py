"""Classes of a user's files: packages in one file or in folders, and the lookup of names (specification, chapter 5)."""

from __future__ import annotations

import dataclasses
import pathlib

from mbfmu.importers.modelica import library
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.packages import Name, Node
from mbfmu.importers.modelica.parser import parse, read_text
from mbfmu.importers.modelica.syntax import Place, fault


@dataclasses.dataclass(frozen=True)
class Found:
    """What a name stands for: the full name and the user's class; None for what belongs to the Modelica library."""

    full: Name
    node: Node | None

    def __str__(self) -> str:
        return ".".join(self.full)


class Classes:
    """All classes that a file can see."""

    def __init__(self, path: pathlib.Path) -> None:
        """Read a file and find the packages around it.

        Raises:
            ModelError: the file cannot be read or is not Modelica.
        """
        self.path = path
        self.file = parse(read_text(path), path)
        folders: list[pathlib.Path | None] = []
        folder = path.resolve().parent
        package = path.name == "package.mo" and bool(self.file.classes)
        inner = (*self.file.within, self.file.classes[0].name) if package else self.file.within
        fits = True
        for name in reversed(inner):
            fits = fits and folder.name.split(" ")[0] == name
            folders.append(folder if fits else None)
            folder = folder.parent
        self.root = Node("", None, None, folder if fits else None)
        scope = self.root
        for name, place in zip(inner, reversed(folders), strict=True):
            known = scope.child(name)
            if known is None:
                known = Node(name, scope, None, place)
                scope.put(known)
            scope = known
        if package:
            assert scope.parent is not None
            scope = scope.parent
        self.scope = scope
        self.tops: list[Node] = []
        for definition in self.file.classes:
            node = Node(definition.name, scope, definition, path.resolve().parent if package else None)
            scope.put(node)
            self.tops.append(node)
        self._pending: set[tuple[int, str]] = set()
        self._extended: dict[tuple[int, int], Node] = {}

    # -- which class

    def models(self) -> list[Node]:
        """Classes of the file that can be simulated: models and blocks that are not partial."""
        found: list[Node] = []

        def collect(node: Node) -> None:
            definition = node.definition
            if definition is None:
                return
            if definition.kind in ("model", "block", "class") and "partial" not in definition.prefixes:
                found.append(node)
            if definition.kind in ("package", "class"):
                for child in node.own_classes():
                    collect(child)

        for top in self.tops:
            collect(top)
        return found

    # -- files of packages

    def resource(self, uri: str, at: Place) -> str:
        """Path of a file that a package brings along, `modelica://Package/file`; what is no such name stays as it is.

        Raises:
            ModelError: the package, or the file, is not there.
        """
        if not uri.startswith("modelica://"):
            return uri
        package, _, file = uri.removeprefix("modelica://").partition("/")
        node: Node | None = self.root
        for name in package.split("."):
            node = node.child(name) if node is not None else None
        if node is None or node.folder is None:
            raise fault(at, f"{uri}: the package {package} has no folder here; put it beside the file's own packages")
        path = node.folder / file
        if not path.is_file():
            raise fault(at, f"{uri}: there is no file {path}; put it there")
        return str(path)

    # -- names

    def find(self, names: Name, scope: Node, absolute: bool = False) -> Found | None:
        """What a name means in a scope: None where its first part is unknown, or a part of it in the user's classes."""
        found = self.text_of(names, scope, absolute)
        return library.normalised(found) if found is not None else None

    def text_of(self, names: Name, scope: Node, absolute: bool = False) -> Found | None:
        """The same, but a class of the library keeps the text that lies beside the file: who asks means that file."""
        found = self._first(names[0], scope) if not absolute else self._top(names[0])
        for name in names[1:]:
            if found is None:
                return None
            found = self.member(found, name)
        return found

    def _first(self, name: str, scope: Node) -> Found | None:
        level: Node | None = scope
        while level is not None and level.parent is not None:
            found = self.member(Found(level.full, level), name, guess=False)
            if found is not None:
                return found
            found = self._imported(level, name)
            if found is not None:
                return found
            if level.definition is not None and "encapsulated" in level.definition.prefixes:
                break
            level = level.parent
        found = self._top(name)
        if found is None and scope.full[:1] in (("Modelica",), ("ModelicaTest",)) and name in library.ALIASES:
            return Found(library.ALIASES[name], None)
        return found

    def _top(self, name: str) -> Found | None:
        if name == "Modelica":
            return Found((name,), self.root.child(name))
        node = self.root.child(name)
        if node is None and name not in library.PREDEFINED:
            return None
        return Found((name,), node)

    def _imported(self, level: Node, name: str) -> Found | None:
        """What a name is by import clauses; those of the name itself come before those of whole packages."""
        for clause in level.imports:
            found = self._by_clause(clause, name, level) if clause.alias == name else None
            if found is not None:
                return found
        known: Found | None = None
        for clause in level.imports:
            found = self._by_clause(clause, name, level) if clause.alias == "*" else None
            if found is not None and known is not None and found.full != known.full:
                packages = " and in ".join(".".join(f.full[:-1]) for f in (known, found))
                raise fault(
                    clause.at,
                    f"{name}: is in {packages}, which are both imported with all they have; import one by name",
                )
            known = known or found
        return known

    def _by_clause(self, clause: s.Import, name: str, level: Node) -> Found | None:
        key = (id(clause), name)
        if key in self._pending:
            return None
        self._pending.add(key)
        try:
            found = self.find(clause.name, self.root) if self._top(clause.name[0]) else None
            if found is None:  # not fully qualified, as older files have it
                found = self.find(clause.name, level.parent or self.root)
            return self.member(found, name, guess=False) if found is not None and clause.alias == "*" else found
        finally:
            self._pending.discard(key)

    def member(self, outer: Found, name: str, guess: bool = True) -> Found | None:
        """A class, constant or type in a class. `guess`: take for granted that the Modelica library has it."""
        full = (*outer.full, name)
        if outer.node is not None:
            child = outer.node.child(name)
            if child is not None:
                return Found(full, child)
            definition = outer.node.definition
            if definition is not None and any(
                isinstance(e, s.Component) and e.name == name for e in definition.elements
            ):
                return Found(full, Member(name, outer.node, None))
            inherited = self._inherited(outer.node, name)
            if inherited is not None:
                return inherited
            if definition is not None and definition.literals is not None and name in definition.literals:
                return Found(full, Member(name, outer.node, None))
        if full[0] in library.PREDEFINED and outer.node is None:
            return Found(full, None) if library.constant(full) is not None else None
        if full[0] == "Modelica" and (guess or library.has(full)):
            if outer.node is not None and outer.node.definition is not None and not library.has(full):
                return None
            return Found(full, None)
        return None

    def _inherited(self, node: Node, name: str) -> Found | None:
        for base in node.bases:
            key = (id(base), name)
            if key in self._pending:
                continue
            self._pending.add(key)
            try:
                found = self.base(base, node)
                inherited = self.member(found, name, guess=False) if found is not None else None
            finally:
                self._pending.discard(key)
            if inherited is not None:
                return inherited
        return None

    def base(self, base: s.Extends, node: Node) -> Found | None:
        """The class that an extends clause in `node` names; its own classes come after those around it."""
        key = (id(base), "")
        if key in self._pending:
            return None
        self._pending.add(key)
        try:
            is_short = node.definition is not None and node.definition.base is base
            scope = node.parent if is_short and node.parent is not None else node
            found = self.find(base.base.names, scope, base.base.absolute)
            is_package = found is not None and found.node is not None and _is_package(found.node.definition)
            if found is not None and found.node is not None and is_package and _is_package(node.definition):
                return Found(found.full, self._package(found.node, base, node, scope))
            return found
        finally:
            self._pending.discard(key)

    def _package(self, package: Node, base: s.Extends, node: Node, scope: Node) -> Node:
        """A package as the package `node` inherits it: with other values of constants, and with other classes."""
        key = id(base), id(node)
        if key in self._extended:
            return self._extended[key]
        new = Node(package.name, package.parent, package.definition, package.folder)
        self._extended[key] = new
        for argument in base.modification.arguments:
            name, changed = argument.names[0], argument.redeclared
            if self.member(Found(package.full, package), name, guess=False) is None:
                raise fault(argument.at, f"{package.name} has no {name!r}; remove it")
            if isinstance(changed, s.Class):
                new.redeclared[name] = Node(name, scope, changed)
                continue
            value = changed.modification.value if changed is not None else argument.modification.value
            if len(argument.names) > 1 or value is None:
                raise fault(argument.at, f"{'.'.join(argument.names)}: of a package only constants get another value")
            new.given[name] = value, scope
        for element in node.definition.elements if node.definition is not None else ():
            if "redeclare" not in getattr(element, "prefixes", ()):
                continue
            if isinstance(element, s.Component) and element.modification.value is not None:
                new.given[element.name] = element.modification.value, node
            elif isinstance(element, s.Class):
                own = node.child(element.name)
                assert own is not None
                new.redeclared[element.name] = own
        new.given |= node.given
        new.redeclared |= node.redeclared
        for own in new.redeclared.values():
            new.put(own)
        return new


def _is_package(definition: s.Class | None) -> bool:
    return definition is not None and definition.kind == "package"


class Member(Node):
    """A constant or an enumeration literal of a class: `parent` is the class, `name` the constant."""


def place_of(node: Node, default: pathlib.Path) -> Place:
    """Where a class begins."""
    return node.definition.at if node.definition is not None else Place(default, 1)
