"""Ground whose height varies, from a grid or a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.contact.geometry import GROUND_COLOR, Geometry
from mbfmu.components.interpolation import check_function_of_place
from mbfmu.errors import ModelError
from mbfmu.frames import from_nxy
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter

#: Rounds of Newton's method that look for the nearest point of the surface.
ROUNDS = 3
#: The same of a shape whose lowest point moves as the surface turns.
ROLLING_ROUNDS = 6
#: Below this determinant curvature is left out of them: the point is as far away as a centre of curvature.
SINGULAR = 0.1
#: Least number of points along either side of a grid; points along either side of a function that is drawn.
LEAST, DRAWN = 4, 33

#: Height [m] at a place, its slopes, and its second derivatives xx, xy, yy [1/m].
Shape = tuple[Any, Any, Any, Any, Any, Any]


class HeightField(Geometry):
    """Ground below a surface z = height(x, y): all that lies lower is solid.

    The heights are those of a grid, between which a bicubic spline runs: it is twice continuously differentiable, so
    that normals have no jumps, and goes on straight beyond the border. Classes that derive from this may have a
    function in its place: `height(x, y)`, an expression.
    """

    modelica_name = "Contact.HeightField"

    z = Parameter(
        t.Position,
        lambda self: np.zeros((0, 0)),
        "Heights, a matrix: rows at equal distances along lengthDirection, columns along widthDirection",
        shape=None,
        structural=True,
    )
    length = Parameter(t.Length, 1.0, "Way from the first row to the last one", nonzero=True, structural=True)
    width = Parameter(
        t.Length,
        lambda self: self.length,
        "Way from the first column to the last one",
        nonzero=True,
        structural=True,
    )
    lengthDirection = Parameter(t.Axis, (1, 0, 0), "Direction of x, resolved in frame_a", shape=3)
    widthDirection = Parameter(t.Axis, (0, 1, 0), "Direction of y, resolved in frame_a", shape=3)
    color = Parameter(t.Color, GROUND_COLOR, "Color of shape", shape=3, animation=True)

    @property
    def size(self) -> Any:
        return None

    @property
    def T(self) -> Any:
        """Transformation from frame_a to the axes of the field, (3, 3)."""
        return ca.DM(from_nxy(self.value("lengthDirection"), self.value("widthDirection")).T)

    @property
    def has_grid(self) -> bool:
        """True where the heights are those of a grid."""
        return type(self).height is HeightField.height

    @property
    def nodes(self) -> int:
        """How many heights there are; 0 for a function."""
        return self._grid().size if self.has_grid else 0

    def check_values(self) -> None:
        super().check_values()
        if self.has_grid:
            self._grid()
        else:
            check_function_of_place(self.height, f"{self.where}: height()")

    def height(self, x: Any, y: Any) -> Any:
        """Height [m] at a place [m], counted from the middle; None where there is a grid."""
        return None

    def shape(self, x: Any, y: Any) -> Shape:
        """The surface at a place [m]: height, slopes and second derivatives."""
        if self.has_grid:
            return self._spline(x, y)
        at = ca.SX.sym("at", 2)
        height = ca.SX(self.height(at[0], at[1]))
        bend, slope = ca.hessian(height, at)
        found = ca.vertcat(height, slope, bend[0, 0], bend[0, 1], bend[1, 1])
        return tuple(ca.vertsplit(ca.substitute(found, at, ca.vertcat(x, y))))  # type: ignore[return-value]

    def distance(self, p: Any) -> tuple[Any, Any]:
        """As of all geometries, where p is nearer to the surface than its centres of curvature.

        The nearest point of the surface is found by Newton's method, from the one below p.
        """
        found, n, _ = self.nearest(lambda n: p, ROUNDS)
        return found, n

    def nearest(self, lowest: Callable[[Any], Any], rounds: int = ROLLING_ROUNDS) -> tuple[Any, Any, Any]:
        """How far a convex shape is from the surface [m], the normal (3,) there, and the point of the shape [m].

        `lowest` gives the point of the shape that is lowest along a normal; its radii of curvature are less than those
        of hollows.
        """
        m = ca.SX.sym("m", 3)
        point = ca.mtimes(self.T, lowest(ca.mtimes(self.T.T, m)))
        moves = ca.jacobian(point, m)
        own = ca.substitute(point, m, ca.DM([0, 0, 1]))
        x, y = own[0], own[1]
        for i in range(rounds + 1):
            z, z_x, z_y, z_xx, z_xy, z_yy = self.shape(x, y)
            steep = ca.sqrt(1 + z_x**2 + z_y**2)
            n = ca.vertcat(-z_x, -z_y, 1) / steep
            own, turn = ca.substitute([point, moves], [m], [n])
            if i == rounds:
                break
            above = own[2] - z
            g_x, g_y = x - own[0] - above * z_x, y - own[1] - above * z_y
            plain = 1 + z_x**2, z_x * z_y, 1 + z_y**2
            full = [plain[0] - above * z_xx, plain[1] - above * z_xy, plain[1] - above * z_xy, plain[2] - above * z_yy]
            if moves.nnz():  # how the lowest point moves as the normal turns
                bend = ca.vertcat(ca.horzcat(-z_xx, -z_xy), ca.horzcat(-z_xy, -z_yy), ca.SX.zeros(1, 2))
                turned = ca.mtimes(turn, bend - ca.mtimes(n, ca.mtimes(n.T, bend))) / steep
                slopes = (z_x, 0), (z_x, 1), (z_y, 0), (z_y, 1)
                full = [
                    one - turned[k // 2, j] - slope * turned[2, j]
                    for k, (one, (slope, j)) in enumerate(zip(full, slopes, strict=True))
                ]
            determinant = full[0] * full[3] - full[1] * full[2]
            is_good = ca.logic_and(determinant > SINGULAR, full[0] > 0)
            a, b, c, d = (
                ca.if_else(is_good, one, other)
                for one, other in zip(full, (plain[0], plain[1], plain[1], plain[2]), strict=True)
            )
            determinant = a * d - b * c
            x, y = x - (d * g_x - b * g_y) / determinant, y - (a * g_y - c * g_x) / determinant
        return ca.dot(n, own - ca.vertcat(x, y, z)), ca.mtimes(self.T.T, n), ca.mtimes(self.T.T, own)

    def _grid(self) -> np.ndarray:
        """Heights [m] as a matrix.

        Raises:
            ModelError: there are too few of them.
        """
        z = np.asarray(self.value("z"), dtype=float)
        if z.ndim != 2 or min(z.shape) < LEAST:
            raise ModelError(
                f"{self.where}.z: has the shape {z.shape}; a grid has {LEAST} rows and columns or more, or derive a "
                "class that has a function height(x, y)"
            )
        return z

    def _spline(self, x: Any, y: Any) -> Shape:
        """The bicubic spline through the grid, and its straight continuation."""
        z = self._grid()
        c = ca.DM(_coefficients(_coefficients(z, 0), 1))
        by_x = _basis(x, z.shape[0], float(self.value("length")))
        by_y = [ca.mtimes(c, part) for part in _basis(y, z.shape[1], float(self.value("width")))]
        value, slope, bend = range(3)
        orders = (value, value), (slope, value), (value, slope), (bend, value), (slope, slope), (value, bend)
        return tuple(ca.dot(by_x[i], by_y[j]) for i, j in orders)

    def visualize(self: Any) -> None:
        field = self._component
        sides = float(field.value("length")), float(field.value("width"))
        counts = field._grid().shape if field.has_grid else (DRAWN, DRAWN)
        x, y = (side * np.linspace(-0.5, 0.5, n) for side, n in zip(sides, counts, strict=True))
        if field.has_grid:
            z = ca.SX(ca.DM(field._grid()))
        else:
            z = ca.vertcat(*(ca.horzcat(*(ca.SX(self.height(u, v)) for v in y)) for u in x))
        own = [ca.SX(ca.DM(np.broadcast_to(x[:, None], counts))), ca.SX(ca.DM(np.broadcast_to(y, counts))), z]
        T, r = field.T, ca.vertcat(self.r)
        points = [sum(own[k] * T[k, i] for k in range(3)) + r[i] for i in range(3)]
        self.draw_surface("ground", points, self.frame_a, color=self.color)


def _basis(x: Any, n: int, side: float) -> list[Any]:
    """All cubic B-splines of n points over a side [m] about 0: their values, slopes and second derivatives at x."""
    step = side / (n - 1)
    within = ca.fmax(-side / 2, ca.fmin(side / 2, x))
    beyond = x - within
    w = (within + side / 2) / step + 1 - ca.DM(np.arange(n + 2))
    outer, inner = ca.fmax(0, 2 - ca.fabs(w)), ca.fmax(0, 1 - ca.fabs(w))
    slope = ca.if_else(w < 0, 1, -1) * (outer**2 / 2 - 2 * inner**2) / step
    bend = ca.if_else(beyond == 0, outer - 4 * inner, 0) / step**2
    return [(outer**3 - 4 * inner**3) / 6 + slope * beyond, slope, bend]


def _coefficients(z: np.ndarray, axis: int) -> np.ndarray:
    """Coefficients of the cubic B-splines of a uniform grid, two more than points.

    The first two intervals have one cubic, and so have the last two ("not a knot": de Boor, A Practical Guide to
    Splines, 1978, chapter IV).
    """
    n = z.shape[axis]
    matrix = np.zeros((n + 2, n + 2))
    for i in range(n):
        matrix[i + 1, i : i + 3] = 1 / 6, 4 / 6, 1 / 6
    matrix[0, :5] = matrix[-1, -5:] = 1, -4, 6, -4, 1
    known = np.moveaxis(z, axis, 0)
    zero = np.zeros((1, *known.shape[1:]))
    return np.moveaxis(np.linalg.solve(matrix, np.concatenate([zero, known, zero])), 0, axis)


__all__ = ["HeightField"]
