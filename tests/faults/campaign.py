"""Some 1,130 wrong inputs over all doors, judged by a rule: `python tests/faults/campaign.py [doors]`, half a minute.

Each is a command in an empty folder or a call in Python. Fine is one message that is an error of ours; tracebacks, and
what takes over 60 s or adds over 2 GB, are findings. What is accepted is to be read: some of it means something, as a
kink or an FMU of which only `validate` says what is wrong.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import os
import pathlib
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from refusals import GOOD, P

import mbfmu
from mbfmu import cli
from mbfmu.errors import MbfmuError

SECONDS, MEGABYTES = 60, 2000

HEAD = """
import math, casadi as ca
from mbfmu import Assembly, Component, Start
from mbfmu.components import *
from mbfmu.components import blocks, electrical, forces, rotational, sensors, thermal, translational
from mbfmu.modeling import *
from mbfmu.modeling import types as t
"""

OWN = """
class Own(Component):
    k = Parameter(t.Real, 1.0, "Gain", tunable=True)
    n = Parameter(t.Real, 0.0, "Constant")
    u = RealInput("Input")
    b = BooleanInput("Condition")
    y = RealOutput("Output")
    x = State(t.Real, "State", start=1.0, fixed=True)
{declared}
    def equations(self):
        self.der.x = -self.x
{given}        {line}


class M(Assembly):
    def __init__(self):
        self.own = Own()
        self.c = blocks.Sine(f=2.0)
        self.p = blocks.BooleanConstant(k=True)
        self.connect(self.c.y, self.own.u)
        self.connect(self.p.y, self.own.b)
        self.output(self.own.y)
"""

#: Lines of equations: conditions, events, held values, delays, declarations of a user's component.
EQUATIONS = [
    # conditions
    "self.y = self.switch(self.u, self.u, 0, 1)",
    "self.y = self.switch('u > 0', 1, 0)",
    "self.y = self.switch([self.u > 0, self.u < 1], 1, 0)",
    "self.y = self.switch(self.u > 0, [1, 2], [3, 4])",
    "self.y = self.switch(self.u > 0, [1, 2], 3)",
    "self.y = self.switch(self.u > 0, None, 3)",
    "self.y = self.switch(self.u > 0, self.u > 1, 3) + (self.u > 0)",
    "self.y = self.switch(0 < self.u < 1, 1, 0)",
    "self.y = self.switch(self.u > 0 and self.u < 1, 1, 0)",
    "self.y = self.switch(not self.u > 0, 1, 0)",
    "self.y = self.switch(self.u == 0.5, 1, 0)",
    "self.y = self.switch(self.u != 0.5, 1, 0)",
    "self.y = self.switch(lambda: 1, 1, 0)",
    "self.y = self.switch(lambda a, b: 1, 1, 0)",
    "self.y = self.switch(lambda on: None, 1, 0)",
    "self.y = self.switch(lambda on: 1 / 0, 1, 0)",
    "self.y = self.switch(lambda on: self.switch(lambda on: 'x', 1, 0), 1, 0)",
    "self.y = self.switch(float('nan'), 1, 0)",
    "self.y = self.switch(self.u > float('nan'), 1, 0)",
    "self.y = self.switch(self.u > float('inf'), 1, 0)",
    "self.y = self.switch(self.u > 'x', 1, 0)",
    "self.y = self.switch(ca.logic_and(self.u, self.u > 0), 1, 0)",
    "self.y = self.switch(ca.logic_not(self.u), 1, 0)",
    "self.y = self.switch((self.u > 0) + (self.u > 1), 1, 0)",
    "self.y = self.switch((self.u > 0) * self.u, 1, 0)",
    "self.y = self.switch(self.b + 1, 1, 0)",
    "self.y = self.switch(self.sample(0, 0.1), 1, 0)",
    "self.y = self.switch(self.b > 0.5, 1, 0) * self.b * 'x'",
    "self.y = ca.if_else(self.u > 0, 1, 0)",
    "self.y = (self.u > 0)",
    "self.y = self.u > 0; self.require(self.u)",
    "self.y = ca.sign(self.u)",
    "self.y = ca.floor(self.u)",
    "self.y = ca.fmod(self.u, 0)",
    "self.y = round(self.u)",
    "self.y = abs(self.u) if self.b else 0",
    "self.y = self.u ** 'x'",
    "self.y = self.u % 0",
    "self.y = [[self.u]]",
    "self.y = np.array(['a'])",
    "self.y = ca.MX.sym('q')",
    "self.y = ca.SX.sym('q')",
    "self.y = ca.DM([1, 2])",
    "self.y = self.der(self.u, 2)",
    "self.y = self.der('u')",
    "self.y = self.der(self.der(self.der(self.k)))",
    "self.der.x = 3",
    "self.der.nothing = 3",
    "self.der.x",
    "self.y = self.der.x.x",
    "del self.y",
    "self.y += 1",
    # require, terminate, relation
    "self.require(self.u > 0.5, 3)",
    "self.require(self.u > 0.5, '')",
    "self.require(self.u > 0.5, None)",
    "self.require(self.u > 0.5)",
    "self.require('u', 'text')",
    "self.require(float('nan'), 'text')",
    "self.require(-1, 'never so')",
    "self.require(False, 'never so')",
    "self.require(self.sample(0, 0.1), 'x')",
    "self.require([self.u, 1], 'x')",
    "self.require(lambda: True, 'x')",
    "self.terminate(self.u > 0.5)",
    "self.terminate(self.u > 0.5, message=3)",
    "self.terminate(self.u > 0.5, message='\\x01')",
    "self.terminate(message='never')",
    "self.terminate(self.u, message='number')",
    "self.terminate('u', message='number')",
    "self.terminate(3, message='number')",
    "self.relation(self.x)",
    "self.relation(1)",
    "self.relation(self.u)",
    "self.relation(self.x - self.u)",
    "self.relation([])",
    "self.relation(0)",
    "self.initially(self.x - 3)",
    "self.initially(self.u - 3)",
    "self.initially(1)",
    "self.initially(self.u > 3)",
    "self.constrain(self.x)",
    "self.constrain(self.u - 1)",
    "self.effort(x=1)",
    "self.effort(phi=1)",
    "self.energy(potential='x')",
    "self.energy(nothing=1)",
    "self.energy(kinetic=[1, 2])",
    # events
    "self.sample()",
    "self.sample(0)",
    "self.sample('0', 0.1)",
    "self.sample(0, '0.1')",
    "self.sample(0, float('nan'))",
    "self.sample(float('inf'), 0.1)",
    "self.sample(0, float('inf'))",
    "self.sample(0, [0.1, 0.2])",
    "self.sample(0, True)",
    "self.sample(self.k, 0.1)",
    "self.sample(0, self.k)",
    "self.sample(0, self.n)",
    "self.sample(self.time, 0.1)",
    "self.sample(self.u, 0.1)",
    "self.sample(0, self.pre(self.y))",
    "self.y = self.hold(self.sample(0, 1e-13), value=self.u)",
    "self.y = self.hold(self.sample(-1e18, 1e-3), value=self.u)",
    "self.y = self.hold(value=self.u)",
    "self.y = self.hold(self.sample(0, 0.1))",
    "self.y = self.hold(self.sample(0, 0.1), value='x')",
    "self.y = self.hold(self.sample(0, 0.1), value=self.u, start='x')",
    "self.y = self.hold(self.sample(0, 0.1), value=self.u, start=float('nan'))",
    "self.y = self.hold(self.sample(0, 0.1), value=[self.u, 1], start=0.0)",
    "self.y = self.hold(self.sample(0, 0.1), value=self.u, start=self.u)",
    "self.y = self.hold(self.u, value=1.0)",
    "self.y = self.hold(self.sample(0, 0.1), value=lambda: 1)",
    "self.y = self.hold(self.sample(0, 0.1), value=lambda a: a / 0)",
    "self.y = self.hold(self.sample(0, 0.1), value=ca.sqrt(-1 - self.u**2))",
    "self.y = self.hold(self.sample(0, 0.1), value=lambda h: 1e200 * (h + 1))",
    "self.y = self.kept(0.0)",
    "self.y = self.kept(0.0, 3)",
    "self.y = self.kept('x', lambda v: v)",
    "self.y = self.kept(float('nan'), lambda v: v)",
    "self.y = self.kept(self.u, lambda v: v + 1)",
    "self.y = self.kept(0.0, lambda: 1)",
    "self.y = self.kept(0.0, lambda v: None)",
    "self.y = self.kept(0.0, lambda v: 'x')",
    "self.y = self.kept(0.0, lambda v: v + 1)",
    "self.y = self.kept(0.0, lambda v: 1 - v)",
    "self.y = self.kept(0.0, lambda v: self.u)",
    "self.y = self.kept(0.0, lambda v: [v, v])",
    "self.y = self.kept([0.0, 1.0], lambda v: v)",
    "self.y = self.kept(0.0, lambda v: v / 0)",
    "self.y = self.kept(1.0, lambda v: ca.sqrt(-v))",
    "self.y = self.kept(0.0, lambda v: self.kept(0.0, lambda w: v + w + 1))",
    "self.edge('x')",
    "self.edge()",
    "self.edge(self.u)",
    "self.edge(self.sample(0, 0.1))",
    "self.change(self.u)",
    "self.change('x')",
    "self.when(self.u > 0)",
    "self.when(x=1)",
    "self.when(self.u > 0, x=1)",
    "self.when(self.u > 0, y=1)",
    "self.when(self.u > 0, nothing=1)",
    "self.when(True, I=1.0)",
    "self.when(self.sample(0, 0.1), I='x')",
    "self.when(self.sample(0, 0.1), I=None)",
    "self.when(self.sample(0, 0.1), I=self.I + 1)",
    "self.when(self.I > 0.5, I=self.pre(self.I) + 1); self.when(self.u > 0, I=1)",
    "self.when(self.I < 0.5, I=1 - self.I)",
    "self.when(self.sample(0, 0.1), I=self.pre(self.I) * 0 / 0)",
    "self.when(self.sample(0, 0.1), I=1.0 / ca.floor(self.u * 0))",
    "self.I = 3; self.when(self.sample(0, 0.1), I=1)",
    "self.reinit(self.u > 0)",
    "self.reinit(x=1)",
    "self.reinit(self.u > 0, x='x')",
    "self.reinit(self.u > 0, x=None)",
    "self.reinit(self.u > 0, x=[1, 2])",
    "self.reinit(self.u > 0, x=float('nan'))",
    "self.reinit(self.u > 0, x=ca.log(-1 - self.x**2))",
    "self.reinit(self.u > 0, y=1)",
    "self.reinit(self.u > 0, I=1)",
    "self.reinit(self.u > 0, k=1)",
    "self.reinit(self.u > 0, nothing=1)",
    "self.reinit(self.u, x=1)",
    "self.reinit(self.u > 0, x=1); self.reinit(self.u > 0, x=2)",
    "self.reinit(self.x < 0.5, x=0.4)",
    "self.reinit(self.x < 0.5, x=0.5)",
    "self.reinit(self.x < 2, x=1e308)",
    "self.y = self.pre(self.u)",
    "self.y = self.pre(self.x)",
    "self.y = self.pre('x')",
    "self.y = self.pre(self.k)",
    "self.y = self.pre(3)",
    "self.y = self.active(self.u)",
    "self.y = self.active(3)",
    "self.y = self.active(self.sample(0, 0.1) & 3)",
    "self.y = self.active(self.sample(0, 0.1) and self.initial)",
    "self.y = self.active(not self.sample(0, 0.1))",
    "self.y = self.active(~self.u)",
    "self.y = self.active(self.sample)",
    "self.y = self.active(self.initial())",
    "self.time_event('x')",
    "self.time_event([0.1, 0.2])",
    "self.time_event(self.u)",
    "self.time_event(self.x)",
    "self.time_event(float('inf'))",
    "self.time_event(self.time + 0.1)",
    "self.time_event(None)",
    # delays
    "self.y = self.delay(self.u, -0.1)",
    "self.y = self.delay(self.u, 0)",
    "self.y = self.delay(self.u, float('nan'))",
    "self.y = self.delay(self.u, '0.1')",
    "self.y = self.delay(self.u, self.n)",
    "self.y = self.delay(self.u, self.x)",
    "self.y = self.delay(self.u, self.x, 0.01)",
    "self.y = self.delay(self.u, self.x, -1)",
    "self.y = self.delay(self.u, self.x, self.x)",
    "self.y = self.delay(self.u, 1e-9)",
    "self.y = self.delay(self.u, 1e300)",
    "self.y = self.delay('u', 0.1)",
    "self.y = self.delay(self.u, [0.1, 0.2])",
    "self.y = self.delay(self.u > 0, 0.1)",
    # two features at once
    "self.y = self.switch(self.initial, 1, 0)",
    "self.y = self.switch(self.pre(self.u > 0), 1, 0)",
    "self.y = self.switch(self.delay(self.u, 0.1) > self.delay(self.u, 0.2), 1, 0) + 'x'",
    "self.y = self.der(self.delay(self.u, 0.1))",
    "self.y = self.der(self.hold(self.sample(0, 0.1), value=self.u))",
    "self.y = self.der(self.switch(self.u > 0, self.u, 0))",
    "self.y = self.delay(self.delay(self.u, 0.1), 0.1, -0.2)",
    "self.y = self.delay(self.hold(self.sample(0, 0.1), value=self.u), self.hold(self.sample(0, 0.1), value=self.u))",
    "self.y = self.implied(self.implied(self.u))",
    "self.y = self.implied(self.u > 0)",
    "self.y = self.implied(self.u)",
    "self.y = self.implied(self.x - self.u)",
    "self.y = self.with_rate(self.u, self.u > 0)",
    "self.y = self.with_rate([self.u, 1], 1)",
    "self.y = self.with_rate(self.u, None)",
    "self.y = self.hold(self.edge(self.initial), value=1)",
    "self.y = self.hold(self.sample(0, 0.1) & (self.u > 0), value=1)",
    "self.y = self.hold(self.sample(0, 0.1), self.sample(0, 0.1), value=lambda h: h + 'x')",
    "self.y = self.kept(0.0, lambda v: self.switch(v > 0, v, v + 1))",
    "self.y = self.pre(self.pre(self.u > 0))",
    "self.y = self.active(self.edge(self.b)) + self.active(self.edge(self.b + 1))",
    "self.y = self.change(self.b)",
    "self.y = self.initial",
    "self.y = self.sample(0, 0.1)",
    "self.y = self.time_event(0.1)",
    "self.der.x = self.der.x",
    "self.der.x = self.switch(self.x > 0, 'a', 0)",
    "self.der.x = self.sample(0, 0.1)",
    "self.der = 3",
    "self.x = 3",
    "self.b = True",
    "self.time = 3",
    "self.own = 3",
    "self.y = self.world.g",
    "self.y = self.own.y",
    "self.y = self.parts",
    "self.y = self.u[0]",
    "self.y = self.u['a']",
    "self.y = self.u.frame_a",
    "self.y = math.inf * self.u",
    "self.y = self.u / 0",
    "self.y = ca.sqrt(-1)",
    "self.y = ca.vertcat(self.u, self.u)",
    "self.y = ca.SX(0, 1)",
    "self.y = ca.inv(ca.SX.zeros(2, 2))[0] * self.u",
    "self.y = np.nan if self.b is None else np.float64('nan') * self.u",
    "self.require(self.u > 0, 'x', 'y')",
    "self.require(self.u == 0.5, 'x')",
    "self.require(self.u > 0 and True, 'x')",
    "self.terminate(self.sample(0, 0), message='x')",
    "self.terminate(self.u > 0.5, self.b, self.u, message='x')",
    "self.reinit(self.sample(0, 0.1), x=self.delay(self.u, 0.1) / 0)",
    "self.reinit(self.x < 0.5, x=self.u > 0)",
    "self.reinit(self.initial, x=5)",
    "self.when(self.initial, I=self.der(self.u)); self.when(self.sample(0, 0.1), I=self.u > 0)",
    "self.when(self.sample(0, 0.1) | 3, I=1)",
    "self.when(self.sample(0, 0.1), I=[1, 2])",
    "self.energy(kinetic=self.u > 0)",
    "self.energy(kinetic=self.x, potential=ca.SX.sym('e'))",
    "self.draw_shape('box')",
    "self.effort()",
    "self.relation(self.y - self.y)",
    "self.constrain('F', position=self.x - 1)",
    "self.constrain(position=self.x - 1)",
]

#: Declarations in the same component.
DECLARED = [
    "x = State(t.Real, 'again', start=float('nan'), fixed=True)",
    "z = State(t.Real, 'x', start=[1, 2])",
    "I = DiscreteState(t.Real, 'I', start='x')",
    "I = DiscreteState(t.Real, 'I', start=float('inf'))",
    "I = DiscreteState('Real', 'I')",
    "I = DiscreteState(t.Real, 'I', shape=-1)",
    "I = DiscreteState(t.Real, 'I', shape='n')",
    "z = Coordinate(t.Angle, 'z', start=0.0)",
    "z = NetworkVariable(t.Current, 'z')",
    "z = NetworkVariable(t.Current, 'z', start='x')",
    "z = Parameter(t.Real, [1, [2]], 'ragged')",
    "z = Parameter(t.Real, 1.0, 'x', min=2, max=1)",
    "z = Parameter(t.Integer, 1.5, 'x')",
    "z = Parameter(t.Boolean, 'true', 'x')",
    "z = Parameter(t.Real, 1.0, 'x', shape=(2, -1))",
    "z = Parameter(t.Real, 1.0, 'x', shape=3)",
    "z = Parameter(t.Real, 1.0, 'x', choices=['a'])",
    "z = Parameter(t.Type('Odd', unit='bananas'), 1.0, 'x')",
    "z = Parameter(t.Type('Odd', unit='m/'), 1.0, 'x')",
    "z = Parameter(t.Type('Odd', unit='kg..m'), 1.0, 'x')",
    "z = Variable(t.Type('Odd', unit='m', display_unit='kg'), 'x', start=1.0)",
    "z = Variable(t.Type('Odd', unit='m', nominal=0.0), 'x')",
    "z = Variable(t.Type('Odd', unit='m', nominal=float('nan')), 'x')",
    "u2 = RealInput('x', shape=0)",
    "u2 = RealInput('x', type='Torque')",
    "u2 = RealInput(3)",
    "u = RealOutput('x')",
    "initial = Parameter(t.Real, 1.0, 'x')",
    "kept = Parameter(t.Real, 1.0, 'x')",
    "reinit = RealInput('x')",
    "der = Variable(t.Real, 'x')",
    "z = Parameter(t.Real, lambda self: self.u, 'x')",
    "z = Parameter(t.Real, lambda self: self.k + self.z, 'x')",
    "z = Parameter(t.Real, lambda self: ca.SX.sym('q'), 'x')",
    "z = Parameter(t.Real, lambda self: [1, 2], 'x', size='n')",
    "z = Parameter(t.Real, 1.0, 'x', size='nothing')",
    "z = Parameter(t.Boolean, lambda self: self.k > 0, 'x')",
    "z = Parameter(t.Integer, lambda self: self.k, 'x')",
    "z = Parameter(t.Real, 1.0, 'x', when=lambda self: self.nothing)",
    "z = State(t.Boolean, 'x')",
    "z = State(t.Integer, 'x')",
    "z = Variable(t.Real, 'x', state_select='sometimes')",
    "z = Variable(t.Real, 'x', shape=lambda self: 'a')",
    "z = Variable(t.Real, 'x', start=lambda self: self.u)",
    "z = Variable(t.Real, 'x', when=lambda self: 1 / 0)",
    "z = Parameter(t.Real, 1.0, 'x', tunable='yes')",
    "z = Parameter(t.Real, 1.0, 'x', nonzero=True, min=-1); y2 = RealOutput(None)",
]

#: Assemblies: electrical nets, nonlinear loops, closed loops, thermal and drive trains that make no sense.
E = "self.g = electrical.Ground(); self.v = electrical.SineVoltage(V=10.0, f=50.0); "
D = E + "self.d = electrical.Diode({}); self.r = electrical.Resistor(R={}); "
WIRED = (
    "self.connect(self.v.n, self.g.p); self.connect(self.v.p, self.d.p); self.connect(self.d.n, self.r.p); "
    "self.connect(self.r.n, self.g.p); "
)
NET = D + WIRED
LINES = [
    NET.format("Vt=0", 10.0),
    NET.format("Maxexp=0", 10.0),
    NET.format("Maxexp=-5", 10.0),
    NET.format("R=0", 10.0),
    NET.format("Ids='x'", 10.0),
    NET.format("Ids=float('nan')", 10.0),
    NET.format("useHeatPort=3", 10.0),
    NET.format("useHeatPort=True", 10.0),
    NET.format("useTemperatureDependency=True, useHeatPort=False", 10.0),
    NET.format("T=-5.0, useTemperatureDependency=True", 10.0),
    NET.format("T=0.0", 10.0),
    NET.format("nothing=1", 10.0),
    NET.format("Vt=1e-300", 10.0),
    NET.format("Ids=1e300", 10.0),
    NET.format("Maxexp=1e300", 10.0),
    NET.format("", "float('inf')"),
    NET.format("", 0.0) + "self.d.Ids = None",
    NET.format("", 10.0).replace("self.connect(self.v.n, self.g.p); ", ""),
    NET.format("", 10.0).replace("self.connect(self.d.n, self.r.p); ", ""),
    NET.format("", 10.0) + "self.connect(self.v.p, self.g.p)",
    NET.format("", 10.0) + "self.w = electrical.ConstantVoltage(V=1.0); self.connect(self.w.p, self.v.p); "
    "self.connect(self.w.n, self.g.p)",
    NET.format("", 10.0) + "self.w = electrical.ConstantCurrent(I=1.0); self.connect(self.w.p, self.g.p)",
    NET.format("", 10.0) + "self.w = electrical.ConstantCurrent(I=1.0); self.z = electrical.ConstantCurrent(I=2.0); "
    "self.connect(self.w.p, self.g.p); self.connect(self.w.n, self.z.p); self.connect(self.z.n, self.g.p)",
    NET.format("", 10.0) + "self.h = electrical.Ground(); self.connect(self.h.p, self.v.p)",
    NET.format("", 10.0) + "self.q = electrical.Diode2(Vf=0.0); self.connect(self.q.p, self.v.p); "
    "self.connect(self.q.n, self.g.p)",
    NET.format("", 10.0) + "self.q = electrical.Diode2(Gp='x')",
    NET.format("", 10.0) + "self.q = electrical.ZDiode(Nbv=0)",
    NET.format("", 10.0) + "self.q = electrical.ZDiode(Bv=-5.1); self.connect(self.q.p, self.v.p); "
    "self.connect(self.q.n, self.g.p)",
    NET.format("", 10.0) + "self.q = electrical.NMOS(L=1.5e-6); self.connect(self.q.D, self.v.p); "
    "self.connect(self.q.S, self.g.p); self.connect(self.q.G, self.v.p); self.connect(self.q.B, self.g.p)",
    NET.format("", 10.0) + "self.q = electrical.NMOS(); self.connect(self.q.D, self.v.p)",
    NET.format("", 10.0) + "self.q = electrical.PMOS(W='x')",
    NET.format("", 10.0) + "self.q = electrical.OpAmp(); self.connect(self.q.in_p, self.v.p)",
    NET.format("", 10.0) + "self.q = electrical.OpAmp(Slope=0)",
    NET.format("", 10.0) + "self.q = electrical.OpAmp(Slope=-1)",
    NET.format("", 10.0) + "self.connect(self.d.p, self.j.frame_a)",
    NET.format("", 10.0) + "self.connect(self.d.p, self.v)",
    NET.format("", 10.0) + "self.d.p = self.v.p",
    NET.format("", 10.0) + "self.output(self.d.p.q)",
    NET.format("", 10.0) + "self.d.v = Start('x')",
    NET.format("", 10.0) + "self.d.v = Start(0.3, fixed=True)",
    NET.format("", 10.0) + "self.c = electrical.Capacitor(C=0.0, v=Start(0.0, fixed=True)); "
    "self.connect(self.c.p, self.v.p); self.connect(self.c.n, self.g.p)",
    NET.format("", 10.0) + "self.c = electrical.Capacitor(C=-1.0)",
    NET.format("", 10.0) + "self.c = electrical.Capacitor(C=1e-3, v=Start(5.0, fixed=True)); "
    "self.connect(self.c.p, self.v.p); self.connect(self.c.n, self.g.p)",
    NET.format("", 10.0) + "self.c = electrical.Inductor(L=1.0, i=Start(5.0, fixed=True)); "
    "self.connect(self.c.p, self.g.p)",
    E + "self.a = electrical.Diode(); self.b2 = electrical.Diode(); self.connect(self.a.p, self.b2.n); "
    "self.connect(self.a.n, self.b2.p)",
    E + "self.a = [electrical.Diode() for _ in range(3)]; self.connect(self.a[0].p, self.a[3].p)",
    "self.d = electrical.Diode()",
    "self.d = electrical.OpAmp()",
    "self.j.w = Start(1.0, fixed=True); self.i = rotational.Inertia(J=1.0, w=Start(3.0, fixed=True), "
    "phi=Start(0.0, fixed=True)); self.f = rotational.Fixed(); self.connect(self.f.flange, self.i.flange_a)",
    "self.h = thermal.HeatCapacitor(C=1.0); self.t1 = thermal.FixedTemperature(T=300); "
    "self.connect(self.h.port, self.t1.port)",
    "self.t1 = thermal.FixedTemperature(T=-3.0)",
    "self.t1 = thermal.FixedTemperature(T=300.0); self.t2 = thermal.FixedTemperature(T=301.0); "
    "self.connect(self.t1.port, self.t2.port)",
    "self.t1 = thermal.BodyRadiation(Gr=1.0)",
    "self.a = blocks.Add(); self.connect(self.a.y, self.a.u1); self.connect(self.a.y, self.a.u2)",
    "self.a = blocks.Add(); self.k = blocks.Constant(k=1.0); self.connect(self.a.y, self.a.u1); "
    "self.connect(self.k.y, self.a.u2)",
    "self.a = blocks.Sqrt(); self.g = blocks.Gain(k=-1.0); self.s = blocks.Add(); self.k = blocks.Constant(k=-1.0); "
    "self.connect(self.a.y, self.s.u1); self.connect(self.k.y, self.s.u2); self.connect(self.s.y, self.g.u); "
    "self.connect(self.g.y, self.a.u)",
    "self.a = blocks.Not(); self.connect(self.a.y, self.a.u)",
    "self.a = blocks.Pre(); self.n = blocks.Not(); self.connect(self.a.y, self.n.u); self.connect(self.n.y, self.a.u)",
    "self.a = blocks.Limiter(uMax=-1.0, uMin=1.0); self.input(self.a.u)",
    "self.a = blocks.Hysteresis(uLow=1.0, uHigh=0.0); self.input(self.a.u)",
    "self.a = blocks.FixedDelay(delayTime=-1.0); self.input(self.a.u)",
    "self.a = blocks.DeadZone(uMax=-1.0); self.input(self.a.u)",
    "self.a = blocks.SlewRateLimiter(Rising=-1.0); self.input(self.a.u)",
    "self.a = blocks.PID(Ti=0.0); self.input(self.a.u)",
    "self.a = blocks.LimPID(yMax=-1.0); self.input(self.a.u_s); self.input(self.a.u_m)",
    "self.a = blocks.FirstOrder(T=-1.0); self.input(self.a.u)",
    "self.a = blocks.Sine(f=float('inf'))",
    "self.a = blocks.Pulse(period=0.0)",
    "self.a = blocks.Pulse(width=200.0, period=1.0)",
    "self.a = blocks.Ramp(duration=-1.0)",
    "self.a = blocks.discrete.UnitDelay(samplePeriod=-0.1); self.input(self.a.u)",
    "self.a = blocks.discrete.UnitDelay(samplePeriod=0.1, startTime=float('nan')); self.input(self.a.u)",
    "self.a = blocks.discrete.TransferFunction(samplePeriod=0.1, b=[1], a=[0, 1]); self.input(self.a.u)",
    "self.a = rotational.Clutch(fn_max=-1.0)",
    "self.a = rotational.ElastoBacklash(c=1.0, d=1.0, b=-1.0)",
    "self.a = translational.ElastoGap(c=-1.0, d=1.0)",
    "self.a = rotational.Inertia(J=1.0); self.b3 = rotational.Inertia(J=1.0, phi=Start(1.0, fixed=True)); "
    "self.a.phi = Start(0.0, fixed=True); self.connect(self.a.flange_b, self.b3.flange_a)",
    "self.a = blocks.Not(); self.n = blocks.And(); self.connect(self.a.y, self.n.u1); "
    "self.connect(self.n.y, self.a.u); self.input(self.n.u2)",
    "self.a = blocks.LogicalSwitch(); self.connect(self.a.y, self.a.u2); self.input(self.a.u1); self.input(self.a.u3)",
    "self.a = blocks.Gain(k=1.0); self.connect(self.a.y, self.a.u)",
    "self.a = blocks.Gain(k=float('nan'))",
    "self.a = blocks.Gain(k=[1.0, 2.0])",
    "self.a = blocks.Der(); self.s = blocks.Step(); self.connect(self.s.y, self.a.u); self.d = blocks.Der(); "
    "self.connect(self.a.y, self.d.u)",
    "self.a = blocks.Division(); self.k = blocks.Constant(k=0.0); self.connect(self.k.y, self.a.u2); "
    "self.connect(self.k.y, self.a.u1)",
    "self.a = blocks.Sqrt(); self.k = blocks.Constant(k=-1.0); self.connect(self.k.y, self.a.u)",
    "self.a = blocks.Log(); self.k = blocks.Constant(k=0.0); self.connect(self.k.y, self.a.u)",
    "self.a = blocks.IntegerConstant(k=1.5)",
    "self.a = blocks.IntegerConstant(k=2**40)",
    "self.a = blocks.StateSpace(A=[[1, 2]], B=[[1]], C=[[1]], D=[[0]])",
    "self.a = blocks.StateSpace(A=[[1]], B=[[1], [2]], C=[[1]], D=[[0]])",
    "self.a = blocks.TimeTable(table=[[0, 1], [1, float('inf')]])",
    "self.a = blocks.Trapezoid(rising=1, width=1, falling=1, period=1)",
    "self.a = rotational.Spring(c=-1.0); self.i = rotational.Inertia(J=0.0); "
    "self.connect(self.a.flange_a, self.i.flange_b)",
    "self.a = rotational.IdealGear(ratio=0.0)",
    "self.i = rotational.Inertia(J=1.0); self.connect(self.i.flange_a, self.i.flange_b)",
    "self.i = rotational.Inertia(J=1.0); self.connect(self.i.flange_a, self.i.flange_a)",
    "self.p = rotational.Position(); self.q = rotational.Position(); self.connect(self.p.flange, self.q.flange); "
    "self.input(self.p.phi_ref); self.input(self.q.phi_ref)",
    "self.p = rotational.Speed(); self.k = blocks.Constant(k=1.0); self.connect(self.k.y, self.p.w_ref); "
    "self.connect(self.p.flange, self.drive.flange); self.q = rotational.Fixed(); "
    "self.connect(self.q.flange, self.p.flange)",
    "self.m = translational.Mass(m=1.0); self.r = rotational.Inertia(J=1.0); "
    "self.connect(self.m.flange_a, self.r.flange_a)",
    "self.s = Spherical(); self.connect(self.s.frame_a, self.s.frame_b)",
    "self.s = Prismatic(n=(0, 0, 1)); self.connect(self.s.frame_a, self.world.frame_b); "
    "self.connect(self.s.frame_b, self.b.frame_a)",
    "self.j.phi = Start(float('inf'), fixed=False); self.output(self.j.nothing)",
    "self.output(self.j.phi); self.output(self.j.phi)",
    "self.input(self.drive.tau, 'u')",
    "self.output(self.j.phi, 'u')",
    "self.f = forces.Spring(c=1.0); self.connect(self.f.frame_a, self.world.frame_b); "
    "self.connect(self.f.frame_b, self.world.frame_b)",
]

DIODE = '[[component]]\nname = "d"\nclass = "Electrical.Analog.Semiconductors.Diode"\nparameters = {{ {} }}\n'
TOMLS = [
    GOOD + DIODE.format("Vt = 0.0"),
    GOOD + DIODE.format("Vt = [0.04]"),
    GOOD + DIODE.format("useHeatPort = 'true'"),
    GOOD + DIODE.format("useHeatPort = 1"),
    GOOD + DIODE.format("Ids = -nan"),
    GOOD + DIODE.format("N = 0"),
    GOOD + DIODE.format("Ids = {start = 1.0}"),
    GOOD + DIODE.format("v = {start = 1.0, fixed = 'no'}"),
    GOOD + DIODE.format("v = {start = 1.0, min = 3}"),
    GOOD + DIODE.format("v = 0.3"),
    GOOD + DIODE.format("") + "[[connect]]\na = 'd.p'\nb = 'j.frame_a'",
    GOOD + DIODE.format("") + "[[connect]]\na = 'd.p'\nb = 'd.q'",
    GOOD + DIODE.format("") + "[[connect]]\na = 'd[1].p'\nb = 'd.n'",
    GOOD + DIODE.format("") + "[[output]]\nvariable = 'd.i[2]'",
    GOOD + DIODE.format("") + "[[output]]\nvariable = 'd.p'",
    GOOD + DIODE.format("") + "[[input]]\nvariable = 'd.i'",
    GOOD + DIODE.format("").replace("Semiconductors", "Ideal"),
    GOOD + DIODE.format("").replace("Diode", "NPN"),
    GOOD + DIODE.format("") + "dim = [3]\n[[connect]]\na = 'd[4].p'\nb = 'd[1].n'",
    GOOD + DIODE.format("") + "dim = [3.0]",
    GOOD + "[[component]]\nname = 'c'\nclass = 'Blocks.Discrete.UnitDelay'\nparameters = {samplePeriod = 0}",
    GOOD + "[[component]]\nname = 'c'\nclass = 'Blocks.Discrete.UnitDelay'\nparameters = {samplePeriod = -0.1}",
    GOOD + "[[component]]\nname = 'c'\nclass = 'Blocks.Logical.Not'\n[[connect]]\na = 'c.y'\nb = 'c.u'",
    GOOD + "[experiment]\nstart = nan",
    GOOD + "[experiment]\nstart = 3\nstop = 2",
    GOOD + "[experiment]\ninterval = 0",
    GOOD + "[experiment]\ninterval = -inf",
    GOOD + "[experiment]\ntolerance = 2.0",
    GOOD + "[[experiment]]\nstop = 2",
    GOOD.replace("[world]", "[world]\ng = 'x'"),
    GOOD.replace("[world]", "[world]\nn = [0, 0, 0]"),
    GOOD.replace("[world]", "[world]\nnothing = 1"),
    GOOD.replace("[world]", "[[world]]"),
    GOOD.replace("[world]", ""),
    GOOD.replace("1.0", "-1.0"),
    GOOD.replace("[0.5, 0, 0]", "[0.5, 0]"),
    GOOD.replace("[0.5, 0, 0]", "[0.5, 0, 'x']"),
    GOOD.replace("[0.5, 0, 0]", "[[0.5, 0, 0]]"),
    GOOD.replace('"j"', '"world"'),
    GOOD.replace('"j"', '"time"'),
    GOOD.replace("j.frame_b", "j.frame_a"),
    GOOD + "[[component]]\nname = 'j'\nclass = 'Blocks.Math.Gain'\nparameters = {k = 1}",
    GOOD + "[[component]]\nname = 'a'\nclass = 'Blocks.Math.Gain'\nparameters = {k = 1}\ndim = [2.5]",
    GOOD + "[[component]]\nname = 'a'\nclass = 'Blocks.Math.Gain'\nparameters = {k = [1, 2, 3]}\ndim = [2]",
    GOOD + "[[component]]\nname = 'a'\nclass = 'Blocks.Math.Gain'\nparameters = {k = 1979-05-27}",
    GOOD + "[[component]]\nname = 'a'\nclass = 'Blocks.Math.Gain'\nparameters = {k = 'j.phi'}",
    GOOD + "[[component]]\nname = 'a'\nclass = 'Blocks.Logical.Not'\n[[connect]]\na = 'a.y'\nb = 'a.u'",
    GOOD + "[[component]]\nname = 'a'\nclass = 'Blocks.Logical.Not'\n[[connect]]\na = 'a.y'\nb = 'a.u'\ngain = 2",
    GOOD + "[[output]]\nvariable = 'j.phi'\nname = 'a b'",
    GOOD + "[[output]]\nvariable = 'j.phi'\n[[output]]\nvariable = 'j.phi'\nname = 'j.phi'",
    GOOD + "[experiment]\ntolerance = 1e-300",
    GOOD + "[experiment]\nstop = 1e400",
    GOOD + "[experiment]\nsolver = 3",
]

MO = "model M\n  Real x(start=1, fixed=true);\n  {}\nequation\n  {}\nend M;\n"
MODELICA = [
    MO.format("", ""),
    MO.format("", "der(x) = y;"),
    MO.format("Real y;", "der(x) = -x;"),
    MO.format("Real y;", "der(x) = -x; y = 1; y = 2;"),
    MO.format("Real y;", "der(x) = -x; y = if x then 1 else 2;"),
    MO.format("Real y;", "der(x) = -x; y = if x > 0.5 then 1;"),
    MO.format("Real y;", "der(x) = -x; y^2 + 1 = 0;"),
    MO.format("Real y;", "der(x) = -x; y = sqrt(-1 - x^2);"),
    MO.format("Real y;", "der(x) = -x; y = 1/0;"),
    MO.format("Real y;", "der(x) = -x; y = exp(1e5);"),
    MO.format("Real y[2];", "der(x) = -x; y = {1, 2, 3};"),
    MO.format("Real y[2];", "der(x) = -x; y[3] = 1; y[1] = 2;"),
    MO.format("Real y[-1];", "der(x) = -x;"),
    MO.format("Real y[:];", "der(x) = -x;"),
    MO.format("Integer y;", "der(x) = -x; y = x;"),
    MO.format("Integer y;", "der(x) = -x; y = 0.5;"),
    MO.format("Boolean y;", "der(x) = -x; y = 1;"),
    MO.format("Boolean y;", "der(x) = -x; y = not x;"),
    MO.format("Boolean y;", "der(x) = -x; y = x;"),
    MO.format("Boolean y;", "der(x) = -x; y = x > true;"),
    MO.format("String y;", "der(x) = -x; y = 3;"),
    MO.format("discrete Real y;", "der(x) = -x; y = x;"),
    MO.format("Real y;", "der(x) = -x; when x > 0.5 then y = 1; end when; when x > 0.3 then y = 2; end when;"),
    MO.format("Real y;", "der(x) = -x; when x then y = 1; end when;"),
    MO.format("Real y;", "der(x) = -x; when sample(0, 0) then y = 1; end when;"),
    MO.format("Real y;", "der(x) = -x; when sample(0, -1) then y = 1; end when;"),
    MO.format("Real y;", "der(x) = -x; when sample(0, x) then y = 1; end when;"),
    MO.format("Real y;", "der(x) = -x; when sample(0) then y = 1; end when;"),
    MO.format("Real y;", "der(x) = -x; when x < 0.5 then y = y + 1; end when;"),
    MO.format("", "der(x) = -x; when x < 0.5 then reinit(x, 0.5); end when;"),
    MO.format("", "der(x) = -x; when x < 0.5 then reinit(y, 0.5); end when;"),
    MO.format("Real y;", "der(x) = -x; y = x; when x < 0.5 then reinit(y, 0.5); end when;"),
    MO.format("", "der(x) = -x; reinit(x, 3);"),
    MO.format("", "der(x) = -x; when x < 0.5 then reinit(x, sqrt(-1)); end when;"),
    MO.format("", "der(x) = -x; when x < 0.5 then terminate(3); end when;"),
    MO.format("", 'der(x) = -x; assert(x, "number");'),
    MO.format("", "der(x) = -x; assert(x > 0.9, 3);"),
    MO.format("", 'der(x) = -x; assert(x > 0.9, "too small");'),
    MO.format("parameter Real p = p + 1;", "der(x) = -p*x;"),
    MO.format("parameter Real p = q; parameter Real q = p;", "der(x) = -p*x;"),
    MO.format("parameter Real p;", "der(x) = -p*x;"),
    MO.format("parameter Real p(min=0) = -1;", "der(x) = -p*x;"),
    MO.format('parameter Real p(unit="bananas") = 1;', "der(x) = -p*x;"),
    MO.format('parameter Real p = "x";', "der(x) = -p*x;"),
    MO.format("parameter Real p = {1, 2};", "der(x) = -p*x;"),
    MO.format("constant Real p = 1; M2 m(p=2);", "der(x) = -p*x;"),
    MO.format("final parameter Real p = 1; extends N;", "der(x) = -p*x;"),
    MO.format('Real y(start="a");', "der(x) = -x; y = x;"),
    MO.format("Real y(stat=1);", "der(x) = -x; y = x;"),
    MO.format('Real y(unit="m"); Real z(unit="kg");', "der(x) = -x; y = x; z = y + ;"),
    MO.format("Real y;", "der(x) = -x; y = foo(x);"),
    MO.format("Real y;", "der(x) = -x; y = sin(x, x);"),
    MO.format("Real y;", "der(x) = -x; y = sin();"),
    MO.format("Real y;", "der(x) = -x; y = der(der(der(x)));"),
    MO.format("Real y;", "der(x) = -x; y = pre(x);"),
    MO.format("Real y;", "der(x) = -x; y = edge(x);"),
    MO.format("Real y;", "der(x) = -x; y = delay(x, -1);"),
    MO.format("Real y;", "der(x) = -x; for i in 1:x loop y = i; end for;"),
    MO.format("Real y;", "der(x) = -x; for i in 1:3 loop y = i; end for;"),
    MO.format("Real y;", "der(x) = -x; if x > 0.5 then y = 1; end if;"),
    MO.format("Real y;", "der(x) = -x; if x > 0.5 then y = 1; else y = 1; y = 2; end if;"),
    MO.format("Real y;", "der(x) = -x; connect(x, y);"),
    MO.format("Real y;", "der(x) = -x; y = x and true;"),
    MO.format("Real y;", "der(x) = -x; y = x == 0.5;"),
    MO.format("", "der(x) = -x;").replace("end M", "end N"),
    MO.format("", "der(x) = -x;").replace("end M;", ""),
    MO.format("", "der(x) = -x;").replace("model M", "block"),
    MO.format("", "der(x) = -x;").replace("model M", "partial model M"),
    MO.format("", "der(x) = -x;").replace("model M", "function M"),
    MO.format("", "der(x) = -x;").replace("fixed=true", "fixed=1"),
    MO.format("", "der(x) = -x;").replace("end M", "annotation(experiment(StopTime=-1)); end M"),
    MO.format("", "der(x) = -x;").replace("end M", 'annotation(experiment(Tolerance="x")); end M'),
    MO.format("Modelica.Electrical.Analog.Semiconductors.Diode d;", "der(x) = -x;"),
    MO.format("Modelica.Electrical.Analog.Semiconductors.Diode d(Vt=0);", "der(x) = -x;"),
    MO.format("Modelica.Electrical.Analog.Semiconductors.Diode d(vt=0.04);", "der(x) = -x;"),
    MO.format("Modelica.Electrical.Analog.Semiconductors.Thyristors d;", "der(x) = -x;"),
    MO.format("", "der(x) = -x; algorithm x := 3;"),
    MO.format("Real y;", "der(x) = -x; y*y*y = x; y*y = x;"),
    "model M\n Real q(start=3); Real r;\nequation\n q*q + r*r = 1; q + r = 5;\nend M;\n",
    "model M\n Real q(start=1);\nequation\n q = q;\nend M;\n",
    "model M\n Real q(start=1);\nequation\n exp(q) = -1 - time;\nend M;\n",
    "model M\n Real q(start=1);\nequation\n q^2 = 0.2 - time;\nend M;\n",
    "model M\n Real q;\ninitial equation\n q = 1;\nequation\n q = 2;\nend M;\n",
    "within ; model M extends M; end M;",
    "model M M m; end M;",
    "/* never ends",
    'model M "text',
    "\ufeffmodel M end M",
    MO.format("Integer i(start=0.5);", "der(x) = -x; i = 1;"),
    MO.format("Boolean b(start=2);", "der(x) = -x; b = x > 0;"),
    MO.format("Real y;", "der(x) = -x; y = (x > 0.5) + (x > 0.3);"),
    MO.format("Real y;", "der(x) = -x; y = (x > 0.5)*x;"),
    MO.format("Real y;", "der(x) = -x; y = if x then 1 else 0;"),
    MO.format("Real y;", "der(x) = -x; y = if x > 0 then 1 else false;"),
    MO.format("Real y;", "der(x) = -x; y = max(x > 0, 1);"),
    MO.format("Boolean b;", "der(x) = -x; b = not x;"),
    MO.format("Boolean b;", "der(x) = -x; b = not b;"),
    MO.format("Boolean b, c;", "der(x) = -x; b = not c; c = b;"),
    MO.format("Integer i;", "der(x) = -x; i = integer(x) + 0.5;"),
    MO.format("Integer i;", "der(x) = -x; i = 3/2;"),
    MO.format("Integer i;", "der(x) = -x; i = 2^2;"),
    MO.format("Real y[2];", "der(x) = -x; y = {x, x > 0};"),
    MO.format("Real y[2];", "der(x) = -x; y = {x, x, x};"),
    MO.format("Real y[2];", "der(x) = -x; y[1] = x; y[3] = x;"),
    MO.format("Real y[0];", "der(x) = -x; y[1] = x;"),
    MO.format("parameter Integer n = 2.5; Real y[n];", "der(x) = -x; y = zeros(n);"),
    MO.format("parameter Boolean p = 1;", "der(x) = -x;"),
    MO.format("parameter String p = true;", "der(x) = -x;"),
    MO.format("parameter Real p[2] = {1, true};", "der(x) = -x;"),
    MO.format("Real y = x > 0;", "der(x) = -x;"),
    MO.format("Modelica.Blocks.Math.Gain g(k=true);", "der(x) = -x; g.u = x;"),
    MO.format("Modelica.Blocks.Logical.Not g;", "der(x) = -x; g.u = x;"),
    MO.format("Modelica.Blocks.Logical.Not g;", "der(x) = -x; connect(g.y, g.u);"),
    MO.format("Real y;", "der(x) = -x; y = f(x > 0); function f input Real u; output Real v; end f;"),
    MO.format("Real y;", 'der(x) = -x; y = x + "a";'),
    MO.format("Real y;", "der(x) = -x; y = {x};"),
    MO.format("Real y;", "der(x) = -x; y = sum({x > 0, true});"),
    MO.format("Real y;", "der(x) = -x; y = size(x, 1);"),
    MO.format("Real y;", "der(x) = -x; y = smooth(0);"),
    MO.format("Real y(start=x);", "der(x) = -x; y = x;"),
    MO.format("Real y;", "der(x) = -x; y = time > 0.5;"),
    MO.format("", "der(x) = x > 0;"),
    MO.format("", 'der(x) = -x; assert(x + 1, "a");'),
]

URDF = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>{}</inertial></link>{}</robot>'
INERTIA = '<inertia ixx="{}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
JOINT = '<joint name="j" type="{}"><parent link="a"/><child link="b"/>{}</joint>'
URDFS = [
    URDF.format(INERTIA.format("nan"), JOINT.format("revolute", "")),
    URDF.format(INERTIA.format("1_0"), JOINT.format("continuous", "")),
    URDF.format(INERTIA.format("-1"), JOINT.format("continuous", "")),
    URDF.format(INERTIA.format(""), JOINT.format("continuous", "")),
    URDF.format("", JOINT.format("continuous", "")).replace('value="1"', 'value="-1"'),
    URDF.format("", JOINT.format("continuous", "")).replace('value="1"', 'value="1e999"'),
    URDF.format("", JOINT.format("continuous", "")).replace('value="1"', 'vale="1"'),
    URDF.format("", JOINT.format("screw", "")),
    URDF.format("", JOINT.format("continuous", '<axis xyz="0 0 0"/>')),
    URDF.format("", JOINT.format("continuous", '<axis xyz="0 1"/>')),
    URDF.format("", JOINT.format("continuous", '<axis xyz="0 1 0 0"/>')),
    URDF.format("", JOINT.format("continuous", '<axis xyz="a b c"/>')),
    URDF.format("", JOINT.format("continuous", '<origin xyz="0 inf 0"/>')),
    URDF.format("", JOINT.format("continuous", '<origin rpy="0 nan 0"/>')),
    URDF.format("", JOINT.format("revolute", '<limit lower="1" upper="-1" effort="1" velocity="1"/>')),
    URDF.format("", JOINT.format("revolute", '<limit lower="x" upper="1" effort="1" velocity="1"/>')),
    URDF.format("", JOINT.format("continuous", '<dynamics damping="-1" friction="-1"/>')),
    URDF.format("", JOINT.format("continuous", '<dynamics damping="nan"/>')),
    URDF.format("", JOINT.format("continuous", '<mimic joint="j"/>')),
    URDF.format("", JOINT.format("continuous", '<mimic joint="none"/>')),
    URDF.format("", JOINT.format("continuous", '<mimic joint="j" multiplier="x"/>')),
    URDF.format("", ""),
    URDF.format("", JOINT.format("fixed", "") * 2),
    URDF.format("", JOINT.format("fixed", "").replace('"a"', '"b"')),
    URDF.format("", JOINT.format("fixed", "").replace('"a"', '"none"')),
    URDF.format("", JOINT.format("fixed", "")).replace('name="b"', 'name=""'),
    URDF.format("", JOINT.format("fixed", "")).replace('name="b"', ""),
    "<robot/>",
    "<mujoco/>",
    "<robot name='r'>",
    URDF.format("", JOINT.format("prismatic", '<limit lower="\u0661" upper="2" effort="1" velocity="1"/>')),
    URDF.format("", JOINT.format("revolute", '<limit effort="-1" velocity="-1"/>')),
    URDF.format("", JOINT.format("floating", '<axis xyz="0 0 1"/><mimic joint="j"/>')),
    URDF.format(INERTIA.format("1").replace('iyy="1"', 'iyy="100"'), JOINT.format("continuous", "")),
    URDF.format("", JOINT.format("planar", '<axis xyz="0 0 0"/>')),
]

MJCF = '<mujoco><worldbody><body name="b">{}<geom type="box" size="1 1 1"/></body></worldbody>{}</mujoco>'
HINGE = '<joint name="j" type="hinge" {}/>'
MJCFS = [
    MJCF.format(HINGE.format('axis="0 0 0"'), ""),
    MJCF.format(HINGE.format('axis="0 nan 0"'), ""),
    MJCF.format(HINGE.format('damping="-1"'), ""),
    MJCF.format(HINGE.format('damping="nan"'), ""),
    MJCF.format(HINGE.format('stiffness="x"'), ""),
    MJCF.format(HINGE.format('range="1 -1" limited="true"'), ""),
    MJCF.format(HINGE.format('limited="maybe"'), ""),
    MJCF.format(HINGE.format('armature="-1"'), ""),
    MJCF.format(HINGE.format('frictionloss="-2"'), ""),
    MJCF.format(HINGE.format('nothing="1"'), ""),
    MJCF.format(HINGE.format("") * 2, ""),
    MJCF.format(HINGE.format(""), '<actuator><motor joint="k"/></actuator>'),
    MJCF.format(HINGE.format(""), '<actuator><motor name="j" joint="j" gear="nan"/></actuator>'),
    MJCF.format(HINGE.format(""), '<actuator><motor joint="j" ctrlrange="1 -1" ctrllimited="true"/></actuator>'),
    MJCF.format(HINGE.format(""), '<actuator><muscle joint="j"/></actuator>'),
    MJCF.format(HINGE.format(""), '<equality><joint joint1="j" joint2="k"/></equality>'),
    MJCF.format(HINGE.format(""), '<equality><joint joint1="j" joint2="j"/></equality>'),
    MJCF.format(HINGE.format(""), '<equality><weld body1="b" body2="b"/></equality>'),
    MJCF.format(HINGE.format(""), '<option gravity="0 0"/>'),
    MJCF.format(HINGE.format(""), '<option gravity="0 0 nan"/>'),
    MJCF.format(HINGE.format(""), '<option timestep="-1"/>'),
    MJCF.format(HINGE.format(""), '<include file="none.xml"/>'),
    MJCF.format(HINGE.format(""), '<include file="m.xml"/>'),
    MJCF.format("<freejoint/>" + HINGE.format(""), ""),
    MJCF.format('<inertial mass="-1" pos="0 0 0"/>', ""),
    MJCF.format('<inertial mass="1" pos="0 0 0" diaginertia="1 1 100"/>' + HINGE.format(""), ""),
    "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
    "<mujoco>",
    MJCF.format(HINGE.format('ref="nan"'), ""),
    MJCF.format(HINGE.format('springref="1" stiffness="-1"'), ""),
    MJCF.format(HINGE.format('solreflimit="0 0" range="-1 1" limited="true"'), ""),
    MJCF.format("", '<option timestep="0"/>'),
    MJCF.format("", '<option timestep="nan"/>'),
    MJCF.format('<joint type="ball" range="0 -1" limited="true"/>', ""),
    MJCF.format(HINGE.format(""), '<actuator><position joint="j" kp="-1"/></actuator>'),
    MJCF.format(HINGE.format(""), '<sensor><jointpos joint="k"/></sensor>'),
    MJCF.format(HINGE.format(""), '<keyframe><key qpos="1 2"/></keyframe>'),
]

PENDULUM = HEAD + inspect.getsource(P)
#: Tables of inputs.
TABLES = [
    "time,u\n0,1\n1,nan\n",
    "time,u\n0,nan\n1,1\n",
    "time,u\n0,NaN\n1,NAN\n",
    "time,u\nnan,1\n1,1\n",
    "time,u\n0,1\nnan,1\n2,1\n",
    "time,u\n0,inf\n1,1\n",
    "time,u\n0,-1e999\n1,1\n",
    "time,u\n0,1e308\n1,-1e308\n",
    "time,u\ninf,1\n",
    "time,u\n0,1\ninf,1\n",
    "time,u\n0,0x10\n1,1\n",
    "time,u\n0,true\n1,yes\n",
    "time,u\n0,1\n0,2\n0,3\n",
    "time,u\n0,1\n\n\n1,2\n,\n",
    "time,u\n0,1,2,3\n",
    "time\n0\n1\n",
    "u\n0\n1\n",
    "time,u,time\n0,1,2\n",
    " time , u \n0,1\n1,2\n",
    '"time","u"\n"0","1\n',
    "time,u\n0,1\n1,\u0661\n",
    "time [min],u\n0,1\n1,2\n",
    "time [kg],u\n0,1\n1,2\n",
    "time,u [N.m\n0,1\n1,2\n",
    "time,u []\n0,1\n1,2\n",
    "time,u [lbf.ft]\n0,1\n1,2\n",
    "time,j.phi\n0,1\n1,2\n",
    "\ufefftime,u\n0,1\n1,2\n",
    "time,u\r0,1\r1,2\r",
    "time,u\n0,1\n1,2\n\x1a",
    'time,u\n0,"1\n1,2\n',
    "time,u\n0,1\n1,1e\u0661\n",
    "time,u\n0,1 000\n",
    "time,u\n0,1;1,2\n",
    "time;u\n0;1\n1;2;3\n",
    "time,u\n-1e999,1\n",
    'time,"u"x\n0,1\n',
    "time,u\n0,infinity\n",
]

#: Commands beside p.py, d.csv, x.fmu (a good FMU), s.toml.
COMMANDS = [
    "info p.py -o x.html",
    "info p.py --equations -o x.txt",
    "info p.py --equations -o none/x.html",
    "info p.py --equations -o p.py",
    "info p.py --equations -o .",
    "info p.py --equations --json -o x.json",
    "info x.fmu --equations",
    "info d.csv --equations",
    "info s.toml --equations",
    "info p.py --equations -p nothing=1",
    "info pendulum --equations extra",
    "sweep p.py -p b.m=1,2 -y j.phi -o x.zarr/y.csv",
    "sweep p.py -p b.m=1,2 -y j.phi -o p.py",
    "sweep p.py -p b.m=1,2 -y j.phi -o x.zip",
    "sweep p.py -p b.m=1,2 -y j.phi:final -o file.zarr",
    "sweep p.py -p b.m=1,2 -y j.phi:final -o full.zarr",
    "sweep p.py -p b.m=1,2 -y j.phi -o none/x.zarr",
    "sweep p.py -p b.m=1,2 -y j.phi:crossing= -o x.zarr",
    "sweep p.py -p b.m=1,2 -y j.phi:crossing=inf -o x.zarr",
    "sweep p.py -p b.m=1,2 -y j.phi:max=3 -o x.zarr",
    "sweep p.py -p b.m=1,2 -y :max -o x.zarr",
    "sweep p.py -p b.m=1,2 -y j.phi:median -o x.zarr",
    "sweep p.py -p b.m=1,2 -y j.* -o x.zarr",
    "sweep p.py -p b.m=-1,2 -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=1,, -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=inf,1 -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m= -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=uniform:1:2 -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=uniform:1:2 --samples 1000000000 -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=1,2 --samples 5 -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=uniform:nan:2 --samples 2 -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=loguniform:0:2 --samples 2 -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=1,2 -p u=1,2 -y j.phi:final -o x.zarr",
    "sweep p.py -p j.n=1,2 -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=1,2 -y j.phi:final --scheduler nowhere -o x.zarr",
    "sweep p.py -p b.m=1,2 -y j.phi:final --stop 0 -o x.zarr",
    "sweep p.py -p b.m=1,2 -y time:final -o x.zarr",
    "sweep p.py -p time=1,2 -y j.phi:final -o x.zarr",
    "sweep p.py -y j.phi:final -o x.zarr",
    "sweep p.py -p b.m=1,2 -o x.zarr",
    "sweep p.py -p b.m=1,2 -y j.phi --interval 1e-9 -o x.zarr",
    "sweep x.fmu -p body.m=1,nan -y rev.phi:final -o x.zarr",
    "sweep x.fmu -p rev.phi=x -y rev.phi:final -o x.zarr",
    "fit p.py nan.csv -p b.m",
    "fit p.py one.csv -p b.m",
    "fit p.py d.csv -p b.m=2:1",
    "fit p.py d.csv -p b.m=1",
    "fit p.py d.csv -p j.n",
    "fit p.py d.csv -p u",
    "fit p.py d.csv",
    "fit p.py d.csv d.csv -p b.m --input d.csv --confidence 2",
    "fit p.py p.py -p b.m",
    "linearize p.py --at nan",
    "linearize p.py --at -1",
    "linearize p.py --at 1e12",
    "linearize p.py --at end",
    "linearize p.py -o x.csv",
    "linearize p.py --variables b.m",
    "linearize p.py --variables ,",
    "linearize p.py --mode 99 --animation x.html",
    "linearize x.fmu",
    "equilibrium p.py --hold b.m",
    "equilibrium p.py --hold j.phi --speed j.w=nan",
    "equilibrium p.py --speed j.phi=1",
    "equilibrium p.py --starts 0",
    "equilibrium x.fmu",
    "simulate x.fmu --interval 0",
    "simulate x.fmu --stop -1",
    "simulate x.fmu -p nothing=1",
    "simulate x.fmu -p rev.phi=nan",
    "simulate x.fmu -p rev.n=1",
    "simulate x.fmu --input d.csv",
    "simulate x.fmu --variables none",
    "simulate p.py:N",
    "simulate p.py:M:M",
    "simulate p.py: ",
    "simulate p.py -p u=nan",
    "simulate p.py -p time=3",
    "simulate p.py -p j=3",
    "simulate p.py --variables b.m,",
    "animate p.py -o x.gif",
    "animate p.py -o none/x.html",
    "animate p.py --live -o x.glb",
    "animate p.py --interval 0",
    "animate d.csv",
    "validate d.csv",
    "validate .",
    "convert x.fmu -o y.py",
    "convert p.py",
    "build p.py --fmi 4",
    "build p.py --wasm",
    "build p.py --start sleep",
    "build p.py --variables [",
    "build x.fmu",
    "ssp s.toml",
    "ssp a=p.py a=p.py",
    "ssp a=p.py b=p.py -c a.u=b.u",
    "ssp a=p.py b=p.py -c a.x=b.u",
    "ssp a=p.py b=p.py -c a.j.phi=b.u=c",
    "ssp =p.py",
    "ssp a=",
    "ssp a=p.py -o x.fmu",
    "simulate p.py --stop 1_0",
    "simulate p.py --interval 0.1 --stop 1e-3 --tolerance 1e-20",
    "simulate p.py --stop 0.1 --input d.csv --csv none/x.csv",
    "simulate p.py --stop 0.1 --input none.csv",
    "simulate p.py --stop 0.1 -p u=1 --input d.csv",
    "simulate x.fmu --stop 0.1 --tolerance 1e-20",
    "simulate x.fmu --stop 0.1 --tolerance nan",
    "simulate x.fmu --stop 1e300",
    "simulate x.fmu --stop 0.1 --variables rev.phi,rev.phi",
    "animate x.fmu --interval -1",
    "animate p.py --live --stop 1",
    "animate p.py --live -o y.html -p nothing=1",
    "build p.py --fixed-step 1_0",
    "build p.py --fixed-step 0 --solver euler",
    "build p.py --wasm --fmi 2",
    "build p.py --sources --target python",
    "build p.py --platforms linux64,mars",
    "build p.py -o none/y.fmu",
    "build p.py --variables nothing.*",
    "sweep x.fmu -p body.m=1_0,2 -y rev.phi:final",
    "sweep x.fmu -p body.m=1,2 -y rev.phi:final -o none/y.parquet",
    "sweep x.fmu -p body.m=1,2 -y nothing:final",
    "sweep p.py -p b.m=linspace:1:2:1_0 -y j.phi:final",
    "sweep p.py -p b.m=normal:1:nan --samples 2 -y j.phi:final",
    "sweep p.py -p b.m=1,2 -y j.phi:final --tolerance 1e-20",
    "fit p.py d.csv -p b.m=1_0:20",
    "fit p.py d.csv -p b.m --tolerance 1e-20",
    "fit x.fmu d.csv -p body.m",
    "linearize p.py --at \u0661",
    "linearize p.py --at 1_0",
    "equilibrium p.py --speed j.w=1_0",
    "equilibrium p.py --hold j.phi --hold j.phi",
    "cosimulate s.toml --step 0.1",
    "cosimulate s.toml --step nan",
    "cosimulate s.toml --step 0.1 --tolerance 1e-20",
    "ssp s.toml -o none/y.ssp",
]

#: System files.
SYSTEMS = [
    "elements = 3",
    "[elements]",
    "[elements]\na = 3",
    "[elements]\na = ''",
    "[elements]\na = 'p.py'\nx = ['p.py']",
    "[elements]\na = 'none.fmu'",
    "[elements]\na = 'd.csv'",
    "[elements]\na = 's.toml'",
    "[elements]\n'a b' = 'p.py'",
    "[elements]\na = 'p.py'\n[[connect]]\na = 'a.u'",
    "[elements]\na = 'p.py'\n[[connect]]\na = 'a.u'\nb = 'a.u'",
    "[elements]\na = 'p.py'\n[[connect]]\na = 'a.u'\nb = 'b.u'",
    "[elements]\na = 'p.py'\n[[connect]]\na = 3\nb = 4",
    "[elements]\na = 'p.py'\nb = 'p.py'\n[[connect]]\na = 'a.j.phi'\nb = 'b.u'\n[[connect]]\na = 'a.j.phi'\nb = 'b.u'",
    "connect = 3\n[elements]\na = 'p.py'",
    "connect = [3]\n[elements]\na = 'p.py'",
    "[elements]\na = 'p.py'\n[experiment]\nstop = nan",
    "[elements]\na = 'p.py'\n[experiment]\nstop = -1",
    "[elements]\na = 'p.py'\n[experiment]\nstop = '3'",
    "[elements]\na = 'p.py'\n[experiment]\nstopp = 3",
    "experiment = 3\n[elements]\na = 'p.py'",
    "experiment = [{stop = 3}]\n[elements]\na = 'p.py'",
    "name = 3\n[elements]\na = 'p.py'",
    "[elements]\na = 'p.py'\n[[connect]]\na = 'a.u'\nb = 'a.j.phi'\ngain = 3",
]

DATA = {"time": [0.0, 0.1, 0.2, 0.3], "j.phi": [0.1, 0.05, -0.1, -0.4]}
#: Calls of Python, of p.py as m.
CALLS: dict[str, Callable[[Any], Any]] = {
    "simulate outputs set": lambda m: mbfmu.simulate(m, 0.1, outputs={"j.phi": 1}),
    "simulate outputs twice": lambda m: mbfmu.simulate(m, 0.1, outputs=["j.phi", "j.phi"]),
    "simulate method": lambda m: mbfmu.simulate(m, 0.1, solver="nothing"),
    "simulate progress": lambda m: mbfmu.simulate(m, 0.1, progress=3),
    "simulate inputs nan": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": math.nan}),
    "simulate inputs array": lambda m: mbfmu.simulate(m, 0.1, inputs=np.ones((2, 2))),
    "simulate inputs 3": lambda m: mbfmu.simulate(m, 0.1, inputs=3),
    "simulate inputs nan times": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": ([0, math.nan], [1, 2])}),
    "simulate inputs empty": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": ([], [])}),
    "simulate inputs function nan": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": lambda t: math.nan}),
    "simulate inputs function none": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": lambda t: None}),
    "simulate inputs function args": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": lambda: 1.0}),
    "simulate inputs function column": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": lambda t: [1, 2]}),
    "simulate inputs function exits": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": lambda t: sys.exit(3)}),
    "simulate inputs function gap": lambda m: mbfmu.simulate(
        m, 0.1, inputs={"u": lambda t: math.inf if t > 0.05 else 0.0}
    ),
    "simulate inputs masked": lambda m: mbfmu.simulate(
        m, 0.1, inputs={"time": np.ma.array([0.0, 0.1], mask=[0, 1]), "u": [1, 2]}
    ),
    "simulate inputs datetimes": lambda m: mbfmu.simulate(
        m, 0.1, inputs={"time": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64"), "u": [1, 2]}
    ),
    "simulate inputs complex": lambda m: mbfmu.simulate(m, 0.1, inputs={"time": [0, 1], "u": np.array([1j, 2])}),
    "simulate start complex": lambda m: mbfmu.simulate(m, 0.1, start_values={"b.m": 1j}),
    "simulate start nan": lambda m: mbfmu.simulate(m, 0.1, start_values={"j.phi": math.nan}),
    "simulate start u": lambda m: mbfmu.simulate(m, 0.1, start_values={"u": "x"}),
    "simulate start end": lambda m: mbfmu.simulate(m, 0.1, start_time=0.1),
    "simulate far": lambda m: mbfmu.simulate(m, 1e300),
    "simulate far start": lambda m: mbfmu.simulate(m, 1e17 + 1, start_time=1e17),
    "simulate step": lambda m: mbfmu.simulate(m, 0.1, interval=math.nan),
    "simulate tolerance": lambda m: mbfmu.simulate(m, 0.1, tolerance=1e-300),
    "many none": lambda m: list(mbfmu.simulate_many(m, None)),
    "many threads": lambda m: list(mbfmu.simulate_many(m, [{}], 0.1, threads=1.5)),
    "many threads text": lambda m: list(mbfmu.simulate_many(m, [{}], 0.1, threads="2")),
    "sweep empty": lambda m: mbfmu.sweep(m, {}, ["j.phi:final"]),
    "sweep no values": lambda m: mbfmu.sweep(m, {"b.m": []}, ["j.phi:final"]),
    "sweep number": lambda m: mbfmu.sweep(m, {"b.m": None}, ["j.phi:final"], 0.1),
    "sweep objects": lambda m: mbfmu.sweep(m, {"b.m": [object()]}, ["j.phi:final"], 0.1),
    "sweep lengths": lambda m: mbfmu.sweep(m, {"b.m": [1, 2], "j.phi": [1, 2, 3]}, ["j.phi:final"], 0.1, each=True),
    "sweep each": lambda m: mbfmu.sweep(m, {"b.m": [1, 2]}, ["j.phi:final"], 0.1, each="yes"),
    "sweep samples": lambda m: mbfmu.sweep(m, {"b.m": "uniform:1:2"}, ["j.phi:final"], 0.1, samples=2.5),
    "sweep samples 0": lambda m: mbfmu.sweep(m, {"b.m": "uniform:1:2"}, ["j.phi:final"], 0.1, samples=0),
    "sweep seed": lambda m: mbfmu.sweep(m, {"b.m": "uniform:1:2"}, ["j.phi:final"], 0.1, samples=2, seed=-1),
    "sweep outputs": lambda m: mbfmu.sweep(m, {"b.m": [1]}, [], 0.1),
    "sweep output 3": lambda m: mbfmu.sweep(m, {"b.m": [1]}, [3], 0.1),
    "sweep model": lambda m: mbfmu.sweep(3, {"b.m": [1]}, ["j.phi:final"], 0.1),
    "sweep function": lambda m: mbfmu.sweep(lambda q: 3, {"q": [1]}, ["j.phi:final"], 0.1),
    "sweep function none": lambda m: mbfmu.sweep(lambda: m, {"q": [1]}, ["j.phi:final"], 0.1),
    "sweep class": lambda m: mbfmu.sweep(type(m), {"q": [1]}, ["j.phi:final"], 0.1),
    "sweep load": lambda m: mbfmu.Sweep.load(3),
    "sweep load folder": lambda m: mbfmu.Sweep.load("."),
    "sweep zarr": lambda m: mbfmu.Sweep.load("full.zarr"),
    "fit columns": lambda m: mbfmu.fit(m, {"time": [0, 1], "j.phi": [1, 2, 3]}, ["b.m"]),
    "fit one": lambda m: mbfmu.fit(m, {"time": [0.0], "j.phi": [0.1]}, ["b.m"]),
    "fit nan": lambda m: mbfmu.fit(m, {"time": [0, 1], "j.phi": [math.nan] * 2}, ["b.m"]),
    "fit time": lambda m: mbfmu.fit(m, {"time": [0, math.nan], "j.phi": [0.1, 0.2]}, ["b.m"]),
    "fit back": lambda m: mbfmu.fit(m, {"time": [1, 0], "j.phi": [0.1, 0.2]}, ["b.m"]),
    "fit none": lambda m: mbfmu.fit(m, DATA, []),
    "fit twice": lambda m: mbfmu.fit(m, DATA, ["b.m", "b.m"]),
    "fit nothing": lambda m: mbfmu.fit(m, None, ["b.m"]),
    "fit bounds": lambda m: mbfmu.fit(m, DATA, {"b.m": (1, 2, 3)}),
    "fit bounds out": lambda m: mbfmu.fit(m, DATA, {"b.m": (-5.0, -4.0)}),
    "fit confidence": lambda m: mbfmu.fit(m, DATA, ["b.m"], confidence=math.nan),
    "fit threads": lambda m: mbfmu.fit(m, DATA, ["b.m"], threads="x"),
    "fit unknown": lambda m: mbfmu.fit(m, {"time": [0, 1], "nothing": [1, 2]}, ["b.m"]),
    "fit no effect": lambda m: mbfmu.fit(m, DATA, ["world.animateWorld"]),
    "linearize inputs": lambda m: mbfmu.linearize(m, inputs=["j.phi"]),
    "linearize inputs text": lambda m: mbfmu.linearize(m, inputs="u"),
    "linearize inputs twice": lambda m: mbfmu.linearize(m, inputs=["u", "u"]),
    "linearize outputs twice": lambda m: mbfmu.linearize(m, outputs=["j.phi", "j.phi"]),
    "linearize at": lambda m: mbfmu.linearize(m, at=math.inf),
    "linearize at true": lambda m: mbfmu.linearize(m, at=True),
    "linearize tolerance": lambda m: mbfmu.linearize(m, at=0.1, tolerance=-1),
    "equilibrium hold": lambda m: mbfmu.equilibrium(m, hold=["nothing"]),
    "equilibrium hold 3": lambda m: mbfmu.equilibrium(m, hold=3),
    "equilibrium speeds": lambda m: mbfmu.equilibrium(m, speeds={"j.w": math.inf}),
    "equilibrium starts": lambda m: mbfmu.equilibrium(m, starts=1.5),
    "equilibrium stable": lambda m: mbfmu.equilibrium(m, stable="yes"),
    "build fmi": lambda m: mbfmu.build(m, "y.fmu", fmi=2.5),
    "build platforms": lambda m: mbfmu.build(m, "y.fmu", platforms=3),
    "build variables": lambda m: mbfmu.build(m, "y.fmu", variables=3),
    "build solver": lambda m: mbfmu.build(m, "y.fmu", solver=3),
    "build sources": lambda m: mbfmu.build(m, "y.fmu", sources="no"),
    "build energy": lambda m: mbfmu.build(m, "y.fmu", energy="no"),
    "build fixed": lambda m: mbfmu.build(m, "y.fmu", fixed_step=True),
    "load number": lambda m: mbfmu.load(3),
    "load nothing": lambda m: mbfmu.load(""),
    "load settings": lambda m: mbfmu.load("p.py", 3),
    "load settings text": lambda m: mbfmu.load("p.py", "b.m=1"),
    "load options": lambda m: mbfmu.load("p.py", nothing=1),
    "simulate tolerance text": lambda m: mbfmu.simulate(m, 0.1, tolerance="1e-6"),
    "simulate method number": lambda m: mbfmu.simulate(m, 0.1, solver=3),
    "simulate two inputs": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": 1.0}, start_values={"u": 2.0}),
    "simulate held text": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": 1.0}, interpolation=True),
    "simulate masked list": lambda m: mbfmu.simulate(m, 0.1, inputs={"time": [0, 1], "u": [1, np.ma.masked]}),
    "simulate generator": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": (k for k in range(3))}),
    "simulate function raises": lambda m: mbfmu.simulate(m, 0.1, inputs={"u": lambda t: {}["a"]}),
    "simulate outputs nested": lambda m: mbfmu.simulate(m, 0.1, outputs=[["j.phi"]]),
    "simulate start masked": lambda m: mbfmu.simulate(m, 0.1, start_values={"b.m": np.ma.masked}),
    "simulate step masked": lambda m: mbfmu.simulate(m, 0.1, interval=np.ma.masked),
    "many masked": lambda m: list(mbfmu.simulate_many(m, [{"b.m": np.ma.masked}], 0.1)),
    "many generator": lambda m: list(mbfmu.simulate_many(m, ({"b.m": k} for k in "ab"), 0.1)),
    "sweep masked": lambda m: mbfmu.sweep(m, {"b.m": np.ma.array([1, 2], mask=[0, 1])}, ["j.phi:final"], 0.1),
    "sweep building": lambda m: mbfmu.sweep(m, {"b.m": [1]}, ["j.phi:final"], 0.1, building=3),
    "sweep progress exits": lambda m: mbfmu.sweep(m, {"b.m": ["1"]}, ["j.phi:final"], 0.1, progress="x"),
    "sweep exits": lambda m: mbfmu.sweep(lambda q: sys.exit(q), {"q": [1.0, 2.0]}, ["j.phi:final"], 0.1),
    "sweep each number": lambda m: mbfmu.sweep(m, {"b.m": [1]}, ["j.phi:final"], 0.1, each=1),
    "fit masked": lambda m: mbfmu.fit(m, {"time": [0, 0.1], "j.phi": np.ma.array([1, 2], mask=[1, 1])}, ["b.m"]),
    "fit inputs": lambda m: mbfmu.fit(m, DATA, ["b.m"], inputs={"u": lambda t: sys.exit(1)}),
    "linearize drive": lambda m: mbfmu.linearize(m, at=0.1, drive={"u": lambda t: sys.exit(1)}),
    "equilibrium starts values": lambda m: mbfmu.equilibrium(m, start_values={"j.phi": np.ma.masked}),
    "build wasm": lambda m: mbfmu.build(m, "y.fmu", fmi=3, wasm="no"),
    "build progress": lambda m: mbfmu.build(m, "y.fmu", progress="no"),
    "build variables masked": lambda m: mbfmu.build(m, "y.fmu", variables=[None]),
    "System energy": lambda m: mbfmu.System.of(m, energy="no"),
    "System scene": lambda m: mbfmu.System.of(m, scene=1),
    "System cuts": lambda m: mbfmu.System.of(m, cuts=["nothing"]),
    "System cuts 3": lambda m: mbfmu.System.of(m, cuts=3),
    "animate live": lambda m: mbfmu.animate(m, "x.html", live="no"),
    "animate inputs": lambda m: mbfmu.animate("x.fmu", "x.html", progress=3),
    "animate path": lambda m: mbfmu.animate(m, 3),
    "animate model": lambda m: mbfmu.animate(3, "x.html"),
}


def fmu_cases(good: bytes) -> Iterator[tuple[str, bytes, list[str]]]:
    """Damaged copies of an FMU: its description edited, bytes cut or changed."""
    import zipfile

    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    text = entries["modelDescription.xml"].decode()

    def made(description: str, without: str = "", **more: bytes) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("modelDescription.xml", description)
            for name, content in (entries | more).items():
                if name != "modelDescription.xml" and not (without and name.startswith(without)):
                    archive.writestr(name, content)
        return stream.getvalue()

    import re

    edits = [
        (r'fmiVersion="[^"]*"', 'fmiVersion="7.0"'),
        (r'fmiVersion="[^"]*"', ""),
        (r'valueReference="1"', 'valueReference="x"'),
        (r'valueReference="1"', 'valueReference="-1"'),
        (r'valueReference="1"', 'valueReference="99999999999"'),
        (r'causality="output"', 'causality="nothing"'),
        (r'causality="output"', 'causality="input"'),
        (r'variability="continuous"', 'variability="often"'),
        (r' name="rev.phi"', ' name=""'),
        (r' name="rev.phi"', ' name="rev.w"'),
        (r' name="rev.phi"', ""),
        (r'stopTime="[^"]*"', 'stopTime="nan"'),
        (r'stopTime="[^"]*"', 'stopTime="-5"'),
        (r'tolerance="[^"]*"', 'tolerance="x"'),
        (r'stepSize="[^"]*"', 'stepSize="0"'),
        (r'modelIdentifier="[^"]*"', 'modelIdentifier=""'),
        (r'start="1"', 'start="x"'),
        (r'<Unknown index="\d+"', '<Unknown index="9999"'),
        (r"<ModelVariables>.*</ModelVariables>", "<ModelVariables/>"),
        (r"<ModelVariables>.*</ModelVariables>", ""),
        (r"<ModelStructure>.*</ModelStructure>", ""),
        (r"<CoSimulation.*?</CoSimulation>|<CoSimulation[^>]*/>", ""),
    ]
    for pattern, other in edits:
        edited, count = re.subn(pattern, other, text, count=1, flags=re.DOTALL)
        if count:
            for command in ("simulate x.fmu --stop 0.1", "validate x.fmu", "info x.fmu"):
                yield f"{command}: {pattern} -> {other}", made(edited), command.split()
    for without in ("binaries", "resources", "binaries/linux64"):
        yield f"simulate without {without}", made(text, without), ["simulate", "x.fmu"]
    library = next(name for name in entries if name.endswith(".so"))
    yield "library is text", made(text, **{library: b"text"}), ["simulate", "x.fmu"]
    yield "library is empty", made(text, **{library: b""}), ["simulate", "x.fmu"]
    for part in (0.3, 0.9, 0.999):
        yield f"cut at {part}", good[: int(len(good) * part)], ["simulate", "x.fmu"]
    yield "description is a scene", made("<x/>"), ["simulate", "x.fmu"]
    yield "entity", made('<!DOCTYPE x [<!ENTITY e "eeee">]>' + text[text.index("<fmi") :]), ["info", "x.fmu"]


def cases() -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Door, what is wrong, and how it is tried in an empty folder."""

    def command(arguments: list[str], **files: str | bytes) -> Callable[[], Any]:
        def run() -> int:
            for name, content in files.items():
                path = pathlib.Path(name.replace("_", "."))
                path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
            return cli.main(arguments)

        return run

    for line in EQUATIONS:
        given = (
            "" if "self.y" in line.split(";")[0] and "=" in line.split("self.y", 1)[1][:4] else "        self.y = 1.0\n"
        )
        declared = "    I = DiscreteState(t.Real, 'held', start=0.0)\n" if "I=" in line or "self.I" in line else ""
        text = HEAD + OWN.format(declared=declared, given=given, line=line)
        yield "equations", line, command(["simulate", "m.py", "--stop", "0.6"], m_py=text)
    for line in DECLARED:
        text = HEAD + OWN.format(declared=f"    {line}\n", given="", line="self.y = self.u")
        yield "declarations", line, command(["build", "m.py", "--equations", "interpreted"], m_py=text)
    world = PENDULUM.replace("        self.input", "        {line}\n        self.input", 1)
    for line in LINES:
        text = world.replace("{line}", line)
        yield "assemblies", line, command(["simulate", "m.py", "--stop", "0.05"], m_py=text)
    for text in TOMLS:
        yield "toml", text, command(["simulate", "m.toml", "--stop", "0.05"], m_toml=text)
    for text in MODELICA:
        yield "modelica", text, command(["simulate", "m.mo", "--stop", "1"], m_mo=text)
    for text in URDFS:
        yield "urdf", text, command(["simulate", "m.urdf", "--stop", "0.05"], m_urdf=text)
    for text in MJCFS:
        yield "mjcf", text, command(["simulate", "m.xml", "--stop", "0.05", "--without", "contact"], m_xml=text)
    files = {"p_py": PENDULUM, "d_csv": "time,u,j.phi\n0,0,0.1\n0.1,0,0.05\n0.2,0,-0.1\n"}
    for text in TABLES:
        yield "csv", text, command(["simulate", "p.py", "--input", "i.csv", "--stop", "1"], p_py=PENDULUM, i_csv=text)
    with tempfile.TemporaryDirectory() as folder:
        path = mbfmu.build(mbfmu.load("pendulum"), f"{folder}/pendulum.fmu", equations="interpreted")
        good = path.read_bytes()
        third = mbfmu.build(mbfmu.load("pendulum"), f"{folder}/third.fmu", equations="interpreted", fmi=3).read_bytes()
    files |= {
        "x_fmu": good, "s_toml": "[elements]\na = 'p.py'\nb = 'none.py'\n", "file_zarr": "text",
        "nan_csv": "time,j.phi\n0,nan\n1,nan\n", "one_csv": "time,j.phi\n0,0.1\n",
    }  # fmt: skip
    for line in COMMANDS:

        def prepared(line: str = line) -> int:
            pathlib.Path("full.zarr").mkdir()
            pathlib.Path("full.zarr", "mine.txt").write_text("text")
            return command(line.split(), **files)()

        yield "commands", line, prepared
    for text in SYSTEMS:
        yield "systems", text, command(["ssp", "s.toml"], **files | {"s_toml": text})
    for version, content in (("2", good), ("3", third)):
        for name, damaged, arguments in fmu_cases(content):
            yield "fmu", f"FMI {version}, {name}", command(arguments, x_fmu=damaged)
    for name, call in CALLS.items():

        def called(call: Callable[[Any], Any] = call) -> Any:
            for key, content in files.items():
                target = pathlib.Path(key.replace("_", "."))
                target.write_bytes(content if isinstance(content, bytes) else content.encode())
            pathlib.Path("full.zarr").mkdir()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return call(mbfmu.load("p.py"))

        yield "python", name, called


def judged(run: Callable[[], Any]) -> tuple[str, str]:
    """What became of an input (refused, accepted, traceback, slow, large), and the words that tell it."""
    shown, told = io.StringIO(), io.StringIO()
    begin, memory = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code: Any = None
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(told):
            code = run()
    except MbfmuError as error:
        code = 2
        told.write(f"mbfmu: {error}")
    except TimeoutError:
        return "slow", told.getvalue()
    except BaseException as error:
        return "traceback", f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    text = told.getvalue().strip()
    if time.monotonic() - begin > SECONDS:
        return "slow", text
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory > 1000 * MEGABYTES:
        return "large", text
    if "Traceback" in text or "defect of mbfmu" in text:
        return "traceback", text
    if code in (1, 2):
        return "refused", text or shown.getvalue().strip()[-300:]
    return "accepted", text + " | " + (shown.getvalue().strip()[-300:] or str(code)[:300])


def stopped(*_: object) -> None:
    raise TimeoutError


def main(doors: list[str]) -> None:
    signal.signal(signal.SIGALRM, stopped)
    counts: dict[str, int] = {}
    home = os.getcwd()
    for door, name, run in cases():
        if doors and door not in doors:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            begin = time.monotonic()
            kind, text = judged(run)
            os.chdir(home)
        counts[kind] = counts.get(kind, 0) + 1
        took = time.monotonic() - begin
        print(f"{kind:10} {door:12} {took:5.1f} s  {name!r}\n    {text[-500:]}", flush=True)
    print(counts)


if __name__ == "__main__":
    main(sys.argv[1:])
