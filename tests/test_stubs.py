"""Stubs of the component library: constructors complete, and definitions are found in components/."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Iterator

import jedi
import numpy as np
import pytest

import mbfmu.components  # noqa: F401  all classes of the library
from distribution.stubs import Library, sources, write_stubs
from mbfmu.modeling import Component, Parameter, Variable


def classes(of: type[Component] = Component) -> Iterator[type[Component]]:
    """All classes of components of the library."""
    for found in of.__subclasses__():
        if found.__module__.startswith("mbfmu.components"):
            yield found
        yield from classes(found)


@pytest.mark.slow
def test_constructors_of_stubs_take_what_classes_declare(root: pathlib.Path) -> None:
    library = Library(sources(root))
    seen = 0
    for found in set(classes()):
        key = (found.__module__, found.__name__)
        if key not in library.classes:  # made by a function, such as blocks.Sin: stubs leave the call
            continue
        seen += 1
        declared = {
            name
            for name, declaration in found.declarations.items()
            if isinstance(declaration, Variable) or (isinstance(declaration, Parameter) and not declaration.final)
        }
        assert library.is_component(key)
        assert set(library.taken(key)) == declared, key
    assert seen > 400


USER = """
from mbfmu import Assembly
from mbfmu.components import Body, Revolute, World, rotational
from mbfmu.modeling import Parameter, types


class Own(Revolute):
    \"\"\"A joint of one's own.\"\"\"

    friction = Parameter(types.Torque, 0.0, "Dry friction")


class Pendulum(Assembly):
    def __init__(self) -> None:
        self.world = World(g=9.81)
        self.joint = Own(friction=2.0, n=(0, 0, 1))
        self.body = Body(m=1.0, r_CM=(0.5, 0, 0))
        self.inertia = rotational.Inertia(J=1.0)
        self.connect(self.world.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.body.frame_a)
"""


@pytest.fixture(scope="module")
def tree(root: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The package as it is installed, with stubs."""
    tree = tmp_path_factory.mktemp("tree")
    package = tree / "mbfmu"
    package.mkdir()
    for path in (root / "mbfmu").iterdir():
        (package / path.name).symlink_to(path)
    (package / "components").mkdir()
    for path in (root / "components").rglob("*.py"):
        link = package / "components" / path.relative_to(root / "components")
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(path)
    write_stubs(root, tree)
    return tree


@pytest.mark.slow
@pytest.mark.campaign
def test_an_editor_completes_and_finds_the_definition(root: pathlib.Path, tree: pathlib.Path) -> None:
    project = jedi.Project(tree, sys_path=[str(tree)])
    text = "from mbfmu.components import Revolute\nRevolute(phi_o"
    script = jedi.Script(text, path=tree / "user.py", project=project)
    assert [c.name for c in script.complete(2, 14)] == ["phi_offset="]
    (signature,) = script.get_signatures(2, 14)
    assert [p.name for p in signature.params][:3] == ["useAxisFlange", "n", "phi_offset"]
    (definition,) = script.goto(2, 3, follow_imports=True)
    assert definition.module_path.resolve() == root / "components" / "joints" / "elementary.py"


@pytest.mark.slow
@pytest.mark.campaign  # make lint checks the library's own types
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="a bare ndarray is strict from NumPy 2.3 on")
def test_a_users_file_passes_strict_checks(root: pathlib.Path, tree: pathlib.Path, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "user.py"
    file.write_text(USER)
    # Older versions of CasADi have no types.
    cache = root / "build" / "mypy"  # of libraries, which take most of the time
    options = ["--strict", f"--cache-dir={cache}", "--disable-error-code=import-untyped"]
    command = [sys.executable, "-m", "mypy", *options, str(file)]
    done = subprocess.run(command, cwd=tmp_path, env={"MYPYPATH": str(tree)}, capture_output=True, text=True)
    assert "checked 1 source file" in done.stdout or done.returncode == 0
    assert [line for line in done.stdout.splitlines() if "user.py" in line or ".pyi:" in line] == []
