"""Resolves what the command line calls SOURCE to an assembly: gallery name, Python file, module, assembly file, or a
file of another format (mbfmu.importers)."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pathlib
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from mbfmu import importers
from mbfmu.errors import MbfmuError, ModelError
from mbfmu.messages import suggestion
from mbfmu.modeling import Assembly, Start
from mbfmu.modeling.component import Component
from mbfmu.modeling.declarations import Variable
from mbfmu.modeling.registry import assemblies
from mbfmu.modeling.user_code import described, place
from mbfmu.runtime.arguments import names, number_in

T = TypeVar("T")

FORMS = (
    "a gallery name (`mbfmu list`), file.py, file.py:Class, module:Class, model.toml, or a file of another format "
    f"({', '.join(sorted(importers.IMPORTERS))})"
)


def load(source: str | pathlib.Path, settings: Sequence[str] = (), **options: Any) -> Assembly:
    """Return the assembly that `source` names, with `settings` (each `name=value`) applied.

    A setting names a parameter of the assembly's constructor, or, dotted, a parameter or start value of one of its
    components: `boxBody1.density=2700`, `revolute1.phi=0.3`. `options` are those of readers of other formats, such as
    `floating=True` (docs/urdf.md, docs/mjcf.md); None stands for the reader's default.

    Raises `ModelError` where the source, a setting or an option does not exist or the assembly cannot be made.
    """
    source = str(source)
    values = parse_settings(settings)
    given = {name: value for name, value in options.items() if value is not None}
    if importers.is_importable(source):
        assembly = importers.load(source, **given)
    elif given:
        raise ModelError(
            f"{source}: the option {next(iter(given))} is for files of other formats "
            f"({', '.join(sorted(importers.IMPORTERS))}); leave it out"
        )
    elif source.endswith(".toml"):
        from mbfmu.modeling.assembly_file import load_assembly

        assembly = load_assembly(pathlib.Path(source))
    else:
        cls = find_class(source)
        arguments = {name: values.pop(name) for name in constructor_parameters(cls) if name in values}
        assembly = construct(cls, source, arguments)
    for name, value in values.items():
        apply_setting(assembly, name, value)
    return assembly


def resolved(model: T | str | os.PathLike[str], **options: Any) -> T | Assembly:
    """The model itself, or the assembly that a text or path names, as on the command line.

    Raises:
        ModelError: See `load`; an FMU is none.
    """
    return load(os.fspath(model), **options) if isinstance(model, str | os.PathLike) else model


def is_fmu(model: Any) -> bool:
    """True for the path of an FMU."""
    return isinstance(model, str | os.PathLike) and os.fspath(model).endswith(".fmu")


def name_of(source: str | os.PathLike[str]) -> str:
    """The name of its own that a source has: that of its class, its file, or in the gallery."""
    text = os.fspath(source)
    is_file = text.endswith((".py", ".fmu", ".ssp", *importers.IMPORTERS, ".toml"))
    return re.sub(r"\W", "_", pathlib.Path(text).stem if is_file else text.rpartition(":")[2])


def named(text: str) -> tuple[str, str]:
    """Split `name=source`; without a name it is the source's own."""
    name, equals, source = text.partition("=")
    if equals and not pathlib.Path(text).exists():
        return name.strip(), source.strip()
    return name_of(text), text


def parse_setting(setting: str) -> tuple[str, Any]:
    """Split `name=value`; the value is a TOML value (`2.5`, `true`, `[0, 1, 0]`), else the text itself."""
    name, equals, text = setting.partition("=")
    if not (name.strip() and equals and text.strip()):
        raise ModelError(f"-p {setting!r:.60}: write it as name=value, for example -p boxBody1.density=2700")
    if not setting.isprintable():
        raise ModelError(f"-p {setting!r:.60}: has a line break or another control character; leave it out")
    try:
        return name.strip(), tomllib.loads(f"value = {text.strip()}")["value"]
    except (ValueError, RecursionError):  # ValueError: no TOML, or an integer of more digits than Python reads
        pass
    try:
        return name.strip(), number_in(text)
    except ValueError:
        return name.strip(), text.strip()


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Values by name of `name=value` texts, each name once."""
    return each_once(map(parse_setting, names(settings, "settings", "boxBody1.density=2700")))


def each_once(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """What `-p` gives by name; a name that stands twice is refused, for one of its values would have no effect."""
    found: dict[str, T] = {}
    for name, value in pairs:
        if name in found:
            raise ModelError(f"-p {name}: is given twice; leave one of them out")
        found[name] = value
    return found


def apply_setting(assembly: Assembly, path: str, value: Any) -> None:
    """Modify the parameter or start value that a dotted path names; a start value stays fixed or guessed as it was."""
    parts = {part.path: part for part in assembly.walk() if part is not assembly}
    owner: Component = assembly
    name = path
    for known_path, part in parts.items():
        if path.startswith(f"{known_path}.") and len(known_path) > len(owner.path):
            owner, name = part, path[len(known_path) + 1 :]
    if owner is assembly and name not in {*assembly.declarations, *assembly.parts}:
        of, dot, _ = path.rpartition(".")
        what, wrong = ("component", of) if dot else ("parameter", path)
        known = parts if dot else {*constructor_parameters(type(assembly)), *assembly.parameters()}
        hint = suggestion(wrong, known) if known else "write component.parameter=value"
        raise ModelError(f"-p {path}: {type(assembly).__name__} has no {what} {wrong!r}; {hint}")
    element = re.fullmatch(r"(\w+)\[([1-9][0-9]*)\]", name)
    if element and element[1] in owner.parameters():
        name, whole = element[1], np.array(owner.value(element[1]), dtype=object)
        if whole.ndim != 1 or int(element[2]) > whole.size:
            raise ModelError(f"-p {path}: there is no such element; {owner.title}.{name} has the shape {whole.shape}")
        whole[int(element[2]) - 1] = value
        value = whole.tolist()
    if isinstance(owner.declarations.get(name), Variable) and not isinstance(value, Mapping):
        value = Start(value)
    owner.modify(**{name: value})


def find_class(source: str) -> type[Assembly]:
    """Return the assembly class that a gallery name, file.py, file.py:Class or module:Class stands for."""
    place, colon, name = source.rpartition(":")
    if colon and name.isidentifier() and place:
        module = import_file(pathlib.Path(place)) if place.endswith(".py") else import_module(place)
        return named_class(module, name, place)
    if source.endswith(".py"):
        return only_class(import_file(pathlib.Path(source)), source)
    gallery: Mapping[str, type[Assembly]] = assemblies()
    if source in gallery:
        return gallery[source]
    if source.endswith(".fmu"):
        raise ModelError(
            f"{source}: is an FMU, not {FORMS}; `mbfmu info`, `validate`, `simulate`, `animate` and `sweep` take FMUs"
        )
    raise ModelError(f"{source}: is not {FORMS}; {suggestion(source, gallery, 'mbfmu list')}")


def import_file(path: pathlib.Path) -> ModuleType:
    """Import a Python file with its folder first on `sys.path`, as Python itself would run it.

    The module's own name gets a suffix, so that a file called numpy.py hides no package.
    """
    if not path.is_file():
        raise ModelError(f"{path}: no such file; give the path of a Python file that defines an assembly")
    name = f"{path.stem}__source"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        where = str(path) if error.lineno is None else f"{error.filename}, line {error.lineno}"
        raise ModelError(f"{where}: {error.msg}; correct the file") from error
    except MbfmuError as error:
        raise type(error)(f"{path}{place(error, str(path))}: {error}") from error
    except (Exception, SystemExit) as error:
        raise failure(f"{path}: cannot be imported", error) from error
    return module


def import_module(name: str) -> ModuleType:
    """Import a module by its dotted name, looking into the working directory too."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModelError(f"{name}: {error}; is it installed, or should SOURCE be file.py:Class?") from error
    except (Exception, SystemExit) as error:
        raise failure(f"{name}: cannot be imported", error) from error


def named_class(module: ModuleType, name: str, place: str) -> type[Assembly]:
    """Return one class of a module, which must be an assembly."""
    known = {key for key, value in vars(module).items() if is_assembly_class(value)}
    if not hasattr(module, name):
        hint = suggestion(name, known) if known else "it defines no assembly"
        raise ModelError(f"{place}: has no class {name}; {hint}")
    cls = getattr(module, name)
    if not is_assembly_class(cls):
        raise ModelError(f"{place}: {name} is not an assembly; derive it from mbfmu.Assembly")
    return cls


def only_class(module: ModuleType, place: str) -> type[Assembly]:
    """Return the assembly class that a file defines; where it defines several, the caller must say which."""
    found = [v for v in vars(module).values() if is_assembly_class(v) and v.__module__ == module.__name__]
    if not found:
        raise ModelError(f"{place}: defines no assembly; add a class that derives from mbfmu.Assembly")
    if len(found) > 1:
        names = ", ".join(f"{place}:{cls.__name__}" for cls in found)
        raise ModelError(f"{place}: defines {len(found)} assemblies; say which: {names}")
    return found[0]


def is_assembly_class(value: Any) -> bool:
    """Tell whether a value is a class of assemblies (not the base class itself)."""
    return inspect.isclass(value) and issubclass(value, Assembly) and value is not Assembly


def constructor_parameters(cls: type[Assembly]) -> list[str]:
    """Return the names that an assembly's constructor takes."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, p in inspect.signature(cls).parameters.items() if p.kind in kinds]


def construct(cls: type[Assembly], source: str, arguments: dict[str, Any]) -> Assembly:
    """Call an assembly's constructor, turning what goes wrong in it into one message."""
    missing = [
        name
        for name, p in inspect.signature(cls).parameters.items()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and name not in arguments
    ]
    if missing:
        raise ModelError(f"{source}: {cls.__name__} needs a value for {', '.join(missing)}; add -p {missing[0]}=...")
    try:
        return cls(**arguments)
    except MbfmuError as error:
        raise type(error)(f"{source}{place(error, source)}: {error}") from error
    except (Exception, SystemExit) as error:
        raise failure(f"{source}: {cls.__name__}() fails", error) from error


def failure(what: str, error: BaseException) -> ModelError:
    """Describe an exception in a user's code by the last line of that code that it passed, its type and text."""
    return ModelError(f"{what}{place(error, what)}: {described(error)}")
