"""Inputs say what they take: bounds, units and start values reach results, files and FMUs alike."""

from __future__ import annotations

import pathlib
from typing import Any

import fmpy
import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Start, load
from mbfmu.components import World, rotational, translational
from mbfmu.components.joints import Revolute
from mbfmu.components.parts import Body
from mbfmu.errors import ModelError
from mbfmu.modeling import RealInput
from mbfmu.modeling.writing import to_python, to_toml, write


class Arm(Assembly):
    """An arm on a motor."""

    stop_time = 0.1

    def __init__(self, **given: Any) -> None:
        self.world = World()
        self.hinge = Revolute(useAxisFlange=True, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.body = Body(r_CM=(0.5, 0, 0), m=1.0)
        self.motor = rotational.Torque()
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.body.frame_a)
        self.connect(self.motor.flange, self.hinge.axis)
        self.input(self.motor.tau, "torque", **given)
        self.output(self.hinge.phi)


KILO = {"start": 0.5, "min": -2.0, "max": 2.0, "unit": "kN.m"}


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_an_fmu_has_bounds_and_unit(fmi: int, tmp_path: pathlib.Path) -> None:
    file = mbfmu.build(Arm(**KILO), tmp_path / "arm.fmu", fmi=fmi, equations="interpreted")
    found = next(v for v in fmpy.read_model_description(file).modelVariables if v.name == "torque")
    unit = found.unit or found.declaredType.unit
    assert (float(found.start), float(found.min), float(found.max), unit) == (0.5, -2.0, 2.0, "kN.m")


@pytest.mark.slow
def test_values_are_converted_to_the_signal(tmp_path: pathlib.Path) -> None:
    kilo, plain = mbfmu.simulate(Arm(**KILO)), mbfmu.simulate(Arm(start=500.0))
    np.testing.assert_allclose(kilo["motor.tau"], 500.0)
    np.testing.assert_allclose(kilo["hinge.phi"], plain["hinge.phi"], rtol=1e-12)
    series = tmp_path / "series.csv"
    series.write_text("time,torque [N.m]\n0,1000\n0.1,1500\n")
    driven = mbfmu.simulate(Arm(**KILO), inputs=series)
    np.testing.assert_allclose(driven["torque"][[0, -1]], [1.0, 1.5])
    np.testing.assert_allclose(driven["motor.tau"][[0, -1]], [1000.0, 1500.0])


def test_values_beyond_the_bounds_are_refused() -> None:
    with pytest.raises(ModelError, match="'torque' reaches 3; its largest value is 2"):
        mbfmu.simulate(Arm(**KILO), inputs={"torque": 3.0})
    with pytest.raises(ModelError, match=r"'torque' cannot be set to -3.0: its smallest value is -2"):
        mbfmu.simulate(Arm(**KILO), start_values={"torque": -3.0})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min": 1.0, "max": -1.0}, "its min 1.0 is above its max -1.0"),
        ({"min": 1.0}, "its start value 0.0 is out of min=1.0, max=None"),
        ({"max": [1.0, 2.0]}, "its max .* has 2 numbers, expected 1"),
        ({"unit": "kg"}, "Its signal has the unit N.m"),
        ({"unit": 3}, "its unit is 3; it takes a text"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Arm(**given)


def test_an_input_in_another_unit_has_another_name() -> None:
    arm = Arm()
    with pytest.raises(ModelError, match=r"in N.m; an input in kN.m beside it needs a name"):
        arm.input(arm.motor.tau, unit="kN.m")


def test_the_same_again_keeps_what_is_not_given() -> None:
    arm = Arm(**KILO)
    arm.input(arm.motor.tau, "torque", start=1.0)
    known = arm.inputs["torque"]
    assert (known.start, known.min, known.max, known.unit) == (1.0, -2.0, 2.0, "kN.m")


@pytest.mark.parametrize(("text", "suffix"), [(to_python, ".py"), (to_toml, ".toml")])
def test_files_say_the_same(text: Any, suffix: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / f"arm{suffix}"
    write(Arm(**KILO), file)
    again = load(str(file))
    known = again.inputs["torque"]
    assert (known.start, known.min, known.max, known.unit) == (0.5, -2.0, 2.0, "kN.m")
    assert text(again) == text(Arm(**KILO)).replace("class Arm", f"class {again.name}")


def test_modelica_says_the_same(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "Drive.mo"
    file.write_text(
        "model Drive\n"
        "  Modelica.Mechanics.Rotational.Components.Inertia inertia(J=2, phi(fixed=true), w(fixed=true));\n"
        "  Modelica.Mechanics.Rotational.Sources.Torque torque;\n"
        '  Modelica.Blocks.Interfaces.RealInput tau(unit="N.m", min=-5, max=7, start=1);\n'
        "equation\n  connect(tau, torque.tau);\n  connect(torque.flange, inertia.flange_a);\nend Drive;\n"
    )
    found = next(v for v in mbfmu.System.of(load(str(file))).variables if v.name == "tau")
    assert (found.start, found.min, found.max, found.unit) == (1.0, -5.0, 7.0, "N.m")


class Road(Assembly):
    """A mass on a spring above a road that is given."""

    stop_time = 0.1
    road = RealInput("Height of the road")

    def __init__(self) -> None:
        self.ground = translational.Position(exact=False)
        self.spring = translational.SpringDamper(c=100.0, d=1.0, v_rel=Start(0.0, fixed=True))
        self.mass = translational.Mass(m=1.0, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True))
        self.connect(self.road, self.ground.s_ref)
        self.connect(self.ground.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.mass.flange_a)


def test_an_input_without_a_unit_has_that_of_what_it_feeds() -> None:
    result = mbfmu.simulate(Road(), inputs={"road [mm]": 20.0})
    np.testing.assert_allclose(result["road"], 0.02)
    assert result.units["road"] == "m"


URDF = """<robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="30" velocity="3"/></joint></robot>"""


@pytest.mark.parametrize(
    ("drive", "name", "bounds", "unit"),
    [("effort", "hinge_tau", (-30.0, 30.0), "N.m"), ("position", "hinge_phi_ref", (-1.0, 2.0), "rad")],
)
def test_limits_of_a_robot(
    drive: str, name: str, bounds: tuple[float, float], unit: str, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    found = next(v for v in mbfmu.System.of(load(str(file), drive=drive)).variables if v.name == name)
    assert (found.min, found.max, found.unit) == (*bounds, unit)


def test_ranges_of_controls(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "arm.xml"
    file.write_text(
        '<mujoco><worldbody><body><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0.5 0 0"/></body></worldbody>'
        '<actuator><motor name="motor" joint="hinge" ctrlrange="0.5 3"/></actuator></mujoco>'
    )
    known = load(str(file)).inputs["motor"]
    assert (known.start, known.min, known.max) == (0.5, 0.5, 3.0)
