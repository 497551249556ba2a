"""Packages of a user's files: in one file, or a folder for each (specification, section 13.4)."""

from __future__ import annotations

import pathlib

from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.parser import parse, read_text

Name = tuple[str, ...]


def _folders(folder: pathlib.Path, name: str) -> list[pathlib.Path]:
    """Folders of a package: `Name`, or `Name 1.2` with its version."""
    plain = folder / name
    versions = sorted(folder.glob(f"{name} [0-9]*"))
    return [f for f in (plain, *versions) if f.is_dir()]


class Node:
    """A class of the user's, or a package that only contains one; its classes are read when they are asked for."""

    def __init__(
        self, name: str, parent: Node | None, definition: s.Class | None, folder: pathlib.Path | None = None
    ) -> None:
        self.name, self.parent, self.definition, self.folder = name, parent, definition, folder
        self._children: dict[str, Node | None] = {}
        self._definitions: dict[str, s.Class] = {}
        self.imports: list[s.Import] = []
        self.bases: list[s.Extends] = []
        #: Values that the package which extends this one gives constants, each with the place of its expression.
        self.given: dict[str, tuple[s.Node, Node]] = {}
        #: Classes that it has in place of this one's.
        self.redeclared: dict[str, Node] = {}
        if definition is not None:
            self._read(definition)

    def _read(self, definition: s.Class) -> None:
        for element in definition.elements:
            if isinstance(element, s.Class):
                self._definitions[element.name] = element
            elif isinstance(element, s.Import):
                self.imports.append(element)
            elif isinstance(element, s.Extends):
                self.bases.append(element)
        if definition.base is not None:
            self.bases.append(definition.base)

    @property
    def full(self) -> Name:
        """Full name, () for the root of all packages."""
        return (*self.parent.full, self.name) if self.parent is not None else ()

    def child(self, name: str) -> Node | None:
        """The class of that name which the class itself defines, in its file or its folder."""
        if name not in self._children:
            definition = self._definitions.get(name)
            if definition is not None:
                self._children[name] = Node(name, self, definition)
            else:
                self._children[name] = self._load(name) if self.folder is not None else None
        return self._children[name]

    def _load(self, name: str) -> Node | None:
        assert self.folder is not None
        if not name.isidentifier():
            return None
        for folder in _folders(self.folder, name):
            package = folder / "package.mo"
            if package.is_file():
                return self._from_file(package, name, folder)
        file = self.folder / f"{name}.mo"
        if file.is_file():
            return self._from_file(file, name, None)
        for folder in _folders(self.folder, name):
            if any(folder.rglob("*.mo")):
                return Node(name, self, None, folder)
        return None

    def _from_file(self, path: pathlib.Path, name: str, folder: pathlib.Path | None) -> Node | None:
        definition = next((c for c in parse(read_text(path), path).classes if c.name == name), None)
        return Node(name, self, definition, folder) if definition is not None else None

    def own_classes(self) -> list[Node]:
        """Classes that the class's own text defines."""
        names = dict.fromkeys((*self._definitions, *self._children))
        return [c for c in map(self.child, names) if c is not None and c.definition is not None]

    def put(self, node: Node) -> None:
        """Make `node` a class of this one."""
        self._children[node.name] = node
