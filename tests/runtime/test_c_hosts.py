"""C programs linked with the sources of an FMU: random calls under sanitizers, memory, real time, warnings."""

from __future__ import annotations

import functools
import itertools
import shutil
import subprocess
import sys

import pytest
from hand_made_models import called_spring, everything, iterated, oscillator, pendulum_beside_a_place, stiff_drive
from hosts import FMUS, model_and_variables
from sanitized import BUDGET, SANITIZERS, NoSanitizer, Sources
from thrown_ball import thrown_ball

from mbfmu.components.contact import RigidContact
from mbfmu.runtime import build
from mbfmu.runtime.cache import cached
from mbfmu.runtime.compilers import find_compiler
from mbfmu.runtime.references import value_references

pytestmark = [
    pytest.mark.skipif(find_compiler() is None, reason="no C compiler"),
    pytest.mark.usefixtures("compiler_with_sanitizers"),
]


@pytest.fixture(params=FMUS)
def made(request, tmp_path):
    """Return a function that writes the sources of a model, its equations compiled or interpreted."""

    def write(model, **options):
        return Sources.write(tmp_path, *model_and_variables(model, **options), request.param)

    return write


def sequences(made, count, **options):
    """Drive a model through random sequences of calls, each status compared with the standard."""
    references = dict(zip((v.name for v in made.variables), value_references(made.variables), strict=True))
    sizes = made.equations.nx, made.equations.time_switches.count(False)
    try:
        return made.run("state_machine.c", count, references["u"], references["damping"], *sizes, **options)
    except NoSanitizer as error:
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.campaign("interpreted-everything-auto-1000", keep=1)
@pytest.mark.parametrize(
    ("made", "model", "solver", "count"),
    [
        *(("compiled", model, "auto", count) for model, count in ((everything, 1000), (iterated, 100))),
        *(("interpreted", model, "auto", count) for model, count in ((everything, 1000), (iterated, 100))),
        ("interpreted", everything, "implicit", 100),  # a setting, for which a compiler would take its time again
    ],
    indirect=["made"],
)
def test_random_sequences_meet_no_wrong_status_and_no_undefined_behaviour(made, model, solver, count, campaign):
    run = sequences(made(model, solver=solver), campaign(count, 10_000), flags=(*SANITIZERS, *BUDGET))
    assert run.stderr == ""
    assert run.returncode == 0


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not there")
@pytest.mark.usefixtures("users_compiler")  # whose debug information it reads
def test_valgrind_finds_no_use_of_values_that_were_never_set(made):
    run = sequences(made(everything), 6, under=("valgrind", "-q", "--error-exitcode=9", "--leak-check=full"))
    assert run.stderr == ""
    assert run.returncode == 0


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("made", "model"),
    [*itertools.product(FMUS, (everything, iterated)), ("interpreted", stiff_drive)],
    indirect=["made"],
)
def test_random_calls_with_random_values_have_no_undefined_behaviour(made, model, campaign):
    try:
        run = made(model).fuzz(campaign(1500, 200_000))
    except NoSanitizer as error:
        pytest.skip(str(error))
    assert run.stderr == ""
    assert run.returncode == 0


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("kind", FMUS)
def test_random_calls_of_a_mechanism_have_no_undefined_behaviour(tmp_path, kind, gallery_system, campaign):
    system = gallery_system("planar_four_bar")
    try:
        run = Sources.write(tmp_path, system.equations, system.variables, kind).fuzz(campaign(300, 200_000))
    except NoSanitizer as error:
        pytest.skip(str(error))
    assert run.stderr == ""
    assert run.returncode == 0


@functools.cache
def rubbing_ball():
    """A ball that meets the ground, and rubs on it."""
    system = thrown_ball(RigidContact(geometry_a="ball", geometry_b="ground", e=0.5, mu_k=0.3))
    return system.equations, system.variables


@pytest.mark.slow
@pytest.mark.campaign("points", keep=3)
@pytest.mark.parametrize(
    ("model", "flags", "stride"),
    [
        (everything, (), 7),
        (everything, SANITIZERS, 379),
        (iterated, (), 7),
        (pendulum_beside_a_place, (), 7),
        (called_spring, (), 3),
        (called_spring, SANITIZERS, 17),
        (rubbing_ball, (), 101),
        (rubbing_ball, SANITIZERS, 1201),
    ],
    ids=["plain", "sanitized", "iterated", "parts", "calls", "sanitized calls", "points", "sanitized points"],
)
def test_damaged_descriptors_are_refused_or_run(tmp_path, model, flags, stride):
    """Every byte is flipped in turn by sanitized.py; here some are, and the checksum mended.

    Without that, damage.c sees to it that every change is refused.
    """
    made = Sources.write(tmp_path, *model_and_variables(model), "interpreted")
    try:
        code, changes, errors = made.damage(stride // 2, stride, flags)
    except NoSanitizer as error:
        pytest.skip(str(error))
    assert code == 0, errors[-3000:]
    layout = made.layout()
    verdicts = [layout.verdict(place, flip) for place, flip, _ in changes]
    wrong = [
        (layout.part(place), place, flip, ran)
        for (place, flip, ran), verdict in zip(changes, verdicts, strict=True)
        if verdict not in (None, ran)
    ]
    assert wrong == []
    assert verdicts.count(None) < 0.15 * len(verdicts)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ten_thousand_instances_leave_nothing_behind(made):
    run = made(everything).run("many_instances.c", 10_000)
    assert run.returncode == 0
    assert int(run.stdout) < 200


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.skipif(sys.platform != "linux", reason="wraps functions as GNU ld does")
@pytest.mark.parametrize("model", [everything, iterated])
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_fixed_steps_never_allocate(made, model, solver):
    flags = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc")]
    run = made(model, solver=solver, fixed_step=0.005).run("no_allocation.c", flags=flags)
    assert run.returncode == 0


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("model", "kind"),
    [(oscillator, "compiled"), (everything, "compiled"), (iterated, "compiled"), (oscillator, "interpreted")],
)
@pytest.mark.usefixtures("users_compiler")
def test_the_sources_compile_without_warnings(tmp_path, model, kind):
    """But for the equations, which are written, and for what a model with constant sizes does not use.

    Interpreted equations are no part of the sources: these are the same for all models.
    """
    Sources.write(tmp_path, *model_and_variables(model), kind)
    main = "fmu.c" if kind == "compiled" else "library.c"
    text = (tmp_path / "functions.c").read_text()
    quiet = '#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored "-Wunused-parameter"\n'
    quiet += '#pragma GCC diagnostic ignored "-Wmisleading-indentation"\n'
    text = text.replace("#include EQUATIONS", f"{quiet}#include EQUATIONS\n#pragma GCC diagnostic pop")
    (tmp_path / "functions.c").write_text(text)
    flags = ["-std=c99", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-type-limits"]
    flags += ["-Wno-unused-parameter", "-Wno-unused-function", "-Wno-div-by-zero"] if kind == "compiled" else []
    command = [*find_compiler().command, *flags, "-I", str(build.headers()), "-c", main, "-o", "object.o"]

    def compiled() -> bytes:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert done.returncode == 0
        return (tmp_path / "object.o").read_bytes()

    files = [*tmp_path.glob("*.[ch]"), *build.headers().iterdir()]
    assert cached(find_compiler().origin([*flags, main], files), compiled)
