"""What a runtime needs of a System: defaults, tables and CasADi functions (docs/architecture/contract.md)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

import casadi as ca
import numpy as np

from mbfmu.runtime import contract
from mbfmu.runtime.parts import Part


@dataclasses.dataclass(frozen=True)
class StruckPoint:
    """A point at which speeds may jump, and which may stay closed: what tables say of it."""

    name: str
    #: One of `contract.RESTITUTIONS`.
    restitution: str
    #: Number of the held value that is 1 while it is closed; where it rubs, 1 while it sticks and the direction (3) in
    #: which it slides follow.
    modes: int
    #: Its first row along the surfaces; -1: it does not rub.
    sliding: int


@dataclasses.dataclass(frozen=True)
class Equations:
    """Equations of motion in numeric form; `docs/architecture/contract.md` defines every field and function.

    Immutable: what changes while a model runs (time, states, inputs, parameters, modes) belongs to an instance. Sizes
    are those of the functions' arguments and results.

    Raises:
        ValueError: A function is missing, or does not fit the others: a defect of whoever made it.
    """

    name: str
    functions: Mapping[str, ca.Function] = dataclasses.field(compare=False)
    #: Offsets in q of unit quaternions (scalar last).
    quaternions: tuple[int, ...]
    #: Indices in p of the free parameters that initialisation solves for.
    free: tuple[int, ...]
    #: Per unknown of X: held at its start value?
    fixed: tuple[bool, ...]
    #: Per unknown of X: cost of moving it away from its guess (larger: moves less).
    weights: tuple[float, ...]
    #: Per unknown of X and per equation of initialisation: a name for messages.
    unknown_names: tuple[str, ...]
    equation_names: tuple[str, ...]
    #: Names of the nl velocity residuals, of which the first ng belong to positions, and of the ne redundant rows.
    velocity_names: tuple[str, ...]
    redundant_names: tuple[str, ...]
    #: Index sets of w whose equations are independent of each other.
    blocks: tuple[tuple[int, ...], ...]
    #: Per switch: True where its crossing depends on time and parameters only (then `next_times` has its instants).
    time_switches: tuple[bool, ...]
    assertion_messages: tuple[str, ...]
    #: Default values of p and u.
    parameters: tuple[float, ...]
    inputs: tuple[float, ...]
    start_time: float
    stop_time: float
    tolerance: float
    #: Row and column of each value of A where it is sparse, and its pivots, rows and columns, in their order.
    sparsity: tuple[tuple[int, int], ...] = ()
    pivots: tuple[tuple[int, int], ...] = ()
    #: Parts of the equations of initialisation that share no unknown, in the order of their rows.
    initial_parts: tuple[Part, ...] = ()
    #: How many of the velocity constraints, and of those that belong to positions, follow from the others, at each
    #: position in another way; where there are any, the size of each row of G.
    redundancies: int = 0
    position_redundancies: int = 0
    constraint_sizes: tuple[float, ...] = ()
    #: True where `dynamics` gives w itself in place of b, and A is empty: the recursion for trees.
    explicit: bool = False
    #: How runtimes integrate: one of `contract.SOLVERS`.
    solver: str = "auto"
    #: Distance of recorded points, s; 0: a 500th of the run.
    interval: float = 0.0
    #: Length of the steps of a runtime without error control, s; 0 where the tolerance decides.
    fixed_step: float = 0.0
    #: Per switch: a name for messages; without them they are numbered.
    switch_names: tuple[str, ...] = ()
    #: Per equation of initialisation: what its residual was divided by; 1 for all, where it is empty.
    equation_sizes: tuple[float, ...] = ()
    #: Per equation of initialisation: 0 where it knows positions only, 1 where it knows speeds, too, 2 where it knows
    #: more; 2 for all, where it is empty.
    equation_stages: tuple[int, ...] = ()
    #: Per assertion: True where its violation ends the run as it should; none do where it is empty.
    endings: tuple[bool, ...] = ()
    #: Per held value: a name for messages; without them they are numbered.
    held_names: tuple[str, ...] = ()
    #: Points of `impacts`; for each of its rows the speed that is its impulse, and all speeds that are impulses.
    points: tuple[StruckPoint, ...] = ()
    struck_speeds: tuple[int, ...] = ()
    impulse_speeds: tuple[int, ...] = ()
    #: Per delayed signal: a name for messages; and does its delay depend on parameters only?
    delay_names: tuple[str, ...] = ()
    fixed_delays: tuple[bool, ...] = ()
    #: Iteration variables: how many each block has; of each a name for messages and the size beside which its error
    #: counts (1 for all, where it is empty).
    iteration_blocks: tuple[int, ...] = ()
    iteration_names: tuple[str, ...] = ()
    iteration_nominals: tuple[float, ...] = ()
    #: Are they unknowns of initialisation, too, at the end of X?
    start_iterations: bool = False
    #: Per unknown of X: did the model give its start value? Of others that nothing determines the runtime warns.
    given: tuple[bool, ...] = ()
    #: Per state: the nominal value that weighs its error where it is less than 1; all are 1 where it is empty.
    nominals: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        names = (*contract.REQUIRED, *(("impacts",) if self.points else ()))
        for name in names:
            signature, known = contract.FUNCTIONS[name], self.functions.get(name)
            if known is None:
                raise ValueError(f"{self.name}: the function {name} is missing")
            if (known.n_in(), known.n_out()) != (len(signature.arguments), len(signature.results)):
                raise ValueError(
                    f"{self.name}: {name} has {known.n_in()} arguments and {known.n_out()} results, not "
                    f"{len(signature.arguments)} and {len(signature.results)}"
                )
        sizes = self.sizes
        if sizes["nW"] < self.nw or (sizes["nW"] != self.nw and not self.sparsity):
            raise ValueError(f"{self.name}: dynamics has {sizes['nW']} equations for {self.nw} unknowns")
        for name in names:
            arguments, results = contract.shape(name, sizes)
            function = self.functions[name]
            given = (
                tuple(function.numel_in(i) for i in range(function.n_in())),
                tuple(function.numel_out(i) for i in range(function.n_out())),
            )
            wanted = (arguments, tuple(rows * columns for rows, columns in results))
            if given != wanted:
                raise ValueError(
                    f"{self.name}: {name} maps {given[0]} to {given[1]} numbers, not {wanted[0]} to {wanted[1]}"
                )
            sparse = [i for i in range(function.n_out()) if not function.sparsity_out(i).is_dense()]
            if sparse:
                raise ValueError(f"{self.name}: {name} has sparse results {sparse}; all must be dense")
        self._check_parts()
        self._check_iterations()

    def _check_parts(self) -> None:
        """Refuse parts of the equations of initialisation that are not theirs."""
        parts = self.initial_parts
        unknowns = [unknown for part in parts for unknown in part.unknowns]
        rows, entries = sum(part.rows for part in parts), sum(part.rows * len(part.unknowns) for part in parts)
        if (rows, entries) != (self.nr, self.nJ):
            raise ValueError(
                f"{self.name}: the parts of initial have {rows} rows and {entries} derivatives, not {self.nr} and "
                f"{self.nJ}"
            )
        ordered = all(part.rows and list(part.unknowns) == sorted(part.unknowns) for part in parts)
        if not ordered or len({*unknowns}) < len(unknowns) or not {*unknowns} <= {*range(self.nX)}:
            raise ValueError(f"{self.name}: parts of initial that are none: {[part.unknowns for part in parts]}")

    def _check_iterations(self) -> None:
        """Refuse blocks that are none, and functions that are asked before iteration variables are known."""
        n = self.niterations
        if sum(self.iteration_blocks) != n or min(self.iteration_blocks, default=1) < 1:
            raise ValueError(f"{self.name}: blocks of {self.iteration_blocks} for {n} iteration variables")
        for what in ("iteration_names", "iteration_nominals"):
            if len(getattr(self, what)) not in (0, n):
                raise ValueError(f"{self.name}: {len(getattr(self, what))} {what} for {n} iteration variables")
        if not all(0 < nominal < float("inf") for nominal in self.iteration_nominals):
            raise ValueError(f"{self.name}: nominal values {self.iteration_nominals} of iteration variables")
        for name in ("initial", "delays"):
            if any(self._needs_iterations(name, output) for output in range(self.functions[name].n_out())):
                raise ValueError(f"{self.name}: {name} depends on iteration variables, which are solved for after it")

    def _needs_iterations(self, name: str, output: int) -> bool:
        """Does a result of a function depend on the tail of u?"""
        if not self.niterations:
            return False
        function = self.functions[name]
        columns = function.jac_sparsity(output, contract.FUNCTIONS[name].arguments.index("u")).get_triplet()[1]
        return any(column >= self.nu - self.niterations for column in columns)

    @functools.cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the contract that functions show, by name."""
        f = self.functions
        nv, nq = f["displacement"].numel_in(3), f["displacement"].numel_out(0)
        return {
            "nq": nq,
            "nv": nv,
            "nz": f["derivatives"].numel_out(0) - nq - nv,
            "nu": f["derivatives"].numel_in(2),
            "npar": f["derived"].numel_in(0),
            "nd": f["derived"].numel_out(0),
            "nl": f["constraints"].numel_out(1),
            "ng": f["constraints"].numel_out(0),
            "nm": f["crossings"].numel_out(0),
            "nheld": f["held"].numel_out(0),
            "ndelays": f["delayed"].numel_out(0),
            "niterations": f["iteration_guess"].numel_out(0),
            "nstart_iterations": f["iteration_guess"].numel_out(0) if self.start_iterations else 0,
            "nt": f["next_times"].numel_out(0),
            "ny": f["variables"].numel_out(0),
            "ne": f["redundant"].numel_out(0),
            "nh": f["assertions"].numel_out(0),
            "nX": f["guess"].numel_out(0),
            "nr": f["initial"].numel_out(0),
            "nJ": f["initial"].numel_out(1),
            "nparts": len(self.initial_parts),
            "npart_unknowns": sum(len(part.unknowns) for part in self.initial_parts),
            "nW": f["dynamics"].numel_out(1),
            "nredundancies": self.redundancies,
            "nposition_redundancies": self.position_redundancies,
            "nentries": len(self.sparsity),
            "njacobian": f["constraints"].numel_out(2),
            "npoints": len(self.points),
            "nsliding": len(self.struck_speeds) - len(self.points),
            "nresponse": f["impacts"].numel_out(0) if self.points else 0,
            "explicit": int(self.explicit),
        }

    def __getattr__(self, name: str) -> int:
        """Sizes of the contract that functions show, such as nq, nv, nz, nu, npar, nd, nl, ng, nm, nheld, ny, nX."""
        if name in contract.SIZES and not name.startswith("_"):
            sizes = self.sizes
            if name in sizes:
                return sizes[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def nx(self) -> int:
        """Number of states."""
        return contract.length("nx", self.sizes)

    @property
    def nw(self) -> int:
        """Number of accelerations and multipliers."""
        return contract.length("nw", self.sizes)

    @property
    def crossings_need_w(self) -> bool:
        """True where a crossing that has to be located depends on accelerations or multipliers."""
        function = self.functions["crossings"]
        rows = function.jac_sparsity(0, function.n_in() - 1).get_triplet()[0]
        return any(not self.time_switches[row] for row in rows)

    @property
    def delayed_need_w(self) -> bool:
        """True where a signal that is delayed depends on accelerations or multipliers."""
        function = self.functions["delayed"]
        return bool(function.jac_sparsity(0, function.n_in() - 1).nnz())

    @property
    def iterations_need_w(self) -> bool:
        """True where a residual of iteration variables depends on accelerations or multipliers."""
        function = self.functions["iterations"]
        return bool(function.jac_sparsity(0, function.n_in() - 1).nnz())

    @property
    def constraints_need_s(self) -> bool:
        """True where constraints depend on iteration variables."""
        return any(self._needs_iterations("constraints", output) for output in (0, 1))

    def vector(self, name: str) -> np.ndarray:
        """Default values `parameters` or `inputs` as a fresh array."""
        return np.array(getattr(self, name), dtype=float)
