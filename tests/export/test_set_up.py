"""What set-up makes by other programs, without these; and small files that FMUs hold, by FMI's schemas."""

from __future__ import annotations

import ctypes
import errno
import os
import pathlib
import re
import shutil
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lxml import etree

from mbfmu import Assembly
from mbfmu.components import Body, BodyShape, FixedTranslation, Revolute, World
from mbfmu.errors import BuildError
from mbfmu.export import archive, elimination, layered_dae, layered_wasm, native, python
from mbfmu.export.model_description_3 import build_description
from mbfmu.fmi.rules import schema_violations
from mbfmu.runtime import arguments, build, cache, host, npm
from mbfmu.runtime.compilers import find_compiler, host_platform
from mbfmu.runtime.library import RuntimeLibraryError
from mbfmu.scene import bundle
from mbfmu.scene.grips import Grip, with_grips
from mbfmu.scene.ranges import _is_effort

posix = pytest.mark.skipif(os.name != "posix", reason="runs scripts of a shell")

# -- npm and the program of the page


@posix
@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo first >&2; echo last line >&2; echo >&2; exit 3", "page: sh: last line"),
        ("exit 1", "page: sh: it failed without a message"),
    ],
)
def test_programs_that_fail_are_told_by_their_last_line(script: str, words: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(BuildError) as told:
        npm.run([shutil.which("sh") or "sh", "-c", script], tmp_path, "page")
    assert str(told.value) == words
    npm.run([shutil.which("sh") or "sh", "-c", "echo noise >&2; echo made > here"], tmp_path, "page")
    assert (tmp_path / "here").read_text() == "made\n"


def test_programs_that_are_not_there_are_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BuildError, match=r"^page: .*No such file"):
        npm.run([str(tmp_path / "none")], tmp_path, "page")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(BuildError, match=r"^page: npm is not installed; install Node\.js"), npm.workplace([], "page"):
        pass


@posix
def test_the_page_is_bundled_from_its_sources_and_knows_when_they_change(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an npm that installs an esbuild, which says what it was asked for."""
    sources, made = tmp_path / "sources", tmp_path / "page" / "viewer.js"
    sources.mkdir()
    for name in ("package.json", "viewer.js", "stage.js"):
        (sources / name).write_text(f"{name}\n")
    (sources / "notes.txt").write_text("left out")
    fake = tmp_path / "npm"
    fake.write_text(
        "#!/bin/sh\nmkdir -p node_modules/.bin\n"
        "printf '#!/bin/sh\\necho \"$@\" *.js* *.txt > bundled.js\\n' > node_modules/.bin/esbuild\n"
        "chmod +x node_modules/.bin/esbuild\n"
    )
    fake.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(fake))
    monkeypatch.setattr(bundle, "SOURCES", sources)
    monkeypatch.setattr(bundle, "BUNDLE", made)
    assert not bundle.is_current()
    assert bundle.make_bundle() == made
    assert bundle.is_current()
    mark, script = made.read_text().splitlines()
    assert mark.startswith("// mbfmu viewer ")
    assert script.startswith("viewer.js --bundle --minify --format=iife ")
    assert script.endswith("--outfile=bundled.js package.json stage.js viewer.js *.txt")
    (sources / "notes.txt").write_text("changed")
    assert bundle.is_current()
    (sources / "stage.js").write_text("changed")
    assert not bundle.is_current()


# -- files in FMUs


def test_descriptions_of_sources_and_manifests_obey_the_schemas_of_fmi() -> None:
    sources = etree.fromstring(build_description("crane", ["crane.c", "a/b.c"]))
    assert list(schema_violations(sources, "fmi3/fmi3BuildDescription.xsd", "sources")) == []
    assert [one.get("name") for one in sources.iter("SourceFile")] == ["crane.c", "a/b.c"]
    (library,) = sources.iter("Library")
    assert (library.get("name"), library.get("external")) == ("m", "true")
    assert sources.find("BuildConfiguration").get("modelIdentifier") == "crane"
    manifest = etree.fromstring(layered_wasm.manifest())
    assert list(schema_violations(manifest, "fmi3/fmi3LayeredStandardManifest.xsd", "manifest")) == []
    name = "{http://fmi-standard.org/fmi-ls-manifest}fmi-ls-"
    assert (manifest.get(f"{name}name"), manifest.get(f"{name}version")) == (layered_wasm.NAME, layered_wasm.VERSION)


def test_webassembly_is_written_with_its_manifests_or_says_where_it_cannot(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layered_wasm, "descriptor", lambda *given, **_: repr(given[-1]).encode())
    monkeypatch.setattr(layered_wasm, "component_of", lambda description: b"wasm of " + description)
    path = layered_wasm.write_component(None, (), "crane", "{1}", None, tmp_path)  # type: ignore[arg-type]
    assert path == tmp_path / "binaries" / layered_wasm.PLATFORM / "crane.wasm"
    assert path.read_bytes() == b"wasm of '{1}'"
    for manifest in layered_wasm.MANIFESTS:
        assert (tmp_path / manifest).read_bytes() == layered_wasm.manifest()
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(BuildError, match=r"^cannot write .*taken.*: .*; choose a folder that can be written"):
        layered_wasm.write_component(None, (), "crane", "{1}", None, tmp_path / "taken")  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
def test_a_full_disk_is_told_with_the_file_and_leaves_nothing(number: int, tmp_path: pathlib.Path) -> None:
    target = tmp_path / "crane.fmu"
    target.write_text("before")
    with pytest.raises(BuildError, match=r"crane\.fmu: cannot be written \(.+\); make room, or choose another folder"):
        fail(target, OSError(number, os.strerror(number)))
    assert [file.name for file in tmp_path.iterdir()] == ["crane.fmu"]
    assert target.read_text() == "before"


def fail(target: pathlib.Path, error: OSError) -> None:
    with archive.replacing(target):
        raise error


def test_other_errors_of_a_file_stay_what_they_are(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="busy"):
        fail(tmp_path / "crane.fmu", OSError(errno.EBUSY, "busy"))

    def in_use(_: pathlib.Path, __: pathlib.Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(pathlib.Path, "replace", in_use)
    message = r"crane\.fmu: cannot be replaced \(Permission denied\); close what uses it"
    with pytest.raises(BuildError, match=message), archive.replacing(tmp_path / "crane.fmu"):
        pass
    assert not list(tmp_path.iterdir())


# -- libraries of platforms


def test_libraries_for_arm_stand_where_importers_of_fmi_2_look(tmp_path: pathlib.Path) -> None:
    """Under the names of x86, but where there is an FMU's own library for that."""
    for folder, platforms in (("arm", ["aarch64-linux", "aarch64-windows"]), ("both", ["aarch64-linux", "linux64"])):
        for name in platforms:
            (tmp_path / folder / "binaries" / name).mkdir(parents=True)
            (tmp_path / folder / "binaries" / name / "crane.so").write_text(name)
        native.stand_in(tmp_path / folder, platforms)
        found = {file.parent.name: file.read_text() for file in (tmp_path / folder).rglob("crane.so")}
        assert found == {name: name for name in platforms} | (
            {"linux64": "aarch64-linux", "win64": "aarch64-windows"} if folder == "arm" else {}
        )


def test_a_library_that_is_out_of_date_is_made_where_there_is_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(native.runtime, "is_current", lambda platform: platform in made)
    monkeypatch.setattr(native.runtime, "build_libraries", made.append)
    monkeypatch.setattr(native, "find_compiler", lambda platform: object() if platform != "wasm32" else None)
    for _ in range(2):
        assert native.ready_library("win64") == native.runtime.library("win64")
    assert made == ["win64"]
    with pytest.raises(BuildError, match=r"no runtime library for wasm32: .*`pip install ziglang`"):
        native.ready_library("wasm32")
    assert made == ["win64"]


def test_without_libraries_of_pythonfmu_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """The platforms are those for which pythonfmu has a library and we have or can make one."""
    (tmp_path / "linux64").mkdir()
    (tmp_path / "linux64" / "host").touch()
    (tmp_path / "win64").mkdir()
    monkeypatch.setattr(python, "_host_library", lambda platform: tmp_path / platform / "host")
    monkeypatch.setattr(native, "ready_library", lambda platform: None)
    for current, compiler, expected in ((True, None, ["linux64"]), (False, 1, ["linux64"]), (False, None, [])):
        monkeypatch.setattr(python.runtime, "is_current", lambda name, current=current: current)
        monkeypatch.setattr(python, "find_compiler", lambda name, compiler=compiler: compiler)
        if expected:
            assert python.platforms() == expected
        else:
            with pytest.raises(BuildError, match=r"needs the libraries of pythonfmu .* win64: .*mbfmu\[cross\]"):
                python.platforms()
    with pytest.raises(BuildError, match=r"^pythonfmu [0-9.]+ has no library for win64; .*--force-reinstall pythonfmu"):
        python._write_libraries(tmp_path / "binaries", "crane", "win64")
    assert not (tmp_path / "binaries").exists()


@pytest.mark.parametrize("where", ["file", "folder"])
def test_a_manifest_that_cannot_be_written_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, where: str
) -> None:
    monkeypatch.setattr(layered_dae, "manifest", lambda *_: b"manifest")
    if where == "file":
        (tmp_path / layered_dae.MANIFEST).mkdir(parents=True)
    else:
        (tmp_path / layered_dae.MANIFEST).parent.parent.mkdir(parents=True)
        (tmp_path / layered_dae.MANIFEST).parent.touch()
    with pytest.raises(BuildError, match=r"^cannot write .*: .+; choose a folder that can be written"):
        layered_dae.write_manifest(tmp_path, None, None, b"")  # type: ignore[arg-type]


# -- eliminations that are written out


def run_c(body: str, **known: Any) -> None:
    """Run the statements of a function of C, which with other signs are those of Python."""
    for line in body.splitlines():
        text = line.strip().rstrip(";").replace("s->system.", "").replace("fabs", "abs")
        if text and not re.match("const |for |return |double worst", text):
            text = re.sub(r"size = abs\((sum = .*)\)", r"\1; size = abs(sum)", text.removeprefix("double "))
            text = re.sub(r"(.* = )(z\d+) ([*]= .*)", r"\2 \3; \1\2", text)
            exec(re.sub(r", (sum|size|sizes\[\d\]) ", r"; \1 ", text), known)


def test_an_elimination_solves_its_system() -> None:
    """Of a matrix that is not symmetric, with a fill-in and with pivots apart from its diagonal; as numpy does."""
    A = np.array([[0.0, 2.0, 0.0, 5.0], [3.0, 0.0, 0.0, 1.0], [0.0, -1.0, 4.0, 0.0], [7.0, 0.5, 0.0, 0.0]])
    b = np.array([1.0, -2.0, 3.0, 0.25])
    sparsity = [(int(i), int(j)) for i, j in zip(*np.nonzero(A), strict=True)]
    made = elimination.written_out(sparsity, [(2, 2), (0, 1), (3, 0), (1, 3)])
    assert made is not None
    factorise, substitute, residual = re.findall(r"INTERNAL [^\n]*\n\{(.*?)\n\}", made.code, re.DOTALL)
    factors: dict[int, float] = {}
    entries, unknowns, solution = [A[place] for place in sparsity], np.zeros(4), np.zeros(4)
    run_c(factorise, a=entries, sparse=factors)
    run_c(substitute, x=factors, b=b, unknowns=unknowns, solution=solution)
    assert len(factors) == made.factors == len(sparsity) + 1
    assert unknowns == pytest.approx(np.linalg.solve(A, b), rel=1e-14)
    assert solution == pytest.approx(unknowns[[2, 1, 0, 3]], rel=1e-14)
    other, left, sizes = np.array([3.0, -1.0, 0.5, 2.0]), np.zeros(4), np.zeros(4)
    run_c(residual, a=entries, z=other[[2, 1, 0, 3]], b=b, residual=left, sizes=sizes)
    assert left == pytest.approx(b - A @ other)
    assert sizes == pytest.approx(np.abs(b) + np.abs(A) @ np.abs(other))


@pytest.mark.parametrize(("most", "written"), [(5, True), (4, False)])
def test_only_short_eliminations_are_written_out(monkeypatch: pytest.MonkeyPatch, most: int, written: bool) -> None:
    """A full matrix of three rows takes 2 * 2 + 1 products; one without rows, none."""
    monkeypatch.setattr(elimination, "MOST_PRODUCTS", most)
    full = [(i, j) for i in range(3) for j in range(3)]
    assert (elimination.written_out(full, [(0, 0), (1, 1), (2, 2)]) is not None) == written
    assert elimination.written_out([], []) is None


# -- small parts


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "~/.cache/mbfmu"), ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/mbfmu"),
        ("darwin", {"XDG_CACHE_HOME": "/xdg"}, "~/Library/Caches/mbfmu"), ("win32", {}, "~/AppData/Local/mbfmu"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/mbfmu"), ("linux", {"MBFMU_CACHE": "/own"}, "/own"),
        ("win32", {"MBFMU_CACHE": "0"}, None), ("darwin", {"MBFMU_CACHE": ""}, None),
    ],
)  # fmt: skip
def test_the_cache_is_where_each_system_has_its_caches(
    platform: str, variables: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MBFMU_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache.folder() == (None if expected is None else pathlib.Path(expected).expanduser())


def test_old_names_of_arguments_are_taken_but_not_beside_the_new_ones() -> None:
    @arguments.renamed(stop="stop_time")
    def run(stop_time: float = 0.0) -> float:
        return stop_time

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert run(stop=2.0) == 2.0  # type: ignore[call-arg]
        assert run(stop_time=3.0) == 3.0
    assert [str(one.message).partition(";")[0] for one in told] == ["stop= of run() is called stop_time= now"]
    with pytest.raises(TypeError, match=r"run\(\) got stop_time, and stop, its old name; leave stop out"):
        run(stop=2.0, stop_time=3.0)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("unit", "effort"), [("N", True), ("kN", True), ("N.m", True), ("m", False), ("", False), ("apples", False)]
)
def test_forces_and_torques_are_efforts(unit: str, effort: bool) -> None:
    assert _is_effort(unit) is effort


@pytest.mark.parametrize("inner", ["", ".body"], ids=["body", "body within a shape"])
def test_a_grip_tells_the_references_of_all_that_it_takes_or_nothing(inner: str) -> None:
    taken = ("grip1.force", "grip1.torque", "arm.r_0", "arm.a_0", f"arm{inner}.z_a")
    names = [f"{name}[{i}]" for name in taken for i in (1, 2, 3)]
    elements: dict[str, Any] = {name: SimpleNamespace(reference=k) for k, name in enumerate(names)}
    grip = Grip("grip1", "arm")
    assert grip.entry(elements) == {
        "component": "arm", "force": [0, 1, 2], "torque": [3, 4, 5], "r": [6, 7, 8], "a": [9, 10, 11],
        "z": [12, 13, 14],
    }  # fmt: skip
    assert [grip.owns(name) for name in ("grip1.force[1]", "grip10.force[1]", "arm.r_0[1]")] == [True, False, False]
    for name in ("grip1.torque[2]", f"arm{inner}.z_a[3]"):
        assert grip.entry({key: value for key, value in elements.items() if key != name}) is None


class Crane(Assembly):
    """Two bodies of its own, one within a part, and a part whose name a grip would take."""

    def __init__(self) -> None:
        self.world, self.hinge = World(), Revolute()
        self.grip1 = FixedTranslation(r=(1, 0, 0))
        self.arm, self.load = Body(m=2.0, r_CM=(0.5, 0, 0)), Body(m=3.0, r_CM=(0, 0, 0))
        self.rod = BodyShape(m=1.0, r=(1, 0, 0), r_CM=(0.5, 0, 0))
        self.connect(self.world.frame_b, self.hinge.frame_a)
        for frame in (self.arm.frame_a, self.grip1.frame_a, self.rod.frame_a):
            self.connect(self.hinge.frame_b, frame)
        self.connect(self.grip1.frame_b, self.load.frame_a)


def test_bodies_of_a_machine_have_grips_in_a_copy_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is taken gets a sign more; what cannot be copied has none."""
    crane = Crane()
    twin, grips = with_grips(crane)
    assert [(grip.name, grip.body) for grip in grips] == [("grip1_", "arm"), ("grip2", "load"), ("grip3", "rod")]
    assert twin is not crane
    assert not hasattr(crane, "grip2")
    assert type(twin.grip2).__name__ == "WorldForceAndTorque"
    monkeypatch.setattr(Crane, "copy_obstacle", "its equations are elsewhere")
    assert with_grips(crane) == (crane, ())


@pytest.mark.parametrize("error", [BuildError, RuntimeLibraryError])
def test_a_runtime_that_cannot_be_made_is_told_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fails(_: object) -> None:
        raise error("for reasons")

    monkeypatch.setattr(host, "is_current", lambda _: False)
    monkeypatch.setattr(host, "build_libraries", fails if error is BuildError else lambda _: None)
    monkeypatch.setattr(host, "Library", fails)
    with pytest.raises(
        BuildError, match=r"another version, and cannot be made: for reasons; install mbfmu again: python"
    ):
        host.host_library.__wrapped__()


@pytest.mark.slow
def test_libraries_are_those_of_their_sources_and_none_is_written_where_one_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    platform = host_platform()
    if find_compiler(platform) is None:
        pytest.skip("no C compiler")
    shown = '__attribute__((visibility("default")))'
    texts = {source: f"{shown} int of(void) {{ return {k}; }}\n" for k, source in enumerate(build.NAMES)}
    monkeypatch.setattr(build, "LIBRARIES", tmp_path)
    monkeypatch.setattr(
        build, "write_sources", lambda folder: [(folder / name).write_text(text) for name, text in texts.items()]
    )
    last, titles = list(texts)[-1], list(build._names(platform).values())
    good, texts[last] = texts[last], "none\n"
    with pytest.raises(BuildError, match="the C compiler failed"):
        build.build_libraries(platform)
    assert list(tmp_path.rglob("*")) == []
    texts[last] = good
    made = build.build_libraries(platform)
    assert made == [build.library(platform, title) for title in titles]
    assert [ctypes.CDLL(str(path)).of() for path in made] == list(range(len(titles)))
    assert build.is_current(platform)
