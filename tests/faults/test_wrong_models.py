"""Wrong models in Python: each is refused with the name, the value and the remedy, by every command alike."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable

import casadi as ca
import pytest
from refusals import Refused

from mbfmu import Assembly, Component, Start, System, load, simulate
from mbfmu.components import Body, BodyShape, Revolute, World, blocks, rotational, thermal, translational
from mbfmu.components.examples.robot_r3 import GearType1
from mbfmu.components.interfaces import Flange_a, Flange_b
from mbfmu.errors import InitializationError, MbfmuError, NotFiniteWarning, SimulationError
from mbfmu.modeling import BooleanInput, Parameter, RealInput, RealOutput, Variable, required
from mbfmu.modeling import types as t

HEAD = """
import math, sys, casadi as ca
from mbfmu import Assembly, Component, Start
from mbfmu.components import *
from mbfmu.components import blocks, forces, rotational, sensors, thermal
from mbfmu.modeling import Parameter, RealInput, RealOutput, Variable, required
from mbfmu.modeling import types as t
"""

MODEL = """
class M(Assembly):
    def __init__(self):
        self.world = World()
        self.j = Revolute(phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True))
        self.b = Body(m=1.0, r_CM=(0.5, 0, 0))
        self.connect(self.world.frame_b, self.j.frame_a)
        self.connect(self.j.frame_b, self.b.frame_a)
"""

#: A wrong line at the end of the constructor -> words of the message.
LINES: dict[str, list[str]] = {
    # names
    "self.add = blocks.Add()": ["no component can be assigned to 'add'", "add1"],
    "self.input = blocks.Add()": ["'input'", "input1"],
    "self.output = blocks.Add()": ["'output'", "output1"],
    "self.start = blocks.Add()": ["'start'", "start1"],
    "self.path = blocks.Add()": ["'path'", "path1"],
    "self.value = blocks.Add()": ["'value'", "value1"],
    "self.name = blocks.Add()": ["'name'", "name1"],
    "self.build = blocks.Add()": ["'build'", "build1"],
    "self.connect = blocks.Add()": ["'connect'", "connect1"],
    "self.parts = Revolute()": ["'parts'", "parts1"],
    "self.stop_time = Revolute()": ["'stop_time'", "stop_time1"],
    "self.modify = [Revolute(), Revolute()]": ["'modify'", "modify1"],
    "self.name = 'x'": ["'name'", "choose another"],
    "self.value = 3": ["'value'", "choose another"],
    "self.größe = Revolute()": ["größe", "can be no name in an FMU"],
    "setattr(self, 'a b', Revolute())": ["'a b'", "can be no name"],
    "setattr(self, '1abc', Revolute())": ["'1abc'", "digit in front"],
    "setattr(self, '../..', Revolute())": ["'../..'", "can be no name"],
    'setattr(self, "a\'b", Revolute())': ["can be no name"],
    "setattr(self, '', Revolute())": ["can be no name"],
    "self.add('a\\nb', Revolute())": ["can be no name"],
    "self.add(3, Revolute())": ["can be no name"],
    "self.add('c', 3)": ["a part is a component", "got 3"],
    "self.add('c', Revolute)": ["a part is a component"],
    "self.c = Revolute": ["is the class Revolute", "Revolute(...)"],
    "self.c = [Revolute(), 3]": ["list of components has 3"],
    "self.c = self.j": ["already 'j'"],
    "self.c = self": ["cannot contain itself"],
    # outputs and inputs
    "self.output(self.j.w, 'j.phi')": ["output j.phi", "another variable of this name"],
    "self.output(self.j.w, 'time')": ["output time", "another variable of this name"],
    "self.output(self.j.w, 'a b')": ["'a b'", "can be no name"],
    "self.output(self.j.w, '')": ["can be no name"],
    "self.output(self.j.w, 'o'); self.output(self.j.phi, 'o')": ["output o", "already"],
    "self.output(self.j.phi); self.output(self.j.phi)": ["output j.phi", "already", "leave it out"],
    "self.output(self.j.phi); self.output(self.j.phi, 'j.phi')": ["output j.phi", "already", "leave it out"],
    "self.output(self.j.w, 'o'); self.output(self.j.w, 'o')": ["output o", "already", "leave it out"],
    "self.output(self.j.q)": ["Revolute) has no 'q'"],
    "self.output(self.j.phi[3])": ["j.phi[4]", "no variable"],
    "self.output(self.b.r_0[3])": ["b.r_0[4]", "no variable"],
    "self.output(self.b.m)": ["output() takes a variable"],
    "self.output('j.phi')": ["output() takes a variable", "'j.phi'"],
    "self.output(None)": ["output() takes a variable", "None"],
    "self.output(self.j)": ["output() takes a variable", "the component j (Revolute)"],
    "self.s = sensors.AbsolutePosition(); self.connect(self.s.frame_a, self.b.frame_a); self.output(self.s.r[3])": [
        "s.r",
        "3 elements",
        "no [3]",
    ],
    "self.s = sensors.AbsolutePosition(); self.connect(self.s.frame_a, self.b.frame_a); self.output(self.s.r[5:])": [
        "s.r",
        "3 elements",
    ],
    "self.g = blocks.Gain(k=1); self.input(self.g.u, 'a'); self.input(self.g.u, 'b')": [
        "g.u has an input already",
        "a",
    ],
    "self.g = blocks.Gain(k=1); self.input(self.g.u, 'j.phi')": ["input j.phi", "another variable of this name"],
    "self.g = blocks.Gain(k=1); self.input(self.g.u, 'time')": ["input time", "another variable"],
    "self.g = blocks.Gain(k=1); self.input(self.g.u, '1u')": ["'1u'", "can be no name"],
    "self.g = blocks.Gain(k=1); self.h = blocks.Gain(k=1); self.input(self.g.u, 'a'); self.input(self.h.u, 'a')": [
        "input a",
        "already",
    ],
    "self.g = blocks.Gain(k=1); self.input(self.g.u, 'a'); self.output(self.g.y, 'a')": [
        "output a",
        "input",
        "already",
    ],
    "self.g = blocks.Gain(k=1); self.input(self.g.u, start=float('nan'))": ["start value nan", "no finite number"],
    "self.g = blocks.Gain(k=1); self.input(self.g.u, start='1')": ["'1'", "text"],
    "self.g = blocks.Gain(k=1); self.input(self.g.u, start=[1, 2])": ["[1, 2]", "2 numbers, expected 1"],
    "self.g = blocks.Gain(k=1); self.input(self.g.y)": ["g.y is an output"],
    "self.g = blocks.Gain(k=1)": ["g.u", "not connected", "connect it"],
    "self.input(self.j.frame_a)": ["input() takes a signal connector"],
    "self.input(self.j.phi)": ["input() takes a signal connector"],
    "self.m = blocks.Add3(); self.k = blocks.Constant(k=1); self.connect(self.k.y, self.m.u1)": [
        "m.u2",
        "not connected",
    ],
    "self.m = forces.WorldForce(); self.connect(self.m.frame_b, self.b.frame_a); self.k = blocks.Constant(k=1); "
    "self.connect(self.k.y, self.m.force[1])": ["m.force", "3 elements", "m.force[1], m.force[3]", "not connected"],
    # connections
    "self.connect(self.j.frame_a, self.j)": ["two connectors", "the component j (Revolute)", "j.frame_a"],
    "self.connect(self.j.frame_a, self.j.phi)": ["two connectors", "the variable j.phi"],
    "self.connect(self.j.frame_a, Body)": ["two connectors", "the class Body"],
    "self.connect(self.j.frame_a, self.b.m)": ["two connectors", "a parameter"],
    "self.connect(self.j.frame_a, object())": ["two connectors", "an object of the class object"],
    "self.connect(self.b.frame_a, self.b.frame_a)": ["b.frame_a with itself", "name the other"],
    "self.g = blocks.Gain(k=1); self.connect(self.g.u, self.g.u)": ["g.u with itself"],
    "self.m = forces.WorldForce(); self.connect(self.m.force[:2], self.m.force[1:])": ["m.force with itself"],
    "self.connect(self.j.frame_a, 'b.frame_a')": ["two connectors", "'b.frame_a'"],
    "self.connect(self.j.frame_a, self.j.frame_c)": ["no 'frame_c'", "frame_a"],
    "self.g = blocks.Gain(k=1); self.connect(self.g.u, self.j.frame_a)": ["g.u (signal)", "j.frame_a (frame)"],
    "self.connect(self.j.axis, self.j.support)": ["j.axis", "useAxisFlange"],
    "self.connect(self.b.frame_a, Revolute().frame_a)": ["not part of it"],
    "self.s = blocks.Sine(f=1); self.z = blocks.discrete.ZeroOrderHold(samplePeriod=0.1); self.d = blocks.Der(); "
    "self.connect(self.s.y, self.z.u); self.connect(self.z.y, self.d.u)": ["z.y: is held between events", "impulse"],
    # start values
    "self.b.v_0 = Start((0, 0, 0), fixed='false')": ["b.v_0", "'false'", "true or false"],
    "self.b.v_0 = Start((0, 0, 0), fixed='no')": ["b.v_0", "'no'"],
    "self.b.v_0 = Start((0, 0, 0), fixed='yes')": ["b.v_0", "'yes'"],
    "self.b.v_0 = Start((0, 0, 0), fixed=1)": ["b.v_0", "fixed = 1"],
    "self.b.v_0 = Start((0, 0, 0), fixed=[True, 'x', False])": ["b.v_0", "true or false"],
    "self.b.v_0 = Start((0, 0, 0), fixed=[True, False])": ["b.v_0", "2 elements, expected 3"],
    "self.b.v_0 = Start((0, 0), fixed=True)": ["b.v_0", "2 elements, expected 3"],
    "self.j.phi = Start('0.1')": ["j.phi", "text"],
    "self.j.phi = Start(float('nan'))": ["j.phi", "no finite number"],
    "self.j.phi = Start(float('inf'))": ["j.phi", "no finite number"],
    "self.j.phi = Start(True)": ["j.phi", "no finite number"],
    "self.j.phi = Start([0.1, 0.2])": ["j.phi", "2 elements, expected 1"],
    "self.j.phi = Start({})": ["j.phi", "no finite number"],
    "self.j.phi = 0.1": ["j.phi", "Start(value"],
    "self.j.phi = {'start': 0.1, 'fixed': 'true'}": ["j.phi", "'true'"],
    # parameters
    "self.b.m = -1": ["b.m = -1", ">= 0"],
    "self.b.m = float('nan')": ["b.m", "finite"],
    "self.b.m = float('inf')": ["b.m", "finite"],
    "self.b.m = '1'": ["b.m", "expected a number"],
    "self.b.m = True": ["b.m", "expected a number"],
    "self.b.m = None": ["b.m", "expected a number"],
    "self.b.m = [1]": ["b.m", "expected a number"],
    "self.b.m = 10**400": ["b.m", "expected a number"],
    "self.b.m = 10**5000": ["b.m", "expected a number"],
    "self.b.m = 1 + 2j": ["b.m", "expected a number"],
    "self.b.r_CM = (1, 2)": ["b.r_CM", "expected 3 numbers in m", "[1, 0, 0]"],
    "self.b.r_CM = (1, 2, True)": ["b.r_CM", "expected 3 numbers"],
    "self.b.r_CM = ((1, 2, 3),)": ["b.r_CM", "expected 3 numbers"],
    "self.b.modify(mass=1)": ["no parameter 'mass'"],
    "self.j.n = (0, 0, 0)": ["j.n", "not zero"],
    "self.j.n = 1": ["j.n", "expected 3 numbers", "[1, 0, 0]"],
    "self.j.e = (1, 0, 0)": ["j.e", "computed"],
    "self.j.useAxisFlange = 'true'": ["useAxisFlange", "true or false"],
    "self.j.useAxisFlange = 1": ["useAxisFlange", "true or false"],
    "self.j.stateSelect = 'always '": ["stateSelect", "one of"],
    "self.world.g = '9.81'": ["world.g", "expected a number"],
    "self.world.gravityType = 'Moon'": ["gravityType", "UniformGravity"],
    "self.b.m = lambda self: self.m": ["b.m", "depends on itself", "give it a number"],
    "self.b.m = lambda self: self.I_11; self.b.I_11 = lambda self: self.m": ["b.m and b.I_11", "depend on each other"],
    "self.b.m = lambda self: self.I_11 + 1; self.b.I_11 = lambda self: self.m": ["depend", "a number"],
    "self.b.m = lambda self: 1 / 0": ["b.m", "model.py, line 16", "ZeroDivisionError"],
    "self.b.m = lambda self: self.nothing": ["b.m", "model.py, line 16", "nothing"],
    "self.b.m = lambda self: 'x'": ["b.m", "expected a number"],
    "self.b.m = lambda self: None": ["b.m", "expected a number"],
    "self.b.m = lambda self: -1.0": ["b.m", ">= 0"],
    "self.b.m = lambda self: self.value('m')": ["b.m", "without end"],
    "self.b.m = lambda: 3": ["b.m", "TypeError"],
    "self.b.m = float": ["b.m", "TypeError"],
    # the constructor itself
    "1 / 0": ["line 16 (1 / 0)", "ZeroDivisionError"],
    "self.nothing.frame_a": ["model.py", "line 16", "no 'nothing'"],
    "sys.exit(0)": ["model.py", "line 16", "ends the program", "sys.exit(0)"],
    "exit()": ["line 16", "ends the program"],
    "raise SystemExit": ["line 16", "ends the program"],
    "raise KeyError('k')": ["line 16", "KeyError: 'k'"],
    "self.__init__()": ["line 13", "without end"],
    "assert False, 'no'": ["line 16", "AssertionError: no"],
    "undefined": ["line 16", "NameError"],
    "blocks.Gain()": ["Gain needs a value for k"],
    "Revolute(phi=0.1)": ["phi", "Start(value"],
    "Revolute(0.1)": ["line 16", "TypeError"],
    "Revolute(nothing=1)": ["no parameter 'nothing'"],
    # the experiment
    "self.stop_time = float('nan')": ["stop_time = nan", "finite"],
    "self.stop_time = float('inf')": ["stop_time = inf", "finite"],
    "self.stop_time = -1": ["stop_time = -1", "later"],
    "self.stop_time = 0": ["stop_time = 0", "later"],
    "self.start_time = 2": ["stop_time = 1", "start_time = 2"],
    "self.start_time = float('-inf')": ["start_time", "finite"],
    "self.stop_time = '3'": ["stop_time", "text"],
    "self.stop_time = None": ["stop_time", "no finite number"],
    "self.tolerance = 0": ["tolerance = 0", "positive"],
    "self.tolerance = -1e-6": ["tolerance = -1e-06", "positive"],
    "self.tolerance = float('nan')": ["tolerance", "finite"],
    "self.tolerance = True": ["tolerance", "no finite number"],
    "self.solver = 'euler'": ["solver", "'euler'", "explicit"],
    "self.solver = 3": ["solver", "3", "explicit"],
    # structure
    "self.w2 = World()": ["both a World"],
    "del self.parts['world']": ["j.frame_a", "not connected"],
    "self.f = FixedTranslation(r=(1, 0, 0))": ["f"],
    "self.t = blocks.CombiTimeTable(table=[[0, 0], [1, 1], [0.5, 2]])": ["t.table", "falls", "sort the rows"],
    "self.t = blocks.CombiTimeTable(table=[0, 1])": ["t.table", "rows of time"],
    "self.t = blocks.CombiTimeTable(table=[[0, 1], [1, 2]], columns=[3])": ["no column 3"],
    "self.t = blocks.CombiTimeTable(table=[[0, 1], [0, 2], [1, 3]], smoothness='ContinuousDerivative')": ["jumps"],
    "self.t = blocks.CombiTimeTable(table=[[0, float('nan')], [1, 2]])": ["table[1,2] = nan", "finite"],
    "self.t = blocks.CombiTimeTable(tableOnFile=True, fileName='none.txt', tableName='a')": ["none.txt"],
    "self.l = blocks.TransferFunction(b=[1], a=[])": ["a = []", "coefficients"],
    "self.l = blocks.TransferFunction(b=[], a=[1, 1])": ["b = []", "coefficients"],
    "self.l = forces.BasicTorque(); self.connect(self.l.frame_a, self.world.frame_b); "
    "self.connect(self.l.frame_b, self.world.frame_b); self.input(self.l.torque)": ["l.frame_resolve", "not connected"],
    "self.l = blocks.TransferFunction(b=[1, 1, 1], a=[1, 1])": ["b = [1.0, 1.0, 1.0]", "longer than a"],
    "self.output(self.b.r_0[1.5])": ["b.r_0[1.5]", "whole number"],
    "self.output(self.b.r_0['x'])": ["b.r_0['x']", "whole number"],
    "self.output(self.b.r_0[-1])": ["b.r_0[-1]", "counted from 0"],
    "k = rotational.Torque(); self.input(k.tau)": ["input tau", "not part of M", "assign it"],
    "self.c = [Fixed()]; self.c.append(Fixed())": ["M.c", "Fixed in it is no part", "add(name, component)"],
    "self.c = {'a': Fixed()}": ["M.c", "no part"],
    "self.c = [[Fixed()], [Fixed()]]": ["M.c", "no part"],
    "self.figure(3, [self.j.phi])": ["title of a figure = 3", "no text"],
    "self.figure('A', {3: self.j.phi})": ["figure A", "legend = 3", "no text"],
    "self.figure('A', [self.b.m])": ["figure A", "got a parameter"],
    # attributes that mean nothing
    "self.b.mm = 3": ["b (Body)", "no 'mm'", "did you mean m"],
    "self.b.mass = 3": ["b (Body)", "no 'mass'", "did you mean m (Mass of rigid body)"],
    "self.j.useAxisflange = True": ["j (Revolute)", "useAxisFlange"],
    "self.stoptime = 3": ["stoptime = 3", "no effect", "did you mean stop_time"],
    "self.stop_tine = 3": ["stop_tine", "did you mean stop_time"],
    "self.interval = -1": ["interval = -1", "positive"],
    "self.interval = 'x'": ["interval = 'x'", "text"],
    "self.tolerance = 5": ["tolerance = 5", "below 1"],
    # values that contradict each other, given later too
    "self.b.m = self.j.phi": ["b.m = <variable j.phi>", "by numbers or other parameters"],
    "self.x = Universal(); self.x.n_b = (1, 0, 0)": ["x: n_a", "parallel"],
    "self.x = BodyBox(r=(1, 0, 0)); self.x.r = (0, 0, 0)": ["x: r has length zero", "no mass"],
    "self.x = BodyBox(r=(1, 0, 0), lengthDirection=(0, 0, 0))": ["lengthDirection", "needs a direction"],
    "self.x = UniversalSpherical(rRod_ia=(1, 0, 0)); self.x.n1_a = (1, 0, 0)": ["x: rRod_ia", "parallel to n1_a"],
    "self.x = Body(m=1, r_CM=(0, 0, 0), sequence_angleStates=(1, 1, 2))": ["sequence_angleStates", "differ"],
    "self.x = sensors.AbsoluteAngles(sequence=(1, 1, 2))": ["sequence = (1, 1, 2)", "differ"],
    "self.x = RollingWheel(radius=0, m=1, I_axis=1, I_long=1)": ["wheelRadius = 0", "must not be 0"],
    "self.x = rotational.BearingFriction(tau_pos=[[0, -1]])": ["tau_pos", ">= 0"],
    "self.x = rotational.BearingFriction(tau_pos=1.0)": ["tau_pos = 1.0", "rows of a speed"],
    "self.x = rotational.LossyGear(ratio=1, lossTable=[[0, 2, 1, 0, 0]])": ["lossTable", "at most 1"],
    "self.x = rotational.LossyGear(ratio=1, lossTable=[[0, 1, 1, -5, 0]])": ["lossTable", "not negative"],
    "self.x = thermal.HeatCapacitor(C=-1)": ["C = -1", ">= 0 J/K"],
    "self.x = thermal.HeatCapacitor(C=1, T=Start(-5.0, fixed=True))": ["T: its start value -5.0", ">= 0 K"],
    # freedoms without mass
    "self.x = Revolute(); self.y = FixedTranslation(r=(1, 0, 0)); self.connect(self.b.frame_a, self.x.frame_a); "
    "self.connect(self.x.frame_b, self.y.frame_a)": ["x: nothing that has a mass", "connect a body"],
    "self.x = Spherical(); self.y = PointMass(m=1); self.connect(self.b.frame_a, self.x.frame_a); "
    "self.connect(self.x.frame_b, self.y.frame_a)": ["x: nothing that has a mass", "connect a body"],
    "self.x = sensors.AbsoluteSensor(get_v=True); self.connect(self.x.frame_a, self.b.frame_a); "
    "self.connect(self.x.frame_resolve, self.world.frame_b)": ["x.frame_resolve", "set resolveInFrame='frame_resolve'"],
}

OWN = '''
class Own(Component):
    """A block of the user's."""

    k = Parameter(t.Real, 1.0, "Gain")
    u = RealInput("Input")
    y = RealOutput("Output")

    def equations(self):
        {line}


class M(Assembly):
    def __init__(self):
        self.own = Own()
        self.c = blocks.Constant(k=1.0)
        self.connect(self.c.y, self.own.u)
        self.output(self.own.y)
'''

#: A wrong line in the equations of a user's own component -> words of the message.
EQUATIONS: dict[str, list[str]] = {
    "1 / 0": ["own", "model.py, line 17 (1 / 0)", "ZeroDivisionError"],
    "self.y = self.nothing": ["own", "line 17", "no 'nothing'"],
    "self.y = None": ["own", "y nothing (None)"],
    "self.y = 'x'": ["own", "'x'", "no number"],
    "self.y = float('nan')": ["own", "y the value nan", "not finite"],
    "self.y = [self.u, self.u]": ["own", "2 elements, declared are 1"],
    "self.y = self.k + self.z": ["own", "no 'z'"],
    "self.z = self.u": ["own", "'z'", "not declared"],
    "self.u = 1": ["own", "cannot assign u"],
    "self.k = 1": ["own", "cannot assign k"],
    "self.y = 1 if self.u > 0 else 2": ["own", "line 17"],
    "self.y = math.sin(self.u)": ["own", "y the value nan", "not finite"],
    "self.y = self.y + 1": ["own", "read", "before they assign"],
    "self.y = {}": ["own", "no number"],
    "self.y = object()": ["own", "no number"],
    "sys.exit(1)": ["own", "line 17", "ends the program"],
    "self.equations()": ["own", "line 17"],
    "self.der.y = 1": ["der.y", "State"],
    "self.relation(None)": ["own", "a relation nothing (None)"],
    "self.initially('x')": ["own", "no number"],
    "self.time_event(float('nan'))": ["own", "an instant", "not finite"],
    "self.y = self.switch(None, 1, 0)": ["own", "switch", "None"],
    "self.y = self.world.g": ["own", "needs a World"],
    "pass": ["own", "do not assign y"],
    "print(self.u)": ["own", "do not assign y"],
    "self.y = max(self.u, 0)": ["own", "line 17", "self.switch", "fmax"],
    "self.y = float(self.u)": ["own", "nan", "functions of math"],
    "self.y = self.u if self.u > 0 else 0": ["own", "line 17", "self.switch"],
    # numbers where a condition is needed, a Real input by its name alone, too
    "self.y = self.hold(self.u, value=1.0)": ["own", "the number u", "self.u >= 1"],
    "self.y = self.active(self.edge(self.u))": ["own", "the number u"],
    "self.y = self.u; self.terminate(self.u, message='x')": ["own", "the number u"],
    "self.y = self.u; self.terminate(3, message='x')": ["own", "the number 3"],
    "self.y = self.switch(ca.logic_and(self.u, self.u > 0), 1, 0)": ["own", "joins the number u"],
    "self.y = self.switch(ca.logic_not(self.u), 1, 0)": ["own", "joins the number u"],
    "self.y = self.switch((self.u > 0) + (self.u > 1), 1, 0)": ["own", "reckons with the condition", "logic_and"],
    "self.y = self.switch((self.u > 0) * self.u, 1, 0)": ["own", "(0<u)", "as with a number"],
    "self.y = self.u; self.require((self.u > 2) - (self.u > 3), 'x')": ["own", "a requirement", "reckons"],
    "self.y = self.switch(lambda on: (self.u > 0) * self.u + on, 1, 0)": ["own", "reckons with the condition (0<u)"],
    "self.y = self.switch(self.u > float('nan'), 1, 0)": ["own", "a condition", "compares with nan", "finite bound"],
    "self.y = self.u; self.terminate(self.u < float('inf'), message='x')": ["own", "compares with inf"],
    "self.y = self.u; self.require(self.u < float('inf'), 'x')": ["own", "a requirement", "compares with inf"],
    # what never happens, and what determines nothing
    "self.y = self.u; self.terminate(True, message='x')": ["own", "the event True never happens", "self.initial"],
    "self.y = self.hold(False, value=1)": ["own", "the event False never happens"],
    "self.y = self.active(self.change(1))": ["own", "the event 1 never happens"],
    "self.y = self.active(self.change(self.u))": ["own", "change(u)", "moves between events"],
    "self.y = self.u; self.relation([])": ["own", "a relation has no element", "determines nothing"],
    "self.y = self.u; self.relation(0)": ["own", "a relation has only 0 in it"],
    "self.y = self.u; self.initially(1)": ["own", "only 1 in it"],
    "self.y = self.implied(3.0)": ["own", "only 3 in it"],
    # instants that nobody reaches
    "self.y = self.u; self.time_event(self.time + 0.1)": ["own", "time+0.1", "never reached"],
    "self.y = self.u; self.time_event(ca.sin(self.time))": ["own", "sin(time)", "never reached"],
    "self.y = self.active(self.sample(0, True))": ["own", "sample(0, True)", "its interval is the truth True"],
    "self.y = self.active(self.sample(-1e18, 1e-3))": ["own", "sample(-1e+18, 0.001)", "1e+12 intervals"],
    "self.y = self.with_rate([self.u, 1], 1)": ["own", "with_rate(", "one value with one rate"],
    "self.y = self.u; self.constrain('F', position=self.u)": ["own", "constrain('F'", "a declared Multiplier 'F'"],
    # symbols of nobody
    "self.y = ca.SX.sym('q')": ["own", "the symbol 'q'", "declare a Variable"],
    "self.y = self.switch(ca.SX.sym('q') > 0, 1, 0)": ["own", "the symbol 'q'"],
    "self.y = self.hold(self.sample(0, 0.1), value=ca.SX.sym('q'))": ["own", "the symbol 'q'"],
    "self.y = [[self.u, self.u]]": ["own", "2 elements, declared are 1"],
    # events that Python's words would lose
    "self.y = self.active(self.sample(0, 0.1) and self.initial)": ["line 17", "an event is neither", "&, | and ~"],
    "self.y = self.active(not self.sample(0, 0.1))": ["line 17", "an event is neither"],
    # what says nothing
    "self.y = self.u; self.when(self.u > 0)": ["own", "when(...) gives no value"],
    "self.y = self.u; self.reinit(self.u > 0)": ["own", "reinit(...) gives no value"],
    "self.y = self.u; self.effort(y=1)": ["own", "effort(y=...)", "Coordinate or Speed"],
    "self.y = self.u; self.effort(phi=1)": ["own", "effort(phi=...)"],
    "self.y = self.u; self.energy(kinetic=[1, 2])": ["own", "kinetic energy has 2 elements"],
    "self.y = self.u; self.require(self.u > 0, 3)": ["own", "message 3 of require"],
    "self.y = self.u; self.terminate(self.u > 0, message='\\x01')": ["own", "message", "of terminate"],
    # texts and nothing, which NumPy takes for numbers
    "self.y = self.hold(self.sample(0, '0.1'), value=self.u)": ["own", "'0.1'", "no number"],
    "self.y = self.delay(self.u, '0.1')": ["own", "'0.1'", "no number"],
    "self.y = self.switch(self.u > 0, None, 3)": ["own", "line 17", "None is no number"],
    # starts that are known with the run only
    "self.y = self.hold(self.sample(0, 0.1), value=1, start=self.u)": ["own", "start of a held value", "depends on u"],
    "self.y = self.kept(self.u, lambda v: v)": ["own", "start of a held value", "depends on u"],
}

#: A wrong declaration in a component of the user's -> words of the message.
DECLARATIONS: dict[str, list[str]] = {
    "parts = Parameter(t.Real, 1.0, 'x')": ["'parts' is part of what every component has"],
    "q = Parameter(1.0, 1.0, 'x')": ["1.0 for its type", "types.Mass"],
    "q = Parameter(t.Real, 1.0, 5)": ["5 for its sentence"],
    "q = Variable('x', t.Real)": ["'x' for its type"],
    "q = Parameter(t.Real, -1.0, 'x', min=0)": ["own.q = -1.0", ">= 0"],
    "q = Parameter(t.Integer, lambda self: self.k, 'x')": ["own.q", "shapes the equations", "give a number"],
    "q = Parameter(t.Real, 1.0, 'x', tunable='yes')": ["tunable = 'yes'", "True or False"],
    "q = Parameter(t.Real, required, 'x')": ["Own needs a value for q"],
    "q = Parameter(t.Real, lambda self: self.zz, 'x')": ["own.q: its binding fails", "zz"],
    "q = Variable(t.Real, 'x')": ["own", "do not assign q"],
    "x = State(t.Real, 'x')": ["own", "do not assign der.x"],
    "x = State(t.Real, 'x', shape=-1)": ["the variable 'x'", "shape -1 is none"],
    "x = State(t.Real, 'x', shape='n')": ["the variable 'x'", "shape 'n' is none"],
    "v = RealInput('x', shape=-1)": ["the connector 'x'", "shape -1 is none"],
}


def test_what_is_not_recorded_and_no_number_is_told() -> None:
    """A variable that no output follows from is looked at, too."""

    class Own(Component):
        u = RealInput("Input")
        q = Variable(t.Real, "Root")
        y = RealOutput("Output")

        def equations(self) -> None:
            self.q = ca.sqrt(0.05 - self.u)
            self.y = self.u

    class M(Assembly):
        def __init__(self) -> None:
            self.own = Own()
            self.c = blocks.Ramp(duration=1.0)
            self.connect(self.c.y, self.own.u)
            self.output(self.own.y)

    with pytest.warns(NotFiniteWarning, match=r"'own\.q', which is not recorded, is nan at 0\.\d+ s") as caught:
        simulate(M(), 0.1, outputs=["own.y"])
    assert len(caught) == 1
    with pytest.raises(SimulationError, match=r"'own\.q' is nan"):
        simulate(M(), 0.1)


@pytest.mark.slow
def test_what_conditions_say_of_numbers_stays_allowed() -> None:
    """Signs of numbers that follow from conditions: modes of switches, thresholds, choices."""

    class Own(Component):
        u = RealInput("Input")
        b = BooleanInput("Condition")
        y = RealOutput("Outputs", shape=5)

        def equations(self) -> None:
            self.y = [
                self.switch(lambda on: self.u - 0.2 * on, 1, 0),
                self.switch(self.b - 0.5, 1, 0),
                self.switch(1 - 2 * (self.u < 0.3), 1, 0),
                self.switch(ca.fmin(self.u, self.b - 0.5), 1, 0),
                self.switch(ca.if_else(self.u > 0.3, 1, 0) * self.u - 0.2, 1, 0),
            ]

    class M(Assembly):
        def __init__(self) -> None:
            self.own = Own()
            self.c = blocks.Constant(k=0.5)
            self.p = blocks.BooleanConstant(k=True)
            self.connect(self.c.y, self.own.u)
            self.connect(self.p.y, self.own.b)

    result = simulate(M(), 0.1)
    assert [result[f"own.y[{k}]"][-1] for k in range(1, 6)] == [1, 1, 1, 1, 1]


#: Whole files -> words of the message.
FILES: dict[str, list[str]] = {
    "": ["defines no assembly"],
    "x = (": ["model.py, line 1", "correct the file"],
    "import nothing_of_this_name": ["line 1", "nothing_of_this_name"],
    "import sys; sys.exit(0)": ["line 1", "ends the program"],
    "raise SystemExit(3)": ["ends the program", "sys.exit(3)"],
    "1 / 0": ["line 1", "ZeroDivisionError"],
    "class M: pass": ["defines no assembly"],
    "from mbfmu import Assembly\nclass A(Assembly): pass\nclass B(Assembly): pass": ["2 assemblies", "model.py:A"],
    "from mbfmu import Assembly\nclass A(Assembly):\n    def __init__(self, a): pass": ["needs a value for a", "-p a="],
    "from mbfmu import Assembly\nclass A(Assembly):\n    stop_time = float('nan')": ["stop_time = nan", "finite"],
    "from mbfmu import Assembly\nclass A(Assembly):\n    tolerance = -1": ["tolerance = -1", "positive"],
    "from mbfmu import Assembly\nclass A(Assembly):\n    '''Bad \\x01 text.'''": ["description", "cannot carry"],
    "from mbfmu import Assembly\nclass Größe(Assembly): pass": ["Größe", "can be no name"],
    "\0": ["model.py", "null bytes"],
    HEAD
    + "class Pull(PartialLineForce):\n    def line_force(self):\n        pass\n"
    + MODEL
    + "        self.f = Pull()\n        self.connect(self.f.frame_a, self.world.frame_b)\n"
    "        self.connect(self.f.frame_b, self.b.frame_a)\n": ["PartialLineForce"],
}


#: Derivatives of jumps, which lose an impulse: words of the warning.
JUMPS = {
    "self.s = blocks.Pulse(period=0.2); self.d = blocks.Der(); self.connect(self.s.y, self.d.u)": [
        "s.y: jumps from 1 to 0 at 0.1 s",
        "impulse",
        "Derivative in place of Der",
    ],
    "self.s = blocks.Step(startTime=0.5); self.g = blocks.Gain(k=2); self.d = blocks.Der(); "
    "self.connect(self.s.y, self.g.u); self.connect(self.g.y, self.d.u)": ["g.y: jumps from 0 to 2 at 0.5 s"],
    "self.s = blocks.SawTooth(period=0.3); self.p = rotational.Position(exact=True); self.i = rotational.Inertia(J=1); "
    "self.connect(self.s.y, self.p.phi_ref); self.connect(self.p.flange, self.i.flange_a)": [
        "s.y: jumps from 1 to 0 at 0.3 s",
        "exact=False",
    ],
    "self.s = blocks.CombiTimeTable(table=[[0, 0], [0.5, 1], [0.5, 2], [1, 3]]); self.d = blocks.Der(); "
    "self.connect(self.s.y[0], self.d.u)": ["s.y: jumps from 1 to 2 at 0.5 s"],
}

#: What may be differentiated although it has switches: kinks, jumps at the start, jumps behind the end.
SMOOTH = [
    "blocks.Ramp(duration=0.3, startTime=0.2)",
    "blocks.Trapezoid(rising=0.1, falling=0.1, width=0.2, period=0.5)",
    "blocks.Step()",
    "blocks.Step(startTime=0.5, height=0.0)",
    "blocks.Pulse(period=3.0)",
    "blocks.Sine(f=2, startTime=0.3)",
    "blocks.KinematicPTP2(q_end=[1.0], qd_max=[1.0], qdd_max=[2.0])",
    "blocks.CombiTimeTable(table=[[0, 0], [0.5, 1], [1, 3]])",
]


def write(folder: pathlib.Path, text: str) -> None:
    (folder / "model.py").write_text(text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_a_wrong_line(line: str, folder: pathlib.Path, refused: Refused) -> None:
    write(folder, HEAD + MODEL + f"        {line}\n")
    refused(["info", "model.py"], LINES[line])


@pytest.mark.slow
@pytest.mark.parametrize("line", EQUATIONS, ids=range(len(EQUATIONS)))
def test_wrong_equations(line: str, folder: pathlib.Path, refused: Refused) -> None:
    write(folder, HEAD + OWN.replace("{line}", line))
    refused(["info", "model.py"], EQUATIONS[line])


@pytest.mark.slow
@pytest.mark.parametrize("line", DECLARATIONS, ids=range(len(DECLARATIONS)))
def test_a_wrong_declaration(line: str, folder: pathlib.Path, refused: Refused) -> None:
    own = OWN.replace("    def equations", f"    {line}\n\n    def equations").replace("{line}", "self.y = self.u")
    write(folder, HEAD.replace("RealOutput,", "RealOutput, State,") + own)
    refused(["info", "model.py"], DECLARATIONS[line])


@pytest.mark.slow
@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_a_wrong_file(text: str, folder: pathlib.Path, refused: Refused) -> None:
    write(folder, text)
    refused(["info", "model.py"], FILES[text])


@pytest.mark.slow
@pytest.mark.parametrize("line", JUMPS, ids=range(len(JUMPS)))
def test_a_derivative_of_a_jump_is_warned_of(line: str, folder: pathlib.Path) -> None:
    write(folder, HEAD + MODEL + f"        {line}\n")
    with pytest.warns(UserWarning, match="impulse there") as told:
        System.of(load("model.py"))
    assert any(all(word in str(warning.message) for word in JUMPS[line]) for warning in told)


@pytest.mark.slow
@pytest.mark.parametrize("source", SMOOTH)
def test_kinks_may_be_differentiated(source: str) -> None:
    class M(Assembly):
        def __init__(self) -> None:
            self.s, self.d = eval(source), blocks.Der()
            out = self.s.q if source.startswith("blocks.Kin") else self.s.y
            self.connect(out if len(out.places) == 1 and not out.port.shape(self.s) else out[0], self.d.u)

    System.of(M())


def test_a_quotient_of_one_signal_is_no_number_at_zero(tmp_path: pathlib.Path) -> None:
    """0 / 0, also where both are one signal; everywhere else it is what division gives."""

    class M(Assembly):
        def __init__(self) -> None:
            self.d = blocks.Division()
            self.s = blocks.Constant(k=0.0)
            self.connect(self.s.y, self.d.u1)
            self.connect(self.s.y, self.d.u2)
            self.output(self.d.y)

    with pytest.raises(SimulationError, match=r"'d.y' is nan at 0 s"):
        simulate(M())
    assert simulate(M(), start_values={"s.k": 2.0})["d.y"][-1] == 1.0


def test_a_constructor_that_drops_parameters_is_named(folder: pathlib.Path, refused: Refused) -> None:
    dropping = OWN.replace("def equations", "def __init__(self, **modifiers):\n        pass\n\n    def equations")
    write(folder, HEAD + dropping.replace("{line}", "self.y = self.k * self.u").replace("Own()", "Own(k=3.0)"))
    refused(["info", "model.py"], ["own (Own)", "does not pass on k", "super().__init__"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "words"),
    [({"I_33": 5.0}, "0.001, 0.001, 5"), ({"I_11": 0.1, "I_22": 0.1, "I_33": 0.1, "I_21": 0.5}, "-0.4, 0.1, 0.6")],
)
@pytest.mark.parametrize("part", [Body, BodyShape])
def test_impossible_inertias_are_warned_of(part: type, values: dict[str, float], words: str) -> None:
    """However they were given: by the constructor, later, or through a composite."""

    class M(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.b = part(m=1.0, r_CM=(0, 0, 0), **({"r": (1, 0, 0)} if part is BodyShape else {}))
            self.b.modify(**values)

    with pytest.warns(UserWarning, match=f"b.*no distribution of mass.*{words}"):
        System.of(M())


def test_a_pole_at_the_start_is_named() -> None:
    class M(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.b = Body(
                m=1.0, r_CM=(0, 0, 0), useQuaternions=False, angles_start=(0, 1.5707963267948966, 0),
                angles_fixed=True, w_0_start=(0, 0, 1), w_0_fixed=True,
            )  # fmt: skip

    with pytest.raises(InitializationError, match=r"axes 1, 2, 3 is at 90 or -90 degrees.*useQuaternions=True"):
        simulate(M())


#: A component, what a run sets of it, which its constructor would refuse, and words of the message.
SET_LATER: list[tuple[Callable[[], Component], dict[str, float], str]] = [
    (lambda: rotational.IdealGear(ratio=2.0), {"x.ratio": 0.0}, "x.ratio = 0: must not be 0"),
    (lambda: rotational.IdealRollingWheel(radius=2.0), {"x.radius": 0.0}, "x.radius = 0: must not be 0"),
    (
        lambda: rotational.LossyGear(ratio=2.0, lossTable=[[0, 0.9, 0.9, 0, 0]]),
        {"x.lossTable[1,2]": 5.0},
        "at most 1",
    ),
    (lambda: rotational.BearingFriction(tau_pos=[[0, 1]]), {"x.tau_pos[1,2]": -1.0}, "smallest value is 0"),
    (lambda: thermal.HeatCapacitor(C=1.0), {"x.C": 0.0}, "x.C = 0: must not be 0"),
    (lambda: rotational.IdealPlanetary(ratio=2.0), {"x.ratio": -1.0}, "x: ratio = -1: sun and ring would turn as one"),
    (lambda: Twice(n=2.0), {"x.n": 0.0}, "x.gear.ratio = 0: must not be 0"),
    (lambda: GearType1(), {"x.i": 0.0}, "x.gear.ratio = 0: must not be 0"),
]


class Twice(Component):
    """A gear of twice the ratio of its own, and a tighter spring behind it."""

    n = Parameter(t.Real, required, "Half of the ratio")
    flange_a = Flange_a("Flange of the gear")
    flange_b = Flange_b("Flange of the spring")

    def build(self) -> None:
        self.gear = rotational.IdealGear(ratio=2 * self.n)
        self.spring = rotational.Spring(c=self.n - 0.5)
        self.connect(self.flange_a, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.flange_b)


#: Flanges of planetary gears.
SHAFTS = ("sun", "carrier", "ring")

#: What makes a component -> words of the message when it, or a System of it, is made.
IMPOSSIBLE: list[tuple[Callable[[], Component], str]] = [
    (lambda: rotational.IdealPlanetary(ratio=-1), r"IdealPlanetary.ratio = -1: .*planets in pairs"),
    (lambda: blocks.MatrixGain(K=3.0), r"MatrixGain.K: expected a matrix such as .*got shape \(\)"),
    (lambda: blocks.CombiTable1Ds(table=3.0), r"x.table: expected rows such as .*got shape \(\)"),
    (lambda: rotational.Gearbox(ratio=1, c=1, d=1, b=0, lossTable=3.0), "lossTable has the shape .*4 numbers"),
    (lambda: Twice(n=0.0), "x.gear.ratio = 0: must not be 0; it follows from x.n"),
    (lambda: Twice(n=0.25), "x.spring.c = -0.25: must be >= 0 N.m/rad; it follows from x.n"),
    (lambda: Twice(n=1e308), "x.gear.ratio = inf: every value must be finite; it follows from x.n"),
]


@pytest.mark.parametrize("number", range(len(IMPOSSIBLE)))
def test_impossible_parameters_are_named_before_the_run(number: int) -> None:
    """Those that a composite passes on or computes, too, with what they follow from."""
    make, words = IMPOSSIBLE[number]

    class M(Assembly):
        def __init__(self) -> None:
            self.x = make()

    with pytest.raises(MbfmuError, match=words):
        System.of(M())


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SET_LATER)))
def test_bounds_hold_in_a_run(number: int) -> None:
    make, values, words = SET_LATER[number]

    class M(Assembly):
        def __init__(self) -> None:
            self.x = make()
            names = [name for name in self.x.ports() if name.startswith("flange") or name in SHAFTS]
            for k, name in enumerate(names):
                load = translational.Mass(m=1.0) if name == "flangeT" else rotational.Inertia(J=1.0)
                self.add(f"load{k}", load)
                self.connect(getattr(self.x, name), load.flange_a)

    with pytest.raises(MbfmuError, match=words):
        simulate(M(), start_values=values)


def test_the_interval_of_an_assembly_is_that_of_its_runs() -> None:
    class M(Assembly):
        interval = 0.25

        def __init__(self) -> None:
            self.g = blocks.Constant(k=1.0)

    assert simulate(M()).time.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert simulate(M(), interval=0.5).time.size == 3


def test_masses_of_zero_are_named() -> None:
    class M(Assembly):
        def __init__(self) -> None:
            self.i = rotational.Inertia(J=0.0)

    with pytest.warns(UserWarning, match=r"i.w: moves no mass with these parameters \(i.J = 0\)"):
        System.of(M())


def test_an_output_may_have_its_own_name() -> None:
    """`output(x, "path.of.x")` is what `output(x)` says."""
    shown = []
    for names in ((), ("g.y",)):

        class M(Assembly):
            def __init__(self, names: tuple[str, ...] = names) -> None:
                self.g = blocks.Constant(k=1.0)
                self.output(self.g.y, *names)

        shown.append(System.of(M()).variables)
    assert shown[0] == shown[1]


def test_pulses_without_end_name_their_source() -> None:
    class M(Assembly):
        def __init__(self) -> None:
            self.p, self.i = blocks.Pulse(period=1e-12), blocks.Integrator()
            self.connect(self.p.y, self.i.u)

    with pytest.raises(SimulationError, match=r"of p flips at instants .* 5e-13 s.*choose a longer period"):
        simulate(M())


class _Still(Component):
    def equations(self) -> None:
        """There are none."""


#: What a class says of itself -> words of the message.
DECLARED: dict[str, tuple[Callable[[], object], list[str]]] = {
    "stop_time": (lambda: _assembly(stop_time=[1]), ["stop_time = [1]", "one number"]),
    "stop_time symbol": (lambda: _assembly(stop_time=ca.SX.sym("s")), ["stop_time", "one number"]),
    "interval": (lambda: _assembly(interval=[0.1]), ["interval = [0.1]", "one number"]),
    "equations": (lambda: _assembly(type("Odd", (Component,), {"equations": 3})()), ["equations", "is 3", "a method"]),
    "min": (lambda: Parameter(t.Mass, 1.0, "Mass", min="0"), ["'Mass'", "min = '0' is no number"]),
    "max": (lambda: Parameter(t.Mass, 1.0, "Mass", max=[0]), ["max = [0] is no number"]),
    "nan": (lambda: Parameter(t.Mass, 1.0, "Mass", min=math.nan), ["min = nan"]),
    "shape": (lambda: Parameter(t.Mass, 1.0, "Mass", shape="x"), ["its shape 'x' is none"]),
    "type min": (lambda: Parameter(t.Type("T", min="x"), 1.0, "Mass"), ["the type T", "min = 'x'"]),
    "type base": (lambda: t.Type("T", base="Complex"), ["the type T", "'Complex' is none of Real, Integer"]),
    "type unit": (lambda: t.Type("T", unit=3), ["the type T", "unit = 3 is no text"]),
    "start": (lambda: Variable(t.Mass, "Mass", start="x"), ["'Mass'", "start value 'x' is text"]),
    "nominal": (lambda: Variable(t.Mass, "Mass", nominal="x"), ["'Mass'", "nominal value 'x' is text"]),
    "stateSelect": (lambda: Variable(t.Mass, "Mass", state_select="maybe"), ["stateSelect 'maybe' is unknown"]),
    "symbol": (lambda: _loaded(Body(m=ca.SX.sym("mass"), r_CM=(1, 0, 0))), ["b.m", "symbol 'mass'", "no parameter"]),
    "symbols": (lambda: _loaded(Body(m=1.0, r_CM=ca.SX.sym("r", 3))), ["b.r_CM", "symbol 'r_0'"]),
    "derived": (lambda: _loaded(Body(m=2 * ca.SX.sym("mass"), r_CM=(1, 0, 0))), ["b.m", "symbol 'mass'"]),
    "matrix symbol": (lambda: Body(m=ca.MX.sym("mass"), r_CM=(1, 0, 0)), ["Body.m", "expected a number"]),
    "symbol at the start": (
        lambda: _loaded(Body(m=1.0, r_CM=(1, 0, 0)), phi=Start(ca.SX.sym("start"))),
        ["j.phi", "symbol 'start'"],
    ),
}


def _assembly(part: Component | None = None, **attributes: object) -> System:
    assembly = type("Odd", (Assembly,), attributes)()
    assembly.part = part or _Still()
    return System.of(assembly)


def _loaded(body: Body, **hinge: object) -> System:
    assembly = Assembly()
    assembly.world, assembly.j, assembly.b = World(), Revolute(**hinge), body
    assembly.connect(assembly.world.frame_b, assembly.j.frame_a)
    assembly.connect(assembly.j.frame_b, assembly.b.frame_a)
    return System.of(assembly)


@pytest.mark.slow
@pytest.mark.parametrize("name", DECLARED)
def test_what_a_declaration_cannot_say(name: str) -> None:
    made, words = DECLARED[name]
    with pytest.raises(MbfmuError) as caught:
        made()
    for word in words:
        assert word in str(caught.value)
