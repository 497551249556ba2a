"""Copies of components: independent of what they were made from, with symbols and functions of their own."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import types
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.frames import Orientation
from mbfmu.modeling.connectors import Connector, Port, Reference
from mbfmu.modeling.declarations import Start
from mbfmu.modeling.inputs import AssemblyInput


class Copier:
    """Copies a component with its parts.

    Symbols of parameters are made anew, for two components with one symbol would share its value; functions that refer
    to a component of the tree (`lambda self: other.m`) are made to refer to its copy. What is outside stays.
    """

    def __init__(self, root: Any, memo: dict[int, Any]) -> None:
        self.memo = memo
        old: list[ca.SX] = []
        new: list[ca.SX] = []
        self._tree = list(root.walk())
        for component in self._tree:
            cls: Any = type(component)
            memo[id(component)] = twin = cls.__new__(cls)
            for name, symbol in component._symbols.items():
                twin._symbols[name] = ca.SX.sym(name, *symbol.shape)
                old.append(ca.vec(symbol))
                new.append(ca.vec(twin._symbols[name]))
        self._old, self._new = ca.vertcat(ca.SX(0, 1), *old), ca.vertcat(ca.SX(0, 1), *new)

    def run(self, root: Any) -> Any:
        """Fill the copies, and return that of the root, which belongs to nobody."""
        for component in self._tree:
            vars(self.memo[id(component)]).update(
                (name, self.of(value))
                for name, value in vars(component).items()
                if name not in ("_owner", "_symbols", "_outers")
            )
            if component is not root:
                vars(self.memo[id(component)])["_owner"] = self.memo[id(component._owner)]
        found = self.memo[id(root)]
        if root._owner is not None:
            vars(found)["_name"] = ""
        return found

    def of(self, value: Any) -> Any:
        """A value as the copy has it."""
        found = self._referred(value)
        return copy.deepcopy(value, self.memo) if found is value and not self._is_kept(value) else found

    @staticmethod
    def _is_kept(value: Any) -> bool:
        """True for what is no state of the component: functions, expressions, declarations, components elsewhere."""
        return isinstance(value, ca.SX | Port) or callable(value) or hasattr(value, "declarations")

    def _referred(self, value: Any) -> Any:
        """A value with what it says of the tree said of the copy; all else in it is kept."""
        if id(value) in self.memo:
            return self.memo[id(value)]
        if isinstance(value, ca.SX):
            return ca.substitute(value, self._old, self._new) if self._old.numel() else value
        if type(value) in (list, tuple):
            return type(value)(self._referred(item) for item in value)
        if isinstance(value, np.ndarray) and value.dtype == object:
            found = np.empty(value.shape, dtype=object)
            found.ravel()[:] = [self._referred(item) for item in value.flat]
            return found
        if type(value) is dict:
            return {key: self._referred(item) for key, item in value.items()}
        if isinstance(value, Orientation | Start | Reference | AssemblyInput):
            fields = dataclasses.fields(value)
            return type(value)(**{field.name: self._referred(getattr(value, field.name)) for field in fields})
        if isinstance(value, Connector):
            return Connector(self._referred(value.owner), value.port, value.elements)
        if isinstance(value, types.MethodType):
            return types.MethodType(value.__func__, self._referred(value.__self__))
        if isinstance(value, functools.partial):
            return functools.partial(
                self._referred(value.func), *self._referred(value.args), **self._referred(value.keywords)
            )
        return self._function(value) if isinstance(value, types.FunctionType) else value

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        if not (function.__closure__ or function.__defaults__ or function.__kwdefaults__):
            return function
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        found = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, cells or None)
        self.memo[id(function)] = found  # first, for a function may refer to itself
        found.__dict__.update(function.__dict__)
        found.__defaults__ = self._referred(function.__defaults__)
        found.__kwdefaults__ = self._referred(function.__kwdefaults__)
        for cell, old in zip(cells, function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # a variable that has no value yet
                cell.cell_contents = self._referred(old.cell_contents)
        return found
