"""Linear models against equations on paper, differences of the runtime, and nonlinear runs."""

from __future__ import annotations

import json
import re

import fmpy
import numpy as np
import pygltflib
import pytest
import scipy
from chirp import compare
from mechanisms import CartPole, G, Suspension, TwoPendulums

import mbfmu
from mbfmu import Assembly, cli
from mbfmu.components import Body, BodyBox, Planar, Revolute, World, blocks
from mbfmu.components.forces import WorldForce
from mbfmu.components.sensors import AbsolutePosition, AbsoluteVelocity
from mbfmu.dynamics.showing.drawing import ATTRIBUTES
from mbfmu.dynamics.showing.scene import Scene, Shape
from mbfmu.errors import ModelError
from mbfmu.fmus.four_bar import FourBar
from mbfmu.fmus.free_body import FreeBody
from mbfmu.fmus.furuta_pendulum import FurutaPendulum
from mbfmu.fmus.scara import Scara
from mbfmu.modeling import Start
from mbfmu.runtime.run import Run
from mbfmu.studies import modes
from problems.bicycle import Bicycle


def second_order(mass, stiffness, damping=None):
    n = len(mass)
    inverse = np.linalg.inv(mass)
    damping = np.zeros((n, n)) if damping is None else damping
    return np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ stiffness, -inverse @ damping]])


def test_outputs_are_in_the_order_of_their_declaration():
    class Two(Assembly):
        def __init__(self):
            self.a, self.b = blocks.Integrator(), blocks.Integrator()
            self.connect(self.b.y, self.a.u)
            self.input(self.b.u, "u")
            self.output(self.b.y, "second")
            self.output(self.a.y)
            self.output(self.b.y)

    system = mbfmu.System.of(Two())
    names = ("second", "a.y", "b.y")
    assert tuple(v.name for v in system.outputs) == names
    linear = mbfmu.linearize(system)
    assert linear.outputs == names
    np.testing.assert_array_equal(linear.C[0], linear.C[2])
    assert tuple(next(mbfmu.simulate_many(system, [{"u": 1.0}], 0.1)).names) == names


def test_a_cart_with_a_pendulum():
    M, m, length = 2.0, 0.5, 0.7
    linear = mbfmu.linearize(CartPole(M, m, length))
    assert linear.states == ("slide.s", "hinge.phi", "slide.v", "hinge.w")
    A = np.zeros((4, 4))
    A[0, 2] = A[1, 3] = 1.0
    A[2, 1], A[3, 1] = m * G / M, -(M + m) * G / (M * length)
    np.testing.assert_allclose(linear.A, A, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(linear.B, [[0], [0], [1 / M], [-1 / (M * length)]], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(linear.C, [[1, 0, 0, 0], [0, 1, 0, 0]], atol=1e-14)
    assert linear.units["slide.v"] == "m/s"
    frequency = np.sqrt((M + m) * G / (M * length)) / (2 * np.pi)
    np.testing.assert_allclose(linear.frequencies[-2:], frequency, rtol=1e-10)


@pytest.mark.slow
def test_two_pendulums():
    m, lengths = (1.2, 0.7), (0.4, 0.9)
    a, b = lengths
    mass = np.array([[sum(m) * a**2, m[1] * a * b], [m[1] * a * b, m[1] * b**2]])
    stiffness = np.diag([sum(m) * G * a, m[1] * G * b])
    T = np.array([[1.0, 0.0], [1.0, 1.0]])  # angles against the vertical
    wanted = second_order(T.T @ mass @ T, T.T @ stiffness @ T)
    np.testing.assert_allclose(mbfmu.linearize(TwoPendulums(m, lengths)).A, wanted, rtol=1e-11, atol=1e-12)


def furuta_on_paper():
    arm, rod, density = 0.3, 0.4, 2700.0
    m_arm, m = density * np.pi * 0.01**2 * arm, density * np.pi * 0.0075**2 * rod
    inertia = m_arm * (3 * 0.01**2 + arm**2) / 12 + m_arm * arm**2 / 4 + m * 0.0075**2 / 2
    along = m * (3 * 0.0075**2 + rod**2) / 12
    half = rod / 2
    mass = np.array([[inertia + m * arm**2, -m * arm * half], [-m * arm * half, along + m * half**2]])
    A = second_order(mass, np.diag([0.0, -m * G * half]), np.diag([0.002, 0.001]))
    return A, np.concatenate([[0, 0], np.linalg.inv(mass)[:, 0]])[:, None]


@pytest.mark.slow
def test_the_upright_furuta_pendulum():
    linear = mbfmu.linearize(FurutaPendulum(), "equilibrium")
    A, B = furuta_on_paper()
    np.testing.assert_allclose(linear.A, A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(linear.B, B, rtol=1e-9)
    assert not linear.is_stable


@pytest.mark.slow
def test_a_loop_against_differences_of_its_reduced_equation():
    system = mbfmu.System.of(FourBar())
    at = {"j1.phi": 0.4, "j1.w": 3.0}
    linear = mbfmu.linearize(system, start_values=at)
    assert linear.states == ("j1.phi", "j1.w")
    known = {v.name: v for v in system.variables}
    acceleration = known["j1.a"]

    def a(**changed):
        run = Run(system.equations, system.variables)
        for name, value in {**at, **{k.replace("_", "."): v for k, v in changed.items()}}.items():
            run.set(known[name], value)
        run.finish_initialisation()
        return run.values(acceleration.store)[acceleration.index]

    h = 1e-4
    for column, name in enumerate(("j1_phi", "j1_w")):
        x = at[name.replace("_", ".")]
        slope = (8 * (a(**{name: x + h}) - a(**{name: x - h})) - a(**{name: x + 2 * h}) + a(**{name: x - 2 * h})) / (
            12 * h
        )
        assert linear.A[1, column] == pytest.approx(slope, rel=1e-7)
    np.testing.assert_allclose(linear.rates, [3.0, a()], rtol=1e-9)


@pytest.mark.slow
def test_a_suspension_has_four_states():
    linear = mbfmu.linearize(Suspension())
    mass, k, c, d = np.diag([300.0, 40.0]), 180000.0, 20000.0, 1500.0
    stiffness, damping = np.array([[c, -c], [-c, c + k]]), np.array([[d, -d], [-d, d + 50.0]])
    order = [linear.states.index(name) for name in ("tyre.s_rel", "strut.s_rel", "wheel.v", "strut.v_rel")]
    relative = np.kron(np.eye(2), [[0.0, 1.0], [1.0, -1.0]])  # from the places of body and wheel
    expected = relative @ second_order(mass, stiffness, damping) @ np.linalg.inv(relative)
    np.testing.assert_allclose(linear.A[np.ix_(order, order)], expected, atol=1e-9)


def moving(eigenvalues):
    return np.sort_complex(eigenvalues[np.abs(eigenvalues) > 1e-3])


@pytest.mark.slow
@pytest.mark.parametrize("speed", [3.0, 8.0])
def test_a_bicycle_that_rolls_straight_ahead(speed, recwarn):
    linear = mbfmu.linearize(Bicycle(speed, enforceStates=True))
    wanted = np.sort_complex(np.linalg.eigvals(Bicycle.equation(speed)))
    np.testing.assert_allclose(moving(linear.eigenvalues), wanted, rtol=1e-8)
    assert not recwarn.list


@pytest.mark.slow
def test_coordinates_that_turn_with_a_wheel_are_warned_of():
    system = mbfmu.System.of(Bicycle(5.0))
    with pytest.warns(UserWarning, match="its motion at this point is steady, but A changes along it"):
        mbfmu.linearize(system)
    lean, times = 1e-4, np.linspace(0, 2, 21)  # the motion itself is right
    run = mbfmu.simulate(system, 2.0, interval=0.1, tolerance=1e-10, start_values={"rear.der_angles[3]": lean})
    wanted = [-(scipy.linalg.expm(Bicycle.equation(5.0) * t) @ [0, 0, lean, 0])[1] for t in times]
    np.testing.assert_allclose(run["head.phi"], wanted, atol=1e-6 * lean)


class Puck(Assembly):
    """A body that slides and turns on a plane; a sensor has its velocity along its own axes."""

    def __init__(self):
        self.world = World(g=0)
        self.planar = Planar(
            n=(0, 0, 1), v_x=Start(3.0, fixed=True), v_y=Start(-1.0, fixed=True), w=Start(0.7, fixed=True),
            phi=Start(0.4, fixed=True),
        )  # fmt: skip
        self.body = Body(m=2.0, r_CM=(0, 0, 0))
        self.speed = AbsoluteVelocity(resolveInFrame="frame_a")
        self.place = AbsolutePosition()
        self.push = WorldForce(resolveInFrame="frame_b")
        for part in (self.body, self.speed, self.place):
            self.connect(self.planar.frame_b, part.frame_a)
        self.connect(self.world.frame_b, self.planar.frame_a)
        self.connect(self.planar.frame_b, self.push.frame_b)
        self.input(self.push.force[0], "ahead", start=0.0)
        for i in (1, 2):
            self.input(self.push.force[i], f"side{i}", start=0.0)
        self.output(self.speed.v[0], "v")


@pytest.mark.slow
def test_states_of_ones_choice_turn_with_the_body():
    linear = mbfmu.linearize(Puck(), states=["speed.v[1]", "speed.v[2]"])
    assert {"speed.v[1]", "speed.v[2]", "planar.phi", "planar.w"} <= {*linear.states}
    assert not {"planar.v_x", "planar.v_y"} & {*linear.states}
    at = [linear.states.index(name) for name in ("speed.v[1]", "speed.v[2]", "planar.w")]
    turned = np.array([[np.cos(0.4), np.sin(0.4)], [-np.sin(0.4), np.cos(0.4)]]) @ [3.0, -1.0]
    wanted = [[0, 0.7, turned[1]], [-0.7, 0, -turned[0]], [0, 0, 0]]
    np.testing.assert_allclose(linear.A[np.ix_(at, at)], wanted, atol=1e-12)
    np.testing.assert_allclose(linear.A[at, linear.states.index("planar.phi")], 0, atol=1e-12)
    np.testing.assert_allclose(linear.x0[at], [*turned, 0.7], rtol=1e-12)
    np.testing.assert_allclose(linear.rates[at], [0.7 * turned[1], -0.7 * turned[0], 0], atol=1e-12)
    np.testing.assert_allclose(linear.B[at, 0], [0.5, 0, 0], atol=1e-12)
    np.testing.assert_allclose(linear.C[0], [name == "speed.v[1]" for name in linear.states], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["push.frame_b.f[1]"], "follows from inputs, forces or accelerations"),
        (["ahead"], "is no state"),
        (["body.m"], "is no state"),
        (["speed.v[1]", "speed.v[2]", "planar.v_x", "planar.v_y"], "'planar.v_y' is no coordinate beside the other"),
        (["sped.v[1]"], "sped.v"),
    ],
)
def test_what_cannot_be_a_state_is_told(states, said):
    with pytest.raises(ModelError, match=re.escape(said)):
        mbfmu.linearize(Puck(), states=states)


@pytest.mark.slow
def test_states_of_the_command_line(tmp_path, capsys):
    given = ["linearize", "double_pendulum", "--states", "boxBody2.frame_b.r_0[2]", "--json"]
    assert cli.main(given) == 0
    assert "boxBody2.frame_b.r_0[2]" in json.loads(capsys.readouterr().out)["states"]


@pytest.mark.slow
def test_a_body_with_a_quaternion_has_twelve_states():
    linear = mbfmu.linearize(FreeBody())
    assert len(linear.states) == 12
    turned = [name for name in linear.states if name.startswith("int(")]
    assert len(turned) == 3
    assert {linear.units[name] for name in turned} == {"rad"}


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(("assembly", "size"), [(Scara, 1e-4), (Suspension, 1.0)])
def test_small_motions_are_those_of_the_linear_model(assembly, size):
    system = mbfmu.System.of(assembly())
    rest = mbfmu.equilibrium(system)
    linear = mbfmu.linearize(system, rest)
    times = np.linspace(0.0, 1.0, 501)
    chirp = size * np.sin(2 * np.pi * (1 + 4 * times) * times)
    held = dict(zip(linear.inputs, linear.u0, strict=True))
    inputs = {name: ((times, value + chirp) if i == 0 else value) for i, (name, value) in enumerate(held.items())}
    run = mbfmu.simulate(system, 1.0, interval=0.002, tolerance=1e-10, start_values=rest.start_values, inputs=inputs)
    u = np.zeros((times.size, len(linear.inputs)))
    u[:, 0] = chirp
    _, y, _ = scipy.signal.lsim(linear.to_scipy(), u, times)
    moved = np.column_stack([run[name] for name in linear.outputs]) - linear.y0
    largest = np.abs(y).max()
    np.testing.assert_allclose(moved, y, atol=2e-3 * largest)


@pytest.mark.slow
@pytest.mark.campaign("car", keep=1)
@pytest.mark.parametrize("name", ["furuta_pendulum", "four_bar", "free_body", "car"])
def test_the_matrices_along_a_motion(name):
    # campaign.py does this for the whole gallery
    found = compare(mbfmu.System.of(mbfmu.load(name)), 2)
    assert np.abs(found.nonlinear).max() > 1e-3
    assert found.error < 1e-5


@pytest.mark.slow
def test_a_regulator_holds_the_nonlinear_fmu_upright(tmp_path):
    linear = mbfmu.linearize(FurutaPendulum(), "equilibrium", outputs=["base.phi", "hinge.phi", "base.w", "hinge.w"])
    P = scipy.linalg.solve_continuous_are(linear.A, linear.B, np.diag([1.0, 10.0, 0.1, 0.1]), [[10.0]])
    gain = linear.B.T @ P / 10.0
    file = mbfmu.build(FurutaPendulum(), tmp_path / "furuta.fmu", equations="interpreted")
    description = fmpy.read_model_description(str(file))
    references = {v.name: v.valueReference for v in description.modelVariables}
    states = [references[name] for name in linear.states]
    slave = fmpy.instantiate_fmu(fmpy.extract(str(file), str(tmp_path / "unpacked")), description, "CoSimulation")
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    assert slave.getReal([references["hinge.phi"]])[0] == pytest.approx(0.2)
    for step in range(1500):
        slave.setReal([references["torque"]], [float(-(gain @ slave.getReal(states))[0])])
        slave.doStep(0.004 * step, 0.004)
    left = np.abs(slave.getReal(states)).max()
    slave.terminate()
    slave.freeInstance()
    assert left < 2e-3


@pytest.mark.slow
def test_files_and_objects_of_others(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["linearize", "furuta_pendulum", "--at", "equilibrium", "-o", "linear.json"]) == 0
    content = json.loads((tmp_path / "linear.json").read_text())
    linear = mbfmu.linearize(FurutaPendulum(), "equilibrium")
    np.testing.assert_array_equal(content["A"], linear.A)
    assert content["states"] == list(linear.states)
    np.testing.assert_allclose([complex(*pair) for pair in content["eigenvalues"]], linear.eigenvalues)
    control = linear.to_control()
    np.testing.assert_array_equal(control.A, linear.A)
    assert control.input_labels == ["torque"]
    assert control.state_labels[0] == "base_phi"
    scipy.io.loadmat(linear.save(tmp_path / "linear.mat"))
    assert cli.main(["linearize", "furuta_pendulum", "--at", "soon"]) == 2
    assert "--at soon: write start, equilibrium or a time" in capsys.readouterr().err
    assert cli.main(["linearize", "furuta_pendulum", "--at", "0.5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["time"] == 0.5


@pytest.mark.slow
def test_a_small_rotation_of_a_turning_body():
    # seen from the body, a rotation vector between two motions changes by d(theta)/dt = d(w) - w x theta
    linear = mbfmu.linearize(FreeBody(), 1.0)
    speeds = [name.removeprefix("int(")[:-1] for name in linear.states if name.startswith("int(")]
    w = np.array([linear.x0[linear.states.index(name)] for name in speeds])
    assert np.abs(w).max() > 0.1
    rows = [linear.states.index(f"int({name})") for name in speeds]
    columns = [linear.states.index(name) for name in speeds]
    cross = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    np.testing.assert_allclose(linear.A[np.ix_(rows, rows)], -cross, atol=1e-10)
    np.testing.assert_allclose(linear.A[np.ix_(rows, columns)], np.eye(3), atol=1e-10)


@pytest.mark.slow
def test_a_mode_as_a_scene(tmp_path, capsys):
    # two pendulums swing against each other in the quicker mode; its shape is that of the eigenvector on paper
    linear = mbfmu.linearize(TwoPendulums())
    file = mbfmu.animate_mode(TwoPendulums(), tmp_path / "mode.glb", len(linear.states), size=0.05)
    scene = pygltflib.GLTF2().load(str(file))
    assert max(a.max[0] for a in scene.accessors if a.type == "SCALAR" and a.max) == pytest.approx(2.0)
    seen = {}
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(modes, "write_animation", lambda system, result, path: seen.update(result) or path)
    needed = ["first.phi", "second.phi"]
    monkeypatch.setattr(modes, "needed_variables", lambda *_: needed)
    for number in (1, 3):
        mbfmu.animate_mode(TwoPendulums(), file, number, size=0.05)
        shape = linear.modes[1][:2, number - 1]
        wanted = 0.05 * (shape / shape[np.abs(shape).argmax()]).real
        np.testing.assert_allclose([seen[name][0] for name in needed], wanted, rtol=1e-9, atol=1e-12)
        assert max(np.abs(seen[name]).max() for name in needed) == pytest.approx(0.05)
    monkeypatch.undo()
    with pytest.raises(ModelError, match="there is no mode 9"):
        mbfmu.animate_mode(TwoPendulums(), file, 9)
    assert cli.main(["linearize", "four_bar", "--animation", str(tmp_path / "bar.glb"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["states"]) == 2
    assert (tmp_path / "bar.glb").stat().st_size > 1000


@pytest.mark.slow
def test_inputs_over_time_lead_to_the_point():
    """A force rises from 1 to 1.8 N in 0.2 s, then from -0.5 to 0.25 N in 0.3 s: the momentum is their integral."""
    M, m, length, at = 2.0, 0.5, 0.7, 0.5
    system = mbfmu.System.of(CartPole(M, m, length))
    drive = {"time": [0.0, 0.2, 0.2, 2.2], "force": [1.0, 1.8, -0.5, 4.5]}
    linear = mbfmu.linearize(system, at, drive=drive, tolerance=1e-10)
    found = dict(zip(linear.states, linear.x0, strict=True))
    momentum = (M + m) * found["slide.v"] + m * length * np.cos(found["hinge.phi"]) * found["hinge.w"]
    assert momentum == pytest.approx(0.2 * 1.4 - 0.3 * 0.125, rel=1e-7)
    assert linear.u0 == pytest.approx([0.25])
    assert linear.time == at
    assert mbfmu.linearize(system, drive=drive).u0 == pytest.approx([1.0])


class Filtered(Assembly):
    """A pendulum whose motion nobody measures, beside a filter of 0.25 s."""

    def __init__(self):
        self.world, self.hinge = World(), Revolute(phi=Start(0.2, fixed=True), w=Start(0.0, fixed=True))
        self.body = BodyBox(r=(0.4, 0, 0))
        self.filter, self.source = blocks.FirstOrder(T=0.25), blocks.Constant(k=1.0)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.body.frame_a)
        self.connect(self.source.y, self.filter.u)


@pytest.mark.slow
def test_modes_that_cannot_be_shown_are_told(tmp_path, monkeypatch):
    system = mbfmu.System.of(Filtered(), scene=True)
    eigenvalues = mbfmu.linearize(system).eigenvalues
    number = int(np.abs(eigenvalues + 4.0).argmin()) + 1
    assert eigenvalues[number - 1] == pytest.approx(-4.0)
    with pytest.raises(ModelError, match=rf"^Filtered: mode {number} moves no position; choose another one"):
        mbfmu.animate_mode(system, tmp_path / "mode.glb", number)
    for none in (0, 4):
        with pytest.raises(ModelError, match=r"^Filtered: .*mode"):
            mbfmu.animate_mode(system, tmp_path / "mode.glb", none)
    monkeypatch.setattr(modes.Mechanics, "project", lambda *_: None)
    with pytest.raises(ModelError, match=r"^Filtered: it cannot move by 0\.3 along mode [12]; choose a smaller size"):
        mbfmu.animate_mode(system, tmp_path / "mode.glb", 2 if number == 1 else 1, size=0.3)
    assert list(tmp_path.iterdir()) == []


def shape(kind, extra):
    numbers = {name: (0.0,) * count for name, count in ATTRIBUTES.items()}
    return Shape("body", "Parts", kind, kind, **numbers, extra=tuple(extra))


def test_how_far_a_picture_bends_is_a_part_of_the_size_of_a_body():
    """About the mean of the first and the last picture; of several bodies that which bends most; boxes do not."""
    series = {"f": np.array([0.1, 0.4, -0.3]), "z": np.array([0.0, -0.5, 0.2])}
    points, displaced = [0, 0, 0, 2, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 3, 0, 0, 0]
    deformed = shape("deformed", [3, 1, 1, "f", *points, 0, 1, 2, *displaced])
    surface = shape("surface", [2, 2, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 4, 1, "z"])
    box = shape("box", [0.0])
    assert modes._bent(Scene((box,)), series) == 0.0
    assert modes._bent(None, series) == 0.0
    # the second point rises by 3 f, whose mean of ends is -0.1; what is 2 wide and 0.3 high at first
    assert modes._bent(Scene((box, deformed)), series) == pytest.approx(3 * 0.5 / 2)
    assert modes._bent(Scene((surface,)), series) == pytest.approx(0.6 / 4)
    assert modes._bent(Scene((deformed, surface)), series) == pytest.approx(3 * 0.5 / 2)
