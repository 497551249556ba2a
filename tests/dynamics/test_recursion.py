"""The articulated-body recursion gives what the dense equations of motion give, in place and as leaf functions."""

from __future__ import annotations

import numpy as np
import pytest
from mbfmu.components import (
    Body,
    BodyBox,
    BodyShape,
    FixedRotation,
    FixedTranslation,
    FreeMotion,
    PointMass,
    Prismatic,
    Revolute,
    Rotor1D,
    Spherical,
    World,
    rotational,
)
from mbfmu.components.forces import SpringDamperParallel

from mbfmu.dynamics import accelerations as forms
from mbfmu.dynamics import recursion
from mbfmu.dynamics.system import System
from mbfmu.modeling import Assembly, Start


class Tree(Assembly):
    """A branching tree with every kind of joint, one of them reversed, with driven axes, rotors and a spring across."""

    def __init__(self) -> None:
        self.world = World()
        self.turn = Revolute(n=(0, 0, 1), useAxisFlange=True)
        self.drive = rotational.Inertia(J=0.3)
        self.gear = rotational.IdealGear(ratio=5)
        self.motor = rotational.Inertia(J=0.01)
        self.shaft = rotational.Spring(c=40)
        self.flywheel = rotational.Inertia(J=0.2)
        self.beam = BodyBox(r=(0.6, 0.1, 0), width=0.05)
        self.left = Prismatic(n=(0, 1, 0))
        self.slide = BodyShape(r=(0.1, 0.2, 0.3), r_CM=(0.1, 0, 0), m=2, I_11=0.2, I_22=0.3, I_33=0.25, I_21=0.02)
        self.ball = Spherical()
        self.bob = Body(m=1.5, r_CM=(0, -0.4, 0.1), I_11=0.1, I_22=0.12, I_33=0.08)
        self.tilt = FixedRotation(n=(1, 1, 0), angle=37, r=(0.1, 0, 0))
        self.arm = FixedTranslation(r=(0.3, 0, 0))
        self.back = Revolute(n=(0, 1, 1))
        self.tool = BodyBox(r=(0.2, 0, 0), width=0.04)
        self.tip = PointMass(m=0.4)
        self.rotor = Rotor1D(J=0.05, n=(0, 1, 0))
        self.free = FreeMotion()
        self.floater = Body(m=3, r_CM=(0.1, 0, 0), I_11=0.2, I_22=0.3, I_33=0.4)
        self.spring = SpringDamperParallel(c=30, d=2, s_unstretched=0.1)
        for a, b in (
            (self.world.frame_b, self.turn.frame_a),
            (self.turn.frame_b, self.beam.frame_a),
            (self.beam.frame_b, self.left.frame_a),
            (self.left.frame_b, self.slide.frame_a),
            (self.slide.frame_b, self.ball.frame_a),
            (self.ball.frame_b, self.bob.frame_a),
            (self.beam.frame_b, self.tilt.frame_a),
            (self.tilt.frame_b, self.arm.frame_a),
            (self.back.frame_b, self.arm.frame_b),  # reversed
            (self.tool.frame_a, self.back.frame_a),
            (self.tip.frame_a, self.tool.frame_b),
            (self.rotor.frame_a, self.slide.frame_a),
            (self.world.frame_b, self.free.frame_a),
            (self.free.frame_b, self.floater.frame_a),
            (self.spring.frame_a, self.floater.frame_a),
            (self.spring.frame_b, self.tool.frame_b),
            (self.turn.axis, self.drive.flange_a),
            (self.drive.flange_b, self.gear.flange_b),
            (self.gear.flange_a, self.motor.flange_a),
            (self.motor.flange_b, self.shaft.flange_a),
            (self.shaft.flange_b, self.flywheel.flange_a),
        ):
            self.connect(a, b)


def chain(links: int) -> Assembly:
    class Chain(Assembly):
        """Links with hinges about alternating axes."""

        def __init__(self) -> None:
            self.world = World()
            at = self.world.frame_b
            for i in range(links):
                joint = self.add(f"joint{i}", Revolute(n=np.eye(3)[i % 3], phi=Start(0.1, fixed=True)))
                link = self.add(f"link{i}", BodyBox(r=(0.5, 0, 0), width=0.06))
                self.connect(at, joint.frame_a)
                self.connect(joint.frame_b, link.frame_a)
                at = link.frame_b

    return Chain()


def accelerations(system: System, x: np.ndarray) -> np.ndarray:
    e = system.equations
    P = np.concatenate([e.parameters, np.array(e.functions["derived"](e.parameters)).ravel()])
    A, b = (np.array(v) for v in e.functions["dynamics"](0.0, x, [], P, []))
    return b.ravel() if e.explicit else np.linalg.solve(A, b).ravel()


@pytest.mark.parametrize("assembly", [Tree, lambda: chain(7)], ids=["tree", "chain"])
@pytest.mark.parametrize("groups", [0, 1000], ids=["leaf functions", "in place"])
def test_recursion_equals_dense_equations(assembly, groups, monkeypatch) -> None:
    monkeypatch.setattr(recursion, "INLINE_GROUPS", groups)
    monkeypatch.setattr(forms, "RECURSIVE_FROM", 1)
    recursive = System.of(assembly())
    monkeypatch.setattr(forms, "RECURSIVE_FROM", 10**6)
    dense = System.of(assembly())
    assert recursive.equations.explicit
    assert not dense.equations.explicit
    random = np.random.default_rng(5)
    for _ in range(4):
        x = random.normal(size=dense.equations.nx)
        for offset in dense.equations.quaternions:
            x[offset : offset + 4] /= np.linalg.norm(x[offset : offset + 4])
        expected = accelerations(dense, x)
        np.testing.assert_allclose(accelerations(recursive, x), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_code_grows_with_the_kinds_of_links_not_with_their_number() -> None:
    sizes = []
    for links in (30, 60):
        function = System.of(chain(links)).equations.functions["dynamics"]
        sizes.append(len(function.serialize()))
    assert sizes[1] < 2.1 * sizes[0]


def test_constraints_are_left_to_the_dense_form() -> None:
    class Loop(Assembly):
        """Four-bar."""

        def __init__(self) -> None:
            self.world = World()
            bars = [(0, 0.3, 0), (0.6, 0, 0), (0, -0.3, 0)]
            at = self.world.frame_b
            for i, r in enumerate(bars):
                joint = self.add(f"joint{i}", Revolute(n=(0, 0, 1)))
                bar = self.add(f"bar{i}", BodyBox(r=r, width=0.02, widthDirection=(0, 0, 1)))
                self.connect(at, joint.frame_a)
                self.connect(joint.frame_b, bar.frame_a)
                at = bar.frame_b
            self.last = Revolute(n=(0, 0, 1))
            self.ground = FixedTranslation(r=(0.6, 0, 0))
            self.connect(at, self.last.frame_a)
            self.connect(self.world.frame_b, self.ground.frame_a)
            self.connect(self.ground.frame_b, self.last.frame_b)

    equations = System.of(Loop()).equations
    assert not equations.explicit
    assert equations.nv - equations.nl == 1
