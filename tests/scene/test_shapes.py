"""What every component draws: which shapes, how large, and that no animation parameter is ignored."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
import pytest

from mbfmu.components import (
    Body,
    BodyBox,
    Fixed,
    Prismatic,
    Revolute,
    World,
    blocks,
    visualizers,
)
from mbfmu.dynamics.reading.components import components_of, connections_of
from mbfmu.dynamics.reading.flatten import flatten
from mbfmu.dynamics.showing.drawing import SURFACE_FACTS, Sketch, sketched
from mbfmu.dynamics.showing.scene import Scene
from mbfmu.dynamics.structure.topology import analyse
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Component, Parameter, Start
from mbfmu.modeling.registry import component_classes
from mbfmu.scene.motion import motion
from mbfmu.simulation import simulate

#: Classes whose parts draw: they hand their looks on.
BY_PARTS = {
    "Contact.ContactGroup",
    "FlexibleBodies.FiniteSegmentBeam",
    "MultiBody.Forces.Spring",
    "MultiBody.Joints.Universal",
    "MultiBody.Joints.RollingWheelSet",
    "MultiBody.Joints.Assemblies.JointUSR",
    "MultiBody.Joints.Assemblies.JointUSP",
    "MultiBody.Joints.Assemblies.JointSSR",
    "MultiBody.Joints.Assemblies.JointSSP",
    "Vehicle.SlipWheel",
    "Vehicle.TyreWheel",
}

#: Class -> its modifiers here, and (name, type) of its shapes in the library.
TABLE: dict[str, tuple[dict[str, Any], str]] = {
    "Parts.Fixed": ({"r": (0.3, 0, 0)}, "shape:cylinder"),
    "Parts.FixedTranslation": ({"r": (0.3, 0.1, 0)}, "shape:cylinder"),
    "Parts.FixedRotation": ({"r": (0.3, 0.1, 0), "angle": 30.0}, "shape:cylinder"),
    "Parts.Body": ({"m": 1.0, "r_CM": (0.3, 0, 0)}, "cylinder:cylinder sphere:sphere"),
    "Parts.BodyShape": ({"m": 1.0, "r": (0.4, 0, 0), "r_CM": (0.2, 0, 0)}, "shape:cylinder sphere:sphere"),
    "Parts.BodyBox": ({"r": (0.4, 0, 0)}, "shape:box"),
    "Parts.BodyCylinder": ({"r": (0.4, 0, 0)}, "shape:pipecylinder"),
    "Parts.PointMass": ({"m": 1.0}, "sphere:sphere"),
    "Joints.Prismatic": ({}, "box:box"),
    "Joints.Revolute": ({}, "cylinder:cylinder"),
    "Joints.Cylindrical": ({"s": Start(0.2)}, "cylinder:cylinder"),
    "Joints.Universal": ({}, "revolute_a.cylinder:cylinder revolute_b.cylinder:cylinder"),
    "Joints.Planar": (
        {"s_x": Start(0.2), "s_y": Start(0.1)},
        "box_x:box box_y:box cylinder:cylinder",
    ),
    "Joints.Spherical": ({}, "sphere:sphere"),
    "Joints.FreeMotion": ({"r_rel_a": Start((0.3, 0, 0))}, "arrowLine:cylinder arrowHead:cone"),
    "Joints.Constraints.Spherical": ({}, "sphere:sphere"),
    "Joints.FreeMotionScalarInit": ({}, "arrowLine:cylinder arrowHead:cone"),
    "Joints.Constraints.Prismatic": ({}, "sphere:sphere"),
    "Joints.Constraints.Revolute": ({}, "sphere:sphere"),
    "Joints.Constraints.Universal": ({}, "sphere:sphere"),
    "Joints.Assemblies.JointUPS": (
        {},
        "axisShape:cylinder sphericalShape_b:sphere universalShape1:cylinder universalShape2:cylinder",
    ),
    "Joints.Assemblies.JointRRR": (
        {},
        "shape_rev1:cylinder shape_rod1:cylinder shape_rev2:cylinder shape_rod2:cylinder shape_rev3:cylinder",
    ),
    "Joints.Assemblies.JointRRP": (
        {},
        "shape_rev1:cylinder shape_rod1:cylinder shape_rev2:cylinder shape_rod2:cylinder shape_prism:box",
    ),
    "Joints.Assemblies.JointUSR": (
        {},
        "rod1.rodShape:cylinder rod1.sphericalShape_b:sphere rod1.universalShape1:cylinder "
        "rod1.universalShape2:cylinder revolute.cylinder:cylinder rod2.shape:cylinder",
    ),
    "Joints.Assemblies.JointUSP": (
        {},
        "rod1.rodShape:cylinder rod1.sphericalShape_b:sphere rod1.universalShape1:cylinder "
        "rod1.universalShape2:cylinder prismatic.box:box rod2.shape:cylinder",
    ),
    "Joints.Assemblies.JointSSR": (
        {"rod1Length": 0.5, "rod1Mass": 0.1},
        "rod1.shape_rod:cylinder rod1.shape_a:sphere rod1.shape_b:sphere rod1.shape_mass:sphere "
        "revolute.cylinder:cylinder rod2.shape:cylinder",
    ),
    "Joints.Assemblies.JointSSP": (
        {"rod1Length": 0.5, "rod1Mass": 0.1},
        "rod1.shape_rod:cylinder rod1.shape_a:sphere rod1.shape_b:sphere rod1.shape_mass:sphere "
        "prismatic.box:box rod2.shape:cylinder",
    ),
    "Joints.SphericalSpherical": (
        {"rodLength": 0.5, "m": 0.2},
        "shape_rod:cylinder shape_a:sphere shape_b:sphere shape_mass:sphere",
    ),
    "Joints.UniversalSpherical": (
        {"rRod_ia": (0.5, 0, 0)},
        "rodShape:cylinder sphericalShape_b:sphere universalShape1:cylinder universalShape2:cylinder",
    ),
    "Forces.WorldForce": ({}, "arrowLine:cylinder arrowHead:cone"),
    "Forces.WorldTorque": ({}, "arrowLine:cylinder arrowHead1:cone arrowHead2:cone"),
    "Forces.WorldForceAndTorque": (
        {},
        "torqueArrowLine:cylinder torqueArrowHead1:cone torqueArrowHead2:cone forceArrowLine:cylinder "
        "forceArrowHead:cone",
    ),
    "Forces.Force": ({}, "connectionLine:cylinder forceArrowLine:cylinder forceArrowHead:cone"),
    "Forces.Torque": (
        {},
        "connectionLine:cylinder torqueArrowLine:cylinder torqueArrowHead1:cone torqueArrowHead2:cone",
    ),
    "Forces.ForceAndTorque": (
        {},
        "connectionLine:cylinder forceArrowLine:cylinder forceArrowHead:cone torqueArrowLine:cylinder "
        "torqueArrowHead1:cone torqueArrowHead2:cone",
    ),
    "Forces.Spring": ({"c": 100.0, "m": 0.1}, "lineForce.shape:spring lineForce.sphere:sphere"),
    "Forces.Damper": ({"d": 3.0}, "shape_a:cylinder shape_b:cylinder"),
    "Forces.SpringDamperParallel": (
        {"c": 100.0, "d": 3.0},
        "springShape:spring shape_a:cylinder shape_b:cylinder",
    ),
    "Forces.SpringDamperSeries": (
        {"c": 100.0, "d": 3.0, "s_damper_start": 0.2},
        "springShape:spring shape_a:cylinder shape_b:cylinder",
    ),
    "Forces.LineForceWithMass": ({"m": 0.1}, "shape:cylinder sphere:sphere"),
    "Forces.LineForceWithTwoMasses": (
        {"m_a": 0.1, "m_b": 0.2, "L_a": 0.1, "L_b": 0.1},
        "cylinder_a:cylinder sphere_a:sphere cylinder_b:cylinder sphere_b:sphere",
    ),
    "Sensors.AbsoluteSensor": ({"get_r": True}, "arrowLine:cylinder arrowHead:cone"),
    "Sensors.RelativeSensor": ({"get_r_rel": True}, "arrowLine:cylinder arrowHead:cone"),
    "Sensors.Distance": ({}, "arrowLine:cylinder arrowHead:cone"),
    "Sensors.CutForce": ({}, "forceArrowLine:cylinder forceArrowHead:cone"),
    "Sensors.CutTorque": ({}, "torqueArrowLine:cylinder torqueArrowHead1:cone torqueArrowHead2:cone"),
    "Sensors.CutForceAndTorque": (
        {},
        "forceArrowLine:cylinder forceArrowHead:cone torqueArrowLine:cylinder torqueArrowHead1:cone "
        "torqueArrowHead2:cone",
    ),
    "Visualizers.FixedShape": ({}, "shape:box"),
    "Visualizers.FixedShape2": ({}, "shape:cylinder"),
    "Visualizers.FixedFrame": (
        {},
        "x_arrowLine:cylinder x_arrowHead:cone x_label1:cylinder x_label2:cylinder y_arrowLine:cylinder "
        "y_arrowHead:cone y_label1:cylinder y_label2:cylinder z_arrowLine:cylinder z_arrowHead:cone "
        "z_label1:cylinder z_label2:cylinder z_label3:cylinder",
    ),
    "Visualizers.FixedArrow": ({}, "arrowLine:cylinder arrowHead:cone"),
    "Visualizers.SignalArrow": ({}, "arrowLine:cylinder arrowHead:cone"),
    "Visualizers.PipeWithScalarField": (
        {"rOuter": 0.1, "length": 1.0, "T_min": 0.0, "T_max": 1.0, "xsi": (0.0, 0.4, 1.0), "n_length": 5},
        "surface:surface",
    ),
    "Visualizers.Advanced.Surface": (
        {"surfaceCharacteristic": lambda nu, nv: (*visualizers.rectangle(nu, nv), np.full((nu, nv, 3), 7.0))},
        "surface:surface",
    ),
    "Visualizers.Rectangle": ({}, "surface:surface"),
    "Visualizers.Torus": ({}, "surface:surface"),
    "Visualizers.VoluminousWheel": ({}, "pipe:pipe torus:surface"),
    "Parts.Rotor1D": ({"J": 0.1}, "cylinder:cylinder"),
    "Parts.RollingWheelSet": (
        {"wheelRadius": 0.3, "wheelMass": 2.0, "wheel_I_axis": 0.06, "wheel_I_long": 0.12, "wheelDistance": 0.5},
        "shape1:pipe shape2:pipe",
    ),
    "Parts.RollingWheel": (
        {"wheelRadius": 0.3, "wheelMass": 2.0, "wheel_I_axis": 0.06, "wheel_I_long": 0.12},
        "fixedShape:pipe",
    ),
}

#: Parameters that show nothing where the library shows nothing either, or only in other cases.
UNSEEN = {
    ("Sensors.CutForce", "arrowDiameter"),  # where forceDiameter is given, as it is here
    ("Sensors.CutForceAndTorque", "arrowDiameter"),
}


class Shown(Assembly):
    """One component between the world and a fixed point, a body or signals, as it needs them."""

    def __init__(self, name: str, **modifiers: Any) -> None:
        self.world = World(n=(0, 0, -1), nominalLength=1.0, animateWorld=False, animateGravity=False)
        self.shown = component_classes()[f"MultiBody.{name}"](**(TABLE[name][0] | modifiers))
        ports = self.shown.ports()
        carried = name.startswith(("Joints.", "Parts.", "Sensors.Cut", "Visualizers.FixedShape2"))
        if "frame_a" in ports and name not in ("Parts.Body", "Parts.PointMass", "Parts.RollingWheel"):
            self.base = Fixed(r=(0.1, 0.2, 0.3), animation=False)
            self.connect(self.base.frame_b, self.shown.frame_a)
        if "frame_b" in ports and name != "Parts.Fixed":
            if carried:
                self.load = BodyBox(r=(0.1, 0.05, 0), width=0.02, animation=False)
                self.connect(self.shown.frame_b, self.load.frame_a)
            else:
                self.end = Fixed(r=(0.8, 0.3, 0.5), animation=False)
                self.connect(self.shown.frame_b, self.end.frame_b)
        for signal in ("force", "torque", "r_head", "T"):
            if signal in ports and not name.startswith("Sensors"):
                for i in range(3):
                    k = (i + 1) * (100.0 if signal in ("force", "torque") else 0.1)
                    self.connect(self.add(f"{signal}{i}", blocks.Constant(k=k)).y, getattr(self.shown, signal)[i])


def values_of(system: System) -> dict[str, dict[str, np.ndarray]]:
    """Return the numbers of all shapes at the start of a run."""
    assert isinstance(system.scene, Scene)
    result = simulate(system, 1e-3, interval=1e-3, outputs=list(system.scene.variables) or None)
    return {
        shape.ident: {
            key: np.array([result[q][0] if isinstance(q, str) else q for q in quantities])
            for key, quantities in shape.quantities.items()
        }
        for shape in system.scene.shapes
    }


def scene_of(name: str, **modifiers: Any) -> System:
    """Return the system with one component."""
    return System.of(Shown(name, **modifiers), scene=True)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_every_class_draws_what_the_library_draws(name: str) -> None:
    system = scene_of(name)
    assert isinstance(system.scene, Scene)
    found = " ".join(f"{shape.ident.removeprefix('shown.')}:{shape.type}" for shape in system.scene.shapes)
    assert sorted(found.split()) == sorted(TABLE[name][1].split())
    for ident, values in values_of(system).items():
        T = values["T"].reshape(3, 3)
        np.testing.assert_allclose(T @ T.T, np.eye(3), atol=1e-12, err_msg=ident)
        assert all(np.isfinite(v).all() for v in values.values()), ident


def sketches_of(shown: Shown) -> list[tuple[str, Sketch]]:
    """Return what one component draws, as expressions, each with the path of its component."""
    components = components_of(shown)
    flat = flatten(shown, components, connections_of(components))
    found = sketched(flat, analyse(flat).behaviours)
    return [(sketches.path, sketch) for sketches in found for sketch in sketches.shapes]


def looks(sketches: list[tuple[str, Sketch]], shown: Shown) -> list[Any]:
    """Return names, kinds and numbers of shapes, with the parameters of an assembly; all else has any values."""
    components, found = dict(components_of(shown)), []
    for path, sketch in sketches:
        attributes = ca.vertcat(*map(ca.vec, sketch.values.values()))
        given = {name: sketch.component.plain_symbol(name) for name in _used(sketch.component, attributes)}
        if given:
            values = [np.ravel(np.asarray(components[path].evaluated(name), dtype=float), "F") for name in given]
            symbols = ca.vertcat(*map(ca.vec, given.values()))
            attributes = ca.substitute(attributes, symbols, ca.DM(np.concatenate(values)))
        others = ca.vertcat(*ca.symvar(attributes))
        some = np.random.default_rng(3).uniform(0.1, 0.9, others.numel())
        numbers = np.ravel(ca.evalf(ca.substitute(attributes, others, ca.DM(some)) if some.size else attributes))
        vector = sketch.vector and {key: str(value) for key, value in sketch.vector.items()}
        found.append((path, sketch.name, sketch.type, list(sketch.values), numbers.round(12).tolist(), vector))
    return found


def _used(component: Component, expression: ca.SX) -> list[str]:
    """Names of the parameters of a component that an expression depends on."""
    symbols = {symbol.element_hash() for symbol in ca.symvar(expression)}
    return [
        name
        for name, declaration in component.declarations.items()
        if isinstance(declaration, Parameter)
        and symbols & {element.element_hash() for element in ca.vertsplit(ca.vec(component.plain_symbol(name)))}
    ]


@pytest.mark.slow
@pytest.mark.campaign("Joints.Assemblies.JointUSP", "Joints.Assemblies.JointUSR", keep=25)
@pytest.mark.parametrize("name", TABLE)
def test_no_animation_parameter_is_ignored(name: str) -> None:
    """Most change numbers in what was drawn before; some what is drawn. Others, whose defaults follow it, stay."""
    held = _held(name)
    sketches = sketches_of(Shown(name, **held))
    before = looks(sketches, Shown(name, **held))
    for parameter, changed in _changes(name):
        other = Shown(name, **(held | {parameter: changed}))
        if looks(sketches, other) == before:
            assert looks(sketches_of(other), other) != before, f"{parameter} = {changed!r} changes nothing"


def _held(name: str) -> dict[str, Any]:
    """Values of all sizes and directions of a component, those by default, too."""
    assembly = Shown(name)
    components_of(assembly)
    shown = assembly.shown
    return {
        parameter: shown.evaluated(parameter)
        for parameter, declaration in shown.parameters().items()
        if declaration.animation and declaration.type.base == "Real" and not declaration.structural
    }


def _changes(name: str) -> list[tuple[str, Any]]:
    shown = Shown(name).shown
    shown.see(World())
    return _other_values(shown, name)


def _other_values(shown: Any, name: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for parameter, declaration in shown.parameters().items():
        if not declaration.animation or (name, parameter) in UNSEEN:
            continue
        base, shape = declaration.type.base, declaration.shape
        if base == "Boolean":
            found.append((parameter, not shown.value(parameter)))
        elif base == "String":
            others = [value for value in declaration.type.values or ("cone",) if value != shown.value(parameter)]
            found.append((parameter, others[0]))
        elif shape is None:
            found.append((parameter, (0.0, 0.3, 1.0)))
        elif declaration.type.max == 255:
            found.append((parameter, (1, 2, 3)))
        elif shape == (3,):
            found.append((parameter, (0.11, 0.23, 0.37)))
        elif base == "Integer":
            found.append((parameter, 7))
        else:
            found.append((parameter, 0.0371))
    return found


def test_the_table_is_whole() -> None:
    """Those that need more than two frames have tests of their own below."""
    animated = {
        name.removeprefix("MultiBody.")
        for name, cls in component_classes().items()
        if name.startswith("MultiBody.") and any(getattr(d, "animation", False) for d in cls.declarations.values())
    }
    others = {"World", "Joints.RollingWheelSet", "Joints.RevolutePlanarLoopConstraint"}
    assert animated - set(TABLE) == others


class PlanarLoop(Assembly):
    """Four bars, closed by the planar constraint."""

    def __init__(self, **modifiers: Any) -> None:
        self.world = World(animateWorld=False, animateGravity=False)
        self.bars = [BodyBox(r=(1, 0, 0), width=0.05, animation=False) for _ in range(3)]
        self.joints = [Revolute(phi=Start(phi), animation=False) for phi in (1.2, -1.1, -1.2)]
        self.shown = component_classes()["MultiBody.Joints.RevolutePlanarLoopConstraint"](**modifiers)
        self.base = Fixed(r=(1, 0.1, 0), animation=False)
        last = self.world.frame_b
        for joint, bar in zip(self.joints, self.bars, strict=True):
            self.connect(last, joint.frame_a)
            self.connect(joint.frame_b, bar.frame_a)
            last = bar.frame_b
        self.connect(last, self.shown.frame_a)
        self.connect(self.shown.frame_b, self.base.frame_b)


class WheelSet(Assembly):
    """The joint of a wheel set, with a body."""

    def __init__(self, **modifiers: Any) -> None:
        self.world = World(n=(0, 0, -1), animateWorld=False, animateGravity=False)
        cls = component_classes()["MultiBody.Joints.RollingWheelSet"]
        self.shown = cls(wheelRadius=0.3, wheelDistance=0.5, **modifiers)
        self.load = BodyBox(r=(0.1, 0.05, 0), width=0.02, animation=False)
        self.connect(self.shown.frameMiddle, self.load.frame_a)


@pytest.mark.slow
@pytest.mark.parametrize(("assembly", "count"), [(PlanarLoop, 1), (WheelSet, 8)])
def test_what_needs_more_frames_draws_and_ignores_nothing(assembly: type[Assembly], count: int) -> None:
    def shapes(**modifiers: Any) -> Any:
        scene = System.of(assembly(**modifiers), scene=True).scene
        assert isinstance(scene, Scene)
        return scene.shapes

    seen = shapes()
    assert len(seen) == count
    made: Any = assembly()
    made.shown.see(World())
    for parameter, changed in _other_values(made.shown, ""):
        assert shapes(**{parameter: changed}) != seen, f"{parameter} = {changed!r} changes nothing"


def test_every_class_with_animation_parameters_draws() -> None:
    silent = {
        name
        for name, cls in component_classes().items()
        if any(getattr(d, "animation", False) for d in cls.declarations.values())
        and cls.visualize is Component.visualize
    }
    assert silent == BY_PARTS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_sizes_follow_from_parameters() -> None:
    body = values_of(scene_of("Parts.Body", sphereDiameter=0.12))
    assert body["shown.sphere"]["length"] == 0.12
    np.testing.assert_allclose(body["shown.sphere"]["r_shape"], [0.3 - 0.06, 0, 0])
    assert body["shown.cylinder"]["width"] == pytest.approx(0.04)
    assert body["shown.cylinder"]["length"] == pytest.approx(0.3)
    joint = values_of(scene_of("Joints.Revolute", n=(0, 2, 0)))["shown.cylinder"]
    assert (joint["length"], joint["width"]) == (0.1, 0.05)
    np.testing.assert_allclose(joint["r_shape"], [0, -0.05, 0])
    pipe = values_of(scene_of("Parts.BodyCylinder", diameter=0.1, innerDiameter=0.04))["shown.shape"]
    assert pipe["extra"] == pytest.approx(0.4)
    spring = values_of(scene_of("Forces.Spring"))["shown.lineForce.shape"]
    assert spring["length"] == pytest.approx(np.linalg.norm([0.7, 0.1, 0.2]))
    assert spring["extra"] == 5
    assert spring["height"] == pytest.approx(2 * 0.05 / 10)
    arrow = values_of(scene_of("Forces.WorldForce"))
    line, head = arrow["shown.arrowLine"], arrow["shown.arrowHead"]
    assert line["length"] + head["length"] == pytest.approx(np.linalg.norm([0.1, 0.2, 0.3]))
    assert head["length"] == pytest.approx(4 / 40)
    tip = head["r_shape"] + head["lengthDirection"] / np.linalg.norm(head["lengthDirection"]) * head["length"]
    np.testing.assert_allclose(tip, 0, atol=1e-12)  # the force points to the frame that it acts on
    np.testing.assert_allclose(line["r_shape"], [-0.1, -0.2, -0.3])


@pytest.mark.slow
def test_the_world_draws_axes_labels_gravity_and_ground() -> None:
    class Bare(Assembly):
        def __init__(self, **modifiers: Any) -> None:
            self.world = World(**modifiers)
            self.joint = Revolute()
            self.load = BodyBox(r=(0.4, 0, 0), animation=False)
            self.connect(self.world.frame_b, self.joint.frame_a)
            self.connect(self.joint.frame_b, self.load.frame_a)

    def names(**modifiers: Any) -> set[str]:
        scene = System.of(Bare(**modifiers), scene=True).scene
        assert isinstance(scene, Scene)
        return {shape.name for shape in scene.shapes if shape.component == "world"}

    axes = {f"{a}_{part}" for a, part in itertools.product("xyz", ("arrowLine", "arrowHead", "label1", "label2"))}
    axes |= {"z_label3"}
    gravity = {"gravityArrowLine", "gravityArrowHead"}
    assert names() == axes | gravity
    assert names(axisShowLabels=False) == {name for name in axes if "label" not in name} | gravity
    assert names(animateGravity=False, animateWorld=False, animateGround=True) == {"surface"}
    assert names(gravityType="PointGravity", animateWorld=False) == {"gravitySphere"}
    off = System.of(Bare(enableAnimation=False), scene=True).scene
    assert isinstance(off, Scene)
    assert off.shapes == ()


def test_a_scene_costs_nothing_where_nobody_asks() -> None:
    system = System.of(Shown("Parts.Body"))
    assert system.scene is None
    assert not any("sphere" in variable.name for variable in system.variables)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_component_of_ones_own_draws_itself() -> None:
    class Drum(Revolute):
        modelica_name = None

        def visualize(self) -> None:
            self.draw_shape("drum", "cylinder", self.frame_b, length=0.2, width=0.5, lengthDirection=self.e)

    class Own(Assembly):
        def __init__(self) -> None:
            self.world = World(animateWorld=False, animateGravity=False)
            self.drum = Drum(phi=Start(0.3, fixed=True))
            self.load = BodyBox(r=(0.4, 0, 0), animation=False)
            self.connect(self.world.frame_b, self.drum.frame_a)
            self.connect(self.drum.frame_b, self.load.frame_a)

    system = System.of(Own(), scene=True)
    values: Mapping[str, np.ndarray] = values_of(system)["drum.drum"]
    c, s = np.cos(0.3), np.sin(0.3)
    np.testing.assert_allclose(values["T"].reshape(3, 3).T, [[c, s, 0], [-s, c, 0], [0, 0, 1]], atol=1e-12)
    assert (values["length"], values["width"], values["height"]) == (0.2, 0.5, 0.5)


def test_a_shape_of_the_wrong_size_is_refused() -> None:
    class Bad(Prismatic):
        modelica_name = None

        def visualize(self) -> None:
            self.draw_shape("box", "box", self.frame_a, length=(1, 2), width=0.1)

    class Own(Assembly):
        def __init__(self) -> None:
            self.world, self.bad = World(), Bad()
            self.load = BodyBox(r=(0.4, 0, 0))
            self.connect(self.world.frame_b, self.bad.frame_a)
            self.connect(self.bad.frame_b, self.load.frame_a)

    with pytest.raises(ModelError, match="bad: the shape box has 2 elements of length"):
        System.of(Own(), scene=True)


def test_what_only_a_picture_takes_is_declared_so() -> None:
    """All of the library's visualizers, but for the way that a translation is; looks, wherever they are."""
    looks = {"Color", "ColorMap", "SpecularCoefficient", "ShapeType", "ShapeExtra"}
    for name, kind in component_classes().items():
        for key, declaration in kind.declarations.items():
            if isinstance(declaration, Parameter) and (".Visualizers." in name or declaration.type.name in looks):
                assert declaration.animation == ((name, key) != ("MultiBody.Visualizers.FixedShape2", "r")), (name, key)


@pytest.mark.slow
def test_a_pipe_shows_values_by_colours() -> None:
    for name, n_colors, expected in (
        ("gray", 64, lambda x: [255 * x] * 3),
        ("jet", 9, lambda x: [255 * np.clip(1.5 - abs(4 * x - k), 0, 1) for k in (3, 2, 1)]),
        ("summer", 64, lambda x: [255 * x, 127.5 * (1 + x), 102]),
    ):
        found = values_of(scene_of("Visualizers.PipeWithScalarField", colorMap=name, n_colors=n_colors))
        points, colors = found["shown.surface"]["extra"][len(SURFACE_FACTS) :].reshape(2, 5, 30, 3)
        np.testing.assert_allclose(np.hypot(points[..., 1], points[..., 2]), 0.1, rtol=1e-12)
        for i, at in enumerate((0.0, 0.25, 0.5, 0.75, 1.0)):
            value = np.interp(at, (0.0, 0.4, 1.0), (0.1, 0.2, 0.3))  # nodes of jet lie among 9 colours
            np.testing.assert_allclose(colors[i], np.broadcast_to(expected(value), (30, 3)), atol=1e-9)
            np.testing.assert_allclose(points[i, :, 0], at, atol=1e-12)


@pytest.mark.slow
def test_what_moves_alike_is_one_frame_unless_it_could_move_otherwise() -> None:
    """Where a person may take hold of one of them, as on a live page, two bodies that slide alike are two."""
    model = Assembly()
    model.world = World(animateWorld=False, animateGravity=False)
    for name in ("a", "b"):
        slide, body = (
            Prismatic(s=Start(0, fixed=True), v=Start(1, fixed=True), animation=False),
            Body(m=2.0, r_CM=(0, 0, 0)),
        )
        model.add(f"{name}Slide", slide)
        model.add(name, body)
        model.connect(model.world.frame_b, slide.frame_a)
        model.connect(slide.frame_b, body.frame_a)
    system = System.of(model, scene=True)
    assert system.scene is not None
    result = simulate(system, 0.2)

    def frames(by_name: bool) -> dict[str, int]:
        found = motion(system.scene, result.time, result, by_name=by_name)
        return {part.shape.component: part.frame for part in found.parts}

    assert frames(by_name=False) == {"a": 0, "b": 0}
    assert frames(by_name=True) == {"a": 0, "b": 1}
