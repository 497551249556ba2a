"""The project as it is installed: package list, wheel, entry points, imports."""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest

#: Folder of the checkout -> name that it is installed under (docs/architecture.md).
FOLDERS = {"mbfmu": "mbfmu", "components": "mbfmu.components", "fmus": "mbfmu.fmus", "templates": "mbfmu.templates"}


def shipped(root: pathlib.Path) -> list[pathlib.Path]:
    """Return every file of the four folders that an installation must hold."""
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.is_file()]
    return [path for path in files if "__pycache__" not in path.parts and path.suffix not in (".fmu", ".pyc")]


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


def test_a_wheel_holds_every_file(root: pathlib.Path, tmp_path: pathlib.Path) -> None:
    source = tmp_path / "source"
    skip = shutil.ignore_patterns("__pycache__", "*.fmu")
    for folder in FOLDERS:
        shutil.copytree(root / folder, source / folder, ignore=skip)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--wheel-dir", str(tmp_path), str(source)], check=True)
    (wheel,) = tmp_path.glob("mbfmu-*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    assert {installed_name(path, root) for path in shipped(root)} - held == set()


@pytest.mark.parametrize("group", ["mbfmu.components", "mbfmu.assemblies"])
def test_entry_points_load(group: str, root: pathlib.Path) -> None:
    declared = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"][group]
    entries = {entry.name: entry for entry in importlib.metadata.entry_points(group=group)}
    assert set(declared) <= set(entries), "run `pip install -e .` again: pyproject.toml declares more than is installed"
    for name in declared:
        entries[name].load()


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


@pytest.mark.parametrize("module", ["mbfmu", "mbfmu.cli"])
def test_import_stays_light(module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"casadi", "scipy", "numpy", "matplotlib", "fmpy", "lxml"}


@pytest.mark.parametrize("first", ["import mbfmu.simulate", "from mbfmu.simulate import Result", "import mbfmu.cli"])
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
