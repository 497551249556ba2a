"""docs/architecture.md and the pages behind it keep up with the code: folders, modules, contract, new components."""

from __future__ import annotations

import ast
import dataclasses
import functools
import graphlib
import importlib
import pathlib
import re
from collections.abc import Iterator

import numpy as np
import pytest

from mbfmu.components import Body, PointMass, Prismatic, World
from mbfmu.modeling import Assembly, Start
from mbfmu.runtime import contract
from mbfmu.runtime.equations import Equations
from mbfmu.simulation import simulate


@pytest.fixture(scope="module")
def page(root: pathlib.Path) -> str:
    """Return the text of the entrance."""
    return (root / "docs" / "architecture.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def contract_page(root: pathlib.Path) -> str:
    """Return the text of the page of the contract."""
    return (root / "docs" / "architecture" / "contract.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def components_page(root: pathlib.Path) -> str:
    """Return the text of the page of components."""
    return (root / "docs" / "architecture" / "components.md").read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    """Return the text under a heading."""
    return page.partition(f"\n## {title}")[2].partition("\n## ")[0]


def table(text: str) -> list[list[str]]:
    """Return the cells of the rows of all tables in a text."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]


def test_the_contract_names_every_field(contract_page: str) -> None:
    words = set(re.findall(r"\w+", contract_page))
    assert {field.name for field in dataclasses.fields(Equations)} - words == set()


def test_the_tables_are_those_of_the_contract(contract_page: str) -> None:
    assert contract.page() in contract_page


def test_the_entrance_is_short_and_leads_to_every_page_behind_it(page: str, root: pathlib.Path) -> None:
    assert len(page.split()) <= 1500
    behind = {f"architecture/{file.name}" for file in (root / "docs" / "architecture").iterdir()}
    assert behind - set(re.findall(r"\]\(([^)#]+)\)", page)) == set()


def test_every_module_that_pages_name_exists(page: str, root: pathlib.Path) -> None:
    folders = ("mbfmu", "components", "templates", "docs", "tests")
    files = (file for folder in folders for file in (root / folder).rglob("*.*"))
    known = {file.name for file in files if "node_modules" not in file.parts}
    known |= {"model.c", "model.h", "elimination.h", *contract.sources()}  # written for a model, from the contract
    pages = [page, *(file.read_text("utf-8") for file in (root / "docs" / "architecture").iterdir())]
    pages += [(root / "docs" / "explanation" / "glossary.md").read_text("utf-8")]
    prose = [re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE) for text in pages]
    named = {name for text in prose for name in re.findall(r"\b(\w+\.(?:py|c|h|js|mo|lark))\b", text)}
    assert named - known == set()


def test_the_glossary_knows_names_of_two_classes(root: pathlib.Path) -> None:
    glossary = (root / "docs" / "explanation" / "glossary.md").read_text("utf-8")
    classes = [
        name
        for folder in ("mbfmu", "components/contact", "components/flexible", "components/vehicle")
        for file in (root / folder).rglob("*.py")
        for name in re.findall(r"^class ([A-Z]\w*)", file.read_text("utf-8"), re.MULTILINE)
    ]
    assert [name for name in sorted(set(classes)) if classes.count(name) > 1 and f"`{name}`" not in glossary] == []


class Hanging(Assembly):
    """Something on a slide along x, with a part between the ground and it."""

    def __init__(self, mass, between=None):
        self.world, self.mass = World(gravityType="NoGravity"), mass
        self.slide = Prismatic(s=Start(0.5, fixed=True), v=Start(0.0, fixed=True))
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.mass.frame_a)
        if between is not None:
            self.between = between
            self.connect(self.world.frame_b, self.between.frame_a)
            self.connect(self.between.frame_b, self.mass.frame_a)


def added(page: str, path: str) -> str:
    """Return the lines that a diff of the page adds to a file."""
    diff = page.partition(f"+++ b/{path}\n")[2]
    lines = re.split(r"^(?:--- |```)", diff, maxsplit=1, flags=re.M)[0].splitlines()
    return "\n".join(line[1:] for line in lines if line.startswith("+"))


def test_the_new_joint_works_as_shown(components_page: str) -> None:
    names: dict = {}
    exec(added(components_page, "components/joints/screw.py"), names)

    class Jack(Assembly):
        def __init__(self):
            self.world = World(n=(0, 0, -1), g=10.0)
            self.screw = names["Screw"](lead=0.1, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
            self.nut = Body(m=2.0, r_CM=(0, 0, 0), I_11=0.01, I_22=0.01, I_33=0.01)
            self.connect(self.world.frame_b, self.screw.frame_a)
            self.connect(self.screw.frame_b, self.nut.frame_a)

    h = 0.1 / (2 * np.pi)
    result = simulate(Jack(), 0.5)
    np.testing.assert_allclose(result["screw.w"], -20 * h / (0.01 + 2 * h**2) * result.time, rtol=1e-6, atol=1e-9)


def test_the_new_force_works_as_shown(components_page: str) -> None:
    names = dict(vars(importlib.import_module("mbfmu.components.forces.springs")))
    exec(added(components_page, "components/forces/springs.py"), names)
    spring = names["HardeningSpring"](c=2.0, c3=40.0)
    result = simulate(Hanging(PointMass(m=1.0), spring), 0.2, tolerance=1e-9)
    s, v = result["slide.s"], result["slide.v"]
    energy = v**2 / 2 + 2.0 * s**2 / 2 + 40.0 * s**4 / 4
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)
    assert v[-1] < -0.5


def test_the_new_domain_works_as_shown(components_page: str) -> None:
    names: dict = {}
    exec(added(components_page, "components/hydraulic.py"), names)

    class Discharge(Assembly):
        def __init__(self):
            self.vessel = names["Vessel"](C=0.5, p=Start(3.0, fixed=True))
            self.short, self.pipe, self.sea = names["Pipe"](R=0.0), names["Pipe"](R=4.0), names["Sea"]()
            self.connect(self.vessel.port, self.short.port_a)
            self.connect(self.short.port_b, self.pipe.port_a)
            self.connect(self.pipe.port_b, self.sea.port)

    result = simulate(Discharge(), 1.0, tolerance=1e-9)
    np.testing.assert_allclose(result["vessel.p"], 3.0 * np.exp(-result.time / 2.0), rtol=1e-7)


@pytest.mark.parametrize("name", ["Screw", "HardeningSpring"])
def test_the_diffs_name_what_packages_list(components_page: str, name: str) -> None:
    assert f'+    "{name}",' in components_page
    assert re.search(rf"^\+from mbfmu\.components\.\w+\.\w+ import .*\b{name}\b", components_page, re.M)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within a node; most nodes of a module are expressions, in which nothing is imported."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield child
            yield from statements(child)


@functools.cache
def module_imports(root: pathlib.Path) -> dict[str, set[str]]:
    """Return the modules of the package that each of them imports: anywhere in it, for type checking, too."""
    folders = {"mbfmu": "mbfmu", **{f"mbfmu.{name}": name for name in ("components", "fmus", "templates")}}
    files = {
        ".".join((package, *file.relative_to(root / folder).with_suffix("").parts)).removesuffix(".__init__"): file
        for package, folder in folders.items()
        for file in (root / folder).rglob("*.py")
        if "node_modules" not in file.parts
    }
    found: dict[str, set[str]] = {name: set() for name in files}
    for name, file in files.items():
        package = name if file.stem == "__init__" else name.rpartition(".")[0]
        for node in statements(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                base = package.rsplit(".", node.level - 1)[0] if node.level else ""
                module = ".".join(filter(None, (base, node.module)))
                members = {f"{module}.{alias.name}" for alias in node.names}
                found[name] |= {member if member in files else module for member in members}
    return {name: {module for module in modules if module in files} - {name} for name, modules in found.items()}


def package_of(module: str) -> str:
    """Return the package of a module: `runtime` of `mbfmu.runtime.run`; `mbfmu` of what is in none."""
    return module.split(".")[1] if "." in module else module


def misplaced(page: str, imports: dict[str, set[str]]) -> list[str]:
    """Return the imports of the package that do not run downwards in the page's table."""
    rows = [re.findall(r"mbfmu[/.](\w+)", row[0]) for row in table(section(page, "Folders"))[2:]]
    place = {name: number for number, names in enumerate(rows) for name in names}
    packages = {package_of(name) for name in imports} - {"mbfmu", "__main__"}
    assert sorted(name for names in rows for name in names) == sorted(packages)
    return [
        f"{name} imports {other}"
        for name, others in imports.items()
        for other in others
        if package_of(name) in packages and package_of(name) != package_of(other)
        if package_of(other) == "mbfmu" or place[package_of(other)] <= place[package_of(name)]
    ]


@pytest.mark.slow
def test_packages_import_downwards_in_the_table_only(page: str, root: pathlib.Path) -> None:
    imports = module_imports(root)
    assert misplaced(page, imports) == []
    assert [name for name, others in imports.items() if any(package_of(other) == "components" for other in others)
            and package_of(name) not in ("components", "fmus")] == []  # fmt: skip
    assert misplaced(page, imports | {"mbfmu.modeling.units": {"mbfmu.runtime.run", "mbfmu.errors"}}) == [
        "mbfmu.modeling.units imports mbfmu.runtime.run"
    ]
    assert misplaced(page, imports | {"mbfmu.simulation": {"mbfmu.validation"}})  # of one row


@pytest.mark.slow
def test_no_module_imports_what_imports_it(root: pathlib.Path) -> None:
    imports = module_imports(root)
    structure = "mbfmu.dynamics.structure"
    assert imports[f"{structure}.equation_graph"] >= {f"{structure}.quantities", f"{structure}.scalar_graph"}
    within = {name: others for name, others in imports.items() if package_of(name) not in ("components", "fmus")}
    list(graphlib.TopologicalSorter(within).static_order())  # CycleError names the circle
