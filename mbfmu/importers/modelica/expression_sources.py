"""Sources of the library whose values a model's equations give: RealExpression, TerminateSimulation and their like."""

from __future__ import annotations

from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.modifiers import Layers, bound, inner, only
from mbfmu.importers.modelica.parts import make_component
from mbfmu.importers.modelica.signals import Plug
from mbfmu.modeling import BooleanInput, BooleanOutput, Component, IntegerInput, IntegerOutput, RealInput, RealOutput


class Expression(Component):
    """Source whose value its assembly's equations give."""

    u = RealInput("What the output is to be")
    y = RealOutput("Value of Real output")

    def equations(self) -> None:
        """y = u."""
        self.y = self.u


class IntegerExpression(Expression):
    """Source whose whole number its assembly's equations give."""

    u = IntegerInput("What the output is to be")
    y = IntegerOutput("Value of Integer output")


class BooleanExpression(Expression):
    """Source whose truth value its assembly's equations give."""

    u = BooleanInput("What the output is to be")
    y = BooleanOutput("Value of Boolean output")


_EXPRESSIONS: dict[str | None, type[Component]] = {
    "Blocks.Sources.RealExpression": Expression,
    "Blocks.Sources.IntegerExpression": IntegerExpression,
    "Blocks.Sources.BooleanExpression": BooleanExpression,
}


def expression_source(model: Model, name: str, cls: type[Component], layers: Layers) -> Component | None:
    """RealExpression and its like: a part that passes on what the model's equations give it."""
    if cls.modelica_name == "Blocks.Logical.TerminateSimulation":
        return _ending(model, name, cls, layers)
    if cls.modelica_name not in _EXPRESSIONS:
        return None
    found = bound(inner(layers, "y"))
    if found is None:
        return None
    part = _EXPRESSIONS[cls.modelica_name]()
    model.drives.append((Plug(part, part.ports()["u"]), found[0], found[1].env, found[1]))
    return part


def _ending(model: Model, name: str, cls: type[Component], layers: Layers) -> Component:
    """TerminateSimulation, whose condition the model's equations give."""
    found = bound(inner(layers, "condition"))
    part: Component = make_component(model.session, cls, only(layers, lambda given: given != "condition"), name, model)
    if found is None:
        part.modify(condition=False)
    else:
        model.drives.append((Plug(part, part.ports()["condition"]), found[0], found[1].env, found[1]))
    return part
