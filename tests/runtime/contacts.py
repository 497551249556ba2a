"""Random contacts, stops, clutches and brakes, none of which may stop its run.

Each mechanism is swept over random parameters that span decades, and runs of some tolerances are compared with one of a
strict tolerance. `python tests/runtime/contacts.py [RUNS]` makes 10,000, and takes half a minute; the suite makes less
(test_contacts.py).
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mbfmu
from mbfmu.components import blocks, rotational, translational
from mbfmu.modeling import Assembly, Start
from mbfmu.studies.sweep import Sweep

#: Values of one parameter of many runs.
Values = np.ndarray
#: Draws so many values.
Draw = Callable[[np.random.Generator, int], Values]


def decades(low: float, high: float) -> Draw:
    return lambda random, n: 10 ** random.uniform(math.log10(low), math.log10(high), n)


def between(low: float, high: float) -> Draw:
    return lambda random, n: random.uniform(low, high, n)


def among(*values: float) -> Draw:
    return lambda random, n: random.choice(values, n)


def _translational_start(s: float, v: float = 0.0) -> dict[str, Start]:
    return {"s": Start(s, fixed=True), "v": Start(v, fixed=True)}


def _rotational_start(w: float = 0.0) -> dict[str, Start]:
    return {"phi": Start(0.0, fixed=True), "w": Start(w, fixed=True)}


class _Pushed(Assembly):
    """Anything that a harmonic force pushes."""

    def push(self, flange: Any) -> None:
        self.sine, self.force = blocks.Sine(amplitude=1.0, f=1.0, offset=0.0), translational.Force()
        self.connect(self.sine.y, self.force.f)
        self.connect(self.force.flange, flange)


class _Twisted(Assembly):
    """Anything that a harmonic torque turns."""

    def twist(self, flange: Any) -> None:
        self.sine, self.torque = blocks.Sine(amplitude=1.0, f=1.0, offset=0.0), rotational.Torque()
        self.connect(self.sine.y, self.torque.tau)
        self.connect(self.torque.flange, flange)

    def press(self, signal: Any) -> None:
        self.pressing = blocks.Sine(amplitude=1.0, f=0.7, offset=0.0)
        self.connect(self.pressing.y, signal)


class Bounce(_Pushed):
    """A mass on an elastic ground."""

    def __init__(self) -> None:
        self.ground = translational.Fixed()
        self.gap = translational.ElastoGap(c=1e4, d=1.0)
        self.mass = translational.Mass(m=1.0, **_translational_start(0.05))
        self.connect(self.ground.flange, self.gap.flange_a)
        self.connect(self.gap.flange_b, self.mass.flange_a)
        self.push(self.mass.flange_b)


class Spool(_Pushed):
    """A spool between two plates that a spring presses against stops, all through elastic gaps (Modelica's PreLoad)."""

    def __init__(self) -> None:
        t = translational
        stiff = {"c": 1e6, "d": 250.0}
        self.fixed = t.Fixed(s0=-0.0955)
        self.housing = t.Rod(L=0.0305)
        self.plateA = t.Mass(m=0.01, L=0.002, **_translational_start(-0.093))
        self.plateB = t.Mass(m=0.01, L=0.002, **_translational_start(-0.06925))
        self.spring = t.Spring(c=20e3, s_rel0=0.025)
        self.spool = t.Mass(m=0.15, L=0.19, **_translational_start(0.01475))
        self.friction = t.Damper(d=2500.0)
        self.outerA, self.outerB = t.ElastoGap(s_rel0=0.0015, **stiff), t.ElastoGap(s_rel0=0.0015, **stiff)
        self.innerA, self.innerB = t.ElastoGap(s_rel0=0.001, **stiff), t.ElastoGap(s_rel0=0.001, **stiff)
        self.rod1, self.rod2 = t.Rod(L=0.007), t.Rod(L=0.007)
        self.rod3, self.rod4 = t.Rod(L=0.00575), t.Rod(L=0.00575)
        for a, b in (
            (self.outerA.flange_b, self.plateA.flange_a),
            (self.plateA.flange_b, self.spring.flange_a),
            (self.spring.flange_b, self.plateB.flange_a),
            (self.plateB.flange_b, self.outerB.flange_a),
            (self.outerB.flange_b, self.housing.flange_b),
            (self.plateA.flange_b, self.rod1.flange_a),
            (self.innerA.flange_a, self.rod3.flange_a),
            (self.innerA.flange_b, self.rod1.flange_b),
            (self.rod2.flange_a, self.innerB.flange_a),
            (self.rod4.flange_b, self.innerB.flange_b),
            (self.friction.flange_b, self.rod3.flange_a),
            (self.rod3.flange_b, self.rod4.flange_a),
            (self.rod2.flange_b, self.plateB.flange_a),
            (self.spool.flange_a, self.rod4.flange_a),
            (self.outerA.flange_a, self.fixed.flange),
            (self.housing.flange_a, self.fixed.flange),
            (self.friction.flange_a, self.fixed.flange),
        ):
            self.connect(a, b)
        self.push(self.spool.flange_a)


class Train(_Pushed):
    """Three masses with gaps and a spring between them, before a wall."""

    def __init__(self) -> None:
        t = translational
        self.wall = t.Fixed()
        self.gap1, self.gap2, self.gap3 = (t.ElastoGap(c=1e4, d=1.0, s_rel0=0.1) for _ in range(3))
        self.mass1, self.mass2, self.mass3 = (t.Mass(m=1.0, **_translational_start(0.12 * k)) for k in (1, 2, 3))
        self.spring = t.SpringDamper(c=50.0, d=0.5, s_rel0=0.3)
        self.connect(self.wall.flange, self.gap1.flange_a)
        self.connect(self.gap1.flange_b, self.mass1.flange_a)
        self.connect(self.mass1.flange_b, self.gap2.flange_a)
        self.connect(self.gap2.flange_b, self.mass2.flange_a)
        self.connect(self.mass2.flange_b, self.gap3.flange_a)
        self.connect(self.gap3.flange_b, self.mass3.flange_a)
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.mass3.flange_b)
        self.push(self.mass2.flange_a)


class Backlash(_Twisted):
    """Two rotors with play between them."""

    element: Any = rotational.ElastoBacklash

    def __init__(self) -> None:
        self.rotor1, self.rotor2 = (rotational.Inertia(J=1.0, **_rotational_start()) for _ in range(2))
        self.play = self.element(c=1e4, d=1.0, b=0.1)
        self.ground, self.damper = rotational.Fixed(), rotational.Damper(d=0.1)
        self.connect(self.rotor1.flange_b, self.play.flange_a)
        self.connect(self.play.flange_b, self.rotor2.flange_a)
        self.connect(self.rotor2.flange_b, self.damper.flange_a)
        self.connect(self.damper.flange_b, self.ground.flange)
        self.twist(self.rotor1.flange_a)


class SuddenBacklash(Backlash):
    """The same with a torque that jumps."""

    element = rotational.ElastoBacklash2


class Clutched(_Twisted):
    """Two rotors with a clutch that opens and closes."""

    def __init__(self) -> None:
        self.rotor1, self.rotor2 = (rotational.Inertia(J=1.0, **_rotational_start()) for _ in range(2))
        self.clutch = rotational.Clutch(fn_max=10.0, mu_pos=((0.0, 0.5), (1.0, 0.4), (2.0, 0.4)), peak=1.1)
        self.connect(self.rotor1.flange_b, self.clutch.flange_a)
        self.connect(self.clutch.flange_b, self.rotor2.flange_a)
        self.press(self.clutch.f_normalized)
        self.twist(self.rotor1.flange_a)


class Freewheel(_Twisted):
    """Two rotors with a freewheel, and a spring that turns the second one back."""

    def __init__(self) -> None:
        self.rotor1, self.rotor2 = (rotational.Inertia(J=1.0, **_rotational_start()) for _ in range(2))
        self.clutch = rotational.OneWayClutch(fn_max=10.0)
        self.ground, self.damper = rotational.Fixed(), rotational.SpringDamper(c=5.0, d=0.1)
        self.connect(self.rotor1.flange_b, self.clutch.flange_a)
        self.connect(self.clutch.flange_b, self.rotor2.flange_a)
        self.connect(self.rotor2.flange_b, self.damper.flange_a)
        self.connect(self.damper.flange_b, self.ground.flange)
        self.press(self.clutch.f_normalized)
        self.twist(self.rotor1.flange_a)


class Clutches(_Twisted):
    """Three rotors with two clutches, a bearing and a brake, which may all stick at once."""

    def __init__(self) -> None:
        self.rotor1, self.rotor2, self.rotor3 = (rotational.Inertia(J=1.0, **_rotational_start()) for _ in range(3))
        self.clutch1, self.clutch2 = (rotational.Clutch(fn_max=10.0) for _ in range(2))
        self.bearing = rotational.BearingFriction(tau_pos=((0.0, 0.5), (1.0, 0.6)), peak=1.2)
        self.brake = rotational.Brake(fn_max=5.0)
        self.connect(self.rotor1.flange_b, self.clutch1.flange_a)
        self.connect(self.clutch1.flange_b, self.rotor2.flange_a)
        self.connect(self.rotor2.flange_b, self.clutch2.flange_a)
        self.connect(self.clutch2.flange_b, self.rotor3.flange_a)
        self.connect(self.rotor3.flange_b, self.bearing.flange_a)
        self.connect(self.bearing.flange_b, self.brake.flange_a)
        self.press(self.clutch1.f_normalized)
        self.pressing2 = blocks.Sine(amplitude=1.0, f=1.3, offset=0.5)
        self.connect(self.pressing2.y, self.clutch2.f_normalized)
        self.connect(self.pressing2.y, self.brake.f_normalized)
        self.twist(self.rotor1.flange_a)


class Belt(_Pushed):
    """A mass on a spring, with friction that falls with speed, between two gaps."""

    def __init__(self) -> None:
        t = translational
        self.ground, self.spring = t.Fixed(), t.SpringDamper(c=100.0, d=0.1)
        self.mass = t.Mass(m=1.0, **_translational_start(0.0))
        self.friction = t.SupportFriction(f_pos=((0.0, 1.0), (0.2, 0.7), (2.0, 1.5)), peak=1.1)
        self.gap = t.ElastoGap(c=1e5, d=10.0, s_rel0=-0.03)
        self.connect(self.ground.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.mass.flange_a)
        self.connect(self.mass.flange_b, self.friction.flange_a)
        self.connect(self.ground.flange, self.gap.flange_a)
        self.connect(self.gap.flange_b, self.mass.flange_b)
        self.push(self.mass.flange_b)


class Stopped(_Pushed):
    """A mass with friction between hard stops."""

    def __init__(self) -> None:
        self.mass = translational.MassWithStopAndFriction(
            m=1.0, L=0.1, smax=1.0, smin=-1.0, F_prop=1.0, F_Coulomb=1.0, F_Stribeck=0.5, fexp=2.0,
            **_translational_start(0.0),
        )  # fmt: skip
        self.push(self.mass.flange_a)


class Lossy(_Twisted):
    """A gear whose teeth rub, between two rotors, with a spring."""

    def __init__(self) -> None:
        self.rotor1, self.rotor2 = (rotational.Inertia(J=1.0, **_rotational_start()) for _ in range(2))
        self.rotor1 = rotational.Inertia(J=1.0, **_rotational_start())
        self.rotor2 = rotational.Inertia(J=1.0)
        self.gear = rotational.LossyGear(ratio=2.0, lossTable=((0.0, 0.9, 0.85, 0.2, 0.25),))
        self.ground, self.spring = rotational.Fixed(), rotational.SpringDamper(c=5.0, d=0.1)
        self.connect(self.rotor1.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.rotor2.flange_a)
        self.connect(self.rotor2.flange_b, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.ground.flange)
        self.twist(self.rotor1.flange_a)


_DRIVE: dict[str, Draw] = {
    "sine.amplitude": decades(0.1, 100.0),
    "sine.f": decades(0.05, 20.0),
    "sine.offset": between(-5.0, 5.0),
    "sine.phase": between(0.0, 6.28),
}
_PRESS: dict[str, Draw] = {
    "pressing.amplitude": between(0.0, 2.0),
    "pressing.f": decades(0.05, 3.0),  # a step may pass over shorter times of pressure
    "pressing.offset": between(-1.0, 1.0),
}
_GAPS = ("outerA", "outerB", "innerA", "innerB")

#: Mechanism, stop time [s], what varies and how, and positions or angles that are compared.
CASES: dict[str, tuple[type[Assembly], float, dict[str, Draw], tuple[str, ...]]] = {
    "bounce": (
        Bounce,
        1.0,
        _DRIVE
        | {"gap.c": decades(1e2, 1e7), "gap.d": decades(1e-2, 1e4), "mass.m": decades(1e-2, 1e1)}
        | {"mass.s": between(-0.01, 0.1), "mass.v": between(-2.0, 2.0), "gap.n": among(1.0, 1.0, 1.5)},
        ("mass.s",),
    ),
    "spool": (
        Spool,
        4.0,
        {"sine.amplitude": between(100.0, 200.0), "sine.f": decades(0.01, 2.0), "spool.s": between(0.0140, 0.0155)}
        | {f"{gap}.{name}": draw for gap in _GAPS for name, draw in (("c", decades(1e5, 1e7)), ("d", decades(20, 2e3)))}
        | {"friction.d": decades(100.0, 1e4)},
        ("spool.s", "plateA.s"),
    ),
    "train": (
        Train,
        1.0,
        _DRIVE
        | {f"gap{k}.c": decades(1e3, 1e7) for k in (1, 2, 3)}
        | {f"gap{k}.d": decades(1.0, 1e4) for k in (1, 2, 3)}
        | {f"mass{k}.m": decades(1e-2, 1e1) for k in (1, 2, 3)},
        ("mass1.s", "mass3.s"),
    ),
    "backlash": (
        Backlash,
        1.0,
        _DRIVE
        | {"play.c": decades(1e2, 1e6), "play.d": decades(1e-2, 1e3), "play.b": decades(1e-3, 0.3)}
        | {"rotor1.J": decades(1e-2, 1e1), "rotor2.J": decades(1e-2, 1e1), "rotor1.w": between(-3.0, 3.0)},
        ("rotor1.phi", "rotor2.phi"),
    ),
    "clutched": (
        Clutched,
        1.0,
        _DRIVE
        | _PRESS
        | {"clutch.fn_max": decades(0.1, 1e3), "clutch.peak": between(1.0, 1.5), "rotor1.w": between(-3.0, 3.0)}
        | {"rotor1.J": decades(1e-2, 1e1), "rotor2.J": decades(1e-2, 1e1)},
        ("rotor1.phi", "rotor2.phi"),
    ),
    "freewheel": (
        Freewheel,
        1.0,
        _DRIVE
        | _PRESS
        | {"clutch.fn_max": decades(0.1, 1e3), "rotor2.w": between(0.0, 3.0)}
        | {"rotor1.J": decades(1e-2, 1e1), "rotor2.J": decades(1e-2, 1e1)},
        ("rotor1.phi", "rotor2.phi"),
    ),
    "clutches": (
        Clutches,
        1.0,
        _DRIVE
        | _PRESS
        | {"clutch1.fn_max": decades(0.1, 1e3), "clutch2.fn_max": decades(0.1, 1e3), "brake.fn_max": decades(0.1, 1e3)}
        | {f"rotor{k}.J": decades(1e-2, 1e1) for k in (1, 2, 3)}
        | {"rotor1.w": between(-3.0, 3.0)},
        ("rotor1.phi", "rotor3.phi"),
    ),
    "belt": (
        Belt,
        1.0,
        _DRIVE
        | {"gap.c": decades(1e3, 1e7), "gap.d": decades(1.0, 1e4), "mass.m": decades(1e-2, 1e1)}
        | {"friction.peak": between(1.0, 1.5), "spring.c": decades(10.0, 1e4), "mass.s": between(-0.02, 0.1)},
        ("mass.s",),
    ),
    "stopped": (
        Stopped,
        1.0,
        _DRIVE
        | {"mass.m": decades(1e-2, 1e1), "mass.F_Coulomb": decades(0.01, 10.0), "mass.F_Stribeck": decades(0.01, 10.0)}
        | {"mass.F_prop": decades(0.01, 10.0), "mass.s": between(-0.9, 0.9), "mass.v": between(-2.0, 2.0)},
        ("mass.s",),
    ),
    "lossy": (
        Lossy,
        1.0,
        _DRIVE | {"rotor1.J": decades(1e-2, 1e1), "rotor2.J": decades(1e-2, 1e1), "spring.c": decades(0.1, 1e3)},
        ("rotor1.phi",),
    ),
}
CASES["suddenBacklash"] = (SuddenBacklash, *CASES["backlash"][1:])


#: Tolerances of the runs.
TOLERANCES = (1e-4, 1e-6, 1e-8)


def drawn(case: str, runs: int, seed: int) -> dict[str, Values]:
    """Random values of the parameters of a case."""
    random = np.random.default_rng(seed)
    return {name: draw(random, runs) for name, draw in CASES[case][2].items()}


def swept(case: str, values: dict[str, Values], tolerance: float, step: float = 0.01) -> Sweep:
    """Run a case with each of these values."""
    assembly, stop, _, kept = CASES[case]
    return mbfmu.sweep(
        assembly(), values, [f"{name}:trajectory" for name in kept], stop, interval=step, tolerance=tolerance, each=True
    )


def deviation(one: Sweep, other: Sweep) -> Values:
    """Greatest difference of each run, relative to its motion."""
    names = [name for name in one.columns if name.endswith(":trajectory")]
    return np.max(
        [
            np.abs(one[name] - other[name]).max(axis=1) / (1e-3 + np.abs(other[name]).max(axis=1)) for name in names
        ],
        axis=0,
    )  # fmt: skip


def main(runs: int) -> None:
    total = failures = 0
    begin = time.process_time()
    share = runs // (len(CASES) * len(TOLERANCES)) + 1
    for number, case in enumerate(CASES):
        for tolerance in TOLERANCES:
            values = drawn(case, share, 10 * number + round(-math.log10(tolerance)))
            found = swept(case, values, tolerance)
            total += len(found)
            failures += len(found.messages)
            for run, text in found.messages.items():
                print(f"    {case}, tolerance {tolerance:g}, run {run}: {text}")
        few = {name: column[:100] for name, column in values.items()}
        strict, lines = swept(case, few, 1e-11), []
        for tolerance in TOLERANCES:
            error = deviation(swept(case, few, tolerance), strict)
            lines.append(f"{tolerance:g}: {np.median(error):.1e}, {np.quantile(error, 0.9):.1e}, {error.max():.1e}")
        print(f"{case}: median, ninth tenth and greatest deviation at {'; '.join(lines)}", flush=True)
    print(f"{total} runs, {failures} failed, {time.process_time() - begin:.0f} s of CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
