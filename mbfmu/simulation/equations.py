"""The record that a runtime needs of a System: sizes, defaults and CasADi functions (docs/architecture.md)."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

#: The functions of the contract, in the order in which they are written to files.
FUNCTIONS = (
    "derived",
    "guess",
    "initial",
    "dynamics",
    "derivatives",
    "displacement",
    "constraints",
    "redundant",
    "times",
    "crossings",
    "variables",
    "assertions",
)

#: Ways of integration: by the explicit method until a model turns out to be stiff, or by one method throughout.
SOLVERS = ("auto", "explicit", "implicit")


@dataclasses.dataclass(frozen=True)
class Equations:
    """Equations of motion in numeric form; `docs/architecture.md` defines every field and function.

    Immutable: what changes while a model runs (time, states, inputs, parameters, modes) belongs to an instance.
    """

    name: str
    nq: int
    nv: int
    nz: int
    nu: int
    npar: int
    nd: int
    nl: int
    ng: int
    nm: int
    nt: int
    ny: int
    ne: int
    nh: int
    nX: int
    nr: int
    #: Offsets in q of unit quaternions (scalar last).
    quaternions: tuple[int, ...]
    #: Indices in p of the free parameters that initialisation solves for.
    free: tuple[int, ...]
    #: True where X ends with w: some equation of initialisation knows accelerations or multipliers.
    initial_with_w: bool
    #: Per unknown of X: held at its start value?
    fixed: tuple[bool, ...]
    #: Per unknown of X: cost of moving it away from its guess (larger: moves less).
    weights: tuple[float, ...]
    #: Per unknown of X and per equation of initialisation: a name for messages.
    unknown_names: tuple[str, ...]
    equation_names: tuple[str, ...]
    #: Names of the ng position residuals, the nl velocity residuals and the ne redundant rows.
    position_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    redundant_names: tuple[str, ...]
    #: Index sets of w whose equations are independent of each other.
    blocks: tuple[tuple[int, ...], ...]
    #: Per switch: True where its crossing depends on time and parameters only (then `times` has its instants).
    time_switches: tuple[bool, ...]
    assertion_messages: tuple[str, ...]
    #: Default values of p and u.
    parameters: tuple[float, ...]
    inputs: tuple[float, ...]
    start_time: float
    stop_time: float
    tolerance: float
    functions: Mapping[str, ca.Function] = dataclasses.field(compare=False)
    #: True where `dynamics` gives w itself in place of b, and A is empty: the recursion for trees.
    explicit: bool = False
    #: How runtimes integrate: one of `SOLVERS`.
    solver: str = "auto"
    #: Length of the steps of a runtime without error control, s; 0 where the tolerance decides.
    fixed_step: float = 0.0

    @property
    def crossings_need_w(self) -> bool:
        """True where a crossing that has to be located depends on accelerations or multipliers."""
        return any(not self.time_switches[row] for row in self._rows_with_w("crossings"))

    @property
    def assertions_need_w(self) -> bool:
        """True where an assertion depends on accelerations or multipliers."""
        return bool(self._rows_with_w("assertions"))

    def _rows_with_w(self, name: str) -> list[int]:
        """Rows of a function's result that depend on w, its last argument."""
        function = self.functions[name]
        return list(function.jac_sparsity(0, function.n_in() - 1).get_triplet()[0])

    @property
    def nx(self) -> int:
        """Number of states."""
        return self.nq + self.nv + self.nz

    @property
    def nw(self) -> int:
        """Number of accelerations and multipliers."""
        return self.nv + self.nl

    def save(self, folder: pathlib.Path) -> None:
        """Write `equations.json` and one `NAME.casadi` per function into an existing folder."""
        names = [field.name for field in dataclasses.fields(self) if field.name != "functions"]
        record: dict[str, Any] = {name: getattr(self, name) for name in names}
        (folder / "equations.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
        for name in FUNCTIONS:
            self.functions[name].save(str(folder / f"{name}.casadi"))

    @classmethod
    def load(cls, folder: pathlib.Path) -> Equations:
        """Read what `save` wrote."""
        record = json.loads((folder / "equations.json").read_text(encoding="utf-8"))
        record["blocks"] = tuple(map(tuple, record["blocks"]))
        record = {key: tuple(value) if isinstance(value, list) else value for key, value in record.items()}
        functions = {name: ca.Function.load(str(folder / f"{name}.casadi")) for name in FUNCTIONS}
        return cls(**record, functions=functions)

    def vector(self, name: str) -> np.ndarray:
        """Default values `parameters` or `inputs` as a fresh array."""
        return np.array(getattr(self, name), dtype=float)
