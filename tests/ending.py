"""Models that end their run, as tests of several folders take them."""

from __future__ import annotations

from mbfmu.components import blocks
from mbfmu.modeling import Assembly


class Filling(Assembly):
    """A level that rises by 2 m/s; the run ends where it passes 3 m."""

    stop_time = 5.0

    def __init__(self, limit: float = 3.0) -> None:
        self.level, self.flow = blocks.Integrator(), blocks.Constant(k=2.0)
        self.full = blocks.GreaterThreshold(threshold=limit)
        self.end = blocks.TerminateSimulation(terminationText="the tank is full")
        self.connect(self.flow.y, self.level.u)
        self.connect(self.level.y, self.full.u)
        self.connect(self.full.y, self.end.condition)
        self.output(self.level.y)


class Bursting(Filling):
    """A level that must stay below 2 m."""

    def __init__(self) -> None:
        super().__init__()
        self.limit, self.right = blocks.LessThreshold(threshold=2.0), blocks.AssertCondition(message="too high")
        self.connect(self.level.y, self.limit.u)
        self.connect(self.limit.y, self.right.u)
