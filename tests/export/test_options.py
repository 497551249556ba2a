"""Options of `build`: each refusal by its own words, before any work, and what is made of those that are taken."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

import mbfmu
from mbfmu.errors import BuildError
from mbfmu.export.build import build
from mbfmu.export.options import BuildOptions, Kind, names_of
from mbfmu.runtime.compilers import host_platform

DEFAULTS: dict[str, Any] = {
    "fmi": 2, "target": "auto", "equations": "interpreted", "platforms": None, "variables": None, "sources": False,
    "wasm": False, "dae": False, "solver": None, "fixed_step": None, "experiment": False,
}  # fmt: skip


def options(**given: Any) -> BuildOptions:
    return BuildOptions.of(**(DEFAULTS | given))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fmi": 1}, "FMI 1 is unknown; there are 2, 3."),
        ({"fmi": "3"}, "FMI '3' is unknown"),
        ({"sources": 1}, "sources = 1: it is True or False"),
        ({"wasm": "yes", "fmi": 3}, "wasm = 'yes': it is True or False"),
        ({"dae": None, "fmi": 3}, "dae = None: it is True or False"),
        ({"wasm": True}, "wasm: WebAssembly components are of FMI 3.0; choose fmi=3"),
        ({"dae": True}, "dae: algebraic variables are for importers of FMI 3.0; choose fmi=3"),
        ({"target": "python", "sources": True}, "sources: a python FMU has no C sources; choose the native target"),
        ({"target": "python", "wasm": True, "fmi": 3}, "wasm: a python FMU has no WebAssembly component"),
        ({"target": "c"}, 'target "c" is unknown; there are auto, native, python'),
        ({"equations": "fast"}, 'equations "fast" are unknown; there are auto, compiled, interpreted'),
        ({"target": "python", "equations": "compiled"}, "equations: those of a python FMU are interpreted"),
        ({"target": "python", "platforms": "linux64"}, "platforms: a python FMU runs wherever the runtime's"),
        ({"platforms": "amiga"}, "amiga"),
        ({"platforms": ["linux64", 3]}, "platforms"),
        ({"variables": 3}, "variables"),
        ({"solver": "euler"}, 'solver "euler" is unknown; there are auto, explicit, implicit'),
        ({"fixed_step": 0}, "fixed step 0 s: choose a positive number"),
        ({"fixed_step": -1.0}, "fixed step -1 s: choose a positive number"),
        ({"fixed_step": math.inf}, "fixed step inf s: choose a positive number"),
        ({"fixed_step": math.nan}, "fixed step nan s: choose a positive number"),
        ({"fixed_step": "quick"}, "fixed step"),
        ({"experiment": "default"}, "experiment"),
    ],
)
def test_what_is_wrong_is_told_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(mbfmu.MbfmuError) as caught:
        options(**given)
    assert message in str(caught.value)


def test_energy_is_for_assemblies() -> None:
    with pytest.raises(BuildError, match="energy = 1: it is True or False"):
        build("pendulum", energy=1)  # type: ignore[arg-type]
    with pytest.raises(BuildError, match=r"energy: the system is made already; make it with System.of\(assembly, "):
        build(mbfmu.System.of(mbfmu.load("pendulum")), energy=True)


def test_a_step_is_at_most_as_long_as_the_experiment() -> None:
    @dataclasses.dataclass
    class Equations:
        start_time: float = 1.0
        stop_time: float = 3.0
        solver: str = "auto"
        fixed_step: float = 0.0

    given: Any = Equations()
    assert options(fixed_step=2).applied(given) == Equations(fixed_step=2.0)
    assert options(solver="implicit").applied(given) == Equations(solver="implicit")
    assert options().applied(dataclasses.replace(given, solver="explicit")) == Equations(solver="explicit")
    with pytest.raises(
        BuildError, match=r"fixed step 2.5 s: is longer than the whole experiment, 1 to 3 s; choose a sh"
    ):
        options(fixed_step=2.5).applied(given)


def test_what_is_taken() -> None:
    made = options(fmi=3, target="python", variables="a.*, b ,", dae=True, fixed_step=1)
    assert (made.fmi, made.kind.target, made.kind.equations) == (3, "python", "interpreted")
    assert (made.variables, made.dae, made.wasm, made.sources, made.solver) == (("a.*", "b"), True, False, False, None)
    assert (made.fixed_step, made.experiments) == (1.0, ())
    assert options().kind == Kind("native", "interpreted", (host_platform(),))
    assert options(platforms=["linux64", "x86_64-linux", "linux64"]).kind.platforms == ("linux64",)
    assert names_of(["a", " b "], "variables") == ["a", "b"]
    assert names_of(None, "variables") == []


def test_python_fmus_hold_parts_of_two_packages() -> None:
    assert Kind("python", "interpreted", ()).packages == ("mbfmu", "pythonfmu")
    assert Kind("native", "compiled", ()).packages == ("mbfmu",)


def test_what_is_missing_for_webassembly_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise BuildError("no jco")

    monkeypatch.setattr("mbfmu.export.options.ready_component", missing)
    with pytest.raises(BuildError, match="no jco"):
        options(fmi=3, wasm=True)
    assert not options(fmi=3).wasm


def test_a_kind_says_what_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbfmu.export.options.find_compiler", lambda name: None if name == "win64" else object())
    monkeypatch.setattr("mbfmu.export.native.ready_library", lambda name: None)
    made = options(equations="auto", platforms="linux64,win64").kind
    why = "interpreted (no C compiler for win64): runs 1.2 to 3 times slower than compiled"
    assert str(made) == f"native: linux64, win64, equations {why}"
    assert "(no C compiler):" in str(options(equations="auto", platforms="win64").kind)
    assert str(options(equations="auto", platforms="linux64").kind) == "native: linux64, equations compiled"
