"""Assembly files: what the format says, and what is said about files that break it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import numpy as np
import pytest

import mbfmu
from mbfmu.errors import ModelError
from mbfmu.fmus.double_pendulum import DoublePendulum
from mbfmu.modeling import Assembly, Component, RealInput, RealOutput
from mbfmu.modeling import registry as registry_module
from mbfmu.modeling import types as t
from mbfmu.modeling.assembly_file import load_assembly
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.registry import class_of_file

Read = Callable[[str], Assembly]


class Ramp3(Component):
    """Three ramps."""

    modelica_name = "Test.Ramp3"
    y = RealOutput("Ramps", shape=3)
    slope = Parameter(t.Real, (1.0, 2.0, 3.0), "Slopes", shape=3)

    def equations(self) -> None:
        self.y = self.slope * self.time


class Twice(Component):
    """Doubles its input."""

    modelica_name = "Test.Twice"
    u = RealInput("Input")
    y = RealOutput("Output")
    k = Parameter(t.Real, 2.0, "Gain")

    def equations(self) -> None:
        self.y = self.k * self.u


class Sum2(Component):
    """Adds two signals."""

    modelica_name = "Test.Sum2"
    u = RealInput("Inputs", shape=2)
    y = RealOutput("Sum")

    def equations(self) -> None:
        self.y = self.u[0] + self.u[1]


@pytest.fixture(autouse=True)
def _blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes of a package of the user's own, beside those that are installed."""
    known = registry_module.component_classes() | {c.modelica_name: c for c in (Ramp3, Twice, Sum2) if c.modelica_name}
    monkeypatch.setattr(registry_module, "component_classes", lambda: known)


@pytest.fixture
def read(tmp_path: pathlib.Path) -> Read:
    def write_and_read(text: str) -> Assembly:
        path = tmp_path / "thing.toml"
        path.write_text(text, encoding="utf-8")
        return load_assembly(path)

    return write_and_read


PENDULUM = """
[world]
g = 10.0

[[component]]
name = "hinge"
class = "MultiBody.Joints.Revolute"
[component.parameters]
phi = {start = 0.5, fixed = true}
w = {fixed = true}

[[component]]
name = "rod.body"
class = "MultiBody.Parts.Body"
[component.parameters]
m = 2.0
r_CM = [0.25, 0.0, 0.0]
I_33 = 0.001

[[connect]]
a = "world.frame_b"
b = "hinge.frame_a"

[[connect]]
a = "hinge.frame_b"
b = "rod.body.frame_a"
"""


# -- the format


def test_parameters_starts_and_dotted_names(read: Read) -> None:
    assembly = read(PENDULUM + '[[output]]\nvariable = "hinge.phi"\nname = "angle"\n')
    assert assembly.parts["rod.body"].value("m") == 2.0
    assert assembly.hinge.start("phi")[:2] == (0.5, True)
    result = mbfmu.simulate(assembly, 0.01)
    expected = -2.0 * 10.0 * 0.25 * np.cos(0.5) / (2.0 * 0.25**2 + 0.001)
    assert result["hinge.a"][0] == pytest.approx(expected, rel=1e-9)
    assert result["angle"][0] == 0.5
    assert result["rod.body.r_0[1]"][0] == 0.0


def test_name_description_and_experiment(read: Read, tmp_path: pathlib.Path) -> None:
    head = 'name = "Swing"\ndescription = "Swings."\n'
    assembly = read(head + PENDULUM + "[experiment]\nstart = 1\nstop = 3.5\ntolerance = 1e-7\n")
    assert (assembly.name, assembly.description) == ("Swing", "Swings.")
    assert (assembly.start_time, assembly.stop_time, assembly.tolerance) == (1.0, 3.5, 1e-7)
    assert read('notes = "Only a note."\n' + PENDULUM).description == "Only a note."
    assert read(PENDULUM).name == "thing"
    folder = tmp_path / "My case"
    folder.mkdir()
    (folder / "model.toml").write_text(PENDULUM, encoding="utf-8")
    assert load_assembly(folder / "model.toml").name == "My_case"


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_nested_modifiers_and_elementwise_fixed(read: Read) -> None:
    assembly = read(
        """
        [world]
        [[component]]
        name = "joint"
        class = "MultiBody.Joints.Planar"
        [component.parameters]
        revolute = {phi = {start = 0.25, fixed = true}, w = {fixed = true}}
        [[component]]
        name = "body"
        class = "MultiBody.Parts.Body"
        [component.parameters]
        m = 1.0
        r_CM = [0.0, 0.0, 0.0]
        v_0 = {start = [1.0, 2.0, 0.0], fixed = [true, true, false]}
        [[connect]]
        a = "world.frame_b"
        b = "joint.frame_a"
        [[connect]]
        a = "joint.frame_b"
        b = "body.frame_a"
        """
    )
    result = mbfmu.simulate(assembly, 0.01)
    assert result["joint.phi"][0] == 0.25
    assert (result["joint.v_x"][0], result["joint.v_y"][0]) == pytest.approx((1.0, 2.0), abs=1e-9)


def test_a_free_parameter_is_solved_for(read: Read) -> None:
    """The stiffness that holds 5 kg at 0.1 m: c = m g / (s - s_rel0)."""
    assembly = read(
        """
        [world]
        g = 10.0
        [[component]]
        name = "slide"
        class = "MultiBody.Joints.Prismatic"
        [component.parameters]
        n = [0.0, -1.0, 0.0]
        useAxisFlange = true
        s = {start = 0.5, fixed = true}
        v = {fixed = true}
        a = {fixed = true}
        [[component]]
        name = "spring"
        class = "Translational.Components.Spring"
        [component.parameters]
        c = {fixed = false, start = 100.0}
        s_rel0 = 0.4
        [[component]]
        name = "mass"
        class = "MultiBody.Parts.PointMass"
        [component.parameters]
        m = 5.0
        [[connect]]
        a = "world.frame_b"
        b = "slide.frame_a"
        [[connect]]
        a = "slide.frame_b"
        b = "mass.frame_a"
        [[connect]]
        a = "slide.support"
        b = "spring.flange_a"
        [[connect]]
        a = "slide.axis"
        b = "spring.flange_b"
        """
    )
    result = mbfmu.simulate(assembly, 1.0)
    assert result["spring.c"][0] == pytest.approx(500.0, rel=1e-9)
    np.testing.assert_allclose(result["slide.s"], 0.5, atol=1e-9)


BLOCKS = """
[[component]]
name = "ramp"
class = "Test.Ramp3"

[[component]]
name = "twice"
class = "Test.Twice"
dim = [3]
[component.parameters]
k = [10.0, 20.0, 30.0]

[[component]]
name = "sum"
class = "Test.Sum2"
"""


def test_arrays_of_blocks_elements_and_slices(read: Read) -> None:
    """A vector spreads over an array of blocks; slices of arrays and of signals feed vectors."""
    assembly = read(
        BLOCKS
        + """
        [[connect]]
        a = "ramp.y"
        b = "twice.u"
        [[connect]]
        a = "twice[2:3].y"
        b = "sum.u[1:2]"
        [[output]]
        variable = "sum.y"
        """
    )
    assert list(assembly.parts) == ["ramp", "twice[1]", "twice[2]", "twice[3]", "sum"]
    result = mbfmu.simulate(assembly, 1.0)
    np.testing.assert_allclose(result["twice[1].y"], 10 * result.time)
    np.testing.assert_allclose(result["sum.y"], (20 * 2 + 30 * 3) * result.time)


def test_start_values_spread_over_an_array_and_vectors_of_a_class_do_not(read: Read) -> None:
    assembly = read(
        """
        [world]
        gravityType = "NoGravity"
        [[component]]
        name = "mass"
        class = "Rotational.Components.Inertia"
        dim = [3]
        [component.parameters]
        J = 1.0
        phi = {start = [1.0, 2.0, 3.0], fixed = true}
        w = {start = 0.0, fixed = [true, true, true]}
        [[component]]
        name = "rod"
        class = "MultiBody.Parts.FixedTranslation"
        dim = [3]
        [component.parameters]
        r = [0.0, 0.5, 0.0]
        [[component]]
        name = "end"
        class = "MultiBody.Parts.PointMass"
        parameters = {m = 1.0}
        [[connect]]
        a = "world.frame_b"
        b = "rod[1].frame_a"
        [[connect]]
        a = "rod[1].frame_b"
        b = "rod[2].frame_a"
        [[connect]]
        a = "rod[2].frame_b"
        b = "rod[3].frame_a"
        [[connect]]
        a = "rod[3].frame_b"
        b = "end.frame_a"
        """
    )
    result = mbfmu.simulate(assembly, 0.1)
    assert [result[f"mass[{k}].phi"][0] for k in (1, 2, 3)] == [1.0, 2.0, 3.0]
    assert result["end.r_0[2]"][-1] == pytest.approx(1.5)


def test_inputs_of_the_fmu(read: Read) -> None:
    assembly = read(
        BLOCKS
        + """
        [[input]]
        name = "drive"
        variable = "twice.u"
        start = 0.5
        [[connect]]
        a = "twice[1].y"
        b = "sum.u[2]"
        [[connect]]
        a = "ramp.y[3]"
        b = "sum.u[1]"
        """
    )
    assert list(assembly.inputs) == ["drive"]
    result = mbfmu.simulate(assembly, 1.0, start_values={"drive[1]": 4.0})
    np.testing.assert_allclose(result["sum.y"], 40 + 3 * result.time)
    np.testing.assert_allclose(result["twice[2].y"], 10.0)


def test_several_signals_are_one_array(read: Read) -> None:
    entries = """
        [[input]]
        variable = ["twice[2].u", "twice[3].u"]
        NAME
        start = [4.0, 0.5]
        [[connect]]
        a = "ramp.y[1]"
        b = "twice[1].u"
        [[connect]]
        a = "twice[2:3].y"
        b = "sum.u"
        [[output]]
        name = "found"
        variable = ["sum.y", "twice[1].y"]
        """
    result = mbfmu.simulate(read(BLOCKS + entries.replace("NAME", 'name = "drive"')), 1.0, interval=1.0)
    np.testing.assert_allclose(result["drive"][0], [4.0, 0.5])
    np.testing.assert_allclose(result["found"][0], [95.0, result["twice[1].y"][0]])
    with pytest.raises(ModelError, match="an input of several signals has no name"):
        read(BLOCKS + entries.replace("NAME", ""))
    with pytest.raises(ModelError, match="expected texts in quotes"):
        read(BLOCKS + entries.replace("NAME", 'name = "drive"').replace('"twice[2].u"', "2"))


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("Revolute", "MultiBody.Joints.Revolute"),  # not the constraint, nor a part of an example
        ("BodyBox", "MultiBody.Parts.BodyBox"),
        ("Components.Inertia", "Rotational.Components.Inertia"),
        ("Constraints.Revolute", "MultiBody.Joints.Constraints.Revolute"),
        ("Modelica.Mechanics.MultiBody.Joints.Revolute", "MultiBody.Joints.Revolute"),
    ],
)
def test_the_end_of_a_name_is_enough_where_it_is_one(name: str, full: str) -> None:
    assert class_of_file(name).modelica_name == full


@pytest.mark.parametrize("name", ["Damper", "Components.Damper", "volute"])
def test_the_end_of_several_names_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match=f"no component class {name}"):
        class_of_file(name)


def test_a_gallery_assembly_by_name(read: Read) -> None:
    assembly = read('assembly = "double_pendulum"\n[experiment]\nstop = 7.0\n')
    assert isinstance(assembly, DoublePendulum)
    assert assembly.stop_time == 7.0


def test_the_same_mechanism_in_python_and_as_file(read: Read) -> None:
    from mbfmu.components import Body, Revolute, World
    from mbfmu.modeling import Start

    class Same(Assembly):
        def __init__(self) -> None:
            self.world = World(g=10.0)
            self.hinge = Revolute(phi=Start(0.5, fixed=True), w=Start(fixed=True))
            self.add("rod.body", Body(m=2.0, r_CM=(0.25, 0, 0), I_33=0.001))
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.parts["rod.body"].frame_a)

    from_file, from_python = (mbfmu.System.of(a) for a in (read(PENDULUM), Same()))
    assert from_file.variables == from_python.variables
    assert from_file.connections == from_python.connections


# -- what breaks it


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[world\n", r"thing\.toml: is no valid TOML: .*line 1"),
        ("[[components]]\n", r"unknown key 'components'; did you mean component"),
        ('assembly = "double_pendulun"\n', r"'double_pendulun': not in the gallery; did you mean double_pendulum"),
        ('[[component]]\nclass = "MultiBody.World"\n', r'component 1: needs name = "\.\.\."'),
        ('[[component]]\nname = "a"\n', r'component a: needs class = "\.\.\."'),
        (
            '[[component]]\nname = "a"\nclass = "MultiBody.Joints.Revolut"\n',
            r"component a: no component class MultiBody\.Joints\.Revolut: did you mean MultiBody\.Joints\.Revolute",
        ),
        ('[[component]]\nname = "a"\nclass = "X"\ntype = 1\n', r"component a: unknown key 'type'; known: class, dim"),
        (
            '[[component]]\nname = "a"\nclass = "Test.Twice"\ndim = [0]\n',
            r"component a: dim = \[0\]; expected one number from 1 to 10000 in brackets, such as \[6\]",
        ),
        (
            '[[component]]\nname = "a"\nclass = "Test.Twice"\nparameters = 3\n',
            "component a: parameters = 3: expected a table",
        ),
        (
            '[[component]]\nname = "a"\nclass = "Test.Twice"\n' * 2,
            "component a: is there twice; give one of them another name",
        ),
        (
            '[[component]]\nname = "a"\nclass = "Test.Twice"\n[component.parameters]\nkk = 3.0\n',
            r"component a: .*no parameter 'kk'; did you mean k",
        ),
        (
            '[[component]]\nname = "a"\nclass = "MultiBody.Parts.Body"\n[component.parameters]\nm = -1.0\n',
            r"component a: .*m = -1\.0: must be >= 0 kg",
        ),
        (
            '[[component]]\nname = "a"\nclass = "MultiBody.Parts.PointMass"\n',
            r"component a: .*needs a value for m \(Mass of mass point\)",
        ),
        (
            BLOCKS + '[[connect]]\na = "ramp.y"\nb = "twixe.u"\n',
            r"connect 'ramp\.y', 'twixe\.u': no component 'twixe'; did",
        ),
        (BLOCKS + '[[connect]]\na = "ramp.y"\nb = "sum.v"\n', r"sum \(Sum2\) has no connector 'v'"),
        (BLOCKS + '[[connect]]\na = "ramp.y"\nb = "sum.u"\n', "3 elements on one side, 2 on the other"),
        (BLOCKS + '[[connect]]\na = "ramp.y[4]"\nb = "sum.u[1]"\n', r"ramp\.y\[4\]: has 3 elements"),
        (BLOCKS + '[[connect]]\na = "twice[4].y"\nb = "sum.u[1]"\n', r"twice\[4\]: has the elements 1 to 3"),
        (BLOCKS + '[[connect]]\na = "ramp.y"\nto = "sum.u"\n', "unknown key 'to'; known: a, b"),
        (BLOCKS + '[[connect]]\na = "ramp.part.y"\nb = "sum.u[1]"\n', "ramp has no part 'part'"),
        (PENDULUM + '[[connect]]\na = "world.frame_b[1]"\nb = "hinge.frame_a"\n', "only signals have elements"),
        (PENDULUM + "[experiment]\nend = 3.0\n", "experiment: unknown key 'end'; known: "),
        (PENDULUM + '[experiment]\nstop = "3"\n', r"experiment: stop = '3': expected a number"),
        (PENDULUM + '[[output]]\nsignal = "hinge.phi"\n', "unknown key 'signal'"),
    ],
)
def test_broken_files_are_named_with_a_remedy(read: Read, text: str, expected: str) -> None:
    with pytest.raises(ModelError, match=expected) as caught:
        read(text)
    assert "thing.toml: " in str(caught.value)


def test_a_file_that_is_none(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ModelError, match=r"nothing\.toml: cannot be read .*; give the path of an assembly file"):
        load_assembly(tmp_path / "nothing.toml")
    (tmp_path / "image.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match=r"image\.toml: is no text in UTF-8"):
        load_assembly(tmp_path / "image.toml")
    with pytest.raises(ModelError, match="cannot be read"):
        load_assembly(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BLOCKS + '[[connect]]\na = "ramp.y"\nb = "twice.u"\n' * 2, "is fed twice, by ramp.y and by ramp.y; keep one"),
        (BLOCKS + '[[connect]]\na = "ramp.y[1]"\nb = "twice[1].y"\n', "are both sources; connect an output with an"),
        (
            BLOCKS + '[[connect]]\na = "sum.u[1]"\nb = "twice[1].u"\n',
            r"twice\[1\]\.u: this input signal is not connected",
        ),
        (PENDULUM + '[[output]]\nvariable = "hinge.fi"\n', r"output hinge\.fi: there is no variable hinge\.fi; did"),
    ],
)
def test_what_shows_when_the_system_is_made(read: Read, text: str, expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        mbfmu.System.of(read(text))


def test_connections_to_what_is_switched_off_are_left_out_with_a_warning(read: Read) -> None:
    """Modelica leaves them out, so files made from Modelica models may have them."""
    assembly = read(
        """
        [world]
        [[component]]
        name = "hinge"
        class = "MultiBody.Joints.Revolute"
        [[component]]
        name = "body"
        class = "MultiBody.Parts.Body"
        parameters = { m = 1.0, r_CM = [1.0, 0.0, 0.0] }
        [[component]]
        name = "damper"
        class = "Rotational.Components.Damper"
        parameters = { d = 1.0 }
        [[connect]]
        a = "world.frame_b"
        b = "hinge.frame_a"
        [[connect]]
        a = "hinge.frame_b"
        b = "body.frame_a"
        [[connect]]
        a = "damper.flange_b"
        b = "hinge.axis"
        """
    )
    with pytest.warns(UserWarning, match=r"hinge\.axis.*useAxisFlange=True.*left out"):
        system = mbfmu.System.of(assembly)
    assert system.equations.nv >= 1
