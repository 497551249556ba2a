"""The factorisation of a small sparse A, written out in C: what `sparse.c` does with lists, in the same order."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

#: Eliminations with more products stay lists: their code would be longer than what it replaces.
MOST_PRODUCTS = 400

_HEAD = "/* LU of A along its pivots, written out: the same operations as those of sparse.c, in the same order. */\n\n"


@dataclasses.dataclass(frozen=True)
class Elimination:
    """C code of `sparse_factorise`, `sparse_substitute` and `sparse_residual`, and the number of factors."""

    code: str
    factors: int


def written_out(sparsity: Sequence[tuple[int, int]], pivots: Sequence[tuple[int, int]]) -> Elimination | None:
    """Write the elimination of a matrix out; None where there is none, or where its code were long.

    Args:
        sparsity: row and column of each value.
        pivots: row and column of each pivot, in the order of elimination.
    """
    if not pivots:
        return None
    row_places = {row: k for k, (row, _) in enumerate(pivots)}
    column_places = {column: k for k, (_, column) in enumerate(pivots)}
    entries = [(row_places[i], column_places[j]) for i, j in sparsity]
    rows = _filled(entries, len(pivots))
    products = list(itertools.islice(_products(rows), MOST_PRODUCTS + 1))
    if len(products) > MOST_PRODUCTS:
        return None
    places = {place: x for x, place in enumerate((i, j) for i, row in enumerate(rows) for j in row)}
    lines = itertools.chain(
        _factorise(entries, rows, places, products), _substitute(pivots, rows, places), _residual(entries, pivots)
    )
    return Elimination(_HEAD + "\n".join(lines) + "\n", len(places))


def _filled(entries: Sequence[tuple[int, int]], size: int) -> list[list[int]]:
    """Columns of the factors, row by row."""
    rows = [{k} for k in range(size)]
    for i, j in entries:
        rows[i].add(j)
    for k in range(size):
        after = {j for j in rows[k] if j > k}
        for row in rows[k + 1 :]:
            if k in row:
                row |= after
    return [sorted(row) for row in rows]


def _products(rows: Sequence[Sequence[int]]) -> Iterator[tuple[int, int, int]]:
    """Pivot, row and column of each product in the elimination, in their order."""
    for k, pivot_row in enumerate(rows):
        for i in range(k + 1, len(rows)):
            if k in rows[i]:
                for j in pivot_row:
                    if j > k:
                        yield k, i, j


def _factorise(
    entries: Sequence[tuple[int, int]],
    rows: Sequence[Sequence[int]],
    places: dict[tuple[int, int], int],
    products: Sequence[tuple[int, int, int]],
) -> Iterator[str]:
    given = {place: e for e, place in enumerate(entries)}
    yield "INTERNAL void sparse_factorise(const Instance *s)\n{\n    const double *a = s->system.entries;"
    for place, x in places.items():
        yield f"    double x{x} = {f'a[{given[place]}]' if place in given else '0'};"
    of_pivot = {k: list(group) for k, group in itertools.groupby(products, key=lambda product: product[0])}
    for k in range(len(rows)):
        pivot = places[k, k]
        yield f"    x{pivot} = 1 / x{pivot};"
        yield from (f"    x{places[i, k]} *= x{pivot};" for i in range(k + 1, len(rows)) if k in rows[i])
        yield from (f"    x{places[i, j]} -= x{places[i, k]} * x{places[k, j]};" for _, i, j in of_pivot.get(k, ()))
    yield from (f"    s->system.sparse[{x}] = x{x};" for x in places.values())
    yield "}\n"


def _substitute(
    pivots: Sequence[tuple[int, int]], rows: Sequence[Sequence[int]], places: dict[tuple[int, int], int]
) -> Iterator[str]:
    yield "INTERNAL void sparse_substitute(const Instance *s, const double *b, double *unknowns)\n{"
    yield "    const double *x = s->system.sparse;"
    for k, row in enumerate(rows):
        yield f"    double z{k} = b[{pivots[k][0]}];"
        yield from (f"    z{k} -= x[{places[k, j]}] * z{j};" for j in row if j < k)
    for k in reversed(range(len(rows))):
        yield from (f"    z{k} -= x[{places[k, j]}] * z{j};" for j in reversed(rows[k]) if j > k)
        yield f"    s->system.solution[{k}] = unknowns[{pivots[k][1]}] = z{k} *= x[{places[k, k]}];"
    yield "}\n"


def _residual(entries: Sequence[tuple[int, int]], pivots: Sequence[tuple[int, int]]) -> Iterator[str]:
    yield "INTERNAL double sparse_residual(const Instance *s, double *residual)\n{"
    yield "    const double *a = s->system.entries, *z = s->system.solution, *b = s->system.load;"
    yield f"    double worst = 0, term, sum, size, sizes[{len(pivots)}];"
    for k, (row, _) in enumerate(pivots):
        yield f"    size = fabs(sum = b[{row}]);"
        for e, (i, j) in enumerate(entries):
            if i == k:
                yield f"    term = a[{e}] * z[{j}], sum -= term, size += fabs(term);"
        yield f"    residual[{row}] = sum, sizes[{row}] = size;"
    yield f"    for (int i = 0; i < {len(pivots)}; ++i) worst = worse(worst, residual[i], sizes[i]);"
    yield "    return worst;\n}"
