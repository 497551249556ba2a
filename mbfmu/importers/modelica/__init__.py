"""Modelica files -> assemblies: models that are composed of the library's classes, with equations of their own.

`load` is the one entry point. The way of a file: `parser` (text -> `syntax`), `classes` (packages, lookup of names;
`library` knows Modelica's own), `model` (a class with its modifiers, as a component). What a class has, `inheritance`
collects; `declarations` and `construction` make a component class of it, `building` its parts, `connecting` and
`starts` what holds them together. Expressions: `evaluate` and `values`; the model's own equations: `equations`.
"""

from __future__ import annotations

import difflib
import pathlib
import sys
import warnings
from typing import Any

from mbfmu.errors import MbfmuError, ModelError
from mbfmu.importers.modelica import library
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.classes import Classes, Found
from mbfmu.importers.modelica.evaluate import NESTED, Environment, evaluate
from mbfmu.importers.modelica.model import Model
from mbfmu.importers.modelica.modifiers import MissingClass, has_place
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.session import Session
from mbfmu.importers.modelica.survey import missing_classes
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.messages import suggestion
from mbfmu.modeling import Assembly
from mbfmu.modeling.connectors import Reference, SignalOutput

#: Kinds of classes that can be simulated.
_MODELS = ("model", "block", "class")
#: So often a model is made again because parameters turned out to decide what it consists of.
_MOST_PASSES = 20


def load(path: pathlib.Path | str, *, class_name: str | None = None) -> Assembly:
    """Read a model of a Modelica file as an assembly.

    Args:
        path: a `.mo` file; packages around it are found by its within clause, in the library's layout of folders.
        class_name: the model, where the file has several: its name within the file, dotted, or its full name.

    Raises:
        ModelError: the file cannot be read, is not Modelica, uses what mbfmu does not have (all such classes are
            listed), or what is not translated; the message begins with file and line.
    """
    path = pathlib.Path(path)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        classes = Classes(path)
        node = _chosen(classes, class_name)
        return _assembled(classes, node)
    except RecursionError:
        raise ModelError(f"{path}: {NESTED}") from None
    finally:
        sys.setrecursionlimit(limit)


def _chosen(classes: Classes, class_name: str | None) -> Node:
    """The class to make an assembly of."""
    models = classes.models()
    names = {".".join(m.full): m for m in models}
    if class_name is not None:
        for scope in (classes.scope, *classes.tops, classes.root):
            found = classes.text_of(tuple(class_name.split(".")), scope)
            definition = found.node.definition if found is not None and found.node is not None else None
            if found is None or found.node is None or definition is None:
                continue
            if definition.kind not in _MODELS:
                raise ModelError(f"{classes.path}: {class_name} is a {definition.kind}; give a model or block")
            _refuse_partial(found.node)
            return found.node
        hint = suggestion(class_name, names, "the file") if names else "it has no model or block that is not partial"
        raise ModelError(f"{classes.path}: has no model {class_name or repr(class_name)}; {hint}")
    if not models:
        partial = next((t for t in classes.tops if t.definition is not None), None)
        if partial is not None and partial.definition is not None and partial.definition.kind in ("model", "block"):
            _refuse_partial(partial)
        raise fault(
            Place(classes.path, 1), "this file has no model or block that is not partial; give a file that has one"
        )
    if len(models) > 1:
        running = [m for m in models if m.definition is not None and _experiment(m.definition.annotation) is not None]
        if len(running) != 1:
            shown = ", ".join(f"{classes.path}:{_within(m, classes)}" for m in (running or models)[:12])
            raise ModelError(f"{classes.path}: has {len(running or models)} models; say which: {shown}")
        return running[0]
    return models[0]


def _refuse_partial(node: Node) -> None:
    assert node.definition is not None
    if "partial" in node.definition.prefixes:
        raise fault(node.definition.at, f"{node.name} is partial; give a model that extends it")


def _within(node: Node, classes: Classes) -> str:
    """Name of a class within its file."""
    return ".".join(node.full[len(classes.scope.full) :])


def _assembled(classes: Classes, node: Node) -> Assembly:
    structural: set[tuple[str, str]] = set()
    for _ in range(_MOST_PASSES):
        session = Session(classes, set(structural))
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = Model(session, node.name, Found(node.full, node), (), None)
                assembly = model.make(Assembly)
        except MbfmuError as error:
            missing = missing_classes(session, node)
            if missing:
                raise MissingClass(_listed(missing)) from error
            if not has_place(error) and node.definition is not None:
                raise ModelError(f"{node.definition.at}: {error}") from error
            raise
        if session.structural == structural:
            for warning in caught:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
            assert isinstance(assembly, Assembly)
            session.refuse_circles(list(session.models.values()))
            _finish(assembly, model)
            return assembly
        structural = session.structural
    raise ModelError(f"{classes.path}: the parameters that decide what {node.name} consists of do not settle")


def _listed(missing: list[tuple[Place, str]]) -> str:
    if len(missing) == 1:
        at, name = missing[0]
        return f"{at}: {name} is a class of the Modelica library that mbfmu does not have{_like(name) or _SEE}"
    lines = "\n".join(f"  {at}: {name}{_like(name)}" for at, name in missing)
    count = len({name for _, name in missing})
    return (
        f"{missing[0][0]}: {count} class{'es' if count > 1 else ''} of the Modelica library that mbfmu does not have "
        f"(`mbfmu list`):\n{lines}"
    )


_SEE = " (`mbfmu list`)"


def _like(name: str) -> str:
    """A class with nearly this name in the same package, or with the same name in another one, for a message."""
    package, _, last = name.rpartition(".")
    names = {".".join(full) for full in library.components()}
    beside = {other.rpartition(".")[2] for other in names if other.rpartition(".")[0] == package}
    close = difflib.get_close_matches(last, sorted(beside), n=1, cutoff=0.75)
    found = [f"{package}.{close[0]}"] if close else sorted(other for other in names if other.endswith(f".{last}"))
    return f"; did you mean {' or '.join(found[:3])}?" if found else ""


#: Entries of the annotation `experiment`, and the attributes of an assembly.
_EXPERIMENT = {
    "StartTime": "start_time",
    "StopTime": "stop_time",
    "Tolerance": "tolerance",
    "Interval": "interval",
}


def _finish(assembly: Assembly, model: Model) -> None:
    """Experiment, outputs and a World where parts need one."""
    for annotation in reversed(model.content.annotations):
        experiment = _experiment(annotation)
        if experiment is not None:
            env = Environment(model.session, model.node)
            for name, attribute in _EXPERIMENT.items():
                value = experiment.get(name)
                if value is not None:
                    number = evaluate(value, env)
                    if isinstance(number, bool) or not isinstance(number, int | float):
                        raise fault(value.at, f"experiment({name}=...): give a number")
                    setattr(assembly, attribute, number)
            break
    for name in model.content.components:
        component = model.declared(name).component
        kind = model.kind(name)
        if ("output" in component.prefixes and kind.kind == "variable") or (
            kind.kind == "connector"
            and kind.port is not None
            and issubclass(kind.port, SignalOutput)
            and model.exists(name)
        ):
            assembly.output(Reference(assembly, name))
    if _lacks_world(assembly, model):
        model.default_world()
        at = model.node.definition.at if model.node.definition is not None else model.session.classes.path
        warnings.warn(f"{at}: {model.name} has no World; one with the default gravity field is added", stacklevel=3)


def _lacks_world(assembly: Assembly, model: Model) -> bool:
    """True where models with an outer World, or parts in space, have none that the file declares."""
    if any(one.lacks_world() for one in model.session.models.values()):
        return True
    has_world = any(getattr(type(part), "is_world", False) for part in assembly.walk())
    return not has_world and any((type(part).modelica_name or "").startswith("MultiBody.") for part in assembly.walk())


def _experiment(annotation: s.Modification | None) -> dict[str, Any] | None:
    for argument in annotation.arguments if annotation is not None else ():
        if argument.names == ("experiment",):
            return {a.names[0]: a.modification.value for a in argument.modification.arguments}
    return None


__all__ = ["load"]
