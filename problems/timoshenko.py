"""Beams with shear and inertia of sections: Timoshenko's frequencies, and a force at the end of a short beam."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from mbfmu.components import Beam, FiniteSegmentBeam, World
from mbfmu.modeling import Assembly
from mbfmu.studies.equilibrium import equilibrium
from mbfmu.studies.linearize import linearize
from problems.bending import TipForce
from problems.problem import Problem, Solution

#: Poisson's ratio and shear factor of the tables.
NU, FACTOR = 0.3, 5 / 6


def section(height: float) -> dict[str, float]:
    """A beam of length, width, Young's modulus and density 1, which bends along its height."""
    area, bending, kGA = height, height**3 / 12, FACTOR * height / (2 * (1 + NU))
    stiffness = {"EA": area, "EI_y": bending, "EI_z": bending, "GJ": bending, "kGA": kGA}
    return stiffness | {"rhoA": area, "rhoI_y": bending, "rhoI_z": bending}


class Supported(Assembly):
    """A beam with shear between supports, which its shapes meet."""

    def __init__(self, height: float = 0.2, ends: str = "clamped-clamped") -> None:
        self.world = World(gravityType="NoGravity")
        self.beam = Beam(
            r=(1, 0, 0), **section(height), shear=True, ends=ends, nWidth=10, nHeight=0, nAxial=0, nTorsion=0,
            geometricStiffening=False,
        )  # fmt: skip
        self.connect(self.world.frame_b, self.beam.frame_a)


#: Height by the length -> first three roots (omega^2 rho A L^4 / EI)^(1/4) of the tables.
HEIGHTS = (0.05, 0.1, 0.2)
HINGED = {0.05: (3.13498, 6.23136, 9.25537), 0.1: (3.11568, 6.09066, 8.84052), 0.2: (3.04533, 5.67155, 7.83952)}
CLAMPED = {0.05: (4.68991, 7.70352, 10.6401), 0.1: (4.57955, 7.33122, 9.85611), 0.2: (4.24201, 6.41794, 8.28532)}


def roots(height: float, ends: str) -> np.ndarray:
    """The same of ours."""
    values = linearize(Supported(height, ends)).eigenvalues.imag
    frequencies = np.sort(values[values > 0])[:3]
    return np.asarray((frequencies**2 * 12 / height**2) ** 0.25)


def _frequencies(tolerance: float) -> Solution:
    begin = time.process_time()
    found: Mapping[str, list[float]] = {
        f"bending-timoshenko-{ends}": np.concatenate([roots(height, f"{ends}-{ends}") for height in HEIGHTS]).tolist()
        for ends in ("hinged", "clamped")
    }
    return Solution(found, time.process_time() - begin)


#: A beam five times as long as high, and the force at its end, across it and along it, by E times the area.
SHORT, FORCE = 0.2, 1e-8


def _cantilever(tolerance: float) -> Solution:
    begin, found = time.process_time(), []
    given = {"r": (1, 0, 0), **section(SHORT)}
    bodies: tuple[Any, ...] = (
        Beam(**given, shear=True),
        FiniteSegmentBeam(**given, n=4, extensible=True, curved=True),
    )
    for beam in bodies:
        rest = equilibrium(TipForce(beam, (FORCE * SHORT, FORCE * SHORT, 0.0)))
        place = [rest[f"beam.frame_b.r_0[{k}]"] for k in (1, 2)]
        found += [place[1] / FORCE, (place[0] - 1) / FORCE]
    return Solution({"bending-shear-cantilever": found}, time.process_time() - begin)


#: What a unit of force does: L^3 / (3 EI) + L / (k G A) across, and L / (E A) along, with the force E A.
ACROSS = SHORT * (4 / SHORT**3 + 2 * (1 + NU) / (FACTOR * SHORT))
ALONG = 1.0

_TABLES = (
    "J. Lee, W. W. Schultz, Eigenvalue analysis of Timoshenko beams and axisymmetric Mindlin plates by the "
    "pseudospectral method, Journal of Sound and Vibration 269 (2004), 609-621"
)
_ONE_RUN: Mapping[str, Any] = {"tolerance": 1e-7, "tolerances": (1e-7,)}

PROBLEMS = (
    *(
        Problem(
            f"bending-timoshenko-{name}",
            f"Timoshenko beam with {name} ends",
            f"{_TABLES}: table of {name} ends",
            "first three (omega^2 rho A L^4 / EI)^(1/4) for heights of 0.05, 0.1 and 0.2 of the length, Poisson's "
            "ratio 0.3 and the shear factor 5/6",
            "1",
            [root for height in HEIGHTS for root in table[height]],
            _frequencies,
            error=1e-4,
            **_ONE_RUN,
        )
        for name, table in (("hinged", HINGED), ("clamped", CLAMPED))
    ),
    Problem(
        "bending-shear-cantilever",
        "Cantilever that is soft in shear",
        "S. P. Timoshenko, On the correction for shear of the differential equation for transverse vibrations of "
        "prismatic bars, Philosophical Magazine 41 (1921), 744-746: its theory; closed form, L^3 / 3EI + L / kGA",
        "deflection and lengthening by a force at the end, of a beam 5 times as long as high: by shapes, by segments",
        "1",
        [ACROSS, ALONG, ACROSS, ALONG],
        _cantilever,
        error=5e-4,
        origin="closed form",
        **_ONE_RUN,
    ),
)  # fmt: skip
