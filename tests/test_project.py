"""The project as it is installed: package list, wheel, entry points, imports."""

from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest

from mbfmu.runtime.compilers import host_platform

#: Folder of the checkout -> name that it is installed under (docs/architecture.md).
FOLDERS = {"mbfmu": "mbfmu", "components": "mbfmu.components", "fmus": "mbfmu.fmus", "templates": "mbfmu.templates"}

#: What is made in these folders; libraries are looked at on their own.
SKIPPED = {"__pycache__", "libraries", "page"}


def shipped(root: pathlib.Path) -> list[pathlib.Path]:
    """Return every file of the four folders that an installation must hold."""
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.is_file()]
    return [path for path in files if SKIPPED.isdisjoint(path.parts) and path.suffix not in (".fmu", ".pyc")]


def installed_name(path: pathlib.Path, root: pathlib.Path) -> str:
    """Return where a file of the checkout stands in a wheel."""
    first, *rest = path.relative_to(root).parts
    return "/".join([*FOLDERS[first].split("."), *rest])


def test_every_folder_with_python_files_is_a_listed_package(root: pathlib.Path) -> None:
    listed = set(tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"])
    modules = [installed_name(path, root) for path in shipped(root) if path.suffix == ".py"]
    assert {module.rpartition("/")[0].replace("/", ".") for module in modules} == listed
    for folder in FOLDERS:
        for path in (root / folder).rglob("*.py"):
            assert (path.parent / "__init__.py").is_file(), f"{path.parent} holds modules but no __init__.py"


def test_the_repository_has_texts_and_pictures_alone(root: pathlib.Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is no checkout of git")
    files = [root / name for name in listed.stdout.split("\0")[:-1]]
    others = [file for file in files if file.is_file() and file.suffix not in (".jpg", ".png", ".webp")]
    assert not [file for file in others if b"\0" in file.read_bytes()]  # what is made goes to build/


@pytest.fixture(scope="module")
def checkout(root: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A copy of what a wheel is built from, with a library of an earlier build for another platform."""
    copy = tmp_path_factory.mktemp("checkout")
    for folder in (*FOLDERS, "distribution"):
        shutil.copytree(root / folder, copy / folder, ignore=shutil.ignore_patterns(*SKIPPED, "*.fmu"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(root / name, copy / name)
    stale = copy / "mbfmu" / "runtime" / "libraries" / "darwin64" / "mbfmu.dylib"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"of an earlier build")
    return copy


def hook(checkout: pathlib.Path, call: str, **environment: str) -> str:
    """Return what a function of the build backend returns where nothing that mbfmu needs is installed."""
    code = f"""
import sys
sys.modules |= dict.fromkeys(("numpy", "scipy", "casadi", "lxml", "ziglang"))
sys.path.insert(0, ".")
from distribution import backend
print(backend.{call})
"""
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(
        command, cwd=checkout, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.campaign  # what the workflow of wheels makes with each change of main, too
def test_a_wheel_holds_every_file_and_the_library_of_this_machine(
    root: pathlib.Path, checkout: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    name = hook(checkout, f"build_wheel({str(tmp_path)!r})")
    assert re.fullmatch(r"mbfmu-[\d.]+-py3-none-(?!any)\w+\.whl", name)
    with zipfile.ZipFile(tmp_path / name) as wheel:
        held = set(wheel.namelist())
        assert {entry.date_time for entry in wheel.infolist()} == {(1980, 1, 1, 0, 0, 0)}  # the same bytes on any day
        wheel.extractall(tmp_path / "installed")
    assert {installed_name(path, root) for path in shipped(root)} - held == set()
    assert "mbfmu/components/joints/elementary.pyi" in held
    host = host_platform()
    assert {file.split("/")[3] for file in held if file.startswith("mbfmu/runtime/libraries/")} == {host}
    code = f"from mbfmu.runtime import build; print(build.is_current({host!r}), build.LIBRARIES)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "installed", capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", str(tmp_path / "installed" / "mbfmu" / "runtime" / "libraries")]


@pytest.mark.slow
def test_a_source_distribution_holds_what_a_wheel_is_built_from_and_no_library(
    root: pathlib.Path, checkout: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    name = hook(checkout, f"build_sdist({str(tmp_path)!r})")
    with tarfile.open(tmp_path / name) as archive:
        held = {file.partition("/")[2] for file in archive.getnames()}
    assert {path.relative_to(root).as_posix() for path in shipped(root)} - held == set()
    assert {"distribution/backend.py", "pyproject.toml", "MANIFEST.in"} <= held
    assert [file for file in held if "libraries/" in file] == []


@pytest.mark.slow
@pytest.mark.campaign
def test_ziglang_is_asked_for_only_where_it_is_needed(checkout: pathlib.Path, tmp_path: pathlib.Path) -> None:
    compiler = tmp_path / "gcc"
    compiler.touch(mode=0o755)
    for kind in ("wheel", "editable"):
        requires = f"get_requires_for_build_{kind}"
        assert "ziglang" not in hook(checkout, f"{requires}()", PATH=str(tmp_path), CC="")
        assert "ziglang" in hook(checkout, f"{requires}()", PATH=str(checkout), CC="")
        assert "ziglang" in hook(checkout, f"{requires}({{'platforms': 'win64'}})", PATH=str(tmp_path), CC="")


@pytest.mark.parametrize("group", ["mbfmu.components", "mbfmu.assemblies"])
def test_entry_points_load(group: str, root: pathlib.Path) -> None:
    declared = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"][group]
    entries = {entry.name: entry for entry in importlib.metadata.entry_points(group=group)}
    assert set(declared) <= set(entries), "run `pip install -e .` again: pyproject.toml declares more than is installed"
    for name in declared:
        entries[name].load()


@pytest.mark.slow
@pytest.mark.parametrize("folder", [".", "mbfmu"])
def test_subpackages_import_from_any_working_directory(folder: str, root: pathlib.Path) -> None:
    code = "import mbfmu.components, mbfmu.fmus, mbfmu.templates; print(mbfmu.components.__path__[0])"
    done = subprocess.run([sys.executable, "-c", code], cwd=root / folder, capture_output=True, text=True, check=True)
    assert pathlib.Path(done.stdout.strip()).name == "components"


def test_a_checkout_needs_no_installation_for_its_subpackages(root: pathlib.Path) -> None:
    # -S leaves site-packages out, and with it the editable installation's own mapping
    done = subprocess.run(
        [sys.executable, "-S", "-c", "import mbfmu, importlib.util as u; print(u.find_spec('mbfmu.templates').origin)"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert pathlib.Path(done.stdout.strip()) == root / "templates" / "__init__.py"


@pytest.mark.slow
@pytest.mark.parametrize("module", ["mbfmu", "mbfmu.cli"])
def test_import_stays_light(module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"casadi", "scipy", "numpy", "matplotlib", "fmpy", "lxml"}


@pytest.mark.slow
def test_simulation_and_studies_import_packages_of_scipy_when_they_are_used() -> None:
    """They took half of the time that an import took."""
    modules = "animation", "cosimulation", "export.build", "simulation", "studies.equilibrium", "studies.fit"
    imports = "; ".join(f"import mbfmu.{name}" for name in (*modules, "studies.linearize", "studies.sweep"))
    code = f"import json, sys; {imports}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {name.split(".")[1] for name in json.loads(done.stdout) if name.startswith("scipy.")}
    assert {name for name in packages if not name.startswith("_")} <= {"version"}


@pytest.mark.slow
def test_an_assembly_is_loaded_without_the_others() -> None:
    code = "import json, sys, mbfmu; mbfmu.load('double_pendulum'); print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert {name for name in loaded if name.startswith("mbfmu.fmus.")} == {"mbfmu.fmus.double_pendulum"}
    assert not loaded & {"scipy.linalg", "lark"}


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    "first", ["import mbfmu.simulation", "from mbfmu.simulation import Result", "import mbfmu.cli"]
)
def test_simulate_is_the_function_whatever_was_imported_first(first: str) -> None:
    code = f"{first}; import mbfmu; from mbfmu import simulate; assert mbfmu.simulate is simulate; print(simulate)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("<function simulate")


def test_every_public_name_exists() -> None:
    import mbfmu

    for name in mbfmu.__all__:
        assert getattr(mbfmu, name) is not None
    assert mbfmu.__version__ == importlib.metadata.version("mbfmu")
    with pytest.raises(AttributeError, match="no attribute 'Assembley'"):
        _ = mbfmu.Assembley


def test_the_release_has_one_version_and_its_notes(root: pathlib.Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (root / "CITATION.cff").read_text("utf-8")
    version, date = (re.search(rf"^{key}: (\S+)$", citation, re.M)[1] for key in ("version", "date-released"))  # type: ignore[index]
    assert version == project["version"]
    assert f"\n## {version} - {date}\n" in (root / "CHANGELOG.md").read_text("utf-8")


def test_workflows_try_the_versions_of_python_that_are_promised(root: pathlib.Path) -> None:
    import yaml

    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    jobs = yaml.safe_load((root / ".github" / "workflows" / "tests.yml").read_text("utf-8"))["jobs"]
    matrix = jobs["core"]["strategy"]["matrix"]
    assert matrix["python"] == promised
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "windows", "macos"}
    assert f">={promised[0]}" == project["requires-python"]
    for path in (root / ".github" / "workflows").iterdir():
        for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items():
            used = [step["uses"] for step in job["steps"] if "uses" in step]
            assert all("@" in action for action in used), name  # a version is named
            for step in job["steps"]:
                for target in re.findall(r"^make (\w+)", step.get("run", ""), re.M):
                    assert f"\n{target}:" in (root / "Makefile").read_text("utf-8")


def test_the_oldest_versions_are_the_bounds_of_every_dependency(root: pathlib.Path) -> None:
    from distribution.oldest import constraints

    found = constraints(root / "pyproject.toml")
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert len(found) == len({line.split("==")[0] for line in found}), "each once, or pip knows two versions"
    assert [line.replace("==", ">=") for line in found][: len(project["dependencies"])] == project["dependencies"]
    assert {"pytest", "mkdocs-material"} <= {line.split("==")[0] for line in found}


def test_what_the_core_names_exists(root: pathlib.Path) -> None:
    """The Makefile and the workflow name the same folders."""
    makefile = (root / "Makefile").read_text("utf-8")
    (core,) = re.findall(r"^core: .*\n\t.*?((?: tests/\w+)+)$", makefile, re.M)
    assert len(core.split()) == 5
    assert [path for path in core.split() if not (root / path).is_dir()] == []
    assert core in (root / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    assert '-m "not slow"' in makefile
