"""Random calls and damaged descriptors under AddressSanitizer and UBSan, with compiled and interpreted equations.

The suite runs a short part of it; this is the long one, with some gallery models:

    python tests/runtime/sanitized.py [CALLS [MODEL ...]]
"""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from damaged import Layout

from mbfmu.export import native
from mbfmu.runtime import build
from mbfmu.runtime.cache import cached
from mbfmu.runtime.compilers import require_compiler
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

HERE = pathlib.Path(__file__).resolve().parent
GUID = "{0123}"
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")

#: Evaluations that one communication step may take here: random values make models that are very fast.
BUDGET = ("-DEVALUATIONS_OF_A_STEP=2000u",)

#: Programs that include the library.
ALONE = ("damage.c", "batch_in_lanes.c")

#: Trees, loops, rolling, events.
MODELS = ("double_pendulum", "planar_four_bar", "rolling_wheel", "engine_1b_analytic")


class NoSanitizer(Exception):
    """The compiler does not know a flag."""


@dataclasses.dataclass(frozen=True)
class Sources:
    """The C sources of a model in a folder, and the descriptor that interpreted equations are read from."""

    folder: pathlib.Path
    equations: Equations
    variables: Sequence[ScalarVariable]
    kind: str

    @classmethod
    def write(
        cls, folder: pathlib.Path, equations: Equations, variables: Sequence[ScalarVariable], kind: str
    ) -> Sources:
        """Write them."""
        if kind == "compiled":
            native.write_sources(equations, variables, GUID, folder)
        else:
            build.write_sources(folder)
        (folder / "resources").mkdir(exist_ok=True)
        native.write_descriptor(equations, variables, GUID, folder / "resources")
        return cls(folder, equations, variables, kind)

    def compile(self, program: str, flags: Sequence[str] = ()) -> pathlib.Path:
        """Compile a program of this folder with the model's library; one that includes it stands alone.

        What was compiled of the same files with the same flags serves again: `library.c` is one for all models.
        """
        (self.folder / program).write_bytes((HERE / program).read_bytes())
        everything = sorted(file for file in self.folder.iterdir() if file.suffix in (".c", ".h"))
        sources = [file for file in everything if file.name == program or not (HERE / file.name).exists()]
        objects = [self._object(program, sources if program in ALONE else [self.folder / program], flags)]
        if program not in ALONE:
            library = [file for file in sources if file.name != program]
            objects += [self._object(unit, library, flags) for unit in self._units()]
        made = self.folder / "program"
        self._call([*flags, "-o", str(made), *map(str, objects), "-lm"])
        return made

    def _units(self) -> list[str]:
        """What the model's library is compiled from."""
        further = sorted(file.name for file in self.folder.glob("equations_*.c"))
        return ["fmu.c" if self.kind == "compiled" else "library.c", *further, *(["model.c"] if further else [])]

    def _object(self, unit: str, reads: Sequence[pathlib.Path], flags: Sequence[str]) -> pathlib.Path:
        """Compile a file that includes none but these and the headers of FMI."""
        made = self.folder / f"{pathlib.Path(unit).stem}.o"
        words = ["-std=c99", "-ffp-contract=off", "-g1", "-O0", *(f for f in flags if not f.startswith("-Wl,"))]

        def make() -> bytes:
            include = ["-I", str(build.headers()), "-I", str(self.folder)]
            self._call([*words, *include, "-c", "-o", str(made), str(self.folder / unit)])
            return made.read_bytes()

        origin = require_compiler().origin([*words, unit], [*reads, *build.headers().iterdir()])
        made.write_bytes(cached(origin, make))
        return made

    def _call(self, words: Sequence[str]) -> None:
        result = subprocess.run([*require_compiler().command, *words], capture_output=True, text=True, check=False)
        if result.returncode:
            if "unrecognized" in result.stderr or "cannot find" in result.stderr:
                raise NoSanitizer(result.stderr[:300])
            raise AssertionError(result.stderr[:3000])

    def run(
        self, program: str, *arguments: object, flags: Sequence[str] = (), under: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Compile a program and run it with GUID, resources and the arguments."""
        command = [*under, str(self.compile(program, flags)), GUID, str(self.folder / "resources")]
        return subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, check=False)

    def fuzz(self, calls: int, seed: int = 1) -> subprocess.CompletedProcess[str]:
        """Make random calls."""
        e = self.equations
        sizes = sum(v.type == "Real" for v in self.variables), e.nx, e.time_switches.count(False)
        return self.run("fuzz.c", calls, seed, *sizes, flags=(*SANITIZERS, *BUDGET))

    def damage(
        self, first: int = 0, stride: int = 1, flags: Sequence[str] = SANITIZERS
    ) -> tuple[int, list[tuple[int, int, bool]], str]:
        """Read the descriptor with each byte changed; returns exit code, what became of each change, and errors."""
        program = self.compile("damage.c", (*flags, *BUDGET))
        descriptor = next((self.folder / "resources").iterdir())
        done = subprocess.run(
            [str(program), str(descriptor), str(first), str(stride)], capture_output=True, text=True, check=False
        )
        changes = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
        return done.returncode, [(place, flip, bool(ran)) for place, flip, ran in changes], done.stderr

    def layout(self) -> Layout:
        """Where everything stands in the descriptor."""
        data = next((self.folder / "resources").iterdir()).read_bytes()
        return Layout(data, self.equations, self.variables, GUID)


def main() -> int:
    """Run the long version."""
    from mbfmu import sources
    from mbfmu.dynamics.system import System

    calls, models = int(sys.argv[1]) if sys.argv[1:] else 500_000, sys.argv[2:] or MODELS
    failures = 0
    for name in models:
        system = System.of(sources.load(name, ()))
        for kind in ("compiled", "interpreted"):
            with tempfile.TemporaryDirectory() as folder:
                made = Sources.write(pathlib.Path(folder), system.equations, system.variables, kind)
                done = made.fuzz(calls)
                print(f"{name}, {kind}: {calls} calls, exit code {done.returncode}", flush=True)
                print(done.stderr[-3000:], end="", flush=True)
                failures += done.returncode != 0
                if kind == "interpreted":
                    code, changes, errors = made.damage()
                    ran, layout = sum(ran for *_, ran in changes), made.layout()
                    wrong = [change for change in changes if layout.verdict(*change[:2]) not in (None, change[2])]
                    print(
                        f"{name}: {len(changes)} bytes changed: {ran} ran, {len(wrong)} wrongly, exit code {code}",
                        flush=True,
                    )
                    failures += code != 0 or bool(wrong)
                    print(errors[-5000:] if code else "", end="", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
