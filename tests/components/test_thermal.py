"""Heat transfer: networks against linear algebra, heating against closed solutions, losses against energy."""

from __future__ import annotations

import math

import fmpy
import numpy as np
import pytest
from wiring import run, wired

import mbfmu
from mbfmu.components import Body, World, blocks, forces, rotational, thermal, translational
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Start
from mbfmu.modeling import types as t

ZERO = 273.15


def store(T: float, C: float = 10.0) -> thermal.HeatCapacitor:
    return thermal.HeatCapacitor(C=C, T=Start(T, fixed=True))


# -- components


@pytest.mark.slow
@pytest.mark.parametrize("target", ["native", "python"])
def test_a_body_cools_down(target, tmp_path):
    """T = T_a + (T_0 - T_a) exp(-G t / C), for conductor and resistor side by side."""
    assembly = wired(
        "body.port - conductor.port_a",
        "conductor.port_b - ambient.port",
        "body.port - resistor.port_a",
        "resistor.port_b - ambient.port",
        body=store(350.0),
        conductor=thermal.ThermalConductor(G=3.0),
        resistor=thermal.ThermalResistor(R=0.5),
        ambient=thermal.celsius.FixedTemperature(T=20.0),
    )
    path = mbfmu.build(assembly, tmp_path / "Cooling.fmu", target=target, equations="interpreted")
    assert mbfmu.validate(path) == []
    result = fmpy.simulate_fmu(
        str(path), stop_time=4.0, output_interval=0.1, relative_tolerance=1e-9, output=["body.T", "resistor.Q_flow"]
    )
    T = 293.15 + (350.0 - 293.15) * np.exp(-(3.0 + 2.0) / 10.0 * result["time"])
    np.testing.assert_allclose(result["body.T"], T, rtol=1e-7)
    np.testing.assert_allclose(result["resistor.Q_flow"], 2.0 * (T - 293.15), atol=1e-4)


def test_a_body_radiates():
    """1 / T^3 = 1 / T_0^3 + 3 Gr sigma t / C into the cold of space."""
    result = run(
        "body.port - radiation.port_a",
        "radiation.port_b - space.port",
        body=store(600.0, C=100.0),
        radiation=thermal.BodyRadiation(Gr=2.0),
        space=thermal.FixedTemperature(T=0.0),
        stop=50.0,
    )
    expected = (600.0**-3 + 3 * 2.0 * 5.670374419e-8 / 100.0 * result.time) ** (-1 / 3)
    np.testing.assert_allclose(result["body.T"], expected, rtol=1e-8)
    np.testing.assert_allclose(result["body.der_T"], -2.0 * 5.670374419e-8 / 100.0 * expected**4, rtol=1e-6)


@pytest.mark.parametrize(
    ("wall", "signal", "value"), [(thermal.Convection, "Gc", 4.0), (thermal.ConvectiveResistor, "Rc", 0.25)]
)
def test_walls(wall, signal, value):
    result = run(
        "solid.port - wall.solid",
        "wall.fluid - fluid.port",
        f"k.y - wall.{signal}",
        solid=thermal.FixedTemperature(T=310.0),
        fluid=thermal.FixedTemperature(T=300.0),
        wall=wall(),
        k=blocks.Constant(k=value),
    )
    assert result["wall.Q_flow"][0] == pytest.approx(40.0, rel=1e-12)
    assert (result["wall.dT"][0], result["fluid.port.Q_flow"][0]) == pytest.approx((10.0, 40.0), rel=1e-12)


def test_sources_and_sensors():
    """Heat flows that depend on temperature, signals in Kelvin and degree Celsius."""
    result = run(
        "flow.y - heat.Q_flow",
        "heat.port - conductor.port_a",
        "fixed.port - conductor.port_a",
        "conductor.port_b - bath.port",
        "bath_T.y - bath.T",
        "kelvin.port - heat.port",
        "celsius.port - heat.port",
        "difference.port_a - conductor.port_a",
        "difference.port_b - conductor.port_b",
        "kelvin.T - from.Kelvin",
        "from.Celsius - to.Celsius",
        flow=blocks.Ramp(height=20.0, duration=1.0),
        heat=thermal.PrescribedHeatFlow(alpha=-0.01, T_ref=300.0),
        fixed=thermal.FixedHeatFlow(Q_flow=5.0),
        conductor=thermal.ThermalConductor(G=2.0),
        bath=thermal.celsius.PrescribedTemperature(),
        bath_T=blocks.Constant(k=26.85),
        kelvin=thermal.TemperatureSensor(),
        celsius=thermal.celsius.TemperatureSensor(),
        difference=thermal.RelTemperatureSensor(),
        **{"from": thermal.celsius.FromKelvin(), "to": thermal.celsius.ToKelvin()},
    )
    q = 20.0 * result.time
    rise = (q + 5.0) / (2.0 + 0.01 * q)
    np.testing.assert_allclose(result["difference.T_rel"], rise, rtol=1e-10)
    np.testing.assert_allclose(result["kelvin.T"], 300.0 + rise, rtol=1e-12)
    np.testing.assert_allclose(result["celsius.T"], 26.85 + rise, rtol=1e-10)
    np.testing.assert_allclose(result["to.Kelvin"], 300.0 + rise, rtol=1e-12)
    np.testing.assert_allclose(result["from.Celsius"], 26.85 + rise, rtol=1e-10)


# -- networks


def test_a_mesh_of_conductors_is_solved():
    """Six nodes, each joined with each other, with heat from outside: Kirchhoff's laws by NumPy."""
    random = np.random.default_rng(3)
    n, parts, wires = 6, {}, []
    G = np.triu(random.uniform(0.5, 3.0, (n, n)), 1)
    Q = random.uniform(-5.0, 5.0, n)
    for i in range(n):
        parts[f"q{i}"] = thermal.FixedHeatFlow(Q_flow=Q[i])
        for j in range(i + 1, n):
            parts[f"g{i}{j}"] = thermal.ThermalConductor(G=G[i, j])
            wires += [f"g{i}{j}.port_a - q{i}.port", f"g{i}{j}.port_b - q{j}.port"]
    parts["ground"] = thermal.FixedTemperature(T=290.0)
    parts["out"] = thermal.ThermalConductor(G=1.5)
    wires += ["out.port_a - q0.port", "out.port_b - ground.port"]
    result = run(*wires, **parts)
    laplacian = np.diag((G + G.T).sum(axis=1)) - G - G.T
    laplacian[0, 0] += 1.5
    expected = 290.0 + np.linalg.solve(laplacian, Q)
    np.testing.assert_allclose([result[f"q{i}.port.T"][0] for i in range(n)], expected, rtol=1e-13)
    assert result["ground.port.Q_flow"][0] == pytest.approx(Q.sum(), rel=1e-9)


def test_heat_flow_sensors_join_and_measure():
    """In series between a store and a conductor, and in parallel with nothing between two known temperatures."""
    result = run(
        "body.port - meter.port_a",
        "meter.port_b - conductor.port_a",
        "conductor.port_b - second.port_a",
        "second.port_b - ambient.port",
        body=store(350.0),
        meter=thermal.HeatFlowSensor(),
        second=thermal.HeatFlowSensor(),
        conductor=thermal.ThermalConductor(G=4.0),
        ambient=thermal.FixedTemperature(T=300.0),
        stop=2.0,
    )
    T = 300.0 + 50.0 * np.exp(-0.4 * result.time)
    np.testing.assert_allclose(result["meter.port_b.T"], T, rtol=1e-8)
    for name in ("meter", "second"):
        np.testing.assert_allclose(result[f"{name}.Q_flow"], 4.0 * (T - 300.0), rtol=1e-6)
    np.testing.assert_allclose(result["body.port.Q_flow"], -4.0 * (T - 300.0), rtol=1e-6)


# -- losses


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_what_a_spring_damper_loses_heats_its_surroundings():
    """Mechanical energy and heat add up."""
    assembly = wired(
        "world.frame_b - spring.frame_a",
        "spring.frame_b - body.frame_a",
        "spring.heatPort - room.port",
        world=World(),
        body=Body(m=1.0, r_CM=(0, 0, 0), r_0=Start((1, -1, 0), fixed=True), v_0=Start((0, 0, 0), fixed=True)),
        spring=forces.SpringDamperParallel(c=30.0, d=2.0, s_unstretched=0.1, useHeatPort=True),
        room=store(300.0),
    )
    result = mbfmu.simulate(System.of(assembly, energy=True), 3.0, tolerance=1e-9, interval=0.05)
    heat = 10.0 * (result["room.T"] - 300.0)
    assert heat[-1] > 10.0
    np.testing.assert_allclose(result["energy.total"] + heat, result["energy.total"][0], atol=1e-6)
    np.testing.assert_allclose(result["energy.balanceError"], 0.0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    [
        rotational.Damper(d=2.0, useHeatPort=True),
        rotational.SpringDamper(c=5.0, d=2.0, useHeatPort=True),
        rotational.ElastoBacklash(c=50.0, d=2.0, b=0.1, useHeatPort=True),
        rotational.Clutch(mu_pos=[[0.0, 0.4]], fn_max=20.0, cgeo=1.0, useHeatPort=True),
    ],
    ids=lambda part: type(part).__name__,
)
def test_what_shafts_lose_becomes_heat(part):
    clutch = isinstance(part, rotational.Clutch)
    result = run(
        "wheel.flange_b - part.flange_a",
        "part.flange_b - load.flange_a",
        "part.heatPort - room.port",
        *(["on.y - part.f_normalized"] if clutch else []),
        wheel=rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(10.0, fixed=True)),
        load=rotational.Inertia(J=0.5, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True)),
        part=part,
        room=store(300.0, C=1.0),
        **({"on": blocks.Constant(k=1.0)} if clutch else {}),
        stop=8.0,
    )
    kinetic = 0.5 * (result["wheel.w"] ** 2 + 0.5 * result["load.w"] ** 2)
    assert result["room.T"][-1] - 300.0 == pytest.approx(kinetic[0] - kinetic[-1], rel=1e-4)
    np.testing.assert_allclose(result["part.heatPort.Q_flow"], -result["part.lossPower"], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_translational_losses_and_series_dampers_have_ports_too():
    result = run(
        "moved.flange - damper.flange_a",
        "damper.flange_b - wall.flange",
        "damper.heatPort - conductor.port_a",
        "conductor.port_b - ambient.port",
        moved=translational.ConstantSpeed(v_fixed=3.0),
        damper=translational.Damper(d=2.0, useHeatPort=True),
        wall=translational.Fixed(),
        conductor=thermal.ThermalConductor(G=6.0),
        ambient=thermal.FixedTemperature(T=300.0),
    )
    np.testing.assert_allclose(result["damper.heatPort.T"], 303.0, rtol=1e-12)
    series = forces.SpringDamperSeries(c=1.0, d=1.0, useHeatPort=True)
    assert "heatPort" in series.ports()


# -- FMUs


@pytest.mark.slow
def test_a_heat_port_of_an_assembly_is_a_connector_of_its_fmu(tmp_path):
    class Room(Assembly):
        """Heat in, temperature out."""

        port = thermal.HeatPort_a("Into the room")

        def __init__(self):
            self.air = store(300.0)
            self.wall = thermal.ThermalConductor(G=2.0)
            self.outside = thermal.celsius.FixedTemperature(T=0.0)
            self.connect(self.port, self.air.port)
            self.connect(self.air.port, self.wall.port_a)
            self.connect(self.wall.port_b, self.outside.port)

    path = mbfmu.build(Room(), tmp_path / "Room.fmu", equations="interpreted")
    assert mbfmu.validate(path) == []
    variables = {v.name: v for v in fmpy.read_model_description(str(path)).modelVariables}
    assert (variables["port.Q_flow"].causality, variables["port.T"].causality) == ("input", "output")
    temperature = variables["port.T"].declaredType
    assert (temperature.unit, temperature.displayUnit) == ("K", "degC")
    result = fmpy.simulate_fmu(
        str(path), stop_time=20.0, start_values={"port.Q_flow": 30.0}, relative_tolerance=1e-8, output=["port.T"]
    )
    end = ZERO + 15.0
    np.testing.assert_allclose(result["port.T"], end + (300.0 - end) * np.exp(-0.2 * result["time"]), rtol=1e-6)


def test_radiation_into_space_finds_its_temperature():
    """A heat flow of 1 W that leaves by radiation alone: sigma Gr (T^4 - 3^4) = 1 W."""
    model = wired(
        "heat.port - radiation.port_a",
        "radiation.port_b - space.port",
        heat=thermal.FixedHeatFlow(Q_flow=1.0),
        radiation=thermal.BodyRadiation(Gr=1.0),
        space=thermal.FixedTemperature(T=3.0),
    )
    sigma = 5.670374419e-8
    wanted = (1 / sigma + 3.0**4) ** 0.25
    np.testing.assert_allclose(mbfmu.simulate(model, 1.0)["radiation.port_a.T"], wanted, rtol=1e-9)


def test_a_shield_between_two_walls_that_radiate_is_found_from_ordinary_temperatures():
    """A temperature that nobody gave a start value is sought from 288.15 K, as Modelica has it.

    At 0 K nothing radiates, and from near it the first step is a million times too long.
    """
    model = wired(
        "hot.port - inner.port_a",
        "inner.port_b - outer.port_a",
        "outer.port_b - cold.port",
        hot=thermal.FixedTemperature(T=1000.0),
        inner=thermal.BodyRadiation(Gr=1.0),
        outer=thermal.BodyRadiation(Gr=2.0),
        cold=thermal.FixedTemperature(T=300.0),
    )
    system = System.of(model)
    p, functions = system.equations.parameters, system.equations.functions
    assert float(functions["iteration_guess"](np.append(p, functions["derived"](p)))) == 288.15
    result = mbfmu.simulate(system, 1.0)
    shield = ((1000.0**4 + 2 * 300.0**4) / 3) ** 0.25
    np.testing.assert_allclose(result["inner.port_b.T"], shield, rtol=1e-13)
    np.testing.assert_allclose(result["inner.Q_flow"], 5.670374419e-8 * (1000.0**4 - shield**4), rtol=1e-10)


def test_conductances_may_change_while_the_fmu_runs():
    assert thermal.ThermalConductor.declarations["G"].tunable
    assert thermal.ThermalConductor.declarations["G"].type is t.ThermalConductance


# -- bad input


@pytest.mark.parametrize(
    ("wires", "parts", "message"),
    [
        (
            ["one.port - two.port"],
            {"one": store(300.0), "two": store(310.0)},
            r"one\.port and two\.port determine one temperature.*ThermalConductor",
        ),
        (
            ["heat.port - sensor.port"],
            {"heat": thermal.FixedHeatFlow(Q_flow=1.0), "sensor": thermal.TemperatureSensor()},
            r"nothing determines the temperature of (heat|sensor)\.port.*HeatCapacitor",
        ),
        (
            ["heat.port - wall.port_a", "wall.port_b - out.port", "sensor.port - heat.port", "sensor.T - heat.Q_flow"],
            {
                "heat": thermal.PrescribedHeatFlow(),
                "wall": thermal.ThermalConductor(G=1.0),
                "out": thermal.FixedTemperature(T=300.0),
                "sensor": thermal.TemperatureSensor(),
            },
            r"heat\.port: with these parameters the heat flows there determine no temperature",
        ),
        (
            ["meter.port_a - one.port", "meter.port_b - two.port"],
            {"one": store(300.0), "two": store(310.0), "meter": thermal.HeatFlowSensor()},
            r"meter: both temperatures are determined",
        ),
    ],
)
def test_mistakes_are_named(wires, parts, message):
    with pytest.raises(ModelError, match=message):
        System.of(wired(*wires, **parts))


def test_impossible_values_are_refused():
    with pytest.raises(ModelError, match=r"T = -1.*must be >= 0 K"):
        thermal.FixedTemperature(T=-1.0)
    with pytest.raises(ModelError, match=r"C = 0.*must not be 0"):
        thermal.HeatCapacitor(C=0.0)
    assert math.isclose(thermal.FixedTemperature(T=300.0).value("T"), 300.0)


@pytest.mark.parametrize(
    ("scale", "degrees", "kelvins"),
    [("celsius", 26.85, 300.0), ("fahrenheit", 80.33, 300.0), ("rankine", 540.0, 300.0)],
)
def test_scales_of_temperature(scale, degrees, kelvins):
    """What is fixed in one scale is measured, and converted there and back, in it."""
    module = getattr(thermal, scale)
    unit = scale.capitalize()
    result = run(
        "fixed.port - sensor.port",
        f"sensor.T - to.{unit} ".strip(),
        "to.Kelvin - back.Kelvin",
        f"back.{unit} - given.T",
        "given.port - wall.port_a",
        "wall.port_b - store.port",
        fixed=module.FixedTemperature(T=degrees),
        sensor=module.TemperatureSensor(),
        to=module.ToKelvin(),
        back=module.FromKelvin(),
        given=module.PrescribedTemperature(),
        wall=thermal.ThermalConductor(G=2.0),
        store=store(290.0),
    )
    np.testing.assert_allclose(result["fixed.port.T"], kelvins, rtol=1e-12)
    np.testing.assert_allclose(result["to.Kelvin"], kelvins, rtol=1e-12)
    np.testing.assert_allclose(result["sensor.T"], degrees, rtol=1e-12)
    np.testing.assert_allclose(result["store.T"], kelvins - 10.0 * np.exp(-0.2 * result.time), rtol=1e-9)


def test_heat_flows_are_collected_in_a_row_and_in_a_matrix():
    """3 + 2 flows meet, one of them through a sensor; the store warms by their sum."""
    parts = {f"q{i}": thermal.FixedHeatFlow(Q_flow=float(i)) for i in range(1, 6)}
    assembly = wired(
        row=thermal.ThermalCollector(m=3),
        matrix=thermal.ThermalCollectorMatrix(Ns=2, Np=2),
        sensor=thermal.ConditionalFixedHeatFlowSensor(useFixedTemperature=False),
        store=store(300.0),
        **parts,
    )
    for i in range(3):
        assembly.connect(parts[f"q{i + 1}"].port, assembly.row.port_a[i])
    assembly.connect(assembly.row.port_b, assembly.matrix.port_a[0])
    assembly.connect(parts["q4"].port, assembly.matrix.port_a[1])
    assembly.connect(parts["q5"].port, assembly.matrix.port_a[3])
    assembly.connect(assembly.matrix.port_b, assembly.sensor.port_a)
    assembly.connect(assembly.sensor.port_b, assembly.store.port)
    result = mbfmu.simulate(assembly, 2.0)
    np.testing.assert_allclose(result["store.T"], 300.0 + 1.5 * result.time, rtol=1e-9)
    np.testing.assert_allclose(result["sensor.Q_flow"], 15.0, rtol=1e-12)
    np.testing.assert_allclose(result["row.port_a[2].Q_flow"], 2.0, rtol=1e-12)
    np.testing.assert_allclose(result["matrix.port_a[2,2].Q_flow"], 5.0, rtol=1e-12)
    with pytest.raises(AttributeError, match="port_c"):
        assembly.row.port_c  # noqa: B018


def test_a_heat_flow_sensor_that_keeps_its_temperature():
    result = run(
        "flow.port - sensor.port_a",
        "sensor.port_b - wall.port_a",
        "wall.port_b - cold.port",
        flow=thermal.FixedHeatFlow(Q_flow=100.0),
        sensor=thermal.ConditionalFixedHeatFlowSensor(useFixedTemperature=True),
        wall=thermal.ThermalConductor(G=3.0),
        cold=thermal.FixedTemperature(T=283.15),
    )
    np.testing.assert_allclose(result["sensor.Q_flow"], 30.0, rtol=1e-12)


def test_heat_ports_as_signals():
    """A temperature that a signal gives, and a flow that another one gives, seen from their other sides."""
    result = run(
        "warm.y - given.p",
        "given.heatPort - wall.port_a",
        "wall.port_b - store.port",
        "draw.y - taken.f",
        "taken.heatPort - store.port",
        warm=blocks.Constant(k=310.0),
        given=thermal.GeneralTemperatureToHeatFlowAdaptor(use_pder=False),
        wall=thermal.ThermalConductor(G=2.0),
        draw=blocks.Constant(k=4.0),
        taken=thermal.GeneralHeatFlowToTemperatureAdaptor(),
        store=store(300.0),
    )
    end = 308.0
    expected = end + (300.0 - end) * np.exp(-0.2 * result.time)
    np.testing.assert_allclose(result["store.T"], expected, rtol=1e-9)
    np.testing.assert_allclose(result["taken.p"], expected, rtol=1e-9)
    np.testing.assert_allclose(result["given.f"], 2.0 * (310.0 - expected), rtol=1e-7)
