"""Roads: heights over the x-y plane, and how they hold a tyre. All wheels of an assembly see its one Road.

A road gives height z [m] and factor of friction at a point (x, y) [m]; its slope follows by differentiation.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from mbfmu.components.animation import Animated
from mbfmu.components.interpolation import check_function_of_place
from mbfmu.components.vehicle.road_files import read_crg
from mbfmu.errors import ModelError
from mbfmu.modeling import Parameter, required
from mbfmu.modeling import types as t

ROAD_COLOR = (90, 90, 95)
#: Points of a grid beyond which equations would have too many terms to be quick.
MOST_POINTS = 20000
#: Room that cross-sections of a curve keep at the border of the road, of that on its line; squared distance of nothing.
LEAST_ROOM, FAR = 0.05, 1e18
#: What may become of a wheel that leaves a grid.
Border = t.Type("RoadBorder", "String", values=("hold", "refuse"))


class Road(Animated):
    """Level plane z = 0, and what all roads have in common. Gravity points along -z, `World(n=(0, 0, -1))`.

    A road of one's own derives from it and defines `height(x, y)`, and perhaps `friction(x, y)`.
    """

    modelica_name: ClassVar[str | None] = "Vehicle.Road"
    inner_name: ClassVar[str] = "road"

    mu = Parameter(t.Dimensionless, 1.0, "Factor of friction of all tyres", min=0, tunable=True)
    lengthX = Parameter(t.Length, 100.0, "Length of the drawn road along x", animation=True)
    lengthY = Parameter(t.Length, 10.0, "Width of the drawn road along y", animation=True)
    startX = Parameter(t.Position, -10.0, "Where the drawn road begins", animation=True)
    roadColor = Parameter(t.Color, ROAD_COLOR, "Color of the road", shape=3, animation=True)

    #: True where the slope is not the same everywhere.
    is_curved: ClassVar[bool] = False

    @property
    def is_level(self) -> bool:
        """True for the plane z = 0."""
        return type(self).height is Road.height

    def height(self, x: Any, y: Any) -> Any:
        """Height [m] at a point of the world."""
        return ca.SX(0.0)

    def friction(self, x: Any, y: Any) -> Any:
        """Factor of friction at a point of the world, besides `mu`."""
        return ca.SX(1.0)

    def margin(self, x: Any, y: Any) -> Any | None:
        """Distance to the border [m], negative beyond; None where the road has none, or is held there."""
        return None

    def point(self, x: Any, y: Any) -> tuple[ca.SX, ca.SX]:
        """Height [m], and unit normal (3,) there."""
        at = ca.SX.sym("at", 2)
        z = ca.SX(self.height(at[0], at[1]))
        slope = ca.gradient(z, at)
        here = ca.vertcat(x, y)
        z, slope = ca.substitute([z, slope], [at], [here])
        normal = ca.vertcat(-slope[0], -slope[1], 1.0)
        return z, normal / ca.sqrt(1 + ca.sumsqr(slope))

    def equations(self) -> None:
        """A road does nothing of itself: wheels ask it."""

    def visualize(self: Any) -> None:
        road = self._component
        begin, length, width = (float(road.value(name)) for name in ("startX", "lengthX", "lengthY"))
        X, Y = np.meshgrid(
            np.linspace(begin, begin + length, 201 if road.is_curved else 2),
            np.linspace(-width / 2, width / 2, 11 if road.is_curved else 2),
            indexing="ij",
        )
        self.draw_surface("surface", (X, Y, road.heights(X, Y)), color=self.roadColor, specularCoefficient=0.1)

    def heights(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Heights [m] at points x, y [m], two arrays of one shape, with the present values of all parameters."""
        at = ca.SX.sym("at", 2)
        z = ca.SX(self.height(at[0], at[1]))
        names = [name for name in self.parameters() if name in self._symbols]
        symbols = [ca.vec(self.symbol(name)) for name in names]
        values = [ca.DM(np.asarray(self.value(name), dtype=float).ravel()) for name in names]
        height = ca.Function("height", [at, *symbols], [z]).map(x.size)
        points = np.vstack([x.ravel(), y.ravel()])
        found = height(points, *(ca.repmat(value, 1, x.size) for value in values))
        return np.asarray(found).reshape(x.shape)


class Slope(Road):
    """Plane that rises along x, or along y."""

    modelica_name = "Vehicle.Slope"

    gradient = Parameter(t.Dimensionless, required, "Height over length along x (0.1 is a slope of 10 %)", tunable=True)
    crossfall = Parameter(t.Dimensionless, 0.0, "Height over length along y", tunable=True)

    def height(self, x: Any, y: Any) -> Any:
        return self.gradient * x + self.crossfall * y


class Step(Road):
    """Level road with a ramp at one place: a step, a kerb, a bump."""

    modelica_name = "Vehicle.Step"
    is_curved: ClassVar[bool] = True

    h = Parameter(t.Length, required, "Height of the step", tunable=True)
    x0 = Parameter(t.Position, 5.0, "Where the ramp begins")
    rising = Parameter(t.Length, 0.1, "Length of the ramp", min=1e-3)
    width = Parameter(
        t.Length, 0.0, "Length of the upper plane, after which the road falls again; 0: without end", min=0
    )

    def height(self, x: Any, y: Any) -> Any:
        def ramp(u: Any) -> Any:  # of the fifth order: slope and curvature are continuous
            u = ca.fmin(ca.fmax(u, 0.0), 1.0)
            return u**3 * (10 - 15 * u + 6 * u**2)

        up = ramp((x - self.x0) / self.rising)
        down = ramp((x - self.x0 - self.rising - self.width) / self.rising)
        return self.h * (up - ca.if_else(self.width > 0, down, 0.0))


class FunctionRoad(Road):
    """Road of a height function of (x, y), and perhaps of a friction function. ::

        self.road = FunctionRoad(lambda x, y: 0.02 * ca.sin(x))

    Functions get CasADi symbols [m]; they cannot be written to files.
    """

    modelica_name: ClassVar[str | None] = None
    is_curved: ClassVar[bool] = True

    def __init__(
        self,
        heightFunction: Callable[[Any, Any], Any],
        frictionFunction: Callable[[Any, Any], Any] | None = None,
        **modifiers: Any,
    ) -> None:
        """`heightFunction(x, y)` gives heights [m], `frictionFunction(x, y)` factors of friction."""
        super().__init__(**modifiers)
        self._functions = (heightFunction, frictionFunction)
        for name, function in (("heightFunction", heightFunction), ("frictionFunction", frictionFunction)):
            if function is None:
                continue
            if not callable(function):
                raise ModelError(f"{self.where}: {name} = {function!r:.60}: give a function of (x, y)")
            check_function_of_place(function, f"{self.where}: {name}")

    def height(self, x: Any, y: Any) -> Any:
        return ca.SX(self._functions[0](ca.SX(x), ca.SX(y)))

    def friction(self, x: Any, y: Any) -> Any:
        function = self._functions[1]
        return ca.SX(1.0) if function is None else ca.SX(function(ca.SX(x), ca.SX(y)))


class GridRoad(Road):
    """Road by a grid of heights, between whose points it is a surface of cubics: its slope is continuous.

    Along each axis a point counts with the kernel of Keys (IEEE Trans. ASSP 29, 1981) for evenly spaced points. The
    terms of all points are in the equations, so that grids have their bounds; take the part of a track that is driven.
    """

    modelica_name = "Vehicle.GridRoad"
    is_curved: ClassVar[bool] = True

    x = Parameter(t.Position, required, "Where the rows of z are, evenly spaced", shape=None, structural=True)
    y = Parameter(t.Position, required, "Where the columns of z are, evenly spaced", shape=None, structural=True)
    z = Parameter(t.Position, required, "Heights, as many rows as x and columns as y", shape=None, structural=True)
    border = Parameter(Border, "hold", "hold: beyond its border the road goes on level; refuse: the run ends there")

    def check_values(self) -> None:
        super().check_values()
        x, y, z = (np.asarray(self.value(name), dtype=float) for name in ("x", "y", "z"))
        for name, values in (("x", x), ("y", y)):
            if values.ndim != 1 or len(values) < 2:
                raise ModelError(f"{self.where}.{name}: needs two points or more, one after the other")
            steps = np.diff(values)
            if not np.all(steps > 0):
                raise ModelError(f"{self.where}.{name}: each point must be beyond the one before")
            if not np.allclose(steps, steps[0], rtol=1e-3):
                raise ModelError(f"{self.where}.{name}: points must be evenly spaced; resample the grid")
        if z.shape != (len(x), len(y)):
            raise ModelError(f"{self.where}.z: has the shape {z.shape}; x and y ask for {(len(x), len(y))}")
        if z.size > MOST_POINTS:
            raise ModelError(
                f"{self.where}.z: has {z.size} points, {MOST_POINTS} are the most; take the part that is driven, or "
                "every second point"
            )

    def height(self, x: Any, y: Any) -> Any:
        return _cubics(self._numbers("x"), self._numbers("y"), self._numbers("z"), x, y)

    def margin(self, x: Any, y: Any) -> Any | None:
        if self.value("border") == "hold":
            return None
        xs, ys = self._numbers("x"), self._numbers("y")
        return ca.fmin(ca.fmin(x - xs[0], xs[-1] - x), ca.fmin(y - ys[0], ys[-1] - y))

    def _numbers(self, name: str) -> np.ndarray:
        return np.asarray(self.value(name), dtype=float)


class CRGRoad(Road):
    """Straight or curved road of an OpenCRG file (ASCII), in the world's coordinates.

    Heights are those of a grid in the file's (u, v), as in `GridRoad`. Where the reference line is curved, a place
    between two cross-sections has the u that divides its distances to both, and the v of both, weighted so: on an arc
    of radius R with sections d apart v is within d^2/(8 R). Of parts of the road that pass by each other a wheel is on
    the one whose line is nearer.
    """

    modelica_name = "Vehicle.CRGRoad"
    is_curved: ClassVar[bool] = True

    fileName = Parameter(t.String, required, "OpenCRG file")
    uMin = Parameter(t.Position, -1e9, "Where the part that is taken begins, along the reference line", structural=True)
    uMax = Parameter(t.Position, 1e9, "Where it ends", structural=True)
    spacing = Parameter(
        t.Length, 0.0, "Least distance of points that are taken, two or more; 0: all", structural=True, min=0
    )
    border = Parameter(Border, "hold", "hold: beyond its border the road goes on level; refuse: the run ends there")

    def check_values(self) -> None:
        super().check_values()
        self._grid()

    def _grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """u, v, z and the reference line of the part that is taken."""
        given = tuple(self.value(name) for name in ("fileName", "uMin", "uMax", "spacing"))
        kept = self.__dict__.get("_kept")
        if kept is None or kept[0] != given:
            crg = read_crg(given[0])
            u, v, z, line = crg.part(given[1], given[2], given[3])
            if z.size > MOST_POINTS:
                raise ModelError(
                    f"{self.where}: {z.size} points, {MOST_POINTS} are the most; give uMin, uMax or spacing"
                )
            if np.isnan(z).any():
                u, v, z, line = self._without_margins(u, v, z, line)
                warnings.warn(f"{self.where}: heights that are NaN take those beside them", stacklevel=3)
                z = _filled(u, z, self.where)
            if crg.is_straight:
                line = line[:1]
            else:
                self._check_width(u, v, line)
            kept = self.__dict__["_kept"] = (given, (u, v, z, line))
        found: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] = kept[1]
        return found

    def _without_margins(self, u: np.ndarray, v: np.ndarray, z: np.ndarray, line: np.ndarray) -> tuple[np.ndarray, ...]:
        """The same without what lies before, behind and beside all heights that are numbers."""
        known = ~np.isnan(z)
        along, across = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
        if min(np.ptp(found) if len(found) else 0 for found in (along, across)) == 0:
            raise ModelError(
                f"{self.where}: from u = {u[0]:g} to {u[-1]:g} m {len(along)} cross-sections and {len(across)} long "
                "sections have heights that are numbers; take a part with two of each"
            )
        rows, columns = (slice(found[0], found[-1] + 1) for found in (along, across))
        return u[rows], v[columns], z[rows, columns], line[rows]

    def _check_width(self, u: np.ndarray, v: np.ndarray, line: np.ndarray) -> None:
        """Cross-sections of a curve meet at its centre: the road must end before."""
        turns = np.diff(line[:, 2])
        room = 1 - np.maximum(v[0] * turns, v[-1] * turns) / np.linalg.norm(np.diff(line[:, :2], axis=0), axis=1)
        if room.min() < LEAST_ROOM:
            at = int(room.argmin())
            raise ModelError(
                f"{self.where}: near u = {u[at]:g} m the road is as wide as its curve's radius, so that cross-sections "
                "meet; take another part of it (uMin, uMax), or a file with less width there"
            )

    def _place(self, x: Any, y: Any) -> tuple[Any, Any]:
        """u and v of a place."""
        us, _, _, line = self._grid()
        directions = np.column_stack([line[:, :2], np.cos(line[:, 2]), np.sin(line[:, 2])])

        def beside(section: Any) -> tuple[Any, Any]:
            x0, y0, cos, sin = (section[i] for i in range(4))
            return (x - x0) * cos + (y - y0) * sin, (y - y0) * cos - (x - x0) * sin

        if len(line) == 1:
            ahead, side = beside(directions[0])
            return us[0] + ahead, side
        step = us[1] - us[0]

        def between(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
            part = one[0] / ca.fmax(one[0] - other[0], LEAST_ROOM / 2 * step)
            return part, one[1] + part * (other[1] - one[1])

        # Which sections a place is between is found first: what follows from them alone is to be differentiated.
        sections, last = [beside(section) for section in directions], len(directions) - 2
        (begin, side), (end, end_side) = sections[0], sections[-1]
        k, least = ca.SX(0.0), ca.if_else(begin < 0, begin**2 + side**2, FAR)
        for i, (one, other) in enumerate(itertools.pairwise(sections)):
            across = between(one, other)[1] ** 2
            here = ca.logic_and(ca.logic_and(one[0] >= 0, other[0] < 0), across < least)
            k, least = ca.if_else(here, i, k), ca.if_else(here, across, least)
        k = ca.if_else(ca.logic_and(end >= 0, end**2 + end_side**2 < least), last, k)
        chosen = ca.vertcat(*(k == i for i in range(last + 1))).T
        one, other = (beside(ca.mtimes(chosen, ca.DM(part))) for part in (directions[:-1], directions[1:]))
        part, v = between(one, other)
        return us[0] + (k + part) * step, v

    def height(self, x: Any, y: Any) -> Any:
        us, vs, z, _ = self._grid()
        return _cubics(us, vs, z, *self._place(x, y))

    def margin(self, x: Any, y: Any) -> Any | None:
        if self.value("border") == "hold":
            return None
        us, vs, _, _ = self._grid()
        u, v = self._place(x, y)
        return ca.fmin(ca.fmin(u - us[0], us[-1] - u), ca.fmin(v - vs[0], vs[-1] - v))

    def visualize(self: Any) -> None:
        _, vs, z, line = self._component._grid()
        if len(line) == 1:
            super().visualize()
            return
        X, Y = (line[:, i, None] + sign * vs * f(line[:, 2, None]) for i, sign, f in ((0, -1, np.sin), (1, 1, np.cos)))
        self.draw_surface("surface", (X, Y, z), color=self.roadColor, specularCoefficient=0.1)


def _filled(u: np.ndarray, z: np.ndarray, where: str) -> np.ndarray:
    """Heights without NaN: along each row, the values beside them."""
    filled = z.copy()
    for at, row in zip(u, filled, strict=True):
        known = ~np.isnan(row)
        if not known.any():
            raise ModelError(
                f"{where}: at u = {at:g} m a whole cross-section of heights is NaN; take another part of the road"
            )
        row[~known] = np.interp(np.flatnonzero(~known), np.flatnonzero(known), row[known])
    return filled


def _kernel(points: np.ndarray, u: Any) -> list[Any]:
    """Weight of each point at u: Keys' cubic convolution, with a linear continuation at the ends, held beyond them."""
    n, first, step = len(points), points[0], (points[-1] - points[0]) / (len(points) - 1)
    s = ca.fmin(ca.fmax((u - first) / step, 0.0), float(n - 1))

    def keys(d: Any) -> Any:
        d = ca.fabs(d)
        near = 1 + d**2 * (1.5 * d - 2.5)
        far = 2 + d * (-4 + d * (2.5 - 0.5 * d))
        return ca.if_else(d < 1, near, ca.if_else(d < 2, far, 0.0))

    if n == 2:
        return [1 - s, s]
    weights = [keys(s - i) for i in range(n)]
    before, after = keys(s + 1), keys(s - n)  # points beyond the ends, on the line of the last two
    weights[0], weights[1] = weights[0] + 2 * before, weights[1] - before
    weights[-1], weights[-2] = weights[-1] + 2 * after, weights[-2] - after
    return weights


def _cubics(xs: np.ndarray, ys: np.ndarray, z: np.ndarray, x: Any, y: Any) -> Any:
    along_x, along_y = ca.vertcat(*_kernel(xs, ca.SX(x))), ca.vertcat(*_kernel(ys, ca.SX(y)))
    return ca.mtimes(along_x.T, ca.mtimes(ca.DM(z), along_y))


__all__ = ["CRGRoad", "FunctionRoad", "GridRoad", "Road", "Slope", "Step"]
