"""SID files (Standard Input Data): bodies that bend as finite-element programs hand them to multibody programs.

Matrices are Taylor's expansions in the coordinates of the shapes: m0 + sum of m1 times coordinate. From them follow the
integrals of the floating frame. What those of order one have beside the inertia of shapes is geometric stiffening: it
becomes second-order displacements, through which loads and rotation act on the shapes, and which turn up in all other
forces as well, so that no energy comes from nowhere.

O. Wallrapp, Standardization of flexible body modeling in multibody system codes, part I: definition of standard input
data, Mechanics of Structures and Machines 22 (1994), 283-304; R. Schwertassek, O. Wallrapp, Dynamik flexibler
Mehrkoerpersysteme, Vieweg 1999, chapter 6.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from mbfmu.components.flexible.floating_frame import Flexibility, Integrals

#: Expansions of the whole body: rows and columns, of which `n` is the number of shapes, and those that files may lack.
PARTS = {
    "mdCM": "3 1", "J": "3 3", "Ct": "n 3", "Cr": "n 3", "Me": "n n", "Gr": "3 3n", "Ge": "n 3n", "Oe": "n 6",
    "ksigma": "n 1", "Ke": "n n", "De": "n n",
}  # fmt: skip
#: The same of a node; sigma is stress: xx, yy, zz, xy, yz, zx.
NODE_PARTS = {"origin": "3 1", "phi": "3 n", "psi": "3 n", "AP": "3 3", "sigma": "6 1"}
#: J as some programs write it: xx, yy, zz, xy, xz, yz.
COLUMN = "6 1"
LEFT_OUT = {"Gr", "ksigma", "De", "AP", "sigma"}
#: Products of angular velocities that the columns of Oe belong to.
PRODUCTS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))
#: Codes of `structure`.
NOTHING, DIAGONAL, SYMMETRIC, GENERAL, UNIT = range(5)
#: What two parts of a file that say the same may differ by, relative to the largest entry.
APART = 1e-3

_ENTRY = re.compile(r"m([01n])\s*\(([\d\s,]+)\)\s*=\s*(\S+)$")


@dataclasses.dataclass(frozen=True, eq=False)
class Expansion:
    """A matrix that depends on the coordinates of the shapes: m0 + sum of m1[..., k] q[k]."""

    m0: np.ndarray
    #: [rows, columns, n]; None where it is constant.
    m1: np.ndarray | None = None

    def first(self, n: int) -> np.ndarray:
        """m1, or zeros."""
        return np.zeros((*self.m0.shape, n)) if self.m1 is None else self.m1


@dataclasses.dataclass(frozen=True, eq=False)
class Node:
    """A node: its parts by name."""

    parts: Mapping[str, Expansion]

    def turned(self) -> bool:
        """Has it other directions than the body?"""
        return "AP" in self.parts and not np.allclose(self.parts["AP"].m0, np.eye(3), atol=1e-9)


@dataclasses.dataclass(frozen=True, eq=False)
class SID:
    """What a SID file says."""

    mass: float
    #: Names of the shapes.
    names: tuple[str, ...]
    #: Nodes by number.
    nodes: Mapping[int, Node]
    parts: Mapping[str, Expansion]

    @property
    def count(self) -> int:
        """Number of shapes."""
        return len(self.names)


class _Lines:
    """Lines of a file with their numbers, comments and blank ones left out."""

    def __init__(self, text: str) -> None:
        self._lines = [
            (number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()
        ]  # fmt: skip
        self._at, self.last = 0, len(text.splitlines())

    def next(self, within: str) -> tuple[int, str]:
        """The next line.

        Raises:
            ValueError: there is none.
        """
        if self._at == len(self._lines):
            raise ValueError(
                f"line {self.last}: the file ends within {within}; it is cut short, so write or copy it again"
            )
        self._at += 1
        return self._lines[self._at - 1]

    def rest(self) -> Iterator[tuple[int, str]]:
        """All further lines."""
        while self._at < len(self._lines):
            yield self.next("it")


def _shape(sizes: str, n: int) -> tuple[int, int]:
    """Rows and columns for n shapes."""
    rows, columns = ({"n": n, "3n": 3 * n}.get(word) or int(word) for word in sizes.split())
    return rows, columns


def _number(number: int, text: str) -> float:
    try:
        value = float(re.sub("[dD]", "e", text))
    except ValueError:
        raise ValueError(f"line {number}: {text!r:.40} is no number") from None
    if not np.isfinite(value):
        raise ValueError(f"line {number}: {text} is not finite")
    return value


def _whole(number: int, line: str) -> int:
    try:
        return int(line.split("=", 1)[1].split()[0])
    except (ValueError, IndexError):
        raise ValueError(f"line {number}: {line:.40} is no whole number; write it as name = number") from None


def _expansion(lines: _Lines, name: str, where: str, shape: tuple[int, int], n: int) -> Expansion:
    """The expansion that begins behind the line with its name, to its end."""
    head: dict[str, int] = {}
    m0, m1 = np.zeros(shape), np.zeros((*shape, n))
    given = set()
    while True:
        number, line = lines.next(where)
        if re.fullmatch(rf"end\s+{name}", line, re.IGNORECASE):
            break
        key = line.split("=")[0].strip()
        if key in ("order", "nrow", "ncol", "nq", "nqn", "structure"):
            head[key] = _whole(number, line)
            if name == "J" and key == "nrow" and head[key] == 6:
                shape = _shape(COLUMN, n)
                m0, m1 = np.zeros(shape), np.zeros((*shape, n))
            size = {"nrow": shape[0], "ncol": shape[1]}.get(key)
            if size is not None and head[key] not in (size, 0):
                raise ValueError(f"line {number}: {where} has {key} = {head[key]}, and {n} shapes need {size}")
            if key == "nqn" and head[key]:
                raise ValueError(f"line {number}: {where} has terms of order n, which are not taken; write order 1")
            continue
        entry = _ENTRY.match(line)
        if entry is None:
            raise ValueError(f"line {number}: {line:.40} stands in {where}, and is no entry such as m0( 1, 1) = 0.5")
        indices = [int(word) for word in entry[2].replace(",", " ").split()]
        bounds = {"0": (shape[0], shape[1]), "1": (shape[0], n, shape[1])}.get(entry[1])
        if bounds is None:
            raise ValueError(f"line {number}: {where} has terms of order n, which are not taken; write order 1")
        if len(indices) != len(bounds) or any(not 1 <= i <= most for i, most in zip(indices, bounds, strict=False)):
            raise ValueError(
                f"line {number}: {line.split('=')[0].strip()} is outside {where}, whose indices are up to "
                f"{', '.join(map(str, bounds))}"
            )
        value, at = _number(number, entry[3]), tuple(i - 1 for i in indices)
        given.add((entry[1], *at))
        if entry[1] == "0":
            m0[at] = value
        else:
            m1[at[0], at[2], at[1]] = value
    structure = head.get("structure", GENERAL)
    if structure == UNIT and not given:
        m0 = np.eye(*shape)
    if structure == SYMMETRIC and shape[0] == shape[1]:
        for one in (m0, *np.moveaxis(m1, 2, 0)):
            empty = (one == 0) & (one.T != 0)
            one[empty] = one.T[empty]
    if name == "J" and shape == _shape(COLUMN, n):
        m0, m1 = (np.array([[v[k][0] for k in row] for row in ((0, 3, 4), (3, 1, 5), (4, 5, 2))]) for v in (m0, m1))
    return Expansion(m0, m1 if head.get("order", 0) or m1.any() else None)


def read(text: str) -> SID:
    """Read the text of a SID file.

    Raises:
        ValueError: it is none, or cut short; the message has the line.
    """
    lines = _Lines(text)
    mass: float | None = None
    n: int | None = None
    names: dict[int, str] = {}
    nodes: dict[int, Node] = {}
    parts: dict[str, Expansion] = {}
    within = "its head"
    while True:
        number, line = lines.next(within)
        if line == "refmod":
            within = "refmod"
        elif line.startswith("mass") and within == "refmod":
            mass = _number(number, line.split("=")[-1].split()[0])
        elif line.startswith("nelastq") and within == "refmod":
            n = _whole(number, line)
        elif line.startswith("ielastq") and within == "refmod":
            found = re.match(r"ielastq\s*\(\s*(\d+)\s*\)\s*=\s*(.*)", line)
            if found is None:
                raise ValueError(f"line {number}: {line:.40} names no shape; write it as ielastq ( 1) = name")
            names[int(found[1])] = found[2].strip()
        elif re.fullmatch(r"end\s+refmod", line):
            if mass is None or n is None or n < 1:
                raise ValueError(
                    f"line {number}: refmod lacks mass, or nelastq, the number of shapes, which is 1 or more"
                )
            within = "modal"
        elif line == "frame":
            within = "frame"
        elif line.startswith("new node"):
            if n is None:
                raise ValueError(f"line {number}: nodes come before refmod, which says how many shapes there are")
            node = _whole(number, line)
            own: dict[str, Expansion] = {}
            if node in nodes:
                raise ValueError(f"line {number}: node {node} is there twice")
            within = f"node {node}"
            while True:
                number, line = lines.next(within)
                if re.fullmatch(r"end\s+node", line):
                    break
                if line in NODE_PARTS:
                    own[line] = _expansion(lines, line, f"{line} of node {node}", _shape(NODE_PARTS[line], n), n)
                elif not line.startswith("rframe"):
                    raise ValueError(f"line {number}: {line:.40} stands in node {node}, and is no part of one")
            lacking = [name for name in NODE_PARTS if name not in own and name not in LEFT_OUT]
            if lacking:
                raise ValueError(f"line {number}: node {node} lacks {', '.join(lacking)}")
            nodes[node] = Node(own)
            within = "frame"
        elif re.fullmatch(r"end\s+frame", line):
            within = "modal"
        elif line in PARTS:
            if n is None:
                raise ValueError(f"line {number}: {line} comes before refmod, which says how many shapes there are")
            parts[line] = _expansion(lines, line, line, _shape(PARTS[line], n), n)
        elif re.fullmatch(r"end\s+modal", line):
            break
        elif within != "its head":
            raise ValueError(f"line {number}: {line:.40} stands in {within}, and is no part of it that is known")
    lacking = [name for name in PARTS if name not in parts and name not in LEFT_OUT]
    if mass is None or n is None or lacking:
        raise ValueError(f"line {number}: the file lacks {', '.join(lacking) or 'refmod'}")
    within = "part"
    while re.fullmatch(r"end\s+part", lines.next(within)[1]) is None:
        pass
    return SID(mass, tuple(names.get(k, f"shape {k}") for k in range(1, n + 1)), nodes, parts)


def _agree(one: np.ndarray, other: np.ndarray, what: str, size: float) -> None:
    apart = np.abs(one - other).max(initial=0.0)
    if apart > APART * max(size, np.abs(one).max(initial=0.0), np.abs(other).max(initial=0.0)):
        raise ValueError(f"{what}: they differ by {apart:g}; the file contradicts itself, write it again")


def _symmetric(matrices: np.ndarray, what: str, size: float) -> np.ndarray:
    """Matrices [..., n, n] that are symmetric, made so to the last bit."""
    turned = np.swapaxes(matrices, -1, -2)
    _agree(matrices, turned, f"{what} is not symmetric", size)
    return (matrices + turned) / 2


def flexibility(sid: SID) -> Flexibility:
    """Integrals, stiffness and damping of the body.

    Raises:
        ValueError: parts of the file contradict each other.
    """
    n, of = sid.count, sid.parts
    first = of["mdCM"].m0[:, 0]
    J = _symmetric(of["J"].m0, "J", 0.0)
    second = np.trace(J) / 2 * np.eye(3) - J
    if not sid.mass > 0:
        raise ValueError(f"mass = {sid.mass:g} is not positive; write the file again")
    least = np.linalg.eigvalsh(second - np.outer(first, first) / sid.mass).min()
    if least < -APART * np.abs(second).max():
        raise ValueError(
            f"J, mass and mdCM are of no body: squares of places about the centre of mass add up to {least:g} kg.m2 "
            "along an axis; the file contradicts itself, write it again"
        )
    S = of["Ct"].m0.T
    _agree(S, of["mdCM"].first(n)[:, 0, :], "m1 of mdCM and m0 of Ct", 0.0)
    # Integrals of displacements and places: the symmetric part from J, the other from Cr.
    J1 = np.moveaxis(of["J"].first(n), 2, 0)
    both = np.moveaxis(np.trace(J1, axis1=1, axis2=2)[:, None, None] / 2 * np.eye(3) - J1, 0, 2)  # P_ab + P_ba
    P = both / 2
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        P[b, a] += of["Cr"].m0[:, c] / 2
        P[a, b] -= of["Cr"].m0[:, c] / 2
    total = P[0, 0] + P[1, 1] + P[2, 2]
    centrifugal = [both[a, b] if a != b else P[a, a] - total for a, b in PRODUCTS]
    _agree(np.array(centrifugal).T, of["Oe"].m0, "m1 of J, m0 of Cr and m0 of Oe", float(np.abs(P).max(initial=0.0)))
    # Integrals of two displacements: their sum from Me, what is antisymmetric from Ge, the rest from m1 of Oe.
    Me = _symmetric(of["Me"].m0, "Me", 0.0)
    if np.linalg.eigvalsh(Me).min() <= 0:
        raise ValueError("Me is not positive; leave out shapes that move no mass")
    size = float(np.abs(Me).max())
    Oe = np.moveaxis(of["Oe"].first(n), 1, 0)
    # Of products of two rates some programs write twice what belongs to one of both: its symmetric part is the same.
    Oe = np.concatenate([_symmetric(Oe[:3], "m1 of Oe", size), (Oe[3:] + Oe[3:].swapaxes(1, 2)) / 2])
    gyroscopic = _gyroscopic(of["Ge"].m0) / 2  # [i, k, c]: integral of shape k times shape i, across
    N = np.zeros((3, 3, n, n))
    excess = 2 * Me + Oe[0] + Oe[1] + Oe[2]  # geometric stiffening has it alone
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        N[a, a] = Me + Oe[a] - excess / 3
        half = Oe[PRODUCTS.index((min(a, b), max(a, b)))] / 2
        N[a, b] = half + gyroscopic[:, :, c].T / 2
        N[b, a] = half + gyroscopic[:, :, c] / 2
    followers = _followers(of, excess, gyroscopic, size, first, second)
    kept = [(bow, s, p) for bow, s, p in followers if np.abs(bow).max(initial=0.0) > 1e-12 * size]
    whole = np.zeros((3, 3, n + len(kept), n + len(kept)))
    whole[:, :, :n, :n] = N
    integrals = Integrals(
        sid.mass, first, second,
        np.hstack([S, *(s[:, None] for _, s, _ in kept)]),
        np.concatenate([P, *(p[:, :, None] for _, _, p in kept)], axis=2),
        whole,
    )  # fmt: skip
    K = _symmetric(of["Ke"].m0, "Ke", 0.0)
    if of["Ke"].m1 is not None and np.abs(of["Ke"].m1).max() > 1e-9 * np.abs(K).max():
        raise ValueError("Ke has terms of order one, stiffness that changes with deformation, which are not taken")
    D = _symmetric(of["De"].m0, "De", 0.0) if "De" in of else np.zeros((n, n))
    load = of["ksigma"].m0[:, 0] if "ksigma" in of else np.zeros(n)
    if "ksigma" in of and of["ksigma"].m1 is not None:
        K = K + _symmetric(of["ksigma"].m1[:, 0, :], "m1 of ksigma", float(np.abs(K).max()))
    bows = np.array([bow for bow, _, _ in kept]).reshape(-1, n, n)
    return Flexibility(integrals, K, bows, D, load)


def _gyroscopic(Ge: np.ndarray) -> np.ndarray:
    """Ge as [i, k, c] for shapes i and k and axis c, whether its columns are sorted by shapes or by axes."""
    n = len(Ge)
    orders = (Ge.reshape(n, n, 3), Ge.reshape(n, 3, n).swapaxes(1, 2))
    return min(orders, key=lambda one: np.abs(one + one.swapaxes(0, 1)).max())


def _followers(
    of: Mapping[str, Expansion], excess: np.ndarray, gyroscopic: np.ndarray, size: float, first: np.ndarray,
    second: np.ndarray,
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:  # fmt: skip
    """Second-order displacements: their matrices, first moments [3] and moments with places [3, 3]."""
    n = len(excess)
    found = []
    along = np.moveaxis(of["Ct"].first(n), 1, 0)
    turning = np.moveaxis(of["Cr"].first(n), 1, 0) - np.moveaxis(gyroscopic.swapaxes(0, 1), 2, 0).swapaxes(1, 2)
    none = np.zeros((3, 3))
    for a in range(3):
        stiff = _symmetric(along[a], "m1 of Ct", size)
        found.append((-stiff, np.eye(3)[a], none))
        b, c = (a + 1) % 3, (a + 2) % 3
        across = none.copy()
        across[c, b], across[b, c] = 0.5, -0.5
        found.append((-_symmetric(turning[a], "m1 of Cr, less half of Ge,", size), np.zeros(3), across))
    found.append((excess / 6, np.zeros(3), np.eye(3)))
    return found


class Place(NamedTuple):
    """A place of a body that becomes a node."""

    #: Place without deformation [3], displacement and small rotation by each shape [3, n].
    place: np.ndarray
    displacements: np.ndarray
    rotations: np.ndarray
    #: Of second order: q' seconds[a] q / 2 are displacements and rotations more [6, n, n].
    seconds: np.ndarray | None = None
    #: Stress without deformation [6], and by each shape [6, n], where it is known.
    stress: tuple[np.ndarray, np.ndarray] | None = None

    def node(self) -> Node:
        """What a file says of it."""
        place, u, turn, seconds, stress = self
        none: tuple[np.ndarray | None, ...] = (None, None)
        more, turns = none if seconds is None or not seconds.any() else np.split(seconds, 2)
        parts = {
            "origin": Expansion(place[:, None], u[:, None, :]),
            "phi": Expansion(u, more),
            "psi": Expansion(turn, turns),
            "AP": Expansion(np.eye(3), _small_turns(turn)),
        }
        if stress is not None:
            parts["sigma"] = Expansion(stress[0][:, None], stress[1][:, None, :])
        return Node(parts)


def from_flexibility(body: Flexibility, nodes: Mapping[int, Place], names: tuple[str, ...] = ()) -> SID:
    """What a SID file says of a body: all expansions to their first order.

    Args:
        body: the body.
        nodes: by number.
        names: of the shapes.
    """
    i, n = body.integrals, body.count
    S, P, N = i.S[:, :n], i.P[:, :, :n], i.N[:, :, :n, :n]

    def follow(moments: np.ndarray) -> np.ndarray:
        """[n, n] of a second-order displacement with these moments of the bows, differentiated twice."""
        return -np.einsum("k,kij->ij", moments[n:], body.bows) if len(body.bows) else np.zeros((n, n))

    J = np.trace(i.second) * np.eye(3) - i.second
    both = P + P.swapaxes(0, 1)
    J1 = np.einsum("aan->n", both)[None, None] * np.eye(3)[:, :, None] - both
    turns = ((1, 2), (2, 0), (0, 1))
    Cr0 = np.array([P[c, b] - P[b, c] for b, c in turns]).T
    kr = np.array([N[c, b] - N[b, c] for b, c in turns])  # [c, i, k]
    Ct1 = np.array([follow(i.S[a]) for a in range(3)]).transpose(1, 0, 2)
    Cr1 = (kr + np.array([follow(i.P[c, b] - i.P[b, c]) for b, c in turns])).transpose(1, 0, 2)
    Me, trace = np.einsum("aaij->ij", N), np.einsum("aan->n", i.P)
    Oe0 = np.array([both[a, b] if a != b else P[a, a] - trace[:n] for a, b in PRODUCTS]).T
    Oe1 = np.array(
        [
            N[a, b] + N[b, a] + follow(i.P[a, b] + i.P[b, a]) if a != b else N[a, a] - Me + follow(i.P[a, a] - trace)
            for a, b in PRODUCTS
        ]
    ).transpose(1, 0, 2)
    Gr0, Gr1 = np.zeros((3, 3 * n)), np.zeros((3, 3 * n, n))
    for k in range(n):
        Gr0[:, 3 * k : 3 * k + 3] = -2 * (P[:, :, k] - trace[k] * np.eye(3))
        for of in range(n):
            Gr1[:, 3 * k : 3 * k + 3, of] = -2 * (N[:, :, k, of] - Me[k, of] * np.eye(3))
    parts = {
        "mdCM": Expansion(i.first[:, None], S[:, None, :]),
        "J": Expansion(J, J1),
        "Ct": Expansion(S.T, Ct1 if len(body.bows) else None),
        "Cr": Expansion(Cr0, Cr1),
        "Me": Expansion(Me),
        "Gr": Expansion(Gr0, Gr1),
        "Ge": Expansion(2 * kr.transpose(1, 2, 0).reshape(n, 3 * n)),
        "Oe": Expansion(Oe0, Oe1),
        "ksigma": Expansion(np.zeros((n, 1)) if body.load is None else body.load[:, None]),
        "Ke": Expansion(body.K),
        "De": Expansion(np.zeros((n, n)) if body.D is None else body.D),
    }
    own = {number: place.node() for number, place in nodes.items()}
    names = names or tuple(f"Eigen Mode {k} : {f / 2 / np.pi:.6g} Hz" for k, f in enumerate(body.frequencies, 1))
    return SID(i.m, names, own, parts)


def _small_turns(turn: np.ndarray) -> np.ndarray:
    """Skew matrices of small rotations [3, 3, n]."""
    x, y, z = turn
    none = np.zeros_like(x)
    return np.array([[none, -z, y], [z, none, -x], [-y, x, none]])


def text(sid: SID) -> str:
    """The text of a SID file."""
    n = sid.count
    lines = [f"{len(sid.nodes)} {n}", "part", "  new modal", "    refmod", f"      mass = {sid.mass!r}"]
    lines += [f"      nelastq = {n}", *(f"      ielastq ( {k}) = {name}" for k, name in enumerate(sid.names, 1))]
    lines += ["    end refmod", "    frame"]
    for number, node in sid.nodes.items():
        lines += [f"      new node = {number}", "        rframe = body ref"]
        for name, part in node.parts.items():
            lines += _written(name, part, n, " " * 8)
        lines.append("      end node")
    lines.append("    end frame")
    for name, part in sid.parts.items():
        lines += _written(name, part, n, " " * 4)
    return "\n".join([*lines, "  end modal", "end part", ""])


def _written(name: str, part: Expansion, n: int, indent: str) -> list[str]:
    order = int(part.m1 is not None)
    rows, columns = part.m0.shape
    head = {"order": order, "nrow": rows, "ncol": columns, "nq": n if order else 0, "nqn": 0, "structure": GENERAL}
    lines = [f"{indent}{name}", *(f"{indent}  {key} = {value}" for key, value in head.items())]
    for i, j in np.argwhere(part.m0):
        lines.append(f"{indent}  m0( {i + 1}, {j + 1}) = {float(part.m0[i, j])!r}")
    if part.m1 is not None:
        for i, j, k in np.argwhere(part.m1):
            lines.append(f"{indent}  m1( {i + 1}, {k + 1}, {j + 1}) = {float(part.m1[i, j, k])!r}")
    return [*lines, f"{indent}end {name}"]


def load(file: str) -> SID:
    """Read a SID file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no SID file, or cut short.
    """
    return read(pathlib.Path(file).read_text("utf-8", errors="replace"))


__all__ = ["SID", "Expansion", "Node", "Place", "flexibility", "from_flexibility", "load", "read", "text"]
