"""Modelica files: what the language says, seen in the values and motions of small models."""

from __future__ import annotations

import gc
import math
import pathlib
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu import sources
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError
from mbfmu.importers.modelica import load
from mbfmu.modeling import Assembly, Component

Read = Callable[..., Assembly]


@pytest.fixture
def read(tmp_path: pathlib.Path) -> Read:
    """Write a file and read its model."""

    def write(text: str, class_name: str | None = None, name: str = "M.mo") -> Assembly:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return load(path, class_name=class_name)

    return write


def final(assembly: Assembly, *names: str, stop: float | None = None) -> list[float]:
    """Values of variables at the end of a run."""
    result = mbfmu.simulate(assembly, stop)
    return [float(result[name][-1]) for name in names]


def parameters(read: Read, declarations: str, **classes: str) -> Callable[[str], Any]:
    """Values of the parameters of a model with these declarations."""
    assembly = read(f"model M\n{declarations}\nend M;\n" + "\n".join(classes.values()), "M")

    def value(name: str) -> Any:
        given = assembly.value(name)
        return given if isinstance(given, str | bool) else float(mbfmu.simulate(assembly, 1e-3)[name][0])

    return value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2^3*2 - (-4/2)", 18),
        ("-2^2", -4),
        ("if 1 < 2 and not 3 <= 2 then 5 else 6", 5),
        ("if 2 == 1 then 1 elseif true then 2 else 3", 2),
        ("sum({i*j for i in 1:2, j in {10, 20}})", 90),
        ("{1, 2, 3}*{4, 5, 6}", 32),
        ("max({3, 7, 5}) + min(2, 1)", 8),
        ("size([1, 2, 3; 4, 5, 6], 2)", 3),
        ("sum([1, 2; 3, 4]*{1, 1})", 10),
        ("({1, 2, 3, 4})[end] * 0 + sum(({1, 2, 3, 4})[2:end - 1])", None),
        ("cos(Modelica.Constants.pi) + Modelica.Units.Conversions.from_deg(180)/Modelica.Constants.pi", 0),
        ("Modelica.Math.Vectors.length({3, 4})", 5),
        ("sum(linspace(0, 1, 5)) + sum(ones(2, 2)) + sum(fill(2, 3)) + sum(zeros(0))", 12.5),
        ("scalar([7]) + product({2, 3}) + abs(-1) + sign(-3) + integer(2.7)", 15),
        ("mod(-1, 3) + rem(-1, 3) + div(-7, 2)", -2),
        ("sum(cross({1, 0, 0}, {0, 1, 0}))", 1),
        ("Modelica.Mechanics.MultiBody.Frames.resolve1("
         "Modelica.Mechanics.MultiBody.Frames.axesRotations({1, 2, 3}, {0, 0, 0}, zeros(3)), {1, 2, 3})*{0, 0, 1}", 3),
        ("sum(cat(1, {1, 2}, {3})) + sum(transpose([1, 2])) + sum(identity(3)) + sum(diagonal({2, 2}))", 16),
        ("1e3 + .5 + 2. + 1E-1", 1002.6),
        ("sum(i^2 for i in 1:3)", 14),
    ],
)  # fmt: skip
def test_expressions(expression: str, value: float | None, read: Read) -> None:
    if value is None:  # a subscript needs a name before it
        with pytest.raises(ModelError, match="line 2"):
            parameters(read, f"parameter Real x = {expression};")
        return
    assert float(parameters(read, f"parameter Real x = {expression};")("x")) == pytest.approx(value)


def test_texts_enumerations_and_integers(read: Read) -> None:
    value = parameters(
        read,
        """
        type Mode = enumeration(off "Off", on "On", auto);
        parameter Integer n = 3;
        parameter String s = "a" + String(n) + String(true);
        parameter Mode mode = Mode.auto;
        parameter Boolean late = mode > Mode.on and s == "a3true";
        parameter Real byMode[Mode] = {1, 2, 3};
        parameter Real third = byMode[mode];
        """,
    )
    assert (value("s"), value("mode"), value("late"), float(value("third"))) == ("a3true", "auto", True, 3.0)


def test_functions_of_ones_own(read: Read) -> None:
    value = parameters(
        read,
        "parameter Real a[3] = {1, 2, 3};\n parameter Real x = poly(2, a);\n parameter Real y = twice(x=5);"
        "\n parameter Real z = apply(function add(b=3), 4);",
        poly="""function poly input Real x; input Real a[:] = {1}; output Real y = 0; protected Real p = 1;
            algorithm for i in 1:size(a, 1) loop y := y + a[i]*p; p := p*x; end for;
            while y > 1000 loop y := 0; end while; if y < 0 then y := -y; end if; end poly;""",
        twice="function twice extends base; algorithm y := k*x; end twice;",
        base="partial function base input Real x; output Real y; protected constant Real k = 2; end base;",
        add="function add input Real a; input Real b; output Real y; algorithm y := a + b; end add;",
        apply="function apply input func f; input Real x; output Real y; algorithm y := f(x); end apply;",
        func="partial function func input Real a; output Real y; end func;",
    )
    assert [value(name) for name in ("x", "y", "z")] == [17.0, 10.0, 7.0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_parameter_stays_one_until_something_needs_its_value(read: Read) -> None:
    text = """
    model M
      parameter Integer n = 2;
      parameter Real L = 0.5;
      parameter Real tilt = 30;
      final parameter Real half = L/2;
      inner Modelica.Mechanics.MultiBody.World world;
      Modelica.Mechanics.MultiBody.Joints.Revolute hinge(n={0, 0, 1});
      Modelica.Mechanics.MultiBody.Parts.FixedRotation turned(
        rotationType=Modelica.Mechanics.MultiBody.Types.RotationTypes.TwoAxesVectors,
        n_x={cos(tilt*Modelica.Constants.pi/180), sin(tilt*Modelica.Constants.pi/180), 0},
        n_y={-sin(tilt*Modelica.Constants.pi/180), cos(tilt*Modelica.Constants.pi/180), 0});
      Modelica.Mechanics.MultiBody.Parts.Body body(m=n, r_CM={half, 0, 0});
    equation
      connect(world.frame_b, turned.frame_a);
      connect(turned.frame_b, hinge.frame_a);
      connect(hinge.frame_b, body.frame_a);
    end M;"""
    roles = {v.name: (v.causality, v.variability) for v in mbfmu.System.of(read(text)).variables}
    assert roles["L"] == ("parameter", "fixed")
    assert roles["half"][0] == roles["body.r_CM[1]"][0] == "calculatedParameter"
    assert {roles["n"][1], roles["tilt"][1]} == {"constant"}
    longer = read(text)
    longer.modify(L=1.0, tilt=60.0)
    swing = mbfmu.simulate(longer, 0.01)
    assert swing["body.r_CM[1]"][0] == 0.5
    assert swing["turned.frame_b.R.T[1,2]"][0] == pytest.approx(math.sin(math.radians(60)))


def test_inheritance_redeclaration_and_nested_modifiers_merge(read: Read) -> None:
    assembly = read(
        """
        package P
          partial model Shaft
            replaceable model Spring = Modelica.Mechanics.Rotational.Components.Spring(c=3)
              constrainedby Modelica.Mechanics.Rotational.Interfaces.PartialCompliant;
            parameter Real J = 1;
            Modelica.Mechanics.Rotational.Components.Inertia inertia(J=J, w(start=2, fixed=true));
            replaceable Modelica.Mechanics.Rotational.Components.Inertia load(J=5*J, phi(fixed=true));
            Spring spring;
          equation
            connect(inertia.flange_b, spring.flange_a);
            connect(spring.flange_b, load.flange_a);
          end Shaft;
          model Stiff
            extends Shaft(redeclare model Spring = Modelica.Mechanics.Rotational.Components.SpringDamper(d=0.5, c=20),
              J=2, inertia(phi(fixed=true, start=0.25)));
          end Stiff;
          model M
            extends Stiff(
              inertia.w.start=7,
              redeclare Modelica.Mechanics.Rotational.Components.Inertia load(w(fixed=true)));
          end M;
        end P;""",
        "P.M",
    )
    result = mbfmu.simulate(assembly, 0.01)
    names = ("inertia.phi", "inertia.w", "inertia.J", "load.J", "spring.c", "spring.d", "load.w")
    assert [result[n][0] for n in names] == [0.25, 7.0, 2.0, 10.0, 20.0, 0.5, 0.0]


def test_arrays_of_components_slices_loops_and_conditions(read: Read) -> None:
    assembly = read(
        """
        model M
          parameter Integer n = 3;
          parameter Boolean braked = n > 3;
          Modelica.Blocks.Sources.Constant source[n](k={1, 2, 3});
          Modelica.Blocks.Math.Gain gain[n](each k=2);
          Modelica.Blocks.Math.Sum sum1(nin=n);
          Modelica.Blocks.Math.Sum sum2(nin=2);
          Modelica.Mechanics.Rotational.Components.Inertia inertia[2](
            J={1, 2}, phi(each fixed=true), w(each fixed=true));
          Modelica.Mechanics.Rotational.Components.Fixed fixed if braked;
          Modelica.Mechanics.Rotational.Sources.Torque torque[2];
        equation
          connect(source.y, gain.u);
          connect(gain.y, sum1.u);
          connect(gain[2:end].y, sum2.u);
          for i in 1:2 loop
            connect(torque[i].flange, inertia[i].flange_a);
            if i == 1 then
              connect(sum1.y, torque[i].tau);
            else
              connect(sum2.y, torque[i].tau);
            end if;
          end for;
          connect(fixed.flange, inertia[1].flange_b);
        end M;"""
    )
    assert final(assembly, "sum1.y", "sum2.y", "inertia[1].w", "inertia[2].w", stop=1.0) == pytest.approx(
        [12, 10, 12, 5]
    )


def test_inner_and_outer_reach_through_the_hierarchy(read: Read) -> None:
    assembly = read(
        """
        package P
          model Arm
            outer Modelica.Mechanics.MultiBody.World world;
            outer parameter Real scale;
            Modelica.Mechanics.MultiBody.Interfaces.Frame_a frame;
            Modelica.Mechanics.MultiBody.Parts.PointMass mass(m=scale*world.g);
          equation
            connect(frame, mass.frame_a);
          end Arm;
          model M
            inner parameter Real scale = 2;
            inner Modelica.Mechanics.MultiBody.World world(g=5);
            Modelica.Mechanics.MultiBody.Joints.Prismatic slide(n={0, 1, 0}, s(fixed=true), v(fixed=true));
            Arm arm;
          equation
            connect(world.frame_b, slide.frame_a);
            connect(slide.frame_b, arm.frame);
          end M;
        end P;""",
        "M",
    )
    assert final(assembly, "arm.mass.m", "slide.v", stop=1.0) == pytest.approx([10, -5])


@pytest.mark.parametrize("line", ["Real y = world.g*cos(0*time)", "parameter Real y = world.g"])
def test_an_outer_world_that_nobody_declares_is_the_library_s(read: Read, line: str) -> None:
    """In an equation, and where the model is made."""
    text = f"""
        package P
          model A
            outer Modelica.Mechanics.MultiBody.World world;
            {line};
          end A;
          model M
            A a;
            Modelica.Blocks.Continuous.Integrator level(k=a.y, y_start=1);
            Modelica.Blocks.Sources.Constant one(k=1);
          equation
            connect(one.y, level.u);
          end M;
        end P;"""
    if line.startswith("Real"):
        text = text.replace("k=a.y", "k=1")
    with pytest.warns(UserWarning, match=r"M has no World; one with the default gravity field is added"):
        assembly = read(text, "M")
    assert final(assembly, "a.y", stop=1.0) == pytest.approx([9.80665])


def test_a_world_is_that_of_the_nearest_model_around_or_the_library_s(read: Read) -> None:
    """One part has a World of its own; the other one knows nothing of it."""
    with pytest.warns(UserWarning, match=r"M has no World; one with the default gravity field is added"):
        assembly = read(
            """
            package P
              model A outer Modelica.Mechanics.MultiBody.World world; Real y = world.g*cos(0*time); end A;
              model B inner Modelica.Mechanics.MultiBody.World world(g=5); A a; end B;
              model M B b; A a; end M;
            end P;""",
            "M",
        )
    assert final(assembly, "b.a.y", "a.y", stop=1.0) == pytest.approx([5, 9.80665])


def test_a_world_of_the_file_s_own_takes_none_of_the_library_s(read: Read) -> None:
    assembly = read(
        """
        package P
          model Surroundings parameter Real T = 20; Real y = T*time; end Surroundings;
          model A outer Surroundings world; Real y = 2*world.T*cos(0*time); end A;
          model M inner Surroundings world(T=30); A a; end M;
        end P;""",
        "M",
    )
    assert final(assembly, "a.y", stop=1.0) == pytest.approx([60])


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_package_in_folders_is_found_by_its_within_clauses(tmp_path: pathlib.Path) -> None:
    files = {
        "Lib/package.mo": "package Lib import SI = Modelica.Units.SI; constant SI.Mass m0 = 4; end Lib;",
        "Lib/package.order": "Parts\nUse",
        "Lib/Parts/package.mo": "within Lib; package Parts end Parts;",
        "Lib/Parts/Wheel.mo": "within Lib.Parts; model Wheel parameter SI.Inertia J = m0/2; "
        "Modelica.Mechanics.Rotational.Components.Inertia inertia(J=J, w(start=1, fixed=true)); end Wheel;",
        "Lib/Use.mo": "within Lib; model Use import Lib.Parts.*; Wheel wheel; Parts.Wheel other(J=7); end Use;",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assembly = load(tmp_path / "Lib" / "Use.mo")
    assert final(assembly, "wheel.inertia.J", "other.inertia.J") == [2, 7]
    assert load(tmp_path / "Lib" / "package.mo", class_name="Parts.Wheel").name == "Wheel"


def test_experiment_documentation_and_interface(read: Read) -> None:
    assembly = read(
        """
        model M "Says what it is"
          parameter Modelica.Units.SI.Mass m(displayUnit="g") = 2 "Mass of it"
            annotation(choices(choice=1 "One", choice=2 "Two"));
          Modelica.Blocks.Interfaces.RealInput u;
          Modelica.Blocks.Interfaces.RealOutput y;
          output Real twice(unit="kg") = 2*m;
          Modelica.Blocks.Math.Gain gain(k=m);
        equation
          connect(u, gain.u);
          connect(gain.y, y);
          annotation(experiment(StartTime=1, StopTime=5/2, Tolerance=1e-5, Interval=0.1), Documentation(info="<html>"),
            __Dymola_Commands(file="a.mos" "Simulate", file="b.mos" "Plot"));
        end M;"""
    )
    assert (assembly.start_time, assembly.stop_time, assembly.tolerance) == (1.0, 2.5, 1e-5)
    assert assembly.description == "Says what it is"
    variables = {v.name: v for v in mbfmu.System.of(assembly).variables}
    assert {n for n, v in variables.items() if v.causality == "output"} == {"y", "twice"}
    assert variables["u"].causality == "input"
    assert (variables["m"].unit, variables["m"].description) == ("kg", "Mass of it")
    assert (variables["m"].display_unit, variables["twice"].unit) == ("g", "kg")


# -- equations of one's own


def test_states_switches_and_implicit_linear_equations(read: Read) -> None:
    assembly = read(
        """
        model M
          parameter Real T = 0.5;
          Real x(start=1, fixed=true);
          Real v(start=0, fixed=true);
          Real a;
          Real p, q;
          Real kink;
        equation
          T*der(x) + x = v;
          der(v) = a;
          a = if time < 1 then 1 else -1;
          p + q = 3*v;
          p - q = v;
          kink = abs(v - 0.5);
        end M;""",
    )
    result = mbfmu.simulate(assembly, 2.0, tolerance=1e-9)
    t = result.time
    v = np.where(t < 1, t, 2 - t)
    np.testing.assert_allclose(result["v"], v, atol=1e-9)
    np.testing.assert_allclose(result["p"], 2 * v, atol=1e-9)
    np.testing.assert_allclose(result["kink"], np.abs(v - 0.5), atol=1e-9)
    early = t <= 1  # T x' + x = t
    np.testing.assert_allclose(result["x"][early], t[early] - 0.5 + 1.5 * np.exp(-t[early] / 0.5), atol=1e-7)


def test_an_initial_equation_beside_a_fixed_start_value_agrees_with_it_or_stops_the_run(read: Read) -> None:
    declared = """model M
        parameter Real a = 2;
        Modelica.Mechanics.Rotational.Components.Inertia j(J=1, phi(start=a, fixed=true), w(start=0, fixed=true));
        initial equation
          j.phi = 2;
          {more}
        end M;"""
    assembly = read(declared.format(more="j.phi = 2;"))
    assert mbfmu.simulate(assembly, 0.1)["j.phi"][0] == 2.0
    with pytest.raises(InitializationError, match=r"'j.phi = 2 \(.*M\.mo, line 5\)' is off by 1.*: j.phi = 3"):
        mbfmu.simulate(System.of(assembly), 0.1, start_values={"a": 3.0})
    with pytest.raises(InitializationError, match=r"'2 \* j.phi = 6 \(.*M\.mo, line 6\)' is off by 2"):
        mbfmu.simulate(read(declared.format(more="2*j.phi = 6;")), 0.1)


@pytest.mark.slow
@pytest.mark.campaign
def test_long_sums_and_choices_and_deep_packages_are_read(read: Read) -> None:
    ladder = " ".join(f"if x > {k} then {k} else" for k in range(400, 0, -1))
    text = f"""model M
        parameter Real k = 0.5;
        parameter Real long = {" + ".join(["k"] * 7000)};
        parameter Real rung = {ladder.replace("x", "7.5*k*2")} 0;
        Real x(start=1, fixed=true);
        Real y;
        Real floor;
        equation
          der(x) = {" + ".join(["x/1000"] * 1000)};
          {"y + " * 1000} y = {" - ".join(["x"] * 1003)};
          floor = {ladder} 0;
        end M;"""
    assembly = read(text)
    long, rung, x, y, floor = final(assembly, "long", "rung", "x", "y", "floor", stop=1.0)
    assert (long, rung, floor) == (3500.0, 7.0, 2.0)
    assert (x, y) == pytest.approx((math.e, -math.e), rel=1e-4)
    names = [f"P{k}" for k in range(1200)]
    deep = "".join(f"package {name}\n" for name in names)
    ends = "".join(f"end {name};\n" for name in reversed(names))
    inner = "model M Real x(start=1, fixed=true); equation der(x) = 1; end M;\n"
    assert final(read(f"{deep}{inner}{ends}"), "x", stop=1.0) == [pytest.approx(2.0)]


@pytest.mark.slow
def test_what_is_nested_too_deeply_is_told_as_such(read: Read) -> None:
    conditions, ends = "if k then\n" * 3000, "end if;\n" * 3000
    text = f"model M parameter Boolean k=true; Real x; equation\n{conditions}x = 1;\n{ends}end M;"
    with pytest.raises(ModelError, match=r"nested too deeply, or refers to itself"):
        mbfmu.simulate(read(text), 1.0)


def test_a_force_law_and_a_block_from_the_library_s_partial_models(read: Read) -> None:
    assembly = read(
        """
        package P
          model Cubic "tau = c3 phi^3"
            extends Modelica.Mechanics.Rotational.Interfaces.PartialCompliant;
            parameter Real c3(unit="N.m/rad3") = 1;
          equation
            tau = c3*phi_rel^3;
          end Cubic;
          block Square
            extends Modelica.Blocks.Interfaces.SISO;
          equation
            y = u^2;
          end Square;
          model M
            Modelica.Mechanics.Rotational.Components.Fixed fixed;
            Cubic spring(c3=5);
            Modelica.Mechanics.Rotational.Components.Inertia inertia(J=2, phi(start=1, fixed=true), w(fixed=true));
            Square square;
            Modelica.Mechanics.Rotational.Sensors.SpeedSensor sensor;
            Real energy = inertia.J*square.y/2 + 5*spring.phi_rel^4/4;
            Modelica.Units.SI.Torque load = inertia.flange_a.tau;
          equation
            connect(fixed.flange, spring.flange_a);
            connect(spring.flange_b, inertia.flange_a);
            connect(inertia.flange_b, sensor.flange);
            connect(sensor.w, square.u);
          end M;
        end P;""",
        "M",
    )
    result = mbfmu.simulate(assembly, 3.0, tolerance=1e-9)
    np.testing.assert_allclose(result["energy"], 1.25, atol=1e-6)
    np.testing.assert_allclose(result["load"], -5 * result["inertia.phi"] ** 3, atol=1e-6)
    assert np.ptp(result["inertia.phi"]) > 1.5


@pytest.mark.slow
def test_a_force_between_frames_with_vector_equations(read: Read) -> None:
    assembly = read(
        """
        package P
          model Tether "Force -k r between two frames"
            extends Modelica.Mechanics.MultiBody.Interfaces.PartialForce;
            import Modelica.Mechanics.MultiBody.Frames;
            parameter Real k = 3;
          equation
            frame_b.f = k*r_rel_b;
            frame_b.t = zeros(3);
          end Tether;
          model M
            inner Modelica.Mechanics.MultiBody.World world(gravityType=
              Modelica.Mechanics.MultiBody.Types.GravityTypes.NoGravity);
            Modelica.Mechanics.MultiBody.Parts.Body body(m=2, r_CM=zeros(3), r_0(start={1, 0, 0}, each fixed=true),
              v_0(start={0, 1, 0}, each fixed=true), angles_fixed=true, w_0_fixed=true);
            Tether tether;
          equation
            connect(world.frame_b, tether.frame_a);
            connect(tether.frame_b, body.frame_a);
          end M;
        end P;""",
        "M",
    )
    result = mbfmu.simulate(assembly, 3.0, tolerance=1e-9)
    w = math.sqrt(1.5)
    np.testing.assert_allclose(result["body.r_0[1]"], np.cos(w * result.time), atol=1e-6)
    np.testing.assert_allclose(result["body.r_0[2]"], np.sin(w * result.time) / w, atol=1e-6)


def test_equations_feed_inputs_of_parts(read: Read) -> None:
    assembly = read(
        """
        model M
          parameter Real k = 3;
          Modelica.Mechanics.Rotational.Components.Inertia a(J=2, phi(fixed=true), w(fixed=true));
          Modelica.Mechanics.Rotational.Components.Inertia b(J=1);
          Modelica.Mechanics.Rotational.Sources.Torque torque[2];
          Modelica.Blocks.Sources.RealExpression control(y=1 - k*a.w);
        initial equation
          b.phi = k/6;
          b.w = 2;
        equation
          connect(control.y, torque[1].tau);
          torque[2].tau = -b.w;
          connect(torque[1].flange, a.flange_a);
          connect(torque[2].flange, b.flange_a);
        end M;"""
    )
    assert mbfmu.simulate(assembly, 0.1)["b.phi"][0] == 0.5
    assert final(assembly, "a.w", "b.w", stop=1.0) == pytest.approx(
        [(1 - math.exp(-1.5)) / 3, 2 * math.exp(-1)], abs=1e-5
    )


def test_inputs_connected_with_each_other_and_buses_have_one_source(read: Read) -> None:
    assembly = read(
        """
        package P
          expandable connector Bus end Bus;
          model Reader
            Bus bus;
            Modelica.Blocks.Math.Gain gain(k=2);
            Modelica.Blocks.Math.Gain other(k=3);
          equation
            connect(bus.axis.speed, gain.u);
            connect(gain.u, other.u);
          end Reader;
          model M
            Bus bus;
            Reader reader;
            Modelica.Blocks.Sources.Constant source(k=7);
          equation
            connect(source.y, bus.axis.speed);
            connect(bus, reader.bus);
          end M;
        end P;""",
        "M",
    )
    assert final(assembly, "reader.gain.y", "reader.other.y") == [14, 21]


def test_a_model_without_a_world_gets_the_default_one(read: Read) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assembly = read("model M Modelica.Mechanics.MultiBody.Parts.PointMass p(m=1); end M;")
    assert "has no World" in str(caught[-1].message)
    assert "world" in assembly.parts


def test_parameters_may_be_set_and_structure_follows(read: Read, tmp_path: pathlib.Path) -> None:
    read(
        "model M parameter Integer n = 2; Modelica.Blocks.Sources.Constant c[n](k=1:n); "
        "parameter Real start[n] = 1:n; end M;"
    )
    assembly = sources.load(f"{tmp_path / 'M.mo'}:M", ["n=4"])
    assert list(assembly.parts) == ["c[1]", "c[2]", "c[3]", "c[4]"]
    assert final(assembly, "c[4].y", "start[4]") == [4, 4]


def test_signals_and_variables_have_their_types(read):
    model = read("""
        model M
          Modelica.Blocks.Interfaces.BooleanInput on;
          Modelica.Blocks.Interfaces.IntegerOutput k;
          input Boolean direct;
          output Boolean both;
          Integer count;
          Modelica.Blocks.Logical.Not no;
          Modelica.Blocks.Sources.BooleanExpression late(y = time > 0.5 and on);
          Modelica.Blocks.Sources.IntegerExpression number(y = if on then 3 else 4);
        equation
          connect(late.y, no.u);
          connect(number.y, k);
          both = direct and no.y;
          count = if both then 2 else 5;
        end M;
    """)
    system = mbfmu.System.of(model)
    types = {v.name: (v.type, v.causality, v.variability) for v in system.variables}
    assert types["on"] == types["direct"] == ("Boolean", "input", "discrete")
    assert types["both"] == ("Boolean", "output", "discrete")
    assert types["k"] == ("Integer", "output", "discrete")
    assert types["count"] == ("Integer", "local", "discrete")
    result = mbfmu.simulate(system, 1.0, inputs={"on": True, "direct": ([0.0, 0.25], [True, False])})
    assert [result[name][-1] for name in ("late.y", "both", "k", "count")] == [1, 0, 3, 5]
    assert [result[name][50] for name in ("late.y", "both", "k", "count")] == [0, 1, 3, 2]


def test_blocks_of_ones_own_have_boolean_and_integer_signals(read: Read) -> None:
    """Derived from the library's partial blocks, with vectors as long as their parameters say."""
    model = read("""
        model M
          block Stairs
            extends Modelica.Blocks.Interfaces.IntegerSignalSource(offset=1);
          equation
            y = offset + (if time >= startTime then 2 else 0);
          end Stairs;
          block Above
            extends Modelica.Blocks.Interfaces.IntegerSIBooleanSO;
          equation
            y = u > 2;
          end Above;
          block Inverter
            extends Modelica.Blocks.Interfaces.BooleanSISO;
          equation
            y = not u;
          end Inverter;
          block Both
            extends Modelica.Blocks.Interfaces.MI2BooleanMOs(n=2);
          equation
            for i in 1:n loop
              y[i] = u1[i] and u2[i];
            end for;
          end Both;
          Stairs stairs(startTime=0.5);
          Above above;
          Inverter inverter;
          Both both;
          Modelica.Blocks.Sources.BooleanStep late(startTime=0.75);
        equation
          connect(stairs.y, above.u);
          connect(above.y, inverter.u);
          connect(above.y, both.u1[1]);
          connect(inverter.y, both.u1[2]);
          connect(late.y, both.u2[1]);
          connect(late.y, both.u2[2]);
        end M;
    """)
    result = mbfmu.simulate(model, 1.0, interval=0.3)
    shown = {name: list(result[name]) for name in ("stairs.y", "above.y", "inverter.y", "both.y[1]", "both.y[2]")}
    assert shown["stairs.y"] == [1, 1, 3, 3, 3]
    assert shown["above.y"] == [0, 0, 1, 1, 1]
    assert shown["inverter.y"] == [1, 1, 0, 0, 0]
    assert shown["both.y[1]"] == [0, 0, 0, 1, 1]
    assert shown["both.y[2]"] == [0, 0, 0, 0, 0]


def test_what_a_diagram_shows_is_a_variable(read: Read) -> None:
    model = read("""
        model M
          parameter Real k = 3;
          Modelica.Blocks.Sources.Ramp ramp(height=1, duration=1);
          Modelica.Blocks.Sources.BooleanStep step(startTime=0.5);
          Modelica.Blocks.Interaction.Show.RealValue real, fixed(use_numberPort=false, number=2*k);
          Modelica.Blocks.Interaction.Show.IntegerValue integer(use_numberPort=false, number=7);
          Modelica.Blocks.Interaction.Show.BooleanValue truth;
        equation
          connect(ramp.y, real.numberPort);
          connect(step.y, truth.activePort);
        end M;
    """)
    result = mbfmu.simulate(model, 1.0, interval=0.25)
    np.testing.assert_allclose(result["real.showNumber"], result.time, atol=1e-12)
    assert list(result["truth.showActive"]) == [0, 0, 1, 1, 1]
    assert result["fixed.showNumber"][-1] == 6.0
    assert result["integer.showNumber"][-1] == 7.0


def test_inputs_of_the_model_have_their_start_values_until_they_are_set(read: Read) -> None:
    assembly = read("""
        model M
          parameter Real k=2;
          Modelica.Blocks.Interfaces.RealInput u(start=k/4);
          input Real v[2](start={1, k});
          Modelica.Blocks.Interfaces.RealInput w[3](each start=7);
          Modelica.Blocks.Interfaces.BooleanInput on(start=true);
          Modelica.Blocks.Interfaces.IntegerInput n(start=3);
          Real y = u + 10*v[1] + 100*v[2] + 1000*w[3] + (if on then 1e4*n else 0);
        end M;""")
    assert final(assembly, "y") == [0.5 + 10 + 200 + 7000 + 30000]
    assembly.modify(k=4)
    assert final(assembly, "y") == [1 + 10 + 400 + 7000 + 30000]


@pytest.mark.slow
def test_state_selection_a_part_that_modifies_itself_and_guesses_of_signals(read: Read) -> None:
    assembly = read("""
        model M
          Modelica.Mechanics.Rotational.Components.Inertia inertia(
            J=2, stateSelect=StateSelect.always, phi(start=0.5*inertia.J, fixed=true), w(fixed=true));
          Modelica.Mechanics.Rotational.Components.SpringDamper spring(c=8*inertia.J, d=spring.c/100);
          Modelica.Mechanics.Rotational.Components.Fixed fixed;
          Modelica.Blocks.Continuous.LimPID control(k=1, Ti=1, Td=0.1, yMax=5, limiter(u(start=0)));
          Modelica.Blocks.Continuous.Integrator integrator(
            initType=Modelica.Blocks.Types.Init.NoInit, y(start=3, fixed=true));
          Modelica.Blocks.Sources.Constant none(k=0);
        equation
          connect(inertia.flange_b, spring.flange_a);
          connect(spring.flange_b, fixed.flange);
          connect(none.y, integrator.u);
          connect(none.y, control.u_s);
          connect(none.y, control.u_m);
        end M;""")
    assert final(assembly, "integrator.y", "spring.d", stop=0.1) == [3.0, 0.16]
    assert mbfmu.simulate(assembly, 0.1)["inertia.phi"][0] == 1.0


def test_inputs_with_values_of_their_own_outputs_read_beside_connections_and_ordered_algorithms(read: Read) -> None:
    assembly = read("""
        model M
          block Show
            parameter Boolean usePort=true;
            input Real number=7;
            Modelica.Blocks.Interfaces.RealInput u if usePort;
            Modelica.Blocks.Interfaces.RealOutput y;
          equation
            if usePort then
              connect(u, y);
            else
              y = number;
            end if;
          end Show;
          Show connected, open(usePort=false), given(usePort=false, number=2*time);
          Modelica.Blocks.Sources.Ramp ramp(height=4, duration=1);
          Modelica.Blocks.Interfaces.RealOutput out[2];
          Real twice, sum;
        equation
          connect(ramp.y, connected.u);
          connect(connected.y, out[1]);
          connect(given.y, out[2]);
        algorithm
          twice := 2*out[1];
          sum := twice + out[2];
          assert(sum < 11, "too much");
        end M;""")
    names = "connected.y", "open.y", "given.y", "out[1]", "twice", "sum"
    assert final(assembly, *names, stop=1.0) == pytest.approx([4, 7, 2, 4, 8, 10])


def test_a_dot_in_front_begins_at_the_top(read: Read) -> None:
    assembly = read("""
        model M
          model S
            Real y = 1;
          end S;
          model T
            model S
              Real y = 2;
            end S;
            model M
              model S
                Real y = 3;
              end S;
            end M;
            S own;
            M.S near;
            .M.S far;
          end T;
          T t;
        end M;""")
    assert final(assembly, "t.own.y", "t.near.y", "t.far.y", stop=1.0) == [2, 3, 1]


@pytest.mark.parametrize("ends", [("both.y", "one.u"), ("one.u", "both.y")])
def test_a_connector_of_a_vector_meets_an_array_of_scalar_ones(read: Read, ends: tuple[str, str]) -> None:
    assembly = read(f"""
        model M
          block Both
            Modelica.Blocks.Interfaces.RealOutput y[2];
          equation
            y = {{time, 5*time}};
          end Both;
          Both both;
          Modelica.Blocks.Math.Gain one[2](k={{2, 3}});
        equation
          connect({ends[0]}, {ends[1]});
        end M;""")
    assert final(assembly, "one[1].y", "one[2].y", stop=1.0) == pytest.approx([2, 15])


def test_an_algorithm_may_read_a_part_before_it_assigns_what_is_called_as_a_variable_of_that(read: Read) -> None:
    assembly = read("""
        model M
          model S
            Real y = 3*time;
          end S;
          S s;
          Real x, y;
        algorithm
          x := 2*s.y;
          y := x + 1;
        end M;""")
    assert final(assembly, "x", "y", stop=1.0) == pytest.approx([6, 7])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["start_time", "switch", "energy", "equations", "build", "value", "tolerance"])
def test_names_that_mean_something_in_python(read: Read, name: str) -> None:
    assembly = read(f"""
        model M
          model S
            parameter Real {name} = 3;
            Real x(start=1, fixed=true);
          equation
            der(x) = {name};
          end S;
          S s({name}=4), o;
          parameter Real {name} = 5;
          Real y = {name}*time;
        end M;""")
    assert final(assembly, "s.x", "o.x", "y", f"s.{name}", name, stop=1.0) == pytest.approx([5, 4, 5, 4, 5])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("late == true", lambda t: t > 0.4),
        ("late <> early", lambda t: (t < 0.2) | (t > 0.4)),
        ("late == (not early)", lambda t: (t < 0.2) | (t > 0.4)),
        ("not (late or early)", lambda t: (t > 0.2) & (t < 0.4)),
        ("late < true", lambda t: t < 0.4),
    ],
)
def test_conditions_of_booleans(read: Read, condition: str, holds: Callable[[Any], Any]) -> None:
    assembly = read(f"""
        model M
          Real x(start=0, fixed=true), y;
          Boolean early = x < 0.2, late = x > 0.4;
        equation
          der(x) = 1;
          y = if {condition} then 1 else 2;
        end M;""")
    result = mbfmu.simulate(assembly, 0.63, interval=0.07)
    truth = holds(np.asarray(result.time))
    np.testing.assert_array_equal(result["y"], np.where(truth, 1, 2))


def test_files_of_packages_and_the_library_s_own_text_beside_the_model(tmp_path: pathlib.Path) -> None:
    texts = {
        "Modelica/Mechanics/Rotational/Interfaces/Flange.mo": "connector Flange Real phi; end Flange;",
        "Modelica/Mechanics/Rotational/Interfaces/Flange_a.mo": "connector Flange_a extends Flange; end Flange_a;",
        "Modelica/Mechanics/Rotational/Examples/M.mo": """
            model M
              Components.Fixed fixed;
              Interfaces.Flange_a flange;
              Modelica.Blocks.Sources.CombiTimeTable table(tableOnFile=true, tableName="t",
                fileName=Modelica.Utilities.Files.loadResource("modelica://Modelica/Resources/t.txt"));
            equation
              connect(fixed.flange, flange);
            end M;""",
        "Modelica/Resources/t.txt": "\ufeff#1\ndouble t(2,2)\n0 1\n1 3\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        within = f"within {'.'.join(path.relative_to(tmp_path).parts[:-1])};\n" if path.suffix == ".mo" else ""
        path.write_text(within + text, encoding="utf-8")
    assembly = load(tmp_path / "Modelica/Mechanics/Rotational/Examples/M.mo")
    assert final(assembly, "table.y[1]", stop=0.5) == pytest.approx([2.0])


@pytest.mark.slow
def test_the_classes_of_a_file_end_with_its_assembly(read: Read) -> None:
    text = (
        "model M\n  model N\n    Real x(start=1, fixed=true);\n  equation\n    der(x) = -x;\n  end N;\n"
        "  N a;\n  Real y = a.x;\nend M;\n"
    )

    def classes(base: type) -> int:
        return sum(1 + classes(cls) for cls in base.__subclasses__())

    counts, ends = [], []
    for _ in range(3):
        assembly = read(text, "M")
        System.of(assembly)
        ends += [weakref.ref(type(part)) for part in assembly.walk()]
        del assembly
        gc.collect()
        counts.append(classes(Component))
    assert counts[0] == counts[1] == counts[2]
    assert [end() for end in ends] == [None] * 6
