"""Loads as functions of a speed, which rotational and translational sources share.

Each function is called within equations; `scope` is the component (`self` there). Speeds over their nominal value come
in, loads over their nominal value come out.
"""

from __future__ import annotations

import math
from typing import Any

import casadi as ca


def sign(scope: Any, speed: Any, width: Any, kind: str) -> Any:
    """Sign of a speed, made smooth (or steep) where it is smaller than `width`: a value of Regularization says how."""
    if kind == "Exp":  # 2/(1 + exp(-speed/(0.01 width))) - 1, without overflow
        return ca.tanh(speed / (0.02 * width))
    phase = math.pi / 2 * speed / width
    inner = {"Sine": ca.sin(phase), "Linear": speed / width, "Cosine": ca.sign(speed) * (1 - ca.cos(phase))}[kind]
    return scope.switch(speed - width, 1, scope.switch(-speed - width, -1, inner))


def linear(scope: Any, speed: Any, same_direction: bool) -> Any:
    """Load in proportion to the speed, or to its amount where its direction stays the same."""
    return scope.switch(speed, speed, -speed) if same_direction else speed


def quadratic(scope: Any, speed: Any, same_direction: bool) -> Any:
    """Load in proportion to the square of the speed."""
    return speed**2 if same_direction else speed * ca.fabs(speed)


def inverse(scope: Any, speed: Any, least: Any, nominal: Any, same_direction: bool) -> Any:
    """Load of constant power, nominal/speed; below the speed `least` it is held, or falls to zero, linear in it.

    Where the direction changes it jumps at `least`, from nominal/least to 1, as the library's does.
    """
    amount = nominal / ca.fmax(ca.fabs(speed), least)
    if same_direction:
        return scope.switch(ca.fabs(speed) - least, amount, nominal / least)
    return scope.switch(speed - least, amount, scope.switch(-speed - least, -amount, speed / least))


def eddy_current(excitation: Any, speed: Any) -> Any:
    """Braking load of eddy currents (Kloss): greatest, 1, at the speed 1 and full excitation."""
    return 2 * excitation**2 * speed / (1 + speed**2)


def resistance(temperature: Any, reference: Any, alpha20: Any) -> Any:
    """Resistance over that at the reference temperature [K], for a temperature coefficient at 20 degC [1/K]."""
    return (1 + alpha20 * (temperature - 293.15)) / (1 + alpha20 * (reference - 293.15))


__all__ = ["eddy_current", "inverse", "linear", "quadratic", "resistance", "sign"]
