"""Operations that many places have in common, as calls of a function (mbfmu.runtime.calls) that is made once."""

from __future__ import annotations

import functools

import casadi as ca

from mbfmu.runtime.cse import cse


def shared(column: ca.SX, apart: ca.SX, guard: ca.SX | None = None) -> ca.SX:
    """A column of expressions as the results of a call, whose function is one for all that differ in symbols only.

    Args:
        column: The expressions.
        apart: Symbols, such as those of parameters: what knows nothing else is worked out before the call.
        guard: 1 or 0; where it is 0, so are all results, and nothing is worked out.
    """
    short, symbols, before = ca.extract_parametric(column, apart)
    own = ca.symvar(short)
    if not own:
        return column
    called = _shared(_form(own, short), len(own), guard is not None)
    made = dict(zip((symbol.element_hash() for symbol in symbols), before, strict=True))
    values = ca.vertcat(*(made.get(symbol.element_hash(), symbol) for symbol in own))
    result: ca.SX = called.call([values] if guard is None else [guard, values])[0]
    return result


#: Symbols of what is shared.
_NAMES: list[ca.SX] = [ca.SX.sym("s", 256)]


def _form(symbols: list[ca.SX], column: ca.SX) -> str:
    """What a column has in common with others that differ in the names of these symbols only."""
    if _NAMES[0].numel() < len(symbols):
        _NAMES[0] = ca.SX.sym("s", 2 * len(symbols))
    names = _NAMES[0][: len(symbols)]
    renamed = ca.Function("shared", [ca.vertcat(*symbols)], [column]).call([names])[0]
    form: str = ca.Function("shared", [names], [renamed]).serialize()
    return form


@functools.lru_cache(maxsize=1024)
def _shared(form: str, size: int, is_guarded: bool) -> ca.Function:
    """The function that is called."""
    values, guard = ca.SX.sym("s", size), ca.SX.sym("guard")
    [column] = cse([ca.densify(ca.Function.deserialize(form).call([values])[0])])
    if not is_guarded:
        return ca.Function("shared", [values], [column], {"never_inline": True})
    guarded = [ca.SX.binary(ca.OP_IF_ELSE_ZERO, guard, value) for value in ca.vertsplit(column)]
    return ca.Function("guarded", [guard, values], [ca.vertcat(*guarded)], {"never_inline": True})


__all__ = ["shared"]
