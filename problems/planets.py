"""The five outer planets and the sun, which attract each other: the problem C5, in a time of 20, or 2,000 days.

The sun is the sixth body. Places are those of the planets from the sun; lengths are astronomical units, masses
those of the sun, times 100 days.
"""

from __future__ import annotations

import functools

import numpy as np

from mbfmu.components import GravityPool, PointMass, World
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Problem, Solution

TITLE = "Outer planets"
SOURCE = (
    "problem C5 of DETEST: T. E. Hull, W. H. Enright, B. M. Fellen, A. E. Sedgwick, Comparing numerical methods for "
    "ordinary differential equations, SIAM Journal on Numerical Analysis 9 (1972), 603-637; solution: W. H. Enright, "
    "J. D. Pryce, Two FORTRAN packages for assessing initial value methods, ACM TOMS 13 (1987), 1-27"
)
END, G = 20.0, 2.95912208286
#: The mass of the sun has those of the inner planets in it.
SUN = 1.00000597682

#: Mass, place and speed at the start, place at the end as published, of each planet.
PLANETS = {
    "jupiter": (
        0.000954786104043,
        (3.42947415189, 3.35386959711, 1.35494901715),
        (-0.557160570446, 0.505696783289, 0.230578543901),
        (-4.792730224323733, -2.420550725448973, -0.9212509306014886),
    ),
    "saturn": (
        0.000285583733151,
        (6.64145542550, 5.97156957878, 2.18231499728),
        (-0.415570776342, 0.365682722812, 0.169143213293),
        (-4.217310404035213, 7.356202947498970, 3.223785985421212),
    ),
    "uranus": (
        0.0000437273164546,
        (11.2630437207, 14.6952576794, 6.27960525067),
        (-0.325325669158, 0.189706021964, 0.0877265322780),
        (4.035559443262270, 17.19865528670555, 7.478910794233703),
    ),
    "neptune": (
        0.0000517759138449,
        (-30.1552268759, 1.65699966404, 1.43785752721),
        (-0.0240476254170, -0.287659532608, -0.117219543175),
        (-29.98759326324844, -4.107310937550929, -0.9277008321754407),
    ),
    "pluto": (
        0.00000277777777778,
        (-21.1238353380, 28.4465098142, 15.3882659679),
        (-0.176860753121, -0.216393453025, -0.0148647893090),
        (-24.42125302518482, 23.81459045746554, 14.92096306951359),
    ),
}


class OuterPlanets(Assembly):
    """Point masses that move freely; the sun is at rest at the start."""

    stop_time = END

    def __init__(self) -> None:
        self.world = World(gravityType="NoGravity", axisLength=3.0, animateGravity=False)
        self.pool = GravityPool(G=G)
        still = (0.0, 0.0, 0.0)
        bodies = {"sun": (SUN, still, still), **{name: planet[:3] for name, planet in PLANETS.items()}}
        for name, (m, place, speed) in bodies.items():
            start = {"r_0": Start(place, fixed=True), "v_0": Start(speed, fixed=True)}
            self.add(name, PointMass(m=m, sphereDiameter=3.0 if name == "sun" else 1.5, **start))
        self.pool.put(*(getattr(self, name) for name in bodies))
        self.output(self.jupiter.r_0, "jupiter_place")


@functools.cache
def _system() -> System:
    return System.of(OuterPlanets())


def solve(tolerance: float) -> Solution:
    """Places from the sun at the end."""
    names = {name: [f"{name}.r_0[{i}]" for i in (1, 2, 3)] for name in ("sun", *PLANETS)}
    found = motion(_system(), [one for three in names.values() for one in three], (0.0, END), tolerance)
    places = {name: np.array([found.values[one][-1] for one in three]) for name, three in names.items()}
    values = {f"outer-planets-{name}": (places[name] - places["sun"]).tolist() for name in PLANETS}
    return Solution(values, found.seconds, found.evaluations)


PROBLEMS = tuple(
    Problem(
        f"outer-planets-{name}", TITLE, SOURCE, f"(x, y, z) of {name.title()} at {END:g}", "AU", place, solve, 1e-10,
        model=OuterPlanets, tolerance=1e-12, tolerances=(1e-6, 1e-9, 1e-12),
    )
    for name, (_, _, _, place) in PLANETS.items()
)  # fmt: skip
