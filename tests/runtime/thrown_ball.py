"""A ball that falls on the ground and rubs there, by any law of contact."""

from __future__ import annotations

from mbfmu.components import World
from mbfmu.components.contact import Contact, Plane, RigidContact, Sphere
from mbfmu.components.joints import Planar
from mbfmu.components.parts import Body
from mbfmu.dynamics.system import System
from mbfmu.modeling import Assembly, Start


def thrown_ball(contact: Contact | RigidContact) -> System:
    """With a speed along the ground; `contact` is that of `ball` with `ground`."""
    model = Assembly()
    model.world, model.ground, model.ball = World(n=(0, 0, -1)), Plane(), Sphere(radius=0.1)
    starts = {"s_x": 0.0, "s_y": -0.1001, "phi": 0.0, "v_x": 1.0, "v_y": 0.0, "w": 0.0}
    fixed = {name: Start(value, fixed=True) for name, value in starts.items()}
    model.slide = Planar(n=(0, 1, 0), n_x=(1, 0, 0), **fixed)
    model.body = Body(m=1.0, r_CM=(0, 0, 0), I_11=0.004, I_22=0.004, I_33=0.004)
    model.connect(model.world.frame_b, model.ground.frame_a)
    model.connect(model.world.frame_b, model.slide.frame_a)
    model.connect(model.slide.frame_b, model.body.frame_a)
    model.connect(model.body.frame_a, model.ball.frame_a)
    model.contact = contact
    return System.of(model)
