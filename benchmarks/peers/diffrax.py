"""Diffrax: many runs of the double pendulum in one call, whose equations stand here in JAX."""

from __future__ import annotations

from collections.abc import Callable

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.mechanisms import Mechanism

#: Tolerances, relative and absolute, and methods; the quickest that is exact enough counts.
SETTINGS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
METHODS = {"Tsit5": diffrax.Tsit5, "Dopri8": diffrax.Dopri8}

jax.config.update("jax_enable_x64", True)


def rollouts(
    mechanism: Mechanism, q: np.ndarray, v: np.ndarray, gravity: np.ndarray, method: str, tolerance: float
) -> Callable[[], np.ndarray]:
    """Return a call of as many runs as there are values of gravity along -y, m/s2, and the coordinates at their ends.

    The mechanism is a chain of two links that turn about z, with the second hinge and both centres on the first axis of
    their links. Compiling is done.
    """
    first, second = mechanism.links
    length, damping = second.origin[0], (first.damping, second.damping)
    (m1, c1), (m2, c2) = ((link.mass, link.center[0]) for link in mechanism.links)
    j1, j2 = (link.inertia[2, 2] for link in mechanism.links)

    def rate(_: float, state: jax.Array, g: jax.Array) -> jax.Array:
        a, b, w1, w2 = state
        coupling, swirl = m2 * length * c2 * jnp.cos(b), m2 * length * c2 * jnp.sin(b)
        own = j2 + m2 * c2**2
        m11, m12 = j1 + m1 * c1**2 + m2 * length**2 + own + 2 * coupling, own + coupling
        lower = m2 * g * c2 * jnp.cos(a + b)
        f1 = swirl * w2 * (2 * w1 + w2) - (m1 * c1 + m2 * length) * g * jnp.cos(a) - lower - damping[0] * w1
        f2 = -swirl * w1**2 - lower - damping[1] * w2
        determinant = m11 * own - m12**2
        return jnp.stack([w1, w2, (own * f1 - m12 * f2) / determinant, (m11 * f2 - m12 * f1) / determinant])

    def run(g: jax.Array) -> jax.Array:
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(rate),
            METHODS[method](),
            t0=0.0,
            t1=mechanism.stop_time,
            dt0=None,
            y0=jnp.concatenate([jnp.asarray(q), jnp.asarray(v)]),
            args=g,
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            max_steps=100_000,
        )
        assert solution.ys is not None
        return solution.ys[-1, :2]

    compiled = jax.jit(jax.vmap(run)).lower(jnp.asarray(gravity)).compile()
    values = jnp.asarray(gravity)
    return lambda: np.asarray(compiled(values).block_until_ready())
