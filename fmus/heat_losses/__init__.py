"""Three bodies on springs and dampers, whose losses warm a surface that air cools."""

import math

from mbfmu.components import Body, FixedTranslation, World, blocks, forces, thermal
from mbfmu.modeling import Assembly, Start


class HeatLosses(Assembly):
    """Three bodies on springs; what their dampers lose flows through heat ports into the air."""

    stop_time = 3.0

    def __init__(self):
        self.world = World()
        self.bars = [FixedTranslation(r=(0.3, 0, 0)) for _ in range(3)]
        self.bodies = [
            Body(
                m=1.0,
                r_CM=(0, -0.2, 0),
                I_11=0.1,
                I_22=0.1,
                I_33=0.1,
                r_0=Start((0.3 * i, -0.2, 0), fixed=True),
                v_0=Start((0, 0, 0), fixed=True),
                angles_fixed=True,
                w_0_fixed=True,
                w_0_start=(0, 0, math.radians(2)),
            )
            for i in (1, 2, 3)
        ]
        self.spring1 = forces.Spring(c=30.0, s_unstretched=0.1)
        self.damper1 = forces.Damper(d=2.0, useHeatPort=True)
        self.springDamper = forces.SpringDamperParallel(c=30.0, d=2.0, s_unstretched=0.1, useHeatPort=True)
        self.spring3 = forces.Spring(c=30.0, s_unstretched=0.2)
        self.springDamperSeries = forces.SpringDamperSeries(c=30.0, d=2.0, s_unstretched=0.1, useHeatPort=True)
        self.convection = thermal.Convection()
        self.conductance = blocks.Constant(k=20.0)
        self.ambient = thermal.celsius.FixedTemperature(T=25.0)
        frame = self.world.frame_b
        hangers = (
            (self.spring1, self.damper1),
            (self.springDamper,),
            (self.spring3, self.springDamperSeries),
        )
        for bar, body, parts in zip(self.bars, self.bodies, hangers, strict=True):
            self.connect(frame, bar.frame_a)
            frame = bar.frame_b
            for part in parts:
                self.connect(frame, part.frame_a)
                self.connect(part.frame_b, body.frame_a)
        for part in (self.damper1, self.springDamper, self.springDamperSeries):
            self.connect(part.heatPort, self.convection.solid)
        self.connect(self.conductance.y, self.convection.Gc)
        self.connect(self.convection.fluid, self.ambient.port)
        for body in self.bodies:
            self.output(body.r_0[1])
        self.output(self.convection.Q_flow)
        self.output(self.convection.solid.T)
