"""Assemblies as Python and TOML: what is written says the same, and what cannot be written is named."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import mbfmu
from mbfmu.components import Body, Prismatic, Revolute, World, blocks, joints, rotational, translational, vehicle
from mbfmu.components.interfaces import Flange_a
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Parameter, RealInput, Start, types
from mbfmu.modeling.connectors import Reference
from mbfmu.modeling.writing import to_python, to_toml, write

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = (
    "bevel_gear",
    "double_pendulum",
    "four_bar",
    "free_body",
    "furuta_pendulum",
    "heat_losses",
    "rolling_wheel",
    "vehicle",
    "scara",
    str(ROOT / "fmus" / "scara" / "scara.urdf"),
    str(ROOT / "tests" / "importers" / "mjcf" / "actuators.xml"),
    str(ROOT / "tests" / "importers" / "mjcf" / "welded.xml"),
)


def sample(system: System) -> list[np.ndarray]:
    """Functions of a System at a random state."""
    e, random = system.equations, np.random.default_rng(3)
    p = e.vector("parameters")
    P = np.concatenate([p, np.array(e.functions["derived"](p)).ravel()])
    x, u, m, w = random.uniform(-0.5, 0.5, e.nx), random.uniform(-1, 1, e.nu), np.zeros(e.nm), random.normal(size=e.nw)
    A, b = e.functions["dynamics"](0.1, x, u, P, m)
    results = [e.functions[name](0.1, x, u, P, m, w) for name in ("derivatives", "variables", "crossings")]
    return [np.array(value) for value in (P, A, b, *results, e.functions["guess"](P))]


def same(one: System, other: System) -> None:
    assert [dataclass_of(v) for v in one.variables] == [dataclass_of(v) for v in other.variables]
    assert (one.equations.start_time, one.equations.stop_time, one.equations.tolerance, one.equations.solver) == (
        other.equations.start_time,
        other.equations.stop_time,
        other.equations.tolerance,
        other.equations.solver,
    )
    for a, b in zip(sample(one), sample(other), strict=True):
        assert np.array_equal(a, b, equal_nan=True)


def dataclass_of(variable: object) -> tuple[object, ...]:
    return tuple(getattr(variable, name) for name in ("name", "causality", "variability", "start", "store", "index"))


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: pathlib.Path(source).name)
def test_python_and_toml_say_the_same(source: str, tmp_path: pathlib.Path) -> None:
    assembly = mbfmu.load(source)
    python, toml, again = tmp_path / "one.py", tmp_path / "two.toml", tmp_path / "three.py"
    write(assembly, python)
    write(mbfmu.load(python), toml)
    write(mbfmu.load(toml), again)
    system = System.of(assembly)
    same(system, System.of(mbfmu.load(python)))
    same(system, System.of(mbfmu.load(toml)))
    assert python.read_text() == again.read_text()
    assert max(map(len, python.read_text().splitlines())) <= 120


class Everything(Assembly):
    """Names, arrays, slices and "quotes".

    A second paragraph.
    """

    start_time = 0.5
    stop_time = 2.0
    tolerance = 1e-8
    solver = "implicit"

    def __init__(self) -> None:
        self.world = World(gravityType="NoGravity")
        self.axis = Flange_a('Axis "A"', motion=True)
        self.hinge = Revolute(useAxisFlange=True)
        self.body = Body(m=Start(1.0, fixed=None), r_CM=(0.1, 0, 0))
        self.gears = [rotational.IdealGear(ratio=2.0), rotational.IdealGear(ratio=-3.0)]
        self.add("input", joints.constraints.Revolute(n=(0, 1, 0)))
        self.sum = blocks.Sum(nin=3)
        self.one = blocks.Constant(k=(1.0, 2.0, 3.0))
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.body.frame_a)
        self.connect(self.world.frame_b, self.parts["input"].frame_a)
        self.connect(self.body.frame_a, self.parts["input"].frame_b)
        self.connect(self.axis, self.gears[0].flange_a)
        self.connect(self.gears[0].flange_b, self.gears[1].flange_a)
        self.connect(self.gears[1].flange_b, self.hinge.axis)
        self.input(self.sum.u[0:2], "pair", start=[0.5, 0.25])
        self.connect(self.one.y[2], self.sum.u[2])
        self.output(self.hinge.phi, "angle")
        self.output(self.body.r_0[1])
        self.output(self.body.frame_a.R.T[0, 1])
        self.output(self.gears[1].phi_a)
        self.output(self.sum.y)
        self.output(Reference(self, "body.m"))


def test_python_writes_names_arrays_slices_and_flanges(tmp_path: pathlib.Path) -> None:
    text = to_python(Everything())
    for line in (
        "from mbfmu.components.joints import constraints",
        '        self.axis = interfaces.Flange_a("Axis \\"A\\"", motion=True)',
        "        self.gears = [",
        "            rotational.IdealGear(ratio=-3.0),",
        '        self.add("input", constraints.Revolute(n=(0.0, 1.0, 0.0)))',
        '        self.connect(self.world.frame_b, self.parts["input"].frame_a)',
        "        self.connect(self.gears[0].flange_b, self.gears[1].flange_a)",
        '        self.input(self.sum.u[0:2], "pair", start=(0.5, 0.25))',
        "        self.connect(self.one.y[2], self.sum.u[2])",
        '        self.output(self.hinge.phi, "angle")',
        "        self.output(self.body.r_0[1])",
        "        self.output(self.body.frame_a.R.T[0, 1])",
        '        self.output(Reference(self, "body.m"))',
        '    solver = "implicit"',
    ):
        assert line in text.splitlines()
    path = tmp_path / "everything.py"
    path.write_text(text)
    assert mbfmu.load(path).tolerance == 1e-8
    assert to_python(mbfmu.load(path)) == text


@pytest.mark.parametrize(
    ("name", "written"), [("World", "Model_World"), ("2legs", "Model_2legs"), ("class", "Model_class"), ("arm", "arm")]
)
def test_the_class_hides_nothing_that_it_uses(name: str, written: str) -> None:
    assembly = type(name, (Assembly,), {})()
    assembly.world = World()
    assert f"class {written}(Assembly):" in to_python(assembly)


def test_toml_writes_elements_from_one() -> None:
    class Signals(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.sum = blocks.Sum(nin=4)
            self.two = blocks.Constant(k=(1.0, 2.0))
            self.connect(self.two.y, self.sum.u[1:3])
            self.connect(self.two.y[1], self.sum.u[3])
            self.input(self.sum.u[0], "first", start=0.25)
            self.output(self.sum.y, "total")

    text = to_toml(Signals())
    for entry in (
        'a = "two.y"\nb = "sum.u[2:3]"',
        'a = "two.y[2]"\nb = "sum.u[4]"',
        'name = "first"\nvariable = "sum.u[1]"\nstart = 0.25',
        'name = "total"\nvariable = "sum.y"',
    ):
        assert entry in text


class Several(Assembly):
    """Arrays of several signals, a slice among them."""

    def __init__(self) -> None:
        self.sum, self.other = blocks.Sum(nin=3), blocks.Sum(nin=2)
        self.input([self.sum.u[0], self.other.u[1]], "ends", start=[0.5, 0.25])
        self.input(self.sum.u[1:3], "middle")
        self.input(self.other.u[0])
        self.output([self.sum.y, self.other.y], "sums")


def test_arrays_of_several_signals_come_back(tmp_path: pathlib.Path) -> None:
    python, toml = tmp_path / "several.py", tmp_path / "several.toml"
    python.write_text(to_python(Several()))
    toml.write_text(to_toml(Several()))
    assert 'self.input([self.sum.u[0], self.other.u[1]], "ends", start=(0.5, 0.25))' in python.read_text()
    assert 'self.output([self.sum.y, self.other.y], "sums")' in python.read_text()
    assert 'name = "ends"\nvariable = ["sum.u[1]", "other.u[2]"]\nstart = [0.5, 0.25]' in toml.read_text()
    assert 'name = "middle"\nvariable = "sum.u[2:3]"' in toml.read_text()
    wanted = System.of(Several())
    for path in (python, toml):
        system = System.of(mbfmu.load(path))
        for one, other in zip(wanted.variables, system.variables, strict=True):
            assert (one.name, one.start, one.element, one.causality) == (
                other.name, other.start, other.element, other.causality
            )  # fmt: skip


def test_modifiers_of_parts_of_parts_are_kept() -> None:
    class Slide(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.plane = joints.Planar(n=(0, 1, 0), prismatic_x={"s": Start(0.3, fixed=True)})
            self.body = Body(m=1.0, r_CM=(0, 0, 0))

    text = to_python(Slide())
    assert 'self.plane = Planar(n=(0.0, 1.0, 0.0), prismatic_x={"s": Start(0.3, fixed=True)})' in text
    assert "prismatic_x = { s = { start = 0.3, fixed = true } }" in to_toml(Slide())


@pytest.mark.parametrize(
    ("start", "written"),
    [
        (Start(0.0, fixed=True), ""),
        (Start(0.0, fixed=False), 'lower={"phi": Start(0.0, fixed=False)}'),
        (Start(0.1, fixed=True), 'lower={"phi": Start(0.1, fixed=True)}'),
    ],
    ids=["the same", "free", "another"],
)
def test_starts_of_parts_are_written_where_the_class_has_others(start: Start, written: str) -> None:
    """Of a suspension whose arms are fixed at 0 by itself."""

    class Corner(Assembly):
        def __init__(self) -> None:
            self.world, self.corner = World(), vehicle.DoubleWishbone()
            self.corner.lower.modify(phi=start)

    (line,) = (line for line in to_python(Corner()).splitlines() if "self.corner = " in line)
    assert line.strip() == f"self.corner = vehicle.DoubleWishbone({written})"


def test_what_cannot_be_written_is_named(tmp_path: pathlib.Path) -> None:
    class Inner(Assembly):
        pass

    def refused(make: object, message: str, writer: object = to_python) -> None:
        class Outer(Assembly):
            m = Parameter(types.Mass, 1.0, "Mass") if make is None else None

            def __init__(self) -> None:
                self.world = World()
                if make is not None:
                    make(self)  # type: ignore[operator]

        with pytest.raises(ModelError, match=message):
            writer(Outer())  # type: ignore[operator]

    refused(None, "declarations of its own")
    refused(lambda a: setattr(a, "inner", Inner()), "inner: Inner is an assembly inside this one")
    refused(lambda a: setattr(a, "world", World(lambda r: [0, 0, 0])), r"own \(gravityAcceleration\)")
    refused(
        lambda a: (setattr(a, "m1", translational.Mass(m=1.0)), setattr(a, "m2", translational.Mass(m=2 * a.m1.m))),
        r"m2\.m: is an expression of other parameters",
    )
    refused(lambda a: setattr(a, "signal", RealInput()), r"Outer\.signal: a signal connector of an assembly cannot be")

    def uneven(a: Assembly) -> None:
        a.sum, a.one = blocks.Sum(nin=3), blocks.Multiplex(n=2)
        a.connect(a.one.y, a.sum.u[::2])

    refused(uneven, r"sum\.u: elements \(0, 2\) are no slice, which cannot be written")
    refused(uneven, r"sum\.u: elements \(0, 2\) are no slice, which cannot be written", to_toml)

    def with_another(a: Assembly) -> None:
        a.plane = joints.Planar()
        a.plane.add("another", Revolute())

    refused(with_another, r"plane: has other parts than its class gives it, which cannot be written")
    refused(lambda a: a.add("slide", Prismatic(), when=lambda self: False), "slide: exists on a condition")
    refused(lambda a: setattr(a, "axis", Flange_a()), "assembly files have no connectors of their own", to_toml)

    class Reckoning(Assembly):
        def __init__(self) -> None:
            self.world = World()

        def equations(self) -> None:
            """Of its own."""

    with pytest.raises(ModelError, match=r"Reckoning: has equations of its own, which cannot be written"):
        to_python(Reckoning())
    with pytest.raises(ModelError, match=r"model\.json: what is written is Python or TOML"):
        write(mbfmu.load("pendulum"), tmp_path / "model.json")


def test_documents_that_end_with_a_quote_are_written(tmp_path: pathlib.Path) -> None:
    class Quoting(Assembly):
        """Says "yes\""""

        def __init__(self) -> None:
            self.world = World()

    (tmp_path / "quoting.py").write_text(to_python(Quoting()))
    assert (type(mbfmu.load(tmp_path / "quoting.py")).__doc__ or "").strip() == 'Says "yes"'
