"""Visualizers carry no load, whatever frame they hang on."""

from __future__ import annotations

import numpy as np
import pytest
from wiring import run

from mbfmu.components import BodyBox, Revolute, World, blocks, visualizers
from mbfmu.modeling import Component, Start

PENDULUM = ("world.frame_b - joint.frame_a", "joint.frame_b - box.frame_a")


def pendulum() -> dict[str, Component]:
    return {
        "world": World(),
        "joint": Revolute(phi=Start(0.3, fixed=True), w=Start(0.0, fixed=True)),
        "box": BodyBox(r=(0.5, 0, 0), width=0.06),
    }


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("name", sorted(set(visualizers.__all__) - {"PipeWithScalarField", "SignalArrow"}))
def test_a_visualizer_leaves_the_motion_alone(name):
    plain = run(*PENDULUM, **pendulum())
    shape = getattr(visualizers, name)()
    seen = run(*PENDULUM, "shape.frame_a - box.frame_b", shape=shape, **pendulum())
    np.testing.assert_allclose(seen["joint.phi"], plain["joint.phi"], atol=1e-9)
    np.testing.assert_array_equal(seen["shape.frame_a.f[1]"], 0.0)


def test_a_torus_may_be_given_by_the_names_of_older_libraries():
    torus = visualizers.Torus(ri=0.4, ro=0.05, n_R=30)
    assert (torus.value("R"), torus.value("r"), torus.value("n_R")) == (0.4, 0.05, 30)


@pytest.mark.slow
def test_signal_arrow_takes_a_signal():
    plain = run(*PENDULUM, **pendulum())
    seen = run(
        *PENDULUM,
        "arrow.frame_a - box.frame_b",
        "head.y - arrow.r_head",
        arrow=visualizers.SignalArrow(),
        head=blocks.Constant(k=(1, 2, 3)),
        **pendulum(),
    )
    np.testing.assert_allclose(seen["joint.phi"], plain["joint.phi"], atol=1e-9)
    np.testing.assert_allclose(seen["arrow.r_head[2]"], 2.0)


@pytest.mark.slow
def test_pipe_with_scalar_field_takes_signals():
    plain = run(*PENDULUM, **pendulum())
    seen = run(
        *PENDULUM,
        "pipe.frame_a - box.frame_b",
        "values.y - pipe.T",
        pipe=visualizers.PipeWithScalarField(rOuter=0.1, length=1.0, xsi=(0.0, 0.5, 1.0), T_min=0.0, T_max=3.0),
        values=blocks.Constant(k=(1, 2, 3)),
        **pendulum(),
    )
    np.testing.assert_allclose(seen["joint.phi"], plain["joint.phi"], atol=1e-9)
    np.testing.assert_array_equal(seen["pipe.frame_a.f[1]"], 0.0)
    np.testing.assert_allclose(seen["pipe.T[2]"], 2.0)


def test_fixed_shape_2_carries_what_hangs_on_its_second_frame():
    """A rod of length 1 and a box beyond it: the box's frame_a is 1 m away."""
    result = run(
        "world.frame_b - joint.frame_a",
        "joint.frame_b - rod.frame_a",
        "rod.frame_b - box.frame_a",
        rod=visualizers.FixedShape2(),
        **pendulum(),
    )
    r = np.stack([result[f"box.frame_a.r_0[{i}]"] for i in (1, 2, 3)])
    np.testing.assert_allclose(np.linalg.norm(r, axis=0), 1.0, rtol=1e-9)
